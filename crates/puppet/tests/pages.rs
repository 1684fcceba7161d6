//! The first example of a page about a diagnostic of the parser shows it, and the others show none.

use std::fs;
use std::path::Path;

use hence_model::unit::Unit;
use hence_puppet::parser;

#[test]
fn the_examples_of_a_page_show_the_mistake_and_then_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    let codes = [
        hence_puppet::lexer::HEREDOC,
        hence_puppet::lexer::NAME,
        hence_puppet::lexer::NUMBER,
        hence_puppet::lexer::STRAY_CHARACTER,
        hence_puppet::lexer::UNTERMINATED,
        parser::ASSIGNMENT,
        parser::ATTRIBUTE,
        parser::CALL,
        parser::DUPLICATE_DEFAULT,
        parser::ESCAPE,
        parser::NODE_NAME,
        parser::NO_EFFECT,
        parser::NO_VALUE,
        parser::NUMBER_RANGE,
        parser::PARAMETER,
        parser::PATTERN,
        parser::QUERY,
        parser::RESERVED_WORD,
        parser::SYNTAX,
        parser::TOP_LEVEL,
        parser::UNSUPPORTED,
    ];
    for code in codes {
        let page = folder.join(format!("{}.md", code.name));
        let text = fs::read_to_string(page).expect("every code has a page");
        let examples = text.split("```pp\n").skip(1);
        let examples = examples.map(|rest| rest.split("```").next().unwrap_or_default());
        for (number, example) in examples.enumerate() {
            let mut unit = Unit::default();
            let file = unit.sources.add("example", example).expect("it is small");
            parser::parse(&mut unit, file);
            let mut raised: Vec<&str> = unit.diagnostics.iter().map(|one| one.code.name).collect();
            raised.dedup();
            match number {
                0 => assert_eq!(raised, [code.name], "the first example"),
                _ => assert!(raised.is_empty(), "{}: {:?}", code.name, unit.diagnostics),
            }
        }
    }
}
