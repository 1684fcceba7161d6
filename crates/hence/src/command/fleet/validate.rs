//! `hence validate`: whether what is asserted may be activated.

use std::collections::BTreeMap;

use clap::Args;
use hence_fleet::{Failure, Pool};
use serde::Serialize;

use super::{At, Format, Ledger, looked_at, many, print_json, stop};
use crate::console::Console;
use crate::{Exit, Stop};
use hence_service::pushed::Archive;

/// Say what stands in the way of an activation, on every node
#[derive(Args)]
pub struct Validate {
    /// Only these nodes
    nodes: Vec<String>,
    /// At most so many nodes with failures
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Only nodes behind this one, in the order of their names
    #[arg(long, value_name = "NODE")]
    after: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

#[derive(Serialize)]
struct Told<'a> {
    nodes: BTreeMap<&'a str, Vec<ToldFailure<'a>>>,
    /// The node to go on behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
}

/// A failure as programs read it.
#[derive(Serialize)]
pub struct ToldFailure<'a> {
    code: &'static str,
    names: Vec<&'a str>,
    message: String,
    because: Vec<Because>,
    repairs: Vec<ToldRepair>,
}

/// An assertion that is to blame, and whose it is.
#[derive(Serialize)]
struct Because {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

#[derive(Serialize)]
struct ToldRepair {
    sentence: String,
    commands: Vec<String>,
}

impl<'a> ToldFailure<'a> {
    /// A failure as programs read it.
    pub fn new(archive: &Archive<'_>, pool: &Pool, failure: &'a Failure) -> Self {
        let because = pool.blame(failure).into_iter().map(|key| {
            let assertion = archive.assertion(&key);
            let assertion = assertion.as_ref();
            let made = assertion.and_then(|assertion| archive.made(assertion));
            let written = assertion.and_then(|assertion| archive.written(&key, assertion));
            Because {
                key: key.to_string(),
                owner: assertion.map(|assertion| assertion.owner.to_string()),
                version: assertion.map(|assertion| assertion.since),
                author: made.map(|made| made.author.clone()),
                place: written.map(|written| written.place),
            }
        });
        let repairs = pool.repairs(failure).into_iter();
        Self {
            code: failure.code.name,
            names: failure.names.iter().map(|name| name.as_str()).collect(),
            message: failure.message(),
            because: because.collect(),
            repairs: repairs
                .map(|repair| ToldRepair {
                    sentence: repair.sentence,
                    commands: repair.commands,
                })
                .collect(),
        }
    }
}

impl Validate {
    /// Says it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let service = self.ledger.open(console)?;
        let past = self.at.past(console, &service)?;
        let (version, pool) = looked_at(&service, &past);
        let mut failures = match self.nodes.is_empty() {
            true => pool.validate(),
            false => {
                for node in &self.nodes {
                    let there = service.there(hence_fleet::Kind::Node, node);
                    there.map_err(|refused| stop(console, refused))?;
                }
                pool.validate_nodes(self.nodes.iter().map(String::as_str))
            }
        };
        if let Some(after) = &self.after {
            failures.retain(|failure| *failure.node > **after);
        }
        let mut shown = 0;
        let mut next = None;
        let mut last = None;
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut kept = failures.len();
        for (number, failure) in failures.iter().enumerate() {
            if last != Some(&failure.node) {
                if shown == limit {
                    next = last.cloned();
                    kept = number;
                    break;
                }
                shown += 1;
                last = Some(&failure.node);
            }
        }
        let failures = &failures[..kept];
        match self.format {
            Format::Json => {
                let archive = Archive::at(&service, version);
                let mut nodes: BTreeMap<&str, Vec<ToldFailure<'_>>> = BTreeMap::new();
                for failure in failures {
                    let told = ToldFailure::new(&archive, pool, failure);
                    nodes.entry(&failure.node).or_default().push(told);
                }
                let next = next.as_deref();
                print_json(console, &Told { nodes, next })?;
            }
            Format::Text => {
                for failure in failures {
                    console.refuse(&failure.diagnostic(pool));
                }
                let words = match failures.is_empty() {
                    true => format!("{}, nothing is wrong", many(pool.node_count(), "node")),
                    false => format!(
                        "{} on {}",
                        many(failures.len(), "failure"),
                        many(shown, "node")
                    ),
                };
                let more = next.map(|next| format!("; `--after {next}` shows more"));
                console.say(&format!("{words}{}", more.unwrap_or_default()));
            }
        }
        Ok(match failures.is_empty() {
            true => Exit::Done,
            false => Exit::Input,
        })
    }
}
