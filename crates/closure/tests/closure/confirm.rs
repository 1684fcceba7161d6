//! A commit that waits to be confirmed is taken back in time, and no other one is.

use std::path::Path;

use hence_closure::closure::{self, Closure, Manner, Now, Published};
use hence_closure::server::Server;
use hence_closure::words::Words;
use hence_ledger::Command;
use hence_store::Request;

use crate::certificates::open;
use crate::disk::{Disk, ROOT};
use crate::real;

/// Commits at a time that one host is served, and nothing else.
fn commit(closure: &mut Closure<'_>, host: &str, time: u64) {
    let set = vec![real::says(&format!("host {host}"))];
    let request = Request {
        time,
        ..real::request()
    };
    let commands = [Command::apply("site", set, &Words)];
    let published = closure.commit(&request, &commands, Manner::default());
    assert!(matches!(
        published,
        Ok(Published::New {
            now: Now::Silent,
            ..
        })
    ));
}

fn hosts(closure: &Closure<'_>) -> Vec<String> {
    let site = closure.site();
    site.hosts.keys().map(ToString::to_string).collect()
}

#[test]
fn what_nobody_confirms_is_taken_back_when_its_time_is_over() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let mut closure = open(&disk);
    commit(&mut closure, "old.test", 1);
    closure.demand_confirmation(2, 100).unwrap();
    commit(&mut closure, "new.test", 2);
    assert_eq!(closure.expire(99), Ok(None));
    assert!(closure.nothing_waits().is_err());
    assert_eq!(hosts(&closure), ["new.test"]);
    let expired = closure.expire(100).unwrap();
    assert!(matches!(
        expired,
        Some(Published::New {
            now: Now::Silent,
            ..
        })
    ));
    assert_eq!(hosts(&closure), ["old.test"]);
    assert_eq!(closure.nothing_waits(), Ok(()));
    assert_eq!(closure.expire(101), Ok(None));
}

#[test]
fn a_demand_whose_commit_was_cut_short_is_not_that_of_the_next_one() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let mut closure = open(&disk);
    commit(&mut closure, "old.test", 1);
    // Whoever demanded it was killed before the commit.
    closure.demand_confirmation(2, 100).unwrap();
    assert_eq!(closure.nothing_waits(), Ok(()));
    commit(&mut closure, "other.test", 3);
    assert_eq!(closure.nothing_waits(), Ok(()));
    assert_eq!(closure.expire(1000), Ok(None));
    assert_eq!(hosts(&closure), ["other.test"]);
}
