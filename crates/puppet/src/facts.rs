//! The facts of a node, from JSON to values that know their places.

use hence_model::diagnostic::Diagnostic;
use hence_model::facts::{self, Fact};
use hence_model::source::{FileId, Files, Span};
use hence_model::unit::Unit;
use hence_model::value::Event;

use crate::site::Site;
use crate::trace::Origin;
use crate::value::{Array, Datum, Hash, Value};

/// Reads the facts of a node from a JSON file.
pub fn read(site: &Site<'_>, files: &dyn Files, name: &str) -> Result<Hash, Box<Diagnostic>> {
    let mut unit = site.unit();
    let file = unit.load(files, name)?;
    values(&mut unit, file)
}

/// Reads a JSON object.
pub(crate) fn values(unit: &mut Unit, file: FileId) -> Result<Hash, Box<Diagnostic>> {
    let mut open: Vec<Open> = Vec::new();
    let mut whole = Hash::default();
    facts::read(unit, file, &mut |unit, fact| {
        let done = match fact {
            Fact::Scalar(cell, span) => {
                let datum = match unit.literals.scalar(&unit.sources, cell) {
                    Some(Event::Integer(integer)) => Datum::Integer(integer),
                    Some(Event::Float(float)) => Datum::Float(float),
                    Some(Event::Bool(bool)) => Datum::Bool(bool),
                    Some(Event::Text(text)) => Datum::Text(text.into()),
                    _ => Datum::Undef,
                };
                Some(Value::new(datum, Origin::written(span.start)))
            }
            Fact::ListStart(span) => {
                open.push(Open::List(Vec::new(), Origin::written(span.start)));
                None
            }
            Fact::MapStart(span) => {
                open.push(Open::Map(
                    Hash::default(),
                    None,
                    Origin::written(span.start),
                ));
                None
            }
            Fact::Key(key, inside) => {
                if let Some(Open::Map(_, waiting, _)) = open.last_mut() {
                    // The quote stands before what is inside of it.
                    let quote = inside.start - 1;
                    *waiting = Some(Value::new(key, Origin::written(quote)));
                }
                None
            }
            Fact::ListEnd(_) | Fact::MapEnd(_) => open.pop().map(|open| match open {
                Open::List(elements, origin) => Value::new(Array::from(elements), origin),
                Open::Map(hash, _, origin) => Value::new(hash, origin),
            }),
        };
        let Some(value) = done else { return };
        match open.last_mut() {
            Some(Open::List(elements, _)) => elements.push(value),
            Some(Open::Map(hash, key, _)) => {
                let key = key.take().expect("a value follows its key");
                *hash = std::mem::take(hash).with(key, value);
            }
            None => {
                if let Datum::Hash(hash) = value.datum {
                    whole = hash;
                }
            }
        }
    })?;
    Ok(whole)
}

enum Open {
    List(Vec<Value>, Origin),
    Map(Hash, Option<Value>, Origin),
}

impl crate::evaluate::Evaluator<'_> {
    /// The literal that begins at an offset of a file with facts or data.
    pub(crate) fn data_literal(&self, at: u32) -> Option<Span> {
        let sources = &self.site.unit().sources;
        let text = sources.text().get(at as usize..)?;
        let file = sources.file_at(at);
        let is_code = self.loaded.iter().any(|loaded| loaded.program.file == file);
        let length = match text.chars().next()? {
            // Of code only types are left, by their names: what else comes to a value here, such as a call, is no literal.
            'A'..='Z' if is_code => {
                let ends =
                    |character: char| !character.is_alphanumeric() && !"_:".contains(character);
                let length = text.find(ends).unwrap_or(text.len());
                if text[length..].trim_start().starts_with(['(', '.']) {
                    return None;
                }
                length
            }
            _ if is_code => return None,
            quote @ ('"' | '\'') => {
                let mut escaped = false;
                let end = text[1..].char_indices().find(|(_, character)| {
                    let ends = *character == quote && !escaped;
                    escaped = *character == '\\' && !escaped;
                    ends
                });
                end.map_or(text.len(), |(at, _)| at + 2)
            }
            '{' | '[' => return None,
            _ => {
                let ends =
                    |character: char| matches!(character, ',' | '}' | ']' | '\n' | '\r' | '#');
                let whole = &text[..text.find(ends).unwrap_or(text.len())];
                // A key of YAML.
                let key = whole.split_once(": ").map_or(whole, |(key, _)| key);
                key.trim_end().trim_end_matches(':').len()
            }
        };
        Some(Span::new(at, at + length as u32))
    }
}
