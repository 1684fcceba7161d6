//! A closure: a managed root, a server of its own, and a ledger of what it promises.
//!
//! ```text
//! ROOT/server           the format of all this, which server it is, its program, and as whom it runs
//! ROOT/modules          what is known about Apache's modules
//! ROOT/ledger/          what is asserted, by whom, since when
//! ROOT/object/ file/ tree/       content, see `content`
//! ROOT/secret/ key/     certificates and their keys, see `certificate`
//! ROOT/part/HASH        pieces of configurations
//! ROOT/generation/N/    the configuration for version N of the ledger, and what that asserts
//! ROOT/current          a link to the generation that is served: renaming it is the one visible step
//! ROOT/started          the server is to run
//! ROOT/run/ log/        the server's own
//! ```

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use hence_ledger::rights::Rights;
use hence_ledger::{Change, Command, Hash, Key, Keys, State, Value};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Error, Proposal, Receipt, Redb, Refused, Repository, Request, Rules, Store};

use crate::address::{Endpoint, Name};
use crate::certificate::Certificates;
use crate::checks::{Names, News, Occasion, in_vain};
use crate::content::Content;
use crate::host::Host;
use crate::modules::Modules;
use crate::publish::{self, Stage};
use crate::server::Server;
use crate::settings::{self, Settings, User};
use crate::site::Site;
use crate::words::{self, Said, Subject, Words};

/// There is no closure where one is expected, or there is something already.
pub const NO_CLOSURE: Code = Code::new("http.no-closure");
/// Files or processes failed.
pub const FAILED: Code = Code::new("http.failed");

/// Whose assertions are those that the closure makes of itself.
pub const CLOSURE: &str = "closure";

/// What is below a root, and who may do what with it.
pub(crate) const DIRECTORIES: [(&str, u32); 12] = [
    ("ledger", 0o700),
    ("object", 0o700),
    ("file", 0o755),
    ("tree", 0o755),
    ("secret", 0o700),
    ("key", 0o750),
    ("part", 0o755),
    ("generation", 0o755),
    ("none", 0o755),
    ("pending", 0o700),
    ("run", 0o750),
    ("log", 0o750),
];
/// Who may do what with a root.
pub(crate) const TOP: u32 = 0o750;

/// A closure.
pub struct Closure<'h> {
    pub(crate) host: &'h dyn Host,
    pub(crate) root: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) modules: Modules,
    pub(crate) repository: Repository,
    pub(crate) content: Content<'h>,
    pub(crate) certificates: Certificates<'h>,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// It changes nothing.
    Nothing,
    /// There is a new generation.
    New {
        /// Its number.
        generation: u64,
        /// How it is served.
        now: Now,
        /// What it did.
        done: hence_ledger::Admitted,
        /// What somebody should know about it.
        warnings: Vec<Diagnostic>,
    },
    /// A promise was broken, so all is as it was.
    RolledBack {
        /// The generation that failed.
        failed: u64,
        /// What was wrong with it.
        why: Vec<Diagnostic>,
    },
}

/// How a new generation is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// It answers as promised.
    Served {
        /// How many requests were tried.
        probes: usize,
    },
    /// No server runs that could answer.
    Stopped,
    /// It listens nowhere, so no server runs that could answer. One that was started comes back with the next endpoint.
    Silent,
}

/// What a change is held against, besides the rules of the service.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner<'a> {
    /// Keys that may be taken from their owners.
    pub take: &'a [Key],
    /// Whether something may be asserted that has no effect yet.
    pub dormant: bool,
}

/// Makes a root, with a server in its closed base state: nothing is served. If that fails, there is no root, as before.
pub fn init(host: &dyn Host, root: &Path, server: Server) -> Result<PathBuf, Refused> {
    if !host.list(root).map_err(failed)?.is_empty() && !settings::is_begun(host, root)? {
        let message = format!("`{}` is not empty", root.display());
        let trouble = Diagnostic::error(NO_CLOSURE, message);
        return Err(trouble.help("a closure gets a directory of its own").into());
    }
    let settings = Settings::here(host, server)?;
    let was_there = host.look(root).map_err(failed)?.is_some();
    host.make_directory(root, TOP).map_err(failed)?;
    let made = make(host, root, &settings);
    if made.is_err() {
        take_back(host, root, was_there)?;
    }
    made
}

/// Makes what is in a root. What says that there is a closure comes last.
fn make(host: &dyn Host, root: &Path, settings: &Settings) -> Result<PathBuf, Refused> {
    let canonical = host.canonical(root).map_err(failed)?;
    if let Some(odd) = odd(&canonical) {
        let message = format!(
            "`{}` cannot be a closure, as its path has `{odd}` in it",
            root.display()
        );
        let help = "servers read it in their configurations: letters, digits, `/`, `.`, `-`, `_`, `+` and `@` are safe there";
        return Err(Diagnostic::error(NO_CLOSURE, message).help(help).into());
    }
    let root = canonical;
    // A crash while it was made left this behind.
    empty(host, &root)?;
    settings.begin(host, &root)?;
    host.allow(&root, TOP).map_err(failed)?;
    for (name, mode) in [("", TOP)].into_iter().chain(DIRECTORIES) {
        make_directory(host, &root, name, mode, settings.user.as_ref())?;
    }
    let modules = settings.learn_modules(host)?;
    settings.write_modules(host, &root, &modules)?;
    let content = Content::new(host, &root);
    let certificates = Certificates::new(host, &root, settings.user.clone());
    let stage = Stage {
        host,
        root: &root,
        settings,
        modules: &modules,
        content: &content,
        certificates: &certificates,
    };
    stage.base()?;
    settings.write(host, &root)?;
    let above = root.parent().unwrap_or(&root).to_owned();
    host.synchronise(&[root.join("server"), root.clone(), above])
        .map_err(failed)?;
    Ok(root)
}

/// Takes a root back that is not to be one after all; the directory stays if it was there before.
pub fn take_back(host: &dyn Host, root: &Path, was_there: bool) -> Result<(), Refused> {
    empty(host, root)?;
    match was_there {
        true => Ok(()),
        false => host.remove(root).map_err(failed),
    }
}

/// Removes what is in a root; what says that it was begun goes last.
fn empty(host: &dyn Host, root: &Path) -> Result<(), Refused> {
    let entries = host.list(root).map_err(failed)?;
    let (begun, others): (Vec<_>, Vec<_>) =
        (entries.iter()).partition(|entry| entry.name == settings::BEGUN);
    for entry in others.into_iter().chain(begun) {
        host.remove(&root.join(&entry.name)).map_err(failed)?;
    }
    Ok(())
}

/// What of a path cannot stand in a configuration as it is.
pub fn odd(path: &Path) -> Option<char> {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/.-_+@".contains(character);
    let path = path.to_string_lossy();
    path.chars().find(|character| !plain(*character))
}

/// What has this name below a root; the root itself has none.
pub(crate) fn below(root: &Path, name: &str) -> PathBuf {
    match name {
        "" => root.to_owned(),
        name => root.join(name),
    }
}

/// Makes the root, or a directory below it. The server may pass, read what it serves, and write only what is its own.
pub(crate) fn make_directory(
    host: &dyn Host,
    root: &Path,
    name: &str,
    mode: u32,
    user: Option<&User>,
) -> Result<(), Refused> {
    let path = below(root, name);
    host.make_directory(&path, mode).map_err(failed)?;
    let Some(user) = user else {
        return Ok(());
    };
    let (owner, group) = match name {
        "" | "key" => (0, user.group),
        "run" | "log" => (user.user, user.group),
        _ => (0, 0),
    };
    host.give(&path, owner, group).map_err(failed)
}

impl<'h> Closure<'h> {
    /// The closure below a root.
    pub fn open(host: &'h dyn Host, root: &Path) -> Result<Self, Refused> {
        Settings::of(host, root)?;
        let ledger = root.join("ledger");
        if !Redb::is_there(&ledger) && current(host, root)?.is_some_and(|current| current > 0) {
            return Err(forgotten(root));
        }
        let store = Redb::open(&ledger)?;
        Self::on(host, root, Box::new(store))
    }

    /// The closure below a root, with its ledger on some store.
    pub fn on(host: &'h dyn Host, root: &Path, store: Box<dyn Store>) -> Result<Self, Refused> {
        let settings = Settings::of(host, root)?;
        let root = host.canonical(root).map_err(failed)?;
        Ok(Self {
            host,
            modules: settings.known_modules(host, &root)?,
            repository: Repository::open(store)?,
            content: Content::new(host, &root),
            certificates: Certificates::new(host, &root, settings.user.clone()),
            settings,
            root,
        })
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Which server it has.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its ledger.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Its content.
    pub fn content(&self) -> &Content<'h> {
        &self.content
    }

    /// Its certificates.
    pub fn certificates(&self) -> &Certificates<'h> {
        &self.certificates
    }

    /// What it promises.
    pub fn site(&self) -> Site {
        Site::of(self.repository.state())
    }

    /// What somebody's commands would do, without doing it, and what somebody should know about it.
    pub fn plan(
        &self,
        owner: &str,
        commands: &[Command],
        manner: Manner<'_>,
    ) -> Result<(hence_ledger::Admitted, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut state = self.repository.state().clone();
        let rights = words::rights(&state);
        let admission = hence_ledger::Admission {
            owner,
            commands,
            take: manner.take,
            dormant: manner.dormant,
            rights: &rights,
            version: self.repository.version() + 1,
        };
        let old = self.site();
        let mut warnings = Vec::new();
        let admitted =
            hence_ledger::admit(&mut state, &admission, &Words, &mut |state, changes| {
                let site = Site::of(state);
                let news = News {
                    state,
                    site: &site,
                    old: &old,
                    changes,
                };
                let mut troubles = publish::clashes(&site);
                troubles.extend(in_vain(&news, &self.content));
                warnings.clone_from(&troubles);
                troubles
            });
        Ok((admitted?, warnings))
    }

    /// Changes what is promised, and serves it; or says why not, and leaves it as it was. If it is asserted that hosts are
    /// held whose names lead elsewhere, that is part of the change.
    pub fn commit(
        &mut self,
        request: &Request,
        commands: &[Command],
        manner: Manner<'_>,
    ) -> Result<Published, Refused> {
        let names = Names::new(self.host);
        let mut commands = commands.to_vec();
        let mut take = manner.take.to_vec();
        let mut rights = words::rights(self.repository.state());
        let mut more = self.let_go(&commands, &names);
        loop {
            for command in &more {
                for keys in rights.forbidden(&request.owner, command, &Words) {
                    rights.confine(request.owner.as_str(), keys);
                }
                take.extend(command.writes(&Words).into_iter().map(|keys| match keys {
                    Keys::Only(key) | Keys::Under(key) => key,
                }));
            }
            commands.append(&mut more);
            let proposal = Proposal {
                commands: &commands,
                take: &take,
                dormant: manner.dormant,
            };
            let published = self.change(&rights, Occasion::New(&names), |repository, rules| {
                repository.commit(request, &proposal, rules)
            });
            let astray = names.astray();
            if astray.is_empty() {
                return published;
            }
            more.extend(astray.into_iter().map(|(host, why)| Command::Assert {
                owner: CLOSURE.into(),
                key: Subject::Hold(host).key(),
                value: Value::from(&Said::Text(why.into())),
            }));
        }
    }

    /// Retracts that hosts are held for their names, if after some commands they could be served, or are not asserted.
    fn let_go(&self, commands: &[Command], names: &Names<'_>) -> Vec<Command> {
        let state = self.repository.state();
        let ours = state.iter().filter(|(_, said)| said.owner == CLOSURE);
        let holds = ours.filter_map(|(key, _)| match Subject::of(key) {
            Some(Subject::Hold(host)) => Some(host),
            _ => None,
        });
        let mut held: BTreeSet<Name> = holds.collect();
        if !held.is_empty() {
            let mut state = state.clone();
            for command in commands {
                state.perform(command, self.repository.version() + 1, &Words);
            }
            let site = Site::of(&state);
            let found = names.found(&site);
            held.retain(|host| found.contains(host) || !site.hosts.contains_key(host));
        }
        held.into_iter()
            .map(|host| Subject::Hold(host).retracted())
            .collect()
    }

    /// Promises again what was promised at a version, and serves it.
    pub fn restore(&mut self, request: &Request, version: u64) -> Result<Published, Refused> {
        let rights = words::rights(self.repository.state());
        self.change(&rights, Occasion::Again, |repository, rules| {
            repository.restore(request, version, rules)
        })
    }

    /// Takes back a change, or the newest one that stands.
    pub fn undo(&mut self, request: &Request, version: Option<u64>) -> Result<Published, Refused> {
        let rights = words::rights(self.repository.state());
        self.change(&rights, Occasion::Again, |repository, rules| {
            repository.undo(request, version, rules)
        })
    }

    fn change(
        &mut self,
        rights: &Rights,
        occasion: Occasion<'_>,
        act: impl FnOnce(&mut Repository, &mut Rules<'_>) -> Result<Receipt, Refused>,
    ) -> Result<Published, Refused> {
        let before = self.repository.version();
        let old = self.site();
        let stage = Stage {
            host: self.host,
            root: &self.root,
            settings: &self.settings,
            modules: &self.modules,
            content: &self.content,
            certificates: &self.certificates,
        };
        let mut broken = None;
        let mut warnings = Vec::new();
        let mut check = |state: &State, changes: &[Change]| {
            if changes.is_empty() {
                return Vec::new();
            }
            match stage.prepare(state, changes, &old, before + 1, occasion) {
                Ok(troubles) => {
                    warnings.clone_from(&troubles);
                    troubles
                }
                Err(error) => {
                    broken = Some(error);
                    let message = "the new generation could not be written";
                    vec![Diagnostic::error(FAILED, message)]
                }
            }
        };
        let mut rules = Rules {
            rights,
            vocabulary: &Words,
            check: &mut check,
        };
        let receipt = act(&mut self.repository, &mut rules);
        if let Some(error) = broken {
            return Err(error);
        }
        let done = match receipt? {
            Receipt::Nothing => return Ok(Published::Nothing),
            Receipt::Done(done) => done,
        };
        self.publish(before, done, warnings)
    }

    /// The generation that is served, by the link to it.
    pub fn current(&self) -> Result<Option<u64>, Refused> {
        current(self.host, &self.root)
    }

    /// What the generation asserts that is served: the identity of its state.
    pub(crate) fn identity_of(&self, generation: u64) -> Result<Option<Hash>, Refused> {
        let about = self.root.join(format!("generation/{generation}/identity"));
        let text = self.host.read(&about).map_err(failed)?;
        Ok(text.and_then(|text| Hash::from_hex(String::from_utf8_lossy(&text).trim())))
    }

    /// Where the server should listen.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        self.site().endpoints.into_iter().collect()
    }
}

fn current(host: &dyn Host, root: &Path) -> Result<Option<u64>, Refused> {
    let to = host.link(&root.join("current")).map_err(failed)?;
    let name = to.as_deref().and_then(Path::file_name);
    Ok(name.and_then(|name| name.to_string_lossy().parse().ok()))
}

/// Something is served, and what was promised is not known any more. An empty ledger would promise that nothing is served.
fn forgotten(root: &Path) -> Refused {
    let message = format!("the ledger of `{}` is gone", root.display());
    let help = "put `ledger/store.redb` back from a backup; what is served stays as it is";
    Diagnostic::error(NO_CLOSURE, message).help(help).into()
}

pub(crate) fn no_closure(root: &Path) -> Refused {
    let message = format!("there is no closure in `{}`", root.display());
    let help = "`hence http init ROOT --server apache` makes one";
    Diagnostic::error(NO_CLOSURE, message).help(help).into()
}

/// The world failed us.
pub fn failed(error: io::Error) -> Refused {
    Refused::Failed(Error::new(FAILED, error.to_string()))
}
