//! Work grows as the text and the result do: counted in steps, in shapes that are known to tempt.
//!
//! Each shape is made in two sizes, the second four times the first. The steps that compiling and printing
//! take may then be a little more than four times as many; a quadratic one would take sixteen times as many.

use std::fmt::Write;

use hence_cf2::generate::Texts;
use hence_cf2::{Compiled, Options, compile_file};
use hence_model::path::{Path, Segment};
use hence_model::print::json::Json;
use hence_model::source::Span;
use hence_model::work::steps_of;

/// What a shape of size n looks like: its files, the first of which is compiled.
type Shape = fn(usize) -> Vec<String>;

const SHAPES: &[(&str, Shape)] = &[
    ("many resources in one file", |n| {
        one(lines(n, |i| format!("a{i} => {i}")))
    }),
    ("many resources, each referred to", |n| {
        one(lines(n, |i| format!("a{i} => {i}\nb{i} => $a{i}")))
    }),
    ("many references to one resource", |n| {
        one("x => 1\n".to_owned() + &lines(n, |i| format!("a{i} => $x")))
    }),
    ("a long row of references, the last first", |n| {
        one("a0 => 1\n".to_owned() + &lines(n, |i| format!("a{} => $a{i}", i + 1)))
    }),
    ("a long row of references, the first first", |n| {
        one(lines(n, |i| format!("a{i} => $a{}", i + 1)) + &format!("a{n} => 1"))
    }),
    ("a long sum", |n| one(format!("a => 1{}", " + 1".repeat(n)))),
    ("a long text, joined", |n| {
        one(format!("a => x{}", " ++ x".repeat(n)))
    }),
    ("a long condition", |n| {
        one(format!("a => true{}", " && true".repeat(n)))
    }),
    ("many else-ifs", |n| {
        one(format!("a => {}1", "if (false) then 0 else ".repeat(n)))
    }),
    ("many inline else-ifs", |n| {
        one(format!(
            "{}{{ b => 1 }}",
            "if (false) then { a => 0 } else ".repeat(n)
        ))
    }),
    ("a big list of literals", |n| {
        one(format!("a => [{}]", lines(n, |i| format!("{i},"))))
    }),
    ("a big list of references, and its sum", |n| {
        one(format!("x => 1\na => [{}]\nb => sum($a)", "$x, ".repeat(n)))
    }),
    ("many selections from a big list", |n| {
        let list = lines(n, |i| format!("{i},"));
        one(format!(
            "l => [{list}]\n{}",
            lines(n, |i| format!("a{i} => $l.{i}"))
        ))
    }),
    ("many selections from a big block", |n| {
        let block = lines(n, |i| format!("k{i} => {i}"));
        one(format!(
            "l => {{ {block} }}\n{}",
            lines(n, |i| format!("a{i} => $l.k{i}"))
        ))
    }),
    ("blocks in blocks", |n| {
        one(format!("{}x => 1{}", "a => { ".repeat(n), " }".repeat(n)))
    }),
    ("implicit blocks of one name", |n| {
        one(lines(n, |i| format!("a.b{i}.c => {i}")))
    }),
    ("one name defined again and again", |n| {
        one("x => 1\n".repeat(n))
    }),
    ("many uses of a macro", |n| {
        one("def f(x) = $x ++ $x\n".to_owned() + &lines(n, |i| format!("a{i} => f({i})")))
    }),
    ("macros that use macros", |n| {
        let macros = lines(n, |i| format!("def f{}(x) = f{i}($x)", i + 1));
        one(format!("def f0(x) = $x\n{macros}a => f{n}(1)"))
    }),
    ("many inline conditionals", |n| {
        one(lines(n, |i| {
            format!("c{i} => true\nif ($c{i}) then {{ a{i} => {i} }}")
        }))
    }),
    ("machines that start from a base", |n| {
        let base = lines(20, |i| format!("k{i} => {i}"));
        let machines = lines(n, |i| format!("m{i} => $base ~> {{ k3 => {i} }}"));
        one(format!("base => {{ {base} }}\n{machines}"))
    }),
    ("a base on a base on a base", |n| {
        let machines = lines(n, |i| format!("m{} => $m{i} ~> {{ x => {i} }}", i + 1));
        one(format!("private m0 => {{ x => 0 }}\n{machines}"))
    }),
    ("many imports", |n| {
        let main = lines(n, |i| format!("import(f{})", i + 1));
        files(main, n, |i| format!("a{i} => {i}\n"))
    }),
    ("many imports as values", |n| {
        let main = lines(n, |i| format!("v{i} => import(f{})", i + 1));
        files(main, n, |i| format!("a => {i}\n"))
    }),
    ("a long row of imports", |n| {
        files("import(f1)\n".to_owned(), n, |i| match i == n {
            true => "a => 1\n".to_owned(),
            false => format!("import(f{})\nb{i} => {i}\n", i + 1),
        })
    }),
    ("many files that import one", |n| {
        let main = lines(n, |i| format!("import(f{})", i + 2));
        files(main, n + 1, |i| match i {
            1 => "a => 1\n".to_owned(),
            i => format!("import(f1)\nb{i} => $a\n"),
        })
    }),
    ("one name summed over many files", |n| {
        let main = lines(n, |i| format!("import(f{})", i + 1));
        files(main, n, |i| format!("x ~(sum)> {i}\n"))
    }),
    ("one name overridden in a long row of files", |n| {
        files("import(f1)\nx => 0\n".to_owned(), n, |i| match i == n {
            true => "x => 1\n".to_owned(),
            false => format!("import(f{})\nx => {i}\n", i + 1),
        })
    }),
    ("one block merged from many files", |n| {
        let main = lines(n, |i| format!("import(f{})", i + 1));
        files(main, n, |i| format!("b ~> {{ k{i} => {i} }}\n"))
    }),
    ("one block merged from a long row of files", |n| {
        files("import(f1)\n".to_owned(), n, |i| match i == n {
            true => "b ~> { z => 1 }\n".to_owned(),
            false => format!("import(f{})\nb ~> {{ k{i} => {i} }}\n", i + 1),
        })
    }),
];

#[test]
fn compiling_and_printing() {
    grows(SHAPES, &|_| {});
}

/// Shapes whose explanations have as much to look at as the text has.
const ASKED: &[(&str, Shape)] = &[
    ("machines that start from a base", |n| {
        let base = lines(20, |i| format!("k{i} => {i}"));
        let machines = lines(n, |i| format!("m{i} => $base ~> {{ k3 => {i} }}"));
        one(format!("base => {{ {base} }}\n{machines}"))
    }),
    ("many references to one resource", |n| {
        one("x => 1\n".to_owned() + &lines(n, |i| format!("a{i} => $x")))
    }),
    ("many inline conditionals", |n| {
        one(lines(n, |i| format!("if (true) then {{ a{i} => {i} }}")))
    }),
    ("one conditional that defines much", |n| {
        let names = lines(n, |i| format!("a{i} => {i}"));
        one(format!("c => true\nif ($c) then {{ {names} }}"))
    }),
    ("many imports", |n| {
        let main = lines(n, |i| format!("import(f{})", i + 1));
        files(main, n, |i| format!("a{i} => {i}\n"))
    }),
    ("machines that share a large block", |n| {
        let block = lines(n, |i| format!("k{i} => {i}"));
        let machines = lines(n, |i| format!("m{i} => $base ~> {{ x => {i} }}"));
        one(format!(
            "a => 1\nbase => {{ x => 0, large => {{ {block} }} }}\n{machines}"
        ))
    }),
    ("a long row of references", |n| {
        one("a0 => 1\n".to_owned() + &lines(n, |i| format!("a{} => $a{i}", i + 1)))
    }),
];

#[test]
fn the_impact_of_one_literal() {
    grows(ASKED, &|compiled| {
        let text = compiled.unit().sources.text();
        let literal = text.find("=> ").expect("something is defined") as u32 + 3;
        compiled.impact(Span::new(literal, literal + 1), &mut |_| {});
    });
}

#[test]
fn why_one_value_is_what_it_is() {
    grows(ASKED, &|compiled| {
        for name in ["m7", "a7"] {
            let path = Path(vec![Segment::Key(name.to_owned())]);
            let _ = compiled.explain(&path);
        }
    });
}

/// Shapes with mistakes, some of which are read twice.
const WRONG: &[(&str, Shape)] = &[
    ("strings without an end", |n| one("a => 'x\n".repeat(n))),
    ("strings that end where others begin", |n| {
        one("a => 'x\nb => 'y'\n".repeat(n))
    }),
    ("a string that takes many statements", |n| {
        one(format!("a => 'x\n{}c => 'y'\n", "b => 1\n".repeat(n)))
    }),
    ("a string that takes many quotes", |n| {
        one(format!("a => 'x\n{}' y", "}\\'\n".repeat(n)))
    }),
    ("strings in a row behind a mistake", |n| {
        one(format!("a = {}", "'x\nb => 2' ".repeat(n)))
    }),
    ("a row of strings and a mistake", |n| {
        one(format!("a => {}\n=", "'x\nb => 2\n' ++ ".repeat(n)))
    }),
    ("names that are none", |n| one("node-1 => 1\n".repeat(n))),
];

#[test]
fn reading_what_is_wrong() {
    grow(WRONG, &|texts| {
        let texts = named(texts);
        steps_of(|| {
            let compiled = compile_file(&texts, texts.main(), &Options::default());
            assert!(!compiled.is_good());
        })
    });
}

fn grows(shapes: &[(&str, Shape)], ask: &dyn Fn(&mut Compiled<'_>)) {
    grow(shapes, &|texts| steps(texts, ask));
}

fn grow(shapes: &[(&str, Shape)], steps: &dyn Fn(Vec<String>) -> u64) {
    let mut steep = Vec::new();
    for (name, shape) in shapes {
        let small = steps(shape(250));
        let large = steps(shape(1_000));
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

fn named(texts: Vec<String>) -> Texts {
    let name = |i: usize| match i {
        0 => "main.cf2".to_owned(),
        i => format!("f{i}.cf2"),
    };
    let named = texts.into_iter().enumerate();
    Texts(named.map(|(i, text)| (name(i), text)).collect())
}

fn steps(texts: Vec<String>, ask: &dyn Fn(&mut Compiled<'_>)) -> u64 {
    let texts = named(texts);
    let steps = steps_of(|| {
        let mut compiled = compile_file(&texts, texts.main(), &Options::default());
        let first = compiled.unit().diagnostics.first();
        assert!(compiled.is_good(), "{first:?} in {:.300}", texts.0[0].1);
        let mut json = Json::compact(std::io::sink());
        compiled.send(&mut json);
        json.finish().expect("a sink takes everything");
        ask(&mut compiled);
    });
    assert!(
        steps > 0,
        "steps are counted in builds with debug assertions"
    );
    steps
}

fn one(text: String) -> Vec<String> {
    vec![text]
}

/// A main file, and files f1, f2 and so on.
fn files(main: String, count: usize, text: impl Fn(usize) -> String) -> Vec<String> {
    std::iter::once(main).chain((1..=count).map(text)).collect()
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = writeln!(text, "{}", line(i));
    }
    text
}
