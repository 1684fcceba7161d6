//! What `hence push` keeps with an entry: the sources, and how they led to each assertion.

use std::collections::BTreeMap;

use hence_ledger::{Hash, Key};
use hence_service::Service;
use serde::{Deserialize, Serialize};

/// How sources led to assertions.
#[derive(Default, Deserialize, Serialize)]
pub struct Pushed {
    /// The file that was compiled.
    pub entry: String,
    /// The sources, by their names, each as the hash of an object that is its text.
    pub sources: BTreeMap<String, Hash>,
    /// Where each assertion is written: `FILE:LINE:COLUMN`.
    pub places: BTreeMap<String, String>,
}

/// Where an assertion is written.
pub fn place(service: &Service, hash: Hash, key: &Key) -> Option<String> {
    let bytes = service.repository().object(hash).ok()??;
    let pushed: Pushed = serde_json::from_slice(&bytes).ok()?;
    pushed.places.get(key.as_str()).cloned()
}
