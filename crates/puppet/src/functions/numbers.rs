//! Numbers: rounded, compared, in other bases.

use std::cmp::Ordering;

use super::arrays::compared;
use super::{ANY, Function, Takes, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::value::{Datum, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "abs",
        (1, 1),
        "abs(Variant[Numeric, String] $number) >> Numeric: the number without its sign",
        |evaluator, call| {
            let number = match &call.arguments[0].datum {
                Datum::Text(text) => match decimal(text) {
                    Some(number) => number,
                    None => return call.wrong(0, format!("'{text}' is no decimal number")),
                },
                other => other.clone(),
            };
            let result = match number {
                Datum::Integer(integer) => match integer.checked_abs() {
                    Some(integer) => Datum::Integer(integer),
                    None => return call.wrong(0, TOO_LARGE),
                },
                Datum::Float(float) => Datum::Float(float.abs()),
                _ => return call.unexpected(evaluator, 0, "a number"),
            };
            Ok(call.result(evaluator, result))
        },
    ),
    plain(
        "ceiling",
        (1, 1),
        "ceiling(Variant[Numeric, String] $number) >> Integer: the next whole number that is not smaller",
        |evaluator, call| rounded(evaluator, call, f64::ceil),
    ),
    plain(
        "floor",
        (1, 1),
        "floor(Variant[Numeric, String] $number) >> Integer: the next whole number that is not larger",
        |evaluator, call| rounded(evaluator, call, f64::floor),
    ),
    plain(
        "round",
        (1, 1),
        "round(Numeric $number) >> Integer: the nearest whole number, halves away from zero",
        |evaluator, call| {
            let number = match call.arguments[0].datum {
                Datum::Integer(integer) => integer as f64,
                Datum::Float(float) => float,
                _ => return call.unexpected(evaluator, 0, "a number"),
            };
            let nearest = if number > 0.0 {
                number + 0.5
            } else {
                number - 0.5
            };
            whole(evaluator, &call, nearest.trunc())
        },
    ),
    Function {
        name: "max",
        arguments: (0, ANY),
        lambda: Takes::Optional,
        about: "max(Any *$values) |$one, $another|: the largest value, or the largest of one array; the lambda says with -1, 0 or 1 how two compare",
        run: |evaluator, call| extreme(evaluator, call, Ordering::Greater),
    },
    Function {
        name: "min",
        arguments: (0, ANY),
        lambda: Takes::Optional,
        about: "min(Any *$values) |$one, $another|: the smallest value, or the smallest of one array; the lambda says with -1, 0 or 1 how two compare",
        run: |evaluator, call| extreme(evaluator, call, Ordering::Less),
    },
    plain(
        "clamp",
        (1, ANY),
        "clamp(Any *$numbers) >> Integer: the middle one of three numbers",
        |evaluator, call| {
            let call = call.older()?;
            let mut flat = Vec::new();
            ruby::flatten(&call.arguments, &mut flat);
            if flat.len() != 3 {
                return call.wrong(0, format!("expected three numbers, found {}", flat.len()));
            }
            let mut numbers = Vec::new();
            for value in &flat {
                numbers.push(match &value.datum {
                    Datum::Integer(integer) => *integer,
                    Datum::Float(float) => *float as i64,
                    Datum::Undef => 0,
                    Datum::Text(text) if is_digits(text) => {
                        ruby::leading_integer(text).unwrap_or(i64::MAX)
                    }
                    other => {
                        let shown = ruby::inspect(other);
                        return call.wrong(0, format!("{shown} is no number"));
                    }
                });
            }
            numbers.sort_unstable();
            Ok(call.result(evaluator, numbers[1]))
        },
    ),
    plain(
        "compare",
        (2, 3),
        "compare(Any $one, Any $another, Boolean $ignore_case = true) >> Integer: -1, 0 or 1: how two numbers, texts, versions or times compare",
        compare,
    ),
    plain(
        "convert_base",
        (2, 2),
        "convert_base(Variant[Integer, String] $number, Variant[Integer, String] $base) >> String: a number in another base, from 2 to 36",
        |evaluator, call| {
            let call = call.older()?;
            let number = |at: usize| match &call.arguments[at].datum {
                Datum::Integer(integer) => Ok(*integer),
                Datum::Text(text) if is_digits(text) => match ruby::leading_integer(text) {
                    Some(integer) => Ok(integer),
                    None => call.wrong(at, TOO_LARGE),
                },
                _ => call.wrong(at, "expected a whole number"),
            };
            let (number, base) = (number(0)?, number(1)?);
            let Some(base) = u64::try_from(base)
                .ok()
                .filter(|base| (2..=36).contains(base))
            else {
                return call.wrong(1, "a base is from 2 to 36");
            };
            let mut rest = number.unsigned_abs();
            let mut digits = Vec::new();
            loop {
                digits.push(char::from_digit((rest % base) as u32, 36).unwrap_or('0'));
                rest /= base;
                if rest == 0 {
                    break;
                }
            }
            if number < 0 {
                digits.push('-');
            }
            let text: ecow::EcoString = digits.into_iter().rev().collect();
            Ok(call.result(evaluator, text))
        },
    ),
    plain(
        "to_bytes",
        (1, 1),
        "to_bytes(Variant[Numeric, String] $size) >> Numeric: bytes, of a text such as '4 kB'",
        |evaluator, call| {
            let call = call.older()?;
            let text = match &call.arguments[0].datum {
                Datum::Integer(_) | Datum::Float(_) => return Ok(call.arguments[0].clone()),
                Datum::Text(text) => text,
                _ => return call.unexpected(evaluator, 0, "a number or text"),
            };
            let is_digit = |char: char| char.is_ascii_digit() || ".e+-".contains(char);
            let end = text
                .find(|char: char| !is_digit(char))
                .unwrap_or(text.len());
            let (number, rest) = text.split_at(end);
            let unit = rest.trim_start_matches(ruby::is_space).chars().next();
            let shift = match unit.filter(|unit| !matches!(unit, 'b' | 'B')) {
                None => 0,
                Some('k') => 10,
                Some('M') => 20,
                Some('G') => 30,
                Some('T') => 40,
                Some('P') => 50,
                Some('E') => 60,
                Some(other) => return call.wrong(0, format!("`{other}` is no unit")),
            };
            let bytes = ruby::leading_float(number) * (1_u64 << shift) as f64;
            whole(evaluator, &call, bytes.trunc())
        },
    ),
];

const TOO_LARGE: &str = "the result is no whole number of 64 bits";

fn is_digits(text: &str) -> bool {
    let is_number = |line: &str| !line.is_empty() && line.bytes().all(|it| it.is_ascii_digit());
    text.split_terminator('\n').any(is_number)
}

/// The number that a line of a text is, written with digits and at most one point.
fn decimal(text: &str) -> Option<Datum> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let line = |line: &str| line.strip_prefix('-').unwrap_or(line).to_owned();
    let mut lines = text.split_terminator('\n').map(line);
    if text.split_terminator('\n').map(line).any(|line| {
        let parts = line.split_once('.');
        parts.is_some_and(|(whole, fraction)| digits(whole) && digits(fraction))
    }) {
        return Some(Datum::Float(ruby::leading_float(text)));
    }
    match lines.any(|line| digits(&line)) {
        true => ruby::leading_integer(text).map(Datum::Integer),
        false => None,
    }
}

fn rounded<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    round: fn(f64) -> f64,
) -> Outcome {
    let number = match &call.arguments[0].datum {
        Datum::Integer(integer) => {
            let integer = *integer;
            return Ok(call.result(evaluator, integer));
        }
        Datum::Float(float) => *float,
        Datum::Text(text) => match ruby::float(text) {
            Some(float) => float,
            None => return call.wrong(0, format!("'{text}' is no number")),
        },
        _ => return call.unexpected(evaluator, 0, "a number"),
    };
    whole(evaluator, &call, round(number))
}

/// A float that is whole, as a whole number.
fn whole<'t>(evaluator: &mut Evaluator<'t>, call: &Invocation<'t>, number: f64) -> Outcome {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    match fits {
        true => Ok(call.result(evaluator, number as i64)),
        false => call.wrong(0, TOO_LARGE),
    }
}

/// The largest or the smallest value, the first of those that are equal.
fn extreme<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>, wanted: Ordering) -> Outcome {
    call.check_lambda(2)?;
    let values = match call.arguments.as_slice() {
        [
            Value {
                datum: Datum::Array(array),
                ..
            },
        ] => array.as_slice().to_vec(),
        several => several.to_vec(),
    };
    let mut decided: Vec<Value> = call.origins().collect();
    if let Some(lambda) = call.lambda {
        let origin = evaluator.trace.operation(call.at, call.origins());
        evaluator.pass(origin, crate::trace::Code::Lambda(lambda));
    }
    let are_numbers = values
        .iter()
        .all(|value| matches!(value.datum, Datum::Integer(_) | Datum::Float(_)));
    let mut values = values.into_iter();
    let Some(mut best) = values.next() else {
        if call.lambda.is_some() {
            return Ok(call.result(evaluator, Datum::Undef));
        }
        return call.unexpected(evaluator, call.arguments.len(), "one value at least");
    };
    for value in values {
        let ordering = match call.lambda {
            Some(_) => compared(evaluator, &call, &mut decided, &value, &best)?,
            None if are_numbers => {
                let ordering = ruby::compare(&value.datum, &best.datum);
                ordering.unwrap_or(Ordering::Equal)
            }
            None => loosely(&value.datum, &best.datum),
        };
        decided.push(value.clone());
        if ordering == wanted {
            best = value;
        }
    }
    let origin = evaluator.trace.choice(call.at, best.origin, decided);
    Ok(Value { origin, ..best })
}

/// How two values compare: as numbers if they look like some, otherwise as texts.
fn loosely(one: &Datum, another: &Datum) -> Ordering {
    let (one, another) = (ruby::text(one), ruby::text(another));
    if looks_like_number(&one) && looks_like_number(&another) {
        let (one, another) = (ruby::leading_float(&one), ruby::leading_float(&another));
        return one.partial_cmp(&another).unwrap_or(Ordering::Equal);
    }
    one.as_bytes().cmp(another.as_bytes())
}

fn looks_like_number(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    match text.split_once(['.', '_', 'e', 'E']) {
        Some((whole, rest)) => digits(whole) && digits(rest),
        None => digits(text),
    }
}

fn compare<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let (one, another) = (&call.arguments[0].datum, &call.arguments[1].datum);
    let are_texts = matches!((one, another), (Datum::Text(_), Datum::Text(_)));
    if !are_texts && call.arguments.len() > 2 {
        return call.wrong(2, "only texts are compared with regard to case or without");
    }
    let minds_case = match call.arguments.get(2) {
        Some(_) => !call.flag(evaluator, 2)?,
        None => false,
    };
    let ordering = match (one, another) {
        (Datum::Text(_), Datum::Text(_)) if minds_case => ruby::compare(one, another),
        (
            Datum::Integer(_)
            | Datum::Float(_)
            | Datum::Text(_)
            | Datum::SemVer(_)
            | Datum::Timespan(_)
            | Datum::Timestamp(_),
            _,
        ) => crate::compare::compare(one, another).ok(),
        _ => None,
    };
    match ordering {
        Some(ordering) => Ok(call.result(evaluator, ordering as i64)),
        None => {
            let (one, another) = (
                crate::types::Type::of(one).generalise(),
                crate::types::Type::of(another).generalise(),
            );
            call.wrong(1, format!("{one} and {another} do not compare"))
        }
    }
}
