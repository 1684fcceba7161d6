//! From a file to a configuration.

use hence_model::cell::Cell;
use hence_model::diagnostic::Diagnostic;
use hence_model::print::printed::Printed;
use hence_model::source::{FileId, Span};
use hence_model::unit::{Limits, OUTPUT_TOO_LARGE, TOO_DEEP, Unit};
use hence_model::value::{Event, Sink};

use crate::datum::{
    Block, BlockId, Datum, EntryId, Form, Home, ListId, Part, Parts, Ranking, Scope, Size, State,
};
use crate::evaluate::{Evaluated, Evaluator, Stop, UNDEFINED};
use crate::parser::parse;
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
    /// Whether to warn of resources that are defined twice in a file.
    pub warn_duplicates: bool,
    /// Whether to write down each step of the evaluation.
    pub trace: bool,
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

/// Compiles a file and all that it imports.
pub fn compile_file<'w>(world: &'w dyn World, name: &str, options: &Options) -> Compiled<'w> {
    let mut unit = Unit::with_limits(options.limits);
    // Evaluation goes as deep as the limit says: it gets a stack for that.
    let levels = (options.limits.depth as usize).min(1 << 17);
    let stack = (levels * STACK_OF_LEVEL).max(8 << 20);
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(stack);
        let compile = move || match unit.load(world, name) {
            Ok(file) => compile(unit, world, file, options.clone()),
            Err(diagnostic) => {
                unit.report(*diagnostic);
                Compiled {
                    evaluator: Evaluator::new(unit, world, options.clone()),
                    root: None,
                }
            }
        };
        let thread = builder.spawn_scoped(scope, compile);
        let compiled = thread.expect("a thread can be started").join();
        compiled.expect("the compiler does not panic")
    })
}

fn compile(unit: Unit, world: &dyn World, file: FileId, options: Options) -> Compiled<'_> {
    let mut evaluator = Evaluator::new(unit, world, options);
    let body = parse(&mut evaluator.unit, &mut evaluator.tree, file);
    let key = evaluator
        .imports
        .add(evaluator.unit.sources.name(file), body);
    if evaluator.unit.has_errors() {
        return Compiled {
            evaluator,
            root: None,
        };
    }
    let order = evaluator.new_order(None);
    let home = Home { order, entry: None };
    let root = evaluator.new_block(Parts::Many(Box::new([])), Ranking::Files, home);
    let scope = evaluator.new_scope(Scope {
        root,
        file: key,
        frame: None,
        importer: None,
    });
    let block = &mut evaluator.blocks[root.0 as usize];
    block.parts = Parts::One(Part::Body(body, scope));
    block.owns_order = true;
    let place = Span::at(evaluator.unit.sources.span(file).start);
    let checked = evaluator.check_block(root, place);
    if let Ok(size) = checked {
        evaluator.check_size(size, place);
    }
    let is_good = !evaluator.unit.has_errors();
    Compiled {
        evaluator,
        root: is_good.then_some(root),
    }
}

impl Evaluator<'_> {
    /// The entries of a block that is built that are part of the output.
    pub(crate) fn visible(&self, block: BlockId) -> Vec<EntryId> {
        let slots = self.slots_of(block).iter().copied();
        slots.filter(|&entry| self.is_visible(entry)).collect()
    }

    fn is_visible(&self, entry: EntryId) -> bool {
        self.options.show_private || !self.is_private(entry)
    }

    /// Computes everything in a block, and tells how large it is. What is wrong with one resource does not
    /// hide what is wrong with another.
    fn check_block(&mut self, block: BlockId, place: Span) -> Evaluated<Size> {
        if let Some(size) = self.block(block).size {
            return Ok(size);
        }
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
                    self.value(entry, place)
                        .and_then(|datum| self.check(datum, entry, place))
                }
            };
            match checked {
                Ok(inner) => {
                    size.bytes = size.bytes.saturating_add(inner.bytes + name + 4);
                    size.depth = size.depth.max(inner.depth.saturating_add(1));
                }
                Err(Stop) => outcome = Err(Stop),
            }
        }
        outcome?;
        let block = &mut self.blocks[block.0 as usize];
        block.size = Some(size);
        block.shows_all = shows_all;
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
                Ok(self.leaf_size(datum).expect("it has no parts"))
            }
            Form::Undefined => {
                if self.options.show_private && self.is_private(entry) {
                    return Ok(Size { bytes: 4, depth: 1 });
                }
                self.undefined(entry)
            }
            Form::List(list) => {
                self.deeper(place, |evaluator| evaluator.check_list(list, entry, place))
            }
            Form::Block(block) => {
                self.deeper(place, |evaluator| evaluator.check_block(block, place))
            }
        }
    }

    fn check_list(&mut self, list: ListId, entry: EntryId, place: Span) -> Evaluated<Size> {
        let mut size = Size { bytes: 2, depth: 1 };
        let count = self.lists[list.0 as usize].states.len();
        let mut outcome = Ok(());
        for index in 0..count {
            let checked = self
                .element(list, index, place)
                .and_then(|datum| self.check(datum, entry, place));
            match checked {
                Ok(inner) => {
                    size.bytes = size.bytes.saturating_add(inner.bytes + 1);
                    size.depth = size.depth.max(inner.depth.saturating_add(1));
                }
                Err(Stop) => outcome = Err(Stop),
            }
        }
        outcome.map(|()| size)
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

fn known(state: State) -> Datum {
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
