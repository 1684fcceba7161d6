//! Whether a document is as its type allows.

use std::collections::HashMap;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{Sources, Span};

use crate::cursor::{is_blank, is_name, is_name_start};
use crate::document::{Document, Element, Id, Kind, Tree};
use crate::dtd::{AttributeType, Content, Default, Dtd, Values};
use crate::entities::{Entity, Expansion};
use crate::model::Fit;

/// A document is not as its type allows.
pub const INVALID: Code = Code::new("xml.invalid");

/// So many mistakes are told.
const ENOUGH: usize = 100;

/// What is wrong with a document. Nothing, if nothing says how it should be.
pub fn check(sources: &Sources, document: &Document, dtd: &Dtd) -> Vec<Diagnostic> {
    if !dtd.constrains() {
        return Vec::new();
    }
    let mut check = Check {
        sources,
        tree: &document.tree,
        dtd,
        expansion: Expansion::new(dtd),
        ids: HashMap::new(),
        idrefs: Vec::new(),
        troubles: dtd.mistakes.clone(),
    };
    check.notations();
    if let Some(doctype) = &document.doctype {
        check.root(document, doctype.name);
    }
    for id in document.tree.elements() {
        check.element(id);
        if check.troubles.len() >= ENOUGH {
            break;
        }
    }
    check.references();
    check.troubles
}

struct Check<'c> {
    sources: &'c Sources,
    tree: &'c Tree,
    dtd: &'c Dtd,
    expansion: Expansion<'c>,
    ids: HashMap<String, Span>,
    idrefs: Vec<(String, Span)>,
    troubles: Vec<Diagnostic>,
}

impl<'c> Check<'c> {
    fn trouble(&mut self, span: Span, message: String) {
        let trouble = Diagnostic::error(INVALID, message).at(span);
        self.troubles.push(trouble);
    }

    fn blame(&mut self, span: Span, message: String, declared: Span) {
        let trouble = Diagnostic::error(INVALID, message).at(span);
        self.troubles.push(trouble.label(declared, "declared here"));
    }

    fn notations(&mut self) {
        let mut lists: Vec<(Span, String)> = Vec::new();
        for attribute in self.dtd.attributes.values().flatten() {
            if let Values::Notation(names) = &attribute.kind {
                let missing = names
                    .iter()
                    .filter(|name| !self.dtd.notations.contains(*name));
                lists.extend(missing.map(|name| (attribute.span, name.clone())));
            }
        }
        lists.sort();
        for (span, name) in lists {
            self.trouble(span, format!("nothing declares the notation `{name}`"));
        }
    }

    fn root(&mut self, document: &Document, wanted: Span) {
        let root = document.tree.element(document.root());
        let Some(root) = root.map(|root| root.name) else {
            return;
        };
        let (wanted_name, name) = (self.sources.slice(wanted), self.sources.slice(root));
        if wanted_name != name {
            let message = format!("the root must be `{wanted_name}`, and is `{name}`");
            self.blame(root, message, wanted);
        }
    }

    fn element(&mut self, id: Id) {
        let tree = self.tree;
        let Some(element) = tree.element(id) else {
            return;
        };
        let name = self.sources.slice(element.name);
        match self.dtd.elements.get(name) {
            None => {
                self.trouble(
                    element.name,
                    format!("nothing declares the element `{name}`"),
                );
            }
            Some(declared) => match &declared.content {
                Content::Any => {}
                Content::Empty => {
                    if let Some(child) = element.children.first() {
                        let message = format!("`{name}` must be empty");
                        self.blame(tree.node(*child).span, message, declared.span);
                    }
                }
                Content::Mixed(allowed) => {
                    for child in &element.children {
                        let Some(inner) = tree.element(*child) else {
                            continue;
                        };
                        let inner_name = self.sources.slice(inner.name);
                        if !allowed.contains(inner_name) {
                            let message = format!("`{inner_name}` may not stand in `{name}`");
                            self.blame(inner.name, message, declared.span);
                        }
                    }
                }
                Content::Elements(model) => {
                    self.no_text(name, element, declared.span);
                    let children: Vec<Span> = element
                        .children
                        .iter()
                        .filter_map(|child| Some(tree.element(*child)?.name))
                        .collect();
                    let names = children.iter().map(|span| self.sources.slice(*span));
                    match model.fit(names) {
                        Fit::Whole => {}
                        Fit::Not(place, expected) => {
                            let found = self.sources.slice(children[place]);
                            let message = match expected.is_empty() {
                                true => {
                                    format!("nothing more is expected in `{name}`, found `{found}`")
                                }
                                false => {
                                    let expected = listed(&expected);
                                    format!("expected {expected} in `{name}`, found `{found}`")
                                }
                            };
                            self.blame(children[place], message, declared.span);
                        }
                        Fit::More(expected) => {
                            let expected = listed(&expected);
                            let message = format!("expected {expected} in `{name}`, found its end");
                            self.blame(
                                element.close.unwrap_or(element.name),
                                message,
                                declared.span,
                            );
                        }
                    }
                }
            },
        }
        self.attributes(name, element);
    }

    /// Between elements stands white space only.
    fn no_text(&mut self, name: &str, element: &Element, declared: Span) {
        for child in &element.children {
            let node = self.tree.node(*child);
            let text = self.sources.slice(node.span);
            let is_text = match &node.kind {
                Kind::Text => !is_blank(text) && !is_blank(&self.expansion.text(text)),
                Kind::Cdata => true,
                Kind::Reference(name) => {
                    let text = self
                        .expansion
                        .reference(self.sources.slice(*name), node.span);
                    text.is_ok_and(|text| !is_blank(&text))
                }
                _ => false,
            };
            if is_text {
                let blanks = text.len() - text.trim_start().len();
                let length = text.trim().len() as u32;
                let start = node.span.start + blanks as u32;
                let message = format!("text may not stand in `{name}`");
                self.blame(Span::new(start, start + length), message, declared);
                return;
            }
        }
    }

    fn attributes(&mut self, name: &str, element: &Element) {
        let declared = self.dtd.attributes.get(name).map_or(&[][..], Vec::as_slice);
        for attribute in &element.attributes {
            let attribute_name = self.sources.slice(attribute.name);
            let Some(kind) = declared.iter().find(|one| one.name == attribute_name) else {
                let message = format!("`{name}` has no attribute `{attribute_name}`");
                self.trouble(attribute.name, message);
                continue;
            };
            let value = match self.expansion.attribute(self.sources, attribute) {
                Ok(value) => value,
                Err(trouble) => {
                    self.troubles.push(*trouble);
                    continue;
                }
            };
            let value = normalised(&kind.kind, value);
            if let Err(why) = fits(&kind.kind, &value) {
                let message = format!("`{attribute_name}` must be {why}, and is `{value}`");
                self.blame(attribute.value, message, kind.span);
            } else if let Default::Fixed(fixed) = &kind.default {
                let fixed = normalised(&kind.kind, fixed.clone());
                if fixed != value {
                    let message = format!("`{attribute_name}` must be `{fixed}`, and is `{value}`");
                    self.blame(attribute.value, message, kind.span);
                }
            }
            self.named(kind, &value, attribute.value);
        }
        for kind in declared {
            let is_written =
                |one: &crate::document::Attribute| self.sources.slice(one.name) == kind.name;
            if kind.default == Default::Required && !element.attributes.iter().any(is_written) {
                let message = format!("`{name}` must have the attribute `{}`", kind.name);
                self.blame(element.name, message, kind.span);
            }
            // A default may refer to an element, too.
            if let Default::Fixed(value) | Default::Value(value) = &kind.default
                && !element.attributes.iter().any(is_written)
            {
                let value = normalised(&kind.kind, value.clone());
                self.named(kind, &value, element.name);
            }
        }
    }

    /// Takes note of what a value names.
    fn named(&mut self, kind: &AttributeType, value: &str, span: Span) {
        match kind.kind {
            Values::Id => match self.ids.get(value) {
                Some(first) => {
                    let first = *first;
                    let message = format!("two elements are named `{value}`");
                    let trouble = Diagnostic::error(INVALID, message).at(span);
                    self.troubles.push(trouble.label(first, "the other"));
                }
                None => drop(self.ids.insert(value.to_owned(), span)),
            },
            Values::Idref | Values::Idrefs => {
                let names = value.split(' ').filter(|name| !name.is_empty());
                self.idrefs
                    .extend(names.map(|name| (name.to_owned(), span)));
            }
            Values::Entity | Values::Entities => {
                for name in value.split(' ').filter(|name| !name.is_empty()) {
                    if self.dtd.entities.get(name) != Some(&Entity::Unparsed) {
                        let message = format!("`{name}` is no entity that is not XML");
                        self.trouble(span, message);
                    }
                }
            }
            _ => {}
        }
    }

    fn references(&mut self) {
        for (name, span) in std::mem::take(&mut self.idrefs) {
            if !self.ids.contains_key(&name) {
                let known = self.ids.keys().map(String::as_str);
                let near = hence_model::diagnostic::similar(&name, known);
                let near: Option<String> = near.first().map(|near| (*near).to_owned());
                let message = format!("no element is named `{name}`");
                let trouble = Diagnostic::error(INVALID, message).at(span);
                self.troubles.push(match near {
                    Some(near) => trouble.help(format!("did you mean `{near}`?")),
                    None => trouble,
                });
            }
        }
    }
}

/// `a`, `b` or `c`
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .take(8)
        .map(|name| format!("`{name}`"))
        .collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => "nothing".to_owned(),
    }
}

/// A value whose spaces mean nothing has one between words.
fn normalised(kind: &Values, value: String) -> String {
    if *kind == Values::Text {
        return value;
    }
    let words: Vec<&str> = value.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Whether an attribute may have a value; if not, what it must be.
fn fits(kind: &Values, value: &str) -> Result<(), String> {
    let is_a_name = |word: &str| word.starts_with(is_name_start) && word.chars().all(is_name);
    let is_a_word = |word: &str| !word.is_empty() && word.chars().all(is_name);
    let all = |is_good: &dyn Fn(&str) -> bool| !value.is_empty() && value.split(' ').all(is_good);
    let (good, what) = match kind {
        Values::Text => (true, String::new()),
        Values::Id | Values::Idref | Values::Entity => (is_a_name(value), "a name".into()),
        Values::Idrefs | Values::Entities => (all(&is_a_name), "names".into()),
        Values::Nmtoken => (is_a_word(value), "a word".into()),
        Values::Nmtokens => (all(&is_a_word), "words".into()),
        Values::Notation(words) | Values::Enumeration(words) => {
            (words.iter().any(|word| word == value), listed(words))
        }
    };
    match good {
        true => Ok(()),
        false => Err(what),
    }
}

/// What is wrong with the declaration of an attribute, beside others of the same element.
pub(crate) fn declaration(
    element: &str,
    attribute: &AttributeType,
    others: &[AttributeType],
) -> Option<String> {
    let name = &attribute.name;
    if let Default::Fixed(value) | Default::Value(value) = &attribute.default {
        if attribute.kind == Values::Id {
            return Some(format!("`{name}` is a name, and can have no default"));
        }
        let value = normalised(&attribute.kind, value.clone());
        if let Err(why) = fits(&attribute.kind, &value) {
            return Some(format!(
                "the default of `{name}` must be {why}, and is `{value}`"
            ));
        }
    }
    let is_id = |one: &AttributeType| one.kind == Values::Id;
    if is_id(attribute) && others.iter().any(is_id) {
        return Some(format!("`{element}` has two attributes of type ID"));
    }
    let is_notation = |one: &AttributeType| matches!(one.kind, Values::Notation(_));
    if is_notation(attribute) && others.iter().any(is_notation) {
        return Some(format!("`{element}` has two attributes of type NOTATION"));
    }
    None
}
