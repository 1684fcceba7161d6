//! From the value that an expression should have to those that its literals would need, one at a time.

use hence_model::explanation::Expression;
use hence_model::source::Span;
use hence_model::value::Value;

use crate::difference::is_same;

/// How many operands of an operation are looked at, and how many solutions there are at most.
const MOST: usize = 1000;

/// A literal, and the value that it would need.
pub type Solution = (Span, Value);

/// The single literals of an expression, each with a value that may give the expression the wanted one.
pub fn solve(expression: &Expression, wanted: &Value) -> Vec<Solution> {
    let mut solutions = Vec::new();
    find(expression, wanted, &mut solutions);
    solutions
}

fn find(expression: &Expression, wanted: &Value, solutions: &mut Vec<Solution>) {
    let Some(operator) = expression.operator.as_deref() else {
        solutions.push((expression.span, wanted.clone()));
        return;
    };
    let operands = &expression.operands;
    let Some(values) = operands.iter().map(value).collect::<Option<Vec<&Value>>>() else {
        return;
    };
    for (number, operand) in operands.iter().enumerate().take(MOST) {
        if solutions.len() >= MOST {
            return;
        }
        let others = || {
            let others = values.iter().enumerate();
            others
                .filter(move |(other, _)| *other != number)
                .map(|(_, value)| *value)
        };
        let needed: Vec<Value> = match (operator, values.len()) {
            ("+" | "sum", _) => {
                let rest =
                    others().try_fold(Value::Integer(0), |sum, value| compute('+', &sum, value));
                rest.and_then(|rest| compute('-', wanted, &rest))
                    .into_iter()
                    .collect()
            }
            ("-", 1) => compute('-', &Value::Integer(0), wanted)
                .into_iter()
                .collect(),
            ("-", 2) => match number {
                0 => compute('+', wanted, values[1]),
                _ => compute('-', values[0], wanted),
            }
            .into_iter()
            .collect(),
            ("*", _) => {
                let rest = others().try_fold(Value::Integer(1), |product, value| {
                    compute('*', &product, value)
                });
                rest.and_then(|rest| compute('/', wanted, &rest))
                    .into_iter()
                    .collect()
            }
            ("/", 2) => match number {
                0 => compute('*', wanted, values[1]),
                _ => compute('/', values[0], wanted),
            }
            .into_iter()
            .collect(),
            ("++" | "\"…\"", _) => piece(&values, number, wanted),
            ("!", 1) => match wanted {
                Value::Bool(wanted) => vec![Value::Bool(!wanted)],
                _ => Vec::new(),
            },
            ("[ ]", count) => element(&values, number, wanted, count),
            ("==" | "!=" | "<" | "<=" | ">" | ">=", 2) => near(values[1 - number]),
            // What is chosen comes last; what chooses is tried by itself.
            ("IF" | "SWITCH", count) if number + 1 < count => Vec::new(),
            _ => {
                let mut needed = vec![wanted.clone()];
                if let Value::Text(text) = wanted
                    && text.to_lowercase() != *text
                {
                    needed.push(Value::Text(text.to_lowercase()));
                }
                needed
            }
        };
        for value in needed {
            find(operand, &value, solutions);
        }
    }
}

fn value(expression: &Expression) -> Option<&Value> {
    expression.value.seen().ok()
}

/// A number, and those beside it; or the same text.
pub fn near(value: &Value) -> Vec<Value> {
    match value {
        Value::Integer(number) => {
            let near = [Some(*number), number.checked_add(1), number.checked_sub(1)];
            near.into_iter().flatten().map(Value::Integer).collect()
        }
        other => vec![other.clone()],
    }
}

/// What must stand between the pieces before and behind.
fn piece(values: &[&Value], number: usize, wanted: &Value) -> Vec<Value> {
    let Value::Text(wanted) = wanted else {
        return Vec::new();
    };
    let joined = |values: &[&Value]| values.iter().map(|value| text(value)).collect::<String>();
    let (before, behind) = (joined(&values[..number]), joined(&values[number + 1..]));
    let rest = wanted.strip_prefix(before.as_str());
    let Some(piece) = rest.and_then(|rest| rest.strip_suffix(behind.as_str())) else {
        return Vec::new();
    };
    let as_text = Value::Text(piece.to_owned());
    match (values[number], piece.parse()) {
        (Value::Integer(_), Ok(number)) => vec![Value::Integer(number), as_text],
        (Value::Bool(_), _) if piece == "true" || piece == "false" => {
            vec![Value::Bool(piece == "true"), as_text]
        }
        _ => vec![as_text],
    }
}

/// The element of a list that must be another, if only that one must.
fn element(values: &[&Value], number: usize, wanted: &Value, count: usize) -> Vec<Value> {
    let Value::List(wanted) = wanted else {
        return Vec::new();
    };
    let wanted = wanted.as_slice();
    let differs = |&at: &usize| !is_same(values[at], &wanted[at]);
    let is_only = wanted.len() == count && (0..count).filter(differs).eq([number]);
    match is_only {
        true => vec![wanted[number].clone()],
        false => Vec::new(),
    }
}

/// A value as it stands in a text.
fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Reference(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Bool(bool) => bool.to_string(),
        _ => String::new(),
    }
}

fn compute(operator: char, a: &Value, b: &Value) -> Option<Value> {
    let (a, b) = match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => {
            let whole = match operator {
                '+' => a.checked_add(*b),
                '-' => a.checked_sub(*b),
                '*' => a.checked_mul(*b),
                _ => a.checked_div(*b),
            };
            return whole.map(Value::Integer);
        }
        (Value::Integer(a), Value::Float(b)) => (*a as f64, *b),
        (Value::Float(a), Value::Integer(b)) => (*a, *b as f64),
        (Value::Float(a), Value::Float(b)) => (*a, *b),
        _ => return None,
    };
    let number = match operator {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        _ => a / b,
    };
    number.is_finite().then_some(Value::Float(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hence_model::explanation::Shown;

    fn literal(at: u32, value: Value) -> Expression {
        Expression {
            operator: None,
            value: Shown::Value(value),
            span: Span::at(at),
            operands: Vec::new(),
        }
    }

    fn operation(operator: &'static str, value: Value, operands: Vec<Expression>) -> Expression {
        Expression {
            operator: Some(operator.into()),
            value: Shown::Value(value),
            span: Span::at(0),
            operands,
        }
    }

    fn told(expression: &Expression, wanted: Value) -> Vec<(u32, Value)> {
        let solutions = solve(expression, &wanted).into_iter();
        solutions.map(|(span, value)| (span.start, value)).collect()
    }

    #[test]
    fn operations_are_undone() {
        let number = Value::Integer;
        let product = operation(
            "*",
            number(12),
            vec![literal(1, number(3)), literal(2, number(4))],
        );
        let sum = operation("+", number(112), vec![literal(3, number(100)), product]);
        assert_eq!(
            told(&sum, number(120)),
            [(3, number(108)), (1, number(5)), (2, number(6))]
        );
    }

    #[test]
    fn pieces_are_cut_out() {
        let text = |text: &str| Value::Text(text.into());
        let url = operation(
            "++",
            text("http://shop:80"),
            vec![
                literal(1, text("http://")),
                literal(2, text("shop:")),
                literal(3, Value::Integer(80)),
            ],
        );
        assert_eq!(
            told(&url, text("http://shop:81")),
            [(3, Value::Integer(81)), (3, text("81"))]
        );
        assert_eq!(told(&url, text("https://shop:80")), [(1, text("https://"))]);
    }

    #[test]
    fn what_cannot_be_undone_has_no_solution() {
        let sum = operation(
            "+",
            Value::Integer(i64::MIN),
            vec![
                literal(1, Value::Integer(i64::MIN)),
                literal(2, Value::Integer(0)),
            ],
        );
        assert_eq!(
            told(&sum, Value::Integer(i64::MAX)),
            [(1, Value::Integer(i64::MAX))]
        );
        assert!(told(&sum, Value::Text("x".into())).is_empty());
    }
}
