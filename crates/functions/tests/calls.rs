//! What functions get, and what they answer.

mod given;

use given::{Given, call};
use hence_functions::{Mistake, Script};
use hence_model::function::{Failure, Function, Mutation, Passing, Types};
use hence_model::value::Value;

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
