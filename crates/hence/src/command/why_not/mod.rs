//! `hence why-not`: what stands in the way of a value, and the smallest edits that would give it.
//!
//! notation     values as they are written
//! solve        from a value to the literals that it is computed from
//! candidates   edits that may give the value
//!
//! Every edit that is shown was compiled, and gave exactly the value.

mod candidates;
mod notation;
mod solve;

use std::fmt::Write;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::explanation::{Explanation, Shown};
use hence_model::path::Path;
use hence_model::source::{Sources, Span};
use hence_model::value::{Builder, Event, List, Map, Sink, Value};

use super::source::SourceOptions;
use super::why::explained;

use crate::configuration::Configuration;
use crate::console::Console;
use crate::difference::{Kind, brief, changes, is_same, leaves, written};
use crate::outside::Outside;
use crate::places::Places;
use crate::render::{self, Excerpt};
use crate::replacement::Replacement;
use crate::{Exit, Stop};
use candidates::{Candidate, What, candidates};

/// No single edit gives the value.
pub const NO_EDIT: Code = Code::new("why-not.no-edit");
/// The value is a secret.
pub const SECRET: Code = Code::new("why-not.secret");

/// How many edits are shown.
const SHOWN: usize = 5;

/// Say what stands in the way of a value, and find the smallest edits that would give it
#[derive(Args)]
pub struct WhyNot {
    /// The file that is compiled; `-` for standard input
    file: String,
    /// Where the value should be: `s2:web:running`, `s2.web.running`, `ports[0]`
    path: String,
    /// The value, as in JSON or bare: `80`, `true`, `"text"`, `text`, `[1, 2]`; bare, it is text where there is text now
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Show every edit that was found
    #[arg(long)]
    full: bool,
    /// Most edits that are tried
    #[arg(long, value_name = "TRIES", default_value_t = 200)]
    max_tries: usize,
    #[command(flatten)]
    source: SourceOptions,
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// An edit that gives the value.
struct Edit {
    replacement: Replacement,
    what: What,
    /// How many bytes it changes.
    size: usize,
    /// How many other values change with it.
    others: usize,
}

impl WhyNot {
    /// Answers.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let file = self.source.named(console, &self.file)?;
        let outside = self.source.outside(console);
        self.source
            .compile(console, &outside, file, |console, compiled| {
                if !compiled.is_good() {
                    return Ok(outside.blame());
                }
                let explanation = explained(compiled, &self.path)?;
                self.answer(console, &outside, compiled, &explanation)
            })
    }

    fn answer(
        &self,
        console: &mut Console<'_>,
        outside: &Outside,
        compiled: &mut Configuration<'_>,
        explanation: &Explanation,
    ) -> Result<Exit, Stop> {
        let Shown::Value(value) = &explanation.value else {
            let message = format!("`{}` is a secret", self.path);
            return Err(refused(
                Diagnostic::error(SECRET, message)
                    .help("what would make it another would tell what it is"),
            ));
        };
        let wanted = wanted(&self.value, value);
        let has_it = is_same(value, &wanted);
        let candidates = match has_it {
            true => Vec::new(),
            false => candidates(compiled, explanation, &wanted, self.max_tries),
        };
        let mut answer = Answer {
            compiled,
            explanation,
            value,
            wanted: &wanted,
            edits: Vec::new(),
            tried: 0,
        };
        self.search(console, outside, candidates, &mut answer);
        let text = match self.format {
            Format::Json => answer.json(),
            Format::Text => answer.text(self.full, console.is_colourful()),
        };
        console.data().write_all(text.as_bytes())?;
        let tried = answer.tried;
        match answer.edits.len() {
            _ if has_it => console.say("it has that value already"),
            0 => {
                let message = format!(
                    "no single edit among the {tried} that were tried gives `{}` the value {}",
                    self.path,
                    brief(&wanted)
                );
                return Err(refused(Diagnostic::error(NO_EDIT, message).help(format!(
                    "`hence why {} {}` says what it depends on",
                    self.file, self.path
                ))));
            }
            1 => console.say(&format!("1 edit of {tried} that were tried gives it")),
            found => console.say(&format!("{found} edits of {tried} that were tried give it")),
        }
        Ok(Exit::Done)
    }

    /// Tries edits, and keeps those that give the value.
    fn search(
        &self,
        console: &mut Console<'_>,
        outside: &Outside,
        candidates: Vec<Candidate>,
        answer: &mut Answer<'_>,
    ) {
        let before = answer.compiled.outputs();
        let sources = &answer.compiled.unit().sources;
        let total = candidates.len().min(self.max_tries);
        for Candidate { replacement, what } in candidates.into_iter().take(self.max_tries) {
            answer.tried += 1;
            console.progress(&format!("{} of {total} edits", answer.tried));
            let (name, text) = replacement.made(sources);
            let edited = outside.on(self.source.disk_with(console, &name, text));
            let path = &answer.explanation.path;
            let tried = console.unheard(|unheard| {
                let file = self.source.named(unheard, &self.file)?;
                self.source.compile(unheard, &edited, file, |_, edited| {
                    let gives = edited.is_good() && is_at(edited, path, answer.wanted);
                    let others = || others(&before, &edited.outputs(), path, edited.is_ordered());
                    Ok(gives.then(others))
                })
            });
            // An edit that cannot be compiled gives nothing.
            if let Ok(Some(others)) = tried {
                answer.edits.push(Edit {
                    size: replacement.size(sources),
                    replacement,
                    what,
                    others,
                });
            }
        }
        console.end_progress();
        // The smallest comes first; then what changes the least, what is nearest to the value, and what stands first.
        answer.edits.sort_by_key(|edit| {
            let place = edit.replacement.span.start;
            (edit.size, edit.others, edit.what, place)
        });
        // Of several texts for one place, and of several stretches of one statement, the smallest is enough.
        let mut kept: Vec<Edit> = Vec::new();
        for edit in answer.edits.drain(..) {
            let overlaps = |other: &Edit| {
                let (one, other_span) = (edit.replacement.span, other.replacement.span);
                let both_remove =
                    edit.replacement.text.is_empty() && other.replacement.text.is_empty();
                one == other_span
                    || both_remove && one.start < other_span.end && other_span.start < one.end
            };
            if !kept.iter().any(overlaps) {
                kept.push(edit);
            }
        }
        answer.edits = kept;
    }
}

/// What is wanted: as JSON reads it. Without quotes it is text where there is text now.
fn wanted(written: &str, now: &Value) -> Value {
    let text = || Value::Text(written.to_owned());
    match (serde_json::from_str(written), now) {
        (Ok(value), Value::Text(_)) => match from_json(&value) {
            Value::Text(text) => Value::Text(text),
            container @ (Value::List(_) | Value::Map(_)) => container,
            _ => text(),
        },
        (Ok(value), _) => from_json(&value),
        (Err(_), _) => text(),
    }
}

fn from_json(value: &serde_json::Value) -> Value {
    let mut builder = Builder::default();
    send(value, &mut builder);
    builder.finish().expect("a value was sent")
}

/// Sends what JSON says; it nests no deeper than its reader allows.
fn send(value: &serde_json::Value, builder: &mut Builder) {
    match value {
        serde_json::Value::Null => builder.event(Event::Null),
        serde_json::Value::Bool(bool) => builder.event(Event::Bool(*bool)),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => builder.event(Event::Integer(integer)),
            None => builder.event(Event::Float(number.as_f64().unwrap_or_default())),
        },
        serde_json::Value::String(text) => builder.event(Event::Text(text)),
        serde_json::Value::Array(elements) => {
            builder.event(Event::ListStart);
            elements.iter().for_each(|element| send(element, builder));
            builder.event(Event::ListEnd);
        }
        serde_json::Value::Object(entries) => {
            builder.event(Event::MapStart);
            for (key, value) in entries {
                builder.event(Event::Key(key));
                send(value, builder);
            }
            builder.event(Event::MapEnd);
        }
    }
}

/// Whether a value is at a path.
fn is_at(compiled: &mut Configuration<'_>, path: &Path, wanted: &Value) -> bool {
    let explained = compiled.explain(path).map(|explanation| explanation.value);
    matches!(explained, Ok(Shown::Value(value)) if is_same(&value, wanted))
}

/// How many values change beside the one at a path.
fn others(before: &Value, after: &Value, path: &Path, ordered: bool) -> usize {
    let changes = changes(before, after, ordered);
    let other = changes
        .iter()
        .filter(|change| !change.path().0.starts_with(&path.0));
    let counts = other.map(|change| match &change.kind {
        Kind::Added(value) | Kind::Removed(value) => leaves(value).len(),
        Kind::Changed(old, _) => leaves(old).len(),
        Kind::Reordered(..) => 1,
    });
    counts.sum()
}

fn refused(diagnostic: Diagnostic) -> Stop {
    Stop::Refused(Box::new(diagnostic))
}

/// What was asked, and what was found.
struct Answer<'a> {
    compiled: &'a Configuration<'a>,
    explanation: &'a Explanation,
    value: &'a Value,
    wanted: &'a Value,
    edits: Vec<Edit>,
    tried: usize,
}

impl Answer<'_> {
    fn sources(&self) -> &Sources {
        &self.compiled.unit().sources
    }

    fn location(&self, span: Span) -> String {
        self.sources().location(span.start).to_string()
    }

    /// The value that is there, and where it comes from.
    fn headline(&self) -> String {
        let explanation = self.explanation;
        let path = match self.compiled.path(&explanation.path) {
            path if path.is_empty() => self.compiled.title().to_owned(),
            path => path,
        };
        let (word, place) = match explanation.place {
            Some(place) => ("set", place),
            None if explanation.expression.operator.is_some() => {
                ("computed", explanation.expression.span)
            }
            None => ("defined", explanation.expression.span),
        };
        let place = self.location(place);
        format!("{path} = {}   {word} at {place}", brief(self.value))
    }

    /// What is said and did not win, and what decided otherwise.
    fn obstacles(&self) -> Vec<(Span, String)> {
        let mut obstacles = Vec::new();
        let wanted = brief(self.wanted);
        for lost in &self.explanation.lost {
            if matches!(&lost.value, Some(Shown::Value(value)) if is_same(value, self.wanted)) {
                let place = self.location(lost.span);
                let rule = lost.rule.sentence();
                obstacles.push((
                    lost.span,
                    format!("{wanted} is said at {place}, but {rule}"),
                ));
            }
        }
        let conditions = self
            .edits
            .iter()
            .filter(|edit| edit.what == What::Condition);
        for edit in conditions {
            let span = edit.replacement.span;
            let text = self.sources().slice(span);
            let place = self.location(span);
            obstacles.push((
                span,
                format!("`{text}` at {place} decides against {wanted}"),
            ));
        }
        obstacles
    }

    fn text(&self, full: bool, colour: bool) -> String {
        let mut text = format!("{}\n", self.headline());
        for (_, words) in self.obstacles() {
            let _ = writeln!(text, "{words}");
        }
        let shown = if full { self.edits.len() } else { SHOWN };
        for edit in self.edits.iter().take(shown) {
            let Replacement { span, text: new } = &edit.replacement;
            let tight = tight(self.sources(), *span);
            let place = self.location(tight);
            let old = self.sources().slice(tight);
            let headline = match new.as_str() {
                "" => format!("{place}: remove `{old}`"),
                new => format!("{place}: replace `{old}` by `{new}`"),
            };
            let excerpt = Excerpt {
                span: tight,
                text: edit.consequence(),
            };
            text.push('\n');
            text.push_str(&render::excerpts_under(
                self.sources(),
                &headline,
                vec![excerpt],
                colour,
            ));
        }
        if self.edits.len() > shown {
            let _ = writeln!(text, "\n({} more: --full)", self.edits.len() - shown);
        }
        text
    }

    fn json(&self) -> String {
        let mut places = Places::new(self.sources());
        let mut place = |span: Span| {
            let mut map = Map::default();
            let file = self.sources().file_at(span.start);
            map.insert(
                "file".into(),
                Value::Text(self.sources().name(file).to_owned()),
            );
            places.of(span).add_to(&mut map);
            map
        };
        let list = |values: Vec<Value>| Value::List(List::from(values));
        let mut map = Map::default();
        let path = self.compiled.path(&self.explanation.path);
        map.insert("path".into(), Value::Text(path));
        map.insert("value".into(), self.value.clone());
        map.insert("wanted".into(), self.wanted.clone());
        let set = self
            .explanation
            .place
            .unwrap_or(self.explanation.expression.span);
        map.insert("where".into(), Value::Map(place(set)));
        let obstacles = self.obstacles().into_iter().map(|(span, words)| {
            let mut map = place(span);
            map.insert("text".into(), Value::Text(words));
            Value::Map(map)
        });
        map.insert("obstacles".into(), list(obstacles.collect()));
        map.insert("tried".into(), Value::Integer(self.tried as i64));
        let edits = self.edits.iter().map(|edit| {
            let mut map = place(edit.replacement.span);
            let old = self.sources().slice(edit.replacement.span).to_owned();
            map.insert("old".into(), Value::Text(old));
            map.insert("new".into(), Value::Text(edit.replacement.text.clone()));
            map.insert("bytes".into(), Value::Integer(edit.size as i64));
            map.insert("others".into(), Value::Integer(edit.others as i64));
            Value::Map(map)
        });
        map.insert("edits".into(), list(edits.collect()));
        format!("{}\n", written(&Value::Map(map)))
    }
}

impl Edit {
    fn consequence(&self) -> String {
        match self.others {
            0 => "nothing else changes".to_owned(),
            1 => "and 1 other changes".to_owned(),
            others => format!("and {others} others change"),
        }
    }
}

/// A stretch without the space around it.
fn tight(sources: &Sources, span: Span) -> Span {
    let text = sources.slice(span);
    let before = text.len() - text.trim_start().len();
    let start = span.start + before as u32;
    Span::new(start, start + text.trim().len() as u32)
}
