//! Rhai, with everything taken away that could do more than compute, and every limit set.

use std::sync::LazyLock;

use rhai::{Dynamic, Engine, EvalContext, ImmutableString, LexError, OptimizationLevel, Token};

use crate::call::{self, Answer, Stop};
use crate::data::{ELEMENTS, TEXT};
use crate::library;

/// The longest file, in bytes.
pub(crate) const SOURCE: usize = 32 * 1024;
/// The longest text that stands in a file: what it costs to look at it again is not counted.
pub(crate) const LITERAL: usize = 4 * 1024;
/// How deep functions may call each other. This and the next two bound the stack to about 1 MB.
pub(crate) const CALLS: usize = 20;
/// How deep calls and operators may nest in an expression.
pub(crate) const OPERATORS: usize = 16;
/// How deep anything may nest in the text, as Rhai counts it.
const EXPRESSION: usize = 32;
/// How many variables one function may have at a time, and how many functions one file.
const NAMES: usize = 128;
/// What it costs to use a variable that a closure shares. Closures in closures are taken down by recursion, so this bounds
/// the stack of an interpreter.
const SHARED: u64 = 50;

/// What a file calls `eval` is known to Rhai by the paper's name: its own `eval` runs text as a script.
pub(crate) const EVAL: &str = "Eval";

/// An argument that the script asked to get unevaluated, or with its place.
#[derive(Clone)]
pub(crate) struct Argument {
    pub index: usize,
    pub place: ImmutableString,
    pub text: ImmutableString,
}

/// The engine. It has no state: what a call needs is in [`call::current`].
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let mut engine = bounded();
    engine
        .set_max_call_levels(CALLS)
        .set_max_expr_depths(EXPRESSION, EXPRESSION)
        .set_max_variables(NAMES)
        .set_max_functions(NAMES);
    // `throw` and `catch` are a second way to refuse, and a function answers with its result only.
    for symbol in ["try", "catch", "throw", "print", "debug"] {
        engine.disable_symbol(symbol);
    }
    engine.register_type_with_name::<Argument>("argument");
    library::pure(&mut engine, "value", value);
    library::pure(&mut engine, "place", |argument: &mut Argument| {
        argument.place.clone()
    });
    library::pure(&mut engine, "text", text);
    engine.register_fn("fail", |words: &str| {
        call::stop::<()>(Stop::Refuses(words.into()))
    });
    engine
});

/// The language with its library, in which every step and every value is bounded.
pub(crate) fn bounded() -> Engine {
    let mut engine = Engine::new_raw();
    // An optimised list is one constant that is copied in one operation.
    engine.set_optimization_level(OptimizationLevel::None);
    // With fast operators, those of the library would not be asked.
    engine.set_fast_operators(false);
    engine.set_max_strings_interned(0);
    engine
        .set_max_string_size(TEXT)
        .set_max_array_size(ELEMENTS)
        .set_max_map_size(ELEMENTS);
    // `this` would be copied without a count, `Fn` and `curry` make functions that nobody wrote, and the
    // others look outside.
    for symbol in [
        "this",
        "Fn",
        "curry",
        "is_shared",
        "is_def_fn",
        "is_def_var",
    ] {
        engine.disable_symbol(symbol);
    }
    engine.on_progress(|_| call::spend(1).is_err().then_some(Dynamic::UNIT));
    watch(&mut engine);
    engine
        .register_type_with_name::<i64>("integer")
        .register_type_with_name::<f64>("float");
    library::register(&mut engine);
    engine
}

/// The value of an argument. If nobody knows it yet, the script stops, and starts again when it is known.
fn value(argument: &mut Argument) -> Answer<Dynamic> {
    let index = argument.index;
    match call::copy(|call| call.answers[index].as_ref())? {
        Some(value) => Ok(value),
        None => call::stop(Stop::Asks(index)),
    }
}

/// An argument as it is written.
fn text(argument: &mut Argument) -> Answer<ImmutableString> {
    call::spend_bytes(argument.text.len())?;
    Ok(argument.text.clone())
}

// Rhai calls these two deprecated because their form may change with a later version.
#[allow(deprecated)]
fn watch(engine: &mut Engine) {
    engine.on_var(|name, index, context| variable(name, index, &context));
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) if *word == "eval" => Token::Identifier(Box::new(EVAL.into())),
        // An integer that is too large would become a float.
        Token::FloatConstant(number) if !number.1.contains(['.', 'e', 'E']) => {
            Token::LexError(Box::new(LexError::MalformedNumber(number.1.to_string())))
        }
        // A character is a text like any other.
        Token::CharConstant(char) => Token::StringConstant(Box::new(char.to_string().into())),
        token => token,
    });
}

/// Sees every use of a variable: most copy it. Finds the constants of the file, which Rhai does not show
/// to functions.
fn variable(name: &str, index: usize, context: &EvalContext) -> Answer<Option<Dynamic>> {
    let scope = context.scope();
    // The index counts from the last variable, as the iterator does.
    let local = match index.checked_sub(1) {
        Some(index) => scope.iter_raw().nth(index).map(|(_, _, value)| value),
        None => scope.get(name),
    };
    match local {
        Some(value) => {
            if value.is_shared() {
                call::spend(SHARED)?;
            }
            call::spend_on(value).map(|()| None)
        }
        None => call::copy(|call| call.constants.get(name)),
    }
}
