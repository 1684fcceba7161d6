//! `hence activate`: makes what is asserted the target of nodes.

use clap::Args;
use hence_service::{Activated, Pair, Service};
use hence_store::Receipt;
use serde::Serialize;

use super::plan::Where;
use super::{Changing, Format, many, print_json, stop};
use crate::console::Console;
use crate::{Exit, Stop};

/// Make what is asserted the target of nodes
#[derive(Args)]
pub struct Activate {
    #[command(flatten)]
    wheres: Where,
    /// Refuse if something else would happen than this plan, as `hence plan` names it
    #[arg(long, value_name = "PLAN")]
    plan: Option<Pair>,
    #[command(flatten)]
    changing: Changing,
}

#[derive(Serialize)]
struct Told<'a> {
    version: Option<u64>,
    plan: String,
    changed: Vec<&'a str>,
}

impl Activate {
    /// Activates it, all or nothing.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let request = self.changing.request(console, "activate");
        let mut service = self.changing.ledger.open(console)?;
        let result = service.activate(&request, &self.wheres.extent(), self.plan);
        let activated = result.map_err(|refused| stop(console, refused))?;
        tell(console, self.changing.format, &service, &activated)?;
        Ok(Exit::Done)
    }
}

/// Says what an activation did.
pub fn tell(
    console: &mut Console<'_>,
    format: Format,
    service: &Service,
    activated: &Activated,
) -> Result<(), Stop> {
    let version = match &activated.receipt {
        Receipt::Done(done) => Some(done.version),
        Receipt::Nothing => None,
    };
    let changed = activated.changed.iter().map(|node| node.as_str());
    match format {
        Format::Json => print_json(
            console,
            &Told {
                version,
                plan: activated.pair.to_string(),
                changed: changed.collect(),
            },
        )?,
        Format::Text => {
            if service.head().node_count() == 0 {
                console.say("there are no nodes: only the default group is activated");
            }
            match version {
                None => console.say("nothing changed since the last activation"),
                Some(version) => {
                    let nodes = many(changed.count(), "node");
                    console.say(&format!("version {version}: {nodes} changed"));
                    let repository = service.repository();
                    let entry = repository.entry(version);
                    let back = entry.and_then(|entry| match entry {
                        Some(entry) => repository.back_from(&entry),
                        None => Ok(None),
                    });
                    if let Ok(Some(back)) = back {
                        console.say(&back);
                    }
                }
            }
        }
    }
    Ok(())
}
