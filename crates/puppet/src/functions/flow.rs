//! Leaving code early, failing, and messages.

use hence_model::diagnostic::{Code, Diagnostic};

use super::{ANY, Function, Takes};
use crate::evaluate::{Evaluator, Invocation, Stop};
use crate::value::{Datum, Value};

/// `fail()` was called.
pub const FAILED: Code = Code::new("puppet.fail");
/// `next`, `return` or `break` where nothing can be left.
pub const MISPLACED: Code = Code::new("puppet.misplaced");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "fail",
        arguments: (0, ANY),
        lambda: Takes::None,
        about: "fail(Any *$words): ends the compilation with a message",
        run: |evaluator, call| {
            let trouble = Diagnostic::error(FAILED, message(&call)).at(call.at.span);
            Err(evaluator.with_chain(trouble))
        },
    },
    Function {
        name: "next",
        arguments: (0, 1),
        lambda: Takes::None,
        about: "next(Any $value = undef): ends this round of a lambda with a value",
        run: |evaluator, call| {
            let span = call.at.span;
            evaluator.last();
            Err(Box::new(Stop::Next(value_of(evaluator, call), span)))
        },
    },
    Function {
        name: "return",
        arguments: (0, 1),
        lambda: Takes::None,
        about: "return(Any $value = undef): ends a function, or the body of a class or defined type",
        run: |evaluator, call| {
            let span = call.at.span;
            evaluator.last();
            Err(Box::new(Stop::Return(value_of(evaluator, call), span)))
        },
    },
    Function {
        name: "break",
        arguments: (0, 0),
        lambda: Takes::None,
        about: "break(): ends an iteration",
        run: |evaluator, call| {
            evaluator.last();
            Err(Box::new(Stop::Break(call.at.span)))
        },
    },
    Function {
        name: "deprecation",
        arguments: (2, 2),
        lambda: Takes::None,
        about: "deprecation(String $key, String $message): a message about something that will go; a mistake where reading is strict",
        run: |evaluator, call| {
            call.text(evaluator, 0)?;
            let message = call.text(evaluator, 1)?.to_string();
            if evaluator.options.strict {
                let trouble = Diagnostic::error(FAILED, message).at(call.at.span);
                return Err(evaluator.with_chain(trouble));
            }
            evaluator.log.push(("warning", message, call.at.span));
            Ok(evaluator.written(Datum::Undef, call.at.span))
        },
    },
    log(
        "debug",
        "debug(Any *$words): a message for those who look closely",
    ),
    log(
        "info",
        "info(Any *$words): a message for those who want to know",
    ),
    log("notice", "notice(Any *$words): a message"),
    log(
        "warning",
        "warning(Any *$words): a message about something doubtful",
    ),
    log("err", "err(Any *$words): a message about something wrong"),
    log(
        "alert",
        "alert(Any *$words): a message about something that cannot wait",
    ),
    log(
        "crit",
        "crit(Any *$words): a message about something serious",
    ),
    log("emerg", "emerg(Any *$words): a message about the worst"),
];

const fn log(name: &'static str, about: &'static str) -> Function {
    Function {
        name,
        arguments: (0, ANY),
        lambda: Takes::None,
        about,
        run: |evaluator, call| {
            let text = message(&call);
            let level = super::find(call.name).map_or("notice", |function| function.name);
            evaluator.log.push((level, text, call.at.span));
            Ok(evaluator.written(Datum::Undef, call.at.span))
        },
    }
}

fn message(call: &Invocation<'_>) -> String {
    let words = call
        .arguments
        .iter()
        .map(|argument| crate::text::text(&argument.datum));
    words.collect::<Vec<_>>().join(" ")
}

fn value_of<'t>(evaluator: &Evaluator<'t>, mut call: Invocation<'t>) -> Value {
    match call.arguments.pop() {
        Some(value) => value,
        None => evaluator.written(Datum::Undef, call.at.span),
    }
}
