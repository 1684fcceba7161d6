//! A ledger that was copied is the same ledger, also if the copy took two attempts.

use std::sync::Mutex;

use hence_ledger::Hash;
use hence_ledger::entry::Origin;

use super::{Random, assert, commit, request, retract, undo};
use crate::{Appended, Error, FAILED, Memory, OTHER_HISTORY, Repository, Request, Store, copy};

/// A ledger with a history, what its entries come from, and an object that nobody speaks of.
pub(super) fn ledger(seed: u64, entries: u64) -> Memory {
    let mut random = Random(seed);
    let store = Memory::default();
    let mut repository = Repository::open(Box::new(store.clone())).unwrap();
    for number in 0..entries {
        let file = format!("file {number}").into_bytes();
        let list = format!("{{\"files\":[\"{}\"]}}", Hash::of(&file)).into_bytes();
        let stray = format!("stray {number}").into_bytes();
        let pushed = Request {
            origin: Origin::Sources(Hash::of(&list)),
            objects: [file, list, stray]
                .map(|bytes| (Hash::of(&bytes), bytes))
                .into(),
            ..request()
        };
        let place = format!("k{}", random.below(100));
        let _ = match random.below(5) {
            0 => undo(&mut repository, None),
            1 => commit(&mut repository, &request(), &[retract(&place)]),
            2 => commit(&mut repository, &request(), &[assert(&place, number)]),
            _ => commit(&mut repository, &pushed, &[assert(&place, number)]),
        };
    }
    for node in ["web1", "web2"] {
        store.report(node, node.as_bytes()).unwrap();
    }
    store
}

/// All that a store holds: entries, objects, reports.
type Content = (Vec<Vec<u8>>, Vec<Hash>, Vec<(String, Vec<u8>)>);

pub(super) fn content(store: &dyn Store) -> Content {
    let entries = (1..=store.head().unwrap()).map(|version| store.entry(version).unwrap().unwrap());
    let mut hashes = store.hashes().unwrap();
    hashes.sort();
    (entries.collect(), hashes, store.reports().unwrap())
}

#[test]
fn a_copy_is_the_same_ledger() {
    for seed in 1..100 {
        let from = ledger(seed, seed % 40);
        let to = Memory::default();
        let mut steps = 0;
        let copied = copy(&from, Box::new(to.clone()), &mut |_, _| steps += 1).unwrap();
        assert_eq!(content(&from), content(&to));
        assert_eq!((copied.version, copied.new), (from.head().unwrap(), steps));
        let again = copy(&from, Box::new(to.clone()), &mut |_, _| ()).unwrap();
        assert_eq!((again.version, again.new), (copied.version, 0));
        let mut repository = Repository::open(Box::new(from.clone())).unwrap();
        commit(&mut repository, &request(), &[assert("later", seed)]).unwrap();
        let later = copy(&from, Box::new(to.clone()), &mut |_, _| ()).unwrap();
        assert_eq!((later.version, later.new), (copied.version + 1, 1));
        assert_eq!(content(&from), content(&to));
    }
}

#[test]
fn an_interrupted_copy_is_a_ledger_and_goes_on() {
    for seed in 1..60 {
        let from = ledger(seed, 30);
        let to = Memory::default();
        let tiring = Tiring {
            store: to.clone(),
            left: Mutex::new(seed % 10),
        };
        let failed = copy(&from, Box::new(tiring), &mut |_, _| ());
        assert_eq!(failed.unwrap_err().code, FAILED);
        let half = Repository::open(Box::new(to.clone())).unwrap();
        half.check().unwrap();
        for entry in half.log() {
            if let Origin::Sources(list) = entry.unwrap().origin {
                let list = half.object(list).unwrap().expect("what it came from");
                let list = String::from_utf8(list).unwrap();
                let file = Hash::from_hex(list.split('"').nth(3).unwrap()).unwrap();
                assert!(half.object(file).unwrap().is_some());
            }
        }
        copy(&from, Box::new(to.clone()), &mut |_, _| ()).unwrap();
        assert_eq!(content(&from), content(&to));
    }
}

#[test]
fn another_ledger_is_left_alone() {
    let from = ledger(1, 20);
    let longer = ledger(1, 25);
    let reported = Memory::default();
    reported.report("web1", b"well").unwrap();
    for other in [ledger(2, 10), longer, reported] {
        let before = content(&other);
        let refused = copy(&from, Box::new(other.clone()), &mut |_, _| ());
        assert_eq!(refused.unwrap_err().code, OTHER_HISTORY);
        assert_eq!(content(&other), before);
    }
}

/// A store that takes so many entries, and then fails.
struct Tiring {
    store: Memory,
    left: Mutex<u64>,
}

impl Store for Tiring {
    fn place(&self) -> String {
        self.store.place()
    }

    fn head(&self) -> Result<u64, Error> {
        self.store.head()
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        self.store.entry(version)
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.store.object(hash)
    }

    fn hashes(&self) -> Result<Vec<Hash>, Error> {
        self.store.hashes()
    }

    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, Error> {
        let mut left = self.left.lock().unwrap();
        *left = left
            .checked_sub(1)
            .ok_or_else(|| Error::new(FAILED, "the disk is full"))?;
        self.store.append(version, entry, objects)
    }

    fn report(&self, node: &str, report: &[u8]) -> Result<(), Error> {
        self.store.report(node, report)
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error> {
        self.store.report_of(node)
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.store.reports()
    }
}
