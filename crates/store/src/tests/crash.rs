//! The process is killed, or the power fails, at every step of a commit: the store has the old or the new, and all that was
//! acknowledged.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redb::Database;

use super::storage::{Disk, Mortal};
use super::{Directory, Random, assert, commit, key, request, version_of};
use crate::embedded::lay_out;
use crate::{Receipt, Redb, Refused, Repository, Store};

/// Adds the next version; what it asserts is decided by its number.
fn try_to_advance(repository: &mut Repository) -> Result<Receipt, Refused> {
    let next = repository.version() + 1;
    let commands = [
        assert(&format!("k{}", next % 50), next),
        assert("newest", next),
    ];
    commit(repository, &request(), &commands)
}

fn advance(repository: &mut Repository) -> u64 {
    version_of(try_to_advance(repository))
}

/// All is there up to the version, which is the last acknowledged or the one after it, and the store goes on.
fn look(store: Redb, acknowledged: u64, what: &str) {
    store
        .check()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut repository = Repository::open(Box::new(store)).unwrap();
    repository
        .check()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let version = repository.version();
    assert!(
        (acknowledged..=acknowledged + 1).contains(&version),
        "{what}: version {version}, and {acknowledged} was acknowledged"
    );
    for entry in repository.log() {
        let entry = entry.unwrap();
        let state = repository.state_at(entry.version).unwrap();
        let newest = state.get(&key("newest")).unwrap();
        assert_eq!(newest.value.as_text(), Some(&*entry.version.to_string()));
    }
    assert_eq!(advance(&mut repository), version + 1);
}

const CHILD: &str = "HENCE_STORE_CHILD";

/// Not a test of its own: what the killed process does.
#[test]
fn child() {
    let Ok(told) = std::env::var(CHILD) else {
        return;
    };
    let words: Vec<&str> = told.splitn(3, ' ').collect();
    let [steps, torn, directory] = words[..] else {
        panic!("steps, torn and directory are expected");
    };
    let directory = Path::new(directory);
    let store = match steps.parse() {
        Ok(0) => Redb::open(directory),
        Ok(steps) => {
            let file = directory.join("store.redb");
            let handle = File::options().read(true).write(true).open(&file).unwrap();
            Redb::on(Mortal::new(handle, steps, torn == "torn"), file, None)
        }
        Err(_) => panic!("a number of steps is expected"),
    };
    let mut repository = Repository::open(Box::new(store.unwrap())).unwrap();
    for _ in 0..2000 {
        println!("\nacknowledged {}", advance(&mut repository));
    }
}

fn spawn(directory: &Path, steps: u64, torn: bool) -> Child {
    let torn = if torn { "torn" } else { "whole" };
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::crash::child", "--nocapture"])
        .env(CHILD, format!("{steps} {torn} {}", directory.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the child said before it ended.
fn acknowledged(child: &mut Child) -> Option<u64> {
    let output = BufReader::new(child.stdout.take().unwrap());
    let lines = output.lines().map_while(Result::ok);
    let numbers = lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok());
    numbers.last()
}

#[test]
fn killed_at_every_step_nothing_acknowledged_is_lost() {
    let directory = Directory::new("steps");
    let mut known = 0;
    let mut commits = 0;
    drop(Redb::open(directory.path()).unwrap());
    // Opening takes some steps, and a commit some more; so many are several commits.
    for steps in 1..=60 {
        for torn in [false, true] {
            let mut child = spawn(directory.path(), steps, torn);
            let before = known;
            known = acknowledged(&mut child).unwrap_or(known);
            commits += known - before;
            assert!(
                !child.wait().unwrap().success(),
                "it was to end at step {steps}"
            );
            let store = Redb::open(directory.path()).unwrap();
            let head = store.head().unwrap();
            look(store, known, &format!("step {steps}, torn {torn}"));
            // Looking adds a version of its own.
            known = head + 1;
        }
    }
    // Some of the children got to their third commit, so all steps of the first two were tried.
    assert!(commits > 60, "{commits} commits");
}

#[test]
fn killed_at_any_moment_nothing_acknowledged_is_lost() {
    let directory = Directory::new("moments");
    let mut random = Random(5);
    let mut known = 0;
    for round in 0..12 {
        let mut child = spawn(directory.path(), 0, false);
        std::thread::sleep(Duration::from_micros(random.below(120_000)));
        child.kill().unwrap();
        known = acknowledged(&mut child).unwrap_or(known);
        child.wait().unwrap();
        let store = Redb::open(directory.path()).unwrap();
        let head = store.head().unwrap();
        look(store, known, &format!("round {round}"));
        known = head + 1;
    }
}

/// A disk with a store of some versions.
fn disk(versions: u64) -> Disk {
    let disk = Disk::default();
    let database = Database::builder()
        .create_with_backend(disk.clone())
        .unwrap();
    lay_out(&database).unwrap();
    drop(database);
    let mut repository = open(disk.clone());
    for _ in 0..versions {
        advance(&mut repository);
    }
    disk
}

fn open(disk: Disk) -> Repository {
    let store = Redb::on(disk, "store.redb".into(), None).unwrap();
    Repository::open(Box::new(store)).unwrap()
}

#[test]
fn without_power_from_any_step_on_nothing_acknowledged_is_lost() {
    let mut random = Random(9);
    for versions in [0, 3, 40] {
        let before = disk(versions).now();
        let steps = {
            let disk = Disk::with(before.clone());
            let mut repository = open(disk.clone());
            for _ in 0..2 {
                advance(&mut repository);
            }
            drop(repository);
            disk.steps()
        };
        for step in 0..steps {
            let disk = Disk::with(before.clone());
            disk.fail_after(step);
            let mut known = versions;
            if let Ok(store) = Redb::on(disk.clone(), "store.redb".into(), None) {
                let mut repository = Repository::open(Box::new(store)).unwrap();
                for _ in 0..2 {
                    if try_to_advance(&mut repository).is_ok() {
                        known = repository.version();
                    }
                }
            }
            for chance in [0, 100, 50, 50, 50, 90] {
                let bytes = disk.after_power_loss(&mut || random.below(100) < chance);
                let what = format!("{versions} versions, step {step} of {steps}, {chance} % kept");
                let store = Redb::on(Disk::with(bytes), "store.redb".into(), None);
                look(
                    store.unwrap_or_else(|error| panic!("{what}: {error}")),
                    known,
                    &what,
                );
            }
        }
    }
}
