//! While generations change, every request on a new connection is answered, and by one generation.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hence_closure::closure::{Now, Published};
use hence_closure::host::{Machine, Wanted};
use hence_closure::probe::{self, Response};
use hence_closure::server::Server;
use hence_ledger::Hash;

use crate::generate::certificate;
use crate::real::{self, Root};

/// So often the configuration changes.
const RELOADS: usize = 20;
/// So many ask at the same time.
const CLIENTS: usize = 3;

#[test]
fn twenty_reloads_of_apache_lose_no_request() {
    reload_under_load(Server::Apache, "");
}

#[test]
fn twenty_reloads_of_apache_lose_no_request_by_tls() {
    reload_under_load(Server::Apache, " tls");
}

#[test]
fn twenty_reloads_of_nginx_lose_no_request() {
    reload_under_load(Server::Nginx, "");
}

#[test]
fn twenty_reloads_of_nginx_lose_no_request_by_tls() {
    reload_under_load(Server::Nginx, " tls");
}

fn ask(endpoint: SocketAddr, tls: &str) -> std::io::Result<Response> {
    match tls {
        "" => probe::ask(&Machine, endpoint, "foo.test", "/"),
        _ => {
            let named = Some("foo.test");
            let asked =
                probe::ask_secured(&Machine, endpoint, named, "foo.test", "/", Wanted::Whole);
            asked.map(|(_, response)| response)
        }
    }
}

fn reload_under_load(server: Server, tls: &'static str) {
    let root = Root::new(server);
    let mut closure = root.open();
    let endpoint = real::free_endpoints(1)[0];
    let listen = format!("listen {endpoint}{tls}");
    let mut contents: BTreeMap<u64, Hash> = BTreeMap::new();
    let mut next = |closure: &mut hence_closure::closure::Closure<'_>, number: usize| {
        let blob = closure
            .content()
            .stage_bytes(format!("this is {number}").as_bytes())
            .unwrap();
        let index = format!("index foo.test / blob:{blob} text/plain");
        // Each generation has a certificate of its own.
        let made = certificate(&["foo.test"]);
        let cert = closure.certificates().stage(&made).unwrap();
        let cert = format!("cert foo.test {endpoint} cert:{cert}");
        let everything = real::all(&[&listen, "host foo.test", &index, &cert]);
        let published = real::commit(closure, &[everything]);
        let generation = match published.unwrap() {
            Published::New {
                generation,
                now: Now::Served { .. } | Now::Stopped,
                ..
            } => generation,
            other => panic!("{other:?}\n{}", root.log()),
        };
        contents.insert(generation, blob);
        generation
    };
    next(&mut closure, 0);
    closure.start().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                let (mut answers, mut lost) = (BTreeMap::new(), Vec::new());
                while !over.load(Ordering::Relaxed) {
                    match ask(endpoint, tls) {
                        Ok(answer) if answer.status == 200 => {
                            let answer = (answer.generation(), Hash::of(&answer.body));
                            *answers.entry(answer).or_insert(0) += 1;
                        }
                        other => lost.push(format!("{other:?}")),
                    }
                }
                (answers, lost)
            })
        })
        .collect();
    for number in 1..=RELOADS {
        let generation = next(&mut closure, number);
        // Whoever hears that it is served is served so.
        let answer = ask(endpoint, tls).unwrap();
        assert_eq!(answer.generation(), Some(generation), "{server:?}");
    }
    over.store(true, Ordering::Relaxed);
    let mut count = 0;
    for client in clients {
        let (answers, lost) = client.join().unwrap();
        assert!(lost.is_empty(), "{server:?}: {lost:?}");
        for ((generation, content), times) in answers {
            let promised = generation.and_then(|generation| contents.get(&generation));
            assert_eq!(promised, Some(&content), "{server:?}: a mixture");
            count += times;
        }
    }
    assert!(
        count > RELOADS * CLIENTS,
        "{server:?}: only {count} requests"
    );
}
