//! Evaluates manifests: expressions to values, statements to resources.
//!
//! variables      who sees what (A.3.2.1, A.3.4.3)
//! operators      `+`, `==`, `=~`, `in` … (A.3.2.2 to A.3.2.4)
//! access         `a[b]` (A.3.2.8)
//! conditionals   `if`, `unless`, `case`, selectors (A.3.2.7, A.3.4.4 to A.3.4.6)
//! calls          functions and lambdas
//! classes        `include`, parameters, inheritance, defined types, nodes (A.3.4.8 to A.3.5.5)
//! declarations   resources, defaults, overrides (A.3.3, A.3.4.7)
//! collectors     virtual resources and who realises them
//! relationships  `->` and `~>`
//!
//! Each rule of the thesis is one function, with the rule's name beside it. The rules are small-step, the
//! functions big-step: a rule that only evaluates a part (`…Step`) is the recursive call.

mod access;
mod calls;
mod classes;
mod collectors;
mod conditionals;
mod declarations;
mod iterators;
mod moments;
mod operators;
mod relationships;
mod variables;

use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Span;
use hence_model::unit::{TOO_DEEP, TOO_LARGE_VALUE};
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use calls::counted;
pub use calls::{ARGUMENTS, Invocation};
pub use classes::{Known, NO_NODE};
pub(crate) use collectors::{Collector, CollectorId};
pub(crate) use declarations::{TAG, VIRTUAL_CLASS, flatten};
pub(crate) use iterators::could_take;
pub(crate) use operators::merged;
pub(crate) use relationships::{Relationship, Side, read_reference};

use crate::compile::{Node, Options};
use crate::leaving::Leaving;
use crate::resource::Resource;
use crate::scope::{Frame, Scope, ScopeId, Suspended};
use crate::site::Site;
use crate::syntax::{Block, Definition, Expression, Kind};
use crate::trace::{self, Cause, ControlId, Origin, ResourceId, Trace};
use crate::types::{self, Type};
use crate::value::{Datum, Hash, Value};

/// A type that nobody defines.
pub const UNKNOWN_TYPE: Code = Code::new("puppet.unknown-type");
/// Evaluation takes more steps than allowed.
pub const TOO_MANY_STEPS: Code = Code::new("limit.steps");
/// A word that is kept for later.
pub const RESERVED_WORD: Code = Code::new("puppet.reserved-word");

/// A heredoc is not in the syntax that it says.
pub const HEREDOC_SYNTAX: Code = Code::new("puppet.heredoc-syntax");

/// Texts have at most so many bytes.
pub const LONGEST_TEXT: usize = 64 << 20;
/// Arrays and hashes have at most so many elements, at all levels.
pub const MOST_ELEMENTS: usize = 10_000_000;
/// Of so many elements, or so many times 64 bytes, a value is large.
const LARGE: usize = 64;
/// Values nest at most so deep.
pub const DEEPEST_VALUE: u32 = 1_000;

/// How much room a catalog takes; those of other nodes of the site take about as much.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    trace: trace::Room,
    scopes: usize,
    resources: usize,
    edges: usize,
}

/// The resources of a type.
#[derive(Debug, Default)]
struct OfType {
    /// In the order in which they were declared.
    all: Vec<ResourceId>,
    /// By their titles, and other names that they have.
    named: FxHashMap<EcoString, ResourceId>,
    /// By the attributes that name them together, if the type has such.
    together: FxHashMap<Vec<Option<EcoString>>, ResourceId>,
}

/// Why evaluation does not simply go on.
#[derive(Debug)]
pub enum Stop {
    /// There is no catalog.
    Failed(Diagnostic),
    /// `next(…)`
    Next(Value, Span),
    /// `return(…)`
    Return(Value, Span),
    /// `break()`
    Break(Span),
}

/// What evaluating comes to.
pub type Outcome<T = Value> = Result<T, Box<Stop>>;

/// Evaluates the manifests of a site for one node.
pub struct Evaluator<'t> {
    pub(crate) site: &'t Site<'t>,
    pub(crate) node: &'t Node,
    pub(crate) options: &'t Options,
    /// Where everything came from.
    pub trace: Trace<'t>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) frames: Vec<Frame>,
    /// Scopes whose code waits for that which runs, and has frames: the innermost is the last.
    pub(crate) suspended: Vec<Suspended>,
    /// The first frame that belongs to the code that runs.
    base: usize,
    /// The scope in which code runs.
    pub(crate) scope: ScopeId,
    /// The conditions under which code runs.
    pub(crate) control: ControlId,
    /// How often something became a condition of all that follows.
    lasting: u32,
    /// How code could be left, by its address.
    leaving: FxHashMap<usize, Leaving>,
    /// All resources, in the order in which they were declared.
    pub resources: Vec<Resource<'t>>,
    /// Resources by type, in lower case.
    table: FxHashMap<EcoString, OfType>,
    /// Who contains whom.
    pub edges: Vec<(ResourceId, ResourceId)>,
    /// The classes and nodes that were evaluated, in order.
    pub classes: Vec<EcoString>,
    class_scopes: FxHashMap<EcoString, ScopeId>,
    known: FxHashMap<EcoString, Known<'t>>,
    functions: FxHashMap<EcoString, Option<Known<'t>>>,
    aliases: FxHashMap<EcoString, Option<Arc<Type>>>,
    /// Where the types come from that aliases stand for.
    alias_origins: FxHashMap<EcoString, Origin>,
    /// The files whose definitions are known, in order,
    pub(crate) loaded: Vec<&'t crate::site::Loaded>,
    /// Where the texts of files stand that `file` has read: each is a literal.
    pub(crate) files_read: Vec<Span>,
    /// and their addresses.
    files: FxHashSet<usize>,
    alias_definitions: FxHashMap<EcoString, Known<'t>>,
    /// Types by the address of the expression that they are written as.
    declared_types: FxHashMap<usize, Arc<Type>>,
    /// The node definitions, in order.
    pub(crate) nodes: Vec<&'t Definition>,
    /// Names that no file defines.
    unknown: FxHashSet<EcoString>,
    /// Names of types as references write them.
    capitals: FxHashMap<EcoString, EcoString>,
    /// Whether any defaults were said.
    has_defaults: bool,
    /// Whether any iterators were made.
    pub(crate) has_iterators: bool,
    /// Classes with a collector that overrides; they may override everything.
    overriding: FxHashSet<EcoString>,
    /// Overrides of resources that are not declared yet.
    overrides: Vec<declarations::Waiting>,
    /// What overrides were said, of which resources.
    pub(crate) amendments: Vec<declarations::Amended>,
    pub(crate) collectors: Vec<Collector>,
    pub(crate) relationships: Vec<Relationship<'t>>,
    /// Resources of defined types before this one were evaluated,
    evaluated: usize,
    /// but for those that are virtual.
    virtual_defined: Vec<ResourceId>,
    /// What a template has rendered so far.
    pub(crate) rendered: Vec<Vec<Value>>,
    /// What was found out about data.
    pub(crate) lookups: crate::lookup::Lookups<'t>,
    /// Warnings so far.
    pub warnings: Vec<Diagnostic>,
    /// More of what is wrong, besides the first.
    pub(crate) further: Vec<Diagnostic>,
    /// What the manifests wrote to the log.
    pub log: Vec<(&'static str, String, Span)>,
    /// Room to put texts together.
    text: String,
    steps: u64,
    depth: u32,
}

impl<'t> Evaluator<'t> {
    pub(crate) fn new(site: &'t Site<'t>, node: &'t Node, options: &'t Options) -> Self {
        let room = site.room();
        Self {
            site,
            node,
            options,
            trace: Trace::new(options.recording, room.trace),
            scopes: Vec::with_capacity(room.scopes),
            frames: Vec::new(),
            suspended: Vec::new(),
            base: 0,
            scope: ScopeId::TOP,
            control: ControlId::NONE,
            lasting: 0,
            leaving: FxHashMap::default(),
            resources: Vec::with_capacity(room.resources),
            table: FxHashMap::default(),
            edges: Vec::with_capacity(room.edges),
            classes: Vec::new(),
            class_scopes: FxHashMap::default(),
            known: FxHashMap::default(),
            functions: FxHashMap::default(),
            aliases: FxHashMap::default(),
            alias_origins: FxHashMap::default(),
            loaded: Vec::new(),
            files_read: Vec::new(),
            files: FxHashSet::default(),
            alias_definitions: FxHashMap::default(),
            declared_types: FxHashMap::default(),
            nodes: Vec::new(),
            unknown: FxHashSet::default(),
            capitals: FxHashMap::default(),
            has_defaults: false,
            has_iterators: false,
            overriding: FxHashSet::default(),
            overrides: Vec::new(),
            amendments: Vec::new(),
            collectors: Vec::new(),
            relationships: Vec::new(),
            evaluated: 0,
            virtual_defined: Vec::new(),
            rendered: Vec::new(),
            lookups: Default::default(),
            warnings: Vec::new(),
            further: Vec::new(),
            log: Vec::new(),
            text: String::new(),
            steps: 0,
            depth: 0,
        }
    }

    /// How much room it took.
    pub(crate) fn room(&self) -> Room {
        Room {
            trace: self.trace.room(),
            scopes: self.scopes.len(),
            resources: self.resources.len(),
            edges: self.edges.len(),
        }
    }

    /// Evaluates statements; the value of the last is theirs.
    pub(crate) fn block(&mut self, block: &'t Block) -> Outcome {
        let Some((last, before)) = block.statements.split_last() else {
            return Ok(self.written(Datum::Undef, block.span));
        };
        before.iter().try_for_each(|one| self.statement(one))?;
        self.expression(last)
    }

    /// Evaluates statements whose value nobody wants; the real compiler has it as data all the same.
    pub(crate) fn run(&mut self, block: &'t Block) -> Outcome<()> {
        let Some((last, others)) = block.statements.split_last() else {
            return Ok(());
        };
        others.iter().try_for_each(|one| self.statement(one))?;
        match &last.kind {
            Kind::Resource(_) => self.statement(last),
            _ => without_iterators(&self.expression(last)?, last.span),
        }
    }

    /// Evaluates something for what it does.
    fn statement(&mut self, at: &'t Expression) -> Outcome<()> {
        match &at.kind {
            Kind::Resource(resource) => {
                self.step(at)?;
                self.declarations(resource, &mut |_| {})
            }
            _ => self.expression(at).map(drop),
        }
    }

    /// Counts the expressions that are evaluated; there is a limit.
    fn step(&mut self, at: &'t Expression) -> Outcome<()> {
        work::step();
        self.spend(1, at.span)
    }

    /// Counts so many steps at once.
    pub(super) fn spend(&mut self, steps: u64, span: Span) -> Outcome<()> {
        self.steps = self.steps.saturating_add(steps);
        let most = self.options.steps;
        if self.steps > most {
            let message = format!("the catalog of this node takes more than {most} steps");
            let trouble = Diagnostic::error(TOO_MANY_STEPS, message).at(span);
            return Err(failed(trouble.help("allow more with `--max-steps`")));
        }
        Ok(())
    }

    /// A value is made. A large one counts as many steps, as memory has an end, too.
    pub(crate) fn weigh(&mut self, datum: &Datum, span: Span) -> Outcome<()> {
        let (length, steps) = match datum {
            Datum::Text(text) => (text.len() / 64, text.len() / 8),
            Datum::Array(array) => (array.len(), 4 * array.len()),
            Datum::Hash(hash) => (hash.len(), 8 * hash.len()),
            _ => return Ok(()),
        };
        match length < LARGE {
            true => Ok(()),
            false => self.spend(steps as u64, span),
        }
    }

    /// Evaluates an expression.
    pub(crate) fn expression(&mut self, at: &'t Expression) -> Outcome {
        self.step(at)?;
        match &at.kind {
            Kind::Nothing | Kind::Undef => Ok(self.written(Datum::Undef, at.span)),
            Kind::Default => Ok(self.written(Datum::Default, at.span)),
            Kind::Bool(bool) => Ok(self.written(*bool, at.span)),
            Kind::Integer(integer) => Ok(self.written(*integer, at.span)),
            Kind::Float(float) => Ok(self.written(*float, at.span)),
            Kind::Text(text) | Kind::Name(text) => Ok(self.written(text.clone(), at.span)),
            Kind::Pattern(pattern) => Ok(self.written(Datum::Pattern(pattern.clone()), at.span)),
            Kind::Reference(name) => self.reference(name, at.span),
            Kind::Reserved(word) => {
                let message = format!("`{word}` is a reserved word");
                fail(RESERVED_WORD, message, at.span)
            }
            Kind::Variable(name) => self.variable(at, name),
            Kind::Heredoc(text, syntax) => {
                let value = self.nested(text)?;
                check_syntax(&value, syntax.as_deref(), at.span)?;
                Ok(value)
            }
            Kind::Parenthesised(inner) => self.nested(inner),
            Kind::Interpolated(pieces) => self.interpolated(at, pieces),
            Kind::Array(elements) => self.elements(at, elements),
            Kind::Hash(entries) => self.hash(at, entries),
            Kind::Not(operand) => {
                let operand = self.nested(operand)?;
                let holds = operand.datum.is_true();
                let origin = self.trace.operation(at, [operand]);
                Ok(Value::new(!holds, origin))
            }
            Kind::Minus(operand) => self.minus(at, operand),
            Kind::Splat(_) => self.elements(at, std::slice::from_ref(at)),
            Kind::Binary(operator, operands) => self.binary(at, *operator, operands),
            Kind::Assign(sides) => self.assignment(at, sides),
            Kind::Access(of, keys) => self.access(at, of, keys),
            Kind::Call(call) => self.call(at, call),
            Kind::If(conditional) => self.conditional(at, conditional),
            Kind::Case(case) => self.case(at, case),
            Kind::Selector(selector) => self.selector(at, selector),
            Kind::Resource(resource) => self.resource(at, resource),
            Kind::Defaults(defaults) => self.defaults(at, defaults),
            Kind::Override(amendment) => self.override_resources(at, amendment),
            Kind::Collector(collector) => self.collector(at, collector),
            Kind::Relationship(arrow, sides) => self.relationship(at, *arrow, sides),
            Kind::RenderText(text) => {
                let text = self.written(text.clone(), at.span);
                self.render(text);
                Ok(self.written(Datum::Undef, at.span))
            }
            Kind::Render(inner) => {
                let value = self.nested(inner)?;
                self.render(value);
                Ok(self.written(Datum::Undef, at.span))
            }
            Kind::Block(block) => self.block(block),
        }
    }

    /// Evaluates an expression inside another, as deep as they may nest.
    pub(crate) fn nested(&mut self, at: &'t Expression) -> Outcome {
        self.deeper(at.span, |evaluator| evaluator.expression(at))
    }

    /// Does something one level further in.
    pub(crate) fn deeper<T>(
        &mut self,
        span: Span,
        work: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        if self.depth >= self.options.depth {
            let message = format!("evaluation nests more than {} levels deep", self.depth);
            let trouble = Diagnostic::error(TOO_DEEP, message).at(span);
            return Err(self.with_chain(trouble));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Does something in which `$1` and the like come and go.
    pub(crate) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let level = self.frames.len();
        let result = work(self);
        self.frames.truncate(level);
        result
    }

    /// Does something under a further condition.
    pub(crate) fn under<T>(
        &mut self,
        cause: Cause<'t>,
        work: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        let (around, lasting) = (self.control, self.lasting);
        self.control = self.trace.under(around, cause);
        let result = work(self);
        if self.lasting == lasting {
            self.control = around;
        }
        result
    }

    /// Does something that can be left early: what follows runs in any case.
    pub(crate) fn leavable<T>(&mut self, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let (around, lasting) = (self.control, self.lasting);
        let result = work(self);
        (self.control, self.lasting) = (around, lasting);
        result
    }

    /// From here on, everything depends on the conditions under which this is done.
    pub(crate) fn last(&mut self) {
        self.lasting += 1;
    }

    /// How code could be left.
    fn leaving(&mut self, code: trace::Code<'t>) -> Leaving {
        let leaving = self.leaving.entry(code.address());
        *leaving.or_insert_with(|| Leaving::of(code))
    }

    /// A value that is written in its place.
    pub(crate) fn written(&self, datum: impl Into<Datum>, span: Span) -> Value {
        Value::new(datum, Origin::written(span.start))
    }

    /// `"… ${a} …"`
    fn interpolated(&mut self, at: &'t Expression, pieces: &'t [Expression]) -> Outcome {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let mut operands = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if let Kind::Text(piece) = &piece.kind {
                text.push_str(piece);
                continue;
            }
            let value = self.nested(piece)?;
            match &value.datum {
                Datum::Text(piece) => text.push_str(piece),
                other => text.push_str(&crate::text::text(other)),
            }
            if text.len() > LONGEST_TEXT {
                let message = format!("this text has more than {LONGEST_TEXT} bytes");
                return fail(TOO_LARGE_VALUE, message, at.span);
            }
            operands.push(value);
        }
        let origin = self.trace.interpolation(at, operands);
        let value = Value::new(text.as_str(), origin);
        self.text = text;
        self.weigh(&value.datum, at.span)?;
        Ok(value)
    }

    /// `[a, *b]`: how many elements there are depends on what is taken apart.
    fn elements(&mut self, at: &'t Expression, written: &'t [Expression]) -> Outcome {
        let mut values = Vec::with_capacity(written.len());
        let mut apart = Vec::new();
        for one in written {
            match &unwrapped(one).kind {
                Kind::Splat(operand) => {
                    let mut value = self.nested(operand)?;
                    values.extend(self.taken_apart(at, &mut value));
                    apart.push(value);
                }
                _ => values.push(self.nested(one)?),
            }
        }
        if apart.is_empty() {
            return self.array(values, at.span);
        }
        let origin = self.trace.operation(at, apart);
        let array = crate::value::Array::from(values);
        self.shallow(Value::new(array, origin), at.span)
    }

    /// An array of values; they must not nest too deep.
    pub(crate) fn array(&mut self, elements: Vec<Value>, span: Span) -> Outcome {
        let array = crate::value::Array::from(elements);
        self.shallow(Value::new(array, Origin::written(span.start)), span)
    }

    /// A value, if it does not nest too deep.
    pub(crate) fn shallow(&mut self, value: Value, span: Span) -> Outcome {
        self.weigh(&value.datum, span)?;
        if value.datum.size() > MOST_ELEMENTS as u64 {
            let message = format!("this value has more than {MOST_ELEMENTS} elements");
            return fail(TOO_LARGE_VALUE, message, span);
        }
        if value.datum.depth() > DEEPEST_VALUE {
            let message = format!("this value nests more than {DEEPEST_VALUE} levels deep");
            return fail(TOO_DEEP, message, span);
        }
        Ok(value)
    }

    fn hash(&mut self, at: &'t Expression, entries: &'t [(Expression, Expression)]) -> Outcome {
        let mut hash = Hash::default();
        for (key, value) in entries {
            let key = self.nested(key)?;
            let value = self.nested(value)?;
            hash = hash.with(key, value);
        }
        self.shallow(Value::new(hash, Origin::written(at.span.start)), at.span)
    }

    /// Elements or arguments, `*a` being as many as `a` has; and what was so taken apart.
    pub(crate) fn unfolded(
        &mut self,
        mut values: Vec<Value>,
        expressions: &'t [Expression],
    ) -> Outcome<(Vec<Value>, Vec<Origin>)> {
        values.reserve(expressions.len());
        let mut apart = Vec::new();
        for expression in expressions {
            match &unwrapped(expression).kind {
                Kind::Splat(operand) => {
                    let (elements, whole) = self.splat(operand)?;
                    values.extend(elements);
                    apart.push(whole);
                }
                _ => values.push(self.nested(expression)?),
            }
        }
        Ok((values, apart))
    }

    /// What `*operand` stands for, and where the whole comes from.
    pub(crate) fn splat(&mut self, operand: &'t Expression) -> Outcome<(Vec<Value>, Origin)> {
        let mut value = self.nested(operand)?;
        let elements = self.taken_apart(operand, &mut value);
        if !matches!(value.datum, Datum::Iterator(_)) {
            return Ok((elements, value.origin));
        }
        let given = elements.into_iter().map(|element| {
            let origin = self.trace.choice(operand, element.origin, [value.origin]);
            Value { origin, ..element }
        });
        Ok((given.collect(), value.origin))
    }

    /// A type, by its name.
    pub(crate) fn reference(&mut self, name: &EcoString, span: Span) -> Outcome {
        match self.named_type(name, span)? {
            Some(kind) => Ok(match self.alias_origins.get(name) {
                // What is written in the alias counts wherever it is named.
                Some(&value) => {
                    let (control, of) = (ControlId::NONE, None);
                    let origin = self.trace.add(trace::Node::Outcome { value, control, of });
                    Value::new(Datum::Type(kind), origin)
                }
                None => self.written(Datum::Type(kind), span),
            }),
            None => {
                let shown = crate::resource::capitalised(name);
                let message = format!("there is no type `{shown}`");
                let trouble = Diagnostic::error(UNKNOWN_TYPE, message).at(span);
                Err(failed(match similar(&shown, types::WRITTEN).first() {
                    Some(near) => trouble.help(format!("did you mean `{near}`?")),
                    None => self.suggest_type(trouble, name),
                }))
            }
        }
    }

    /// The type that a name stands for: of data, of resources, or an alias.
    pub(crate) fn named_type(
        &mut self,
        name: &EcoString,
        span: Span,
    ) -> Outcome<Option<Arc<Type>>> {
        if let Some(kind) = types::named(name) {
            return Ok(Some(Arc::new(kind)));
        }
        if let Some(alias) = self.alias(name, span)? {
            return Ok(Some(alias));
        }
        if self.is_resource_type(name)? {
            return Ok(Some(Arc::new(Type::Resource(Some(name.clone()), None))));
        }
        Ok(None)
    }

    /// A step of a template.
    fn render(&mut self, value: Value) {
        let value = self.outcome(value);
        if let Some(rendered) = self.rendered.last_mut() {
            rendered.push(value);
        }
    }

    /// A mistake with something that may be `undef`, and why it is.
    pub(crate) fn blaming(&self, trouble: Diagnostic, value: &Value) -> Box<Stop> {
        let absence = if value.is_undef() {
            self.absence(value.origin)
        } else {
            None
        };
        failed(match absence {
            Some((span, words)) => trouble.label(span, words),
            None => trouble,
        })
    }

    /// A warning, once for each place.
    pub(crate) fn warn(&mut self, warning: Diagnostic) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds to a diagnostic how evaluation came to the place: who included whom.
    pub(crate) fn with_chain(&self, mut trouble: Diagnostic) -> Box<Stop> {
        for (span, words) in self.chain(self.control).into_iter().take(8) {
            if !trouble.labels.iter().any(|label| label.span == span) {
                trouble = trouble.label(span, words);
            }
        }
        failed(trouble)
    }

    /// Where the classes and defined types around some code were declared, innermost first.
    pub(crate) fn chain(&self, mut control: ControlId) -> Vec<(Span, String)> {
        let mut chain = Vec::new();
        while control != ControlId::NONE {
            let trace::Control { around, cause } = self.trace.control(control);
            control = *around;
            if let Cause::Declared(id) = cause {
                let resource = &self.resources[id.index()];
                if let Some(span) = resource.span {
                    let reference = self.shown_reference(*id);
                    chain.push((span, format!("{reference} is declared here")));
                }
                control = resource.control;
            }
        }
        chain
    }
}

/// A heredoc that says it is JSON must be.
fn check_syntax(value: &Value, syntax: Option<&str>, span: Span) -> Outcome<()> {
    let Datum::Text(text) = &value.datum else {
        return Ok(());
    };
    if syntax != Some("json") {
        return Ok(());
    }
    match crate::functions::json::read_json(text, value.origin) {
        Ok(_) => Ok(()),
        Err(why) => fail(
            HEREDOC_SYNTAX,
            format!("this heredoc is no JSON: {why}"),
            span,
        ),
    }
}

/// An expression without the parentheses around it.
pub(crate) fn unwrapped(expression: &Expression) -> &Expression {
    let mut inner = expression;
    while let Kind::Parenthesised(within) = &inner.kind {
        inner = within;
    }
    inner
}

/// What gives its elements one by one is for functions that ask it for them: it is no data, nor is anything that
/// has one in it.
pub(crate) fn without_iterators(value: &Value, span: Span) -> Outcome<()> {
    if !matches!(
        value.datum,
        Datum::Iterator(_) | Datum::Array(_) | Datum::Hash(_)
    ) {
        return Ok(());
    }
    let mut pending = vec![&value.datum];
    while let Some(datum) = pending.pop() {
        match datum {
            Datum::Iterator(iteration) => {
                let kind = iteration.kind().generalise();
                let message = format!("expected data here, found {kind}");
                let trouble = Diagnostic::error(calls::TYPE_MISMATCH, message).at(span);
                let help = "with `*` in front of it, it becomes an array of its elements";
                return Err(failed(trouble.help(help)));
            }
            Datum::Array(array) => pending.extend(array.iter().map(|value| &value.datum)),
            Datum::Hash(hash) => {
                for (key, entry) in hash.iter() {
                    pending.extend([key, &entry.value.datum]);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The entries of a hash, each as an array of key and value.
pub(crate) fn pairs(hash: &Hash, origin: Origin) -> Vec<Value> {
    let pair = |(key, entry): (&Datum, &crate::value::Entry)| {
        let key = Value::new(key.clone(), entry.key);
        let pair = crate::value::Array::from(vec![key, entry.value.clone()]);
        Value::new(pair, origin)
    };
    hash.iter().map(pair).collect()
}

/// There is no catalog, because of this.
pub(crate) fn failed(diagnostic: Diagnostic) -> Box<Stop> {
    Box::new(Stop::Failed(diagnostic))
}

/// There is no catalog, because of this.
pub(crate) fn fail<T>(code: Code, message: impl Into<String>, span: Span) -> Outcome<T> {
    Err(failed(Diagnostic::error(code, message).at(span)))
}
