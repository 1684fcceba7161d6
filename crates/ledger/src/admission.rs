//! Whether commands may change the ledger: what is checked around them, and never inside them.

use std::collections::BTreeSet;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};

use crate::rights::Rights;
use crate::state::{Change, State, by_key};
use crate::vocabulary::{Reach, Vocabulary};
use crate::{Command, Key, Keys};

/// Somebody else holds the key.
pub const TAKEN: Code = Code::new("ledger.taken");
/// What would be asserted has no effect, as what it needs is not asserted.
pub const DORMANT: Code = Code::new("ledger.dormant");
/// The owner may not write there.
pub const FORBIDDEN: Code = Code::new("ledger.forbidden");

/// Anybody may take what this owner asserts: it is what came by itself.
pub const WALK_IN: &str = "walk-in";
/// And what this one asserts: it follows from what machines say of themselves.
pub const FACTS: &str = "facts";

/// What somebody wants to do, and what they say they know about it.
#[derive(Clone, Debug)]
pub struct Admission<'a> {
    /// Who does it.
    pub owner: &'a str,
    /// What.
    pub commands: &'a [Command],
    /// Keys that may be taken from their owners, with all below them.
    pub take: &'a [Key],
    /// Whether something may be asserted that has no effect yet.
    pub dormant: bool,
    /// Who may write where.
    pub rights: &'a Rights,
    /// The version that it would be.
    pub version: u64,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Each key that changed, once.
    pub changes: Vec<Change>,
    /// Whom it costs something, and which keys.
    pub lost: Vec<(EcoString, Key)>,
    /// What no longer has an effect, and which keys it now misses.
    pub dormant: Vec<Dormant>,
}

/// An assertion that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dormant {
    /// What it is about.
    pub key: Key,
    /// Whose it is.
    pub owner: EcoString,
    /// What it needs and is not asserted.
    pub missing: Vec<Key>,
}

/// Does what somebody wants, or says why not and leaves the state as it was.
pub fn admit(
    state: &mut State,
    admission: &Admission<'_>,
    vocabulary: &dyn Vocabulary,
    check: &mut dyn FnMut(&State, &[Change]) -> Vec<Diagnostic>,
) -> Result<Admitted, Vec<Diagnostic>> {
    let mut troubles = forbidden(admission, vocabulary);
    let mut raw = Vec::new();
    for command in admission.commands {
        raw.extend(state.perform(command, admission.version, vocabulary));
    }
    let (changes, unchanged) = by_key(raw)
        .into_iter()
        .partition::<Vec<_>, _>(|change| change.before != change.after);
    // What was said and taken back on the way is as old as it was.
    state.take_back(&unchanged);
    if troubles.is_empty() {
        troubles = beyond(admission, &changes, vocabulary);
    }
    let lost = lost(admission, &changes);
    troubles.extend(taken(admission, &lost));
    let dormant = dormant(state, &changes, vocabulary);
    let is_new = |dormant: &&Dormant| {
        let change = changes.binary_search_by(|change| change.key.cmp(&dormant.key));
        change.is_ok()
    };
    if !admission.dormant {
        troubles.extend(useless(state, dormant.iter().filter(is_new), vocabulary));
    }
    if troubles.is_empty() {
        troubles = check(state, &changes);
    }
    if !troubles.iter().any(Diagnostic::is_error) {
        return Ok(Admitted {
            changes,
            lost,
            dormant,
        });
    }
    state.take_back(&changes);
    Err(troubles)
}

/// What others say no longer, and the owner may not write: what is missing in all that another is to say stands in no command.
fn beyond(
    admission: &Admission<'_>,
    changes: &[Change],
    vocabulary: &dyn Vocabulary,
) -> Vec<Diagnostic> {
    let is_others = |change: &&Change| {
        let before = change.before.as_ref();
        before.is_some_and(|before| before.owner != admission.owner)
    };
    let keys = changes.iter().filter(is_others);
    let keys = keys.map(|change| Keys::Only(change.key.clone()));
    let rights = admission.rights;
    let forbidden = keys
        .flat_map(|keys| rights.forbidden(admission.owner, &Command::Retract(keys), vocabulary));
    refusals(admission.owner, forbidden)
}

fn forbidden(admission: &Admission<'_>, vocabulary: &dyn Vocabulary) -> Vec<Diagnostic> {
    let mut forbidden = BTreeSet::new();
    for command in admission.commands {
        let keys = admission
            .rights
            .forbidden(admission.owner, command, vocabulary);
        forbidden.extend(keys);
    }
    refusals(admission.owner, forbidden)
}

/// That an owner may not write keys.
pub fn refusals(owner: &str, forbidden: impl IntoIterator<Item = Keys>) -> Vec<Diagnostic> {
    let trouble = |keys| {
        let (key, message) = match &keys {
            Keys::Only(key) => (key, format!("`{owner}` may not write `{key}`")),
            Keys::Under(key) => (key, format!("`{owner}` may not write all under `{key}`")),
        };
        Diagnostic::error(FORBIDDEN, message).path(key.as_str())
    };
    forbidden.into_iter().map(trouble).collect()
}

/// What the changes cost other owners.
fn lost(admission: &Admission<'_>, changes: &[Change]) -> Vec<(EcoString, Key)> {
    // Whoever is named in an `apply` acts for themselves.
    let named = admission
        .commands
        .iter()
        .filter_map(|command| match command {
            Command::Apply { owner, .. } => Some(owner.as_str()),
            _ => None,
        });
    let acting: BTreeSet<&str> = named.chain([admission.owner]).collect();
    let mut lost = Vec::new();
    for change in changes {
        let Some(before) = &change.before else {
            continue;
        };
        let writer = |after: &crate::Assertion| after.owner == before.owner;
        let acts = acting.contains(before.owner.as_str());
        if !acts && !change.after.as_ref().is_some_and(writer) {
            lost.push((before.owner.clone(), change.key.clone()));
        }
    }
    lost
}

fn taken(admission: &Admission<'_>, lost: &[(EcoString, Key)]) -> Vec<Diagnostic> {
    let told: BTreeSet<&str> = admission.take.iter().map(Key::as_str).collect();
    let untold = |key: &Key| !key.and_above().any(|above| told.contains(above));
    let lost = lost
        .iter()
        .filter(|(owner, key)| owner != WALK_IN && owner != FACTS && untold(key));
    lost.map(|(owner, key)| {
        let message = format!("`{key}` belongs to `{owner}`");
        Diagnostic::error(TAKEN, message)
            .path(key.as_str())
            .help(format!("`--take {key}` takes it, and `{owner}` is told"))
    })
    .collect()
}

/// What has no effect after the changes, and had, or was not there.
fn dormant(state: &State, changes: &[Change], vocabulary: &dyn Vocabulary) -> Vec<Dormant> {
    let mut suspects: BTreeSet<&Key> = BTreeSet::new();
    let mut everywhere = false;
    for change in changes {
        match (&change.before, &change.after) {
            (_, Some(_)) => {
                if change.before.is_none() {
                    suspects.insert(&change.key);
                }
            }
            (Some(_), None) => match vocabulary.reach(&change.key) {
                Reach::Nowhere => {}
                Reach::Below => {
                    let below = Keys::Under(change.key.clone());
                    suspects.extend(state.among(below).map(|(key, _)| key));
                }
                Reach::Anywhere => everywhere = true,
            },
            (None, None) => {}
        }
    }
    if everywhere {
        suspects.extend(state.iter().map(|(key, _)| key));
    }
    let was_there = |key: &Key| {
        let change = changes.binary_search_by(|change| change.key.cmp(key));
        match change {
            Ok(change) => changes[change].before.is_some(),
            Err(_) => state.get(key).is_some(),
        }
    };
    let mut found = Vec::new();
    for key in suspects {
        let supports = vocabulary.supports(key);
        let missing: Vec<Key> = supports
            .iter()
            .filter(|support| state.get(support).is_none())
            .cloned()
            .collect();
        let is_news = !was_there(key) || supports.iter().all(was_there);
        if !missing.is_empty() && is_news {
            let owner = state.get(key).expect("it is asserted").owner.clone();
            let key = key.clone();
            found.push(Dormant {
                key,
                owner,
                missing,
            });
        }
    }
    found
}

/// How many assertions without effect are told with what may have been meant: looking for it takes a look at every
/// neighbour.
const MEANT: usize = 100;

fn useless<'d>(
    state: &State,
    dormant: impl Iterator<Item = &'d Dormant>,
    vocabulary: &dyn Vocabulary,
) -> Vec<Diagnostic> {
    let mut troubles = Vec::new();
    for dormant in dormant {
        let missing = dormant.missing.iter();
        let missing: Vec<String> = missing.map(|key| format!("`{key}`")).collect();
        let key = &dormant.key;
        let missing = missing.join(", ");
        let message = format!("`{key}` would have no effect: {missing} is not asserted");
        let mut trouble = Diagnostic::error(DORMANT, message).path(key.as_str());
        if troubles.len() < MEANT {
            let advice =
                dormant
                    .missing
                    .iter()
                    .filter_map(|key| match near(state, key, vocabulary) {
                        Some(near) => Some(format!("did you mean `{near}`?")),
                        None => Some(format!("`{}` makes it", vocabulary.making(key)?)),
                    });
            trouble.help.extend(advice);
        }
        troubles.push(trouble.help("`--dormant` asserts it all the same, to take effect later"));
    }
    troubles
}

/// The asserted neighbour of a key that is most like it, as people spell it.
fn near(state: &State, key: &Key, vocabulary: &dyn Vocabulary) -> Option<Key> {
    let (above, name) = key.as_str().rsplit_once('/')?;
    let below = state.among(Keys::Under(Key::from_text(above)));
    let names = below.filter_map(|(key, _)| key.as_str()[above.len()..].strip_prefix('/'));
    let neighbours = names.filter(|name| !name.contains('/'));
    let meant = *similar(name, neighbours).first()?;
    let meant = Key::from_text(&format!("{above}/{meant}"));
    Some(spelled(state, &meant, vocabulary).unwrap_or(meant))
}

/// A key in the spelling of people, if what is asserted there is its last name in another one.
fn spelled(state: &State, key: &Key, vocabulary: &dyn Vocabulary) -> Option<Key> {
    let spelling = state.get(key)?.value.as_text()?;
    let mut names: Vec<String> = key.names().map(|name| name.into_owned()).collect();
    *names.last_mut()? = spelling.to_owned();
    let is_same = vocabulary.key(&names).is_ok_and(|same| same == *key);
    is_same.then(|| Key::new(names.iter().map(String::as_str)))
}
