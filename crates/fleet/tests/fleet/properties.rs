//! What holds for all fleets.

use std::sync::Arc;

use hence_fleet::relations::{CONFLICT_WITH_ITSELF, CYCLE};
use hence_fleet::{
    Nodes, Partial, Plan, Pool, Resolved, Words, changed_nodes, check, definitional, difference,
    plan,
};
use hence_ledger::key::fold;
use hence_ledger::state::net;
use hence_ledger::value::Sealed;
use hence_ledger::{Command, Key, Keys, State, Value, Vocabulary};
use hence_model::random::Random;

use crate::dsl::assertions;

/// Whether inclusions and dependencies may go in circles.
#[derive(Clone, Copy, PartialEq)]
pub enum Circles {
    Allowed,
    Avoided,
}

/// Something that somebody could assert or retract in a small fleet.
pub fn random_command(random: &mut Random, circles: Circles) -> Command {
    let names = random_names(random, circles);
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let value = match names.get(2).map(String::as_str) {
        Some("group" | "feature" | "include") => Value::text(random.below(4).to_string()),
        Some("param") if names[0] != "subsystem" => random_value(random),
        Some("default") => Value::text(*random.pick(&["", "D", ">= d"])),
        Some("kind") => {
            Value::text(*random.pick(&["string", "integer", "pattern([a-c\\s]+)", "odd"]))
        }
        _ => Value::Nothing,
    };
    let (key, value) = Words.assertion(&names, value).expect("the names are right");
    // Things must be there more often than not, or nothing has an effect.
    let retracted = match names.len() {
        2 => 15,
        _ => 30,
    };
    match random.chance(retracted) {
        true if random.chance(20) => Command::Retract(Keys::Under(key)),
        true => Command::Retract(Keys::Only(key)),
        false => Command::Assert {
            owner: "test".into(),
            key,
            value,
        },
    }
}

const FEATURES: [&str; 7] = ["F0", "F1", "F2", "F3", "F4", "F5", "F6"];
const PARAMS: [&str; 6] = ["P0", "P1", "P2", "P3", "P4", "P5"];

fn random_names(random: &mut Random, circles: Circles) -> Vec<&'static str> {
    let node = *random.pick(&["N0", "N1", "N2", "N3"]);
    let group = *random.pick(&["G0", "G1", "G2", "+++skel"]);
    let body = match random.below(3) {
        0 => ["node", node],
        1 => ["group", group],
        _ => ["group", "+++default"],
    };
    let first = random.below(7);
    let second = match circles {
        Circles::Allowed => random.below(7),
        Circles::Avoided => random.below(first.max(1)),
    };
    let is_pair = first != second;
    let feature = FEATURES[first];
    let param = *random.pick(&PARAMS);
    match random.below(20) {
        0 => vec!["node", node],
        1 => vec!["group", group],
        2 | 3 => vec!["feature", feature],
        4 | 5 => vec!["param", param],
        6 => vec!["subsystem", "S"],
        7 => vec!["subsystem", "S", "param", param],
        8 | 9 => vec!["node", node, "group", group],
        10 | 11 => vec![body[0], body[1], "feature", feature],
        12 => vec![body[0], body[1], "param", param],
        13 | 14 => vec!["feature", feature, "param", param],
        15 if is_pair => vec!["feature", feature, "include", FEATURES[second]],
        16 if is_pair => vec!["feature", feature, "depend", FEATURES[second]],
        17 if is_pair => vec!["feature", feature, "conflict", FEATURES[second]],
        18 => vec![
            "param",
            param,
            *random.pick(&["must-change", "default", "restart", "kind"]),
        ],
        19 if is_pair && first < 6 && second < 6 => {
            let word = *random.pick(&["depend", "conflict"]);
            vec!["param", PARAMS[first], word, PARAMS[second]]
        }
        _ => vec!["feature", feature, "param", param],
    }
}

fn random_value(random: &mut Random) -> Value {
    match random.below(8) {
        0 => Value::Nothing,
        1 => Value::text(""),
        2 => Value::text(*random.pick(&[">= ", "?=", "&&=  \t", ">= ?="])),
        3 => Value::Sealed(Sealed {
            fingerprint: "5ea1".into(),
            content: "00".into(),
        }),
        _ => {
            let sign = *random.pick(&["", "", ">= ", ">=", "&&= ", "||= ", "?= ", ">= &&= ", " "]);
            let text = *random.pick(&["a", "b", "c\nd", "0"]);
            Value::text(format!("{sign}{text}"))
        }
    }
}

#[test]
fn a_pool_that_followed_changes_equals_one_built_from_the_state() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        let mut pool = Pool::default();
        for step in 0..40 {
            let mut raw = Vec::new();
            for _ in 0..1 + random.below(4) {
                let command = random_command(&mut random, Circles::Allowed);
                raw.extend(state.perform(&command, 1, &Words));
            }
            let changes = net(raw);
            let before = pool.clone();
            pool.apply(&changes);
            assert!(
                pool == Pool::new(&state),
                "seed {seed} step {step}:\n{state}"
            );
            if random.chance(20) {
                pool.take_back(&changes);
                assert!(pool == before, "seed {seed} step {step}: taken back");
                pool.apply(&changes);
            }
        }
    }
}

#[test]
fn folding_partials_equals_the_published_algorithms() {
    let mut failures = 0;
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        for _ in 0..40 + random.below(120) {
            state.perform(&random_command(&mut random, Circles::Avoided), 1, &Words);
        }
        let assertions = assertions(&state);
        let pool = Pool::new(&state);
        let found = pool.validate();
        for node in pool.nodes() {
            let config = pool.config(&node).expect("it is there");
            let config = config
                .into_iter()
                .map(|(name, value)| (fold(&name), value.to_string()));
            let slow = definitional::config(&assertions, &node);
            assert_eq!(
                config.collect::<Vec<_>>(),
                slow.into_iter().collect::<Vec<_>>(),
                "seed {seed} {node}\n{state}"
            );

            let of_node = found.iter().filter(|failure| failure.node == node);
            let fast: Vec<(&str, Vec<String>)> = of_node
                .map(|failure| {
                    (
                        failure.code.name,
                        failure.names.iter().map(|name| fold(name)).collect(),
                    )
                })
                .collect();
            failures += fast.len();
            let mut sorted = fast.clone();
            sorted.sort();
            let slow: Vec<_> = definitional::failures(&assertions, &node)
                .into_iter()
                .collect();
            assert_eq!(sorted, slow, "seed {seed} {node}\n{state}");
        }
    }
    assert!(
        failures > 1000,
        "the cases should fail often enough: {failures}"
    );
}

fn random_partial(random: &mut Random) -> Partial {
    let mut partial = Partial::of(&random_value(random));
    for _ in 0..random.below(3) {
        partial = partial.then(&Partial::of(&random_value(random)));
    }
    partial
}

#[test]
fn partial_values_are_a_monoid() {
    let mut random = Random::new(7);
    for _ in 0..50_000 {
        let [a, b, c] = [(); 3].map(|()| random_partial(&mut random));
        assert_eq!(a.then(&b).then(&c), a.then(&b.then(&c)));
        assert_eq!(a.then(&Partial::bare()), a);
        assert_eq!(Partial::bare().then(&a), a);
        for below in [None, Some(Resolved::default()), Some(Resolved::text("x"))] {
            let one_by_one = b.apply(Some(&a.apply(below.as_ref())));
            assert_eq!(a.then(&b).apply(below.as_ref()), one_by_one);
        }
    }
}

#[test]
fn blame_and_repairs_name_assertions_that_are_there_and_help() {
    let mut tried = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        for _ in 0..150 {
            state.perform(&random_command(&mut random, Circles::Avoided), 1, &Words);
        }
        let pool = Pool::new(&state);
        for failure in pool.validate().iter().take(3) {
            let blame = pool.blame(failure);
            assert!(!blame.is_empty(), "seed {seed} {failure:?}");
            for key in &blame {
                assert!(state.get(key).is_some(), "seed {seed} {failure:?}: {key}");
            }
            for repair in pool.repairs(failure) {
                tried += 1;
                let mut repaired = state.clone();
                for command in crate::dsl::parse(&repair.commands.join("\n")).expect("commands") {
                    repaired.perform(&command, 1, &Words);
                }
                let after = Pool::new(&repaired).validate_nodes([failure.node.as_str()]);
                let still = |other: &hence_fleet::Failure| {
                    let names = other
                        .names
                        .iter()
                        .filter(|name| failure.names.contains(name));
                    other.code == failure.code && names.count() == failure.names.len()
                };
                assert!(
                    !after.iter().any(still),
                    "seed {seed} {failure:?}: {repair}\n{state}"
                );
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn every_key_that_can_be_asserted_reads_back_as_itself() {
    let mut random = Random::new(3);
    for _ in 0..5_000 {
        let Command::Assert { key, value, .. } = random_command(&mut random, Circles::Allowed)
        else {
            continue;
        };
        let names: Vec<String> = key.names().map(|name| name.into_owned()).collect();
        assert_eq!(
            Words.assertion(&names, value.clone()),
            Ok((key.clone(), value))
        );
        assert_eq!(Words.key(&names), Ok(Key::from_text(key.as_str())));
    }
}

#[test]
fn a_plan_of_what_changes_reach_equals_one_from_scratch() {
    let mut changed = 0;
    for seed in 0..2500 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        for _ in 0..random.below(300) {
            state.perform(&random_command(&mut random, Circles::Avoided), 1, &Words);
        }
        let before = state.clone();
        let mut raw = Vec::new();
        for _ in 0..1 + random.below(5) {
            let command = random_command(&mut random, Circles::Avoided);
            raw.extend(state.perform(&command, 2, &Words));
        }
        let changes = net(raw);
        let active = Pool::new(&before);
        let head = Pool::new(&state);
        let mut follower = active.clone();
        follower.apply(&changes);

        let mut slow = Plan::default();
        for node in head.nodes() {
            let config = head.config(&node).expect("it is there");
            let old = active.config(&node).unwrap_or_else(|| {
                slow.new.push(node.clone());
                active.stranger_config()
            });
            let difference = difference(&old, &config, &head, &active);
            if !difference.is_empty() {
                slow.nodes.push((node, Arc::new(difference)));
            }
        }
        let nodes = active.nodes();
        slow.gone = nodes
            .into_iter()
            .filter(|node| head.config(node).is_none())
            .collect();

        let touched_nothing = changes.is_empty();
        for head in [&head, &follower] {
            assert_eq!(
                plan(&active, head, Nodes::All),
                slow,
                "seed {seed}\n{before}\n{state}"
            );
            let fast = plan(&active, head, Nodes::Reached(&changes));
            assert_eq!(fast, slow, "seed {seed}\n{before}\n{state}");
            let names: Vec<_> = slow.nodes.iter().map(|(name, _)| name.clone()).collect();
            assert_eq!(
                changed_nodes(&active, head, Nodes::Reached(&changes)),
                names
            );
            assert!(!touched_nothing || fast.is_empty());
        }
        changed += slow.nodes.len();
    }
    assert!(changed > 1000, "{changed}");
}

#[test]
fn an_explanation_leads_from_nothing_to_the_value() {
    let mut explained = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        for _ in 0..150 {
            state.perform(&random_command(&mut random, Circles::Avoided), 1, &Words);
        }
        let pool = Pool::new(&state);
        for node in pool.nodes() {
            let config = pool.config(&node).expect("it is there");
            let explanations = pool.explain_all(&node).expect("it is there");
            assert_eq!(explanations.len(), config.len());
            for explanation in explanations {
                explained += 1;
                assert_eq!(explanation.value, config[&explanation.parameter]);
                let mut value = None;
                for step in &explanation.chain {
                    let asserted = state.get(&step.key).expect("contributors are asserted");
                    assert_eq!(asserted.value, step.given);
                    assert_eq!(step.before, value);
                    value = Some(step.after.clone());
                }
                assert_eq!(value, Some(explanation.value.clone()));
                // Nothing but what stands is in the value.
                let mut rest = explanation.value.to_string();
                for step in explanation.standing() {
                    let operand = step.operand.to_string();
                    let at = rest.find(&operand).expect("what stands is in the value");
                    rest = rest[at + operand.len()..].to_owned();
                }
                assert_eq!(rest, "");
            }
        }
    }
    assert!(explained > 1000, "{explained}");
}

#[test]
fn checking_around_a_change_finds_all_that_checking_everything_finds() {
    let [mut good, mut bad] = [0, 0];
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        for step in 0..120 {
            let before = state.clone();
            let mut raw = Vec::new();
            for _ in 0..1 + random.below(3) {
                let command = random_command(&mut random, Circles::Allowed);
                raw.extend(state.perform(&command, 1, &Words));
            }
            let pool = Pool::new(&state);
            let around = check(&pool, &net(raw));
            let mut empty = State::default();
            let mut whole = Vec::new();
            for (key, assertion) in state.iter() {
                let command = Command::Assert {
                    owner: "test".into(),
                    key: key.clone(),
                    value: assertion.value.clone(),
                };
                whole.extend(empty.perform(&command, 1, &Words));
            }
            let everything = check(&pool, &whole);
            let case = format!("seed {seed} step {step}\n{state}");
            assert_eq!(around.is_empty(), everything.is_empty(), "{case}");
            let is_relation = |trouble: &hence_model::diagnostic::Diagnostic| {
                trouble.code == CYCLE || trouble.code == CONFLICT_WITH_ITSELF
            };
            let holds = definitional::relations_hold(&assertions(&state));
            assert_eq!(!everything.iter().any(is_relation), holds, "{case}");
            match around.is_empty() {
                true => good += 1,
                false => {
                    bad += 1;
                    state = before;
                }
            }
        }
    }
    assert!(good > 2_000 && bad > 300, "{good} {bad}");
}

#[test]
fn a_state_that_is_printed_and_read_again_is_the_same_fleet() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        for _ in 0..150 {
            state.perform(&random_command(&mut random, Circles::Allowed), 1, &Words);
        }
        let odd = ["param", "with a blank ", "description"].map(str::to_owned);
        let (key, value) = Words
            .assertion(&odd, Value::text("a \"quoted\"\nline"))
            .expect("names may be odd");
        let command = Command::Assert {
            owner: "test".into(),
            key,
            value,
        };
        state.perform(&command, 1, &Words);
        let mut again = State::default();
        for command in crate::dsl::parse(&state.to_string()).expect("it reads what it prints") {
            again.perform(&command, 1, &Words);
        }
        assert!(again == state, "seed {seed}\n{state}");
        assert!(Pool::new(&again) == Pool::new(&state));
    }
}
