//! What follows from what is asserted: closures and parts, each derived once and shared.
//!
//! After a change only that is derived again which the change can reach. Of what is not asserted, nothing follows.

use std::collections::BTreeMap;
use std::sync::Arc;

use hence_ledger::Value;

use crate::bits::Bits;
use crate::partial::Partial;
use crate::pool::{Body, Feature, Param, Pool};
use crate::table::{Named, Table};

/// What a group brings to a node, whatever else the node has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// What it does to parameters, by their numbers.
    pub partials: Vec<(u32, Partial)>,
    /// The parameters that are there.
    pub present: Bits,
    /// The parameters that have a value, whatever is below.
    pub filled: Bits,
    /// The parameters that those present need.
    pub params_needed: Bits,
    /// The parameters that those present conflict with.
    pub params_barred: Bits,
    /// The features that are there, directly or by inclusion.
    pub installed: Bits,
    /// The features that those installed need.
    pub features_needed: Bits,
    /// The features that those installed conflict with.
    pub features_barred: Bits,
}

impl Part {
    /// What it does to a parameter.
    pub fn partial(&self, param: u32) -> Option<&Partial> {
        if !self.present.contains(param) {
            return None;
        }
        let at = self
            .partials
            .binary_search_by_key(&param, |(other, _)| *other);
        at.ok().map(|at| &self.partials[at].1)
    }
}

/// What changed, and so has to be derived again, with all that it reaches.
#[derive(Default)]
pub(crate) struct Dirt {
    pub all: bool,
    /// Features that are new, gone, or have other parameters or relations.
    pub features: Bits,
    /// Parameters that are new, gone, or have another default.
    pub params: Bits,
    pub groups: Bits,
    /// Nodes whose identity groups changed.
    pub nodes: Bits,
    /// Whether features relate to each other in other ways.
    pub feature_graph: bool,
    /// Whether parameters relate to each other in other ways.
    pub param_graph: bool,
}

impl Pool {
    pub(crate) fn derive(&mut self, mut dirt: Dirt) {
        for param in dirt.params.iter() {
            let row = self.params.get(param);
            match row.must_change && row.entity.spelling.is_some() {
                true => {
                    self.must_change.insert(param);
                }
                false => self.must_change.remove(param),
            }
        }
        let related = match dirt.param_graph || dirt.all {
            true => self.relate_params(),
            false => Bits::default(),
        };
        if !dirt.params.is_empty() {
            for (number, feature) in self.features.iter() {
                if dirt
                    .params
                    .iter()
                    .any(|param| feature.params.contains_key(&param))
                {
                    dirt.features.insert(number);
                }
            }
        }
        let mut reached = dirt.features.clone();
        if dirt.feature_graph || dirt.all {
            reached.add(&self.relate_features());
        }
        if !reached.is_empty() || dirt.all {
            for (number, feature) in self.features.iter() {
                if dirt.all || feature.installs.meets(&reached) {
                    reached.insert(number);
                }
            }
            self.derive_features(&reached);
        }
        let news = News {
            all: dirt.all,
            features: reached,
            params: dirt.params,
            related,
        };
        let mut scratch = Scratch::default();
        for number in 0..self.groups.len() {
            let group = self.groups.get(number);
            if dirt.groups.contains(number) || news.reach(&group.body, &group.part) {
                let part = scratch.part(&group.body, &self.features, &self.params);
                self.groups.get_mut(number).part = Arc::new(part);
            }
        }
        let nodes: Vec<u32> = match news.is_empty() {
            true => dirt.nodes.iter().collect(),
            false => (0..self.nodes.len()).collect(),
        };
        for number in nodes {
            let Some(own) = &self.nodes.get(number).own else {
                continue;
            };
            if dirt.nodes.contains(number) || news.reach(&own.body, &own.part) {
                let part = Arc::new(scratch.part(&own.body, &self.features, &self.params));
                if let Some(own) = &mut self.nodes.get_mut(number).own {
                    own.part = part;
                }
            }
        }
    }

    /// Derives the relations of parameters, and says whose changed.
    fn relate_params(&mut self) -> Bits {
        let depends = |param: &Param, next: &mut Vec<u32>| next.extend(param.depend.iter());
        let mut related = Bits::default();
        let clashes = symmetric(&self.params, |param| &param.conflict);
        for number in 0..self.params.len() {
            let needs = closure(&self.params, number, depends);
            let param = self.params.get_mut(number);
            let conflicts = &clashes[number as usize];
            if param.needs != needs || param.clashes != *conflicts {
                param.needs = needs;
                param.clashes = conflicts.clone();
                related.insert(number);
            }
        }
        related
    }

    /// Derives the relations of features, and says whose changed.
    fn relate_features(&mut self) -> Bits {
        let includes = |feature: &Feature, next: &mut Vec<u32>| {
            next.extend(feature.include.iter().map(|&(_, other)| other));
        };
        let needs = |feature: &Feature, next: &mut Vec<u32>| {
            includes(feature, next);
            next.extend(feature.depend.iter());
        };
        let mut related = Bits::default();
        let clashes = symmetric(&self.features, |feature| &feature.conflict);
        for number in 0..self.features.len() {
            let installs = closure(&self.features, number, includes);
            let needs = closure(&self.features, number, needs);
            let feature = self.features.get_mut(number);
            let conflicts = &clashes[number as usize];
            if feature.installs != installs
                || feature.needs != needs
                || feature.clashes != *conflicts
            {
                feature.installs = installs;
                feature.needs = needs;
                feature.clashes = conflicts.clone();
                related.insert(number);
            }
        }
        related
    }

    /// Derives what features do to parameters: those that are included first.
    fn derive_features(&mut self, reached: &Bits) {
        let mut order: Vec<u32> = reached.iter().collect();
        order.sort_by_key(|&number| self.features.get(number).installs.len());
        let mut scratch = Scratch::default();
        for number in order {
            let feature = self.features.get(number);
            if feature.entity.spelling.is_some() {
                for &(_, included) in feature.include.iter().rev() {
                    let included = self.features.get(included);
                    // An inclusion in a circle is refused at commit; here it must only come to an end.
                    if !included.installs.contains(number) {
                        scratch.add_all(&included.partials);
                    }
                }
                scratch.add_values(&feature.params, &self.params);
            }
            self.features.get_mut(number).partials = Arc::new(scratch.take());
        }
    }
}

/// What a change comes to for groups that did not change themselves.
struct News {
    all: bool,
    /// Features that do something else now, or relate to others otherwise.
    features: Bits,
    params: Bits,
    related: Bits,
}

impl News {
    fn is_empty(&self) -> bool {
        !self.all && self.features.is_empty() && self.params.is_empty() && self.related.is_empty()
    }

    fn reach(&self, body: &Body, part: &Part) -> bool {
        self.all
            || part.installed.meets(&self.features)
            || part.present.meets(&self.related)
            // Those that were not asserted before are in no part yet.
            || body.features.iter().any(|&(_, feature)| self.features.contains(feature))
            || self.params.iter().any(|param| body.params.contains_key(&param))
    }
}

/// What one reaches from a start, itself included. Nothing is reached through, or from, what is not asserted.
fn closure<T: Named>(table: &Table<T>, start: u32, edges: impl Fn(&T, &mut Vec<u32>)) -> Bits {
    let mut reached = Bits::default();
    let mut next = vec![start];
    while let Some(number) = next.pop() {
        if table.is_known(number) && reached.insert(number) {
            edges(table.get(number), &mut next);
        }
    }
    reached
}

/// Conflicts count for both, whichever says so.
fn symmetric<T: Named>(table: &Table<T>, declared: impl Fn(&T) -> &Bits) -> Vec<Bits> {
    let mut both = vec![Bits::default(); table.len() as usize];
    for (number, row) in table.iter() {
        for other in declared(row).iter() {
            if table.is_known(number) && table.is_known(other) {
                both[number as usize].insert(other);
                both[other as usize].insert(number);
            }
        }
    }
    both
}

/// What the value of a parameter does: nothing stands for the default.
pub(crate) fn partial_of(param: &Param, value: &Value) -> Partial {
    match (value, &param.default) {
        (Value::Nothing, Some(default)) if !param.must_change => {
            Partial::of(&Value::Text(default.clone()))
        }
        _ => Partial::of(value),
    }
}

/// Where partials are put together.
#[derive(Default)]
struct Scratch {
    partials: BTreeMap<u32, Partial>,
}

impl Scratch {
    fn add(&mut self, param: u32, partial: &Partial) {
        match self.partials.get_mut(&param) {
            Some(below) => *below = below.then(partial),
            None => {
                self.partials.insert(param, partial.clone());
            }
        }
    }

    fn add_all(&mut self, partials: &[(u32, Partial)]) {
        for (param, partial) in partials {
            self.add(*param, partial);
        }
    }

    fn add_values(&mut self, values: &BTreeMap<u32, Value>, params: &Table<Param>) {
        for (&param, value) in values {
            if params.is_known(param) {
                self.add(param, &partial_of(params.get(param), value));
            }
        }
    }

    fn take(&mut self) -> Vec<(u32, Partial)> {
        std::mem::take(&mut self.partials).into_iter().collect()
    }

    /// Features first, in inverse priority, then the group's own parameters over them (figure 3, lines 3–11).
    fn part(&mut self, body: &Body, features: &Table<Feature>, params: &Table<Param>) -> Part {
        let mut part = Part::default();
        for &(_, number) in body.features.iter().rev() {
            let feature = features.get(number);
            self.add_all(&feature.partials);
            part.installed.add(&feature.installs);
            part.features_needed.add(&feature.needs);
        }
        for feature in part.installed.iter() {
            part.features_barred.add(&features.get(feature).clashes);
        }
        self.add_values(&body.params, params);
        part.partials = self.take();
        for (number, partial) in &part.partials {
            part.present.insert(*number);
            if partial.is_filled() {
                part.filled.insert(*number);
            }
            let param = params.get(*number);
            part.params_needed.add(&param.needs);
            part.params_barred.add(&param.clashes);
        }
        part
    }
}
