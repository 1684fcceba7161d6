//! What could stand where somebody is typing: names of the language, and names of the fleet.
//!
//! ```text
//! fle▮                                  a name of the language
//! fleet.mem▮                            what the value before the dot has
//! fleet.members("▮                      a group: the call says so
//! fleet.add("node", "n1", "group", ["▮  a group: the words before it say so
//! fleet.set("group", "web", #{PO▮       a parameter, or a property
//! fleet.retract("node/n1/pa▮            the next name of a key
//! ```
//!
//! In a text that no function of the fleet takes, any name of the fleet could stand.

use std::collections::BTreeSet;

use hence_fleet::edit::Relation;
use hence_fleet::{Kind, Pool};
use hence_functions::interpreter::{Before, Interpreter, is_key, is_name};
use hence_ledger::key::fold;

use crate::command::fleet::entity::{any_kind, relation};

/// Where the name begins with which a text ends, and what it could be instead.
pub fn complete(text: &str, interpreter: &Interpreter, pool: &Pool) -> (usize, Vec<String>) {
    let end = End::of(text);
    match end.inside {
        Inside::Comment => (text.len(), Vec::new()),
        Inside::Text { start, quote } => {
            let typed = &text[start..];
            let (before, wanted) = match end.wanted() {
                Wanted::Key => {
                    let before = typed.rfind('/').map_or(0, |slash| slash + 1);
                    (before, in_key(&typed[..before]))
                }
                // Somebody may write sentences.
                Wanted::Anything => {
                    let before = typed.rfind([' ', '/']).map_or(0, |blank| blank + 1);
                    (before, Wanted::Anything)
                }
                wanted => (0, wanted),
            };
            let names = wanted.names(pool).into_iter();
            let plain = names.filter(|name| is_plain(name, quote));
            (start + before, beginning_with(&typed[before..], plain))
        }
        Inside::Code => {
            let begun = last_word(text);
            let start = text.len() - begun.len();
            if let Some(wanted) = end.wanted_key() {
                let names = wanted.names(pool).into_iter();
                let names = names.filter(|name| is_key(name));
                return (start, beginning_with(begun, names));
            }
            let before = before(&text[..start]);
            let names = interpreter.names(before).into_iter();
            let mut names: Vec<String> = names.filter(|name| name.starts_with(begun)).collect();
            if before == Before::Something {
                // It may be a configuration.
                let parameters = spelled(pool, Kind::Param).filter(|name| is_key(name));
                names.extend(beginning_with(begun, parameters));
            }
            (start, names)
        }
    }
}

/// What stands before a name of the language.
fn before(text: &str) -> Before<'_> {
    // Two dots are a range.
    let receiver = match text.strip_suffix("?.").or_else(|| text.strip_suffix('.')) {
        Some(receiver) if !receiver.ends_with('.') => receiver,
        _ => return Before::Nothing,
    };
    let name = last_word(receiver);
    match is_name(name) && !receiver[..receiver.len() - name.len()].ends_with('.') {
        true => Before::Name(name),
        false => Before::Something,
    }
}

/// The letters and digits that a text ends with.
fn last_word(text: &str) -> &str {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    &text[text.trim_end_matches(is_word).len()..]
}

/// Names that begin with what somebody has typed, in any case, as names of the fleet are.
fn beginning_with(begun: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let begun = fold(begun);
    names
        .filter(|name| fold(name).starts_with(&begun))
        .collect()
}

/// Whether a name means itself in a text, and can be shown on a terminal.
fn is_plain(name: &str, quote: char) -> bool {
    let is_special = |character: char| character.is_control() || "\\$".contains(character);
    !name.contains(quote) && !name.contains(is_special)
}

/// What a call takes where somebody is typing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// A word for a kind of things.
    Word,
    /// The name of such a thing.
    Name(Kind),
    /// A word for how such a thing is related to others.
    Related(Kind),
    /// A property of such a thing, or a parameter.
    Said(Option<Kind>),
    /// What can be said about such a thing in a key.
    Clause(Kind),
    /// A key of the ledger.
    Key,
    /// Nobody knows.
    Anything,
    /// Nothing of the fleet.
    Nothing,
}

impl Wanted {
    fn names(self, pool: &Pool) -> BTreeSet<String> {
        match self {
            Wanted::Word => Kind::ALL.map(|kind| kind.word().to_owned()).into(),
            Wanted::Name(kind) => spelled(pool, kind).collect(),
            Wanted::Related(kind) => relations(kind).collect(),
            Wanted::Said(kind) => {
                let properties = kind.into_iter().flat_map(properties);
                properties.chain(spelled(pool, Kind::Param)).collect()
            }
            Wanted::Clause(kind) => relations(kind).chain(properties(kind)).collect(),
            Wanted::Anything => {
                let kinds = Kind::ALL.into_iter();
                kinds.flat_map(|kind| spelled(pool, kind)).collect()
            }
            Wanted::Key | Wanted::Nothing => BTreeSet::new(),
        }
    }
}

fn spelled(pool: &Pool, kind: Kind) -> impl Iterator<Item = String> {
    let names = pool.names(kind).into_iter();
    names.map(|name| name.to_string())
}

fn relations(kind: Kind) -> impl Iterator<Item = String> {
    let relations = kind.relations().iter();
    relations.map(|relation| relation.word().to_owned())
}

fn properties(kind: Kind) -> impl Iterator<Item = String> {
    let properties = kind.properties().iter();
    properties.map(|property| (*property).to_owned())
}

/// What can follow the first names of a key.
fn in_key(names: &str) -> Wanted {
    let names: Vec<&str> = names.split_terminator('/').collect();
    let [kind, rest @ ..] = names.as_slice() else {
        return Wanted::Word;
    };
    match (any_kind(kind), rest) {
        (Ok(kind), []) => Wanted::Name(kind),
        (Ok(kind), [_]) => Wanted::Clause(kind),
        (Ok(kind), [_, word]) => named_by(kind, word),
        _ => Wanted::Nothing,
    }
}

/// What a word for a relation of a thing is followed by.
fn named_by(kind: Kind, word: &str) -> Wanted {
    match relation(kind, word) {
        Ok(Relation::Group) => Wanted::Name(Kind::Group),
        Ok(Relation::Node) => Wanted::Name(Kind::Node),
        Ok(Relation::Feature | Relation::Include) => Wanted::Name(Kind::Feature),
        Ok(Relation::Param) => Wanted::Name(Kind::Param),
        Ok(Relation::Depend | Relation::Conflict) => Wanted::Name(kind),
        Err(_) => Wanted::Nothing,
    }
}

/// Where a text ends.
struct End<'t> {
    inside: Inside,
    /// What it is in, the innermost last.
    open: Vec<Open<'t>>,
}

#[derive(Clone, Copy)]
enum Inside {
    Code,
    /// A text in quotes, which begins here.
    Text {
        start: usize,
        quote: char,
    },
    Comment,
}

/// A bracket that is not closed yet.
struct Open<'t> {
    bracket: Bracket<'t>,
    /// The texts that stand at the places before this one, and at this one.
    arguments: Vec<Option<&'t str>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket<'t> {
    /// Of a call, or of an expression that nobody calls.
    Call(&'t str),
    List,
    /// Of a map, before a key or behind one.
    Map {
        is_key: bool,
    },
    Block,
    /// Of an expression in a text between backquotes.
    Hole,
}

impl<'t> End<'t> {
    fn of(text: &'t str) -> Self {
        let mut end = End {
            inside: Inside::Code,
            open: Vec::new(),
        };
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            let rest = &text[at..];
            at = match character {
                _ if rest.starts_with("//") => match rest.find('\n') {
                    Some(length) => at + length,
                    None => return end.in_comment(),
                },
                _ if rest.starts_with("/*") => match rest[2..].find("*/") {
                    Some(length) => at + length + 4,
                    None => return end.in_comment(),
                },
                '"' | '\'' | '`' => match end.quoted(text, at + 1, character) {
                    Some(behind) => behind,
                    None => return end,
                },
                '}' if end.is_in_hole() => {
                    end.open.pop();
                    match end.quoted(text, at + 1, '`') {
                        Some(behind) => behind,
                        None => return end,
                    }
                }
                _ => {
                    end.bracket(&text[..at], character);
                    at + character.len_utf8()
                }
            };
        }
        end
    }

    fn in_comment(mut self) -> Self {
        self.inside = Inside::Comment;
        self
    }

    fn is_in_hole(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.bracket == Bracket::Hole)
    }

    /// Goes on behind a quoted text, or behind the beginning of an expression in it; `None` if the text ends in it.
    fn quoted(&mut self, text: &'t str, start: usize, quote: char) -> Option<usize> {
        let mut escaped = false;
        for (offset, character) in text[start..].char_indices() {
            let at = start + offset;
            if escaped {
                escaped = false;
            } else if character == quote {
                if let Some(open) = self.open.last_mut()
                    && let Some(argument) = open.arguments.last_mut()
                {
                    *argument = Some(&text[start..at]);
                }
                return Some(at + quote.len_utf8());
            } else if character == '\\' && quote != '`' {
                escaped = true;
            } else if quote == '`' && text[at..].starts_with("${") {
                self.open(Bracket::Hole);
                return Some(at + 2);
            }
        }
        self.inside = Inside::Text { start, quote };
        None
    }

    fn open(&mut self, bracket: Bracket<'t>) {
        let arguments = vec![None];
        self.open.push(Open { bracket, arguments });
    }

    fn bracket(&mut self, before: &'t str, character: char) {
        match character {
            '(' => {
                self.open(Bracket::Call(last_word(before.trim_end())));
            }
            '[' => self.open(Bracket::List),
            '{' if before.ends_with('#') => self.open(Bracket::Map { is_key: true }),
            '{' => self.open(Bracket::Block),
            ')' | ']' | '}' => drop(self.open.pop()),
            ',' | ':' => {
                if let Some(open) = self.open.last_mut() {
                    if let Bracket::Map { is_key } = &mut open.bracket {
                        *is_key = character == ',';
                    } else if character == ',' {
                        open.arguments.push(None);
                    }
                }
            }
            _ => {}
        }
    }

    /// The call that the end is in, if only lists and maps are between.
    fn call(&self) -> Option<(&'t str, &[Option<&'t str>])> {
        let mut outwards = self.open.iter().rev();
        outwards.find_map(|open| match open.bracket {
            Bracket::Call(name) => Some(Some((name, open.arguments.as_slice()))),
            Bracket::List | Bracket::Map { .. } => None,
            Bracket::Block | Bracket::Hole => Some(None),
        })?
    }

    /// What stands in a text here.
    fn wanted(&self) -> Wanted {
        if let Some(wanted) = self.wanted_key() {
            return wanted;
        }
        let Some((called, arguments)) = self.call() else {
            return Wanted::Anything;
        };
        let said = |place: usize| arguments.get(place).copied().flatten().unwrap_or_default();
        let kind = any_kind(said(0)).ok();
        match (called, arguments.len()) {
            ("members", 1) => Wanted::Name(Kind::Group),
            ("memberships" | "config" | "head" | "explain" | "version_of", 1) => {
                Wanted::Name(Kind::Node)
            }
            ("explain", 2) => Wanted::Name(Kind::Param),
            ("add" | "set" | "remove" | "replace" | "rename", place) => match (kind, place) {
                (_, 1) => Wanted::Word,
                (Some(kind), 2) => Wanted::Name(kind),
                (Some(kind), 3) if called != "rename" => Wanted::Related(kind),
                (Some(kind), 4) => named_by(kind, said(2)),
                _ => Wanted::Nothing,
            },
            ("assert" | "retract" | "retract_under", 1) => Wanted::Key,
            _ => Wanted::Anything,
        }
    }

    /// What stands before the colon of a map, if the end is there.
    fn wanted_key(&self) -> Option<Wanted> {
        let innermost = self.open.last()?.bracket;
        if innermost != (Bracket::Map { is_key: true }) {
            return None;
        }
        let kind = self.call().and_then(|(called, arguments)| {
            let is_said = ["add", "set"].contains(&called) && arguments.len() == 3;
            let word = arguments.first().copied().flatten()?;
            is_said.then(|| any_kind(word).ok())?
        });
        Some(Wanted::Said(kind))
    }
}

#[cfg(test)]
mod tests {
    use hence_fleet::{Kind, Pool};
    use hence_functions::interpreter::Interpreter;
    use hence_ledger::Value;

    use super::complete;

    fn pool() -> Pool {
        let things = [
            (Kind::Node, "n1"),
            (Kind::Node, "Gateway"),
            (Kind::Node, "gate\u{1b}[31m"),
            (Kind::Group, "Gatherers"),
            (Kind::Feature, "Gate"),
            (Kind::Param, "PORT"),
            (Kind::Param, "GATE.PORT"),
            (Kind::Subsystem, "gated"),
        ];
        let said = things.map(|(kind, name)| (kind.key(name), Value::text(name)));
        Pool::from_assertions(said.iter().map(|(key, value)| (key, value)))
    }

    #[test]
    fn the_place_decides_which_names_there_are() {
        let (pool, mut interpreter) = (pool(), Interpreter::new(|_| {}));
        interpreter.name(
            "settings",
            rhai::Map::from([("PORTAL".into(), 1_i64.into())]),
        );
        for (text, names) in [
            // Anything, in any case.
            ("print(\"GAT", "GATE.PORT Gate Gateway Gatherers gated"),
            ("let x = `GATEW", "Gateway"),
            // What the call says, and its words.
            ("fleet.members(\"ga", "Gatherers"),
            ("fleet.config(\"ga", "Gateway"),
            ("fleet.explain(\"n1\", \"p", "PORT"),
            ("fleet.add(\"n", "node"),
            ("fleet.add(\"node\", \"g", "Gateway"),
            ("fleet.add(\"nodes\", [\"n1\", \"g", "Gateway"),
            ("fleet.add(\"node\", \"n1\", \"g", "group"),
            (
                "fleet.add(\"node\", \"n1\", \"feature\", [\"x\", \"g",
                "Gate",
            ),
            ("fleet.add(\"feature\", \"n1\", \"include\", \"g", "Gate"),
            ("fleet.rename(\"node\", \"n1\", \"g", ""),
            ("fleet.set(\"group\", \"g\", #{po", "PORT"),
            ("fleet.set(\"group\", \"g\", #{a: 1, ann", "annotation"),
            ("fleet.set(\"group\", \"g\", #{\"gate", "GATE.PORT"),
            ("fleet.set(\"param\", \"p\", #{\"must", "must-change"),
            ("fleet.set(\"param\", \"p\", #{\"def", "default"),
            ("fleet.set(\"param\", \"p\", #{def", ""),
            ("fleet.add(\"node\", \"n1\", \"param\", #{po", "PORT"),
            // The names of a key.
            ("fleet.assert(\"no", "node"),
            ("fleet.assert(\"node/g", "Gateway"),
            ("fleet.assert(\"node/n1/g", "group"),
            ("fleet.assert(\"node/n1/param/p", "PORT"),
            ("fleet.assert(\"node/n1/oops/p", ""),
            ("fleet.retract_under(\"oops/g", ""),
            // Names of the language.
            ("setti", "settings"),
            ("settings.PORT", "PORTAL"),
            ("fleet.config(\"n1\").po", "pop PORT"),
            ("[1].spl", "split"),
            ("let a = 1..sett", "settings"),
            ("`a ${sett", "settings"),
            ("`a ${1} gatew", "Gateway"),
            ("f(\"a\") { sett", "settings"),
            // Nobody is told what to write in a comment.
            ("// sett", ""),
            ("/* sett", ""),
            ("/* a */ sett", "settings"),
        ] {
            let (start, found) = complete(text, &interpreter, &pool);
            assert!(text.is_char_boundary(start), "{text}");
            assert_eq!(found.join(" "), names, "{text}");
        }
    }

    #[test]
    fn nothing_is_too_odd_to_be_completed() {
        let (pool, interpreter) = (pool(), Interpreter::new(|_| {}));
        let pieces = [
            "\"", "'", "`", "${", "}", "{", "#{", "(", ")", "[", "]", ",", ":", ".", "..", "?.",
            "/", "//", "/*", "*/", "\\", "\n", "é", "fleet", "add", "\"node\"", " ", "🦀",
        ];
        let mut seed = 7_usize;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(pieces[(seed >> 33) % pieces.len()]);
            }
            let (start, _) = complete(&text, &interpreter, &pool);
            assert!(text.is_char_boundary(start), "{text}");
        }
    }
}
