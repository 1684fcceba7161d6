//! What a document type allows: elements and their content, attributes and their types, entities.

use std::collections::{HashMap, HashSet};

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use crate::entities::Entity;
use crate::model::Model;

/// A document type definition contradicts itself, or cannot be read.
pub const DTD: Code = Code::new("xml.dtd");

/// All that is declared.
#[derive(Clone, Debug, Default)]
pub struct Dtd {
    /// The elements, by name.
    pub elements: HashMap<String, ElementType>,
    /// The attributes of elements, by the names of the elements.
    pub attributes: HashMap<String, Vec<AttributeType>>,
    /// The entities for content and values.
    pub entities: HashMap<String, Entity>,
    /// The entities for declarations; none if it is a file, which is never fetched.
    pub parameters: HashMap<String, Option<String>>,
    /// The notations.
    pub notations: HashSet<String>,
    /// What is wrong with the declarations.
    pub mistakes: Vec<Diagnostic>,
}

/// What is declared of an element.
#[derive(Clone, Debug)]
pub struct ElementType {
    /// Where.
    pub span: Span,
    /// What may be in it.
    pub content: Content,
}

/// What may be in an element.
#[derive(Clone, Debug)]
pub enum Content {
    /// Nothing, not even white space.
    Empty,
    /// Text, and all elements that are declared.
    Any,
    /// Text, and these elements.
    Mixed(HashSet<String>),
    /// Elements in some order, with white space between them.
    Elements(Box<Model>),
}

/// What is declared of an attribute.
#[derive(Clone, Debug)]
pub struct AttributeType {
    /// Where.
    pub span: Span,
    /// Its name.
    pub name: String,
    /// Which values it has.
    pub kind: Values,
    /// What holds where it is not written.
    pub default: Default,
}

/// Which values an attribute has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Any text.
    Text,
    /// A name that no other element has.
    Id,
    /// A name that an element has.
    Idref,
    /// Such names.
    Idrefs,
    /// An entity that is not XML.
    Entity,
    /// Such entities.
    Entities,
    /// A word.
    Nmtoken,
    /// Words.
    Nmtokens,
    /// One of these notations.
    Notation(Vec<String>),
    /// One of these words.
    Enumeration(Vec<String>),
}

/// What holds where an attribute is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Default {
    /// It must be written.
    Required,
    /// Nothing.
    Implied,
    /// This value, and no other may be written.
    Fixed(String),
    /// This value.
    Value(String),
}

impl Dtd {
    /// Whether it says what may be in a document.
    pub fn constrains(&self) -> bool {
        !self.elements.is_empty() || !self.attributes.is_empty()
    }
}
