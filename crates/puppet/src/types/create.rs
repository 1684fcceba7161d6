//! `Type.new(…)`.

use crate::value::{Datum, Value};

use super::Type;

/// Whether `new` of a type accepts a value, followed by some arguments.
pub(super) fn accepts(kind: &Type, arguments: &[Value], datum: &Datum) -> bool {
    accepted(kind, arguments)
        .iter()
        .any(|accepted| accepted.instance(datum))
}

/// What `new` of a type accepts, if some arguments follow.
pub(super) fn accepted(kind: &Type, _arguments: &[Value]) -> Vec<Type> {
    vec![kind.clone()]
}
