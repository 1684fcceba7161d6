//! Whether a value is of a type.

use crate::pattern::Pattern;
use crate::trace::Origin;
use crate::value::{Array, Datum, Value};

use super::alias::{Entered, Path};
use super::{Case, Member, Range, Type, recipe};

impl Type {
    /// Whether a value is of the type.
    pub fn instance(&self, datum: &Datum) -> bool {
        instance(self, datum, &mut Path::default())
    }
}

fn instance(kind: &Type, datum: &Datum, path: &mut Path) -> bool {
    match kind {
        Type::Any | Type::Unit => true,
        Type::Undef => matches!(datum, Datum::Undef),
        Type::Default => matches!(datum, Datum::Default),
        Type::Scalar => is_scalar(datum),
        Type::ScalarData => matches!(
            datum,
            Datum::Text(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Bool(_)
        ),
        Type::Numeric => matches!(datum, Datum::Integer(_) | Datum::Float(_)),
        Type::Integer(range) => matches!(datum, Datum::Integer(number) if range.contains(*number)),
        Type::Float(range) => matches!(datum, Datum::Float(number) if range.contains(*number)),
        Type::Boolean(wanted) => {
            matches!(datum, Datum::Bool(bool) if wanted.is_none_or(|wanted| wanted == *bool))
        }
        Type::String(size) => matches!(datum, Datum::Text(text) if of_length(text, *size)),
        Type::Exactly(wanted) => matches!(datum, Datum::Text(text) if text == wanted),
        Type::Enum(values, case) => {
            matches!(datum, Datum::Text(text) if is_listed(values, *case, text))
        }
        Type::Pattern(patterns) => {
            matches!(datum, Datum::Text(text) if matches_any(patterns, text))
        }
        Type::Regexp(wanted) => {
            matches!(datum, Datum::Pattern(pattern) if wanted.as_ref().is_none_or(|wanted| wanted == pattern))
        }
        Type::Collection(size) => match datum {
            Datum::Array(array) => fits(*size, array.len()),
            Datum::Hash(hash) => fits(*size, hash.len()),
            _ => false,
        },
        Type::Array(element, size) => match datum {
            Datum::Array(array) => {
                let all = |path: &mut Path| {
                    array
                        .iter()
                        .all(|value| instance(element, &value.datum, path))
                };
                fits(*size, array.len()) && all(path)
            }
            _ => false,
        },
        Type::Hash(key_type, value_type, size) => match datum {
            Datum::Hash(hash) => {
                fits(*size, hash.len())
                    && hash.iter().all(|(key, entry)| {
                        instance(key_type, key, path)
                            && instance(value_type, &entry.value.datum, path)
                    })
            }
            _ => false,
        },
        Type::Tuple(types, size) => match datum {
            Datum::Array(array) => of_tuple(types, *size, array, path),
            _ => false,
        },
        Type::Struct(members) => match datum {
            Datum::Hash(hash) => {
                let mut found = 0;
                let all = members.iter().all(|member: &Member| {
                    let value = hash.get_text(&member.name);
                    found += usize::from(value.is_some());
                    match value {
                        Some(value) => instance(&member.value, &value.datum, path),
                        None => member.optional,
                    }
                });
                all && found == hash.len()
            }
            _ => false,
        },
        Type::Optional(inner) => {
            matches!(datum, Datum::Undef)
                || inner
                    .as_ref()
                    .is_some_and(|inner| instance(inner, datum, path))
        }
        Type::NotUndef(inner) => {
            !matches!(datum, Datum::Undef)
                && inner
                    .as_ref()
                    .is_none_or(|inner| instance(inner, datum, path))
        }
        Type::Variant(types) => types.iter().any(|kind| instance(kind, datum, path)),
        Type::Type(wanted) => match datum {
            Datum::Type(kind) => wanted.as_ref().is_none_or(|wanted| wanted.assignable(kind)),
            _ => false,
        },
        Type::Sensitive(inner) => {
            matches!(datum, Datum::Sensitive(value) if instance(inner, &value.datum, path))
        }
        Type::Iterable(element) => match element {
            None => is_iterable(datum),
            Some(element) if element.assignable(&Type::Any) => is_iterable(datum),
            Some(_) => kind.assignable(&Type::reduced(datum)),
        },
        Type::Iterator(element) => match datum {
            Datum::Iterator(iteration) => element.is_none() || kind.assignable(&iteration.kind()),
            _ => false,
        },
        Type::Runtime(..) => {
            matches!(datum, Datum::Iterator(iteration) if kind.assignable(&iteration.kind()))
        }
        Type::Timestamp(from, to) => match datum {
            Datum::Timestamp(at) => {
                from.is_none_or(|from| from <= *at) && to.is_none_or(|to| *at <= to)
            }
            _ => false,
        },
        Type::Timespan(from, to) => match datum {
            Datum::Timespan(span) => {
                from.is_none_or(|from| from <= *span) && to.is_none_or(|to| *span <= to)
            }
            _ => false,
        },
        Type::SemVer(ranges) => match datum {
            Datum::SemVer(version) => {
                ranges.is_empty() || ranges.iter().any(|range| range.includes(version))
            }
            _ => false,
        },
        Type::SemVerRange => matches!(datum, Datum::SemVerRange(_)),
        Type::Binary => matches!(datum, Datum::Binary(_)),
        Type::Uri(parts) => match datum {
            Datum::Uri(uri) => parts.as_ref().is_none_or(|parts| uri.matches(parts)),
            _ => false,
        },
        Type::Init(None) => instance(&Type::RichData, datum, path),
        Type::Init(Some(init)) => of_init(&init.0, &init.1, datum, path),
        Type::Object(wanted) => match datum {
            Datum::Object(object) => wanted.as_ref().is_none_or(|wanted| *wanted == object.kind),
            _ => false,
        },
        // Values lie deeper with every turn, so these two need no path.
        Type::Data | Type::RichData => kind.body().is_some_and(|body| instance(body, datum, path)),
        Type::Alias(alias) => match path.enter(kind, datum) {
            Entered::Again => false,
            Entered::New => {
                let is = alias.body().is_some_and(|body| instance(body, datum, path));
                path.leave();
                is
            }
        },
        // No value is a lambda or a resource; references to resources are types.
        Type::Callable(_)
        | Type::CatalogEntry
        | Type::Resource(..)
        | Type::Class(_)
        | Type::TypeSet
        | Type::Reference(_) => false,
    }
}

fn is_scalar(datum: &Datum) -> bool {
    matches!(
        datum,
        Datum::Text(_)
            | Datum::Integer(_)
            | Datum::Float(_)
            | Datum::Bool(_)
            | Datum::Pattern(_)
            | Datum::Timestamp(_)
            | Datum::Timespan(_)
            | Datum::SemVer(_)
            | Datum::SemVerRange(_)
    )
}

/// Whether `new` of a type makes something of a value, followed by some arguments.
fn of_init(kind: &Type, arguments: &[Value], datum: &Datum, path: &mut Path) -> bool {
    let accepted = recipe::accepted(kind, arguments);
    if accepted.iter().any(|kind| instance(kind, datum, path)) {
        return true;
    }
    if !arguments.is_empty() || !recipe::has_optional_single(kind) {
        return false;
    }
    // It is then as good as an array of itself.
    let alone = Array::from(vec![Value::new(datum.clone(), Origin::written(0))]);
    accepted.iter().any(
        |kind| matches!(kind, Type::Tuple(types, size) if of_tuple(types, *size, &alone, path)),
    )
}

fn of_tuple(types: &[Type], size: Option<Range>, array: &Array, path: &mut Path) -> bool {
    let long_enough = match size {
        Some(size) => size.contains_size(array.len()),
        None => types.is_empty() || types.len() == array.len(),
    };
    let Some(last) = types.last() else {
        return long_enough;
    };
    let types = types.iter().chain(std::iter::repeat(last));
    long_enough
        && array
            .iter()
            .zip(types)
            .all(|(value, kind)| instance(kind, &value.datum, path))
}

/// Whether a collection has a size that is asked for.
fn fits(size: Option<Range>, length: usize) -> bool {
    size.is_none_or(|size| size.contains_size(length))
}

/// Whether a text is as long as is asked for.
pub(super) fn of_length(text: &str, size: Option<Range>) -> bool {
    size.is_none_or(|size| size.contains_size(text.chars().count()))
}

/// Whether a text is one of an `Enum`.
pub(super) fn is_listed(values: &[ecow::EcoString], case: Case, text: &str) -> bool {
    match case {
        Case::Sensitive => values.iter().any(|value| value == text),
        Case::Insensitive => values.iter().any(|value| value.eq_ignore_ascii_case(text)),
    }
}

/// Whether a text is of a `Pattern`, which without patterns is any text.
pub(super) fn matches_any(patterns: &[std::sync::Arc<Pattern>], text: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_match(text))
}

/// Whether a value can be gone through, whatever its elements are.
pub(super) fn is_iterable(datum: &Datum) -> bool {
    match datum {
        Datum::Text(_) | Datum::Array(_) | Datum::Hash(_) | Datum::Iterator(_) => true,
        Datum::Integer(number) => *number >= 0,
        Datum::Type(kind) => match kind.resolved() {
            Type::Enum(..) => true,
            Type::Integer(range) => range.min.is_some() && range.max.is_some(),
            _ => false,
        },
        _ => false,
    }
}
