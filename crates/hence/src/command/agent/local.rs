//! What a node itself sets: a file that it compiles with its facts.

use hence_agent::{Facts, Local};
use hence_cf2::{Options, World, compile_file};
use hence_model::path::{Path, Segment};
use hence_model::source::{Files, ReadError};
use hence_model::value::{Builder, Value};

use crate::disk::Disk;

/// The files of a node, and its facts as one.
pub struct Here {
    disk: Disk,
    facts: String,
}

/// What the file of facts is called, which is nowhere on the disk.
const FACTS: &str = "\0facts.json";

impl Here {
    /// The files of a disk.
    pub fn new(disk: Disk, facts: &Facts) -> Self {
        let facts = serde_json::to_string(facts).expect("facts can be written");
        Self { disk, facts }
    }

    /// How to compile here.
    pub fn options(&self) -> Options {
        Options {
            facts: Some(FACTS.to_owned()),
            ..Options::default()
        }
    }
}

impl Files for Here {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        if name == FACTS {
            text.push_str(&self.facts);
            return Ok(());
        }
        self.disk.read(name, text)
    }
}

impl World for Here {
    fn list(&self, directory: &str) -> Option<Vec<String>> {
        self.disk.names_in(directory).ok()
    }
}

/// The parameters that a file comes to; or what is wrong with it.
pub fn parameters(here: &Here, file: &str) -> Result<Vec<Local>, String> {
    let mut compiled = compile_file(here, file, &here.options());
    if !compiled.is_good() {
        let unit = compiled.unit();
        let errors = unit.diagnostics.iter().filter(|one| one.is_error());
        let words = errors.map(|one| match one.labels.first() {
            Some(label) => format!(
                "{}: {}",
                unit.sources.location(label.span.start),
                one.message
            ),
            None => one.message.clone(),
        });
        let words: Vec<String> = words.collect();
        return Err(format!("`{file}` cannot be compiled: {}", words.join("; ")));
    }
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    let Some(Value::Map(whole)) = builder.finish() else {
        return Ok(Vec::new());
    };
    let mut parameters = Vec::new();
    for (name, value) in whole.iter() {
        let Some(text) = text(value) else {
            return Err(format!(
                "`{name}` in `{file}` is a block: a parameter is text, a number, or a list of such"
            ));
        };
        let path = Path(vec![Segment::Key(name.to_owned())]);
        let explanation = compiled.explain(&path).ok();
        let place = explanation.and_then(|explanation| explanation.place);
        let place = place.map(|place| compiled.unit().sources.location(place.start).to_string());
        parameters.push(Local {
            name: name.to_owned(),
            value: text,
            place: place.unwrap_or_else(|| format!("{file}: {name}")),
        });
    }
    Ok(parameters)
}

fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => String::new(),
        Value::Bool(bool) => bool.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) | Value::Reference(text) => text.clone(),
        Value::List(list) => {
            let texts: Option<Vec<String>> = list.as_slice().iter().map(text).collect();
            texts?.join(", ")
        }
        Value::Map(_) => return None,
    })
}
