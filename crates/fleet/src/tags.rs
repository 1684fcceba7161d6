//! Facts of nodes that put them into groups: tags.
//!
//! `fact/os = os-` says that a node whose fact `os` is `Linux` is a member of the group `os-linux`, if there is one. Which
//! facts count is said by who may write that key; a node only says what they are. Tags are behind all other groups of a
//! node, before the default group only.

use std::collections::{BTreeMap, BTreeSet};

use hence_ledger::admission::FACTS;
use hence_ledger::key::fold;
use hence_ledger::{Command, Key, Keys, State, Value, Vocabulary};

use crate::words::FACT;
use crate::{Kind, Words};

/// The rank of every tag: nobody else's is as high, and among themselves they are in the order of their names.
pub const RANK: i64 = 1 << 40;

/// The facts that count, and what the names of their groups begin with.
pub fn rules(state: &State) -> BTreeMap<String, String> {
    let rules = state.among(Keys::Under(Key::new([FACT])));
    let rules = rules.filter_map(|(key, assertion)| {
        let fact = key.names().nth(1)?.into_owned();
        Some((fact, assertion.value.as_text()?.to_owned()))
    });
    rules.collect()
}

/// What is to be changed so that a node has the tags of its facts, and why, in words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tagged {
    /// How it is done.
    pub commands: Vec<Command>,
    /// Why.
    pub message: String,
}

/// What is to be changed so that a node has the tags of its facts, and no others.
pub fn tagged(state: &State, node: &str, facts: &BTreeMap<String, String>) -> Tagged {
    let rules = rules(state);
    let mut wanted: BTreeMap<Key, String> = BTreeMap::new();
    for (fact, value) in facts {
        if let Some(prefix) = rules.get(&fold(fact))
            && let Some(key) = membership(state, node, &format!("{prefix}{}", value.trim()))
        {
            wanted.insert(key, format!("fact {fact} is {}", value.trim()));
        }
    }
    let memberships = Keys::Under(Kind::Node.key(node).child("group"));
    let mut reasons = Vec::new();
    let mut commands = Vec::new();
    let mut there = BTreeSet::new();
    for (key, assertion) in state.among(memberships) {
        if assertion.owner == FACTS && !wanted.contains_key(key) {
            let group = key.names().next_back().unwrap_or_default();
            reasons.push(format!("no fact says {group} any more"));
            commands.push(Command::Retract(Keys::Only(key.clone())));
        }
        there.insert(key);
    }
    // What somebody else says already needs no fact.
    for (key, reason) in wanted.into_iter().filter(|(key, _)| !there.contains(key)) {
        reasons.push(reason);
        commands.push(Command::Assert {
            owner: FACTS.into(),
            key,
            value: Value::text(RANK.to_string()),
        });
    }
    Tagged {
        commands,
        message: reasons.join("; "),
    }
}

/// What takes nodes out of the groups that a fact put them into. Those that another fact may have put them into, as its
/// groups begin with the same, they leave when they say their facts again.
pub fn untagged(state: &State, fact: &str) -> Vec<Command> {
    let mut rules = rules(state);
    let Some(prefix) = rules.remove(&fold(fact)) else {
        return Vec::new();
    };
    let prefix = fold(&prefix);
    let others: Vec<String> = rules.values().map(|other| fold(other)).collect();
    let is_of = |key: &Key| {
        let names: Vec<_> = key.names().collect();
        let [_, _, relation, group] = names.as_slice() else {
            return false;
        };
        let may_be_other = others.iter().any(|other| group.starts_with(other.as_str()));
        relation == "group" && group.starts_with(&prefix) && !may_be_other
    };
    let nodes = state.among(Keys::Under(Key::new([Kind::Node.word()])));
    nodes
        .filter(|(key, assertion)| assertion.owner == FACTS && is_of(key))
        .map(|(key, _)| Command::Retract(Keys::Only(key.clone())))
        .collect()
}

/// The key of a membership, if there is such a group, and nodes are put into it by name.
fn membership(state: &State, node: &str, group: &str) -> Option<Key> {
    state.get(&Kind::Group.key(group))?;
    let names = ["node", node, "group", group].map(str::to_owned);
    let is_special = fold(group).starts_with("+++");
    Words.key(&names).ok().filter(|_| !is_special)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(assertions: &[(&str, &str, &str)]) -> State {
        let mut state = State::default();
        for (owner, key, value) in assertions {
            let names = Key::names_in(key).unwrap();
            let (key, value) = Words.assertion(&names, Value::text(*value)).unwrap();
            let owner = (*owner).into();
            state.perform(&Command::Assert { owner, key, value }, 1, &Words);
        }
        state
    }

    fn said(state: &State, facts: &[(&str, &str)]) -> (Vec<String>, String) {
        let facts = facts
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()));
        let tagged = tagged(state, "N1", &facts.collect());
        let commands = tagged.commands.iter().map(Command::to_string);
        (commands.collect(), tagged.message)
    }

    const FLEET: [(&str, &str, &str); 5] = [
        ("op", "node/n1", "n1"),
        ("op", "group/OS-Linux", "OS-Linux"),
        ("op", "group/os-plan 9", "os-plan 9"),
        ("op", "group/+++skel", "+++skel"),
        ("op", "fact/OS", "os-"),
    ];

    #[test]
    fn only_facts_that_count_and_groups_that_are_there_make_tags() {
        let state = state(&FLEET);
        let (commands, message) = said(&state, &[("os", " Linux\n"), ("kernel", "6.1")]);
        assert_eq!(commands.len(), 1, "{commands:?}");
        assert!(
            commands[0].contains("node/n1/group/os-linux"),
            "{commands:?}"
        );
        assert_eq!(message, "fact os is Linux");
        assert_eq!(said(&state, &[("Os", "Plan 9")]).1, "fact Os is Plan 9");
        for value in ["hurd", "", "+++skel", "linux/x", "\u{0}"] {
            assert_eq!(said(&state, &[("os", value)]).0.len(), 0, "{value:?}");
        }
    }

    #[test]
    fn what_no_fact_says_any_more_goes_and_what_people_say_stays() {
        let rank = RANK.to_string();
        let mut assertions = FLEET.to_vec();
        assertions.push((FACTS, "node/n1/group/os-linux", &rank));
        assert_eq!(said(&state(&assertions), &[("os", "linux")]).0.len(), 0);
        let (commands, message) = said(&state(&assertions), &[("os", "plan 9")]);
        assert_eq!(commands.len(), 2, "{commands:?}");
        assert_eq!(message, "no fact says os-linux any more; fact os is plan 9");
        assertions.retain(|(_, key, _)| *key != "fact/OS");
        assert_eq!(said(&state(&assertions), &[("os", "linux")]).0.len(), 1);
        assertions.pop();
        assertions.push(("op", "node/n1/group/os-linux", "10"));
        assertions.push(("op", "fact/os", "os-"));
        for facts in [("os", "linux"), ("os", "hurd")] {
            assert_eq!(said(&state(&assertions), &[facts]).0.len(), 0, "{facts:?}");
        }
    }
}
