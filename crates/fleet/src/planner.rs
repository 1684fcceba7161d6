//! How two pools are compared.
//!
//! Group by group first. A node is looked at only if one of its groups does something else now, or its memberships did
//! change; then only the parameters are resolved that these groups treat otherwise. Nodes for which the same groups matter
//! are resolved once.

use std::collections::BTreeSet;
use std::sync::Arc;

use ecow::EcoString;
use hence_ledger::key::fold;
use rustc_hash::FxHashMap;

use crate::bits::Bits;
use crate::derive::Part;
use crate::difference::{Changed, Difference, Observers};
use crate::plan::Nodes;
use crate::pool::Pool;
use crate::resolve::fold_one;
use crate::table::{Named, Table};
use crate::words::{Kind, Phrase};

/// A node that may have changed.
pub(crate) enum Candidate {
    Gone(EcoString),
    There {
        /// Its number in the head.
        node: u32,
        /// Its number in the active pool, if it is known there.
        before: Option<u32>,
    },
}

/// How much somebody wants to know of what changes on a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What, and what that means for its processes.
    Whole,
    /// Whether anything does.
    Whether,
}

/// Compares two pools.
pub(crate) struct Planner<'p> {
    detail: Detail,
    /// Stands for any difference, if only that there is one is of interest.
    some: Arc<Difference>,
    active: &'p Pool,
    head: &'p Pool,
    groups: Joint,
    params: Joint,
    /// For every group, the parameters that it treats otherwise than before.
    changed: Vec<Bits>,
    /// All of these together.
    changed_params: Bits,
    /// The groups that have any of them, before or after.
    matters: Bits,
    /// By the groups that matter, for nodes that have no say of their own in it.
    seen: FxHashMap<Vec<u32>, Option<Arc<Difference>>>,
    now: Observers<'p>,
    former: Observers<'p>,
}

/// One numbering for two pools: that of the head, and after it what only the active pool knows.
struct Joint {
    head: u32,
    from_active: Vec<u32>,
    to_active: Vec<Option<u32>>,
}

impl Joint {
    fn new<T: Named>(active: &Table<T>, head: &Table<T>) -> Self {
        let mut to_active: Vec<Option<u32>> = vec![None; head.len() as usize];
        let mut from_active = Vec::with_capacity(active.len() as usize);
        for (number, row) in active.iter() {
            let joint = head.find(&row.entity().name).unwrap_or_else(|| {
                to_active.push(None);
                to_active.len() as u32 - 1
            });
            to_active[joint as usize] = Some(number);
            from_active.push(joint);
        }
        Self {
            head: head.len(),
            from_active,
            to_active,
        }
    }

    fn len(&self) -> u32 {
        self.to_active.len() as u32
    }

    fn joint(&self, active: u32) -> u32 {
        self.from_active[active as usize]
    }

    fn active(&self, joint: u32) -> Option<u32> {
        self.to_active[joint as usize]
    }

    fn head(&self, joint: u32) -> Option<u32> {
        (joint < self.head).then_some(joint)
    }
}

/// A node in one of the pools: its groups in the joint numbering, from the lowest, and its identity group.
struct Side<'p> {
    groups: Vec<u32>,
    own: Option<&'p Arc<Part>>,
}

impl<'p> Planner<'p> {
    pub fn new(active: &'p Pool, head: &'p Pool, detail: Detail) -> Self {
        let mut planner = Self {
            detail,
            some: Arc::default(),
            active,
            head,
            groups: Joint::new(&active.groups, &head.groups),
            params: Joint::new(&active.params, &head.params),
            changed: Vec::new(),
            changed_params: Bits::default(),
            matters: Bits::default(),
            seen: FxHashMap::default(),
            now: Observers::new(head),
            former: Observers::new(active),
        };
        for group in 0..planner.groups.len() {
            let changed = planner.changed(planner.part_before(group), planner.part_after(group));
            planner.changed_params.add(&changed);
            planner.changed.push(changed);
        }
        for group in 0..planner.groups.len() {
            let changed = !planner.changed[group as usize].is_empty();
            let after = planner.part_after(group);
            // What did not change is the same before and after.
            if changed || after.is_some_and(|part| part.present.meets(&planner.changed_params)) {
                planner.matters.insert(group);
            }
        }
        planner
    }

    pub fn candidates(&self, nodes: Nodes<'_>) -> Vec<Candidate> {
        let named = |name: &str| {
            let before = self.active.nodes.known(name);
            match self.head.nodes.known(name) {
                Some(node) => Some(Candidate::There { node, before }),
                None => before.map(|before| Candidate::Gone(self.active.nodes.called(before))),
            }
        };
        match nodes {
            Nodes::Only(names) => {
                let names: BTreeSet<String> = names.iter().map(|name| fold(name)).collect();
                names.iter().filter_map(|name| named(name)).collect()
            }
            Nodes::Reached(changes) => {
                let phrases = changes.iter().filter_map(|change| Phrase::of(&change.key));
                let mut names = BTreeSet::new();
                for phrase in phrases {
                    match phrase.kind {
                        Kind::Node => {
                            names.insert(phrase.name.into_owned());
                        }
                        Kind::Subsystem => {}
                        Kind::Group | Kind::Feature | Kind::Param => {
                            return self.candidates(Nodes::All);
                        }
                    }
                }
                names.iter().filter_map(|name| named(name)).collect()
            }
            Nodes::All => {
                let there = self.head.known_nodes().map(|(node, _)| Candidate::There {
                    node,
                    before: self.before(node),
                });
                let known = self.active.known_nodes();
                let gone = known.filter(|(number, _)| {
                    let name = self.active.nodes.name(*number);
                    self.head.nodes.known(name).is_none()
                });
                there
                    .chain(gone.map(|(_, name)| Candidate::Gone(name)))
                    .collect()
            }
        }
    }

    /// The number of a node in the active pool.
    fn before(&self, node: u32) -> Option<u32> {
        let name = self.head.nodes.name(node);
        // A pool that followed the other has the same numbers.
        let same = node < self.active.nodes.len() && self.active.nodes.name(node) == name;
        match same {
            true => Some(node).filter(|&node| self.active.nodes.is_known(node)),
            false => self.active.nodes.known(name),
        }
    }

    /// What changes on a node.
    pub fn difference(&mut self, node: u32, before: Option<u32>) -> Option<Arc<Difference>> {
        let after = Side {
            groups: self.head.groups_of(node).collect(),
            own: self.head.nodes.get(node).own.as_ref().map(|own| &own.part),
        };
        let joint = |groups: &mut dyn Iterator<Item = u32>| -> Vec<u32> {
            groups.map(|group| self.groups.joint(group)).collect()
        };
        let before = match before {
            Some(before) => Side {
                groups: joint(&mut self.active.groups_of(before)),
                own: self
                    .active
                    .nodes
                    .get(before)
                    .own
                    .as_ref()
                    .map(|own| &own.part),
            },
            None => Side {
                groups: joint(&mut self.active.groups_of_stranger()),
                own: None,
            },
        };
        let own = match (before.own, after.own) {
            (None, None) => Bits::default(),
            (before, after) => self.changed(before, after),
        };
        let stays = before.groups == after.groups;
        let (key, params) = match stays {
            true => {
                let matters = |group: &u32| self.matters.contains(*group);
                let key: Vec<u32> = after.groups.iter().copied().filter(matters).collect();
                if own.is_empty()
                    && key
                        .iter()
                        .all(|&group| self.changed[group as usize].is_empty())
                {
                    return None;
                }
                let params = None;
                (key, params)
            }
            false => {
                let params = self.moved(&before.groups, &after.groups);
                let mut key = before.groups.clone();
                key.push(u32::MAX);
                key.extend(&after.groups);
                (key, Some(params))
            }
        };
        let says = |part: &Arc<Part>| match &params {
            Some(params) => part.present.meets(params),
            None => part.present.meets(&self.changed_params),
        };
        let is_shared = own.is_empty() && !after.own.is_some_and(says);
        if is_shared && let Some(seen) = self.seen.get(&key) {
            return seen.clone();
        }
        let mut params = params.unwrap_or_else(|| self.moved(&after.groups, &after.groups));
        params.add(&own);
        let difference = self.compare(&params, &before, &after);
        if is_shared {
            self.seen.insert(key, difference.clone());
        }
        difference
    }

    /// The parameters that may change when a node goes from some groups to others.
    fn moved(&self, before: &[u32], after: &[u32]) -> Bits {
        let mut params = Bits::default();
        let stay = |groups: &[u32], others: &[u32]| -> Vec<u32> {
            groups
                .iter()
                .copied()
                .filter(|group| others.contains(group))
                .collect()
        };
        let in_order = stay(before, after) == stay(after, before);
        for &group in before.iter().chain(after) {
            params.add(&self.changed[group as usize]);
            if in_order && before.contains(&group) && after.contains(&group) {
                continue;
            }
            let had = self
                .part_before(group)
                .map_or(&[][..], |part| &part.partials);
            params.extend(had.iter().map(|(param, _)| self.params.joint(*param)));
            if let Some(part) = self.part_after(group) {
                params.add(&part.present);
            }
        }
        params
    }

    /// Resolves some parameters on both sides.
    fn compare(
        &self,
        params: &Bits,
        before: &Side<'_>,
        after: &Side<'_>,
    ) -> Option<Arc<Difference>> {
        let groups = before
            .groups
            .iter()
            .filter_map(|&group| self.part_before(group));
        let parts_before: Vec<&Arc<Part>> = groups.chain(before.own).collect();
        let groups = after
            .groups
            .iter()
            .filter_map(|&group| self.part_after(group));
        let parts_after: Vec<&Arc<Part>> = groups.chain(after.own).collect();
        let mut changed = Vec::new();
        for param in params.iter() {
            let (old, new) = (self.params.active(param), self.params.head(param));
            let before = old.and_then(|old| fold_one(&parts_before, old));
            let after = new.and_then(|new| fold_one(&parts_after, new));
            if before != after && self.detail == Detail::Whether {
                return Some(Arc::clone(&self.some));
            }
            if before != after {
                let former = || {
                    self.active
                        .params
                        .called(old.expect("one of the two knows it"))
                };
                let is_known = |new: &u32| self.head.params.is_known(*new);
                let name = new
                    .filter(is_known)
                    .map_or_else(former, |new| self.head.params.called(new));
                changed.push(Changed {
                    name,
                    before,
                    after,
                });
            }
        }
        (!changed.is_empty()).then(|| Arc::new(Difference::new(changed, &self.now, &self.former)))
    }

    /// The parameters, in the joint numbering, that one part treats otherwise than another.
    fn changed(&self, before: Option<&Arc<Part>>, after: Option<&Arc<Part>>) -> Bits {
        let mut changed = Bits::default();
        if let (Some(before), Some(after)) = (before, after)
            && Arc::ptr_eq(before, after)
        {
            return changed;
        }
        for (param, partial) in after.map_or(&[][..], |part| &part.partials) {
            let old = self
                .params
                .active(*param)
                .and_then(|old| before?.partial(old));
            if old != Some(partial) {
                changed.insert(*param);
            }
        }
        for (old, _) in before.map_or(&[][..], |part| &part.partials) {
            let param = self.params.joint(*old);
            let new = self.params.head(param).and_then(|new| after?.partial(new));
            if new.is_none() {
                changed.insert(param);
            }
        }
        changed
    }

    fn part_before(&self, group: u32) -> Option<&'p Arc<Part>> {
        let active = self.active;
        self.groups
            .active(group)
            .map(|group| &active.groups.get(group).part)
    }

    fn part_after(&self, group: u32) -> Option<&'p Arc<Part>> {
        let head = self.head;
        self.groups
            .head(group)
            .map(|group| &head.groups.get(group).part)
    }
}
