//! Expressions to values, as far as somebody asks.
//!
//! Evaluation is lazy per resource: a branch that is not taken, a value that is overridden, an element that
//! nobody reads is never computed (§3.8, §4.1). What is being computed is marked, so that a cycle is seen
//! where it closes; how deep evaluation may go is limited; so it always ends.

use std::sync::Arc;

use hence_model::cell::{Cell, Content};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::explanation::Role;
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use hence_model::unit::{Limits, TOO_LARGE_VALUE, Unit};
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::{DEEPEST, Options};
use crate::datum::{
    Block, BlockId, Contribution, Datum, Elements, Entry, EntryId, Extent, FileKey, Form, Frame,
    FrameId, Home, List, ListId, Names, Order, OrderId, Part, Parts, Ranking, Says, Scope, ScopeId,
    Source, Stage, State,
};
use crate::expand::Expansion;
use crate::importable::Named;
use crate::imports::Imports;
use crate::lexer::Operator;
use crate::operators;
use crate::reasons::{Inlines, Node, Outline, Reasons};
use crate::running::Running;
use crate::syntax::{BodyId, Definition, Expression, ExpressionId, Kind, MacroId, Mutation, Tree};
use crate::world::World;

/// A value has the wrong type for what is done with it.
pub const TYPE: Code = Code::new("cf2.type");
/// Evaluation takes more steps than allowed.
pub const TOO_MANY_STEPS: Code = Code::new("limit.steps");
/// Something undefined is used.
pub const UNDEFINED: Code = Code::new("cf2.undefined");

/// A call of a macro counts as so many steps, as each takes some memory.
const STEPS_OF_CALL: u64 = 32;

/// There is no value, and that was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

/// A value, if there is one.
pub type Evaluated<T = Datum> = Result<T, Stop>;

/// Evaluates the files of one compilation.
pub struct Evaluator<'w> {
    /// Their texts, names and literals, and what is wrong with them.
    pub unit: Unit,
    /// Their syntax.
    pub tree: Tree,
    pub(crate) world: &'w dyn World,
    pub(crate) options: Options,
    pub(crate) imports: Imports,
    pub(crate) blocks: Vec<Block>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) slots: Vec<EntryId>,
    /// What is said about names that more than one thing is said about, each with the number of the next.
    pub(crate) contributions: Vec<(Contribution, u32)>,
    pub(crate) lists: Vec<List>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) orders: Vec<Order>,
    /// The blocks whose inline statements are being evaluated.
    pub(crate) expansions: FxHashMap<BlockId, Expansion>,
    /// The same, the innermost last, and where each was asked for.
    pub(crate) expanding: Vec<(BlockId, Span)>,
    /// The scopes of files that were imported inline, by block.
    pub(crate) imported: FxHashMap<(BlockId, FileKey), ScopeId>,
    /// For each name, the number of the last block that was built with it, and the place there.
    pub(crate) stamps: Vec<(u32, u32)>,
    /// How many blocks were built.
    pub(crate) built: u32,
    /// Where the slots end that each part of the block that is being built brought; empty between blocks.
    pub(crate) ends: Vec<u32>,
    /// The files whose mistakes were reported.
    pub(crate) reported: FxHashSet<FileKey>,
    /// What is being computed, and the reference that asked for it.
    pub(crate) running: Vec<(Running, Span)>,
    pub(crate) depth: u32,
    /// How many steps the calls of macros took; nothing else is computed more than once. All that there are,
    /// if it was said that they are too many.
    pub(crate) spent: u64,
    /// Whether values are computed again only to explain them: what was said is not said twice.
    pub(crate) quiet: bool,
    /// Where functions of users were called that made blocks or lists.
    pub(crate) calls: FxHashMap<ExpressionId, (ScopeId, Home)>,
    /// Which inline statements of a body can define which names, once somebody asked.
    pub(crate) inlines: FxHashMap<BodyId, Arc<Inlines>>,
    /// What is written in bodies, by name, once somebody asked.
    pub(crate) outlines: FxHashMap<BodyId, Arc<Outline>>,
    /// What a file imports into a block that no condition can prevent, once somebody asked.
    pub(crate) unconditional: FxHashMap<(BlockId, FileKey), Arc<FxHashSet<FileKey>>>,
    /// What an import could name whose name is computed, by the file that it stands in, once somebody asked.
    pub(crate) importable: FxHashMap<FileKey, Named>,
    /// The imports of files by computed names that are blocks of their own.
    pub(crate) sealed: FxHashMap<BlockId, (ExpressionId, ScopeId)>,
    /// What a value is computed from, while that is asked.
    pub(crate) reasons: Option<Reasons>,
    /// The entries whose value a private definition gives, as those above it came out undefined.
    pub(crate) hidden: FxHashSet<EntryId>,
    /// What was evaluated, in order, for those who want to see it.
    pub(crate) steps: Vec<String>,
}

impl<'w> Evaluator<'w> {
    /// An evaluator that has read nothing yet.
    pub fn new(world: &'w dyn World, options: Options) -> Self {
        let limits = Limits {
            depth: options.limits.depth.min(DEEPEST),
            ..options.limits
        };
        Self {
            unit: Unit::with_limits(limits),
            tree: Tree::default(),
            world,
            options,
            imports: Imports::default(),
            blocks: Vec::new(),
            entries: Vec::new(),
            slots: Vec::new(),
            contributions: Vec::new(),
            lists: Vec::new(),
            scopes: Vec::new(),
            frames: Vec::new(),
            orders: vec![Order::default()],
            expansions: FxHashMap::default(),
            expanding: Vec::new(),
            imported: FxHashMap::default(),
            stamps: Vec::new(),
            built: 0,
            ends: Vec::new(),
            reported: FxHashSet::default(),
            running: Vec::new(),
            depth: 0,
            spent: 0,
            quiet: false,
            calls: FxHashMap::default(),
            inlines: FxHashMap::default(),
            outlines: FxHashMap::default(),
            unconditional: FxHashMap::default(),
            importable: FxHashMap::default(),
            sealed: FxHashMap::default(),
            reasons: None,
            hidden: FxHashSet::default(),
            steps: Vec::new(),
        }
    }

    /// Another evaluator that has read the same files.
    pub(crate) fn fork(&self) -> Self {
        Self {
            unit: self.unit.clone(),
            tree: self.tree.clone(),
            imports: self.imports.clone(),
            ..Self::new(self.world, self.options.clone())
        }
    }

    /// Forgets all values, and keeps the files that were read.
    pub(crate) fn reset(&mut self) {
        self.unit.diagnostics.clear();
        self.blocks.clear();
        self.entries.clear();
        self.slots.clear();
        self.contributions.clear();
        self.lists.clear();
        self.scopes.clear();
        self.frames.clear();
        self.orders.truncate(1);
        self.expansions.clear();
        self.expanding.clear();
        self.imported.clear();
        self.unconditional.clear();
        self.sealed.clear();
        // Which file is compiled matters to these.
        self.importable.clear();
        self.inlines.clear();
        self.calls.clear();
        self.reported.clear();
        self.hidden.clear();
        self.steps.clear();
    }

    /// Reports trouble, unless it was reported when the value was first computed.
    pub(crate) fn stop<T>(&mut self, diagnostic: Diagnostic) -> Evaluated<T> {
        if !self.quiet {
            let path = self.path_of_running();
            let diagnostic = match path {
                Some(path) => diagnostic.path(path),
                None => diagnostic,
            };
            self.unit.report(diagnostic);
        }
        Err(Stop)
    }

    /// The path of an entry.
    pub fn path(&self, entry: EntryId) -> String {
        let mut names = Vec::new();
        let mut next = Some(entry);
        while let Some(entry) = next {
            let entry = &self.entries[entry.0 as usize];
            names.push(self.name(entry.name));
            next = self.blocks[entry.block.0 as usize].home.entry;
        }
        names.reverse();
        names.join(".")
    }

    /// The text of a name.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.unit.symbols.name(&self.unit.sources, symbol)
    }

    /// The text of an expression.
    pub(crate) fn source(&self, span: Span) -> &str {
        self.unit.sources.slice(span)
    }

    pub(crate) fn entry(&self, entry: EntryId) -> &Entry {
        &self.entries[entry.0 as usize]
    }

    pub(crate) fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.0 as usize]
    }

    pub(crate) fn scope(&self, scope: ScopeId) -> Scope {
        self.scopes[scope.0 as usize]
    }

    pub(crate) fn span(&self, expression: ExpressionId) -> Span {
        self.tree.expression(expression).span
    }

    /// The place of the name of a definition.
    pub(crate) fn name_span(&self, definition: Definition) -> Span {
        let name = self.name(definition.name);
        let at = definition.at;
        match self.unit.sources.text()[at as usize..].starts_with(name) {
            true => Span::new(at, at + name.len() as u32),
            // A fact whose key cannot be a name.
            false => self.unit.sources.character(at),
        }
    }

    /// What is said about an entry.
    pub(crate) fn says(&self, entry: EntryId) -> Vec<Contribution> {
        self.each_said(entry).collect()
    }

    /// What is said about an entry, one after another.
    pub(crate) fn each_said(&self, entry: EntryId) -> impl Iterator<Item = Contribution> {
        let (only, mut chain) = match self.entry(entry).says {
            Says::One(contribution) => (Some(contribution), None),
            Says::Many(first, last) => (None, Some((first, last))),
        };
        let next = move || {
            let (number, last) = chain?;
            work::step();
            let (contribution, next) = self.contributions[number as usize];
            chain = (number != last).then_some((next, last));
            Some(contribution)
        };
        only.into_iter().chain(std::iter::from_fn(next))
    }

    /// What was said last about an entry.
    fn last_said(&self, entry: EntryId) -> Contribution {
        match self.entry(entry).says {
            Says::One(contribution) => contribution,
            Says::Many(_, last) => self.contributions[last as usize].0,
        }
    }

    /// Where an entry is defined, for a diagnostic about it.
    pub(crate) fn place(&self, entry: EntryId) -> Span {
        let mut entry = entry;
        loop {
            work::step();
            match self.last_said(entry).source {
                Source::Statement(statement) => {
                    return self.name_span(self.tree.definition(statement));
                }
                Source::Entry(inner) => entry = inner,
                Source::Made(expression) => return self.span(expression),
            }
        }
    }

    /// The value of an entry.
    #[inline]
    pub(crate) fn value(&mut self, entry: EntryId, asked: Span) -> Evaluated {
        if self.reasons.is_some() {
            let within = self.take_focus();
            return self.because(Node::Entry(entry, within), |evaluator| {
                evaluator.value(entry, asked)
            });
        }
        match self.entry(entry).state {
            State::Done(datum) => Ok(datum),
            State::Failed => Err(Stop),
            State::Running => self.cycle(Running::Entry(entry), asked),
            State::Fresh => self.compute(entry, asked),
        }
    }

    /// The value of an entry that is known, or is a literal as most are: nobody needs to be told who asks.
    #[inline]
    pub(crate) fn at_hand(&mut self, entry: EntryId) -> Option<Datum> {
        match self.entry(entry).state {
            State::Done(datum) => Some(datum),
            State::Fresh if !self.options.trace => {
                work::step();
                let (_, datum) = self.literal_of(entry)?;
                self.entries[entry.0 as usize].state = State::Done(datum);
                Some(datum)
            }
            _ => None,
        }
    }

    /// The literal that an entry is: the only thing that is said about it, or assigned to it by the later of
    /// two parts. Nothing else is a reason for its value.
    #[inline]
    pub(crate) fn literal_of(&self, entry: EntryId) -> Option<(Expression, Datum)> {
        let (decisive, is_only) = match self.entry(entry).says {
            Says::One(only) => (only, true),
            Says::Many(first, last) => {
                let (below, next) = self.contributions[first as usize];
                let above = self.contributions[last as usize].0;
                let is_decided = next == last && below.rank < above.rank;
                is_decided.then_some((above, false))?
            }
        };
        let Source::Statement(statement) = decisive.source else {
            return None;
        };
        let definition = self.tree.definition(statement);
        let expression = self.tree.expression(definition.value);
        let datum = literal(expression.kind)?;
        let counts = match definition.operator {
            Mutation::Assign => is_only || !datum.is_undefined(),
            Mutation::Merge => is_only,
            // The function must exist, even where it has nothing to do.
            Mutation::Function(_) => false,
        };
        counts.then_some((expression, datum))
    }

    fn compute(&mut self, entry: EntryId, asked: Span) -> Evaluated {
        if let Some(datum) = self.at_hand(entry) {
            return Ok(datum);
        }
        self.entries[entry.0 as usize].state = State::Running;
        let computed = self.within(Running::Entry(entry), asked, |evaluator| {
            evaluator.resolve(entry)
        });
        // An inline statement may have needed it meanwhile: see `suspend`.
        if let State::Done(datum) = self.entry(entry).state {
            return Ok(datum);
        }
        self.entries[entry.0 as usize].state = state(computed);
        if self.options.trace && !self.quiet {
            self.note(entry, computed);
        }
        computed
    }

    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, id: ExpressionId, scope: ScopeId, home: Home) -> Evaluated {
        let expression = self.tree.expression(id);
        let within = self.take_focus();
        if let Some(datum) = literal(expression.kind) {
            self.because_literal(expression);
            return Ok(datum);
        }
        self.deeper(expression.span, |evaluator| {
            evaluator.evaluate_kind(id, expression.kind, scope, home, within)
        })
    }

    /// `within` is the name in it that is asked for, if reasons are; nothing else in it matters then.
    fn evaluate_kind(
        &mut self,
        id: ExpressionId,
        kind: Kind,
        scope: ScopeId,
        home: Home,
        within: Option<Symbol>,
    ) -> Evaluated {
        work::step();
        let span = self.span(id);
        match kind {
            Kind::Literal(_) | Kind::Secret(_) | Kind::Undefined => {
                Ok(literal(kind).expect("it is one"))
            }
            Kind::List(list) => Ok(self.new_list(List {
                elements: Elements::Written(list, scope),
                home,
                states: vec![State::Fresh; list.count()],
                extent: Extent::Unknown,
            })),
            Kind::Block(body) => {
                let parts = Parts::One(Part::Body(body, scope));
                let block = self.new_block(parts, Ranking::Files, home);
                Ok(form(Form::Block(block)))
            }
            Kind::Reference(name) => {
                self.because_written(span, Role::Link);
                let root = self.scope(scope).root;
                self.focus(within);
                let entry = self.lookup(root, name, span)?;
                self.focus(within);
                self.value(entry, span)
            }
            Kind::Parameter(number) => {
                self.because_written(span, Role::Link);
                self.focus(within);
                self.argument(scope, number as usize, span, home)
            }
            Kind::Select(..) => self.selection(id, scope, home, within),
            Kind::Negate(operand) => {
                self.because_written(span, Role::Operation);
                let datum = self.evaluate(operand, scope, home)?;
                let cell = self.as_scalar(datum, operand, "-")?;
                let negated = operators::negate(cell, &mut self.unit);
                self.computed(negated, span, datum.secret)
            }
            Kind::Not(operand) => {
                self.because_written(span, Role::Operation);
                let datum = self.evaluate(operand, scope, home)?;
                let bool = self.as_bool(datum, operand, "!")?;
                Ok(Datum::scalar(Cell::bool(!bool)).marked(datum.secret))
            }
            Kind::Binary(..) => self.binary(id, scope, home),
            Kind::If(condition, then, otherwise) => {
                let chosen = match (self.condition(condition, scope, home)?, otherwise) {
                    (true, _) => then,
                    (false, Some(otherwise)) => otherwise.expression(),
                    (false, None) => return Ok(Datum::UNDEFINED),
                };
                self.focus(within);
                self.evaluate(chosen, scope, home)
            }
            Kind::Import(argument, _) => {
                // What a computed name matters to a name in the file is said where that is looked for.
                let is_told = within.is_some() && !self.is_literal(argument);
                if is_told {
                    self.because_written(span, Role::Import);
                }
                let block = self.noted_if(!is_told, |evaluator| {
                    evaluator.import_value(id, scope, home)
                })?;
                Ok(form(Form::Block(block)))
            }
            Kind::Call(name, arguments) => self.call(id, name, arguments, scope, home),
            Kind::Macro(id, arguments) => {
                let arguments = self.tree.list(arguments).to_vec();
                let (value, scope) = self.call_macro(id, arguments, scope, span)?;
                self.focus(within);
                self.evaluate(value, scope, home)
            }
            Kind::Chain(links) => self.chain(links, scope, home, None),
        }
    }

    pub(crate) fn is_literal(&self, id: ExpressionId) -> bool {
        matches!(self.tree.expression(id).kind, Kind::Literal(_))
    }

    /// Enters a macro, unless that was done too often: a few lines can call each other more often than
    /// anybody can wait.
    pub(crate) fn call_macro(
        &mut self,
        id: MacroId,
        arguments: Vec<ExpressionId>,
        scope: ScopeId,
        span: Span,
    ) -> Evaluated<(ExpressionId, ScopeId)> {
        if self.spent == u64::MAX {
            return Err(Stop);
        }
        self.spent = self.spent.saturating_add(STEPS_OF_CALL);
        let most = self.unit.limits.steps;
        if self.spent > most {
            if !self.quiet {
                self.spent = u64::MAX;
            }
            let message = format!("the configuration takes more than {most} steps");
            let diagnostic = Diagnostic::error(TOO_MANY_STEPS, message).at(span);
            return self.stop(diagnostic.help("allow more with `--max-steps`"));
        }
        Ok(self.enter(id, arguments, scope))
    }

    /// The body of a macro, and the scope in which it is evaluated.
    pub(crate) fn enter(
        &mut self,
        id: MacroId,
        arguments: Vec<ExpressionId>,
        scope: ScopeId,
    ) -> (ExpressionId, ScopeId) {
        let states = vec![State::Fresh; arguments.len()];
        self.frames.push(Frame {
            arguments,
            scope,
            states,
        });
        let frame = FrameId(self.frames.len() as u32 - 1);
        let inner = Scope {
            frame: Some(frame),
            ..self.scope(scope)
        };
        let inner = self.new_scope(inner);
        (self.tree.macro_(id).value, inner)
    }

    /// The argument that a parameter stands for.
    pub(crate) fn argument_of(&self, scope: ScopeId, number: usize) -> (ExpressionId, ScopeId) {
        let frame = self.scope(scope).frame.expect("a parameter is in a macro");
        let frame = &self.frames[frame.0 as usize];
        (frame.arguments[number], frame.scope)
    }

    fn argument(&mut self, scope: ScopeId, number: usize, span: Span, home: Home) -> Evaluated {
        let id = self.scope(scope).frame.expect("a parameter is in a macro");
        if self.reasons.is_some() {
            let within = self.take_focus();
            let node = Node::Argument(scope, number, home, within);
            return self.because(node, |evaluator| {
                evaluator.argument(scope, number, span, home)
            });
        }
        let frame = id.0 as usize;
        match self.frames[frame].states[number] {
            State::Done(datum) => Ok(datum),
            State::Failed => Err(Stop),
            State::Running => self.cycle(Running::Argument(id, number), span),
            State::Fresh => {
                self.frames[frame].states[number] = State::Running;
                let (argument, outer) = self.argument_of(scope, number);
                let running = Running::Argument(id, number);
                let computed = self.within(running, span, |evaluator| {
                    evaluator.evaluate(argument, outer, home)
                });
                if let State::Done(datum) = self.frames[frame].states[number] {
                    return Ok(datum);
                }
                self.frames[frame].states[number] = state(computed);
                computed
            }
        }
    }

    /// The entries of a block that is built.
    pub(crate) fn slots_of(&self, block: BlockId) -> &[EntryId] {
        let (start, end) = self.block(block).slots;
        &self.slots[start as usize..end as usize]
    }

    /// An element of a list.
    pub(crate) fn element(&mut self, list: ListId, index: usize, asked: Span) -> Evaluated {
        if self.reasons.is_some() {
            return self.because(Node::Element(list, index), |evaluator| {
                evaluator.element(list, index, asked)
            });
        }
        let List {
            elements,
            home,
            states,
            ..
        } = &self.lists[list.0 as usize];
        let (elements, home) = (*elements, *home);
        match states[index] {
            State::Done(datum) => Ok(datum),
            State::Failed => Err(Stop),
            State::Running => self.cycle(Running::Element(list, index), asked),
            State::Fresh => {
                let Elements::Written(written, scope) = elements else {
                    unreachable!("what a function made is known");
                };
                self.lists[list.0 as usize].states[index] = State::Running;
                let element = self.tree.list(written)[index];
                let running = Running::Element(list, index);
                let computed = self.within(running, asked, |evaluator| {
                    evaluator.evaluate(element, scope, home)
                });
                if let State::Done(datum) = self.lists[list.0 as usize].states[index] {
                    return Ok(datum);
                }
                self.lists[list.0 as usize].states[index] = state(computed);
                computed
            }
        }
    }

    /// `a + b + c`: a long chain is computed from the left without going deeper.
    fn binary(&mut self, id: ExpressionId, scope: ScopeId, home: Home) -> Evaluated {
        let mut rest = Vec::new();
        let mut first = id;
        while let Kind::Binary(operator, left, right) = self.tree.expression(first).kind {
            rest.push((first, operator, left, right));
            first = left;
        }
        let before = self.noted();
        let mut left = self.evaluate(first, scope, home)?;
        let mut rest = rest.into_iter().rev().peekable();
        // What `a ++ b ++ c` has joined so far; it becomes a value where the row ends.
        let mut joined: Option<String> = None;
        while let Some((whole, operator, operand, right)) = rest.next() {
            let span = self.span(whole);
            self.because_written(span, Role::Operation);
            if operator == Operator::Concatenate {
                let mut text = match joined.take() {
                    Some(text) => text,
                    None => {
                        let one = self.as_scalar(left, operand, operator.text())?;
                        operators::text(one, &self.unit)
                    }
                };
                let other = self.evaluate(right, scope, home)?;
                let cell = self.as_scalar(other, right, operator.text())?;
                let more = self.weight(cell);
                self.room_for(text.len() as u64 + more, span)?;
                self.compute_from(more, span)?;
                text.push_str(&operators::text(cell, &self.unit));
                let secret = left.secret || other.secret;
                match rest.peek() {
                    Some((_, Operator::Concatenate, ..)) => {
                        left = left.marked(secret);
                        joined = Some(text);
                    }
                    _ => {
                        left = self.made_text(&text, span)?.marked(secret);
                    }
                }
                continue;
            }
            if operators::is_logical(operator) {
                let bool = self.as_bool(left, operand, operator.text())?;
                // The right side counts only if the left one does not decide.
                if bool == operators::decides(operator) {
                    left = Datum::scalar(Cell::bool(bool)).marked(left.secret);
                } else {
                    let noted = self.noted();
                    let other = self.evaluate(right, scope, home)?;
                    let bool = self.as_bool(other, right, operator.text())?;
                    // If the right one decides, the left one does not matter.
                    if bool == operators::decides(operator) {
                        self.forget(before..noted);
                        self.because_written(span, Role::Operation);
                    }
                    left = Datum::scalar(Cell::bool(bool)).marked(left.secret || other.secret);
                }
                continue;
            }
            let one = self.as_scalar(left, operand, operator.text())?;
            let right_datum = self.evaluate(right, scope, home)?;
            let other = self.as_scalar(right_datum, right, operator.text())?;
            let secret = left.secret || right_datum.secret;
            self.compute_from(self.weight(one) + self.weight(other), span)?;
            let result = operators::binary(operator, one, other, &mut self.unit);
            left = self.computed(result, span, secret)?;
        }
        Ok(left)
    }

    /// About how many bytes a scalar has.
    pub(crate) fn weight(&self, cell: Cell) -> u64 {
        cell.weight(&self.unit.literals)
    }

    /// A value is to be computed from so many bytes.
    pub(crate) fn compute_from(&mut self, bytes: u64, span: Span) -> Evaluated<()> {
        let affordable = self.unit.compute_from(bytes);
        affordable.or_else(|message| self.too_large(message, span))
    }

    /// A value of so many bytes is to be made.
    pub(crate) fn room_for(&mut self, bytes: u64, span: Span) -> Evaluated<()> {
        let room = self.unit.room_for(bytes);
        room.or_else(|message| self.too_large(message, span))
    }

    /// A text that was computed.
    pub(crate) fn made_text(&mut self, text: &str, span: Span) -> Evaluated {
        match self.unit.made_text(text) {
            Ok(cell) => Ok(Datum::scalar(cell)),
            Err(message) => self.too_large(message, span),
        }
    }

    fn too_large<T>(&mut self, message: String, span: Span) -> Evaluated<T> {
        self.stop(Diagnostic::error(TOO_LARGE_VALUE, message).at(span))
    }

    fn computed(
        &mut self,
        result: Result<Cell, operators::Trouble>,
        span: Span,
        secret: bool,
    ) -> Evaluated {
        match result {
            Ok(cell) => Ok(Datum::scalar(cell).marked(secret)),
            Err(trouble) => {
                let mut diagnostic = Diagnostic::error(trouble.code, trouble.message).at(span);
                if let Some(help) = trouble.help {
                    diagnostic = diagnostic.help(help);
                }
                self.stop(diagnostic)
            }
        }
    }

    /// A value that must be a scalar.
    pub(crate) fn as_scalar(
        &mut self,
        datum: Datum,
        id: ExpressionId,
        by: &str,
    ) -> Evaluated<Cell> {
        if let Form::Scalar(cell) = datum.form {
            return Ok(cell);
        }
        let span = self.span(id);
        if datum.is_undefined() {
            let message = format!("`{by}` needs a value, and this is undefined");
            return self.stop(Diagnostic::error(UNDEFINED, message).at(span));
        }
        let type_ = self.type_name(datum);
        let message = format!("`{by}` cannot be applied to {type_}");
        self.stop(Diagnostic::error(TYPE, message).at(span))
    }

    fn as_bool(&mut self, datum: Datum, id: ExpressionId, by: &str) -> Evaluated<bool> {
        let cell = self.as_scalar(datum, id, by)?;
        if let Content::Bool(bool) = cell.content(&self.unit.literals) {
            return Ok(bool);
        }
        let type_ = self.type_name(datum);
        let span = self.span(id);
        let diagnostic = Diagnostic::error(
            TYPE,
            format!("`{by}` needs true or false, and this is {type_}"),
        );
        let text = operators::text(cell, &self.unit);
        let help = match text.as_str() {
            "true" | "false" if !datum.secret => "without quotes it would be a boolean",
            _ => "compare it with something: `$x == yes`",
        };
        self.stop(diagnostic.at(span).help(help))
    }

    /// Whether a condition holds.
    pub(crate) fn condition(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated<bool> {
        let datum = self.deciding(|evaluator| evaluator.evaluate(id, scope, home))?;
        self.as_bool(datum, id, "if")
    }

    /// The type of a value, as in *a number*.
    pub(crate) fn type_name(&self, datum: Datum) -> &'static str {
        match self.type_of(datum) {
            "undef" => "undefined",
            "block" => "a block",
            "list" => "a list",
            "bool" => "a boolean",
            "number" => "a number",
            _ => "text",
        }
    }

    pub(crate) fn new_block(&mut self, parts: Parts, ranking: Ranking, home: Home) -> BlockId {
        self.blocks.push(Block {
            parts,
            ranking,
            home,
            owns_order: false,
            stage: Stage::Unbuilt,
            names: Names::Computed,
            slots: (0, 0),
            index: None,
            extent: Extent::Unknown,
            shows_all: false,
        });
        BlockId(self.blocks.len() as u32 - 1)
    }

    pub(crate) fn new_list(&mut self, list: List) -> Datum {
        self.lists.push(list);
        form(Form::List(ListId(self.lists.len() as u32 - 1)))
    }

    pub(crate) fn new_scope(&mut self, scope: Scope) -> ScopeId {
        self.scopes.push(scope);
        ScopeId(self.scopes.len() as u32 - 1)
    }

    pub(crate) fn new_order(&mut self, outer: Option<OrderId>) -> OrderId {
        self.orders.push(Order {
            outer,
            ..Order::default()
        });
        OrderId(self.orders.len() as u32 - 1)
    }

    /// Where the value of an entry belongs.
    pub(crate) fn home_of(&self, entry: EntryId) -> Home {
        let block = self.entry(entry).block;
        Home {
            order: self.block(block).home.order,
            entry: Some(entry),
        }
    }

    /// Writes down a step of the evaluation.
    fn note(&mut self, entry: EntryId, computed: Evaluated) {
        let level = "  ".repeat(self.running.len());
        let shown = match computed {
            Ok(datum) => self.shown(datum),
            Err(Stop) => "failed".to_owned(),
        };
        let (highest, _) = self.split(
            self.candidates(&self.says(entry)),
            self.home_of(entry).order,
        );
        let place = highest.first().map_or(self.place(entry), |one| one.span);
        let place = self.unit.sources.location(place.start);
        let path = self.path(entry);
        self.steps
            .push(format!("{level}{path} => {shown}   {place}"));
    }

    /// A value in a few words: blocks and lists are not computed for it, and secrets are not shown.
    pub(crate) fn shown(&self, datum: Datum) -> String {
        if datum.secret {
            return "‹secret›".to_owned();
        }
        match datum.form {
            Form::Undefined => "?".to_owned(),
            Form::Scalar(cell) => crate::printer::scalar(cell, &self.unit),
            Form::Literals(cell) => crate::printer::list(cell, &self.unit),
            Form::List(list) => {
                let count = self.lists[list.0 as usize].states.len();
                format!("[ {count} elements ]")
            }
            Form::Block(_) => "{ … }".to_owned(),
        }
    }

    /// Whether a secret flowed into a value, or into what is in it as far as it is known.
    pub(crate) fn has_secret(&self, datum: Datum) -> bool {
        let mut pending = vec![datum];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut seen_lists = rustc_hash::FxHashSet::default();
        while let Some(datum) = pending.pop() {
            if datum.secret {
                return true;
            }
            let state = |state: State| match state {
                State::Done(datum) => Some(datum),
                _ => None,
            };
            match datum.form {
                Form::Block(block) if seen.insert(block) => {
                    let slots = self.slots_of(block).iter();
                    pending.extend(slots.filter_map(|&entry| state(self.entry(entry).state)));
                }
                Form::List(list) if seen_lists.insert(list) => {
                    let states = self.lists[list.0 as usize].states.iter();
                    pending.extend(states.filter_map(|&one| state(one)));
                }
                _ => {}
            }
        }
        false
    }
}

/// A value that is written out.
fn literal(kind: Kind) -> Option<Datum> {
    match kind {
        Kind::Literal(cell) => Some(literal_datum(cell)),
        Kind::Secret(cell) => Some(Datum::scalar(cell).marked(true)),
        Kind::Undefined => Some(Datum::UNDEFINED),
        _ => None,
    }
}

/// A literal as a value.
pub(crate) fn literal_datum(cell: Cell) -> Datum {
    match cell.is_scalar() {
        true => Datum::scalar(cell),
        false => form(Form::Literals(cell)),
    }
}

pub(crate) fn form(form: Form) -> Datum {
    Datum {
        form,
        secret: false,
    }
}

fn state(computed: Evaluated) -> State {
    match computed {
        Ok(datum) => State::Done(datum),
        Err(Stop) => State::Failed,
    }
}
