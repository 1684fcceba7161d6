//! Arrays: put together, taken apart, in order, compared.

use std::cmp::Ordering;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use super::arguments::MOST_ELEMENTS;
use super::iterate::Elements;
use super::words::CharacterSet;
use super::{ANY, Function, Takes, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::iteration::Asked;
use crate::trace::Code;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "flatten",
        (0, ANY),
        "flatten(Any *$all) >> Array: the elements of arrays in arrays, one after another",
        |evaluator, call| {
            let mut flat = Vec::new();
            ruby::flatten(&call.arguments, &mut flat);
            call.check_count(flat.len())?;
            call.container(evaluator, Array::from(flat))
        },
    ),
    plain(
        "concat",
        (2, ANY),
        "concat(Array $array, Any *$more) >> Array: an array and more elements, those of arrays one by one",
        |evaluator, call| {
            let call = call.older()?;
            let mut all = call.array(evaluator, 0)?.as_slice().to_vec();
            for more in &call.arguments[1..] {
                match &more.datum {
                    Datum::Array(array) => all.extend(array.iter().cloned()),
                    _ => all.push(more.clone()),
                }
            }
            call.check_count(all.len())?;
            call.container(evaluator, Array::from(all))
        },
    ),
    Function {
        name: "unique",
        arguments: (1, 1),
        lambda: Takes::Optional,
        about: "unique(Variant[String, Iterable] $all) |$element|: each element, or each that the lambda tells apart, once; for a hash, keys with the same value together",
        run: unique,
    },
    Function {
        name: "sort",
        arguments: (1, 1),
        lambda: Takes::Optional,
        about: "sort(Variant[String, Array] $all) |$one, $another|: the elements or characters in order; the lambda says with -1, 0 or 1 how two compare",
        run: sort,
    },
    plain(
        "union",
        (2, ANY),
        "union(Array *$arrays) >> Array: the elements of all arrays, each once",
        |evaluator, call| {
            let call = call.older()?;
            let mut all = Vec::new();
            for number in 0..call.arguments.len() {
                all.extend(call.array(evaluator, number)?.iter().cloned());
            }
            let all = distinct(all);
            Ok(call.result(evaluator, Array::from(all)))
        },
    ),
    plain(
        "intersection",
        (2, 2),
        "intersection(Array $one, Array $another) >> Array: the elements that are in both, each once",
        |evaluator, call| {
            let call = call.older()?;
            let other = data(call.array(evaluator, 1)?);
            let both = call.array(evaluator, 0)?.iter();
            let both = both.filter(|value| other.contains(&value.datum)).cloned();
            let both = distinct(both.collect());
            Ok(call.result(evaluator, Array::from(both)))
        },
    ),
    plain(
        "difference",
        (2, 2),
        "difference(Array $one, Array $another) >> Array: the elements of the first that are not in the second",
        |evaluator, call| {
            let call = call.older()?;
            let other = data(call.array(evaluator, 1)?);
            let rest = call.array(evaluator, 0)?.iter();
            let rest: Array = rest
                .filter(|value| !other.contains(&value.datum))
                .cloned()
                .collect();
            Ok(call.result(evaluator, rest))
        },
    ),
    plain(
        "member",
        (2, ANY),
        "member(Array $all, Variant[String, Integer, Array] $what) >> Boolean: whether something, or each of several, is an element",
        |evaluator, call| {
            let call = call.older()?;
            let all = data(call.array(evaluator, 0)?);
            let wanted = match &call.arguments[1].datum {
                Datum::Text(_) | Datum::Integer(_) => std::slice::from_ref(&call.arguments[1]),
                Datum::Array(array) if !array.is_empty() => array.as_slice(),
                Datum::Array(_) => return call.wrong(1, "there is nothing to look for"),
                _ => return call.unexpected(evaluator, 1, "text, a whole number or an array"),
            };
            let found = wanted.iter().all(|value| all.contains(&value.datum));
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "count",
        (1, 2),
        "count(Variant[Array, Hash] $all, Any $what) >> Integer: how many elements are equal to something, or are neither `undef` nor empty",
        |evaluator, call| {
            let call = call.older()?;
            let elements = match &call.arguments[0].datum {
                Datum::Array(array) => array.as_slice().to_vec(),
                Datum::Hash(hash) => crate::evaluate::pairs(hash, call.arguments[0].origin),
                Datum::Text(text) => {
                    let set = CharacterSet::read(call.text(evaluator, 1)?);
                    let Some(set) = set else {
                        return call.wrong(1, "this is no set of characters");
                    };
                    let count = text.chars().filter(|char| set.contains(*char)).count();
                    return Ok(call.result(evaluator, count as i64));
                }
                _ => return call.unexpected(evaluator, 0, "an array"),
            };
            let counts = |value: &&Value| match call.arguments.get(1).map(|it| &it.datum) {
                Some(wanted) if wanted.is_true() => ruby::equal(&value.datum, wanted),
                _ => match &value.datum {
                    Datum::Undef => false,
                    Datum::Text(text) => !text.is_empty(),
                    _ => true,
                },
            };
            let count = elements.iter().filter(counts).count();
            Ok(call.result(evaluator, count as i64))
        },
    ),
    plain(
        "delete",
        (2, 2),
        "delete(Variant[Array, Hash, String] $all, Any $what): all but what is equal to something, or to one of several; for a text, all but that part",
        delete,
    ),
    plain(
        "delete_at",
        (2, ANY),
        "delete_at(Array $all, Integer $index) >> Array: all elements but one",
        |evaluator, call| {
            let call = call.older()?;
            let mut rest = call.array(evaluator, 0)?.as_slice().to_vec();
            let index = match &call.arguments[1].datum {
                Datum::Integer(index) => *index,
                Datum::Float(index) => *index as i64,
                Datum::Text(text) if is_number(text) => {
                    ruby::leading_integer(text).unwrap_or(i64::MAX)
                }
                Datum::Text(_) => return call.wrong(1, "an index is a number and not negative"),
                _ => return call.unexpected(evaluator, 1, "a whole number"),
            };
            let length = rest.len() as i64;
            if index >= length {
                return call.wrong(1, format!("the array has only {length} elements"));
            }
            // Before the beginning there is nothing to delete.
            let position = if index < 0 { length + index } else { index };
            if let Ok(position) = usize::try_from(position) {
                rest.remove(position);
            }
            Ok(call.result(evaluator, Array::from(rest)))
        },
    ),
    plain(
        "delete_undef_values",
        (1, ANY),
        "delete_undef_values(Variant[Array, Hash] $all): all but what is `undef`",
        |evaluator, call| {
            let call = call.older()?;
            match &call.arguments[0].datum {
                Datum::Array(array) => {
                    let kept = array.iter().filter(|value| !value.is_undef());
                    let kept: Array = kept.cloned().collect();
                    Ok(call.result(evaluator, kept))
                }
                Datum::Hash(hash) => {
                    let kept = with_values(hash, |value| !value.is_undef());
                    Ok(call.result(evaluator, kept))
                }
                _ => call.unexpected(evaluator, 0, "an array or a hash"),
            }
        },
    ),
    plain(
        "zip",
        (2, ANY),
        "zip(Array $one, Array $another, Boolean $flat = false) >> Array: each element of the first with that of the second at its place",
        |evaluator, call| {
            let call = call.older()?;
            let one = call.array(evaluator, 0)?.clone();
            let another = call.array(evaluator, 1)?.clone();
            let flat = match call.arguments.get(2) {
                Some(flat) if flat.datum.is_true() => super::convert::to_bool(&call, 2, flat)?,
                _ => false,
            };
            let origin = evaluator.trace.operation(call.at, call.origins());
            let absent = Value::new(Datum::Undef, origin);
            let mut pairs: Vec<Value> = Vec::with_capacity(one.len());
            for (number, value) in one.iter().enumerate() {
                let other = another.get(number).unwrap_or(&absent).clone();
                pairs.push(Value::new(Array::from(vec![value.clone(), other]), origin));
            }
            if flat {
                let mut all = Vec::new();
                ruby::flatten(&pairs, &mut all);
                pairs = all;
            }
            evaluator.shallow(Value::new(Array::from(pairs), origin), call.at.span)
        },
    ),
    plain(
        "range",
        (1, ANY),
        "range(Variant[Integer, String] $from, Variant[Integer, String] $to, Integer $step = 1) >> Array: all numbers or texts from one to another",
        range,
    ),
    plain(
        "values_at",
        (2, ANY),
        "values_at(Array $all, Any $indices) >> Array: the elements at some indices, or at ranges such as '0-2'",
        values_at,
    ),
];

/// Values that differ, as keys of a hash do.
type Distinct = IndexSet<Datum, FxBuildHasher>;

/// Each value once, the first of those that are equal.
pub(super) fn distinct(values: Vec<Value>) -> Vec<Value> {
    let mut seen = Distinct::default();
    let mut values = values;
    values.retain(|value| seen.insert(value.datum.clone()));
    values
}

fn data(array: &Array) -> Distinct {
    array.iter().map(|value| value.datum.clone()).collect()
}

/// The entries whose values are kept.
pub(super) fn with_values(hash: &Hash, mut stays: impl FnMut(&Value) -> bool) -> Hash {
    let kept = hash.iter().filter(|(_, entry)| stays(&entry.value));
    kept.map(|(key, entry)| (Value::new(key.clone(), entry.key), entry.value.clone()))
        .collect()
}

fn is_number(text: &str) -> bool {
    let is_digits = |line: &str| !line.is_empty() && line.bytes().all(|it| it.is_ascii_digit());
    text.split_terminator('\n').any(is_digits)
}

fn unique<'t>(evaluator: &mut Evaluator<'t>, mut call: Invocation<'t>) -> Outcome {
    call.check_lambda(1)?;
    let all = call.arguments[0].clone();
    if let Datum::Hash(hash) = &all.datum {
        return unique_values(evaluator, &call, hash);
    }
    let elements = Elements::of(evaluator, &mut call, Asked::AtOnce)?;
    let mut seen = Distinct::default();
    let mut kept = Vec::new();
    let mut decided: Vec<Value> = call.origins().collect();
    if let Some(lambda) = call.lambda {
        evaluator.pass(elements.origin, Code::Lambda(lambda));
    }
    elements.taken(elements.values.len());
    for value in &elements.values {
        let told = match call.lambda {
            Some(lambda) => {
                let cause = elements.cause(&call);
                let told = evaluator.call_lambda(lambda, vec![value.clone()], cause)?;
                let datum = told.datum.clone();
                decided.push(told);
                datum
            }
            None => value.datum.clone(),
        };
        if seen.insert(told) {
            kept.push(value.clone());
        }
    }
    let origin = evaluator.trace.operation(call.at, decided);
    if matches!(all.datum, Datum::Text(_)) {
        let text: ecow::EcoString = kept.iter().map(|value| ruby::text(&value.datum)).collect();
        return Ok(Value::new(text, origin));
    }
    Ok(Value::new(Array::from(kept), origin))
}

/// The keys with the same value, or what the lambda makes of it, together, and their values.
fn unique_values<'t>(evaluator: &mut Evaluator<'t>, call: &Invocation<'t>, hash: &Hash) -> Outcome {
    let mut groups: IndexMap<Datum, (Vec<Value>, Vec<Value>), FxBuildHasher> = IndexMap::default();
    let origin = call.arguments[0].origin;
    if let Some(lambda) = call.lambda {
        evaluator.pass(origin, Code::Lambda(lambda));
    }
    for (key, entry) in hash.iter() {
        let told = match call.lambda {
            Some(lambda) => {
                let cause = crate::trace::Cause::Element {
                    of: origin,
                    at: call.at,
                };
                evaluator
                    .call_lambda(lambda, vec![entry.value.clone()], cause)?
                    .datum
            }
            None => entry.value.datum.clone(),
        };
        let (keys, values) = groups.entry(told).or_default();
        keys.push(Value::new(key.clone(), entry.key));
        values.push(entry.value.clone());
    }
    let origin = evaluator.trace.operation(call.at, call.origins());
    let groups = groups.into_values().map(|(keys, values)| {
        let values = Array::from(distinct(values));
        (
            Value::new(Array::from(keys), origin),
            Value::new(values, origin),
        )
    });
    let groups: Hash = groups.collect();
    evaluator.shallow(Value::new(groups, origin), call.at.span)
}

fn sort<'t>(evaluator: &mut Evaluator<'t>, mut call: Invocation<'t>) -> Outcome {
    call.check_lambda(2)?;
    let all = call.arguments[0].clone();
    let is_text = matches!(all.datum, Datum::Text(_));
    let values = match &all.datum {
        Datum::Array(array) => array.as_slice().to_vec(),
        Datum::Text(_) => Elements::of(evaluator, &mut call, Asked::AtOnce)?.values,
        _ => return call.unexpected(evaluator, 0, "text or an array"),
    };
    let mut decided = vec![all.clone()];
    if let Some(lambda) = call.lambda {
        evaluator.pass(all.origin, Code::Lambda(lambda));
    }
    let sorted = merge_sort(values, &mut |one, another| {
        let ordering = compared(evaluator, &call, &mut decided, one, another)?;
        Ok(ordering != Ordering::Greater)
    })?;
    let origin = evaluator.trace.operation(call.at, decided);
    if is_text {
        let text: ecow::EcoString = sorted
            .iter()
            .map(|value| ruby::text(&value.datum))
            .collect();
        return Ok(Value::new(text, origin));
    }
    Ok(Value::new(Array::from(sorted), origin))
}

/// How two elements compare, by the lambda of the call if there is one.
pub(super) fn compared<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    decided: &mut Vec<Value>,
    one: &Value,
    another: &Value,
) -> Outcome<Ordering> {
    let Some(lambda) = call.lambda else {
        return match ruby::compare(&one.datum, &another.datum) {
            Some(ordering) => Ok(ordering),
            None => {
                let (one, another) = (ruby::inspect(&one.datum), ruby::inspect(&another.datum));
                call.wrong(0, format!("{one} and {another} have no order"))
            }
        };
    };
    let cause = crate::trace::Cause::Element {
        of: call.arguments[0].origin,
        at: call.at,
    };
    let result = evaluator.call_lambda(lambda, vec![one.clone(), another.clone()], cause)?;
    decided.push(result.clone());
    let ordering = match result.datum {
        Datum::Integer(number) => Some(number.cmp(&0)),
        Datum::Float(number) => number.partial_cmp(&0.0),
        _ => None,
    };
    match ordering {
        Some(ordering) => Ok(ordering),
        None => {
            let message = "the lambda says with a number how two elements compare";
            crate::evaluate::fail(super::ARGUMENT, message, lambda.span)
        }
    }
}

/// Sorts, where comparing may fail. Equal elements stay in order.
fn merge_sort(
    mut values: Vec<Value>,
    in_order: &mut dyn FnMut(&Value, &Value) -> Outcome<bool>,
) -> Outcome<Vec<Value>> {
    if values.len() < 2 {
        return Ok(values);
    }
    let right = values.split_off(values.len() / 2);
    let left = merge_sort(values, in_order)?;
    let right = merge_sort(right, in_order)?;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(one), Some(another)) = (left.peek(), right.peek()) {
        match in_order(one, another)? {
            true => merged.extend(left.next()),
            false => merged.extend(right.next()),
        }
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

fn delete<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let deleted = match &call.arguments[1].datum {
        Datum::Array(array) => array.as_slice().to_vec(),
        Datum::Hash(hash) => crate::evaluate::pairs(hash, call.arguments[1].origin),
        _ => vec![call.arguments[1].clone()],
    };
    if deleted.is_empty() {
        return Ok(call.arguments[0].clone());
    }
    match &call.arguments[0].datum {
        Datum::Array(array) => {
            let goes = |value: &Value| {
                deleted
                    .iter()
                    .any(|it| ruby::equal(&it.datum, &value.datum))
            };
            let kept: Array = array.iter().filter(|value| !goes(value)).cloned().collect();
            Ok(call.result(evaluator, kept))
        }
        Datum::Hash(hash) => {
            let kept = hash
                .clone()
                .without(|key| deleted.iter().any(|it| it.datum == *key));
            Ok(call.result(evaluator, kept))
        }
        Datum::Text(text) => {
            let mut text = text.clone();
            for part in &deleted {
                let Datum::Text(part) = &part.datum else {
                    return call.unexpected(evaluator, 1, "text");
                };
                if !part.is_empty() {
                    text = text.replace(part.as_str(), "");
                }
            }
            call.text_result(evaluator, text)
        }
        _ => call.unexpected(evaluator, 0, "an array, a hash or text"),
    }
}

/// So many elements does a range have at most; what is beyond is cut off.
const LONGEST_RANGE: usize = 1_000_000;

fn range<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let text = |number: usize| ruby::text(&call.arguments[number].datum);
    let (from, to, step, exclusive) = match call.arguments.len() {
        1 => {
            let written = call.text(evaluator, 0)?;
            match range_parts(written) {
                Some((from, to, exclusive)) => (from.into(), to.into(), 1, exclusive),
                None => return call.wrong(0, format!("'{written}' is no range")),
            }
        }
        _ => {
            let step = match call.arguments.get(2).map(|step| &step.datum) {
                None => 1,
                Some(Datum::Integer(step)) => step.unsigned_abs(),
                Some(Datum::Float(step)) => step.abs() as u64,
                Some(Datum::Text(step)) => ruby::leading_integer(step)
                    .unwrap_or(i64::MAX)
                    .unsigned_abs(),
                Some(_) => return call.unexpected(evaluator, 2, "a whole number"),
            };
            if step == 0 {
                return call.wrong(2, "a step is not zero");
            }
            (text(0), text(1), step, false)
        }
    };
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    let origin = evaluator.trace.operation(call.at, call.origins());
    let value = |datum: Datum| Value::new(datum, origin);
    let elements: Vec<Value> = if is_number(&from) {
        let number = |text: &str| match ruby::leading_integer(text) {
            Some(number) => Ok(number),
            None => call.wrong(0, "this number is too large"),
        };
        let (first, last) = (number(&from)?, number(&to)?);
        let last = if exclusive {
            last.saturating_sub(1)
        } else {
            last
        };
        let numbers = (first..=last).step_by(step).take(LONGEST_RANGE);
        numbers
            .map(|number| value(Datum::Integer(number)))
            .collect()
    } else {
        let most = LONGEST_RANGE.saturating_mul(step).min(MOST_ELEMENTS);
        let texts = texts_between(&from, &to, exclusive, most);
        let texts = texts.step_by(step).take(LONGEST_RANGE);
        texts.map(|text| value(Datum::from(text))).collect()
    };
    Ok(Value::new(Array::from(elements), origin))
}

/// `a..b`, `a...b` or `a-b`: the ends, and whether the last is left out.
fn range_parts(text: &str) -> Option<(&str, &str, bool)> {
    let is_word = |part: &str| {
        let is_letter = |char: char| char.is_ascii_alphanumeric() || char == '_';
        !part.is_empty() && part.chars().all(is_letter)
    };
    text.split_terminator('\n').find_map(|line| {
        let at = line.find(['.', '-'])?;
        let (from, rest) = line.split_at(at);
        let (to, exclusive) = match rest.strip_prefix("...") {
            Some(to) => (to, true),
            None => (rest.strip_prefix("..").or(rest.strip_prefix('-'))?, false),
        };
        (is_word(from) && is_word(to)).then_some((from, to, exclusive))
    })
}

/// The texts from one to another, each the successor of the one before, while they are no longer than the last.
fn texts_between(
    from: &str,
    to: &str,
    exclusive: bool,
    most: usize,
) -> impl Iterator<Item = String> {
    let to = to.to_owned();
    let is_character = |text: &str| text.len() == 1 && text.is_ascii();
    let characters = is_character(from) && is_character(&to);
    let mut next = (*from <= *to).then(|| from.to_owned());
    let mut first = true;
    let texts = std::iter::from_fn(move || {
        let text = next.take()?;
        // The first one may be longer than the last.
        let too_long = !std::mem::replace(&mut first, false) && text.len() > to.len();
        if too_long || exclusive && text == to {
            return None;
        }
        if text != to && !text.is_empty() {
            // Single characters follow each other as in ASCII.
            next = Some(match characters {
                true => char::from(text.as_bytes()[0] + 1).to_string(),
                false => successor(&text),
            });
        }
        Some(text)
    });
    texts.take(most)
}

/// The next text: the last letter or digit goes up, and those before it when it is at the end of its kind.
fn successor(text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let places: Vec<usize> = (0..chars.len())
        .filter(|at| chars[*at].is_ascii_alphanumeric())
        .collect();
    let Some(first) = places.first().copied() else {
        if let Some(last) = chars.last_mut() {
            *last = char::from_u32(u32::from(*last) + 1).unwrap_or(*last);
        }
        return chars.into_iter().collect();
    };
    for at in places.iter().rev().copied() {
        let (again, carried) = match chars[at] {
            '9' => ('0', '1'),
            'z' => ('a', 'a'),
            'Z' => ('A', 'A'),
            other => {
                chars[at] = char::from_u32(u32::from(other) + 1).unwrap_or(other);
                return chars.into_iter().collect();
            }
        };
        chars[at] = again;
        if at == first {
            chars.insert(at, carried);
        }
    }
    chars.into_iter().collect()
}

fn values_at<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let array = call.array(evaluator, 0)?.clone();
    let mut indices = Vec::new();
    ruby::flatten([&call.arguments[1]], &mut indices);
    if indices.is_empty() {
        return call.wrong(1, "there is no index");
    }
    let mut values = Vec::new();
    for index in indices {
        let text = ruby::text(&index.datum);
        let number = |text: &str| match is_number(text) {
            true => ruby::leading_integer(text).and_then(|it| usize::try_from(it).ok()),
            false => None,
        };
        let (from, to) = match range_parts(&text) {
            Some((from, to, exclusive)) => match (number(from), number(to)) {
                (Some(from), Some(to)) if from > to => {
                    return call.wrong(1, "the range goes backwards");
                }
                (Some(from), Some(to)) if to < array.len() => {
                    (from, if exclusive { to } else { to + 1 })
                }
                (Some(_), Some(_)) => return call.wrong(1, "the range goes beyond the array"),
                _ => return call.wrong(1, format!("'{text}' is no index")),
            },
            None => match number(&text) {
                Some(index) if index < array.len() => (index, index + 1),
                Some(_) => return call.wrong(1, "the index is beyond the array"),
                None => return call.wrong(1, format!("'{text}' is no index")),
            },
        };
        let found = array.as_slice()[from..to].iter();
        values.extend(found.filter(|value| !value.is_undef()).cloned());
        call.check_count(values.len())?;
    }
    Ok(call.result(evaluator, Array::from(values)))
}
