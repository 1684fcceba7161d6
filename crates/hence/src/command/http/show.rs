//! `hence http show`, `history`, `diff`: what is promised, and what was.

use std::collections::BTreeMap;

use clap::Args;
use hence_closure::language;
use hence_closure::site::{Asleep, dormant};
use hence_closure::words::Words;
use hence_ledger::{Act, Command, Key, State, Value};
use serde::Serialize;

use super::{Http, ToldChange, changes, print_changes, stop};
use crate::command::fleet::{Format, moment, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// Print all that is asserted, as commands that assert it again
#[derive(Args)]
pub struct Show {
    /// As it was in this generation
    #[arg(long, value_name = "GENERATION")]
    at: Option<u64>,
}

impl Show {
    /// Prints it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        let repository = closure.repository();
        let past = self.at.map(|at| repository.state_at(at)).transpose();
        let past = past.map_err(|refused| stop(console, refused))?;
        let state = past.as_ref().unwrap_or(repository.state());
        let dormant: BTreeMap<Key, Asleep> = match self.at {
            None => dormant(state, &closure.site(), closure.content()),
            Some(_) => Vec::new(),
        }
        .into_iter()
        .collect();
        if http.format == Format::Json {
            let told: Vec<ToldAssertion<'_>> = state
                .iter()
                .map(|(key, assertion)| ToldAssertion {
                    assertion: language::said(key, &assertion.value),
                    owner: &assertion.owner,
                    since: assertion.since,
                    dormant: dormant.get(key).map(Asleep::to_string),
                })
                .collect();
            print_json(console, &told)?;
            return Ok(Exit::Done);
        }
        write!(console.data(), "{}", language::written(&layers(state)))?;
        for (key, asleep) in &dormant {
            let value = &state.get(key).expect("it is asserted").value;
            let how = match asleep.partly {
                true => "in part without effect",
                false => "without effect",
            };
            console.say(&format!("{how}: {}: {asleep}", language::said(key, value)));
        }
        Ok(Exit::Done)
    }
}

/// What each owner asserts, as the command that asserts it again.
fn layers(state: &State) -> Vec<Command> {
    let mut layers: BTreeMap<&str, Vec<(Key, Value)>> = BTreeMap::new();
    for (key, assertion) in state.iter() {
        let layer = layers.entry(&assertion.owner).or_default();
        layer.push((key.clone(), assertion.value.clone()));
    }
    let layers = layers.into_iter();
    layers
        .map(|(owner, set)| Command::apply(owner, set, &Words))
        .collect()
}

/// An assertion as programs read it.
#[derive(Serialize)]
struct ToldAssertion<'a> {
    assertion: String,
    owner: &'a str,
    since: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dormant: Option<String>,
}

/// A generation as programs read it.
#[derive(Serialize)]
struct ToldGeneration<'a> {
    generation: u64,
    author: &'a str,
    time: String,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<u64>,
    changes: Vec<ToldChange>,
}

/// Print the generations, the newest first
#[derive(Args)]
pub struct History {
    /// Also what each changed
    #[arg(long)]
    changes: bool,
}

impl History {
    /// Prints it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        for entry in closure.repository().log() {
            let entry = entry.map_err(|error| Stop::Failed(Box::new(error.into())))?;
            let (made, undoes) = match &entry.act {
                Act::Commit { changes, undoes } => (changes.as_slice(), undoes),
                // What was asserted before was published once more.
                _ => (&[][..], &None),
            };
            if http.format == Format::Json {
                let told = ToldGeneration {
                    generation: entry.version,
                    author: &entry.author,
                    time: moment(entry.time),
                    message: &entry.message,
                    undoes: *undoes,
                    changes: made.iter().map(ToldChange::new).collect(),
                };
                print_json(console, &told)?;
                continue;
            }
            let undone = undoes.map(|generation| format!("undoes {generation}: "));
            let said = match entry.message.is_empty() {
                true => String::new(),
                false => format!("   {}", entry.message),
            };
            writeln!(
                console.data(),
                "{:>5}  {}  {}   {}{}{said}",
                entry.version,
                moment(entry.time),
                entry.author,
                undone.unwrap_or_default(),
                match made.len() {
                    0 => "no change".to_owned(),
                    1 => "1 change".to_owned(),
                    count => format!("{count} changes"),
                }
            )?;
            if self.changes {
                changes(console, made)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Print what differs between two generations
#[derive(Args)]
pub struct Diff {
    /// From this one
    from: u64,
    /// To this one; without it, what is asserted now
    to: Option<u64>,
}

impl Diff {
    /// Prints it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        let repository = closure.repository();
        let to = self.to.unwrap_or(repository.version());
        let from = repository.state_at(self.from);
        let from = from.map_err(|refused| stop(console, refused))?;
        let to = repository
            .state_at(to)
            .map_err(|refused| stop(console, refused))?;
        let differences = State::difference(&from, &to);
        print_changes(console, http.format, &differences)?;
        Ok(match differences.is_empty() {
            true => Exit::Done,
            false => Exit::Input,
        })
    }
}
