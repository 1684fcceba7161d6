//! The values that are said to depend on something, and whether only they changed.

use std::collections::BTreeSet;

use hence_model::path::{Path, Segment};
use hence_model::value::Value;

use crate::difference::{at, is_same, leaves};

/// The paths that *impact* named.
pub struct Announced(BTreeSet<Path>);

impl Announced {
    /// These paths.
    pub fn new(paths: impl IntoIterator<Item = Path>) -> Self {
        Self(paths.into_iter().collect())
    }

    /// How many of them have the same value as before.
    pub fn unchanged(&self, before: &Value, after: &Value) -> usize {
        let same = |path: &&Path| match (at(before, path), at(after, path)) {
            (Some(before), Some(after)) => is_same(before, after),
            (None, None) => true,
            _ => false,
        };
        self.0.iter().filter(same).count()
    }

    /// The paths at which something else is there than before, or nothing, without being announced. What is new was
    /// nowhere before, and depended on nothing.
    pub fn outside(&self, before: &Value, after: &Value) -> Vec<Path> {
        let mut outside = Vec::new();
        let mut pending = vec![(Path::default(), before, after)];
        while let Some((path, old, new)) = pending.pop() {
            match (old, new) {
                (Value::Map(old), Value::Map(new)) => {
                    for (key, value) in old.iter() {
                        let inner = path.child(Segment::Key(key.to_owned()));
                        match new.get(key) {
                            Some(now) => pending.push((inner, value, now)),
                            None => outside.extend(self.unannounced(&inner, value)),
                        }
                    }
                }
                (Value::List(old), Value::List(new)) => {
                    let (old, new) = (old.as_slice(), new.as_slice());
                    let both = old.iter().zip(new);
                    // An element less moves those behind it, and so does one more, unless it is behind all of them.
                    let is_moved = old.len() > new.len()
                        || old.len() < new.len()
                            && !both.clone().all(|(old, new)| is_same(old, new));
                    match is_moved {
                        true if self.is_around(&path) || self.is_within(&path) => {}
                        true => outside.push(path),
                        false => pending
                            .extend(both.enumerate().map(|(at, (old, new))| {
                                (path.child(Segment::Index(at)), old, new)
                            })),
                    }
                }
                _ if is_same(old, new) => {}
                // A block that became something else is gone with all that was in it.
                _ => outside.extend(self.unannounced(&path, old)),
            }
        }
        outside.sort();
        outside
    }

    /// What of a value that is gone was not announced.
    fn unannounced(&self, path: &Path, value: &Value) -> Vec<Path> {
        let inside = leaves(value).into_iter();
        let whole = inside.map(|(inner, _)| Path([&path.0[..], &inner.0[..]].concat()));
        whole.filter(|path| !self.is_around(path)).collect()
    }

    /// Whether a path was named, or something around it.
    fn is_around(&self, path: &Path) -> bool {
        let around = (0..=path.0.len()).map(|end| Path(path.0[..end].to_vec()));
        around.into_iter().any(|path| self.0.contains(&path))
    }

    /// Whether something inside was named.
    fn is_within(&self, path: &Path) -> bool {
        let first = self.0.range(path..).next();
        first.is_some_and(|first| first.0.starts_with(&path.0))
    }
}

#[cfg(test)]
mod tests {
    use hence_model::value::{List, Map};

    use super::*;

    fn block(entries: &[(&str, Value)]) -> Value {
        let mut map = Map::default();
        for (key, value) in entries {
            map.insert((*key).to_owned(), value.clone());
        }
        Value::Map(map)
    }

    fn list(numbers: &[i64]) -> Value {
        let numbers = numbers.iter().copied().map(Value::Integer);
        Value::List(List::from(numbers.collect::<Vec<_>>()))
    }

    fn outside(announced: &[&str], before: &Value, after: &Value) -> Vec<String> {
        let announced = announced.iter().map(|path| Path::readings(path)[0].clone());
        let outside = Announced::new(announced).outside(before, after);
        outside.iter().map(Path::to_string).collect()
    }

    #[test]
    fn what_changes_or_goes_must_be_announced() {
        let (one, two) = (Value::Integer(1), Value::Integer(2));
        let before = block(&[("a", one.clone()), ("b", block(&[("c", one)]))]);
        let after = block(&[("a", two)]);
        assert_eq!(outside(&[], &before, &after), ["a", "b:c"]);
        assert_eq!(outside(&["a"], &before, &after), ["b:c"]);
        assert!(outside(&["a", "b"], &before, &after).is_empty());
        assert!(outside(&["a", "b:c"], &before, &after).is_empty());
    }

    #[test]
    fn what_is_new_need_not_be() {
        let (before, after) = (block(&[]), block(&[("a", Value::Null)]));
        assert!(outside(&[], &before, &after).is_empty());
    }

    #[test]
    fn elements_move_together() {
        let before = block(&[("l", list(&[1, 2, 3]))]);
        let shorter = block(&[("l", list(&[1, 3]))]);
        assert_eq!(outside(&[], &before, &shorter), ["l"]);
        assert!(outside(&["l[1]"], &before, &shorter).is_empty());
        let longer = block(&[("l", list(&[1, 2, 3, 4]))]);
        assert!(outside(&[], &before, &longer).is_empty());
        let other = block(&[("l", list(&[1, 2, 4]))]);
        assert_eq!(outside(&["l[1]"], &before, &other), ["l[2]"]);
    }
}
