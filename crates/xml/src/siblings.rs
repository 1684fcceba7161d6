//! The children of an element while commands come and go: members of a family are found by their keys, and nothing is moved
//! when one is put in or taken out.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::document::Id;

/// The children of an element.
pub struct Siblings<'w> {
    /// Each with its neighbours; the first stands for both ends. A member that is put in stands behind its family, so
    /// numbers of a family's links are in the order of its members.
    links: Vec<Link>,
    families: HashMap<&'w str, Family<'w>>,
    /// Whether white space means nothing here, as there is no other text.
    pub is_spaced: bool,
    /// Whether they are other children than at first.
    pub is_changed: bool,
}

struct Link {
    id: Id,
    before: usize,
    after: usize,
}

/// Which link a child has.
pub type Place = usize;

const END: Place = 0;

/// Children with the same name.
#[derive(Default)]
struct Family<'w> {
    members: BTreeSet<Place>,
    /// The same in one row, until one comes or goes.
    row: Option<Row>,
    /// By the names of attributes that tell members apart, or are said to.
    keys: HashMap<Vec<String>, Keys<'w>>,
}

/// Members, in their order.
pub type Row = Rc<[(Place, Id)]>;

/// Members by the values of some attributes; those that do not have all of them are not here.
type Keys<'w> = HashMap<Vec<Cow<'w, str>>, BTreeSet<Place>>;

/// What says the value of an element's attribute.
pub type Values<'v, 'w> = &'v dyn Fn(Id, &str) -> Option<Cow<'w, str>>;

impl<'w> Siblings<'w> {
    /// Children, with the names of those that are elements.
    pub fn new(children: impl Iterator<Item = (Id, Option<&'w str>)>, is_spaced: bool) -> Self {
        let end = Link {
            id: 0,
            before: END,
            after: END,
        };
        let mut siblings = Self {
            links: vec![end],
            families: HashMap::new(),
            is_spaced,
            is_changed: false,
        };
        for (id, name) in children {
            let place = siblings.link(siblings.links[END].before, id);
            if let Some(name) = name {
                let family = siblings.families.entry(name).or_default();
                family.members.insert(place);
            }
        }
        siblings
    }

    /// All of them, in their order.
    pub fn children(&self) -> Vec<Id> {
        let mut children = Vec::new();
        let mut place = self.links[END].after;
        while place != END {
            children.push(self.links[place].id);
            place = self.links[place].after;
        }
        children
    }

    /// The child at a place.
    pub fn id(&self, place: Place) -> Id {
        self.links[place].id
    }

    /// The child before a place.
    pub fn before(&self, place: Place) -> Option<Id> {
        let before = self.links[place].before;
        (before != END).then(|| self.links[before].id)
    }

    /// The places before one, the nearest first; all of them, from the end on, if there is none.
    pub fn backwards(&self, from: Option<Place>) -> impl Iterator<Item = Place> {
        let before = |place: &Place| Some(self.links[*place].before).filter(|one| *one != END);
        std::iter::successors(before(&from.unwrap_or(END)), before)
    }

    /// The names of the families that have members.
    pub fn names(&self) -> impl Iterator<Item = &'w str> {
        let families = self.families.iter();
        let families = families.filter(|(_, family)| !family.members.is_empty());
        families.map(|(name, _)| *name)
    }

    /// The last member of a family.
    pub fn last(&self, name: &str) -> Option<Place> {
        self.families.get(name)?.members.last().copied()
    }

    /// The members of a family, and how many had to be looked at.
    pub fn row(&mut self, name: &str) -> (Row, usize) {
        let Some(family) = self.families.get_mut(name) else {
            return (Rc::default(), 0);
        };
        if let Some(row) = &family.row {
            return (row.clone(), 0);
        }
        let row = family.members.iter();
        let row: Row = row.map(|place| (*place, self.links[*place].id)).collect();
        family.row = Some(row.clone());
        let looked = row.len();
        (row, looked)
    }

    /// The members of a family with these values of attributes, and how many had to be looked at.
    pub fn find(
        &mut self,
        name: &str,
        pairs: &[(String, String)],
        values: Values<'_, 'w>,
    ) -> (Vec<Place>, usize) {
        let names = pairs.iter().map(|(name, _)| name.clone());
        let Some((keys, _, looked)) = self.keys(name, names.collect(), values) else {
            return (Vec::new(), 0);
        };
        let wanted: Vec<Cow<'_, str>> = pairs.iter().map(|(_, value)| value.into()).collect();
        let found = keys.get(&wanted).into_iter().flatten().copied();
        (found.collect(), looked)
    }

    /// Whether attributes tell all members of a family apart, and how many had to be looked at.
    pub fn are_told_apart(
        &mut self,
        name: &str,
        attributes: Vec<String>,
        values: Values<'_, 'w>,
    ) -> (bool, usize) {
        match self.keys(name, attributes, values) {
            None => (true, 0),
            Some((keys, members, looked)) => (keys.len() == members, looked),
        }
    }

    /// A family by attributes, of how many members it is, and how many had to be looked at.
    fn keys(
        &mut self,
        name: &str,
        attributes: Vec<String>,
        values: Values<'_, 'w>,
    ) -> Option<(&Keys<'w>, usize, usize)> {
        let family = self.families.get_mut(name)?;
        let mut looked = 0;
        let keys = family.keys.entry(attributes).or_insert_with_key(|names| {
            let mut keys = Keys::new();
            for place in &family.members {
                looked += 1;
                if let Some(key) = key(self.links[*place].id, names, values) {
                    keys.entry(key).or_default().insert(*place);
                }
            }
            keys
        });
        Some((keys, family.members.len(), looked))
    }

    /// Puts another child at the place of a member.
    pub fn replace(&mut self, name: &str, place: Place, id: Id, values: Values<'_, 'w>) {
        self.forget(name, place, values);
        self.links[place].id = id;
        self.learn(name, place, values);
        self.is_changed = true;
    }

    /// Puts a member behind a place, or before all others: behind the last of its family, or as the first of it.
    pub fn put(&mut self, name: &'w str, behind: Option<Place>, id: Id, values: Values<'_, 'w>) {
        let place = self.link(behind.unwrap_or(END), id);
        self.families.entry(name).or_default();
        self.learn(name, place, values);
        self.is_changed = true;
    }

    /// Puts white space behind a place, or before all others.
    pub fn put_space(&mut self, behind: Option<Place>, id: Id) -> Place {
        self.link(behind.unwrap_or(END), id)
    }

    /// Takes a member out.
    pub fn take(&mut self, name: &str, place: Place, values: Values<'_, 'w>) {
        self.forget(name, place, values);
        self.unlink(place);
    }

    /// Takes out what stands before a place.
    pub fn take_before(&mut self, place: Place) {
        let before = self.links[place].before;
        if before != END {
            self.unlink(before);
        }
    }

    fn link(&mut self, before: Place, id: Id) -> Place {
        let place = self.links.len();
        let after = self.links[before].after;
        self.links.push(Link { id, before, after });
        self.links[before].after = place;
        self.links[after].before = place;
        place
    }

    fn unlink(&mut self, place: Place) {
        let (before, after) = (self.links[place].before, self.links[place].after);
        self.links[before].after = after;
        self.links[after].before = before;
        self.is_changed = true;
    }

    fn learn(&mut self, name: &str, place: Place, values: Values<'_, 'w>) {
        let id = self.links[place].id;
        if let Some(family) = self.families.get_mut(name) {
            family.members.insert(place);
            family.row = None;
            for (names, keys) in &mut family.keys {
                if let Some(key) = key(id, names, values) {
                    keys.entry(key).or_default().insert(place);
                }
            }
        }
    }

    fn forget(&mut self, name: &str, place: Place, values: Values<'_, 'w>) {
        let id = self.links[place].id;
        if let Some(family) = self.families.get_mut(name) {
            family.members.remove(&place);
            family.row = None;
            for (names, keys) in &mut family.keys {
                if let Some(key) = key(id, names, values)
                    && let Some(places) = keys.get_mut(&key)
                {
                    places.remove(&place);
                    if places.is_empty() {
                        keys.remove(&key);
                    }
                }
            }
        }
    }
}

/// The values of attributes, if an element has all of them.
fn key<'w>(id: Id, names: &[String], values: Values<'_, 'w>) -> Option<Vec<Cow<'w, str>>> {
    names.iter().map(|name| values(id, name)).collect()
}
