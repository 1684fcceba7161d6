//! Statements in the language of functions, for a host that adds objects of its own: a console.
//!
//! Unlike a function, statements have effects, through those objects. They can throw and catch, and their closures can use
//! what is around them. Everything is still paid for, so whatever is written ends.

use std::sync::Arc;

use rhai::{AST, Dynamic, Engine, EvalAltResult, ImmutableString, Scope};

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
        let text = text.trim_end();
        let lines = text.lines().count().max(1);
        let width = text.lines().last().map_or(0, |line| line.chars().count());
        let end = (lines as u32, width as u32);
        match error.1.is_none() || declarations::place(error.1) > end {
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
