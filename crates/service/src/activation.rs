//! Plan, then activate: what would change, whether it may, and making it so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use ecow::EcoString;
use hence_api::words;
use hence_fleet::edit::NO_SUCH;
use hence_fleet::plan::{self, Plan};
use hence_fleet::{Failure, Kind, Pool};
use hence_ledger::entry::{Nodes, Scope};
use hence_ledger::key::fold;
use hence_ledger::{Change, Hash, Key, State};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_store::{Error, Receipt, Refused, Request};

use crate::history::STRANGERS;
use crate::{Service, has_moved};

/// What a plan was made from has moved.
pub const STALE: Code = Code::new("fleet.stale-plan");

/// What a plan was made from: the newest commit, and the newest activation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl From<&Extent> for words::Extent {
    fn from(extent: &Extent) -> Self {
        match extent {
            Extent::Everything => Self::default(),
            Extent::Some { nodes, groups } => Self {
                nodes: nodes.clone(),
                groups: groups.clone(),
                percent: None,
            },
            Extent::Percent(percent) => Self {
                percent: Some(*percent),
                ..Self::default()
            },
        }
    }
}

impl From<words::Extent> for Extent {
    fn from(extent: words::Extent) -> Self {
        match extent.percent {
            Some(percent) => Self::Percent(percent.min(100)),
            None if extent.nodes.is_empty() && extent.groups.is_empty() => Self::Everything,
            None => Self::Some {
                nodes: extent.nodes,
                groups: extent.groups,
            },
        }
    }
}

/// What an activation would do.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What can be told without looking at each change.
    pub survey: Survey,
    /// What would change.
    pub plan: Plan,
}

/// What can be told of an activation without looking at what it changes.
#[derive(Clone, Debug)]
pub struct Survey {
    /// What it would be made from.
    pub pair: Pair,
    /// Which nodes it is for.
    pub scope: Scope,
    /// What stands in the way.
    pub failures: Vec<Failure>,
    /// Whether nodes that are still to come would get another configuration.
    pub strangers: bool,
}

/// What an activation did.
#[derive(Clone, Debug)]
pub struct Activated {
    /// The entry, if there is one.
    pub receipt: Receipt,
    /// What it was made from.
    pub pair: Pair,
    /// The nodes that got another configuration, as they are spelled, in order.
    pub changed: Vec<EcoString>,
}

impl Service {
    /// What a plan made now would be made from.
    pub fn pair(&mut self) -> Result<Pair, Error> {
        Ok(Pair {
            head: self.committed,
            active: self.newest_activation()?,
        })
    }

    /// What an activation would do.
    pub fn plan(&mut self, extent: &Extent) -> Result<Planned, Refused> {
        let survey = self.survey(extent)?;
        let mut plan = Plan::default();
        self.compare(&survey.scope, &mut |active, head, nodes| {
            let more = plan::plan(active, head, nodes);
            plan.nodes.extend(more.nodes);
            plan.gone.extend(more.gone);
            plan.new.extend(more.new);
        })?;
        plan.nodes.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(Planned { survey, plan })
    }

    fn survey(&mut self, extent: &Extent) -> Result<Survey, Refused> {
        let pair = self.pair()?;
        let scope = self.scope(extent, pair.head)?;
        let failures = match &scope {
            Scope::Everything => match self.touched_nodes() {
                Some(nodes) => self.head().validate_nodes(nodes.iter().map(String::as_str)),
                None => self.head().validate(),
            },
            Scope::Only(nodes) => self.head().validate_nodes(nodes.iter().map(String::as_str)),
        };
        let strangers = scope == Scope::Everything
            && self.active.stranger_config() != self.head().stranger_config();
        Ok(Survey {
            pair,
            scope,
            failures,
            strangers,
        })
    }

    /// The nodes that pending changes speak of, if they speak of nothing else: then all others are as they were when the
    /// whole was found valid.
    fn touched_nodes(&self) -> Option<BTreeSet<String>> {
        if self.base == 0 || self.head().node_count() == 0 {
            return None;
        }
        let mut nodes = BTreeSet::new();
        for key in self.pending.keys() {
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

    /// Compares what nodes are to run with what they would: most of them with what is active, and those that are apart
    /// each with their own version.
    fn compare(
        &self,
        scope: &Scope,
        compare: &mut dyn FnMut(&Pool, &Pool, plan::Nodes<'_>),
    ) -> Result<(), Refused> {
        let apart = self.repository().active().apart;
        let head = self.head();
        let named = |nodes: &mut dyn Iterator<Item = &String>| -> Vec<EcoString> {
            nodes.map(EcoString::from).collect()
        };
        match scope {
            Scope::Everything if apart.is_empty() => {
                let pending: Vec<Change> = self.pending.values().cloned().collect();
                compare(&self.active, head, plan::Nodes::Reached(&pending));
                return Ok(());
            }
            Scope::Everything => {
                // Those who are gone are told too.
                let mut nodes = head.nodes();
                nodes.extend(self.active.nodes());
                nodes.sort();
                nodes.dedup();
                nodes.retain(|node| !apart.contains_key(&fold(node)));
                compare(&self.active, head, plan::Nodes::Only(&nodes));
            }
            Scope::Only(nodes) => {
                let nodes = named(&mut nodes.iter().filter(|node| !apart.contains_key(*node)));
                compare(&self.active, head, plan::Nodes::Only(&nodes));
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
            compare(&self.pool_at(version)?, head, plan::Nodes::Only(&nodes));
        }
        Ok(())
    }

    /// Makes what is asserted the target of nodes, if nothing stands in the way and the plan, if one was seen, is still
    /// what would happen.
    pub fn activate(
        &mut self,
        request: &Request,
        extent: &Extent,
        seen: Option<Pair>,
    ) -> Result<Activated, Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.activate(request, extent, seen)) {
            return done;
        }
        loop {
            self.catch_up()?;
            // What is activated was compared with what is active now, and must come behind that.
            let behind = Request {
                if_version: request.if_version.or(Some(self.repository.version())),
                ..request.clone()
            };
            match self.activate_behind(&behind, extent, seen) {
                Err(refused) if request.if_version.is_none() && has_moved(&refused) => {}
                result => return result,
            }
        }
    }

    fn activate_behind(
        &mut self,
        request: &Request,
        extent: &Extent,
        seen: Option<Pair>,
    ) -> Result<Activated, Refused> {
        let survey = self.survey(extent)?;
        let pair = survey.pair;
        if let Some(seen) = seen.filter(|seen| *seen != pair) {
            let message = format!("the plan {seen} is stale: it would be {pair} now");
            let trouble = Diagnostic::error(STALE, message);
            return Err(trouble.help("`hence plan` shows what would happen").into());
        }
        if !survey.failures.is_empty() {
            let troubles = survey.failures.iter();
            let troubles = troubles.map(|failure| failure.diagnostic(self.head()));
            return Err(Refused::Because(troubles.collect()));
        }
        let mut changed = Vec::new();
        self.compare(&survey.scope, &mut |active, head, nodes| {
            changed.extend(plan::changed_nodes(active, head, nodes));
        })?;
        changed.sort();
        let nodes = self.changed(&survey, &changed);
        let is_everything = survey.scope == Scope::Everything;
        let gone = match is_everything {
            true => self.gone()?,
            false => BTreeSet::new(),
        };
        let scope = survey.scope;
        let receipt = self
            .repository
            .activate(request, pair.head, scope, nodes, gone)?;
        if let Receipt::Done(done) = &receipt {
            self.known = done.version;
        }
        if is_everything && let Receipt::Done(_) = &receipt {
            let pending = std::mem::take(&mut self.pending);
            let changes: Vec<Change> = pending.into_values().collect();
            self.active.apply(&changes);
            self.base = pair.head;
        }
        Ok(Activated {
            receipt,
            pair,
            changed,
        })
    }

    /// The nodes that are no longer there and, if they came again, would not have what they had.
    fn gone(&self) -> Result<BTreeSet<String>, Refused> {
        let mut suspects: BTreeSet<String> = self.repository().active().apart.into_keys().collect();
        for key in self.pending.keys() {
            let mut names = key.names();
            let is_node = names.next().is_some_and(|kind| kind == Kind::Node.word());
            if let (true, Some(node), None) = (is_node, names.next(), names.next()) {
                suspects.insert(node.into_owned());
            }
        }
        let strange = self.head().stranger_config();
        let mut gone = BTreeSet::new();
        for node in suspects {
            let is_gone = self.head().spelling(Kind::Node, &node).is_none();
            if is_gone && self.active_config(&node)? != strange {
                gone.insert(node);
            }
        }
        Ok(gone)
    }

    /// The nodes that get another configuration, in the shorter of two ways to say it.
    fn changed(&self, survey: &Survey, changed: &[EcoString]) -> Nodes {
        let mut changed: BTreeSet<String> = changed.iter().map(|name| fold(name)).collect();
        if survey.strangers {
            changed.insert(STRANGERS.to_owned());
        }
        let all = self.head().node_count();
        if survey.scope != Scope::Everything || changed.len() <= all / 2 {
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
        Err(no_such(self.state(), kind, name).into())
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

/// There is no such thing in a state.
pub fn no_such(state: &State, kind: Kind, name: &str) -> Diagnostic {
    let message = format!("there is no {} `{name}`", kind.word());
    let trouble = Diagnostic::error(NO_SUCH, message);
    let names = hence_fleet::edit::names(state, kind);
    let near = similar(name, names.iter().map(String::as_str));
    trouble.help(match near.first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`hence list {}s` shows those that there are", kind.word()),
    })
}

/// Whether a node is among so many in a hundred.
fn is_chosen(node: &str, head: u64, percent: u8) -> bool {
    let hash = Hash::of(format!("{head} {node}").as_bytes());
    let bytes = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    u64::from_be_bytes(*bytes) % 100 < u64::from(percent)
}
