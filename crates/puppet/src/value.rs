//! Values as manifests know them, each with its origin.
//!
//! A [`Datum`] is what the language computes with; a [`Value`] is a datum that knows where it comes from, and
//! so is every element of an array and every entry of a hash. Equality and hashing are those of hash keys:
//! letter case matters, `1` is not `1.0`, and origins do not count.

use std::hash::{Hash as StdHash, Hasher};
use std::sync::Arc;

use ecow::EcoString;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::iteration::Iteration;
use crate::pattern::Pattern;
use crate::trace::Origin;
use crate::types::Type;
use crate::types::time::{Timespan, Timestamp};
use crate::types::uri::Uri;
use crate::types::version::{Version, VersionRange};

/// A datum, and where it comes from.
#[derive(Clone, Debug)]
pub struct Value {
    /// What it is.
    pub datum: Datum,
    /// Where it comes from.
    pub origin: Origin,
}

/// What the language computes with.
#[derive(Clone, Debug, Default)]
pub enum Datum {
    /// `undef`
    #[default]
    Undef,
    /// `default`
    Default,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(EcoString),
    /// `/…/`
    Pattern(Arc<Pattern>),
    /// `[…]`
    Array(Array),
    /// `{…}`
    Hash(Hash),
    /// A type; references to resources and classes are types too.
    Type(Arc<Type>),
    /// A value that is not to be shown.
    Sensitive(Arc<Value>),
    /// A moment.
    Timestamp(Timestamp),
    /// A duration.
    Timespan(Timespan),
    /// A version.
    SemVer(Arc<Version>),
    /// A range of versions.
    SemVerRange(Arc<VersionRange>),
    /// Bytes.
    Binary(Arc<[u8]>),
    /// An address.
    Uri(Arc<Uri>),
    /// An object, such as a function to be called later.
    Object(Arc<Object>),
    /// What gives its elements one by one.
    Iterator(Arc<Iteration>),
}

/// What a type such as `Deferred` makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The name of its type.
    pub kind: EcoString,
    /// What it holds, by name.
    pub attributes: Hash,
}

impl Value {
    /// A datum from somewhere.
    pub fn new(datum: impl Into<Datum>, origin: Origin) -> Self {
        let datum = datum.into();
        Self { datum, origin }
    }

    /// Whether it is a hash.
    pub fn is_hash(&self) -> bool {
        matches!(self.datum, Datum::Hash(_))
    }

    /// Whether it is `undef`.
    pub fn is_undef(&self) -> bool {
        matches!(self.datum, Datum::Undef)
    }
}

/// Something of which only the origin matters.
impl From<Origin> for Value {
    fn from(origin: Origin) -> Self {
        Value::new(Datum::Undef, origin)
    }
}

impl From<bool> for Datum {
    fn from(bool: bool) -> Self {
        Datum::Bool(bool)
    }
}

impl From<i64> for Datum {
    fn from(integer: i64) -> Self {
        Datum::Integer(integer)
    }
}

impl From<f64> for Datum {
    fn from(float: f64) -> Self {
        Datum::Float(float)
    }
}

impl From<EcoString> for Datum {
    fn from(text: EcoString) -> Self {
        Datum::Text(text)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        Datum::Text(text.into())
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Self {
        Datum::Text(text.into())
    }
}

impl From<Array> for Datum {
    fn from(array: Array) -> Self {
        Datum::Array(array)
    }
}

impl From<Hash> for Datum {
    fn from(hash: Hash) -> Self {
        Datum::Hash(hash)
    }
}

impl From<Type> for Datum {
    fn from(kind: Type) -> Self {
        Datum::Type(Arc::new(kind))
    }
}

impl Datum {
    /// Whether a condition holds that comes to it: all but `undef` and `false`.
    pub fn is_true(&self) -> bool {
        !matches!(self, Datum::Undef | Datum::Bool(false))
    }

    /// What tells an array or a hash from another that is equal: those that are one have one.
    pub(crate) fn address(&self) -> Option<usize> {
        match self {
            Datum::Array(array) => Some(Arc::as_ptr(&array.0) as usize),
            Datum::Hash(hash) => Some(Arc::as_ptr(&hash.0) as usize),
            _ => None,
        }
    }

    /// How many levels of arrays and hashes it has.
    pub fn depth(&self) -> u32 {
        match self {
            Datum::Array(array) => array.0.depth,
            Datum::Hash(hash) => hash.0.depth,
            Datum::Sensitive(inner) => inner.datum.depth() + 1,
            Datum::Object(object) => object.attributes.0.depth + 1,
            Datum::Iterator(iteration) => iteration.elements().0.depth,
            _ => 0,
        }
    }
}

impl Datum {
    /// How many values it has at all levels. Those that are shared count wherever they are.
    pub fn size(&self) -> u64 {
        match self {
            Datum::Array(array) => array.0.size,
            Datum::Hash(hash) => hash.0.size,
            Datum::Sensitive(inner) => inner.datum.size(),
            Datum::Object(object) => object.attributes.0.size,
            Datum::Iterator(iteration) => iteration.elements().0.size,
            _ => 0,
        }
    }
}

/// The elements of an array.
#[derive(Clone, Debug, Default)]
pub struct Array(Arc<Elements>);

#[derive(Clone, Debug, Default)]
struct Elements {
    values: Vec<Value>,
    depth: u32,
    size: u64,
}

impl Array {
    /// The elements.
    pub fn as_slice(&self) -> &[Value] {
        &self.0.values
    }

    /// An element, from 0.
    pub fn get(&self, at: usize) -> Option<&Value> {
        self.0.values.get(at)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }

    /// The elements, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.values.iter()
    }
}

impl From<Vec<Value>> for Array {
    fn from(values: Vec<Value>) -> Self {
        let mut depth = 0;
        let mut size = 0_u64;
        for value in &values {
            depth = depth.max(value.datum.depth());
            size = size.saturating_add(value.datum.size().saturating_add(1));
        }
        let depth = 1 + depth;
        Self(Arc::new(Elements {
            values,
            depth,
            size,
        }))
    }
}

impl FromIterator<Value> for Array {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        values.into_iter().collect::<Vec<_>>().into()
    }
}

/// The entries of a hash, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Hash(Arc<Entries>);

#[derive(Clone, Debug, Default)]
struct Entries {
    entries: IndexMap<Datum, Entry, FxBuildHasher>,
    depth: u32,
    size: u64,
}

/// What stands behind a key.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where the key comes from.
    pub key: Origin,
    /// The value.
    pub value: Value,
}

impl Hash {
    /// The value of a key.
    pub fn get(&self, key: &Datum) -> Option<&Value> {
        self.0.entries.get(key).map(|entry| &entry.value)
    }

    /// The value of a key that is text.
    pub fn get_text(&self, key: &str) -> Option<&Value> {
        self.get(&Datum::Text(key.into()))
    }

    /// The value of a key that is text, and how many entries stand before it.
    pub fn position(&self, key: &str) -> Option<(usize, &Value)> {
        let found = self.0.entries.get_full(&Datum::Text(key.into()));
        found.map(|(position, _, entry)| (position, &entry.value))
    }

    /// What stands behind a key.
    pub fn entry(&self, key: &Datum) -> Option<&Entry> {
        self.0.entries.get(key)
    }

    /// The entry at a position, from 0.
    pub fn at(&self, position: usize) -> Option<(&Datum, &Entry)> {
        self.0.entries.get_index(position)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// The entries, in order.
    pub fn iter(&self) -> indexmap::map::Iter<'_, Datum, Entry> {
        self.0.entries.iter()
    }

    /// The hash with an entry more; one with the same key keeps its position and its key.
    pub fn with(mut self, key: Value, value: Value) -> Self {
        let Entries {
            entries,
            depth,
            size,
        } = Arc::make_mut(&mut self.0);
        *depth = (*depth)
            .max(1 + value.datum.depth())
            .max(1 + key.datum.depth());
        let added = value.datum.size().saturating_add(key.datum.size());
        *size = size.saturating_add(added.saturating_add(1));
        match entries.entry(key.datum) {
            indexmap::map::Entry::Occupied(mut occupied) => occupied.get_mut().value = value,
            indexmap::map::Entry::Vacant(vacant) => {
                let key = key.origin;
                vacant.insert(Entry { key, value });
            }
        }
        self
    }

    /// The hash without some of its entries.
    pub fn without(mut self, mut drop: impl FnMut(&Datum) -> bool) -> Self {
        Arc::make_mut(&mut self.0)
            .entries
            .retain(|key, _| !drop(key));
        self
    }
}

impl FromIterator<(Value, Value)> for Hash {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> Self {
        let empty = Hash(Arc::new(Entries {
            depth: 1,
            ..Entries::default()
        }));
        entries
            .into_iter()
            .fold(empty, |hash, (key, value)| hash.with(key, value))
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Datum::Undef, Datum::Undef) | (Datum::Default, Datum::Default) => true,
            (Datum::Bool(a), Datum::Bool(b)) => a == b,
            (Datum::Integer(a), Datum::Integer(b)) => a == b,
            (Datum::Float(a), Datum::Float(b)) => a == b,
            (Datum::Text(a), Datum::Text(b)) => a == b,
            (Datum::Pattern(a), Datum::Pattern(b)) => a == b,
            (Datum::Array(a), Datum::Array(b)) => a == b,
            (Datum::Hash(a), Datum::Hash(b)) => a == b,
            (Datum::Type(a), Datum::Type(b)) => a == b,
            (Datum::Sensitive(a), Datum::Sensitive(b)) => a.datum == b.datum,
            (Datum::Timestamp(a), Datum::Timestamp(b)) => a == b,
            (Datum::Timespan(a), Datum::Timespan(b)) => a == b,
            (Datum::SemVer(a), Datum::SemVer(b)) => a == b,
            (Datum::SemVerRange(a), Datum::SemVerRange(b)) => a == b,
            (Datum::Binary(a), Datum::Binary(b)) => a == b,
            (Datum::Uri(a), Datum::Uri(b)) => a == b,
            (Datum::Object(a), Datum::Object(b)) => a == b,
            // Two may have the same elements, and not have given the same ones yet.
            (Datum::Iterator(a), Datum::Iterator(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

// A float that is no number equals nothing, itself included; hash keys never are.
impl Eq for Datum {}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        let pairs = self.iter().zip(other.iter());
        self.len() == other.len() && pairs.into_iter().all(|(a, b)| a.datum == b.datum)
    }
}

impl PartialEq for Hash {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().all(|(key, entry)| {
                let other = other.get(key);
                other.is_some_and(|value| value.datum == entry.value.datum)
            })
    }
}

impl StdHash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Datum::Undef | Datum::Default => {}
            Datum::Bool(bool) => bool.hash(state),
            Datum::Integer(integer) => integer.hash(state),
            // Equal floats hash alike: -0.0 and 0.0 are equal.
            Datum::Float(float) => (float + 0.0).to_bits().hash(state),
            Datum::Text(text) => text.hash(state),
            Datum::Pattern(pattern) => pattern.hash(state),
            Datum::Array(array) => array.iter().for_each(|value| value.datum.hash(state)),
            // Equal hashes may differ in order.
            Datum::Hash(hash) => hash.len().hash(state),
            Datum::Type(kind) => kind.to_string().hash(state),
            Datum::Sensitive(inner) => inner.datum.hash(state),
            Datum::Timestamp(at) => at.hash(state),
            Datum::Timespan(span) => span.hash(state),
            Datum::SemVer(version) => version.hash(state),
            // Equal ranges may be written differently.
            Datum::SemVerRange(_) => {}
            Datum::Binary(bytes) => bytes.hash(state),
            Datum::Uri(uri) => uri.hash(state),
            Datum::Object(object) => object.kind.hash(state),
            Datum::Iterator(iteration) => Arc::as_ptr(iteration).hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_four_words() {
        assert_eq!(size_of::<Datum>(), 24);
        assert_eq!(size_of::<Value>(), 32);
    }
}
