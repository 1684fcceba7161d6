//! Configuration files that are features: settings, and directives in the comments.
//!
//! ```text
//! #name ExecuteNode
//! #includes Master
//! #dependson NodeAccess
//! #conflicts Scheduler
//! #default SLOT_TYPE_1
//! DAEMON_LIST = >= STARTD
//! START = (KeyboardIdle > 900) && \
//!         (LoadAvg < 0.3)
//! SPOOL @=end
//! C:\spool\
//! @end
//! ```
//!
//! As these are comments to everybody else, one file can be both. A setting without a value asks for the default.

use hence_ledger::State;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Sources, Span};

use crate::edit::{Edit, Item, Relation, Thing};
use crate::words::Kind;

/// A file does not say which feature it is.
pub const NO_NAME: Code = Code::new("feature.no-name");
/// A line is neither a setting nor a comment.
pub const NOT_A_SETTING: Code = Code::new("feature.not-a-setting");

/// What a file says about a feature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureFile {
    /// Its name.
    pub name: String,
    /// What it includes, the highest priority first.
    pub includes: Vec<String>,
    /// What it depends on.
    pub depends: Vec<String>,
    /// What it conflicts with.
    pub conflicts: Vec<String>,
    /// Its parameters; those without a value take their defaults.
    pub parameters: Vec<(String, Option<String>)>,
    /// What is doubtful.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a file. A name that is given counts for more than one in the file.
pub fn read(
    sources: &Sources,
    file: FileId,
    name: Option<&str>,
) -> Result<FeatureFile, Vec<Diagnostic>> {
    let span = sources.span(file);
    let text = sources.slice(span);
    let mut read = FeatureFile::default();
    let mut lines = Lines { text, at: 0 };
    while let Some((start, line)) = lines.next() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if let Some(comment) = trimmed.strip_prefix('#') {
            let (directive, rest) = split_word(comment);
            let rest = rest.trim();
            if !rest.is_empty() {
                match directive.to_lowercase().as_str() {
                    "name" => read.name = rest.to_owned(),
                    "includes" => read.includes.push(rest.to_owned()),
                    "dependson" => read.depends.push(rest.to_owned()),
                    "conflicts" => read.conflicts.push(rest.to_owned()),
                    "default" => read.set(rest, None),
                    _ => {}
                }
            }
            continue;
        }
        match trimmed.split_once('=') {
            Some((name, word)) if is_block(name, word) => {
                let name = name.trim_end().trim_end_matches('@').trim();
                match lines.block(word.trim()) {
                    Some(value) => read.set(name, Some(&*value).filter(|value| !value.is_empty())),
                    None => read.leave_out(text, span, start, "a line `@WORD` ends the value"),
                }
            }
            Some((name, value)) if is_name(name.trim()) => {
                let value = value.trim();
                read.set(name.trim(), Some(value).filter(|value| !value.is_empty()));
            }
            _ => read.leave_out(text, span, start, "a setting is `NAME = VALUE`"),
        }
    }
    if let Some(name) = name {
        read.name = name.to_owned();
    }
    match read.name.is_empty() {
        false => Ok(read),
        true => {
            let trouble = Diagnostic::error(NO_NAME, "which feature this is, is not said");
            let trouble = trouble.at(Span::at(span.start));
            Err(vec![
                trouble.help("`--name NAME` says it, or a line `#name NAME`"),
            ])
        }
    }
}

impl FeatureFile {
    /// Warns of something that is no setting, as far as it stands on one line.
    fn leave_out(&mut self, text: &str, span: Span, start: usize, help: &str) {
        let first = text[start..].lines().next().unwrap_or_default();
        let end = start + first.trim_end().len();
        let place = Span::new(span.start + start as u32, span.start + end as u32);
        let warning = Diagnostic::warning(NOT_A_SETTING, "this is left out: it is no setting");
        self.warnings.push(warning.at(place).help(help));
    }

    /// The last setting of a parameter counts, as in the file.
    fn set(&mut self, name: &str, value: Option<&str>) {
        let known = self.parameters.iter_mut();
        let mut known = known.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let value = value.map(str::to_owned);
        match known.next() {
            Some((_, old)) => *old = value,
            None => self.parameters.push((name.to_owned(), value)),
        }
    }

    /// What makes the feature, and the parameters that it sets and that are not there.
    pub fn edits(&self, state: &State) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (name, _) in &self.parameters {
            if state.get(&Kind::Param.key(name)).is_none() {
                let name = name.clone();
                let kind = Kind::Param;
                edits.push(Edit::Create(Thing { kind, name }, Vec::new()));
            }
        }
        let feature = Thing {
            kind: Kind::Feature,
            name: self.name.clone(),
        };
        edits.push(Edit::Create(feature.clone(), Vec::new()));
        let named = |name: &String| Item {
            name: name.clone(),
            value: None,
        };
        for (relation, names) in [
            (Relation::Include, &self.includes),
            (Relation::Depend, &self.depends),
            (Relation::Conflict, &self.conflicts),
        ] {
            if !names.is_empty() {
                let items = names.iter().map(named).collect();
                edits.push(Edit::Add(feature.clone(), relation, items, None));
            }
        }
        if !self.parameters.is_empty() {
            let item = |(name, value): &(String, Option<String>)| Item {
                name: name.clone(),
                value: value.clone(),
            };
            let items = self.parameters.iter().map(item).collect();
            edits.push(Edit::Add(feature, Relation::Param, items, None));
        }
        edits
    }
}

/// Lines, those that end with a backslash joined to the next.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<(usize, String)> {
        if self.at >= self.text.len() {
            return None;
        }
        let start = self.at;
        let mut whole = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find('\n').unwrap_or(rest.len());
            let line = rest[..end].trim_end_matches('\r');
            self.at += (end + 1).min(rest.len());
            // A comment ends with its line, whatever it ends with.
            let is_comment = whole.is_empty() && line.trim_start().starts_with('#');
            match line.trim_end().strip_suffix('\\') {
                Some(line) if !is_comment && self.at < self.text.len() => {
                    whole.push_str(line.trim_end());
                    whole.push(' ');
                }
                _ => {
                    let line = if whole.is_empty() {
                        line
                    } else {
                        line.trim_start()
                    };
                    whole.push_str(line);
                    return Some((start, whole));
                }
            }
        }
    }
}

impl Lines<'_> {
    /// The lines up to the one that ends a block, as they are; nothing if no line does.
    fn block(&mut self, word: &str) -> Option<String> {
        let rest = &self.text[self.at..];
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim().strip_prefix('@') == Some(word) {
                self.at += length + line.len();
                let value = &rest[..length];
                let value = value.strip_suffix('\n').unwrap_or(value);
                return Some(value.to_owned());
            }
            length += line.len();
        }
        None
    }
}

/// Whether a setting goes on over lines, up to the one that repeats a word: `NAME @=word`.
fn is_block(name: &str, word: &str) -> bool {
    let name = name.trim_end().strip_suffix('@');
    name.is_some_and(|name| is_name(name.trim())) && is_name(word.trim())
}

fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

/// Whether something can be the name of a setting.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '$');
    !text.is_empty() && text.chars().all(is_part)
}
