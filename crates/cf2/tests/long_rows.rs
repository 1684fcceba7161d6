//! However far a value was copied, it is explained by the literal that it is; and a sum of sums is still one.

use std::fmt::Write;

use hence_cf2::generate::Texts;
use hence_cf2::{Compiled, Options, compile_file};
use hence_model::explanation::StepKind;
use hence_model::path::{Path, Segment};

fn with<T>(text: String, ask: impl FnOnce(&mut Compiled<'_>) -> T) -> T {
    let texts = Texts(vec![("main.cf2".to_owned(), text)]);
    let mut compiled = compile_file(&texts, texts.main(), &Options::default());
    assert!(compiled.is_good(), "{:?}", compiled.unit().diagnostics);
    ask(&mut compiled)
}

fn path(name: &str) -> Path {
    Path(vec![Segment::Key(name.to_owned())])
}

#[test]
fn a_row_of_references_is_followed_to_its_literal() {
    for length in [249, 250, 251, 600, 4_000] {
        let mut text = String::new();
        for i in 0..length {
            writeln!(text, "A{i} => $A{}", i + 1).expect("a text can be written to");
        }
        writeln!(text, "A{length} => 1").expect("a text can be written to");
        let place = with(text, |compiled| {
            let explained = compiled.explain(&path("A0"));
            let place = explained.expect("it is there").place;
            let place = place.expect("it was only copied");
            compiled.unit().sources.location(place.start)
        });
        let column = format!("A{length} => ").len() as u32 + 1;
        assert_eq!((place.line, place.column), (length + 1, column));
    }
}

#[test]
fn a_sum_of_many_sums_is_computed() {
    let mut text = "A0 => 1\n".to_owned();
    for i in 1..=40 {
        writeln!(text, "A{i} => $A{0} + $A{0}", i - 1).expect("a text can be written to");
    }
    with(text, |compiled| {
        for name in ["A2", "A12", "A40"] {
            let explained = compiled.explain(&path(name)).expect("it is there");
            assert_eq!(explained.place, None);
            let first = explained.steps.first().expect("there is a way");
            assert!(matches!(first.kind, StepKind::Operation(_)), "{name}");
        }
    });
}
