//! Prints a catalog as a manifest that declares the same resources.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::shown_title;
use crate::compile::Compiled;
use crate::evaluate::flatten;
use crate::resource::{Attribute, Resource, ResourceKind, capitalised};
use crate::resource_types::is_relationship;
use crate::syntax::Form;
use crate::trace::ResourceId;
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

impl Compiled<'_> {
    /// Prints the resources of the catalog as a manifest. Classes and resources of defined types are comments:
    /// what they declared is there, and what comes before or after them comes before or after that.
    pub fn print_native(&self, writer: &mut dyn Write) -> io::Result<()> {
        let containers = Containers::of(self);
        let mut arrows = String::new();
        for (id, resource) in self.resources() {
            if resource.span.is_none() {
                continue;
            }
            let mut text = String::new();
            if is_built_in(resource) {
                containers.declaration(resource, Relations::Contents, &mut text);
                writer.write_all(text.as_bytes())?;
                continue;
            }
            containers.declaration(resource, Relations::Written, &mut text);
            for line in text.lines() {
                writeln!(writer, "# {line}")?;
            }
            let relations = resource.attributes.iter();
            for attribute in relations.filter(|attribute| is_relationship(&attribute.name)) {
                containers.arrow(id, attribute, &mut arrows);
            }
        }
        writer.write_all(arrows.as_bytes())
    }
}

fn is_built_in(resource: &Resource<'_>) -> bool {
    matches!(resource.kind, ResourceKind::BuiltIn(_))
}

/// Whether it is printed, so that others can refer to it.
fn is_declared(resource: &Resource<'_>) -> bool {
    is_built_in(resource) && !resource.is_virtual
}

/// Whether relationships lead to what they were written with, or to what is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relations {
    Written,
    Contents,
}

/// What is in classes and in resources of defined types.
struct Containers<'c, 't> {
    compiled: &'c Compiled<'t>,
    contained: FxHashMap<ResourceId, Vec<ResourceId>>,
}

impl<'c, 't> Containers<'c, 't> {
    fn of(compiled: &'c Compiled<'t>) -> Self {
        let mut contained: FxHashMap<ResourceId, Vec<ResourceId>> = FxHashMap::default();
        for (container, inner) in compiled.edges() {
            contained.entry(container).or_default().push(inner);
        }
        Self {
            compiled,
            contained,
        }
    }

    fn resource(&self, id: ResourceId) -> &'c Resource<'t> {
        &self.compiled.evaluator.resources[id.index()]
    }

    /// The built-in resources in one, at any depth; one that is built in is its own.
    fn contents(&self, id: ResourceId) -> Vec<ResourceId> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            if is_declared(self.resource(id)) {
                found.push(id);
            }
            let inner = self.contained.get(&id).into_iter().flatten();
            pending.extend(inner.rev());
        }
        found
    }

    /// What an attribute relates to, without classes and resources of defined types.
    fn targets(&self, value: &Value) -> Vec<ResourceId> {
        let mut references = Vec::new();
        flatten(value, &mut references);
        let found = references
            .iter()
            .filter_map(|it| self.compiled.evaluator.target(it));
        found.flat_map(|id| self.contents(id)).collect()
    }

    fn declaration(&self, resource: &Resource<'_>, relations: Relations, text: &mut String) {
        let form = match resource.form {
            Form::Exported => "@@",
            _ => "",
        };
        let title = resource.title_value();
        let type_name = resource.type_name.to_lowercase();
        let is_text = matches!(title.datum, Datum::Text(_));
        if is_text {
            let _ = write!(text, "{form}{type_name} {{ ");
            quote(&shown_title(resource), text);
            text.push(':');
        } else {
            // Only a function can give such a title.
            let _ = write!(text, "create_resources('{form}{type_name}', {{ ");
            // An array would be several titles.
            match title.datum {
                Datum::Array(_) => datum(&Array::from(vec![title]).into(), text),
                other => datum(&other, text),
            }
            text.push_str(" => {");
        }
        let attributes: Vec<(&Attribute, String)> = resource
            .attributes
            .iter()
            .filter(|attribute| !attribute.value.is_undef())
            .filter_map(|attribute| Some((attribute, self.value(attribute, relations)?)))
            .collect();
        let width = attributes.iter().map(|(attribute, _)| attribute.name.len());
        let width = width.max().unwrap_or(0);
        for (attribute, value) in attributes {
            let _ = write!(text, "\n  {:width$} => ", attribute.name);
            match resource.sensitive().contains(&attribute.name) {
                true => {
                    let _ = write!(text, "Sensitive({value}),");
                }
                false => {
                    let _ = write!(text, "{value},");
                }
            }
        }
        text.push_str(if is_text { "\n}\n" } else { "\n} })\n" });
    }

    /// The value of an attribute; nothing if it relates to nothing that is declared.
    fn value(&self, attribute: &Attribute, relations: Relations) -> Option<String> {
        let mut text = String::new();
        let leads_elsewhere = || {
            let mut references = Vec::new();
            flatten(&attribute.value, &mut references);
            let mut found = references
                .iter()
                .filter_map(|it| self.compiled.evaluator.target(it));
            found.any(|id| !is_declared(self.resource(id)))
        };
        if relations == Relations::Contents && is_relationship(&attribute.name) && leads_elsewhere()
        {
            let targets = self.targets(&attribute.value);
            (!targets.is_empty()).then(|| self.references(&targets, &mut text))?;
        } else {
            datum(&attribute.value.datum, &mut text);
        }
        Some(text)
    }

    /// What a class or a resource of a defined type says about its place, for what is in it.
    fn arrow(&self, id: ResourceId, attribute: &Attribute, text: &mut String) {
        let (own, others) = (self.contents(id), self.targets(&attribute.value));
        let (sign, before, after) = match attribute.name.as_str() {
            "before" => ("->", own, others),
            "notify" => ("~>", own, others),
            "require" => ("->", others, own),
            _ => ("~>", others, own),
        };
        if before.is_empty() || after.is_empty() {
            return;
        }
        self.references(&before, text);
        let _ = write!(text, " {sign} ");
        self.references(&after, text);
        text.push('\n');
    }

    fn references(&self, ids: &[ResourceId], text: &mut String) {
        text.push('[');
        for (at, id) in ids.iter().enumerate() {
            text.push_str(if at > 0 { ", " } else { "" });
            let resource = self.resource(*id);
            let _ = write!(text, "{}[", capitalised(&resource.type_name.to_lowercase()));
            quote(&resource.title, text);
            text.push(']');
        }
        text.push(']');
    }
}

fn datum(value: &Datum, text: &mut String) {
    // What is made from a text that says all of it.
    let made = |kind: &str, text: &mut String| {
        let _ = write!(text, "{kind}(");
        quote(&crate::text::text(value), text);
        text.push(')');
    };
    match value {
        Datum::Undef => text.push_str("undef"),
        Datum::Text(inner) => quote(inner, text),
        Datum::Array(array) => {
            text.push('[');
            for (at, value) in array.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                datum(&value.datum, text);
            }
            text.push(']');
        }
        Datum::Hash(entries) => hash(entries, text),
        Datum::Sensitive(inner) => {
            text.push_str("Sensitive(");
            datum(&inner.datum, text);
            text.push(')');
        }
        Datum::Type(kind) => match kind.as_ref() {
            Type::Resource(Some(name), Some(title)) => {
                let _ = write!(text, "{}[", capitalised(name));
                quote(title, text);
                text.push(']');
            }
            Type::Class(Some(name)) => {
                text.push_str("Class[");
                quote(name, text);
                text.push(']');
            }
            other => {
                let _ = write!(text, "{other}");
            }
        },
        // The language has no sign in an exponent but a minus.
        Datum::Float(_) => text.push_str(&crate::text::text(value).as_str().replace("e+", "e")),
        Datum::Timestamp(_) => made("Timestamp", text),
        Datum::Timespan(_) => made("Timespan", text),
        Datum::SemVer(_) => made("SemVer", text),
        Datum::SemVerRange(_) => made("SemVerRange", text),
        Datum::Binary(_) => made("Binary", text),
        Datum::Uri(_) => made("URI", text),
        Datum::Object(object) => {
            let _ = write!(text, "{}(", object.kind);
            hash(&object.attributes, text);
            text.push(')');
        }
        other => text.push_str(&crate::text::text(other)),
    }
}

fn hash(entries: &Hash, text: &mut String) {
    text.push('{');
    for (at, (key, entry)) in entries.iter().enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        datum(key, text);
        text.push_str(" => ");
        datum(&entry.value.datum, text);
    }
    text.push('}');
}

fn quote(inner: &str, text: &mut String) {
    text.push('\'');
    for character in inner.chars() {
        if matches!(character, '\'' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('\'');
}
