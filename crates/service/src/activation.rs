//! Plan, then activate: what would change, whether it may, and making it so.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use ecow::EcoString;
use hence_fleet::edit::NO_SUCH;
use hence_fleet::plan::Plan;
use hence_fleet::{Failure, Kind, Pool};
pub use hence_ledger::entry::Extent;
use hence_ledger::entry::Scope;
use hence_ledger::{Change, Key, State};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_store::{Error, MOVED, Receipt, Refused, Request};

use crate::Service;
use crate::aim::Aim;

/// So often something is tried while others are always first.
const ATTEMPTS: u32 = 100;

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

/// What an activation would do.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What it would be made from.
    pub pair: Pair,
    /// What stands in the way.
    pub failures: Vec<Failure>,
    /// Whether nodes that are still to come would get another configuration.
    pub strangers: bool,
    /// What would change.
    pub plan: Plan,
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
        let pair = self.pair()?;
        let aim = Aim::new(self, pair.head, None);
        let scope = aim.scope(extent)?;
        Ok(Planned {
            pair,
            failures: aim.failures(&scope),
            strangers: aim.reaches_strangers(&scope),
            plan: aim.plan(&scope)?,
        })
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
        self.until_first(request, |service, request| {
            service.activate_newest(request, extent, seen)
        })
    }

    fn activate_newest(
        &mut self,
        request: &Request,
        extent: &Extent,
        seen: Option<Pair>,
    ) -> Result<Activated, Refused> {
        self.must_be_free()?;
        let pair = self.must_be_fresh(seen)?;
        let aim = Aim::new(self, pair.head, None);
        let scope = aim.scope(extent)?;
        aim.must_be_valid(&scope)?;
        let changed = aim.changed(&scope)?;
        let nodes = aim.said(&scope, &changed);
        let gone = aim.gone(&scope)?;
        let is_everything = scope == Scope::Everything;
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

    /// What a plan made now would be made from, if that is what somebody saw.
    pub(crate) fn must_be_fresh(&mut self, seen: Option<Pair>) -> Result<Pair, Refused> {
        let pair = self.pair()?;
        match seen.filter(|seen| *seen != pair) {
            None => Ok(pair),
            Some(seen) => {
                let message = format!("the plan {seen} is stale: it would be {pair} now");
                let trouble = Diagnostic::error(STALE, message);
                Err(trouble.help("`hence plan` shows what would happen").into())
            }
        }
    }

    /// Does something that depends on the newest version, again and again if others are first. Whoever said which version
    /// they know is told instead.
    pub(crate) fn until_first<T>(
        &mut self,
        request: &Request,
        mut change: impl FnMut(&mut Self, &Request) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let mut known = request.clone();
        let mut attempt = 1;
        loop {
            self.catch_up()?;
            known.if_version = request.if_version.or(Some(self.repository.version()));
            let may_again = request.if_version.is_none() && attempt < ATTEMPTS;
            match change(self, &known) {
                Err(refused) if refused.is(MOVED) && may_again => drop(self.follow()?),
                result => return result,
            }
            attempt += 1;
        }
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
