//! `hence http run`: a script of commands.

use clap::Args;
use hence_closure::language::{self, Order};
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
}
