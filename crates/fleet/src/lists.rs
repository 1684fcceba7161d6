//! Lists that people edit: what to assert so that a list becomes what they want.
//!
//! An element of a list is a key with a rank. What somebody says about a list as a whole, such as "add this feature", is
//! translated into ranks against the list as it is; so it is read from a pool, and good for the version of this pool only.

use ecow::EcoString;
use hence_ledger::key::fold;
use hence_ledger::{Key, Value};

use crate::pool::Pool;
use crate::table::{Named, Table};
use crate::words::{Kind, Phrase};

/// What to assert and to retract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// What to assert.
    pub assert: Vec<(Key, Value)>,
    /// What to retract.
    pub retract: Vec<Key>,
}

impl Pool {
    /// The elements of a list such as `group/web/feature` or `node/n/group`, as they are spelled, from the highest priority;
    /// dormant ones too. What is no list has no elements.
    pub fn list(&self, list: &Key) -> Vec<EcoString> {
        self.ranks(list).into_iter().map(|(_, name)| name).collect()
    }

    /// Adds to the end of a list, which is the lowest priority. What is in it already stays where it is.
    pub fn append(&self, list: &Key, names: &[&str]) -> Edit {
        let ranks = self.ranks(list);
        let mut rank = ranks.last().map_or(0, |&(rank, _)| rank);
        let mut known: Vec<String> = ranks.iter().map(|(_, name)| fold(name)).collect();
        let mut edit = Edit::default();
        for name in names.iter().map(|name| fold(name)) {
            if !known.contains(&name) {
                rank = rank.saturating_add(1);
                edit.assert
                    .push((list.child(&name), Value::text(rank.to_string())));
                known.push(name);
            }
        }
        edit
    }

    /// Makes a list these elements in this order. Of one that is named twice the first counts.
    pub fn replace(&self, list: &Key, names: &[&str]) -> Edit {
        let ranks = self.ranks(list);
        let mut wanted: Vec<String> = Vec::new();
        for name in names.iter().map(|name| fold(name)) {
            if !wanted.contains(&name) {
                wanted.push(name);
            }
        }
        let mut edit = Edit::default();
        for (rank, name) in (1..).zip(&wanted) {
            let is_there = ranks
                .iter()
                .any(|(old, other)| *old == rank && fold(other) == *name);
            if !is_there {
                edit.assert
                    .push((list.child(name), Value::text(rank.to_string())));
            }
        }
        let others = ranks.iter().map(|(_, name)| fold(name));
        let gone = others.filter(|name| !wanted.contains(name));
        edit.retract = gone.map(|name| list.child(&name)).collect();
        edit
    }

    /// Puts elements into a list so that the first of them is at a place, counted from zero; those after it move down.
    pub fn insert(&self, list: &Key, place: usize, names: &[&str]) -> Edit {
        let moved: Vec<String> = names.iter().map(|name| fold(name)).collect();
        let mut wanted = self.list(list);
        wanted.retain(|name| !moved.contains(&fold(name)));
        let place = place.min(wanted.len());
        wanted.splice(place..place, names.iter().map(|&name| name.into()));
        let wanted: Vec<&str> = wanted.iter().map(EcoString::as_str).collect();
        self.replace(list, &wanted)
    }

    fn ranks(&self, list: &Key) -> Vec<(i64, EcoString)> {
        // Any name will do to see what kind of key it would be.
        let element = list.child("x");
        let Some(Phrase {
            kind,
            name,
            clause: Some((clause, _)),
        }) = Phrase::of(&element)
        else {
            return Vec::new();
        };
        let name = name.as_ref();
        match (kind, clause.word) {
            (Kind::Node, "group") => {
                let node = self.nodes.find(name).map(|node| self.nodes.get(node));
                named(node.map(|node| &node.groups), &self.groups)
            }
            (Kind::Node, "feature") => {
                let node = self.nodes.find(name).map(|node| self.nodes.get(node));
                let own = node.and_then(|node| node.own.as_ref());
                named(own.map(|own| &own.body.features), &self.features)
            }
            (Kind::Group, "feature") => {
                let group = self.groups.find(name).map(|group| self.groups.get(group));
                named(group.map(|group| &group.body.features), &self.features)
            }
            (Kind::Feature, "include") => {
                let feature = self
                    .features
                    .find(name)
                    .map(|feature| self.features.get(feature));
                named(feature.map(|feature| &feature.include), &self.features)
            }
            _ => Vec::new(),
        }
    }
}

fn named<T: Named>(ranked: Option<&Vec<(i64, u32)>>, table: &Table<T>) -> Vec<(i64, EcoString)> {
    let ranked = ranked.into_iter().flatten();
    ranked
        .map(|&(rank, number)| (rank, table.called(number)))
        .collect()
}
