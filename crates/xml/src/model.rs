//! Content models: which children an element may have, in which order.
//!
//! A model is an automaton whose states are the names in it (Glushkov's construction). All ways through it are followed
//! at once, so matching takes one step for each child, whether the model is deterministic or not.

use std::collections::HashMap;

/// So many names a model may have.
pub const LARGEST: usize = 2_000;

/// A set of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States(Vec<u64>);

impl States {
    fn insert(&mut self, state: usize) {
        if self.0.len() <= state / 64 {
            self.0.resize(state / 64 + 1, 0);
        }
        self.0[state / 64] |= 1 << (state % 64);
    }

    fn add(&mut self, other: &States) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    fn contains(&self, state: usize) -> bool {
        let word = self.0.get(state / 64).copied().unwrap_or(0);
        word >> (state % 64) & 1 == 1
    }

    fn meets(&self, other: &States) -> bool {
        self.0.iter().zip(&other.0).any(|(one, two)| one & two != 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(place, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| place * 64 + bit)
        })
    }
}

/// A part of a model while it is built: how it may begin and end, and whether it may be nothing.
#[derive(Clone, Debug, Default)]
pub struct Part {
    first: States,
    last: States,
    nullable: bool,
}

/// A content model. State 0 is the beginning.
#[derive(Clone, Debug)]
pub struct Model {
    names: Vec<String>,
    /// The states with a name.
    named: HashMap<String, States>,
    follow: Vec<States>,
    last: States,
    nullable: bool,
}

/// Builds a model, part by part.
#[derive(Debug)]
pub struct Builder {
    names: Vec<String>,
    follow: Vec<States>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            names: vec![String::new()],
            follow: vec![States::default()],
        }
    }
}

impl Builder {
    /// One child; none if there are too many of them.
    pub fn name(&mut self, name: &str) -> Option<Part> {
        if self.names.len() > LARGEST {
            return None;
        }
        let mut part = Part::default();
        part.first.insert(self.names.len());
        part.last.insert(self.names.len());
        self.names.push(name.to_owned());
        self.follow.push(States::default());
        Some(part)
    }

    /// `a, b`
    pub fn sequence(&mut self, mut one: Part, two: Part) -> Part {
        self.join(&one.last, &two.first);
        if one.nullable {
            one.first.add(&two.first);
        }
        match two.nullable {
            true => one.last.add(&two.last),
            false => one.last = two.last,
        }
        one.nullable &= two.nullable;
        one
    }

    /// `a | b`
    pub fn choice(&mut self, mut one: Part, two: Part) -> Part {
        one.first.add(&two.first);
        one.last.add(&two.last);
        one.nullable |= two.nullable;
        one
    }

    /// `a?`
    pub fn optional(&mut self, mut part: Part) -> Part {
        part.nullable = true;
        part
    }

    /// `a+`; with [`Builder::optional`], `a*`
    pub fn repeated(&mut self, part: Part) -> Part {
        self.join(&part.last, &part.first);
        part
    }

    fn join(&mut self, from: &States, to: &States) {
        for state in from.iter() {
            self.follow[state].add(to);
        }
    }

    /// The model of which this is all.
    pub fn finish(mut self, all: Part) -> Model {
        self.follow[0] = all.first;
        let mut named: HashMap<String, States> = HashMap::new();
        for (state, name) in self.names.iter().enumerate().skip(1) {
            named.entry(name.clone()).or_default().insert(state);
        }
        Model {
            named,
            names: self.names,
            follow: self.follow,
            last: all.last,
            nullable: all.nullable,
        }
    }
}

/// How far a row of children fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It fits.
    Whole,
    /// The child with this number does not, as one of these names was expected, or the end.
    Not(usize, Vec<String>),
    /// More is expected: one of these names.
    More(Vec<String>),
}

impl Model {
    fn beginning() -> States {
        let mut states = States::default();
        states.insert(0);
        states
    }

    fn next(&self, states: &States, name: &str) -> States {
        let mut next = States::default();
        let Some(named) = self.named.get(name) else {
            return next;
        };
        for state in states.iter() {
            next.add(&self.follow[state]);
        }
        for (place, word) in next.0.iter_mut().enumerate() {
            *word &= named.0.get(place).copied().unwrap_or(0);
        }
        next
    }

    fn accepts(&self, states: &States) -> bool {
        states.meets(&self.last) || self.nullable && states.contains(0)
    }

    fn expected(&self, states: &States) -> Vec<String> {
        let followers = states.iter().flat_map(|state| self.follow[state].iter());
        let mut names: Vec<String> = followers.map(|state| self.names[state].clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether these children fit.
    pub fn fit<'n>(&self, children: impl IntoIterator<Item = &'n str>) -> Fit {
        let mut states = Self::beginning();
        for (number, name) in children.into_iter().enumerate() {
            let next = self.next(&states, name);
            if next.iter().next().is_none() {
                return Fit::Not(number, self.expected(&states));
            }
            states = next;
        }
        match self.accepts(&states) {
            true => Fit::Whole,
            false => Fit::More(self.expected(&states)),
        }
    }

    /// The last place among these children where one more may stand; none if there is no such place.
    pub fn place(&self, children: &[&str], more: &str) -> Option<usize> {
        let mut ways = vec![Self::beginning()];
        for name in children {
            let next = self.next(&ways[ways.len() - 1], name);
            ways.push(next);
        }
        // The states from which the rest is accepted, beginning with nothing left.
        let mut good = self.last.clone();
        if self.nullable {
            good.insert(0);
        }
        for place in (0..=children.len()).rev() {
            if self.next(&ways[place], more).meets(&good) {
                return Some(place);
            }
            if let Some(name) = place.checked_sub(1).map(|before| children[before]) {
                let mut better = States::default();
                for state in 0..self.names.len() {
                    let mut one = States::default();
                    one.insert(state);
                    if self.next(&one, name).meets(&good) {
                        better.insert(state);
                    }
                }
                good = better;
            }
        }
        None
    }

    /// Whether no child could be two of the names in the model, as XML wants it for the sake of other tools.
    pub fn is_deterministic(&self) -> bool {
        self.follow.iter().all(|followers| {
            let mut names: Vec<&str> = followers
                .iter()
                .map(|state| self.names[state].as_str())
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            names.len() == count
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(a?, (b | c)+, d*)`
    fn model() -> Model {
        let mut builder = Builder::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| builder.name(name).unwrap());
        let a = builder.optional(a);
        let choice = builder.choice(b, c);
        let choice = builder.repeated(choice);
        let d = builder.repeated(d);
        let d = builder.optional(d);
        let all = builder.sequence(a, choice);
        let all = builder.sequence(all, d);
        builder.finish(all)
    }

    #[test]
    fn children_fit_or_it_is_said_what_was_expected() {
        let model = model();
        assert_eq!(model.fit(["a", "b", "c", "d"]), Fit::Whole);
        assert_eq!(model.fit(["c"]), Fit::Whole);
        assert_eq!(model.fit(["a"]), Fit::More(vec!["b".into(), "c".into()]));
        let expected = vec!["b".into(), "c".into(), "d".into()];
        assert_eq!(model.fit(["b", "a"]), Fit::Not(1, expected));
        assert!(model.is_deterministic());
    }

    #[test]
    fn one_more_child_has_its_last_place() {
        let model = model();
        assert_eq!(model.place(&["a", "b", "d"], "c"), Some(2));
        assert_eq!(model.place(&["b", "d"], "a"), Some(0));
        assert_eq!(model.place(&["b"], "d"), Some(1));
        assert_eq!(model.place(&["a", "b"], "a"), None);
    }
}
