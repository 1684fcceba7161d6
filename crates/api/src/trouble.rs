//! Diagnostics on the wire.

use std::collections::BTreeSet;
use std::sync::Mutex;

use hence_model::diagnostic::{Code, Diagnostic, Severity};
use serde::{Deserialize, Serialize};

/// One thing that is wrong, as it travels. It has no places: the sources are on the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// `error` or `warning`.
    pub severity: String,
    /// Its code.
    pub code: String,
    /// The rule of the published semantics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The headline.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// All that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Troubles {
    /// At least one.
    pub errors: Vec<Trouble>,
}

impl From<&Diagnostic> for Trouble {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity.word().to_owned(),
            code: diagnostic.code.name.to_owned(),
            rule: diagnostic.code.rule.map(str::to_owned),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            path: diagnostic.path.clone(),
        }
    }
}

impl From<Trouble> for Diagnostic {
    fn from(trouble: Trouble) -> Self {
        let code = Code {
            name: word(&trouble.code),
            rule: trouble.rule.as_deref().map(word),
        };
        let mut diagnostic = Diagnostic::error(code, trouble.message);
        if trouble.severity == Severity::Warning.word() {
            diagnostic.severity = Severity::Warning;
        }
        diagnostic.help = trouble.help;
        diagnostic.path = trouble.path;
        diagnostic
    }
}

/// So many different words are taken from servers; a code beyond that is not told apart from others.
const MOST: usize = 1000;

/// A word that lasts as long as the process, as those of codes do. There are few, and each is kept once.
fn word(text: &str) -> &'static str {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut words = WORDS.lock().unwrap_or_else(|poison| poison.into_inner());
    if let Some(word) = words.get(text) {
        return word;
    }
    if words.len() >= MOST || text.len() > 100 {
        return "server.unknown";
    }
    let word: &'static str = Box::leak(text.to_owned().into_boxed_str());
    words.insert(word);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_arrives_as_it_was_sent() {
        let sent = Diagnostic::warning(Code::of_rule("fleet.cycle", "1, 2"), "a circle")
            .help("break it")
            .path("feature/a");
        let text = serde_json::to_string(&Trouble::from(&sent)).unwrap();
        let arrived: Trouble = serde_json::from_str(&text).unwrap();
        assert_eq!(Diagnostic::from(arrived), sent);
    }
}
