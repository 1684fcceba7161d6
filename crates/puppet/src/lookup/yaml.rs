//! YAML to values that know their places.
//!
//! Anchored values are shared, not copied; how large a value would be if it were written out is counted while
//! reading, so that nobody who walks over it later walks for ever.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::scalar::{self, Scalar};
use crate::evaluate::DEEPEST_VALUE;
use crate::trace::Origin;
use crate::value::{Array, Datum, Hash, Value};

/// Data that cannot be read.
pub const DATA: Code = Code::new("puppet.data");
/// A key stands twice in one mapping.
pub const DUPLICATE_KEY: Code = Code::new("puppet.duplicate-key");

/// So many values a document may have, each alias counted as what it stands for.
const LARGEST: u64 = 1 << 20;

/// What a document says.
#[derive(Debug)]
pub struct Document {
    /// The value.
    pub value: Value,
    /// What is in it that no manifest can have, by the outermost key that it stands under.
    pub unfit: FxHashMap<EcoString, Diagnostic>,
    /// What is doubtful in it.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the first document of a text that stands at an offset in the sources.
pub fn read(text: &str, start: u32) -> Result<Document, Box<Diagnostic>> {
    let mut reader = Reader {
        places: Places::new(text, start),
        open: Vec::new(),
        anchors: FxHashMap::default(),
        whole: None,
        unfit: FxHashMap::default(),
        warnings: Vec::new(),
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = reader.places.offset(error.marker().index());
            Box::new(Diagnostic::error(DATA, words(error.info())).at(Span::at(at)))
        })?;
        let at = reader.places.offset(span.start.index());
        if let Event::DocumentEnd = event {
            break;
        }
        let at = match is_marked(&event) {
            true => reader.places.behind_marks(text, at),
            false => at,
        };
        reader.take(event, at)?;
    }
    let nothing = || Value::new(Datum::Undef, Origin::written(start));
    Ok(Document {
        value: reader.whole.unwrap_or_else(nothing),
        unfit: reader.unfit,
        warnings: reader.warnings,
    })
}

/// The parser counts characters; places are bytes.
struct Places {
    start: u32,
    end: u32,
    /// The byte at which each character begins, unless all are of one byte.
    bytes: Option<Vec<u32>>,
}

impl Places {
    fn new(text: &str, start: u32) -> Self {
        let bytes = || text.char_indices().map(|(at, _)| at as u32).collect();
        Self {
            start,
            end: text.len() as u32,
            bytes: (!text.is_ascii()).then(bytes),
        }
    }

    fn offset(&self, character: usize) -> u32 {
        let byte = match &self.bytes {
            Some(bytes) => bytes.get(character).copied().unwrap_or(self.end),
            None => character as u32,
        };
        self.start + byte.min(self.end)
    }
}

impl Places {
    /// Where a value begins behind its anchor and its tag.
    fn behind_marks(&self, text: &str, at: u32) -> u32 {
        let mut rest = text.get((at - self.start) as usize..).unwrap_or_default();
        while rest.starts_with(['&', '!']) {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest = rest[end..].trim_start();
        }
        self.start + self.end - rest.len() as u32
    }
}

/// Whether a value has an anchor or a tag before it.
fn is_marked(event: &Event<'_>) -> bool {
    match event {
        // Nothing at all is where its anchor is.
        Event::Scalar(text, ScalarStyle::Plain, ..) if text.is_empty() => false,
        Event::Scalar(_, _, anchor, tag) => *anchor > 0 || tag.is_some(),
        Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
            *anchor > 0 || tag.is_some()
        }
        _ => false,
    }
}

struct Reader {
    places: Places,
    open: Vec<Open>,
    anchors: FxHashMap<usize, Anchored>,
    whole: Option<Value>,
    unfit: FxHashMap<EcoString, Diagnostic>,
    warnings: Vec<Diagnostic>,
}

/// A list or a mapping that has not ended.
struct Open {
    at: u32,
    anchor: usize,
    size: u64,
    content: Content,
}

enum Content {
    List(Vec<Value>),
    Map { hash: Hash, key: Option<Key> },
}

struct Key {
    value: Value,
    merges: bool,
}

#[derive(Clone)]
struct Anchored {
    value: Value,
    size: u64,
}

/// How a value is written, which matters behind `<<`.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Scalar,
    List,
    /// A mapping, or an alias.
    Map,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, at: u32) -> Result<(), Box<Diagnostic>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let datum = self.scalar(&text, style, tag.as_deref(), at)?;
                let merges = text == "<<" && !tag.as_deref().is_some_and(|tag| is(tag, "str"));
                let value = Value::new(datum, Origin::written(at));
                self.anchor(anchor, &value, 1);
                self.place(value, 1, Form::Scalar, merges, at)
            }
            Event::SequenceStart(anchor, _) => self.open(Content::List(Vec::new()), anchor, at),
            Event::MappingStart(anchor, _) => {
                let (hash, key) = (Hash::from_iter([]), None);
                self.open(Content::Map { hash, key }, anchor, at)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else {
                    return Ok(());
                };
                let (datum, form): (Datum, Form) = match open.content {
                    Content::List(values) => (Array::from(values).into(), Form::List),
                    Content::Map { hash, .. } => (hash.into(), Form::Map),
                };
                let value = Value::new(datum, Origin::written(open.at));
                self.anchor(open.anchor, &value, open.size);
                self.place(value, open.size, form, false, open.at)
            }
            Event::Alias(anchor) => {
                let Some(Anchored { value, size }) = self.anchors.get(&anchor).cloned() else {
                    let message = "this alias stands for a value that it is itself a part of";
                    return Err(wrong(message, at));
                };
                self.place(value, size, Form::Map, false, at)
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, content: Content, anchor: usize, at: u32) -> Result<(), Box<Diagnostic>> {
        if self.open.len() >= DEEPEST_VALUE as usize {
            let message = format!("data are deeper than {DEEPEST_VALUE} levels");
            return Err(wrong(&message, at));
        }
        self.open.push(Open {
            at,
            anchor,
            size: 1,
            content,
        });
        Ok(())
    }

    fn anchor(&mut self, anchor: usize, value: &Value, size: u64) {
        if anchor > 0 {
            let value = value.clone();
            self.anchors.insert(anchor, Anchored { value, size });
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        at: u32,
    ) -> Result<Datum, Box<Diagnostic>> {
        if let Some(tag) = tag {
            if is(tag, "str") || (tag.suffix.is_empty() && tag.handle == "!") {
                return Ok(text.into());
            }
            if is(tag, "binary") {
                return match from_base64(text) {
                    Some(text) => Ok(text.into()),
                    None => Err(wrong("this is no text in base 64", at)),
                };
            }
            if tag.suffix.starts_with("ruby/") {
                let message = format!("`!{}` makes something that only Ruby has", tag.suffix);
                return Err(wrong(&message, at));
            }
        } else if style != ScalarStyle::Plain {
            return Ok(text.into());
        }
        let unfit = match scalar::read(text) {
            Scalar::Datum(Datum::Integer(integer)) if tag.is_some_and(|tag| is(tag, "float")) => {
                return Ok((integer as f64).into());
            }
            Scalar::Datum(datum) => return Ok(datum),
            Scalar::Moment => {
                let message = "dates and times can be data only as text";
                let help = format!("put it into quotes: `\"{text}\"`");
                let trouble = Diagnostic::error(DATA, message).at(Span::at(at));
                return Err(Box::new(trouble.help(help)));
            }
            // Keys may be symbols: they are read as text.
            Scalar::Symbol(name) if self.expects_key() => return Ok(name.into()),
            Scalar::Symbol(name) if name == "default" => return Ok(Datum::Default),
            Scalar::Symbol(name) => format!("`:{name}` is a symbol, which only Ruby has"),
            Scalar::Unfit(why) => format!("no manifest can have this value: {why}"),
        };
        let trouble = Diagnostic::error(DATA, unfit).at(Span::at(at));
        let trouble = trouble.help(format!("put it into quotes: `\"{text}\"`"));
        if let Some(key) = self.outermost_key() {
            self.unfit.entry(key).or_insert(trouble);
            return Ok(text.into());
        }
        Err(Box::new(trouble))
    }

    fn expects_key(&self) -> bool {
        let content = self.open.last().map(|open| &open.content);
        matches!(content, Some(Content::Map { key: None, .. }))
    }

    fn outermost_key(&self) -> Option<EcoString> {
        match &self.open.first()?.content {
            Content::Map { key: Some(key), .. } => match &key.value.datum {
                Datum::Text(text) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Puts a value where it belongs.
    fn place(
        &mut self,
        value: Value,
        size: u64,
        form: Form,
        merges: bool,
        at: u32,
    ) -> Result<(), Box<Diagnostic>> {
        if self.open.len() > 1 && self.expects_key() && !is_key(&value.datum) {
            let message = "a key is text or a number";
            let trouble = Diagnostic::error(DATA, message).at(Span::at(at));
            if let Some(key) = self.outermost_key() {
                self.unfit.entry(key).or_insert(trouble);
            }
        }
        let warnings = &mut self.warnings;
        let Some(open) = self.open.last_mut() else {
            self.whole = Some(value);
            return Ok(());
        };
        open.size = open.size.saturating_add(size);
        if open.size > LARGEST {
            let message = format!("with its aliases this has more than {LARGEST} values");
            return Err(wrong(&message, at));
        }
        match &mut open.content {
            Content::List(values) => values.push(value),
            Content::Map { hash, key } => match key.take() {
                None => *key = Some(Key { value, merges }),
                Some(key) => {
                    let merged = if key.merges {
                        merged(&value, form)
                    } else {
                        None
                    };
                    let mut entries = std::mem::take(hash);
                    match merged {
                        Some(merged) => {
                            for (key, entry) in merged.iter() {
                                let key = Value::new(key.clone(), entry.key);
                                entries = entries.with(key, entry.value.clone());
                            }
                        }
                        None => {
                            if let Some(first) = entries.entry(&key.value.datum) {
                                warnings.extend(twice(first.key, &key.value));
                            }
                            entries = entries.with(key.value, value);
                        }
                    }
                    *hash = entries;
                }
            },
        }
        Ok(())
    }
}

fn is_key(datum: &Datum) -> bool {
    matches!(datum, Datum::Text(_) | Datum::Integer(_) | Datum::Float(_))
}

/// The entries that `<<` brings: those of a mapping, or of several, the first of which count most.
fn merged(value: &Value, form: Form) -> Option<Hash> {
    match (&value.datum, form) {
        (Datum::Hash(hash), Form::Map) => Some(hash.clone()),
        (Datum::Array(array), Form::List) => {
            let mut all = Hash::default();
            for value in array.iter().rev() {
                let Datum::Hash(hash) = &value.datum else {
                    return None;
                };
                all = crate::evaluate::merged(&all, hash);
            }
            Some(all)
        }
        _ => None,
    }
}

fn twice(first: Origin, key: &Value) -> Option<Diagnostic> {
    let (first, second) = (first.offset()?, key.origin.offset()?);
    let message = format!(
        "the key `{}` stands here twice; the last one counts",
        crate::text::text(&key.datum)
    );
    let warning = Diagnostic::warning(DUPLICATE_KEY, message).at(Span::at(second));
    Some(warning.label(Span::at(first), "this one does not count"))
}

/// Text in base 64, read as leniently as Ruby does; none if what it stands for is no text.
fn from_base64(text: &str) -> Option<String> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count) = (0u32, 0);
    let mut bytes = Vec::new();
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let Some(value) = LETTERS.iter().position(|letter| *letter == byte) else {
            continue;
        };
        bits = (bits << 6 | value as u32) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

fn is(tag: &Tag, name: &str) -> bool {
    (tag.is_yaml_core_schema() || tag.handle == "!!" || tag.handle == "!") && tag.suffix == name
}

fn wrong(message: &str, at: u32) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(DATA, message).at(Span::at(at)))
}

/// The parser's words, as a headline.
fn words(info: &str) -> String {
    format!("this is not YAML: {}", info.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scalars of a text with the pieces of text at their places.
    fn places(text: &str) -> Vec<(String, String)> {
        let before = "é other file\n";
        let start = before.len() as u32;
        let sources = format!("{before}{text}");
        let document = read(text, start).unwrap();
        let mut found = Vec::new();
        let mut pending = vec![document.value];
        while let Some(value) = pending.pop() {
            let at = value.origin.offset().unwrap() as usize;
            match &value.datum {
                Datum::Array(array) => pending.extend(array.iter().rev().cloned()),
                Datum::Hash(hash) => {
                    for (key, entry) in hash.iter().rev() {
                        pending.push(entry.value.clone());
                        pending.push(Value::new(key.clone(), entry.key));
                    }
                }
                other => {
                    let end = sources[at..]
                        .find(['\n', ',', ']', '}'])
                        .unwrap_or(sources.len() - at);
                    let piece = sources[at..at + end].to_owned();
                    found.push((crate::text::text(other).to_string(), piece));
                }
            }
        }
        found
    }

    #[test]
    fn places_are_those_of_the_literals() {
        let text = "# ä comment 😀\r\nkéy: [één, \"zwéi ü\", 'drée']\r\n\"ß\": {a: 1, é: 2.5}\nblock: |\n  téxt\n\
                    last: &x é\nalias: *x\n";
        let expected = [
            ("kéy", "kéy: [één"),
            ("één", "één"),
            ("zwéi ü", "\"zwéi ü\""),
            ("drée", "'drée'"),
            ("ß", "\"ß\": {a: 1"),
            ("a", "a: 1"),
            ("1", "1"),
            ("é", "é: 2.5"),
            ("2.5", "2.5"),
            ("block", "block: |"),
            ("téxt\n", "téxt"),
            ("last", "last: &x é"),
            ("é", "é"),
            ("alias", "alias: *x"),
            ("é", "é"),
        ];
        let expected = expected.map(|(value, piece)| (value.to_owned(), piece.to_owned()));
        assert_eq!(places(text), expected);
    }

    #[test]
    fn mistakes_have_their_places() {
        let text = "é: 1\nü: [1, 2\nx: 3\n";
        let trouble = read(text, 10).unwrap_err();
        let at = trouble.labels[0].span.start as usize;
        assert!((10..=10 + text.len()).contains(&at), "{at}");
        assert_eq!(
            read("é: 2001-12-14\n", 10).unwrap_err().labels[0]
                .span
                .start,
            14
        );
    }

    #[test]
    fn aliases_cannot_make_a_value_that_nobody_can_walk_over() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..30 {
            let below = format!("*a{}", level - 1);
            let row = vec![below; 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{row}]\n"));
        }
        let trouble = read(&text, 0).unwrap_err();
        assert!(trouble.message.contains("aliases"), "{}", trouble.message);
        assert!(read("a: &a [*a]\n", 0).is_err());
        let deep = "[".repeat(100_000);
        assert!(read(&deep, 0).is_err());
    }

    /// Pieces of YAML in any order: there is an answer, and its places lie in the text.
    #[test]
    fn random_text_is_answered() {
        let pieces = [
            "a",
            "é",
            ": ",
            ":",
            "- ",
            "\n",
            "\n  ",
            "\n    ",
            " ",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "\"",
            "'",
            "|",
            ">",
            "&x ",
            "*x",
            "<<: ",
            "# ü\n",
            "!!str ",
            "!ruby/x ",
            "---\n",
            "...\n",
            "%YAML 1.1\n",
            "? ",
            "0x1f",
            "12:30",
            "~",
            "yes",
            "\t",
            "\\",
            "\r\n",
            "2001-12-14",
            ":b",
            "@",
            "`",
            "\u{feff}",
            "😀",
        ];
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        for _ in 0..20_000 {
            let count = 1 + next(24);
            let text: String = (0..count).map(|_| pieces[next(pieces.len())]).collect();
            let places = match read(&text, 7) {
                Ok(document) => vec![document.value.origin.offset().unwrap()],
                Err(trouble) => trouble
                    .labels
                    .iter()
                    .map(|label| label.span.start)
                    .collect(),
            };
            for place in places {
                let at = place as usize - 7;
                assert!(text.is_char_boundary(at), "{text:?}: {at}");
            }
        }
    }
}
