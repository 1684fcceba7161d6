//! What is on disk and on the wire has a version, and one that is not known is refused with what to do: a test for each row of the table in
//! `docs/decisions/versions.md`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hence-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn hence(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hence"));
        command.args(words).current_dir(&self.0);
        for variable in ["HENCE_DATA", "HENCE_SERVER", "HENCE_TOKEN", "HENCE_CA"] {
            command.env_remove(variable);
        }
        command
    }

    fn done(&self, words: &[&str]) -> String {
        let output = self.hence(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command is refused for: its code, and what to do.
    fn refused(&self, words: &[&str], code: &str, help: &str) {
        let output = self.hence(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{words:?}: {said}");
        let is_told = said.contains(&format!("error[{code}]")) && said.contains(help);
        assert!(is_told, "{words:?}: {said}");
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// A server, and where it is.
    fn serve(&self) -> (Served, String) {
        let mut process = self
            .hence(&["serve", "--data", "ledger", "--listen", "127.0.0.1:0"])
            .args(["--log", "none", "--admin-token-file", "token"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening at ").expect(&line);
        (Served(process), url.to_owned())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Settings of an agent.
const SETTINGS: &str =
    "node => n1\ndirectory => 'agent'\nfiles => { site => { path => 'site.conf' } }\n";
/// What to do with what a later release wrote.
const LATER: &str = "use the release of Hence that";

#[test]
fn a_closure_of_a_later_release_is_not_touched() {
    let folder = Folder::new("later-closure");
    folder.done(&["http", "init", "site", "--server", "apache"]);
    let text = folder.read("site/server");
    assert!(text.starts_with("format 1\n"), "{text}");
    folder.write("site/server", &text.replace("format 1", "format 2"));
    for command in ["show", "status", "start"] {
        folder.refused(&["http", "--root", "site", command], "store.format", LATER);
    }
    // The first roots did not say it.
    folder.write("site/server", text.strip_prefix("format 1\n").unwrap());
    folder.done(&["http", "--root", "site", "show"]);
}

#[test]
fn the_directory_of_a_later_agent_is_not_touched() {
    let folder = Folder::new("later-agent");
    let (_server, url) = folder.serve();
    let there = ["--server", &url, "--token-file", "token"];
    folder.done(&[&["add", "node", "n1"], &there[..]].concat());
    let word = folder.done(&[&["token", "join", "--node", "n1"], &there[..]].concat());
    folder.write("agent.cf2", SETTINGS);
    let agent = ["agent", "--config", "agent.cf2", "--once"];
    folder.done(&[&agent[..], &["--join", word.trim()]].concat());
    for change in ["add param PORT", "add node n1 param PORT=80", "activate"] {
        let words: Vec<&str> = change.split(' ').collect();
        folder.done(&[&words[..], &there].concat());
    }
    folder.done(&agent);
    for name in ["agent/identity.json", "agent/state.json"] {
        let text = folder.read(name);
        let later = text.replace("\"format\": 1", "\"format\": 2");
        assert_ne!(text, later, "{name} has a format");
        folder.write(name, &later);
        folder.refused(&agent, "store.format", LATER);
        assert_eq!(folder.read(name), later, "{name} is left as it is");
        folder.write(name, &text);
    }
    // The first identity did not say it.
    let text = folder.read("agent/identity.json");
    folder.write("agent/identity.json", &text.replace("\"format\": 1,", ""));
    folder.done(&agent);
    // One that was about to enrol.
    fs::rename(
        folder.0.join("agent/identity.json"),
        folder.0.join("agent/enrolling.json"),
    )
    .unwrap();
    folder.write(
        "agent/enrolling.json",
        &text.replace("\"format\": 1", "\"format\": 2"),
    );
    let join = [&agent[..], &["--join", word.trim()]].concat();
    folder.refused(&join, "store.format", LATER);
}

#[test]
fn a_map_of_a_later_agent_is_not_guessed_at() {
    let folder = Folder::new("later-map");
    folder.write("site.conf", "PORT = 80\n");
    let map = r#"{"format":1,"file":"site.conf","node":"n1","version":1,"sum":"","parts":[{"first":1,"last":1,"parameter":"PORT"}]}"#;
    folder.write("map.json", map);
    let ask = ["why", "--line", "site.conf:1", "--map", "map.json"];
    assert!(folder.done(&ask).contains("is about `PORT`"));
    folder.write("map.json", r#"{"format":2,"lines":{}}"#);
    folder.refused(&ask, "store.format", LATER);
}

#[test]
fn a_key_of_another_kind_is_not_used() {
    let folder = Folder::new("later-key");
    folder.done(&["add", "param", "P", "--data", "ledger"]);
    folder.write("ledger/key", "hence-key-2 and so on, longer than 32 bytes");
    folder.refused(
        &["serve", "--data", "ledger", "--listen", "127.0.0.1:0"],
        "store.key",
        "a key has 32 bytes: this is none, or one of a later release",
    );
}

#[test]
fn a_word_of_a_later_server_says_to_upgrade_the_node() {
    let folder = Folder::new("later-word");
    folder.write("agent.cf2", SETTINGS);
    // {"format":2}
    let word = "hence-join-eyJmb3JtYXQiOjJ9";
    folder.refused(
        &["agent", "--config", "agent.cf2", "--once", "--join", word],
        "agent.join",
        "upgrade Hence on this node",
    );
}

/// To this server all who speak through the proxy speak version 2 of the API.
#[test]
fn clients_and_agents_of_another_api_are_told_what_to_do() {
    let folder = Folder::new("later-api");
    let (_server, url) = folder.serve();
    let there = ["--server", &url, "--token-file", "token"];
    folder.done(&[&["add", "node", "n1"], &there[..]].concat());
    let word = folder.done(&[&["token", "join", "--node", "n1"], &there[..]].concat());
    folder.write("agent.cf2", SETTINGS);
    let agent = ["agent", "--config", "agent.cf2", "--once"];
    folder.done(&[&agent[..], &["--join", word.trim()]].concat());

    let later = later_clients(url.strip_prefix("http://").unwrap().to_owned());
    let there = ["--server", &later, "--token-file", "token"];
    let help = "upgrade the server, or use Hence ";
    for command in [&["list", "nodes"][..], &["add", "node", "n2"], &["watch"]] {
        folder.refused(&[command, &there].concat(), "server.other-api", help);
    }
    let text = folder.read("agent.cf2");
    folder.write("agent.cf2", &format!("{text}server => '{later}'\n"));
    folder.refused(&agent, "server.other-api", help);
}

/// A proxy that makes requests ones of version 2 of the API.
fn later_clients(server: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || {
                pass(from, to, &|bytes| bytes.replace("/api/v1", "/api/v2"))
            });
            std::thread::spawn(move || pass(server, client, &str::to_owned));
        }
    });
    format!("http://{address}")
}

fn pass(mut from: TcpStream, mut to: TcpStream, change: &dyn Fn(&str) -> String) {
    let mut bytes = [0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        let text = String::from_utf8_lossy(&bytes[..length]);
        if to.write_all(change(&text).as_bytes()).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn every_row_of_the_table_has_its_test() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(workspace.join("docs/decisions/versions.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let Some(named) = row.rsplit('|').nth(1).filter(|cell| cell.contains("`")) else {
            continue;
        };
        // `FILE`: `name`, or only a file of the specification.
        let mut names = named.split('`').skip(1).step_by(2);
        let file = names.next().expect("a test has a file");
        let text = fs::read_to_string(workspace.join(file));
        let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
        for name in names {
            assert!(text.contains(&format!("fn {name}")), "{file}: {name}");
        }
    }
}
