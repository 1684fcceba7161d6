//! Whether what is on the disk and what is served is what was promised; and putting it right.
//!
//! Everything is known by its hash, or can be made again from what is asserted. What somebody changed is never edited where
//! it is: it is made again beside it, and takes its place in one step; then it is served as a new generation, and the
//! history says what had been changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hence_ledger::entry::{Nodes, Scope};
use hence_ledger::{Hash, State};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Error, Refused, Request};

use crate::closure::{self, Closure, DIRECTORIES, TOP, failed};
use crate::content::{STAGED, Trees, snapshot};
use crate::host::{Entry, EntryKind, Host};
use crate::publish::{DOWN, LIMIT, MODE, Stage};
use crate::server::{Server, apache, nginx};
use crate::settings::SAID;

/// Something is not what was promised.
pub const DRIFT: Code = Code::new("http.drift");

/// Something that is not as it was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    /// What is said about the closure itself.
    Settings,
    /// What is known about the modules of its server.
    Modules,
    /// A directory of the closure itself.
    Directory(&'static str),
    /// What is current is not what is asserted.
    Current,
    /// The file that the configuration begins with.
    Configuration,
    /// A part of the configuration.
    Part(Hash),
    /// What was staged, and what the others are made from again.
    Object(Hash),
    /// A blob as it is served.
    File(Hash),
    /// A tree as it is served.
    Tree(Hash),
}

/// What becomes of things that are closed to us.
#[derive(Clone, Copy)]
pub(crate) enum Closed {
    /// Nothing; they are only named.
    Told,
    /// They are opened.
    Opened,
}

/// What became of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repaired {
    /// All is as it was made.
    Nothing,
    /// All is as it was made, and the server runs again.
    Started,
    /// What is promised is made again.
    Published {
        /// The generation that it is now.
        generation: u64,
        /// What was not as promised.
        was: Vec<Diagnostic>,
    },
}

/// So much of what was repaired the history tells.
const TOLD: usize = 5;

/// What the history says about a repair.
fn repairs(was: &[Diagnostic]) -> String {
    let told: Vec<&str> = was.iter().take(TOLD).map(|one| &*one.message).collect();
    let told = told.join("; ");
    match was.len().saturating_sub(TOLD) {
        0 => format!("repaired: {told}"),
        more => format!("repaired: {told}; and {more} more"),
    }
}

impl Closure<'_> {
    /// All that is not as promised: in the ledger, on the disk, and in what the server answers.
    pub fn validate(&self) -> Result<Vec<Diagnostic>, Refused> {
        let closed = self.closed("", Closed::Told)?;
        if !closed.is_empty() {
            // What cannot be read cannot be judged.
            return Ok(closed);
        }
        let mut drift = Vec::new();
        for (damage, found) in self.damages()? {
            let lost = match damage {
                Damage::Object(hash) if self.found(hash)?.is_none() => self.advice(hash),
                _ => None,
            };
            let found = found.into_iter();
            drift.extend(found.map(|found| match &lost {
                Some(advice) => found.help(advice),
                None => found,
            }));
        }
        if let Err(error) = self.repository.check() {
            drift.push(Diagnostic::from(error));
        }
        drift.extend(self.certificates_differ()?);
        drift.extend(self.read_otherwise()?);
        if self.process()?.is_some() {
            let state = self.repository.state();
            let everything = State::difference(&State::default(), state);
            let site = self.site();
            let requests = self.requests(&everything, &site);
            drift.extend(self.keeps(&site, &requests));
        } else if self.is_down()? {
            let message = format!("{} is to run, and does not", self.settings.server.word());
            let down = Diagnostic::error(DOWN, message);
            drift.push(down.help("`hence http start` starts it"));
        }
        Ok(drift)
    }

    /// Where the server reads its configuration otherwise than it was meant.
    fn read_otherwise(&self) -> Result<Vec<Diagnostic>, Refused> {
        let server = self.settings.server;
        let main = self.root.join("current").join(server.main_file());
        let mut command = server.test(&self.settings.program, &self.root, &main);
        let (dump, unknown) = match server {
            Server::Apache => ("-DDUMP_VHOSTS", apache::UNKNOWN),
            Server::Nginx => ("-T", nginx::UNKNOWN),
        };
        command.push(dump.to_owned());
        let ran = self.host.run(&self.settings.as_server(command), LIMIT);
        let said = match ran.map_err(failed)?.well() {
            Ok(said) => said,
            Err(why) => {
                let message = format!("{} cannot read its configuration: {why}", server.word());
                return Ok(vec![Diagnostic::error(DRIFT, message)]);
            }
        };
        let served = match server {
            Server::Apache => apache::names_served(&said),
            Server::Nginx => nginx::names_served(&said),
        };
        let site = self.site();
        let mut drift = Vec::new();
        for endpoint in &site.endpoints {
            let names = site.names(*endpoint).into_keys();
            let mut promised: Vec<String> = names.map(|name| name.to_string()).collect();
            promised.push(unknown.to_owned());
            promised.sort();
            let got = served
                .get(&endpoint.to_string())
                .cloned()
                .unwrap_or_default();
            if got != promised {
                let (promised, got) = (promised.join(", "), got.join(", "));
                let server = server.word();
                let message =
                    format!("{server} should serve {promised} at {endpoint}, and reads {got}");
                drift.push(Diagnostic::error(DRIFT, message));
            }
        }
        Ok(drift)
    }

    /// Makes again what is not as promised, and publishes it as a new generation.
    pub fn repair(&mut self, request: &Request) -> Result<Repaired, Refused> {
        let closed = self.closed("", Closed::Opened)?;
        let mut damages = self.damages()?;
        if damages.contains_key(&Damage::Settings) {
            self.settings.write(self.host, &self.root)?;
        }
        if damages.contains_key(&Damage::Modules) {
            self.modules = self.settings.learn_modules(self.host)?;
            self.settings
                .write_modules(self.host, &self.root, &self.modules)?;
        }
        let directories: Vec<Damage> = damages
            .keys()
            .filter(|damage| matches!(damage, Damage::Directory(_)))
            .cloned()
            .collect();
        for damage in &directories {
            if let Damage::Directory(name) = damage {
                self.make_again(name)?;
            }
        }
        let trees = self.trees();
        let mut is_listed = false;
        for damage in damages.keys() {
            if let Damage::Object(hash) = damage
                && trees.contains(hash)
            {
                is_listed |= self.restage(*hash)?;
            }
        }
        if is_listed || !directories.is_empty() {
            // What was in them is looked at again.
            damages.extend(self.damages()?);
        }
        let certificates = self.repair_certificates()?;
        let mut lost = Vec::new();
        for damage in damages.keys() {
            let is_again = match damage {
                Damage::Object(hash) => self.restage(*hash)?,
                Damage::File(hash) => {
                    let shown = self.content.show_file_again(*hash);
                    shown.map_err(failed)?.is_some()
                }
                Damage::Tree(hash) => {
                    let shown = self.content.show_tree_again(*hash);
                    shown.map_err(failed)?.is_some()
                }
                Damage::Settings
                | Damage::Modules
                | Damage::Directory(_)
                | Damage::Current
                | Damage::Configuration
                | Damage::Part(_) => true,
            };
            if !is_again {
                lost.push(damage.clone());
            }
        }
        damages.retain(|damage, _| !lost.contains(damage));
        if closed.is_empty() && damages.is_empty() && certificates.is_empty() {
            if !self.is_down()? {
                return Ok(Repaired::Nothing);
            }
            self.recover()?;
            return Ok(Repaired::Started);
        }
        self.stage().write_parts_again(&self.site())?;
        let was = closed
            .into_iter()
            .chain(certificates)
            .chain(damages.into_values().flatten());
        let was: Vec<Diagnostic> = was.collect();
        let version = self.repository.version();
        let generation = version + 1;
        let stage = self.stage();
        if let Err(trouble) = stage.write(&self.site(), self.repository.state(), generation)? {
            return Err((*trouble).into());
        }
        if let Some(trouble) = stage.test(generation)? {
            return Err(trouble.into());
        }
        let request = Request {
            message: repairs(&was),
            if_version: Some(version),
            ..request.clone()
        };
        // Nothing else is asserted than before, so it is what was asserted that is made to be served once more.
        self.repository.activate(
            &request,
            version,
            Scope::Everything,
            Nodes::Only(BTreeSet::new()),
            BTreeSet::new(),
        )?;
        self.stage().switch(generation)?;
        match self.process()? {
            Some(process) => {
                let told = self.reload(process, generation, &self.site());
                told.map_err(|trouble| Refused::Failed(Error::from(*trouble)))?;
            }
            None if self.is_down()? => self.recover()?,
            None => {}
        }
        Ok(Repaired::Published { generation, was })
    }

    /// What is below a directory of the root and closed to us, who are not root: its owner could not look at it, and may open
    /// it again. What the server and the ledger write themselves is theirs.
    pub(crate) fn closed(&self, below: &str, then: Closed) -> Result<Vec<Diagnostic>, Refused> {
        let mut found = Vec::new();
        let mut pending = match self.host.is_privileged() {
            true => Vec::new(),
            false => vec![closure::below(&self.root, below)],
        };
        let theirs = ["ledger", "run", "log"].map(|name| self.root.join(name));
        while let Some(path) = pending.pop() {
            let Some(entry) = self.host.look(&path).map_err(failed)? else {
                continue;
            };
            let needed = match entry.kind {
                EntryKind::File => 0o400,
                EntryKind::Directory => 0o700,
                EntryKind::Link | EntryKind::Other => 0,
            };
            if entry.mode & needed != needed {
                let (name, mode) = (path.display(), entry.mode);
                let message = format!("{name} has the mode {mode:o}, and cannot be looked at");
                found.push(Diagnostic::error(DRIFT, message));
                match then {
                    Closed::Told => continue,
                    Closed::Opened => self.host.allow(&path, mode | needed).map_err(failed)?,
                }
            }
            if entry.kind == EntryKind::Directory {
                let inside = self.host.list(&path).map_err(failed)?;
                let inside = inside.into_iter().map(|entry| path.join(entry.name));
                pending.extend(inside.filter(|path| !theirs.contains(path)));
            }
        }
        Ok(found)
    }

    /// A directory of the closure as it was made; what it had no business to hold is gone.
    fn make_again(&self, name: &str) -> Result<(), Refused> {
        let path = closure::below(&self.root, name);
        let there = self.host.look(&path).map_err(failed)?;
        if there.is_some_and(|entry| entry.kind != EntryKind::Directory) {
            self.host.remove(&path).map_err(failed)?;
        }
        let user = self.settings.user.as_ref();
        let known = DIRECTORIES.iter().find(|(known, _)| *known == name);
        let mode = known.map_or(TOP, |(_, mode)| *mode);
        closure::make_directory(self.host, &self.root, name, mode, user)?;
        self.host.allow(&path, mode).map_err(failed)?;
        if name == "none" {
            for entry in self.host.list(&path).map_err(failed)? {
                self.host.remove(&path.join(entry.name)).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// What was staged, from what is served of it; whether that is there.
    fn restage(&self, hash: Hash) -> Result<bool, Refused> {
        let Some(bytes) = self.found(hash)? else {
            return Ok(false);
        };
        let object = self.content.object(hash);
        self.host.remove(&object).map_err(failed)?;
        self.content.stage_bytes(&bytes).map_err(failed)?;
        Ok(true)
    }

    /// What has this hash, wherever it is: perhaps only who may do what with it was changed.
    fn found(&self, hash: Hash) -> Result<Option<Vec<u8>>, Refused> {
        let mut found = self.content.bytes(hash).map_err(failed)?;
        let shown = self.host.read(&self.content.file(hash)).map_err(failed)?;
        found = found.or(shown.filter(|bytes| Hash::of(bytes) == hash));
        for tree in self.trees() {
            if found.is_some() {
                break;
            }
            let directory = self.content.directory(tree);
            if tree == hash {
                // Its list is what is in it, if nothing there was changed.
                let mut keep = |other, bytes: &[u8]| {
                    if other == hash {
                        found = Some(bytes.to_vec());
                    }
                    Ok(())
                };
                // What cannot be read is not what it was.
                let _ = snapshot(self.host, &directory, &mut keep);
            }
            let Some(list) = self.content.tree(tree) else {
                continue;
            };
            for (path, _) in list.files().filter(|(_, file)| file.hash == hash) {
                let bytes = self.host.read(&directory.join(path)).map_err(failed)?;
                found = found.or(bytes.filter(|bytes| Hash::of(bytes) == hash));
            }
        }
        Ok(found)
    }

    /// What brings back content that is nowhere any more.
    fn advice(&self, hash: Hash) -> Option<String> {
        let site = self.site();
        let mut all = site.hosts.iter().flat_map(|(name, host)| {
            let files = host.files.iter().map(|(url, blob)| (url, *blob));
            let indexes = host.indexes.iter().map(|(url, (blob, _))| (url, *blob));
            let trees = host.trees.iter().map(|(url, tree)| (url, *tree));
            let all = files.chain(indexes).chain(trees);
            all.map(move |(url, content)| (name, url, content))
        });
        let holds = |content: Hash| {
            let list = self.content.tree(content);
            content == hash
                || list.is_some_and(|list| list.files().any(|(_, file)| file.hash == hash))
        };
        let (name, url, _) = all.find(|(_, _, content)| holds(*content))?;
        Some(format!(
            "it is nowhere here any more: `hence http post` it to http://{name}{url} again"
        ))
    }

    /// The snapshots that are asserted.
    fn trees(&self) -> BTreeSet<Hash> {
        let site = self.site();
        let trees = site.hosts.values().flat_map(|host| host.trees.values());
        trees.copied().collect()
    }

    fn damages(&self) -> Result<BTreeMap<Damage, Vec<Diagnostic>>, Refused> {
        let mut damages: BTreeMap<Damage, Vec<Diagnostic>> = BTreeMap::new();
        let mut found = |damage: Damage, message: String| {
            damages
                .entry(damage)
                .or_default()
                .push(Diagnostic::error(DRIFT, message));
        };
        let ours = self.ours();
        let said = self.root.join("server");
        let [first, since] = self.settings.texts();
        let is_first = self
            .host
            .read(&said)
            .is_ok_and(|text| text == Some(first.as_bytes().to_vec()));
        let promised = Hash::of(if is_first { &first } else { &since }.as_bytes());
        if let Some(wrong) = differs(self.host, &said, promised, SAID, ours)? {
            found(Damage::Settings, wrong);
        }
        let modules = self.settings.learn_modules(self.host)?;
        if self.settings.server == Server::Apache {
            let promised = Hash::of(modules.to_text().as_bytes());
            let known = self.root.join("modules");
            if let Some(wrong) = differs(self.host, &known, promised, SAID, ours)? {
                found(Damage::Modules, wrong);
            }
        }
        for (name, mode) in [("", TOP)].into_iter().chain(DIRECTORIES) {
            let path = closure::below(&self.root, name);
            // What the server writes itself is its own.
            let owner = ours.filter(|_| !matches!(name, "run" | "log"));
            if let Some(wrong) = misused(self.host, &path, mode, owner)? {
                found(Damage::Directory(name), wrong);
            }
        }
        let none = self.root.join("none");
        for entry in self.host.list(&none).unwrap_or_default() {
            let path = none.join(entry.name);
            found(
                Damage::Directory("none"),
                format!("{} is not asserted", path.display()),
            );
        }
        let current = self.current()?.unwrap_or(0);
        let promised = self.repository.state().clone().identity();
        if self.identity_of(current)? != Some(promised) {
            found(
                Damage::Current,
                format!("generation {current} is current, and is not what is asserted"),
            );
        }
        let site = self.site();
        let stage = Stage {
            modules: &modules,
            ..self.stage()
        };
        let configuration = stage.configuration(&site, current);
        let configuration = configuration.map_err(|trouble| Refused::from(*trouble))?;
        let directory = self.root.join(format!("generation/{current}"));
        let main = directory.join(self.settings.server.main_file());
        let promised = Hash::of(configuration.main.as_bytes());
        if let Some(wrong) = differs(self.host, &main, promised, MODE, ours)? {
            found(Damage::Configuration, wrong);
        }
        if let Some(wrong) = misused(self.host, &directory, 0o755, ours)? {
            found(Damage::Configuration, wrong);
        }
        let parts = configuration.parts.iter().map(|(hash, _)| *hash);
        for hash in parts.collect::<BTreeSet<_>>() {
            let path = self.root.join("part").join(hash.to_string());
            if let Some(wrong) = differs(self.host, &path, hash, MODE, ours)? {
                found(Damage::Part(hash), wrong);
            }
        }
        let mut objects = BTreeSet::new();
        let blobs = site.hosts.values().flat_map(|host| {
            host.files
                .values()
                .chain(host.indexes.values().map(|(blob, _)| blob))
        });
        for blob in blobs.collect::<BTreeSet<_>>() {
            objects.insert(*blob);
            if let Some(wrong) = differs(self.host, &self.content.file(*blob), *blob, MODE, ours)? {
                found(Damage::File(*blob), wrong);
            }
        }
        let trees = site.hosts.values().flat_map(|host| host.trees.values());
        for hash in trees.collect::<BTreeSet<_>>() {
            objects.insert(*hash);
            let Some(tree) = self.content.tree(*hash) else {
                continue;
            };
            let top = self.content.directory(*hash);
            let mut there = BTreeSet::new();
            below(self.host, &top, "", &mut there)?;
            for path in std::iter::once("").chain(tree.directories()) {
                there.remove(path);
                if let Some(wrong) = misused(self.host, &top.join(path), 0o755, ours)? {
                    found(Damage::Tree(*hash), wrong);
                }
            }
            for (path, file) in tree.files() {
                objects.insert(file.hash);
                there.remove(path);
                if let Some(wrong) = differs(self.host, &top.join(path), file.hash, MODE, ours)? {
                    found(Damage::Tree(*hash), wrong);
                }
            }
            for path in there {
                let path = top.join(path);
                found(
                    Damage::Tree(*hash),
                    format!("{} is not asserted", path.display()),
                );
            }
        }
        for hash in objects {
            let path = self.content.object(hash);
            if let Some(wrong) = differs(self.host, &path, hash, STAGED, ours)? {
                found(Damage::Object(hash), wrong);
            }
        }
        Ok(damages)
    }

    /// Whose everything is that the server may not write, if that is known: a closure that root made is root's.
    fn ours(&self) -> Option<u32> {
        self.settings.user.as_ref().map(|_| 0)
    }
}

/// What is wrong with a file that should hold what has this hash, and be nobody else's to change.
fn differs(
    host: &dyn Host,
    path: &Path,
    hash: Hash,
    mode: u32,
    owner: Option<u32>,
) -> Result<Option<String>, Refused> {
    let name = path.display();
    let Some(entry) = host.look(path).map_err(failed)? else {
        return Ok(Some(format!("{name} is gone")));
    };
    if entry.kind != EntryKind::File {
        return Ok(Some(format!("{name} is no file any more")));
    }
    let bytes = host.read(path).map_err(failed)?;
    if bytes.is_none_or(|bytes| Hash::of(&bytes) != hash) {
        return Ok(Some(format!("{name} was changed")));
    }
    Ok(misuse(path, &entry, mode, owner))
}

/// What is wrong with a directory that should be there, and nobody else's to change.
fn misused(
    host: &dyn Host,
    path: &Path,
    mode: u32,
    owner: Option<u32>,
) -> Result<Option<String>, Refused> {
    let name = path.display();
    Ok(match host.look(path).map_err(failed)? {
        None => Some(format!("{name} is gone")),
        Some(entry) if entry.kind != EntryKind::Directory => {
            Some(format!("{name} is no directory any more"))
        }
        Some(entry) => misuse(path, &entry, mode, owner),
    })
}

/// Who may do with something what they should not.
pub(crate) fn misuse(path: &Path, entry: &Entry, mode: u32, owner: Option<u32>) -> Option<String> {
    let name = path.display();
    let is = entry.mode;
    match owner {
        _ if is != mode => Some(format!("{name} has the mode {is:o}, and not {mode:o}")),
        Some(owner) if entry.owner != owner => Some(format!(
            "{name} belongs to user {}, and not to {owner}",
            entry.owner
        )),
        _ => None,
    }
}

/// All that is below a directory, by its path. What a link leads to is not below it.
fn below(
    host: &dyn Host,
    top: &Path,
    path: &str,
    names: &mut BTreeSet<String>,
) -> Result<(), Refused> {
    let directory = top.join(path);
    let entry = host.look(&directory).map_err(failed)?;
    if entry.is_none_or(|entry| entry.kind != EntryKind::Directory) {
        return Ok(());
    }
    for entry in host.list(&directory).map_err(failed)? {
        let name = match path {
            "" => entry.name,
            path => format!("{path}/{}", entry.name),
        };
        if entry.kind == EntryKind::Directory {
            below(host, top, &name, names)?;
        }
        names.insert(name);
    }
    Ok(())
}
