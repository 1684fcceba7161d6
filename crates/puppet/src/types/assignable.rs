//! Whether every value of one type is of another.

use std::sync::{Arc, LazyLock};

use crate::value::{Datum, Value};

use super::alias::{Entered, Guard, Identity};
use super::instance::{is_listed, matches_any};
use super::{Case, Member, Range, Signature, Type, recipe};

impl Type {
    /// Whether every value of another type is of this one.
    pub fn assignable(&self, other: &Type) -> bool {
        assignable(self, other, &mut Guard::default())
    }
}

fn assignable(this: &Type, that: &Type, guard: &mut Guard) -> bool {
    if !guard.deeper() {
        return false;
    }
    let holds = match this.is_recursive() {
        false => by_that(this, that, guard),
        true => guard.remembering(|guard| {
            let entered = guard.enter_this(this);
            // All that was asked so far held, or nobody would ask again.
            let holds = guard.is_in_both() || by_that(this, that, guard);
            if let Entered::New = entered {
                guard.leave_this(this);
            }
            holds
        }),
    };
    guard.back();
    holds
}

/// Takes the other type apart where it is made of several.
fn by_that(this: &Type, that: &Type, guard: &mut Guard) -> bool {
    match this {
        Type::Unit => return true,
        Type::Variant(options) => match that {
            // Without options there is nothing, not even `undef`; yet it stands for any variant.
            Type::Undef if options.is_empty() => return false,
            Type::Variant(_) if options.is_empty() => return true,
            _ => {}
        },
        _ => {}
    }
    match that {
        Type::Unit => true,
        Type::Data | Type::RichData | Type::Alias(_) => {
            let Some(body) = that.body() else {
                return by_this(this, that, guard);
            };
            if !that.is_recursive() {
                return assignable(this, body, guard);
            }
            guard.remembering(|guard| {
                guard.enter_that(that);
                guard.is_in_both() || assignable(this, body, guard)
            })
        }
        Type::Variant(types) => match this {
            Type::Any => true,
            Type::NotUndef(_) if types.is_empty() => by_this(this, that, guard),
            _ => !types.is_empty() && types.iter().all(|kind| assignable(this, kind, guard)),
        },
        Type::Optional(inner) => {
            // As in the real compiler, this is asked as if anew.
            guard.forgetting(|guard| {
                assignable(this, &Type::Undef, guard)
                    && inner
                        .as_ref()
                        .is_none_or(|inner| assignable(this, inner, guard))
            })
        }
        Type::NotUndef(Some(inner))
            if !guard.forgetting(|guard| assignable(inner, &Type::Undef, guard)) =>
        {
            assignable(this, inner, guard)
        }
        _ => by_this(this, that, guard),
    }
}

/// The rules of each type, for another that is not made of several.
fn by_this(this: &Type, that: &Type, guard: &mut Guard) -> bool {
    match this {
        Type::Any | Type::Unit => true,
        Type::Undef => matches!(that, Type::Undef),
        Type::Default => matches!(that, Type::Default),
        Type::Scalar => is_scalar(that),
        Type::ScalarData => is_scalar_data(that),
        Type::Numeric => matches!(that, Type::Numeric | Type::Integer(_) | Type::Float(_)),
        Type::Integer(range) => matches!(that, Type::Integer(other) if range.covers(other)),
        Type::Float(range) => matches!(that, Type::Float(other) if range.covers(other)),
        Type::Boolean(wanted) => {
            matches!(that, Type::Boolean(other) if wanted.is_none() || wanted == other)
        }
        Type::String(None) => matches!(
            that,
            Type::String(_) | Type::Exactly(_) | Type::Enum(..) | Type::Pattern(_)
        ),
        Type::String(Some(size)) => match that {
            Type::String(other) => size.covers(&other.unwrap_or(Range::ANY_SIZE)),
            Type::Exactly(text) => size.contains_size(text.chars().count()),
            Type::Enum(values, _) if !values.is_empty() => values
                .iter()
                .all(|value| size.contains_size(value.chars().count())),
            Type::Enum(..) | Type::Pattern(_) => size.covers(&Range::ANY_SIZE),
            _ => false,
        },
        Type::Exactly(text) => match that {
            Type::Exactly(other) => text == other,
            // The real compiler looks at how many there are, not at which.
            Type::Enum(values, Case::Sensitive) => values.len() == 1,
            _ => false,
        },
        Type::Enum(values, case) => match that {
            Type::String(_) | Type::Exactly(_) | Type::Enum(..) | Type::Pattern(_)
                if values.is_empty() =>
            {
                true
            }
            Type::Exactly(text) => is_listed(values, *case, text),
            Type::Enum(others, other_case) => {
                !others.is_empty()
                    && (*case == Case::Insensitive || *other_case == Case::Sensitive)
                    && others.iter().all(|other| is_listed(values, *case, other))
            }
            _ => false,
        },
        Type::Pattern(patterns) => match that {
            Type::Pattern(_) => patterns.is_empty() || this == that,
            Type::String(_) => patterns.is_empty(),
            Type::Exactly(text) => matches_any(patterns, text),
            Type::Enum(values, _) if values.is_empty() => patterns.is_empty(),
            Type::Enum(values, _) => values.iter().all(|value| matches_any(patterns, value)),
            _ => false,
        },
        Type::Regexp(wanted) => {
            matches!(that, Type::Regexp(other) if wanted.is_none() || wanted == other)
        }
        Type::Collection(size) => {
            let size = size.unwrap_or(Range::ANY_SIZE);
            collection_size(that).is_some_and(|other| size.covers(&other))
        }
        Type::Array(element, size) => {
            let size = size.unwrap_or(Range::ANY_SIZE);
            match that {
                Type::Array(other, other_size) => {
                    size.covers(&other_size.unwrap_or(Range::ANY_SIZE))
                        && assignable(element, other, guard)
                }
                Type::Tuple(types, other_size) => {
                    size.covers(&other_size.unwrap_or(Range::size(types.len())))
                        && types.iter().all(|kind| assignable(element, kind, guard))
                }
                _ => false,
            }
        }
        Type::Hash(key, value, size) => match that {
            Type::Hash(other_key, other_value, other_size) => {
                let reaches_empty = size.is_none_or(|size| size.min == Some(0));
                if reaches_empty && is_empty_hash(that) {
                    return true;
                }
                let size = size.unwrap_or(Range::ANY_SIZE);
                assignable(key, other_key, guard)
                    && assignable(value, other_value, guard)
                    && size.covers(&other_size.unwrap_or(Range::ANY_SIZE))
            }
            Type::Struct(members) => {
                size.unwrap_or(Range::ANY_SIZE).contains_size(members.len())
                    && members.iter().all(|member| {
                        key.instance(&Datum::Text(member.name.clone()))
                            && assignable(value, &member.value, guard)
                    })
            }
            _ => false,
        },
        Type::Tuple(types, size) => tuple_assignable(types, *size, this == that, that, guard),
        Type::Struct(members) => struct_assignable(members, that, guard),
        Type::Optional(inner) => {
            matches!(that, Type::Undef)
                || inner
                    .as_ref()
                    .is_none_or(|inner| assignable(inner, that, guard))
        }
        Type::NotUndef(inner) => {
            !assignable(that, &Type::Undef, guard)
                && inner
                    .as_ref()
                    .is_none_or(|inner| assignable(inner, that, guard))
        }
        Type::Variant(options) => options.iter().any(|option| assignable(option, that, guard)),
        Type::Type(wanted) => match (wanted, that) {
            (None, Type::Type(_)) => true,
            (Some(wanted), Type::Type(Some(other))) => assignable(wanted, other, guard),
            _ => false,
        },
        Type::Sensitive(inner) => {
            matches!(that, Type::Sensitive(other) if assignable(inner, other, guard))
        }
        Type::Callable(wanted) => match (wanted, that) {
            (None, Type::Callable(_)) => true,
            (Some(wanted), Type::Callable(Some(other))) => {
                signature_assignable(wanted, other, guard)
            }
            // Something that says nothing cannot be called as is asked.
            _ => false,
        },
        Type::Iterable(element) => match element {
            Some(element) if !assignable(element, &Type::Any, guard) => {
                iterated(that, &mut Vec::new())
                    .is_some_and(|other| assignable(element, &other, guard))
            }
            _ => is_iterable(that, &mut Vec::new()),
        },
        Type::Iterator(element) => match (element, that) {
            (None, Type::Iterator(_)) => true,
            (Some(element), Type::Iterator(Some(other))) => assignable(element, other, guard),
            _ => false,
        },
        Type::CatalogEntry => {
            matches!(
                that,
                Type::CatalogEntry | Type::Resource(..) | Type::Class(_)
            )
        }
        Type::Resource(name, title) => match that {
            Type::Resource(other, other_title) => {
                name.is_none() || name == other && (title.is_none() || title == other_title)
            }
            _ => false,
        },
        Type::Class(name) => matches!(that, Type::Class(other) if name.is_none() || name == other),
        Type::Timestamp(from, to) => match that {
            Type::Timestamp(other_from, other_to) => {
                from.is_none_or(|from| other_from.is_some_and(|other| from <= other))
                    && to.is_none_or(|to| other_to.is_some_and(|other| other <= to))
            }
            _ => false,
        },
        Type::Timespan(from, to) => match that {
            Type::Timespan(other_from, other_to) => {
                from.is_none_or(|from| other_from.is_some_and(|other| from <= other))
                    && to.is_none_or(|to| other_to.is_some_and(|other| other <= to))
            }
            _ => false,
        },
        Type::SemVer(ranges) => match that {
            Type::SemVer(others) => {
                let covered = |other| ranges.iter().any(|range| range.covers(other));
                ranges.is_empty() || !others.is_empty() && others.iter().all(covered)
            }
            _ => false,
        },
        Type::SemVerRange => matches!(that, Type::SemVerRange),
        Type::Binary => matches!(that, Type::Binary),
        Type::Uri(parts) => match that {
            Type::Uri(others) => parts
                .as_ref()
                .is_none_or(|parts| super::uri::parts_cover(parts, others.as_deref())),
            _ => false,
        },
        Type::Runtime(runtime, name) => match that {
            Type::Runtime(other, other_name) => {
                (runtime.is_none() || runtime == other) && (name.is_none() || name == other_name)
            }
            _ => false,
        },
        Type::Init(None) => match that {
            Type::Init(_) => true,
            _ => assignable(&Type::RichData, that, guard),
        },
        Type::Init(Some(init)) => match that {
            Type::Init(Some(other)) => assignable(&init.0, &other.0, guard),
            Type::Init(None) => false,
            _ => init_assignable(&init.0, &init.1, that, guard),
        },
        Type::Object(name) => {
            matches!(that, Type::Object(other) if name.is_none() || name == other)
        }
        Type::TypeSet => matches!(that, Type::TypeSet),
        Type::Reference(_) => this == that,
        Type::Data | Type::RichData | Type::Alias(_) => this
            .body()
            .is_some_and(|body| assignable(body, that, guard)),
    }
}

/// Whether `new` of a type makes something of the values of another, followed by some arguments.
fn init_assignable(kind: &Type, arguments: &[Value], that: &Type, guard: &mut Guard) -> bool {
    let accepted = recipe::accepted(kind, arguments);
    if accepted.iter().any(|kind| assignable(kind, that, guard)) {
        return true;
    }
    if !arguments.is_empty() || !recipe::has_optional_single(kind) {
        return false;
    }
    // It is then as good as an array of itself.
    let alone = Type::tuple([that.clone()], None);
    accepted
        .iter()
        .any(|kind| matches!(kind, Type::Tuple(..)) && assignable(kind, &alone, guard))
}

fn is_scalar_data(kind: &Type) -> bool {
    matches!(
        kind,
        Type::ScalarData
            | Type::Numeric
            | Type::Integer(_)
            | Type::Float(_)
            | Type::Boolean(_)
            | Type::String(_)
            | Type::Exactly(_)
            | Type::Enum(..)
            | Type::Pattern(_)
    )
}

fn is_scalar(kind: &Type) -> bool {
    is_scalar_data(kind)
        || matches!(
            kind,
            Type::Scalar
                | Type::Regexp(_)
                | Type::SemVer(_)
                | Type::SemVerRange
                | Type::Timestamp(..)
                | Type::Timespan(..)
        )
}

/// How many elements the values of a type have, if they are collections.
fn collection_size(kind: &Type) -> Option<Range> {
    match kind {
        Type::Collection(size) | Type::Array(_, size) | Type::Hash(_, _, size) => {
            Some(size.unwrap_or(Range::ANY_SIZE))
        }
        Type::Tuple(types, size) => Some(size.unwrap_or(Range::size(types.len()))),
        Type::Struct(members) => Some(Range::size(members.len())),
        _ => None,
    }
}

/// How many elements a tuple has.
pub(super) fn tuple_size(types: &[Type], size: Option<Range>) -> Range {
    match size {
        Some(size) => size,
        None if types.is_empty() => Range::ANY_SIZE,
        None => Range::size(types.len()),
    }
}

fn is_empty_hash(kind: &Type) -> bool {
    let Type::Hash(key, value, size) = kind else {
        return false;
    };
    matches!((&**key, &**value), (Type::Unit, Type::Unit)) && *size == Some(Range::exactly(0))
}

/// The rules of a tuple, also for the parameters of a callable.
fn tuple_assignable(
    types: &[Type],
    size: Option<Range>,
    same: bool,
    that: &Type,
    guard: &mut Guard,
) -> bool {
    let at = |index: usize| types.get(index).or(types.last());
    let size = tuple_size(types, size);
    match that {
        _ if same => true,
        Type::Tuple(others, other_size) => {
            if !size.covers(&tuple_size(others, *other_size)) {
                return false;
            }
            if others.is_empty() && !types.is_empty() {
                return size.min == Some(0);
            }
            others
                .iter()
                .enumerate()
                .all(|(index, other)| at(index).is_none_or(|kind| assignable(kind, other, guard)))
        }
        Type::Array(other, other_size) => {
            let other_size = other_size.unwrap_or(Range::ANY_SIZE);
            if !size.covers(&other_size) {
                return false;
            }
            let positions = other_size
                .max
                .and_then(|max| usize::try_from(max).ok())
                .map_or(types.len(), |max| max.min(types.len()));
            types[..positions]
                .iter()
                .all(|kind| assignable(kind, other, guard))
        }
        _ => false,
    }
}

fn struct_assignable(members: &[Member], that: &Type, guard: &mut Guard) -> bool {
    match that {
        Type::Struct(others) => {
            let mut found = 0;
            let all = members.iter().all(|member| {
                let Some(other) = others.iter().rfind(|other| other.name == member.name) else {
                    return member.optional;
                };
                found += 1;
                // What may be missing there must be allowed to be missing here.
                (member.optional || !other.optional)
                    && assignable(&member.value, &other.value, guard)
            });
            all && found == others.len()
        }
        Type::Hash(key, value, size) => {
            let required = members.iter().filter(|member| !member.optional);
            let count = required.clone().count();
            let all = required.into_iter().all(|member| {
                assignable(&member.value, value, guard)
                    && guard.forgetting(|guard| assignable(&Type::STRING, key, guard))
            });
            let size = size.unwrap_or(Range::ANY_SIZE);
            let (least, most) = (Range::size(count).min, Range::size(members.len()).max);
            let wanted = Range {
                min: least,
                max: most,
            };
            all && wanted.covers(&size)
        }
        _ => false,
    }
}

/// Whether something of another signature can be called where this one is asked for. What is passed must be
/// accepted there, so parameters are compared the other way round.
fn signature_assignable(wanted: &Signature, other: &Signature, guard: &mut Guard) -> bool {
    let returned = other.returns.as_ref().unwrap_or(&Type::Any);
    let returns = wanted
        .returns
        .as_ref()
        .is_none_or(|wanted| assignable(wanted, returned, guard));
    let parameters = Type::Tuple(wanted.parameters.clone(), wanted.size);
    let same = wanted.parameters == other.parameters && wanted.size == other.size;
    let block = |signature: &Signature| signature.block.clone().unwrap_or(Type::Undef);
    returns
        && tuple_assignable(&other.parameters, other.size, same, &parameters, guard)
        && assignable(&block(other), &block(wanted), guard)
}

/// Whether the values of a type can be gone through.
fn is_iterable(kind: &Type, seen: &mut Vec<Identity>) -> bool {
    match kind {
        Type::Integer(_)
        | Type::String(_)
        | Type::Exactly(_)
        | Type::Enum(..)
        | Type::Collection(_)
        | Type::Array(..)
        | Type::Hash(..)
        | Type::Tuple(..)
        | Type::Struct(_)
        | Type::Iterable(_)
        | Type::Iterator(_) => true,
        Type::Type(Some(inner)) => match &**inner {
            Type::Enum(..) => true,
            Type::Integer(range) => range.min.is_some() && range.max.is_some(),
            _ => false,
        },
        Type::Data | Type::RichData | Type::Alias(_) => {
            if seen.contains(&kind.identity()) {
                return false;
            }
            seen.push(kind.identity());
            kind.body().is_some_and(|body| is_iterable(body, seen))
        }
        _ => false,
    }
}

/// What comes of going through the values of a type; nothing if that is not known.
fn iterated(kind: &Type, seen: &mut Vec<Identity>) -> Option<Arc<Type>> {
    static CHARACTER: LazyLock<Arc<Type>> =
        LazyLock::new(|| Arc::new(Type::String(Some(Range::exactly(1)))));
    static NUMBER: LazyLock<Arc<Type>> = LazyLock::new(|| Arc::new(Type::INTEGER));
    let pair = |key: Type, value: Type| {
        let types = [key, value];
        Some(Arc::new(Type::tuple(types, Some(Range::exactly(2)))))
    };
    match kind {
        Type::Integer(_) => Some(NUMBER.clone()),
        Type::String(_) | Type::Exactly(_) | Type::Enum(..) => Some(CHARACTER.clone()),
        Type::Array(element, _) => match &**element {
            Type::Any => None,
            _ => Some(element.clone()),
        },
        Type::Hash(key, value, size) => match (&**key, &**value, size) {
            (Type::Any, Type::Any, None) => pair(Type::Unit, Type::Unit),
            (key, value, _) => pair(key.clone(), value.clone()),
        },
        Type::Tuple(types, _) => Some(Arc::new(Type::variant(types.iter().cloned()))),
        Type::Struct(members) if members.is_empty() => pair(Type::Unit, Type::Unit),
        Type::Struct(members) => pair(
            Type::variant(members.iter().map(Member::key)),
            Type::variant(members.iter().map(|member| member.value.clone())),
        ),
        Type::Iterable(element) | Type::Iterator(element) => element.clone(),
        Type::Type(Some(inner)) => match &**inner {
            Type::Enum(..) => Some(inner.clone()),
            Type::Integer(range) if range.min.is_some() && range.max.is_some() => {
                Some(inner.clone())
            }
            _ => None,
        },
        Type::Data | Type::RichData | Type::Alias(_) => {
            if seen.contains(&kind.identity()) {
                return None;
            }
            seen.push(kind.identity());
            kind.body().and_then(|body| iterated(body, seen))
        }
        _ => None,
    }
}

impl Member {
    /// The type of the key.
    pub(super) fn key(&self) -> Type {
        let name = Type::Exactly(self.name.clone());
        match self.optional {
            true => Type::optional(name),
            false => name,
        }
    }
}
