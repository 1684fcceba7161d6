//! Whatever is given as a document, a type, a path or a script, there is an answer, in time.

use hence_model::random::Random;
use hence_model::source::Sources;
use hence_model::unit::OUTPUT_TOO_LARGE;
use hence_xml::command;
use hence_xml::declarations;
use hence_xml::document::DEPTH;
use hence_xml::dtd::Dtd;
use hence_xml::entities::ENTITY;
use hence_xml::transaction::{Nowhere, commit};

use crate::cases;
use crate::generate::{Type, document, mutated, one};
use crate::judge::read;
use crate::simple::{self, Order, orders};

#[test]
fn every_document_gets_an_answer() {
    for seed in 0..cases(20_000) {
        let mut random = Random::new(seed);
        let mut text = match random.chance(50) {
            true => document(&mut random),
            false => Type::random(&mut random).document(&mut random),
        };
        for _ in 0..random.below(3) {
            text = mutated(&mut random, &text);
        }
        match read(&text) {
            Ok(read) => {
                assert_eq!(read.document.write(&read.sources).text, text);
                let _ = read.invalid();
            }
            Err(troubles) => {
                for trouble in troubles {
                    let span = trouble.labels[0].span;
                    assert!(
                        span.start <= span.end && span.end as usize <= text.len() + 1,
                        "{trouble:?}"
                    );
                    assert!(
                        text.get(span.start as usize..(span.end as usize).min(text.len()))
                            .is_some(),
                        "seed {seed}, {trouble:?}: {text}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_type_gets_an_answer() {
    const PIECES: [&str; 14] = [
        "<!ENTITY % a 'EMPTY'>",
        "<!ENTITY % b '(%c;|e)*'>",
        "<!ENTITY % c 'a|b'>",
        "%a;",
        "%b;",
        "%c;",
        "<!ELEMENT x %a;>",
        "<!ELEMENT y %b;>",
        "<![INCLUDE[",
        "<![IGNORE[",
        "]]>",
        "<![%d;[",
        "<!ENTITY % d 'INCLUDE'>",
        "<!ATTLIST x %e; CDATA 'v'>",
    ];
    let mut good = 0;
    for seed in 0..cases(20_000) {
        let mut random = Random::new(seed);
        let mut text = String::new();
        for _ in 0..random.below(4) {
            text.push_str(one(&mut random, &PIECES));
        }
        text.push_str(&Type::random(&mut random).print());
        for _ in 0..random.below(4) {
            text.push_str(one(&mut random, &PIECES));
        }
        if random.chance(50) {
            text = mutated(&mut random, &text);
        }
        let mut sources = Sources::default();
        let file = sources.add("some.dtd", &text).unwrap();
        let mut dtd = Dtd::default();
        good += u64::from(declarations::external(&sources, file, &mut dtd).is_ok());
    }
    assert!(good * 20 > cases(20_000), "{good}");
}

#[test]
fn every_script_gets_an_answer() {
    for seed in 0..cases(20_000) {
        let mut random = Random::new(seed);
        let lines: Vec<String> = orders(&mut random).iter().map(Order::print).collect();
        let script = mutated(&mut random, &lines.join("\n"));
        let mut read = read(&simple::document(&mut random).canonical()).unwrap();
        let file = read.sources.add("script", &script).unwrap();
        match command::parse(&read.sources, file) {
            Ok(commands) => {
                let text = commit(
                    &mut read.sources,
                    read.document,
                    &read.dtd,
                    &commands,
                    Nowhere::Allow,
                );
                for trouble in text.err().into_iter().flatten() {
                    assert!(!trouble.labels.is_empty(), "{trouble:?}");
                }
            }
            Err(troubles) => {
                let whole = read.sources.span(file);
                for trouble in troubles {
                    let span = trouble.labels[0].span;
                    assert!(
                        whole.start <= span.start && span.end <= whole.end + 1,
                        "{script:?}: {trouble:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_few_lines_do_not_become_a_few_gigabytes() {
    let mut text = "<!DOCTYPE r [<!ENTITY e0 'ha'><!ENTITY none ''>".to_owned();
    for level in 1..30 {
        let inner = format!("&e{};&none;", level - 1).repeat(10);
        text.push_str(&format!("<!ENTITY e{level} '{inner}'>"));
    }
    for content in ["<r>&e29;</r>", "<r a='&e29;'/>"] {
        let troubles = read(&format!("{text}]>{content}"))
            .err()
            .expect("it is refused");
        assert_eq!(troubles[0].code, ENTITY);
    }
    // Neither does what stands for nothing take for ever.
    let mut text = "<!DOCTYPE r [<!ENTITY e0 ''>".to_owned();
    for level in 1..30 {
        let inner = format!("&e{};", level - 1).repeat(10);
        text.push_str(&format!("<!ENTITY e{level} '{inner}'>"));
    }
    assert!(read(&format!("{text}]><r>&e29;</r>")).is_err());
    let mut text = "<!ENTITY % p0 ''>".to_owned();
    for level in 1..30 {
        text.push_str(&format!(
            "<!ENTITY % p{level} '{}'>",
            format!("%p{};", level - 1).repeat(10)
        ));
    }
    let mut sources = Sources::default();
    let file = sources.add("some.dtd", &format!("{text}%p29;")).unwrap();
    assert!(declarations::external(&sources, file, &mut Dtd::default()).is_ok());
}

#[test]
fn deep_documents_are_refused_and_deep_groups_too() {
    let deep = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(read(&deep(DEPTH)).is_ok());
    assert!(read(&deep(DEPTH + 2)).is_err());
    assert!(read(&"<a>".repeat(1_000_000)).is_err());
    let groups = format!(
        "<!DOCTYPE r [<!ELEMENT r {}a{}>]><r/>",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert!(read(&groups).is_err());
}

#[test]
fn wide_documents_are_read_checked_and_changed() {
    let members: String = (0..100_000)
        .map(|number| format!("<c k=\"n{number}\"/>"))
        .collect();
    let kind = "<!ELEMENT r ((c|d)*, e?)><!ELEMENT c EMPTY><!ATTLIST c k ID #REQUIRED><!ELEMENT e EMPTY><!ATTLIST e k CDATA #IMPLIED>";
    let mut read = read(&format!("<!DOCTYPE r [{kind}]><r>{members}</r>")).unwrap();
    assert!(read.invalid().is_empty());
    let script = "add /r @k <c k=\"new\"/>\nsubtract /r c[@k='n5']\nadd /r @k <e k=\"1\"/>";
    let file = read.sources.add("script", script).unwrap();
    let commands = command::parse(&read.sources, file).unwrap();
    let text = commit(
        &mut read.sources,
        read.document,
        &read.dtd,
        &commands,
        Nowhere::Refuse,
    )
    .unwrap()
    .text;
    assert!(text.ends_with("<c k=\"n99999\"/><c k=\"new\"/><e k=\"1\"/></r>"));
    assert!(!text.contains("\"n5\""));
}

#[test]
fn a_few_commands_do_not_become_a_few_gigabytes() {
    let mut read = read("<r/>").unwrap();
    let mut script = "assert /r <c/><c/><c/><c/><c/><c/><c/><c/>\n".to_owned();
    let mut path = "/r".to_owned();
    for _ in 0..30 {
        path.push_str("/c");
        script.push_str(&format!("assert {path} <c/><c/><c/><c/><c/><c/><c/><c/>\n"));
    }
    let file = read.sources.add("script", &script).unwrap();
    let commands = command::parse(&read.sources, file).unwrap();
    let refused = commit(
        &mut read.sources,
        read.document,
        &read.dtd,
        &commands,
        Nowhere::Allow,
    );
    assert_eq!(refused.unwrap_err()[0].code, OUTPUT_TOO_LARGE);
}
