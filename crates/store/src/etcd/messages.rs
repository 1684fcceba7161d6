//! What etcd's JSON gateway is asked, and what it answers: keys and values in base64, numbers in quotes, and nothing where
//! there is nothing to say.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A key or a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        Ok(Self(bytes))
    }
}

/// A number, which may be larger than those of JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Number(pub u64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

/// Several operations at once, of one kind or the other.
#[derive(Serialize, Default)]
pub(super) struct Transaction {
    /// What must all hold.
    pub compare: Vec<Compare>,
    /// What is done then.
    pub success: Vec<Operation>,
    /// What is done otherwise.
    pub failure: Vec<Operation>,
}

#[derive(Serialize)]
#[serde(tag = "target", rename_all = "UPPERCASE")]
pub(super) enum Compare {
    /// A key has this value.
    Value { key: Bytes, value: Bytes },
    /// A key was put so often; never is 0.
    Version { key: Bytes, version: Number },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    RequestRange(Range),
    RequestPut(Put),
}

/// Reads a key, or all from it up to another.
#[derive(Clone, Serialize, Default)]
pub(super) struct Range {
    pub key: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_end: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_order: Option<&'static str>,
    pub keys_only: bool,
    pub count_only: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Put {
    pub key: Bytes,
    pub value: Bytes,
    /// Whether the answer tells what was there before.
    pub prev_kv: bool,
}

#[derive(Serialize)]
pub(super) struct Delete {
    pub key: Bytes,
    pub range_end: Bytes,
}

#[derive(Serialize)]
pub(super) struct Watch {
    pub create_request: Watched,
}

#[derive(Serialize)]
pub(super) struct Watched {
    pub key: Bytes,
    pub start_revision: Number,
}

#[derive(Serialize)]
pub(super) struct Authenticate<'a> {
    pub name: &'a str,
    pub password: &'a str,
}

#[derive(Deserialize)]
pub(super) struct Transacted {
    /// Whether all that was compared held.
    #[serde(default)]
    pub succeeded: bool,
    #[serde(default)]
    pub responses: Vec<Response>,
}

#[derive(Deserialize)]
pub(super) struct Response {
    #[serde(default)]
    pub response_range: Found,
}

#[derive(Deserialize, Default)]
pub(super) struct Found {
    #[serde(default)]
    pub header: Header,
    #[serde(default)]
    pub kvs: Vec<Pair>,
    #[serde(default)]
    pub count: Number,
}

#[derive(Deserialize, Default)]
pub(super) struct Header {
    #[serde(default)]
    pub revision: Number,
}

#[derive(Deserialize, Default)]
pub(super) struct Replaced {
    pub prev_kv: Option<Pair>,
}

#[derive(Deserialize)]
pub(super) struct Pair {
    pub key: Bytes,
    #[serde(default)]
    pub value: Bytes,
}

#[derive(Deserialize)]
pub(super) struct Authenticated {
    pub token: String,
}

/// A line of what a watch tells.
#[derive(Deserialize)]
pub(super) struct Told {
    pub result: Option<News>,
}

#[derive(Deserialize)]
pub(super) struct News {
    #[serde(default)]
    pub events: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    pub canceled: bool,
}

/// What is answered instead, with the number of a status of gRPC.
#[derive(Deserialize)]
pub(super) struct Failure {
    #[serde(default)]
    pub message: String,
    pub code: u32,
}
