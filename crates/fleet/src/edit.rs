//! Edits as people make them, against what is asserted now: "add a feature", "remove this group", "put it first".
//!
//! An edit reads, so it is no command. It is translated into commands, which are what is committed. Whoever commits them
//! holds them against the version that the edit was read from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ecow::EcoString;
use hence_ledger::admission::WALK_IN;
use hence_ledger::key::fold;
use hence_ledger::{Command, Fault, Key, Keys, State, Value, Vocabulary};
use hence_model::diagnostic::{Code, similar};
use hence_model::legible;

use crate::name::{default_group, skeleton_group};
use crate::tags;
use crate::words::{DEFAULT, DEFAULT_SPELLED, Kind, SKELETON, SKELETON_SPELLED, Words};

/// There is no such node, group, feature, parameter or subsystem.
pub const NO_SUCH: Code = Code::new("fleet.no-such-name");
/// There is such a thing already.
pub const EXISTS: Code = Code::new("fleet.exists");
/// An edit that makes no sense.
pub const NO_EDIT: Code = Code::new("fleet.no-edit");

/// Ranks are given out so far apart that something fits between.
const STEP: i64 = 10;

impl Kind {
    /// What a thing of this kind can have besides its relations.
    pub fn properties(self) -> &'static [&'static str] {
        match self {
            Kind::Param => &[
                "annotation",
                "default",
                "description",
                "kind",
                "level",
                "must-change",
                "restart",
            ],
            _ => &["annotation"],
        }
    }

    /// What a thing of this kind can be related to.
    pub fn relations(self) -> &'static [Relation] {
        use Relation::{Conflict, Depend, Feature, Group, Include, Node, Param};
        match self {
            Kind::Node => &[Group, Feature, Param],
            Kind::Group => &[Feature, Param, Node],
            Kind::Feature => &[Include, Depend, Conflict, Param],
            Kind::Param => &[Depend, Conflict],
            Kind::Subsystem => &[Param],
        }
    }
}

/// How a thing is related to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// A node is a member of groups, in the order of their priority.
    Group,
    /// A group has members. It is kept with the nodes.
    Node,
    /// Features are installed, in the order of their priority.
    Feature,
    /// Parameters are set, or watched.
    Param,
    /// A feature includes others, in the order of their priority.
    Include,
    /// It needs others.
    Depend,
    /// It cannot be together with others.
    Conflict,
}

impl Relation {
    /// The word for it, in keys and for people.
    pub fn word(self) -> &'static str {
        match self {
            Relation::Group => "group",
            Relation::Node => "node",
            Relation::Feature => "feature",
            Relation::Param => "param",
            Relation::Include => "include",
            Relation::Depend => "depend",
            Relation::Conflict => "conflict",
        }
    }

    /// What the others are that a thing of this kind is related to.
    pub fn other(self, kind: Kind) -> Kind {
        match self {
            Relation::Group => Kind::Group,
            Relation::Node => Kind::Node,
            Relation::Feature => Kind::Feature,
            Relation::Param => Kind::Param,
            Relation::Include | Relation::Depend | Relation::Conflict => kind,
        }
    }

    /// Whether the order of what is related counts.
    pub fn is_ordered(self) -> bool {
        matches!(
            self,
            Relation::Group | Relation::Feature | Relation::Include
        )
    }
}

/// A thing of the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is.
    pub kind: Kind,
    /// Its name, in any spelling.
    pub name: String,
}

impl Thing {
    /// The group that has a word of its own: `default` is the one of all nodes, `skeleton` that of new ones.
    pub fn special(word: &str) -> Option<Self> {
        let name = match word {
            "default" => DEFAULT_SPELLED,
            "skeleton" => SKELETON_SPELLED,
            _ => return None,
        };
        Some(Self {
            kind: Kind::Group,
            name: name.to_owned(),
        })
    }

    /// The word that is its own, if it has one.
    pub fn own_word(&self) -> Option<&'static str> {
        match fold(&self.name).as_str() {
            DEFAULT if self.kind == Kind::Group => Some("default"),
            SKELETON if self.kind == Kind::Group => Some("skeleton"),
            _ => None,
        }
    }

    /// How commands name it.
    pub fn words(&self) -> String {
        match self.own_word() {
            Some(word) => word.to_owned(),
            None => format!("{} {}", self.kind.word(), legible::word(&self.name)),
        }
    }

    /// The key of the thing itself.
    pub fn key(&self) -> Key {
        self.kind.key(&self.name)
    }

    /// It is there, and cannot be made.
    fn exists(&self) -> Fault {
        let message = match self.own_word() {
            Some(_) => format!("{self} is there already"),
            None => format!("there is a {self} already"),
        };
        Fault::new(message).code(EXISTS)
    }

    /// The key of something about it.
    fn field(&self, field: &str) -> Key {
        self.key().child(field)
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.own_word() {
            Some(word) => write!(f, "the {word} group"),
            None => write!(f, "{} `{}`", self.kind.word(), self.name),
        }
    }
}

/// Something that a thing is related to, and the value that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name of the other thing.
    pub name: String,
    /// The value of a parameter; without it the parameter takes its default.
    pub value: Option<String>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Make a thing that is not there, with these properties.
    Create(Thing, Vec<Property>),
    /// Set properties of a thing that is there.
    Set(Thing, Vec<Property>),
    /// Remove a thing, and all that refers to it.
    Remove(Thing),
    /// Give a thing another name, wherever it is referred to.
    Rename(Thing, String),
    /// Relate a thing to others: behind those that it is related to already, or at a place among them.
    Add(Thing, Relation, Vec<Item>, Option<usize>),
    /// Relate a thing no longer to others.
    Drop(Thing, Relation, Vec<String>),
    /// Relate a thing to these, and to no others.
    Replace(Thing, Relation, Vec<Item>),
    /// Relate a thing to no others than these; where order counts, this has no meaning.
    Intersect(Thing, Relation, Vec<String>),
    /// Relate a thing to those of these that it is not related to, and no longer to the others; where order counts, this
    /// has no meaning.
    Toggle(Thing, Relation, Vec<String>),
}

impl Edit {
    /// The things that one is to be related to, as they are spelled in it.
    pub fn others(&self) -> Vec<Thing> {
        let (thing, relation, names): (_, _, Vec<String>) = match self {
            Edit::Add(thing, relation, items, _) | Edit::Replace(thing, relation, items) => {
                let names = items.iter().map(|item| item.name.clone());
                (thing, relation, names.collect())
            }
            Edit::Toggle(thing, relation, names) => (thing, relation, names.clone()),
            _ => return Vec::new(),
        };
        let kind = relation.other(thing.kind);
        names.into_iter().map(|name| Thing { kind, name }).collect()
    }
}

/// A property, and its value; without one it is taken away.
pub type Property = (&'static str, Option<String>);

/// The commands that do it, by an owner, given what is asserted now.
pub fn commands(state: &State, owner: &str, edit: &Edit) -> Result<Vec<Command>, Fault> {
    let mut editor = Editor {
        state,
        owner: owner.into(),
        commands: Vec::new(),
    };
    let edit = &editor.meant(edit);
    match edit {
        Edit::Create(thing, properties) => editor.create(thing, properties)?,
        Edit::Set(thing, properties) => {
            editor.there(thing, Otherwise::Make)?;
            editor.set(thing, properties)?;
        }
        Edit::Remove(thing) => editor.remove(thing)?,
        Edit::Rename(thing, name) => editor.rename(thing, name)?,
        Edit::Add(thing, relation, items, place) => editor.add(thing, *relation, items, *place)?,
        Edit::Drop(thing, relation, names) => editor.drop(thing, *relation, names)?,
        Edit::Replace(thing, relation, items) => editor.replace(thing, *relation, items)?,
        Edit::Intersect(thing, relation, names) => editor.intersect(thing, *relation, names)?,
        Edit::Toggle(thing, relation, names) => editor.toggle(thing, *relation, names)?,
    }
    Ok(editor.commands)
}

/// What to do if something is not there.
enum Otherwise {
    /// It can be made.
    Make,
    /// Another may have been meant.
    Look,
}

struct Editor<'s> {
    state: &'s State,
    owner: EcoString,
    commands: Vec<Command>,
}

impl Editor<'_> {
    fn assert(&mut self, key: Key, value: Value) -> Result<(), Fault> {
        let names: Vec<String> = key.names().map(|name| name.into_owned()).collect();
        let (key, value) = Words.assertion(&names, value)?;
        let owner = self.owner.clone();
        self.commands.push(Command::Assert { owner, key, value });
        Ok(())
    }

    fn retract(&mut self, keys: Keys) {
        self.commands.push(Command::Retract(keys));
    }

    /// An edit, with the skeleton group for its word among the groups of a node, unless a group of old has that name.
    fn meant(&self, edit: &Edit) -> Edit {
        let mut edit = edit.clone();
        let names: Vec<&mut String> = match &mut edit {
            Edit::Add(_, Relation::Group, items, _) | Edit::Replace(_, Relation::Group, items) => {
                items.iter_mut().map(|item| &mut item.name).collect()
            }
            Edit::Drop(_, Relation::Group, names) => names.iter_mut().collect(),
            _ => Vec::new(),
        };
        for name in names {
            let is_word = fold(name) == "skeleton";
            if is_word && self.state.get(&Kind::Group.key(name)).is_none() {
                *name = SKELETON_SPELLED.to_owned();
            }
        }
        edit
    }

    fn is_there(&self, thing: &Thing) -> bool {
        let is_default = thing.kind == Kind::Group && fold(&thing.name) == DEFAULT;
        is_default || self.state.get(&thing.key()).is_some()
    }

    /// The thing must be there.
    fn there(&self, thing: &Thing, otherwise: Otherwise) -> Result<(), Fault> {
        if self.is_there(thing) {
            return Ok(());
        }
        if thing.kind == Kind::Group {
            match fold(&thing.name).as_str() {
                "default" => return Err(default_group()),
                "skeleton" => return Err(skeleton_group()),
                _ => {}
            }
        }
        let kind = thing.kind.word();
        let message = match thing.own_word() {
            Some(word) => format!("there is no {word} group"),
            None => format!("there is no {thing}"),
        };
        let fault = Fault::new(message).code(NO_SUCH);
        let names = names(self.state, thing.kind);
        let near = similar(&thing.name, names.iter().map(String::as_str));
        let make = format!("`hence add {}` makes it", thing.words());
        Err(fault.help(match (near.first(), otherwise) {
            (Some(near), Otherwise::Look) if thing.own_word().is_none() => {
                format!("did you mean `{near}`?")
            }
            (Some(near), Otherwise::Make) if thing.own_word().is_none() => {
                format!("did you mean `{near}`? {make}")
            }
            (None, Otherwise::Look) if thing.own_word().is_none() => {
                format!("`hence list {kind}s` shows those that there are")
            }
            _ => make,
        }))
    }

    fn create(&mut self, thing: &Thing, properties: &[Property]) -> Result<(), Fault> {
        let walked_in = thing.field("walk-in");
        match self.state.get(&thing.key()) {
            // Somebody had come by themselves, and is now expected. What they brought stays, in better hands.
            Some(_) if thing.kind == Kind::Node && self.state.get(&walked_in).is_some() => {
                let brought: Vec<(Key, Value)> = self
                    .state
                    .among(Keys::Under(thing.key()))
                    .filter(|(key, assertion)| **key != walked_in && assertion.owner == WALK_IN)
                    .map(|(key, assertion)| (key.clone(), assertion.value.clone()))
                    .collect();
                self.retract(Keys::Only(walked_in));
                for (key, value) in brought {
                    self.assert(key, value)?;
                }
            }
            Some(known) => {
                let known = Thing {
                    kind: thing.kind,
                    name: known.value.as_text().unwrap_or(&thing.name).to_owned(),
                };
                return Err(known
                    .exists()
                    .help(format!("`hence set {} …` changes it", known.words())));
            }
            None => {
                self.assert(thing.key(), Value::text(thing.name.as_str()))?;
                let skeleton = Key::new(["group", SKELETON]);
                if thing.kind == Kind::Node && self.state.get(&skeleton).is_some() {
                    let membership = thing.field("group").child(SKELETON);
                    self.assert(membership, Value::text(STEP.to_string()))?;
                }
            }
        }
        self.set(thing, properties)
    }

    fn set(&mut self, thing: &Thing, properties: &[Property]) -> Result<(), Fault> {
        for (property, value) in properties {
            let key = thing.field(property);
            let is_flag = matches!(*property, "must-change" | "restart");
            match value.as_deref() {
                Some("yes" | "true") if is_flag => self.assert(key, Value::Nothing)?,
                Some("no" | "false") | None if is_flag => self.retract(Keys::Only(key)),
                Some(other) if is_flag => {
                    let message = format!("`{property}` is `yes` or `no`, not `{other}`");
                    return Err(Fault::new(message).code(NO_EDIT));
                }
                Some(text) => self.assert(key, Value::text(text))?,
                None => self.retract(Keys::Only(key)),
            }
        }
        Ok(())
    }

    fn remove(&mut self, thing: &Thing) -> Result<(), Fault> {
        self.there(thing, Otherwise::Look)?;
        if thing.kind == Kind::Group && fold(&thing.name) == DEFAULT {
            let help = "`hence replace` with no names takes all features or parameters from it";
            return Err(Fault::new("the default group cannot be removed")
                .code(NO_EDIT)
                .help(help));
        }
        self.retract(Keys::Under(thing.key()));
        let references = references(self.state, thing);
        for key in references {
            self.retract(Keys::Only(key));
        }
        Ok(())
    }

    fn rename(&mut self, thing: &Thing, name: &str) -> Result<(), Fault> {
        self.there(thing, Otherwise::Look)?;
        if thing.kind == Kind::Group && matches!(fold(&thing.name).as_str(), DEFAULT | SKELETON) {
            return Err(Fault::new("this group cannot have another name").code(NO_EDIT));
        }
        let new = Thing {
            kind: thing.kind,
            name: name.to_owned(),
        };
        if new.key() == thing.key() {
            return self.assert(new.key(), Value::text(name));
        }
        if self.is_there(&new) {
            return Err(new.exists());
        }
        let old_key = thing.key();
        let below: Vec<(Key, Value)> = self
            .state
            .among(Keys::Under(old_key.clone()))
            .map(|(key, assertion)| (key.clone(), assertion.value.clone()))
            .collect();
        let referring = references(self.state, thing);
        self.retract(Keys::Under(old_key.clone()));
        self.assert(new.key(), Value::text(name))?;
        for (key, value) in below {
            if key != old_key {
                let rest = &key.as_str()[old_key.as_str().len()..];
                let key = Key::from_text(&format!("{}{rest}", new.key()));
                self.assert(key, value)?;
            }
        }
        for key in referring {
            let value = self
                .state
                .get(&key)
                .expect("it was found there")
                .value
                .clone();
            let mut names: Vec<String> = key.names().map(|name| name.into_owned()).collect();
            *names.last_mut().expect("a key has names") = fold(name);
            self.retract(Keys::Only(key));
            self.assert(Key::new(names.iter().map(String::as_str)), value)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        thing: &Thing,
        relation: Relation,
        items: &[Item],
        place: Option<usize>,
    ) -> Result<(), Fault> {
        self.there(thing, Otherwise::Make)?;
        if relation == Relation::Node {
            for item in items {
                let node = self.node(item, Otherwise::Make)?;
                let group = [named(&thing.name)];
                self.add(&node, Relation::Group, &group, place)?;
            }
            return Ok(());
        }
        if !relation.is_ordered() {
            return self.relate(thing, relation, items);
        }
        let mut order = order(self.state, thing, relation);
        // What facts say is behind all of it, and what only they say, people may say, too.
        order.retain(|(_, rank)| *rank < Some(tags::RANK));
        let mut wanted: Vec<String> = Vec::new();
        for item in items {
            no_value(relation, item)?;
            self.no_default(relation, item)?;
            let name = fold(&item.name);
            if !wanted.contains(&name) {
                wanted.push(name);
            }
        }
        match place {
            // Whoever says where means also what is there already.
            Some(_) => order.retain(|(name, _)| !wanted.contains(name)),
            None => wanted.retain(|name| !order.iter().any(|(other, _)| other == name)),
        }
        let place = place.map_or(order.len(), |place| place.min(order.len()));
        let new = wanted.into_iter().map(|name| (name, None));
        order.splice(place..place, new);
        self.rank(thing, relation, order)
    }

    /// Nobody is put into the default group.
    fn no_default(&self, relation: Relation, item: &Item) -> Result<(), Fault> {
        let is_default = relation == Relation::Group && fold(&item.name) == "default";
        match is_default && self.state.get(&Kind::Group.key(&item.name)).is_none() {
            true => Err(default_group()),
            false => Ok(()),
        }
    }

    fn node(&self, item: &Item, otherwise: Otherwise) -> Result<Thing, Fault> {
        no_value(Relation::Node, item)?;
        let node = Thing {
            kind: Kind::Node,
            name: item.name.clone(),
        };
        self.there(&node, otherwise)?;
        Ok(node)
    }

    /// Relates without order; parameters get their values.
    fn relate(&mut self, thing: &Thing, relation: Relation, items: &[Item]) -> Result<(), Fault> {
        let has_values = relation == Relation::Param && thing.kind != Kind::Subsystem;
        if has_values {
            self.values_are_joined(items)?;
        }
        for item in items {
            if !has_values {
                no_value(relation, item)?;
            }
            let key = thing.field(relation.word()).child(&fold(&item.name));
            let value = item.value.as_deref().map_or(Value::Nothing, Value::text);
            self.assert(key, value)?;
        }
        Ok(())
    }

    /// A value behind its parameter, and not joined to it, would be taken for a parameter of its own.
    fn values_are_joined(&self, items: &[Item]) -> Result<(), Fault> {
        let is_param = |item: &Item| self.state.get(&Kind::Param.key(&item.name)).is_some();
        for pair in items.windows(2) {
            let [name, value] = pair else { continue };
            let is_bare = name.value.is_none() && value.value.is_none();
            if is_bare && is_param(name) && !is_param(value) {
                let (name, value) = (&name.name, &value.name);
                let fault = Fault::new(format!("there is no param {value}")).code(NO_SUCH);
                let help = format!("`{name}={value}` gives `{name}` this value");
                return Err(fault.help(help));
            }
        }
        Ok(())
    }

    /// Gives ranks to those that have none, so that the order is this one, and changes as few others as it can.
    fn rank(
        &mut self,
        thing: &Thing,
        relation: Relation,
        order: Vec<(String, Option<i64>)>,
    ) -> Result<(), Fault> {
        let mut last: Option<i64> = None;
        for (number, (name, rank)) in order.iter().enumerate() {
            let fits = rank.filter(|rank| last.is_none_or(|last| last < *rank));
            let given = fits.unwrap_or_else(|| {
                let next = order[number + 1..].iter().find_map(|(_, rank)| *rank);
                match (last, next) {
                    (None, None) => STEP,
                    (None, Some(next)) => next.saturating_sub(STEP),
                    (Some(last), Some(next)) if next > last.saturating_add(1) => {
                        last + ((next - last) / 2).min(STEP)
                    }
                    (Some(last), _) => last.saturating_add(STEP),
                }
            });
            last = Some(given);
            if *rank != Some(given) {
                let key = thing.field(relation.word()).child(name);
                self.assert(key, Value::text(given.to_string()))?;
            }
        }
        Ok(())
    }

    fn drop(&mut self, thing: &Thing, relation: Relation, names: &[String]) -> Result<(), Fault> {
        self.there(thing, Otherwise::Look)?;
        for name in names {
            let key = match relation {
                Relation::Node => {
                    let node = self.node(&named(name), Otherwise::Look)?;
                    node.field("group").child(&fold(&thing.name))
                }
                _ => thing.field(relation.word()).child(&fold(name)),
            };
            if self.state.get(&key).is_none() {
                let other = Thing {
                    kind: relation.other(thing.kind),
                    name: name.clone(),
                };
                let called = other.own_word().unwrap_or(name);
                let message = format!("{thing} has no {} `{called}`", relation.word());
                let top = thing.field(relation.word());
                let there = last_names(self.state, &top);
                let there = there.into_iter().map(|name| {
                    let other = relation.other(thing.kind).key(&name);
                    let spelling = self.state.get(&other).and_then(|it| it.value.as_text());
                    spelling.map_or(name, str::to_owned)
                });
                let there: Vec<String> = there.collect();
                let near = similar(name, there.iter().map(String::as_str));
                let fault = Fault::new(message).code(NO_SUCH);
                return Err(match near.first() {
                    Some(near) => fault.help(format!("did you mean `{near}`?")),
                    None => fault,
                });
            }
            self.retract(Keys::Only(key));
        }
        Ok(())
    }

    fn replace(&mut self, thing: &Thing, relation: Relation, items: &[Item]) -> Result<(), Fault> {
        self.there(thing, Otherwise::Make)?;
        let wanted: Vec<String> = items.iter().map(|item| fold(&item.name)).collect();
        let is_wanted: BTreeSet<&String> = wanted.iter().collect();
        if relation == Relation::Node {
            let members = members(self.state, &thing.name);
            let gone: Vec<String> = members
                .into_iter()
                .filter(|node| !is_wanted.contains(node))
                .collect();
            self.drop(thing, relation, &gone)?;
            return self.add(thing, relation, items, None);
        }
        let top = thing.field(relation.word());
        for name in last_names(self.state, &top) {
            if !is_wanted.contains(&name) {
                self.retract(Keys::Only(top.child(&name)));
            }
        }
        if !relation.is_ordered() {
            return self.relate(thing, relation, items);
        }
        let now: BTreeMap<String, Option<i64>> =
            order(self.state, thing, relation).into_iter().collect();
        let rank = |name: &String| {
            let known = now.get(name).copied()?;
            known.filter(|rank| *rank < tags::RANK)
        };
        let mut ranked = BTreeSet::new();
        let mut order: Vec<(String, Option<i64>)> = Vec::new();
        for (item, name) in items.iter().zip(&wanted) {
            no_value(relation, item)?;
            self.no_default(relation, item)?;
            if ranked.insert(name) {
                order.push((name.clone(), rank(name)));
            }
        }
        self.rank(thing, relation, order)
    }
}

impl Editor<'_> {
    fn intersect(
        &mut self,
        thing: &Thing,
        relation: Relation,
        names: &[String],
    ) -> Result<(), Fault> {
        let top = self.set_of(thing, relation)?;
        let wanted: BTreeSet<String> = names.iter().map(|name| fold(name)).collect();
        for name in last_names(self.state, &top) {
            if !wanted.contains(&name) {
                self.retract(Keys::Only(top.child(&name)));
            }
        }
        Ok(())
    }

    fn toggle(&mut self, thing: &Thing, relation: Relation, names: &[String]) -> Result<(), Fault> {
        let top = self.set_of(thing, relation)?;
        for name in names {
            let key = top.child(&fold(name));
            match self.state.get(&key) {
                Some(_) => self.retract(Keys::Only(key)),
                None => self.assert(key, Value::Nothing)?,
            }
        }
        Ok(())
    }

    /// Where the others of a relation without order and values are.
    fn set_of(&self, thing: &Thing, relation: Relation) -> Result<Key, Fault> {
        self.there(thing, Otherwise::Make)?;
        let is_set = match relation {
            Relation::Depend | Relation::Conflict => true,
            Relation::Param => thing.kind == Kind::Subsystem,
            _ => false,
        };
        match is_set {
            true => Ok(thing.field(relation.word())),
            false => {
                let message = format!(
                    "the {}s of a {} are no set",
                    relation.word(),
                    thing.kind.word()
                );
                let help = "`add`, `remove` and `replace` change what has an order or values";
                Err(Fault::new(message).code(NO_EDIT).help(help))
            }
        }
    }
}

fn named(name: &str) -> Item {
    Item {
        name: name.to_owned(),
        value: None,
    }
}

/// Only parameters have values.
fn no_value(relation: Relation, item: &Item) -> Result<(), Fault> {
    match &item.value {
        None => Ok(()),
        Some(value) => {
            let relation = relation.word();
            let message = format!(
                "a {relation} has no value, but `{}` has `={value}`",
                item.name
            );
            Err(Fault::new(message).code(NO_EDIT))
        }
    }
}

/// The names of all things of a kind, as they are spelt.
pub fn names(state: &State, kind: Kind) -> Vec<String> {
    let top = Key::new([kind.word()]);
    let things = state.among(Keys::Under(top));
    things
        .filter(|(key, _)| key.names().count() == 2)
        .map(|(key, assertion)| match assertion.value.as_text() {
            Some(spelling) => spelling.to_owned(),
            None => key
                .names()
                .next_back()
                .expect("a key has names")
                .into_owned(),
        })
        .collect()
}

/// The folded names of the members of a group, in their order.
pub fn members(state: &State, group: &str) -> Vec<String> {
    let group = fold(group);
    let nodes = state.among(Keys::Under(Key::new(["node"])));
    nodes
        .filter_map(|(key, _)| {
            let names: Vec<_> = key.names().collect();
            match names.as_slice() {
                [_, node, relation, other] if relation == "group" && *other == group => {
                    Some(node.clone().into_owned())
                }
                _ => None,
            }
        })
        .collect()
}

/// What a thing is related to in order: folded names with their ranks, the highest priority first.
pub fn order(state: &State, thing: &Thing, relation: Relation) -> Vec<(String, Option<i64>)> {
    let top = thing.field(relation.word());
    let mut order: Vec<(i64, String)> = state
        .among(Keys::Under(top))
        .filter_map(|(key, assertion)| {
            let rank = assertion.value.as_text()?.parse().ok()?;
            Some((rank, key.names().next_back()?.into_owned()))
        })
        .collect();
    order.sort();
    order
        .into_iter()
        .map(|(rank, name)| (name, Some(rank)))
        .collect()
}

fn last_names(state: &State, top: &Key) -> Vec<String> {
    let below = state.among(Keys::Under(top.clone()));
    below
        .filter(|(key, _)| *key != top)
        .map(|(key, _)| {
            key.names()
                .next_back()
                .expect("a key has names")
                .into_owned()
        })
        .collect()
}

/// The keys that refer to a thing from others.
fn references(state: &State, thing: &Thing) -> Vec<Key> {
    let itself = thing.key();
    let refers = |key: &Key| !key.is_under(&itself) && Words.supports(key).contains(&itself);
    let keys = state.iter().map(|(key, _)| key);
    keys.filter(|key| refers(key)).cloned().collect()
}
