//! The catalog as others read it.

use std::hash::{Hash as _, Hasher};

use ecow::EcoString;
use hence_model::explanation::SECRET;
use hence_model::source::Sources;
use hence_model::value::{Event, Sink};
use rustc_hash::FxHasher;

use crate::compile::Compiled;
use crate::resource::{Resource, ResourceKind, capitalised, write_capitalised};
use crate::syntax::Form;
use crate::trace::ResourceId;
use crate::types::Type;
use crate::value::{Datum, Hash, Object, Value};

impl<'t> Compiled<'t> {
    /// The resources of the catalog, in order: all but virtual ones that nobody realised.
    pub fn resources(&self) -> impl Iterator<Item = (ResourceId, &Resource<'t>)> {
        let numbered = self.evaluator.resources.iter().enumerate();
        let real = numbered.filter(|(_, resource)| !resource.is_virtual);
        real.map(|(number, resource)| (ResourceId::from_index(number), resource))
    }

    /// Sends `{"resources": […], "edges": […], "classes": […]}`.
    pub fn send(&self, sink: &mut impl Sink) {
        self.send_to(Reader::Anyone, sink);
    }

    /// Sends the same, each value where its path says, also those within something `Sensitive`. Whoever shows one asks
    /// first whether it may be shown.
    pub fn send_unmarked(&self, sink: &mut impl Sink) {
        self.send_to(Reader::Keeper, sink);
    }

    fn send_to(&self, reader: Reader, sink: &mut impl Sink) {
        sink.event(Event::MapStart);
        sink.event(Event::Key("resources"));
        sink.event(Event::ListStart);
        for (_, resource) in self.resources() {
            if sink.is_closed() {
                return;
            }
            sink.event(Event::MapStart);
            self.send_identity(resource, sink);
            sink.event(Event::Key("parameters"));
            send_attributes(resource, reader, sink);
            if resource.form == Form::Exported {
                sink.event(Event::Key("exported"));
                sink.event(Event::Bool(true));
            }
            send_sensitive(resource, sink);
            sink.event(Event::MapEnd);
        }
        sink.event(Event::ListEnd);
        sink.event(Event::Key("edges"));
        sink.event(Event::ListStart);
        let (mut around, mut inside) = (String::new(), String::new());
        let mut last = None;
        for (container, contained) in self.edges() {
            // Most follow others of the same container.
            if last.replace(container) != Some(container) {
                around.clear();
                self.evaluator.write_reference(container, &mut around);
            }
            inside.clear();
            self.evaluator.write_reference(contained, &mut inside);
            sink.event(Event::ListStart);
            sink.event(Event::Text(&around));
            sink.event(Event::Text(&inside));
            sink.event(Event::ListEnd);
        }
        sink.event(Event::ListEnd);
        sink.event(Event::Key("classes"));
        send_texts(self.evaluator.classes.iter(), sink);
        sink.event(Event::MapEnd);
    }

    /// Sends the catalog with all that an agent wants to know: tags, files and lines, kinds.
    pub fn send_whole(&self, sources: &Sources, sink: &mut impl Sink) {
        let evaluator = &self.evaluator;
        sink.event(Event::MapStart);
        sink.event(Event::Key("tags"));
        send_texts(evaluator.classes.iter(), sink);
        let texts = [
            ("name", evaluator.node.name.as_str()),
            ("version", env!("CARGO_PKG_VERSION")),
        ];
        for (key, text) in texts {
            sink.event(Event::Key(key));
            sink.event(Event::Text(text));
        }
        sink.event(Event::Key("code_id"));
        sink.event(Event::Null);
        sink.event(Event::Key("catalog_uuid"));
        sink.event(Event::Text(&self.identity()));
        sink.event(Event::Key("catalog_format"));
        sink.event(Event::Integer(2));
        sink.event(Event::Key("environment"));
        sink.event(Event::Text(&evaluator.node.environment));
        sink.event(Event::Key("resources"));
        sink.event(Event::ListStart);
        for (id, resource) in self.resources() {
            self.send_whole_resource(id, resource, sources, sink);
        }
        sink.event(Event::ListEnd);
        sink.event(Event::Key("edges"));
        sink.event(Event::ListStart);
        for (container, contained) in self.edges() {
            sink.event(Event::MapStart);
            for (key, id) in [("source", container), ("target", contained)] {
                sink.event(Event::Key(key));
                sink.event(Event::Text(&evaluator.shown_reference(id)));
            }
            sink.event(Event::MapEnd);
        }
        sink.event(Event::ListEnd);
        sink.event(Event::Key("classes"));
        send_texts(evaluator.classes.iter(), sink);
        sink.event(Event::MapEnd);
    }

    fn send_whole_resource(
        &self,
        id: ResourceId,
        resource: &Resource<'_>,
        sources: &Sources,
        sink: &mut impl Sink,
    ) {
        sink.event(Event::MapStart);
        self.send_identity(resource, sink);
        sink.event(Event::Key("tags"));
        send_texts(self.evaluator.tags(id).iter(), sink);
        // Where a class was only included, the catalog does not tell.
        let included = matches!(resource.kind, ResourceKind::Class { declared: false });
        if let Some(span) = resource.span.filter(|_| !included) {
            let location = sources.location(span.start);
            sink.event(Event::Key("file"));
            sink.event(Event::Text(&location.file));
            sink.event(Event::Key("line"));
            sink.event(Event::Integer(location.line.into()));
        }
        sink.event(Event::Key("exported"));
        sink.event(Event::Bool(resource.form == Form::Exported));
        sink.event(Event::Key("kind"));
        sink.event(Event::Text(match resource.kind {
            ResourceKind::BuiltIn(_) => "compilable_type",
            ResourceKind::Defined(_) => "defined_type",
            ResourceKind::Class { declared: true } => "class",
            ResourceKind::Special if resource.is_stage() => "compilable_type",
            ResourceKind::Class { .. } | ResourceKind::Special => "unknown",
        }));
        if resource.shown().next().is_some() {
            sink.event(Event::Key("parameters"));
            send_attributes(resource, Reader::Agent, sink);
        }
        send_sensitive(resource, sink);
        sink.event(Event::MapEnd);
    }

    /// An identity in the form of a UUID: the same for the same catalog.
    fn identity(&self) -> String {
        let mut hasher = FxHasher::default();
        self.evaluator.node.name.hash(&mut hasher);
        for (_, resource) in self.resources() {
            resource.type_name.hash(&mut hasher);
            resource.title.hash(&mut hasher);
            for attribute in &resource.attributes {
                attribute.name.hash(&mut hasher);
                attribute.value.datum.hash(&mut hasher);
            }
        }
        let first = hasher.finish();
        first.hash(&mut hasher);
        let second = hasher.finish();
        format!(
            "{:08x}-{:04x}-8{:03x}-8{:03x}-{:012x}",
            first >> 32,
            first >> 16 & 0xffff,
            first & 0xfff,
            second >> 52,
            second & 0xffff_ffff_ffff
        )
    }

    /// Who contains whom, in the order of what is contained.
    pub fn edges(&self) -> Vec<(ResourceId, ResourceId)> {
        let is_real = |id: &ResourceId| !self.evaluator.resources[id.index()].is_virtual;
        let mut edges = self.evaluator.edges.clone();
        edges.retain(|(container, contained)| is_real(container) && is_real(contained));
        edges.sort_by_key(|(_, contained)| *contained);
        edges.dedup();
        edges
    }

    fn send_identity(&self, resource: &Resource<'_>, sink: &mut impl Sink) {
        sink.event(Event::Key("type"));
        sink.event(Event::Text(&resource.type_name));
        sink.event(Event::Key("title"));
        sink.event(Event::Text(&shown_title(resource)));
    }
}

/// Whether a resource is a class whose name references write with a capital.
pub(crate) fn is_named_class(resource: &Resource<'_>) -> bool {
    resource.is_class() && resource.title != "main"
}

/// The title as references write it.
pub fn shown_title(resource: &Resource<'_>) -> EcoString {
    match is_named_class(resource) {
        true => capitalised(&resource.title),
        false => resource.title.clone(),
    }
}

fn send_texts<'a>(texts: impl Iterator<Item = &'a EcoString>, sink: &mut impl Sink) {
    sink.event(Event::ListStart);
    texts.for_each(|text| sink.event(Event::Text(text)));
    sink.event(Event::ListEnd);
}

fn send_sensitive(resource: &Resource<'_>, sink: &mut impl Sink) {
    if !resource.sensitive().is_empty() {
        sink.event(Event::Key("sensitive_parameters"));
        send_texts(resource.sensitive().iter(), sink);
    }
}

/// Who reads a value: JSON does not know all that the language knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Someone who knows JSON: the rest is text, and only what is `Sensitive` is marked, as the real compiler does.
    Anyone,
    /// Someone who asks of each value whether it may be shown: what is `Sensitive` is not marked.
    Keeper,
    /// An agent: the rest says what it is, in `__ptype`.
    Agent,
    /// A person who asks for reasons: what is `Sensitive` is hidden.
    Person,
}

/// The key under which a value says what it is.
const TYPE: &str = "__ptype";
/// The key under which such a value is.
const VALUE: &str = "__pvalue";

/// Attributes that are `undef` are not in the catalog, nor is a name that is the title.
pub(crate) fn send_attributes(resource: &Resource<'_>, reader: Reader, sink: &mut impl Sink) {
    sink.event(Event::MapStart);
    for attribute in resource.shown() {
        sink.event(Event::Key(&attribute.name));
        send_value(&attribute.value, reader, sink);
    }
    sink.event(Event::MapEnd);
}

/// Sends a value as a catalog shows it.
pub(crate) fn send_value(value: &Value, reader: Reader, sink: &mut impl Sink) {
    send_datum(&value.datum, reader, sink);
}

fn send_datum(datum: &Datum, reader: Reader, sink: &mut impl Sink) {
    match datum {
        Datum::Undef => sink.event(Event::Null),
        Datum::Bool(bool) => sink.event(Event::Bool(*bool)),
        Datum::Integer(integer) => sink.event(Event::Integer(*integer)),
        Datum::Float(float) => sink.event(Event::Float(*float)),
        Datum::Text(text) => sink.event(Event::Text(text)),
        Datum::Array(array) => {
            sink.event(Event::ListStart);
            array
                .iter()
                .for_each(|value| send_value(value, reader, sink));
            sink.event(Event::ListEnd);
        }
        Datum::Hash(hash) if reader == Reader::Agent && !has_plain_keys(hash) => {
            send_typed("Hash", sink, |sink| {
                sink.event(Event::ListStart);
                for (key, entry) in hash.iter() {
                    send_datum(key, reader, sink);
                    send_value(&entry.value, reader, sink);
                }
                sink.event(Event::ListEnd);
            });
        }
        Datum::Hash(hash) => {
            sink.event(Event::MapStart);
            for (key, entry) in hash.iter() {
                sink.event(Event::Key(&key_text(key)));
                send_value(&entry.value, reader, sink);
            }
            sink.event(Event::MapEnd);
        }
        Datum::Sensitive(_) if reader == Reader::Person => sink.event(Event::Text(SECRET)),
        Datum::Sensitive(inner) if reader == Reader::Keeper => send_value(inner, reader, sink),
        Datum::Sensitive(inner) => {
            send_typed("Sensitive", sink, |sink| send_value(inner, reader, sink));
        }
        Datum::Type(kind) => sink.event(Event::Text(&shown_type(kind))),
        other if reader == Reader::Agent => send_rich(other, sink),
        other => sink.event(Event::Text(&crate::text::text(other))),
    }
}

/// A key or a title as text: a reference as attributes show it, an array or a hash as Ruby writes it, as in the catalogs
/// of the real compiler.
pub(crate) fn key_text(key: &Datum) -> EcoString {
    match key {
        Datum::Type(kind) => shown_type(kind).into(),
        Datum::Array(_) | Datum::Hash(_) => crate::functions::ruby::text(key),
        _ => crate::text::text(key),
    }
}

/// Whether JSON can have the keys, and none of them is taken for the name of a type.
fn has_plain_keys(hash: &Hash) -> bool {
    hash.iter()
        .all(|(key, _)| matches!(key, Datum::Text(key) if key != TYPE))
}

fn send_typed<S: Sink>(name: &str, sink: &mut S, send: impl FnOnce(&mut S)) {
    sink.event(Event::MapStart);
    sink.event(Event::Key(TYPE));
    sink.event(Event::Text(name));
    sink.event(Event::Key(VALUE));
    send(sink);
    sink.event(Event::MapEnd);
}

/// Sends what JSON does not know, so that an agent has it again as it was.
fn send_rich(datum: &Datum, sink: &mut impl Sink) {
    let name = match datum {
        Datum::Default => {
            sink.event(Event::MapStart);
            sink.event(Event::Key(TYPE));
            sink.event(Event::Text("Default"));
            return sink.event(Event::MapEnd);
        }
        Datum::Object(object) => return send_object(object, sink),
        Datum::Pattern(pattern) => {
            return send_typed("Regexp", sink, |sink| {
                sink.event(Event::Text(pattern.source()));
            });
        }
        Datum::Timestamp(_) => "Timestamp",
        Datum::Timespan(_) => "Timespan",
        Datum::SemVer(_) => "SemVer",
        Datum::SemVerRange(_) => "SemVerRange",
        Datum::Binary(_) => "Binary",
        Datum::Uri(_) => "URI",
        _ => return sink.event(Event::Text(&crate::text::text(datum))),
    };
    send_typed(name, sink, |sink| {
        sink.event(Event::Text(&crate::text::text(datum)));
    });
}

/// Sends an object with its attributes. Those that are `undef` are not there, as if nobody had given them.
fn send_object(object: &Object, sink: &mut impl Sink) {
    sink.event(Event::MapStart);
    sink.event(Event::Key(TYPE));
    sink.event(Event::Text(&object.kind));
    for (name, entry) in object.attributes.iter() {
        if !entry.value.is_undef() {
            sink.event(Event::Key(&crate::text::text(name)));
            send_value(&entry.value, Reader::Agent, sink);
        }
    }
    sink.event(Event::MapEnd);
}

/// A reference as a catalog shows it, without quotes: `File[/etc/motd]`.
pub(crate) fn shown_type(kind: &Type) -> String {
    let mut text = String::new();
    match kind {
        Type::Resource(Some(name), Some(title)) => {
            text.reserve(name.len() + title.len() + 2);
            write_capitalised(name, &mut text);
            text.extend(["[", title, "]"]);
        }
        Type::Class(Some(name)) => {
            text.push_str("Class[");
            write_capitalised(name, &mut text);
            text.push(']');
        }
        other => return other.to_string(),
    }
    text
}
