//! `hence http run`, `prompt`: commands from a file, or as they are typed.

use clap::error::ErrorKind;
use clap::{Args, Parser};
use hence_closure::language::{self, Order, Placed};
use hence_model::diagnostic::similar;
use hence_model::source::Sources;

use super::{Http, Verb, change};
use crate::command::fleet::read;
use crate::console::Console;
use crate::{Exit, Stop};

/// Run commands from a file, one on each line; `commit` serves what is pending until then
#[derive(Args)]
pub struct Run {
    /// The file; `-` is standard input
    file: String,
}

impl Run {
    /// Runs them. A mistake anywhere in the file means that none of it is done.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let (sources, file): (Sources, _) = match read(console, &self.file) {
            Ok(given) => given,
            Err(exit) => return Ok(exit),
        };
        let orders = match language::parse(&sources, file, http.owner()) {
            Ok(orders) => orders,
            Err(troubles) => {
                console.show(&sources, &troubles);
                return Ok(Exit::Input);
            }
        };
        done(http, console, &orders)
    }
}

/// Does what orders say; `commit` serves what is pending until then.
fn done(http: &Http, console: &mut Console<'_>, orders: &[Placed]) -> Result<Exit, Stop> {
    for part in orders.split_inclusive(|placed| placed.order == Order::Commit) {
        let commits = part
            .last()
            .is_some_and(|placed| placed.order == Order::Commit);
        let said = &part[..part.len() - usize::from(commits)];
        if !said.is_empty() {
            change::add(http, console, said)?;
        }
        if commits {
            let exit = change::commit(http, console)?;
            if exit != Exit::Done {
                return Ok(exit);
            }
        }
    }
    Ok(Exit::Done)
}

/// Type commands, one on each line; `commit` serves what is pending until then, `help` names the others
#[derive(Args)]
pub struct Prompt {}

/// What can be typed besides what a script says.
const OTHERS: [&str; 17] = [
    "confirm", "diff", "discard", "help", "history", "plan", "recover", "repair", "rollback",
    "run", "show", "start", "status", "stop", "undo", "validate", "why",
];

/// Whether a line is a command as others are, and none of the language.
fn is_other(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["commit", more @ ..] => !more.is_empty(),
        ["apply", .., last] => *last != "{" && *last != "}",
        // A slip of the finger is told by whoever knows what is near.
        [first, ..] if !language::VERBS.contains(first) => {
            similar(first, language::VERBS).is_empty() && !similar(first, OTHERS).is_empty()
        }
        _ => false,
    }
}

/// Does what somebody typed.
fn typed(http: &Http, console: &mut Console<'_>, words: &[String]) -> Result<Exit, Stop> {
    match Typed::try_parse_from(words) {
        Ok(typed) => http.perform(&typed.verb, console),
        Err(error) => {
            console.words(&error.to_string());
            Ok(match error.kind() {
                ErrorKind::DisplayHelp => Exit::Done,
                _ => Exit::Input,
            })
        }
    }
}

/// A command as it is typed, without `hence http` before it.
#[derive(Parser)]
#[command(name = "hence http", no_binary_name = true, disable_help_flag = true)]
struct Typed {
    #[command(subcommand)]
    verb: Verb,
}

impl Prompt {
    /// Reads them until there are no more. A mistake is told, and the next line is read.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut exit = Exit::Done;
        let mut text = String::new();
        loop {
            if console.is_typed() {
                console.words(if text.is_empty() { "http> " } else { "    > " });
            }
            let mut line = String::new();
            if console.input().read_line(&mut line)? == 0 {
                return Ok(exit);
            }
            text.push_str(&line);
            // What an owner asserts goes on until its brace is closed.
            let opens = |line: &str| line.trim().starts_with("apply") && line.trim().ends_with('{');
            if text.lines().next().is_some_and(opens) && line.trim() != "}" {
                continue;
            }
            let mut sources = Sources::default();
            let Ok(file) = sources.add("typed", &std::mem::take(&mut text)) else {
                return Ok(Exit::Input);
            };
            let told = match language::words(&sources, file) {
                Ok(words) if matches!(words.first().map(String::as_str), Some("exit" | "quit")) => {
                    return Ok(exit);
                }
                Ok(words) if is_other(&words) => typed(http, console, &words),
                _ => match language::parse(&sources, file, http.owner()) {
                    Ok(orders) => done(http, console, &orders),
                    Err(troubles) => {
                        console.show(&sources, &troubles);
                        Ok(Exit::Input)
                    }
                },
            };
            exit = exit.max(match told {
                Ok(exit) => exit,
                Err(Stop::Refused(trouble)) => {
                    console.refuse(&trouble);
                    Exit::Input
                }
                Err(Stop::Failed(trouble)) => {
                    console.refuse(&trouble);
                    Exit::World
                }
                Err(Stop::Closed) => return Err(Stop::Closed),
            });
        }
    }
}
