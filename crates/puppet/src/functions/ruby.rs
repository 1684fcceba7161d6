//! Values as Ruby has them, where the language lets Ruby decide: as text, as code, in order, as a number.

use std::cmp::Ordering;
use std::fmt::Write;

use ecow::{EcoString, eco_format};

use super::arguments::{LONGEST_TEXT, MOST_ELEMENTS};
use crate::value::{Datum, Value};

/// What `to_s` makes of a value.
pub(crate) fn text(datum: &Datum) -> EcoString {
    match datum {
        Datum::Text(text) => text.clone(),
        Datum::Array(_) | Datum::Hash(_) => inspect(datum),
        Datum::Pattern(pattern) => eco_format!("(?-mix:{})", pattern.source()),
        other => crate::text::text(other),
    }
}

/// What `inspect` makes of a value: itself, as code.
pub(super) fn inspect(datum: &Datum) -> EcoString {
    let mut out = EcoString::new();
    write_inspected(&mut out, datum);
    out
}

fn write_inspected(out: &mut EcoString, datum: &Datum) {
    // Whoever asked will see that it is too long.
    if out.len() > LONGEST_TEXT {
        return;
    }
    match datum {
        Datum::Undef => out.push_str("nil"),
        Datum::Default => out.push_str(":default"),
        Datum::Text(text) => write_quoted(out, text),
        Datum::Array(array) => {
            out.push('[');
            for (number, value) in array.iter().enumerate() {
                if number > 0 {
                    out.push_str(", ");
                }
                write_inspected(out, &value.datum);
            }
            out.push(']');
        }
        Datum::Hash(hash) => {
            out.push('{');
            for (number, (key, entry)) in hash.iter().enumerate() {
                if number > 0 {
                    out.push_str(", ");
                }
                write_inspected(out, key);
                out.push_str("=>");
                write_inspected(out, &entry.value.datum);
            }
            out.push('}');
        }
        Datum::Pattern(pattern) => out.push_str(&crate::text::pattern(pattern)),
        Datum::Sensitive(_) => out.push_str("#<Sensitive [value redacted]>"),
        other => out.push_str(&crate::text::text(other)),
    }
}

fn write_quoted(out: &mut EcoString, text: &str) {
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\x1b' => out.push_str("\\e"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0b' => out.push_str("\\v"),
            '\x0c' => out.push_str("\\f"),
            '#' if matches!(chars.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            '\x7f' => out.push_str("\\x7F"),
            char if char.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
}

/// How two values compare, if they do: numbers by size, texts by their bytes, arrays element by element.
pub(crate) fn compare(one: &Datum, another: &Datum) -> Option<Ordering> {
    use Datum::{Float, Integer, Text};
    match (one, another) {
        (Text(one), Text(another)) => Some(one.as_bytes().cmp(another.as_bytes())),
        (Integer(_) | Float(_), Integer(_) | Float(_)) => {
            crate::compare::compare(one, another).ok()
        }
        (Datum::Array(one), Datum::Array(another)) => {
            for (one, another) in one.iter().zip(another.iter()) {
                let ordering = compare(&one.datum, &another.datum)?;
                if ordering != Ordering::Equal {
                    return Some(ordering);
                }
            }
            Some(one.len().cmp(&another.len()))
        }
        (Datum::SemVer(_), Datum::SemVer(_))
        | (Datum::Timespan(_), Datum::Timespan(_))
        | (Datum::Timestamp(_), Datum::Timestamp(_)) => crate::compare::compare(one, another).ok(),
        _ => (one == another).then_some(Ordering::Equal),
    }
}

/// Whether two values are equal: numbers by size, all else exactly.
pub(super) fn equal(one: &Datum, another: &Datum) -> bool {
    match (one, another) {
        (Datum::Integer(_), Datum::Float(_)) | (Datum::Float(_), Datum::Integer(_)) => {
            crate::compare::equal(one, another)
        }
        (Datum::Array(one), Datum::Array(another)) => {
            let mut pairs = one.iter().zip(another.iter());
            one.len() == another.len() && pairs.all(|(a, b)| equal(&a.datum, &b.datum))
        }
        (Datum::Hash(one), Datum::Hash(another)) => {
            one.len() == another.len()
                && one.iter().all(|(key, entry)| {
                    let other = another.get(key);
                    other.is_some_and(|value| equal(&value.datum, &entry.value.datum))
                })
        }
        _ => one == another,
    }
}

/// The elements of arrays in arrays, one after another; no more of them than an array may have, and one.
pub(super) fn flatten<'a>(values: impl IntoIterator<Item = &'a Value>, flat: &mut Vec<Value>) {
    for value in values {
        if flat.len() > MOST_ELEMENTS {
            return;
        }
        match &value.datum {
            Datum::Array(array) => flatten(array.iter(), flat),
            _ => flat.push(value.clone()),
        }
    }
}

/// The whole number that a text begins with, 0 if it begins with none: `to_i`. None if it is too large.
pub(super) fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(is_space);
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let mut number: i64 = 0;
    let mut previous = '_';
    for char in digits.chars() {
        match char.to_digit(10) {
            Some(digit) => {
                let digit = i64::from(digit);
                let digit = if negative { -digit } else { digit };
                number = number.checked_mul(10)?.checked_add(digit)?;
            }
            None if char == '_' && previous != '_' => {}
            None => break,
        }
        previous = char;
    }
    Some(number)
}

/// The number that a text begins with, 0.0 if it begins with none: `to_f`.
pub(super) fn leading_float(text: &str) -> f64 {
    let text = text.trim_start_matches(is_space);
    let digits = |from: usize| {
        let rest = &text.as_bytes()[from..];
        let mut end = 0;
        while end < rest.len() {
            let is_digit = rest[end].is_ascii_digit();
            let is_gap = rest[end] == b'_'
                && end > 0
                && rest[end - 1].is_ascii_digit()
                && rest.get(end + 1).is_some_and(u8::is_ascii_digit);
            if !is_digit && !is_gap {
                break;
            }
            end += 1;
        }
        from + end
    };
    let start = usize::from(text.starts_with(['-', '+']));
    let mut end = digits(start);
    if end == start {
        return 0.0;
    }
    if text.as_bytes().get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if matches!(text.as_bytes().get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.as_bytes().get(end + 1), Some(b'-' | b'+')));
        let from = end + 1 + sign;
        if from <= text.len() && digits(from) > from {
            end = digits(from);
        }
    }
    let number: String = text[..end].chars().filter(|char| *char != '_').collect();
    number.parse().unwrap_or(0.0)
}

/// The number that all of a text is, as `Float()` reads it: `1.5`, ` 10 `, `0x1f`, `1_000`.
pub(super) fn float(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_space);
    if text.contains('\0') {
        return None;
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some(digits) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        let number = i128::from_str_radix(&without_gaps(digits)?, 16).ok()?;
        return Some(sign * number as f64);
    }
    let digits = without_gaps(digits)?;
    let starts = |text: &str| text.starts_with(|char: char| char.is_ascii_digit());
    if !starts(digits.strip_prefix('.').unwrap_or(&digits)) || digits.ends_with('.') {
        return None;
    }
    let wrong = |char: char| !char.is_ascii_digit() && !matches!(char, '.' | 'e' | 'E' | '-' | '+');
    if digits.contains(wrong) || digits.contains(".e") || digits.contains(".E") {
        return None;
    }
    Some(sign * digits.parse::<f64>().ok()?)
}

/// The number that all of a text is, as `Integer()` reads it: `10`, ` -5`, `0x1f`, `0b1`, `017`, `1_000`.
pub(super) fn integer(text: &str) -> Option<i64> {
    let text = text.trim_matches(is_space);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'd', ..] => (10, &lower[2..]),
        [b'0', _, ..] => (8, lower[1..].strip_prefix('_').unwrap_or(&lower[1..])),
        _ => (10, lower.as_str()),
    };
    let digits = without_gaps(digits)?;
    if digits.is_empty() || !digits.chars().all(|char| char.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(&digits, radix).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Digits without the `_` between them; nothing if one is elsewhere.
fn without_gaps(digits: &str) -> Option<String> {
    let is_wrong = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if is_wrong || digits.contains("_.") || digits.contains("._") {
        return None;
    }
    Some(digits.chars().filter(|char| *char != '_').collect())
}

pub(super) fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}
