//! The configuration of a node: the default group lowest, then its memberships in inverse priority, its identity group
//! highest (figure 3).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;

use crate::derive::Part;
use crate::partial::Resolved;
use crate::pool::Pool;

/// The parameters of a node, as they are spelled, and their values.
pub type Config = BTreeMap<EcoString, Resolved>;

impl Pool {
    /// The configuration of a node; `None` if there is no such node.
    pub fn config(&self, node: &str) -> Option<Config> {
        let parts: Vec<&Arc<Part>> = self.parts(self.node(node)?).collect();
        Some(self.fold(&parts))
    }

    /// The configuration of a node that nobody knows yet: the default group, and the skeleton group if it is enabled.
    pub fn stranger_config(&self) -> Config {
        let groups = self.groups_of_stranger();
        let parts: Vec<&Arc<Part>> = groups.map(|group| &self.groups.get(group).part).collect();
        self.fold(&parts)
    }

    /// One value of a node; `None` if there is no such node, or the parameter is not in its configuration.
    pub fn value(&self, node: &str, parameter: &str) -> Option<Resolved> {
        let param = self.params.known(&hence_ledger::key::fold(parameter))?;
        let parts: Vec<&Arc<Part>> = self.parts(self.node(node)?).collect();
        fold_one(&parts, param)
    }

    fn fold(&self, parts: &[&Arc<Part>]) -> Config {
        let mut values: BTreeMap<u32, Resolved> = BTreeMap::new();
        for part in parts {
            for (param, partial) in &part.partials {
                let value = partial.apply(values.get(param));
                values.insert(*param, value);
            }
        }
        let named = |(param, value)| (self.params.called(param), value);
        values.into_iter().map(named).collect()
    }
}

/// One value out of parts, the lowest first.
pub(crate) fn fold_one(parts: &[&Arc<Part>], param: u32) -> Option<Resolved> {
    let partials = parts.iter().filter_map(|part| part.partial(param));
    partials.fold(None, |below, partial| Some(partial.apply(below.as_ref())))
}
