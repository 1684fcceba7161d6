//! What a newcomer is given: where the server is, how it is recognised, and a token to trade.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

/// What a node needs to join, as one word that can be pasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// How it is written; without it, as in the first release.
    #[serde(default = "first")]
    format: u32,
    /// The server.
    pub server: String,
    /// The enrolment token.
    pub token: String,
    /// The certificate that the server must show, in PEM; without it, one that an authority vouches for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// The node that it is for, if it is for one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

const MARK: &str = "hence-join-";
/// How words are written; a newer one is not guessed at.
const FORMAT: u32 = 1;

fn first() -> u32 {
    1
}

/// Why a word cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is none, or was cut.
    Cut,
    /// It is of a later release.
    Newer,
}

impl Join {
    /// What a node needs to join.
    pub fn new(server: String, token: String, certificate: Option<String>) -> Self {
        Self {
            format: FORMAT,
            server,
            token,
            certificate,
            node: None,
        }
    }

    /// The same, for this node only.
    pub fn for_node(self, node: Option<String>) -> Self {
        Self { node, ..self }
    }

    /// As one word.
    pub fn to_word(&self) -> String {
        let json = serde_json::to_vec(self).expect("it can be written");
        format!("{MARK}{}", BASE64.encode(json))
    }

    /// From one word.
    pub fn from_word(word: &str) -> Result<Self, Unread> {
        #[derive(Deserialize)]
        struct Format {
            #[serde(default = "first")]
            format: u32,
        }
        let word = word.trim().strip_prefix(MARK).ok_or(Unread::Cut)?;
        let json = BASE64.decode(word).map_err(|_| Unread::Cut)?;
        let Format { format } = serde_json::from_slice(&json).map_err(|_| Unread::Cut)?;
        match format > FORMAT {
            true => Err(Unread::Newer),
            false => serde_json::from_slice(&json).map_err(|_| Unread::Cut),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_written_or_not_at_all() {
        let text = |text: &str| text.to_owned();
        let join = Join::new(text("https://hub:7070"), text("t"), Some(text("PEM\n")));
        let word = join.to_word();
        assert_eq!(Join::from_word(&format!(" {word}\n")), Ok(join.clone()));
        let cut = &word[..word.len() - 7];
        assert_eq!(Join::from_word(cut), Err(Unread::Cut));
        assert_eq!(Join::from_word("x"), Err(Unread::Cut));
        // The first words did not say how they are written; a later one may have other fields.
        let encode = |json: &str| format!("{MARK}{}", BASE64.encode(json));
        let first = r#"{"server":"https://hub:7070","token":"t","certificate":"PEM\n"}"#;
        assert_eq!(Join::from_word(&encode(first)), Ok(join));
        let later = encode(r#"{"format":2,"servers":[]}"#);
        assert_eq!(Join::from_word(&later), Err(Unread::Newer));
    }
}
