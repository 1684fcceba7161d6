//! `hence http run`, `prompt`: commands from a file, or as they are typed.

use clap::Args;
use hence_closure::language::{self, Order, Placed};
use hence_model::source::Sources;

use super::{Http, change};
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

/// Type commands, one on each line; `commit` serves what is pending until then
#[derive(Args)]
pub struct Prompt {}

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
            let is_open = text.trim_start().starts_with("apply") && line.trim() != "}";
            if is_open {
                continue;
            }
            let mut sources = Sources::default();
            let Ok(file) = sources.add("typed", &std::mem::take(&mut text)) else {
                return Ok(Exit::Input);
            };
            let told = match language::parse(&sources, file, http.owner()) {
                Ok(orders) => done(http, console, &orders),
                Err(troubles) => {
                    console.show(&sources, &troubles);
                    Ok(Exit::Input)
                }
            };
            exit = exit.max(match told {
                Ok(exit) => exit,
                Err(Stop::Refused(trouble)) => {
                    console.refuse(&trouble);
                    Exit::Input
                }
                Err(other) => return Err(other),
            });
        }
    }
}
