//! The power is cut after every single step.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use hence_agent::{End, Host, Machine, Ran, Woken};
use hence_api::words::Outcome;

use crate::fleet::{Fleet, Node, site};

/// A machine that loses its power.
pub struct Frail {
    machine: Machine,
    /// After so many steps.
    left: Cell<usize>,
    /// Whether the last step is done by half, or not at all.
    half: bool,
}

impl Frail {
    pub fn new(left: usize, half: bool) -> Self {
        Self {
            machine: Machine::default(),
            left: Cell::new(left),
            half,
        }
    }

    /// Takes a step; if it is one too many, does the last half step.
    fn step(&self, half: impl FnOnce()) -> io::Result<()> {
        match self.left.get() {
            0 => Err(io::Error::other("there is no power")),
            1 => {
                self.left.set(0);
                if self.half {
                    half();
                }
                Err(io::Error::other("the power was cut"))
            }
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl Host for Frail {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.machine.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.machine.list(path)
    }

    fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        self.step(|| {
            let _ = self
                .machine
                .write(path, &content[..content.len() / 2], mode);
        })?;
        self.machine.write(path, content, mode)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|| {
            let _ = self.machine.rename(from, to);
        })?;
        self.machine.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|| {
            let _ = self.machine.remove(path);
        })?;
        self.machine.remove(path)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.step(|| ())?;
        self.machine.make_directory(path)
    }

    fn run(&self, command: &[String], limit: Duration) -> io::Result<Ran> {
        self.step(|| {
            let _ = self.machine.run(command, limit);
        })?;
        self.machine.run(command, limit)
    }

    fn now(&self) -> u64 {
        self.machine.now()
    }

    fn random(&self) -> u64 {
        0
    }

    fn secret(&self) -> io::Result<[u8; 32]> {
        self.machine.secret()
    }

    fn wait(&self, time: Duration) -> Woken {
        self.machine.wait(time)
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

/// Runs a round from the same beginning, with the power cut at each step; then one with power. After each, `check` looks,
/// first at what the cut left behind.
fn cut_everywhere(node: &Node, check: impl Fn(&str, Option<&End>)) -> usize {
    let kept = node.directory.with_extension("kept");
    copy(&node.directory, &kept);
    let mut cuts = 0;
    for half in [false, true] {
        for step in 1.. {
            copy(&kept, &node.directory);
            let round = node.round_on(&Frail::new(step, half));
            if round.is_ok() {
                break;
            }
            cuts += 1;
            let what = format!("step {step}, half {half}");
            check(&what, None);
            let ended = node.round();
            check(&what, Some(&ended.end));
            assert_eq!(node.round().end, End::Nothing, "{what}: it is over");
        }
    }
    cuts
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

#[test]
fn a_cut_leaves_the_old_or_the_new_and_the_next_start_finishes() {
    let fleet = Fleet::new();
    let node = Node::new("cut", &fleet);
    let old = site(fleet.activate(), "80", "error");
    node.round();
    node.forget_told();
    let version = fleet.set("PORT", "81");
    let new = site(version, "81", "error");
    let cuts = cut_everywhere(&node, |what, end| {
        let text = node.file("site.conf");
        match end {
            None => assert!(text == old || text == new, "{what}: {text}"),
            Some(_) => {
                assert_eq!(text, new, "{what}");
                assert_eq!(node.file("port"), "port=81\nmore=none\n", "{what}");
                assert_eq!(node.file("site.conf.previous"), old, "{what}");
                assert!(
                    node.file("told")
                        .ends_with(&format!("== restart httpd\n{new}")),
                    "{what}"
                );
                let report = fleet.report();
                assert_eq!(report.applied, Some(version), "{what}");
                assert_eq!(report.outcome, Some(Outcome::Applied), "{what}");
                assert!(!node.directory.join("site.conf.staged").exists(), "{what}");
            }
        }
    });
    assert!(cuts > 40, "{cuts}");
}

#[test]
fn a_cut_while_it_is_taken_back_ends_with_the_old() {
    let fleet = Fleet::new();
    let node = Node::new("cut_back", &fleet);
    let version = fleet.activate();
    let old = site(version, "80", "error");
    node.round();
    node.forget_told();
    let new = site(fleet.set("PORT", "BAD"), "BAD", "error");
    let cuts = cut_everywhere(&node, |what, end| {
        let text = node.file("site.conf");
        match end {
            None => assert!(text == old || text == new, "{what}: {text}"),
            Some(_) => {
                assert_eq!(text, old, "{what}");
                assert_eq!(node.file("port"), "port=80\nmore=none\n", "{what}");
                assert!(
                    node.file("told")
                        .ends_with(&format!("== restart httpd\n{old}")),
                    "{what}"
                );
                let report = fleet.report();
                assert_eq!(report.applied, Some(version), "{what}");
                assert_eq!(report.outcome, Some(Outcome::RolledBack), "{what}");
            }
        }
    });
    assert!(cuts > 40, "{cuts}");
}

#[test]
fn a_cut_during_the_first_installation_leaves_nothing_or_all() {
    let fleet = Fleet::new();
    let node = Node::new("cut_first", &fleet);
    let version = fleet.activate();
    let new = site(version, "80", "error");
    cut_everywhere(&node, |what, end| {
        let text = node.file("site.conf");
        match end {
            None => assert!(text.is_empty() || text == new, "{what}: {text}"),
            Some(_) => {
                assert_eq!(text, new, "{what}");
                for told in ["restart httpd", "reread logger"] {
                    let record = format!("== {told}\n{new}");
                    assert!(node.file("told").contains(&record), "{what}: {told}");
                }
                assert_eq!(fleet.report().applied, Some(version), "{what}");
            }
        }
    });
}

#[test]
fn a_cut_while_drift_is_put_right_is_made_up_for() {
    let fleet = Fleet::new();
    let node = Node::new("cut_drift", &fleet);
    let good = site(fleet.activate(), "80", "error");
    node.round();
    node.forget_told();
    let path = node.directory.join("site.conf");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "by hand\n").unwrap();
    cut_everywhere(&node, |what, end| {
        let text = node.file("site.conf");
        match end {
            None => assert!(text == "by hand\n" || text == good, "{what}: {text}"),
            Some(_) => {
                assert_eq!(text, good, "{what}");
                assert_eq!(node.file("site.conf.drifted"), "by hand\n", "{what}");
                assert!(
                    node.file("told")
                        .ends_with(&format!("== reread logger\n{good}")),
                    "{what}"
                );
            }
        }
    });
}
