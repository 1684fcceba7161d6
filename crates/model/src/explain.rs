//! Why a value is what it is: read back from the logs and the trace, for one path at a time.
//!
//! The same record is read in three ways: *where* (follow copies to the literal; none if something was
//! computed), *expression* (the operations over the literals) and *dependency* (everything written that
//! the value stands or falls with). What lost is there too, with the rule that beat it.

use crate::cell::{Cell, Child, Content};
use crate::definitions::{Candidate, Element, candidates, continued, element, target, way};
use crate::explanation::{
    Dependence, Explanation, Expression, Lost, NoSuchPath, Role, Rule, Step, StepKind, Subject,
};
use crate::path::{self, Path, Segment};
use crate::replay::Reader;
use crate::source::Span;
use crate::store::{EntryId, Found, Inclusion, View};
use crate::symbol::Symbol;
use crate::trace::{
    Link, Node, Operand, Operation, Origin, Recorder, Role as OperandRole, Source, Trace,
};

/// How many steps an expression or a chain of links may have in one answer.
const STEPS: usize = 10_000;

/// How far links are followed through links.
const DEEPEST: usize = 500;

/// Explains values of a compilation.
pub struct Explainer<'a, 'r> {
    reader: &'r mut Reader<'a, Trace>,
    /// The stretch of the literal, reference or keyword that is written at an offset.
    extent: &'r dyn Fn(u32) -> Span,
    /// Whether what is written at an offset is put into a block from outside of it.
    is_placed: &'r dyn Fn(u32) -> bool,
    /// Where files begin and end, once somebody has asked.
    file_marks: Option<Vec<EntryId>>,
}

#[derive(Default)]
struct Answer {
    /// Whether a condition is being explained.
    control: bool,
    steps: Vec<Step>,
    depends: Vec<Dependence>,
    lost: Vec<Lost<Subject>>,
}

impl Answer {
    fn add(&mut self, kind: StepKind, role: Role, span: Span, path: String) {
        self.steps.push(Step {
            kind,
            span,
            path,
            control: self.control,
        });
        self.depend(span, role);
    }

    fn depend(&mut self, span: Span, role: Role) {
        // What an operand of a condition is, is a condition for the result.
        let role = match role {
            Role::Operand | Role::Value if self.control => Role::Condition,
            role => role,
        };
        self.depends.push(Dependence { span, role });
    }
}

impl<'a, 'r> Explainer<'a, 'r> {
    /// An explainer of what `reader` reads.
    pub fn new(
        reader: &'r mut Reader<'a, Trace>,
        extent: &'r dyn Fn(u32) -> Span,
        is_placed: &'r dyn Fn(u32) -> bool,
    ) -> Self {
        Self {
            reader,
            extent,
            is_placed,
            file_marks: None,
        }
    }

    /// Explains the value at a path below `entry`, the name under which the root has the configuration.
    pub fn explain(
        &mut self,
        root: View,
        entry: Symbol,
        path: &Path,
    ) -> Result<Explanation<Subject>, NoSuchPath> {
        let mut answer = Answer::default();
        let mut view = root;
        // The path as far as it is known: as text, for the steps, and as it is.
        let mut known = String::new();
        let mut taken = Path::default();
        let mut keys = vec![Segment::Key(self.name(entry).to_owned())];
        keys.extend(path.0.iter().cloned());
        let mut subject = None;
        for (i, segment) in keys.iter().enumerate() {
            let found = match (segment, &subject) {
                (Segment::Key(name), None | Some(Subject::Entry(_))) => {
                    let inside = match &subject {
                        None => Some(view),
                        Some(Subject::Entry(found)) => self.reader.store.child(*found),
                        Some(_) => None,
                    };
                    let key = self.reader.symbols.get(self.reader.sources, name);
                    match (inside, key) {
                        (Some(inside), Some(key)) => {
                            view = inside;
                            let rest = &keys[i + 1..];
                            let found = self.define(&mut answer, view, key, &known, rest, 0);
                            found.map(Subject::Entry)
                        }
                        // A number may be meant as an index.
                        (None, _) => name
                            .parse()
                            .ok()
                            .and_then(|index| self.enter(&mut answer, subject, index, &known)),
                        _ => None,
                    }
                }
                (Segment::Key(name), _) => name
                    .parse()
                    .ok()
                    .and_then(|index| self.enter(&mut answer, subject, index, &known)),
                (&Segment::Index(index), _) => self.enter(&mut answer, subject, index, &known),
            };
            let Some(found) = found else {
                let names = match subject {
                    Some(subject) => self.names_inside(subject),
                    None => self.names(root),
                };
                let known = taken;
                return Err(NoSuchPath { known, names });
            };
            if i > 0 {
                let segment = match (segment, found) {
                    (Segment::Key(name), Subject::Entry(_)) => Segment::Key(name.clone()),
                    (Segment::Key(number), _) => {
                        Segment::Index(number.parse().expect("an element has a number"))
                    }
                    (Segment::Index(index), _) => Segment::Index(*index),
                };
                known = match &segment {
                    Segment::Key(name) => joined(&known, name),
                    Segment::Index(index) => format!("{known}[{index}]"),
                };
                taken.0.push(segment);
            }
            subject = Some(found);
        }
        let value = subject.expect("the configuration itself was found");
        let expression = self.value(&mut answer, value, known);
        if let Some(last) = answer.steps.last_mut()
            && last.kind == StepKind::Written
            && (self.is_placed)(last.span.start)
        {
            last.kind = StepKind::Placed;
        }
        let place = match (&expression.operator, value) {
            (None, _) => Some(expression.span),
            _ => None,
        };
        self.order(&mut answer, view, value);
        answer.steps.reverse();
        let mut seen = rustc_hash::FxHashSet::default();
        answer.depends.reverse();
        answer.depends.retain(|dependence| seen.insert(*dependence));
        Ok(Explanation {
            path: taken,
            value,
            place,
            steps: answer.steps,
            lost: answer.lost,
            depends: answer.depends,
            expression,
        })
    }

    fn name(&self, symbol: Symbol) -> &'a str {
        self.reader.symbols.name(self.reader.sources, symbol)
    }

    fn names(&mut self, view: View) -> Vec<String> {
        let layout = self.reader.layout(view);
        let keys = layout
            .found(view.time)
            .map(|found| self.reader.store.entry(found.entry).key);
        keys.map(|key| self.name(key).to_owned()).collect()
    }

    /// What there is inside a value: names, or the first elements.
    fn names_inside(&mut self, subject: Subject) -> Vec<String> {
        let inside = match subject {
            Subject::Entry(found) => self.reader.store.child(found),
            _ => None,
        };
        if let Some(view) = inside {
            return self.names(view);
        }
        let literals = self.reader.literals;
        match self.cell(subject).content(literals) {
            Content::List(items) => {
                let count = literals.items(items).len();
                (0..count).map(|index| format!("[{index}]")).collect()
            }
            _ => Vec::new(),
        }
    }

    fn cell(&self, subject: Subject) -> Cell {
        match subject {
            Subject::Entry(found) => self.reader.store.entry(found.entry).cell,
            Subject::Item(item) => item.cell,
            Subject::Operand(operand) => operand.cell,
        }
    }

    /// An element of a list, with the way to the list.
    fn enter(
        &mut self,
        answer: &mut Answer,
        list: Option<Subject>,
        index: usize,
        path: &str,
    ) -> Option<Subject> {
        let item = self.item(list, index)?;
        let mut origin = self.origin_of(list?);
        let mut path = path.to_owned();
        let mut depth = 0;
        // An element that is told as the whole list is has that way for its own.
        let is_whole = matches!(item, Subject::Operand(operand) if operand.origin == origin);
        while let Source::Node(Node::Link(link)) = self.reader.store.recorder.source(origin)
            && !is_whole
            && depth < DEEPEST
        {
            let link = *link;
            let target = self.follow(answer, link, path, depth)?;
            origin = self.reader.store.entry(target.entry).origin;
            path = self.link_text(link);
            depth += 1;
        }
        Some(item)
    }

    fn origin_of(&self, subject: Subject) -> Origin {
        match subject {
            Subject::Entry(found) => self.reader.store.entry(found.entry).origin,
            Subject::Item(item) => Origin::written(item.at),
            Subject::Operand(operand) => operand.origin,
        }
    }

    /// An element of a list. If the list was computed from its elements, so was the element.
    fn item(&self, subject: Option<Subject>, index: usize) -> Option<Subject> {
        let (cell, origin) = (self.cell(subject?), self.origin_of(subject?));
        let Content::List(items) = cell.content(self.reader.literals) else {
            return None;
        };
        let item = *self.reader.literals.items(items).get(index)?;
        Some(match element(self.reader, cell, origin, index) {
            Element::Item(item) => Subject::Item(item),
            Element::Operand(operand) => Subject::Operand(operand),
            Element::Unknown => Subject::Operand(Operand {
                cell: item.cell,
                origin,
                role: OperandRole::Operand,
            }),
        })
    }

    /// Finds the definition of a name that counts, and takes note of the way to it and of what it
    /// beat; `rest` is how the path goes on.
    fn define(
        &mut self,
        answer: &mut Answer,
        view: View,
        key: Symbol,
        around: &str,
        rest: &[Segment],
        depth: usize,
    ) -> Option<Found> {
        let candidates = self.candidates(view, key);
        let winner = candidates.first()?.clone();
        let path = joined(around, self.name(key));
        self.lose(answer, &candidates, rest);
        self.cross(answer, &candidates, &path, depth);
        let cell = self.reader.store.entry(winner.found.entry).cell;
        let origin = self.reader.store.entry(winner.found.entry).origin;
        match self.reader.store.recorder.source(origin) {
            Source::Written(at) if cell.child().is_some() => {
                self.block(answer, &candidates, at, path, depth);
            }
            Source::Node(Node::Operation(operation)) if cell.child().is_some() => {
                let operation = operation.clone();
                let value = Subject::Entry(winner.found);
                self.operation(answer, value, &operation, path, depth + 1);
            }
            Source::Node(Node::Link(link)) if cell.child().is_some() => {
                let link = *link;
                self.follow(answer, link, path, depth);
            }
            _ => {}
        }
        Some(winner.found)
    }

    /// Takes note of where a block is defined. One that was placed into keeps its own definition, and the
    /// way to it; the placement is told by what was placed.
    fn block(
        &mut self,
        answer: &mut Answer,
        candidates: &[Candidate],
        at: u32,
        path: String,
        depth: usize,
    ) {
        let store = self.reader.store;
        let Some(base) = continued(store, candidates) else {
            return self.step(answer, StepKind::Block, Role::Block, at, path);
        };
        for &edge in &base.edges {
            self.edge(answer, edge, &path, depth);
        }
        for &entry in &base.position {
            self.files(answer, entry, &path);
        }
        match store.recorder.source(store.entry(base.found.entry).origin) {
            Source::Node(Node::Link(link)) => {
                let link = *link;
                self.follow(answer, link, path, depth + 1);
            }
            Source::Written(at) => self.step(answer, StepKind::Block, Role::Block, at, path),
            Source::Node(_) => {}
        }
    }

    /// All definitions of a name that a view sees, the one that counts first.
    fn candidates(&self, view: View, key: Symbol) -> Vec<Candidate> {
        candidates(self.reader.store, view, key)
    }

    /// Takes note of the definitions that lost.
    fn lose(&mut self, answer: &mut Answer, candidates: &[Candidate], rest: &[Segment]) {
        let store = self.reader.store;
        let winner = &candidates[0];
        let place = |candidate: &Candidate| {
            let entry = store.entry(candidate.found.entry);
            store.recorder.place(entry.origin)
        };
        let mut continued = false;
        for (i, candidate) in candidates.iter().enumerate() {
            let cell = store.entry(candidate.found.entry).cell;
            let is_continued =
                std::mem::replace(&mut continued, matches!(cell.child(), Some(Child::Edit(_))));
            // What was computed is no other definition than what it was computed from.
            let is_winner = place(candidate) == place(winner);
            if i == 0 || is_continued || is_winner || cell.as_late().is_some() {
                continue;
            }
            let rule = self.rule(winner, candidate);
            let Some(value) = self.below(Subject::Entry(candidate.found), rest) else {
                continue;
            };
            let origin = match value {
                Subject::Entry(found) => store.recorder.source(store.entry(found.entry).origin),
                Subject::Item(item) => Source::Written(item.at),
                Subject::Operand(operand) => store.recorder.source(operand.origin),
            };
            let span = self.span(origin);
            let prototypes = candidate.edges.iter().rev();
            let prototypes =
                prototypes.filter(|&&edge| store.inclusion(edge) == Inclusion::Prototype);
            let through = prototypes.map(|&edge| self.edge_span(edge)).collect();
            answer.lost.push(Lost {
                value: Some(value),
                span,
                rule,
                through,
            });
        }
    }

    /// What a path leads to below a value, without asking how.
    fn below(&self, subject: Subject, path: &[Segment]) -> Option<Subject> {
        let mut subject = subject;
        for segment in path {
            subject = match (segment, subject) {
                (Segment::Key(name), Subject::Entry(found))
                    if self.reader.store.child(found).is_some() =>
                {
                    let view = self.reader.store.child(found)?;
                    let key = self.reader.symbols.get(self.reader.sources, name)?;
                    Subject::Entry(self.reader.store.find(view, key)?)
                }
                (Segment::Index(index), subject) => self.item(Some(subject), *index)?,
                (Segment::Key(name), subject) => self.item(Some(subject), name.parse().ok()?)?,
            };
        }
        Some(subject)
    }

    /// Why `winner` beats `loser`: the first place where their ways part tells.
    fn rule(&self, winner: &Candidate, loser: &Candidate) -> Rule {
        let store = self.reader.store;
        let parted = winner
            .position
            .iter()
            .zip(&loser.position)
            .position(|(a, b)| a != b)
            .unwrap_or(0);
        let is_version = |candidate: &Candidate| {
            let edge = candidate.edges.get(parted);
            edge.map(|&edge| store.inclusion(edge) == Inclusion::Version)
        };
        let origin = store.entry(winner.found.entry).origin;
        let at = store.recorder.place(origin);
        let is_placed = at.is_some_and(|at| (self.is_placed)(at));
        match (is_version(winner), is_version(loser)) {
            (None, _) if is_placed => Rule::Placement,
            (None, Some(true)) => Rule::Placement,
            (None, Some(false)) => Rule::OwnOverInherited,
            (None, None) => Rule::Later,
            (Some(_), None) => Rule::LaterPrototype,
            (Some(_), Some(_)) => Rule::LaterPrototype,
        }
    }

    /// Takes note of the prototypes and files through which the definition that counts came.
    fn cross(&mut self, answer: &mut Answer, candidates: &[Candidate], path: &str, depth: usize) {
        let way = way(self.reader.store, candidates).clone();
        for &edge in &way.edges {
            self.edge(answer, edge, path, depth);
        }
        for &entry in &way.position {
            self.files(answer, entry, path);
        }
    }

    /// Takes note of an include that was crossed.
    fn edge(&mut self, answer: &mut Answer, edge: EntryId, path: &str, depth: usize) {
        if self.reader.store.inclusion(edge) == Inclusion::Version {
            return;
        }
        let span = self.edge_span(edge);
        answer.add(StepKind::Prototype, Role::Prototype, span, path.to_owned());
        let told = answer.steps.len();
        let store = self.reader.store;
        let prototype = store.included(edge).expect("an edge is an include");
        if let Source::Node(Node::Link(link)) = store.recorder.source(store.entry(edge).origin) {
            let link = *link;
            // The reference itself is told as the prototype that it is.
            if self
                .follow(answer, link, path.to_owned(), depth + 1)
                .is_some()
            {
                answer.steps.remove(told);
                answer.depends.pop();
            }
        } else if let Some(definition) = store.definition(prototype.block) {
            let line = store.entry(definition);
            if let Source::Written(at) = store.recorder.source(line.origin) {
                let name = self.name(line.key).to_owned();
                self.step(answer, StepKind::Block, Role::Block, at, name);
            }
        }
    }

    fn edge_span(&self, edge: EntryId) -> Span {
        let store = self.reader.store;
        self.span(store.recorder.source(store.entry(edge).origin))
    }

    /// Takes note of the `#include`s that an entry came through: the marks before it, in whatever log,
    /// that have not ended.
    fn files(&mut self, answer: &mut Answer, entry: EntryId, path: &str) {
        let store = self.reader.store;
        let marks = self.file_marks.get_or_insert_with(|| {
            let entries = (0..store.now()).map(EntryId);
            let marks = entries.filter(|&entry| store.entry(entry).key == Symbol::FILE);
            marks.collect()
        });
        let before = marks.partition_point(|mark| mark.0 < entry.0);
        let marks = marks[..before].to_vec();
        let mut ended = 0;
        for mark in marks.into_iter().rev() {
            let line = store.entry(mark);
            if line.cell == Cell::NULL {
                ended += 1;
            } else if ended > 0 {
                ended -= 1;
            } else {
                let span = self.span(store.recorder.source(line.origin));
                let is_known = |step: &Step| step.kind == StepKind::Include && step.span == span;
                if !answer.steps.iter().any(is_known) {
                    answer.add(StepKind::Include, Role::Include, span, path.to_owned());
                }
            }
        }
    }

    fn step(&mut self, answer: &mut Answer, kind: StepKind, role: Role, at: u32, path: String) {
        answer.add(kind, role, (self.extent)(at), path);
    }

    fn span(&self, source: Source<'_>) -> Span {
        match source {
            Source::Written(at) => (self.extent)(at),
            Source::Node(Node::Link(link)) => link.span,
            Source::Node(Node::Operation(operation)) => operation.span,
        }
    }

    /// Follows the last part of the way: from the value at a path to where it is written.
    fn value(&mut self, answer: &mut Answer, value: Subject, path: String) -> Expression<Subject> {
        match value {
            Subject::Item(item) => {
                self.step(answer, StepKind::Written, Role::Value, item.at, path);
                self.elements(answer, value, Role::Value);
                self.literal(value, item.at)
            }
            Subject::Operand(operand) => {
                self.origin(answer, value, operand.origin, path, 0, Role::Value)
            }
            Subject::Entry(found) => {
                let origin = self.reader.store.entry(found.entry).origin;
                if self.reader.store.child(found).is_some() {
                    // A block that was placed into is still where it was defined.
                    let mut steps = answer.steps.iter().rev();
                    let defined =
                        steps.find(|step| step.kind == StepKind::Block && step.path == path);
                    let span = match defined {
                        Some(step) => step.span,
                        None => self.span(self.reader.store.recorder.source(origin)),
                    };
                    return Expression {
                        operator: None,
                        value,
                        span,
                        operands: Vec::new(),
                    };
                }
                self.origin(answer, value, origin, path, 0, Role::Value)
            }
        }
    }

    fn is_block(&self, value: Subject) -> bool {
        matches!(value, Subject::Entry(found) if self.reader.store.child(found).is_some())
    }

    /// The elements of a list that is written out are literals of their own.
    fn elements(&self, answer: &mut Answer, value: Subject, role: Role) {
        let literals = self.reader.literals;
        let mut pending = vec![self.cell(value)];
        while let Some(cell) = pending.pop() {
            if let Content::List(items) = cell.content(literals) {
                for item in literals.items(items) {
                    answer.depend((self.extent)(item.at), role);
                    pending.push(item.cell);
                }
            }
        }
    }

    fn literal(&self, value: Subject, at: u32) -> Expression<Subject> {
        Expression {
            operator: None,
            value,
            span: (self.extent)(at),
            operands: Vec::new(),
        }
    }

    fn origin(
        &mut self,
        answer: &mut Answer,
        value: Subject,
        origin: Origin,
        path: String,
        depth: usize,
        role: Role,
    ) -> Expression<Subject> {
        let (mut value, mut origin, mut path) = (value, origin, path);
        // However long a row of links is, the value is the literal at its end.
        while let Source::Node(Node::Link(link)) = self.reader.store.recorder.source(origin) {
            let link = *link;
            let is_short = depth < DEEPEST && answer.steps.len() < STEPS;
            let found = match self.follow(answer, link, path, depth) {
                Some(found) if is_short => Some(found),
                _ => target(self.reader.store, link).filter(|_| depth == 0),
            };
            let Some(found) = found else {
                return self.literal(value, link.span.start);
            };
            value = Subject::Entry(found);
            origin = self.reader.store.entry(found.entry).origin;
            path = self.link_text(link);
        }
        match self.reader.store.recorder.source(origin) {
            Source::Written(at) if self.is_block(value) => {
                self.step(answer, StepKind::Block, Role::Block, at, path);
                self.literal(value, at)
            }
            Source::Written(at) => {
                self.step(answer, StepKind::Written, role, at, path);
                self.elements(answer, value, role);
                self.literal(value, at)
            }
            Source::Node(Node::Operation(operation)) => {
                let operation = operation.clone();
                self.operation(answer, value, &operation, path, depth)
            }
            Source::Node(Node::Link(_)) => unreachable!("links were followed"),
        }
    }

    fn operation(
        &mut self,
        answer: &mut Answer,
        value: Subject,
        operation: &Operation,
        path: String,
        depth: usize,
    ) -> Expression<Subject> {
        let mut operands = Vec::new();
        if depth < DEEPEST && answer.steps.len() < STEPS {
            // Steps are turned around in the end.
            for operand in operation.operands.iter().rev() {
                let role = match operand.role {
                    OperandRole::Operand => Role::Operand,
                    OperandRole::Condition => Role::Condition,
                };
                let subject = Subject::Operand(*operand);
                let path = String::new();
                let control = answer.control;
                answer.control |= role == Role::Condition;
                let operand = self.origin(answer, subject, operand.origin, path, depth + 1, role);
                answer.control = control;
                operands.push(operand);
            }
            operands.reverse();
        }
        let span = operation.span;
        let kind = StepKind::Operation(operation.operator.into());
        answer.add(kind, Role::Operation, span, path);
        Expression {
            operator: Some(operation.operator.into()),
            value,
            span,
            operands,
        }
    }

    fn link_text(&self, link: Link) -> String {
        let keys = self.reader.store.recorder.keys(link).iter();
        let names: Vec<&str> = keys.map(|&key| self.name(key)).collect();
        names.join(":")
    }

    /// Follows a link: the search for its target is made again, in the blocks as they were.
    fn follow(
        &mut self,
        answer: &mut Answer,
        link: Link,
        path: String,
        depth: usize,
    ) -> Option<Found> {
        let store = self.reader.store;
        let (last, parents) = store.recorder.keys(link).split_last()?;
        let first = *parents.first().unwrap_or(last);
        let mut outwards = 0;
        let mut passed = Vec::new();
        let mut level = link.from;
        while level != link.level {
            let view = View {
                block: level,
                time: link.time,
            };
            if let Some(found) = store.find(view, first) {
                let source = store.recorder.source(store.entry(found.entry).origin);
                passed.push(self.span(source));
            }
            outwards += 1;
            level = store.parent(level)?;
        }
        let told = answer.steps.len();
        let mut view = View {
            block: link.level,
            time: link.time,
        };
        let mut found = None;
        let mut around = String::new();
        let is_shallow = depth < DEEPEST && answer.steps.len() < STEPS;
        for &key in parents.iter().take_while(|_| is_shallow) {
            found = self.define(answer, view, key, &around, &[], depth + 1);
            around = joined(&around, self.name(key));
            view = store.child(found?)?;
        }
        if is_shallow {
            let candidates = self.candidates(view, *last);
            let target = candidates.first()?.clone();
            let name = joined(&around, self.name(*last));
            self.cross(answer, &candidates, &name, depth);
            if store.child(target.found).is_some() {
                let origin = store.entry(target.found.entry).origin;
                match store.recorder.source(origin) {
                    Source::Written(at) => {
                        self.block(answer, &candidates, at, name, depth);
                    }
                    Source::Node(Node::Link(next)) => {
                        let next = *next;
                        self.follow(answer, next, name, depth + 1);
                    }
                    Source::Node(_) => {}
                }
            }
            found = Some(target.found);
        }
        let kind = StepKind::Link { outwards, passed };
        answer.add(kind, Role::Link, link.span, path);
        // Steps are turned around in the end: the link is further out than the way to its target.
        answer.steps[told..].rotate_right(1);
        found
    }

    /// The constraint, if any, that decides where a key stands.
    fn order(&mut self, answer: &mut Answer, view: View, value: Subject) {
        let Subject::Entry(found) = value else { return };
        let key = self.reader.store.entry(found.entry).key;
        let layout = self.reader.layout(view);
        let Some(order) = layout.order() else { return };
        for constraint in crate::order::constraints(self.reader, order) {
            if constraint.first == key || constraint.second == key {
                let start = (self.extent)(constraint.first_at);
                let span = start.to((self.extent)(constraint.second_at));
                answer.steps.insert(
                    0,
                    Step {
                        kind: StepKind::Order,
                        span,
                        path: String::new(),
                        control: false,
                    },
                );
                let role = Role::Order;
                answer.depends.insert(0, Dependence { span, role });
            }
        }
    }
}

/// A path, and a name in what it leads to.
fn joined(path: &str, key: &str) -> String {
    let name = path::name(key);
    match path {
        "" => name.into_owned(),
        path => format!("{path}:{name}"),
    }
}
