//! The shortest way to say the same type.
//!
//! Choices that can be one are made one, and what is said twice is said once: `Variant[Enum[a], Enum[b]]` is
//! `Enum[a, b]`, `Optional[Variant[Undef, Integer]]` is `Optional[Integer]`. Mismatches are told of such types.

use std::sync::Arc;

use super::{Case, FloatRange, Member, Range, Signature, Type};

impl Type {
    /// The shortest way to say it.
    pub fn normalise(&self) -> Type {
        let within =
            |inner: &Option<Arc<Type>>| inner.as_ref().map(|inner| Arc::new(inner.normalise()));
        match self {
            Type::Collection(_) => Type::Collection(None),
            Type::Array(element, size) => match &**element {
                Type::Any => Type::array(Type::Any, None),
                element => Type::array(element.normalise(), *size),
            },
            Type::Hash(key, value, size) => Type::Hash(
                Arc::new(key.normalise()),
                Arc::new(value.normalise()),
                *size,
            ),
            Type::Tuple(types, size) => {
                Type::Tuple(types.iter().map(Type::normalise).collect(), *size)
            }
            Type::Struct(members) => Type::Struct(
                members
                    .iter()
                    .map(|member| Member {
                        value: member.value.normalise(),
                        ..member.clone()
                    })
                    .collect(),
            ),
            Type::Type(inner) => Type::Type(within(inner)),
            Type::Iterable(inner) => Type::Iterable(within(inner)),
            Type::Iterator(inner) => Type::Iterator(within(inner)),
            Type::Sensitive(inner) => {
                let normal = inner.normalise();
                match normal == **inner {
                    true => self.clone(),
                    false => Type::sensitive(&normal),
                }
            }
            Type::Callable(Some(signature)) => Type::Callable(Some(Arc::new(Signature {
                parameters: signature.parameters.iter().map(Type::normalise).collect(),
                size: signature.size,
                block: signature.block.as_ref().map(Type::normalise),
                returns: signature.returns.as_ref().map(Type::normalise),
            }))),
            Type::Optional(Some(inner)) => match inner.normalise() {
                Type::NotUndef(Some(inner)) => Type::Optional(Some(inner)).normalise(),
                Type::NotUndef(None) => Type::Optional(None),
                inner if inner.assignable(&Type::Undef) => inner,
                inner => Type::optional(inner),
            },
            Type::NotUndef(Some(inner)) => match inner.normalise() {
                Type::Optional(Some(inner)) => Type::NotUndef(Some(inner)).normalise(),
                Type::Optional(None) => Type::NotUndef(None),
                inner if !inner.assignable(&Type::Undef) => inner,
                inner => Type::not_undef(inner),
            },
            Type::Variant(types) if types.is_empty() => self.clone(),
            Type::Variant(types) => normalise_variant(types),
            other => other.clone(),
        }
    }
}

fn normalise_variant(options: &[Type]) -> Type {
    let mut types: Vec<Type> = options.iter().map(Type::normalise).collect();
    if types.len() == 1 {
        return types.remove(0);
    }
    if types
        .iter()
        .any(|kind| matches!(kind, Type::Undef | Type::Optional(_)))
    {
        let defined = types.into_iter().filter_map(|kind| match kind {
            Type::Undef => None,
            Type::Optional(inner) => inner.map(|inner| (*inner).clone()),
            other => Some(other),
        });
        return Type::optional(Type::variant(defined)).normalise();
    }
    let mut flat: Vec<Type> = Vec::new();
    for kind in types {
        match kind {
            Type::Variant(inner) => flat.extend(inner.iter().cloned()),
            other => flat.push(other),
        }
    }
    let changed = flat != options;
    let count = flat.len();
    let merged = [
        not_undefs,
        enums,
        enums_in_any_case,
        patterns,
        versions,
        integers,
        floats,
        timespans,
        timestamps,
    ]
    .iter()
    .fold(flat, |types, merge| merge(types));
    match merged.len() {
        1 => merged.into_iter().next().expect("there is one"),
        length if changed || length != count => Type::variant(merged),
        _ => Type::Variant(options.into()),
    }
}

/// Those that can be one, and the others; nothing if there are not two to make one of.
fn parted(types: &[Type], wanted: impl Fn(&Type) -> bool) -> Option<(Vec<Type>, Vec<Type>)> {
    let (these, those): (Vec<Type>, Vec<Type>) = types.iter().cloned().partition(wanted);
    (these.len() > 1).then_some((these, those))
}

fn not_undefs(types: Vec<Type>) -> Vec<Type> {
    let Some((these, mut others)) = parted(&types, |kind| matches!(kind, Type::NotUndef(_))) else {
        return types;
    };
    let inner = these.into_iter().filter_map(|kind| match kind {
        Type::NotUndef(inner) => inner.map(|inner| (*inner).clone()),
        _ => None,
    });
    others.push(Type::not_undef(Type::variant(inner).normalise()));
    others
}

fn enums(types: Vec<Type>) -> Vec<Type> {
    let listed = |kind: &Type| match kind {
        Type::Enum(values, Case::Sensitive) => !values.is_empty(),
        Type::Exactly(_) => true,
        _ => false,
    };
    let Some((these, mut others)) = parted(&types, listed) else {
        return types;
    };
    let mut values = Vec::new();
    for kind in these {
        match kind {
            Type::Enum(listed, _) => values.extend(listed.iter().cloned()),
            Type::Exactly(text) => values.push(text),
            _ => {}
        }
    }
    others.push(Type::enumeration(values, Case::Sensitive));
    others
}

fn enums_in_any_case(types: Vec<Type>) -> Vec<Type> {
    let listed =
        |kind: &Type| matches!(kind, Type::Enum(values, Case::Insensitive) if !values.is_empty());
    let Some((these, mut others)) = parted(&types, listed) else {
        return types;
    };
    let mut values = Vec::new();
    for kind in these {
        if let Type::Enum(listed, _) = kind {
            values.extend(listed.iter().map(|value| value.to_lowercase()));
        }
    }
    others.push(Type::enumeration(values, Case::Insensitive));
    others
}

fn patterns(types: Vec<Type>) -> Vec<Type> {
    let Some((these, mut others)) = parted(&types, |kind| matches!(kind, Type::Pattern(_))) else {
        return types;
    };
    let mut all = Vec::new();
    for kind in these {
        if let Type::Pattern(patterns) = kind {
            for pattern in patterns.iter() {
                if !all.contains(pattern) {
                    all.push(pattern.clone());
                }
            }
        }
    }
    others.push(Type::Pattern(all.into()));
    others
}

fn versions(types: Vec<Type>) -> Vec<Type> {
    let Some((these, others)) = parted(&types, |kind| matches!(kind, Type::SemVer(_))) else {
        return types;
    };
    let mut ranges = Vec::new();
    for kind in these {
        if let Type::SemVer(these) = kind {
            ranges.extend(these.iter().cloned());
        }
    }
    [Type::SemVer(super::version::merged(ranges).into())]
        .into_iter()
        .chain(others)
        .collect()
}

/// Joins ranges that touch, from the last one on.
fn joined(
    types: Vec<Type>,
    wanted: impl Fn(&Type) -> bool,
    join: impl Fn(&Type, &Type) -> Option<Type>,
) -> Vec<Type> {
    let Some((mut ranges, others)) = parted(&types, wanted) else {
        return types;
    };
    let mut result = Vec::new();
    while let Some(mut range) = ranges.pop() {
        ranges.retain(|other| match join(&range, other) {
            Some(joined) => {
                range = joined;
                false
            }
            None => true,
        });
        result.push(range);
    }
    result.extend(others);
    result
}

fn integers(types: Vec<Type>) -> Vec<Type> {
    joined(
        types,
        |kind| matches!(kind, Type::Integer(_)),
        |one, another| match (one, another) {
            (Type::Integer(one), Type::Integer(another)) => {
                let before = |a: &Range, b: &Range| {
                    a.max
                        .zip(b.min)
                        .is_some_and(|(max, min)| max.saturating_add(1) < min)
                };
                (!before(one, another) && !before(another, one))
                    .then(|| Type::Integer(one.hull(another)))
            }
            _ => None,
        },
    )
}

fn floats(types: Vec<Type>) -> Vec<Type> {
    joined(
        types,
        |kind| matches!(kind, Type::Float(_)),
        |one, another| match (one, another) {
            (Type::Float(one), Type::Float(another)) => {
                let touch = one.max >= another.min && another.max >= one.min;
                touch.then(|| {
                    Type::Float(FloatRange {
                        min: one.min.min(another.min),
                        max: one.max.max(another.max),
                    })
                })
            }
            _ => None,
        },
    )
}

fn timespans(types: Vec<Type>) -> Vec<Type> {
    joined(
        types,
        |kind| matches!(kind, Type::Timespan(..)),
        |one, another| match (one, another) {
            (Type::Timespan(from, to), Type::Timespan(other_from, other_to)) => {
                let (from, to) = hull((*from, *to), (*other_from, *other_to))?;
                Some(Type::Timespan(from, to))
            }
            _ => None,
        },
    )
}

fn timestamps(types: Vec<Type>) -> Vec<Type> {
    joined(
        types,
        |kind| matches!(kind, Type::Timestamp(..)),
        |one, another| match (one, another) {
            (Type::Timestamp(from, to), Type::Timestamp(other_from, other_to)) => {
                let (from, to) = hull((*from, *to), (*other_from, *other_to))?;
                Some(Type::Timestamp(from, to))
            }
            _ => None,
        },
    )
}

/// From and to, where there is such a bound.
type Bounds<T> = (Option<T>, Option<T>);

/// The range that covers two that touch.
fn hull<T: Ord + Copy>(one: Bounds<T>, another: Bounds<T>) -> Option<Bounds<T>> {
    let before = |a: Bounds<T>, b: Bounds<T>| a.1.zip(b.0).is_some_and(|(to, from)| to < from);
    if before(one, another) || before(another, one) {
        return None;
    }
    let from = one.0.zip(another.0).map(|(a, b)| a.min(b));
    let to = one.1.zip(another.1).map(|(a, b)| a.max(b));
    Some((from, to))
}
