//! Work grows as the text and the result do: counted in steps, in shapes that are known to tempt.
//!
//! Each shape is made in two sizes, the second four times the first. The steps that compiling and
//! printing take may then be a little more than four times as many, as some searches are logarithmic;
//! a quadratic one would take sixteen times as many.

use std::fmt::Write;

use hence_model::print::json::Json;
use hence_model::source::{Files, ReadError};
use hence_model::trace::Trace;
use hence_model::work::steps_of;
use hence_smartfrog::{Options, Semantics, compile_file};

/// What a shape of size n looks like.
type Shape = fn(usize) -> String;

const CORE: &[(&str, Shape)] = &[
    ("many attributes in one block", |n| {
        block(n, |i| format!("a{i} {i};"))
    }),
    ("many attributes, each linked to", |n| {
        block(n, |i| format!("a{i} {i}; b{i} a{i};"))
    }),
    ("many links to one attribute", |n| {
        format!("x 1; {}", block(n, |i| format!("a{i} x;")))
    }),
    (
        "one attribute given again and again, and seen before",
        |n| {
            format!(
                "p extends {{ x 0; {} }} sfConfig extends {{ {} }}",
                lines(20, |i| format!("y{i} {i};")),
                lines(n, |i| format!("q{i} extends p, {{ x {i}; z x; }}"))
            )
        },
    ),
    ("machines with a prototype", |n| {
        format!(
            "p extends {{ {} net extends {{ mtu 1500; dns \"d\"; }} }} {}",
            lines(30, |i| format!("k{i} {i};")),
            block(n, |i| format!("m{i} extends p, {{ k3 {i}; net:mtu {i}; }}"))
        )
    }),
    ("machines with two prototypes", |n| {
        format!(
            "p extends {{ {} }} q extends {{ {} }} {}",
            lines(20, |i| format!("k{i} {i};")),
            lines(20, |i| format!("k{} {i};", i + 10)),
            block(n, |i| format!("m{i} extends p, q, {{ k3 {i}; }}"))
        )
    }),
    ("a chain of prototypes", |n| {
        format!(
            "p0 extends {{ {} }} {} sfConfig extends p{n}",
            lines(20, |i| format!("k{i} {i};")),
            lines(n, |i| format!(
                "p{} extends p{i}, {{ k{} {i}; }}",
                i + 1,
                i % 20
            ))
        )
    }),
    ("a chain of prototypes, each shown", |n| {
        format!(
            "sfConfig extends {{ p0 extends {{ {} }} {} }}",
            lines(20, |i| format!("k{i} {i};")),
            lines(n, |i| format!(
                "p{} extends p{i}, {{ k{} {i}; }}",
                i + 1,
                i % 20
            ))
        )
    }),
    ("a chain of prototypes with links to its beginning", |n| {
        format!(
            "p0 extends {{ {} }} {} sfConfig extends {{ a p{n}:k3; }}",
            lines(20, |i| format!("k{i} {i};")),
            lines(n, |i| format!(
                "p{} extends p{i}, {{ l k{}; }}",
                i + 1,
                i % 20
            ))
        )
    }),
    (
        "a chain of prototypes with links to new names of its beginning",
        |n| {
            format!(
                "p0 extends {{ {} }} {} sfConfig extends {{ a p{n}:k3; }}",
                lines(n, |i| format!("k{i} {i};")),
                lines(n, |i| format!("p{} extends p{i}, {{ l k{i}; }}", i + 1))
            )
        },
    ),
    ("prototypes twice over, again and again", |n| {
        format!(
            "p0 extends {{ a 1; b 2; }} {} sfConfig extends p{n}",
            lines(n, |i| format!(
                "p{} extends p{i}, p{i}, {{ a {i}; }}",
                i + 1
            ))
        )
    }),
    ("placements into many blocks by turns", |n| {
        format!(
            "sfConfig extends {{ a extends {{}} b extends {{}} {} }}",
            lines(n, |i| format!("a:x{i} {i}; b:x{i} {i};"))
        )
    }),
    ("placements into what is inherited", |n| {
        format!(
            "p extends {{ a extends {{ b extends {{ c 1; }} }} }} {}",
            block(n, |i| format!(
                "m{i} extends p, {{ a:b:c {i}; a:b:d {i}; }}"
            ))
        )
    }),
    ("a block that extends the one around it", |n| {
        format!(
            "sfConfig extends {{ {} }}",
            lines(n, |i| format!("x {i}; y x;"))
        )
    }),
    ("a name that is shadowed at every level", |n| {
        let levels = n / 10;
        format!(
            "x 0; sfConfig extends {{ {} {} }}",
            "a extends { x 1; y x; ".repeat(levels),
            "}".repeat(levels)
        )
    }),
    ("vectors", |n| {
        format!("sfConfig extends {{ v [{}0]; }}", "1, [2, 3], ".repeat(n))
    }),
];

const FORWARD: &[(&str, Shape)] = &[
    ("links that look ahead", |n| {
        block(n, |i| format!("a{i} b{i}; b{i} {i};"))
    }),
    ("a chain of links", |n| {
        format!(
            "sfConfig extends {{ {} n{n} 1; }}",
            lines(n, |i| format!("n{i} n{};", i + 1))
        )
    }),
    ("machines that inherit links", |n| {
        format!(
            "p extends {{ a x; b a; net extends {{ c x; }} x 0; }} {}",
            block(n, |i| format!("m{i} extends p, {{ x {i}; }}"))
        )
    }),
];

const PRODUCTION: &[(&str, Shape)] = &[
    ("expressions", |n| {
        format!(
            "sfConfig extends {{ a0 1; {} }}",
            lines(n, |i| format!("a{} (a{i} + 1);", i + 1))
        )
    }),
    ("machines that inherit expressions", |n| {
        format!(
            "{} p extends {{ x 0; y (x * 2); net extends {{ z (x ++ \"-\"); }} net:w y; }}",
            block(n, |i| format!("m{i} extends p {{ x {i}; }}"))
        )
    }),
    ("prototypes that are defined below", |n| {
        format!(
            "sfConfig extends p0 {} p{n} extends {{ x 1; }}",
            lines(n, |i| format!("p{i} extends p{} {{ y {i}; }}", i + 1))
        )
    }),
];

#[test]
fn the_core_semantics() {
    grows(CORE, Semantics::Core);
}

#[test]
fn the_forward_semantics() {
    grows(FORWARD, Semantics::Forward);
}

#[test]
fn the_production_language() {
    grows(PRODUCTION, Semantics::Production);
}

fn grows(shapes: &[(&str, Shape)], semantics: Semantics) {
    let mut steep = Vec::new();
    for (name, shape) in shapes {
        let small = steps(&shape(500), semantics);
        let large = steps(&shape(2_000), semantics);
        let growth = large as f64 / small as f64;
        println!("{growth:5.2}  {name}: {small} and {large} steps");
        if growth > 5.0 {
            steep.push(format!("{name}: {growth:.1} times"));
        }
    }
    assert!(
        steep.is_empty(),
        "four times the text takes more: {steep:#?}"
    );
}

fn steps(text: &str, semantics: Semantics) -> u64 {
    struct One<'a>(&'a str);
    impl Files for One<'_> {
        fn read(&self, _: &str, text: &mut String) -> Result<(), ReadError> {
            text.push_str(self.0);
            Ok(())
        }
    }
    let options = Options {
        semantics,
        ..Options::default()
    };
    let steps = steps_of(|| {
        let compiled = compile_file::<Trace>(&One(text), "main.sf", &options);
        let first = compiled.unit.diagnostics.first();
        assert!(compiled.configuration.is_some(), "{first:?} in {text:.300}");
        let mut json = Json::compact(std::io::sink());
        compiled.send(&mut json);
        json.finish().expect("a sink takes everything");
    });
    assert!(
        steps > 0,
        "steps are counted in builds with debug assertions"
    );
    steps
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = writeln!(text, "{}", line(i));
    }
    text
}

fn block(n: usize, line: impl Fn(usize) -> String) -> String {
    format!("sfConfig extends {{ {} }}", lines(n, line))
}
