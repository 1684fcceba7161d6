//! Transactions: all commands are done, or none.
//!
//! A command is a function of the document that always has a result. What may not be so, such as a path that leads nowhere,
//! is noted on the way, and looked at when all is done: a transaction with a note is refused, and so is one whose document
//! is not as its type allows.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Sources;
use hence_model::unit::OUTPUT_TOO_LARGE;

use crate::command::{Command, Write};
use crate::document::{self, Document, Id, Kind, Node, Tree, Written};
use crate::dtd::{Content, Dtd};
use crate::entities::{self, Expansion};
use crate::path::{By, Path, Step};
use crate::reduction;
use crate::siblings::{Place, Row, Siblings, Values};
use crate::validity;

/// A path leads to nothing.
pub const NOTHING_THERE: Code = Code::new("xml.nothing-there");
/// A position is used where a key tells elements apart.
pub const HAS_KEY: Code = Code::new("xml.has-key");
/// A key does not tell the members of a family apart.
pub const NO_KEY: Code = Code::new("xml.no-key");

/// So many nodes a transaction may make.
pub const LARGEST: usize = 2_000_000;

/// What to do about a command that has nothing to write to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nowhere {
    /// The transaction is refused: most often a name is mistyped.
    #[default]
    Refuse,
    /// The command does nothing.
    Allow,
}

/// Does commands on a document, and gives the new text; or says everything that speaks against it.
pub fn commit(
    sources: &mut Sources,
    document: Document,
    dtd: &Dtd,
    commands: &[Command],
    nowhere: Nowhere,
) -> Result<Written, Vec<Diagnostic>> {
    let reduced = reduction::reduce(sources, commands)?;
    let mut work = Work::new(sources, document, dtd);
    for command in reduced {
        work.perform(command);
        let last = work.notes.last();
        if last.is_some_and(|note| note.trouble.code == OUTPUT_TOO_LARGE) {
            break;
        }
    }
    let (document, notes) = work.finish();
    let mut troubles = notes;
    troubles.retain(|note| nowhere == Nowhere::Refuse || note.code != NOTHING_THERE);
    for trouble in &mut troubles {
        if trouble.code == NOTHING_THERE && trouble.help.is_empty() {
            let help = "`--nowhere` does the rest all the same";
            trouble.help.push(help.into());
        }
    }
    if troubles.is_empty() {
        troubles.extend(entities::check(sources, &document.tree, dtd));
    }
    if troubles.is_empty() {
        troubles.extend(validity::check(sources, &document, dtd));
    }
    if !troubles.is_empty() {
        return Err(troubles);
    }
    let written = document.write(sources);
    // One tree is enough at a time.
    drop(document);
    // Pieces that are good apart can be bad together: `]]` and `>`, when what stood between them is gone.
    let file = sources.add("the new document", &written.text);
    let file = file.map_err(|_| {
        let message = "the new document is too large";
        vec![Diagnostic::error(OUTPUT_TOO_LARGE, message)]
    })?;
    match document::read(sources, file) {
        Ok(_) => Ok(written),
        Err(trouble) => Err(vec![*trouble]),
    }
}

/// Something that speaks against a transaction.
struct Note {
    trouble: Diagnostic,
    /// The family that it is about. If nothing is left of that in the end, neither is of what was wrong.
    family: Row,
}

/// A document on which commands are done.
pub struct Work<'w> {
    sources: &'w Sources,
    dtd: &'w Dtd,
    /// As it was when commands were last [finished](Work::finish) with it.
    pub document: Document,
    notes: Vec<Note>,
    /// With how many nodes it began.
    begun: usize,
    /// Children of elements that commands came to. What changed among them is not yet in the document.
    open: HashMap<Option<Id>, Siblings<'w>>,
    /// How many nodes were looked at.
    looked: usize,
}

/// Where a new member is put. It gets white space like that of the child beside it.
#[derive(Clone, Copy)]
enum Put {
    /// Behind a child, or before all.
    Behind(Option<Place>),
    /// Before a child.
    Before(Place),
}

/// For so many mistakes it is looked what could have been meant.
const ENOUGH: usize = 100;

/// Of so many elements the children are kept at hand.
const MOST_OPEN: usize = 1000;

impl<'w> Work<'w> {
    /// Begins with a document.
    pub fn new(sources: &'w Sources, document: Document, dtd: &'w Dtd) -> Self {
        Self {
            sources,
            dtd,
            begun: document.tree.size(),
            document,
            notes: Vec::new(),
            open: HashMap::new(),
            looked: 0,
        }
    }

    /// How many nodes were looked at so far, of those that stand beside others.
    pub fn looked(&self) -> usize {
        self.looked
    }

    /// The children of an element, or of the document, at hand.
    fn open(&mut self, parent: Option<Id>) -> &mut Siblings<'w> {
        if self.open.len() >= MOST_OPEN && !self.open.contains_key(&parent) {
            self.close();
        }
        let (sources, tree) = (self.sources, &self.document.tree);
        let is_spaced = |children: &[Id]| children.iter().all(|id| is_space(sources, tree, *id));
        let looked = &mut self.looked;
        self.open.entry(parent).or_insert_with(|| {
            let children = tree.children(parent);
            *looked += children.len();
            let named = |id: &Id| {
                let element = tree.element(*id);
                (*id, element.map(|element| sources.slice(element.name)))
            };
            Siblings::new(children.iter().map(named), is_spaced(children))
        })
    }

    /// Puts what changed into the document.
    fn close(&mut self) {
        for (parent, siblings) in self.open.drain() {
            if siblings.is_changed {
                let children = siblings.children();
                self.looked += children.len();
                self.document.tree.set_children(parent, children);
            }
        }
    }

    /// The document as it is now, and what speaks against it.
    pub fn finish(mut self) -> (Document, Vec<Diagnostic>) {
        self.close();
        let left: HashSet<Id> = match self.notes.is_empty() {
            true => HashSet::new(),
            false => self.document.tree.elements().collect(),
        };
        let matters = |note: &Note| {
            note.family.is_empty() || note.family.iter().any(|(_, id)| left.contains(id))
        };
        let notes = self.notes.into_iter().filter(matters);
        (self.document, notes.map(|note| note.trouble).collect())
    }

    /// Does a command.
    pub fn perform(&mut self, command: &Command) {
        let path = &command.path;
        let elements = self.elements(path);
        if let Write::Content(content) | Write::Member(_, content) = &command.write {
            let before = self.document.tree.size() - self.begun;
            let made = elements.len().saturating_mul(content.size());
            if before.saturating_add(made) > LARGEST {
                let message = format!("the transaction would make more than {LARGEST} nodes");
                self.notes.push(Note {
                    trouble: Diagnostic::error(OUTPUT_TOO_LARGE, message).at(command.span),
                    family: Row::default(),
                });
                return;
            }
        }
        match &command.write {
            Write::Content(content) => {
                if path.steps.is_empty() {
                    self.open.clear();
                    let tree = &mut self.document.tree;
                    tree.top = tree.copy(content, &content.top);
                    return;
                }
                self.not_nothing(path, &elements);
                for id in elements {
                    self.open.remove(&Some(id));
                    let tree = &mut self.document.tree;
                    let children = tree.copy(content, &content.top);
                    tree.set_children(Some(id), children);
                }
            }
            Write::Member(key, member) => {
                self.not_nothing(path, &elements);
                for id in elements {
                    self.add(id, key, member);
                }
            }
            Write::Without(key) => {
                for id in elements {
                    self.subtract(id, key);
                }
            }
        }
    }

    /// The elements that a path means.
    pub fn elements(&mut self, path: &Path) -> Vec<Id> {
        let mut found: Vec<Option<Id>> = vec![None];
        for step in &path.steps {
            let mut next = Vec::new();
            for parent in found {
                let places = self.places(parent, step);
                let siblings = self.open(parent);
                next.extend(places.into_iter().map(|place| Some(siblings.id(place))));
            }
            found = next;
        }
        found.into_iter().flatten().collect()
    }

    /// The children of an element, or of the document, that have a name.
    fn family(&mut self, parent: Option<Id>, name: &str) -> Row {
        let (row, looked) = self.open(parent).row(name);
        self.looked += looked;
        row
    }

    /// Where those are, of the children of an element or of the document, that a step means.
    fn places(&mut self, parent: Option<Id>, step: &Step) -> Vec<Place> {
        match &step.by {
            By::Name => {
                let family = self.family(parent, &step.name);
                family.iter().map(|(place, _)| *place).collect()
            }
            By::Position(place) => {
                let family = self.family(parent, &step.name);
                if let Some(attribute) = self.told_apart_by(parent, &step.name) {
                    self.note_key(family.clone(), *place, step, &attribute);
                }
                let places = family.get(place - 1).into_iter();
                places.map(|(place, _)| *place).collect()
            }
            By::Key(pairs) => self.with(parent, |siblings, values| {
                siblings.find(&step.name, pairs, values)
            }),
        }
    }

    /// Does something with children that needs the values of their attributes, and counts how many it looks at.
    fn with<T>(
        &mut self,
        parent: Option<Id>,
        work: impl FnOnce(&mut Siblings<'w>, Values<'_, 'w>) -> (T, usize),
    ) -> T {
        self.open(parent);
        let (sources, dtd, tree) = (self.sources, self.dtd, &self.document.tree);
        let siblings = self.open.get_mut(&parent).expect("it was opened");
        let (done, looked) = work(siblings, &|id, name| value(sources, dtd, tree, id, name));
        self.looked += looked;
        done
    }

    fn value(&self, id: Id, name: &str) -> Option<Cow<'w, str>> {
        value(self.sources, self.dtd, &self.document.tree, id, name)
    }

    /// The attribute that all of a family have, each with another value. A position in such a family would shift whenever
    /// a member is added or subtracted.
    pub fn told_apart_by(&mut self, parent: Option<Id>, name: &str) -> Option<String> {
        let (_, first) = *self.family(parent, name).first()?;
        let attributes = self.document.tree.element(first)?.attributes.iter();
        let sources = self.sources;
        let attributes = attributes.map(|attribute| sources.slice(attribute.name).to_owned());
        attributes
            .collect::<Vec<_>>()
            .into_iter()
            .find(|attribute| {
                self.with(parent, |siblings, values| {
                    siblings.are_told_apart(name, vec![attribute.clone()], values)
                })
            })
    }

    fn note_key(&mut self, family: Row, place: usize, step: &Step, attribute: &str) {
        let name = &step.name;
        let message =
            format!("`{name}` elements are told apart by `{attribute}`, not by their places");
        let help = match family
            .get(place - 1)
            .and_then(|(_, id)| self.value(*id, attribute))
        {
            Some(value) => format!(
                "write `{name}[@{attribute}='{value}']`: it stays the same one when others come and go"
            ),
            None => format!(
                "write `{name}[@{attribute}='…']`: it stays the same one when others come and go"
            ),
        };
        self.notes.push(Note {
            trouble: Diagnostic::error(HAS_KEY, message).at(step.span).help(help),
            family,
        });
    }

    fn not_nothing(&mut self, path: &Path, elements: &[Id]) {
        if !elements.is_empty() {
            return;
        }
        // Up to where the path leads.
        let helps = self.notes.len() < ENOUGH;
        let mut parents: Vec<Option<Id>> = vec![None];
        for step in &path.steps {
            let mut next = Vec::new();
            let mut names: Vec<&str> = Vec::new();
            for parent in &parents {
                let before = self.notes.len();
                let places = self.places(*parent, step);
                self.notes.truncate(before);
                let siblings = self.open(*parent);
                next.extend(places.into_iter().map(|place| Some(siblings.id(place))));
                // Whoever is wrong a thousand times is not helped a thousand times.
                if helps {
                    names.extend(siblings.names());
                }
            }
            if next.is_empty() {
                let message = format!("nothing is at `{path}`");
                let trouble = Diagnostic::error(NOTHING_THERE, message).at(step.span);
                names.sort_unstable();
                names.dedup();
                let near = similar(&step.name, names.iter().copied());
                let near = near.first().filter(|near| **near != step.name);
                let trouble = match near {
                    Some(near) => trouble.help(format!("did you mean `{near}`?")),
                    None => trouble,
                };
                self.notes.push(Note {
                    trouble,
                    family: Row::default(),
                });
                return;
            }
            parents = next;
        }
    }

    /// A key must tell all members of a family apart.
    fn note_unless_keyed(&mut self, parent: Id, key: &Step) {
        let By::Key(pairs) = &key.by else {
            return;
        };
        let are_apart = self.with(Some(parent), |siblings, values| {
            let attributes = pairs.iter().map(|(name, _)| name.clone());
            siblings.are_told_apart(&key.name, attributes.collect(), values)
        });
        if are_apart {
            return;
        }
        let family = self.family(Some(parent), &key.name);
        let mut seen = HashSet::new();
        for (_, id) in family.iter() {
            let values: Option<Vec<Cow<'w, str>>> = pairs
                .iter()
                .map(|(name, _)| self.value(*id, name))
                .collect();
            let Some(element) = self.document.tree.element(*id) else {
                continue;
            };
            let names: Vec<String> = pairs.iter().map(|(name, _)| format!("`{name}`")).collect();
            let names = names.join(" and ");
            let (is_missing, message) = match values {
                None => (
                    true,
                    format!(
                        "this `{}` has no {names}, so no key tells it from others",
                        key.name
                    ),
                ),
                Some(values) => {
                    let message = format!("two `{}` have the same {names}", key.name);
                    (!seen.insert(values), message)
                }
            };
            if is_missing {
                let trouble = Diagnostic::error(NO_KEY, message).at(element.name);
                self.notes.push(Note {
                    trouble: trouble.label(key.span, "the key"),
                    family: family.clone(),
                });
                return;
            }
        }
    }

    fn add(&mut self, parent: Id, key: &Step, member: &Tree) {
        self.note_unless_keyed(parent, key);
        let old = self.places(Some(parent), key);
        let new = self.document.tree.copy(member, &member.top)[0];
        let Some((first, others)) = old.split_first() else {
            let put = match self.open(Some(parent)).last(&key.name) {
                Some(last) => Put::Behind(Some(last)),
                None => self.first_place(parent, &key.name),
            };
            self.put(parent, put, new);
            return;
        };
        self.with(Some(parent), |siblings, values| {
            siblings.replace(&key.name, *first, new, values);
            for other in others {
                siblings.take(&key.name, *other, values);
            }
            ((), old.len())
        });
    }

    /// Puts a new member somewhere, with white space like that before another child.
    fn put(&mut self, parent: Id, put: Put, new: Id) {
        let siblings = self.open(Some(parent));
        let beside = match put {
            Put::Behind(behind) => behind,
            Put::Before(at) => Some(at),
        };
        let before = beside.and_then(|beside| siblings.before(beside));
        let before = before.filter(|_| siblings.is_spaced);
        let tree = &mut self.document.tree;
        let blank = before.filter(|before| tree.is_blank(self.sources, *before));
        let space = blank.map(|blank| {
            let (span, kind) = (tree.node(blank).span, Kind::Text);
            tree.add(Node { span, kind })
        });
        let Some(element) = tree.element(new) else {
            return;
        };
        let name = self.sources.slice(element.name);
        self.with(Some(parent), |siblings, values| {
            let mut behind = match put {
                Put::Behind(behind) => behind,
                Put::Before(at) => siblings.backwards(Some(at)).next(),
            };
            if let Some(space) = space {
                let space = siblings.put_space(behind, space);
                // What stood before the other child stands before this one.
                if matches!(put, Put::Behind(_)) {
                    behind = Some(space);
                }
            }
            siblings.put(name, behind, new, values);
            ((), 1)
        });
    }

    /// Where the type of the document has a place for the first member of a family; behind all others, if it says nothing.
    fn first_place(&mut self, parent: Id, name: &str) -> Put {
        self.open(Some(parent));
        let (siblings, tree) = (&self.open[&Some(parent)], &self.document.tree);
        let named = |id: Id| tree.element(id).map(|one| self.sources.slice(one.name));
        let mut elements = siblings
            .backwards(None)
            .filter(|place| named(siblings.id(*place)).is_some());
        let declared = self.dtd.elements.get(named(parent).unwrap_or_default());
        let model = match declared.map(|declared| &declared.content) {
            Some(Content::Elements(model)) => Some(model),
            _ => None,
        };
        let (behind, first) = match model {
            None => (elements.next(), None),
            Some(model) => {
                let mut elements: Vec<Place> = elements.collect();
                elements.reverse();
                self.looked += elements.len();
                let names = elements.iter();
                let names: Vec<&str> = names.filter_map(|at| named(siblings.id(*at))).collect();
                let place = model.place(&names, name).unwrap_or(elements.len());
                let behind = place.checked_sub(1).map(|before| elements[before]);
                (behind, elements.first().copied())
            }
        };
        let is_solid = |place: &Place| !tree.is_blank(self.sources, siblings.id(*place));
        match (behind, first) {
            (Some(behind), _) => Put::Behind(Some(behind)),
            (None, Some(first)) => Put::Before(first),
            (None, None) => Put::Behind(siblings.backwards(None).find(is_solid)),
        }
    }

    fn subtract(&mut self, parent: Id, key: &Step) {
        let gone = self.places(Some(parent), key);
        if gone.is_empty() {
            return;
        }
        self.note_unless_keyed(parent, key);
        let (sources, siblings) = (self.sources, self.open(Some(parent)));
        let is_spaced = siblings.is_spaced;
        for place in gone {
            let before = self.open(Some(parent)).before(place);
            let tree = &self.document.tree;
            let is_alone = before.is_some_and(|before| tree.is_blank(sources, before));
            self.with(Some(parent), |siblings, values| {
                if is_spaced && is_alone {
                    siblings.take_before(place);
                }
                siblings.take(&key.name, place, values);
                ((), 1)
            });
        }
    }

    /// Takes children out of an element. Where white space means nothing, the line goes with what stood in it.
    pub(crate) fn remove(&mut self, parent: Id, gone: &HashSet<Id>) {
        self.close();
        let tree = &self.document.tree;
        let all = tree.children(Some(parent)).iter();
        let is_spaced = all.copied().all(|id| is_space(self.sources, tree, id));
        let mut children: Vec<Id> = Vec::new();
        for id in tree.children(Some(parent)) {
            if !gone.contains(id) {
                children.push(*id);
                continue;
            }
            let blank = children
                .last()
                .filter(|last| tree.is_blank(self.sources, **last));
            if is_spaced && blank.is_some() {
                children.pop();
            }
        }
        self.document.tree.set_children(Some(parent), children);
    }
}

/// The value of an attribute, if it is written.
fn value<'w>(
    sources: &'w Sources,
    dtd: &Dtd,
    tree: &Tree,
    id: Id,
    name: &str,
) -> Option<Cow<'w, str>> {
    let mut attributes = tree.element(id)?.attributes.iter();
    let attribute = attributes.find(|one| sources.slice(one.name) == name)?;
    let raw = sources.slice(attribute.value);
    if !raw.contains(['&', '\t', '\r', '\n']) {
        return Some(Cow::Borrowed(raw));
    }
    let value = Expansion::new(dtd).attribute(sources, attribute);
    value.ok().map(Cow::Owned)
}

/// Whether a node is none of those beside which white space means something.
pub(crate) fn is_space(sources: &Sources, tree: &Tree, id: Id) -> bool {
    match tree.node(id).kind {
        Kind::Text => tree.is_blank(sources, id),
        Kind::Cdata | Kind::Reference(_) => false,
        _ => true,
    }
}

/// The text of each element that a path means, or why there is none.
pub fn show(
    sources: &Sources,
    document: Document,
    dtd: &Dtd,
    path: &Path,
) -> Result<Vec<String>, Vec<Diagnostic>> {
    if path.steps.is_empty() {
        return Ok(vec![document.write(sources).text]);
    }
    let mut work = Work::new(sources, document, dtd);
    let elements = work.elements(path);
    // Who only looks may count what has a key.
    work.notes.clear();
    work.not_nothing(path, &elements);
    if !work.notes.is_empty() {
        return Err(work.finish().1);
    }
    let text = |id: Id| {
        let mut written = Written::default();
        work.document.tree.write(sources, &[id], &mut written);
        written.text
    };
    Ok(elements.into_iter().map(text).collect())
}
