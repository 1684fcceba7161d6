//! Another compiler, which is a command.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::value::{List, Map, Value};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::judge::Answer;
use crate::Stop;

/// A compiler to compare with cannot be started.
pub const CANNOT_RUN: Code = Code::new("compare.cannot-run");

/// A compiler to compare with.
#[derive(Clone, Debug)]
pub struct Other {
    /// What to call it.
    pub name: String,
    command: Vec<String>,
}

/// Reads `NAME=COMMAND`.
pub fn parse(text: &str) -> Result<Other, String> {
    let (name, command) = text.split_once('=').ok_or("write NAME=COMMAND")?;
    let command = shell_words::split(command).map_err(|error| error.to_string())?;
    if name.is_empty() || command.is_empty() {
        return Err("write NAME=COMMAND".into());
    }
    Ok(Other {
        name: name.to_owned(),
        command,
    })
}

impl Other {
    /// What it says to a file.
    pub fn ask(
        &self,
        file: &str,
        directory: Option<&Path>,
        timeout: Duration,
    ) -> Result<Answer, Stop> {
        let (program, arguments) = self.command.split_first().expect("a command has a word");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn().map_err(|error| self.cannot_run(&error))?;

        let deadline = Instant::now() + timeout;
        let stdout = read_aside(child.stdout.take().expect("it is piped"));
        let stderr = read_aside(child.stderr.take().expect("it is piped"));
        let until_then = || deadline.saturating_duration_since(Instant::now());
        let said = stdout.recv_timeout(until_then());
        let complained = stderr.recv_timeout(until_then());
        let (Ok(said), Ok(complained)) = (said, complained) else {
            // Whoever holds its streams now is not waited for.
            let _ = child.kill();
            let _ = child.wait();
            let seconds = timeout.as_secs();
            return Ok(Answer::Nothing(format!("no answer within {seconds} s")));
        };
        let ended = child.wait().map_err(|error| self.cannot_run(&error))?;
        Ok(answer(ended.success(), &said, &complained))
    }

    fn cannot_run(&self, error: &std::io::Error) -> Stop {
        let (name, program) = (&self.name, &self.command[0]);
        let because = |why: &str| {
            let message = format!("the compiler {name} cannot be run: {why}");
            Box::new(
                Diagnostic::error(CANNOT_RUN, message)
                    .help("`--against NAME=COMMAND` runs `COMMAND FILE` for each file"),
            )
        };
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                Stop::Refused(because(&format!("there is no command `{program}`")))
            }
            _ => Stop::Failed(because(&format!("`{program}`: {error}"))),
        }
    }
}

/// Reads a stream to its end on a thread of its own.
fn read_aside(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read is what there is to compare.
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// What a compiler's output means.
fn answer(succeeded: bool, said: &str, complained: &str) -> Answer {
    let parsed = serde_json::from_str::<Ordered>(said);
    match parsed {
        Ok(value) if succeeded => return Answer::Value(value.0),
        _ => {}
    }
    let rule = rule(complained).or_else(|| rule(said));
    if succeeded && rule.is_none() {
        let start: String = said.trim().chars().take(60).collect();
        return Answer::Nothing(format!("what it prints is not JSON: {start:?}"));
    }
    let words = [complained, said].into_iter().flat_map(str::lines);
    let words = words.map(str::trim).find(|line| !line.is_empty());
    let words = words.unwrap_or("nothing, but it failed").to_owned();
    Answer::Error { rule, words }
}

/// The first `err1` … `err9` in a text.
fn rule(text: &str) -> Option<String> {
    let mut places = text.match_indices("err").map(|(at, _)| &text[at..]);
    let found = places.find(|rest| rest.as_bytes().get(3).is_some_and(u8::is_ascii_digit))?;
    Some(found[..4].to_owned())
}

/// JSON in the order in which it is written.
struct Ordered(Value);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor).map(Ordered)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Value, E> {
        Ok(Value::Bool(bool))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value, E> {
        Ok(Value::Integer(integer))
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Value, E> {
        Ok(i64::try_from(integer).map_or(Value::Float(integer as f64), Value::Integer))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Value, E> {
        Ok(Value::Float(float))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Ordered(element)) = elements.next_element()? {
            list.push(element);
        }
        Ok(Value::List(List::from(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::default();
        while let Some((key, Ordered(value))) = entries.next_entry::<String, Ordered>()? {
            map.insert(key, value);
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_found_among_other_words() {
        assert_eq!(
            rule("error: terrible: err5 at line 3").as_deref(),
            Some("err5")
        );
        assert_eq!(rule("an error"), None);
    }

    #[test]
    fn an_error_may_be_told_in_plain_words_with_success() {
        assert!(matches!(
            answer(true, "{\"a\":1}", "err2"),
            Answer::Value(_)
        ));
        assert!(matches!(
            answer(true, "err2: no parent", ""),
            Answer::Error { .. }
        ));
        assert!(matches!(answer(true, "hello", ""), Answer::Nothing(_)));
        assert!(matches!(
            answer(false, "{}", ""),
            Answer::Error { rule: None, .. }
        ));
    }
}
