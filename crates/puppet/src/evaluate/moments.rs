//! Operators on values that are no numbers and can be counted with: moments and durations, bytes, addresses.

use std::sync::Arc;

use super::operators::Number as Seconds;
use crate::syntax::Operator;
use crate::types::time::{Timespan, Timestamp};
use crate::types::uri::Uri;
use crate::value::Datum;

/// Why there is no result.
pub(super) enum Trouble {
    /// The operator does not go with these operands.
    Operands,
    /// Something is divided by zero.
    Zero,
    /// The result is out of reach.
    Range,
    /// The right side is no address, for this reason.
    Address(String),
}

type Answer = Result<Datum, Trouble>;

/// An operand in time: seconds may be added to both others.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Moment(Timestamp),
    Duration(Timespan),
    Number(Seconds),
}

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;

impl Operand {
    /// A moment or a duration.
    pub(super) fn of(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Timestamp(moment) => Some(Operand::Moment(*moment)),
            Datum::Timespan(duration) => Some(Operand::Duration(*duration)),
            _ => None,
        }
    }

    /// How long it is, if it is no moment: numbers are seconds. What is too long for a float to say is out of reach
    /// anyway.
    fn nanoseconds(self) -> Option<i128> {
        match self {
            Operand::Moment(_) => None,
            Operand::Duration(duration) => Some(duration.nanoseconds()),
            Operand::Number(Seconds::Integer(seconds)) => Some(i128::from(seconds) * SECOND),
            Operand::Number(Seconds::Float(seconds)) => Some((seconds * SECOND as f64) as i128),
        }
    }
}

/// `left operator right`, of which at least one is a moment or a duration.
pub(super) fn calculate(operator: Operator, left: Operand, right: Operand) -> Answer {
    use Operand::{Duration, Moment, Number};
    match (operator, left, right) {
        (Operator::Add, Moment(moment), other) | (Operator::Add, other, Moment(moment)) => {
            let after = other.nanoseconds().ok_or(Trouble::Operands)?;
            at(moment.nanoseconds().saturating_add(after))
        }
        (Operator::Subtract, Moment(left), Moment(right)) => {
            lasting(left.nanoseconds() - right.nanoseconds())
        }
        (Operator::Subtract, Moment(moment), other) => {
            let before = other.nanoseconds().ok_or(Trouble::Operands)?;
            at(moment.nanoseconds().saturating_sub(before))
        }
        (Operator::Add | Operator::Subtract, left, right) => {
            let (left, right) = left
                .nanoseconds()
                .zip(right.nanoseconds())
                .ok_or(Trouble::Operands)?;
            lasting(match operator {
                Operator::Add => left.saturating_add(right),
                _ => left.saturating_sub(right),
            })
        }
        (Operator::Multiply, Duration(duration), Number(times))
        | (Operator::Multiply, Number(times), Duration(duration)) => {
            let duration = duration.nanoseconds();
            lasting(match times {
                Seconds::Integer(times) => duration
                    .checked_mul(i128::from(times))
                    .ok_or(Trouble::Range)?,
                Seconds::Float(times) => (duration as f64 * times) as i128,
            })
        }
        (Operator::Divide, Duration(left), Duration(right)) => {
            let ratio = left.nanoseconds() as f64 / right.nanoseconds() as f64;
            match ratio.is_finite() {
                true => Ok(Datum::Float(ratio)),
                false => Err(Trouble::Range),
            }
        }
        (Operator::Divide, Duration(duration), Number(by)) => {
            let duration = duration.nanoseconds();
            match by {
                Seconds::Integer(0) | Seconds::Float(0.0) => Err(Trouble::Zero),
                Seconds::Integer(by) => {
                    let by = i128::from(by);
                    // Rounds down, also below zero.
                    let exact = duration % by == 0;
                    let down = !exact && (duration < 0) != (by < 0);
                    lasting(duration / by - i128::from(down))
                }
                Seconds::Float(by) => lasting((duration as f64 / by) as i128),
            }
        }
        (Operator::Modulo, Duration(_), Number(Seconds::Integer(0))) => Err(Trouble::Zero),
        (Operator::Modulo, Duration(duration), Number(Seconds::Integer(by))) => {
            // Of whole seconds; the sign is that of the divisor.
            let left = duration.seconds().wrapping_rem(by);
            let other_sign = left != 0 && (left < 0) != (by < 0);
            Ok(Datum::Integer(if other_sign { left + by } else { left }))
        }
        _ => Err(Trouble::Operands),
    }
}

fn at(nanoseconds: i128) -> Answer {
    let moment = Timestamp::from_nanoseconds(nanoseconds);
    moment.map(Datum::Timestamp).ok_or(Trouble::Range)
}

fn lasting(nanoseconds: i128) -> Answer {
    let duration = Timespan::from_nanoseconds(nanoseconds);
    duration.map(Datum::Timespan).ok_or(Trouble::Range)
}

/// `-duration`
pub(super) fn negated(duration: Timespan) -> Answer {
    lasting(-duration.nanoseconds())
}

/// Bytes and further bytes.
pub(super) fn joined(left: &[u8], right: &Datum) -> Answer {
    let Datum::Binary(right) = right else {
        return Err(Trouble::Operands);
    };
    Ok(Datum::Binary([left, right].concat().into()))
}

/// An address as seen from another (RFC 3986, 5.2).
pub(super) fn resolved(base: &Uri, right: &Datum) -> Answer {
    let right = match right {
        Datum::Uri(right) => right.clone(),
        Datum::Text(text) => Arc::new(Uri::parse(text).map_err(Trouble::Address)?),
        _ => return Err(Trouble::Operands),
    };
    let resolved = base.resolve(&right);
    let resolved =
        resolved.ok_or_else(|| Trouble::Address("both addresses are relative".into()))?;
    Ok(Datum::Uri(Arc::new(resolved)))
}
