//! Whatever is given as commands, there is an answer: commands, or what is wrong and where.

use crate::sites::{Sites, command};
use hence_model::random::Random;
use hence_model::source::Sources;

#[test]
fn every_text_gets_an_answer() {
    const PIECES: [&str; 30] = [
        "assert",
        "retract",
        "retract-under",
        "apply",
        "host/h",
        "file/h/a",
        "a//b",
        "%",
        "%2f",
        "\"",
        "\\",
        "\\u{",
        "}",
        "{",
        ";",
        "\n",
        "#",
        " ",
        "sealed(",
        "sealed(ab cd)",
        ")",
        "\t",
        "é",
        "\u{0}",
        "\\u{110000}",
        "\\u{41}",
        "site",
        "1",
        "/",
        "\r\n",
    ];
    for seed in 0..40_000 {
        let mut random = Random::new(seed);
        let mut text = String::new();
        if random.chance(50) {
            for _ in 0..random.below(4) {
                text.push_str(&command(&mut random).to_string());
                text.push('\n');
            }
        }
        for _ in 0..random.below(12) {
            let piece = random.pick(&PIECES);
            let mut place = random.below(text.len() + 1);
            while !text.is_char_boundary(place) {
                place -= 1;
            }
            text.insert_str(place, piece);
        }
        let mut sources = Sources::with_limit(1 << 20);
        let file = sources.add("fuzz", &text).unwrap();
        match hence_ledger::parser::parse(&sources, file, "ann", &Sites) {
            Ok(script) => {
                for (key, span) in script.places {
                    assert!(!sources.slice(span).is_empty(), "{key} in {text:?}");
                }
            }
            Err(troubles) => {
                assert!(!troubles.is_empty());
                for trouble in troubles {
                    let span = trouble.labels[0].span;
                    assert!(span.end as usize <= text.len(), "{trouble:?} in {text:?}");
                }
            }
        }
    }
}
