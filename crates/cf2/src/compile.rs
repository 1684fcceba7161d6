//! From a file to a configuration.

use hence_model::cell::{Cell, Mark};
use hence_model::diagnostic::Diagnostic;
use hence_model::print::printed::Printed;
use hence_model::source::Span;
use hence_model::stack;
use hence_model::symbol::Symbol;
use hence_model::unit::{Limits, OUTPUT_TOO_LARGE, TOO_DEEP, Unit};
use hence_model::value::{Event, Sink};
use hence_model::work::{steps, steps_of};

use crate::datum::{
    Block, BlockId, Datum, Elements, EntryId, Extent, FileKey, Form, Home, ListId, Part, Parts,
    Ranking, Scope, Size, State,
};
use crate::evaluate::{Evaluated, Evaluator, Stop, UNDEFINED};
use crate::running::CYCLE;
use crate::syntax::BodyId;
use crate::world::World;

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How far it may go.
    pub limits: Limits,
    /// Directories in which imported files are searched: `CF2PATH`.
    pub search: Vec<String>,
    /// The directories of projects, by name: `import('name:file')`.
    pub projects: Vec<(String, String)>,
    /// The directory of the current project; empty for the current directory.
    pub project: String,
    /// What `topdir()` answers.
    pub topdir: String,
    /// A JSON file that `import(facts)` reads.
    pub facts: Option<String>,
    /// Whether private resources are part of the output.
    pub show_private: bool,
    /// What to do about resources that are defined twice in a file.
    pub duplicates: Lint,
    /// Whether to write down each step of the evaluation.
    pub trace: bool,
}

/// What to do about something that may be meant, and may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lint {
    /// Nothing.
    #[default]
    Allow,
    /// Warn.
    Warn,
    /// Refuse.
    Deny,
}

/// A compiled configuration.
pub struct Compiled<'w> {
    /// What it was compiled by: its sources, syntax and values.
    pub(crate) evaluator: Evaluator<'w>,
    /// The configuration; none if something is wrong.
    pub(crate) root: Option<BlockId>,
}

/// How much stack one level of evaluation may need.
const STACK_OF_LEVEL: usize = 12 << 10;

/// Nobody goes deeper than this, whatever is allowed: a stack must be had for it.
pub const DEEPEST: u32 = 1 << 17;

/// Compiles a file and all that it imports.
pub fn compile_file<'w>(world: &'w dyn World, name: &str, options: &Options) -> Compiled<'w> {
    on_stack(options.limits, || {
        let mut evaluator = Evaluator::new(world, options.clone());
        let root = match evaluator.read(name) {
            Ok((file, body)) => evaluator.compile(file, body),
            Err(_) => None,
        };
        Compiled { evaluator, root }
    })
}

/// Does something that evaluates, on a stack that is as deep as the limit says.
pub fn on_stack<T: Send>(limits: Limits, work: impl FnOnce() -> T + Send) -> T {
    stack::with(stack_of(limits), work)
}

fn stack_of(limits: Limits) -> usize {
    let levels = limits.depth.min(DEEPEST) as usize;
    (levels * STACK_OF_LEVEL).max(8 << 20)
}

/// Does something that evaluates, on a stack of its own, and something else meanwhile.
pub(crate) fn on_stack_while<T: Send>(
    limits: Limits,
    work: impl FnOnce() -> T + Send,
    meanwhile: impl FnOnce(),
) -> T {
    let size = stack_of(limits);
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(size);
        let counted = || {
            stack::begin(size);
            let mut done = None;
            let steps = steps_of(|| done = Some(work()));
            (done.expect("it was done"), steps)
        };
        let thread = builder.spawn_scoped(scope, counted);
        let thread = thread.expect("a thread can be started");
        meanwhile();
        match thread.join() {
            Ok((done, taken)) => {
                steps(taken);
                done
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Many files that are compiled on their own, and import the same ones. Each file is read and parsed once.
pub struct Batch<'w> {
    base: Evaluator<'w>,
    entries: Vec<Entry>,
}

/// A file of a batch: its syntax, or why it cannot be read.
type Entry = Result<(FileKey, BodyId), Vec<Diagnostic>>;

impl<'w> Batch<'w> {
    /// Reads files and what they import, as far as that is written out. Those that do not fit into the limit
    /// of sources are left for another batch: see [`Batch::count`].
    pub fn read<'n>(
        world: &'w dyn World,
        names: impl Iterator<Item = &'n str>,
        options: &Options,
    ) -> Self {
        let mut base = Evaluator::new(world, options.clone());
        let mut entries = Vec::new();
        for name in names {
            let files = base.imports.count();
            let read = base.read(name);
            let mistakes = std::mem::take(&mut base.unit.diagnostics);
            let is_full = |one: &Diagnostic| one.code == hence_model::unit::TOO_LARGE;
            if !entries.is_empty() && mistakes.iter().any(is_full) {
                break;
            }
            entries.push(read.map_err(|_| mistakes));
            base.read_ahead(files);
        }
        Self { base, entries }
    }

    /// How many files were read.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Somebody who compiles files of the batch, one after another.
    pub fn worker(&self) -> Worker<'w, '_> {
        let evaluator = self.base.fork();
        Worker {
            entries: &self.entries,
            files: evaluator.imports.count(),
            literals: evaluator.unit.literals.mark(),
            evaluator: Some(evaluator),
        }
    }
}

/// Compiles files of a batch. To be used with a stack for it: see [`on_stack`].
pub struct Worker<'w, 'b> {
    entries: &'b [Entry],
    /// How many files were read when the literals were marked.
    files: usize,
    literals: Mark,
    /// Not here while somebody has the result.
    evaluator: Option<Evaluator<'w>>,
}

impl<'w> Worker<'w, '_> {
    /// Compiles a file, by its number. Give the result back to compile the next.
    pub fn compile(&mut self, number: usize) -> Compiled<'w> {
        let evaluator = self.evaluator.take();
        let mut evaluator = evaluator.expect("the result before was given back");
        let root = match &self.entries[number] {
            Ok((file, body)) => evaluator.compile(*file, *body),
            Err(mistakes) => {
                evaluator.unit.diagnostics.clone_from(mistakes);
                None
            }
        };
        Compiled { evaluator, root }
    }

    /// Takes a result back.
    pub fn take_back(&mut self, compiled: Compiled<'w>) {
        let mut evaluator = compiled.evaluator;
        evaluator.reset();
        // What was computed is not needed any more, unless a file came with it.
        match evaluator.imports.count() == self.files {
            true => evaluator.unit.literals.reset(self.literals),
            false => {
                self.files = evaluator.imports.count();
                self.literals = evaluator.unit.literals.mark();
            }
        }
        self.evaluator = Some(evaluator);
    }
}

impl Evaluator<'_> {
    /// Reads the file that a compilation starts with.
    fn read(&mut self, name: &str) -> Evaluated<(FileKey, BodyId)> {
        if let Some(known) = self.imports.get(name) {
            return Ok(known);
        }
        match self.unit.load(self.world, name) {
            Ok(file) => self.parse_file(name, file),
            Err(diagnostic) => self.stop(*diagnostic),
        }
    }

    /// Evaluates a file; none if something is wrong.
    fn compile(&mut self, file: FileKey, body: BodyId) -> Option<BlockId> {
        self.unit.work = 0;
        self.spent = 0;
        let order = self.new_order(None);
        let home = Home { order, entry: None };
        let root = self.new_block(Parts::Many(Box::new([])), Ranking::Files, home);
        let scope = self.new_scope(Scope {
            root,
            file,
            frame: None,
            importer: None,
        });
        let block = &mut self.blocks[root.0 as usize];
        block.parts = Parts::One(Part::Body(body, scope));
        block.owns_order = true;
        self.report_mistakes(file).ok()?;
        let place = Span::at(self.tree.body(body).span.start);
        self.blocks[root.0 as usize].extent = Extent::Measuring;
        if let Ok(size) = self.check_block(root, place) {
            self.blocks[root.0 as usize].extent = Extent::Known(size);
            self.check_size(size, place);
        }
        self.check_unread();
        (!self.unit.has_errors()).then_some(root)
    }
}

impl Evaluator<'_> {
    /// The entries of a block that is built that are part of the output.
    pub(crate) fn visible(&self, block: BlockId) -> Vec<EntryId> {
        if self.block(block).shows_all {
            return self.slots_of(block).to_vec();
        }
        let slots = self.slots_of(block).iter().copied();
        slots.filter(|&entry| self.is_visible(entry)).collect()
    }

    fn is_visible(&self, entry: EntryId) -> bool {
        self.options.show_private || !self.is_private(entry)
    }

    /// An entry of a block that is built, if it is part of the output.
    pub(crate) fn visible_entry(&self, block: BlockId, name: Symbol) -> Option<EntryId> {
        let entry = match &self.block(block).index {
            Some(index) => index.get(&name).copied(),
            None => {
                let mut slots = self.slots_of(block).iter().copied();
                slots.find(|&entry| self.entry(entry).name == name)
            }
        };
        entry.filter(|&entry| self.options.show_private || !self.is_private(entry))
    }

    /// Computes everything in a block, and tells how large it is. What is wrong with one resource does not
    /// hide what is wrong with another; nothing is looked at twice.
    fn check_block(&mut self, block: BlockId, place: Span) -> Evaluated<Size> {
        self.build(block, place)?;
        let mut size = Size { bytes: 2, depth: 1 };
        let mut outcome = Ok(());
        let mut shows_all = true;
        let (start, end) = self.block(block).slots;
        for slot in start..end {
            let entry = self.slots[slot as usize];
            if !self.is_visible(entry) {
                shows_all = false;
                continue;
            }
            let name = u64::from(self.unit.symbols.length(self.entry(entry).name));
            let checked = match self.at_hand(entry).and_then(|datum| self.leaf_size(datum)) {
                Some(size) => Ok(size),
                None => {
                    let place = self.place(entry);
                    let value = self.value(entry, place);
                    // What is above a private definition may have come out undefined.
                    if !self.is_visible(entry) {
                        shows_all = false;
                        continue;
                    }
                    value.and_then(|datum| self.check(datum, entry, place))
                }
            };
            match checked {
                Ok(inner) => size.add(inner, name + 4),
                Err(Stop) => outcome = Err(Stop),
            }
        }
        outcome?;
        self.blocks[block.0 as usize].shows_all = shows_all;
        Ok(size)
    }

    /// The size of a value that has no parts to be computed.
    fn leaf_size(&self, datum: Datum) -> Option<Size> {
        match datum.form {
            Form::Scalar(cell) | Form::Literals(cell) => Some(Size {
                bytes: cell.weight(&self.unit.literals),
                depth: 1,
            }),
            _ => None,
        }
    }

    fn check(&mut self, datum: Datum, entry: EntryId, place: Span) -> Evaluated<Size> {
        match datum.form {
            Form::Scalar(_) | Form::Literals(_) => {
                return Ok(self.leaf_size(datum).expect("it has no parts"));
            }
            Form::Undefined if self.may_be_undefined(entry) => {
                return Ok(Size { bytes: 4, depth: 1 });
            }
            Form::Undefined => return self.undefined(entry),
            Form::List(_) | Form::Block(_) => {}
        }
        let extent = *self.extent(datum);
        match extent {
            Extent::Known(size) => return Ok(size),
            Extent::Wrong => return Err(Stop),
            Extent::Measuring => return self.part_of_itself(entry),
            Extent::Open(size) if self.may_be_undefined(entry) => return Ok(size),
            Extent::Open(_) | Extent::Unknown => {}
        }
        *self.extent(datum) = Extent::Measuring;
        let checked = self.deeper(place, |evaluator| match datum.form {
            Form::List(list) => evaluator.check_list(list, entry, place),
            Form::Block(block) => evaluator.check_block(block, place),
            _ => unreachable!("it is a list or a block"),
        });
        *self.extent(datum) = match checked {
            // What a private resource may leave open, another that has the same list may not.
            Ok(size) if self.may_be_undefined(entry) => Extent::Open(size),
            Ok(size) => Extent::Known(size),
            Err(Stop) => Extent::Wrong,
        };
        checked
    }

    /// Whether nobody would miss the value, if nobody wanted to see what is private.
    fn may_be_undefined(&self, entry: EntryId) -> bool {
        self.options.show_private && self.is_private(entry)
    }

    /// The bytes of a value that has no parts, or whose parts were all computed to be printed.
    pub(crate) fn size(&self, datum: Datum) -> Option<u64> {
        let extent = match datum.form {
            Form::Undefined => return Some(0),
            Form::Scalar(_) | Form::Literals(_) => {
                return self.leaf_size(datum).map(|size| size.bytes);
            }
            Form::List(list) => self.lists[list.0 as usize].extent,
            Form::Block(block) => self.block(block).extent,
        };
        match extent {
            Extent::Known(size) | Extent::Open(size) => Some(size.bytes),
            Extent::Unknown | Extent::Measuring | Extent::Wrong => None,
        }
    }

    /// What is known of how large a list or a block is.
    fn extent(&mut self, datum: Datum) -> &mut Extent {
        match datum.form {
            Form::List(list) => &mut self.lists[list.0 as usize].extent,
            Form::Block(block) => &mut self.blocks[block.0 as usize].extent,
            _ => unreachable!("it is a list or a block"),
        }
    }

    fn check_list(&mut self, list: ListId, entry: EntryId, place: Span) -> Evaluated<Size> {
        let mut size = Size { bytes: 2, depth: 1 };
        let count = self.lists[list.0 as usize].states.len();
        let mut outcome = Ok(());
        for index in 0..count {
            let checked = match self.element(list, index, place) {
                Ok(datum) if datum.is_undefined() && !self.may_be_undefined(entry) => {
                    self.undefined_element(list, index, entry)
                }
                Ok(datum) => self.check(datum, entry, place),
                Err(Stop) => Err(Stop),
            };
            match checked {
                Ok(inner) => size.add(inner, 1),
                Err(Stop) => outcome = Err(Stop),
            }
        }
        outcome.map(|()| size)
    }

    fn undefined_element<T>(&mut self, list: ListId, index: usize, entry: EntryId) -> Evaluated<T> {
        let place = match self.lists[list.0 as usize].elements {
            Elements::Written(written, _) => self.span(self.tree.list(written)[index]),
            Elements::Made(_) => self.place(entry),
        };
        let message = format!("an element of `{}` has no value", self.path(entry));
        let help = "give it one, or leave it out";
        self.stop(Diagnostic::error(UNDEFINED, message).at(place).help(help))
    }

    /// A block or a list whose output would have no end.
    fn part_of_itself<T>(&mut self, entry: EntryId) -> Evaluated<T> {
        let message = format!("`{}` would be a part of itself", self.path(entry));
        let help = "refer to the resources that are needed, not to the block around";
        self.stop(
            Diagnostic::error(CYCLE, message)
                .at(self.place(entry))
                .help(help),
        )
    }

    /// A resource that nobody gave a value (§3.2).
    fn undefined<T>(&mut self, entry: EntryId) -> Evaluated<T> {
        let path = self.path(entry);
        let place = self.place(entry);
        let diagnostic = Diagnostic::error(UNDEFINED, format!("`{path}` has no value"))
            .at(place)
            .help("give it one here, or in a file that imports this one or is imported by it");
        self.stop(diagnostic)
    }

    /// A few lines can stand for more than fits on any disk: it is counted before it is printed.
    fn check_size(&mut self, size: Size, place: Span) {
        let limits = self.unit.limits;
        if size.bytes > limits.output {
            let message = format!("the configuration is larger than {} bytes", limits.output);
            self.unit.report(
                Diagnostic::error(OUTPUT_TOO_LARGE, message)
                    .at(place)
                    .help("allow more with `--max-output`; blocks that contain copies of each other grow fast"),
            );
        }
        if size.depth > limits.depth {
            let message = format!("the configuration is deeper than {} levels", limits.depth);
            self.unit.report(
                Diagnostic::error(TOO_DEEP, message)
                    .at(place)
                    .help("allow more with `--max-depth`"),
            );
        }
    }

    /// Sends a value that was computed to a sink.
    pub(crate) fn send(&self, datum: Datum, sink: &mut impl Sink) {
        let mut open: Vec<Open> = Vec::new();
        let mut printed = Printed::default();
        let mut next = Some(datum);
        loop {
            if let Some(datum) = next.take() {
                match datum.form {
                    Form::Undefined => sink.event(Event::Null),
                    Form::Scalar(cell) => self.send_scalar(cell, sink),
                    Form::Literals(cell) => {
                        self.unit.literals.send(&self.unit.sources, cell, sink);
                    }
                    Form::List(list) => {
                        sink.event(Event::ListStart);
                        open.push(Open::List(list, 0));
                    }
                    Form::Block(block) => {
                        sink.event(Event::MapStart);
                        let Block {
                            slots: (at, end),
                            shows_all,
                            ..
                        } = *self.block(block);
                        open.push(Open::Block {
                            block,
                            at,
                            end,
                            shows_all,
                        });
                    }
                }
            }
            if sink.is_closed() {
                return;
            }
            match open.last_mut() {
                None => return,
                Some(Open::Block { at, end, .. }) if at == end => {
                    sink.event(Event::MapEnd);
                    open.pop();
                }
                Some(Open::Block {
                    block,
                    at,
                    shows_all,
                    ..
                }) => {
                    let id = self.slots[*at as usize];
                    *at += 1;
                    if !*shows_all && !self.is_visible(id) {
                        continue;
                    }
                    let entry = self.entry(id);
                    let datum = known(entry.state);
                    match datum.form {
                        // What this block has from another one, others are likely to have from there, too.
                        Form::Scalar(cell) if entry.block != *block => {
                            printed.entry(id.0, sink, |sink| {
                                sink.event(Event::Key(self.name(entry.name)));
                                self.send_scalar(cell, sink);
                            });
                        }
                        _ => {
                            sink.event(Event::Key(self.name(entry.name)));
                            next = Some(datum);
                        }
                    }
                }
                Some(Open::List(list, index)) => {
                    let states = &self.lists[list.0 as usize].states;
                    match states.get(*index) {
                        None => {
                            sink.event(Event::ListEnd);
                            open.pop();
                        }
                        Some(&state) => {
                            *index += 1;
                            next = Some(known(state));
                        }
                    }
                }
            }
        }
    }

    fn send_scalar(&self, cell: Cell, sink: &mut impl Sink) {
        let scalar = self.unit.literals.scalar(&self.unit.sources, cell);
        sink.event(scalar.expect("it is one"));
    }
}

/// What is open while a value is sent.
enum Open {
    /// A block, and the stretch of its slots that is left.
    Block {
        block: BlockId,
        at: u32,
        end: u32,
        shows_all: bool,
    },
    List(ListId, usize),
}

impl Size {
    /// Adds something inside of it, and what is written around that.
    fn add(&mut self, inner: Size, around: u64) {
        self.bytes = self
            .bytes
            .saturating_add(inner.bytes)
            .saturating_add(around);
        self.depth = self.depth.max(inner.depth.saturating_add(1));
    }
}

pub(crate) fn known(state: State) -> Datum {
    match state {
        State::Done(datum) => datum,
        // All of the output was computed before it is sent; explanations show what is known.
        _ => Datum::UNDEFINED,
    }
}

impl Compiled<'_> {
    /// Its sources, names and literals, and what is wrong with them.
    pub fn unit(&self) -> &Unit {
        &self.evaluator.unit
    }

    /// Whether there is a configuration.
    pub fn is_good(&self) -> bool {
        self.root.is_some()
    }

    /// The mail addresses of those who signed what is written in a place, if an import asked who did.
    pub fn signers(&self, place: Span) -> Option<&[String]> {
        let file = self.unit().sources.file_at(place.start);
        self.evaluator.imports.signers(file)
    }

    /// Sends the configuration to a sink; nothing if there is none.
    pub fn send(&self, sink: &mut impl Sink) {
        if let Some(root) = self.root {
            let datum = crate::evaluate::form(Form::Block(root));
            self.evaluator.send(datum, sink);
        }
    }

    /// The steps of the evaluation, if they were asked for.
    pub fn steps(&self) -> &[String] {
        &self.evaluator.steps
    }
}
