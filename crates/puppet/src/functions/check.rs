//! Whether values are what they should be.

use super::{Function, plain};
use crate::value::Datum;

pub(super) const FUNCTIONS: &[Function] = &[plain(
    "assert_private",
    (0, 1),
    "assert_private(String $message = ''): fails if the class or defined type around is used from another module",
    |evaluator, call| {
        let call = call.older();
        let module = |evaluator: &crate::evaluate::Evaluator<'_>, name: &str| {
            let definition = evaluator.visible(name, call.at.span).ok()??;
            Some(evaluator.trace.definition(definition).value.datum.clone())
        };
        let own = module(evaluator, "module_name");
        let caller = module(evaluator, "caller_module_name");
        if own == caller {
            return Ok(evaluator.written(Datum::Undef, call.at.span));
        }
        let message = match call.arguments.first().map(|message| &message.datum) {
            Some(Datum::Text(message)) => message.to_string(),
            _ => {
                let id = evaluator.scopes[evaluator.scope.index()].resource;
                let reference = evaluator.resources[id.index()].reference();
                format!("{reference} is private")
            }
        };
        let trouble = hence_model::diagnostic::Diagnostic::error(PRIVATE, message);
        Err(evaluator.with_chain(trouble.at(call.at.span)))
    },
)];

/// A class or defined type is used from another module, and may not be.
pub const PRIVATE: hence_model::diagnostic::Code =
    hence_model::diagnostic::Code::new("puppet.private");

/// Whether a line of a text is a whole number, without zeros before it.
pub(super) fn is_integer(text: &str) -> bool {
    let is_number = |line: &str| {
        let digits = line.strip_prefix('-').unwrap_or(line);
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain && !digits.is_empty() && (digits == "0" || !digits.starts_with('0'))
    };
    text.split('\n').any(is_number)
}
