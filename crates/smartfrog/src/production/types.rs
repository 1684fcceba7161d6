//! Prototypes, wherever they are defined.
//!
//! A reference after `extends` is looked for from the component itself outwards: the nearest block that
//! has its first name decides. A prototype is complete, with all that is in it, before it is copied; one
//! that would need itself for that is an error.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::store::{BlockId, END, Found, View};
use hence_model::symbol::Symbol;
use hence_model::trace::Recorder;
use hence_model::unit::Unit;
use rustc_hash::FxHashMap;

use super::FUNCTION_CLASS;
use super::parser::parts_text;
use super::read::{Late, Prototype, Specification};
use crate::evaluate::{PROTOTYPE_MISSING, PROTOTYPE_NOT_BLOCK};
use crate::lexer::Keyword;
use crate::parser::{Part, PartKind};
use crate::tree::{Expression, span_of};

/// A component that would contain itself.
pub const PROTOTYPE_CYCLE: Code = Code::new("sf.prototype-cycle");

/// How far the prototypes of a block are known.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// How many of its own, from the last one.
    prototypes: usize,
    /// How many of its inner blocks are complete.
    children: usize,
    /// Whether it is complete, with all that is in it.
    done: bool,
    /// Whether it is being completed, so that nothing in it may need the whole of it.
    whole: bool,
    /// Whether its own prototypes are being found.
    own: bool,
}

/// Something to be done.
#[derive(Clone, Copy)]
enum Task {
    /// Find a block's own prototypes.
    Own(BlockId),
    /// Those, and all in the blocks inside.
    Whole(BlockId),
}

/// Why a prototype is not known.
enum Trouble {
    /// The prototypes of this block must be known first.
    First(BlockId),
    Missing,
    NotABlock(Found),
}

/// Resolves the prototypes of all blocks.
pub(crate) fn resolve<R: Recorder>(specification: &mut Specification<R>, unit: &mut Unit) {
    let root = specification.blocks.root;
    let mut pass = Pass {
        specification,
        unit,
        progress: FxHashMap::default(),
        tasks: Vec::new(),
        class: None,
    };
    pass.class = pass.unit.symbols.get(&pass.unit.sources, FUNCTION_CLASS);
    pass.begin(Task::Whole(root));
    while let Some(&task) = pass.tasks.last() {
        pass.step(task);
    }
}

struct Pass<'a, R: Recorder> {
    specification: &'a mut Specification<R>,
    unit: &'a mut Unit,
    progress: FxHashMap<BlockId, Progress>,
    /// A task that waits for others stands below them.
    tasks: Vec<Task>,
    /// The name that makes a component a function.
    class: Option<Symbol>,
}

impl<R: Recorder> Pass<'_, R> {
    fn begin(&mut self, task: Task) {
        match task {
            Task::Own(block) => self.progress.entry(block).or_default().own = true,
            Task::Whole(block) => self.progress.entry(block).or_default().whole = true,
        }
        self.tasks.push(task);
    }

    fn end(&mut self, task: Task) {
        match task {
            Task::Own(block) => self.progress.entry(block).or_default().own = false,
            Task::Whole(block) => {
                let progress = self.progress.entry(block).or_default();
                (progress.whole, progress.done) = (false, true);
                let view = View { block, time: END };
                let store = &self.specification.blocks.store;
                let class = self.class.and_then(|class| store.find(view, class));
                if class.is_some() {
                    self.specification.is_unfinished(block);
                }
            }
        }
        self.tasks.pop();
    }

    fn step(&mut self, task: Task) {
        let (Task::Own(block) | Task::Whole(block)) = task;
        let progress = self.progress.get(&block).copied().unwrap_or_default();
        // The block around it may inherit what its prototypes are looked for in.
        if let Some(around) = self.specification.blocks.store.parent(block)
            && self.is_open(around)
        {
            return self.begin(Task::Own(around));
        }
        let prototypes = self.specification.prototypes.get(&block);
        let next = prototypes.and_then(|all| all.iter().rev().nth(progress.prototypes));
        if let Some(prototype) = next.cloned() {
            return self.prototype(block, prototype);
        }
        let children = self.specification.children.get(&block);
        match (task, children.and_then(|all| all.get(progress.children))) {
            (Task::Whole(_), Some(&child)) => {
                self.progress.entry(block).or_default().children += 1;
                if !self
                    .progress
                    .get(&child)
                    .is_some_and(|child| child.done || child.whole)
                {
                    self.begin(Task::Whole(child));
                }
            }
            _ => self.end(task),
        }
    }

    /// Whether a block has prototypes that are neither known nor being found.
    fn is_open(&self, block: BlockId) -> bool {
        let progress = self.progress.get(&block).copied().unwrap_or_default();
        let all = self
            .specification
            .prototypes
            .get(&block)
            .map_or(0, Vec::len);
        progress.prototypes < all && !progress.own && !progress.whole
    }

    fn prototype(&mut self, block: BlockId, prototype: Prototype) {
        match self.find(block, &prototype.parts) {
            Ok(view) => {
                let target = self.progress.get(&view.block).copied().unwrap_or_default();
                if target.whole {
                    cycle(self.unit, &prototype.parts, view.block == block);
                } else if target.done {
                    self.specification
                        .blocks
                        .store
                        .set_view(prototype.view, view);
                    if self.specification.unfinished.contains(&view.block) {
                        self.specification.is_unfinished(block);
                    }
                } else {
                    return self.begin(Task::Whole(view.block));
                }
            }
            Err(Trouble::First(other)) => return self.begin(Task::Own(other)),
            Err(trouble) => report(self.specification, self.unit, &prototype.parts, trouble),
        }
        self.progress.entry(block).or_default().prototypes += 1;
    }

    /// The block that a prototype names.
    fn find(&self, from: BlockId, parts: &[Part]) -> Result<View, Trouble> {
        let specification = &*self.specification;
        let store = &specification.blocks.store;
        let live = |block| View { block, time: END };
        // The blocks around the place that has been reached, innermost last.
        let mut around = vec![live(from)];
        let mut outer = store.parent(from);
        while let Some(block) = outer {
            around.insert(0, live(block));
            outer = store.parent(block);
        }
        let mut links = 0;
        let mut parts: Vec<Part> = parts.iter().rev().copied().collect();
        let mut first = true;
        while let Some(part) = parts.pop() {
            let outwards = match part.kind {
                PartKind::Name => first,
                PartKind::Keyword(Keyword::Attrib) => true,
                PartKind::Keyword(Keyword::Parent) => {
                    around.pop();
                    first = false;
                    if around.is_empty() {
                        return Err(Trouble::Missing);
                    }
                    continue;
                }
                PartKind::Keyword(Keyword::Root) => {
                    around.truncate(1);
                    first = false;
                    continue;
                }
                PartKind::Keyword(Keyword::This) => {
                    first = false;
                    continue;
                }
                PartKind::Keyword(Keyword::Here) => false,
                PartKind::Keyword(_) => return Err(Trouble::Missing),
            };
            first = false;
            let found = loop {
                let view = *around.last().ok_or(Trouble::Missing)?;
                if view.block != from && self.is_open(view.block) {
                    return Err(Trouble::First(view.block));
                }
                match store.find(view, part.name) {
                    Some(found) => break found,
                    None if outwards && around.len() > 1 => {
                        around.pop();
                    }
                    None => return Err(Trouble::Missing),
                }
            };
            if let Some(view) = store.child(found) {
                around.push(view);
                continue;
            }
            // A link on the way is followed from where it stands.
            let cell = store.entry(found.entry).cell;
            let link = cell
                .as_late()
                .map(|number| &specification.late[number as usize]);
            match link {
                Some(Late::Value(Expression::Reference(reference)))
                    if reference.is_plain() && links < 1_000 =>
                {
                    links += 1;
                    parts.extend(reference.parts.iter().rev());
                    first = true;
                }
                _ => return Err(Trouble::NotABlock(found)),
            }
        }
        around.last().copied().ok_or(Trouble::Missing)
    }
}

fn cycle(unit: &mut Unit, parts: &[Part], is_itself: bool) {
    let name = parts_text(unit, parts);
    let message = match is_itself {
        true => format!("`{name}` cannot extend itself"),
        false => format!("`{name}` cannot be extended here: it would contain itself"),
    };
    let help = match is_itself {
        true => format!(
            "the nearest `{name}` is this one; `ROOT:{name}` is the outermost, and each `PARENT:` leads one block out"
        ),
        false => "a prototype must be complete before it is copied; take out the part that needs the copy".into(),
    };
    let diagnostic = Diagnostic::error(PROTOTYPE_CYCLE, message).at(span_of(parts));
    unit.report(diagnostic.help(help));
}

fn report<R: Recorder>(
    specification: &Specification<R>,
    unit: &mut Unit,
    parts: &[Part],
    trouble: Trouble,
) {
    let name = parts_text(unit, parts);
    let diagnostic = match trouble {
        Trouble::Missing | Trouble::First(_) => {
            let message = format!("no prototype named `{name}` is visible here");
            Diagnostic::error(PROTOTYPE_MISSING, message)
                .at(span_of(parts))
                .help("the nearest block that has the first name decides where the rest is looked for")
        }
        Trouble::NotABlock(found) => {
            let message = format!("`{name}` cannot be extended: it is not a component");
            let diagnostic = Diagnostic::error(PROTOTYPE_NOT_BLOCK, message).at(span_of(parts));
            let store = &specification.blocks.store;
            let place = store.recorder.place(store.entry(found.entry).origin);
            match place {
                Some(at) => {
                    let span = crate::written::extent(unit, at, crate::lexer::Dialect::Production);
                    diagnostic.label(span, "this is what it is")
                }
                None => diagnostic,
            }
        }
    };
    unit.report(diagnostic);
}
