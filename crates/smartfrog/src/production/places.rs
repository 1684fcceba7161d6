//! Left sides that are paths: `a:b:c value` puts the value under `c` in `a:b`, wherever that is defined
//! (§9.2.3). A placement may make the place for another, so they are tried until nothing moves. Those
//! inside a component come before those from outside: who uses a template has the last word.

use hence_model::cell::{Cell, Child};
use hence_model::diagnostic::Diagnostic;
use hence_model::replay::lines;
use hence_model::store::{END, View};
use hence_model::symbol::Symbol;
use hence_model::trace::Recorder;

use super::parser::parts_text;
use super::read::Late;
use super::values::{FrameId, Pass};
use crate::evaluate::{PARENT_MISSING, PARENT_NOT_BLOCK};
use crate::forward::MOST_LINES;
use crate::parser::Part;
use crate::tree::span_of;

/// Why a value cannot be placed.
enum Trouble {
    Missing(usize),
    NotABlock(usize),
}

impl<R: Recorder> Pass<'_, R> {
    /// Carries out all placements of a block and of those inside it.
    pub fn place_all(&mut self, root: FrameId) {
        // What is to be tried, the first last.
        let mut pending = Vec::new();
        self.collect(root, &mut pending);
        innermost_last(&mut pending);
        let mut waiting = Vec::new();
        loop {
            let mut moved = false;
            while let Some((frame, number)) = pending.pop() {
                let mut inner = Vec::new();
                match self.place(frame, number, &mut inner) {
                    Ok(()) => moved = true,
                    Err(_) => waiting.push((frame, number)),
                }
                innermost_last(&mut inner);
                pending.append(&mut inner);
            }
            if !moved || waiting.is_empty() {
                break;
            }
            waiting.reverse();
            std::mem::swap(&mut pending, &mut waiting);
        }
        for (frame, number) in waiting {
            if let Err(trouble) = self.place(frame, number, &mut Vec::new()) {
                self.cannot_place(number, trouble);
            }
        }
    }

    /// The placements written, or inherited, in a block in its place and in the blocks inside it.
    fn collect(&mut self, frame: FrameId, pending: &mut Vec<(FrameId, u32)>) {
        let mut open = vec![frame];
        while let Some(frame) = open.pop() {
            let view = self.version(frame);
            let Some(lines) = lines(&self.specification.blocks.store, view, MOST_LINES) else {
                return self.too_large();
            };
            for found in &lines {
                let line = self.specification.blocks.store.entry(found.entry);
                if line.key == Symbol::PLACE
                    && let Some(number) = line.cell.as_late()
                {
                    pending.push((frame, number));
                }
            }
            for (name, found) in
                hence_model::replay::last_words(&self.specification.blocks.store, &lines)
            {
                let Some(inner) = self.specification.blocks.store.child(found) else {
                    continue;
                };
                if self.specification.unfinished.contains(&inner.block)
                    && !self.children.contains_key(&(frame, name))
                {
                    let inner = self.child(frame, name, inner);
                    open.push(inner);
                }
            }
            if self.frames.len() > 4_000_000 {
                return self.too_large();
            }
        }
    }

    fn place(
        &mut self,
        frame: FrameId,
        number: u32,
        inner: &mut Vec<(FrameId, u32)>,
    ) -> Result<(), Trouble> {
        let Late::Place(placement) = &self.specification.late[number as usize] else {
            unreachable!("only placements are collected");
        };
        let (target, cell, origin) = (placement.target.clone(), placement.cell, placement.origin);
        let (last, parents) = target.split_last().expect("a path has a last part");
        let mut around = frame;
        for (i, part) in parents.iter().enumerate() {
            let store = &self.specification.blocks.store;
            let found = store
                .find(self.version(around), part.name)
                .ok_or(Trouble::Missing(i))?;
            let view = store.child(found).ok_or(Trouble::NotABlock(i))?;
            let is_new = !self.children.contains_key(&(around, part.name));
            let next = self.child(around, part.name, view);
            if is_new {
                self.collect(next, inner);
            }
            around = next;
        }
        // What was there before has no place any more.
        self.children.remove(&(around, last.name));
        let cell = match cell.child() {
            Some(Child::Own(block) | Child::Edit(block)) => {
                let view = View { block, time: END };
                Cell::shared(self.specification.blocks.store.share(view))
            }
            _ => cell,
        };
        let block = self.frames[around.0].block;
        self.specification
            .blocks
            .store
            .put(&self.unit.literals, block, last.name, cell, origin);
        let mut changed = Some(around);
        while let Some(frame) = changed {
            self.changed.insert(frame);
            changed = self.frames[frame.0].parent;
        }
        if let Some(Child::Shared(view)) = cell.child() {
            let view = self.specification.blocks.store.view(view);
            if self.specification.unfinished.contains(&view.block) {
                let placed = self.child(around, last.name, view);
                self.collect(placed, inner);
            }
        }
        Ok(())
    }

    fn cannot_place(&mut self, number: u32, trouble: Trouble) {
        let Late::Place(placement) = &self.specification.late[number as usize] else {
            unreachable!("only placements are collected");
        };
        let target: Vec<Part> = placement.target.clone();
        let path = parts_text(self.unit, &target);
        let diagnostic = match trouble {
            Trouble::Missing(at) => {
                let parent = parts_text(self.unit, &target[..=at]);
                let message = format!("`{path}` cannot be placed: there is no `{parent}` here");
                Diagnostic::error(PARENT_MISSING, message).at(span_of(&target[..=at]))
            }
            Trouble::NotABlock(at) => {
                let parent = parts_text(self.unit, &target[..=at]);
                let message = format!("`{path}` cannot be placed: `{parent}` is not a component");
                Diagnostic::error(PARENT_NOT_BLOCK, message).at(span_of(&target[..=at]))
            }
        };
        let help = "a path on the left side is looked for in its own block only";
        self.unit.report(diagnostic.help(help));
    }
}

/// Sorts placements so that, from the end, those of inner blocks come first, and those of one block in
/// the order in which they are written. A block has its frame before those inside it have theirs.
fn innermost_last(placements: &mut [(FrameId, u32)]) {
    placements.reverse();
    placements.sort_by_key(|(frame, _)| frame.0);
}
