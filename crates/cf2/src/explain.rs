//! Why a value is what it is: the way from what is written to its place, and what it beat.

use std::borrow::Cow;

use hence_model::cell::{Content, Item};
use hence_model::explanation::{
    BESIDES, Dependence, Explanation, Expression, Lost, NoSuchPath, Role, Rule, SELECTION, Shown,
    Step, StepKind,
};
use hence_model::path::{Path, Segment};
use hence_model::source::{FileId, Span};
use hence_model::symbol::Symbol;
use hence_model::value::{Builder, Value};

use crate::compile::{Compiled, on_stack};
use crate::datum::{
    BlockId, Contribution, Datum, Elements, EntryId, FileKey, Form, Home, ListId, Part, ScopeId,
    Source, State,
};
use crate::evaluate::{Evaluated, Evaluator, Stop, form, literal_datum};
use crate::lexer::{Keyword, Lexer, Token};
use crate::mutate::{Candidate, Ruling, What};
use crate::reasons::Node;
use crate::references::Selected;
use crate::syntax::{self, BodyId, ExpressionId, Kind, Mutation, Statement};

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

    /// The scalars that are written in a stretch, in order; the names of imported files are none.
    pub fn literals(&self, stretch: Span) -> Vec<Span> {
        let sources = &self.unit().sources;
        let inside = |span: &Span| {
            stretch.start <= span.start
                && span.end <= stretch.end
                && !sources.slice(*span).starts_with('[')
        };
        let mut literals = self.evaluator.tree.literals();
        literals.retain(inside);
        literals.sort();
        literals.dedup();
        literals
    }

    /// The stretch that is meant by a line, or by a column of it: a name stands for its definition, what begins an
    /// import, a conditional or a call for all of that, and what holds others together for all that it does.
    pub fn meant(&self, file: FileId, line: u32, column: Option<u32>) -> Option<Span> {
        match column {
            None => self.unit().sources.line(file, line),
            Some(column) => Some(self.standing(file, line, column)?.0),
        }
    }

    /// Whether what stands at a column only holds others together: an operator, a bracket, the name of a mutation.
    pub fn is_joint(&self, file: FileId, line: u32, column: u32) -> bool {
        let standing = self.standing(file, line, column);
        standing.is_some_and(|(_, standing)| standing == Standing::Joint)
    }

    fn standing(&self, file: FileId, line: u32, column: u32) -> Option<(Span, Standing)> {
        let sources = &self.unit().sources;
        let whole = sources.line(file, line)?;
        let offset = sources.offset(file, line, column)?;
        let tree = &self.evaluator.tree;
        for definition in tree.definitions() {
            let name = self.evaluator.name_span(definition);
            if name.contains(offset) {
                let defined = name.to(tree.expression(definition.value).span);
                return Some((defined, Standing::Named));
            }
        }
        let mut lexer = Lexer::new(Span::new(whole.start, sources.span(file).end));
        loop {
            let lexeme = lexer.next(sources.text());
            match lexeme.token {
                Token::End => return None,
                _ if lexeme.span.start > offset => return None,
                Token::Comma | Token::Invalid => {}
                Token::Dollar => {
                    let name = lexer.next(sources.text());
                    let reference = lexeme.span.to(name.span);
                    if reference.contains(offset) {
                        return Some((reference, Standing::Named));
                    }
                }
                _ if lexeme.span.contains(offset) => {
                    if let Some(begun) = tree.begun_at(lexeme.span.start) {
                        return Some((begun, Standing::Named));
                    }
                    if self.is_value(lexeme.token, offset) {
                        return Some((lexeme.span, Standing::Named));
                    }
                    let around = match lexeme.token {
                        Token::Keyword(Keyword::Private | Keyword::Def) => self.behind(offset),
                        _ => self.around(offset),
                    };
                    let around = around.unwrap_or(lexeme.span);
                    return Some((around, Standing::Joint));
                }
                _ => {}
            }
        }
    }

    /// Whether a token is a value by itself, or begins one.
    fn is_value(&self, token: Token, offset: u32) -> bool {
        match token {
            Token::Number | Token::Text { .. } | Token::Undefined => true,
            Token::Keyword(Keyword::True | Keyword::False) => true,
            Token::Word | Token::OpenBracket => {
                let innermost = self.evaluator.tree.innermost(offset);
                innermost.is_some_and(|it| matches!(it.kind, Kind::Literal(_) | Kind::Secret(_)))
            }
            _ => false,
        }
    }

    /// The smallest operation, definition or macro around an offset.
    fn around(&self, offset: u32) -> Option<Span> {
        let expression = self.evaluator.tree.innermost(offset);
        let around = self.defined().chain(expression.map(|one| one.span));
        around
            .filter(|span| span.contains(offset))
            .min_by_key(|span| span.end - span.start)
    }

    /// The first definition or macro behind an offset.
    fn behind(&self, offset: u32) -> Option<Span> {
        let behind = self.defined().filter(|span| span.start > offset);
        behind.min_by_key(|span| span.start)
    }

    /// All definitions and macros, from the name to the end of the value.
    fn defined(&self) -> impl Iterator<Item = Span> {
        let tree = &self.evaluator.tree;
        let to_value = |name: Span, value| name.to(tree.expression(value).span);
        let definitions = tree.definitions();
        let definitions =
            definitions.map(move |one| to_value(self.evaluator.name_span(one), one.value));
        let macros = tree.macros().map(|id| tree.macro_(id));
        definitions.chain(macros.map(move |one| to_value(one.span, one.value)))
    }
}

/// What stands in a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// A value, or what names or begins one.
    Named,
    /// What holds values together.
    Joint,
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

    /// A block around the value, and what it was merged from.
    fn around(&mut self, entry: EntryId, path: &str) {
        let says = self.evaluator.says(entry);
        let home = self.evaluator.home_of(entry);
        let mut span = self.evaluator.place(entry);
        if says.len() > 1 {
            let candidates = self.evaluator.candidates(&says);
            match self.evaluator.rule(candidates, home) {
                Ok(Ruling::Merged { by, .. }) => return self.merged(&by, path),
                Ok(ruling) => {
                    if let Ruling::Assigned { by, .. } = &ruling {
                        span = by[0].span;
                    }
                    self.lose(&ruling);
                }
                Err(Stop) => {}
            }
        }
        self.step(StepKind::Block, span, path);
    }

    /// What a block was merged from, the highest last.
    fn merged(&mut self, by: &[Candidate], path: &str) {
        for candidate in by.iter().rev() {
            let kind = match candidate.operator {
                Mutation::Assign => StepKind::Block,
                operator => StepKind::Mutation(self.operator(operator)),
            };
            self.step(kind, candidate.span, path);
        }
    }

    /// The conditions and imports through which an entry came into its block.
    fn way(&mut self, block: BlockId, entry: EntryId) {
        let says = self.evaluator.says(entry);
        let path = self.evaluator.path(entry);
        let Some(last) = says.last() else { return };
        let candidates = self.evaluator.candidates(&says);
        let order = self.evaluator.home_of(entry).order;
        let (highest, _) = self.evaluator.split(candidates, order);
        let scope = highest.first().map_or(last.scope, |one| one.scope);
        let mut target = match highest.first() {
            Some(one) => one.span,
            None => self.evaluator.place(entry),
        };
        let mut next = Some(scope);
        while let Some(scope) = next {
            let scope = self.evaluator.scope(scope);
            self.conditions(block, scope.file, target, &path);
            next = match scope.importer {
                Some((importer, span)) if scope.root == block => {
                    self.step(StepKind::Import, span, &path);
                    target = span;
                    Some(importer)
                }
                _ => None,
            };
        }
    }

    /// The conditions of a file that what is written at a place stands behind, in a block.
    fn conditions(&mut self, block: BlockId, file: FileKey, target: Span, path: &str) {
        let home = self.evaluator.block(block).home;
        for (condition, scope) in self.evaluator.conditions_before(block, file, target) {
            let was_control = std::mem::replace(&mut self.control, true);
            self.operand(condition, scope, home);
            self.control = was_control;
            let span = self.evaluator.span(condition);
            self.step(StepKind::Condition, span, path);
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

    /// How a part of what a function of the user made came to its value.
    fn made(&mut self, call: ExpressionId, part: Subject, datum: Datum, path: &str) -> Expression {
        let span = self.evaluator.span(call);
        let (way, owner) = self.way_in_made(part);
        let kind = self.evaluator.tree.expression(call).kind;
        let whole = match (kind, self.evaluator.calls.get(&call), owner) {
            (Kind::Call(..), Some(&(scope, home)), _) => self.expression(call, scope, home, path),
            // The definitions that it combines tell of a mutation.
            (_, _, Some(owner)) => self.entry(owner, path, false),
            _ => self.leaf(datum, span),
        };
        if way.is_empty() {
            return whole;
        }
        let mut operands = vec![whole];
        operands.extend(way.into_iter().map(|segment| Expression {
            operator: None,
            value: Shown::Value(match segment {
                Segment::Key(name) => Value::Text(name),
                Segment::Index(index) => Value::Integer(index as i64),
            }),
            span,
            operands: Vec::new(),
        }));
        Expression {
            operator: Some(SELECTION.into()),
            value: self.shown(datum),
            span,
            operands,
        }
    }

    /// The way to a part of what a function made, and the entry around that was not made by it.
    fn way_in_made(&self, part: Subject) -> (Vec<Segment>, Option<EntryId>) {
        let evaluator = &self.evaluator;
        let mut way = Vec::new();
        let mut next = match part {
            Subject::Entry(entry) => Some(entry),
            Subject::Element(list, index) => {
                way.push(Segment::Index(index));
                self.step_out(Form::List(list), &mut way)
            }
            Subject::Block(_) | Subject::Item(_) => None,
        };
        while let Some(entry) = next {
            let is_made = |says: Contribution| matches!(says.source, Source::Made(_));
            if !evaluator.each_said(entry).all(is_made) {
                break;
            }
            let (name, block) = (evaluator.entry(entry).name, evaluator.entry(entry).block);
            way.push(Segment::Key(evaluator.name(name).to_owned()));
            next = self.step_out(Form::Block(block), &mut way);
        }
        way.reverse();
        (way, next)
    }

    /// The entry in whose value a block or a list is, and the way from there through lists, the last index first.
    fn step_out(&self, inner: Form, way: &mut Vec<Segment>) -> Option<EntryId> {
        let home = match inner {
            Form::Block(block) => self.evaluator.block(block).home,
            Form::List(list) => self.evaluator.lists[list.0 as usize].home,
            _ => return None,
        };
        let entry = home.entry?;
        if let State::Done(datum) = self.evaluator.entry(entry).state
            && let Some(indexes) = self.indexes(datum.form, inner)
        {
            way.extend(indexes.into_iter().map(Segment::Index));
        }
        Some(entry)
    }

    /// The indexes that lead through lists that a function made to a part, the last one first.
    fn indexes(&self, whole: Form, part: Form) -> Option<Vec<usize>> {
        let list = match (whole, part) {
            (Form::Block(whole), Form::Block(part)) if whole == part => return Some(Vec::new()),
            (Form::List(whole), Form::List(part)) if whole == part => return Some(Vec::new()),
            (Form::List(list), _) => list,
            _ => return None,
        };
        let list = &self.evaluator.lists[list.0 as usize];
        let Elements::Made(_) = list.elements else {
            return None;
        };
        list.states
            .iter()
            .enumerate()
            .find_map(|(index, state)| match state {
                State::Done(datum) => {
                    let mut indexes = self.indexes(datum.form, part)?;
                    indexes.push(index);
                    Some(indexes)
                }
                _ => None,
            })
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

    /// How an entry came to its value. `is_asked` if it is what was asked about: then what it beat counts.
    fn entry(&mut self, entry: EntryId, path: &str, is_asked: bool) -> Expression {
        let datum = self.datum(Subject::Entry(entry));
        let place = self.evaluator.place(entry);
        if self.is_spent() {
            return self.leaf(datum, place);
        }
        self.depth += 1;
        let explained = self.entry_deeper(entry, datum, path, is_asked);
        self.depth -= 1;
        explained.unwrap_or_else(|Stop| self.leaf(datum, place))
    }

    fn entry_deeper(
        &mut self,
        entry: EntryId,
        datum: Datum,
        path: &str,
        is_asked: bool,
    ) -> Evaluated<Expression> {
        let says = self.evaluator.says(entry);
        let home = self.evaluator.home_of(entry);
        if let [only] = says[..] {
            match only.source {
                Source::Entry(inner) => return Ok(self.entry(inner, path, is_asked)),
                Source::Made(call) => {
                    return Ok(self.made(call, Subject::Entry(entry), datum, path));
                }
                Source::Statement(_) => {}
            }
        }
        let candidates = self.evaluator.candidates(&says);
        let ruling = self.evaluator.rule(candidates, home)?;
        if is_asked {
            self.lose(&ruling);
        }
        match ruling {
            Ruling::Undefined { .. } => Ok(self.leaf(datum, self.evaluator.place(entry))),
            Ruling::Assigned { by, .. } => {
                let first = &by[0];
                match &first.what {
                    What::Expression(id) => {
                        let (id, scope) = (*id, first.scope);
                        Ok(self.expression(id, scope, home, path))
                    }
                    What::Entry(inner) => Ok(self.entry(*inner, path, false)),
                    What::Implicit(_) => {
                        self.step(StepKind::Block, first.span, path);
                        Ok(self.leaf(datum, first.span))
                    }
                }
            }
            Ruling::Merged { by, .. } => {
                self.merged(&by, path);
                Ok(self.leaf(datum, by[0].span))
            }
            Ruling::Combined {
                function,
                by,
                below,
                ..
            } => {
                let operands = self.combined(function, &by, below, home, path)?;
                Ok(self.application(function, operands, datum, by[0].span))
            }
            Ruling::Chained { by, below, .. } => self.chained(&by, below, home, path),
        }
    }

    /// How a statement with several mutations came to its value.
    fn chained(
        &mut self,
        by: &Candidate,
        below: Vec<Candidate>,
        home: Home,
        path: &str,
    ) -> Evaluated<Expression> {
        let What::Expression(id) = by.what else {
            unreachable!("a chain is an expression");
        };
        let Kind::Chain(links) = self.evaluator.tree.expression(id).kind else {
            unreachable!("a chain has links");
        };
        let links = self.evaluator.tree.chain(links).to_vec();
        self.chain(id, &links, by.scope, home, path, below)
    }

    /// The operands of a function that combines values: one for each definition, and what is below them.
    fn combined(
        &mut self,
        function: Symbol,
        by: &[Candidate],
        below: Vec<Candidate>,
        home: Home,
        path: &str,
    ) -> Evaluated<Vec<Expression>> {
        // Steps are turned around in the end.
        let lower = self.below(below, home, path)?;
        let mut operands = Vec::new();
        for candidate in by.iter().rev() {
            let mutation = self.operator(candidate.operator);
            self.step(StepKind::Mutation(mutation), candidate.span, path);
            operands.push(self.candidate(candidate, home));
        }
        operands.reverse();
        // What the same function makes of those below are operands of this one, too.
        match lower {
            Some((lower, expression)) if lower == Some(function) => {
                operands.extend(expression.operands);
            }
            other => operands.extend(other.map(|(_, expression)| expression)),
        }
        Ok(operands)
    }

    /// A function that combines operands. Of a single one, a standard function makes nothing else.
    fn application(
        &mut self,
        function: Symbol,
        mut operands: Vec<Expression>,
        datum: Datum,
        span: Span,
    ) -> Expression {
        let name = self.evaluator.name(function).to_owned();
        if operands.len() == 1 && crate::functions::is_standard(&name) {
            return operands.remove(0);
        }
        Expression {
            operator: Some(name.into()),
            value: self.shown(datum),
            span,
            operands,
        }
    }

    /// What definitions of lower priority come to, and the function that combines them, if one does.
    fn below(
        &mut self,
        below: Vec<Candidate>,
        home: Home,
        path: &str,
    ) -> Evaluated<Option<(Option<Symbol>, Expression)>> {
        let datum = self.evaluator.combine(below.clone(), home)?;
        let ruling = self.evaluator.rule(below, home)?;
        self.lose(&ruling);
        Ok(Some(match ruling {
            Ruling::Undefined { .. } => return Ok(None),
            Ruling::Combined {
                function,
                by,
                below,
                ..
            } => {
                let operands = self.combined(function, &by, below, home, path)?;
                let is_alone = operands.len() == 1;
                let expression = self.application(function, operands, datum, by[0].span);
                ((!is_alone).then_some(function), expression)
            }
            Ruling::Assigned { by, .. } | Ruling::Merged { by, .. } => {
                (None, self.candidate(&by[0], home))
            }
            Ruling::Chained { by, below, .. } => (None, self.chained(&by, below, home, path)?),
        }))
    }

    fn candidate(&mut self, candidate: &Candidate, home: Home) -> Expression {
        match &candidate.what {
            What::Expression(id) => self.operand(*id, candidate.scope, home),
            What::Entry(entry) => self.in_operation(|explainer| explainer.entry(*entry, "", false)),
            What::Implicit(_) => {
                let datum = self.evaluator.candidate_value(candidate, home);
                self.leaf(datum.unwrap_or(Datum::UNDEFINED), candidate.span)
            }
        }
    }

    fn operator(&self, mutation: Mutation) -> Cow<'static, str> {
        match mutation {
            Mutation::Assign => "=>".into(),
            Mutation::Merge => "~>".into(),
            Mutation::Function(name) => format!("~({})>", self.evaluator.name(name)).into(),
        }
    }

    /// Takes note of the definitions that lost. Their values were never computed, and are not now.
    fn lose(&mut self, ruling: &Ruling) {
        let (ignored, undefined) = match ruling {
            Ruling::Undefined { undefined } | Ruling::Combined { undefined, .. } => {
                (&[][..], undefined)
            }
            Ruling::Assigned {
                ignored, undefined, ..
            }
            | Ruling::Merged {
                ignored, undefined, ..
            }
            | Ruling::Chained {
                ignored, undefined, ..
            } => (&ignored[..], undefined),
        };
        let rules = ignored.iter().map(|one| (one, Rule::ImportingFile));
        let undefined = undefined.iter().map(|one| (one, Rule::Undefined));
        for (candidate, rule) in rules.chain(undefined).collect::<Vec<_>>() {
            let (value, span) = match candidate.what {
                What::Expression(id) => {
                    let expression = self.evaluator.tree.expression(id);
                    let value = match expression.kind {
                        Kind::Literal(cell) => Some(self.shown(literal_datum(cell))),
                        Kind::Secret(_) => Some(Shown::Secret),
                        _ => None,
                    };
                    (value, expression.span)
                }
                What::Entry(entry) => match self.evaluator.entry(entry).state {
                    State::Done(datum) => (Some(self.shown(datum)), candidate.span),
                    _ => match self.literal_of(entry) {
                        Some((shown, span)) => (Some(shown), span),
                        None => (None, candidate.span),
                    },
                },
                What::Implicit(_) => (None, candidate.span),
            };
            let rule = match (rule, &candidate.what) {
                (Rule::ImportingFile, What::Entry(_)) => Rule::LaterMutation,
                (rule, _) => rule,
            };
            let through = self.imports_of(candidate.scope);
            self.lost.push(Lost {
                value,
                span,
                rule,
                through,
            });
        }
    }

    fn literal_of(&mut self, entry: EntryId) -> Option<(Shown, Span)> {
        let says = self.evaluator.says(entry);
        let Source::Statement(statement) = says.last()?.source else {
            return None;
        };
        let definition = self.evaluator.tree.definition(statement);
        let expression = self.evaluator.tree.expression(definition.value);
        match expression.kind {
            Kind::Literal(cell) => Some((self.shown(literal_datum(cell)), expression.span)),
            Kind::Secret(_) => Some((Shown::Secret, expression.span)),
            _ => None,
        }
    }

    /// The imports that lead to a scope, innermost first.
    fn imports_of(&self, scope: ScopeId) -> Vec<Span> {
        let mut through = Vec::new();
        let mut next = Some(scope);
        while let Some(scope) = next {
            next = self
                .evaluator
                .scope(scope)
                .importer
                .map(|(importer, span)| {
                    through.push(span);
                    importer
                });
        }
        through
    }

    /// How an expression came to its value.
    fn expression(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
        path: &str,
    ) -> Expression {
        let span = self.evaluator.span(id);
        if self.is_spent() {
            let datum = self.evaluated(id, scope, home);
            return self.leaf(datum, span);
        }
        self.depth += 1;
        let explained = self.expression_deeper(id, scope, home, path);
        self.depth -= 1;
        explained.unwrap_or_else(|Stop| self.leaf(Datum::UNDEFINED, span))
    }

    fn evaluated(&mut self, id: ExpressionId, scope: ScopeId, home: Home) -> Datum {
        let datum = self.evaluator.evaluate(id, scope, home);
        datum.unwrap_or(Datum::UNDEFINED)
    }

    fn expression_deeper(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
        path: &str,
    ) -> Evaluated<Expression> {
        let span = self.evaluator.span(id);
        let kind = self.evaluator.tree.expression(id).kind;
        Ok(match kind {
            Kind::Literal(_) | Kind::Secret(_) | Kind::Undefined => {
                self.step(StepKind::Written, span, path);
                let datum = self.evaluated(id, scope, home);
                self.leaf(datum, span)
            }
            Kind::Block(_) => {
                self.step(StepKind::Block, span, path);
                let datum = self.known(home, id, scope);
                self.leaf(datum, span)
            }
            Kind::List(list) => {
                let elements = self.evaluator.tree.list(list).to_vec();
                let mut operands = Vec::new();
                for element in elements.into_iter().rev() {
                    operands.push(self.operand(element, scope, home));
                }
                operands.reverse();
                self.operation("[ ]", id, scope, home, path, operands)
            }
            Kind::Reference(name) => {
                self.link(span, path);
                let root = self.evaluator.scope(scope).root;
                let entry = self.evaluator.lookup(root, name, span)?;
                let target = self.evaluator.name(name).to_owned();
                self.way(root, entry);
                self.entry(entry, &target, false)
            }
            Kind::Parameter(number) => {
                let (argument, outer) = self.evaluator.argument_of(scope, number as usize);
                self.expression(argument, outer, home, path)
            }
            Kind::Select(of, by) => {
                self.link(span, path);
                let base = self.evaluator.evaluate(of, scope, home)?;
                let target = self
                    .evaluator
                    .source(span)
                    .trim_start_matches('$')
                    .to_owned();
                match self.evaluator.select(base, by, scope, home)? {
                    Selected::Entry(entry) => {
                        let block = self.evaluator.entry(entry).block;
                        self.way(block, entry);
                        self.entry(entry, &target, false)
                    }
                    Selected::Element(list, index) => {
                        self.subject(Subject::Element(list, index), &target)
                    }
                    Selected::Literal(item) => self.subject(Subject::Item(item), &target),
                }
            }
            Kind::Negate(operand) => {
                let operand = self.operand(operand, scope, home);
                self.operation("-", id, scope, home, path, vec![operand])
            }
            Kind::Not(operand) => {
                let operand = self.operand(operand, scope, home);
                self.operation("!", id, scope, home, path, vec![operand])
            }
            Kind::Binary(operator, ..) => {
                let mut rest = Vec::new();
                let mut first = id;
                while let Kind::Binary(next, left, right) =
                    self.evaluator.tree.expression(first).kind
                    && next == operator
                {
                    rest.push(right);
                    first = left;
                }
                rest.push(first);
                rest.reverse();
                // A logical operator may not need all operands.
                let decisive = rest.iter().position(|&operand| {
                    let datum = self.evaluated(operand, scope, home);
                    self.decides(operator, datum)
                });
                rest.truncate(decisive.map_or(rest.len(), |at| at + 1));
                let mut operands = Vec::new();
                // Steps are turned around in the end.
                for operand in rest.into_iter().rev() {
                    operands.push(self.operand(operand, scope, home));
                }
                operands.reverse();
                self.operation(operator.text(), id, scope, home, path, operands)
            }
            Kind::If(condition, then, otherwise) => {
                let holds = self.evaluator.condition(condition, scope, home)?;
                let was_control = std::mem::replace(&mut self.control, true);
                self.operand(condition, scope, home);
                self.control = was_control;
                let condition_span = self.evaluator.span(condition);
                let chosen = match (holds, otherwise) {
                    (true, _) => Some(then),
                    (false, otherwise) => otherwise.map(|otherwise| otherwise.expression()),
                };
                self.step(StepKind::Condition, condition_span, path);
                match chosen {
                    Some(chosen) => self.expression(chosen, scope, home, path),
                    None => self.leaf(Datum::UNDEFINED, span),
                }
            }
            Kind::Import(..) => {
                self.step(StepKind::Import, span, path);
                let datum = self.known(home, id, scope);
                self.leaf(datum, span)
            }
            Kind::Macro(macro_, arguments) => {
                self.step(StepKind::Macro, span, path);
                let arguments = self.evaluator.tree.list(arguments).to_vec();
                let (value, scope) = self.evaluator.enter(macro_, arguments, scope);
                self.expression(value, scope, home, path)
            }
            Kind::Call(name, arguments) => {
                let arguments = self.evaluator.tree.list(arguments).to_vec();
                let name = self.evaluator.name(name).to_owned();
                let is_forced = name != "defined";
                let mut operands = Vec::new();
                for argument in arguments.into_iter().rev().filter(|_| is_forced) {
                    operands.push(self.operand(argument, scope, home));
                }
                operands.reverse();
                self.operation(&name, id, scope, home, path, operands)
            }
            Kind::Chain(links) => {
                let links = self.evaluator.tree.chain(links).to_vec();
                self.chain(id, &links, scope, home, path, Vec::new())?
            }
        })
    }

    /// A block that was made when the entry was computed; a new one has nothing in it yet.
    fn known(&mut self, home: Home, id: ExpressionId, scope: ScopeId) -> Datum {
        let known = home.entry.map(|entry| self.evaluator.entry(entry).state);
        match known {
            Some(State::Done(datum)) if matches!(datum.form, Form::Block(_)) => datum,
            _ => self.evaluated(id, scope, home),
        }
    }

    fn decides(&self, operator: crate::lexer::Operator, datum: Datum) -> bool {
        let Form::Scalar(cell) = datum.form else {
            return false;
        };
        let bool = match cell.content(&self.evaluator.unit.literals) {
            Content::Bool(bool) => bool,
            _ => return false,
        };
        crate::operators::is_logical(operator) && bool == crate::operators::decides(operator)
    }

    /// Each link applies to what those before it come to, the first to what is below.
    fn chain(
        &mut self,
        id: ExpressionId,
        links: &[(Mutation, ExpressionId)],
        scope: ScopeId,
        home: Home,
        path: &str,
        below: Vec<Candidate>,
    ) -> Evaluated<Expression> {
        let whole = self.evaluator.span(id);
        for &(operator, link) in links.iter().rev() {
            let operator = self.operator(operator);
            let span = self.evaluator.span(link);
            self.step(StepKind::Mutation(operator), span, path);
        }
        let lower = self.evaluator.combine(below.clone(), home)?;
        let explained = self.below(below, home, path)?;
        let mut result = explained.map(|(_, expression)| (expression, lower));
        for &(operator, link) in links {
            let span = self.evaluator.span(link);
            let datum = self.evaluated(link, scope, home);
            if datum.is_undefined() {
                continue;
            }
            result = Some(match (operator, result) {
                (Mutation::Assign, _) | (_, None) => (self.operand(link, scope, home), datum),
                (Mutation::Merge, Some(_)) => {
                    let datum = self.known(home, id, scope);
                    (self.leaf(datum, whole), datum)
                }
                (Mutation::Function(name), Some((before, known))) => {
                    let operand = self.operand(link, scope, home);
                    let given = vec![(datum, span)];
                    let below = Some((known, span));
                    let datum = self.evaluator.mutate_values(name, given, below, span)?;
                    let operator = self.evaluator.name(name).to_owned();
                    let expression = Expression {
                        operator: Some(operator.into()),
                        value: self.shown(datum),
                        span: whole,
                        operands: vec![operand, before],
                    };
                    (expression, datum)
                }
            });
        }
        match result {
            Some((expression, _)) => Ok(expression),
            None => Ok(self.leaf(Datum::UNDEFINED, whole)),
        }
    }

    fn link(&mut self, span: Span, path: &str) {
        let kind = StepKind::Link {
            outwards: 0,
            passed: Vec::new(),
        };
        self.step(kind, span, path);
    }

    fn operation(
        &mut self,
        operator: &str,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
        path: &str,
        operands: Vec<Expression>,
    ) -> Expression {
        let span = self.evaluator.span(id);
        let datum = self.evaluated(id, scope, home);
        let operator: Cow<'static, str> = operator.to_owned().into();
        self.step(StepKind::Operation(operator.clone()), span, path);
        Expression {
            operator: Some(operator),
            value: self.shown(datum),
            span,
            operands,
        }
    }
}

impl Evaluator<'_> {
    /// The inline conditions, innermost first, that what is written at a place stands behind: a definition or
    /// an import that a file makes in a block.
    fn conditions_before(
        &mut self,
        block: BlockId,
        file: FileKey,
        target: Span,
    ) -> Vec<(ExpressionId, ScopeId)> {
        let parts = self.block(block).parts.clone();
        let parts = parts.as_slice().iter().filter_map(|part| match *part {
            Part::Body(body, scope) if self.scope(scope).file == file => Some((body, scope)),
            _ => None,
        });
        let mut bodies: Vec<(BodyId, ScopeId)> = parts.collect();
        if let Some(&scope) = self.imported.get(&(block, file)) {
            bodies.push((self.imports.body(file), scope));
        }
        let mut found = Vec::new();
        for (body, scope) in bodies {
            let outline = self.outline(body);
            let mut inlines = outline.inlines.iter();
            if inlines.any(|&inline| self.is_inside(inline, scope, target, &mut found)) {
                break;
            }
        }
        found
    }

    /// Whether a statement of a body is the one at a place, and the conditions that it stands behind.
    fn is_reached(
        &mut self,
        body: BodyId,
        scope: ScopeId,
        target: Span,
        conditions: &mut Vec<(ExpressionId, ScopeId)>,
    ) -> bool {
        let mut statements = self.tree.body(body).statements();
        statements.any(|statement| match self.tree.statement(statement) {
            Statement::Define(definition) => definition.at == target.start,
            Statement::Inline(inline) => self.is_inside(inline, scope, target, conditions),
        })
    }

    fn is_inside(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        target: Span,
        conditions: &mut Vec<(ExpressionId, ScopeId)>,
    ) -> bool {
        let syntax::Expression { kind, span } = self.tree.expression(id);
        match kind {
            Kind::Block(body) => self.is_reached(body, scope, target, conditions),
            Kind::If(condition, then, otherwise) => {
                let otherwise = otherwise.map(|otherwise| otherwise.expression());
                let is_inside = self.is_inside(then, scope, target, conditions)
                    || otherwise.is_some_and(|id| self.is_inside(id, scope, target, conditions));
                if is_inside {
                    conditions.push((condition, scope));
                }
                is_inside
            }
            Kind::Macro(macro_, arguments) => {
                let arguments = self.tree.list(arguments).to_vec();
                let (value, scope) = self.enter(macro_, arguments, scope);
                self.is_inside(value, scope, target, conditions)
            }
            _ => span == target,
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
