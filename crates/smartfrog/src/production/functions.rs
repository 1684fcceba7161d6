//! The operators and functions of the production distribution, on plain values.

use hence_model::diagnostic::Code;

use crate::lexer::Operator;

/// An operator or function that cannot be applied to its operands.
pub const ARITHMETIC: Code = Code::new("sf.arithmetic");

/// A value as functions see it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// A reference that is data.
    Reference(String),
    Vector(Vec<Plain>),
}

impl Plain {
    fn kind(&self) -> &'static str {
        match self {
            Plain::Null => "NULL",
            Plain::Bool(_) => "a boolean",
            Plain::Integer(_) | Plain::Float(_) => "a number",
            Plain::Text(_) => "a text",
            Plain::Reference(_) => "a reference",
            Plain::Vector(_) => "a vector",
        }
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> u64 {
        let inside = match self {
            Plain::Text(text) | Plain::Reference(text) => text.len() as u64,
            Plain::Vector(elements) => elements.iter().map(Plain::weight).sum(),
            _ => 0,
        };
        size_of::<Self>() as u64 + inside
    }

    /// The text that `++` makes of it.
    pub fn text(&self) -> String {
        match self {
            Plain::Null => "NULL".into(),
            Plain::Bool(bool) => bool.to_string(),
            Plain::Integer(integer) => integer.to_string(),
            Plain::Float(float) => float_text(*float),
            Plain::Text(text) | Plain::Reference(text) => text.clone(),
            Plain::Vector(elements) => {
                let texts: Vec<String> = elements.iter().map(Plain::text).collect();
                format!("[{}]", texts.join(", "))
            }
        }
    }
}

/// A number as the production compiler writes it: with an exponent if it is very large or very small.
fn float_text(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{float:?}");
    }
    let text = format!("{float:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

/// The value of an operator over its operands, or what is wrong with them.
pub(crate) fn operate(operator: Operator, operands: &[Plain]) -> Result<Plain, String> {
    use Operator::*;
    match (operator, operands) {
        (Plus, _) => fold(operands, |a, b| {
            number(a, b, "+", i64::checked_add, |a, b| a + b)
        }),
        (Times, _) => fold(operands, |a, b| {
            number(a, b, "*", i64::checked_mul, |a, b| a * b)
        }),
        (Minus, [a, b]) => number(a, b, "-", i64::checked_sub, |a, b| a - b),
        (Divide | Remainder, [_, b]) if is_zero(b) => Err("a number cannot be divided by 0".into()),
        (Divide, [a, b]) => number(a, b, "/", i64::checked_div, |a, b| a / b),
        // No remainder is out of range, also where the quotient is.
        (Remainder, [Plain::Integer(a), Plain::Integer(b)]) => {
            Ok(Plain::Integer(a.wrapping_rem(*b)))
        }
        (Remainder, _) => Err("`%` takes whole numbers".into()),
        (Concatenate, [] | [_]) => fold(operands, |only, _| Ok(only.clone())),
        (Concatenate, _) => Ok(Plain::Text(operands.iter().map(Plain::text).collect())),
        (Append, _) => Ok(Plain::Vector(operands.iter().flat_map(elements).collect())),
        (And, _) => fold(operands, |a, b| {
            Ok(Plain::Bool(truth(a, "&&")? & truth(b, "&&")?))
        }),
        (Or, _) => fold(operands, |a, b| {
            Ok(Plain::Bool(truth(a, "||")? | truth(b, "||")?))
        }),
        (Xor, _) => fold(operands, |a, b| {
            Ok(Plain::Bool(truth(a, "x|")? != truth(b, "x|")?))
        }),
        (Implies, _) => fold(operands, |a, b| {
            Ok(Plain::Bool(!truth(a, "->")? | truth(b, "->")?))
        }),
        (Not, [a]) => Ok(Plain::Bool(!truth(a, "!")?)),
        (Equal, [a, b]) => Ok(Plain::Bool(a == b)),
        (Unequal, [a, b]) => Ok(Plain::Bool(a != b)),
        (Greater, [a, b]) => compare(a, b, ">", |order| order.is_gt()),
        (Less, [a, b]) => compare(a, b, "<", |order| order.is_lt()),
        (AtLeast, [a, b]) => compare(a, b, ">=", |order| order.is_ge()),
        (AtMost, [a, b]) => compare(a, b, "<=", |order| order.is_le()),
        _ => Err(format!(
            "`{}` does not take {} operands",
            operator.text(),
            operands.len()
        )),
    }
}

fn is_zero(value: &Plain) -> bool {
    matches!(value, Plain::Integer(0)) || matches!(value, Plain::Float(float) if *float == 0.0)
}

/// The elements of a vector; anything else has none.
fn elements(value: &Plain) -> Vec<Plain> {
    match value {
        Plain::Vector(elements) => elements.clone(),
        _ => Vec::new(),
    }
}

/// From the left; one operand alone is the result as it is.
fn fold(
    operands: &[Plain],
    both: impl Fn(&Plain, &Plain) -> Result<Plain, String>,
) -> Result<Plain, String> {
    let (first, rest) = operands
        .split_first()
        .ok_or("there are no arguments to compute from")?;
    rest.iter()
        .try_fold(first.clone(), |value, next| both(&value, next))
}

fn number(
    a: &Plain,
    b: &Plain,
    operator: &str,
    whole: impl Fn(i64, i64) -> Option<i64>,
    real: impl Fn(f64, f64) -> f64,
) -> Result<Plain, String> {
    let float = |value: &Plain| match value {
        Plain::Integer(integer) => Ok(*integer as f64),
        Plain::Float(float) => Ok(*float),
        other => Err(format!("`{operator}` takes numbers, not {}", other.kind())),
    };
    if let (Plain::Integer(a), Plain::Integer(b)) = (a, b) {
        let result = whole(*a, *b).map(Plain::Integer);
        return result.ok_or_else(|| format!("the result of `{operator}` is out of range"));
    }
    match real(float(a)?, float(b)?) {
        result if result.is_finite() => Ok(Plain::Float(result)),
        _ => Err(format!("the result of `{operator}` is out of range")),
    }
}

fn truth(value: &Plain, operator: &str) -> Result<bool, String> {
    match value {
        Plain::Bool(bool) => Ok(*bool),
        other => Err(format!("`{operator}` takes booleans, not {}", other.kind())),
    }
}

fn compare(
    a: &Plain,
    b: &Plain,
    operator: &str,
    holds: impl Fn(std::cmp::Ordering) -> bool,
) -> Result<Plain, String> {
    let order = match (a, b) {
        (Plain::Integer(a), Plain::Integer(b)) => Some(a.cmp(b)),
        (Plain::Integer(a), Plain::Float(b)) => (*a as f64).partial_cmp(b),
        (Plain::Float(a), Plain::Integer(b)) => a.partial_cmp(&(*b as f64)),
        (Plain::Float(a), Plain::Float(b)) => a.partial_cmp(b),
        _ => None,
    };
    match order {
        Some(order) => Ok(Plain::Bool(holds(order))),
        None => {
            let other = if matches!(a, Plain::Integer(_) | Plain::Float(_)) {
                b
            } else {
                a
            };
            Err(format!(
                "`{operator}` compares numbers, not {}",
                other.kind()
            ))
        }
    }
}

/// A condition's value.
pub(crate) fn condition(value: &Plain) -> Result<bool, String> {
    match value {
        Plain::Bool(bool) => Ok(*bool),
        other => Err(format!(
            "a condition is true or false, not {}",
            other.kind()
        )),
    }
}

/// What a function of the distribution makes of its arguments.
pub(crate) enum Applied {
    /// A value.
    Value(Plain),
    /// Only the run time can tell.
    AtRunTime,
}

/// Whether a class is one of the distribution's.
pub(crate) fn is_known(class: &str) -> bool {
    let name = class.rsplit('.').next().unwrap_or(class);
    let given = format!("sfFunctionClass \"{name}\";");
    include_str!("functions.sf").contains(&given)
}

/// The value of a function, by the name of its class. `counter` is the state of `next`.
pub(crate) fn apply(
    class: &str,
    arguments: &[(&str, Plain)],
    counter: &mut i64,
) -> Result<Applied, String> {
    let name = class.rsplit('.').next().unwrap_or(class);
    let named = |wanted: &str| {
        let found = arguments.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let needed =
        |wanted: &str| named(wanted).ok_or_else(|| format!("the argument `{wanted}` is missing"));
    let all: Vec<Plain> = arguments.iter().map(|(_, value)| value.clone()).collect();
    let operator = match name {
        "Sum" => Some(Operator::Plus),
        "Product" => Some(Operator::Times),
        "Concatenate" => Some(Operator::Concatenate),
        "Append" => Some(Operator::Append),
        "And" => Some(Operator::And),
        "Or" => Some(Operator::Or),
        "Xor" => Some(Operator::Xor),
        "Implies" => Some(Operator::Implies),
        _ => None,
    };
    if let Some(operator) = operator {
        return operate(operator, &all).map(Applied::Value);
    }
    let binary = match name {
        "Minus" => Some(Operator::Minus),
        "Divide" => Some(Operator::Divide),
        "Mod" => Some(Operator::Remainder),
        "EQ" => Some(Operator::Equal),
        "NE" => Some(Operator::Unequal),
        "GT" => Some(Operator::Greater),
        "LT" => Some(Operator::Less),
        "GE" => Some(Operator::AtLeast),
        "LE" => Some(Operator::AtMost),
        _ => None,
    };
    if let Some(operator) = binary {
        let operands = [needed("left")?, needed("right")?];
        return operate(operator, &operands).map(Applied::Value);
    }
    let value = match name {
        "Vector" => Plain::Vector(all),
        "Not" => operate(Operator::Not, &[needed("data")?])?,
        "IfThenElse" => match condition(&needed("if")?)? {
            true => needed("then")?,
            false => needed("else")?,
        },
        "FormatString" => {
            let mut text = named("format").map_or(String::new(), |format| format.text());
            for digit in 0..10 {
                if let Some(value) = named(&format!("s{digit}")) {
                    text = text.replace(&format!("${digit}"), &value.text());
                }
            }
            Plain::Text(text)
        }
        "AllDifferent" => {
            let equal = |i: usize| all[..i].contains(&all[i]);
            Plain::Bool(!(0..all.len()).any(equal))
        }
        "Next" => {
            let base = match named("base") {
                Some(Plain::Integer(base)) => base,
                None => 0,
                Some(other) => {
                    return Err(format!("`base` is a whole number, not {}", other.kind()));
                }
            };
            let next = match base > *counter {
                true => Some(base),
                false => counter.checked_add(1),
            };
            *counter = next.ok_or("there is no number left that `next` could give")?;
            Plain::Integer(*counter)
        }
        _ => return Ok(Applied::AtRunTime),
    };
    Ok(Applied::Value(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(operator: Operator, operands: &[i64]) -> Result<Plain, String> {
        let operands: Vec<Plain> = operands.iter().map(|&n| Plain::Integer(n)).collect();
        operate(operator, &operands)
    }

    #[test]
    fn whole_numbers_divide_towards_zero() {
        assert_eq!(integers(Operator::Divide, &[7, 2]), Ok(Plain::Integer(3)));
        assert_eq!(integers(Operator::Divide, &[-7, 2]), Ok(Plain::Integer(-3)));
        assert_eq!(
            integers(Operator::Remainder, &[-7, 3]),
            Ok(Plain::Integer(-1))
        );
        assert_eq!(
            integers(Operator::Remainder, &[i64::MIN, -1]),
            Ok(Plain::Integer(0))
        );
        assert!(integers(Operator::Divide, &[1, 0]).is_err());
        assert!(integers(Operator::Divide, &[i64::MIN, -1]).is_err());
        assert!(integers(Operator::Plus, &[i64::MAX, 1]).is_err());
    }

    #[test]
    fn equality_minds_the_type() {
        let unequal = operate(Operator::Equal, &[Plain::Integer(1), Plain::Float(1.0)]);
        assert_eq!(unequal, Ok(Plain::Bool(false)));
        let mixed = operate(Operator::Greater, &[Plain::Float(1.5), Plain::Integer(1)]);
        assert_eq!(mixed, Ok(Plain::Bool(true)));
    }

    #[test]
    fn anything_can_be_text() {
        let text = |float| Plain::Float(float).text();
        assert_eq!(text(1.0), "1.0");
        assert_eq!(text(1e10), "1.0E10");
        assert_eq!(text(1.5e-5), "1.5E-5");
        let vector = Plain::Vector(vec![Plain::Integer(1), Plain::Text("a".into())]);
        assert_eq!(vector.text(), "[1, a]");
    }
}
