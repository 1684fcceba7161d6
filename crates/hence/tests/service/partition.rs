//! Two servers over three members, of which one dies, and one is cut off, while many write through both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hence_api::{Client, Failure, words};
use hence_ledger::{Act, Entry};
use hence_store::{Credentials, Etcd, Repository};

use crate::cluster::Cluster;
use crate::served::{Server, commit, empty, patiently};

/// What writers were told.
#[derive(Default)]
struct Told {
    /// What each version is said to have done.
    done: BTreeMap<u64, String>,
    /// What may have been done.
    unknown: BTreeSet<String>,
    /// What was not done.
    failed: BTreeSet<String>,
}

#[test]
fn nothing_is_lost_when_a_leader_dies_or_a_member_is_cut_off() {
    let directory = empty("partition");
    let mut cluster = Cluster::start("partition", directory.join("cluster"));
    let one = Server::start(&directory, &cluster.data());
    let two = Server::start(&directory, &cluster.data());
    let clients = [one.client(&directory), two.client(&directory)];
    commit(
        &clients[0],
        "assert node/counter ; assert node/counter/annotation \"0\"",
        None,
    )
    .unwrap();
    let told = [Mutex::new(Told::default()), Mutex::new(Told::default())];
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for (server, client) in clients.iter().enumerate() {
            let (told, over) = (&told[server], &over);
            for writer in 0..2 {
                scope.spawn(move || add_nodes(client, &format!("s{server}w{writer}"), told, over));
            }
            scope.spawn(move || count(client, told, over));
        }
        // Both go on, whatever happens.
        let go_on = || {
            for told in &told {
                let done = || told.lock().unwrap().done.len();
                let before = done();
                patiently("more", || (done() >= before + 10).then_some(()));
            }
        };
        let guard = Over(&over);
        go_on();
        let leader = cluster.leader();
        cluster.kill(leader);
        go_on();
        cluster.run(leader);
        go_on();
        // The one that leads does not know at once that nobody follows any more.
        let leader = cluster.leader();
        cluster.cut_off(leader);
        go_on();
        let other = cluster.leader();
        assert_ne!(leader, other);
        cluster.mend();
        go_on();
        cluster.cut_off((other + 1) % 3);
        go_on();
        cluster.mend();
        go_on();
        drop(guard);
    });
    let told = told.map(|told| told.into_inner().unwrap());
    let entries = entries(&clients);
    hold_against(&entries, &told);
    let address = cluster.data().parse().unwrap();
    let store = Etcd::open(&address, &Credentials::default()).unwrap();
    let repository = Repository::open(Box::new(store)).unwrap();
    repository
        .check()
        .expect("every object is there, and what was written");
}

/// Says that it is over, also when an assertion fails: those who write would not end.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Adds one node after another.
fn add_nodes(client: &Client, writer: &str, told: &Mutex<Told>, over: &AtomicBool) {
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let what = format!("node/{writer}-{number}");
        let result = commit(client, &format!("assert {what}"), None);
        note(&mut told.lock().unwrap(), what, result);
        // Those who count get a chance.
        thread::sleep(Duration::from_millis(100));
    }
}

/// Reads a number and writes the next one, if nobody did anything meanwhile.
fn count(client: &Client, told: &Mutex<Told>, over: &AtomicBool) {
    while !over.load(Ordering::SeqCst) {
        let Some((version, number)) = counted(client) else {
            continue;
        };
        let next = format!("node/counter/annotation {}", number + 1);
        let command = format!("assert node/counter/annotation \"{}\"", number + 1);
        match commit(client, &command, Some(version)) {
            Err(Failure::Refused(412, _)) => {}
            result => note(&mut told.lock().unwrap(), next, result),
        }
    }
}

/// The newest version, and the number that it has; nothing if the cluster does not answer, or has none yet.
fn counted(client: &Client) -> Option<(u64, u64)> {
    let about: words::About = client.get("").ok()?;
    let path = format!("state?under=node/counter/annotation&at={}", about.version);
    let text = String::from_utf8(client.bytes(&path).ok()?).unwrap();
    let line = text.lines().find(|line| line.contains("/annotation "))?;
    let number = line.rsplit(' ').next().and_then(|word| word.parse().ok());
    Some((about.version, number.unwrap_or_else(|| panic!("{text}"))))
}

fn note(told: &mut Told, what: String, result: Result<u64, Failure>) {
    match result {
        Ok(version) => {
            let before = told.done.insert(version, what);
            assert_eq!(before, None, "no version is given twice");
        }
        Err(Failure::Refused(503, troubles)) if troubles[0].code.name == "store.unknown" => {
            told.unknown.insert(what);
        }
        Err(Failure::Refused(503, troubles)) => {
            assert_eq!(troubles[0].code.name, "store.failed", "{troubles:?}");
            told.failed.insert(what);
        }
        // Nobody waits longer than a minute for an answer.
        Err(Failure::Unreachable(_)) => {
            told.unknown.insert(what);
        }
        Err(other) => panic!("{what}: {other:?}"),
    }
}

/// The history, which both servers tell in the same way.
fn entries(clients: &[Client; 2]) -> Vec<Entry> {
    let newest = patiently("one newest version", || {
        let versions = clients.each_ref().map(|client| {
            let about: words::About = client.get("").unwrap();
            about.version
        });
        (versions[0] == versions[1]).then_some(versions[0])
    });
    let entry = |version: u64| {
        let path = format!("entries/{version}/bytes");
        let bytes = clients
            .each_ref()
            .map(|client| client.bytes(&path).unwrap());
        assert_eq!(bytes[0], bytes[1], "version {version}");
        Entry::from_bytes(&bytes[0]).unwrap()
    };
    (1..=newest).map(entry).collect()
}

fn hold_against(entries: &[Entry], told: &[Told; 2]) {
    let mut there: BTreeMap<String, u64> = BTreeMap::new();
    let mut count = 0;
    // The first two are the administrator's token, and what everything began with.
    for entry in &entries[2..] {
        let Act::Commit { changes, .. } = &entry.act else {
            panic!("nothing else was done: {entry:?}");
        };
        let [change] = &changes[..] else {
            panic!("one key was written: {changes:?}");
        };
        let after = change.after.as_ref().expect("nothing was retracted");
        let what = match after.value.as_text() {
            Some(number) if change.key.as_str() == "node/counter/annotation" => {
                count += 1;
                assert_eq!(
                    number,
                    count.to_string(),
                    "no update is lost, and none made twice"
                );
                format!("{} {number}", change.key)
            }
            _ => change.key.to_string(),
        };
        let before = there.insert(what, entry.version);
        assert_eq!(before, None, "nothing is there twice");
    }
    let mut known = BTreeSet::new();
    for told in told {
        for (version, what) in &told.done {
            assert_eq!(there.get(what), Some(version), "{what}");
            known.insert(what);
        }
        // Two may have tried to write the same number, so it may be there by the other.
        let others = |what: &&String| !what.contains(' ');
        for what in told.failed.iter().filter(others) {
            assert_eq!(there.get(what), None, "{what} was said to have failed");
        }
        known.extend(&told.unknown);
    }
    let unheard: Vec<&String> = there.keys().filter(|what| !known.contains(what)).collect();
    assert!(unheard.is_empty(), "nobody knows of {unheard:?}");
    assert!(count > 0, "somebody counted");
    println!(
        "{} versions, counted to {count}, {} unknown, {} failed",
        entries.len(),
        told.iter().map(|told| told.unknown.len()).sum::<usize>(),
        told.iter().map(|told| told.failed.len()).sum::<usize>()
    );
}

#[test]
fn a_change_that_may_have_been_made_is_told_as_such() {
    let directory = empty("unknown");
    let mut cluster = Cluster::start("unknown", directory.join("cluster"));
    let server = Server::start(&directory, &cluster.data());
    let client = server.client(&directory);
    commit(&client, "assert node/n1", None).unwrap();
    // One of three is too few to decide.
    let alone = cluster.leader();
    let others = [(alone + 1) % 3, (alone + 2) % 3];
    for other in others {
        cluster.kill(other);
    }
    let Err(Failure::Refused(503, troubles)) = commit(&client, "assert node/n2", None) else {
        panic!("nobody can say that it was done");
    };
    assert_eq!(troubles[0].code.name, "store.unknown", "{troubles:?}");
    for other in others {
        cluster.run(other);
    }
    cluster.leader();
    // Whichever it was, the next one is behind it, and nothing is there twice.
    let last = commit(&client, "assert node/n3", None).unwrap();
    let mut nodes = Vec::new();
    for version in 2..=last {
        let entry: serde_json::Value = client.get(&format!("entries/{version}")).unwrap();
        let changes = entry["act"]["commit"]["changes"]
            .as_array()
            .unwrap()
            .clone();
        assert_eq!(changes.len(), 1);
        nodes.push(changes[0]["key"].as_str().unwrap().to_owned());
    }
    let with = ["node/n1", "node/n2", "node/n3"];
    let without = ["node/n1", "node/n3"];
    assert!(nodes == with || nodes == without, "{nodes:?}");
}
