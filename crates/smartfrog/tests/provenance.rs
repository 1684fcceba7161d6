//! Provenance by mutation: what the trace says is tried out.
//!
//! Every literal of a random specification is replaced by another one, and the specification is compiled
//! again. What changed must have been announced: by `explain` of the changed value, and by `impact` of
//! the literal, which are each other's converse. A *where* must be a literal that makes the value.
//! Mutations after which there is no result are counted apart. `HENCE_CASES` says how many specifications.

use std::collections::{BTreeMap, BTreeSet};

use hence_model::explanation::{Explanation, Role};
use hence_model::path::{Path, Segment};
use hence_model::source::{Files, ReadError, Span};
use hence_model::trace::Trace;
use hence_model::value::{Builder, Value};
use hence_smartfrog::generate::{Kind, Random, specification};
use hence_smartfrog::lexer::{Dialect, Keyword, Lexer, Token};
use hence_smartfrog::{Compiled, Options, Semantics, compile_file};

#[test]
fn core_specifications() {
    let tally = over(cases(), |seed| {
        let size = 1 + Random::new(seed).below(40);
        (specification(Kind::Core, seed, size).files, Semantics::Core)
    });
    // Without operations, every literal listed is the value.
    assert_eq!(tally.listed, tally.listed_and_changed, "{tally:?}");
}

#[test]
fn forward_specifications() {
    let tally = over(cases() / 2, |seed| {
        let size = 1 + Random::new(seed).below(40);
        (
            specification(Kind::Forward, seed, size).files,
            Semantics::Forward,
        )
    });
    assert_eq!(tally.listed, tally.listed_and_changed, "{tally:?}");
}

#[test]
fn production_specifications() {
    let tally = over(cases(), |seed| {
        let text = Writer::new(seed).specification();
        (vec![("main.sf".into(), text)], Semantics::Production)
    });
    // `(n > n)` and `(0 * n)` depend on n by their form, but no n makes a difference.
    let precision = tally.listed_and_changed as f64 / tally.listed as f64;
    assert!(precision >= 0.9, "precision {precision}: {tally:?}");
}

#[derive(Debug, Default)]
struct Tally {
    specifications: usize,
    mutations: usize,
    without_result: usize,
    /// Literals that some value listed as one it depends on, and those of them that changed it.
    listed: usize,
    listed_and_changed: usize,
}

fn over(count: usize, make: impl Fn(u64) -> (Vec<(String, String)>, Semantics)) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..count as u64 {
        let (files, semantics) = make(seed);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut own = Tally::default();
            check(&files, semantics, &mut own);
            own
        }));
        let Ok(own) = outcome else {
            for (name, text) in &files {
                eprintln!("// {name}\n{text}");
            }
            panic!("the specification of seed {seed}, as above");
        };
        tally.specifications += own.specifications;
        tally.mutations += own.mutations;
        tally.without_result += own.without_result;
        tally.listed += own.listed;
        tally.listed_and_changed += own.listed_and_changed;
    }
    println!("{tally:?}");
    assert!(tally.mutations > count, "too few mutations: {tally:?}");
    tally
}

struct Texts<'a>(&'a [(String, String)]);

impl Files for Texts<'_> {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let file = self.0.iter().find(|(file, _)| file == name);
        text.push_str(&file.ok_or(ReadError::Missing)?.1);
        Ok(())
    }
}

fn compiled(files: &[(String, String)], semantics: Semantics) -> Compiled<Trace> {
    let options = Options {
        semantics,
        ..Options::default()
    };
    compile_file(&Texts(files), &files[0].0, &options)
}

/// The scalars of a configuration by path, as text; empty containers count.
type Leaves = BTreeMap<Vec<Segment>, String>;

fn leaves(compiled: &Compiled<Trace>) -> Leaves {
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    let value = builder.finish().expect("there is a configuration");
    let mut leaves = Leaves::new();
    let mut pending: Vec<(Vec<Segment>, &Value)> = vec![(Vec::new(), &value)];
    while let Some((path, value)) = pending.pop() {
        let child = |segment: Segment| {
            let mut path = path.clone();
            path.push(segment);
            path
        };
        match value {
            Value::Map(map) if !map.is_empty() => {
                for (key, value) in map.iter() {
                    pending.push((child(Segment::Key(key.to_owned())), value));
                }
            }
            Value::List(list) if !list.as_slice().is_empty() => {
                for (index, value) in list.as_slice().iter().enumerate() {
                    pending.push((child(Segment::Index(index)), value));
                }
            }
            scalar => {
                leaves.insert(path, format!("{scalar:?}"));
            }
        }
    }
    leaves
}

fn check(files: &[(String, String)], semantics: Semantics, tally: &mut Tally) {
    let original = compiled(files, semantics);
    if original.configuration.is_none() {
        return;
    }
    tally.specifications += 1;
    let before = leaves(&original);
    if before.len() > 300 {
        return;
    }
    let explained: BTreeMap<&Vec<Segment>, Explanation> = before
        .keys()
        .map(|path| {
            let explanation = original.explain(&Path(path.clone()));
            (path, explanation.expect("every value can be explained"))
        })
        .collect();
    let mut wheres: BTreeMap<Span, Vec<&Vec<Segment>>> = BTreeMap::new();
    for (path, explanation) in &explained {
        if let Some(place) = explanation.place {
            wheres.entry(place).or_default().push(path);
        }
    }
    for (span, token) in literals(&original) {
        let listing: BTreeSet<&Vec<Segment>> = explained
            .iter()
            .filter(|(_, explanation)| depends_on(explanation, span))
            .map(|(path, _)| *path)
            .collect();
        let mut announced: BTreeSet<Vec<Segment>> = BTreeSet::new();
        original.impact(span, &mut |path| {
            announced.insert(path.to_vec());
        });
        let same = announced.iter().collect::<BTreeSet<_>>();
        assert_eq!(
            listing,
            same,
            "explain, and impact of {:?}",
            original.unit.sources.slice(span)
        );

        let mut changed_ever: BTreeSet<Vec<Segment>> = BTreeSet::new();
        let mut has_results = false;
        for replacement in replacements(&original, span, token) {
            tally.mutations += 1;
            let mutated = compiled(&replaced(files, &original, span, &replacement), semantics);
            if mutated.configuration.is_none() {
                tally.without_result += 1;
                continue;
            }
            has_results = true;
            let after = leaves(&mutated);
            let paths: BTreeSet<&Vec<Segment>> = before.keys().chain(after.keys()).collect();
            for path in paths {
                if before.get(path) == after.get(path) {
                    continue;
                }
                // A value that appears is announced by the one that it replaces: a list by its elements.
                let around = (0..=path.len()).rev().map(|end| path[..end].to_vec());
                let inside = announced.iter().any(|known| known.starts_with(path));
                let is_announced = inside || around.clone().any(|path| announced.contains(&path));
                let is_list_announced = announced
                    .iter()
                    .any(|known| path.len() > 1 && known.starts_with(&path[..path.len() - 1]));
                assert!(
                    is_announced || is_list_announced,
                    "{path:?} changed from {:?} to {:?} by {replacement:?} for {:?}",
                    before.get(path),
                    after.get(path),
                    original.unit.sources.location(span.start),
                );
                changed_ever.insert(path.clone());
            }
        }
        for path in &announced {
            tally.listed += 1;
            let is_changed = |changed: &Vec<Segment>| changed == path || changed.starts_with(path);
            tally.listed_and_changed += usize::from(changed_ever.iter().any(is_changed));
        }
        // A *where* is a literal that makes the value: another literal makes another one.
        for path in wheres.get(&span).into_iter().flatten() {
            assert!(
                !has_results || changed_ever.contains(*path),
                "{path:?} is not what is written at its place"
            );
        }
    }
}

fn depends_on(explanation: &Explanation, span: Span) -> bool {
    explanation.depends.iter().any(|dependence| {
        dependence.span == span
            && matches!(
                dependence.role,
                Role::Value | Role::Operand | Role::Condition
            )
    })
}

/// The scalars that are written in the sources: all tokens that stand for a value.
fn literals(compiled: &Compiled<Trace>) -> Vec<(Span, Token)> {
    let sources = &compiled.unit.sources;
    let mut literals = Vec::new();
    for file in sources.files() {
        let span = sources.span(file);
        let mut lexer = Lexer {
            position: span.start,
            end: span.end,
            dialect: compiled.dialect,
        };
        let mut before = Token::End;
        loop {
            let (token, span) = lexer.next(sources.text(), &mut Vec::new());
            let is_literal = match token {
                Token::End => break,
                Token::Integer | Token::Float => true,
                Token::Text { .. } => before != Token::Include,
                Token::Keyword(Keyword::True | Keyword::False | Keyword::Null) => true,
                _ => false,
            };
            if is_literal {
                literals.push((span, token));
            }
            before = token;
        }
    }
    literals
}

/// Other literals to put in a literal's place: flipped, one more, one less, empty, something else.
fn replacements(compiled: &Compiled<Trace>, span: Span, token: Token) -> Vec<String> {
    let text = compiled.unit.sources.slice(span);
    let others: Vec<String> = match token {
        Token::Keyword(Keyword::True) => vec!["false".into()],
        Token::Keyword(Keyword::False) => vec!["true".into()],
        Token::Keyword(_) => vec!["77777".into()],
        Token::Integer => {
            let number: i64 = text.parse().unwrap_or(0);
            let near = [
                number.wrapping_add(1),
                number.wrapping_sub(1),
                0,
                1,
                -7,
                1_000_003,
            ];
            near.iter().map(i64::to_string).collect()
        }
        Token::Float => vec!["123.25".into(), "-0.5".into()],
        _ => vec!["\"\"".into(), "\"another text\"".into()],
    };
    others.into_iter().filter(|other| other != text).collect()
}

fn replaced(
    files: &[(String, String)],
    compiled: &Compiled<Trace>,
    span: Span,
    replacement: &str,
) -> Vec<(String, String)> {
    let sources = &compiled.unit.sources;
    let file = sources.file_at(span.start);
    let start = (span.start - sources.span(file).start) as usize;
    let end = (span.end - sources.span(file).start) as usize;
    let mut files = files.to_vec();
    let text = files
        .iter_mut()
        .find(|(name, _)| name == sources.name(file));
    let (_, text) = text.expect("the file was compiled");
    text.replace_range(start..end, replacement);
    files
}

fn cases() -> usize {
    let cases = std::env::var("HENCE_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(10_000) / 10
}

/// Writes specifications of the production language. Many have no value; those are passed over.
struct Writer {
    random: Random,
    levels: usize,
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl Writer {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            levels: 0,
        }
    }

    fn specification(&mut self) -> String {
        let prototypes: String = ["P", "Q"]
            .iter()
            .map(|name| format!("{name} extends {}\n", self.body()))
            .collect();
        // Names of each kind are always there to be linked to.
        format!(
            "sfConfig extends {}\n{prototypes}n {}; s \"s\"; t true;\n",
            self.body(),
            self.random.below(9)
        )
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.random.below(NAMES.len())]
    }

    fn body(&mut self) -> String {
        self.levels += 1;
        let count = 1 + self.random.below(5);
        let statements: String = (0..count).map(|_| self.statement()).collect();
        self.levels -= 1;
        format!("{{ {statements}}}")
    }

    fn statement(&mut self) -> String {
        let name = self.name();
        let target = match self.random.below(12) {
            0 => format!("{name}:{}", self.name()),
            _ => name.to_owned(),
        };
        match self.random.below(10) {
            0 | 1 if self.levels < 3 => {
                let prototype = match self.random.below(4) {
                    0 => "P ",
                    1 => "Q, ",
                    _ => "",
                };
                format!("{target} extends {prototype}{} ", self.body())
            }
            _ => format!("{target} {}; ", self.value(0)),
        }
    }

    fn value(&mut self, depth: usize) -> String {
        match self.random.below(if depth < 2 { 10 } else { 4 }) {
            0 | 1 => self.number(depth),
            2 => self.text(depth),
            3 => self.truth(depth),
            4 if self.random.chance(25) => self.name().to_owned(),
            4 => self.random.pick(&["n", "s", "t"]).to_string(),
            5 => format!("[{}, {}]", self.value(depth + 1), self.value(depth + 1)),
            6 => {
                let (then, otherwise) = (self.value(depth + 1), self.value(depth + 1));
                format!("IF {} THEN {then} ELSE {otherwise} FI", self.truth(depth))
            }
            7 => format!(
                "([1, {}] <> [{}])",
                self.value(depth + 1),
                self.value(depth + 1)
            ),
            8 if self.random.chance(50) => self.left_to_run_time(depth),
            _ => format!("({} ++ \"-\")", self.value(depth + 1)),
        }
    }

    /// What only the run time knows, because of something in it.
    fn left_to_run_time(&mut self, depth: usize) -> String {
        let value = self.value(depth + 1);
        match self.random.below(5) {
            0 => format!("({value} ++ LAZY z)"),
            1 => format!("[{value}, LAZY z]"),
            2 => format!("LAZY ({} + 1)", self.number(depth + 1)),
            3 => format!("OPTIONAL({}) z", self.random.below(20)),
            _ => format!("IF {} THEN LAZY z ELSE {value} FI", self.truth(depth)),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        match self.random.below(if depth < 2 { 4 } else { 2 }) {
            0 => self.random.below(20).to_string(),
            1 => "n".to_owned(),
            2 => {
                let operator = *self.random.pick(&["+", "*", "-"]);
                format!(
                    "({} {operator} {})",
                    self.number(depth + 1),
                    self.number(depth + 1)
                )
            }
            _ => format!("(7 / {})", 1 + self.random.below(9)),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        match self.random.below(if depth < 2 { 3 } else { 2 }) {
            0 => format!("\"t{}\"", self.random.below(9)),
            1 => "s".to_owned(),
            _ => format!("({} ++ {})", self.text(depth + 1), self.number(depth + 1)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        match self.random.below(if depth < 2 { 4 } else { 2 }) {
            0 => ["true", "false"][self.random.below(2)].to_owned(),
            1 => "t".to_owned(),
            2 => format!("({} > {})", self.number(depth + 1), self.number(depth + 1)),
            _ => format!("({} && {})", self.truth(depth + 1), self.truth(depth + 1)),
        }
    }
}

#[test]
fn the_writer_of_production_specifications_writes_valid_ones() {
    let valid = (0..500).filter(|&seed| {
        let files = vec![("main.sf".to_owned(), Writer::new(seed).specification())];
        let compiled = compiled(&files, Semantics::Production);
        assert_eq!(compiled.dialect, Dialect::Production);
        compiled.configuration.is_some()
    });
    assert!(valid.count() > 50);
}
