//! Reads blocks: replays their logs into the entries that count, in order.
//!
//! What is included often is replayed once and kept, so a fleet of machines with one prototype costs
//! a copy of a few numbers each, and prototypes composed in very many ways still cost what they are.

use std::ops::Range;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::cell::{Cell, Item, Literals};
use crate::order;
use crate::print::printed::Printed;
use crate::source::Sources;
use crate::store::{EntryId, Found, Store, Time, View};
use crate::symbol::{Symbol, Symbols};
use crate::trace::Recorder;
use crate::value::{Event, Sink};
use crate::work;

/// A block, replayed: the entry that counts for each key, in order.
#[derive(Debug)]
pub struct Layout {
    /// The keys' entries, in the order in which the keys were first put.
    slots: Slots,
    /// The order constraints in force.
    order: Option<Slot>,
}

/// An entry, and as of when its own block is seen: `OUTER` means, as the whole block is.
#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: EntryId,
    time: Time,
    /// The number of its printed text, if it is likely to be printed often.
    printed: u32,
}

/// The slots of a block.
#[derive(Debug)]
enum Slots {
    /// Every entry of a row counts: nothing is to be chosen, and nothing is copied.
    Row(Range<u32>),
    Chosen(Vec<Slot>),
}

impl Slots {
    fn len(&self) -> usize {
        match self {
            Slots::Row(row) => row.len(),
            Slots::Chosen(slots) => slots.len(),
        }
    }

    #[inline]
    fn get(&self, place: usize) -> Option<Slot> {
        match self {
            Slots::Row(row) => {
                let entry = row.start + place as u32;
                (entry < row.end).then(|| Slot::new(EntryId(entry), OUTER))
            }
            Slots::Chosen(slots) => slots.get(place).copied(),
        }
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = Slot> + '_ {
        (0..self.len()).map(|place| self.get(place).expect("it is one of them"))
    }
}

/// The number that no printed text has.
const UNNUMBERED: u32 = u32::MAX;

const OUTER: Time = Time::MAX - 1;

/// How many slots are kept in all before they are forgotten: 12 MB.
const KEPT: usize = 1 << 20;

impl Slot {
    fn new(entry: EntryId, time: Time) -> Self {
        let printed = UNNUMBERED;
        Self {
            entry,
            time,
            printed,
        }
    }

    /// The same slot in a block that includes this one as it was at `time`.
    fn included_at(self, time: Time) -> Self {
        Self {
            time: self.seen_from(time).time,
            ..self
        }
    }

    fn seen_from(self, time: Time) -> Found {
        Found {
            entry: self.entry,
            time: if self.time == OUTER { time } else { self.time },
        }
    }
}

/// The lines of a block's log and of all that it includes, oldest first: what a replay goes through,
/// for those who change the store while they read it. None if there are more than `most`.
pub fn lines<R: Recorder>(store: &Store<R>, view: View, most: usize) -> Option<Vec<Found>> {
    let mut lines = Vec::new();
    let mut pending: Vec<Found> = Vec::new();
    let push = |pending: &mut Vec<Found>, view: View| {
        let time = view.time;
        pending.extend(store.log(view).map(|entry| Found { entry, time }));
    };
    push(&mut pending, view);
    while let Some(found) = pending.pop() {
        work::step();
        match store.included(found.entry) {
            Some(included) => push(&mut pending, included),
            None => lines.push(found),
        }
        if lines.len() + pending.len() > most {
            return None;
        }
    }
    Some(lines)
}

/// The lines that count, one for each key: first position, last value.
pub fn last_words<R: Recorder>(store: &Store<R>, lines: &[Found]) -> Vec<(Symbol, Found)> {
    let mut words: IndexMap<Symbol, Found> = IndexMap::default();
    for &found in lines {
        let key = store.entry(found.entry).key;
        if key.is_name() {
            words.insert(key, found);
        }
    }
    words.into_iter().collect()
}

/// Reads a store.
pub struct Reader<'a, R: Recorder> {
    /// The sources that its literals stand in.
    pub sources: &'a Sources,
    /// The names of its keys.
    pub symbols: &'a Symbols,
    /// Its literals.
    pub literals: &'a Literals,
    /// The blocks.
    pub store: &'a Store<R>,
    kept: FxHashMap<View, Rc<Layout>>,
    kept_slots: usize,
    printed: Printed,
    positions: Positions,
    pending: Vec<EntryId>,
}

impl<'a, R: Recorder> Reader<'a, R> {
    /// A reader of a store.
    pub fn new(
        sources: &'a Sources,
        symbols: &'a Symbols,
        literals: &'a Literals,
        store: &'a Store<R>,
    ) -> Self {
        Self {
            sources,
            symbols,
            literals,
            store,
            kept: FxHashMap::default(),
            kept_slots: 0,
            printed: Printed::default(),
            positions: Positions::new(symbols.count()),
            pending: Vec::new(),
        }
    }

    /// Replays a block.
    pub fn layout(&mut self, view: View) -> Rc<Layout> {
        let view = self.store.normal(view);
        if let Some(layout) = self.kept.get(&view) {
            return layout.clone();
        }
        if self.kept_slots > KEPT {
            self.kept.clear();
            self.kept_slots = 0;
            self.printed = Printed::default();
        }
        // What is included more than once is replayed first, and kept: inner before outer.
        let mut needed = Vec::new();
        self.needs(view, &mut needed);
        while let Some(&next) = needed.last() {
            if self.kept.contains_key(&next) {
                needed.pop();
                continue;
            }
            let before = needed.len();
            self.needs(next, &mut needed);
            if needed.len() == before {
                let layout = self.replay(next);
                self.keep(next, layout);
            }
        }
        if self.store.is_shared(view.block) {
            let layout = self.replay(view);
            return self.keep(view, layout);
        }
        Rc::new(match self.store.row(view) {
            Some(row) => Layout {
                slots: Slots::Row(row),
                order: None,
            },
            None => self.replay(view),
        })
    }

    fn keep(&mut self, view: View, mut layout: Layout) -> Rc<Layout> {
        if let Slots::Chosen(slots) = &mut layout.slots {
            for slot in slots {
                if slot.printed == UNNUMBERED && self.store.entry(slot.entry).cell.is_scalar() {
                    slot.printed = self.printed.number();
                }
            }
        }
        let layout = Rc::new(layout);
        self.kept_slots += layout.slots.len();
        self.kept.insert(view, layout.clone());
        layout
    }

    /// Adds the shared views whose layouts a replay of `view` would want and that are not there yet.
    fn needs(&self, view: View, needed: &mut Vec<View>) {
        let mut inlined = vec![view];
        while let Some(view) = inlined.pop() {
            work::step();
            for (_, included) in self.store.includes(view) {
                let included = self.store.normal(included);
                if self.kept.contains_key(&included) {
                    continue;
                }
                match self.store.is_shared_often(included.block) {
                    true => needed.push(included),
                    false => inlined.push(included),
                }
            }
        }
    }

    fn replay(&mut self, view: View) -> Layout {
        self.positions.clear();
        self.pending.extend(self.store.log(view));
        let mut slots = Vec::with_capacity(self.pending.len());
        let mut order = None;
        // Included blocks that are being replayed in place: where they end, and the time of the rest.
        let mut within: Vec<(usize, Time)> = Vec::new();
        let mut time = OUTER;
        loop {
            while let Some(&(end, outer)) = within.last()
                && self.pending.len() == end
            {
                within.pop();
                time = outer;
            }
            let Some(entry) = self.pending.pop() else {
                let slots = Slots::Chosen(slots);
                return Layout { slots, order };
            };
            work::step();
            match self.store.entry(entry).key {
                Symbol::INCLUDE => {
                    let included = self.store.included(entry).expect("it is an include");
                    let normal = self.store.normal(included);
                    if let Some(kept) = self.kept.get(&normal) {
                        slots.reserve(kept.slots.len() + self.pending.len());
                        for slot in kept.slots.iter() {
                            work::step();
                            let key = self.store.entry(slot.entry).key;
                            let slot = slot.included_at(included.time);
                            self.positions.set(&mut slots, key, slot);
                        }
                        if let Some(kept) = kept.order {
                            order = Some(kept.included_at(included.time));
                        }
                    } else {
                        within.push((self.pending.len(), time));
                        time = included.time;
                        self.pending.extend(self.store.log(included));
                    }
                }
                Symbol::FILE | Symbol::BODY | Symbol::PLACE => {}
                Symbol::ORDER => order = Some(Slot::new(entry, time)),
                key => self.positions.set(&mut slots, key, Slot::new(entry, time)),
            }
        }
    }
}

/// A container that is being sent.
enum Open<'a> {
    Block {
        layout: Rc<Layout>,
        next: usize,
        time: Time,
    },
    List(&'a [Item]),
}

impl<'a, R: Recorder> Reader<'a, R> {
    /// Sends a block and all that is in it to a sink.
    pub fn send(&mut self, view: View, sink: &mut impl Sink) {
        let mut open = Vec::new();
        self.enter(view, &mut open, sink);
        self.send_open(open, sink);
    }

    /// Sends the value of one entry to a sink.
    pub fn send_entry(&mut self, found: Found, sink: &mut impl Sink) {
        let mut open = Vec::new();
        match self.store.child(found) {
            Some(view) => self.enter(view, &mut open, sink),
            None => open.extend(self.leaf(self.store.entry(found.entry).cell, sink)),
        }
        self.send_open(open, sink);
    }

    fn send_open(&mut self, mut open: Vec<Open<'a>>, sink: &mut impl Sink) {
        while let Some(top) = open.last_mut() {
            work::step();
            match top {
                Open::Block { layout, next, time } => {
                    let Some(slot) = layout.slots.get(*next) else {
                        sink.event(Event::MapEnd);
                        open.pop();
                        continue;
                    };
                    *next += 1;
                    if slot.printed != UNNUMBERED {
                        self.often(slot, sink);
                        continue;
                    }
                    let found = slot.seen_from(*time);
                    let entry = self.store.entry(found.entry);
                    sink.event(Event::Key(self.symbols.name(self.sources, entry.key)));
                    match self.store.child(found) {
                        Some(view) => {
                            if sink.is_closed() {
                                return;
                            }
                            self.enter(view, &mut open, sink);
                        }
                        None => open.extend(self.leaf(entry.cell, sink)),
                    }
                }
                Open::List(items) => match items.split_first() {
                    None => {
                        sink.event(Event::ListEnd);
                        open.pop();
                    }
                    Some((item, rest)) => {
                        *items = rest;
                        open.extend(self.leaf(item.cell, sink));
                    }
                },
            }
        }
    }

    /// An entry with a scalar that many blocks have: printed from its text, if there is one.
    fn often(&mut self, slot: Slot, sink: &mut impl Sink) {
        let Self {
            sources,
            symbols,
            literals,
            store,
            ..
        } = *self;
        self.printed.entry(slot.printed, sink, |sink| {
            let entry = store.entry(slot.entry);
            sink.event(Event::Key(symbols.name(sources, entry.key)));
            let scalar = literals.scalar(sources, entry.cell);
            sink.event(scalar.expect("only scalars are numbered"));
        });
    }

    fn enter(&mut self, view: View, open: &mut Vec<Open<'a>>, sink: &mut impl Sink) {
        sink.event(Event::MapStart);
        open.push(Open::Block {
            layout: self.arranged(view),
            next: 0,
            time: view.time,
        });
    }

    fn leaf(&self, cell: Cell, sink: &mut impl Sink) -> Option<Open<'a>> {
        // The output has none of these, but what lost to it may have a link that nobody followed.
        if cell.as_late().is_some() {
            sink.event(Event::Reference("…"));
            return None;
        }
        if let Some(scalar) = self.literals.scalar(self.sources, cell) {
            sink.event(scalar);
            return None;
        }
        sink.event(Event::ListStart);
        Some(Open::List(self.literals.elements(cell)))
    }

    /// Replays a block and puts its keys into the order that its constraints ask for.
    pub fn arranged(&mut self, view: View) -> Rc<Layout> {
        let layout = self.layout(view);
        let Some(order) = layout.order else {
            return layout;
        };
        let constraints = order::constraints(self, order.entry);
        let keys = layout
            .slots
            .iter()
            .map(|slot| self.store.entry(slot.entry).key);
        // A cycle was reported when the block was made; here the store order stays.
        match order::arrange(keys, &constraints) {
            Err(_) => layout,
            Ok(places) => {
                let slots = places.iter().filter_map(|&place| layout.slots.get(place));
                Rc::new(Layout {
                    slots: Slots::Chosen(slots.collect()),
                    order: layout.order,
                })
            }
        }
    }

    /// The size of a block when printed: about how many bytes, and how many levels. Exact where
    /// [`Store::size_bound`] counts what was overridden too.
    pub fn size(&mut self, view: View) -> (u64, u32) {
        struct Sum {
            view: View,
            layout: Rc<Layout>,
            next: usize,
            bytes: u64,
            levels: u32,
        }
        let sum = |reader: &mut Self, view| Sum {
            view: reader.store.normal(view),
            layout: reader.layout(view),
            next: 0,
            bytes: 2,
            levels: 1,
        };
        let mut known: FxHashMap<View, (u64, u32)> = FxHashMap::default();
        let mut open = vec![sum(self, view)];
        loop {
            let top = open.last_mut().expect("the outermost block ends the loop");
            let Some(slot) = top.layout.slots.get(top.next) else {
                let done = open.pop().expect("it was just looked at");
                let size = (done.bytes, done.levels);
                if open.is_empty() {
                    return size;
                }
                known.insert(done.view, size);
                continue;
            };
            let found = slot.seen_from(top.view.time);
            let entry = self.store.entry(found.entry);
            let (bytes, levels) = match self.store.child(found) {
                None => (entry.cell.weight(self.literals), 0),
                Some(inner) => match known.get(&self.store.normal(inner)) {
                    Some(&size) => size,
                    None => {
                        let inner = sum(self, inner);
                        open.push(inner);
                        continue;
                    }
                },
            };
            let key = self.symbols.name(self.sources, entry.key).len() as u64;
            top.bytes = top.bytes.saturating_add(bytes).saturating_add(key + 4);
            top.levels = top.levels.max(levels + 1);
            top.next += 1;
        }
    }
}

impl Layout {
    /// The entries that count, in order, as they are seen at `time`.
    pub fn found(&self, time: Time) -> impl ExactSizeIterator<Item = Found> + '_ {
        self.slots.iter().map(move |slot| slot.seen_from(time))
    }

    /// The order constraints in force.
    pub fn order(&self) -> Option<EntryId> {
        self.order.map(|slot| slot.entry)
    }
}

/// Positions by key; forgetting all of them is one addition.
struct Positions {
    epoch: u32,
    at: Vec<(u32, u32)>,
}

impl Positions {
    fn new(symbols: usize) -> Self {
        Self {
            epoch: 0,
            at: vec![(0, 0); symbols],
        }
    }

    fn clear(&mut self) {
        self.epoch += 1;
    }

    /// First position, last value (definition 12).
    #[inline]
    fn set(&mut self, slots: &mut Vec<Slot>, key: Symbol, slot: Slot) {
        let (epoch, position) = &mut self.at[key.index()];
        if *epoch == self.epoch {
            slots[*position as usize] = slot;
        } else {
            (*epoch, *position) = (self.epoch, slots.len() as u32);
            slots.push(slot);
        }
    }
}
