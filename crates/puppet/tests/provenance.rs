//! Provenance by mutation: what `explain` says is tried out.
//!
//! Every literal of a random manifest, and every fact, is replaced by another one, and the manifest is compiled
//! again. What changed must have been announced: by `explain` of the changed value, and by `impact` of the
//! literal. A *where* must be the literal that is the value. Mutations after which there is no catalog are counted
//! apart. `HENCE_CASES` says how many manifests.

mod memory;

use std::collections::{BTreeMap, BTreeSet};

use hence_model::explanation::{Explanation, Role, Shown};
use hence_model::path::{Path, Segment};
use hence_model::source::Span;
use hence_model::value::{Builder, Value};
use hence_puppet::generate::{self, Random};
use hence_puppet::{Compiled, Layout, Node, Options, Site};
use memory::Memory;

#[test]
fn what_changes_was_announced() {
    let mut tally = Tally::default();
    let cases = std::env::var("HENCE_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    let cases: u64 = cases.unwrap_or(60);
    for seed in 0..cases {
        let made = generate::site(seed, 1 + Random::new(seed).below(8));
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut own = Tally::default();
            check(&made, &mut own);
            own
        }));
        match checked {
            Ok(own) => tally.add(own),
            Err(_) => panic!("seed {seed}:\n{}\n{}", made.manifest, made.facts),
        }
    }
    println!("{tally:#?}");
    println!("precision {:.3}", tally.precision());
    assert!(tally.mutations > 10 * cases as usize, "{tally:?}");
    // A value that is only copied is exact; a condition often takes two literals to turn.
    assert!(tally.precision() >= 0.75, "{tally:?}");
}

#[derive(Debug, Default)]
struct Tally {
    manifests: usize,
    mutations: usize,
    without_catalog: usize,
    places: usize,
    /// Literals that some value listed, and those of them that changed it, by how it depends on them. If there is
    /// never a catalog with another literal, that is not known.
    listed: BTreeMap<&'static str, (usize, usize)>,
    unknown: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.manifests += other.manifests;
        self.mutations += other.mutations;
        self.without_catalog += other.without_catalog;
        self.places += other.places;
        self.unknown += other.unknown;
        for (role, (listed, changed)) in other.listed {
            let sum = self.listed.entry(role).or_default();
            *sum = (sum.0 + listed, sum.1 + changed);
        }
    }

    fn precision(&self) -> f64 {
        let sum =
            |part: fn(&(usize, usize)) -> usize| self.listed.values().map(part).sum::<usize>();
        sum(|one| one.1) as f64 / sum(|one| one.0).max(1) as f64
    }
}

/// The attributes of a catalog by path; elements of containers are paths of their own.
type Leaves = BTreeMap<Vec<Segment>, Value>;

/// Compiles, and hands on what came of it.
fn compiled<T>(
    manifest: &str,
    facts: &str,
    then: impl FnOnce(&Site<'_>, &mut Compiled<'_>) -> T,
) -> T {
    let world = Memory::of(&[("site.pp", manifest), ("facts.json", facts)]);
    let layout = Layout {
        manifest: "site.pp".into(),
        ..Layout::default()
    };
    let site = Site::new(&world, layout, Default::default());
    let facts = hence_puppet::facts::read(&site, &world, "facts.json").expect("facts are JSON");
    let node = Node::new("web1.example.org", facts);
    let options = Options::default();
    let mut compiled = hence_puppet::compile(&site, &node, &options);
    then(&site, &mut compiled)
}

fn leaves(compiled: &Compiled<'_>) -> Leaves {
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    let Some(Value::Map(whole)) = builder.finish() else {
        panic!("a catalog is a map");
    };
    let Some(Value::List(resources)) = whole.get("resources") else {
        panic!("a catalog has resources");
    };
    let mut leaves = Leaves::new();
    for resource in resources.as_slice() {
        let Value::Map(resource) = resource else {
            panic!("a resource is a map");
        };
        let (Some(Value::Text(kind)), Some(Value::Text(title)), Some(attributes)) = (
            resource.get("type"),
            resource.get("title"),
            resource.get("parameters"),
        ) else {
            panic!("a resource has a type, a title and attributes");
        };
        let mut pending = vec![(vec![Segment::Key(format!("{kind}[{title}]"))], attributes)];
        while let Some((path, value)) = pending.pop() {
            let inside = |segment: Segment| [&path[..], &[segment]].concat();
            match value {
                Value::Map(map) if !map.is_empty() => {
                    let keys = map.iter();
                    pending
                        .extend(keys.map(|(key, value)| (inside(Segment::Key(key.into())), value)));
                }
                Value::List(list) if !list.as_slice().is_empty() => {
                    let elements = list.as_slice().iter().enumerate();
                    pending.extend(elements.map(|(at, value)| (inside(Segment::Index(at)), value)));
                }
                _ if path.len() == 1 => {}
                leaf => drop(leaves.insert(path, leaf.clone())),
            }
        }
    }
    leaves
}

fn check(made: &generate::Site, tally: &mut Tally) {
    compiled(&made.manifest, &made.facts, |site, original| {
        if !original.is_good() {
            return;
        }
        tally.manifests += 1;
        let before = leaves(original);
        let explained: BTreeMap<&Vec<Segment>, Explanation> = before
            .keys()
            .map(|path| {
                let explanation = original.explain(&Path(path.clone()));
                (
                    path,
                    explanation.unwrap_or_else(|_| panic!("{path:?} cannot be explained")),
                )
            })
            .collect();
        for (path, explanation) in &explained {
            check_place(site, &before[*path], explanation, tally);
        }
        let literals = original.literals_written();
        let texts: Vec<String> = literals.iter().map(|span| site.slice(*span)).collect();
        for (number, span) in literals.iter().enumerate() {
            let listing: BTreeMap<&Vec<Segment>, Role> = explained
                .iter()
                .filter_map(|(path, explanation)| Some((*path, role(explanation, *span)?)))
                .collect();
            let mut impacted: BTreeSet<Vec<Segment>> = BTreeSet::new();
            original.impact(*span, &mut |path| {
                impacted.insert(path.to_vec());
            });
            let announced: BTreeSet<Vec<Segment>> =
                listing.keys().map(|path| (*path).clone()).collect();
            assert_eq!(
                announced, impacted,
                "explain and impact differ about {}",
                texts[number]
            );
            let mut changed: BTreeSet<&Vec<Segment>> = BTreeSet::new();
            let mut survived = false;
            for other in others(number, &texts) {
                tally.mutations += 1;
                let Some(after) = mutated(site, made, *span, &other) else {
                    tally.without_catalog += 1;
                    continue;
                };
                survived = true;
                for (path, value) in &before {
                    if after.get(path) == Some(value) {
                        continue;
                    }
                    assert!(
                        listing.contains_key(path),
                        "{path:?} is {value:?}, and with {other} for {} at {:?} it is {:?}, which was not announced",
                        texts[number],
                        site.unit().sources.location(span.start).to_string(),
                        after.get(path)
                    );
                    changed.insert(path);
                }
            }
            match survived {
                false => tally.unknown += listing.len(),
                true => {
                    for (path, role) in listing {
                        let sum = tally.listed.entry(role.word()).or_default();
                        sum.0 += 1;
                        sum.1 += usize::from(changed.contains(path));
                        // `HENCE_LOOK` shows what is listed and did not change anything.
                        if !changed.contains(path) && std::env::var_os("HENCE_LOOK").is_some() {
                            let place = site.unit().sources.location(span.start);
                            let line = made
                                .manifest
                                .lines()
                                .nth(place.line as usize - 1)
                                .unwrap_or("");
                            println!(
                                "LOOK {} {path:?} {} in {}",
                                role.word(),
                                texts[number],
                                line.trim()
                            );
                        }
                    }
                }
            }
        }
    });
}

fn role(explanation: &Explanation, span: Span) -> Option<Role> {
    let depends = explanation.depends.iter();
    depends
        .filter(|one| one.span == span)
        .map(|one| one.role)
        .next()
}

/// A value that was only copied is the literal in its place.
fn check_place(site: &Site<'_>, value: &Value, explanation: &Explanation, tally: &mut Tally) {
    let Some(place) = explanation.place else {
        return;
    };
    tally.places += 1;
    let text = site.slice(place);
    let bare = text.trim_matches(['\'', '"']);
    let same = match value {
        // A reference to a class is written as its name.
        Value::Text(value) => value == bare || value.starts_with("Class["),
        Value::Integer(value) => value.to_string() == text,
        Value::Bool(value) => value.to_string() == text,
        Value::Null => text == "undef" || text == "null",
        _ => true,
    };
    assert!(same, "{value:?} is not {text}, where it is said to be");
    if let Shown::Value(shown) = &explanation.value {
        assert_eq!(shown, value);
    }
}

/// What a literal is replaced with.
fn others(number: usize, texts: &[String]) -> Vec<String> {
    let text = &texts[number];
    let mut others: Vec<String> = match text.as_str() {
        "true" => vec!["false".into()],
        "false" => vec!["true".into()],
        "undef" => vec!["'set'".into()],
        "default" => Vec::new(),
        number if number.parse::<i64>().is_ok() => {
            let number: i64 = number.parse().expect("it was tried");
            [number + 1, number - 1, 0, 7, 100]
                .map(|other| other.to_string())
                .to_vec()
        }
        quoted if quoted.starts_with('\'') || quoted.starts_with('"') => {
            let quote = &quoted[..1];
            let words = texts.iter().filter(|other| other.starts_with(['\'', '"']));
            let words = words.map(|word| word.trim_matches(['\'', '"']));
            words
                .chain(["mutated"])
                .map(|word| format!("{quote}{word}{quote}"))
                .collect()
        }
        pattern if pattern.starts_with('/') && pattern.ends_with('/') => {
            vec!["/mutated/".into(), "/^w/".into(), "/./".into()]
        }
        bare if bare.chars().all(char::is_alphanumeric) => {
            let alike = texts
                .iter()
                .filter(|other| other.chars().all(char::is_alphanumeric));
            alike.cloned().collect()
        }
        // A piece of a text.
        _ => vec![" mutated ".into(), " ".into()],
    };
    others.sort();
    others.dedup();
    others.retain(|other| other != text);
    // Enough to find what matters, and no more than can be waited for.
    others.truncate(24);
    others
}

/// The catalog with something else for a literal, of the manifest or of the facts.
fn mutated(site: &Site<'_>, made: &generate::Site, span: Span, other: &str) -> Option<Leaves> {
    let (file, start) = {
        let unit = site.unit();
        let file = unit.sources.file_at(span.start);
        (
            unit.sources.name(file).to_owned(),
            unit.sources.span(file).start,
        )
    };
    let replaced = |text: &str| {
        let (from, to) = ((span.start - start) as usize, (span.end - start) as usize);
        format!("{}{other}{}", &text[..from], &text[to..])
    };
    let (manifest, facts) = match file.as_str() {
        "facts.json" => (made.manifest.clone(), replaced(&made.facts)),
        _ => (replaced(&made.manifest), made.facts.clone()),
    };
    compiled(&manifest, &facts, |_, compiled| {
        compiled.is_good().then(|| leaves(compiled))
    })
}
