//! Regular expressions, whose work is bounded by the size of the program that they become.

use regex::{Regex, RegexBuilder};
use rhai::{Dynamic, Engine, ImmutableString};

use crate::call::{self, Answer};
use crate::library::pure;

/// How many different patterns a call may use: they are made anew for each call.
const PATTERNS: usize = 16;
/// How many groups a pattern may have: each makes every step dearer.
const GROUPS: usize = 16;
/// The sizes of programs that are tried, in bytes, and what each byte of text costs then, at worst.
const SIZES: [(usize, u64); 4] = [(2 << 10, 1), (8 << 10, 4), (32 << 10, 16), (128 << 10, 64)];
/// What it costs to make a pattern.
const MAKING: u64 = 1_000;

/// Adds `matches` and `capture`.
pub(crate) fn register(engine: &mut Engine) {
    pure(engine, "matches", |text: &str, pattern: ImmutableString| {
        with(text, pattern, |regex| regex.is_match(text).into())
    });
    pure(engine, "capture", |text: &str, pattern: ImmutableString| {
        with(text, pattern, |regex| match regex.captures(text) {
            None => Dynamic::UNIT,
            Some(groups) => {
                let text = |group: Option<regex::Match>| {
                    group.map_or(Dynamic::UNIT, |it| it.as_str().into())
                };
                Dynamic::from_array(groups.iter().map(text).collect())
            }
        })
    });
}

fn with(
    text: &str,
    pattern: ImmutableString,
    search: impl Fn(&Regex) -> Dynamic,
) -> Answer<Dynamic> {
    let (regex, dearness) = find(pattern)?;
    call::spend(text.len() as u64 * dearness)?;
    Ok(search(&regex))
}

/// A pattern, made once in a call, and how dear it is.
fn find(pattern: ImmutableString) -> Answer<(Regex, u64)> {
    let known = call::current(|call| {
        let known = call.patterns.iter().find(|known| known.0 == pattern);
        known.map(|(_, regex, dearness)| (regex.clone(), *dearness))
    });
    if let Some(known) = known {
        return Ok(known);
    }
    call::spend(MAKING)?;
    if call::current(|call| call.patterns.len()) == PATTERNS {
        return Err(format!("more than {PATTERNS} different patterns in one call").into());
    }
    let (regex, dearness) = make(&pattern)?;
    call::current(|call| call.patterns.push((pattern, regex.clone(), dearness)));
    Ok((regex, dearness))
}

fn make(pattern: &str) -> Answer<(Regex, u64)> {
    for (size, dearness) in SIZES {
        let regex = RegexBuilder::new(pattern)
            .size_limit(size)
            .nest_limit(32)
            .build();
        match regex {
            Ok(regex) if regex.captures_len() > GROUPS + 1 => {
                return Err(format!("the pattern has more than {GROUPS} groups").into());
            }
            Ok(regex) => return Ok((regex, dearness)),
            Err(regex::Error::CompiledTooBig(_)) => continue,
            Err(error) => return Err(error.to_string().into()),
        }
    }
    Err("the pattern is too large".into())
}
