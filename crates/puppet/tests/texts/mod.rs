//! Texts that are nearly manifests.

use std::fs;
use std::path::Path;

use hence_model::random::Random;

/// How many texts are tried: `HENCE_CASES`.
pub fn cases(default: u64) -> u64 {
    let asked = std::env::var("HENCE_CASES").ok();
    asked.map_or(default, |text| {
        text.parse().expect("HENCE_CASES is a number")
    })
}

/// The text that belongs to a seed.
pub fn random_text(corpus: &[String], seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = match random.below(3) {
        0 => soup(&mut random),
        1 => random.pick(corpus).clone(),
        _ => (0..random.below(6))
            .map(|_| random.pick(corpus).clone() + "\n")
            .collect(),
    };
    for _ in 0..random.below(6) {
        let other = random.pick(corpus).clone();
        mutate(&mut random, &mut text, &other);
    }
    text
}

/// The texts of `agreement/`.
pub fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agreement");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("the texts are there");
    let mut texts: Vec<String> = read("lines.txt").lines().map(str::to_owned).collect();
    for name in ["blocks.txt", "templates.txt"] {
        texts.extend(read(name).split("----\n").map(str::to_owned));
    }
    // Whether a text is JSON is not the parser's business here.
    texts.retain(|text| !text.contains(":json"));
    texts
}

const TOKENS: [&str; 92] = [
    "a",
    "b",
    "notice",
    "include",
    "A",
    "A::B",
    "$a",
    "$a::b",
    "$",
    "1",
    "0x1",
    "1.5",
    "08",
    "'t'",
    "'",
    "\"",
    "\"${",
    "\"t\"",
    "\"${a}\"",
    "\"$a\"",
    "if",
    "elsif",
    "else",
    "unless",
    "case",
    "class",
    "define",
    "node",
    "function",
    "type",
    "default",
    "undef",
    "true",
    "and",
    "or",
    "in",
    "inherits",
    "private",
    "{",
    "}",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "(",
    ")",
    "=>",
    "+>",
    "=",
    "==",
    "=~",
    "!=",
    "!",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "<",
    ">",
    "->",
    "~>",
    "<-",
    "<~",
    "<|",
    "|>",
    "<<|",
    "|>>",
    "|",
    "?",
    "@",
    "@@",
    ":",
    ";",
    ",",
    ".",
    "@(E)",
    "@(\"E\"/L)",
    "\nE\n",
    "\n| - E\n",
    "\n",
    "#",
    "/*",
    "*/",
    "/x/",
    "<%=",
    "-%>",
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
            let at = boundary(text, random.below(text.len() + 1));
            text.truncate(at);
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
