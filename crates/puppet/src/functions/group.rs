//! More ways to go through something: in groups, backwards, in steps, through a tree.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::arguments::accepts;
use super::iterate::{Elements, Next};
use super::{Function, Takes, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome, fail};
use crate::iteration::{Asked, Iteration, Of};
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "group_by",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "group_by(Collection $all) |$element| or |$key, $value| >> Hash: the elements by what the lambda makes of them",
        run: |evaluator, mut call| {
            let elements = collection(evaluator, &mut call)?;
            let mut groups: IndexMap<Datum, (Value, Vec<Value>), FxBuildHasher> =
                IndexMap::default();
            elements.each(evaluator, &call, &mut |_, number, result| {
                let group = groups.entry(result.datum.clone());
                let (_, group) = group.or_insert_with(|| (result, Vec::new()));
                group.push(elements.values[number].clone());
                Ok(Next::GoOn)
            })?;
            let origin = evaluator.trace.operation(call.at, call.origins());
            let groups = groups
                .into_values()
                .map(|(key, group)| (key, Value::new(Array::from(group), origin)));
            let groups: Hash = groups.collect();
            evaluator.shallow(Value::new(groups, origin), call.at.span)
        },
    },
    Function {
        name: "partition",
        arguments: (1, 1),
        lambda: Takes::Required,
        about: "partition(Collection $all) |$element| or |$key, $value| >> Tuple[Array, Array]: the elements for which the lambda holds, and the others",
        run: |evaluator, mut call| {
            let elements = collection(evaluator, &mut call)?;
            let (mut held, mut others) = (Vec::new(), Vec::new());
            let mut decided: Vec<Value> = call.origins().collect();
            elements.each(evaluator, &call, &mut |_, number, result| {
                decided.push(result.clone());
                let value = elements.values[number].clone();
                match result.datum.is_true() {
                    true => held.push(value),
                    false => others.push(value),
                }
                Ok(Next::GoOn)
            })?;
            let origin = evaluator.trace.operation(call.at, decided);
            let parts = [held, others].map(|part| Value::new(Array::from(part), origin));
            evaluator.shallow(
                Value::new(Array::from(parts.to_vec()), origin),
                call.at.span,
            )
        },
    },
    Function {
        name: "index",
        arguments: (1, 2),
        lambda: Takes::Optional,
        about: "index(Iterable $all, Any $what) |$element| or |$key, $value|: the index or key of the first element that is equal, or for which the lambda holds; for a text, where another or a regular expression is in it",
        run: index,
    },
    Function {
        name: "reverse_each",
        arguments: (1, 1),
        lambda: Takes::Optional,
        about: "reverse_each(Iterable $all) |$element|: the elements backwards, or the lambda run for each of them",
        run: |evaluator, mut call| {
            call.check_lambda(1)?;
            evaluator.takes_within(call.at, &mut call.arguments[0]);
            stepping(evaluator, &mut call, |iteration| iteration.backwards())
        },
    },
    Function {
        name: "step",
        arguments: (2, 2),
        lambda: Takes::Optional,
        about: "step(Iterable $all, Integer[1] $size) |$element|: the first element and each so many behind it, or the lambda run for each of them",
        run: |evaluator, mut call| {
            call.check_lambda(1)?;
            let step = call.integer(evaluator, 1)?;
            let Some(step) = usize::try_from(step).ok().filter(|step| *step > 0) else {
                return call.wrong(1, "a step is positive");
            };
            stepping(evaluator, &mut call, |iteration| iteration.in_steps(step))
        },
    },
    Function {
        name: "tree_each",
        arguments: (1, 2),
        lambda: Takes::Optional,
        about: "tree_each(Variant[Array, Hash] $tree, Hash $options = {}) |$value| or |$path, $value|: everything in a tree, each with the path to it; options are container_type, include_root, include_containers, include_values and order",
        run: tree_each,
    },
];

/// The elements of an array or a hash.
fn collection<'t>(evaluator: &mut Evaluator<'t>, call: &mut Invocation<'t>) -> Outcome<Elements> {
    if !matches!(call.arguments[0].datum, Datum::Array(_) | Datum::Hash(_)) {
        return call.unexpected(evaluator, 0, "an array or a hash");
    }
    check_one_or_two(call)?;
    let elements = Elements::of(evaluator, call, Asked::AtOnce)?;
    Ok(elements.alone_if_possible(call))
}

fn check_one_or_two(call: &Invocation<'_>) -> Outcome<()> {
    match call.lambda {
        Some(lambda) if !accepts(lambda, 1) && !accepts(lambda, 2) => {
            let message = format!("the lambda of `{}` takes 1 or 2 parameters", call.name);
            fail(crate::evaluate::ARGUMENTS, message, lambda.span)
        }
        _ => Ok(()),
    }
}

/// Elements in another order, one by one; or `undef`, once the lambda has run for each of them.
fn stepping<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &mut Invocation<'t>,
    order: impl FnOnce(&Iteration) -> Iteration,
) -> Outcome {
    let ordered = match call.arguments[0].datum.clone() {
        Datum::Iterator(iteration) => order(&iteration),
        other => {
            let elements = Elements::of(evaluator, call, Asked::AtOnce)?;
            order(&Iteration::over(&other, elements.values))
        }
    };
    let ordered = iterator(evaluator, call, ordered)?;
    if call.lambda.is_none() {
        return Ok(ordered);
    }
    call.arguments[0] = ordered;
    let elements = Elements::of(evaluator, call, Asked::OneByOne)?;
    let elements = elements.alone_if_possible(call);
    elements.each(evaluator, call, &mut |_, _, _| Ok(Next::GoOn))?;
    Ok(call.result(evaluator, Datum::Undef))
}

fn iterator<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    elements: Iteration,
) -> Outcome {
    evaluator.has_iterators = true;
    call.container(evaluator, Datum::Iterator(elements.into()))
}

fn index<'t>(evaluator: &mut Evaluator<'t>, mut call: Invocation<'t>) -> Outcome {
    check_one_or_two(&call)?;
    let all = &call.arguments[0];
    let place = match (&all.datum, call.arguments.get(1).map(|what| &what.datum)) {
        (_, Some(_)) if call.lambda.is_some() => {
            let message = "`index` takes something to look for or a lambda, and not both";
            return fail(crate::evaluate::ARGUMENTS, message, call.at.span);
        }
        (_, None) if call.lambda.is_none() => {
            let message = "`index` needs something to look for, or a lambda";
            return fail(crate::evaluate::ARGUMENTS, message, call.at.span);
        }
        (Datum::Text(text), Some(Datum::Text(part))) => Some(text.find(part.as_str())),
        (Datum::Text(text), Some(Datum::Pattern(pattern))) => {
            let found = pattern.find_from(text, 0);
            let found = found.and_then(|groups| groups.into_iter().next().flatten());
            Some(found.map(|found| found.start))
        }
        _ => None,
    };
    if let (Datum::Text(text), Some(place)) = (&all.datum, place) {
        let characters = place.map(|place| text[..place].chars().count());
        let result = characters.map_or(Datum::Undef, |count| Datum::Integer(count as i64));
        return Ok(call.result(evaluator, result));
    }
    let elements = Elements::of(evaluator, &mut call, Asked::AtOnce)?;
    let is_hash = elements.has_entries();
    let mut decided: Vec<Value> = call.origins().collect();
    let mut found = None;
    match call.lambda {
        None => {
            let what = &call.arguments[1].datum;
            let is_it = |value: &Value| match &value.datum {
                Datum::Array(pair) if is_hash => pair
                    .get(1)
                    .is_some_and(|value| ruby::equal(&value.datum, what)),
                datum => ruby::equal(datum, what),
            };
            found = elements.values.iter().position(is_it);
        }
        Some(lambda) => {
            let two = accepts(lambda, 2);
            let elements = match is_hash && !two {
                true => elements.second_of_pairs(),
                false => elements.clone(),
            };
            elements.each(evaluator, &call, &mut |_, number, result| {
                decided.push(result.clone());
                match result.datum.is_true() {
                    true => {
                        found = Some(number);
                        Ok(Next::Stop)
                    }
                    false => Ok(Next::GoOn),
                }
            })?;
        }
    }
    let origin = evaluator.trace.operation(call.at, decided);
    elements.decided(evaluator, &call, origin);
    let key = |number: usize| match &elements.values[number].datum {
        Datum::Array(pair) if is_hash => pair.get(0).map_or(Datum::Undef, |key| key.datum.clone()),
        _ => Datum::Integer(number as i64),
    };
    Ok(Value::new(found.map_or(Datum::Undef, key), origin))
}

/// How a tree is walked.
struct Walk {
    container: Type,
    root: bool,
    containers: bool,
    values: bool,
}

fn tree_each<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    check_one_or_two(&call)?;
    let tree = call.arguments[0].clone();
    if !matches!(tree.datum, Datum::Array(_) | Datum::Hash(_)) {
        return call.unexpected(evaluator, 0, "an array or a hash");
    }
    let options = match call.arguments.get(1) {
        Some(_) => call.hash(evaluator, 1)?.clone(),
        None => Hash::from_iter([]),
    };
    let collections = Type::variant([
        Type::array(Type::Any, None),
        Type::hash(Type::Any, Type::Any, None),
    ]);
    let mut walk = Walk {
        container: collections.clone(),
        root: true,
        containers: true,
        values: true,
    };
    let mut breadth_first = false;
    for (name, entry) in options.iter() {
        let name = crate::text::text(name);
        let flag = match &entry.value.datum {
            Datum::Undef => continue,
            Datum::Bool(bool) => Some(*bool),
            _ => None,
        };
        match (name.as_str(), flag, &entry.value.datum) {
            ("include_root", Some(flag), _) => walk.root = flag,
            ("include_containers", Some(flag), _) => walk.containers = flag,
            ("include_values", Some(flag), _) => walk.values = flag,
            ("include_refs", Some(_), _) => {}
            ("order", _, Datum::Text(order)) if order == "depth_first" => {}
            ("order", _, Datum::Text(order)) if order == "breadth_first" => breadth_first = true,
            ("container_type", _, Datum::Type(kind)) => {
                if !collections.assignable(kind) {
                    return call.wrong(1, format!("{kind} is no type of arrays and hashes"));
                }
                walk.container = kind.as_ref().clone();
            }
            _ => return call.wrong(1, format!("this is no option, or no value for one: {name}")),
        }
    }
    if !walk.containers && !walk.values {
        return call.wrong(1, "without containers and without values nothing is left");
    }
    if !walk.container.instance(&tree.datum) {
        return call.wrong(0, "the tree itself is not of the type of its containers");
    }
    walk.root &= walk.containers;
    let mut visited = Vec::new();
    match breadth_first {
        true => walk.in_breadth(&tree, &mut visited),
        false => {
            if walk.root {
                visited.push((Vec::new(), tree.clone()));
            }
            walk.in_depth(&tree, &mut Vec::new(), &mut visited);
        }
    }
    let path_of = |path: Vec<Value>| Value::new(Array::from(path), tree.origin);
    let Some(lambda) = call.lambda else {
        let visited = visited
            .into_iter()
            .map(|(path, value)| Value::new(Array::from(vec![path_of(path), value]), tree.origin));
        let order = match breadth_first {
            true => "Puppet::Pops::Types::Iterable::BreadthFirstTreeIterator",
            false => "Puppet::Pops::Types::Iterable::DepthFirstTreeIterator",
        };
        let visited: Array = visited.collect();
        let visited = Iteration::new(visited, Of::Tree(order));
        return iterator(evaluator, &call, visited);
    };
    evaluator.pass(tree.origin, crate::trace::Code::Lambda(lambda));
    let with_path = accepts(lambda, 2);
    for (path, value) in visited {
        let arguments = match with_path {
            true => vec![path_of(path), value],
            false => vec![value],
        };
        let cause = crate::trace::Cause::Element {
            of: tree.origin,
            at: call.at,
        };
        match evaluator.call_lambda(lambda, arguments, cause) {
            Ok(_) => {}
            Err(stop) if matches!(*stop, crate::evaluate::Stop::Break(_)) => break,
            Err(stop) => return Err(stop),
        }
    }
    Ok(tree)
}

type Visited = Vec<(Vec<Value>, Value)>;

impl Walk {
    fn in_depth(&self, tree: &Value, path: &mut Vec<Value>, visited: &mut Visited) {
        for (key, value) in children(tree) {
            path.push(key);
            let is_container = self.is_container(&value);
            if if is_container {
                self.containers
            } else {
                self.values
            } {
                visited.push((path.clone(), value.clone()));
            }
            if is_container {
                self.in_depth(&value, path, visited);
            }
            path.pop();
        }
    }

    fn in_breadth(&self, tree: &Value, visited: &mut Visited) {
        if self.root {
            visited.push((Vec::new(), tree.clone()));
        }
        let mut pending = std::collections::VecDeque::from([(Vec::new(), tree.clone())]);
        while let Some((path, container)) = pending.pop_front() {
            for (key, value) in children(&container) {
                let mut path: Vec<Value> = path.clone();
                path.push(key);
                let is_container = self.is_container(&value);
                // Values are there in this order whatever the options say, as in the real one.
                if !is_container || self.containers {
                    visited.push((path.clone(), value.clone()));
                }
                if is_container {
                    pending.push_back((path, value));
                }
            }
        }
    }

    fn is_container(&self, value: &Value) -> bool {
        matches!(value.datum, Datum::Array(_) | Datum::Hash(_))
            && self.container.instance(&value.datum)
    }
}

fn children(tree: &Value) -> Vec<(Value, Value)> {
    match &tree.datum {
        Datum::Array(array) => {
            let number = |number: usize| Value::new(number as i64, tree.origin);
            let elements = array.iter().enumerate();
            elements
                .map(|(at, value)| (number(at), value.clone()))
                .collect()
        }
        Datum::Hash(hash) => hash
            .iter()
            .map(|(key, entry)| (Value::new(key.clone(), entry.key), entry.value.clone()))
            .collect(),
        _ => Vec::new(),
    }
}
