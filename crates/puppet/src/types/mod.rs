//! The types of the language, which are values too.

use std::fmt;

use ecow::EcoString;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Anything.
    Any,
    /// `Resource`, `File`, `File['/etc/motd']`: the type in lower case and the title, as far as they are said.
    Resource(Option<EcoString>, Option<EcoString>),
    /// `Class`, `Class['apache']`: the name in lower case, if it is said.
    Class(Option<EcoString>),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
