//! Values as values of other kinds, and the types of values.

use std::sync::Arc;

use hence_model::unit::Unit;

use super::{ANY, Function, Takes, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome, failed};
use crate::syntax::{Expression, Kind};
use crate::trace::Origin;
use crate::types::{self, Type};
use crate::value::{Array, Datum, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "new",
        arguments: (1, ANY),
        lambda: Takes::Optional,
        about: "new(Type $type, Any *$arguments) |$value|: a value of a type, made from others; `Integer('10')` is the same as `new(Integer, '10')`",
        run: |evaluator, mut call| {
            let Datum::Type(kind) = &call.arguments[0].datum else {
                return call.unexpected(evaluator, 0, "a type");
            };
            let kind = kind.clone();
            if let [
                _,
                Value {
                    datum: Datum::Text(_),
                    ..
                },
            ] = call.arguments.as_slice()
                && matches!(*kind, Type::Type(None))
            {
                let written = type_argument(evaluator, &call, 1)?;
                return Ok(call.result(evaluator, Datum::Type(written)));
            }
            if let [_, value] = call.arguments.as_slice()
                && !matches!(*kind, Type::Init(_))
                && kind.instance(&value.datum)
            {
                let value = value.clone();
                return Ok(call.handed_on(evaluator, value));
            }
            for argument in &mut call.arguments[1..] {
                evaluator.takes_within(call.at, argument);
            }
            let value = made(evaluator, &call, &kind, &call.arguments[1..], 1)?;
            match call.lambda {
                Some(lambda) => call.run_lambda(evaluator, lambda, vec![value]),
                None => Ok(value),
            }
        },
    },
    Function {
        name: "convert_to",
        arguments: (2, ANY),
        lambda: Takes::Optional,
        about: "convert_to(Any $value, Type $type, Any *$arguments) |$value|: a value as one of a type",
        run: |evaluator, mut call| {
            call.check_lambda(1)?;
            let Datum::Type(kind) = &call.arguments[1].datum else {
                return call.unexpected(evaluator, 1, "a type");
            };
            let kind = kind.clone();
            evaluator.takes_within(call.at, &mut call.arguments[0]);
            let mut arguments = vec![call.arguments[0].clone()];
            arguments.extend_from_slice(&call.arguments[2..]);
            let value = made(evaluator, &call, &kind, &arguments, 0)?;
            match call.lambda {
                Some(lambda) => call.run_lambda(evaluator, lambda, vec![value]),
                None => Ok(value),
            }
        },
    },
    Function {
        name: "unwrap",
        arguments: (1, 1),
        lambda: Takes::Optional,
        about: "unwrap(Any $value) |$plain|: what a `Sensitive` holds, handed to the lambda if there is one",
        run: |evaluator, call| {
            let value = match &call.arguments[0].datum {
                Datum::Sensitive(inner) => {
                    let inner = inner.as_ref().clone();
                    call.handed_on(evaluator, inner)
                }
                _ => call.arguments[0].clone(),
            };
            match call.lambda {
                Some(lambda) => call.run_lambda(evaluator, lambda, vec![value]),
                None => Ok(value),
            }
        },
    },
    Function {
        name: "lest",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "lest(Any $value) || >> Any: the value, or what the lambda comes to if it is `undef`",
        run: |evaluator, call| {
            call.check_lambda(0)?;
            let lambda = call.lambda.expect("it was checked");
            let value = call.arguments[0].clone();
            evaluator.pass(value.origin, crate::trace::Code::Lambda(lambda));
            if value.is_undef() {
                return tested(evaluator, &call, value.origin, Vec::new());
            }
            Ok(call.handed_on(evaluator, value))
        },
    },
    Function {
        name: "then",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "then(Any $value) |$value| >> Any: what the lambda makes of a value, or `undef` if it is `undef`",
        run: |evaluator, call| {
            call.check_lambda(1)?;
            let lambda = call.lambda.expect("it was checked");
            let value = call.arguments[0].clone();
            evaluator.pass(value.origin, crate::trace::Code::Lambda(lambda));
            if value.is_undef() {
                return Ok(call.handed_on(evaluator, value));
            }
            tested(evaluator, &call, value.origin, vec![value])
        },
    },
    Function {
        name: "call",
        arguments: (1, ANY),
        lambda: Takes::Optional,
        about: "call(String $function, Any *$arguments): calls a function by its name",
        run: |evaluator, call| {
            let name = call.text(evaluator, 0)?;
            let name = name.strip_prefix("::").unwrap_or(name);
            let arguments = call.arguments[1..].to_vec();
            let name = match super::find(name) {
                Some(function) => function.name,
                None => match evaluator.find_function(name)? {
                    Some(known) => known.definition.name.as_str(),
                    None => return call.wrong(0, format!("there is no function `{name}`")),
                },
            };
            evaluator.call_by_name(call.at, name, arguments, call.lambda)
        },
    },
    Function {
        name: "assert_type",
        arguments: (2, 2),
        lambda: Takes::Optional,
        about: "assert_type(Type $type, Any $value) |$expected, $actual|: the value if it is of the type, otherwise what the lambda comes to",
        run: assert_type,
    },
    plain(
        "is_a",
        (2, 2),
        "is_a(Any $value, Type $type) >> Boolean: whether a value is of a type",
        |evaluator, call| {
            let Datum::Type(kind) = &call.arguments[1].datum else {
                return call.unexpected(evaluator, 1, "a type");
            };
            let is_a = kind.instance(&call.arguments[0].datum);
            Ok(call.result(evaluator, is_a))
        },
    ),
    plain(
        "type",
        (1, 2),
        "type(Any $value, Enum[detailed, reduced, generalized] $how = detailed) >> Type: the type of a value",
        |evaluator, call| {
            let datum = &call.arguments[0].datum;
            let kind = match call.optional_text(evaluator, 1)?.map(|how| how.as_str()) {
                None | Some("detailed") => Type::of(datum),
                Some("reduced") => Type::reduced(datum),
                Some("generalized") => Type::reduced(datum).generalise(),
                Some(_) => {
                    return call.wrong(1, "expected `detailed`, `reduced` or `generalized`");
                }
            };
            Ok(call.result(evaluator, kind))
        },
    ),
    plain(
        "type3x",
        (1, 1),
        "type3x(Any $value) >> String: what kind of value it is: string, array, hash, float, integer or boolean; `type` does it better",
        |evaluator, call| {
            let call = call.older()?;
            let kind = match &call.arguments[0].datum {
                Datum::Text(text) => match text.as_str() {
                    text if text.parse::<i64>().is_ok_and(|it| it.to_string() == text) => "integer",
                    text if text.parse().is_ok_and(|it| crate::text::float(it) == text) => "float",
                    _ => "string",
                },
                Datum::Array(_) => "array",
                Datum::Hash(_) => "hash",
                Datum::Float(_) => "float",
                Datum::Integer(_) => "integer",
                Datum::Bool(_) => "boolean",
                _ => {
                    let expected = "text, a number, true, false, an array or a hash";
                    return call.unexpected(evaluator, 0, expected);
                }
            };
            Ok(call.result(evaluator, kind))
        },
    ),
    plain(
        "type_of",
        (1, 1),
        "type_of(Any $value) >> Type: the type of a value",
        |evaluator, call| {
            let kind = Type::of(&call.arguments[0].datum);
            Ok(call.result(evaluator, kind))
        },
    ),
    plain(
        "any2array",
        (0, ANY),
        "any2array(Any *$values) >> Array: an array of the arguments; a lone array as it is, a lone hash as keys and values in turn",
        |evaluator, call| {
            let call = call.older()?;
            let values = match call.arguments.as_slice() {
                [only] => match &only.datum {
                    Datum::Array(_) => {
                        let only = only.clone();
                        return Ok(call.handed_on(evaluator, only));
                    }
                    Datum::Text(text) if text.is_empty() => Vec::new(),
                    Datum::Hash(hash) => {
                        let entries = hash.iter().flat_map(|(key, entry)| {
                            [Value::new(key.clone(), entry.key), entry.value.clone()]
                        });
                        entries.collect()
                    }
                    _ => vec![only.clone()],
                },
                all => all.to_vec(),
            };
            call.container(evaluator, Array::from(values))
        },
    ),
    plain(
        "any2bool",
        (1, ANY),
        "any2bool(Any $value) >> Boolean: whether a text says yes, a number is positive, or something else is there",
        |evaluator, call| {
            let call = call.older()?;
            let value = &call.arguments[0];
            let bool = match &value.datum {
                Datum::Bool(bool) => *bool,
                Datum::Integer(number) => *number > 0,
                Datum::Float(number) => *number >= 1.0,
                Datum::Text(text) => match ruby::float(text) {
                    Some(number) => number >= 1.0,
                    None => to_bool(&call, 0, value)?,
                },
                _ => true,
            };
            Ok(call.result(evaluator, bool))
        },
    ),
    plain(
        "str2bool",
        (1, ANY),
        "str2bool(Variant[String, Boolean] $text) >> Boolean: whether a text says yes: 1, t, y, true, yes",
        |evaluator, call| {
            let call = call.older()?;
            let bool = to_bool(&call, 0, &call.arguments[0])?;
            Ok(call.result(evaluator, bool))
        },
    ),
    plain(
        "num2bool",
        (1, 1),
        "num2bool(Variant[Numeric, String] $number) >> Boolean: whether a number is 1 or more",
        |evaluator, call| {
            let call = call.older()?;
            let bool = match &call.arguments[0].datum {
                Datum::Integer(number) => *number > 0,
                Datum::Float(number) => *number >= 1.0,
                Datum::Text(text) => match ruby::float(text) {
                    Some(number) => number >= 1.0,
                    None => return call.wrong(0, format!("'{text}' is no number")),
                },
                other => ruby::leading_integer(&ruby::text(other)).is_none_or(|number| number > 0),
            };
            Ok(call.result(evaluator, bool))
        },
    ),
    plain(
        "bool2num",
        (1, ANY),
        "bool2num(Variant[String, Boolean] $value) >> Integer: 1 for yes, 0 for no",
        |evaluator, call| {
            let call = call.older()?;
            let bool = to_bool(&call, 0, &call.arguments[0])?;
            Ok(call.result(evaluator, i64::from(bool)))
        },
    ),
    plain(
        "bool2str",
        (1, 3),
        "bool2str(Boolean $value, String $yes = 'true', String $no = 'false') >> String: a text for yes, another for no",
        |evaluator, call| {
            let call = call.older()?;
            let Datum::Bool(bool) = call.arguments[0].datum else {
                return call.unexpected(evaluator, 0, "true or false");
            };
            let word = |number: usize, usual: &str| match call.arguments.get(number) {
                Some(Value {
                    datum: Datum::Bool(false),
                    ..
                })
                | None => Ok(usual.into()),
                Some(_) => call.text(evaluator, number).cloned(),
            };
            let (yes, no) = (word(1, "true")?, word(2, "false")?);
            if call.arguments.len() == 2 {
                return call.wrong(1, "there is a word for yes, and none for no");
            }
            Ok(call.result(evaluator, if bool { yes } else { no }))
        },
    ),
];

/// A value of a type; `first` is the number of the first of the arguments that it is made from.
fn made<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    kind: &Type,
    arguments: &[Value],
    first: usize,
) -> Outcome {
    let origin = evaluator.trace.operation(call.at, call.origins());
    match types::create(kind, arguments, origin) {
        Ok(datum) => evaluator.shallow(Value { datum, origin }, call.at.span),
        Err(failure) => call.wrong(first + failure.argument.unwrap_or(0), failure.message),
    }
}

/// Runs the lambda because of what the arguments are.
fn tested<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    outcome: Origin,
    arguments: Vec<Value>,
) -> Outcome {
    let lambda = call.lambda.expect("it was checked");
    let at = call.at;
    let cause = crate::trace::Cause::Test { outcome, at };
    evaluator.call_lambda(lambda, arguments, cause)
}

/// Whether a text says yes.
pub(super) fn to_bool(call: &Invocation<'_>, number: usize, value: &Value) -> Outcome<bool> {
    let text = match &value.datum {
        Datum::Bool(bool) => return Ok(*bool),
        Datum::Text(text) => text,
        _ => return call.wrong(number, "expected text that says yes or no"),
    };
    // A line of its own is enough, as regular expressions go.
    let says = |words: &[&str]| {
        text.split_terminator('\n')
            .any(|line| words.iter().any(|word| line.eq_ignore_ascii_case(word)))
    };
    if text.is_empty() || text.split_terminator('\n').any(str::is_empty) {
        return Ok(false);
    }
    if says(&["1", "t", "y", "true", "yes"]) {
        return Ok(true);
    }
    let undefined = text
        .split_terminator('\n')
        .any(|line| matches!(line, "undef" | "undefined"));
    if says(&["0", "f", "n", "false", "no"]) || undefined {
        return Ok(false);
    }
    call.wrong(number, format!("'{text}' says neither yes nor no"))
}

/// The type that an argument is, or that its text is the name of.
pub(super) fn type_argument<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    number: usize,
) -> Outcome<Arc<Type>> {
    match &call.arguments[number].datum {
        Datum::Type(kind) => Ok(kind.clone()),
        Datum::Text(text) => {
            let text = text.clone();
            let mut unit = Unit::default();
            let program = match unit.sources.add("type", &text) {
                Ok(file) => crate::parser::parse(&mut unit, file),
                Err(_) => return call.wrong(number, "this is too long for a type"),
            };
            let kind = match program.body.statements.as_slice() {
                [statement] if unit.diagnostics.is_empty() => {
                    literal(evaluator, call, number, statement)?
                }
                _ => None,
            };
            match kind {
                Some(Datum::Type(kind)) => Ok(kind),
                _ => call.wrong(number, format!("'{text}' is no type")),
            }
        }
        _ => call.unexpected(evaluator, number, "a type"),
    }
}

/// What an expression in the text of a type comes to, if it is one that may stand there.
fn literal<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    number: usize,
    at: &Expression,
) -> Outcome<Option<Datum>> {
    let origin = call.arguments[number].origin;
    let datum = match &at.kind {
        Kind::Undef => Datum::Undef,
        Kind::Default => Datum::Default,
        Kind::Bool(bool) => Datum::Bool(*bool),
        Kind::Integer(integer) => Datum::Integer(*integer),
        Kind::Float(float) => Datum::Float(*float),
        Kind::Text(text) | Kind::Name(text) => Datum::Text(text.clone()),
        Kind::Pattern(pattern) => Datum::Pattern(pattern.clone()),
        Kind::Minus(inner) => match literal(evaluator, call, number, inner)? {
            Some(Datum::Integer(integer)) => Datum::Integer(integer.wrapping_neg()),
            Some(Datum::Float(float)) => Datum::Float(-float),
            _ => return Ok(None),
        },
        Kind::Parenthesised(inner) => return literal(evaluator, call, number, inner),
        Kind::Array(elements) => {
            let Some(elements) = literals(evaluator, call, number, elements)? else {
                return Ok(None);
            };
            Datum::Array(elements.into())
        }
        Kind::Hash(entries) => {
            let mut hash = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let key = literal(evaluator, call, number, key)?;
                let value = literal(evaluator, call, number, value)?;
                let (Some(key), Some(value)) = (key, value) else {
                    return Ok(None);
                };
                hash.push((Value::new(key, origin), Value::new(value, origin)));
            }
            Datum::Hash(hash.into_iter().collect())
        }
        Kind::Reference(name) => match evaluator.named_type(name, call.span(number))? {
            Some(kind) => Datum::Type(kind),
            None => return call.wrong(number, format!("there is no type `{name}`")),
        },
        Kind::Access(of, keys) => {
            let Some(Datum::Type(base)) = literal(evaluator, call, number, of)? else {
                return Ok(None);
            };
            let Some(keys) = literals(evaluator, call, number, keys)? else {
                return Ok(None);
            };
            match types::parameterise(&base, &keys) {
                Ok(types::Accessed::One(kind)) => Datum::from(kind),
                Ok(_) => return Ok(None),
                Err(why) => return call.wrong(number, why.message),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(datum))
}

fn literals<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    number: usize,
    expressions: &[Expression],
) -> Outcome<Option<Vec<Value>>> {
    let mut values = Vec::with_capacity(expressions.len());
    for expression in expressions {
        match literal(evaluator, call, number, expression)? {
            Some(datum) => values.push(Value::new(datum, call.arguments[number].origin)),
            None => return Ok(None),
        }
    }
    Ok(Some(values))
}

fn assert_type<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    call.check_lambda(2)?;
    let kind = type_argument(evaluator, &call, 0)?;
    let value = call.arguments[1].clone();
    let origin = evaluator.trace.operation(call.at, call.origins());
    if let Some(lambda) = call.lambda {
        evaluator.pass(origin, crate::trace::Code::Lambda(lambda));
    }
    if kind.instance(&value.datum) {
        return Ok(call.handed_on(evaluator, value));
    }
    let actual = Type::of(&value.datum);
    if call.lambda.is_some() {
        let expected = Value::new(Datum::Type(kind), call.arguments[0].origin);
        let arguments = vec![expected, Value::new(actual, origin)];
        return tested(evaluator, &call, origin, arguments);
    }
    let message = format!("`assert_type` expects {kind}, got {actual}");
    let trouble = hence_model::diagnostic::Diagnostic::error(super::ARGUMENT, message);
    let trouble = trouble.at(call.span(1));
    match value.is_undef() {
        true => Err(evaluator.blaming(trouble, &value)),
        false => Err(failed(trouble)),
    }
}
