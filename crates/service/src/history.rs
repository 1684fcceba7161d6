//! What nodes are to run, and were to run before.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use hence_fleet::{Config, Kind, Pool};
use hence_ledger::Act;
use hence_ledger::entry::{Active, Nodes, Scope};
use hence_ledger::key::fold;
use hence_store::{Error, Refused};

use crate::Service;

/// Stands, among the nodes that an activation changed, for those that were still to come.
pub const STRANGERS: &str = "+++default";

/// All activations so far, the newest first, as far as anybody asked.
#[derive(Default)]
pub(crate) struct Activations {
    known: Vec<Activation>,
    /// The version up to which they are known.
    upto: u64,
}

struct Activation {
    version: u64,
    /// The version that was activated, and those that nodes went back to.
    active: Active,
    changed: Nodes,
    gone: BTreeSet<String>,
}

impl Service {
    /// What a node is to run; nothing if there is no such node.
    pub fn config(&self, node: &str) -> Result<Option<Config>, Refused> {
        let active = self.repository().active();
        self.config_under(node, &active, self.repository().version())
    }

    /// What a node is to run, whether it is asserted or not.
    pub(crate) fn active_config(&self, node: &str) -> Result<Config, Refused> {
        let target = self.repository().active().target(&fold(node));
        self.with_pool(target, |pool| match (pool.config(node), target) {
            (Some(config), _) => config,
            (None, 0) => Config::new(),
            (None, _) => pool.stranger_config(),
        })
    }

    /// The features and the groups that a node is to have, as they are spelled.
    pub fn memberships(&self, node: &str) -> Result<[Vec<EcoString>; 2], Refused> {
        let target = self.repository().active().target(&fold(node));
        self.with_pool(target, |pool| {
            [pool.features(node), pool.memberships(node)].map(Option::unwrap_or_default)
        })
    }

    /// Looks at the fleet as it was asserted at a version; most nodes are to run what is at hand.
    fn with_pool<T>(&self, version: u64, look: impl FnOnce(&Pool) -> T) -> Result<T, Refused> {
        match version == self.base {
            true => Ok(look(&self.active)),
            false => self.pool_at(version).map(|pool| look(&pool)),
        }
    }

    /// What a node was to run at a version; nothing if there was no such node, nor is there one.
    pub fn config_at(&self, node: &str, version: u64) -> Result<Option<Config>, Refused> {
        let active = match version {
            0 => Active::default(),
            _ => match self.repository().entry(version)? {
                Some(entry) => entry.active,
                None => self
                    .repository()
                    .state_at(version)
                    .map(|_| Active::default())?,
            },
        };
        self.config_under(node, &active, version)
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
        active: &Active,
        version: u64,
    ) -> Result<Option<Config>, Refused> {
        let target = active.target(&fold(node));
        let (config, strange) = self.with_pool(target, |pool| match pool.config(node) {
            Some(config) => (Some(config), Config::new()),
            None if target == 0 => (None, Config::new()),
            None => (None, pool.stranger_config()),
        })?;
        if config.is_some() {
            return Ok(config);
        }
        let is_known = self.head().spelling(Kind::Node, node).is_some()
            || version < self.repository().version()
                && self.pool_at(version)?.spelling(Kind::Node, node).is_some();
        Ok(is_known.then_some(strange))
    }

    /// The version with which the configuration of a node last changed; 0 if it never did.
    pub fn version_of(&mut self, node: &str) -> Result<u64, Error> {
        self.version_of_at(node, self.repository().version())
    }

    /// The version with which the configuration of a node had last changed at a version.
    pub fn version_of_at(&mut self, node: &str, version: u64) -> Result<u64, Error> {
        self.know_activations()?;
        let node = fold(node);
        let key = Kind::Node.key(&node);
        for activation in &self.activations.known {
            if activation.version > version {
                continue;
            }
            let target = activation.active.target(&node);
            let known = self.repository().assertion_at(target, &key)?;
            let changed = match known {
                Some(_) => activation.changed.contains(&node),
                // Who was not there has what strangers had.
                None => activation.changed.contains(STRANGERS) || activation.gone.contains(&node),
            };
            if changed {
                return Ok(activation.version);
            }
        }
        Ok(0)
    }

    fn know_activations(&mut self) -> Result<(), Error> {
        let newest = self.repository().version();
        let mut new = Vec::new();
        for version in (self.activations.upto + 1..=newest).rev() {
            let Some(entry) = self.repository().entry(version)? else {
                continue;
            };
            if let Act::Activation {
                target,
                scope,
                changed,
                gone,
            } = entry.act
            {
                let apart = match scope {
                    Scope::Everything => entry.active.apart,
                    Scope::Only(_) => BTreeMap::new(),
                };
                new.push(Activation {
                    version,
                    active: Active {
                        base: target,
                        apart,
                    },
                    changed,
                    gone,
                });
            }
        }
        self.activations.known.splice(0..0, new);
        self.activations.upto = newest;
        Ok(())
    }

    /// Takes in what the repository has by now, if others added to it.
    pub(crate) fn catch_up(&mut self) -> Result<(), Refused> {
        let version = self.repository().version();
        if self.known != version {
            self.head = Pool::new(self.repository().state());
            self.follow_active()?;
            self.committed = self.newest_commit()?;
            self.known = version;
        }
        Ok(())
    }

    /// Reads what is active anew, and what is pending.
    fn follow_active(&mut self) -> Result<(), Refused> {
        self.base = self.repository().active().base;
        self.active = match self.base {
            0 => Pool::default(),
            base => self.pool_at(base)?,
        };
        self.pending.clear();
        for version in self.base + 1..=self.repository().version() {
            if let Some(entry) = self.repository().entry(version)?
                && let Act::Commit { changes, .. } = entry.act
            {
                self.add_pending(&changes);
            }
        }
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
        self.know_activations()?;
        let newest = self.activations.known.first();
        Ok(newest.map_or(0, |activation| activation.version))
    }
}
