//! What activating a version comes to: for which nodes, what stands in the way, and who gets another configuration.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use hence_fleet::plan::{self, Plan};
use hence_fleet::{Failure, Kind, Pool};
use hence_ledger::entry::{Nodes, Scope};
use hence_ledger::key::fold;
use hence_ledger::{Change, Hash, Key};
use hence_store::Refused;

use crate::Service;
use crate::activation::{Extent, no_such};
use crate::history::STRANGERS;

/// A version that nodes are to run.
pub(crate) struct Aim<'s> {
    pub(crate) service: &'s Service,
    pub version: u64,
    pub(crate) pool: &'s Pool,
}

/// Compares what nodes are to run with what they would.
type Compare<'c> = &'c mut dyn FnMut(&Pool, &Pool, plan::Nodes<'_>);

impl Service {
    /// The fleet at a version, if it is another than the newest one.
    pub(crate) fn other_pool(&self, version: u64) -> Result<Option<Pool>, Refused> {
        match version >= self.committed {
            true => Ok(None),
            false => self.pool_at(version).map(Some),
        }
    }
}

impl<'s> Aim<'s> {
    /// A version, with the fleet as it has it unless that is the newest.
    pub fn new(service: &'s Service, version: u64, other: Option<&'s Pool>) -> Self {
        match other {
            Some(pool) => Self {
                service,
                version,
                pool,
            },
            None => Self {
                service,
                version: service.committed,
                pool: service.head(),
            },
        }
    }

    pub(crate) fn is_newest(&self) -> bool {
        self.version == self.service.committed
    }

    /// The nodes that somebody means, by their folded names.
    pub fn scope(&self, extent: &Extent) -> Result<Scope, Refused> {
        let mut chosen = BTreeSet::new();
        match extent {
            Extent::Everything => return Ok(Scope::Everything),
            Extent::Percent(percent) => {
                let nodes = self.pool.nodes();
                let nodes = nodes.iter().map(|name| fold(name));
                chosen.extend(nodes.filter(|name| is_chosen(name, self.version, *percent)));
            }
            Extent::Some { nodes, groups } => {
                for node in nodes {
                    self.there(Kind::Node, node)?;
                    chosen.insert(fold(node));
                }
                for group in groups {
                    self.there(Kind::Group, group)?;
                    let members = self.pool.members(group);
                    chosen.extend(members.iter().map(|name| fold(name)));
                }
            }
        }
        Ok(Scope::Only(chosen))
    }

    fn there(&self, kind: Kind, name: &str) -> Result<(), Refused> {
        match self.pool.spelling(kind, name) {
            Some(_) => Ok(()),
            None => Err(no_such(self.service.state(), kind, name).into()),
        }
    }

    /// What stands in the way.
    pub fn failures(&self, scope: &Scope) -> Vec<Failure> {
        let touched = || self.is_newest().then(|| self.touched_nodes())?;
        match scope {
            Scope::Everything => match touched() {
                Some(nodes) => self.pool.validate_nodes(nodes.iter().map(String::as_str)),
                None => self.pool.validate(),
            },
            Scope::Only(nodes) => self.pool.validate_nodes(nodes.iter().map(String::as_str)),
        }
    }

    /// The same, in words.
    pub fn must_be_valid(&self, scope: &Scope) -> Result<(), Refused> {
        let failures = self.failures(scope);
        if failures.is_empty() {
            return self.must_open(scope);
        }
        let troubles = failures.iter().map(|failure| failure.diagnostic(self.pool));
        Err(Refused::Because(troubles.collect()))
    }

    /// The nodes that pending changes speak of, if they speak of nothing else: then all others are as they were when the
    /// whole was found valid.
    fn touched_nodes(&self) -> Option<BTreeSet<String>> {
        if self.service.base == 0 || self.pool.node_count() == 0 {
            return None;
        }
        let mut nodes = BTreeSet::new();
        for key in self.service.pending.keys() {
            let mut names = key.names();
            match names.next() {
                Some(kind) if kind == Kind::Node.word() => {
                    nodes.extend(names.next().map(String::from))
                }
                _ => return None,
            }
        }
        Some(nodes)
    }

    /// Whether nodes that are still to come would get another configuration.
    pub fn reaches_strangers(&self, scope: &Scope) -> bool {
        *scope == Scope::Everything
            && self.service.active().stranger_config() != self.pool.stranger_config()
    }

    /// What would change.
    pub fn plan(&self, scope: &Scope) -> Result<Plan, Refused> {
        let mut plan = Plan::default();
        self.compare(scope, &mut |active, aim, nodes| {
            let more = plan::plan(active, aim, nodes);
            plan.nodes.extend(more.nodes);
            plan.gone.extend(more.gone);
            plan.new.extend(more.new);
        })?;
        plan.nodes.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(plan)
    }

    /// The nodes that would get another configuration, as they are spelled, in order.
    pub fn changed(&self, scope: &Scope) -> Result<Vec<EcoString>, Refused> {
        let mut changed = Vec::new();
        self.compare(scope, &mut |active, aim, nodes| {
            changed.extend(plan::changed_nodes(active, aim, nodes));
        })?;
        changed.sort();
        Ok(changed)
    }

    /// Compares what nodes are to run with what they would: most of them with what is active, and those that are apart
    /// each with their own version.
    fn compare(&self, scope: &Scope, compare: Compare<'_>) -> Result<(), Refused> {
        let (active, aim) = (self.service.active(), self.pool);
        let apart = &self.service.repository().active().apart;
        let named = |nodes: &mut dyn Iterator<Item = &String>| -> Vec<EcoString> {
            nodes.map(EcoString::from).collect()
        };
        match scope {
            Scope::Everything if apart.is_empty() && self.is_newest() => {
                let pending: Vec<Change> = self.service.pending.values().cloned().collect();
                compare(active, aim, plan::Nodes::Reached(&pending));
                return Ok(());
            }
            Scope::Everything if apart.is_empty() => {
                compare(active, aim, plan::Nodes::All);
                return Ok(());
            }
            Scope::Everything => {
                // Those who are gone are told too.
                let mut nodes = aim.nodes();
                nodes.extend(active.nodes());
                nodes.sort();
                nodes.dedup();
                nodes.retain(|node| !apart.contains_key(&fold(node)));
                compare(active, aim, plan::Nodes::Only(&nodes));
            }
            Scope::Only(nodes) => {
                let nodes = named(&mut nodes.iter().filter(|node| !apart.contains_key(*node)));
                compare(active, aim, plan::Nodes::Only(&nodes));
            }
        }
        let is_meant = |node: &str| match scope {
            Scope::Everything => true,
            Scope::Only(nodes) => nodes.contains(node),
        };
        let mut by_version: BTreeMap<u64, Vec<EcoString>> = BTreeMap::new();
        for (node, version) in apart.iter().filter(|(node, _)| is_meant(node)) {
            by_version.entry(*version).or_default().push(node.into());
        }
        for (version, nodes) in by_version {
            let other = self.service.pool_at(version)?;
            compare(&other, aim, plan::Nodes::Only(&nodes));
        }
        Ok(())
    }

    /// Those who get another configuration, in the shorter of two ways to say it.
    pub fn said(&self, scope: &Scope, changed: &[EcoString]) -> Nodes {
        let changed = self.folded(scope, changed);
        let all = self.pool.nodes();
        if *scope != Scope::Everything || all.is_empty() || changed.len() <= all.len() / 2 {
            return Nodes::Only(changed);
        }
        let names = all.iter().map(|name| fold(name));
        let names = names.chain([STRANGERS.to_owned()]);
        Nodes::AllBut(names.filter(|name| !changed.contains(name)).collect())
    }

    /// Those who get another configuration, by their folded names, and whether those still to come are among them.
    pub fn folded(&self, scope: &Scope, changed: &[EcoString]) -> BTreeSet<String> {
        let mut changed: BTreeSet<String> = changed.iter().map(|name| fold(name)).collect();
        if self.reaches_strangers(scope) {
            changed.insert(STRANGERS.to_owned());
        }
        changed
    }

    /// The nodes that are no longer there and, if they came again, would not have what they had.
    pub fn gone(&self, scope: &Scope) -> Result<BTreeSet<String>, Refused> {
        let mut gone = BTreeSet::new();
        if *scope != Scope::Everything {
            return Ok(gone);
        }
        let mut suspects: BTreeSet<String> = match self.is_newest() {
            true => self.service.pending.keys().filter_map(node_of).collect(),
            false => {
                let nodes = self.service.active().nodes();
                nodes.iter().map(|name| fold(name)).collect()
            }
        };
        suspects.extend(self.service.repository().active().apart.keys().cloned());
        let strange = self.pool.stranger_config();
        for node in suspects {
            let is_gone = self.pool.spelling(Kind::Node, &node).is_none();
            if is_gone && self.service.active_config(&node)? != strange {
                gone.insert(node);
            }
        }
        Ok(gone)
    }
}

/// The node that a key is of.
fn node_of(key: &Key) -> Option<String> {
    let mut names = key.names();
    let is_node = names.next().is_some_and(|kind| kind == Kind::Node.word());
    match (is_node, names.next(), names.next()) {
        (true, Some(node), None) => Some(node.into_owned()),
        _ => None,
    }
}

/// Whether a node is among so many in a hundred.
fn is_chosen(node: &str, version: u64, percent: u8) -> bool {
    let hash = Hash::of(format!("{version} {node}").as_bytes());
    let bytes = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    u64::from_be_bytes(*bytes) % 100 < u64::from(percent)
}
