//! Regular expressions find here what they find in Ruby.
//!
//! The expressions are put together at random from pieces that mean something else elsewhere.
//! `HENCE_CASES` says how many.

use std::io::Write;
use std::process::{Command, Stdio};

use hence_model::random::Random;
use hence_puppet::pattern::Pattern;

const PIECES: [&str; 96] = [
    "a",
    "b",
    "c",
    "A",
    "é",
    "1",
    "_",
    "-",
    " ",
    "\\n",
    "^",
    "$",
    "\\A",
    "\\z",
    "\\Z",
    "\\b",
    "\\B",
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\h",
    "\\H",
    "\\R",
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "*+",
    "++",
    "?+",
    "{2}",
    "{1,2}",
    "{,2}",
    "{1,}",
    "{2}?",
    "{1,2}?",
    "{2}+",
    "{",
    "}",
    "{a}",
    "(",
    ")",
    "(?:",
    "(?i:",
    "(?m:",
    "(?mi-x:",
    "(?i)",
    "(?m)",
    "(?x)",
    "(?x: a b )",
    "(?=",
    "(?!",
    "(?<=a)",
    "(?<!a)",
    "(?>",
    "(?<n>",
    "\\k<n>",
    "\\1",
    "\\2",
    "\\k<1>",
    "\\k<-1>",
    "|",
    "[ab]",
    "[^ab]",
    "[a-c]",
    "[a-]",
    "[-a]",
    "[]a]",
    "[^]a]",
    "[\\d-]",
    "[\\w.]",
    "[[:alpha:]]",
    "[[:^alpha:]1]",
    "[[:upper:][:digit:]]",
    "[a-c&&[^b]]",
    "[a[bc]]",
    "[\\]\\\\]",
    "[é]",
    "\\p{Alpha}",
    "\\p{^Lu}",
    "\\P{L}",
    "[\\p{L}1]",
    "\\/",
    "\\.",
    "\\-",
    "\\u00e9",
    "\\x41",
    "\\101",
    "[\\n]",
    "#",
];

const LETTERS: [&str; 18] = [
    "a", "a", "b", "b", "c", "A", "B", "é", "É", "1", "_", "-", " ", "\n", "\n", "{", ".", "]",
];

#[test]
fn random_expressions_find_what_they_find_in_ruby() {
    let asked = std::env::var("HENCE_CASES").ok();
    let count = asked.map_or(10_000, |text| {
        text.parse().expect("HENCE_CASES is a number")
    });
    let cases: Vec<(String, String)> = (0..count).map(case).collect();
    let answers = real(&cases);
    assert_eq!(
        answers.len(),
        cases.len(),
        "ruby is needed to compare with: apt-get install -y --no-install-recommends puppet-agent"
    );
    let mut differences = Vec::new();
    let mut found = 0;
    let mut refused = 0;
    for ((pattern, text), answer) in cases.iter().zip(&answers) {
        let ours = match Pattern::new(pattern) {
            Err(_) => "refused".to_owned(),
            Ok(pattern) => match pattern.captures(text) {
                None => "nothing".to_owned(),
                Some(groups) => array(groups.into_iter()),
            },
        };
        found += usize::from(answer.starts_with('['));
        // Some things cannot be had, which is said; but nothing is found that Ruby does not find.
        if ours == "refused" && answer != "refused" {
            refused += 1;
            continue;
        }
        if ours != *answer && answer != "too slow" {
            differences.push(format!(
                "{pattern:?} in {text:?}\n  real: {answer}\n  ours: {ours}\n"
            ));
        }
    }
    assert!(found * 10 > cases.len(), "{found} find something");
    assert!(refused * 200 < cases.len(), "{refused} are refused");
    assert!(
        differences.is_empty(),
        "{} of {} differ\n{}",
        differences.len(),
        cases.len(),
        differences.join("\n")
    );
}

fn case(seed: u64) -> (String, String) {
    let mut random = Random::new(seed);
    let mut pattern = String::new();
    let mut open = 0;
    for _ in 0..1 + random.below(6) {
        let piece = *random.pick(&PIECES);
        open += usize::from(piece.starts_with('(') && !piece.ends_with(')'));
        pattern.push_str(piece);
        if open > 0 && random.chance(30) {
            pattern.push(')');
            open -= 1;
        }
    }
    pattern.push_str(&")".repeat(open));
    let text = (0..random.below(8))
        .map(|_| *random.pick(&LETTERS))
        .collect();
    (pattern, text)
}

fn real(cases: &[(String, String)]) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agreement/pattern.rb");
    let mut process = Command::new("ruby")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ruby is needed: apt-get install -y --no-install-recommends puppet-agent");
    let mut input = process.stdin.take().expect("it is a pipe");
    let lines: String = cases
        .iter()
        .map(|(pattern, text)| array([Some(pattern.as_str()), Some(text)].into_iter()) + "\n")
        .collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = process.wait_with_output().expect("it ends");
    let _ = writer.join().expect("writing does not panic");
    let answers = String::from_utf8(output.stdout).expect("it answers in UTF-8");
    answers.lines().map(str::to_owned).collect()
}

/// A JSON array of texts, as Ruby writes it.
fn array<'t>(texts: impl Iterator<Item = Option<&'t str>>) -> String {
    let quoted = texts.map(|text| match text {
        None => "null".to_owned(),
        Some(text) => {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", text.replace('\n', "\\n"))
        }
    });
    format!("[{}]", quoted.collect::<Vec<String>>().join(","))
}
