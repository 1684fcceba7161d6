//! Plan, then activate: what would change, whether it may, and making it so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use ecow::EcoString;
use hence_fleet::edit::NO_SUCH;
use hence_fleet::plan::{self, Plan};
use hence_fleet::{Failure, Kind, Pool};
use hence_ledger::entry::{Nodes, Scope};
use hence_ledger::key::fold;
use hence_ledger::{Change, Hash, Key};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_store::{Error, Receipt, Refused, Request};

use crate::Service;
use crate::history::STRANGERS;

/// What a plan was made from has moved.
pub const STALE: Code = Code::new("fleet.stale-plan");

/// What a plan was made from: the newest commit, and the newest activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The version of the newest commit.
    pub head: u64,
    /// The version of the newest activation; 0 if there is none.
    pub active: u64,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.head, self.active)
    }
}

impl FromStr for Pair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/');
        let numbers =
            parts.and_then(|(head, active)| Some((head.parse().ok()?, active.parse().ok()?)));
        let (head, active) = numbers.ok_or("a plan is named as `hence plan` prints it: `12/9`")?;
        Ok(Self { head, active })
    }
}

/// Which nodes somebody means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All, and those still to come.
    Everything,
    /// These nodes, and the members of these groups.
    Some {
        /// Names of nodes.
        nodes: Vec<String>,
        /// Names of groups.
        groups: Vec<String>,
    },
    /// So many in a hundred, chosen by their names; more of them include those that fewer did.
    Percent(u8),
}

/// What an activation would do.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What it was made from.
    pub pair: Pair,
    /// Which nodes it is for.
    pub scope: Scope,
    /// What would change.
    pub plan: Plan,
    /// What stands in the way.
    pub failures: Vec<Failure>,
    /// Whether nodes that are still to come would get another configuration.
    pub strangers: bool,
}

impl Service {
    /// What a plan made now would be made from.
    pub fn pair(&mut self) -> Result<Pair, Error> {
        Ok(Pair {
            head: self.committed()?,
            active: self.newest_activation()?,
        })
    }

    /// What an activation would do.
    pub fn plan(&mut self, extent: &Extent) -> Result<Planned, Refused> {
        let pair = self.pair()?;
        let scope = self.scope(extent, pair.head)?;
        let apart = self.repository().active().apart;
        let is_meant = |node: &str| match &scope {
            Scope::Everything => true,
            Scope::Only(nodes) => nodes.contains(node),
        };
        let mut plan = match &scope {
            Scope::Everything => {
                let pending: Vec<Change> = self.pending.values().cloned().collect();
                plan::plan(&self.active, self.head(), plan::Nodes::Reached(&pending))
            }
            Scope::Only(nodes) => {
                let nodes: Vec<EcoString> = nodes.iter().map(EcoString::from).collect();
                plan::plan(&self.active, self.head(), plan::Nodes::Only(&nodes))
            }
        };
        if !apart.is_empty() {
            self.plan_apart(&mut plan, &apart, is_meant)?;
        }
        let failures = match &scope {
            Scope::Everything => self.head().validate(),
            Scope::Only(nodes) => self.head().validate_nodes(nodes.iter().map(String::as_str)),
        };
        let strangers = scope == Scope::Everything
            && self.active.stranger_config() != self.head().stranger_config();
        Ok(Planned {
            pair,
            scope,
            plan,
            failures,
            strangers,
        })
    }

    /// Nodes that run another version than most are compared with that one.
    fn plan_apart(
        &self,
        plan: &mut Plan,
        apart: &BTreeMap<String, u64>,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<(), Refused> {
        plan.nodes
            .retain(|(name, _)| !apart.contains_key(&fold(name)));
        let mut by_version: BTreeMap<u64, Vec<EcoString>> = BTreeMap::new();
        for (node, version) in apart.iter().filter(|(node, _)| is_meant(node)) {
            by_version.entry(*version).or_default().push(node.into());
        }
        for (version, nodes) in by_version {
            let pool = self.pool_at(version)?;
            let more = plan::plan(&pool, self.head(), plan::Nodes::Only(&nodes));
            plan.nodes.extend(more.nodes);
        }
        plan.nodes.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(())
    }

    /// Makes what is asserted the target of nodes, if nothing stands in the way and the plan, if one was seen, is still
    /// what would happen.
    pub fn activate(
        &mut self,
        request: &Request,
        extent: &Extent,
        seen: Option<Pair>,
    ) -> Result<(Receipt, Planned), Refused> {
        let planned = self.plan(extent)?;
        if let Some(seen) = seen.filter(|seen| *seen != planned.pair) {
            let message = format!("the plan {seen} is stale: it would be {} now", planned.pair);
            let trouble =
                Diagnostic::error(STALE, message).help("`hence plan` shows what would happen");
            return Err(trouble.into());
        }
        if !planned.failures.is_empty() {
            let troubles = planned.failures.iter();
            let troubles = troubles.map(|failure| failure.diagnostic(self.head()));
            return Err(Refused::Because(troubles.collect()));
        }
        let changed = self.changed(&planned);
        let scope = planned.scope.clone();
        let target = planned.pair.head;
        let receipt = self.repository.activate(request, target, scope, changed)?;
        if let Receipt::Done(_) = &receipt
            && planned.scope == Scope::Everything
        {
            let pending = std::mem::take(&mut self.pending);
            let changes: Vec<Change> = pending.into_values().collect();
            self.active.apply(&changes);
            self.base = target;
        }
        Ok((receipt, planned))
    }

    /// The nodes that get another configuration, in the shorter of two ways to say it.
    fn changed(&self, planned: &Planned) -> Nodes {
        let mut changed: BTreeSet<String> = BTreeSet::new();
        changed.extend(planned.plan.nodes.iter().map(|(name, _)| fold(name)));
        if planned.strangers {
            changed.insert(STRANGERS.to_owned());
        }
        let all = self.head().node_count();
        if planned.scope != Scope::Everything || changed.len() <= all / 2 {
            return Nodes::Only(changed);
        }
        let names = self.head().nodes();
        let names = names
            .iter()
            .map(|name| fold(name))
            .chain([STRANGERS.to_owned()]);
        Nodes::AllBut(names.filter(|name| !changed.contains(name)).collect())
    }

    /// The nodes that somebody means, by their folded names.
    fn scope(&self, extent: &Extent, head: u64) -> Result<Scope, Refused> {
        let mut chosen = BTreeSet::new();
        match extent {
            Extent::Everything => return Ok(Scope::Everything),
            Extent::Percent(percent) => {
                let nodes = self.head().nodes();
                let nodes = nodes.iter().map(|name| fold(name));
                chosen.extend(nodes.filter(|name| is_chosen(name, head, *percent)));
            }
            Extent::Some { nodes, groups } => {
                for node in nodes {
                    self.there(Kind::Node, node)?;
                    chosen.insert(fold(node));
                }
                for group in groups {
                    self.there(Kind::Group, group)?;
                    let members = self.head().members(group);
                    chosen.extend(members.iter().map(|name| fold(name)));
                }
            }
        }
        Ok(Scope::Only(chosen))
    }

    /// There must be such a thing.
    pub fn there(&self, kind: Kind, name: &str) -> Result<EcoString, Refused> {
        if let Some(spelling) = self.head().spelling(kind, name) {
            return Ok(spelling);
        }
        let message = format!("there is no {} `{name}`", kind.word());
        let mut trouble = Diagnostic::error(NO_SUCH, message);
        let names = hence_fleet::edit::names(self.state(), kind);
        let near = similar(name, names.iter().map(String::as_str));
        trouble.help.push(match near.first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`hence list {}s` shows those that there are", kind.word()),
        });
        Err(trouble.into())
    }

    /// The keys that lie between what is active and what is asserted, and what became of them.
    pub fn pending(&self) -> &BTreeMap<Key, Change> {
        &self.pending
    }

    /// The fleet as most nodes are to run it.
    pub fn active(&self) -> &Pool {
        &self.active
    }
}

/// Whether a node is among so many in a hundred.
fn is_chosen(node: &str, head: u64, percent: u8) -> bool {
    let hash = Hash::of(format!("{head} {node}").as_bytes());
    let bytes = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    u64::from_be_bytes(*bytes) % 100 < u64::from(percent)
}
