//! Looking for something in values: by key, by path, or the first that is there.

use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::Code;

use super::{ANY, Function, Takes, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome, fail};
use crate::trace::{Cause, Code as Passed, DefinitionId, Node, Source};
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Object, Value};

/// `pick` finds nothing to pick.
pub const NOTHING_TO_PICK: Code = Code::new("puppet.nothing-to-pick");

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "dig",
        (1, ANY),
        "dig(Optional[Collection] $data, Any *$keys): what is behind one key after another, or `undef`",
        |evaluator, call| {
            let data = call.arguments[0].clone();
            if !matches!(data.datum, Datum::Undef | Datum::Array(_) | Datum::Hash(_)) {
                return call.unexpected(evaluator, 0, "an array or a hash");
            }
            match dig(evaluator, &call, data, &call.arguments[1..]) {
                Ok(value) => Ok(value),
                Err(obstacle) => call.wrong(0, obstacle.message),
            }
        },
    ),
    plain(
        "dig44",
        (2, ANY),
        "dig44(Collection $data, Array $keys, Any $default): what is behind one key after another, or a default; `dig` does it better",
        |evaluator, call| {
            let call = call.older()?;
            let data = call.arguments[0].clone();
            if !matches!(data.datum, Datum::Array(_) | Datum::Hash(_)) {
                return call.unexpected(evaluator, 0, "an array or a hash");
            }
            let keys = call.array(evaluator, 1)?.clone();
            Ok(dig_or_default(evaluator, &call, data, keys.as_slice()))
        },
    ),
    plain(
        "try_get_value",
        (1, ANY),
        "try_get_value(Any $data, String $path, Any $default, String $separator = '/'): what a path such as `a/b/0` leads to, or a default; `dig` does it better",
        try_get_value,
    ),
    Function {
        name: "get",
        arguments: (2, 3),
        lambda: Takes::Optional,
        about: "get(Any $data, String $path, Any $default = undef) |$error|: what a path such as `a.b.0` leads to, or a default",
        run: |evaluator, call| {
            let data = call.arguments[0].clone();
            let path = call.text(evaluator, 1)?.clone();
            call.check_lambda(1)?;
            get(evaluator, &call, data, &path, 1)
        },
    },
    Function {
        name: "getvar",
        arguments: (1, 2),
        lambda: Takes::Optional,
        about: "getvar(String $path, Any $default = undef) |$error|: the value of a variable by its name, or what a path behind the name leads to",
        run: getvar,
    },
    plain(
        "pick",
        (0, ANY),
        "pick(Any *$values): the first value that is neither `undef` nor an empty text",
        |evaluator, call| {
            let call = call.older()?;
            let is_there = |value: &&Value| !is_absent(value);
            let found = call.arguments.iter().position(|value| is_there(&value));
            match found {
                Some(number) => Ok(chosen(evaluator, &call, number)),
                None => {
                    let message = "none of these is anything but `undef` or an empty text";
                    fail(NOTHING_TO_PICK, message, call.at.span)
                }
            }
        },
    ),
    plain(
        "pick_default",
        (1, ANY),
        "pick_default(Any *$values): the first value that is neither `undef` nor an empty text, or else the last",
        |evaluator, call| {
            let call = call.older()?;
            let last = call.arguments.len() - 1;
            let found = call.arguments.iter().position(|value| !is_absent(value));
            Ok(chosen(evaluator, &call, found.unwrap_or(last)))
        },
    ),
    plain(
        "fact",
        (1, 1),
        "fact(String $path): a fact by its name, or what a path behind the name leads to",
        |evaluator, call| {
            let path = call.text(evaluator, 0)?.clone();
            let Some(facts) = variable(evaluator, &call, "::facts") else {
                return Ok(call.result(evaluator, Datum::Undef));
            };
            let mut value = facts;
            for key in fact_path(&path) {
                let found = match &value.datum {
                    Datum::Hash(hash) => hash.get_text(&key).cloned(),
                    Datum::Array(array) => {
                        let index = ruby::integer(&key);
                        index.and_then(|index| element_at(array, index).cloned())
                    }
                    _ => None,
                };
                let key = Value::new(key, call.arguments[0].origin);
                value = evaluator.element(call.at, found.as_ref(), &value, &key);
                if value.is_undef() {
                    break;
                }
            }
            Ok(value)
        },
    ),
    plain(
        "os_version_gte",
        (2, 2),
        "os_version_gte(String[1] $os, String[1] $version) >> Boolean: whether the node runs that system, in that version or a newer one",
        |evaluator, call| {
            let (os, version) = (call.text(evaluator, 0)?, call.text(evaluator, 1)?);
            if os.is_empty() || version.is_empty() {
                return call.wrong(0, "a name and a version are not empty");
            }
            let (os, version) = (os.clone(), version.clone());
            let facts = variable(evaluator, &call, "::facts");
            let fact = |name: &str| match facts.as_ref().map(|facts| &facts.datum) {
                Some(Datum::Hash(facts)) => facts.get_text(name).cloned(),
                _ => None,
            };
            let (name, release) = (fact("operatingsystem"), fact("operatingsystemmajrelease"));
            let is_os =
                matches!(&name, Some(Value { datum: Datum::Text(name), .. }) if *name == os);
            let mut operands: Vec<_> = call.origins().collect();
            operands.extend([&name, &release].into_iter().flatten().cloned());
            let result = match (is_os, release.map(|release| release.datum)) {
                (false, _) => false,
                (true, Some(Datum::Text(release))) => {
                    super::patterns::versions(&release, &version).is_ge()
                }
                (true, _) => {
                    let message = "the fact `operatingsystemmajrelease` is no text";
                    return call.wrong(0, message);
                }
            };
            let origin = evaluator.trace.operation(call.at, operands);
            Ok(Value::new(result, origin))
        },
    ),
    plain(
        "getparam",
        (1, ANY),
        "getparam(Resource $reference, String $name): the value of an attribute of a resource that was declared before, or an empty text",
        |evaluator, call| {
            let call = call.older()?;
            let name = call.text(evaluator, 1)?.clone();
            let found = match &call.arguments[0].datum {
                Datum::Type(kind) => match kind.as_ref() {
                    Type::Resource(Some(kind), Some(title)) => evaluator.find_resource(kind, title),
                    Type::Class(Some(class)) => evaluator.find_resource("class", class),
                    _ => None,
                },
                Datum::Text(text) => {
                    let parts = text.strip_suffix(']').and_then(|it| it.split_once('['));
                    let find = |(kind, title): (&str, &str)| {
                        evaluator.find_resource(&kind.to_lowercase(), title)
                    };
                    parts.and_then(find)
                }
                _ => return call.unexpected(evaluator, 0, "a reference to a resource"),
            };
            let attribute = found.and_then(|id| {
                let resource = &evaluator.resources[id.index()];
                resource
                    .attribute(&name)
                    .map(|attribute| attribute.value.clone())
            });
            let (container, key) = (&call.arguments[0], &call.arguments[1]);
            match attribute {
                Some(value) if !value.is_undef() => {
                    Ok(evaluator.element(call.at, Some(&value), container, key))
                }
                _ => Ok(call.result(evaluator, "")),
            }
        },
    ),
    plain(
        "stdlib::str2resource",
        (1, 1),
        "stdlib::str2resource(String $reference): the resource that was declared before and is called so, `File[/etc/motd]`",
        |evaluator, call| {
            let text = call.text(evaluator, 0)?.clone();
            let parts = text.strip_suffix(']').and_then(|it| it.split_once('['));
            let Some((kind, title)) =
                parts.filter(|(kind, title)| !kind.is_empty() && !title.is_empty())
            else {
                return call.wrong(0, "a resource is written as `File[/etc/motd]`");
            };
            let Some(id) = evaluator.find_resource(&kind.to_lowercase(), title) else {
                return call.wrong(0, format!("`{text}` is not declared before this place"));
            };
            let resource = &evaluator.resources[id.index()];
            let (kind, title) = (resource.type_name.clone(), resource.title.clone());
            let reference = match kind.as_str() {
                "class" => Type::Class(Some(title)),
                _ => Type::Resource(Some(kind), Some(title)),
            };
            Ok(call.result(evaluator, reference))
        },
    ),
];

/// Why a path leads nowhere.
struct Obstacle {
    message: String,
    issue: &'static str,
    path: Vec<Value>,
    kind: (&'static str, Type),
}

/// What is behind one key after another, or the default, which is the third argument. What is no number is no key of an
/// array.
fn dig_or_default<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    data: Value,
    keys: &[Value],
) -> Value {
    let mut value = data;
    for key in keys {
        let found = match (&value.datum, &key.datum) {
            (Datum::Hash(hash), key) => hash.get(key).cloned(),
            (Datum::Array(array), key) => {
                let index = match key {
                    Datum::Integer(index) => Some(*index),
                    Datum::Float(index) => Some(*index as i64),
                    Datum::Text(index) => ruby::integer(index),
                    _ => None,
                };
                index.and_then(|index| element_at(array, index)).cloned()
            }
            _ => None,
        };
        value = evaluator.element(call.at, found.as_ref(), &value, key);
        if value.is_undef() {
            break;
        }
    }
    match call.arguments.get(2) {
        Some(default) if value.is_undef() => {
            let operands = [value, default.clone()];
            let origin = evaluator.trace.choice(call.at, default.origin, operands);
            Value::new(default.datum.clone(), origin)
        }
        _ => value,
    }
}

fn try_get_value<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let data = call.arguments[0].clone();
    let path = call.optional_text(evaluator, 1)?.cloned();
    let path = path.unwrap_or_default();
    if !matches!(data.datum, Datum::Array(_) | Datum::Hash(_)) || path.is_empty() {
        let default = call.arguments.get(2);
        let default = default.filter(|default| default.datum.is_true());
        let value = default.unwrap_or(&data).clone();
        return Ok(call.handed_on(evaluator, value));
    }
    let separator = call.optional_text(evaluator, 3)?.cloned();
    let separator = separator.unwrap_or_else(|| "/".into());
    let mut steps: Vec<&str> = path.split(separator.as_str()).collect();
    while steps.last().is_some_and(|last| last.is_empty()) {
        steps.pop();
    }
    let origin = call.arguments[1].origin;
    let key = |step: &str| match step.bytes().all(|byte| byte.is_ascii_digit()) {
        true if !step.is_empty() => step.parse().map_or(Datum::from(step), Datum::Integer),
        _ => Datum::from(step),
    };
    let keys: Vec<Value> = steps
        .into_iter()
        .map(|step| Value::new(key(step), origin))
        .collect();
    Ok(dig_or_default(evaluator, &call, data, &keys))
}

/// What is behind one key after another. What is not there is `undef`, and so is all behind it.
fn dig<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    data: Value,
    keys: &[Value],
) -> Result<Value, Box<Obstacle>> {
    let mut value = data;
    for (number, key) in keys.iter().enumerate() {
        let path = |count: usize| {
            let path = keys[..count].iter().map(|key| key.datum.clone());
            let path: Vec<Value> = path
                .map(|key| Value::new(key, call.arguments[0].origin))
                .collect();
            let shown = ruby::inspect(&Datum::Array(path.clone().into()));
            (path, shown)
        };
        if value.is_undef() || key.is_undef() {
            let undef = Value::new(Datum::Undef, value.origin);
            return Ok(evaluator.element(call.at, None, &undef, key));
        }
        let found = match (&value.datum, &key.datum) {
            (Datum::Hash(hash), key) => hash.get(key).cloned(),
            (Datum::Array(array), Datum::Integer(index)) => element_at(array, *index).cloned(),
            (Datum::Array(_), other) => {
                let kind = Type::reduced(other);
                let (path, shown) = path(number + 1);
                return Err(Box::new(Obstacle {
                    message: format!(
                        "The given data requires an Integer index at {shown}, got '{kind}'"
                    ),
                    issue: "EXPECTED_INTEGER_INDEX",
                    path,
                    kind: ("index_type", kind),
                }));
            }
            (other, _) => {
                let kind = Type::reduced(other);
                let (path, shown) = path(number);
                return Err(Box::new(Obstacle {
                    message: format!(
                        "The given data does not contain a Collection at {shown}, got '{kind}'"
                    ),
                    issue: "EXPECTED_COLLECTION",
                    path,
                    kind: ("value_type", kind),
                }));
            }
        };
        value = evaluator.element(call.at, found.as_ref(), &value, key);
    }
    Ok(value)
}

fn element_at(array: &Array, index: i64) -> Option<&Value> {
    let position = match usize::try_from(index) {
        Ok(position) => position,
        Err(_) => array
            .len()
            .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
    };
    array.get(position)
}

/// What a path leads to; `first` is the number of the argument behind which the default stands.
fn get<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    data: Value,
    path: &str,
    first: usize,
) -> Outcome {
    let default = call.arguments.get(first + 1).cloned();
    let or_default = |evaluator: &mut Evaluator<'t>, value: Value| match default {
        Some(default) if value.is_undef() => {
            let operands = [value.origin, default.origin];
            let origin = evaluator.trace.choice(call.at, default.origin, operands);
            Value { origin, ..default }
        }
        _ => value,
    };
    if data.is_undef() || path.is_empty() {
        return Ok(or_default(evaluator, data));
    }
    let origin = call.arguments[first].origin;
    let Some(keys) = path_keys(path) else {
        return call.wrong(first, "this is no path of keys with points between them");
    };
    let keys: Vec<Value> = keys
        .into_iter()
        .map(|key| Value::new(key, origin))
        .collect();
    if !keys.is_empty() && !matches!(data.datum, Datum::Array(_) | Datum::Hash(_)) {
        return call.unexpected(evaluator, 0, "an array or a hash");
    }
    let reasons = call.origins().chain([data.clone()]);
    let outcome = evaluator.trace.operation(call.at, reasons);
    if let Some(lambda) = call.lambda {
        evaluator.pass(outcome, Passed::Lambda(lambda));
    }
    match dig(evaluator, call, data, &keys) {
        Ok(value) => Ok(or_default(evaluator, value)),
        Err(obstacle) => match call.lambda {
            Some(lambda) => {
                let error = obstacle.into_error(call);
                let at = call.at;
                evaluator.call_lambda(lambda, vec![error], Cause::Test { outcome, at })
            }
            None => call.wrong(first, obstacle.message),
        },
    }
}

impl Obstacle {
    /// The obstacle as the lambda of `get` gets it.
    fn into_error(self, call: &Invocation<'_>) -> Value {
        let origin = call.arguments[0].origin;
        let text = |text: &str| Value::new(text, origin);
        let (name, kind) = self.kind;
        let details: Hash = [
            (
                text("walked_path"),
                Value::new(Array::from(self.path), origin),
            ),
            (text(name), Value::new(kind, origin)),
        ]
        .into_iter()
        .collect();
        let attributes = [
            (text("msg"), text(&self.message)),
            (text("kind"), text("SLICE_ERROR")),
            (text("details"), Value::new(details, origin)),
            (text("issue_code"), text(self.issue)),
        ];
        let error = Object {
            kind: "Error".into(),
            attributes: attributes.into_iter().collect(),
        };
        Value::new(Datum::Object(Arc::new(error)), origin)
    }
}

fn getvar<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let path = call.text(evaluator, 0)?.clone();
    call.check_lambda(1)?;
    let Some((name, path)) = variable_name(&path) else {
        return call.wrong(0, "this does not begin with the name of a variable");
    };
    let Some(value) = variable(evaluator, &call, name) else {
        let mut seen: Vec<Value> = call.origins().collect();
        seen.push(evaluator.sighting(name, None));
        return Ok(match call.arguments.get(1) {
            Some(default) => {
                let origin = evaluator.trace.choice(call.at, default.origin, seen);
                Value {
                    origin,
                    ..default.clone()
                }
            }
            None => {
                let origin = evaluator.trace.operation(call.at, seen);
                Value::new(Datum::Undef, origin)
            }
        });
    };
    let look_up = evaluator.look_up_of(name, definition_of(evaluator, &value));
    let look_up = evaluator.trace.add(look_up).into();
    let named = [call.arguments[0].clone(), look_up];
    let origin = evaluator.trace.choice(call.at, value.origin, named);
    let value = Value { origin, ..value };
    get(evaluator, &call, value, path, 0)
}

/// The definition of a variable that a value is.
pub(super) fn definition_of(evaluator: &Evaluator<'_>, value: &Value) -> Option<DefinitionId> {
    match evaluator.trace.source(value.origin) {
        Source::Node(Node::Variable { definition, .. }) => Some(*definition),
        _ => None,
    }
}

/// The name of a variable and the path behind it.
pub(super) fn variable_name(text: &str) -> Option<(&str, &str)> {
    let (name, path) = match text.split_once('.') {
        Some((name, path)) => (name, path),
        None => (text.strip_suffix('\n').unwrap_or(text), ""),
    };
    let parts = name.strip_prefix("::").unwrap_or(name);
    let parts: Vec<&str> = parts.split("::").collect();
    let is_word = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_name = |(number, part): (usize, &&str)| {
        let may_begin = |c: char| c.is_ascii_lowercase() || c == '_' && number + 1 == parts.len();
        part.starts_with(may_begin) && is_word(part)
    };
    parts
        .iter()
        .enumerate()
        .all(is_name)
        .then_some((name, path))
}

/// A variable that is seen from the call, as a value that knows it.
pub(super) fn variable<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    name: &str,
) -> Option<Value> {
    let definition = match name.contains("::") {
        true => evaluator.qualified(name)?,
        false => evaluator.visible(name, call.at.span).ok()??,
    };
    let datum = evaluator.trace.definition(definition).value.datum.clone();
    let node = Node::Variable {
        definition,
        scope: evaluator.scope,
        passed: evaluator.trace.passed().len() as u32,
        at: call.at,
    };
    let origin = evaluator.trace.add(node);
    Some(Value { datum, origin })
}

/// The keys of a path: `a.0."b.c"`.
fn path_keys(path: &str) -> Option<Vec<Datum>> {
    let mut keys = Vec::new();
    let mut rest = path;
    loop {
        let blanks = rest.trim_start();
        let quote = blanks
            .chars()
            .next()
            .filter(|char| matches!(char, '"' | '\''));
        let (key, behind) = match quote {
            Some(quote) => {
                let (key, behind) = blanks[1..].split_once(quote)?;
                if key.is_empty() {
                    return None;
                }
                (Datum::from(key), behind.trim_start())
            }
            None => {
                let end = rest.find(['.', '"', '\'']).unwrap_or(rest.len());
                let (key, behind) = rest.split_at(end);
                if key.is_empty() {
                    return None;
                }
                let key = key.trim_matches(|char| char == '\0' || ruby::is_space(char));
                let digits = key.strip_prefix(['+', '-']).unwrap_or(key);
                let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
                let key = match is_number {
                    true => Datum::Integer(ruby::leading_integer(key)?),
                    false => Datum::from(key),
                };
                (key, behind)
            }
        };
        keys.push(key);
        match behind.strip_prefix('.') {
            Some(behind) => rest = behind,
            None => return behind.is_empty().then_some(keys),
        }
    }
}

/// The keys of a path to a fact: what stands between points, or in quotes.
fn fact_path(path: &str) -> Vec<EcoString> {
    let mut keys = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        if first == '.' {
            rest = &rest[1..];
            continue;
        }
        if first == '"' {
            match rest[1..].split_once('"') {
                Some((key, behind)) if !key.is_empty() => {
                    keys.push(key.into());
                    rest = behind;
                }
                _ => rest = &rest[1..],
            }
            continue;
        }
        let end = rest.find(['.', '"']).unwrap_or(rest.len());
        keys.push(rest[..end].into());
        rest = &rest[end..];
    }
    keys
}

fn is_absent(value: &Value) -> bool {
    match &value.datum {
        Datum::Undef => true,
        Datum::Text(text) => text.is_empty(),
        _ => false,
    }
}

/// One of the arguments, chosen because of those before it.
fn chosen<'t>(evaluator: &mut Evaluator<'t>, call: &Invocation<'t>, number: usize) -> Value {
    let value = call.arguments[number].clone();
    let operands = call.origins().take(number + 1);
    let origin = evaluator.trace.choice(call.at, value.origin, operands);
    Value { origin, ..value }
}
