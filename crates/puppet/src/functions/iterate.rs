//! Iterating over arrays, hashes, numbers and texts with a lambda.

use super::arguments::accepts;
use super::{ARGUMENT, Function, Takes};
use crate::evaluate::{Evaluator, Invocation, Outcome, Stop, fail, pairs};
use crate::iteration::{Asked, Taking};
use crate::syntax::Parameter;
use crate::trace::{Cause, Code, Node, Origin};
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "each",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "each(Iterable $all) |$element| or |$key, $value|: runs the lambda for each element, and returns them all",
        run: |evaluator, mut call| {
            let elements = Elements::of(evaluator, &mut call, Asked::OneByOne)?;
            elements.each(evaluator, &call, &mut |_, _, _| Ok(Next::GoOn))?;
            Ok(call.arguments[0].clone())
        },
    },
    Function {
        name: "map",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "map(Iterable $all) |$element| or |$key, $value| >> Array: what the lambda makes of each element",
        run: |evaluator, mut call| {
            let elements = Elements::of(evaluator, &mut call, Asked::OneByOne)?;
            let mut results = Vec::with_capacity(elements.values.len());
            elements.each(evaluator, &call, &mut |_, _, result| {
                results.push(result);
                Ok(Next::GoOn)
            })?;
            computed_array(evaluator, &call, results)
        },
    },
    Function {
        name: "filter",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "filter(Iterable $all) |$element| or |$key, $value|: the elements for which the lambda holds",
        run: |evaluator, mut call| {
            let elements = Elements::of(evaluator, &mut call, Asked::OneByOne)?;
            let mut kept = Vec::new();
            let mut decided = vec![call.arguments[0].clone()];
            elements.each(evaluator, &call, &mut |_, number, result| {
                decided.push(result.clone());
                if result.datum.is_true() {
                    kept.push(number);
                }
                Ok(Next::GoOn)
            })?;
            let origin = evaluator.trace.operation(call.at, decided);
            let kept = kept.into_iter().map(|number| &elements.values[number]);
            if call.arguments[0].is_hash() || elements.has_entries() && elements.with_index {
                let pair = |value: &Value| match &value.datum {
                    Datum::Array(pair) => Some((pair.get(0)?.clone(), pair.get(1)?.clone())),
                    _ => None,
                };
                let kept: Hash = kept.filter_map(pair).collect();
                return Ok(Value::new(kept, origin));
            }
            let kept: Array = kept.cloned().collect();
            Ok(Value::new(kept, origin))
        },
    },
    Function {
        name: "reduce",
        arguments: (1, 2),
        lambda: Takes::Required,
        about: "reduce(Iterable $all, Any $start) |$memo, $element|: what the lambda makes of all elements, one after another",
        run: |evaluator, mut call| {
            let elements = Elements::of(evaluator, &mut call, Asked::AtOnce)?;
            let mut values = elements.values.iter().cloned();
            let mut memo = match call.arguments.get(1) {
                Some(start) => Some(start.clone()),
                None => values.next(),
            };
            let lambda = call.lambda.expect("it was checked");
            evaluator.pass(elements.origin, Code::Lambda(lambda));
            let mut count = usize::from(call.arguments.len() == 1);
            for value in values {
                count += 1;
                elements.taken(count);
                let before = memo.clone().expect("there was an element before");
                let cause = elements.cause(&call);
                match evaluator.call_lambda(lambda, vec![before, value], cause) {
                    Ok(value) => memo = Some(value),
                    Err(stop) if matches!(*stop, Stop::Break(_)) => break,
                    Err(stop) => return Err(stop),
                }
            }
            elements.left(evaluator);
            let value = memo.unwrap_or_else(|| evaluator.written(Datum::Undef, call.at.span));
            let structure = Value::from(elements.index);
            let origin = evaluator
                .trace
                .operation(call.at, [value.clone(), structure]);
            evaluator.shallow(Value { origin, ..value }, call.at.span)
        },
    },
    Function {
        name: "any",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "any(Iterable $all) |$element| or |$key, $value| >> Boolean: whether the lambda holds for some",
        run: |evaluator, call| some_or_all(evaluator, call, true),
    },
    Function {
        name: "all",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "all(Iterable $all) |$element| or |$key, $value| >> Boolean: whether the lambda holds for all",
        run: |evaluator, call| some_or_all(evaluator, call, false),
    },
    Function {
        name: "slice",
        arguments: (2, 2),
        lambda: Takes::Optional,
        about: "slice(Iterable $all, Integer $size) |*$elements|: the elements in groups of a size",
        run: |evaluator, mut call| {
            let Datum::Integer(size) = call.arguments[1].datum else {
                return fail(ARGUMENT, "expected a whole number", call.span(1));
            };
            if size < 1 {
                return fail(ARGUMENT, "a group has at least one element", call.span(1));
            }
            let elements = Elements::of(evaluator, &mut call, Asked::AtOnce)?;
            elements.taken(elements.values.len());
            let origin = evaluator.trace.operation(call.at, call.origins());
            let groups: Vec<Vec<Value>> = elements
                .values
                .chunks(size as usize)
                .map(<[Value]>::to_vec)
                .collect();
            let Some(lambda) = call.lambda else {
                let groups = groups
                    .into_iter()
                    .map(|group| Value::new(Array::from(group), origin));
                return Ok(Value::new(groups.collect::<Array>(), origin));
            };
            evaluator.pass(origin, Code::Lambda(lambda));
            // A lambda that can do with fewer gets the elements of a whole group, as many as it takes.
            let parameters = &lambda.parameters;
            let is_open = |parameter: &Parameter| parameter.rest || parameter.default.is_some();
            let wanted = match parameters.iter().any(is_open) {
                true => size,
                false => parameters.len() as i64,
            };
            if wanted != 1 && wanted != size || size > MOST {
                let message = format!(
                    "the lambda of `slice` takes 1 parameter, or as many as a group has elements: {size}"
                );
                return fail(crate::evaluate::ARGUMENTS, message, lambda.span);
            }
            let taken = match parameters.last() {
                Some(last) if last.rest => wanted as usize,
                _ => parameters.len(),
            };
            let filler = match call.arguments[0].datum {
                Datum::Hash(_) => Datum::from(Array::default()),
                _ => Datum::Undef,
            };
            for group in groups {
                let arguments = match wanted {
                    1 => vec![Value::new(Array::from(group), origin)],
                    _ => {
                        let mut group = group;
                        let absent = Value::new(filler.clone(), origin);
                        group.resize(taken, absent);
                        group
                    }
                };
                match evaluator.call_lambda(lambda, arguments, elements.cause(&call)) {
                    Ok(_) => {}
                    Err(stop) if matches!(*stop, Stop::Break(_)) => break,
                    Err(stop) => return Err(stop),
                }
            }
            Ok(call.arguments[0].clone())
        },
    },
    Function {
        name: "with",
        arguments: (0, super::ANY),
        lambda: Takes::Required,
        about: "with(Any *$arguments) |*$arguments|: what the lambda makes of the arguments",
        run: |evaluator, call| {
            let lambda = call.lambda.expect("it was checked");
            evaluator.call_lambda(lambda, call.arguments, Cause::Called(call.at))
        },
    },
];

/// Whether a round of an iteration is the last.
pub(super) enum Next {
    GoOn,
    Stop,
}

/// What is iterated over.
#[derive(Clone)]
pub(super) struct Elements {
    /// The elements; for a hash, pairs of key and value.
    pub(super) values: Vec<Value>,
    /// Where the whole comes from.
    pub(super) origin: Origin,
    /// Where an index comes from.
    index: Origin,
    is_hash: bool,
    /// Whether a round gets the index or the key, too.
    with_index: bool,
    /// Where to say how many were taken, if they come one by one.
    taking: Option<Taking>,
}

/// So many elements can be iterated over that are not written out: `1000000.each`.
const MOST: i64 = 10_000_000;

impl Elements {
    pub(super) fn of<'t>(
        evaluator: &mut Evaluator<'t>,
        call: &mut Invocation<'t>,
        asked: Asked,
    ) -> Outcome<Elements> {
        let all = call.arguments[0].clone();
        let mut origin = all.origin;
        let mut taking = None;
        let numbers = |range: std::ops::Range<i64>| {
            if range.end.saturating_sub(range.start) > MOST {
                let message = format!("more than {MOST} elements cannot be iterated over");
                return fail(ARGUMENT, message, call.span(0));
            }
            Ok(range.map(|number| Value::new(number, origin)).collect())
        };
        let values = match &all.datum {
            Datum::Array(array) => array.as_slice().to_vec(),
            Datum::Hash(hash) => pairs(hash, origin),
            Datum::Integer(count) if *count >= 0 => numbers(0..*count)?,
            Datum::Text(text) => {
                let mut buffer = [0; 4];
                text.chars()
                    .map(|c| Value::new(&*c.encode_utf8(&mut buffer), origin))
                    .collect()
            }
            Datum::Iterator(_) => {
                let iterator = &mut call.arguments[0];
                let left = evaluator.left(call.at, iterator, asked);
                let left = left.expect("it is an iterator");
                origin = iterator.origin;
                taking = left.taking;
                left.values
            }
            Datum::Type(kind) => match kind.resolved() {
                Type::Integer(range) => match (range.min, range.max) {
                    (Some(min), Some(max)) => numbers(min..max.saturating_add(1))?,
                    _ => return fail(ARGUMENT, "this has no end", call.span(0)),
                },
                Type::Enum(values, _) => values
                    .iter()
                    .map(|value| Value::new(value.clone(), origin))
                    .collect(),
                other => {
                    let message = format!("`{other}` has no elements to iterate over");
                    return fail(ARGUMENT, message, call.span(0));
                }
            },
            other => {
                let message = format!(
                    "expected something to iterate over, found {}",
                    Type::of(other).generalise()
                );
                let trouble = hence_model::diagnostic::Diagnostic::error(ARGUMENT, message);
                return Err(evaluator.blaming(trouble.at(call.span(0)), &all));
            }
        };
        let is_hash = match &all.datum {
            Datum::Hash(_) => true,
            Datum::Iterator(iteration) => iteration.has_entries(),
            _ => false,
        };
        let index = evaluator.trace.add(Node::Structure(origin));
        Ok(Elements {
            values,
            origin,
            index,
            is_hash,
            // Whoever takes more than two is told so.
            with_index: call
                .lambda
                .is_some_and(|lambda| accepts(lambda, 2) || lambda.parameters.len() > 2),
            taking,
        })
    }

    /// A lambda that can do without the index or the key gets none.
    pub(super) fn alone_if_possible(self, call: &Invocation<'_>) -> Elements {
        let alone = call.lambda.is_some_and(|lambda| accepts(lambda, 1));
        Elements {
            with_index: self.with_index && !alone,
            ..self
        }
    }

    /// The values of what was a hash, without their keys.
    pub(super) fn second_of_pairs(&self) -> Elements {
        let second = |value: &Value| match &value.datum {
            Datum::Array(pair) => pair.get(1).unwrap_or(value).clone(),
            _ => value.clone(),
        };
        Elements {
            values: self.values.iter().map(second).collect(),
            is_hash: false,
            ..self.clone()
        }
    }

    /// How many were taken depends on what this came to.
    pub(super) fn decided<'t>(
        &self,
        evaluator: &mut Evaluator<'t>,
        call: &Invocation<'t>,
        came_to: Origin,
    ) {
        let Some(taking) = &self.taking else {
            return;
        };
        taking.because(|before| {
            let reasons = before.into_iter().chain([came_to]);
            let both = evaluator.trace.operation(call.at, reasons);
            evaluator.trace.add(Node::Structure(both))
        });
    }

    /// So many rounds were begun.
    pub(super) fn taken(&self, count: usize) {
        if let Some(taking) = &self.taking {
            taking.take(count);
        }
    }

    /// Whether they are keys with their values.
    pub(super) fn has_entries(&self) -> bool {
        self.is_hash
    }

    /// Why a round runs.
    pub(super) fn cause<'t>(&self, call: &Invocation<'t>) -> Cause<'t> {
        let of = self.origin;
        Cause::Element { of, at: call.at }
    }

    /// The arguments for a round: the element; the index and the element; the key and the value.
    fn arguments(&self, number: usize) -> Vec<Value> {
        let value = self.values[number].clone();
        match (&value.datum, self.with_index) {
            (Datum::Array(pair), true) if self.is_hash => pair.as_slice().to_vec(),
            (_, true) => vec![Value::new(number as i64, self.index), value],
            _ => vec![value],
        }
    }

    /// Runs the lambda for each element, and hands what it comes to to `then`.
    pub(super) fn each<'t>(
        &self,
        evaluator: &mut Evaluator<'t>,
        call: &Invocation<'t>,
        then: &mut dyn FnMut(&mut Evaluator<'t>, usize, Value) -> Outcome<Next>,
    ) -> Outcome<()> {
        let done = self.rounds(evaluator, call, then);
        self.left(evaluator);
        done
    }

    /// Rounds may have been left early, under conditions that are known only now.
    pub(super) fn left(&self, evaluator: &mut Evaluator<'_>) {
        if let Some(taking) = &self.taking {
            evaluator.takes(taking);
        }
    }

    fn rounds<'t>(
        &self,
        evaluator: &mut Evaluator<'t>,
        call: &Invocation<'t>,
        then: &mut dyn FnMut(&mut Evaluator<'t>, usize, Value) -> Outcome<Next>,
    ) -> Outcome<()> {
        let Some(lambda) = call.lambda else {
            for (number, value) in self.values.iter().enumerate() {
                self.taken(number + 1);
                if let Next::Stop = then(evaluator, number, value.clone())? {
                    break;
                }
            }
            return Ok(());
        };
        evaluator.pass(self.origin, Code::Lambda(lambda));
        for number in 0..self.values.len() {
            self.taken(number + 1);
            let arguments = self.arguments(number);
            let result = match evaluator.call_lambda(lambda, arguments, self.cause(call)) {
                Ok(result) => result,
                Err(stop) if matches!(*stop, Stop::Break(_)) => break,
                Err(stop) => return Err(stop),
            };
            if let Next::Stop = then(evaluator, number, result)? {
                break;
            }
        }
        Ok(())
    }
}

/// An array that a function made.
pub(super) fn computed_array<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    elements: Vec<Value>,
) -> Outcome {
    let origin = evaluator.trace.operation(call.at, call.origins());
    evaluator.shallow(Value::new(Array::from(elements), origin), call.at.span)
}

fn some_or_all<'t>(
    evaluator: &mut Evaluator<'t>,
    mut call: Invocation<'t>,
    wanted: bool,
) -> Outcome {
    let elements = Elements::of(evaluator, &mut call, Asked::AtOnce)?;
    let mut decided = vec![Value::from(elements.origin)];
    let mut found = !wanted;
    elements.each(evaluator, &call, &mut |_, _, result| {
        decided.push(result.clone());
        if result.datum.is_true() == wanted {
            found = wanted;
            return Ok(Next::Stop);
        }
        Ok(Next::GoOn)
    })?;
    let origin = evaluator.trace.operation(call.at, decided);
    elements.decided(evaluator, &call, origin);
    Ok(Value::new(found, origin))
}
