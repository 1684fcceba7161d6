//! Commands: constant writes.
//!
//! A state holds, for every owner, what this owner asserts about which keys; no key has two owners. What a command writes
//! of that, and where, depends on the command alone:
//!
//! ```text
//! assert K V         (owner, K) becomes V           what others assert about K, and all that conflicts with K, goes
//! retract K          what anybody asserts about K goes
//! retract-under K    the same for K and all keys below it
//! apply O { set }    (O, *) becomes the set         what others assert about its keys, and all that conflicts, goes
//! ```
//!
//! It follows that a command may be repeated at any time, before or after any others, and the last time decides
//! (*statelessness*); that a sequence may be repeated (*idempotence*); and that every sequence comes to the same as some
//! set of assertions, in any order (*reducibility*).

use std::fmt;

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use crate::value::{Quoted, Value, is_word};
use crate::{Key, Keys, Vocabulary};

/// A write that does not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Somebody says something about a key.
    Assert {
        /// Who says it.
        owner: EcoString,
        /// What it is about.
        key: Key,
        /// What is said.
        value: Value,
    },
    /// Nobody says anything about these keys any more.
    Retract(Keys),
    /// All that an owner says.
    Apply {
        /// Who says it.
        owner: EcoString,
        /// What is said, each key once, in the order of keys.
        set: Vec<(Key, Value)>,
    },
}

impl Command {
    /// All that an owner says. Of what is said twice, or cannot stand together, the last counts.
    pub fn apply(
        owner: impl Into<EcoString>,
        assertions: Vec<(Key, Value)>,
        vocabulary: &dyn Vocabulary,
    ) -> Self {
        let mut set: std::collections::BTreeMap<Key, Value> = Default::default();
        for (key, value) in assertions {
            for keys in vocabulary.conflicts(&key) {
                match keys {
                    Keys::Only(key) => drop(set.remove(&key)),
                    keys => set.retain(|other, _| !keys.contains(other)),
                }
            }
            set.insert(key, value);
        }
        Self::Apply {
            owner: owner.into(),
            set: set.into_iter().collect(),
        }
    }

    /// The keys that it may write, for any owner.
    pub fn writes(&self, vocabulary: &dyn Vocabulary) -> Vec<Keys> {
        let written = |key: &Key| {
            let mut keys = vocabulary.conflicts(key);
            keys.push(Keys::Only(key.clone()));
            keys
        };
        match self {
            Command::Assert { key, .. } => written(key),
            Command::Retract(keys) => vec![keys.clone()],
            Command::Apply { set, .. } => set.iter().flat_map(|(key, _)| written(key)).collect(),
        }
    }
}

impl fmt::Display for Command {
    /// In the language in which commands are read, without the owner of an `assert`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Assert { key, value, .. } => write!(f, "assert {key}{value}"),
            Command::Retract(Keys::Only(key)) => write!(f, "retract {key}"),
            Command::Retract(Keys::Under(key)) => write!(f, "retract-under {key}"),
            Command::Apply { owner, set } => {
                writeln!(f, "apply {} {{", Owner(owner))?;
                for (key, value) in set {
                    writeln!(f, "  assert {key}{value}")?;
                }
                write!(f, "}}")
            }
        }
    }
}

/// An owner's name as it is written in commands.
pub(crate) struct Owner<'t>(pub &'t str);

impl fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match is_word(self.0) {
            true => f.write_str(self.0),
            false => write!(f, "{}", Quoted(self.0)),
        }
    }
}
