//! The operators of figure 1, over scalars.

use hence_model::cell::{Cell, Content};
use hence_model::diagnostic::Code;
use hence_model::unit::Unit;

use crate::evaluate::TYPE;
use crate::lexer::Operator;
use crate::parser::NUMBER_RANGE;
use crate::text;

/// A division by zero.
pub const DIVISION: Code = Code::new("cf2.division-by-zero");

/// Why an operator has no result; where, its caller knows.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub code: Code,
    pub message: String,
    pub help: Option<&'static str>,
}

impl Trouble {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: None,
        }
    }
}

/// Whether an operator takes true and false, and may not need its right side.
pub(crate) fn is_logical(operator: Operator) -> bool {
    matches!(operator, Operator::Or | Operator::And)
}

/// The left side with which a logical operator needs no right one.
pub(crate) fn decides(operator: Operator) -> bool {
    operator == Operator::Or
}

/// A scalar as text: what `++` joins, and what is compared where one side is no number.
pub(crate) fn text(cell: Cell, unit: &Unit) -> String {
    match cell.content(&unit.literals) {
        Content::Bool(bool) => bool.to_string(),
        Content::Integer(integer) => integer.to_string(),
        Content::Float(float) => float.to_string(),
        Content::Text(text) => unit.literals.read(&unit.sources, text).to_owned(),
        _ => String::new(),
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    /// The number that a cell holds, if it holds one.
    pub fn of(cell: Cell, unit: &Unit) -> Option<Number> {
        match cell.content(&unit.literals) {
            Content::Integer(integer) => Some(Number::Integer(integer)),
            Content::Float(float) => Some(Number::Float(float)),
            _ => None,
        }
    }

    fn float(self) -> f64 {
        match self {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Number::Integer(one), Number::Integer(other)) => Some(one.cmp(other)),
            _ => self.float().partial_cmp(&other.float()),
        }
    }
}

/// `-x`
pub(crate) fn negate(cell: Cell, unit: &mut Unit) -> Result<Cell, Trouble> {
    match Number::of(cell, unit) {
        Some(Number::Integer(integer)) => match integer.checked_neg() {
            Some(negated) => Ok(unit.literals.integer(negated)),
            None => Err(out_of_range()),
        },
        Some(Number::Float(float)) => Ok(unit.literals.float(-float)),
        None => Err(not_a_number(Operator::Subtract, cell, unit)),
    }
}

/// Any infix operator but `++` and the logical ones.
pub(crate) fn binary(
    operator: Operator,
    left: Cell,
    right: Cell,
    unit: &mut Unit,
) -> Result<Cell, Trouble> {
    match operator {
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide => {
            let (Some(one), Some(other)) = (Number::of(left, unit), Number::of(right, unit)) else {
                let wrong = match Number::of(left, unit) {
                    None => left,
                    Some(_) => right,
                };
                return Err(not_a_number(operator, wrong, unit));
            };
            arithmetic(operator, one, other, unit)
        }
        _ => Ok(Cell::bool(compare(operator, left, right, unit))),
    }
}

/// The sum of numbers.
pub(crate) fn add(one: Number, other: Number, unit: &mut Unit) -> Result<Cell, Trouble> {
    arithmetic(Operator::Add, one, other, unit)
}

fn arithmetic(
    operator: Operator,
    one: Number,
    other: Number,
    unit: &mut Unit,
) -> Result<Cell, Trouble> {
    if operator == Operator::Divide && other.float() == 0.0 {
        return Err(Trouble::new(DIVISION, "this divides by zero"));
    }
    if let (Number::Integer(one), Number::Integer(other)) = (one, other) {
        let exact = match operator {
            Operator::Add => one.checked_add(other),
            Operator::Subtract => one.checked_sub(other),
            Operator::Multiply => one.checked_mul(other),
            // A quotient that is no whole number is a decimal one.
            _ => match one.checked_rem(other) {
                Some(0) => one.checked_div(other),
                Some(_) => {
                    let quotient = one as f64 / other as f64;
                    return text::decimal(quotient, &mut unit.literals).ok_or_else(out_of_range);
                }
                None => None,
            },
        };
        let exact = exact.ok_or_else(out_of_range)?;
        return Ok(unit.literals.integer(exact));
    }
    let (one, other) = (one.float(), other.float());
    let result = match operator {
        Operator::Add => one + other,
        Operator::Subtract => one - other,
        Operator::Multiply => one * other,
        _ => one / other,
    };
    text::decimal(result, &mut unit.literals).ok_or_else(out_of_range)
}

/// Two numbers are compared as numbers, anything else as text (§3.1).
fn compare(operator: Operator, left: Cell, right: Cell, unit: &Unit) -> bool {
    let order = match (Number::of(left, unit), Number::of(right, unit)) {
        (Some(one), Some(other)) => one.partial_cmp(&other).expect("no number is not a number"),
        _ => text(left, unit).cmp(&text(right, unit)),
    };
    match operator {
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::GreaterOrEqual => order.is_ge(),
        _ => order.is_gt(),
    }
}

fn not_a_number(operator: Operator, cell: Cell, unit: &Unit) -> Trouble {
    let (type_, help) = match cell.content(&unit.literals) {
        Content::Bool(_) => ("a boolean", None),
        _ if operator == Operator::Add => ("text", Some("`++` joins texts")),
        _ if operator == Operator::Subtract || operator == Operator::Divide => (
            "text",
            Some("if it is one text, put it in quotes: 'a-b', '/etc'"),
        ),
        _ => ("text", None),
    };
    let message = format!("`{}` needs numbers, and this is {type_}", operator.text());
    Trouble {
        help,
        ..Trouble::new(TYPE, message)
    }
}

fn out_of_range() -> Trouble {
    Trouble {
        help: Some("whole numbers go from -2^63 to 2^63-1"),
        ..Trouble::new(NUMBER_RANGE, "the result is too large to be kept exactly")
    }
}
