//! What `hence push` keeps with an entry: the sources, and how they led to each assertion.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hence_ledger::entry::Origin;
use hence_ledger::{Assertion, Hash, Key};
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

/// How assertions came to be, read from the ledger as somebody asks, and each thing once.
pub struct Archive<'s> {
    service: &'s Service,
    entries: RefCell<HashMap<u64, Option<Rc<Made>>>>,
    pushed: RefCell<HashMap<Hash, Option<Rc<Pushed>>>>,
}

/// Who made an assertion, when and why.
pub struct Made {
    /// Who.
    pub author: String,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// Why, in the author's words.
    pub message: String,
    origin: Origin,
}

impl<'s> Archive<'s> {
    /// The archive of a ledger.
    pub fn new(service: &'s Service) -> Self {
        Self {
            service,
            entries: RefCell::default(),
            pushed: RefCell::default(),
        }
    }

    /// What is asserted about a key now.
    pub fn assertion(&self, key: &Key) -> Option<&'s Assertion> {
        self.service.state().get(key)
    }

    /// Who made an assertion, when and why.
    pub fn made(&self, assertion: &Assertion) -> Option<Rc<Made>> {
        let read = || {
            let entry = self.service.repository().entry(assertion.since).ok()??;
            Some(Rc::new(Made {
                author: entry.author,
                time: entry.time,
                message: entry.message,
                origin: entry.origin,
            }))
        };
        let mut entries = self.entries.borrow_mut();
        entries.entry(assertion.since).or_insert_with(read).clone()
    }

    /// Where an assertion about a key is written, if it was compiled.
    pub fn written(&self, key: &Key, assertion: &Assertion) -> Option<Written> {
        let Origin::Sources(hash) = self.made(assertion)?.origin else {
            return None;
        };
        let object = |hash| self.service.repository().object(hash).ok().flatten();
        let read = || Some(Rc::new(serde_json::from_slice(&object(hash)?).ok()?));
        let pushed = self
            .pushed
            .borrow_mut()
            .entry(hash)
            .or_insert_with(read)
            .clone();
        let pushed: Rc<Pushed> = pushed?;
        let place = pushed.places.get(key.as_str())?.clone();
        let mut parts = place.rsplitn(3, ':');
        let (_, number, file) = (parts.next()?, parts.next()?, parts.next()?);
        let number: usize = number.parse().ok()?;
        let source = pushed.sources.iter().find(|source| source.name == file);
        let text = source.and_then(|source| String::from_utf8(object(source.hash)?).ok());
        let line = text.and_then(|text| {
            let line = text.lines().nth(number.checked_sub(1)?)?;
            Some(line.trim().to_owned())
        });
        let commit = pushed.commits.get(key.as_str()).cloned();
        Some(Written {
            place,
            line,
            commit,
        })
    }
}
