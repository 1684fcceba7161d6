//! Source maps: which parameters a line of a written file is about, and who gave them.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::state::not_newer;
use crate::sum;

/// What the lines of a file are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Map {
    /// The form of the map.
    pub format: u32,
    /// The file.
    pub file: String,
    /// The node.
    pub node: String,
    /// The version of the configuration.
    pub version: u64,
    /// The sum of the text; another text is not what this is about.
    pub sum: String,
    /// Its parts, in the order of their first lines.
    pub parts: Vec<Part>,
}

/// Lines that are about a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The first line, from 1.
    pub first: usize,
    /// The last line.
    pub last: usize,
    /// The parameter.
    pub parameter: String,
    /// What on the node says so; nothing if it is the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<String>,
}

/// The form of maps. A newer one is not guessed at.
pub(crate) const FORMAT: u32 = 1;

impl Map {
    /// The map that was kept so: none if it is damaged, or an error if a later release wrote it.
    pub fn read(content: &[u8]) -> io::Result<Option<Self>> {
        not_newer(content, FORMAT)?;
        Ok(serde_json::from_slice(content).ok())
    }

    /// The parts that a line belongs to.
    pub fn at(&self, line: usize) -> impl Iterator<Item = &Part> {
        let parts = self.parts.iter();
        parts.filter(move |part| (part.first..=part.last).contains(&line))
    }

    /// Whether it is about this text.
    pub fn is_of(&self, text: &[u8]) -> bool {
        self.sum == sum(text)
    }
}

/// Where the map of a file is, in the directory of the agent.
pub fn map_path(directory: &Path, file: &str) -> PathBuf {
    let name = &sum(file.as_bytes())[..16];
    directory.join("maps").join(format!("{name}.json"))
}
