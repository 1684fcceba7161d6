//! When two pools are equal: if they say the same about the same names, whatever the numbers of these are.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use hence_ledger::Value;

use crate::bits::Bits;
use crate::derive::Part;
use crate::partial::Partial;
use crate::pool::{Body, Pool};
use crate::table::{Entity, Named, Table};

impl PartialEq for Pool {
    fn eq(&self, other: &Self) -> bool {
        self.description() == other.description()
    }
}

/// A pool without numbers. What is only mentioned somewhere is not there.
#[derive(Default, PartialEq)]
struct Description<'p> {
    entities: BTreeMap<(&'static str, &'p str), Plain<'p>>,
    ranks: BTreeMap<(&'static str, &'p str), Vec<(i64, &'p str)>>,
    sets: BTreeMap<(&'static str, &'p str), BTreeSet<&'p str>>,
    values: BTreeMap<(&'static str, &'p str), BTreeMap<&'p str, &'p Value>>,
    partials: BTreeMap<(&'static str, &'p str), BTreeMap<&'p str, &'p Partial>>,
}

/// What is said of a thing by itself.
type Plain<'p> = (&'p Entity, Vec<&'p Option<EcoString>>, [bool; 2]);

impl PartialEq for Entity {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.spelling, &self.annotation)
            == (&other.name, &other.spelling, &other.annotation)
    }
}

impl Pool {
    fn description(&self) -> Description<'_> {
        let mut to = Description::default();
        for (_, node) in self.nodes.iter() {
            let name = node.entity.name.as_str();
            to.entity("node", &node.entity, Vec::new(), [node.walk_in, false]);
            to.ranked(("node groups", name), &node.groups, &self.groups);
            if let Some(own) = &node.own {
                to.body(["node features", "node params"], name, &own.body, self);
                to.part(PARTS_OF_NODE, name, &own.part, self);
            }
        }
        for (_, group) in self.groups.iter() {
            let name = group.entity.name.as_str();
            to.entity("group", &group.entity, Vec::new(), [false; 2]);
            to.body(["group features", "group params"], name, &group.body, self);
            to.part(PARTS_OF_GROUP, name, &group.part, self);
        }
        for (_, feature) in self.features.iter() {
            let name = feature.entity.name.as_str();
            to.entity("feature", &feature.entity, Vec::new(), [false; 2]);
            to.ranked(("include", name), &feature.include, &self.features);
            to.set(("feature depend", name), &feature.depend, &self.features);
            to.set(
                ("feature conflict", name),
                &feature.conflict,
                &self.features,
            );
            to.set(
                ("feature installs", name),
                &feature.installs,
                &self.features,
            );
            to.set(("feature needs", name), &feature.needs, &self.features);
            to.set(("feature clashes", name), &feature.clashes, &self.features);
            to.values(("feature params", name), &feature.params, self);
            to.partials(("feature partials", name), &feature.partials, self);
        }
        for (number, param) in self.params.iter() {
            let name = param.entity.name.as_str();
            let texts = vec![
                &param.kind,
                &param.default,
                &param.description,
                &param.level,
            ];
            to.entity(
                "param",
                &param.entity,
                texts,
                [param.must_change, param.restart],
            );
            to.set(("param depend", name), &param.depend, &self.params);
            to.set(("param conflict", name), &param.conflict, &self.params);
            to.set(("param needs", name), &param.needs, &self.params);
            to.set(("param clashes", name), &param.clashes, &self.params);
            if self.must_change.contains(number) {
                to.sets.insert(("must change", name), BTreeSet::new());
            }
        }
        for (_, subsystem) in self.subsystems.iter() {
            to.entity("subsystem", &subsystem.entity, Vec::new(), [false; 2]);
            to.set(
                ("observed", &subsystem.entity.name),
                &subsystem.params,
                &self.params,
            );
        }
        to
    }
}

const PARTS_OF_NODE: [&str; 8] = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"];
const PARTS_OF_GROUP: [&str; 8] = ["g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7"];

impl<'p> Description<'p> {
    fn entity(
        &mut self,
        kind: &'static str,
        entity: &'p Entity,
        texts: Vec<&'p Option<EcoString>>,
        flags: [bool; 2],
    ) {
        let says = entity.spelling.is_some() || entity.annotation.is_some();
        if says || flags != [false; 2] || texts.iter().any(|text| text.is_some()) {
            self.entities
                .insert((kind, &entity.name), (entity, texts, flags));
        }
    }

    fn ranked<T: Named>(
        &mut self,
        at: (&'static str, &'p str),
        ranked: &'p [(i64, u32)],
        table: &'p Table<T>,
    ) {
        if !ranked.is_empty() {
            let named = |&(rank, number): &(i64, u32)| (rank, table.name(number));
            self.ranks.insert(at, ranked.iter().map(named).collect());
        }
    }

    fn set<T: Named>(&mut self, at: (&'static str, &'p str), set: &Bits, table: &'p Table<T>) {
        if !set.is_empty() {
            self.sets
                .insert(at, set.iter().map(|number| table.name(number)).collect());
        }
    }

    fn values(
        &mut self,
        at: (&'static str, &'p str),
        values: &'p BTreeMap<u32, Value>,
        pool: &'p Pool,
    ) {
        if !values.is_empty() {
            let named = values
                .iter()
                .map(|(&param, value)| (pool.params.name(param), value));
            self.values.insert(at, named.collect());
        }
    }

    fn partials(
        &mut self,
        at: (&'static str, &'p str),
        partials: &'p [(u32, Partial)],
        pool: &'p Pool,
    ) {
        if !partials.is_empty() {
            let named = partials
                .iter()
                .map(|(param, partial)| (pool.params.name(*param), partial));
            self.partials.insert(at, named.collect());
        }
    }

    fn body(&mut self, kinds: [&'static str; 2], name: &'p str, body: &'p Body, pool: &'p Pool) {
        self.ranked((kinds[0], name), &body.features, &pool.features);
        self.values((kinds[1], name), &body.params, pool);
    }

    fn part(&mut self, kinds: [&'static str; 8], name: &'p str, part: &'p Part, pool: &'p Pool) {
        self.partials((kinds[0], name), &part.partials, pool);
        self.set((kinds[1], name), &part.present, &pool.params);
        self.set((kinds[2], name), &part.filled, &pool.params);
        self.set((kinds[3], name), &part.params_needed, &pool.params);
        self.set((kinds[4], name), &part.params_barred, &pool.params);
        self.set((kinds[5], name), &part.installed, &pool.features);
        self.set((kinds[6], name), &part.features_needed, &pool.features);
        self.set((kinds[7], name), &part.features_barred, &pool.features);
    }
}
