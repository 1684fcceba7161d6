//! What functions get, and what they give back.
//!
//! An argument that is not what a function takes is told with its place; a result knows what it was computed
//! from. Functions of the older kind get texts where others get `undef`, regular expressions and versions.

use ecow::EcoString;
use hence_model::diagnostic::Diagnostic;
use hence_model::unit::OUTPUT_TOO_LARGE;

use super::ARGUMENT;
use crate::evaluate::{Evaluator, Invocation, Outcome, fail, without_iterators};
use crate::syntax::Lambda;
use crate::trace::{Cause, Node};
use crate::types::Type;
use crate::value::{Array, Datum, Entry, Hash, Value};

/// So long is the longest text that a function makes, in bytes.
pub(super) const LONGEST_TEXT: usize = 64 << 20;
/// So many elements has the longest array that a function makes out of nothing.
pub(super) const MOST_ELEMENTS: usize = 10_000_000;

impl<'t> Invocation<'t> {
    /// A result that is computed from all arguments.
    pub(super) fn result(&self, evaluator: &mut Evaluator<'t>, datum: impl Into<Datum>) -> Value {
        let origin = evaluator.trace.operation(self.at, self.origins());
        Value::new(datum, origin)
    }

    /// A result that depends on how many elements the first argument has, if it has any, and not on what they are.
    pub(super) fn result_of_structure(
        &self,
        evaluator: &mut Evaluator<'t>,
        datum: impl Into<Datum>,
    ) -> Value {
        let argument = &self.arguments[0];
        if !matches!(argument.datum, Datum::Array(_) | Datum::Hash(_)) {
            return self.result(evaluator, datum);
        }
        let structure = evaluator.trace.add(Node::Structure(argument.origin));
        let counted = Value::new(argument.datum.clone(), structure);
        let origin = evaluator.trace.operation(self.at, [counted]);
        Value::new(datum, origin)
    }

    /// A text that is computed from all arguments, if it is not too long.
    pub(super) fn text_result(
        &self,
        evaluator: &mut Evaluator<'t>,
        text: impl Into<EcoString>,
    ) -> Outcome {
        let text = text.into();
        self.check_length(text.len())?;
        let value = self.result(evaluator, text);
        evaluator.weigh(&value.datum, self.at.span)?;
        Ok(value)
    }

    /// A container that the function made, if it does not nest too deep.
    pub(super) fn container(
        &self,
        evaluator: &mut Evaluator<'t>,
        datum: impl Into<Datum>,
    ) -> Outcome {
        let value = self.result(evaluator, datum);
        evaluator.shallow(value, self.at.span)
    }

    /// One of the arguments, or something in them, that the function hands on.
    pub(super) fn handed_on(&self, evaluator: &mut Evaluator<'t>, value: Value) -> Value {
        let operands = self.origins();
        let origin = evaluator.trace.choice(self.at, value.origin, operands);
        Value { origin, ..value }
    }

    /// Whether a text of that length may be made.
    pub(super) fn check_length(&self, length: usize) -> Outcome<()> {
        match length <= LONGEST_TEXT {
            true => Ok(()),
            false => self.too_long(),
        }
    }

    /// A text would be too long.
    pub(super) fn too_long<T>(&self) -> Outcome<T> {
        let message = format!(
            "`{}` would make a text of more than {LONGEST_TEXT} bytes",
            self.name
        );
        fail(OUTPUT_TOO_LARGE, message, self.at.span)
    }

    /// Whether an array with so many elements may be made.
    pub(super) fn check_count(&self, count: usize) -> Outcome<()> {
        if count <= MOST_ELEMENTS {
            return Ok(());
        }
        let message = format!(
            "`{}` would make an array of more than {MOST_ELEMENTS} elements",
            self.name
        );
        fail(OUTPUT_TOO_LARGE, message, self.at.span)
    }

    /// An argument is not what the function takes.
    pub(super) fn unexpected<T>(
        &self,
        evaluator: &Evaluator<'t>,
        number: usize,
        expected: &str,
    ) -> Outcome<T> {
        let Some(value) = self.arguments.get(number) else {
            let message = format!("`{}` expects {expected}", self.name);
            return fail(ARGUMENT, message, self.at.span);
        };
        let kind = Type::of(&value.datum).generalise();
        let message = format!("`{}` expects {expected} here, found {kind}", self.name);
        let trouble = Diagnostic::error(ARGUMENT, message).at(self.span(number));
        Err(evaluator.blaming(trouble, value))
    }

    /// An argument is of the right kind, and yet wrong.
    pub(super) fn wrong<T>(&self, number: usize, why: impl Into<String>) -> Outcome<T> {
        fail(ARGUMENT, why, self.span(number))
    }

    /// An argument that is text.
    pub(super) fn text(&self, evaluator: &Evaluator<'t>, number: usize) -> Outcome<&EcoString> {
        match self.arguments.get(number).map(|argument| &argument.datum) {
            Some(Datum::Text(text)) => Ok(text),
            _ => self.unexpected(evaluator, number, "text"),
        }
    }

    /// An argument that is text, if it is there at all.
    pub(super) fn optional_text(
        &self,
        evaluator: &Evaluator<'t>,
        number: usize,
    ) -> Outcome<Option<&EcoString>> {
        match self.arguments.get(number) {
            None => Ok(None),
            Some(_) => self.text(evaluator, number).map(Some),
        }
    }

    /// An argument that is a whole number.
    pub(super) fn integer(&self, evaluator: &Evaluator<'t>, number: usize) -> Outcome<i64> {
        match self.arguments.get(number).map(|argument| &argument.datum) {
            Some(Datum::Integer(integer)) => Ok(*integer),
            _ => self.unexpected(evaluator, number, "a whole number"),
        }
    }

    /// An argument that is true or false; false if it is not there.
    pub(super) fn flag(&self, evaluator: &Evaluator<'t>, number: usize) -> Outcome<bool> {
        match self.arguments.get(number).map(|argument| &argument.datum) {
            None => Ok(false),
            Some(Datum::Bool(bool)) => Ok(*bool),
            _ => self.unexpected(evaluator, number, "true or false"),
        }
    }

    /// An argument that is an array.
    pub(super) fn array(&self, evaluator: &Evaluator<'t>, number: usize) -> Outcome<&Array> {
        match self.arguments.get(number).map(|argument| &argument.datum) {
            Some(Datum::Array(array)) => Ok(array),
            _ => self.unexpected(evaluator, number, "an array"),
        }
    }

    /// An argument that is a hash.
    pub(super) fn hash(&self, evaluator: &Evaluator<'t>, number: usize) -> Outcome<&Hash> {
        match self.arguments.get(number).map(|argument| &argument.datum) {
            Some(Datum::Hash(hash)) => Ok(hash),
            _ => self.unexpected(evaluator, number, "a hash"),
        }
    }

    /// The call as a function of the older kind gets it: `undef` is an empty text, and what has no other form
    /// there is text as well.
    pub(super) fn older(mut self) -> Outcome<Self> {
        for number in 0..self.arguments.len() {
            let span = self.span(number);
            let argument = &mut self.arguments[number];
            without_iterators(argument, span)?;
            if argument.is_undef() {
                argument.datum = Datum::Text(EcoString::new());
            } else if let Some(datum) = older_datum(&argument.datum) {
                argument.datum = datum;
            }
        }
        Ok(self)
    }

    /// Runs the lambda of the call once.
    pub(super) fn run_lambda(
        &self,
        evaluator: &mut Evaluator<'t>,
        lambda: &'t Lambda,
        arguments: Vec<Value>,
    ) -> Outcome {
        evaluator.call_lambda(lambda, arguments, Cause::Called(self.at))
    }

    /// Whether the lambda, if there is one, can be called with so many arguments.
    pub(super) fn check_lambda(&self, count: usize) -> Outcome<()> {
        match self.lambda {
            Some(lambda) if !accepts(lambda, count) => {
                let message = format!(
                    "the lambda of `{}` takes {}",
                    self.name,
                    crate::evaluate::counted(count, "parameter")
                );
                fail(crate::evaluate::ARGUMENTS, message, lambda.span)
            }
            _ => Ok(()),
        }
    }
}

/// Whether a lambda can be called with so many arguments.
pub(super) fn accepts(lambda: &Lambda, count: usize) -> bool {
    let parameters = &lambda.parameters;
    let needed = parameters
        .iter()
        .filter(|parameter| parameter.default.is_none() && !parameter.rest);
    let open = parameters.last().is_some_and(|last| last.rest);
    needed.count() <= count && (open || count <= parameters.len())
}

/// What a value becomes there; nothing if it stays as it is.
pub(super) fn older_datum(datum: &Datum) -> Option<Datum> {
    match datum {
        Datum::Pattern(_)
        | Datum::SemVer(_)
        | Datum::SemVerRange(_)
        | Datum::Binary(_)
        | Datum::Timespan(_)
        | Datum::Timestamp(_) => Some(Datum::Text(crate::text::text(datum))),
        Datum::Array(array) => {
            let changed: Vec<_> = array.iter().map(|it| older_datum(&it.datum)).collect();
            if changed.iter().all(Option::is_none) {
                return None;
            }
            let values = array.iter().zip(changed);
            let values = values.map(|(value, datum)| renewed(value, datum));
            Some(Datum::Array(values.collect()))
        }
        Datum::Hash(hash) => {
            let changed = |(key, entry): (&Datum, &Entry)| {
                (older_datum(key), older_datum(&entry.value.datum))
            };
            let changed: Vec<_> = hash.iter().map(changed).collect();
            if changed
                .iter()
                .all(|(key, value)| key.is_none() && value.is_none())
            {
                return None;
            }
            let entries = hash.iter().zip(changed);
            let entries = entries.map(|((key, entry), (new_key, value))| {
                let key = Value::new(key.clone(), entry.key);
                (renewed(&key, new_key), renewed(&entry.value, value))
            });
            Some(Datum::Hash(entries.collect()))
        }
        _ => None,
    }
}

fn renewed(value: &Value, datum: Option<Datum>) -> Value {
    match datum {
        Some(datum) => Value::new(datum, value.origin),
        None => value.clone(),
    }
}
