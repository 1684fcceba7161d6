//! Real servers answer as the model says.

use std::collections::{BTreeMap, BTreeSet};

use hence_closure::address::{Name, encode};
use hence_closure::checks::RING;
use hence_closure::closure::{Now, Published};
use hence_closure::host::Machine;
use hence_closure::model::{Request, behaviour};
use hence_closure::probe::{self, Probe};
use hence_closure::publish::NAME_TAKEN;
use hence_closure::server::Server;
use hence_closure::words::Words;
use hence_ledger::{Command, State};
use hence_store::Refused;

use crate::generate::{ODD, Pool, Random};
use crate::real::{self, Root};

/// So many requests are tried in each state.
const PROBES: usize = 20;
/// So many more URLs one of them knows.
const MORE: usize = 40;
/// So many servers run at once.
const TOGETHER: usize = 3;

/// `HENCE_STATES` says how many states are tried.
fn states(usual: usize) -> usize {
    let wanted = std::env::var("HENCE_STATES").ok();
    wanted
        .and_then(|states| states.parse().ok())
        .unwrap_or(usual)
}

#[test]
fn apache_answers_as_the_model_says() {
    compare(Server::Apache, states(300));
}

#[test]
fn nginx_answers_as_the_model_says() {
    compare(Server::Nginx, states(100));
}

#[test]
fn names_that_look_like_others_are_listed_and_typed_as_the_model_says() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let pool = Pool::new(real::free_endpoints(2));
        real::stage(&closure, &pool);
        let endpoint = pool.endpoints[0];
        let everything = real::all(&[
            &format!("listen {endpoint}"),
            "host foo.test",
            &format!("tree foo.test /t/ tree:{}", pool.hashes[3]),
            "listing foo.test /t/",
            "listing foo.test /t/.dotted/",
        ]);
        real::commit(&mut closure, &[everything]).unwrap();
        closure.start().unwrap();
        let name = Name::read("foo.test").unwrap();
        let names = ODD.map(encode);
        let paths = names.iter().map(String::as_str);
        let probes = paths
            .chain(["", ".dotted/"])
            .map(|path| Probe::new(endpoint, name.clone(), format!("/t/{path}")));
        let broken = closure.keeps(&closure.site(), &probes.collect());
        assert!(broken.is_empty(), "{server:?} {broken:#?}");
        let page = probe::ask(&Machine, endpoint, "foo.test", "/t/.dotted/").unwrap();
        let page = String::from_utf8(page.body).unwrap();
        assert!(
            page.contains("href=\"../\"") || page.contains("href=\"/t/\""),
            "{page}"
        );
    }
}

fn compare(server: Server, states: usize) {
    let run = |worker: usize| move || walk(server, worker as u64, states.div_ceil(TOGETHER));
    let walks: Vec<_> = (0..TOGETHER)
        .map(|worker| std::thread::spawn(run(worker)))
        .collect();
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for walk in walks {
        match walk.join() {
            Ok(promised) => {
                for (status, times) in promised {
                    *statuses.entry(status).or_default() += times;
                }
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    // Only where something happens something can go wrong.
    for status in [200, 301, 302, 403, 404, 421] {
        assert!(
            statuses.contains_key(&status),
            "{status} was never promised"
        );
    }
}

/// Goes from one random state to the next, and says how often which status was promised.
fn walk(server: Server, seed: u64, states: usize) -> BTreeMap<u16, usize> {
    let root = Root::new(server);
    let mut closure = root.open();
    let pool = Pool::new(real::free_endpoints(2));
    real::stage(&closure, &pool);
    let listen: Vec<String> = pool
        .endpoints
        .iter()
        .map(|at| format!("listen {at}"))
        .collect();
    // One of them has so much to say that Apache is configured otherwise.
    let more = (0..MORE).filter(|_| seed == 0);
    let more: Vec<String> = more
        .map(|number| format!("type foo.test /more/{number}/x image/gif"))
        .collect();
    let listen: Vec<&str> = listen.iter().map(String::as_str).collect();
    real::commit(&mut closure, &[real::all(&listen)]).unwrap();
    closure.start().unwrap();
    let mut random = Random::new(seed + 7);
    let mut tried = 0;
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    while tried < states {
        let mut state = State::default();
        let secured = pool.endpoints[1];
        let cert = |at: usize| pool.certificates[at].hash();
        let hosts = real::all(&[
            "host foo.test",
            "host bar.test",
            "alias foo.test www.foo.test",
            &format!("listen {secured} tls"),
            &format!("cert foo.test {secured} cert:{}", cert(0)),
            &format!("cert bar.test {secured} cert:{}", cert(1)),
        ]);
        state.perform(&hosts, 1, &Words);
        for command in pool.sequence(&mut random, 30) {
            state.perform(&command, 1, &Words);
        }
        let mut set: Vec<_> = state
            .iter()
            .map(|(key, said)| (key.clone(), said.value.clone()))
            .collect();
        for words in &listen {
            let (key, value) = real::says(words);
            if state.get(&key).is_none() {
                set.push((key, value));
            }
        }
        set.extend(more.iter().map(|words| real::says(words)));
        let everything = Command::apply("site", set, &Words);
        match real::commit(&mut closure, std::slice::from_ref(&everything)) {
            Ok(Published::New {
                now: Now::Served { .. },
                ..
            }) => {}
            Ok(Published::Nothing) => continue,
            Err(Refused::Because(troubles)) => {
                let mut errors = troubles.iter().filter(|one| one.is_error());
                assert!(
                    errors.all(|one| [NAME_TAKEN, RING].contains(&one.code)),
                    "{everything}\n{troubles:#?}"
                );
                continue;
            }
            other => panic!("{everything}\n{other:#?}\n{}", root.log()),
        }
        tried += 1;
        let requests: BTreeSet<_> = (0..PROBES)
            .map(|_| {
                let (host, path) = pool.probe(&mut random);
                let named = pool.named(&mut random, host);
                Probe {
                    named: named.map(|name| Name::read(name).unwrap()),
                    ..Probe::new(
                        *random.one(&pool.endpoints),
                        Name::read(host).unwrap(),
                        path,
                    )
                }
            })
            .collect();
        for probe in &requests {
            let request = Request {
                endpoint: probe.endpoint,
                named: probe.named.as_ref().map(Name::as_str),
                host: probe.host.as_str(),
                path: &probe.path,
                from: "127.0.0.1".parse().unwrap(),
                user: None,
            };
            let promised = behaviour(&closure.site(), closure.content(), &request);
            *statuses.entry(promised.status).or_default() += 1;
        }
        let broken = closure.keeps(&closure.site(), &requests);
        assert!(
            broken.is_empty(),
            "{everything}\n{broken:#?}\n{}",
            root.log()
        );
    }
    statuses
}
