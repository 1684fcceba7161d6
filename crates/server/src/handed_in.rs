//! Secrets that somebody handed in to be sealed, remembered until they are asserted. Whoever knows a secret may say it
//! anywhere; whoever only read it sealed may not.

use std::sync::{Mutex, PoisonError};

use hence_ledger::value::Sealed;

/// So long somebody may take to assert what they handed in, in milliseconds.
const LASTS: u64 = 600_000;
/// So many are remembered of all together; those who come after that many are asked to hand in again.
const MOST: usize = 65_536;

/// What was handed in: when, with which token, and what came of it.
#[derive(Default)]
pub(crate) struct HandedIn(Mutex<Vec<(u64, String, Sealed)>>);

impl HandedIn {
    /// Notes what a token handed in.
    pub fn note(&self, token: &str, sealed: &Sealed, now: u64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(then, _, _)| now.saturating_sub(*then) < LASTS);
        if all.len() == MOST {
            all.remove(0);
        }
        all.push((now, token.to_owned(), sealed.clone()));
    }

    /// What a token handed in of late.
    pub fn by(&self, token: &str, now: u64) -> Vec<Sealed> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = all
            .iter()
            .filter(|(then, name, _)| name == token && now.saturating_sub(*then) < LASTS);
        theirs.map(|(_, _, sealed)| sealed.clone()).collect()
    }
}
