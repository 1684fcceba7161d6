//! What a state of the ledger says about a fleet, in tables.
//!
//! A pool is built from a state once and then kept current, change by change; both ways lead to equal pools. What is
//! asserted stands in the tables of this file, dormant or not; what follows from it is derived beside them.
//! Names are numbers inside; a name keeps its number for the life of the pool. The configuration of a node is kept nowhere:
//! it is the few parts of its groups, one over the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use hence_ledger::key::fold;
use hence_ledger::{Change, Key, State, Value};

use crate::bits::Bits;
use crate::derive::{Dirt, Part};
use crate::partial::Partial;
use crate::table::{Entity, Named, Table};
use crate::words::{DEFAULT, DEFAULT_SPELLED, Kind, SKELETON};

/// What a state says about a fleet.
#[derive(Clone, Debug)]
pub struct Pool {
    pub(crate) nodes: Table<Node>,
    pub(crate) groups: Table<Group>,
    pub(crate) features: Table<Feature>,
    pub(crate) params: Table<Param>,
    pub(crate) subsystems: Table<Subsystem>,
    /// The parameters that must have a value where they are.
    pub(crate) must_change: Bits,
}

/// The number of the default group.
pub(crate) const DEFAULT_GROUP: u32 = 0;
/// The number of the skeleton group.
pub(crate) const SKELETON_GROUP: u32 = 1;

#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub entity: Entity,
    pub walk_in: bool,
    /// By (rank, name).
    pub groups: Vec<(i64, u32)>,
    /// The identity group, unless there is nothing in it.
    pub own: Option<Box<Own>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    pub body: Body,
    pub part: Arc<Part>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub entity: Entity,
    pub body: Body,
    pub part: Arc<Part>,
}

/// What a group consists of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    /// By (rank, name).
    pub features: Vec<(i64, u32)>,
    pub params: BTreeMap<u32, Value>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    pub entity: Entity,
    /// By (rank, name).
    pub include: Vec<(i64, u32)>,
    pub depend: Bits,
    pub conflict: Bits,
    pub params: BTreeMap<u32, Value>,
    /// What it installs: itself, and what it includes, directly or not.
    pub installs: Bits,
    /// What it needs: itself, and what it includes or depends on, directly or not.
    pub needs: Bits,
    /// What it conflicts with, whichever of the two says so.
    pub clashes: Bits,
    /// What it does to parameters, by their numbers.
    pub partials: Arc<Vec<(u32, Partial)>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Param {
    pub entity: Entity,
    pub kind: Option<EcoString>,
    pub default: Option<EcoString>,
    pub description: Option<EcoString>,
    pub level: Option<EcoString>,
    pub must_change: bool,
    pub restart: bool,
    pub depend: Bits,
    pub conflict: Bits,
    /// What it needs: itself, and what it depends on, directly or not.
    pub needs: Bits,
    /// What it conflicts with, whichever of the two says so.
    pub clashes: Bits,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Subsystem {
    pub entity: Entity,
    pub params: Bits,
}

impl Default for Pool {
    fn default() -> Self {
        let mut groups = Table::<Group>::default();
        assert_eq!(groups.number(DEFAULT), DEFAULT_GROUP);
        assert_eq!(groups.number(SKELETON), SKELETON_GROUP);
        groups.get_mut(DEFAULT_GROUP).entity.spelling = Some(DEFAULT_SPELLED.into());
        Self {
            nodes: Table::default(),
            groups,
            features: Table::default(),
            params: Table::default(),
            subsystems: Table::default(),
            must_change: Bits::default(),
        }
    }
}

impl Pool {
    /// The fleet that a state describes.
    pub fn new(state: &State) -> Self {
        Self::from_assertions(state.iter().map(|(key, assertion)| (key, &assertion.value)))
    }

    /// The fleet that some assertions describe.
    pub fn from_assertions<'a>(assertions: impl IntoIterator<Item = (&'a Key, &'a Value)>) -> Self {
        let mut pool = Self::default();
        let mut dirt = Dirt::default();
        for (key, value) in assertions {
            pool.put(key, Some(value), &mut dirt);
        }
        dirt.all = true;
        pool.derive(dirt);
        pool
    }

    /// Follows changes of the state.
    pub fn apply(&mut self, changes: &[Change]) {
        let mut dirt = Dirt::default();
        for change in changes {
            let value = change.after.as_ref().map(|assertion| &assertion.value);
            self.put(&change.key, value, &mut dirt);
        }
        self.derive(dirt);
    }

    /// Takes changes back.
    pub fn take_back(&mut self, changes: &[Change]) {
        let inverse: Vec<Change> = changes.iter().rev().map(Change::inverse).collect();
        self.apply(&inverse);
    }

    /// The names of all nodes, as they are spelled, in order.
    pub fn nodes(&self) -> Vec<EcoString> {
        self.names(Kind::Node)
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.known_nodes().count()
    }

    /// The names of all things of a kind, as they are spelled, in order. The default group is always there.
    pub fn names(&self, kind: Kind) -> Vec<EcoString> {
        match kind {
            Kind::Node => self.nodes.known_names(),
            Kind::Group => self.groups.known_names(),
            Kind::Feature => self.features.known_names(),
            Kind::Param => self.params.known_names(),
            Kind::Subsystem => self.subsystems.known_names(),
        }
    }

    /// How the thing with this name is spelled, if it is asserted.
    pub fn spelling(&self, kind: Kind, name: &str) -> Option<EcoString> {
        let name = fold(name);
        match kind {
            Kind::Node => self.nodes.spelling(&name),
            Kind::Group => self.groups.spelling(&name),
            Kind::Feature => self.features.spelling(&name),
            Kind::Param => self.params.spelling(&name),
            Kind::Subsystem => self.subsystems.spelling(&name),
        }
    }

    /// Whether a node came by itself; `None` if there is no such node.
    pub fn is_walk_in(&self, node: &str) -> Option<bool> {
        Some(self.nodes.get(self.node(node)?).walk_in)
    }

    /// The groups of a node, as they are spelled, from the highest priority, without its identity group and the default
    /// group.
    pub fn memberships(&self, node: &str) -> Option<Vec<EcoString>> {
        let node = self.nodes.get(self.node(node)?);
        let groups = node
            .groups
            .iter()
            .filter_map(|&(_, group)| self.groups.spelled(group));
        Some(groups.cloned().collect())
    }

    /// The nodes in a group, as they are spelled, in order.
    pub fn members(&self, group: &str) -> Vec<EcoString> {
        let Some(group) = self.groups.known(&fold(group)) else {
            return Vec::new();
        };
        let is_member = |node: &u32| {
            group == DEFAULT_GROUP
                || self
                    .nodes
                    .get(*node)
                    .groups
                    .iter()
                    .any(|&(_, other)| other == group)
        };
        let members = self.known_nodes().filter(|(node, _)| is_member(node));
        let mut names: Vec<EcoString> = members.map(|(_, name)| name).collect();
        names.sort();
        names
    }

    /// The features that a node installs, directly or by inclusion, as they are spelled, in order.
    pub fn features(&self, node: &str) -> Option<Vec<EcoString>> {
        let mut installed = Bits::default();
        for part in self.parts(self.node(node)?) {
            installed.add(&part.installed);
        }
        Some(self.features.spellings(&installed))
    }

    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        self.nodes.known(&fold(name))
    }

    pub(crate) fn known_nodes(&self) -> impl Iterator<Item = (u32, EcoString)> + '_ {
        let nodes = self.nodes.iter();
        nodes.filter_map(|(number, node)| Some((number, node.entity.spelling.clone()?)))
    }

    /// The groups of a node from the lowest priority, its identity group aside.
    pub(crate) fn groups_of(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let groups = self.nodes.get(node).groups.iter().rev();
        let known = groups
            .map(|&(_, group)| group)
            .filter(|&group| self.groups.is_known(group));
        std::iter::once(DEFAULT_GROUP).chain(known)
    }

    /// What a node is made of, from the lowest priority.
    pub(crate) fn parts(&self, node: u32) -> impl Iterator<Item = &Arc<Part>> + '_ {
        let groups = self
            .groups_of(node)
            .map(|group| &self.groups.get(group).part);
        let own = self.nodes.get(node).own.as_ref().map(|own| &own.part);
        groups.chain(own)
    }

    /// The groups of a node that nobody knows yet, from the lowest priority.
    pub(crate) fn groups_of_stranger(&self) -> impl Iterator<Item = u32> + '_ {
        let skeleton = self
            .groups
            .is_known(SKELETON_GROUP)
            .then_some(SKELETON_GROUP);
        std::iter::once(DEFAULT_GROUP).chain(skeleton)
    }
}

macro_rules! named {
    ($($type:ty),*) => {$(
        impl Named for $type {
            fn entity(&self) -> &Entity {
                &self.entity
            }
            fn entity_mut(&mut self) -> &mut Entity {
                &mut self.entity
            }
        }
    )*};
}

named!(Node, Group, Feature, Param, Subsystem);
