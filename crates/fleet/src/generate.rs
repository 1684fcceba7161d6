//! Random fleets: valid ones, ones with one predicted failure, and one of a known size.
//!
//! How many of each there are, and how they relate, is given by distributions. A fleet is valid because it is made so: relations go
//! one way only, every group gets what it needs, and only those conflict that never meet.

use std::collections::BTreeMap;

use ecow::EcoString;
use hence_ledger::{Key, Value};
use hence_model::diagnostic::Code;
use hence_model::random::Random;

use crate::bits::Bits;
use crate::derive::Part;
use crate::distribution::Distribution;
use crate::pool::{DEFAULT_GROUP, Pool};
use crate::validate::{
    CONFLICTING_FEATURES, CONFLICTING_PARAMETERS, MISSING_FEATURE, MISSING_PARAMETER,
    UNSET_PARAMETER,
};
use crate::words::{DEFAULT, DEFAULT_SPELLED, Kind};

/// What a fleet should be like.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// How many nodes.
    pub nodes: usize,
    /// How many groups, besides the default group.
    pub groups: usize,
    /// How many features.
    pub features: usize,
    /// How many parameters.
    pub params: usize,
    /// How many subsystems.
    pub subsystems: usize,
    /// In how many groups a node is.
    pub groups_per_node: Distribution,
    /// How many features and parameters an identity group has, each.
    pub own_per_node: Distribution,
    /// How many features a group has.
    pub features_per_group: Distribution,
    /// How many parameters a group has.
    pub params_per_group: Distribution,
    /// How many parameters a feature has.
    pub params_per_feature: Distribution,
    /// How many features a feature includes.
    pub includes_per_feature: Distribution,
    /// On how many features a feature depends.
    pub depends_per_feature: Distribution,
    /// With how many features a feature conflicts.
    pub conflicts_per_feature: Distribution,
    /// On how many parameters a parameter depends.
    pub depends_per_param: Distribution,
    /// With how many parameters a parameter conflicts.
    pub conflicts_per_param: Distribution,
    /// How many parameters a subsystem observes.
    pub params_per_subsystem: Distribution,
    /// How many parameters out of a hundred need a restart.
    pub restart: usize,
    /// How many parameters out of a hundred must be changed.
    pub must_change: usize,
    /// How many values out of a hundred have an operator.
    pub operators: usize,
}

const NEVER: Distribution = Distribution::Constant(0);

impl Shape {
    /// The published counts and means, without what the published generator could not make.
    pub fn published() -> Self {
        let poisson = |mean| Distribution::Poisson { mean };
        Self {
            nodes: 1000,
            groups: 50,
            features: 50,
            params: 500,
            subsystems: 10,
            groups_per_node: poisson(3.0),
            own_per_node: NEVER,
            features_per_group: poisson(3.0),
            params_per_group: poisson(7.0),
            params_per_feature: poisson(5.0),
            includes_per_feature: poisson(1.0),
            depends_per_feature: NEVER,
            conflicts_per_feature: NEVER,
            depends_per_param: NEVER,
            conflicts_per_param: NEVER,
            params_per_subsystem: poisson(50.0),
            restart: 25,
            must_change: 0,
            operators: 0,
        }
    }

    /// A little of everything.
    pub fn small() -> Self {
        let poisson = |mean| Distribution::Poisson { mean };
        Self {
            nodes: 8,
            groups: 4,
            features: 10,
            params: 14,
            subsystems: 3,
            groups_per_node: poisson(2.0),
            own_per_node: poisson(0.7),
            features_per_group: Distribution::Uniform {
                mean: 2.0,
                variance: 1.0,
            },
            params_per_group: poisson(2.0),
            params_per_feature: Distribution::Normal {
                mean: 2.0,
                variance: 1.0,
            },
            includes_per_feature: poisson(0.7),
            depends_per_feature: poisson(0.4),
            conflicts_per_feature: poisson(1.0),
            depends_per_param: poisson(0.3),
            conflicts_per_param: poisson(1.0),
            params_per_subsystem: poisson(4.0),
            restart: 25,
            must_change: 25,
            operators: 40,
        }
    }
}

/// What is asserted in a fleet that is valid, and that no commit check objects to.
pub fn valid(shape: &Shape, random: &mut Random) -> Vec<(Key, Value)> {
    let mut maker = Maker {
        shape,
        random,
        assertions: Vec::new(),
        kinds: Vec::new(),
    };
    maker.params();
    maker.features();
    maker.groups();
    maker.nodes();
    maker.subsystems();
    while maker.complete() {}
    maker.conflicts();
    maker.assertions
}

/// A fleet with one failure, and which it is.
#[derive(Clone, Debug)]
pub struct NearValid {
    /// What is asserted.
    pub assertions: Vec<(Key, Value)>,
    /// The node that fails, as it is spelled.
    pub node: EcoString,
    /// How it fails.
    pub code: Code,
    /// What is missing, unset or in conflict.
    pub names: Vec<EcoString>,
}

/// A fleet that is valid but for one failure.
pub fn near_valid(shape: &Shape, random: &mut Random) -> NearValid {
    let mut assertions = valid(shape, random);
    let (node, own) = match shape.nodes {
        0 => (DEFAULT_SPELLED.into(), group_key(DEFAULT)),
        nodes => {
            let node = format!("Node{}", random.below(nodes));
            (EcoString::from(&node), Kind::Node.key(&node))
        }
    };
    // Where a conflict may begin: on the node itself, or on what all nodes have.
    let elsewhere = match random.chance(50) {
        true => group_key(DEFAULT),
        false => own.clone(),
    };
    let mut add = |key: Key, value: &str| {
        let value = match value {
            "" => Value::Nothing,
            value => Value::text(value),
        };
        assertions.push((key, value));
    };
    for kind in [Kind::Feature, Kind::Param] {
        for name in ["Xx", "Yy", "Zz"] {
            add(kind.key(name), name);
        }
    }
    let [x, y, z] = ["xx", "yy", "zz"].map(|name| Kind::Feature.key(name));
    let [p, q] = ["xx", "yy"].map(|name| Kind::Param.key(name));
    let (code, names): (Code, &[&str]) = match random.below(5) {
        0 => {
            add(own.child("feature").child("xx"), "100");
            match random.chance(50) {
                true => {
                    add(x.child("depend").child("yy"), "");
                    add(y.child("include").child("zz"), "1");
                    (MISSING_FEATURE, &["Yy", "Zz"])
                }
                false => {
                    add(x.child("include").child("yy"), "1");
                    add(y.child("depend").child("zz"), "");
                    (MISSING_FEATURE, &["Zz"])
                }
            }
        }
        1 => {
            add(p.child("must-change"), "");
            match random.chance(50) {
                true => add(own.child("param").child("xx"), ""),
                false => {
                    add(own.child("feature").child("zz"), "100");
                    add(z.child("param").child("xx"), "");
                }
            }
            (UNSET_PARAMETER, &["Xx"])
        }
        2 => {
            add(own.child("param").child("xx"), "value");
            add(p.child("depend").child("yy"), "");
            add(q.child("depend").child("zz"), "");
            (MISSING_PARAMETER, &["Yy", "Zz"])
        }
        3 => {
            add(elsewhere.child("param").child("xx"), "value");
            add(own.child("param").child("yy"), "");
            add(p.child("conflict").child("yy"), "");
            if random.chance(50) {
                add(q.child("conflict").child("xx"), "");
            }
            (CONFLICTING_PARAMETERS, &["Xx", "Yy"])
        }
        _ => {
            add(elsewhere.child("feature").child("xx"), "100");
            add(own.child("feature").child("yy"), "101");
            add(y.child("conflict").child("xx"), "");
            if random.chance(50) {
                add(x.child("conflict").child("yy"), "");
            }
            (CONFLICTING_FEATURES, &["Xx", "Yy"])
        }
    };
    let names = names.iter().map(|&name| name.into()).collect();
    NearValid {
        assertions,
        node,
        code,
        names,
    }
}

fn group_key(name: &str) -> Key {
    Kind::Group.key(name)
}

struct Maker<'m> {
    shape: &'m Shape,
    random: &'m mut Random,
    assertions: Vec<(Key, Value)>,
    /// The kinds of the parameters.
    kinds: Vec<&'static str>,
}

impl Maker<'_> {
    fn add(&mut self, key: Key, value: impl Into<EcoString>) {
        self.assertions.push((key, Value::text(value)));
    }

    fn so(&mut self, key: Key) {
        self.assertions.push((key, Value::Nothing));
    }

    fn entity(&mut self, kind: Kind, name: &str) -> Key {
        let key = kind.key(name);
        self.add(key.clone(), name);
        key
    }

    /// Some numbers below a bound, each once.
    fn some(&mut self, count: Distribution, bound: usize) -> Vec<usize> {
        let mut some: Vec<usize> = Vec::new();
        for _ in 0..count.sample(self.random).min(bound) {
            let number = self.random.below(bound);
            if !some.contains(&number) {
                some.push(number);
            }
        }
        some
    }

    fn value(&mut self, param: usize) -> String {
        let number = self.random.below(1000).to_string();
        let operators = self.random.chance(self.shape.operators);
        match (self.kinds[param], operators) {
            ("integer", false) => number,
            ("integer", true) => format!("?= {number}"),
            (_, false) => format!("value {number}"),
            (_, true) => {
                let sign = *self.random.pick(&[">=", "&&=", "||=", "?="]);
                format!("{sign} value{number}")
            }
        }
    }

    fn params(&mut self) {
        for number in 0..self.shape.params {
            let key = self.entity(Kind::Param, &format!("PARAM_{number}"));
            let kind = *self
                .random
                .pick(&["string", "string", "list", "expression", "integer"]);
            self.kinds.push(kind);
            self.add(key.child("kind"), kind);
            if self.random.chance(self.shape.restart) {
                self.so(key.child("restart"));
            }
            match self.random.chance(self.shape.must_change) {
                true => self.so(key.child("must-change")),
                false if self.random.chance(50) => {
                    let default = self.random.below(1000).to_string();
                    self.add(key.child("default"), default);
                }
                false => {}
            }
            for other in self.some(self.shape.depends_per_param, number) {
                self.so(key.child("depend").child(&format!("param_{other}")));
            }
        }
    }

    fn features(&mut self) {
        for number in 0..self.shape.features {
            let key = self.entity(Kind::Feature, &format!("Feature{number}"));
            for (rank, other) in self
                .some(self.shape.includes_per_feature, number)
                .into_iter()
                .enumerate()
            {
                self.add(
                    key.child("include").child(&format!("feature{other}")),
                    rank.to_string(),
                );
            }
            for other in self.some(self.shape.depends_per_feature, number) {
                self.so(key.child("depend").child(&format!("feature{other}")));
            }
            self.bindings(&key, self.shape.params_per_feature);
        }
    }

    fn bindings(&mut self, top: &Key, count: Distribution) {
        for param in self.some(count, self.shape.params) {
            let key = top.child("param").child(&format!("param_{param}"));
            match self.random.chance(10) {
                true => self.so(key),
                false => {
                    let value = self.value(param);
                    self.add(key, value);
                }
            }
        }
    }

    fn installations(&mut self, top: &Key, count: Distribution) {
        for (rank, feature) in self
            .some(count, self.shape.features)
            .into_iter()
            .enumerate()
        {
            self.add(
                top.child("feature").child(&format!("feature{feature}")),
                rank.to_string(),
            );
        }
    }

    fn groups(&mut self) {
        let mut tops = vec![group_key(DEFAULT)];
        for number in 0..self.shape.groups {
            tops.push(self.entity(Kind::Group, &format!("Group{number}")));
        }
        for top in tops {
            self.installations(&top, self.shape.features_per_group);
            self.bindings(&top, self.shape.params_per_group);
        }
    }

    fn nodes(&mut self) {
        for number in 0..self.shape.nodes {
            let key = self.entity(Kind::Node, &format!("Node{number}"));
            for (rank, group) in self
                .some(self.shape.groups_per_node, self.shape.groups)
                .into_iter()
                .enumerate()
            {
                self.add(
                    key.child("group").child(&format!("group{group}")),
                    rank.to_string(),
                );
            }
            self.installations(&key, self.shape.own_per_node);
            self.bindings(&key, self.shape.own_per_node);
        }
    }

    fn subsystems(&mut self) {
        for number in 0..self.shape.subsystems {
            let key = self.entity(Kind::Subsystem, &format!("Subsystem{number}"));
            for param in self.some(self.shape.params_per_subsystem, self.shape.params) {
                self.so(key.child("param").child(&format!("param_{param}")));
            }
        }
    }

    fn pool(&self) -> Pool {
        Pool::from_assertions(self.assertions.iter().map(|(key, value)| (key, value)))
    }

    /// Gives every group what it still needs; whether there was anything to give.
    fn complete(&mut self) -> bool {
        let pool = self.pool();
        let mut needed: BTreeMap<Key, Value> = BTreeMap::new();
        for (_, group) in pool.groups.iter() {
            still_needed(
                &pool,
                &group_key(&group.entity.name),
                &group.part,
                &mut needed,
            );
        }
        for (_, node) in pool.nodes.iter() {
            if let Some(own) = &node.own {
                let top = Kind::Node.key(&node.entity.name);
                still_needed(&pool, &top, &own.part, &mut needed);
            }
        }
        let is_complete = needed.is_empty();
        self.assertions.retain(|(key, _)| !needed.contains_key(key));
        self.assertions.extend(needed);
        !is_complete
    }

    /// Lets some conflict that never meet.
    fn conflicts(&mut self) {
        if self.shape.conflicts_per_feature == NEVER && self.shape.conflicts_per_param == NEVER {
            return;
        }
        let pool = self.pool();
        let mut features: Vec<Bits> = Vec::new();
        let mut params: Vec<Bits> = Vec::new();
        for (_, feature) in pool.features.iter() {
            let mut bound = Bits::default();
            for other in feature.needs.iter() {
                for (param, _) in pool.features.get(other).partials.iter() {
                    bound.add(&pool.params.get(*param).needs);
                }
            }
            features.push(feature.needs.clone());
            params.push(bound);
        }
        params.extend(pool.params.iter().map(|(_, param)| param.needs.clone()));
        let default = &pool.groups.get(DEFAULT_GROUP).part;
        features.push(default.installed.clone());
        params.push(default.present.clone());
        for (node, _) in pool.known_nodes() {
            let mut installed = Bits::default();
            let mut present = Bits::default();
            for part in pool.parts(node) {
                installed.add(&part.installed);
                present.add(&part.present);
            }
            features.push(installed);
            params.push(present);
        }
        let kinds = [
            (
                Kind::Feature,
                "feature",
                self.shape.features,
                self.shape.conflicts_per_feature,
                features,
            ),
            (
                Kind::Param,
                "param_",
                self.shape.params,
                self.shape.conflicts_per_param,
                params,
            ),
        ];
        for (kind, name, count, distribution, together) in kinds {
            // They were named in the order of their numbers.
            let meet = |a: usize, b: usize| {
                let both = |set: &Bits| set.contains(a as u32) && set.contains(b as u32);
                together.iter().any(both)
            };
            for number in 0..count {
                for other in self.some(distribution, count) {
                    if number != other && !meet(number, other) {
                        let key = kind.key(&format!("{name}{number}"));
                        self.so(key.child("conflict").child(&format!("{name}{other}")));
                    }
                }
            }
        }
    }
}

/// What a group needs to be valid by itself, and so with any others.
fn still_needed(pool: &Pool, top: &Key, part: &Part, needed: &mut BTreeMap<Key, Value>) {
    let mut missing = part.features_needed.clone();
    missing.subtract(&part.installed);
    for feature in missing.iter() {
        let key = top.child("feature").child(pool.features.name(feature));
        needed.insert(key, Value::text("50"));
    }
    for param in part.params_needed.iter() {
        let is_missing = !part.present.contains(param);
        let is_unset = pool.must_change.contains(param) && !part.filled.contains(param);
        let key = || top.child("param").child(pool.params.name(param));
        if is_unset {
            needed.insert(key(), Value::text("7"));
        } else if is_missing {
            needed.insert(key(), Value::Nothing);
        }
    }
}
