//! Programs that are compiled, and what they come to.

// Each test uses some of it.
#![allow(dead_code)]

use hence_cf2::generate::{Random, Texts, program};
use hence_cf2::printer::Cf2;
use hence_cf2::{Compiled, Options, compile_file};
use hence_model::value::{Builder, Value};

/// How many cases to try: so many, or as `HENCE_CASES` says, of which they are a share.
pub fn cases(usual: usize) -> u64 {
    let number = std::env::var("HENCE_CASES").ok();
    let number = number.and_then(|number| number.parse::<usize>().ok());
    number.map_or(usual, |number| number * usual / 10_000) as u64
}

/// The program of a seed, small or large.
pub fn generated(seed: u64) -> hence_cf2::generate::Program {
    let size = 1 + Random::new(seed ^ 0x5eed).below(24);
    program(seed, size)
}

/// Runs a check over many seeds; the program that it fails for is shown.
pub fn over(count: u64, check: impl Fn(u64)) {
    for seed in 0..count {
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(seed)));
        if checked.is_err() {
            for (name, text) in &generated(seed).texts().0 {
                eprintln!("// {name}\n{text}");
            }
            panic!("the program of seed {seed}, as above");
        }
    }
}

/// Compiles files.
pub fn compiled(texts: &Texts) -> Compiled<'_> {
    compile_file(texts, texts.main(), &options())
}

/// How they are compiled.
pub fn options() -> Options {
    Options {
        topdir: "/srv/top".into(),
        ..Options::default()
    }
}

/// The configuration; none if something is wrong.
pub fn value(compiled: &Compiled<'_>) -> Option<Value> {
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    builder.finish()
}

/// A configuration in CF2.
pub fn printed(compiled: &Compiled<'_>) -> String {
    let mut cf2 = Cf2::new(Vec::new());
    compiled.send(&mut cf2);
    let bytes = cf2.finish().expect("a vector takes everything");
    String::from_utf8(bytes).expect("CF2 is text")
}

/// The same value with the resources of every block in the order of their names.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            let mut entries: Vec<(&str, &Value)> = map.iter().collect();
            entries.sort_by_key(|entry| entry.0);
            let mut sorted_map = hence_model::value::Map::default();
            for (key, value) in entries {
                sorted_map.insert(key.to_owned(), sorted(value));
            }
            Value::Map(sorted_map)
        }
        Value::List(list) => {
            let elements: Vec<Value> = list.as_slice().iter().map(sorted).collect();
            Value::List(elements.into())
        }
        scalar => scalar.clone(),
    }
}
