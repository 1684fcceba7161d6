//! What is configured on the node.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::web::Web;

/// What is configured on the node. Commands are lists of words: no shell reads them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the node.
    pub node: String,
    /// Where the agent keeps what it must not forget.
    pub directory: PathBuf,
    /// How often it asks, give or take a fifth.
    pub interval: Duration,
    /// After how long something that failed is tried again.
    pub retry: Duration,
    /// How long a command may take.
    pub limit: Duration,
    /// The files that it writes.
    pub files: Vec<File>,
    /// Lines behind those of the server, so that nothing the server says can lock the node out.
    pub survival: Vec<String>,
    /// Parameters to which the names of the advertised ones are added.
    pub advertise: Vec<String>,
    /// A directory of files that are put behind everything else, in the order of their names.
    pub overrides: Option<PathBuf>,
    /// What is run for a subsystem.
    pub subsystems: BTreeMap<String, Subsystem>,
    /// The subsystem that restarts all others with it.
    pub restart_all: Option<String>,
    /// A command that prints more facts.
    pub facts: Option<Vec<String>>,
    /// The closure that serves web sites.
    pub web: Option<Web>,
}

/// A file that the agent writes.
#[derive(Clone, Debug)]
pub struct File {
    /// Where.
    pub path: String,
    /// What is in it.
    pub form: Form,
    /// Who may read it, if somebody said so.
    pub mode: Option<u32>,
    /// What says whether it is good; `{file}` stands for it.
    pub validate: Option<Vec<String>>,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// All parameters, one behind the other.
    Parameters,
    /// The text of a template, with values in it.
    Template(PathBuf),
}

/// What is run for a subsystem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subsystem {
    /// So that it starts anew.
    pub restart: Option<Vec<String>>,
    /// So that it reads its configuration again.
    pub reread: Option<Vec<String>>,
}
