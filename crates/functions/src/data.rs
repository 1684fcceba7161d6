//! Values as scripts see them: their size, their order, their text, and the way from and to
//! configurations.

use std::cmp::Ordering;
use std::fmt::Write;

use hence_model::function::Failure;
use hence_model::value::{Event, Map, Value};
use rhai::{Dynamic, FnPtr};

use crate::engine::Argument;

/// The most characters of text in a value, in bytes, with those of all its parts.
pub(crate) const TEXT: usize = 256 * 1024;
/// The most elements of lists in a value, and the most entries of maps, with those of all its parts.
pub(crate) const ELEMENTS: usize = 10_000;
/// The deepest nesting of lists and maps.
const DEPTH: usize = 64;

/// What is wrong with a value that is too large for a function.
pub(crate) fn too_large() -> String {
    format!(
        "too large: a value has at most {ELEMENTS} elements and {} KiB of text",
        TEXT / 1024
    )
}

/// What is wrong with a value that is too deep for a function.
pub(crate) fn too_deep() -> String {
    format!("too deep: lists and maps nest at most {DEPTH} levels")
}

/// About how much memory a value takes, unless it is too deep.
pub(crate) fn bytes(value: &Dynamic) -> Option<usize> {
    bytes_within(value, DEPTH)
}

/// About how much memory a list takes, unless it is too deep.
pub(crate) fn list_bytes(list: &[Dynamic]) -> Option<usize> {
    list_bytes_within(list, DEPTH)
}

/// About how much memory a map takes, unless it is too deep.
pub(crate) fn map_bytes(map: &rhai::Map) -> Option<usize> {
    map_bytes_within(map, DEPTH)
}

fn bytes_within(value: &Dynamic, depth: usize) -> Option<usize> {
    if let Ok(text) = value.as_immutable_string_ref() {
        return Some(text.len());
    }
    if let Ok(list) = value.as_array_ref() {
        return list_bytes_within(&list, depth);
    }
    if let Ok(map) = value.as_map_ref() {
        return map_bytes_within(&map, depth);
    }
    // A closure holds a copy of each constant that it uses. What it shares with others is not copied with it, and may
    // hold the closure itself.
    if let Some(closure) = value.read_lock::<FnPtr>() {
        let curry = closure.curry();
        return match curry.iter().any(Dynamic::is_shared) {
            true => Some(16 * curry.len()),
            false => list_bytes_within(curry, depth),
        };
    }
    Some(0)
}

fn list_bytes_within(list: &[Dynamic], depth: usize) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    let mut elements = list
        .iter()
        .map(|element| Some(16 + bytes_within(element, depth)?));
    elements.try_fold(0, |sum, bytes| Some(sum + bytes?))
}

fn map_bytes_within(map: &rhai::Map, depth: usize) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    let mut entries = map
        .iter()
        .map(|(key, element)| Some(64 + key.len() + bytes_within(element, depth)?));
    entries.try_fold(0, |sum, bytes| Some(sum + bytes?))
}

/// A total order over all values: undefined, false, true, numbers, texts, lists, maps.
pub(crate) fn compare(a: &Dynamic, b: &Dynamic) -> Ordering {
    let ranks = rank(a).cmp(&rank(b));
    if ranks.is_ne() {
        return ranks;
    }
    if let (Some(a), Some(b)) = (Number::of(a), Number::of(b)) {
        return a.compare(b);
    }
    if let (Ok(a), Ok(b)) = (a.as_bool(), b.as_bool()) {
        return a.cmp(&b);
    }
    if let (Ok(a), Ok(b)) = (a.as_array_ref(), b.as_array_ref()) {
        return compare_lists(&a, &b);
    }
    if let (Ok(a), Ok(b)) = (a.as_map_ref(), b.as_map_ref()) {
        return compare_maps(&a, &b);
    }
    if let (Some(a), Some(b)) = (a.read_lock::<Argument>(), b.read_lock::<Argument>()) {
        return a.index.cmp(&b.index);
    }
    match (a.as_immutable_string_ref(), b.as_immutable_string_ref()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => text(a).cmp(&text(b)),
    }
}

/// The order of two lists: that of the first elements that differ.
pub(crate) fn compare_lists(a: &[Dynamic], b: &[Dynamic]) -> Ordering {
    let mut orders = a.iter().zip(b).map(|(a, b)| compare(a, b));
    let first = orders.find(|order| order.is_ne());
    first.unwrap_or(a.len().cmp(&b.len()))
}

/// The order of two maps: that of the first entries that differ.
pub(crate) fn compare_maps(a: &rhai::Map, b: &rhai::Map) -> Ordering {
    let entries = a.iter().zip(b);
    let mut orders = entries.map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1)));
    let first = orders.find(|order| order.is_ne());
    first.unwrap_or(a.len().cmp(&b.len()))
}

fn rank(value: &Dynamic) -> u8 {
    match () {
        _ if value.is_unit() => 0,
        _ if value.is_bool() => 1,
        _ if value.is_int() || value.is_float() => 2,
        _ if value.is_string() || value.is_char() => 3,
        _ if value.is_array() => 4,
        _ if value.is_map() => 5,
        _ => 6,
    }
}

/// A number of either kind.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    pub fn of(value: &Dynamic) -> Option<Number> {
        let integer = value.as_int().map(Number::Integer);
        integer
            .or_else(|_| value.as_float().map(Number::Float))
            .ok()
    }

    /// Compares exactly: no integer is rounded. What is not a number comes last.
    pub fn compare(self, other: Number) -> Ordering {
        use Number::*;
        match (self, other) {
            (Integer(a), Integer(b)) => a.cmp(&b),
            (Float(a), Float(b)) => {
                let order = a.partial_cmp(&b);
                order.unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
            }
            (Integer(a), Float(b)) => compare_mixed(a, b),
            (Float(a), Integer(b)) => compare_mixed(b, a).reverse(),
        }
    }
}

fn compare_mixed(integer: i64, float: f64) -> Ordering {
    // Every float in this range has a whole part that is an integer; -2^63 is one itself.
    const END: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() || float >= END {
        return Ordering::Less;
    }
    if float < -END {
        return Ordering::Greater;
    }
    let whole = integer.cmp(&(float.trunc() as i64));
    whole.then_with(|| {
        0.0_f64
            .partial_cmp(&float.fract())
            .unwrap_or(Ordering::Less)
    })
}

/// The text of a value, as in `"${value}"`.
pub(crate) fn text(value: &Dynamic) -> String {
    let mut text = String::new();
    write_text(&mut text, value, false);
    text
}

/// The text of a value, as it is written in a script.
pub(crate) fn literal(value: &Dynamic) -> String {
    let mut text = String::new();
    write_text(&mut text, value, true);
    text
}

fn write_text(out: &mut String, value: &Dynamic, quoted: bool) {
    if let Ok(list) = value.as_array_ref() {
        out.push('[');
        for (index, element) in list.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            write_text(out, element, true);
        }
        out.push(']');
    } else if let Ok(map) = value.as_map_ref() {
        out.push('{');
        for (index, (key, element)) in map.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            out.push_str(key);
            out.push_str(": ");
            write_text(out, element, true);
        }
        out.push('}');
    } else if let Ok(text) = value.as_immutable_string_ref() {
        match quoted {
            true => _ = write!(out, "{:?}", text.as_str()),
            false => out.push_str(&text),
        }
    } else if let Ok(float) = value.as_float() {
        _ = write!(out, "{float:?}");
    } else {
        _ = write!(out, "{value}");
    }
}

/// A value of a configuration as a script sees it, or why it cannot.
pub(crate) fn from_value(value: &Value) -> Result<Dynamic, String> {
    Size::default().read(value, DEPTH)
}

/// The size of what is read or made, counted on the way: nothing is copied first and found too large
/// then.
#[derive(Default)]
struct Size {
    elements: usize,
    text: usize,
}

impl Size {
    fn add(&mut self, elements: usize, text: &str) -> Result<(), String> {
        self.elements += elements;
        self.text += text.len();
        if self.elements > ELEMENTS || self.text > TEXT {
            return Err(too_large());
        }
        Ok(())
    }

    fn read(&mut self, value: &Value, depth: usize) -> Result<Dynamic, String> {
        Ok(match value {
            Value::Null => Dynamic::UNIT,
            Value::Bool(bool) => (*bool).into(),
            Value::Integer(integer) => (*integer).into(),
            Value::Float(float) => (*float).into(),
            Value::Text(text) | Value::Reference(text) => {
                self.add(0, text)?;
                text.as_str().into()
            }
            Value::List(list) => {
                let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
                self.add(list.as_slice().len(), "")?;
                let elements = list.as_slice().iter().map(|value| self.read(value, depth));
                Dynamic::from_array(elements.collect::<Result<_, _>>()?)
            }
            Value::Map(map) => {
                let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
                self.add(map.len(), "")?;
                let mut entries = rhai::Map::new();
                for (key, value) in map.iter() {
                    self.add(0, key)?;
                    entries.insert(key.into(), self.read(value, depth)?);
                }
                Dynamic::from_map(entries)
            }
        })
    }
}

/// What a script made, as a value of a configuration. An argument that it hands on is what `value_of`
/// says it is.
pub(crate) fn to_value(
    result: &Dynamic,
    value_of: &mut dyn FnMut(usize) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    if let Some(argument) = result.read_lock::<Argument>() {
        return value_of(argument.index);
    }
    let size = Size::default();
    Making { value_of, size }.make(result, DEPTH)
}

/// Makes a value. One object can stand for a large argument, so these are counted.
struct Making<'a> {
    value_of: &'a mut dyn FnMut(usize) -> Result<Value, Failure>,
    size: Size,
}

impl Making<'_> {
    fn make(&mut self, result: &Dynamic, depth: usize) -> Result<Value, Failure> {
        if let Ok(list) = result.as_array_ref() {
            let depth = depth.checked_sub(1).ok_or_else(|| broken(too_deep()))?;
            let elements = list.iter().map(|element| self.make(element, depth));
            return Ok(Value::List(elements.collect::<Result<Vec<_>, _>>()?.into()));
        }
        if let Ok(entries) = result.as_map_ref() {
            let depth = depth.checked_sub(1).ok_or_else(|| broken(too_deep()))?;
            let mut map = Map::default();
            for (key, element) in entries.iter() {
                map.insert(key.to_string(), self.make(element, depth)?);
            }
            return Ok(Value::Map(map));
        }
        if let Some(argument) = result.read_lock::<Argument>() {
            let value = (self.value_of)(argument.index)?;
            for event in value.events() {
                let text = match event {
                    Event::Text(text) | Event::Reference(text) | Event::Key(text) => text,
                    _ => "",
                };
                self.size.add(1, text).map_err(broken)?;
            }
            return Ok(value);
        }
        if let Some(number) = Number::of(result) {
            return match number {
                Number::Integer(integer) => Ok(Value::Integer(integer)),
                Number::Float(float) if float.is_finite() => Ok(Value::Float(float)),
                Number::Float(float) => Err(broken(format!("the result {float} is no number"))),
            };
        }
        match () {
            _ if result.is_unit() => Ok(Value::Null),
            _ if result.is_bool() => Ok(Value::Bool(result.as_bool() == Ok(true))),
            _ if result.is_string() || result.is_char() => Ok(Value::Text(result.to_string())),
            _ if result.is_fnptr() => Err(broken("the result is a function, not a value".into())),
            _ => Err(broken("the result is a range, not a value".into())),
        }
    }
}

/// A failure of the function itself; where, its caller knows.
pub(crate) fn broken(message: String) -> Failure {
    Failure::Broken {
        message,
        place: None,
    }
}
