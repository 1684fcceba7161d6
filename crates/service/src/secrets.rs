//! The secrets of a ledger: whether the key that is here opens them, and who may say one.
//!
//! Whoever reads the ledger reads what is sealed, and where a sealed text stands decides which node opens it. So behind a
//! server it stays under the key that it was said under, unless somebody hands in the secret itself or administers.

use std::collections::BTreeSet;

use hence_api::words;
use hence_fleet::Kind;
use hence_fleet::partial::Resolved;
use hence_fleet::token::{Role, Token};
use hence_ledger::admission::FORBIDDEN;
use hence_ledger::entry::Scope;
use hence_ledger::value::Sealed;
use hence_ledger::{Act, Change, Command, Key, State, Value};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Error, Refused};

use crate::Service;
use crate::aim::Aim;
use crate::seal::Seal;

/// The key under which secrets are sealed cannot be used.
pub const NO_KEY: Code = Code::new("store.key");

/// Who has the key under which the secrets of a ledger are sealed.
#[derive(Default)]
pub enum Keeper {
    /// Nobody, as far as is known.
    #[default]
    Nobody,
    /// This process.
    Us(Seal),
    /// Servers of the same ledger, which hand out nothing that they cannot open.
    Others,
}

impl Service {
    /// Says who has the key from now on.
    pub fn is_kept_by(&mut self, keeper: Keeper) {
        self.keeper = keeper;
    }

    /// Whether anything was ever sealed. Then there was a key, and another one must not take its place.
    pub fn had_secrets(&self) -> Result<bool, Error> {
        if secrets(self.state()).next().is_some() {
            return Ok(true);
        }
        for entry in self.repository.log() {
            if let Act::Commit { changes, .. } = &entry?.act
                && changes.iter().any(|change| said(change).is_some())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a key is that of this ledger: it opens something, or nothing is sealed.
    pub fn is_opened_by(&self, seal: &Seal) -> bool {
        let mut secrets = secrets(self.state()).peekable();
        secrets.peek().is_none() || secrets.any(|(_, sealed)| seal.open(sealed).is_some())
    }

    /// What commands say that is sealed must be whole.
    pub(crate) fn must_open(&self, commands: &[Command]) -> Result<(), Refused> {
        let Keeper::Us(seal) = &self.keeper else {
            return Ok(());
        };
        let said = commands.iter().flat_map(|command| match command {
            Command::Assert { key, value, .. } => vec![(key, value)],
            Command::Apply { set, .. } => set.iter().map(|(key, value)| (key, value)).collect(),
            Command::Retract(_) => Vec::new(),
        });
        let is_closed = |value: &Value| match value {
            Value::Sealed(sealed) => seal.open(sealed).is_none(),
            _ => false,
        };
        let troubles: Vec<Diagnostic> = said
            .filter(|(_, value)| is_closed(value))
            .map(|(key, _)| closed(key))
            .collect();
        match troubles.is_empty() {
            true => Ok(()),
            false => Err(Refused::Because(troubles)),
        }
    }
}

/// The secrets that are asserted.
fn secrets(state: &State) -> impl Iterator<Item = (&Key, &Sealed)> {
    state
        .iter()
        .filter_map(|(key, assertion)| match &assertion.value {
            Value::Sealed(sealed) => Some((key, sealed)),
            _ => None,
        })
}

/// The secret that a change says.
fn said(change: &Change) -> Option<&Sealed> {
    match &change.after.as_ref()?.value {
        Value::Sealed(sealed) => Some(sealed),
        _ => None,
    }
}

/// What a token says sealed where nobody said it, without having handed it in.
pub(crate) fn carried(
    bearer: &Token,
    handed_in: &[words::Sealed],
    changes: &[Change],
) -> Vec<Diagnostic> {
    if bearer.may_everywhere(Role::Administer) {
        return Vec::new();
    }
    let known: BTreeSet<&str> = handed_in.iter().map(|one| one.content.as_str()).collect();
    let is_carried = |change: &&Change| {
        let was_said = change.before.as_ref().map(|before| &before.value)
            == change.after.as_ref().map(|after| &after.value);
        said(change).is_some_and(|sealed| !was_said && !known.contains(&*sealed.content))
    };
    let carried = changes.iter().filter(is_carried);
    let trouble = |change: &Change| {
        let (name, key) = (&bearer.name, &change.key);
        let message =
            format!("the token `{name}` may not say under `{key}` what is sealed elsewhere");
        let help = format!("hand in the secret itself: `hence assert {key} --secret` reads it");
        Diagnostic::error(FORBIDDEN, message)
            .path(key.as_str())
            .help(help)
    };
    carried.map(trouble).collect()
}

impl Aim<'_> {
    /// What nodes are to run must be readable for them.
    pub(crate) fn must_open(&self, scope: &Scope) -> Result<(), Refused> {
        let opens = |sealed: &Sealed| match &self.service.keeper {
            Keeper::Nobody => false,
            Keeper::Us(seal) => seal.open(sealed).is_some(),
            Keeper::Others => true,
        };
        let past = match self.is_newest() {
            true => None,
            false => Some(self.service.repository().state_at(self.version)?),
        };
        let state = past.as_ref().unwrap_or(self.service.state());
        let closed: BTreeSet<&Sealed> = secrets(state)
            .map(|(_, sealed)| sealed)
            .filter(|sealed| !opens(sealed))
            .collect();
        if closed.is_empty() {
            return Ok(());
        }
        let nodes: Vec<String> = match scope {
            Scope::Everything => self.pool.nodes().iter().map(ToString::to_string).collect(),
            Scope::Only(nodes) => nodes.iter().cloned().collect(),
        };
        let mut troubles = Vec::new();
        for node in nodes {
            let config = self.pool.config(&node).unwrap_or_default();
            let is_closed = |value: &Resolved| {
                let sealed = value.sealed.as_deref();
                sealed.is_some_and(|sealed| closed.contains(sealed))
            };
            let unreadable = config.iter().find(|(_, value)| is_closed(value));
            troubles.extend(unreadable.map(|(name, _)| unreadable_for(&node, name)));
        }
        match troubles.is_empty() {
            true => Ok(()),
            false => Err(Refused::Because(troubles)),
        }
    }
}

/// A node would get a secret that nobody can open.
pub fn unreadable_for(node: &str, parameter: &str) -> Diagnostic {
    let message =
        format!("`{parameter}` of the node `{node}` cannot be opened with the key that is here");
    let path = Kind::Node.key(node).to_string();
    Diagnostic::error(NO_KEY, message)
        .path(&path)
        .help("put back the file that the secrets were sealed with, or assert the secret again")
}

fn closed(key: &Key) -> Diagnostic {
    let message =
        format!("what is sealed under `{key}` cannot be opened with the key of this ledger");
    Diagnostic::error(NO_KEY, message)
        .path(key.as_str())
        .help(format!(
            "assert the secret itself: `hence assert {key} --secret` reads it"
        ))
}
