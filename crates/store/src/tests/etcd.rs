//! What a cluster does, by itself and when some of it fails.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hence_ledger::{Act, Hash};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};

use super::cluster::{Cluster, Lossy, parrot, patiently};
use super::copies::{content, ledger};
use super::stores::{SHARED, SUITE};
use super::{Random, assert, commit, if_version, key, request};
use crate::{
    ADDRESS, Address, Appended, Credentials, DAMAGED, DENIED, Done, Etcd, FAILED, FORMAT, Memory,
    Receipt, Refused, Repository, Request, Store, copy,
};

#[test]
fn in_a_cluster() {
    let cluster = Cluster::start("suite", 1, &[]);
    cluster.open(0, "first");
    for (number, (name, case)) in SUITE.into_iter().chain(SHARED).enumerate() {
        println!("{name}");
        let address = cluster.address(0, &format!("suite/{number}"));
        case(&mut || Box::new(Etcd::open(&address, &Credentials::default()).unwrap()));
    }
    large_and_many(&cluster);
    many_entries_are_read_in_any_order(&cluster);
    another_format_is_refused(&cluster);
    what_was_changed_is_seen(&cluster);
    an_answer_that_got_lost_adds_nothing_twice(&cluster);
    a_ledger_moves_in_and_out(&cluster);
}

fn large_and_many(cluster: &Cluster) {
    let store = cluster.open(0, "large");
    let mut random = Random(5);
    let mut object = |size: usize| {
        let bytes: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
        (Hash::of(&bytes), bytes)
    };
    let mut objects: Vec<_> = (0..1000).map(|number| object(number * 7)).collect();
    objects.extend([64 << 10, (64 << 10) + 1, 512 << 10, 5 << 20].map(&mut object));
    objects.push(objects[3].clone());
    let entry = object(3 << 20).1;
    assert_eq!(store.append(1, &entry, &objects), Ok(Appended::Done));
    assert_eq!(store.append(1, b"other", &objects), Ok(Appended::Moved(1)));
    assert_eq!(store.append(2, b"same", &objects), Ok(Appended::Done));
    drop(store);
    let store = cluster.open(0, "large");
    assert_eq!(store.entry(1).unwrap().as_deref(), Some(&entry[..]));
    let mut hashes: Vec<Hash> = objects.iter().map(|(hash, _)| *hash).collect();
    hashes.push(Hash::of(b"nobody wrote this"));
    let found = store.objects(&hashes).unwrap();
    assert_eq!(found.last(), Some(&None));
    for ((hash, bytes), found) in objects.iter().zip(&found) {
        assert_eq!(Some(bytes), found.as_ref());
        if bytes.len() > 1 << 20 {
            assert_eq!(store.object(*hash).unwrap().as_ref(), Some(bytes));
        }
    }
    hashes.pop();
    hashes.sort();
    hashes.dedup();
    let mut kept = store.hashes().unwrap();
    kept.sort();
    assert_eq!(kept, hashes);

    let mut names = ["", "a/b", "ü\0\n", "web:1", "\u{10ffff}", "report/"].map(str::to_owned);
    names.sort();
    for name in &names {
        store.report(name, b"small").unwrap();
        store.report(name, &entry).unwrap();
        store.report(name, &entry[1..]).unwrap();
        assert_eq!(store.report_of(name).unwrap().as_deref(), Some(&entry[1..]));
    }
    assert_eq!(
        parts(cluster, "large:part/").len(),
        6 + 12 + 6 * names.len()
    );
    for name in &names {
        store.report(name, name.as_bytes()).unwrap();
    }
    let expected = names.map(|name| (name.clone(), name.into_bytes()));
    assert_eq!(store.reports().unwrap(), expected);
    assert_eq!(parts(cluster, "large:part/").len(), 6 + 12);

    let many = cluster.open(0, "many");
    let names: Vec<String> = (0..600).map(|number| format!("web{number:03}")).collect();
    for name in &names {
        many.report(name, b"well").unwrap();
    }
    let reports = many.reports().unwrap();
    assert!(reports.iter().map(|(name, _)| name).eq(&names));
}

/// The keys that begin so.
fn parts(cluster: &Cluster, begin: &str) -> Vec<Vec<u8>> {
    let end = format!("{begin}\u{10ffff}");
    let question = format!(
        r#"{{"key":"{}","range_end":"{}","keys_only":true}}"#,
        STANDARD.encode(begin),
        STANDARD.encode(end)
    );
    let found = cluster.tell("kv/range", &question, "");
    let Some(found) = found["kvs"].as_array() else {
        return Vec::new();
    };
    let key = |pair: &serde_json::Value| STANDARD.decode(pair["key"].as_str().unwrap()).unwrap();
    found.iter().map(key).collect()
}

fn many_entries_are_read_in_any_order(cluster: &Cluster) {
    let store = cluster.open(0, "order");
    let entry = |version: u64| {
        Ok((1..=300)
            .contains(&version)
            .then(|| format!("{version}").into()))
    };
    for version in 1..=300 {
        let added = store.append(version, format!("{version}").as_bytes(), &[]);
        assert_eq!(added, Ok(Appended::Done));
        if version % 7 == 0 {
            assert_eq!(store.entry(version), entry(version));
        }
    }
    let forwards: Vec<u64> = (0..400).collect();
    let backwards: Vec<u64> = (0..400).rev().collect();
    let mut random = Random(9);
    let (mut at, mut wandering) = (150_u64, Vec::new());
    for _ in 0..400 {
        at = at
            .saturating_add(random.below(4))
            .saturating_sub(random.below(4));
        wandering.push(at);
    }
    for version in [forwards, backwards, wandering].concat() {
        assert_eq!(store.entry(version), entry(version), "{version}");
    }
    assert_eq!(store.entry(u64::MAX), Ok(None));
    assert_eq!(store.entry(u64::MAX - 1), Ok(None));
}

fn another_format_is_refused(cluster: &Cluster) {
    put(cluster, b"future:format", b"2");
    let code = |prefix: &str| {
        let opened = Etcd::open(&cluster.address(0, prefix), &Credentials::default());
        opened.map(|_| ()).unwrap_err().code
    };
    assert_eq!(code("future"), FORMAT);
    put(cluster, b"foreign:something", b"else");
    assert_eq!(code("foreign"), FORMAT);
    let address = cluster.address(0, "nowhere");
    assert_eq!(Etcd::is_there(&address, &Credentials::default()), Ok(false));
}

fn put(cluster: &Cluster, key: &[u8], value: &[u8]) {
    let (key, value) = (STANDARD.encode(key), STANDARD.encode(value));
    let question = format!(r#"{{"key":"{key}","value":"{value}"}}"#);
    cluster.tell("kv/put", &question, "");
}

fn value(cluster: &Cluster, key: &[u8]) -> Vec<u8> {
    let question = format!(r#"{{"key":"{}"}}"#, STANDARD.encode(key));
    let found = cluster.tell("kv/range", &question, "");
    let value = found["kvs"][0]["value"].as_str().unwrap_or_default();
    STANDARD.decode(value).unwrap()
}

fn what_was_changed_is_seen(cluster: &Cluster) {
    let address = cluster.address(0, "changed");
    let mut repository = Repository::open(Box::new(cluster.open(0, "changed"))).unwrap();
    for number in 0..50 {
        commit(
            &mut repository,
            &request(),
            &[assert(&format!("k{number}"), number)],
        )
        .unwrap();
    }
    let large = vec![7; 100 << 10];
    let with_large = Request {
        objects: vec![(Hash::of(&large), large)],
        ..request()
    };
    commit(&mut repository, &with_large, &[assert("last", 1)]).unwrap();
    repository.store().report("web1", b"well").unwrap();
    let look = || {
        let store = Etcd::open(&address, &Credentials::default())?;
        store.reports()?;
        Repository::open(Box::new(store))?.check()
    };
    look().unwrap();
    let mut random = Random(6);
    let keys = parts(cluster, "changed:");
    assert!(keys.len() > 100, "{}", keys.len());
    for (number, key) in keys.iter().enumerate() {
        // Each kind of key is there often, but the first and the last.
        if number % 9 != 0 && !key.ends_with(b"format") && !key.ends_with(b"head") {
            continue;
        }
        let before = value(cluster, key);
        let mut changed = before.clone();
        let place = random.below(changed.len() as u64) as usize;
        changed[place] ^= 1 << random.below(8);
        put(cluster, key, &changed);
        let name = String::from_utf8_lossy(key);
        let error = look().expect_err(&name);
        assert!([DAMAGED, FORMAT].contains(&error.code), "{name}: {error}");
        assert!(error.message.contains("changed"), "{name}: {error}");
        let gone = format!(r#"{{"key":"{}"}}"#, STANDARD.encode(key));
        cluster.tell("kv/deleterange", &gone, "");
        // What a node reported may be gone, and nothing else knows of it.
        if !name.contains("report") {
            let error = look().expect_err(&name);
            assert!([DAMAGED, FORMAT].contains(&error.code), "{name}: {error}");
        }
        put(cluster, key, &before);
    }
    look().unwrap();
}

fn an_answer_that_got_lost_adds_nothing_twice(cluster: &Cluster) {
    let lossy = Lossy::to(cluster.port(0));
    let address = Address {
        members: vec![format!("127.0.0.1:{}", lossy.port())],
        ..cluster.address(0, "lossy")
    };
    let store = Etcd::open(&address, &Credentials::default()).unwrap();
    let mut random = Random(7);
    for version in 1..=60 {
        if random.below(2) == 0 {
            lossy.lose();
        }
        let entry = version.to_string();
        let object = vec![version as u8; 1 << (version % 21)];
        let objects = [(Hash::of(&object), object)];
        let appended = store.append(version, entry.as_bytes(), &objects);
        assert_eq!(appended, Ok(Appended::Done));
        // Whoever says the same is not the one who said it.
        let again = store.append(version, entry.as_bytes(), &[]);
        assert_eq!(again, Ok(Appended::Moved(version)));
    }
    assert_eq!(store.head(), Ok(60));
}

fn a_ledger_moves_in_and_out(cluster: &Cluster) {
    let from = ledger(8, 150);
    let copied = copy(&from, Box::new(cluster.open(0, "copy")), &mut |_, _| ());
    assert_eq!(copied.unwrap().version, from.head().unwrap());
    let cluster = cluster.open(0, "copy");
    assert_eq!(content(&from), content(&cluster));
    let back = Memory::default();
    copy(&cluster, Box::new(back.clone()), &mut |_, _| ()).unwrap();
    assert_eq!(content(&from), content(&back));
}

#[test]
fn with_users() {
    let mut cluster = Cluster::start("users", 1, &[]);
    cluster.open(0, "before");
    let encoded = |text: &str| STANDARD.encode(text);
    let (from, to) = (encoded("suite"), encoded("suitf"));
    let right = format!(
        r#"{{"name":"keeper","perm":{{"permType":"READWRITE","key":"{from}","range_end":"{to}"}}}}"#
    );
    for (path, question) in [
        ("auth/user/add", r#"{"name":"root","password":"r"}"#),
        ("auth/role/add", r#"{"name":"root"}"#),
        ("auth/user/grant", r#"{"user":"root","role":"root"}"#),
        ("auth/user/add", r#"{"name":"ann","password":"secret"}"#),
        ("auth/role/add", r#"{"name":"keeper"}"#),
        ("auth/role/grant", &right),
        ("auth/user/grant", r#"{"user":"ann","role":"keeper"}"#),
        ("auth/enable", "{}"),
    ] {
        cluster.tell(path, question, "");
    }
    let address = |user: Option<&str>, prefix: &str| Address {
        user: user.map(str::to_owned),
        ..cluster.address(0, prefix)
    };
    let with = |password: &str| Credentials {
        password: Some(password.to_owned()),
        ..Credentials::default()
    };
    let denied = |address: Address, credentials: Credentials| {
        let error = Etcd::open(&address, &credentials).map(|_| ()).unwrap_err();
        assert_eq!(error.code, DENIED, "{error}");
        assert!(!error.help.is_empty() && !error.to_string().contains("wrong password"));
    };
    denied(address(None, "suite"), Credentials::default());
    denied(address(Some("ann"), "suite"), Credentials::default());
    denied(address(Some("ann"), "suite"), with("wrong password"));
    denied(address(Some("eve"), "suite"), with("secret"));
    denied(address(Some("ann"), "other"), with("secret"));
    for (number, (name, case)) in SUITE.into_iter().chain(SHARED).enumerate() {
        println!("{name}");
        let address = address(Some("ann"), &format!("suite/{number}"));
        case(&mut || Box::new(Etcd::open(&address, &with("secret")).unwrap()));
    }
    // A member that starts again has forgotten who asked.
    let address = address(Some("ann"), "suite/again");
    let store = Etcd::open(&address, &with("secret")).unwrap();
    store.append(1, b"before", &[]).unwrap();
    cluster.kill(0);
    cluster.run(0);
    let appended = patiently("a cluster", || store.append(2, b"after", &[]).ok());
    assert_eq!(appended, Appended::Done);
    assert_eq!(store.wait(1, Duration::from_secs(100)), Ok(2));
}

#[test]
fn with_certificates() {
    let directory = super::Directory::new("certificates");
    let written = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let authority = |name: &str| {
        let mut parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
    };
    let (ours, other) = (authority("ours"), authority("other"));
    let signed = |name: &str, by: &CertifiedIssuer<'_, KeyPair>| {
        let mut parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        parameters.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, by).unwrap();
        (certificate.pem(), key.serialize_pem())
    };
    let (server, server_key) = signed("127.0.0.1", &ours);
    let cluster = Cluster::start(
        "certificates-data",
        1,
        &[
            "--cert-file",
            &written("server.pem", &server),
            "--key-file",
            &written("server.key", &server_key),
            "--trusted-ca-file",
            &written("ca.pem", &ours.pem()),
            "--client-cert-auth",
        ],
    );
    let credentials = |authority: &str, own: &(String, String)| Credentials {
        password: None,
        authorities: Some(authority.as_bytes().to_vec()),
        certificate: Some(own.0.as_bytes().to_vec()),
        key: Some(own.1.as_bytes().to_vec()),
    };
    let own = signed("client", &ours);
    let good = credentials(&ours.pem(), &own);
    let first = cluster.address(0, "first");
    patiently("a cluster", || Etcd::open(&first, &good).ok());
    for (number, (name, case)) in SUITE.into_iter().chain(SHARED).enumerate() {
        println!("{name}");
        let address = cluster.address(0, &format!("suite/{number}"));
        case(&mut || Box::new(Etcd::open(&address, &good).unwrap()));
    }
    let stranger = signed("client", &other);
    let mixed = (own.0.clone(), stranger.1.clone());
    let nothing = (String::new(), String::new());
    for wrong in [
        Credentials::default(),
        credentials(&other.pem(), &own),
        credentials("no certificate", &own),
        credentials(&ours.pem(), &stranger),
        credentials(&ours.pem(), &mixed),
        credentials(&ours.pem(), &nothing),
        Credentials {
            key: None,
            ..good.clone()
        },
        Credentials {
            key: None,
            certificate: None,
            ..good.clone()
        },
    ] {
        let error = Etcd::open(&first, &wrong).map(|_| ()).unwrap_err();
        assert_eq!(error.code, FAILED, "{error}");
    }
}

#[test]
fn whoever_is_no_cluster_is_refused() {
    let answers = [
        "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"responses\":[]}",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
        "HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 400 Bad\r\nContent-Length: 10\r\n\r\n{\"code\":3}",
    ];
    for answer in answers {
        let port = parrot(answer.as_bytes().to_vec());
        let address: Address = format!("etcd://127.0.0.1:{port}").parse().unwrap();
        let error = Etcd::open(&address, &Credentials::default());
        let error = error.map(|_| ()).expect_err(answer);
        assert!([FAILED, DAMAGED].contains(&error.code), "{error}");
    }
    let nobody: Address = "etcd://127.0.0.1:1".parse().unwrap();
    let error = Etcd::open(&nobody, &Credentials::default()).map(|_| ());
    assert_eq!(error.unwrap_err().code, FAILED);
}

#[test]
fn addresses_are_read_as_they_are_written() {
    for (text, written) in [
        ("etcd://localhost", "etcd://localhost:2379/hence"),
        ("etcd://a:1,b/", "etcd://a:1,b:2379/hence"),
        ("etcds://ann@a:1/x/y/", "etcds://ann@a:1/x/y"),
        (
            "etcd://ann@site@[::1]:5,[::2]",
            "etcd://ann@site@[::1]:5,[::2]:2379/hence",
        ),
    ] {
        let address: Address = text.parse().unwrap();
        assert_eq!(address.to_string(), written);
        assert_eq!(written.parse(), Ok(address));
    }
    for text in [
        "http://a",
        "etcd://",
        "etcd:///x",
        "etcd://a,,b",
        "etcd://a:b",
        "etcd://a:0",
        "etcd://a:99999",
        "etcd://@a",
        "etcd://ann:secret@a",
        "etcd://a/x:y",
        "etcd://[::1",
        "etcd://::1",
        "etcd://a b",
        "etcd://[a]b",
        "etcd://é",
        "etcd://a/\u{7}",
    ] {
        let error = text.parse::<Address>().unwrap_err();
        assert_eq!(error.code, ADDRESS, "{text}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

/// Writers that count up together, each on its own handle, until they are told to stop.
///
/// Whoever gets no answer does not know whether they counted; the log does.
#[test]
fn nothing_is_lost_while_members_fail() {
    const WRITERS: usize = 4;
    let mut cluster = Cluster::start("faults", 3, &[]);
    drop(cluster.open(0, "faults"));
    let stop = AtomicBool::new(false);
    let progress: [AtomicU64; WRITERS] = Default::default();
    let repositories = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let store = cluster.open(writer % 3, "faults");
                let (stop, progress) = (&stop, &progress[writer]);
                scope.spawn(move || count_up(writer, store, stop, progress))
            })
            .collect();
        // Also when the rest of this panics.
        let told = Told(&stop);
        let everybody_goes_on = |times: u64| {
            let goals = progress
                .each_ref()
                .map(|one| one.load(Ordering::SeqCst) + times);
            patiently("progress", || {
                let mut pairs = progress.iter().zip(goals);
                pairs
                    .all(|(one, goal)| one.load(Ordering::SeqCst) >= goal)
                    .then_some(())
            });
        };
        everybody_goes_on(5);
        for _ in 0..2 {
            let leader = cluster.leader();
            cluster.kill(leader);
            everybody_goes_on(5);
            cluster.run(leader);
            everybody_goes_on(3);
        }
        let leader = cluster.leader();
        for member in [leader, (leader + 1) % 3] {
            cluster.cut_off(member);
            everybody_goes_on(3);
            cluster.join(member);
            everybody_goes_on(3);
        }
        // Without two of three nothing is added, and what was tried then is added once or never.
        let leader = cluster.leader();
        cluster.kill(leader);
        cluster.kill((leader + 1) % 3);
        std::thread::sleep(Duration::from_millis(500));
        cluster.run(leader);
        cluster.run((leader + 1) % 3);
        everybody_goes_on(3);
        drop(told);
        let writers = writers.into_iter();
        writers
            .map(|writer| writer.join().unwrap())
            .collect::<Vec<_>>()
    });

    let reader = Repository::open(Box::new(cluster.open(1, "faults"))).unwrap();
    reader.check().unwrap();
    let mut log: Vec<_> = reader.log().map(Result::unwrap).collect();
    log.reverse();
    let mut messages = HashMap::new();
    for (number, entry) in (1..).zip(&log) {
        assert_eq!(entry.version, number);
        assert_eq!(
            messages.insert(&entry.message, number),
            None,
            "it is there once"
        );
        let Act::Commit { changes, .. } = &entry.act else {
            panic!("{number} is a commit");
        };
        let count = changes
            .iter()
            .find(|change| change.key == key("count"))
            .unwrap();
        let count = count.after.as_ref().unwrap().value.as_text().unwrap();
        assert_eq!(
            count.parse(),
            Ok(number),
            "nobody counted over somebody else"
        );
    }
    let mut acknowledged = 0;
    for Counted {
        mut repository,
        done,
        refused,
    } in repositories
    {
        acknowledged += done.len();
        for (message, version) in done {
            assert_eq!(messages.get(&message), Some(&version), "{message}");
        }
        for message in refused {
            assert_eq!(messages.get(&message), None, "{message}");
        }
        repository.follow().unwrap();
        assert_eq!(repository.head(), reader.head());
        assert_eq!(repository.state(), reader.state());
    }
    println!("{acknowledged} of {} were acknowledged", log.len());
}

/// Tells writers to stop when it goes.
struct Told<'a>(&'a AtomicBool);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What a writer ends with.
struct Counted {
    repository: Repository,
    /// What it was told is in the log, and the versions.
    done: Vec<(String, u64)>,
    /// What it was told is not.
    refused: Vec<String>,
}

fn count_up(writer: usize, store: Etcd, stop: &AtomicBool, progress: &AtomicU64) -> Counted {
    let mut repository = Repository::open(Box::new(store)).unwrap();
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for number in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        // A read may fail as well.
        if repository.follow().is_err() {
            continue;
        }
        let state = repository.state().get(&key("count"));
        let count = state.map_or(0, |count| count.value.as_text().unwrap().parse().unwrap());
        let counting = Request {
            message: format!("{writer}: {number}"),
            ..if_version(repository.version())
        };
        let next: u64 = count + 1;
        let commands = [assert("count", next), assert(&format!("w{writer}"), number)];
        match commit(&mut repository, &counting, &commands) {
            Ok(Receipt::Done(Done { version, .. })) => {
                done.push((counting.message, version));
                progress.fetch_add(1, Ordering::SeqCst);
                // Whoever is farther from the leader gets a turn as well.
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(Receipt::Nothing) => panic!("it counted"),
            Err(Refused::Because(troubles)) => {
                assert_eq!(troubles[0].code, crate::MOVED);
                refused.push(counting.message);
            }
            Err(Refused::Failed(error)) => assert_eq!(error.code, FAILED, "{error}"),
        }
    }
    Counted {
        repository,
        done,
        refused,
    }
}
