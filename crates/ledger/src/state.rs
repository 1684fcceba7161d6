//! The assertions in effect.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use crate::command::Owner;
use crate::tree::{Hash, Objects, Tree};
use crate::{Command, Key, Keys, Value, Vocabulary};

/// What is asserted about a key, by whom, and since which version. When it was is not part of what it is.
#[derive(Clone, Debug, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// Who says it.
    pub owner: EcoString,
    /// What is said.
    pub value: Value,
    /// The version with which it came.
    pub since: u64,
}

impl PartialEq for Assertion {
    fn eq(&self, other: &Self) -> bool {
        self.owner == other.owner && self.value == other.value
    }
}

/// What became of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The key.
    pub key: Key,
    /// What was asserted about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Assertion>,
    /// What is asserted about it now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Assertion>,
}

impl Change {
    /// The change that takes it back.
    pub fn inverse(&self) -> Self {
        Self {
            key: self.key.clone(),
            before: self.after.clone(),
            after: self.before.clone(),
        }
    }
}

/// The assertions in effect, by their keys.
#[derive(Clone, Debug, Default)]
pub struct State {
    assertions: BTreeMap<Key, Assertion>,
    tree: Tree,
}

impl PartialEq for State {
    /// Whether the same owners assert the same.
    fn eq(&self, other: &Self) -> bool {
        self.assertions == other.assertions
    }
}

impl State {
    /// What is asserted about a key.
    pub fn get(&self, key: &Key) -> Option<&Assertion> {
        self.assertions.get(key)
    }

    /// All assertions, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Assertion)> {
        self.assertions.iter()
    }

    /// The assertions about some keys, in the order of their keys.
    pub fn among(&self, keys: Keys) -> impl Iterator<Item = (&Key, &Assertion)> {
        let (Keys::Only(first) | Keys::Under(first)) = &keys;
        let from = (Bound::Included(first.clone()), Bound::Unbounded);
        let first = first.clone();
        self.assertions
            .range::<Key, _>(from)
            .take_while(move |(key, _)| key.as_str().starts_with(first.as_str()))
            // Keys that only begin alike (`a-b` beside `a/b`) may stand between.
            .filter(move |(key, _)| keys.contains(key))
    }

    /// How many assertions there are.
    pub fn len(&self) -> usize {
        self.assertions.len()
    }

    /// Whether nothing is asserted.
    pub fn is_empty(&self) -> bool {
        self.assertions.is_empty()
    }

    /// Does what a command says, with the next version, and says what became of each key on the way.
    pub fn perform(
        &mut self,
        command: &Command,
        version: u64,
        vocabulary: &dyn Vocabulary,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        match command {
            Command::Assert { owner, key, value } => {
                self.assert(owner, key, value, version, vocabulary, &mut changes);
            }
            Command::Retract(keys) => self.retract(keys.clone(), &mut changes),
            Command::Apply { owner, set } => {
                let says = |key: &Key| set.binary_search_by(|(other, _)| other.cmp(key)).is_ok();
                let gone: Vec<Key> = self
                    .iter()
                    .filter(|(key, assertion)| assertion.owner == *owner && !says(key))
                    .map(|(key, _)| key.clone())
                    .collect();
                for key in gone {
                    self.put(key, None, &mut changes);
                }
                for (key, value) in set {
                    self.assert(owner, key, value, version, vocabulary, &mut changes);
                }
            }
        }
        changes
    }

    fn assert(
        &mut self,
        owner: &EcoString,
        key: &Key,
        value: &Value,
        version: u64,
        vocabulary: &dyn Vocabulary,
        changes: &mut Vec<Change>,
    ) {
        for keys in vocabulary.conflicts(key) {
            self.retract(keys, changes);
        }
        let assertion = Assertion {
            owner: owner.clone(),
            value: value.clone(),
            since: version,
        };
        if self.get(key) != Some(&assertion) {
            self.put(key.clone(), Some(assertion), changes);
        }
    }

    fn retract(&mut self, keys: Keys, changes: &mut Vec<Change>) {
        let gone: Vec<Key> = self.among(keys).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.put(key, None, changes);
        }
    }

    fn put(&mut self, key: Key, after: Option<Assertion>, changes: &mut Vec<Change>) {
        let before = self.set(&key, after.clone());
        changes.push(Change { key, before, after });
    }

    /// Makes changes, whatever was there before.
    pub fn make<'c>(&mut self, changes: impl IntoIterator<Item = &'c Change>) {
        for change in changes {
            self.set(&change.key, change.after.clone());
        }
    }

    /// Takes changes back, the last one first.
    pub fn take_back(&mut self, changes: &[Change]) {
        for change in changes.iter().rev() {
            self.set(&change.key, change.before.clone());
        }
    }

    /// What makes one state the other, in the order of keys.
    pub fn difference(from: &State, to: &State) -> Vec<Change> {
        let mut changes = Vec::new();
        for (key, before) in from.iter() {
            let after = to.get(key);
            if after != Some(before) {
                changes.push(Change {
                    key: key.clone(),
                    before: Some(before.clone()),
                    after: after.cloned(),
                });
            }
        }
        for (key, after) in to.iter() {
            if from.get(key).is_none() {
                changes.push(Change {
                    key: key.clone(),
                    before: None,
                    after: Some(after.clone()),
                });
            }
        }
        changes.sort_by(|one, other| one.key.cmp(&other.key));
        changes
    }

    fn set(&mut self, key: &Key, after: Option<Assertion>) -> Option<Assertion> {
        self.tree.touch(key, after.is_some());
        match after {
            Some(assertion) => self.assertions.insert(key.clone(), assertion),
            None => self.assertions.remove(key),
        }
    }

    /// What is the same for all states in which the same owners assert the same, and for no others.
    pub fn identity(&mut self) -> Hash {
        self.tree.identity(&self.assertions)
    }

    /// The state as objects by their hashes: the address of the whole, and the objects that were not written since the
    /// last time.
    pub fn objects(&mut self) -> (Hash, Vec<(Hash, Vec<u8>)>) {
        self.tree.objects(&self.assertions)
    }

    /// The state at an address; objects are asked for many at a time.
    pub fn read<E>(
        address: Hash,
        objects: &mut Objects<'_, E>,
    ) -> Result<Result<Self, Damaged>, E> {
        let mut assertions = BTreeMap::new();
        let tree = match Tree::read(address, objects, &mut assertions)? {
            Ok(tree) => tree,
            Err(damaged) => return Ok(Err(damaged)),
        };
        Ok(Ok(Self { assertions, tree }))
    }
}

/// What the state at an address asserts about a key, without reading the rest of it.
pub fn find<E>(
    address: Hash,
    key: &Key,
    object: &mut dyn FnMut(Hash) -> Result<Vec<u8>, E>,
) -> Result<Result<Option<Assertion>, Damaged>, E> {
    crate::tree::find(address, key, object)
}

/// An object is not what its hash says, or nothing that was ever written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged(pub Hash);

impl fmt::Display for State {
    /// In the language of the commands: done on an empty ledger, they give this state.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut layers: BTreeMap<&str, Vec<(&Key, &Value)>> = BTreeMap::new();
        for (key, assertion) in self.iter() {
            let layer = layers.entry(&assertion.owner).or_default();
            layer.push((key, &assertion.value));
        }
        for (owner, layer) in layers {
            writeln!(f, "apply {} {{", Owner(owner))?;
            for (key, value) in layer {
                writeln!(f, "  assert {key}{value}")?;
            }
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

/// What several changes one after another come to: each key once, and only if it ended other than it began.
pub fn net(changes: Vec<Change>) -> Vec<Change> {
    let mut changes = by_key(changes);
    changes.retain(|change| change.before != change.after);
    changes
}

/// How each key began and ended, in the order of keys.
pub(crate) fn by_key(mut changes: Vec<Change>) -> Vec<Change> {
    // Changes of one key stay in their order.
    changes.sort_by(|one, other| one.key.cmp(&other.key));
    changes.dedup_by(|later, earlier| {
        let is_same = later.key == earlier.key;
        if is_same {
            earlier.after = later.after.take();
        }
        is_same
    });
    changes
}
