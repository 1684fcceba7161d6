//! Entries: the history, which is only ever added to.
//!
//! There is one stream of entries, numbered from 1, and the number of an entry is a *version*. A commit changes what is
//! asserted and so moves the *head*. An activation makes what was asserted at some version the target of nodes, and so
//! moves what is *active*.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::rollout::Rollout;
use crate::state::Change;
use crate::tree::Hash;

/// One step of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number.
    pub version: u64,
    /// The hash of the entry before it, so that nobody can change the past unnoticed.
    pub previous: Option<Hash>,
    /// Who did it.
    pub author: String,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// Why, in the author's words.
    pub message: String,
    /// By what means: a command, or the address of an object that says from which sources.
    pub origin: Origin,
    /// What was done.
    pub act: Act,
    /// The state after it: what is the same for equal states, and where it is written.
    pub identity: Hash,
    /// Where the state after it is written.
    pub address: Hash,
    /// What nodes are to run after it.
    pub active: Active,
    /// The newest activation in stages, and how far it is, unless something else was activated since.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rollout: Option<Rollout>,
    /// The versions that have names, and what is said about them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub snapshots: BTreeMap<String, Snapshot>,
}

/// By what means a change came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A command, in its own words.
    Command(String),
    /// Compiled sources; the object at the address says which, and how they led to the assertions.
    Sources(Hash),
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// What is asserted was changed.
    Commit {
        /// Each key that changed, once.
        changes: Vec<Change>,
        /// The commit that it takes back.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        undoes: Option<u64>,
    },
    /// What was asserted at a version was made the target of nodes.
    Activation {
        /// That version.
        target: u64,
        /// Which nodes were meant.
        scope: Scope,
        /// Which of them got another configuration by it.
        changed: Nodes,
        /// Which nodes were no longer there, and so lost theirs.
        #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
        gone: BTreeSet<String>,
    },
    /// A version got a name, or lost it.
    Naming {
        /// The name.
        name: String,
    },
    /// An activation in stages began, ended, or was told to wait; nothing was activated by it.
    Rollout,
}

/// Which nodes somebody means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// All, and those still to come.
    Everything,
    /// These nodes, and the members of these groups.
    Some {
        /// Names of nodes.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        nodes: Vec<String>,
        /// Names of groups.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        groups: Vec<String>,
    },
    /// So many in a hundred, chosen by their names; more of them include those that fewer did.
    Percent(u8),
}

/// Which nodes an activation meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All, and those still to come.
    Everything,
    /// These.
    Only(BTreeSet<String>),
}

/// Some of all nodes, by their folded names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nodes {
    /// These.
    Only(BTreeSet<String>),
    /// All but these.
    AllBut(BTreeSet<String>),
}

impl Nodes {
    /// Whether a node is among them.
    pub fn contains(&self, node: &str) -> bool {
        match self {
            Nodes::Only(nodes) => nodes.contains(node),
            Nodes::AllBut(nodes) => !nodes.contains(node),
        }
    }
}

/// What nodes are to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Active {
    /// What was asserted at this version; 0 if nothing was activated yet.
    pub base: u64,
    /// Nodes that are to run what was asserted at another version.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub apart: BTreeMap<String, u64>,
}

impl Active {
    /// The version whose assertions a node is to run.
    pub fn target(&self, node: &str) -> u64 {
        self.apart.get(node).copied().unwrap_or(self.base)
    }

    /// What is to run after an activation.
    pub fn after(&self, target: u64, scope: &Scope) -> Active {
        match scope {
            Scope::Everything => Active {
                base: target,
                apart: BTreeMap::new(),
            },
            Scope::Only(nodes) => {
                let mut active = self.clone();
                for node in nodes {
                    active.apart.insert(node.clone(), target);
                }
                active.apart.retain(|_, version| *version != active.base);
                active
            }
        }
    }
}

/// A version with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The version.
    pub version: u64,
    /// What somebody said about it.
    pub annotation: String,
}

impl Entry {
    /// The entry as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an entry can be written")
    }

    /// The entry that was kept so.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
