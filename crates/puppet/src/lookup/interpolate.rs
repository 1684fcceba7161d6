//! `%{…}` in data and in paths: variables, other keys, and text that is taken as it is.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use super::Query;
use super::key::{Key, NoWay};
use crate::evaluate::{Evaluator, Outcome, failed};
use crate::functions::ruby;
use crate::trace::{Making, Node, Origin};
use crate::value::{Array, Datum, Hash, Value};

/// `%{…}` that cannot be replaced.
pub const INTERPOLATION: Code = Code::new("puppet.interpolation");

/// Where `%{…}` stands, which decides what may be in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'v> {
    /// In a value.
    Value,
    /// In a path of a hierarchy.
    Path,
    /// In a path in which a name stands for one element of a variable.
    Mapped(&'v str, &'v Value),
}

/// What stands in `%{…}`.
enum Expression<'e> {
    Nothing,
    /// `%{a.b}`, `%{scope('a.b')}`
    Variable(&'e str),
    /// `%{lookup('key')}`, `%{hiera('key')}`
    Lookup(&'e str),
    /// `%{alias('key')}`
    Alias(&'e str),
    /// `%{literal('%')}`
    Literal(&'e str),
    Unknown(&'e str),
}

impl<'t> Evaluator<'t> {
    /// A value in which all `%{…}` is replaced.
    pub(super) fn interpolate(
        &mut self,
        query: &mut Query<'_>,
        value: &Value,
        place: Place<'_>,
    ) -> Outcome {
        match &value.datum {
            Datum::Text(text) if text.contains("%{") => {
                let text = text.clone();
                self.interpolate_text(query, &text, value.origin, place)
            }
            Datum::Array(array) => {
                let elements: Outcome<Vec<Value>> = array
                    .iter()
                    .map(|value| self.interpolate(query, value, place))
                    .collect();
                Ok(Value::new(Array::from(elements?), value.origin))
            }
            Datum::Hash(hash) => {
                let mut entries = Hash::from_iter([]);
                for (key, entry) in hash.iter() {
                    let key = Value::new(key.clone(), entry.key);
                    let key = self.interpolate(query, &key, place)?;
                    let value = self.interpolate(query, &entry.value, place)?;
                    entries = entries.with(key, value);
                }
                Ok(Value::new(entries, value.origin))
            }
            _ => Ok(value.clone()),
        }
    }

    /// A text in which all `%{…}` is replaced.
    pub(super) fn interpolate_text(
        &mut self,
        query: &mut Query<'_>,
        whole: &str,
        origin: Origin,
        place: Place<'_>,
    ) -> Outcome {
        let mut result = EcoString::new();
        let mut operands = vec![Value::new(whole, origin)];
        let mut rest = whole;
        while let Some((before, behind)) = rest.split_once("%{") {
            let Some((inner, after)) = behind.split_once('}') else {
                break;
            };
            result.push_str(before);
            let expression = Expression::read(inner.trim());
            let wrong = |message: String| {
                let trouble = Diagnostic::error(INTERPOLATION, message);
                Err(failed(query.blame(trouble, origin)))
            };
            if !matches!(place, Place::Value) && !expression.is_plain(inner.trim()) {
                let message = format!("`%{{{inner}}}` calls a function, which a path cannot do");
                return wrong(message);
            }
            let value = match expression {
                Expression::Nothing => None,
                Expression::Unknown(name) => {
                    let message =
                        format!("`{name}` is none of lookup, hiera, alias, scope and literal");
                    return wrong(message);
                }
                Expression::Literal(text) => Some((text.into(), Value::new(text, origin))),
                Expression::Variable(name) => {
                    let value = self.variable_in_data(query, name, origin, place)?;
                    value.map(|value| (format!("scope:{name}"), value))
                }
                Expression::Lookup(key) => {
                    Some((key.into(), self.lookup_in_data(query, key, origin)?))
                }
                Expression::Alias(key) => {
                    if !(before.is_empty() && after.is_empty() && result.is_empty()) {
                        let message = "`%{alias('…')}` must be all of the text".to_owned();
                        return wrong(message);
                    }
                    let value = self.lookup_in_data(query, key, origin)?;
                    let origin = self.trace.found(value.origin, origin, []);
                    return Ok(Value { origin, ..value });
                }
            };
            if let Some((name, value)) = value {
                // What was found may need replacing itself.
                let value = self.while_asking(query, &name, |evaluator, query| {
                    evaluator.interpolate(query, &value, place)
                })?;
                operands.push(value.clone());
                if !value.is_undef() {
                    result.push_str(&ruby::text(&value.datum));
                }
            }
            rest = after;
        }
        result.push_str(rest);
        let origin = self.trace.made(Making::Interpolation, operands);
        Ok(Value::new(result, origin))
    }

    fn lookup_in_data(&mut self, query: &mut Query<'_>, key: &str, origin: Origin) -> Outcome {
        if let Some(value) = query.overrides.get_text(key) {
            return Ok(value.clone());
        }
        let mut inner = query.inner(origin);
        let found = self.look_up(&mut inner, key, None)?;
        let decided = inner.decided;
        let value = found
            .or_else(|| query.defaults.get_text(key).cloned())
            .unwrap_or_else(|| Value::new("", origin));
        let origin = self.trace.found(value.origin, origin, decided);
        Ok(Value { origin, ..value })
    }

    /// What a variable is, or a part of it, seen from where data are asked for.
    pub(super) fn variable_in_data(
        &mut self,
        query: &mut Query<'_>,
        name: &str,
        origin: Origin,
        place: Place<'_>,
    ) -> Outcome<Option<Value>> {
        let Some(key) = Key::read(name) else {
            let message = format!("`{name}` is no variable, nor a part of one");
            let trouble = Diagnostic::error(INTERPOLATION, message);
            return Err(failed(query.blame(trouble, origin)));
        };
        let Some(value) = self.variable_seen(query, &key.root, origin, place)? else {
            return Ok(None);
        };
        match key.dig(&value) {
            Ok(found) => {
                let found = found.clone();
                let origin = match key.segments.is_empty() {
                    true => found.origin,
                    false => self.trace.found(found.origin, value.origin, []),
                };
                Ok(Some(Value { origin, ..found }))
            }
            Err(NoWay::Absent) => Ok(None),
            Err(NoWay::Unfit(segment)) => {
                let message = format!("`{name}`: there is no `{segment}` in a single value");
                let trouble = Diagnostic::error(INTERPOLATION, message);
                Err(failed(query.blame(trouble, origin)))
            }
        }
    }

    fn variable_seen(
        &mut self,
        query: &mut Query<'_>,
        name: &str,
        origin: Origin,
        place: Place<'_>,
    ) -> Outcome<Option<Value>> {
        if let Some(value) = query.overrides.get_text(name) {
            return Ok(Some(value.clone()));
        }
        if let Place::Mapped(mapped, value) = place
            && mapped == name
        {
            return Ok(Some(value.clone()));
        }
        let definition = match name.contains("::") {
            true => self.qualified(name),
            false => self.visible(name, query.span)?,
        };
        query.used.push((name.into(), definition));
        let Some(definition) = definition else {
            if let Some(value) = query.defaults.get_text(name) {
                return Ok(Some(value.clone()));
            }
            if self.options.strict {
                let message = format!("nothing defines `${name}`");
                let trouble = Diagnostic::error(INTERPOLATION, message);
                return Err(failed(query.blame(trouble, origin)));
            }
            return Ok(None);
        };
        let definition = self.trace.definition(definition);
        let (value, control) = (definition.value.clone(), definition.control);
        let origin = self.trace.add(Node::Outcome {
            value: value.origin,
            control,
            of: None,
        });
        Ok(Some(Value { origin, ..value }))
    }
}

impl<'e> Expression<'e> {
    fn read(text: &'e str) -> Self {
        if matches!(text, "" | "::" | "\"\"" | "''" | "\"::\"" | "'::'") {
            return Expression::Nothing;
        }
        match call(text) {
            None => Expression::Variable(text),
            Some(("lookup" | "hiera", key)) => Expression::Lookup(key),
            Some(("alias", key)) => Expression::Alias(key),
            Some(("scope", name)) => Expression::Variable(name),
            Some(("literal", text)) => Expression::Literal(text),
            Some((name, _)) => Expression::Unknown(name),
        }
    }

    /// Whether it is written without a function.
    fn is_plain(&self, text: &str) -> bool {
        match self {
            Expression::Nothing => true,
            Expression::Variable(name) => *name == text,
            _ => false,
        }
    }
}

/// `name('argument')`
fn call(text: &str) -> Option<(&str, &str)> {
    let (name, behind) = text.split_once('(')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let quoted = behind.strip_suffix(')')?;
    let quote = quoted
        .chars()
        .next()
        .filter(|first| "'\"".contains(*first))?;
    let inner = quoted[1..].strip_suffix(quote)?;
    (!inner.is_empty() && !inner.contains(quote)).then_some((name, inner))
}

impl Query<'_> {
    /// A mistake in data: where it is, and who asked.
    pub(super) fn blame(&self, trouble: Diagnostic, origin: Origin) -> Diagnostic {
        let trouble = match origin.offset() {
            Some(at) => trouble.at(Span::at(at)),
            None => trouble,
        };
        match trouble.labels.is_empty() {
            true => trouble.at(self.span),
            false => trouble.label(self.span, "asked for here"),
        }
    }
}
