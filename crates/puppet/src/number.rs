//! Numbers written in texts, as arithmetic reads them: `10`, `0x1f`, `017`, `-1.5e3`.

use crate::value::Datum;

/// The number that a text is, if it is one. Blanks around it and behind its sign do not count.
pub fn number(text: &str) -> Option<Datum> {
    let text = text.strip_prefix("::").unwrap_or(text);
    let text = text.trim_matches(is_blank);
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let text = text.trim_start_matches(is_blank);
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return integer(digits, 16, negative);
    }
    let end = text
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(text.len());
    let (whole, rest) = text.split_at(end);
    if whole.is_empty() {
        return None;
    }
    let octal = whole.len() > 1 && whole.starts_with('0');
    if rest.is_empty() {
        return match octal {
            true => integer(&whole[1..], 8, negative),
            false => integer(whole, 10, negative),
        };
    }
    let exponent = fraction_and_exponent(rest)?;
    // Digits that could be octal must be, though they are then read as decimal.
    if octal && whole.bytes().any(|digit| digit > b'7') {
        return None;
    }
    // Zero times a power of ten is none of the numbers that can be written.
    let zero = |digits: &str| digits.bytes().all(|digit| digit == b'0');
    if exponent.is_some_and(|fraction| zero(whole) && zero(fraction)) {
        return None;
    }
    let float: f64 = text.parse().ok()?;
    let float = if negative { -float } else { float };
    float.is_finite().then_some(Datum::Float(float))
}

/// The digits behind the point, if there is an exponent behind them; nothing at all if it is not so made.
fn fraction_and_exponent(text: &str) -> Option<Option<&str>> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (fraction, exponent) = match text.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (text, None),
    };
    let fraction = match fraction {
        "" => "",
        _ => fraction.strip_prefix('.').filter(|it| digits(it))?,
    };
    match exponent {
        None => Some(None),
        Some(exponent) => {
            let exponent = exponent.strip_prefix('-').unwrap_or(exponent);
            digits(exponent).then_some(Some(fraction))
        }
    }
}

fn integer(digits: &str, radix: u32, negative: bool) -> Option<Datum> {
    if !digits.chars().all(|char| char.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    let number = if negative { -magnitude } else { magnitude };
    i64::try_from(number).ok().map(Datum::Integer)
}

/// A space or a tab, of any script.
pub(crate) fn is_blank(char: char) -> bool {
    char == '\t'
        || char.is_whitespace() && !char.is_control() && !matches!(char, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_as_written() {
        let cases = [
            ("10", Some(Datum::Integer(10))),
            (" -5 ", Some(Datum::Integer(-5))),
            ("- 5", Some(Datum::Integer(-5))),
            ("0x1f", Some(Datum::Integer(31))),
            ("017", Some(Datum::Integer(15))),
            ("08", None),
            ("1e3", Some(Datum::Float(1000.0))),
            ("1.5", Some(Datum::Float(1.5))),
            ("0e1", None),
            ("1.", None),
            ("", None),
            ("ten", None),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(Datum::Integer(i64::MIN))),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
