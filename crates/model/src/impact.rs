//! What depends on a place: the converse of [`crate::explain`], for all values at once.
//!
//! Every entry and every link that the place touches is marked; then the configuration is walked once,
//! as if to be printed, and a value is named if it, or something on the way to it, is marked. Parts of
//! the configuration in which nothing is marked are passed over.

use rustc_hash::FxHashMap;

use crate::cell::{Cell, Child, Content, Item};
use crate::definitions::{Element, candidates, continued, element, target, way};
use crate::order::constraints;
use crate::path::Segment;
use crate::replay::Reader;
use crate::source::Span;
use crate::store::{EntryId, Found, Inclusion, View};
use crate::symbol::Symbol;
use crate::trace::{Link, Node, Operand, Origin, Source, Trace};

/// Names every value of the configuration that depends on what is written in a stretch of source.
pub fn impact(
    reader: &mut Reader<'_, Trace>,
    root: View,
    entry: Symbol,
    place: Span,
    name: &mut dyn FnMut(&[Segment]),
) {
    let marks = Marks::new(reader, place);
    let mut walk = Walk {
        reader,
        place,
        marks,
        touched: FxHashMap::default(),
        nodes: FxHashMap::default(),
        path: Vec::new(),
    };
    let Some(found) = walk.reader.store.find(root, entry) else {
        return;
    };
    let Some(view) = walk.reader.store.child(found) else {
        return;
    };
    let edges = walk.crosses(root, entry, found);
    let inherited = edges || walk.is_marked(found, root, entry);
    walk.block(view, inherited, name);
}

/// The entries that the place touches.
struct Marks {
    entries: Vec<bool>,
    /// Whether an include is among them.
    includes: bool,
    /// Whether the definition of a block is.
    blocks: bool,
    /// Whether something to be computed is.
    late: bool,
    /// Whether there is a prototype that was reached through links, and so may depend on the place.
    linked: bool,
    /// Whether there is a block that is what a link names.
    shared: bool,
}

impl Marks {
    fn new(reader: &Reader<'_, Trace>, place: Span) -> Self {
        let store = reader.store;
        let mut marks = Marks {
            entries: vec![false; store.now() as usize],
            includes: false,
            blocks: false,
            late: false,
            linked: false,
            shared: false,
        };
        // Entries between the marks of a file that is included came through it.
        let mut files: Vec<bool> = Vec::new();
        for (number, marked) in marks.entries.iter_mut().enumerate() {
            let line = store.entry(EntryId(number as u32));
            let touched = match store.recorder.source(line.origin) {
                Source::Written(at) => place.contains(at),
                // What links and operations stand for is looked at when they are met.
                Source::Node(_) => false,
            };
            if line.key == Symbol::FILE {
                if line.cell == Cell::NULL {
                    files.pop();
                } else {
                    files.push(touched || files.last() == Some(&true));
                }
                continue;
            }
            let is_include = line.key == Symbol::INCLUDE;
            let inclusion = is_include.then(|| store.inclusion(EntryId(number as u32)));
            if inclusion == Some(Inclusion::Version) {
                continue;
            }
            marks.linked |=
                is_include && matches!(store.recorder.source(line.origin), Source::Node(_));
            marks.shared |= matches!(line.cell.child(), Some(Child::Shared(_)));
            // A block that is placed into does not depend on what is placed.
            let is_edit = matches!(line.cell.child(), Some(Child::Edit(_)));
            *marked = files.last() == Some(&true) || touched && !is_edit;
            marks.includes |= *marked && is_include;
            marks.blocks |= *marked && line.cell.child().is_some();
            marks.late |= *marked && line.cell.as_late().is_some();
        }
        if marks.blocks {
            marks.prototypes(reader);
        }
        marks
    }

    /// What is inherited depends on the definition of what it is inherited from.
    fn prototypes(&mut self, reader: &Reader<'_, Trace>) {
        let store = reader.store;
        for number in 0..self.entries.len() {
            let prototype = store.included(EntryId(number as u32));
            let definition = prototype.and_then(|view| store.definition(view.block));
            if definition.is_some_and(|entry| self.entries[entry.0 as usize]) {
                self.entries[number] = true;
                self.includes = true;
            }
        }
    }
}

struct Walk<'r, 'a> {
    reader: &'r mut Reader<'a, Trace>,
    place: Span,
    marks: Marks,
    /// Whether there is anything marked in a block.
    touched: FxHashMap<View, bool>,
    /// Whether a link or an operation depends on the place.
    nodes: FxHashMap<Origin, bool>,
    path: Vec<Segment>,
}

/// Something on the way depends on the place.
struct Marked;

/// A block that is being walked.
struct Open {
    view: View,
    /// The keys whose place among the others depends on the place in the source.
    ordered: Vec<Symbol>,
    entries: Vec<Found>,
    next: usize,
    /// Whether everything in it depends on the place.
    whole: bool,
}

impl Walk<'_, '_> {
    fn block(&mut self, view: View, whole: bool, name: &mut dyn FnMut(&[Segment])) {
        let mut open = Vec::new();
        self.enter(view, whole, &mut open, name);
        while let Some(top) = open.last_mut() {
            let Some(&found) = top.entries.get(top.next) else {
                open.pop();
                self.path.pop();
                continue;
            };
            top.next += 1;
            let (view, whole) = (top.view, top.whole);
            let line = self.reader.store.entry(found.entry);
            let (key, cell) = (line.key, line.cell);
            let is_ordered = top.ordered.contains(&key);
            let child = self.reader.store.child(found);
            let origin = line.origin;
            // The elements of a list are looked at one by one.
            let is_list = matches!(cell.content(self.reader.literals), Content::List(_));
            let is_marked = match is_list {
                true => self.marks.entries[found.entry.0 as usize] || self.is_list_marked(origin),
                false => self.is_marked(found, view, key),
            };
            let whole = whole || is_ordered || is_marked || self.crosses(view, key, found);
            if let Some(child) = child {
                if whole || self.is_touched(child) {
                    self.path.push(self.segment(key));
                    self.enter(child, whole, &mut open, name);
                }
                continue;
            }
            // Most values are not named, and need no path.
            if whole || is_list {
                self.path.push(self.segment(key));
                self.leaf(cell, origin, whole, name);
                self.path.pop();
            }
        }
    }

    fn segment(&self, key: Symbol) -> Segment {
        let name = self.reader.symbols.name(self.reader.sources, key);
        Segment::Key(name.to_owned())
    }

    fn enter(
        &mut self,
        view: View,
        whole: bool,
        open: &mut Vec<Open>,
        name: &mut dyn FnMut(&[Segment]),
    ) {
        let layout = self.reader.arranged(view);
        let entries: Vec<Found> = layout.found(view.time).collect();
        let order = layout
            .order()
            .filter(|entry| self.marks.entries[entry.0 as usize]);
        let constraints = order.map(|entry| constraints(self.reader, entry));
        let ordered = constraints
            .into_iter()
            .flatten()
            .flat_map(|constraint| [constraint.first, constraint.second])
            .collect();
        if entries.is_empty() && whole {
            name(&self.path);
        }
        open.push(Open {
            view,
            ordered,
            entries,
            next: 0,
            whole,
        });
    }

    /// A value that is not a block. An element of a list is a value of its own.
    fn leaf(&mut self, cell: Cell, origin: Origin, whole: bool, name: &mut dyn FnMut(&[Segment])) {
        let literals = self.reader.literals;
        let items = match cell.content(literals) {
            Content::List(items) if !literals.items(items).is_empty() => literals.items(items),
            _ => {
                if whole {
                    name(&self.path);
                }
                return;
            }
        };
        for (index, item) in items.iter().enumerate() {
            let is_list = matches!(item.cell.content(literals), Content::List(_));
            let (cell, origin, is_marked) = match element(self.reader, cell, origin, index) {
                Element::Item(item) => {
                    let origin = Origin::written(item.at);
                    (item.cell, origin, self.place.contains(item.at))
                }
                Element::Operand(operand) => {
                    let is_marked = match is_list {
                        true => self.is_list_marked(operand.origin),
                        false => self.is_operand_marked(&operand),
                    };
                    (operand.cell, operand.origin, is_marked)
                }
                Element::Unknown => (item.cell, origin, self.is_origin_marked(origin)),
            };
            self.path.push(Segment::Index(index));
            self.leaf(cell, origin, whole || is_marked, name);
            self.path.pop();
        }
    }

    /// Whether a list depends on the place otherwise than by one of its elements.
    fn is_list_marked(&mut self, origin: Origin) -> bool {
        match self.reader.store.recorder.source(origin) {
            Source::Written(at) => self.place.contains(at),
            Source::Node(Node::Link(link)) => {
                let link = *link;
                self.place.contains(link.span.start) || self.is_way_marked(link)
            }
            Source::Node(Node::Operation(operation)) => match operation.operator {
                "[ ]" | "<>" if !operation.together => self.place.contains(operation.span.start),
                _ => self.is_origin_marked(origin),
            },
        }
    }

    /// Whether the way to a list that a link names is marked, or the list otherwise than by an element.
    fn is_way_marked(&mut self, link: Link) -> bool {
        let store = self.reader.store;
        let Some(found) = target(store, link) else {
            return false;
        };
        let Some((&last, parents)) = store.recorder.keys(link).split_last() else {
            return false;
        };
        let (block, time) = (link.level, link.time);
        let Ok(view) = self.unmarked_way(View { block, time }, parents) else {
            return true;
        };
        let origin = store.entry(found.entry).origin;
        self.marks.entries[found.entry.0 as usize]
            || view.is_some_and(|view| self.crosses(view, last, found))
            || self.is_list_marked(origin)
    }

    /// Whether the place touches an element or one inside it.
    fn is_item_touched(&self, item: Item) -> bool {
        let mut pending = vec![item];
        while let Some(item) = pending.pop() {
            if self.place.contains(item.at) {
                return true;
            }
            if let Content::List(inner) = item.cell.content(self.reader.literals) {
                pending.extend_from_slice(self.reader.literals.items(inner));
            }
        }
        false
    }

    /// Whether an entry that counts depends, as a whole, on the place.
    fn is_marked(&mut self, found: Found, view: View, key: Symbol) -> bool {
        let line = self.reader.store.entry(found.entry);
        if let Some(Child::Edit(_)) = line.cell.child() {
            // A block that continues another depends on what the other depends on.
            let marks = &self.marks;
            if !(marks.blocks || marks.includes || marks.linked || marks.shared) {
                return false;
            }
            let candidates = candidates(self.reader.store, view, key);
            return continued(self.reader.store, &candidates).is_some_and(|base| {
                let mut way = base.edges.iter().chain([&base.found.entry]);
                way.any(|&entry| self.is_entry_marked(entry))
            });
        }
        self.marks.entries[found.entry.0 as usize] || self.is_origin_marked(line.origin)
    }

    /// Whether the place touches the way to an entry: an include that it crosses, or what it was
    /// computed from.
    fn crosses(&mut self, view: View, key: Symbol, found: Found) -> bool {
        let store = self.reader.store;
        let is_value = store.child(found).is_none();
        let marks = &self.marks;
        let may_touch = marks.includes || marks.linked || marks.late || (marks.blocks && is_value);
        if !may_touch {
            return false;
        }
        let candidates = candidates(store, view, key);
        let is_winner = candidates.first().is_some_and(|first| first.found == found);
        is_winner && {
            let way = way(store, &candidates);
            let source = Some(&way.found.entry).filter(|_| way.found.entry != found.entry);
            let entries = way.edges.iter().chain(source);
            entries
                .copied()
                .collect::<Vec<_>>()
                .into_iter()
                .any(|entry| {
                    self.marks.entries[entry.0 as usize]
                        || (store.included(entry).is_some()
                            && self.is_origin_marked(store.entry(entry).origin))
                })
        }
    }

    /// Whether the place touches an entry, or the way of what it links to or includes.
    fn is_entry_marked(&mut self, entry: EntryId) -> bool {
        let origin = self.reader.store.entry(entry).origin;
        self.marks.entries[entry.0 as usize] || self.is_origin_marked(origin)
    }

    fn is_origin_marked(&mut self, origin: Origin) -> bool {
        let Source::Node(node) = self.reader.store.recorder.source(origin) else {
            return false;
        };
        if let Some(&known) = self.nodes.get(&origin) {
            return known;
        }
        // Until it is known otherwise: a node cannot depend on itself.
        self.nodes.insert(origin, false);
        let marked = match node {
            Node::Link(link) => {
                let link = *link;
                self.place.contains(link.span.start) || self.is_target_marked(link)
            }
            Node::Operation(operation) => {
                let operands = operation.operands.clone();
                self.place.contains(operation.span.start)
                    || operands
                        .iter()
                        .any(|operand| self.is_operand_marked(operand))
            }
        };
        self.nodes.insert(origin, marked);
        marked
    }

    /// Whether an operand, or an element of it, depends on the place.
    fn is_operand_marked(&mut self, operand: &Operand) -> bool {
        let (at, is_marked) = match self.reader.store.recorder.source(operand.origin) {
            Source::Written(at) => (at, false),
            Source::Node(_) => (u32::MAX, self.is_origin_marked(operand.origin)),
        };
        let cell = operand.cell;
        is_marked || self.is_item_touched(Item { cell, at })
    }

    /// Whether the way to what a link names is marked; what is inside a block that it names is looked
    /// at when that block is walked.
    fn is_target_marked(&mut self, link: Link) -> bool {
        let (block, time) = (link.level, link.time);
        let keys = self.reader.store.recorder.keys(link);
        self.unmarked_way(View { block, time }, keys).is_err()
    }

    /// The block that names lead to, if they lead to one; an error if something on the way is marked.
    fn unmarked_way(&mut self, view: View, keys: &[Symbol]) -> Result<Option<View>, Marked> {
        let store = self.reader.store;
        let mut view = Some(view);
        for &key in keys {
            let Some(inside) = view else { break };
            let Some(found) = store.find(inside, key) else {
                return Ok(None);
            };
            if self.is_marked(found, inside, key) || self.crosses(inside, key, found) {
                return Err(Marked);
            }
            view = store.child(found);
        }
        Ok(view)
    }

    /// Whether anything in a block, at any depth, is marked. Overridden entries count: this only saves
    /// walking in vain.
    fn is_touched(&mut self, view: View) -> bool {
        let mut open = vec![view];
        let mut passed: Vec<View> = Vec::new();
        while let Some(view) = open.pop() {
            let view = self.reader.store.normal(view);
            let known = self.touched.get(&view).copied();
            if known == Some(false) {
                continue;
            }
            if known == Some(true) || self.is_log_touched(view) {
                self.touched.insert(view, true);
                // What was passed on the way may lead here: nothing is known of it after all.
                for view in passed {
                    self.touched.remove(&view);
                }
                return true;
            }
            self.touched.insert(view, false);
            passed.push(view);
            let time = view.time;
            let children = self.reader.store.log(view);
            open.extend(
                children.filter_map(|entry| self.reader.store.child(Found { entry, time })),
            );
        }
        false
    }

    /// Whether an entry of a block's own log is marked.
    fn is_log_touched(&mut self, view: View) -> bool {
        let store = self.reader.store;
        store.log(view).any(|entry| {
            let line = store.entry(entry);
            if self.marks.entries[entry.0 as usize] || self.is_origin_marked(line.origin) {
                return true;
            }
            match line.cell.content(self.reader.literals) {
                Content::List(items) => {
                    let mut items = self.reader.literals.items(items).iter();
                    items.any(|item| self.is_item_touched(*item))
                }
                _ => false,
            }
        })
    }
}
