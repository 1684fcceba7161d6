//! Data for manifests: what a key means for a node.

use hence_model::source::Span;

use crate::evaluate::{Evaluator, Outcome};
use crate::value::Value;

impl<'t> Evaluator<'t> {
    /// What the data say about a parameter of a class.
    pub(crate) fn automatic(&mut self, _key: &str, _span: Span) -> Outcome<Option<Value>> {
        Ok(None)
    }
}
