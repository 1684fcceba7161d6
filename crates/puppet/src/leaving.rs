//! Which code could be left early.
//!
//! What comes after `if $a { next() }` runs because `$a` does not hold. So code that was passed by, and could have
//! left, is a condition of all that follows, until where it would have led: the end of the round, of the
//! iteration, or of the body.

use crate::syntax::{Expression, Kind, Lambda, Part};
use crate::trace::Code;

/// The ways in which some code could be left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaving {
    /// A round of a lambda, by `next`.
    round: bool,
    /// An iteration, by `break`.
    iteration: bool,
    /// The body of a function, class or defined type, by `return`.
    pub(crate) body: bool,
}

impl Leaving {
    /// The ways out of a piece of code.
    pub(crate) fn of(code: Code<'_>) -> Self {
        let mut leaving = Leaving::default();
        match code {
            Code::Block(block) => block
                .statements
                .iter()
                .for_each(|statement| leaving.expression(statement)),
            Code::Expression(expression) => leaving.expression(expression),
            Code::Lambda(lambda) => leaving.lambda(lambda),
        }
        leaving
    }

    /// Whether there is any.
    pub(crate) fn is_possible(self) -> bool {
        self != Leaving::default()
    }

    /// Whether only a round ends.
    pub(crate) fn ends_round_only(self) -> bool {
        !self.iteration && !self.body
    }

    fn expression(&mut self, at: &Expression) {
        if let Kind::Call(call) = &at.kind
            && let Kind::Name(name) = &call.function.kind
        {
            match name.trim_start_matches("::") {
                "next" => self.round = true,
                "break" => self.iteration = true,
                "return" => self.body = true,
                _ => {}
            }
        }
        at.parts(&mut |part| match part {
            Part::Expression(inner) => self.expression(inner),
            Part::Lambda(lambda) => self.lambda(lambda),
        });
    }

    /// Only `return` leads out of a lambda.
    fn lambda(&mut self, lambda: &Lambda) {
        let mut inside = Leaving::default();
        let statements = lambda.body.statements.iter();
        statements.for_each(|statement| inside.expression(statement));
        self.body |= inside.body;
    }
}
