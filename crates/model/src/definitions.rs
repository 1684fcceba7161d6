//! Where something is defined, read back from the logs: all definitions of a name, the target of a link,
//! the origin of a list's element.

use crate::cell::{Cell, Child, Content, Item};
use crate::replay::Reader;
use crate::store::{EntryId, Found, Store, View};
use crate::symbol::Symbol;
use crate::trace::{Link, Node, Operand, Origin, Recorder, Source, Trace};

/// How many definitions of one name are looked at: the winner, and what lost.
const CANDIDATES: usize = 32;

/// How many links are followed to an element.
const STEPS: usize = 10_000;

/// A definition of a name, and how it is reached from the block that was asked.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub found: Found,
    /// The includes on the way, outermost first.
    pub edges: Vec<EntryId>,
    /// Where in each log it stands, outermost first: its own entry last.
    pub position: Vec<EntryId>,
}

/// The one of several definitions whose way is that of the first. What was computed stands in the block
/// for which it was, and came the way of what it was computed from.
pub(crate) fn way<'c>(store: &Store<Trace>, candidates: &'c [Candidate]) -> &'c Candidate {
    let (winner, others) = candidates.split_first().expect("something was found");
    let line = |candidate: &Candidate| store.entry(candidate.found.entry);
    let place = |candidate: &Candidate| store.recorder.place(line(candidate).origin);
    let is_computed = line(winner).cell.as_late().is_none();
    let is_value = line(winner).cell.child().is_none();
    let source = others.iter().find(|other| {
        let cell = line(other).cell;
        let is_function =
            is_value && matches!(cell.child(), Some(Child::Own(_) | Child::Shared(_)));
        (cell.as_late().is_some() || is_function) && place(other) == place(winner)
    });
    source.filter(|_| is_computed).unwrap_or(winner)
}

/// The definition of the block that the first of several definitions only places something into.
pub(crate) fn continued<'c>(
    store: &Store<Trace>,
    candidates: &'c [Candidate],
) -> Option<&'c Candidate> {
    let (winner, others) = candidates.split_first()?;
    let continues = |one: &Candidate| {
        let cell = store.entry(one.found.entry).cell;
        matches!(cell.child(), Some(Child::Edit(_)))
    };
    let base = others.iter().find(|&other| !continues(other));
    base.filter(|_| continues(winner))
}

/// All definitions of a name that a view sees, the one that counts first.
pub(crate) fn candidates(store: &Store<Trace>, view: View, key: Symbol) -> Vec<Candidate> {
    struct Search<'s> {
        log: Box<dyn Iterator<Item = EntryId> + 's>,
        time: u32,
        edges: usize,
    }
    let mut edges: Vec<EntryId> = Vec::new();
    let mut found = Vec::new();
    let mut has_base = false;
    let mut open = vec![Search {
        log: Box::new(store.log(view)),
        time: view.time,
        edges: 0,
    }];
    while let Some(search) = open.last_mut() {
        edges.truncate(search.edges);
        let Some(entry) = search.log.next() else {
            open.pop();
            continue;
        };
        if let Some(included) = store.included(entry) {
            if store.find(included, key).is_some() {
                edges.push(entry);
                open.push(Search {
                    log: Box::new(store.log(included)),
                    time: included.time,
                    edges: edges.len(),
                });
            }
        } else if store.entry(entry).key == key {
            let time = search.time;
            let mut position = edges.clone();
            position.push(entry);
            found.push(Candidate {
                found: Found { entry, time },
                edges: edges.clone(),
                position,
            });
            // What a block that is placed into again and again was at first is part of the way.
            has_base |= !matches!(store.entry(entry).cell.child(), Some(Child::Edit(_)));
            if found.len() >= CANDIDATES && has_base {
                break;
            }
        }
    }
    found
}

/// Where an element of a list comes from.
pub(crate) enum Element {
    /// It is written out.
    Item(Item),
    /// It was computed by itself.
    Operand(Operand),
    /// The list was computed in a way that does not tell.
    Unknown,
}

/// Where an element of a list comes from: through links, and through lists put together or appended.
pub(crate) fn element(
    reader: &Reader<'_, Trace>,
    cell: Cell,
    origin: Origin,
    index: usize,
) -> Element {
    let (store, literals) = (reader.store, reader.literals);
    let length = |cell: Cell| match cell.content(literals) {
        Content::List(items) => literals.items(items).len(),
        _ => 0,
    };
    let (mut cell, mut origin, mut index) = (cell, origin, index);
    for _ in 0..STEPS {
        match store.recorder.source(origin) {
            Source::Written(_) => {
                let Content::List(items) = cell.content(literals) else {
                    break;
                };
                let item = literals.items(items).get(index);
                return item.map_or(Element::Unknown, |item| Element::Item(*item));
            }
            Source::Node(Node::Link(link)) => {
                let Some(target) = target(store, *link) else {
                    break;
                };
                let line = store.entry(target.entry);
                (cell, origin) = (line.cell, line.origin);
            }
            Source::Node(Node::Operation(operation)) if operation.together => break,
            Source::Node(Node::Operation(operation)) => match operation.operator {
                "[ ]" => {
                    let operand = operation.operands.get(index);
                    return operand.map_or(Element::Unknown, |operand| Element::Operand(*operand));
                }
                "<>" => {
                    // If an earlier part could be of another length, the element depends on that, too.
                    let is_fixed = |operand: &Operand| match store.recorder.source(operand.origin) {
                        Source::Written(_) => true,
                        Source::Node(Node::Operation(inner)) => inner.operator == "[ ]",
                        Source::Node(Node::Link(_)) => false,
                    };
                    let mut found = None;
                    for operand in operation.operands.iter().take_while(|o| is_fixed(o)) {
                        let length = length(operand.cell);
                        if index < length {
                            found = Some(operand);
                            break;
                        }
                        index -= length;
                    }
                    let Some(operand) = found else { break };
                    (cell, origin) = (operand.cell, operand.origin);
                }
                _ => break,
            },
        }
    }
    Element::Unknown
}

/// What a link leads to.
pub(crate) fn target(store: &Store<Trace>, link: Link) -> Option<Found> {
    let (block, time) = (link.level, link.time);
    let (last, parents) = store.recorder.keys(link).split_last()?;
    let mut view = View { block, time };
    for &key in parents {
        view = store.child(store.find(view, key)?)?;
    }
    store.find(view, *last)
}
