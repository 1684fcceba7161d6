//! The world failing: a disk, a lock, a file that is not what was written.

use std::fmt;

use hence_model::diagnostic::{Code, Diagnostic};

/// What is kept is not what was written.
pub const DAMAGED: Code = Code::new("store.damaged");
/// Another process uses the store.
pub const LOCKED: Code = Code::new("store.locked");
/// The store was written by another version of the program, or is no store at all.
pub const FORMAT: Code = Code::new("store.format");
/// The address of a store is not one.
pub const ADDRESS: Code = Code::new("store.address");
/// The store does not let this user do it.
pub const DENIED: Code = Code::new("store.denied");
/// Reading or writing failed.
pub const FAILED: Code = Code::new("store.failed");
/// A change may have been made, or not: the store did not say.
pub const UNKNOWN: Code = Code::new("store.unknown");

/// Why a store could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of trouble it is.
    pub code: Code,
    /// What failed, in words.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: String,
}

impl Error {
    /// What failed, without advice.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: String::new(),
        }
    }

    /// With advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// What is kept is not what was written, and cannot be made good from itself.
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(DAMAGED, message).help("put a backup of the store in its place")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.help.is_empty() {
            true => Ok(()),
            false => write!(f, "; {}", self.help),
        }
    }
}

impl std::error::Error for Error {}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            code: diagnostic.code,
            message: diagnostic.message,
            help: diagnostic.help.join("; "),
        }
    }
}

impl From<Error> for Diagnostic {
    fn from(error: Error) -> Self {
        let diagnostic = Diagnostic::error(error.code, error.message);
        match error.help.is_empty() {
            true => diagnostic,
            false => diagnostic.help(error.help),
        }
    }
}
