//! What an activation would change: on which nodes, which values, and what that means for their processes.
//!
//! What changes on many nodes alike is worked out once, and shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use hence_ledger::Change;
use rustc_hash::FxHashMap;

use crate::difference::Difference;
use crate::planner::{Candidate, Detail, Planner};
use crate::pool::Pool;

/// What an activation would change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The nodes whose configurations change, in the order of their names, and how.
    pub nodes: Vec<(EcoString, Arc<Difference>)>,
    /// The nodes that are no longer there, in order.
    pub gone: Vec<EcoString>,
    /// The nodes that are new, in order, whether or not their configurations differ from what strangers have.
    pub new: Vec<EcoString>,
}

/// A plan in figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many nodes change.
    pub nodes: usize,
    /// On how many nodes each parameter changes.
    pub parameters: BTreeMap<EcoString, usize>,
    /// On how many nodes each subsystem restarts.
    pub restart: BTreeMap<EcoString, usize>,
    /// On how many nodes each subsystem reads its configuration again.
    pub reread: BTreeMap<EcoString, usize>,
}

/// Which nodes a plan is about.
#[derive(Clone, Copy, Debug)]
pub enum Nodes<'a> {
    /// All that there are.
    All,
    /// Those that some changes can reach, where these are all that lies between the two pools.
    Reached(&'a [Change]),
    /// These, whatever the case of their names.
    Only(&'a [EcoString]),
}

/// What would change if nodes went from what `active` says to what `head` says.
pub fn plan(active: &Pool, head: &Pool, nodes: Nodes<'_>) -> Plan {
    planned(active, head, nodes, Detail::Whole)
}

fn planned(active: &Pool, head: &Pool, nodes: Nodes<'_>, detail: Detail) -> Plan {
    let mut planner = Planner::new(active, head, detail);
    let mut plan = Plan::default();
    for candidate in planner.candidates(nodes) {
        match candidate {
            Candidate::Gone(name) => plan.gone.push(name),
            Candidate::There { node, before } => {
                let name = || head.nodes.called(node);
                if before.is_none() {
                    plan.new.push(name());
                }
                if let Some(difference) = planner.difference(node, before) {
                    plan.nodes.push((name(), difference));
                }
            }
        }
    }
    plan.nodes.sort_by(|a, b| a.0.cmp(&b.0));
    plan.new.sort();
    plan.gone.sort();
    plan
}

/// The nodes whose configurations would change, in order.
pub fn changed_nodes(active: &Pool, head: &Pool, nodes: Nodes<'_>) -> Vec<EcoString> {
    let changed = planned(active, head, nodes, Detail::Whether).nodes;
    changed.into_iter().map(|(node, _)| node).collect()
}

impl Plan {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.gone.is_empty() && self.new.is_empty()
    }

    /// The plan in figures.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            nodes: self.nodes.len(),
            ..Totals::default()
        };
        // Most nodes share what changes with others.
        let mut shared: FxHashMap<*const Difference, (&Difference, usize)> = FxHashMap::default();
        for (_, difference) in &self.nodes {
            shared
                .entry(Arc::as_ptr(difference))
                .or_insert((difference, 0))
                .1 += 1;
        }
        for (difference, count) in shared.into_values() {
            for changed in &difference.parameters {
                *totals.parameters.entry(changed.name.clone()).or_default() += count;
            }
            for subsystem in &difference.restart {
                *totals.restart.entry(subsystem.clone()).or_default() += count;
            }
            for subsystem in &difference.reread {
                *totals.reread.entry(subsystem.clone()).or_default() += count;
            }
        }
        totals
    }
}
