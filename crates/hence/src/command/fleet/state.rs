//! `hence state`, `dump`, `load`: all that is asserted, in the language of commands.

use clap::Args;
use hence_ledger::{Command, Key, Keys, parser};
use hence_model::diagnostic::Diagnostic;
use hence_model::legible;
use hence_store::Redb;

use super::{At, Changing, Format, Ledger, commands, print_json, shown, stop};
use crate::console::Console;
use crate::result::{replace, unwritable};
use crate::{Exit, Stop};

/// Print all that is asserted, as commands that assert it again
#[derive(Args)]
pub struct State {
    /// Only keys under this one
    under: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

#[derive(serde::Serialize)]
struct Held<'a> {
    key: &'a str,
    owner: &'a str,
    value: Option<String>,
    since: u64,
}

impl State {
    /// Prints it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let under = self.under.as_deref().map(super::key).transpose()?;
        let service = self.ledger.open(console)?;
        let at = self.at.version(console, &service)?;
        let past = at.map(|version| service.repository().state_at(version));
        let past = past.transpose().map_err(|refused| stop(console, refused))?;
        let mut state = past.unwrap_or_else(|| service.state().clone());
        if let Some(under) = under {
            let gone = state.iter().filter(|(key, _)| !key.is_under(&under));
            let gone: Vec<_> = gone.map(|(key, _)| key.clone()).collect();
            for key in gone {
                let retract = Command::Retract(Keys::Only(key));
                state.perform(&retract, 0, &hence_fleet::Words);
            }
        }
        match self.format {
            Format::Text => write!(console.data(), "{state}")?,
            Format::Json => {
                let held: Vec<Held<'_>> = state
                    .iter()
                    .map(|(key, assertion)| Held {
                        key: key.as_str(),
                        owner: &assertion.owner,
                        value: shown(&assertion.value),
                        since: assertion.since,
                    })
                    .collect();
                print_json(console, &held)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Write all that is asserted into a file
#[derive(Args)]
pub struct Dump {
    /// The file; without it, standard output
    file: Option<String>,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

impl Dump {
    /// Writes it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let service = self.ledger.open(console)?;
        let version = self.at.version(console, &service)?;
        let version = version.unwrap_or(service.repository().version());
        let state = service.repository().state_at(version);
        let state = state.map_err(|refused| stop(console, refused))?;
        let text = format!("format {}\n{state}", parser::FORMAT);
        match &self.file {
            None => write!(console.data(), "{text}")?,
            Some(file) => {
                let path = console.path(file);
                let written = replace(&path, |writer| writer.write_all(text.as_bytes()));
                written.map_err(|error| unwritable(file, &error))?;
                console.say(&format!(
                    "version {version} is in {file}; `hence load {file}` restores it"
                ));
            }
        }
        Ok(Exit::Done)
    }
}

/// Make what is asserted what a file says, and nothing else
#[derive(Args)]
pub struct Load {
    /// A file that `hence dump` wrote; `-` for standard input
    file: String,
    #[command(flatten)]
    changing: Changing,
}

impl Load {
    /// Loads it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut leave = self.changing.leave()?;
        let (sources, script) = match commands(console, &self.file, self.changing.owner()) {
            Ok(read) => read,
            Err(exit) => return Ok(exit),
        };
        if !script.says_format {
            return Err(Stop::Refused(Box::new(
                self.no_dump(script.commands.is_empty()),
            )));
        }
        let mut service = self.changing.ledger.make(console)?;
        // Whoever loads a dump means all of it, whoever asserted what is there now.
        let words = hence_fleet::Kind::ALL.map(hence_fleet::Kind::word);
        let tops = words.into_iter().chain(["right"]);
        let tops: Vec<Key> = tops.map(|word| Key::new([word])).collect();
        let retract = |top: &Key| Command::Retract(Keys::Under(top.clone()));
        let mut all: Vec<Command> = tops.iter().map(retract).collect();
        all.extend(script.commands);
        leave.take.extend(tops);
        let request = self
            .changing
            .request(console, format!("load {}", self.file));
        // It was asserted once, so what is wrong with it, or dormant, is so again.
        let result = service.import(&request, &all, &leave);
        let changing = &self.changing;
        match result {
            Ok(_) => changing.tell_all(console, result),
            Err(refused) => changing.tell_at(console, Err(refused), &sources, &script.places),
        }
    }
}

impl Load {
    /// A file that does not say that it is a dump must not replace everything: an empty one was lost on the way, and commands
    /// are meant to be done.
    fn no_dump(&self, is_empty: bool) -> Diagnostic {
        let file = legible::word(&self.file);
        if is_empty {
            let message = format!("`{}` is no dump: it is empty", self.file);
            let help = "a dump begins with `format 1`, also if nothing is asserted in it";
            return Diagnostic::error(parser::SYNTAX, message).help(help);
        }
        let message = format!("`{}` is no dump: a dump begins with `format 1`", self.file);
        Diagnostic::error(parser::SYNTAX, message)
            .help(format!(
                "`hence apply {file}` does its commands, and leaves all else as it is"
            ))
            .help("if nothing else is to be asserted any more, write `format 1` above them")
    }
}

/// Copy the whole ledger, with its history, while others may go on; one that is served, through its server
#[derive(Args)]
pub struct Backup {
    /// The directory that becomes the copy; it must not be there yet
    to: String,
    #[command(flatten)]
    ledger: Ledger,
}

impl Backup {
    /// Copies it; the key of its secrets is no part of it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let to = console.path(&self.to);
        if to.exists() {
            let message = format!("`{}` is there already", self.to);
            let trouble = Diagnostic::error(hence_store::FAILED, message);
            return Err(Stop::Refused(Box::new(
                trouble.help("name a directory that does not exist"),
            )));
        }
        let done = match self.ledger.is_served(console) {
            true => {
                let served = self.ledger.open(console)?;
                let from = served.repository().store();
                let copied = Redb::backup_of(from, &to, &mut |version, newest| {
                    console.progress(&format!("version {version} of {newest}"));
                });
                console.end_progress();
                copied
            }
            false => self.ledger.store(console)?.backup(&to),
        };
        done.map_err(|mut error| {
            error.message = error.message.replace(&to.display().to_string(), &self.to);
            Stop::Failed(Box::new(error.into()))
        })?;
        let to = &self.to;
        console.say(&format!(
            "the ledger is copied to {to}; `--data {to}` reads it"
        ));
        Ok(Exit::Done)
    }
}
