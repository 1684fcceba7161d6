//! Why a value is what it is: the way from what is written to its place, and what it beat.

mod conditions;
mod definitions;
mod expressions;
mod made;

use hence_model::cell::Item;
use hence_model::explanation::{
    BESIDES, Dependence, Explanation, Expression, Lost, NoSuchPath, Role, Shown, Step, StepKind,
};
use hence_model::path::{Path, Segment};
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use hence_model::value::{Builder, Value};

use crate::compile::{Compiled, on_stack};
use crate::datum::{BlockId, Datum, Elements, EntryId, Form, Home, ListId, ScopeId, State};
use crate::evaluate::{Evaluated, Evaluator, Stop, form, literal_datum};
use crate::reasons::Node;
use crate::syntax::ExpressionId;

/// How many steps an expression or a chain of references may have in one answer.
const STEPS: usize = 10_000;

/// What it costs of what may be shown to compute something that nobody needed before.
const PART: u64 = 16;

/// How far the operands of an operation are followed.
const DEEPEST: usize = 500;

impl Compiled<'_> {
    /// Why the value at a path is what it is.
    pub fn explain(&mut self, path: &Path) -> Result<Explanation, NoSuchPath> {
        let nothing = NoSuchPath {
            known: Path::default(),
            names: Vec::new(),
        };
        let root = self.root.ok_or(nothing)?;
        let limits = self.unit().limits;
        let was_quiet = std::mem::replace(&mut self.evaluator.quiet, true);
        self.evaluator.unit.work = 0;
        self.evaluator.spent = 0;
        let mut explainer = Explainer {
            evaluator: &mut self.evaluator,
            steps: Vec::new(),
            lost: Vec::new(),
            control: false,
            depth: 0,
            operations: 0,
            // A value is found by way of definitions and expressions, in turns.
            deepest: 2 * limits.depth as usize,
            shown: 0,
        };
        let explained = on_stack(limits, || explainer.explain(root, path));
        self.evaluator.quiet = was_quiet;
        explained
    }
}

/// A value that is being explained.
#[derive(Clone, Copy)]
enum Subject {
    Block(BlockId),
    Entry(EntryId),
    Element(ListId, usize),
    Item(Item),
}

struct Explainer<'e, 'w> {
    evaluator: &'e mut Evaluator<'w>,
    /// The way, from the place of the value inwards; turned around in the end.
    steps: Vec<Step>,
    lost: Vec<Lost>,
    /// Whether a condition is being explained.
    control: bool,
    depth: usize,
    /// How many operations are open whose operands are being explained.
    operations: usize,
    /// How deep it may go. What is only copied is followed to its literal, however far that is.
    deepest: usize,
    /// How much is shown besides the value that is asked about.
    shown: u64,
}

impl Explainer<'_, '_> {
    fn explain(&mut self, root: BlockId, path: &Path) -> Result<Explanation, NoSuchPath> {
        let mut taken = Path::default();
        let mut subject = Subject::Block(root);
        let mut nodes = Vec::new();
        for (number, segment) in path.0.iter().enumerate() {
            let datum = self.datum(subject);
            let is_last = number + 1 == path.0.len();
            let (found, segment) = match (segment, datum.form) {
                (Segment::Key(name), Form::Block(block)) => {
                    let found = self.entry_named(block, name);
                    if let Some(entry) = found {
                        let key = self.evaluator.entry(entry).name;
                        let next = path.0.get(number + 1);
                        let within = next.and_then(|next| self.symbol(entry, next));
                        nodes.push((Node::Presence(block, key, within), true));
                        nodes.push((Node::Entry(entry, within), !is_last));
                        self.way(block, entry);
                    }
                    (found.map(Subject::Entry), segment.clone())
                }
                (segment, _) => {
                    let index = match segment {
                        Segment::Index(index) => Some(*index),
                        Segment::Key(name) => name.parse().ok(),
                    };
                    let found = index.and_then(|index| self.element(datum, index));
                    if let Some(Subject::Element(list, index)) = found {
                        nodes.push((Node::Element(list, index), !is_last));
                    }
                    (found, index.map_or(segment.clone(), Segment::Index))
                }
            };
            let Some(found) = found else {
                let names = self.names(datum);
                return Err(NoSuchPath {
                    known: taken,
                    names,
                });
            };
            taken.0.push(segment);
            if let (Subject::Entry(entry), false) = (found, is_last) {
                self.around(entry, &taken.joined('.'));
            }
            subject = found;
        }
        let text = taken.joined('.');
        if let Form::Block(block) = self.datum(subject).form {
            nodes.push((Node::Names(block), true));
        }
        let mut depends = self.evaluator.dependences(nodes);
        let mut expression = self.subject(subject, &text);
        let asked = self.datum(subject);
        if self.evaluator.size(asked).is_some() {
            expression.value = self.seen(asked);
        }
        let value = expression.value.clone();
        let place = match expression.operator {
            None => Some(expression.span),
            Some(_) => None,
        };
        if let Subject::Item(item) = subject {
            let span = self.evaluator.item_span(item);
            let role = Role::Value;
            depends.insert(0, Dependence { span, role });
        }
        for dependence in &mut depends {
            if Some(dependence.span) == place && dependence.role == Role::Operand {
                dependence.role = Role::Value;
            }
        }
        self.steps.reverse();
        Ok(Explanation {
            path: taken,
            value,
            place,
            steps: std::mem::take(&mut self.steps),
            lost: std::mem::take(&mut self.lost),
            depends,
            expression,
        })
    }

    /// The name that a segment is, in an entry that is a block.
    fn symbol(&mut self, entry: EntryId, segment: &Segment) -> Option<Symbol> {
        let evaluator = &mut *self.evaluator;
        match (segment, evaluator.value(entry, Span::at(0)).ok()?.form) {
            (Segment::Key(name), Form::Block(_)) => {
                evaluator.unit.symbols.get(&evaluator.unit.sources, name)
            }
            _ => None,
        }
    }

    fn entry_named(&mut self, block: BlockId, name: &str) -> Option<EntryId> {
        let evaluator = &mut *self.evaluator;
        let symbol = evaluator.unit.symbols.get(&evaluator.unit.sources, name)?;
        let entry = evaluator.find(block, symbol, Span::at(0)).ok()??;
        let is_shown = evaluator.options.show_private || !evaluator.is_private(entry);
        // What is not in the output may still be asked about, if it was computed.
        let is_known = matches!(evaluator.entry(entry).state, State::Done(_));
        (is_shown || is_known).then_some(entry)
    }

    fn datum(&mut self, subject: Subject) -> Datum {
        let computed = match subject {
            Subject::Block(block) => Ok(form(Form::Block(block))),
            Subject::Entry(entry) => self.evaluator.value(entry, Span::at(0)),
            Subject::Element(list, index) => self.evaluator.element(list, index, Span::at(0)),
            Subject::Item(item) => Ok(literal_datum(item.cell)),
        };
        computed.unwrap_or(Datum::UNDEFINED)
    }

    fn element(&self, datum: Datum, index: usize) -> Option<Subject> {
        match datum.form {
            Form::List(list) => {
                let count = self.evaluator.lists[list.0 as usize].states.len();
                (index < count).then_some(Subject::Element(list, index))
            }
            Form::Literals(cell) => {
                let items = self.evaluator.unit.literals.elements(cell);
                items.get(index).map(|item| Subject::Item(*item))
            }
            _ => None,
        }
    }

    fn names(&mut self, datum: Datum) -> Vec<String> {
        match datum.form {
            Form::Block(block) => {
                let visible = self.evaluator.visible(block).into_iter();
                let name = |entry| {
                    let name = self.evaluator.entry(entry).name;
                    self.evaluator.name(name).to_owned()
                };
                visible.map(name).collect()
            }
            Form::List(list) => {
                let count = self.evaluator.lists[list.0 as usize].states.len();
                (0..count).map(|index| format!("[{index}]")).collect()
            }
            Form::Literals(cell) => {
                let count = self.evaluator.unit.literals.elements(cell).len();
                (0..count).map(|index| format!("[{index}]")).collect()
            }
            _ => Vec::new(),
        }
    }

    fn step(&mut self, kind: StepKind, span: Span, path: &str) {
        // What an operation is made of comes before it, and must not hide it.
        if self.steps.len() < STEPS || matches!(kind, StepKind::Operation(_)) {
            self.steps.push(Step {
                kind,
                span,
                path: path.to_owned(),
                control: self.control,
            });
        }
    }

    /// A value beside the one that is asked about.
    fn shown(&mut self, datum: Datum) -> Shown {
        match self.compute(datum) {
            Err(Stop) if !self.evaluator.has_secret(datum) => Shown::TooLarge,
            _ => self.seen(datum),
        }
    }

    /// A value of which all is computed.
    fn seen(&self, datum: Datum) -> Shown {
        if self.evaluator.has_secret(datum) {
            return Shown::Secret;
        }
        let mut builder = Builder::default();
        self.evaluator.send(datum, &mut builder);
        Shown::Value(builder.finish().unwrap_or(Value::Null))
    }

    /// Computes all of a value that is shown, unless that is too much: what nobody needs all of may have no end. What
    /// has no value is shown without one.
    fn compute(&mut self, datum: Datum) -> Evaluated<()> {
        let size = self.evaluator.size(datum);
        self.shown = self.shown.saturating_add(size.unwrap_or(PART));
        if self.shown > BESIDES || self.depth >= self.deepest {
            return Err(Stop);
        }
        if size.is_none() {
            self.depth += 1;
            let computed = self.compute_parts(datum);
            self.depth -= 1;
            computed?;
        }
        Ok(())
    }

    fn compute_parts(&mut self, datum: Datum) -> Evaluated<()> {
        // Nobody hears what is wrong with them.
        let place = Span::at(0);
        match datum.form {
            Form::Undefined | Form::Scalar(_) | Form::Literals(_) => {}
            Form::List(list) => {
                for index in 0..self.evaluator.lists[list.0 as usize].states.len() {
                    if let Ok(element) = self.evaluator.element(list, index, place) {
                        self.compute(element)?;
                    }
                }
            }
            Form::Block(block) => {
                if self.evaluator.build(block, place).is_ok() {
                    for entry in self.evaluator.visible(block) {
                        if let Ok(datum) = self.evaluator.value(entry, place) {
                            self.compute(datum)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn leaf(&mut self, datum: Datum, span: Span) -> Expression {
        Expression {
            operator: None,
            value: self.shown(datum),
            span,
            operands: Vec::new(),
        }
    }

    fn subject(&mut self, subject: Subject, path: &str) -> Expression {
        match subject {
            Subject::Block(block) => {
                let span = Span::at(0);
                self.leaf(form(Form::Block(block)), span)
            }
            Subject::Entry(entry) => self.entry(entry, path, true),
            Subject::Item(item) => {
                let span = self.evaluator.item_span(item);
                self.step(StepKind::Written, span, path);
                self.leaf(literal_datum(item.cell), span)
            }
            Subject::Element(list, index) => {
                let elements = self.evaluator.lists[list.0 as usize].elements;
                let home = self.evaluator.lists[list.0 as usize].home;
                match elements {
                    Elements::Written(written, scope) => {
                        let id = self.evaluator.tree.list(written)[index];
                        self.expression(id, scope, home, path)
                    }
                    Elements::Made(call) => {
                        let datum = self.datum(subject);
                        self.made(call, subject, datum, path)
                    }
                }
            }
        }
    }

    /// Whether one answer has enough.
    fn is_spent(&self) -> bool {
        self.depth >= self.deepest || self.operations > 0 && self.steps.len() >= STEPS
    }

    /// How an operand or a condition came to its value.
    fn operand(&mut self, id: ExpressionId, scope: ScopeId, home: Home) -> Expression {
        self.in_operation(|explainer| explainer.expression(id, scope, home, ""))
    }

    /// Explains something that an operation is made of.
    fn in_operation(&mut self, explain: impl FnOnce(&mut Self) -> Expression) -> Expression {
        let deepest = self.deepest;
        if self.operations == 0 {
            self.deepest = deepest.min(self.depth + DEEPEST);
        }
        self.operations += 1;
        let explained = explain(self);
        self.operations -= 1;
        self.deepest = deepest;
        explained
    }
}
