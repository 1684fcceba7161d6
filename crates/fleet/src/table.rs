//! Things of one kind, by number and by name.

use ecow::EcoString;
use rustc_hash::FxHashMap;

use crate::bits::Bits;

/// Things of one kind. A name keeps its number for ever.
#[derive(Clone, Debug)]
pub(crate) struct Table<T> {
    rows: Vec<T>,
    numbers: FxHashMap<EcoString, u32>,
}

/// What has a name.
pub(crate) trait Named: Default {
    fn entity(&self) -> &Entity;
    fn entity_mut(&mut self) -> &mut Entity;
}

/// What is the same for things of every kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entity {
    /// In one case.
    pub name: EcoString,
    /// As it is spelled; none if it is only mentioned.
    pub spelling: Option<EcoString>,
    pub annotation: Option<EcoString>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T: Named> Table<T> {
    /// The number of a name; a new one if the name is new.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.rows.len()).expect("fewer than four billion names");
        let name = EcoString::from(name);
        let mut row = T::default();
        row.entity_mut().name = name.clone();
        self.rows.push(row);
        self.numbers.insert(name, number);
        number
    }

    /// Says how something is spelled, or that it is not asserted; whether this is news about its being asserted.
    pub fn spell(&mut self, number: u32, spelling: Option<EcoString>) -> bool {
        let entity = self.rows[number as usize].entity_mut();
        let was_known = entity.spelling.is_some();
        // Most names are spelled as they stand in keys: then the text is kept once.
        entity.spelling = spelling.map(|spelling| match spelling == entity.name {
            true => entity.name.clone(),
            false => spelling,
        });
        was_known != entity.spelling.is_some()
    }

    /// The number of a name in one case, asserted or only mentioned.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The number of a name in one case, if it is asserted.
    pub fn known(&self, name: &str) -> Option<u32> {
        self.find(name).filter(|&number| self.is_known(number))
    }

    pub fn is_known(&self, number: u32) -> bool {
        self.get(number).entity().spelling.is_some()
    }

    pub fn get(&self, number: u32) -> &T {
        &self.rows[number as usize]
    }

    pub fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.rows[number as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.rows)
    }

    pub fn len(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Its name in keys.
    pub fn name(&self, number: u32) -> &str {
        &self.get(number).entity().name
    }

    pub fn spelled(&self, number: u32) -> Option<&EcoString> {
        self.get(number).entity().spelling.as_ref()
    }

    /// How a name in one case is spelled, if it is asserted.
    pub fn spelling(&self, name: &str) -> Option<EcoString> {
        self.find(name)
            .and_then(|number| self.spelled(number))
            .cloned()
    }

    /// How all that are asserted are spelled, in order.
    pub fn known_names(&self) -> Vec<EcoString> {
        let spelled = self
            .rows
            .iter()
            .filter_map(|row| row.entity().spelling.clone());
        let mut names: Vec<EcoString> = spelled.collect();
        names.sort();
        names
    }

    /// How it is spelled, or its name in keys.
    pub fn called(&self, number: u32) -> EcoString {
        let entity = self.get(number).entity();
        entity.spelling.as_ref().unwrap_or(&entity.name).clone()
    }

    /// How some are spelled, in order.
    pub fn spellings(&self, numbers: &Bits) -> Vec<EcoString> {
        let mut names: Vec<EcoString> = numbers.iter().map(|number| self.called(number)).collect();
        names.sort();
        names
    }
}
