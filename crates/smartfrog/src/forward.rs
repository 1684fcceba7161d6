//! The forward semantics: links that may look ahead (§9.2.2 of the paper).
//!
//! While the text is read, a link is stored as it is, so that who inherits it inherits the link and not
//! its value (`late_prototype` is the exception: a prototype is needed at once). When everything is
//! read, the links in `sfConfig` are followed, each from the block where it now stands.
//!
//! The value of a link is the value of what it names, whichever comes first in the text: a link on the
//! way is followed first, and a block is resolved, where it stands, before it is shared. So the result
//! does not depend on the order of definitions, and a value that would contain itself (figure 8) is
//! always found: something is asked for that is already waiting. To pass through a block on the way to
//! something in it is not to ask for its value.

use hence_model::cell::{Cell, Child};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::replay::{last_words, lines};
use hence_model::store::{BlockId, END, Found, Inclusion, View};
use hence_model::symbol::Symbol;
use hence_model::trace::{Link, Recorder};
use hence_model::unit::{OUTPUT_TOO_LARGE, Unit};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::evaluate::{
    Evaluator, POISON, PROTOTYPE_MISSING, PROTOTYPE_NOT_BLOCK, Resolved, UNRESOLVED_REFERENCE, text,
};
use crate::parser::Part;
use crate::tree::span_of;

/// A link that leads back to itself, or to a block around it.
pub const LINK_CYCLE: Code = Code::new("sf.link-cycle");

/// How many lines the log of one block, with all that it includes, may have.
pub(crate) const MOST_LINES: usize = 20_000_000;

/// Follows the links in `sfConfig`. Returns the root in which they are followed.
pub(crate) fn resolve<R: Recorder>(evaluator: &mut Evaluator<R>, unit: &mut Unit) -> BlockId {
    let Some(name) = unit.symbols.get(&unit.sources, "sfConfig") else {
        return evaluator.blocks.root;
    };
    let time = evaluator.blocks.store.now();
    let root = View {
        block: evaluator.blocks.root,
        time,
    };
    let mut pass = Pass {
        evaluator,
        unit,
        frames: Vec::new(),
        children: FxHashMap::default(),
        links: FxHashMap::default(),
        settled: FxHashSet::default(),
    };
    let root = pass.frame(root, None);
    pass.run(root, name);
    pass.frames[root.0].block
}

/// A block in the place where it is seen; blocks that are shared have a frame for each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FrameId(usize);

struct Frame {
    /// The block as it was read.
    view: View,
    /// The block around it, in this place.
    parent: Option<FrameId>,
    /// The same block with its links followed.
    block: BlockId,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Ahead,
    UnderWay,
    Done,
}

/// What a link leads to.
#[derive(Clone, Copy, Debug)]
enum Target {
    Value(Cell),
    Block(FrameId),
}

enum LinkState {
    UnderWay,
    /// It was found in this frame, or nowhere.
    Done(Option<FrameId>, Target),
}

/// Something that is being resolved.
enum Task {
    /// All links in a block: those still to be looked at, last first.
    Block(FrameId, Vec<(Symbol, Found)>),
    /// One link: the one stored under a name.
    Link(FrameId, Symbol, u32),
}

const NOWHERE: Target = Target::Value(POISON);

/// Why a link cannot be followed yet, or at all.
enum Trouble {
    /// Another link must be followed first.
    First(FrameId, Symbol, u32),
    /// That one is waiting for this one.
    Cycle,
    /// It leads nowhere.
    Unresolved,
}

struct Pass<'a, R: Recorder> {
    evaluator: &'a mut Evaluator<R>,
    unit: &'a mut Unit,
    frames: Vec<Frame>,
    children: FxHashMap<(FrameId, Symbol), FrameId>,
    links: FxHashMap<(FrameId, Symbol), LinkState>,
    settled: FxHashSet<(FrameId, Symbol)>,
}

impl<R: Recorder> Pass<'_, R> {
    /// Resolves what the root has under `name`. Tasks that wait for others stand below them.
    fn run(&mut self, root: FrameId, name: Symbol) {
        let Some(found) = self
            .evaluator
            .blocks
            .store
            .find(self.frames[root.0].view, name)
        else {
            return;
        };
        let mut tasks = vec![Task::Block(root, vec![(name, found)])];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Block(frame, rest) => self.block(frame, rest, &mut tasks),
                Task::Link(frame, name, link) => self.link(frame, name, link, &mut tasks),
            }
        }
    }

    /// Goes through the entries of a block, in order.
    fn block(&mut self, frame: FrameId, mut rest: Vec<(Symbol, Found)>, tasks: &mut Vec<Task>) {
        let Some((name, found)) = rest.pop() else {
            self.evaluator
                .blocks
                .store
                .close(self.frames[frame.0].block);
            self.frames[frame.0].progress = Progress::Done;
            return;
        };
        tasks.push(Task::Block(frame, rest));
        let cell = self.evaluator.blocks.store.entry(found.entry).cell;
        if let Some(link) = cell.as_late() {
            if cell != POISON {
                tasks.push(Task::Link(frame, name, link));
            }
        } else if let Some(view) = self.evaluator.blocks.store.child(found)
            && self.evaluator.awaiting.contains(&view.block)
        {
            let inner = self.child(frame, name, view);
            match self.frames[inner.0].progress {
                Progress::Ahead => self.begin(inner, tasks),
                Progress::Done => {}
                // A link in the inner block asks for this one.
                Progress::UnderWay => self.cycle(tasks, &[]),
            }
        }
    }

    fn begin(&mut self, frame: FrameId, tasks: &mut Vec<Task>) {
        self.frames[frame.0].progress = Progress::UnderWay;
        let store = &self.evaluator.blocks.store;
        let Some(lines) = lines(store, self.frames[frame.0].view, MOST_LINES) else {
            return self.too_large();
        };
        let mut entries = last_words(store, &lines);
        entries.reverse();
        tasks.push(Task::Block(frame, entries));
    }

    /// Gives one link its value, or first makes the block that it leads to.
    fn link(&mut self, frame: FrameId, name: Symbol, link: u32, tasks: &mut Vec<Task>) {
        let (level, mut target) = self.target(frame, name, link, tasks);
        if let Target::Block(inner) = target {
            match self.frames[inner.0].progress {
                Progress::Ahead if self.awaits(inner) => {
                    tasks.push(Task::Link(frame, name, link));
                    return self.begin(inner, tasks);
                }
                Progress::Ahead | Progress::Done => {}
                Progress::UnderWay => {
                    self.cycle(tasks, &[link]);
                    target = NOWHERE;
                }
            }
        }
        self.settle(frame, name, link, target, level);
    }

    /// Where a link leads, and the level at which that was found. Links on the way are followed first;
    /// those that wait for others stand before them.
    fn target(
        &mut self,
        frame: FrameId,
        name: Symbol,
        link: u32,
        tasks: &[Task],
    ) -> (Option<FrameId>, Target) {
        if let Some(&LinkState::Done(level, target)) = self.links.get(&(frame, name)) {
            return (level, target);
        }
        let mut waiting = vec![(frame, name, link)];
        let mut done = (None, NOWHERE);
        while let Some(&(frame, name, link)) = waiting.last() {
            self.links.insert((frame, name), LinkState::UnderWay);
            done = match self.follow(frame, link) {
                Ok((level, target)) => (Some(level), target),
                Err(Trouble::First(frame, name, link)) => {
                    waiting.push((frame, name, link));
                    continue;
                }
                Err(Trouble::Cycle) => {
                    let links: Vec<u32> = waiting.iter().map(|&(_, _, link)| link).collect();
                    self.cycle(tasks, &links);
                    (None, NOWHERE)
                }
                Err(Trouble::Unresolved) => {
                    self.unresolved(frame, link);
                    (None, NOWHERE)
                }
            };
            self.links
                .insert((frame, name), LinkState::Done(done.0, done.1));
            waiting.pop();
            if !waiting.is_empty() {
                // The way is read again by those who ask why.
                self.settle(frame, name, link, done.1, done.0);
            }
        }
        done
    }

    /// Stores what a link leads to in the resolved block, once.
    fn settle(
        &mut self,
        frame: FrameId,
        name: Symbol,
        link: u32,
        target: Target,
        level: Option<FrameId>,
    ) {
        if !self.settled.insert((frame, name)) {
            return;
        }
        let from = self.frames[frame.0].block;
        let level = level.map_or(from, |level| self.frames[level.0].block);
        let store = &mut self.evaluator.blocks.store;
        let cell = match target {
            Target::Value(cell) => cell,
            Target::Block(inner) => {
                let Frame { view, block, .. } = self.frames[inner.0];
                // A block without links is not resolved: it is seen as it was. Others may still be.
                let resolved = View { block, time: END };
                let is_same = block == view.block;
                Cell::shared(store.share(if is_same { view } else { resolved }))
            }
        };
        let parts = &self.evaluator.late[link as usize].parts;
        let link = Link::new(span_of(parts), from, level, END);
        let keys = parts.iter().map(|part| part.name);
        let origin = store.recorder.link(link, keys);
        store.put(&self.unit.literals, from, name, cell, origin);
    }

    /// Searches a reference from a frame outwards; the whole reference is tried at each level.
    fn follow(&mut self, from: FrameId, link: u32) -> Result<(FrameId, Target), Trouble> {
        let parts = self.evaluator.late[link as usize].parts.clone();
        let mut level = Some(from);
        while let Some(frame) = level {
            if let Some(target) = self.find(frame, &parts)? {
                return Ok((frame, target));
            }
            level = self.frames[frame.0].parent;
        }
        Err(Trouble::Unresolved)
    }

    fn find(&mut self, level: FrameId, parts: &[Part]) -> Result<Option<Target>, Trouble> {
        let mut target = Target::Block(level);
        for part in parts {
            let frame = match target {
                Target::Block(frame) => frame,
                // What is wrong has been said.
                Target::Value(POISON) => return Ok(Some(target)),
                Target::Value(_) => return Ok(None),
            };
            let view = self.frames[frame.0].view;
            let Some(found) = self.evaluator.blocks.store.find(view, part.name) else {
                return Ok(None);
            };
            let cell = self.evaluator.blocks.store.entry(found.entry).cell;
            target = match self.evaluator.blocks.store.child(found) {
                Some(view) => Target::Block(self.child(frame, part.name, view)),
                None => match cell.as_late() {
                    Some(link) if cell != POISON => match self.links.get(&(frame, part.name)) {
                        Some(LinkState::Done(_, target)) => *target,
                        Some(LinkState::UnderWay) => return Err(Trouble::Cycle),
                        None => return Err(Trouble::First(frame, part.name, link)),
                    },
                    _ => Target::Value(cell),
                },
            };
        }
        Ok(Some(target))
    }

    fn frame(&mut self, view: View, parent: Option<FrameId>) -> FrameId {
        let id = FrameId(self.frames.len());
        let outer = parent.map(|parent| self.frames[parent.0].block);
        // A block without links needs no new version of itself.
        let block = if self.evaluator.awaiting.contains(&view.block) || parent.is_none() {
            let store = &mut self.evaluator.blocks.store;
            let block = store.open(outer);
            let origin = store.recorder.written(0);
            store.include(block, view, Inclusion::Version, origin);
            block
        } else {
            view.block
        };
        self.frames.push(Frame {
            view,
            parent,
            block,
            progress: Progress::Ahead,
        });
        id
    }

    fn awaits(&self, frame: FrameId) -> bool {
        self.evaluator
            .awaiting
            .contains(&self.frames[frame.0].view.block)
    }

    fn child(&mut self, parent: FrameId, name: Symbol, view: View) -> FrameId {
        if let Some(&frame) = self.children.get(&(parent, name)) {
            return frame;
        }
        let frame = self.frame(view, Some(parent));
        self.children.insert((parent, name), frame);
        if self.awaits(frame) {
            let cell = Cell::edit(self.frames[frame.0].block);
            let block = self.frames[parent.0].block;
            let store = &mut self.evaluator.blocks.store;
            let origin = match store.find(View { block, time: END }, name) {
                Some(before) => store.entry(before.entry).origin,
                None => store.recorder.written(0),
            };
            store.put(&self.unit.literals, block, name, cell, origin);
        }
        frame
    }

    fn too_large(&mut self) {
        let message = "blocks that include each other have too many attributes";
        self.unit
            .report(Diagnostic::error(OUTPUT_TOO_LARGE, message));
    }

    fn unresolved(&mut self, frame: FrameId, link: u32) {
        let from = self.frames[frame.0].view.block;
        let parts = &self.evaluator.late[link as usize].parts;
        let diagnostic = self
            .evaluator
            .unresolved(self.unit, from, parts, UNRESOLVED_REFERENCE);
        self.unit.report(diagnostic);
    }

    /// Reports the last of the links that wait for each other: those of the tasks, and `links`.
    fn cycle(&mut self, tasks: &[Task], links: &[u32]) {
        let tasks = tasks.iter().filter_map(|task| match task {
            Task::Link(_, _, link) => Some(link),
            Task::Block(..) => None,
        });
        let parts = |link: &u32| &self.evaluator.late[*link as usize].parts;
        let mut waiting = tasks.chain(links).rev().map(parts);
        let last = waiting.next().expect("it is links that form a cycle");
        let message = format!(
            "the value of `{}` would contain itself",
            text(self.unit, last)
        );
        let mut diagnostic = Diagnostic::error(LINK_CYCLE, message).at(span_of(last));
        for parts in waiting.take(8) {
            diagnostic = diagnostic.label(span_of(parts), "needed by this link");
        }
        self.unit.report(diagnostic.help(
            "a link cannot lead to a block around it, nor, by way of others, back to itself",
        ));
    }
}

/// A prototype that only leads back to itself, by way of these links: there is none (err4).
fn ring_of_prototypes<'l>(
    unit: &Unit,
    reference: &[Part],
    links: impl Iterator<Item = &'l [Part]>,
) -> Diagnostic {
    let message = format!(
        "`{}` is a link that leads back to itself",
        text(unit, reference)
    );
    let mut diagnostic = Diagnostic::error(PROTOTYPE_MISSING, message).at(span_of(reference));
    for parts in links.take(8) {
        diagnostic = diagnostic.label(span_of(parts), "by way of this link");
    }
    diagnostic.help("let one of them lead to a block, or be one")
}

/// Prototypes that are links.
impl<R: Recorder> Evaluator<R> {
    /// The block that a link used as a prototype leads to now: it must exist already.
    pub(crate) fn late_prototype(
        &mut self,
        unit: &mut Unit,
        resolved: &Resolved,
        reference: &[Part],
    ) -> Option<View> {
        // The namespaces around the link, innermost first, as it is reached.
        let mut around = self.namespaces(resolved.level, reference)?;
        let mut found = resolved.found;
        // An inherited link may well be met again in another place.
        let mut seen = vec![(found.entry, around.clone())];
        let mut links = Vec::new();
        loop {
            let cell = self.blocks.store.entry(found.entry).cell;
            let link = match cell.as_late() {
                Some(_) if cell == POISON => return None,
                Some(link) => link,
                None => {
                    let Some(view) = self.blocks.store.child(found) else {
                        break;
                    };
                    let time = view.time.min(self.blocks.store.now());
                    return Some(View { time, ..view });
                }
            };
            links.push(link);
            let parts = &self.late[link as usize].parts;
            let step = around.iter().enumerate().find_map(|(i, &view)| {
                let mut inside = vec![view];
                let mut found = self.blocks.store.find(view, parts[0].name)?;
                for part in &parts[1..] {
                    let view = self.blocks.store.child(found)?;
                    inside.push(view);
                    found = self.blocks.store.find(view, part.name)?;
                }
                inside.reverse();
                inside.extend_from_slice(&around[i + 1..]);
                Some((found, inside))
            });
            match step {
                Some((next, inside)) if !seen.contains(&(next.entry, inside.clone())) => {
                    seen.push((next.entry, inside.clone()));
                    (found, around) = (next, inside);
                }
                Some(_) => {
                    let ring = links
                        .iter()
                        .map(|&link| &self.late[link as usize].parts[..]);
                    unit.report(ring_of_prototypes(unit, reference, ring));
                    return None;
                }
                None => {
                    let name = text(unit, reference);
                    let message = format!("`{name}` is a link that leads to nothing yet");
                    let link = span_of(parts);
                    unit.report(
                        Diagnostic::error(PROTOTYPE_MISSING, message)
                            .at(span_of(reference))
                            .label(link, "this is the link")
                            .help("a prototype is needed at once: define its target above"),
                    );
                    return None;
                }
            }
        }
        let name = text(unit, reference);
        let message =
            format!("`{name}` cannot be extended: it leads to something that is not a block");
        unit.report(Diagnostic::error(PROTOTYPE_NOT_BLOCK, message).at(span_of(reference)));
        None
    }

    /// The namespaces around what a reference names, innermost first.
    fn namespaces(&self, level: BlockId, reference: &[Part]) -> Option<Vec<View>> {
        let mut namespaces = Vec::new();
        let mut outer = Some(level);
        while let Some(block) = outer {
            namespaces.push(View { block, time: END });
            outer = self.blocks.store.parent(block);
        }
        let mut view = namespaces[0];
        for part in &reference[..reference.len() - 1] {
            let found = self.blocks.store.find(view, part.name)?;
            view = match self.blocks.store.entry(found.entry).cell.child()? {
                Child::Own(block) | Child::Edit(block) => View {
                    block,
                    time: found.time,
                },
                Child::Shared(id) => self.blocks.store.view(id),
            };
            namespaces.insert(0, view);
        }
        Some(namespaces)
    }
}
