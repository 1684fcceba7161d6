//! What a value depends on.
//!
//! Nothing is recorded while a configuration is compiled. To learn what a value was computed from, it is
//! computed once more, with everything that it reads written down: what is written, and other values, which
//! were computed already and are looked at in turn. So what is told is what evaluation does, by construction.
//!
//! That a name has the value it has also depends on what did not define it: a condition whose other branch
//! names it, an import whose file is computed (DESIGN: absence).

mod absence;
mod presence;

use std::sync::Arc;

use hence_model::cell::Item;
use hence_model::explanation::{Dependence, Role};
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use rustc_hash::FxHashSet;

use crate::datum::{BlockId, Elements, EntryId, FileKey, Home, ListId, Names, ScopeId, Source};
use crate::evaluate::{Evaluated, Evaluator};
use crate::lexer::{Lexer, Token};
use crate::syntax::{Expression, ExpressionId, Kind};

pub(crate) use self::absence::{Inlines, Outline};

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
        self.spent = 0;
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
