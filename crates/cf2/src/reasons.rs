//! What a value depends on.
//!
//! Nothing is recorded while a configuration is compiled. To learn what a value was computed from, it is
//! computed once more, with everything that it reads written down: what is written, and other values, which
//! were computed already and are looked at in turn. So what is told is what evaluation does, by construction.
//!
//! That a name has the value it has also depends on what did not define it: a condition whose other branch
//! names it, an import whose file is computed (DESIGN: absence).

use std::sync::Arc;

use hence_model::cell::Item;
use hence_model::explanation::{Dependence, Role};
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::datum::{
    BlockId, Contribution, Elements, EntryId, FileKey, Form, Home, ListId, Names, Part, Ranking,
    ScopeId, Source, State,
};
use crate::evaluate::{Evaluated, Evaluator};
use crate::importable::Named;
use crate::lexer::{Lexer, Token};
use crate::mutate::{Candidate, Ruling, What};
use crate::syntax::{BodyId, Definition, Expression, ExpressionId, Kind, Mutation, Statement};

/// Something that a value is computed from, and that has reasons of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    /// The value of a resource, to its outermost shape; if only one name in it is asked for, as far as that
    /// matters to the name.
    Entry(EntryId, Option<Symbol>),
    /// An element of a list.
    Element(ListId, usize),
    /// An argument of a macro, or a name in it.
    Argument(ScopeId, usize, Home, Option<Symbol>),
    /// That a block has a name, or has not; or a name in that.
    Presence(BlockId, Symbol, Option<Symbol>),
    /// Which names a block has.
    Names(BlockId),
}

/// A node, to remember that it was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Entry(EntryId, Option<Symbol>),
    Element(ListId, usize),
    Argument(u32, usize, Option<Symbol>),
    Presence(BlockId, Symbol, Option<Symbol>),
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
    /// The name that is asked for in what is computed next: whoever computes takes it.
    focus: Option<Symbol>,
    /// The name that is asked for in all of it, and who defines that.
    sought: Option<Arc<Sought>>,
}

/// A name that is asked for in a block that is merged from several.
#[derive(Debug)]
pub(crate) struct Sought {
    name: Symbol,
    block: BlockId,
    /// The files whose assignment is its value.
    winners: Vec<FileKey>,
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
        let computed = self.unnoted(compute);
        self.because_node(node);
        computed
    }

    /// Computes something whose reasons do not matter.
    pub(crate) fn unnoted<T>(&mut self, compute: impl FnOnce(&mut Self) -> T) -> T {
        let reasons = self.reasons.take();
        let computed = compute(self);
        self.reasons = reasons;
        computed
    }

    /// Computes something, and takes note of what it reads only if that matters.
    pub(crate) fn noted_if<T>(&mut self, matters: bool, compute: impl FnOnce(&mut Self) -> T) -> T {
        match matters {
            true => compute(self),
            false => self.unnoted(compute),
        }
    }

    /// Takes the name that is asked for in what is computed now.
    #[inline]
    pub(crate) fn take_focus(&mut self) -> Option<Symbol> {
        self.reasons.as_mut()?.focus.take()
    }

    /// Only a name is asked for in what is computed next.
    #[inline]
    pub(crate) fn focus(&mut self, name: Option<Symbol>) {
        if let Some(reasons) = &mut self.reasons {
            reasons.focus = name;
        }
    }

    /// How much is written down.
    pub(crate) fn noted(&self) -> usize {
        self.reasons
            .as_ref()
            .map_or(0, |reasons| reasons.list.len())
    }

    /// Forgets a stretch of what is written down: it does not matter after all.
    pub(crate) fn forget(&mut self, stretch: std::ops::Range<usize>) {
        if let Some(reasons) = &mut self.reasons {
            reasons.list.drain(stretch);
        }
    }

    pub(crate) fn because_node(&mut self, node: Node) {
        if self.is_only_written(node) {
            return;
        }
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
            self.because_written(literal_span(expression), Role::Value);
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
        let mut first = lexer.next(text);
        if let Token::Operator(_) = first.token {
            let sign = first.span;
            first = lexer.next(text);
            first.span.start = sign.start;
        }
        first.span
    }
}

/// The stretch of a literal: the bracket of a list, as its elements are literals of their own.
fn literal_span(expression: Expression) -> Span {
    match expression.kind {
        Kind::Literal(cell) if !cell.is_scalar() => opening(expression.span),
        _ => expression.span,
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
    /// The name that is asked for in that.
    next: Option<Symbol>,
    home: Home,
    /// The files that nothing they beat can change.
    winners: &'a [FileKey],
    /// Whether at most one file says something about it, and which.
    is_said_once: bool,
    said_by: Option<FileKey>,
    /// The definition that is its value, if nothing beside it can be.
    decided: Option<&'a Arc<Decided>>,
}

/// A definition that assigns a name its value, with nothing undefined above it. Whatever else is said about
/// the name is below it or agrees with it, or there is no result; unless it is said by a file that imports
/// this one, or privately, so that the name is not seen.
#[derive(Debug)]
struct Decided {
    share: Share,
    file: FileKey,
    /// The name where it is defined, and the imports through which it came.
    way: Vec<Span>,
    is_seen: bool,
}

/// Whether all of what is asked for is decided, or the name in it that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    Whole,
    Part,
}

impl Asked<'_> {
    /// Whether an inline statement is on the way by which the value came.
    fn is_on_way(&self, evaluator: &Evaluator<'_>, inline: ExpressionId) -> bool {
        self.decided
            .is_some_and(|decided| evaluator.is_on_way(inline, &decided.way))
    }
}

/// Reading the reasons.
impl Evaluator<'_> {
    /// Whether a node has no reasons: nothing but the text says which names a block has.
    pub(crate) fn is_only_written(&self, node: Node) -> bool {
        match node {
            Node::Presence(block, ..) | Node::Names(block) => {
                self.block(block).names == Names::Written
            }
            _ => false,
        }
    }

    /// The literal that is the only reason of a node.
    pub(crate) fn only_literal(&self, node: Node) -> Option<Span> {
        match node {
            Node::Entry(entry, _) => {
                let (expression, _) = self.literal_of(entry)?;
                Some(literal_span(expression))
            }
            _ => None,
        }
    }

    /// What a node is directly computed from.
    pub(crate) fn reasons_of(&mut self, node: Node) -> Vec<Reason> {
        if self.is_only_written(node) {
            return Vec::new();
        }
        if let Some(span) = self.only_literal(node) {
            let cause = Cause::Written(span, Role::Value);
            return vec![Reason {
                cause,
                control: false,
            }];
        }
        let was_quiet = std::mem::replace(&mut self.quiet, true);
        let sought = match node {
            Node::Entry(entry, Some(name)) => self.sought(entry, name),
            _ => None,
        };
        self.reasons = Some(Reasons {
            sought,
            ..Reasons::default()
        });
        // A value that is here was computed without trouble, and so it is again.
        let _ = match node {
            Node::Entry(entry, within) => {
                self.focus(within);
                self.entry_again(entry)
            }
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
            Node::Argument(scope, number, home, within) => {
                let (argument, outer) = self.argument_of(scope, number);
                self.focus(within);
                self.evaluate(argument, outer, home).map(drop)
            }
            Node::Presence(block, name, within) => self.presence(block, Some(name), within),
            Node::Names(block) => self.presence(block, None, None),
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
    fn presence(
        &mut self,
        block: BlockId,
        name: Option<Symbol>,
        next: Option<Symbol>,
    ) -> Evaluated<()> {
        let parts = self.block(block).parts.clone();
        let home = self.block(block).home;
        let mut winners = name.map_or_else(Vec::new, |name| self.winners(block, name));
        let inner = match (name, next) {
            (Some(name), Some(_)) => self.open_block(block, name),
            _ => None,
        };
        let next = next.filter(|_| inner.is_some());
        let mut decided = name.and_then(|name| self.decided(block, name, Share::Whole, block));
        if let (Some((entry, inner)), Some(next)) = (inner, next) {
            winners.extend(self.inner_winners(entry, inner, next));
            let is_own = self.block(inner).home.entry == Some(entry);
            if decided.is_none() && is_own {
                decided = self.decided(inner, next, Share::Part, block);
            }
        }
        if let Some(decided) = &decided {
            winners = vec![decided.file];
        }
        let said_by = name.map(|name| self.only_file(block, name));
        let asked = Asked {
            block,
            name,
            next,
            home,
            winners: &winners,
            is_said_once: said_by.is_some_and(|said_by| said_by.is_ok()),
            said_by: said_by.and_then(Result::ok).flatten(),
            decided: decided.as_ref(),
        };
        if let Some(&(import, scope)) = self.sealed.get(&block) {
            self.sealed_presence(import, scope, asked)?;
        }
        let is_overridden = self.block(block).ranking == Ranking::Listed
            && name.is_some_and(|name| {
                let assigned = self.assigned(block, name);
                assigned.iter().any(|one| one.rank > 0)
            });
        for (number, part) in parts.as_slice().iter().enumerate() {
            match *part {
                Part::Body(body, scope) => self.body_presence(body, scope, asked)?,
                Part::Block(..) if number == 0 && is_overridden => {}
                Part::Block(_, scope) if self.is_beaten(asked, scope) => {}
                Part::Block(inner, _) => self.because_presence(inner, name, next),
            }
        }
        Ok(())
    }

    /// What the computed name of a file that is a block of its own matters to a name in it.
    fn sealed_presence(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        asked: Asked<'_>,
    ) -> Evaluated<()> {
        let Kind::Import(argument, _) = self.tree.expression(id).kind else {
            unreachable!("it is an import");
        };
        let file = self.scope(scope).file;
        let (imported, _) = self.unnoted(|evaluator| evaluator.import(id, scope, asked.home))?;
        let mut search = Search {
            next: asked.next,
            decided: asked.decided.cloned(),
            ..Search::of(asked.name)
        };
        if !self.is_brought_anyway(argument, file, imported, asked)
            || self.could_define(id, file, &mut search)
        {
            self.import(id, scope, asked.home)?;
        }
        Ok(())
    }

    fn because_presence(&mut self, block: BlockId, name: Option<Symbol>, next: Option<Symbol>) {
        self.because_node(match name {
            Some(name) => Node::Presence(block, name, next),
            None => Node::Names(block),
        });
    }

    /// The block that a name is, if nothing that is said about it is private: who says something about it
    /// then decides only what it has, and not whether it is seen.
    fn open_block(&mut self, block: BlockId, name: Symbol) -> Option<(EntryId, BlockId)> {
        let entry = self.known(block, name)?;
        let State::Done(datum) = self.entry(entry).state else {
            return None;
        };
        let Form::Block(inner) = datum.form else {
            return None;
        };
        (!self.has_private(entry)).then_some((entry, inner))
    }

    /// Whether anything that is said about an entry is private.
    fn has_private(&self, entry: EntryId) -> bool {
        let candidates = self.candidates(&self.says(entry));
        candidates.iter().any(|one| self.is_said_privately(one))
    }

    fn is_said_privately(&self, candidate: &Candidate) -> bool {
        match candidate.what {
            What::Entry(inner) => self.is_private(inner),
            _ => candidate.private,
        }
    }

    /// The file that says something about a name, if only one does, or none.
    fn only_file(&mut self, block: BlockId, name: Symbol) -> Result<Option<FileKey>, Several> {
        let Some(entry) = self.known(block, name) else {
            return Ok(None);
        };
        let mut files = self.each_said(entry).map(|one| self.scope(one.scope).file);
        let first = files.next();
        match files.all(|file| Some(file) == first) {
            true => Ok(first),
            false => Err(Several),
        }
    }

    /// The entry of a name, if a block has it.
    fn known(&mut self, block: BlockId, name: Symbol) -> Option<EntryId> {
        let found = self.unnoted(|evaluator| evaluator.find(block, name, Span::at(0)));
        found.ok().flatten()
    }

    /// What matters to a name in a block that is the value of an entry.
    fn sought(&mut self, entry: EntryId, name: Symbol) -> Option<Arc<Sought>> {
        let State::Done(datum) = self.entry(entry).state else {
            return None;
        };
        let Form::Block(block) = datum.form else {
            return None;
        };
        let winners = self.inner_winners(entry, block, name);
        Some(Arc::new(Sought {
            name,
            block,
            winners,
        }))
    }

    /// Whether only a name in a block is asked for.
    pub(crate) fn is_name_sought(&self) -> bool {
        let reasons = self.reasons.as_ref();
        reasons.is_some_and(|reasons| reasons.sought.is_some())
    }

    fn being_sought(&self) -> Option<Arc<Sought>> {
        self.reasons.as_ref()?.sought.clone()
    }

    /// Only the name that is sought is asked for in what is computed next.
    pub(crate) fn focus_on_sought(&mut self) {
        if let Some(reasons) = &mut self.reasons {
            reasons.focus = reasons.sought.as_ref().map(|sought| sought.name);
        }
    }

    /// The block that the value of an entry is, if it is known.
    pub(crate) fn known_block(&self, home: Home) -> Option<BlockId> {
        match self.entry(home.entry?).state {
            State::Done(datum) => match datum.form {
                Form::Block(block) => Some(block),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the name that is sought is assigned by a part of a block that is ranked above.
    pub(crate) fn is_sought_above(&mut self, block: BlockId, rank: u32) -> bool {
        let Some(sought) = self.being_sought() else {
            return false;
        };
        let assigned = self.assigned(block, sought.name);
        assigned.iter().any(|one| one.rank > rank)
    }

    /// Whether a definition of a block that is merged can matter to the name that is sought in it.
    pub(crate) fn matters(&mut self, candidate: &Candidate) -> bool {
        let Some(sought) = self.being_sought() else {
            return true;
        };
        let order = self.block(sought.block).home.order;
        let mut winners = sought.winners.iter();
        if winners.any(|&winner| self.beats(order, winner, candidate.file)) {
            return false;
        }
        let What::Expression(id) = candidate.what else {
            return true;
        };
        // What is merged may be undefined; if an assignment were, what is below it would count.
        let can_be_undefined = candidate.operator == Mutation::Merge;
        let mut search = Search::of(Some(sought.name));
        !(can_be_undefined || self.is_block(id))
            || self.could_define(id, candidate.file, &mut search)
    }

    /// Whether an entry has a value whatever that is.
    pub(crate) fn is_always_defined(&mut self, entry: EntryId) -> bool {
        let candidates = self.candidates(&self.says(entry));
        let (highest, _) = self.split(candidates, self.home_of(entry).order);
        highest.iter().any(|one| match one.what {
            What::Expression(id) => self.is_never_undefined(id),
            What::Implicit(_) => true,
            What::Entry(_) => false,
        })
    }

    fn is_never_undefined(&self, id: ExpressionId) -> bool {
        match self.tree.expression(id).kind {
            Kind::Literal(_) | Kind::Secret(_) | Kind::List(_) => true,
            Kind::Block(_) | Kind::Import(..) => true,
            Kind::If(_, then, Some(otherwise)) => {
                self.is_never_undefined(then) && self.is_never_undefined(otherwise.expression())
            }
            Kind::Macro(macro_, _) => self.is_never_undefined(self.tree.macro_(macro_).value),
            Kind::Chain(links) => {
                let mut links = self.tree.chain(links).iter();
                links.any(|&(_, link)| self.is_never_undefined(link))
            }
            _ => self.has_one_type(id),
        }
    }

    /// Whether an expression has the same type whatever is in it.
    pub(crate) fn has_one_type(&self, id: ExpressionId) -> bool {
        match self.tree.expression(id).kind {
            Kind::Negate(_) | Kind::Not(_) | Kind::Binary(..) => true,
            Kind::Call(function, _) => matches!(
                self.name(function),
                "defined" | "downcase" | "join" | "sum" | "topdir" | "typeof" | "upcase"
            ),
            Kind::Macro(macro_, _) => self.has_one_type(self.tree.macro_(macro_).value),
            _ => false,
        }
    }

    /// Whether an expression is a block whichever way its conditions go.
    fn is_block(&self, id: ExpressionId) -> bool {
        match self.tree.expression(id).kind {
            Kind::Block(_) | Kind::Import(..) => true,
            Kind::If(_, then, Some(otherwise)) => {
                self.is_block(then) && self.is_block(otherwise.expression())
            }
            Kind::Macro(macro_, _) => self.is_block(self.tree.macro_(macro_).value),
            _ => false,
        }
    }

    /// The files whose assignment is the value of a name: nothing that they beat can change it.
    fn winners(&mut self, block: BlockId, name: Symbol) -> Vec<FileKey> {
        let by = self.assigned(block, name);
        // What is below the others in a chain may have come from any file that the chain applies to.
        let is_listed = self.block(block).ranking == Ranking::Listed;
        let ranked = by.iter().filter(|one| !is_listed || one.rank > 0);
        ranked.map(|one| one.file).collect()
    }

    /// The files whose assignment is the value of a name in a block that was merged for an entry: if it is
    /// another's block, all that matters is who refers to it.
    fn inner_winners(&mut self, entry: EntryId, block: BlockId, name: Symbol) -> Vec<FileKey> {
        if self.block(block).home.entry != Some(entry) {
            return Vec::new();
        }
        let mut winners = self.winners(block, name);
        // What a link of a chain assigns beats whatever the chain applies to.
        let mut chained = Some(block);
        while let Some(block) = chained {
            let assigned = self.assigned(block, name);
            if assigned.iter().any(|one| one.rank > 0) {
                winners.extend(self.chain_of(entry));
                break;
            }
            chained = match self.block(block).parts.as_slice() {
                [Part::Block(lower, _), ..] if self.block(*lower).home.entry == Some(entry) => {
                    Some(*lower)
                }
                _ => None,
            };
        }
        winners
    }

    /// The file of the chain that is the value of an entry, if it is one.
    fn chain_of(&mut self, entry: EntryId) -> Option<FileKey> {
        let candidates = self.candidates(&self.says(entry));
        let home = self.home_of(entry);
        match self.unnoted(|evaluator| evaluator.rule(candidates, home)) {
            Ok(Ruling::Chained { by, .. }) => Some(by.file),
            _ => None,
        }
    }

    /// The definitions whose assignment is the value of a name.
    pub(crate) fn assigned(&mut self, block: BlockId, name: Symbol) -> Vec<Candidate> {
        let Some(entry) = self.known(block, name) else {
            return Vec::new();
        };
        if !matches!(self.entry(entry).state, State::Done(_)) {
            return Vec::new();
        }
        if self.entry(entry).block != block {
            return self.brought(block, entry).into_iter().collect();
        }
        let says = self.says(entry);
        let candidates = self.candidates(&says);
        let home = self.home_of(entry);
        let mut by = match self.unnoted(|evaluator| evaluator.rule(candidates, home)) {
            Ok(Ruling::Assigned { by, .. }) => by,
            Ok(Ruling::Chained { by, .. }) => vec![by],
            _ => Vec::new(),
        };
        by.retain(|one| one.operator == Mutation::Assign);
        // Were it not beaten, what is private would hide the name: so who imports whom may matter.
        let files: Vec<FileKey> = by.iter().map(|one| one.file).collect();
        let candidates = self.candidates(&says);
        let is_hiding = |one: &Candidate| {
            self.is_said_privately(one) && !self.is_always_below(home.order, one.file, &files)
        };
        if !self.is_private(entry) && candidates.iter().any(is_hiding) {
            by.clear();
        }
        by
    }

    /// The part of a block, as a definition, that brought an entry of another block: all that is said about it.
    fn brought(&mut self, block: BlockId, entry: EntryId) -> Option<Candidate> {
        let ranking = self.block(block).ranking;
        let parts = self.block(block).parts.clone();
        let name = self.entry(entry).name;
        for (number, part) in parts.as_slice().iter().enumerate() {
            if let Part::Block(inner, scope) = *part
                && self.known(inner, name) == Some(entry)
            {
                let says = Contribution {
                    source: Source::Entry(entry),
                    scope,
                    rank: crate::expand::rank(ranking, number),
                };
                return self.candidates(&[says]).pop();
            }
        }
        None
    }

    /// The definition that is the value of a name, if nothing beside it can be.
    fn decided(
        &mut self,
        block: BlockId,
        name: Symbol,
        share: Share,
        asked: BlockId,
    ) -> Option<Arc<Decided>> {
        let entry = self.known(block, name)?;
        let is_done = matches!(self.entry(entry).state, State::Done(_));
        if self.entry(entry).block != block
            || !is_done
            || self.block(block).ranking == Ranking::Listed
        {
            return None;
        }
        let candidates = self.candidates(&self.says(entry));
        let home = self.home_of(entry);
        let ruling = self.unnoted(|evaluator| evaluator.rule(candidates.clone(), home));
        let (by, undefined) = match ruling {
            Ok(Ruling::Assigned { by, undefined, .. }) => (by.into_iter().next()?, undefined),
            Ok(Ruling::Chained { by, undefined, .. }) => (by, undefined),
            _ => return None,
        };
        let What::Expression(_) = by.what else {
            return None;
        };
        let mut undefined = undefined.iter();
        if by.operator != Mutation::Assign
            || undefined.any(|one| self.beats(home.order, one.file, by.file))
        {
            return None;
        }
        let is_seen = !self.is_private(entry);
        let is_hiding = |one: &Candidate| {
            self.is_said_privately(one) && !self.is_always_below(home.order, one.file, &[by.file])
        };
        if is_seen && candidates.iter().any(is_hiding) {
            return None;
        }
        let mut way = vec![by.span];
        let mut files = vec![by.file];
        let mut scope = self.scope(by.scope);
        while let Some((importer, span)) = scope.importer {
            let importer = self.scope(importer);
            // An import that would be made anyway decides nothing.
            let is_unconditional = scope.root == asked
                && self
                    .unconditional(asked, importer.file)
                    .contains(&scope.file);
            if !is_unconditional {
                way.push(span);
            }
            files.push(importer.file);
            scope = importer;
        }
        // It may stand in a macro: then what is defined as that is on the way.
        if let (Share::Part, Some(around)) = (share, self.block(block).home.entry) {
            let around = self.candidates(&self.says(around)).into_iter();
            let around = around.filter(|one| files.contains(&one.file));
            way.extend(around.map(|one| one.span));
        }
        Some(Arc::new(Decided {
            share,
            file: by.file,
            way,
            is_seen,
        }))
    }

    /// Whether an inline statement is on the way by which a definition came.
    fn is_on_way(&self, id: ExpressionId, way: &[Span]) -> bool {
        let Expression { kind, span } = self.tree.expression(id);
        match kind {
            Kind::Macro(macro_, _) => self.is_on_way(self.tree.macro_(macro_).value, way),
            Kind::If(_, then, otherwise) => {
                self.is_on_way(then, way)
                    || otherwise.is_some_and(|one| self.is_on_way(one.expression(), way))
            }
            Kind::Block(body) => {
                let mut statements = self.tree.body(body).statements();
                way.iter()
                    .any(|one| span.start <= one.start && one.end <= span.end)
                    || statements.any(|id| match self.tree.statement(id) {
                        Statement::Inline(inline) => self.is_on_way(inline, way),
                        Statement::Define(_) => false,
                    })
            }
            _ => way.contains(&span),
        }
    }

    /// Whether what is said in a scope is beaten by the value of the name that is asked for.
    fn is_beaten(&self, asked: Asked<'_>, scope: ScopeId) -> bool {
        let file = self.scope(scope).file;
        let mut winners = asked.winners.iter();
        winners.any(|&winner| self.beats(asked.home.order, winner, file))
    }

    fn body_presence(&mut self, body: BodyId, scope: ScopeId, asked: Asked<'_>) -> Evaluated<()> {
        let file = self.scope(scope).file;
        if !self.tree.body(body).inline || self.is_beaten(asked, scope) {
            return Ok(());
        }
        let inlines = self.inlines_of(body, file);
        let found = match asked.name {
            Some(name) => inlines.by_name.get(&name).map_or(&[][..], |found| found),
            None => &inlines.all,
        };
        // What a file imports, it beats.
        let is_winner = asked.winners.contains(&file);
        for &(inline, imported) in found {
            work::step();
            let could = match (asked.next, asked.decided, imported) {
                (None, None, Imported::No) => Could::Define,
                _ => Could::PerhapsDefine,
            };
            if imported == Imported::No || !is_winner {
                self.inline_presence(inline, scope, asked, could)?;
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
            block,
            name,
            next,
            home,
            ..
        } = asked;
        let file = self.scope(scope).file;
        match self.tree.expression(id).kind {
            Kind::Block(body) => self.body_presence(body, scope, asked),
            Kind::If(condition, then, otherwise) => {
                let otherwise = otherwise.map(|otherwise| otherwise.expression());
                if could == Could::PerhapsDefine {
                    let mut search = Search {
                        next,
                        has_imports: !asked.winners.contains(&file),
                        known: Some(self.known_to(asked, file)),
                        decided: asked.decided.cloned(),
                        said_by: asked.said_by,
                        ..Search::of(name)
                    };
                    let could = asked.is_on_way(self, id)
                        || self.could_define(then, file, &mut search)
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
                let is_written = self.is_literal(argument);
                let (imported, body) =
                    self.unnoted(|evaluator| evaluator.import(id, scope, home))?;
                let mut search = Search {
                    next,
                    ..Search::of(name)
                };
                let could = match is_written {
                    true => self.body_could_define(body, imported, &mut search),
                    false => {
                        search.known = Some(self.known_to(asked, file));
                        search.decided = asked.decided.cloned();
                        search.said_by = asked.said_by;
                        asked.is_on_way(self, id)
                            && !self.is_brought_anyway(argument, file, imported, asked)
                            || self.could_define(id, file, &mut search)
                    }
                };
                if could {
                    self.import(id, scope, home)?;
                }
                match self.imported.get(&(block, imported)) {
                    Some(&inner) if inner != scope => self.body_presence(body, inner, asked),
                    _ => Ok(()),
                }
            }
            _ => {
                let datum = self.deciding(|evaluator| evaluator.evaluate(id, scope, home))?;
                if let Form::Block(inner) = datum.form {
                    self.because_presence(inner, name, next);
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
            Kind::Import(argument, _) => {
                let Named::Files(files) = self.named(argument, file) else {
                    return Err(Unknown);
                };
                for &(file, body) in files.iter() {
                    if self.tree.body(body).inline {
                        return Err(Unknown);
                    }
                    self.names_in(body, file, Imported::Yes, names)?;
                }
                Ok(())
            }
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

    /// Whether the file that decides what is asked for would come by any other file that an import could name.
    fn is_brought_anyway(
        &mut self,
        argument: ExpressionId,
        file: FileKey,
        imported: FileKey,
        asked: Asked<'_>,
    ) -> bool {
        let (Some(decided), Named::Files(files)) = (asked.decided, self.named(argument, file))
        else {
            return false;
        };
        files.iter().all(|&(other, body)| {
            other == imported || self.imports_in_any_case(other, body, decided.file)
        })
    }

    /// What is imported anyway, for an inline statement of a file.
    fn known_to(&mut self, asked: Asked<'_>, file: FileKey) -> Known {
        Known {
            block: asked.block,
            unconditional: self.unconditional(asked.block, file),
            is_said_once: asked.is_said_once,
        }
    }

    /// What a file imports into a block, directly or not, that no condition can prevent.
    fn unconditional(&mut self, block: BlockId, file: FileKey) -> Arc<FxHashSet<FileKey>> {
        if let Some(known) = self.unconditional.get(&(block, file)) {
            return Arc::clone(known);
        }
        let mut found = FxHashSet::default();
        let parts = self.block(block).parts.clone();
        let bodies = parts.as_slice().iter().filter_map(|part| match *part {
            Part::Body(body, scope) if self.scope(scope).file == file => Some((body, file)),
            _ => None,
        });
        let mut pending: Vec<(BodyId, FileKey)> = bodies.collect();
        if self.imported.contains_key(&(block, file)) {
            pending.push((self.imports.body(file), file));
        }
        while let Some((body, file)) = pending.pop() {
            for (imported, body) in self.imported_in_any_case(body, file) {
                work::step();
                if found.insert(imported) {
                    pending.push((body, imported));
                }
            }
        }
        let found = Arc::new(found);
        self.unconditional.insert((block, file), Arc::clone(&found));
        found
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
                Named::Files(files) => files.iter().any(|&(imported, body)| {
                    let known = search.known.as_ref();
                    let is_known = known.is_some_and(|known| self.is_imported(known, id, imported));
                    !is_known && self.body_could_define(body, imported, search)
                }),
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
        let outline = self.outline(body);
        let is_defined = match search.name {
            None => !outline.defined.is_empty(),
            Some(name) => {
                let mut definitions = outline.defined.get(&name).into_iter().flatten();
                definitions.any(|&one| self.could_define_within(one, file, search))
            }
        };
        let mut inlines = outline.inlines.iter();
        is_defined || inlines.any(|&inline| self.could_define(inline, file, search))
    }

    /// What is written in a body, by name.
    pub(crate) fn outline(&mut self, body: BodyId) -> Arc<Outline> {
        if let Some(known) = self.outlines.get(&body) {
            return Arc::clone(known);
        }
        let mut outline = Outline::default();
        for id in self.tree.body(body).statements() {
            work::step();
            match self.tree.statement(id) {
                Statement::Define(definition) => {
                    let found = outline.defined.entry(definition.name).or_default();
                    found.push(definition);
                }
                Statement::Inline(inline) => outline.inlines.push(inline),
            }
        }
        let outline = Arc::new(outline);
        self.outlines.insert(body, Arc::clone(&outline));
        outline
    }

    /// Whether a file is in a block anyway, and an import of it changes nothing.
    fn is_imported(&self, known: &Known, import: ExpressionId, imported: FileKey) -> bool {
        if known.unconditional.contains(&imported) {
            return true;
        }
        // If only one file says something about a name, it does not matter whom it beats; then all that
        // matters is the import that brought it.
        let scope = self.imported.get(&(known.block, imported));
        let importer = scope.and_then(|&scope| self.scope(scope).importer);
        known.is_said_once && importer.is_some_and(|(_, span)| span != self.span(import))
    }

    /// Whether a definition could define the name that is asked for in what it defines, so that it matters.
    /// What is merged only adds what it has.
    fn could_define_within(
        &mut self,
        definition: Definition,
        file: FileKey,
        search: &Search,
    ) -> bool {
        let decided = search.decided.as_ref();
        if let Some(decided) = decided
            && decided.share == Share::Whole
            && !(definition.private && decided.is_seen)
            && !(file != decided.file && self.could_import(file, decided.file))
        {
            return false;
        }
        let Some(next) = search.next else { return true };
        if definition.private {
            return true;
        }
        // Beside or below all that is said about it, whatever agrees with that only adds what it has.
        let is_added = match search.said_by {
            Some(said_by) => file == said_by || !self.could_import(file, said_by),
            None => false,
        };
        if definition.operator != Mutation::Merge && !is_added {
            return true;
        }
        let decided = search.decided.as_ref();
        let decided = decided.filter(|decided| decided.share == Share::Part);
        let within = decided.map(|decided| {
            Arc::new(Decided {
                share: Share::Whole,
                file: decided.file,
                way: Vec::new(),
                is_seen: decided.is_seen,
            })
        });
        let mut inner = Search {
            decided: within,
            ..Search::of(Some(next))
        };
        self.could_define(definition.value, file, &mut inner)
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

/// Several files say something.
#[derive(Clone, Copy)]
struct Several;

/// What is imported into a block without an inline statement that is looked at.
struct Known {
    block: BlockId,
    /// What the file that it stands in imports in any case.
    unconditional: Arc<FxHashSet<FileKey>>,
    /// Whether at most one file says something about the name that is asked for.
    is_said_once: bool,
}

/// The statements of a body.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    defined: FxHashMap<Symbol, Vec<Definition>>,
    pub inlines: Vec<ExpressionId>,
}

/// A search for what could define a name.
struct Search {
    /// None for any name.
    name: Option<Symbol>,
    /// A name in that.
    next: Option<Symbol>,
    /// Whether imported files count.
    has_imports: bool,
    /// The imports that bring nothing new.
    known: Option<Known>,
    /// The definition that is the value: another matters only if it can beat or hide that.
    decided: Option<Arc<Decided>>,
    /// The only file that says something about the name.
    said_by: Option<FileKey>,
    seen: FxHashSet<BodyId>,
}

impl Search {
    /// For a name, or for any, wherever it is.
    fn of(name: Option<Symbol>) -> Self {
        Self {
            name,
            next: None,
            has_imports: true,
            known: None,
            decided: None,
            said_by: None,
            seen: FxHashSet::default(),
        }
    }
}

impl Node {
    pub(crate) fn key(self) -> Key {
        match self {
            Node::Entry(entry, within) => Key::Entry(entry, within),
            Node::Element(list, index) => Key::Element(list, index),
            Node::Argument(scope, number, _, within) => Key::Argument(scope.0, number, within),
            Node::Presence(block, name, within) => Key::Presence(block, name, within),
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
}
