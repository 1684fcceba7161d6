//! JSON, compact or indented, keys in configuration order. A data reference is `{"$ref":"s1:web"}`.

use std::io::{self, Write};

use super::Output;
use crate::value::{Event, Mark, Sink};

/// Prints JSON.
pub struct Json<W: Write> {
    out: Output<W>,
    pretty: bool,
    levels: usize,
    after: After,
}

/// What was printed last.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Start,
    Key,
    Value,
}

impl<W: Write> Json<W> {
    /// JSON on one line.
    pub fn compact(writer: W) -> Self {
        Self {
            out: Output::new(writer),
            pretty: false,
            levels: 0,
            after: After::Key,
        }
    }

    /// JSON with a line for each value, two spaces a level.
    pub fn pretty(writer: W) -> Self {
        Self {
            pretty: true,
            ..Self::compact(writer)
        }
    }

    /// Ends the last line, and tells how the writing went.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.byte(b'\n');
        self.out.finish()
    }

    #[inline]
    fn separate(&mut self) {
        match self.after {
            After::Key => return,
            After::Value => self.out.byte(b','),
            After::Start => {}
        }
        if self.pretty {
            self.out.line(self.levels);
        }
    }

    fn open(&mut self, bracket: u8) {
        self.out.byte(bracket);
        self.levels += 1;
        self.after = After::Start;
    }

    fn close(&mut self, bracket: u8) {
        self.levels -= 1;
        if self.pretty && self.after == After::Value {
            self.out.line(self.levels);
        }
        self.out.byte(bracket);
        self.after = After::Value;
    }
}

impl<W: Write> Sink for Json<W> {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Key(key) => {
                self.separate();
                self.out.quoted(key);
                self.out.byte(b':');
                if self.pretty {
                    self.out.byte(b' ');
                }
                self.after = After::Key;
            }
            Event::MapEnd => self.close(b'}'),
            Event::ListEnd => self.close(b']'),
            Event::MapStart => {
                self.separate();
                self.open(b'{');
            }
            Event::ListStart => {
                self.separate();
                self.open(b'[');
            }
            Event::Reference(text) => {
                self.separate();
                self.out.text(if self.pretty {
                    "{ \"$ref\": "
                } else {
                    "{\"$ref\":"
                });
                self.out.quoted(text);
                self.out.text(if self.pretty { " }" } else { "}" });
                self.after = After::Value;
            }
            scalar => {
                self.separate();
                self.out.scalar(scalar);
                self.after = After::Value;
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    // Most entries of a fleet go through `mark` and `again`: a call of each would be a tenth of printing.
    /// Indentation depends on the place; compact entries look the same everywhere.
    #[inline(always)]
    fn mark(&mut self) -> Option<Mark> {
        if self.pretty {
            return None;
        }
        self.separate();
        self.after = After::Key;
        Some(Mark(self.out.position()))
    }

    fn since(&self, mark: Mark) -> Option<&[u8]> {
        self.out.since(mark.0)
    }

    #[inline(always)]
    fn again(&mut self, entry: &[u8]) {
        self.separate();
        self.out.bytes(entry);
        self.after = After::Value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(mut json: Json<Vec<u8>>) -> String {
        for event in [
            Event::MapStart,
            Event::Key("a\n"),
            Event::ListStart,
            Event::Integer(i64::MIN),
            Event::Float(1e3),
            Event::Reference("s1:web"),
            Event::ListEnd,
            Event::Key("b"),
            Event::MapStart,
            Event::MapEnd,
            Event::MapEnd,
        ] {
            json.event(event);
        }
        String::from_utf8(json.finish().unwrap()).unwrap()
    }

    #[test]
    fn compact() {
        let expected = "{\"a\\n\":[-9223372036854775808,1000.0,{\"$ref\":\"s1:web\"}],\"b\":{}}\n";
        assert_eq!(printed(Json::compact(Vec::new())), expected);
    }

    #[test]
    fn pretty() {
        let expected = "{\n  \"a\\n\": [\n    -9223372036854775808,\n    1000.0,\n    { \"$ref\": \"s1:web\" }\n  ],\n  \"b\": {}\n}\n";
        assert_eq!(printed(Json::pretty(Vec::new())), expected);
    }
}
