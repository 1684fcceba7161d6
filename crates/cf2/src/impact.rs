//! What depends on a place: the converse of [`crate::explain`], for all values at once.
//!
//! The configuration is walked once, as if to be printed, and a value is named if its reasons, or those of
//! something on the way to it, lead to the place. Whoever shares a reason shares where it leads: each is
//! followed once. A block that many have in common and in which nothing leads to the place is walked once.

use std::sync::mpsc::sync_channel;

use hence_model::cell::{Cell, Content, Item};
use hence_model::explanation::Role;
use hence_model::path::Segment;
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::{Compiled, on_stack_while};
use crate::datum::{BlockId, Datum, EntryId, Form};
use crate::evaluate::Evaluator;
use crate::reasons::{Cause, Key, Node};

impl Compiled<'_> {
    /// Names every value that depends on what is written in a stretch of source.
    pub fn impact(&mut self, place: Span, name: &mut dyn FnMut(&[Segment])) {
        let Some(root) = self.root else { return };
        let limits = self.unit().limits;
        let (sender, receiver) = sync_channel::<Vec<Vec<Segment>>>(16);
        let find = || {
            let mut found = Vec::new();
            // Whoever asked is there until the last of them was sent.
            let send = |found: &mut Vec<Vec<Segment>>| {
                sender.send(std::mem::take(found)).expect("somebody asked");
            };
            let mut name = |path| {
                found.push(path);
                if found.len() == 256 {
                    send(&mut found);
                }
            };
            Walk::new(&mut self.evaluator, place, &mut name).block(root, false);
            send(&mut found);
            drop(sender);
        };
        let tell = || {
            for path in receiver.into_iter().flatten() {
                name(&path);
            }
        };
        on_stack_while(limits, find, tell);
    }
}

/// A walk through a configuration.
struct Walk<'a, 'w> {
    evaluator: &'a mut Evaluator<'w>,
    reach: Reach,
    /// Blocks in which nothing depends on the place.
    untouched: FxHashSet<BlockId>,
    path: Vec<Step>,
    name: &'a mut dyn FnMut(Vec<Segment>),
    /// How many paths were named.
    named: usize,
}

/// A segment of a path, before somebody wants to read it.
#[derive(Clone, Copy)]
enum Step {
    Key(Symbol),
    Index(usize),
}

impl<'a, 'w> Walk<'a, 'w> {
    fn new(
        evaluator: &'a mut Evaluator<'w>,
        place: Span,
        name: &'a mut dyn FnMut(Vec<Segment>),
    ) -> Self {
        Self {
            evaluator,
            reach: Reach::new(place),
            untouched: FxHashSet::default(),
            path: Vec::new(),
            name,
            named: 0,
        }
    }

    /// Walks what is in a block. If all of it depends on the place, that needs not be asked.
    fn block(&mut self, block: BlockId, all: bool) {
        if !all && self.untouched.contains(&block) {
            return;
        }
        let before = self.named;
        for entry in self.evaluator.visible(block) {
            self.entry(block, entry, all);
        }
        if self.named == before {
            self.untouched.insert(block);
        }
    }

    fn entry(&mut self, block: BlockId, entry: EntryId, all: bool) {
        work::step();
        let name = self.evaluator.entry(entry).name;
        self.path.push(Step::Key(name));
        let datum = self.evaluator.value(entry, Span::at(0));
        let datum = datum.unwrap_or(Datum::UNDEFINED);
        let is_touched = all || self.is_entry_touched(block, entry, None);
        match datum.form {
            Form::Block(inner) if is_touched && !all => {
                self.tell();
                for part in self.evaluator.visible(inner) {
                    // What does not matter to the whole does not matter to a part.
                    let within = self.evaluator.entry(part).name;
                    let all = self.is_entry_touched(block, entry, Some(within));
                    self.entry(inner, part, all);
                }
            }
            _ => self.datum(datum, is_touched),
        }
        self.path.pop();
    }

    /// Whether a resource of a block depends on the place; or a name in it, as far as it comes by that way.
    fn is_entry_touched(&mut self, block: BlockId, entry: EntryId, within: Option<Symbol>) -> bool {
        let name = self.evaluator.entry(entry).name;
        self.is_touched(Node::Presence(block, name, within))
            || self.is_touched(Node::Entry(entry, within))
    }

    fn is_touched(&mut self, node: Node) -> bool {
        !self.evaluator.is_only_written(node) && self.reach.leads(self.evaluator, node)
    }

    fn datum(&mut self, datum: Datum, all: bool) {
        match datum.form {
            Form::Undefined | Form::Scalar(_) => self.tell_if(all),
            Form::Block(block) => {
                let is_touched = all || self.is_touched(Node::Names(block));
                self.tell_if(is_touched);
                self.block(block, all);
            }
            Form::List(list) => {
                self.tell_if(all);
                let count = self.evaluator.lists[list.0 as usize].states.len();
                for index in 0..count {
                    self.path.push(Step::Index(index));
                    let is_touched = all || self.is_touched(Node::Element(list, index));
                    let datum = self.evaluator.element(list, index, Span::at(0));
                    self.datum(datum.unwrap_or(Datum::UNDEFINED), is_touched);
                    self.path.pop();
                }
            }
            Form::Literals(cell) => {
                self.tell_if(all);
                self.items(cell, all);
            }
        }
    }

    fn items(&mut self, cell: Cell, all: bool) {
        let items = self.evaluator.unit.literals.elements(cell).to_vec();
        for (index, item) in items.into_iter().enumerate() {
            self.path.push(Step::Index(index));
            let is_touched = all || self.is_item_touched(item);
            self.tell_if(is_touched);
            if let Content::List(_) = item.cell.content(&self.evaluator.unit.literals) {
                self.items(item.cell, is_touched);
            }
            self.path.pop();
        }
    }

    fn is_item_touched(&self, item: Item) -> bool {
        // What begins behind the place needs not be read.
        let begins = item.at <= self.reach.place.end;
        begins
            && self
                .reach
                .is_hit(self.evaluator.item_span(item), Role::Value)
    }

    fn tell_if(&mut self, is_touched: bool) {
        if is_touched {
            self.tell();
        }
    }

    /// Names the path that the walk has come to.
    fn tell(&mut self) {
        let segments = self.path.iter().map(|&step| match step {
            Step::Key(name) => Segment::Key(self.evaluator.name(name).to_owned()),
            Step::Index(index) => Segment::Index(index),
        });
        (self.name)(segments.collect());
        self.named += 1;
    }
}

/// Which reasons lead to a place.
///
/// They may lead round in circles, and whoever is part of a circle leads wherever any of it does: so all of a
/// circle is known at once (Tarjan).
struct Reach {
    place: Span,
    /// What is known of the values of resources, by number.
    entries: Vec<Leads>,
    /// What is known of all others.
    others: FxHashMap<Key, Leads>,
    /// What is being followed, the innermost last.
    open: Vec<Open>,
    /// The same, and what leads back to any of it.
    pending: Vec<Key>,
    /// What is left to look at, for each that is open.
    rest: Vec<Node>,
}

/// Whether a reason leads to the place.
#[derive(Clone, Copy, Debug, Default)]
enum Leads {
    /// Nobody has asked.
    #[default]
    Unknown,
    /// It is not known yet: the number among those.
    Pending(u32),
    No,
    Yes,
}

/// A reason that is being followed.
struct Open {
    /// Its number among those that are pending.
    number: u32,
    /// The lowest number that it leads to.
    lowest: u32,
    /// Where its own begin of what is left to look at.
    rest: usize,
}

impl Reach {
    fn new(place: Span) -> Self {
        Self {
            place,
            entries: Vec::new(),
            others: FxHashMap::default(),
            open: Vec::new(),
            pending: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Whether a node leads to the place.
    fn leads(&mut self, evaluator: &mut Evaluator<'_>, node: Node) -> bool {
        self.rest.push(node);
        let leads = self.search(evaluator);
        // Whatever is pending leads to the last that was looked at.
        while let Some(key) = self.pending.pop() {
            *self.of(key) = Leads::Yes;
        }
        self.open.clear();
        self.rest.clear();
        leads
    }

    /// Looks at what is left, until something leads to the place.
    fn search(&mut self, evaluator: &mut Evaluator<'_>) -> bool {
        loop {
            let start = self.open.last().map_or(0, |open| open.rest);
            if self.rest.len() == start {
                match self.open.pop() {
                    None => return false,
                    Some(done) => self.close(&done),
                }
                continue;
            }
            let node = self.rest.pop().expect("some are left");
            let leads = *self.of(node.key());
            match leads {
                Leads::Yes => return true,
                Leads::No => {}
                Leads::Pending(number) => self.leads_back(number),
                Leads::Unknown if self.follow(evaluator, node) => return true,
                Leads::Unknown => {}
            }
        }
    }

    /// Looks at the reasons of a node, and tells whether any is the place itself.
    fn follow(&mut self, evaluator: &mut Evaluator<'_>, node: Node) -> bool {
        let key = node.key();
        if let Some(span) = evaluator.only_literal(node) {
            let is_hit = self.is_hit(span, Role::Value);
            *self.of(key) = match is_hit {
                true => Leads::Yes,
                false => Leads::No,
            };
            return is_hit;
        }
        let number = self.pending.len() as u32;
        *self.of(key) = Leads::Pending(number);
        self.pending.push(key);
        self.open.push(Open {
            number,
            lowest: number,
            rest: self.rest.len(),
        });
        for reason in evaluator.reasons_of(node) {
            match reason.cause {
                Cause::Written(span, role) if self.is_hit(span, role) => return true,
                Cause::Written(..) => {}
                Cause::Node(inner) => self.rest.push(inner),
            }
        }
        false
    }

    /// Nothing that a reason leads to is the place, as far as that is known.
    fn close(&mut self, done: &Open) {
        if done.lowest < done.number {
            return self.leads_back(done.lowest);
        }
        while self.pending.len() > done.number as usize {
            let key = self.pending.pop().expect("it is among them");
            *self.of(key) = Leads::No;
        }
    }

    /// The innermost that is open leads to one that is pending.
    fn leads_back(&mut self, number: u32) {
        let open = self.open.last_mut().expect("it is being followed");
        open.lowest = open.lowest.min(number);
    }

    /// What is known of a node.
    fn of(&mut self, key: Key) -> &mut Leads {
        match key {
            Key::Entry(entry, None) => {
                let number = entry.0 as usize;
                if self.entries.len() <= number {
                    self.entries.resize(number + 1, Leads::Unknown);
                }
                &mut self.entries[number]
            }
            key => self.others.entry(key).or_default(),
        }
    }

    /// Whether something written belongs to the place.
    fn is_hit(&self, span: Span, role: Role) -> bool {
        let is_inside = self.place.start <= span.start && span.end <= self.place.end;
        let is_around = span.start <= self.place.start && self.place.end <= span.end;
        match role {
            // What is written inside of an operation or an import has places of its own.
            Role::Operation | Role::Import => is_inside,
            _ => is_inside || is_around,
        }
    }
}
