//! Collectors: `User <| group == 'x' |>` realises virtual resources, and may set attributes of all it finds.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use rustc_hash::FxHashSet;

use super::declarations::flatten;
use super::{Evaluator, Outcome, fail, failed, unwrapped};
use crate::compare;
use crate::parser::QUERY;
use crate::resource::{Attribute, Said, Tags, capitalised};
use crate::scope::ScopeId;
use crate::syntax::{self, Expression, Kind, Query};
use crate::trace::{ControlId, ResourceId};
use crate::types::Type;
use crate::value::{Datum, Value};

/// Something that cannot be collected.
pub const COLLECTOR: Code = Code::new("puppet.collector");
/// A virtual resource that is to be realised does not exist.
pub const NOT_REALISED: Code = Code::new("puppet.not-realised");
/// Evaluation does not come to an end.
pub const ENDLESS: Code = Code::new("puppet.endless-definition");

/// Rounds of collectors and defined types, as the real compiler counts them.
const ROUNDS: usize = 1_000;

/// A collector at work.
#[derive(Debug)]
pub(crate) struct Collector {
    kind: CollectorKind,
    scope: ScopeId,
    pub(crate) control: ControlId,
    span: Span,
    /// What it has found so far, in order.
    pub(super) collected: Vec<ResourceId>,
    pub(crate) known: FxHashSet<ResourceId>,
    /// What stands before it in a chain of arrows, if it finds nothing.
    pub(crate) instead: Vec<super::relationships::Side>,
}

#[derive(Debug)]
enum CollectorKind {
    /// `File <| … |>`
    Query {
        type_name: EcoString,
        query: Option<Test>,
        overrides: Vec<Attribute>,
        /// Resources of other nodes, which there are none of.
        exported: bool,
    },
    /// `realize(File['a'])`: what is still to be found, and all that was named.
    Fixed(Vec<(EcoString, EcoString)>, Vec<Value>),
}

/// A query whose values are known.
#[derive(Debug)]
enum Test {
    Compare {
        attribute: EcoString,
        differs: bool,
        value: Value,
    },
    And(Box<[Test; 2]>),
    Or(Box<[Test; 2]>),
}

/// What a collector is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) type_name: EcoString,
    pub(crate) values: Vec<Value>,
    pub(crate) looked_at: Vec<EcoString>,
    pub(crate) sets: Vec<EcoString>,
}

/// A collector, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CollectorId(usize);

impl CollectorId {
    /// A small number, for tables indexed by collector.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

impl<'t> Evaluator<'t> {
    /// `File <| … |> { … }`
    pub(super) fn collector(
        &mut self,
        at: &'t Expression,
        written: &'t syntax::Collector,
    ) -> Outcome {
        self.new_collector(at, written)?;
        Ok(self.written(Datum::Undef, at.span))
    }

    pub(super) fn new_collector(
        &mut self,
        at: &'t Expression,
        written: &'t syntax::Collector,
    ) -> Outcome<CollectorId> {
        let Kind::Reference(name) = &written.kind.kind else {
            return fail(COLLECTOR, "expected a type of resources", written.kind.span);
        };
        if name == "class" {
            return fail(COLLECTOR, "classes cannot be collected", written.kind.span);
        }
        if !self.is_resource_type(name)? {
            let message = format!("there is no type of resources `{name}`");
            let code = super::declarations::UNKNOWN_RESOURCE_TYPE;
            let trouble = Diagnostic::error(code, message).at(written.kind.span);
            return Err(failed(self.suggest_type(trouble, name)));
        }
        let overrides = self.attributes(&written.attributes, Said::Collector)?;
        let query = match &written.query {
            Some(query) => Some(self.query(query)?),
            None => None,
        };
        let kind = CollectorKind::Query {
            type_name: capitalised(name),
            query,
            overrides,
            exported: written.exported,
        };
        Ok(self.add_collector(kind, at.span))
    }

    /// `realize(User['a'])`
    pub(crate) fn realise(&mut self, references: &[Value], span: Span) -> Outcome<()> {
        let mut wanted = Vec::with_capacity(references.len());
        for reference in references {
            let named = match &reference.datum {
                Datum::Type(kind) => match kind.as_ref() {
                    Type::Resource(Some(name), Some(title)) => Some((name.clone(), title.clone())),
                    Type::Class(Some(name)) => Some(("class".into(), name.clone())),
                    _ => None,
                },
                _ => None,
            };
            match named {
                Some(named) => wanted.push(named),
                None => {
                    let message = "only references to resources can be realised";
                    return fail(COLLECTOR, message, span);
                }
            }
        }
        self.add_collector(CollectorKind::Fixed(wanted, references.to_vec()), span);
        Ok(())
    }

    fn add_collector(&mut self, kind: CollectorKind, span: Span) -> CollectorId {
        self.collectors.push(Collector {
            kind,
            scope: self.scope,
            control: self.control,
            span,
            collected: Vec::new(),
            known: FxHashSet::default(),
            instead: Vec::new(),
        });
        CollectorId(self.collectors.len() - 1)
    }

    /// The type that a collector takes, what its query compares with, the attributes that the query looks at,
    /// and those that it sets.
    pub(crate) fn collector_parts(&self, collector: &Collector) -> Option<Parts> {
        let CollectorKind::Query {
            type_name,
            query,
            overrides,
            ..
        } = &collector.kind
        else {
            return None;
        };
        let mut parts = Parts {
            type_name: type_name.clone(),
            values: Vec::new(),
            looked_at: Vec::new(),
            sets: overrides
                .iter()
                .map(|attribute| attribute.name.clone())
                .collect(),
        };
        let mut pending: Vec<&Test> = query.iter().collect();
        while let Some(test) = pending.pop() {
            match test {
                Test::Compare {
                    attribute, value, ..
                } => {
                    parts.looked_at.push(attribute.clone());
                    parts.values.push(value.clone());
                }
                Test::And(both) | Test::Or(both) => pending.extend(both.iter()),
            }
        }
        Some(parts)
    }

    /// The references that `realize` was given.
    pub(crate) fn realised_by(&self, collector: &Collector) -> Vec<Value> {
        match &collector.kind {
            CollectorKind::Fixed(_, named) => named.clone(),
            CollectorKind::Query { .. } => Vec::new(),
        }
    }

    fn query(&mut self, query: &'t Query) -> Outcome<Test> {
        Ok(match query {
            Query::Test {
                attribute,
                differs,
                value,
                ..
            } => {
                check_asked(value)?;
                Test::Compare {
                    attribute: attribute.clone(),
                    differs: *differs,
                    value: self.nested(value)?,
                }
            }
            Query::And(both) => Test::And(Box::new([self.query(&both[0])?, self.query(&both[1])?])),
            Query::Or(both) => Test::Or(Box::new([self.query(&both[0])?, self.query(&both[1])?])),
        })
    }

    /// Runs collectors and the bodies of defined types, until nothing new comes of it.
    pub(crate) fn generate(&mut self) -> Outcome<()> {
        for _ in 0..=ROUNDS {
            let collected = self.collect()?;
            let defined = self.evaluate_defined()?;
            if !collected && !defined {
                return Ok(());
            }
        }
        let last = self.resources.last();
        let message = format!("defined types declare each other more than {ROUNDS} levels deep");
        let mut trouble = Diagnostic::error(ENDLESS, message);
        if let Some(last) = last
            && let Some(span) = last.span
        {
            trouble = trouble.at(span);
            for (span, words) in self.chain(last.control).into_iter().take(4) {
                if !trouble.labels.iter().any(|label| label.span == span) {
                    trouble = trouble.label(span, words);
                }
            }
        }
        Err(failed(trouble.help("does a defined type declare itself?")))
    }

    fn collect(&mut self) -> Outcome<bool> {
        let mut found_any = false;
        for number in 0..self.collectors.len() {
            found_any |= self.collect_one(number)?;
        }
        Ok(found_any)
    }

    fn collect_one(&mut self, number: usize) -> Outcome<bool> {
        let found = self.found_by(number);
        let Collector { control, span, .. } = self.collectors[number];
        let mut new = Vec::new();
        for id in found {
            let resource = &mut self.resources[id.index()];
            if resource.is_virtual {
                resource.rare_mut().realised.push((control, span));
            }
            resource.is_virtual = false;
            if self.collectors[number].known.insert(id) {
                new.push(id);
            }
        }
        let is_new = !new.is_empty();
        self.collectors[number].collected.extend(&new);
        for id in new {
            self.override_collected(number, id)?;
        }
        Ok(is_new)
    }

    fn found_by(&mut self, number: usize) -> Vec<ResourceId> {
        match &self.collectors[number].kind {
            CollectorKind::Query { exported: true, .. } => Vec::new(),
            CollectorKind::Query {
                type_name, query, ..
            } => {
                let candidates = self.resources_of(type_name);
                let fits = |id: &&ResourceId| {
                    query
                        .as_ref()
                        .is_none_or(|query| self.fits_query(query, **id))
                };
                candidates.iter().filter(fits).copied().collect()
            }
            CollectorKind::Fixed(wanted, named) => {
                let named = named.clone();
                let mut found = Vec::new();
                let mut missing = Vec::new();
                for one in wanted {
                    match self.find_resource(&one.0, &one.1) {
                        Some(id) => found.push(id),
                        None => missing.push(one.clone()),
                    }
                }
                self.collectors[number].kind = CollectorKind::Fixed(missing, named);
                found
            }
        }
    }

    /// All resources of a type.
    pub(crate) fn resources_of(&self, type_name: &str) -> &[ResourceId] {
        let known = self.table.get(&self.folded(type_name));
        known.map_or(&[][..], |known| known.all.as_slice())
    }

    fn fits_query(&self, query: &Test, id: ResourceId) -> bool {
        match query {
            Test::And(both) => both.iter().all(|query| self.fits_query(query, id)),
            Test::Or(both) => both.iter().any(|query| self.fits_query(query, id)),
            Test::Compare {
                attribute,
                differs,
                value,
            } if attribute == "tag" && !differs => {
                let mut tags = Vec::new();
                flatten(value, &mut tags);
                let tags = tags
                    .iter()
                    .map(|tag| crate::text::text(&tag.datum).to_lowercase());
                let tags: Vec<EcoString> = tags.collect();
                self.is_tagged(id, &tags)
            }
            Test::Compare {
                attribute,
                differs,
                value,
            } => {
                let resource = &self.resources[id.index()];
                let title = resource.title_value().datum;
                let known = resource
                    .attribute(attribute)
                    .map(|attribute| &attribute.value.datum);
                let datum = match attribute == "title" {
                    true => &title,
                    false => known.unwrap_or(&Datum::Undef),
                };
                let same = match datum {
                    Datum::Array(_) if !differs => compare::included(&value.datum, datum),
                    _ => compare::equal(datum, &value.datum),
                };
                same != *differs
            }
        }
    }

    /// Whether a resource, or what contains it, has one of some tags.
    pub(crate) fn is_tagged(&self, id: ResourceId, tags: &[EcoString]) -> bool {
        self.with_containers(id).any(|id| {
            let own = self.resources[id.index()].own_tags();
            tags.iter().any(|tag| own.has(tag))
        })
    }

    /// What contains a resource. Nothing contains the main stage, nor the main class.
    fn container_of(&self, id: ResourceId) -> Option<ResourceId> {
        let resource = &self.resources[id.index()];
        if resource.is_stage() && resource.span.is_none() {
            return None;
        }
        let scope = self.scopes.get(resource.scope.index());
        let container = scope.map(|scope| scope.resource);
        container.filter(|container| *container != id)
    }

    /// The tags of a resource and of all that contains it.
    pub(crate) fn tags(&self, id: ResourceId) -> Tags {
        let mut tags = Tags::default();
        for id in self.with_containers(id) {
            tags.merge(&self.resources[id.index()].own_tags());
        }
        tags
    }

    /// A resource and all that contains it.
    pub(crate) fn with_containers(
        &self,
        id: ResourceId,
    ) -> impl Iterator<Item = ResourceId> + use<'_, 't> {
        std::iter::successors(Some(id), |id| self.container_of(*id))
    }

    fn override_collected(&mut self, number: usize, id: ResourceId) -> Outcome<()> {
        let Collector {
            kind, scope, span, ..
        } = &self.collectors[number];
        let (scope, span) = (*scope, *span);
        let CollectorKind::Query { overrides, .. } = kind else {
            return Ok(());
        };
        if overrides.is_empty() {
            return Ok(());
        }
        let mut attributes = overrides.clone();
        let source = self.scopes[scope.index()].source.clone();
        let resource = &self.resources[id.index()];
        // What is a default around the collector comes along, as in the real compiler.
        for default in self.defaults_of(&resource.type_name, scope) {
            if !attributes
                .iter()
                .any(|attribute| attribute.name == default.name)
            {
                attributes.push(default);
            }
        }
        self.overriding.insert(source);
        self.merge(id, attributes, span)
    }

    /// Runs the bodies of defined types that were declared since.
    fn evaluate_defined(&mut self) -> Outcome<bool> {
        let end = self.resources.len();
        let mut waiting = Vec::new();
        let from = std::mem::replace(&mut self.evaluated, end);
        let earlier = std::mem::take(&mut self.virtual_defined);
        let new = (from..end).map(ResourceId::from_index);
        for id in earlier.into_iter().chain(new) {
            let resource = &self.resources[id.index()];
            if resource.evaluated
                || !matches!(resource.kind, crate::resource::ResourceKind::Defined(_))
            {
                continue;
            }
            match resource.is_virtual {
                true => self.virtual_defined.push(id),
                false => waiting.push(id),
            }
        }
        for id in &waiting {
            self.evaluate_resource(*id)?;
        }
        Ok(!waiting.is_empty())
    }

    /// Whether everything that was to be realised exists.
    pub(crate) fn check_collectors(&self) -> Outcome<()> {
        for collector in &self.collectors {
            if let CollectorKind::Fixed(missing, _) = &collector.kind
                && let Some((type_name, title)) = missing.first()
            {
                let reference = format!("{}[{title}]", capitalised(type_name));
                let message = format!("there is no resource {reference} to realise");
                return fail(NOT_REALISED, message, collector.span);
            }
        }
        Ok(())
    }
}

/// The real compiler looks at nothing else in a query.
fn check_asked(value: &Expression) -> Outcome<()> {
    let help = match &unwrapped(value).kind {
        Kind::Undef
        | Kind::Bool(_)
        | Kind::Integer(_)
        | Kind::Float(_)
        | Kind::Text(_)
        | Kind::Name(_)
        | Kind::Interpolated(_)
        | Kind::Variable(_)
        | Kind::Access(..) => return Ok(()),
        Kind::Pattern(_) => "give the resources a tag, and ask for `tag == '…'`",
        _ => "assign it to a variable before, and compare with that",
    };
    let message = "a query compares with a number, a text, a variable or an element";
    let trouble = Diagnostic::error(QUERY, message).at(value.span);
    Err(failed(trouble.help(help)))
}
