//! The functions that scripts can use: few, pure but for the obvious ones, and each paying before it
//! works. What there is none of, such as the index of a text that does not occur, is `()`.

use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

use rhai::{
    Array, Dynamic, Engine, EvalAltResult, FnPtr, FuncArgs, FuncRegistration, ImmutableString, Map,
    NativeCallContext, RhaiNativeFunc, Variant,
};

use crate::call::{Answer, spend_bytes, spend_on, spend_on_list, spend_on_map};
use crate::data::{self, ELEMENTS, Number, TEXT, compare, compare_lists, compare_maps, too_large};
use crate::patterns;

/// Adds all functions.
pub(crate) fn register(engine: &mut Engine) {
    operators(engine);
    texts(engine);
    lists(engine);
    closures(engine);
    maps(engine);
    numbers(engine);
    patterns::register(engine);
    engine.register_iterator::<Array>();
    engine.register_iterator::<Range<i64>>();
    engine.register_iterator::<RangeInclusive<i64>>();
}

/// Adds a function that does not change its first argument, so that it can be called on a constant.
pub(crate) fn pure<A: 'static, const N: usize, const X: bool, R, const F: bool>(
    engine: &mut Engine,
    name: &str,
    function: impl RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
) where
    R: Variant + Clone,
{
    let registration = FuncRegistration::new(name).with_purity(true);
    registration.register_into_engine(engine, function);
}

/// Operators that Rhai would apply without a count, that it lacks without its packages, or whose result
/// depends on the machine.
fn operators(engine: &mut Engine) {
    pure(engine, "!", |a: bool| !a);
    pure(engine, "-", |a: i64| a.checked_neg().ok_or_else(overflow));
    pure(engine, "-", |a: f64| -a);

    pure(engine, "+", |a: &str, b: &str| concat(&[a, b]));
    pure(engine, "+", |a: &str, b: Dynamic| concat(&[a, &text(&b)?]));
    pure(engine, "+", |a: Dynamic, b: &str| concat(&[&text(&a)?, b]));
    for minus in ["-", "-="] {
        engine.register_fn(minus, |_: &mut ImmutableString, _: &str| subtraction());
        engine.register_fn(minus, |_: &mut ImmutableString, _: char| subtraction());
    }
    pure(engine, "+", |a: &mut Array, b: Array| -> Answer<Array> {
        spend_on_list(a)?;
        Ok(a.iter().cloned().chain(b).collect())
    });
    pure(engine, "+", |a: &mut Map, b: Map| -> Answer<Map> {
        spend_on_map(a)?;
        let mut sum = a.clone();
        sum.extend(b);
        Ok(sum)
    });

    pure(engine, "==", equal_lists);
    pure(engine, "!=", |a: &mut Array, b: Array| {
        equal_lists(a, b).map(|equal| !equal)
    });
    pure(engine, "==", equal_maps);
    pure(engine, "!=", |a: &mut Map, b: Map| {
        equal_maps(a, b).map(|equal| !equal)
    });

    // Rhai takes floats for equal that are nearly so.
    for (name, holds) in [
        ("==", Ordering::is_eq as fn(Ordering) -> bool),
        ("!=", Ordering::is_ne),
        ("<", Ordering::is_lt),
        ("<=", Ordering::is_le),
        (">", Ordering::is_gt),
        (">=", Ordering::is_ge),
    ] {
        use Number::{Float, Integer};
        pure(engine, name, move |a: f64, b: f64| {
            holds(Float(a).compare(Float(b)))
        });
        pure(engine, name, move |a: i64, b: f64| {
            holds(Integer(a).compare(Float(b)))
        });
        pure(engine, name, move |a: f64, b: i64| {
            holds(Float(a).compare(Integer(b)))
        });
    }
    pure(engine, "**", power);
    pure(engine, "**", |a: i64, b: f64| power(a as f64, b));
    pure(engine, "**", |a: f64, b: i64| power(a, b as f64));
    pure(engine, "contains", |range: Range<i64>, a: i64| {
        range.contains(&a)
    });
    pure(engine, "contains", |range: RangeInclusive<i64>, a: i64| {
        range.contains(&a)
    });
}

fn concat(parts: &[&str]) -> Answer<String> {
    room(parts.iter().map(|part| part.len()).sum())?;
    Ok(parts.concat())
}

/// Pays for a text of so many bytes, unless it would be too long.
fn room(bytes: usize) -> Answer<()> {
    match bytes > TEXT {
        true => Err(too_large().into()),
        false => spend_bytes(bytes),
    }
}

fn subtraction() -> Answer<()> {
    Err("texts cannot be subtracted: use `replace(text, part, \"\")`".into())
}

fn equal_lists(a: &mut Array, b: Array) -> Answer<bool> {
    spend_on_list(a)?;
    Ok(compare_lists(a, &b).is_eq())
}

fn equal_maps(a: &mut Map, b: Map) -> Answer<bool> {
    spend_on_map(a)?;
    Ok(compare_maps(a, &b).is_eq())
}

/// A power by multiplication alone, because the machine's own differs from machine to machine.
fn power(base: f64, exponent: f64) -> Answer<f64> {
    if exponent.fract() != 0.0 {
        return Err("the exponent must be a whole number".into());
    }
    let (mut result, mut square) = (1.0, base);
    let mut rest = exponent.abs() as u64;
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    Ok(if exponent < 0.0 { 1.0 / result } else { result })
}

fn texts(engine: &mut Engine) {
    pure(engine, "to_string", |value: Dynamic| text(&value));
    pure(engine, "len", |text: &str| -> Answer<i64> {
        spend_bytes(text.len())?;
        Ok(text.chars().count() as i64)
    });
    pure(engine, "is_empty", |text: &str| text.is_empty());
    pure(engine, "contains", |text: &str, part: &str| {
        search(text, |text| text.contains(part))
    });
    pure(engine, "starts_with", |text: &str, part: &str| {
        search(text, |text| text.starts_with(part))
    });
    pure(engine, "ends_with", |text: &str, part: &str| {
        search(text, |text| text.ends_with(part))
    });
    pure(engine, "index_of", |text: &str, part: &str| {
        search(text, |text| {
            let found = text.find(part);
            found.map_or(Dynamic::UNIT, |at| {
                (text[..at].chars().count() as i64).into()
            })
        })
    });
    pure(engine, "trim", |text: &str| {
        search(text, |text| text.trim().to_owned())
    });
    pure(engine, "to_upper", |text: &str| {
        search(text, str::to_uppercase)
    });
    pure(engine, "to_lower", |text: &str| {
        search(text, str::to_lowercase)
    });
    pure(engine, "sub_string", |text: &str, start: i64| {
        sub_string(text, start, i64::MAX)
    });
    pure(engine, "sub_string", sub_string);
    pure(engine, "replace", replace);
    pure(engine, "split", split);
    pure(engine, "chars", |text: &str| split(text, ""));
    pure(engine, "parse_int", |text: &str| {
        search(text, |text| or_undefined::<i64>(text.parse().ok()))
    });
    pure(engine, "parse_float", |text: &str| {
        search(text, |text| {
            or_undefined(text.parse::<f64>().ok().filter(|float| float.is_finite()))
        })
    });
}

/// Pays for a look at every byte of a text, eight times over: a search is slower than a copy.
fn search<T>(text: &str, look: impl FnOnce(&str) -> T) -> Answer<T> {
    spend_bytes(text.len() * 8)?;
    Ok(look(text))
}

fn or_undefined<T: Into<Dynamic>>(value: Option<T>) -> Dynamic {
    value.map_or(Dynamic::UNIT, Into::into)
}

fn text(value: &Dynamic) -> Answer<String> {
    spend_on(value)?;
    Ok(data::text(value))
}

/// The characters from `start`, or from as many before the end if it is negative.
fn sub_string(text: &str, start: i64, count: i64) -> Answer<String> {
    spend_bytes(text.len() * 2)?;
    let start = match start < 0 {
        true => (text.chars().count() as i64).saturating_add(start).max(0),
        false => start,
    };
    let rest = text.chars().skip(start as usize);
    Ok(rest.take(count.max(0) as usize).collect())
}

fn replace(text: &str, part: &str, by: &str) -> Answer<String> {
    let count = search(text, |text| text.matches(part).count())?;
    room(text.len() + count.saturating_mul(by.len()))?;
    Ok(text.replace(part, by))
}

fn split(text: &str, separator: &str) -> Answer<Array> {
    search(text, |text| {
        let pieces = text.split(separator);
        // An empty separator is also found before the first character and after the last.
        let pieces = pieces.filter(|piece| !separator.is_empty() || !piece.is_empty());
        pieces.take(ELEMENTS + 1).map(Into::into).collect()
    })
}

fn lists(engine: &mut Engine) {
    pure(engine, "len", |list: &mut Array| list.len() as i64);
    pure(engine, "is_empty", |list: &mut Array| list.is_empty());
    pure(engine, "contains", |list: &mut Array, one: Dynamic| {
        position(list, &one).map(|at| at.is_some())
    });
    pure(engine, "index_of", |list: &mut Array, one: Dynamic| {
        position(list, &one).map(or_undefined)
    });
    engine.register_fn("push", |list: &mut Array, one: Dynamic| list.push(one));
    engine.register_fn("pop", |list: &mut Array| {
        list.pop().unwrap_or(Dynamic::UNIT)
    });
    engine.register_fn(
        "insert",
        |list: &mut Array, at: i64, one: Dynamic| -> Answer<()> {
            spend_on_list(list)?;
            list.insert(index(list, at)?, one);
            Ok(())
        },
    );
    engine.register_fn("remove", |list: &mut Array, at: i64| -> Answer<Dynamic> {
        spend_on_list(list)?;
        match index(list, at)? {
            end if end == list.len() => Ok(Dynamic::UNIT),
            at => Ok(list.remove(at)),
        }
    });
    pure(engine, "reverse", |list: &mut Array| -> Answer<Array> {
        spend_on_list(list)?;
        Ok(list.iter().rev().cloned().collect())
    });
    pure(engine, "sort", |list: &mut Array| -> Answer<Array> {
        spend_on_order(list)?;
        let mut sorted = list.clone();
        sorted.sort_by(compare);
        Ok(sorted)
    });
    pure(engine, "unique", |list: &mut Array| -> Answer<Array> {
        spend_on_order(list)?;
        let mut indices: Vec<usize> = (0..list.len()).collect();
        indices.sort_by(|&a, &b| compare(&list[a], &list[b]));
        indices.dedup_by(|a, b| compare(&list[*a], &list[*b]).is_eq());
        indices.sort_unstable();
        Ok(indices
            .into_iter()
            .map(|index| list[index].clone())
            .collect())
    });
    pure(
        engine,
        "join",
        |list: &mut Array, separator: &str| -> Answer<String> {
            let texts = list.iter().map(text).collect::<Answer<Vec<_>>>()?;
            let separators = separator.len() * texts.len();
            room(texts.iter().map(String::len).sum::<usize>() + separators)?;
            Ok(texts.join(separator))
        },
    );
    pure(engine, "sum", |list: &mut Array| -> Answer<Dynamic> {
        spend_on_list(list)?;
        let sum = list
            .iter()
            .try_fold(Number::Integer(0), |sum, one| add(sum, number(one)?));
        sum.map(Into::into)
    });
    pure(engine, "min", |list: &mut Array| -> Answer<Dynamic> {
        spend_on_list(list)?;
        Ok(list
            .iter()
            .min_by(|a, b| compare(a, b))
            .cloned()
            .unwrap_or(Dynamic::UNIT))
    });
    pure(engine, "max", |list: &mut Array| -> Answer<Dynamic> {
        spend_on_list(list)?;
        Ok(list
            .iter()
            .max_by(|a, b| compare(a, b))
            .cloned()
            .unwrap_or(Dynamic::UNIT))
    });
}

fn position(list: &[Dynamic], one: &Dynamic) -> Answer<Option<i64>> {
    spend_on_list(list)?;
    Ok(list
        .iter()
        .position(|other| compare(one, other).is_eq())
        .map(|at| at as i64))
}

/// A place in a list or right behind it; a negative one counts from the end.
fn index(list: &[Dynamic], at: i64) -> Answer<usize> {
    let len = list.len() as i64;
    let found = if at < 0 { at.saturating_add(len) } else { at };
    match (0..=len).contains(&found) {
        true => Ok(found as usize),
        false => Err(format!("there is no index {at} in a list of {len}").into()),
    }
}

/// Pays for all comparisons that it takes to put a list into order.
fn spend_on_order(list: &[Dynamic]) -> Answer<()> {
    for _ in 0..=list.len().checked_ilog2().unwrap_or(0) {
        spend_on_list(list)?;
    }
    Ok(())
}

/// Functions over lists that call a function, also with one more argument that is passed on: a closure
/// cannot use the variables around it.
fn closures(engine: &mut Engine) {
    pure(
        engine,
        "map",
        |context: NativeCallContext, list: &mut Array, f: FnPtr| map(&context, list, &f, None),
    );
    pure(
        engine,
        "map",
        |context: NativeCallContext, list: &mut Array, f: FnPtr, with: Dynamic| {
            map(&context, list, &f, Some(&with))
        },
    );
    pure(
        engine,
        "filter",
        |context: NativeCallContext, list: &mut Array, f: FnPtr| filter(&context, list, &f, None),
    );
    pure(
        engine,
        "filter",
        |context: NativeCallContext, list: &mut Array, f: FnPtr, with: Dynamic| {
            filter(&context, list, &f, Some(&with))
        },
    );
    pure(
        engine,
        "any",
        |context: NativeCallContext, list: &mut Array, f: FnPtr| -> Answer<bool> {
            Ok(!filter(&context, list, &f, None)?.is_empty())
        },
    );
    pure(
        engine,
        "all",
        |context: NativeCallContext, list: &mut Array, f: FnPtr| -> Answer<bool> {
            Ok(filter(&context, list, &f, None)?.len() == list.len())
        },
    );
    pure(
        engine,
        "reduce",
        |context: NativeCallContext, list: &mut Array, f: FnPtr, start: Dynamic| {
            spend_on_list(list)?;
            list.iter()
                .try_fold(start, |sum, one| invoke(&context, &f, (sum, one.clone())))
        },
    );
}

fn map(
    context: &NativeCallContext,
    list: &Array,
    f: &FnPtr,
    with: Option<&Dynamic>,
) -> Answer<Array> {
    spend_on_list(list)?;
    list.iter()
        .map(|one| apply(context, f, one, with))
        .collect()
}

fn filter(
    context: &NativeCallContext,
    list: &Array,
    f: &FnPtr,
    with: Option<&Dynamic>,
) -> Answer<Array> {
    spend_on_list(list)?;
    let mut kept = Array::new();
    for one in list {
        if apply(context, f, one, with)? {
            kept.push(one.clone());
        }
    }
    Ok(kept)
}

fn apply<T: Variant + Clone>(
    context: &NativeCallContext,
    f: &FnPtr,
    one: &Dynamic,
    with: Option<&Dynamic>,
) -> Answer<T> {
    match with {
        None => invoke(context, f, (one.clone(),)),
        Some(with) => {
            spend_on(with)?;
            invoke(context, f, (one.clone(), with.clone()))
        }
    }
}

fn invoke<T: Variant + Clone>(
    context: &NativeCallContext,
    f: &FnPtr,
    arguments: impl FuncArgs,
) -> Answer<T> {
    // Each call gets a copy of the constants that the closure uses.
    spend_on_list(f.curry())?;
    f.call_within_context(context, arguments)
}

fn maps(engine: &mut Engine) {
    pure(engine, "len", |map: &mut Map| map.len() as i64);
    pure(engine, "is_empty", |map: &mut Map| map.is_empty());
    pure(engine, "contains", |map: &mut Map, key: &str| {
        map.contains_key(key)
    });
    pure(engine, "keys", |map: &mut Map| -> Answer<Array> {
        spend_on_map(map)?;
        Ok(map.keys().map(|key| key.as_str().into()).collect())
    });
    pure(engine, "values", |map: &mut Map| -> Answer<Array> {
        spend_on_map(map)?;
        Ok(map.values().cloned().collect())
    });
    engine.register_fn("remove", |map: &mut Map, key: &str| {
        map.remove(key).unwrap_or(Dynamic::UNIT)
    });
}

fn numbers(engine: &mut Engine) {
    pure(engine, "abs", |a: i64| a.checked_abs().ok_or_else(overflow));
    pure(engine, "abs", f64::abs);
    pure(engine, "min", |a: Dynamic, b: Dynamic| least(a, b, false));
    pure(engine, "max", |a: Dynamic, b: Dynamic| least(a, b, true));
    for (name, round) in [
        ("floor", f64::floor as fn(f64) -> f64),
        ("ceil", f64::ceil),
        ("round", f64::round),
        ("to_int", f64::trunc),
    ] {
        pure(engine, name, |a: i64| a);
        pure(engine, name, move |a: f64| whole(round(a)));
    }
    pure(engine, "to_float", |a: i64| a as f64);
    pure(engine, "to_float", |a: f64| a);
    pure(engine, "sqrt", f64::sqrt);
    pure(engine, "sqrt", |a: i64| (a as f64).sqrt());
}

fn least(a: Dynamic, b: Dynamic, greatest: bool) -> Answer<Dynamic> {
    let order = number(&a)?.compare(number(&b)?);
    Ok(if order.is_gt() == greatest { a } else { b })
}

fn number(value: &Dynamic) -> Answer<Number> {
    Number::of(value).ok_or_else(|| format!("expected a number, and it is {value}").into())
}

fn add(a: Number, b: Number) -> Answer<Number> {
    use Number::*;
    Ok(match (a, b) {
        (Integer(a), Integer(b)) => Integer(a.checked_add(b).ok_or_else(overflow)?),
        (Integer(a), Float(b)) => Float(a as f64 + b),
        (Float(a), Integer(b)) => Float(a + b as f64),
        (Float(a), Float(b)) => Float(a + b),
    })
}

impl From<Number> for Dynamic {
    fn from(number: Number) -> Dynamic {
        match number {
            Number::Integer(integer) => integer.into(),
            Number::Float(float) => float.into(),
        }
    }
}

fn whole(float: f64) -> Answer<i64> {
    // The first float that is too large is 2^63.
    match float >= i64::MIN as f64 && float < -(i64::MIN as f64) {
        true => Ok(float as i64),
        false => Err(overflow()),
    }
}

fn overflow() -> Box<EvalAltResult> {
    "the number is too large".into()
}
