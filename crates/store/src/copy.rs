//! A ledger moves to another store, with its whole history.
//!
//! Entries and objects name each other by hashes in hexadecimal digits. So what an entry needs is found without knowing what
//! it means, and goes with it: a copy that is interrupted is a ledger already, and goes on where it ended.

use std::collections::HashSet;

use hence_ledger::Hash;
use hence_model::diagnostic::Code;

use crate::{Appended, Error, Repository, Store};

/// A ledger is to be copied to where there is another one.
pub const OTHER_HISTORY: Code = Code::new("store.other-history");

/// What a copy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The number of its newest entry.
    pub version: u64,
    /// How many entries were not there before.
    pub new: u64,
    /// How many objects there are.
    pub objects: usize,
    /// How many nodes reported something.
    pub reports: usize,
}

/// Makes one store hold what another one holds, says how far it is, and then compares all of it.
///
/// The other store must be empty, or hold the beginning of the same history.
pub fn copy(
    from: &dyn Store,
    to: Box<dyn Store>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Copied, Error> {
    let newest = from.head()?;
    let start = common(from, &*to, newest)?;
    // Others may go on changing what is copied: what they add is for the next time.
    let objects = from.hashes()?;
    let mut left: HashSet<Hash> = objects.iter().copied().collect();
    let there: HashSet<Hash> = match start {
        0 => HashSet::new(),
        _ => to.hashes()?.into_iter().collect(),
    };
    for version in start + 1..=newest {
        progress(version, newest);
        let entry = entry(from, version)?;
        let mut objects = needed(from, &entry, &mut left)?;
        if version == newest {
            // What no entry leads to is kept as well.
            let rest: Vec<Hash> = left.difference(&there).copied().collect();
            objects.extend(read(from, rest)?);
        }
        objects.retain(|(hash, _)| !there.contains(hash));
        if let Appended::Moved(head) = to.append(version, &entry, &objects)? {
            return Err(other(&*to, format!("somebody else added version {head}")));
        }
    }
    let reports = from.reports()?;
    for (node, report) in &reports {
        to.report(node, report)?;
    }
    let copied = Copied {
        version: newest,
        new: newest - start,
        objects: objects.len(),
        reports: reports.len(),
    };
    // Each entry has the hash of the one before it, so the last one stands for all.
    let repository = Repository::open(to)?;
    repository.check()?;
    let to = repository.store();
    let there: HashSet<Hash> = to.hashes()?.into_iter().collect();
    let has_all = objects.iter().all(|hash| there.contains(hash));
    let is_equal = newest == 0 || to.entry(newest)? == from.entry(newest)?;
    let reported: HashSet<(String, Vec<u8>)> = to.reports()?.into_iter().collect();
    let has_reports = reports.iter().all(|report| reported.contains(report));
    match has_all && is_equal && has_reports {
        true => Ok(copied),
        false => Err(Error::damaged(format!(
            "{} does not hold what was copied there",
            to.place()
        ))),
    }
}

/// The newest entry of the copy, which must be one of the original.
fn common(from: &dyn Store, to: &dyn Store, newest: u64) -> Result<u64, Error> {
    let head = to.head()?;
    if head == 0 {
        let reports: HashSet<(String, Vec<u8>)> = from.reports()?.into_iter().collect();
        return match to.reports()?.iter().all(|report| reports.contains(report)) {
            true => Ok(0),
            false => Err(other(to, "it has other reports of nodes".to_owned())),
        };
    }
    if head > newest {
        let what = format!("it is at version {head}, and {newest} is the newest to copy");
        return Err(other(to, what));
    }
    if to.entry(head)? != Some(entry(from, head)?) {
        return Err(other(to, format!("its version {head} is another one")));
    }
    Ok(head)
}

fn other(to: &dyn Store, what: String) -> Error {
    let message = format!("{} holds something else: {what}", to.place());
    Error::new(OTHER_HISTORY, message).help("name a place where there is no ledger yet")
}

fn entry(from: &dyn Store, version: u64) -> Result<Vec<u8>, Error> {
    let place = from.place();
    let missing = || Error::damaged(format!("{place} is damaged: entry {version} is missing"));
    from.entry(version)?.ok_or_else(missing)
}

/// All that something leads to, of what is left.
fn needed(
    from: &dyn Store,
    bytes: &[u8],
    left: &mut HashSet<Hash>,
) -> Result<Vec<(Hash, Vec<u8>)>, Error> {
    let mut needed = Vec::new();
    let mut next: Vec<Hash> = mentioned(bytes).filter(|hash| left.remove(hash)).collect();
    while !next.is_empty() {
        let found = read(from, std::mem::take(&mut next))?;
        for (_, bytes) in &found {
            next.extend(mentioned(bytes).filter(|hash| left.remove(hash)));
        }
        needed.extend(found);
    }
    Ok(needed)
}

fn read(from: &dyn Store, hashes: Vec<Hash>) -> Result<Vec<(Hash, Vec<u8>)>, Error> {
    let found = from.objects(&hashes)?;
    let object = |(hash, found): (Hash, Option<Vec<u8>>)| match found {
        Some(bytes) if Hash::of(&bytes) == hash => Ok((hash, bytes)),
        _ => Err(Error::damaged(format!(
            "{} is damaged: object {hash} is missing, or not what was written",
            from.place()
        ))),
    };
    hashes.into_iter().zip(found).map(object).collect()
}

/// The hashes that stand somewhere in some bytes.
fn mentioned(bytes: &[u8]) -> impl Iterator<Item = Hash> + '_ {
    let words = bytes.split(|byte| !byte.is_ascii_hexdigit());
    let words = words.filter(|word| word.len() == 64);
    words.filter_map(|word| Hash::from_hex(std::str::from_utf8(word).ok()?))
}
