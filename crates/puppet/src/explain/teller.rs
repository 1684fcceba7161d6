//! An answer in words and values.

use std::borrow::Cow;
use std::cell::Cell;

use hence_model::explanation::{BESIDES, Expression, Lost, Rule, SECRET, Shown, Step, StepKind};
use hence_model::source::Span;
use hence_model::value::{self, Builder};
use rustc_hash::FxHashSet;

use super::Subject;
use crate::catalog::{Reader, send_value, shown_title};
use crate::compile::Compiled;
use crate::evaluate::Evaluator;
use crate::literals::Literals;
use crate::resource::{Attribute, Resource, ResourceKind, Said};
use crate::syntax::{self, Kind};
use crate::trace::{Cause, ControlId, How, Making, Node, Origin, Source};
use crate::value::{Datum, Value};

/// The operator of an array: its operands are the elements.
const ELEMENTS: &str = "[ ]";
/// The operator of a hash: its operands are keys and values, by turns.
const ENTRIES: &str = "{ }";
/// So deep is an expression told.
const DEEPEST: usize = 60;
/// Of so many expressions: what a value is computed from may be in it many times.
const MOST_EXPRESSIONS: usize = 10_000;
/// So many steps are told of what a value was computed from.
const MOST_STEPS: usize = 100;

/// Puts an answer into words and values.
pub(super) struct Teller<'a, 't> {
    evaluator: &'a Evaluator<'t>,
    compiled: &'a Compiled<'t>,
    literals: &'a Literals,
    /// How many expressions were told.
    told: Cell<usize>,
    /// How many bytes may still be shown of what a value is computed from.
    left: Cell<u64>,
}

impl<'a, 't> Teller<'a, 't> {
    pub(super) fn new(compiled: &'a Compiled<'t>, literals: &'a Literals) -> Self {
        Self {
            evaluator: &compiled.evaluator,
            compiled,
            literals,
            told: Cell::new(0),
            left: Cell::new(BESIDES),
        }
    }

    fn resource(&self, subject: &Subject) -> &Resource<'t> {
        &self.evaluator.resources[subject.id.index()]
    }

    fn attribute(&self, subject: &Subject) -> Option<&Attribute> {
        self.resource(subject)
            .attribute(subject.attribute.as_deref()?)
    }

    /// Whether a secret is in it: it is `Sensitive`, or made from something that was.
    pub(super) fn is_secret(&self, subject: &Subject) -> bool {
        let resource = self.resource(subject);
        let attribute = subject.attribute.as_ref();
        attribute.is_some_and(|name| {
            resource.sensitive().contains(name) || self.has_secret(&subject.value)
        })
    }

    fn has_secret(&self, value: &Value) -> bool {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            match &value.datum {
                Datum::Sensitive(_) => return true,
                Datum::Array(array) => pending.extend(array.iter()),
                Datum::Hash(hash) => pending.extend(hash.iter().map(|(_, entry)| &entry.value)),
                Datum::Object(object) => {
                    let attributes = object.attributes.iter();
                    pending.extend(attributes.map(|(_, entry)| &entry.value));
                }
                _ => {}
            }
        }
        self.is_unwrapped(value)
    }

    /// Whether a value is made from what was taken out of something `Sensitive`.
    fn is_unwrapped(&self, value: &Value) -> bool {
        let trace = &self.evaluator.trace;
        let mut seen: FxHashSet<Origin> = FxHashSet::default();
        let mut pending = vec![value];
        let mut origins = Vec::new();
        loop {
            while let Some(value) = pending.pop() {
                origins.push(value.origin);
                match &value.datum {
                    Datum::Array(array) => pending.extend(array.iter()),
                    Datum::Hash(hash) => {
                        pending.extend(hash.iter().map(|(_, entry)| &entry.value));
                    }
                    Datum::Object(object) => {
                        let attributes = object.attributes.iter();
                        pending.extend(attributes.map(|(_, entry)| &entry.value));
                    }
                    _ => {}
                }
            }
            let Some(origin) = origins.pop() else {
                return false;
            };
            let Source::Node(node) = trace.source(origin) else {
                continue;
            };
            if !seen.insert(origin) {
                continue;
            }
            match node {
                Node::Variable { definition, .. } => {
                    pending.push(&trace.definition(*definition).value);
                }
                Node::Element { operands, .. } => {
                    pending.extend(trace.operands(*operands).first());
                }
                Node::Chosen {
                    value,
                    at,
                    operands,
                } => {
                    let is_secret = |value: &Value| matches!(value.datum, Datum::Sensitive(_));
                    if operator(at) == "unwrap" && trace.operands(*operands).iter().any(is_secret) {
                        return true;
                    }
                    origins.push(*value);
                }
                Node::Outcome { value, .. } | Node::Found { value, .. } => origins.push(*value),
                Node::Operation { operands, .. }
                | Node::Interpolation { operands, .. }
                | Node::Made { operands, .. } => {
                    pending.extend(trace.operands(*operands));
                }
                Node::Outside(_)
                | Node::Unknown { .. }
                | Node::Structure(_)
                | Node::Present(_)
                | Node::Attribute { .. }
                | Node::Tagged(_)
                | Node::LookUp(_)
                | Node::Absent { .. }
                | Node::Untaken { .. }
                | Node::Lacking { .. }
                | Node::Having { .. }
                | Node::Unsaid { .. } => {}
            }
        }
    }

    pub(super) fn span_of(&self, subject: &Subject) -> Span {
        let resource = self.resource(subject);
        let attribute = self.attribute(subject).map(|attribute| attribute.span);
        attribute.or(resource.span).unwrap_or(Span::at(0))
    }

    /// The value, or all attributes of a resource.
    pub(super) fn shown(&self, subject: &Subject) -> value::Value {
        let mut builder = Builder::default();
        let resource = self.resource(subject);
        match subject.attribute {
            Some(_) => send_value(&subject.value, Reader::Person, &mut builder),
            None => crate::catalog::send_attributes(resource, Reader::Person, &mut builder),
        }
        let mut shown = builder.finish().expect("a value was sent");
        if let (None, value::Value::Map(attributes)) = (&subject.attribute, &mut shown) {
            let is_secret = |attribute: &&Attribute| {
                resource.sensitive().contains(&attribute.name) || self.has_secret(&attribute.value)
            };
            for attribute in resource.attributes.iter().filter(is_secret) {
                if attributes.get(&attribute.name).is_some() {
                    let hidden = value::Value::Text(SECRET.to_owned());
                    attributes.insert(attribute.name.to_string(), hidden);
                }
            }
        }
        shown
    }

    /// The literal that a value is, if it was only copied.
    pub(super) fn place(&self, origin: Origin) -> Option<Span> {
        let handed_on_by = self.evaluator.handed_on_by(origin);
        self.span_at(handed_on_by.offset()?)
    }

    /// Where the first of the values stands that something was made from; what was added, if it was so.
    fn made_at(&self, by: Making, operands: &[Value]) -> Option<Span> {
        let value = match by {
            Making::Addition => operands.last(),
            _ => operands.first(),
        };
        let at = value?.origin.offset()?;
        Some(self.span_at(at).unwrap_or(Span::at(at)))
    }

    fn span_at(&self, at: u32) -> Option<Span> {
        self.compiled.span_at(self.literals, at)
    }

    /// How a value is computed from literals.
    pub(super) fn expression(&self, value: &Value, around: Span, depth: usize) -> Expression {
        let handed_on_by = self.evaluator.handed_on_by(value.origin);
        self.told.set(self.told.get() + 1);
        let is_enough = depth >= DEEPEST || self.told.get() >= MOST_EXPRESSIONS;
        let shown = || {
            let left = match depth {
                0 => Some(self.left.get()),
                _ => self.left.get().checked_sub(weight(&value.datum)),
            };
            let Some(left) = left else {
                return Shown::TooLarge;
            };
            self.left.set(left);
            let mut builder = Builder::default();
            send_value(value, Reader::Person, &mut builder);
            Shown::Value(builder.finish().expect("a value was sent"))
        };
        let leaf = |span: Span| Expression {
            operator: None,
            value: shown(),
            span,
            operands: Vec::new(),
        };
        if let Datum::Sensitive(_) = value.datum {
            return Expression {
                operator: None,
                value: Shown::Secret,
                span: self.place(handed_on_by).unwrap_or(around),
                operands: Vec::new(),
            };
        }
        // An array or a hash with something in it that was computed: each part as it was.
        let whole = |span: Span| {
            if !is_container(&value.datum) || !self.is_computed(value) {
                return None;
            }
            let tell = |part: &Value| self.expression(part, span, depth + 1);
            let (sign, operands) = match &value.datum {
                Datum::Array(array) => (ELEMENTS, array.iter().map(tell).collect()),
                Datum::Hash(hash) => {
                    let parts = hash.iter().flat_map(|(key, entry)| {
                        let key = Value::new(key.clone(), entry.key);
                        [tell(&key), tell(&entry.value)]
                    });
                    (ENTRIES, parts.collect())
                }
                _ => return None,
            };
            Some(Expression {
                operator: Some(sign.into()),
                value: shown(),
                span,
                operands,
            })
        };
        match self.evaluator.trace.source(handed_on_by) {
            Source::Nowhere => leaf(around),
            Source::Written(at) => {
                let span = self.span_at(at).unwrap_or(Span::at(at));
                match is_enough {
                    true => leaf(span),
                    false => whole(span).unwrap_or_else(|| leaf(span)),
                }
            }
            Source::Node(Node::Operation { at, operands }) => {
                let operator = result_of(at, &value.datum);
                if is_enough {
                    return leaf(at.span);
                }
                // Each element is what there is to tell: what the lambda made of it, or what was taken apart.
                let is_apart = matches!(at.kind, Kind::Array(_));
                if (operator == "map" || is_apart)
                    && let Some(whole) = whole(at.span)
                {
                    return whole;
                }
                let operands = self.evaluator.trace.operands(*operands).iter();
                let operands = operands
                    .filter(|operand| !self.is_evidence(operand))
                    .map(|operand| self.expression(operand, at.span, depth + 1));
                Expression {
                    operator: Some(operator),
                    value: shown(),
                    span: at.span,
                    operands: operands.collect(),
                }
            }
            Source::Node(Node::Interpolation { at, operands }) => {
                if is_enough {
                    return leaf(at.span);
                }
                let pieces = self.evaluator.trace.pieces(at, *operands);
                let pieces = pieces.iter();
                let operands = pieces.map(|piece| self.expression(piece, at.span, depth + 1));
                Expression {
                    operator: Some(operator(at)),
                    value: shown(),
                    span: at.span,
                    operands: operands.collect(),
                }
            }
            Source::Node(Node::Made { by, operands }) => {
                let operands = self.evaluator.trace.operands(*operands);
                let span = self.made_at(*by, operands).unwrap_or(around);
                if is_enough {
                    return leaf(span);
                }
                let operands = operands.iter();
                let operands = operands.map(|operand| self.expression(operand, span, depth + 1));
                Expression {
                    operator: Some(making(*by)),
                    value: shown(),
                    span,
                    operands: operands.collect(),
                }
            }
            Source::Node(
                // Of what hands values on, only what has none is left.
                Node::Variable { .. }
                | Node::Outcome { .. }
                | Node::Chosen { .. }
                | Node::Found { .. }
                | Node::Element { .. }
                | Node::Outside(_)
                | Node::Unknown { .. }
                | Node::Structure(_)
                | Node::Present(_)
                | Node::Attribute { .. }
                | Node::Tagged(_)
                | Node::LookUp(_)
                | Node::Absent { .. }
                | Node::Untaken { .. }
                | Node::Lacking { .. }
                | Node::Having { .. }
                | Node::Unsaid { .. },
            ) => leaf(around),
        }
    }

    /// Whether a value was computed, or something in it, as far as nothing computed the whole.
    fn is_computed(&self, value: &Value) -> bool {
        let handed_on_by = self.evaluator.handed_on_by(value.origin);
        match self.evaluator.trace.source(handed_on_by) {
            Source::Written(_) => {}
            Source::Node(Node::Operation { at, .. }) if operator(at) == "map" => {}
            Source::Node(
                Node::Operation { .. } | Node::Interpolation { .. } | Node::Made { .. },
            ) => return true,
            _ => return false,
        }
        match &value.datum {
            Datum::Array(array) => array.iter().any(|element| self.is_computed(element)),
            Datum::Hash(hash) => hash.iter().any(|(_, entry)| self.is_computed(&entry.value)),
            _ => false,
        }
    }

    /// Whether something counts only for which elements it has, or for what is there, and has no value of its own.
    fn is_evidence(&self, value: &Value) -> bool {
        let Source::Node(node) = self.evaluator.trace.source(value.origin) else {
            return false;
        };
        let is_there = match node {
            Node::Structure(_)
            | Node::Present(_)
            | Node::Attribute { .. }
            | Node::Tagged(_)
            | Node::LookUp(_)
            | Node::Absent { .. }
            | Node::Untaken { .. } => true,
            Node::Outcome { value, .. } => {
                *value == Origin::NOWHERE || self.is_evidence(&Value::from(*value))
            }
            _ => false,
        };
        is_there && value.is_undef()
    }

    /// The way of a value, from the literal outwards; then the resource, and who declared it.
    pub(super) fn steps(&self, subject: &Subject) -> Vec<Step> {
        let mut steps = Vec::new();
        let path = subject.attribute.as_deref().unwrap_or("").to_owned();
        let mut control = Vec::new();
        let mut operands = Vec::new();
        if subject.attribute.is_some() {
            operands = self.way(subject.value.origin, &mut steps, &mut control);
        }
        steps.reverse();
        if let Some(attribute) = self.attribute(subject) {
            let (words, path) = (said(attribute), path.clone());
            if steps
                .first()
                .is_none_or(|first| first.span != attribute.span)
            {
                steps.push(told(words, attribute.span, &path));
            }
            control.push(attribute.control);
        }
        self.operands(operands, &mut steps, &mut control);
        let resource = self.resource(subject);
        self.declared(resource, &mut steps);
        control.push(resource.control);
        let mut seen = Vec::new();
        for id in control {
            self.conditions(id, &mut seen);
        }
        for span in seen {
            steps.push(Step {
                kind: StepKind::Condition,
                span,
                path: String::new(),
                control: true,
            });
        }
        steps
    }

    /// The ways of what a value was computed from, each after what it went into.
    fn operands(
        &self,
        mut pending: Vec<Origin>,
        steps: &mut Vec<Step>,
        control: &mut Vec<ControlId>,
    ) {
        pending.reverse();
        let mut seen = FxHashSet::default();
        while let Some(operand) = pending.pop()
            && steps.len() < MOST_STEPS
        {
            // What two values are computed from is told once.
            if !seen.insert(operand) {
                continue;
            }
            let mut own = Vec::new();
            let mut further = self.way(operand, &mut own, control);
            own.reverse();
            for step in own {
                if !steps.iter().any(|known| known.span == step.span) {
                    steps.push(step);
                }
            }
            further.reverse();
            pending.append(&mut further);
        }
    }

    /// The way of a value, back to the literal or the computation that it comes from; then, what that was
    /// computed from.
    fn way(
        &self,
        origin: Origin,
        steps: &mut Vec<Step>,
        control: &mut Vec<ControlId>,
    ) -> Vec<Origin> {
        let mut origin = origin;
        loop {
            match self.evaluator.trace.source(origin) {
                Source::Nowhere => return Vec::new(),
                Source::Written(at) => {
                    let span = self.span_at(at).unwrap_or(Span::at(at));
                    steps.push(Step {
                        kind: StepKind::Written,
                        span,
                        path: String::new(),
                        control: false,
                    });
                    return Vec::new();
                }
                Source::Node(Node::Variable { definition, at, .. }) => {
                    let definition = self.evaluator.trace.definition(*definition);
                    let name = match &at.kind {
                        Kind::Variable(name) => name.as_str(),
                        _ => definition.how.name().unwrap_or("…"),
                    };
                    if let Some((words, span)) = defined(name, definition.how) {
                        steps.push(told(words, span, name));
                    }
                    control.push(definition.control);
                    origin = definition.value.origin;
                }
                Source::Node(Node::Outcome {
                    value,
                    control: under,
                    ..
                }) => {
                    control.push(*under);
                    origin = *value;
                }
                Source::Node(Node::Found { value, key, .. }) => {
                    if let Some(span) = key.offset().and_then(|at| self.span_at(at)) {
                        steps.push(told("looked up in data".into(), span, ""));
                    }
                    origin = *value;
                }
                Source::Node(Node::Made { by, operands }) => {
                    let operands = self.evaluator.trace.operands(*operands);
                    if let Some(span) = self.made_at(*by, operands) {
                        steps.push(Step {
                            kind: StepKind::Operation(making(*by)),
                            span,
                            path: String::new(),
                            control: false,
                        });
                    }
                    return Vec::new();
                }
                Source::Node(Node::Chosen { value, at, .. }) => {
                    // A function that hands on what it computed itself is told once.
                    let is_own = match self.evaluator.trace.source(*value) {
                        Source::Node(
                            Node::Operation { at: made, .. } | Node::Interpolation { at: made, .. },
                        ) => made.span == at.span,
                        _ => false,
                    };
                    if !is_own {
                        let words = format!("handed on by `{}`", operator(at));
                        steps.push(told(words.into(), at.span, ""));
                    }
                    origin = *value;
                }
                Source::Node(Node::Element { at, operands }) => {
                    let [element, container, _] = self.evaluator.trace.operands(*operands) else {
                        return Vec::new();
                    };
                    if element.is_undef() && element.origin == container.origin {
                        let absence = self.evaluator.absence(origin);
                        let (span, words) =
                            absence.unwrap_or((at.span, "there is no such element".to_owned()));
                        steps.push(told(words.into(), span, ""));
                        return Vec::new();
                    }
                    if matches!(at.kind, Kind::Access(..)) {
                        steps.push(told("taken out of it here".into(), at.span, ""));
                    }
                    origin = element.origin;
                }
                Source::Node(
                    Node::Operation { at, operands } | Node::Interpolation { at, operands },
                ) => {
                    steps.push(Step {
                        kind: StepKind::Operation(operator(at)),
                        span: at.span,
                        path: String::new(),
                        control: false,
                    });
                    // What is written in the operation itself is seen with it.
                    let beyond = |origin: &Origin| match self.evaluator.trace.source(*origin) {
                        Source::Written(offset) => offset < at.span.start || offset >= at.span.end,
                        _ => true,
                    };
                    let operands = self.evaluator.trace.operands(*operands).iter();
                    return operands.map(|one| one.origin).filter(beyond).collect();
                }
                Source::Node(Node::Unknown { at, .. }) => {
                    steps.push(told("nothing defines this variable".into(), at.span, ""));
                    return Vec::new();
                }
                Source::Node(
                    Node::Outside(_)
                    | Node::Structure(_)
                    | Node::Present(_)
                    | Node::Attribute { .. }
                    | Node::Tagged(_)
                    | Node::LookUp(_)
                    | Node::Absent { .. }
                    | Node::Untaken { .. }
                    | Node::Lacking { .. }
                    | Node::Having { .. }
                    | Node::Unsaid { .. },
                ) => return Vec::new(),
            }
        }
    }

    /// The resource, and the classes and defined types around it.
    fn declared(&self, resource: &Resource<'t>, steps: &mut Vec<Step>) {
        let mut next = Some(resource);
        let mut count = 0;
        while let Some(resource) = next
            && count < 1_000
        {
            count += 1;
            let reference = format!("{}[{}]", resource.type_name, shown_title(resource));
            if let Some(span) = resource.span {
                steps.push(told(
                    format!("`{reference}` is declared here").into(),
                    span,
                    &reference,
                ));
            }
            for (_, span) in resource.realised() {
                let words = format!("`{reference}` is realised here");
                steps.push(told(words.into(), *span, &reference));
            }
            next = self.declarer(resource.control);
        }
    }

    /// The class or resource whose body ran some code.
    fn declarer(&self, mut control: ControlId) -> Option<&Resource<'t>> {
        while control != ControlId::NONE {
            let this = self.evaluator.trace.control(control);
            if let Cause::Declared(id) = this.cause {
                return Some(&self.evaluator.resources[id.index()]);
            }
            control = this.around;
        }
        None
    }

    /// The conditions around some code, also those of the classes around it.
    fn conditions(&self, mut control: ControlId, seen: &mut Vec<Span>) {
        let mut count = 0;
        while control != ControlId::NONE && count < 1_000 {
            count += 1;
            let this = self.evaluator.trace.control(control);
            control = this.around;
            match &this.cause {
                Cause::Test { at, .. } => {
                    let span = condition(at);
                    if !seen.contains(&span) {
                        seen.push(span);
                    }
                }
                Cause::Element { at, .. } => {
                    if !seen.contains(&at.span) {
                        seen.push(at.span);
                    }
                }
                Cause::Declared(id) => control = self.evaluator.resources[id.index()].control,
                Cause::Stayed { .. } | Cause::Always | Cause::Called(_) | Cause::Node(_) => {}
            }
        }
    }

    /// What was said about the attribute, and lost; also by levels of the data.
    pub(super) fn lost(&self, subject: &Subject, levels: &[(Value, Rule)]) -> Vec<Lost> {
        let Some(name) = &subject.attribute else {
            return Vec::new();
        };
        let levels = levels.iter().filter_map(|(level, rule)| {
            let at = level.origin.offset()?;
            Some(self.loser(level, Span::at(at), *rule))
        });
        if !subject.containers.is_empty() {
            return levels.collect();
        }
        let resource = self.resource(subject);
        let Some(winner) = self.attribute(subject) else {
            return Vec::new();
        };
        let mut lost: Vec<Lost> = Vec::new();
        // What `+>` and arrows add to is not lost.
        let mut used = vec![winner];
        let mut is_added_to = winner.adds;
        let said = resource.lost().iter().rev();
        for one in said.filter(|one| one.attribute.name == *name) {
            if is_added_to {
                is_added_to = one.attribute.adds;
                used.push(&one.attribute);
                continue;
            }
            let rule = match one.by {
                Said::Collector => Rule::Collector,
                Said::Override => Rule::Subclass,
                Said::Data => Rule::DataOverDefault,
                _ => Rule::SetOverDefault,
            };
            lost.push(self.loser(&one.attribute.value, one.attribute.span, rule));
        }
        if !matches!(winner.how, Said::Relationship) {
            self.lost_defaults(resource, name, &used, &mut lost);
        }
        lost.extend(levels);
        self.lost_parameters(resource, name, winner, &mut lost);
        lost
    }

    fn loser(&self, value: &Value, said: Span, rule: Rule) -> Lost {
        let mut builder = Builder::default();
        send_value(value, Reader::Person, &mut builder);
        let is_secret = self.has_secret(value);
        Lost {
            value: Some(match is_secret {
                true => Shown::Secret,
                false => Shown::Value(builder.finish().expect("a value was sent")),
            }),
            span: self.place(value.origin).unwrap_or(said),
            rule,
            through: Vec::new(),
        }
    }

    /// Defaults of the scopes around the resource that were not used.
    fn lost_defaults(
        &self,
        resource: &Resource<'t>,
        name: &str,
        used: &[&Attribute],
        lost: &mut Vec<Lost>,
    ) {
        let is_used = |span: Span| {
            used.iter()
                .any(|one| one.how == Said::Default && one.span == span)
        };
        let mut next = Some(resource.scope);
        while let Some(id) = next {
            let scope = &self.evaluator.scopes[id.index()];
            let defaults = scope
                .defaults
                .get(&resource.type_name)
                .into_iter()
                .flatten();
            for default in defaults.filter(|default| default.name == name) {
                if is_used(default.span) {
                    continue;
                }
                let rule = match used[0].how {
                    Said::Default => Rule::NearestDefault,
                    _ => Rule::SetOverDefault,
                };
                let loser = self.loser(&default.value, default.span, rule);
                if !lost.iter().any(|other| other.span == loser.span) {
                    lost.push(loser);
                }
            }
            next = scope.parent;
        }
    }

    /// The default of a parameter that was given.
    fn lost_parameters(
        &self,
        resource: &Resource<'t>,
        name: &str,
        winner: &Attribute,
        lost: &mut Vec<Lost>,
    ) {
        let definition = match resource.kind {
            ResourceKind::Defined(definition) => Some(definition),
            ResourceKind::Class { .. } => self.evaluator.known_class(&resource.title),
            _ => None,
        };
        let parameter = definition
            .and_then(|definition| definition.parameters.iter().find(|one| one.name == name));
        let Some(default) = parameter.and_then(|parameter| parameter.default.as_ref()) else {
            return;
        };
        if winner.how != Said::Parameter {
            lost.push(Lost {
                value: None,
                span: default.span,
                rule: match winner.how {
                    Said::Data => Rule::DataOverDefault,
                    _ => Rule::GivenOverDefault,
                },
                through: Vec::new(),
            });
        }
    }
}

/// About how many bytes a value has, or very many.
fn weight(datum: &Datum) -> u64 {
    if datum.size() > BESIDES {
        return u64::MAX;
    }
    let inside = match datum {
        Datum::Text(text) => text.len() as u64,
        Datum::Array(array) => array.iter().map(|one| weight(&one.datum)).sum(),
        Datum::Hash(hash) => {
            let entries = hash.iter();
            entries
                .map(|(key, entry)| weight(key) + weight(&entry.value.datum))
                .sum()
        }
        _ => 0,
    };
    inside.saturating_add(size_of::<Datum>() as u64)
}

fn told(words: Cow<'static, str>, span: Span, path: &str) -> Step {
    Step {
        kind: StepKind::Told(words),
        span,
        path: path.to_owned(),
        control: false,
    }
}

/// How an attribute was set, in words.
fn said(attribute: &Attribute) -> Cow<'static, str> {
    let name = &attribute.name;
    match attribute.how {
        Said::Declared => format!("`{name}` is set here"),
        Said::BodyDefault => format!("`{name}` is set here, for all resources of the declaration"),
        Said::Default => format!("the default for `{name}` is set here"),
        Said::Override => format!("`{name}` is overridden here"),
        Said::Collector => format!("`{name}` is set by this collector"),
        Said::Relationship => format!("`{name}` comes from this relationship"),
        Said::Container => format!("`{name}` is handed down from what contains it"),
        Said::Parameter => format!("the default of `${name}` is used"),
        Said::Data => format!("the data say what `${name}` is"),
    }
    .into()
}

/// How a variable was defined, in words, and where.
fn defined(name: &str, how: How<'_>) -> Option<(Cow<'static, str>, Span)> {
    Some(match how {
        How::Assigned(at) => (format!("`${name}` is assigned here").into(), at.span),
        How::Given(parameter) => (
            format!("given to the parameter `${name}`").into(),
            parameter.span,
        ),
        How::Default(parameter) => (
            format!("the default of the parameter `${name}`").into(),
            parameter.span,
        ),
        How::Data(parameter) => (
            format!("looked up for the parameter `${name}`").into(),
            parameter.span,
        ),
        How::Language => return None,
    })
}

fn is_container(datum: &Datum) -> bool {
    matches!(datum, Datum::Array(_) | Datum::Hash(_))
}

/// The operator or function of an expression.
fn operator(at: &syntax::Expression) -> Cow<'static, str> {
    match &at.kind {
        Kind::Binary(operator, _) => operator.text().into(),
        Kind::Not(_) => "!".into(),
        Kind::Minus(_) => "-".into(),
        Kind::Interpolated(_) => "\"…\"".into(),
        Kind::Array(_) => "[ ]".into(),
        Kind::Splat(_) => "*".into(),
        Kind::Access(..) => "[…]".into(),
        Kind::Call(call) => match &call.function.kind {
            Kind::Name(name) => name.to_string().into(),
            _ => "new".into(),
        },
        Kind::Case(_) => "case".into(),
        Kind::Selector(_) => "?".into(),
        Kind::Relationship(arrow, _) => arrow.text().into(),
        Kind::Resource(_) => "{ }".into(),
        _ => "…".into(),
    }
}

/// How a value is computed: declarations and arrows make references, and lists of them.
fn result_of(at: &syntax::Expression, datum: &Datum) -> Cow<'static, str> {
    match (&at.kind, datum) {
        (Kind::Resource(_) | Kind::Relationship(..), Datum::Array(_)) => "[ ]".into(),
        (Kind::Resource(_) | Kind::Relationship(..), _) => "[…]".into(),
        _ => operator(at),
    }
}

/// What was done with data, in a word.
fn making(by: Making) -> Cow<'static, str> {
    match by {
        Making::Merge => "merge".into(),
        Making::Interpolation => "%{…}".into(),
        Making::Conversion => "convert_to".into(),
        Making::Path => "title".into(),
        Making::Addition => "+>".into(),
        Making::Flattening => "flatten".into(),
    }
}

/// The condition of a conditional.
fn condition(at: &syntax::Expression) -> Span {
    match &at.kind {
        Kind::If(conditional) => conditional.condition.span,
        Kind::Case(case) => case.test.span,
        Kind::Selector(selector) => selector.test.span,
        _ => at.span,
    }
}
