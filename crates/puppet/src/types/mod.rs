//! The types of the language, which are values too.
//!
//! mod         what types there are
//! alias       names that people give to types
//! instance    whether a value is of a type
//! assignable  whether every value of one type is of another
//! infer       the type of a value, its general form, what two types have in common
//! normalise   the shortest way to say the same type
//! display     how a type is written
//! parameters  what `Type[…]` comes to
//! mismatch    how it is told that a value is not of a type
//! create      `Type.new(…)`, by a `recipe`
//! format      `String.new(…)`, on `printf`
//! time, version, uri  values that only types can make

use std::sync::Arc;

use ecow::EcoString;

use crate::pattern::Pattern;
use crate::value::{Hash, Value};

mod alias;
mod assignable;
pub(crate) mod base64;
mod create;
mod display;
mod format;
mod infer;
mod instance;
mod mismatch;
mod normalise;
mod parameters;
pub(crate) mod printf;
mod recipe;
#[cfg(test)]
mod tests;
pub mod time;
pub mod uri;
pub mod version;

pub use alias::Alias;
pub use create::create;
pub use display::{quote, quote_double};
pub use mismatch::{Form, Mismatch, check_parameters, mismatch, mismatch_of_types, refusal, tell};
pub use parameters::{Accessed, parameterise};

use time::{Timespan, Timestamp};
use version::VersionRange;

/// A type.
///
/// What can be left out is an `Option`; a type without arguments accepts whatever it would with any.
#[derive(Clone, Debug)]
pub enum Type {
    /// Anything.
    Any,
    /// What the elements of an empty array are: whatever is wanted. It cannot be written.
    Unit,
    /// `undef`
    Undef,
    /// `default`
    Default,
    /// Texts, numbers, booleans, regular expressions, versions and times.
    Scalar,
    /// The scalars that JSON knows.
    ScalarData,
    /// What JSON knows.
    Data,
    /// What a catalog can hold.
    RichData,
    /// Numbers.
    Numeric,
    /// Whole numbers.
    Integer(Range),
    /// All other numbers.
    Float(FloatRange),
    /// True, false, or one of them.
    Boolean(Option<bool>),
    /// Texts, of so many characters.
    String(Option<Range>),
    /// This very text, as inferred from it. It is shown as `String`.
    Exactly(EcoString),
    /// One of these texts, in order and each once.
    Enum(Arc<[EcoString]>, Case),
    /// Texts that match one of these.
    Pattern(Arc<[Arc<Pattern>]>),
    /// Regular expressions, or this one.
    Regexp(Option<Arc<Pattern>>),
    /// Arrays and hashes, of so many elements.
    Collection(Option<Range>),
    /// Arrays.
    Array(Arc<Type>, Option<Range>),
    /// Hashes: keys and values.
    Hash(Arc<Type>, Arc<Type>, Option<Range>),
    /// Arrays with a type for each position; the last one repeats as often as the size asks.
    Tuple(Arc<[Type]>, Option<Range>),
    /// Hashes with a type for each key.
    Struct(Arc<[Member]>),
    /// Or `undef`.
    Optional(Option<Arc<Type>>),
    /// But not `undef`.
    NotUndef(Option<Arc<Type>>),
    /// Any of these.
    Variant(Arc<[Type]>),
    /// Types.
    Type(Option<Arc<Type>>),
    /// Values not to be shown.
    Sensitive(Arc<Type>),
    /// Lambdas and functions.
    Callable(Option<Arc<Signature>>),
    /// What can be gone through.
    Iterable(Option<Arc<Type>>),
    /// What goes through something.
    Iterator(Option<Arc<Type>>),
    /// Resources and classes.
    CatalogEntry,
    /// `Resource`, `File`, `File['/etc/motd']`: the type in lower case and the title, as far as they are said.
    Resource(Option<EcoString>, Option<EcoString>),
    /// `Class`, `Class['apache']`: the name in lower case, if it is said.
    Class(Option<EcoString>),
    /// Moments, from and to.
    Timestamp(Option<Timestamp>, Option<Timestamp>),
    /// Durations, from and to.
    Timespan(Option<Timespan>, Option<Timespan>),
    /// Versions, in one of these ranges.
    SemVer(Arc<[VersionRange]>),
    /// Ranges of versions.
    SemVerRange,
    /// Bytes.
    Binary,
    /// Addresses, whose parts match these.
    Uri(Option<Arc<Hash>>),
    /// Values of another runtime: which, and its type's name.
    Runtime(Option<EcoString>, Option<EcoString>),
    /// What `new` of a type accepts, followed by these arguments.
    Init(Option<Arc<(Type, Vec<Value>)>>),
    /// Objects, or those of a name, such as `Deferred`.
    Object(Option<EcoString>),
    /// A set of types.
    TypeSet,
    /// A type that someone gave a name.
    Alias(Arc<Alias>),
    /// A name that nothing is known by.
    Reference(EcoString),
}

/// From and to, both included; no bound where none is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub min: Option<i64>,
    /// The most.
    pub max: Option<i64>,
}

/// From and to, both included; infinite where none is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatRange {
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

/// Whether upper and lower case are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// They are.
    Sensitive,
    /// They are not.
    Insensitive,
}

/// An entry of a `Struct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The key.
    pub name: EcoString,
    /// Whether the entry may be missing.
    pub optional: bool,
    /// What its value must be.
    pub value: Type,
}

/// What a `Callable` takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The types of the parameters; the last one repeats as often as the size asks.
    pub parameters: Arc<[Type]>,
    /// How many arguments there may be, where it is not one for each parameter.
    pub size: Option<Range>,
    /// The block it takes: a `Callable`, or an optional one.
    pub block: Option<Type>,
    /// What it gives, unless that is anything.
    pub returns: Option<Type>,
}

/// Why something cannot be done with values, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong.
    pub message: String,
    /// Which of the arguments is to blame, from 0, if it is one of them.
    pub argument: Option<usize>,
}

impl Failure {
    /// Something is wrong.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            argument: None,
        }
    }

    /// Something is wrong with an argument.
    pub fn at(argument: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            argument: Some(argument),
        }
    }
}

impl Range {
    /// No bounds.
    pub const ALL: Self = Self {
        min: None,
        max: None,
    };
    /// Any size.
    pub const ANY_SIZE: Self = Self {
        min: Some(0),
        max: None,
    };

    /// From one number to another.
    pub fn new(min: i64, max: i64) -> Self {
        Self {
            min: Some(min),
            max: Some(max),
        }
    }

    /// Just this number.
    pub fn exactly(number: i64) -> Self {
        Self::new(number, number)
    }

    /// Just the size of something.
    pub fn size(length: usize) -> Self {
        Self::exactly(i64::try_from(length).unwrap_or(i64::MAX))
    }

    /// At least this number.
    pub fn at_least(number: i64) -> Self {
        Self {
            min: Some(number),
            max: None,
        }
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: i64) -> bool {
        self.min.is_none_or(|min| min <= number) && self.max.is_none_or(|max| number <= max)
    }

    /// Whether a size is in it.
    pub fn contains_size(&self, length: usize) -> bool {
        self.contains(i64::try_from(length).unwrap_or(i64::MAX))
    }

    /// Whether all of another range is in it.
    pub fn covers(&self, other: &Range) -> bool {
        let from = self
            .min
            .is_none_or(|min| other.min.is_some_and(|other| min <= other));
        let to = self
            .max
            .is_none_or(|max| other.max.is_some_and(|other| other <= max));
        from && to
    }

    /// The range as one of sizes, which are never negative.
    pub fn to_size(self) -> Self {
        match self.min {
            Some(min) if min >= 0 => self,
            _ => Self {
                min: Some(0),
                max: self.max.map(|max| max.max(0)),
            },
        }
    }

    /// The least range that covers both.
    pub fn hull(&self, other: &Range) -> Self {
        Self {
            min: self
                .min
                .zip(other.min)
                .map(|(one, another)| one.min(another)),
            max: self
                .max
                .zip(other.max)
                .map(|(one, another)| one.max(another)),
        }
    }
}

impl FloatRange {
    /// No bounds.
    pub const ALL: Self = Self {
        min: f64::NEG_INFINITY,
        max: f64::INFINITY,
    };

    /// Whether a number is in it.
    pub fn contains(&self, number: f64) -> bool {
        self.min <= number && number <= self.max
    }

    /// Whether all of another range is in it.
    pub fn covers(&self, other: &FloatRange) -> bool {
        self.min <= other.min && self.max >= other.max
    }
}

impl Type {
    /// Whole numbers without bounds.
    pub const INTEGER: Self = Type::Integer(Range::ALL);
    /// Floating point numbers without bounds.
    pub const FLOAT: Self = Type::Float(FloatRange::ALL);
    /// Texts of any length.
    pub const STRING: Self = Type::String(None);
    /// True and false.
    pub const BOOLEAN: Self = Type::Boolean(None);

    /// Arrays of a type.
    pub fn array(element: Type, size: Option<Range>) -> Self {
        // What cannot hold anything says nothing about what it holds.
        let element = match size {
            Some(Range {
                min: Some(0),
                max: Some(0),
            }) => Type::Unit,
            _ => element,
        };
        Type::Array(Arc::new(element), size.map(Range::to_size))
    }

    /// Hashes from a type to a type.
    pub fn hash(key: Type, value: Type, size: Option<Range>) -> Self {
        let (key, value) = match size {
            Some(Range {
                min: Some(0),
                max: Some(0),
            }) => (Type::Unit, Type::Unit),
            _ => (key, value),
        };
        Type::Hash(Arc::new(key), Arc::new(value), size.map(Range::to_size))
    }

    /// Arrays with a type for each position.
    pub fn tuple(types: impl IntoIterator<Item = Type>, size: Option<Range>) -> Self {
        Type::Tuple(types.into_iter().collect(), size.map(Range::to_size))
    }

    /// One of these texts.
    pub fn enumeration(values: impl IntoIterator<Item = EcoString>, case: Case) -> Self {
        let mut values: Vec<EcoString> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        Type::Enum(values.into(), case)
    }

    /// Any of these; variants among them are taken apart, and one alone stands for itself.
    pub fn variant(types: impl IntoIterator<Item = Type>) -> Self {
        let mut all: Vec<Type> = Vec::new();
        for kind in types {
            let inner: &[Type] = match &kind {
                Type::Variant(inner) => inner,
                one => std::slice::from_ref(one),
            };
            for one in inner {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            }
        }
        if all.len() == 1 {
            return all.remove(0);
        }
        Type::Variant(all.into())
    }

    /// The type or `undef`.
    pub fn optional(kind: Type) -> Self {
        Type::Optional(Some(Arc::new(kind)))
    }

    /// The type without `undef`.
    pub fn not_undef(kind: Type) -> Self {
        match kind {
            Type::Any => Type::NotUndef(None),
            kind => Type::NotUndef(Some(Arc::new(kind))),
        }
    }

    /// Types that are this one or narrower.
    pub fn of_type(kind: Type) -> Self {
        Type::Type(Some(Arc::new(kind)))
    }

    /// Values of a type that are not to be shown. What is said of them is general, so that it tells nothing.
    pub fn sensitive(kind: &Type) -> Self {
        Type::Sensitive(Arc::new(kind.generalise()))
    }

    /// What the type is called without its arguments.
    pub fn name(&self) -> EcoString {
        match self {
            Type::Any => "Any".into(),
            Type::Unit => "Unit".into(),
            Type::Undef => "Undef".into(),
            Type::Default => "Default".into(),
            Type::Scalar => "Scalar".into(),
            Type::ScalarData => "ScalarData".into(),
            Type::Data => "Data".into(),
            Type::RichData => "RichData".into(),
            Type::Numeric => "Numeric".into(),
            Type::Integer(_) => "Integer".into(),
            Type::Float(_) => "Float".into(),
            Type::Boolean(_) => "Boolean".into(),
            Type::String(_) | Type::Exactly(_) => "String".into(),
            Type::Enum(..) => "Enum".into(),
            Type::Pattern(_) => "Pattern".into(),
            Type::Regexp(_) => "Regexp".into(),
            Type::Collection(_) => "Collection".into(),
            Type::Array(..) => "Array".into(),
            Type::Hash(..) => "Hash".into(),
            Type::Tuple(..) => "Tuple".into(),
            Type::Struct(_) => "Struct".into(),
            Type::Optional(_) => "Optional".into(),
            Type::NotUndef(_) => "NotUndef".into(),
            Type::Variant(_) => "Variant".into(),
            Type::Type(_) => "Type".into(),
            Type::Sensitive(_) => "Sensitive".into(),
            Type::Callable(_) => "Callable".into(),
            Type::Iterable(_) => "Iterable".into(),
            Type::Iterator(_) => "Iterator".into(),
            Type::CatalogEntry => "CatalogEntry".into(),
            Type::Resource(..) => "Resource".into(),
            Type::Class(_) => "Class".into(),
            Type::Timestamp(..) => "Timestamp".into(),
            Type::Timespan(..) => "Timespan".into(),
            Type::SemVer(_) => "SemVer".into(),
            Type::SemVerRange => "SemVerRange".into(),
            Type::Binary => "Binary".into(),
            Type::Uri(_) => "URI".into(),
            Type::Runtime(..) => "Runtime".into(),
            Type::Init(_) => "Init".into(),
            Type::Object(name) => name.clone().unwrap_or("Object".into()),
            Type::TypeSet => "TypeSet".into(),
            Type::Alias(alias) => alias.name().clone(),
            Type::Reference(_) => "TypeReference".into(),
        }
    }

    /// What an alias stands for; the type itself if it is none.
    pub fn resolved(&self) -> &Type {
        let mut kind = self;
        // An alias of an alias of an alias: nobody goes farther on purpose.
        for _ in 0..64 {
            match kind.body() {
                Some(body) => kind = body,
                None => break,
            }
        }
        kind
    }
}

/// The types of data that are written most, to suggest one.
pub(crate) const WRITTEN: [&str; 35] = [
    "Any",
    "Array",
    "Binary",
    "Boolean",
    "Callable",
    "CatalogEntry",
    "Collection",
    "Data",
    "Default",
    "Deferred",
    "Enum",
    "Float",
    "Hash",
    "Integer",
    "Iterable",
    "Iterator",
    "NotUndef",
    "Numeric",
    "Object",
    "Optional",
    "Pattern",
    "Regexp",
    "Resource",
    "RichData",
    "Scalar",
    "SemVer",
    "Sensitive",
    "String",
    "Struct",
    "Timespan",
    "Timestamp",
    "Tuple",
    "Type",
    "Undef",
    "Variant",
];

/// The type of a name in lower case, if the language itself knows it.
pub fn named(name: &str) -> Option<Type> {
    let kind = match name {
        "any" => Type::Any,
        "undef" => Type::Undef,
        "default" => Type::Default,
        "scalar" => Type::Scalar,
        "scalardata" => Type::ScalarData,
        "data" => Type::Data,
        "richdata" => Type::RichData,
        "richdatakey" => alias::rich_data_key(),
        "puppet::lookupkey" => alias::lookup_key(),
        "puppet::lookupvalue" => alias::lookup_value(),
        "numeric" => Type::Numeric,
        "integer" => Type::INTEGER,
        "float" => Type::FLOAT,
        "boolean" => Type::BOOLEAN,
        "string" => Type::STRING,
        "enum" => Type::Enum([].into(), Case::Sensitive),
        "pattern" => Type::Pattern([].into()),
        "regexp" => Type::Regexp(None),
        "collection" => Type::Collection(None),
        "array" => Type::Array(Arc::new(Type::Any), None),
        "hash" => Type::Hash(Arc::new(Type::Any), Arc::new(Type::Any), None),
        "tuple" => Type::Tuple([].into(), None),
        "struct" => Type::Struct([].into()),
        "optional" => Type::Optional(None),
        "notundef" => Type::NotUndef(None),
        "variant" => Type::Variant([].into()),
        "type" => Type::Type(None),
        "sensitive" => Type::Sensitive(Arc::new(Type::Any)),
        "callable" => Type::Callable(None),
        "iterable" => Type::Iterable(None),
        "iterator" => Type::Iterator(None),
        "catalogentry" => Type::CatalogEntry,
        "resource" => Type::Resource(None, None),
        "class" => Type::Class(None),
        "timestamp" => Type::Timestamp(None, None),
        "timespan" => Type::Timespan(None, None),
        "semver" => Type::SemVer([].into()),
        "semverrange" => Type::SemVerRange,
        "binary" => Type::Binary,
        "uri" => Type::Uri(None),
        "runtime" => Type::Runtime(None, None),
        "init" => Type::Init(None),
        "object" => Type::Object(None),
        "deferred" => Type::Object(Some("Deferred".into())),
        "error" => Type::Object(Some("Error".into())),
        "typeset" => Type::TypeSet,
        "typereference" => Type::Reference("UnresolvedReference".into()),
        _ => return None,
    };
    Some(kind)
}

impl Type {
    /// The type without a size that all its values have: `String` for `String[0]`. `==` takes both for the same, a hash
    /// does not.
    pub(crate) fn of_any_size(&self) -> Self {
        let any = |size: &Option<Range>| {
            let is_any = |size: &Range| size.min.unwrap_or(0) == 0 && size.max.is_none();
            size.filter(|size| !is_any(size))
        };
        match self {
            Type::String(size) => Type::String(any(size)),
            Type::Collection(size) => Type::Collection(any(size)),
            Type::Array(of, size) => Type::Array(of.clone(), any(size)),
            Type::Hash(key, value, size) => Type::Hash(key.clone(), value.clone(), any(size)),
            other => other.clone(),
        }
    }
}

impl PartialEq for Type {
    /// The same type, said the same way: variants and patterns in any order, aliases by name.
    fn eq(&self, other: &Self) -> bool {
        // One of the same size that holds nothing else.
        fn same<T: PartialEq>(these: &[T], those: &[T]) -> bool {
            these.len() == those.len() && these.iter().all(|one| those.contains(one))
        }
        match (self, other) {
            (Type::Integer(a), Type::Integer(b)) => a == b,
            (Type::Float(a), Type::Float(b)) => a == b,
            (Type::Boolean(a), Type::Boolean(b)) => a == b,
            (Type::String(a), Type::String(b)) => a == b,
            (Type::Exactly(a), Type::Exactly(b)) => a == b,
            (Type::Enum(a, a_case), Type::Enum(b, b_case)) => a == b && a_case == b_case,
            (Type::Pattern(a), Type::Pattern(b)) => same(a, b),
            (Type::Regexp(a), Type::Regexp(b)) => a == b,
            (Type::Collection(a), Type::Collection(b)) => a == b,
            (Type::Array(a, a_size), Type::Array(b, b_size)) => a_size == b_size && a == b,
            (Type::Hash(a_key, a_value, a_size), Type::Hash(b_key, b_value, b_size)) => {
                a_size == b_size && a_key == b_key && a_value == b_value
            }
            (Type::Tuple(a, a_size), Type::Tuple(b, b_size)) => a_size == b_size && a == b,
            (Type::Struct(a), Type::Struct(b)) => a == b,
            (Type::Optional(a), Type::Optional(b))
            | (Type::NotUndef(a), Type::NotUndef(b))
            | (Type::Type(a), Type::Type(b))
            | (Type::Iterable(a), Type::Iterable(b))
            | (Type::Iterator(a), Type::Iterator(b)) => a == b,
            (Type::Variant(a), Type::Variant(b)) => same(a, b),
            (Type::Sensitive(a), Type::Sensitive(b)) => a == b,
            (Type::Callable(a), Type::Callable(b)) => a == b,
            (Type::Resource(a, a_title), Type::Resource(b, b_title)) => {
                a == b && a_title == b_title
            }
            (Type::Class(a), Type::Class(b)) | (Type::Object(a), Type::Object(b)) => a == b,
            (Type::Timestamp(a, a_to), Type::Timestamp(b, b_to)) => a == b && a_to == b_to,
            (Type::Timespan(a, a_to), Type::Timespan(b, b_to)) => a == b && a_to == b_to,
            (Type::SemVer(a), Type::SemVer(b)) => a == b,
            (Type::Uri(a), Type::Uri(b)) => a == b,
            (Type::Runtime(a, a_name), Type::Runtime(b, b_name)) => a == b && a_name == b_name,
            (Type::Init(a), Type::Init(b)) => match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) => {
                    let data = |values: &[Value]| -> Vec<_> {
                        values.iter().map(|value| value.datum.clone()).collect()
                    };
                    a.0 == b.0 && data(&a.1) == data(&b.1)
                }
                _ => false,
            },
            (Type::Alias(a), Type::Alias(b)) => a.name() == b.name(),
            (Type::Reference(a), Type::Reference(b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

// Bounds of floats are numbers, never the absence of one.
impl Eq for Type {}
