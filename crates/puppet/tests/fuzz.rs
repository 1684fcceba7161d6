//! Nothing that can be read makes the parser panic, hang, or go past its limits.
//!
//! The inputs are the texts of `agreement/`, what mutations make of them, and tokens in any order.
//! `HENCE_CASES` says how many.

mod outline;
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};

use hence_model::source::Span;
use hence_model::unit::{Limits, Unit};
use hence_puppet::lexer::{Lexer, Token};
use hence_puppet::parser::{parse, parse_template};
use hence_puppet::syntax::Program;
use outline::outline;
use texts::{cases, corpus, random_text};

#[test]
fn every_random_input_is_answered() {
    let corpus = corpus();
    assert!(corpus.len() > 500);
    for seed in 0..cases(30_000) {
        let text = random_text(&corpus, seed);
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
