//! Undo agrees with a plain stack, and a ledger that is opened again with one that went on.

use std::collections::BTreeMap;

use hence_ledger::entry::{Nodes, Scope};
use hence_ledger::{Act, State};

use super::{Random, assert, code_of, commit, request, retract, undo};
use crate::{Memory, Receipt, Repository};

/// What is asserted, as plainly as can be.
type Plainly = BTreeMap<String, String>;

fn plainly(state: &State) -> Plainly {
    let text = |value: &hence_ledger::Value| value.as_text().unwrap().to_owned();
    let assertions = state.iter();
    assertions
        .map(|(key, assertion)| (key.to_string(), text(&assertion.value)))
        .collect()
}

/// Commands about a few keys, of which two exclude each other.
fn commands(random: &mut Random) -> Vec<hence_ledger::Command> {
    const KEYS: [&str; 7] = ["a", "b", "c", "d", "e", "left", "right"];
    (0..=random.below(2))
        .map(|_| {
            let key = KEYS[random.below(KEYS.len() as u64) as usize];
            match random.below(4) {
                0 => retract(key),
                _ => assert(key, random.below(3)),
            }
        })
        .collect()
}

fn activate(repository: &mut Repository, random: &mut Random) {
    let target = random.below(repository.version() + 1);
    let scope = match random.below(2) {
        0 => Scope::Everything,
        _ => Scope::Only([format!("web{}", random.below(3))].into()),
    };
    let changed = Nodes::Only(Default::default());
    repository
        .activate(&request(), target, scope, changed, Default::default())
        .unwrap();
}

#[test]
fn undo_agrees_with_a_plain_stack() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let mut repository = Repository::open(Box::new(Memory::default())).unwrap();
        let mut stack = vec![Plainly::new()];
        for _ in 0..1 + random.below(12) {
            match random.below(5) {
                0 | 1 => match stack.len() {
                    1 => assert_eq!(
                        code_of(undo(&mut repository, None)),
                        "ledger.nothing-to-undo"
                    ),
                    _ => {
                        undo(&mut repository, None).unwrap();
                        stack.pop();
                    }
                },
                2 => activate(&mut repository, &mut random),
                _ => {
                    let receipt = commit(&mut repository, &request(), &commands(&mut random));
                    if receipt.unwrap() != Receipt::Nothing {
                        stack.push(plainly(repository.state()));
                    }
                }
            }
            assert_eq!(plainly(repository.state()), stack[stack.len() - 1]);
        }
    }
}

/// The model of undoing by number: all commits that stand, made one after another. A commit may be taken out, or put in
/// again, if the others still find what they found.
#[test]
fn what_is_asserted_is_what_the_commits_that_stand_say() {
    let mut random = Random(2);
    let (mut done, mut refused, mut again) = (0, 0, 0);
    for _ in 0..20_000 {
        let mut repository = Repository::open(Box::new(Memory::default())).unwrap();
        let mut stands: BTreeMap<u64, bool> = BTreeMap::new();
        for _ in 0..2 + random.below(10) {
            match random.below(6) {
                0 if repository.version() > 0 => {
                    let number = 1 + random.below(repository.version());
                    let before = plainly(repository.state());
                    match undo(&mut repository, Some(number)) {
                        Ok(_) => {
                            done += 1;
                            let root = root(&repository, number);
                            again += u32::from(root != number);
                            let stands = stands.get_mut(&root).unwrap();
                            *stands = !*stands;
                        }
                        Err(_) => {
                            refused += 1;
                            assert_eq!(plainly(repository.state()), before);
                        }
                    }
                }
                1 => {
                    if undo(&mut repository, None).is_ok() {
                        let newest = stands.iter_mut().rev().find(|(_, stands)| **stands);
                        *newest.unwrap().1 = false;
                    } else {
                        assert!(!stands.values().any(|stands| *stands));
                    }
                }
                2 => activate(&mut repository, &mut random),
                _ => {
                    let receipt = commit(&mut repository, &request(), &commands(&mut random));
                    if let Receipt::Done(done) = receipt.unwrap() {
                        stands.insert(done.version, true);
                    }
                }
            }
            let mut expected = State::default();
            for (version, _) in stands.iter().filter(|(_, stands)| **stands) {
                let Act::Commit { changes, .. } = repository.entry(*version).unwrap().unwrap().act
                else {
                    panic!("{version} is a commit");
                };
                for change in &changes {
                    assert_eq!(expected.get(&change.key), change.before.as_ref());
                }
                expected.make(&changes);
            }
            assert_eq!(repository.state(), &expected);
        }
    }
    assert!(
        done > 1000 && refused > 1000 && again > 100,
        "{done} {refused} {again}"
    );
}

fn root(repository: &Repository, version: u64) -> u64 {
    match repository.entry(version).unwrap().unwrap().act {
        Act::Commit {
            undoes: Some(undone),
            ..
        } => root(repository, undone),
        _ => version,
    }
}

#[test]
fn a_ledger_opened_again_equals_the_one_that_went_on() {
    let mut random = Random(4);
    for _ in 0..20_000 {
        let (stayed, left) = (Memory::default(), Memory::default());
        let mut goes_on = Repository::open(Box::new(stayed)).unwrap();
        let mut reopened = Repository::open(Box::new(left.clone())).unwrap();
        for _ in 0..1 + random.below(8) {
            let seed = 1 + random.below(u64::MAX - 1);
            for repository in [&mut goes_on, &mut reopened] {
                let mut random = Random(seed);
                match random.below(5) {
                    0 => drop(undo(repository, None)),
                    1 => activate(repository, &mut random),
                    2 => {
                        let number = random.below(repository.version() + 1);
                        drop(undo(repository, Some(number)));
                    }
                    _ => drop(commit(repository, &request(), &commands(&mut random))),
                }
            }
            if random.below(2) == 0 {
                reopened = Repository::open(Box::new(left.clone())).unwrap();
            }
            assert_eq!(goes_on.head(), reopened.head());
            assert_eq!(goes_on.state(), reopened.state());
            assert_eq!(goes_on.state().to_string(), reopened.state().to_string());
        }
        reopened.check().unwrap();
    }
}
