//! What changed between two configurations, and which processes have to hear of it.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use hence_ledger::key::fold;

use crate::partial::Resolved;
use crate::pool::Pool;
use crate::resolve::Config;

/// What changed between two configurations of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The parameters that changed, in order.
    pub parameters: Vec<Changed>,
    /// The subsystems that must be restarted.
    pub restart: Vec<EcoString>,
    /// The subsystems that must read their configuration again, and need no restart.
    pub reread: Vec<EcoString>,
}

/// A parameter that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its name, as it is spelled.
    pub name: EcoString,
    /// The value before; `None` if it was not there.
    pub before: Option<Resolved>,
    /// The value after; `None` if it is no longer there.
    pub after: Option<Resolved>,
}

/// What changed between two configurations. What a parameter means to which subsystem is what `pool` says of it; of a
/// parameter that `pool` no longer has, what `former` says.
pub fn difference(before: &Config, after: &Config, pool: &Pool, former: &Pool) -> Difference {
    let by_name = |config: &Config| -> BTreeMap<String, (EcoString, Resolved)> {
        let entries = config.iter();
        entries
            .map(|(name, value)| (fold(name), (name.clone(), value.clone())))
            .collect()
    };
    let (mut before, after) = (by_name(before), by_name(after));
    let mut parameters = Vec::new();
    for (name, (spelling, value)) in after {
        let old = before.remove(&name).map(|(_, value)| value);
        if old.as_ref() != Some(&value) {
            parameters.push(Changed {
                name: spelling,
                before: old,
                after: Some(value),
            });
        }
    }
    parameters.extend(before.into_values().map(|(name, value)| Changed {
        name,
        before: Some(value),
        after: None,
    }));
    Difference::new(parameters, &Observers::new(pool), &Observers::new(former))
}

impl Difference {
    pub(crate) fn new(
        mut parameters: Vec<Changed>,
        now: &Observers<'_>,
        former: &Observers<'_>,
    ) -> Self {
        parameters.sort_by(|a, b| a.name.cmp(&b.name));
        let mut restart = BTreeSet::new();
        let mut reread = BTreeSet::new();
        for changed in &parameters {
            let name = fold(&changed.name);
            let (observers, param) = match now.pool.params.known(&name) {
                Some(param) => (now, Some(param)),
                None => (former, former.pool.params.known(&name)),
            };
            let Some(param) = param else {
                continue;
            };
            let affected = match observers.pool.params.get(param).restart {
                true => &mut restart,
                false => &mut reread,
            };
            affected.extend(observers.of(param).iter().cloned());
        }
        Self {
            parameters,
            reread: reread.difference(&restart).cloned().collect(),
            restart: restart.into_iter().collect(),
        }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }
}

/// Which subsystems observe which parameters.
pub(crate) struct Observers<'p> {
    pool: &'p Pool,
    by_param: Vec<Vec<EcoString>>,
}

impl<'p> Observers<'p> {
    pub fn new(pool: &'p Pool) -> Self {
        let mut by_param = vec![Vec::new(); pool.params.len() as usize];
        for (_, subsystem) in pool.subsystems.iter() {
            if let Some(name) = &subsystem.entity.spelling {
                for param in subsystem.params.iter() {
                    by_param[param as usize].push(name.clone());
                }
            }
        }
        Self { pool, by_param }
    }

    fn of(&self, param: u32) -> &[EcoString] {
        &self.by_param[param as usize]
    }
}
