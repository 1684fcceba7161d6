//! Values, and the stream of events that every reader and writer of values speaks.
//!
//! A compiled configuration is rarely held as a [`Value`]: it is shared blocks that stream out as
//! [`Event`]s. A `Value` is what one gets by collecting such a stream, for a piece small enough to
//! own. Nothing here recurses on the stack, however deep the value.

use std::hash::{Hash, Hasher};

use indexmap::IndexMap;

/// One step of a walk over a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// A reference that is data, not followed: `s1:web`.
    Reference(&'a str),
    /// A list begins.
    ListStart,
    /// The list ends.
    ListEnd,
    /// A map begins; keys and values alternate.
    MapStart,
    /// A key; its value comes next.
    Key(&'a str),
    /// The map ends.
    MapEnd,
}

/// Takes a value, event by event: printers and builders.
pub trait Sink {
    /// Takes one event.
    fn event(&mut self, event: Event<'_>);

    /// Whether nobody listens any more, as behind a closed pipe; then the walk may stop.
    fn is_closed(&self) -> bool {
        false
    }

    /// Gets ready for an entry of a map, and marks the place. A sink that prints an entry in the same
    /// way wherever it stands can print it again from what it printed since the mark.
    fn mark(&mut self) -> Option<Mark> {
        None
    }

    /// What was printed since a mark, if it is still at hand.
    fn since(&self, _: Mark) -> Option<&[u8]> {
        None
    }

    /// Prints an entry again.
    fn again(&mut self, _: &[u8]) {}
}

/// A place in what a sink has printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub(crate) u64);

/// A value of any of the languages. Order is part of it; origins are not.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A reference that is data, not followed.
    Reference(String),
    /// A list.
    List(List),
    /// A map that keeps the order of its keys.
    Map(Map),
}

/// The elements of a list value.
#[derive(Clone, Debug, Default)]
pub struct List(Vec<Value>);

/// The entries of a map value, in configuration order.
#[derive(Clone, Debug, Default)]
pub struct Map(IndexMap<String, Value>);

impl List {
    /// The elements.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }
}

impl From<Vec<Value>> for List {
    fn from(elements: Vec<Value>) -> Self {
        Self(elements)
    }
}

impl Map {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Sets a key; one that is there already keeps its position.
    pub fn insert(&mut self, key: String, value: Value) {
        self.0.insert(key, value);
    }

    /// The entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

// A deep value must not be dropped by recursion: each container hands its children to a list.
impl Drop for List {
    fn drop(&mut self) {
        drop_flat(std::mem::take(&mut self.0));
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.0.values().any(Value::is_container) {
            drop_flat(std::mem::take(&mut self.0).into_values().collect());
        }
    }
}

fn drop_flat(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::List(mut list) => pending.append(&mut list.0),
            Value::Map(mut map) => pending.extend(std::mem::take(&mut map.0).into_values()),
            _ => {}
        }
    }
}

impl Value {
    fn is_container(&self) -> bool {
        matches!(self, Value::List(_) | Value::Map(_))
    }

    /// Walks the value.
    pub fn events(&self) -> Events<'_> {
        Events {
            next: Some(self),
            open: Vec::new(),
        }
    }

    /// Sends the whole value to a sink.
    pub fn send(&self, sink: &mut impl Sink) {
        self.events().for_each(|event| sink.event(event));
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.events().eq(other.events())
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for event in self.events() {
            std::mem::discriminant(&event).hash(state);
            match event {
                Event::Bool(bool) => bool.hash(state),
                Event::Integer(integer) => integer.hash(state),
                // Equal floats hash alike: -0.0 and 0.0 are equal.
                Event::Float(float) => (float + 0.0).to_bits().hash(state),
                Event::Text(text) | Event::Reference(text) | Event::Key(text) => text.hash(state),
                _ => {}
            }
        }
    }
}

/// The walk over a [`Value`].
pub struct Events<'a> {
    next: Option<&'a Value>,
    open: Vec<Open<'a>>,
}

enum Open<'a> {
    List(std::slice::Iter<'a, Value>),
    Map(indexmap::map::Iter<'a, String, Value>),
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        if let Some(value) = self.next.take() {
            return Some(match value {
                Value::Null => Event::Null,
                Value::Bool(bool) => Event::Bool(*bool),
                Value::Integer(integer) => Event::Integer(*integer),
                Value::Float(float) => Event::Float(*float),
                Value::Text(text) => Event::Text(text),
                Value::Reference(text) => Event::Reference(text),
                Value::List(list) => {
                    self.open.push(Open::List(list.0.iter()));
                    Event::ListStart
                }
                Value::Map(map) => {
                    self.open.push(Open::Map(map.0.iter()));
                    Event::MapStart
                }
            });
        }
        match self.open.last_mut()? {
            Open::List(rest) => match rest.next() {
                Some(value) => {
                    self.next = Some(value);
                    self.next()
                }
                None => {
                    self.open.pop();
                    Some(Event::ListEnd)
                }
            },
            Open::Map(rest) => match rest.next() {
                Some((key, value)) => {
                    self.next = Some(value);
                    Some(Event::Key(key))
                }
                None => {
                    self.open.pop();
                    Some(Event::MapEnd)
                }
            },
        }
    }
}

/// Collects a stream of events into a [`Value`].
#[derive(Default)]
pub struct Builder {
    open: Vec<(Option<String>, Value)>,
    key: Option<String>,
    done: Option<Value>,
}

impl Builder {
    /// The value, once its stream has ended.
    pub fn finish(self) -> Option<Value> {
        self.done
    }

    fn add(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some((_, Value::List(list))) => list.0.push(value),
            Some((_, Value::Map(map))) => {
                let key = self.key.take().expect("a value in a map follows its key");
                map.insert(key, value);
            }
            Some(_) => unreachable!("only containers are opened"),
        }
    }

    fn close(&mut self) {
        let (key, value) = self.open.pop().expect("an end follows its start");
        self.key = key;
        self.add(value);
    }
}

impl Sink for Builder {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Null => self.add(Value::Null),
            Event::Bool(bool) => self.add(Value::Bool(bool)),
            Event::Integer(integer) => self.add(Value::Integer(integer)),
            Event::Float(float) => self.add(Value::Float(float)),
            Event::Text(text) => self.add(Value::Text(text.to_owned())),
            Event::Reference(text) => self.add(Value::Reference(text.to_owned())),
            Event::Key(key) => self.key = Some(key.to_owned()),
            Event::ListStart => {
                let key = self.key.take();
                self.open.push((key, Value::List(List::default())));
            }
            Event::MapStart => {
                let key = self.key.take();
                self.open.push((key, Value::Map(Map::default())));
            }
            Event::ListEnd | Event::MapEnd => self.close(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deep(levels: usize) -> Value {
        (0..levels).fold(Value::Null, |inner, level| {
            if level % 2 == 0 {
                return Value::List(vec![inner].into());
            }
            let mut map = Map::default();
            map.insert("k".into(), inner);
            Value::Map(map)
        })
    }

    #[test]
    fn a_very_deep_value_is_compared_hashed_rebuilt_and_dropped() {
        let value = deep(100_000);
        let mut builder = Builder::default();
        value.send(&mut builder);
        let copy = builder.finish().unwrap();
        assert_eq!(value, copy);
        assert_ne!(value, deep(99_999));
        let hash = |value: &Value| {
            let mut hasher = std::hash::DefaultHasher::new();
            value.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&value), hash(&copy));
    }

    #[test]
    fn order_is_part_of_a_value() {
        let map = |keys: [&str; 2]| {
            let mut map = Map::default();
            for key in keys {
                map.insert(key.into(), Value::Null);
            }
            Value::Map(map)
        };
        assert_ne!(map(["a", "b"]), map(["b", "a"]));
    }
}
