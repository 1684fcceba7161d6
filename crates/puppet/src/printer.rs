//! Prints a catalog as a manifest that declares the same resources.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::catalog::shown_title;
use crate::compile::Compiled;
use crate::resource::{Resource, capitalised};
use crate::syntax::Form;
use crate::types::Type;
use crate::value::{Datum, Hash};

impl Compiled<'_> {
    /// Prints the resources of the catalog as a manifest. Classes and resources of defined types are comments:
    /// what they declared is there.
    pub fn print_native(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        for (_, resource) in self.resources() {
            if resource.span.is_none() {
                continue;
            }
            let built_in = matches!(resource.kind, crate::resource::ResourceKind::BuiltIn(_));
            let start = text.len();
            declaration(resource, &mut text);
            if !built_in {
                let commented: Vec<String> = text[start..]
                    .lines()
                    .map(|line| format!("# {line}\n"))
                    .collect();
                text.truncate(start);
                text.extend(commented);
            }
            writer.write_all(text.as_bytes())?;
            text.clear();
        }
        Ok(())
    }
}

fn declaration(resource: &Resource<'_>, text: &mut String) {
    let form = match resource.form {
        Form::Exported => "@@",
        _ => "",
    };
    let title = shown_title(resource);
    let type_name = resource.type_name.to_lowercase();
    let _ = write!(text, "{form}{type_name} {{ ");
    quote(&title, text);
    text.push(':');
    let width = resource
        .attributes
        .iter()
        .map(|attribute| attribute.name.len())
        .max();
    let width = width.unwrap_or(0);
    for attribute in resource
        .attributes
        .iter()
        .filter(|attribute| !attribute.value.is_undef())
    {
        let _ = write!(text, "\n  {:width$} => ", attribute.name);
        let is_sensitive = resource.sensitive().contains(&attribute.name);
        if is_sensitive {
            text.push_str("Sensitive(");
        }
        datum(&attribute.value.datum, text);
        text.push_str(if is_sensitive { ")," } else { "," });
    }
    text.push_str("\n}\n");
}

fn datum(value: &Datum, text: &mut String) {
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
