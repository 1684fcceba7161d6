//! Commands on a ledger and its fleet: which ledger is meant, who changes it, and how they are told what came of it.

pub mod activate;
pub mod blame;
pub mod change;
pub mod config;
pub mod difference;
pub mod during;
pub mod entity;
pub mod explain;
pub mod guide;
pub mod import;
pub mod inventory;
pub mod log;
pub mod plan;
pub mod push;
pub mod rollout;
pub mod show;
pub mod snapshot;
pub mod state;
pub mod store;
pub mod tag;
pub mod validate;
mod web;

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use hence_api::client::UNREACHABLE;
use hence_api::{Address, Client, Failure, words};
use hence_fleet::Pool;
use hence_ledger::entry::Origin;
use hence_ledger::parser::{self, Script};
use hence_ledger::value::Sealed;
use hence_ledger::{Change, Fault, Key, Vocabulary};
use hence_model::diagnostic::{Code, Diagnostic, Label};
use hence_model::source::{FileId, ReadError, Sources, Span};
use hence_model::unit::Unit;
use hence_server::{FORBIDDEN, UNAUTHORISED};
use hence_service::changes;
pub use hence_service::explained::shown;
pub use hence_service::moment::moment;
use hence_service::seal::Seal;
use hence_service::secrets::{Keeper, NO_KEY};
use hence_service::{Leave, Service};
use hence_store::{Receipt, Redb, Refused, Request};
use serde::Serialize;

use self::store::Place;
use crate::console::{Console, STANDARD_INPUT};
use crate::{Exit, Stop, result};

/// There is no ledger where one is expected.
pub const NO_LEDGER: Code = Code::new("input.no-ledger");

/// Something is done only where the ledger is.
pub const ELSEWHERE: Code = Code::new("input.elsewhere");
/// A token, or a certificate, cannot be read.
pub const NO_TOKEN: Code = Code::new("input.no-token");

/// How to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// Which server is meant, and how it is spoken to.
#[derive(Args)]
pub struct Remote {
    /// The server that the ledger is behind; without it and `--data`, `$HENCE_SERVER`
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "data",
        help_heading = "Ledger"
    )]
    server: Option<String>,
    /// The file that holds the token for the server; without it, `$HENCE_TOKEN` is the token
    #[arg(long, value_name = "FILE", help_heading = "Ledger")]
    token_file: Option<String>,
    /// The certificates that the server's is one of, or vouched for by; without it, `$HENCE_CA` names the file
    #[arg(long, value_name = "FILE", help_heading = "Ledger")]
    ca: Option<String>,
}

/// Where certificates of authorities usually are.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

impl Remote {
    fn client(&self, console: &Console<'_>, server: String) -> Result<Client, Stop> {
        let read = |name: &str| {
            std::fs::read_to_string(console.path(name)).map_err(|error| {
                let message = format!("`{name}` cannot be read: {error}");
                Stop::Refused(Box::new(Diagnostic::error(NO_TOKEN, message)))
            })
        };
        let token = match &self.token_file {
            Some(file) => read(file)?,
            None => console.variable("HENCE_TOKEN").ok_or_else(|| {
                let trouble =
                    Diagnostic::error(NO_TOKEN, format!("there is no token for {server}"));
                let help = "`--token-file FILE`, or the token in `$HENCE_TOKEN`";
                Stop::Refused(Box::new(trouble.help(help)))
            })?,
        };
        let ca = self.ca.clone().or_else(|| console.variable("HENCE_CA"));
        let certificates = match ca {
            Some(file) => Some(read(&file)?),
            None if server.starts_with("https:") => std::fs::read_to_string(AUTHORITIES).ok(),
            None => None,
        };
        let address = Address {
            server,
            token: token.trim().to_owned(),
            certificates,
        };
        Client::new(address).map_err(Stop::Refused)
    }
}

/// Which ledger is meant.
#[derive(Args)]
pub struct Ledger {
    /// The directory of the ledger, or `etcd://HOST:PORT/PREFIX`; without it `$HENCE_DATA`, or `.hence`
    #[arg(long, value_name = "DIR", help_heading = "Ledger")]
    data: Option<String>,
    #[command(flatten)]
    remote: Remote,
    /// The key of its secrets; without it `$HENCE_KEY_FILE`, or `key` in its directory
    #[arg(long, value_name = "FILE", help_heading = "Ledger")]
    key_file: Option<String>,
}

impl Ledger {
    fn directory(&self, console: &Console<'_>) -> String {
        let data = self.data.clone();
        let data = data.or_else(|| console.data_directory().map(str::to_owned));
        let data = data.or_else(|| console.variable("HENCE_DATA"));
        data.unwrap_or_else(|| ".hence".to_owned())
    }

    fn place(&self, console: &Console<'_>) -> Result<Place, Stop> {
        Place::of(&self.directory(console))
    }

    /// Whether there is one; what cannot be asked says why when it is opened.
    pub fn is_there(&self, console: &Console<'_>) -> bool {
        let place = self.place(console);
        self.server(console).is_some()
            || place
                .and_then(|place| place.is_there(console))
                .unwrap_or(true)
    }

    /// Whether it is behind a server.
    pub fn is_served(&self, console: &Console<'_>) -> bool {
        self.server(console).is_some()
    }

    /// How people call it.
    pub fn called(&self, console: &Console<'_>) -> String {
        let server = self.server(console);
        server.unwrap_or_else(|| self.directory(console))
    }

    /// A ledger that is there.
    pub fn open(&self, console: &mut Console<'_>) -> Result<Service, Stop> {
        if self.server(console).is_none() {
            self.place(console)?.must_be_there(console)?;
        }
        self.make(console)
    }

    /// A ledger, which is made if it is not there.
    pub fn make(&self, console: &mut Console<'_>) -> Result<Service, Stop> {
        if let Some(client) = self.client(console)? {
            return Service::connect(client).map_err(|refused| stop(console, refused));
        }
        let store = self.place(console)?.open(console)?;
        let mut service = Service::open(store).map_err(|refused| stop(console, refused))?;
        // Most of what is done needs no key; what does says what is wrong with it.
        match self.key_at(console).map(|place| place.read()) {
            Ok(Ok(Some(seal))) => service.is_kept_by(Keeper::Us(seal)),
            Ok(_) => {}
            Err(_) => service.is_kept_by(Keeper::Others),
        }
        Ok(service)
    }

    /// The server that the ledger is behind, if it is. Whoever names a directory means that.
    fn server(&self, console: &Console<'_>) -> Option<String> {
        match (&self.remote.server, &self.data, console.data_directory()) {
            (Some(server), _, _) => Some(server.clone()),
            (None, None, None) => console.variable("HENCE_SERVER"),
            _ => None,
        }
    }

    /// Somebody who speaks to that server.
    pub fn client(&self, console: &Console<'_>) -> Result<Option<Client>, Stop> {
        match self.server(console) {
            Some(server) => self.remote.client(console, server).map(Some),
            None => Ok(None),
        }
    }

    /// Where the ledger lives, which must not be behind a server.
    pub fn here(&self, console: &Console<'_>) -> Result<Place, Stop> {
        self.store_is_here(console)?;
        self.place(console)
    }

    fn store_is_here(&self, console: &Console<'_>) -> Result<(), Stop> {
        let Some(server) = self.server(console) else {
            return Ok(());
        };
        let message = format!("this is done where the ledger is, and not through {server}");
        let trouble = Diagnostic::error(ELSEWHERE, message);
        Err(Stop::Refused(Box::new(
            trouble.help("`--data DIR` says where"),
        )))
    }

    /// The directory where the ledger lives, if it is one and there.
    pub fn store(&self, console: &Console<'_>) -> Result<Redb, Stop> {
        self.here(console)?.directory(console)
    }
}

impl Ledger {
    /// Seals secrets, here or at the server, which gives leave to say them.
    pub fn sealed(
        &self,
        console: &Console<'_>,
        service: &Service,
        texts: &[&str],
        leave: &mut Leave,
    ) -> Result<Vec<Sealed>, Stop> {
        let Some(client) = self.client(console)? else {
            let seal = self.seal(console, service)?;
            return Ok(texts.iter().map(|text| seal.seal(text)).collect());
        };
        let mut sealed = Vec::new();
        for text in texts {
            let text = (*text).to_owned();
            let answer: words::Sealed = client
                .post("seal", &words::Secret { text })
                .map_err(failed)?;
            sealed.push(Sealed {
                fingerprint: answer.fingerprint.as_str().into(),
                content: answer.content.as_str().into(),
            });
            leave.handed_in.push(answer);
        }
        Ok(sealed)
    }

    /// The key under which the secrets of a ledger are sealed. The one in the directory of the ledger is made with the first
    /// secret; one that is named is shared with others, and never made by chance. Neither is one that took its place.
    pub fn seal(&self, console: &Console<'_>, service: &Service) -> Result<Seal, Stop> {
        // A server keeps its key to itself.
        self.store_is_here(console)?;
        let place = self.key_at(console)?;
        let Some(seal) = place.read()? else {
            let had_secrets = service.had_secrets();
            return match had_secrets.map_err(|error| Stop::Failed(Box::new(error.into())))? {
                true => Err(place.unusable("it is not there, and secrets were sealed with it")),
                false => place.make(),
            };
        };
        match service.is_opened_by(&seal) {
            true => Ok(seal),
            false => Err(place.unusable("it opens none of the secrets in the ledger")),
        }
    }

    /// Where the key is.
    fn key_at(&self, console: &Console<'_>) -> Result<KeyPlace, Stop> {
        let named = self.key_file.clone();
        let named = named.or_else(|| console.variable("HENCE_KEY_FILE"));
        let is_named = named.is_some();
        let name = match (named, self.place(console)?) {
            (Some(name), _) => name,
            (None, Place::Directory(name)) => format!("{name}/key"),
            (None, Place::Cluster(_)) => {
                let message = "secrets of a ledger in a cluster take a key that is not there";
                return Err(Stop::Refused(Box::new(
                    Diagnostic::error(NO_KEY, message)
                        .help("`--key-file FILE`, or `$HENCE_KEY_FILE`, names it: 32 random bytes"),
                )));
            }
        };
        Ok(KeyPlace {
            file: console.path(&name),
            name,
            is_named,
        })
    }
}

/// Where the key of a ledger is.
struct KeyPlace {
    name: String,
    file: std::path::PathBuf,
    /// Whether somebody says that it is there.
    is_named: bool,
}

impl KeyPlace {
    /// The key; nothing if it may still be made.
    fn read(&self) -> Result<Option<Seal>, Stop> {
        if !self.is_named && !self.file.exists() {
            return Ok(None);
        }
        let key = std::fs::read(&self.file).map_err(|error| self.unusable(error))?;
        // The length is the format: a key of another kind would have another.
        match <[u8; 32]>::try_from(key) {
            Ok(key) => Ok(Some(Seal::new(&key))),
            Err(_) => Err(self
                .unusable("a key has 32 bytes: this is none, or one of a later release of Hence")),
        }
    }

    /// A new key, which only its owner may read.
    fn make(&self) -> Result<Seal, Stop> {
        let mut key = [0; 32];
        getrandom::getrandom(&mut key).map_err(|error| self.unusable(error))?;
        let written = result::secretly(&self.file, &key);
        written.map_err(|error| self.unusable(error))?;
        Ok(Seal::new(&key))
    }

    fn unusable(&self, why: impl std::fmt::Display) -> Stop {
        let message = format!(
            "the key of the ledger, `{}`, cannot be used: {why}",
            self.name
        );
        let help = "put back the file that the secrets were sealed with: it has 32 bytes";
        Stop::Failed(Box::new(Diagnostic::error(NO_KEY, message).help(help)))
    }
}

/// Where the token comes from.
const WHICH_TOKEN: &str = "the token is the one in `--token-file FILE`, or else in `$HENCE_TOKEN`";
/// Where the address of a server comes from.
const WHICH_SERVER: &str = "the address is that of `--server URL`, or else of `$HENCE_SERVER`; `--data DIR` asks a ledger here";

/// Why a server did not do something.
pub fn failed(failure: Failure) -> Stop {
    let is_refused = matches!(failure, Failure::Refused(..));
    let trouble = Box::new(advised(failure.diagnostics().remove(0)));
    match is_refused {
        true => Stop::Refused(trouble),
        false => Stop::Failed(trouble),
    }
}

/// What a server says to those who write requests, for those who write commands.
fn advised(mut trouble: Diagnostic) -> Diagnostic {
    if trouble.code == UNAUTHORISED {
        trouble.help = vec![WHICH_TOKEN.to_owned()];
    } else if trouble.code == UNREACHABLE && trouble.help.is_empty() {
        trouble.help.push(WHICH_SERVER.to_owned());
    }
    trouble
}

/// Says all that is in the way.
pub fn stop(console: &mut Console<'_>, refused: Refused) -> Stop {
    match refused {
        Refused::Failed(error) => {
            let trouble = Box::new(advised(error.into()));
            // A store behind a server may be there, and not for everybody.
            match [UNAUTHORISED, FORBIDDEN].contains(&trouble.code) {
                true => Stop::Refused(trouble),
                false => Stop::Failed(trouble),
            }
        }
        Refused::Because(mut troubles) => {
            let last = troubles.pop().expect("there is a reason");
            for trouble in &troubles {
                console.refuse(trouble);
            }
            Stop::Refused(Box::new(last))
        }
    }
}

/// Who does something, if they do not say so.
pub fn author(console: &Console<'_>, said: Option<&str>) -> String {
    let author = said.map(str::to_owned);
    let author = author.or_else(|| console.variable("HENCE_AUTHOR"));
    let author = author.or_else(|| console.variable("USER"));
    author.unwrap_or_else(|| "unknown".to_owned())
}

/// Who changes a ledger, why, and what they know about it.
#[derive(Args)]
pub struct Changing {
    /// Which ledger.
    #[command(flatten)]
    pub ledger: Ledger,
    /// On whose behalf: whose assertions these are; without it, those of `operator`
    #[arg(long, value_name = "NAME", help_heading = "Ledger")]
    pub owner: Option<String>,
    /// Who does it; without it `$HENCE_AUTHOR`, or `$USER`
    #[arg(long, value_name = "NAME", help_heading = "Ledger")]
    author: Option<String>,
    /// Why, for the log
    #[arg(
        short,
        long,
        value_name = "WORDS",
        default_value = "",
        help_heading = "Ledger"
    )]
    message: String,
    /// Refuse if the newest version is another one
    #[arg(long, value_name = "VERSION", help_heading = "Ledger")]
    if_version: Option<u64>,
    /// Take this key, and all below it, from its owner
    #[arg(long, value_name = "KEY", help_heading = "Ledger")]
    take: Vec<String>,
    /// Assert also what has no effect yet
    #[arg(long, help_heading = "Ledger")]
    dormant: bool,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

impl Changing {
    /// Whose assertions these are.
    pub fn owner(&self) -> &str {
        self.owner.as_deref().unwrap_or("operator")
    }

    /// The request, made by a command.
    pub fn request(&self, console: &Console<'_>, command: impl Into<String>) -> Request {
        Request {
            author: author(console, self.author.as_deref()),
            owner: self.owner().to_owned(),
            time: console.now(),
            message: self.message.clone(),
            origin: Origin::Command(command.into()),
            objects: Vec::new(),
            if_version: self.if_version,
        }
    }

    /// What is granted beyond what is usual.
    pub fn leave(&self) -> Result<Leave, Stop> {
        let mut take = Vec::new();
        for text in &self.take {
            take.push(key(text)?);
        }
        Ok(Leave {
            take,
            dormant: self.dormant,
            bearer: None,
            handed_in: Vec::new(),
        })
    }

    /// Says what came of it.
    pub fn tell(
        &self,
        console: &mut Console<'_>,
        result: Result<Receipt, Refused>,
    ) -> Result<Exit, Stop> {
        let receipt = result.map_err(|refused| stop(console, refused))?;
        tell(console, self.format, &receipt)
    }

    /// Says what came of it, and what is wrong with that.
    pub fn tell_all(
        &self,
        console: &mut Console<'_>,
        result: Result<(Receipt, Vec<Diagnostic>), Refused>,
    ) -> Result<Exit, Stop> {
        if let Ok((_, told)) = &result {
            for trouble in told {
                console.refuse(trouble);
            }
        }
        self.tell(console, result.map(|(receipt, _)| receipt))
    }

    /// Says what came of it; what is wrong, where it is written.
    pub fn tell_at(
        &self,
        console: &mut Console<'_>,
        result: Result<Receipt, Refused>,
        sources: &Sources,
        places: &BTreeMap<Key, Span>,
    ) -> Result<Exit, Stop> {
        let Err(Refused::Because(mut troubles)) = result else {
            return self.tell(console, result);
        };
        for trouble in &mut troubles {
            let path = trouble.path.as_deref();
            let span = path.and_then(|path| place(places, path));
            trouble.labels.extend(span.map(|span| Label {
                span,
                text: String::new(),
            }));
        }
        console.show(sources, &troubles);
        Ok(Exit::Input)
    }
}

/// Where a key is written, or else the first key below it, or the nearest above it.
fn place(places: &BTreeMap<Key, Span>, key: &str) -> Option<Span> {
    let wanted = Key::from_text(key);
    if let Some((found, &span)) = places.range(&wanted..).next()
        && found.is_under(&wanted)
    {
        return Some(span);
    }
    let mut keys = std::iter::successors(Some(key), |key| Some(key.rsplit_once('/')?.0));
    keys.find_map(|key| places.get(&Key::from_text(key)).copied())
}

/// The key that is written so.
pub fn key(text: &str) -> Result<Key, Stop> {
    hence_fleet::Words.key(&names(text)?).map_err(faulty)
}

/// The names in a key that is written so.
pub fn names(text: &str) -> Result<Vec<String>, Stop> {
    Key::names_in(text).ok_or_else(|| {
        let fault = Fault::new(format!("`{text}` is not a key"));
        faulty(fault.help("names are joined by `/` and not empty"))
    })
}

/// What is wrong with something written on the command line.
pub fn faulty(fault: Fault) -> Stop {
    Stop::Refused(Box::new(fault.into()))
}

#[derive(Serialize)]
struct Told<'a> {
    version: Option<u64>,
    changes: Vec<ToldChange<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken: Vec<Taken<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dormant: Vec<Sleeping<'a>>,
}

/// A change as programs read it.
#[derive(Serialize)]
pub struct ToldChange<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Held<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Held<'a>>,
}

/// An assertion as programs read it.
#[derive(Serialize)]
struct Held<'a> {
    owner: &'a str,
    value: Option<String>,
}

#[derive(Serialize)]
struct Taken<'a> {
    key: &'a str,
    from: &'a str,
}

#[derive(Serialize)]
struct Sleeping<'a> {
    key: &'a str,
    owner: &'a str,
    missing: Vec<&'a str>,
}

impl<'a> ToldChange<'a> {
    /// A change as programs read it.
    pub fn new(change: &'a Change) -> Self {
        let held = |assertion: &'a hence_ledger::Assertion| Held {
            owner: &assertion.owner,
            value: shown(&assertion.value),
        };
        Self {
            key: change.key.as_str(),
            before: change.before.as_ref().map(held),
            after: change.after.as_ref().map(held),
        }
    }
}

/// Says what came of a change.
pub fn tell(console: &mut Console<'_>, format: Format, receipt: &Receipt) -> Result<Exit, Stop> {
    let done = match receipt {
        Receipt::Done(done) => Some(done),
        Receipt::Nothing => None,
    };
    if format == Format::Json {
        let admitted = done.map(|done| &done.admitted);
        let told = Told {
            version: done.map(|done| done.version),
            changes: admitted.map_or_else(Vec::new, |admitted| {
                admitted.changes.iter().map(ToldChange::new).collect()
            }),
            taken: admitted.map_or_else(Vec::new, |admitted| {
                let lost = admitted.lost.iter();
                lost.map(|(from, key)| Taken {
                    key: key.as_str(),
                    from,
                })
                .collect()
            }),
            dormant: admitted.map_or_else(Vec::new, |admitted| {
                let dormant = admitted.dormant.iter();
                dormant
                    .map(|dormant| Sleeping {
                        key: dormant.key.as_str(),
                        owner: &dormant.owner,
                        missing: dormant.missing.iter().map(Key::as_str).collect(),
                    })
                    .collect()
            }),
        };
        print_json(console, &told)?;
        return Ok(Exit::Done);
    }
    let Some(done) = done else {
        console.say("nothing changed");
        return Ok(Exit::Done);
    };
    let version = done.version;
    match done.admitted.changes.is_empty() {
        true => console.say(&format!("version {version}")),
        false => console.say(&format!(
            "version {version}: {}",
            counted(&done.admitted.changes)
        )),
    }
    let taken = done.admitted.lost.iter();
    let taken = taken.map(|(owner, key)| format!("  taken from `{owner}`: {key}"));
    some(console, taken);
    let dormant = done.admitted.dormant.iter().map(|dormant| {
        let missing: Vec<&str> = dormant.missing.iter().map(Key::as_str).collect();
        format!(
            "  without effect: {} of `{}`, as {} is not asserted",
            dormant.key,
            dormant.owner,
            missing.join(", ")
        )
    });
    some(console, dormant);
    if !done.admitted.changes.is_empty() {
        console.say(&format!("`hence undo {version}` takes it back"));
    }
    Ok(Exit::Done)
}

/// So many lines of a kind are shown behind a change; `--format json` has all.
const SOME: usize = 10;

/// Says lines, or the first of them and how many more there are.
fn some(console: &mut Console<'_>, mut lines: impl ExactSizeIterator<Item = String>) {
    for line in lines.by_ref().take(SOME) {
        console.say(&line);
    }
    if lines.len() > 0 {
        console.say(&format!(
            "  and {} more such: `--format json` has all",
            lines.len()
        ));
    }
}

/// How many assertions came, changed and went.
pub fn counted(changes: &[Change]) -> String {
    changes::counted(changes, |count| count.to_string())
}

/// So many of something.
pub fn many(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    }
}

/// Prints an answer for programs.
pub fn print_json(console: &mut Console<'_>, answer: &impl Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string(answer).expect("answers can be written");
    writeln!(console.data(), "{text}")?;
    Ok(())
}

/// Reads a file, or standard input if it is named `-`, and says what is wrong with it.
pub fn read(console: &mut Console<'_>, name: &str) -> Result<(Sources, FileId), Exit> {
    let mut unit = Unit::default();
    let limit = unit.limits.source;
    let (name, taken) = match name {
        "-" => (STANDARD_INPUT, console.read_input(limit)),
        name => (name, Ok(())),
    };
    let disk = console.disk(limit);
    let (result, exit) = match taken {
        Ok(()) => (unit.load(&disk, name), disk.blame()),
        Err(error) => {
            let error = ReadError::Refused(error.to_string());
            (Err(Box::new(unit.unreadable(name, error))), Exit::World)
        }
    };
    match result {
        Ok(file) => Ok((unit.sources, file)),
        Err(trouble) => {
            console.show(&unit.sources, &[*trouble]);
            Err(exit)
        }
    }
}

/// The commands in a file, or in standard input; what is asserted there outside of any `apply` is the owner's.
pub fn commands(
    console: &mut Console<'_>,
    name: &str,
    owner: &str,
) -> Result<(Sources, Script), Exit> {
    let (sources, file) = read(console, name)?;
    match parser::parse(&sources, file, owner, &hence_fleet::Words) {
        Ok(script) => Ok((sources, script)),
        Err(troubles) => {
            console.show(&sources, &troubles);
            Err(Exit::Input)
        }
    }
}

/// Which version is meant.
#[derive(Args)]
pub struct At {
    /// Look at what was asserted at this version, or at the snapshot of this name
    #[arg(long, value_name = "VERSION", help_heading = "Ledger")]
    at: Option<String>,
}

impl At {
    /// The version, if one is given.
    pub fn version(
        &self,
        console: &mut Console<'_>,
        service: &Service,
    ) -> Result<Option<u64>, Stop> {
        let Some(at) = &self.at else {
            return Ok(None);
        };
        version(service, at)
            .map(Some)
            .map_err(|refused| stop(console, refused))
    }

    /// The fleet at that version, if one is given.
    pub fn past(&self, console: &mut Console<'_>, service: &Service) -> Result<Option<Past>, Stop> {
        let Some(version) = self.version(console, service)? else {
            return Ok(None);
        };
        let pool = service.pool_at(version);
        let pool = pool.map_err(|refused| stop(console, refused))?;
        Ok(Some(Past { version, pool }))
    }
}

/// The fleet as it was.
pub struct Past {
    version: u64,
    pool: Pool,
}

/// Which version is looked at, if not the newest, and what the fleet is there.
pub fn looked_at<'a>(service: &'a Service, past: &'a Option<Past>) -> (Option<u64>, &'a Pool) {
    match past {
        Some(past) => (Some(past.version), &past.pool),
        None => (None, service.head()),
    }
}

/// A version by its number or by its name.
pub fn version(service: &Service, text: &str) -> Result<u64, Refused> {
    let repository = service.repository();
    let names = repository.head().map(|entry| &entry.snapshots);
    let number: Result<u64, _> = text.parse();
    // A number is a version, also where an older release let a snapshot be named so.
    if number.is_err()
        && let Some(snapshot) = names.and_then(|names| names.get(text))
    {
        return Ok(snapshot.version);
    }
    match number {
        Ok(version) if version <= repository.version() => Ok(version),
        Ok(version) => Err(repository.no_such(version).into()),
        Err(_) => {
            let message = format!("no version is named `{text}`");
            let trouble = Diagnostic::error(hence_store::NO_SUCH_NAME, message);
            let trouble =
                trouble.help("`hence log` shows versions, `hence list snapshots` their names");
            Err(Refused::Because(vec![trouble]))
        }
    }
}
