//! Taking commits back.
//!
//! An undo is an entry of its own, and names the commit that it takes back; taking back an undo brings the commit again.
//! So each commit *stands* or does not, and its newest undo decides. About each key, the commits that stand form a
//! chain: what one left behind, the next one found. An undo may only take the last link of a chain, and then what is
//! asserted is always the end of all chains.

use std::collections::{BTreeMap, HashMap};

use hence_ledger::entry::Scope;
use hence_ledger::{Act, Change, Entry, Key, Vocabulary};
use hence_model::diagnostic::{Code, Diagnostic};

use crate::repository::commit_of;
use crate::{Error, Receipt, Refused, Repository, Request, Rules};

/// There is no commit left to take back.
pub const NOTHING_TO_UNDO: Code = Code::new("ledger.nothing-to-undo");
/// What a commit changed was changed again since.
pub const UNDO_MOVED: Code = Code::new("ledger.undo-moved");
/// The version is no commit, so there is nothing about it to take back.
pub const NOT_A_COMMIT: Code = Code::new("ledger.not-a-commit");
/// The commit was taken back already.
pub const UNDONE: Code = Code::new("ledger.undone");

/// So many keys are named that were changed again.
const TOLD: usize = 5;

impl Repository {
    /// Takes back a commit, or the newest one that stands.
    ///
    /// Whoever names no commit means the newest that they see, so this is refused if another process adds one meanwhile.
    pub fn undo(
        &mut self,
        request: &Request,
        version: Option<u64>,
        rules: &mut Rules<'_>,
    ) -> Result<Receipt, Refused> {
        loop {
            self.expect(request)?;
            let (undoes, changes) = match version {
                None => self.newest_standing(rules.vocabulary)?,
                Some(version) => (version, self.inverse(version)?),
            };
            if changes.is_empty() {
                return Ok(Receipt::Nothing);
            }
            let seen = self.version();
            let admitted = self.admit_exactly(request, changes, rules)?;
            let act = commit_of(&admitted, Some(undoes));
            if let Some(receipt) = self.add(request, self.next(request, act), admitted)? {
                return Ok(receipt);
            }
            if version.is_none() {
                return Err(self.moved(seen).into());
            }
        }
    }

    /// The newest commit that stands, and what takes it back. Nobody means one that changed only what endures: who takes
    /// back a change does not shut out a node that came in since.
    fn newest_standing(&self, vocabulary: &dyn Vocabulary) -> Result<(u64, Vec<Change>), Refused> {
        let mut standing = Standing::default();
        for entry in self.log() {
            let entry = entry?;
            let version = entry.version;
            if let Some(changes) = standing.pass(self, entry)?
                && !changes.iter().all(|one| vocabulary.endures(&one.key))
            {
                return Ok((version, inverse(&changes)));
            }
        }
        let message = "there is no commit that could be taken back";
        Err(Diagnostic::error(NOTHING_TO_UNDO, message).into())
    }

    /// There is nothing about a version to take back; what was active before it can be activated again.
    fn no_commit(&self, entry: &Entry) -> Result<Diagnostic, Error> {
        let version = entry.version;
        let message = format!("version {version} changed nothing that is asserted");
        let help = self.back_from(entry)?;
        let help = help.unwrap_or("only changes of what is asserted can be taken back".to_owned());
        Ok(Diagnostic::error(NOT_A_COMMIT, message).help(help))
    }

    /// What brings back what nodes ran before an activation of everything, if they ran something, and all the same.
    pub fn back_from(&self, entry: &Entry) -> Result<Option<String>, Error> {
        let Act::Activation {
            scope: Scope::Everything,
            ..
        } = &entry.act
        else {
            return Ok(None);
        };
        let Some(before) = self.entry(entry.version - 1)? else {
            return Ok(None);
        };
        // A part of them may have been ahead; no version brings back what both ran.
        let ran_one = before.active.apart.is_empty();
        let base = ran_one.then_some(before.active.base);
        Ok(base.filter(|base| *base > 0).map(|base| {
            format!(
                "`hence restore {base}`, and then `hence activate`, brings back what nodes ran before"
            )
        }))
    }

    /// What takes a commit back, unless one that came later and stands has to do with its keys.
    fn inverse(&self, version: u64) -> Result<Vec<Change>, Refused> {
        let entry = self.entry(version)?.ok_or_else(|| self.no_such(version))?;
        let Act::Commit { changes, .. } = entry.act else {
            return Err(self.no_commit(&entry)?.into());
        };
        let root = root(self, version)?;
        let mut moved: BTreeMap<&Key, u64> = BTreeMap::new();
        let mut standing = Standing::default();
        for later in self.log() {
            let later = later?;
            if later.version <= root.commit {
                break;
            }
            let by = later.version;
            if let Some(touched) = standing.pass(self, later)? {
                for change in changes.iter() {
                    let touches = touched.binary_search_by(|other| other.key.cmp(&change.key));
                    if touches.is_ok() {
                        moved.entry(&change.key).or_insert(by);
                    }
                }
            }
        }
        if let Some(newest) = standing.newest.get(&root.commit) {
            let counts = match version == root.commit {
                true => newest.stands,
                false => newest.by == version,
            };
            if !counts {
                let message = format!("version {version} was taken back by version {}", newest.by);
                return Err(Diagnostic::error(UNDONE, message)
                    .help(format!("`hence undo {}` takes that back", newest.by))
                    .into());
            }
        }
        for change in &changes {
            let now = self.state().get(&change.key);
            if now != change.after.as_ref() && !moved.contains_key(&change.key) {
                moved.insert(&change.key, self.last_to_touch(&change.key)?);
            }
        }
        if moved.is_empty() {
            return Ok(inverse(&changes));
        }
        let keys = moved
            .iter()
            .map(|(key, by)| format!("`{key}` by version {by}"));
        let mut keys: Vec<String> = keys.take(TOLD).collect();
        if moved.len() > TOLD {
            keys.push(format!("and {} more", moved.len() - TOLD));
        }
        let message = format!(
            "what version {version} changed was changed again since: {}",
            keys.join(", ")
        );
        let before = version - 1;
        let back =
            format!("`hence restore {before}` makes all what it was before version {version}");
        Err(Diagnostic::error(UNDO_MOVED, message)
            .help("take the later versions back first, or assert what should be")
            .help(back)
            .into())
    }

    /// The newest entry that changed a key.
    fn last_to_touch(&self, key: &Key) -> Result<u64, Error> {
        for entry in self.log() {
            let entry = entry?;
            if let Act::Commit { changes, .. } = &entry.act
                && changes.iter().any(|change| change.key == *key)
            {
                return Ok(entry.version);
            }
        }
        Ok(0)
    }
}

/// Which commits stand, found while walking from the newest entry to the oldest.
#[derive(Default)]
struct Standing {
    /// The newest undo of each commit that has one.
    newest: HashMap<u64, Newest>,
}

struct Newest {
    by: u64,
    /// Whether the commit stands after it.
    stands: bool,
}

impl Standing {
    /// Takes note of the next entry; what it changed, if it is a commit, no undo, and stands.
    fn pass(
        &mut self,
        repository: &Repository,
        entry: Entry,
    ) -> Result<Option<Vec<Change>>, Error> {
        let Act::Commit { changes, undoes } = entry.act else {
            return Ok(None);
        };
        if undoes.is_none() {
            let newest = self.newest.get(&entry.version);
            let stands = newest.is_none_or(|newest| newest.stands);
            return Ok(stands.then_some(changes));
        }
        let root = root(repository, entry.version)?;
        let by = entry.version;
        self.newest.entry(root.commit).or_insert(Newest {
            by,
            stands: root.stands,
        });
        Ok(None)
    }
}

/// The commit that an undo is about in the end, and whether it stands after it.
struct Root {
    commit: u64,
    stands: bool,
}

fn root(repository: &Repository, mut version: u64) -> Result<Root, Error> {
    let mut stands = true;
    loop {
        let entry = repository.entry(version)?;
        match entry.map(|entry| entry.act) {
            Some(Act::Commit {
                undoes: Some(undone),
                ..
            }) if undone < version => {
                version = undone;
                stands = !stands;
            }
            _ => {
                return Ok(Root {
                    commit: version,
                    stands,
                });
            }
        }
    }
}

fn inverse(changes: &[Change]) -> Vec<Change> {
    changes.iter().map(Change::inverse).collect()
}
