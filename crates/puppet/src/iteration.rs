//! What gives its elements one by one, as `reverse_each` and `step` make it: an `Iterator`.
//!
//! It remembers how far it was gone through, and whoever comes next gets what is left, as in the real compiler:
//! `each`, `map` and `filter` take the elements out of it. What looks at all of them at once, as `*` and `reduce` do,
//! begins anew, unless it goes in steps.

use std::sync::{Arc, Mutex, PoisonError};

use crate::trace::Origin;
use crate::types::{Range, Type};
use crate::value::{Array, Datum, Value};

/// Elements that are given one by one.
#[derive(Clone, Debug)]
pub struct Iteration {
    all: Array,
    of: Of,
    step: usize,
    /// One that goes through another in steps takes from it.
    taken: Arc<Mutex<Taken>>,
}

/// How far something was gone through.
#[derive(Debug, Default)]
struct Taken {
    /// So many elements are passed.
    count: usize,
    /// Because of this, and of what came before it.
    cause: Option<Origin>,
}

/// What is gone through.
#[derive(Clone, Debug, PartialEq)]
pub enum Of {
    /// Values of a type.
    Values(Arc<Type>),
    /// The entries of a hash, each an array of key and value, of a type.
    Entries(Arc<Type>),
    /// Whole numbers at the same distance.
    Numbers(Arc<Type>),
    /// All there is in a tree, in the order of an iterator of the real compiler.
    Tree(&'static str),
}

/// How elements are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// One, and then the next.
    OneByOne,
    /// All of them.
    AtOnce,
}

impl Iteration {
    /// Goes through elements from the first on.
    pub fn new(all: impl Into<Array>, of: Of) -> Self {
        Self {
            all: all.into(),
            of,
            step: 1,
            taken: Arc::default(),
        }
    }

    /// Goes through numbers from the first on.
    fn numbers(all: Vec<Value>) -> Self {
        let numbers = || {
            all.iter().filter_map(|value| match value.datum {
                Datum::Integer(number) => Some(number),
                _ => None,
            })
        };
        let range = Range {
            min: numbers().min(),
            max: numbers().max(),
        };
        Self::new(all, Of::Numbers(Type::Integer(range).into()))
    }

    /// What there is to go through in a value, from which its elements came.
    pub fn over(datum: &Datum, elements: Vec<Value>) -> Self {
        let types = |values: &mut dyn Iterator<Item = &Datum>| Type::variant(values.map(Type::of));
        let of = match datum {
            _ if elements.is_empty() => match datum {
                Datum::Hash(_) => Of::Entries(pair_of(Type::Unit, Type::Unit)),
                _ => Of::Values(Type::Unit.into()),
            },
            Datum::Integer(_) => return Self::numbers(elements),
            Datum::Type(kind) => match kind.resolved() {
                Type::Integer(_) => return Self::numbers(elements),
                _ => Of::Values(Arc::clone(kind)),
            },
            Datum::Text(_) => Of::Values(Type::String(Some(Range::size(1))).into()),
            Datum::Hash(hash) => Of::Entries(pair_of(
                types(&mut hash.iter().map(|(key, _)| key)),
                types(&mut hash.iter().map(|(_, entry)| &entry.value.datum)),
            )),
            _ => Of::Values(types(&mut elements.iter().map(|value| &value.datum)).into()),
        };
        Self::new(elements, of)
    }

    /// The same elements, and of those that are left each so many behind the one before.
    pub fn in_steps(&self, step: usize) -> Self {
        match &self.of {
            Of::Numbers(_) => Self::numbers(self.all.iter().step_by(step).cloned().collect()),
            Of::Values(kind) | Of::Entries(kind) if step > 1 => Self {
                of: Of::Values(Arc::clone(kind)),
                step: self.step.saturating_mul(step),
                ..self.clone()
            },
            _ => Self {
                step: self.step.saturating_mul(step),
                ..self.clone()
            },
        }
    }

    /// The elements from the last to the first.
    pub fn backwards(&self) -> Self {
        if let Of::Numbers(_) = self.of {
            return Self::numbers(self.all.iter().rev().cloned().collect());
        }
        let mut values = self.all_left();
        values.reverse();
        let of = match &self.of {
            Of::Values(kind) | Of::Entries(kind) | Of::Numbers(kind) => {
                Of::Values(Arc::clone(kind))
            }
            Of::Tree(_) => Of::Values(Type::Any.into()),
        };
        Self::new(values, of)
    }

    /// The elements that somebody gets who asks for them.
    pub fn left(&self, asked: Asked) -> Left {
        let is_taken = asked == Asked::OneByOne
            || self.step > 1
            || matches!(self.of, Of::Numbers(_) | Of::Tree(_));
        let (from, cause) = match is_taken {
            true => {
                let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
                (taken.count, taken.cause)
            }
            false => (0, None),
        };
        let values = self.all.iter().skip(from).step_by(self.step).cloned();
        Left {
            values: values.collect(),
            cause,
            taking: is_taken.then(|| Taking {
                of: self.clone(),
                from,
            }),
        }
    }

    /// Why elements are taken, or are not: `cause` makes one reason of it and of those that there were before.
    pub fn because(&self, cause: impl FnOnce(Option<Origin>) -> Origin) {
        let taken = self.taken.lock();
        let mut taken = taken.unwrap_or_else(PoisonError::into_inner);
        taken.cause = Some(cause(taken.cause));
    }

    /// All that is left, which is then taken.
    pub fn all_left(&self) -> Vec<Value> {
        let left = self.left(Asked::AtOnce);
        if let Some(taking) = left.taking {
            taking.take(left.values.len());
        }
        left.values
    }

    /// Whether it gives keys with their values.
    pub fn has_entries(&self) -> bool {
        matches!(self.of, Of::Entries(_))
    }

    /// The elements, also those that are gone.
    pub fn elements(&self) -> &Array {
        &self.all
    }

    /// The type of the whole.
    pub fn kind(&self) -> Type {
        match &self.of {
            Of::Values(kind) | Of::Entries(kind) | Of::Numbers(kind) => {
                Type::Iterator(Some(Arc::clone(kind)))
            }
            Of::Tree(name) => Type::Runtime(Some("ruby".into()), Some((*name).into())),
        }
    }
}

/// What somebody gets of it.
pub struct Left {
    /// The elements.
    pub values: Vec<Value>,
    /// Why others are gone.
    pub cause: Option<Origin>,
    /// Where to say which are taken, if that counts.
    pub taking: Option<Taking>,
}

/// Takes elements out of what gives them.
#[derive(Clone)]
pub struct Taking {
    of: Iteration,
    from: usize,
}

impl Taking {
    /// So many were taken.
    pub fn take(&self, count: usize) {
        let count = self.from.saturating_add(count.saturating_mul(self.of.step));
        let taken = self.of.taken.lock();
        taken.unwrap_or_else(PoisonError::into_inner).count = count;
    }

    /// Why they are taken.
    pub fn because(&self, cause: impl FnOnce(Option<Origin>) -> Origin) {
        self.of.because(cause);
    }
}

/// The type of a key with its value.
fn pair_of(key: Type, value: Type) -> Arc<Type> {
    Type::tuple([key, value], Some(Range::size(2))).into()
}

/// How it looks as text.
impl std::fmt::Display for Iteration {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}-Value", self.kind().generalise())
    }
}
