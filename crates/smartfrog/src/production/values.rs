//! Links and expressions, each evaluated in the place where it now stands.
//!
//! A block in a place is a [`Frame`]: the same prototype has one for each component that inherits it, as
//! the same expression has a value for each. Only blocks with something to compute get frames. The
//! computed values are put into new versions of the blocks, so that the result is read, and explained,
//! like that of the other semantics.

use hence_model::cell::{Cell, Content, Item};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::replay::{last_words, lines};
use hence_model::source::Span;
use hence_model::store::{BlockId, END, Found, Inclusion, View};
use hence_model::symbol::Symbol;
use hence_model::trace::{Link, Operand, Operation, Recorder, Role};
use hence_model::unit::{OUTPUT_TOO_LARGE, TOO_LARGE_VALUE, Unit};
use rustc_hash::{FxHashMap, FxHashSet};

use super::FUNCTION_CLASS;
use super::functions::{self, ARITHMETIC, Applied, Plain};
use super::parser::parts_text;
use super::read::{Late, Specification};
use super::run_time::is_of_run_time;
use crate::evaluate::{POISON, UNRESOLVED_REFERENCE};
use crate::forward::{LINK_CYCLE, MOST_LINES};
use crate::lexer::{Dialect, Keyword, Operator};
use crate::parser::{Part, PartKind};
use crate::tree::{Expression, Reference};
use crate::written;

/// A value that was to be filled in and was not.
pub const TO_BE_DEFINED: Code = Code::new("sf.to-be-defined");

/// How many blocks in places there may be.
const MOST_FRAMES: usize = 4_000_000;

/// Evaluates `sfConfig`. Returns the root in which that is done.
pub(crate) fn resolve<R: Recorder>(
    specification: &mut Specification<R>,
    unit: &mut Unit,
) -> BlockId {
    let root = View {
        block: specification.blocks.root,
        time: END,
    };
    let mut pass = Pass {
        specification,
        unit,
        frames: Vec::new(),
        children: FxHashMap::default(),
        values: FxHashMap::default(),
        changed: FxHashSet::default(),
        counter: -1,
        counted: None,
        decided: Vec::new(),
        unsure: false,
        unsure_values: FxHashSet::default(),
        tasks: Vec::new(),
        class: None,
    };
    pass.class = pass.unit.symbols.get(&pass.unit.sources, FUNCTION_CLASS);
    let root = pass.frame(root, None);
    pass.place_all(root);
    if !pass.unit.has_errors()
        && let Some(name) = pass.unit.symbols.get(&pass.unit.sources, "sfConfig")
    {
        pass.run(root, name);
    }
    pass.frames[root.0].block
}

/// A block in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FrameId(pub usize);

pub(super) struct Frame {
    /// The block as it was read.
    pub view: View,
    pub parent: Option<FrameId>,
    /// Its new version.
    pub block: BlockId,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Ahead,
    UnderWay,
    Done,
}

/// A value and where it comes from.
pub(super) struct Valued<R: Recorder> {
    pub cell: Cell,
    pub origin: R::Origin,
}

impl<R: Recorder> Clone for Valued<R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R: Recorder> Copy for Valued<R> {}

enum ValueState<R: Recorder> {
    UnderWay,
    Done(Target<R>),
}

/// What a reference leads to.
pub(super) enum Target<R: Recorder> {
    Value(Valued<R>),
    /// A block, and the origin of the link to it, if it is by a link that it was reached.
    Block(FrameId, Option<R::Origin>),
}

impl<R: Recorder> Clone for Target<R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R: Recorder> Copy for Target<R> {}

/// Something that is being computed.
#[derive(Clone)]
enum Task {
    /// Everything in a block: what is still to be looked at, last first.
    Block(FrameId, Vec<(Symbol, Found)>),
    /// One value.
    Value(FrameId, Symbol, What, Want),
}

/// How much of a value is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Where it leads: to pass through a block is not to ask for all that is in it.
    Place,
    /// All of it.
    Whole,
}

/// What kind of thing is to be computed.
#[derive(Clone, Copy)]
pub(super) enum What {
    /// An expression, by number.
    Late(u32),
    /// A component that extends a function.
    Function(FrameId),
}

/// Why there is no value, or not yet.
pub(super) enum Trouble {
    /// Another value is needed first.
    First(FrameId, Symbol, What),
    /// It would need itself; and what needs it on the way.
    Cycle(Vec<Span>),
    /// A reference leads nowhere.
    Unresolved(Vec<Part>, Span),
    /// Only the run time knows.
    Lazy,
    /// It is still to be defined.
    ToBeDefined(Span),
    /// An operation cannot be carried out.
    Failed(String, Span),
    /// An operation would take or make too much.
    TooLarge(String, Span),
    /// Something that was reported already.
    Reported,
}

pub(super) struct Pass<'a, R: Recorder> {
    pub specification: &'a mut Specification<R>,
    pub unit: &'a mut Unit,
    pub frames: Vec<Frame>,
    pub children: FxHashMap<(FrameId, Symbol), FrameId>,
    values: FxHashMap<(FrameId, Symbol), ValueState<R>>,
    /// Frames in which, at any depth, something was placed.
    pub changed: FxHashSet<FrameId>,
    /// The state of the function `next`.
    counter: i64,
    /// What `next` has given last.
    counted: Option<Valued<R>>,
    /// What has decided, so far, that the expression is left to the run time: conditions, and values that are.
    pub decided: Vec<(Valued<R>, Role)>,
    /// Whether other conditions could have left what was evaluated so far to the run time.
    pub unsure: bool,
    /// The values of which that is so.
    unsure_values: FxHashSet<(FrameId, Symbol)>,
    /// A task that waits for others stands below them.
    tasks: Vec<Task>,
    /// The name that makes a component a function.
    class: Option<Symbol>,
}

impl<R: Recorder> Pass<'_, R> {
    fn run(&mut self, root: FrameId, name: Symbol) {
        let view = self.version(root);
        let Some(found) = self.specification.blocks.store.find(view, name) else {
            return;
        };
        self.tasks.push(Task::Block(root, vec![(name, found)]));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Block(frame, rest) => self.block(frame, rest),
                Task::Value(frame, name, what, want) => self.value(frame, name, what, want),
            }
            if self.frames.len() > MOST_FRAMES {
                return self.too_large();
            }
        }
    }

    pub fn too_large(&mut self) {
        let message = "components that contain copies of each other are too many";
        self.unit
            .report(Diagnostic::error(OUTPUT_TOO_LARGE, message));
        self.tasks.clear();
    }

    /// A frame's new version, as it is now and will be.
    pub fn version(&self, frame: FrameId) -> View {
        View {
            block: self.frames[frame.0].block,
            time: END,
        }
    }

    pub fn frame(&mut self, view: View, parent: Option<FrameId>) -> FrameId {
        let store = &mut self.specification.blocks.store;
        let block = store.open(parent.map(|parent| self.frames[parent.0].block));
        let origin = store.recorder.written(0);
        store.include(block, view, Inclusion::Version, origin);
        self.frames.push(Frame {
            view,
            parent,
            block,
            progress: Progress::Ahead,
        });
        FrameId(self.frames.len() - 1)
    }

    /// The frame of a block inside another.
    pub fn child(&mut self, parent: FrameId, name: Symbol, view: View) -> FrameId {
        if let Some(&frame) = self.children.get(&(parent, name)) {
            return frame;
        }
        let frame = self.frame(view, Some(parent));
        self.children.insert((parent, name), frame);
        let cell = Cell::edit(self.frames[frame.0].block);
        let around = self.version(parent);
        let store = &mut self.specification.blocks.store;
        let before = store.find(around, name);
        let origin = match before {
            Some(found) => store.entry(found.entry).origin,
            None => store.recorder.written(0),
        };
        store.put(&self.unit.literals, around.block, name, cell, origin);
        frame
    }

    fn block(&mut self, frame: FrameId, mut rest: Vec<(Symbol, Found)>) {
        let Some((name, found)) = rest.pop() else {
            self.specification
                .blocks
                .store
                .close(self.frames[frame.0].block);
            self.frames[frame.0].progress = Progress::Done;
            return;
        };
        self.tasks.push(Task::Block(frame, rest));
        match self.values.get(&(frame, name)) {
            Some(ValueState::Done(target)) => return self.complete(frame, name, *target),
            Some(ValueState::UnderWay) => return self.cycle(frame, name, Vec::new()),
            None => {}
        }
        let store = &self.specification.blocks.store;
        let cell = store.entry(found.entry).cell;
        if let Some(number) = cell.as_late() {
            if cell != POISON {
                self.begin_value(frame, name, What::Late(number), Want::Whole);
            }
        } else if let Some(view) = store.child(found) {
            let inner = self.child(frame, name, view);
            if self.is_function(view) {
                self.begin_value(frame, name, What::Function(inner), Want::Whole);
            } else {
                self.complete(frame, name, Target::Block(inner, None));
            }
        }
    }

    /// Sees to it that all in a block is computed, if a value is one. A block that is being completed
    /// cannot be part of itself.
    fn complete(&mut self, frame: FrameId, name: Symbol, target: Target<R>) {
        let Target::Block(inner, _) = target else {
            return;
        };
        let block = self.frames[inner.0].view.block;
        let is_ready =
            !self.specification.unfinished.contains(&block) && !self.changed.contains(&inner);
        match self.frames[inner.0].progress {
            Progress::UnderWay => {
                let around = self.frames[inner.0].parent;
                let name_around = self.name_of(inner);
                let around = around.zip(name_around);
                let around = around.map(|(frame, name)| self.place_of(frame, name));
                self.cycle(frame, name, around.into_iter().collect());
            }
            // Nobody has asked yet for all that is around this value, and nobody can.
            Progress::Ahead if !is_ready && self.is_around(inner, frame) => {
                self.cycle(frame, name, Vec::new());
            }
            Progress::Ahead if !is_ready => self.begin_block(inner),
            Progress::Ahead | Progress::Done => {}
        }
    }

    /// Whether a block is another one, or around it.
    fn is_around(&self, outer: FrameId, inner: FrameId) -> bool {
        // Most blocks stand right in the other one, however deep that is.
        if self.frames[outer.0].parent == Some(inner) {
            return false;
        }
        let mut frame = Some(inner);
        while let Some(inner) = frame {
            if inner == outer {
                return true;
            }
            frame = self.frames[inner.0].parent;
        }
        false
    }

    fn cycle(&mut self, frame: FrameId, name: Symbol, around: Vec<Span>) {
        let span = self.place_of(frame, name);
        self.report(frame, name, Trouble::Cycle(around), span);
    }

    /// The places of the values that wait for each other, up to one of them, innermost first.
    fn waiting(&self, frame: FrameId, name: Symbol) -> Vec<Span> {
        let mut spans = Vec::new();
        for task in self.tasks.iter().rev() {
            if let Task::Value(waiting, waiting_name, ..) = task {
                spans.push(self.place_of(*waiting, *waiting_name));
                if (*waiting, *waiting_name) == (frame, name) {
                    break;
                }
            }
        }
        spans
    }

    fn is_function(&self, view: View) -> bool {
        self.class
            .is_some_and(|class| self.specification.blocks.store.find(view, class).is_some())
    }

    fn begin_block(&mut self, frame: FrameId) {
        self.frames[frame.0].progress = Progress::UnderWay;
        let store = &self.specification.blocks.store;
        let Some(lines) = lines(store, self.version(frame), MOST_LINES) else {
            return self.too_large();
        };
        let mut entries = last_words(store, &lines);
        entries.reverse();
        self.tasks.push(Task::Block(frame, entries));
    }

    fn begin_value(&mut self, frame: FrameId, name: Symbol, what: What, want: Want) {
        self.values.insert((frame, name), ValueState::UnderWay);
        self.tasks.push(Task::Value(frame, name, what, want));
    }

    /// Computes one value, or first what it needs.
    fn value(&mut self, frame: FrameId, name: Symbol, what: What, want: Want) {
        self.unsure = false;
        let (result, span) = match what {
            What::Function(inner) => {
                let place = self.place_of(frame, name);
                (self.function(inner, place), Some(place))
            }
            What::Late(number) => {
                let late = &mut self.specification.late[number as usize];
                let nothing = Late::Value(Expression::ToBeDefined(Span::at(0)));
                let Late::Value(expression) = std::mem::replace(late, nothing) else {
                    unreachable!("a placement is not a value");
                };
                self.decided.clear();
                let mut result = self.evaluate(frame, &expression, 0);
                if let Err(Trouble::Lazy) = result {
                    result = Ok(Target::Value(self.left_to_run_time(&expression)));
                }
                let span = expression.span();
                self.specification.late[number as usize] = Late::Value(expression);
                (result, Some(span))
            }
        };
        match result {
            Ok(target) => {
                if self.unsure {
                    self.unsure_values.insert((frame, name));
                }
                self.settle(frame, name, target, span);
                if want == Want::Whole {
                    self.complete(frame, name, target);
                }
            }
            Err(Trouble::First(other, other_name, other_what)) => {
                self.tasks.push(Task::Value(frame, name, what, want));
                self.begin_value(other, other_name, other_what, Want::Place);
            }
            Err(trouble) => {
                let span = span.unwrap_or_else(|| self.place_of(frame, name));
                self.report(frame, name, trouble, span);
                let origin = self.specification.blocks.store.recorder.written(span.start);
                let cell = POISON;
                self.settle(
                    frame,
                    name,
                    Target::Value(Valued { cell, origin }),
                    Some(span),
                );
            }
        }
    }

    fn place_of(&self, frame: FrameId, name: Symbol) -> Span {
        let store = &self.specification.blocks.store;
        let found = store.find(self.version(frame), name);
        let at = found.and_then(|found| store.recorder.place(store.entry(found.entry).origin));
        at.map_or(Span::at(0), |at| {
            written::extent(self.unit, at, Dialect::Production)
        })
    }

    fn settle(&mut self, frame: FrameId, name: Symbol, target: Target<R>, span: Option<Span>) {
        self.values.insert((frame, name), ValueState::Done(target));
        let block = self.frames[frame.0].block;
        let store = &mut self.specification.blocks.store;
        let (cell, origin) = match target {
            Target::Value(valued) => (valued.cell, valued.origin),
            Target::Block(inner, link) => {
                let view = View {
                    block: self.frames[inner.0].block,
                    time: END,
                };
                let cell = Cell::shared(store.share(view));
                let at = span.map_or(0, |span| span.start);
                (cell, link.unwrap_or_else(|| store.recorder.written(at)))
            }
        };
        store.put(&self.unit.literals, block, name, cell, origin);
    }

    /// Evaluates an expression; `hidden` counts the brackets around it, which stand for components of
    /// their own to `PARENT`.
    fn evaluate(
        &mut self,
        frame: FrameId,
        expression: &Expression,
        hidden: usize,
    ) -> Result<Target<R>, Trouble> {
        let valued = match expression {
            Expression::Literal(cell, span) => Valued {
                cell: *cell,
                origin: self.specification.blocks.store.recorder.written(span.start),
            },
            Expression::ToBeDefined(span) => return Err(Trouble::ToBeDefined(*span)),
            Expression::Call(..) | Expression::Lazy(..) => return Err(Trouble::Lazy),
            Expression::Component(_) => {
                return Err(Trouble::Failed(
                    "a component cannot stand inside an expression here".into(),
                    expression.span(),
                ));
            }
            Expression::Reference(reference) => return self.reference(frame, reference, hidden),
            Expression::Vector(elements, span) => {
                let mut operands = Vec::new();
                for element in elements {
                    let value = self.operand(frame, element, hidden + 1)?;
                    operands.push((value, Role::Operand));
                }
                let items: Vec<Item> = operands
                    .iter()
                    .zip(elements)
                    .map(|((value, _), element)| Item {
                        cell: value.cell,
                        at: element.span().start,
                    })
                    .collect();
                let cell = self.unit.literals.list(&items);
                self.operation("[ ]", *span, cell, &operands)
            }
            Expression::Operation(operator, operands, span) => {
                let mut values = Vec::new();
                for operand in operands {
                    let value = self.operand(frame, operand, hidden + 1)?;
                    values.push((value, Role::Operand));
                }
                self.compute_from(values.iter().map(|(value, _)| value.cell), *span)?;
                let plain: Vec<Plain> = values.iter().map(|(v, _)| self.plain(v.cell)).collect();
                let result = functions::operate(*operator, &plain)
                    .map_err(|message| Trouble::Failed(message, *span))?;
                let cell = self.computed(&result, *span)?;
                // One `false` decides `&&`, whatever the others are; one `true` decides `||`.
                let decides = match operator {
                    Operator::And => Some(false),
                    Operator::Or => Some(true),
                    _ => None,
                };
                let decided = decides.filter(|&truth| result == Plain::Bool(truth));
                let decided = decided.filter(|_| !self.unsure);
                let decisive =
                    decided.and_then(|truth| plain.iter().position(|v| *v == Plain::Bool(truth)));
                match decisive {
                    Some(at) => self.operation(operator.text(), *span, cell, &values[at..=at]),
                    None => self.operation(operator.text(), *span, cell, &values),
                }
            }
            Expression::If(parts, span) => {
                let condition = self.operand(frame, &parts[0], hidden + 1)?;
                self.decided.push((condition, Role::Condition));
                let chosen = self.condition(condition, parts[0].span())?;
                let (branch, other) = match chosen {
                    true => (&parts[1], &parts[2]),
                    false => (&parts[2], &parts[1]),
                };
                self.unsure |= self.could_be_left(frame, other, hidden + 1);
                let conditions = vec![(condition, Role::Condition)];
                return self.chosen("IF", *span, conditions, frame, branch, hidden);
            }
            Expression::Switch(branches, span) => {
                let mut conditions = Vec::new();
                for (_, value) in branches {
                    self.unsure |= self.could_be_left(frame, value, hidden + 1);
                }
                for (condition, value) in branches {
                    let tested = self.operand(frame, condition, hidden + 1)?;
                    conditions.push((tested, Role::Condition));
                    self.decided.push((tested, Role::Condition));
                    if self.condition(tested, condition.span())? {
                        return self.chosen("SWITCH", *span, conditions, frame, value, hidden);
                    }
                }
                self.operation("SWITCH", *span, Cell::NULL, &conditions)
            }
        };
        Ok(Target::Value(valued))
    }

    /// The branch that conditions have chosen: a value, or a component.
    fn chosen(
        &mut self,
        operator: &'static str,
        span: Span,
        mut operands: Vec<(Valued<R>, Role)>,
        frame: FrameId,
        branch: &Expression,
        hidden: usize,
    ) -> Result<Target<R>, Trouble> {
        let target = self.evaluate(frame, branch, hidden + 1)?;
        if let Target::Block(inner, link) = target {
            let recorder = &mut self.specification.blocks.store.recorder;
            let origin = link.unwrap_or_else(|| recorder.written(branch.span().start));
            // What is in the component is told by the component.
            let cell = Cell::NULL;
            operands.push((Valued { cell, origin }, Role::Operand));
            let valued = self.operation(operator, span, cell, &operands);
            return Ok(Target::Block(inner, Some(valued.origin)));
        }
        let value = self.known(target, branch.span())?;
        operands.push((value, Role::Operand));
        let valued = self.operation(operator, span, value.cell, &operands);
        Ok(Target::Value(valued))
    }

    fn operand(
        &mut self,
        frame: FrameId,
        expression: &Expression,
        hidden: usize,
    ) -> Result<Valued<R>, Trouble> {
        let target = self.evaluate(frame, expression, hidden)?;
        self.known(target, expression.span())
    }

    /// A value that can be computed with.
    fn known(&self, target: Target<R>, span: Span) -> Result<Valued<R>, Trouble> {
        match target {
            Target::Value(valued) if valued.cell == POISON => Err(Trouble::Reported),
            Target::Value(valued) if self.is_lazy(valued.cell) => Err(Trouble::Lazy),
            Target::Value(valued) => Ok(valued),
            Target::Block(..) => Err(Trouble::Failed(
                "a component is not a value to compute with".into(),
                span,
            )),
        }
    }

    fn condition(&self, valued: Valued<R>, span: Span) -> Result<bool, Trouble> {
        let plain = self.plain(valued.cell);
        functions::condition(&plain).map_err(|message| Trouble::Failed(message, span))
    }

    pub fn operation(
        &mut self,
        operator: &'static str,
        span: Span,
        cell: Cell,
        operands: &[(Valued<R>, Role)],
    ) -> Valued<R> {
        let recorder = &mut self.specification.blocks.store.recorder;
        let operands: Vec<Operand<R::Origin>> = operands
            .iter()
            .map(|(value, role)| Operand {
                cell: value.cell,
                origin: value.origin,
                role: *role,
            })
            .collect();
        let origin = recorder.operation(|| Operation {
            operator,
            span,
            operands,
            together: self.unsure,
        });
        Valued { cell, origin }
    }

    pub fn reference(
        &mut self,
        frame: FrameId,
        reference: &Reference,
        hidden: usize,
    ) -> Result<Target<R>, Trouble> {
        if !reference.is_plain() || is_of_run_time(reference) {
            return Err(Trouble::Lazy);
        }
        let unresolved = || Trouble::Unresolved(reference.parts.clone(), reference.span);
        let mut hidden = hidden;
        let mut level = frame;
        let mut keys = Vec::new();
        let mut target = Target::Block(frame, None);
        for (i, part) in reference.parts.iter().enumerate() {
            let Target::Block(inside, _) = target else {
                return Err(match target {
                    Target::Value(valued) if valued.cell == POISON => Trouble::Reported,
                    Target::Value(valued) if self.is_lazy(valued.cell) => {
                        let origin = self.link(frame, level, reference, keys);
                        self.decided
                            .push((Valued { origin, ..valued }, Role::Condition));
                        Trouble::Lazy
                    }
                    _ => unresolved(),
                });
            };
            let mut current = inside;
            let outwards = match part.kind {
                PartKind::Name => i == 0,
                PartKind::Keyword(Keyword::Attrib) => true,
                PartKind::Keyword(Keyword::Here) => false,
                PartKind::Keyword(Keyword::This) => {
                    target = Target::Block(current, None);
                    continue;
                }
                PartKind::Keyword(Keyword::Root) => {
                    while let Some(parent) = self.frames[current.0].parent {
                        current = parent;
                    }
                    (hidden, level) = (0, current);
                    keys.clear();
                    target = Target::Block(current, None);
                    continue;
                }
                PartKind::Keyword(_) => {
                    // PARENT: brackets are components of their own.
                    if hidden > 0 {
                        hidden -= 1;
                    } else {
                        current = self.frames[current.0].parent.ok_or_else(unresolved)?;
                    }
                    level = current;
                    keys.clear();
                    target = Target::Block(current, None);
                    continue;
                }
            };
            hidden = 0;
            loop {
                if let Some(next) = self.attribute(current, part.name)? {
                    self.unsure |= self.unsure_values.contains(&(current, part.name));
                    target = next;
                    break;
                }
                match self.frames[current.0].parent {
                    Some(parent) if outwards => current = parent,
                    _ => return Err(unresolved()),
                }
            }
            if outwards {
                level = current;
                keys.clear();
            }
            keys.push(part.name);
        }
        if let Target::Value(valued) = target
            && valued.cell == POISON
        {
            return Err(Trouble::Reported);
        }
        let origin = self.link(frame, level, reference, keys);
        // A value that the run time knows makes what leads to it one, too.
        if let Target::Value(valued) = target
            && self.is_lazy(valued.cell)
        {
            self.decided
                .push((Valued { origin, ..valued }, Role::Condition));
            return Err(Trouble::Lazy);
        }
        Ok(match target {
            Target::Value(Valued { cell, .. }) => Target::Value(Valued { cell, origin }),
            Target::Block(inner, _) => Target::Block(inner, Some(origin)),
        })
    }

    /// Takes note of the way that a reference leads.
    fn link(
        &mut self,
        frame: FrameId,
        level: FrameId,
        reference: &Reference,
        keys: Vec<Symbol>,
    ) -> R::Origin {
        let (from, level) = (self.frames[frame.0].block, self.frames[level.0].block);
        let link = Link::new(reference.span, from, level, END);
        let recorder = &mut self.specification.blocks.store.recorder;
        recorder.link(link, keys.into_iter())
    }

    /// What a block in a place has under a name; it is computed first if need be.
    fn attribute(&mut self, frame: FrameId, name: Symbol) -> Result<Option<Target<R>>, Trouble> {
        match self.values.get(&(frame, name)) {
            Some(ValueState::Done(target)) => return Ok(Some(*target)),
            Some(ValueState::UnderWay) => return Err(Trouble::Cycle(self.waiting(frame, name))),
            None => {}
        }
        let store = &self.specification.blocks.store;
        let Some(found) = store.find(self.version(frame), name) else {
            return Ok(None);
        };
        let line = store.entry(found.entry);
        let (cell, origin) = (line.cell, line.origin);
        if let Some(view) = store.child(found) {
            let inner = self.child(frame, name, view);
            if self.is_function(view) {
                return Err(Trouble::First(frame, name, What::Function(inner)));
            }
            return Ok(Some(Target::Block(inner, None)));
        }
        match cell.as_late() {
            Some(number) if cell != POISON => Err(Trouble::First(frame, name, What::Late(number))),
            _ => Ok(Some(Target::Value(Valued { cell, origin }))),
        }
    }

    /// A component that extends a function: its attributes are the arguments.
    fn function(&mut self, frame: FrameId, place: Span) -> Result<Target<R>, Trouble> {
        let store = &self.specification.blocks.store;
        let Some(lines) = lines(store, self.version(frame), MOST_LINES) else {
            return Err(Trouble::Reported);
        };
        let words = last_words(store, &lines);
        let class = self
            .class
            .and_then(|class| store.find(self.version(frame), class));
        let class = class.map(|found| self.plain(store.entry(found.entry).cell).text());
        let class = class.unwrap_or_default();
        let mut arguments = Vec::new();
        let mut is_lazy = false;
        for (name, _) in words {
            let text = self.unit.symbols.name(&self.unit.sources, name).to_owned();
            if text.starts_with("sf") || text.starts_with("phase.") {
                continue;
            }
            match self.attribute(frame, name)? {
                Some(Target::Value(valued)) if valued.cell == POISON => {
                    return Err(Trouble::Reported);
                }
                Some(Target::Value(valued)) => {
                    self.unsure |= self.unsure_values.contains(&(frame, name));
                    is_lazy |= self.is_lazy(valued.cell);
                    arguments.push((text, valued));
                }
                // A function of the user's own can take components: all of it is left as it is.
                _ if !functions::is_known(&class) => return Ok(Target::Block(frame, None)),
                _ => {
                    let message = format!("the argument `{text}` is a component");
                    return Err(Trouble::Failed(message, place));
                }
            }
        }
        if is_lazy {
            return Ok(self.applied_at_run_time(&class, &arguments, place));
        }
        self.compute_from(arguments.iter().map(|(_, value)| value.cell), place)?;
        let plain: Vec<(&str, Plain)> = arguments
            .iter()
            .map(|(name, value)| (name.as_str(), self.plain(value.cell)))
            .collect();
        let mut counter = self.counter;
        let applied = functions::apply(&class, &plain, &mut counter);
        let is_counted = counter != self.counter;
        self.counter = counter;
        match applied.map_err(|message| Trouble::Failed(message, place))? {
            Applied::AtRunTime => Ok(self.applied_at_run_time(&class, &arguments, place)),
            Applied::Value(value) => {
                let mut operands: Vec<(Valued<R>, Role)> = arguments
                    .into_iter()
                    .map(|(_, value)| (value, Role::Operand))
                    .collect();
                // What is next depends on what was given before.
                let before = self.counted.filter(|_| is_counted);
                operands.extend(before.map(|value| (value, Role::Operand)));
                let cell = self.computed(&value, place)?;
                let operator = function_name(&class);
                let valued = self.operation(operator, place, cell, &operands);
                if is_counted {
                    self.counted = Some(valued);
                }
                Ok(Target::Value(valued))
            }
        }
    }

    /// A value is to be computed from these.
    fn compute_from(
        &mut self,
        cells: impl Iterator<Item = Cell>,
        place: Span,
    ) -> Result<(), Trouble> {
        let bytes = cells.map(|cell| cell.weight(&self.unit.literals)).sum();
        let computed = self.unit.compute_from(bytes);
        computed.map_err(|message| Trouble::TooLarge(message, place))
    }

    /// Keeps what was computed.
    fn computed(&mut self, value: &Plain, place: Span) -> Result<Cell, Trouble> {
        let room = self.unit.room_for(value.weight());
        room.map_err(|message| Trouble::TooLarge(message, place))?;
        Ok(self.cell(value, place.start))
    }

    fn plain(&self, cell: Cell) -> Plain {
        let literals = &self.unit.literals;
        let read = |text| literals.read(&self.unit.sources, text).to_owned();
        match cell.content(literals) {
            Content::Null | Content::Block(_) | Content::Late(_) => Plain::Null,
            Content::Bool(bool) => Plain::Bool(bool),
            Content::Integer(integer) => Plain::Integer(integer),
            Content::Float(float) => Plain::Float(float),
            Content::Text(text) => Plain::Text(read(text)),
            Content::Reference(text) => Plain::Reference(read(text)),
            Content::List(items) => {
                let items = literals.items(items).iter();
                Plain::Vector(items.map(|item| self.plain(item.cell)).collect())
            }
        }
    }

    fn cell(&mut self, value: &Plain, at: u32) -> Cell {
        let literals = &mut self.unit.literals;
        match value {
            Plain::Null => Cell::NULL,
            Plain::Bool(bool) => Cell::bool(*bool),
            Plain::Integer(integer) => literals.integer(*integer),
            Plain::Float(float) => literals.float(*float),
            Plain::Text(text) => literals.made_text(text),
            Plain::Reference(text) => literals.made_reference(text),
            Plain::Vector(elements) => {
                let items: Vec<Item> = elements
                    .iter()
                    .map(|element| Item {
                        cell: self.cell(element, at),
                        at,
                    })
                    .collect();
                self.unit.literals.list(&items)
            }
        }
    }

    fn report(&mut self, frame: FrameId, name: Symbol, trouble: Trouble, span: Span) {
        let attribute = self.unit.symbols.name(&self.unit.sources, name).to_owned();
        let diagnostic = match trouble {
            Trouble::Reported => return,
            Trouble::Cycle(waiting) => {
                let message = format!("the value of `{attribute}` would contain itself");
                let diagnostic = Diagnostic::error(LINK_CYCLE, message).at(span);
                let waiting = waiting.into_iter().filter(|&other| other != span).take(8);
                waiting
                    .fold(diagnostic, |diagnostic, span| diagnostic.label(span, "needed by this"))
                    .help("a reference cannot lead, perhaps by way of others, back to where it stands")
            }
            Trouble::Unresolved(parts, place) => {
                let reference = parts_text(self.unit, &parts);
                let message = format!("nothing named `{reference}` is visible from `{attribute}`");
                Diagnostic::error(UNRESOLVED_REFERENCE, message).at(place).help(
                    "the nearest block that has the first name decides where the rest is looked for; \
                     `LAZY` leaves a reference to the run time",
                )
            }
            Trouble::ToBeDefined(place) => {
                let message = format!("`{attribute}` is still to be defined");
                let diagnostic = Diagnostic::error(TO_BE_DEFINED, message).at(place);
                diagnostic.help("give it a value where the component is used")
            }
            Trouble::Failed(message, place) => Diagnostic::error(ARITHMETIC, message).at(place),
            Trouble::TooLarge(message, place) => {
                Diagnostic::error(TOO_LARGE_VALUE, message).at(place)
            }
            Trouble::Lazy | Trouble::First(..) => {
                unreachable!("these are not errors")
            }
        };
        let path = self.path(frame, &attribute);
        self.unit.report(diagnostic.path(path));
    }

    /// The name under which a block in a place stands.
    fn name_of(&self, frame: FrameId) -> Option<Symbol> {
        let mut children = self.children.iter();
        let found = children.find(|(_, child)| **child == frame);
        found.map(|((_, name), _)| *name)
    }

    /// The path of an attribute in a place.
    fn path(&self, frame: FrameId, attribute: &str) -> String {
        let names: FxHashMap<FrameId, Symbol> = self
            .children
            .iter()
            .map(|((_, name), frame)| (*frame, *name))
            .collect();
        let mut path = vec![attribute];
        let mut frame = frame;
        while let Some(parent) = self.frames[frame.0].parent {
            if let Some(name) = names.get(&frame) {
                path.push(self.unit.symbols.name(&self.unit.sources, *name));
            }
            frame = parent;
        }
        path.reverse();
        path.join(":")
    }
}

/// The name under which a function is known, for explanations.
fn function_name(class: &str) -> &'static str {
    match class.rsplit('.').next().unwrap_or(class) {
        "Sum" => "+",
        "Product" => "*",
        "Minus" => "-",
        "Divide" => "/",
        "Mod" => "%",
        "Concatenate" => "++",
        "Append" => "<>",
        "Vector" => "[ ]",
        "IfThenElse" => "IF",
        "FormatString" => "formatString",
        "Next" => "next",
        "Not" => "!",
        "And" => "&&",
        "Or" => "||",
        "EQ" => "==",
        "NE" => "!=",
        _ => "function",
    }
}
