//! References: to characters, and to texts that a document declares.
//!
//! A declared text is what a reference to it stands for, and no more: it may hold no markup, nothing is ever fetched, and
//! all expansions of a document together have a budget, so that a few lines cannot become a few gigabytes.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{Sources, Span};

use crate::cursor::{Cursor, SYNTAX, Trouble, is_character};
use crate::document::{Attribute, Kind, Tree};
use crate::dtd::Dtd;

/// A reference to something that is not a text.
pub const ENTITY: Code = Code::new("xml.entity");
/// A file is not in UTF-8, or says so.
pub const ENCODING: Code = Code::new("xml.encoding");

/// So many bytes and references all expansions of a document may take.
pub const BUDGET: usize = 8 << 20;
/// So deep references may lead to references.
const DEPTH: usize = 40;

/// What a document calls by a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A text.
    Text(String),
    /// A file, which is never fetched.
    External,
    /// A file that is not XML.
    Unparsed,
}

/// What a reference names.
pub(crate) enum Named {
    /// A character.
    Character(char),
    /// An entity, by its name.
    Entity(Span),
}

/// Passes a reference.
pub(crate) fn reference(cursor: &mut Cursor<'_>) -> Result<Named, Trouble> {
    let start = cursor.at;
    cursor.expect("&")?;
    if cursor.sees("#") {
        let rest = cursor.rest();
        let length = rest.find(';').unwrap_or(0);
        let digits = rest.get(1..length).unwrap_or_default();
        let number = match digits.strip_prefix('x') {
            Some(digits) => number(digits, 16),
            None => number(digits, 10),
        };
        let Some(character) = number.and_then(char::from_u32).filter(|c| is_character(*c)) else {
            let end = cursor.at + rest.floor_char_boundary(length.min(12)).max(1);
            let message = "this is no reference to a character of XML";
            return Err(cursor.fail(start, end, message));
        };
        cursor.at += length + 1;
        return Ok(Named::Character(character));
    }
    let place = cursor.at;
    let name = cursor.name().map_err(|trouble| {
        Box::new(trouble.help("a `&` that stands for itself is written `&amp;`"))
    })?;
    let span = cursor.since(place);
    cursor.expect(";").map_err(|trouble| {
        Box::new(trouble.help("a `&` that stands for itself is written `&amp;`"))
    })?;
    Ok(match predefined(name) {
        Some(character) => Named::Character(character),
        None => Named::Entity(span),
    })
}

fn number(digits: &str, radix: u32) -> Option<u32> {
    let is_plain = digits.chars().all(|digit| digit.is_digit(radix));
    is_plain.then(|| u32::from_str_radix(digits, radix).ok())?
}

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

/// Refuses what may not stand in the value of an attribute.
pub(crate) fn check_value(cursor: &Cursor<'_>, start: usize, text: &str) -> Result<(), Trouble> {
    if let Some(place) = text.find('<') {
        let place = start + place;
        let message = "`<` may not stand in the value of an attribute: write `&lt;`";
        return Err(cursor.fail(place, place + 1, message));
    }
    check_references(cursor, start, text)
}

/// Refuses references that are none.
pub(crate) fn check_references(
    cursor: &Cursor<'_>,
    start: usize,
    text: &str,
) -> Result<(), Trouble> {
    let mut inside = cursor.clone();
    let mut from = 0;
    while let Some(place) = text[from..].find('&') {
        inside.at = start + from + place;
        reference(&mut inside)?;
        if inside.at > start + text.len() {
            inside.at = start + text.len();
            return Err(inside.unexpected("`;`"));
        }
        from = inside.at - start;
    }
    Ok(())
}

/// Expands references, as long as there is a budget.
pub(crate) struct Expansion<'d> {
    dtd: &'d Dtd,
    budget: usize,
}

/// Why a text cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Refusal {
    Undeclared(String),
    Endless(String),
    Markup(String),
    Outside(String),
    Unparsed(String),
    Budget,
}

impl<'d> Expansion<'d> {
    /// With the whole budget.
    pub fn new(dtd: &'d Dtd) -> Self {
        Self {
            dtd,
            budget: BUDGET,
        }
    }

    /// The value of an attribute, normalised as text (3.3.3).
    pub fn attribute(
        &mut self,
        sources: &Sources,
        attribute: &Attribute,
    ) -> Result<String, Trouble> {
        let mut value = String::new();
        let raw = sources.slice(attribute.value);
        let expanded = self.expand(raw, 0, &mut value);
        expanded.map_err(|refusal| refusal.at(attribute.value, Place::Attribute))?;
        Ok(value)
    }

    /// The text that a reference in content stands for.
    pub fn reference(&mut self, name: &str, span: Span) -> Result<String, Trouble> {
        let mut text = String::new();
        let expanded = self.entity(name, 0, &mut text);
        expanded.map_err(|refusal| refusal.at(span, Place::Content))?;
        Ok(text)
    }

    /// The text of a node of text, or a section.
    pub fn text(&mut self, raw: &str) -> String {
        let mut text = String::new();
        // Only references to characters stand in a text.
        let _ = self.expand(raw, 0, &mut text);
        text
    }

    fn expand(&mut self, raw: &str, depth: usize, into: &mut String) -> Result<(), Refusal> {
        let mut rest = raw;
        while let Some(place) = rest.find(['&', '\t', '\n', '\r', '<']) {
            self.spend(place + 1)?;
            into.push_str(&rest[..place]);
            let mark = rest.as_bytes()[place];
            rest = &rest[place + 1..];
            match mark {
                b'&' => {
                    let (name, behind) = rest.split_once(';').unwrap_or((rest, ""));
                    rest = behind;
                    match name.strip_prefix('#') {
                        Some(digits) => into.extend(character(digits)),
                        None => match predefined(name) {
                            Some(character) => into.push(character),
                            None => self.entity(name, depth + 1, into)?,
                        },
                    }
                }
                b'\r' => {
                    rest = rest.strip_prefix('\n').unwrap_or(rest);
                    into.push(' ');
                }
                b'<' => into.push('<'),
                _ => into.push(' '),
            }
        }
        self.spend(rest.len())?;
        into.push_str(rest);
        Ok(())
    }

    fn entity(&mut self, name: &str, depth: usize, into: &mut String) -> Result<(), Refusal> {
        let dtd = self.dtd;
        match dtd.entities.get(name) {
            None => Err(Refusal::Undeclared(name.to_owned())),
            Some(Entity::External) => Err(Refusal::Outside(name.to_owned())),
            Some(Entity::Unparsed) => Err(Refusal::Unparsed(name.to_owned())),
            Some(Entity::Text(_)) if depth > DEPTH => Err(Refusal::Endless(name.to_owned())),
            Some(Entity::Text(text)) if text.contains('<') => Err(Refusal::Markup(name.to_owned())),
            Some(Entity::Text(text)) => self.expand(text, depth, into),
        }
    }

    fn spend(&mut self, amount: usize) -> Result<(), Refusal> {
        let left = self.budget.checked_sub(amount.max(1));
        self.budget = left.ok_or(Refusal::Budget)?;
        Ok(())
    }
}

fn character(digits: &str) -> Option<char> {
    let number = match digits.strip_prefix('x') {
        Some(digits) => number(digits, 16),
        None => number(digits, 10),
    };
    number.and_then(char::from_u32)
}

/// Where a reference stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Attribute,
    Content,
}

impl Refusal {
    fn at(self, span: Span, place: Place) -> Trouble {
        let diagnostic = match self {
            Refusal::Undeclared(name) => {
                Diagnostic::error(SYNTAX, format!("nothing declares `&{name};`"))
                    .help("a `&` that stands for itself is written `&amp;`")
            }
            Refusal::Endless(name) => {
                let message =
                    format!("`&{name};` leads to itself, or is nested deeper than {DEPTH}");
                Diagnostic::error(SYNTAX, message)
            }
            Refusal::Markup(name) if place == Place::Attribute => {
                let message = format!("`&{name};` holds `<`, which no attribute may hold");
                Diagnostic::error(SYNTAX, message)
            }
            Refusal::Markup(name) => {
                let message = format!("`&{name};` holds markup, so no path could lead into it");
                Diagnostic::error(ENTITY, message).help("write its text in its place")
            }
            Refusal::Outside(name) if place == Place::Attribute => {
                let message = format!("`&{name};` is a file, and no attribute may refer to one");
                Diagnostic::error(SYNTAX, message)
            }
            Refusal::Outside(name) => {
                let message = format!("`&{name};` is a file, and nothing is ever fetched");
                Diagnostic::error(ENTITY, message).help("write its text in its place")
            }
            Refusal::Unparsed(name) => {
                let message = format!("`&{name};` is not XML, and may not be referred to");
                Diagnostic::error(SYNTAX, message)
            }
            Refusal::Budget => {
                let message = format!("references stand for more than {BUDGET} bytes");
                Diagnostic::error(ENTITY, message)
            }
        };
        Box::new(diagnostic.at(span))
    }
}

/// What is wrong with the references of a tree, when all that declares them is read.
pub fn check(sources: &Sources, tree: &Tree, dtd: &Dtd) -> Vec<Diagnostic> {
    let mut troubles = Vec::new();
    let mut expansion = Expansion::new(dtd);
    let inside = tree
        .elements()
        .flat_map(|id| tree.children(Some(id)).iter());
    for id in tree.top.iter().chain(inside) {
        let node = tree.node(*id);
        match &node.kind {
            Kind::Reference(name) => {
                let text = expansion.reference(sources.slice(*name), node.span);
                troubles.extend(text.err());
            }
            Kind::Element(element) => {
                for attribute in element.attributes.iter() {
                    if sources.slice(attribute.value).contains('&') {
                        troubles.extend(expansion.attribute(sources, attribute).err());
                    }
                }
            }
            _ => {}
        }
    }
    troubles.into_iter().map(|trouble| *trouble).collect()
}

/// The default value of an attribute, as it is declared.
pub(crate) fn expand_default(dtd: &Dtd, raw: &str, span: Span) -> Result<String, Trouble> {
    let mut value = String::new();
    let expanded = Expansion::new(dtd).expand(raw, 0, &mut value);
    expanded.map_err(|refusal| refusal.at(span, Place::Attribute))?;
    Ok(value)
}
