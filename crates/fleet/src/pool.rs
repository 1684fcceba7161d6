//! What a state of the ledger says about a fleet, in tables.
//!
//! A pool is built from a state once and then kept current, change by change; both ways lead to equal pools. What is
//! asserted stands in the tables of this file, dormant or not; what follows from it is derived beside them ([`derive`]).
//! Names are numbers inside; a name keeps its number for the life of the pool. The configuration of a node is kept nowhere:
//! it is the few parts of its groups, one over the other.
//!
//! [`derive`]: crate::derive

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use hence_ledger::key::fold;
use hence_ledger::{Change, Key, State, Value};

use crate::bits::Bits;
use crate::derive::{Dirt, Part};
use crate::partial::Partial;
use crate::table::{Entity, Named, Table};
use crate::words::{DEFAULT, Kind, Phrase, SKELETON, rank};

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
        groups.get_mut(DEFAULT_GROUP).entity.spelling = Some("+++DEFAULT".into());
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
        let mut names: Vec<EcoString> = self.known_nodes().map(|(_, name)| name).collect();
        names.sort();
        names
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.known_nodes().count()
    }

    /// How the thing with this name is spelled, if it is asserted.
    pub fn spelling(&self, kind: Kind, name: &str) -> Option<EcoString> {
        let name = fold(name);
        match kind {
            Kind::Node => self
                .nodes
                .find(&name)
                .and_then(|number| self.nodes.spelled(number)),
            Kind::Group => self
                .groups
                .find(&name)
                .and_then(|number| self.groups.spelled(number)),
            Kind::Feature => self
                .features
                .find(&name)
                .and_then(|number| self.features.spelled(number)),
            Kind::Param => self
                .params
                .find(&name)
                .and_then(|number| self.params.spelled(number)),
            Kind::Subsystem => self
                .subsystems
                .find(&name)
                .and_then(|number| self.subsystems.spelled(number)),
        }
        .cloned()
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

    /// Writes what is asserted about a key, and notes what has to be derived again.
    fn put(&mut self, key: &Key, value: Option<&Value>, dirt: &mut Dirt) {
        let Some(phrase) = Phrase::of(key) else {
            return;
        };
        let text = || value.and_then(Value::as_text).map(EcoString::from);
        let Some((clause, about)) = phrase.clause else {
            let spelling = value.map(|_| text().unwrap_or_else(|| phrase.name.as_ref().into()));
            self.put_entity(phrase.kind, &phrase.name, spelling, dirt);
            return;
        };
        let ranked = value.map(|value| value.as_text().and_then(rank).unwrap_or_default());
        let other = about.as_deref().unwrap_or_default();
        match phrase.kind {
            Kind::Node => {
                let number = self.nodes.number(&phrase.name);
                match clause.word {
                    "walk-in" => self.nodes.get_mut(number).walk_in = value.is_some(),
                    "annotation" => self.nodes.get_mut(number).entity.annotation = text(),
                    "group" => {
                        let group = self.groups.number(other);
                        let groups = &mut self.nodes.get_mut(number).groups;
                        put_ranked(groups, group, ranked, &self.groups);
                    }
                    word => {
                        dirt.nodes.insert(number);
                        let node = self.nodes.get_mut(number);
                        let own = node.own.get_or_insert_default();
                        put_body(
                            &mut own.body,
                            word,
                            other,
                            ranked,
                            value,
                            &mut self.features,
                            &mut self.params,
                        );
                        if own.body.features.is_empty() && own.body.params.is_empty() {
                            node.own = None;
                        }
                    }
                }
            }
            Kind::Group => {
                let number = self.groups.number(&phrase.name);
                let group = self.groups.get_mut(number);
                match clause.word {
                    "annotation" => group.entity.annotation = text(),
                    word => {
                        dirt.groups.insert(number);
                        put_body(
                            &mut group.body,
                            word,
                            other,
                            ranked,
                            value,
                            &mut self.features,
                            &mut self.params,
                        );
                    }
                }
            }
            Kind::Feature => {
                self.put_feature(&phrase.name, clause.word, other, ranked, value, dirt)
            }
            Kind::Param => self.put_param(&phrase.name, clause.word, other, value, dirt),
            Kind::Subsystem => {
                let number = self.subsystems.number(&phrase.name);
                let subsystem = self.subsystems.get_mut(number);
                match clause.word {
                    "annotation" => subsystem.entity.annotation = text(),
                    _ => set_bit(
                        &mut subsystem.params,
                        self.params.number(other),
                        value.is_some(),
                    ),
                }
            }
        }
    }

    fn put_entity(&mut self, kind: Kind, name: &str, spelling: Option<EcoString>, dirt: &mut Dirt) {
        match kind {
            Kind::Node => {
                let number = self.nodes.number(name);
                self.nodes.spell(number, spelling);
            }
            Kind::Group => {
                let number = self.groups.number(name);
                if number != DEFAULT_GROUP {
                    self.groups.spell(number, spelling);
                }
            }
            Kind::Feature => {
                let number = self.features.number(name);
                if self.features.spell(number, spelling) {
                    dirt.features.insert(number);
                    dirt.feature_graph = true;
                }
            }
            Kind::Param => {
                let number = self.params.number(name);
                if self.params.spell(number, spelling) {
                    dirt.params.insert(number);
                    dirt.param_graph = true;
                }
            }
            Kind::Subsystem => {
                let number = self.subsystems.number(name);
                self.subsystems.spell(number, spelling);
            }
        }
    }

    fn put_feature(
        &mut self,
        name: &str,
        word: &str,
        other: &str,
        ranked: Option<i64>,
        value: Option<&Value>,
        dirt: &mut Dirt,
    ) {
        let number = self.features.number(name);
        if word == "annotation" {
            let text = value.and_then(Value::as_text).map(EcoString::from);
            self.features.get_mut(number).entity.annotation = text;
            return;
        }
        dirt.features.insert(number);
        if word == "param" {
            let param = self.params.number(other);
            put_value(&mut self.features.get_mut(number).params, param, value);
            return;
        }
        dirt.feature_graph = true;
        let other = self.features.number(other);
        match word {
            "include" => {
                let mut include = std::mem::take(&mut self.features.get_mut(number).include);
                put_ranked(&mut include, other, ranked, &self.features);
                self.features.get_mut(number).include = include;
            }
            "depend" => {
                set_bit(
                    &mut self.features.get_mut(number).depend,
                    other,
                    value.is_some(),
                );
            }
            _ => set_bit(
                &mut self.features.get_mut(number).conflict,
                other,
                value.is_some(),
            ),
        }
    }

    fn put_param(
        &mut self,
        name: &str,
        word: &str,
        other: &str,
        value: Option<&Value>,
        dirt: &mut Dirt,
    ) {
        let text = || value.and_then(Value::as_text).map(EcoString::from);
        let number = self.params.number(name);
        if matches!(word, "depend" | "conflict") {
            dirt.param_graph = true;
            let other = self.params.number(other);
            let param = self.params.get_mut(number);
            match word {
                "depend" => set_bit(&mut param.depend, other, value.is_some()),
                _ => set_bit(&mut param.conflict, other, value.is_some()),
            }
            return;
        }
        let param = self.params.get_mut(number);
        match word {
            "kind" => param.kind = text(),
            "description" => param.description = text(),
            "annotation" => param.entity.annotation = text(),
            "level" => param.level = text(),
            "restart" => param.restart = value.is_some(),
            "default" => {
                param.default = text();
                dirt.params.insert(number);
            }
            _ => {
                param.must_change = value.is_some();
                dirt.params.insert(number);
            }
        }
    }
}

fn put_body(
    body: &mut Body,
    word: &str,
    other: &str,
    ranked: Option<i64>,
    value: Option<&Value>,
    features: &mut Table<Feature>,
    params: &mut Table<Param>,
) {
    match word {
        "feature" => {
            let feature = features.number(other);
            put_ranked(&mut body.features, feature, ranked, features);
        }
        _ => put_value(&mut body.params, params.number(other), value),
    }
}

/// Puts something at its place in an order, or takes it out.
fn put_ranked<T: Named>(
    ranked: &mut Vec<(i64, u32)>,
    number: u32,
    rank: Option<i64>,
    table: &Table<T>,
) {
    ranked.retain(|&(_, other)| other != number);
    let Some(rank) = rank else {
        return;
    };
    let name = |number| &table.get(number).entity().name;
    let order =
        |&(other_rank, other): &(i64, u32)| (other_rank, name(other)) < (rank, name(number));
    let at = ranked.partition_point(order);
    // Most lists are short, and there are many of them.
    ranked.reserve_exact(1);
    ranked.insert(at, (rank, number));
}

fn put_value(values: &mut BTreeMap<u32, Value>, param: u32, value: Option<&Value>) {
    match value {
        Some(value) => {
            values.insert(param, value.clone());
        }
        None => {
            values.remove(&param);
        }
    }
}

fn set_bit(bits: &mut Bits, number: u32, is_so: bool) {
    match is_so {
        true => {
            bits.insert(number);
        }
        false => bits.remove(number),
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
