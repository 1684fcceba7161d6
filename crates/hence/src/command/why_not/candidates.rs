//! The single edits that may give a value, likeliest first: made from the answer to *why*, and not yet tried.

use std::collections::{BTreeSet, HashSet};

use hence_model::explanation::{Explanation, Role, StepKind};
use hence_model::source::{FileId, Sources, Span};
use hence_model::value::Value;

use super::notation::{Notation, bare};
use super::solve::{near, solve};
use crate::configuration::Configuration;
use crate::replacement::Replacement;

/// How many other texts are tried in the place of one that decides something.
const OPTIONS: usize = 12;
/// In how many files such texts are searched.
const FILES: usize = 20;

/// An edit that may give the value.
pub struct Candidate {
    /// The edit.
    pub replacement: Replacement,
    /// What it touches.
    pub what: What,
}

/// What an edit touches, from the value itself outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A literal that the value is, or is computed from.
    Literal,
    /// What stands for the value: a reference or an expression.
    Expression,
    /// The definition that won.
    Definition,
    /// A literal that decided where the value comes from.
    Condition,
}

/// The edits that are worth a try; not many more than are wanted.
pub fn candidates(
    compiled: &mut Configuration<'_>,
    explanation: &Explanation,
    wanted: &Value,
    most: usize,
) -> Vec<Candidate> {
    let deciding: Vec<Span> = explanation
        .depends
        .iter()
        .filter(|one| one.role == Role::Condition)
        .map(|one| one.span)
        .collect();
    let sources = &compiled.unit().sources;
    let files = deciding.iter().map(|span| sources.file_at(span.start));
    let files: BTreeSet<FileId> = files.collect();
    let mut literals = Vec::new();
    for file in files.into_iter().take(FILES) {
        let whole = compiled.unit().sources.span(file);
        literals.extend(compiled.literals(whole));
    }
    let mut gathering = Gathering {
        compiled,
        literals,
        sources: &compiled.unit().sources,
        known: HashSet::new(),
        candidates: Vec::new(),
    };
    gathering.literals(explanation, wanted);
    gathering.expressions(explanation, wanted);
    gathering.definitions(explanation);
    gathering.conditions(&deciding, most);
    gathering.candidates
}

struct Gathering<'c> {
    compiled: &'c Configuration<'c>,
    sources: &'c Sources,
    literals: Vec<Span>,
    known: HashSet<Replacement>,
    candidates: Vec<Candidate>,
}

impl Gathering<'_> {
    fn add(&mut self, span: Span, text: String, what: What) {
        let replacement = Replacement { span, text };
        let is_other = self.sources.slice(span) != replacement.text;
        if is_other && self.known.insert(replacement.clone()) {
            self.candidates.push(Candidate { replacement, what });
        }
    }

    fn add_value(&mut self, span: Span, value: &Value, what: What) {
        let file = self.sources.name(self.sources.file_at(span.start));
        let notation = Notation::of(self.compiled, file);
        for text in notation.writings(value, self.sources.slice(span)) {
            self.add(span, text, what);
        }
    }

    /// What the literals would have to be.
    fn literals(&mut self, explanation: &Explanation, wanted: &Value) {
        if let Some(place) = explanation.place {
            self.add_value(place, wanted, What::Literal);
        }
        for (span, value) in solve(&explanation.expression, wanted) {
            self.add_value(span, &value, What::Literal);
        }
    }

    /// The value itself in the place of what stands for it.
    fn expressions(&mut self, explanation: &Explanation, wanted: &Value) {
        self.add_value(explanation.expression.span, wanted, What::Expression);
        for step in explanation.steps.iter().filter(|step| !step.control) {
            if let StepKind::Link { .. } | StepKind::Operation(_) | StepKind::Written = step.kind {
                self.add_value(step.span, wanted, What::Expression);
            }
            // `mode => $mode`, `$mode = '0644'`: what stands behind.
            let text = self.sources.slice(step.span);
            let behind = ["=>", "="].iter().find_map(|sign| {
                let (name, behind) = text.split_once(sign)?;
                (!name.trim().contains(char::is_whitespace)).then_some(behind)
            });
            if let Some(behind) = behind {
                let start = step.span.end - behind.trim_start().len() as u32;
                let end = step.span.end - (behind.len() - behind.trim_end().len()) as u32;
                if start < end {
                    self.add_value(Span::new(start, end), wanted, What::Expression);
                }
            }
        }
    }

    /// The definition that won, so that another one wins.
    fn definitions(&mut self, explanation: &Explanation) {
        let steps = explanation.steps.iter().filter(|step| !step.control);
        let steps = steps.take(4).map(|step| step.span);
        let own = [explanation.place, Some(explanation.expression.span)];
        let spans: Vec<Span> = own.into_iter().flatten().chain(steps).collect();
        for span in spans {
            for stretch in statements(self.sources, span) {
                self.add(stretch, String::new(), What::Definition);
            }
        }
    }

    /// Others in the place of what decided.
    fn conditions(&mut self, deciding: &[Span], most: usize) {
        for &span in deciding {
            match self.sources.slice(span) {
                "true" => self.add_value(span, &Value::Bool(false), What::Condition),
                "false" => self.add_value(span, &Value::Bool(true), What::Condition),
                _ => {}
            }
        }
        let number = |text: &str| text.parse::<i64>().ok().map(Value::Integer);
        for &span in deciding {
            let Some(own) = number(self.sources.slice(span)) else {
                continue;
            };
            if self.candidates.len() >= most {
                return;
            }
            let all = deciding.iter().filter(|other| **other != span);
            let mut others: Vec<Value> = all
                .filter_map(|other| number(self.sources.slice(*other)))
                .collect();
            others.push(own);
            for value in others.iter().flat_map(near) {
                self.add_value(span, &value, What::Condition);
            }
        }
        for &span in deciding {
            if !self.is_text(span) {
                continue;
            }
            if self.candidates.len() >= most {
                return;
            }
            // Those that decide too come first, then those nearby.
            let mut nearby = self.literals.clone();
            nearby.sort_by_key(|other| other.start.abs_diff(span.start));
            let others = deciding.iter().chain(&nearby);
            let mut seen = HashSet::from([bare(self.sources.slice(span))]);
            let others = others
                .filter(|other| self.is_text(**other))
                .map(|other| bare(self.sources.slice(*other)))
                .filter(|text| seen.insert(text));
            let others: Vec<Value> = others
                .take(OPTIONS)
                .map(|text| Value::Text(text.to_owned()))
                .collect();
            for value in others {
                self.add_value(span, &value, What::Condition);
            }
        }
    }
}

impl Gathering<'_> {
    /// Whether a literal is a text that may decide something: no name, no key, and nothing that says where data lie.
    fn is_text(&self, span: Span) -> bool {
        let text = self.sources.slice(span);
        let file = self.sources.name(self.sources.file_at(span.start));
        let is_quoted = text.len() > 1 && text.starts_with(['\'', '"']);
        let is_word = text.starts_with(char::is_alphabetic)
            && text
                .chars()
                .all(|char| char.is_alphanumeric() || "_-.".contains(char))
            && !["true", "false", "default", "undef"].contains(&text);
        let is_key = || {
            let behind = &self.sources.text()[span.end as usize..];
            behind.trim_start().starts_with(':')
        };
        match Notation::of(self.compiled, file) {
            Notation::SmartFrog | Notation::Puppet => is_quoted,
            Notation::Cf2 => is_quoted || is_word,
            Notation::Json => is_quoted && !is_key(),
            Notation::Yaml => (is_quoted || is_word) && !is_key() && !file.ends_with("hiera.yaml"),
        }
    }
}

/// The stretches that may be the statement around something: its line, if nothing else is in it, or what lies between
/// separators.
fn statements(sources: &Sources, span: Span) -> Vec<Span> {
    let file = sources.file_at(span.start);
    let whole = sources.span(file);
    let text = sources.slice(whole);
    let (start, end) = (
        (span.start - whole.start) as usize,
        (span.end - whole.start) as usize,
    );
    let in_file =
        |start: usize, end: usize| Span::new(whole.start + start as u32, whole.start + end as u32);
    let before = text[..start]
        .rfind([';', '{', '}', ',', '\n'])
        .map_or(0, |at| at + 1);
    let from = before + (text[before..start].len() - text[before..start].trim_start().len());
    let rest = &text[end..];
    let to = match rest.find([';', ',', '}', '\n']) {
        Some(at) if rest[at..].starts_with([';', ',']) => end + at + 1,
        Some(at) => end + rest[..at].trim_end().len(),
        None => end + rest.trim_end().len(),
    };
    let line_start = text[..from].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[to..].find('\n').map_or(text.len(), |at| to + at + 1);
    let is_alone = text[line_start..from].trim().is_empty() && text[to..line_end].trim().is_empty();
    if is_alone {
        return vec![in_file(line_start, line_end)];
    }
    let mut stretches = vec![in_file(from, to)];
    // The last of several goes with the separator before it.
    if text[..from].trim_end().ends_with(',') {
        stretches.push(in_file(text[..from].trim_end().len() - 1, to));
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(text: &str, word: &str) -> Vec<String> {
        let mut sources = Sources::default();
        let file = sources.add("f", text).unwrap();
        let at = sources.span(file).start + text.find(word).unwrap() as u32;
        let span = Span::new(at, at + word.len() as u32);
        let stretches = statements(&sources, span).into_iter();
        stretches.map(|one| sources.slice(one).to_owned()).collect()
    }

    #[test]
    fn a_statement_is_its_line_or_what_lies_between_separators() {
        assert_eq!(removed("a {\n  b 1;\n}\n", "1"), ["  b 1;\n"]);
        assert_eq!(removed("a { b 1; c 2; }", "1"), ["b 1;"]);
        assert_eq!(
            removed("{\"a\": 1, \"b\": 2}", "2"),
            ["\"b\": 2", ", \"b\": 2"]
        );
        assert_eq!(removed("web::port: 80", "80"), ["web::port: 80"]);
    }
}
