//! Operators: arithmetic, comparison, matching, and what `+ - <<` do to arrays and hashes.

use std::sync::Arc;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use super::{Evaluator, Outcome, Stop, could_take, fail, failed, moments, pairs};
use crate::compare;
use crate::functions;
use crate::pattern::Pattern;
use crate::scope::Frame;
use crate::syntax::{Expression, Kind, Operator, Part};
use crate::trace::{self, Cause, Origin};
use crate::types::Type;
use crate::types::version::Version;
use crate::value::{Array, Datum, Hash, Value};

/// An operator does not go with its operands.
pub const OPERANDS: Code = Code::new("puppet.operands");
/// A text is no number.
pub const NOT_NUMERIC: Code = Code::new("puppet.not-numeric");
/// Something is divided by zero.
pub const DIVISION_BY_ZERO: Code = Code::new("puppet.division-by-zero");
/// The result has no place in 64 bits.
pub const OVERFLOW: Code = Code::new("puppet.number-range");
/// Two values have no order.
pub const INCOMPARABLE: Code = Code::new("puppet.incomparable");
/// What should be a regular expression is none.
pub const NOT_A_PATTERN: Code = Code::new("puppet.pattern");

impl<'t> Evaluator<'t> {
    /// `a + b` and the like (A.3.2.2 to A.3.2.4).
    pub(super) fn binary(
        &mut self,
        at: &'t Expression,
        operator: Operator,
        operands: &'t [Expression; 2],
    ) -> Outcome {
        let [left_at, right_at] = operands;
        let left = self.nested(left_at)?;
        if matches!(operator, Operator::And | Operator::Or) {
            return self.logical(at, operator, left, right_at);
        }
        let right = self.nested(right_at)?;
        let datum = match operator {
            Operator::Equal => Datum::Bool(equal(&left.datum, &right.datum)),
            Operator::NotEqual => Datum::Bool(!equal(&left.datum, &right.datum)),
            Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual => ordered(operator, &left.datum, &right.datum, at.span)?,
            Operator::Match => Datum::Bool(self.matches(at, &left, &right, operands)?),
            Operator::NoMatch => Datum::Bool(!self.matches(at, &left, &right, operands)?),
            Operator::In => {
                let found = self.is_in(at, &left, &right);
                let looked_at = self.member(at, &left, &right).unwrap_or(right);
                let origin = self.trace.operation(at, [left, looked_at]);
                return Ok(Value::new(found, origin));
            }
            _ => return self.calculate(at, operator, left, right, operands),
        };
        let origin = self.trace.operation(at, [left, right]);
        Ok(Value { datum, origin })
    }

    /// `and`, `or`: the right side counts only if the left one leaves it open (AndLeft, AndRight, OrLeft …), and so does
    /// what it does.
    fn logical(
        &mut self,
        at: &'t Expression,
        operator: Operator,
        left: Value,
        right: &'t Expression,
    ) -> Outcome {
        let decided = left.datum.is_true() == (operator == Operator::Or);
        if decided {
            self.pass(left.origin, trace::Code::Expression(right));
            let holds = left.datum.is_true();
            let origin = self.trace.operation(at, [left]);
            return Ok(Value::new(holds, origin));
        }
        let right = match self.does_more(right) {
            true => {
                let outcome = left.origin;
                self.under(Cause::Test { outcome, at }, |evaluator| {
                    evaluator.nested(right)
                })?
            }
            false => self.nested(right)?,
        };
        let holds = right.datum.is_true();
        let origin = self.trace.operation(at, [left, right]);
        Ok(Value::new(holds, origin))
    }

    pub(super) fn minus(&mut self, at: &'t Expression, operand: &'t Expression) -> Outcome {
        let value = self.nested(operand)?;
        // A number with its sign is one literal.
        let literal = matches!(operand.kind, Kind::Integer(_) | Kind::Float(_));
        let origin = match literal {
            true => Origin::written(at.span.start),
            false => self.trace.operation(at, [value.clone()]),
        };
        if let Datum::Timespan(duration) = value.datum {
            return match moments::negated(duration) {
                Ok(datum) => Ok(Value { datum, origin }),
                Err(_) => overflow(at.span),
            };
        }
        let datum = match self.numeric(&value, operand.span)? {
            Number::Integer(integer) => match integer.checked_neg() {
                Some(integer) => Datum::Integer(integer),
                None => return overflow(at.span),
            },
            Number::Float(float) => Datum::Float(-float),
        };
        Ok(Value { datum, origin })
    }

    fn calculate(
        &mut self,
        at: &'t Expression,
        operator: Operator,
        left: Value,
        right: Value,
        operands: &'t [Expression; 2],
    ) -> Outcome {
        let origin = self.trace.operation(at, [left.clone(), right.clone()]);
        let datum = match (&left.datum, operator) {
            (Datum::Array(array), Operator::Add) => {
                let added = elements_of(&right);
                Datum::Array(array.iter().cloned().chain(added).collect())
            }
            (Datum::Hash(hash), Operator::Add) => {
                let mut sum = hash.clone();
                for (key, value) in self.entries_of(&right, at.span)? {
                    sum = sum.with(key, value);
                }
                Datum::Hash(sum)
            }
            (Datum::Array(array), Operator::Subtract) => {
                let removed = elements_of(&right);
                let stays = |value: &&Value| !removed.iter().any(|one| one.datum == value.datum);
                Datum::Array(array.iter().filter(stays).cloned().collect())
            }
            (Datum::Hash(hash), Operator::Subtract) => {
                let removed: Vec<Datum> = match &right.datum {
                    Datum::Array(array) => array.iter().map(|value| value.datum.clone()).collect(),
                    Datum::Hash(hash) => hash.iter().map(|(key, _)| key.clone()).collect(),
                    other => vec![other.clone()],
                };
                Datum::Hash(hash.clone().without(|key| removed.contains(key)))
            }
            (Datum::Array(array), Operator::ShiftLeft) => {
                Datum::Array(array.iter().cloned().chain([right]).collect())
            }
            (Datum::Hash(_), Operator::ShiftLeft) => {
                let message = "`<<` appends to an array, not to a hash";
                return fail(OPERANDS, message, operands[0].span);
            }
            (Datum::Binary(bytes), Operator::Add) => {
                let joined = moments::joined(bytes, &right.datum);
                joined.map_err(|why| refused(why, operator, &left, &right, at, operands))?
            }
            (Datum::Uri(uri), Operator::Add) => {
                let resolved = moments::resolved(uri, &right.datum);
                resolved.map_err(|why| refused(why, operator, &left, &right, at, operands))?
            }
            _ if in_time(&left) || in_time(&right) => {
                let first = self.in_time(&left, operands[0].span)?;
                let second = self.in_time(&right, operands[1].span)?;
                let result = moments::calculate(operator, first, second);
                result.map_err(|why| refused(why, operator, &left, &right, at, operands))?
            }
            _ => {
                let left = self.numeric(&left, operands[0].span)?;
                let right = self.numeric(&right, operands[1].span)?;
                arithmetic(operator, left, right, at.span, operands[1].span)?
            }
        };
        self.shallow(Value { datum, origin }, at.span)
    }

    /// A moment or a duration, or a number of seconds.
    fn in_time(&mut self, value: &Value, span: Span) -> Outcome<moments::Operand> {
        match moments::Operand::of(&value.datum) {
            Some(operand) => Ok(operand),
            None => Ok(moments::Operand::Number(self.numeric(value, span)?)),
        }
    }

    /// What `hash + right` adds.
    fn entries_of(&self, right: &Value, span: Span) -> Outcome<Vec<(Value, Value)>> {
        let wrong = || {
            let message = "only a hash, or an array of keys and values, can be added to a hash";
            fail(OPERANDS, message, span)
        };
        match &right.datum {
            Datum::Hash(hash) => Ok(hash
                .iter()
                .map(|(key, entry)| (Value::new(key.clone(), entry.key), entry.value.clone()))
                .collect()),
            Datum::Array(array) => {
                let pairs = array.iter().map(|value| match &value.datum {
                    Datum::Array(pair) => Some(pair),
                    _ => None,
                });
                let pairs: Option<Vec<&Array>> = pairs.collect();
                let flat = |values: &[Value]| match values {
                    [key, value] => Some((key.clone(), value.clone())),
                    [key] => Some((key.clone(), Value::new(Datum::Undef, key.origin))),
                    _ => None,
                };
                let entries: Option<Vec<(Value, Value)>> = match pairs {
                    Some(pairs) if !pairs.is_empty() => {
                        pairs.iter().map(|pair| flat(pair.as_slice())).collect()
                    }
                    _ if array.len() % 2 == 0 => array.as_slice().chunks(2).map(flat).collect(),
                    _ => None,
                };
                entries.map_or_else(wrong, Ok)
            }
            _ => wrong(),
        }
    }

    /// A number, or a text that is one.
    pub(crate) fn numeric(&mut self, value: &Value, span: Span) -> Outcome<Number> {
        match &value.datum {
            Datum::Integer(integer) => Ok(Number::Integer(*integer)),
            Datum::Float(float) => Ok(Number::Float(*float)),
            Datum::Text(text) => {
                let number = match crate::number::number(text) {
                    Some(Datum::Integer(integer)) => Number::Integer(integer),
                    Some(Datum::Float(float)) => Number::Float(float),
                    _ => {
                        let message = format!("the text '{text}' is no number");
                        return fail(NOT_NUMERIC, message, span);
                    }
                };
                if self.options.strict {
                    let message = format!("the text '{text}' is used as a number");
                    let help = "convert it with `Numeric()`, or write a number";
                    let trouble = Diagnostic::error(NOT_NUMERIC, message).at(span).help(help);
                    return Err(failed(trouble));
                }
                Ok(number)
            }
            other => {
                let kind = Type::of(other).generalise();
                let message = format!("expected a number, found {kind}");
                let mut trouble = Diagnostic::error(NOT_NUMERIC, message).at(span);
                if value.is_undef()
                    && let Some((span, words)) = self.absence(value.origin)
                {
                    trouble = trouble.label(span, words);
                }
                Err(failed(trouble))
            }
        }
    }

    fn matches(
        &mut self,
        at: &'t Expression,
        left: &Value,
        right: &Value,
        operands: &'t [Expression; 2],
    ) -> Outcome<bool> {
        let pattern = match &right.datum {
            Datum::Type(kind) => return Ok(kind.instance(&left.datum)),
            Datum::SemVerRange(range) => {
                return Ok(match &left.datum {
                    Datum::SemVer(version) => range.includes(version),
                    Datum::Text(text) => {
                        Version::parse(text).is_ok_and(|version| range.includes(&version))
                    }
                    _ => false,
                });
            }
            Datum::Pattern(pattern) => pattern.clone(),
            Datum::Text(text) => match Pattern::new(text) {
                Ok(pattern) => Arc::new(pattern),
                Err(why) => return fail(NOT_A_PATTERN, why, operands[1].span),
            },
            other => {
                let kind = Type::of(other).generalise();
                let message = format!("expected a regular expression or a type, found {kind}");
                return fail(NOT_A_PATTERN, message, operands[1].span);
            }
        };
        let Datum::Text(text) = &left.datum else {
            let kind = Type::of(&left.datum).generalise();
            let message = format!("only text can be matched, and this is {kind}");
            return fail(OPERANDS, message, operands[0].span);
        };
        let origin = self.trace.operation(at, [left.clone(), right.clone()]);
        Ok(self.find(&pattern, text, origin))
    }

    /// Looks for a pattern; a match brings `$0`, `$1` and so on.
    pub(super) fn find(&mut self, pattern: &Pattern, text: &str, origin: Origin) -> bool {
        let Some(groups) = pattern.captures(text) else {
            return false;
        };
        let value = |group: Option<&str>| Some(Value::new(group?, origin));
        let groups = groups.into_iter().map(value).collect();
        self.frames.push(Frame::Match(groups));
        true
    }

    /// The element of an array that something is; the others do not matter then.
    fn member(&mut self, at: &'t Expression, needle: &Value, haystack: &Value) -> Option<Value> {
        let Datum::Array(array) = &haystack.datum else {
            return None;
        };
        let is_it = |element: &&Value| {
            let one = Array::from(vec![(*element).clone()]);
            compare::included(&needle.datum, &Datum::Array(one))
        };
        let element = array.iter().find(is_it)?.clone();
        let nowhere = Value::from(Origin::NOWHERE);
        let origin = self
            .trace
            .element(at, [element.clone(), haystack.clone(), nowhere]);
        Some(Value { origin, ..element })
    }

    fn is_in(&mut self, at: &'t Expression, needle: &Value, haystack: &Value) -> bool {
        let Datum::Pattern(pattern) = &needle.datum else {
            return compare::included(&needle.datum, &haystack.datum);
        };
        let origin = self.trace.operation(at, [needle.clone(), haystack.clone()]);
        match &haystack.datum {
            Datum::Text(text) => self.find(pattern, text, origin),
            Datum::Array(array) => array.iter().any(|value| match &value.datum {
                Datum::Text(text) => self.find(pattern, text, origin),
                _ => false,
            }),
            Datum::Hash(hash) => hash.iter().any(|(key, _)| match key {
                Datum::Text(text) => self.find(pattern, text, origin),
                _ => false,
            }),
            _ => false,
        }
    }

    /// Whether an option of a case or a selector fits (CaseMatch, SelectMatch).
    pub(super) fn fits(&mut self, test: &Value, option: &Value, origin: Origin) -> bool {
        match &option.datum {
            Datum::Default => true,
            Datum::Pattern(pattern) => match &test.datum {
                Datum::Text(text) => self.find(pattern, text, origin),
                _ => false,
            },
            Datum::Type(kind) => kind.instance(&test.datum),
            Datum::Array(options) => match &test.datum {
                Datum::Array(tests) if tests.len() == options.len() => {
                    let mut pairs = tests.iter().zip(options.iter());
                    pairs.all(|(test, option)| self.fits(test, option, origin))
                }
                _ => false,
            },
            Datum::Hash(options) => match &test.datum {
                Datum::Hash(tests) => options.iter().all(|(key, option)| {
                    let absent = Value::new(Datum::Undef, test.origin);
                    let test = tests.get(key).unwrap_or(&absent);
                    self.fits(test, &option.value, origin)
                }),
                _ => false,
            },
            other => compare::matches(&test.datum, other),
        }
    }
}

impl Evaluator<'_> {
    /// Whether an expression may do more than come to a value. Then it matters when it did not run, and why it did.
    pub(super) fn does_more(&self, at: &Expression) -> bool {
        acts(at) || self.has_iterators && takes(at)
    }
}

/// Whether an expression may do more than come to a value: assign a variable, or call what could declare something.
fn acts(at: &Expression) -> bool {
    let mut found = match &at.kind {
        Kind::Assign(_) | Kind::Resource(_) | Kind::Collector(_) | Kind::Override(_) => true,
        Kind::Defaults(_) | Kind::Relationship(..) => true,
        Kind::Call(call) => match &call.function.kind {
            Kind::Name(name) => functions::find(name).is_none() || functions::declares(name),
            _ => false,
        },
        _ => false,
    };
    at.parts(&mut |part| {
        found |= match part {
            Part::Expression(inner) => acts(inner),
            Part::Lambda(lambda) => lambda.body.statements.iter().any(acts),
        };
    });
    found
}

/// Whether an expression could take elements out of an iterator.
fn takes(at: &Expression) -> bool {
    let mut found = could_take(at);
    at.parts(&mut |part| {
        found |= match part {
            Part::Expression(inner) => takes(inner),
            Part::Lambda(lambda) => lambda.body.statements.iter().any(takes),
        };
    });
    found
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        }
    }
}

fn in_time(value: &Value) -> bool {
    moments::Operand::of(&value.datum).is_some()
}

/// What is wrong with an operation on a moment and the like.
fn refused(
    why: moments::Trouble,
    operator: Operator,
    left: &Value,
    right: &Value,
    at: &Expression,
    operands: &[Expression; 2],
) -> Box<Stop> {
    let kind = |value: &Value| Type::of(&value.datum).generalise();
    let trouble = match why {
        moments::Trouble::Operands => {
            let operator = operator.text();
            let message = format!(
                "`{operator}` does not go with {} and {}",
                kind(left),
                kind(right)
            );
            Diagnostic::error(OPERANDS, message).at(at.span)
        }
        moments::Trouble::Zero => {
            Diagnostic::error(DIVISION_BY_ZERO, "division by zero").at(operands[1].span)
        }
        moments::Trouble::Range => {
            Diagnostic::error(OVERFLOW, "the result is out of reach").at(at.span)
        }
        moments::Trouble::Address(why) => Diagnostic::error(OPERANDS, why).at(operands[1].span),
    };
    failed(trouble)
}

fn equal(left: &Datum, right: &Datum) -> bool {
    match (left, right) {
        (Datum::Type(left), Datum::Type(right)) => {
            left == right || left.of_any_size() == right.of_any_size()
        }
        _ => compare::equal(left, right),
    }
}

/// `<` and the like; for types, whether one is wider than the other.
fn ordered(operator: Operator, left: &Datum, right: &Datum, span: Span) -> Outcome<Datum> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if let (Datum::Type(left), Datum::Type(right)) = (left, right) {
        let holds = match operator {
            Operator::Less => right.assignable(left) && left != right,
            Operator::LessOrEqual => right.assignable(left),
            Operator::Greater => left.assignable(right) && left != right,
            _ => left.assignable(right),
        };
        return Ok(Datum::Bool(holds));
    }
    let ordering = match compare::compare(left, right) {
        Ok(ordering) => ordering,
        Err(_) => {
            let (left, right) = (Type::of(left).generalise(), Type::of(right).generalise());
            let message = format!("{left} and {right} have no order");
            let trouble = Diagnostic::error(INCOMPARABLE, message).at(span);
            let help = "two numbers have an order, and so have two texts; `Numeric(…)` makes a number of a text";
            return Err(failed(trouble.help(help)));
        }
    };
    Ok(Datum::Bool(match operator {
        Operator::Less => ordering == Less,
        Operator::LessOrEqual => matches!(ordering, Less | Equal),
        Operator::Greater => ordering == Greater,
        _ => matches!(ordering, Greater | Equal),
    }))
}

fn arithmetic(
    operator: Operator,
    left: Number,
    right: Number,
    span: Span,
    right_span: Span,
) -> Outcome<Datum> {
    let (a, b) = match (left, right) {
        (Number::Integer(a), Number::Integer(b)) => (a, b),
        _ => return floating(operator, left.float(), right.float(), span),
    };
    let zero = || fail(DIVISION_BY_ZERO, "division by zero", right_span);
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide if b == 0 => return zero(),
        Operator::Divide => floor_divide(a, b),
        Operator::Modulo if b == 0 => return zero(),
        Operator::Modulo => floor_divide(a, b).map(|q| a.wrapping_sub(q.wrapping_mul(b))),
        Operator::ShiftLeft => shift(a, b),
        Operator::ShiftRight => b.checked_neg().and_then(|b| shift(a, b)),
        _ => unreachable!("comparisons are done elsewhere"),
    };
    result.map_or_else(|| overflow(span), |result| Ok(Datum::Integer(result)))
}

/// Division rounds down, also below zero.
fn floor_divide(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let exact = quotient.wrapping_mul(b) == a;
    Some(if !exact && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    })
}

/// Shifts to the left, or to the right if `by` is negative.
fn shift(a: i64, by: i64) -> Option<i64> {
    if by < 0 {
        return Some(a >> by.unsigned_abs().min(63));
    }
    if a == 0 {
        return Some(0);
    }
    let shifted = (by < 63).then(|| a << by)?;
    (shifted >> by == a).then_some(shifted)
}

fn floating(operator: Operator, a: f64, b: f64, span: Span) -> Outcome<Datum> {
    let result = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        _ => {
            let message = format!("`{}` takes whole numbers only", operator.text());
            return fail(OPERANDS, message, span);
        }
    };
    match result.is_infinite() {
        true => fail(OVERFLOW, "the result is infinite", span),
        false => Ok(Datum::Float(result)),
    }
}

fn overflow<T>(span: Span) -> Outcome<T> {
    let message = "the result is no whole number of 64 bits";
    fail(OVERFLOW, message, span)
}

/// What `array + right` adds, and `array - right` takes away.
fn elements_of(right: &Value) -> Vec<Value> {
    match &right.datum {
        Datum::Array(array) => array.iter().cloned().collect(),
        Datum::Hash(hash) => pairs(hash, right.origin),
        _ => vec![right.clone()],
    }
}

/// The sum of two hashes: the right one wins, the left one's order stays.
pub(crate) fn merged(left: &Hash, right: &Hash) -> Hash {
    right.iter().fold(left.clone(), |sum, (key, entry)| {
        sum.with(Value::new(key.clone(), entry.key), entry.value.clone())
    })
}
