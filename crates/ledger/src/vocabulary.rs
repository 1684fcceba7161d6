//! What the keys of a ledger mean.

use hence_model::diagnostic::{Code, Diagnostic};

use crate::{Key, Keys, Value};

/// The keys that there are, and how they bear on each other. All of it is decided by keys and values alone, never by what
/// is asserted.
pub trait Vocabulary {
    /// The assertion that is meant by what somebody wrote: names in their one spelling, the value checked.
    fn assertion(&self, names: &[String], value: Value) -> Result<(Key, Value), Fault>;

    /// The key, or the top of keys, that is meant by what somebody wrote.
    fn key(&self, names: &[String]) -> Result<Key, Fault>;

    /// The other keys that cannot be asserted beside this one.
    fn conflicts(&self, key: &Key) -> Vec<Keys>;

    /// The keys that must be asserted for this one to have an effect.
    fn supports(&self, key: &Key) -> Vec<Key>;

    /// Where the keys are that this one may support.
    fn reach(&self, key: &Key) -> Reach;

    /// The command that makes what a key names, for whoever speaks of it and it is not there.
    fn making(&self, _: &Key) -> Option<String> {
        None
    }

    /// Whether what is said about it stays when an old version is restored, or the newest change is taken back.
    fn endures(&self, _: &Key) -> bool {
        false
    }
}

/// Where the keys are that a key may support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It supports none.
    Nowhere,
    /// Below it.
    Below,
    /// Anywhere.
    Anywhere,
}

/// There is no such key, or it cannot have such a value.
pub const UNKNOWN: Code = Code::new("ledger.unknown-key");

/// What is wrong with something written, wherever it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of trouble it is.
    pub code: Code,
    /// What is wrong, in words.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: String,
}

impl Fault {
    /// A key that is none, without advice.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            code: UNKNOWN,
            message: message.into(),
            help: String::new(),
        }
    }

    /// Of another kind.
    pub fn code(mut self, code: Code) -> Self {
        self.code = code;
        self
    }

    /// With advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

impl From<Fault> for Diagnostic {
    fn from(fault: Fault) -> Self {
        let diagnostic = Diagnostic::error(fault.code, fault.message);
        match fault.help.is_empty() {
            true => diagnostic,
            false => diagnostic.help(fault.help),
        }
    }
}
