//! Reads the declarations of a document type: those in the document, and those in a file.
//!
//! Parameter entities are texts that stand in the place of their references, so there is a stack of texts, and the
//! innermost is read.

use std::collections::HashSet;

use elsa::FrozenVec;
use hence_model::diagnostic::Diagnostic;
use hence_model::source::{FileId, Sources, Span};

use crate::cursor::{Cursor, Trouble, is_name_start, is_space};
use crate::document::beside;
use crate::dtd::{AttributeType, Content, DTD, Default, Dtd, ElementType, Values};
use crate::entities::{self, BUDGET, ENCODING, Entity, Named};
use crate::model::{Builder, LARGEST, Part};
use crate::validity;

/// So deep groups of a content model may be nested.
const GROUPS: usize = 128;
/// So deep parameter entities may be nested.
const PARAMETERS: usize = 40;

/// Reads what stands between `[` and `]` in a document.
pub(crate) fn internal(cursor: &mut Cursor<'_>, dtd: &mut Dtd) -> Result<(), Trouble> {
    let texts = FrozenVec::new();
    let mut reader = Reader {
        texts: &texts,
        inputs: vec![(cursor.clone(), None)],
        dtd,
        within: Within::Document,
        budget: BUDGET,
    };
    reader.all()?;
    cursor.at = reader.cursor().at;
    cursor.expect("]")
}

/// Reads a file of declarations. What is declared already stays as it is.
pub fn external(sources: &Sources, file: FileId, dtd: &mut Dtd) -> Result<(), Trouble> {
    let texts = FrozenVec::new();
    let mut cursor = Cursor::of(sources, sources.span(file));
    cursor.eat("\u{feff}");
    if cursor.sees("<?xml")
        && cursor
            .rest()
            .as_bytes()
            .get(5)
            .copied()
            .is_some_and(is_space)
    {
        let start = cursor.at;
        let text = cursor.until("?>", "declaration")?;
        let encoding = text.split("encoding").nth(1).unwrap_or("utf-8");
        if !encoding.to_ascii_lowercase().contains("utf-8") {
            let message = "the encoding must be UTF-8";
            let trouble = Diagnostic::error(ENCODING, message).at(cursor.since(start));
            return Err(Box::new(trouble));
        }
    }
    let mut reader = Reader {
        texts: &texts,
        inputs: vec![(cursor, None)],
        dtd,
        within: Within::File,
        budget: BUDGET,
    };
    reader.all()
}

/// `SYSTEM "file"` or `PUBLIC "name" "file"`: the file.
pub(crate) fn external_name(cursor: &mut Cursor<'_>) -> Result<Span, Trouble> {
    if cursor.eat("PUBLIC") {
        cursor.some_space()?;
        public_name(cursor)?;
    } else {
        cursor.expect("SYSTEM")?;
    }
    cursor.some_space()?;
    system_name(cursor)
}

fn system_name(cursor: &mut Cursor<'_>) -> Result<Span, Trouble> {
    let start = cursor.at + 1;
    let name = cursor.quoted("the name of a file")?;
    Ok(cursor.span(start, start + name.len()))
}

fn public_name(cursor: &mut Cursor<'_>) -> Result<(), Trouble> {
    let start = cursor.at + 1;
    let name = cursor.quoted("a public name")?;
    let is_bad = |c: char| !c.is_ascii_alphanumeric() && !" \r\n-'()+,./:=?;!*#@$_%".contains(c);
    match name.char_indices().find(|(_, c)| is_bad(*c)) {
        None => Ok(()),
        Some((place, bad)) => {
            let place = start + place;
            let message = "this may not stand in a public name";
            Err(cursor.fail(place, place + bad.len_utf8(), message))
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Document,
    File,
}

/// A text, and the parameter entity it comes from.
type Input<'t> = (Cursor<'t>, Option<String>);

struct Reader<'t, 'd> {
    texts: &'t FrozenVec<String>,
    inputs: Vec<Input<'t>>,
    dtd: &'d mut Dtd,
    within: Within,
    /// What parameter entities may still come to.
    budget: usize,
}

impl<'t> Reader<'t, '_> {
    fn cursor(&mut self) -> &mut Cursor<'t> {
        let input = self.inputs.last_mut();
        &mut input.expect("the outermost text stays").0
    }

    /// Whether parameter entities may stand within declarations here.
    fn has_parameters(&self) -> bool {
        self.within == Within::File || self.inputs.len() > 1
    }

    fn all(&mut self) -> Result<(), Trouble> {
        let mut included = 0;
        loop {
            self.pass(true)?;
            let outermost = self.inputs.len() == 1;
            let within = self.within;
            let may_choose = self.has_parameters();
            let cursor = self.cursor();
            let start = cursor.at;
            if outermost && within == Within::Document && cursor.sees("]") {
                return Ok(());
            } else if outermost && cursor.is_at_end() {
                if within == Within::Document {
                    return Err(cursor.unexpected("`]`"));
                }
                return match included {
                    0 => Ok(()),
                    _ => Err(cursor.unexpected("`]]>`")),
                };
            } else if included > 0 && cursor.eat("]]>") {
                included -= 1;
            } else if cursor.sees("<!--") || cursor.sees("<?") {
                beside(cursor)?;
            } else if may_choose && cursor.eat("<![") {
                self.pass(true)?;
                if self.cursor().eat("INCLUDE") {
                    self.pass(true)?;
                    self.cursor().expect("[")?;
                    included += 1;
                } else {
                    self.cursor().expect("IGNORE")?;
                    self.pass(true)?;
                    self.cursor().expect("[")?;
                    self.ignored()?;
                }
            } else if cursor.eat("<!ELEMENT") {
                self.element(start)?;
            } else if cursor.eat("<!ATTLIST") {
                self.attributes()?;
            } else if cursor.eat("<!ENTITY") {
                self.entity()?;
            } else if cursor.eat("<!NOTATION") {
                self.notation()?;
            } else {
                return Err(cursor.unexpected("a declaration"));
            }
        }
    }

    /// What is left out, with what is left out in it.
    fn ignored(&mut self) -> Result<(), Trouble> {
        let cursor = self.cursor();
        let mut open = 1;
        while open > 0 {
            let rest = cursor.rest();
            let ends = rest.find("]]>");
            let Some(end) = ends else {
                return Err(cursor.unexpected("`]]>`"));
            };
            match rest.find("<![").filter(|begin| *begin < end) {
                Some(begin) => {
                    open += 1;
                    cursor.at += begin + 3;
                }
                None => {
                    open -= 1;
                    cursor.at += end + 3;
                }
            }
        }
        Ok(())
    }

    /// Passes white space, the ends of texts, and references to parameter entities where they may stand.
    fn pass(&mut self, references: bool) -> Result<bool, Trouble> {
        let mut passed = false;
        loop {
            passed |= self.cursor().space();
            if self.inputs.len() > 1 && self.cursor().is_at_end() {
                self.inputs.pop();
                passed = true;
                continue;
            }
            let mut behind = self.cursor().rest().chars();
            let is_reference =
                behind.next() == Some('%') && behind.next().is_some_and(is_name_start);
            if !is_reference || !references && !self.has_parameters() {
                return Ok(passed);
            }
            self.parameter()?;
            passed = true;
        }
    }

    fn space(&mut self) -> Result<bool, Trouble> {
        self.pass(false)
    }

    fn some_space(&mut self) -> Result<(), Trouble> {
        match self.space()? {
            true => Ok(()),
            false => Err(self.cursor().unexpected("white space")),
        }
    }

    /// Goes on with the text of a parameter entity.
    fn parameter(&mut self) -> Result<(), Trouble> {
        let (name, span) = self.parameter_name()?;
        let text = self.parameter_text(&name, span)?;
        let is_open = |input: &Input<'_>| input.1.as_ref() == Some(&name);
        if self.inputs.len() > PARAMETERS || self.inputs.iter().any(is_open) {
            let message =
                format!("`%{name};` leads to itself, or is nested deeper than {PARAMETERS}");
            return Err(Box::new(Diagnostic::error(crate::SYNTAX, message).at(span)));
        }
        let text = self.texts.push_get(text);
        self.inputs.push((Cursor::instead(text, span), Some(name)));
        Ok(())
    }

    fn parameter_name(&mut self) -> Result<(String, Span), Trouble> {
        let cursor = self.cursor();
        let start = cursor.at;
        cursor.expect("%")?;
        let name = cursor.name()?.to_owned();
        cursor.expect(";")?;
        Ok((name, cursor.since(start)))
    }

    fn parameter_text(&mut self, name: &str, span: Span) -> Result<String, Trouble> {
        let fail = |code, message: String| Err(Box::new(Diagnostic::error(code, message).at(span)));
        let text = match self.dtd.parameters.get(name) {
            None => return fail(crate::SYNTAX, format!("nothing declares `%{name};`")),
            Some(None) => {
                let message = format!("`%{name};` is a file, and nothing is ever fetched");
                let trouble = Diagnostic::error(entities::ENTITY, message).at(span);
                let help = "put all declarations into one file, and name it with `--dtd FILE`";
                return Err(Box::new(trouble.help(help)));
            }
            Some(Some(text)) => text.clone(),
        };
        match self.budget.checked_sub(text.len() + 1) {
            Some(left) => self.budget = left,
            None => {
                let message = format!("parameter entities stand for more than {BUDGET} bytes");
                return fail(entities::ENTITY, message);
            }
        }
        Ok(text)
    }

    fn name(&mut self) -> Result<String, Trouble> {
        Ok(self.cursor().name()?.to_owned())
    }

    fn end(&mut self) -> Result<(), Trouble> {
        self.space()?;
        self.cursor().expect(">")
    }

    fn mistake(&mut self, span: Span, message: String) {
        self.dtd
            .mistakes
            .push(Diagnostic::error(DTD, message).at(span));
    }

    fn element(&mut self, start: usize) -> Result<(), Trouble> {
        self.some_space()?;
        let name = self.name()?;
        let span = self.cursor().since(start);
        self.some_space()?;
        let content = if self.cursor().eat("EMPTY") {
            Content::Empty
        } else if self.cursor().eat("ANY") {
            Content::Any
        } else {
            self.cursor().expect("(")?;
            self.space()?;
            match self.cursor().eat("#PCDATA") {
                true => Content::Mixed(self.mixed(&name, span)?),
                false => {
                    let mut builder = Builder::default();
                    let all = self.group(&mut builder, 1)?;
                    Content::Elements(Box::new(builder.finish(all)))
                }
            }
        };
        self.end()?;
        match self.dtd.elements.get(&name) {
            Some(first) => {
                let first = first.span;
                self.mistake(span, format!("the element `{name}` is declared twice"));
                let last = self.dtd.mistakes.pop().expect("it was just put there");
                self.dtd.mistakes.push(last.label(first, "first here"));
            }
            None => drop(
                self.dtd
                    .elements
                    .insert(name, ElementType { span, content }),
            ),
        }
        Ok(())
    }

    /// Behind `(#PCDATA`.
    fn mixed(&mut self, name: &str, span: Span) -> Result<HashSet<String>, Trouble> {
        let mut names = HashSet::new();
        loop {
            self.space()?;
            if self.cursor().eat(")") {
                let is_starred = self.cursor().eat("*");
                return match names.is_empty() || is_starred {
                    true => Ok(names),
                    false => Err(self.cursor().unexpected("`*`")),
                };
            }
            self.cursor().expect("|")?;
            self.space()?;
            let child = self.name()?;
            if !names.insert(child.clone()) {
                self.mistake(
                    span,
                    format!("`{child}` is twice in the content of `{name}`"),
                );
            }
        }
    }

    /// Behind `(`.
    fn group(&mut self, builder: &mut Builder, depth: usize) -> Result<Part, Trouble> {
        if depth > GROUPS {
            let message = format!("groups are nested deeper than {GROUPS}");
            let at = self.cursor().at;
            return Err(self.cursor().fail(at, at, message));
        }
        let mut all = self.particle(builder, depth)?;
        let mut between = None;
        loop {
            self.space()?;
            let cursor = self.cursor();
            if cursor.eat(")") {
                return Ok(self.occurrence(builder, all));
            }
            let mark = match between {
                None if cursor.sees(",") => ",",
                None if cursor.sees("|") => "|",
                None => return Err(cursor.unexpected("`,`, `|` or `)`")),
                Some(mark) => mark,
            };
            cursor.expect(mark)?;
            between = Some(mark);
            let next = self.particle(builder, depth)?;
            all = match mark {
                "," => builder.sequence(all, next),
                _ => builder.choice(all, next),
            };
        }
    }

    fn particle(&mut self, builder: &mut Builder, depth: usize) -> Result<Part, Trouble> {
        self.space()?;
        if self.cursor().eat("(") {
            return self.group(builder, depth + 1);
        }
        let start = self.cursor().at;
        let name = self.name()?;
        let Some(part) = builder.name(&name) else {
            let message = format!("a content model has more than {LARGEST} names");
            let trouble = Diagnostic::error(DTD, message).at(self.cursor().since(start));
            return Err(Box::new(trouble));
        };
        Ok(self.occurrence(builder, part))
    }

    fn occurrence(&mut self, builder: &mut Builder, part: Part) -> Part {
        let cursor = self.cursor();
        if cursor.eat("?") {
            builder.optional(part)
        } else if cursor.eat("+") {
            builder.repeated(part)
        } else if cursor.eat("*") {
            let part = builder.repeated(part);
            builder.optional(part)
        } else {
            part
        }
    }

    fn attributes(&mut self) -> Result<(), Trouble> {
        self.some_space()?;
        let element = self.name()?;
        loop {
            let spaced = self.space()?;
            if self.cursor().eat(">") {
                return Ok(());
            }
            if !spaced {
                return Err(self.cursor().unexpected("`>` or white space"));
            }
            self.attribute(&element)?;
        }
    }

    fn attribute(&mut self, element: &str) -> Result<(), Trouble> {
        let start = self.cursor().at;
        let name = self.name()?;
        let span = self.cursor().since(start);
        self.some_space()?;
        let kind = self.values()?;
        self.some_space()?;
        let default = if self.cursor().eat("#REQUIRED") {
            Default::Required
        } else if self.cursor().eat("#IMPLIED") {
            Default::Implied
        } else if self.cursor().eat("#FIXED") {
            self.some_space()?;
            Default::Fixed(self.value()?)
        } else {
            Default::Value(self.value()?)
        };
        let attribute = AttributeType {
            span,
            name,
            kind,
            default,
        };
        self.dtd.attributes.entry(element.to_owned()).or_default();
        let known = &self.dtd.attributes[element];
        // Of two declarations, the first holds.
        if known.iter().any(|one| one.name == attribute.name) {
            return Ok(());
        }
        if let Some(message) = validity::declaration(element, &attribute, known) {
            self.mistake(span, message);
        }
        if let Some(known) = self.dtd.attributes.get_mut(element) {
            known.push(attribute);
        }
        Ok(())
    }

    /// The value of an attribute as it is declared, with its references expanded.
    fn value(&mut self) -> Result<String, Trouble> {
        let cursor = self.cursor();
        let start = cursor.at + 1;
        let text = cursor.quoted("a value")?;
        entities::check_value(cursor, start, text)?;
        let span = cursor.since(start - 1);
        entities::expand_default(self.dtd, text, span)
    }

    fn values(&mut self) -> Result<Values, Trouble> {
        const WORDS: [(&str, Values); 8] = [
            ("CDATA", Values::Text),
            ("IDREFS", Values::Idrefs),
            ("IDREF", Values::Idref),
            ("ID", Values::Id),
            ("ENTITY", Values::Entity),
            ("ENTITIES", Values::Entities),
            ("NMTOKENS", Values::Nmtokens),
            ("NMTOKEN", Values::Nmtoken),
        ];
        for (word, values) in WORDS {
            if self.cursor().eat(word) {
                return Ok(values);
            }
        }
        let is_notation = self.cursor().eat("NOTATION");
        if is_notation {
            self.some_space()?;
        }
        self.cursor().expect("(")?;
        let mut words: Vec<String> = Vec::new();
        loop {
            self.space()?;
            let start = self.cursor().at;
            let word = match is_notation {
                true => self.cursor().name()?.to_owned(),
                false => self.cursor().token()?.to_owned(),
            };
            if words.contains(&word) {
                let span = self.cursor().since(start);
                self.mistake(span, format!("`{word}` is listed twice"));
            }
            words.push(word);
            self.space()?;
            if self.cursor().eat(")") {
                return Ok(match is_notation {
                    true => Values::Notation(words),
                    false => Values::Enumeration(words),
                });
            }
            self.cursor().expect("|")?;
        }
    }

    fn entity(&mut self) -> Result<(), Trouble> {
        self.some_space()?;
        let is_parameter = self.cursor().eat("%");
        if is_parameter {
            self.some_space()?;
        }
        let name = self.name()?;
        self.some_space()?;
        let is_text = matches!(self.cursor().peek(), Some(b'"' | b'\''));
        let entity = if is_text {
            Entity::Text(self.entity_text()?)
        } else {
            external_name(self.cursor())?;
            let spaced = self.space()?;
            match spaced && !is_parameter && self.cursor().eat("NDATA") {
                true => {
                    self.some_space()?;
                    self.name()?;
                    Entity::Unparsed
                }
                false => Entity::External,
            }
        };
        self.end()?;
        // Of two declarations, the first holds.
        match is_parameter {
            true => {
                let text = match entity {
                    Entity::Text(text) => Some(text),
                    _ => None,
                };
                self.dtd.parameters.entry(name).or_insert(text);
            }
            false => drop(self.dtd.entities.entry(name).or_insert(entity)),
        }
        Ok(())
    }

    /// The text of an entity: references to characters and parameters are replaced, others stay.
    fn entity_text(&mut self) -> Result<String, Trouble> {
        let within = self.has_parameters();
        let cursor = self.cursor();
        let start = cursor.at + 1;
        let raw = cursor.quoted("a text")?;
        let mut inside = cursor.clone();
        let mut text = String::new();
        let mut from = 0;
        while let Some(place) = raw[from..].find(['&', '%']) {
            text.push_str(&raw[from..from + place]);
            let place = from + place;
            inside.at = start + place;
            if raw[place..].starts_with('%') {
                inside.eat("%");
                let name = inside.name()?.to_owned();
                inside.expect(";")?;
                let span = inside.since(start + place);
                if !within {
                    let message =
                        "in a document, parameter entities may stand between declarations only";
                    return Err(inside.fail(start + place, inside.at, message));
                }
                text.push_str(&self.parameter_text(&name, span)?);
            } else {
                match entities::reference(&mut inside)? {
                    Named::Character(character) if raw[place..].starts_with("&#") => {
                        text.push(character);
                    }
                    _ => text.push_str(&raw[place..inside.at - start]),
                }
            }
            from = inside.at - start;
        }
        text.push_str(&raw[from..]);
        Ok(text)
    }

    fn notation(&mut self) -> Result<(), Trouble> {
        self.some_space()?;
        let name = self.name()?;
        self.some_space()?;
        if self.cursor().eat("PUBLIC") {
            self.some_space()?;
            public_name(self.cursor())?;
            let spaced = self.space()?;
            if spaced && !self.cursor().sees(">") {
                system_name(self.cursor())?;
            }
        } else {
            external_name(self.cursor())?;
        }
        self.end()?;
        self.dtd.notations.insert(name);
        Ok(())
    }
}
