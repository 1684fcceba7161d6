//! Facts: what only the machine that is configured knows, as JSON with places.
//!
//! A fact is a literal like any other, only that it stands in another file: its place is its origin. The
//! languages import facts like a file; this reads them, and each turns them into its own blocks.

use crate::cell::Cell;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
use crate::unit::{TOO_DEEP, Unit};

/// Facts that are not JSON, or not an object.
pub const NOT_FACTS: Code = Code::new("facts.not-json");
/// A number among facts is out of range.
pub const NUMBER_RANGE: Code = Code::new("facts.number-range");

/// What a text in UTF-8 may begin with, and does not mean anything.
const MARK: char = '\u{feff}';

/// One step of a walk over facts.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A scalar.
    Scalar(Cell, Span),
    /// A list begins.
    ListStart(Span),
    /// The list ends.
    ListEnd(Span),
    /// An object begins.
    MapStart(Span),
    /// A key, which is written there without its quotes; its value comes next.
    Key(String, Span),
    /// The object ends.
    MapEnd(Span),
}

/// Walks over the facts of a file. The outermost value is an object.
pub fn read(
    unit: &mut Unit,
    file: FileId,
    take: &mut dyn FnMut(&mut Unit, Fact),
) -> Result<(), Box<Diagnostic>> {
    let span = unit.sources.span(file);
    // Some editors begin a file with a byte order mark.
    let mark = match unit.sources.slice(span).starts_with(MARK) {
        true => MARK.len_utf8(),
        false => 0,
    };
    let mut reader = Reader {
        at: span.start as usize + mark,
        end: span.end as usize,
    };
    reader.blanks(unit);
    if reader.peek(unit) != Some(b'{') {
        return Err(reader.wrong("expected an object of facts: `{ \"name\": value }`"));
    }
    reader.value(unit, take)?;
    reader.blanks(unit);
    match reader.peek(unit) {
        None => Ok(()),
        Some(_) => Err(reader.wrong("expected nothing behind the object")),
    }
}

struct Reader {
    at: usize,
    end: usize,
}

/// What is open: an object ends with `}`, a list with `]`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Map,
    List,
}

impl Reader {
    fn peek(&self, unit: &Unit) -> Option<u8> {
        let bytes = &unit.sources.text().as_bytes()[..self.end];
        bytes.get(self.at).copied()
    }

    fn blanks(&mut self, unit: &Unit) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek(unit) {
            self.at += 1;
        }
    }

    fn here(&self, length: usize) -> Span {
        let end = (self.at + length).min(self.end);
        Span::new(self.at as u32, end as u32)
    }

    fn wrong(&self, message: &str) -> Box<Diagnostic> {
        // A character may be longer than a byte: point to where it begins.
        Box::new(
            Diagnostic::error(NOT_FACTS, message)
                .at(Span::at(self.at as u32))
                .help("facts are a JSON object, as `facter --json` prints them"),
        )
    }

    /// Reads a value and all that is in it.
    fn value(
        &mut self,
        unit: &mut Unit,
        take: &mut dyn FnMut(&mut Unit, Fact),
    ) -> Result<(), Box<Diagnostic>> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.blanks(unit);
            let begins = match self.peek(unit) {
                Some(b'{') => Some((Open::Map, Fact::MapStart(self.here(1)), b'}')),
                Some(b'[') => Some((Open::List, Fact::ListStart(self.here(1)), b']')),
                _ => None,
            };
            if let Some((kind, fact, close)) = begins {
                if open.len() >= unit.limits.depth as usize {
                    let message = format!("facts are deeper than {} levels", unit.limits.depth);
                    let place = self.here(1);
                    return Err(Box::new(
                        Diagnostic::error(TOO_DEEP, message)
                            .at(place)
                            .help("allow more with `--max-depth`"),
                    ));
                }
                self.at += 1;
                take(unit, fact);
                open.push(kind);
                self.blanks(unit);
                if self.peek(unit) != Some(close) {
                    if kind == Open::Map {
                        self.key(unit, take)?;
                    }
                    continue;
                }
            } else {
                let fact = self.scalar(unit)?;
                take(unit, fact);
            }
            // After a value comes another, or the end of what it is in.
            loop {
                self.blanks(unit);
                let Some(&kind) = open.last() else {
                    return Ok(());
                };
                match (self.peek(unit), kind) {
                    (Some(b','), _) => {
                        self.at += 1;
                        if kind == Open::Map {
                            self.key(unit, take)?;
                        }
                        break;
                    }
                    (Some(b'}'), Open::Map) => take(unit, Fact::MapEnd(self.here(1))),
                    (Some(b']'), Open::List) => take(unit, Fact::ListEnd(self.here(1))),
                    (_, Open::Map) => return Err(self.wrong("expected `,` or `}`")),
                    (_, Open::List) => return Err(self.wrong("expected `,` or `]`")),
                }
                self.at += 1;
                open.pop();
            }
        }
    }

    fn key(
        &mut self,
        unit: &mut Unit,
        take: &mut dyn FnMut(&mut Unit, Fact),
    ) -> Result<(), Box<Diagnostic>> {
        self.blanks(unit);
        if self.peek(unit) != Some(b'"') {
            return Err(self.wrong("expected a key in quotes"));
        }
        let (inner, escaped) = self.quoted(unit)?;
        let key = match escaped {
            Some(text) => text,
            None => unit.sources.slice(inner).to_owned(),
        };
        self.blanks(unit);
        if self.peek(unit) != Some(b':') {
            return Err(self.wrong("expected `:`"));
        }
        self.at += 1;
        take(unit, Fact::Key(key, inner));
        Ok(())
    }

    fn scalar(&mut self, unit: &mut Unit) -> Result<Fact, Box<Diagnostic>> {
        let start = self.at;
        if self.peek(unit) == Some(b'"') {
            let (inner, escaped) = self.quoted(unit)?;
            let cell = match escaped {
                Some(text) => unit.literals.made_text(&text),
                None => unit.literals.text(inner),
            };
            return Ok(Fact::Scalar(cell, Span::new(start as u32, self.at as u32)));
        }
        let bytes = &unit.sources.text().as_bytes()[start..self.end];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = bytes.iter().take_while(|byte| is_part(byte)).count();
        let span = self.here(length);
        let word = unit.sources.slice(span);
        let cell = match word {
            "null" => Cell::NULL,
            "true" => Cell::bool(true),
            "false" => Cell::bool(false),
            word => match number(word) {
                Number::Integer(integer) => unit.literals.integer(integer),
                Number::Float(float) => unit.literals.float(float),
                Number::OutOfRange => return Err(out_of_range(span)),
                Number::None => return Err(self.wrong("expected a value that JSON has")),
            },
        };
        self.at += length;
        Ok(Fact::Scalar(cell, span))
    }

    /// A string: the stretch between its quotes, and its text if that differs.
    fn quoted(&mut self, unit: &Unit) -> Result<(Span, Option<String>), Box<Diagnostic>> {
        let start = self.at + 1;
        let bytes = &unit.sources.text().as_bytes()[..self.end];
        let mut at = start;
        let mut escaped = false;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(byte) if *byte >= 0x20 => at += 1,
                _ => return Err(self.wrong("this string has no end")),
            }
        }
        let inner = Span::new(start as u32, at as u32);
        let text = match escaped {
            false => None,
            true => match unescape(unit.sources.slice(inner)) {
                Some(text) => Some(text),
                None => return Err(self.wrong("this string has an escape that JSON lacks")),
            },
        };
        self.at = at + 1;
        Ok((inner, text))
    }
}

/// What a word is as a number.
enum Number {
    Integer(i64),
    Float(f64),
    OutOfRange,
    None,
}

/// A number as JSON writes it.
fn number(word: &str) -> Number {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = digits.as_bytes();
    let has_leading_zero = bytes.first() == Some(&b'0') && is_digit(bytes.get(1));
    if !is_digit(bytes.first()) || has_leading_zero || !is_digit(bytes.last()) {
        return Number::None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return word.parse().map_or(Number::OutOfRange, Number::Integer);
    }
    match word.parse::<f64>() {
        Ok(float) if float.is_finite() => Number::Float(float),
        Ok(_) => Number::OutOfRange,
        Err(_) => Number::None,
    }
}

fn out_of_range(span: Span) -> Box<Diagnostic> {
    let message = "this number is out of range";
    let help = "whole numbers have 64 bits, others go up to about 1.8e308; \
                write it as a text if its digits matter";
    Box::new(Diagnostic::error(NUMBER_RANGE, message).at(span).help(help))
}

pub(crate) fn unescape(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let escape = &rest[backslash + 1..];
        let short = match escape.as_bytes().first()? {
            b'n' => Some('\n'),
            b't' => Some('\t'),
            b'r' => Some('\r'),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            plain @ (b'"' | b'\\' | b'/') => Some(*plain as char),
            b'u' => None,
            _ => return None,
        };
        if let Some(character) = short {
            text.push(character);
            rest = &escape[1..];
            continue;
        }
        let unit = |escape: &str| u16::from_str_radix(escape.get(1..5)?, 16).ok();
        let first = unit(escape)?;
        rest = &escape[5..];
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) {
            let second = rest
                .strip_prefix('\\')
                .filter(|rest| rest.starts_with('u'))?;
            units.push(unit(second)?);
            rest = &second[5..];
        }
        text.push_str(&String::from_utf16(&units).ok()?);
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Content;

    fn facts(text: &str) -> Result<Vec<String>, String> {
        let mut unit = Unit::default();
        let file = unit.sources.add("facts.json", text).unwrap();
        let mut seen = Vec::new();
        let read = read(&mut unit, file, &mut |unit, fact| {
            seen.push(match fact {
                Fact::Scalar(cell, span) => match cell.content(&unit.literals) {
                    Content::Text(text) => unit.literals.read(&unit.sources, text).to_owned(),
                    _ => unit.sources.slice(span).to_owned(),
                },
                Fact::Key(key, _) => format!("{key}:"),
                Fact::ListStart(_) => "[".to_owned(),
                Fact::ListEnd(_) => "]".to_owned(),
                Fact::MapStart(_) => "{".to_owned(),
                Fact::MapEnd(_) => "}".to_owned(),
            });
        });
        match read {
            Ok(()) => Ok(seen),
            Err(diagnostic) => {
                let place = unit.sources.location(diagnostic.labels[0].span.start);
                Err(format!("{place} {}", diagnostic.message))
            }
        }
    }

    #[test]
    fn facts_are_json() {
        let text = r#" {"a": 1, "b": [true, null, -1.5e3, []], "c": {"d\u00e9\n": "x\ud83d\ude00"}, "e": {}} "#;
        let expected = [
            "{", "a:", "1", "b:", "[", "true", "null", "-1.5e3", "[", "]", "]", "c:", "{", "dé\n:",
            "x😀", "}", "e:", "{", "}", "}",
        ];
        assert_eq!(facts(text).unwrap(), expected);
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        for (text, expected) in [
            ("[1]", "facts.json:1:1 expected an object"),
            ("{\"a\": 01}", "facts.json:1:7 expected a value"),
            ("{\"a\": 1,}", "facts.json:1:9 expected a key"),
            ("{\"a\" 1}", "facts.json:1:6 expected `:`"),
            ("{\"a\": [1}", "facts.json:1:9 expected `,` or `]`"),
            ("{\"a\": \"x", "facts.json:1:7 this string has no end"),
            (
                "{\"a\": \"\\ud800\"}",
                "facts.json:1:7 this string has an escape",
            ),
            ("{} {}", "facts.json:1:4 expected nothing"),
            (
                "{\"a\": 1e999}",
                "facts.json:1:7 this number is out of range",
            ),
            (
                "{\"a\": 9223372036854775808}",
                "facts.json:1:7 this number is out of range",
            ),
            ("", "facts.json:1:1 expected an object"),
        ] {
            let trouble = facts(text).unwrap_err();
            assert!(trouble.starts_with(expected), "{text}: {trouble}");
        }
    }
}
