//! `hence log`: who did what, when and why.

use std::collections::BTreeSet;

use clap::Args;
use hence_ledger::entry::{Nodes, Origin, Scope};
use hence_ledger::{Act, Entry};
use hence_service::Service;
use hence_service::history::STRANGERS;
use serde::Serialize;

use super::difference::line;
use super::{Format, Ledger, ToldChange, counted, many, moment, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// Print the history, the newest first
#[derive(Args)]
pub struct Log {
    /// Only what happened to this key, or below it
    key: Option<String>,
    /// At most so many entries
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Also what each entry changed
    #[arg(long)]
    changes: bool,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    ledger: Ledger,
}

#[derive(Serialize)]
struct Told<'a> {
    version: u64,
    author: &'a str,
    time: String,
    message: &'a str,
    origin: &'a Origin,
    identity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activates: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rollout: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ToldChange<'a>>,
}

impl Log {
    /// Prints it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let key = self.key.as_deref().map(super::key).transpose()?;
        let service = self.ledger.open(console)?;
        let mut left = self.limit.unwrap_or(usize::MAX);
        for entry in service.repository().log() {
            let mut entry = entry.map_err(|error| Stop::Failed(Box::new(error.into())))?;
            if let Some(key) = &key {
                let Act::Commit { changes, .. } = &mut entry.act else {
                    continue;
                };
                changes.retain(|change| change.key.is_under(key));
                if changes.is_empty() {
                    continue;
                }
            }
            if left == 0 {
                break;
            }
            left -= 1;
            match self.format {
                Format::Text => self.text(console, &service, &entry)?,
                Format::Json => print_json(console, &told(&entry))?,
            }
        }
        Ok(Exit::Done)
    }

    fn text(
        &self,
        console: &mut Console<'_>,
        service: &Service,
        entry: &Entry,
    ) -> Result<(), Stop> {
        let what = match &entry.act {
            Act::Commit { changes, undoes } => {
                let undone = undoes.map(|version| format!("undoes {version}: "));
                format!("{}{}", undone.unwrap_or_default(), counted(changes))
            }
            Act::Activation {
                target,
                scope,
                changed,
                ..
            } => {
                let scope = match scope {
                    Scope::Everything => "everywhere".to_owned(),
                    Scope::Only(nodes) => format!("on {}", many(nodes.len(), "node")),
                };
                // Those who are still to come are no nodes yet.
                let count =
                    |nodes: &BTreeSet<String>| nodes.len() - usize::from(nodes.contains(STRANGERS));
                let changed = match changed {
                    Nodes::Only(nodes) => format!("{} changed", count(nodes)),
                    Nodes::AllBut(nodes) if count(nodes) == 0 => "all changed".to_owned(),
                    Nodes::AllBut(nodes) => format!("all but {} changed", count(nodes)),
                };
                format!("activates {target} {scope}: {changed}")
            }
            Act::Naming { name } => match entry.snapshots.get(name) {
                Some(snapshot) => format!("names {} `{name}`", snapshot.version),
                None => format!("takes the name `{name}` away"),
            },
            Act::Rollout => match &entry.rollout {
                Some(rollout) if rollout.began == entry.version => {
                    format!("begins the rollout of {}", rollout.target)
                }
                Some(rollout) => {
                    format!("rollout of {}: {}", rollout.target, rollout.status.word())
                }
                None => "a rollout".to_owned(),
            },
        };
        let said = match entry.message.is_empty() {
            true => String::new(),
            false => format!("   {}", entry.message),
        };
        let (version, author) = (entry.version, &entry.author);
        let time = moment(entry.time);
        console.line(&format!("{version:>5}  {time}  {author}   {what}{said}"))?;
        if let Act::Commit { changes, .. } = &entry.act
            && (self.changes || self.key.is_some())
        {
            for change in changes {
                let line = line(change, |words| service.legible(words));
                console.line(&format!("         {line}"))?;
            }
        }
        Ok(())
    }
}

fn told(entry: &Entry) -> Told<'_> {
    let mut told = Told {
        version: entry.version,
        author: &entry.author,
        time: moment(entry.time),
        message: &entry.message,
        origin: &entry.origin,
        identity: entry.identity.to_string(),
        undoes: None,
        activates: None,
        names: None,
        rollout: entry.rollout.as_ref().map(|rollout| rollout.status.word()),
        changes: Vec::new(),
    };
    match &entry.act {
        Act::Commit { changes, undoes } => {
            told.undoes = *undoes;
            told.changes = changes.iter().map(ToldChange::new).collect();
        }
        Act::Activation { target, .. } => told.activates = Some(*target),
        Act::Naming { name } => told.names = Some(name),
        Act::Rollout => {}
    }
    told
}
