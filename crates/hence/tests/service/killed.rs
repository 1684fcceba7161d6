//! A server is killed at any moment while it is told to commit and to activate, and started again, many times.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use hence_api::{Client, Failure, words};
use hence_ledger::{Act, Entry};
use hence_model::random::Random;
use hence_store::{Credentials, Etcd, Redb, Repository, Store};

use crate::cluster::Cluster;
use crate::served::{Server, command, commit, empty};

const KILLS: usize = 30;

#[test]
fn a_killed_server_keeps_what_it_acknowledged_in_its_own_store() {
    let directory = empty("killed");
    kill_again_and_again(&directory, "ledger");
    whole(Box::new(Redb::open(&directory.join("ledger")).unwrap()));
}

#[test]
fn a_killed_server_keeps_what_it_acknowledged_in_a_cluster() {
    let directory = empty("killed-cluster");
    let cluster = Cluster::start("killed", directory.join("cluster"));
    kill_again_and_again(&directory, &cluster.data());
    let address = cluster.data().parse().unwrap();
    whole(Box::new(
        Etcd::open(&address, &Credentials::default()).unwrap(),
    ));
}

#[test]
fn a_server_that_is_killed_when_it_first_starts_can_start() {
    let mut random = Random::new(11);
    for _ in 0..KILLS {
        let directory = empty("first");
        let mut first = command(&directory, "ledger");
        let mut first = first.arg("--tls").stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        first.kill().unwrap();
        first.wait().unwrap();
        let mut again = command(&directory, "ledger");
        again.arg("--tls");
        let server = Server::listening(again);
        let certificate = std::fs::read_to_string(directory.join("ledger/tls.pem"));
        let client = server.client_with(&directory, certificate.ok());
        let about: words::About = client.get("").unwrap();
        assert_eq!(about.token, "admin");
    }
}

/// The whole history and every object of it are what was written.
fn whole(store: Box<dyn Store>) {
    let repository = Repository::open(store).unwrap();
    repository.check().expect("the ledger is whole");
}

fn kill_again_and_again(directory: &Path, data: &str) {
    let mut server = Server::start(directory, data);
    let begin = "assert param/P ; assert node/n1 ; assert group/+++default/param/P \"0\"";
    commit(&server.client(directory), begin, None).unwrap();
    let mut random = Random::new(7);
    let mut seen = Seen::default();
    seen.look(&server.client(directory), &Told::default());
    for kill in 0..KILLS {
        let told = Mutex::new(Told::default());
        let client = server.client(directory);
        thread::scope(|scope| {
            scope.spawn(|| activate_numbers(&client, kill, &told));
            scope.spawn(|| add_nodes(&client, kill, &told));
            thread::sleep(Duration::from_millis(random.below(120) as u64));
            server.kill();
        });
        server = Server::start(directory, data);
        seen.look(&server.client(directory), &told.into_inner().unwrap());
    }
    println!(
        "{} versions, {} activations",
        seen.entries.len(),
        seen.activations
    );
    assert!(seen.activations > 0, "somebody was acknowledged");
}

/// What was acknowledged.
#[derive(Default)]
struct Told {
    /// The key that each commit wrote, and the number.
    commits: BTreeMap<u64, (String, Option<String>)>,
    /// The version that each activation made the target, or a later one.
    activations: BTreeMap<u64, u64>,
}

/// Writes one number after another, and activates each, until the server is gone.
fn activate_numbers(client: &Client, kill: usize, told: &Mutex<Told>) {
    let key = "group/+++default/param/P";
    for count in 1.. {
        let number = format!("{kill}.{count}");
        let result = commit(client, &format!("assert {key} \"{number}\""), None);
        let Some(version) = acknowledged(result) else {
            return;
        };
        let done = (key.to_lowercase(), Some(number));
        told.lock().unwrap().commits.insert(version, done);
        let activation = words::Activation::default();
        let result = client.post("activations", &activation);
        let result = result.map(|done: words::Activated| done.version.expect("it is new"));
        let Some(activation) = acknowledged(result) else {
            return;
        };
        told.lock().unwrap().activations.insert(activation, version);
    }
}

/// Adds one node after another, until the server is gone.
fn add_nodes(client: &Client, kill: usize, told: &Mutex<Told>) {
    for count in 1.. {
        let key = format!("node/k{kill}-{count}");
        let Some(version) = acknowledged(commit(client, &format!("assert {key}"), None)) else {
            return;
        };
        told.lock().unwrap().commits.insert(version, (key, None));
    }
}

/// What is not acknowledged is so because the server is gone.
fn acknowledged(result: Result<u64, Failure>) -> Option<u64> {
    match result {
        Ok(version) => Some(version),
        Err(Failure::Unreachable(trouble)) => {
            assert_eq!(trouble.code.name, "server.unreachable", "{trouble:?}");
            None
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// The history as far as it was looked at.
#[derive(Default)]
struct Seen {
    entries: Vec<Entry>,
    /// The number at each version.
    numbers: Vec<String>,
    /// How much was acknowledged, and how much of it was an activation.
    acknowledged: usize,
    activations: usize,
    looks: usize,
}

impl Seen {
    /// Looks at what came, which is what was acknowledged and at most one more of each of two writers, and at what nodes
    /// are to run by it.
    fn look(&mut self, client: &Client, told: &Told) {
        let about: words::About = client.get("").unwrap();
        for version in self.entries.len() as u64 + 1..=about.version {
            let bytes = client.bytes(&format!("entries/{version}/bytes")).unwrap();
            let entry = Entry::from_bytes(&bytes).unwrap();
            let mut number = self.numbers.last().cloned().unwrap_or_default();
            if let Act::Commit { changes, .. } = &entry.act {
                for change in changes {
                    let after = change.after.as_ref().expect("nothing was retracted");
                    if change.key.as_str().ends_with("/param/p") {
                        number = after.value.as_text().unwrap().to_owned();
                    }
                }
            }
            self.numbers.push(number);
            self.entries.push(entry);
        }
        let entry = |version: &u64| &self.entries[*version as usize - 1];
        for (version, (key, number)) in &told.commits {
            let Act::Commit { changes, .. } = &entry(version).act else {
                panic!("version {version} was a commit");
            };
            let after = changes[0].after.as_ref().unwrap();
            assert_eq!(changes[0].key.as_str(), key, "version {version}");
            if let Some(number) = number {
                assert_eq!(after.value.as_text(), Some(&**number), "version {version}");
            }
        }
        for (version, least) in &told.activations {
            let Act::Activation { target, .. } = &entry(version).act else {
                panic!("version {version} was an activation");
            };
            assert!(target >= least, "version {version} activated {target}");
        }
        self.activations += told.activations.len();
        self.acknowledged += told.commits.len() + told.activations.len();
        self.looks += 1;
        // Before the first look are the token, and what everything began with.
        let most = self.acknowledged + 2 * self.looks;
        assert!(self.entries.len() <= most, "{most} can be accounted for");
        self.hold_against(&client.get("nodes/n1/config").unwrap());
    }

    /// A node is to run what the newest activation says.
    fn hold_against(&self, config: &words::Configuration) {
        let newest = self.entries.last().expect("there is one");
        let (version, number) = match newest.active.target("n1") {
            0 => (0, None),
            target => {
                let number = &self.numbers[target as usize - 1];
                let activations = self.entries.iter().rev();
                let made = activations.take_while(|entry| match entry.active.target("n1") {
                    0 => false,
                    target => self.numbers[target as usize - 1] == *number,
                });
                (made.last().map_or(0, |entry| entry.version), Some(number))
            }
        };
        assert_eq!(config.parameters.get("P"), number);
        assert_eq!(config.version, version, "{number:?}");
    }
}
