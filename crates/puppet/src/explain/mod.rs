//! Why something in a catalog is what it is: the answer, read from the trace.

mod teller;

use std::sync::Arc;

use ecow::EcoString;
use hence_model::explanation::{
    Dependence, Explanation, Expression, NoSuchPath, Role, Rule, Shown,
};
use hence_model::path::{Path, Segment};
use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;

use self::teller::Teller;
use crate::catalog::{key_text, shown_title};
use crate::compile::Compiled;
use crate::evaluate::Evaluator;
use crate::literals::Literals;
use crate::lookup::Key;
use crate::reasons::{Absences, Reasons, Sought};
use crate::resource::{ResourceKind, Said};
use crate::standing::{self, Form, Standing};
use crate::syntax::{Kind, Program};
use crate::trace::{Node, Origin, ResourceId, Source};
use crate::value::{Datum, Hash, Value};

/// A value in the catalog.
pub(crate) struct Leaf {
    /// The resource.
    pub(crate) id: ResourceId,
    /// The attribute; none for a resource that has none.
    pub(crate) attribute: Option<EcoString>,
    /// Where it is in the attribute.
    pub(crate) inside: Vec<Segment>,
    /// The values around it, outermost first, each with the key that leads further in.
    pub(crate) containers: Vec<(Value, Value)>,
    /// Itself.
    pub(crate) value: Value,
}

impl Leaf {
    /// Its path, with how its resource is called.
    fn path(&self, reference: String) -> Vec<Segment> {
        let attribute = self.attribute.iter().map(|name| name.to_string());
        let keys = [reference].into_iter().chain(attribute);
        let inside = self.inside.iter().cloned();
        keys.map(Segment::Key).chain(inside).collect()
    }

    /// An element of it.
    fn element(&self, segment: Segment, key: Datum, value: &Value) -> Leaf {
        let key = Value::new(key, Origin::NOWHERE);
        Leaf {
            id: self.id,
            attribute: self.attribute.clone(),
            inside: [&self.inside[..], &[segment]].concat(),
            containers: [&self.containers[..], &[(self.value.clone(), key)]].concat(),
            value: value.clone(),
        }
    }

    /// The values in it that have no elements, in order.
    fn unfold(self, leaves: &mut Vec<Leaf>) {
        let mut pending = vec![self];
        while let Some(leaf) = pending.pop() {
            match &leaf.value.datum {
                Datum::Array(array) if !array.is_empty() => {
                    let elements = array.iter().enumerate().rev();
                    pending.extend(elements.map(|(at, value)| {
                        let key = Datum::Integer(at as i64);
                        leaf.element(Segment::Index(at), key, value)
                    }));
                }
                Datum::Hash(hash) if !hash.is_empty() => {
                    let entries = hash.iter().rev();
                    pending.extend(entries.map(|(key, entry)| {
                        let segment = Segment::Key(key_text(key).to_string());
                        leaf.element(segment, key.clone(), &entry.value)
                    }));
                }
                _ => leaves.push(leaf),
            }
        }
    }
}

/// What is found out for one question and helps with the next.
#[derive(Default)]
pub(crate) struct Asked {
    /// The literals of so many programs and files.
    literals: Option<(usize, Arc<Literals>)>,
    absences: Absences,
}

/// What is asked about.
struct Subject {
    id: ResourceId,
    /// The attribute; none for the resource itself.
    attribute: Option<EcoString>,
    /// The values around it, outermost first, each with the key that leads further in.
    containers: Vec<(Value, Value)>,
    value: Value,
}

impl<'t> Compiled<'t> {
    /// Reads a path: `File[/etc/motd].content`, `User[a].groups[0]`, or as manifests write it
    /// `File['/etc/motd'].content`. Titles may hold anything, so it is the longest that is in the catalog which counts.
    pub fn read_path(&self, text: &str) -> Path {
        let known = self.resources().filter_map(|(_, resource)| {
            let title = shown_title(resource);
            let inside = text
                .strip_prefix(resource.type_name.as_str())?
                .strip_prefix('[')?;
            let (quote, rest) = ["", "'", "\""].into_iter().find_map(|quote| {
                let rest = inside.strip_prefix(quote)?.strip_prefix(title.as_str())?;
                let rest = rest.strip_prefix(quote)?.strip_prefix(']')?;
                (rest.is_empty() || rest.starts_with(['.', '['])).then_some((quote, rest))
            })?;
            Some((resource, quote, rest))
        });
        // A title may have quotes of its own.
        let longest = known.min_by_key(|(_, quote, rest)| (rest.len(), quote.len()));
        if let Some((resource, _, rest)) = longest {
            let reference = format!("{}[{}]", resource.type_name, shown_title(resource));
            return with_rest(&reference, rest);
        }
        // Nothing of that name: the part that looks like a reference is one.
        let end = text.rfind("].").map_or(text.len(), |at| at + 1);
        let (reference, rest) = text.split_at(end);
        with_rest(reference, rest)
    }

    /// Why the value at a path is what it is.
    pub fn explain(&mut self, path: &Path) -> Result<Explanation, NoSuchPath> {
        let subject = self.subject(path)?;
        let levels = self.lost_levels(&subject);
        let literals = self.literals_known();
        let mut absences = std::mem::take(&mut self.asked.absences);
        let evaluator = &mut self.evaluator;
        let reasons = match &subject.attribute {
            Some(name) => Reasons::new(evaluator, &mut absences).of_attribute(
                subject.id,
                name,
                &subject.containers,
                &subject.value,
            ),
            None => Reasons::new(evaluator, &mut absences).of_resource(subject.id),
        };
        let mut depends: Vec<Dependence> = Vec::with_capacity(reasons.found.len());
        let role = Role::Absence;
        let silent = reasons.silent.iter();
        depends.extend(silent.map(|&span| Dependence { span, role }));
        let found = reasons.found;
        self.asked.absences = absences;
        for (at, role) in found {
            if let Some(span) = self.span_at(&literals, at) {
                depends.push(Dependence { span, role });
            }
        }
        depends.sort_by_key(|dependence| (order(dependence.role), dependence.span));
        let teller = Teller::new(self, &literals);
        let place = teller
            .place(subject.value.origin)
            .filter(|_| subject.attribute.is_some());
        let is_secret = teller.is_secret(&subject);
        let value = match is_secret {
            true => Shown::Secret,
            false => Shown::Value(teller.shown(&subject)),
        };
        let expression = match is_secret {
            true => Expression {
                operator: None,
                value: Shown::Secret,
                span: place.unwrap_or(teller.span_of(&subject)),
                operands: Vec::new(),
            },
            false => teller.expression(&subject.value, teller.span_of(&subject), 0),
        };
        Ok(Explanation {
            path: path.clone(),
            value,
            place,
            steps: teller.steps(&subject),
            lost: if is_secret {
                Vec::new()
            } else {
                teller.lost(&subject, &levels)
            },
            depends,
            expression,
        })
    }

    /// What levels of the data say, and lost: below the one that a value is found in, and about a parameter of a class
    /// that is given.
    fn lost_levels(&mut self, subject: &Subject) -> Vec<(Value, Rule)> {
        let Some(name) = &subject.attribute else {
            return Vec::new();
        };
        let evaluator = &mut self.evaluator;
        let resource = &evaluator.resources[subject.id.index()];
        let span = resource.span.unwrap_or(Span::at(0));
        let attribute = resource
            .attribute(name)
            .filter(|_| subject.containers.is_empty());
        let given = match (&resource.kind, attribute.map(|attribute| attribute.how)) {
            (ResourceKind::Class { .. }, Some(Said::Declared)) => {
                Key::read(&format!("{}::{name}", resource.title))
            }
            _ => None,
        };
        let at = evaluator.written_in_data(subject.value.origin);
        let found = at.and_then(|at| evaluator.key_of_written(at));
        let mut lost = Vec::new();
        if let Some(key) = &found {
            let levels = evaluator.levels_about(key, span).into_iter();
            let above = |level: &Value| level.origin.offset() != at;
            let below = levels.skip_while(above).skip(1);
            lost.extend(below.map(|level| (level, Rule::HigherLevel)));
        }
        if let Some(key) = given.filter(|given| found.is_none_or(|found| found.root != given.root))
        {
            let levels = evaluator.levels_about(&key, span).into_iter();
            lost.extend(levels.map(|level| (level, Rule::GivenOverData)));
        }
        lost
    }

    /// Whether the catalog names the attribute at a path, or around it, as sensitive.
    pub fn is_sensitive(&self, path: &Path) -> bool {
        let found = self.subject(path).ok();
        found.is_some_and(|subject| {
            let resource = &self.evaluator.resources[subject.id.index()];
            let attribute = subject.attribute.as_ref();
            attribute.is_some_and(|name| resource.sensitive().contains(name))
        })
    }

    /// Names every value that depends on what is written in a stretch of source.
    pub fn impact(&mut self, place: Span, name: &mut dyn FnMut(&[Segment])) {
        let touches =
            |span: &Span| span.start < place.end.max(place.start + 1) && span.end > place.start;
        let literals = self.literals_written();
        // They are in order.
        let starts: Vec<u32> = literals
            .into_iter()
            .filter(touches)
            .map(|span| span.start)
            .collect();
        let sought = Sought { place, starts };
        let ids: Vec<ResourceId> = self.resources().map(|(id, _)| id).collect();
        let mut absences = Absences::default();
        let mut reasons = Reasons::seeking(&mut self.evaluator, &mut absences, &sought);
        for id in ids {
            for leaf in reasons.evaluator.leaves(id) {
                if reasons.lead_from(&leaf) {
                    let reference = reasons.evaluator.shown_reference(id);
                    name(&leaf.path(reference));
                }
            }
        }
    }

    /// The stretch that is meant by a line, or by a column of it; none if nothing is written there. Of facts and
    /// data, it is always the line.
    pub fn meant(&self, unit: &Unit, file: FileId, line: u32, column: Option<u32>) -> Option<Span> {
        if let (Some(column), true) = (column, self.program(file).is_some()) {
            let standing = self.standing(unit, file, line, column);
            return standing.map(|standing| standing.span);
        }
        let start = unit.sources.offset(file, line, 1)?;
        let end = unit.sources.span(file).end;
        let text = unit.sources.slice(Span::new(start, end));
        let text = text.lines().next().unwrap_or("");
        let line = Span::new(start, start + text.len() as u32);
        let first = text.find(|one: char| !one.is_whitespace())? as u32;
        let is_written = self.program(file).is_none_or(|program| {
            self.literals().within(line).next().is_some()
                || standing::at(program, unit.sources.text(), start + first).is_some()
        });
        is_written.then_some(line)
    }

    /// Whether what stands at a column only holds values together, as an operator does.
    pub fn is_joint(&self, unit: &Unit, file: FileId, line: u32, column: u32) -> bool {
        let standing = self.standing(unit, file, line, column);
        standing.is_some_and(|standing| standing.form == Form::Joint)
    }

    /// The literal at a column of a manifest, or what else stands there.
    fn standing(&self, unit: &Unit, file: FileId, line: u32, column: u32) -> Option<Standing> {
        let program = self.program(file)?;
        let offset = unit.sources.offset(file, line, column)?;
        let literals = self.literals();
        let around = literals.within(Span::at(offset));
        let smallest = around.min_by_key(|span| span.end - span.start);
        match smallest {
            Some(span) => Some(Standing {
                span,
                form: Form::Value,
            }),
            None => standing::at(program, unit.sources.text(), offset),
        }
    }

    fn program(&self, file: FileId) -> Option<&Program> {
        let mut loaded = self.evaluator.loaded.iter();
        let found = loaded.find(|loaded| loaded.program.file == file);
        found.map(|loaded| &loaded.program)
    }

    /// The literals of the manifests, the facts, and the data with their keys, in order.
    pub fn literals_written(&self) -> Vec<Span> {
        let literals = self.literals();
        let mut spans: Vec<Span> = literals.iter().collect();
        let mut written: Vec<Origin> = Vec::new();
        for (_, entry) in self.evaluator.node.facts.iter() {
            written_in(&entry.value, Keys::LeftOut, &mut written);
        }
        for (_, entry) in self.evaluator.data_read().flat_map(Hash::iter) {
            written.push(entry.key);
            written_in(&entry.value, Keys::Counted, &mut written);
        }
        let offsets = written.into_iter().filter_map(Origin::offset);
        spans.extend(offsets.filter_map(|at| self.evaluator.data_literal(at)));
        spans.sort();
        spans.dedup();
        spans
    }

    fn literals(&self) -> Literals {
        self.evaluator.literals()
    }

    /// The same, gathered once for all questions; more may have been read since the last one.
    fn literals_known(&mut self) -> Arc<Literals> {
        let count = self.evaluator.loaded.len() + self.evaluator.files_read.len();
        match &self.asked.literals {
            Some((known, literals)) if *known == count => Arc::clone(literals),
            _ => {
                let literals = Arc::new(self.literals());
                self.asked.literals = Some((count, Arc::clone(&literals)));
                literals
            }
        }
    }

    /// The literal at an offset: of a manifest, or of data.
    fn span_at(&self, literals: &Literals, at: u32) -> Option<Span> {
        literals.at(at).or_else(|| self.evaluator.data_literal(at))
    }

    fn subject(&self, path: &Path) -> Result<Subject, NoSuchPath> {
        let missing = |known: &[Segment], names: Vec<String>| NoSuchPath {
            known: Path(known.to_vec()),
            names,
        };
        let references = || {
            let all = self
                .resources()
                .map(|(_, resource)| format!("{}[{}]", resource.type_name, shown_title(resource)));
            all.collect::<Vec<String>>()
        };
        let Some((Segment::Key(reference), rest)) = path.0.split_first() else {
            return Err(missing(&[], references()));
        };
        let found = self.resources().find(|(_, resource)| {
            let title = reference.strip_prefix(resource.type_name.as_str());
            let title = title.and_then(|title| title.strip_prefix('['));
            title.and_then(|title| title.strip_suffix(']')) == Some(&shown_title(resource))
        });
        let Some((id, resource)) = found else {
            return Err(missing(&[], references()));
        };
        let Some((Segment::Key(name), rest)) = rest.split_first() else {
            return Ok(Subject {
                id,
                attribute: None,
                containers: Vec::new(),
                value: resource.title_value(),
            });
        };
        // One that is `undef` is not in the catalog; why it is, can be asked nevertheless.
        let Some(attribute) = resource.attribute(name) else {
            let names = resource
                .attributes
                .iter()
                .map(|attribute| attribute.name.to_string());
            return Err(missing(&path.0[..1], names.collect()));
        };
        let mut value = attribute.value.clone();
        let mut containers = Vec::new();
        for (at, segment) in rest.iter().enumerate() {
            let inner = match (&value.datum, segment) {
                (Datum::Array(array), Segment::Index(index)) => array.get(*index).cloned(),
                (Datum::Hash(hash), Segment::Key(key)) => hash
                    .iter()
                    .find(|(known, _)| key_text(known) == key.as_str())
                    .map(|(_, entry)| entry.value.clone()),
                (Datum::Hash(hash), Segment::Index(index)) => {
                    hash.get(&Datum::Integer(*index as i64)).cloned()
                }
                _ => None,
            };
            let Some(inner) = inner else {
                let names = match &value.datum {
                    Datum::Hash(hash) => hash
                        .iter()
                        .map(|(key, _)| key_text(key).to_string())
                        .collect(),
                    Datum::Array(array) => (0..array.len()).map(|at| at.to_string()).collect(),
                    _ => Vec::new(),
                };
                return Err(missing(&path.0[..at + 2], names));
            };
            let key = match segment {
                Segment::Key(key) => Value::new(key.as_str(), Origin::NOWHERE),
                Segment::Index(index) => Value::new(*index as i64, Origin::NOWHERE),
            };
            containers.push((std::mem::replace(&mut value, inner), key));
        }
        Ok(Subject {
            id,
            attribute: Some(name.as_str().into()),
            containers,
            value,
        })
    }
}

/// Whether the keys of hashes are literals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Counted,
    LeftOut,
}

/// Where the literals in a value of facts or data come from.
fn written_in(value: &Value, keys: Keys, written: &mut Vec<Origin>) {
    match &value.datum {
        Datum::Array(array) => array
            .iter()
            .for_each(|value| written_in(value, keys, written)),
        Datum::Hash(hash) => {
            for (_, entry) in hash.iter() {
                if keys == Keys::Counted {
                    written.push(entry.key);
                }
                written_in(&entry.value, keys, written);
            }
        }
        _ => written.push(value.origin),
    }
}

fn with_rest(reference: &str, rest: &str) -> Path {
    let mut segments = vec![Segment::Key(reference.to_owned())];
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    if !rest.is_empty() {
        let first = Path::readings(rest).swap_remove(0);
        segments.extend(first.0);
    }
    Path(segments)
}

fn order(role: Role) -> u8 {
    match role {
        Role::Value => 0,
        Role::Operand => 1,
        Role::Absence => 3,
        _ => 2,
    }
}

impl<'t> Evaluator<'t> {
    /// Where an `undef` comes from, and in words why it is one.
    pub(crate) fn absence(&self, origin: Origin) -> Option<(Span, String)> {
        let (place, words) = match self.trace.source(self.handed_on_by(origin)) {
            Source::Written(at) => (Span::at(at), "`undef` is written here".to_owned()),
            Source::Node(Node::Unknown { at, .. }) => {
                (at.span, "nothing defines this variable".to_owned())
            }
            Source::Node(Node::Element { at, operands }) => {
                let [_, container, key] = self.trace.operands(*operands) else {
                    return None;
                };
                let key = crate::text::text(&key.datum);
                let words = match self.is_facts(container) {
                    true => format!("there is no fact `{key}`"),
                    false => format!("there is no element `{key}`"),
                };
                (at.span, words)
            }
            Source::Node(Node::Operation { at, .. } | Node::Interpolation { at, .. }) => {
                (at.span, "this comes to `undef`".to_owned())
            }
            _ => return None,
        };
        Some((place, words))
    }

    /// Where a value is written that was only handed on from there.
    pub(crate) fn handed_on_from(&self, origin: Origin) -> Option<Span> {
        let Source::Written(at) = self.trace.source(self.handed_on_by(origin)) else {
            return None;
        };
        self.literals().at(at).or_else(|| self.data_literal(at))
    }

    /// All attributes of a resource, elements of containers, which are values of their own, or the resource itself if it
    /// has none.
    fn leaves(&self, id: ResourceId) -> Vec<Leaf> {
        let whole = |attribute: Option<EcoString>, value: Value| Leaf {
            id,
            attribute,
            inside: Vec::new(),
            containers: Vec::new(),
            value,
        };
        let attributes = self.resources[id.index()].attributes.iter();
        let mut leaves = Vec::with_capacity(attributes.len());
        for attribute in attributes.filter(|one| !one.value.is_undef()) {
            let leaf = whole(Some(attribute.name.clone()), attribute.value.clone());
            match leaf.value.datum.depth() {
                0 => leaves.push(leaf),
                _ => leaf.unfold(&mut leaves),
            }
        }
        if leaves.is_empty() {
            leaves.push(whole(None, Value::new(Datum::Undef, Origin::NOWHERE)));
        }
        leaves
    }

    /// The literals of the manifests, and the files that they read.
    fn literals(&self) -> Literals {
        let programs = self.loaded.iter().map(|loaded| &loaded.program);
        Literals::of(programs, &self.files_read)
    }

    /// What made or wrote a value that variables, choices and containers then handed on as it was. An element that is not
    /// there is handed on by nobody.
    pub(super) fn handed_on_by(&self, mut origin: Origin) -> Origin {
        while let Source::Node(node) = self.trace.source(origin) {
            origin = match node {
                Node::Variable { definition, .. } => {
                    self.trace.definition(*definition).value.origin
                }
                Node::Outcome { value, .. }
                | Node::Chosen { value, .. }
                | Node::Found { value, .. } => *value,
                Node::Element { operands, .. } => match self.trace.operands(*operands) {
                    [element, container, _]
                        if !element.is_undef() || element.origin != container.origin =>
                    {
                        element.origin
                    }
                    _ => break,
                },
                _ => break,
            };
        }
        origin
    }

    /// Whether a value is `$facts`.
    fn is_facts(&self, value: &Value) -> bool {
        let Source::Node(Node::Variable { at, .. }) = self.trace.source(value.origin) else {
            return false;
        };
        matches!(&at.kind, Kind::Variable(name) if name == "facts" || name == "::facts")
    }
}
