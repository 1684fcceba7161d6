//! `#include`: other files in the place of the directive.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, ReadError, Span};

use crate::facts::{self, FACTS};
use crate::lexer::{Dialect, Lexer, Token};
use crate::parser::{Handler, Open, Parser};
use crate::production;

/// An included file cannot be read.
pub const INCLUDE_UNREADABLE: Code = Code::new("sf.include-unreadable");
/// A file includes itself, directly or not.
pub const RECURSIVE_INCLUDE: Code = Code::new("sf.recursive-include");

impl<H: Handler> Parser<'_, H> {
    /// Reads the directive, and goes on in the file.
    pub(crate) fn include(&mut self) {
        let optional = self.token == Token::IncludeIfThere;
        if optional && !self.is_production() {
            self.production_only("`#include?`");
        }
        let directive = self.span;
        self.advance();
        let Token::Text { .. } = self.token else {
            self.expected("the name of a file in quotes");
            self.advise("a file is included by `#include \"name.sf\"`");
            return self.recover();
        };
        let span = directive.to(self.span);
        let Ok(name) = self.string() else {
            return self.recover();
        };
        if let (FACTS, Some(facts)) = (name.as_str(), self.unit.facts.clone()) {
            return self.include_facts(&facts, span);
        }
        match self.load(&name) {
            Ok(file) if file == self.file() || self.chain().any(|around| around == file) => {
                let diagnostic = self.recursion(file, span);
                self.unit.report(diagnostic);
                self.advance();
                self.optional_semicolon();
            }
            Ok(file) => {
                // What follows the directive is read when the file has ended.
                let resume = self.lexer;
                self.open.push(Open::File { resume });
                let text = self.unit.sources.span(file);
                self.lexer = Lexer {
                    position: text.start,
                    end: text.end,
                    ..resume
                };
                self.handler.include(self.unit, file, span);
                self.advance();
            }
            Err((_, ReadError::Missing)) if optional => {
                self.advance();
                self.optional_semicolon();
            }
            Err((name, error)) => {
                let is_facts = name == beside(self.unit.sources.name(self.file()), FACTS);
                let help = if is_facts {
                    "facts are given with `--facts FILE.json`"
                } else if self.is_production() {
                    "names are relative to the including file, or to a folder around it"
                } else {
                    "names are relative to the including file"
                };
                self.unreadable(&name, error, span, help);
                self.advance();
                self.optional_semicolon();
            }
        }
    }

    fn unreadable(&mut self, name: &str, error: ReadError, span: Span, help: &str) {
        let detail = self.unit.unreadable(name, error);
        let mut diagnostic = Diagnostic::error(INCLUDE_UNREADABLE, detail.message).at(span);
        diagnostic.labels.extend(detail.labels);
        diagnostic.help = detail.help;
        diagnostic.help.push(help.into());
        self.unit.report(diagnostic);
        self.handler.unread_include();
    }

    /// Takes what only the machine knows for what is written here.
    fn include_facts(&mut self, name: &str, span: Span) {
        let file = match self.unit.sources.named(name) {
            Some(file) => Ok(file),
            None => self.unit.sources.load(self.files, name),
        };
        match file {
            Ok(file) => {
                self.handler.include(self.unit, file, span);
                if let Err(diagnostic) = facts::include(self.unit, file, self.handler) {
                    self.unit.report(*diagnostic);
                }
                self.handler.end_include(self.unit);
            }
            Err(error) => {
                let help = "facts are given with `--facts FILE.json`";
                self.unreadable(name, error, span, help);
            }
        }
        self.advance();
        self.optional_semicolon();
    }

    /// The file that is being read.
    pub(crate) fn file(&self) -> FileId {
        self.unit.sources.file_at(self.lexer.end)
    }

    /// Reads a file that the present one includes, once; or says which file could not be read.
    fn load(&mut self, name: &str) -> Result<FileId, (String, ReadError)> {
        let includer = self.unit.sources.name(self.file()).to_owned();
        for place in places(&includer, name, self.lexer.dialect) {
            if let Some(file) = self.unit.sources.named(&place) {
                return Ok(file);
            }
            match self.unit.sources.load(self.files, &place) {
                Err(ReadError::Missing) => {}
                Err(error) => return Err((place, error)),
                Ok(file) => return Ok(file),
            }
        }
        let library = self.is_production().then(|| production::library(name));
        match library.flatten() {
            Some((name, text)) => match self.unit.sources.named(name) {
                Some(file) => Ok(file),
                None => {
                    let added = self.unit.sources.add(name, text);
                    added.map_err(|error| (name.to_owned(), error))
                }
            },
            None => Err((beside(&includer, name), ReadError::Missing)),
        }
    }

    /// The files that include the one being read, innermost first.
    pub(crate) fn chain(&self) -> impl Iterator<Item = FileId> + '_ {
        self.open
            .iter()
            .rev()
            .filter_map(|open| match open {
                Open::File { resume } => Some(self.unit.sources.file_at(resume.end)),
                Open::Body(_) => None,
            })
            .chain(self.around.iter().rev().copied())
    }

    fn recursion(&self, file: FileId, span: Span) -> Diagnostic {
        let name = self.unit.sources.name(file);
        let mut chain = vec![name.to_owned()];
        for includer in std::iter::once(self.file()).chain(self.chain()) {
            chain.push(self.unit.sources.name(includer).to_owned());
            if includer == file {
                break;
            }
        }
        chain.reverse();
        let message = format!("`{name}` includes itself");
        Diagnostic::error(RECURSIVE_INCLUDE, message)
            .at(span)
            .help(format!("the chain is {}", chain.join(" → ")))
    }
}

/// Where a file is searched that another one includes, in order.
pub(crate) fn places(includer: &str, name: &str, dialect: Dialect) -> Vec<String> {
    let mut places = vec![beside(includer, name)];
    if dialect == Dialect::Production {
        places.extend(around(includer, name));
    }
    places
}

/// The name of a file that another one includes: relative to that.
fn beside(includer: &str, name: &str) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    let folder = includer.rfind('/').map_or("", |slash| &includer[..=slash]);
    let mut parts: Vec<&str> = Vec::new();
    let joined = format!("{folder}{name}");
    for part in joined.split('/') {
        match part {
            "." => {}
            ".." if parts
                .last()
                .is_some_and(|&last| last != ".." && !last.is_empty()) =>
            {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Where else the production compiler finds a file: below each folder around the including one, as names
/// are those of a class path that begins in one of them.
fn around(includer: &str, name: &str) -> Vec<String> {
    let name = name.trim_start_matches('/');
    let mut places = Vec::new();
    let mut folder = includer;
    while let Some(slash) = folder.rfind('/') {
        folder = &folder[..slash];
        places.push(format!("{folder}/{name}"));
    }
    places.push(name.to_owned());
    places
}
