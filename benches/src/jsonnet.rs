//! Writes a configuration in Jsonnet, as a person would: prototypes are locals, inheritance is `+`.
//!
//! A run of ordinary entries is one object; an included file is an import between two of them.

use crate::configuration::{Block, Configuration, Entry, Sources};
use serde_json::Value;
use std::fmt::Write;

/// The extension of a file to evaluate.
pub const EXTENSION: &str = "jsonnet";
/// The extension of a file to import.
pub const LIBRARY_EXTENSION: &str = "libsonnet";

/// The configuration in Jsonnet.
pub fn write(configuration: &Configuration) -> Sources {
    let mut writer = Writer {
        text: String::new(),
        included: Vec::new(),
    };
    for (name, block) in &configuration.prototypes {
        write!(writer.text, "local {name} = ").expect("a string takes any text");
        writer.block(block, 0);
        writer.text.push_str(";\n");
    }
    writer.block(&configuration.config, 0);
    writer.text.push('\n');
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
    fn block(&mut self, block: &Block, depth: usize) {
        if let Some(prototype) = &block.prototype {
            self.text.push_str(prototype);
            self.text.push_str(" + ");
        }
        self.sum(&block.entries, depth);
    }

    fn sum(&mut self, entries: &[Entry], depth: usize) {
        let is_include = |entry: &Entry| matches!(entry, Entry::Include(..));
        let terms = entries.chunk_by(|left, right| !is_include(left) && !is_include(right));
        let mut written = false;
        for term in terms {
            if written {
                self.text.push_str(" + ");
            }
            match term {
                [Entry::Include(name, included)] => self.import(name, included),
                _ => self.object(term, depth),
            }
            written = true;
        }
        if !written {
            self.text.push_str("{}");
        }
    }

    fn object(&mut self, entries: &[Entry], depth: usize) {
        self.text.push_str("{\n");
        for entry in entries {
            self.indent(depth + 1);
            match entry {
                Entry::Attribute(name, value) => {
                    write!(self.text, "{name}: ").expect("a string takes any text");
                    self.value(value);
                }
                Entry::Block(name, block) => {
                    write!(self.text, "{name}: ").expect("a string takes any text");
                    self.block(block, depth + 1);
                }
                Entry::Placement {
                    block,
                    attribute,
                    value,
                } => {
                    write!(self.text, "{block}+: {{ {attribute}: ")
                        .expect("a string takes any text");
                    self.value(value);
                    self.text.push_str(" }");
                }
                Entry::Include(..) => unreachable!("an include is a term of its own"),
            }
            self.text.push_str(",\n");
        }
        self.indent(depth);
        self.text.push('}');
    }

    fn import(&mut self, name: &str, entries: &[Entry]) {
        let file = format!("{name}.{LIBRARY_EXTENSION}");
        write!(self.text, "(import \"{file}\")").expect("a string takes any text");
        let including = std::mem::take(&mut self.text);
        self.sum(entries, 0);
        self.text.push('\n');
        let included = std::mem::replace(&mut self.text, including);
        self.included.push((file, included));
    }

    fn value(&mut self, value: &Value) {
        match value {
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
            // JSON's basic values are Jsonnet's.
            basic => write!(self.text, "{basic}").expect("a string takes any text"),
        }
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.text.push_str("  ");
        }
    }
}
