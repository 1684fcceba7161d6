//! Functions that a configuration can call: what they take, and what they answer.
//!
//! The types are those of the CF2 paper (§6.1). A function is pure: it sees its arguments and nothing
//! else, and an argument that it asked not to be evaluated is evaluated when it asks for the value.

use std::ops::BitOr;

use crate::source::Location;
use crate::value::Value;

/// A set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// No value.
    pub const UNDEF: Types = Types(1);
    /// A block.
    pub const BLOCK: Types = Types(1 << 1);
    /// A list.
    pub const LIST: Types = Types(1 << 2);
    /// True or false.
    pub const BOOL: Types = Types(1 << 3);
    /// A number.
    pub const NUMBER: Types = Types(1 << 4);
    /// Text.
    pub const LITERAL: Types = Types(1 << 5);
    /// Any value without parts.
    pub const SCALAR: Types = Types(Self::BOOL.0 | Self::NUMBER.0 | Self::LITERAL.0);
    /// Anything.
    pub const ANYTYPE: Types = Types(Self::UNDEF.0 | Self::BLOCK.0 | Self::LIST.0 | Self::SCALAR.0);

    const NAMES: [(Types, &'static str); 6] = [
        (Types::UNDEF, "nothing"),
        (Types::BLOCK, "a block"),
        (Types::LIST, "a list"),
        (Types::BOOL, "a boolean"),
        (Types::NUMBER, "a number"),
        (Types::LITERAL, "text"),
    ];

    /// The type of a value.
    pub fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::UNDEF,
            Value::Bool(_) => Types::BOOL,
            Value::Integer(_) | Value::Float(_) => Types::NUMBER,
            Value::Text(_) | Value::Reference(_) => Types::LITERAL,
            Value::List(_) => Types::LIST,
            Value::Map(_) => Types::BLOCK,
        }
    }

    /// Whether all types of `other` are among these.
    pub fn contain(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names of the types, as in *a number or a list*.
    pub fn words(self) -> String {
        let words = match self {
            Types::ANYTYPE => vec!["anything"],
            _ => {
                let names = Self::NAMES.iter().filter(|(one, _)| self.contain(*one));
                names.map(|&(_, name)| name).collect()
            }
        };
        words.join(" or ")
    }
}

impl BitOr for Types {
    type Output = Types;

    fn bitor(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }
}

/// What a function takes in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The types that it takes.
    pub types: Types,
    /// In which form it wants it.
    pub passing: Passing,
}

/// In which form a function wants an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// As a value.
    Value,
    /// As a value that knows where it is written.
    Placed,
    /// Not evaluated: it may ask for the value later, or never. Its type is checked then.
    Unevaluated,
}

/// Whether values of equal rank can be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// In any order.
    Commutative,
    /// Only in the order of their priority.
    Ordered,
}

/// A function.
pub trait Function: Send + Sync {
    /// What it takes.
    fn parameters(&self) -> &[Parameter];

    /// What it makes of its arguments, as many as it has parameters, of the types that it takes.
    /// [`Value::Null`] is no value.
    fn call(&self, arguments: &mut dyn Arguments) -> Result<Value, Failure>;

    /// How it combines the values that several files give one resource, `~(f)>`; none if it cannot.
    fn mutation(&self) -> Option<Mutation> {
        None
    }

    /// Combines values: the first `highest` have the highest priority, and none of them above another;
    /// one more, if there is one, is what everything of lower priority comes to.
    fn mutate(&self, values: &mut dyn Arguments, highest: usize) -> Result<Value, Failure> {
        let _ = (values, highest);
        Err(Failure::Said("it cannot combine values".into()))
    }
}

/// The arguments of a call.
pub trait Arguments {
    /// How many there are.
    fn count(&self) -> usize;

    /// The value of one. What a function never asked for cannot change its result.
    fn value(&mut self, index: usize) -> Result<Value, Failure>;

    /// Where one is written.
    fn place(&self, index: usize) -> Location;

    /// One as it is written.
    fn text(&self, index: usize) -> String;
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The function refuses, with these words.
    Said(String),
    /// The function itself is wrong, or went too far.
    Broken {
        /// In which way.
        message: String,
        /// The line and column in its own text, from 1.
        place: Option<(u32, u32)>,
    },
    /// An argument has no value; that is reported already.
    Argument,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_sets() {
        assert!(Types::SCALAR.contain(Types::of(&Value::Bool(true))));
        assert!(!Types::SCALAR.contain(Types::of(&Value::Null)));
        assert_eq!((Types::NUMBER | Types::LIST).words(), "a list or a number");
        assert_eq!(Types::ANYTYPE.words(), "anything");
    }
}
