//! `String.new(value, formats)`: values as texts, each type in its own way.
//!
//! A format is `%`, flags, width, precision and a letter; what letters there are depends on the type. A map says
//! which format is for which type, the narrowest one first, and for arrays and hashes also what goes between
//! elements and how those are put.

use std::cmp::Ordering;
use std::sync::{Arc, LazyLock};

use ecow::EcoString;

use crate::text;
use crate::value::{Array, Datum, Hash, Value};

use super::display::{quote, quote_double};
use super::printf::{Layout, inspected};
use super::{Failure, Type, base64};

/// The text of a value in the format that a letter, a map or nothing asks for.
pub(super) fn format(value: &Datum, formats: Option<&Datum>) -> Result<String, Failure> {
    let map;
    let map = match formats {
        None | Some(Datum::Default) => &*DEFAULTS,
        Some(Datum::Text(letter)) => {
            let key = match value {
                Datum::Array(_) => Type::array(Type::Any, None),
                Datum::Hash(_) => Type::hash(Type::Any, Type::Any, None),
                other => Type::of(other),
            };
            map = merged(&DEFAULTS, &[(key, Format::read(letter)?)]);
            &map
        }
        Some(Datum::Hash(given)) => {
            map = merged(&DEFAULTS, &read_map(given)?);
            &map
        }
        Some(_) => return Err(Failure::new("formats are a text or a hash")),
    };
    put(value, map, Indent::default())
}

/// Which format is for which type, first come first served.
type Map = Vec<(Type, Format)>;

#[derive(Clone, Debug)]
struct Format {
    letter: char,
    layout: Layout,
    delimiter: Option<char>,
    separator: Option<EcoString>,
    separator2: Option<EcoString>,
    elements: Option<Arc<Map>>,
}

/// What is less than this can be put as a whole number, digit by digit.
const LONGEST_WHOLE: f64 = 1e38;

/// No text needs to be wider than this, nor can it be put any wider.
const WIDEST: usize = 60_000;

impl Format {
    fn read(source: &str) -> Result<Self, Failure> {
        let invalid = || {
            Failure::new(format!(
                "The format '{source}' is not a valid format on the form '%<flags><width>.<prec><format>'"
            ))
        };
        let rest = source.strip_prefix('%').ok_or_else(invalid)?;
        let is_flag = |char: char| "[+#0{<(|-".contains(char) || char.is_ascii_whitespace();
        let end = rest.find(|char| !is_flag(char)).unwrap_or(rest.len());
        let (flags, rest) = rest.split_at(end);
        let digits = |rest: &str| {
            rest.find(|char: char| !char.is_ascii_digit())
                .unwrap_or(rest.len())
        };
        let (width, rest) = rest.split_at(digits(rest));
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => {
                let (precision, rest) = rest.split_at(digits(rest));
                (Some(precision), rest)
            }
            None => (None, rest),
        };
        let mut letters = rest.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Err(invalid());
        };
        if !letter.is_ascii_alphabetic() || precision == Some("") {
            return Err(invalid());
        }
        let mut seen: Vec<char> = Vec::new();
        for flag in flags.chars() {
            if seen.contains(&flag) {
                return Err(Failure::new(format!(
                    "The same flag can only be used once, got '{source}'"
                )));
            }
            seen.push(flag);
        }
        let delimiters: Vec<char> = "[{(<|".chars().filter(|it| seen.contains(it)).collect();
        if delimiters.len() > 1 {
            return Err(Failure::new(format!(
                "Only one of the delimiters [ {{ ( < | can be given in the format flags, got '{source}'"
            )));
        }
        let length = |digits: &str| match digits.parse::<usize>() {
            Ok(length) if length <= WIDEST => Ok(length),
            _ => Err(Failure::new("width too big")),
        };
        let has = |flag: char| seen.contains(&flag);
        Ok(Self {
            letter,
            layout: Layout {
                left: has('-'),
                plus: has('+'),
                space: has(' '),
                zero: has('0'),
                alternative: has('#'),
                width: match width {
                    "" => None,
                    digits => Some(length(digits)?),
                },
                precision: precision.map(length).transpose()?,
            },
            delimiter: delimiters.first().copied(),
            separator: None,
            separator2: None,
            elements: None,
        })
    }

    fn built_in(source: &str) -> Self {
        Self::read(source).expect("built-in formats are well formed")
    }

    fn alternative(&self) -> bool {
        self.layout.alternative
    }

    /// The other format, with what it leaves open taken from this one.
    fn overridden_by(&self, other: &Format) -> Format {
        let elements = match (&self.elements, &other.elements) {
            (Some(lower), Some(higher)) => Some(Arc::new(merged(lower, higher))),
            (lower, higher) => higher.clone().or(lower.clone()),
        };
        Format {
            separator: other.separator.clone().or(self.separator.clone()),
            separator2: other.separator2.clone().or(self.separator2.clone()),
            elements,
            ..other.clone()
        }
    }

    fn delimiters(&self, usual: (&'static str, &'static str)) -> (&'static str, &'static str) {
        match self.delimiter {
            Some('[') => ("[", "]"),
            Some('{') => ("{", "}"),
            Some('(') => ("(", ")"),
            Some('<') => ("<", ">"),
            Some('|') => ("|", "|"),
            _ if self.layout.space => ("", ""),
            _ => usual,
        }
    }

    fn refused(&self, kind: &str, letters: &str) -> Failure {
        Failure::new(format!(
            "Illegal format '{}' specified for value of {kind} type - expected one of the characters '{letters}'",
            self.letter
        ))
    }

    /// Delimiters are for arrays and hashes.
    fn plain(&self) -> Result<&Layout, Failure> {
        match self.delimiter {
            None => Ok(&self.layout),
            Some('<' | '{') => Err(Failure::new("malformed name - unmatched parenthesis")),
            Some(delimiter) => Err(Failure::new(format!(
                "malformed format string - %{delimiter}"
            ))),
        }
    }

    /// A literal, as wide and as short as asked for.
    fn literal(&self, text: &str) -> String {
        let layout = Layout {
            left: self.layout.left,
            width: self.layout.width,
            precision: self.layout.precision,
            ..Layout::default()
        };
        layout.text(text)
    }
}

static ELEMENTS: LazyLock<Arc<Map>> =
    LazyLock::new(|| Arc::new(vec![(Type::Any, Format::built_in("%p"))]));

static DEFAULTS: LazyLock<Map> = LazyLock::new(|| {
    let array = Format {
        separator: Some(", ".into()),
        separator2: Some(", ".into()),
        elements: Some(ELEMENTS.clone()),
        ..Format::built_in("%a")
    };
    let hash = Format {
        separator: Some(", ".into()),
        separator2: Some(" => ".into()),
        elements: Some(ELEMENTS.clone()),
        ..Format::built_in("%h")
    };
    vec![
        (Type::Object(None), Format::built_in("%p")),
        (Type::FLOAT, Format::built_in("%f")),
        (Type::Numeric, Format::built_in("%d")),
        (Type::array(Type::Any, None), array),
        (Type::hash(Type::Any, Type::Any, None), hash),
        (Type::Binary, Format::built_in("%B")),
        (Type::Any, Format::built_in("%s")),
    ]
});

/// Both maps, the higher one first where they speak of the same values, narrow types before wide ones.
fn merged(lower: &[(Type, Format)], higher: &[(Type, Format)]) -> Map {
    let lower: Vec<&(Type, Format)> = lower
        .iter()
        .filter(|(kind, _)| {
            !higher
                .iter()
                .any(|(other, _)| other != kind && other.assignable(kind))
        })
        .collect();
    let mut all: Map = Vec::new();
    for (kind, format) in lower {
        let other = higher.iter().find(|(other, _)| other == kind);
        let format = match other {
            Some((_, other)) => format.overridden_by(other),
            None => format.clone(),
        };
        all.push((kind.clone(), format));
    }
    for (kind, format) in higher {
        if !all.iter().any(|(other, _)| other == kind) {
            all.push((kind.clone(), format.clone()));
        }
    }
    // Not every two types are narrower or wider, so this is no order that sorting could rely on.
    let mut sorted: Map = Vec::new();
    for entry in all {
        let place = sorted
            .iter()
            .position(|other| precedence(&entry.0, &other.0).is_lt());
        sorted.insert(place.unwrap_or(sorted.len()), entry);
    }
    sorted
}

fn precedence(one: &Type, another: &Type) -> Ordering {
    match (another.assignable(one), one.assignable(another)) {
        _ if one == another => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => match (rank(one), rank(another)) {
            (0, _) | (_, 0) => one.to_string().cmp(&another.to_string()),
            (one, another) => one.cmp(&another),
        },
    }
}

fn rank(kind: &Type) -> u8 {
    match kind {
        Type::Struct(_) => 1,
        Type::Hash(..) => 2,
        Type::Tuple(..) => 3,
        Type::Array(..) => 4,
        Type::Pattern(_) => 10,
        Type::Enum(..) => 11,
        Type::String(_) | Type::Exactly(_) => 12,
        _ => 0,
    }
}

fn read_map(given: &Hash) -> Result<Map, Failure> {
    let mut map = Vec::new();
    for (key, entry) in given.iter() {
        let Datum::Type(kind) = key else {
            return Err(Failure::new(format!(
                "top level keys in the format hash must be data types, got instance of '{}'",
                super::parameters::class_of(key)
            )));
        };
        let format = match &entry.value.datum {
            Datum::Hash(details) => read_details(details)?,
            other => Format::read(&text::text(other))?,
        };
        map.push(((**kind).clone(), format));
    }
    Ok(map)
}

fn read_details(details: &Hash) -> Result<Format, Failure> {
    let text_of = |key: &str| match details.get_text(key).map(|value| &value.datum) {
        Some(Datum::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let source = text_of("format").unwrap_or_default();
    let elements = match details.get_text("string_formats").map(|it| &it.datum) {
        Some(Datum::Hash(map)) => Some(Arc::new(read_map(map)?)),
        _ => None,
    };
    Ok(Format {
        separator: text_of("separator"),
        separator2: text_of("separator2"),
        elements,
        ..Format::read(&source)?
    })
}

/// How deep in arrays and hashes that are put on several lines.
#[derive(Clone, Copy)]
struct Indent {
    level: usize,
    first: bool,
    active: bool,
}

impl Default for Indent {
    fn default() -> Self {
        Self {
            level: 0,
            first: true,
            active: false,
        }
    }
}

impl Indent {
    fn deeper(self, active: bool) -> Self {
        Self {
            level: self.level + 1,
            first: true,
            active,
        }
    }

    fn breaks(self) -> bool {
        self.active && self.level > 0 && !self.first
    }

    fn padding(self) -> String {
        "  ".repeat(self.level)
    }
}

fn put(value: &Datum, map: &Map, indent: Indent) -> Result<String, Failure> {
    let fallback = Format::built_in("%s");
    let kind = Type::of(value);
    let format = map
        .iter()
        .find(|(key, _)| key.assignable(&kind))
        .map_or(&fallback, |(_, format)| format);
    match value {
        Datum::Undef => put_undef(format),
        Datum::Default => match format.letter {
            'd' | 's' | 'p' if format.alternative() => Ok(format.literal("\"default\"")),
            'd' | 's' | 'p' => Ok(format.literal("default")),
            'D' if format.alternative() => Ok(format.literal("\"Default\"")),
            'D' => Ok(format.literal("Default")),
            _ => Err(format.refused("Default", "dDsp")),
        },
        Datum::Bool(bool) => put_boolean(*bool, format),
        Datum::Integer(number) => put_integer(*number, format),
        Datum::Float(number) => put_float(*number, format),
        Datum::Text(text) => put_text(text, format),
        Datum::Pattern(pattern) => match format.letter {
            'p' => Ok(format.plain()?.text(&text::pattern(pattern))),
            's' if format.alternative() => Ok(format.plain()?.text(&quote(pattern.source()))),
            's' => Ok(format.plain()?.text(pattern.source())),
            _ => Err(format.refused("Regexp", "sp")),
        },
        Datum::Array(array) => put_array(array, format, map, indent),
        Datum::Iterator(iteration) => put(&Datum::Array(iteration.all_left().into()), map, indent),
        Datum::Hash(hash) => put_hash(hash, format, map, indent),
        Datum::Type(kind) => match format.letter {
            's' if format.alternative() => Ok(format.plain()?.text(&format!("\"{kind}\""))),
            's' | 'p' => Ok(format.plain()?.text(&kind.to_string())),
            _ => Err(format.refused("Type", "sp")),
        },
        Datum::Binary(bytes) => put_binary(bytes, format),
        Datum::Uri(uri) => match format.letter {
            'p' => Ok(format!("URI({})", quote(&uri.to_string()))),
            's' if format.alternative() => Ok(format.plain()?.text(&quote(&uri.to_string()))),
            's' => Ok(format.plain()?.text(&uri.to_string())),
            _ => Err(format.refused("URI", "sp")),
        },
        Datum::Object(object) => match format.letter {
            'p' | 's' | 'q' => Ok(object.to_string()),
            _ => Err(format.refused("Object", "spq")),
        },
        Datum::Sensitive(_) => match format.letter {
            'p' => Ok(format.plain()?.text("#<Sensitive [value redacted]>")),
            _ => put_other(value, format),
        },
        Datum::Timestamp(at) => put_time(at.nanoseconds(), at.seconds(), value, format),
        Datum::Timespan(span) => put_time(span.nanoseconds(), span.seconds(), value, format),
        Datum::SemVer(_) | Datum::SemVerRange(_) => put_other(value, format),
    }
}

/// What has no letters of its own is a text and nothing else.
fn put_other(value: &Datum, format: &Format) -> Result<String, Failure> {
    let class = super::parameters::class_of(value);
    let letter = format.letter;
    let layout = format.plain()?;
    Err(Failure::new(match letter {
        's' | 'p' => return Ok(layout.text(&text::text(value))),
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'b' | 'B' => {
            format!("can't convert {class} into Integer")
        }
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => format!("can't convert {class} into Float"),
        'c' => format!("no implicit conversion of {class} into Integer"),
        _ => format!("malformed format string - %{letter}"),
    }))
}

fn put_time(
    nanoseconds: i128,
    seconds: i64,
    value: &Datum,
    format: &Format,
) -> Result<String, Failure> {
    let layout = format.plain()?;
    Ok(match format.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => layout.integer(seconds, format.letter),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
            layout.float(super::time::to_seconds(nanoseconds), format.letter)
        }
        _ => layout.text(&text::text(value)),
    })
}

fn put_undef(format: &Format) -> Result<String, Failure> {
    let alternative = format.alternative();
    let word = match format.letter {
        'n' if alternative => "null",
        'n' => "nil",
        'u' if alternative => "undefined",
        'u' => "undef",
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' | 'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => "NaN",
        'v' => "n/a",
        'V' => "N/A",
        's' if alternative => "\"\"",
        's' => "",
        'p' if alternative => "\"undef\"",
        'p' => "undef",
        _ => return Err(format.refused("Undef", "nudxXobBeEfgGaAvVsp")),
    };
    Ok(format.literal(word))
}

fn put_boolean(bool: bool, format: &Format) -> Result<String, Failure> {
    let word = match (format.letter, bool) {
        ('t', true) => "true",
        ('t', false) => "false",
        ('T', true) => "True",
        ('T', false) => "False",
        ('y', true) => "yes",
        ('y', false) => "no",
        ('Y', true) => "Yes",
        ('Y', false) => "No",
        ('d' | 'x' | 'X' | 'o' | 'b' | 'B', bool) => {
            return Ok(format.plain()?.integer(i64::from(bool), format.letter));
        }
        ('e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A', bool) => {
            let number = if bool { 1.0 } else { 0.0 };
            return Ok(format.plain()?.float(number, format.letter));
        }
        ('s' | 'p', true) => return Ok(format.literal("true")),
        ('s' | 'p', false) => return Ok(format.literal("false")),
        _ => return Err(format.refused("Boolean", "tTyYdxXobBeEfgGaAsp")),
    };
    let word = if format.alternative() {
        &word[..1]
    } else {
        word
    };
    Ok(format.literal(word))
}

fn put_integer(number: i64, format: &Format) -> Result<String, Failure> {
    if !"dxXobBeEfgGaAspc".contains(format.letter) {
        return Err(format.refused("Integer", "dxXobBeEfgGaAspc"));
    }
    let layout = format.plain()?;
    Ok(match format.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => layout.integer(number, format.letter),
        'p' => layout.text(&number.to_string()),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => layout.float(number as f64, format.letter),
        'c' => {
            let char = u32::try_from(number).ok().and_then(char::from_u32);
            let char = char.ok_or_else(|| Failure::new("pack(U): value out of range"))?;
            match format.alternative() {
                true => layout.text(&format!("\"{char}\"")),
                false => layout.text(&char.to_string()),
            }
        }
        's' if format.alternative() => layout.text(&inspected(&number.to_string())),
        _ => layout.text(&number.to_string()),
    })
}

fn put_float(number: f64, format: &Format) -> Result<String, Failure> {
    if !"dxXobBeEfgGaAsp".contains(format.letter) {
        return Err(format.refused("Float", "dxXobBeEfgGaAsp"));
    }
    let layout = format.plain()?;
    Ok(match format.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => {
            if !number.is_finite() {
                return Err(Failure::new(text::float(number)));
            }
            if number.abs() >= LONGEST_WHOLE {
                return Err(Failure::new("the number has too many digits"));
            }
            layout.integer(number as i128, format.letter)
        }
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => layout.float(number, format.letter),
        'p' => layout.text(&text::float(number)),
        's' if format.alternative() => layout.text(&format!("\"{}\"", text::float(number))),
        _ => layout.text(&text::float(number)),
    })
}

fn put_text(value: &str, format: &Format) -> Result<String, Failure> {
    let changed = match format.letter {
        's' => return Ok(format.plain()?.text(value)),
        'p' if format.alternative() => return Ok(format.literal(&quote_double(value))),
        'p' => return Ok(format.literal(&quote(value))),
        'c' => text::capitalised(value),
        'C' => {
            // A name that ends in `::` loses that.
            let trimmed = value.trim_end_matches("::");
            text::capitalised_name(trimmed)
        }
        'u' => value.to_uppercase().into(),
        'd' => value.to_lowercase().into(),
        't' => value
            .trim_matches(|char: char| char.is_ascii_whitespace() || matches!(char, '\x0b' | '\0'))
            .into(),
        _ => return Err(format.refused("String", "cCudspt")),
    };
    match format.alternative() {
        true => Ok(format.literal(&quote(&changed))),
        false => Ok(format.plain()?.text(&changed)),
    }
}

fn put_binary(bytes: &[u8], format: &Format) -> Result<String, Failure> {
    let lines = || {
        let encoded = base64::encode(bytes);
        let mut text = String::new();
        for (index, char) in encoded.chars().enumerate() {
            if index > 0 && index % 60 == 0 {
                text.push('\n');
            }
            text.push(char);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    };
    let content = match format.letter {
        's' => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) if format.alternative() => String::from_utf8_lossy(bytes).into_owned(),
            Err(error) => {
                let byte = bytes[error.valid_up_to()];
                return Err(Failure::new(format!(
                    "\"\\x{byte:02X}\" from ASCII-8BIT to UTF-8"
                )));
            }
        },
        'p' => {
            let inner = format.plain()?.text(&base64::encode(bytes));
            return Ok(format!("Binary(\"{inner}\")"));
        }
        'b' => lines(),
        'B' => base64::encode(bytes).to_string(),
        'u' => base64::encode_for_urls(bytes).to_string(),
        't' => "Binary".to_owned(),
        'T' => "BINARY".to_owned(),
        _ => return Err(format.refused("Binary", "bButTsp")),
    };
    match format.alternative() {
        true => Ok(format.plain()?.text(&inspected(&content))),
        false => Ok(format.plain()?.text(&content)),
    }
}

fn is_collection(datum: &Datum) -> bool {
    matches!(datum, Datum::Array(_) | Datum::Hash(_))
}

/// Elements that hold others are put as the whole is, all others as elements are.
fn put_element(
    datum: &Datum,
    map: &Map,
    elements: &Map,
    indent: Indent,
) -> Result<String, Failure> {
    let holds = is_collection(datum) || matches!(datum, Datum::Object(_));
    put(datum, if holds { map } else { elements }, indent)
}

fn put_array(array: &Array, format: &Format, map: &Map, indent: Indent) -> Result<String, Failure> {
    let separator = format.separator.as_deref().unwrap_or(", ");
    let elements = format.elements.as_ref().unwrap_or(&ELEMENTS);
    let (open, close) = format.delimiters(("[", "]"));
    let indent = Indent {
        active: format.alternative() || indent.active,
        ..indent
    };
    if !matches!(format.letter, 'a' | 's' | 'p') {
        return Err(format.refused("Array", "asp"));
    }
    let mut buffer = String::new();
    if indent.breaks() {
        buffer.push('\n');
        buffer.push_str(&indent.padding());
    }
    buffer.push_str(open);
    let within = Indent {
        first: false,
        ..indent.deeper(format.alternative())
    };
    let mut put = Vec::new();
    for value in array.iter() {
        put.push(put_element(&value.datum, map, elements, within)?);
    }
    // Elements too long for one line get a line each.
    let too_wide = match format.layout.width {
        Some(width) if format.alternative() => {
            let mut runs = vec![0];
            for (value, text) in array.iter().zip(&put) {
                match is_collection(&value.datum) {
                    true => runs.push(0),
                    false => *runs.last_mut().expect("there is one") += text.chars().count(),
                }
            }
            runs.into_iter().max() > Some(width)
        }
        _ => false,
    };
    for (index, (value, text)) in array.iter().zip(&put).enumerate() {
        let plain = !is_collection(&value.datum);
        match index.checked_sub(1).and_then(|before| array.get(before)) {
            None => {
                if too_wide && plain {
                    buffer.push(' ');
                }
            }
            Some(before) => {
                buffer.push_str(separator);
                let after_nested = format.alternative() && is_collection(&before.datum);
                if plain && (too_wide || after_nested) {
                    if !buffer.ends_with('\n') {
                        trim_end(&mut buffer);
                    }
                    buffer.push('\n');
                    buffer.push_str(&within.padding());
                }
            }
        }
        if buffer.ends_with(' ') && text.starts_with('\n') {
            trim_end(&mut buffer);
        }
        buffer.push_str(text);
    }
    buffer.push_str(close);
    Ok(buffer)
}

fn put_hash(hash: &Hash, format: &Format, map: &Map, indent: Indent) -> Result<String, Failure> {
    let separator = format.separator.as_deref().unwrap_or(", ");
    let arrow = format.separator2.as_deref().unwrap_or(" => ");
    let elements = format.elements.as_ref().unwrap_or(&ELEMENTS);
    let (open, close) = format.delimiters(("{", "}"));
    let separator = match format.alternative() {
        true if separator.ends_with('\n') => format!("{separator}\n"),
        true => format!("{}\n", separator.trim_end()),
        false => separator.to_owned(),
    };
    match format.letter {
        'a' => {
            let pairs: Array = hash
                .iter()
                .map(|(key, entry)| {
                    let key = Value::new(key.clone(), entry.key);
                    let origin = entry.value.origin;
                    let pair = Array::from(vec![key, entry.value.clone()]);
                    Value::new(pair, origin)
                })
                .collect();
            return put(&Datum::Array(pairs), map, indent);
        }
        'h' | 's' | 'p' => {}
        _ => return Err(format.refused("Hash", "hasp")),
    }
    let indent = Indent {
        active: format.alternative() || indent.active,
        ..indent
    };
    let mut buffer = String::new();
    if indent.breaks() {
        buffer.push('\n');
        buffer.push_str(&indent.padding());
    }
    let within = indent.deeper(false);
    let padding = match format.alternative() {
        true => within.padding(),
        false => String::new(),
    };
    buffer.push_str(open);
    if format.alternative() {
        buffer.push('\n');
    }
    for (index, (key, entry)) in hash.iter().enumerate() {
        if index > 0 {
            buffer.push_str(&separator);
        }
        buffer.push_str(&padding);
        buffer.push_str(&put_element(key, map, elements, within)?);
        buffer.push_str(arrow);
        buffer.push_str(&put_element(&entry.value.datum, map, elements, within)?);
    }
    if format.alternative() {
        buffer.push('\n');
        buffer.push_str(&indent.padding());
    }
    buffer.push_str(close);
    Ok(buffer)
}

fn trim_end(buffer: &mut String) {
    let end = buffer
        .trim_end_matches(|char: char| char.is_ascii_whitespace() || matches!(char, '\x0b' | '\0'))
        .len();
    buffer.truncate(end);
}
