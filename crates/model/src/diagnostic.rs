//! What is wrong, where, and what to do about it.
//!
//! A diagnostic is written for the person who can fix it. It has a code in words, a headline, the
//! places involved, help, and the number of the published rule it comes from, where there is one.
//! How it looks on a screen is decided by the program that prints it.

use crate::source::Span;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the result stands.
    Warning,
    /// There is no result.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A kind of trouble: a code in words, and the published rule it stands for.
///
/// Every code is a constant beside the code that raises it, and has a page of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    /// The code, `language.what-is-wrong`.
    pub name: &'static str,
    /// The rule of the published semantics, such as `err2`.
    pub rule: Option<&'static str>,
}

impl Code {
    /// A kind of trouble that no published rule names.
    pub const fn new(name: &'static str) -> Self {
        Self { name, rule: None }
    }

    /// A kind of trouble that a published semantics names.
    pub const fn of_rule(name: &'static str, rule: &'static str) -> Self {
        Self {
            name,
            rule: Some(rule),
        }
    }
}

/// A place that has to do with it, and what to see there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to see there; empty where the headline says it all.
    pub text: String,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// What kind of trouble it is.
    pub code: Code,
    /// The headline: no full stop, expected before actual.
    pub message: String,
    /// The places; the first is the one to look at first. None if the trouble has no place in a text.
    pub labels: Vec<Label>,
    /// What to do, or what else to know.
    pub help: Vec<String>,
    /// The path in the value that is being made, where that helps.
    pub path: Option<String>,
}

impl Diagnostic {
    /// An error with a headline.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: Vec::new(),
            help: Vec::new(),
            path: None,
        }
    }

    /// A warning with a headline.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, message)
        }
    }

    /// Adds a place that needs no words.
    pub fn at(self, span: Span) -> Self {
        self.label(span, "")
    }

    /// Adds a place and what to see there.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        self.labels.push(Label { span, text });
        self
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Says which value was being made.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Whether there is no result because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The names most like `name`, best first: what somebody who mistyped may have meant.
pub fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let allowed = (name.chars().count() / 3).min(3);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(name, candidate, allowed)?, candidate)))
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().map(|(_, name)| name).take(3).collect()
}

/// Edits from one name to the other: insertions, deletions, changes and swaps of neighbours, if at
/// most `allowed`. A difference in case alone costs nothing.
fn distance(from: &str, to: &str, allowed: usize) -> Option<usize> {
    // Nobody mistypes a name into one so much longer, and nobody types names of this length.
    if from.len().abs_diff(to.len()) > 3 * (allowed + 1) || from.len() > 200 {
        return None;
    }
    let from: Vec<char> = from.to_lowercase().chars().collect();
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut rows = [Vec::new(), (0..=to.len()).collect::<Vec<usize>>()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let change = rows[1][j] + usize::from(a != b);
            let mut least = change.min(rows[1][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(rows[0][j - 1] + 1);
            }
            row.push(least);
        }
        rows.swap(0, 1);
        rows[1] = row;
    }
    let edits = rows[1][to.len()];
    (edits <= allowed).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::similar;

    #[test]
    fn a_mistyped_name_finds_the_one_that_was_meant() {
        assert_eq!(similar("prot", ["port", "host", "web"]), ["port"]);
        assert_eq!(similar("Port", ["port"]), ["port"]);
        assert!(similar("x", ["y", "completely"]).is_empty());
    }
}
