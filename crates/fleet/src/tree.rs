//! A fleet as a tree of values, as sources describe it: values to assertions.
//!
//! ```text
//! parameters  NAME  kind default description must_change restart level depends conflicts annotation
//! features    NAME  includes depends conflicts parameters defaults annotation
//! subsystems  NAME  parameters annotation
//! groups      NAME  features parameters defaults annotation
//! default           the same, of the group that every node is in
//! skeleton          the same, of the group that new nodes are put in
//! nodes       NAME  groups features parameters defaults annotation
//! ```
//!
//! Lists of what has a priority begin with the highest. `defaults` are parameters that take their default, or must get a
//! value elsewhere. A `name` beside the others says what a thing is called if its key cannot. All of it may stand in a
//! block `fleet`, beside what is not meant for here.
//!
//! A [`Part`] is a block of a feature, group or node whose words are somebody else's: it becomes parameters.

use std::collections::BTreeMap;

use hence_ledger::{Key, Value as Said, Vocabulary};
use hence_model::diagnostic::similar;
use hence_model::path::{Path, Segment};
use hence_model::value::{Map, Value};

use crate::words::{DEFAULT_SPELLED, Kind, SKELETON_SPELLED, Words};

/// What a tree says, and where in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The key.
    pub key: Key,
    /// What is said about it.
    pub value: Said,
    /// Where in the tree.
    pub path: Path,
}

/// What does not belong into a tree, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub help: String,
    /// Where in the tree.
    pub path: Path,
}

/// A part of a configuration that is described in words of its own.
pub trait Part {
    /// The name of its block.
    fn word(&self) -> &'static str;
    /// The parameters that a block comes to, or all that does not belong into it.
    fn parameters(&mut self, block: &Map, path: &Path) -> Result<Vec<Set>, Vec<Misfit>>;
}

/// A parameter that a part sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Its name.
    pub parameter: String,
    /// Its value.
    pub value: String,
    /// Where in the tree that is said.
    pub path: Path,
}

/// The assertions that a tree describes, in the order of their keys, or all that does not belong into it.
pub fn read(tree: &Value, parts: &mut [&mut dyn Part]) -> Result<Vec<Described>, Vec<Misfit>> {
    let mut reader = Reader {
        parts,
        described: BTreeMap::new(),
        misfits: Vec::new(),
    };
    reader.whole(tree);
    match reader.misfits.is_empty() {
        true => Ok(reader.described.into_values().collect()),
        false => Err(reader.misfits),
    }
}

struct Reader<'r, 'p> {
    parts: &'r mut [&'p mut dyn Part],
    described: BTreeMap<Key, Described>,
    misfits: Vec<Misfit>,
}

/// What stands at the top, and the kind of the things in it.
const TOPS: [(&str, Option<Kind>); 7] = [
    ("parameters", Some(Kind::Param)),
    ("features", Some(Kind::Feature)),
    ("subsystems", Some(Kind::Subsystem)),
    ("groups", Some(Kind::Group)),
    ("default", None),
    ("skeleton", None),
    ("nodes", Some(Kind::Node)),
];

/// How a field of a thing is read.
#[derive(Clone, Copy)]
enum Field {
    /// A text, in this property.
    Text(&'static str),
    /// True or false, in this property.
    Flag(&'static str),
    /// Names in the order of their priority.
    Ranked(&'static str),
    /// Names.
    Names(&'static str),
    /// Parameters and their values.
    Values,
    /// Parameters without values.
    Bare,
    /// What it is called.
    Name,
}

fn fields(kind: Kind) -> &'static [(&'static str, Field)] {
    match kind {
        Kind::Param => &[
            ("name", Field::Name),
            ("kind", Field::Text("kind")),
            ("default", Field::Text("default")),
            ("description", Field::Text("description")),
            ("annotation", Field::Text("annotation")),
            ("level", Field::Text("level")),
            ("must_change", Field::Flag("must-change")),
            ("restart", Field::Flag("restart")),
            ("depends", Field::Names("depend")),
            ("conflicts", Field::Names("conflict")),
        ],
        Kind::Feature => &[
            ("name", Field::Name),
            ("annotation", Field::Text("annotation")),
            ("includes", Field::Ranked("include")),
            ("depends", Field::Names("depend")),
            ("conflicts", Field::Names("conflict")),
            ("parameters", Field::Values),
            ("defaults", Field::Bare),
        ],
        Kind::Subsystem => &[
            ("name", Field::Name),
            ("annotation", Field::Text("annotation")),
            ("parameters", Field::Names("param")),
        ],
        Kind::Group => &[
            ("name", Field::Name),
            ("annotation", Field::Text("annotation")),
            ("features", Field::Ranked("feature")),
            ("parameters", Field::Values),
            ("defaults", Field::Bare),
        ],
        Kind::Node => &[
            ("name", Field::Name),
            ("annotation", Field::Text("annotation")),
            ("groups", Field::Ranked("group")),
            ("features", Field::Ranked("feature")),
            ("parameters", Field::Values),
            ("defaults", Field::Bare),
        ],
    }
}

impl Reader<'_, '_> {
    fn whole(&mut self, tree: &Value) {
        let top = Path::default();
        let Value::Map(map) = tree else {
            return self.misfit(&top, "a fleet is described by a block".to_owned(), "");
        };
        match map.get("fleet") {
            Some(fleet) => self.fleet(fleet, &child(&top, "fleet")),
            None => self.fleet(tree, &top),
        }
    }

    fn fleet(&mut self, tree: &Value, path: &Path) {
        let Some(map) = self.map(tree, path) else {
            return;
        };
        for (name, value) in map.iter() {
            let path = child(path, name);
            match TOPS.iter().find(|(top, _)| *top == name) {
                Some((_, Some(kind))) => self.things(*kind, value, &path),
                Some((group, None)) => self.special(group, value, &path),
                None => {
                    let message = format!("a fleet has no `{name}`");
                    self.misfit(
                        &path,
                        message,
                        &nearest(name, TOPS.iter().map(|(top, _)| *top)),
                    );
                }
            }
        }
    }

    fn things(&mut self, kind: Kind, value: &Value, path: &Path) {
        let Some(map) = self.map(value, path) else {
            return;
        };
        for (key, value) in map.iter() {
            let path = child(path, key);
            let Some(fields) = self.map(value, &path) else {
                continue;
            };
            let name = match fields.get("name") {
                Some(Value::Text(name)) => name.as_str(),
                Some(_) => {
                    self.misfit(&child(&path, "name"), "a name is a text".to_owned(), "");
                    continue;
                }
                None => key,
            };
            let named = kind.key(name);
            if self.described.contains_key(&named) {
                let message = format!("there are two {}s `{name}`", kind.word());
                self.misfit(&path, message, "names are found regardless of case");
                continue;
            }
            self.say(&path, &[kind.word(), name], Said::text(name));
            self.fields(kind, name, fields, &path);
        }
    }

    /// The default group, or the skeleton group.
    fn special(&mut self, word: &str, value: &Value, path: &Path) {
        let name = match word {
            "default" => DEFAULT_SPELLED,
            _ => SKELETON_SPELLED,
        };
        let Some(fields) = self.map(value, path) else {
            return;
        };
        if word == "skeleton" {
            self.say(path, &["group", name], Said::text(name));
        }
        self.fields(Kind::Group, name, fields, path);
    }

    fn fields(&mut self, kind: Kind, name: &str, map: &Map, path: &Path) {
        let known = fields(kind);
        for (field, value) in map.iter() {
            let path = child(path, field);
            let found = known.iter().find(|(known, _)| *known == field);
            let has_parts = matches!(kind, Kind::Feature | Kind::Group | Kind::Node);
            let part = self.parts.iter().position(|part| part.word() == field);
            match (found, part.filter(|_| has_parts)) {
                (Some((_, read)), _) => self.field(kind.word(), name, *read, value, &path),
                (None, Some(part)) => self.part(kind.word(), name, part, value, &path),
                (None, None) => {
                    let message = format!("a {} has no `{field}`", kind.word());
                    let words = self.parts.iter().map(|part| part.word());
                    let words: Vec<&'static str> = words.filter(|_| has_parts).collect();
                    let known = known.iter().map(|(known, _)| *known).chain(words);
                    self.misfit(&path, message, &nearest(field, known));
                }
            }
        }
    }

    /// What a part comes to. Its parameters need nobody to make them.
    fn part(&mut self, kind: &str, name: &str, part: usize, value: &Value, path: &Path) {
        let Some(block) = self.map(value, path) else {
            return;
        };
        match self.parts[part].parameters(block, path) {
            Err(misfits) => self.misfits.extend(misfits),
            Ok(sets) => {
                for Set {
                    parameter,
                    value,
                    path,
                } in sets
                {
                    let word = Kind::Param.word();
                    self.say(&path, &[word, &parameter], Said::text(parameter.as_str()));
                    self.say(&path, &[kind, name, word, &parameter], Said::text(value));
                }
            }
        }
    }

    fn field(&mut self, kind: &str, name: &str, field: Field, value: &Value, path: &Path) {
        match field {
            Field::Name => {}
            Field::Text(property) => match text(value) {
                Some(text) if text.is_empty() => {}
                Some(text) => self.say(path, &[kind, name, property], Said::text(text)),
                None if matches!(value, Value::Null) => {}
                None => self.misfit(path, "a text is expected".to_owned(), ""),
            },
            Field::Flag(property) => match value {
                Value::Bool(true) => self.say(path, &[kind, name, property], Said::Nothing),
                Value::Bool(false) | Value::Null => {}
                _ => self.misfit(path, "true or false is expected".to_owned(), ""),
            },
            Field::Ranked(relation) => {
                for (number, (other, path)) in self.names(value, path).into_iter().enumerate() {
                    let rank = Said::text(((number + 1) * 10).to_string());
                    self.say(&path, &[kind, name, relation, &other], rank);
                }
            }
            Field::Names(relation) => {
                for (other, path) in self.names(value, path) {
                    self.say(&path, &[kind, name, relation, &other], Said::Nothing);
                }
            }
            Field::Bare => {
                for (other, path) in self.names(value, path) {
                    self.say(&path, &[kind, name, "param", &other], Said::Nothing);
                }
            }
            Field::Values => {
                let Some(map) = self.map(value, path) else {
                    return;
                };
                for (parameter, value) in map.iter() {
                    let path = child(path, parameter);
                    let said = match (value, text(value)) {
                        (Value::Null, _) => Said::Nothing,
                        (_, Some(text)) => Said::text(text),
                        (_, None) => {
                            let message =
                                "the value of a parameter is a text, a number or a list of them";
                            self.misfit(&path, message.to_owned(), "");
                            continue;
                        }
                    };
                    self.say(&path, &[kind, name, "param", parameter], said);
                }
            }
        }
    }

    fn names(&mut self, value: &Value, path: &Path) -> Vec<(String, Path)> {
        let mut names = Vec::new();
        match value {
            Value::List(list) => {
                for (number, value) in list.as_slice().iter().enumerate() {
                    let path = path.child(Segment::Index(number));
                    match text(value) {
                        Some(name) => names.push((name, path)),
                        None => self.misfit(&path, "a name is expected".to_owned(), ""),
                    }
                }
            }
            Value::Null => {}
            Value::Text(name) => names.push((name.clone(), path.clone())),
            _ => self.misfit(path, "a list of names is expected".to_owned(), ""),
        }
        names
    }

    fn map<'v>(&mut self, value: &'v Value, path: &Path) -> Option<&'v Map> {
        match value {
            Value::Map(map) => Some(map),
            _ => {
                self.misfit(path, "a block is expected".to_owned(), "");
                None
            }
        }
    }

    fn say(&mut self, path: &Path, names: &[&str], value: Said) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        match Words.assertion(&names, value) {
            // Of what is said twice the first counts, as in lists it has the higher priority.
            Ok((key, value)) => {
                let described = Described {
                    key: key.clone(),
                    value,
                    path: path.clone(),
                };
                self.described.entry(key).or_insert(described);
            }
            Err(fault) => self.misfit(path, fault.message, &fault.help),
        }
    }

    fn misfit(&mut self, path: &Path, message: String, help: &str) {
        self.misfits.push(Misfit {
            message,
            help: help.to_owned(),
            path: path.clone(),
        });
    }
}

fn child(path: &Path, name: &str) -> Path {
    path.child(Segment::Key(name.to_owned()))
}

fn nearest(name: &str, names: impl Iterator<Item = &'static str> + Clone) -> String {
    match similar(name, names.clone()).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are `{}`", names.collect::<Vec<_>>().join("`, `")),
    }
}

/// A value as a text: lists are joined as the fleet joins them.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Integer(integer) => Some(integer.to_string()),
        Value::Float(float) => Some(float.to_string()),
        Value::List(list) => {
            let texts: Option<Vec<String>> = list.as_slice().iter().map(scalar).collect();
            texts.map(|texts| texts.join(", "))
        }
        Value::Null | Value::Reference(_) | Value::Map(_) => None,
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::List(_) => None,
        scalar => text(scalar),
    }
}
