//! How values that several files have for one key become one: first, unique, hash, deep.

use std::cmp::Ordering;

use ecow::EcoString;
use hence_model::diagnostic::Code;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::functions::ruby::compare;
use crate::trace::{Making, Origin, Trace};
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

/// Values that cannot be merged, or not in that way.
pub const MERGE: Code = Code::new("puppet.merge");

/// How values are merged.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// Not at all: the first counts.
    First,
    /// All elements, each once.
    Unique,
    /// All entries; for a key that several have, the first counts.
    Hash,
    /// All entries and elements, at all levels.
    Deep(Deep),
}

/// How values are merged at all levels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deep {
    /// What begins with this removes the element without it.
    pub knockout: Option<EcoString>,
    /// Whether arrays that were merged are sorted.
    pub sort: bool,
    /// Whether hashes in arrays are merged, the first with the first and so on.
    pub hash_arrays: bool,
}

impl Strategy {
    /// The strategy that a manifest or `lookup_options` names. The trouble with it is told in words.
    pub fn read(datum: &Datum) -> Result<Self, String> {
        let (name, options) = match datum {
            Datum::Text(name) => (name, None),
            Datum::Hash(hash) => match hash.get_text("strategy").map(|name| &name.datum) {
                Some(Datum::Text(name)) => (name, (hash.len() > 1).then_some(hash)),
                _ => return Err("a way to merge needs its name as `strategy`".to_owned()),
            },
            other => {
                let kind = Type::of(other).generalise();
                return Err(format!("a way to merge is text or a hash, not {kind}"));
            }
        };
        let plain = |strategy: Strategy| match options {
            None => Ok(strategy),
            Some(_) => Err(format!("merging by `{name}` has no options")),
        };
        match name.as_str() {
            "first" | "default" => plain(Strategy::First),
            "unique" => plain(Strategy::Unique),
            "hash" => plain(Strategy::Hash),
            "deep" => Deep::read(options).map(Strategy::Deep),
            other => Err(format!(
                "there is no way to merge named `{other}`: it is first, unique, hash or deep"
            )),
        }
    }

    /// What becomes of a value that only one place was asked for.
    pub fn single(&self, trace: &mut Trace<'_>, value: Value) -> Value {
        match (self, &value.datum) {
            (Strategy::Unique, Datum::Array(array)) => {
                let mut seen = Elements::default();
                seen.extend(array.iter());
                seen.array(trace.made(Making::Merge, [value.clone()]))
            }
            _ => value,
        }
    }

    /// What becomes of the first value if more could follow.
    pub fn begin(&self, trace: &mut Trace<'_>, value: Value) -> Value {
        match self {
            Strategy::Unique => {
                let elements = Array::from(flattened(&value));
                Value::new(elements, trace.made(Making::Merge, [value]))
            }
            _ => value,
        }
    }

    /// Merges two values; the first counts more.
    pub fn merge(
        &self,
        trace: &mut Trace<'_>,
        first: Value,
        second: Value,
    ) -> Result<Value, String> {
        match self {
            Strategy::First => Ok(first),
            Strategy::Unique => {
                for value in [&first, &second] {
                    if !is_scalar(&value.datum) && !is_list(&value.datum) {
                        return Err(unfit("unique", "single values and arrays", value));
                    }
                }
                let origin = trace.made(Making::Merge, [first.clone(), second.clone()]);
                let mut seen = Elements::default();
                seen.extend(flattened(&first).iter());
                seen.extend(flattened(&second).iter());
                Ok(seen.array(origin))
            }
            Strategy::Hash => {
                for value in [&first, &second] {
                    if !matches!(value.datum, Datum::Hash(_)) || !is_data(&value.datum) {
                        return Err(unfit("hash", "hashes with keys of text", value));
                    }
                }
                let origin = trace.made(Making::Merge, [first.clone(), second.clone()]);
                let (Datum::Hash(first), Datum::Hash(second)) = (first.datum, second.datum) else {
                    unreachable!("it was checked");
                };
                Ok(Value::new(crate::evaluate::merged(&second, &first), origin))
            }
            Strategy::Deep(deep) => deep.merge(trace, first, second),
        }
    }
}

fn unfit(strategy: &str, what: &str, value: &Value) -> String {
    let kind = Type::of(&value.datum).generalise();
    format!("merging by `{strategy}` is for {what}, and one of the values is {kind}")
}

impl Deep {
    fn read(options: Option<&Hash>) -> Result<Self, String> {
        let mut deep = Self::default();
        for (key, entry) in options.into_iter().flat_map(Hash::iter) {
            let name = crate::text::text(key);
            match (name.as_str(), &entry.value.datum) {
                ("strategy", _) | (_, Datum::Undef) => {}
                ("knockout_prefix", Datum::Text(prefix)) if !prefix.is_empty() => {
                    deep.knockout = Some(prefix.clone());
                }
                ("knockout_prefix", Datum::Text(_)) => {
                    return Err("`knockout_prefix` cannot be empty".to_owned());
                }
                ("sort_merged_arrays", Datum::Bool(sort)) => deep.sort = *sort,
                ("merge_hash_arrays", Datum::Bool(merge)) => deep.hash_arrays = *merge,
                ("merge_debug", Datum::Bool(_)) => {}
                ("knockout_prefix", _) => return Err("`knockout_prefix` is text".to_owned()),
                ("sort_merged_arrays" | "merge_hash_arrays" | "merge_debug", _) => {
                    return Err(format!("`{name}` is true or false"));
                }
                _ => return Err(format!("merging by `deep` has no option `{name}`")),
            }
        }
        Ok(deep)
    }

    /// Merges a value over another.
    fn merge(&self, trace: &mut Trace<'_>, over: Value, under: Value) -> Result<Value, String> {
        if over.is_undef() {
            return Ok(under);
        }
        if !under.datum.is_true() {
            return Ok(over);
        }
        let operands = [over.clone(), under.clone()];
        match (&over.datum, &under.datum) {
            (Datum::Hash(top), Datum::Hash(bottom)) => {
                let mut merged = bottom.clone();
                for (key, entry) in top.iter() {
                    let below = bottom
                        .entry(key)
                        .filter(|entry| entry.value.datum.is_true());
                    let value = match below {
                        Some(below) => {
                            self.merge(trace, entry.value.clone(), below.value.clone())?
                        }
                        None => self.alone(trace, &entry.value, Twin::Copy)?,
                    };
                    merged = merged.with(Value::new(key.clone(), entry.key), value);
                }
                Ok(Value::new(merged, trace.made(Making::Merge, operands)))
            }
            // What cannot be merged is replaced, as soon as there is anything to replace it with.
            (Datum::Hash(top), _) if top.is_empty() => Ok(under),
            (Datum::Hash(top), _) => {
                let mut merged = top.clone();
                for (key, entry) in top.iter().skip(1) {
                    let value = self.alone(trace, &entry.value, Twin::Itself)?;
                    merged = merged.with(Value::new(key.clone(), entry.key), value);
                }
                Ok(Value::new(merged, over.origin))
            }
            (Datum::Array(top), Datum::Array(bottom)) => {
                let (mut top, mut bottom) = (to_vec(top), to_vec(bottom));
                if self.strikes_all(&mut top) {
                    bottom.clear();
                }
                if let Some(prefix) = &self.knockout {
                    top.retain(|value| match struck(value, prefix) {
                        Some(item) => {
                            bottom
                                .retain(|other| other.datum != item && other.datum != value.datum);
                            false
                        }
                        None => true,
                    });
                }
                let origin = trace.made(Making::Merge, operands);
                self.arrays(trace, top, bottom, origin)
            }
            (Datum::Array(top), _) => {
                let mut top = to_vec(top);
                self.strikes_all(&mut top);
                if let Some(prefix) = &self.knockout {
                    top.retain(|value| struck(value, prefix).is_none());
                }
                Ok(Value::new(Array::from(top), over.origin))
            }
            _ => Ok(self.plain(over)),
        }
    }

    /// Two arrays from which everything was removed that had to be.
    fn arrays(
        &self,
        trace: &mut Trace<'_>,
        top: Vec<Value>,
        bottom: Vec<Value>,
        origin: Origin,
    ) -> Result<Value, String> {
        let all_hashes = |values: &[Value]| {
            let mut values = values.iter();
            values.all(|value| matches!(value.datum, Datum::Hash(_)))
        };
        let mut merged = if self.hash_arrays && all_hashes(&top) && all_hashes(&bottom) {
            let mut merged = Vec::with_capacity(top.len().max(bottom.len()));
            let mut top = top.into_iter();
            for below in bottom {
                merged.push(match top.next() {
                    Some(over) => self.merge(trace, over, below)?,
                    None => below,
                });
            }
            merged.extend(top);
            merged
        } else {
            let mut seen = Elements::default();
            seen.extend(bottom.iter());
            seen.extend(top.iter());
            seen.0.into_values().collect()
        };
        if self.sort {
            sort(&mut merged)?;
        }
        Ok(Value::new(Array::from(merged), origin))
    }

    /// What becomes of a value under which there is nothing. It is merged over its twin: elements are
    /// made unique and sorted, and what removes others is itself removed.
    fn alone(&self, trace: &mut Trace<'_>, value: &Value, twin: Twin) -> Result<Value, String> {
        match &value.datum {
            Datum::Hash(hash) => {
                let mut merged = hash.clone();
                for (key, entry) in hash.iter() {
                    let inner = match entry.value.datum.is_true() {
                        true => Twin::Itself,
                        false => Twin::Copy,
                    };
                    let value = self.alone(trace, &entry.value, inner)?;
                    merged = merged.with(Value::new(key.clone(), entry.key), value);
                }
                Ok(Value::new(merged, value.origin))
            }
            Datum::Array(array) => {
                let (mut top, mut bottom) = (to_vec(array), to_vec(array));
                if self.strikes_all(&mut top) {
                    if twin == Twin::Itself {
                        top.clear();
                    }
                    bottom.clear();
                }
                if let Some(prefix) = &self.knockout {
                    match twin {
                        Twin::Copy => top.retain(|value| match struck(value, prefix) {
                            Some(item) => {
                                bottom.retain(|other| {
                                    other.datum != item && other.datum != value.datum
                                });
                                false
                            }
                            None => true,
                        }),
                        Twin::Itself => {
                            top = struck_in_place(top, prefix);
                            bottom.clone_from(&top);
                        }
                    }
                }
                if self.hash_arrays
                    && bottom
                        .iter()
                        .all(|value| matches!(value.datum, Datum::Hash(_)))
                {
                    let elements = bottom.iter();
                    let elements: Result<Vec<Value>, String> = elements
                        .map(|value| self.alone(trace, value, Twin::Itself))
                        .collect();
                    let mut elements = elements?;
                    if self.sort {
                        sort(&mut elements)?;
                    }
                    return Ok(Value::new(Array::from(elements), value.origin));
                }
                self.arrays(trace, top, bottom, value.origin)
            }
            Datum::Undef | Datum::Bool(false) => Ok(value.clone()),
            _ => Ok(self.plain(value.clone())),
        }
    }

    /// A single value that replaces another; one that removes it leaves nothing but empty text.
    fn plain(&self, value: Value) -> Value {
        let removes = match (&self.knockout, &value.datum) {
            (Some(prefix), Datum::Text(text)) => text.starts_with(prefix.as_str()),
            _ => false,
        };
        match removes {
            true => Value::new("", value.origin),
            false => value,
        }
    }

    /// Whether the prefix stands alone among elements, and so removes all others; it is taken out.
    fn strikes_all(&self, values: &mut Vec<Value>) -> bool {
        let Some(prefix) = &self.knockout else {
            return false;
        };
        let before = values.len();
        values.retain(|value| !matches!(&value.datum, Datum::Text(text) if text == prefix));
        values.len() < before
    }
}

/// What a value is merged over if there is nothing below it. In the real compiler a copy shares all that is in
/// it with the original, so that what happens to one inside happens to the other.
#[derive(Clone, Copy, PartialEq)]
enum Twin {
    /// A copy of it.
    Copy,
    /// The very same.
    Itself,
}

/// The element that a value removes.
fn struck(value: &Value, prefix: &str) -> Option<Datum> {
    match &value.datum {
        Datum::Text(text) => Some(text.strip_prefix(prefix)?.into()),
        _ => None,
    }
}

/// Removes from an array while it is gone through, which is what Ruby does when an array is its own twin: behind
/// each element that is removed the next ones move up, and the one that comes to stand there is passed by.
fn struck_in_place(mut values: Vec<Value>, prefix: &str) -> Vec<Value> {
    let (mut read, mut write) = (0, 0);
    while read < values.len() {
        let value = values[read].clone();
        match struck(&value, prefix) {
            Some(item) => {
                values.retain(|other| other.datum != item && other.datum != value.datum);
            }
            None => {
                values[write] = value;
                write += 1;
            }
        }
        read += 1;
    }
    if write < read {
        let tail = values.split_off(read.min(values.len()));
        values.truncate(write);
        values.extend(tail);
    }
    values
}

/// Elements, each once, in the order in which they came.
#[derive(Default)]
struct Elements(IndexMap<Datum, Value, FxBuildHasher>);

impl Elements {
    fn extend<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) {
        for value in values {
            let entry = self.0.entry(value.datum.clone());
            entry.or_insert_with(|| value.clone());
        }
    }

    fn array(self, origin: Origin) -> Value {
        let values: Array = self.0.into_values().collect();
        Value::new(values, origin)
    }
}

fn to_vec(array: &Array) -> Vec<Value> {
    array.as_slice().to_vec()
}

/// The elements of arrays in arrays; a single value is its own only element.
fn flattened(value: &Value) -> Vec<Value> {
    let mut flat = Vec::new();
    crate::evaluate::flatten(value, &mut flat);
    flat
}

fn is_scalar(datum: &Datum) -> bool {
    !matches!(
        datum,
        Datum::Undef
            | Datum::Default
            | Datum::Array(_)
            | Datum::Hash(_)
            | Datum::Type(_)
            | Datum::Sensitive(_)
            | Datum::Object(_)
    )
}

fn is_list(datum: &Datum) -> bool {
    matches!(datum, Datum::Array(_)) && is_data(datum)
}

/// Whether it is of type `Data`.
fn is_data(datum: &Datum) -> bool {
    match datum {
        Datum::Undef | Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => {
            true
        }
        Datum::Array(array) => array.iter().all(|value| is_data(&value.datum)),
        Datum::Hash(hash) => hash
            .iter()
            .all(|(key, entry)| matches!(key, Datum::Text(_)) && is_data(&entry.value.datum)),
        _ => false,
    }
}

fn sort(values: &mut [Value]) -> Result<(), String> {
    let refused = || "elements of different kinds cannot be sorted".to_owned();
    let of_one_kind = values.windows(2).all(|pair| {
        let comparable = compare(&pair[0].datum, &pair[1].datum);
        comparable.is_some() && !matches!(pair[0].datum, Datum::Array(_))
    });
    if of_one_kind {
        values.sort_by(|a, b| compare(&a.datum, &b.datum).unwrap_or(Ordering::Equal));
        return Ok(());
    }
    // Whether two arrays can be compared is seen only when it is tried.
    for end in 1..values.len() {
        let mut at = end;
        while at > 0 {
            let order = compare(&values[at - 1].datum, &values[at].datum).ok_or_else(refused)?;
            if order != Ordering::Greater {
                break;
            }
            values.swap(at - 1, at);
            at -= 1;
        }
    }
    Ok(())
}
