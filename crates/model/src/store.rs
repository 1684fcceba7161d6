//! Blocks that forget nothing.
//!
//! A block is a log. An entry either *puts* a value under a key or *includes* all of another block;
//! the meaning of a block is the replay of its log: a key stands where it was first put and has the
//! value that was put last (definition 12 of SmartFrog's semantics, and good sense elsewhere). As no
//! entry is ever changed, what lost, which prototype a value came through and in which order things
//! were written can all be read back: provenance is the representation.
//!
//! All logs share one arena, so the number of an entry is a time, and a block *as it was* is just the
//! block and a time: a [`View`]. Sharing a block, even one still being written, copies nothing.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cell::{Cell, Child, Literals};
use crate::symbol::Symbol;
use crate::trace::Recorder;
use crate::work;

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub(crate) u32);

/// An entry of some block's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub(crate) u32);

/// How many entries had been written: a view at a time sees the entries before it.
pub type Time = u32;

/// After everything.
pub const END: Time = u32::MAX;

/// A block as it was at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The block.
    pub block: BlockId,
    /// The time: entries from then on are not seen.
    pub time: Time,
}

/// Why a block includes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inclusion {
    /// It was asked for: a prototype.
    Prototype = 0,
    /// The block continues the other one in its place.
    Version = 1,
}

/// A view that a cell refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViewId(pub(crate) u32);

/// One line of a log.
#[derive(Clone, Copy, Debug)]
pub struct Entry<O> {
    /// The key, or [`Symbol::INCLUDE`], or a mark.
    pub key: Symbol,
    /// The value, or the view that is included.
    pub cell: Cell,
    /// Where it comes from.
    pub origin: O,
    /// The entry before it in the same block.
    previous: u32,
}

/// Where a key was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The entry that has the last word on the key.
    pub entry: EntryId,
    /// As of when the entry's own block is to be seen.
    pub time: Time,
}

struct Block {
    first: u32,
    last: u32,
    last_include: u32,
    parent: BlockId,
    entries: u32,
    /// Whether its entries stand in one row, and each puts a name that nothing has put before.
    is_row: bool,
    /// Since when neither it nor a block of its own has changed; `END` while it is open.
    settled: Time,
    /// The entry whose own it is.
    definition: u32,
    /// How many views of it were taken.
    uses: u32,
    /// How long the chain of first prototypes is that begins with its own.
    heritage: u32,
    /// At most so many levels are in it.
    depth: u32,
    /// At most about so many bytes are in it when printed.
    weight: u64,
}

struct ViewRecord {
    view: View,
    /// The include before this one in the including block.
    previous_include: u32,
}

const NONE: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// Blocks with more entries than this are looked up by hash.
const SCANNED: u32 = 16;

/// All blocks of a compilation.
pub struct Store<R: Recorder> {
    /// What takes note of origins.
    pub recorder: R,
    entries: Vec<Entry<R::Origin>>,
    blocks: Vec<Block>,
    views: Vec<ViewRecord>,
    indexes: RefCell<FxHashMap<BlockId, Index>>,
    stretches: RefCell<FxHashMap<View, Stretch>>,
    /// The block that has put a key, by key; or that none has, or several have.
    homes: Vec<u32>,
    ordered: bool,
}

impl<R: Recorder> Default for Store<R> {
    fn default() -> Self {
        Self {
            recorder: R::default(),
            entries: Vec::new(),
            blocks: Vec::new(),
            views: Vec::new(),
            indexes: RefCell::default(),
            stretches: RefCell::default(),
            homes: Vec::new(),
            ordered: false,
        }
    }
}

/// Writing.
impl<R: Recorder> Store<R> {
    /// The present.
    pub fn now(&self) -> Time {
        self.entries.len() as Time
    }

    /// A new, open, empty block inside `parent`; the outermost one has none.
    pub fn open(&mut self, parent: Option<BlockId>) -> BlockId {
        let id = BlockId(self.blocks.len() as u32);
        self.blocks.push(Block {
            first: NONE,
            last: NONE,
            definition: NONE,
            heritage: 0,
            last_include: NONE,
            parent: parent.unwrap_or(id),
            entries: 0,
            is_row: true,
            settled: END,
            uses: 0,
            depth: 1,
            weight: 2,
        });
        id
    }

    /// Says that the block's text has ended, and counts it towards the block around it.
    pub fn close(&mut self, block: BlockId) {
        let now = self.now();
        let inner = &mut self.blocks[block.0 as usize];
        inner.settled = now;
        let (weight, depth) = (inner.weight, inner.depth + 1);
        if let Some(parent) = self.parent(block) {
            self.grow(parent, weight, depth);
        }
    }

    /// Puts a value under a key.
    pub fn put(
        &mut self,
        literals: &Literals,
        block: BlockId,
        key: Symbol,
        cell: Cell,
        origin: R::Origin,
    ) {
        let (weight, depth) = match cell.child() {
            None => (cell.weight(literals), 1),
            Some(Child::Shared(view)) => {
                let shared = &self.blocks[self.view(view).block.0 as usize];
                (shared.weight, shared.depth + 1)
            }
            // A block of its own is counted when it is closed.
            Some(_) => (0, 1),
        };
        if let Some(Child::Own(own) | Child::Edit(own)) = cell.child() {
            self.blocks[own.0 as usize].definition = self.now();
        }
        self.ordered |= key == Symbol::ORDER;
        self.append(block, key, cell, origin);
        self.grow(block, weight.saturating_add(8), depth);
    }

    /// Includes all of another block, as it is seen in `view`.
    pub fn include(&mut self, block: BlockId, view: View, inclusion: Inclusion, origin: R::Origin) {
        let ViewId(id) = self.share(view);
        self.views[id as usize].previous_include = self.blocks[block.0 as usize].last_include;
        let shared = &self.blocks[view.block.0 as usize];
        let (weight, depth, heritage) = (shared.weight, shared.depth, shared.heritage);
        let now = self.now();
        let including = &mut self.blocks[block.0 as usize];
        including.last_include = now;
        if including.first == NONE {
            including.heritage = heritage + 1;
        }
        let cell = Cell::included(ViewId(id), inclusion);
        self.append(block, Symbol::INCLUDE, cell, origin);
        self.grow(block, weight, depth);
    }

    /// Includes a block that is not known yet; until [`Store::set_view`] tells, nothing is included.
    pub fn include_later(&mut self, block: BlockId, origin: R::Origin) -> ViewId {
        let nothing = View { block, time: 0 };
        self.include(block, nothing, Inclusion::Prototype, origin);
        ViewId(self.views.len() as u32 - 1)
    }

    /// Tells which block an earlier [`Store::include_later`] meant.
    pub fn set_view(&mut self, id: ViewId, view: View) {
        self.blocks[view.block.0 as usize].uses += 1;
        self.views[id.0 as usize].view = view;
    }

    /// Writes a mark into the log: [`Symbol::FILE`] says that the entries from here on came through an
    /// `#include`, or with [`Cell::NULL`] that this one has ended; [`Symbol::BODY`] that a body begins.
    pub fn mark(&mut self, block: BlockId, mark: Symbol, cell: Cell, origin: R::Origin) {
        self.append(block, mark, cell, origin);
    }

    /// Whether the newest entry of a block is an include, or there is none.
    pub fn is_after_include(&self, block: BlockId) -> bool {
        let block = &self.blocks[block.0 as usize];
        block.last == block.last_include
    }

    /// Remembers a view, so that a cell can refer to it.
    pub fn share(&mut self, view: View) -> ViewId {
        self.blocks[view.block.0 as usize].uses += 1;
        self.views.push(ViewRecord {
            view,
            previous_include: NONE,
        });
        ViewId(self.views.len() as u32 - 1)
    }

    fn append(&mut self, block: BlockId, key: Symbol, cell: Cell, origin: R::Origin) {
        let now = self.now();
        let log = &mut self.blocks[block.0 as usize];
        self.entries.push(Entry {
            key,
            cell,
            origin,
            previous: log.last,
        });
        if log.first == NONE {
            log.first = now;
        }
        log.is_row &= key.is_name() && log.first + log.entries == now;
        log.last = now;
        log.entries += 1;
        if key.index() >= self.homes.len() {
            let room = (key.index() + 1).next_power_of_two();
            self.homes.resize(room, NONE);
        }
        let home = &mut self.homes[key.index()];
        if *home == NONE {
            *home = block.0;
        } else {
            log.is_row = false;
            if *home != block.0 {
                *home = SEVERAL;
            }
        }
    }

    /// Counts something new in a block. A closed block passes it on to the one around it.
    fn grow(&mut self, block: BlockId, weight: u64, depth: u32) {
        let now = self.now();
        let (mut block, mut depth) = (block, depth);
        loop {
            work::step();
            let log = &mut self.blocks[block.0 as usize];
            log.weight = log.weight.saturating_add(weight);
            log.depth = log.depth.max(depth);
            if log.settled == END || log.parent == block {
                return;
            }
            log.settled = now;
            (block, depth) = (log.parent, depth.saturating_add(1));
        }
    }
}

/// Reading.
impl<R: Recorder> Store<R> {
    /// The block around this one.
    pub fn parent(&self, block: BlockId) -> Option<BlockId> {
        let parent = self.blocks[block.0 as usize].parent;
        (parent != block).then_some(parent)
    }

    /// The entry that defines a block; none for the outermost.
    pub fn definition(&self, block: BlockId) -> Option<EntryId> {
        let definition = self.blocks[block.0 as usize].definition;
        (definition != NONE).then_some(EntryId(definition))
    }

    /// An entry.
    pub fn entry(&self, entry: EntryId) -> &Entry<R::Origin> {
        &self.entries[entry.0 as usize]
    }

    /// Whether order constraints were ever put.
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// The view that a cell refers to.
    pub fn view(&self, view: ViewId) -> View {
        self.views[view.0 as usize].view
    }

    /// The view of an entry's block, if its value is one.
    #[inline]
    pub fn child(&self, found: Found) -> Option<View> {
        let cell = self.entries[found.entry.0 as usize].cell;
        Some(match cell.child()? {
            Child::Own(block) | Child::Edit(block) => View {
                block,
                time: found.time,
            },
            Child::Shared(view) => self.view(view),
        })
    }

    /// Whether more than one view of the block was taken.
    pub fn is_shared_often(&self, block: BlockId) -> bool {
        self.blocks[block.0 as usize].uses > 1
    }

    /// Whether a view of the block was ever taken.
    pub fn is_shared(&self, block: BlockId) -> bool {
        self.blocks[block.0 as usize].uses > 0
    }

    /// At most about how many bytes the block is when printed, and how many levels it has. What was
    /// overridden still counts.
    pub fn size_bound(&self, block: BlockId) -> (u64, u32) {
        let block = &self.blocks[block.0 as usize];
        (block.weight, block.depth)
    }

    /// The same view by its earliest time, so that equal views compare equal.
    #[inline]
    pub fn normal(&self, view: View) -> View {
        let settled = self.blocks[view.block.0 as usize].settled;
        View {
            block: view.block,
            time: view.time.min(settled),
        }
    }

    /// The entries of a block's own log that a view sees, newest first.
    pub fn log(&self, view: View) -> impl Iterator<Item = EntryId> + '_ {
        let mut next = self.blocks[view.block.0 as usize].last;
        std::iter::from_fn(move || {
            while next != NONE && next >= view.time {
                work::step();
                next = self.entries[next as usize].previous;
            }
            (next != NONE).then(|| {
                let entry = EntryId(next);
                next = self.entries[next as usize].previous;
                entry
            })
        })
    }

    /// The entries that a view sees, oldest first, if they stand in one row and no two of them, nor an
    /// entry of another block before them, put the same name: the block is what its log says.
    pub fn row(&self, view: View) -> Option<Range<u32>> {
        let block = &self.blocks[view.block.0 as usize];
        let end = view.time.min(block.last.saturating_add(1));
        (block.is_row && block.first < end).then_some(block.first..end)
    }

    /// The entry before this one in the same log.
    pub fn before(&self, entry: EntryId) -> Option<EntryId> {
        let previous = self.entries[entry.0 as usize].previous;
        (previous != NONE).then_some(EntryId(previous))
    }

    /// The includes of a block that a view sees, newest first.
    pub fn includes(&self, view: View) -> impl Iterator<Item = (EntryId, View)> + '_ {
        let mut next = self.include_before(view.block, view.time);
        std::iter::from_fn(move || {
            let entry = EntryId(next.take()?);
            let record = self.include_record(entry.0);
            next = (record.previous_include != NONE).then_some(record.previous_include);
            Some((entry, record.view))
        })
    }

    /// The view that an entry includes, if it is an include.
    pub fn included(&self, entry: EntryId) -> Option<View> {
        let include = self.entries[entry.0 as usize].key == Symbol::INCLUDE;
        include.then(|| self.include_record(entry.0).view)
    }

    /// How an include came about.
    pub fn inclusion(&self, include: EntryId) -> Inclusion {
        self.entries[include.0 as usize].cell.inclusion()
    }

    /// Looks up a key: the last put wins, be it the block's own or one that an include brought.
    pub fn find(&self, view: View, key: Symbol) -> Option<Found> {
        // Parts of blocks still to be searched if an include does not have the key.
        let mut later: Vec<View> = Vec::new();
        // With several includes the same block can be reached in very many ways; once is enough.
        let mut missed: FxHashSet<View> = FxHashSet::default();
        let mut seen = view;
        // As of when an own block of the present log is seen: a part of a log has the time of the whole.
        let mut times: Vec<Time> = Vec::new();
        let mut time = view.time;
        loop {
            work::step();
            // A block that is still being written is not worth an index of its chain.
            if seen != view && self.is_milestone(seen.block) {
                match self.in_stretch(seen, key) {
                    Ok((entry, as_included)) => {
                        let time = as_included.unwrap_or(time);
                        return Some(Found { entry, time });
                    }
                    Err(Some(next)) => {
                        (seen, time) = (next, next.time);
                        continue;
                    }
                    Err(None) => {
                        seen = later.pop()?;
                        time = times.pop().expect("every part has a time");
                        continue;
                    }
                }
            }
            let own = self.own(seen, key);
            let include = self.include_before(seen.block, seen.time);
            match (own, include) {
                (Some(entry), None) => {
                    let entry = EntryId(entry);
                    return Some(Found { entry, time });
                }
                (Some(entry), Some(include)) if entry > include => {
                    let entry = EntryId(entry);
                    return Some(Found { entry, time });
                }
                (own, Some(include)) => {
                    let record = self.include_record(include);
                    if own.is_some() || record.previous_include != NONE {
                        later.push(View {
                            block: seen.block,
                            time: include,
                        });
                        times.push(time);
                    }
                    if later.is_empty() || missed.insert(self.normal(record.view)) {
                        seen = record.view;
                        time = seen.time;
                        continue;
                    }
                }
                (None, None) => {}
            }
            seen = later.pop()?;
            time = times.pop().expect("every part has a time");
        }
    }

    /// The newest own put of a key that a view sees.
    fn own(&self, view: View, key: Symbol) -> Option<u32> {
        // Most names are put by one block only, and looked for in many.
        match self.homes.get(key.index()) {
            None | Some(&NONE) => return None,
            Some(&home) if home != SEVERAL && home != view.block.0 => return None,
            _ => {}
        }
        let block = &self.blocks[view.block.0 as usize];
        if block.entries > SCANNED {
            return self.indexed(view, key);
        }
        let mut next = block.last;
        while next != NONE {
            work::step();
            let entry = &self.entries[next as usize];
            if entry.key == key && next < view.time {
                return Some(next);
            }
            next = entry.previous;
        }
        None
    }

    fn include_before(&self, block: BlockId, time: Time) -> Option<u32> {
        let mut next = self.blocks[block.0 as usize].last_include;
        while next != NONE && next >= time {
            work::step();
            next = self.include_record(next).previous_include;
        }
        (next != NONE).then_some(next)
    }

    fn include_record(&self, entry: u32) -> &ViewRecord {
        match self.entries[entry as usize].cell.child() {
            Some(Child::Shared(view)) => &self.views[view.0 as usize],
            _ => unreachable!("an include refers to a view"),
        }
    }
}

/// The own puts of a large block by key, made and extended when the block is searched.
#[derive(Default)]
struct Index {
    /// Entries before this one are in it.
    indexed: u32,
    puts: FxHashMap<Symbol, Puts>,
}

enum Puts {
    Once(u32),
    /// Oldest first.
    Often(Vec<u32>),
}

impl<R: Recorder> Store<R> {
    fn indexed(&self, view: View, key: Symbol) -> Option<u32> {
        let block = &self.blocks[view.block.0 as usize];
        let mut indexes = self.indexes.borrow_mut();
        let index = indexes.entry(view.block).or_default();
        self.extend(index, block.last);
        match index.puts.get(&key)? {
            Puts::Once(entry) => (*entry < view.time).then_some(*entry),
            Puts::Often(entries) => {
                let after = entries.partition_point(|&entry| entry < view.time);
                after.checked_sub(1).map(|newest| entries[newest])
            }
        }
    }

    fn extend(&self, index: &mut Index, last: u32) {
        let mut fresh = Vec::new();
        let mut next = last;
        while next != NONE && next >= index.indexed {
            fresh.push(next);
            next = self.entries[next as usize].previous;
        }
        for entry in fresh.into_iter().rev() {
            work::step();
            let key = self.entries[entry as usize].key;
            match index.puts.get_mut(&key) {
                None => {
                    index.puts.insert(key, Puts::Once(entry));
                }
                Some(Puts::Often(entries)) => entries.push(entry),
                Some(once) => {
                    let Puts::Once(first) = *once else { continue };
                    *once = Puts::Often(vec![first, entry]);
                }
            }
        }
        index.indexed = last + 1;
    }
}

/// A stretch of a long chain of prototypes, searched as one: the puts of some blocks, each of which
/// begins with including the next. The chain of a fleet has three links; but one of thousands must not
/// make every look-up a walk of thousands, so blocks at every 16th place stand for 16, at every 256th
/// for 256, and so on.
struct Stretch {
    /// The newest put of each key; with the time at which its block was included, if it was.
    puts: FxHashMap<Symbol, (EntryId, Option<Time>)>,
    /// Where the chain goes on.
    next: Option<View>,
}

const MILESTONE: u32 = 16;

impl<R: Recorder> Store<R> {
    /// Whether a block stands for a stretch of its chain.
    fn is_milestone(&self, block: BlockId) -> bool {
        let log = &self.blocks[block.0 as usize];
        log.heritage >= MILESTONE
            && log.heritage.is_multiple_of(MILESTONE)
            && self.begins_with(block).is_some()
    }

    /// The only block that this one includes, if that is the first thing it does.
    fn begins_with(&self, block: BlockId) -> Option<View> {
        let log = &self.blocks[block.0 as usize];
        (log.last_include != NONE && log.last_include == log.first)
            .then(|| self.include_record(log.first).view)
    }

    /// Looks a key up in a stretch; if it is not there, tells where the chain goes on.
    fn in_stretch(&self, view: View, key: Symbol) -> Result<(EntryId, Option<Time>), Option<View>> {
        let view = self.normal(view);
        let mut stretches = self.stretches.borrow_mut();
        let stretch = stretches.entry(view).or_insert_with(|| self.stretch(view));
        stretch.puts.get(&key).copied().ok_or(stretch.next)
    }

    fn stretch(&self, view: View) -> Stretch {
        let heritage = self.blocks[view.block.0 as usize].heritage;
        let mut length = MILESTONE;
        while heritage.is_multiple_of(length * MILESTONE) {
            length *= MILESTONE;
        }
        let mut stretch = Stretch {
            puts: FxHashMap::default(),
            next: Some(view),
        };
        for level in 0..length {
            let Some(view) = stretch.next else { break };
            let Some(base) = self.begins_with(view.block) else {
                break;
            };
            for entry in self.log(view) {
                work::step();
                let key = self.entry(entry).key;
                let time = (level > 0).then_some(view.time);
                stretch.puts.entry(key).or_insert((entry, time));
            }
            let is_seen = self.blocks[view.block.0 as usize].first < view.time;
            stretch.next = is_seen.then_some(base);
        }
        stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::NoTrace;

    #[test]
    fn a_long_chain_of_prototypes_is_searched_as_if_step_by_step() {
        let mut store = Store::<NoTrace>::default();
        let literals = Literals::default();
        let root = store.open(None);
        let mut random = 1u64;
        let mut number = move |below: u64| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) % below
        };
        let key = |number: u64| Symbol::from_index(100 + number as usize);
        let mut chain: Vec<(BlockId, Option<Symbol>)> = Vec::new();
        for _ in 0..900 {
            let block = store.open(Some(root));
            if let Some(&(base, _)) = chain.last() {
                let time = store.now();
                let view = View { block: base, time };
                store.include(block, view, Inclusion::Prototype, ());
            }
            let put = (number(3) > 0).then(|| key(number(200)));
            if let Some(key) = put {
                store.put(&literals, block, key, Cell::bool(true), ());
            }
            store.close(block);
            chain.push((block, put));
            for _ in 0..5 {
                let from = number(chain.len() as u64) as usize;
                let wanted = key(number(220));
                let (block, time) = (chain[from].0, END);
                let found = store.find(View { block, time }, wanted);
                let expected = chain[..=from]
                    .iter()
                    .rposition(|(_, put)| *put == Some(wanted));
                let expected = expected.and_then(|at| {
                    store
                        .log(View {
                            block: chain[at].0,
                            time,
                        })
                        .next()
                });
                assert_eq!(found.map(|found| found.entry), expected);
            }
        }
    }
}
