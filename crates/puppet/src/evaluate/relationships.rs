//! Relationships: `a -> b` becomes `before` on what comes first, `a ~> b` becomes `notify`.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use super::access::NO_SUCH_RESOURCE;
use super::collectors::CollectorId;
use super::declarations::flatten;
use super::{Evaluator, Outcome, fail, failed};
use crate::resource::{Attribute, Said, capitalised};
use crate::resource_types;
use crate::syntax::{Arrow, Expression, Kind};
use crate::trace::{ControlId, ResourceId};
use crate::types::Type;
use crate::value::{Array, Datum, Value};

/// Something that no arrow can connect.
pub const RELATIONSHIP: Code = Code::new("puppet.relationship");

/// What stands on one side of an arrow.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    /// A resource or a class.
    Reference(Value),
    /// All that a collector finds.
    Collector(CollectorId),
}

/// An arrow between two things.
#[derive(Debug)]
pub(crate) struct Relationship<'t> {
    pub(crate) source: Side,
    pub(crate) target: Side,
    pub(crate) notifies: bool,
    at: &'t Expression,
    pub(crate) control: ControlId,
}

impl<'t> Evaluator<'t> {
    /// `a -> b`; the value is that of the side on the right, for the next arrow.
    pub(super) fn relationship(
        &mut self,
        at: &'t Expression,
        arrow: Arrow,
        sides: &'t [Expression; 2],
    ) -> Outcome {
        self.connect(at, arrow, sides)?;
        Ok(self.written(Datum::Undef, at.span))
    }

    fn connect(
        &mut self,
        at: &'t Expression,
        arrow: Arrow,
        sides: &'t [Expression; 2],
    ) -> Outcome<Vec<Side>> {
        let left = self.side(&sides[0])?;
        let right = self.side(&sides[1])?;
        let (sources, targets) = match arrow.backwards {
            true => (&right, &left),
            false => (&left, &right),
        };
        for source in sources {
            for target in targets {
                self.relationships.push(Relationship {
                    source: source.clone(),
                    target: target.clone(),
                    notifies: arrow.notifies,
                    at,
                    control: self.control,
                });
            }
        }
        if right.is_empty() {
            return Ok(left);
        }
        if let [Side::Collector(collector)] = right[..] {
            self.collectors[collector.index()].instead = left;
        }
        Ok(right)
    }

    fn side(&mut self, at: &'t Expression) -> Outcome<Vec<Side>> {
        match &at.kind {
            Kind::Collector(collector) => {
                Ok(vec![Side::Collector(self.new_collector(at, collector)?)])
            }
            Kind::Relationship(arrow, sides) => {
                self.deeper(at.span, |evaluator| evaluator.connect(at, *arrow, sides))
            }
            Kind::Parenthesised(inner) => self.side(inner),
            _ => {
                let value = self.nested(at)?;
                let mut flat = Vec::new();
                flatten(&value, &mut flat);
                let mut sides: Vec<Side> = Vec::new();
                for value in flat {
                    let value = self.catalog_entry(value, at.span)?;
                    let same = |side: &Side| matches!(side, Side::Reference(other) if other.datum == value.datum);
                    if !sides.iter().any(same) {
                        sides.push(Side::Reference(value));
                    }
                }
                Ok(sides)
            }
        }
    }

    /// A reference to a resource or class; text may be one too.
    fn catalog_entry(&mut self, value: Value, span: Span) -> Outcome {
        let datum = match &value.datum {
            Datum::Type(kind)
                if matches!(
                    **kind,
                    Type::Resource(Some(_), Some(_)) | Type::Class(Some(_))
                ) =>
            {
                return Ok(value);
            }
            Datum::Text(text) => read_reference(text),
            _ => None,
        };
        match datum {
            Some(kind) => Ok(Value::new(kind, value.origin)),
            None => {
                let message = format!(
                    "expected a resource, found {}",
                    Type::of(&value.datum).generalise()
                );
                fail(RELATIONSHIP, message, span)
            }
        }
    }

    /// Arrows become attributes, when all resources are known.
    pub(crate) fn relate(&mut self) -> Outcome<()> {
        // They are kept: whoever asks why wants to know them.
        let relationships = std::mem::take(&mut self.relationships);
        for relationship in &relationships {
            let sources = self.sources_of(relationship);
            let targets = match &relationship.target {
                Side::Collector(collector) => self.collected(*collector, relationship.at),
                Side::Reference(value) => vec![value.clone()],
            };
            for source in &sources {
                for target in &targets {
                    self.relate_one(relationship, source, target)?;
                }
            }
        }
        self.relationships = relationships;
        Ok(())
    }

    /// A collector that finds nothing passes an arrow on to what stands before it.
    fn sources_of(&mut self, relationship: &Relationship<'t>) -> Vec<Value> {
        let mut pending = vec![relationship.source.clone()];
        let mut sources = Vec::new();
        let mut steps = 0;
        while let Some(side) = pending.pop() {
            steps += 1;
            match side {
                Side::Reference(value) => sources.push(value),
                Side::Collector(collector) => {
                    let collected = self.collected(collector, relationship.at);
                    if collected.is_empty() && steps <= self.collectors.len() {
                        let instead = self.collectors[collector.index()].instead.clone();
                        pending.extend(instead.into_iter().rev());
                    }
                    sources.extend(collected);
                }
            }
        }
        sources
    }

    fn collected(&mut self, collector: CollectorId, at: &'t Expression) -> Vec<Value> {
        let collected = self.collectors[collector.index()].collected.clone();
        let collected = collected.into_iter();
        collected.map(|id| self.reference_at(id, at)).collect()
    }

    fn relate_one(
        &mut self,
        relationship: &Relationship<'t>,
        source: &Value,
        target: &Value,
    ) -> Outcome<()> {
        let span = relationship.at.span;
        let source_id = self.referred(source, span)?;
        self.referred(target, span)?;
        let name = if relationship.notifies {
            "notify"
        } else {
            "before"
        };
        let resource = &self.resources[source_id.index()];
        let current = resource.attribute(name);
        let mut values = match current.map(|attribute| &attribute.value) {
            Some(value) => match &value.datum {
                Datum::Array(array) => array.as_slice().to_vec(),
                Datum::Undef => Vec::new(),
                _ => vec![value.clone()],
            },
            None => Vec::new(),
        };
        values.push(target.clone());
        let origin = self.trace.operation(relationship.at, values.clone());
        let scope = resource.scope;
        self.resources[source_id.index()].set(Attribute {
            name: name.into(),
            value: Value::new(Array::from(values), origin),
            span,
            how: Said::Relationship,
            scope,
            control: relationship.control,
            adds: true,
        });
        Ok(())
    }

    /// The resource that a reference means; it must be in the catalog.
    pub(crate) fn referred(&self, value: &Value, span: Span) -> Outcome<ResourceId> {
        match &value.datum {
            Datum::Type(kind) => self.referred_by(kind, span),
            _ => fail(RELATIONSHIP, "expected a resource", span),
        }
    }

    fn referred_by(&self, kind: &Type, span: Span) -> Outcome<ResourceId> {
        let (type_name, title) = match kind {
            Type::Resource(Some(name), Some(title)) => (name.as_str(), title),
            Type::Class(Some(name)) => ("class", name),
            _ => return fail(RELATIONSHIP, "expected a resource", span),
        };
        match self.find_resource(type_name, title) {
            Some(id) => Ok(id),
            None => {
                let shown = match type_name == "class" {
                    true => capitalised(title),
                    false => title.clone(),
                };
                let reference = format!("{}[{shown}]", capitalised(type_name));
                let message = format!("there is no resource {reference}");
                Err(failed(
                    Diagnostic::error(NO_SUCH_RESOURCE, message).at(span),
                ))
            }
        }
    }

    /// Whether the targets of `before`, `require`, `notify` and `subscribe` exist.
    pub(crate) fn check_relationships(&self) -> Outcome<()> {
        for resource in &self.resources {
            if resource.is_virtual {
                continue;
            }
            for attribute in resource.metaparameters() {
                if !resource_types::is_relationship(&attribute.name) {
                    continue;
                }
                let mut targets = Vec::new();
                flatten(&attribute.value, &mut targets);
                for target in targets.iter().filter(|target| !target.is_undef()) {
                    self.check_target(target, attribute)?;
                }
            }
        }
        Ok(())
    }

    fn check_target(&self, target: &Value, attribute: &Attribute) -> Outcome<()> {
        let read;
        let kind = match &target.datum {
            Datum::Text(text) => {
                read = read_reference(text);
                read.as_ref()
            }
            Datum::Type(kind) => Some(kind.as_ref()),
            _ => None,
        };
        let Some(kind) = kind else {
            let message = format!(
                "`{}` takes references to resources, and this is {}",
                attribute.name,
                Type::of(&target.datum).generalise()
            );
            return fail(RELATIONSHIP, message, attribute.span);
        };
        self.referred_by(kind, attribute.span).map(|_| ())
    }
}

/// Reads `File[/etc/motd]`.
pub(crate) fn read_reference(text: &str) -> Option<Type> {
    let (name, rest) = text.split_once('[')?;
    let title = rest.strip_suffix(']')?;
    let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
    if !name.split("::").all(is_name) {
        return None;
    }
    let title = title.trim_matches(['\'', '"']);
    match name {
        "Class" => Some(Type::Class(Some(title.to_lowercase().into()))),
        _ => Some(Type::Resource(
            Some(name.to_lowercase().into()),
            Some(title.into()),
        )),
    }
}
