//! Which values are equal, which come first, and which are in others.
//!
//! Texts are compared without regard to case, whole numbers with floating ones; arrays and hashes element by
//! element. Hash keys are compared otherwise, as [`Datum`]s are.

use std::cmp::Ordering;

use crate::types::Failure;
use crate::types::time::to_seconds;
use crate::types::version::Version;
use crate::value::Datum;

/// Whether two values are equal, as `==` has it.
pub fn equal(one: &Datum, another: &Datum) -> bool {
    match (one, another) {
        (Datum::Text(one), Datum::Text(another)) => one.eq_ignore_ascii_case(another),
        (Datum::Array(one), Datum::Array(another)) => {
            let mut pairs = one.iter().zip(another.iter());
            one.len() == another.len()
                && pairs.all(|(one, another)| equal(&one.datum, &another.datum))
        }
        (Datum::Hash(one), Datum::Hash(another)) => {
            one.len() == another.len()
                && one.iter().all(|(key, entry)| {
                    // What is missing is as good as `undef`.
                    let other = another.get(key).map_or(&Datum::Undef, |value| &value.datum);
                    equal(other, &entry.value.datum)
                })
        }
        _ => match in_numbers(one, another) {
            Some(ordering) => ordering == Some(Ordering::Equal),
            None => one == another,
        },
    }
}

/// Which of two values comes first.
pub fn compare(one: &Datum, another: &Datum) -> Result<Ordering, Failure> {
    let refuse = |message: &str| Err(Failure::new(message));
    let ordering = match (one, another) {
        (Datum::Text(one), Datum::Text(another)) => {
            let lower = |text: &str| text.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
            let (one, another): (Vec<u8>, Vec<u8>) = (lower(one), lower(another));
            return Ok(one.cmp(&another));
        }
        (Datum::Default, Datum::Default) => return Ok(Ordering::Equal),
        (Datum::SemVer(one), Datum::SemVer(another)) => return Ok(one.precedence(another)),
        _ => in_numbers(one, another),
    };
    match ordering {
        Some(Some(ordering)) => Ok(ordering),
        // Not a number is neither before nor after one.
        Some(None) => refuse("A Numeric is not comparable to non Numeric"),
        None => match one {
            Datum::Text(_) => refuse("A String is not comparable to a non String"),
            Datum::Integer(_) | Datum::Float(_) if matches!(another, Datum::SemVer(_)) => {
                refuse("can't convert SemanticPuppet::Version into Float")
            }
            Datum::Integer(_) | Datum::Float(_) => {
                refuse("A Numeric is not comparable to non Numeric")
            }
            Datum::Default => refuse("Symbol not comparable to non Symbol"),
            Datum::Timespan(_) => {
                refuse("Timespans are only comparable to Timespans, Integers, and Floats")
            }
            Datum::Timestamp(_) => {
                refuse("Timestamps are only comparable to Timestamps, Integers, and Floats")
            }
            Datum::SemVer(_) => refuse("Versions not comparable to non Versions"),
            _ => {
                refuse("Only Strings, Numbers, Timespans, Timestamps, and Versions are comparable")
            }
        },
    }
}

/// How two values compare that are numbers or times; nothing if they are not, or do not go together.
fn in_numbers(one: &Datum, another: &Datum) -> Option<Option<Ordering>> {
    use Datum::{Float, Integer, Timespan, Timestamp};
    let time = |nanoseconds: i128, seconds: i64, number: &Datum| match number {
        Integer(number) => Some(Some(seconds.cmp(number))),
        Float(number) => Some(to_seconds(nanoseconds).partial_cmp(number)),
        _ => None,
    };
    let reversed = |ordering: Option<Option<Ordering>>| {
        ordering.map(|ordering| ordering.map(Ordering::reverse))
    };
    match (one, another) {
        (Integer(one), Integer(another)) => Some(Some(one.cmp(another))),
        (Float(one), Float(another)) => Some(one.partial_cmp(another)),
        (Integer(integer), Float(float)) => Some(integer_to_float(*integer, *float)),
        (Float(float), Integer(integer)) => {
            Some(integer_to_float(*integer, *float).map(Ordering::reverse))
        }
        (Timestamp(one), Timestamp(another)) => Some(Some(one.cmp(another))),
        (Timespan(one), Timespan(another)) => Some(Some(one.cmp(another))),
        (Timestamp(at), number) => time(at.nanoseconds(), at.seconds(), number),
        (Timespan(span), number) => time(span.nanoseconds(), span.seconds(), number),
        (number, Timestamp(at)) => reversed(time(at.nanoseconds(), at.seconds(), number)),
        (number, Timespan(span)) => reversed(time(span.nanoseconds(), span.seconds(), number)),
        _ => None,
    }
}

/// Exact also for numbers with more digits than a float has.
fn integer_to_float(integer: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float >= 9_223_372_036_854_775_808.0 {
        return Some(Ordering::Less);
    }
    if float < -9_223_372_036_854_775_808.0 {
        return Some(Ordering::Greater);
    }
    let whole = float.trunc();
    let beyond = float - whole;
    let by_whole = integer.cmp(&(whole as i64));
    Some(by_whole.then(0.0_f64.partial_cmp(&beyond)?))
}

/// Whether a value matches another, as `case` and selectors have it: types by their values, regular expressions
/// by texts, arrays and hashes part by part, all else by being equal.
pub fn matches(value: &Datum, option: &Datum) -> bool {
    match option {
        Datum::Default => true,
        Datum::Pattern(pattern) => matches!(value, Datum::Text(text) if pattern.is_match(text)),
        Datum::Type(kind) => kind.instance(value),
        Datum::SemVer(wanted) => match value {
            Datum::SemVer(version) => version == wanted,
            Datum::Text(text) => Version::parse(text).is_ok_and(|version| version == **wanted),
            _ => false,
        },
        Datum::SemVerRange(range) => match value {
            Datum::SemVer(version) => range.includes(version),
            Datum::Text(text) => Version::parse(text).is_ok_and(|version| range.includes(&version)),
            _ => false,
        },
        Datum::Array(options) => match value {
            Datum::Array(array) => {
                let mut pairs = array.iter().zip(options.iter());
                array.len() == options.len()
                    && pairs.all(|(value, option)| matches(&value.datum, &option.datum))
            }
            _ => false,
        },
        Datum::Hash(options) => match value {
            Datum::Hash(hash) => options.iter().all(|(key, option)| {
                let value = hash.get(key).map_or(&Datum::Undef, |value| &value.datum);
                matches(value, &option.value.datum)
            }),
            _ => false,
        },
        _ => equal(value, option),
    }
}

/// Whether a value is in another, as `in` has it: a text in a text, an element in an array, a key in a hash.
pub fn included(needle: &Datum, haystack: &Datum) -> bool {
    match haystack {
        Datum::Text(text) => match needle {
            Datum::Text(part) => text.to_lowercase().contains(part.to_lowercase().as_str()),
            Datum::Pattern(pattern) => pattern.is_match(text),
            _ => false,
        },
        Datum::Array(array) => among(needle, array.iter().map(|value| &value.datum)),
        Datum::Hash(hash) => among(needle, hash.iter().map(|(key, _)| key)),
        Datum::Binary(bytes) => match needle {
            Datum::Binary(part) => contains(bytes, part),
            Datum::Text(part) => contains(bytes, part.as_bytes()),
            Datum::Integer(byte) => bytes.iter().any(|it| i64::from(*it) == *byte),
            _ => false,
        },
        Datum::SemVerRange(_) => matches(needle, haystack),
        _ => false,
    }
}

fn among<'a>(needle: &Datum, mut elements: impl Iterator<Item = &'a Datum>) -> bool {
    match needle {
        Datum::Pattern(pattern) => {
            elements.any(|it| matches!(it, Datum::Text(text) if pattern.is_match(text)))
        }
        // The elements are what to match here, so that a regular expression among them finds the text.
        Datum::Text(_) | Datum::SemVer(_) => elements.any(|it| matches(needle, it)),
        Datum::Type(kind) => elements.any(|it| kind.instance(it)),
        _ => elements.any(|it| equal(it, needle)),
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}
