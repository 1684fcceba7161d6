//! What one compilation works on: its sources, their names and literals, and what is wrong with them.

use crate::cell::{Cell, Literals};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Files, ReadError, Sources, Span};
use crate::symbol::Symbols;

/// A source cannot be read.
pub const UNREADABLE: Code = Code::new("source.unreadable");
/// A source is not UTF-8.
pub const NOT_UTF8: Code = Code::new("source.not-utf8");
/// The sources are larger than allowed.
pub const TOO_LARGE: Code = Code::new("source.too-large");
/// Blocks or values are nested deeper than allowed.
pub const TOO_DEEP: Code = Code::new("limit.depth");
/// The result would be larger than allowed.
pub const OUTPUT_TOO_LARGE: Code = Code::new("limit.output");

/// A value that is computed is too large, or all of them are.
pub const TOO_LARGE_VALUE: Code = Code::new("limit.value");

/// A value that is computed has at most so many bytes.
pub const LARGEST_VALUE: u64 = 64 << 20;
/// What one value is computed from has at most so many.
const OPERANDS: u64 = 256 << 20;
/// What all values are computed from has at most so many: some seconds of work.
const WORK: u64 = 16 << 30;
/// All texts that are computed have at most so many together.
const MADE: u64 = 2 << 30;

/// So much is wrong that the rest is not shown.
pub const TOO_MANY: Code = Code::new("limit.mistakes");

/// So many mistakes are shown.
const ENOUGH: usize = 100;

/// How far a compilation may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of source text, all files together.
    pub source: u64,
    /// Levels of nesting, written or computed.
    pub depth: u32,
    /// Bytes of output, about.
    pub output: u64,
    /// Steps of evaluation.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: 1 << 30,
            depth: 10_000,
            output: 4 << 30,
            steps: 1 << 28,
        }
    }
}

/// One compilation.
#[derive(Clone, Default)]
pub struct Unit {
    /// The texts.
    pub sources: Sources,
    /// The names in them.
    pub symbols: Symbols,
    /// The literals in them.
    pub literals: Literals,
    /// What is wrong, in the order in which it was found.
    pub diagnostics: Vec<Diagnostic>,
    /// How far it may go.
    pub limits: Limits,
    /// The JSON file that sources can import as `facts`.
    pub facts: Option<String>,
    /// How many bytes values were computed from.
    pub work: u64,
}

impl Unit {
    /// A compilation that keeps to `limits`.
    pub fn with_limits(limits: Limits) -> Self {
        Self {
            sources: Sources::with_limit(limits.source),
            limits,
            ..Self::default()
        }
    }

    /// A value is to be computed from operands of so many bytes; or there is too much of them, and why.
    pub fn compute_from(&mut self, bytes: u64) -> Result<(), String> {
        self.work = self.work.saturating_add(bytes);
        if bytes > OPERANDS {
            return Err(format!(
                "one value would be computed from more than {OPERANDS} bytes"
            ));
        }
        if self.work > WORK {
            return Err(format!(
                "values would be computed from more than {WORK} bytes"
            ));
        }
        Ok(())
    }

    /// Whether a value of so many bytes can be made; or why not.
    pub fn room_for(&self, bytes: u64) -> Result<(), String> {
        if bytes > LARGEST_VALUE {
            return Err(format!(
                "this value would have more than {LARGEST_VALUE} bytes"
            ));
        }
        if self.literals.made_bytes() + bytes > MADE {
            return Err(format!(
                "all values together would have more than {MADE} bytes"
            ));
        }
        Ok(())
    }

    /// Keeps a text that was computed, unless it is too large.
    pub fn made_text(&mut self, text: &str) -> Result<Cell, String> {
        self.room_for(text.len() as u64)?;
        Ok(self.literals.made_text(text))
    }

    /// Reads the file that everything starts with.
    pub fn load(&mut self, files: &dyn Files, name: &str) -> Result<FileId, Box<Diagnostic>> {
        let read = self.sources.load(files, name);
        read.map_err(|error| Box::new(self.unreadable(name, error)))
    }

    /// The diagnostic for a source that cannot be read.
    pub fn unreadable(&mut self, name: &str, error: ReadError) -> Diagnostic {
        match error {
            ReadError::NotUtf8 { valid, text } => {
                let message = format!("`{name}` is not UTF-8 text: byte {valid} cannot be read");
                // UTF-16 begins with a mark that UTF-8 cannot have.
                let help = match valid {
                    0 => {
                        "save the file as UTF-8; `iconv -f utf-16 -t utf-8` converts from UTF-16, \
                         `-f latin1` from Latin 1"
                    }
                    _ => "save the file as UTF-8; `iconv -f latin1 -t utf-8` converts from Latin 1",
                };
                let diagnostic = Diagnostic::error(NOT_UTF8, message).help(help);
                match self.sources.add(name, &text) {
                    Ok(file) => {
                        let end = self.sources.span(file).end;
                        diagnostic.label(Span::at(end), "good up to here")
                    }
                    Err(_) => diagnostic,
                }
            }
            ReadError::TooLarge(limit) => {
                let message = format!("the sources are larger than {limit} bytes with `{name}`");
                Diagnostic::error(TOO_LARGE, message).help("allow more with `--max-source`")
            }
            ReadError::Missing => {
                Diagnostic::error(UNREADABLE, format!("there is no file `{name}`"))
            }
            ReadError::Directory => {
                Diagnostic::error(UNREADABLE, format!("`{name}` is a directory, not a file"))
            }
            ReadError::Refused(why) => {
                Diagnostic::error(UNREADABLE, format!("`{name}` cannot be read: {why}"))
            }
        }
    }

    /// Takes note of trouble, unless there is so much of it already that nobody reads on.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let place = diagnostic.labels.first().map(|label| label.span);
        if !self.has_enough(place) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether there is so much trouble that more of it is not shown: this is said once, at the place
    /// where the rest begins.
    pub fn has_enough(&mut self, place: Option<Span>) -> bool {
        if self.diagnostics.len() < ENOUGH {
            return false;
        }
        if self.diagnostics.last().map(|last| last.code) != Some(TOO_MANY) {
            self.diagnostics.truncate(ENOUGH);
            let message = format!("there are more than {ENOUGH} mistakes");
            let last = Diagnostic::error(TOO_MANY, message);
            self.diagnostics.push(match place {
                Some(place) => last.label(place, "those from here on are not shown"),
                None => last,
            });
        }
        true
    }

    /// Whether there is an error among the diagnostics.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
