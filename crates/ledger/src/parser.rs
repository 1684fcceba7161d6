//! The language of commands: text to commands.
//!
//! ```text
//! format 1
//! # who holds the queue
//! assert group/web/annotation "Web servers"
//! retract group/old ; retract-under node/n7
//! apply site {
//!   assert feature/scheduler Scheduler
//! }
//! ```
//!
//! A command ends with its line or with `;`. A value is a word, or a text in quotes with the escapes `\" \\ \n \r \t
//! \u{…}`; an assertion without a value says no more than that something is so. What was written for another release says its
//! format, and one that is newer is not guessed at.

use std::collections::BTreeMap;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Sources, Span};

use crate::value::{Sealed, Value};
use crate::vocabulary::{Fault, Vocabulary};
use crate::{Command, Key, Keys};

/// Something is no command.
pub const SYNTAX: Code = Code::new("ledger.syntax");
/// Commands are written in a newer format.
pub const NEWER: Code = Code::new("ledger.format");

/// How commands are written; another number means other commands.
pub const FORMAT: u32 = 1;

/// Commands, and where they are written.
#[derive(Debug)]
pub struct Script {
    /// The commands.
    pub commands: Vec<Command>,
    /// Where each key is named last.
    pub places: BTreeMap<Key, Span>,
    /// Whether it says its format.
    pub says_format: bool,
}

/// The commands in a text, or all that is wrong with them. What is asserted outside of any `apply` is asserted by `owner`.
pub fn parse(
    sources: &Sources,
    file: FileId,
    owner: &str,
    vocabulary: &dyn Vocabulary,
) -> Result<Script, Vec<Diagnostic>> {
    let span = sources.span(file);
    let mut parser = Parser {
        text: sources.slice(span),
        start: span.start,
        at: 0,
        vocabulary,
        places: BTreeMap::new(),
        says_format: false,
        troubles: Vec::new(),
    };
    let commands = parser.commands(owner);
    match parser.troubles.is_empty() {
        true => Ok(Script {
            commands,
            places: parser.places,
            says_format: parser.says_format,
        }),
        false => Err(parser.troubles),
    }
}

struct Parser<'p> {
    text: &'p str,
    /// Where the text begins among all sources.
    start: u32,
    at: usize,
    vocabulary: &'p dyn Vocabulary,
    places: BTreeMap<Key, Span>,
    says_format: bool,
    troubles: Vec<Diagnostic>,
}

/// A piece of a command.
enum Token<'p> {
    Word(&'p str),
    Quoted(String),
    Sealed(Sealed),
    Open,
    Close,
    /// The end of a line, or `;`.
    End,
}

/// What was said is already among the troubles.
struct Reported;

impl<'p> Parser<'p> {
    fn commands(&mut self, owner: &str) -> Vec<Command> {
        let mut commands = Vec::new();
        while let Some(start) = self.next_command() {
            if self.word_at(start) == "format" {
                match self.format() {
                    Ok(()) => continue,
                    // What the rest means, nobody here knows.
                    Err(Reported) => break,
                }
            }
            match self.command(owner) {
                Ok(command) => commands.push(command),
                Err(Reported) => self.skip_command(),
            }
        }
        commands
    }

    /// Passes what ends a command, up to where the next one begins.
    fn next_command(&mut self) -> Option<usize> {
        loop {
            let start = self.blanks();
            match self.text[start..].chars().next()? {
                '\n' | ';' => self.at = start + 1,
                _ => return Some(start),
            }
        }
    }

    fn format(&mut self) -> Result<(), Reported> {
        self.token()?;
        let start = self.blanks();
        let number = match self.token()? {
            Token::Word(word) => word.parse().ok(),
            _ => None,
        };
        match number {
            Some(1..=FORMAT) => {
                self.says_format = true;
                self.end()
            }
            Some(0) | None => Err(self.trouble(
                start,
                "the number of a format is expected",
                "such as `format 1`",
            )),
            Some(newer) => {
                let message = format!(
                    "this is written in format {newer}, and {FORMAT} is the newest that is known here"
                );
                let trouble = Diagnostic::error(NEWER, message).at(self.word(start));
                self.troubles
                    .push(trouble.help("use the release of Hence that wrote it, or a later one"));
                Err(Reported)
            }
        }
    }

    fn command(&mut self, owner: &str) -> Result<Command, Reported> {
        let start = self.blanks();
        let verb = match self.token()? {
            Token::Word(verb) => verb,
            _ => return Err(self.trouble(start, "a command is expected", VERBS)),
        };
        let command = match verb {
            "assert" => {
                let (key, value) = self.assertion()?;
                let owner = owner.into();
                Command::Assert { owner, key, value }
            }
            "retract" => Command::Retract(Keys::Only(self.key()?)),
            "retract-under" => Command::Retract(Keys::Under(self.key()?)),
            "apply" => self.apply()?,
            other => {
                let message = format!("there is no command `{other}`");
                return Err(self.trouble(start, message, VERBS));
            }
        };
        self.end()?;
        Ok(command)
    }

    fn apply(&mut self) -> Result<Command, Reported> {
        let start = self.blanks();
        let owner: EcoString = match self.token()? {
            Token::Word(owner) => owner.into(),
            Token::Quoted(owner) => owner.into(),
            _ => return Err(self.trouble(start, "the name of an owner is expected", "")),
        };
        let brace = self.blanks();
        if !matches!(self.token()?, Token::Open) {
            let help = "`apply OWNER { assert … }` replaces all that the owner asserts";
            return Err(self.trouble(brace, "a `{` is expected", help));
        }
        let mut set = Vec::new();
        while let Some(start) = self.next_command() {
            match self.token() {
                Ok(Token::Close) => return Ok(Command::apply(owner, set, self.vocabulary)),
                Ok(Token::Word("assert")) => {
                    match self
                        .assertion()
                        .and_then(|assertion| self.end().map(|()| assertion))
                    {
                        Ok(assertion) => set.push(assertion),
                        Err(Reported) => self.skip_command(),
                    }
                }
                Ok(_) => {
                    self.trouble(start, "only `assert` can stand in `apply`", "");
                    self.skip_command();
                }
                Err(Reported) => self.skip_command(),
            }
        }
        Err(self.trouble(
            brace,
            "this `{` is not closed",
            "a `}` ends what the owner asserts",
        ))
    }

    fn assertion(&mut self) -> Result<(Key, Value), Reported> {
        let (start, names) = self.names()?;
        let value_start = self.blanks();
        let value = match self.token()? {
            Token::End => Value::Nothing,
            Token::Close => {
                self.at = value_start;
                Value::Nothing
            }
            Token::Word(word) => Value::text(word),
            Token::Quoted(text) => Value::text(text),
            Token::Sealed(sealed) => Value::Sealed(sealed),
            Token::Open => {
                let help = "a value with braces stands in quotes";
                return Err(self.trouble(value_start, "a value is expected", help));
            }
        };
        let (key, value) = match self.vocabulary.assertion(&names, value) {
            Ok(read) => read,
            Err(fault) => return Err(self.unknown(start, fault)),
        };
        self.places.insert(key.clone(), self.word(start));
        Ok((key, value))
    }

    fn key(&mut self) -> Result<Key, Reported> {
        let (start, names) = self.names()?;
        let key = match self.vocabulary.key(&names) {
            Ok(key) => key,
            Err(fault) => return Err(self.unknown(start, fault)),
        };
        self.places.insert(key.clone(), self.word(start));
        Ok(key)
    }

    fn names(&mut self) -> Result<(usize, Vec<String>), Reported> {
        let start = self.blanks();
        let names = match self.token()? {
            Token::Word(key) => Key::names_in(key),
            _ => return Err(self.trouble(start, "a key is expected", "such as `group/web`")),
        };
        match names {
            Some(names) => Ok((start, names)),
            None => {
                let help = "names are joined by `/` and not empty; `%` stands before two hexadecimal digits";
                Err(self.trouble(start, "this is not a key", help))
            }
        }
    }

    /// Nothing may follow in this command.
    fn end(&mut self) -> Result<(), Reported> {
        let start = self.blanks();
        match self.token()? {
            Token::End => Ok(()),
            Token::Close => {
                self.at = start;
                Ok(())
            }
            _ => {
                let help = "a value with blanks stands in quotes";
                Err(self.trouble(start, "the command should end here", help))
            }
        }
    }

    /// Passes blanks and comments, and says where the next piece begins.
    fn blanks(&mut self) -> usize {
        loop {
            let rest = &self.text[self.at..];
            let blanks = rest.find(|c: char| c == '\n' || !c.is_whitespace());
            self.at += blanks.unwrap_or(rest.len());
            if !self.text[self.at..].starts_with('#') {
                return self.at;
            }
            let line = self.text[self.at..].find('\n');
            self.at = line.map_or(self.text.len(), |line| self.at + line);
        }
    }

    fn token(&mut self) -> Result<Token<'p>, Reported> {
        let start = self.blanks();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            return Ok(Token::End);
        };
        let single = match first {
            '\n' | ';' => Some(Token::End),
            '{' => Some(Token::Open),
            '}' => Some(Token::Close),
            '"' => return self.quoted(),
            _ => None,
        };
        if let Some(token) = single {
            // The end of a line is not passed: whoever skips the rest of a command must find it.
            self.at = start + usize::from(!matches!(token, Token::End));
            return Ok(token);
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '#' | '{' | '}' | ';');
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if let Some(inside) = word.strip_prefix("sealed(") {
            return self.sealed(start, inside);
        }
        self.at = start + word.len();
        Ok(Token::Word(word))
    }

    /// `sealed(fingerprint content)`.
    fn sealed(&mut self, start: usize, fingerprint: &str) -> Result<Token<'p>, Reported> {
        let from = start + "sealed(".len() + fingerprint.len();
        let rest = &self.text[from..];
        let end = rest.find([')', '\n']).unwrap_or(rest.len());
        let content = rest[..end].trim();
        self.at = from + end;
        let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
        if !rest[end..].starts_with(')') || !is_hex(content) || !is_hex(fingerprint) {
            let help = "a sealed value is copied whole, as `hence state` printed it";
            return Err(self.trouble(start, "this is not a sealed value", help));
        }
        self.at += 1;
        Ok(Token::Sealed(Sealed {
            fingerprint: fingerprint.into(),
            content: content.into(),
        }))
    }

    fn quoted(&mut self) -> Result<Token<'p>, Reported> {
        let start = self.at;
        let mut text = String::new();
        let mut rest = self.text[start + 1..].char_indices();
        while let Some((at, character)) = rest.next() {
            match character {
                '"' => {
                    self.at = start + 1 + at + 1;
                    return Ok(Token::Quoted(text));
                }
                '\n' => break,
                '\\' => {
                    let escape = start + 1 + at;
                    self.at = escape;
                    let help = r#"`\"`, `\\`, `\n`, `\r`, `\t` and `\u{…}` are understood"#;
                    let meant = match rest.next() {
                        Some((_, '"')) => Some('"'),
                        Some((_, '\\')) => Some('\\'),
                        Some((_, 'n')) => Some('\n'),
                        Some((_, 'r')) => Some('\r'),
                        Some((_, 't')) => Some('\t'),
                        Some((_, 'u')) => code_point(&mut rest),
                        _ => None,
                    };
                    let Some(meant) = meant else {
                        self.trouble(escape, "there is no such escape", help);
                        self.at = start + 1;
                        return Err(Reported);
                    };
                    text.push(meant);
                }
                other => text.push(other),
            }
        }
        let help = "a text ends on its line; a line feed in it is written `\\n`";
        let reported = self.trouble(start, "this text has no closing quote", help);
        self.at = start + 1;
        Err(reported)
    }

    /// After a mistake, goes on with the next line.
    fn skip_command(&mut self) {
        let line = self.text[self.at..].find('\n');
        self.at = line.map_or(self.text.len(), |line| self.at + line);
    }

    fn word_at(&self, start: usize) -> &'p str {
        let rest = &self.text[start..];
        &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())]
    }

    /// The word that begins here, to point at.
    fn word(&self, start: usize) -> Span {
        let end = start + self.word_at(start).len();
        Span::new(self.start + start as u32, self.start + end as u32)
    }

    fn trouble(&mut self, start: usize, message: impl Into<String>, help: &str) -> Reported {
        let mut diagnostic = Diagnostic::error(SYNTAX, message).at(self.word(start));
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        self.troubles.push(diagnostic);
        Reported
    }

    fn unknown(&mut self, start: usize, fault: Fault) -> Reported {
        let diagnostic = Diagnostic::from(fault).at(self.word(start));
        self.troubles.push(diagnostic);
        Reported
    }
}

const VERBS: &str = "commands are `assert`, `retract`, `retract-under` and `apply`";

/// `{1f600}`.
fn code_point(rest: &mut std::str::CharIndices<'_>) -> Option<char> {
    let text = rest.as_str().strip_prefix('{')?;
    let digits = &text[..text.find('}')?];
    let number = u32::from_str_radix(digits, 16).ok()?;
    let character = char::from_u32(number)?;
    for _ in 0..digits.chars().count() + 2 {
        rest.next();
    }
    Some(character)
}
