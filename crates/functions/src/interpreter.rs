//! Statements in the language of functions, for a host that adds objects of its own: a console.
//!
//! Unlike a function, statements have effects, through those objects. They can throw and catch, and their closures can use
//! what is around them. Everything is still paid for, so whatever is written ends.

use std::sync::Arc;

use rhai::{AST, Dynamic, Engine, EvalAltResult, ImmutableString, LexError, ParseErrorType, Scope};

use crate::call::{self, Call, Constants, Stop};
use crate::data;
use crate::declarations::{self, Mistake};
use crate::engine;
use crate::script::{Limits, explain};

/// What a function of the host answers a script.
pub type Answer<T> = Result<T, Box<EvalAltResult>>;

/// How far a text may go, in steps and in calls within calls.
const LIMITS: Limits = Limits {
    fuel: 20_000_000,
    calls: 64,
};
/// How deep anything may nest in the text, as Rhai counts it: outside of functions, and in them.
const EXPRESSION: (usize, usize) = (64, 32);
/// How many variables there may be at a time, and how many functions.
const NAMES: usize = 1_000;

/// Runs texts, one after the other; variables and functions stay.
pub struct Interpreter {
    engine: Engine,
    constants: Arc<Constants>,
    variables: Scope<'static>,
    functions: AST,
}

/// Why a text was not run to its end.
#[derive(Debug)]
pub struct Broken {
    /// What is wrong, and where it is known to be.
    pub mistake: Mistake,
    /// What was thrown, if something was.
    pub thrown: Option<Dynamic>,
}

/// Whether a text can be run as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// It can, or more of it would not help.
    Whole,
    /// It ends before something that it begins.
    Begun,
}

impl Interpreter {
    /// An interpreter with what a host adds to the language.
    pub fn new(add: impl FnOnce(&mut Engine)) -> Self {
        let mut engine = engine::bounded();
        engine
            .set_max_call_levels(LIMITS.calls)
            .set_max_expr_depths(EXPRESSION.0, EXPRESSION.1)
            .set_max_variables(NAMES)
            .set_max_functions(NAMES);
        add(&mut engine);
        Self {
            engine,
            constants: Arc::default(),
            variables: Scope::new(),
            functions: AST::empty(),
        }
    }

    /// Gives a value a name that is known everywhere, also in functions.
    pub fn name(&mut self, name: &str, value: impl Into<Dynamic>) {
        let constants = Arc::make_mut(&mut self.constants);
        constants.insert(ImmutableString::from(name), value.into());
    }

    /// Whether a text can be run, or more of it should be read first.
    pub fn completeness(&self, text: &str) -> Completeness {
        let Err(error) = self.engine.compile(text) else {
            return Completeness::Whole;
        };
        let place = declarations::place(error.1);
        let mut lines = text.trim_end().lines();
        // Only a text between backquotes can run over lines; its place is where it begins.
        if *error.0 == ParseErrorType::BadInput(LexError::UnterminatedString) {
            let line = lines.nth(place.0 as usize - 1).unwrap_or_default();
            return match line.chars().nth(place.1 as usize - 1) {
                Some('`') => Completeness::Begun,
                _ => Completeness::Whole,
            };
        }
        let last = lines.enumerate().last();
        let end = last.map_or((1, 0), |(before, line)| (before + 1, line.chars().count()));
        match error.1.is_none() || place > (end.0 as u32, end.1 as u32) {
            true => Completeness::Begun,
            false => Completeness::Whole,
        }
    }

    /// Runs a text, and answers with the value of its last expression.
    pub fn run(&mut self, text: &str) -> Result<Dynamic, Broken> {
        let ast = self.engine.compile(text).map_err(|error| Broken {
            mistake: declarations::unreadable(error),
            thrown: None,
        })?;
        self.functions = self.functions.merge(&ast.clone_functions_only());
        let statements = self.functions.merge(&ast);
        let mut call = Call::with(LIMITS.fuel, self.constants.clone());
        let (engine, variables) = (&self.engine, &mut self.variables);
        let (result, stop) = call.run(|| engine.eval_ast_with_scope(variables, &statements));
        match (result, stop) {
            (Err(error), _) => Err(broken(*error)),
            (Ok(_), Some(Stop::Spent)) => {
                let error = EvalAltResult::ErrorTerminated(Dynamic::UNIT, rhai::Position::NONE);
                Err(broken(error))
            }
            (Ok(result), _) => Ok(result),
        }
    }
}

fn broken(error: EvalAltResult) -> Broken {
    let thrown = match error.unwrap_inner() {
        EvalAltResult::ErrorRuntime(value, _) => Some(value.clone()),
        _ => None,
    };
    let (message, place) = explain(error, LIMITS);
    Broken {
        mistake: Mistake::new(place.unwrap_or((1, 1)), message),
        thrown,
    }
}

/// Pays for work of the host, or stops the script.
pub fn spend(steps: usize) -> Answer<()> {
    call::spend(steps as u64)
}

/// Pays for a value that the host has made, or stops the script.
pub fn paid(value: Dynamic) -> Answer<Dynamic> {
    call::spend_on(&value)?;
    Ok(value)
}

/// The text of a value, as in `"${value}"`.
pub fn text(value: &Dynamic) -> Answer<String> {
    call::spend_on(value)?;
    Ok(data::text(value))
}

/// What a text came to, for whoever reads it.
pub fn show(value: &Dynamic) -> String {
    data::literal(value)
}

/// The text of a value, as it is written in a script.
pub fn literal(value: &Dynamic) -> Answer<String> {
    call::spend_on(value)?;
    Ok(data::literal(value))
}

#[cfg(test)]
mod tests {
    use super::{Completeness, Interpreter};

    #[test]
    fn a_text_is_begun_until_all_that_it_opens_is_closed() {
        let interpreter = Interpreter::new(|_| {});
        let text =
            "fn twice(x) {\n    let list = [x,\n        `a\n`, #{a: \n\"b\"}\n];\n    list\n}";
        for (end, _) in text.match_indices('\n') {
            let begun = &text[..=end];
            assert_eq!(
                interpreter.completeness(begun),
                Completeness::Begun,
                "{begun}"
            );
        }
        for whole in [
            text,
            "let x = 1",
            "x + 1;",
            "oops oops",
            "fn f() { oops oops }",
        ] {
            assert_eq!(
                interpreter.completeness(whole),
                Completeness::Whole,
                "{whole}"
            );
        }
    }

    #[test]
    fn variables_and_functions_stay_and_mistakes_do_no_harm() {
        let mut interpreter = Interpreter::new(|_| {});
        interpreter.name("two", 2_i64);
        assert!(interpreter.run("let x = 3; fn f(y) { y * two }").is_ok());
        assert!(interpreter.run("let y = oops").is_err());
        assert_eq!(interpreter.run("f(x)").unwrap().as_int(), Ok(6));
    }
}
