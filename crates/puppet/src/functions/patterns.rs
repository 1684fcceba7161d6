//! Regular expressions: splitting, replacing, matching; and versions, which are read by one.

use std::cmp::Ordering;
use std::sync::Arc;

use ecow::EcoString;

use super::{Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::pattern::Pattern;
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "split",
        (2, 2),
        "split(String $text, Variant[String, Regexp, Type[Regexp]] $pattern) >> Array[String]: the parts of a text between what matches",
        |evaluator, call| {
            let text = call.text(evaluator, 0)?.clone();
            let pattern = pattern(evaluator, &call, 1, "")?;
            let parts = split(&pattern, &text);
            call.check_count(parts.len())?;
            let origin = evaluator.trace.operation(call.at, call.origins());
            let parts = parts.into_iter().map(|part| Value::new(part, origin));
            Ok(Value::new(parts.collect::<Array>(), origin))
        },
    ),
    plain(
        "regsubst",
        (3, 5),
        "regsubst(Variant[String, Array[String]] $target, Variant[String, Regexp, Type[Regexp]] $pattern, Variant[String, Hash[String, String]] $replacement, String $flags = '', String $encoding): what matches replaced, once or with the flag G everywhere",
        regsubst,
    ),
    plain(
        "match",
        (2, 2),
        "match(Variant[String, Array[String]] $text, Any $pattern): the match and its groups, or `undef`",
        |evaluator, call| {
            let origin = evaluator.trace.operation(call.at, call.origins());
            let pattern = &call.arguments[1].datum;
            match &call.arguments[0].datum {
                Datum::Text(text) => matched(&call, text, pattern, origin),
                Datum::Array(texts) => {
                    let mut results = Vec::with_capacity(texts.len());
                    for text in texts.iter() {
                        let Datum::Text(text) = &text.datum else {
                            return call.unexpected(evaluator, 0, "an array of texts");
                        };
                        results.push(matched(&call, text, pattern, origin)?);
                    }
                    Ok(Value::new(Array::from(results), origin))
                }
                _ => call.unexpected(evaluator, 0, "text or an array of texts"),
            }
        },
    ),
    plain(
        "grep",
        (2, 2),
        "grep(Array $all, String $pattern) >> Array: the texts in an array that match",
        |evaluator, call| among(evaluator, call, |matches, is_text| matches && is_text),
    ),
    plain(
        "reject",
        (2, 2),
        "reject(Array $all, String $pattern) >> Array: what does not match in an array",
        |evaluator, call| among(evaluator, call, |matches, _| !matches),
    ),
    plain(
        "regexpescape",
        (1, super::ANY),
        "regexpescape(Variant[String, Array] $text): text as a regular expression that matches it",
        |evaluator, call| {
            let call = call.older()?;
            match &call.arguments[0].datum {
                Datum::Text(text) => {
                    let text = escaped(text);
                    call.text_result(evaluator, text)
                }
                Datum::Array(array) => {
                    let escaped = array.iter().map(|value| match &value.datum {
                        Datum::Text(text) => {
                            let origin = evaluator.trace.operation(call.at, [value.clone()]);
                            Value::new(escaped(text), origin)
                        }
                        _ => value.clone(),
                    });
                    let escaped: Array = escaped.collect();
                    call.container(evaluator, escaped)
                }
                _ => call.unexpected(evaluator, 0, "text or an array"),
            }
        },
    ),
    plain(
        "delete_regex",
        (2, 2),
        "delete_regex(Variant[Array, Hash] $all, Variant[String, Array] $patterns): all but what has a word that matches",
        delete_regex,
    ),
    plain(
        "versioncmp",
        (2, 3),
        "versioncmp(String $one, String $another, Boolean $ignore_trailing_zeroes = false) >> Integer: -1, 0 or 1: which version is older",
        |evaluator, call| {
            let (one, another) = (call.text(evaluator, 0)?, call.text(evaluator, 1)?);
            let ordering = match call.flag(evaluator, 2)? {
                true => match (without_zeros(one), without_zeros(another)) {
                    (Some(one), Some(another)) => versions(&one, &another),
                    _ => return call.wrong(0, "there is nothing of a version in this"),
                },
                false => versions(one, another),
            };
            Ok(call.result(evaluator, ordering as i64))
        },
    ),
];

/// An argument that is a regular expression, or text that is one.
fn pattern<'t>(
    evaluator: &Evaluator<'t>,
    call: &Invocation<'t>,
    number: usize,
    options: &str,
) -> Outcome<Arc<Pattern>> {
    match &call.arguments[number].datum {
        Datum::Pattern(pattern) => Ok(pattern.clone()),
        Datum::Text(text) => compiled(call, number, text, options),
        Datum::Type(kind) => match kind.as_ref() {
            Type::Regexp(Some(pattern)) => Ok(pattern.clone()),
            Type::Regexp(None) => compiled(call, number, "", options),
            _ => call.unexpected(evaluator, number, "a regular expression"),
        },
        _ => call.unexpected(evaluator, number, "a regular expression"),
    }
}

/// A text as a regular expression, with options such as `i`.
pub(super) fn compiled(
    call: &Invocation<'_>,
    number: usize,
    source: &str,
    options: &str,
) -> Outcome<Arc<Pattern>> {
    let pattern = match options {
        "" => Pattern::new(source),
        // The end of the line keeps the parenthesis out of a comment at the end.
        _ if options.contains('x') => Pattern::new(&format!("(?{options}:{source}\n)")),
        _ => Pattern::new(&format!("(?{options}:{source})")),
    };
    match pattern {
        Ok(pattern) => Ok(Arc::new(pattern)),
        Err(why) => call.wrong(number, format!("this is no regular expression: {why}")),
    }
}

/// The parts of a text, as Ruby parts it: what groups match is kept, empty parts at the end are not.
fn split(pattern: &Pattern, text: &str) -> Vec<EcoString> {
    let mut parts: Vec<EcoString> = Vec::new();
    let (mut from, mut at) = (0, 0);
    let mut skipped = false;
    while at <= text.len()
        && parts.len() <= super::arguments::MOST_ELEMENTS
        && let Some(groups) = pattern.find_from(text, at)
    {
        let Some(found) = groups[0].clone() else {
            break;
        };
        if found.is_empty() && found.start == at {
            if !skipped {
                at += width(text, at);
                skipped = true;
                continue;
            }
            parts.push(text[from..at].into());
            from = at;
        } else {
            parts.push(text[from..found.start].into());
            (from, at) = (found.end, found.end);
        }
        skipped = false;
        let groups = groups[1..].iter().flatten();
        parts.extend(groups.map(|group| EcoString::from(&text[group.clone()])));
    }
    if from < text.len() {
        parts.push(text[from..].into());
    }
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}

/// How far the next character is; one beyond the end.
fn width(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(1, char::len_utf8)
}

fn regsubst<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let written = matches!(call.arguments[1].datum, Datum::Text(_));
    if !written && call.arguments.len() > 4 {
        return call.unexpected(evaluator, 4, "no encoding, as the pattern is no text,");
    }
    let flags = match call.arguments.get(3).map(|flags| &flags.datum) {
        None => EcoString::new(),
        Some(Datum::Undef) if written => EcoString::new(),
        Some(_) => call.text(evaluator, 3)?.clone(),
    };
    let allowed = if written { "GEIM" } else { "G" };
    let known = flags
        .split_terminator('\n')
        .any(|line| line.chars().all(|flag| allowed.contains(flag)))
        || flags.is_empty();
    if !known || !written && flags.split_terminator('\n').any(|line| line.len() > 1) {
        let message = match written {
            true => "the flags are G, E, I and M",
            false => "the only flag is G; others stand in the regular expression itself",
        };
        return call.wrong(3, message);
    }
    if let Some(encoding) = call.optional_text(evaluator, 4)?
        && !matches!(encoding.as_str(), "N" | "E" | "S" | "U")
    {
        return call.wrong(4, "the encodings are N, E, S and U");
    }
    let options = [('I', 'i'), ('M', 'm'), ('E', 'x')];
    let options = options.iter().filter(|(flag, _)| flags.contains(*flag));
    let options: String = options.map(|(_, option)| option).collect();
    let pattern = pattern(evaluator, &call, 1, &options)?;
    let replacement = match &call.arguments[2].datum {
        Datum::Text(text) => Replacement::Text(text.clone()),
        Datum::Hash(hash) => {
            let is_text = |datum: &Datum| matches!(datum, Datum::Text(_));
            let mut entries = hash.iter();
            if !entries.all(|(key, entry)| is_text(key) && is_text(&entry.value.datum)) {
                return call.unexpected(evaluator, 2, "a hash of texts");
            }
            Replacement::Hash(hash.clone())
        }
        _ => return call.unexpected(evaluator, 2, "text or a hash of texts"),
    };
    let everywhere = match written {
        true => flags.contains('G'),
        false => flags == "G",
    };
    let replace = |text: &str| match substitute(&pattern, text, &replacement, everywhere) {
        Ok(text) => call.check_length(text.len()).map(|()| text),
        Err(why) => call.wrong(2, why),
    };
    match &call.arguments[0].datum {
        Datum::Text(text) => {
            let text = replace(text)?;
            call.text_result(evaluator, text)
        }
        Datum::Array(array) => {
            let mut texts = Vec::with_capacity(array.len());
            for value in array.iter() {
                let Datum::Text(text) = &value.datum else {
                    return call.unexpected(evaluator, 0, "an array of texts");
                };
                let text = replace(text)?;
                let others = call.origins().skip(1);
                let operands: Vec<_> = std::iter::once(value.clone()).chain(others).collect();
                let origin = evaluator.trace.operation(call.at, operands);
                texts.push(Value::new(text, origin));
            }
            call.container(evaluator, Array::from(texts))
        }
        _ => call.unexpected(evaluator, 0, "text or an array of texts"),
    }
}

/// What stands in the place of a match.
enum Replacement {
    /// A text in which `\1` is a group.
    Text(EcoString),
    /// A text for each match.
    Hash(Hash),
}

fn substitute(
    pattern: &Pattern,
    text: &str,
    replacement: &Replacement,
    everywhere: bool,
) -> Result<EcoString, String> {
    let mut replaced = EcoString::new();
    let (mut copied, mut at) = (0, 0);
    while at <= text.len()
        && replaced.len() <= super::arguments::LONGEST_TEXT
        && let Some(groups) = pattern.find_from(text, at)
    {
        let Some(found) = groups[0].clone() else {
            break;
        };
        replaced.push_str(&text[copied..found.start]);
        match replacement {
            Replacement::Text(template) => {
                expand(&mut replaced, pattern, text, &groups, template)?;
            }
            Replacement::Hash(hash) => {
                if let Some(value) = hash.get_text(&text[found.clone()]) {
                    replaced.push_str(&ruby::text(&value.datum));
                }
            }
        }
        copied = found.end;
        if !everywhere {
            break;
        }
        at = match found.is_empty() {
            true => found.end + width(text, found.end),
            false => found.end,
        };
    }
    replaced.push_str(&text[copied..]);
    Ok(replaced)
}

/// Appends a template with its groups filled in: `\1`, `\0` or `\&`, `\k<name>`, and the text before and behind.
fn expand(
    out: &mut EcoString,
    pattern: &Pattern,
    text: &str,
    groups: &[Option<std::ops::Range<usize>>],
    template: &str,
) -> Result<(), String> {
    let whole = groups[0].clone().unwrap_or(0..0);
    let mut rest = template;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(next) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        rest = &rest[next.len_utf8()..];
        let group = match next {
            '0'..='9' => groups.get(next as usize - '0' as usize),
            '&' => groups.first(),
            'k' if rest.starts_with('<') && rest.contains('>') => {
                let end = rest.find('>').unwrap_or(0);
                let name = &rest[1..end];
                rest = &rest[end + 1..];
                let number = match name.parse() {
                    Ok(number) => Some(number),
                    Err(_) => pattern.group(name),
                };
                match number {
                    Some(number) => groups.get(number),
                    None => return Err(format!("there is no group `{name}`")),
                }
            }
            '+' => groups.iter().skip(1).rev().find(|group| group.is_some()),
            '`' => {
                out.push_str(&text[..whole.start]);
                continue;
            }
            '\'' => {
                out.push_str(&text[whole.end..]);
                continue;
            }
            '\\' => {
                out.push('\\');
                continue;
            }
            other => {
                out.extend(['\\', other]);
                continue;
            }
        };
        if let Some(Some(range)) = group {
            out.push_str(&text[range.clone()]);
        }
    }
    out.push_str(rest);
    Ok(())
}

/// The groups of a match with a pattern, or with the first of several that matches.
fn matched(
    call: &Invocation<'_>,
    text: &str,
    pattern: &Datum,
    origin: crate::trace::Origin,
) -> Outcome {
    let undef = || Ok(Value::new(Datum::Undef, origin));
    let groups_of = |pattern: &Pattern| match pattern.captures(text) {
        Some(groups) => {
            let value = |group: Option<&str>| group.map_or(Datum::Undef, Datum::from);
            let groups = groups
                .into_iter()
                .map(|group| Value::new(value(group), origin));
            Ok(Value::new(groups.collect::<Array>(), origin))
        }
        None => undef(),
    };
    let first = |options: &mut dyn Iterator<Item = Datum>| {
        for option in options {
            let found = matched(call, text, &option, origin)?;
            if !found.is_undef() {
                return Ok(found);
            }
        }
        undef()
    };
    match pattern {
        Datum::Text(source) => groups_of(&*compiled(call, 1, source, "")?),
        Datum::Pattern(pattern) => groups_of(pattern),
        Datum::Array(options) => first(&mut options.iter().map(|it| it.datum.clone())),
        Datum::Type(kind) => match kind.resolved() {
            Type::Regexp(Some(pattern)) => groups_of(pattern),
            Type::Regexp(None) => call.wrong(1, "this type has no regular expression"),
            Type::Pattern(options) => {
                first(&mut options.iter().map(|it| Datum::Pattern(it.clone())))
            }
            Type::Variant(options) => {
                first(&mut options.iter().map(|it| Datum::Type(Arc::new(it.clone()))))
            }
            other => call.wrong(
                1,
                format!("`{other}` is no type of texts that match something"),
            ),
        },
        _ => call.wrong(1, "expected a regular expression, or several"),
    }
}

/// The elements that are kept, by whether they match and whether they are texts.
fn among<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    stays: fn(bool, bool) -> bool,
) -> Outcome {
    let call = call.older()?;
    let pattern = compiled(&call, 1, call.text(evaluator, 1)?, "")?;
    if let Datum::Hash(hash) = &call.arguments[0].datum {
        // An entry is a key and a value, which is nothing that matches.
        let datum = match stays(false, false) {
            true => Datum::Hash(hash.clone()),
            false => Datum::Array(Array::default()),
        };
        return Ok(call.result(evaluator, datum));
    }
    let array = call.array(evaluator, 0)?;
    let kept = array.iter().filter(|value| match &value.datum {
        Datum::Text(text) => stays(pattern.is_match(text), true),
        _ => stays(false, false),
    });
    let kept: Array = kept.cloned().collect();
    Ok(call.result(evaluator, kept))
}

fn delete_regex<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let patterns = match &call.arguments[1].datum {
        Datum::Array(patterns) => patterns.as_slice().to_vec(),
        Datum::Hash(hash) => crate::evaluate::pairs(hash, call.arguments[1].origin),
        _ => vec![call.arguments[1].clone()],
    };
    if patterns.is_empty() {
        return Ok(call.arguments[0].clone());
    }
    let mut compiled_patterns = Vec::with_capacity(patterns.len());
    for pattern in &patterns {
        let source = format!("\\b{}\\b", ruby::text(&pattern.datum));
        compiled_patterns.push(compiled(&call, 1, &source, "")?);
    }
    let matches = |datum: &Datum| match datum {
        Datum::Text(text) => compiled_patterns.iter().any(|it| it.is_match(text)),
        _ => false,
    };
    match &call.arguments[0].datum {
        Datum::Array(array) => {
            let kept = array.iter().filter(|value| !matches(&value.datum));
            let kept: Array = kept.cloned().collect();
            Ok(call.result(evaluator, kept))
        }
        Datum::Hash(hash) => {
            let kept = hash.clone().without(matches);
            Ok(call.result(evaluator, kept))
        }
        _ => call.unexpected(evaluator, 0, "an array or a hash"),
    }
}

/// A text as a regular expression that matches it.
fn escaped(text: &str) -> EcoString {
    let mut out = EcoString::new();
    for char in text.chars() {
        let letter = match char {
            '\n' => 'n',
            '\t' => 't',
            '\r' => 'r',
            '\x0c' => 'f',
            '\x0b' => 'v',
            '.' | '*' | '?' | '+' | '^' | '$' | '|' | '\\' | '(' | ')' | '[' | ']' | '{' | '}'
            | '-' | '#' | ' ' => char,
            other => {
                out.push(other);
                continue;
            }
        };
        out.extend(['\\', letter]);
    }
    out
}

/// Which version is older: number by number and word by word, `-` and `.` before all else.
pub(super) fn versions(one: &str, another: &str) -> Ordering {
    let (mut these, mut those) = (version_parts(one), version_parts(another));
    while let (Some(this), Some(that)) = (these.next(), those.next()) {
        if this == that {
            continue;
        }
        for separator in ["-", "."] {
            if this == separator {
                return Ordering::Less;
            }
            if that == separator {
                return Ordering::Greater;
            }
        }
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let padded = this.starts_with('0') || that.starts_with('0');
        if is_number(this) && is_number(that) && !padded {
            // Longer numbers are larger, as none begins with a zero.
            return this.len().cmp(&that.len()).then_with(|| this.cmp(that));
        }
        return this.to_uppercase().cmp(&that.to_uppercase());
    }
    one.cmp(another)
}

fn version_parts(version: &str) -> impl Iterator<Item = &str> {
    let mut rest = version;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = match first {
            '-' | '.' => 1,
            '0'..='9' => rest
                .find(|char: char| !char.is_ascii_digit())
                .unwrap_or(rest.len()),
            _ => {
                let ends = |char: char| matches!(char, '-' | '.') || char.is_ascii_digit();
                rest.find(ends).unwrap_or(rest.len())
            }
        };
        let (part, behind) = rest.split_at(end);
        rest = behind;
        Some(part)
    })
}

/// The version without zeros and points at the end, or before its first `-`.
fn without_zeros(version: &str) -> Option<String> {
    if version.trim_matches('-').is_empty() {
        return None;
    }
    let (number, rest) = match version.split_once('-') {
        Some((number, rest)) => (number, Some(rest)),
        None => (version, None),
    };
    let number = number.trim_end_matches(['.', '0']);
    Some(match rest.map(|rest| rest.trim_end_matches('-')) {
        Some(rest) if !rest.is_empty() => format!("{number}-{rest}"),
        _ => number.to_owned(),
    })
}
