//! What a value depends on.
//!
//! Nothing is recorded while a configuration is compiled. To learn what a value was computed from, it is
//! computed once more, with everything that it reads written down: what is written, and other values, which
//! were computed already and are looked at in turn. So what is told is what evaluation does, by construction.
//!
//! That a name has the value it has also depends on what did not define it: a condition whose other branch
//! names it, an import whose file is computed (DESIGN: absence).

use std::sync::Arc;

use hence_model::cell::{Cell, Content, Item};
use hence_model::explanation::{Dependence, Role};
use hence_model::path::Segment;
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::datum::{
    BlockId, Datum, Elements, EntryId, FileKey, Form, Home, ListId, Part, ScopeId, Source, State,
};
use crate::evaluate::{Evaluated, Evaluator};
use crate::lexer::{Lexer, Token};
use crate::mutate::{Candidate, Ruling};
use crate::syntax::{BodyId, Expression, ExpressionId, Kind, Mutation, Statement};

/// Something that a value is computed from, and that has reasons of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    /// The value of a resource, to its outermost shape.
    Entry(EntryId),
    /// An element of a list.
    Element(ListId, usize),
    /// An argument of a macro.
    Argument(ScopeId, usize, Home),
    /// That a block has a name, or has not.
    Presence(BlockId, Symbol),
    /// Which names a block has.
    Names(BlockId),
}

/// A node, to remember that it was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Entry(EntryId),
    Element(ListId, usize),
    Argument(u32, usize),
    Presence(BlockId, Symbol),
    Names(BlockId),
}

/// One thing that a value is computed from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reason {
    pub cause: Cause,
    /// Whether it only decided what the value is computed from.
    pub control: bool,
}

/// What a reason is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    Written(Span, Role),
    Node(Node),
}

/// What a value is computed from, as it is being written down.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    deciding: u32,
    list: Vec<Reason>,
}

impl Reasons {
    fn add(&mut self, cause: Cause) {
        let control = self.deciding > 0;
        self.list.push(Reason { cause, control });
    }
}

/// Writing down what is read. All of this does nothing unless somebody asks.
impl Evaluator<'_> {
    /// Computes a value that has reasons of its own, and takes note of it.
    pub(crate) fn because<T>(
        &mut self,
        node: Node,
        compute: impl FnOnce(&mut Self) -> Evaluated<T>,
    ) -> Evaluated<T> {
        let reasons = self.reasons.take();
        let computed = compute(self);
        self.reasons = reasons;
        self.because_node(node);
        computed
    }

    pub(crate) fn because_node(&mut self, node: Node) {
        if let Some(reasons) = &mut self.reasons {
            reasons.add(Cause::Node(node));
        }
    }

    #[inline]
    pub(crate) fn because_written(&mut self, span: Span, role: Role) {
        if let Some(reasons) = &mut self.reasons {
            reasons.add(Cause::Written(span, role));
        }
    }

    #[inline]
    pub(crate) fn because_literal(&mut self, expression: Expression) {
        if self.reasons.is_some() {
            let span = match expression.kind {
                // The elements of a list are literals of their own.
                Kind::Literal(cell) if !cell.is_scalar() => opening(expression.span),
                _ => expression.span,
            };
            self.because_written(span, Role::Value);
        }
    }

    /// An element of a list of literals.
    pub(crate) fn because_item(&mut self, item: Item) {
        if self.reasons.is_some() {
            let span = self.item_span(item);
            self.because_written(span, Role::Value);
        }
    }

    /// What is computed here decides what else is.
    pub(crate) fn deciding<T>(
        &mut self,
        compute: impl FnOnce(&mut Self) -> Evaluated<T>,
    ) -> Evaluated<T> {
        if let Some(reasons) = &mut self.reasons {
            reasons.deciding += 1;
        }
        let computed = compute(self);
        if let Some(reasons) = &mut self.reasons {
            reasons.deciding -= 1;
        }
        computed
    }

    /// The stretch of a literal in a list: the bracket, if it is a list itself.
    pub(crate) fn item_span(&self, item: Item) -> Span {
        if !item.cell.is_scalar() {
            return opening(Span::at(item.at));
        }
        let file = self.unit.sources.file_at(item.at);
        let end = self.unit.sources.span(file).end;
        let text = self.unit.sources.text();
        let mut lexer = Lexer::new(Span::new(item.at, end));
        let mut first = lexer.next(text, &mut |_| {});
        if let Token::Operator(_) = first.token {
            let sign = first.span;
            first = lexer.next(text, &mut |_| {});
            first.span.start = sign.start;
        }
        first.span
    }
}

fn opening(span: Span) -> Span {
    Span::new(span.start, span.start + 1)
}

/// A name in a block, or all of them: its inline statements are looked at.
#[derive(Clone, Copy)]
struct Asked<'a> {
    block: BlockId,
    /// None if all names are asked for.
    name: Option<Symbol>,
    home: Home,
    /// The files that nothing they beat can change.
    winners: &'a [FileKey],
}

/// Reading the reasons.
impl Evaluator<'_> {
    /// What a node is directly computed from.
    pub(crate) fn reasons_of(&mut self, node: Node) -> Vec<Reason> {
        let was_quiet = std::mem::replace(&mut self.quiet, true);
        self.reasons = Some(Reasons::default());
        // A value that is here was computed without trouble, and so it is again.
        let _ = match node {
            Node::Entry(entry) => self.entry_again(entry),
            Node::Element(list, index) => {
                let elements = self.lists[list.0 as usize].elements;
                let home = self.lists[list.0 as usize].home;
                match elements {
                    Elements::Written(written, scope) => {
                        let element = self.tree.list(written)[index];
                        self.evaluate(element, scope, home).map(drop)
                    }
                    Elements::Made(call) => self.made_again(call),
                }
            }
            Node::Argument(scope, number, home) => {
                let (argument, outer) = self.argument_of(scope, number);
                self.evaluate(argument, outer, home).map(drop)
            }
            Node::Presence(block, name) => self.presence(block, Some(name)),
            Node::Names(block) => self.presence(block, None),
        };
        let reasons = self.reasons.take().unwrap_or_default();
        self.quiet = was_quiet;
        reasons.list
    }

    fn entry_again(&mut self, entry: EntryId) -> Evaluated<()> {
        if let [only] = self.says(entry)[..]
            && let Source::Made(call) = only.source
        {
            return self.made_again(call);
        }
        self.resolve(entry).map(drop)
    }

    /// A call that made a block or a list; where it was made is not kept, so all arguments count.
    fn made_again(&mut self, call: ExpressionId) -> Evaluated<()> {
        let span = self.span(call);
        self.because_written(span, Role::Operation);
        let Some(&(scope, home)) = self.calls.get(&call) else {
            return Ok(());
        };
        self.evaluate(call, scope, home).map(drop)
    }

    /// What decides whether a block has a name, and what defines it: inline statements that could.
    fn presence(&mut self, block: BlockId, name: Option<Symbol>) -> Evaluated<()> {
        let parts = self.block(block).parts.clone();
        let home = self.block(block).home;
        let winners = name.map_or_else(Vec::new, |name| self.winners(block, name));
        let asked = Asked {
            block,
            name,
            home,
            winners: &winners,
        };
        for part in parts.as_slice() {
            match *part {
                Part::Body(body, scope) => self.body_presence(body, scope, asked)?,
                Part::Block(inner, _) => self.because_presence(inner, name),
            }
        }
        Ok(())
    }

    fn because_presence(&mut self, block: BlockId, name: Option<Symbol>) {
        self.because_node(match name {
            Some(name) => Node::Presence(block, name),
            None => Node::Names(block),
        });
    }

    /// The files whose assignment is the value of a name: nothing that they beat can change it.
    fn winners(&mut self, block: BlockId, name: Symbol) -> Vec<FileKey> {
        let reasons = self.reasons.take();
        let mut winners = Vec::new();
        if let Ok(Some(entry)) = self.find(block, name, Span::at(0))
            && let State::Done(_) = self.entry(entry).state
            && self.entry(entry).block == block
        {
            let says = self.says(entry);
            let candidates = self.candidates(&says);
            let home = self.home_of(entry);
            let by = match self.rule(candidates, home) {
                Ok(Ruling::Assigned { by, .. }) => by,
                Ok(Ruling::Chained { by, .. }) => vec![by],
                _ => Vec::new(),
            };
            let is_assigned = |one: &&Candidate| one.operator == Mutation::Assign;
            winners = by.iter().filter(is_assigned).map(|one| one.file).collect();
        }
        self.reasons = reasons;
        winners
    }

    fn body_presence(&mut self, body: BodyId, scope: ScopeId, asked: Asked<'_>) -> Evaluated<()> {
        let file = self.scope(scope).file;
        let is_beaten = |&winner: &FileKey| self.beats(asked.home.order, winner, file);
        if !self.tree.body(body).inline || asked.winners.iter().any(is_beaten) {
            return Ok(());
        }
        let inlines = self.inlines_of(body, file);
        let found = match asked.name {
            Some(name) => inlines.by_name.get(&name).map_or(&[][..], |found| found),
            None => &inlines.all,
        };
        // What a file imports, it beats; and what is imported anyway, no condition imports.
        let is_winner = asked.winners.contains(&file);
        for &(inline, imported) in found {
            work::step();
            let is_conditional = matches!(self.tree.expression(inline).kind, Kind::If(..));
            let is_idle = imported == Imported::Yes
                && (is_winner
                    || is_conditional && self.imports_nothing_new(inline, file, asked.block));
            if !is_idle {
                self.inline_presence(inline, scope, asked, Could::Define)?;
            }
        }
        if asked.name.is_some() {
            for &inline in &inlines.others {
                work::step();
                self.inline_presence(inline, scope, asked, Could::PerhapsDefine)?;
            }
        }
        Ok(())
    }

    fn inline_presence(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        asked: Asked<'_>,
        could: Could,
    ) -> Evaluated<()> {
        let Asked {
            block, name, home, ..
        } = asked;
        let file = self.scope(scope).file;
        match self.tree.expression(id).kind {
            Kind::Block(body) => self.body_presence(body, scope, asked),
            Kind::If(condition, then, otherwise) => {
                let otherwise = otherwise.map(|otherwise| otherwise.expression());
                if could == Could::PerhapsDefine {
                    let mut search = Search {
                        name,
                        has_imports: !asked.winners.contains(&file),
                        known: Some(self.unconditional(block)),
                        seen: FxHashSet::default(),
                    };
                    let could = self.could_define(then, file, &mut search)
                        || otherwise.is_some_and(|id| self.could_define(id, file, &mut search));
                    if !could {
                        return Ok(());
                    }
                }
                let chosen = match self.condition(condition, scope, home)? {
                    true => Some(then),
                    false => otherwise,
                };
                match chosen {
                    Some(chosen) => {
                        self.inline_presence(chosen, scope, asked, Could::PerhapsDefine)
                    }
                    None => Ok(()),
                }
            }
            Kind::Macro(macro_, arguments) => {
                let arguments = self.tree.list(arguments).to_vec();
                let (value, scope) = self.enter(macro_, arguments, scope);
                self.inline_presence(value, scope, asked, could)
            }
            // What a file imports, it beats.
            Kind::Import(..) if asked.winners.contains(&file) => Ok(()),
            // No standard function makes a block.
            Kind::Call(function, _) if crate::functions::is_standard(self.name(function)) => Ok(()),
            Kind::Import(argument, _) => {
                let is_literal = matches!(self.tree.expression(argument).kind, Kind::Literal(_));
                let reasons = self.reasons.take();
                let imported = self.import(id, scope, home);
                self.reasons = reasons;
                let (file, body) = imported?;
                let mut search = Search {
                    name,
                    has_imports: true,
                    known: None,
                    seen: FxHashSet::default(),
                };
                if !is_literal || self.body_could_define(body, file, &mut search) {
                    self.import(id, scope, home)?;
                }
                match self.imported.get(&(block, file)) {
                    Some(&inner) if inner != scope => self.body_presence(body, inner, asked),
                    _ => Ok(()),
                }
            }
            _ => {
                let datum = self.deciding(|evaluator| evaluator.evaluate(id, scope, home))?;
                if let Form::Block(inner) = datum.form {
                    self.because_presence(inner, name);
                }
                Ok(())
            }
        }
    }
}

/// What code that did not run could have defined: it is read, not evaluated.
impl Evaluator<'_> {
    /// The inline statements of a body, by the names that they can define.
    fn inlines_of(&mut self, body: BodyId, file: FileKey) -> Arc<Inlines> {
        if let Some(known) = self.inlines.get(&body) {
            return Arc::clone(known);
        }
        let mut inlines = Inlines::default();
        for statement in self.tree.body(body).statements() {
            let Statement::Inline(inline) = self.tree.statement(statement) else {
                continue;
            };
            inlines.all.push((inline, Imported::No));
            let mut names = FxHashMap::default();
            match self.names_of(inline, file, Imported::No, &mut names) {
                Ok(()) => {
                    for (name, imported) in names {
                        let found = inlines.by_name.entry(name).or_default();
                        found.push((inline, imported));
                    }
                }
                Err(Unknown) => inlines.others.push(inline),
            }
        }
        let inlines = Arc::new(inlines);
        self.inlines.insert(body, Arc::clone(&inlines));
        inlines
    }

    /// All names that an inline statement can define, if they can be told without following files further.
    fn names_of(
        &mut self,
        id: ExpressionId,
        file: FileKey,
        imported: Imported,
        names: &mut FxHashMap<Symbol, Imported>,
    ) -> Result<(), Unknown> {
        match self.tree.expression(id).kind {
            Kind::Block(body) => self.names_in(body, file, imported, names),
            Kind::If(_, then, otherwise) => {
                self.names_of(then, file, imported, names)?;
                match otherwise {
                    Some(otherwise) => self.names_of(otherwise.expression(), file, imported, names),
                    None => Ok(()),
                }
            }
            Kind::Macro(macro_, _) => {
                let value = self.tree.macro_(macro_).value;
                self.names_of(value, file, imported, names)
            }
            Kind::Import(argument, _) => match self.named(argument, file) {
                Named::File(file, body) if !self.tree.body(body).inline => {
                    self.names_in(body, file, Imported::Yes, names)
                }
                Named::Nothing => Ok(()),
                _ => Err(Unknown),
            },
            Kind::Undefined => Ok(()),
            Kind::Call(function, _) if crate::functions::is_standard(self.name(function)) => Ok(()),
            _ => Err(Unknown),
        }
    }

    fn names_in(
        &mut self,
        body: BodyId,
        file: FileKey,
        imported: Imported,
        names: &mut FxHashMap<Symbol, Imported>,
    ) -> Result<(), Unknown> {
        for statement in self.tree.body(body).statements() {
            work::step();
            match self.tree.statement(statement) {
                Statement::Define(definition) => {
                    let known = names.entry(definition.name).or_insert(imported);
                    if imported == Imported::No {
                        *known = imported;
                    }
                }
                Statement::Inline(inline) => self.names_of(inline, file, imported, names)?,
            }
        }
        Ok(())
    }

    /// The file that an import names, if that is written there. It is read if nobody has yet.
    fn named(&mut self, argument: ExpressionId, file: FileKey) -> Named {
        let Kind::Literal(cell) = self.tree.expression(argument).kind else {
            return Named::Anything;
        };
        let name = crate::operators::text(cell, &self.unit);
        let troubles = self.unit.diagnostics.len();
        let was_quiet = std::mem::replace(&mut self.quiet, true);
        let found = self.locate(&name, file, self.span(argument), false);
        self.quiet = was_quiet;
        // What is wrong with a file that nobody needs is nobody's trouble.
        self.unit.diagnostics.truncate(troubles);
        match found {
            Ok((file, body)) => Named::File(file, body),
            Err(_) => Named::Nothing,
        }
    }

    /// The imports of a block that no condition can prevent.
    fn unconditional(&mut self, block: BlockId) -> Arc<Unconditional> {
        if let Some(known) = self.unconditional.get(&block) {
            return Arc::clone(known);
        }
        let mut found = Unconditional::default();
        let parts = self.block(block).parts.clone();
        let bodies = parts.as_slice().iter().filter_map(|part| match *part {
            Part::Body(body, scope) => Some((body, self.scope(scope).file)),
            Part::Block(..) => None,
        });
        let mut pending: Vec<(BodyId, FileKey)> = bodies.collect();
        while let Some((body, file)) = pending.pop() {
            for statement in self.tree.body(body).statements() {
                work::step();
                if let Statement::Inline(inline) = self.tree.statement(statement)
                    && let Kind::Import(argument, _) = self.tree.expression(inline).kind
                    && let Named::File(imported, body) = self.named(argument, file)
                {
                    let importers = found.importers.entry(imported).or_default();
                    if importers.is_empty() {
                        pending.push((body, imported));
                    }
                    importers.push(file);
                }
            }
        }
        let found = Arc::new(found);
        self.unconditional.insert(block, Arc::clone(&found));
        found
    }

    /// Whether everything that an inline statement could import is imported anyway, below the same file.
    fn imports_nothing_new(&mut self, id: ExpressionId, file: FileKey, block: BlockId) -> bool {
        match self.tree.expression(id).kind {
            Kind::Import(argument, _) => match self.named(argument, file) {
                Named::File(imported, _) => self.unconditional(block).has(file, imported),
                Named::Nothing => true,
                Named::Anything => false,
            },
            Kind::If(_, then, otherwise) => {
                self.is_idle(then, file, block)
                    && otherwise.is_none_or(|one| self.is_idle(one.expression(), file, block))
            }
            _ => false,
        }
    }

    fn is_idle(&mut self, id: ExpressionId, file: FileKey, block: BlockId) -> bool {
        let Kind::Block(body) = self.tree.expression(id).kind else {
            return self.imports_nothing_new(id, file, block);
        };
        let mut statements = self.tree.body(body).statements();
        statements.all(|statement| match self.tree.statement(statement) {
            Statement::Define(_) => true,
            Statement::Inline(inline) => self.imports_nothing_new(inline, file, block),
        })
    }

    /// Whether an inline statement could define a name, if it were evaluated in another way.
    fn could_define(&mut self, id: ExpressionId, file: FileKey, search: &mut Search) -> bool {
        match self.tree.expression(id).kind {
            Kind::Block(body) => self.body_could_define(body, file, search),
            Kind::If(_, then, otherwise) => {
                self.could_define(then, file, search)
                    || otherwise.is_some_and(|otherwise| {
                        self.could_define(otherwise.expression(), file, search)
                    })
            }
            Kind::Macro(macro_, _) => {
                let value = self.tree.macro_(macro_).value;
                self.could_define(value, file, search)
            }
            Kind::Import(..) if !search.has_imports => false,
            Kind::Import(argument, _) => match self.named(argument, file) {
                Named::File(imported, body) => {
                    let known = search.known.as_ref();
                    let is_known = known.is_some_and(|known| known.has(file, imported));
                    !is_known && self.body_could_define(body, imported, search)
                }
                Named::Nothing => false,
                Named::Anything => true,
            },
            // A function of a user could define anything.
            Kind::Call(function, _) => !crate::functions::is_standard(self.name(function)),
            Kind::Undefined => false,
            _ => true,
        }
    }

    fn body_could_define(&mut self, body: BodyId, file: FileKey, search: &mut Search) -> bool {
        if !search.seen.insert(body) {
            return false;
        }
        let mut statements = self.tree.body(body).statements();
        statements.any(|statement| {
            work::step();
            match self.tree.statement(statement) {
                Statement::Define(definition) => {
                    search.name.is_none_or(|name| definition.name == name)
                }
                Statement::Inline(inline) => self.could_define(inline, file, search),
            }
        })
    }
}

/// The inline statements of a body.
#[derive(Debug, Default)]
pub(crate) struct Inlines {
    all: Vec<(ExpressionId, Imported)>,
    /// Those that can define a name, if all their names can be told.
    by_name: FxHashMap<Symbol, Vec<(ExpressionId, Imported)>>,
    /// The others.
    others: Vec<ExpressionId>,
}

/// Whether only a file that is imported defines a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Imported {
    Yes,
    No,
}

/// Whether an inline statement can define the name that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Could {
    Define,
    PerhapsDefine,
}

/// The names cannot be told.
struct Unknown;

/// What an import names.
enum Named {
    File(FileKey, BodyId),
    /// A file that cannot be read: whoever imports it gets nothing.
    Nothing,
    /// That is computed.
    Anything,
}

/// The imports of a block that no condition can prevent.
#[derive(Debug, Default)]
pub(crate) struct Unconditional {
    importers: FxHashMap<FileKey, Vec<FileKey>>,
}

impl Unconditional {
    /// Whether a file imports another in any case, directly or not.
    fn has(&self, importer: FileKey, imported: FileKey) -> bool {
        let mut pending = vec![imported];
        let mut seen = FxHashSet::default();
        while let Some(file) = pending.pop() {
            for &one in self.importers.get(&file).into_iter().flatten() {
                work::step();
                if one == importer {
                    return true;
                }
                if seen.insert(one) {
                    pending.push(one);
                }
            }
        }
        false
    }
}

/// A search for what could define a name.
struct Search {
    /// None for any name.
    name: Option<Symbol>,
    /// Whether imported files count.
    has_imports: bool,
    /// The imports that bring nothing new.
    known: Option<Arc<Unconditional>>,
    seen: FxHashSet<BodyId>,
}

impl Node {
    fn key(self) -> Key {
        match self {
            Node::Entry(entry) => Key::Entry(entry),
            Node::Element(list, index) => Key::Element(list, index),
            Node::Argument(scope, number, _) => Key::Argument(scope.0, number),
            Node::Presence(block, name) => Key::Presence(block, name),
            Node::Names(block) => Key::Names(block),
        }
    }
}

/// Everything that values depend on.
impl Evaluator<'_> {
    /// Everything written that nodes depend on, in the order in which it is met.
    pub(crate) fn dependences(&mut self, nodes: Vec<(Node, bool)>) -> Vec<Dependence> {
        let mut seen: FxHashSet<(Key, bool)> = FxHashSet::default();
        let mut known: FxHashSet<Dependence> = FxHashSet::default();
        let mut depends = Vec::new();
        let mut pending = nodes;
        pending.reverse();
        while let Some((node, control)) = pending.pop() {
            if !seen.insert((node.key(), control)) || control && seen.contains(&(node.key(), false))
            {
                continue;
            }
            let reasons = self.reasons_of(node);
            for reason in reasons.into_iter().rev() {
                let control = control || reason.control;
                match reason.cause {
                    Cause::Node(inner) => pending.push((inner, control)),
                    Cause::Written(span, role) => {
                        let role = match role {
                            Role::Value if control => Role::Condition,
                            Role::Value => Role::Operand,
                            role => role,
                        };
                        let dependence = Dependence { span, role };
                        if known.insert(dependence) {
                            depends.push(dependence);
                        }
                    }
                }
            }
        }
        depends
    }

    /// Names every path of the output that depends on what is written in a stretch.
    pub(crate) fn impact(&mut self, root: BlockId, place: Span, name: &mut dyn FnMut(&[Segment])) {
        let mut touched = Touched {
            place,
            known: FxHashMap::default(),
        };
        let mut path = Vec::new();
        self.impact_block(root, false, &mut touched, &mut path, name);
    }

    fn impact_block(
        &mut self,
        block: BlockId,
        all: bool,
        touched: &mut Touched,
        path: &mut Vec<Segment>,
        name: &mut dyn FnMut(&[Segment]),
    ) {
        for entry in self.visible(block) {
            let key = self.entry(entry).name;
            path.push(Segment::Key(self.name(key).to_owned()));
            let is_touched = all
                || self.is_touched(Node::Presence(block, key), touched)
                || self.is_touched(Node::Entry(entry), touched);
            let datum = self.value(entry, Span::at(0)).unwrap_or(Datum::UNDEFINED);
            self.impact_datum(datum, is_touched, touched, path, name);
            path.pop();
        }
    }

    fn impact_datum(
        &mut self,
        datum: Datum,
        all: bool,
        touched: &mut Touched,
        path: &mut Vec<Segment>,
        name: &mut dyn FnMut(&[Segment]),
    ) {
        match datum.form {
            Form::Undefined | Form::Scalar(_) => {
                if all {
                    name(path);
                }
            }
            Form::Block(block) => {
                if all || self.is_touched(Node::Names(block), touched) {
                    name(path);
                }
                self.impact_block(block, all, touched, path, name);
            }
            Form::List(list) => {
                if all {
                    name(path);
                }
                let count = self.lists[list.0 as usize].states.len();
                for index in 0..count {
                    path.push(Segment::Index(index));
                    let is_touched = all || self.is_touched(Node::Element(list, index), touched);
                    let datum = self.element(list, index, Span::at(0));
                    let datum = datum.unwrap_or(Datum::UNDEFINED);
                    self.impact_datum(datum, is_touched, touched, path, name);
                    path.pop();
                }
            }
            Form::Literals(cell) => {
                if all {
                    name(path);
                }
                self.impact_items(cell, all, touched, path, name);
            }
        }
    }

    fn impact_items(
        &mut self,
        cell: Cell,
        all: bool,
        touched: &mut Touched,
        path: &mut Vec<Segment>,
        name: &mut dyn FnMut(&[Segment]),
    ) {
        for (index, item) in self
            .unit
            .literals
            .elements(cell)
            .to_vec()
            .into_iter()
            .enumerate()
        {
            path.push(Segment::Index(index));
            let is_touched = all || touched.is_hit(self.item_span(item), Role::Value);
            if is_touched {
                name(path);
            }
            if let Content::List(_) = item.cell.content(&self.unit.literals) {
                self.impact_items(item.cell, is_touched, touched, path, name);
            }
            path.pop();
        }
    }

    /// Whether a node depends on what is written in the place asked about. Each is looked at once.
    fn is_touched(&mut self, node: Node, touched: &mut Touched) -> bool {
        // Nodes whose reasons are being read, innermost last, and what is left to read of each.
        let mut open: Vec<(Key, Vec<Node>)> = Vec::new();
        let mut result = false;
        let mut next = Some(node);
        loop {
            if let Some(node) = next.take() {
                let key = node.key();
                match touched.known.get(&key) {
                    Some(&known) => result = known,
                    None => {
                        let mut inner = Vec::new();
                        let mut is_hit = false;
                        for reason in self.reasons_of(node) {
                            match reason.cause {
                                Cause::Written(span, role) => is_hit |= touched.is_hit(span, role),
                                Cause::Node(node) => inner.push(node),
                            }
                        }
                        touched.known.insert(key, is_hit);
                        result = is_hit;
                        if !is_hit && !inner.is_empty() {
                            open.push((key, inner));
                        }
                    }
                }
            }
            match open.last_mut() {
                None => return result,
                Some((key, _)) if result => {
                    touched.known.insert(*key, true);
                    open.pop();
                }
                Some((_, rest)) => match rest.pop() {
                    Some(node) => next = Some(node),
                    None => {
                        open.pop();
                    }
                },
            }
        }
    }
}

/// What depends on a place.
struct Touched {
    place: Span,
    known: FxHashMap<Key, bool>,
}

impl Touched {
    fn is_hit(&self, span: Span, role: Role) -> bool {
        let is_inside = self.place.start <= span.start && span.end <= self.place.end;
        let is_around = span.start <= self.place.start && self.place.end <= span.end;
        match role {
            // What is written inside of an operation or an import has places of its own.
            Role::Operation | Role::Import => is_inside,
            _ => is_inside || is_around,
        }
    }
}
