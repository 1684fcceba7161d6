//! What `hence push` keeps with an entry: the sources, and how they led to each assertion.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hence_ledger::entry::Origin;
use hence_ledger::{Assertion, Hash, Key};
use serde::{Deserialize, Serialize};

use crate::Service;

/// How sources led to assertions.
#[derive(Default, Deserialize, Serialize)]
pub struct Pushed {
    /// The file that was compiled.
    pub entry: String,
    /// The sources that say something.
    pub sources: Vec<Source>,
    /// How each assertion came to be, by its key.
    pub ways: BTreeMap<String, Way>,
    /// The steps of all ways.
    pub steps: Vec<Step>,
}

/// How an assertion came to be.
#[derive(Deserialize, Serialize)]
pub struct Way {
    /// Where its value is written or computed: `FILE:LINE:COLUMN`.
    pub place: String,
    /// How it was computed, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<String>,
    /// Through which steps it went from there, by their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<usize>,
    /// With git, who wrote that line: the commit, the day, the author and the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A step on the way of a value.
#[derive(Clone, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Step {
    /// What happened.
    pub words: String,
    /// Where that is written: `FILE:LINE:COLUMN`.
    pub place: String,
}

/// A source, and the hash of the object that is its text.
#[derive(Deserialize, Serialize)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// The hash of its text.
    pub hash: Hash,
}

/// Where an assertion is written, the line itself, who wrote it, and how it went on from there.
#[derive(Serialize)]
pub struct Written {
    /// `FILE:LINE:COLUMN`.
    pub place: String,
    /// The line.
    #[serde(skip)]
    pub line: Option<String>,
    /// How the value was computed, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computed: Option<String>,
    /// With git, who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How it came from there to be asserted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WrittenStep>,
}

/// A step on the way of a value, and the line itself.
#[derive(Serialize)]
pub struct WrittenStep {
    /// The step.
    #[serde(flatten)]
    pub step: Step,
    /// The line.
    #[serde(skip)]
    pub line: Option<String>,
}

/// How assertions came to be, read from the ledger as somebody asks, and each thing once.
pub struct Archive<'s> {
    service: &'s Service,
    /// The version that is looked at; without one, the newest.
    version: Option<u64>,
    /// Where what was asserted at that version is.
    address: OnceCell<Option<Hash>>,
    entries: RefCell<HashMap<u64, Option<Rc<Made>>>>,
    pushed: RefCell<HashMap<Hash, Option<Rc<Pushed>>>>,
    texts: RefCell<HashMap<Hash, Option<String>>>,
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
    /// The archive of a ledger, for its newest version.
    pub fn new(service: &'s Service) -> Self {
        Self::at(service, None)
    }

    /// The archive of a ledger, for a version of it.
    pub fn at(service: &'s Service, version: Option<u64>) -> Self {
        Self {
            service,
            version,
            address: OnceCell::new(),
            entries: RefCell::default(),
            pushed: RefCell::default(),
            texts: RefCell::default(),
        }
    }

    /// What is asserted about a key at the version that is looked at.
    pub fn assertion(&self, key: &Key) -> Option<Assertion> {
        match self.version {
            None => self.service.state().get(key).cloned(),
            Some(version) => {
                let repository = self.service.repository();
                let address = || Some(repository.entry(version).ok()??.address);
                let address = *self.address.get_or_init(address);
                repository.assertion_in(address?, key).ok().flatten()
            }
        }
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
        let read = || Some(Rc::new(serde_json::from_slice(&self.object(hash)?).ok()?));
        let pushed = self
            .pushed
            .borrow_mut()
            .entry(hash)
            .or_insert_with(read)
            .clone();
        let pushed: Rc<Pushed> = pushed?;
        let way = pushed.ways.get(key.as_str())?;
        let steps = way.steps.iter().filter_map(|&step| pushed.steps.get(step));
        Some(Written {
            place: way.place.clone(),
            line: self.line(&pushed, &way.place),
            computed: way.computed.clone(),
            commit: way.commit.clone(),
            steps: steps
                .map(|step| WrittenStep {
                    step: step.clone(),
                    line: self.line(&pushed, &step.place),
                })
                .collect(),
        })
    }

    /// The line of a source that a place is in.
    fn line(&self, pushed: &Pushed, place: &str) -> Option<String> {
        let mut parts = place.rsplitn(3, ':');
        let (_, number, file) = (parts.next()?, parts.next()?, parts.next()?);
        let number: usize = number.parse().ok()?;
        let source = pushed.sources.iter().find(|source| source.name == file)?;
        let read = || String::from_utf8(self.object(source.hash)?).ok();
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(source.hash).or_insert_with(read).as_deref()?;
        let line = text.lines().nth(number.checked_sub(1)?)?;
        Some(line.trim().to_owned())
    }

    fn object(&self, hash: Hash) -> Option<Vec<u8>> {
        self.service.repository().object(hash).ok().flatten()
    }
}
