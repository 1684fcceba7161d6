//! Pools for tests: machines of HTCondor that run many daemons of one kind, so that a few of them stand for a large pool.
//!
//! Each kind of daemon is a feature; a group has the features, and nodes are members of it.

use std::collections::BTreeSet;

use hence_ledger::key::fold;
use hence_ledger::{Key, Value};

use crate::words::Kind;

/// How many daemons of each kind a machine is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overprovisioned {
    /// Execute daemons.
    pub startds: usize,
    /// Slots of each.
    pub slots: usize,
    /// Whether each of them has one slot that jobs divide as they need.
    pub partitionable: bool,
    /// Submit daemons.
    pub schedds: usize,
    /// Collectors, which tell the one of the pool.
    pub collectors: usize,
    /// The group that has all of them.
    pub group: String,
    /// The members of the group.
    pub nodes: Vec<String>,
    /// Parameters that are declared already.
    pub known: Vec<String>,
}

/// The list of what runs on a machine.
const DAEMONS: &str = "DAEMON_LIST";
/// The port of the first of many collectors.
const FIRST_PORT: usize = 10_001;

/// A feature in the making.
struct Feature {
    name: String,
    params: Vec<(String, String)>,
}

impl Overprovisioned {
    /// What is asserted for it.
    pub fn assertions(&self) -> Vec<(Key, Value)> {
        let features = [self.execute(), self.submit(), self.collect()];
        let features: Vec<Feature> = features.into_iter().flatten().collect();
        let mut assertions = Vec::new();
        let mut say = |key: Key, value: Value| assertions.push((key, value));
        let mut declared: BTreeSet<String> = self.known.iter().map(|name| fold(name)).collect();
        for (name, _) in features.iter().flat_map(|feature| &feature.params) {
            if !declared.insert(fold(name)) {
                continue;
            }
            let key = Kind::Param.key(name);
            say(key.clone(), Value::text(name.as_str()));
            if name == DAEMONS {
                say(key.child("kind"), Value::text("list"));
            }
            say(key.child("restart"), Value::Nothing);
        }
        let group = Kind::Group.key(&self.group);
        say(group.clone(), Value::text(self.group.as_str()));
        for (rank, feature) in features.iter().enumerate() {
            let key = Kind::Feature.key(&feature.name);
            say(key.clone(), Value::text(feature.name.as_str()));
            for (param, value) in &feature.params {
                say(
                    key.child("param").child(&fold(param)),
                    Value::text(value.as_str()),
                );
            }
            let installed = group.child("feature").child(&fold(&feature.name));
            say(installed, Value::text((rank + 1).to_string()));
        }
        for node in &self.nodes {
            let key = Kind::Node.key(node);
            say(key.clone(), Value::text(node.as_str()));
            let member = key.child("group").child(&fold(&self.group));
            say(member, Value::text("1"));
        }
        assertions
    }

    fn execute(&self) -> Option<Feature> {
        let (startds, slots) = (self.startds, self.slots);
        let kind = if self.partitionable {
            "Partitionable"
        } else {
            ""
        };
        let name = format!("{startds}Startds{slots}{kind}Slots");
        let mut feature = daemons("STARTD", startds, name, |own, number| {
            vec![
                (format!("{own}_ARGS"), format!("-f -local-name {own}")),
                (format!("STARTD.{own}.STARTD_NAME"), own.to_owned()),
                (
                    format!("STARTD.{own}.STARTD_LOG"),
                    format!("$(LOG)/StartLog.{number}"),
                ),
                (
                    format!("STARTD.{own}.STARTD_ADDRESS_FILE"),
                    format!("$(LOG)/.startd_address.{number}"),
                ),
            ]
        })?;
        let mut set = |name: &str, value: String| feature.params.push((name.to_owned(), value));
        set("NUM_CPUS", slots.to_string());
        set(
            "SLOT_TYPE_1",
            match self.partitionable {
                true => "100%".to_owned(),
                false => "cpus=1".to_owned(),
            },
        );
        set(
            "NUM_SLOTS_TYPE_1",
            match self.partitionable {
                true => "1".to_owned(),
                false => slots.to_string(),
            },
        );
        set("SLOT_TYPE_1_PARTITIONABLE", self.partitionable.to_string());
        Some(feature)
    }

    fn submit(&self) -> Option<Feature> {
        let name = format!("{}Schedds", self.schedds);
        daemons("SCHEDD", self.schedds, name, |own, number| {
            vec![
                (format!("{own}_ARGS"), format!("-f -local-name {own}")),
                (format!("SCHEDD.{own}.SCHEDD_NAME"), own.to_owned()),
                (
                    format!("SCHEDD.{own}.SCHEDD_LOG"),
                    format!("$(LOG)/SchedLog.{number}"),
                ),
                (
                    format!("SCHEDD.{own}.SCHEDD_ADDRESS_FILE"),
                    format!("$(LOG)/.schedd_address.{number}"),
                ),
                (format!("SCHEDD.{own}.SPOOL"), format!("$(SPOOL)/{number}")),
            ]
        })
    }

    fn collect(&self) -> Option<Feature> {
        let name = format!("{}Collectors", self.collectors);
        let mut feature = daemons("COLLECTOR", self.collectors, name, |own, number| {
            let port = FIRST_PORT + number - 1;
            vec![
                (
                    format!("{own}_ARGS"),
                    format!("-f -p {port} -local-name {own}"),
                ),
                (format!("COLLECTOR.{own}.COLLECTOR_NAME"), own.to_owned()),
                (
                    format!("COLLECTOR.{own}.COLLECTOR_LOG"),
                    format!("$(LOG)/CollectorLog.{number}"),
                ),
                (
                    format!("COLLECTOR.{own}.COLLECTOR_ADDRESS_FILE"),
                    format!("$(LOG)/.collector_address.{number}"),
                ),
            ]
        })?;
        // What they collect is told to the one of the pool.
        feature.params.push((
            "CONDOR_VIEW_HOST".to_owned(),
            "$(COLLECTOR_HOST)".to_owned(),
        ));
        Some(feature)
    }
}

/// Many daemons of one kind; none if there are to be none.
fn daemons(
    kind: &str,
    count: usize,
    name: String,
    mut own: impl FnMut(&str, usize) -> Vec<(String, String)>,
) -> Option<Feature> {
    let names: Vec<String> = (1..=count)
        .map(|number| format!("{kind}{number}"))
        .collect();
    let mut params = Vec::new();
    for (number, name) in names.iter().enumerate() {
        params.push((name.clone(), format!("$({kind})")));
        params.extend(own(name, number + 1));
    }
    params.push((DAEMONS.to_owned(), format!(">= {}", names.join(", "))));
    (count > 0).then_some(Feature { name, params })
}
