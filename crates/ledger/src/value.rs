//! What is asserted about a key: a text, kept byte for byte, or nothing more than that it is so.

use std::fmt;

use ecow::EcoString;
use serde::{Deserialize, Serialize};

/// What is asserted about a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// That it is so.
    Nothing,
    /// This text.
    Text(EcoString),
    /// A text that only those may read who have the key to it.
    Sealed(Sealed),
}

/// A text that was sealed. Equal texts are equal when sealed, and that is all that can be seen of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sealed {
    /// What is shown instead of the text.
    pub fingerprint: EcoString,
    /// The sealed text, in hexadecimal digits.
    pub content: EcoString,
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<EcoString>) -> Self {
        Self::Text(text.into())
    }

    /// The text, if it is one that everybody may read.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Nothing | Value::Sealed(_) => None,
        }
    }
}

impl fmt::Display for Value {
    /// As it stands behind its key in a command, with a blank before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nothing => Ok(()),
            Value::Text(text) if is_word(text) => write!(f, " {text}"),
            Value::Text(text) => write!(f, " {}", Quoted(text)),
            Value::Sealed(sealed) => {
                write!(f, " sealed({} {})", sealed.fingerprint, sealed.content)
            }
        }
    }
}

/// Whether a text needs no quotes in a command.
pub(crate) fn is_word(text: &str) -> bool {
    let plain = |character: char| {
        character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '+' | ':' | '/' | '@')
    };
    !text.is_empty() && text.chars().all(plain)
}

/// A text in quotes.
pub(crate) struct Quoted<'t>(pub &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                '\r' => f.write_str("\\r")?,
                other if other.is_control() => write!(f, "\\u{{{:x}}}", u32::from(other))?,
                other => write!(f, "{other}")?,
            }
        }
        f.write_str("\"")
    }
}
