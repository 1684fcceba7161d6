//! What somebody said and did not commit yet: it is served all at once, or not at all.

use hence_ledger::{Command, State};
use hence_model::diagnostic::Diagnostic;
use hence_store::Refused;

use crate::address::encode;
use crate::closure::{Closure, failed};
use crate::language::{self, Order};
use crate::level2::Meant;
use crate::words::{FORM, Words};

/// What an owner has pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The writes.
    pub commands: Vec<Command>,
    /// All of it in words, with what was meant: this is how it goes into the history.
    pub text: String,
}

impl Pending {
    /// Adds writes, and what was meant by them.
    pub fn add(&mut self, meant: &Meant) {
        if let Some(meant) = &meant.meant {
            self.text.push_str(&format!("# {meant}\n"));
        }
        self.text.push_str(&language::written(&meant.commands));
        self.commands.extend(meant.commands.iter().cloned());
    }
}

impl Closure<'_> {
    /// What an owner has pending.
    pub fn pending(&self, owner: &str) -> Result<Pending, Refused> {
        let text = self.host.read(&self.pending_file(owner)).map_err(failed)?;
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let mut sources = hence_model::source::Sources::default();
        let Ok(file) = sources.add("pending", &text) else {
            return Ok(Pending::default());
        };
        let orders = language::parse(&sources, file, owner).map_err(|troubles| {
            // Where they are in the file is nobody's business: nobody should have written there.
            let first = troubles.first().map_or("", |trouble| &trouble.message);
            let message = format!("what `{owner}` has pending cannot be read: {first}");
            let trouble = Diagnostic::error(FORM, message);
            Refused::from(trouble.help("`hence http discard` forgets it"))
        })?;
        let mut commands = Vec::new();
        for placed in orders {
            if let Order::Write(writes) = placed.order {
                commands.extend(writes);
            }
        }
        Ok(Pending { commands, text })
    }

    /// Keeps what an owner has pending.
    pub fn keep_pending(&self, owner: &str, pending: &Pending) -> Result<(), Refused> {
        let path = self.pending_file(owner);
        let new = path.with_extension("new");
        let text = pending.text.as_bytes();
        self.host.write(&new, text, 0o600).map_err(failed)?;
        self.host
            .synchronise(std::slice::from_ref(&new))
            .map_err(failed)?;
        self.host.rename(&new, &path).map_err(failed)
    }

    /// Forgets what an owner has pending; whether there was anything.
    pub fn forget_pending(&self, owner: &str) -> Result<bool, Refused> {
        let path = self.pending_file(owner);
        let there = self.host.look(&path).map_err(failed)?.is_some();
        self.host.remove(&path).map_err(failed)?;
        Ok(there)
    }

    /// What would be asserted with what is pending.
    pub fn state_with(&self, pending: &Pending) -> State {
        let mut state = self.repository.state().clone();
        for command in &pending.commands {
            state.perform(command, self.repository.version() + 1, &Words);
        }
        state
    }

    fn pending_file(&self, owner: &str) -> std::path::PathBuf {
        let name = encode(owner).replace('/', "%2F");
        self.root.join("pending").join(name)
    }
}
