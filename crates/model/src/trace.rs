//! Where values come from: recorded once while evaluating, read later as often as one likes.
//!
//! An origin is 32 bits. For a literal it is the literal's own place, so most values need no record
//! at all; for anything that travelled or was computed it is the number of a [`Node`]. What travelled
//! by inheritance needs no node either: the blocks' logs tell that by themselves (see [`crate::store`]).

use std::fmt::Debug;

use crate::cell::Cell;
use crate::source::Span;
use crate::store::{BlockId, Time};
use crate::symbol::Symbol;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin(u32);

const NODE: u32 = 1 << 31;

impl Origin {
    /// The origin of something written at an offset.
    pub fn written(at: u32) -> Self {
        Self(at)
    }
}

/// An origin, unpacked.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Written at this offset.
    Written(u32),
    /// Travelled or computed.
    Node(&'a Node),
}

/// How a value that was not written in its place came to be.
#[derive(Clone, Debug)]
pub enum Node {
    /// It is what a reference names.
    Link(Link),
    /// It was computed.
    Operation(Box<Operation>),
}

/// A reference that was followed. It tells where the search began, and where it ended; the rest can
/// be read again from the blocks, which forget nothing.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The reference as written.
    pub span: Span,
    /// The block in which it is written.
    pub from: BlockId,
    /// The block, `from` or one around it, in which its target was found.
    pub level: BlockId,
    /// When.
    pub time: Time,
    /// The names that lead from `level` to the target: see [`Trace::keys`].
    keys: (u32, u32),
}

impl Link {
    /// A reference that was followed.
    pub fn new(span: Span, from: BlockId, level: BlockId, time: Time) -> Self {
        let keys = (0, 0);
        Self {
            span,
            from,
            level,
            time,
            keys,
        }
    }
}

/// Something computed.
#[derive(Clone, Debug)]
pub struct Operation<O = Origin> {
    /// The operator or function, as it is written.
    pub operator: &'static str,
    /// The whole expression.
    pub span: Span,
    /// What it was computed from.
    pub operands: Vec<Operand<O>>,
    /// Whether the elements of the result stand or fall together: then each depends on all operands.
    pub together: bool,
}

/// What an operation was computed from.
#[derive(Clone, Copy, Debug)]
pub struct Operand<O = Origin> {
    /// The value.
    pub cell: Cell,
    /// Where that came from.
    pub origin: O,
    /// Whether it is part of the result, or chose it.
    pub role: Role,
}

/// What an operand does for the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The result is made of it.
    Operand,
    /// It decided which operand the result is made of.
    Condition,
}

/// Takes note of origins while an evaluator runs. Evaluators are generic over it, so that the cost
/// of recording can be measured against [`NoTrace`].
pub trait Recorder: Default {
    /// What is kept beside each value.
    type Origin: Copy + Debug;

    /// A value written at an offset.
    fn written(&mut self, at: u32) -> Self::Origin;
    /// A value that a reference led to, by the names behind its level.
    fn link(&mut self, link: Link, keys: impl Iterator<Item = Symbol>) -> Self::Origin;
    /// A value computed from others.
    fn operation(&mut self, operation: impl FnOnce() -> Operation<Self::Origin>) -> Self::Origin;
    /// The offset at which a value, or the reference or expression that it comes from, is written.
    fn place(&self, origin: Self::Origin) -> Option<u32>;
}

/// The record of one compilation: an arena that only grows.
#[derive(Default)]
pub struct Trace {
    nodes: Vec<Node>,
    /// The names of all links, one after another.
    keys: Vec<Symbol>,
}

impl Trace {
    /// Unpacks an origin.
    pub fn source(&self, origin: Origin) -> Source<'_> {
        if origin.0 & NODE == 0 {
            Source::Written(origin.0)
        } else {
            Source::Node(&self.nodes[(origin.0 & !NODE) as usize])
        }
    }

    /// The names that lead from a link's level to its target.
    pub fn keys(&self, link: Link) -> &[Symbol] {
        &self.keys[link.keys.0 as usize..link.keys.1 as usize]
    }

    fn node(&mut self, node: Node) -> Origin {
        self.nodes.push(node);
        Origin((self.nodes.len() - 1) as u32 | NODE)
    }
}

impl Recorder for Trace {
    type Origin = Origin;

    fn written(&mut self, at: u32) -> Origin {
        Origin::written(at)
    }

    fn link(&mut self, link: Link, keys: impl Iterator<Item = Symbol>) -> Origin {
        let start = self.keys.len() as u32;
        self.keys.extend(keys);
        let keys = (start, self.keys.len() as u32);
        self.node(Node::Link(Link { keys, ..link }))
    }

    fn operation(&mut self, operation: impl FnOnce() -> Operation) -> Origin {
        self.node(Node::Operation(Box::new(operation())))
    }

    fn place(&self, origin: Origin) -> Option<u32> {
        Some(match self.source(origin) {
            Source::Written(at) => at,
            Source::Node(Node::Link(link)) => link.span.start,
            Source::Node(Node::Operation(operation)) => operation.span.start,
        })
    }
}

/// Records nothing. Only for measuring: users always have the trace.
#[derive(Default)]
pub struct NoTrace;

impl Recorder for NoTrace {
    type Origin = ();

    fn written(&mut self, _: u32) {}
    fn link(&mut self, _: Link, _: impl Iterator<Item = Symbol>) {}
    fn operation(&mut self, _: impl FnOnce() -> Operation<()>) {}
    fn place(&self, (): ()) -> Option<u32> {
        None
    }
}
