//! What every store does, tried on each.

use std::time::Duration;

use hence_ledger::entry::{Nodes, Origin, Scope};
use hence_ledger::rights::Rights;
use hence_ledger::{Act, Hash, Keys};
use hence_model::diagnostic::Diagnostic;

use super::{
    Directory, Plain, assert, code_of, commit, freely, if_version, key, request, retract, undo,
    version_of,
};
use crate::{
    Appended, DAMAGED, LOCKED, Memory, Proposal, Receipt, Redb, Refused, Repository, Request,
    Rules, Store,
};

/// Opens the same store each time; it is closed before it is opened again.
pub(super) type Open<'o> = &'o mut dyn FnMut() -> Box<dyn Store>;

/// What is tried, in words, and how.
pub(super) type Case = (&'static str, fn(Open<'_>));

pub(super) const SUITE: [Case; 11] = [
    ("entries follow each other", entries_follow_each_other),
    ("objects come with entries", objects_come_with_entries),
    ("a report replaces the last", a_report_replaces_the_last),
    ("waiting ends with news", waiting_ends_with_news),
    ("a ledger is there again", a_ledger_is_there_again),
    ("a stale version is refused", a_stale_version_is_refused),
    ("undo goes back step by step", undo_goes_back_step_by_step),
    ("undo of one goes by its keys", undo_of_one_goes_by_its_keys),
    ("what came between stays", what_came_between_stays),
    ("versions have names", versions_have_names),
    (
        "rights and checks hold for undo",
        rights_and_checks_hold_for_undo,
    ),
];

/// What takes a store that may be open more than once.
pub(super) const SHARED: [Case; 1] = [("two writers both get in", two_writers_both_get_in)];

#[test]
fn in_memory() {
    for (name, case) in SUITE.into_iter().chain(SHARED) {
        println!("{name}");
        let store = Memory::default();
        case(&mut || Box::new(store.clone()));
    }
}

#[test]
fn in_a_file() {
    for (number, (name, case)) in SUITE.into_iter().enumerate() {
        println!("{name}");
        let directory = Directory::new(&format!("suite-{number}"));
        let store = directory.path().join("some/where");
        case(&mut || Box::new(Redb::open(&store).unwrap()));
    }
}

fn entries_follow_each_other(open: Open<'_>) {
    let store = open();
    assert_eq!(store.head(), Ok(0));
    assert_eq!(store.entry(0), Ok(None));
    assert_eq!(store.append(2, b"second", &[]), Ok(Appended::Moved(0)));
    assert_eq!(store.append(1, b"first", &[]), Ok(Appended::Done));
    assert_eq!(store.append(1, b"other", &[]), Ok(Appended::Moved(1)));
    assert_eq!(store.append(0, b"none", &[]), Ok(Appended::Moved(1)));
    assert_eq!(store.append(2, b"second", &[]), Ok(Appended::Done));
    drop(store);
    let store = open();
    assert_eq!(store.head(), Ok(2));
    assert_eq!(store.entry(1), Ok(Some(b"first".to_vec())));
    assert_eq!(store.entry(2), Ok(Some(b"second".to_vec())));
    assert_eq!(store.entry(3), Ok(None));
}

fn objects_come_with_entries(open: Open<'_>) {
    let store = open();
    let object = |text: &str| (Hash::of(text.as_bytes()), text.as_bytes().to_vec());
    let (one, two) = (object("one"), object("two"));
    let objects = [one.clone(), two.clone()];
    assert_eq!(store.append(1, b"first", &objects), Ok(Appended::Done));
    // What is refused leaves nothing behind.
    let late = object("late");
    let refused = store.append(1, b"again", std::slice::from_ref(&late));
    assert_eq!(refused, Ok(Appended::Moved(1)));
    assert_eq!(store.append(2, b"same", &objects), Ok(Appended::Done));
    drop(store);
    let store = open();
    assert_eq!(store.object(one.0), Ok(Some(one.1)));
    assert_eq!(store.object(late.0), Ok(None));
    let mut hashes = store.hashes().unwrap();
    hashes.sort();
    let mut expected = [one.0, two.0];
    expected.sort();
    assert_eq!(hashes, expected);
}

fn a_report_replaces_the_last(open: Open<'_>) {
    let store = open();
    store.report("web2", b"well").unwrap();
    store.report("web1", b"").unwrap();
    store.report("web2", b"better").unwrap();
    drop(store);
    let store = open();
    assert_eq!(store.report_of("web2"), Ok(Some(b"better".to_vec())));
    assert_eq!(store.report_of("web3"), Ok(None));
    let expected = [("web1", b"".to_vec()), ("web2", b"better".to_vec())];
    let expected = expected.map(|(node, report)| (node.to_owned(), report));
    assert_eq!(store.reports().unwrap(), expected);
    assert_eq!(store.head(), Ok(0));
}

fn waiting_ends_with_news(open: Open<'_>) {
    let store = open();
    assert_eq!(store.wait(0, Duration::ZERO), Ok(0));
    assert_eq!(store.wait(0, Duration::from_millis(30)), Ok(0));
    for version in 1..=5 {
        std::thread::scope(|scope| {
            let news = scope.spawn(|| store.wait(version - 1, Duration::from_secs(100)));
            assert_eq!(store.append(version, b"news", &[]), Ok(Appended::Done));
            assert_eq!(news.join().unwrap(), Ok(version));
        });
    }
    assert_eq!(store.wait(3, Duration::from_secs(100)), Ok(5));
}

fn a_ledger_is_there_again(open: Open<'_>) {
    let mut repository = Repository::open(open()).unwrap();
    assert!(repository.head().is_none());
    assert!(repository.state_at(0).unwrap().is_empty());
    for number in 1..=40 {
        let commands = [assert(&format!("k{number}"), number)];
        assert_eq!(
            version_of(commit(&mut repository, &request(), &commands)),
            number
        );
    }
    let sources = (Hash::of(b"sources"), b"sources".to_vec());
    let with_sources = Request {
        origin: Origin::Sources(sources.0),
        objects: vec![sources.clone()],
        ..request()
    };
    commit(&mut repository, &with_sources, &[assert("k41", 41)]).unwrap();
    assert_eq!(repository.object(sources.0), Ok(Some(sources.1)));
    assert_eq!(version_of(undo(&mut repository, None)), 42);
    let again = [assert("k40", 40), retract("unheard-of")];
    assert_eq!(
        commit(&mut repository, &request(), &again),
        Ok(Receipt::Nothing)
    );
    // Said and taken back in one commit is nothing either, and as old as before.
    let there_and_back = [assert("k40", 41), assert("k40", 40)];
    assert_eq!(
        commit(&mut repository, &request(), &there_and_back),
        Ok(Receipt::Nothing)
    );
    assert_eq!(repository.state().get(&key("k40")).unwrap().since, 40);
    drop(repository);

    let repository = Repository::open(open()).unwrap();
    repository.check().unwrap();
    assert_eq!(repository.version(), 42);
    assert_eq!(repository.state().len(), 40);
    assert_eq!(repository.state().get(&key("k7")).unwrap().since, 7);
    assert_eq!(repository.state_at(12).unwrap().len(), 12);
    let versions: Vec<u64> = repository
        .log()
        .map(|entry| entry.unwrap().version)
        .collect();
    assert_eq!(versions, (1..=42).rev().collect::<Vec<u64>>());
    assert_eq!(repository.entry(0), Ok(None));
    assert_eq!(repository.entry(43), Ok(None));
    match repository.state_at(43) {
        Err(Refused::Because(troubles)) => {
            assert_eq!(troubles[0].code.name, "ledger.no-such-version")
        }
        other => panic!("{other:?}"),
    }
}

fn two_writers_both_get_in(open: Open<'_>) {
    let mut one = Repository::open(open()).unwrap();
    let mut other = Repository::open(open()).unwrap();
    assert_eq!(
        version_of(commit(&mut one, &request(), &[assert("a", 1)])),
        1
    );
    assert_eq!(
        version_of(commit(&mut other, &request(), &[assert("b", 1)])),
        2
    );
    assert_eq!(
        version_of(commit(&mut one, &request(), &[assert("c", 1)])),
        3
    );
    other.follow().unwrap();
    assert_eq!(one.state(), other.state());
    assert_eq!(
        version_of(commit(&mut other, &request(), &[assert("a", 2)])),
        4
    );
    // Who names no version means the newest they see, and that is another now.
    assert_eq!(code_of(undo(&mut one, None)), "ledger.moved");
    assert_eq!(version_of(undo(&mut one, None)), 5);
    assert_eq!(other.state().len(), 3);
    other.follow().unwrap();
    assert_eq!(one.state(), other.state());
    Repository::open(open()).unwrap().check().unwrap();
}

fn a_stale_version_is_refused(open: Open<'_>) {
    let mut repository = Repository::open(open()).unwrap();
    assert_eq!(
        version_of(commit(&mut repository, &if_version(0), &[assert("a", 1)])),
        1
    );
    let stale = commit(&mut repository, &if_version(0), &[assert("a", 2)]);
    assert_eq!(code_of(stale), "ledger.moved");
    assert_eq!(
        version_of(commit(&mut repository, &if_version(1), &[assert("a", 2)])),
        2
    );
}

fn undo_goes_back_step_by_step(open: Open<'_>) {
    let mut repository = Repository::open(open()).unwrap();
    assert_eq!(
        code_of(undo(&mut repository, None)),
        "ledger.nothing-to-undo"
    );
    for number in 1..=3 {
        commit(&mut repository, &request(), &[assert("a", number)]).unwrap();
    }
    for expected in [2, 1, 0] {
        version_of(undo(&mut repository, None));
        assert_eq!(repository.state(), &repository.state_at(expected).unwrap());
        repository = {
            drop(repository);
            Repository::open(open()).unwrap()
        };
    }
    assert_eq!(
        code_of(undo(&mut repository, None)),
        "ledger.nothing-to-undo"
    );
    assert_eq!(repository.version(), 6);
    // Taking an undo back brings the commit again, as old as it was.
    assert_eq!(version_of(undo(&mut repository, Some(6))), 7);
    assert_eq!(repository.state().get(&key("a")).unwrap().since, 1);
    assert_eq!(version_of(undo(&mut repository, None)), 8);
    assert!(repository.state().is_empty());
}

fn undo_of_one_goes_by_its_keys(open: Open<'_>) {
    let mut repository = Repository::open(open()).unwrap();
    commit(
        &mut repository,
        &request(),
        &[assert("a", 1), assert("b", 1)],
    )
    .unwrap();
    commit(&mut repository, &request(), &[assert("c", 1)]).unwrap();
    commit(&mut repository, &request(), &[assert("b", 2)]).unwrap();
    match undo(&mut repository, Some(1)) {
        Err(Refused::Because(troubles)) => assert_eq!(
            troubles[0].message,
            "what version 1 changed was changed again since: `b` by version 3"
        ),
        other => panic!("{other:?}"),
    }
    assert_eq!(version_of(undo(&mut repository, Some(2))), 4);
    assert!(repository.state().get(&key("c")).is_none());
    assert_eq!(code_of(undo(&mut repository, Some(2))), "ledger.undone");
    assert_eq!(
        code_of(undo(&mut repository, Some(9))),
        "ledger.no-such-version"
    );
    assert_eq!(version_of(undo(&mut repository, Some(3))), 5);
    assert_eq!(version_of(undo(&mut repository, Some(1))), 6);
    assert!(repository.state().is_empty());
    // What would come back has lost its place to something else.
    commit(&mut repository, &request(), &[assert("left", 1)]).unwrap();
    let gone = version_of(commit(&mut repository, &request(), &[retract("left")]));
    commit(&mut repository, &request(), &[assert("right", 1)]).unwrap();
    let before = repository.state().clone();
    assert_eq!(
        code_of(undo(&mut repository, Some(gone))),
        "ledger.undo-moved"
    );
    assert_eq!(repository.state(), &before);
    repository.check().unwrap();
}

fn what_came_between_stays(open: Open<'_>) {
    let mut repository = Repository::open(open()).unwrap();
    commit(&mut repository, &request(), &[assert("a", 1)]).unwrap();
    let everything = || (Scope::Everything, Nodes::AllBut(Default::default()));
    let (scope, changed) = everything();
    assert_eq!(
        version_of(repository.activate(&request(), 1, scope, changed, Default::default())),
        2
    );
    let (scope, changed) = everything();
    assert_eq!(
        repository.activate(&request(), 1, scope, changed, Default::default()),
        Ok(Receipt::Nothing)
    );
    let (scope, changed) = everything();
    assert_eq!(
        code_of(repository.activate(&request(), 9, scope, changed, Default::default())),
        "ledger.no-such-version"
    );
    commit(&mut repository, &request(), &[assert("a", 2)]).unwrap();
    version_of(undo(&mut repository, None));
    version_of(undo(&mut repository, None));
    assert!(repository.state().is_empty());
    assert_eq!(repository.active().base, 1);
    assert_eq!(
        code_of(undo(&mut repository, Some(2))),
        "ledger.not-a-commit"
    );
    let restored = freely(|rules| repository.restore(&request(), 3, rules));
    assert_eq!(version_of(restored), 6);
    assert_eq!(repository.state(), &repository.state_at(3).unwrap());
    let restored = freely(|rules| repository.restore(&request(), 3, rules));
    assert_eq!(restored, Ok(Receipt::Nothing));
    drop(repository);
    let repository = Repository::open(open()).unwrap();
    assert_eq!(repository.active().target("web1"), 1);
    assert!(matches!(
        repository.head().unwrap().act,
        Act::Commit { undoes: None, .. }
    ));
}

fn versions_have_names(open: Open<'_>) {
    let mut repository = Repository::open(open()).unwrap();
    assert_eq!(
        version_of(repository.name(&request(), "empty", 0, "before all")),
        1
    );
    drop(repository);
    let mut repository = Repository::open(open()).unwrap();
    commit(&mut repository, &request(), &[assert("a", 1)]).unwrap();
    assert_eq!(version_of(repository.name(&request(), "good", 2, "")), 3);
    assert_eq!(
        repository.name(&request(), "good", 2, ""),
        Ok(Receipt::Nothing)
    );
    assert_eq!(
        code_of(repository.name(&request(), "good", 1, "")),
        "ledger.name-taken"
    );
    assert_eq!(
        code_of(repository.name(&request(), "next", 9, "")),
        "ledger.no-such-version"
    );
    assert_eq!(version_of(repository.unname(&request(), "good")), 4);
    assert_eq!(
        code_of(repository.unname(&request(), "good")),
        "ledger.no-such-name"
    );
    assert_eq!(repository.head().unwrap().snapshots.len(), 1);
}

fn rights_and_checks_hold_for_undo(open: Open<'_>) {
    let mut repository = Repository::open(open()).unwrap();
    commit(&mut repository, &request(), &[assert("a", 1)]).unwrap();
    let mut rights = Rights::default();
    rights.confine("ann", Keys::Under(key("b")));
    let mut rules = Rules {
        rights: &rights,
        vocabulary: &Plain,
        check: &mut |_, _| Vec::new(),
    };
    assert_eq!(
        code_of(repository.undo(&request(), None, &mut rules)),
        "ledger.forbidden"
    );
    let mut rules = Rules {
        rights: &Rights::default(),
        vocabulary: &Plain,
        check: &mut |_, changes| {
            let message = format!("{} changes are too many", changes.len());
            vec![Diagnostic::error(crate::MOVED, message)]
        },
    };
    assert_eq!(
        code_of(repository.undo(&request(), None, &mut rules)),
        "ledger.moved"
    );
    let proposal = Proposal {
        commands: &[assert("b", 1)],
        take: &[],
        dormant: false,
    };
    assert_eq!(
        code_of(repository.commit(&request(), &proposal, &mut rules)),
        "ledger.moved"
    );
    assert_eq!(repository.state(), &repository.state_at(1).unwrap());
    repository.check().unwrap();
}

#[test]
fn a_second_process_is_told_that_there_is_a_first() {
    let directory = Directory::new("locked");
    let store = Redb::open(directory.path()).unwrap();
    let error = Redb::open(directory.path()).unwrap_err();
    assert_eq!(error.code, LOCKED);
    assert!(
        error.message.contains("in use by another process"),
        "{error}"
    );
    drop(store);
    Redb::open(directory.path()).unwrap();
}

#[test]
fn a_backup_is_a_store_of_the_moment_it_was_made() {
    let directory = Directory::new("backup");
    let store = Redb::open(&directory.path().join("store")).unwrap();
    let copy = directory.path().join("copy");
    store.report("web1", b"well").unwrap();
    let entry = b"first";
    let object = (Hash::of(b"object"), b"object".to_vec());
    store
        .append(1, entry, std::slice::from_ref(&object))
        .unwrap();
    // What an earlier backup left behind when it was killed.
    std::fs::create_dir(directory.path().join("copy.unfinished")).unwrap();
    store.backup(&copy).unwrap();
    store.append(2, b"second", &[]).unwrap();
    assert!(
        store
            .backup(&copy)
            .unwrap_err()
            .message
            .contains("there already")
    );
    let copy = Redb::open(&copy).unwrap();
    copy.check().unwrap();
    assert_eq!(copy.head(), Ok(1));
    assert_eq!(copy.entry(1), Ok(Some(entry.to_vec())));
    assert_eq!(copy.object(object.0), Ok(Some(object.1)));
    assert_eq!(copy.report_of("web1"), Ok(Some(b"well".to_vec())));
}

#[test]
fn a_backup_is_whole_while_others_write() {
    let directory = Directory::new("running");
    let store = Redb::open(&directory.path().join("store")).unwrap();
    let mut repository = Repository::open(Box::new(store.clone())).unwrap();
    commit(&mut repository, &request(), &[assert("a", 0)]).unwrap();
    let writer = std::thread::spawn(move || {
        for number in 1..60 {
            commit(&mut repository, &request(), &[assert("a", number)]).unwrap();
        }
        repository
    });
    let copies = (0..5).map(|number| directory.path().join(format!("copy-{number}")));
    let copies: Vec<_> = copies.inspect(|copy| store.backup(copy).unwrap()).collect();
    let repository = writer.join().unwrap();
    for copy in copies {
        let copy = Repository::open(Box::new(Redb::open(&copy).unwrap())).unwrap();
        copy.check().unwrap();
        let head = copy.head().unwrap();
        assert_eq!(repository.entry(head.version).unwrap().as_ref(), Some(head));
    }
}

#[test]
fn a_past_that_was_changed_or_lost_is_seen() {
    let original = Memory::default();
    let mut repository = Repository::open(Box::new(original.clone())).unwrap();
    for number in 0..60 {
        commit(
            &mut repository,
            &request(),
            &[assert(&format!("k{number}"), number)],
        )
        .unwrap();
    }
    let entries: Vec<Vec<u8>> = (1..=60)
        .map(|version| original.entry(version).unwrap().unwrap())
        .collect();
    let objects: Vec<(Hash, Vec<u8>)> = (original.hashes().unwrap().into_iter())
        .map(|hash| (hash, original.object(hash).unwrap().unwrap()))
        .collect();
    let seen = |entries: &[Vec<u8>], objects: &[(Hash, Vec<u8>)]| {
        let store = Memory::default();
        for (number, entry) in entries.iter().enumerate() {
            let objects = if number == 0 { objects } else { &[] };
            store.append(number as u64 + 1, entry, objects).unwrap();
        }
        let checked = Repository::open(Box::new(store)).and_then(|repository| repository.check());
        match checked {
            Ok(()) => false,
            Err(error) => error.code == DAMAGED && !error.help.is_empty(),
        }
    };
    assert!(!seen(&entries, &objects));
    for place in 0..59 {
        let mut other = entries.clone();
        let text = String::from_utf8(other[place].clone()).unwrap();
        other[place] = text.replace("why not", "why now").into_bytes();
        assert!(seen(&other, &objects), "entry {}", place + 1);
    }
    for place in 0..objects.len() {
        let mut other = objects.clone();
        other[place].1.push(b' ');
        assert!(seen(&entries, &other), "another object");
        other.remove(place);
        assert!(seen(&entries, &other), "no object");
    }
}

/// A store that fails when it is told to, having done what it was asked or not.
struct Failing {
    store: Memory,
    fails: std::sync::Arc<std::sync::Mutex<Option<bool>>>,
}

impl Store for Failing {
    fn place(&self) -> String {
        self.store.place()
    }

    fn head(&self) -> Result<u64, crate::Error> {
        self.store.head()
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, crate::Error> {
        self.store.entry(version)
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, crate::Error> {
        self.store.object(hash)
    }

    fn hashes(&self) -> Result<Vec<Hash>, crate::Error> {
        self.store.hashes()
    }

    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, crate::Error> {
        let failed = Err(crate::Error::new(crate::FAILED, "the disk is full"));
        match self.fails.lock().unwrap().take() {
            None => self.store.append(version, entry, objects),
            Some(false) => failed,
            Some(true) => {
                self.store.append(version, entry, objects)?;
                failed
            }
        }
    }

    fn report(&self, node: &str, report: &[u8]) -> Result<(), crate::Error> {
        self.store.report(node, report)
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, crate::Error> {
        self.store.report_of(node)
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, crate::Error> {
        self.store.reports()
    }
}

#[test]
fn a_failed_write_leaves_a_ledger_that_goes_on() {
    let mut random = super::Random(3);
    for _ in 0..300 {
        let store = Memory::default();
        let fails = std::sync::Arc::default();
        let failing = Failing {
            store: store.clone(),
            fails: std::sync::Arc::clone(&fails),
        };
        let mut repository = Repository::open(Box::new(failing)).unwrap();
        for number in 0..60 {
            *fails.lock().unwrap() = match random.below(6) {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            };
            let place = random.below(80);
            let _ = match random.below(5) {
                0 => repository.name(&request(), &format!("n{number}"), repository.version(), ""),
                1 => undo(&mut repository, None),
                2 => commit(
                    &mut repository,
                    &request(),
                    &[retract(&format!("k{place}"))],
                ),
                _ => commit(
                    &mut repository,
                    &request(),
                    &[assert(&format!("k{place}"), number)],
                ),
            };
        }
        repository.follow().unwrap();
        let reopened = Repository::open(Box::new(store)).unwrap();
        reopened.check().unwrap();
        assert_eq!(reopened.state(), repository.state());
        assert_eq!(reopened.head(), repository.head());
    }
}
