//! The type of a value, its general form, and what two types have in common.

use std::sync::Arc;

use crate::value::Datum;

use super::version::VersionRange;
use super::{Case, FloatRange, Member, Range, Signature, Type};

impl Type {
    /// The type of a value in every detail: a type for each element of an array and each entry of a hash.
    pub fn of(datum: &Datum) -> Type {
        match datum {
            Datum::Array(array) if array.is_empty() => empty_array(),
            Datum::Array(array) => {
                Type::tuple(array.iter().map(|value| Type::of(&value.datum)), None)
            }
            Datum::Hash(hash) if hash.is_empty() => empty_hash(),
            Datum::Hash(hash) => {
                let members: Option<Vec<Member>> = hash
                    .iter()
                    .map(|(key, entry)| match key {
                        Datum::Text(name) if !name.is_empty() => Some(Member {
                            name: name.clone(),
                            optional: false,
                            value: Type::of(&entry.value.datum),
                        }),
                        _ => None,
                    })
                    .collect();
                match members {
                    Some(members) => Type::Struct(members.into()),
                    None => Type::hash(
                        Type::variant(hash.iter().map(|(key, _)| Type::of(key))),
                        Type::variant(hash.iter().map(|(_, entry)| Type::of(&entry.value.datum))),
                        Some(Range::size(hash.len())),
                    ),
                }
            }
            Datum::SemVer(version) => Type::SemVer([VersionRange::only(version)].into()),
            other => Type::reduced(other),
        }
    }

    /// The type of a value, with one type for all elements of an array and all keys and values of a hash.
    pub fn reduced(datum: &Datum) -> Type {
        match datum {
            Datum::Undef => Type::Undef,
            Datum::Default => Type::Default,
            Datum::Bool(bool) => Type::Boolean(Some(*bool)),
            Datum::Integer(number) => Type::Integer(Range::exactly(*number)),
            Datum::Float(number) => Type::Float(FloatRange {
                min: *number,
                max: *number,
            }),
            Datum::Text(text) => Type::Exactly(text.clone()),
            Datum::Pattern(pattern) => Type::Regexp(Some(pattern.clone())),
            Datum::Array(array) if array.is_empty() => empty_array(),
            Datum::Array(array) => Type::array(
                common_of(array.iter().map(|value| Type::reduced(&value.datum))),
                Some(Range::size(array.len())),
            ),
            Datum::Hash(hash) if hash.is_empty() => empty_hash(),
            Datum::Hash(hash) => Type::hash(
                common_of(hash.iter().map(|(key, _)| Type::reduced(key))),
                common_of(
                    hash.iter()
                        .map(|(_, entry)| Type::reduced(&entry.value.datum)),
                ),
                Some(Range::size(hash.len())),
            ),
            Datum::Type(kind) => Type::Type(Some(kind.clone())),
            Datum::Sensitive(value) => Type::sensitive(&Type::reduced(&value.datum)),
            Datum::Timestamp(at) => Type::Timestamp(Some(*at), Some(*at)),
            Datum::Timespan(span) => Type::Timespan(Some(*span), Some(*span)),
            Datum::SemVer(_) => Type::SemVer([].into()),
            Datum::SemVerRange(_) => Type::SemVerRange,
            Datum::Binary(_) => Type::Binary,
            Datum::Uri(uri) => Type::Uri(uri.parts().map(Arc::new)),
            Datum::Object(object) => Type::Object(Some(object.kind.clone())),
            Datum::Iterator(iteration) => iteration.kind(),
        }
    }

    /// The type without what is particular to single values: bounds, sizes and literals.
    pub fn generalise(&self) -> Type {
        let within =
            |inner: &Option<Arc<Type>>| inner.as_ref().map(|inner| Arc::new(inner.generalise()));
        match self {
            Type::Integer(_) => Type::INTEGER,
            Type::Float(_) => Type::FLOAT,
            Type::Boolean(_) => Type::BOOLEAN,
            Type::String(_) | Type::Exactly(_) => Type::STRING,
            Type::Enum(values, _) => {
                let lengths = values
                    .iter()
                    .map(|value| Range::size(value.chars().count()));
                Type::String(lengths.reduce(|one, another| one.hull(&another)))
            }
            Type::Collection(_) => Type::Collection(None),
            Type::Array(element, _) => Type::array(element.generalise(), None),
            Type::Hash(key, value, _) if matches!((&**key, &**value), (Type::Unit, Type::Unit)) => {
                self.clone()
            }
            Type::Hash(key, value, _) => Type::hash(key.generalise(), value.generalise(), None),
            Type::Tuple(types, size) => Type::tuple(types.iter().map(Type::generalise), *size),
            Type::Struct(members) => Type::Struct(
                members
                    .iter()
                    .map(|member| Member {
                        value: member.value.generalise(),
                        ..member.clone()
                    })
                    .collect(),
            ),
            Type::Optional(inner) => Type::Optional(within(inner)),
            Type::NotUndef(inner) => Type::NotUndef(within(inner)),
            Type::Type(inner) => Type::Type(within(inner)),
            Type::Iterable(inner) => Type::Iterable(within(inner)),
            Type::Iterator(inner) => Type::Iterator(within(inner)),
            Type::Sensitive(inner) => Type::sensitive(inner),
            Type::Variant(types) => {
                let general: Vec<Type> = types.iter().map(Type::generalise).collect();
                match general == **types {
                    true => self.clone(),
                    false => Type::variant(general),
                }
            }
            Type::Callable(Some(signature)) => Type::Callable(Some(Arc::new(Signature {
                parameters: signature.parameters.iter().map(Type::generalise).collect(),
                size: signature.size,
                block: signature.block.as_ref().map(Type::generalise),
                returns: signature.returns.as_ref().map(Type::generalise),
            }))),
            Type::Timestamp(..) => Type::Timestamp(None, None),
            Type::Timespan(..) => Type::Timespan(None, None),
            Type::Uri(_) => Type::Uri(None),
            other => other.clone(),
        }
    }

    /// The narrowest type that two types are both of, as far as the language bothers to look.
    pub fn common(&self, other: &Type) -> Type {
        // Nothing is taken as part of anything.
        match (self, other) {
            (Type::Undef | Type::Unit, _) => return other.clone(),
            (_, Type::Undef | Type::Unit) => return self.clone(),
            _ => {}
        }
        if self.assignable(other) {
            return self.clone();
        }
        if other.assignable(self) {
            return other.clone();
        }
        let both = |kind: &Type| kind.assignable(self) && kind.assignable(other);
        match (self, other) {
            (Type::Array(one, _), Type::Array(another, _)) => {
                return Type::array(one.common(another), None);
            }
            (Type::Hash(key, value, _), Type::Hash(other_key, other_value, _)) => {
                return Type::hash(key.common(other_key), value.common(other_value), None);
            }
            (Type::Class(_), Type::Class(_)) => return Type::Class(None),
            (Type::Resource(one, _), Type::Resource(another, _)) => {
                let name = one.clone().filter(|_| one == another);
                return Type::Resource(name, None);
            }
            (Type::Integer(one), Type::Integer(another)) => {
                return Type::Integer(one.hull(another));
            }
            (Type::Float(one), Type::Float(another)) => {
                return Type::Float(FloatRange {
                    min: one.min.min(another.min),
                    max: one.max.max(another.max),
                });
            }
            (Type::Exactly(one), Type::Exactly(another)) => {
                return Type::enumeration([one.clone(), another.clone()], Case::Sensitive);
            }
            (Type::String(Some(one)), Type::String(Some(another))) => {
                return Type::String(Some(one.hull(another)));
            }
            (Type::String(_) | Type::Exactly(_), Type::String(_) | Type::Exactly(_)) => {
                return Type::STRING;
            }
            (Type::Exactly(text), Type::Enum(values, _)) => {
                let values = values.iter().chain([text]).cloned();
                return Type::enumeration(values, Case::Sensitive);
            }
            (Type::Enum(values, _), Type::Exactly(text)) => {
                let values = values.iter().chain([text]).cloned();
                return Type::enumeration(values, Case::Sensitive);
            }
            (Type::String(_), Type::Enum(..)) | (Type::Enum(..), Type::String(_)) => {
                return Type::Enum([].into(), Case::Sensitive);
            }
            (Type::Enum(one, _), Type::Enum(another, _)) => {
                let values = one.iter().chain(another.iter()).cloned();
                return Type::enumeration(values, Case::Sensitive);
            }
            (Type::Pattern(one), Type::Pattern(another)) => {
                let mut patterns = one.to_vec();
                let new = another.iter().filter(|pattern| !one.contains(pattern));
                patterns.extend(new.cloned());
                return Type::Pattern(patterns.into());
            }
            (Type::Variant(one), Type::Variant(another)) => {
                return Type::variant(one.iter().chain(another.iter()).cloned());
            }
            (Type::Regexp(_), Type::Regexp(_)) => return Type::Regexp(None),
            (Type::Callable(_), Type::Callable(_)) => return Type::Callable(None),
            _ => {}
        }
        let general = [Type::Numeric, Type::ScalarData, Type::Scalar, Type::Data];
        if let Some(kind) = general.into_iter().find(both) {
            return kind;
        }
        if let (Type::Type(one), Type::Type(another)) = (self, other) {
            return match (one, another) {
                (Some(one), Some(another)) => Type::of_type(one.common(another)),
                _ => Type::Type(None),
            };
        }
        match both(&Type::RichData) {
            true => Type::RichData,
            false => Type::Any,
        }
    }
}

/// What several types have in common.
fn common_of(types: impl IntoIterator<Item = Type>) -> Type {
    let common = types
        .into_iter()
        .reduce(|one, another| one.common(&another));
    common.unwrap_or(Type::Undef)
}

fn empty_array() -> Type {
    Type::array(Type::Unit, Some(Range::exactly(0)))
}

fn empty_hash() -> Type {
    Type::hash(Type::Unit, Type::Unit, Some(Range::exactly(0)))
}
