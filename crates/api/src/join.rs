//! What a newcomer is given: where the server is, how it is recognised, and a token to trade.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

/// What a node needs to join, as one word that can be pasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The server.
    pub server: String,
    /// The enrolment token.
    pub token: String,
    /// The certificate that the server must show, in PEM; without it, one that an authority vouches for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

const MARK: &str = "hence-join-";

impl Join {
    /// As one word.
    pub fn to_word(&self) -> String {
        let json = serde_json::to_vec(self).expect("it can be written");
        format!("{MARK}{}", BASE64.encode(json))
    }

    /// From one word; nothing if it is none, or was cut.
    pub fn from_word(word: &str) -> Option<Self> {
        let json = BASE64.decode(word.trim().strip_prefix(MARK)?).ok()?;
        serde_json::from_slice(&json).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_written_or_not_at_all() {
        let join = Join {
            server: "https://hub:7070".to_owned(),
            token: "t".to_owned(),
            certificate: Some("PEM\n".to_owned()),
        };
        let word = join.to_word();
        assert_eq!(Join::from_word(&format!(" {word}\n")), Some(join));
        assert_eq!(Join::from_word(&word[..word.len() - 7]), None);
        assert_eq!(Join::from_word("x"), None);
    }
}
