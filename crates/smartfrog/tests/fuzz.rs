//! Nothing that can be read makes the compiler panic, hang, or go past its limits.
//!
//! The inputs are those of `fuzz/corpus/sf`, what mutations make of them and of generated
//! specifications, and tokens in any order. `HENCE_CASES` says how many.

mod comparison;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use comparison::{compiled, fast, slow};
use hence_model::path::Path;
use hence_model::print::{json::Json, yaml::Yaml};
use hence_model::source::{Files, ReadError, Sources, Span};
use hence_model::trace::Trace;
use hence_model::unit::{Limits, Unit};
use hence_smartfrog::generate::{Kind, Random, specification};
use hence_smartfrog::lexer::{Dialect, Lexer, Token};
use hence_smartfrog::printer::SmartFrog;
use hence_smartfrog::{Compiled, Options, Semantics, compile_file, tree};

const LIMITS: Limits = Limits {
    source: 1 << 16,
    depth: 40,
    output: 1 << 16,
    steps: 1 << 16,
};

#[test]
fn every_input_of_the_corpus_is_answered() {
    let corpus = corpus();
    assert!(corpus.len() >= 20);
    for main in 0..corpus.len() {
        let mut files = corpus.clone();
        files.swap(0, main);
        answer(Input { files });
    }
}

#[test]
fn every_random_input_is_answered() {
    let corpus = corpus();
    for seed in 0..cases() as u64 {
        let mut random = Random::new(seed);
        let mut files = match random.below(3) {
            0 => corpus.clone(),
            1 => generated(&mut random),
            _ => vec![("soup.sf".into(), soup(&mut random))],
        };
        let main = random.below(files.len());
        files.swap(0, main);
        for _ in 0..random.below(6) {
            let other = random.pick(&files).1.clone();
            mutate(&mut random, &mut files[0].1, &other);
        }
        answer(Input { files });
    }
}

/// At the limits that users have, on the stack that a thread has.
#[test]
fn very_deep_and_very_long_inputs_are_answered() {
    let n = 20_000;
    let inputs = [
        "a extends {".repeat(n),
        format!(
            "sfConfig extends {{ {} {} }}",
            "a extends {".repeat(9_990),
            "}".repeat(9_990)
        ),
        format!("a {}1{};", "[".repeat(n), "]".repeat(n)),
        format!(
            "sfConfig extends {{ a {}1{}; }}",
            "[".repeat(9_990),
            "]".repeat(9_990)
        ),
        format!("sfConfig extends {{ {}a 1; }}", "a:".repeat(n)),
        format!("sfConfig extends {{ a {}a; }}", "a:".repeat(n)),
        format!("sfConfig extends {{ a \"{}\"; }}", "é".repeat(n)),
        format!("sfConfig extends {{ {} 1; }}", "n".repeat(n)),
        format!("sfConfig extends {{ a {}; }}", "9".repeat(n)),
        format!("sfConfig extends {} {{}}", "{}, ".repeat(n)),
        format!("sfConfig extends {{ {} }}", "a extends sfConfig ".repeat(n)),
        format!(
            "sfConfig extends {{ {} z 1; }}",
            numbered(n, "n{i} n{next}; ")
        ),
        format!(
            "{} sfConfig extends n0",
            numbered(n, "n{i} extends {} n{i}:x n{i}; ")
        ),
        "}".repeat(n),
        "/*".repeat(n),
    ];
    for input in inputs {
        let files = vec![("main.sf".to_owned(), input.into_bytes())];
        let input = Input { files };
        read_trees(&input, Limits::default());
        compile_and_print(&input, Limits::default());
    }
}

fn numbered(count: usize, pattern: &str) -> String {
    let line = |i: usize| {
        let next = (i + 1).to_string();
        pattern
            .replace("{i}", &i.to_string())
            .replace("{next}", &next)
    };
    (0..count).map(line).collect()
}

/// Files as they lie on a disk: bytes. The first is the one to compile.
struct Input {
    files: Vec<(String, Vec<u8>)>,
}

impl Files for Input {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let file = self.files.iter().find(|(file, _)| file == name);
        let (_, bytes) = file.ok_or(ReadError::Missing)?;
        match std::str::from_utf8(bytes) {
            Ok(content) => {
                text.push_str(content);
                Ok(())
            }
            Err(error) => {
                let valid = error.valid_up_to();
                let text = String::from_utf8_lossy(&bytes[..valid]).into_owned();
                Err(ReadError::NotUtf8 { valid, text })
            }
        }
    }
}

/// Does everything with an input that can be done with one; what goes wrong is shown with it.
fn answer(input: Input) {
    let answered = catch_unwind(AssertUnwindSafe(|| {
        read_tokens(&input);
        read_trees(&input, LIMITS);
        compile_and_print(&input, LIMITS);
    }));
    if answered.is_err() {
        let (name, bytes) = &input.files[0];
        panic!("{name}:\n{}", String::from_utf8_lossy(bytes));
    }
}

fn read_tokens(input: &Input) {
    let mut sources = Sources::with_limit(LIMITS.source);
    let Ok(file) = sources.load(input, &input.files[0].0) else {
        return;
    };
    let span = sources.span(file);
    for dialect in [Dialect::Core, Dialect::Production] {
        let mut lexer = Lexer {
            position: span.start,
            end: span.end,
            dialect,
        };
        let mut before = span.start;
        loop {
            let (token, place) = lexer.next(sources.text(), &mut Vec::new());
            assert!(before <= place.start && place.end <= span.end);
            if token == Token::End {
                break;
            }
            assert!(place.end > place.start, "no token is empty");
            assert!(
                sources
                    .text()
                    .get(place.start as usize..place.end as usize)
                    .is_some()
            );
            before = place.end;
        }
    }
}

fn read_trees(input: &Input, limits: Limits) {
    for dialect in [Dialect::Core, Dialect::Production] {
        let mut unit = Unit::with_limits(limits);
        if let Ok(file) = unit.load(input, &input.files[0].0) {
            tree::read(&mut unit, input, file, dialect);
            check_diagnostics(&unit);
        }
    }
}

fn compile_and_print(input: &Input, limits: Limits) {
    for kind in [Kind::Core, Kind::Forward] {
        let main = &input.files[0].0;
        let compiled = compiled::<Trace>(input, main, kind, limits);
        if limits == LIMITS {
            compare(input, kind, &compiled);
        }
        use_it(&compiled, limits, |printed| {
            comparison::compiled::<Trace>(printed, "printed.sf", kind, Limits::default())
        });
    }
    let production = |files: &Input, main: &str, limits| {
        let options = Options {
            semantics: Semantics::Production,
            limits,
            ..Options::default()
        };
        compile_file::<Trace>(files, main, &options)
    };
    let compiled = production(input, &input.files[0].0, limits);
    use_it(&compiled, limits, |printed| {
        production(printed, "printed.sf", Limits::default())
    });
}

/// Prints a configuration in every way, compiles what was printed, and asks why.
fn use_it(compiled: &Compiled, limits: Limits, again: impl Fn(&Input) -> Compiled) {
    check_diagnostics(&compiled.unit);
    assert_eq!(compiled.configuration.is_none(), compiled.unit.has_errors());
    if compiled.configuration.is_none() {
        return;
    }
    let mut json = Json::compact(Vec::new());
    compiled.send(&mut json);
    let json = json.finish().expect("a vector takes everything");
    assert!(
        json.len() as u64 <= 2 * limits.output,
        "{} bytes",
        json.len()
    );
    let mut yaml = Yaml::new(Vec::new());
    compiled.send(&mut yaml);
    yaml.finish().expect("a vector takes everything");
    let mut printer = SmartFrog::new(Vec::new(), compiled.dialect);
    compiled.send(&mut printer);
    let printed = printer.finish().expect("a vector takes everything");
    let files = vec![("printed.sf".to_owned(), printed)];
    let again = again(&Input { files });
    let mut json_again = Json::compact(Vec::new());
    again.send(&mut json_again);
    let json_again = json_again.finish().expect("a vector takes everything");
    assert!(
        json == json_again,
        "printed and compiled it is another value: {:?}",
        again.unit.diagnostics
    );
    let whole = compiled.unit.sources.text().len() as u32;
    let mut asked = 0;
    compiled.impact(Span::new(0, whole), &mut |path| {
        if asked < 20 {
            let explanation = compiled.explain(&Path(path.to_vec()));
            assert!(explanation.is_ok(), "{path:?} cannot be explained");
        }
        asked += 1;
    });
}

/// Where the text is a specification, the definitions have their say.
fn compare(input: &Input, kind: Kind, compiled: &Compiled) {
    let is_semantic = compiled.unit.diagnostics.iter().all(|diagnostic| {
        let code = diagnostic.code;
        code.rule.is_some()
            || ["sf.link-cycle", "sf.order-cycle", "sf.order-absent"].contains(&code.name)
    });
    if is_semantic && let Some(slow) = slow(input, &input.files[0].0, kind, LIMITS) {
        assert_eq!(
            slow,
            fast(compiled),
            "by the definitions, and by the evaluator"
        );
    }
}

fn check_diagnostics(unit: &Unit) {
    let text = unit.sources.text();
    for diagnostic in &unit.diagnostics {
        assert!(!diagnostic.message.is_empty());
        for label in &diagnostic.labels {
            let stretch = label.span.start as usize..label.span.end as usize;
            assert!(text.get(stretch).is_some(), "{diagnostic:?}");
        }
    }
}

fn cases() -> usize {
    let number = std::env::var("HENCE_CASES").ok();
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or(20_000)
}

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/sf");
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| {
            let entry = entry.expect("the corpus can be listed");
            let name = entry.file_name().into_string().expect("names are text");
            (
                name,
                fs::read(entry.path()).expect("the corpus can be read"),
            )
        })
        .collect();
    files.sort();
    files
}

fn generated(random: &mut Random) -> Vec<(String, Vec<u8>)> {
    let kind = *random.pick(&[Kind::Core, Kind::Forward]);
    let size = 1 + random.below(25);
    let files = specification(kind, random.number(), size).files;
    files
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .collect()
}

const TOKENS: [&str; 54] = [
    "a",
    "b",
    "c",
    "sfConfig",
    "extends",
    "{",
    "}",
    "{",
    "}",
    ";",
    ";",
    ",",
    ":",
    "[",
    "]",
    "1",
    "-1",
    "0.5",
    "1e9",
    "\"x\"",
    "\"\\u00e9\"",
    "true",
    "NULL",
    "DATA",
    "order",
    "<",
    "#include",
    "\"empty.sf\"",
    "//",
    "/*",
    "*/",
    "\n",
    "\\",
    "\"",
    "é",
    "😀",
    "LAZY",
    "PARENT",
    "ATTRIB",
    "IF",
    "THEN",
    "ELSE",
    "FI",
    "(",
    ")",
    "+",
    "++",
    "--",
    "##",
    "#HEX#0a#",
    "[|",
    "|]",
    "TBD",
    "-",
];

/// Tokens in any order; sometimes with blanks.
fn soup(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    if random.chance(50) {
        text.push_str("sfConfig extends {");
    }
    for _ in 0..random.below(60) {
        text.push_str(TOKENS[random.below(TOKENS.len())]);
        if random.chance(80) {
            text.push(' ');
        }
    }
    text.into_bytes()
}

fn mutate(random: &mut Random, text: &mut Vec<u8>, other: &[u8]) {
    let stretch = |random: &mut Random, text: &[u8]| {
        let start = random.below(text.len() + 1);
        let length = random.below(20).min(text.len() - start);
        start..start + length
    };
    match random.below(7) {
        0 if !text.is_empty() => {
            let at = random.below(text.len());
            text[at] ^= 1 << random.below(8);
        }
        1 => {
            let gone = stretch(random, text);
            text.drain(gone);
        }
        2 => {
            let copy = text[stretch(random, text)].to_vec();
            let at = random.below(text.len() + 1);
            text.splice(at..at, copy);
        }
        3 => {
            let copy = other[stretch(random, other)].to_vec();
            let at = random.below(text.len() + 1);
            text.splice(at..at, copy);
        }
        4 => {
            let at = stretch(random, text);
            text.splice(at, TOKENS[random.below(TOKENS.len())].bytes());
        }
        // Two words change places.
        _ => {
            let mut words: Vec<Vec<u8>> = text.split(|&b| b == b' ').map(<[u8]>::to_vec).collect();
            let (first, second) = (random.below(words.len()), random.below(words.len()));
            words.swap(first, second);
            *text = words.join(&b' ');
        }
    }
}
