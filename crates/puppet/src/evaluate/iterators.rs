//! Iterators are used up: whoever asks one for elements gets what others left, and those who come later get the rest.
//!
//! So what somebody gets depends on every use before, on the conditions under which it happened, and on code that
//! was passed by and would have been another.

use std::sync::Arc;

use super::{Evaluator, pairs};
use crate::iteration::{Asked, Left, Taking};
use crate::syntax::{Expression, Kind};
use crate::trace::{Node, Origin, Source};
use crate::value::{Datum, Value};

impl<'t> Evaluator<'t> {
    /// What an iterator gives to somebody who asks, if it is one. From then on it says why it does.
    pub(crate) fn left(
        &mut self,
        at: &'t Expression,
        iterator: &mut Value,
        asked: Asked,
    ) -> Option<Left> {
        let Datum::Iterator(iteration) = &iterator.datum else {
            return None;
        };
        let iteration = Arc::clone(iteration);
        let left = iteration.left(asked);
        if left.taking.is_some() {
            let passed = self.trace.passed().len() as u32;
            let untaken = self
                .is_shared(iterator)
                .then(|| self.trace.add(Node::Untaken { passed }));
            let mut reasons = left.cause.into_iter().chain(untaken).peekable();
            if reasons.peek().is_some() {
                iterator.origin = self.trace.choice(at, iterator.origin, reasons);
            }
        }
        // Whether anything is taken, and how much, depends on the steps, too.
        let before = left.cause.into_iter().chain([iterator.origin]);
        let both = self.trace.operation(at, before);
        let value = self.trace.add(Node::Structure(both));
        iteration.because(|_| self.outcome_now(value));
        Some(left)
    }

    /// Elements were taken under the conditions that there are now.
    pub(crate) fn takes(&mut self, taking: &Taking) {
        taking.because(|before| self.outcome_now(before.unwrap_or(Origin::NOWHERE)));
    }

    fn outcome_now(&mut self, value: Origin) -> Origin {
        let (control, of) = (self.control, None);
        self.trace.add(Node::Outcome { value, control, of })
    }

    /// Before all elements of the iterators in a value are asked for.
    pub(crate) fn takes_within(&mut self, at: &'t Expression, value: &mut Value) {
        let mut pending = vec![value.clone()];
        let mut reasons = Vec::new();
        while let Some(mut inner) = pending.pop() {
            match &inner.datum {
                Datum::Array(array) => pending.extend(array.iter().cloned()),
                Datum::Hash(hash) => {
                    pending.extend(hash.iter().map(|(_, entry)| entry.value.clone()));
                }
                Datum::Iterator(_) => {
                    self.left(at, &mut inner, Asked::AtOnce);
                    reasons.push(inner);
                }
                _ => {}
            }
        }
        if !reasons.is_empty() {
            value.origin = self.trace.choice(at, value.origin, reasons);
        }
    }

    /// What `*value` stands for. From then on the value says why it is that.
    pub(super) fn taken_apart(&mut self, at: &'t Expression, value: &mut Value) -> Vec<Value> {
        match &value.datum {
            Datum::Undef => Vec::new(),
            Datum::Array(array) => array.iter().cloned().collect(),
            Datum::Hash(hash) => pairs(hash, value.origin),
            Datum::Iterator(iteration) => {
                let iteration = Arc::clone(iteration);
                self.left(at, value, Asked::AtOnce);
                iteration.all_left()
            }
            _ => vec![value.clone()],
        }
    }

    /// Whether others may know an iterator, too: it was not made in the place where it is used.
    fn is_shared(&self, iterator: &Value) -> bool {
        match self.trace.source(iterator.origin) {
            Source::Node(Node::Operation { operands, .. }) => {
                let mut operands = self.trace.operands(*operands).iter();
                operands.any(|operand| matches!(operand.datum, Datum::Iterator(_)))
            }
            _ => true,
        }
    }
}

/// Whether an expression could take elements out of an iterator that is made elsewhere.
pub(crate) fn could_take(at: &Expression) -> bool {
    match &at.kind {
        Kind::Splat(operand) => could_be_iterator(operand),
        Kind::Call(call) => {
            let takes = match &call.function.kind {
                Kind::Name(name) => crate::functions::takes_elements(name),
                _ => true,
            };
            takes && call.arguments.iter().any(could_be_iterator)
        }
        _ => false,
    }
}

/// Whether the value of an expression could be an iterator, or have one in it.
fn could_be_iterator(at: &Expression) -> bool {
    match &at.kind {
        Kind::Undef
        | Kind::Default
        | Kind::Bool(_)
        | Kind::Integer(_)
        | Kind::Float(_)
        | Kind::Text(_)
        | Kind::Name(_)
        | Kind::Reference(_)
        | Kind::Pattern(_)
        | Kind::Interpolated(_)
        | Kind::Heredoc(..)
        | Kind::Not(_)
        | Kind::Minus(_) => false,
        Kind::Array(elements) => elements.iter().any(could_be_iterator),
        Kind::Hash(entries) => entries.iter().any(|(_, value)| could_be_iterator(value)),
        _ => true,
    }
}
