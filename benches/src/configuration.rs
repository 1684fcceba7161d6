//! A configuration before it is written in any language, and the value it denotes.
//!
//! Every contender of the benchmark gets the same configuration in its own words, so it is described
//! once, in terms that SmartFrog, CF2 and Jsonnet share: blocks, a prototype to start from, attributes, a
//! placement into a nested block, an included file. What they print is compared with
//! [`Configuration::value`].

use serde_json::{Map, Value};
use std::collections::HashMap;

/// Prototypes in the order of their definition, and the block that is printed.
pub struct Configuration {
    /// Each one may start from any of those before it.
    pub prototypes: Vec<(String, Block)>,
    /// SmartFrog's `sfConfig`; in CF2 the file itself, in Jsonnet the expression at its end.
    pub config: Block,
}

/// A block: what it inherits, then what it says itself.
pub struct Block {
    /// The name of the prototype whose attributes come first.
    pub prototype: Option<String>,
    /// In the order of writing; of two entries with one name the later wins.
    pub entries: Vec<Entry>,
}

/// One thing a block says.
pub enum Entry {
    /// A name and a number, string, boolean or list of these. CF2 has no null.
    Attribute(String, Value),
    /// A nested block.
    Block(String, Block),
    /// An attribute set inside a nested block that exists already: `net:mtu 9000;`, `net ~> { mtu => 9000 }`.
    Placement {
        /// The nested block.
        block: String,
        /// The attribute in it.
        attribute: String,
        /// Its new value.
        value: Value,
    },
    /// Entries kept in a file of this name (without its extension).
    Include(String, Vec<Entry>),
}

/// A text and the texts it includes, under the names by which it includes them.
pub struct Sources {
    /// What the contender is told to compile.
    pub entry: String,
    /// File name and text.
    pub included: Vec<(String, String)>,
}

impl Block {
    /// A block that inherits nothing.
    pub fn new(entries: Vec<Entry>) -> Block {
        Block {
            prototype: None,
            entries,
        }
    }

    /// A block that starts from a prototype.
    pub fn extending(prototype: impl Into<String>, entries: Vec<Entry>) -> Block {
        Block {
            prototype: Some(prototype.into()),
            entries,
        }
    }
}

impl Entry {
    /// An attribute, from whatever converts to its value.
    pub fn attribute(name: impl Into<String>, value: impl Into<Value>) -> Entry {
        Entry::Attribute(name.into(), value.into())
    }
}

impl Configuration {
    /// The value denoted: an attribute keeps the position of its first definition and has the value
    /// of its last (SmartFrog's definition 12).
    pub fn value(&self) -> Value {
        let by_name = self
            .prototypes
            .iter()
            .map(|(name, block)| (name.as_str(), block));
        Value::Object(attributes(&self.config, &by_name.collect()))
    }
}

type Prototypes<'a> = HashMap<&'a str, &'a Block>;

fn attributes(block: &Block, prototypes: &Prototypes) -> Map<String, Value> {
    let mut attributes = Map::new();
    inherit(&mut attributes, block, prototypes);
    attributes
}

// Replays the whole chain for every heir: copying finished prototypes would be quadratic in a chain.
fn inherit(attributes: &mut Map<String, Value>, block: &Block, prototypes: &Prototypes) {
    if let Some(name) = &block.prototype {
        inherit(attributes, prototypes[name.as_str()], prototypes);
    }
    enter(attributes, &block.entries, prototypes);
}

fn enter(into: &mut Map<String, Value>, entries: &[Entry], prototypes: &Prototypes) {
    for entry in entries {
        match entry {
            Entry::Attribute(name, value) => {
                into.insert(name.clone(), value.clone());
            }
            Entry::Block(name, block) => {
                into.insert(name.clone(), Value::Object(attributes(block, prototypes)));
            }
            Entry::Placement {
                block,
                attribute,
                value,
            } => {
                into.get_mut(block)
                    .and_then(Value::as_object_mut)
                    .expect("a placement goes into a block defined before")
                    .insert(attribute.clone(), value.clone());
            }
            Entry::Include(_, included) => enter(into, included, prototypes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cf2, jsonnet, smartfrog};
    use serde_json::json;

    /// One of everything the languages share.
    fn everything() -> Configuration {
        Configuration {
            prototypes: vec![
                (
                    "Base".into(),
                    Block::new(vec![
                        Entry::attribute("domain", "example.org"),
                        Entry::Block(
                            "net".into(),
                            Block::new(vec![
                                Entry::attribute("mtu", 1500),
                                Entry::attribute("dhcp", true),
                            ]),
                        ),
                        Entry::attribute("rack", 0),
                    ]),
                ),
                (
                    "Web".into(),
                    Block::extending("Base", vec![Entry::attribute("domain", "web.example.org")]),
                ),
            ],
            config: Block::new(vec![
                Entry::Block(
                    "m0".into(),
                    Block::extending(
                        "Web",
                        vec![
                            Entry::attribute("disks", vec!["sda", "sdb"]),
                            Entry::Placement {
                                block: "net".into(),
                                attribute: "mtu".into(),
                                value: 9000.into(),
                            },
                        ],
                    ),
                ),
                Entry::Include("part".into(), vec![Entry::attribute("spare", false)]),
                Entry::attribute("last", 1.5),
            ]),
        }
    }

    #[test]
    fn the_value_keeps_first_positions_and_last_values() {
        let expected = json!({
            "m0": {"domain": "web.example.org", "net": {"mtu": 9000, "dhcp": true}, "rack": 0, "disks": ["sda", "sdb"]},
            "spare": false,
            "last": 1.5,
        });
        // As text, because equality of values ignores the order of attributes.
        assert_eq!(everything().value().to_string(), expected.to_string());
    }

    #[test]
    fn smartfrog_says_it_with_extends_placement_and_include() {
        let sources = smartfrog::write(&everything());
        let expected = r#"Base extends {
  domain "example.org";
  net extends {
    mtu 1500;
    dhcp true;
  }
  rack 0;
}
Web extends Base, {
  domain "web.example.org";
}
sfConfig extends {
  m0 extends Web, {
    disks ["sda", "sdb"];
    net:mtu 9000;
  }
  #include "part.sf";
  last 1.5;
}
"#;
        assert_eq!(sources.entry, expected);
        assert_eq!(
            sources.included,
            [("part.sf".to_string(), "spare false;\n".to_string())]
        );
    }

    #[test]
    fn cf2_says_it_with_merge_and_import() {
        let sources = cf2::write(&everything());
        let expected = r"private Base => {
  domain => 'example.org'
  net => {
    mtu => 1500
    dhcp => true
  }
  rack => 0
}
private Web => $Base ~> {
  domain => 'web.example.org'
}
m0 => $Web ~> {
  disks => ['sda', 'sdb']
  net ~> { mtu => 9000 }
}
import('part')
last => 1.5
";
        assert_eq!(sources.entry, expected);
        assert_eq!(
            sources.included,
            [("part.cf2".to_string(), "spare => false\n".to_string())]
        );
    }

    #[test]
    fn jsonnet_says_it_with_plus_and_import() {
        let sources = jsonnet::write(&everything());
        let expected = r#"local Base = {
  domain: "example.org",
  net: {
    mtu: 1500,
    dhcp: true,
  },
  rack: 0,
};
local Web = Base + {
  domain: "web.example.org",
};
{
  m0: Web + {
    disks: ["sda", "sdb"],
    net+: { mtu: 9000 },
  },
} + (import "part.libsonnet") + {
  last: 1.5,
}
"#;
        assert_eq!(sources.entry, expected);
        assert_eq!(
            sources.included,
            [(
                "part.libsonnet".to_string(),
                "{\n  spare: false,\n}\n".to_string()
            )]
        );
    }
}
