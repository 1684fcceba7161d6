//! Printers: sinks that write a value as text. Each language's own syntax is printed by its crate.

pub mod json;
pub mod yaml;

use std::io::{self, Write};

/// Text on its way out. It is written in large pieces; a failed write is remembered, and what comes
/// after it goes nowhere.
pub struct Output<W: Write> {
    buffer: Vec<u8>,
    writer: W,
    error: Option<io::Error>,
}

const PIECE: usize = 1 << 16;

impl<W: Write> Output<W> {
    /// Text that goes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            buffer: Vec::with_capacity(PIECE + (1 << 12)),
            writer,
            error: None,
        }
    }

    /// Adds text.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() >= PIECE {
            self.write();
        }
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
    pub fn quoted(&mut self, text: &str) {
        self.byte(b'"');
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            if !ESCAPED[byte as usize] {
                continue;
            }
            self.text(&text[plain..at]);
            plain = at + 1;
            match byte {
                b'"' => self.text("\\\""),
                b'\\' => self.text("\\\\"),
                b'\n' => self.text("\\n"),
                b'\r' => self.text("\\r"),
                b'\t' => self.text("\\t"),
                0x08 => self.text("\\b"),
                0x0c => self.text("\\f"),
                _ => self.text(&format!("\\u{byte:04x}")),
            }
        }
        self.text(&text[plain..]);
        self.byte(b'"');
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

    fn write(&mut self) {
        if self.error.is_none() {
            self.error = self.writer.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }
}

/// The bytes that cannot stand in a quoted text as they are.
const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        escaped[byte] = true;
        byte += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped
};
