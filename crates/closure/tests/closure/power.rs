//! The power is cut at every step: what is served is the old or the new, never a mixture.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hence_closure::address::{Endpoint, Name};
use hence_closure::closure::{Closure, Now, Published};
use hence_closure::host::{Entry, Host, Machine, Signal, Wanted};
use hence_closure::integrity::DRIFT;
use hence_closure::probe::Probe;
use hence_closure::process::Ran;
use hence_closure::server::Server;
use hence_closure::site::Site;
use hence_closure::tls::Secured;
use hence_ledger::Command;

use crate::generate::Pool;
use crate::real::{self, LIMIT, Root};

/// A machine that goes dark after so many steps. What is being written then is half there.
struct Dark {
    left: Cell<usize>,
    /// So many of them changed something on the disk.
    changes: Cell<usize>,
    /// So often somebody looked at the clock since.
    hours: Cell<u64>,
}

impl Dark {
    fn new(left: usize) -> Self {
        Self {
            left: Cell::new(left),
            changes: Cell::new(0),
            hours: Cell::new(0),
        }
    }

    fn step(&self) -> io::Result<()> {
        match self.left.get() {
            0 => Err(io::Error::other("the power is cut")),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }

    fn change(&self) -> io::Result<()> {
        self.changes.set(self.changes.get() + 1);
        self.step()
    }
}

impl Host for Dark {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Machine.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        Machine.list(path)
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        Machine.look(path)
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        Machine.link(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Machine.canonical(path)
    }

    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.change()?;
        Machine.make_directory(path, mode)
    }

    fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        if let Err(cut) = self.change() {
            Machine.write(path, &content[..content.len() / 2], mode)?;
            return Err(cut);
        }
        Machine.write(path, content, mode)
    }

    fn make_link(&self, path: &Path, to: &Path) -> io::Result<()> {
        self.change()?;
        Machine.make_link(path, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change()?;
        Machine.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change()?;
        Machine.remove(path)
    }

    fn give(&self, path: &Path, user: u32, group: u32) -> io::Result<()> {
        self.change()?;
        Machine.give(path, user, group)
    }

    fn allow(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.change()?;
        Machine.allow(path, mode)
    }

    fn synchronise(&self, paths: &[PathBuf]) -> io::Result<()> {
        self.change()?;
        Machine.synchronise(paths)
    }

    fn is_privileged(&self) -> bool {
        Machine.is_privileged()
    }

    fn run(&self, command: &[String], limit: Duration) -> io::Result<Ran> {
        self.step()?;
        Machine.run(command, limit)
    }

    fn signal(&self, process: u32, signal: Signal) -> io::Result<bool> {
        self.step()?;
        Machine.signal(process, signal)
    }

    fn process(&self, process: u32) -> Option<String> {
        Machine.process(process)
    }

    fn children(&self, process: u32) -> Vec<u32> {
        Machine.children(process)
    }

    fn holding(&self, path: &Path) -> Vec<u32> {
        Machine.holding(path)
    }

    fn room(&self, path: &Path) -> io::Result<u64> {
        Machine.room(path)
    }

    fn addresses(&self, name: &str, limit: Duration) -> io::Result<Vec<IpAddr>> {
        Machine.addresses(name, limit)
    }

    fn try_endpoint(&self, endpoint: Endpoint) -> io::Result<()> {
        Machine.try_endpoint(endpoint)
    }

    fn exchange(
        &self,
        endpoint: Endpoint,
        bytes: &[u8],
        wanted: Wanted,
        limit: Duration,
    ) -> io::Result<Vec<u8>> {
        self.step()?;
        Machine.exchange(endpoint, bytes, wanted, limit)
    }

    fn exchange_secured(
        &self,
        endpoint: Endpoint,
        named: Option<&str>,
        bytes: &[u8],
        wanted: Wanted,
        limit: Duration,
    ) -> io::Result<Secured> {
        self.step()?;
        Machine.exchange_secured(endpoint, named, bytes, wanted, limit)
    }

    fn now(&self) -> u64 {
        match self.left.get() {
            // In the dark time flies, so nobody waits.
            0 => {
                self.hours.set(self.hours.get() + 1);
                Machine.now() + self.hours.get() * 3_600_000
            }
            _ => Machine.now(),
        }
    }

    fn wait(&self, time: Duration) {
        Machine.wait(time);
    }
}

pub fn states(pool: &Pool) -> (Command, Command) {
    let listen = format!("listen {}", pool.endpoints[0]);
    let trees = &pool.hashes;
    let blob = hence_ledger::Hash::of(&pool.blobs[0]);
    let tree = |at: &str, tree: usize| format!("tree foo.test {at} tree:{}", trees[tree]);
    let index = format!("index foo.test /a/ blob:{blob} text/html");
    let (root, a, p) = (tree("/", 1), tree("/", 2), tree("/p/", 3));
    let old = real::all(&[
        &listen,
        "host foo.test",
        &root,
        "redirect foo.test /p 301 /a/",
    ]);
    let secured = format!("{listen} tls");
    let cert = |name: &str, at: usize| {
        let hash = pool.certificates[at].hash();
        format!("cert {name} {} cert:{hash}", pool.endpoints[0])
    };
    let new = real::all(&[
        &secured,
        &cert("foo.test", 0),
        &cert("bar.test", 1),
        "host foo.test",
        "host bar.test",
        &a,
        &p,
        &index,
    ]);
    (old, new)
}

fn requests(pool: &Pool) -> BTreeSet<Probe> {
    let paths = [
        "/",
        "/x.html",
        "/p",
        "/p/",
        "/p/odd.dat",
        "/a/",
        "/a/x.html",
        "/sub/",
    ];
    let names = ["foo.test", "bar.test"].map(|name| Name::read(name).unwrap());
    let each = names
        .iter()
        .flat_map(|name| paths.map(|path| (name.clone(), path)));
    each.map(|(name, path)| Probe::new(pool.endpoints[0], name, path))
        .collect()
}

fn site_of(command: &Command) -> Site {
    let mut state = hence_ledger::State::default();
    state.perform(command, 1, &hence_closure::words::Words);
    Site::of(&state)
}

#[test]
fn a_closure_that_is_killed_at_any_step_of_apache_leaves_the_old_or_the_new() {
    kill_at_every_step(Server::Apache);
}

#[test]
fn a_closure_that_is_killed_at_any_step_of_nginx_leaves_the_old_or_the_new() {
    kill_at_every_step(Server::Nginx);
}

fn kill_at_every_step(server: Server) {
    let root = Root::new(server);
    let pool = Pool::new(real::free_endpoints(1));
    let (old, new) = states(&pool);
    let requests = requests(&pool);
    let (old_site, new_site) = (site_of(&old), site_of(&new));
    {
        let mut closure = root.open();
        real::stage(&closure, &pool);
        real::commit(&mut closure, std::slice::from_ref(&old)).unwrap();
        closure.start().unwrap();
    }
    let (mut olds, mut news) = (0, 0);
    for step in 0.. {
        let dark = Dark::new(step);
        let ended = {
            let mut closure = root.open_on(&dark);
            real::commit(&mut closure, std::slice::from_ref(&new))
        };
        let mut closure = root.open();
        // The server still runs, and answers as one of them, if not at once: while nginx reloads, some of its processes
        // are old and some new.
        let is = |closure: &Closure<'_>, site: &Site| closure.keeps(site, &requests).is_empty();
        let begun = Instant::now();
        let before = loop {
            let before = (is(&closure, &old_site), is(&closure, &new_site));
            if before.0 || before.1 {
                break before;
            }
            assert!(
                begun.elapsed() < LIMIT,
                "{server:?}, step {step}: a mixture is served"
            );
        };
        closure.recover().unwrap();
        let promised = closure.site();
        assert!(promised == old_site || promised == new_site, "step {step}");
        assert!(
            is(&closure, &promised),
            "{server:?}, step {step}: what is promised is not served"
        );
        assert!(
            !before.1 || promised == new_site,
            "step {step}: the new was served, and went"
        );
        match promised == new_site {
            true => news += 1,
            false => olds += 1,
        }
        if matches!(
            ended,
            Ok(Published::New {
                now: Now::Served { .. },
                ..
            })
        ) {
            break;
        }
        real::commit(&mut closure, std::slice::from_ref(&old)).unwrap();
        // What was shown for the new is to be shown again.
        let is_old = |name: &str| {
            let mut trees = old_site.hosts.values().flat_map(|host| host.trees.values());
            trees.any(|tree| tree.to_string() == name)
        };
        for kind in ["tree", "file"] {
            for entry in Machine.list(&root.path.join(kind)).unwrap() {
                if !is_old(&entry.name) {
                    Machine
                        .remove(&root.path.join(kind).join(entry.name))
                        .unwrap();
                }
            }
        }
    }
    assert!(olds > 20 && news > 1, "{server:?}: {olds} old, {news} new");
}

#[test]
fn what_is_wrong_is_told_without_a_change_on_the_disk() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let listen = format!("listen {}", real::free_endpoints(1)[0]);
        let blob = closure.content().stage_bytes(b"here").unwrap();
        let file = format!("file foo.test /a blob:{blob}");
        real::commit(
            &mut closure,
            &[real::all(&[&listen, "host foo.test", &file])],
        )
        .unwrap();
        closure.start().unwrap();
        drop(closure);
        let served = root.path.join("file").join(blob.to_string());
        Machine.write(&served, b"there", 0o444).unwrap();
        let dark = Dark::new(usize::MAX);
        let found = root.open_on(&dark).validate().unwrap();
        assert!(found.iter().any(|one| one.code == DRIFT), "{found:?}");
        assert_eq!(dark.changes.get(), 0, "{server:?}");
    }
}
