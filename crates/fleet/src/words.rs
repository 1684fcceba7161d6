//! The keys of a fleet, and what they mean.
//!
//! ```text
//! node/N = spelling       walk-in  annotation    group/G = rank    feature/F = rank   param/P = value or nothing
//! group/G = spelling      annotation             feature/F = rank  param/P = value or nothing
//! feature/F = spelling    annotation             include/F = rank  depend/F  conflict/F  param/P = value or nothing
//! param/P = spelling      kind  default  description  annotation  must-change  restart  level    depend/P  conflict/P
//! subsystem/S = spelling  annotation             param/P
//! right/O/K               owner O may write K and all below it, and nothing else but what is so named
//! fact/F = prefix         nodes whose fact F is V are in the group PREFIXV, if there is one: see `tags`
//! token/T = sum           who may do what over a network: see `token`
//! ```
//!
//! In keys all names are in one case; how a name is spelled is the value of its own key. What stands under a node besides
//! its memberships is its identity group.

use std::borrow::Cow;

use hence_ledger::key::fold;
use hence_ledger::rights::Rights;
use hence_ledger::vocabulary::Reach;
use hence_ledger::{Fault, Key, Keys, State, Value, Vocabulary};
use hence_model::diagnostic::similar;

use crate::edit::Thing;
use crate::token::{self, TOKEN};

/// The lowest membership of every node, in keys. It is always there.
pub const DEFAULT: &str = "+++default";
/// The group into which new nodes are put, in keys. It is enabled by asserting it.
pub const SKELETON: &str = "+++skel";
/// The default group, as it is spelled.
pub const DEFAULT_SPELLED: &str = "+++DEFAULT";
/// The skeleton group, as it is spelled.
pub const SKELETON_SPELLED: &str = "+++SKEL";

/// The vocabulary of a fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

/// What there is in a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A machine.
    Node,
    /// Nodes that have something in common.
    Group,
    /// Something that a node can do, as parameters that belong together.
    Feature,
    /// Something to be set.
    Param,
    /// A process that reads parameters.
    Subsystem,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [
        Kind::Node,
        Kind::Group,
        Kind::Feature,
        Kind::Param,
        Kind::Subsystem,
    ];

    /// Its word in keys.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Node => "node",
            Kind::Group => "group",
            Kind::Feature => "feature",
            Kind::Param => "param",
            Kind::Subsystem => "subsystem",
        }
    }

    /// The key of one of them, whatever the case of its name.
    pub fn key(self, name: &str) -> Key {
        Key::new([self.word(), &fold(name)])
    }

    fn of(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// What can be said under the key of an entity.
pub(crate) struct Clause {
    pub kind: Kind,
    pub word: &'static str,
    pub takes: Takes,
    /// What its last name names, if it has one.
    pub about: Option<Kind>,
}

/// Which values a key can have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Text,
    Rank,
    /// Anything, or nothing: a parameter's value.
    Any,
}

const fn clause(kind: Kind, word: &'static str, takes: Takes, about: Option<Kind>) -> Clause {
    Clause {
        kind,
        word,
        takes,
        about,
    }
}

const CLAUSES: [Clause; 24] = [
    clause(Kind::Node, "walk-in", Takes::Nothing, None),
    clause(Kind::Node, "annotation", Takes::Text, None),
    clause(Kind::Node, "group", Takes::Rank, Some(Kind::Group)),
    clause(Kind::Node, "feature", Takes::Rank, Some(Kind::Feature)),
    clause(Kind::Node, "param", Takes::Any, Some(Kind::Param)),
    clause(Kind::Group, "annotation", Takes::Text, None),
    clause(Kind::Group, "feature", Takes::Rank, Some(Kind::Feature)),
    clause(Kind::Group, "param", Takes::Any, Some(Kind::Param)),
    clause(Kind::Feature, "annotation", Takes::Text, None),
    clause(Kind::Feature, "include", Takes::Rank, Some(Kind::Feature)),
    clause(Kind::Feature, "depend", Takes::Nothing, Some(Kind::Feature)),
    clause(
        Kind::Feature,
        "conflict",
        Takes::Nothing,
        Some(Kind::Feature),
    ),
    clause(Kind::Feature, "param", Takes::Any, Some(Kind::Param)),
    clause(Kind::Param, "kind", Takes::Text, None),
    clause(Kind::Param, "default", Takes::Text, None),
    clause(Kind::Param, "description", Takes::Text, None),
    clause(Kind::Param, "annotation", Takes::Text, None),
    clause(Kind::Param, "level", Takes::Text, None),
    clause(Kind::Param, "must-change", Takes::Nothing, None),
    clause(Kind::Param, "restart", Takes::Nothing, None),
    clause(Kind::Param, "depend", Takes::Nothing, Some(Kind::Param)),
    clause(Kind::Param, "conflict", Takes::Nothing, Some(Kind::Param)),
    clause(Kind::Subsystem, "annotation", Takes::Text, None),
    clause(Kind::Subsystem, "param", Takes::Nothing, Some(Kind::Param)),
];

/// A key of the fleet, taken apart.
pub(crate) struct Phrase<'k> {
    pub kind: Kind,
    /// Its name, in one case.
    pub name: Cow<'k, str>,
    /// What is said about it, and the name that this is about; `None` for the key of the entity itself.
    pub clause: Option<(&'static Clause, Option<Cow<'k, str>>)>,
}

impl<'k> Phrase<'k> {
    /// Takes a key apart, if it is one that can be asserted.
    pub fn of(key: &'k Key) -> Option<Self> {
        let mut names = key.names();
        let kind = Kind::of(&names.next()?)?;
        let name = names.next()?;
        let Some(word) = names.next() else {
            let clause = None;
            return Some(Self { kind, name, clause });
        };
        let clause = CLAUSES
            .iter()
            .find(|clause| clause.kind == kind && clause.word == word)?;
        let about = names.next();
        let fits = about.is_some() == clause.about.is_some() && names.next().is_none();
        fits.then_some(Self {
            kind,
            name,
            clause: Some((clause, about)),
        })
    }
}

impl Vocabulary for Words {
    fn assertion(&self, names: &[String], value: Value) -> Result<(Key, Value), Fault> {
        let key = self.key(names)?;
        if names[0] == TOKEN {
            let value = token::value(names, &key, value)?;
            return Ok((key, value));
        }
        if names[0] == FACT {
            return match value {
                Value::Text(prefix) if names.len() == 2 && !prefix.trim().is_empty() => {
                    Ok((key, Value::Text(prefix)))
                }
                _ if names.len() < 2 => Err(unfinished(names)),
                _ => Err(Fault::new(format!(
                    "`{key}` needs a text as its value: what the names of its groups begin with"
                ))),
            };
        }
        if names[0] == RIGHT {
            return match (names.len(), value) {
                (..=2, _) => Err(unfinished(names)),
                (_, Value::Nothing) => Ok((key, Value::Nothing)),
                _ => Err(Fault::new(format!("`{key}` has no value"))),
            };
        }
        let Some(phrase) = Phrase::of(&key) else {
            return Err(unfinished(names));
        };
        let value = match phrase.clause {
            None => spelling(phrase.kind, &phrase.name, &names[1], value)?,
            Some((clause, _)) => taken(clause, &key, value)?,
        };
        Ok((key, value))
    }

    fn key(&self, names: &[String]) -> Result<Key, Fault> {
        let Some(kind) = names.first() else {
            return Err(Fault::new("a key has names"));
        };
        if kind == RIGHT {
            return right(names);
        }
        if kind == TOKEN {
            return token::key(names);
        }
        if kind == FACT {
            return fact(names);
        }
        let kind = Kind::of(kind).ok_or_else(|| no_kind(kind))?;
        let mut folded = vec![kind.word().to_owned()];
        if let Some(name) = names.get(1) {
            folded.push(entity(kind, name)?);
        }
        if let Some(word) = names.get(2) {
            let found = CLAUSES
                .iter()
                .find(|clause| clause.kind == kind && clause.word == word);
            let clause = found.ok_or_else(|| no_clause(kind, word))?;
            folded.push(clause.word.to_owned());
            match (names.get(3), clause.about) {
                (Some(about), Some(other)) => {
                    folded.push(entity(other, about)?);
                    if kind == Kind::Node && folded[3] == DEFAULT {
                        return Err(Fault::new("every node is a member of the default group"));
                    }
                }
                (Some(more), None) => {
                    let message = format!("`{word}` has nothing below it, such as `{more}`");
                    return Err(Fault::new(message));
                }
                (None, _) => {}
            }
            if let Some(more) = names.get(4) {
                return Err(Fault::new(format!("no key goes on with `{more}` here")));
            }
        }
        Ok(Key::new(folded.iter().map(String::as_str)))
    }

    fn conflicts(&self, _: &Key) -> Vec<Keys> {
        Vec::new()
    }

    fn supports(&self, key: &Key) -> Vec<Key> {
        if let Some(token) = token_of(key) {
            return (token != *key).then_some(token).into_iter().collect();
        }
        let Some(phrase) = Phrase::of(key) else {
            return Vec::new();
        };
        let Some((clause, about)) = &phrase.clause else {
            return Vec::new();
        };
        let other = clause.about.zip(about.as_ref());
        let named = [Some((phrase.kind, &phrase.name)), other];
        let asserted = named
            .into_iter()
            .flatten()
            .filter(|(_, name)| *name != DEFAULT);
        asserted
            .map(|(kind, name)| Key::new([kind.word(), name]))
            .collect()
    }

    fn reach(&self, key: &Key) -> Reach {
        if token_of(key).is_some_and(|token| token == *key) {
            return Reach::Below;
        }
        match Phrase::of(key) {
            Some(Phrase {
                kind, clause: None, ..
            }) => match kind {
                Kind::Node | Kind::Subsystem => Reach::Below,
                Kind::Group | Kind::Feature | Kind::Param => Reach::Anywhere,
            },
            _ => Reach::Nowhere,
        }
    }

    fn making(&self, key: &Key) -> Option<String> {
        let Phrase { kind, name, clause } = Phrase::of(key)?;
        let thing = Thing {
            kind,
            name: name.into_owned(),
        };
        clause
            .is_none()
            .then(|| format!("hence add {}", thing.words()))
    }

    fn endures(&self, key: &Key) -> bool {
        token_of(key).is_some()
    }
}

/// The key of the token that a key is about.
fn token_of(key: &Key) -> Option<Key> {
    let mut names = key.names();
    let is_token = names.next().is_some_and(|word| word == TOKEN);
    let name = names.next().filter(|_| is_token)?;
    Some(Key::new([TOKEN, &name]))
}

/// Which facts put nodes into groups: keys that begin so have the name of a fact next.
pub(crate) const FACT: &str = "fact";

fn fact(names: &[String]) -> Result<Key, Fault> {
    match names {
        [_] => Ok(Key::new([FACT])),
        [_, name] if fold(name).is_empty() => Err(Fault::new("the name of a fact is empty")),
        [_, name] => Ok(Key::new([FACT, &fold(name)])),
        [_, _, more, ..] => Err(Fault::new(format!("no key goes on with `{more}` here"))),
        [] => Err(Fault::new("a key has names")),
    }
}

/// Who may write where: keys that begin so have the owner next, and then another key.
pub(crate) const RIGHT: &str = "right";

fn right(names: &[String]) -> Result<Key, Fault> {
    let mut all = vec![RIGHT.to_owned()];
    all.extend(names.get(1).cloned());
    if let Some(below @ [_, ..]) = names.get(2..) {
        let key = match below[0] == RIGHT {
            true => right(below)?,
            false => Words.key(below)?,
        };
        all.extend(key.names().map(|name| name.into_owned()));
    }
    Ok(Key::new(all.iter().map(String::as_str)))
}

/// Who may write where, as a state says it.
pub fn rights(state: &State) -> Rights {
    let mut rights = Rights::default();
    for (key, _) in state.among(Keys::Under(Key::new([RIGHT]))) {
        let mut names = key.names().skip(1);
        let owner = names.next();
        let top: Vec<Cow<'_, str>> = names.collect();
        if let (Some(owner), [_, ..]) = (owner, top.as_slice()) {
            let top = Key::new(top.iter().map(|name| &**name));
            rights.confine(&*owner, Keys::Under(top));
        }
    }
    rights
}

/// The one spelling of a name in keys.
fn entity(kind: Kind, name: &str) -> Result<String, Fault> {
    let folded = fold(name);
    if folded.is_empty() {
        return Err(Fault::new(format!(
            "the name of a {} is empty",
            kind.word()
        )));
    }
    let special = kind == Kind::Group && (folded == DEFAULT || folded == SKELETON);
    let reserved = matches!(kind, Kind::Node | Kind::Group) && folded.starts_with("+++");
    match reserved && !special {
        true => Err(
            Fault::new(format!("`{name}` is no name for a {}", kind.word())).help(
                "names that begin with `+++` are kept for the default and the skeleton group",
            ),
        ),
        false => Ok(folded),
    }
}

fn spelling(kind: Kind, name: &str, typed: &str, value: Value) -> Result<Value, Fault> {
    if kind == Kind::Group && name == DEFAULT {
        return Err(Fault::new("the default group is always there")
            .help("assert its features and parameters, such as `group/+++default/param/P`"));
    }
    match value {
        Value::Nothing => Ok(Value::text(typed)),
        Value::Text(text) if fold(&text) == name => Ok(Value::Text(text)),
        _ => {
            let message = format!(
                "the value of `{}/{name}` is how `{name}` is spelled",
                kind.word()
            );
            Err(Fault::new(message)
                .help("it may differ in case only; an `annotation` below it says more"))
        }
    }
}

fn taken(clause: &Clause, key: &Key, value: Value) -> Result<Value, Fault> {
    match (clause.takes, value) {
        (Takes::Nothing, Value::Nothing) => Ok(Value::Nothing),
        (Takes::Nothing, _) => Err(Fault::new(format!("`{key}` has no value"))
            .help("it is so when it is asserted, and not so when it is retracted")),
        (Takes::Any, value) => Ok(value),
        (Takes::Text, Value::Text(text)) => Ok(Value::Text(text)),
        (Takes::Text, _) => Err(Fault::new(format!("`{key}` needs a text as its value"))),
        (Takes::Rank, value) => match value.as_text().and_then(rank) {
            // One spelling, so that equal ranks are equal assertions.
            Some(rank) => Ok(Value::text(rank.to_string())),
            None => Err(Fault::new(format!("`{key}` needs a rank, a whole number"))
                .help("the lowest rank has the highest priority")),
        },
    }
}

/// A rank as it is written.
pub(crate) fn rank(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn no_kind(word: &str) -> Fault {
    let words = Kind::ALL.map(Kind::word);
    let fault = Fault::new(format!("a fleet has no `{word}`"));
    fault.help(advice(word, &words))
}

fn no_clause(kind: Kind, word: &str) -> Fault {
    let of_kind = CLAUSES.iter().filter(|clause| clause.kind == kind);
    let words: Vec<&str> = of_kind.map(|clause| clause.word).collect();
    let fault = Fault::new(format!("a {} has no `{word}`", kind.word()));
    fault.help(advice(word, &words))
}

pub(crate) fn advice(word: &str, words: &[&str]) -> String {
    match similar(word, words.iter().copied()).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are `{}`", words.join("`, `")),
    }
}

pub(crate) fn unfinished(names: &[String]) -> Fault {
    let fault = Fault::new(format!(
        "`{}` is only the beginning of a key",
        names.join("/")
    ));
    match names.last() {
        Some(last) if names.len() == 3 => fault.help(format!("`{last}/NAME` goes on with a name")),
        _ => fault.help("a key goes on with a name"),
    }
}
