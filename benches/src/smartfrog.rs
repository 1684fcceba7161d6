//! Writes a configuration in SmartFrog, as a person would: one assignment to a line.

use crate::configuration::{Block, Configuration, Entry, Sources};
use serde_json::Value;
use std::fmt::Write;

/// The extension of a SmartFrog file.
pub const EXTENSION: &str = "sf";

/// The configuration in SmartFrog.
pub fn write(configuration: &Configuration) -> Sources {
    let mut writer = Writer {
        text: String::new(),
        included: Vec::new(),
    };
    for (name, block) in &configuration.prototypes {
        writer.block(name, block, 0);
    }
    writer.block("sfConfig", &configuration.config, 0);
    Sources {
        entry: writer.text,
        included: writer.included,
    }
}

/// Where the value of an attribute stands in a text, as `line:column` counted from 1. The first
/// line that assigns it counts.
pub fn position_of_value(text: &str, attribute: &str) -> Option<String> {
    text.lines().enumerate().find_map(|(index, line)| {
        let rest = line.trim_start().strip_prefix(attribute)?;
        let value = rest.strip_prefix(' ')?;
        Some(format!("{}:{}", index + 1, line.len() - value.len() + 1))
    })
}

struct Writer {
    text: String,
    included: Vec<(String, String)>,
}

impl Writer {
    fn block(&mut self, name: &str, block: &Block, depth: usize) {
        self.indent(depth);
        self.text.push_str(name);
        self.text.push_str(" extends ");
        if let Some(prototype) = &block.prototype {
            self.text.push_str(prototype);
            self.text.push_str(", ");
        }
        self.text.push_str("{\n");
        self.entries(&block.entries, depth + 1);
        self.indent(depth);
        self.text.push_str("}\n");
    }

    fn entries(&mut self, entries: &[Entry], depth: usize) {
        for entry in entries {
            match entry {
                Entry::Attribute(name, value) => self.assignment(name, value, depth),
                Entry::Block(name, block) => self.block(name, block, depth),
                Entry::Placement {
                    block,
                    attribute,
                    value,
                } => {
                    self.assignment(&format!("{block}:{attribute}"), value, depth);
                }
                Entry::Include(name, entries) => {
                    let file = format!("{name}.{EXTENSION}");
                    self.indent(depth);
                    writeln!(self.text, "#include \"{file}\";").expect("a string takes any text");
                    let including = std::mem::take(&mut self.text);
                    self.entries(entries, 0);
                    let included = std::mem::replace(&mut self.text, including);
                    self.included.push((file, included));
                }
            }
        }
    }

    fn assignment(&mut self, name: &str, value: &Value, depth: usize) {
        self.indent(depth);
        self.text.push_str(name);
        self.text.push(' ');
        self.value(value);
        self.text.push_str(";\n");
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
            // Numbers, booleans and strings with their escapes are spelled as in JSON.
            basic => write!(self.text, "{basic}").expect("a string takes any text"),
        }
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.text.push_str("  ");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_of_a_value_is_where_its_text_begins() {
        let text = "Base extends {\n  domains 1;\n  domain \"example.org\";\n}\n";
        assert_eq!(position_of_value(text, "domain").as_deref(), Some("3:10"));
        assert_eq!(position_of_value(text, "zone"), None);
    }
}
