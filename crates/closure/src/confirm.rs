//! A commit that is taken back by itself, unless somebody confirms it in time.
//!
//! Before such a commit a file says which generation it will be, to which it goes back, and when. So whoever comes first
//! after that time takes it back: the process that waits for it, or any other command. The file also says when the commit
//! was made, as the ledger does: if it did not come about, another one that has its number is not taken for it.

use hence_ledger::entry::Origin;
use hence_ledger::{Command, Keys, State, refusals};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Refused, Request};

use crate::closure::{Closure, Published, failed};
use crate::words::{self, Words};

/// A commit waits to be confirmed.
pub const UNCONFIRMED: Code = Code::new("http.unconfirmed");

/// A commit that waits to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The generation that it made.
    pub generation: u64,
    /// The one to which it goes back.
    pub before: u64,
    /// When, in milliseconds since 1970.
    pub deadline: u64,
}

impl Closure<'_> {
    /// The commit that waits to be confirmed.
    pub fn unconfirmed(&self) -> Result<Option<Unconfirmed>, Refused> {
        let text = self
            .host
            .read(&self.root.join("unconfirmed"))
            .map_err(failed)?;
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let numbers: Vec<u64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [generation, before, made, deadline] = numbers[..] else {
            return Ok(None);
        };
        let entry = self.repository.entry(generation)?;
        let is_it = entry.is_some_and(|entry| entry.time == made);
        Ok(is_it.then_some(Unconfirmed {
            generation,
            before,
            deadline,
        }))
    }

    /// Says that the next commit, if it is the one that is made at this time, is to be confirmed until then.
    pub fn demand_confirmation(&self, made: u64, deadline: u64) -> Result<(), Refused> {
        let before = self.repository.version();
        let text = format!("{} {before} {made} {deadline}\n", before + 1);
        let path = self.root.join("unconfirmed");
        let new = path.with_extension("new");
        self.host
            .write(&new, text.as_bytes(), 0o600)
            .map_err(failed)?;
        self.host
            .synchronise(std::slice::from_ref(&new))
            .map_err(failed)?;
        self.host.rename(&new, &path).map_err(failed)?;
        self.host
            .synchronise(std::slice::from_ref(&self.root))
            .map_err(failed)
    }

    /// An owner confirms what waits, and so may write all that it changed.
    pub fn confirm(&self, owner: &str) -> Result<Option<Unconfirmed>, Refused> {
        let Some(waits) = self.unconfirmed()? else {
            self.settle()?;
            return Ok(None);
        };
        let before = self.repository.state_at(waits.before)?;
        let rights = words::rights(&before);
        let after = self.repository.state_at(waits.generation)?;
        let changes = State::difference(&before, &after).into_iter();
        let changed = changes.map(|change| Command::Retract(Keys::Only(change.key)));
        let forbidden = changed.flat_map(|key| rights.forbidden(owner, &key, &Words));
        let refusals = refusals(owner, forbidden);
        if !refusals.is_empty() {
            return Err(Refused::Because(refusals));
        }
        self.settle()?;
        Ok(Some(waits))
    }

    /// Nothing waits any more: it is confirmed, or was taken back.
    pub fn settle(&self) -> Result<(), Refused> {
        self.host
            .remove(&self.root.join("unconfirmed"))
            .map_err(failed)
    }

    /// Refuses what would have to be taken back together with what waits.
    pub fn nothing_waits(&self) -> Result<(), Refused> {
        let Some(waits) = self.unconfirmed()? else {
            return Ok(());
        };
        let message = format!("generation {} waits to be confirmed", waits.generation);
        let trouble = Diagnostic::error(UNCONFIRMED, message);
        Err(trouble
            .help("`hence http confirm` keeps it, `hence http undo` takes it back")
            .into())
    }

    /// Takes back what was not confirmed in time. If what was before does not keep its promises either, it is left as it
    /// is, and nothing waits any more.
    pub fn expire(&mut self, now: u64) -> Result<Option<Published>, Refused> {
        let waits = self.unconfirmed()?.filter(|waits| waits.deadline <= now);
        let Some(waits) = waits else {
            return Ok(None);
        };
        let request = Request {
            author: "closure".to_owned(),
            owner: "closure".to_owned(),
            time: now,
            message: format!("generation {} was not confirmed in time", waits.generation),
            origin: Origin::Command(format!("rollback {}", waits.before)),
            objects: Vec::new(),
            if_version: None,
        };
        let published = self.restore(&request, waits.before)?;
        self.settle()?;
        Ok(Some(published))
    }
}
