//! Conditionals. What was not chosen is remembered: what it could have said matters to *why*.

use hence_model::diagnostic::Code;

use super::{Evaluator, Outcome, fail, unwrapped};
use crate::syntax::{Case, Expression, If, Kind, Selector};
use crate::trace::{self, Cause, Node, Origin, Passed};
use crate::value::{Datum, Value};

/// No option of a selector fits.
pub const NO_OPTION: Code = Code::new("puppet.no-option");

impl<'t> Evaluator<'t> {
    /// `if` and `unless` (IfT, IfF, UnlessT, UnlessF).
    pub(super) fn conditional(&mut self, at: &'t Expression, conditional: &'t If) -> Outcome {
        self.guarded(|evaluator| {
            let condition = evaluator.nested(&conditional.condition)?;
            let first = condition.datum.is_true() != conditional.unless;
            let then = Some(&conditional.then);
            let otherwise = conditional.otherwise.as_ref();
            let (chosen, other) = if first {
                (then, otherwise)
            } else {
                (otherwise, then)
            };
            if let Some(other) = other {
                evaluator.pass(condition.origin, trace::Code::Block(other));
            }
            let outcome = condition.origin;
            evaluator.under(Cause::Test { outcome, at }, |evaluator| {
                let value = match chosen {
                    Some(block) => evaluator.deeper(at.span, |evaluator| evaluator.block(block))?,
                    None => evaluator.written(Datum::Undef, at.span),
                };
                Ok(evaluator.chosen(at, value))
            })
        })
    }

    /// `case` (CaseMatch, CaseNoMatch, CaseDone): the first option that fits, `default` after all others.
    pub(super) fn case(&mut self, at: &'t Expression, case: &'t Case) -> Outcome {
        self.guarded(|evaluator| {
            let test = evaluator.nested(&case.test)?;
            let mut tried = Vec::with_capacity(case.options.len() + 1);
            tried.push(test.clone());
            let mut chosen = None;
            let mut default = None;
            let options = case.options.iter().enumerate();
            let mut values = options.flat_map(|(number, option)| {
                option.values.iter().map(move |value| (number, value))
            });
            for (number, value) in values.by_ref() {
                if matches!(unwrapped(value).kind, Kind::Default) {
                    default = Some(number);
                } else if evaluator.fits_one(at, &test, value, &mut tried)? {
                    chosen = Some(number);
                    break;
                }
            }
            let chosen = chosen.or(default);
            let outcome = evaluator.trace.operation(at, tried);
            evaluator.pass_untried(outcome, values.map(|(_, value)| value));
            for (number, option) in case.options.iter().enumerate() {
                if chosen != Some(number) {
                    evaluator.pass(outcome, trace::Code::Block(&option.body));
                }
            }
            evaluator.under(Cause::Test { outcome, at }, |evaluator| {
                let value = match chosen {
                    Some(number) => {
                        let body = &case.options[number].body;
                        evaluator.deeper(at.span, |evaluator| evaluator.block(body))?
                    }
                    None => evaluator.written(Datum::Undef, at.span),
                };
                Ok(evaluator.chosen(at, value))
            })
        })
    }

    /// `a ? { b => c }` (SelectMatch, SelectNoMatch, SelectDefault).
    pub(super) fn selector(&mut self, at: &'t Expression, selector: &'t Selector) -> Outcome {
        self.guarded(|evaluator| {
            let test = evaluator.nested(&selector.test)?;
            let mut tried = Vec::with_capacity(selector.options.len() + 1);
            tried.push(test.clone());
            let mut chosen = None;
            let mut default = None;
            let mut options = selector.options.iter().enumerate();
            for (number, (option, _)) in options.by_ref() {
                if matches!(unwrapped(option).kind, Kind::Default) {
                    default = Some(number);
                } else if evaluator.fits_one(at, &test, option, &mut tried)? {
                    chosen = Some(number);
                    break;
                }
            }
            let Some(chosen) = chosen.or(default) else {
                let shown = crate::text::text(&test.datum);
                let message = format!("no option of the selector fits '{shown}'");
                return fail(NO_OPTION, message, selector.test.span);
            };
            let outcome = evaluator.trace.operation(at, tried);
            evaluator.pass_untried(outcome, options.map(|(_, (option, _))| option));
            for (number, (_, value)) in selector.options.iter().enumerate() {
                if number != chosen {
                    evaluator.pass(outcome, trace::Code::Expression(value));
                }
            }
            evaluator.under(Cause::Test { outcome, at }, |evaluator| {
                let value = evaluator.nested(&selector.options[chosen].1)?;
                Ok(evaluator.chosen(at, value))
            })
        })
    }

    fn fits_one(
        &mut self,
        at: &'t Expression,
        test: &Value,
        option: &'t Expression,
        tried: &mut Vec<Value>,
    ) -> Outcome<bool> {
        if self.does_more(option) {
            // It is evaluated because none before it fits.
            let outcome = self.trace.choice(at, Origin::NOWHERE, tried.clone());
            return self.under(Cause::Stayed { outcome }, |evaluator| {
                evaluator.fits_now(at, test, option, tried)
            });
        }
        self.fits_now(at, test, option, tried)
    }

    fn fits_now(
        &mut self,
        at: &'t Expression,
        test: &Value,
        option: &'t Expression,
        tried: &mut Vec<Value>,
    ) -> Outcome<bool> {
        if let Kind::Splat(operand) = &unwrapped(option).kind {
            let mut options = self.splat(operand)?.0.into_iter();
            return Ok(options.any(|option| self.try_option(at, test, option, tried)));
        }
        let option = self.nested(option)?;
        Ok(self.try_option(at, test, option, tried))
    }

    fn try_option(
        &mut self,
        at: &'t Expression,
        test: &Value,
        option: Value,
        tried: &mut Vec<Value>,
    ) -> bool {
        let origin = match option.datum {
            Datum::Pattern(_) => self.trace.operation(at, [test.clone(), option.clone()]),
            _ => option.origin,
        };
        let fits = self.fits(test, &option, origin);
        tried.push(option);
        fits
    }

    /// Takes note of options that are not looked at, as one before them fits.
    fn pass_untried(&mut self, outcome: Origin, options: impl Iterator<Item = &'t Expression>) {
        for option in options {
            if self.does_more(option) {
                self.pass(outcome, trace::Code::Expression(option));
            }
        }
    }

    /// Takes note of code that does not run.
    pub(crate) fn pass(&mut self, outcome: Origin, code: trace::Code<'t>) {
        let (control, scope) = (self.control, self.scope);
        self.trace.pass(Passed {
            outcome,
            control,
            scope,
            code,
        });
        if self.leaving(code).is_possible() {
            self.control = self.trace.under(self.control, Cause::Stayed { outcome });
            self.last();
        }
    }

    /// Takes note of the rest of code that was left.
    pub(crate) fn pass_rest(&mut self, code: trace::Code<'t>) {
        let (control, scope) = (self.control, self.scope);
        self.trace.pass(Passed {
            outcome: Origin::NOWHERE,
            control,
            scope,
            code,
        });
    }

    /// A value that is what it is because of the conditions under which it was computed.
    pub(super) fn outcome(&mut self, value: Value) -> Value {
        self.outcome_of(None, value)
    }

    /// What a conditional came to.
    fn chosen(&mut self, at: &'t Expression, value: Value) -> Value {
        self.outcome_of(Some(at), value)
    }

    fn outcome_of(&mut self, of: Option<&'t Expression>, value: Value) -> Value {
        let node = Node::Outcome {
            value: value.origin,
            control: self.control,
            of,
        };
        let origin = self.trace.add(node);
        Value { origin, ..value }
    }
}
