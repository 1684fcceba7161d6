//! Hashes: their keys and values, merged, or made of arrays.

use super::arrays::with_values;
use super::iterate::Elements;
use super::{ANY, Function, Takes, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome, fail, merged};
use crate::iteration::Asked;
use crate::trace::Code;
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "keys",
        (1, 1),
        "keys(Hash $hash) >> Array: the keys",
        |evaluator, call| {
            let entries = call.hash(evaluator, 0)?.iter();
            let keys = entries.map(|(key, entry)| Value::new(key.clone(), entry.key));
            let keys: Array = keys.collect();
            call.container(evaluator, keys)
        },
    ),
    plain(
        "values",
        (1, 1),
        "values(Hash $hash) >> Array: the values",
        |evaluator, call| {
            let entries = call.hash(evaluator, 0)?.iter();
            let values: Array = entries.map(|(_, entry)| entry.value.clone()).collect();
            call.container(evaluator, values)
        },
    ),
    Function {
        name: "merge",
        arguments: (0, ANY),
        lambda: Takes::Optional,
        about: "merge(Optional[Hash] *$hashes) >> Hash: all entries, the last of those with the same key; with a lambda, those that it makes of the elements of one argument",
        run: merge,
    },
    plain(
        "deep_merge",
        (2, ANY),
        "deep_merge(Optional[Hash] *$hashes) >> Hash: all entries; hashes with the same key are merged in turn",
        |evaluator, call| {
            let call = call.older()?;
            let mut sum = Hash::from_iter([]);
            for number in 0..call.arguments.len() {
                match &call.arguments[number].datum {
                    Datum::Text(text) if text.is_empty() => {}
                    _ => sum = deep_merged(&sum, call.hash(evaluator, number)?),
                }
            }
            call.container(evaluator, sum)
        },
    ),
    plain(
        "has_key",
        (2, 2),
        "has_key(Hash $hash, Any $key) >> Boolean: whether there is such a key",
        |evaluator, call| {
            let call = call.older()?;
            let found = call.hash(evaluator, 0)?.get(&call.arguments[1].datum);
            let found = found.is_some();
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "delete_values",
        (2, 2),
        "delete_values(Hash $hash, Any $value) >> Hash: all entries but those with a value",
        |evaluator, call| {
            let call = call.older()?;
            let unwanted = &call.arguments[1].datum;
            let hash = call.hash(evaluator, 0)?;
            let kept = with_values(hash, |value| !ruby::equal(&value.datum, unwanted));
            Ok(call.result(evaluator, kept))
        },
    ),
    plain(
        "hash",
        (1, ANY),
        "hash(Array $all) >> Hash: keys and values that alternate in an array",
        |evaluator, call| {
            let call = call.older()?;
            let mut flat = Vec::new();
            ruby::flatten(call.array(evaluator, 0)?.iter(), &mut flat);
            call.check_count(flat.len())?;
            if let [only] = flat.as_slice()
                && let Datum::Hash(hash) = &only.datum
            {
                let hash = hash.clone();
                return call.container(evaluator, hash);
            }
            if flat.len() % 2 == 1 {
                return call.wrong(0, "the last key has no value");
            }
            let pairs = flat.chunks_exact(2);
            let hash: Hash = pairs
                .map(|pair| (pair[0].clone(), pair[1].clone()))
                .collect();
            call.container(evaluator, hash)
        },
    ),
    plain(
        "join_keys_to_values",
        (2, 2),
        "join_keys_to_values(Hash $hash, String $between) >> Array[String]: each key with its value, or with each of its values, as one text",
        |evaluator, call| {
            let call = call.older()?;
            let hash = call.hash(evaluator, 0)?.clone();
            let between = call.text(evaluator, 1)?.clone();
            let mut texts = Vec::with_capacity(hash.len());
            let mut length = 0;
            for (key, entry) in hash.iter() {
                let values = match &entry.value.datum {
                    Datum::Array(array) => array.as_slice(),
                    _ => std::slice::from_ref(&entry.value),
                };
                let is_array = matches!(entry.value.datum, Datum::Array(_));
                for value in values {
                    let (key, value_text) = (ruby::text(key), ruby::text(&value.datum));
                    let text = match value_text.as_str() {
                        "undef" if !is_array => key.to_string(),
                        _ => format!("{key}{between}{value_text}"),
                    };
                    length += text.len();
                    call.check_length(length)?;
                    let operands = [entry.key, value.origin, call.arguments[1].origin];
                    let origin = evaluator.trace.operation(call.at, operands);
                    texts.push(Value::new(text, origin));
                }
            }
            call.container(evaluator, Array::from(texts))
        },
    ),
];

fn merge<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    if call.lambda.is_some() {
        return merge_with_lambda(evaluator, call);
    }
    let mut sum = Hash::from_iter([]);
    for number in 0..call.arguments.len() {
        let is_nothing = match &call.arguments[number].datum {
            Datum::Undef => true,
            Datum::Text(text) => text.is_empty(),
            _ => false,
        };
        if is_nothing {
            continue;
        }
        let hash = call.hash(evaluator, number)?;
        if !hash.iter().all(|(key, _)| Type::Scalar.instance(key)) {
            return call.unexpected(evaluator, number, "a hash whose keys are scalars");
        }
        sum = merged(&sum, hash);
    }
    call.container(evaluator, sum)
}

/// With a lambda: what it makes of the entries so far and each element is merged to them.
fn merge_with_lambda<'t>(evaluator: &mut Evaluator<'t>, mut call: Invocation<'t>) -> Outcome {
    let lambda = call.lambda.expect("there is one");
    let with_index = super::arguments::accepts(lambda, 3);
    if !with_index && !super::arguments::accepts(lambda, 2) || call.arguments.len() != 1 {
        let message = "with a lambda of 2 or 3 parameters, `merge` takes 1 argument";
        return fail(crate::evaluate::ARGUMENTS, message, call.at.span);
    }
    let elements = Elements::of(evaluator, &mut call, Asked::AtOnce)?;
    let is_hash = matches!(call.arguments[0].datum, Datum::Hash(_));
    evaluator.pass(elements.origin, Code::Lambda(lambda));
    let mut sum = Hash::from_iter([]);
    let origin = evaluator.trace.operation(call.at, call.origins());
    for (number, value) in elements.values.iter().enumerate() {
        let mut arguments = vec![Value::new(sum.clone(), origin)];
        match (&value.datum, with_index) {
            (Datum::Array(pair), true) if is_hash => arguments.extend(pair.iter().cloned()),
            (_, true) => arguments.extend([Value::new(number as i64, origin), value.clone()]),
            (_, false) => arguments.push(value.clone()),
        }
        match evaluator.call_lambda(lambda, arguments, elements.cause(&call)) {
            Ok(Value {
                datum: Datum::Hash(more),
                ..
            }) => sum = merged(&sum, &more),
            Ok(_) => {}
            Err(stop) if matches!(*stop, crate::evaluate::Stop::Break(_)) => break,
            Err(stop) => return Err(stop),
        }
    }
    evaluator.shallow(Value::new(sum, origin), call.at.span)
}

fn deep_merged(left: &Hash, right: &Hash) -> Hash {
    right.iter().fold(left.clone(), |sum, (key, entry)| {
        let value = match (sum.get(key).map(|value| &value.datum), &entry.value.datum) {
            (Some(Datum::Hash(one)), Datum::Hash(another)) => {
                Value::new(deep_merged(one, another), entry.value.origin)
            }
            _ => entry.value.clone(),
        };
        sum.with(Value::new(key.clone(), entry.key), value)
    })
}
