//! Regular expressions as Ruby writes them.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A regular expression.
pub struct Pattern {
    source: String,
    regex: fancy_regex::Regex,
}

impl Pattern {
    /// Reads a regular expression, without its slashes. The trouble with it is told in words.
    pub fn new(source: &str) -> Result<Self, String> {
        let regex = fancy_regex::Regex::new(source).map_err(|error| error.to_string())?;
        let source = source.to_owned();
        Ok(Self { source, regex })
    }

    /// The expression as written, without its slashes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The first match: the whole and the groups. None also if looking takes too long.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Vec<Option<&'t str>>> {
        let captures = self.regex.captures(text).ok()??;
        let group = |at| {
            captures
                .get(at)
                .map(|found: fancy_regex::Match<'t>| found.as_str())
        };
        Some((0..captures.len()).map(group).collect())
    }

    /// Whether there is a match.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text).unwrap_or(false)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl Hash for Pattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}
