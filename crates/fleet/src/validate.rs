//! What only whole nodes can break: properties 3, 4 and 6 of §5.2.
//!
//! A node is the union of its groups, so what is checked of it are unions of sets that are known for every group. Each
//! kind of failure names all that is involved; whose fault it is, and what would repair it, is worked out when somebody asks
//! ([`Pool::blame`], [`Pool::repairs`]).

use std::sync::Arc;

use ecow::EcoString;
use hence_ledger::Key;
use hence_model::diagnostic::{Code, Diagnostic};
use rustc_hash::FxHashMap;

use crate::bits::Bits;
use crate::derive::Part;
use crate::pool::Pool;
use crate::table::{Named, Table};
use crate::words::DEFAULT_SPELLED;

/// An installed feature includes or depends on one that is not installed (property 4, figure 8).
pub const MISSING_FEATURE: Code = Code::of_rule("fleet.missing-feature", "4");
/// A parameter that must be changed has no value (property 6, figure 9).
pub const UNSET_PARAMETER: Code = Code::of_rule("fleet.unset-parameter", "6");
/// A parameter depends on one that is not there (property 4).
pub const MISSING_PARAMETER: Code = Code::of_rule("fleet.missing-parameter", "4");
/// Two parameters are there that conflict (property 3).
pub const CONFLICTING_PARAMETERS: Code = Code::of_rule("fleet.conflicting-parameters", "3");
/// Two features are installed that conflict (property 3, figure 7).
pub const CONFLICTING_FEATURES: Code = Code::of_rule("fleet.conflicting-features", "3");

/// What is wrong with a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The node, as it is spelled; `+++DEFAULT` if there are no nodes.
    pub node: EcoString,
    /// What is wrong.
    pub code: Code,
    /// All that is missing or unset, or the two that conflict; in order, as they are spelled.
    pub names: Arc<[EcoString]>,
}

/// What is wrong, with whatever node.
type Trouble = (Code, Arc<[EcoString]>);

impl Pool {
    /// All that is wrong with all nodes, in the order of their names. If there are no nodes, the groups are checked that the
    /// first one would have.
    pub fn validate(&self) -> Vec<Failure> {
        let mut failures = Vec::new();
        let mut validator = Validator::new(self);
        let mut is_empty = true;
        for (number, name) in self.known_nodes() {
            is_empty = false;
            validator.node(number, &name, &mut failures);
        }
        if is_empty {
            let groups: Vec<u32> = self.groups_of_stranger().collect();
            let troubles = validator.troubles(groups, None);
            failures.extend(
                troubles
                    .iter()
                    .map(|trouble| failure(DEFAULT_SPELLED.into(), trouble)),
            );
        }
        // The failures of one node keep their order.
        failures.sort_by(|a, b| a.node.cmp(&b.node));
        failures
    }

    /// All that is wrong with some nodes, in their order. Nodes that there are not have nothing wrong.
    pub fn validate_nodes<'a>(&self, nodes: impl IntoIterator<Item = &'a str>) -> Vec<Failure> {
        let mut failures = Vec::new();
        let mut validator = Validator::new(self);
        for node in nodes {
            if let Some(number) = self.node(node) {
                let name = self.nodes.called(number);
                validator.node(number, &name, &mut failures);
            }
        }
        failures
    }
}

/// Checks nodes, and those alike only once.
struct Validator<'p> {
    pool: &'p Pool,
    /// By groups, for nodes with nothing in their identity groups.
    seen: FxHashMap<Vec<u32>, Arc<[Trouble]>>,
    union: Part,
}

impl<'p> Validator<'p> {
    fn new(pool: &'p Pool) -> Self {
        Self {
            pool,
            seen: FxHashMap::default(),
            union: Part::default(),
        }
    }

    fn node(&mut self, number: u32, name: &EcoString, failures: &mut Vec<Failure>) {
        let groups: Vec<u32> = self.pool.groups_of(number).collect();
        let own = self
            .pool
            .nodes
            .get(number)
            .own
            .as_ref()
            .map(|own| &own.part);
        let troubles = self.troubles(groups, own);
        failures.extend(
            troubles
                .iter()
                .map(|trouble| failure(name.clone(), trouble)),
        );
    }

    fn troubles(&mut self, groups: Vec<u32>, own: Option<&Arc<Part>>) -> Arc<[Trouble]> {
        if own.is_none()
            && let Some(troubles) = self.seen.get(&groups)
        {
            return troubles.clone();
        }
        unite(&mut self.union, self.pool, &groups, own);
        let troubles: Arc<[Trouble]> = self.pool.troubles(&self.union).into();
        // Only what fails costs anything to find again.
        if own.is_none() && !troubles.is_empty() {
            self.seen.insert(groups, troubles.clone());
        }
        troubles
    }
}

/// The sets of all parts together; what they do to parameters is left out.
fn unite(union: &mut Part, pool: &Pool, groups: &[u32], own: Option<&Arc<Part>>) {
    let sets = [
        &mut union.present,
        &mut union.filled,
        &mut union.params_needed,
        &mut union.params_barred,
        &mut union.installed,
        &mut union.features_needed,
        &mut union.features_barred,
    ];
    sets.into_iter().for_each(Bits::clear);
    let parts = groups.iter().map(|&group| &pool.groups.get(group).part);
    for part in parts.chain(own) {
        union.present.add(&part.present);
        union.filled.add(&part.filled);
        union.params_needed.add(&part.params_needed);
        union.params_barred.add(&part.params_barred);
        union.installed.add(&part.installed);
        union.features_needed.add(&part.features_needed);
        union.features_barred.add(&part.features_barred);
    }
}

impl Pool {
    fn troubles(&self, node: &Part) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        if !node.features_needed.is_within(&node.installed) {
            let mut missing = node.features_needed.clone();
            missing.subtract(&node.installed);
            troubles.push((MISSING_FEATURE, self.features.spellings(&missing).into()));
        }
        let mut unset = node.present.clone();
        unset.keep(&self.must_change);
        unset.subtract(&node.filled);
        if !unset.is_empty() {
            troubles.push((UNSET_PARAMETER, self.params.spellings(&unset).into()));
        }
        if !node.params_needed.is_within(&node.present) {
            let mut missing = node.params_needed.clone();
            missing.subtract(&node.present);
            troubles.push((MISSING_PARAMETER, self.params.spellings(&missing).into()));
        }
        if node.params_barred.meets(&node.present) {
            let pairs = pairs(&self.params, &node.present, |param| &param.clashes);
            troubles.extend(pairs.into_iter().map(|pair| (CONFLICTING_PARAMETERS, pair)));
        }
        if node.features_barred.meets(&node.installed) {
            let pairs = pairs(&self.features, &node.installed, |feature| &feature.clashes);
            troubles.extend(pairs.into_iter().map(|pair| (CONFLICTING_FEATURES, pair)));
        }
        troubles
    }
}

/// The pairs among some that conflict: each once, and in order.
fn pairs<T: Named>(
    table: &Table<T>,
    among: &Bits,
    clashes: impl Fn(&T) -> &Bits,
) -> Vec<Arc<[EcoString]>> {
    let mut pairs = Vec::new();
    for first in among.iter() {
        for second in clashes(table.get(first)).iter() {
            if first <= second && among.contains(second) {
                let mut pair = [table.called(first), table.called(second)];
                pair.sort();
                pairs.push(pair);
            }
        }
    }
    pairs.sort();
    pairs.into_iter().map(Arc::from).collect()
}

fn failure(node: EcoString, (code, names): &Trouble) -> Failure {
    Failure {
        node,
        code: *code,
        names: names.clone(),
    }
}

impl Failure {
    /// What is wrong, in words.
    pub fn message(&self) -> String {
        let node = &self.node;
        let names = list(&self.names);
        match self.code {
            MISSING_FEATURE => format!("`{node}` needs {names}, which it does not install"),
            UNSET_PARAMETER => format!("`{node}` must have a value for {names}"),
            MISSING_PARAMETER => format!("`{node}` needs {names}, which it does not set"),
            CONFLICTING_PARAMETERS => format!("`{node}` sets {names}, which conflict"),
            _ => format!("`{node}` installs {names}, which conflict"),
        }
    }

    /// As a diagnostic, with the assertions to blame and what would repair it.
    pub fn diagnostic(&self, pool: &Pool) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.code, self.message());
        let blame: Vec<String> = pool.blame(self).iter().map(Key::to_string).collect();
        if !blame.is_empty() {
            diagnostic = diagnostic.help(format!("because of {}", list(&blame)));
        }
        for repair in pool.repairs(self) {
            diagnostic = diagnostic.help(repair.to_string());
        }
        diagnostic
    }
}

/// Names in a sentence.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let quoted = |name: &T| format!("`{}`", name.as_ref());
    match names {
        [] => String::new(),
        [only] => quoted(only),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(quoted).collect();
            format!("{} and {}", first.join(", "), quoted(last))
        }
    }
}
