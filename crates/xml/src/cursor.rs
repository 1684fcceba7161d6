//! A place in a text that moves forward, and the characters of XML.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{Sources, Span};

/// A text is not well-formed XML.
pub const SYNTAX: Code = Code::new("xml.syntax");

/// What is wrong, where one mistake ends the reading.
pub type Trouble = Box<Diagnostic>;

/// A place in a text.
#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    /// The place.
    pub at: usize,
    /// Where the text begins in the sources.
    base: u32,
    /// What is to blame for all of the text, if it does not stand in the sources: a reference.
    blamed: Option<Span>,
}

impl<'t> Cursor<'t> {
    /// The beginning of a stretch of the sources.
    pub fn of(sources: &'t Sources, span: Span) -> Self {
        Self {
            text: sources.slice(span),
            at: 0,
            base: span.start,
            blamed: None,
        }
    }

    /// The beginning of a text that stands for a reference.
    pub fn instead(text: &'t str, reference: Span) -> Self {
        Self {
            text,
            at: 0,
            base: 0,
            blamed: Some(reference),
        }
    }

    /// What is still to be read.
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Whether all is read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// A stretch of the text, which stands in the sources.
    pub fn slice(&self, span: Span) -> &'t str {
        let place = |offset: u32| (offset - self.base) as usize;
        &self.text[place(span.start)..place(span.end)]
    }

    /// The next byte.
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Whether this comes next.
    pub fn sees(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Passes this, if it comes next.
    pub fn eat(&mut self, text: &str) -> bool {
        let seen = self.sees(text);
        self.at += if seen { text.len() } else { 0 };
        seen
    }

    /// Passes what must come next.
    pub fn expect(&mut self, text: &str) -> Result<(), Trouble> {
        match self.eat(text) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{text}`"))),
        }
    }

    /// Passes white space; whether there was any.
    pub fn space(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
        self.at > start
    }

    /// Passes white space that must be there.
    pub fn some_space(&mut self) -> Result<(), Trouble> {
        match self.space() {
            true => Ok(()),
            false => Err(self.unexpected("white space")),
        }
    }

    /// Passes a name.
    pub fn name(&mut self) -> Result<&'t str, Trouble> {
        match self.rest().starts_with(is_name_start) {
            true => self.token(),
            false => Err(self.unexpected("a name")),
        }
    }

    /// Passes a name, which may begin like the rest of one.
    pub fn token(&mut self) -> Result<&'t str, Trouble> {
        let rest = self.rest();
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.unexpected("a name"));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    /// Passes everything up to a mark, and the mark. `what` is what the mark ends.
    pub fn until(&mut self, mark: &str, what: &str) -> Result<&'t str, Trouble> {
        let start = self.at;
        match self.rest().find(mark) {
            Some(length) => {
                self.at += length + mark.len();
                let passed = &self.text[start..start + length];
                self.legal(start, passed)?;
                Ok(passed)
            }
            None => {
                let message = format!("this {what} has no end, `{mark}`");
                Err(self.fail(self.text.len(), self.text.len(), message))
            }
        }
    }

    /// Passes a text in quotes.
    pub fn quoted(&mut self, what: &str) -> Result<&'t str, Trouble> {
        match self.peek() {
            Some(b'"') => self.at += 1,
            Some(b'\'') => {
                self.at += 1;
                return self.until("'", what);
            }
            _ => return Err(self.unexpected(&format!("{what} in quotes"))),
        }
        self.until("\"", what)
    }

    /// Refuses characters that XML does not have in a text that begins at a place.
    pub fn legal(&self, start: usize, text: &str) -> Result<(), Trouble> {
        let Some((place, character)) = text.char_indices().find(|(_, c)| !is_character(*c)) else {
            return Ok(());
        };
        let (start, end) = (start + place, start + place + character.len_utf8());
        let message = format!(
            "U+{:04X} is no character of XML, not even as a reference",
            u32::from(character)
        );
        Err(self.fail(start, end, message))
    }

    /// The stretch from a place to another.
    pub fn span(&self, start: usize, end: usize) -> Span {
        match self.blamed {
            Some(reference) => reference,
            None => Span::new(self.base + start as u32, self.base + end as u32),
        }
    }

    /// The stretch from a place to this one.
    pub fn since(&self, start: usize) -> Span {
        self.span(start, self.at)
    }

    /// What is wrong with a stretch.
    pub fn fail(&self, start: usize, end: usize, message: impl Into<String>) -> Trouble {
        Box::new(Diagnostic::error(SYNTAX, message).at(self.span(start, end)))
    }

    /// Something else was expected here.
    pub fn unexpected(&self, expected: &str) -> Trouble {
        let next = self.rest().chars().next();
        let end = self.at + next.map_or(0, char::len_utf8);
        let found = match next {
            None => "the end".to_owned(),
            Some('\n' | '\r') => "the end of the line".to_owned(),
            Some(next) => format!("`{}`", next.escape_debug()),
        };
        let message = format!("expected {expected}, found {found}");
        self.fail(self.at, end, message)
    }
}

/// White space of XML.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether there is nothing but white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(is_space)
}

/// Whether XML has this character (production 2).
pub fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Whether a name may begin with this character (production 4).
pub fn is_name_start(c: char) -> bool {
    matches!(c,
        ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

/// Whether this character may stand in a name (production 4a).
pub fn is_name(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}
