//! `hence config`, `export`: the configuration of a node.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use hence_fleet::explain::write_parameter;
use hence_fleet::{Config as Parameters, Kind};
use hence_model::legible;
use hence_service::Service;
use hence_service::secrets::unreadable_for;

use super::{At, Format, Ledger, looked_at, many, print_json, stop};
use crate::console::Console;
use crate::result::{replace, unwritable};
use crate::{Exit, Stop};

/// Print the configuration of a node
#[derive(Args)]
pub struct Config {
    /// The node
    node: String,
    /// What was active at this version, or at the snapshot of this name
    #[arg(long, value_name = "VERSION", conflicts_with = "head")]
    at: Option<String>,
    /// What would be active if all that is asserted now were activated
    #[arg(long)]
    head: bool,
    /// Show secrets, too
    #[arg(long)]
    reveal: bool,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    ledger: Ledger,
}

impl Config {
    /// Prints it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.ledger.open(console)?;
        let (config, version) = match (&self.at, self.head) {
            (Some(at), _) => {
                let version = super::version(&service, at);
                let version = version.map_err(|refused| stop(console, refused))?;
                (service.config_at(&self.node, version), Some(version))
            }
            (None, true) => (Ok(service.head().config(&self.node)), None),
            (None, false) => (service.config(&self.node), Some(u64::MAX)),
        };
        let config = config.map_err(|refused| stop(console, refused))?;
        let Some(mut config) = config else {
            return Err(no_node(console, &service, &self.node));
        };
        if self.reveal && config.values().any(|value| value.sealed.is_some()) {
            let seal = self.ledger.seal(console, &service)?;
            for (name, value) in &mut config {
                if let Some(sealed) = value.sealed.take() {
                    let opened = seal.open(&sealed);
                    let opened = opened
                        .ok_or_else(|| Stop::Failed(Box::new(unreadable_for(&self.node, name))))?;
                    value.text = format!("{opened}{}", value.text).into();
                }
            }
        }
        match self.format {
            Format::Json => {
                let shown: BTreeMap<&str, String> = config
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.to_string()))
                    .collect();
                print_json(console, &shown)?;
            }
            Format::Text => {
                let header = match version {
                    None => "not activated".to_owned(),
                    Some(version) => {
                        let version = service.version_of_at(&self.node, version);
                        let version =
                            version.map_err(|error| Stop::Failed(Box::new(error.into())))?;
                        format!("version {version}")
                    }
                };
                let spelling = service.head().spelling(Kind::Node, &self.node);
                let name = spelling.as_deref().unwrap_or(&self.node);
                let text = text(name, &header, &config);
                write!(console.data(), "{text}")?;
            }
        }
        Ok(Exit::Done)
    }
}

/// There is no such node.
pub fn no_node(console: &mut Console<'_>, service: &Service, node: &str) -> Stop {
    match service.there(Kind::Node, node) {
        Err(refused) => stop(console, refused),
        // It was not there then.
        Ok(_) => {
            let message = format!("there was no node `{node}` then");
            let code = hence_fleet::edit::NO_SUCH;
            Stop::Refused(Box::new(hence_model::diagnostic::Diagnostic::error(
                code, message,
            )))
        }
    }
}

/// A configuration file.
fn text(node: &str, header: &str, config: &Parameters) -> String {
    let mut text = format!("# {}, {header}\n", legible::line(node));
    for (name, value) in config {
        let written = write_parameter(&mut text, name, &value.to_string());
        written.expect("a string can be written to");
    }
    text
}

/// Write configurations as files
#[derive(Args)]
pub struct Export {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Configuration files as HTCondor reads them, one for each node
    Condor {
        /// The nodes; without any, all
        nodes: Vec<String>,
        /// The folder that they are written to
        #[arg(long, value_name = "DIR")]
        out: String,
        #[command(flatten)]
        at: At,
        #[command(flatten)]
        ledger: Ledger,
    },
}

impl Export {
    /// Writes them.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let What::Condor {
            nodes,
            out,
            at,
            ledger,
        } = &self.what;
        let mut service = ledger.open(console)?;
        let past = at.past(console, &service)?;
        let (at, pool) = looked_at(&service, &past);
        let at = at.unwrap_or(service.repository().version());
        let nodes = match nodes.is_empty() {
            true => pool.nodes().iter().map(ToString::to_string).collect(),
            false => nodes.clone(),
        };
        std::fs::create_dir_all(console.path(out)).map_err(|error| unwritable(out, &error))?;
        for (number, node) in nodes.iter().enumerate() {
            console.progress(&format!("{} of {}: {node}", number + 1, nodes.len()));
            let config = service
                .config_at(node, at)
                .map_err(|refused| stop(console, refused))?;
            let Some(config) = config else {
                return Err(no_node(console, &service, node));
            };
            let version = service.version_of_at(node, at);
            let version = version.map_err(|error| Stop::Failed(Box::new(error.into())))?;
            let text = text(node, &format!("version {version}"), &config);
            // A name is no path, and no two have one file.
            let name = node.replace('%', "%25").replace('/', "%2f");
            let file = format!("{out}/{name}.conf");
            let written = replace(&console.path(&file), |writer| {
                writer.write_all(text.as_bytes())
            });
            written.map_err(|error| unwritable(&file, &error))?;
        }
        console.end_progress();
        console.say(&format!("{} in {out}", many(nodes.len(), "file")));
        Ok(Exit::Done)
    }
}
