//! Order constraints (§10 of the SmartFrog paper): `order private < public`.
//!
//! Where nothing is constrained, keys stay in store order: of the keys that may come next, the one
//! that was put first does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cell::Content;
use crate::replay::Reader;
use crate::store::EntryId;
use crate::symbol::Symbol;
use crate::trace::Recorder;

/// One constraint: `first` stands before `second`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The key that comes first.
    pub first: Symbol,
    /// Where that is written.
    pub first_at: u32,
    /// The key that comes later.
    pub second: Symbol,
    /// Where that is written.
    pub second_at: u32,
}

/// The constraints that an entry with the key [`Symbol::ORDER`] holds: a list of pairs of names.
pub fn constraints<R: Recorder>(reader: &Reader<'_, R>, entry: EntryId) -> Vec<Constraint> {
    let Content::List(items) = reader.store.entry(entry).cell.content(reader.literals) else {
        unreachable!("constraints are a list")
    };
    let items = reader.literals.items(items).iter();
    let names: Vec<(Symbol, u32)> = items
        .filter_map(|item| match item.cell.content(reader.literals) {
            Content::Reference(name) => {
                let name = reader.literals.read(reader.sources, name);
                Some((reader.symbols.get(reader.sources, name)?, item.at))
            }
            _ => None,
        })
        .collect();
    names
        .chunks_exact(2)
        .map(|pair| Constraint {
            first: pair[0].0,
            first_at: pair[0].1,
            second: pair[1].0,
            second_at: pair[1].1,
        })
        .collect()
}

/// The places of `keys` in an order that meets the constraints, or constraints that form a cycle. What
/// stands before and behind a key that is absent is in order all the same.
pub fn arrange(
    keys: impl Iterator<Item = Symbol>,
    constraints: &[Constraint],
) -> Result<Vec<usize>, Vec<Constraint>> {
    let places: FxHashMap<Symbol, usize> = keys.enumerate().map(|(i, key)| (key, i)).collect();
    let edges = edges(&places, constraints);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    let mut waits_for = vec![0usize; places.len()];
    for edge in &edges {
        after[edge.first].push(edge.second);
        waits_for[edge.second] += 1;
    }
    let free = (0..places.len()).filter(|&place| waits_for[place] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = free.map(Reverse).collect();
    let mut arranged = Vec::with_capacity(places.len());
    while let Some(Reverse(place)) = ready.pop() {
        arranged.push(place);
        for &next in &after[place] {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if arranged.len() == places.len() {
        return Ok(arranged);
    }
    Err(cycle(&edges, &waits_for))
}

/// One key before another, and the constraints that say so: more than one if keys between are absent.
struct Edge {
    first: usize,
    second: usize,
    because: Vec<Constraint>,
}

fn edges(places: &FxHashMap<Symbol, usize>, constraints: &[Constraint]) -> Vec<Edge> {
    let mut behind: FxHashMap<Symbol, Vec<Constraint>> = FxHashMap::default();
    for constraint in constraints {
        behind
            .entry(constraint.first)
            .or_default()
            .push(*constraint);
    }
    let mut starts: Vec<(usize, Symbol)> = behind
        .keys()
        .filter_map(|key| Some((*places.get(key)?, *key)))
        .collect();
    starts.sort();
    let mut edges = Vec::new();
    for (first, key) in starts {
        let mut passed: FxHashSet<Symbol> = FxHashSet::default();
        let mut pending: Vec<(Symbol, Vec<Constraint>)> = vec![(key, Vec::new())];
        while let Some((key, because)) = pending.pop() {
            for constraint in behind.get(&key).into_iter().flatten() {
                let mut because = because.clone();
                because.push(*constraint);
                match places.get(&constraint.second) {
                    Some(&second) => edges.push(Edge {
                        first,
                        second,
                        because,
                    }),
                    None if passed.insert(constraint.second) => {
                        pending.push((constraint.second, because));
                    }
                    None => {}
                }
            }
        }
    }
    edges
}

/// Follows edges backwards among the keys that still wait, until one comes again.
fn cycle(edges: &[Edge], waits_for: &[usize]) -> Vec<Constraint> {
    let mut before: FxHashMap<usize, &Edge> = FxHashMap::default();
    for edge in edges {
        if waits_for[edge.first] > 0 {
            before.insert(edge.second, edge);
        }
    }
    let start = *before.keys().min().expect("some key waits for another");
    let mut seen: FxHashMap<usize, usize> = FxHashMap::default();
    let mut way: Vec<&Edge> = Vec::new();
    let mut place = start;
    loop {
        if let Some(&since) = seen.get(&place) {
            let round = way[since..].iter().rev();
            return round.flat_map(|edge| edge.because.clone()).collect();
        }
        seen.insert(place, way.len());
        let edge = before[&place];
        way.push(edge);
        place = edge.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(first: usize, second: usize) -> Constraint {
        Constraint {
            first: Symbol::from_index(first),
            first_at: 0,
            second: Symbol::from_index(second),
            second_at: 0,
        }
    }

    fn arranged(pairs: &[(usize, usize)]) -> Result<Vec<usize>, usize> {
        let constraints: Vec<_> = pairs.iter().map(|&(a, b)| constraint(a, b)).collect();
        arrange((0..5).map(Symbol::from_index), &constraints).map_err(|cycle| cycle.len())
    }

    #[test]
    fn unconstrained_keys_keep_their_order() {
        assert_eq!(arranged(&[]), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(arranged(&[(3, 1)]), Ok(vec![0, 2, 3, 1, 4]));
        assert_eq!(arranged(&[(4, 0), (9, 1)]), Ok(vec![1, 2, 3, 4, 0]));
    }

    #[test]
    fn an_absent_key_still_connects_its_neighbours() {
        assert_eq!(arranged(&[(3, 9), (9, 8), (8, 1)]), Ok(vec![0, 2, 3, 1, 4]));
        assert_eq!(arranged(&[(8, 9), (9, 8), (8, 1)]), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(arranged(&[(1, 9), (9, 1)]), Err(2));
    }

    #[test]
    fn a_cycle_is_found_and_nothing_but_the_cycle() {
        assert_eq!(arranged(&[(0, 1), (1, 2), (2, 1), (2, 3)]), Err(2));
        assert_eq!(arranged(&[(0, 0)]), Err(1));
    }
}
