//! `hence serve` as a process, and every command through it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("server-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn hence(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hence"));
        command.args(arguments).current_dir(&self.0);
        for variable in ["HENCE_DATA", "HENCE_SERVER", "HENCE_TOKEN", "HENCE_CA"] {
            command.env_remove(variable);
        }
        command.env("HENCE_AUTHOR", "admin");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.hence(arguments).output().expect("hence can be run")
    }

    /// What a command prints; it must be done.
    fn told(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What a command is refused for.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server that ends with the test.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(directory: &Directory, more: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--log", "none"];
        arguments.extend(["--admin-token-file", "token"]);
        arguments.extend(more);
        let mut process = directory
            .hence(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("hence can be run");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = lines.next().expect("it says where it listens").unwrap();
        let url = line.strip_prefix("listening at ").expect(&line).to_owned();
        Self { process, url }
    }

    /// Asks it to end, and waits until it has.
    fn end(mut self) {
        let id = self.process.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status();
        assert!(asked.expect("kill can be run").success());
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn with<'a>(words: &'a [&'a str], more: &'a [&'a str]) -> Vec<&'a str> {
    words.iter().chain(more).copied().collect()
}

/// What is done to a ledger, line by line.
const CHANGES: &[&[&str]] = &[
    &[
        "add",
        "param",
        "PORT",
        "--kind",
        "integer",
        "--default",
        "80",
    ],
    &["add", "param", "DAEMONS", "--kind", "list"],
    &["add", "subsystem", "httpd", "param", "PORT"],
    &["add", "feature", "Web", "param", "PORT=8080"],
    &["add", "group", "web", "feature", "Web"],
    &["add", "node", "n1", "group", "web"],
    &["add", "node", "n2"],
    &["snapshot", "first"],
    &["activate"],
    &["push", "site.cf2", "--owner", "site"],
    &["set", "feature", "Web", "param", "PORT=9090"],
    &["assert", "node/n2/annotation", "two words"],
    &["apply", "more.commands"],
    &["check-in", "n3"],
    &["rename", "group", "web", "www"],
    &["undo"],
    &["activate", "--node", "n1"],
    &["set", "default", "param", "PORT=1"],
    &["restore", "first"],
    &["undo"],
    &["forget", "first"],
];

/// What is asked of it.
const QUESTIONS: &[&[&str]] = &[
    &["state"],
    &["state", "--at", "3"],
    &["dump"],
    &["log", "--changes"],
    &["log", "--format", "json"],
    &["list", "nodes"],
    &["show", "node", "n1"],
    &["show", "feature", "web", "--format", "json"],
    &["inventory"],
    &[
        "inventory",
        "--where",
        "memberships.size == 1",
        "--format",
        "json",
    ],
    &["apropos", "PORT"],
    &["config", "n1"],
    &["config", "n1", "--at", "10", "--format", "json"],
    &["config", "n1", "--head"],
    &["explain", "n1"],
    &["explain", "n1", "EXTRA", "--format", "json"],
    &["validate"],
    &["plan"],
    &["plan", "--format", "json"],
    &["why", "p1"],
    &["why", "n1", "PORT"],
    &["export", "condor", "--out", "out"],
    &["list", "snapshots"],
    &["token", "list"],
];

fn sources(directory: &Path) {
    let site = "private Base => 8000\nparameters => { EXTRA => { kind => 'integer' } }\n\
                groups => { extra => { parameters => { EXTRA => $Base + 1 } } }\n\
                nodes => { n1 => { groups => [extra] } }\n";
    std::fs::write(directory.join("site.cf2"), site).unwrap();
    let commands = "assert node/n4\nassert node/n4/group/web 10\n";
    std::fs::write(directory.join("more.commands"), commands).unwrap();
}

#[test]
fn every_command_is_the_same_through_a_server() {
    let directory = Directory::new("same");
    sources(&directory.0);
    let server = Server::start(&directory, &["--data", "served"]);
    // Before the first change the two ledgers are the same.
    directory.told(&[
        "token",
        "add",
        "other",
        "--may",
        "administer",
        "--data",
        "here",
    ]);
    let there = ["--server", &server.url, "--token-file", "token"];
    let here = ["--data", "here"];
    for change in CHANGES {
        let served = directory.run(&with(change, &there));
        let done = directory.run(&with(change, &here));
        let words = String::from_utf8_lossy(&served.stderr);
        assert_eq!(
            served.status.code(),
            done.status.code(),
            "{change:?}: {words}"
        );
        assert_eq!(words, String::from_utf8_lossy(&done.stderr), "{change:?}");
    }
    // What differs is when, and the one token.
    let blank = |output: &Output| {
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let lines = text.lines().filter(|line| !line.contains("token/"));
        let lines = lines.map(|line| {
            let line = line.replace("other   administer", "admin   administer");
            let mut words: Vec<&str> = line.split(' ').collect();
            words.retain(|word| {
                !word.contains("2026-") && !word.contains(':') && !word.contains("\"time\"")
            });
            words.join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    for question in QUESTIONS {
        let served = directory.run(&with(question, &there));
        let asked = directory.run(&with(question, &here));
        assert_eq!(served.status.code(), asked.status.code(), "{question:?}");
        if !question.contains(&"json") {
            assert_eq!(blank(&served), blank(&asked), "{question:?}");
        }
    }
    // What was written through the server is there without it, and equal where nothing but the ledger speaks.
    server.end();
    let here = ["--data", "served"];
    let server = Server::start(&directory, &["--data", "served"]);
    let there = ["--server", server.url.as_str(), "--token-file", "token"];
    let served: Vec<String> = QUESTIONS
        .iter()
        .map(|question| {
            String::from_utf8_lossy(&directory.run(&with(question, &there)).stdout).into_owned()
        })
        .collect();
    server.end();
    for (question, served) in QUESTIONS.iter().zip(served) {
        let asked = directory.run(&with(question, &here));
        assert_eq!(
            served,
            String::from_utf8_lossy(&asked.stdout),
            "{question:?}"
        );
    }
}

#[test]
fn what_happens_is_shown_as_it_happens() {
    let directory = Directory::new("watch");
    let server = Server::start(&directory, &["--data", "served"]);
    let there = ["--server", server.url.as_str(), "--token-file", "token"];
    directory.told(&with(&["add", "node", "n1", "-m", "the first"], &there));
    let shown = directory.told(&with(&["watch", "--after", "0", "-n", "2"], &there));
    assert_eq!(
        shown,
        "    1  commit      admin\n    2  commit      admin  the first\n"
    );
    let refused = directory.refused(&["watch", "--data", "served"]);
    assert!(refused.contains("--server"), "{refused}");
}

#[test]
fn a_ledger_that_is_served_is_copied_through_its_server() {
    let directory = Directory::new("copied");
    let server = Server::start(&directory, &["--data", "served"]);
    let there = ["--server", server.url.as_str(), "--token-file", "token"];
    directory.told(&with(&["add", "nodes", "n1", "n2"], &there));
    directory.told(&with(&["activate"], &there));
    directory.told(&with(&["check-in", "n1"], &there));
    directory.told(&with(&["backup", "copy"], &there));
    let refused = directory.refused(&with(&["backup", "copy"], &there));
    assert!(refused.contains("`copy` is there already"), "{refused}");
    for question in ["log", "dump", "inventory"] {
        let served = directory.told(&with(&[question], &there));
        let copied = directory.told(&[question, "--data", "copy"]);
        assert_eq!(served, copied, "{question}");
    }
}

#[test]
fn secrets_are_sealed_by_the_server_and_opened_for_nobody() {
    let directory = Directory::new("secret");
    let server = Server::start(&directory, &["--data", "served"]);
    let there = ["--server", server.url.as_str(), "--token-file", "token"];
    directory.told(&with(&["add", "param", "KEY"], &there));
    directory.told(&with(&["add", "node", "n1"], &there));
    let mut assert = directory.hence(&with(&["assert", "node/n1/param/KEY", "--secret"], &there));
    let mut assert = assert
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut assert.stdin.take().unwrap(), b"open sesame\n").unwrap();
    assert!(assert.wait().unwrap().success());
    directory.told(&with(&["activate"], &there));
    let shown = directory.told(&with(&["config", "n1"], &there));
    assert!(shown.contains("KEY = sealed("), "{shown}");
    let refused = directory.refused(&with(&["config", "n1", "--reveal"], &there));
    assert!(refused.contains("input.elsewhere"), "{refused}");
    server.end();
    let opened = directory.told(&["config", "n1", "--reveal", "--data", "served"]);
    assert!(opened.contains("KEY = open sesame"), "{opened}");
    assert!(
        !directory
            .told(&["state", "--data", "served"])
            .contains("sesame")
    );
}

#[test]
fn a_certificate_is_made_and_must_be_known() {
    let directory = Directory::new("tls");
    let server = Server::start(&directory, &["--data", "served", "--tls"]);
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let there = ["--server", server.url.as_str(), "--token-file", "token"];
    let refused = directory.refused(&with(&["add", "node", "n1"], &there));
    assert!(refused.contains("server.untrusted"), "{refused}");
    let known = with(&there, &["--ca", "served/tls.pem"]);
    directory.told(&with(&["add", "node", "n1"], &known));
    assert_eq!(directory.told(&with(&["list", "nodes"], &known)), "n1\n");
    // A word for newcomers has all that they need.
    let word = directory.told(&with(&["token", "join"], &known));
    let join = hence_api::Join::from_word(&word).unwrap();
    assert_eq!(join.server, server.url);
    assert!(join.certificate.unwrap().contains("BEGIN CERTIFICATE"));
    let first = std::fs::read(directory.0.join("served/tls.pem")).unwrap();
    server.end();
    // The next start shows the same.
    let server = Server::start(&directory, &["--data", "served", "--tls"]);
    assert_eq!(
        std::fs::read(directory.0.join("served/tls.pem")).unwrap(),
        first
    );
    let there = [
        "--server",
        server.url.as_str(),
        "--token-file",
        "token",
        "--ca",
        "served/tls.pem",
    ];
    assert_eq!(directory.told(&with(&["list", "nodes"], &there)), "n1\n");
    std::fs::write(directory.0.join("none.pem"), "nonsense").unwrap();
    let refused = directory.refused(&[
        "serve",
        "--data",
        "other",
        "--tls-cert",
        "none.pem",
        "--tls-key",
        "none.pem",
    ]);
    assert!(refused.contains("server.certificate"), "{refused}");
}

#[test]
fn what_cannot_be_served_or_reached_is_said() {
    let directory = Directory::new("said");
    let server = Server::start(&directory, &["--data", "served"]);
    let address = server.url.strip_prefix("http://").unwrap();
    let refused = directory.refused(&["serve", "--listen", address, "--data", "other"]);
    assert!(refused.contains("server.listen"), "{refused}");
    let refused = directory.refused(&["serve", "--data", "served"]);
    assert!(refused.contains("store.locked"), "{refused}");
    let there = ["--server", server.url.as_str(), "--token-file", "token"];
    let refused = directory.refused(&with(&["serve"], &there));
    assert!(refused.contains("input.elsewhere"), "{refused}");
    let refused = directory.refused(&["list", "nodes", "--server", &server.url]);
    assert!(refused.contains("input.no-token"), "{refused}");
    let refused = directory.refused(&[
        "list",
        "nodes",
        "--server",
        "http://hub.example",
        "--token-file",
        "token",
    ]);
    assert!(refused.contains("server.address"), "{refused}");
    // Another token would help, which is the caller's to say: it is no failure.
    std::fs::write(directory.0.join("guess"), "hence_guessed").unwrap();
    let guess = ["--server", server.url.as_str(), "--token-file", "guess"];
    for command in [&["list", "nodes"][..], &["add", "node", "n1"]] {
        let output = directory.run(&with(command, &guess));
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(words.contains("server.unauthorised"), "{words}");
        assert!(words.contains("`--token-file FILE`"), "{words}");
    }
    let url = server.url.clone();
    server.kill();
    let refused = directory.refused(&["list", "nodes", "--server", &url, "--token-file", "token"]);
    assert!(refused.contains("server.unreachable"), "{refused}");
    // Killed as it was, the ledger is whole.
    assert_eq!(directory.told(&["list", "nodes", "--data", "served"]), "");
}
