//! What nodes are to run, and were to run before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ecow::EcoString;
use hence_fleet::{Config, Difference, Kind, Pool, difference};
use hence_ledger::entry::{Active, Nodes};
use hence_ledger::key::fold;
use hence_ledger::{Act, Change, Hash};
use hence_store::{Error, Refused};

use crate::{Service, add};

/// Stands, among the nodes that an activation changed, for those that were still to come.
pub const STRANGERS: &str = "+++default";

/// All activations so far, the oldest first, as far as anybody asked.
#[derive(Default)]
pub(crate) struct Activations {
    known: Vec<Activation>,
    /// Where among them are those that name a node, by its folded name. Of a node, few are looked at: a fleet that was
    /// activated a thousand times is asked about all of its nodes.
    naming: HashMap<String, Vec<usize>>,
    /// Where are those that may have changed nodes that they do not name.
    broad: Vec<usize>,
    /// The version up to which they are known.
    upto: u64,
    /// The version of the newest of all, and the version up to which it was looked for.
    newest: (u64, u64),
}

struct Activation {
    version: u64,
    target: u64,
    /// Where what was asserted at the target is.
    address: Hash,
    /// What nodes were to run after it.
    active: Active,
    changed: Nodes,
    gone: BTreeSet<String>,
}

impl Activations {
    fn add(&mut self, activation: Activation) {
        let place = self.known.len();
        let named = match &activation.changed {
            Nodes::Only(nodes) => Some(nodes),
            Nodes::AllBut(_) => None,
        };
        if named.is_none() || activation.changed.contains(STRANGERS) {
            self.broad.push(place);
        }
        for node in named.into_iter().flatten().chain(&activation.gone) {
            self.naming.entry(node.clone()).or_default().push(place);
        }
        self.known.push(activation);
    }

    /// Those up to a version that may have changed a node, the newest first.
    fn concerning(&self, node: &str, version: u64) -> impl Iterator<Item = &Activation> {
        let naming = self.naming.get(node).map_or(&[][..], Vec::as_slice);
        let mut bound = self
            .known
            .partition_point(|activation| activation.version <= version);
        std::iter::from_fn(move || {
            let next = last_below(naming, bound).max(last_below(&self.broad, bound))?;
            bound = next;
            self.known.get(next)
        })
    }

    /// The activation that is this version.
    fn at(&self, version: u64) -> Option<&Activation> {
        let place = self
            .known
            .binary_search_by_key(&version, |activation| activation.version);
        self.known.get(place.ok()?)
    }
}

/// The last of some places, in order, that is below a bound.
fn last_below(places: &[usize], bound: usize) -> Option<usize> {
    let below = places.partition_point(|place| *place < bound);
    places[..below].last().copied()
}

/// Fleets as they were, for those who ask next: when something is activated, all nodes ask about the same two versions.
#[derive(Default)]
pub(crate) struct Past(Mutex<Vec<(u64, Arc<Pool>)>>);

/// So many are kept.
const MOST_PAST: usize = 2;

impl Past {
    fn kept(&self) -> MutexGuard<'_, Vec<(u64, Arc<Pool>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// What a node is to run; nothing if there is no such node.
    pub fn config(&self, node: &str) -> Result<Option<Config>, Refused> {
        self.config_at(node, self.repository().version())
    }

    /// What a node is to run, whether it is asserted or not.
    pub(crate) fn active_config(&self, node: &str) -> Result<Config, Refused> {
        let target = self.repository().active().target(&fold(node));
        let past = self.past(target)?;
        let pool = past.as_deref().unwrap_or(&self.active);
        Ok(match (pool.config(node), target) {
            (Some(config), _) => config,
            (None, 0) => Config::new(),
            (None, _) => pool.stranger_config(),
        })
    }

    /// The features and the groups that a node is to have, as they are spelled.
    pub fn memberships(&self, node: &str) -> Result<[Vec<EcoString>; 2], Refused> {
        let target = self.repository().active().target(&fold(node));
        let past = self.past(target)?;
        let pool = past.as_deref().unwrap_or(&self.active);
        let names = [pool.features(node), pool.memberships(node)];
        Ok(names.map(Option::unwrap_or_default))
    }

    /// What a node was to run at a version; nothing if there was no such node, nor is there one.
    pub fn config_at(&self, node: &str, version: u64) -> Result<Option<Config>, Refused> {
        let target = self.target_at(node, version)?;
        self.config_under(node, target, version)
    }

    /// How what a node was to run at one version differs from what it was at another; nothing if there was no such node.
    pub fn difference_between(
        &self,
        node: &str,
        before: u64,
        after: u64,
    ) -> Result<Option<Difference>, Refused> {
        let (former, latter) = (self.target_at(node, before)?, self.target_at(node, after)?);
        let configs = (
            self.config_under(node, former, before)?,
            self.config_under(node, latter, after)?,
        );
        let (Some(before), Some(after)) = configs else {
            return Ok(None);
        };
        let (former, latter) = (self.past(former)?, self.past(latter)?);
        let [former, latter] = [&former, &latter].map(|past| past.as_deref());
        let (former, latter) = (
            former.unwrap_or(&self.active),
            latter.unwrap_or(&self.active),
        );
        Ok(Some(difference(&before, &after, latter, former)))
    }

    /// The version whose assertions a node was to run at a version.
    fn target_at(&self, node: &str, version: u64) -> Result<u64, Refused> {
        let node = fold(node);
        if version == self.repository().version() {
            return Ok(self.repository().active().target(&node));
        }
        if let Some(activation) = self.activations.at(version) {
            return Ok(activation.active.target(&node));
        }
        match version {
            0 => Ok(0),
            _ => match self.repository().entry(version)? {
                Some(entry) => Ok(entry.active.target(&node)),
                None => self.repository().state_at(version).map(|_| 0),
            },
        }
    }

    /// What a version asserted, unless that is what most nodes are to run now.
    fn past(&self, version: u64) -> Result<Option<Arc<Pool>>, Refused> {
        if version == self.base {
            return Ok(None);
        }
        let mut kept = self.past.kept();
        if let Some((_, pool)) = kept.iter().find(|(other, _)| *other == version) {
            return Ok(Some(pool.clone()));
        }
        let pool = Arc::new(self.pool_at(version)?);
        kept.truncate(MOST_PAST - 1);
        kept.insert(0, (version, pool.clone()));
        Ok(Some(pool))
    }

    /// The fleet as a node was to run it at a version, and which version's assertions that are.
    pub fn active_pool_at(&self, node: &str, version: u64) -> Result<(u64, Pool), Refused> {
        let entry = self.repository().entry(version)?;
        let target = entry.map_or(0, |entry| entry.active.target(&fold(node)));
        Ok((target, self.pool_at(target)?))
    }

    fn config_under(
        &self,
        node: &str,
        target: u64,
        version: u64,
    ) -> Result<Option<Config>, Refused> {
        let past = self.past(target)?;
        let pool = past.as_deref().unwrap_or(&self.active);
        if let Some(config) = pool.config(node) {
            return Ok(Some(config));
        }
        let is_known = self.head().spelling(Kind::Node, node).is_some()
            || version < self.repository().version()
                && self.pool_at(version)?.spelling(Kind::Node, node).is_some();
        Ok(is_known.then(|| match target {
            0 => Config::new(),
            _ => pool.stranger_config(),
        }))
    }

    /// The version with which the configuration of a node last changed; 0 if it never did.
    pub fn version_of(&mut self, node: &str) -> Result<u64, Error> {
        self.version_of_at(node, self.repository().version())
    }

    /// The version with which the configuration of a node had last changed at a version.
    pub fn version_of_at(&mut self, node: &str, version: u64) -> Result<u64, Error> {
        self.know_activations()?;
        let node = fold(node);
        for activation in self.activations.concerning(&node, version) {
            let is_named = activation.changed.contains(&node);
            // Who was not there has what strangers had.
            let is_strange =
                activation.changed.contains(STRANGERS) || activation.gone.contains(&node);
            let changed = match is_named == is_strange {
                true => is_named,
                false if self.was_there(&node, activation)? => is_named,
                false => is_strange,
            };
            if changed {
                return Ok(activation.version);
            }
        }
        Ok(0)
    }

    /// Whether a node was asserted in what it was to run after an activation.
    fn was_there(&self, node: &str, activation: &Activation) -> Result<bool, Error> {
        let key = || Kind::Node.key(node);
        let found = match activation.active.target(node) {
            0 => return Ok(false),
            target if target == self.base => {
                return Ok(self.active.spelling(Kind::Node, node).is_some());
            }
            target if target == activation.target => {
                self.repository().assertion_in(activation.address, &key())?
            }
            // A rollout was taken back, and what this node went back to is not what others did.
            target => self.repository().assertion_at(target, &key())?,
        };
        Ok(found.is_some())
    }

    fn know_activations(&mut self) -> Result<(), Error> {
        let newest = self.repository().version();
        let mut new = Vec::new();
        for version in self.activations.upto + 1..=newest {
            let Some(entry) = self.repository().entry(version)? else {
                continue;
            };
            if let Act::Activation {
                target,
                changed,
                gone,
                ..
            } = entry.act
            {
                let asserted = self.repository().entry(target)?;
                new.push(Activation {
                    version,
                    target,
                    address: asserted.map_or(entry.address, |asserted| asserted.address),
                    active: entry.active,
                    changed,
                    gone,
                });
            }
        }
        for activation in new {
            self.activations.add(activation);
        }
        self.activations.upto = newest;
        Ok(())
    }

    /// Takes in what the repository has by now, if others added to it.
    pub(crate) fn catch_up(&mut self) -> Result<(), Refused> {
        let version = self.repository().version();
        match self.known {
            known if known == version => return Ok(()),
            0 => self.start_over()?,
            known => self.take_in(known)?,
        }
        self.known = version;
        Ok(())
    }

    fn start_over(&mut self) -> Result<(), Refused> {
        self.head = Pool::new(self.repository().state());
        self.follow_active()?;
        self.committed = self.newest_commit()?;
        Ok(())
    }

    /// Takes in what others committed behind a version as if it had been committed here; what they activated is read.
    fn take_in(&mut self, known: u64) -> Result<(), Refused> {
        let (mut new, mut committed) = (BTreeMap::new(), self.committed);
        for version in known + 1..=self.repository().version() {
            if let Some(entry) = self.repository().entry(version)?
                && let Act::Commit { changes, .. } = entry.act
            {
                add(&mut new, &changes);
                committed = version;
            }
        }
        let changes: Vec<Change> = new.into_values().collect();
        match self.repository().active().base == self.base {
            true => add(&mut self.pending, &changes),
            false => self.follow_active()?,
        }
        self.head.apply(&changes);
        self.committed = committed;
        Ok(())
    }

    /// Reads what is active anew, and what is pending; all of it or, if that fails, nothing.
    fn follow_active(&mut self) -> Result<(), Refused> {
        let base = self.repository().active().base;
        let active = match base {
            0 => Pool::default(),
            base => self.pool_at(base)?,
        };
        let mut pending = BTreeMap::new();
        for version in base + 1..=self.repository().version() {
            if let Some(entry) = self.repository().entry(version)?
                && let Act::Commit { changes, .. } = entry.act
            {
                add(&mut pending, &changes);
            }
        }
        (self.base, self.active, self.pending) = (base, active, pending);
        Ok(())
    }

    /// The version of the newest commit; 0 if there is none.
    fn newest_commit(&self) -> Result<u64, Error> {
        for entry in self.repository().log() {
            let entry = entry?;
            if let Act::Commit { .. } = entry.act {
                return Ok(entry.version);
            }
        }
        Ok(0)
    }

    /// The version of the newest activation; 0 if there is none.
    pub(crate) fn newest_activation(&mut self) -> Result<u64, Error> {
        let version = self.repository().version();
        let (mut newest, known) = self.activations.newest;
        for version in (known + 1..=version).rev() {
            let entry = self.repository().entry(version)?;
            if entry.is_some_and(|entry| matches!(entry.act, Act::Activation { .. })) {
                newest = version;
                break;
            }
        }
        self.activations.newest = (newest, version);
        Ok(newest)
    }
}
