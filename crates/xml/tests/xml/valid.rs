//! Which documents are of their type, Hence and `xmllint` agree on.

use hence_model::random::Random;
use hence_xml::declarations;
use hence_xml::dtd::Content;

use crate::cases;
use crate::generate::Type;
use crate::judge::{read, xmllint, xmllint_beside};

#[test]
fn the_judge_agrees_on_what_is_valid() {
    let mut documents = Vec::new();
    for seed in 0..cases(6_000) {
        let mut random = Random::new(seed);
        documents.push(unambiguous(&mut random).document(&mut random));
    }
    let verdicts = xmllint("valid", &["--valid"], &documents);
    let mut quarrels = Vec::new();
    let (mut valid, mut invalid) = (0, 0);
    for (text, verdict) in documents.iter().zip(&verdicts) {
        let read = read(text).expect("it is well-formed");
        let troubles = read.invalid();
        let is_invalid = verdict.has("validity error :");
        if troubles.is_empty() == is_invalid {
            quarrels.push(format!("{text}\n{troubles:?}\n{verdict:?}"));
        }
        match is_invalid {
            true => invalid += 1,
            false => valid += 1,
        }
    }
    assert!(
        quarrels.is_empty(),
        "{}: {}",
        quarrels.len(),
        quarrels[..quarrels.len().min(5)].join("\n")
    );
    println!("{valid} valid, {invalid} not");
    assert!(
        valid * 4 > documents.len() && invalid * 4 > documents.len(),
        "{valid} valid, {invalid} not"
    );
}

/// The same declarations as a file would have them: with parameter entities, and parts that are left out.
fn as_a_file(random: &mut Random, declarations: &str) -> String {
    let mut text = "<?xml version='1.0' encoding='UTF-8'?>\n<!ENTITY % yes 'INCLUDE'>\n".to_owned();
    for (number, line) in declarations.lines().enumerate() {
        let words: Vec<&str> = line.trim_end_matches('>').splitn(3, ' ').collect();
        let mut line = match words[..] {
            ["<!ELEMENT", name, content] if random.chance(50) => {
                format!("<!ENTITY % m{number} \"{content}\"><!ELEMENT {name} %m{number};>")
            }
            ["<!ATTLIST", name, rest] if random.chance(50) => {
                format!("<!ENTITY % m{number} \"{name} {rest}\"><!ATTLIST %m{number};>")
            }
            _ => line.to_owned(),
        };
        if random.chance(20) {
            let word = if random.chance(50) {
                "INCLUDE"
            } else {
                "%yes;"
            };
            line = format!("<![{word}[{line}]]>");
        }
        if random.chance(10) {
            line.push_str("<![ IGNORE [ <!ELEMENT r <![INCLUDE[ EMPTY> ]]> ]]>");
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn the_judge_agrees_on_types_that_are_declared_in_files() {
    let (mut documents, mut files) = (Vec::new(), Vec::new());
    for seed in 0..cases(1_500) {
        let mut random = Random::new(seed);
        let kind = unambiguous(&mut random);
        let text = kind.document(&mut random);
        let (_, body) = text.split_once("]>\n").expect("it has a type");
        let name = format!("{seed}.dtd");
        files.push((name.clone(), as_a_file(&mut random, &kind.print())));
        documents.push(format!("<!DOCTYPE r SYSTEM \"{name}\">\n{body}"));
    }
    let verdicts = xmllint_beside("files", &["--valid"], &documents, &files);
    let (mut valid, mut invalid) = (0, 0);
    for (place, verdict) in verdicts.iter().enumerate() {
        let mut read = read(&documents[place]).expect("it is well-formed");
        let file = read.sources.add("some.dtd", &files[place].1).unwrap();
        let declared = declarations::external(&read.sources, file, &mut read.dtd);
        let what = format!("{}\n{}\n{verdict:?}", files[place].1, documents[place]);
        assert!(
            declared.is_ok() && !verdict.is_malformed(),
            "{declared:?}\n{what}"
        );
        let is_invalid = verdict.has("validity error :");
        assert_eq!(
            read.invalid().is_empty(),
            !is_invalid,
            "{:?}\n{what}",
            read.invalid()
        );
        match is_invalid {
            true => invalid += 1,
            false => valid += 1,
        }
    }
    println!("{valid} valid, {invalid} not");
    assert!(valid * 4 > documents.len() && invalid * 4 > documents.len());
}

/// A type in which each child can be one thing only: the judge looks at no others, Hence at all of them.
pub fn unambiguous(random: &mut Random) -> Type {
    loop {
        let found = Type::random(random);
        let text = format!("<!DOCTYPE r [{}]><r/>", found.print());
        let read = read(&text).expect("it is well-formed");
        let is_ambiguous = |content: &Content| match content {
            Content::Elements(model) => !model.is_deterministic(),
            _ => false,
        };
        if !read
            .dtd
            .elements
            .values()
            .any(|one| is_ambiguous(&one.content))
        {
            return found;
        }
    }
}
