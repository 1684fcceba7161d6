//! `hence xml`: transactions on XML files.

use std::path::Path;

use clap::{Args, Subcommand};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, ReadError, Sources, Span};
use hence_xml::command::{self, Command};
use hence_xml::file::{self, Machine, Replaced};
use hence_xml::path::{self, Path as Steps};
use hence_xml::transaction::{self, Nowhere};
use hence_xml::{File, difference, reduction, state, validity};
use serde::Serialize;

use super::fleet::{Format, many, print_json, read};
use crate::console::Console;
use crate::result::unwritable;
use crate::{Exit, Stop};

/// Somebody else has changed a file.
pub const MOVED: Code = Code::new("xml.moved");

/// Change an XML file by transactions, and look at it
#[derive(Args)]
pub struct Xml {
    /// The file
    file: String,
    /// The file that declares the document's type, instead of the one that the document names
    #[arg(long, value_name = "FILE", global = true)]
    dtd: Option<String>,
    /// How to answer
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "text",
        global = true
    )]
    format: Format,
    #[command(subcommand)]
    what: What,
}

#[derive(Args)]
struct Changing {
    /// Show what would change, and change nothing
    #[arg(long)]
    plan: bool,
    /// Let commands that find nothing do nothing
    #[arg(long)]
    nowhere: bool,
}

#[derive(Subcommand)]
enum What {
    /// Say what is in elements; at `/`, what the document is
    Assert {
        /// The elements, such as `/books/book[@isbn='1']`
        path: String,
        /// What is in them; without it, nothing
        content: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// Put a member into elements, instead of one with the same key
    Add {
        /// The elements
        path: String,
        /// What tells it from others: `book[@isbn='1']`, or `@isbn`
        key: String,
        /// The member
        content: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// Take members out of elements
    Subtract {
        /// The elements
        path: String,
        /// Which: `book[@isbn='1']`, or `book` for all of them
        key: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// Do the commands of a file as one transaction
    Run {
        /// The file: a line for each command; `-` for standard input
        script: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// Print elements
    Show {
        /// The elements
        path: String,
    },
    /// Say what is wrong with the file
    Check,
    /// Print the commands that make the document
    State,
}

#[derive(Serialize)]
struct Changed<'a> {
    file: &'a str,
    changed: bool,
    planned: bool,
    commands: usize,
    in_effect: usize,
    diff: String,
}

#[derive(Serialize)]
struct Shown<'a> {
    file: &'a str,
    path: String,
    elements: Vec<String>,
}

#[derive(Serialize)]
struct Checked<'a> {
    file: &'a str,
    valid: bool,
    declared: bool,
}

#[derive(Serialize)]
struct Stated<'a> {
    file: &'a str,
    commands: &'a str,
}

impl Xml {
    /// Does it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let script = match &self.what {
            What::Run { script, .. } => match read(console, script) {
                Ok((sources, file)) => {
                    let text = sources.slice(sources.span(file)).to_owned();
                    Some((sources.name(file).to_owned(), text))
                }
                Err(exit) => return Ok(exit),
            },
            _ => None,
        };
        let disk = console.disk(u64::from(u32::MAX));
        let mut file = match file::read(&disk, &self.file, self.dtd.as_deref()) {
            Ok(file) => file,
            Err(unread) => {
                console.show(&unread.sources, &unread.troubles);
                return Ok(disk.blame());
            }
        };
        match &self.what {
            What::Assert { changing, .. }
            | What::Add { changing, .. }
            | What::Subtract { changing, .. }
            | What::Run { changing, .. } => {
                let commands = match self.commands(&mut file.sources, script) {
                    Ok(commands) => commands,
                    Err(troubles) => {
                        console.show(&file.sources, &troubles);
                        return Ok(Exit::Input);
                    }
                };
                self.change(console, file, &commands, changing)
            }
            What::Show { path } => self.show(console, file, path),
            What::Check => self.check(console, &file),
            What::State => {
                let commands = state::commands(&file.sources, file.document, &file.dtd);
                match self.format {
                    Format::Text => console.data().write_all(commands.as_bytes())?,
                    Format::Json => print_json(
                        console,
                        &Stated {
                            file: &self.file,
                            commands: &commands,
                        },
                    )?,
                }
                Ok(Exit::Done)
            }
        }
    }

    /// The commands that were asked for: from a script, or from the arguments.
    fn commands(
        &self,
        sources: &mut Sources,
        script: Option<(String, String)>,
    ) -> Result<Vec<Command>, Vec<Diagnostic>> {
        if let Some((name, text)) = script {
            let file = added(sources, &name, &text)?;
            return command::parse(sources, file);
        }
        let one = match &self.what {
            What::Assert { path, content, .. } => {
                let path = steps(sources, path)?;
                let span = argument(sources, "CONTENT", content.as_deref().unwrap_or_default())?;
                command::parse_content(sources, span)
                    .and_then(|tree| Command::assert(sources, path, tree, span))
            }
            What::Add {
                path, key, content, ..
            } => {
                let path = steps(sources, path)?;
                let key = argument(sources, "KEY", key)?;
                let span = argument(sources, "CONTENT", content)?;
                path::parse_key(sources, key).and_then(|key| {
                    let tree = command::parse_content(sources, span)?;
                    Command::add(sources, path, key, tree, span)
                })
            }
            What::Subtract { path, key, .. } => {
                let path = steps(sources, path)?;
                let span = argument(sources, "KEY", key)?;
                path::parse_key(sources, span).and_then(|key| Command::subtract(path, key, span))
            }
            _ => return Ok(Vec::new()),
        };
        match one {
            Ok(command) => Ok(vec![command]),
            Err(trouble) => Err(vec![*trouble]),
        }
    }

    fn change(
        &self,
        console: &mut Console<'_>,
        mut file: File,
        commands: &[Command],
        changing: &Changing,
    ) -> Result<Exit, Stop> {
        let nowhere = match changing.nowhere {
            true => Nowhere::Allow,
            false => Nowhere::Refuse,
        };
        let old = file.document.span();
        let committed = transaction::commit(
            &mut file.sources,
            file.document,
            &file.dtd,
            commands,
            nowhere,
        );
        let written = match committed {
            Ok(written) => written,
            Err(troubles) => {
                console.show(&file.sources, &troubles);
                console.say(&format!("`{}` is as it was", self.file));
                return Ok(Exit::Input);
            }
        };
        let changes = difference::changes(&file.sources, old, &written);
        let (old, new) = (file.sources.slice(old), written.text.as_str());
        if !changing.plan && !changes.is_empty() {
            self.replace(console, old, new)?;
        }
        let header = format!("--- {0}\n+++ {0} (as it would be)\n", self.file);
        let unified = || match changes.is_empty() {
            true => String::new(),
            false => format!("{header}{}", difference::unified(old, new, &changes)),
        };
        if self.format == Format::Json {
            let in_effect = reduction::reduce(&file.sources, commands);
            let answer = Changed {
                file: &self.file,
                changed: !changes.is_empty(),
                planned: changing.plan,
                commands: commands.len(),
                in_effect: in_effect.map_or(0, |kept| kept.len()),
                diff: unified(),
            };
            print_json(console, &answer)?;
            return Ok(Exit::Done);
        }
        if changes.is_empty() {
            console.say(&format!("`{}` is so already", self.file));
        } else if changing.plan {
            console.data().write_all(unified().as_bytes())?;
        } else {
            let lines = many(difference::count(&changes), "line");
            console.say(&format!("`{}`: {lines} changed", self.file));
        }
        Ok(Exit::Done)
    }

    fn replace(&self, console: &Console<'_>, old: &str, new: &str) -> Result<(), Stop> {
        let failed = |error: std::io::Error| unwritable(&self.file, &error);
        let path = Machine::resolve(&console.path(&self.file)).map_err(failed)?;
        let path: &Path = &path;
        match file::replace(&Machine, path, old.as_bytes(), new.as_bytes()).map_err(failed)? {
            Replaced::Done => Ok(()),
            Replaced::Moved => {
                let message = format!("somebody else has just changed `{}`", self.file);
                let trouble = Diagnostic::error(MOVED, message);
                Err(Stop::Refused(Box::new(
                    trouble.help("nothing was written; run the same command again"),
                )))
            }
        }
    }

    fn show(&self, console: &mut Console<'_>, mut file: File, path: &str) -> Result<Exit, Stop> {
        let path = match steps(&mut file.sources, path) {
            Ok(path) => path,
            Err(troubles) => {
                console.show(&file.sources, &troubles);
                return Ok(Exit::Input);
            }
        };
        let elements = match transaction::show(&file.sources, file.document, &file.dtd, &path) {
            Ok(elements) => elements,
            Err(troubles) => {
                console.show(&file.sources, &troubles);
                return Ok(Exit::Input);
            }
        };
        match self.format {
            Format::Text => {
                for element in elements {
                    writeln!(console.data(), "{}", element.trim_end_matches('\n'))?;
                }
            }
            Format::Json => {
                let answer = Shown {
                    file: &self.file,
                    path: path.to_string(),
                    elements,
                };
                print_json(console, &answer)?;
            }
        }
        Ok(Exit::Done)
    }

    fn check(&self, console: &mut Console<'_>, file: &File) -> Result<Exit, Stop> {
        let troubles = validity::check(&file.sources, &file.document, &file.dtd);
        console.show(&file.sources, &troubles);
        let declared = file.dtd.constrains();
        if self.format == Format::Json {
            let answer = Checked {
                file: &self.file,
                valid: troubles.is_empty(),
                declared,
            };
            print_json(console, &answer)?;
        } else if troubles.is_empty() && !declared {
            console.say("it is well-formed; nothing declares its type");
        }
        Ok(match troubles.is_empty() {
            true => Exit::Done,
            false => Exit::Input,
        })
    }
}

fn added(sources: &mut Sources, name: &str, text: &str) -> Result<FileId, Vec<Diagnostic>> {
    let file = sources.add(name, text);
    file.map_err(|error: ReadError| {
        let message = format!("`{name}` cannot be read: {error}");
        vec![Diagnostic::error(hence_model::unit::UNREADABLE, message)]
    })
}

/// An argument, as a source in which mistakes have a place.
fn argument(sources: &mut Sources, name: &str, text: &str) -> Result<Span, Vec<Diagnostic>> {
    let file = added(sources, name, text)?;
    Ok(sources.span(file))
}

fn steps(sources: &mut Sources, path: &str) -> Result<Steps, Vec<Diagnostic>> {
    let span = argument(sources, "PATH", path)?;
    path::parse(sources, span).map_err(|trouble| vec![*trouble])
}
