//! A fleet in a real etcd cluster: used from several processes at once, moved there, and moved back.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use hence_api::{Client, words};

/// A server that waits for a cluster which does not answer waits longer.
const SILENCE: Duration = Duration::from_secs(15);

/// A cluster of one member that goes with the test.
struct Cluster {
    process: Child,
    directory: PathBuf,
    address: String,
}

impl Cluster {
    fn start(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("etcd-{name}"));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let url = || format!("http://{}", hence_loopback::reserve().unwrap());
        let (client_url, peer_url) = (url(), url());
        let process = Command::new("etcd")
            .arg("--data-dir")
            .arg(directory.join("member"))
            .args(["--listen-client-urls", &client_url])
            .args(["--advertise-client-urls", &client_url])
            .args(["--listen-peer-urls", &peer_url])
            .args(["--initial-advertise-peer-urls", &peer_url])
            .args(["--initial-cluster", &format!("default={peer_url}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let cluster = Self {
            process: process.expect("this test needs `etcd`, which `./test` installs"),
            directory,
            address: client_url.replace("http://", "etcd://"),
        };
        let start = Instant::now();
        while cluster.run(&["state"], "").status.code() == Some(2) {
            assert!(start.elapsed() < Duration::from_secs(60), "etcd starts");
        }
        cluster
    }

    fn signal(&self, name: &str) {
        let process = self.process.id().to_string();
        let kill = Command::new("kill").args(["-s", name, &process]).status();
        assert!(kill.unwrap().success());
    }

    /// Runs `hence` in the directory of the test, on the ledger of the cluster.
    fn run(&self, words: &[&str], input: &str) -> Output {
        self.run_with(words, input, &[])
    }

    fn run_with(&self, words: &[&str], input: &str, variables: &[(&str, &str)]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(words)
            .current_dir(&self.directory)
            .env("HENCE_DATA", format!("{}/fleet", self.address))
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that reads nothing may have ended.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Tells the cluster something that no command does.
    fn tell(&self, path: &str, question: &str) {
        let host = self.address.trim_start_matches("etcd://");
        let mut stream = TcpStream::connect(host).unwrap();
        let length = question.len();
        let head = format!("POST /v3/{path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(question.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 OK"), "{path}: {answer}");
    }

    /// Does something that succeeds, and says what it prints.
    fn done(&self, words: &[&str]) -> String {
        let output = self.run(words, "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Does something that is refused because of the input, and says why.
    fn refused(&self, words: &[&str]) -> String {
        let output = self.run(words, "");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn a_fleet_lives_in_a_cluster() {
    let cluster = Cluster::start("alone");
    assert!(cluster.refused(&["state"]).contains("input.no-ledger"));

    // Several at once, and nobody's change is lost.
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let cluster = &cluster;
            scope.spawn(move || {
                for number in 0..5 {
                    let name = format!("n{writer}-{number}");
                    cluster.done(&["assert", &format!("node/{name}"), &name]);
                }
            });
        }
    });
    let log = cluster.done(&["log", "--format", "json"]);
    assert_eq!(log.lines().count(), 20);
    assert_eq!(
        cluster.done(&["state"]).matches("assert node/n").count(),
        20
    );

    cluster.done(&["add", "group", "web"]);
    cluster.done(&["undo"]);
    cluster.done(&["check-in", "n0-0"]);
    assert!(!cluster.done(&["state"]).contains("web"));
    assert!(cluster.done(&["state", "--at", "21"]).contains("web"));

    // A secret takes a key that is in no cluster.
    let secret = ["assert", "group/+++default/param/password", "--secret"];
    let keyless = cluster.run(&secret, "hush\n");
    assert_eq!(keyless.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&keyless.stderr).contains("store.key"));
    let with_key = [("HENCE_KEY_FILE", "hence.key")];
    let absent = cluster.run_with(&secret, "hush\n", &with_key);
    assert_eq!(absent.status.code(), Some(2), "a key is not made by chance");
    fs::write(cluster.directory.join("hence.key"), [7; 32]).unwrap();
    cluster.done(&["add", "parameter", "password"]);
    let sealed = cluster.run_with(&secret, "hush\n", &with_key);
    assert_eq!(sealed.status.code(), Some(0), "{sealed:?}");
    cluster.done(&["activate"]);
    let reveal = ["config", "n0-0", "--reveal", "--key-file", "hence.key"];
    assert!(cluster.done(&reveal).contains("hush"));
    assert!(!cluster.done(&["state"]).contains("hush"));

    // There and back again.
    assert!(
        cluster
            .refused(&["backup", "copy"])
            .contains("store.no-backup")
    );
    let fleet = format!("{}/fleet", cluster.address);
    let moved = format!("{}/moved", cluster.address);
    cluster.done(&["store", "copy", &fleet, "here"]);
    cluster.done(&["store", "copy", "here", &moved]);
    cluster.done(&["add", "group", "later"]);
    let told = cluster.done(&["store", "copy", &fleet, &moved, "--format", "json"]);
    assert!(told.contains("\"new\":1"), "{told}");
    for question in [
        ["log", "--format", "json"],
        ["inventory", "--format", "json"],
    ] {
        let mut there: Vec<&str> = question.to_vec();
        there.extend(["--data", &moved]);
        assert_eq!(cluster.done(&question), cluster.done(&there));
    }
    cluster.done(&["add", "group", "other", "--data", &moved]);
    let other = cluster.refused(&["store", "copy", &fleet, &moved]);
    assert!(other.contains("store.other-history"), "{other}");

    with_users(&cluster);
}

fn with_users(cluster: &Cluster) {
    cluster.tell("auth/user/add", r#"{"name":"root","password":"hush"}"#);
    cluster.tell("auth/role/add", r#"{"name":"root"}"#);
    cluster.tell("auth/user/grant", r#"{"user":"root","role":"root"}"#);
    cluster.tell("auth/enable", "{}");
    assert!(cluster.refused(&["state"]).contains("store.denied"));
    let address = cluster.address.replace("//", "//root@");
    let words = ["state", "--data", &format!("{address}/fleet")];
    assert!(cluster.refused(&words).contains("HENCE_ETCD_PASSWORD"));
    for (password, exit) in [("other", 1), ("hush", 0)] {
        let output = cluster.run_with(&words, "", &[("HENCE_ETCD_PASSWORD", password)]);
        assert_eq!(output.status.code(), Some(exit), "{output:?}");
    }
    let missing = [("HENCE_ETCD_CA", "missing.pem")];
    let output = cluster.run_with(&words, "", &missing);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("$HENCE_ETCD_CA"));
}

/// A server over the cluster, and where it listens.
fn serve(cluster: &Cluster) -> (Child, String) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_hence"))
        .args(["serve", "--listen", "127.0.0.1:0", "--log", "none"])
        .args(["--admin-token-file", "token", "--rate", "0"])
        .current_dir(&cluster.directory)
        .env("HENCE_DATA", format!("{}/fleet", cluster.address))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = process.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening at ").expect(&line);
    (process, url.to_owned())
}

fn client(url: &str, token: &str) -> Client {
    let address = hence_api::Address {
        server: url.to_owned(),
        token: token.to_owned(),
        certificates: None,
    };
    Client::new(address).unwrap()
}

fn commit(client: &Client, commands: &str) -> Result<Option<u64>, hence_api::Failure> {
    let commit = words::Commit {
        commands: words::Commands::Text(commands.to_owned()),
        ..words::Commit::default()
    };
    let done: words::Done = client.post("commits", &commit)?;
    Ok(done.version)
}

#[test]
fn servers_over_one_cluster_are_one_service() {
    let cluster = Cluster::start("served");
    let (mut one, first) = serve(&cluster);
    let token = fs::read_to_string(cluster.directory.join("token")).unwrap();
    let token = token.trim();
    let (mut two, second) = serve(&cluster);
    let address = first.clone();
    let (first, second) = (client(&first, token), client(&second, token));
    // Whoever watches one server hears what is done at the other.
    let mut events = second.events(None, Some(1)).unwrap();
    assert_eq!(commit(&first, "assert node/n1").unwrap(), Some(2));
    assert_eq!(events.next().unwrap().unwrap().version, 2);
    assert!(second.get::<words::Node>("nodes/n1").is_ok());
    // A token that one gave is taken by the other.
    let wanted = words::NewToken {
        name: "short".to_owned(),
        ..words::NewToken::default()
    };
    let made: words::MadeToken = first.post("tokens", &wanted).unwrap();
    second.delete::<words::Done>("tokens/short").unwrap();
    assert_eq!(events.next().unwrap().unwrap().version, 3);
    assert_eq!(events.next().unwrap().unwrap().version, 4);
    drop(made);
    // Many write through both, and one of the two is killed meanwhile.
    let acknowledged = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for writer in 0..4 {
            let killed = writer % 2 == 1;
            let client = if killed { &second } else { &first };
            let acknowledged = &acknowledged;
            scope.spawn(move || {
                for number in 0..20 {
                    let node = format!("w{writer}-{number}");
                    match commit(client, &format!("assert node/{node}")) {
                        Ok(version) => {
                            let version = version.expect("it is new");
                            let before = acknowledged.lock().unwrap().insert(version, node);
                            assert_eq!(before, None, "no version is given twice");
                        }
                        // What was not acknowledged may be there or not.
                        Err(error) => assert!(killed, "{error:?}"),
                    }
                }
            });
        }
        thread::sleep(Duration::from_millis(300));
        two.kill().unwrap();
    });
    two.wait().unwrap();
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= 40, "the other went on");
    for (version, node) in &acknowledged {
        let entry: serde_json::Value = first.get(&format!("entries/{version}")).unwrap();
        let key = &entry["act"]["commit"]["changes"][0]["key"];
        assert_eq!(*key, format!("node/{node}"));
    }
    let about: words::About = first.get("").unwrap();
    let nodes = cluster.done(&["list", "nodes"]).lines().count();
    assert_eq!(
        nodes as u64 + 3,
        about.version,
        "every version is one node, the first, or a token's"
    );
    // A cluster that stalls makes a server answer from what it knows, and say so.
    assert_eq!(answer(&address, "/ready"), "200");
    cluster.signal("STOP");
    let is_away = || answer(&address, "/ready") == "503";
    assert!((0..60).any(|_| is_away() || nap()));
    assert_eq!(answer(&address, "/health"), "200");
    // Of many who ask for what is known, nobody waits for the cluster, nor behind those who did.
    let newest = about.version;
    let asked = Instant::now();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let state = first.bytes("state").unwrap();
                assert!(String::from_utf8(state).unwrap().contains("assert node/n1"));
                let history = first.get::<serde_json::Value>("entries");
                let is_away = matches!(&history, Err(hence_api::Failure::Refused(503, _)));
                assert!(is_away, "{history:?}");
            });
        }
    });
    assert!(asked.elapsed() < SILENCE, "{:?}", asked.elapsed());
    let refused = commit(&first, "assert node/n2").unwrap_err();
    assert!(
        matches!(&refused, hence_api::Failure::Refused(503, _)),
        "{refused:?}"
    );
    cluster.signal("CONT");
    let is_back = || answer(&address, "/ready") == "200";
    assert!((0..60).any(|_| is_back() || nap()));
    // The change was not made or, at the latest, is made while it is made again.
    commit(&first, "assert node/n2").unwrap();
    let about: words::About = first.get("").unwrap();
    assert_eq!(about.version, newest + 1);
    one.kill().unwrap();
    one.wait().unwrap();
}

/// The status that a server answers with.
fn answer(address: &str, path: &str) -> String {
    let url = format!("{address}{path}");
    let words = [
        "--silent",
        "--output",
        "/dev/null",
        "--write-out",
        "%{http_code}",
        &url,
    ];
    let curl = Command::new("curl").args(words).output().unwrap();
    String::from_utf8(curl.stdout).unwrap()
}

fn nap() -> bool {
    thread::sleep(Duration::from_secs(1));
    false
}
