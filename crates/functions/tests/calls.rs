//! What functions get, and what they answer.

mod given;

use given::Given;
use hence_functions::{Mistake, Script};
use hence_model::function::{Arguments, Failure, Function, Mutation, Passing, Types};
use hence_model::source::Location;
use hence_model::value::Value;

/// What a file makes of values.
fn call(text: &str, values: impl IntoIterator<Item = Value>) -> Result<Value, Failure> {
    let script = Script::load(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{text}"));
    script.call(&mut Given::new(values))
}

/// The value of an expression, or what is wrong with it.
fn value_of(expression: &str) -> Result<Value, Failure> {
    call(&format!("proto();\nfn eval() {{\n{expression}\n}}"), [])
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn list<const N: usize>(elements: [Value; N]) -> Value {
    Value::List(Vec::from(elements).into())
}

fn integers<const N: usize>(integers: [i64; N]) -> Value {
    list(integers.map(Value::Integer))
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let mut map = hence_model::value::Map::default();
    for (key, value) in entries {
        map.insert(key.into(), value);
    }
    Value::Map(map)
}

fn mistakes(text: &str) -> Vec<Mistake> {
    Script::load(text).err().unwrap_or_default()
}

const ADD: &str = "// The sum.\nproto(NUMBER, NUMBER);\nfn eval(a, b) { a + b }\n";

#[test]
fn a_function_computes() {
    let sum = call(ADD, [Value::Integer(2), Value::Integer(3)]);
    assert_eq!(sum, Ok(Value::Integer(5)));
    let sum = call(ADD, [Value::Integer(2), Value::Float(0.5)]);
    assert_eq!(sum, Ok(Value::Float(2.5)));
}

#[test]
fn a_prototype_says_types_and_forms() {
    let text = "proto(ANYTYPE | NOEVAL, BOOL | NUMBER, PLACED | LIST); fn eval(a, b, c) { }";
    let script = Script::load(text).ok().unwrap();
    let [a, b, c] = script.parameters() else {
        panic!("three parameters")
    };
    assert_eq!((a.types, a.passing), (Types::ANYTYPE, Passing::Unevaluated));
    assert_eq!(
        (b.types, b.passing),
        (Types::BOOL | Types::NUMBER, Passing::Value)
    );
    assert_eq!((c.types, c.passing), (Types::LIST, Passing::Placed));
}

#[test]
fn a_file_must_declare_its_function() {
    let first = |text| {
        let mistakes = mistakes(text);
        let first = mistakes.first().unwrap_or_else(|| panic!("{text} is fine"));
        format!("{}:{}: {}", first.place.0, first.place.1, first.message)
    };
    let expected = [
        ("", "1:1: the file has no prototype"),
        ("fn eval() { }", "1:1: the file has no prototype"),
        (
            "proto(NUMBER);\nfn eval() { }",
            "2:11: expected as many parameters of `eval` as types in the prototype, 1, and it has 0",
        ),
        (
            "proto();\nproto();\nfn eval() { }",
            "2:1: a second prototype",
        ),
        (
            "proto();\nfn eval() { }\nfn eval(a) { }",
            "3:12: a second function `eval`",
        ),
        ("proto(TEXT); fn eval(a) { }", "1:7: expected a type"),
        ("proto(1); fn eval(a) { }", "1:7: expected a type"),
        (
            "proto(NOEVAL); fn eval(a) { }",
            "1:7: expected a type beside the flag",
        ),
        (
            "proto();\ncommutative();\nfn eval() { }",
            "2:1: `commutative();` without a function `mutate`",
        ),
        (
            "proto();\nfn eval() { }\nfn mutate(all) { }",
            "3:16: expected two parameters of `mutate`, and it has 1",
        ),
        (
            "proto();\nlet x = 1;\nfn eval() { }",
            "2:1: expected a declaration, and this is a statement",
        ),
        (
            "proto();\n1 + 1;\nfn eval() { }",
            "2:3: expected a declaration, and this is a statement",
        ),
        (
            "proto(); fn eval() { port }",
            "1:22: nothing named `port` is known here",
        ),
        ("proto(); fn eval() {\n  1 +\n}", "3:1: unexpected `}`"),
        (
            "proto(); fn eval() { 9223372036854775808 }",
            "1:22: invalid number: `9223372036854775808`",
        ),
    ];
    for (text, mistake) in expected {
        assert_eq!(first(text), mistake, "{text}");
    }
    assert_eq!(mistakes("").len(), 2);
    assert_eq!(mistakes("proto(A, B); x(); fn eval(a, b) { c }").len(), 4);
}

#[test]
fn an_unevaluated_argument_is_asked_for_only_if_the_script_asks() {
    let text = "proto(BOOL, ANYTYPE | NOEVAL, ANYTYPE | NOEVAL);
                fn eval(condition, a, b) { if condition { a.value() } else { b } }";
    let script = Script::load(text).ok().unwrap();
    let mut given = Given::new([Value::Bool(true), Value::Integer(1), Value::Integer(2)]);
    assert_eq!(script.call(&mut given), Ok(Value::Integer(1)));
    assert_eq!(given.asked, [0, 1]);
    let mut given = Given::new([Value::Bool(false), Value::Integer(1), Value::Integer(2)]);
    assert_eq!(script.call(&mut given), Ok(Value::Integer(2)));
    assert_eq!(given.asked, [0, 2]);
}

#[test]
fn the_type_of_an_unevaluated_argument_is_checked_when_it_is_evaluated() {
    let text = "proto(NUMBER | NOEVAL); fn eval(a) { a.value() }";
    let refused = Failure::Said("expected a number as argument 1, and it is a list".into());
    assert_eq!(call(text, [integers([])]), Err(refused));
}

#[test]
fn an_argument_without_a_value_ends_the_call() {
    let text = "proto(ANYTYPE | NOEVAL); fn eval(a) { for i in 0..9 { a.value(); } fail(\"no\") }";
    let script = Script::load(text).ok().unwrap();
    let mut given = Given::new([]);
    given.values.push(Err(Failure::Argument));
    assert_eq!(script.call(&mut given), Err(Failure::Argument));
    assert_eq!(given.asked, [0]);
}

#[test]
fn an_argument_knows_its_place_and_its_text() {
    let file = "proto(NUMBER | PLACED, ANYTYPE | NOEVAL);
                fn eval(a, b) { [a.value() + 1, a.place(), a.text(), b.place(), b.text()] }";
    let script = Script::load(file).ok().unwrap();
    let mut given = Given::new([Value::Integer(1), Value::Null]);
    let places = ["site.cf2:3:1", "$argument0", "site.cf2:3:2", "$argument1"].map(text);
    let [a, b, c, d] = places;
    assert_eq!(
        script.call(&mut given),
        Ok(list([Value::Integer(2), a, b, c, d]))
    );
    assert_eq!(given.asked, [0]);
}

#[test]
fn an_argument_that_is_handed_on_keeps_the_order_of_its_keys() {
    let block = map([("b", Value::Null), ("a", Value::Integer(1))]);
    let same = call("proto(BLOCK | PLACED); fn eval(a) { a }", [block.clone()]);
    assert_eq!(same, Ok(block.clone()));
    let sorted = call("proto(BLOCK); fn eval(a) { a }", [block]);
    assert_eq!(
        sorted,
        Ok(map([("a", Value::Integer(1)), ("b", Value::Null)]))
    );
}

#[test]
fn values_go_in_and_out() {
    let values = list([
        Value::Null,
        Value::Bool(true),
        Value::Integer(i64::MIN),
        Value::Float(-0.5),
        text("ä\n"),
        list([]),
        map([("a", map([]))]),
    ]);
    assert_eq!(
        call("proto(LIST); fn eval(a) { a }", [values.clone()]),
        Ok(values)
    );
    let reference = call(
        "proto(LITERAL); fn eval(a) { a }",
        [Value::Reference("web".into())],
    );
    assert_eq!(reference, Ok(text("web")));
}

#[test]
fn values_that_are_too_large_or_too_deep_do_not_go_in() {
    let eval = "proto(ANYTYPE); fn eval(a) { 1 }";
    let long = Value::List(vec![Value::Null; 10_001].into());
    let deep = (0..1_000).fold(Value::Null, |inner, _| list([inner]));
    let wide = text(&"a".repeat(300_000));
    for value in [long, deep, wide] {
        assert!(matches!(call(eval, [value]), Err(Failure::Broken { .. })));
    }
}

#[test]
fn a_script_refuses_or_breaks_at_a_place() {
    let refused = call(
        "proto();\nfn eval() { helper() }\nfn helper() { fail(\"no port\") }",
        [],
    );
    assert_eq!(refused, Err(Failure::Said("no port".into())));
    let broken = call(
        "proto();\nfn eval() { helper() }\nfn helper() {\n  1 / 0\n}",
        [],
    );
    let Err(Failure::Broken { message, place }) = broken else {
        panic!("{broken:?}")
    };
    assert_eq!(
        (message.as_str(), place),
        ("division by zero: 1 / 0", Some((4, 5)))
    );
}

#[test]
fn mutations_combine_values() {
    let text = "proto(LIST);
                commutative();
                fn eval(list) { list.sum() }
                fn mutate(highest, lower) {
                    let sum = highest.sum();
                    if sum > 10 || lower.is_empty() { sum } else { sum + lower[0].value() }
                }";
    let script = Script::load(text).ok().unwrap();
    assert_eq!(script.mutation(), Some(Mutation::Commutative));
    let combine = |integers: &[i64], highest| {
        let mut given = Given::new(integers.iter().map(|integer| Value::Integer(*integer)));
        let result = script.mutate(&mut given, highest);
        (result, given.asked)
    };
    assert_eq!(combine(&[1, 2], 2), (Ok(Value::Integer(3)), vec![0, 1]));
    assert_eq!(
        combine(&[1, 2, 3], 2),
        (Ok(Value::Integer(6)), vec![0, 1, 2])
    );
    assert_eq!(
        combine(&[1, 20, 3], 2),
        (Ok(Value::Integer(21)), vec![0, 1])
    );

    let ordered = "proto(); fn eval() { } fn mutate(highest, lower) { lower[0] }";
    let ordered = Script::load(ordered).ok().unwrap();
    assert_eq!(ordered.mutation(), Some(Mutation::Ordered));
    let mut given = Given::new([Value::Integer(1), Value::Integer(2)]);
    assert_eq!(ordered.mutate(&mut given, 1), Ok(Value::Integer(2)));
    assert_eq!(Script::load(ADD).ok().unwrap().mutation(), None);
}

#[test]
fn constants_are_known_in_every_function() {
    let text = "proto();
                const PORTS = [80, 443];
                const ALL = PORTS + [first()];
                fn first() { PORTS[0] }
                fn eval() { let f = |x| x + PORTS.len(); ALL.map(f) }";
    assert_eq!(call(text, []), Ok(integers([82, 445, 82])));
}

#[test]
fn fuel_is_counted_over_all_runs() {
    let text = |times| {
        format!(
            "proto(ANYTYPE | NOEVAL, ANYTYPE | NOEVAL);
             fn eval(a, b) {{ for i in 0..{times} {{ i + i; }} a.value(); b.value(); 1 }}"
        )
    };
    let two = || [Value::Integer(1), Value::Integer(2)];
    assert_eq!(call(&text(50_000), two()), Ok(Value::Integer(1)));
    assert!(call(&text(100_000), two()).is_err());
}

#[test]
fn the_library_does_what_its_names_say() {
    let expected = [
        ("len(\"aé\")", Value::Integer(2)),
        ("[1, 2].len() + #{a: 1}.len()", Value::Integer(3)),
        ("\"port \" + 80 + \"/\" + 1.0", text("port 80/1.0")),
        ("`${[1, \"a\", #{b: ()}]}`", text("[1, \"a\", {b: }]")),
        (
            "\"abc\".contains(\"b\") && \"b\" in \"abc\" && 2 in [1, 2] && \"a\" in #{a: 1} && 3 in 0..4",
            Value::Bool(true),
        ),
        (
            "\"a/b\".starts_with(\"a\") && \"a/b\".ends_with('b')",
            Value::Bool(true),
        ),
        (
            "[\"éa\".index_of(\"a\"), \"a\".index_of(\"b\"), [5, 6].index_of(6)]",
            list([Value::Integer(1), Value::Null, Value::Integer(1)]),
        ),
        ("\"a,b,,c\".split(',')", list(["a", "b", "", "c"].map(text))),
        ("\"aé\".chars()", list(["a", "é"].map(text))),
        ("\" a \".trim().to_upper() + \"B\".to_lower()", text("Ab")),
        (
            "\"abcdef\".sub_string(1, 2) + \"abcdef\".sub_string(-2)",
            text("bcef"),
        ),
        ("\"aXbX\".replace(\"X\", \"--\")", text("a--b--")),
        ("[1, 2.5, \"x\", true].join(\"-\")", text("1-2.5-x-true")),
        (
            "[3, 1, 2.5, \"a\", 1].sort()",
            list([
                Value::Integer(1),
                Value::Integer(1),
                Value::Float(2.5),
                Value::Integer(3),
                text("a"),
            ]),
        ),
        ("[1, 2, 1, 1.0].unique()", integers([1, 2])),
        ("[1, 2].reverse() + [3]", integers([2, 1, 3])),
        (
            "[1, 2, 3].map(|x| x * 2).filter(|x, least| x > least, 2)",
            integers([4, 6]),
        ),
        ("[1, 2, 3].reduce(|sum, x| sum + x, 10)", Value::Integer(16)),
        (
            "[[1, 2].any(|x| x > 1), [1, 2].all(|x| x > 1)]",
            list([Value::Bool(true), Value::Bool(false)]),
        ),
        (
            "let l = [1]; l.push(2); l.insert(0, 0); l.remove(1); l",
            integers([0, 2]),
        ),
        ("let l = [1, 2]; l += 3; l[0] = 9; l", integers([9, 2, 3])),
        (
            "let m = #{a: 1}; m.b = 2; m[\"c\"] = 3; m.remove(\"a\"); [m.keys(), m.values()]",
            list([list(["b", "c"].map(text)), integers([2, 3])]),
        ),
        (
            "#{a: 1, b: 1} + #{b: 2} == #{a: 1, b: 2}",
            Value::Bool(true),
        ),
        ("[1, [2]] == [1, [2.0]] && [1] != [2]", Value::Bool(true)),
        (
            "[0.1 + 0.2 == 0.3, 9007199254740993 > 9007199254740992.0, 1 == 1.0]",
            list([false, true, true].map(Value::Bool)),
        ),
        ("#{}.missing ?? \"none\"", text("none")),
        (
            "[parse_int(\"12\"), parse_int(\"x\"), parse_float(\"1.5\")]",
            list([Value::Integer(12), Value::Null, Value::Float(1.5)]),
        ),
        (
            "[floor(1.5), ceil(1.5), round(2.5), to_int(-1.5), abs(-3)]",
            integers([1, 2, 3, -1, 3]),
        ),
        (
            "[min(1, 2), max(1, 2), [3, 1].min(), [3, 1].max(), [1, 2].sum()]",
            integers([1, 2, 1, 3, 3]),
        ),
        ("[2 ** 10, -7 / 2, -7 % 2]", integers([1024, -3, -1])),
        (
            "[2.0 ** -1, 1.5 ** 2, sqrt(4), to_float(1)]",
            list([0.5, 2.25, 2.0, 1.0].map(Value::Float)),
        ),
        ("\"web-12\".matches(`^[a-z]+-\\\\d+$`)", Value::Bool(false)),
        ("\"web-12\".matches(\"^[a-z]+-\\\\d+$\")", Value::Bool(true)),
        (
            "\"web-12\".capture(\"([a-z]+)-([0-9]+)(x)?\")",
            list([text("web-12"), text("web"), text("12"), Value::Null]),
        ),
        ("\"web\".capture(\"[0-9]\")", Value::Null),
        (
            "switch 2 { 1 => \"one\", 2 => \"two\", _ => \"many\" }",
            text("two"),
        ),
        (
            "let s = 0; for (x, i) in [5, 6] { s += x * i; } s",
            Value::Integer(6),
        ),
        ("\"abc\"[1] == \"b\"", Value::Bool(true)),
        (
            "type_of(1) + type_of(\"\") + type_of([])",
            text("integerstringarray"),
        ),
        ("return 1; 2", Value::Integer(1)),
        ("", Value::Null),
    ];
    for (expression, value) in expected {
        assert_eq!(value_of(expression), Ok(value), "{expression}");
    }
}

#[test]
fn threads_share_a_script() {
    let text =
        "proto(NUMBER | NOEVAL); fn eval(n) { let s = 0; for i in 0..n.value() { s += i; } s }";
    let script = &Script::load(text).ok().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_i64 {
            scope.spawn(move || {
                for n in 0..200 + thread {
                    let sum = script.call(&mut Given::new([Value::Integer(n)]));
                    assert_eq!(sum, Ok(Value::Integer(n * (n - 1) / 2)));
                }
            });
        }
    });
}

#[test]
fn an_argument_may_be_a_call_of_another_script() {
    /// An argument whose value is what another call comes to.
    struct Nested<'a>(&'a Script, u32);

    impl Arguments for Nested<'_> {
        fn count(&self) -> usize {
            1
        }

        fn value(&mut self, _: usize) -> Result<Value, Failure> {
            match self.1 {
                0 => Ok(Value::Integer(0)),
                levels => self.0.call(&mut Nested(self.0, levels - 1)),
            }
        }

        fn place(&self, index: usize) -> Location {
            Given::new([]).place(index)
        }

        fn text(&self, index: usize) -> String {
            Given::new([]).text(index)
        }
    }

    let text = "proto(NUMBER | NOEVAL); fn eval(n) { let before = 1; before + n.value() }";
    let script = Script::load(text).ok().unwrap();
    assert_eq!(script.call(&mut Nested(&script, 9)), Ok(Value::Integer(10)));
}
