//! The published algorithms, as they are written down: slow, and what everything else is compared with.
//!
//! They read the assertions by their keys and keep nothing. One thing is not as printed: figure 3 computes the
//! configuration of a group apart and then applies its values to the node, which loses what an operator would have done to
//! values further down. Here every binding is applied to the node's configuration at once.

use std::collections::{BTreeMap, BTreeSet};

use hence_ledger::key::fold;
use hence_ledger::{Key, Value, Vocabulary};

use crate::partial::{Operator, operator};
use crate::words::{DEFAULT, Kind, Words, rank};

/// Assertions, by their keys.
pub type Assertions = BTreeMap<Key, Value>;

/// The configuration of a node: names in one case, values as they are shown (figure 3).
pub fn config(assertions: &Assertions, node: &str) -> BTreeMap<String, String> {
    let mut config = BTreeMap::new();
    let node = Kind::Node.key(node);
    for group in groups(assertions, &node) {
        for feature in ranked(assertions, &group.child("feature"))
            .into_iter()
            .rev()
        {
            apply_feature(assertions, &feature, &mut config);
        }
        apply_params(assertions, &group, &mut config);
    }
    config
}

/// What a feature does: what it includes first, in inverse priority, then its own parameters over it (figure 5, by the
/// text of §5.1).
fn apply_feature(assertions: &Assertions, feature: &str, config: &mut BTreeMap<String, String>) {
    let key = Kind::Feature.key(feature);
    for included in ranked(assertions, &key.child("include")).into_iter().rev() {
        apply_feature(assertions, &included, config);
    }
    apply_params(assertions, &key, config);
}

fn apply_params(assertions: &Assertions, top: &Key, config: &mut BTreeMap<String, String>) {
    for param in below(assertions, &top.child("param")) {
        let mut value = assertions[&top.child("param").child(&param)].clone();
        let metadata = Kind::Param.key(&param);
        let must_change = assertions.contains_key(&metadata.child("must-change"));
        if let (Value::Nothing, false) = (&value, must_change) {
            let default = assertions.get(&metadata.child("default"));
            value = default.cloned().unwrap_or(Value::Nothing);
        }
        apply(config, param, &value);
    }
}

/// Binds a parameter over what is bound already (figure 4, extended as in §5.3).
fn apply(config: &mut BTreeMap<String, String>, param: String, value: &Value) {
    let below = config.remove(&param).unwrap_or_default();
    let sealed;
    let (operator, value) = match value {
        Value::Nothing => (Operator::Bare, ""),
        Value::Text(text) => operator(text),
        Value::Sealed(value) => {
            sealed = format!("sealed({})", value.fingerprint);
            (Operator::Set, sealed.as_str())
        }
    };
    let after = match operator {
        Operator::Bare => below,
        Operator::Set => value.to_owned(),
        _ if below.is_empty() => value.to_owned(),
        Operator::Else => below,
        Operator::List => format!("{below}, {value}"),
        Operator::And => format!("{below} && {value}"),
        Operator::Or => format!("{below} || {value}"),
    };
    config.insert(param, after);
}

/// What is wrong with a node: codes, and the names involved in one case, sorted (figures 7 to 9).
pub fn failures(assertions: &Assertions, node: &str) -> BTreeSet<(&'static str, Vec<String>)> {
    let mut found = BTreeSet::new();
    let mut installed = BTreeSet::new();
    let top = Kind::Node.key(node);
    for group in groups(assertions, &top) {
        for feature in below(assertions, &group.child("feature")) {
            reach(
                assertions,
                Kind::Feature,
                &feature,
                &["include"],
                &mut installed,
            );
        }
    }
    let mut needed = BTreeSet::new();
    for feature in &installed {
        reach(
            assertions,
            Kind::Feature,
            feature,
            &["include", "depend"],
            &mut needed,
        );
    }
    let missing: Vec<String> = needed.difference(&installed).cloned().collect();
    if !missing.is_empty() {
        found.insert(("fleet.missing-feature", missing));
    }
    let pairs = conflicts(assertions, Kind::Feature, &installed);
    found.extend(
        pairs
            .into_iter()
            .map(|pair| ("fleet.conflicting-features", pair)),
    );

    let config = config(assertions, node);
    let present: BTreeSet<String> = config.keys().cloned().collect();
    let is_unset = |(name, value): &(&String, &String)| {
        value.is_empty() && assertions.contains_key(&Kind::Param.key(name).child("must-change"))
    };
    let unset: Vec<String> = config
        .iter()
        .filter(is_unset)
        .map(|(name, _)| name.clone())
        .collect();
    if !unset.is_empty() {
        found.insert(("fleet.unset-parameter", unset));
    }
    let mut needed = BTreeSet::new();
    for param in &present {
        reach(assertions, Kind::Param, param, &["depend"], &mut needed);
    }
    let missing: Vec<String> = needed.difference(&present).cloned().collect();
    if !missing.is_empty() {
        found.insert(("fleet.missing-parameter", missing));
    }
    let pairs = conflicts(assertions, Kind::Param, &present);
    found.extend(
        pairs
            .into_iter()
            .map(|pair| ("fleet.conflicting-parameters", pair)),
    );
    found
}

/// Whether properties 1, 2 and 5 of §5.2 hold: nothing needs itself, and nothing conflicts with itself or with what it
/// needs; nor do the parameters that one feature needs conflict.
pub fn relations_hold(assertions: &Assertions) -> bool {
    let feature_edges = ["include", "depend"].as_slice();
    [(Kind::Feature, feature_edges), (Kind::Param, &["depend"])]
        .into_iter()
        .all(|(kind, edges)| {
            let names = entities(assertions, kind);
            names.iter().all(|name| {
                let mut needs = BTreeSet::new();
                reach(assertions, kind, name, edges, &mut needs);
                let params = params_needed(assertions, kind, &needs);
                !leads_back(assertions, kind, name, edges)
                    && conflicts(assertions, kind, &needs).is_empty()
                    && conflicts(assertions, Kind::Param, &params).is_empty()
            })
        })
}

fn leads_back(assertions: &Assertions, kind: Kind, name: &str, edges: &[&str]) -> bool {
    let mut beyond = BTreeSet::new();
    for edge in edges {
        for next in below(assertions, &kind.key(name).child(edge)) {
            reach(assertions, kind, &next, edges, &mut beyond);
        }
    }
    beyond.contains(name)
}

/// The parameters that some features set, and those that these need.
fn params_needed(
    assertions: &Assertions,
    kind: Kind,
    features: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut needed = BTreeSet::new();
    for feature in features.iter().filter(|_| kind == Kind::Feature) {
        for param in below(assertions, &kind.key(feature).child("param")) {
            reach(assertions, Kind::Param, &param, &["depend"], &mut needed);
        }
    }
    needed
}

/// All that is asserted of a kind.
fn entities(assertions: &Assertions, kind: Kind) -> Vec<String> {
    let names = assertions.keys().filter_map(|key| {
        let names: Vec<_> = key.names().collect();
        (names.len() == 2 && names[0] == kind.word()).then(|| names[1].to_string())
    });
    names.collect()
}

/// The tops of the groups of a node, the lowest first, its identity group last.
fn groups(assertions: &Assertions, node: &Key) -> Vec<Key> {
    let mut groups = vec![Kind::Group.key(DEFAULT)];
    let memberships = ranked(assertions, &node.child("group")).into_iter().rev();
    groups.extend(memberships.map(|group| Kind::Group.key(&group)));
    groups.push(node.clone());
    groups
}

fn reach(
    assertions: &Assertions,
    kind: Kind,
    from: &str,
    words: &[&str],
    reached: &mut BTreeSet<String>,
) {
    if reached.insert(from.to_owned()) {
        for word in words {
            for next in below(assertions, &kind.key(from).child(word)) {
                reach(assertions, kind, &next, words, reached);
            }
        }
    }
}

fn conflicts(
    assertions: &Assertions,
    kind: Kind,
    among: &BTreeSet<String>,
) -> BTreeSet<Vec<String>> {
    let mut pairs = BTreeSet::new();
    for name in among {
        for other in below(assertions, &kind.key(name).child("conflict")) {
            if among.contains(&other) {
                let mut pair = vec![name.clone(), other];
                pair.sort();
                pairs.insert(pair);
            }
        }
    }
    pairs
}

/// The names right below a key whose assertions have an effect.
fn below(assertions: &Assertions, top: &Key) -> Vec<String> {
    let from = assertions.range(top.clone()..);
    let near = from.take_while(|(key, _)| key.as_str().starts_with(top.as_str()));
    let keys = near
        .map(|(key, _)| key)
        .filter(|key| key.is_under(top) && *key != top);
    let supported = |key: &&Key| {
        let mut supports = Words.supports(key).into_iter();
        supports.all(|support| assertions.contains_key(&support))
    };
    let last = |key: &Key| fold(&key.names().next_back().expect("keys have names"));
    keys.filter(supported).map(last).collect()
}

/// The names right below a key, from the lowest rank.
fn ranked(assertions: &Assertions, top: &Key) -> Vec<String> {
    let rank_of = |name: &String| match &assertions[&top.child(name)] {
        Value::Text(text) => rank(text).unwrap_or_default(),
        _ => 0,
    };
    let mut names = below(assertions, top);
    names.sort_by_key(|name| (rank_of(name), name.clone()));
    names
}
