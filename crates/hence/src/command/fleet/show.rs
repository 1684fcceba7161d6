//! `hence show`, `list`, `apropos`: what there is in a fleet.

use std::collections::BTreeMap;

use clap::Args;
use hence_fleet::Kind;
use hence_fleet::edit::{self, Relation, Thing};
use hence_fleet::words::{DEFAULT, DEFAULT_SPELLED};
use hence_ledger::key::fold;
use hence_ledger::{Key, Keys, State, Value};
use hence_model::diagnostic::Diagnostic;
use hence_service::Service;
use regex::RegexBuilder;
use serde::Serialize;

use super::{At, Format, Ledger, print_json, shown, stop};
use crate::console::Console;
use crate::{Exit, Stop};

/// Show a node, a group, a feature, a param or a subsystem
#[derive(Args)]
pub struct Show {
    /// `node`, `group`, `feature`, `param` or `subsystem`; or `default` or `skeleton`, which need no name
    kind: String,
    /// The names
    names: Vec<String>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

/// What is asserted about a thing.
#[derive(Serialize)]
struct Shown {
    /// What people read above it.
    #[serde(skip)]
    title: String,
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<String, Option<String>>,
    relations: BTreeMap<&'static str, Vec<Related>>,
}

#[derive(Serialize)]
struct Related {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

impl Show {
    /// Shows them.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let service = self.ledger.open(console)?;
        let state = state(console, &service, &self.at)?;
        let things = match Thing::special(&self.kind) {
            Some(group) => vec![group],
            None => {
                let kind = super::entity::any_kind(&self.kind)?;
                let names = self.names.iter();
                names.map(|name| super::entity::thing(kind, name)).collect()
            }
        };
        if things.is_empty() {
            let message = format!("which {} is not said", self.kind);
            let trouble = Diagnostic::error(super::entity::WORDS, message);
            let help = format!(
                "`hence list {}s` shows those that there are",
                self.kind.trim_end_matches('s')
            );
            return Err(Stop::Refused(Box::new(trouble.help(help))));
        }
        let mut answers = Vec::new();
        for thing in &things {
            if fold(&thing.name) != DEFAULT && state.get(&thing.key()).is_none() {
                let missing = service.there(thing.kind, &thing.name);
                let Err(refused) = missing else {
                    let message =
                        format!("there was no {} `{}` then", thing.kind.word(), thing.name);
                    let trouble = Diagnostic::error(edit::NO_SUCH, message);
                    return Err(Stop::Refused(Box::new(trouble)));
                };
                return Err(match special(thing) {
                    Some(trouble) => Stop::Refused(Box::new(trouble)),
                    None => stop(console, refused),
                });
            }
            answers.push(shown_thing(&state, thing));
        }
        match self.format {
            Format::Json => print_json(console, &answers)?,
            Format::Text => {
                for (number, answer) in answers.iter().enumerate() {
                    if number > 0 {
                        writeln!(console.data())?;
                    }
                    text(console, answer)?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// What is wrong with a group that is not there, if it is, or sounds like, one with a word of its own.
fn special(group: &Thing) -> Option<Diagnostic> {
    let (message, help) = match group.own_word() {
        Some(word) => (
            format!("there is no {word} group"),
            format!("`hence add {word}` makes it"),
        ),
        None if group.kind == Kind::Group && fold(&group.name) == "default" => (
            "no group is named `default`".to_owned(),
            "`hence show default` shows the group that all nodes are in".to_owned(),
        ),
        None => return None,
    };
    Some(Diagnostic::error(edit::NO_SUCH, message).help(help))
}

fn state(console: &mut Console<'_>, service: &Service, at: &At) -> Result<State, Stop> {
    match at.version(console, service)? {
        None => Ok(service.state().clone()),
        Some(version) => {
            let state = service.repository().state_at(version);
            state.map_err(|refused| stop(console, refused))
        }
    }
}

/// Shows people what is asserted about a thing.
pub fn print(console: &mut Console<'_>, state: &State, thing: &Thing) -> Result<(), Stop> {
    text(console, &shown_thing(state, thing))
}

fn shown_thing(state: &State, thing: &Thing) -> Shown {
    let key = thing.key();
    let mut properties = BTreeMap::new();
    for (other, assertion) in state.among(Keys::Under(key.clone())) {
        let names: Vec<_> = other.names().collect();
        if let [_, _, property] = names.as_slice() {
            properties.insert(property.to_string(), shown(&assertion.value));
        }
    }
    let mut relations = BTreeMap::new();
    for relation in thing.kind.relations() {
        let related = related(state, thing, *relation);
        if !related.is_empty() {
            relations.insert(relation.word(), related);
        }
    }
    let kind = thing.kind.word();
    let name = spelling(state, thing.kind, &thing.name);
    let title = match thing.own_word() {
        Some(word) => format!("the {word} group"),
        None => format!("{kind} {name}"),
    };
    Shown {
        title,
        kind,
        name,
        properties,
        relations,
    }
}

fn related(state: &State, thing: &Thing, relation: Relation) -> Vec<Related> {
    let other = relation.other(thing.kind);
    let plain = |name: String| Related {
        name: spelling(state, other, &name),
        value: None,
    };
    if relation == Relation::Node {
        let members = edit::members(state, &thing.name);
        return members.into_iter().map(plain).collect();
    }
    if relation.is_ordered() {
        let order = edit::order(state, thing, relation);
        return order.into_iter().map(|(name, _)| plain(name)).collect();
    }
    let top = thing.key().child(relation.word());
    let below = state.among(Keys::Under(top));
    below
        .map(|(key, assertion)| {
            let name = key.names().next_back().expect("a key has names");
            Related {
                name: spelling(state, other, &name),
                value: shown(&assertion.value),
            }
        })
        .collect()
}

/// How a name is spelled, if it is asserted.
fn spelling(state: &State, kind: Kind, name: &str) -> String {
    let known = state.get(&kind.key(name)).map(|assertion| &assertion.value);
    match known {
        Some(Value::Text(spelling)) => spelling.to_string(),
        _ if fold(name) == DEFAULT => DEFAULT_SPELLED.to_owned(),
        _ => name.to_owned(),
    }
}

fn text(console: &mut Console<'_>, shown: &Shown) -> Result<(), Stop> {
    console.line(&shown.title)?;
    for (property, value) in &shown.properties {
        match value {
            Some(value) => console.line(&format!("  {property}: {value}"))?,
            None => console.line(&format!("  {property}"))?,
        }
    }
    for (relation, related) in &shown.relations {
        console.line(&format!("  {relation}:"))?;
        for other in related {
            match (&other.value, *relation) {
                (Some(value), _) => console.line(&format!("    {} = {value}", other.name))?,
                (None, "param") if shown.kind != "subsystem" => {
                    console.line(&format!("    {} takes its default", other.name))?;
                }
                (None, _) => console.line(&format!("    {}", other.name))?,
            }
        }
    }
    Ok(())
}

/// List nodes, groups, features, params, subsystems or snapshots
#[derive(Args)]
pub struct List {
    /// `nodes`, `groups`, `features`, `params`, `subsystems`, `tags` or `snapshots`
    kind: String,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

/// A version with a name, for programs.
#[derive(Serialize)]
pub struct Snapshot<'a> {
    /// The name.
    pub name: &'a str,
    /// The version.
    pub version: u64,
    /// What somebody said about it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub annotation: &'a str,
}

impl List {
    /// Lists them.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let service = self.ledger.open(console)?;
        if matches!(self.kind.as_str(), "snapshot" | "snapshots") {
            snapshots(console, &service, self.format)?;
            return Ok(Exit::Done);
        }
        if matches!(self.kind.as_str(), "tag" | "tags") {
            let state = state(console, &service, &self.at)?;
            super::tag::list(console, &state, self.format)?;
            return Ok(Exit::Done);
        }
        let kind = super::entity::any_kind(&self.kind)?;
        let state = state(console, &service, &self.at)?;
        let mut names = edit::names(&state, kind);
        names.sort();
        match self.format {
            Format::Json => print_json(console, &names)?,
            Format::Text => {
                for name in names {
                    console.line(&name)?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// Shows the versions that have names.
pub fn snapshots(console: &mut Console<'_>, service: &Service, format: Format) -> Result<(), Stop> {
    let head = service.repository().head();
    let snapshots: Vec<Snapshot<'_>> = head
        .iter()
        .flat_map(|entry| &entry.snapshots)
        .map(|(name, snapshot)| Snapshot {
            name,
            version: snapshot.version,
            annotation: &snapshot.annotation,
        })
        .collect();
    match format {
        Format::Json => print_json(console, &snapshots)?,
        Format::Text => {
            for snapshot in snapshots {
                let (name, version) = (snapshot.name, snapshot.version);
                let said = match snapshot.annotation {
                    "" => String::new(),
                    words => format!("   {words}"),
                };
                console.line(&format!("{version:>5}  {name}{said}"))?;
            }
        }
    }
    Ok(())
}

/// Find parameters and features by what is said about them
#[derive(Args)]
pub struct Apropos {
    /// A word in the name, the description or the annotation
    word: String,
    /// The word is a regular expression
    #[arg(long)]
    regex: bool,
    /// Upper and lower case are different
    #[arg(long)]
    case_sensitive: bool,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

#[derive(Serialize)]
struct Found {
    kind: &'static str,
    name: String,
    description: String,
}

impl Apropos {
    /// Finds them.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let pattern = match self.regex {
            true => self.word.clone(),
            false => regex::escape(&self.word),
        };
        let pattern = RegexBuilder::new(&pattern)
            .case_insensitive(!self.case_sensitive)
            .size_limit(1 << 20)
            .build();
        let pattern = pattern.map_err(|error| {
            let words = error.to_string();
            let last = words.lines().last().unwrap_or_default();
            let message = format!("`{}` is no regular expression: {last}", self.word);
            Stop::Refused(Box::new(Diagnostic::error(super::entity::WORDS, message)))
        })?;
        let service = self.ledger.open(console)?;
        let state = state(console, &service, &self.at)?;
        let mut found = Vec::new();
        for (kind, field) in [(Kind::Param, "description"), (Kind::Feature, "annotation")] {
            for name in edit::names(&state, kind) {
                let key: Key = kind.key(&name).child(field);
                let said = state.get(&key);
                let said = said.and_then(|assertion| assertion.value.as_text());
                let said = said.unwrap_or_default();
                if pattern.is_match(&name) || pattern.is_match(said) {
                    found.push(Found {
                        kind: kind.word(),
                        name,
                        description: said.to_owned(),
                    });
                }
            }
        }
        match self.format {
            Format::Json => print_json(console, &found)?,
            Format::Text => {
                for found in &found {
                    let (kind, name) = (found.kind, &found.name);
                    console.line(&format!("{kind} {name}: {}", found.description))?;
                }
                if found.is_empty() {
                    let word = &self.word;
                    console.say(&format!("no parameter or feature says `{word}`"));
                }
            }
        }
        Ok(match found.is_empty() {
            true => Exit::Input,
            false => Exit::Done,
        })
    }
}
