//! A place as it was written, and what is meant by it.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Sources, Span};

use super::what_if::NOT_A_LITERAL;
use crate::Stop;
use crate::configuration::Configuration;
use crate::console::STANDARD_INPUT;

/// A place is not written as one.
pub const NOT_A_PLACE: Code = Code::new("impact.not-a-place");
/// The file of a place is not part of the compilation.
pub const NOT_INVOLVED: Code = Code::new("impact.not-involved");
/// Nothing is written in a place.
pub const NOTHING_THERE: Code = Code::new("impact.nothing-there");
/// It is not clear which literal is to be replaced.
pub const WHICH_LITERAL: Code = Code::new("impact.which-literal");

/// `FILE:LINE[:COLUMN]`
pub struct Place<'p> {
    written: &'p str,
    file: &'p str,
    line: u32,
    column: Option<u32>,
}

impl<'p> Place<'p> {
    /// Reads a place.
    pub fn read(written: &'p str) -> Result<Self, Stop> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        let parsed = written.rsplit_once(':').and_then(|(before, last)| {
            let last = number(last)?;
            match before.rsplit_once(':') {
                Some((file, line)) if number(line).is_some() => {
                    Some((file, number(line)?, Some(last)))
                }
                _ => Some((before, last, None)),
            }
        });
        match parsed.filter(|(file, ..)| !file.is_empty()) {
            Some((file, line, column)) => Ok(Self {
                written,
                file: if file == "-" { STANDARD_INPUT } else { file },
                line,
                column,
            }),
            None => {
                let message = format!("`{written}` is not a place");
                Err(refused(Diagnostic::error(NOT_A_PLACE, message).help(
                    "write it as `FILE:LINE` or `FILE:LINE:COLUMN`, counting from 1",
                )))
            }
        }
    }

    /// Its file among those that were compiled, however that is written.
    pub fn file(&self, directory: &std::path::Path, sources: &Sources) -> Option<FileId> {
        if let Some(file) = sources.named(self.file) {
            return Some(file);
        }
        let real = |name: &str| std::fs::canonicalize(directory.join(name)).ok();
        let wanted = real(self.file)?;
        let mut names = sources.files().map(|file| sources.name(file));
        let name = names.find(|name| real(name).as_ref() == Some(&wanted))?;
        sources.named(name)
    }

    /// The stretch that is meant: all that is written in the line, or what stands at the column.
    pub fn stretch(&self, compiled: &Configuration<'_>, file: FileId) -> Option<Span> {
        compiled.meant(file, self.line, self.column)
    }

    /// The stretch that can be replaced by another text: the one literal of the line, or what stands at the column.
    pub fn replaceable(
        &self,
        compiled: &mut Configuration<'_>,
        file: FileId,
    ) -> Result<Span, Replaceable> {
        let stretch = self.stretch(compiled, file);
        let stretch = stretch.ok_or(Replaceable::Nothing)?;
        let Some(column) = self.column else {
            let mut literals = compiled.literals(stretch);
            // A line of data means its value, and not its key.
            if [".yaml", ".yml", ".json"]
                .iter()
                .any(|end| self.file.ends_with(end))
            {
                let text = compiled.unit().sources.text();
                let behind = |literal: &Span| text[literal.end as usize..].trim_start();
                literals.retain(|literal| !behind(literal).starts_with(':'));
            }
            return only(literals, None);
        };
        if compiled.is_joint(file, self.line, column) {
            return Err(Replaceable::Joint(stretch));
        }
        let sources = &compiled.unit().sources;
        let at = sources.offset(file, self.line, column);
        let at = at.ok_or(Replaceable::Nothing)?;
        let line = sources.line(file, self.line).unwrap_or(stretch);
        let around = Span::new(line.start.min(stretch.start), line.end.max(stretch.end));
        let is_list = sources
            .slice(Span::new(at, stretch.end.max(at)))
            .starts_with('[');
        let literals = compiled.literals(around).into_iter();
        match literals.rev().find(|literal| literal.contains(at)) {
            Some(literal) => Ok(literal),
            // A column on a bracket means the whole list.
            None if is_list => Ok(Span::new(at, stretch.end)),
            // Of data, the stretch is the line, and nothing in it stands at the column.
            None if stretch == line => Err(Replaceable::None),
            None => only(compiled.literals(stretch), Some(stretch)),
        }
    }

    /// The file is not among those that were compiled.
    pub fn not_involved(&self, sources: &Sources) -> Stop {
        // Many nodes read files in any order.
        let mut names: Vec<&str> = sources.files().map(|file| sources.name(file)).collect();
        names.sort_unstable();
        names.truncate(10);
        let message = format!("`{}` is not part of this compilation", self.file);
        refused(
            Diagnostic::error(NOT_INVOLVED, message)
                .help(format!("these files are: {}", names.join(", "))),
        )
    }

    /// Nothing is written there.
    pub fn nothing_there(&self) -> Stop {
        let message = format!("nothing is written at {}", self.written);
        refused(
            Diagnostic::error(NOTHING_THERE, message)
                .help("name a line that exists, or a column on a value, a name or a reference"),
        )
    }

    /// Why nothing there can be replaced.
    pub fn not_replaceable(&self, sources: &Sources, why: &Replaceable) -> Stop {
        let literals = match why {
            Replaceable::Nothing => return self.nothing_there(),
            Replaceable::Joint(stretch) => {
                let text = sources.slice(*stretch).lines().next().unwrap_or("");
                let message = format!("what stands at {} is part of `{text}`", self.written);
                let diagnostic = Diagnostic::error(NOT_A_LITERAL, message);
                return refused(diagnostic.help("name a line or a column that has a literal"));
            }
            Replaceable::None => {
                let message = format!("there is no literal at {}", self.written);
                let diagnostic = Diagnostic::error(WHICH_LITERAL, message);
                return refused(diagnostic.help("name a line or a column that has one"));
            }
            Replaceable::Several(literals) => literals,
        };
        let count = literals.len();
        let message = format!(
            "there are {count} literals at {}: which one is to be replaced?",
            self.written
        );
        let mut diagnostic = Diagnostic::error(WHICH_LITERAL, message);
        for literal in literals.iter().take(10) {
            let place = sources.location(literal.start);
            let text = sources.slice(*literal).lines().next().unwrap_or("");
            diagnostic = diagnostic.help(format!("`{place}` is `{text}`"));
        }
        refused(diagnostic)
    }
}

/// Why nothing can be replaced in a place.
pub enum Replaceable {
    /// Nothing is written there.
    Nothing,
    /// No literal is.
    None,
    /// What holds together what is written in this stretch.
    Joint(Span),
    /// Several literals are.
    Several(Vec<Span>),
}

/// The only one; of none, what else there is.
fn only(literals: Vec<Span>, otherwise: Option<Span>) -> Result<Span, Replaceable> {
    match literals[..] {
        [literal] => Ok(literal),
        [] => otherwise.ok_or(Replaceable::None),
        _ => Err(Replaceable::Several(literals)),
    }
}

fn refused(diagnostic: Diagnostic) -> Stop {
    Stop::Refused(Box::new(diagnostic))
}
