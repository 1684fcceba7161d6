//! What is printed can be read again, whatever the names in it are: paths, and the configuration itself.

use hence_model::path::{Path, Segment};
use hence_model::print::Output;
use hence_model::source::{Files, ReadError};
use hence_model::trace::Trace;
use hence_model::value::{Builder, Value};
use hence_smartfrog::generate::Random;
use hence_smartfrog::lexer::Dialect;
use hence_smartfrog::printer::SmartFrog;
use hence_smartfrog::{Compiled, Options, Semantics, compile_file};

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str, text: &mut String) -> Result<(), ReadError> {
        text.push_str(&self.0);
        Ok(())
    }
}

#[test]
fn every_path_of_a_configuration_leads_to_its_value() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut text = String::from("sfConfig extends {\n");
        let mut budget = 24;
        body(&mut random, &mut text, &mut budget, 0);
        text.push('}');
        let options = Options {
            semantics: Semantics::Production,
            ..Options::default()
        };
        let files = Text(text);
        let compiled: Compiled<Trace> = compile_file(&files, "t.sf", &options);
        let value = value(&compiled, &files.0);
        check(&compiled, &value, &mut Vec::new(), &files.0);
        let mut printer = SmartFrog::new(Vec::new(), Dialect::Production);
        compiled.send(&mut printer);
        let printed = printer.finish().expect("a vector takes everything");
        let again = Text(String::from_utf8(printed).expect("only text is printed"));
        let compiled: Compiled<Trace> = compile_file(&again, "t.sf", &options);
        assert_eq!(self::value(&compiled, &again.0), value, "{}", files.0);
    }
}

fn value(compiled: &Compiled<Trace>, text: &str) -> Value {
    assert!(!compiled.unit.has_errors(), "{text}");
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    builder.finish().expect("there are no errors")
}

fn body(random: &mut Random, text: &mut String, budget: &mut usize, depth: usize) {
    for number in 0..1 + random.below(4) {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        let name = name(random);
        text.push_str(&quoted(&name));
        match random.below(4) {
            0 | 1 if depth < 4 => {
                text.push_str(" extends {\n");
                body(random, text, budget, depth + 1);
                text.push_str("}\n");
            }
            2 => text.push_str(" [1, [2, 3]];\n"),
            _ => text.push_str(&format!(" {number};\n")),
        }
    }
}

fn quoted(name: &str) -> String {
    let mut out = Output::new(Vec::new());
    out.quoted(name);
    let bytes = out.finish().expect("a vector takes everything");
    String::from_utf8(bytes).expect("only text was written")
}

/// A name of few characters, among them all that mean something in a path.
fn name(random: &mut Random) -> String {
    const CHARACTERS: [char; 16] = [
        'a', 'b', '1', '0', '.', ':', '"', '[', ']', '\\', ' ', '\n', '-', '/', 'ü', '#',
    ];
    let length = random.below(4);
    (0..length).map(|_| CHARACTERS[random.below(16)]).collect()
}

fn check(compiled: &Compiled<Trace>, value: &Value, path: &mut Vec<Segment>, text: &str) {
    if !path.is_empty() {
        let path = Path(path.clone());
        let written = path.to_string();
        let readings = hence_smartfrog::readings(&written);
        let mut explained = readings
            .iter()
            .filter_map(|reading| compiled.explain(reading).ok());
        let explanation = explained.next();
        let explanation = explanation.unwrap_or_else(|| panic!("{written} of\n{text}"));
        assert_eq!(explanation.path, path, "{written} of\n{text}");
    }
    match value {
        Value::Map(map) => {
            for (key, value) in map.iter() {
                path.push(Segment::Key(key.to_string()));
                check(compiled, value, path, text);
                path.pop();
            }
        }
        Value::List(list) => {
            for (index, value) in list.as_slice().iter().enumerate() {
                path.push(Segment::Index(index));
                check(compiled, value, path, text);
                path.pop();
            }
        }
        _ => {}
    }
}
