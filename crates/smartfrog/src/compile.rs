//! From a file to a configuration.

use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::explain::Explainer;
use hence_model::explanation::{BESIDES, Explanation, NoSuchPath, Shown, Subject};
use hence_model::impact::impact;
use hence_model::path::{Path, Segment};
use hence_model::replay::{Reader, last_words, lines};
use hence_model::source::{FileId, Files, Span};
use hence_model::store::{BlockId, END, Found, Store, View};
use hence_model::symbol::Symbol;
use hence_model::trace::{Recorder, Trace};
use hence_model::unit::{Limits, OUTPUT_TOO_LARGE, TOO_DEEP, Unit};
use hence_model::value::{Builder, Sink, Value};

use crate::evaluate::{Evaluator, Links};
use crate::forward;
use crate::lexer::Dialect;
use crate::ordering::{self, Lint};
use crate::parser::parse;
use crate::production;
use crate::written;

/// There is no `sfConfig`, or it is not a block.
pub const NO_CONFIGURATION: Code = Code::of_rule("sf.no-configuration", "err7");

/// Among so many names one is searched that may be meant.
const MOST_NAMES: usize = 10_000;

/// What a written path may mean, likeliest first. Names with dots are written without quotes.
pub fn readings(text: &str) -> Vec<Path> {
    let mut readings = Path::readings(text);
    readings.sort_by_key(|path| path.0.len());
    readings
}

/// What a specification means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Semantics {
    /// As the paper defines it.
    #[default]
    Core,
    /// Links may look ahead.
    Forward,
    /// As the production compiler does it.
    Production,
}

impl Semantics {
    /// The language that goes with it.
    pub fn dialect(self) -> Dialect {
        match self {
            Semantics::Core | Semantics::Forward => Dialect::Core,
            Semantics::Production => Dialect::Production,
        }
    }
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What a specification means.
    pub semantics: Semantics,
    /// How far it may go.
    pub limits: Limits,
    /// What to do about components that come out in another order than they are written in.
    pub order: Lint,
    /// A JSON file that `#include "facts"` reads.
    pub facts: Option<String>,
}

/// A compiled specification.
pub struct Compiled<R: Recorder = Trace> {
    /// Its sources, names and literals, and what is wrong with them.
    pub unit: Unit,
    /// Its blocks.
    pub store: Store<R>,
    /// The outermost block.
    pub root: View,
    /// The configuration; none if something is wrong.
    pub configuration: Option<Found>,
    /// The language in which it is written.
    pub dialect: Dialect,
}

/// Compiles a file and all that it includes.
pub fn compile_file<R: Recorder>(files: &dyn Files, name: &str, options: &Options) -> Compiled<R> {
    let mut unit = Unit::with_limits(options.limits);
    match unit.load(files, name) {
        Ok(file) => compile(unit, files, file, options),
        Err(diagnostic) => {
            unit.report(*diagnostic);
            let mut store = Store::default();
            let block = store.open(None);
            Compiled {
                unit,
                store,
                root: View { block, time: END },
                configuration: None,
                dialect: options.semantics.dialect(),
            }
        }
    }
}

/// Compiles a file that is already read.
pub fn compile<R: Recorder>(
    mut unit: Unit,
    files: &dyn Files,
    file: FileId,
    options: &Options,
) -> Compiled<R> {
    unit.facts.clone_from(&options.facts);
    let links = match options.semantics {
        Semantics::Core => Links::AtOnce,
        Semantics::Forward => Links::Later,
        Semantics::Production => {
            let (store, root) = production::compile(&mut unit, files, file);
            return finish(unit, store, root, file, options);
        }
    };
    let mut evaluator = Evaluator::<R>::new(links);
    parse(
        &mut unit,
        files,
        file,
        options.semantics.dialect(),
        &mut evaluator,
    );
    let mut root = evaluator.blocks.root;
    if links == Links::Later && !unit.has_errors() {
        root = forward::resolve(&mut evaluator, &mut unit);
    }
    finish(unit, evaluator.blocks.store, root, file, options)
}

/// Takes the configuration out of the specification (27), if nothing is wrong with it.
fn finish<R: Recorder>(
    mut unit: Unit,
    store: Store<R>,
    root: BlockId,
    file: FileId,
    options: &Options,
) -> Compiled<R> {
    let root = View {
        block: root,
        time: END,
    };
    let mut configuration = None;
    if !unit.has_errors() {
        let name = unit.symbols.get(&unit.sources, "sfConfig");
        let found = name.and_then(|name| store.find(root, name));
        configuration = found.filter(|&found| store.child(found).is_some());
        if configuration.is_none() {
            let diagnostic = no_configuration(&unit, &store, root, found, file);
            unit.report(diagnostic);
        }
    }
    let mut compiled = Compiled {
        unit,
        store,
        root,
        configuration,
        dialect: options.semantics.dialect(),
    };
    compiled.check_size();
    if !compiled.unit.has_errors() && (compiled.store.is_ordered() || options.order != Lint::Allow)
    {
        let diagnostics = ordering::check(&compiled, options.order);
        compiled.unit.diagnostics.extend(diagnostics);
    }
    if compiled.unit.has_errors() {
        compiled.configuration = None;
    }
    compiled
}

fn no_configuration<R: Recorder>(
    unit: &Unit,
    store: &Store<R>,
    root: View,
    found: Option<Found>,
    file: FileId,
) -> Diagnostic {
    match found {
        None => {
            let end = unit.sources.span(file).end;
            let diagnostic = Diagnostic::error(NO_CONFIGURATION, "there is no `sfConfig`")
                .label(Span::at(end), "the file ends without it");
            let lines = lines(store, root, forward::MOST_LINES).unwrap_or_default();
            let names = last_words(store, &lines).into_iter().take(MOST_NAMES);
            let names = names.map(|(name, _)| unit.symbols.name(&unit.sources, name));
            match similar("sfConfig", names).first() {
                Some(near) => diagnostic.help(format!(
                    "`{near}` is another name: the result is the block `sfConfig extends {{ … }}`"
                )),
                None => diagnostic.help(
                    "the result is the block `sfConfig extends { … }`; other blocks are its parts",
                ),
            }
        }
        Some(found) => {
            let diagnostic = Diagnostic::error(NO_CONFIGURATION, "`sfConfig` is not a block");
            let diagnostic = match store.recorder.place(store.entry(found.entry).origin) {
                Some(at) => diagnostic.at(unit.sources.character(at)),
                None => diagnostic,
            };
            diagnostic.help("write `sfConfig extends { … }`")
        }
    }
}

impl<R: Recorder> Compiled<R> {
    /// Reads it.
    pub fn reader(&self) -> Reader<'_, R> {
        let unit = &self.unit;
        Reader::new(&unit.sources, &unit.symbols, &unit.literals, &self.store)
    }

    /// Sends the configuration to a sink; nothing if there is none.
    pub fn send(&self, sink: &mut impl Sink) {
        if let Some(view) = self.view() {
            self.reader().send(view, sink);
        }
    }

    /// The configuration's block.
    pub fn view(&self) -> Option<View> {
        self.store.child(self.configuration?)
    }

    /// A few lines can stand for more than fits on any disk: it is counted before it is printed.
    fn check_size(&mut self) {
        let Some(view) = self.view() else { return };
        let limits = self.unit.limits;
        let (bytes, depth) = self.store.size_bound(view.block);
        // Prototypes that were not known when they were included are not counted in the bound.
        let is_bound = self.dialect == Dialect::Core;
        if is_bound && bytes <= limits.output && depth <= limits.depth {
            return;
        }
        let (bytes, depth) = self.reader().size(view);
        let found = self.configuration.expect("it has a view");
        let at = self
            .store
            .recorder
            .place(self.store.entry(found.entry).origin);
        let place = at.map_or(Span::at(0), |at| self.unit.sources.character(at));
        if bytes > limits.output {
            let message = format!("the configuration is larger than {} bytes", limits.output);
            self.unit.report(
                Diagnostic::error(OUTPUT_TOO_LARGE, message)
                    .label(place, "about this block")
                    .help("allow more with `--max-output`; blocks that contain copies of each other grow fast"),
            );
        }
        if depth > limits.depth {
            let message = format!("the configuration is deeper than {} levels", limits.depth);
            self.unit.report(
                Diagnostic::error(TOO_DEEP, message)
                    .label(place, "about this block")
                    .help("allow more with `--max-depth`"),
            );
        }
    }
}

/// Where values come from.
impl Compiled {
    /// Why the value at a path is what it is.
    pub fn explain(&self, path: &Path) -> Result<Explanation, NoSuchPath> {
        let nothing = || NoSuchPath {
            known: Path::default(),
            names: Vec::new(),
        };
        let name = self.name().ok_or_else(nothing)?;
        let extent = |at| written::extent(&self.unit, at, self.dialect);
        let is_placed = |at| written::is_placed(&self.unit, at);
        let explained = Explainer::new(&mut self.reader(), &extent, &is_placed)
            .explain(self.root, name, path)?;
        // The first one is what is asked about.
        let mut left = u64::MAX;
        Ok(explained.map(&mut |subject| {
            let shown = self.shown(subject, &mut left);
            left = left.min(BESIDES);
            shown
        }))
    }

    /// A value as it is shown; of those that others are computed from, as long as something may be.
    fn shown(&self, subject: Subject, left: &mut u64) -> Shown {
        let mut builder = Builder::default();
        let literals = &self.unit.literals;
        let cell = match subject {
            Subject::Entry(found) => {
                self.reader().send_entry(found, &mut builder);
                return Shown::Value(builder.finish().unwrap_or(Value::Null));
            }
            Subject::Item(item) => item.cell,
            Subject::Operand(operand) => operand.cell,
        };
        let Some(less) = left.checked_sub(cell.weight(literals)) else {
            return Shown::TooLarge;
        };
        *left = less;
        literals.send(&self.unit.sources, cell, &mut builder);
        Shown::Value(builder.finish().unwrap_or(Value::Null))
    }

    /// Names every value that depends on what is written in a stretch of source.
    pub fn impact(&self, place: Span, name: &mut dyn FnMut(&[Segment])) {
        if let Some(configuration) = self.name() {
            impact(&mut self.reader(), self.root, configuration, place, name);
        }
    }

    /// The name of the configuration, if there is one.
    fn name(&self) -> Option<Symbol> {
        self.configuration?;
        self.unit.symbols.get(&self.unit.sources, "sfConfig")
    }
}
