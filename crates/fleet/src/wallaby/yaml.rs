//! YAML with Ruby's tags, as a tree that knows its places.

use std::collections::HashMap;
use std::rc::Rc;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use saphyr_parser::{Event, Parser, ScalarStyle};

/// A dump that cannot be read.
pub const UNREADABLE: Code = Code::new("wallaby.unreadable");

/// Deeper than any dump.
const DEEPEST: usize = 32;

/// A piece of a document.
#[derive(Debug)]
pub(super) struct Yaml {
    pub at: u32,
    pub shape: Shape,
}

#[derive(Debug)]
pub(super) enum Shape {
    Scalar {
        text: String,
        /// Whether it stands without quotes and without a tag, so that it may be other than text.
        is_plain: bool,
    },
    List(Vec<Rc<Yaml>>),
    Map(Vec<(Rc<Yaml>, Rc<Yaml>)>),
}

impl Yaml {
    /// The place to point at.
    pub fn span(&self) -> Span {
        Span::at(self.at)
    }

    /// The text, if it is one; nothing for null.
    pub fn text(&self) -> Option<&str> {
        match &self.shape {
            Shape::Scalar { text, is_plain } => {
                let is_null = *is_plain && matches!(text.as_str(), "" | "~" | "null");
                (!is_null).then_some(text)
            }
            _ => None,
        }
    }

    /// Whether it is this word without quotes.
    pub fn is_plain(&self, word: &str) -> bool {
        matches!(&self.shape, Shape::Scalar { text, is_plain: true } if text == word)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Rc<Yaml>> {
        match &self.shape {
            Shape::Map(entries) => {
                let mut entries = entries.iter();
                let is_it = |(name, _): &&(Rc<Yaml>, Rc<Yaml>)| name.text() == Some(key);
                entries.find(is_it).map(|(_, value)| value)
            }
            _ => None,
        }
    }
}

/// The first document of a text that stands at an offset in the sources.
pub(super) fn read(text: &str, start: u32) -> Result<Rc<Yaml>, Box<Diagnostic>> {
    let bytes: Vec<u32> = match text.is_ascii() {
        true => Vec::new(),
        false => text.char_indices().map(|(at, _)| at as u32).collect(),
    };
    // The parser counts characters.
    let place = |character: usize| {
        let byte = match bytes.is_empty() {
            true => character,
            false => bytes
                .get(character)
                .map_or(text.len(), |byte| *byte as usize),
        };
        start + byte.min(text.len()) as u32
    };
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Rc<Yaml>> = HashMap::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = Span::at(place(error.marker().index()));
            Box::new(
                Diagnostic::error(UNREADABLE, format!("this is not YAML: {}", error.info())).at(at),
            )
        })?;
        let at = place(span.start.index());
        let wrong = |message: &str| {
            Err(Box::new(
                Diagnostic::error(UNREADABLE, message).at(Span::at(at)),
            ))
        };
        let (anchor, done) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                let text = text.into_owned();
                (anchor, Shape::Scalar { text, is_plain })
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                if open.len() == DEEPEST {
                    return wrong("no dump of a store is as deep as this");
                }
                let is_map = matches!(event, Event::MappingStart(..));
                open.push(Open {
                    at,
                    anchor,
                    is_map,
                    parts: Vec::new(),
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let closed = open.pop().expect("the parser balances its events");
                let anchor = closed.anchor;
                let yaml = Rc::new(closed.close());
                if anchor > 0 {
                    anchors.insert(anchor, Rc::clone(&yaml));
                }
                match open.last_mut() {
                    Some(open) => open.parts.push(yaml),
                    None => return Ok(yaml),
                }
                continue;
            }
            Event::Alias(anchor) => {
                let Some(yaml) = anchors.get(&anchor).cloned() else {
                    return wrong("this alias stands for nothing that came before it");
                };
                match open.last_mut() {
                    Some(open) => open.parts.push(yaml),
                    None => return Ok(yaml),
                }
                continue;
            }
            _ => continue,
        };
        let yaml = Rc::new(Yaml { at, shape: done });
        if anchor > 0 {
            anchors.insert(anchor, Rc::clone(&yaml));
        }
        match open.last_mut() {
            Some(open) => open.parts.push(yaml),
            None => return Ok(yaml),
        }
    }
    let at = Span::at(start);
    Err(Box::new(
        Diagnostic::error(UNREADABLE, "there is nothing in it").at(at),
    ))
}

/// A list or a mapping that has not ended; the keys and values of a mapping alternate.
struct Open {
    at: u32,
    anchor: usize,
    is_map: bool,
    parts: Vec<Rc<Yaml>>,
}

impl Open {
    fn close(self) -> Yaml {
        let shape = match self.is_map {
            false => Shape::List(self.parts),
            true => {
                let pair = |pair: &[Rc<Yaml>]| (Rc::clone(&pair[0]), Rc::clone(&pair[1]));
                Shape::Map(self.parts.chunks_exact(2).map(pair).collect())
            }
        };
        Yaml { at: self.at, shape }
    }
}
