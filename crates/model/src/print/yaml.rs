//! YAML as in figure 3 of the SmartFrog paper: one line a key, two spaces a level, text in quotes,
//! data references bare if they can be. Lists, and what is in them, stand on one line. Readers of YAML 1.1 and
//! of 1.2 get the same values.

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
        match is_word(key) {
            true => self.out.text(key),
            false => self.quoted(key),
        }
        self.out
            .text(if self.inline.is_empty() { ":" } else { ": " });
    }

    fn quoted(&mut self, text: &str) {
        match text.bytes().all(|byte| byte < 0x7f) {
            true => self.out.quoted(text),
            false => self.out.quoted_without(text, is_refused),
        }
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
fn is_word(key: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    begins_word(key) && key.chars().all(fits)
}

/// Whether a text begins as a word, and is none that means something else.
fn begins_word(text: &str) -> bool {
    let meant_otherwise = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !meant_otherwise.contains(&text.to_ascii_lowercase().as_str())
}

/// Whether a reference can stand without quotes and still be read as text: it is a word, and goes on without
/// what ends one, also between brackets.
fn is_plain(reference: &str) -> bool {
    let ends = |c: char| c.is_control() || is_refused(c) || "#,[]{}".contains(c);
    begins_word(reference)
        && !reference.contains(ends)
        && !reference.contains(": ")
        && !reference.ends_with([':', ' '])
}

/// Whether YAML has a character neither in its texts nor between quotes, or takes it for the end of a line.
fn is_refused(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

/// A number that is not whole. YAML 1.1 knows an exponent by its sign, and by the point before it.
fn float(float: f64) -> String {
    let text = format!("{float:?}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let point = if digits.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{digits}{point}e{sign}{exponent}")
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
            Event::Reference(text) if is_plain(text) => self.out.text(text),
            Event::Reference(text) | Event::Text(text) => self.quoted(text),
            Event::Float(number) => self.out.text(&float(number)),
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

    #[test]
    fn a_value_is_read_as_what_it_is() {
        for (event, expected) in [
            (Event::Reference("s1:web"), "s1:web"),
            (Event::Reference("LAZY s1:web"), "LAZY s1:web"),
            (Event::Reference("null"), "\"null\""),
            (Event::Reference("Yes"), "\"Yes\""),
            (
                Event::Reference("PROPERTY \"p: q\""),
                r#""PROPERTY \"p: q\"""#,
            ),
            (
                Event::Reference("OPTIONAL(\"x #y\") z"),
                r#""OPTIONAL(\"x #y\") z""#,
            ),
            (Event::Reference("1:30"), "\"1:30\""),
            (
                Event::Text("\u{7f}é\u{81}\n\u{ffff}\u{85}"),
                r#""\u007fé\u0081\n\uffff\u0085""#,
            ),
            (Event::Float(1e22), "1.0e+22"),
            (Event::Float(-1.5e-9), "-1.5e-9"),
            (Event::Float(0.5), "0.5"),
        ] {
            let mut yaml = Yaml::new(Vec::new());
            yaml.event(event);
            let text = String::from_utf8(yaml.finish().unwrap()).unwrap();
            assert_eq!(text.trim_end(), expected);
        }
    }
}
