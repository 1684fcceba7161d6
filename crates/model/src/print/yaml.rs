//! YAML as in figure 3 of the SmartFrog paper: one line a key, two spaces a level, text in quotes,
//! data references bare. Lists, and what is in them, stand on one line.

use std::io::{self, Write};

use super::Output;
use crate::value::{Event, Sink};

/// Prints YAML.
pub struct Yaml<W: Write> {
    out: Output<W>,
    /// How many maps are open that have a line for each key.
    levels: usize,
    /// The containers that are open and stand on one line: their closing brackets.
    inline: Vec<u8>,
    after: After,
}

/// What was printed last.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Nothing,
    Start,
    Key,
    Value,
}

impl<W: Write> Yaml<W> {
    /// YAML that goes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            out: Output::new(writer),
            levels: 0,
            inline: Vec::new(),
            after: After::Nothing,
        }
    }

    /// Ends the last line, and tells how the writing went.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.byte(b'\n');
        self.out.finish()
    }

    /// What stands between the last thing and the next.
    fn separate(&mut self) {
        match self.after {
            After::Key if self.inline.is_empty() => self.out.byte(b' '),
            After::Value if !self.inline.is_empty() => self.out.text(", "),
            _ => {}
        }
    }

    fn key(&mut self, key: &str) {
        if !self.inline.is_empty() {
            self.separate();
        } else if self.levels > 1 || self.after == After::Value {
            self.out.line(self.levels - 1);
        }
        if is_plain(key) {
            self.out.text(key);
        } else {
            self.out.quoted(key);
        }
        self.out
            .text(if self.inline.is_empty() { ":" } else { ": " });
    }

    fn open_inline(&mut self, open: u8, close: u8) {
        self.separate();
        self.out.byte(open);
        self.inline.push(close);
        self.after = After::Start;
    }

    fn close(&mut self) {
        if let Some(bracket) = self.inline.pop() {
            self.out.byte(bracket);
        } else {
            self.levels -= 1;
            match self.after {
                After::Start if self.levels > 0 => self.out.text(" {}"),
                After::Start => self.out.text("{}"),
                _ => {}
            }
        }
        self.after = After::Value;
    }
}

/// Whether a key can stand without quotes and still be read as text.
fn is_plain(key: &str) -> bool {
    let mut characters = key.chars();
    let word = characters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    let meant_otherwise = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    word && !meant_otherwise.contains(&key.to_ascii_lowercase().as_str())
}

impl<W: Write> Sink for Yaml<W> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Key(key) => {
                self.key(key);
                self.after = After::Key;
                return;
            }
            Event::MapStart if self.inline.is_empty() => {
                self.levels += 1;
                self.after = After::Start;
                return;
            }
            Event::MapStart => return self.open_inline(b'{', b'}'),
            Event::ListStart => return self.open_inline(b'[', b']'),
            Event::MapEnd | Event::ListEnd => return self.close(),
            _ => self.separate(),
        }
        self.after = After::Value;
        match event {
            Event::Reference(text) => self.out.text(text),
            scalar => self.out.scalar(scalar),
        }
    }

    fn is_closed(&self) -> bool {
        self.out.is_closed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_take_lines_and_lists_take_one() {
        let mut yaml = Yaml::new(Vec::new());
        for event in [
            Event::MapStart,
            Event::Key("s1"),
            Event::MapStart,
            Event::Key("dns"),
            Event::Text("ns.foo"),
            Event::Key("empty"),
            Event::MapStart,
            Event::MapEnd,
            Event::MapEnd,
            Event::Key("no"),
            Event::ListStart,
            Event::Bool(true),
            Event::MapStart,
            Event::Key("k"),
            Event::Reference("s1:web"),
            Event::MapEnd,
            Event::ListEnd,
            Event::MapEnd,
        ] {
            yaml.event(event);
        }
        let text = String::from_utf8(yaml.finish().unwrap()).unwrap();
        let expected = "s1:\n  dns: \"ns.foo\"\n  empty: {}\n\"no\": [true, {k: s1:web}]\n";
        assert_eq!(text, expected);
    }
}
