//! `a[b]`: elements of arrays, hashes and texts, attributes of resources, and types with arguments.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Span;

use super::operators::Number;
use super::{Evaluator, Outcome, fail, failed, unwrapped};
use crate::syntax::{Expression, Kind};
use crate::trace::{Node, ResourceId};
use crate::types::{self, Accessed, Type};
use crate::value::{Array, Datum, Hash, Value};

/// Something has no elements, or not by such a key.
pub const ACCESS: Code = Code::new("puppet.access");
/// A type does not take such arguments.
pub const TYPE_ARGUMENTS: Code = Code::new("puppet.type-arguments");
/// A resource has no such attribute, or there is no such resource.
pub const NO_SUCH_RESOURCE: Code = Code::new("puppet.no-such-resource");

impl<'t> Evaluator<'t> {
    /// `e[k]` (DeRefArray, DeRefHash, DeRefRes of A.3.2.8).
    pub(super) fn access(
        &mut self,
        at: &'t Expression,
        of: &'t Expression,
        keys: &'t [Expression],
    ) -> Outcome {
        let container = self.nested(of)?;
        match keys {
            // Almost all have one key, which needs no list.
            [key] if !matches!(unwrapped(key).kind, Kind::Splat(_)) => {
                let key = self.nested(key)?;
                self.accessed(at, &container, std::slice::from_ref(&key))
            }
            _ => {
                let (keys, _) = self.unfolded(Vec::new(), keys)?;
                self.accessed(at, &container, &keys)
            }
        }
    }

    fn accessed(&mut self, at: &'t Expression, container: &Value, keys: &[Value]) -> Outcome {
        let datum = match &container.datum {
            Datum::Hash(hash) => return self.of_hash(at, hash, container, keys),
            Datum::Array(array) => return self.of_array(at, array, container, keys),
            Datum::Text(text) => Datum::Text(self.of_text(at, text, keys)?),
            Datum::Type(kind) => return self.of_type(at, kind, container, keys),
            other => {
                let kind = Type::of(other).generalise();
                let message = format!("{kind} has no elements");
                let mut trouble = Diagnostic::error(ACCESS, message).at(at.span);
                if let Some((span, words)) = self.undefined(container) {
                    trouble = trouble.label(span, words);
                }
                return Err(failed(trouble));
            }
        };
        let operands = std::iter::once(container).chain(keys).cloned();
        let origin = self.trace.operation(at, operands);
        Ok(Value { datum, origin })
    }

    /// Where an `undef` comes from, in words.
    fn undefined(&self, value: &Value) -> Option<(Span, String)> {
        if !value.is_undef() {
            return None;
        }
        self.absence(value.origin)
    }

    fn of_hash(
        &mut self,
        at: &'t Expression,
        hash: &Hash,
        container: &Value,
        keys: &[Value],
    ) -> Outcome {
        if let [key] = keys {
            return Ok(self.element(at, hash.get(&key.datum), container, key));
        }
        if keys.is_empty() {
            return fail(ACCESS, "a hash is asked for at least one key", at.span);
        }
        let found = keys.iter().filter_map(|key| {
            let value = hash.get(&key.datum)?;
            (!value.is_undef()).then(|| (value.clone(), key))
        });
        let found: Vec<(Value, &Value)> = found.collect();
        let found: Array = found
            .into_iter()
            .map(|(value, key)| self.element(at, Some(&value), container, key))
            .collect();
        let operands: Vec<Value> = keys.iter().cloned().chain([container.clone()]).collect();
        let origin = self.trace.operation(at, operands);
        Ok(Value::new(found, origin))
    }

    /// An element of a container, or `undef` if there is none.
    pub(crate) fn element(
        &mut self,
        at: &'t Expression,
        found: Option<&Value>,
        container: &Value,
        key: &Value,
    ) -> Value {
        let absent = || Value::new(Datum::Undef, container.origin);
        let value = found.cloned().unwrap_or_else(absent);
        let datum = value.datum.clone();
        let origin = self
            .trace
            .element(at, [value, container.clone(), key.clone()]);
        Value { datum, origin }
    }

    fn of_array(
        &mut self,
        at: &'t Expression,
        array: &Array,
        container: &Value,
        keys: &[Value],
    ) -> Outcome {
        let keys = flattened(keys);
        match keys.as_slice() {
            [key] => {
                let index = self.index(key, at.span)?;
                let position = match usize::try_from(index) {
                    Ok(position) => Some(position),
                    Err(_) => array.len().checked_sub(index.unsigned_abs() as usize),
                };
                let found = position.and_then(|position| array.get(position));
                Ok(self.element(at, found, container, key))
            }
            [from, count] => {
                let (from_index, count_index) =
                    (self.index(from, at.span)?, self.index(count, at.span)?);
                let range = slice(array.len(), from_index, count_index);
                let part = range.map_or(&[][..], |range| &array.as_slice()[range]);
                let part: Array = part.iter().cloned().collect();
                let operands = [container, from, count].map(Value::clone);
                let origin = self.trace.operation(at, operands);
                Ok(Value::new(part, origin))
            }
            _ => {
                let message = "an array is asked for an index, or for a start and a length";
                fail(ACCESS, message, at.span)
            }
        }
    }

    fn index(&mut self, key: &Value, span: Span) -> Outcome<i64> {
        match self.numeric(key, span)? {
            Number::Integer(index) => Ok(index),
            Number::Float(_) => fail(ACCESS, "an index is a whole number", span),
        }
    }

    fn of_text(&mut self, at: &'t Expression, text: &str, keys: &[Value]) -> Outcome<EcoString> {
        let keys = flattened(keys);
        let length = text.chars().count();
        let (from, count) = match keys.as_slice() {
            [from] => {
                let from = self.text_index(from, at)?;
                // Before the beginning there is nothing.
                match from < 0 && from.unsigned_abs() as usize > length {
                    true => return Ok(EcoString::new()),
                    false => (from, 1),
                }
            }
            [from, count] => (self.text_index(from, at)?, self.text_index(count, at)?),
            _ => {
                let message = "a text is asked for an index, or for a start and a length";
                return fail(ACCESS, message, at.span);
            }
        };
        let range = slice(length, from, count).unwrap_or(0..0);
        Ok(text.chars().skip(range.start).take(range.len()).collect())
    }

    fn text_index(&mut self, key: &Value, at: &'t Expression) -> Outcome<i64> {
        let number = match &key.datum {
            Datum::Text(text) => crate::number::number(text),
            other => Some(other.clone()),
        };
        match number {
            Some(Datum::Integer(index)) => Ok(index),
            _ => {
                let message = "the index of a text is a whole number";
                let mut trouble = Diagnostic::error(ACCESS, message).at(at.span);
                if let Kind::Access(of, _) = &at.kind
                    && let Kind::Name(name) = &of.kind
                    && self.is_resource_type(name)?
                {
                    let mut reference = Datum::from(Type::Resource(Some(name.clone()), None));
                    if let Datum::Text(title) = &key.datum {
                        reference = Type::Resource(Some(name.clone()), Some(title.clone())).into();
                    }
                    let reference = crate::text::text(&reference);
                    trouble = trouble.help(format!("did you mean `{reference}`?"));
                }
                Err(failed(trouble))
            }
        }
    }

    /// `File['a']` is a reference, `File['a']['mode']` the attribute of a resource (RefRes, DeRefRes), and
    /// `Integer[1, 10]` a type.
    fn of_type(
        &mut self,
        at: &'t Expression,
        kind: &Type,
        container: &Value,
        keys: &[Value],
    ) -> Outcome {
        let origin_of = |evaluator: &mut Self| {
            let operands: Vec<Value> = std::iter::once(container).chain(keys).cloned().collect();
            evaluator.trace.operation(at, operands)
        };
        match kind {
            Type::Resource(Some(type_name), Some(title)) => {
                self.attributes_of(at, type_name, title, container, keys)
            }
            Type::Class(Some(class)) => self.attributes_of(at, "class", class, container, keys),
            _ => {
                let accessed = match types::parameterise(kind, keys) {
                    Ok(accessed) => accessed,
                    Err(failure) => {
                        let real = "Error while evaluating a '[]' expression, ";
                        let message = failure.message.trim_start_matches(real);
                        return fail(TYPE_ARGUMENTS, message, at.span);
                    }
                };
                let origin = origin_of(self);
                Ok(match accessed {
                    Accessed::Undef => Value::new(Datum::Undef, origin),
                    Accessed::One(kind) => Value::new(kind, origin),
                    Accessed::Many(kinds) => {
                        let kinds = kinds.into_iter().map(|kind| Value::new(kind, origin));
                        Value::new(kinds.collect::<Array>(), origin)
                    }
                })
            }
        }
    }

    fn attributes_of(
        &mut self,
        at: &'t Expression,
        type_name: &str,
        title: &str,
        container: &Value,
        keys: &[Value],
    ) -> Outcome {
        let Some(resource) = self.find_resource(type_name, title) else {
            let reference = format!("{}[{title}]", crate::resource::capitalised(type_name));
            let message = format!("there is no resource {reference} at this point");
            let trouble = Diagnostic::error(NO_SUCH_RESOURCE, message).at(at.span);
            let help = "only what was declared before can be looked at";
            return Err(failed(trouble.help(help)));
        };
        let mut found = Vec::with_capacity(keys.len());
        for key in flattened(keys) {
            let Datum::Text(name) = &key.datum else {
                return fail(ACCESS, "the name of an attribute is text", at.span);
            };
            if !self.has_attribute(resource, name)? {
                let reference = self.resources[resource.index()].reference();
                let message = format!("{reference} has no attribute `{name}`");
                let names = self.attribute_names(resource);
                let mut trouble = Diagnostic::error(ACCESS, message).at(at.span);
                if let Some(near) = similar(name, names.iter().map(|name| name.as_str())).first() {
                    trouble = trouble.help(format!("did you mean `{near}`?"));
                }
                return Err(failed(trouble));
            }
            let (of, name) = (resource, name.clone());
            let value = self.attribute_now(of, &name);
            let value = value.or_else(|| self.default_of(of, &name));
            let said = Value::from(self.trace.add(Node::Attribute { of, name }));
            let reference = self.trace.operation(at, [container.clone(), key]);
            found.push(self.element(at, value.as_ref(), &said, &reference.into()));
        }
        match found.len() {
            1 => Ok(found.remove(0)),
            _ => self.array(found, at.span),
        }
    }

    /// What is said about an attribute so far.
    pub(crate) fn attribute_now(&mut self, id: ResourceId, name: &str) -> Option<Value> {
        let attribute = self.resources[id.index()].attribute(name)?;
        let (value, control, of) = (attribute.value.clone(), attribute.control, None);
        let origin = self.trace.add(Node::Outcome {
            value: value.origin,
            control,
            of,
        });
        Some(Value { origin, ..value })
    }
}

fn flattened(keys: &[Value]) -> Vec<Value> {
    let flat = |key: &Value| match &key.datum {
        Datum::Array(array) => flattened(array.as_slice()),
        _ => vec![key.clone()],
    };
    keys.iter().flat_map(flat).collect()
}

/// The stretch that `[from, count]` means in something of a length; negative numbers count from the end.
fn slice(length: usize, from: i64, count: i64) -> Option<std::ops::Range<usize>> {
    let length = length as i64;
    let mut from = if from < 0 {
        length.saturating_add(from)
    } else {
        from
    };
    let mut count = if count < 0 {
        length
            .saturating_sub(from)
            .saturating_add(count)
            .saturating_add(1)
    } else {
        count
    };
    if from < 0 {
        count = count.saturating_add(from);
        from = 0;
    }
    if from > length || count < 0 {
        return None;
    }
    Some(from as usize..from.saturating_add(count).min(length) as usize)
}
