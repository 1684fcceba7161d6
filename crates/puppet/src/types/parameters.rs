//! What `Type[…]` comes to.

use std::sync::Arc;

use ecow::EcoString;

use crate::pattern::Pattern;
use crate::text;
use crate::value::{Datum, Value};

use super::time::{Timespan, Timestamp};
use super::uri::Uri;
use super::version::{self, VersionRange};
use super::{Case, Failure, FloatRange, Member, Range, Signature, Type};

/// What comes of giving arguments to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accessed {
    /// A type.
    One(Type),
    /// A type for each title, as an array.
    Many(Vec<Type>),
    /// Nothing but `undef`, because nothing else was given.
    Undef,
}

/// Gives arguments to a type.
///
/// What `File['/etc/motd']['mode']` comes to is a matter of the catalog, not of types: asked about a single
/// resource or class, this fails.
pub fn parameterise(base: &Type, arguments: &[Value]) -> Result<Accessed, Failure> {
    match base {
        Type::Resource(name, None) => return resources(name.as_ref(), arguments),
        Type::Class(None) => return classes(arguments),
        _ => {}
    }
    if arguments.is_empty() {
        return Err(Failure::new(format!(
            "{}[] accepts 1 or more arguments. Got 0",
            labelled(base, Letter::Capital)
        )));
    }
    let flat = flattened(arguments);
    let given = Given { base, keys: &flat };
    let kind = match base {
        Type::Integer(_) => integer(&given)?,
        Type::Float(_) => float(&given)?,
        Type::Boolean(_) => {
            given.count(1, Some(1))?;
            match given.datum(0) {
                Datum::Bool(bool) => Type::Boolean(Some(*bool)),
                _ => return Err(given.misused(0, "TrueClass or FalseClass")),
            }
        }
        Type::String(_) | Type::Exactly(_) => match flat.len() {
            1 | 2 => Type::String(Some(given.size(0)?.to_size())),
            count => {
                return Err(Failure::new(format!(
                    "String supports [] with one or two arguments. Got {count}"
                )));
            }
        },
        Type::Enum(..) => enumeration(base, &flat)?,
        Type::Pattern(_) => Type::Pattern(patterns(&given)?.into()),
        Type::Regexp(_) => {
            given.count(1, Some(1))?;
            match given.datum(0) {
                Datum::Text(source) => Type::Regexp(Some(Arc::new(pattern(source)?))),
                Datum::Pattern(pattern) => Type::Regexp(Some(pattern.clone())),
                _ => return Err(given.misused(0, "String or Regexp")),
            }
        }
        Type::Collection(_) => match flat.len() {
            1 | 2 => Type::Collection(Some(given.size(0)?.to_size())),
            count => return Err(miscounted("Collection-Type", 1, Some(2), count)),
        },
        Type::Array(..) => array(&given)?,
        Type::Hash(..) => hash(&given)?,
        Type::Tuple(..) => tuple(base, &flat)?,
        Type::Struct(_) => structure(base, arguments)?,
        Type::Variant(_) => Type::variant(given.types()?),
        Type::Optional(_) => match given.single("Optional-Type")? {
            Datum::Type(kind) => Type::Optional(Some(kind.clone())),
            Datum::Text(text) => Type::optional(Type::Exactly(text.clone())),
            other => return Err(given.no_type("Optional-Type", 0, other)),
        },
        Type::NotUndef(_) => match (flat.len(), given.keys.first()) {
            (1, Some((_, Datum::Type(kind)))) => Type::not_undef((**kind).clone()),
            (1, Some((_, Datum::Text(text)))) => Type::not_undef(Type::Exactly(text.clone())),
            (1, Some((_, other))) => {
                return Err(given.blame(
                    0,
                    format!(
                        "NotUndef-Type[] argument must be a Type or a String. Got {}",
                        class_of(other)
                    ),
                ));
            }
            (0, _) => Type::NotUndef(None),
            (count, _) => return Err(miscounted("NotUndef-Type", 0, Some(1), count)),
        },
        Type::Type(_) => Type::Type(Some(given.single_type("Type-Type")?)),
        Type::Sensitive(_) => Type::sensitive(&*given.single_type("Sensitive-Type")?),
        Type::Iterable(_) => Type::Iterable(Some(given.single_type("Iterable-Type")?)),
        Type::Iterator(_) => Type::Iterator(Some(given.single_type("Iterator-Type")?)),
        Type::Callable(_) => callable(base, arguments)?,
        Type::Timestamp(..) => {
            given.at_most_two()?;
            let (from, to) = (moment(given.get(0))?, moment(given.get(1))?);
            ascending(&from, &to)?;
            Type::Timestamp(from, to)
        }
        Type::Timespan(..) => {
            given.at_most_two()?;
            let (from, to) = (duration(given.get(0))?, duration(given.get(1))?);
            ascending(&from, &to)?;
            Type::Timespan(from, to)
        }
        Type::SemVer(_) => versions(&given)?,
        Type::Uri(_) => match given.single("URI-Type")? {
            Datum::Text(text) if !text.is_empty() => {
                let uri = Uri::parse(text).map_err(while_accessing)?;
                Type::Uri(uri.parts().map(Arc::new))
            }
            Datum::Hash(parts) if parts.iter().all(|(name, _)| Uri::is_part(name)) => {
                Type::Uri((!parts.is_empty()).then(|| Arc::new(parts.clone())))
            }
            other => return Err(given.no_type("URI-Type", 0, other)),
        },
        Type::Runtime(..) => {
            if flat.len() != 2 {
                let label = labelled(base, Letter::Capital);
                return Err(miscounted(&label, 1, Some(2), flat.len()));
            }
            match (given.datum(0), given.datum(1)) {
                (Datum::Text(runtime), Datum::Text(name)) => {
                    Type::Runtime(Some(runtime.clone()), Some(name.clone()))
                }
                (Datum::Text(_), _) => return Err(given.misused(1, "String or String")),
                _ => return Err(given.misused(0, "String or String")),
            }
        }
        Type::Init(_) => match &arguments[0].datum {
            Datum::Type(kind) => {
                let init = ((**kind).clone(), arguments[1..].to_vec());
                Type::Init(Some(Arc::new(init)))
            }
            other => return Err(given.no_type("Init-Type", 0, other)),
        },
        Type::Object(None) => match given.single("Object-Type")? {
            Datum::Hash(definition) => match definition.get_text("name").map(|it| &it.datum) {
                Some(Datum::Text(name)) => Type::Object(Some(name.clone())),
                _ => Type::Object(None),
            },
            other => return Err(given.no_type("Object-Type", 0, other)),
        },
        Type::Object(Some(name)) => {
            return Err(while_accessing(format!(
                "The {name}-Type cannot be parameterized using []"
            )));
        }
        Type::TypeSet => {
            given.single("TypeSet-Type")?;
            Type::TypeSet
        }
        Type::Reference(name) => {
            return Err(Failure::new(format!("Resource type not found: {name}")));
        }
        Type::Alias(alias) => match alias.body() {
            // What an alias stands for has its arguments already; what has none can be given some.
            Some(body) if super::named(&body.name().to_lowercase()).as_ref() == Some(body) => {
                return parameterise(&body.clone(), arguments);
            }
            _ => return Err(inapplicable(base)),
        },
        _ => return Err(inapplicable(base)),
    };
    Ok(Accessed::One(kind))
}

/// An argument, and at which position it was given.
type Key<'a> = (usize, &'a Datum);

/// Arguments to a type, arrays among them taken apart.
struct Given<'a> {
    base: &'a Type,
    keys: &'a [Key<'a>],
}

fn flattened(arguments: &[Value]) -> Vec<Key<'_>> {
    fn push<'a>(flat: &mut Vec<Key<'a>>, index: usize, datum: &'a Datum) {
        match datum {
            Datum::Array(array) => array
                .iter()
                .for_each(|value| push(flat, index, &value.datum)),
            other => flat.push((index, other)),
        }
    }
    let mut flat = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        push(&mut flat, index, &argument.datum);
    }
    flat
}

impl<'a> Given<'a> {
    fn datum(&self, index: usize) -> &'a Datum {
        self.keys[index].1
    }

    fn get(&self, index: usize) -> Option<&'a Datum> {
        self.keys.get(index).map(|(_, datum)| *datum)
    }

    fn blame(&self, index: usize, message: String) -> Failure {
        match self.keys.get(index) {
            Some((argument, _)) => Failure::at(*argument, message),
            None => Failure::new(message),
        }
    }

    fn count(&self, least: usize, most: Option<usize>) -> Result<(), Failure> {
        let count = self.keys.len();
        if count >= least && most.is_none_or(|most| count <= most) {
            return Ok(());
        }
        let label = labelled(self.base, Letter::Capital);
        Err(miscounted(&label, 1, most, count))
    }

    fn at_most_two(&self) -> Result<(), Failure> {
        match self.keys.len() {
            0..=2 => Ok(()),
            count => {
                let label = labelled(self.base, Letter::Capital);
                Err(miscounted(&label, 0, Some(2), count))
            }
        }
    }

    fn single(&self, label: &str) -> Result<&'a Datum, Failure> {
        match self.keys {
            [(_, datum)] => Ok(datum),
            keys => Err(miscounted(label, 1, Some(1), keys.len())),
        }
    }

    fn single_type(&self, label: &str) -> Result<Arc<Type>, Failure> {
        match self.single(label)? {
            Datum::Type(kind) => Ok(kind.clone()),
            other => Err(self.no_type(label, 0, other)),
        }
    }

    fn types(&self) -> Result<Vec<Type>, Failure> {
        self.count(1, None)?;
        let kind = |(index, (_, datum)): (usize, &Key<'_>)| match datum {
            Datum::Type(kind) => Ok((**kind).clone()),
            _ => Err(self.misused(index, "Any-Type")),
        };
        self.keys.iter().enumerate().map(kind).collect()
    }

    fn no_type(&self, label: &str, index: usize, actual: &Datum) -> Failure {
        let actual = class_of(actual);
        self.blame(
            index,
            format!("{label}[] arguments must be types. Got {actual}"),
        )
    }

    fn misused(&self, index: usize, expected: &str) -> Failure {
        let base = labelled(self.base, Letter::Small);
        let actual = general_name(self.datum(index));
        self.blame(
            index,
            format!(
                "Error creating type specialization of {base}, Cannot use {actual} where {expected} is expected"
            ),
        )
    }

    /// A size: one or two numbers, or a range of them.
    fn size(&self, start: usize) -> Result<Range, Failure> {
        let keys = &self.keys[start..];
        if let [(_, Datum::Type(kind))] = keys
            && let Type::Integer(range) = kind.resolved()
        {
            return Ok(*range);
        }
        let mut bounds = [None, None];
        for (offset, (_, datum)) in keys.iter().enumerate() {
            bounds[offset] = match datum {
                Datum::Integer(number) => Some(*number),
                Datum::Default => None,
                other => {
                    let class = class_label(other);
                    return Err(self.blame(
                        start + offset,
                        format!(
                            "A Type's size constraint arguments must be a single Integer type, or 1-2 integers (or default). Got {} {class}",
                            article(&class)
                        ),
                    ));
                }
            };
        }
        range(bounds[0], bounds[1])
    }
}

/// A range of numbers, if it is one.
fn range(min: Option<i64>, max: Option<i64>) -> Result<Range, Failure> {
    if let (Some(from), Some(to)) = (min, max)
        && from > to
    {
        return Err(disordered(from, to));
    }
    Ok(Range { min, max })
}

fn disordered(from: impl std::fmt::Display, to: impl std::fmt::Display) -> Failure {
    while_accessing(format!(
        "'from' must be less or equal to 'to'. Got ({from}, {to}"
    ))
}

fn ascending<T: Ord + std::fmt::Display>(from: &Option<T>, to: &Option<T>) -> Result<(), Failure> {
    match (from, to) {
        (Some(from), Some(to)) if from > to => Err(disordered(from, to)),
        _ => Ok(()),
    }
}

fn integer(given: &Given) -> Result<Type, Failure> {
    let mut bounds = [None, None];
    if !(1..=2).contains(&given.keys.len()) {
        let count = given.keys.len();
        return Err(Failure::new(format!(
            "Integer-Type supports [] with one or two arguments (from, to). Got {count}"
        )));
    }
    for (index, (_, datum)) in given.keys.iter().enumerate() {
        bounds[index] = match datum {
            Datum::Integer(number) => Some(*number),
            Datum::Default => None,
            other => {
                let class = class_of(other);
                return Err(given.blame(
                    index,
                    format!(
                        "Integer-Type [] requires all arguments to be integers (or default). Got {class}"
                    ),
                ));
            }
        };
    }
    Ok(Type::Integer(range(bounds[0], bounds[1])?))
}

fn float(given: &Given) -> Result<Type, Failure> {
    let mut bounds = FloatRange::ALL;
    if !(1..=2).contains(&given.keys.len()) {
        let count = given.keys.len();
        return Err(Failure::new(format!(
            "Float-Type supports [] with one or two arguments (from, to). Got {count}"
        )));
    }
    for (index, (_, datum)) in given.keys.iter().enumerate() {
        let number = match datum {
            Datum::Integer(number) => *number as f64,
            Datum::Float(number) => *number,
            Datum::Default => continue,
            other => {
                let class = class_of(other);
                return Err(given.blame(
                    index,
                    format!(
                        "Float-Type [] requires all arguments to be floats, or integers (or default). Got {class}"
                    ),
                ));
            }
        };
        match index {
            0 => bounds.min = number,
            _ => bounds.max = number,
        }
    }
    if bounds.min > bounds.max {
        return Err(disordered(text::float(bounds.min), text::float(bounds.max)));
    }
    Ok(Type::Float(bounds))
}

fn enumeration(base: &Type, keys: &[Key<'_>]) -> Result<Type, Failure> {
    let (keys, case) = match keys.split_last() {
        Some(((_, Datum::Bool(true)), keys)) => (keys, Case::Insensitive),
        Some(((_, Datum::Bool(false)), keys)) => (keys, Case::Sensitive),
        _ => (keys, Case::Sensitive),
    };
    let given = Given { base, keys };
    given.count(1, None)?;
    let value = |(index, (_, datum)): (usize, &Key<'_>)| match datum {
        Datum::Text(text) => Ok(text.clone()),
        _ => Err(given.misused(index, "String")),
    };
    let values: Result<Vec<EcoString>, Failure> = keys.iter().enumerate().map(value).collect();
    Ok(Type::enumeration(values?, case))
}

fn pattern(source: &str) -> Result<Pattern, Failure> {
    Pattern::new(source).map_err(while_accessing)
}

fn patterns(given: &Given) -> Result<Vec<Arc<Pattern>>, Failure> {
    given.count(1, None)?;
    let mut patterns: Vec<Arc<Pattern>> = Vec::new();
    for (index, (_, datum)) in given.keys.iter().enumerate() {
        let mut add = |pattern: Arc<Pattern>| {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        };
        let wrong = || given.misused(index, "String or Regexp or Pattern-Type or Regexp-Type");
        match datum {
            Datum::Text(source) => add(Arc::new(pattern(source)?)),
            Datum::Pattern(pattern) => add(pattern.clone()),
            Datum::Type(kind) => match &**kind {
                Type::Regexp(Some(pattern)) => add(pattern.clone()),
                Type::Regexp(None) => add(Arc::new(pattern("")?)),
                Type::Pattern(inner) => inner.iter().cloned().for_each(add),
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        }
    }
    Ok(patterns)
}

fn array(given: &Given) -> Result<Type, Failure> {
    let count = given.keys.len();
    match (count, given.datum(0)) {
        (1, Datum::Type(kind)) => Ok(Type::array((**kind).clone(), None)),
        (2 | 3, Datum::Type(kind)) => Ok(Type::array((**kind).clone(), Some(given.size(1)?))),
        (2, _) => Ok(Type::array(Type::Any, Some(given.size(0)?))),
        (1 | 3, other) => Err(given.no_type("Array-Type", 0, other)),
        _ => Err(miscounted("Array-Type", 1, Some(3), count)),
    }
}

fn hash(given: &Given) -> Result<Type, Failure> {
    let count = given.keys.len();
    if count == 2
        && let (Datum::Integer(from), Datum::Integer(to)) = (given.datum(0), given.datum(1))
    {
        let size = range(Some(*from), Some(*to))?;
        return Ok(Type::hash(Type::Any, Type::Any, Some(size)));
    }
    let mut types = Vec::new();
    for index in 0..count.min(2) {
        match given.datum(index) {
            Datum::Type(kind) => types.push((**kind).clone()),
            other => return Err(given.no_type("Hash-Type", index, other)),
        }
    }
    let size = match count {
        2 => None,
        3 | 4 => Some(given.size(2)?),
        _ => return Err(miscounted("Hash-Type", 2, Some(4), count)),
    };
    let value = types.pop().expect("there are two");
    let key = types.pop().expect("there are two");
    Ok(Type::hash(key, value, size))
}

/// How many there may be, where numbers at the end say so, and the arguments before them.
fn trailing_size<'a, 'b>(keys: &'b [Key<'a>]) -> Result<(&'b [Key<'a>], Option<Range>), Failure> {
    let bound = |key: Option<&Key<'_>>| match key.map(|(_, datum)| *datum) {
        Some(Datum::Integer(number)) => Some(Some(*number)),
        Some(Datum::Default) => Some(None),
        Some(Datum::Text(text)) if text == "default" => Some(None),
        _ => None,
    };
    let count = keys.len();
    let last = bound(keys.last());
    let before = count.checked_sub(2).and_then(|at| bound(keys.get(at)));
    Ok(match (before, last) {
        (Some(min), Some(max)) => (&keys[..count - 2], Some(range(min, max)?)),
        (None, Some(min)) => (&keys[..count - 1], Some(range(min, None)?)),
        _ => (keys, None),
    })
}

fn tuple(base: &Type, keys: &[Key<'_>]) -> Result<Type, Failure> {
    let (keys, size) = trailing_size(keys)?;
    let types = Given { base, keys }.types()?;
    Ok(Type::tuple(types, size))
}

fn structure(base: &Type, arguments: &[Value]) -> Result<Type, Failure> {
    let keys: Vec<Key<'_>> = arguments.iter().map(|it| &it.datum).enumerate().collect();
    let given = Given { base, keys: &keys };
    given.count(1, Some(1))?;
    let Datum::Hash(definition) = given.datum(0) else {
        return Err(given.misused(0, "Hash"));
    };
    let mut members: Vec<Member> = Vec::new();
    for (key, entry) in definition.iter() {
        let value = type_of(&entry.value.datum);
        let (name, optional) = match key {
            Datum::Text(name) if name.is_empty() => {
                return Err(while_accessing(
                    "Struct element key cannot be an empty String",
                ));
            }
            Datum::Text(name) => (name.clone(), value.assignable(&Type::Undef)),
            Datum::Type(kind) => key_of(kind)?,
            other => return Err(bad_key(class_of(other))),
        };
        members.push(Member {
            name,
            optional,
            value,
        });
    }
    Ok(Type::Struct(members.into()))
}

/// The name that a type of keys stands for, and whether the key may be missing.
fn key_of(kind: &Arc<Type>) -> Result<(EcoString, bool), Failure> {
    let (inner, optional) = match &**kind {
        Type::Optional(inner) => (inner.as_ref(), true),
        Type::NotUndef(inner) => (inner.as_ref(), false),
        Type::String(_) | Type::Exactly(_) | Type::Enum(..) => (Some(kind), false),
        other => return Err(bad_key(class_of_type(other))),
    };
    match inner.map(|inner| &**inner) {
        Some(Type::Exactly(name)) => Ok((name.clone(), optional)),
        Some(Type::Enum(values, _)) if values.len() == 1 => Ok((values[0].clone(), optional)),
        _ => Err(while_accessing(format!(
            "Unable to extract a non-empty literal string from Struct member key type {kind}"
        ))),
    }
}

fn bad_key(got: String) -> Failure {
    while_accessing(format!(
        "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {got}"
    ))
}

/// What an argument stands for where a type is meant.
fn type_of(datum: &Datum) -> Type {
    match datum {
        Datum::Type(kind) => (**kind).clone(),
        Datum::Text(text) => Type::Runtime(Some("ruby".into()), Some(text.clone())),
        other => Type::reduced(other).generalise(),
    }
}

fn callable(base: &Type, arguments: &[Value]) -> Result<Type, Failure> {
    let (parameters, returns) = match arguments {
        [first, rest @ ..] if matches!(first.datum, Datum::Array(_)) => {
            let Datum::Array(parameters) = &first.datum else {
                unreachable!("the guard says so")
            };
            let [returns] = rest else {
                let label = labelled(base, Letter::Capital);
                return Err(miscounted(&label, 2, Some(2), arguments.len()));
            };
            let Datum::Type(returns) = &returns.datum else {
                let keys = [(0, &first.datum), (1, &returns.datum)];
                let given = Given { base, keys: &keys };
                return Err(given.misused(1, "Any-Type"));
            };
            // That anything may come back is not worth saying.
            let returns = (!matches!(**returns, Type::Any)).then(|| (**returns).clone());
            (parameters.as_slice(), returns)
        }
        all => (all, None),
    };
    let keys: Vec<Key<'_>> = parameters.iter().map(|it| &it.datum).enumerate().collect();
    let (keys, block) = match keys.split_last() {
        Some(((_, Datum::Type(kind)), rest)) if is_callable(kind) => (rest, Some((**kind).clone())),
        _ => (&keys[..], None),
    };
    let (keys, size) = trailing_size(keys)?;
    let mut types: Vec<Type> = keys.iter().map(|(_, datum)| type_of(datum)).collect();
    if types.is_empty() && size.is_some_and(|size| size.max != Some(0)) {
        types.push(Type::Unit);
    }
    Ok(Type::Callable(Some(Arc::new(Signature {
        parameters: types.into(),
        size: size.map(Range::to_size),
        block,
        returns,
    }))))
}

/// Whether a type is one of lambdas, or of optional ones.
pub(super) fn is_callable(kind: &Type) -> bool {
    fn through<'a>(kind: &'a Type, names: &mut Vec<&'a Type>) -> bool {
        match kind {
            Type::Callable(_) => true,
            Type::Optional(Some(inner)) => through(inner, names),
            Type::Variant(types) => types.iter().all(|kind| through(kind, names)),
            Type::Alias(alias) => {
                if names.contains(&kind) {
                    return false;
                }
                names.push(kind);
                alias.body().is_some_and(|body| through(body, names))
            }
            _ => false,
        }
    }
    through(kind, &mut Vec::new())
}

fn versions(given: &Given) -> Result<Type, Failure> {
    given.count(1, None)?;
    let mut ranges = Vec::new();
    for (index, (_, datum)) in given.keys.iter().enumerate() {
        ranges.push(match datum {
            Datum::Text(text) => VersionRange::parse(text).map_err(while_accessing)?,
            Datum::SemVerRange(range) => (**range).clone(),
            _ => return Err(given.misused(index, "String or SemanticPuppet::VersionRange")),
        });
    }
    Ok(Type::SemVer(version::merged(ranges).into()))
}

fn moment(datum: Option<&Datum>) -> Result<Option<Timestamp>, Failure> {
    match datum {
        None | Some(Datum::Default | Datum::Undef) => Ok(None),
        Some(datum) => Timestamp::from_datum(datum)
            .map(Some)
            .map_err(while_accessing),
    }
}

fn duration(datum: Option<&Datum>) -> Result<Option<Timespan>, Failure> {
    match datum {
        None | Some(Datum::Default | Datum::Undef) => Ok(None),
        Some(datum) => Timespan::from_datum(datum)
            .map(Some)
            .map_err(while_accessing),
    }
}

fn resources(name: Option<&EcoString>, arguments: &[Value]) -> Result<Accessed, Failure> {
    let base = Type::Resource(name.cloned(), None);
    let (name, titles, first_title) = match (name, arguments) {
        (_, []) => return Err(miscounted(&base.to_string(), 1, None, 0)),
        (Some(name), titles) => (name.clone(), titles, 0),
        (None, [first, titles @ ..]) => {
            let name = match &first.datum {
                Datum::Text(name) => name.clone(),
                Datum::Type(kind) => match &**kind {
                    Type::Resource(Some(name), _) => name.clone(),
                    _ => return Err(bad_resource_type(&first.datum)),
                },
                other => return Err(bad_resource_type(other)),
            };
            if !is_type_name(&name) {
                return Err(Failure::at(
                    0,
                    format!(
                        "Illegal type reference. The given name '{}' does not conform to the naming rule",
                        text::capitalised_name(&name)
                    ),
                ));
            }
            (name.to_lowercase(), titles, 1)
        }
    };
    let many = titles.len() > 1 || matches!(titles, [one] if matches!(one.datum, Datum::Array(_)));
    if titles.is_empty() {
        return Ok(Accessed::One(Type::Resource(Some(name), None)));
    }
    let mut types = Vec::new();
    for (index, datum) in flattened(titles) {
        match datum {
            Datum::Undef => {}
            Datum::Text(title) => {
                types.push(Type::Resource(Some(name.clone()), Some(title.clone())));
            }
            other => {
                return Err(Failure::at(
                    index + first_title,
                    format!(
                        "Error creating type specialization of {}, Cannot use {} where a resource title String is expected",
                        labelled(&base, Letter::Small),
                        general_name(other)
                    ),
                ));
            }
        }
    }
    Ok(one_or_many(types, many))
}

fn bad_resource_type(actual: &Datum) -> Failure {
    let actual = general_name(actual);
    Failure::at(
        0,
        format!("First argument to Resource[] must be a resource type or a String. Got {actual}."),
    )
}

/// Whether a word, with or without capital letters, can name a type of resources.
fn is_type_name(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.split("::").all(|segment| {
        segment.starts_with(|first: char| first.is_ascii_alphabetic())
            && segment
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn classes(arguments: &[Value]) -> Result<Accessed, Failure> {
    if arguments.is_empty() {
        return Err(miscounted("Class", 1, None, 0));
    }
    let many =
        arguments.len() > 1 || matches!(arguments, [one] if matches!(one.datum, Datum::Array(_)));
    let mut types = Vec::new();
    for (index, datum) in flattened(arguments) {
        let given = match datum {
            Datum::Undef => continue,
            Datum::Text(name) => name,
            other => {
                return Err(Failure::at(
                    index,
                    format!(
                        "Illegal Class name in class reference. {} cannot be used where a String is expected",
                        value_label(other)
                    ),
                ));
            }
        };
        let lower = given.to_lowercase();
        let name = lower.strip_prefix("::").unwrap_or(&lower);
        if !is_type_name(name) {
            return Err(Failure::at(
                index,
                format!(
                    "Illegal name. The given name '{given}' does not conform to the naming rule /^((::)?[a-z_]\\w*)(::[a-z]\\w*)*$/"
                ),
            ));
        }
        types.push(Type::Class(Some(name.into())));
    }
    Ok(one_or_many(types, many))
}

fn one_or_many(mut types: Vec<Type>, many: bool) -> Accessed {
    match many {
        true => Accessed::Many(types),
        false => types.pop().map_or(Accessed::Undef, Accessed::One),
    }
}

fn while_accessing(message: impl std::fmt::Display) -> Failure {
    Failure::new(format!(
        "Error while evaluating a '[]' expression, {message}"
    ))
}

fn inapplicable(base: &Type) -> Failure {
    let base = labelled(base, Letter::Small);
    Failure::new(format!("Operator '[]' is not applicable to {base}."))
}

fn miscounted(label: &str, least: usize, most: Option<usize>, count: usize) -> Failure {
    Failure::new(match most {
        None => format!("{label}[] accepts {least} or more arguments. Got {count}"),
        Some(most) if most != least => {
            format!("{label}[] accepts {least} to {most} arguments. Got {count}")
        }
        Some(1) => format!("{label}[] accepts 1 argument. Got {count}"),
        Some(most) => format!("{label}[] accepts {most} arguments. Got {count}"),
    })
}

/// How an article begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    Small,
    Capital,
}

/// A type as it is spoken of: `an Enum-Type`, `A Tuple-Type`.
fn labelled(kind: &Type, letter: Letter) -> String {
    let label = match kind {
        Type::Resource(_, Some(_)) => format!("{kind} Resource-Reference"),
        _ => format!("{kind}-Type"),
    };
    let article = match (letter, article(&label)) {
        (Letter::Small, article) => article,
        (Letter::Capital, "an") => "An",
        (Letter::Capital, _) => "A",
    };
    format!("{article} {label}")
}

/// `a` or `an`.
pub(super) fn article(label: &str) -> &'static str {
    let first = label.trim_start_matches(['"', '\'']).chars().next();
    match first.map(|first| first.to_ascii_lowercase()) {
        Some('a' | 'e' | 'i' | 'o' | 'u' | 'y') => "an",
        _ => "a",
    }
}

/// The type of a value without its particulars, as messages have it.
pub(super) fn general_name(datum: &Datum) -> String {
    Type::reduced(datum).generalise().to_string()
}

/// What the real compiler's own language calls the class of a value; its messages do.
pub(super) fn class_of(datum: &Datum) -> String {
    match datum {
        Datum::Undef => "NilClass".into(),
        Datum::Default => "Symbol".into(),
        Datum::Bool(true) => "TrueClass".into(),
        Datum::Bool(false) => "FalseClass".into(),
        Datum::Integer(_) => "Integer".into(),
        Datum::Float(_) => "Float".into(),
        Datum::Text(_) => "String".into(),
        Datum::Pattern(_) => "Regexp".into(),
        Datum::Array(_) => "Array".into(),
        Datum::Hash(_) => "Hash".into(),
        Datum::Type(kind) => class_of_type(kind),
        Datum::Sensitive(_) => "Puppet::Pops::Types::PSensitiveType::Sensitive".into(),
        Datum::Timestamp(_) => "Puppet::Pops::Time::Timestamp".into(),
        Datum::Timespan(_) => "Puppet::Pops::Time::Timespan".into(),
        Datum::SemVer(_) => "SemanticPuppet::Version".into(),
        Datum::SemVerRange(_) => "SemanticPuppet::VersionRange".into(),
        Datum::Binary(_) => "Puppet::Pops::Types::PBinaryType::Binary".into(),
        Datum::Uri(_) => "URI::Generic".into(),
        Datum::Object(object) => object.kind.to_string(),
        Datum::Iterator(_) => "Puppet::Pops::Types::Iterator".into(),
    }
}

fn class_of_type(kind: &Type) -> String {
    format!("Puppet::Pops::Types::P{}Type", simple_name(kind))
}

/// What kind of type it is, whatever its own name.
pub(super) fn simple_name(kind: &Type) -> EcoString {
    match kind {
        Type::Data | Type::RichData | Type::Alias(_) => "TypeAlias".into(),
        Type::Object(_) => "Object".into(),
        other => other.name(),
    }
}

fn class_label(datum: &Datum) -> String {
    match datum {
        Datum::Type(kind) => format!("{}-Type", simple_name(kind)),
        other => class_of(other),
    }
}

/// A value as it is spoken of: `An Integer`.
fn value_label(datum: &Datum) -> String {
    let label = match datum {
        Datum::Undef => "Undef".into(),
        Datum::Default => "Symbol".into(),
        Datum::Bool(_) => "Boolean".into(),
        Datum::Type(kind) => return labelled(kind, Letter::Capital),
        other => class_of(other),
    };
    let article = if article(&label) == "an" { "An" } else { "A" };
    format!("{article} {label}")
}
