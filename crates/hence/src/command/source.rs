//! What every command that reads sources has in common: which language, what it means, how far to go.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::unit::Limits;
use hence_smartfrog::{Options, ordering};

use crate::Stop;
use crate::configuration::Configuration;
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
    /// CF2, `.cf2`
    Cf2,
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
            limits: self.limits(),
            order: match (self.deny.is_empty(), self.warn.is_empty()) {
                (false, _) => ordering::Lint::Deny,
                (true, false) => ordering::Lint::Warn,
                (true, true) => ordering::Lint::Allow,
            },
        }
    }

    /// The options of the CF2 compiler.
    pub fn cf2(&self) -> hence_cf2::Options {
        hence_cf2::Options {
            limits: self.limits(),
            ..hence_cf2::Options::default()
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            source: self.max_source,
            depth: self.max_depth,
            output: self.max_output,
        }
    }

    /// The files that a compilation with these options may read.
    pub fn disk(&self, console: &Console<'_>) -> Disk {
        console.disk(self.max_source)
    }

    /// Compiles a file.
    pub fn compile<'w>(&self, disk: &'w Disk, file: &str) -> Result<Configuration<'w>, Stop> {
        Ok(match self.language(file)? {
            Language::SmartFrog => {
                let options = self.smartfrog();
                let compiled = hence_smartfrog::compile_file(disk, file, &options);
                Configuration::SmartFrog(Box::new(compiled))
            }
            Language::Cf2 => {
                let options = self.cf2();
                let compiled = hence_cf2::compile_file(disk, file, &options);
                Configuration::Cf2(Box::new(compiled))
            }
        })
    }

    /// The language of a file: as it was said, or by its extension.
    pub fn language(&self, file: &str) -> Result<Language, Stop> {
        if let Some(language) = self.lang {
            return Ok(language);
        }
        let extension = Path::new(file).extension().and_then(|e| e.to_str());
        match extension {
            Some("sf") => Ok(Language::SmartFrog),
            Some("cf2") => Ok(Language::Cf2),
            _ => Err(Stop::Refused(Box::new(unknown_language(file, extension)))),
        }
    }
}

fn unknown_language(file: &str, extension: Option<&str>) -> Diagnostic {
    let message = match extension {
        Some("pp") => format!("`{file}` is Puppet, which cannot be compiled yet"),
        Some(extension) => format!("no language has files that end in `.{extension}`: `{file}`"),
        None => format!("the name of `{file}` does not tell its language"),
    };
    Diagnostic::error(UNKNOWN_LANGUAGE, message)
        .help("SmartFrog files end in `.sf`, CF2 files in `.cf2`")
        .help("`--lang sf` and `--lang cf2` read any file as that")
}

/// The sources below a folder, sorted, as names relative to it. What lies in `except`, a folder
/// below it, is left out.
pub fn sources_below(
    console: &Console<'_>,
    folder: &str,
    except: Option<&str>,
) -> Result<Vec<String>, Stop> {
    let except = except.and_then(|except| fs::canonicalize(console.path(except)).ok());
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(inner) = folders.pop() {
        let name = join(folder, &inner);
        let path = console.path(&name);
        if !inner.is_empty() && except.is_some() && fs::canonicalize(&path).ok() == except {
            continue;
        }
        for (entry, kind) in entries(&path).map_err(|error| unreadable(&name, &error))? {
            let entry = join(&inner, &entry);
            // Links to folders are not followed: they may lead in a circle.
            if kind.is_dir() {
                folders.push(entry);
            } else if entry.ends_with(".sf") || entry.ends_with(".cf2") {
                found.push(entry);
            }
        }
    }
    found.sort();
    if found.is_empty() {
        let message = format!("there is no `.sf` or `.cf2` file below `{folder}`");
        return Err(Stop::Refused(Box::new(
            Diagnostic::error(NO_SOURCES, message)
                .help("name the folder that holds the specifications, or one file"),
        )));
    }
    Ok(found)
}

/// The names in a folder. One that is not UTF-8 is no source: no source could include it.
fn entries(folder: &Path) -> io::Result<Vec<(String, fs::FileType)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, entry.file_type()?));
        }
    }
    Ok(entries)
}

/// The name of a file in a folder.
pub fn join(folder: &str, file: &str) -> String {
    match folder {
        "" => file.to_owned(),
        folder if file.is_empty() => folder.to_owned(),
        folder => format!("{}/{file}", folder.trim_end_matches('/')),
    }
}

fn unreadable(folder: &str, error: &io::Error) -> Stop {
    let message = format!("the folder `{folder}` cannot be read: {error}");
    let diagnostic = Box::new(Diagnostic::error(hence_model::unit::UNREADABLE, message));
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Stop::Refused(diagnostic),
        _ => Stop::Failed(diagnostic),
    }
}
