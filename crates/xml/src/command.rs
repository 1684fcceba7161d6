//! Commands: constant writes into a document.
//!
//! ```text
//! # a comment
//! assert /books/book[@isbn='1'] <title>Sand</title>       all that is in these elements
//! add /books book[@isbn='2'] <book isbn="2"/>             this member of these elements, instead of one with that key
//! subtract /books book[@isbn='3']                         no member with that key
//! assert / <books/>                                       the whole document
//! ```
//!
//! A command goes on as long as an element in it is open, and in lines that begin with a blank. Which elements it writes,
//! and what, depends on the command alone: on names, attributes and places in it, never on what a document holds.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Sources, Span};

use crate::cursor::{Cursor, Trouble, is_space};
use crate::document::{Extent, Id, Tree, content, is_line_end};
use crate::dtd::Dtd;
use crate::entities::Expansion;
use crate::path::{self, By, Key, Path, Step};

/// A text is no command.
pub const COMMAND: Code = Code::new("xml.command");

/// A constant write.
#[derive(Clone, Debug)]
pub struct Command {
    /// The elements it speaks of.
    pub path: Path,
    /// What it makes of them.
    pub write: Write,
    /// Where it is written.
    pub span: Span,
}

/// What a command makes of the elements it speaks of.
#[derive(Clone, Debug)]
pub enum Write {
    /// This, and nothing else, is in them.
    Content(Tree),
    /// This member is in them, and no other with its key.
    Member(Step, Tree),
    /// No such member is in them.
    Without(Step),
}

impl Command {
    /// Asserts content.
    pub fn assert(sources: &Sources, path: Path, tree: Tree, span: Span) -> Result<Self, Trouble> {
        if path.steps.is_empty() && lone_element(sources, &tree).is_none() {
            let message = "a document is one element, with all that is in it";
            let trouble = Diagnostic::error(COMMAND, message).at(span);
            return Err(Box::new(trouble.help("`assert / <root>…</root>`")));
        }
        let write = Write::Content(tree);
        Ok(Self { path, write, span })
    }

    /// Adds a member, whose content must have its key.
    pub fn add(
        sources: &Sources,
        path: Path,
        key: Key,
        tree: Tree,
        span: Span,
    ) -> Result<Self, Trouble> {
        let fail =
            |span, message: String| Err(Box::new(Diagnostic::error(COMMAND, message).at(span)));
        within(&path, "added to")?;
        let Some(id) = lone_element(sources, &tree) else {
            return fail(span, "what is added must be one element".into());
        };
        let element = tree.element(id).expect("it is an element");
        let name = sources.slice(element.name);
        let nothing = Dtd::default();
        let value = |wanted: &str| {
            let mut attributes = element.attributes.iter();
            let attribute = attributes.find(|one| sources.slice(one.name) == wanted)?;
            let value = Expansion::new(&nothing).attribute(sources, attribute);
            Some((value.ok()?, attribute.value))
        };
        let key = match key {
            Key::Attribute(attribute, place) => match value(&attribute) {
                None => {
                    return fail(
                        place,
                        format!("what is added has no attribute `{attribute}`"),
                    );
                }
                Some((value, _)) => Step {
                    name: name.to_owned(),
                    by: By::Key(vec![(attribute, value)]),
                    span: place,
                },
            },
            Key::Step(step) => step,
        };
        if key.name != name {
            let message = format!(
                "the key speaks of `{}`, and what is added is `{name}`",
                key.name
            );
            return fail(element.name, message);
        }
        let By::Key(pairs) = &key.by else {
            let message = format!("no attribute tells this `{name}` from others");
            let trouble = Diagnostic::error(COMMAND, message).at(key.span);
            let help = format!(
                "say which: `{name}[@id='1']`; without a key, adding twice would give two of them"
            );
            return Err(Box::new(trouble.help(help)));
        };
        for (attribute, wanted) in pairs {
            match value(attribute) {
                Some((value, _)) if value == *wanted => {}
                Some((value, place)) => {
                    let message =
                        format!("`{attribute}` must be `{wanted}` as in the key, and is `{value}`");
                    return fail(place, message);
                }
                None => {
                    let message =
                        format!("`{attribute}` must be `{wanted}` as in the key, and is missing");
                    return fail(element.name, message);
                }
            }
        }
        let mut only = tree;
        only.top = vec![id];
        let write = Write::Member(key, only);
        Ok(Self { path, write, span })
    }

    /// Subtracts members.
    pub fn subtract(path: Path, key: Key, span: Span) -> Result<Self, Trouble> {
        within(&path, "subtracted from")?;
        match key {
            Key::Step(step) => Ok(Self {
                path,
                write: Write::Without(step),
                span,
            }),
            Key::Attribute(attribute, place) => {
                let message = "it is not said which member is subtracted";
                let trouble = Diagnostic::error(COMMAND, message).at(place);
                let help = format!("say it in full: `name[@{attribute}='value']`");
                Err(Box::new(trouble.help(help)))
            }
        }
    }

    /// The steps to all that it writes.
    pub fn target(&self) -> Vec<&Step> {
        let member = match &self.write {
            Write::Content(_) => None,
            Write::Member(step, _) | Write::Without(step) => Some(step),
        };
        self.path.steps.iter().chain(member).collect()
    }
}

fn within(path: &Path, what: &str) -> Result<(), Trouble> {
    match path.steps.is_empty() {
        false => Ok(()),
        true => {
            let message = format!("a document has one root, so nothing is {what} it");
            let trouble = Diagnostic::error(COMMAND, message).at(path.span);
            Err(Box::new(
                trouble.help("`assert / <root>…</root>` replaces it"),
            ))
        }
    }
}

/// The element that is all of a content, white space aside.
fn lone_element(sources: &Sources, tree: &Tree) -> Option<Id> {
    let mut nodes = tree.top.iter().filter(|id| !tree.is_blank(sources, **id));
    let one = *nodes.next()?;
    tree.element(one)?;
    nodes.next().is_none().then_some(one)
}

/// Reads content that is all of a text.
pub fn parse_content(sources: &Sources, span: Span) -> Result<Tree, Trouble> {
    let mut tree = Tree::default();
    content(&mut Cursor::of(sources, span), &mut tree, Extent::All)?;
    Ok(tree)
}

/// Reads commands, and says everything that is wrong with them.
pub fn parse(sources: &Sources, file: FileId) -> Result<Vec<Command>, Vec<Diagnostic>> {
    let mut cursor = Cursor::of(sources, sources.span(file));
    let mut commands = Vec::new();
    let mut troubles = Vec::new();
    cursor.eat("\u{feff}");
    loop {
        cursor.space();
        if cursor.is_at_end() {
            break;
        }
        let start = cursor.at;
        if !cursor.sees("#") {
            match command(sources, &mut cursor) {
                Ok(command) => {
                    commands.push(command);
                    continue;
                }
                Err(trouble) => {
                    troubles.push(*trouble);
                    cursor.at = start;
                }
            }
        }
        let rest = cursor.rest();
        cursor.at += rest.find('\n').unwrap_or(rest.len());
    }
    match troubles.is_empty() {
        true => Ok(commands),
        false => Err(troubles),
    }
}

fn command(sources: &Sources, cursor: &mut Cursor<'_>) -> Result<Command, Trouble> {
    let start = cursor.at;
    let rest = cursor.rest();
    let length = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let verb = &rest[..length];
    cursor.at += length;
    match verb {
        "assert" => {
            blanks(cursor)?;
            let path = path::path(cursor)?;
            let tree = line_content(sources, cursor)?;
            Command::assert(sources, path, tree, cursor.since(start))
        }
        "add" => {
            blanks(cursor)?;
            let path = path::path(cursor)?;
            blanks(cursor)?;
            let key = path::key(cursor)?;
            let tree = line_content(sources, cursor)?;
            Command::add(sources, path, key, tree, cursor.since(start))
        }
        "subtract" => {
            blanks(cursor)?;
            let path = path::path(cursor)?;
            blanks(cursor)?;
            let key = path::key(cursor)?;
            let span = cursor.since(start);
            skip_blanks(cursor);
            if !is_line_end(cursor.rest()) {
                let mut trouble = cursor.unexpected("the end of the line");
                trouble.code = COMMAND;
                return Err(trouble);
            }
            Command::subtract(path, key, span)
        }
        _ => {
            let end = start + length.max(rest.chars().next().map_or(0, char::len_utf8));
            let message = "expected `assert`, `add` or `subtract`";
            let trouble = Diagnostic::error(COMMAND, message).at(cursor.span(start, end));
            Err(Box::new(trouble))
        }
    }
}

fn skip_blanks(cursor: &mut Cursor<'_>) {
    while cursor.sees(" ") || cursor.sees("\t") {
        cursor.at += 1;
    }
}

/// Passes blanks, which must be there.
fn blanks(cursor: &mut Cursor<'_>) -> Result<(), Trouble> {
    let start = cursor.at;
    skip_blanks(cursor);
    let is_more = cursor.peek().is_some_and(|byte| !is_space(byte));
    match cursor.at > start && is_more {
        true => Ok(()),
        false => {
            let mut trouble = cursor.unexpected("a blank, and then more");
            trouble.code = COMMAND;
            Err(trouble)
        }
    }
}

/// The rest of a line, and those that belong to it. Blanks around it are not meant.
fn line_content(sources: &Sources, cursor: &mut Cursor<'_>) -> Result<Tree, Trouble> {
    let start = cursor.at;
    skip_blanks(cursor);
    let is_end = cursor.is_at_end() || cursor.sees("\n") || cursor.sees("\r\n");
    if cursor.at == start && !is_end {
        let mut trouble = cursor.unexpected("a blank");
        trouble.code = crate::path::PATH;
        return Err(trouble);
    }
    let mut tree = Tree::default();
    content(cursor, &mut tree, Extent::Line)?;
    tree.trim_end(sources);
    Ok(tree)
}
