//! What the paper promises of every program, tried out on random ones.
//!
//! `HENCE_CASES` says on how many.

mod programs;

use std::cell::Cell;
use std::collections::BTreeMap;

use hence_cf2::generate::{Random, Texts};
use hence_cf2::{Compiled, Options, compile_file};
use hence_model::path::{Path, Segment};
use hence_model::source::Span;
use hence_model::unit::Limits;
use hence_model::value::{Map, Value};
use programs::{cases, compiled, generated, options, over, printed, sorted, value};

#[test]
fn most_programs_have_a_value() {
    let good = Cell::new(0u64);
    let count = cases(2_000);
    over(count, |seed| {
        let texts = generated(seed).texts();
        good.set(good.get() + u64::from(compiled(&texts).is_good()));
    });
    println!("{} of {count} programs have a value", good.get());
    assert!(good.get() * 2 > count, "{} of {count}", good.get());
}

/// §4.1: the order of definitions and imports is not significant.
#[test]
fn the_order_of_statements_changes_no_value() {
    over(cases(6_000), |seed| {
        let program = generated(seed);
        let texts = program.texts();
        let original = compiled(&texts);
        let mut random = Random::new(seed);
        for _ in 0..2 {
            let shuffled = program.shuffled(&mut random).texts();
            let other = compiled(&shuffled);
            assert_eq!(
                value(&original).as_ref().map(sorted),
                value(&other).as_ref().map(sorted),
                "{:?} and in another order {:?}\n{}",
                original.unit().diagnostics,
                other.unit().diagnostics,
                shown(&shuffled),
            );
        }
    });
}

#[test]
fn a_program_means_the_same_each_time() {
    over(cases(2_000), |seed| {
        let texts = generated(seed).texts();
        let (first, again) = (compiled(&texts), compiled(&texts));
        assert_eq!(printed(&first), printed(&again));
        assert_eq!(first.unit().diagnostics, again.unit().diagnostics);
    });
}

/// Names and imports are led anywhere: into cycles, to what is not there, to values of other types.
#[test]
fn every_program_ends() {
    over(cases(6_000), |seed| {
        let mut random = Random::new(seed);
        let mut texts = generated(seed).texts();
        for _ in 0..1 + random.below(6) {
            tangle(&mut texts, &mut random);
        }
        let depth = *random.pick(&[3, 10, 40, 200, 10_000]);
        let limits = Limits {
            depth,
            output: 1 << 20,
            ..Limits::default()
        };
        let compiled = compile_file(
            &texts,
            texts.main(),
            &Options {
                limits,
                ..options()
            },
        );
        assert_ne!(compiled.is_good(), compiled.unit().has_errors());
    });
}

/// Leads a reference or an import somewhere else.
fn tangle(texts: &mut Texts, random: &mut Random) {
    let names: Vec<String> = texts.0.iter().map(|file| file.0.clone()).collect();
    let file = random.below(texts.0.len());
    let text = &mut texts.0[file].1;
    let starts = ["$", "import("];
    let start = *random.pick(&starts);
    let places: Vec<usize> = text.match_indices(start).map(|found| found.0).collect();
    if places.is_empty() {
        return;
    }
    let from = *random.pick(&places) + start.len();
    let is_end = |character: char| !character.is_alphanumeric() && character != '_';
    let to = text[from..].find(is_end).map_or(text.len(), |at| from + at);
    let other = match start {
        "$" => {
            let all: Vec<&str> = text.split(is_end).filter(|word| !word.is_empty()).collect();
            (*random.pick(&all)).to_owned()
        }
        _ => random.pick(&names).trim_end_matches(".cf2").to_owned(),
    };
    text.replace_range(from..to, &other);
}

/// §5.1: a file that is imported as a value can change nothing outside of it.
#[test]
fn what_is_delegated_stays_in_its_place() {
    let both = Cell::new(0u64);
    let count = cases(3_000);
    over(count, |seed| {
        let mut random = Random::new(seed);
        let mut texts = generated(seed).texts();
        // The file of somebody else, which imports files of its own and ours.
        let mut other = generated(seed + 1_000_003).texts();
        if random.chance(30) {
            tangle(&mut other, &mut random);
        }
        let ours = texts.0.len();
        for (name, text) in other.0 {
            let is_ours = random.chance(50) && texts.0[1..].iter().any(|file| file.0 == name);
            match name.as_str() {
                "main.cf2" => texts.0.push(("evil.cf2".into(), text)),
                _ if is_ours => {}
                _ if texts.0[..ours].iter().any(|file| file.0 == name) => {}
                _ => texts.0.push((name, text)),
            }
        }
        let delegate = match random.below(3) {
            0 => "Delegated => import(evil)",
            1 => "private Delegated => import(evil)",
            _ => "private Delegated => import(evil)\nDelegated_count => defined($Delegated.count)",
        };
        texts.0[0].1 += &format!("{delegate}\n");
        let mut empty = texts.clone();
        for (name, text) in &mut empty.0 {
            if name == "evil.cf2" {
                text.clear();
            }
        }
        let (mut with, without) = (compiled(&texts), compiled(&empty));
        if with.is_good() {
            let outside = others(&with);
            assert_eq!(outside, others(&without), "with evil, and without");
            both.set(both.get() + 1);
            check_dependences(&mut with, &outside);
        } else if delegate.starts_with("private") && !delegate.contains("defined") {
            assert!(!without.is_good(), "what nobody reads cannot fail");
        }
    });
    println!("{} of {count} pairs have values", both.get());
    assert!(both.get() * 3 > count);
}

/// The resources other than those that were delegated.
fn others(compiled: &Compiled<'_>) -> BTreeMap<String, Value> {
    let Some(Value::Map(map)) = value(compiled) else {
        return BTreeMap::new();
    };
    let entries = map
        .iter()
        .map(|(key, value)| (key.to_owned(), value.clone()));
    entries
        .filter(|(key, _)| !key.starts_with("Delegated"))
        .collect()
}

/// Nothing outside depends on anything that is written in the delegated file.
fn check_dependences(compiled: &mut Compiled<'_>, outside: &BTreeMap<String, Value>) {
    let sources = &compiled.unit().sources;
    let Some(evil) = sources.named("evil.cf2") else {
        return;
    };
    let evil = sources.span(evil);
    for key in outside.keys().take(3) {
        let path = Path(vec![Segment::Key(key.clone())]);
        let explanation = compiled.explain(&path).expect("it is there");
        let is_inside = |span: Span| evil.start <= span.start && span.end <= evil.end;
        let depends = explanation.depends.iter();
        let found = depends
            .clone()
            .find(|one| is_inside(one.span) && evil.end > evil.start);
        assert!(found.is_none(), "{key} depends on {found:?}");
    }
}

#[test]
fn what_is_printed_compiles_to_the_same_value() {
    over(cases(3_000), |seed| {
        let texts = generated(seed).texts();
        let first = compiled(&texts);
        if !first.is_good() {
            return;
        }
        let text = printed(&first);
        let again = Texts(vec![("printed.cf2".into(), text.clone())]);
        let again = compiled(&again);
        assert_eq!(value(&first), value(&again), "{text}");
        assert_eq!(text, printed(&again));
    });
}

/// Private resources are part of the output only if somebody asks, and change nothing else.
#[test]
fn showing_private_resources_changes_no_other() {
    over(cases(2_000), |seed| {
        let texts = generated(seed).texts();
        let hidden = compiled(&texts);
        let shown = Options {
            show_private: true,
            ..options()
        };
        let shown = compile_file(&texts, texts.main(), &shown);
        if let (Some(hidden), Some(shown)) = (value(&hidden), value(&shown)) {
            assert!(is_part(&hidden, &shown), "{hidden:?} is not in {shown:?}");
        }
        // What is private may be wrong as long as nobody looks.
        assert!(hidden.is_good() || !shown.is_good());
    });
}

fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Map(part), Value::Map(whole)) => {
            let is_there = |(key, value): (&str, &Value)| {
                whole.get(key).is_some_and(|whole| is_part(value, whole))
            };
            part.iter().all(is_there)
        }
        (Value::List(part), Value::List(whole)) => {
            let (part, whole) = (part.as_slice(), whole.as_slice());
            let mut pairs = part.iter().zip(whole);
            part.len() == whole.len() && pairs.all(|(part, whole)| is_part(part, whole))
        }
        (part, whole) => part == whole,
    }
}

#[test]
fn asking_why_changes_nothing() {
    over(cases(1_500), |seed| {
        let texts = generated(seed).texts();
        let mut compiled = compiled(&texts);
        let before = printed(&compiled);
        let troubles = compiled.unit().diagnostics.clone();
        let Some(Value::Map(map)) = value(&compiled) else {
            return;
        };
        let mut random = Random::new(seed);
        for path in paths(&map) {
            if random.chance(30) {
                let explanation = compiled.explain(&path).expect("it is there");
                let again = compiled.explain(&path).expect("it is there");
                assert_eq!(format!("{explanation:?}"), format!("{again:?}"));
            }
        }
        let whole = compiled.unit().sources.text().len() as u32;
        compiled.impact(Span::new(0, whole / 2), &mut |_| {});
        assert_eq!(before, printed(&compiled));
        assert_eq!(troubles, compiled.unit().diagnostics);
    });
}

/// The paths of everything in a configuration.
fn paths(map: &Map) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut pending: Vec<(Vec<Segment>, &Value)> = Vec::new();
    for (key, value) in map.iter() {
        pending.push((vec![Segment::Key(key.to_owned())], value));
    }
    while let Some((path, value)) = pending.pop() {
        let inside = |segment: Segment| [&path[..], &[segment]].concat();
        match value {
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    pending.push((inside(Segment::Key(key.to_owned())), value));
                }
            }
            Value::List(list) => {
                for (index, value) in list.as_slice().iter().enumerate() {
                    pending.push((inside(Segment::Index(index)), value));
                }
            }
            _ => {}
        }
        paths.push(Path(path));
    }
    paths
}

fn shown(texts: &Texts) -> String {
    let file = |(name, text): &(String, String)| format!("// {name}\n{text}\n");
    texts.0.iter().map(file).collect()
}
