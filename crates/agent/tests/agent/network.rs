//! A server that is away, slow, or gone in the middle of a word.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hence_agent::{Agent, End, Machine, listen, run};
use hence_api::Failure;

use crate::fleet::{Fleet, N1, Node, client, site};

#[test]
fn while_the_server_is_away_the_node_works_on() {
    let mut fleet = Fleet::new();
    let node = Node::new("away", &fleet);
    let version = fleet.activate();
    fleet.end();
    let ended = node.round();
    assert!(
        matches!(ended.away, Some(Failure::Unreachable(_))),
        "{ended:?}"
    );
    assert_eq!(ended.end, End::Nothing);
    fleet.begin_again();
    assert_eq!(node.round().end, End::Applied(version));
    fleet.end();
    // What drifts is put right without anybody's help.
    std::fs::remove_file(node.directory.join("port")).unwrap();
    let ended = node.round();
    assert!(ended.away.is_some());
    assert_eq!(ended.end, End::Applied(version));
    assert_eq!(node.file("port"), "port=80\nmore=none\n");
    fleet.begin_again();
    assert_eq!(node.round().end, End::Nothing);
}

/// Stands between a node and a server, and lets so many bytes of answers through; then it is silent, or hangs up.
pub struct Between {
    pub address: String,
    pub left: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Then {
    HangUp,
    Silence,
}

pub fn between(server: &str, then: Then) -> Between {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = server.strip_prefix("http://").unwrap().to_owned();
    let left = Arc::new(AtomicUsize::new(usize::MAX));
    let through = Arc::clone(&left);
    thread::spawn(move || {
        for node in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(&server) else {
                continue;
            };
            let (mut asks, mut is_asked) = (node.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut asks, &mut is_asked);
                let _ = is_asked.shutdown(Shutdown::Both);
            });
            let left = Arc::clone(&through);
            thread::spawn(move || answer(server, node, &left, then));
        }
    });
    Between { address, left }
}

fn answer(mut server: TcpStream, mut node: TcpStream, left: &AtomicUsize, then: Then) {
    let mut byte = [0];
    while let Ok(1) = server.read(&mut byte) {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
        if taken.is_err() {
            if then == Then::Silence {
                thread::sleep(Duration::from_secs(5));
            }
            let _ = node.shutdown(Shutdown::Both);
            return;
        }
        if node.write_all(&byte).is_err() {
            return;
        }
    }
    let _ = node.shutdown(Shutdown::Both);
}

#[test]
fn an_answer_that_is_cut_anywhere_changes_nothing() {
    let fleet = Fleet::new();
    let mut node = Node::new("cut_answer", &fleet);
    let old = site(fleet.activate(), "80", "error");
    node.round();
    let version = fleet.set("PORT", "81");
    let new = site(version, "81", "error");
    let between = between(&fleet.server, Then::HangUp);
    // An answer to a check-in has about 150 bytes, a configuration about 400.
    for left in (0..700).step_by(23) {
        node.client = client(&between.address, N1);
        between.left.store(left, Ordering::Relaxed);
        let ended = node.round_on(&Machine::default()).unwrap();
        let text = node.file("site.conf");
        match ended.end {
            End::Nothing => assert_eq!(text, old, "{left}"),
            _ => assert_eq!(text, new, "{left}: {ended:?}"),
        }
        if text == new {
            break;
        }
        assert!(ended.away.is_some(), "{left}");
    }
    between.left.store(usize::MAX, Ordering::Relaxed);
    node.client = client(&between.address, N1);
    node.round();
    assert_eq!(node.file("site.conf"), new);
    assert_eq!(fleet.report().applied, Some(version));
}

#[test]
fn nobody_waits_for_ever_for_a_server_that_falls_silent() {
    let fleet = Fleet::new();
    let mut node = Node::new("silent", &fleet);
    fleet.activate();
    let between = between(&fleet.server, Then::Silence);
    for left in [0, 60, 300] {
        node.client = client(&between.address, N1);
        between.left.store(left, Ordering::Relaxed);
        // That it ends at all is what counts: the server never says another word.
        let ended = node.round();
        assert!(
            matches!(ended.away, Some(Failure::Unreachable(_))),
            "{left}: {ended:?}"
        );
    }
}

#[test]
fn news_wakes_the_agent_and_a_word_ends_it() {
    let mut fleet = Fleet::new();
    let node = Node::new("news", &fleet);
    fleet.activate();
    let machine = Machine::default();
    let wake = machine.wake.clone();
    let (hears, ends) = (wake.clone(), wake.clone());
    let listener = client(&fleet.server, N1);
    thread::spawn(move || listen(&listener, "n1", &hears, &|| 0));
    let file = node.directory.join("port");
    let looking = thread::spawn(move || {
        let is = |text: &str| {
            let begun = Instant::now();
            while std::fs::read_to_string(&file).unwrap_or_default() != text {
                assert!(begun.elapsed() < Duration::from_secs(60), "{text}");
                thread::sleep(Duration::from_millis(20));
            }
        };
        is("port=80\nmore=none\n");
        fleet.set("PORT", "81");
        is("port=81\nmore=none\n");
        // It listens again when the server is back.
        fleet.end();
        fleet.begin_again();
        thread::sleep(Duration::from_secs(2));
        fleet.set("PORT", "82");
        is("port=82\nmore=none\n");
        ends.stop();
    });
    let agent = Agent {
        host: &machine,
        settings: &node.settings,
        client: node.client.clone(),
        local: &|_| Ok(Vec::new()),
        machine: &hence_closure::host::Machine,
    };
    let mut rounds = 0;
    run(&agent, &mut |_| rounds += 1);
    looking.join().unwrap();
    assert!(rounds >= 3, "{rounds}");
}
