//! Printers: sinks that write a value as text. Each language's own syntax is printed by its crate.

pub mod json;
pub mod printed;
pub mod yaml;

use std::io::{self, Write};

use crate::value::Event;

/// Text on its way out. It is written in large pieces; a failed write is remembered, and what comes
/// after it goes nowhere.
pub struct Output<W: Write> {
    buffer: Vec<u8>,
    /// How many bytes left the buffer.
    written: u64,
    writer: W,
    error: Option<io::Error>,
}

const PIECE: usize = 1 << 16;

impl<W: Write> Output<W> {
    /// Text that goes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            buffer: Vec::with_capacity(PIECE + (1 << 12)),
            written: 0,
            writer,
            error: None,
        }
    }

    /// Adds text.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Adds one ASCII character.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    /// Starts a line, `levels` deep.
    pub fn line(&mut self, levels: usize) {
        self.byte(b'\n');
        for _ in 0..levels {
            self.text("  ");
        }
    }

    /// Adds text in double quotes with JSON's escapes, which YAML and SmartFrog read too.
    #[inline]
    pub fn quoted(&mut self, text: &str) {
        self.byte(b'"');
        if has_escapes(text.as_bytes()) {
            self.escaped(text);
        } else {
            self.buffer.extend_from_slice(text.as_bytes());
        }
        self.byte(b'"');
        if self.buffer.len() >= PIECE {
            self.write();
        }
    }

    /// The same, for readers who refuse more characters than JSON does.
    pub fn quoted_without(&mut self, text: &str, is_refused: impl Fn(char) -> bool) {
        self.byte(b'"');
        let mut plain = 0;
        for (at, character) in text.char_indices().filter(|one| is_refused(one.1)) {
            self.escaped(&text[plain..at]);
            self.text(&format!("\\u{:04x}", character as u32));
            plain = at + character.len_utf8();
        }
        self.escaped(&text[plain..]);
        self.byte(b'"');
    }

    fn escaped(&mut self, text: &str) {
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            let short = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0x08 => "\\b",
                0x0c => "\\f",
                0..0x20 => "",
                _ => continue,
            };
            self.text(&text[plain..at]);
            plain = at + 1;
            match short {
                "" => self.text(&format!("\\u{byte:04x}")),
                short => self.text(short),
            }
        }
        self.text(&text[plain..]);
    }

    /// Adds a whole number.
    pub fn integer(&mut self, integer: i64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = integer.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if integer < 0 {
            self.byte(b'-');
        }
        self.buffer.extend_from_slice(&digits[at..]);
    }

    /// Adds any other number: the shortest text that reads as the same number, and never as a whole one.
    pub fn float(&mut self, float: f64) {
        self.text(&format!("{float:?}"));
    }

    /// Adds a scalar as JSON and YAML write it.
    #[inline]
    pub fn scalar(&mut self, scalar: Event<'_>) {
        match scalar {
            Event::Null => self.text("null"),
            Event::Bool(true) => self.text("true"),
            Event::Bool(false) => self.text("false"),
            Event::Integer(integer) => self.integer(integer),
            Event::Float(float) => self.float(float),
            Event::Text(text) => self.quoted(text),
            _ => unreachable!("neither a container nor a reference is a scalar here"),
        }
    }

    /// How many bytes were printed.
    pub fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// What was printed since a position, if it has not been written yet.
    pub fn since(&self, position: u64) -> Option<&[u8]> {
        let start = position.checked_sub(self.written)?;
        self.buffer.get(start as usize..)
    }

    /// Adds what was printed before.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE {
            self.write();
        }
    }

    /// Whether writing has failed.
    pub fn is_closed(&self) -> bool {
        self.error.is_some()
    }

    /// Writes what is left, and tells how the writing went.
    pub fn finish(mut self) -> io::Result<W> {
        self.write();
        match self.error {
            Some(error) => Err(error),
            None => self.writer.flush().map(|()| self.writer),
        }
    }

    #[cold]
    fn write(&mut self) {
        if self.error.is_none() {
            self.error = self.writer.write_all(&self.buffer).err();
        }
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
    }
}

/// Whether a text has a quote, a backslash or a control character in it. Most have none, so it is worth
/// looking at eight bytes at once.
#[inline]
fn has_escapes(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The high bit of each byte that is zero; a byte above a zero one may have it, too.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let has = |word: u64| {
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let quote = zeros(word ^ (ONES * b'"' as u64));
        let backslash = zeros(word ^ (ONES * b'\\' as u64));
        control | quote | backslash != 0
    };
    // The last bytes are looked at together with some before them: most texts are short.
    if let Some(last) = bytes.last_chunk::<8>() {
        let mut chunks = bytes.as_chunks::<8>().0.iter().chain([last]);
        return chunks.any(|chunk| has(u64::from_ne_bytes(*chunk)));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_ne_bytes(*first), u32::from_ne_bytes(*last));
        return has(u64::from(first) << 32 | u64::from(last));
    }
    let mut bytes = bytes.iter();
    bytes.any(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_escaped_if_need_be_wherever_it_stands() {
        for byte in 0..=127u8 {
            for at in 0..20 {
                let mut bytes = [b'x'; 20];
                bytes[at] = byte;
                let escapes = byte < 0x20 || byte == b'"' || byte == b'\\';
                assert_eq!(has_escapes(&bytes), escapes, "{byte} at {at}");
            }
        }
        let mut out = Output::new(Vec::new());
        out.quoted("é\u{1}\n\"\\ ü");
        assert_eq!(
            out.finish().unwrap(),
            "\"é\\u0001\\n\\\"\\\\ ü\"".as_bytes()
        );
    }
}
