//! Paths: which elements a command speaks of.
//!
//! ```text
//! /                         the document
//! /books/book               every `book` in the root `books`
//! /books/book[2]            the second
//! /books/book[@isbn='1']    the one, or those, with this attribute
//! ```
//!
//! Whether an element is meant depends on its own names and attributes and those of what is around it, and on its place
//! where nothing else tells it from its neighbours; never on what is in it. More than that would not be stateless, and is
//! refused with an example of what would go wrong.

use std::fmt;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{Sources, Span};

use crate::cursor::{Cursor, Trouble, is_name_start};

/// A text is no path.
pub const PATH: Code = Code::new("xml.path");
/// A path asks for more than a stateless command can.
pub const NOT_STATELESS: Code = Code::new("xml.not-stateless");

/// Steps from the document inwards.
#[derive(Clone, Debug)]
pub struct Path {
    /// The steps; none for the document itself.
    pub steps: Vec<Step>,
    /// Where it is written.
    pub span: Span,
}

/// A step to children.
#[derive(Clone, Debug)]
pub struct Step {
    /// Their name.
    pub name: String,
    /// Which of them.
    pub by: By,
    /// Where it is written.
    pub span: Span,
}

/// Which of the children with a name are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// All.
    Name,
    /// The one at this place among them, from 1.
    Position(usize),
    /// Those with these attributes, sorted by name.
    Key(Vec<(String, String)>),
}

impl Step {
    /// Whether every element that the other means is meant.
    pub fn covers(&self, other: &Step) -> bool {
        self.name == other.name
            && match (&self.by, &other.by) {
                (By::Name, _) => true,
                (By::Position(one), By::Position(two)) => one == two,
                (By::Key(few), By::Key(more)) => few.iter().all(|pair| more.contains(pair)),
                _ => false,
            }
    }

    /// Whether some element could be meant by both.
    pub fn meets(&self, other: &Step) -> bool {
        self.name == other.name
            && match (&self.by, &other.by) {
                (By::Position(one), By::Position(two)) => one == two,
                (By::Key(one), By::Key(two)) => one.iter().all(|(name, value)| {
                    let mut same = two.iter().filter(|(other, _)| other == name);
                    same.all(|(_, other)| other == value)
                }),
                _ => true,
            }
    }
}

/// Reads a path that is all of a text.
pub fn parse(sources: &Sources, span: Span) -> Result<Path, Trouble> {
    let mut cursor = Cursor::of(sources, span);
    let path = path(&mut cursor)?;
    match cursor.is_at_end() {
        true => Ok(path),
        false => Err(wrong(&cursor, "the end of the path")),
    }
}

/// Reads a key that is all of a text.
pub fn parse_key(sources: &Sources, span: Span) -> Result<Key, Trouble> {
    let mut cursor = Cursor::of(sources, span);
    let key = key(&mut cursor)?;
    match cursor.is_at_end() {
        true => Ok(key),
        false => Err(wrong(&cursor, "the end of the key")),
    }
}

/// Passes a path.
pub(crate) fn path(cursor: &mut Cursor<'_>) -> Result<Path, Trouble> {
    let start = cursor.at;
    if cursor.sees("(") {
        return Err(refused(cursor, 1, Beyond::GlobalPosition));
    }
    if !cursor.eat("/") {
        let trouble = wrong(cursor, "`/`");
        return Err(Box::new(
            trouble.help("a path begins at the document, with `/`"),
        ));
    }
    let mut steps = Vec::new();
    if !cursor.is_at_end() && !cursor.peek().is_some_and(crate::cursor::is_space) {
        steps.push(step(cursor)?);
        while cursor.eat("/") {
            steps.push(step(cursor)?);
        }
    }
    if cursor.sees("|") {
        return Err(refused(cursor, 1, Beyond::Union));
    }
    let span = cursor.since(start);
    Ok(Path { steps, span })
}

/// What tells a member of a family from the others.
#[derive(Clone, Debug)]
pub enum Key {
    /// The name and the attributes, in full.
    Step(Step),
    /// Only which attribute it is: the rest is in the content.
    Attribute(String, Span),
}

/// Passes a key: `book[@isbn='1']`, `book`, or `@isbn`.
pub(crate) fn key(cursor: &mut Cursor<'_>) -> Result<Key, Trouble> {
    let start = cursor.at;
    if cursor.eat("@") {
        let name = name(cursor)?;
        return Ok(Key::Attribute(name, cursor.since(start)));
    }
    let step = step(cursor)?;
    if let By::Position(_) = step.by {
        cursor.at = start + step.name.len();
        let length = (step.span.end - step.span.start) as usize - step.name.len();
        return Err(refused(cursor, length, Beyond::MemberByPosition));
    }
    match cursor.sees("/") {
        true => Err(refused(cursor, 1, Beyond::Content)),
        false => Ok(Key::Step(step)),
    }
}

fn step(cursor: &mut Cursor<'_>) -> Result<Step, Trouble> {
    let start = cursor.at;
    for (mark, beyond) in [
        ("/", Beyond::AnyDepth),
        ("*", Beyond::AnyName),
        ("@", Beyond::Attribute),
        ("..", Beyond::Axis),
        (".", Beyond::Axis),
        ("(", Beyond::GlobalPosition),
    ] {
        if cursor.sees(mark) {
            return Err(refused(cursor, mark.len(), beyond));
        }
    }
    let name = name(cursor)?;
    if let Some(place) = name.find("::") {
        cursor.at = start + place;
        return Err(refused(cursor, 2, Beyond::Axis));
    }
    if cursor.sees("(") {
        return Err(refused(cursor, 1, Beyond::Content));
    }
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut by = By::Name;
    while cursor.eat("[") {
        cursor.space();
        if cursor.eat("@") {
            let attribute = self::name(cursor)?;
            cursor.space();
            if !cursor.eat("=") {
                let trouble = wrong(cursor, "`=`");
                return Err(Box::new(trouble.help("a key has a value: `[@isbn='1']`")));
            }
            cursor.space();
            let value = cursor.quoted("a value").map_err(as_path)?;
            keys.push((attribute, value.to_owned()));
        } else {
            by = By::Position(position(cursor)?);
        }
        cursor.space();
        if !cursor.eat("]") {
            return Err(wrong(cursor, "`]`"));
        }
        if matches!(by, By::Position(_)) && (!keys.is_empty() || cursor.sees("[")) {
            let message = "a step has a position or keys, not both";
            let trouble = Diagnostic::error(PATH, message).at(cursor.since(start));
            return Err(Box::new(trouble.help("a key needs no position")));
        }
    }
    if !keys.is_empty() {
        keys.sort();
        keys.dedup();
        by = By::Key(keys);
    }
    let span = cursor.since(start);
    Ok(Step { name, by, span })
}

/// Within brackets, a number; all else looks at content.
fn position(cursor: &mut Cursor<'_>) -> Result<usize, Trouble> {
    let rest = cursor.rest();
    let end = rest.find([']', '\n']).unwrap_or(rest.len());
    let inside = rest[..end].trim_end();
    let is_number = !inside.is_empty() && inside.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number {
        let is_relative = inside.starts_with("last()") || inside.starts_with("position()");
        let beyond = match is_relative {
            true => Beyond::RelativePosition,
            false => Beyond::Content,
        };
        return Err(refused(cursor, inside.len(), beyond));
    }
    let number = inside.parse().ok().filter(|number| *number > 0);
    let Some(number) = number else {
        let span = cursor.span(cursor.at, cursor.at + inside.len());
        let message = "positions count from 1";
        return Err(Box::new(Diagnostic::error(PATH, message).at(span)));
    };
    cursor.at += inside.len();
    Ok(number)
}

fn name(cursor: &mut Cursor<'_>) -> Result<String, Trouble> {
    match cursor.rest().starts_with(is_name_start) {
        true => Ok(cursor.name()?.to_owned()),
        false => Err(wrong(cursor, "a name")),
    }
}

fn wrong(cursor: &Cursor<'_>, expected: &str) -> Trouble {
    as_path(cursor.unexpected(expected))
}

fn as_path(mut trouble: Trouble) -> Trouble {
    trouble.code = PATH;
    trouble
}

/// What a path may not ask for.
#[derive(Clone, Copy)]
enum Beyond {
    AnyDepth,
    AnyName,
    Attribute,
    Axis,
    Content,
    GlobalPosition,
    MemberByPosition,
    RelativePosition,
    Union,
}

fn refused(cursor: &Cursor<'_>, length: usize, beyond: Beyond) -> Trouble {
    let (message, help): (&str, &[&str]) = match beyond {
        Beyond::AnyDepth => (
            "a path may not say `//`: what it means would change with each use",
            &[
                "`assert //c <c/>` would match what it has just written, and go one deeper each time",
            ],
        ),
        Beyond::AnyName => (
            "a path may not say `*`: what may be in an element depends on its name",
            &[
                "with `*` a command could fail because of an element that another put there; name the elements",
            ],
        ),
        Beyond::Attribute => (
            "attributes cannot be asserted: they are what elements are told apart by",
            &[
                "after `assert /r/c[@k='1'] x`, changing `k` to 2 would leave the `x` where no repetition finds it",
                "replace the element: `add /r c[@k='1'] <c k=\"1\" other=\"…\"/>`",
            ],
        ),
        Beyond::Axis => (
            "a path goes from the document inwards, by the names of children",
            &[],
        ),
        Beyond::Content => (
            "a path may not look at what is in an element, as commands change that",
            &[
                "in `<r><c><c/></c></r>`, `assert /r/c[c] <a/>` finds nothing any more when it is repeated after `assert /r/c[c] <b/>`",
                "tell elements apart by attributes: `c[@id='1']`",
            ],
        ),
        Beyond::GlobalPosition => (
            "a position counts among the children of one element, not in the whole document",
            &["`(//c)[1]` is another element as soon as a command puts a `c` before it"],
        ),
        Beyond::MemberByPosition => (
            "a member is added and subtracted by a key, not by its position",
            &["`subtract /r c[1]` would take another one away each time; use `c[@id='1']`"],
        ),
        Beyond::RelativePosition => (
            "a position is a number, which does not depend on how many there are",
            &["`c[last()]` is another element as soon as a command adds one"],
        ),
        Beyond::Union => ("a path is one path; write two commands", &[]),
    };
    let span = cursor.span(cursor.at, cursor.at + length);
    let mut trouble = Diagnostic::error(NOT_STATELESS, message).at(span);
    for help in help {
        trouble = trouble.help(*help);
    }
    Box::new(trouble)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("/");
        }
        self.steps.iter().try_for_each(|step| write!(f, "/{step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.by {
            By::Name => Ok(()),
            By::Position(place) => write!(f, "[{place}]"),
            By::Key(pairs) => pairs.iter().try_for_each(|(name, value)| {
                let quote = if value.contains('\'') { '"' } else { '\'' };
                write!(f, "[@{name}={quote}{value}{quote}]")
            }),
        }
    }
}
