//! `hence compile`: from sources to a configuration.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::print::json::Json;
use hence_model::print::yaml::Yaml;

use super::source::{SourceOptions, join, sources_below};
use crate::configuration::Configuration;
use crate::console::Console;
use crate::disk::{replace, unwritable};
use crate::{Exit, Stop};

/// A folder is to be compiled, and nobody said where to.
pub const NEEDS_OUT: Code = Code::new("input.needs-out");
/// The result would overwrite its own source.
pub const OVERWRITES_SOURCE: Code = Code::new("output.overwrites-source");

/// Compile a file, or all files of a folder
#[derive(Args)]
pub struct Compile {
    /// The file, or the folder whose files are compiled
    #[arg(value_name = "FILE|DIR")]
    input: String,
    /// What to print
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Indent JSON; the other formats always are
    #[arg(long)]
    pretty: bool,
    /// Write to this file instead of standard output; for a folder, to this folder
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<String>,
    #[command(flatten)]
    source: SourceOptions,
}

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON, keys in configuration order
    Json,
    /// YAML
    Yaml,
    /// The language of the source: what is printed compiles to the same configuration
    Native,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Yaml => "yaml",
            Format::Native => "sf",
        }
    }
}

impl Compile {
    /// Compiles.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        if !console.path(&self.input).is_dir() {
            return self.file(console, &self.input, self.out.as_deref());
        }
        match &self.out {
            Some(out) => self.folder(console, out),
            None => Err(Stop::Refused(Box::new(self.needs_out()))),
        }
    }

    fn needs_out(&self) -> Diagnostic {
        let folder = &self.input;
        Diagnostic::error(NEEDS_OUT, format!("`{folder}` is a folder"))
            .help(format!(
                "say where its results go: `hence compile {folder} --out DIR`"
            ))
            .help(format!("to look for mistakes only: `hence check {folder}`"))
    }

    /// Compiles all files of a folder; one that fails does not stop the others.
    fn folder(&self, console: &mut Console<'_>, out: &str) -> Result<Exit, Stop> {
        let files = sources_below(console, &self.input, Some(out))?;
        let mut worst = Exit::Done;
        for (number, file) in files.iter().enumerate() {
            console.progress(&format!("{} of {}: {file}", number + 1, files.len()));
            let input = join(&self.input, file);
            let output = Path::new(out).join(file);
            let output = output.with_extension(self.format.extension());
            let folder = output.parent().unwrap_or(Path::new(out)).to_string_lossy();
            fs::create_dir_all(console.path(&folder)).map_err(|e| unwritable(&folder, &e))?;
            let exit = self.file(console, &input, Some(&output.to_string_lossy()))?;
            worst = worst.max(exit);
        }
        console.end_progress();
        Ok(worst)
    }

    fn file(&self, console: &mut Console<'_>, file: &str, out: Option<&str>) -> Result<Exit, Stop> {
        let outside = self.source.outside(console);
        let compiled = self.source.compile(console, &outside, file)?;
        if !compiled.is_good() {
            return Ok(outside.blame());
        }
        match out {
            None => self.print(&compiled, console.data())?,
            Some(out) => {
                let path = console.path(out);
                if is_same_file(&path, &console.path(file)) {
                    return Err(Stop::Refused(Box::new(overwrites_source(out))));
                }
                replace(&path, |writer| self.print(&compiled, writer))
                    .map_err(|error| unwritable(out, &error))?;
            }
        }
        Ok(Exit::Done)
    }

    fn print(&self, compiled: &Configuration<'_>, writer: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Json => {
                let mut json = match self.pretty {
                    true => Json::pretty(writer),
                    false => Json::compact(writer),
                };
                compiled.send(&mut json);
                json.finish()?;
            }
            Format::Yaml => {
                let mut yaml = Yaml::new(writer);
                compiled.send(&mut yaml);
                yaml.finish()?;
            }
            Format::Native => compiled.print_native(writer)?,
        }
        Ok(())
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn overwrites_source(out: &str) -> Diagnostic {
    let message = format!("`{out}` is the source itself, and would be overwritten");
    Diagnostic::error(OVERWRITES_SOURCE, message).help("choose another name with `--out`")
}
