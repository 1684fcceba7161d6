//! `Type.new(…)`: makes a value of a type from others.
//!
//! Each type that can be made has a recipe: a name, and the forms in which its arguments may come. The first form
//! that fits makes the value, which must then be of the type.

use std::sync::Arc;

use ecow::EcoString;

use crate::number;
use crate::pattern::Pattern;
use crate::trace::Origin;
use crate::value::{Array, Datum, Hash, Object, Value};

use super::instance::is_iterable;
use super::mismatch::{mismatch, refusal};
use super::printf::inspected;
use super::recipe::{Recipe, form, single_types, types_of};
use super::time::{Timespan, Timestamp, to_seconds};
use super::uri::Uri;
use super::version::{self, Version, VersionRange};
use super::{Failure, Range, Type, base64, format};

/// Makes a value of a type from arguments. What is computed comes from `origin`; elements of what is given keep
/// the origins they have.
pub fn create(kind: &Type, arguments: &[Value], origin: Origin) -> Result<Datum, Failure> {
    create_within(kind, arguments, origin, 0)
}

fn create_within(
    kind: &Type,
    arguments: &[Value],
    origin: Origin,
    depth: u8,
) -> Result<Datum, Failure> {
    if let [one] = arguments
        && !matches!(kind, Type::Init(_))
        && kind.instance(&one.datum)
    {
        return Ok(one.datum.clone());
    }
    let made = make(kind, arguments, origin, depth)?;
    if kind.instance(&made) {
        return Ok(made);
    }
    let subject = format!("Converted value from {kind}.new() has wrong type,");
    Err(Failure::new(mismatch(&subject, kind, &made)))
}

/// No type is a choice within a choice within a choice so often.
const DEEPEST: u8 = 64;

fn make(kind: &Type, arguments: &[Value], origin: Origin, depth: u8) -> Result<Datum, Failure> {
    let unsupported = || {
        Failure::new(format!(
            "Creation of new instance of type '{kind}' is not supported"
        ))
    };
    if depth > DEEPEST {
        return Err(unsupported());
    }
    match kind {
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => {
            return make(inner, arguments, origin, depth + 1);
        }
        Type::Data | Type::RichData | Type::Alias(_) => {
            let body = kind.body().ok_or_else(unsupported)?;
            return make(body, arguments, origin, depth + 1);
        }
        Type::Init(Some(init)) => return make_init(&init.0, &init.1, arguments, origin, depth + 1),
        _ => {}
    }
    let recipe = Recipe::of(kind).ok_or_else(unsupported)?;
    let Some(form) = recipe.form_of(arguments) else {
        return Err(recipe.refuse(arguments));
    };
    let given = Given {
        arguments,
        form,
        origin,
    };
    match recipe.name {
        "new" => given.integer(),
        "new_float" if matches!(kind, Type::Regexp(_)) => given.regexp(),
        "new_float" => given.float(),
        "new_numeric" => given.numeric(),
        "new_string" => {
            let formats = arguments.get(1).map(|value| &value.datum);
            Ok(format::format(&arguments[0].datum, formats)?.into())
        }
        "new_boolean" => given.boolean(),
        "new_array" => given.array(),
        "new_hash" => given.hash(),
        "new_Sensitive" => Ok(match &arguments[0].datum {
            Datum::Sensitive(_) => arguments[0].datum.clone(),
            _ => Datum::Sensitive(Arc::new(arguments[0].clone())),
        }),
        "new_timestamp" => given.timestamp(),
        "new_timespan" => given.timespan(),
        "new_Version" => given.version(),
        "new_VersionRange" => given.version_range(),
        "new_Binary" => given.binary(),
        "new_error" => given.uri(),
        "new_Deferred" => Ok(given.deferred()),
        "new_unit" => Ok(arguments[0].datum.clone()),
        _ => Err(Failure::new(
            "A type is made of its text where texts are read, which is not here",
        )),
    }
}

/// Makes a value of what `Init` wraps: with its arguments behind the value, or an array as all arguments.
fn make_init(
    kind: &Type,
    further: &[Value],
    arguments: &[Value],
    origin: Origin,
    depth: u8,
) -> Result<Datum, Failure> {
    let [value] = arguments else {
        let form = form(&[("value", Type::Any)], 1);
        return Err(Failure::new(refusal(
            "new_Init",
            &[form],
            &types_of(arguments),
        )));
    };
    if !further.is_empty() {
        let all: Vec<Value> = [value].into_iter().chain(further).cloned().collect();
        return create_within(kind, &all, origin, depth);
    }
    match &value.datum {
        Datum::Array(array)
            if !single_types(kind)
                .iter()
                .any(|it| it.instance(&value.datum)) =>
        {
            create_within(kind, array.as_slice(), origin, depth)
        }
        _ => create_within(kind, arguments, origin, depth),
    }
}

/// Arguments that came in one of the forms.
struct Given<'a> {
    arguments: &'a [Value],
    form: usize,
    origin: Origin,
}

/// The longest array that counting makes.
const LONGEST: usize = 10_000_000;

impl Given<'_> {
    fn get(&self, index: usize) -> Option<&Datum> {
        self.arguments.get(index).map(|value| &value.datum)
    }

    /// An argument by position, or by name if all came in a hash.
    fn either(&self, index: usize, name: &str) -> Option<&Datum> {
        match (self.form, self.get(0)) {
            (1, Some(Datum::Hash(hash))) => hash.get_text(name).map(|value| &value.datum),
            _ => self.get(index),
        }
    }

    fn integer(&self) -> Result<Datum, Failure> {
        let radix = match self.either(1, "radix") {
            Some(Datum::Integer(radix)) => u32::try_from(*radix).ok(),
            _ => None,
        };
        let number = match self.either(0, "from") {
            Some(Datum::Integer(number)) => *number,
            Some(Datum::Float(number)) => whole(*number)?,
            Some(Datum::Bool(bool)) => i64::from(*bool),
            Some(Datum::Timestamp(at)) => at.seconds(),
            Some(Datum::Timespan(span)) => span.seconds(),
            Some(Datum::Text(text)) => integer_of(text, radix)?,
            _ => return Err(Failure::new("there is nothing to make an Integer of")),
        };
        match self.either(2, "abs") {
            Some(Datum::Bool(true)) => {
                let number = number.checked_abs();
                number.map(Datum::Integer).ok_or_else(too_great)
            }
            _ => Ok(Datum::Integer(number)),
        }
    }

    fn float(&self) -> Result<Datum, Failure> {
        let number = match self.either(0, "from") {
            Some(Datum::Integer(number)) => *number as f64,
            Some(Datum::Float(number)) => *number,
            Some(Datum::Bool(bool)) => f64::from(u8::from(*bool)),
            Some(Datum::Timestamp(at)) => to_seconds(at.nanoseconds()),
            Some(Datum::Timespan(span)) => to_seconds(span.nanoseconds()),
            Some(Datum::Text(text)) => float_of(text)?,
            _ => return Err(Failure::new("there is nothing to make a Float of")),
        };
        match self.either(1, "abs") {
            Some(Datum::Bool(true)) => Ok(Datum::Float(number.abs())),
            _ => Ok(Datum::Float(number)),
        }
    }

    fn numeric(&self) -> Result<Datum, Failure> {
        let number = match self.either(0, "from") {
            Some(Datum::Bool(bool)) => Datum::Integer(i64::from(*bool)),
            Some(Datum::Timestamp(at)) => Datum::Float(to_seconds(at.nanoseconds())),
            Some(Datum::Timespan(span)) => Datum::Float(to_seconds(span.nanoseconds())),
            Some(Datum::Text(text)) => {
                match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
                    Some("0b" | "0x") => Datum::Integer(integer_of(text, None)?),
                    _ => number::number(text).unwrap_or(Datum::Undef),
                }
            }
            Some(other) => other.clone(),
            None => Datum::Undef,
        };
        match (self.either(1, "abs"), number) {
            (Some(Datum::Bool(true)), Datum::Integer(number)) => {
                let number = number.checked_abs();
                number.map(Datum::Integer).ok_or_else(too_great)
            }
            (Some(Datum::Bool(true)), Datum::Float(number)) => Ok(Datum::Float(number.abs())),
            (_, number) => Ok(number),
        }
    }

    fn boolean(&self) -> Result<Datum, Failure> {
        Ok(Datum::Bool(match self.get(0) {
            Some(Datum::Integer(number)) => *number != 0,
            Some(Datum::Float(number)) => *number != 0.0,
            Some(Datum::Bool(bool)) => *bool,
            Some(Datum::Text(text)) => !["false", "no", "n"]
                .iter()
                .any(|it| text.eq_ignore_ascii_case(it)),
            _ => true,
        }))
    }

    fn array(&self) -> Result<Datum, Failure> {
        let from = &self.arguments[0];
        if self.form == 1 {
            return Ok(match &from.datum {
                Datum::Array(_) => from.datum.clone(),
                _ => Array::from(vec![from.clone()]).into(),
            });
        }
        Ok(match &from.datum {
            Datum::Array(_) => from.datum.clone(),
            other => Array::from(elements(other, self.origin)?).into(),
        })
    }

    fn hash(&self) -> Result<Datum, Failure> {
        let from = &self.arguments[0].datum;
        let values = match (self.form, from, self.get(1)) {
            (0, Datum::Array(entries), Some(Datum::Text(option))) => {
                return self.tree(entries, option == "hash_tree");
            }
            (0 | 1, Datum::Array(pairs), _) => {
                let pairs = pairs.iter().filter_map(|pair| match &pair.datum {
                    Datum::Array(pair) => Some((pair.get(0)?.clone(), pair.get(1)?.clone())),
                    _ => None,
                });
                return Ok(pairs.collect::<Hash>().into());
            }
            (_, Datum::Array(values), _) => values.as_slice().to_vec(),
            (_, Datum::Hash(_), _) => return Ok(from.clone()),
            (_, other, _) if is_iterable(other) => elements(other, self.origin)?,
            (_, other, _) => {
                let kind = Type::reduced(other).generalise();
                return Err(Failure::new(format!(
                    "Value of type {kind} cannot be converted to Hash"
                )));
            }
        };
        if values.len() % 2 != 0 {
            return Err(Failure::new("odd number of arguments for Hash"));
        }
        let pairs = values
            .chunks(2)
            .map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok(pairs.collect::<Hash>().into())
    }

    /// A hash of paths and what is at their ends.
    fn tree(&self, entries: &Array, all_hashes: bool) -> Result<Datum, Failure> {
        let mut result = Datum::Hash(Hash::from_iter([]));
        for entry in entries.iter() {
            let Datum::Array(entry) = &entry.datum else {
                continue;
            };
            let (Some(path), Some(value)) = (entry.get(0), entry.get(1)) else {
                continue;
            };
            let Datum::Array(path) = &path.datum else {
                continue;
            };
            if path.is_empty() {
                let Datum::Hash(hash) = result else {
                    break;
                };
                result = self.with_root(hash, &value.datum)?.into();
                continue;
            }
            let value = match all_hashes {
                true => self.as_hashes(value),
                false => value.clone(),
            };
            result = self.with_path(result, path.as_slice(), value)?;
        }
        Ok(result)
    }

    fn with_root(&self, hash: Hash, value: &Datum) -> Result<Hash, Failure> {
        match value {
            Datum::Array(array) => {
                let indexed = array.iter().enumerate();
                Ok(indexed.fold(hash, |hash, (index, value)| {
                    hash.with(self.number(index), value.clone())
                }))
            }
            Datum::Hash(more) => Ok(more.iter().fold(hash, |hash, (key, entry)| {
                let key = Value::new(key.clone(), entry.key);
                hash.with(key, entry.value.clone())
            })),
            other => Err(Failure::new(format!(
                "no implicit conversion of {} into Hash",
                super::parameters::class_of(other)
            ))),
        }
    }

    fn number(&self, index: usize) -> Value {
        Value::new(i64::try_from(index).unwrap_or(i64::MAX), self.origin)
    }

    /// What is at a place, with a value put at the end of a path from there.
    fn with_path(&self, at: Datum, path: &[Value], value: Value) -> Result<Datum, Failure> {
        let Some((step, rest)) = path.split_first() else {
            return Ok(value.datum);
        };
        match at {
            Datum::Hash(hash) => {
                let value = match rest {
                    [] => value,
                    rest => {
                        let inner = hash.get(&step.datum);
                        let origin = inner.map_or(self.origin, |inner| inner.origin);
                        let inner =
                            inner.map_or_else(|| Hash::from_iter([]).into(), |it| it.datum.clone());
                        Value::new(self.with_path(inner, rest, value)?, origin)
                    }
                };
                Ok(hash.with(step.clone(), value).into())
            }
            Datum::Array(array) => {
                let index = match step.datum {
                    Datum::Integer(index) if index < 0 => {
                        usize::try_from(index + i64::try_from(array.len()).unwrap_or(0)).ok()
                    }
                    Datum::Integer(index) => usize::try_from(index).ok(),
                    _ => None,
                };
                let Some(index) = index.filter(|index| *index < LONGEST) else {
                    return Err(Failure::new("a path leads through an array by numbers"));
                };
                let mut values = array.as_slice().to_vec();
                while values.len() <= index {
                    values.push(Value::new(Datum::Undef, self.origin));
                }
                let inner = std::mem::take(&mut values[index].datum);
                values[index] = match rest {
                    [] => value,
                    rest => {
                        let origin = values[index].origin;
                        Value::new(self.with_path(inner, rest, value)?, origin)
                    }
                };
                Ok(Array::from(values).into())
            }
            other => Err(Failure::new(format!(
                "a path leads through {}, which is neither an array nor a hash",
                Type::reduced(&other).generalise()
            ))),
        }
    }

    /// Arrays, and those within them, as hashes from their positions.
    fn as_hashes(&self, value: &Value) -> Value {
        match &value.datum {
            Datum::Array(array) => {
                let entries = array.iter().enumerate();
                let hash: Hash = entries
                    .map(|(index, value)| (self.number(index), self.as_hashes(value)))
                    .collect();
                Value::new(hash, value.origin)
            }
            _ => value.clone(),
        }
    }

    fn timestamp(&self) -> Result<Datum, Failure> {
        let at = match (self.form, self.get(0)) {
            (2, Some(Datum::Text(text))) => {
                let timezone = match self.get(2) {
                    Some(Datum::Text(timezone)) => Some(timezone.as_str()),
                    _ => None,
                };
                Timestamp::parse(text, self.get(1), timezone)
            }
            (_, Some(datum)) => Timestamp::from_datum(datum),
            (_, None) => Err("The time of day is not known while a catalog is made: \
                Timestamp.new needs an argument"
                .to_owned()),
        };
        at.map(Datum::Timestamp).map_err(Failure::new)
    }

    fn timespan(&self) -> Result<Datum, Failure> {
        let span = match (self.form, self.get(0)) {
            (1, Some(Datum::Text(text))) => Timespan::parse(text, self.get(1)),
            (2, _) => {
                let fields: Vec<i64> = self
                    .arguments
                    .iter()
                    .filter_map(|value| match value.datum {
                        Datum::Integer(number) => Some(number),
                        _ => None,
                    })
                    .collect();
                Timespan::from_fields(false, &fields)
            }
            (_, datum) => Timespan::from_datum(datum.unwrap_or(&Datum::Undef)),
        };
        span.map(Datum::Timespan).map_err(Failure::new)
    }

    fn version(&self) -> Result<Datum, Failure> {
        if let (0, Some(Datum::Text(text))) = (self.form, self.get(0)) {
            let version = Version::parse(text).map_err(Failure::new)?;
            return Ok(Datum::SemVer(Arc::new(version)));
        }
        let names = ["major", "minor", "patch", "prerelease", "build"];
        let part = |index: usize| match self.get(0) {
            Some(Datum::Hash(hash)) => hash.get_text(names[index]).map(|value| &value.datum),
            _ => self.get(index),
        };
        let number = |index: usize| match part(index) {
            Some(Datum::Integer(number)) => number.unsigned_abs(),
            _ => 0,
        };
        let text = |index: usize| match part(index) {
            Some(Datum::Text(text)) => Some(text.clone()),
            _ => None,
        };
        Ok(Datum::SemVer(Arc::new(Version {
            // Given on their own, parts are taken as they are.
            prerelease: text(3).map(|text| vec![version::Part::Word(text)]),
            build: text(4).map(|text| vec![text]),
            ..Version::plain(number(0), number(1), number(2))
        })))
    }

    fn version_range(&self) -> Result<Datum, Failure> {
        if let (0, Some(Datum::Text(text))) = (self.form, self.get(0)) {
            let range = VersionRange::parse(text).map_err(Failure::new)?;
            return Ok(Datum::SemVerRange(Arc::new(range)));
        }
        let names = ["min", "max", "exclude_max"];
        let part = |index: usize| match self.get(0) {
            Some(Datum::Hash(hash)) => hash.get_text(names[index]).map(|value| &value.datum),
            _ => self.get(index),
        };
        let bound = |index: usize| match part(index) {
            Some(Datum::SemVer(version)) => Some((**version).clone()),
            _ => None,
        };
        let exclude = matches!(part(2), Some(Datum::Bool(true)));
        let range = VersionRange::spanning(bound(0), bound(1), exclude);
        Ok(Datum::SemVerRange(Arc::new(range)))
    }

    fn binary(&self) -> Result<Datum, Failure> {
        let (value, format) = match self.get(0) {
            Some(Datum::Hash(hash)) => {
                let given = |name: &str| hash.get_text(name).map(|value| &value.datum);
                (given("value"), given("format"))
            }
            other => (other, self.get(1)),
        };
        let format = match format {
            Some(Datum::Text(format)) => format.as_str(),
            _ => "%B",
        };
        let bytes = match (value, format) {
            (Some(Datum::Array(bytes)), _) => bytes
                .iter()
                .filter_map(|byte| match byte.datum {
                    Datum::Integer(byte) => u8::try_from(byte).ok(),
                    _ => None,
                })
                .collect(),
            (Some(Datum::Text(text)), "%s" | "%r") => text.as_bytes().to_vec(),
            (Some(Datum::Text(text)), "%b") => base64::decode(text),
            (Some(Datum::Text(text)), "%u") => {
                let mut text = text.replace("-", "+").replace("_", "/");
                while !text.ends_with('=') && text.len() % 4 != 0 {
                    text.push('=');
                }
                base64::decode_strictly(&text)?
            }
            (Some(Datum::Text(text)), _) => base64::decode_strictly(text)?,
            _ => Vec::new(),
        };
        Ok(Datum::Binary(bytes.into()))
    }

    fn uri(&self) -> Result<Datum, Failure> {
        let uri = match self.get(0) {
            Some(Datum::Text(text)) => Uri::parse(text).map_err(Failure::new)?,
            Some(Datum::Hash(parts)) => Uri::from_parts(parts),
            _ => Uri::default(),
        };
        Ok(Datum::Uri(Arc::new(uri)))
    }

    fn regexp(&self) -> Result<Datum, Failure> {
        let source = match (self.get(0), self.get(1)) {
            (Some(Datum::Text(text)), Some(Datum::Bool(true))) => escaped(text),
            (Some(Datum::Text(text)), _) => text.to_string(),
            _ => String::new(),
        };
        let pattern = Pattern::new(&source).map_err(Failure::new)?;
        Ok(Datum::Pattern(Arc::new(pattern)))
    }

    fn deferred(&self) -> Datum {
        let attributes = match (self.form, self.get(0)) {
            (0, Some(Datum::Hash(hash))) => hash.clone(),
            _ => {
                let names = ["name", "arguments"];
                let given = names.into_iter().zip(self.arguments);
                given
                    .filter(|(_, value)| !value.is_undef())
                    .map(|(name, value)| (Value::new(name, self.origin), value.clone()))
                    .collect()
            }
        };
        Datum::Object(Arc::new(Object {
            kind: "Deferred".into(),
            attributes,
        }))
    }
}

/// What comes of going through a value.
fn elements(datum: &Datum, origin: Origin) -> Result<Vec<Value>, Failure> {
    let counted = |from: i64, to: i64| {
        let count = i128::from(to) - i128::from(from) + 1;
        if count > LONGEST as i128 {
            return Err(Failure::new(format!(
                "{count} elements are more than an array can hold here"
            )));
        }
        Ok((from..=to)
            .map(|number| Value::new(number, origin))
            .collect())
    };
    match datum {
        Datum::Array(array) => Ok(array.as_slice().to_vec()),
        Datum::Iterator(iteration) => Ok(iteration.all_left()),
        Datum::Hash(hash) => Ok(hash
            .iter()
            .map(|(key, entry)| {
                let key = Value::new(key.clone(), entry.key);
                let pair = Array::from(vec![key, entry.value.clone()]);
                Value::new(pair, entry.value.origin)
            })
            .collect()),
        Datum::Binary(bytes) => Ok(bytes
            .iter()
            .map(|byte| Value::new(i64::from(*byte), origin))
            .collect()),
        Datum::Text(text) => Ok(text
            .chars()
            .map(|char| Value::new(EcoString::from(char), origin))
            .collect()),
        Datum::Integer(count) => counted(0, *count - 1),
        Datum::Type(kind) => match kind.resolved() {
            Type::Enum(values, _) => Ok(values
                .iter()
                .map(|value| Value::new(value.clone(), origin))
                .collect()),
            Type::Integer(Range {
                min: Some(min),
                max: Some(max),
            }) => counted(*min, *max),
            _ => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

fn too_great() -> Failure {
    Failure::new("the number does not fit into 64 bits")
}

/// A number without what is behind its point.
pub(super) fn whole(number: f64) -> Result<i64, Failure> {
    if !number.is_finite() {
        return Err(Failure::new(crate::text::float(number)));
    }
    let number = number.trunc();
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    match fits {
        true => Ok(number as i64),
        false => Err(too_great()),
    }
}

/// The number that a text is, in a radix or as its prefix says.
fn integer_of(text: &str, radix: Option<u32>) -> Result<i64, Failure> {
    let invalid = || Failure::new(format!("invalid value for Integer(): {}", inspected(text)));
    let trimmed = text.trim();
    let (negative, unsigned) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    // Between a sign and its number there may be blanks.
    let unsigned = match trimmed.starts_with(['+', '-']) {
        true => unsigned.trim_start_matches(number::is_blank),
        false => unsigned,
    };
    let lower = unsigned.to_ascii_lowercase();
    let prefixed = |prefix: &str, wanted: u32| {
        let applies = radix.is_none_or(|radix| radix == wanted);
        lower.strip_prefix(prefix).filter(|_| applies)
    };
    let (digits, radix) = if let Some(digits) = prefixed("0x", 16) {
        (digits, 16)
    } else if let Some(digits) = prefixed("0b", 2) {
        (digits, 2)
    } else {
        match radix {
            Some(radix) => (lower.as_str(), radix),
            None if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
            None => (lower.as_str(), 10),
        }
    };
    if digits.is_empty() || !digits.chars().all(|char| char.is_digit(radix)) {
        return Err(invalid());
    }
    let magnitude = i128::from_str_radix(digits, radix).map_err(|_| too_great())?;
    let number = if negative { -magnitude } else { magnitude };
    i64::try_from(number).map_err(|_| too_great())
}

fn float_of(text: &str) -> Result<f64, Failure> {
    let invalid = || Failure::new(format!("invalid value for Float(): {}", inspected(text)));
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("0b") {
        return Ok(integer_of(text, None)? as f64);
    }
    let (sign, unsigned) = match lower.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    let unsigned = unsigned.trim_start_matches(number::is_blank);
    let number = match unsigned.strip_prefix("0x") {
        Some(digits) => {
            let number = u128::from_str_radix(digits, 16).map_err(|_| invalid())?;
            number as f64
        }
        None => unsigned.parse().map_err(|_| invalid())?,
    };
    Ok(sign * number)
}

/// A text with everything escaped that means something in a regular expression.
fn escaped(text: &str) -> String {
    let mut source = String::new();
    for char in text.chars() {
        match char {
            '\n' => source.push_str("\\n"),
            '\t' => source.push_str("\\t"),
            '\r' => source.push_str("\\r"),
            '\x0c' => source.push_str("\\f"),
            '\x0b' => source.push_str("\\v"),
            '[' | ']' | '{' | '}' | '(' | ')' | '|' | '-' | '*' | '.' | '\\' | '?' | '+' | '^'
            | '$' | '#' | ' ' => source.extend(['\\', char]),
            char => source.push(char),
        }
    }
    source
}
