//! The same commands once more, on plain trees and as simply as can be: what transactions are held against.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hence_model::random::Random;
use hence_model::source::Sources;
use hence_xml::document::{Id, Kind, Tree};

use crate::generate::one;

/// An element, in which text is never beside text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub children: Vec<Item>,
}

/// What is in an element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    Text(String),
    Element(Element),
}

/// Which children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    Name,
    Position(usize),
    Key(String, String),
    /// What no path of Hence can say: those whose text is this.
    Text(String),
}

pub type Step = (String, By);

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    Document(Element),
    Assert(Vec<Step>, Vec<Item>),
    Add(Vec<Step>, Step, Element),
    Subtract(Vec<Step>, Step),
}

/// What somebody who builds such an engine could do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// A command that would make a family larger than one does nothing: a condition within a command.
    Precondition,
    /// What is there already is not replaced.
    FirstWins,
    /// Positions may be used where members come and go.
    Shifting,
    /// Members are told apart by their text.
    TextIsKey,
    /// A command that is repeated adds once more.
    Appending,
}

impl Element {
    fn has(&self, by: &By) -> bool {
        match by {
            By::Key(name, value) => self.attributes.get(name) == Some(value),
            By::Text(text) => self.children == [Item::Text(text.clone())],
            _ => true,
        }
    }

    /// The places of the children with a name.
    fn family(&self, name: &str) -> Vec<usize> {
        let is_named = |item: &Item| matches!(item, Item::Element(one) if one.name == name);
        let places = self.children.iter().enumerate();
        places
            .filter(|(_, item)| is_named(item))
            .map(|(place, _)| place)
            .collect()
    }

    fn member(&self, place: usize) -> &Element {
        match &self.children[place] {
            Item::Element(element) => element,
            Item::Text(_) => panic!("it is an element"),
        }
    }

    /// Whether all have one of these attributes, each with another value.
    fn is_told_apart(&self, family: &[usize], by: impl Fn(&str) -> bool) -> bool {
        let Some(first) = family.first() else {
            return false;
        };
        self.member(*first)
            .attributes
            .keys()
            .filter(|name| by(name))
            .any(|name| {
                let values = family
                    .iter()
                    .map(|place| self.member(*place).attributes.get(name));
                let values: Option<BTreeSet<&String>> = values.collect();
                values.is_some_and(|values| values.len() == family.len())
            })
    }

    /// Does a command on the element as a root; none if it is noted as one that may not be done so.
    pub fn perform(&mut self, order: &Order, fault: Fault) -> Option<()> {
        match order {
            Order::Document(element) => {
                *self = element.clone();
                Some(())
            }
            Order::Assert(path, _) | Order::Add(path, ..) | Order::Subtract(path, _) => {
                let ((name, by), rest) = path.split_first().expect("a path has a root");
                let is_meant =
                    self.name == *name && self.has(by) && !matches!(by, By::Position(2..));
                match is_meant {
                    true => self.within(rest, order, fault),
                    false => Some(()),
                }
            }
        }
    }

    fn within(&mut self, path: &[Step], order: &Order, fault: Fault) -> Option<()> {
        let Some(((name, by), rest)) = path.split_first() else {
            return self.write(order, fault);
        };
        let family = self.family(name);
        if matches!(by, By::Position(_))
            && self.is_told_apart(&family, |_| true)
            && fault != Fault::Shifting
        {
            return None;
        }
        for (number, place) in family.into_iter().enumerate() {
            if matches!(by, By::Position(wanted) if *wanted != number + 1) {
                continue;
            }
            if let Item::Element(element) = &mut self.children[place]
                && element.has(by)
            {
                element.within(rest, order, fault)?;
            }
        }
        Some(())
    }

    fn write(&mut self, order: &Order, fault: Fault) -> Option<()> {
        match order {
            Order::Document(_) => unreachable!("it has no path"),
            Order::Assert(_, items) => self.children = items.clone(),
            Order::Subtract(_, (name, by)) => {
                let family = self.family(name);
                let gone: Vec<usize> = family
                    .iter()
                    .copied()
                    .filter(|place| self.member(*place).has(by))
                    .collect();
                if let By::Key(key, _) = by {
                    let is_keyed = self.is_told_apart(&family, |name| name == key);
                    if !gone.is_empty() && !is_keyed && fault != Fault::Shifting {
                        return None;
                    }
                }
                for place in gone.into_iter().rev() {
                    self.children.remove(place);
                }
                self.join();
            }
            Order::Add(_, (name, by), member) => {
                let family = self.family(name);
                if let By::Key(key, _) = by {
                    let is_keyed = self.is_told_apart(&family, |name| name == key);
                    if !family.is_empty() && !is_keyed && fault != Fault::Shifting {
                        return None;
                    }
                }
                let old: Vec<usize> = family
                    .iter()
                    .copied()
                    .filter(|place| self.member(*place).has(by))
                    .collect();
                let new = Item::Element(member.clone());
                let last_element = self
                    .children
                    .iter()
                    .rposition(|item| matches!(item, Item::Element(_)));
                let behind = match (family.last().copied(), last_element) {
                    (Some(last), _) | (None, Some(last)) => last + 1,
                    (None, None) => self.children.len(),
                };
                match old.first() {
                    Some(_) if fault == Fault::FirstWins => {}
                    Some(first) if fault != Fault::Appending => {
                        self.children[*first] = new;
                        for place in old[1..].iter().rev() {
                            self.children.remove(*place);
                        }
                        self.join();
                    }
                    _ if fault == Fault::Precondition && !family.is_empty() => {}
                    _ => self.children.insert(behind, new),
                }
            }
        }
        Some(())
    }

    /// Text beside text is one text.
    fn join(&mut self) {
        let mut joined: Vec<Item> = Vec::new();
        for item in self.children.drain(..) {
            match (joined.last_mut(), item) {
                (Some(Item::Text(text)), Item::Text(more)) => text.push_str(&more),
                (_, item) => joined.push(item),
            }
        }
        self.children = joined;
    }

    /// The same for all documents that mean the same: members that are told apart by an attribute have no order.
    pub fn normal(&self) -> Element {
        let names: BTreeSet<&String> = self
            .children
            .iter()
            .filter_map(|item| match item {
                Item::Element(element) => Some(&element.name),
                Item::Text(_) => None,
            })
            .collect();
        let mut members: BTreeSet<usize> = BTreeSet::new();
        for name in names {
            let family = self.family(name);
            if self.is_told_apart(&family, |_| true) {
                members.extend(family);
            }
        }
        let normal = |item: &Item| match item {
            Item::Element(element) => Item::Element(element.normal()),
            text => text.clone(),
        };
        let mut ordered = Element {
            children: Vec::new(),
            ..self.clone()
        };
        let mut set: Vec<Item> = Vec::new();
        for (place, item) in self.children.iter().enumerate() {
            match members.contains(&place) {
                true => set.push(normal(item)),
                false => ordered.children.push(normal(item)),
            }
        }
        ordered.join();
        set.sort();
        ordered.children.extend(set);
        ordered
    }

    /// As it is in a document.
    pub fn of(sources: &Sources, tree: &Tree, id: Id) -> Element {
        let element = tree.element(id).expect("it is an element");
        let attributes = element.attributes.iter().map(|attribute| {
            let (name, value) = (
                sources.slice(attribute.name),
                sources.slice(attribute.value),
            );
            (name.to_owned(), value.to_owned())
        });
        let items = element.children.iter().map(|id| match tree.node(*id).kind {
            Kind::Element(_) => Item::Element(Self::of(sources, tree, *id)),
            Kind::Text => Item::Text(sources.slice(tree.node(*id).span).to_owned()),
            _ => panic!("these documents have elements and text"),
        });
        let mut made = Element {
            name: sources.slice(element.name).to_owned(),
            attributes: attributes.collect(),
            children: items.collect(),
        };
        made.join();
        made
    }

    /// In the canonical form of XML.
    pub fn canonical(&self) -> String {
        let mut text = format!("<{}", self.name);
        for (name, value) in &self.attributes {
            let _ = write!(text, " {name}=\"{value}\"");
        }
        text.push('>');
        text.push_str(&printed(&self.children));
        let _ = write!(text, "</{}>", self.name);
        text
    }
}

/// Content as text.
pub fn printed(items: &[Item]) -> String {
    let text = items.iter().map(|item| match item {
        Item::Text(text) => text.clone(),
        Item::Element(element) => element.canonical(),
    });
    text.collect()
}

fn step((name, by): &Step) -> String {
    match by {
        By::Name => name.clone(),
        By::Position(place) => format!("{name}[{place}]"),
        By::Key(key, value) => format!("{name}[@{key}='{value}']"),
        By::Text(text) => format!("{name}[.='{text}']"),
    }
}

fn path(steps: &[Step]) -> String {
    steps.iter().map(|one| format!("/{}", step(one))).collect()
}

impl Order {
    /// As a line of a script.
    pub fn print(&self) -> String {
        match self {
            Order::Document(element) => format!("assert / {}", element.canonical()),
            Order::Assert(steps, items) => format!("assert {} {}", path(steps), printed(items)),
            Order::Add(steps, key, element) => {
                format!("add {} {} {}", path(steps), step(key), element.canonical())
            }
            Order::Subtract(steps, key) => format!("subtract {} {}", path(steps), step(key)),
        }
    }
}

/// Names of elements, most of which are members of families.
const NAMES: [&str; 4] = ["c", "c", "d", "p"];

/// A random element.
pub fn element(random: &mut Random, name: &str, depth: usize) -> Element {
    let mut attributes = BTreeMap::new();
    if name != "p" && name != "r" || random.chance(15) {
        for (key, percent) in [("k", 85), ("j", 30)] {
            if random.chance(percent) {
                attributes.insert(key.to_owned(), random.below(3).to_string());
            }
        }
    }
    Element {
        name: name.to_owned(),
        attributes,
        children: items(random, depth),
    }
}

/// Random content.
pub fn items(random: &mut Random, depth: usize) -> Vec<Item> {
    let mut made = Element {
        name: String::new(),
        attributes: BTreeMap::new(),
        children: Vec::new(),
    };
    for _ in 0..random.below(if depth == 0 { 2 } else { 4 }) {
        made.children.push(match depth == 0 || random.chance(20) {
            true => Item::Text(one(random, &["x", "y", "z"]).to_owned()),
            false => {
                let name = one(random, &NAMES);
                Item::Element(element(random, name, depth - 1))
            }
        });
    }
    made.join();
    made.children
}

/// A random document.
pub fn document(random: &mut Random) -> Element {
    element(random, "r", 3)
}

fn by(random: &mut Random) -> By {
    match random.below(6) {
        0..=2 => By::Name,
        3 => By::Position(1 + random.below(3)),
        _ => By::Key(
            one(random, &["k", "k", "j"]).to_owned(),
            random.below(3).to_string(),
        ),
    }
}

fn steps(random: &mut Random) -> Vec<Step> {
    let mut steps = vec![("r".to_owned(), By::Name)];
    for _ in 0..random.below(3) {
        steps.push((one(random, &NAMES).to_owned(), by(random)));
    }
    steps
}

/// A random command.
pub fn order(random: &mut Random) -> Order {
    let name = one(random, &NAMES).to_owned();
    let key = one(random, &["k", "k", "k", "j"]).to_owned();
    let value = random.below(3).to_string();
    match random.below(20) {
        0 => Order::Document(document(random)),
        1..=7 => Order::Assert(steps(random), items(random, 2)),
        8..=14 => {
            let mut member = element(random, &name, 1);
            member.attributes.insert(key.clone(), value.clone());
            Order::Add(steps(random), (name, By::Key(key, value)), member)
        }
        15 => Order::Subtract(steps(random), (name, By::Name)),
        _ => Order::Subtract(steps(random), (name, By::Key(key, value))),
    }
}

/// Random commands.
pub fn orders(random: &mut Random) -> Vec<Order> {
    (0..1 + random.below(4)).map(|_| order(random)).collect()
}
