//! What is sent and answered.

use std::collections::BTreeMap;

use hence_ledger::entry::{self, Origin};
use hence_ledger::rollout::Otherwise;
use hence_ledger::{Change, Command, Hash};
use serde::{Deserialize, Serialize};

use crate::Trouble;

/// What a server is asked to do. A field that it does not know is refused: a misspelt limit would be none.
pub trait Asked {
    /// The names of its fields; without any, whatever else is said is not listened to.
    const FIELDS: &'static [&'static [&'static str]];
}

/// The fields of [`Doing`].
const DOING: &[&str] = &["owner", "message", "origin", "if_version"];
/// The fields of [`Extent`].
const EXTENT: &[&str] = &["nodes", "groups", "percent"];

impl Asked for Doing {
    const FIELDS: &'static [&'static [&'static str]] = &[DOING];
}

impl Asked for Commit {
    const FIELDS: &'static [&'static [&'static str]] = &[
        &["commands", "objects", "take", "dormant"],
        &["import", "handed_in"],
        DOING,
    ];
}

impl Asked for Undo {
    const FIELDS: &'static [&'static [&'static str]] = &[&["version"], DOING];
}

impl Asked for Restore {
    const FIELDS: &'static [&'static [&'static str]] = &[&["version"], DOING];
}

impl Asked for Naming {
    const FIELDS: &'static [&'static [&'static str]] = &[&["version", "annotation"], DOING];
}

impl Asked for Activation {
    const FIELDS: &'static [&'static [&'static str]] = &[EXTENT, &["plan"], DOING];
}

impl Asked for NewRollout {
    const FIELDS: &'static [&'static [&'static str]] = &[
        &["target", "stages", "success", "within", "failures"],
        &["otherwise", "restarts", "plan"],
        DOING,
    ];
}

impl Asked for Enrolment {
    const FIELDS: &'static [&'static [&'static str]] = &[&["node", "token"]];
}

impl Asked for NewToken {
    const FIELDS: &'static [&'static [&'static str]] =
        &[&["name", "may", "owner", "join", "node", "lasts"]];
}

impl Asked for Secret {
    const FIELDS: &'static [&'static [&'static str]] = &[&["text"]];
}

impl Asked for Wanted {
    const FIELDS: &'static [&'static [&'static str]] = &[&["hashes"]];
}

/// What a node says of itself is no order: an agent of a later release may have more to tell.
impl Asked for Report {
    const FIELDS: &'static [&'static [&'static str]] = &[];
}

/// What a server says about itself and its ledger: `GET /api/v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// `hence`.
    pub service: String,
    /// The version of the program.
    pub release: String,
    /// The newest version of the ledger.
    pub version: u64,
    /// The name of the token that asked.
    pub token: String,
}

/// Bytes that are kept by their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// The hash.
    pub hash: Hash,
    /// The bytes.
    #[serde(with = "bytes")]
    pub content: Vec<u8>,
}

/// What every change says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doing {
    /// On whose behalf; without it, `operator`.
    #[serde(default = "operator")]
    pub owner: String,
    /// Why, for the log.
    #[serde(default)]
    pub message: String,
    /// By what means; without it, the commands themselves.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// The newest version that the author knows; another one is a reason to refuse.
    #[serde(default)]
    pub if_version: Option<u64>,
}

fn operator() -> String {
    "operator".to_owned()
}

impl Default for Doing {
    fn default() -> Self {
        Self {
            owner: operator(),
            message: String::new(),
            origin: None,
            if_version: None,
        }
    }
}

/// `POST /api/v1/commits`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The commands.
    pub commands: Commands,
    #[serde(flatten)]
    /// Who, why, and by what means.
    pub doing: Doing,
    /// What the origin speaks of.
    #[serde(default)]
    pub objects: Vec<Object>,
    /// Keys that may be taken from their owners, with all below them.
    #[serde(default)]
    pub take: Vec<String>,
    /// Whether something may be asserted that has no effect yet.
    #[serde(default)]
    pub dormant: bool,
    /// Whether what is wrong is told, and does not stand in the way.
    #[serde(default)]
    pub import: bool,
    /// Secrets that were sealed for it, as they were answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed_in: Vec<Sealed>,
}

/// Commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "commands are a text, or a list of objects")]
pub enum Commands {
    /// In their own language.
    Text(String),
    /// Taken apart.
    List(Vec<Command>),
}

impl Default for Commands {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// `POST /api/v1/undo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Undo {
    /// The version to take back; without it, the newest change that stands.
    #[serde(default)]
    pub version: Option<u64>,
    /// Who, why, and by what means.
    #[serde(flatten)]
    pub doing: Doing,
}

/// `POST /api/v1/restore`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restore {
    /// The version that everything becomes as it was at.
    pub version: u64,
    /// Who, why, and by what means.
    #[serde(flatten)]
    pub doing: Doing,
}

/// `PUT /api/v1/snapshots/NAME`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Naming {
    /// The version that gets the name.
    pub version: u64,
    /// What is said about it.
    #[serde(default)]
    pub annotation: String,
    /// Who, why, and by what means.
    #[serde(flatten)]
    pub doing: Doing,
}

/// What became of a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The new version; none if nothing changed.
    pub version: Option<u64>,
    /// Each key that changed.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Whom it cost something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
    /// What no longer has an effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dormant: Vec<Dormant>,
    /// What was told, and did not stand in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Trouble>,
}

/// A key that somebody lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Who.
    pub owner: String,
    /// Which.
    pub key: String,
}

/// An assertion that has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dormant {
    /// What it is about.
    pub key: String,
    /// Whose it is.
    pub owner: String,
    /// What it needs.
    pub missing: Vec<String>,
}

/// Which nodes are meant; without any of these, all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// These nodes.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "some"
    )]
    pub nodes: Vec<String>,
    /// The members of these groups.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "some"
    )]
    pub groups: Vec<String>,
    /// So many in a hundred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
}

/// Names, of which there must be one: whoever names nobody does not mean everybody.
fn some<'d, D: serde::Deserializer<'d>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::deserialize(deserializer)?;
    match names.is_empty() {
        true => Err(serde::de::Error::custom(
            "a list of nodes or groups is empty; leave it out to mean all nodes",
        )),
        false => Ok(names),
    }
}

impl From<&entry::Extent> for Extent {
    fn from(extent: &entry::Extent) -> Self {
        match extent {
            entry::Extent::Everything => Self::default(),
            entry::Extent::Some { nodes, groups } => Self {
                nodes: nodes.clone(),
                groups: groups.clone(),
                percent: None,
            },
            entry::Extent::Percent(percent) => Self {
                percent: Some(*percent),
                ..Self::default()
            },
        }
    }
}

impl TryFrom<Extent> for entry::Extent {
    type Error = &'static str;

    fn try_from(extent: Extent) -> Result<Self, Self::Error> {
        let is_named = !extent.nodes.is_empty() || !extent.groups.is_empty();
        match extent.percent {
            Some(_) if is_named => {
                Err("`percent` is of all nodes, and does not go together with `nodes` or `groups`")
            }
            Some(percent @ 1..=100) => Ok(Self::Percent(percent)),
            Some(_) => Err("`percent` is between 1 and 100"),
            None if !is_named => Ok(Self::Everything),
            None => Ok(Self::Some {
                nodes: extent.nodes,
                groups: extent.groups,
            }),
        }
    }
}

/// `POST /api/v1/activations`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Activation {
    /// Which nodes are meant.
    #[serde(flatten)]
    pub extent: Extent,
    /// The plan that was seen; another one is a reason to refuse.
    #[serde(default)]
    pub plan: Option<String>,
    /// Who, why, and by what means.
    #[serde(flatten)]
    pub doing: Doing,
}

/// What an activation did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activated {
    /// The new version; none if nothing changed.
    pub version: Option<u64>,
    /// What it was made from.
    pub plan: String,
    /// The nodes that got another configuration.
    pub changed: Vec<String>,
}

/// `POST /api/v1/rollout`: an activation in stages. All other nodes follow after the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewRollout {
    /// The version whose assertions nodes are to run; without it, the newest.
    #[serde(default)]
    pub target: Option<u64>,
    /// Who comes first, and who then.
    #[serde(default)]
    pub stages: Vec<Extent>,
    /// So many in a hundred of the nodes of a stage must succeed,
    #[serde(default = "all")]
    pub success: u8,
    /// within so many seconds,
    #[serde(default = "ten_minutes")]
    pub within: u64,
    /// while at most so many fail.
    #[serde(default)]
    pub failures: u64,
    /// What becomes of the rollout otherwise.
    #[serde(default)]
    pub otherwise: Otherwise,
    /// So many nodes may restart something at a time; without it, any number.
    #[serde(default)]
    pub restarts: Option<u64>,
    /// The plan that was seen; another one is a reason to refuse.
    #[serde(default)]
    pub plan: Option<String>,
    /// Who, why, and by what means.
    #[serde(flatten)]
    pub doing: Doing,
}

fn all() -> u8 {
    100
}

fn ten_minutes() -> u64 {
    600
}

/// How far an activation in stages is: `GET /api/v1/rollout`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// The version whose assertions nodes are to run in the end.
    pub target: u64,
    /// The version with which it began.
    pub began: u64,
    /// Who began it.
    pub author: String,
    /// `running`, `paused`, `stopped`, `rolled-back` or `done`.
    pub status: String,
    /// Why it went no further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its stages.
    pub stages: Vec<RolloutStage>,
    /// Which nodes do not say yet that they run again what they had before it was rolled back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returning: Vec<String>,
}

/// A part of a rollout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RolloutStage {
    /// Which nodes; without any of these fields, all.
    #[serde(flatten)]
    pub extent: Extent,
    /// `waiting`, `under-way` or `done`.
    pub status: String,
    /// How many nodes got another configuration by it so far.
    pub changed: u64,
    /// How many of them run it.
    pub succeeded: u64,
    /// Which of them could not, and why.
    #[serde(default)]
    pub failed: BTreeMap<String, String>,
    /// Which of them did not say yet.
    #[serde(default)]
    pub silent: Vec<String>,
    /// Whether more nodes are to come, when these are no longer restarting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// What a node says about itself: `POST /api/v1/nodes/NODE/check-in`, and what is kept of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// When it was heard, in milliseconds since 1970; the server's clock counts.
    #[serde(default)]
    pub time: u64,
    /// The version of the configuration that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<u64>,
    /// What came of the last one that it was to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The version that it was to run, and does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether what it runs is no longer what it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// What it is like: its system, memory and load.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

/// What came of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It runs.
    Applied,
    /// It does not, and the one before it does.
    RolledBack,
    /// Neither runs as it should.
    Failed,
}

/// What a node is told when it checks in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedIn {
    /// Its name, as it is spelled.
    pub node: String,
    /// The version of the configuration that it is to run; 0 if there is none yet.
    pub version: u64,
}

/// A node's configuration: `GET /api/v1/nodes/NODE/config`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// Its name, as it is spelled.
    pub node: String,
    /// The version with which it last changed; 0 if nothing was activated.
    pub version: u64,
    /// Its values.
    pub parameters: BTreeMap<String, String>,
    /// The parameters whose values are secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The features that it has.
    #[serde(default)]
    pub features: Vec<String>,
    /// The groups that it is in.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// What changed for a node: `GET /api/v1/nodes/NODE/changes?since=VERSION`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// From which version.
    pub since: u64,
    /// To which.
    pub version: u64,
    /// The values that differ.
    pub parameters: BTreeMap<String, Difference>,
    /// The subsystems that must restart.
    pub restart: Vec<String>,
    /// The subsystems that must read their configuration again.
    pub reread: Vec<String>,
}

/// A value before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Before.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// `POST /api/v1/enrolments`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrolment {
    /// The name of the node.
    pub node: String,
    /// The token that it made for itself, and will be known by.
    pub token: String,
}

/// A newcomer is known by its own token from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrolled {
    /// Its name, as it is spelled.
    pub node: String,
}

/// `POST /api/v1/tokens`: what a new token is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// What it may.
    #[serde(default)]
    pub may: Vec<Grant>,
    /// For whom alone it may write.
    #[serde(default)]
    pub owner: Option<String>,
    /// Whether it trades itself for a node's own.
    #[serde(default)]
    pub join: bool,
    /// The node that it is of, or for.
    #[serde(default)]
    pub node: Option<String>,
    /// After so many seconds it is worth nothing.
    #[serde(default)]
    pub lasts: Option<u64>,
}

/// Something that a token may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// `read`, `write`, `activate` or `administer`.
    pub role: String,
    /// With these keys and all below them; without any, everywhere.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// A token that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeToken {
    /// Its name.
    pub name: String,
    /// The token, told this once.
    pub token: String,
}

/// A token as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedToken {
    /// Its name.
    pub name: String,
    /// `bearer`, `node` or `join`.
    pub kind: String,
    /// What it may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may: Vec<String>,
    /// The node that it is of, or for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// From when on it is worth nothing, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

/// `POST /api/v1/seal`: a secret, which comes back sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// The secret.
    pub text: String,
}

/// A secret under the server's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// What is shown of it.
    pub fingerprint: String,
    /// What only the server can open.
    pub content: String,
    /// Says with which token it was handed in, and for how long that counts.
    pub receipt: String,
}

/// `POST /api/v1/objects`: the objects with these hashes, as frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The hashes.
    pub hashes: Vec<Hash>,
}

/// A node as the service sees it: `GET /api/v1/nodes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name, as it is spelled.
    pub name: String,
    /// The version of the configuration that it is to run.
    pub desired: u64,
    /// The version that it says it runs.
    pub applied: Option<u64>,
    /// What it reported last.
    pub report: Option<Report>,
}

/// A page of many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// What `after` is for the next page; none on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Bytes one behind the other, each with its length before it.
pub mod frames {
    /// Stands for something that is not there.
    const MISSING: u32 = u32::MAX;

    /// Adds a frame.
    pub fn push(frames: &mut Vec<u8>, content: Option<&[u8]>) {
        let length = content.map_or(MISSING, |content| content.len() as u32);
        frames.extend(length.to_le_bytes());
        frames.extend(content.unwrap_or_default());
    }

    /// The contents of all frames; nothing if they were cut.
    pub fn read(mut bytes: &[u8]) -> Option<Vec<Option<Vec<u8>>>> {
        let mut contents = Vec::new();
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first_chunk::<4>()?;
            let length = u32::from_le_bytes(*length);
            if length == MISSING {
                contents.push(None);
                bytes = rest;
                continue;
            }
            let (content, rest) = rest.split_at_checked(length as usize)?;
            contents.push(Some(content.to_vec()));
            bytes = rest;
        }
        Some(contents)
    }
}

/// Bytes in JSON.
mod bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::frames;

    #[test]
    fn frames_are_read_as_they_were_written_or_not_at_all() {
        let mut bytes = Vec::new();
        for content in [Some(&b"one"[..]), None, Some(&b""[..])] {
            frames::push(&mut bytes, content);
        }
        let read = frames::read(&bytes).unwrap();
        assert_eq!(read, [Some(b"one".to_vec()), None, Some(Vec::new())]);
        for cut in [1, 5, 9] {
            assert_eq!(frames::read(&bytes[..cut]), None, "{cut}");
        }
    }
}
