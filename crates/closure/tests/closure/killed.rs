//! What a server that was killed leaves behind, and content that somebody removed.

use std::net::SocketAddr;
use std::time::Instant;

use hence_closure::closure::{Closure, NO_CLOSURE, Now, Published};
use hence_closure::host::{Host, Machine, Signal};
use hence_closure::integrity::Repaired;
use hence_closure::probe;
use hence_closure::publish::{DOWN, ENDPOINT_TAKEN};
use hence_closure::server::Server;
use hence_ledger::Command;

use crate::real::{self, Root};

/// Ends the server as nobody should: its own processes go on without it.
fn kill(closure: &Closure<'_>) {
    let process = closure.process().unwrap().expect("it runs");
    assert!(Machine.signal(process, Signal::Kill).unwrap());
    let begun = Instant::now();
    while closure.process().unwrap().is_some() {
        assert!(begun.elapsed() < real::LIMIT);
    }
}

/// What a URL answers, if anybody does.
fn status(endpoint: SocketAddr) -> Option<u16> {
    let asked = probe::ask(&Machine, endpoint, "foo.test", "/a");
    asked.ok().map(|answer| answer.status)
}

fn sites(endpoint: SocketAddr, closure: &Closure<'_>) -> [Command; 2] {
    let blob = closure.content().stage_bytes(b"here").unwrap();
    let listen = format!("listen {endpoint}");
    let file = format!("file foo.test /a blob:{blob}");
    [
        real::all(&[&listen, "host foo.test", &file]),
        real::all(&[&listen, "host foo.test"]),
    ]
}

#[test]
fn what_was_retracted_is_not_served_by_what_a_killed_server_left() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let [full, less] = sites(endpoint, &closure);
        real::commit(&mut closure, &[full]).unwrap();
        closure.start().unwrap();
        assert_eq!(status(endpoint), Some(200), "{server:?}");
        kill(&closure);
        let published = real::commit(&mut closure, &[less]).unwrap();
        let Published::New {
            now: Now::Served { .. },
            ..
        } = published
        else {
            panic!("{server:?}: {published:?}");
        };
        assert_eq!(status(endpoint), Some(404), "{server:?}");
        kill(&closure);
        closure.stop().unwrap();
        assert_eq!(status(endpoint), None, "{server:?}");
    }
}

#[test]
fn a_server_that_is_to_run_and_does_not_is_missed_and_started() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let [full, _] = sites(endpoint, &closure);
        real::commit(&mut closure, &[full]).unwrap();
        closure.start().unwrap();
        kill(&closure);
        let drift = closure.validate().unwrap();
        assert!(
            matches!(&drift[..], [down] if down.code == DOWN),
            "{drift:?}"
        );
        let repaired = closure.repair(&real::request());
        assert_eq!(repaired, Ok(Repaired::Started), "{server:?}");
        assert_eq!(status(endpoint), Some(200), "{server:?}");
        // Whoever stopped it wants it so.
        closure.stop().unwrap();
        assert_eq!(closure.validate(), Ok(Vec::new()), "{server:?}");
        assert_eq!(closure.repair(&real::request()), Ok(Repaired::Nothing));
        assert_eq!(status(endpoint), None, "{server:?}");
    }
}

#[test]
fn what_was_staged_is_made_again_from_what_is_served_or_said_to_be_lost() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let page = root.path.with_extension("page");
        std::fs::create_dir_all(page.join("b")).unwrap();
        std::fs::write(page.join("a"), "a page").unwrap();
        std::fs::write(page.join("b/c"), "another").unwrap();
        let staged = closure.content().stage(&page).unwrap();
        let hence_closure::content::Staged::Tree(tree) = staged else {
            panic!("{staged:?}");
        };
        std::fs::remove_dir_all(&page).unwrap();
        let listen = format!("listen {endpoint}");
        let tree = format!("tree foo.test / tree:{tree}");
        let site = real::all(&[&listen, "host foo.test", &tree]);
        real::commit(&mut closure, &[site]).unwrap();
        closure.start().unwrap();
        let clear = |name: &str| {
            for entry in Machine.list(&root.path.join(name)).unwrap() {
                Machine
                    .remove(&root.path.join(name).join(entry.name))
                    .unwrap();
            }
        };
        clear("object");
        drop(closure);
        let mut closure = root.open();
        assert!(!closure.validate().unwrap().is_empty());
        let repaired = closure.repair(&real::request()).unwrap();
        assert!(
            matches!(repaired, Repaired::Published { .. }),
            "{repaired:?}"
        );
        assert_eq!(closure.validate(), Ok(Vec::new()), "{server:?}");
        assert_eq!(status(endpoint), Some(200), "{server:?}");
        // Without both there is nothing to make it from, and trying it again and again makes nothing new.
        clear("object");
        clear("tree");
        drop(closure);
        let mut closure = root.open();
        let version = closure.repository().version();
        for _ in 0..2 {
            assert_eq!(closure.repair(&real::request()), Ok(Repaired::Nothing));
        }
        assert_eq!(closure.repository().version(), version);
        let drift = closure.validate().unwrap();
        let advice = "`hence http post` it to http://foo.test/ again";
        let is_told = |trouble: &hence_model::diagnostic::Diagnostic| {
            trouble.help.iter().any(|help| help.contains(advice))
        };
        assert!(drift.iter().any(is_told), "{drift:?}");
    }
}

#[test]
fn a_ledger_that_is_gone_is_not_taken_for_an_empty_one() {
    let root = Root::new(Server::Nginx);
    let ledger = root.path.join("ledger/store.redb");
    // Nothing was promised yet, so nothing is missed.
    assert!(!ledger.exists());
    let mut closure = root.open();
    let endpoint = real::free_endpoints(1)[0];
    let [full, _] = sites(endpoint, &closure);
    real::commit(&mut closure, &[full]).unwrap();
    closure.start().unwrap();
    drop(closure);
    let aside = root.path.with_extension("aside");
    std::fs::rename(&ledger, &aside).unwrap();
    let refused = Closure::open(&Machine, &root.path).map(drop).unwrap_err();
    assert!(refused.is(NO_CLOSURE), "{refused:?}");
    assert_eq!(status(endpoint), Some(200));
    std::fs::rename(&aside, &ledger).unwrap();
    assert_eq!(root.open().validate().unwrap(), []);
}

#[test]
fn who_has_the_place_of_a_server_is_told_before_it_is_started() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let [full, _] = sites(endpoint, &closure);
        real::commit(&mut closure, &[full]).unwrap();
        let other = std::net::TcpListener::bind(endpoint).unwrap();
        let refused = closure.start().map(drop).unwrap_err();
        assert!(refused.is(ENDPOINT_TAKEN), "{server:?} {refused:?}");
        drop(other);
        closure.start().unwrap();
        assert_eq!(status(endpoint), Some(200), "{server:?}");
    }
}

#[test]
fn root_runs_no_server_of_another_user() {
    if !Machine.is_privileged() {
        return;
    }
    let root = Root::new(Server::Nginx);
    let said = root.path.join("server");
    let before = std::fs::read(&said).unwrap();
    let text = String::from_utf8(before.clone()).unwrap();
    Machine.give(&root.path, 65_534, 65_534).unwrap();
    for user in ["", "user root 0 0\n"] {
        let lines = text.lines().filter(|line| !line.starts_with("user "));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        std::fs::write(&said, lines + user).unwrap();
        let refused = Closure::open(&Machine, &root.path).map(drop).unwrap_err();
        assert!(refused.is(NO_CLOSURE), "{user:?} {refused:?}");
    }
    std::fs::write(&said, before).unwrap();
    Machine.give(&root.path, 0, 0).unwrap();
}
