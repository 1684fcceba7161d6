//! YAML and TOML.
//!
//! What Ruby writes as YAML depends on three who decide one after the other: Ruby chooses a style for a text, the
//! emitter of `libyaml` looks whether the text can have it there, and lines are broken while they are written.
//! Programs compare such files by their bytes, so all three are followed.

use std::sync::OnceLock;

use ecow::EcoString;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{ANY, Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::lookup::{scalar, yaml};
use crate::pattern::Pattern;
use crate::trace::Origin;
use crate::value::{Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "to_yaml",
        (1, 2),
        "to_yaml(Any $value, Hash $options = {}) >> String: a value as YAML; options are indentation and line_width",
        to_yaml,
    ),
    plain(
        "stdlib::to_yaml",
        (1, 2),
        "stdlib::to_yaml(Any $value, Hash $options = {}) >> String: a value as YAML; options are indentation and line_width",
        to_yaml,
    ),
    plain(
        "parseyaml",
        (1, ANY),
        "parseyaml(String $text, Any $default): the value that a YAML text stands for, or a default if it is none",
        parse_yaml,
    ),
    plain(
        "stdlib::parseyaml",
        (1, ANY),
        "stdlib::parseyaml(String $text, Any $default): the value that a YAML text stands for, or a default if it is none",
        parse_yaml,
    ),
    plain(
        "to_toml",
        (1, 1),
        "to_toml(Hash $value) >> String: a hash as TOML",
        to_toml,
    ),
    plain(
        "stdlib::to_toml",
        (1, 1),
        "stdlib::to_toml(Hash $value) >> String: a hash as TOML",
        to_toml,
    ),
];

fn parse_yaml<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let origin = evaluator
        .trace
        .operation(call.at, [call.arguments[0].origin]);
    let read = match &call.arguments[0].datum {
        Datum::Text(text) => read(text, origin),
        _ => Err("expected text".to_owned()),
    };
    let default = call.arguments.get(1).cloned();
    match (read, default) {
        (Ok(value), _) if value.datum.is_true() => evaluator.shallow(value, call.at.span),
        (Ok(_), None) => Ok(Value::new(Datum::Undef, origin)),
        (Ok(_), Some(default)) => Ok(call.handed_on(evaluator, default)),
        (Err(_), Some(default)) if default.datum.is_true() => {
            Ok(call.handed_on(evaluator, default))
        }
        (Err(why), _) => call.wrong(0, format!("this is no YAML: {why}")),
    }
}

fn read(text: &str, origin: Origin) -> Result<Value, String> {
    let document = yaml::read(text, 0).map_err(|trouble| trouble.message)?;
    match document.unfit.into_values().next() {
        Some(trouble) => Err(trouble.message),
        None => Ok(computed(&document.value.datum, origin)),
    }
}

/// A value all of which comes from one computation.
fn computed(datum: &Datum, origin: Origin) -> Value {
    let datum = match datum {
        Datum::Array(array) => {
            let elements = array.iter().map(|value| computed(&value.datum, origin));
            Datum::Array(elements.collect())
        }
        Datum::Hash(hash) => {
            let entries = hash
                .iter()
                .map(|(key, entry)| (computed(key, origin), computed(&entry.value.datum, origin)));
            Datum::Hash(entries.collect())
        }
        other => other.clone(),
    };
    Value::new(datum, origin)
}

fn to_yaml<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let mut writer = Writer {
        step: 2,
        ..Writer::default()
    };
    if call.arguments.len() > 1 {
        for (name, entry) in call.hash(evaluator, 1)?.iter() {
            let name = crate::text::text(name);
            match (name.as_str(), &entry.value.datum) {
                ("indentation", Datum::Integer(indentation)) => {
                    // Other widths are not taken.
                    let step = i32::try_from(*indentation).unwrap_or(0);
                    writer.step = if (2..=9).contains(&step) { step } else { 2 };
                }
                ("line_width", Datum::Integer(width)) => {
                    writer.folded = usize::try_from(*width).ok();
                    writer.width = *width;
                }
                ("indentation" | "line_width", _) => {
                    return call.wrong(1, format!("`{name}` is a whole number"));
                }
                ("canonical", Datum::Bool(false) | Datum::Undef) => {}
                ("canonical" | "header" | "version", _) => {
                    return call.wrong(1, format!("the option `{name}` is not known here"));
                }
                _ => {}
            }
        }
    }
    writer.width = match writer.width {
        width if width < 0 => i64::MAX,
        width if width <= i64::from(writer.step) * 2 => 80,
        width => width,
    };
    match writer.document(&call.arguments[0].datum) {
        Ok(text) => call.text_result(evaluator, text),
        Err(why) => call.wrong(0, why),
    }
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// What a scalar is, before it is known how it can be written.
struct Scalar {
    text: EcoString,
    style: Style,
    tag: &'static str,
    /// Whether it is the same with quotes as without.
    is_text: bool,
}

/// What a text can be written as.
struct Analysis {
    is_multiline: bool,
    plain: bool,
    single: bool,
    block: bool,
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Element,
    Key,
    Value,
}

/// The emitter, at some place of the text.
#[derive(Default)]
struct Writer {
    out: EcoString,
    column: i64,
    /// Whether the last character was a blank that separates.
    whitespace: bool,
    /// Whether there is nothing but indicators in this line so far.
    indention: bool,
    indent: i32,
    step: i32,
    width: i64,
    /// Longer texts are folded.
    folded: Option<usize>,
    /// Whether the end of the last scalar has to be marked.
    open_ended: bool,
    /// The numbers of arrays and hashes that stand at several places.
    anchors: FxHashMap<usize, u32>,
    written: FxHashSet<usize>,
}

impl Writer {
    fn document(mut self, datum: &Datum) -> Result<EcoString, String> {
        self.find_shared(datum, &mut FxHashSet::default());
        self.indent = -1;
        self.indention = true;
        self.indicator("---", true, false, false);
        self.node(datum, Place::Root)?;
        self.new_line();
        if self.open_ended {
            self.indicator("...", true, false, false);
            self.new_line();
        }
        Ok(self.out)
    }

    /// Numbers what is met a second time, in that order.
    fn find_shared(&mut self, datum: &Datum, seen: &mut FxHashSet<usize>) {
        let Some(address) = datum.address() else {
            return;
        };
        if !seen.insert(address) {
            let next = self.anchors.len() as u32 + 1;
            self.anchors.entry(address).or_insert(next);
            return;
        }
        match datum {
            Datum::Array(array) => {
                for value in array.iter() {
                    self.find_shared(&value.datum, seen);
                }
            }
            Datum::Hash(hash) => {
                for (key, entry) in hash.iter() {
                    self.find_shared(key, seen);
                    self.find_shared(&entry.value.datum, seen);
                }
            }
            _ => {}
        }
    }

    fn node(&mut self, datum: &Datum, place: Place) -> Result<(), String> {
        if self.out.len() > super::arguments::LONGEST_TEXT {
            return Ok(());
        }
        let address = datum.address();
        if let Some((address, number)) = address.and_then(|it| Some((it, *self.anchors.get(&it)?)))
        {
            let is_first = self.written.insert(address);
            let mark = if is_first { "&" } else { "*" };
            self.indicator(&format!("{mark}{number}"), true, false, false);
            if !is_first {
                return Ok(());
            }
        }
        match datum {
            Datum::Array(array) if array.is_empty() => {
                self.indicator("[", true, true, false);
                self.indicator("]", false, false, false);
            }
            Datum::Hash(hash) if hash.is_empty() => {
                self.indicator("{", true, true, false);
                self.indicator("}", false, false, false);
            }
            Datum::Array(array) => {
                // The dashes of an array that is the value of a key stand below the key.
                let stays = place == Place::Value && !self.indention;
                let outer = self.deeper(0, stays);
                for value in array.iter() {
                    self.new_line();
                    self.indicator("-", true, false, true);
                    self.node(&value.datum, Place::Element)?;
                }
                self.indent = outer;
            }
            Datum::Hash(hash) => {
                let outer = self.deeper(0, false);
                for (key, entry) in hash.iter() {
                    self.new_line();
                    if self.is_simple(key)? {
                        self.node(key, Place::Key)?;
                        self.indicator(":", false, false, false);
                    } else {
                        self.indicator("?", true, false, true);
                        self.node(key, Place::Element)?;
                        self.new_line();
                        self.indicator(":", true, false, true);
                    }
                    self.node(&entry.value.datum, Place::Value)?;
                }
                self.indent = outer;
            }
            other => {
                let scalar = self.scalar(other)?;
                self.write_scalar(&scalar, place);
            }
        }
        Ok(())
    }

    /// One level deeper; what comes back is the indentation to return to.
    fn deeper(&mut self, first: i32, stays: bool) -> i32 {
        let outer = self.indent;
        self.indent = match outer {
            ..0 => first,
            outer if stays => outer,
            outer => outer + self.step,
        };
        outer
    }

    /// Whether a key fits into a line with its colon.
    fn is_simple(&self, key: &Datum) -> Result<bool, String> {
        Ok(match key {
            Datum::Array(array) => array.is_empty(),
            Datum::Hash(hash) => hash.is_empty(),
            other => {
                let scalar = self.scalar(other)?;
                let length = scalar.text.len() + scalar.tag.len();
                !analyse(&scalar.text).is_multiline && length <= 128
            }
        })
    }

    fn scalar(&self, datum: &Datum) -> Result<Scalar, String> {
        let word = |text: EcoString| Scalar {
            text,
            style: Style::Plain,
            tag: "",
            is_text: false,
        };
        Ok(match datum {
            Datum::Undef => word(EcoString::new()),
            Datum::Default => word(":default".into()),
            Datum::Float(float) if float.is_nan() => word(".nan".into()),
            Datum::Float(float) if float.is_infinite() => {
                word(if *float > 0.0 { ".inf" } else { "-.inf" }.into())
            }
            Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) => word(ruby::text(datum)),
            Datum::Pattern(_) => Scalar {
                tag: "!ruby/regexp",
                ..word(ruby::inspect(datum))
            },
            Datum::Text(text) => Scalar {
                text: text.clone(),
                style: self.style(text),
                tag: if text == "<<" { "!!str" } else { "" },
                is_text: true,
            },
            Datum::Sensitive(_) => return Err("a secret is not written into a text".to_owned()),
            other => {
                let kind = crate::types::Type::reduced(other);
                return Err(format!("there is no such value in YAML: {kind}"));
            }
        })
    }

    /// The style that Ruby wishes for a text.
    fn style(&self, text: &str) -> Style {
        let Wishes {
            lines,
            mark,
            no_octal,
        } = wishes();
        let is_text = |text| matches!(scalar::read(text), scalar::Scalar::Datum(Datum::Text(_)));
        match text {
            _ if lines.is_match(text) => Style::Literal,
            "<<" => Style::Single,
            "y" | "n" => Style::Double,
            _ if self.folded.is_some_and(|most| text.chars().count() > most) => Style::Folded,
            _ if mark.is_match(text) => Style::Double,
            _ if !is_text(text) || no_octal.is_match(text) => Style::Single,
            _ => Style::Plain,
        }
    }

    fn write_scalar(&mut self, scalar: &Scalar, place: Place) {
        let can = analyse(&scalar.text);
        let is_key = place == Place::Key;
        let mut style = scalar.style;
        if style == Style::Plain && (!can.plain || scalar.text.is_empty() && is_key) {
            style = Style::Single;
        }
        if style == Style::Single && !can.single {
            style = Style::Double;
        }
        if matches!(style, Style::Literal | Style::Folded) && (!can.block || is_key) {
            style = Style::Double;
        }
        let tag = match scalar.tag {
            "" if !scalar.is_text && style != Style::Plain => "!",
            tag => tag,
        };
        if !tag.is_empty() {
            self.indicator(tag, true, false, false);
        }
        let outer = self.deeper(self.step, false);
        let characters: Vec<char> = scalar.text.chars().collect();
        match style {
            Style::Plain => self.write_plain(&characters, !is_key),
            Style::Single => self.write_single(&characters, !is_key),
            Style::Double => self.write_double(&characters, !is_key),
            Style::Literal | Style::Folded => self.write_block(&characters, style),
        }
        self.indent = outer;
    }

    fn write_plain(&mut self, text: &[char], may_break: bool) {
        self.open_ended = false;
        if !self.whitespace && !text.is_empty() {
            self.put(' ');
        }
        let mut after_space = false;
        for (at, char) in text.iter().enumerate() {
            let is_space = *char == ' ';
            let breaks = may_break && is_space && !after_space && self.column > self.width;
            match breaks && text.get(at + 1) != Some(&' ') {
                true => self.new_line(),
                false => self.put(*char),
            }
            after_space = is_space;
        }
        self.whitespace = false;
        self.indention = false;
    }

    fn write_single(&mut self, text: &[char], may_break: bool) {
        self.indicator("'", true, false, false);
        let (mut after_space, mut after_break) = (false, false);
        for (at, char) in text.iter().enumerate() {
            let is_inside = at > 0 && at + 1 < text.len();
            match char {
                ' ' => {
                    let breaks = may_break && !after_space && self.column > self.width;
                    match breaks && is_inside && text.get(at + 1) != Some(&' ') {
                        true => self.new_line(),
                        false => self.put(' '),
                    }
                    after_space = true;
                }
                char if is_break(*char) => {
                    if !after_break && *char == '\n' {
                        self.end_line();
                    }
                    self.put_break(*char);
                    self.indention = true;
                    after_break = true;
                }
                char => {
                    if after_break {
                        self.new_line();
                    }
                    if *char == '\'' {
                        self.put('\'');
                    }
                    self.put(*char);
                    self.indention = false;
                    (after_space, after_break) = (false, false);
                }
            }
        }
        if after_break {
            self.new_line();
        }
        self.indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_double(&mut self, text: &[char], may_break: bool) {
        self.indicator("\"", true, false, false);
        let mut after_space = false;
        for (at, char) in text.iter().enumerate() {
            let is_inside = at > 0 && at + 1 < text.len();
            let is_space = *char == ' ';
            if !is_printable(*char) || is_break(*char) || matches!(char, '"' | '\\') {
                for char in escape(*char).chars() {
                    self.put(char);
                }
            } else if is_space && may_break && !after_space && self.column > self.width && is_inside
            {
                self.new_line();
                if text.get(at + 1) == Some(&' ') {
                    self.put('\\');
                }
            } else {
                self.put(*char);
            }
            after_space = is_space;
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_block(&mut self, text: &[char], style: Style) {
        let folds = style == Style::Folded;
        self.indicator(if folds { ">" } else { "|" }, true, false, false);
        self.hints(text);
        self.end_line();
        self.indention = true;
        self.whitespace = true;
        let (mut after_break, mut is_indented) = (true, true);
        for (at, char) in text.iter().enumerate() {
            if is_break(*char) {
                if folds && !after_break && !is_indented && *char == '\n' {
                    let behind = text[at..].iter().find(|char| !is_break(**char));
                    if !is_blank(behind.copied()) {
                        self.end_line();
                    }
                }
                self.put_break(*char);
                self.indention = true;
                after_break = true;
                continue;
            }
            if after_break {
                self.new_line();
                is_indented = matches!(char, ' ' | '\t');
            }
            let folds_here = folds && !after_break && *char == ' ' && self.column > self.width;
            match folds_here && text.get(at + 1) != Some(&' ') {
                true => self.new_line(),
                false => self.put(*char),
            }
            self.indention = false;
            after_break = false;
        }
    }

    /// How deep a block stands, if its first line does not tell, and how it ends.
    fn hints(&mut self, text: &[char]) {
        if text
            .first()
            .is_some_and(|first| *first == ' ' || is_break(*first))
        {
            let hint = self.step.to_string();
            self.indicator(&hint, false, false, false);
        }
        self.open_ended = false;
        match text {
            [.., one, last] if is_break(*one) && is_break(*last) => self.keeps(),
            [last] if is_break(*last) => self.keeps(),
            [.., last] if is_break(*last) => {}
            _ => self.indicator("-", false, false, false),
        }
    }

    fn keeps(&mut self) {
        self.indicator("+", false, false, false);
        self.open_ended = true;
    }

    fn indicator(&mut self, mark: &str, needs_blank: bool, is_blank: bool, is_indention: bool) {
        if needs_blank && !self.whitespace && !self.out.is_empty() {
            self.put(' ');
        }
        for char in mark.chars() {
            self.put(char);
        }
        self.whitespace = is_blank;
        self.indention &= is_indention;
        // The end of a document is an indicator that does not change what it marks.
        self.open_ended &= mark == "...";
    }

    /// To the beginning of a line, unless it is the beginning of one.
    fn new_line(&mut self) {
        let indent = i64::from(self.indent.max(0));
        let is_behind = self.column > indent || self.column == indent && !self.whitespace;
        if !self.indention || is_behind {
            self.end_line();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn put(&mut self, char: char) {
        self.out.push(char);
        self.column += 1;
    }

    fn put_break(&mut self, char: char) {
        self.out.push(char);
        self.column = 0;
    }

    fn end_line(&mut self) {
        self.put_break('\n');
    }
}

/// When Ruby wishes another style than none.
struct Wishes {
    lines: Pattern,
    mark: Pattern,
    no_octal: Pattern,
}

fn wishes() -> &'static Wishes {
    static WISHES: OnceLock<Wishes> = OnceLock::new();
    let pattern = |text| Pattern::new(text).expect("it is well-formed");
    WISHES.get_or_init(|| Wishes {
        lines: pattern(r"\n(?!\Z)"),
        mark: pattern("^[^[:word:]][^\"]*$"),
        no_octal: pattern(r"\A0[0-7]*[89]"),
    })
}

/// What a text can be written as, outside of brackets (`yaml_emitter_analyze_scalar`).
fn analyse(text: &str) -> Analysis {
    let characters: Vec<char> = text.chars().collect();
    let mut is_indicator = text.starts_with("---") || text.starts_with("...");
    let (mut is_special, mut is_multiline) = (false, false);
    let (mut break_space, mut space_break) = (false, false);
    let mut previous = None;
    for (at, char) in characters.iter().enumerate() {
        let before_blank = is_blank(characters.get(at + 1).copied());
        is_indicator |= match char {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
            | '@' | '`'
                if at == 0 =>
            {
                true
            }
            '?' | '-' if at == 0 => before_blank,
            ':' => before_blank,
            '#' => is_blank(previous),
            _ => false,
        };
        is_special |= !is_printable(*char);
        is_multiline |= is_break(*char);
        break_space |= *char == ' ' && previous.is_some_and(is_break);
        space_break |= is_break(*char) && previous == Some(' ');
        previous = Some(*char);
    }
    let is_edge = |char: Option<&char>| char.is_some_and(|char| *char == ' ' || is_break(*char));
    let has_edges = is_edge(characters.first()) || is_edge(characters.last());
    let is_odd = space_break || is_special;
    Analysis {
        is_multiline,
        plain: !(has_edges || break_space || is_odd || is_multiline || is_indicator),
        single: !(break_space || is_odd),
        block: !text.is_empty() && !text.ends_with(' ') && !is_odd,
    }
}

fn is_break(char: char) -> bool {
    matches!(char, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether nothing, a blank or the end of a line stands there.
fn is_blank(char: Option<char>) -> bool {
    char.is_none_or(|char| matches!(char, ' ' | '\t' | '\0') || is_break(char))
}

/// Whether the emitter writes a character as it is.
fn is_printable(char: char) -> bool {
    matches!(char, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && char != '\u{feff}'
}

fn escape(char: char) -> String {
    let letter = match char {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        other => {
            return match u32::from(other) {
                code @ ..=0xff => format!("\\x{code:02X}"),
                code @ ..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{letter}")
}

fn to_toml<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let mut out = EcoString::new();
    match write_table(&mut out, call.hash(evaluator, 0)?, "", Table::Named) {
        Ok(()) => call.text_result(evaluator, out),
        Err(why) => call.wrong(0, why),
    }
}

/// What stands before the lines of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    /// `[a.b]`, if there are any lines
    Named,
    /// `[[a.b]]`, which is already written
    InList,
}

/// A table: lines, then the tables in it, then lists of tables, each by name.
fn write_table(out: &mut EcoString, hash: &Hash, prefix: &str, table: Table) -> Result<(), String> {
    let mut entries: Vec<(&Datum, &Datum)> = Vec::new();
    for (key, entry) in hash.iter() {
        entries.push((key, &entry.value.datum));
    }
    let first = entries.first().map(|(key, _)| *key);
    let comparable = |key: &Datum| first.is_some_and(|first| ruby::compare(first, key).is_some());
    if entries.len() > 1 && !entries.iter().all(|(key, _)| comparable(key)) {
        return Err("keys of different kinds have no order".to_owned());
    }
    entries.sort_by(|(one, _), (other, _)| {
        ruby::compare(one, other).unwrap_or(std::cmp::Ordering::Equal)
    });
    let is_list = |value: &Datum| matches!(value, Datum::Array(array) if array.get(0).is_some_and(Value::is_hash));
    let is_line = |value: &Datum| !matches!(value, Datum::Hash(_)) && !is_list(value);
    let has_lines = entries.iter().any(|(_, value)| is_line(value));
    if table == Table::Named && !prefix.is_empty() && (has_lines || hash.is_empty()) {
        out.push_str(&format!("[{prefix}]\n"));
    }
    for (key, value) in entries.iter().filter(|(_, value)| is_line(value)) {
        let shown = match value {
            Datum::Text(_) => toml_text(&ruby::inspect(value)),
            Datum::Pattern(_) => ruby::inspect(&Datum::Text(ruby::inspect(value))),
            Datum::Sensitive(_) => return Err("a secret is not written into a text".to_owned()),
            other => ruby::inspect(other),
        };
        out.push_str(&format!("{} = {shown}\n", toml_key(key)?));
    }
    let inner = |key: &Datum| {
        let key = toml_key(key)?;
        Ok::<_, String>(match prefix {
            "" => key,
            prefix => format!("{prefix}.{key}"),
        })
    };
    for (key, value) in &entries {
        if let Datum::Hash(hash) = value {
            write_table(out, hash, &inner(key)?, Table::Named)?;
        }
    }
    for (key, value) in entries.iter().filter(|(_, value)| is_list(value)) {
        let Datum::Array(children) = value else {
            continue;
        };
        let prefix = inner(key)?;
        for child in children.iter() {
            let Datum::Hash(child) = &child.datum else {
                return Err("a list of tables has something else in it".to_owned());
            };
            out.push_str(&format!("[[{prefix}]]\n"));
            write_table(out, child, &prefix, Table::InList)?;
        }
    }
    Ok(())
}

fn toml_key(key: &Datum) -> Result<String, String> {
    let text = ruby::text(key);
    let is_bare = |line: &str| {
        let mut bytes = line.bytes();
        bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    // One line that is bare is enough.
    match (text.split('\n').any(is_bare), key) {
        (true, _) => Ok(text.to_string()),
        (false, Datum::Text(text)) => Ok(format!("\"{}\"", text.as_str().replace('"', "\\\""))),
        (false, _) => Err("such a key cannot be written".to_owned()),
    }
}

/// Ruby escapes `#{`, `#$` and `#@`; TOML does not.
fn toml_text(inspected: &str) -> EcoString {
    let mut text = inspected.to_owned();
    for mark in ["#{", "#$", "#@"] {
        text = text.replace(&format!("\\{mark}"), mark);
    }
    text.into()
}
