//! The examples of `docs/functions.md` are files, and do what is written below them.

mod given;

use given::Given;
use hence_functions::Script;
use hence_model::function::{Failure, Function};
use hence_model::value::Value;

const PAGE: &str = include_str!("../../../docs/functions.md");

#[test]
fn the_examples_do_what_they_say() {
    let mut claims = 0;
    for example in PAGE.split("```rhai\n").skip(1) {
        let (text, _) = example.split_once("```").expect("an example ends");
        let script = Script::load(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{text}"));
        for line in text.lines().filter_map(|line| line.strip_prefix("// ")) {
            let Some((call, expected)) = claim(line) else {
                continue;
            };
            assert_eq!(result(&script, call), expected, "{call}");
            claims += 1;
        }
    }
    assert!(claims > 10);
}

/// A call and what it comes to, out of `add(2, 3) is 5` or `port(0) refuses: no port`.
fn claim(line: &str) -> Option<(&str, Result<Value, Failure>)> {
    if let Some((call, words)) = line.split_once(") refuses: ") {
        return Some((call, Err(Failure::Said(words.into()))));
    }
    let (call, value) = line.split_once(") is ")?;
    Some((call, Ok(value_of(value))))
}

fn result(script: &Script, call: &str) -> Result<Value, Failure> {
    let (name, arguments) = call.split_once('(').expect("a call has arguments");
    let arguments = elements(value_of(&format!("[{arguments}]")));
    match (name, arguments.as_slice()) {
        ("mutate", [highest, lower]) => {
            let highest = elements(highest.clone());
            let count = highest.len();
            let all = highest.into_iter().chain(elements(lower.clone()));
            script.mutate(&mut Given::new(all), count)
        }
        _ => script.call(&mut Given::new(arguments)),
    }
}

fn value_of(expression: &str) -> Value {
    let script = Script::load(&format!("proto(); fn eval() {{ {expression} }}"));
    let script = script.unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{expression}"));
    script
        .call(&mut Given::new([]))
        .expect("an example is a value")
}

fn elements(value: Value) -> Vec<Value> {
    match value {
        Value::List(list) => list.as_slice().to_vec(),
        other => panic!("{other:?} is no list"),
    }
}
