//! What a value looks like as text, as in `"${value}"`.

use ecow::{EcoString, eco_format};

use crate::pattern::Pattern;
use crate::types::base64;
use crate::value::Datum;

/// The text of a value, as interpolation has it.
pub fn text(datum: &Datum) -> EcoString {
    match datum {
        Datum::Text(text) => text.clone(),
        Datum::Integer(number) => eco_format!("{number}"),
        other => {
            let mut text = EcoString::new();
            append(&mut text, other);
            text
        }
    }
}

fn append(text: &mut EcoString, datum: &Datum) {
    match datum {
        Datum::Undef => {}
        Datum::Default => text.push_str("default"),
        Datum::Bool(bool) => text.push_str(if *bool { "true" } else { "false" }),
        Datum::Integer(number) => text.push_str(&eco_format!("{number}")),
        Datum::Float(number) => text.push_str(&float(*number)),
        Datum::Text(inner) => text.push_str(inner),
        Datum::Pattern(inner) => text.push_str(&pattern(inner)),
        Datum::Array(array) => {
            text.push('[');
            for (index, value) in array.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                append(text, &value.datum);
            }
            text.push(']');
        }
        Datum::Hash(hash) => {
            text.push('{');
            for (index, (key, entry)) in hash.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                append(text, key);
                text.push_str(" => ");
                append(text, &entry.value.datum);
            }
            text.push('}');
        }
        Datum::Type(kind) => text.push_str(&eco_format!("{kind}")),
        Datum::Sensitive(_) => text.push_str("Sensitive [value redacted]"),
        Datum::Timestamp(at) => text.push_str(&eco_format!("{at}")),
        Datum::Timespan(span) => text.push_str(&eco_format!("{span}")),
        Datum::SemVer(version) => text.push_str(&eco_format!("{version}")),
        Datum::SemVerRange(range) => text.push_str(&eco_format!("{range}")),
        Datum::Binary(bytes) => text.push_str(&base64::encode(bytes)),
        Datum::Uri(uri) => text.push_str(&eco_format!("{uri}")),
        Datum::Object(object) => text.push_str(&eco_format!("{object}")),
        Datum::Iterator(iteration) => text.push_str(&eco_format!("{iteration}")),
    }
}

/// A floating point number: with a point always, with an exponent where it is long.
pub fn float(number: f64) -> EcoString {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .into();
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    // The shortest digits that read back as the same number, and where the point is.
    let scientific = format!("{:e}", number.abs());
    let (digits, exponent) = scientific.split_once('e').expect("there is an exponent");
    let digits: String = digits.chars().filter(|char| *char != '.').collect();
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    let point = exponent + 1;
    let count = i32::try_from(digits.len()).expect("there are at most 17 digits");
    if number == 0.0 {
        return eco_format!("{sign}0.0");
    }
    if 0 < point && point < count {
        let (whole, fraction) = digits.split_at(point.unsigned_abs() as usize);
        return eco_format!("{sign}{whole}.{fraction}");
    }
    if 0 < point && point <= 15 {
        let zeros = "0".repeat((point - count).unsigned_abs() as usize);
        return eco_format!("{sign}{digits}{zeros}.0");
    }
    if -4 < point && point <= 0 {
        let zeros = "0".repeat(point.unsigned_abs() as usize);
        return eco_format!("{sign}0.{zeros}{digits}");
    }
    let (first, rest) = digits.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    let direction = if exponent < 0 { '-' } else { '+' };
    eco_format!("{sign}{first}.{rest}e{direction}{:02}", exponent.abs())
}

/// A regular expression between its slashes.
pub fn pattern(pattern: &Pattern) -> EcoString {
    let mut text = EcoString::from("/");
    let mut escaped = false;
    for char in pattern.source().chars() {
        match char {
            '/' if !escaped => text.push_str("\\/"),
            char if char.is_control() && !char.is_ascii_whitespace() && char != '\x0b' => {
                text.push_str(&eco_format!("\\x{:02X}", u32::from(char)));
            }
            char => text.push(char),
        }
        escaped = !escaped && char == '\\';
    }
    text.push('/');
    text
}

/// A word with a capital letter and all others small.
pub fn capitalised(word: &str) -> EcoString {
    let mut chars = word.chars();
    let mut text = EcoString::new();
    if let Some(first) = chars.next() {
        text.extend(first.to_uppercase());
        text.push_str(&chars.as_str().to_lowercase());
    }
    text
}

/// A name with a capital letter after each `::`.
pub fn capitalised_name(name: &str) -> EcoString {
    let segments: Vec<EcoString> = name.split("::").map(capitalised).collect();
    segments.join("::").into()
}
