//! Resources on their way into the catalog, with all that was ever said about their attributes.

use std::borrow::Cow;

use ecow::EcoString;
use hence_model::source::Span;
use hence_model::work;

use crate::resource_types::{self, ResourceType};
use crate::scope::ScopeId;
use crate::syntax::{Definition, Form};
use crate::trace::{ControlId, Origin};
use crate::value::{Datum, Value};

/// A resource: of a built-in type, of a defined one, or a class.
#[derive(Debug)]
pub struct Resource<'t> {
    /// What evaluating it means.
    pub kind: ResourceKind<'t>,
    /// The type as references write it: `File`, `Apache::Vhost`, `Class`.
    pub type_name: EcoString,
    /// The title.
    pub title: EcoString,
    /// Where the title comes from.
    pub title_origin: Origin,
    /// The scope in which it was declared.
    pub scope: ScopeId,
    /// The class or defined type that declared it.
    pub source: EcoString,
    /// Where it was declared; nowhere for those that are always there.
    pub span: Option<Span>,
    /// Under which conditions.
    pub control: ControlId,
    /// How much code had been passed by when it was declared.
    pub passed: u32,
    /// What is said about its attributes now, in the order in which they came.
    pub attributes: Vec<Attribute>,
    /// Whether there are metaparameters among them: most resources have none, and need not be looked at again.
    pub has_metaparameters: bool,
    /// Whether it goes into the catalog at once.
    pub form: Form,
    /// Whether it is not in the catalog yet: a virtual resource that nobody realised.
    pub is_virtual: bool,
    /// Whether its body was evaluated.
    pub evaluated: bool,
    /// What few resources have.
    pub rare: Option<Box<Rare>>,
}

/// What few resources have.
#[derive(Debug, Default)]
pub struct Rare {
    /// What was said about its attributes, and lost.
    pub lost: Vec<Lost>,
    /// The tags that it was given, besides its type, its title, and the tags of what contains it.
    pub tags: Tags,
    /// What `tag` was called with in its body, under which conditions.
    pub tagged: Vec<(Value, ControlId)>,
    /// Attributes whose values are sensitive.
    pub sensitive: Vec<EcoString>,
    /// Who realised it, under which conditions.
    pub realised: Vec<(ControlId, Span)>,
    /// The title as it was given, if it is no text. Only functions declare with such titles.
    pub title: Option<Datum>,
}

/// What evaluating a resource means.
#[derive(Clone, Copy, Debug)]
pub enum ResourceKind<'t> {
    /// Nothing: it is of this built-in type.
    BuiltIn(&'t ResourceType),
    /// To run the body of its definition.
    Defined(&'t Definition),
    /// To run the bodies of the class.
    Class {
        /// Whether it was declared like a resource, and not only included.
        declared: bool,
    },
    /// A class of nothing but settings, or the main class, or a node.
    Special,
}

/// What is said about an attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: EcoString,
    /// The value.
    pub value: Value,
    /// Where it was said.
    pub span: Span,
    /// How.
    pub how: Said,
    /// In which scope: a class or defined type may override what it said.
    pub scope: ScopeId,
    /// Under which conditions.
    pub control: ControlId,
    /// Whether it is added to what is there: `+>`.
    pub adds: bool,
}

/// How an attribute was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// In the declaration.
    Declared,
    /// In a `default:` body of the declaration.
    BodyDefault,
    /// By a default for all resources of the type: `File { … }`.
    Default,
    /// By a reference: `File['a'] { … }`.
    Override,
    /// By a collector.
    Collector,
    /// By an arrow, or `require`.
    Relationship,
    /// By the class or defined type that contains it.
    Container,
    /// By the default of a parameter.
    Parameter,
    /// By the data, for a parameter.
    Data,
}

/// Something that was said about an attribute, and replaced.
#[derive(Clone, Debug)]
pub struct Lost {
    /// What was said.
    pub attribute: Attribute,
    /// What won.
    pub by: Said,
}

impl<'t> Resource<'t> {
    /// The reference to it: `File[/etc/motd]`.
    pub fn reference(&self) -> String {
        format!("{}[{}]", self.type_name, self.title)
    }

    /// The title as a value: text, unless a function declared it with something else.
    pub fn title_value(&self) -> Value {
        let given = self.rare.as_ref().and_then(|rare| rare.title.clone());
        let title = given.unwrap_or_else(|| Datum::Text(self.title.clone()));
        Value::new(title, self.title_origin)
    }

    /// The attribute that names it.
    pub fn named_by(&self) -> Option<&'t str> {
        match self.kind {
            ResourceKind::BuiltIn(kind) => Some(kind.named_by()),
            ResourceKind::Defined(_) | ResourceKind::Class { .. } => Some("name"),
            ResourceKind::Special => None,
        }
    }

    /// The attributes that the catalog shows: those that are not `undef`, without a name that is the title.
    pub fn shown(&self) -> impl Iterator<Item = &Attribute> {
        let is_title = |attribute: &Attribute| {
            Some(attribute.name.as_str()) == self.named_by()
                && match self.is_class() {
                    true => attribute.value.datum == Datum::Text(capitalised(&self.title)),
                    false => attribute.value.datum == self.title_value().datum,
                }
        };
        let attributes = self.attributes.iter();
        attributes.filter(move |it| !it.value.is_undef() && !is_title(it))
    }

    /// What is said about an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let mut attributes = self.attributes.iter().inspect(|_| work::step());
        attributes.find(|attribute| attribute.name == name)
    }

    /// What is said about it that can be said about any resource.
    pub fn metaparameters(&self) -> impl Iterator<Item = &Attribute> {
        let attributes: &[Attribute] = match self.has_metaparameters {
            true => &self.attributes,
            false => &[],
        };
        let known = |attribute: &&Attribute| resource_types::is_metaparameter(&attribute.name);
        attributes.iter().filter(known)
    }

    /// What was said about its attributes, and lost.
    pub fn lost(&self) -> &[Lost] {
        self.rare.as_ref().map_or(&[], |rare| &rare.lost)
    }

    /// What `tag` was called with in its body, under which conditions.
    pub fn tagged(&self) -> &[(Value, ControlId)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.tagged)
    }

    /// Attributes whose values are sensitive.
    pub fn sensitive(&self) -> &[EcoString] {
        self.rare.as_ref().map_or(&[], |rare| &rare.sensitive)
    }

    /// Who realised it, under which conditions.
    pub fn realised(&self) -> &[(ControlId, Span)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.realised)
    }

    /// What few resources have, to add to it.
    pub fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Sets the first attributes, each another one.
    pub fn begin(&mut self, attributes: Vec<Attribute>) {
        attributes.iter().for_each(|attribute| self.mark(attribute));
        self.attributes = attributes;
    }

    /// Sets an attribute. One that was set keeps its position, and what was said is not forgotten.
    pub fn set(&mut self, attribute: Attribute) {
        self.mark(&attribute);
        let by = attribute.how;
        match self
            .attributes
            .iter_mut()
            .find(|old| old.name == attribute.name)
        {
            Some(place) => {
                let attribute = std::mem::replace(place, attribute);
                self.rare_mut().lost.push(Lost { attribute, by });
            }
            None => self.attributes.push(attribute),
        }
    }

    /// Keeps in mind what an attribute means for the whole resource.
    fn mark(&mut self, attribute: &Attribute) {
        self.has_metaparameters |= resource_types::is_metaparameter(&attribute.name);
        if attribute.name == "tag" {
            self.rare_mut().tags.add_value(&attribute.value.datum);
        }
    }

    /// Its own tags: what it was given, its type, and its title if that can be one.
    pub fn own_tags(&self) -> Tags {
        let rare = self.rare.as_ref();
        let mut tags = rare.map_or_else(Tags::default, |rare| rare.tags.clone());
        tags.add(&self.type_name);
        if is_tag(&self.title) && !(self.span.is_none() && self.title == "main") {
            tags.add(&self.title);
        }
        tags
    }

    /// Whether it is a class.
    pub fn is_class(&self) -> bool {
        self.type_name == "Class"
    }

    /// Whether it is a run stage.
    pub fn is_stage(&self) -> bool {
        self.type_name == "Stage"
    }
}

/// The tags of a resource, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    order: Vec<EcoString>,
}

impl Tags {
    /// Adds a tag in lower case, and the parts of a qualified one.
    pub fn add(&mut self, tag: &str) {
        let tag: EcoString = tag.to_lowercase().into();
        if self.insert(tag.clone()) && tag.contains("::") {
            for part in tag.split("::").filter(|part| !part.is_empty()) {
                self.insert(part.into());
            }
        }
    }

    /// Adds all of another resource's.
    pub fn merge(&mut self, other: &Tags) {
        for tag in &other.order {
            self.insert(tag.clone());
        }
    }

    /// Whether a tag, in lower case, is among them.
    pub fn has(&self, tag: &str) -> bool {
        self.order.iter().any(|known| known == tag)
    }

    /// The tags, in order.
    pub fn iter(&self) -> impl Iterator<Item = &EcoString> {
        self.order.iter()
    }

    fn add_value(&mut self, datum: &Datum) {
        match datum {
            Datum::Array(array) => {
                array.iter().for_each(|value| self.add_value(&value.datum));
            }
            Datum::Undef => {}
            other => self.add(&crate::text::text(other)),
        }
    }

    fn insert(&mut self, tag: EcoString) -> bool {
        let new = !self.has(&tag);
        if new {
            self.order.push(tag);
        }
        new
    }
}

/// Whether something can be a tag.
pub fn is_tag(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|c| c.is_alphanumeric() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || "_:.-".contains(c))
}

/// A name of a type as references write it: `apache::vhost` is `Apache::Vhost`.
pub fn capitalised(name: &str) -> EcoString {
    let mut text = String::with_capacity(name.len());
    write_capitalised(name, &mut text);
    text.into()
}

/// Writes the name of a type as references do, behind a text.
pub fn write_capitalised(name: &str, text: &mut String) {
    // Most names have one part.
    if !name.contains(':') {
        return write_part(name, text);
    }
    for (at, part) in name.split("::").enumerate() {
        if at > 0 {
            text.push_str("::");
        }
        write_part(part, text);
    }
}

fn write_part(part: &str, text: &mut String) {
    let mut characters = part.chars();
    text.extend(characters.next().into_iter().flat_map(char::to_uppercase));
    text.push_str(&lowered(characters.as_str()));
}

/// A name in lower case; most are.
pub(crate) fn lowered(name: &str) -> Cow<'_, str> {
    let is_lower = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    match name.bytes().all(is_lower) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(name.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_very_much_of_is_small() {
        assert_eq!(size_of::<Attribute>(), 72);
        assert_eq!(size_of::<Resource<'_>>(), 128);
    }
}
