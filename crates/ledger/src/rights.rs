//! Who may write what, decided by the keys of a command alone.

use ecow::EcoString;

use crate::{Command, Keys, Vocabulary};

/// The parts of the tree that owners are confined to. Whoever is not confined may write everything.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    confined: Vec<(EcoString, Keys)>,
}

impl Rights {
    /// Confines an owner to some keys, besides those that the owner was confined to before.
    pub fn confine(&mut self, owner: impl Into<EcoString>, keys: Keys) {
        self.confined.push((owner.into(), keys));
    }

    /// The keys that a command of this owner would write and may not.
    pub fn forbidden(
        &self,
        owner: &str,
        command: &Command,
        vocabulary: &dyn Vocabulary,
    ) -> Vec<Keys> {
        let theirs = || self.confined.iter().filter(|(other, _)| other == owner);
        if theirs().next().is_none() {
            return Vec::new();
        }
        let mut written = command.writes(vocabulary);
        written.retain(|keys| !theirs().any(|(_, allowed)| allowed.includes(keys)));
        written
    }
}
