//! No manifest makes the compiler panic, hang, or go past its limits.
//!
//! Random manifests are spoilt, and compiled and explained as far as they go; then come shapes that were made to
//! hurt. `HENCE_CASES` says how many random ones.

mod memory;

use hence_model::path::Path;
use hence_puppet::generate::{self, Random};
use hence_puppet::{Compiled, Layout, Node, Options, Site};
use memory::Memory;

#[test]
fn every_spoilt_manifest_is_answered() {
    let cases = std::env::var("HENCE_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    let cases: u64 = cases.unwrap_or(1_500);
    for seed in 0..cases {
        let mut random = Random::new(seed);
        let other = generate::site(seed + 1, 2).manifest;
        let text = spoilt(&generate::site(seed, 4).manifest, &other, &mut random);
        let answered = std::panic::catch_unwind(|| answer(&text));
        assert!(answered.is_ok(), "seed {seed}:\n{text}");
    }
}

/// A text with pieces taken out, doubled, or replaced by pieces of another.
fn spoilt(text: &str, other: &str, random: &mut Random) -> String {
    let mut tokens: Vec<&str> = text
        .split_inclusive([' ', '\n', '(', ')', '[', ']', '\''])
        .collect();
    let others: Vec<&str> = other
        .split_inclusive([' ', '\n', '(', ')', '[', ']', '\''])
        .collect();
    for _ in 0..1 + random.below(3) {
        if tokens.is_empty() || others.is_empty() {
            break;
        }
        let at = random.below(tokens.len());
        match random.below(4) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[random.below(tokens.len())]),
            2 => tokens[at] = others[random.below(others.len())],
            _ => {
                let with = random.below(tokens.len());
                tokens.swap(at, with);
            }
        }
    }
    tokens.concat()
}

#[test]
fn shapes_that_were_made_to_hurt_are_answered() {
    let shapes = [
        "function f($x) { f($x) } notify { 'n': message => f(1) }",
        "function f($x) { g($x) } function g($x) { f([$x]) } notify { 'n': message => f(1) }",
        "define d { d { \"${title}x\": } } d { 'a': }",
        "define d { @d { \"${title}x\": } D <| |> } d { 'a': }",
        "class a inherits a { } include a",
        "class a inherits b { } class b inherits a { } include b",
        "class a { include b } class b { include a } include a",
        "class a($x = $b::x) { include b } class b($x = $a::x) { include a } include a",
        "type A = A notify { 'n': message => 1 =~ A }",
        "type A = Variant[B, Array[A]] type B = Array[A] notify { 'n': message => [[1]] =~ A }",
        "notify { 'n': message => 1000000000000.each |$x| { } }",
        "notify { 'n': message => Integer[0, 9000000000].map |$x| { $x } }",
        "notify { 'n': message => Integer[0, 5000].reduce([]) |$m, $x| { [$m] } }",
        "notify { 'n': message => Integer[0, 60].reduce('x') |$m, $x| { \"${m}${m}\" } }",
        "notify { 'n': message => Integer[0, 60].reduce([1]) |$m, $x| { $m + $m } }",
        "notify { 'n': message => \"${Integer[0, 60].reduce([1, 2]) |$m, $x| { [$m, $m] }}\" }",
        "notify { 'n': message => flatten(Integer[0, 60].reduce([1]) |$m, $x| { { 'a' => $m, 'b' => $m } }) }",
        "notify { 'n': message => sprintf('%999999999d', 1) }",
        "notify { 'n': message => 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ /^(a+)+$/ }",
        "notify { 'n': message => 9223372036854775807 * 9223372036854775807 }",
        "notify { 'n': message => -9223372036854775807 - 2 }",
        "notify { 'n': message => 1 << 9223372036854775807 }",
        "notify { 'n': message => [1][-9223372036854775807] }",
        "notify { 'n': message => 'abc'[1, 9223372036854775807] }",
        "Notify <| message == $x |> { message => $x } notify { 'n': }",
        "notify { 'a': } Notify['a'] -> Notify['a']",
        "File['/a'] { mode => '1' } File['/a'] { mode => '2' }",
        "realize(User[undef])",
        "include undef, [], '', 5",
        "class { undef: }",
        "node default { node default { } }",
        "node /(((((((((((a*)*)*)*)*)*)*)*)*)*)*$/ { }",
        "break() next() return()",
        "[1].each |$x| { return($x) }",
        "notify { [[['a'], 'b'], 'c']: } -> notify { 'd': }",
        "$x = $x",
        "[$a, [$b]] = [[1], 2]",
        "notify { 'n': * => { 'message' => 1, 'message' => 2, 5 => 6 } }",
        "create_resources('notify', { 'a' => { 'message' => undef }, 'b' => undef })",
        "create_resources('class', { 'settings' => {} })",
        "lookup('a', { 'default_value' => 1, 'merge' => 5 })",
        "inline_epp('<%= inline_epp(\"<%= 1 %>\") %>')",
        "Resource[undef] { 'a': }",
        "Class['settings'] -> Stage['main']",
        "stage { 'main': }",
    ];
    for shape in shapes {
        let answered = std::panic::catch_unwind(|| answer(shape));
        assert!(answered.is_ok(), "{shape}");
    }
}

/// Compiles a manifest, and asks why everything is what it is.
fn answer(manifest: &str) {
    let world = Memory::of(&[("site.pp", manifest)]);
    let layout = Layout {
        manifest: "site.pp".into(),
        ..Layout::default()
    };
    let site = Site::new(&world, layout, Default::default());
    let node = Node::new("web1.example.org", Default::default());
    let options = Options::default();
    let mut compiled = hence_puppet::compile(&site, &node, &options);
    if compiled.is_good() {
        explain_all(&mut compiled);
    } else {
        assert!(compiled.diagnostics.iter().any(|one| one.is_error()));
    }
}

fn explain_all(compiled: &mut Compiled<'_>) {
    let mut paths: Vec<Path> = Vec::new();
    for (_, resource) in compiled.resources() {
        for attribute in &resource.attributes {
            let path = format!("{}.{}", resource.reference(), attribute.name);
            paths.push(compiled.read_path(&path));
        }
    }
    for path in paths {
        // Classes are shown by another name than the one they are kept by.
        let _ = compiled.explain(&path);
    }
}
