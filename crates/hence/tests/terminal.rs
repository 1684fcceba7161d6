//! What only somebody at a terminal sees: lines that are completed, called back and abandoned.
//!
//! `script` of util-linux is the terminal. Nothing here is about time: whatever is typed waits for what must be seen before it.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Whoever waits longer than this waits for something that does not come.
const PATIENCE: Duration = Duration::from_secs(60);

const PROMPT: &str = "hence> ";
/// What is sent to the terminal when a line is no longer edited.
const EDITED: &str = "\x1b[?2004l";

const UP: &str = "\x1b[A";
const CONTROL_C: &str = "\x03";
const CONTROL_D: &str = "\x04";

/// A terminal on which a command runs.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn run(folder: &Path, arguments: &str) -> Self {
        let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_hence"));
        let mut child = Command::new("script")
            .args(["-qefc", &command, "/dev/null"])
            .current_dir(folder)
            .env_remove("HENCE_DATA")
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` is a part of util-linux");
        let keys = child.stdin.take().expect("it is piped");
        let mut output = child.stdout.take().expect("it is piped");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let seen = String::new();
        let mut terminal = Self {
            child,
            keys,
            screen,
            seen,
        };
        terminal.sees(PROMPT);
        terminal
    }

    fn types(&mut self, keys: &str) {
        self.seen.clear();
        self.keys
            .write_all(keys.as_bytes())
            .expect("somebody reads the keys");
        self.keys.flush().expect("somebody reads the keys");
    }

    /// Waits until something is seen of what was typed last.
    fn sees(&mut self, words: &str) {
        self.waits(words, |seen| seen.contains(words));
    }

    /// Types something that ends a statement, and waits until the next one is asked for.
    fn enters(&mut self, keys: &str) {
        self.types(keys);
        self.waits("the next prompt", |seen| {
            let behind = seen.split_once(EDITED).map(|(_, behind)| behind);
            behind.is_some_and(|behind| behind.contains(PROMPT))
        });
    }

    fn waits(&mut self, what: &str, is_seen: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_seen(&self.seen) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.screen.recv_timeout(left) {
                Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
                Err(_) => panic!("`{what}` is not seen, but {:?}", self.seen),
            }
        }
    }

    fn leaves(mut self) {
        self.types(CONTROL_D);
        // The terminal ends with the command, and nobody writes to the screen any more.
        while self.screen.recv_timeout(PATIENCE).is_ok() {}
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves nobody behind; one that did not has nobody left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hence(folder: &Path, arguments: &[&str], input: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hence"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("HENCE_DATA")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hence can be run");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin
        .write_all(input.as_bytes())
        .expect("somebody reads it");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {words}");
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

fn fleet(name: &str) -> PathBuf {
    let folder = folder(name);
    hence(&folder, &["add", "nodes", "n1", "n2", "Gateway"], "");
    hence(&folder, &["add", "group", "Webservers"], "");
    hence(&folder, &["add", "params", "PORT", "PASSWORD"], "");
    hence(&folder, &["add", "node", "n1", "group", "Webservers"], "");
    folder
}

#[test]
fn names_are_completed() {
    let folder = fleet("completed");
    let mut terminal = Terminal::run(&folder, "console");
    // A name of the session.
    terminal.types("fle\t");
    terminal.sees("fleet");
    // One of its functions.
    terminal.types(".inv\t");
    terminal.sees("fleet.inventory");
    terminal.enters(CONTROL_C);
    // Two of them, which begin in the same way.
    terminal.types("fleet.memb\t");
    terminal.sees("members  ");
    terminal.sees("memberships");
    // A name of the fleet, in whatever case it is typed.
    terminal.types("(\"WEB\t");
    terminal.sees("fleet.members(\"Webservers");
    terminal.enters("\")\r");
    terminal.sees("[\"n1\"]");
    // What somebody has named.
    terminal.enters("let gathering = 1;\r");
    terminal.types("gath\t");
    terminal.sees("gathering");
    terminal.enters(" + 41\r");
    terminal.sees("\n42");
    terminal.leaves();
}

#[test]
fn what_was_typed_comes_back() {
    let folder = fleet("typed");
    let mut terminal = Terminal::run(&folder, "console");
    terminal.enters("\"it was \" + \"typed\"\r");
    terminal.sees("it was typed");
    terminal.leaves();

    let mut terminal = Terminal::run(&folder, "console");
    terminal.types(UP);
    terminal.sees("\"it was \" + \"typed\"");
    terminal.enters("\r");
    terminal.sees("it was typed");
    terminal.leaves();

    let history = fs::metadata(folder.join(".hence/console-history")).expect("it was kept");
    assert_eq!(history.permissions().mode() & 0o777, 0o600);
}

#[test]
fn no_secret_is_kept() {
    let folder = fleet("kept");
    let key = "group/webservers/param/password";
    hence(&folder, &["assert", key, "--secret"], "hunter1\n");
    let mut terminal = Terminal::run(&folder, "console");
    for line in [
        "let a = \"kept\";",
        " let b = \"behind a blank\";",
        "fleet.set(\"group\", \"Webservers\", #{Password: \"hunter2\"});",
        "fleet.set(\"group\", \"Webservers\", #{PORT: \"80\"});",
    ] {
        terminal.enters(&format!("{line}\r"));
    }
    terminal.leaves();
    let history = fs::read_to_string(folder.join(".hence/console-history")).expect("it was kept");
    let kept: Vec<&str> = history.lines().skip(1).collect();
    assert_eq!(
        kept,
        [
            "let a = \"kept\";",
            "fleet.set(\"group\", \"Webservers\", #{PORT: \"80\"});"
        ]
    );
}

#[test]
fn a_line_can_be_abandoned_and_a_statement_can_have_many() {
    let folder = fleet("abandoned");
    let mut terminal = Terminal::run(&folder, "console");
    terminal.types("fleet.nodes( oops {");
    terminal.sees("oops {");
    terminal.enters(CONTROL_C);
    assert!(!terminal.seen.contains("error"), "{:?}", terminal.seen);
    terminal.types("for part in [\"first\", \"second\"] {\r");
    terminal.sees("\n");
    terminal.types("print(part + \" line\");\r");
    terminal.sees("\n");
    terminal.enters("}\r");
    terminal.sees("second line");
    // An empty line ends what has no end, and it is said what is missing.
    terminal.types("[1,\r");
    terminal.sees("\n");
    terminal.enters("\r");
    terminal.sees("console.script");
    terminal.leaves();
}
