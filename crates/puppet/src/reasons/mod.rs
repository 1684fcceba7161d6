//! What a value depends on, read from the trace.
//!
//! Three kinds of reasons are followed, each kind before the next: what the value is made of, the conditions that
//! let it be, and what did not happen but could have. A place is told once, with the first kind that reaches it.

mod absence;
mod resources;

use ecow::EcoString;
use hence_model::explanation::Role;
use hence_model::source::Span;
use hence_model::work;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

use self::absence::Question;
use crate::decisions::{self, Decisions};
use crate::effects::Effect;
use crate::evaluate::{CollectorId, Evaluator};
use crate::explain::Leaf;
use crate::graph::Graph;
use crate::leaving::Leaving;
use crate::resource::{Resource, ResourceKind};
use crate::scope::ScopeId;
use crate::syntax::{Expression, Kind, Operator, Part};
use crate::trace::{Cause, Code, ControlId, DefinitionId, How, Node, Origin, ResourceId, Source};
use crate::value::{Array, Datum, Value};

pub(crate) use self::absence::Absences;

/// Follows the reasons of one value.
pub(crate) struct Reasons<'e, 't> {
    pub(crate) evaluator: &'e mut Evaluator<'t>,
    absences: &'e mut Absences,
    /// Places, with the way in which the value depends on them.
    pub(crate) found: IndexMap<u32, Role, FxBuildHasher>,
    /// Stretches of data in which something could have been said.
    pub(crate) silent: IndexSet<Span, FxBuildHasher>,
    /// What comes from outside of all texts.
    pub(crate) outside: Vec<EcoString>,
    /// What is followed, each once.
    numbers: Numbers,
    /// The number of what is followed now.
    current: u32,
    data: Vec<(u32, Task, Role)>,
    /// With the numbers of those that led to them.
    conditions: Vec<(u32, Task)>,
    absent: Vec<(u32, Question)>,
    /// What values decide.
    decisions: Decisions<'t>,
    /// Which places are sought, when others need not be told.
    search: Option<Search<'e>>,
}

/// The search for all that leads to a place. What several values have in common is followed once, for the first of
/// them, and whether it leads there is known before the next.
struct Search<'e> {
    sought: &'e Sought,
    /// Who led to whom, by the numbers of what is followed for this value.
    ways: Vec<(u32, u32)>,
    /// Those of them that lead to the place directly.
    reached: Vec<u32>,
    /// Of each number so far, whether it leads to the place.
    leads: Vec<bool>,
}

impl Search<'_> {
    /// Goes the ways back from the place, through all that has a number from the first one on.
    fn settle(&mut self, first: u32, last: u32) {
        self.leads.resize(last as usize + 1, false);
        let mut pending = std::mem::take(&mut self.reached);
        let known = self.ways.iter().filter(|(_, to)| self.leads[*to as usize]);
        pending.extend(known.map(|(from, _)| *from));
        if !pending.is_empty() {
            let new = self.ways.iter().filter(|(_, to)| *to >= first);
            let back = new.map(|(from, to)| (to - first, *from));
            let back = Graph::new((last - first) as usize + 1, back);
            while let Some(number) = pending.pop() {
                if !std::mem::replace(&mut self.leads[number as usize], true) {
                    pending.extend(back.from(number - first));
                }
            }
        }
        self.reached = pending;
        self.ways.clear();
    }
}

/// What is sought in the sources.
pub(crate) struct Sought {
    /// A stretch,
    pub(crate) place: Span,
    /// and where the literals begin that touch it, sorted.
    pub(crate) starts: Vec<u32>,
}

impl Sought {
    /// Whether something that is written at an offset is sought.
    fn has(&self, at: u32) -> bool {
        self.place.start <= at && at < self.place.end || self.starts.binary_search(&at).is_ok()
    }

    /// Whether something in a stretch is.
    pub(crate) fn meets(&self, stretch: Span) -> bool {
        stretch.start < self.place.end.max(self.place.start + 1) && stretch.end > self.place.start
    }
}

/// The numbers of what is followed, from 1 in the order of following. Most has a small number in the trace.
#[derive(Default)]
struct Numbers {
    last: u32,
    nodes: Vec<u32>,
    definitions: Vec<u32>,
    controls: Vec<u32>,
    resources: Vec<u32>,
    /// What is around the attributes of all resources, one resource after the other,
    attributes: Vec<u32>,
    /// and where those of each resource begin.
    attributes_from: Vec<u32>,
    others: FxHashMap<Task, u32>,
}

impl Numbers {
    /// The next number, for something that is not looked up again.
    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Where the attributes of a resource begin among those of all.
    fn attributes_of(&mut self, id: ResourceId, resources: &[Resource<'_>]) -> usize {
        if self.attributes_from.is_empty() {
            let mut from = 0;
            self.attributes_from
                .extend(resources.iter().map(|resource| {
                    let here = from;
                    from += resource.attributes.len() as u32;
                    here
                }));
        }
        self.attributes_from[id.index()] as usize
    }

    /// The number of a task, and whether it is new.
    fn of(&mut self, task: &Task, resources: &[Resource<'_>]) -> (u32, bool) {
        let small = match task {
            Task::Origin(origin, Extent::Whole) => origin.node().map(|at| (&mut self.nodes, at)),
            Task::Definition(id, Extent::Whole) => Some((&mut self.definitions, id.index())),
            Task::Control(id) => Some((&mut self.controls, id.index())),
            Task::Existence(id) => Some((&mut self.resources, id.index())),
            Task::Around(id, name) => {
                let attributes = &resources[id.index()].attributes;
                let place = attributes.iter().position(|one| one.name == *name);
                let place = place.map(|place| self.attributes_of(*id, resources) + place);
                place.map(|place| (&mut self.attributes, place))
            }
            _ => None,
        };
        let number = match small {
            Some((numbers, at)) => {
                if numbers.len() <= at {
                    numbers.resize(at + 1, 0);
                }
                &mut numbers[at]
            }
            None => self.others.entry(task.clone()).or_insert(0),
        };
        let new = *number == 0;
        if new {
            self.last += 1;
            *number = self.last;
        }
        (*number, new)
    }
}

/// Something to be followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Task {
    Origin(Origin, Extent),
    Definition(DefinitionId, Extent),
    Control(ControlId),
    Existence(ResourceId),
    Attribute(ResourceId, EcoString),
    /// What lets an attribute be what it is, besides its value.
    Around(ResourceId, EcoString),
    Collector(CollectorId),
    /// What the resources of a type are called.
    Titles(EcoString),
    Question(Question),
}

/// How much of a container matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Extent {
    /// All that is in it.
    Whole,
    /// Only which elements it has.
    Structure,
    /// Only how many elements it has.
    Length,
    /// Only that it is a hash.
    Kind,
    /// Only which element a key means.
    Entry(Datum),
    /// Only how a decision comes out, by its number.
    Decides(u32),
}

impl<'e, 't> Reasons<'e, 't> {
    pub(crate) fn new(evaluator: &'e mut Evaluator<'t>, absences: &'e mut Absences) -> Self {
        Self {
            evaluator,
            absences,
            found: IndexMap::default(),
            silent: IndexSet::default(),
            outside: Vec::new(),
            numbers: Numbers::default(),
            current: 0,
            data: Vec::new(),
            conditions: Vec::new(),
            absent: Vec::new(),
            decisions: Decisions::default(),
            search: None,
        }
    }

    /// To ask of one value after the other whether it depends on what is written in the places that are sought.
    pub(crate) fn seeking(
        evaluator: &'e mut Evaluator<'t>,
        absences: &'e mut Absences,
        sought: &'e Sought,
    ) -> Self {
        let search = Search {
            sought,
            ways: Vec::new(),
            reached: Vec::new(),
            leads: Vec::new(),
        };
        Self {
            search: Some(search),
            ..Self::new(evaluator, absences)
        }
    }

    /// Follows a value inside an attribute of a resource, and all that lets it be. `containers` are the values
    /// around it, outermost first, with the keys that lead to it.
    pub(crate) fn of_attribute(
        mut self,
        id: ResourceId,
        name: &str,
        containers: &[(Value, Value)],
        value: &Value,
    ) -> Self {
        self.element(containers, value);
        self.around_attribute(id, name);
        self.run();
        self
    }

    /// Follows what lets a resource be.
    pub(crate) fn of_resource(mut self, id: ResourceId) -> Self {
        self.condition(Task::Existence(id));
        self.run();
        self
    }

    /// Whether a value in the catalog depends on what is written in the places that are sought.
    pub(crate) fn lead_from(&mut self, leaf: &Leaf) -> bool {
        let first = self.numbers.next();
        self.current = first;
        match &leaf.attribute {
            Some(name) => {
                self.element(&leaf.containers, &leaf.value);
                match self.evaluator.resources[leaf.id.index()].kind {
                    ResourceKind::BuiltIn(_) => self.around_attribute(leaf.id, name),
                    // Others may depend on a parameter, too.
                    _ => self.condition(Task::Around(leaf.id, name.clone())),
                }
            }
            None => self.condition(Task::Existence(leaf.id)),
        }
        self.run();
        self.search.as_mut().is_some_and(|search| {
            search.settle(first, self.numbers.last);
            search.leads[first as usize]
        })
    }

    /// A value, and what else could stand in its place in the containers around it.
    fn element(&mut self, containers: &[(Value, Value)], value: &Value) {
        self.value(value, Role::Value);
        for (container, key) in containers {
            self.beside(container, key, Role::Condition);
        }
    }

    fn run(&mut self) {
        loop {
            if let Some((number, task, role)) = self.data.pop() {
                self.current = number;
                self.task(task, role);
            } else if let Some((from, task)) = self.conditions.pop() {
                self.current = from;
                self.push(task, Role::Condition);
            } else if let Some((from, question)) = self.absent.pop() {
                self.current = from;
                self.push(Task::Question(question), Role::Absence);
            } else {
                return;
            }
        }
    }

    fn push(&mut self, task: Task, role: Role) {
        if let Task::Origin(origin, _) = &task
            && let Some(at) = origin.offset()
        {
            return self.written(at, role);
        }
        if let Some(new) = self.reach(&task) {
            self.data.push((new, task, role));
        }
    }

    /// Takes note of a place where something is written.
    fn written(&mut self, at: u32, role: Role) {
        match &mut self.search {
            None => drop(self.found.entry(at).or_insert(role)),
            Some(search) if search.sought.has(at) => search.reached.push(self.current),
            Some(_) => {}
        }
    }

    /// Takes note of a place where something happens.
    fn happened(&mut self, at: Span) {
        if let Some(search) = &mut self.search
            && search.sought.place.start <= at.start
            && at.end <= search.sought.place.end
        {
            search.reached.push(self.current);
        }
    }

    /// Takes note that what is followed now leads to something; its number, if it is new.
    fn reach(&mut self, task: &Task) -> Option<u32> {
        work::step();
        let (number, new) = self.numbers.of(task, &self.evaluator.resources);
        if let Some(search) = &mut self.search {
            search.ways.push((self.current, number));
        }
        new.then_some(number)
    }

    /// To be followed after all that values are made of.
    fn condition(&mut self, task: Task) {
        self.conditions.push((self.current, task));
    }

    /// To be followed after all conditions.
    fn absence(&mut self, question: Question) {
        self.absent.push((self.current, question));
    }

    /// A value with all that is in it.
    fn value(&mut self, value: &Value, role: Role) {
        self.push(Task::Origin(value.origin, Extent::Whole), role);
        self.inside(value, role);
    }

    /// All that is in a value.
    fn inside(&mut self, value: &Value, role: Role) {
        if value.datum.depth() == 0 {
            return;
        }
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            let known = pending.len();
            match &value.datum {
                Datum::Array(array) => pending.extend(array.iter()),
                Datum::Hash(hash) => {
                    for (_, entry) in hash.iter() {
                        self.push(Task::Origin(entry.key, Extent::Whole), role);
                        pending.push(&entry.value);
                    }
                }
                Datum::Sensitive(inner) => pending.push(inner),
                _ => {}
            }
            for inner in &pending[known..] {
                self.push(Task::Origin(inner.origin, Extent::Whole), role);
            }
        }
    }

    /// As much of a value as matters.
    fn part(&mut self, value: &Value, extent: Extent, role: Role) {
        match extent {
            Extent::Whole => self.value(value, role),
            Extent::Structure => self.structure(value, extent, role),
            Extent::Kind => self.push(Task::Origin(value.origin, extent), role),
            Extent::Length if value.is_hash() => self.structure(value, Extent::Structure, role),
            Extent::Length => self.structure(value, extent, role),
            Extent::Entry(key) => {
                let key = Value::new(key, Origin::NOWHERE);
                self.beside(value, &key, role);
            }
            Extent::Decides(decision) => match self.decisions.key(decision).cloned() {
                Some(key) => {
                    let key = Value::new(key, Origin::NOWHERE);
                    self.beside_as(value, &key, extent, role);
                }
                None => {
                    self.push(Task::Origin(value.origin, extent), role);
                    self.inside(value, role);
                }
            },
        }
    }

    /// Which elements a container has.
    fn structure(&mut self, value: &Value, extent: Extent, role: Role) {
        self.push(Task::Origin(value.origin, extent), role);
        if let Datum::Hash(hash) = &value.datum {
            for (_, entry) in hash.iter() {
                self.push(Task::Origin(entry.key, Extent::Whole), role);
            }
        }
    }

    fn task(&mut self, task: Task, role: Role) {
        match task {
            Task::Origin(origin, extent) => self.origin(origin, extent, role),
            Task::Definition(id, extent) => {
                let definition = self.evaluator.trace.definition(id);
                let (value, control) = (definition.value.clone(), definition.control);
                let how = definition.how;
                if let Some(at) = how.written() {
                    self.happened(at);
                }
                if let How::Default(parameter) = how {
                    self.missed(parameter.span);
                }
                self.part(&value, extent, role);
                self.condition(Task::Control(control));
            }
            Task::Control(control) => self.control(control),
            Task::Existence(id) => self.existence(id),
            Task::Attribute(id, name) => {
                let attribute = self.evaluator.resources[id.index()].attribute(&name);
                if let Some(value) = attribute.map(|attribute| attribute.value.clone()) {
                    self.value(&value, role);
                }
                self.around_attribute(id, &name);
            }
            Task::Around(id, name) => self.around_attribute(id, &name),
            Task::Collector(id) => self.found_by(id),
            Task::Titles(type_name) => self.titles(&type_name),
            Task::Question(question) => self.question(question),
        }
    }

    fn origin(&mut self, origin: Origin, extent: Extent, role: Role) {
        let node = match self.evaluator.trace.source(origin) {
            Source::Nowhere => return,
            Source::Written(at) => return self.written(at, role),
            Source::Node(node) => node.clone(),
        };
        if let Some(at) = node.written() {
            self.happened(at.span);
        }
        match node {
            Node::Outside(name) => {
                if !self.outside.contains(&name) {
                    self.outside.push(name);
                }
            }
            Node::Variable {
                definition,
                scope,
                passed,
                at,
            } => {
                self.push(Task::Definition(definition, extent), role);
                if let Kind::Variable(name) = &at.kind {
                    self.looked_up(name, scope, passed, Some(definition));
                }
            }
            Node::Unknown { scope, passed, at } => {
                if let Kind::Variable(name) = &at.kind {
                    self.looked_up(name, scope, passed, None);
                }
            }
            Node::Element { operands, .. } => {
                let parts = self.evaluator.trace.operands(operands).to_vec();
                let [element, container, key] = &parts[..] else {
                    return;
                };
                let Extent::Decides(decision) = extent else {
                    self.part(element, extent, role);
                    let role = condition_of(role);
                    self.beside(container, key, role);
                    return self.value(key, role);
                };
                // What is not there is no value of its own, which could decide something.
                let is_there = element.origin != container.origin;
                let own = if is_there { extent } else { Extent::Whole };
                self.part(element, own, role);
                let role = condition_of(role);
                match self.decisions.access(container, key, decision) {
                    Some(around) => {
                        self.beside_as(container, key, Extent::Decides(around), role);
                    }
                    None => self.beside(container, key, role),
                }
                if !self.is_idle_key(container, key, decision) {
                    self.value(key, role);
                }
            }
            Node::Operation { at, operands } => {
                let operands = self.evaluator.trace.operands(operands).to_vec();
                self.operation(at, &operands, extent, operand_of(role));
            }
            Node::Interpolation { at, operands } => {
                let role = operand_of(role);
                for piece in self.evaluator.trace.pieces(at, operands) {
                    self.value(&piece, role);
                }
            }
            Node::Outcome { value, control, of } => {
                let idle = of.is_some_and(|at| self.is_idle_choice(at, control, &extent));
                self.push(Task::Origin(value, extent), role);
                let control = match idle {
                    true => self.evaluator.trace.control(control).around,
                    false => control,
                };
                self.condition(Task::Control(control));
            }
            Node::Chosen {
                value, operands, ..
            } => {
                self.push(Task::Origin(value, extent), role);
                let operands = self.evaluator.trace.operands(operands).to_vec();
                let role = condition_of(role);
                operands
                    .iter()
                    .for_each(|operand| self.value(operand, role));
            }
            Node::Found {
                value,
                key,
                decided,
            } => {
                self.push(Task::Origin(value, extent), role);
                let role = condition_of(role);
                self.push(Task::Origin(key, Extent::Whole), role);
                for origin in self.evaluator.trace.decided(decided).to_vec() {
                    self.push(Task::Origin(origin, Extent::Whole), role);
                }
            }
            Node::Lacking { start } => self.silent_from(start, 0),
            Node::Having { start, before } => {
                let key = self.evaluator.key_of_data(start, before);
                if let Some(at) = key.and_then(Origin::offset) {
                    self.written(at, condition_of(role));
                }
                self.silent_from(start, before + 1);
            }
            Node::Unsaid { start, end } => self.silent_in(Span::new(start, end)),
            Node::Made { operands, .. } => {
                let operands = self.evaluator.trace.operands(operands).to_vec();
                let role = operand_of(role);
                operands
                    .iter()
                    .for_each(|operand| self.value(operand, role));
            }
            Node::Structure(of) => {
                let role = operand_of(role);
                self.push(Task::Origin(of, Extent::Structure), role);
            }
            Node::Present(id) => self.condition(Task::Existence(id)),
            Node::Attribute { of, name } => self.condition(Task::Around(of, name)),
            Node::LookUp(it) => self.looked_up(&it.name, it.scope, it.passed, it.found),
            Node::Tagged(id) => self.tagged(id),
            Node::Untaken { passed } => {
                // Another class in the place of one that is there could have taken something.
                self.condition(Task::Titles("class".into()));
                self.absence(Question::Could(Effect::Takes, passed));
            }
            Node::Absent { passed, type_name } => {
                self.condition(Task::Titles(type_name.clone()));
                // Another class in the place of one that is there could have declared it.
                self.condition(Task::Titles("class".into()));
                let effect = match type_name == "class" {
                    true => Effect::Includes(None),
                    false => Effect::Declares(Some(type_name)),
                };
                self.absence(Question::Could(effect, passed));
            }
        }
    }

    fn operation(&mut self, at: &'t Expression, operands: &[Value], extent: Extent, role: Role) {
        let (extent, then) = match extent {
            Extent::Decides(decision) => match self.decisions.key(decision) {
                Some(key) => (Extent::Entry(key.clone()), None),
                None => (Extent::Whole, Some(decision)),
            },
            other => (other, None),
        };
        let tried;
        let operands = match &at.kind {
            Kind::Case(case) => {
                tried = decisions::needed(case, operands);
                &tried[..]
            }
            _ => operands,
        };
        if self.decided(at, operands, then, role) {
            return;
        }
        if let Extent::Entry(key) = &extent
            && self.entry_of(at, operands, key, role)
        {
            return;
        }
        match (&extent, &at.kind, operands) {
            (Extent::Kind, Kind::Hash(_), _) => return,
            (Extent::Kind, Kind::Binary(Operator::Add, _), [left, _]) => {
                return self.part(left, Extent::Kind, role);
            }
            (Extent::Kind, kind, [all, ..]) if calls(kind, &["filter"]) => {
                return self.part(all, Extent::Kind, role);
            }
            _ => {}
        }
        // The elements of an array that is written out have origins of their own.
        let written = matches!(at.kind, Kind::Array(_) | Kind::Splat(_));
        let extent = match extent {
            _ if counts(&at.kind) => Extent::Length,
            Extent::Length if written => Extent::Length,
            _ if written => Extent::Structure,
            Extent::Whole => Extent::Whole,
            other if keeps_structure(&at.kind) => other,
            // The elements are the same, at other places.
            _ if calls(&at.kind, &["reverse_each", "step"]) => Extent::Structure,
            _ => Extent::Whole,
        };
        for operand in operands {
            self.part(operand, extent.clone(), role);
        }
    }

    /// What decides a test. Answers whether it is known how.
    fn decided(
        &mut self,
        at: &'t Expression,
        operands: &[Value],
        then: Option<u32>,
        role: Role,
    ) -> bool {
        let (Kind::Binary(..) | Kind::Not(_) | Kind::Case(_) | Kind::Selector(_)) = &at.kind else {
            return false;
        };
        if let Kind::Binary(operator @ (Operator::And | Operator::Or), both) = &at.kind
            && self.one_side_decides(at, *operator, &both[1], operands, then, role)
        {
            return true;
        }
        // Only one of them is looked at in this way: what is written in one place may reach several.
        let leads = |operand: &Value| self.is_choice(operand.origin);
        let Some(which) = operands.iter().position(leads) else {
            return false;
        };
        let decision = match (&at.kind, operands) {
            (Kind::Binary(Operator::In, _), [needle, found]) if self.is_member(found) => {
                // What was found is all that was looked at.
                let array = Array::from(vec![found.clone()]);
                let tried = [needle.clone(), Value::new(array, found.origin)];
                let in_array = (which == 0).then_some(&tried);
                in_array.and_then(|tried| self.decisions.operation(at, tried, which, then))
            }
            _ => self.decisions.operation(at, operands, which, then),
        };
        let Some(decision) = decision else {
            return false;
        };
        for (number, operand) in operands.iter().enumerate() {
            match number == which {
                true => self.part(operand, Extent::Decides(decision), role),
                false => self.value(operand, role),
            }
        }
        true
    }

    /// `… and false` does not hold and `… or true` does, whatever the other side is. Answers whether it is such a one.
    fn one_side_decides(
        &mut self,
        at: &'t Expression,
        operator: Operator,
        right_at: &'t Expression,
        operands: &[Value],
        then: Option<u32>,
        role: Role,
    ) -> bool {
        let decides = |datum: &Datum| datum.is_true() == (operator == Operator::Or);
        // What the right side does, other than coming to a value, depends on the left one.
        let effects = self
            .absences
            .effects(self.evaluator, Code::Expression(right_at));
        if !effects.are_none() || may_match(at) {
            return false;
        }
        match operands {
            [_, right] if decides(&right.datum) => {
                match self.decisions.operation(at, operands, 1, then) {
                    Some(decision) => self.part(right, Extent::Decides(decision), role),
                    None => self.value(right, role),
                }
                true
            }
            // Either side is enough. The right one never ran, so nothing that is written in it reaches the left one.
            [left] if decides(&left.datum) => {
                self.absences.is_decided_once(self.evaluator, at)
                    && self
                        .absences
                        .constant(self.evaluator, right_at)
                        .is_some_and(|right| decides(&right))
            }
            _ => false,
        }
    }

    /// Whether a value is the element that `in` found.
    fn is_member(&self, found: &Value) -> bool {
        let trace = &self.evaluator.trace;
        match trace.source(found.origin) {
            Source::Node(Node::Element { operands, .. }) => {
                let key = trace.operands(*operands).get(2);
                key.is_some_and(|key| key.origin == Origin::NOWHERE)
            }
            _ => false,
        }
    }

    /// Whether a value was taken out of something or chosen, or decided by something that was.
    fn is_choice(&self, mut origin: Origin) -> bool {
        loop {
            let Source::Node(node) = self.evaluator.trace.source(origin) else {
                return false;
            };
            match node {
                Node::Element { .. } | Node::Outcome { of: Some(_), .. } => return true,
                Node::Operation { at, .. } => {
                    return matches!(at.kind, Kind::Not(_) | Kind::Binary(..));
                }
                Node::Variable { definition, .. } => {
                    origin = self.evaluator.trace.definition(*definition).value.origin;
                }
                _ => return false,
            }
        }
    }

    /// Whether a key that is written in its place could be any other, and the decision would be the same.
    fn is_idle_key(&self, container: &Value, key: &Value, decision: u32) -> bool {
        let stays = |other: &Datum| self.decisions.stays(decision, other);
        key.origin.offset().is_some()
            && self.evaluator.is_fixed(container)
            && decisions::elements(&container.datum)
                .is_some_and(|others| others.into_iter().all(stays))
    }

    /// Whether a conditional could have chosen otherwise, and as much of the value as matters would be the same.
    fn is_idle_choice(&mut self, at: &'t Expression, control: ControlId, extent: &Extent) -> bool {
        let Cause::Test { at: tested, .. } = self.evaluator.trace.control(control).cause else {
            return false;
        };
        let (ways, open) = decisions::ways(at);
        let leaves = ways.iter().any(|way| Leaving::of(way.code).is_possible());
        if !std::ptr::eq(tested, at) || ways.is_empty() || leaves {
            return false;
        }
        if *extent == Extent::Length && !open {
            // Whatever the elements are, there are as many of them.
            let mut lengths = ways
                .iter()
                .map(|way| way.value.and_then(decisions::written_length));
            let first = lengths.next().flatten();
            if first.is_some() && lengths.all(|length| length == first) {
                return true;
            }
        }
        if !self.absences.is_decided_once(self.evaluator, at) {
            return false;
        }
        // Code that never ran is reached by nothing, and nothing by what is written in it.
        let mut others = Vec::new();
        for way in &ways {
            let is_chosen = !self.absences.is_passed(self.evaluator, way.code);
            if is_chosen && matches!(extent, Extent::Decides(_)) {
                continue;
            }
            match way
                .value
                .and_then(|value| self.absences.constant(self.evaluator, value))
            {
                Some(constant) => others.push(constant),
                None => return false,
            }
        }
        if open {
            others.push(Datum::Undef);
        }
        match extent {
            Extent::Decides(decision) => others
                .iter()
                .all(|other| self.decisions.stays(*decision, other)),
            _ => {
                let mut parts = others.iter().map(|other| seen(other, extent));
                let first = parts.next();
                parts.all(|part| Some(part) == first)
            }
        }
    }

    /// Which way a conditional went, as far as that matters.
    fn tested(&mut self, at: &'t Expression, outcome: Origin, role: Role) {
        let mut extent = Extent::Whole;
        if let Kind::If(conditional) = &at.kind
            && self.is_choice(outcome)
            && self.absences.is_decided_once(self.evaluator, at)
        {
            let then = Code::Block(&conditional.then);
            let first = !self.absences.is_passed(self.evaluator, then);
            let decision = self.decisions.truth(first != conditional.unless);
            extent = Extent::Decides(decision);
        }
        self.push(Task::Origin(outcome, extent), role);
    }

    /// What decides which element a key means in the result of an operation that is known well. Answers whether
    /// it is.
    fn entry_of(&mut self, at: &Expression, operands: &[Value], key: &Datum, role: Role) -> bool {
        let adds = matches!(at.kind, Kind::Binary(Operator::Add, _));
        match (key, operands) {
            // The right one wins.
            (_, [left, right]) if adds && left.is_hash() => {
                let Datum::Hash(wins) = &right.datum else {
                    return false;
                };
                self.part(right, Extent::Entry(key.clone()), role);
                let of_left = match wins.get(key) {
                    Some(_) => Extent::Kind,
                    None => Extent::Entry(key.clone()),
                };
                self.part(left, of_left, role);
                true
            }
            // The right one begins where the left one ends.
            (Datum::Integer(number), [left, right]) if adds => {
                let (Datum::Array(first), Datum::Array(_)) = (&left.datum, &right.datum) else {
                    return false;
                };
                let beyond = *number - first.len() as i64;
                if beyond < 0 {
                    self.part(left, Extent::Entry(key.clone()), role);
                } else {
                    self.part(left, Extent::Length, role);
                    self.part(right, Extent::Entry(Datum::Integer(beyond)), role);
                }
                true
            }
            // What was decided about elements behind it does not matter.
            (Datum::Integer(number), [all, decided @ ..]) if calls(&at.kind, &["filter"]) => {
                let kept = decided.iter().enumerate();
                let mut kept = kept.filter(|(_, decided)| decided.datum.is_true());
                let Some((position, _)) = kept.nth(*number as usize) else {
                    return false;
                };
                self.part(all, Extent::Entry(Datum::Integer(position as i64)), role);
                let decided = decided[..=position].iter();
                decided.for_each(|decided| self.value(decided, role));
                true
            }
            _ => false,
        }
    }

    /// A data file could have said something behind its first keys.
    fn silent_from(&mut self, file: u32, keys: u32) {
        let key = self.evaluator.key_of_data(file, keys);
        if let Some(at) = key.and_then(Origin::offset) {
            self.silent_in(Span::new(at, self.evaluator.end_of_data(file)));
        }
    }

    /// Something could have been said in a stretch of data.
    fn silent_in(&mut self, stretch: Span) {
        match &mut self.search {
            None => drop(self.silent.insert(stretch)),
            Some(search) if search.sought.meets(stretch) => search.reached.push(self.current),
            Some(_) => {}
        }
    }

    /// What else in a container could be what a key means.
    fn beside(&mut self, container: &Value, key: &Value, role: Role) {
        let extent = match (&container.datum, &key.datum) {
            (Datum::Hash(_), _) | (Datum::Array(_), Datum::Integer(0..)) => {
                Extent::Entry(key.datum.clone())
            }
            _ => Extent::Structure,
        };
        self.beside_as(container, key, extent, role);
    }

    fn beside_as(&mut self, container: &Value, key: &Value, extent: Extent, role: Role) {
        self.push(Task::Origin(container.origin, extent), role);
        let Datum::Hash(hash) = &container.datum else {
            return;
        };
        if self.is_taken_apart(container.origin) {
            return;
        }
        // Of several entries with the same key the last counts, so those before this one do not matter.
        let from = hash
            .iter()
            .position(|(known, _)| *known == key.datum)
            .unwrap_or(0);
        for (_, entry) in hash.iter().skip(from) {
            self.push(Task::Origin(entry.key, Extent::Whole), role);
        }
    }

    /// Whether a container is looked at again as what it was before it got here.
    fn is_taken_apart(&self, origin: Origin) -> bool {
        let Source::Node(node) = self.evaluator.trace.source(origin) else {
            return false;
        };
        match node {
            Node::Variable { .. } | Node::Element { .. } => true,
            Node::Operation { at, operands } => {
                let operands = self.evaluator.trace.operands(*operands);
                matches!(at.kind, Kind::Binary(Operator::Add, _))
                    && operands.iter().all(Value::is_hash)
            }
            _ => false,
        }
    }

    /// A look-up passes scopes in which code that did not run could have defined the variable.
    fn looked_up(
        &mut self,
        name: &EcoString,
        scope: ScopeId,
        passed: u32,
        found: Option<DefinitionId>,
    ) {
        if name.contains(':') {
            let qualified = name.trim_start_matches("::").rsplit_once("::");
            let Some((class, leaf)) = qualified else {
                return;
            };
            let scope = self.evaluator.class_scope(class);
            match found {
                Some(found) => {
                    if let Some(scope) = scope {
                        self.given(scope, &leaf.into(), found);
                    }
                }
                None => {
                    let effect = Effect::Includes(Some(class.into()));
                    self.absence(Question::Could(effect, passed));
                    if let Some(scope) = scope {
                        self.absence(Question::Assigns(scope, leaf.into(), passed));
                    }
                }
            }
            return;
        }
        let mut next = Some(scope);
        while let Some(id) = next {
            let here = self.evaluator.scopes[id.index()].variables.get(name);
            if let Some(found) = found.filter(|_| here == found) {
                if id != scope && self.absences.is_local(self.evaluator, name) {
                    self.first_declared(scope);
                }
                return self.given(id, name, found);
            }
            self.absence(Question::Assigns(id, name.clone(), passed));
            next = self.evaluator.next_scope(id);
        }
        // It may be, or could be, the variable of a lambda in which the class was declared.
        let is_elsewhere = match found {
            Some(found) => !self.is_defined_in(scope, found),
            None => true,
        };
        if is_elsewhere && self.absences.is_local(self.evaluator, name) {
            self.first_declared(scope);
        }
    }

    /// Whether the code of a scope defined a variable.
    fn is_defined_in(&self, scope: ScopeId, definition: DefinitionId) -> bool {
        let resource = self.evaluator.scopes[scope.index()].resource;
        let mut control = self.evaluator.trace.definition(definition).control;
        while control != ControlId::NONE {
            work::step();
            let this = self.evaluator.trace.control(control);
            match this.cause {
                Cause::Declared(id) if id == resource => return true,
                _ => control = this.around,
            }
        }
        false
    }

    /// A parameter is what the attribute of the class or resource is: others may set that, or could have.
    fn given(&mut self, scope: ScopeId, name: &EcoString, found: DefinitionId) {
        let is_parameter = matches!(
            self.evaluator.trace.definition(found).how,
            How::Given(_) | How::Data(_) | How::Default(_)
        );
        let scope = &self.evaluator.scopes[scope.index()];
        if is_parameter && scope.variables.get(name) == Some(found) {
            self.condition(Task::Around(scope.resource, name.clone()));
        }
    }
}

/// Whether an operation on containers keeps their elements as they are.
fn keeps_structure(kind: &Kind) -> bool {
    match kind {
        Kind::Binary(Operator::Add | Operator::ShiftLeft, _) => true,
        kind => calls(kind, &["map"]),
    }
}

/// Whether one of these functions is called.
fn calls(kind: &Kind, names: &[&str]) -> bool {
    let Kind::Call(call) = kind else {
        return false;
    };
    matches!(&call.function.kind, Kind::Name(name) if names.contains(&name.as_str()))
}

/// Whether an operation only looks at which elements there are.
fn counts(kind: &Kind) -> bool {
    // A text has a length, too, but no elements of its own.
    let of_container = |at: &Expression| !matches!(at.kind, Kind::Text(_) | Kind::Interpolated(_));
    calls(kind, &["length", "size", "empty"])
        && matches!(kind, Kind::Call(call) if call.arguments.iter().all(of_container))
}

/// As much of a value as matters.
fn seen(value: &Datum, extent: &Extent) -> Option<Datum> {
    match (extent, value) {
        (Extent::Kind, Datum::Hash(_)) => Some(Datum::Bool(true)),
        (Extent::Length, Datum::Array(array)) => Some(Datum::Integer(array.len() as i64)),
        (Extent::Entry(key), Datum::Hash(hash)) => hash.get(key).map(|one| one.datum.clone()),
        (Extent::Entry(Datum::Integer(at @ 0..)), Datum::Array(array)) => {
            array.get(*at as usize).map(|one| one.datum.clone())
        }
        (_, whole) => Some(whole.clone()),
    }
}

/// Whether `$1` and the like may be others behind an expression.
fn may_match(at: &Expression) -> bool {
    let mut found = matches!(
        &at.kind,
        Kind::Binary(Operator::Match | Operator::NoMatch | Operator::In, _)
    );
    at.parts(&mut |part| {
        found |= match part {
            Part::Expression(inner) => may_match(inner),
            Part::Lambda(lambda) => lambda.body.statements.iter().any(may_match),
        };
    });
    found
}

fn operand_of(role: Role) -> Role {
    match role {
        Role::Value => Role::Operand,
        other => other,
    }
}

fn condition_of(role: Role) -> Role {
    match role {
        Role::Absence => Role::Absence,
        _ => Role::Condition,
    }
}
