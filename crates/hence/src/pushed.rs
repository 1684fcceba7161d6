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
    /// The sources that say something.
    pub sources: Vec<Source>,
    /// Where each assertion is written: `FILE:LINE:COLUMN`.
    pub places: BTreeMap<String, String>,
    /// With git, who wrote that line: the commit, the day, the author and the subject.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub commits: BTreeMap<String, String>,
}

/// A source, and the hash of the object that is its text.
#[derive(Deserialize, Serialize)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// The hash of its text.
    pub hash: Hash,
}

/// Where an assertion is written, the line itself, and who wrote it.
pub struct Written {
    /// `FILE:LINE:COLUMN`.
    pub place: String,
    /// The line.
    pub line: Option<String>,
    /// With git, who wrote it.
    pub commit: Option<String>,
}

/// Where an assertion is written, by what was kept with the entry that brought it.
pub fn written(service: &Service, hash: Hash, key: &Key) -> Option<Written> {
    let object = |hash| service.repository().object(hash).ok().flatten();
    let pushed: Pushed = serde_json::from_slice(&object(hash)?).ok()?;
    let place = pushed.places.get(key.as_str())?.clone();
    let mut parts = place.rsplitn(3, ':');
    let (_, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    let number: usize = number.parse().ok()?;
    let source = pushed.sources.iter().find(|source| source.name == file);
    let text = source.and_then(|source| String::from_utf8(object(source.hash)?).ok());
    let line =
        text.and_then(|text| Some(text.lines().nth(number.checked_sub(1)?)?.trim().to_owned()));
    let commit = pushed.commits.get(key.as_str()).cloned();
    Some(Written {
        place,
        line,
        commit,
    })
}
