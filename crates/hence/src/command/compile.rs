//! `hence compile`: from sources to a configuration.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::print::json::Json;
use hence_model::print::yaml::Yaml;

use super::fleet::entity::WORDS;
use super::source::{Language, SourceOptions};
use super::{folder, nodes};
use crate::configuration::Configuration;
use crate::console::Console;
use crate::outside::Outside;
use crate::result::{replace, unwritable};
use crate::{Exit, Stop};

/// A folder is to be compiled, and nobody said where to.
pub const NEEDS_OUT: Code = Code::new("input.needs-out");
/// The result would overwrite its own source.
pub const OVERWRITES_SOURCE: Code = Code::new("output.overwrites-source");

/// The result cannot be signed.
pub const CANNOT_SIGN: Code = Code::new("output.cannot-sign");

/// Compile a file, or all files of a folder
#[derive(Args)]
pub struct Compile {
    /// The file, or the folder whose files are compiled; `-` for standard input
    #[arg(value_name = "FILE|DIR")]
    pub input: String,
    /// What to print
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Indent JSON; the other formats always are
    #[arg(long)]
    pretty: bool,
    /// Write to this file instead of standard output; for a folder, to this folder
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<String>,
    /// Sign the result with gpg, in clear
    #[arg(short = 'S', long)]
    sign: bool,
    /// The gpg user who signs
    #[arg(long, value_name = "USER", requires = "sign")]
    gpguser: Option<String>,
    #[command(flatten)]
    pub source: SourceOptions,
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
    /// A catalog as Puppet's agent takes it: `puppet apply --catalog` (Puppet)
    Catalog,
}

impl Compile {
    /// Compiles.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        if self.source.puppet.nodes.is_some() {
            return match &self.out {
                Some(out) => {
                    let file = self.source.named(console, &self.input)?;
                    nodes::compile(self, console, file, out)
                }
                None => {
                    let message = "the catalogs of many nodes are many files";
                    let diagnostic = Diagnostic::error(NEEDS_OUT, message)
                        .help("say where they go: `--out DIR`");
                    Err(Stop::Refused(Box::new(diagnostic)))
                }
            };
        }
        if !console.path(&self.input).is_dir() || self.source.is_puppet() {
            let file = self.source.named(console, &self.input)?;
            return self.file(console, file, self.out.as_deref());
        }
        match &self.out {
            Some(out) => folder::compile(self, console, out),
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

    fn file(&self, console: &mut Console<'_>, file: &str, out: Option<&str>) -> Result<Exit, Stop> {
        let outside = self.source.outside(console);
        self.source
            .compile_last(console, &outside, file, |console, compiled| {
                if !compiled.is_good() {
                    return Ok(outside.blame());
                }
                self.must_have_format(compiled)?;
                match (out, self.sign) {
                    (None, false) => self.print(compiled, console.data())?,
                    (None, true) => console
                        .data()
                        .write_all(&self.signed(compiled, &outside)?)?,
                    (Some(out), _) => {
                        let (source, result) = (console.path(file), console.path(out));
                        self.write(compiled, &outside, &source, &result, out)?;
                    }
                }
                Ok(Exit::Done)
            })
    }

    /// Writes a result to a file, which the user calls `name`.
    pub fn write(
        &self,
        compiled: &Configuration<'_>,
        outside: &Outside,
        source: &Path,
        result: &Path,
        name: &str,
    ) -> Result<(), Stop> {
        self.must_have_format(compiled)?;
        if is_same_file(result, source) {
            return Err(Stop::Refused(Box::new(overwrites_source(name))));
        }
        let written = match self.sign {
            false => replace(result, |writer| self.print(compiled, writer)),
            true => {
                let signed = self.signed(compiled, outside)?;
                replace(result, |writer| writer.write_all(&signed))
            }
        };
        written.map_err(|error| unwritable(name, &error))
    }

    /// Only what Puppet compiles is a catalog, and what is applied has nothing in it that only stands for something.
    fn must_have_format(&self, compiled: &Configuration<'_>) -> Result<(), Stop> {
        match (self.format, compiled) {
            (Format::Catalog | Format::Native, Configuration::Puppet(_))
                if self.source.puppet.without_erb =>
            {
                let message = "with `--without-erb` nothing comes out that could be applied";
                let trouble = Diagnostic::error(WORDS, message);
                let help = "`--format json` and `yaml` are there for looking at it";
                Err(Stop::Refused(Box::new(trouble.help(help))))
            }
            (Format::Catalog, Configuration::Puppet(_)) => Ok(()),
            (Format::Catalog, _) => {
                let message = "only a manifest of Puppet becomes a catalog";
                let trouble = Diagnostic::error(WORDS, message);
                let help = "`--format json`, `yaml` and `native` are there for every language";
                Err(Stop::Refused(Box::new(trouble.help(help))))
            }
            _ => Ok(()),
        }
    }

    fn signed(&self, compiled: &Configuration<'_>, outside: &Outside) -> Result<Vec<u8>, Stop> {
        let mut text = Vec::new();
        self.print(compiled, &mut text)?;
        let text = String::from_utf8(text).expect("every format is text");
        match outside.sign(&text, self.gpguser.as_deref()) {
            Ok(signed) => Ok(signed.into_bytes()),
            Err(why) => {
                let message = format!("the result cannot be signed: {why}");
                Err(Stop::Refused(Box::new(
                    Diagnostic::error(CANNOT_SIGN, message)
                        .help("name a user who has a secret key: `--gpguser name@example.org`")
                        .help(
                            "`gpg --list-secret-keys` shows them; `--gpghome` says where they are",
                        ),
                )))
            }
        }
    }

    /// What results are called.
    pub fn extension(&self, language: Language) -> &'static str {
        match (self.format, language) {
            (Format::Json | Format::Catalog, _) => "json",
            (Format::Yaml, _) => "yaml",
            (Format::Native, Language::SmartFrog) => "sf",
            (Format::Native, Language::Cf2) => "cf2",
            (Format::Native, Language::Puppet) => "pp",
        }
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
            Format::Catalog => {
                let mut json = match self.pretty {
                    true => Json::pretty(writer),
                    false => Json::compact(writer),
                };
                match compiled {
                    Configuration::Puppet(catalog) => catalog.send_whole(&mut json),
                    other => other.send(&mut json),
                }
                json.finish()?;
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
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
