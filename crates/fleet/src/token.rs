//! Tokens: who may do what over a network.
//!
//! ```text
//! token/T = sum     owner  expires     may/ROLE = keys, or nothing for all    a person or a program
//!                   node = N                                                  the node N, and only it
//!                   join               node = N                               trades itself for a node's own
//! ```
//!
//! A token is 256 random bits; the ledger holds their BLAKE3, so whoever reads the ledger learns none. That a token came or
//! went is in the history like everything else. Restoring an old version leaves tokens as they are: what was revoked stays
//! revoked.

use std::collections::BTreeMap;

use hence_ledger::key::fold;
use hence_ledger::{Fault, Key, Keys, State, Value};

use crate::words::{advice, unfinished};

/// The word that keys of tokens begin with.
pub const TOKEN: &str = "token";

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// To look.
    Read,
    /// To assert and retract.
    Write,
    /// To make what is asserted the target of nodes.
    Activate,
    /// Everything, tokens and rights among it.
    Administer,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 4] = [Role::Read, Role::Write, Role::Activate, Role::Administer];

    /// Its word in keys.
    pub fn word(self) -> &'static str {
        match self {
            Role::Read => "read",
            Role::Write => "write",
            Role::Activate => "activate",
            Role::Administer => "administer",
        }
    }

    /// The role of this word.
    pub fn of(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// A token, as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its name.
    pub name: String,
    /// Who bears it.
    pub bearer: Bearer,
    /// From when on it is worth nothing, in milliseconds since 1970.
    pub expires: Option<u64>,
}

/// Who bears a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bearer {
    /// A person or a program.
    Someone {
        /// For whom alone it may write.
        owner: Option<String>,
        /// What it may, and where; without keys, everywhere.
        may: BTreeMap<Role, Vec<Key>>,
    },
    /// A node, by its folded name.
    Node(String),
    /// A node that is still to come; if it has a name, only that one.
    Newcomer(Option<String>),
}

impl Token {
    /// Whether it allows something with all of some keys. Whoever may do more may look.
    pub fn may(&self, role: Role, keys: &Keys) -> bool {
        let Bearer::Someone { may, .. } = &self.bearer else {
            return false;
        };
        let within = |granted: &Role| {
            let tops = may.get(granted);
            tops.is_some_and(|tops| {
                let mut tops = tops.iter();
                tops.len() == 0 || tops.any(|top| Keys::Under(top.clone()).includes(keys))
            })
        };
        let (Keys::Only(key) | Keys::Under(key)) = keys;
        let is_access = is_access(key) && role != Role::Read;
        match is_access {
            true => within(&Role::Administer),
            false => within(&role) || within(&Role::Administer),
        }
    }

    /// Whether it allows something everywhere.
    pub fn may_everywhere(&self, role: Role) -> bool {
        let Bearer::Someone { may, .. } = &self.bearer else {
            return false;
        };
        let everywhere = |role: &Role| may.get(role).is_some_and(Vec::is_empty);
        everywhere(&role) || everywhere(&Role::Administer)
    }
}

/// Whether a key is about who may do what.
pub fn is_access(key: &Key) -> bool {
    let first = key.names().next();
    first.is_some_and(|word| word == TOKEN || word == crate::words::RIGHT)
}

/// All tokens of a state, by their sums.
pub fn tokens(state: &State) -> BTreeMap<String, Token> {
    let mut tokens = BTreeMap::new();
    let keys = state.among(Keys::Under(Key::new([TOKEN])));
    for (key, assertion) in keys {
        let names: Vec<_> = key.names().collect();
        let ([_, name], Some(sum)) = (names.as_slice(), assertion.value.as_text()) else {
            continue;
        };
        let said = |word: &str| {
            let found = state.get(&key.child(word));
            found.map(|assertion| assertion.value.as_text().unwrap_or_default().to_owned())
        };
        let bearer = match (said("join"), said("node")) {
            (Some(_), node) => Bearer::Newcomer(node),
            (None, Some(node)) => Bearer::Node(node),
            (None, None) => Bearer::Someone {
                owner: said("owner"),
                may: granted(state, key),
            },
        };
        let token = Token {
            name: name.to_string(),
            bearer,
            // What cannot be read has long been over.
            expires: said("expires").map(|time| time.parse().unwrap_or(0)),
        };
        tokens.insert(sum.to_owned(), token);
    }
    tokens
}

fn granted(state: &State, token: &Key) -> BTreeMap<Role, Vec<Key>> {
    let mut may = BTreeMap::new();
    for role in Role::ALL {
        let key = token.child("may").child(role.word());
        if let Some(assertion) = state.get(&key) {
            let keys = assertion.value.as_text().unwrap_or_default();
            let keys = keys.split_whitespace().map(Key::from_text);
            may.insert(role, keys.collect());
        }
    }
    may
}

/// The key of a token, or of something about it.
pub(crate) fn key(names: &[String]) -> Result<Key, Fault> {
    let mut all = vec![TOKEN.to_owned()];
    all.extend(names.get(1).map(|name| fold(name)));
    if let Some(word) = names.get(2) {
        const WORDS: [&str; 5] = ["owner", "expires", "node", "join", "may"];
        if !WORDS.contains(&word.as_str()) {
            let fault = Fault::new(format!("a token has no `{word}`"));
            return Err(fault.help(advice(word, &WORDS)));
        }
        all.push(word.clone());
        if let Some(role) = names.get(3) {
            if word != "may" || Role::of(role).is_none() {
                let fault = Fault::new(format!("no key goes on with `{role}` here"));
                return Err(fault.help(advice(role, &Role::ALL.map(Role::word))));
            }
            all.push(role.clone());
        }
        if let Some(more) = names.get(4) {
            return Err(Fault::new(format!("no key goes on with `{more}` here")));
        }
    }
    Ok(Key::new(all.iter().map(String::as_str)))
}

/// The value of a token's key, if it is one.
pub(crate) fn value(names: &[String], key: &Key, value: Value) -> Result<Value, Fault> {
    let text = || value.as_text().unwrap_or_default();
    let is_sum = |text: &str| {
        text.len() == 64
            && text
                .bytes()
                .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
    };
    let word = names.get(2).map(String::as_str);
    match word {
        None if names.len() == 2 => match is_sum(text()) {
            true => Ok(value),
            false => Err(Fault::new(format!(
                "the value of `{key}` is the sum of the token, 64 hexadecimal digits"
            ))
            .help("`hence token add NAME` makes a token")),
        },
        Some("join") => match value {
            Value::Nothing => Ok(value),
            _ => Err(Fault::new(format!("`{key}` has no value"))),
        },
        Some("node") => Ok(Value::text(fold(text()))),
        Some("owner") if !text().is_empty() => Ok(value),
        Some("expires") if text().parse::<u64>().is_ok() => Ok(value),
        Some("may") if names.len() == 4 => {
            for top in text().split_whitespace() {
                let names = Key::names_in(top);
                let names = names.ok_or_else(|| Fault::new(format!("`{top}` is not a key")))?;
                hence_ledger::Vocabulary::key(&crate::Words, &names)?;
            }
            Ok(value)
        }
        Some("owner" | "expires") => Err(Fault::new(format!("`{key}` needs another value"))),
        _ => Err(unfinished(names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn someone(may: &[(Role, &[&str])]) -> Token {
        let keys = |tops: &[&str]| tops.iter().map(|top| Key::from_text(top)).collect();
        let may = may.iter().map(|(role, tops)| (*role, keys(tops)));
        Token {
            name: "t".to_owned(),
            bearer: Bearer::Someone {
                owner: None,
                may: may.collect(),
            },
            expires: None,
        }
    }

    fn under(key: &str) -> Keys {
        Keys::Under(Key::from_text(key))
    }

    #[test]
    fn a_role_reaches_as_far_as_its_keys() {
        let token = someone(&[(Role::Write, &["group/web"]), (Role::Read, &[])]);
        assert!(token.may(Role::Write, &under("group/web/param/port")));
        assert!(!token.may(Role::Write, &under("group/web2")));
        assert!(!token.may(Role::Write, &under("group")));
        assert!(token.may(Role::Read, &under("node/n1")));
        assert!(!token.may(Role::Activate, &under("group/web")));
    }

    #[test]
    fn only_administrators_grant() {
        let token = someone(&[(Role::Write, &[])]);
        assert!(token.may(Role::Write, &under("node/n1")));
        assert!(!token.may(Role::Write, &under("token/t")));
        assert!(!token.may(Role::Write, &under("right/ann/node")));
        let token = someone(&[(Role::Administer, &[])]);
        assert!(token.may(Role::Write, &under("token/t")));
        assert!(token.may_everywhere(Role::Read));
    }

    #[test]
    fn a_node_may_nothing_that_people_may() {
        let token = Token {
            name: "n".to_owned(),
            bearer: Bearer::Node("n1".to_owned()),
            expires: None,
        };
        for role in Role::ALL {
            assert!(!token.may(role, &under("node/n1")));
            assert!(!token.may_everywhere(role));
        }
    }
}
