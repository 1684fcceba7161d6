//! What one compilation works on: its sources, their names and literals, and what is wrong with them.

use crate::cell::Literals;
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
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: 1 << 30,
            depth: 10_000,
            output: 4 << 30,
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
                let diagnostic = Diagnostic::error(NOT_UTF8, message).help(
                    "save the file as UTF-8; `iconv -f latin1 -t utf-8` converts from Latin 1",
                );
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
