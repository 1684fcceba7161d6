//! How a type is written, and texts and regular expressions within it.

use std::fmt::{self, Write};
use std::sync::Arc;

use crate::text;
use crate::value::{Datum, Object};

use super::alias::{self, Alias};
use super::{Case, Member, Range, Signature, Type};

impl fmt::Display for Type {
    /// As it would be written; an alias on its own also says what it stands for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = match self {
            Type::Alias(_) => Names::Explained(&mut Vec::new()),
            _ => Names::Plain,
        };
        write_type(f, self, names)
    }
}

impl Type {
    /// The type with what its aliases stand for: `Array[Port = Integer[1, 65535]]`.
    pub fn explained(&self) -> String {
        let mut text = String::new();
        write_type(&mut text, self, Names::Explained(&mut Vec::new()))
            .expect("a string takes everything");
        text
    }
}

/// What is said of an alias.
enum Names<'a> {
    /// Its name.
    Plain,
    /// And what it stands for, unless that is what is just being said.
    Explained(&'a mut Vec<*const Alias>),
}

impl Names<'_> {
    fn again(&mut self) -> Names<'_> {
        match self {
            Names::Plain => Names::Plain,
            Names::Explained(within) => Names::Explained(within),
        }
    }
}

fn write_type(out: &mut dyn Write, kind: &Type, mut names: Names<'_>) -> fmt::Result {
    match kind {
        Type::Integer(Range::ALL) => out.write_str("Integer"),
        Type::Integer(range) => write!(out, "Integer[{}]", Bounds(range)),
        Type::Float(range) => {
            let from = match range.min {
                f64::NEG_INFINITY if range.max == f64::INFINITY => return out.write_str("Float"),
                f64::NEG_INFINITY => "default".into(),
                min => text::float(min),
            };
            match range.max {
                f64::INFINITY => write!(out, "Float[{from}]"),
                max => write!(out, "Float[{from}, {}]", text::float(max)),
            }
        }
        Type::Boolean(Some(bool)) => write!(out, "Boolean[{bool}]"),
        Type::String(Some(size)) => write!(out, "String[{}]", Bounds(size)),
        Type::Collection(Some(size)) => write!(out, "Collection[{}]", Bounds(size)),
        Type::Enum(values, case) if !values.is_empty() => {
            out.write_str("Enum[")?;
            for (index, value) in values.iter().enumerate() {
                separate(out, index)?;
                out.write_str(&quote(value))?;
            }
            if *case == Case::Insensitive {
                out.write_str(", true")?;
            }
            out.write_char(']')
        }
        Type::Pattern(patterns) if !patterns.is_empty() => {
            out.write_str("Pattern[")?;
            for (index, pattern) in patterns.iter().enumerate() {
                separate(out, index)?;
                out.write_str(&text::pattern(pattern))?;
            }
            out.write_char(']')
        }
        Type::Regexp(Some(pattern)) => write!(out, "Regexp[{}]", text::pattern(pattern)),
        Type::Array(_, Some(size)) if *size == Range::exactly(0) => out.write_str("Array[0, 0]"),
        Type::Hash(_, _, Some(size)) if *size == Range::exactly(0) => out.write_str("Hash[0, 0]"),
        Type::Array(element, size) => match (&**element, size) {
            (Type::Any, None) => out.write_str("Array"),
            (element, size) => {
                out.write_str("Array[")?;
                write_type(out, element, names)?;
                write_size(out, *size)?;
                out.write_char(']')
            }
        },
        Type::Hash(key, value, size) => match (&**key, &**value, size) {
            (Type::Any, Type::Any, None) => out.write_str("Hash"),
            (key, value, size) => {
                out.write_str("Hash[")?;
                write_type(out, key, names.again())?;
                out.write_str(", ")?;
                write_type(out, value, names)?;
                write_size(out, *size)?;
                out.write_char(']')
            }
        },
        Type::Tuple(types, size) if !types.is_empty() => {
            out.write_str("Tuple[")?;
            write_types(out, types, names)?;
            write_size(out, *size)?;
            out.write_char(']')
        }
        Type::Struct(members) if !members.is_empty() => {
            out.write_str("Struct[{")?;
            for (index, member) in members.iter().enumerate() {
                separate(out, index)?;
                write_member(out, member, names.again())?;
            }
            out.write_str("}]")
        }
        Type::Variant(types) if !types.is_empty() => {
            out.write_str("Variant[")?;
            write_types(out, types, names)?;
            out.write_char(']')
        }
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => {
            write!(out, "{}[", kind.name())?;
            match &**inner {
                Type::Exactly(text) => out.write_str(&quote(text))?,
                inner => write_type(out, inner, names)?,
            }
            out.write_char(']')
        }
        Type::Type(Some(inner)) | Type::Iterable(Some(inner)) | Type::Iterator(Some(inner)) => {
            write!(out, "{}[", kind.name())?;
            write_type(out, inner, names)?;
            out.write_char(']')
        }
        Type::Sensitive(inner) => match &**inner {
            Type::Any => out.write_str("Sensitive"),
            inner => {
                out.write_str("Sensitive[")?;
                write_type(out, inner, names)?;
                out.write_char(']')
            }
        },
        Type::Callable(Some(signature)) => write_signature(out, signature, names),
        Type::Resource(Some(name), title) => {
            out.write_str(&text::capitalised_name(name))?;
            match title {
                Some(title) => write!(out, "[{}]", quote(title)),
                None => Ok(()),
            }
        }
        Type::Class(Some(name)) => write!(out, "Class[{name}]"),
        Type::Timestamp(from, to) if from.is_some() || to.is_some() => write_moments(
            out,
            "Timestamp",
            from.map(|from| from.to_string()),
            to.map(|to| to.to_string()),
        ),
        Type::Timespan(from, to) if from.is_some() || to.is_some() => write_moments(
            out,
            "Timespan",
            from.map(|from| from.to_string()),
            to.map(|to| to.to_string()),
        ),
        Type::SemVer(ranges) if !ranges.is_empty() => {
            out.write_str("SemVer[")?;
            for (index, range) in ranges.iter().enumerate() {
                separate(out, index)?;
                write!(out, "'{range}'")?;
            }
            out.write_char(']')
        }
        Type::Uri(Some(parts)) => {
            out.write_str("URI[")?;
            write_literal(out, &Datum::Hash((**parts).clone()), names)?;
            out.write_char(']')
        }
        Type::Runtime(Some(runtime), name) => {
            let name = name.as_ref().map_or("undef".into(), |name| quote(name));
            write!(out, "Runtime[{runtime}, {name}]")
        }
        Type::Init(Some(init)) => {
            out.write_str("Init[")?;
            write_type(out, &init.0, names.again())?;
            for value in &init.1 {
                out.write_str(", ")?;
                write_literal(out, &value.datum, names.again())?;
            }
            out.write_char(']')
        }
        Type::Alias(alias) => {
            out.write_str(alias.name())?;
            let Names::Explained(within) = names else {
                return Ok(());
            };
            let itself = Arc::as_ptr(alias);
            if alias::is_built_in(alias.name()) || within.contains(&itself) {
                return Ok(());
            }
            match alias.body() {
                Some(body) => {
                    out.write_str(" = ")?;
                    within.push(itself);
                    let written = write_type(out, body, Names::Explained(&mut *within));
                    within.pop();
                    written
                }
                None => Ok(()),
            }
        }
        Type::Reference(name) => write!(out, "TypeReference[{}]", quote(name)),
        plain => out.write_str(&plain.name()),
    }
}

/// From and to, as arguments.
struct Bounds<'a>(&'a Range);

impl fmt::Display for Bounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.min {
            Some(min) => write!(f, "{min}")?,
            None => f.write_str("default")?,
        }
        match self.0.max {
            Some(max) => write!(f, ", {max}"),
            None => Ok(()),
        }
    }
}

fn separate(out: &mut dyn Write, index: usize) -> fmt::Result {
    match index {
        0 => Ok(()),
        _ => out.write_str(", "),
    }
}

fn write_size(out: &mut dyn Write, size: Option<Range>) -> fmt::Result {
    match size {
        Some(size) => write!(out, ", {}", Bounds(&size)),
        None => Ok(()),
    }
}

fn write_types(out: &mut dyn Write, types: &[Type], mut names: Names<'_>) -> fmt::Result {
    for (index, kind) in types.iter().enumerate() {
        separate(out, index)?;
        write_type(out, kind, names.again())?;
    }
    Ok(())
}

fn write_moments(
    out: &mut dyn Write,
    name: &str,
    from: Option<String>,
    to: Option<String>,
) -> fmt::Result {
    match &from {
        Some(from) => write!(out, "{name}['{from}'")?,
        None => write!(out, "{name}[default")?,
    }
    match &to {
        Some(_) if from == to => {}
        Some(to) => write!(out, ", '{to}'")?,
        None => {}
    }
    out.write_char(']')
}

/// What the key says is only said where the value does not say it already.
fn write_member(out: &mut dyn Write, member: &Member, names: Names<'_>) -> fmt::Result {
    let name = quote(&member.name);
    match (member.optional, member.value.assignable(&Type::Undef)) {
        (true, false) => write!(out, "Optional[{name}] => ")?,
        (false, true) => write!(out, "NotUndef[{name}] => ")?,
        _ => write!(out, "{name} => ")?,
    }
    write_type(out, &member.value, names)
}

fn write_signature(
    out: &mut dyn Write,
    signature: &Signature,
    mut names: Names<'_>,
) -> fmt::Result {
    out.write_str("Callable[")?;
    if signature.returns.is_some() {
        out.write_char('[')?;
    }
    let mut index = 0;
    for kind in signature.parameters.iter() {
        if !matches!(kind, Type::Unit) {
            separate(out, index)?;
            write_type(out, kind, names.again())?;
            index += 1;
        }
    }
    let size = match signature.parameters.is_empty() {
        true => Some(Range::exactly(0)),
        false => signature.size,
    };
    if let Some(size) = size {
        separate(out, index)?;
        write!(out, "{}", Bounds(&size))?;
        index += 1;
    }
    if let Some(block) = &signature.block {
        separate(out, index)?;
        write_type(out, block, names.again())?;
    }
    if let Some(returns) = &signature.returns {
        out.write_str("], ")?;
        write_type(out, returns, names)?;
    }
    out.write_char(']')
}

/// A value as it would be written in a manifest.
fn write_literal(out: &mut dyn Write, datum: &Datum, mut names: Names<'_>) -> fmt::Result {
    match datum {
        Datum::Undef => out.write_str("undef"),
        Datum::Text(text) => out.write_str(&quote(text)),
        Datum::Array(array) => {
            out.write_char('[')?;
            for (index, value) in array.iter().enumerate() {
                separate(out, index)?;
                write_literal(out, &value.datum, names.again())?;
            }
            out.write_char(']')
        }
        Datum::Hash(hash) => {
            out.write_char('{')?;
            for (index, (key, entry)) in hash.iter().enumerate() {
                separate(out, index)?;
                write_literal(out, key, names.again())?;
                out.write_str(" => ")?;
                write_literal(out, &entry.value.datum, names.again())?;
            }
            out.write_char('}')
        }
        Datum::Type(kind) => write_type(out, kind, names),
        Datum::Timestamp(_) | Datum::Timespan(_) | Datum::SemVer(_) | Datum::SemVerRange(_) => {
            write!(out, "'{}'", text::text(datum))
        }
        Datum::Uri(uri) => write!(out, "URI({})", quote(&uri.to_string())),
        Datum::Sensitive(_) | Datum::Binary(_) => {
            write!(out, "Instance of {}", Type::reduced(datum))
        }
        other => out.write_str(&text::text(other)),
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.kind)?;
        write_literal(f, &Datum::Hash(self.attributes.clone()), Names::Plain)?;
        f.write_str(")")
    }
}

/// A text in quotes: single ones unless it has control characters.
pub fn quote(text: &str) -> String {
    if text.chars().any(|char| char < ' ') {
        return quote_double(text);
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    let mut escaped = false;
    for char in text.chars() {
        // A backslash takes the next character along, whichever it is.
        if !escaped && char == '\'' {
            quoted.push('\\');
        }
        escaped = !escaped && char == '\\';
        quoted.push(char);
    }
    quoted.push('\'');
    quoted
}

/// A text in double quotes.
pub fn quote_double(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '"' | '$' | '\\' => quoted.extend(['\\', char]),
            char if char < ' ' => {
                write!(quoted, "\\u{{{:X}}}", u32::from(char)).expect("a string takes everything");
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
