//! A document as a tree of pieces of text.
//!
//! Every node is a stretch of the sources, so what nobody touches is written as it was read, byte for byte, and what a
//! command brings in still knows the line of the command. Nodes stand in one arena; nothing recurses.

use hence_model::diagnostic::Diagnostic;
use hence_model::source::{FileId, Sources, Span};
use hence_model::unit::TOO_DEEP;
use hence_model::work;

use crate::cursor::{Cursor, Trouble, is_blank, is_space};
use crate::declarations;
use crate::dtd::Dtd;
use crate::entities;

/// So deep elements may be nested.
pub const DEPTH: usize = 2_000;

/// A node of a tree.
pub type Id = usize;

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// The text of it; of an element, the start tag without `>` or `/>`.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An element.
    Element(Box<Element>),
    /// Text, with references to characters in it.
    Text,
    /// A section in which markup is text.
    Cdata,
    /// A comment.
    Comment,
    /// A processing instruction.
    Instruction,
    /// A reference to an entity that the document declares.
    Reference(Span),
}

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its name, as it is written: a prefix is a part of it.
    pub name: Span,
    /// Its attributes.
    pub attributes: Box<[Attribute]>,
    /// The end tag; none if it was written `<name/>`.
    pub close: Option<Span>,
    /// What is in it.
    pub children: Vec<Id>,
}

/// An attribute, as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Span,
    /// Its value, without the quotes.
    pub value: Span,
}

/// Nodes, and those of them that nothing is around.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The outermost nodes.
    pub top: Vec<Id>,
}

/// A text that was written, and where stretches of the sources stand in it: those that follow each other in both are one.
#[derive(Debug, Default)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The stretches, and where they begin in the text.
    pub pieces: Vec<(Span, usize)>,
}

/// A document.
#[derive(Clone, Debug)]
pub struct Document {
    /// What stands before the root.
    pub prolog: Span,
    /// The document type declaration.
    pub doctype: Option<Doctype>,
    /// The root, and all in it.
    pub tree: Tree,
    /// What stands behind the root.
    pub epilog: Span,
}

/// A document type declaration.
#[derive(Clone, Debug)]
pub struct Doctype {
    /// The name of the root.
    pub name: Span,
    /// The file that declares more.
    pub external: Option<Span>,
}

impl Tree {
    /// A node.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// An element, if it is one.
    pub fn element(&self, id: Id) -> Option<&Element> {
        match &self.nodes[id].kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    /// What is in a node, or at the top.
    pub fn children(&self, parent: Option<Id>) -> &[Id] {
        match parent {
            None => &self.top,
            Some(id) => self.element(id).map_or(&[], |element| &element.children),
        }
    }

    /// Puts other nodes into an element, or at the top.
    pub fn set_children(&mut self, parent: Option<Id>, children: Vec<Id>) {
        match parent {
            None => self.top = children,
            Some(id) => {
                if let Kind::Element(element) = &mut self.nodes[id].kind {
                    element.children = children;
                }
            }
        }
    }

    /// How many nodes were ever made.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// A node that stands nowhere yet.
    pub fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Copies of nodes of another tree, with all in them.
    pub fn copy(&mut self, from: &Tree, nodes: &[Id]) -> Vec<Id> {
        let made: Vec<Id> = nodes.iter().map(|id| self.add_bare(from, *id)).collect();
        let mut pending: Vec<(Id, Id)> = nodes.iter().copied().zip(made.iter().copied()).collect();
        while let Some((old, new)) = pending.pop() {
            let old = from.children(Some(old));
            let children: Vec<Id> = old.iter().map(|id| self.add_bare(from, *id)).collect();
            pending.extend(old.iter().copied().zip(children.iter().copied()));
            self.set_children(Some(new), children);
        }
        made
    }

    fn add_bare(&mut self, from: &Tree, id: Id) -> Id {
        let mut node = from.nodes[id].clone();
        if let Kind::Element(element) = &mut node.kind {
            element.children = Vec::new();
        }
        self.add(node)
    }

    /// Whether nodes hold nothing but white space.
    pub fn is_blank(&self, sources: &Sources, id: Id) -> bool {
        let node = self.node(id);
        matches!(node.kind, Kind::Text) && is_blank(sources.slice(node.span))
    }

    /// Takes the white space away that is at the end of the outermost text.
    pub(crate) fn trim_end(&mut self, sources: &Sources) {
        let Some(last) = self.top.last().copied() else {
            return;
        };
        let node = &mut self.nodes[last];
        if matches!(node.kind, Kind::Text) {
            let text = sources.slice(node.span).trim_end_matches([' ', '\t']);
            node.span.end = node.span.start + text.len() as u32;
            if text.is_empty() {
                self.top.pop();
            }
        }
    }

    /// All elements, each before those in it.
    pub fn elements(&self) -> impl Iterator<Item = Id> {
        let mut around = vec![self.top.iter()];
        std::iter::from_fn(move || {
            loop {
                let Some(id) = around.last_mut()?.next() else {
                    around.pop();
                    continue;
                };
                if let Some(element) = self.element(*id) {
                    around.push(element.children.iter());
                    return Some(*id);
                }
            }
        })
    }

    /// Writes nodes and all in them.
    pub fn write(&self, sources: &Sources, nodes: &[Id], written: &mut Written) {
        enum Part {
            Node(Id),
            End(Id),
        }
        let mut pending: Vec<Part> = nodes.iter().rev().map(|id| Part::Node(*id)).collect();
        while let Some(part) = pending.pop() {
            match part {
                Part::Node(id) => {
                    let node = self.node(id);
                    let Kind::Element(element) = &node.kind else {
                        written.piece(sources, node.span);
                        continue;
                    };
                    // What ends the tag stands behind it.
                    let tag = |end: u32| Span::new(node.span.start, node.span.end + end);
                    if element.close.is_some() {
                        written.piece(sources, tag(1));
                    } else if element.children.is_empty() {
                        written.piece(sources, tag(2));
                        continue;
                    } else {
                        let start = sources.slice(node.span);
                        let start = start.trim_end_matches([' ', '\t', '\r', '\n']);
                        written.text.push_str(start);
                        written.text.push('>');
                    }
                    pending.push(Part::End(id));
                    pending.extend(element.children.iter().rev().map(|id| Part::Node(*id)));
                }
                Part::End(id) => {
                    let Some(element) = self.element(id) else {
                        continue;
                    };
                    match element.close {
                        Some(close) => written.piece(sources, close),
                        None => {
                            written.text.push_str("</");
                            written.text.push_str(sources.slice(element.name));
                            written.text.push('>');
                        }
                    }
                }
            }
        }
    }
}

impl Written {
    fn piece(&mut self, sources: &Sources, span: Span) {
        let at = self.text.len();
        self.text.push_str(sources.slice(span));
        match self.pieces.last_mut() {
            Some((last, start))
                if last.end == span.start && *start + (last.end - last.start) as usize == at =>
            {
                last.end = span.end;
            }
            _ => self.pieces.push((span, at)),
        }
    }
}

impl Document {
    /// The document as text.
    pub fn write(&self, sources: &Sources) -> Written {
        let mut written = Written::default();
        written.piece(sources, self.prolog);
        self.tree.write(sources, &self.tree.top, &mut written);
        written.piece(sources, self.epilog);
        written
    }

    /// The stretch of the sources in which it was read.
    pub fn span(&self) -> Span {
        self.prolog.to(self.epilog)
    }

    /// The root.
    pub fn root(&self) -> Id {
        let elements = self.tree.top.iter();
        let mut elements = elements.filter(|id| self.tree.element(**id).is_some());
        *elements.next().expect("a document has a root")
    }
}

/// Reads a document, and what it declares within itself.
pub fn read(sources: &Sources, file: FileId) -> Result<(Document, Dtd), Trouble> {
    let whole = sources.span(file);
    let mut cursor = Cursor::of(sources, whole);
    let mut dtd = Dtd::default();
    let mut doctype = None;
    cursor.eat("\u{feff}");
    if cursor.sees("<?xml")
        && cursor
            .rest()
            .as_bytes()
            .get(5)
            .copied()
            .is_some_and(is_space)
    {
        declaration(&mut cursor)?;
    }
    loop {
        cursor.space();
        if cursor.sees("<!--") || cursor.sees("<?") {
            beside(&mut cursor)?;
        } else if doctype.is_none() && cursor.eat("<!DOCTYPE") {
            doctype = Some(document_type(&mut cursor, &mut dtd)?);
        } else {
            break;
        }
    }
    let prolog = cursor.since(0);
    if !cursor.sees("<") {
        return Err(cursor.unexpected("the root element"));
    }
    let mut tree = Tree::default();
    content(&mut cursor, &mut tree, Extent::OneElement)?;
    let behind = cursor.at;
    loop {
        cursor.space();
        if cursor.sees("<!--") || cursor.sees("<?") {
            beside(&mut cursor)?;
        } else if cursor.is_at_end() {
            break;
        } else {
            return Err(cursor.unexpected("nothing more behind the root element"));
        }
    }
    let document = Document {
        prolog,
        doctype,
        tree,
        epilog: cursor.since(behind),
    };
    Ok((document, dtd))
}

/// How much is read as content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One element.
    OneElement,
    /// All of the text.
    All,
    /// Up to the end of a line that does not go on, when nothing is open any more.
    Line,
}

/// Whether a line ends here for good: the next one does not begin with a blank, or has nothing else.
pub(crate) fn is_line_end(rest: &str) -> bool {
    let behind = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n');
    let Some(behind) = behind else {
        return rest.is_empty();
    };
    let next = behind.lines().next().unwrap_or_default();
    !next.starts_with([' ', '\t']) || is_blank(next)
}

/// `<?xml version="1.0" encoding="UTF-8" standalone="no"?>`, of which only the version must be there.
fn declaration(cursor: &mut Cursor<'_>) -> Result<(), Trouble> {
    cursor.expect("<?xml")?;
    cursor.some_space()?;
    setting(cursor, "version", |version| {
        let minor = version.strip_prefix("1.").unwrap_or_default();
        !minor.is_empty() && minor.bytes().all(|digit| digit.is_ascii_digit())
    })?;
    let mut spaced = cursor.space();
    if spaced && cursor.sees("encoding") {
        let start = cursor.at;
        let encoding = setting(cursor, "encoding", |name| {
            let letters = name.strip_prefix(|c: char| c.is_ascii_alphabetic());
            letters.is_some_and(|rest| {
                rest.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
            })
        })?;
        if !encoding.eq_ignore_ascii_case("utf-8") {
            let message = format!("the encoding must be UTF-8, and this says `{encoding}`");
            let trouble = Diagnostic::error(entities::ENCODING, message).at(cursor.since(start));
            let help = "convert the file with `iconv`, and write `encoding=\"UTF-8\"`";
            return Err(Box::new(trouble.help(help)));
        }
        spaced = cursor.space();
    }
    if spaced && cursor.sees("standalone") {
        setting(cursor, "standalone", |word| word == "yes" || word == "no")?;
        cursor.space();
    }
    cursor.expect("?>")
}

fn setting<'t>(
    cursor: &mut Cursor<'t>,
    name: &str,
    is_good: impl Fn(&str) -> bool,
) -> Result<&'t str, Trouble> {
    cursor.expect(name)?;
    cursor.space();
    cursor.expect("=")?;
    cursor.space();
    let start = cursor.at;
    let value = cursor.quoted("a value")?;
    match is_good(value) {
        true => Ok(value),
        false => {
            let message = format!("`{value}` is no {name} of XML");
            Err(cursor.fail(start, cursor.at, message))
        }
    }
}

fn document_type(cursor: &mut Cursor<'_>, dtd: &mut Dtd) -> Result<Doctype, Trouble> {
    cursor.some_space()?;
    let start = cursor.at;
    cursor.name()?;
    let name = cursor.since(start);
    let mut external = None;
    if cursor.space() && (cursor.sees("SYSTEM") || cursor.sees("PUBLIC")) {
        external = Some(declarations::external_name(cursor)?);
        cursor.space();
    }
    if cursor.eat("[") {
        declarations::internal(cursor, dtd)?;
        cursor.space();
    }
    cursor.expect(">")?;
    Ok(Doctype { name, external })
}

/// A comment or an instruction.
pub(crate) fn beside(cursor: &mut Cursor<'_>) -> Result<Kind, Trouble> {
    let start = cursor.at;
    if cursor.eat("<!--") {
        let text = cursor.until("--", "comment")?;
        if !cursor.eat(">") {
            let place = start + 4 + text.len();
            let message = "two hyphens may not stand in a comment";
            return Err(cursor.fail(place, place + 2, message));
        }
        return Ok(Kind::Comment);
    }
    cursor.expect("<?")?;
    let target = cursor.name()?;
    if target.eq_ignore_ascii_case("xml") {
        let message = format!("`<?{target}` may stand at the very beginning only");
        return Err(cursor.fail(start, cursor.at, message));
    }
    if !cursor.eat("?>") {
        cursor.some_space()?;
        cursor.until("?>", "instruction")?;
    }
    Ok(Kind::Instruction)
}

/// Reads content into the top of a tree.
pub(crate) fn content(
    cursor: &mut Cursor<'_>,
    tree: &mut Tree,
    extent: Extent,
) -> Result<(), Trouble> {
    let mut open: Vec<Id> = Vec::new();
    loop {
        let start = cursor.at;
        let done = open.is_empty()
            && match extent {
                Extent::OneElement => !tree.top.is_empty(),
                Extent::All => cursor.is_at_end(),
                Extent::Line => is_line_end(cursor.rest()),
            };
        if done {
            return Ok(());
        }
        if cursor.is_at_end() {
            let id = open.last().expect("otherwise it is done");
            let message = "this element has no end tag";
            let span = tree.node(*id).span;
            return Err(Box::new(Diagnostic::error(crate::SYNTAX, message).at(span)));
        }
        if cursor.sees("</") {
            end_tag(cursor, tree, &mut open)?;
            continue;
        }
        let (kind, span) = if cursor.sees("<!--") || cursor.sees("<?") {
            (beside(cursor)?, cursor.since(start))
        } else if cursor.eat("<![CDATA[") {
            if open.is_empty() && extent == Extent::OneElement {
                return Err(cursor.fail(start, cursor.at, "expected the root element"));
            }
            cursor.until("]]>", "section")?;
            (Kind::Cdata, cursor.since(start))
        } else if cursor.sees("<") {
            let (element, span, is_open) = start_tag(cursor)?;
            let id = push(tree, &open, Kind::Element(Box::new(element)), span);
            if is_open {
                if open.len() == DEPTH {
                    let message = format!("elements are nested deeper than {DEPTH}");
                    return Err(Box::new(Diagnostic::error(TOO_DEEP, message).at(span)));
                }
                open.push(id);
            }
            continue;
        } else {
            text(cursor, open.is_empty() && extent == Extent::Line)?
        };
        push(tree, &open, kind, span);
    }
}

fn push(tree: &mut Tree, open: &[Id], kind: Kind, span: Span) -> Id {
    let id = tree.add(Node { span, kind });
    match open.last().map(|parent| &mut tree.nodes[*parent].kind) {
        Some(Kind::Element(parent)) => parent.children.push(id),
        _ => tree.top.push(id),
    }
    id
}

/// A start tag, the stretch of it without its end, and whether an end tag must follow.
fn start_tag(cursor: &mut Cursor<'_>) -> Result<(Element, Span, bool), Trouble> {
    let start = cursor.at;
    cursor.expect("<")?;
    let place = cursor.at;
    cursor.name()?;
    let name = cursor.since(place);
    let mut attributes: Vec<Attribute> = Vec::new();
    loop {
        let spaced = cursor.space();
        let span = cursor.since(start);
        let is_open = cursor.sees(">");
        if cursor.eat(">") || cursor.eat("/>") {
            once_each(cursor, &attributes)?;
            let element = Element {
                name,
                attributes: attributes.into(),
                close: None,
                children: Vec::new(),
            };
            return Ok((element, span, is_open));
        }
        if !spaced {
            return Err(cursor.unexpected("`>`, `/>` or white space"));
        }
        let place = cursor.at;
        cursor.name()?;
        let name = cursor.since(place);
        cursor.space();
        cursor.expect("=")?;
        cursor.space();
        let place = cursor.at;
        let text = cursor.quoted("a value")?;
        entities::check_value(cursor, place + 1, text)?;
        let value = cursor.span(place + 1, place + 1 + text.len());
        attributes.push(Attribute { name, value });
    }
}

/// No attribute is written twice.
fn once_each(cursor: &Cursor<'_>, attributes: &[Attribute]) -> Result<(), Trouble> {
    if attributes.len() < 2 {
        return Ok(());
    }
    let names = attributes.iter().map(|attribute| attribute.name);
    let mut names: Vec<(&str, Span)> = names.map(|name| (cursor.slice(name), name)).collect();
    names.sort_unstable();
    let Some(twice) = names.windows(2).find(|pair| pair[0].0 == pair[1].0) else {
        return Ok(());
    };
    let message = format!("the attribute `{}` is written twice", twice[0].0);
    let trouble = Diagnostic::error(crate::SYNTAX, message).at(twice[1].1);
    Err(Box::new(trouble.label(twice[0].1, "first here")))
}

fn end_tag(cursor: &mut Cursor<'_>, tree: &mut Tree, open: &mut Vec<Id>) -> Result<(), Trouble> {
    let start = cursor.at;
    cursor.expect("</")?;
    let name = cursor.name()?;
    cursor.space();
    cursor.expect(">")?;
    let close = cursor.since(start);
    let Some(id) = open.pop() else {
        let message = format!("there is no `<{name}>` that this ends");
        return Err(cursor.fail(start, cursor.at, message));
    };
    let node = &mut tree.nodes[id];
    let Kind::Element(element) = &mut node.kind else {
        unreachable!("only elements are open");
    };
    let opened = cursor.slice(element.name);
    if opened != name {
        let message = format!("expected `</{opened}>`, found `</{name}>`");
        let trouble = cursor.fail(start, cursor.at, message);
        return Err(Box::new(trouble.label(element.name, "this is open")));
    }
    element.close = Some(close);
    Ok(())
}

/// Text up to the next markup, or a reference to an entity that is declared.
fn text(cursor: &mut Cursor<'_>, to_line_end: bool) -> Result<(Kind, Span), Trouble> {
    let start = cursor.at;
    loop {
        let rest = cursor.rest();
        let marks: &[char] = match to_line_end {
            true => &['<', '&', '\r', '\n'],
            false => &['<', '&'],
        };
        let ends = |(place, mark): &(usize, &str)| {
            matches!(*mark, "<" | "&") || is_line_end(&rest[*place..])
        };
        let end = rest.match_indices(marks).find(ends);
        let length = end.map_or(rest.len(), |(place, _)| place);
        work::steps(length as u64);
        let piece = &rest[..length];
        if let Some(place) = piece.find("]]>") {
            let place = cursor.at + place;
            let message = "`]]>` may not stand in text: write `]]&gt;`";
            return Err(cursor.fail(place, place + 3, message));
        }
        cursor.legal(cursor.at, piece)?;
        cursor.at += length;
        if !cursor.sees("&") {
            break;
        }
        let place = cursor.at;
        match entities::reference(cursor)? {
            entities::Named::Character(_) => {}
            entities::Named::Entity(_) if place > start => {
                cursor.at = place;
                break;
            }
            entities::Named::Entity(name) => {
                return Ok((Kind::Reference(name), cursor.since(start)));
            }
        }
    }
    Ok((Kind::Text, cursor.since(start)))
}
