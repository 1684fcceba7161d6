//! Resources: declaring them, defaults for them, overriding them.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Span;

use super::{Evaluator, Outcome, Stop, fail, failed, without_iterators};
use crate::catalog::key_text;
use crate::resource::{Attribute, Resource, ResourceKind, Said, capitalised, is_tag, lowered};
use crate::resource_types;
use crate::scope::ScopeId;
use crate::syntax::{self, Amendment, AttributeKind, Expression, Form, Kind};
use crate::trace::{Cause, ControlId, Making, Node, Origin, ResourceId, Trace};
use crate::types::Type;
use crate::value::{Array, Datum, Value};

use super::access::NO_SUCH_RESOURCE;
use super::classes::UNKNOWN_PARAMETER;

/// As so many steps a resource counts: about what it takes of the memory.
const RESOURCE: u64 = 256;

/// A resource is declared twice.
pub const DUPLICATE: Code = Code::new("puppet.duplicate-declaration");
/// Something cannot be the title of a resource.
pub const TITLE: Code = Code::new("puppet.title");
/// A type of resources that does not exist.
pub const UNKNOWN_RESOURCE_TYPE: Code = Code::new("puppet.unknown-resource-type");
/// Something else stands where a type of resources is expected.
pub const RESOURCE_TYPE: Code = Code::new("puppet.resource-type");
/// An attribute is set twice in one place.
pub const DUPLICATE_ATTRIBUTE: Code = Code::new("puppet.duplicate-attribute");
/// `* =>` needs a hash.
pub const SPLAT: Code = Code::new("puppet.splat");
/// An attribute was set already, and not by a class that this one inherits.
pub const OVERRIDE: Code = Code::new("puppet.override");
/// Something cannot be a tag.
pub const TAG: Code = Code::new("puppet.tag");
/// Only classes have a stage.
pub const STAGE: Code = Code::new("puppet.stage");
/// Classes are never virtual.
pub const VIRTUAL_CLASS: Code = Code::new("puppet.virtual-class");

/// An override that was said.
#[derive(Debug)]
pub(crate) struct Amended {
    /// The type of the resource, in lower case.
    pub(crate) type_name: EcoString,
    /// Its title.
    pub(crate) title: EcoString,
    /// The reference to it.
    pub(crate) target: Value,
    /// The attributes, and what is said about them.
    pub(crate) attributes: Vec<(EcoString, Value)>,
    /// Under which conditions it was said.
    pub(crate) control: ControlId,
}

/// An override of a resource that is not declared yet: its type, its title, what is said, and where.
pub(super) type Waiting = (EcoString, EcoString, Vec<Attribute>, Span);

impl<'t> Evaluator<'t> {
    /// `t { e: H }` (ResTitle, ResStep, ResDecl; Def for defined types, CDec… for classes). Its value are
    /// references to what was declared.
    pub(super) fn resource(
        &mut self,
        at: &'t Expression,
        written: &'t syntax::Resource,
    ) -> Outcome {
        let mut declared = Vec::new();
        self.declarations(written, &mut |id| declared.push(id))?;
        let references = declared.into_iter();
        let references: Vec<Value> = references.map(|id| self.reference_at(id, at)).collect();
        let origin = self.trace.operation(at, references.clone());
        Ok(Value::new(Array::from(references), origin))
    }

    /// Declares all resources of an expression.
    pub(super) fn declarations(
        &mut self,
        written: &'t syntax::Resource,
        declared: &mut dyn FnMut(ResourceId),
    ) -> Outcome<()> {
        let at = &written.kind;
        let (type_name, outcome) = self.resource_type_named(at)?;
        match outcome.node() {
            // Another type would be another resource.
            Some(_) => self.under(Cause::Test { outcome, at }, |evaluator| {
                evaluator.declarations_of(type_name, written, declared)
            }),
            None => self.declarations_of(type_name, written, declared),
        }
    }

    fn declarations_of(
        &mut self,
        type_name: EcoString,
        written: &'t syntax::Resource,
        declared: &mut dyn FnMut(ResourceId),
    ) -> Outcome<()> {
        let form = written.form;
        let mut bodies = Vec::with_capacity(written.bodies.len());
        let mut defaults: Option<(Vec<Attribute>, Span)> = None;
        let mut titles_so_far: Vec<EcoString> = Vec::new();
        for body in &written.bodies {
            let title = self.nested(&body.title)?;
            // Almost all have one body and one title, which need no lists.
            if written.bodies.len() == 1
                && matches!(&title.datum, Datum::Text(text) if !text.is_empty())
            {
                let attributes = self.attributes(&body.attributes, Said::Declared)?;
                let place = (written.kind.span, body.span);
                declared(self.declare(&type_name, title, attributes, form, place)?);
                return Ok(());
            }
            let mut titles = self.titles(title, &body.title)?;
            for title in &titles {
                let Datum::Text(text) = &title.datum else {
                    continue;
                };
                if titles_so_far.contains(text) {
                    let message = format!("the title '{text}' stands twice in one declaration");
                    return fail(DUPLICATE, message, body.title.span);
                }
                // Long lists of titles come from data; what they repeat is found in the catalog.
                if titles_so_far.len() < 100 {
                    titles_so_far.push(text.clone());
                }
            }
            let attributes = self.attributes(&body.attributes, Said::Declared)?;
            let before = titles.len();
            titles.retain(|title| !matches!(title.datum, Datum::Default));
            match (before - titles.len(), &defaults) {
                (0, _) => {}
                (1, None) => defaults = Some((attributes.clone(), body.title.span)),
                (_, first) => {
                    let message = "`default` stands twice in one declaration";
                    let mut trouble = Diagnostic::error(DUPLICATE, message).at(body.title.span);
                    if let Some((_, first)) = first {
                        trouble = trouble.label(*first, "it stands here first");
                    }
                    return Err(failed(trouble));
                }
            }
            bodies.push((titles, attributes, body.span));
        }
        // Also without a title, there must be such a type.
        if type_name != "class" && bodies.iter().all(|(titles, ..)| titles.is_empty()) {
            self.kind_named(&type_name, written.kind.span)?;
        }
        let defaults = defaults.map_or_else(Vec::new, |(attributes, _)| attributes);
        for (titles, attributes, span) in bodies {
            let attributes = with_defaults(&defaults, attributes);
            for title in titles {
                let attributes = attributes.clone();
                let place = (written.kind.span, span);
                declared(self.declare(&type_name, title, attributes, form, place)?);
            }
        }
        Ok(())
    }

    /// The reference to a resource, as a value.
    pub(crate) fn reference_to(&self, id: ResourceId, origin: Origin) -> Value {
        let resource = &self.resources[id.index()];
        let title = Some(resource.title.clone());
        let kind = match resource.is_class() {
            true => Type::Class(title),
            false => Type::Resource(Some(resource.type_name.to_lowercase()), title),
        };
        Value::new(kind, origin)
    }

    /// The reference to a resource, made somewhere of the type and the title.
    pub(super) fn reference_at(&mut self, id: ResourceId, at: &'t Expression) -> Value {
        let resource = &self.resources[id.index()];
        let title = Value::new(resource.title.clone(), resource.title_origin);
        let kind = match resource.is_class() {
            true => Type::Class(None),
            false => Type::Resource(Some(resource.type_name.to_lowercase()), None),
        };
        let kind = Value::new(kind, Origin::NOWHERE);
        let origin = self.trace.operation(at, [kind, title]);
        self.reference_to(id, origin)
    }

    /// The type that a declaration names, and where it comes from: `file`, `File`, `Resource['file']`.
    fn resource_type_named(&mut self, at: &'t Expression) -> Outcome<(EcoString, Origin)> {
        if let Kind::Name(name) = &at.kind {
            let name = name.strip_prefix("::").unwrap_or(name);
            return Ok((lowered(name).into(), Origin::NOWHERE));
        }
        let value = self.nested(at)?;
        let written = match &at.kind {
            Kind::Access(of, _) => &of.kind,
            kind => kind,
        };
        if let Datum::Type(kind) = &value.datum
            && !matches!(written, Kind::Reference(_))
        {
            let message =
                format!("expected the name of a type of resources, found the type `{kind}`");
            let trouble = Diagnostic::error(RESOURCE_TYPE, message).at(at.span);
            let help = "a type that is computed is declared with `Resource[…] { 'title': … }`";
            return Err(failed(trouble.help(help)));
        }
        match &value.datum {
            Datum::Type(kind) => match kind.as_ref() {
                Type::Resource(Some(name), None) => Ok((name.clone(), value.origin)),
                Type::Class(None) => Ok(("class".into(), value.origin)),
                other => {
                    let message = format!("`{other}` is no type of resources");
                    fail(RESOURCE_TYPE, message, at.span)
                }
            },
            other => {
                let message = format!(
                    "expected a type of resources, found {}",
                    Type::of(other).generalise()
                );
                fail(RESOURCE_TYPE, message, at.span)
            }
        }
    }

    /// The titles of a body, each with its own origin.
    fn titles(&mut self, title: Value, at: &'t Expression) -> Outcome<Vec<Value>> {
        let span = at.span;
        let mut titles = Vec::with_capacity(1);
        flatten(&title, &mut titles);
        for title in &titles {
            match &title.datum {
                Datum::Text(text) if !text.is_empty() => {}
                Datum::Default => {}
                _ => return Err(self.no_title(title, span)),
            }
        }
        if let Datum::Array(_) = title.datum
            && !matches!(at.kind, Kind::Array(_))
        {
            // Which titles there are depends on where the list comes from.
            for one in &mut titles {
                let nowhere = Value::from(Origin::NOWHERE);
                one.origin = self
                    .trace
                    .element(at, [one.clone(), title.clone(), nowhere]);
            }
        }
        Ok(titles)
    }

    /// That something is no title.
    pub(crate) fn no_title(&self, title: &Value, span: Span) -> Box<Stop> {
        let message = match &title.datum {
            Datum::Text(_) => "a title cannot be empty".to_owned(),
            Datum::Undef => "a title cannot be `undef`".to_owned(),
            other => format!(
                "expected text for a title, found {}",
                Type::of(other).generalise()
            ),
        };
        let mut trouble = Diagnostic::error(TITLE, message).at(span);
        if title.is_undef()
            && let Some((span, words)) = self.absence(title.origin)
        {
            trouble = trouble.label(span, words);
        }
        failed(trouble)
    }

    /// That a resource is there, or is not, as what something depends on.
    pub(crate) fn evidence(&mut self, datum: &Datum, found: bool) -> Option<Value> {
        let Datum::Type(kind) = datum else {
            return None;
        };
        let (type_name, title) = match kind.as_ref() {
            Type::Resource(Some(name), Some(title)) => (name.clone(), title.clone()),
            Type::Class(Some(name)) => ("class".into(), name.clone()),
            _ => return None,
        };
        let node = match self.find_resource(&type_name, &title) {
            Some(id) if found => Node::Present(id),
            _ => Node::Absent {
                passed: self.trace.passed().len() as u32,
                type_name,
            },
        };
        Some(self.trace.add(node).into())
    }

    /// What is said about attributes in one place.
    pub(crate) fn attributes(
        &mut self,
        written: &'t [syntax::Attribute],
        how: Said,
    ) -> Outcome<Vec<Attribute>> {
        let mut attributes: Vec<Attribute> = Vec::with_capacity(written.len());
        let scope = self.scope;
        for one in written {
            let value = self.nested(&one.value)?;
            let (name, adds) = match &one.kind {
                AttributeKind::Set(name) => (name.clone(), false),
                AttributeKind::Add(name) => (name.clone(), true),
                AttributeKind::Splat => {
                    let Datum::Hash(hash) = &value.datum else {
                        let message = format!(
                            "`* =>` takes a hash, and this is {}",
                            Type::of(&value.datum).generalise()
                        );
                        return fail(SPLAT, message, one.value.span);
                    };
                    for (key, entry) in hash.iter() {
                        let name = crate::text::text(key);
                        let value = self.element_of(one, &value, key, entry);
                        self.add_attribute(
                            &mut attributes,
                            Attribute {
                                name,
                                value,
                                span: one.span,
                                how,
                                scope,
                                control: self.control,
                                adds: false,
                            },
                        )?;
                    }
                    continue;
                }
            };
            self.add_attribute(
                &mut attributes,
                Attribute {
                    name,
                    value,
                    span: one.span,
                    how,
                    scope,
                    control: self.control,
                    adds,
                },
            )?;
        }
        Ok(attributes)
    }

    /// An entry of a hash that is an attribute.
    fn element_of(
        &mut self,
        written: &'t syntax::Attribute,
        hash: &Value,
        key: &Datum,
        entry: &crate::value::Entry,
    ) -> Value {
        let key = Value::new(key.clone(), entry.key);
        self.element(&written.value, Some(&entry.value), hash, &key)
    }

    fn add_attribute(
        &mut self,
        attributes: &mut Vec<Attribute>,
        attribute: Attribute,
    ) -> Outcome<()> {
        without_iterators(&attribute.value, attribute.span)?;
        if let Some(first) = attributes.iter().find(|first| first.name == attribute.name) {
            let message = format!("the attribute `{}` is set twice", attribute.name);
            let trouble = Diagnostic::error(DUPLICATE_ATTRIBUTE, message).at(attribute.span);
            return Err(failed(trouble.label(first.span, "set here first")));
        }
        attributes.push(attribute);
        Ok(())
    }

    /// Declares a resource. Its type is named at the first of the places, and it stands at the second.
    pub(crate) fn declare(
        &mut self,
        type_name: &EcoString,
        title: Value,
        mut attributes: Vec<Attribute>,
        form: Form,
        (named_at, span): (Span, Span),
    ) -> Outcome<ResourceId> {
        if let Datum::Undef | Datum::Bool(false) = title.datum {
            return Err(self.no_title(&title, span));
        }
        let text = &key_text(&title.datum);
        if type_name == "class" {
            if form != Form::Regular {
                let message = "a class cannot be virtual or exported";
                return fail(VIRTUAL_CLASS, message, span);
            }
            let Some(class) = self.find_class(text)? else {
                return Err(self.unknown_class(text, span));
            };
            let id = self.declare_class(&class, attributes, title.origin, span, true)?;
            self.evaluate_resource(id)?;
            return Ok(id);
        }
        let kind = self.kind_named(type_name, named_at)?;
        if let ResourceKind::Defined(definition) = kind {
            // Parameters that are not given become attributes by their defaults.
            let given = attributes.len();
            attributes.reserve_exact(definition.parameters.len().saturating_sub(given));
        }
        let mut resource = Resource {
            kind,
            type_name: self.capitalised(type_name),
            title: text.clone(),
            title_origin: title.origin,
            scope: self.scope,
            source: self.scopes[self.scope.index()].source.clone(),
            span: Some(span),
            control: self.control,
            passed: self.trace.passed().len() as u32,
            attributes: Vec::new(),
            has_metaparameters: false,
            form,
            is_virtual: form != Form::Regular,
            evaluated: false,
            rare: None,
        };
        if !matches!(title.datum, Datum::Text(_)) {
            resource.rare_mut().title = Some(title.datum);
        }
        self.begin_attributes(&mut resource, attributes)?;
        self.apply_defaults(&mut resource);
        let id = self.add_resource(resource, type_name)?;
        if self.options.in_place && !self.resources[id.index()].is_virtual {
            self.evaluate_resource(id)?;
        }
        Ok(id)
    }

    /// What evaluating a resource of a type means, unless it is a class.
    fn kind_named(&mut self, type_name: &EcoString, named_at: Span) -> Outcome<ResourceKind<'t>> {
        if let Some(kind) = self.built_in(type_name) {
            return Ok(ResourceKind::BuiltIn(kind));
        }
        match self.find_define(type_name)? {
            Some(known) => Ok(ResourceKind::Defined(known.definition)),
            None => {
                let message = format!("there is no type of resources `{type_name}`");
                let trouble = Diagnostic::error(UNKNOWN_RESOURCE_TYPE, message).at(named_at);
                Err(failed(self.suggest_type(trouble, type_name)))
            }
        }
    }

    fn capitalised(&mut self, type_name: &EcoString) -> EcoString {
        if let Some(shown) = self.capitals.get(type_name) {
            return shown.clone();
        }
        let shown = capitalised(type_name);
        self.capitals.insert(type_name.clone(), shown.clone());
        shown
    }

    /// Gives a resource the attributes of its declaration.
    pub(super) fn begin_attributes(
        &self,
        resource: &mut Resource<'t>,
        attributes: Vec<Attribute>,
    ) -> Outcome<()> {
        for attribute in &attributes {
            self.check_tag(attribute)?;
        }
        resource.begin(attributes);
        Ok(())
    }

    fn check_tag(&self, attribute: &Attribute) -> Outcome<()> {
        if attribute.name != "tag" {
            return Ok(());
        }
        let mut tags = Vec::new();
        flatten(&attribute.value, &mut tags);
        for tag in tags.iter().filter(|tag| !tag.is_undef()) {
            let text = crate::text::text(&tag.datum);
            if !is_tag(&text) {
                let message = format!("'{text}' cannot be a tag");
                return fail(TAG, message, attribute.span);
            }
        }
        Ok(())
    }

    /// Gives a resource the defaults of the scopes that it was declared in, innermost first.
    pub(crate) fn apply_defaults(&self, resource: &mut Resource<'t>) {
        if !self.has_defaults {
            return;
        }
        for default in self.defaults_of(&resource.type_name, resource.scope) {
            if resource.attribute(&default.name).is_none() {
                resource.set(default);
            }
        }
    }

    /// The defaults for a type of resources in a scope: of the scope itself, then of those around it.
    pub(super) fn defaults_of(&self, type_name: &str, scope: ScopeId) -> Vec<Attribute> {
        let mut found: Vec<Attribute> = Vec::new();
        let mut next = Some(scope);
        let mut levels = Vec::new();
        while let Some(id) = next {
            levels.push(id);
            next = self.scopes[id.index()].parent;
        }
        // The outermost come first, and the inner ones take their places.
        for id in levels.into_iter().rev() {
            let defaults = self.scopes[id.index()].defaults.get(type_name);
            for default in defaults.into_iter().flatten() {
                match found.iter_mut().find(|other| other.name == default.name) {
                    Some(place) => *place = default.clone(),
                    None => found.push(default.clone()),
                }
            }
        }
        found
    }

    /// The default for an attribute that a resource does not have.
    pub(super) fn default_of(&self, id: ResourceId, name: &str) -> Option<Value> {
        let resource = &self.resources[id.index()];
        let defaults = self.defaults_of(&resource.type_name, resource.scope);
        let found = defaults.into_iter().find(|default| default.name == name);
        found.map(|default| default.value)
    }

    /// Whether some default around a scope says just that about an attribute.
    fn is_default(&self, scope: ScopeId, type_name: &str, name: &str, value: &Datum) -> bool {
        let mut defaults = self.defaults_around(scope, type_name, name);
        defaults.any(|default| default.value.datum == *value)
    }

    /// All that the defaults around a scope say about an attribute.
    pub(crate) fn defaults_around(
        &self,
        scope: ScopeId,
        type_name: &str,
        name: &str,
    ) -> impl Iterator<Item = &Attribute> {
        let around = std::iter::successors(Some(scope), |id| self.scopes[id.index()].parent);
        let defaults = around.filter_map(move |id| self.scopes[id.index()].defaults.get(type_name));
        defaults
            .flatten()
            .filter(move |default| default.name == name)
    }

    /// Puts a resource into the catalog. There is at most one of a type and title (§3.3.2.1).
    pub(crate) fn add_resource(
        &mut self,
        resource: Resource<'t>,
        type_name: &EcoString,
    ) -> Outcome<ResourceId> {
        if let Some(span) = resource.span {
            self.spend(RESOURCE, span)?;
        }
        let id = ResourceId::from_index(self.resources.len());
        let known = self.table.entry(type_name.clone()).or_default();
        let first = *known.named.entry(resource.title.clone()).or_insert(id);
        if first != id && self.resources[first.index()].title == resource.title {
            return Err(self.duplicate(&resource, first));
        }
        known.all.push(id);
        let scope = resource.scope;
        let contained = !resource.is_class() && !resource.is_stage();
        if !resource.is_class()
            && let Some(stage) = resource.attribute("stage")
        {
            return fail(STAGE, "only classes can have a stage", stage.span);
        }
        let mut taken = (first != id).then(|| (first, resource.title.clone()));
        for name in names_of(&resource) {
            let other = *known.named.entry(name.clone()).or_insert(id);
            if other != id {
                taken.get_or_insert((other, name));
            }
        }
        if let Some(names) = names_together(&resource) {
            let name = names.first().cloned().flatten();
            let other = *known.together.entry(names).or_insert(id);
            if other != id {
                taken.get_or_insert((other, name.unwrap_or_default()));
            }
        }
        self.resources.push(resource);
        if let Some((other, name)) = taken {
            return Err(self.duplicate_name(id, other, &name));
        }
        if contained && let Some(container) = self.container(scope) {
            self.edges.push((container, id));
        }
        Ok(id)
    }

    /// Takes note of a resource that is always there.
    pub(crate) fn register(&mut self, type_name: &str, title: &str, id: ResourceId) {
        let known = self.table.entry(type_name.to_lowercase().into());
        let known = known.or_default();
        known.all.push(id);
        known.named.insert(title.into(), id);
    }

    fn container(&self, scope: ScopeId) -> Option<ResourceId> {
        self.scopes.get(scope.index()).map(|scope| scope.resource)
    }

    fn duplicate(&self, resource: &Resource<'t>, first: ResourceId) -> Box<Stop> {
        let reference = match resource.is_class() {
            true => format!("Class[{}]", capitalised(&resource.title)),
            false => resource.reference(),
        };
        let message = format!("{reference} is declared twice");
        let mut trouble = Diagnostic::error(DUPLICATE, message);
        if let Some(span) = resource.span {
            trouble = trouble.at(span);
        }
        let first = &self.resources[first.index()];
        if let Some(span) = first.span {
            trouble = trouble.label(span, "declared here first");
        }
        for (span, words) in self.chain(first.control).into_iter().take(8) {
            if !trouble.labels.iter().any(|label| label.span == span) {
                trouble = trouble.label(span, format!("{words}: the first"));
            }
        }
        if resource.is_class() {
            let help =
                "`include` may be said as often as you like, `class { … }` only once and first";
            trouble = trouble.help(help);
        }
        self.with_chain(trouble)
    }

    fn duplicate_name(&self, id: ResourceId, other: ResourceId, name: &str) -> Box<Stop> {
        let (resource, other) = (&self.resources[id.index()], &self.resources[other.index()]);
        let message = format!(
            "{} and {} are both named '{name}'",
            other.reference(),
            resource.reference()
        );
        let mut trouble = Diagnostic::error(DUPLICATE, message);
        if let Some(span) = resource.span {
            trouble = trouble.at(span);
        }
        if let Some((span, words)) = called(resource, name) {
            trouble = trouble.label(span, words);
        }
        if let Some(span) = other.span {
            trouble = trouble.label(span, "declared here first");
        }
        if let Some((span, words)) = called(other, name) {
            trouble = trouble.label(span, words);
        }
        self.with_chain(trouble)
    }

    /// A resource in the catalog.
    pub(crate) fn find_resource(&self, type_name: &str, title: &str) -> Option<ResourceId> {
        let type_name = type_name.strip_prefix("::").unwrap_or(type_name);
        let known = self.table.get(type_name)?;
        if type_name == "class" {
            let name = title.strip_prefix("::").unwrap_or(title);
            return known.named.get(&*lowered(name)).copied();
        }
        if let Some(found) = known.named.get(title) {
            return Some(*found);
        }
        let kind = self.built_in(type_name)?;
        if let Some(names) = kind.names_together() {
            let mut together = vec![None; names.len()];
            together[0] = Some(title.into());
            return known.together.get(&together).copied();
        }
        known.named.get(kind.name_of(title)).copied()
    }

    /// A type in lower case.
    pub(crate) fn folded(&self, type_name: &str) -> EcoString {
        type_name.to_lowercase().into()
    }

    /// Whether a resource can have an attribute.
    pub(crate) fn has_attribute(&mut self, id: ResourceId, name: &str) -> Outcome<bool> {
        let known = resource_types::is_metaparameter(name) || name == "name";
        let kind = self.resources[id.index()].kind;
        let known = known || matches!(kind, ResourceKind::BuiltIn(kind) if kind.has(name));
        Ok(known || self.attribute_names(id).iter().any(|known| known == name))
    }

    /// The attributes that a resource can have, besides metaparameters.
    pub(crate) fn attribute_names(&self, id: ResourceId) -> Vec<EcoString> {
        let resource = &self.resources[id.index()];
        match resource.kind {
            ResourceKind::BuiltIn(kind) => kind.attributes().map(EcoString::from).collect(),
            ResourceKind::Defined(definition) => definition
                .parameters
                .iter()
                .map(|parameter| parameter.name.clone())
                .collect(),
            ResourceKind::Class { .. } => {
                let known = self.known.get(&resource.title);
                let parameters = known.map(|known| known.definition.parameters.iter());
                parameters
                    .into_iter()
                    .flatten()
                    .map(|parameter| parameter.name.clone())
                    .collect()
            }
            ResourceKind::Special => Vec::new(),
        }
    }

    /// `File { … }`: defaults for all resources of a type that are declared in this scope, or by code that is
    /// first declared in it.
    pub(super) fn defaults(&mut self, at: &'t Expression, defaults: &'t Amendment) -> Outcome {
        let target = self.nested(&defaults.target)?;
        let type_name = match &target.datum {
            Datum::Type(kind) => match kind.as_ref() {
                Type::Resource(Some(name), None) => Some(capitalised(name)),
                Type::Class(None) => {
                    let message = "classes have no defaults for all of them";
                    let trouble = Diagnostic::error(RESOURCE_TYPE, message);
                    return Err(failed(trouble.at(defaults.target.span).help(
                        "set the parameters of each class where it is declared, or in the data",
                    )));
                }
                _ => None,
            },
            _ => None,
        };
        let Some(type_name) = type_name else {
            let message = "expected a type of resources";
            return fail(RESOURCE_TYPE, message, defaults.target.span);
        };
        let attributes = self.attributes(&defaults.attributes, Said::Default)?;
        self.has_defaults = true;
        let known = self.scopes[self.scope.index()]
            .defaults
            .entry(type_name.clone())
            .or_default();
        for attribute in attributes {
            if let Some(first) = known.iter().find(|known| known.name == attribute.name) {
                let message = format!("`{}` has a default for {type_name} already", attribute.name);
                let trouble = Diagnostic::error(DUPLICATE_ATTRIBUTE, message).at(attribute.span);
                return Err(failed(trouble.label(first.span, "set here first")));
            }
            known.push(attribute);
        }
        Ok(Value::new(target.datum, Origin::written(at.span.start)))
    }

    /// `File['a'] { … }`: changes a resource of a class that this one inherits, or adds to it.
    pub(super) fn override_resources(
        &mut self,
        at: &'t Expression,
        amendment: &'t Amendment,
    ) -> Outcome {
        let target = self.nested(&amendment.target)?;
        let attributes = self.attributes(&amendment.attributes, Said::Override)?;
        let mut references = Vec::new();
        flatten(&target, &mut references);
        for reference in &references {
            let named = match &reference.datum {
                Datum::Type(kind) => match kind.as_ref() {
                    Type::Resource(Some(name), Some(title)) if name != "class" => {
                        Some((name.clone(), title.clone()))
                    }
                    _ => None,
                },
                _ => None,
            };
            let Some((type_name, title)) = named else {
                let message = "only resources can be overridden";
                return fail(RESOURCE_TYPE, message, amendment.target.span);
            };
            for attribute in &attributes {
                self.check_tag(attribute)?;
            }
            self.amendments.push(Amended {
                type_name: type_name.clone(),
                title: title.clone(),
                target: reference.clone(),
                attributes: attributes
                    .iter()
                    .map(|attribute| (attribute.name.clone(), attribute.value.clone()))
                    .collect(),
                control: self.control,
            });
            self.overridden(&type_name, &title, attributes.clone(), at.span)?;
        }
        Ok(target)
    }

    /// Overrides a resource now, or when it is declared.
    pub(super) fn overridden(
        &mut self,
        type_name: &EcoString,
        title: &EcoString,
        attributes: Vec<Attribute>,
        span: Span,
    ) -> Outcome<()> {
        match self.find_resource(type_name, title) {
            Some(id) => self.merge(id, attributes, span),
            None => {
                self.overrides
                    .push((type_name.clone(), title.clone(), attributes, span));
                Ok(())
            }
        }
    }

    /// Overrides whose resources were declared after them.
    pub(crate) fn late_overrides(&mut self) -> Outcome<()> {
        for (type_name, title, attributes, span) in std::mem::take(&mut self.overrides) {
            let Some(id) = self.find_resource(&type_name, &title) else {
                let reference = format!("{}[{title}]", capitalised(&type_name));
                let message = format!("there is no resource {reference} to override");
                return fail(NO_SUCH_RESOURCE, message, span);
            };
            self.merge(id, attributes, span)?;
        }
        Ok(())
    }

    pub(super) fn merge(
        &mut self,
        id: ResourceId,
        attributes: Vec<Attribute>,
        span: Span,
    ) -> Outcome<()> {
        let source = match attributes.first() {
            Some(first) => self.source_of(first).clone(),
            None => return Ok(()),
        };
        let resource = &self.resources[id.index()];
        if resource.source != source && !self.is_child(&source, &resource.source) {
            let reference = resource.reference();
            let message = format!(
                "only the class that declares {reference}, and classes that inherit it, can override it"
            );
            let mut trouble = Diagnostic::error(OVERRIDE, message).at(span);
            if let Some(declared) = resource.span {
                trouble = trouble.label(declared, "declared here");
            }
            return Err(self.with_chain(trouble));
        }
        if resource.evaluated && self.options.strict {
            let message = format!("{} was evaluated already", resource.reference());
            return fail(OVERRIDE, message, span);
        }
        for attribute in attributes {
            self.override_attribute(id, attribute)?;
        }
        Ok(())
    }

    fn override_attribute(&mut self, id: ResourceId, mut attribute: Attribute) -> Outcome<()> {
        let resource = &self.resources[id.index()];
        let Some(current) = resource.attribute(&attribute.name) else {
            self.resources[id.index()].set(attribute);
            return Ok(());
        };
        let (scope, type_name) = (resource.scope, &resource.type_name);
        if self.is_default(scope, type_name, &attribute.name, &attribute.value.datum) {
            return Ok(());
        }
        let (source, first_source) = (self.source_of(&attribute), self.source_of(current));
        let was_default = source == first_source
            && self.is_default(scope, type_name, &attribute.name, &current.value.datum);
        if !was_default && !self.is_child(source, first_source) {
            let message = format!(
                "the attribute `{}` of {} is set already",
                attribute.name,
                resource.reference()
            );
            let trouble = Diagnostic::error(OVERRIDE, message).at(attribute.span);
            let trouble = trouble.label(current.span, "set here first");
            let help = "a class that inherits the one that set it can override it";
            return Err(self.with_chain(trouble.help(help)));
        }
        if attribute.adds {
            let mut values = Vec::new();
            flatten(&current.value, &mut values);
            flatten(&attribute.value, &mut values);
            let added_to = [current.value.clone(), attribute.value];
            let origin = self.trace.made(Making::Addition, added_to);
            attribute.value = Value::new(Array::from(values), origin);
        }
        self.resources[id.index()].set(attribute);
        Ok(())
    }

    /// The class or defined type that said something about an attribute.
    fn source_of(&self, attribute: &Attribute) -> &EcoString {
        &self.scopes[attribute.scope.index()].source
    }

    /// Whether a class inherits another, directly or not, or has a collector that overrides.
    fn is_child(&self, class: &EcoString, ancestor: &str) -> bool {
        if self.overriding.contains(class) {
            return true;
        }
        let mut next = class.clone();
        while let Some(known) = self.known.get(&next)
            && let syntax::DefinitionKind::Class {
                parent: Some((parent, _)),
            } = &known.definition.kind
        {
            if parent == ancestor || self.overriding.contains(parent) {
                return true;
            }
            next = parent.clone();
        }
        false
    }

    /// Looks at the attributes of all resources once more, when nothing will be said about them any longer.
    pub(crate) fn settle_attributes(&mut self) -> Outcome<()> {
        for resource in &mut self.resources {
            reveal_sensitive(resource);
            settle_name(resource, &mut self.trace);
            flatten_references(resource, &mut self.trace);
            check_attributes(resource)?;
        }
        Ok(())
    }
}

/// Puts the name of a resource before all else, as the real compiler does. Where nothing is said about it, it is what
/// the title stands for, and told if that is something else: the path of a title that ends in slashes, the text of a
/// number.
fn settle_name(resource: &mut Resource<'_>, trace: &mut Trace<'_>) {
    let Some(named_by) = resource.named_by() else {
        return;
    };
    // For every type `name` means the attribute that names it.
    if named_by != "name"
        && let Some(at) = resource.attributes.iter().position(|it| it.name == "name")
    {
        let mut attribute = resource.attributes.remove(at);
        attribute.name = named_by.into();
        if !attribute.value.is_undef() {
            resource.set(attribute);
        }
    }
    let named = |attribute: &Attribute| attribute.name == named_by;
    if let Some(at) = resource.attributes.iter().position(named)
        && !resource.attributes[at].value.is_undef()
    {
        return resource.attributes[..=at].rotate_right(1);
    }
    let title = resource.title_value();
    let name = match resource.kind {
        ResourceKind::BuiltIn(kind) => kind.name_of(&resource.title),
        _ => &resource.title,
    };
    let Some(span) = resource.span.filter(|_| !resource.is_class()) else {
        return;
    };
    if matches!(&title.datum, Datum::Text(title) if title == name) {
        return;
    }
    let attribute = Attribute {
        name: named_by.into(),
        value: Value::new(name, trace.made(Making::Path, [title])),
        span,
        how: Said::Declared,
        scope: resource.scope,
        control: resource.control,
        adds: false,
    };
    resource.attributes.retain(|attribute| !named(attribute));
    resource.attributes.insert(0, attribute);
}

/// Values that are sensitive are plain in the catalog, and named as what they are.
fn reveal_sensitive(resource: &mut Resource<'_>) {
    let mut sensitive = Vec::new();
    for attribute in &mut resource.attributes {
        if let Datum::Sensitive(inner) = &attribute.value.datum {
            sensitive.push(attribute.name.clone());
            attribute.value.datum = inner.datum.clone();
        }
    }
    if !sensitive.is_empty() {
        resource.rare_mut().sensitive = sensitive;
    }
}

/// Arrays with references in them are flat in the catalog, and what connects resources has no holes.
fn flatten_references(resource: &mut Resource<'_>, trace: &mut Trace<'_>) {
    for attribute in &mut resource.attributes {
        let Datum::Array(array) = &attribute.value.datum else {
            continue;
        };
        let relates = resource_types::is_relationship(&attribute.name);
        let is_plain = |value: &Value| match &value.datum {
            Datum::Array(_) => false,
            Datum::Undef => !relates,
            _ => true,
        };
        if array.iter().all(is_plain) {
            continue;
        }
        let mut flat = Vec::new();
        flatten(&attribute.value, &mut flat);
        if !relates && !flat.iter().any(|value| is_reference(&value.datum)) {
            continue;
        }
        flat.retain(|value| !relates || !value.is_undef());
        // Where an element stands depends on all that stands before it.
        let origin = trace.made(Making::Flattening, [attribute.value.clone()]);
        attribute.value = Value::new(Array::from(flat), origin);
    }
}

fn is_reference(datum: &Datum) -> bool {
    let Datum::Type(kind) = datum else {
        return false;
    };
    matches!(**kind, Type::Resource(_, Some(_)) | Type::Class(Some(_)))
}

/// What is wrong with the attributes of a resource of a built-in type.
fn check_attributes(resource: &Resource<'_>) -> Outcome<()> {
    let ResourceKind::BuiltIn(kind) = resource.kind else {
        return Ok(());
    };
    for attribute in &resource.attributes {
        let name = attribute.name.as_str();
        if kind.has(name) || resource_types::is_metaparameter(name) || name == "name" {
            continue;
        }
        let message = format!("{} has no attribute `{name}`", resource.type_name);
        let mut trouble = Diagnostic::error(UNKNOWN_PARAMETER, message).at(attribute.span);
        let known = kind.attributes().chain(resource_types::metaparameters());
        if let Some(near) = similar(name, known).first() {
            trouble = trouble.help(format!("did you mean `{near}`?"));
        }
        return Err(failed(trouble));
    }
    Ok(())
}

/// Further names by which references may call a resource: aliases, and what its name is if not the title. A class has
/// none, even if it is given an alias.
fn names_of(resource: &Resource<'_>) -> Vec<EcoString> {
    let mut names = Vec::new();
    if resource.is_class() {
        return names;
    }
    if let Some(alias) = resource.attribute("alias") {
        let mut aliases = Vec::new();
        flatten(&alias.value, &mut aliases);
        names.extend(aliases.iter().map(|alias| crate::text::text(&alias.datum)));
    }
    let ResourceKind::BuiltIn(kind) = resource.kind else {
        return names;
    };
    if let Some(name) = kind.unique_name() {
        let given = resource.attribute(name).map(|given| &given.value.datum);
        match given {
            Some(Datum::Text(name)) => names.push(name.clone()),
            _ => names.push(kind.name_of(&resource.title).into()),
        }
    }
    names.retain(|name| *name != resource.title);
    names
}

/// The attributes that name a resource together; the title is the first of them if that is not given.
fn names_together(resource: &Resource<'_>) -> Option<Vec<Option<EcoString>>> {
    let ResourceKind::BuiltIn(kind) = resource.kind else {
        return None;
    };
    let given = |name: &String| {
        let attribute = resource.attribute(name)?;
        (!attribute.value.is_undef()).then(|| crate::text::text(&attribute.value.datum))
    };
    let mut names: Vec<_> = kind.names_together()?.iter().map(given).collect();
    if let Some(first @ None) = names.first_mut() {
        *first = Some(resource.title.clone());
    }
    Some(names)
}

/// Why a resource is called by a name that is not its title.
fn called(resource: &Resource<'_>, name: &str) -> Option<(Span, String)> {
    if resource.title == name {
        return None;
    }
    let reference = resource.reference();
    let ResourceKind::BuiltIn(kind) = resource.kind else {
        let alias = resource.attribute("alias")?;
        return Some((alias.span, format!("`{reference}` has the alias `{name}`")));
    };
    let names = kind.names_together().and_then(<[String]>::first);
    let by = kind.unique_name().or(names.map(String::as_str));
    let is_called = |attribute: &Attribute| crate::text::text(&attribute.value.datum) == name;
    let given = by.and_then(|by| resource.attribute(by));
    if let (Some(by), Some(given)) = (by, given.filter(|given| is_called(given))) {
        return Some((given.span, format!("`{reference}` has the {by} `{name}`")));
    }
    match resource.attribute("alias") {
        Some(alias) => Some((alias.span, format!("`{reference}` has the alias `{name}`"))),
        None => Some((
            resource.span?,
            format!("`{reference}` has the {} `{name}`", by?),
        )),
    }
}

/// A value, or all that are in it, if it is an array.
pub(crate) fn flatten(value: &Value, into: &mut Vec<Value>) {
    match &value.datum {
        Datum::Array(array) => array.iter().for_each(|value| flatten(value, into)),
        _ => into.push(value.clone()),
    }
}

/// The attributes of a body over those of the `default:` body.
fn with_defaults(defaults: &[Attribute], attributes: Vec<Attribute>) -> Vec<Attribute> {
    if defaults.is_empty() {
        return attributes;
    }
    let mut all: Vec<Attribute> = Vec::with_capacity(defaults.len() + attributes.len());
    all.extend(defaults.iter().cloned().map(|default| Attribute {
        how: Said::BodyDefault,
        ..default
    }));
    for attribute in attributes {
        match all
            .iter_mut()
            .find(|default| default.name == attribute.name)
        {
            Some(place) => *place = attribute,
            None => all.push(attribute),
        }
    }
    all
}
