//! Why a resource is there, and who else said something about its attributes, or could have.

use ecow::EcoString;
use hence_model::explanation::Role;
use hence_model::source::Span;

use super::absence::{EVER, Question};
use super::{Extent, Reasons, Task};
use crate::effects::Effect;
use crate::evaluate::{CollectorId, Evaluator, Side};
use crate::resource::{Said, lowered};
use crate::scope::ScopeId;
use crate::syntax::{Block, DefinitionKind, Expression, Form, Kind, NodeMatchKind, Part};
use crate::trace::{Cause, ControlId, ResourceId};
use crate::types::Type;
use crate::value::{Datum, Value};

impl<'t> Reasons<'_, 't> {
    pub(super) fn control(&mut self, control: ControlId) {
        if control == ControlId::NONE {
            return;
        }
        let this = self.evaluator.trace.control(control).clone();
        self.condition(Task::Control(this.around));
        if let Some(at) = this.cause.written() {
            self.happened(at);
        }
        match this.cause {
            Cause::Always | Cause::Called(_) => {}
            Cause::Test { outcome, at } => self.tested(at, outcome, Role::Condition),
            Cause::Stayed { outcome } => {
                self.push(Task::Origin(outcome, Extent::Whole), Role::Condition);
            }
            Cause::Element { of, .. } => {
                self.push(Task::Origin(of, Extent::Structure), Role::Condition);
            }
            Cause::Declared(id) => self.condition(Task::Existence(id)),
            Cause::Node(_) => self.node_names(false),
        }
    }

    /// Which node definition runs depends on the names and patterns that could have been found first. The node's own
    /// resource is called by the one that was found.
    pub(super) fn node_names(&mut self, is_called: bool) {
        // Without another one, there is this catalog or none.
        if self.evaluator.nodes.len() == 1 && !is_called {
            return;
        }
        let name = self.evaluator.node.name.to_lowercase();
        let fits = |kind: &NodeMatchKind| match kind {
            NodeMatchKind::Pattern(pattern) => pattern.is_match(&name),
            NodeMatchKind::Name(own) => own.to_lowercase() == name,
            NodeMatchKind::Default => false,
        };
        let nodes = self.evaluator.nodes.iter();
        let could_run = nodes.filter(|node| match &node.kind {
            DefinitionKind::Node { matches } => matches
                .iter()
                .any(|one| fits(&one.kind) || matches!(one.kind, NodeMatchKind::Default)),
            _ => false,
        });
        // If only one fits, it is found or there is no catalog.
        let is_only = could_run.count() == 1;
        let mut by_name = None;
        let mut others = Vec::new();
        let mut by_pattern = false;
        for node in &self.evaluator.nodes {
            let DefinitionKind::Node { matches } = &node.kind else {
                continue;
            };
            // By which of its names a definition is found tells only `$1` and the like.
            let wins = !by_pattern && matches.iter().any(|one| fits(&one.kind));
            let all_count = is_called || !wins || mentions_match(&node.body);
            for one in matches {
                match &one.kind {
                    NodeMatchKind::Name(_) if fits(&one.kind) => by_name = Some(one.span.start),
                    NodeMatchKind::Name(_) if all_count => others.push(one.span.start),
                    NodeMatchKind::Pattern(_)
                        if !by_pattern && (all_count || fits(&one.kind) && !is_only) =>
                    {
                        others.push(one.span.start);
                    }
                    _ => {}
                }
            }
            by_pattern |= wins;
        }
        // A name that fits beats all else.
        let deciding = by_name.map_or(others, |own| vec![own]);
        for at in deciding {
            self.written(at, Role::Condition);
        }
    }

    pub(super) fn existence(&mut self, id: ResourceId) {
        let resource = &self.evaluator.resources[id.index()];
        let (title, control, form) = (resource.title_origin, resource.control, resource.form);
        let is_class = resource.is_class();
        let type_name = resource.type_name.clone();
        if let Some(at) = resource.span {
            self.happened(at);
        }
        self.push(Task::Origin(title, Extent::Whole), Role::Condition);
        self.condition(Task::Control(control));
        if type_name == "Node" {
            self.node_names(true);
        }
        if is_class {
            return;
        }
        if form != Form::Regular {
            self.realised(id, &type_name);
        }
    }

    /// A virtual resource is there because of the collectors that found it.
    fn realised(&mut self, id: ResourceId, type_name: &str) {
        let mut controls = Vec::new();
        let mut values = Vec::new();
        let mut looked_at = Vec::new();
        for collector in &self.evaluator.collectors {
            if !collector.known.contains(&id) {
                continue;
            }
            controls.push(collector.control);
            let named = self.evaluator.realised_by(collector);
            values.extend(
                named
                    .into_iter()
                    .filter(|value| self.evaluator.refers(value, id)),
            );
            if let Some(parts) = self.evaluator.collector_parts(collector)
                && parts.type_name == type_name
            {
                values.extend(parts.values);
                looked_at.extend(parts.looked_at);
            }
        }
        for control in controls {
            self.condition(Task::Control(control));
        }
        values
            .iter()
            .for_each(|value| self.value(value, Role::Condition));
        looked_at.iter().for_each(|name| self.looked_at(id, name));
    }

    /// What lets an attribute be what it is, besides its value.
    pub(super) fn around_attribute(&mut self, id: ResourceId, name: &str) {
        self.condition(Task::Existence(id));
        let resource = &self.evaluator.resources[id.index()];
        let type_name = resource.type_name.clone();
        let folded = EcoString::from(&*lowered(&type_name));
        let title = resource.title.clone();
        let scope = resource.scope;
        let is_class = resource.is_class();
        let declared = resource.passed;
        let known = resource.attribute(name);
        let how = known.map(|attribute| attribute.how);
        let mut said: Vec<(Value, ControlId)> = Vec::new();
        if let Some(attribute) = known {
            let task = Task::Control(attribute.control);
            self.conditions.push((self.current, task));
            // An `undef` that was given let the default be used.
            let is_instead = matches!(attribute.how, Said::Parameter | Said::Data);
            let lost = resource.lost().iter().filter(|lost| {
                lost.attribute.name == name
                    && (attribute.adds || is_instead && lost.attribute.value.is_undef())
            });
            said.extend(lost.map(|lost| (lost.attribute.value.clone(), lost.attribute.control)));
        }
        let role = match known.is_some_and(|attribute| attribute.adds) {
            true => Role::Operand,
            false => Role::Condition,
        };
        for (value, control) in said {
            self.value(&value, role);
            self.condition(Task::Control(control));
        }
        let attribute = Some(EcoString::from(name));
        if matches!(how, None | Some(Said::Default)) {
            self.undefaulted(scope, &folded, name, declared);
            self.first_declared(scope);
        }
        if is_class && how == Some(Said::Parameter) {
            self.unsaid(&title, name);
        }
        if is_class && matches!(how, None | Some(Said::Parameter | Said::Data)) {
            let effect = Effect::Gives(Some(title.clone()));
            self.absence(Question::Could(effect, declared));
        }
        let effect = Effect::Sets(Some(folded.clone()), attribute);
        self.absence(Question::Could(effect, EVER));
        self.amended(id, name, &folded);
        self.collected(id, name, &type_name);
        if matches!(name, "before" | "notify") {
            self.related(id, name);
        }
        if name == "require" {
            self.absence(Question::Could(Effect::Relates, EVER));
        }
    }

    /// Data could have said what a parameter of a class is.
    fn unsaid(&mut self, class: &str, name: &str) {
        if let Ok(Some(known)) = self.evaluator.find_class(class) {
            let mut parameters = known.definition.parameters.iter();
            if let Some(parameter) = parameters.find(|parameter| parameter.name == name) {
                self.missed(parameter.span);
            }
        }
    }

    /// What was asked in vain for a parameter.
    pub(super) fn missed(&mut self, parameter: Span) {
        for origin in self.evaluator.trace.missed(parameter).to_vec() {
            self.push(Task::Origin(origin, Extent::Whole), Role::Absence);
        }
    }

    /// Code that did not run could have set a default in the scopes around a resource, before it was declared.
    fn undefaulted(&mut self, scope: ScopeId, type_name: &EcoString, name: &str, before: u32) {
        let mut next = Some(scope);
        while let Some(id) = next {
            let question = Question::Defaults(id, type_name.clone(), name.into(), before);
            self.absence(question);
            next = self.evaluator.scopes[id.index()].parent;
        }
    }

    /// Defaults flow along the scopes that first declared each other, and so do the variables of lambdas: a class could
    /// have been declared elsewhere.
    pub(super) fn first_declared(&mut self, scope: ScopeId) {
        let mut next = Some(scope);
        while let Some(id) = next {
            let this = &self.evaluator.scopes[id.index()];
            let resource = &self.evaluator.resources[this.resource.index()];
            if resource.is_class() && resource.span.is_some() {
                let effect = Effect::Includes(Some(resource.title.clone()));
                let question = Question::Could(effect, resource.passed);
                self.absent.push((self.current, question));
            }
            next = this.parent;
        }
    }

    /// Overrides of this resource, and of others that could have meant this one.
    fn amended(&mut self, id: ResourceId, name: &str, type_name: &EcoString) {
        let resource = &self.evaluator.resources[id.index()];
        let (title, scope, written) = (&resource.title, resource.scope, &resource.type_name);
        let mut values = Vec::new();
        let mut is_overridden = false;
        for amended in &self.evaluator.amendments {
            let mut attributes = amended.attributes.iter();
            let said = attributes.find(|(own, _)| own == name);
            let Some((_, value)) = said.filter(|_| amended.type_name == *type_name) else {
                continue;
            };
            values.push(amended.target.clone());
            if amended.title == *title {
                values.push(value.clone());
                let task = Task::Control(amended.control);
                self.conditions.push((self.current, task));
                is_overridden = true;
            }
        }
        if is_overridden {
            // An override that says what a default says does not count.
            for default in self.evaluator.defaults_around(scope, written, name) {
                values.push(default.value.clone());
                let task = Task::Control(default.control);
                self.conditions.push((self.current, task));
            }
            self.undefaulted(scope, type_name, name, EVER);
        }
        values
            .iter()
            .for_each(|value| self.value(value, Role::Condition));
    }

    /// Collectors that set an attribute, of this resource or if they found it.
    fn collected(&mut self, id: ResourceId, name: &str, type_name: &str) {
        let mut values = Vec::new();
        let mut looked_at = Vec::new();
        for collector in &self.evaluator.collectors {
            let Some(parts) = self.evaluator.collector_parts(collector) else {
                continue;
            };
            if parts.type_name != type_name || !parts.sets.iter().any(|own| own == name) {
                continue;
            }
            if collector.known.contains(&id) {
                let task = Task::Control(collector.control);
                self.conditions.push((self.current, task));
            }
            values.extend(parts.values);
            looked_at.extend(parts.looked_at);
        }
        values
            .iter()
            .for_each(|value| self.value(value, Role::Condition));
        looked_at.iter().for_each(|name| self.looked_at(id, name));
    }

    /// A query looked at an attribute, as it was then.
    fn looked_at(&mut self, id: ResourceId, name: &EcoString) {
        if name == "title" {
            let title = self.evaluator.resources[id.index()].title_origin;
            return self.push(Task::Origin(title, Extent::Whole), Role::Condition);
        }
        if name == "tag" {
            return self.tagged(id);
        }
        self.was_said(id, name);
    }

    /// The tags of a resource are its own, and those of all that contains it.
    pub(super) fn tagged(&mut self, id: ResourceId) {
        let all: Vec<ResourceId> = self.evaluator.with_containers(id).collect();
        for id in all {
            self.was_said(id, &"tag".into());
            for (tag, control) in self.evaluator.resources[id.index()].tagged().to_vec() {
                self.value(&tag, Role::Condition);
                self.condition(Task::Control(control));
            }
        }
        self.absence(Question::Could(Effect::Tags, EVER));
    }

    /// What is said about an attribute, and all that was said before.
    fn was_said(&mut self, id: ResourceId, name: &EcoString) {
        self.condition(Task::Attribute(id, name.clone()));
        let lost = self.evaluator.resources[id.index()].lost().iter();
        let was: Vec<(Value, ControlId)> = lost
            .filter(|lost| lost.attribute.name == *name)
            .map(|lost| (lost.attribute.value.clone(), lost.attribute.control))
            .collect();
        for (value, control) in was {
            self.value(&value, Role::Condition);
            self.condition(Task::Control(control));
        }
    }

    /// Any resource of a type could be called otherwise.
    pub(super) fn titles(&mut self, type_name: &str) {
        for id in self.evaluator.resources_of(type_name).to_vec() {
            let title = self.evaluator.resources[id.index()].title_origin;
            self.push(Task::Origin(title, Extent::Whole), Role::Condition);
        }
    }

    /// Which resources a collector found, among all of its type.
    pub(super) fn found_by(&mut self, id: CollectorId) {
        let collector = &self.evaluator.collectors[id.index()];
        let control = collector.control;
        let known = collector.known.clone();
        let Some(parts) = self.evaluator.collector_parts(collector) else {
            return;
        };
        self.condition(Task::Control(control));
        let values = parts.values.iter();
        values.for_each(|value| self.value(value, Role::Condition));
        for candidate in self.evaluator.resources_of(&parts.type_name).to_vec() {
            if known.contains(&candidate) {
                self.condition(Task::Existence(candidate));
            }
            let looked_at = parts.looked_at.iter();
            looked_at.for_each(|name| self.looked_at(candidate, name));
        }
        let effect = Effect::Declares(Some(parts.type_name.to_lowercase()));
        self.absence(Question::Could(effect, EVER));
    }

    /// Arrows from this resource, and from others that could have meant this one.
    fn related(&mut self, id: ResourceId, name: &str) {
        let notifies = name == "notify";
        let mut own = Vec::new();
        let mut others = Vec::new();
        let mut looked_at = Vec::new();
        for relationship in &self.evaluator.relationships {
            if relationship.notifies != notifies {
                continue;
            }
            let source = self.evaluator.source_for(&relationship.source, id);
            others.extend(source.values);
            looked_at.extend(source.looked_at);
            if !source.is_possible {
                continue;
            }
            let mut then = source.collectors;
            then.push(Task::Control(relationship.control));
            match &relationship.target {
                Side::Reference(target) => own.push(target.clone()),
                Side::Collector(collector) => then.push(Task::Collector(*collector)),
            }
            let then = then.into_iter().map(|task| (self.current, task));
            self.conditions.extend(then);
        }
        own.iter()
            .for_each(|value| self.value(value, Role::Operand));
        others
            .iter()
            .for_each(|value| self.value(value, Role::Condition));
        looked_at.iter().for_each(|name| self.looked_at(id, name));
        self.absence(Question::Could(Effect::Relates, EVER));
    }
}

/// What an arrow leads away from, as seen from one resource.
#[derive(Default)]
struct Beginning {
    /// Whether it could be this resource.
    is_possible: bool,
    /// References that could mean it, and what queries compare with.
    values: Vec<Value>,
    /// What queries look at.
    looked_at: Vec<EcoString>,
    /// Collectors that hand the arrow on if they find nothing.
    collectors: Vec<Task>,
}

impl<'t> Evaluator<'t> {
    /// What decides whether an arrow that leads away from a side does so from a resource.
    fn source_for(&self, side: &Side, id: ResourceId) -> Beginning {
        let mut beginning = Beginning::default();
        let mut pending = vec![side];
        let mut steps = 0;
        while let Some(side) = pending.pop()
            && steps <= self.collectors.len()
        {
            steps += 1;
            match side {
                Side::Reference(value) => {
                    beginning.values.push(value.clone());
                    beginning.is_possible |= self.refers(value, id);
                }
                Side::Collector(number) => {
                    let collector = &self.collectors[number.index()];
                    if !collector.instead.is_empty() {
                        beginning.collectors.push(Task::Collector(*number));
                        pending.extend(&collector.instead);
                    }
                    let parts = self.collector_parts(collector);
                    let own = &self.resources[id.index()].type_name;
                    if let Some(parts) = parts.filter(|parts| parts.type_name == *own) {
                        beginning.is_possible = true;
                        beginning.values.extend(parts.values);
                        beginning.looked_at.extend(parts.looked_at);
                    }
                }
            }
        }
        beginning
    }

    /// Whether a value refers to a resource.
    pub(crate) fn refers(&self, value: &Value, id: ResourceId) -> bool {
        let Datum::Type(kind) = &value.datum else {
            return false;
        };
        let found = match kind.as_ref() {
            Type::Resource(Some(name), Some(title)) => self.find_resource(name, title),
            Type::Class(Some(name)) => self.find_resource("class", name),
            _ => None,
        };
        found == Some(id)
    }
}

/// Whether code names `$0`, `$1` and the like.
fn mentions_match(block: &Block) -> bool {
    fn mentions(at: &Expression) -> bool {
        let mut found = matches!(&at.kind, Kind::Variable(name)
            if name.bytes().all(|byte| byte.is_ascii_digit()));
        at.parts(&mut |part| {
            found |= match part {
                Part::Expression(inner) => mentions(inner),
                Part::Lambda(lambda) => mentions_match(&lambda.body),
            };
        });
        found
    }
    block.statements.iter().any(mentions)
}
