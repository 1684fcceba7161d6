//! What is between the quotes: escapes of strings, and the digits of numbers.

use hence_model::cell::{Cell, Literals};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use crate::lexer::Dialect;

/// A backslash before something that it cannot stand before.
pub const UNKNOWN_ESCAPE: Code = Code::new("sf.unknown-escape");
/// A number that is too large to be kept.
pub const NUMBER_RANGE: Code = Code::new("sf.number-range");
/// Bytes that are not written in whole bytes of their base.
pub const BAD_BYTES: Code = Code::new("sf.bad-bytes");

/// The characters that `inner`, the text between the quotes, stands for. `at` is where it begins.
pub fn unescape(inner: &str, at: u32, dialect: Dialect) -> Result<String, Box<Diagnostic>> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let escape = &rest[backslash..];
        let place = at + (inner.len() - escape.len()) as u32;
        let (character, length) = character(escape, dialect)
            .ok_or_else(|| unknown_escape(&escape[..written_length(escape)], place, dialect))?;
        text.push(character);
        rest = &escape[length..];
    }
    text.push_str(rest);
    Ok(text)
}

/// The character that an escape at the start of `escape` stands for, and the escape's length.
fn character(escape: &str, dialect: Dialect) -> Option<(char, usize)> {
    let short = |character| Some((character, 2));
    match (escape.as_bytes().get(1)?, dialect) {
        (b'n', _) => short('\n'),
        (b't', _) => short('\t'),
        (b'r', _) => short('\r'),
        (b'b', _) => short('\u{8}'),
        (b'f', _) => short('\u{c}'),
        (b'"', _) => short('"'),
        (b'\\', _) => short('\\'),
        (b'/', _) => short('/'),
        (b'\'', Dialect::Production) => short('\''),
        (b'#', Dialect::Production) => short('#'),
        (b'0'..=b'3', Dialect::Production) => {
            let code = u8::from_str_radix(escape.get(1..4)?, 8).ok()?;
            Some((code as char, 4))
        }
        (b'u', _) => {
            let first = hexadecimal(escape)?;
            // Two escapes make one character outside the basic plane, as in JSON.
            if let Some(second) = escape.get(6..).and_then(hexadecimal) {
                let mut pair = char::decode_utf16([first, second]);
                if let (Some(Ok(character)), None) = (pair.next(), pair.next()) {
                    return Some((character, 12));
                }
            }
            char::from_u32(first.into()).map(|character| (character, 6))
        }
        _ => None,
    }
}

fn hexadecimal(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u16::from_str_radix(digits, 16).ok())?
}

/// How much of a text belongs to an escape that stands for nothing.
fn written_length(escape: &str) -> usize {
    let start: usize = escape.chars().take(2).map(char::len_utf8).sum();
    let digits = escape[start..].bytes().take(4);
    match &escape[..start] {
        "\\u" => start + digits.take_while(u8::is_ascii_hexdigit).count(),
        _ => start,
    }
}

fn unknown_escape(escape: &str, at: u32, dialect: Dialect) -> Box<Diagnostic> {
    let known = match dialect {
        Dialect::Core => r#"`\n \t \r \b \f \" \\ \/ \uXXXX`"#,
        Dialect::Production => r#"`\n \t \r \b \f \" \' \\ \/ \# \uXXXX \ooo`"#,
    };
    let message = format!("`{}` stands for no character", escape.escape_debug());
    let message = message.replace("\\\\", "\\");
    Box::new(
        Diagnostic::error(UNKNOWN_ESCAPE, message)
            .at(Span::new(at, at + escape.len() as u32))
            .help(format!(
                "a text can hold {known}; for a backslash write `\\\\`"
            )),
    )
}

/// The value of a whole number.
pub fn integer(digits: &str, span: Span, literals: &mut Literals) -> Result<Cell, Box<Diagnostic>> {
    let digits = digits.trim_end_matches(['l', 'L']);
    match digits.parse() {
        Ok(integer) => Ok(literals.integer(integer)),
        Err(_) => Err(Box::new(
            Diagnostic::error(
                NUMBER_RANGE,
                format!("{} is out of range", shortened(digits)),
            )
            .at(span)
            .help(format!(
                "whole numbers go from {} to {}",
                i64::MIN,
                i64::MAX
            )),
        )),
    }
}

/// The value of any other number.
pub fn float(digits: &str, span: Span, literals: &mut Literals) -> Result<Cell, Box<Diagnostic>> {
    let digits = digits.trim_end_matches(['f', 'F', 'd', 'D']);
    match digits.parse::<f64>() {
        Ok(float) if float.is_finite() => Ok(literals.float(float)),
        _ => Err(Box::new(
            Diagnostic::error(
                NUMBER_RANGE,
                format!("{} is out of range", shortened(digits)),
            )
            .at(span)
            .help(format!("the largest number is about {:e}", f64::MAX)),
        )),
    }
}

fn shortened(digits: &str) -> String {
    match digits.get(..30) {
        Some(start) if digits.len() > 40 => format!("{start}…"),
        _ => digits.to_owned(),
    }
}

/// The canonical writing of `#HEX#…#`, `#DEC#…#`, `#OCT#…#` or `#BIN#…#`: upper-case hexadecimal.
pub fn bytes(token: &str, span: Span) -> Result<String, Box<Diagnostic>> {
    let (base, digits) = match &token[1..4] {
        "HEX" => (16, 2),
        "DEC" => (10, 3),
        "OCT" => (8, 3),
        _ => (2, 8),
    };
    let inner = &token[5..token.len() - 1];
    let inner: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
    let bad = || {
        let message = "these bytes are not written in whole bytes";
        let help = format!("each byte takes {digits} digits of base {base}");
        Box::new(Diagnostic::error(BAD_BYTES, message).at(span).help(help))
    };
    if !inner.is_ascii() || !inner.len().is_multiple_of(digits) {
        return Err(bad());
    }
    let mut canonical = String::from("#HEX#");
    for start in (0..inner.len()).step_by(digits) {
        let byte = u8::from_str_radix(&inner[start..start + digits], base).map_err(|_| bad())?;
        canonical.push_str(&format!("{byte:02X}"));
    }
    canonical.push('#');
    Ok(canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let read = |text| unescape(text, 0, Dialect::Core).map_err(|d| d.labels[0].span);
        assert_eq!(read(r#"a\n\"\\\/\u00e9"#), Ok("a\n\"\\/é".into()));
        assert_eq!(read(r"\ud83d\ude00"), Ok("😀".into()));
        assert_eq!(read(r"ab\q"), Err(Span::new(2, 4)));
        assert_eq!(read(r"\ud83d!"), Err(Span::new(0, 6)));
        assert_eq!(read(r"\u+123"), Err(Span::new(0, 2)));
        let production = |text| unescape(text, 0, Dialect::Production).ok();
        assert_eq!(production(r"\101\'"), Some("A'".into()));
    }

    #[test]
    fn bytes_are_written_in_one_way() {
        let read = |text| bytes(text, Span::at(0)).ok();
        assert_eq!(read("#HEX# 0a FF #"), Some("#HEX#0AFF#".into()));
        assert_eq!(read("#DEC#010255#"), Some("#HEX#0AFF#".into()));
        assert_eq!(read("#BIN#00001010#"), Some("#HEX#0A#".into()));
        assert_eq!(read("#DEC#256#"), None);
        assert_eq!(read("#HEX#0#"), None);
    }
}
