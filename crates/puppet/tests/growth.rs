//! Work grows as the text and the catalog do: counted in steps, in shapes that are known to tempt.
//!
//! Each shape is made in two sizes, the second four times the first. The steps that compiling and printing
//! take may then be a little more than four times as many; a quadratic one would take sixteen times as many.

mod memory;

use std::fmt::Write;

use hence_model::path::Path;
use hence_model::print::json::Json;
use hence_model::source::Span;
use hence_model::work::steps_of;
use hence_puppet::compile::{compile_here, on_stack};
use hence_puppet::{Compiled, Layout, Node, Options, Site};
use memory::Memory;

/// What a shape of size n looks like.
type Shape = fn(usize) -> String;

/// What is asked about what was compiled.
type Ask = dyn Fn(&mut Compiled<'_>) + Sync;

const SHAPES: &[(&str, Shape)] = &[
    ("a class that declares many things", things),
    ("many resources", |n| {
        lines(n, |i| format!("file {{ '/f{i}': mode => '0644' }}"))
    }),
    ("one resource with many titles", |n| {
        format!("file {{ [{}]: mode => '0644' }}", titles(n))
    }),
    ("many resources by a lambda", |n| {
        format!("range(1, {n}).each |$i| {{ file {{ \"/f${{i}}\": mode => '0644' }} }}")
    }),
    ("many classes", |n| {
        let classes = lines(n, |i| {
            format!("class c{i}($a = {i}) {{ file {{ \"/f${{a}}\": }} }}")
        });
        classes + &lines(n, |i| format!("include c{i}"))
    }),
    ("classes that include each other in a row", |n| {
        let classes = lines(n, |i| format!("class c{i} {{ include c{} }}", i + 1));
        format!("{classes}class c{n} {{ }}\ninclude c0\n")
    }),
    ("many variables of one class", |n| {
        format!(
            "class c {{ {} {} }}\ninclude c\n",
            lines(n, |i| format!("$v{i} = {i}")),
            lines(n, |i| format!("notice($v{i})"))
        )
    }),
    ("many uses of a variable of the top", |n| {
        "$x = 1\n".to_owned() + &lines(n, |i| format!("$y{i} = $x"))
    }),
    ("many conditions", |n| {
        lines(n, |i| {
            format!("if $facts['a'] == {i} {{ $v{i} = 1 }} else {{ $v{i} = 2 }}")
        })
    }),
    ("a case with many options", |n| {
        let options = lines(n, |i| format!("{i}: {{ $x = {i} }}"));
        format!("case {n} {{ {options} default: {{ $x = 0 }} }}")
    }),
    ("a text with many values in it", |n| {
        format!("$x = 1\n$y = \"{}\"\n", "-${x}".repeat(n))
    }),
    ("a hash with many keys", |n| {
        format!(
            "$h = {{ {} }}\n{}",
            lines(n, |i| format!("k{i} => {i},")),
            lines(n, |i| format!("$v{i} = $h['k{i}']"))
        )
    }),
    ("many resources with defaults", |n| {
        "File { mode => '0644' }\n".to_owned() + &lines(n, |i| format!("file {{ '/f{i}': }}"))
    }),
    ("many resources that one collector finds", |n| {
        "File <| tag == 'a' |> { mode => '0600' }\n".to_owned()
            + &lines(n, |i| format!("@file {{ '/f{i}': tag => 'a' }}"))
    }),
    ("many resources that require one", |n| {
        "package { 'p': }\n".to_owned()
            + &lines(n, |i| {
                format!("file {{ '/f{i}': require => Package['p'] }}")
            })
    }),
    ("a long row of arrows", |n| {
        let declared = lines(n, |i| format!("file {{ '/f{i}': }}"));
        let row: Vec<String> = (0..n).map(|i| format!("File['/f{i}']")).collect();
        // Arrows nest, and nesting has a limit.
        let rows: Vec<String> = row.chunks(50).map(|row| row.join(" -> ")).collect();
        declared + &rows.join("\n")
    }),
];

/// Very many things of one defined type, with parameters, conditions and interpolation.
fn things(n: usize) -> String {
    let defined =
        "define thing(Integer $port, String $role = 'web', Optional[String] $note = undef) {
  case $role {
    'web': { $group = 'www' }
    default: { $group = 'root' }
  }
  if $port > 1024 { $mode = '0644' } else { $mode = '0600' }
  file { \"/etc/${title}.conf\": mode => $mode, group => $group, content => \"${port} ${note}\" }
}
";
    let declared = lines(n, |i| format!("thing {{ 't{i}': port => {i} }}"));
    format!("{defined}class c {{\n{declared}}}\ninclude c\n")
}

#[test]
fn compiling_and_printing() {
    grows(SHAPES, &|_| {});
}

#[test]
fn the_impact_of_one_literal() {
    for literal in ["'0600'", "'web': {", "'www'", "1024", "c\n"] {
        grows(&[(literal, things)], &move |compiled| {
            let at = things(1).find(literal).expect("the defined type has it") as u32;
            let mut touched = 0;
            compiled.impact(Span::new(at, at + 1), &mut |_| touched += 1);
            assert!(touched > 0, "something depends on {literal}");
        });
    }
}

#[test]
fn why_one_value_is_what_it_is() {
    grows(&[("a thing of many", things)], &|compiled| {
        let path: Path = compiled.read_path("File[/etc/t7.conf].content");
        compiled.explain(&path).expect("it is in the catalog");
    });
}

fn grows(shapes: &[(&str, Shape)], ask: &Ask) {
    let mut steep = Vec::new();
    for (name, shape) in shapes {
        let small = steps(&shape(250), ask);
        let large = steps(&shape(1_000), ask);
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

fn steps(text: &str, ask: &Ask) -> u64 {
    let world = Memory::of(&[("site.pp", text)]);
    let layout = Layout {
        manifest: "site.pp".to_owned(),
        ..Layout::default()
    };
    let site = Site::new(&world, layout, Default::default());
    let node = Node::new("n", Default::default());
    let options = Options::default();
    let taken = on_stack(options.depth, || {
        steps_of(|| {
            let mut compiled = compile_here(&site, &node, &options);
            let first = compiled.diagnostics.first();
            assert!(compiled.is_good(), "{first:?} in {text:.300}");
            let mut json = Json::compact(std::io::sink());
            compiled.send(&mut json);
            json.finish().expect("a sink takes everything");
            ask(&mut compiled);
        })
    });
    assert!(
        taken > 0,
        "steps are counted in builds with debug assertions"
    );
    taken
}

fn titles(n: usize) -> String {
    let titles: Vec<String> = (0..n).map(|i| format!("'/f{i}'")).collect();
    titles.join(", ")
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = writeln!(text, "{}", line(i));
    }
    text
}
