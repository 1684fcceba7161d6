//! What every command that reads sources has in common: which language, what it means, how far to go.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::unit::Limits;
use hence_smartfrog::{Compiled, Options, ordering};

use crate::Stop;
use crate::console::Console;
use crate::disk::Disk;

/// The language of a file is not known.
pub const UNKNOWN_LANGUAGE: Code = Code::new("input.unknown-language");
/// There is nothing to compile in a folder.
pub const NO_SOURCES: Code = Code::new("input.no-sources");

/// How to read sources.
#[derive(Args, Clone, Debug)]
pub struct SourceOptions {
    /// The language; without it, the file's extension tells
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Option<Language>,
    /// What a SmartFrog specification means
    #[arg(long, value_enum, default_value = "core")]
    semantics: Semantics,
    /// Most bytes of source text, all files together
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().source)]
    max_source: u64,
    /// Most levels of nesting, written or computed
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::default().depth)]
    max_depth: u32,
    /// Most bytes of output, about
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().output)]
    max_output: u64,
    /// Warn of components that come out in another order than they are written in
    #[arg(long, value_enum, value_name = "LINT")]
    warn: Vec<Lint>,
    /// Refuse them
    #[arg(long, value_enum, value_name = "LINT")]
    deny: Vec<Lint>,
}

/// Something that may be meant, and may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Lint {
    /// The order of attributes is not the one written in a prototype
    Order,
}

/// A language that can be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// SmartFrog, `.sf`
    #[value(name = "sf")]
    SmartFrog,
}

/// What a SmartFrog specification means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Semantics {
    /// As the published semantics defines it
    Core,
    /// Links may look ahead
    Forward,
    /// As the production compiler does it, with its larger language
    Production,
}

impl SourceOptions {
    /// The options of the SmartFrog compiler.
    pub fn smartfrog(&self) -> Options {
        let semantics = match self.semantics {
            Semantics::Core => hence_smartfrog::Semantics::Core,
            Semantics::Forward => hence_smartfrog::Semantics::Forward,
            Semantics::Production => hence_smartfrog::Semantics::Production,
        };
        Options {
            semantics,
            limits: Limits {
                source: self.max_source,
                depth: self.max_depth,
                output: self.max_output,
            },
            order: match (self.deny.is_empty(), self.warn.is_empty()) {
                (false, _) => ordering::Lint::Deny,
                (true, false) => ordering::Lint::Warn,
                (true, true) => ordering::Lint::Allow,
            },
        }
    }

    /// The files that a compilation with these options may read.
    pub fn disk(&self, console: &Console<'_>) -> Disk {
        console.disk(self.max_source)
    }

    /// Compiles a file.
    pub fn compile(&self, disk: &Disk, file: &str) -> Result<Compiled, Stop> {
        match self.language(file)? {
            Language::SmartFrog => {
                let options = self.smartfrog();
                Ok(hence_smartfrog::compile_file(disk, file, &options))
            }
        }
    }

    /// The language of a file: as it was said, or by its extension.
    pub fn language(&self, file: &str) -> Result<Language, Stop> {
        if let Some(language) = self.lang {
            return Ok(language);
        }
        let extension = Path::new(file).extension().and_then(|e| e.to_str());
        match extension {
            Some("sf") => Ok(Language::SmartFrog),
            _ => Err(Stop::Refused(Box::new(unknown_language(file, extension)))),
        }
    }
}

fn unknown_language(file: &str, extension: Option<&str>) -> Diagnostic {
    let message = match extension {
        Some("cf2") => format!("`{file}` is CF2, which cannot be compiled yet"),
        Some("pp") => format!("`{file}` is Puppet, which cannot be compiled yet"),
        Some(extension) => format!("no language has files that end in `.{extension}`: `{file}`"),
        None => format!("the name of `{file}` does not tell its language"),
    };
    Diagnostic::error(UNKNOWN_LANGUAGE, message)
        .help("SmartFrog files end in `.sf`; `--lang sf` reads any file as SmartFrog")
}

/// The sources below a folder, sorted, as paths relative to it. What lies below `except` is left out.
pub fn sources_below(folder: &Path, except: Option<&Path>) -> Result<Vec<PathBuf>, Stop> {
    let except = except.and_then(|path| fs::canonicalize(path).ok());
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let whole = folder.join(&inner);
        if except.is_some() && fs::canonicalize(&whole).ok() == except {
            continue;
        }
        let entries =
            fs::read_dir(&whole).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        for entry in entries.map_err(|error| unreadable(&whole, &error))? {
            let path = inner.join(entry.file_name());
            // Links to folders are not followed: they may lead in a circle.
            let kind = entry
                .file_type()
                .map_err(|error| unreadable(&whole, &error))?;
            if kind.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "sf") {
                found.push(path);
            }
        }
    }
    found.sort();
    if found.is_empty() {
        let message = format!("there is no `.sf` file below `{}`", folder.display());
        return Err(Stop::Refused(Box::new(
            Diagnostic::error(NO_SOURCES, message)
                .help("name the folder that holds the specifications, or one file"),
        )));
    }
    Ok(found)
}

fn unreadable(folder: &Path, error: &std::io::Error) -> Stop {
    let message = format!("the folder `{}` cannot be read: {error}", folder.display());
    let diagnostic = Box::new(Diagnostic::error(hence_model::unit::UNREADABLE, message));
    match error.kind() {
        std::io::ErrorKind::NotFound => Stop::Refused(diagnostic),
        _ => Stop::Failed(diagnostic),
    }
}
