//! Which assertions a failure comes from, and what would repair it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use hence_ledger::key::fold;
use hence_ledger::{Command, Key, Keys, Value};

use crate::derive::Part;
use crate::pool::{Body, Pool};
use crate::validate::{
    CONFLICTING_PARAMETERS, Failure, MISSING_FEATURE, MISSING_PARAMETER, UNSET_PARAMETER,
};
use crate::words::Kind;

/// One way to repair a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What it comes to.
    pub sentence: String,
    /// How, in the language of the ledger; `VALUE` stands for what only people can know.
    pub commands: Vec<String>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = self.commands.iter();
        let commands: Vec<String> = commands
            .map(|command| format!("`hence {command}`"))
            .collect();
        write!(f, "{}: {}", self.sentence, commands.join(" and "))
    }
}

/// A group of a node, as it can be blamed.
pub(crate) struct Source<'p> {
    /// The key that everything in the group is below.
    pub top: Key,
    pub body: &'p Body,
    pub part: &'p Arc<Part>,
}

impl Pool {
    /// The assertions that together make a failure, in order.
    pub fn blame(&self, failure: &Failure) -> Vec<Key> {
        let sources = self.sources(&failure.node);
        let mut keys = BTreeSet::new();
        match failure.code {
            MISSING_FEATURE => {
                for name in self.feature_numbers(failure) {
                    self.blame_need(&sources, name, &mut keys);
                }
            }
            UNSET_PARAMETER => {
                for param in self.param_numbers(failure) {
                    keys.insert(self.param_key(param).child("must-change"));
                    self.blame_binding(&sources, param, &mut keys);
                }
            }
            MISSING_PARAMETER => {
                for missing in self.param_numbers(failure) {
                    for (number, param) in self.params.iter() {
                        let needed = sources
                            .iter()
                            .any(|s| s.part.params_needed.contains(number));
                        if needed && param.depend.contains(missing) {
                            let name = &self.params.get(missing).entity.name;
                            keys.insert(self.param_key(number).child("depend").child(name));
                            self.blame_binding(&sources, number, &mut keys);
                        }
                    }
                }
            }
            CONFLICTING_PARAMETERS => {
                let pair = self.param_numbers(failure);
                for &param in &pair {
                    for &other in &pair {
                        if self.params.get(param).conflict.contains(other) {
                            let name = &self.params.get(other).entity.name;
                            keys.insert(self.param_key(param).child("conflict").child(name));
                        }
                    }
                    self.blame_binding(&sources, param, &mut keys);
                }
            }
            _ => {
                let pair = self.feature_numbers(failure);
                for &feature in &pair {
                    for &other in &pair {
                        if self.features.get(feature).conflict.contains(other) {
                            let name = &self.features.get(other).entity.name;
                            keys.insert(self.feature_key(feature).child("conflict").child(name));
                        }
                    }
                    self.blame_install(&sources, feature, &mut keys);
                }
            }
        }
        keys.into_iter().collect()
    }

    /// What would repair a failure: each of these alone.
    pub fn repairs(&self, failure: &Failure) -> Vec<Repair> {
        let sources = self.sources(&failure.node);
        match failure.code {
            MISSING_FEATURE => self.repair_features(failure, &sources),
            UNSET_PARAMETER | MISSING_PARAMETER => self.repair_params(failure, &sources),
            CONFLICTING_PARAMETERS => {
                let params = self.param_numbers(failure).into_iter();
                let without = params.map(|param| {
                    let mut keys = BTreeSet::new();
                    self.bindings(&sources, param, &mut keys);
                    do_without(&self.params.called(param), keys)
                });
                without.collect()
            }
            _ => {
                let features = self.feature_numbers(failure).into_iter();
                let without = features.map(|feature| {
                    let keys = self.installations(&sources, |installed| {
                        self.features.get(installed).installs.contains(feature)
                    });
                    do_without(&self.features.called(feature), keys)
                });
                without.collect()
            }
        }
    }

    fn repair_features(&self, failure: &Failure, sources: &[Source<'_>]) -> Vec<Repair> {
        let missing = self.feature_numbers(failure);
        let mut installs = Vec::new();
        let mut more = 0;
        for &feature in &missing {
            let needs = |source: &&Source<'_>| source.part.features_needed.contains(feature);
            let Some(source) = sources.iter().find(needs) else {
                continue;
            };
            let lowest = source.body.features.last().map_or(0, |&(rank, _)| rank);
            more += 1;
            let key = source
                .top
                .child("feature")
                .child(&self.features.get(feature).entity.name);
            let rank = Value::text(lowest.saturating_add(more).to_string());
            installs.push(assert(key, rank));
        }
        let dependents = self.installations(sources, |installed| {
            let needs = &self.features.get(installed).needs;
            missing.iter().any(|&feature| needs.contains(feature))
        });
        let install = Repair {
            sentence: "install what is needed".to_owned(),
            commands: installs,
        };
        let remove = Repair {
            sentence: "or do without what needs it".to_owned(),
            commands: dependents.into_iter().map(retract).collect(),
        };
        vec![install, remove]
    }

    fn repair_params(&self, failure: &Failure, sources: &[Source<'_>]) -> Vec<Repair> {
        let mut commands = Vec::new();
        for param in self.param_numbers(failure) {
            let concerned = |source: &&Source<'_>| source.part.params_needed.contains(param);
            let Some(source) = sources.iter().find(concerned) else {
                continue;
            };
            let row = self.params.get(param);
            let key = source.top.child("param").child(&row.entity.name);
            let value = match row.must_change {
                true => Value::text("VALUE"),
                // Its default will do.
                false => Value::Nothing,
            };
            commands.push(assert(key, value));
        }
        let sentence = match failure.code {
            UNSET_PARAMETER => "give it a value",
            _ => "set what is needed",
        };
        vec![Repair {
            sentence: sentence.to_owned(),
            commands,
        }]
    }

    /// The groups of a node, from the lowest priority.
    pub(crate) fn sources(&self, node: &str) -> Vec<Source<'_>> {
        let node = self.node(node);
        let groups: Vec<u32> = match node {
            Some(node) => self.groups_of(node).collect(),
            None => self.groups_of_stranger().collect(),
        };
        let groups = groups.into_iter().map(|number| {
            let group = self.groups.get(number);
            Source {
                top: Kind::Group.key(&group.entity.name),
                body: &group.body,
                part: &group.part,
            }
        });
        let own = node.and_then(|node| {
            let row = self.nodes.get(node);
            let own = row.own.as_ref()?;
            Some(Source {
                top: Kind::Node.key(&row.entity.name),
                body: &own.body,
                part: &own.part,
            })
        });
        groups.chain(own).collect()
    }

    /// Why a feature is needed: who includes it or depends on it, and how those came in.
    fn blame_need(&self, sources: &[Source<'_>], missing: u32, keys: &mut BTreeSet<Key>) {
        for (number, feature) in self.features.iter() {
            if !sources
                .iter()
                .any(|source| source.part.features_needed.contains(number))
            {
                continue;
            }
            let name = &self.features.get(missing).entity.name;
            if feature.include.iter().any(|&(_, other)| other == missing) {
                keys.insert(self.feature_key(number).child("include").child(name));
            }
            if feature.depend.contains(missing) {
                keys.insert(self.feature_key(number).child("depend").child(name));
                self.blame_install(sources, number, keys);
            }
        }
    }

    /// How a feature came in: what was installed, and what that includes on the way to it.
    fn blame_install(&self, sources: &[Source<'_>], feature: u32, keys: &mut BTreeSet<Key>) {
        let leads = |number: u32| self.features.get(number).installs.contains(feature);
        for source in sources {
            for &(_, installed) in &source.body.features {
                if !leads(installed) {
                    continue;
                }
                let name = &self.features.get(installed).entity.name;
                keys.insert(source.top.child("feature").child(name));
                for on_the_way in self.features.get(installed).installs.iter() {
                    for &(_, included) in &self.features.get(on_the_way).include {
                        if leads(included) {
                            let name = &self.features.get(included).entity.name;
                            keys.insert(self.feature_key(on_the_way).child("include").child(name));
                        }
                    }
                }
            }
        }
    }

    /// How a parameter came in: who sets it, and how those came in.
    fn blame_binding(&self, sources: &[Source<'_>], param: u32, keys: &mut BTreeSet<Key>) {
        for feature in self.bindings(sources, param, keys) {
            self.blame_install(sources, feature, keys);
        }
    }

    /// Who sets a parameter; among them, which features.
    fn bindings(&self, sources: &[Source<'_>], param: u32, keys: &mut BTreeSet<Key>) -> Vec<u32> {
        let name = &self.params.get(param).entity.name;
        let mut features = Vec::new();
        for source in sources {
            if source.body.params.contains_key(&param) {
                keys.insert(source.top.child("param").child(name));
            }
            for feature in source.part.installed.iter() {
                if self.features.get(feature).params.contains_key(&param) {
                    keys.insert(self.feature_key(feature).child("param").child(name));
                    features.push(feature);
                }
            }
        }
        features
    }

    fn installations(&self, sources: &[Source<'_>], of: impl Fn(u32) -> bool) -> BTreeSet<Key> {
        let mut keys = BTreeSet::new();
        for source in sources {
            for &(_, feature) in source
                .body
                .features
                .iter()
                .filter(|(_, feature)| of(*feature))
            {
                let name = &self.features.get(feature).entity.name;
                keys.insert(source.top.child("feature").child(name));
            }
        }
        keys
    }

    fn feature_numbers(&self, failure: &Failure) -> Vec<u32> {
        let names = failure.names.iter();
        names
            .filter_map(|name| self.features.find(&fold(name)))
            .collect()
    }

    fn param_numbers(&self, failure: &Failure) -> Vec<u32> {
        let names = failure.names.iter();
        names
            .filter_map(|name| self.params.find(&fold(name)))
            .collect()
    }

    pub(crate) fn feature_key(&self, feature: u32) -> Key {
        Kind::Feature.key(&self.features.get(feature).entity.name)
    }

    pub(crate) fn param_key(&self, param: u32) -> Key {
        Kind::Param.key(&self.params.get(param).entity.name)
    }
}

fn do_without(name: &str, keys: BTreeSet<Key>) -> Repair {
    Repair {
        sentence: format!("do without `{name}`"),
        commands: keys.into_iter().map(retract).collect(),
    }
}

fn assert(key: Key, value: Value) -> String {
    let owner = "".into();
    Command::Assert { owner, key, value }.to_string()
}

fn retract(key: Key) -> String {
    Command::Retract(Keys::Only(key)).to_string()
}
