//! The first five minutes: what `hence quickstart` says can be tried works as it is printed, and nothing is left behind;
//! and `hence doctor` says what is missing.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An example that runs.
struct Shop {
    process: Child,
    /// What it said.
    lines: Vec<String>,
}

impl Shop {
    fn open(words: &[&str]) -> Self {
        // Tests that run with `nohup` would hand on that nothing is told of a terminal that is closed.
        let mut process = Command::new("env")
            .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_hence")])
            .arg("quickstart")
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let mut lines = Vec::new();
        for line in stdout.lines() {
            lines.push(line.unwrap());
            if lines.last().is_some_and(|line| line == "Ctrl-C ends it.") {
                return Self { process, lines };
            }
        }
        panic!("it ended, {:?}: {lines:?}", process.wait());
    }

    /// The commands that are to be tried, the one that prepares them first.
    fn commands(&self) -> Vec<&str> {
        let commands = self.lines.iter().filter_map(|line| line.strip_prefix("  "));
        commands
            .skip_while(|line| !line.starts_with(". "))
            .collect()
    }

    fn try_out(&self, command: &str) -> (i32, String) {
        let output = Command::new("sh")
            .args(["-c", &format!("{}\n{command}", self.commands()[0])])
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let code = output.status.code().unwrap();
        (code, String::from_utf8(said).unwrap())
    }

    /// Where all of it is.
    fn folder(&self) -> PathBuf {
        let environment = self.commands()[0].strip_prefix(". ").unwrap();
        Path::new(environment).parent().unwrap().to_owned()
    }

    /// Ends it as Ctrl-C does.
    fn close(self) {
        self.end("-INT");
    }

    fn end(mut self, signal: &str) {
        let number = self.process.id().to_string();
        let told = Command::new("kill").args([signal, &number]).status();
        assert!(told.unwrap().success());
        assert!(self.process.wait().unwrap().success());
    }
}

/// Nothing of it is on the disk, and no process knows of it.
fn is_gone(folder: &Path) {
    assert!(!folder.exists());
    let left = Command::new("pgrep")
        .args(["-f", &folder.display().to_string()])
        .output()
        .unwrap();
    assert!(left.stdout.is_empty(), "{left:?}");
}

#[test]
fn every_line_works_as_it_is_printed_and_nothing_is_left_behind() {
    let shop = Shop::open(&[]);
    let commands = shop.commands();
    assert!(commands.len() > 12, "{commands:?}");
    let folder = shop.folder();
    let mut hours = Vec::new();
    for command in &commands[1..] {
        let (code, said) = shop.try_out(command);
        let is_mistake = command.ends_with("=many");
        assert_eq!(code, i32::from(is_mistake), "{command}\n{said}");
        let expected = match *command {
            "hence why fleet.cf2 features.Shop.parameters.WORKERS" => "set at fleet.cf2:20:59",
            "hence why database.sf fleet:default:parameters:DB_POOL" => "database.sf:14:15",
            "hence why machines.pp 'Cron[backup].hour' --node web1" => "lost to it:",
            "hence explain web1 LOG_LEVEL" => "LOG_LEVEL = info",
            "hence why http://shop.test/hours" => "private Hours => 'nine to five'",
            "hence plan" => "web1, web2, web3",
            "hence activate" => "3 nodes changed",
            _ if is_mistake => "error[fleet.wrong-value]",
            command if command.starts_with("curl") => {
                hours.push(command);
                "We are open from "
            }
            _ => "",
        };
        assert!(said.contains(expected), "{command}\n{said}");
    }
    // The change was taken back: nodes answer as in the beginning.
    let start = Instant::now();
    while shop.try_out(hours[0]).1 != "We are open from nine to five\n" {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(100));
    }
    shop.close();
    is_gone(&folder);
}

#[test]
fn nothing_is_left_behind_either_when_its_terminal_is_closed_or_nobody_can_read_it() {
    let shop = Shop::open(&[]);
    let folder = shop.folder();
    shop.end("-HUP");
    is_gone(&folder);
    let temporary = std::env::temp_dir().join(format!("hence-unread-{}", std::process::id()));
    std::fs::create_dir(&temporary).unwrap();
    let unread = Command::new(env!("CARGO_BIN_EXE_hence"))
        .arg("quickstart")
        .env("TMPDIR", &temporary)
        .stdout(std::fs::File::create("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_eq!(unread.status.code(), Some(2), "{unread:?}");
    is_gone(&temporary.join("hence-quickstart"));
    std::fs::remove_dir(&temporary).unwrap();
}

#[test]
fn what_cannot_be_started_says_why() {
    let refused = |words: &[&str], variables: &[(&str, &str)], expected: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .arg("quickstart")
            .args(words)
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(expected), "{said}");
        output.status.code()
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = (taken.local_addr().unwrap().to_string(), taken);
    let code = refused(&["--listen", &taken.0], &[], "ddress already in use");
    assert_eq!(code, Some(2));
    let elsewhere = refused(&["--listen", "0.0.0.0:0"], &[], "on this machine alone");
    assert_eq!(elsewhere, Some(1));
    let odd = refused(&["--keep", "a folder"], &[], "has ` ` in it");
    assert_eq!(odd, Some(1));
    let nowhere = refused(&[], &[("TMPDIR", "/nowhere")], "`/nowhere`");
    assert_eq!(nowhere, Some(1));
}

#[test]
fn what_is_kept_can_be_looked_at_later() {
    // Web servers that are started by root must get there.
    let folder = std::env::temp_dir().join(format!("hence-kept-{}", std::process::id()));
    let name = folder.display().to_string();
    Shop::open(&["--keep", &name]).close();
    let shown = Command::new(env!("CARGO_BIN_EXE_hence"))
        .args(["list", "nodes", "--data", "ledger"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("web1") && shown.contains("web3"), "{shown}");
    // It is not used twice.
    let again = Command::new(env!("CARGO_BIN_EXE_hence"))
        .args(["quickstart", "--keep", &name])
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(1));
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.starts_with("error[quickstart.failed]"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_doctor_says_what_works_what_is_missing_and_what_to_do() {
    let ask = |path: &str, variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(["doctor", "--format", "json", "--agent", "nowhere.cf2"])
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .env("PATH", path)
            .env_remove("HENCE_DATA")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = said.as_array().unwrap().iter().map(|one| {
            let word = |name: &str| one[name].as_str().unwrap_or("").to_owned();
            (word("what"), (word("how"), word("help")))
        });
        let findings: std::collections::BTreeMap<_, _> = findings.collect();
        (output.status.code(), findings)
    };
    let (code, here) = ask(&std::env::var("PATH").unwrap(), &[]);
    assert_eq!(code, Some(0), "{here:?}");
    for name in ["hence", "git", "gpg", "puppet", "apache", "nginx"] {
        assert_eq!(here[name].0, "good", "{here:?}");
    }
    // An empty directory is no ledger, and does not become one.
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("doctor-empty");
    std::fs::create_dir_all(&empty).unwrap();
    let name = empty.display().to_string();
    let (_, there) = ask(&std::env::var("PATH").unwrap(), &[("HENCE_DATA", &name)]);
    assert_eq!(there[&name].0, "missing", "{there:?}");
    assert!(std::fs::read_dir(&empty).unwrap().next().is_none());
    let (_, without) = ask("/nowhere", &[]);
    assert_eq!(without["git"].0, "missing", "{without:?}");
    assert_eq!(without["git"].1, "on Debian: apt-get install git");
    // What is named and does not work is wrong.
    let variables = [
        ("HENCE_SERVER", "http://127.0.0.1:1"),
        ("HENCE_TOKEN", "x"),
        ("HENCE_HTTP_ROOT", "nowhere"),
    ];
    let (code, wrong) = ask(&std::env::var("PATH").unwrap(), &variables);
    assert_eq!(code, Some(1));
    assert_eq!(wrong["http://127.0.0.1:1"].0, "wrong", "{wrong:?}");
    assert_eq!(wrong["nowhere"].0, "wrong", "{wrong:?}");
}
