//! What an agent must not forget: what is installed, and how far a change is.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use hence_api::words::Outcome;
use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::{Doing, Error, sum};

/// The form of what is in the directory: this file, and what it tells of. A newer one is not touched.
const FORMAT: u32 = 1;

/// What an agent must not forget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    format: u32,
    /// What is installed.
    pub installed: Option<Set>,
    /// A change that has begun.
    pub underway: Option<Underway>,
    /// What failed, so that it is not tried again and again.
    pub refused: Option<Refused>,
    /// What came of the last change.
    pub outcome: Option<Outcome>,
    /// What went wrong with it.
    pub error: Option<String>,
    /// The files that show a secret, or once did.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub secret: BTreeSet<String>,
    /// Who could not be told what is installed.
    #[serde(default, skip_serializing_if = "Untold::is_nobody")]
    pub untold: Untold,
}

/// Subsystems that could not be told of what is installed: one of them failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// Those that must restart.
    pub restart: Vec<String>,
    /// Those that must read their configuration again.
    pub reread: Vec<String>,
}

impl Untold {
    /// Whether all were told.
    pub fn is_nobody(&self) -> bool {
        self.restart.is_empty() && self.reread.is_empty()
    }
}

/// Files that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    /// The version of the configuration.
    pub version: u64,
    /// The sum of what each file holds.
    pub files: BTreeMap<String, String>,
    /// The sum of what the node itself had to say.
    pub local: String,
    /// The sum of what is said about web sites, if they are served here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<String>,
}

/// A change that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Underway {
    /// How far it is.
    pub step: Step,
    /// What is to be.
    pub to: Set,
    /// What each file held; nothing if it was not there.
    pub before: BTreeMap<String, Option<String>>,
    /// The subsystems that must restart.
    pub restart: Vec<String>,
    /// The subsystems that must read their configuration again.
    pub reread: Vec<String>,
    /// What was said about web sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_before: Option<String>,
    /// Why it is taken back.
    pub error: Option<String>,
}

/// How far a change is. What a step does may be done twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The files take their places.
    Switch,
    /// The subsystems are told.
    Settle,
    /// The old files take their places again.
    SwitchBack,
    /// The subsystems are told of that.
    SettleBack,
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What it was.
    pub identity: String,
    /// The version of the configuration.
    #[serde(default)]
    pub version: u64,
    /// When, in milliseconds since 1970.
    pub time: u64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            format: FORMAT,
            installed: None,
            underway: None,
            refused: None,
            outcome: None,
            error: None,
            secret: BTreeSet::new(),
            untold: Untold::default(),
        }
    }
}

impl Set {
    /// What tells it apart from others.
    pub fn identity(&self) -> String {
        sum(&serde_json::to_vec(self).expect("a set can be written"))
    }
}

impl State {
    /// As it was left; a new one if there is none. One that cannot be read is put aside: then everything is done anew.
    pub fn read(host: &dyn Host, directory: &Path) -> Result<Self, Error> {
        let path = Self::path(directory);
        let doing = || format!("reading `{}`", path.display());
        let Some(content) = host.read(&path).doing(doing)? else {
            return Ok(Self::default());
        };
        not_newer(&content, FORMAT).doing(doing)?;
        match serde_json::from_slice(&content) {
            Ok(state) => Ok(state),
            Err(_) => {
                let aside = beside(&path, "damaged");
                host.rename(&path, &aside).doing(doing)?;
                Ok(Self::default())
            }
        }
    }

    /// Keeps it.
    pub fn save(&self, host: &dyn Host, directory: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(self).expect("a state can be written");
        text.push(b'\n');
        replace(host, &Self::path(directory), &text, 0o600)
    }

    fn path(directory: &Path) -> PathBuf {
        directory.join("state.json")
    }
}

/// Refuses what says that it is written in a newer format. The first release did not say it everywhere.
pub fn not_newer(content: &[u8], known: u32) -> io::Result<()> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    match serde_json::from_slice(content) {
        Ok(Format { format }) if format > known => {
            let message =
                format!("it has format {format}, and {known} is the newest that is known here");
            Err(io::Error::new(io::ErrorKind::Unsupported, message))
        }
        _ => Ok(()),
    }
}

/// A name with something behind it.
pub fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    name.into()
}

/// Writes a file whole or not at all.
pub fn replace(host: &dyn Host, path: &Path, content: &[u8], mode: u32) -> Result<(), Error> {
    let part = beside(path, "part");
    let written = host.write(&part, content, mode);
    let written = written.and_then(|()| host.rename(&part, path));
    written.doing(|| format!("writing `{}`", path.display()))
}

/// What was or is to be in files, by their sums.
pub struct Store<'h> {
    host: &'h dyn Host,
    directory: PathBuf,
}

impl<'h> Store<'h> {
    pub fn new(host: &'h dyn Host, directory: &Path) -> Result<Self, Error> {
        let directory = directory.join("store");
        let made = host.make_directory(&directory);
        made.doing(|| format!("making `{}`", directory.display()))?;
        Ok(Self { host, directory })
    }

    /// Keeps something, and says its sum.
    pub fn keep(&self, content: &[u8]) -> Result<String, Error> {
        let sum = sum(content);
        if self.get(&sum).is_err() {
            replace(self.host, &self.directory.join(&sum), content, 0o600)?;
        }
        Ok(sum)
    }

    /// What has this sum.
    pub fn get(&self, wanted: &str) -> Result<Vec<u8>, Error> {
        let path = self.directory.join(wanted);
        let doing = || format!("reading `{}`", path.display());
        match self.host.read(&path).doing(doing)? {
            Some(content) if sum(&content) == wanted => Ok(content),
            Some(_) => Err(io::Error::other("it is damaged")).doing(doing),
            None => Err(io::ErrorKind::NotFound.into()).doing(doing),
        }
    }

    /// Forgets all but some.
    pub fn forget_but(&self, kept: &[&String]) -> Result<(), Error> {
        let doing = || format!("tidying `{}`", self.directory.display());
        for name in self.host.list(&self.directory).doing(doing)? {
            if !kept.contains(&&name) {
                self.host.remove(&self.directory.join(name)).doing(doing)?;
            }
        }
        Ok(())
    }
}
