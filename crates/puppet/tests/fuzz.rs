//! Nothing that can be read makes the parser panic, hang, or go past its limits.
//!
//! The inputs are the texts of `agreement/`, what mutations make of them, and tokens in any order.
//! `HENCE_CASES` says how many.

mod outline;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use hence_model::random::Random;
use hence_model::source::Span;
use hence_model::unit::{Limits, Unit};
use hence_puppet::lexer::{Lexer, Token};
use hence_puppet::parser::{parse, parse_template};
use hence_puppet::syntax::Program;
use outline::outline;

#[test]
fn every_random_input_is_answered() {
    let corpus = corpus();
    assert!(corpus.len() > 500);
    for seed in 0..cases(30_000) {
        let mut random = Random::new(seed);
        let mut text = match random.below(3) {
            0 => soup(&mut random),
            1 => random.pick(&corpus).clone(),
            _ => (0..random.below(6))
                .map(|_| random.pick(&corpus).clone() + "\n")
                .collect(),
        };
        for _ in 0..random.below(6) {
            let other = random.pick(&corpus).clone();
            mutate(&mut random, &mut text, &other);
        }
        answer(&text);
    }
}

/// On the stack that a thread has.
#[test]
fn very_deep_and_very_long_inputs_are_answered() {
    let n = 50_000;
    let pairs = [
        ("(", ")"),
        ("[", "]"),
        ("{a => ", "}"),
        ("f(", ")"),
        ("!", ""),
        ("- ", ""),
        ("*", ""),
        ("$a = ", ""),
        ("@", ""),
        ("if a { ", "}"),
        ("if a { } elsif b { } els", ""),
        ("unless a { } else { ", "}"),
        ("case a { b: { ", "}}"),
        ("$a ? { b => ", "}"),
        ("$a ? b => ", ""),
        ("class a { ", "}"),
        ("define a { ", "}"),
        ("node a { ", "}"),
        ("function a { ", "}"),
        ("f() |$x| { ", "}"),
        ("$x[", "]"),
        ("A[", "]"),
        ("type A = A[", "]"),
        ("class a($x = f() |$y = ", ""),
        ("\"${", "}\""),
        ("\"a${f(", ")}b\""),
        ("file { 'a': b => ", "}"),
        ("A <| a == ", "|>"),
        ("A <| (", "|>"),
        ("a -> (", ")"),
    ];
    let mut inputs: Vec<String> = Vec::new();
    for (open, close) in pairs {
        for levels in [100, 400, 499, 501, n] {
            inputs.push(format!("{}1{}", open.repeat(levels), close.repeat(levels)));
            inputs.push(open.repeat(levels));
        }
    }
    let chains = [
        ("1", " + 1"),
        ("1", " and 1"),
        ("$a", "[1]"),
        ("$a", ".b"),
        ("$a", ".b(1)"),
        ("$a", " ? {b => c}"),
        ("A", " -> A"),
        ("a { 'b': }", " { 'b': }"),
        ("f", "(1)"),
        ("A", " <| |>"),
        ("A <| a == 1", " and a == 1"),
        ("if a { }", " elsif a { }"),
        ("$a = 1", ", 1"),
        ("notice 1", ", 1"),
        ("notice 1", "; notice 1"),
        ("", "include a\n"),
        ("", "a b c "),
        ("", "class a { "),
        ("", "}"),
        ("", "{"),
        ("", "\""),
        ("", "'"),
        ("", "/"),
        ("", "/\\"),
        ("$a = /", "\\/"),
        ("", "@(A)"),
        ("", "@(A) "),
        ("", "@(A)\nA\n"),
        ("", "@(\"A\")\n${"),
        ("", "/* "),
        ("", "# "),
        ("", "$"),
        ("", ":"),
        ("", "::"),
        ("", "a::"),
        ("", "a-"),
        ("", "0"),
        ("", "1."),
        ("", "\\u"),
        ("\"", "\\u0041"),
        ("\"", "$"),
        ("\"", "${a} "),
        ("\"", "\"${\""),
        ("class a(", "$x,"),
        ("f(", "1,"),
        ("[", "a => 1,"),
        ("file {", "'a':;"),
        ("file { 'a': ", "b => 1,"),
        ("$a ? {", "default => 1,"),
        ("case $a {", "default: {}"),
        ("node a", ".b"),
        ("node a", ",b"),
        ("", "<%"),
        ("", "<%="),
        ("", "<%#"),
        ("", "<%% "),
        ("", "<%= $a %> "),
        ("", "<% if $a { -%>\n"),
        ("<% ", "{ %> a <% }"),
        ("<%- |", "$a,"),
    ];
    for (first, more) in chains {
        for times in [100, 498, 502, n] {
            inputs.push(format!("{first}{}", more.repeat(times)));
        }
    }
    for input in inputs {
        let start: String = input.chars().take(60).collect();
        let began = std::time::Instant::now();
        let answered = catch_unwind(AssertUnwindSafe(|| {
            read(&input, Limits::default());
        }));
        assert!(answered.is_ok(), "{start} …");
        assert!(began.elapsed().as_secs() < 10, "{start} … takes too long");
    }
}

#[test]
fn what_is_nested_a_few_hundred_times_is_read() {
    for text in [
        format!("notice({}1{})", "(".repeat(200), ")".repeat(200)),
        format!("notice(1{})", " + 1".repeat(400)),
        format!("File['a']{}", " -> File['a']".repeat(400)),
        format!("if $a {{ }}{}", " elsif $a { }".repeat(240)),
    ] {
        let mut unit = Unit::default();
        let file = unit.sources.add("text", &text).expect("it is small");
        parse(&mut unit, file);
        assert!(unit.diagnostics.is_empty(), "{:?}", unit.diagnostics[0]);
    }
}

/// Does everything with an input that can be done with one; what goes wrong is shown with it.
fn answer(text: &str) {
    let limits = Limits {
        depth: 60,
        ..Limits::default()
    };
    let answered = catch_unwind(AssertUnwindSafe(|| {
        read_tokens(text);
        read(text, limits);
    }));
    if answered.is_err() {
        panic!("{text}");
    }
}

fn read(text: &str, limits: Limits) {
    for is_template in [false, true] {
        let mut unit = Unit::with_limits(limits);
        // Something before and behind, so that no offset is right by chance.
        unit.sources.add("before", "é\"").expect("it is small");
        let file = unit.sources.add("text", text).expect("it is small");
        unit.sources
            .add("behind", "\" } %> */")
            .expect("it is small");
        let program = match is_template {
            true => parse_template(&mut unit, file),
            false => parse(&mut unit, file),
        };
        let span = unit.sources.span(file);
        check_diagnostics(&unit, span);
        check_spans(&unit, &program, span);
        outline(&program);
    }
}

fn read_tokens(text: &str) {
    for mut lexer in [
        Lexer::new(Span::new(0, text.len() as u32)),
        Lexer::of_template(Span::new(0, text.len() as u32)),
    ] {
        let mut before = 0;
        loop {
            let lexeme = lexer.next(text, &mut |_| {});
            let place = lexeme.span;
            assert!(before <= place.start && place.end as usize <= text.len());
            if lexeme.token == Token::End {
                break;
            }
            assert!(text.get(place.start as usize..place.end as usize).is_some());
            before = place.end.max(before);
        }
    }
}

fn check_diagnostics(unit: &Unit, span: Span) {
    let text = unit.sources.text();
    for diagnostic in &unit.diagnostics {
        assert!(!diagnostic.message.is_empty());
        assert!(!diagnostic.labels.is_empty(), "{diagnostic:?}");
        for label in &diagnostic.labels {
            let stretch = label.span.start as usize..label.span.end as usize;
            assert!(text.get(stretch).is_some(), "{diagnostic:?}");
            assert!(
                label.span.start >= span.start && label.span.end <= span.end,
                "{diagnostic:?}"
            );
        }
    }
}

/// Definitions lie in the file, in order.
fn check_spans(unit: &Unit, program: &Program, span: Span) {
    let mut last = span.start;
    for definition in &program.definitions {
        assert!(definition.span.start >= last && definition.span.end <= span.end);
        assert!(
            unit.sources
                .text()
                .get(definition.span.start as usize..definition.span.end as usize)
                .is_some()
        );
        last = definition.span.start;
    }
    for statement in &program.body.statements {
        assert!(statement.span.start >= span.start && statement.span.end <= span.end);
    }
}

fn cases(default: u64) -> u64 {
    let asked = std::env::var("HENCE_CASES").ok();
    asked.map_or(default, |text| {
        text.parse().expect("HENCE_CASES is a number")
    })
}

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agreement");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("the texts are there");
    let mut texts: Vec<String> = read("lines.txt").lines().map(str::to_owned).collect();
    for name in ["blocks.txt", "templates.txt"] {
        texts.extend(read(name).split("----\n").map(str::to_owned));
    }
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
