//! The part of a node's configuration that is about web sites.
//!
//! A parameter whose name begins with `http` is an assertion: its name says what it is about, in the words of the
//! commands, and its value what is said about it.
//!
//! ```text
//! http host foo.test             yes
//! http redirect foo.test /old    301 /products/
//! http tree foo.test /products/  tree:9f3c…
//! ```
//!
//! `yes` is said where words have nothing to add; `no`, anywhere, says that it is not asserted after all.
//! Names of parameters are the same in any case, and URLs are not: capital letters of a URL stand as `%` and two digits.

use std::collections::BTreeMap;

use hence_ledger::{Fault, Hash, Key, Keys, State, Value, Vocabulary};

use crate::content::Staged;
use crate::language::said;
use crate::words::{FORM, Said, Subject, Words};

/// How the names of its parameters begin.
const BEGINNING: &str = "http ";

/// Whose assertions they are in a closure.
pub const OWNER: &str = "fleet";

/// What a node's configuration asserts: in a closure, one owner's set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    assertions: BTreeMap<Key, Value>,
}

/// Whether a parameter belongs to this part.
pub fn is_part(parameter: &str) -> bool {
    let beginning = parameter.get(..BEGINNING.len());
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(BEGINNING))
}

/// The parameter that is about something.
pub fn parameter(subject: &Subject) -> String {
    let words = subject.to_string();
    let words = match subject {
        Subject::At(..) | Subject::Waive(..) | Subject::Right(..) => without_capitals(&words),
        _ => words,
    };
    format!("{BEGINNING}{words}")
}

/// The value of a parameter about which this is said.
pub fn value(said: &Said) -> String {
    match said {
        Said::So => "yes".to_owned(),
        said => said.to_string(),
    }
}

/// The content that the value of a parameter names.
pub fn named(value: &str) -> Option<Staged> {
    let (word, rest) = value.split_once(':')?;
    let hash = Hash::from_hex(rest.split(' ').next()?)?;
    match word {
        "tree" => Some(Staged::Tree(hash)),
        "blob" => Some(Staged::Blob(hash)),
        _ => None,
    }
}

/// Words without capital letters but those that say how a character is written.
fn without_capitals(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    let mut digits = 0;
    for character in words.chars() {
        match character {
            '%' => digits = 3,
            'A'..='Z' if digits == 0 => {
                text.push_str(&format!("%{:02x}", u32::from(character)));
                continue;
            }
            _ => {}
        }
        digits = u32::saturating_sub(digits, 1);
        text.push(character);
    }
    text
}

impl Part {
    /// What parameters assert, or all that is wrong with them.
    pub fn read<'p>(
        parameters: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Result<Self, Vec<Fault>> {
        let mut part = Self::default();
        let mut faults = Vec::new();
        let parameters = parameters.into_iter().filter(|(name, _)| is_part(name));
        for (name, value) in parameters {
            match assertion(name, value) {
                Ok(assertion) => part.assertions.extend(assertion),
                Err(fault) => {
                    let message = format!("`{name}`: {}", fault.message);
                    faults.push(Fault { message, ..fault });
                }
            }
        }
        faults.extend(part.clashes());
        match faults.is_empty() {
            true => Ok(part),
            false => Err(faults),
        }
    }

    /// What an owner asserts in a state.
    pub fn of(state: &State, owner: &str) -> Self {
        let owned = state
            .iter()
            .filter(|(_, assertion)| assertion.owner == owner);
        let owned = owned.map(|(key, assertion)| (key.clone(), assertion.value.clone()));
        Self {
            assertions: owned.collect(),
        }
    }

    /// Those that cannot both be so. In a closure the later of two counts, but here none is later.
    fn clashes(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for key in self.assertions.keys() {
            for keys in Words.conflicts(key) {
                let (Keys::Only(first) | Keys::Under(first)) = &keys;
                let near = self.assertions.range(first.clone()..);
                let others = near
                    .map(|(other, _)| other)
                    .take_while(|other| keys.contains(other))
                    .filter(|other| key < other);
                faults.extend(others.map(|other| clash(key, other)));
            }
        }
        faults
    }

    /// All of it.
    pub fn set(&self) -> Vec<(Key, Value)> {
        let assertions = self.assertions.iter();
        assertions
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// How many assertions it has.
    pub fn len(&self) -> usize {
        self.assertions.len()
    }

    /// Whether nothing is asserted.
    pub fn is_empty(&self) -> bool {
        self.assertions.is_empty()
    }

    /// The content that it names.
    pub fn contents(&self) -> Vec<Staged> {
        let values = self.assertions.values();
        let mut contents: Vec<Staged> = values
            .filter_map(|value| value.as_text().and_then(named))
            .collect();
        contents.sort();
        contents.dedup();
        contents
    }

    /// All of it in words, an assertion in a line.
    pub fn to_text(&self) -> String {
        let assertions = self.assertions.iter();
        assertions
            .map(|(key, value)| format!("{}\n", said(key, value)))
            .collect()
    }

    /// The part that is written so.
    pub fn from_text(text: &str) -> Result<Self, Vec<Fault>> {
        let lines: Vec<(String, &str)> = text.lines().filter_map(from_line).collect();
        Self::read(lines.iter().map(|(name, value)| (name.as_str(), *value)))
    }

    /// What is the same for equal parts: two closures with equal parts promise the same.
    pub fn identity(&self) -> Hash {
        Hash::of(self.to_text().as_bytes())
    }
}

/// A line of a part, as a parameter.
fn from_line(line: &str) -> Option<(String, &str)> {
    let words: Vec<&str> = line.split(' ').collect();
    let (_, rest) = Subject::read(&words).ok()?;
    let length = rest.iter().map(|word| word.len() + 1).sum::<usize>();
    let (subject, value) = line.split_at(line.len() - length);
    let value = match value.trim_start() {
        "" => "yes",
        value => value,
    };
    Some((format!("{BEGINNING}{subject}"), value))
}

/// What a parameter asserts; nothing if its value is `no`.
fn assertion(name: &str, value: &str) -> Result<Option<(Key, Value)>, Fault> {
    let words: Vec<&str> = name.split_whitespace().skip(1).collect();
    let (subject, rest) = Subject::read(&words)?;
    if let Some(more) = rest.first() {
        let fault = Fault::new(format!("nothing goes on with `{more}` here")).code(FORM);
        return Err(fault.help("what is said about it is the value of the parameter"));
    }
    let words: Vec<&str> = value.split_whitespace().collect();
    let said = match words.as_slice() {
        ["no"] => return Ok(None),
        ["yes"] => subject.said(&[])?,
        words => subject.said(words)?,
    };
    Ok(Some((subject.key(), Value::from(&said))))
}

fn clash(one: &Key, other: &Key) -> Fault {
    let name = |key: &Key| Subject::of(key).map_or_else(|| key.to_string(), |it| parameter(&it));
    let message = format!("`{}` and `{}` cannot both be so", name(one), name(other));
    let help = "one of the two becomes `no`, or is not set";
    Fault::new(message).code(FORM).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(parameters: &[(&str, &str)]) -> Result<Part, Vec<String>> {
        let read = Part::read(parameters.iter().copied());
        read.map_err(|faults| faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn parameters_are_assertions() {
        let blob = Hash::of(b"x");
        let index = format!("blob:{blob} text/html");
        let part = part(&[
            ("PORT", "80"),
            ("http host foo.test", "yes"),
            ("http host bar.test", "no"),
            ("HTTP listing foo.test /x/", "no"),
            ("http index foo.test /%41/", &index),
            ("http redirect foo.test /old", "301 /A/"),
        ])
        .unwrap();
        let text =
            format!("host foo.test\nindex foo.test /A/ {index}\nredirect foo.test /old 301 /A/\n");
        assert_eq!(part.to_text(), text);
        assert_eq!(Part::from_text(&text).unwrap(), part);
        assert_eq!(part.contents(), [Staged::Blob(blob)]);
    }

    #[test]
    fn a_name_leads_back_to_what_it_is_about() {
        for words in [
            "host foo.test",
            "alias foo.test www.foo.test",
            "quota foo.test",
            "tree foo.test /A%20b/C/",
            "redirect foo.test /%C3%89t%C3%A9",
            "waive foo.test /X magic",
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            let (subject, _) = Subject::read(&words).unwrap();
            let name = parameter(&subject);
            let again: Vec<&str> = name.split(' ').skip(1).collect();
            assert_eq!(Subject::read(&again).unwrap().0, subject, "{name}");
            let folded = name.to_lowercase();
            let again: Vec<&str> = folded.split(' ').skip(1).collect();
            assert_eq!(Subject::read(&again).unwrap().0, subject, "{folded}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_parameter() {
        let wrong = part(&[("http redirect foo.test /old", "600 /x")]).unwrap_err();
        assert!(
            wrong[0].starts_with("`http redirect foo.test /old`: "),
            "{wrong:?}"
        );
        let blob = format!("blob:{}", Hash::of(b"x"));
        let both = [
            ("http file foo.test /old", blob.as_str()),
            ("http redirect foo.test /old", "301 /x"),
        ];
        let wrong = part(&both).unwrap_err();
        let expected =
            "`http file foo.test /old` and `http redirect foo.test /old` cannot both be so";
        assert_eq!(wrong, [expected]);
    }
}
