//! What a plain scalar of YAML means to Ruby, which reads YAML 1.1 with habits of its own.

use std::sync::OnceLock;

use ecow::EcoString;

use crate::pattern::Pattern;
use crate::value::Datum;

/// What a plain scalar means.
#[derive(Debug, PartialEq)]
pub enum Scalar {
    /// A value.
    Datum(Datum),
    /// `:name`
    Symbol(EcoString),
    /// A day or a moment, which the real compiler refuses to read.
    Moment,
    /// A number that no catalog can hold.
    Unfit(&'static str),
}

/// Reads a scalar without quotes.
pub fn read(text: &str) -> Scalar {
    let as_text = || Scalar::Datum(Datum::from(text));
    if text.is_empty() {
        return Scalar::Datum(Datum::Undef);
    }
    if looks_like_words(text) {
        return Scalar::Datum(word(text));
    }
    let patterns = patterns();
    if patterns.time.is_match(text) || patterns.date.is_match(text) {
        return Scalar::Moment;
    }
    match text.to_ascii_lowercase().as_str() {
        ".inf" | "+.inf" | "-.inf" => return Scalar::Unfit("a number without end"),
        ".nan" => return Scalar::Unfit("not a number"),
        _ => {}
    }
    if let Some(name) = text.strip_prefix(':').filter(|name| !name.is_empty()) {
        let quote = name.chars().next().filter(|first| "'\"".contains(*first));
        let inner = quote.and_then(|quote| name[1..].split(quote).next());
        return Scalar::Symbol(inner.unwrap_or(name).into());
    }
    if patterns.sixties.is_match(text) {
        let digit_groups = text.split(':').map(without_marks);
        let values = digit_groups.map(|group| group.parse::<i64>().unwrap_or(0));
        let weighted = values.zip([3600, 60, 1]);
        let sum = weighted.map(|(value, weight)| value.saturating_mul(weight));
        return Scalar::Datum(sum.fold(0, i64::saturating_add).into());
    }
    if patterns.fine_sixties.is_match(text) {
        let digit_groups = text.split(':').map(without_marks);
        let values = digit_groups.map(|group| group.parse::<f64>().unwrap_or(0.0));
        let sum: f64 = values.zip([3600.0, 60.0, 1.0]).map(|(v, w)| v * w).sum();
        return Scalar::Datum(sum.into());
    }
    if patterns.float.is_match(text) {
        let digits = without_marks(text).replace(".e", "e").replace(".E", "E");
        let digits = digits.strip_suffix('.').unwrap_or(&digits);
        return match digits.parse::<f64>() {
            Ok(float) if float.is_finite() => Scalar::Datum(float.into()),
            Ok(_) => Scalar::Unfit("a number without end"),
            Err(_) => as_text(),
        };
    }
    if patterns.integer.is_match(text) {
        return integer(&without_marks(text));
    }
    as_text()
}

/// Whether something begins like words, and so is none of the numbers and moments.
fn looks_like_words(text: &str) -> bool {
    let is_word =
        |c: char| c.is_alphabetic() || c.is_whitespace() || "_!@#$%^&*(){}<>|/\\~;=".contains(c);
    let mut characters = text.chars();
    let first = characters.next().unwrap_or(' ');
    let second = characters.next().unwrap_or('0');
    let numeric = first.is_ascii_digit() || ".:-".contains(first);
    is_word(first) || (!numeric && is_word(second)) || text.contains('\n')
}

fn word(text: &str) -> Datum {
    if text.chars().count() > 5 {
        return text.into();
    }
    match text.to_ascii_lowercase().as_str() {
        "~" | "null" => Datum::Undef,
        "yes" | "true" | "on" => true.into(),
        "no" | "false" | "off" => false.into(),
        _ => text.into(),
    }
}

/// `1_000` and `1,000` are a thousand.
fn without_marks(text: &str) -> String {
    text.replace(['_', ','], "")
}

fn integer(digits: &str) -> Scalar {
    let (sign, magnitude) = match digits.strip_prefix('-') {
        Some(magnitude) => ("-", magnitude),
        None => ("", digits.strip_prefix('+').unwrap_or(digits)),
    };
    let (radix, magnitude) = match magnitude.get(..2) {
        Some("0x") => (16, &magnitude[2..]),
        Some("0b") => (2, &magnitude[2..]),
        Some(_) if magnitude.starts_with('0') => (8, &magnitude[1..]),
        _ => (10, magnitude),
    };
    match i64::from_str_radix(&format!("{sign}{magnitude}"), radix) {
        Ok(integer) => Scalar::Datum(integer.into()),
        Err(_) if magnitude.is_empty() => Scalar::Datum(digits.into()),
        Err(_) => Scalar::Unfit("a number of more than 64 bits"),
    }
}

struct Patterns {
    time: Pattern,
    date: Pattern,
    sixties: Pattern,
    fine_sixties: Pattern,
    float: Pattern,
    integer: Pattern,
}

fn patterns() -> &'static Patterns {
    static PATTERNS: OnceLock<Patterns> = OnceLock::new();
    let pattern = |text| Pattern::new(text).expect("it is well-formed");
    PATTERNS.get_or_init(|| Patterns {
        time: pattern(
            r"^-?[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]*)?([ \t]*(Z|[-+][0-9]{1,2}:?([0-9]{2})?))?$",
        ),
        date: pattern(r"^[0-9]{4}-(1[012]|0[0-9]|[0-9])-([12][0-9]|3[01]|0[0-9]|[0-9])$"),
        sixties: pattern(r"^[-+]?[0-9][0-9_]*(:[0-5]?[0-9]){1,2}$"),
        fine_sixties: pattern(r"^[-+]?[0-9][0-9_]*(:[0-5]?[0-9]){1,2}\.[0-9_]*$"),
        float: pattern(r"^[-+]?(([0-9][0-9_,]*)?\.[0-9]+|[0-9][0-9_,]*\.)([eE][-+][0-9]+)?$"),
        integer: pattern(
            r"^[-+]?(0b[01_,]+|0[0-7_,]+|0|[1-9]([0-9]|,[0-9]|_[0-9])*|0x[0-9a-fA-F_,]+)$",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datum(text: &str) -> Datum {
        match read(text) {
            Scalar::Datum(datum) => datum,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn scalars_are_what_ruby_makes_of_them() {
        for (text, expected) in [
            ("", Datum::Undef),
            ("~", Datum::Undef),
            ("Null", Datum::Undef),
            ("yes", true.into()),
            ("On", true.into()),
            ("OFF", false.into()),
            ("y", "y".into()),
            ("yes!", "yes!".into()),
            ("0777", 511.into()),
            ("0o17", "0o17".into()),
            ("09", "09".into()),
            ("1_000", 1000.into()),
            ("1,000", 1000.into()),
            ("-0x1f", (-31).into()),
            ("+12", 12.into()),
            ("12:30", 45_000.into()),
            ("1:30:20", 5_420.into()),
            ("1.5", 1.5.into()),
            ("1.", 1.0.into()),
            (".5", 0.5.into()),
            ("1.e+3", 1000.0.into()),
            ("1e3", "1e3".into()),
            (".", ".".into()),
            ("1.2.3", "1.2.3".into()),
            ("192.168.0.1", "192.168.0.1".into()),
            ("a:b", "a:b".into()),
            (":", ":".into()),
        ] {
            assert_eq!(datum(text), expected, "{text}");
        }
        assert_eq!(read(":name"), Scalar::Symbol("name".into()));
        assert_eq!(read("2001-12-14"), Scalar::Moment);
        assert_eq!(read("2001-12-14t21:59:43.10-05:00"), Scalar::Moment);
        assert!(matches!(read("-.inf"), Scalar::Unfit(_)));
        assert!(matches!(read("99999999999999999999"), Scalar::Unfit(_)));
    }
}
