//! Makes a server run what is asserted, or leaves it as it was.
//!
//! ```text
//! stage   write the new generation beside the old       nothing served changes
//! check   what only we can know, then the server's test nothing served changes
//!         now the ledger has a new version: what it says is promised
//! switch  one rename                                    the one visible step
//! settle  reload, ask; if a promise is broken, switch back, and say so in the ledger
//! ```
//!
//! If the power is cut, the ledger says what is to be served, and [`Closure::recover`] makes it so.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hence_ledger::entry::Origin;
use hence_ledger::rights::Rights;
use hence_ledger::{Change, Hash, State};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Done, Error, Refused, Request, Rules};

use crate::address::{Endpoint, Name, Url};
use crate::certificate::Certificates;
use crate::checks::{Look, News, Occasion, in_vain};
use crate::closure::{Closure, Now, Published, failed};
use crate::content::{Content, NO_ROOM, Trees};
use crate::host::{EntryKind, Host, Signal, Wanted};
use crate::model::{self, Body, behaviour};
use crate::modules::Modules;
use crate::probe::{self, Probe};
use crate::server::{Configuration, Server, Setting, UNKNOWN, apache};
use crate::settings::Settings;
use crate::site::Site;
use crate::words::{self, Aspect, Said, Subject, Upstream, Words};

/// Content that is asserted is not staged.
pub const MISSING: Code = Code::new("http.missing-content");
/// Two hosts want one name.
pub const NAME_TAKEN: Code = Code::new("http.name-taken");
/// Somebody else listens at an endpoint.
pub const ENDPOINT_TAKEN: Code = Code::new("http.endpoint-taken");
/// The server's own test failed.
pub const TEST_FAILED: Code = Code::new("http.test-failed");
/// The server does not answer as promised.
pub const BROKEN_PROMISE: Code = Code::new("http.broken-promise");
/// The server does not run.
pub const DOWN: Code = Code::new("http.down");

/// How long the server may take for one step.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked at.
const INTERVAL: Duration = Duration::from_millis(4);
/// So often, and after so long, a server is asked again before it is said to break a promise.
const AGAIN: usize = 3;
const MOMENT: Duration = Duration::from_millis(100);
/// So long old processes of Apache are waited for: those that are idle end at once, the others when they have answered.
const GRACE: Duration = Duration::from_millis(500);
/// So many lines at the end of a log are looked at.
const LAST: usize = 12;
/// So many files of a snapshot are asked for.
const SAMPLE: usize = 3;

/// So much room there must be on the disk, or nothing is switched to: Apache ends when it is told of a generation and cannot
/// write down its number again.
const ROOM: u64 = 1 << 20;

/// What is written is for nobody to change.
pub(crate) const MODE: u32 = 0o444;

/// Where generations are written.
pub(crate) struct Stage<'s> {
    pub host: &'s dyn Host,
    pub root: &'s Path,
    pub settings: &'s Settings,
    pub modules: &'s Modules,
    pub content: &'s Content<'s>,
    pub certificates: &'s Certificates<'s>,
}

impl Stage<'_> {
    /// Writes the generation for a state, and has the server test it.
    pub fn prepare(
        &self,
        state: &State,
        changes: &[Change],
        old: &Site,
        generation: u64,
        occasion: Occasion<'_>,
    ) -> Result<Vec<Diagnostic>, Refused> {
        let site = Site::of(state);
        let mut troubles = clashes(&site);
        if let Occasion::New(_) = occasion {
            let news = News {
                state,
                site: &site,
                old,
                changes,
            };
            troubles.extend(in_vain(&news, self.content));
        }
        troubles.extend(self.no_room(&site, changes)?);
        if troubles.iter().any(Diagnostic::is_error) {
            return Ok(troubles);
        }
        for endpoint in site.endpoints.difference(&old.endpoints) {
            troubles.extend(taken(self.host, *endpoint));
        }
        let look = Look {
            content: self.content,
            certificates: self.certificates,
            now: self.host.now(),
            occasion,
        };
        troubles.extend(look.check(&site, changes).map_err(failed)?);
        troubles.extend(self.show(&site, changes)?);
        if troubles.iter().any(Diagnostic::is_error) {
            return Ok(troubles);
        }
        match self.write(&site, state, generation)? {
            Ok(()) => troubles.extend(self.test(generation)?),
            Err(trouble) => troubles.push(*trouble),
        }
        Ok(troubles)
    }

    /// The closed base state: a generation that serves nothing, before anything is asserted.
    pub fn base(&self) -> Result<(), Refused> {
        if let Err(trouble) = self.write(&Site::default(), &State::default(), 0)? {
            return Err((*trouble).into());
        }
        self.switch(0)
    }

    /// The one visible step.
    pub fn switch(&self, generation: u64) -> Result<(), Refused> {
        let current = self.root.join("current");
        let new = current.with_extension("new");
        let to = PathBuf::from(format!("generation/{generation}"));
        self.host.make_link(&new, &to).map_err(failed)?;
        let there = self.host.look(&current).map_err(failed)?;
        if there.is_some_and(|entry| entry.kind == EntryKind::Directory) {
            // Somebody put it there, and it is in the way.
            self.host.remove(&current).map_err(failed)?;
        }
        self.host.rename(&new, &current).map_err(failed)?;
        let root = self.root.to_owned();
        self.host.synchronise(&[root]).map_err(failed)
    }

    /// That there is no room to put content where the server reads it.
    fn no_room(&self, site: &Site, changes: &[Change]) -> Result<Option<Diagnostic>, Refused> {
        let mut needed = Vec::new();
        for name in touched(changes) {
            if let Some(host) = site.hosts.get(&name) {
                needed.push((self.content.unseen(host).map_err(failed)?, name));
            }
        }
        let all: u64 = needed.iter().map(|(bytes, _)| bytes).sum();
        let room = self.content.room().map_err(failed)?;
        let most = needed.into_iter().max().filter(|_| all > room);
        Ok(most.map(|(_, name)| {
            let message =
                format!("{all} bytes of content are to be served, and there is room for {room}");
            let trouble = Diagnostic::error(NO_ROOM, message);
            let trouble = trouble.path(Subject::Host(name).to_string());
            trouble.help("make room on the disk of the closure")
        }))
    }

    /// Puts content where the server reads it.
    fn show(&self, site: &Site, changes: &[Change]) -> Result<Vec<Diagnostic>, Refused> {
        let mut troubles = Vec::new();
        if !site.secured.is_empty() {
            self.certificates.show_unknown().map_err(failed)?;
        }
        for name in touched(changes) {
            let Some(host) = site.hosts.get(&name) else {
                continue;
            };
            for (endpoint, hash) in &host.certs {
                if self.certificates.show(*hash).map_err(failed)?.is_none() {
                    let subject = Subject::Cert(name.clone(), *endpoint);
                    let message = format!("cert:{hash} is not staged");
                    let trouble = Diagnostic::error(MISSING, message).path(subject.to_string());
                    let help = "`post cert CHAIN KEY HOST ADDRESS:PORT` stages a certificate and asserts it";
                    troubles.push(trouble.help(help));
                }
            }
            let mut missing = |aspect, url: &Url, object: String| {
                let subject = Subject::At(name.clone(), aspect, url.clone());
                let message = format!("{object} is not staged");
                let trouble = Diagnostic::error(MISSING, message).path(subject.to_string());
                troubles.push(trouble.help("`post` stages content and asserts it"));
            };
            for (url, hash) in &host.trees {
                if self.content.show_tree(*hash).map_err(failed)?.is_none() {
                    missing(Aspect::Tree, url, format!("tree:{hash}"));
                }
            }
            let files = host
                .files
                .iter()
                .map(|(url, hash)| (Aspect::File, url, hash));
            let indexes = host
                .indexes
                .iter()
                .map(|(url, (hash, _))| (Aspect::Index, url, hash));
            for (aspect, url, hash) in files.chain(indexes) {
                if self.content.show_file(*hash).map_err(failed)?.is_none() {
                    missing(aspect, url, format!("blob:{hash}"));
                }
            }
        }
        Ok(troubles)
    }

    /// The configuration of a generation, with what it needs of Apache's modules.
    pub fn configuration(
        &self,
        site: &Site,
        generation: u64,
    ) -> Result<Configuration, Box<Diagnostic>> {
        let server = self.settings.server;
        let root = self.root.to_owned();
        let mut configuration = server.configure(site, &Setting { root, generation });
        if server == Server::Apache {
            let parts = configuration.parts.iter().map(|(_, text)| text.as_str());
            let texts = parts.chain([configuration.main.as_str()]);
            let mut main = self.modules.choose(texts, &apache::needs(site))?.join("\n");
            main.push('\n');
            main.push_str(&configuration.main);
            configuration.main = main;
        }
        Ok(configuration)
    }

    /// Writes a generation, all of it on the disk before it has its name.
    pub fn write(
        &self,
        site: &Site,
        state: &State,
        generation: u64,
    ) -> Result<Result<(), Box<Diagnostic>>, Refused> {
        let room = self.host.room(self.root).map_err(failed)?;
        if room < ROOM {
            let message = format!(
                "there is room for {room} bytes on the disk, and no server could go on with that"
            );
            let trouble = Diagnostic::error(NO_ROOM, message);
            let help = "make room on the disk of the closure; what is served stays as it is";
            return Ok(Err(Box::new(trouble.help(help))));
        }
        let configuration = match self.configuration(site, generation) {
            Ok(configuration) => configuration,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let mut written = Vec::new();
        let mut renamed = Vec::new();
        let parts: BTreeMap<Hash, String> = configuration.parts.into_iter().collect();
        for (hash, text) in parts {
            let path = self.root.join("part").join(hash.to_string());
            if self.host.look(&path).map_err(failed)?.is_none() {
                let new = path.with_extension("new");
                self.host
                    .write(&new, text.as_bytes(), MODE)
                    .map_err(failed)?;
                written.push(new.clone());
                renamed.push((new, path));
            }
        }
        let path = self.generation(generation);
        let new = path.with_extension("new");
        self.host.remove(&new).map_err(failed)?;
        self.host.remove(&path).map_err(failed)?;
        self.host.make_directory(&new, 0o755).map_err(failed)?;
        let identity = state.clone().identity().to_string();
        let main = self.settings.server.main_file();
        for (name, text) in [(main, &configuration.main), ("identity", &identity)] {
            let file = new.join(name);
            self.host
                .write(&file, text.as_bytes(), MODE)
                .map_err(failed)?;
            written.push(file);
        }
        written.push(new.clone());
        renamed.push((new, path));
        self.host.synchronise(&written).map_err(failed)?;
        for (from, to) in renamed {
            self.host.rename(&from, &to).map_err(failed)?;
        }
        let directories = [self.root.join("part"), self.root.join("generation")];
        self.host.synchronise(&directories).map_err(failed)?;
        Ok(Ok(()))
    }

    /// Writes all parts of a configuration that are not what their names say, each instead of what is there.
    pub fn write_parts_again(&self, site: &Site) -> Result<(), Refused> {
        let configuration = self.configuration(site, 0);
        let configuration = configuration.map_err(|trouble| Refused::from(*trouble))?;
        for (hash, text) in configuration.parts {
            let path = self.root.join("part").join(hash.to_string());
            let there = self.host.read(&path).map_err(failed)?;
            let mode = self.host.look(&path).map_err(failed)?;
            let is_ours = mode.is_some_and(|entry| entry.mode == MODE);
            if is_ours && there.is_some_and(|bytes| Hash::of(&bytes) == hash) {
                continue;
            }
            let new = path.with_extension("new");
            self.host
                .write(&new, text.as_bytes(), MODE)
                .map_err(failed)?;
            self.host
                .synchronise(std::slice::from_ref(&new))
                .map_err(failed)?;
            self.host.rename(&new, &path).map_err(failed)?;
        }
        let parts = self.root.join("part");
        self.host.synchronise(&[parts]).map_err(failed)
    }

    /// What the server's own test says against a generation.
    pub fn test(&self, generation: u64) -> Result<Option<Diagnostic>, Refused> {
        let server = self.settings.server;
        let main = self.generation(generation).join(server.main_file());
        let command = server.test(&self.settings.program, self.root, &main);
        let ran = self
            .host
            .run(&self.settings.as_server(command), LIMIT)
            .map_err(failed)?;
        Ok(ran.well().err().map(|said| {
            let message = format!("{} refuses the new configuration: {said}", server.word());
            Diagnostic::error(TEST_FAILED, message)
        }))
    }

    fn generation(&self, generation: u64) -> PathBuf {
        self.root.join("generation").join(generation.to_string())
    }
}

/// That there is nowhere to listen for a server that is to be started.
pub fn nowhere() -> Diagnostic {
    let trouble = Diagnostic::error(DOWN, "the server would listen nowhere");
    trouble.help("`hence http assert listen 127.0.0.1:8080` says where")
}

/// What cannot be served together: names that two hosts want, and endpoints that are part of others.
pub(crate) fn clashes(site: &Site) -> Vec<Diagnostic> {
    let mut troubles = names_taken(site);
    troubles.extend(endpoints_within(site));
    troubles
}

/// Endpoints at which the server would listen already, as it listens at all addresses with their port.
fn endpoints_within(site: &Site) -> impl Iterator<Item = Diagnostic> {
    site.endpoints.iter().filter_map(|endpoint| {
        let is_wider = |wider: &&Endpoint| {
            let is_all = wider.ip().is_unspecified() && !endpoint.ip().is_unspecified();
            is_all && wider.port() == endpoint.port() && wider.is_ipv4() == endpoint.is_ipv4()
        };
        let wider = site.endpoints.iter().find(is_wider)?;
        let message = format!("{endpoint} is part of {wider}, and cannot be listened at twice");
        let trouble = Diagnostic::error(ENDPOINT_TAKEN, message);
        let trouble = trouble.path(Subject::Listen(*endpoint).to_string());
        Some(trouble.help(format!(
            "`retract listen {endpoint}`, or `retract listen {wider}`"
        )))
    })
}

/// That somebody else listens at an endpoint, or nobody can.
fn taken(host: &dyn Host, endpoint: Endpoint) -> Option<Diagnostic> {
    let error = host.try_endpoint(endpoint).err()?;
    let message = format!("the server could not listen at {endpoint}: {error}");
    let trouble = Diagnostic::error(ENDPOINT_TAKEN, message);
    Some(trouble.path(Subject::Listen(endpoint).to_string()))
}

/// Names that two hosts want.
fn names_taken(site: &Site) -> Vec<Diagnostic> {
    let mut owners: BTreeMap<&Name, &Name> = site.hosts.keys().map(|name| (name, name)).collect();
    let mut troubles = Vec::new();
    for (name, host) in &site.hosts {
        for alias in &host.aliases {
            let owner = *owners.entry(alias).or_insert(name);
            if owner != name {
                let subject = Subject::Alias(name.clone(), alias.clone());
                let message = format!("`{alias}` is a name of `{owner}` already");
                let trouble = Diagnostic::error(NAME_TAKEN, message).path(subject.to_string());
                let other = match owner == alias {
                    true => format!("`retract host {alias}`"),
                    false => format!("`retract alias {owner} {alias}`"),
                };
                troubles.push(trouble.help(format!("{other} frees it")));
            }
        }
    }
    troubles
}

/// The hosts about which something changed.
fn touched(changes: &[Change]) -> BTreeSet<Name> {
    let subjects = changes.iter().filter_map(|change| Subject::of(&change.key));
    subjects
        .filter_map(|subject| subject.host().cloned())
        .collect()
}

impl Closure<'_> {
    pub(crate) fn stage(&self) -> Stage<'_> {
        Stage {
            host: self.host,
            root: &self.root,
            settings: &self.settings,
            modules: &self.modules,
            content: &self.content,
            certificates: &self.certificates,
        }
    }

    /// Switches to a generation that is promised already, and back if it does not keep its promises.
    pub(crate) fn publish(
        &mut self,
        before: u64,
        done: Done,
        warnings: Vec<Diagnostic>,
    ) -> Result<Published, Refused> {
        let generation = done.version;
        let was = self.current()?;
        self.stage().switch(generation)?;
        let done = done.admitted;
        let site = self.site();
        if site.endpoints.is_empty() {
            self.end()?;
            return Ok(Published::New {
                generation,
                now: Now::Silent,
                done,
                warnings,
            });
        }
        let ready = match self.process()? {
            Some(process) => self.reload(process, generation, &site),
            None if self.is_wanted()? => self.launch(generation, &site),
            None => {
                if self.was_killed()? {
                    self.bury();
                }
                return Ok(Published::New {
                    generation,
                    now: Now::Stopped,
                    done,
                    warnings,
                });
            }
        };
        let mut why = Vec::new();
        let mut probes = 0;
        match ready {
            Ok(()) => {
                let requests = self.requests(&done.changes, &site);
                probes = requests.len();
                why = self.keeps(&site, &requests);
                // An old process may have accepted one more request; what is so a moment later is so.
                for _ in 0..AGAIN {
                    if why.is_empty() {
                        break;
                    }
                    self.host.wait(MOMENT);
                    why = self.keeps(&site, &requests);
                }
            }
            Err(trouble) => why.push(*trouble),
        }
        if why.is_empty() {
            return Ok(Published::New {
                generation,
                now: Now::Served { probes },
                done,
                warnings,
            });
        }
        self.roll_back(before, was.unwrap_or(0), generation, &why)?;
        Ok(Published::RolledBack {
            failed: generation,
            why,
        })
    }

    fn roll_back(
        &mut self,
        version: u64,
        generation: u64,
        failing: u64,
        why: &[Diagnostic],
    ) -> Result<(), Refused> {
        self.stage().switch(generation)?;
        let words: Vec<&str> = why.iter().map(|trouble| trouble.message.as_str()).collect();
        let request = Request {
            author: "closure".to_owned(),
            owner: "closure".to_owned(),
            time: self.host.now(),
            message: format!(
                "generation {failing} broke its promises: {}",
                words.join("; ")
            ),
            origin: Origin::Command(format!("rollback {version}")),
            objects: Vec::new(),
            if_version: None,
        };
        let mut rules = Rules {
            rights: &Rights::default(),
            vocabulary: &Words,
            check: &mut |_, _| Vec::new(),
        };
        self.repository.restore(&request, version, &mut rules)?;
        let site = self.site();
        match self.process()? {
            _ if site.endpoints.is_empty() => self.end()?,
            Some(process) => {
                if self.reload(process, generation, &site).is_err() {
                    self.stop()?;
                    self.start()?;
                }
            }
            None => self.start()?,
        }
        Ok(())
    }

    /// Tells a running server that its configuration is another one, and waits until nothing else answers.
    pub(crate) fn reload(
        &self,
        process: u32,
        generation: u64,
        site: &Site,
    ) -> Result<(), Box<Diagnostic>> {
        let server = self.settings.server;
        let workers = self.host.children(process);
        let told = self.host.signal(process, server.reload());
        if !told.is_ok_and(|told| told) {
            let message = format!("{} does not run any more", server.word());
            return Err(Diagnostic::error(DOWN, message).into());
        }
        self.await_generation(generation, site)?;
        if server == Server::Apache {
            // One that is idle may answer once more before it hears of it.
            let limit = self.host.now() + GRACE.as_millis() as u64;
            let is_there = |worker: &u32| self.host.process(*worker).is_some();
            while workers.iter().any(is_there) && self.host.now() < limit {
                self.host.wait(INTERVAL);
            }
        }
        if server == Server::Nginx {
            // Until they have stopped listening, the old ones answer, too.
            let listens = |worker: &u32| {
                let line = self.host.process(*worker);
                line.is_some_and(|line| {
                    line.contains("worker process") && !line.contains("shutting down")
                })
            };
            let limit = self.host.now() + LIMIT.as_millis() as u64;
            while workers.iter().any(listens) {
                if self.host.now() > limit {
                    let message = "the old processes of nginx do not stop listening";
                    return Err(Diagnostic::error(DOWN, message).into());
                }
                self.host.wait(INTERVAL);
            }
        }
        Ok(())
    }

    /// Waits until a generation answers at all endpoints.
    fn await_generation(&self, generation: u64, site: &Site) -> Result<(), Box<Diagnostic>> {
        let limit = self.host.now() + LIMIT.as_millis() as u64;
        for endpoint in &site.endpoints {
            loop {
                let answer = self.ask_nobody(*endpoint, site);
                if answer
                    .as_ref()
                    .is_ok_and(|answer| answer.generation() == Some(generation))
                {
                    break;
                }
                let is_gone = !matches!(self.process(), Ok(Some(_)));
                if is_gone || self.host.now() > limit {
                    let said = match answer {
                        Ok(_) => "an older generation still answers".to_owned(),
                        Err(error) => error.to_string(),
                    };
                    let log = self.last_words();
                    let message = format!(
                        "generation {generation} does not answer at {endpoint}: {said}{log}"
                    );
                    return Err(Diagnostic::error(DOWN, message).into());
                }
                self.host.wait(INTERVAL);
            }
        }
        Ok(())
    }

    /// What an endpoint answers to who means no host that is served.
    fn ask_nobody(&self, endpoint: Endpoint, site: &Site) -> io::Result<probe::Response> {
        match site.secured.contains(&endpoint) {
            true => {
                let named = Some(UNKNOWN);
                let asked =
                    probe::ask_secured(self.host, endpoint, named, UNKNOWN, "/", Wanted::Whole);
                asked.map(|(_, response)| response)
            }
            false => probe::ask(self.host, endpoint, UNKNOWN, "/"),
        }
    }

    /// What the server said last, if it said anything.
    fn last_words(&self) -> String {
        let log = self.host.read(&self.root.join("log/error.log"));
        let log = log.ok().flatten().unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let last: Vec<&str> = log.lines().rev().take(LAST).collect();
        // What came first is why the rest came.
        let grave = last.iter().rev().find(|line| line.contains("emerg]"));
        match grave.or(last.first()) {
            Some(line) => format!("; its log says: {line}"),
            None => String::new(),
        }
    }

    /// The requests whose answers a change may touch.
    pub fn requests(&self, changes: &[Change], new: &Site) -> BTreeSet<Probe> {
        let mut requests = BTreeSet::new();
        let mut urls: BTreeSet<(Name, Url)> = BTreeSet::new();
        for change in changes {
            let Some(subject) = Subject::of(&change.key) else {
                continue;
            };
            match subject {
                Subject::Listen(endpoint) | Subject::Default(endpoint)
                    if new.secured.contains(&endpoint) =>
                {
                    let default = new.defaults.get(&endpoint).cloned();
                    let host = default.or_else(|| Name::read(UNKNOWN).ok());
                    requests.extend(host.map(|host| Probe {
                        named: None,
                        ..Probe::new(endpoint, host, "/")
                    }));
                }
                Subject::Default(_) | Subject::Names => {}
                Subject::Feature(_) => {
                    for (name, host) in new.hosts.iter().take(SAMPLE) {
                        let own = host.indexes.keys().take(1).chain(host.files.keys().take(1));
                        let trees = host.trees.iter().take(1);
                        let below = trees.flat_map(|(url, tree)| self.sample(*tree, url));
                        let own = own.cloned().chain(below);
                        urls.extend(own.map(|url| (name.clone(), url)));
                    }
                }
                Subject::Listen(_) => {
                    urls.extend(
                        new.hosts
                            .keys()
                            .take(SAMPLE)
                            .map(|name| (name.clone(), Url::root())),
                    );
                }
                Subject::Host(name) | Subject::Cert(name, _) | Subject::Hold(name) => {
                    urls.insert((name, Url::root()));
                }
                Subject::Alias(_, alias) => drop(urls.insert((alias, Url::root()))),
                Subject::At(name, _, url) => {
                    let values = [&change.before, &change.after];
                    for assertion in values.into_iter().flatten() {
                        if let Some((_, said)) = words::read(&change.key, &assertion.value) {
                            let more = self.answered(&said, &url).into_iter();
                            urls.extend(more.map(|url| (name.clone(), url)));
                        }
                    }
                    urls.extend(url.as_file().map(|url| (name.clone(), url)));
                    urls.insert((name, url));
                }
                Subject::Quota(_) | Subject::User(..) | Subject::Waive(..) | Subject::Right(..) => {
                }
            }
        }
        for endpoint in &new.endpoints {
            for (name, url) in &urls {
                requests.insert(Probe::new(*endpoint, name.clone(), url.to_string()));
            }
        }
        requests
    }

    /// More URLs for which an assertion answers: some of a snapshot, or the one by which another server is tried.
    fn answered(&self, said: &Said, url: &Url) -> Vec<Url> {
        match said {
            Said::Tree(tree) => self.sample(*tree, url),
            Said::Proxy(Upstream {
                probe: Some(probe), ..
            }) => {
                let below = format!("{url}{}", &probe.to_string()[1..]);
                Url::read(&below).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Some URLs of a snapshot: the first, the last, and one between.
    fn sample(&self, tree: Hash, below: &Url) -> Vec<Url> {
        let Some(tree) = self.content.tree(tree) else {
            return Vec::new();
        };
        let paths: Vec<&str> = tree.files().map(|(path, _)| path).collect();
        let last = paths.len().saturating_sub(1);
        let some = [0, last / 2, last]
            .into_iter()
            .filter_map(|at| paths.get(at));
        let urls = some.map(|path| format!("{below}{}", crate::address::encode(path)));
        urls.filter_map(|url| Url::read(&url).ok()).collect()
    }

    /// The promises that the server breaks.
    pub fn keeps(&self, site: &Site, requests: &BTreeSet<Probe>) -> Vec<Diagnostic> {
        let mut broken = Vec::new();
        for probe in requests {
            let (endpoint, name, path) = (probe.endpoint, &probe.host, &probe.path);
            let request = model::Request {
                endpoint,
                named: probe.named.as_ref().map(Name::as_str),
                host: name.as_str(),
                path,
                from: from(endpoint),
                user: None,
            };
            let promised = behaviour(site, &self.content, &request);
            let wrong = self.breaks(site, &request, &promised);
            if let Some(wrong) = wrong.unwrap_or_else(|error| Some(error.to_string())) {
                let scheme = site.scheme(endpoint);
                let message = format!("{scheme}://{name}{path} at {endpoint}: {wrong}");
                let mut trouble = Diagnostic::error(BROKEN_PROMISE, message);
                if let Some(by) = &promised.by {
                    trouble = trouble.path(by.to_string());
                }
                broken.push(trouble);
            }
        }
        broken
    }

    /// What is wrong with what the server shows and answers to a request; nothing if it is as promised.
    pub fn breaks(
        &self,
        site: &Site,
        request: &model::Request<'_>,
        promised: &model::Answer,
    ) -> io::Result<Option<String>> {
        let (endpoint, named) = (request.endpoint, request.named);
        let (name, path) = (request.host, request.path);
        let wanted = match promised.body {
            // What others answer may go on for ever, and nothing of it is promised.
            Body::Other(..) => Wanted::Head,
            _ => Wanted::Whole,
        };
        if !site.secured.contains(&endpoint) {
            let response = probe::ask_for(self.host, endpoint, name, path, wanted)?;
            return match probe::differs(promised, &response) {
                None => self.compresses(site, request, None, promised),
                wrong => Ok(wrong),
            };
        }
        let asked = probe::ask_secured(self.host, endpoint, named, name, path, wanted);
        let (shown, response) = asked?;
        let named = named.and_then(|named| Name::read(named).ok());
        let cert = site.shown(endpoint, named.as_ref());
        Ok(match self.certificates.is_shown(cert, &shown)? {
            true => match probe::differs(promised, &response) {
                None => self.compresses(site, request, Some(request.named), promised)?,
                wrong => wrong,
            },
            false => Some(match cert {
                Some(hash) => format!("expected cert:{hash}, another certificate is shown"),
                None => "expected a certificate that is nobody's, another one is shown".to_owned(),
            }),
        })
    }

    /// What is wrong with the same content for who can unpack it.
    fn compresses(
        &self,
        site: &Site,
        request: &model::Request<'_>,
        named: Option<Option<&str>>,
        promised: &model::Answer,
    ) -> io::Result<Option<String>> {
        let Body::Content(hash) = promised.body else {
            return Ok(None);
        };
        if !site.compresses(promised.media.as_ref()) {
            return Ok(None);
        }
        let (endpoint, host) = (request.endpoint, request.host);
        let response = probe::ask_compressed(self.host, endpoint, named, host, request.path)?;
        Ok(probe::unpacks(hash, &response))
    }

    /// The process of the server, if it runs.
    pub fn process(&self) -> Result<Option<u32>, Refused> {
        let text = self
            .host
            .read(&self.root.join("run/server.pid"))
            .map_err(failed)?;
        let process = text.and_then(|text| String::from_utf8_lossy(&text).trim().parse().ok());
        // Another process may have the number of one that has gone.
        let is_ours = |process: &u32| {
            let line = self.host.process(*process);
            line.is_some_and(|line| line.contains(&self.root.display().to_string()))
        };
        Ok(process.filter(is_ours))
    }

    /// Starts the server with the current generation, if it does not run.
    pub fn start(&mut self) -> Result<(), Refused> {
        self.host
            .write(&self.root.join("started"), b"", 0o644)
            .map_err(failed)?;
        self.host
            .synchronise(std::slice::from_ref(&self.root))
            .map_err(failed)?;
        self.recover()
    }

    /// Stops the server.
    pub fn stop(&mut self) -> Result<(), Refused> {
        self.host
            .remove(&self.root.join("started"))
            .map_err(failed)?;
        self.end()
    }

    /// Ends the server, which is to run all the same as soon as it can.
    fn end(&self) -> Result<(), Refused> {
        let Some(process) = self.process()? else {
            self.bury();
            return Ok(());
        };
        self.host.signal(process, Signal::End).map_err(failed)?;
        let limit = self.host.now() + LIMIT.as_millis() as u64;
        while self.process()? == Some(process) {
            if self.host.now() > limit {
                self.host.signal(process, Signal::Kill).map_err(failed)?;
            }
            self.host.wait(INTERVAL);
        }
        self.bury();
        Ok(())
    }

    /// Makes what is served what is promised, whatever happened before: finishes a switch that was cut short, and starts
    /// the server if it is to run.
    pub fn recover(&mut self) -> Result<(), Refused> {
        self.sweep()?;
        let state = self.repository.state();
        let identity = state.clone().identity();
        let current = self.current()?;
        let served = match current {
            Some(current) => self.identity_of(current)?,
            None => None,
        };
        let version = self.repository.version();
        if served != Some(identity) {
            let changes = State::difference(&State::default(), state);
            let troubles =
                self.stage()
                    .prepare(state, &changes, &self.site(), version, Occasion::Again)?;
            if troubles.iter().any(Diagnostic::is_error) {
                return Err(Refused::Because(troubles));
            }
            self.stage().switch(version)?;
        }
        let site = self.site();
        if site.endpoints.is_empty() {
            return self.end();
        }
        if !self.is_wanted()? {
            return Ok(());
        }
        let generation = self.current()?.unwrap_or(version);
        let ready = match self.process()? {
            None => {
                // A key that the server cannot read is one with which it does not start.
                self.repair_certificates()?;
                self.launch(generation, &site)
            }
            // One answer of nginx says nothing about its other processes.
            Some(process) => match self.settings.server {
                Server::Apache if self.answers(generation, &site) => Ok(()),
                _ => self.reload(process, generation, &site),
            },
        };
        ready.map_err(|trouble| Refused::Failed(Error::from(*trouble)))
    }

    /// Whether a server ended that did not take its number away: what it served others may go on to serve.
    fn was_killed(&self) -> Result<bool, Refused> {
        let number = self.host.look(&self.root.join("run/server.pid"));
        Ok(number.map_err(failed)?.is_some())
    }

    /// Whether the server is to run, and does not.
    pub fn is_down(&self) -> Result<bool, Refused> {
        let is_to_run = self.is_wanted()? && !self.site().endpoints.is_empty();
        Ok(is_to_run && self.process()?.is_none())
    }

    fn is_wanted(&self) -> Result<bool, Refused> {
        let started = self.host.look(&self.root.join("started"));
        Ok(started.map_err(failed)?.is_some())
    }

    fn answers(&self, generation: u64, site: &Site) -> bool {
        site.endpoints.iter().all(|endpoint| {
            let answer = self.ask_nobody(*endpoint, site);
            answer.is_ok_and(|answer| answer.generation() == Some(generation))
        })
    }

    fn launch(&self, generation: u64, site: &Site) -> Result<(), Box<Diagnostic>> {
        let server = self.settings.server;
        self.bury();
        let mut endpoints = site.endpoints.iter();
        if let Some(trouble) = endpoints.find_map(|endpoint| taken(self.host, *endpoint)) {
            return Err(Box::new(trouble));
        }
        let main = self.root.join("current").join(server.main_file());
        let command = server.start(&self.settings.program, &self.root, &main);
        let failed = |why: String| {
            let log = self.last_words();
            let message = format!("{} does not start: {why}{log}", server.word());
            Box::new(Diagnostic::error(DOWN, message))
        };
        let ran = self.host.run(&self.settings.as_server(command), LIMIT);
        ran.map_err(|error| failed(error.to_string()))?
            .well()
            .map_err(failed)?;
        let limit = self.host.now() + LIMIT.as_millis() as u64;
        while !matches!(self.process(), Ok(Some(_))) {
            if self.host.now() > limit {
                return Err(failed("it writes no process number".to_owned()));
            }
            self.host.wait(INTERVAL);
        }
        self.await_generation(generation, site)
    }

    /// Ends what a server left behind that was killed: its processes go on without it, and listen; and its number may be
    /// that of another process by now, which a new server would take for itself.
    fn bury(&self) {
        let log = self.root.join("log/access.log");
        let limit = self.host.now() + LIMIT.as_millis() as u64;
        loop {
            let mut left = self.host.holding(&log);
            left.retain(|process| {
                let line = self.host.process(*process).unwrap_or_default();
                line.starts_with(&self.settings.program) || line.starts_with("nginx:")
            });
            if left.is_empty() || self.host.now() > limit {
                // If it stays, the server itself says what it takes it for.
                let _ = self.host.remove(&self.root.join("run/server.pid"));
                return;
            }
            for process in left {
                // One that has gone meanwhile needs no signal.
                let _ = self.host.signal(process, Signal::Kill);
            }
            self.host.wait(INTERVAL);
        }
    }

    /// Removes what was being written when the power was cut; nobody refers to it.
    fn sweep(&self) -> Result<(), Refused> {
        for name in [
            "object",
            "file",
            "tree",
            "secret",
            "key",
            "part",
            "generation",
        ] {
            let directory = self.root.join(name);
            for entry in self.host.list(&directory).map_err(failed)? {
                if entry.name.ends_with(".new") {
                    self.host
                        .remove(&directory.join(entry.name))
                        .map_err(failed)?;
                }
            }
        }
        Ok(())
    }
}

/// The address from which an endpoint is asked here.
fn from(endpoint: Endpoint) -> IpAddr {
    probe::near(endpoint).ip()
}
