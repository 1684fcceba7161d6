//! Everything that was read knows where it stands.

mod outline;

use hence_model::unit::Unit;
use hence_puppet::parser::{parse, parse_template};
use hence_puppet::syntax::*;

/// What stands in the places of all pieces and literals, in order.
fn places(text: &str, is_template: bool) -> Vec<String> {
    let mut unit = Unit::default();
    unit.sources.add("before", "something else").unwrap();
    let file = unit.sources.add("text", text).unwrap();
    let program = match is_template {
        true => parse_template(&mut unit, file),
        false => parse(&mut unit, file),
    };
    assert!(unit.diagnostics.is_empty(), "{:?}", unit.diagnostics);
    let mut spans = Vec::new();
    for statement in &program.body.statements {
        walk(statement, &mut |expression| spans.push(expression.span));
    }
    let slices = spans.into_iter().map(|span| unit.sources.slice(span));
    slices.map(str::to_owned).collect()
}

/// Calls `visit` for an expression and those in it, as far as these tests need.
fn walk(expression: &Expression, visit: &mut dyn FnMut(&Expression)) {
    visit(expression);
    match &expression.kind {
        Kind::Interpolated(list) | Kind::Array(list) => {
            list.iter().for_each(|one| walk(one, visit));
        }
        Kind::Heredoc(inner, _)
        | Kind::Parenthesised(inner)
        | Kind::Not(inner)
        | Kind::Render(inner) => walk(inner, visit),
        Kind::Binary(_, sides) | Kind::Assign(sides) | Kind::Relationship(_, sides) => {
            sides.iter().for_each(|one| walk(one, visit));
        }
        Kind::Access(of, keys) => {
            walk(of, visit);
            keys.iter().for_each(|one| walk(one, visit));
        }
        Kind::Call(call) => {
            walk(&call.function, visit);
            call.arguments.iter().for_each(|one| walk(one, visit));
        }
        Kind::Resource(resource) => {
            walk(&resource.kind, visit);
            for body in &resource.bodies {
                walk(&body.title, visit);
                body.attributes
                    .iter()
                    .for_each(|attribute| walk(&attribute.value, visit));
            }
        }
        _ => {}
    }
}

#[test]
fn a_string_and_its_pieces() {
    assert_eq!(
        places(r#"$a = "é ${b['c']} $d\n" "#, false),
        [
            r#"$a = "é ${b['c']} $d\n""#,
            "$a",
            r#""é ${b['c']} $d\n""#,
            "é ",
            "b['c']",
            "b",
            "'c'",
            " ",
            "$d",
            r"\n",
        ]
    );
}

#[test]
fn a_heredoc_and_its_pieces() {
    assert_eq!(
        places("f(@(\"E\"), 1)\n  a ${b}\n  | E\n", false),
        [
            "f(@(\"E\"), 1)",
            "f",
            "@(\"E\")",
            "  a ${b}\n",
            "  a ",
            "b",
            "\n",
            "1",
        ]
    );
}

#[test]
fn calls_resources_and_relationships() {
    assert_eq!(
        places("notice 'a', -1 # b\n", false),
        ["notice 'a', -1", "notice", "'a'", "-1"]
    );
    assert_eq!(
        places("@file { ['a']: b => !$c, } -> File['a']", false),
        [
            "@file { ['a']: b => !$c, } -> File['a']",
            "@file { ['a']: b => !$c, }",
            "file",
            "['a']",
            "'a'",
            "!$c",
            "$c",
            "File['a']",
            "File",
            "'a'",
        ]
    );
}

#[test]
fn a_template_and_its_fragments() {
    assert_eq!(
        places("a <%= $b -%>\n c <%# d %> e <% f() %> g", true),
        [
            "a ",
            "<%= $b -%>",
            "$b",
            "\n c <%# d %> e ",
            "f()",
            "f",
            " g"
        ]
    );
}

#[test]
fn definitions_have_full_names_in_the_order_in_which_they_begin() {
    let text = "class A {}\nclass a { class b { define c {} } }\nnode x, /y/ {}\ntype A::B = C";
    let mut unit = Unit::default();
    let file = unit.sources.add("text", text).unwrap();
    let program = parse(&mut unit, file);
    let found: Vec<(&str, &str)> = program
        .definitions
        .iter()
        .map(|one| (one.name.as_str(), unit.sources.slice(one.name_span)))
        .collect();
    assert_eq!(
        found,
        [
            ("a", "A"),
            ("a", "a"),
            ("a::b", "b"),
            ("a::b::c", "c"),
            ("", "x, /y/"),
            ("a::b", "A::B"),
        ]
    );
    assert_eq!(unit.diagnostics.len(), 1, "`A` is no name of a class");
    assert!(outline::outline(&program).starts_with("(do nothing"));
}
