//! Keys: what an assertion is about.
//!
//! A key is a path of names, such as `group/web/feature/scheduler`. In its text a character that would end a name or a
//! key stands as `%` and two digits, so that a key is always one word.

use std::borrow::Cow;
use std::fmt;

use ecow::EcoString;
use serde::{Deserialize, Serialize};

/// What an assertion is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(EcoString);

/// Some of all keys that there can be: what a command writes, and what a right allows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// This one.
    Only(Key),
    /// This one, and all below it.
    Under(Key),
}

impl Key {
    /// The key with these names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut text = EcoString::new();
        for (number, name) in names.into_iter().enumerate() {
            if number > 0 {
                text.push('/');
            }
            escape(name, &mut text);
        }
        Self(text)
    }

    /// The key that this text is the text of: one that a key became, as nothing is looked at. What people write is read
    /// by [`Key::read`].
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// The key that somebody wrote, or `None` if a name is empty or a `%` has no two digits behind it.
    pub fn read(text: &str) -> Option<Self> {
        let names = Self::names_in(text)?;
        Some(Self::new(names.iter().map(String::as_str)))
    }

    /// The names in a key as somebody wrote it, or `None` if a name is empty or a `%` has no two digits behind it.
    pub fn names_in(text: &str) -> Option<Vec<String>> {
        text.split('/').map(unescape).collect()
    }

    /// The key as one word.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its names, from the outermost.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
        self.0.split('/').map(|name| match name.contains('%') {
            true => Cow::Owned(unescape(name).expect("keys are escaped as a whole")),
            false => Cow::Borrowed(name),
        })
    }

    /// Whether it is `other`, or below it.
    pub fn is_under(&self, other: &Key) -> bool {
        let rest = self.0.strip_prefix(other.0.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The texts of the keys that it is under: its own, and those with fewer of its names.
    pub fn and_above(&self) -> impl Iterator<Item = &str> {
        let ends = self.0.match_indices('/').map(|(end, _)| end);
        ends.chain([self.0.len()]).map(|end| &self.0[..end])
    }

    /// The key one name further down.
    pub fn child(&self, name: &str) -> Key {
        let mut text = self.0.clone();
        text.push('/');
        escape(name, &mut text);
        Self(text)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Keys {
    /// Whether `key` is one of them.
    pub fn contains(&self, key: &Key) -> bool {
        match self {
            Keys::Only(only) => key == only,
            Keys::Under(top) => key.is_under(top),
        }
    }

    /// Whether all of `other` are among them.
    pub fn includes(&self, other: &Keys) -> bool {
        match (self, other) {
            (_, Keys::Only(key)) => self.contains(key),
            (Keys::Under(top), Keys::Under(other)) => other.is_under(top),
            (Keys::Only(_), Keys::Under(_)) => false,
        }
    }
}

/// What would end a name, a key, or a command.
fn is_special(character: char) -> bool {
    matches!(character, '/' | '%' | '"' | '#' | '{' | '}' | ';')
        || character.is_whitespace()
        || character.is_control()
}

fn escape(name: &str, text: &mut EcoString) {
    let mut bytes = [0; 4];
    for character in name.chars() {
        match is_special(character) {
            false => text.push(character),
            true => {
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    text.push_str(&format!("%{byte:02x}"));
                }
            }
        }
    }
}

fn unescape(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        // A sign is no digit, though numbers may begin with one.
        let number = (!digits.starts_with('+')).then(|| u8::from_str_radix(digits, 16).ok())??;
        bytes.push(number);
        rest = &rest[2..];
    }
    let name = String::from_utf8(bytes).ok()?;
    (!name.is_empty()).then_some(name)
}

/// One case for names that mean the same in any.
pub fn fold(name: &str) -> String {
    // Character by character: the small sigma must not depend on what follows it.
    name.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_whatever_its_names_are() {
        let key = Key::new(["param", "FOO BAR", "a/b%", "é"]);
        assert_eq!(key.as_str(), "param/FOO%20BAR/a%2fb%25/é");
        let names: Vec<_> = key.names().collect();
        assert_eq!(names, ["param", "FOO BAR", "a/b%", "é"]);
    }

    #[test]
    fn what_people_write_may_be_no_key() {
        for text in ["", "a//b", "/a", "a/", "a/%", "a/%2", "a/%+f", "a/%ff"] {
            assert_eq!(Key::names_in(text), None, "{text}");
        }
        assert_eq!(Key::names_in("a/%2F").unwrap(), ["a", "/"]);
    }

    #[test]
    fn under_goes_by_whole_names() {
        let top = Key::new(["group", "web"]);
        assert!(Key::new(["group", "web", "x"]).is_under(&top));
        assert!(!Key::new(["group", "web2"]).is_under(&top));
    }

    #[test]
    fn a_key_is_under_those_that_are_above_it_and_itself() {
        let key = Key::new(["group", "a/b", "feature"]);
        let above: Vec<&str> = key.and_above().collect();
        assert_eq!(above, ["group", "group/a%2fb", "group/a%2fb/feature"]);
        assert!(
            above
                .iter()
                .all(|above| key.is_under(&Key::from_text(above)))
        );
    }
}
