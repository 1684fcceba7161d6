//! Writes a configuration in CF2, as a person would: prototypes are private, inheritance is `~>`.

use crate::configuration::{Block, Configuration, Entry, Sources};
use serde_json::Value;
use std::fmt::Write;

/// The extension of a CF2 file.
pub const EXTENSION: &str = "cf2";

/// The configuration in CF2.
pub fn write(configuration: &Configuration) -> Sources {
    let mut writer = Writer {
        text: String::new(),
        included: Vec::new(),
    };
    for (name, block) in &configuration.prototypes {
        writer.text.push_str("private ");
        writer.block(name, block, 0);
    }
    // The file itself is the block that is printed: what it starts from becomes part of it inline.
    if let Some(prototype) = &configuration.config.prototype {
        writeln!(writer.text, "if (true) then ${prototype}").expect("a string takes any text");
    }
    writer.entries(&configuration.config.entries, 0);
    Sources {
        entry: writer.text,
        included: writer.included,
    }
}

struct Writer {
    text: String,
    included: Vec<(String, String)>,
}

impl Writer {
    fn block(&mut self, name: &str, block: &Block, depth: usize) {
        self.text.push_str(name);
        self.text.push_str(" => ");
        if let Some(prototype) = &block.prototype {
            write!(self.text, "${prototype} ~> ").expect("a string takes any text");
        }
        self.text.push_str("{\n");
        self.entries(&block.entries, depth + 1);
        self.indent(depth);
        self.text.push_str("}\n");
    }

    fn entries(&mut self, entries: &[Entry], depth: usize) {
        for entry in entries {
            self.indent(depth);
            match entry {
                Entry::Attribute(name, value) => {
                    write!(self.text, "{name} => ").expect("a string takes any text");
                    self.value(value);
                    self.text.push('\n');
                }
                Entry::Block(name, block) => self.block(name, block, depth),
                Entry::Placement {
                    block,
                    attribute,
                    value,
                } => {
                    write!(self.text, "{block} ~> {{ {attribute} => ")
                        .expect("a string takes any text");
                    self.value(value);
                    self.text.push_str(" }\n");
                }
                Entry::Include(name, entries) => {
                    writeln!(self.text, "import('{name}')").expect("a string takes any text");
                    let including = std::mem::take(&mut self.text);
                    self.entries(entries, 0);
                    let included = std::mem::replace(&mut self.text, including);
                    self.included
                        .push((format!("{name}.{EXTENSION}"), included));
                }
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                let text = text.replace('\\', "\\\\").replace('\'', "\\'");
                write!(self.text, "'{text}'").expect("a string takes any text");
            }
            Value::Array(elements) => {
                self.text.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.text.push_str(", ");
                    }
                    self.value(element);
                }
                self.text.push(']');
            }
            // Numbers and booleans are spelled as in JSON.
            basic => write!(self.text, "{basic}").expect("a string takes any text"),
        }
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.text.push_str("  ");
        }
    }
}
