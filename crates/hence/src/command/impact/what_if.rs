//! `--what-if TEXT`: what really changes, and that nothing else does.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::explanation::Shown;
use hence_model::path::Path;
use hence_model::source::{Sources, Span};
use hence_model::value::{List, Map, Value};

use super::listing::values;
use super::{path_value, paths_value};
use crate::announced::Announced;
use crate::configuration::Configuration;
use crate::difference::{Kind, brief, changes, leaves};
use crate::replacement::Replacement;
use crate::{Exit, Stop};

/// Something changed that was not said to depend on the place.
pub const UNANNOUNCED: Code = Code::new("impact.unannounced");
/// What replaces a literal is more than one, and changes more.
pub const NOT_A_LITERAL: Code = Code::new("impact.not-a-literal");

/// What is shown of a secret.
const SECRET: &str = "‹secret›";

/// What a replacement changes in a configuration.
pub struct Effect {
    /// The values that are others, or new, or gone.
    pub changes: Vec<Change>,
    /// Blocks whose names come in another order: before, and now.
    reordered: Vec<(Path, Vec<String>, Vec<String>)>,
    /// How many values that were announced stay as they are.
    unchanged: usize,
    /// What changed without being announced.
    outside: Vec<Path>,
    /// Whether a literal takes the place of a literal.
    is_literal: bool,
}

/// A value that changed.
pub struct Change {
    /// Where.
    pub path: Path,
    /// What it was; none if it is new.
    old: Option<Shown>,
    /// What it is; none if it is gone.
    new: Option<Shown>,
}

impl Change {
    /// `80 → 8080`
    pub fn words(&self) -> String {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => format!("{} → {}", told(old), told(new)),
            (None, Some(new)) => format!("new: {}", told(new)),
            (Some(old), None) => format!("gone: {}", told(old)),
            (None, None) => String::new(),
        }
    }
}

/// Compares a configuration with what becomes of it. `was` and `is` are the stretch that was replaced, and what is there
/// now.
pub fn compare(
    old: &mut Configuration<'_>,
    new: &mut Configuration<'_>,
    announced: &[Path],
    was: Span,
    is: Option<Span>,
) -> Effect {
    let (before, after) = (old.outputs(), new.outputs());
    let mut told = Vec::new();
    let mut reordered = Vec::new();
    let inside = |path: &Path, inner: Path| Path([&path.0[..], &inner.0[..]].concat());
    for change in changes(&before, &after, old.is_ordered()) {
        let path = change.path().clone();
        let is_scalar = |value: &Value| !matches!(value, Value::Map(_) | Value::List(_));
        match &change.kind {
            Kind::Reordered(old, new) => reordered.push((path, old.clone(), new.clone())),
            Kind::Changed(was, is) if is_scalar(was) && is_scalar(is) => told.push(Change {
                old: Some(shown(old, change.old.as_ref().unwrap_or(&path), was)),
                new: Some(shown(new, &path, is)),
                path,
            }),
            kind => {
                let (gone, came) = match kind {
                    Kind::Added(is) => (None, Some(is)),
                    Kind::Removed(was) => (Some(was), None),
                    Kind::Changed(was, is) => (Some(was), Some(is)),
                    Kind::Reordered(..) => (None, None),
                };
                for (inner, value) in gone.map(leaves).into_iter().flatten() {
                    let path = inside(change.old.as_ref().unwrap_or(&path), inner);
                    told.push(Change {
                        old: Some(shown(old, &path, value)),
                        new: None,
                        path,
                    });
                }
                for (inner, value) in came.map(leaves).into_iter().flatten() {
                    let path = inside(&path, inner);
                    told.push(Change {
                        old: None,
                        new: Some(shown(new, &path, value)),
                        path,
                    });
                }
            }
        }
    }
    let announced = Announced::new(announced.iter().cloned());
    let is_literal =
        old.literals(was) == [was] && is.is_some_and(|is| new.literals(is).contains(&is));
    Effect {
        changes: told,
        reordered,
        unchanged: announced.unchanged(&before, &after),
        outside: announced.outside(&before, &after),
        is_literal,
    }
}

/// A value as it may be shown.
fn shown(compiled: &mut Configuration<'_>, path: &Path, value: &Value) -> Shown {
    if !compiled.has_secrets() {
        return Shown::Value(value.clone());
    }
    match compiled.explain(path).map(|explanation| explanation.value) {
        Ok(Shown::Value(_)) => Shown::Value(value.clone()),
        // What cannot be explained might be one.
        Ok(Shown::Secret | Shown::TooLarge) | Err(_) => Shown::Secret,
    }
}

impl Effect {
    /// The order of names, where it is another.
    pub fn reordered(&self, separator: char) -> Vec<(Path, String)> {
        let reordered = self.reordered.iter();
        let words = reordered.map(|(path, old, new)| {
            let name = path.joined(separator);
            let words = format!("{name}   order: {} → {}", old.join(", "), new.join(", "));
            (path.clone(), words)
        });
        words.collect()
    }

    /// Adds it to an answer in JSON.
    pub fn add_to(&self, answer: &mut Map) {
        let list = |values: Vec<Value>| Value::List(List::from(values));
        let of = |wanted: fn(&Change) -> bool| {
            let changes = self.changes.iter().filter(|change| wanted(change));
            let values = changes.map(|change| {
                let mut map = Map::default();
                map.insert("path".into(), path_value(&change.path));
                for (key, value) in [("old", &change.old), ("new", &change.new)] {
                    if let Some(value) = value {
                        map.insert(key.into(), value.to_value());
                    }
                }
                Value::Map(map)
            });
            list(values.collect())
        };
        answer.insert(
            "changed".into(),
            of(|change| change.old.is_some() && change.new.is_some()),
        );
        answer.insert("added".into(), of(|change| change.old.is_none()));
        answer.insert("removed".into(), of(|change| change.new.is_none()));
        let names = |names: &[String]| list(names.iter().cloned().map(Value::Text).collect());
        let reordered = self.reordered.iter().map(|(path, old, new)| {
            let mut map = Map::default();
            map.insert("path".into(), path_value(path));
            map.insert("old".into(), names(old));
            map.insert("new".into(), names(new));
            Value::Map(map)
        });
        answer.insert("reordered".into(), list(reordered.collect()));
        answer.insert("unchanged".into(), Value::Integer(self.unchanged as i64));
        answer.insert("outside".into(), paths_value(&self.outside));
    }
}

/// A replacement, as it is told.
pub struct Told {
    file: String,
    line: u32,
    column: u32,
    old: String,
    new: String,
}

impl Told {
    /// Tells a replacement.
    pub fn of(replacement: &Replacement, sources: &Sources) -> Self {
        let place = sources.location(replacement.span.start);
        Self {
            file: place.file,
            line: place.line,
            column: place.column,
            old: sources.slice(replacement.span).to_owned(),
            new: replacement.text.clone(),
        }
    }

    /// What is written there became a secret: it is not shown.
    pub fn hide(&mut self) {
        self.old = SECRET.to_owned();
    }

    /// What it is in JSON.
    pub fn value(&self) -> Value {
        let mut map = Map::default();
        map.insert("file".into(), Value::Text(self.file.clone()));
        map.insert("line".into(), Value::Integer(self.line.into()));
        map.insert("column".into(), Value::Integer(self.column.into()));
        map.insert("old".into(), Value::Text(self.old.clone()));
        map.insert("new".into(), Value::Text(self.new.clone()));
        Value::Map(map)
    }

    /// What is said about its effects, and how the command ends.
    pub fn conclude(&self, effects: &[&Effect], on: &str) -> (String, Result<Exit, Stop>) {
        let count = |wanted: fn(&Change) -> bool| -> usize {
            let changes = effects.iter().flat_map(|effect| &effect.changes);
            changes.filter(|change| wanted(change)).count()
        };
        let changed = count(|change| change.old.is_some() && change.new.is_some());
        let (new, gone) = (
            count(|change| change.old.is_none()),
            count(|change| change.new.is_none()),
        );
        let be = |count: usize| if count == 1 { "is" } else { "are" };
        let mut parts = Vec::new();
        if changed > 0 {
            let verb = if changed == 1 { "changes" } else { "change" };
            parts.push(format!("{} {verb}", values(changed)));
        }
        if new > 0 {
            parts.push(format!("{} {} new", values(new), be(new)));
        }
        if gone > 0 {
            parts.push(format!("{} {} gone", values(gone), be(gone)));
        }
        let reordered: usize = effects.iter().map(|effect| effect.reordered.len()).sum();
        if reordered > 0 {
            parts.push("names come in another order".into());
        }
        if parts.is_empty() {
            parts.push("no value changes".into());
        }
        let place = format!("{}:{}:{}", self.file, self.line, self.column);
        let (old, text) = (first_line(&self.old), first_line(&self.new));
        let mut words = format!(
            "with `{text}` for `{old}` at {place}, {}{on}",
            parts.join(", ")
        );
        let unchanged: usize = effects.iter().map(|effect| effect.unchanged).sum();
        match unchanged {
            0 => {}
            1 => words.push_str("; 1 that depends on it stays as it is"),
            count => words.push_str(&format!("; {count} that depend on it stay as they are")),
        }
        let outside: Vec<&Path> = effects.iter().flat_map(|one| &one.outside).collect();
        if outside.is_empty() {
            words.push_str("; nothing else changes");
            return (words, Ok(Exit::Done));
        }
        let shown: Vec<String> = outside
            .iter()
            .take(5)
            .map(|path| format!("`{path}`"))
            .collect();
        let dots = if outside.len() > shown.len() {
            ", …"
        } else {
            ""
        };
        let shown = format!("{}{dots}", shown.join(", "));
        let verb = if outside.len() == 1 { "does" } else { "do" };
        let others = format!(
            "{} that {verb} not depend on {place}",
            values(outside.len())
        );
        let end = match effects.iter().all(|effect| effect.is_literal) {
            true => Stop::Failed(Box::new(
                Diagnostic::error(UNANNOUNCED, format!("{others} changed: {shown}"))
                    .help("this is a mistake of Hence: please report it, with the sources"),
            )),
            false => Stop::Refused(Box::new(
                Diagnostic::error(NOT_A_LITERAL, format!("{others} changed, too: {shown}")).help(
                    format!("`{text}` is more than a literal in the place of one"),
                ),
            )),
        };
        (words, Err(end))
    }
}

impl Effect {
    /// Whether a secret is among what changed.
    pub fn has_secret(&self) -> bool {
        let secret = |value: &Option<Shown>| matches!(value, Some(Shown::Secret));
        let mut changes = self.changes.iter();
        changes.any(|change| secret(&change.old) || secret(&change.new))
    }
}

/// A value in one short line, if it may be shown.
fn told(value: &Shown) -> String {
    value.seen().map_or_else(str::to_owned, brief)
}

fn first_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or("");
    match lines.next() {
        Some(_) => format!("{first}…"),
        None => first.to_owned(),
    }
}
