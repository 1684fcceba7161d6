//! `hence plan`: what an activation would change, line by line; and why a line is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use ecow::EcoString;
use hence_fleet::{Changed, Difference, Resolved};
use hence_service::{Extent, Planned, Service};
use serde::Serialize;

use super::validate::ToldFailure;
use super::{Format, Ledger, many, print_json, stop};
use crate::console::Console;
use crate::{Exit, Stop};
use hence_service::pushed::Archive;

/// So many names are shown of nodes that change alike.
const ENOUGH: usize = 5;

/// Which nodes are meant.
#[derive(Args)]
pub struct Where {
    /// Only the members of this group
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,
    /// Only this node
    #[arg(long, value_name = "NODE")]
    node: Vec<String>,
    /// Only so many nodes in a hundred; the same ones as long as nothing else is asserted
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["group", "node"], value_parser = clap::value_parser!(u8).range(1..=100))]
    percent: Option<u8>,
}

impl Where {
    /// The nodes that are meant.
    pub fn extent(&self) -> Extent {
        match self.percent {
            Some(percent) => Extent::Percent(percent),
            None if self.group.is_empty() && self.node.is_empty() => Extent::Everything,
            None => Extent::Some {
                nodes: self.node.clone(),
                groups: self.group.clone(),
            },
        }
    }
}

/// Show what an activation would change
#[derive(Args)]
pub struct Plan {
    #[command(flatten)]
    wheres: Where,
    /// Name all nodes
    #[arg(long)]
    full: bool,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    ledger: Ledger,
}

/// Nodes that change alike, and how; its parameters are lines of the plan, numbered on from `first`.
pub struct Alike<'p> {
    /// The nodes.
    pub nodes: Vec<&'p EcoString>,
    /// How they change.
    pub difference: &'p Arc<Difference>,
    /// The number of its first line in the plan.
    pub first: usize,
}

impl Alike<'_> {
    /// Their names, or some of them.
    pub fn names(&self, full: bool) -> String {
        let names: Vec<&str> = self.nodes.iter().map(|name| name.as_str()).collect();
        match names.len() {
            count if full || count <= ENOUGH => names.join(", "),
            count => format!(
                "{}, and {} more",
                names[..ENOUGH].join(", "),
                count - ENOUGH
            ),
        }
    }
}

/// The nodes of a plan, those together that change alike, in the order of their first names.
pub fn alike(planned: &Planned) -> Vec<Alike<'_>> {
    let mut groups: Vec<Alike<'_>> = Vec::new();
    let mut by_difference: std::collections::HashMap<*const Difference, usize> = Default::default();
    for (node, difference) in &planned.plan.nodes {
        // Nodes that are resolved apart may still come to the same.
        let known = by_difference.get(&Arc::as_ptr(difference)).copied();
        let number = known.unwrap_or_else(|| {
            let same = groups
                .iter()
                .take(64)
                .position(|group| group.difference == difference);
            let number = same.unwrap_or(groups.len());
            by_difference.insert(Arc::as_ptr(difference), number);
            number
        });
        match groups.get_mut(number) {
            Some(group) => group.nodes.push(node),
            None => groups.push(Alike {
                nodes: vec![node],
                difference,
                first: 0,
            }),
        }
    }
    let mut next = 1;
    for group in &mut groups {
        group.first = next;
        next += group.difference.parameters.len();
    }
    groups
}

/// A value before or after.
pub fn value(value: &Option<Resolved>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value) if value.is_empty() => "no value".to_owned(),
        Some(value) => value.to_string(),
    }
}

#[derive(Serialize)]
struct Told<'a> {
    plan: String,
    nodes: BTreeMap<&'a str, ToldNode<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    gone: &'a [EcoString],
    totals: Totals,
    failures: BTreeMap<&'a str, Vec<ToldFailure<'a>>>,
}

#[derive(Serialize)]
struct ToldNode<'a> {
    parameters: Vec<Line<'a>>,
    restart: &'a [EcoString],
    reread: &'a [EcoString],
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    name: &'a str,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Serialize)]
struct Totals {
    nodes: usize,
    parameters: BTreeMap<EcoString, usize>,
    restart: BTreeMap<EcoString, usize>,
    reread: BTreeMap<EcoString, usize>,
}

impl Plan {
    /// Shows it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.ledger.open(console)?;
        let planned = service.plan(&self.wheres.extent());
        let planned = planned.map_err(|refused| stop(console, refused))?;
        match self.format {
            Format::Json => json(console, &service, &planned)?,
            Format::Text => text(console, &service, &planned, self.full)?,
        }
        Ok(match planned.failures.is_empty() {
            true => Exit::Done,
            false => Exit::Input,
        })
    }
}

/// Shows people what an activation would change.
pub fn text(
    console: &mut Console<'_>,
    service: &Service,
    planned: &Planned,
    full: bool,
) -> Result<(), Stop> {
    for alike in alike(planned) {
        console.line(&alike.names(full))?;
        for (number, changed) in alike.difference.parameters.iter().enumerate() {
            let Changed {
                name,
                before,
                after,
            } = changed;
            let id = alike.first + number;
            let legible = |resolved: &Option<Resolved>| service.legible(&value(resolved));
            let (before, after) = (legible(before), legible(after));
            console.line(&format!("  p{id}  {name}   {before} → {after}"))?;
        }
        for (verb, subsystems) in [
            ("restart", &alike.difference.restart),
            ("re-read", &alike.difference.reread),
        ] {
            if !subsystems.is_empty() {
                let names: Vec<&str> = subsystems.iter().map(|name| name.as_str()).collect();
                console.line(&format!("  {verb} {}", names.join(", ")))?;
            }
        }
    }
    for gone in &planned.plan.gone {
        console.line(gone)?;
        console.line("  is gone")?;
    }
    for failure in &planned.failures {
        console.refuse(&failure.diagnostic(service.head()));
    }
    let totals = planned.plan.totals();
    let sum = |counts: &BTreeMap<EcoString, usize>| counts.values().sum::<usize>();
    let (restarts, rereads) = (sum(&totals.restart), sum(&totals.reread));
    let mut words = match (totals.nodes, planned.plan.gone.len()) {
        (0, 0) => "no node changes".to_owned(),
        (0, gone) => are_gone(gone),
        (nodes, gone) => {
            let changing = match nodes {
                1 => "1 node changes".to_owned(),
                nodes => format!("{nodes} nodes change"),
            };
            match gone {
                0 => changing,
                gone => format!("{changing}, {}", are_gone(gone)),
            }
        }
    };
    if restarts + rereads > 0 {
        let (restarts, rereads) = (many(restarts, "restart"), many(rereads, "re-read"));
        words.push_str(&format!(", {restarts}, {rereads}"));
    }
    if planned.strangers {
        words.push_str("; so do nodes that are still to come");
    }
    console.say(&format!("plan {}: {words}", planned.pair));
    if planned.failures.is_empty() && (!planned.plan.is_empty() || planned.strangers) {
        let explains = match planned.plan.nodes.is_empty() {
            true => "",
            false => ", `hence why p1` explains a line",
        };
        console.say(&format!(
            "`hence activate --plan {}` does it{explains}",
            planned.pair
        ));
    }
    Ok(())
}

fn are_gone(nodes: usize) -> String {
    match nodes {
        1 => "1 node goes".to_owned(),
        nodes => format!("{nodes} nodes go"),
    }
}

fn json(console: &mut Console<'_>, service: &Service, planned: &Planned) -> Result<(), Stop> {
    let mut nodes = BTreeMap::new();
    for alike in alike(planned) {
        for node in &alike.nodes {
            let lines = alike.difference.parameters.iter().enumerate();
            let shown = |value: &Option<Resolved>| value.as_ref().map(ToString::to_string);
            let parameters = lines.map(|(number, changed)| Line {
                id: format!("p{}", alike.first + number),
                name: &changed.name,
                before: shown(&changed.before),
                after: shown(&changed.after),
            });
            let told = ToldNode {
                parameters: parameters.collect(),
                restart: &alike.difference.restart,
                reread: &alike.difference.reread,
            };
            nodes.insert(node.as_str(), told);
        }
    }
    let archive = Archive::new(service);
    let mut failures: BTreeMap<&str, Vec<ToldFailure<'_>>> = BTreeMap::new();
    for failure in &planned.failures {
        let told = ToldFailure::new(&archive, service.head(), failure);
        failures.entry(&failure.node).or_default().push(told);
    }
    let totals = planned.plan.totals();
    print_json(
        console,
        &Told {
            plan: planned.pair.to_string(),
            nodes,
            gone: &planned.plan.gone,
            totals: Totals {
                nodes: totals.nodes,
                parameters: totals.parameters,
                restart: totals.restart,
                reread: totals.reread,
            },
            failures,
        },
    )
}
