//! Reads the trace: why something is what it is.

use hence_model::explanation::{Explanation, NoSuchPath};
use hence_model::path::{Path, Segment};
use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;

use crate::compile::Compiled;
use crate::evaluate::Evaluator;
use crate::trace::{Node, Origin, Source};

impl<'t> Evaluator<'t> {
    /// Where an `undef` comes from, and in words why it is one.
    pub(crate) fn absence(&self, origin: Origin) -> Option<(Span, String)> {
        let mut origin = origin;
        loop {
            match self.trace.source(origin) {
                Source::Written(at) => {
                    return Some((Span::at(at), "`undef` is written here".to_owned()));
                }
                Source::Node(Node::Unknown { at, .. }) => {
                    return Some((at.span, "nothing defines this variable".to_owned()));
                }
                Source::Node(Node::Element { at, .. }) => {
                    return Some((at.span, "there is no such element".to_owned()));
                }
                Source::Node(Node::Variable { definition, .. }) => {
                    origin = self.trace.definition(*definition).value.origin;
                }
                Source::Node(Node::Outcome { value, .. } | Node::Found { value, .. }) => {
                    origin = *value;
                }
                Source::Node(Node::Operation { at, .. }) => {
                    return Some((at.span, "this comes to `undef`".to_owned()));
                }
                Source::Node(Node::Outside(_) | Node::Lacking { .. } | Node::Made { .. }) => {
                    return None;
                }
            }
        }
    }
}

impl<'t> Compiled<'t> {
    /// Why the value at a path is what it is.
    pub fn explain(&mut self, _unit: &Unit, path: &Path) -> Result<Explanation, NoSuchPath> {
        Err(NoSuchPath {
            known: path.clone(),
            names: Vec::new(),
        })
    }

    /// Names every value that depends on what is written in a stretch of source.
    pub fn impact(&mut self, _unit: &Unit, _place: Span, _name: &mut dyn FnMut(&[Segment])) {}

    /// The stretch that is meant by a line, or by a column of it.
    pub fn meant(&self, _: &Unit, _: FileId, _: u32, _: Option<u32>) -> Option<Span> {
        None
    }
}
