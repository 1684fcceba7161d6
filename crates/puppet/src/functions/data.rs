//! Asking for data: `lookup`, and the older functions it replaces.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};

use super::{ARGUMENT, Function, Takes};
use crate::evaluate::{Evaluator, Invocation, Outcome, fail, failed};
use crate::lookup::{Query, Reach, Strategy};
use crate::trace::{Cause, Code as Passed, Origin};
use crate::types::Type;
use crate::value::{Datum, Hash, Value};

/// No data have a value for a key.
pub const NO_DATA: Code = Code::new("puppet.no-data");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "lookup",
        arguments: (1, 4),
        lambda: Takes::Optional,
        about: "lookup(Variant[String, Array[String]] $key, Type $type, Variant[String, Hash] $merge, Any $default) or lookup(…, Hash $options) |$key|: what the data say about a key",
        run: |evaluator, call| {
            let question = Question::read(&call)?;
            ask(evaluator, &call, question)
        },
    },
    hiera(
        "hiera",
        "hiera(String $key, Any $default) |$key|: the first value of a key; `lookup` does it better",
    ),
    hiera(
        "hiera_array",
        "hiera_array(String $key, Any $default) |$key|: all values of a key; `lookup` does it better",
    ),
    hiera(
        "hiera_hash",
        "hiera_hash(String $key, Any $default) |$key|: the hashes of a key, merged; `lookup` does it better",
    ),
    hiera(
        "hiera_include",
        "hiera_include(String $key, Any $default) |$key|: includes the classes that a key names",
    ),
];

/// What is asked for.
struct Question {
    names: Vec<Value>,
    /// The names as they were given.
    given: Value,
    kind: Option<std::sync::Arc<Type>>,
    merge: Option<Strategy>,
    /// What says how the values are merged, and which options there are.
    asked: Vec<Value>,
    default: Option<Value>,
    overrides: Hash,
    defaults: Hash,
    reach: Reach,
}

impl Question {
    fn new(given: Value) -> Option<Self> {
        let is_text = |value: &Value| matches!(value.datum, Datum::Text(_));
        let names = match &given.datum {
            Datum::Text(_) => vec![given.clone()],
            Datum::Array(array) if array.iter().all(is_text) => array.as_slice().to_vec(),
            _ => return None,
        };
        Some(Self {
            names,
            given,
            kind: None,
            merge: None,
            asked: Vec::new(),
            default: None,
            overrides: Hash::default(),
            defaults: Hash::default(),
            reach: Reach::All,
        })
    }

    fn read(call: &Invocation<'_>) -> Outcome<Self> {
        let first = &call.arguments[0];
        if let (Datum::Hash(options), 1) = (&first.datum, call.arguments.len()) {
            let name = options.get_text("name").cloned();
            let Some(mut question) = name.and_then(Question::new) else {
                let message = "these options need the key as `name`";
                return fail(ARGUMENT, message, call.span(0));
            };
            question.take(options, call, 0)?;
            return Ok(question);
        }
        let Some(mut question) = Question::new(first.clone()) else {
            let message = format!(
                "expected a key, or an array of keys, found {}",
                Type::of(&first.datum).generalise()
            );
            return fail(ARGUMENT, message, call.span(0));
        };
        if let [_, second] = call.arguments.as_slice()
            && let Datum::Hash(options) = &second.datum
        {
            if options.get_text("name").is_some() {
                return fail(ARGUMENT, "the key is given already", call.span(1));
            }
            question.take(options, call, 1)?;
            return Ok(question);
        }
        // Only before a default can something be left out.
        let all = call.arguments.len() == 4;
        if all && let Some(lambda) = call.lambda {
            let message = "a default is given, and a lambda that makes one";
            return fail(ARGUMENT, message, lambda.span);
        }
        match call.arguments.get(1).map(|argument| &argument.datum) {
            None => {}
            Some(Datum::Undef) if all => {}
            Some(Datum::Type(kind)) => question.kind = Some(kind.clone()),
            Some(other) => {
                let message = format!("expected a type, found {}", Type::of(other).generalise());
                return fail(ARGUMENT, message, call.span(1));
            }
        }
        match call.arguments.get(2) {
            None => {}
            Some(merge) if all && merge.is_undef() => {}
            Some(merge) => {
                question.merge = Some(strategy(merge, call, 2)?);
                question.asked.push(merge.clone());
            }
        }
        question.default = call.arguments.get(3).cloned();
        Ok(question)
    }

    fn take(&mut self, options: &Hash, call: &Invocation<'_>, number: usize) -> Outcome<()> {
        for (key, entry) in options.iter() {
            let value = &entry.value;
            let name = crate::text::text(key);
            self.asked.push(entry.key.into());
            match (name.as_str(), &value.datum) {
                ("name", _) => {}
                ("default_value", _) => self.default = Some(value.clone()),
                ("value_type" | "override" | "default_values_hash" | "merge", Datum::Undef) => {}
                ("value_type", Datum::Type(kind)) => self.kind = Some(kind.clone()),
                ("override", Datum::Hash(hash)) => self.overrides = hash.clone(),
                ("default_values_hash", Datum::Hash(hash)) => self.defaults = hash.clone(),
                ("merge", _) => {
                    self.merge = Some(strategy(value, call, number)?);
                    self.asked.push(value.clone());
                }
                ("value_type", _) => {
                    return fail(ARGUMENT, "`value_type` is a type", call.span(number));
                }
                ("override" | "default_values_hash", _) => {
                    let message = format!("`{name}` is a hash");
                    return fail(ARGUMENT, message, call.span(number));
                }
                _ => {
                    let message = format!("`lookup` has no option `{name}`");
                    return fail(ARGUMENT, message, call.span(number));
                }
            }
        }
        Ok(())
    }
}

fn strategy(merge: &Value, call: &Invocation<'_>, number: usize) -> Outcome<Strategy> {
    Strategy::read(&merge.datum).map_err(|why| {
        let trouble = Diagnostic::error(crate::lookup::MERGE, why);
        failed(trouble.at(call.span(number)))
    })
}

/// Asks for the names one after another, then for defaults.
fn ask<'t>(evaluator: &mut Evaluator<'t>, call: &Invocation<'t>, question: Question) -> Outcome {
    let mut decided = Vec::new();
    if !question.asked.is_empty() {
        let asked = question.asked.clone();
        decided.push(evaluator.trace.choice(call.at, Origin::NOWHERE, asked));
    }
    let mut answer = None;
    for name in &question.names {
        let Datum::Text(text) = &name.datum else {
            continue;
        };
        if let Some(value) = question.overrides.get_text(text) {
            check(evaluator, call, &question, value, "the value in `override`")?;
            answer = Some(value.clone());
            break;
        }
        let (overrides, defaults) = (&question.overrides, &question.defaults);
        let mut query = Query::new(call.at.span, name.origin, overrides, defaults);
        query.reach = question.reach;
        let found = evaluator.look_up(&mut query, text, question.merge.as_ref())?;
        decided.append(&mut query.decided);
        if let Some(value) = found {
            let subject = format!("the value found for `{text}`");
            check(evaluator, call, &question, &value, &subject)?;
            answer = Some(value);
            break;
        }
    }
    let key = question.given.origin;
    let mut outcome = Origin::NOWHERE;
    if let Some(lambda) = call.lambda {
        let found = answer.as_ref().map_or(outcome, |answer| answer.origin);
        outcome = evaluator.trace.found(found, key, decided.clone());
        evaluator.pass(outcome, Passed::Lambda(lambda));
    }
    let answer = match answer {
        Some(answer) => answer,
        None => default(evaluator, call, &question, outcome)?,
    };
    let origin = evaluator.trace.found(answer.origin, key, decided);
    Ok(Value { origin, ..answer })
}

fn default<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    question: &Question,
    outcome: Origin,
) -> Outcome {
    let names = question.names.iter();
    let names: Vec<EcoString> = names.map(|name| crate::text::text(&name.datum)).collect();
    let by_name = names
        .iter()
        .find_map(|name| question.defaults.get_text(name));
    if let Some(value) = by_name {
        check(
            evaluator,
            call,
            question,
            value,
            "the value in `default_values_hash`",
        )?;
        return Ok(value.clone());
    }
    if let Some(lambda) = call.lambda {
        let arguments = vec![question.given.clone()];
        let at = call.at;
        let value = evaluator.call_lambda(lambda, arguments, Cause::Test { outcome, at })?;
        check(evaluator, call, question, &value, "the value of the lambda")?;
        return Ok(value);
    }
    if let Some(value) = &question.default {
        check(evaluator, call, question, value, "the default")?;
        return Ok(value.clone());
    }
    let message = match names.as_slice() {
        [name] => format!("no data have a value for `{name}`"),
        names => format!("no data have a value for any of `{}`", names.join("`, `")),
    };
    let trouble = Diagnostic::error(NO_DATA, message).at(call.at.span);
    let layout = &evaluator.site.layout;
    let keys = evaluator.data_read().flat_map(Hash::iter);
    let keys: Vec<EcoString> = keys.map(|(key, _)| crate::text::text(key)).collect();
    let near = names.iter().find_map(|name| {
        similar(name, keys.iter().map(EcoString::as_str))
            .first()
            .copied()
    });
    let help = match (layout.hiera.is_none() && layout.environment.is_none(), near) {
        (true, _) => "say where the hiera.yaml is with `--hiera` or `--environment`".to_owned(),
        (false, Some(near)) => format!("did you mean `{near}`?"),
        (false, None) => "add the key to a data file, or give `lookup` a default".to_owned(),
    };
    Err(evaluator.with_chain(trouble.help(help)))
}

fn check<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    question: &Question,
    value: &Value,
    subject: &str,
) -> Outcome<()> {
    match &question.kind {
        Some(kind) => evaluator.expect(kind, value, subject, call.at.span, None),
        None => Ok(()),
    }
}

const fn hiera(name: &'static str, about: &'static str) -> Function {
    Function {
        name,
        arguments: (1, 3),
        lambda: Takes::Optional,
        about,
        run: ask_as_before,
    }
}

/// The functions of Hiera 3 know the layer of the site only, unless the environment has one of its own.
fn ask_as_before<'t>(evaluator: &mut Evaluator<'t>, mut call: Invocation<'t>) -> Outcome {
    // `hiera(['key', 'default'])` is how old functions were called.
    if let ([only], None) = (call.arguments.as_slice(), call.lambda)
        && let Datum::Array(array) = &only.datum
        && (1..=3).contains(&array.len())
    {
        call.arguments = array.as_slice().to_vec();
    }
    let key = call.arguments[0].clone();
    let Some(mut question) = Question::new(key.clone()) else {
        return fail(ARGUMENT, "expected a key", call.span(0));
    };
    if !matches!(key.datum, Datum::Text(_)) {
        return fail(ARGUMENT, "expected a key", call.span(0));
    }
    question.merge = Some(match call.name {
        "hiera" => Strategy::First,
        "hiera_hash" => Strategy::Hash,
        _ => Strategy::Unique,
    });
    if call.lambda.is_none() {
        question.default = call.arguments.get(1).cloned();
    }
    if !evaluator.has_environment_data() {
        question.reach = Reach::Global;
    }
    let answer = ask(evaluator, &call, question)?;
    if call.name != "hiera_include" {
        return Ok(answer);
    }
    let is_empty = match &answer.datum {
        Datum::Undef => {
            let message = format!("`{}` names no classes", crate::text::text(&key.datum));
            return fail(NO_DATA, message, call.at.span);
        }
        Datum::Text(text) => text.is_empty(),
        Datum::Array(array) => array.is_empty(),
        Datum::Hash(hash) => hash.is_empty(),
        _ => false,
    };
    if !is_empty {
        let arguments = vec![answer];
        evaluator.call_by_name(call.at, "include", arguments, None)?;
    }
    Ok(evaluator.written(Datum::Undef, call.at.span))
}
