//! The paper's definitions word for word: a second, slow evaluator to compare the fast one with.
//!
//! core      definitions 7–27, over stores that are lists
//! forward   links that look ahead, in the same manner
//!
//! A function is a definition and has its number beside it. Nothing is shared, nothing is remembered,
//! and the first error ends everything, as in the paper. Definitions 8–10 and 15 are absent: no
//! function of the paper calls them, only its proofs do.

pub mod core;
pub mod forward;

use hence_model::unit::Unit;
use hence_model::value::{Map, Value};

use self::core::{Evaluation, Identifier, ORDER, Store};
use crate::evaluate::Links;
use crate::tree::Body;

/// Why a specification has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorRule {
    /// The parent of a placement is not a store.
    Err1,
    /// The parent of a placement does not exist.
    Err2,
    /// The root is replaced; no text can ask for it.
    Err3,
    /// A prototype does not exist or is not a store.
    Err4,
    /// A link names nothing.
    Err5,
    /// `sfConfig` does not exist or is not a store.
    Err7,
    /// A value would contain itself; the forward semantics only.
    Cycle,
    /// Order constraints contradict each other.
    Order,
    /// More would be copied than was allowed: the value may exist, but nobody has seen it.
    TooLarge,
}

impl ErrorRule {
    /// The name of the rule; the paper's where it has one.
    pub fn name(self) -> &'static str {
        match self {
            ErrorRule::Err1 => "err1",
            ErrorRule::Err2 => "err2",
            ErrorRule::Err3 => "err3",
            ErrorRule::Err4 => "err4",
            ErrorRule::Err5 => "err5",
            ErrorRule::Err7 => "err7",
            ErrorRule::Cycle => "cycle",
            ErrorRule::Order => "order",
            ErrorRule::TooLarge => "too large",
        }
    }
}

/// What is left of the work that may be done: one unit for each statement and each value copied.
#[derive(Clone, Copy, Debug)]
pub struct Budget(pub u64);

impl Budget {
    /// Takes away the cost of something, if there is enough left.
    pub fn spend(&mut self, cost: u64) -> Result<(), ErrorRule> {
        self.0 = self.0.checked_sub(cost).ok_or(ErrorRule::TooLarge)?;
        Ok(())
    }
}

/// The value of a specification.
pub fn evaluate(
    unit: &Unit,
    body: &Body,
    links: Links,
    budget: Budget,
) -> Result<Value, ErrorRule> {
    let mut evaluation = Evaluation {
        unit,
        links,
        budget,
    };
    let store = match links {
        Links::AtOnce => evaluation.specification(body)?,
        Links::Later => {
            let root = evaluation.body(body, &[], Store::default())?;
            forward::specification(&root, &mut evaluation.budget)?
        }
    };
    hand_out(store)
}

/// A store as a value that knows nothing of hidden attributes, in the order that its constraints ask for.
pub fn hand_out(store: Store) -> Result<Value, ErrorRule> {
    let mut map = Map::default();
    for (identifier, value) in arrange(store)?.0 {
        let value = match value {
            core::Value::Basic(basic) => basic,
            core::Value::Store(store) => hand_out(store)?,
            core::Value::Link(_) => unreachable!("links are followed before a value is handed out"),
            core::Value::Order(_) => continue,
        };
        map.insert(identifier.to_string(), value);
    }
    Ok(Value::Map(map))
}

/// Takes the attribute that may come next and stands first, again and again (§10.4).
fn arrange(store: Store) -> Result<Store, ErrorRule> {
    let Some(constraints) = constraints(&store) else {
        return Ok(store);
    };
    let mut rest = store.0;
    let mut arranged = Store::default();
    while !rest.is_empty() {
        let is_ahead = |id: &Identifier| rest.iter().any(|(ahead, _)| ahead == id);
        let waits = |id: &Identifier| {
            let mut constraints = constraints.iter();
            constraints.any(|(first, second)| second == id && is_ahead(first))
        };
        let next = rest.iter().position(|(id, _)| !waits(id));
        arranged.0.push(rest.remove(next.ok_or(ErrorRule::Order)?));
    }
    Ok(arranged)
}

/// The constraints, and what follows from them: an attribute that is absent connects its neighbours.
fn constraints(store: &Store) -> Option<Vec<(Identifier, Identifier)>> {
    let Some(core::Value::Order(given)) = core::find(store, &[ORDER.into()]) else {
        return None;
    };
    let mut all = given.clone();
    let mut next = 0;
    while let Some((first, second)) = all.get(next).cloned() {
        for (_, third) in given.iter().filter(|(behind, _)| *behind == second) {
            let follows = (first.clone(), third.clone());
            if !all.contains(&follows) {
                all.push(follows);
            }
        }
        next += 1;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use hence_model::print::json::Json;
    use hence_model::source::{Files, ReadError};

    use super::*;
    use crate::lexer::Dialect;
    use crate::tree;

    struct NoFiles;

    impl Files for NoFiles {
        fn read(&self, _: &str, _: &mut String) -> Result<(), ReadError> {
            Err(ReadError::Missing)
        }
    }

    fn value(text: &str, links: Links) -> String {
        let mut unit = Unit::default();
        let file = unit.sources.add("main.sf", text).expect("it is short");
        let body = tree::read(&mut unit, &NoFiles, file, Dialect::Core);
        match evaluate(&unit, &body, links, Budget(1_000)) {
            Err(rule) => rule.name().to_owned(),
            Ok(value) => {
                let mut json = Json::compact(Vec::new());
                value.send(&mut json);
                let bytes = json.finish().expect("a vector takes everything");
                String::from_utf8_lossy(&bytes).trim_end().to_owned()
            }
        }
    }

    #[test]
    fn the_examples_of_the_paper() {
        let figure_7 = "sfConfig extends { a b; b 1; c a; }";
        let figure_8 = "sfConfig extends { comp1 extends { comp2 comp1; } }";
        let figure_9 = "sfConfig extends { a:b extends { c 2; } a extends { b 1; } }";
        let figure_10 = "sfConfig extends { a extends { b extends { c 1; } } a:b:c 3; a 1; }";
        let figure_11 = "p1 extends { q1 1; q2 2; q4 extends { a 1; b 2; } }
            sfConfig extends { p2 extends p1, { q1 2; q3 3; q4 extends { b 3; c 4; } } }";
        let figure_19 = "default extends { order private < public; public 1; private 2; }
            sfConfig extends { a default; b extends default, { order public < private; } }";
        let cyclic = "sfConfig extends { a extends sfConfig }";
        let placement =
            "sfConfig extends { A extends { A extends {} B 11; A:X extends { C 22; } D 33; } }";
        for (text, expected) in [
            (figure_7, "err5"),
            (figure_8, r#"{"comp1":{"comp2":{}}}"#),
            (figure_9, "err2"),
            (figure_10, r#"{"a":1}"#),
            (
                figure_11,
                r#"{"p2":{"q1":2,"q2":2,"q4":{"b":3,"c":4},"q3":3}}"#,
            ),
            (cyclic, r#"{"a":{"a":{}}}"#),
            (placement, r#"{"A":{"A":{"X":{"C":22}},"B":11,"D":33}}"#),
            (
                figure_19,
                r#"{"a":{"private":2,"public":1},"b":{"public":1,"private":2}}"#,
            ),
        ] {
            assert_eq!(value(text, Links::AtOnce), expected, "{text}");
        }
        assert_eq!(value(figure_7, Links::Later), r#"{"a":1,"b":1,"c":1}"#);
        assert_eq!(value(figure_8, Links::Later), "cycle");
    }

    #[test]
    fn passing_through_a_block_is_not_asking_for_its_value() {
        let through = "sfConfig extends { way block; block extends { a way:b; b 1; } }";
        let result = r#"{"way":{"a":1,"b":1},"block":{"a":1,"b":1}}"#;
        assert_eq!(value(through, Links::Later), result);
        let around = "sfConfig extends { a lib:x; } lib extends { x extends { l lib; } }";
        assert_eq!(value(around, Links::Later), "cycle");
    }

    #[test]
    fn copies_that_explode_end_the_evaluation() {
        let doubling: String = (1..30)
            .map(|n| format!("n{n} extends {{ l n{0}; r n{0}; }}\n", n - 1))
            .collect();
        let text = format!("n0 1;\n{doubling} sfConfig extends n29");
        assert_eq!(value(&text, Links::AtOnce), "too large");
        assert_eq!(value(&text, Links::Later), "too large");
    }
}
