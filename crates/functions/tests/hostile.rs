//! Files that were written to hang, to eat memory, to overflow the stack or to look outside. Each is
//! refused when it is read or fails when it is called, on a small stack, after a bounded number of steps.

mod given;

use given::Given;
use hence_functions::Script;
use hence_model::function::{Failure, Function};
use hence_model::value::Value;

/// Bodies of `eval()` that go too far, or try to do what they cannot.
const BODIES: &[&str] = &[
    // Endless.
    "loop { }",
    "while true { }",
    "do { } while true",
    "let x = 0; loop { x += 1; if x < 0 { break; } }",
    "for x in 0..9223372036854775807 { }",
    "for x in 0..9223372036854775807 { x; }",
    "for x in 0..=9223372036854775807 { let y = x; }",
    "[1].map(|x| { loop { } })",
    "let list = []; for i in 0..1000 { list.push(i); } list.map(|x| { for y in 0..100000 { } })",
    "let list = []; for i in 0..200 { list.push(i); } \
     list.map(|a, l| l.map(|b, l| l.map(|c| c + 1), l), list)",
    "let list = []; for i in 0..2000 { list.push(i); } list.reduce(|a, b| { for x in 0..1000 { } a }, 0)",
    // Recursion.
    "fn_f(1)",
    "fn_ping(1)",
    "fn_wide(30)",
    "fn_nest([])",
    "let f = |x| x; fn_call(f, 100)",
    "[1].map(fn_self)",
    "[[1]].map(|l| l.map(|m| fn_self(m)))",
    // Memory, by texts.
    "let s = \"aaaaaaaa\"; loop { s += s; }",
    "let s = \"aaaaaaaa\"; loop { s = s + s; }",
    "let s = \"aaaaaaaa\"; loop { s = `${s}${s}`; }",
    "let s = \"aaaaaaaa\"; loop { s = s.replace(\"a\", \"aaaaaaaa\"); }",
    "let s = \"\"; loop { s += \"x\"; }",
    "let s = \"\"; for i in 0..16 { s += \"aaaaaaaaaaaaaaaa\"; } let t = s; for i in 0..9 { t += t; } \
     t.replace(\"a\", t)",
    "let s = \"aaaaaaaa\"; for i in 0..14 { s += s; } let l = []; loop { l.push(s); }",
    "let s = \"aaaaaaaa\"; for i in 0..14 { s += s; } let l = []; loop { l.push(s + l.len()); }",
    "let l = []; for i in 0..5000 { l.push(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"); } l.join(l.join(\"a\"))",
    "let s = \"a\"; for i in 0..17 { s += s; } s.split(\"\").len()",
    "let s = \"a\\n\"; for i in 0..16 { s += s; } `${[s]}${[s]}${[s]}`",
    // Memory, by lists and maps.
    "let l = [0]; loop { l += l; }",
    "let l = [0]; loop { l = l + l; }",
    "let l = [0]; loop { l = [l, l]; }",
    "let l = []; loop { l.push(0); }",
    "let l = []; loop { l.insert(0, 0); }",
    "let l = []; loop { l.push(l); }",
    "let m = #{}; let i = 0; loop { m[`k${i}`] = i; i += 1; }",
    "let m = #{}; let i = 0; loop { m[`k${i}`] = m; i += 1; }",
    "let m = #{a: 1}; loop { m = #{a: m, b: m}; }",
    "let l = [0]; for i in 0..12 { l += l; } let all = []; for i in 0..100000 { let copy = l; copy[0] = i; }",
    "let l = [0]; for i in 0..12 { l += l; } loop { l == l; }",
    "let l = [0]; for i in 0..12 { l += l; } loop { l.sort(); }",
    "let l = [0]; for i in 0..12 { l += l; } loop { l.unique(); }",
    "let l = [0]; for i in 0..12 { l += l; } loop { 1 in l; }",
    "let l = [0]; for i in 0..12 { l += l; } loop { l.index_of(1); }",
    "let l = [0]; for i in 0..12 { l += l; } loop { l.reverse(); }",
    "let l = []; loop { l.push(|x| LIST); }",
    "let f = |x| LIST; let l = [f]; for i in 0..12 { l += l; }",
    "let f = |x| LIST; loop { let a = [f, f, f, f, f, f, f, f]; let b = a; }",
    "loop { LIST }",
    "LIST.map(|x, list| 1, LIST); LIST.map(|x, list| 1, LIST)",
    "LIST.map(|x| if x == 1 { LIST } else { 1 }); LIST.map(|x| if x == 1 { LIST } else { 1 })",
    "loop { fn_list()[5]; }",
    "loop { (|| LIST).call(); }",
    "let m = #{}; let s = fn_text(); loop { m[s + m.len()] = 1; }",
    "loop { fn_text()[100000]; }",
    "loop { fn_text().len(); }",
    "fn_text().matches(fn_text())",
    "loop { `${LIST}`; }",
    "fn_text().split(\"a\").map(|x| fn_text()).join(fn_text())",
    "loop { LIST.len() }",
    "let l = [0]; for i in 0..12 { l += l; } fn_keep(l, 20); loop { fn_keep(l, 20); }",
    // Depth of data.
    "let l = []; loop { l = [l]; }",
    "let m = #{}; loop { m = #{m: m}; }",
    "let l = []; for i in 0..5000 { l = [l]; } l == l",
    "[1, 2, 3].reduce(|a, b| fn_wrap(a, 60), [])",
    "fn_deep(17)",
    // Work in one operation.
    "let s = \"a\"; for i in 0..17 { s += s; } let t = s + \"b\"; loop { s.index_of(t); }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s.contains(\"aaaaaaaaab\"); }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s[100000]; }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s[100000] = 'b'; }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s.to_upper(); }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s.sub_string(-1); }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s == s; }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { switch s { \"a\" => 1, _ => 2 }; }",
    "let s = \"ab\"; s - \"a\"",
    // Regular expressions.
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s.matches(\"(a*)*b\"); }",
    "let s = \"a\"; for i in 0..17 { s += s; } loop { s.matches(\"(a|aa)+$\"); }",
    "let s = \"ab\"; for i in 0..16 { s += s; } loop { s.matches(\"(a|b)*a(a|b){12}c\"); }",
    "let s = \"ab\"; for i in 0..16 { s += s; } loop { s.capture(\"((a|b)*)(a)((a|b){60})c\"); }",
    "let s = \"ab\"; for i in 0..16 { s += s; } loop { s.matches(\"[ab]*a[ab]{100}c\"); }",
    "let s = \"ab\"; for i in 0..16 { s += s; } loop { s.capture(\"(a?){25}c\"); }",
    "let s = \"aé\"; for i in 0..16 { s += s; } loop { s.matches(\"\\\\w{20}\\\\d\"); }",
    "\"a\".matches(\"((a{100}){100}){100}\")",
    "\"a\".matches(\"\\\\w{1000}\")",
    "let i = 0; loop { \"a\".matches(`\\\\w{30}${i}`); i += 1; }",
    "\"a\".capture(\"(((((((((((((((((((a)))))))))))))))))))\")",
    "\"a\".matches(\"(\")",
    // Numbers.
    "9223372036854775807 + 1",
    "-9223372036854775807 - 2",
    "9223372036854775807 * 2",
    "10 ** 100",
    "2 ** -1",
    "1 / 0",
    "1 % 0",
    "1.0 / 0.0",
    "0.0 / 0.0",
    "[1.0, 10.0 ** 400]",
    "10.0 ** 0.5",
    "abs(-9223372036854775807 - 1)",
    "floor(1e300)",
    "[9223372036854775807, 1].sum()",
    // What a script does not have.
    "open(\"/etc/passwd\")",
    "timestamp()",
    "rand()",
    "sleep(1000)",
    "exit(1)",
    "parse_json(\"[]\")",
    "blob(1000000000)",
    "\"a\" * 10000000000",
    "pad(\"a\", 10000000000, \"a\")",
    "\"a\".pad(10000000000, \"a\")",
    "range(0, 10000000000)",
    "0..10",
    "|x| x",
    "[fn_self]",
    "[].first",
    "undefined_function()",
];

/// What the bodies call.
const HELPERS: &str = "
    const LIST = fn_list();
    fn fn_text() { let s = \"a\"; for i in 0..17 { s += s; } s }
    fn fn_list() { let l = [0]; for i in 0..12 { l += l; } l }
    fn fn_f(x) { fn_f(x + 1) + 1 }
    fn fn_ping(x) { fn_pong(x) }
    fn fn_pong(x) { [x].map(|y| fn_ping(y)) }
    fn fn_wide(n) { if n == 0 { 1 } else { fn_wide(n - 1) + fn_wide(n - 1) } }
    fn fn_nest(l) { fn_nest([[[[l]]]]) }
    fn fn_call(f, n) { f.call(fn_call(f, n - 1)) }
    fn fn_self(x) { [x].map(fn_self) }
    fn fn_keep(l, n) { let a = l; let b = l; let c = l; let d = l; if n > 0 { fn_keep(l, n - 1); } a }
    fn fn_wrap(l, n) { for i in 0..n { l = [l]; } l }
    fn fn_deep(n) { if n == 0 { [] } else { [[[[[fn_deep(n - 1)]]]]] } }
";

/// Files that are refused as they are read.
const FILES: &[&str] = &[
    "",
    "proto();",
    "fn eval() { }",
    "proto(); fn eval() { eval(\"1\") }",
    "proto(); fn eval() { Fn(\"eval\") }",
    "proto(); fn eval() { print(1) }",
    "proto(); fn eval() { debug(1) }",
    "proto(); fn eval() { try { loop { } } catch { } }",
    "proto(); fn eval() { throw 1 }",
    "proto(); fn eval() { import \"a\" as b; }",
    "proto(); fn eval() { let x = 1; [1].map(|y| x + y) }",
    "proto(); fn eval() { let x = 1; let f = || x; x = f; }",
    "proto(); fn eval() { let f = |x| x; f.curry(1) }",
    "proto(); fn eval() { f!() } fn f() { }",
    "proto(); fn eval() { this }",
    "proto(); fn eval() { is_def_var(\"x\") }",
    "proto(); loop { } fn eval() { }",
    "proto(); const X = { loop { } }; fn eval() { }",
    "proto(); const X = || X; fn eval() { X }",
    "proto(); const X = [|| X]; fn eval() { X }",
    "proto(); const X = f(); fn f() { f() } fn eval() { }",
    "proto(); const X = fail(\"no\"); fn eval() { }",
    "proto(); const X = 1 / 0; fn eval() { }",
    "proto(); fn eval() { global::X }",
    "proto(); fn eval() { 99999999999999999999 }",
    "proto(); fn eval() { \"abc }",
    "proto(); fn eval() { /* ",
    "\u{0}",
    "proto(); fn eval() { 'abc' }",
    "proto(); fn eval() { 1() }",
];

/// Files that are long or deep, made of many of the same.
fn repeated() -> Vec<String> {
    let body = |text: String| format!("proto(); fn eval() {{ {text} }}");
    let nested = |open: &str, inner: &str, close: &str| {
        let count = 30_000 / (open.len() + close.len());
        body(format!(
            "{}{inner}{}",
            open.repeat(count),
            close.repeat(count)
        ))
    };
    vec![
        nested("(", "1", ")"),
        nested("[", "", "]"),
        nested("#{a:", "1", "}"),
        nested("{", "", "}"),
        nested("-", "1", ""),
        nested("!", "true", ""),
        nested("1+", "1", ""),
        nested("1**", "1", ""),
        nested("true&&", "true", ""),
        nested("()??", "1", ""),
        nested("if true{", "1", "}"),
        nested("if true{1}else ", "{2}", ""),
        nested("while true{", "", "}"),
        nested("switch 1{_=>", "1", "}"),
        nested("|x|", "1", ""),
        nested("[1].map(|x|", "x", ")"),
        nested("abs(", "1", ")"),
        nested("`${", "1", "}`"),
        nested("let a=", "1", ""),
        nested("/*", "", ""),
        body(format!(
            "let a = [];{} a",
            " a = a[0];"
                .repeat(2_500)
                .replace("a[0]", "a[0][0][0][0][0]")
        )),
        body(format!("1{}", ".abs()".repeat(4_000))),
        body(format!("[1]{}", "[0]".repeat(9_000))),
        body(format!("#{{}}{}", ".a".repeat(14_000))),
        body(format!("#{{}}{}", "?.a".repeat(9_000))),
        body(format!("let x = 0; x{} = 1;", "[0]".repeat(9_000))),
        body((0..2_000).map(|n| format!("let a{n} = 1;")).collect()),
        (0..2_500).map(|n| format!("fn f{n}(){{}}")).collect(),
        format!("proto({}); fn eval() {{ }}", "LIST|".repeat(6_000) + "LIST"),
        format!("proto({}); fn eval() {{ }}", "LIST,".repeat(6_000) + "LIST"),
        format!("proto(); fn eval({}) {{ }}", "a,".repeat(15_000) + "a"),
        format!("// {}\nproto(); fn eval() {{ }}", "long ".repeat(10_000)),
        (0..1_000)
            .map(|n| format!("const C{n} = {{ loop {{ }} }};"))
            .collect(),
    ]
}

/// The deepest files that can be read, each of whose functions calls itself as deep as it can.
fn deepest() -> Vec<String> {
    const NESTS: &[(&str, &str)] = &[
        ("(", ")"),
        ("[", "]"),
        ("#{a:", "}"),
        ("{", "}"),
        ("if true {", "}"),
        ("if false {} else {", "}"),
        ("while true {", "}"),
        ("for x in 0..2 {", "}"),
        ("switch 1 { _ => ", "}"),
        ("abs(", ")"),
        ("- ", ""),
        ("!", ""),
        ("1 + ", ""),
        ("-abs(1 + ", ")"),
        ("1.max(-", ")"),
        ("1 + (", ")"),
        ("true && ", ""),
        ("`${", "}`"),
        ("[0][", "]"),
        ("[1].map(|x| ", ")"),
        ("[1].map(|x| [1].map(|x| f()) == [", "])"),
        ("#{a: 1}.a.abs().max(", ")"),
        ("{ let a = [1]; a[0] = ", "; }"),
        ("return ", ""),
    ];
    let file = |(open, close): (&str, &str), count| {
        let body = format!("{}f(){}", open.repeat(count), close.repeat(count));
        format!("proto(); fn eval() {{ f() }} fn f() {{ {body} }}")
    };
    let deepest = |nest| {
        let counts = (1..64).rev().map(|count| file(nest, count));
        counts.into_iter().find(|text| Script::load(text).is_ok())
    };
    NESTS
        .iter()
        .map(|&nest| deepest(nest).expect("one level is not too deep"))
        .collect()
}

/// Bodies that may come to anything but a panic.
const ODD: &[&str] = &[
    "1 << 100",
    "1 >> 100",
    "1 << -1",
    "1 >> (-9223372036854775807 - 1)",
    "1 << 9223372036854775807",
    "(-9223372036854775807 - 1) / -1",
    "(-9223372036854775807 - 1) % -1",
    "-(-9223372036854775807 - 1)",
    "(-9223372036854775807 - 1) ** 9223372036854775807",
    "0 ** 9223372036854775807",
    "[1][9223372036854775807]",
    "[1][-9223372036854775807 - 1]",
    "\"a\"[-2]",
    "\"\"[0]",
    "5[63]",
    "5[64]",
    "5[-65]",
    "5[0..70]",
    "5[3..=1]",
    "let x = 5; x[70] = true; x",
    "let x = 5; x[0..=63] = 3; x",
    "[1, 2][0..1]",
    "\"abc\"[0..2]",
    "for x in 5..1 { }",
    "for x in 5 { }",
    "for x in () { }",
    "for x in #{a: 1} { }",
    "for x in \"abc\" { }",
    "(9223372036854775807..=9223372036854775807) == (0..1)",
    "let a = [1]; a.a = 1",
    "let a = #{}; a.b.c = 1",
    "().x",
    "() + ()",
    "\"a\" + ()",
    "() + \"a\"",
    "[] + 1",
    "#{} + 1",
    "true + true",
    "!1",
    "-\"a\"",
    "1 && true",
    "if 1 { }",
    "while \"a\" { }",
    "switch [1] { [1] => 1, _ => 2 }",
    "switch 1.0 { 1.0 => 1, 0..5 => 2, _ => 3 }",
    "|x| x == |x| x",
    "[|x| x] == [|x| x]",
    "[|x| x].sort()",
    "[|x| x, 1..2, ()].unique()",
    "[0..1, 1..2].join(\",\")",
    "let f = |x| x; f == f",
    "(|x| x).call(1)",
    "(|x| x).call()",
    "let f = |x| x; f.x",
    "[1].map(1)",
    "[1].map(|| 1)",
    "[1].filter(|x| 1)",
    "[1].reduce(|a| a, 0)",
    "\"a\".sub_string(9223372036854775807, 9223372036854775807)",
    "\"a\".sub_string(-9223372036854775807, -5)",
    "[].insert(-9223372036854775807, 1)",
    "[].remove(5)",
    "[].pop()",
    "[].min()",
    "[].sum()",
    "[\"a\"].sum()",
    "min(\"a\", 1)",
    "\"é\".split(\"\")",
    "\"\".split(\"\")",
    "\"\".replace(\"\", \"x\")",
    "\"é\"[0]",
    "`${`${1}`}`",
    "break",
    "continue",
    "return",
    "loop { break 5; }",
    "let x; x",
    "const x = 1; x = 2",
    "let x = 1; { let x = 2; } x",
    "let a = [1]; a += a; a -= 1",
    "let s = \"a\"; s += 'b'; s",
    "let s = \"abc\"; s[0] = s[1]; s",
    "0.0 == -0.0",
    "[0.0 / 0.0, 1.0, 0.0 / 0.0].sort()",
    "[0.0 / 0.0].unique()",
    "1e308 * 10.0",
    "parse_float(\"inf\")",
    "parse_int(\"99999999999999999999\")",
    "to_int(0.0 / 0.0)",
    "floor(-9223372036854775808.0)",
    "type_of()",
    "call()",
    "let x = 5; x.call()",
    "\"fn_self\".call(1)",
    "#{a: |x| x}.a(1)",
    "#{a: fn_self}.a(1)",
    "fn_text.call()",
    "fn_list().x",
    "0x7fffffffffffffff",
    "0xffffffffffffffff",
    "0b1",
    "1_000",
    "1e400",
    "\"\\u{10ffff}\"",
    "\"\\x00\"",
];

/// Does work on a stack as small as those of threads.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}

/// What a file comes to, if it can be read.
fn outcome(text: &str) -> Option<Result<Value, Failure>> {
    let script = Script::load(text).ok()?;
    Some(script.call(&mut Given::new([])))
}

fn fails(text: &str) {
    let beginning: String = text.chars().take(200).collect();
    match outcome(text) {
        None | Some(Err(Failure::Broken { place: Some(_), .. })) => {}
        other => panic!("{other:?} of {beginning}"),
    }
}

fn file(body: &str) -> String {
    format!("proto();\nfn eval() {{ {body} }}\n{HELPERS}")
}

#[test]
fn whatever_goes_too_far_fails() {
    on_a_small_stack(|| {
        assert_eq!(outcome(&file("")), Some(Ok(Value::Null)));
        for body in BODIES {
            assert!(Script::load(&file(body)).is_ok(), "{body} is refused");
            fails(&file(body));
        }
    });
}

#[test]
fn whatever_could_look_outside_is_refused() {
    on_a_small_stack(|| {
        FILES.iter().for_each(|text| fails(text));
    });
}

#[test]
fn the_deepest_recursion_fits_the_stack() {
    on_a_small_stack(|| deepest().iter().for_each(|text| fails(text)));
}

#[test]
fn long_and_deep_files_are_refused() {
    on_a_small_stack(|| repeated().iter().for_each(|text| fails(text)));
}

#[test]
fn a_result_does_not_grow_by_handing_arguments_on() {
    for passing in ["NOEVAL", "PLACED"] {
        let text = format!(
            "proto(LIST | {passing});
             fn eval(list) {{ let all = [list]; for i in 0..13 {{ all += all; }} all }}"
        );
        let script = Script::load(&text).ok().unwrap();
        let mut given = Given::new([Value::List(vec![Value::Null; 5_000].into())]);
        assert!(matches!(
            script.call(&mut given),
            Err(Failure::Broken { .. })
        ));
        assert!(given.asked.len() < 5);
    }
}

#[test]
fn nothing_panics() {
    on_a_small_stack(|| {
        for body in ODD {
            outcome(&file(body));
        }
    });
}

/// Bodies of words in any order, most of them nonsense.
#[test]
fn nothing_panics_on_nonsense() {
    const WORDS: &str = "a b c x 1 0 -1 2.5 9223372036854775807 \"text\" `${ }` () [ ] [ ] ( ) ( ) { } #{ : , , ; ; \
        + - * / % ** == != < > && || ! ?? .. ..= . ?. => = += | |x| |x,y| let const fn if else while loop for in \
        switch _ return break true false len map filter reduce sort join split replace value call eval mutate proto \
        commutative fail LIST NUMBER global:: @ # $ ~ ' \\ /* // \n";
    let words: Vec<&str> = WORDS.split(' ').filter(|word| !word.is_empty()).collect();
    on_a_small_stack(move || {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let count = random(12) + 1;
            let body: Vec<&str> = (0..count).map(|_| words[random(words.len())]).collect();
            let body = body.join(" ");
            outcome(&format!(
                "proto(); fn eval() {{ let a = [1]; let b = #{{x: 1}}; let c = \"c\"; {body} }}"
            ));
            outcome(&format!("proto(); fn eval() {{ 1 }} {body}"));
        }
    });
}
