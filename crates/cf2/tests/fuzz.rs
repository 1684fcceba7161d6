//! Nothing that can be read makes the compiler panic, hang, or go past its limits.
//!
//! The inputs are those of `fuzz/corpus/cf2`, what mutations make of them and of generated programs, and
//! tokens in any order. `HENCE_CASES` says how many.

mod programs;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use hence_cf2::generate::{Random, Texts, program};
use hence_cf2::lexer::{Lexer, Token};
use hence_cf2::{Compiled, Options, compile_file};
use hence_model::path::Path;
use hence_model::print::json::Json;
use hence_model::source::{Sources, Span};
use hence_model::unit::{Limits, Unit};
use programs::{cases, printed, value};

const LIMITS: Limits = Limits {
    source: 1 << 16,
    depth: 60,
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
        answer(&Texts(files));
    }
}

#[test]
fn every_random_input_is_answered() {
    let corpus = corpus();
    for seed in 0..cases(8_000) {
        let mut random = Random::new(seed);
        let mut files = match random.below(3) {
            0 => corpus.clone(),
            1 => program(random.number(), 1 + random.below(12)).texts().0,
            _ => vec![("soup.cf2".into(), soup(&mut random))],
        };
        let main = random.below(files.len());
        files.swap(0, main);
        for _ in 0..random.below(6) {
            let other = random.pick(&files).1.clone();
            mutate(&mut random, &mut files[0].1, &other);
        }
        answer(&Texts(files));
    }
}

/// At the limits that users have, on the stack that a thread has.
#[test]
fn very_deep_and_very_long_inputs_are_answered() {
    let n = 20_000;
    let within = 3_000;
    let inputs = [
        "A => {".repeat(n),
        format!("{}x => 1{}", "A => { ".repeat(9_990), " }".repeat(9_990)),
        format!("{}x => 1{}", "A => { ".repeat(within), " }".repeat(within)),
        format!("A => {}1{}", "[".repeat(n), "]".repeat(n)),
        format!("A => {}1{}", "[".repeat(9_990), "]".repeat(9_990)),
        format!(
            "B => 1\nA => {}$B{}",
            "[".repeat(within),
            "]".repeat(within)
        ),
        format!("A => {}1{}", "(".repeat(n), ")".repeat(n)),
        format!("A => {}1{}", "(".repeat(9_000), ")".repeat(9_000)),
        format!("{}x => 1", "A.".repeat(within)),
        format!("{}x => 1", "A.".repeat(n)),
        format!("A => {} 1", "-".repeat(n)),
        format!("B => 1\nA => {}$B", "- ".repeat(within)),
        format!("A => {}true", "!".repeat(within)),
        format!("A => {}true", "!".repeat(9_900)),
        format!("A => {}true", "!".repeat(n)),
        format!("A => 1{}", " + 1".repeat(n)),
        format!("A => x{}", " ++ x".repeat(n)),
        format!("A => true{}", " && true".repeat(n)),
        format!("A => {}1", "1 + 2 * ".repeat(n)),
        format!("A => 1{}", ".x".repeat(n)),
        format!("A => {}2", "if (false) then 1 else ".repeat(within)),
        format!("A => {}2", "if (false) then 1 else ".repeat(9_900)),
        format!("A => {}2", "if (false) then 1 else ".repeat(n)),
        format!(
            "{}{{ A => 1 }}",
            "if (false) then { B => 1 } else ".repeat(within)
        ),
        format!(
            "A => {}true{}",
            "if (".repeat(within),
            ") then 1".repeat(within)
        ),
        format!("A => {}x{}", "upcase(".repeat(within), ")".repeat(within)),
        format!("A => {}x{}", "upcase(".repeat(9_900), ")".repeat(9_900)),
        format!("A => {}x{}", "upcase(".repeat(n), ")".repeat(n)),
        format!("A => 1{}", " => 1".repeat(n)),
        format!("A => {{}}{}", " ~> {}".repeat(n)),
        format!("A => {{x => 0}}{}", " ~> {x => 1}".repeat(within)),
        format!("A => '{}'", "é".repeat(n)),
        format!("{} => 1", "n".repeat(n)),
        format!("A => {}", "9".repeat(n)),
        format!("{}n{n} => 1", numbered(n, "n{i} => $n{next}\n")),
        format!("n0 => 1\n{}", numbered(n, "n{next} => $n{i}\n")),
        format!("{}n{within} => 1", numbered(within, "n{i} => $n{next}\n")),
        format!(
            "n0 => {{x => 1}}\n{}",
            numbered(n, "n{next} => $n{i} ~> { x => 2 }\n")
        ),
        format!(
            "n0 => {{x => 1}}\n{}",
            numbered(150, "n{next} => { x => $n{i} }\n")
        ),
        format!(
            "def f0(x) = $x\n{}A => f{within}(1)",
            numbered(within, "def f{next}(x) = f{i}($x)\n")
        ),
        format!(
            "def f0(x) = $x\n{}A => f{n}(1)",
            numbered(n, "def f{next}(x) = f{i}($x)\n")
        ),
        "}".repeat(n),
        "'".repeat(n),
        "import(main)\n".repeat(n),
        "X => 1\n".repeat(n),
        "if (true) then { X => 1 }\n".repeat(n),
        "A => { x => $A, y => $A }".to_owned(),
        "A => [$A, $A]\nB => [$C, $C]\nC => [$B, $B]".to_owned(),
        "A => { if (true) then { x => $A, y => $A } }".to_owned(),
    ];
    for input in inputs {
        let start: String = input.chars().take(60).collect();
        let texts = Texts(vec![("main.cf2".to_owned(), input)]);
        let answered = catch_unwind(AssertUnwindSafe(|| use_it(&texts, Limits::default())));
        assert!(answered.is_ok(), "{start} …");
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

/// Does everything with an input that can be done with one; what goes wrong is shown with it.
fn answer(texts: &Texts) {
    let answered = catch_unwind(AssertUnwindSafe(|| {
        read_tokens(texts);
        use_it(texts, LIMITS);
    }));
    if answered.is_err() {
        let (name, text) = &texts.0[0];
        panic!("{name}:\n{text}");
    }
}

fn read_tokens(texts: &Texts) {
    let mut sources = Sources::with_limit(LIMITS.source);
    let Ok(file) = sources.load(texts, texts.main()) else {
        return;
    };
    let span = sources.span(file);
    let mut lexer = Lexer::new(span);
    let mut before = span.start;
    loop {
        let lexeme = lexer.next(sources.text());
        let place = lexeme.span;
        assert!(before <= place.start && place.end <= span.end);
        if lexeme.token == Token::End {
            break;
        }
        assert!(place.end > place.start, "no token is empty");
        let stretch = place.start as usize..place.end as usize;
        assert!(sources.text().get(stretch).is_some());
        before = place.end;
    }
}

/// Compiles files, prints the configuration in every way, compiles what was printed, and asks why.
fn use_it(texts: &Texts, limits: Limits) {
    let options = Options {
        limits,
        duplicates: hence_cf2::compile::Lint::Warn,
        ..Options::default()
    };
    let mut compiled = compile_file(texts, texts.main(), &options);
    check_diagnostics(compiled.unit());
    assert_ne!(compiled.is_good(), compiled.unit().has_errors());
    if !compiled.is_good() {
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
    let again = Texts(vec![("printed.cf2".to_owned(), printed(&compiled))]);
    let again = compile_file(&again, "printed.cf2", &Options::default());
    // What is written takes a level more here and there than what was computed.
    let is_deep = |one: &hence_model::diagnostic::Diagnostic| one.code.name == "limit.depth";
    assert!(
        value(&compiled) == value(&again) || again.unit().diagnostics.iter().any(is_deep),
        "printed and compiled it is another value: {:?}",
        again.unit().diagnostics
    );
    ask(&mut compiled);
}

fn ask(compiled: &mut Compiled<'_>) {
    let whole = compiled.unit().sources.text().len() as u32;
    let mut paths = Vec::new();
    let mut count = 0;
    compiled.impact(Span::new(0, whole), &mut |path| {
        count += 1;
        if count % 7 == 1 && paths.len() < 12 {
            paths.push(Path(path.to_vec()));
        }
    });
    for path in paths {
        let explanation = compiled.explain(&path);
        assert!(explanation.is_ok(), "{path:?} cannot be explained");
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

fn corpus() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/cf2");
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| {
            let entry = entry.expect("the corpus can be listed");
            let name = entry.file_name().into_string().expect("names are text");
            let text = fs::read_to_string(entry.path()).expect("the corpus can be read");
            (name, text)
        })
        .collect();
    files.sort();
    files
}

const TOKENS: [&str; 58] = [
    "a",
    "b",
    "x",
    "A",
    "B",
    "$a",
    "$b",
    "$A",
    "$",
    "1",
    "0",
    "2.5",
    "-1",
    "'t'",
    "'\\n'",
    "''",
    "true",
    "false",
    "if (",
    "then",
    "else",
    "import(",
    "import(soup)",
    "def",
    "private",
    "=>",
    "=>",
    "=>",
    "~>",
    "~(max)>",
    "~(sum)>",
    "~(x)>",
    "~",
    "=",
    "{",
    "}",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ".",
    ",",
    "\n",
    "\n",
    "?",
    "+",
    "++",
    "-",
    "*",
    "/",
    "==",
    "<",
    "&&",
    "||",
    "!",
    "é",
];

/// Tokens in any order; sometimes without blanks.
fn soup(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.below(60) {
        text.push_str(TOKENS[random.below(TOKENS.len())]);
        if random.chance(80) {
            text.push(' ');
        }
    }
    text
}

fn mutate(random: &mut Random, text: &mut String, other: &str) {
    let stretch = |random: &mut Random, text: &str| {
        let start = boundary(text, random.below(text.len() + 1));
        let length = random.below(20).min(text.len() - start);
        start..boundary(text, start + length).max(start)
    };
    match random.below(6) {
        0 => {
            let gone = stretch(random, text);
            text.replace_range(gone, "");
        }
        1 => {
            let copy = text[stretch(random, text)].to_owned();
            let at = boundary(text, random.below(text.len() + 1));
            text.insert_str(at, &copy);
        }
        2 => {
            let copy = other[stretch(random, other)].to_owned();
            let at = boundary(text, random.below(text.len() + 1));
            text.insert_str(at, &copy);
        }
        3 => {
            let at = stretch(random, text);
            text.replace_range(at, TOKENS[random.below(TOKENS.len())]);
        }
        4 => {
            let mut lines: Vec<&str> = text.split('\n').collect();
            let (first, second) = (random.below(lines.len()), random.below(lines.len()));
            lines.swap(first, second);
            *text = lines.join("\n");
        }
        _ => {
            let mut words: Vec<&str> = text.split(' ').collect();
            let (first, second) = (random.below(words.len()), random.below(words.len()));
            words.swap(first, second);
            *text = words.join(" ");
        }
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
