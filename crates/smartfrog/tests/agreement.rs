//! The evaluator and the definitions agree, and the paper's theorems hold, over random specifications.
//!
//! `HENCE_CASES` says over how many, `HENCE_SEED` with which seed to begin.

mod comparison;

use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use comparison::{compiled, fast, named, slow};
use hence_model::print::json::Json;
use hence_model::trace::{NoTrace, Trace};
use hence_model::unit::{Limits, Unit};
use hence_model::value::{Event, Sink, Value};
use hence_smartfrog::Compiled;
use hence_smartfrog::definitional::Budget;
use hence_smartfrog::definitional::core::{
    Evaluation, Identifier, Store, Value as Stored, bind, put,
};
use hence_smartfrog::evaluate::Links;
use hence_smartfrog::generate::{Kind, Random, Specification, specification};
use hence_smartfrog::lexer::Dialect;
use hence_smartfrog::printer::SmartFrog;
use hence_smartfrog::tree;

#[test]
fn the_core_semantics_is_what_the_definitions_say() {
    let tally = over_specifications(Kind::Core, cases(), agreement);
    for rule in [
        "value",
        "err1",
        "err2",
        "err4",
        "err5",
        "err7",
        "sf.order-cycle",
    ] {
        assert!(tally.contains_key(rule), "no case of {rule} in {tally:?}");
    }
}

#[test]
fn the_forward_semantics_is_what_its_definitions_say() {
    let tally = over_specifications(Kind::Forward, cases(), agreement);
    for rule in [
        "value",
        "err1",
        "err2",
        "err4",
        "err5",
        "err7",
        "sf.link-cycle",
    ] {
        assert!(tally.contains_key(rule), "no case of {rule} in {tally:?}");
    }
}

/// The generator, the definitions and the evaluator say the same.
fn agreement(kind: Kind, specification: &Specification) -> &'static str {
    let fast = fast(&compile::<Trace>(kind, specification));
    let (Some(expected), Some(slow)) = (
        named(specification.expected.clone()),
        slow(specification, MAIN, kind, Limits::default()),
    ) else {
        return "too large";
    };
    assert_eq!(expected, slow, "expected, and by the definitions");
    assert_eq!(slow, fast, "by the definitions, and by the evaluator");
    match slow {
        Ok(_) => "value",
        Err(rule) => rule,
    }
}

#[test]
fn a_specification_means_the_same_each_time_and_under_any_name() {
    for kind in [Kind::Core, Kind::Forward] {
        over_specifications(kind, cases() / 10, |kind, specification| {
            let first = compile::<Trace>(kind, specification);
            let again = compile::<Trace>(kind, specification);
            assert_eq!(json(&first), json(&again));
            assert_eq!(first.unit.diagnostics, again.unit.diagnostics);
            let mut renamed = specification.clone();
            renamed.files[0].0 = "other.sf".into();
            let renamed = compiled::<Trace>(&renamed, "other.sf", kind, Limits::default());
            assert_eq!(json(&first), json(&renamed));
            kept(&first)
        });
    }
}

#[test]
fn recording_origins_changes_nothing() {
    for kind in [Kind::Core, Kind::Forward] {
        over_specifications(kind, cases() / 10, |kind, specification| {
            let traced = compile::<Trace>(kind, specification);
            let plain = compile::<NoTrace>(kind, specification);
            assert_eq!(fast(&traced), fast(&plain));
            kept(&traced)
        });
    }
}

#[test]
fn what_is_printed_compiles_to_the_same_value() {
    for kind in [Kind::Core, Kind::Forward] {
        over_specifications(kind, cases() / 10, |kind, specification| {
            let first = compile::<Trace>(kind, specification);
            if first.configuration.is_none() {
                return "error";
            }
            let mut printer = SmartFrog::new(Vec::new(), Dialect::Core);
            first.send(&mut printer);
            let printed = printer.finish().expect("a vector takes everything");
            let printed = String::from_utf8(printed).expect("text is printed");
            let printed = Specification {
                files: vec![(MAIN.into(), printed)],
                expected: specification.expected.clone(),
            };
            // There are no links left, so that all semantics agree.
            for kind in [Kind::Core, Kind::Forward] {
                let second = compile::<Trace>(kind, &printed);
                assert_eq!(json(&first), json(&second), "{}", printed.files[0].1);
            }
            assert_eq!(json(&first), json(&compile::<Trace>(kind, &printed)));
            "value"
        });
    }
}

/// Theorem 2, for both evaluators.
#[test]
fn identifiers_in_a_result_are_unique() {
    over_specifications(Kind::Core, cases() / 10, |kind, specification| {
        let compiled = compile::<Trace>(kind, specification);
        compiled.send(&mut UniqueKeys::default());
        let mut unit = Unit::default();
        let file = unit.load(specification, MAIN).expect("it is there");
        let body = tree::read(&mut unit, specification, file, Dialect::Core);
        let mut evaluation = Evaluation {
            unit: &unit,
            links: Links::AtOnce,
            budget: Budget(100_000),
        };
        if let Ok(store) = evaluation.specification(&body) {
            assert!(is_unique(&store));
        }
        kept(&compiled)
    });
}

/// Lemmas 1 and 2.
#[test]
fn put_and_bind_keep_identifiers_unique() {
    for seed in 0..cases() {
        let mut random = Random::new(seed as u64);
        let mut store = Store::default();
        for _ in 0..random.below(30) {
            let value = match random.chance(50) {
                true => Stored::Store(Store::default()),
                false => Stored::Basic(Value::Null),
            };
            let names = 1 + random.below(4);
            let reference: Vec<Identifier> = (0..names)
                .map(|_| random.pick(&["a", "b", "c"]).to_string().into())
                .collect();
            store = match &reference[..] {
                [identifier] => put(store, identifier, value),
                _ => bind(store.clone(), &reference, value).unwrap_or(store),
            };
            assert!(is_unique(&store), "{store:?} of seed {seed}");
        }
    }
}

fn is_unique(store: &Store) -> bool {
    let mut seen = HashSet::new();
    store.0.iter().all(|(identifier, value)| {
        let inner = match value {
            Stored::Store(inner) => is_unique(inner),
            _ => true,
        };
        inner && seen.insert(identifier)
    })
}

/// Sees to it that no map has a key twice.
#[derive(Default)]
struct UniqueKeys(Vec<HashSet<String>>);

impl Sink for UniqueKeys {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::MapStart => self.0.push(HashSet::new()),
            Event::MapEnd => assert!(self.0.pop().is_some()),
            Event::Key(key) => {
                let keys = self.0.last_mut().expect("a key is in a map");
                assert!(keys.insert(key.to_owned()), "`{key}` comes twice");
            }
            _ => {}
        }
    }
}

const MAIN: &str = "main.sf";

fn compile<R: hence_model::trace::Recorder>(
    kind: Kind,
    specification: &Specification,
) -> Compiled<R> {
    compiled(specification, MAIN, kind, Limits::default())
}

fn json(compiled: &Compiled) -> String {
    let mut json = Json::pretty(Vec::new());
    compiled.send(&mut json);
    let bytes = json.finish().expect("a vector takes everything");
    String::from_utf8(bytes).expect("text is printed")
}

fn kept(compiled: &Compiled) -> &'static str {
    match compiled.configuration {
        Some(_) => "value",
        None => "error",
    }
}

fn cases() -> usize {
    number("HENCE_CASES").unwrap_or(10_000)
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Checks a property for so many specifications. How often each outcome came is the result; the first
/// specification for which the property does not hold is shown, as small as its seed makes it.
fn over_specifications(
    kind: Kind,
    count: usize,
    property: fn(Kind, &Specification) -> &'static str,
) -> BTreeMap<&'static str, usize> {
    let holds = |seed, size| {
        let specification = specification(kind, seed, size);
        let outcome = catch_unwind(AssertUnwindSafe(|| property(kind, &specification)));
        outcome.map_err(|_| specification)
    };
    let mut tally = BTreeMap::new();
    let first = number("HENCE_SEED").unwrap_or(0);
    for seed in (first..first + count).map(|seed| seed as u64) {
        let size = match seed % 50 {
            0 => 200,
            _ => 1 + Random::new(seed).below(50),
        };
        match holds(seed, size) {
            Ok(outcome) => *tally.entry(outcome).or_default() += 1,
            Err(failed) => {
                let smaller = (1..size).find_map(|size| Some((size, holds(seed, size).err()?)));
                let (size, failed) = smaller.unwrap_or((size, failed));
                for (name, text) in &failed.files {
                    eprintln!("// {name}\n{text}");
                }
                panic!("{kind:?} specification of seed {seed} and size {size}, as above");
            }
        }
    }
    println!("{kind:?} specifications: {tally:?}");
    tally
}
