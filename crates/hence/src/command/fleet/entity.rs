//! `hence add`, `set`, `remove`, `replace`, `rename`: the fleet in words.
//!
//! One pattern for all: a verb, what it is about, and what that is related to, in the words of the keys.
//!
//! ```text
//! hence add group web                        hence remove group web
//! hence add group web feature Scheduler      hence remove group web feature Scheduler
//! hence replace node n1 group web db         hence set param PORT --kind integer
//! ```

use clap::Args;
use hence_fleet::Kind;
use hence_fleet::edit::{Edit, Item, Property, Relation, Thing};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::legible;

use super::Changing;
use crate::console::Console;
use crate::{Exit, Stop};

/// The words of a command do not go together.
pub const WORDS: Code = Code::new("input.words");

/// What a command is about.
#[derive(Args)]
pub struct About {
    /// `node`, `group`, `feature`, `param` or `subsystem` and a name, or `default` or `skeleton` for the group of all nodes
    /// or of new ones; then, if it is about a relation, `group`, `node`, `feature`, `param`, `include`, `depend` or
    /// `conflict` and names, with `=VALUE` for parameters
    #[arg(value_name = "KIND NAME [RELATION NAME[=VALUE]…]", required = true, num_args = 1..)]
    words: Vec<String>,
}

/// The words, understood.
enum Meant {
    /// Things by themselves.
    Things(Vec<Thing>),
    /// A thing and others.
    Related(Thing, Relation, Vec<Item>),
}

impl About {
    fn understand(&self) -> Result<Meant, Stop> {
        let special = self.words.first().and_then(|word| Thing::special(word));
        let (thing, rest) = match (special, self.words.as_slice()) {
            (Some(group), [_, rest @ ..]) => (group, rest),
            (_, [word, rest @ ..]) => match kind(word) {
                Some((kind, Number::Many)) => {
                    if rest.is_empty() {
                        return Err(wrong(format!("names of {}s are expected", kind.word()), ""));
                    }
                    let things = rest.iter().map(|name| thing(kind, name));
                    return Ok(Meant::Things(things.collect()));
                }
                Some((kind, Number::One)) => match rest {
                    [] => {
                        return Err(wrong(
                            format!("the name of a {} is expected", kind.word()),
                            "",
                        ));
                    }
                    [name, rest @ ..] => (thing(kind, name), rest),
                },
                None => return Err(no_kind(word)),
            },
            (_, []) => unreachable!("clap asks for a word"),
        };
        match rest {
            [] => Ok(Meant::Things(vec![thing])),
            [word, items @ ..] => {
                let relation = relation(thing.kind, word)?;
                let items = items
                    .iter()
                    .map(|item| self::item(relation, item))
                    .collect();
                Ok(Meant::Related(thing, relation, items))
            }
        }
    }
}

impl About {
    /// What is meant by a verb that takes several things, too: whoever named some after a kind in the singular is told so,
    /// unless it is a relation that was misspelt.
    fn understand_for(&self, verb: &str) -> Result<Meant, Stop> {
        self.understand().map_err(|stop| {
            let [word, names @ ..] = self.words.as_slice() else {
                return stop;
            };
            match (stop, kind(word)) {
                (Stop::Refused(mut trouble), Some((kind, Number::One)))
                    if names.len() > 1 && !trouble.help.iter().any(|help| help.contains('?')) =>
                {
                    let names: Vec<_> = names.iter().map(|name| legible::word(name)).collect();
                    let names = names.join(" ");
                    let several =
                        format!("several at once: `hence {verb} {}s {names}`", kind.word());
                    trouble.help.push(several);
                    Stop::Refused(trouble)
                }
                (stop, _) => stop,
            }
        })
    }
}

#[derive(PartialEq)]
enum Number {
    One,
    Many,
}

/// A kind by its word, in the singular or the plural.
fn kind(word: &str) -> Option<(Kind, Number)> {
    let word = match word {
        "parameter" => "param",
        "parameters" => "params",
        other => other,
    };
    let mut kinds = Kind::ALL.into_iter();
    kinds.find_map(|kind| {
        if word == kind.word() {
            return Some((kind, Number::One));
        }
        (word.strip_suffix('s') == Some(kind.word())).then_some((kind, Number::Many))
    })
}

/// A kind, in whichever number.
pub fn any_kind(word: &str) -> Result<Kind, Stop> {
    kind(word)
        .map(|(kind, _)| kind)
        .ok_or_else(|| no_kind(word))
}

fn no_kind(word: &str) -> Stop {
    let words = Kind::ALL.map(Kind::word);
    let all = words.into_iter().chain(["default", "skeleton"]);
    let help = match similar(word, all).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "of which kind it is comes first, as in `node {word}`: there are `{}`, and `default` and `skeleton` for the groups of all nodes and of new ones",
            words.join("`, `")
        ),
    };
    wrong(format!("a fleet has no `{word}`"), &help)
}

/// What things of a kind are related by.
pub fn relation(kind: Kind, word: &str) -> Result<Relation, Stop> {
    let relations = kind.relations();
    let singular = match word {
        "membership" | "memberships" => "group",
        "parameter" | "parameters" => "param",
        other => other.strip_suffix('s').unwrap_or(other),
    };
    let mut named = relations.iter().copied();
    named
        .find(|relation| relation.word() == singular)
        .ok_or_else(|| {
            let words: Vec<&str> = relations.iter().map(|relation| relation.word()).collect();
            let help = match similar(word, words.iter().copied()).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it is related by `{}`", words.join("`, `")),
            };
            wrong(format!("a {} has no `{word}`", kind.word()), &help)
        })
}

/// A thing by the name that somebody gave.
pub fn thing(kind: Kind, name: &str) -> Thing {
    let name = name.to_owned();
    Thing { kind, name }
}

fn item(relation: Relation, text: &str) -> Item {
    match text.split_once('=') {
        Some((name, value)) if relation == Relation::Param => Item {
            name: name.to_owned(),
            value: Some(value.to_owned()),
        },
        _ => Item {
            name: text.to_owned(),
            value: None,
        },
    }
}

fn wrong(message: String, help: &str) -> Stop {
    let mut trouble = Diagnostic::error(WORDS, message);
    trouble
        .help
        .extend(Some(help.to_owned()).filter(|help| !help.is_empty()));
    Stop::Refused(Box::new(trouble))
}

/// What can be said about a thing besides its relations.
#[derive(Args)]
pub struct Properties {
    /// What people should know about it; empty for nothing
    #[arg(long, value_name = "WORDS", help_heading = "Properties")]
    annotation: Option<String>,
    /// Of a parameter: string, integer, double, boolean, list, expression, enumeration(A, B), pattern(REGEX)
    #[arg(long, value_name = "KIND", help_heading = "Properties")]
    kind: Option<String>,
    /// Of a parameter: its value where none is given
    #[arg(long, value_name = "VALUE", help_heading = "Properties")]
    default: Option<String>,
    /// Of a parameter: what it is for
    #[arg(long, value_name = "WORDS", help_heading = "Properties")]
    description: Option<String>,
    /// Of a parameter: whether a value must be given where it is used
    #[arg(long, value_name = "yes|no", help_heading = "Properties")]
    must_change: Option<String>,
    /// Of a parameter: whether what observes it must be restarted when it changes
    #[arg(long, value_name = "yes|no", help_heading = "Properties")]
    restart: Option<String>,
    /// Of a parameter: how expert one should be to change it
    #[arg(long, value_name = "NUMBER", help_heading = "Properties")]
    level: Option<String>,
}

impl Properties {
    fn given(&self, things: &[Thing]) -> Result<Vec<Property>, Stop> {
        let all: [(&'static str, &Option<String>); 7] = [
            ("annotation", &self.annotation),
            ("kind", &self.kind),
            ("default", &self.default),
            ("description", &self.description),
            ("must-change", &self.must_change),
            ("restart", &self.restart),
            ("level", &self.level),
        ];
        let mut given: Vec<Property> = Vec::new();
        for (property, value) in all {
            let Some(value) = value else {
                continue;
            };
            if let Some(thing) = things
                .iter()
                .find(|thing| !thing.kind.properties().contains(&property))
            {
                return Err(wrong(
                    format!("a {} has no {property}", thing.kind.word()),
                    "",
                ));
            }
            given.push((
                property,
                Some(value.clone()).filter(|value| !value.is_empty()),
            ));
        }
        Ok(given)
    }
}

/// Add a node, a group, a feature, a param or a subsystem, or relate one to others
#[derive(Args)]
pub struct Add {
    #[command(flatten)]
    about: About,
    /// Where in the order: 0 is the highest priority; without it, the lowest
    #[arg(long, value_name = "INDEX")]
    priority: Option<usize>,
    #[command(flatten)]
    properties: Properties,
    #[command(flatten)]
    changing: Changing,
}

impl Add {
    /// Adds it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let edits = match self.about.understand_for("add")? {
            Meant::Things(things) => {
                let properties = self.properties.given(&things)?;
                let create = |thing| Edit::Create(thing, properties.clone());
                things.into_iter().map(create).collect()
            }
            Meant::Related(thing, relation, items) => {
                self.properties.none()?;
                some(&items, &thing, relation)?;
                vec![Edit::Add(thing, relation, items, self.priority)]
            }
        };
        edit(console, &self.changing, &edits, "add", &self.about)
    }
}

impl Properties {
    /// A relation has none.
    fn none(&self) -> Result<(), Stop> {
        match self.given(&[])?.first() {
            None => Ok(()),
            Some((property, _)) => Err(wrong(format!("a relation has no {property}"), "")),
        }
    }
}

fn some(items: &[Item], thing: &Thing, relation: Relation) -> Result<(), Stop> {
    match items.is_empty() {
        true => Err(wrong(
            format!("which {}s of {thing} is not said", relation.word()),
            "",
        )),
        false => Ok(()),
    }
}

/// Change what is said about a node, a group, a feature, a param or a subsystem
#[derive(Args)]
pub struct Set {
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    properties: Properties,
    #[command(flatten)]
    changing: Changing,
}

impl Set {
    /// Sets it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let edits: Vec<Edit> = match self.about.understand()? {
            Meant::Things(things) => {
                let properties = self.properties.given(&things)?;
                if properties.is_empty() {
                    return Err(wrong(
                        "what to set is not said".to_owned(),
                        "such as `--annotation WORDS`",
                    ));
                }
                let set = |thing| Edit::Set(thing, properties.clone());
                things.into_iter().map(set).collect()
            }
            // To set a parameter is to give it a value, there or not.
            Meant::Related(thing, Relation::Param, items) => {
                self.properties.none()?;
                vec![Edit::Add(thing, Relation::Param, items, None)]
            }
            Meant::Related(_, relation, _) => {
                let help = "`hence add`, `hence remove` and `hence replace` change relations";
                return Err(wrong(format!("a {} has no value", relation.word()), help));
            }
        };
        edit(console, &self.changing, &edits, "set", &self.about)
    }
}

/// Remove a node, a group, a feature, a param or a subsystem, or relations of one
#[derive(Args)]
pub struct Remove {
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    changing: Changing,
}

impl Remove {
    /// Removes it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let edits = match self.about.understand_for("remove")? {
            Meant::Things(things) => things.into_iter().map(Edit::Remove).collect(),
            Meant::Related(thing, relation, items) => {
                some(&items, &thing, relation)?;
                let names = items.into_iter().map(|item| item.name).collect();
                vec![Edit::Drop(thing, relation, names)]
            }
        };
        edit(console, &self.changing, &edits, "remove", &self.about)
    }
}

/// Relate a thing to these, and to no others
#[derive(Args)]
pub struct Replace {
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    changing: Changing,
}

impl Replace {
    /// Replaces them.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let edits = match self.about.understand()? {
            Meant::Related(thing, relation, items) => vec![Edit::Replace(thing, relation, items)],
            Meant::Things(_) => {
                let help = "such as `hence replace group web feature Scheduler`";
                return Err(wrong("what to replace is not said".to_owned(), help));
            }
        };
        edit(console, &self.changing, &edits, "replace", &self.about)
    }
}

/// Relate a thing to no others than these, of those that it is related to: dependencies and conflicts
#[derive(Args)]
pub struct Intersect {
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    changing: Changing,
}

impl Intersect {
    /// Takes the others away.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let edits = [set(&self.about, Edit::Intersect)?];
        edit(console, &self.changing, &edits, "intersect", &self.about)
    }
}

/// Relate a thing to those of these that it is not related to, and no longer to the others: dependencies and conflicts
#[derive(Args)]
pub struct Toggle {
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    changing: Changing,
}

impl Toggle {
    /// Toggles them.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let edits = [set(&self.about, Edit::Toggle)?];
        edit(console, &self.changing, &edits, "toggle", &self.about)
    }
}

/// An edit of a set.
fn set(about: &About, edit: fn(Thing, Relation, Vec<String>) -> Edit) -> Result<Edit, Stop> {
    match about.understand()? {
        Meant::Related(thing, relation, items) => {
            let names = items.into_iter().map(|item| item.name).collect();
            Ok(edit(thing, relation, names))
        }
        Meant::Things(_) => {
            let help = "such as `feature A depend B C`";
            Err(wrong(
                "which relation is meant is not said".to_owned(),
                help,
            ))
        }
    }
}

/// Give a node, a group, a feature, a param or a subsystem another name
#[derive(Args)]
pub struct Rename {
    /// `node`, `group`, `feature`, `param` or `subsystem`
    kind: String,
    /// Its name
    old: String,
    /// Its new name
    new: String,
    #[command(flatten)]
    changing: Changing,
}

impl Rename {
    /// Renames it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let thing = thing(any_kind(&self.kind)?, &self.old);
        let words = vec![self.kind.clone(), self.old.clone(), self.new.clone()];
        let edits = [Edit::Rename(thing, self.new.clone())];
        edit(console, &self.changing, &edits, "rename", &About { words })
    }
}

fn edit(
    console: &mut Console<'_>,
    changing: &Changing,
    edits: &[Edit],
    verb: &str,
    about: &About,
) -> Result<Exit, Stop> {
    let leave = changing.leave()?;
    let request = changing.request(console, format!("{verb} {}", about.words.join(" ")));
    let mut service = changing.ledger.make(console)?;
    let result = service.edit(&request, edits, &leave);
    changing.tell(console, result)
}
