//! A function out of a file.

use std::sync::Arc;

use hence_model::function::{Arguments, Failure, Function, Mutation, Parameter, Passing, Types};
use hence_model::value::Value;
use rhai::{
    AST, Array, Dynamic, EvalAltResult, Identifier, ImmutableString, Position, Scope, Stmt,
};

use crate::call::{Call, Constants, FUEL, Stop};
use crate::data;
use crate::declarations::{self, Declarations, Mistake};
use crate::engine::{Argument, CALLS, ENGINE, EVAL};

/// A function that a user wrote.
pub struct Script {
    parameters: Vec<Parameter>,
    mutation: Option<Mutation>,
    constants: Arc<Constants>,
    eval: Body,
    mutate: Option<Body>,
}

impl Script {
    /// Reads the text of a file, or says all that is wrong with it.
    pub fn load(text: &str) -> Result<Script, Vec<Mistake>> {
        let Declarations {
            parameters,
            mutation,
            constants,
            ast,
        } = declarations::read(text)?;
        let constants = evaluate(constants, &ast).map_err(|mistake| vec![mistake])?;
        Ok(Script {
            eval: Body::new(&ast, EVAL, parameters.len()),
            mutate: mutation.map(|_| Body::new(&ast, "mutate", 2)),
            constants,
            parameters,
            mutation,
        })
    }

    /// Runs a function until it ends; each time it asks for an argument, from the start with the answer.
    /// It is pure, so it comes to the same point again.
    fn run(
        &self,
        body: &Body,
        inputs: &[Dynamic],
        answers: Vec<Option<Dynamic>>,
        ask: &mut dyn FnMut(usize) -> Result<Value, Failure>,
    ) -> Result<Value, Failure> {
        let mut call = Call::new(self.constants.clone());
        call.answers = answers;
        loop {
            let (result, stop) = call.run(|| body.evaluate(inputs));
            match (stop, result) {
                (Some(Stop::Asks(index)), _) => {
                    call.answers[index] = Some(input(&ask(index)?, index)?);
                }
                (Some(Stop::Refuses(words)), _) => return Err(Failure::Said(words)),
                (None, Ok(result)) => {
                    return data::to_value(&result, ask).map_err(|failure| body.place(failure));
                }
                (Some(Stop::Spent), Ok(_)) => return Err(body.place(data::broken(spent(FUNCTION)))),
                (_, Err(error)) => {
                    let (message, place) = explain(*error, FUNCTION);
                    return Err(body.place(Failure::Broken { message, place }));
                }
            }
        }
    }
}

impl Function for Script {
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    fn call(&self, arguments: &mut dyn Arguments) -> Result<Value, Failure> {
        let mut inputs = Vec::with_capacity(self.parameters.len());
        let mut answers = vec![None; self.parameters.len()];
        for (index, parameter) in self.parameters.iter().enumerate() {
            inputs.push(match parameter.passing {
                Passing::Value => input(&arguments.value(index)?, index)?,
                Passing::Placed => {
                    answers[index] = Some(input(&arguments.value(index)?, index)?);
                    object(arguments, index)
                }
                Passing::Unevaluated => object(arguments, index),
            });
        }
        self.run(&self.eval, &inputs, answers, &mut |index| {
            let value = arguments.value(index)?;
            let (expected, found) = (self.parameters[index].types, Types::of(&value));
            match expected.contain(found) {
                true => Ok(value),
                false => Err(Failure::Said(format!(
                    "expected {} as argument {}, and it is {}",
                    expected.words(),
                    index + 1,
                    found.words()
                ))),
            }
        })
    }

    fn mutation(&self) -> Option<Mutation> {
        self.mutation
    }

    fn mutate(&self, values: &mut dyn Arguments, highest: usize) -> Result<Value, Failure> {
        let Some(body) = &self.mutate else {
            return Err(Failure::Said("it cannot combine values".into()));
        };
        let count = values.count();
        let above = (0..highest).map(|index| input(&values.value(index)?, index));
        let above: Array = above.collect::<Result<_, Failure>>()?;
        let below: Array = (highest..count)
            .map(|index| object(values, index))
            .collect();
        let inputs = [Dynamic::from_array(above), Dynamic::from_array(below)];
        self.run(body, &inputs, vec![None; count], &mut |index| {
            values.value(index)
        })
    }
}

/// A value that is given to the script.
fn input(value: &Value, index: usize) -> Result<Dynamic, Failure> {
    data::from_value(value)
        .map_err(|reason| data::broken(format!("argument {} is {reason}", index + 1)))
}

/// An argument that is given to the script as an object.
fn object(arguments: &dyn Arguments, index: usize) -> Dynamic {
    Dynamic::from(Argument {
        index,
        place: arguments.place(index).to_string().into(),
        text: arguments.text(index).into(),
    })
}

/// A function of the file that can be called from outside. Its statements stand alone, because Rhai
/// forgets where in a function a limit was reached.
struct Body {
    parameters: Vec<Identifier>,
    ast: AST,
    /// Where it begins.
    place: (u32, u32),
}

impl Body {
    fn new(ast: &AST, name: &str, count: usize) -> Body {
        let functions = ast.shared_lib();
        let function = functions.get_script_fn(name, count);
        let function = function.expect("a file that was read has its functions");
        Body {
            parameters: function
                .params
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
            ast: AST::new(declarations::body(ast, name, count), functions.clone()),
            place: declarations::place(function.body.start_position()),
        }
    }

    fn evaluate(&self, inputs: &[Dynamic]) -> Result<Dynamic, Box<EvalAltResult>> {
        let mut scope = Scope::new();
        for (name, input) in self.parameters.iter().zip(inputs) {
            scope.push_dynamic(name.clone(), input.clone());
        }
        ENGINE.eval_ast_with_scope(&mut scope, &self.ast)
    }

    /// Says of a failure where it was, if nobody knows better.
    fn place(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Broken {
                message,
                place: None,
            } => Failure::Broken {
                message,
                place: Some(self.place),
            },
            other => other,
        }
    }
}

/// The constants of a file, each of which may use those before it.
fn evaluate(
    statements: Vec<(ImmutableString, Stmt)>,
    ast: &AST,
) -> Result<Arc<Constants>, Mistake> {
    let mut call = Call::new(Arc::default());
    let mut scope = Scope::new();
    for (name, statement) in statements {
        let at = declarations::place(statement.position());
        let one = AST::new([statement], ast.shared_lib().clone());
        let (result, stop) = call.run(|| ENGINE.eval_ast_with_scope::<Dynamic>(&mut scope, &one));
        let trouble = match (stop, result) {
            (None, Ok(_)) => None,
            (Some(Stop::Refuses(words)), _) => Some((words, None)),
            (Some(_), Ok(_)) => Some((spent(FUNCTION), None)),
            (_, Err(error)) => Some(explain(*error, FUNCTION)),
        };
        if let Some((message, place)) = trouble {
            return Err(Mistake::new(place.unwrap_or(at), message));
        }
        let value = scope.get(&name).cloned().unwrap_or_default();
        Arc::make_mut(&mut call.constants).insert(name, value);
    }
    Ok(call.constants)
}

/// How far something may go.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub fuel: u64,
    pub calls: usize,
}

const FUNCTION: Limits = Limits {
    fuel: FUEL,
    calls: CALLS,
};

/// An error of Rhai in our words, with the innermost place that is known.
pub(crate) fn explain(mut error: EvalAltResult, limits: Limits) -> (String, Option<(u32, u32)>) {
    let mut position = error.position();
    while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = error {
        error = *inner;
        if !error.position().is_none() {
            position = error.position();
        }
    }
    let message = match &error {
        EvalAltResult::ErrorTerminated(..) => spent(limits),
        EvalAltResult::ErrorStackOverflow(_) => {
            format!(
                "its functions call each other more than {} deep",
                limits.calls
            )
        }
        EvalAltResult::ErrorDataTooLarge(..) => {
            format!("it makes a value that is {}", data::too_large())
        }
        EvalAltResult::ErrorRuntime(words, _) => words.to_string(),
        EvalAltResult::ErrorVariableNotFound(name, _) => {
            format!("nothing named `{name}` is known here")
        }
        EvalAltResult::ErrorFunctionNotFound(call, _) => not_found(call),
        EvalAltResult::ErrorMismatchDataType(wanted, is, _) => {
            format!(
                "expected {}, and it is {}",
                type_in_words(wanted),
                type_in_words(is)
            )
        }
        EvalAltResult::ErrorArrayBounds(length, index, _) => {
            let elements = many(*length, "element");
            format!("the list has {elements}, and none has the index {index}")
        }
        EvalAltResult::ErrorStringBounds(length, index, _) => {
            let characters = many(*length, "character");
            format!("the text has {characters}, and none has the index {index}")
        }
        EvalAltResult::ErrorFor(_) => "`for` goes through a list or a range only".to_owned(),
        EvalAltResult::ErrorIndexingType(of, _) => {
            format!("{} has no elements", type_in_words(of))
        }
        EvalAltResult::ErrorDotExpr(said, _) => no_property(said),
        _ => {
            error.set_position(Position::NONE);
            declarations::in_words(&error.to_string())
        }
    };
    let place = (!position.is_none()).then(|| declarations::place(position));
    (message, place)
}

fn spent(limits: Limits) -> String {
    format!("it takes more than {} steps", limits.fuel)
}

/// That nothing can be done with values of such types: `name (type, type)`, as Rhai writes it.
fn not_found(call: &str) -> String {
    let call = call.replace("&str | ImmutableString | String", "string");
    let (name, rest) = call.split_once(" (").unwrap_or((&call, ")"));
    let types = rest
        .trim_end_matches(')')
        .split(", ")
        .filter(|one| !one.is_empty());
    let types: Vec<&str> = types.map(type_in_words).collect();
    let name = declarations::written(name);
    let is_operator = !name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match (is_operator, types.as_slice()) {
        (true, [of]) => format!("`{name}` cannot be done with {of}"),
        (true, [left, right]) => format!("`{name}` cannot be done with {left} and {right}"),
        (_, []) => format!("there is no function `{name}` without arguments"),
        (_, types) => format!("there is no function `{name}` of {}", types.join(", ")),
    }
}

/// That something has no such part. Rhai puts the names of the part and of the type between quotes.
fn no_property(said: &str) -> String {
    let mut quoted = said.split('\'').skip(1).step_by(2);
    match (quoted.next(), quoted.next()) {
        (Some(name), Some(of)) => {
            let of = type_in_words(of);
            format!("`.{name}` is asked of {of}, and only a map has names")
        }
        _ => declarations::in_words(said),
    }
}

/// A type in the words of the book.
fn type_in_words(name: &str) -> &str {
    match name {
        "i64" | "integer" => "an integer",
        "f64" | "float" => "a decimal number",
        "bool" => "true or false",
        "string" | "&str" | "ImmutableString" => "a text",
        "array" => "a list",
        "map" => "a map",
        "Fn" => "a closure",
        "()" => "no value",
        "argument" => "an argument that is not evaluated",
        other => other,
    }
}

fn many(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
