//! What is between quotes, and the digits of numbers.

use ecow::EcoString;

/// What a backslash may stand before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escapes(u16);

/// The letters, in the order of their bits. `L` stands for the end of a line.
const LETTERS: [u8; 10] = *b"\\$'\"rntsuL";

impl Escapes {
    /// Before nothing: it stands for itself.
    pub const NONE: Self = Self(0);
    /// In `"…"`.
    pub const QUOTED: Self = Self((1 << LETTERS.len()) - 1);

    /// What a heredoc allows by its letters; all of them if there are none.
    pub fn of_heredoc(letters: &str) -> Result<Self, String> {
        let letters = match letters {
            "" => "trnsuL$",
            letters => letters,
        };
        // A backslash can always stand before another if it can stand before anything.
        let mut escapes = Self(1);
        for letter in letters.chars() {
            let bit = match "trnsuL$".contains(letter) {
                true => Self::bit(letter as u8),
                false => return Err(format!("`{letter}` is no escape of a heredoc")),
            };
            if escapes.0 & bit != 0 {
                return Err(format!("the escape `{letter}` is given twice"));
            }
            escapes.0 |= bit;
        }
        Ok(escapes)
    }

    /// Whether a backslash may stand before that letter.
    pub fn contains(self, letter: u8) -> bool {
        self.0 & Self::bit(letter) != 0
    }

    fn bit(letter: u8) -> u16 {
        let found = LETTERS.iter().position(|&known| known == letter);
        found.map_or(0, |at| 1 << at)
    }
}

/// What stands between single quotes: a backslash protects a quote and a backslash.
pub fn single(inner: &str) -> EcoString {
    let mut text = EcoString::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.chars().next() {
            Some(protected @ ('\\' | '\'')) => {
                text.push(protected);
                rest = &rest[1..];
            }
            _ => text.push('\\'),
        }
    }
    text.push_str(rest);
    text
}

/// What a piece of text with escapes says. Trouble is told in words, with the offset of the escape.
pub fn unescape(
    piece: &str,
    escapes: Escapes,
    trouble: &mut dyn FnMut(usize, Trouble),
) -> EcoString {
    if escapes == Escapes::NONE || !piece.contains('\\') {
        return piece.into();
    }
    let mut text = EcoString::with_capacity(piece.len());
    let mut rest = piece;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let offset = piece.len() - rest.len() + at;
        rest = &rest[at + 1..];
        let Some(next) = rest.chars().next() else {
            text.push('\\');
            break;
        };
        let line_end = match rest.as_bytes() {
            [b'\n', ..] => Some(1),
            [b'\r', b'\n', ..] => Some(2),
            _ => None,
        };
        if let Some(length) = line_end {
            match escapes.contains(b'L') {
                true => {}
                false => {
                    text.push('\\');
                    text.push_str(&rest[..length]);
                }
            }
            rest = &rest[length..];
            continue;
        }
        if next == 'L' || !next.is_ascii() || !escapes.contains(next as u8) {
            text.push('\\');
            if escapes == Escapes::QUOTED && next != '\r' {
                trouble(offset, Trouble::Unknown(next));
            }
            continue;
        }
        rest = &rest[1..];
        match next {
            'r' => text.push('\r'),
            'n' => text.push('\n'),
            't' => text.push('\t'),
            's' => text.push(' '),
            'u' => match code_point(rest) {
                Some((number, length)) => {
                    rest = &rest[length..];
                    match char::from_u32(number) {
                        Some(character) => text.push(character),
                        None => trouble(offset, Trouble::NoCharacter),
                    }
                }
                None => {
                    trouble(offset, Trouble::Incomplete);
                    text.push_str("\\u");
                }
            },
            protected => text.push(protected),
        }
    }
    text.push_str(rest);
    text
}

/// What is wrong with an escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A backslash before a character that needs none; both are kept.
    Unknown(char),
    /// `\u` without digits; both are kept.
    Incomplete,
    /// A number that no character has.
    NoCharacter,
}

/// The number behind `\u`: four digits, or up to six in braces; and its length.
fn code_point(rest: &str) -> Option<(u32, usize)> {
    let (digits, length) = match rest.strip_prefix('{') {
        Some(inner) => {
            let end = inner.find('}').filter(|end| (1..=6).contains(end))?;
            (&inner[..end], end + 2)
        }
        None => (rest.get(..4)?, 4),
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_number.then(|| u32::from_str_radix(digits, 16).ok())??;
    Some((number, length))
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Integer(i64),
    /// Any other.
    Float(f64),
}

/// A number as it is written: `12`, `0x1f`, `017`, `1.5e-3`; none if it cannot be kept.
pub fn number(text: &str) -> Option<Number> {
    let integer =
        |digits: &str, radix| i64::from_str_radix(digits, radix).ok().map(Number::Integer);
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => integer(&text[2..], 16),
        _ if text.contains(['.', 'e', 'E']) => {
            let float: f64 = text.parse().ok()?;
            float.is_finite().then_some(Number::Float(float))
        }
        [b'0', _, ..] => integer(&text[1..], 8),
        _ => integer(text, 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(piece: &str) -> (String, Vec<Trouble>) {
        let mut troubles = Vec::new();
        let text = unescape(piece, Escapes::QUOTED, &mut |_, trouble| {
            troubles.push(trouble)
        });
        (text.to_string(), troubles)
    }

    #[test]
    fn escapes_stand_for_characters() {
        assert_eq!(quoted(r#"a\n\t\s\r\\\"\'\$x"#).0, "a\n\t \r\\\"'$x");
        assert_eq!(quoted("\\u0041\\u{1F600}a\\\nb\\\r\nc").0, "A\u{1F600}abc");
        assert_eq!(
            quoted(r"\q"),
            (r"\q".to_owned(), vec![Trouble::Unknown('q')])
        );
        assert_eq!(
            quoted(r"\u12"),
            (r"\u12".to_owned(), vec![Trouble::Incomplete])
        );
        assert_eq!(quoted(r"\uD800").1, [Trouble::NoCharacter]);
        assert_eq!(single(r"a\'b\\c\n"), r"a'b\c\n");
    }

    #[test]
    fn numbers_have_their_radix() {
        assert_eq!(number("0x1F"), Some(Number::Integer(31)));
        assert_eq!(number("017"), Some(Number::Integer(15)));
        assert_eq!(number("0"), Some(Number::Integer(0)));
        assert_eq!(number("1.5e-3"), Some(Number::Float(0.0015)));
        assert_eq!(number("9223372036854775808"), None);
    }
}
