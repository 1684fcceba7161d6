//! Statements in the language of functions, for a host that adds objects of its own: a console.
//!
//! Unlike a function, statements have effects, through those objects. They can throw and catch, and their closures can use
//! what is around them. Everything is still paid for, so whatever is written ends.

use std::any::TypeId;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use rhai::{
    AST, Dynamic, Engine, EvalAltResult, ImmutableString, LexError, Map, ParseErrorType, Scope,
};

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
/// The words of the language that somebody might begin to type.
const WORDS: [&str; 20] = [
    "break", "catch", "const", "continue", "do", "else", "false", "fn", "for", "if", "in", "let",
    "loop", "return", "switch", "throw", "true", "try", "until", "while",
];

/// Runs texts, one after the other; variables and functions stay.
pub struct Interpreter {
    engine: Engine,
    /// What functions of the language are about; those of the host are about its objects too.
    types: HashSet<TypeId>,
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

/// What stands before a name, and so decides which names there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before<'t> {
    /// Nothing that it belongs to.
    Nothing,
    /// A dot behind a name.
    Name(&'t str),
    /// A dot behind something else.
    Something,
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
        let types = functions(&engine).into_iter();
        let types = types.filter_map(|(_, first)| first).collect();
        add(&mut engine);
        Self {
            engine,
            types,
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

    /// The names that are known, and can be written where they are asked for.
    pub fn names(&self, before: Before<'_>) -> BTreeSet<String> {
        let functions = functions(&self.engine).into_iter();
        let of_language = |first: Option<TypeId>| first.is_none_or(|of| self.types.contains(&of));
        let Before::Name(receiver) = before else {
            let common = functions.filter(|(_, first)| of_language(*first));
            let mut names: BTreeSet<String> = common.map(|(name, _)| name).collect();
            if before == Before::Nothing {
                names.extend(WORDS.map(str::to_owned));
                names.extend(self.constants.keys().map(ToString::to_string));
                names.extend(self.variables.iter().map(|(name, ..)| name.to_owned()));
                let own = self.functions.iter_functions();
                // Closures are functions that nobody named.
                names.extend(
                    own.map(|own| own.name.to_owned())
                        .filter(|own| is_name(own)),
                );
            }
            return names;
        };
        let variable = self.variables.get(receiver);
        let Some(value) = variable.or_else(|| self.constants.get(receiver)) else {
            return self.names(Before::Something);
        };
        let (of, any) = (value.type_id(), TypeId::of::<Dynamic>());
        let its =
            functions.filter(|(_, first)| first.is_some_and(|first| first == of || first == any));
        let mut names: BTreeSet<String> = its.map(|(name, _)| name).collect();
        if let Some(map) = value.read_lock::<Map>() {
            let keys = map.keys().map(ToString::to_string);
            names.extend(keys.filter(|key| is_key(key)));
        }
        names
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

/// The functions that are not operators or properties, and what their first argument is.
fn functions(engine: &Engine) -> Vec<(String, Option<TypeId>)> {
    let named = |name: &str, types: &[TypeId]| {
        is_name(name).then(|| (name.to_owned(), types.first().copied()))
    };
    engine.collect_fn_metadata(
        None,
        |function| named(&function.metadata.name, &function.metadata.param_types),
        true,
    )
}

/// Whether a text can be the key of a map without quotes.
pub fn is_key(text: &str) -> bool {
    // What is a word of the language, or may become one, is not.
    is_name(text) && rhai::is_valid_function_name(text)
}

/// Whether a text looks like a variable or a function.
pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
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
    use rhai::Array;

    use super::{Before, Completeness, Interpreter};

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
    fn the_names_that_can_be_written_are_known() {
        #[derive(Clone)]
        struct Host;
        let mut interpreter = Interpreter::new(|engine| {
            engine.register_fn("greet", |_: &mut Host, _: &str| {});
            engine.register_get("size", |_: &mut Host| 1_i64);
        });
        interpreter.name("host", rhai::Dynamic::from(Host));
        interpreter.name("list", Array::new());
        let run = interpreter.run("let map = #{PORT: 1, \"a b\": 2}; fn twice(x) { x * 2 }");
        assert!(run.is_ok());
        let known = |before, wanted: &[&str], unwanted: &[&str]| {
            let names = interpreter.names(before);
            for name in wanted {
                assert!(names.contains(*name), "{name} in {before:?}: {names:?}");
            }
            for name in unwanted {
                assert!(!names.contains(*name), "no {name} in {before:?}: {names:?}");
            }
        };
        let own = ["host", "map", "twice", "let", "len", "parse_int"];
        known(
            Before::Nothing,
            &own,
            &["greet", "size", "get$size", "+", "PORT"],
        );
        known(
            Before::Name("host"),
            &["greet"],
            &["split", "let", "twice", "len"],
        );
        known(
            Before::Name("map"),
            &["PORT", "keys"],
            &["a b", "greet", "split"],
        );
        known(
            Before::Name("list"),
            &["push", "len"],
            &["greet", "split", "keys"],
        );
        known(
            Before::Name("nobody"),
            &["split", "push"],
            &["greet", "let"],
        );
        known(Before::Something, &["split", "push"], &["greet", "let"]);
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
