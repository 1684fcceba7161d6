//! Which documents are of their type, Hence and `xmllint` agree on.

use hence_model::random::Random;
use hence_xml::dtd::Content;

use crate::cases;
use crate::generate::Type;
use crate::judge::{read, xmllint};

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
