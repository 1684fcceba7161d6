//! Texts: their letters, their parts, what is in them.

use ecow::EcoString;

use super::arguments::LONGEST_TEXT;
use super::{ANY, Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "camelcase",
        (1, 1),
        "camelcase(Variant[String, Numeric, Array] $text): `camel_case` as `CamelCase`",
        |evaluator, call| {
            of_elements(evaluator, call, |text| {
                text.split('_').map(capitalised).collect()
            })
        },
    ),
    plain(
        "capitalize",
        (1, 1),
        "capitalize(Variant[String, Numeric, Array] $text): the first letter large, all others small",
        |evaluator, call| of_elements(evaluator, call, capitalised),
    ),
    plain(
        "chomp",
        (1, 1),
        "chomp(Variant[String, Numeric, Array] $text): the text without the end of its last line",
        |evaluator, call| of_elements(evaluator, call, |text| chomped(text).into()),
    ),
    plain(
        "chop",
        (1, 1),
        "chop(Variant[String, Numeric, Array] $text): the text without its last character",
        |evaluator, call| {
            of_elements(evaluator, call, |text| {
                let mut chars = text.chars();
                chars.next_back();
                text.strip_suffix("\r\n").unwrap_or(chars.as_str()).into()
            })
        },
    ),
    plain(
        "lstrip",
        (1, 1),
        "lstrip(Variant[String, Numeric, Array] $text): the text without blanks at its beginning",
        |evaluator, call| {
            of_elements(evaluator, call, |text| {
                text.trim_start_matches(is_strippable).into()
            })
        },
    ),
    plain(
        "rstrip",
        (1, 1),
        "rstrip(Variant[String, Numeric, Array] $text): the text without blanks at its end",
        |evaluator, call| {
            of_elements(evaluator, call, |text| {
                text.trim_end_matches(is_strippable).into()
            })
        },
    ),
    plain(
        "strip",
        (1, 1),
        "strip(Variant[String, Numeric, Array] $text): the text without blanks around it",
        |evaluator, call| {
            of_elements(evaluator, call, |text| {
                text.trim_matches(is_strippable).into()
            })
        },
    ),
    plain(
        "downcase",
        (1, 1),
        "downcase(Variant[String, Numeric, Array, Hash] $text): small letters, also in arrays and hashes",
        |evaluator, call| in_case(evaluator, &call, lower),
    ),
    plain(
        "upcase",
        (1, 1),
        "upcase(Variant[String, Numeric, Array, Hash] $text): large letters, also in arrays and hashes",
        |evaluator, call| in_case(evaluator, &call, upper),
    ),
    plain(
        "swapcase",
        (1, ANY),
        "swapcase(Variant[String, Array] $text): small letters for large ones, and large ones for small ones",
        |evaluator, call| {
            older_map(evaluator, call, |text| {
                let swap = |char: char| -> EcoString {
                    match char.is_uppercase() {
                        true => char.to_lowercase().collect(),
                        false => char.to_uppercase().collect(),
                    }
                };
                text.chars().map(swap).collect()
            })
        },
    ),
    plain(
        "length",
        (1, 1),
        "length(Variant[String, Collection, Binary] $what) >> Integer: how many characters, elements or bytes there are",
        length,
    ),
    plain(
        "size",
        (1, 1),
        "size(Variant[String, Collection, Binary] $what) >> Integer: how many characters, elements or bytes there are",
        length,
    ),
    plain(
        "empty",
        (1, 1),
        "empty(Any $what) >> Boolean: whether there is nothing in it; `undef` is empty, a number is not",
        |evaluator, call| {
            let empty = match &call.arguments[0].datum {
                Datum::Array(array) => array.is_empty(),
                Datum::Hash(hash) => hash.is_empty(),
                Datum::Text(text) => text.is_empty(),
                Datum::Integer(_) | Datum::Float(_) => false,
                Datum::Binary(bytes) => bytes.is_empty(),
                Datum::Undef => true,
                Datum::Sensitive(inner) => match &inner.datum {
                    Datum::Text(text) => text.is_empty(),
                    _ => return call.unexpected(evaluator, 0, "text or a collection"),
                },
                _ => return call.unexpected(evaluator, 0, "text or a collection"),
            };
            Ok(call.result_of_structure(evaluator, empty))
        },
    ),
    plain(
        "join",
        (1, 2),
        "join(Array $all, String $between = '') >> String: the texts of all elements, also of arrays among them, with something between them",
        |evaluator, call| {
            let array = call.array(evaluator, 0)?;
            let between = call.optional_text(evaluator, 1)?;
            let between = between.map_or("", EcoString::as_str);
            let mut text = EcoString::new();
            join(&mut text, array, between);
            call.text_result(evaluator, text)
        },
    ),
    plain(
        "prefix",
        (1, ANY),
        "prefix(Variant[Array, Hash] $all, String $text): a text before each element, or before each key",
        |evaluator, call| affix(evaluator, call, |text, affix| format!("{affix}{text}")),
    ),
    plain(
        "suffix",
        (1, ANY),
        "suffix(Variant[Array, Hash] $all, String $text): a text behind each element, or behind each key",
        |evaluator, call| affix(evaluator, call, |text, affix| format!("{text}{affix}")),
    ),
    plain(
        "squeeze",
        (1, 2),
        "squeeze(Variant[String, Array] $text, String $characters): one character for many of the same in a row",
        squeeze,
    ),
    plain(
        "reverse",
        (1, ANY),
        "reverse(Variant[String, Array] $what): the last character or element first",
        |evaluator, call| {
            let call = call.older()?;
            match &call.arguments[0].datum {
                Datum::Text(text) => {
                    let reversed: EcoString = text.chars().rev().collect();
                    Ok(call.result(evaluator, reversed))
                }
                Datum::Array(array) => {
                    let reversed: Array = array.iter().rev().cloned().collect();
                    Ok(call.result(evaluator, reversed))
                }
                _ => call.unexpected(evaluator, 0, "text or an array"),
            }
        },
    ),
    plain(
        "dos2unix",
        (1, 1),
        "dos2unix(String $text) >> String: line ends of Unix for those of DOS",
        |evaluator, call| {
            let call = call.older()?;
            let text = call.text(evaluator, 0)?.replace("\r\n", "\n");
            call.text_result(evaluator, text)
        },
    ),
    plain(
        "unix2dos",
        (1, 1),
        "unix2dos(String $text) >> String: line ends of DOS for those of Unix",
        |evaluator, call| {
            let call = call.older()?;
            let mut text = EcoString::new();
            for line in call.text(evaluator, 0)?.split_inclusive('\n') {
                match line.strip_suffix('\n') {
                    Some(line) => {
                        text.push_str(line.trim_end_matches('\r'));
                        text.push_str("\r\n");
                    }
                    None => text.push_str(line),
                }
            }
            call.text_result(evaluator, text)
        },
    ),
    plain(
        "stdlib::start_with",
        (2, 2),
        "stdlib::start_with(String $text, Variant[String, Array[String]] $beginnings) >> Boolean: whether a text begins with one of these",
        |evaluator, call| at_the_edge(evaluator, call, |text, edge| text.starts_with(edge)),
    ),
    plain(
        "stdlib::end_with",
        (2, 2),
        "stdlib::end_with(String $text, Variant[String, Array[String]] $ends) >> Boolean: whether a text ends with one of these",
        |evaluator, call| at_the_edge(evaluator, call, |text, edge| text.ends_with(edge)),
    ),
];

/// A text, or each element of an array of texts and numbers.
fn of_elements<'t>(
    evaluator: &mut Evaluator<'t>,
    mut call: Invocation<'t>,
    change: fn(&str) -> EcoString,
) -> Outcome {
    match &call.arguments[0].datum {
        Datum::Integer(_) | Datum::Float(_) => return Ok(call.arguments[0].clone()),
        Datum::Text(text) => {
            let text = change(text);
            return call.text_result(evaluator, text);
        }
        _ => {}
    }
    evaluator.takes_within(call.at, &mut call.arguments[0]);
    let array = match &call.arguments[0].datum {
        Datum::Iterator(iteration) => iteration.all_left().into(),
        _ => call.array(evaluator, 0)?.clone(),
    };
    // Mixed elements may have no type in common but `Scalar`, which is then refused as in the real one.
    let element = Type::variant([Type::STRING, Type::Numeric]);
    if !Type::Iterable(Some(element.into())).instance(&call.arguments[0].datum) {
        return call.unexpected(evaluator, 0, "an array of texts or numbers");
    }
    let mut changed = Vec::with_capacity(array.len());
    for value in array.iter() {
        match &value.datum {
            Datum::Integer(_) | Datum::Float(_) => changed.push(value.clone()),
            Datum::Text(text) => {
                let origin = evaluator.trace.operation(call.at, [value.clone()]);
                changed.push(Value::new(change(text), origin));
            }
            _ => return call.unexpected(evaluator, 0, "an array of texts and numbers"),
        }
    }
    call.container(evaluator, Array::from(changed))
}

/// As [`of_elements`], for functions of the older kind, which leave alone what is no text.
fn older_map<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    change: fn(&str) -> EcoString,
) -> Outcome {
    let call = call.older()?;
    match &call.arguments[0].datum {
        Datum::Text(text) => {
            let text = change(text);
            call.text_result(evaluator, text)
        }
        Datum::Array(array) => {
            let changed = array.iter().map(|value| match &value.datum {
                Datum::Text(text) => {
                    let origin = evaluator.trace.operation(call.at, [value.clone()]);
                    Value::new(change(text), origin)
                }
                _ => value.clone(),
            });
            let changed: Array = changed.collect();
            call.container(evaluator, changed)
        }
        _ => call.unexpected(evaluator, 0, "text or an array"),
    }
}

fn in_case<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    change: fn(&str) -> EcoString,
) -> Outcome {
    let argument = call.arguments[0].clone();
    match changed_in_depth(evaluator, call, &argument, change) {
        Some(value) => Ok(value),
        None => call.unexpected(
            evaluator,
            0,
            "text, a number, or an array or a hash of them",
        ),
    }
}

/// The value with all texts in it changed; nothing if there is something else in it than texts and numbers.
fn changed_in_depth<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    value: &Value,
    change: fn(&str) -> EcoString,
) -> Option<Value> {
    let datum = match &value.datum {
        Datum::Integer(_) | Datum::Float(_) => return Some(value.clone()),
        Datum::Text(text) => Datum::Text(change(text)),
        Datum::Array(array) => {
            let values = array.iter();
            let values = values.map(|value| changed_in_depth(evaluator, call, value, change));
            Datum::Array(values.collect::<Option<Array>>()?)
        }
        Datum::Hash(hash) => {
            let mut changed = Vec::with_capacity(hash.len());
            for (key, entry) in hash.iter() {
                let key = Value::new(key.clone(), entry.key);
                let key = changed_in_depth(evaluator, call, &key, change)?;
                let value = changed_in_depth(evaluator, call, &entry.value, change)?;
                changed.push((key, value));
            }
            Datum::Hash(changed.into_iter().collect())
        }
        _ => return None,
    };
    let origin = evaluator.trace.operation(call.at, [value.clone()]);
    Some(Value { datum, origin })
}

fn length<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let length = match &call.arguments[0].datum {
        Datum::Text(text) => text.chars().count(),
        Datum::Array(array) => array.len(),
        Datum::Hash(hash) => hash.len(),
        Datum::Binary(bytes) => bytes.len(),
        _ => return call.unexpected(evaluator, 0, "text or a collection"),
    };
    Ok(call.result_of_structure(evaluator, length as i64))
}

/// Appends the texts of elements, those of arrays among them as well, until it is too long.
fn join(text: &mut EcoString, array: &Array, between: &str) {
    for (number, value) in array.iter().enumerate() {
        if text.len() > LONGEST_TEXT {
            return;
        }
        if number > 0 {
            text.push_str(between);
        }
        match &value.datum {
            Datum::Array(inner) => join(text, inner, between),
            other => text.push_str(&ruby::text(other)),
        }
    }
}

/// Something before or behind each element or key, which become texts.
fn affix<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    join: fn(&str, &str) -> String,
) -> Outcome {
    let call = call.older()?;
    let (affix, affix_origin) = match call.arguments.get(1) {
        None
        | Some(Value {
            datum: Datum::Bool(false),
            ..
        }) => (EcoString::new(), None),
        Some(value) => (call.text(evaluator, 1)?.clone(), Some(value.origin)),
    };
    let mut length = 0;
    let mut joined = |evaluator: &mut Evaluator<'t>, datum: &Datum, origin| -> Outcome {
        let text = join(&ruby::text(datum), &affix);
        length += text.len();
        call.check_length(length)?;
        let operands = affix_origin.into_iter().chain([origin]);
        let origin = evaluator.trace.operation(call.at, operands);
        Ok(Value::new(text, origin))
    };
    match &call.arguments[0].datum {
        Datum::Array(array) => {
            let mut values = Vec::with_capacity(array.len());
            for value in array.iter() {
                values.push(joined(evaluator, &value.datum, value.origin)?);
            }
            call.container(evaluator, Array::from(values))
        }
        Datum::Hash(hash) => {
            let mut entries = Vec::with_capacity(hash.len());
            for (key, entry) in hash.iter() {
                entries.push((joined(evaluator, key, entry.key)?, entry.value.clone()));
            }
            let entries: Hash = entries.into_iter().collect();
            call.container(evaluator, entries)
        }
        _ => call.unexpected(evaluator, 0, "an array or a hash"),
    }
}

fn squeeze<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    if matches!(&call.arguments[0].datum, Datum::Array(array) if array.is_empty()) {
        return Ok(call.arguments[0].clone());
    }
    let among = match call.arguments.get(1).map(|set| &set.datum) {
        None | Some(Datum::Bool(false)) => None,
        Some(_) => Some(call.text(evaluator, 1)?),
    };
    let among = match among {
        Some(set) => match CharacterSet::read(set) {
            Some(set) => Some(set),
            None => return call.wrong(1, format!("'{set}' is no set of characters")),
        },
        None => None,
    };
    let squeezed = |text: &str| {
        let mut previous = None;
        let kept = text.chars().filter(|char| {
            let again = previous.replace(*char) == Some(*char);
            !again || among.as_ref().is_some_and(|set| !set.contains(*char))
        });
        kept.collect::<EcoString>()
    };
    match &call.arguments[0].datum {
        Datum::Text(text) => {
            let text = squeezed(text);
            call.text_result(evaluator, text)
        }
        Datum::Array(array) => {
            let mut values = Vec::with_capacity(array.len());
            for value in array.iter() {
                let Datum::Text(text) = &value.datum else {
                    return call.unexpected(evaluator, 0, "an array of texts");
                };
                let origin = evaluator.trace.operation(call.at, [value.clone()]);
                values.push(Value::new(squeezed(text), origin));
            }
            call.container(evaluator, Array::from(values))
        }
        _ => call.unexpected(evaluator, 0, "text or an array of texts"),
    }
}

/// Characters as Ruby writes sets of them: `a-z`, `^0-9`, with `\\` before what is meant as such.
pub(super) struct CharacterSet {
    ranges: Vec<(char, char)>,
    negated: bool,
}

impl CharacterSet {
    /// Nothing if a range goes backwards.
    pub(super) fn read(text: &str) -> Option<Self> {
        let negated = text.len() > 1 && text.starts_with('^');
        let mut chars = text.chars().skip(usize::from(negated)).peekable();
        let mut ranges: Vec<(char, char)> = Vec::new();
        while let Some(first) = chars.next() {
            let first = match first {
                '\\' => chars.next().unwrap_or('\\'),
                other => other,
            };
            let mut last = first;
            let mut ahead = chars.clone();
            if ahead.next() == Some('-')
                && let Some(end) = ahead.next()
            {
                last = match end {
                    '\\' => ahead.next().unwrap_or('\\'),
                    other => other,
                };
                chars = ahead;
            }
            if last < first {
                return None;
            }
            ranges.push((first, last));
        }
        Some(Self { ranges, negated })
    }

    pub(super) fn contains(&self, char: char) -> bool {
        let among = |(first, last): &(char, char)| (*first..=*last).contains(&char);
        self.ranges.iter().any(among) != self.negated
    }
}

fn at_the_edge<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    holds: fn(&str, &str) -> bool,
) -> Outcome {
    let text = call.text(evaluator, 0)?;
    let edges = match &call.arguments[1].datum {
        Datum::Array(edges) => edges.as_slice(),
        _ => std::slice::from_ref(&call.arguments[1]),
    };
    let mut found = false;
    for edge in edges {
        match &edge.datum {
            Datum::Text(edge) if !edge.is_empty() => found |= holds(text, edge),
            _ => return call.unexpected(evaluator, 1, "texts that are not empty"),
        }
    }
    if edges.is_empty() {
        return call.unexpected(evaluator, 1, "one text at least");
    }
    Ok(call.result(evaluator, found))
}

/// The first letter large, the others small.
pub(super) fn capitalised(text: &str) -> EcoString {
    let mut chars = text.chars();
    let mut capitalised = EcoString::new();
    if let Some(first) = chars.next() {
        // One letter may become two, of which only one is large: ß, Ss. Some letters are two themselves.
        match first {
            'Ǆ' | 'ǅ' | 'ǆ' => capitalised.push('ǅ'),
            'Ǉ' | 'ǈ' | 'ǉ' => capitalised.push('ǈ'),
            'Ǌ' | 'ǋ' | 'ǌ' => capitalised.push('ǋ'),
            'Ǳ' | 'ǲ' | 'ǳ' => capitalised.push('ǲ'),
            _ => {
                let mut first = first.to_uppercase();
                capitalised.extend(first.next());
                capitalised.extend(first.flat_map(char::to_lowercase));
            }
        }
    }
    capitalised.extend(chars.flat_map(char::to_lowercase));
    capitalised
}

fn lower(text: &str) -> EcoString {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn upper(text: &str) -> EcoString {
    text.chars().flat_map(char::to_uppercase).collect()
}

fn chomped(text: &str) -> &str {
    let ends = ["\r\n", "\n", "\r"];
    let without = ends.iter().find_map(|end| text.strip_suffix(end));
    without.unwrap_or(text)
}

fn is_strippable(char: char) -> bool {
    char == '\0' || ruby::is_space(char)
}
