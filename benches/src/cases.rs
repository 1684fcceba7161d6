//! The configurations that are measured.
//!
//! fleet    machines made from 20 prototypes in three levels: what most configurations look like
//! deep     a long chain of prototypes, half of each new and half overriding the one before
//! wide     very many attributes in one block: shows anything that is quadratic in siblings
//! imports  one block put together from many included files
//!
//! Nothing is random: a case is the same on every machine and in every year.

use crate::configuration::{Block, Configuration, Entry};
use serde_json::Value;

/// A configuration with a name to ask for.
pub struct Case {
    /// As in the tables: `fleet-1000`.
    pub name: &'static str,
    /// What it looks like.
    pub shape: Shape,
    /// Whether it is measured without being asked for by name.
    pub selection: Selection,
}

/// When a case is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Always: something is promised about it.
    Promised,
    /// When named: nothing is promised, but it is good to know.
    Named,
}

/// The shape of a configuration, in any size.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Machines that take the third-level prototypes in turn, each with five overrides and a list.
    Fleet {
        /// How many of them.
        machines: usize,
    },
    /// A chain of prototypes. The first has `attributes`; each further one writes `written`,
    /// beginning `step` attributes after its parent does, and overrides what they have in common.
    Deep {
        /// The length of the chain.
        prototypes: usize,
        /// Attributes of the first.
        attributes: usize,
        /// Attributes of each further one.
        written: usize,
        /// How far apart two neighbours begin.
        step: usize,
    },
    /// One block.
    Wide {
        /// All directly in it.
        attributes: usize,
    },
    /// One block that is nothing but includes.
    Imports {
        /// How many files.
        files: usize,
        /// In each of them.
        attributes: usize,
    },
}

/// Every case, small before large.
pub const CASES: &[Case] = &[
    Case {
        name: "fleet-1000",
        shape: Shape::Fleet { machines: 1_000 },
        selection: Selection::Promised,
    },
    Case {
        name: "fleet-10000",
        shape: Shape::Fleet { machines: 10_000 },
        selection: Selection::Promised,
    },
    Case {
        name: "deep",
        shape: Shape::Deep {
            prototypes: 200,
            attributes: 500,
            written: 500,
            step: 250,
        },
        selection: Selection::Promised,
    },
    // Every level says everything again: 100,000 assignments for 500 values.
    Case {
        name: "deep-all",
        shape: Shape::Deep {
            prototypes: 200,
            attributes: 500,
            written: 500,
            step: 0,
        },
        selection: Selection::Named,
    },
    // Every level overrides five attributes of the first and adds none.
    Case {
        name: "deep-few",
        shape: Shape::Deep {
            prototypes: 200,
            attributes: 500,
            written: 5,
            step: 2,
        },
        selection: Selection::Named,
    },
    Case {
        name: "wide-10000",
        shape: Shape::Wide { attributes: 10_000 },
        selection: Selection::Promised,
    },
    Case {
        name: "wide-100000",
        shape: Shape::Wide {
            attributes: 100_000,
        },
        selection: Selection::Promised,
    },
    Case {
        name: "imports",
        shape: Shape::Imports {
            files: 500,
            attributes: 200,
        },
        selection: Selection::Promised,
    },
];

/// A literal of a fleet's base prototype that every machine inherits and none overrides.
pub const INHERITED_ATTRIBUTE: &str = "domain";

impl Shape {
    /// The word by which all sizes of a shape are asked for.
    pub fn family(&self) -> &'static str {
        match self {
            Shape::Fleet { .. } => "fleet",
            Shape::Deep { .. } => "deep",
            Shape::Wide { .. } => "wide",
            Shape::Imports { .. } => "imports",
        }
    }

    /// The same shape at a size that takes no time, to check that the contenders agree.
    pub fn small(&self) -> Shape {
        match *self {
            Shape::Fleet { .. } => Shape::Fleet { machines: 40 },
            Shape::Deep { written, step, .. } => Shape::Deep {
                prototypes: 5,
                attributes: 10,
                written: written.min(10),
                step: step.min(2),
            },
            Shape::Wide { .. } => Shape::Wide { attributes: 50 },
            Shape::Imports { .. } => Shape::Imports {
                files: 4,
                attributes: 5,
            },
        }
    }

    /// The configuration of this shape and size.
    pub fn configuration(&self) -> Configuration {
        match *self {
            Shape::Fleet { machines } => fleet(machines),
            Shape::Deep {
                prototypes,
                attributes,
                written,
                step,
            } => deep(prototypes, attributes, written, step),
            Shape::Wide { attributes } => Configuration {
                prototypes: Vec::new(),
                config: Block::new((0..attributes).map(|number| attribute(number, 0)).collect()),
            },
            Shape::Imports { files, attributes } => imports(files, attributes),
        }
    }
}

/// The name of a machine of the fleet, by its number.
pub fn machine_name(number: usize) -> String {
    format!("m{number:05}")
}

const KINDS: [&str; 4] = ["Web", "Database", "Cache", "Worker"];
const ROLES: usize = 15;

fn fleet(machines: usize) -> Configuration {
    let mut prototypes = vec![("Base".to_string(), base())];
    prototypes.extend(
        KINDS
            .iter()
            .enumerate()
            .map(|(number, kind)| (kind.to_string(), second_level(number))),
    );
    prototypes.extend((0..ROLES).map(|number| (role_name(number), third_level(number))));
    Configuration {
        prototypes,
        config: Block::new(
            (0..machines)
                .map(|number| Entry::Block(machine_name(number), machine(number)))
                .collect(),
        ),
    }
}

fn role_name(number: usize) -> String {
    format!("{}{number:02}", KINDS[number % KINDS.len()])
}

fn base() -> Block {
    Block::new(vec![
        Entry::attribute(INHERITED_ATTRIBUTE, "example.org"),
        Entry::attribute("site", "north"),
        Entry::attribute("owner", "operations"),
        Entry::attribute("os", "linux"),
        Entry::attribute("release", "12.5"),
        Entry::attribute("kernel", "6.1.0"),
        Entry::attribute("arch", "amd64"),
        Entry::attribute("timezone", "UTC"),
        Entry::attribute("locale", "en_GB"),
        Entry::attribute("address", "0.0.0.0"),
        Entry::attribute("fqdn", "localhost"),
        Entry::attribute("rack", "unknown"),
        Entry::attribute("serial", "unknown"),
        Entry::attribute("weight", 1),
        Entry::attribute("monitored", true),
        Entry::attribute("backup", false),
        Entry::Block(
            "net".into(),
            Block::new(vec![
                Entry::attribute("interface", "eth0"),
                Entry::attribute("mtu", 1500),
                Entry::attribute("gateway", "10.0.0.1"),
                Entry::attribute("dhcp", false),
                Entry::attribute("speed", 1000),
            ]),
        ),
    ])
}

fn second_level(number: usize) -> Block {
    Block::extending(
        "Base",
        vec![
            Entry::attribute("kernel", format!("6.1.{number}")),
            Entry::attribute("backup", number == 1),
            Entry::attribute("tier", number),
            Entry::attribute("port", 8000 + number),
            Entry::attribute("protocol", "tcp"),
            Entry::attribute("user", KINDS[number].to_lowercase()),
            Entry::attribute("memory", 4096 * (number + 1)),
            Entry::attribute("threads", 8),
            Entry::attribute("swap", 0.5),
        ],
    )
}

fn third_level(number: usize) -> Block {
    Block::extending(
        KINDS[number % KINDS.len()],
        vec![
            Entry::attribute("threads", 8 + number),
            Entry::attribute("weight", number % 7 + 1),
            Entry::attribute("service", format!("service{number:02}")),
            Entry::attribute("image", format!("image-{number}.2")),
            Entry::attribute("replicas", number % 3 + 1),
            Entry::attribute("timeout", 30),
            Entry::attribute("retries", 3),
            Entry::attribute("log", format!("/var/log/{number:02}")),
            Entry::attribute("data", format!("/srv/{number:02}")),
            Entry::attribute("public", number.is_multiple_of(2)),
            Entry::attribute("priority", number * 10),
            Entry::attribute("schedule", "daily"),
            Entry::attribute("contact", ""),
            Entry::Placement {
                block: "net".into(),
                attribute: "speed".into(),
                value: 10_000.into(),
            },
        ],
    )
}

fn machine(number: usize) -> Block {
    let address = |network: usize| format!("10.{network}.{}.{}", number >> 8, number & 255);
    let replica = |offset: usize| format!("{}.example.org", machine_name(number + offset));
    Block::extending(
        role_name(number % ROLES),
        vec![
            Entry::attribute("address", address(0)),
            Entry::attribute("fqdn", replica(0)),
            Entry::attribute(
                "rack",
                format!("hall-2-row-{:02}-rack-{:03}", number / 1_000, number / 40),
            ),
            Entry::attribute("serial", format!("SN-7F3A-{number:06}-B")),
            Entry::attribute("peers", vec![replica(1), replica(2), address(1)]),
            Entry::Placement {
                block: "net".into(),
                attribute: "mtu".into(),
                value: 9000.into(),
            },
        ],
    )
}

fn deep(prototypes: usize, attributes: usize, written: usize, step: usize) -> Configuration {
    let name = |level: usize| format!("p{level:03}");
    let first = (0..attributes).map(|number| attribute(number, 0)).collect();
    let mut chain = vec![(name(0), Block::new(first))];
    for level in 1..prototypes {
        let begin = level * step;
        let entries = (begin..begin + written)
            .map(|number| attribute(number, level))
            .collect();
        chain.push((name(level), Block::extending(name(level - 1), entries)));
    }
    Configuration {
        prototypes: chain,
        config: Block::extending(name(prototypes - 1), Vec::new()),
    }
}

fn imports(files: usize, attributes: usize) -> Configuration {
    let file = |number: usize| {
        let begin = number * attributes;
        let entries = (begin..begin + attributes)
            .map(|number| attribute(number, 0))
            .collect();
        Entry::Include(format!("part{number:03}"), entries)
    };
    Configuration {
        prototypes: Vec::new(),
        config: Block::new((0..files).map(file).collect()),
    }
}

/// An attribute with a name and value by number; another `version` of it has another value.
fn attribute(number: usize, version: usize) -> Entry {
    let value = match number % 4 {
        0 => Value::from(number + version),
        1 => Value::from(format!("value{}", number + version)),
        2 => Value::from((number + version).is_multiple_of(3)),
        _ => Value::from(format!("/srv/{version}")),
    };
    Entry::Attribute(format!("a{number:05}"), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(value: &Value) -> usize {
        match value {
            Value::Object(attributes) => attributes.values().map(leaves).sum(),
            _ => 1,
        }
    }

    #[test]
    fn a_fleet_has_20_prototypes_and_about_40_attributes_for_each_machine() {
        let configuration = fleet(30);
        assert_eq!(configuration.prototypes.len(), 20);
        let value = configuration.value();
        let machines = value.as_object().expect("a fleet is a block");
        assert_eq!(machines.len(), 30);
        for machine in machines.values() {
            assert_eq!(leaves(machine), 40);
            assert_eq!(machine["net"]["mtu"], 9000);
            assert_eq!(machine[INHERITED_ATTRIBUTE], "example.org");
        }
    }

    #[test]
    fn a_machine_overrides_five_attributes_and_adds_one_list() {
        let value = fleet(ROLES).value();
        for number in 0..ROLES {
            let inherited = Configuration {
                prototypes: fleet(0).prototypes,
                config: Block::extending(role_name(number), Vec::new()),
            };
            let inherited = leaves(&inherited.value());
            assert_eq!(leaves(&value[machine_name(number)]), inherited + 1);
        }
        assert_eq!(machine(0).entries.len(), 5 + 1);
    }

    #[test]
    fn the_last_prototype_of_a_chain_wins() {
        let value = Shape::Deep {
            prototypes: 3,
            attributes: 4,
            written: 4,
            step: 2,
        }
        .configuration()
        .value();
        let names: Vec<_> = value
            .as_object()
            .expect("a chain is a block")
            .keys()
            .cloned()
            .collect();
        assert_eq!(
            names,
            [
                "a00000", "a00001", "a00002", "a00003", "a00004", "a00005", "a00006", "a00007"
            ]
        );
        assert_eq!(value["a00003"], "/srv/1", "the second overrides the first");
        assert_eq!(value["a00004"], 4 + 2, "the third overrides the second");
    }

    #[test]
    fn every_case_has_the_promised_size() {
        for case in CASES {
            let expected = match case.name {
                "fleet-1000" => 40 * 1_000,
                "fleet-10000" => 40 * 10_000,
                "deep" => 500 + 199 * 250,
                "deep-all" | "deep-few" => 500,
                "wide-10000" => 10_000,
                "wide-100000" | "imports" => 100_000,
                name => panic!("{name} has no size"),
            };
            assert_eq!(
                leaves(&case.shape.configuration().value()),
                expected,
                "{}",
                case.name
            );
        }
    }
}
