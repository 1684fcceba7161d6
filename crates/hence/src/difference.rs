//! What differs between two configurations: by path and resource, and in order where order has a meaning.

use hence_model::path::{Path, Segment};
use hence_model::value::{List, Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One thing that differs.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where it was; none if it was not there.
    pub old: Option<Path>,
    /// Where it is; none if it is not there any more.
    pub new: Option<Path>,
    /// What happened to it.
    pub kind: Kind,
}

/// What happened to something.
#[derive(Clone, Debug)]
pub enum Kind {
    /// It is new.
    Added(Value),
    /// It is gone.
    Removed(Value),
    /// It is something else.
    Changed(Value, Value),
    /// The names in a block come in another order: before, and now.
    Reordered(Vec<String>, Vec<String>),
}

impl Change {
    /// The path to speak of it by.
    pub fn path(&self) -> &Path {
        let path = self.new.as_ref().or(self.old.as_ref());
        path.expect("it was somewhere, or is")
    }
}

/// Compares two values. `ordered` says whether the order of names in a block has a meaning.
pub fn changes(old: &Value, new: &Value, ordered: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut pending = vec![(Path::default(), Path::default(), old, new)];
    while let Some((was, is, old, new)) = pending.pop() {
        match (old, new) {
            (Value::Map(before), Value::Map(now)) => {
                maps(&was, &is, before, now, ordered, &mut changes, &mut pending);
            }
            (Value::List(before), Value::List(now)) => {
                lists(&was, &is, before, now, &mut changes, &mut pending);
            }
            _ if is_same(old, new) => {}
            _ => changes.push(Change {
                old: Some(was),
                new: Some(is),
                kind: Kind::Changed(old.clone(), new.clone()),
            }),
        }
    }
    changes
}

type Pending<'v> = Vec<(Path, Path, &'v Value, &'v Value)>;

fn maps<'v>(
    was: &Path,
    is: &Path,
    before: &'v Map,
    now: &'v Map,
    ordered: bool,
    changes: &mut Vec<Change>,
    pending: &mut Pending<'v>,
) {
    let key = |path: &Path, key: &str| path.child(Segment::Key(key.to_owned()));
    for (name, value) in before.iter().filter(|(name, _)| now.get(name).is_none()) {
        changes.push(Change {
            old: Some(key(was, name)),
            new: None,
            kind: Kind::Removed(value.clone()),
        });
    }
    for (name, value) in now.iter().filter(|(name, _)| before.get(name).is_none()) {
        changes.push(Change {
            old: None,
            new: Some(key(is, name)),
            kind: Kind::Added(value.clone()),
        });
    }
    let mut common = Vec::new();
    for (name, value) in now.iter() {
        if let Some(old) = before.get(name) {
            common.push((key(was, name), key(is, name), old, value));
        }
    }
    if ordered {
        let names = |of: &'v Map, other: &'v Map| -> Vec<&'v str> {
            let names = of.iter().map(|(name, _)| name);
            names.filter(|name| other.get(name).is_some()).collect()
        };
        let (old, new) = (names(before, now), names(now, before));
        if old != new {
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
            changes.push(Change {
                old: Some(was.clone()),
                new: Some(is.clone()),
                kind: Kind::Reordered(owned(old), owned(new)),
            });
        }
    }
    // The first is taken from the end.
    pending.extend(common.into_iter().rev());
}

/// An element in the middle that is new or gone leaves the others as they are.
fn lists<'v>(
    was: &Path,
    is: &Path,
    before: &'v List,
    now: &'v List,
    changes: &mut Vec<Change>,
    pending: &mut Pending<'v>,
) {
    let (before, now) = (before.as_slice(), now.as_slice());
    let written = |values: &[Value]| -> Vec<String> { values.iter().map(written).collect() };
    let (old, new) = (written(before), written(now));
    let index = |path: &Path, at: usize| path.child(Segment::Index(at));
    let mut removed = |at: usize| Change {
        old: Some(index(was, at)),
        new: None,
        kind: Kind::Removed(before[at].clone()),
    };
    let mut added = |at: usize| Change {
        old: None,
        new: Some(index(is, at)),
        kind: Kind::Added(now[at].clone()),
    };
    for part in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match part {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete {
                old_index, old_len, ..
            } => changes.extend((old_index..old_index + old_len).map(&mut removed)),
            DiffOp::Insert {
                new_index, new_len, ..
            } => changes.extend((new_index..new_index + new_len).map(&mut added)),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => {
                let common = old_len.min(new_len);
                for at in (0..common).rev() {
                    let (from, to) = (old_index + at, new_index + at);
                    pending.push((index(was, from), index(is, to), &before[from], &now[to]));
                }
                changes.extend((old_index + common..old_index + old_len).map(&mut removed));
                changes.extend((new_index + common..new_index + new_len).map(&mut added));
            }
        }
    }
}

/// A value as text that only the same value has.
pub fn written(value: &Value) -> String {
    let mut json = hence_model::print::json::Json::compact(Vec::new());
    value.send(&mut json);
    let bytes = json.finish().expect("a vector takes everything");
    let text = String::from_utf8(bytes).expect("JSON is text");
    text.trim_end().to_owned()
}

/// A value in one short line.
pub fn brief(value: &Value) -> String {
    let text = written(value);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether two values are the same, of the same kind.
pub fn is_same(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other) && written(one) == written(other)
}

/// The value at a path.
pub fn at<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    path.0
        .iter()
        .try_fold(value, |value, segment| match (value, segment) {
            (Value::Map(map), Segment::Key(key)) => map.get(key),
            (Value::List(list), Segment::Index(index)) => list.as_slice().get(*index),
            _ => None,
        })
}

/// The values that are no containers, and empty containers, with their paths, in order.
pub fn leaves(value: &Value) -> Vec<(Path, &Value)> {
    let mut leaves = Vec::new();
    let mut pending = vec![(Path::default(), value)];
    while let Some((path, value)) = pending.pop() {
        match value {
            Value::Map(map) if !map.is_empty() => {
                let inner: Vec<_> = map
                    .iter()
                    .map(|(key, value)| (path.child(Segment::Key(key.to_owned())), value))
                    .collect();
                pending.extend(inner.into_iter().rev());
            }
            Value::List(list) if !list.as_slice().is_empty() => {
                let elements = list.as_slice().iter().enumerate();
                let inner: Vec<_> = elements
                    .map(|(at, value)| (path.child(Segment::Index(at)), value))
                    .collect();
                pending.extend(inner.into_iter().rev());
            }
            leaf => leaves.push((path, leaf)),
        }
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, Value)]) -> Value {
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

    fn told(old: &Value, new: &Value, ordered: bool) -> Vec<String> {
        let changes = changes(old, new, ordered).into_iter();
        let told = changes.map(|change| match &change.kind {
            Kind::Added(value) => format!("+{}={}", change.path(), written(value)),
            Kind::Removed(value) => format!("-{}={}", change.path(), written(value)),
            Kind::Changed(old, new) => {
                format!("{}:{}>{}", change.path(), written(old), written(new))
            }
            Kind::Reordered(old, new) => {
                format!("{}~{}>{}", change.path(), old.join(","), new.join(","))
            }
        });
        told.collect()
    }

    #[test]
    fn an_element_in_the_middle_leaves_the_others() {
        let (old, new) = (list(&[1, 2, 3, 4]), list(&[1, 9, 2, 3, 4]));
        assert_eq!(told(&old, &new, false), ["+[1]=9"]);
        assert_eq!(told(&new, &old, false), ["-[1]=9"]);
    }

    #[test]
    fn order_counts_where_it_has_a_meaning() {
        let (a, b) = (("a", Value::Integer(1)), ("b", Value::Integer(2)));
        let (old, new) = (map(&[a.clone(), b.clone()]), map(&[b, a]));
        assert!(told(&old, &new, false).is_empty());
        assert_eq!(told(&old, &new, true), ["~a,b>b,a"]);
    }

    #[test]
    fn kinds_of_values_differ() {
        let (old, new) = (Value::Text("1".into()), Value::Integer(1));
        assert_eq!(told(&old, &new, false), [":\"1\">1"]);
    }
}
