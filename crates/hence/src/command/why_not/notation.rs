//! Values as they are written: in each language, and in the data that it reads.

use hence_model::value::Value;

use crate::configuration::Configuration;
use crate::difference::written;

/// How a file writes values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `"text"`, `[1, 2]`, `NULL`
    SmartFrog,
    /// `'text'`, `[1, 2]`, `?`
    Cf2,
    /// `'text'`, `[1, 2]`, `{ 'a' => 1 }`, `undef`
    Puppet,
    /// JSON
    Json,
    /// YAML, in one line
    Yaml,
}

impl Notation {
    /// The notation of a file of a configuration.
    pub fn of(compiled: &Configuration<'_>, file: &str) -> Self {
        let is_facts = compiled.unit().facts.as_deref() == Some(file);
        let extension = std::path::Path::new(file).extension();
        match (extension.and_then(|name| name.to_str()), compiled) {
            (Some("json"), _) => Notation::Json,
            _ if is_facts => Notation::Json,
            (Some("yaml" | "yml" | "eyaml"), _) => Notation::Yaml,
            (_, Configuration::SmartFrog(_)) => Notation::SmartFrog,
            (_, Configuration::Cf2(_)) => Notation::Cf2,
            (_, Configuration::Puppet(_)) => Notation::Puppet,
        }
    }

    /// The ways to write a value in the place of something, likeliest first.
    pub fn writings(self, value: &Value, old: &str) -> Vec<String> {
        let usual = self.write(value);
        let Value::Text(text) = value else {
            return vec![usual];
        };
        let mut writings = Vec::new();
        let is_quoted = old.starts_with(['\'', '"']);
        let is_plain = !text.is_empty()
            && text
                .chars()
                .all(|char| char.is_alphanumeric() || "_-./".contains(char));
        match self {
            // A word without quotes, or a piece of a text that holds other pieces.
            Notation::Puppet if !is_quoted && !is_expression(old) => {
                writings.push(text.clone());
                writings.push(usual);
            }
            Notation::Yaml if !is_quoted => {
                writings.push(text.clone());
                writings.push(usual);
            }
            Notation::Puppet | Notation::Yaml if old.starts_with('"') => {
                writings.push(double_quoted(text));
                writings.push(usual);
            }
            Notation::Cf2 if !is_quoted && is_plain => {
                writings.push(text.clone());
                writings.push(usual);
            }
            _ => writings.push(usual),
        }
        writings.dedup();
        writings
    }

    /// The usual way to write a value.
    fn write(self, value: &Value) -> String {
        let elements = |list: &[Value]| -> String {
            let elements: Vec<String> = list.iter().map(|one| self.write(one)).collect();
            elements.join(", ")
        };
        match (self, value) {
            (Notation::Json | Notation::Yaml, value) => match (self, value) {
                (Notation::Yaml, Value::Text(text)) => single_quoted_yaml(text),
                _ => written(value),
            },
            (Notation::SmartFrog, Value::Null) => "NULL".into(),
            (Notation::Cf2, Value::Null) => "?".into(),
            (Notation::Puppet, Value::Null) => "undef".into(),
            (Notation::SmartFrog, Value::Text(text)) => double_quoted(text),
            (Notation::Puppet, Value::Text(text)) if text.contains(['\n', '\t', '\r']) => {
                double_quoted(text)
            }
            (_, Value::Text(text)) => {
                format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
            }
            (_, Value::Reference(name)) => name.clone(),
            (_, Value::List(list)) => format!("[{}]", elements(list.as_slice())),
            (_, Value::Map(map)) => {
                let entries = map.iter().map(|(key, value)| {
                    let value = self.write(value);
                    match self {
                        Notation::SmartFrog => format!("{key} {value};"),
                        Notation::Cf2 => format!("{key} => {value}"),
                        _ => {
                            let key = self.write(&Value::Text(key.to_owned()));
                            format!("{key} => {value}")
                        }
                    }
                });
                let entries: Vec<String> = entries.collect();
                match self {
                    Notation::SmartFrog => format!("extends {{ {} }}", entries.join(" ")),
                    _ => format!("{{ {} }}", entries.join(", ")),
                }
            }
            (_, scalar) => written(scalar),
        }
    }
}

/// Whether something in a manifest is neither a word nor a piece of a text.
fn is_expression(old: &str) -> bool {
    old.starts_with(['$', '[', '{', '('])
        || old.parse::<f64>().is_ok()
        || old == "true"
        || old == "false"
}

/// The text of a literal without what marks it as one.
pub fn bare(literal: &str) -> &str {
    let quotes = ['\'', '"'];
    let inner = quotes.iter().find_map(|&quote| {
        let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner)
    });
    inner.unwrap_or(literal)
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

fn single_quoted_yaml(text: &str) -> String {
    match text.contains(char::is_control) {
        true => written(&Value::Text(text.to_owned())),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_the_quotes_that_are_there() {
        let text = Value::Text("it's".into());
        let first = |notation: Notation, old: &str| notation.writings(&text, old)[0].clone();
        assert_eq!(first(Notation::Puppet, "'a'"), "'it\\'s'");
        assert_eq!(first(Notation::Puppet, "\"a\""), "\"it's\"");
        assert_eq!(first(Notation::Puppet, "piece "), "it's");
        assert_eq!(first(Notation::Puppet, "$name"), "'it\\'s'");
        assert_eq!(first(Notation::Yaml, "'a'"), "'it''s'");
        assert_eq!(first(Notation::SmartFrog, "\"a\""), "\"it's\"");
        assert_eq!(first(Notation::Cf2, "word"), "'it\\'s'");
        assert_eq!(first(Notation::Json, "1"), "\"it's\"");
    }
}
