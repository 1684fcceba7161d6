//! JSON, and values as code of other languages.

use ecow::EcoString;

use super::{ANY, Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::trace::Origin;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "to_json",
        (1, 1),
        "to_json(Any $value) >> String: a value as JSON",
        |evaluator, call| to_json(evaluator, call, &TIGHT),
    ),
    plain(
        "stdlib::to_json",
        (1, 1),
        "stdlib::to_json(Any $value) >> String: a value as JSON",
        |evaluator, call| to_json(evaluator, call, &TIGHT),
    ),
    plain(
        "to_json_pretty",
        (1, 3),
        "to_json_pretty(Variant[Hash, Array] $value, Boolean $skip_undef = false, Hash $options = {}) >> String: a value as JSON on many lines; options are indent, space, space_before, object_nl and array_nl",
        to_json_pretty,
    ),
    plain(
        "stdlib::to_json_pretty",
        (1, 3),
        "stdlib::to_json_pretty(Variant[Hash, Array] $value, Boolean $skip_undef = false, Hash $options = {}) >> String: a value as JSON on many lines",
        to_json_pretty,
    ),
    plain(
        "parsejson",
        (1, ANY),
        "parsejson(String $text, Any $default): the value that a JSON text stands for, or a default if it is none",
        parse_json,
    ),
    plain(
        "parsepson",
        (1, 2),
        "parsepson(String[1] $text, Any $default): the array or hash that a JSON text stands for, or a default if it is none",
        parse_pson,
    ),
    plain(
        "stdlib::parsejson",
        (1, ANY),
        "stdlib::parsejson(String $text, Any $default): the value that a JSON text stands for, or a default if it is none",
        parse_json,
    ),
    plain(
        "to_ruby",
        (1, 1),
        "to_ruby(Any $value) >> String: a value as code of Ruby",
        |evaluator, call| {
            let words = Words {
                undef: "nil",
                yes: "true",
                no: "false",
                arrow: " => ",
            };
            as_code(evaluator, call, &words)
        },
    ),
    plain(
        "to_python",
        (1, 1),
        "to_python(Any $value) >> String: a value as code of Python",
        |evaluator, call| {
            let words = Words {
                undef: "None",
                yes: "True",
                no: "False",
                arrow: ": ",
            };
            as_code(evaluator, call, &words)
        },
    ),
];

/// What stands between the parts of a JSON text.
struct Style {
    indent: EcoString,
    space: EcoString,
    space_before: EcoString,
    object_end: EcoString,
    array_end: EcoString,
}

const TIGHT: Style = Style {
    indent: EcoString::inline(""),
    space: EcoString::inline(""),
    space_before: EcoString::inline(""),
    object_end: EcoString::inline(""),
    array_end: EcoString::inline(""),
};

const PRETTY: Style = Style {
    indent: EcoString::inline("  "),
    space: EcoString::inline(" "),
    space_before: EcoString::inline(""),
    object_end: EcoString::inline("\n"),
    array_end: EcoString::inline("\n"),
};

fn to_json<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>, style: &Style) -> Outcome {
    let mut text = EcoString::new();
    match write_json(&mut text, &call.arguments[0].datum, style, 0) {
        Ok(()) => call.text_result(evaluator, text),
        Err(why) => call.wrong(0, why),
    }
}

fn to_json_pretty<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let skips = match call.arguments.get(1).map(|skip| &skip.datum) {
        None | Some(Datum::Undef) => false,
        Some(_) => call.flag(evaluator, 1)?,
    };
    let mut style = PRETTY;
    let mut deepest = Some(100);
    if call.arguments.get(2).is_some() {
        for (name, entry) in call.hash(evaluator, 2)?.iter() {
            let name = crate::text::text(name);
            let part = match name.as_str() {
                "indent" => &mut style.indent,
                "space" => &mut style.space,
                "space_before" => &mut style.space_before,
                "object_nl" => &mut style.object_end,
                "array_nl" => &mut style.array_end,
                "allow_nan" if matches!(entry.value.datum, Datum::Bool(_)) => continue,
                "max_nesting" => {
                    let Datum::Integer(levels) = entry.value.datum else {
                        return call.wrong(2, "`max_nesting` is a whole number");
                    };
                    deepest = u32::try_from(levels).ok().filter(|levels| *levels > 0);
                    continue;
                }
                _ => return call.wrong(2, format!("there is no option `{name}`")),
            };
            match &entry.value.datum {
                Datum::Undef => *part = EcoString::new(),
                Datum::Text(text) => *part = text.clone(),
                _ => return call.wrong(2, format!("`{name}` is text")),
            }
        }
    }
    let datum = match &call.arguments[0].datum {
        Datum::Array(array) if skips => {
            let kept = array.iter().filter(|value| !value.is_undef());
            Datum::Array(kept.cloned().collect())
        }
        Datum::Hash(hash) if skips => {
            Datum::Hash(super::arrays::with_values(hash, |value| !value.is_undef()))
        }
        datum @ (Datum::Array(_) | Datum::Hash(_)) => datum.clone(),
        _ => return call.unexpected(evaluator, 0, "an array or a hash"),
    };
    if deepest.is_some_and(|deepest| datum.depth() > deepest) {
        return call.wrong(0, "the value nests too deep");
    }
    let mut text = EcoString::new();
    if let Err(why) = write_json(&mut text, &datum, &style, 0) {
        return call.wrong(0, why);
    }
    text.push('\n');
    call.text_result(evaluator, text)
}

fn write_json(
    out: &mut EcoString,
    datum: &Datum,
    style: &Style,
    level: usize,
) -> Result<(), String> {
    if out.len() > super::arguments::LONGEST_TEXT {
        return Ok(());
    }
    match datum {
        Datum::Undef => out.push_str("null"),
        Datum::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Datum::Float(float) if !float.is_finite() => {
            return Err("there is no such number in JSON".to_owned());
        }
        Datum::Integer(_) | Datum::Float(_) => out.push_str(&ruby::text(datum)),
        Datum::Array(array) => {
            out.push('[');
            out.push_str(&style.array_end);
            for (number, value) in array.iter().enumerate() {
                if number > 0 {
                    out.push(',');
                    out.push_str(&style.array_end);
                }
                indent(out, style, level + 1);
                write_json(out, &value.datum, style, level + 1)?;
            }
            // An empty array has two ends of lines in it, an empty hash one: so does the real one.
            out.push_str(&style.array_end);
            indent(out, style, level);
            out.push(']');
        }
        Datum::Hash(hash) => {
            out.push('{');
            for (number, (key, entry)) in hash.iter().enumerate() {
                if number > 0 {
                    out.push(',');
                }
                out.push_str(&style.object_end);
                indent(out, style, level + 1);
                write_json_text(out, &ruby::text(key));
                out.push_str(&style.space_before);
                out.push(':');
                out.push_str(&style.space);
                write_json(out, &entry.value.datum, style, level + 1)?;
            }
            out.push_str(&style.object_end);
            indent(out, style, level);
            out.push('}');
        }
        other => write_json_text(out, &ruby::text(other)),
    }
    Ok(())
}

fn indent(out: &mut EcoString, style: &Style, level: usize) {
    for _ in 0..level {
        if out.len() <= super::arguments::LONGEST_TEXT {
            out.push_str(&style.indent);
        }
    }
}

fn write_json_text(out: &mut EcoString, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\0'..='\x1f' => out.push_str(&ecow::eco_format!("\\u{:04x}", u32::from(char))),
            other => out.push(other),
        }
    }
    out.push('"');
}

fn parse_json<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let default = call
        .arguments
        .get(1)
        .filter(|default| default.datum.is_true());
    let origin = evaluator
        .trace
        .operation(call.at, [call.arguments[0].origin]);
    let read = match &call.arguments[0].datum {
        Datum::Text(text) => read_json(text, origin),
        _ => Err("expected text".to_owned()),
    };
    match (read, default.cloned()) {
        (Ok(value), _) if value.datum.is_true() => evaluator.shallow(value, call.at.span),
        (Ok(value), None) if call.arguments.len() < 2 => {
            let is_false = matches!(value.datum, Datum::Bool(_));
            // What is not true is replaced by the default, also where there is none.
            let datum = if is_false { Datum::Undef } else { value.datum };
            Ok(Value { datum, ..value })
        }
        (Ok(_), None) => Ok(call.arguments[1].clone()),
        (_, Some(default)) => Ok(call.handed_on(evaluator, default)),
        (Err(why), None) => call.wrong(0, format!("this is no JSON: {why}")),
    }
}

fn parse_pson<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let text = call.text(evaluator, 0)?;
    if text.is_empty() {
        return call.unexpected(evaluator, 0, "text that is not empty");
    }
    let origin = evaluator
        .trace
        .operation(call.at, [call.arguments[0].origin]);
    let read = read_json(text, origin).and_then(|value| match value.datum {
        Datum::Array(_) | Datum::Hash(_) => Ok(value),
        _ => Err("expected an array or a hash".to_owned()),
    });
    match (read, call.arguments.get(1).cloned()) {
        (Ok(value), _) => evaluator.shallow(value, call.at.span),
        (Err(_), Some(default)) => Ok(call.handed_on(evaluator, default)),
        (Err(why), None) => call.wrong(0, format!("this is no PSON: {why}")),
    }
}

/// Levels that a JSON text may have.
const DEEPEST_JSON: u32 = 100;

pub(crate) fn read_json(text: &str, origin: Origin) -> Result<Value, String> {
    let mut reader = Json {
        text,
        at: 0,
        origin,
    };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    match reader.at == text.len() {
        true => Ok(value),
        false => Err(reader.unexpected()),
    }
}

struct Json<'a> {
    text: &'a str,
    at: usize,
    origin: Origin,
}

impl Json<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn unexpected(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some(char) => format!("unexpected `{char}` at byte {}", self.at),
            None => "it ends too early".to_owned(),
        }
    }

    fn blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blanks = rest.trim_start_matches([' ', '\t', '\n', '\r']);
            self.at += rest.len() - blanks.len();
            let comment = match blanks.as_bytes() {
                [b'/', b'*', ..] => blanks[2..].find("*/").map(|end| end + 4),
                [b'/', b'/', ..] => blanks.find('\n'),
                _ => None,
            };
            match comment {
                Some(length) => self.at += length,
                None => return,
            }
        }
    }

    fn value(&mut self, level: u32) -> Result<Value, String> {
        if level > DEEPEST_JSON {
            return Err(format!("it nests more than {DEEPEST_JSON} levels deep"));
        }
        let datum = match self.peek() {
            Some(b'{') => return self.object(level),
            Some(b'[') => return self.array(level),
            Some(b'"') => Datum::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ if self.take("null") => Datum::Undef,
            _ if self.take("true") => Datum::Bool(true),
            _ if self.take("false") => Datum::Bool(false),
            _ => return Err(self.unexpected()),
        };
        Ok(Value::new(datum, self.origin))
    }

    fn object(&mut self, level: u32) -> Result<Value, String> {
        self.at += 1;
        let mut entries = Vec::new();
        self.blanks();
        if !self.take("}") {
            loop {
                self.blanks();
                if self.peek() != Some(b'"') {
                    return Err(self.unexpected());
                }
                let key = Value::new(self.string()?, self.origin);
                self.blanks();
                if !self.take(":") {
                    return Err(self.unexpected());
                }
                self.blanks();
                entries.push((key, self.value(level + 1)?));
                self.blanks();
                if self.take("}") {
                    break;
                }
                if !self.take(",") {
                    return Err(self.unexpected());
                }
            }
        }
        Ok(Value::new(
            entries.into_iter().collect::<Hash>(),
            self.origin,
        ))
    }

    fn array(&mut self, level: u32) -> Result<Value, String> {
        self.at += 1;
        let mut values = Vec::new();
        self.blanks();
        if !self.take("]") {
            loop {
                self.blanks();
                values.push(self.value(level + 1)?);
                self.blanks();
                if self.take("]") {
                    break;
                }
                if !self.take(",") {
                    return Err(self.unexpected());
                }
            }
        }
        Ok(Value::new(Array::from(values), self.origin))
    }

    fn string(&mut self) -> Result<EcoString, String> {
        self.at += 1;
        let mut string = EcoString::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(|char: char| matches!(char, '"' | '\\' | '\0'..='\x1f'));
            let Some(end) = end else {
                return Err("a text is not closed".to_owned());
            };
            string.push_str(&rest[..end]);
            self.at += end;
            if self.take("\"") {
                return Ok(string);
            }
            if !self.take("\\") {
                return Err(self.unexpected());
            }
            let Some(letter) = self.text[self.at..].chars().next() else {
                return Err(self.unexpected());
            };
            self.at += letter.len_utf8();
            string.push(match letter {
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => self.unicode()?,
                other => other,
            });
        }
    }

    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hexadecimal()?;
        let is_half = |unit: u32, from: u32| (from..from + 0x400).contains(&unit);
        if is_half(first, 0xd800) && self.take("\\u") {
            let second = self.hexadecimal()?;
            if is_half(second, 0xdc00) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(code).ok_or_else(|| self.unexpected());
            }
            return Err("half a character stands alone".to_owned());
        }
        char::from_u32(first).ok_or_else(|| "half a character stands alone".to_owned())
    }

    fn hexadecimal(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        number.ok_or_else(|| "a character has four hexadecimal digits".to_owned())
    }

    fn number(&mut self) -> Result<Datum, String> {
        let start = self.at;
        let digits = |reader: &mut Self| {
            let from = reader.at;
            while reader.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                reader.at += 1;
            }
            reader.at > from
        };
        self.take("-");
        let is_zero = self.peek() == Some(b'0');
        let whole = self.at;
        if !digits(self) || is_zero && self.at > whole + 1 {
            return Err(self.unexpected());
        }
        let mut is_float = false;
        if self.take(".") {
            is_float = true;
            if !digits(self) {
                return Err(self.unexpected());
            }
        }
        if self.take("e") || self.take("E") {
            is_float = true;
            let _ = self.take("+") || self.take("-");
            if !digits(self) {
                return Err(self.unexpected());
            }
        }
        let text = &self.text[start..self.at];
        let number = match is_float {
            true => text.parse().ok().map(Datum::Float),
            false => text.parse().ok().map(Datum::Integer),
        };
        number.ok_or_else(|| format!("{text} is too large a number"))
    }
}

/// How a language writes what others write otherwise.
struct Words {
    undef: &'static str,
    yes: &'static str,
    no: &'static str,
    arrow: &'static str,
}

fn as_code<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>, words: &Words) -> Outcome {
    fn write(out: &mut EcoString, datum: &Datum, words: &Words) -> bool {
        match datum {
            Datum::Undef => out.push_str(words.undef),
            Datum::Bool(bool) => out.push_str(if *bool { words.yes } else { words.no }),
            Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => {
                out.push_str(&ruby::inspect(datum));
            }
            Datum::Array(array) => {
                out.push('[');
                for (number, value) in array.iter().enumerate() {
                    if number > 0 {
                        out.push_str(", ");
                    }
                    if !write(out, &value.datum, words) {
                        return false;
                    }
                }
                out.push(']');
            }
            Datum::Hash(hash) => {
                out.push('{');
                for (number, (key, entry)) in hash.iter().enumerate() {
                    if number > 0 {
                        out.push_str(", ");
                    }
                    if !matches!(key, Datum::Text(_)) || !write(out, key, words) {
                        return false;
                    }
                    out.push_str(words.arrow);
                    if !write(out, &entry.value.datum, words) {
                        return false;
                    }
                }
                out.push('}');
            }
            _ => return false,
        }
        true
    }
    let mut text = EcoString::new();
    if !write(&mut text, &call.arguments[0].datum, words) {
        return call.wrong(0, "only what JSON knows can be written as code");
    }
    call.text_result(evaluator, text)
}
