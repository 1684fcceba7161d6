//! A disk that, when the power is cut, has lost or reordered what it was not told to keep.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hence_closure::address::Endpoint;
use hence_closure::closure::{self, Closure, FAILED, NO_CLOSURE, Now, Published};
use hence_closure::content::Tree;
use hence_closure::host::{Entry, EntryKind, Host, Signal, Wanted};
use hence_closure::process::Ran;
use hence_closure::publish::TEST_FAILED;
use hence_closure::server::{Server, Setting};
use hence_closure::settings::NO_SERVER;
use hence_closure::site::Site;
use hence_closure::tls::Secured;
use hence_closure::words::Words;
use hence_ledger::{Command, Hash, State};
use hence_store::{Appended, Error, Memory, Refused, Store};

use crate::generate::{Pool, Random};
use crate::real;

pub const ROOT: &str = "/root";

/// What is on the disk, and what is only said to be.
#[derive(Clone)]
enum Node {
    File {
        now: Vec<u8>,
        kept: Vec<u8>,
        mode: u32,
    },
    Directory {
        now: BTreeMap<String, usize>,
        kept: BTreeMap<String, usize>,
        since: Vec<Step>,
    },
    Link(PathBuf),
}

/// What happened to the names in a directory since it was last kept.
#[derive(Clone)]
enum Step {
    Put(String, usize),
    Drop(String),
    Move(String, String),
}

fn directory() -> Node {
    Node::Directory {
        now: BTreeMap::new(),
        kept: BTreeMap::new(),
        since: Vec::new(),
    }
}

pub struct Disk {
    nodes: RefCell<Vec<Node>>,
    /// So many steps are left until the power is cut.
    left: Cell<usize>,
    /// Whether the server refuses its configuration.
    refuses: Cell<bool>,
    /// Whether a new generation is written over the old one: a mistake to be found.
    in_place: bool,
    /// So many days have passed.
    days: Cell<u64>,
    /// So many bytes are free.
    pub room: Cell<u64>,
    /// Where names lead.
    pub names: RefCell<BTreeMap<String, Vec<IpAddr>>>,
    /// Whether nobody says in time where they lead.
    pub slow: Cell<bool>,
    /// So many names were looked up.
    pub asked: Cell<usize>,
}

impl Disk {
    pub fn new(in_place: bool) -> Self {
        let disk = Self {
            nodes: RefCell::new(vec![directory()]),
            left: Cell::new(usize::MAX),
            refuses: Cell::new(false),
            in_place,
            days: Cell::new(0),
            room: Cell::new(u64::MAX),
            names: RefCell::default(),
            slow: Cell::new(false),
            asked: Cell::new(0),
        };
        for path in ["/usr", "/usr/sbin"] {
            disk.make_directory(Path::new(path), 0o755).unwrap();
        }
        disk.write(Path::new("/usr/sbin/nginx"), b"", 0o755)
            .unwrap();
        let installed = ["/usr/sbin/nginx", "/usr/sbin", "/usr", "/"];
        disk.synchronise(&installed.map(PathBuf::from)).unwrap();
        disk
    }

    /// Lets days pass.
    pub fn advance(&self, days: u64) {
        self.days.set(self.days.get() + days);
    }

    /// The disk as it is found when the power comes back.
    fn cut(&self, random: &mut Random) -> Self {
        let mut nodes = self.nodes.borrow().clone();
        for node in &mut nodes {
            match node {
                Node::File { now, kept, .. } => {
                    match random.below(3) {
                        0 => *kept = now.clone(),
                        1 if now != kept => kept.clear(),
                        _ => {}
                    }
                    *now = kept.clone();
                }
                Node::Directory { now, kept, since } => {
                    let mut steps = std::mem::take(since);
                    steps.retain(|_| random.below(2) == 0);
                    random.shuffle(&mut steps);
                    for step in steps {
                        step.take(kept);
                    }
                    *now = kept.clone();
                }
                Node::Link(_) => {}
            }
        }
        Self {
            nodes: RefCell::new(nodes),
            left: Cell::new(usize::MAX),
            refuses: Cell::new(false),
            in_place: self.in_place,
            days: self.days.clone(),
            room: self.room.clone(),
            names: self.names.clone(),
            slow: self.slow.clone(),
            asked: self.asked.clone(),
        }
    }

    fn step(&self) -> io::Result<()> {
        match self.left.get() {
            0 => Err(io::Error::other("the power is cut")),
            left => {
                self.left
                    .set(left.saturating_sub(usize::from(left != usize::MAX)));
                Ok(())
            }
        }
    }

    /// The names of a path; the mistake leads all generations to one.
    fn names(&self, path: &Path) -> Vec<String> {
        let names = path.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_str().unwrap().to_owned()),
            _ => None,
        });
        let mut names: Vec<String> = names.collect();
        if self.in_place && names.len() > 2 && names[1] == "generation" {
            names[2] = "only".to_owned();
        }
        names
    }

    /// What is at a path. Nobody goes through the one link, to what is current.
    fn find(&self, path: &Path) -> Option<usize> {
        let nodes = self.nodes.borrow();
        let mut at = 0;
        for name in self.names(path) {
            let Node::Directory { now, .. } = &nodes[at] else {
                return None;
            };
            at = *now.get(&name)?;
        }
        Some(at)
    }

    /// The directory that something is in, and its name there.
    fn place(&self, path: &Path) -> io::Result<(usize, String)> {
        let name = self.names(path).pop().ok_or(io::ErrorKind::InvalidInput)?;
        let above = self
            .find(path.parent().unwrap())
            .ok_or(io::ErrorKind::NotFound)?;
        Ok((above, name))
    }

    fn take(&self, above: usize, step: Step) {
        let mut nodes = self.nodes.borrow_mut();
        if let Node::Directory { now, since, .. } = &mut nodes[above] {
            step.clone().take(now);
            since.push(step);
        }
    }

    fn put(&self, path: &Path, node: Node) -> io::Result<()> {
        let (above, name) = self.place(path)?;
        self.nodes.borrow_mut().push(node);
        let number = self.nodes.borrow().len() - 1;
        self.take(above, Step::Put(name, number));
        Ok(())
    }

    fn entry(&self, name: String, at: usize) -> Entry {
        let (kind, size, mode) = match &self.nodes.borrow()[at] {
            Node::File { now, mode, .. } => (EntryKind::File, now.len() as u64, *mode),
            Node::Directory { .. } => (EntryKind::Directory, 0, 0o755),
            Node::Link(_) => (EntryKind::Link, 0, 0o777),
        };
        Entry {
            name,
            kind,
            size,
            mode,
            owner: 0,
        }
    }
}

impl Step {
    fn take(self, names: &mut BTreeMap<String, usize>) {
        match self {
            Step::Put(name, node) => drop(names.insert(name, node)),
            Step::Drop(name) => drop(names.remove(&name)),
            Step::Move(from, to) => {
                if let Some(node) = names.remove(&from) {
                    names.insert(to, node);
                }
            }
        }
    }
}

impl Host for Disk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let Some(at) = self.find(path) else {
            return Ok(None);
        };
        match &self.nodes.borrow()[at] {
            Node::File { now, .. } => Ok(Some(now.clone())),
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let Some(at) = self.find(path) else {
            return Ok(Vec::new());
        };
        let names = match &self.nodes.borrow()[at] {
            Node::Directory { now, .. } => now.clone(),
            _ => return Err(io::ErrorKind::NotADirectory.into()),
        };
        Ok(names
            .into_iter()
            .map(|(name, at)| self.entry(name, at))
            .collect())
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        let Some(name) = self.names(path).pop() else {
            return Ok(Some(self.entry(String::new(), 0)));
        };
        let Some(above) = self.find(path.parent().unwrap()) else {
            return Ok(None);
        };
        let at = match &self.nodes.borrow()[above] {
            Node::Directory { now, .. } => now.get(&name).copied(),
            _ => None,
        };
        Ok(at.map(|at| self.entry(name, at)))
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let (above, name) = self.place(path)?;
        let nodes = self.nodes.borrow();
        let Node::Directory { now, .. } = &nodes[above] else {
            return Ok(None);
        };
        Ok(now.get(&name).and_then(|at| match &nodes[*at] {
            Node::Link(to) => Some(to.clone()),
            _ => None,
        }))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn make_directory(&self, path: &Path, _: u32) -> io::Result<()> {
        self.step()?;
        match self.find(path) {
            Some(_) => Ok(()),
            None => self.put(path, directory()),
        }
    }

    fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        self.step()?;
        let (now, kept) = (content.to_vec(), Vec::new());
        self.put(path, Node::File { now, kept, mode })
    }

    fn make_link(&self, path: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        self.put(path, Node::Link(to.to_owned()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        let ((above, from), (same, to)) = (self.place(from)?, self.place(to)?);
        assert_eq!(above, same, "a rename stays in its directory");
        if from != to {
            self.take(above, Step::Move(from, to));
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        if self.look(path)?.is_some()
            && !(self.in_place && path.to_str().unwrap().contains("/generation/"))
        {
            let (above, name) = self.place(path)?;
            self.take(above, Step::Drop(name));
        }
        Ok(())
    }

    fn give(&self, _: &Path, _: u32, _: u32) -> io::Result<()> {
        self.step()
    }

    fn allow(&self, _: &Path, _: u32) -> io::Result<()> {
        self.step()
    }

    fn synchronise(&self, paths: &[PathBuf]) -> io::Result<()> {
        for path in paths {
            self.step()?;
            let at = self.find(path).ok_or(io::ErrorKind::NotFound)?;
            match &mut self.nodes.borrow_mut()[at] {
                Node::File { now, kept, .. } => *kept = now.clone(),
                Node::Directory { now, kept, since } => {
                    *kept = now.clone();
                    since.clear();
                }
                Node::Link(_) => {}
            }
        }
        Ok(())
    }

    fn is_privileged(&self) -> bool {
        false
    }

    fn run(&self, _: &[String], _: Duration) -> io::Result<Ran> {
        self.step()?;
        Ok(Ran {
            failure: self.refuses.get().then(|| "exit status: 1".to_owned()),
            output: String::new(),
            complaint: String::new(),
        })
    }

    fn signal(&self, _: u32, _: Signal) -> io::Result<bool> {
        Ok(false)
    }

    fn process(&self, _: u32) -> Option<String> {
        None
    }

    fn children(&self, _: u32) -> Vec<u32> {
        Vec::new()
    }

    fn holding(&self, _: &Path) -> Vec<u32> {
        Vec::new()
    }

    fn room(&self, _: &Path) -> io::Result<u64> {
        Ok(self.room.get())
    }

    fn addresses(&self, name: &str, _: Duration) -> io::Result<Vec<IpAddr>> {
        self.asked.set(self.asked.get() + 1);
        if self.slow.get() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let names = self.names.borrow();
        let found = names.get(name).cloned();
        found.ok_or_else(|| io::Error::other("nobody knows this name"))
    }

    /// The machine has one address.
    fn try_endpoint(&self, endpoint: Endpoint) -> io::Result<()> {
        match endpoint.port() == 0 && endpoint.ip().to_string() != "192.0.2.1" {
            true => Err(io::ErrorKind::AddrNotAvailable.into()),
            false => Ok(()),
        }
    }

    fn exchange(&self, _: Endpoint, _: &[u8], _: Wanted, _: Duration) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn exchange_secured(
        &self,
        _: Endpoint,
        _: Option<&str>,
        _: &[u8],
        _: Wanted,
        _: Duration,
    ) -> io::Result<Secured> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn now(&self) -> u64 {
        // Noon of 31 January 2026.
        1_769_860_800_000 + self.days.get() * 24 * 60 * 60 * 1000
    }

    fn wait(&self, _: Duration) {}
}

/// A ledger that survives, as that of a real closure does.
pub struct Survivor(pub Arc<Memory>);

impl Store for Survivor {
    fn place(&self) -> String {
        self.0.place()
    }

    fn head(&self) -> Result<u64, Error> {
        self.0.head()
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        self.0.entry(version)
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.0.object(hash)
    }

    fn hashes(&self) -> Result<Vec<Hash>, Error> {
        self.0.hashes()
    }

    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, Error> {
        self.0.append(version, entry, objects)
    }

    fn report(&self, node: &str, report: &[u8]) -> Result<(), Error> {
        self.0.report(node, report)
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error> {
        self.0.report_of(node)
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.0.reports()
    }
}

/// What would be served from a disk: the state, or what is not as it must be.
fn served(disk: &Disk, states: &[&State]) -> Result<Hash, String> {
    let root = Path::new(ROOT);
    let read = |path: &Path| match disk.read(path) {
        Ok(Some(bytes)) => Ok(bytes),
        _ => Err(format!("{} is not there", path.display())),
    };
    let to = disk
        .link(&root.join("current"))
        .unwrap()
        .ok_or("nothing is current")?;
    let generation: u64 = to.file_name().unwrap().to_str().unwrap().parse().unwrap();
    let main = read(&root.join(&to).join("nginx.conf"))?;
    let main = String::from_utf8(main).map_err(|error| error.to_string())?;
    let identity = String::from_utf8(read(&root.join(&to).join("identity"))?).unwrap();
    let identity = Hash::from_hex(&identity).ok_or("the identity is none")?;
    let state = states
        .iter()
        .find(|state| (**state).clone().identity() == identity);
    let state = state.ok_or("nobody asserted this")?;
    let setting = Setting {
        root: root.to_owned(),
        generation,
    };
    let site = Site::of(state);
    let promised = Server::Nginx.configure(&site, &setting);
    if promised.main != main {
        return Err("the configuration is that of another state".to_owned());
    }
    for (hash, text) in promised.parts {
        let part = read(&root.join("part").join(hash.to_string()))?;
        if part != text.as_bytes() {
            return Err(format!("part {hash} is another one"));
        }
    }
    for host in site.hosts.values() {
        for cert in host.certs.values() {
            if Hash::of(&read(&root.join("key").join(cert.to_string()))?) != *cert {
                return Err(format!("the certificate {cert} is another one"));
            }
        }
        let blobs = host
            .files
            .values()
            .chain(host.indexes.values().map(|(blob, _)| blob));
        for blob in blobs {
            if Hash::of(&read(&root.join("file").join(blob.to_string()))?) != *blob {
                return Err(format!("file {blob} is another one"));
            }
        }
        for tree in host.trees.values() {
            let list = read(&root.join("object").join(tree.to_string()))?;
            let list = Tree::from_text(&String::from_utf8(list).unwrap()).ok_or("no list")?;
            for (path, file) in list.files() {
                let path = root.join("tree").join(tree.to_string()).join(path);
                if Hash::of(&read(&path)?) != file.hash {
                    return Err(format!("{} is another one", path.display()));
                }
            }
        }
    }
    Ok(identity)
}

fn state_of(command: &Command) -> State {
    let mut state = State::default();
    state.perform(command, 1, &Words);
    state
}

/// How often a cut leaves something other than the old or the new, and how often each.
fn cuts(in_place: bool, seeds: u64) -> (usize, usize, usize) {
    let pool = Pool::new(vec!["127.0.0.1:8080".parse().unwrap()]);
    let (old, new) = crate::power::states(&pool);
    let (old_state, new_state) = (state_of(&old), state_of(&new));
    let states = [&old_state, &new_state, &State::default()];
    let (mut olds, mut news, mut mixed) = (0, 0, 0);
    for seed in 0..seeds {
        for steps in 0.. {
            let mut random = Random::new(seed * 1000 + steps as u64 + 1);
            let disk = Disk::new(in_place);
            let memory = Arc::new(Memory::default());
            let open = |disk| {
                Closure::on(disk, Path::new(ROOT), Box::new(Survivor(memory.clone()))).unwrap()
            };
            closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
            {
                let mut closure = open(&disk);
                real::stage(&closure, &pool);
                real::commit(&mut closure, std::slice::from_ref(&old)).unwrap();
            }
            disk.left.set(steps);
            let ended = real::commit(&mut open(&disk), std::slice::from_ref(&new));
            let disk = disk.cut(&mut random);
            let before = served(&disk, &states);
            let mut closure = open(&disk);
            let promised = closure.repository().state().clone().identity();
            let recovered = closure.recover();
            let after = served(&disk, &states);
            let is_new = promised == new_state.clone().identity();
            match before.is_ok() && recovered.is_ok() && after == Ok(promised) {
                false => mixed += 1,
                true if is_new => news += 1,
                true => olds += 1,
            }
            match ended {
                Ok(Published::New {
                    now: Now::Stopped, ..
                }) => break,
                Err(Refused::Failed(error)) => assert_eq!(error.code, FAILED),
                other => panic!("{other:?}"),
            }
        }
    }
    (olds, news, mixed)
}

#[test]
fn a_power_cut_at_any_step_leaves_the_old_or_the_new() {
    let (olds, news, mixed) = cuts(false, 8);
    assert_eq!(mixed, 0, "{olds} old, {news} new");
    assert!(olds > 100 && news > 10, "{olds} old, {news} new");
}

#[test]
fn publishing_in_place_would_leave_mixtures() {
    let (olds, news, mixed) = cuts(true, 2);
    assert!(mixed > 10, "{olds} old, {news} new, {mixed} mixed");
}

#[test]
fn what_the_server_refuses_is_not_served() {
    let pool = Pool::new(vec!["127.0.0.1:8080".parse().unwrap()]);
    let (old, new) = crate::power::states(&pool);
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let memory = Arc::new(Memory::default());
    let mut closure = Closure::on(&disk, Path::new(ROOT), Box::new(Survivor(memory))).unwrap();
    real::stage(&closure, &pool);
    real::commit(&mut closure, std::slice::from_ref(&old)).unwrap();
    disk.refuses.set(true);
    let Err(Refused::Because(troubles)) = real::commit(&mut closure, std::slice::from_ref(&new))
    else {
        panic!("it was not refused");
    };
    assert_eq!(troubles[0].code, TEST_FAILED);
    let promised = state_of(&old);
    assert_eq!(served(&disk, &[&promised]), Ok(promised.clone().identity()));
    assert_eq!(closure.repository().version(), 1);
}

#[test]
fn a_server_that_is_not_installed_is_missed_at_once() {
    let disk = Disk::new(false);
    let refused = closure::init(&disk, Path::new(ROOT), Server::Apache);
    let Err(Refused::Because(troubles)) = refused else {
        panic!("it was not refused");
    };
    assert_eq!(troubles[0].code, NO_SERVER);
    assert!(disk.list(Path::new(ROOT)).unwrap().is_empty());
}

#[test]
fn a_root_that_was_not_finished_is_made_anew() {
    let (mut unfinished, mut finished) = (0, 0);
    for seed in 0..8 {
        for steps in 0.. {
            let mut random = Random::new(seed * 1000 + steps as u64 + 1);
            let disk = Disk::new(false);
            disk.left.set(steps);
            let made = closure::init(&disk, Path::new(ROOT), Server::Nginx);
            let disk = disk.cut(&mut random);
            let memory = Box::new(Memory::default());
            match Closure::on(&disk, Path::new(ROOT), memory) {
                Ok(_) => finished += 1,
                Err(refused) => {
                    assert!(made.is_err() && refused.is(NO_CLOSURE), "{refused:?}");
                    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
                    unfinished += 1;
                }
            }
            if made.is_ok() {
                break;
            }
        }
    }
    assert!(unfinished > 100 && finished > 8, "{unfinished}, {finished}");
}

#[test]
fn what_cannot_be_made_leaves_nothing_behind() {
    let disk = Disk::new(false);
    let own = Path::new("/own");
    disk.make_directory(own, 0o755).unwrap();
    // It is installed in part: its program is there, and none of its modules.
    disk.write(Path::new("/usr/sbin/apache2"), b"", 0o755)
        .unwrap();
    for root in [Path::new(ROOT), own] {
        closure::init(&disk, root, Server::Apache).unwrap_err();
        assert!(disk.list(root).unwrap().is_empty());
    }
    assert!(disk.look(Path::new(ROOT)).unwrap().is_none());
    assert!(disk.look(own).unwrap().is_some());
}

#[test]
fn what_looks_like_a_beginning_and_holds_more_is_left_alone() {
    let disk = Disk::new(false);
    let root = Path::new(ROOT);
    disk.make_directory(root, 0o755).unwrap();
    for (name, text) in [("server.new", "mine\n"), ("letter", "mine")] {
        disk.write(&root.join(name), text.as_bytes(), 0o644)
            .unwrap();
        let refused = closure::init(&disk, root, Server::Nginx).unwrap_err();
        assert!(refused.is(NO_CLOSURE), "{refused:?}");
        assert!(disk.look(&root.join(name)).unwrap().is_some());
        disk.write(&root.join("server.new"), b"", 0o644).unwrap();
    }
}
