//! Very many small files, each the configuration of one node and made from some of a few shared ones.
//!
//! One command compiles all of them. It is compared with what a script would do, a process for each node,
//! of which a sample stands for all.

use crate::cf2;
use crate::configuration::{Block, Configuration, Entry};
use crate::contenders::{Agreement, Programs, compare};
use crate::measure::{CommandLine, Usage, measure};
use crate::reads::{Reads, reads};
use crate::rounds::{Measurements, Purpose};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The word by which they are asked for.
pub const NAME: &str = "nodes";

/// So many nodes, and so many files that they share.
#[derive(Clone, Copy)]
pub struct Nodes {
    /// How many nodes.
    pub nodes: usize,
    /// How many shared files.
    pub shared: usize,
}

/// What is measured.
pub const NODES: Nodes = Nodes {
    nodes: 10_000,
    shared: 20,
};

/// As many processes stand for one process for each node.
pub const SAMPLE: usize = 100;

impl Nodes {
    /// The same at a size that takes no time, to check what is written.
    pub fn small(self) -> Nodes {
        Nodes {
            nodes: 2 * self.shared,
            ..self
        }
    }

    /// The numbers of the nodes that stand for all.
    fn sample(self) -> impl Iterator<Item = usize> {
        (0..self.nodes).step_by((self.nodes / SAMPLE).max(1))
    }

    /// What a process for each node would use, by the sample.
    pub fn apart(self, measured: &Measurements) -> Option<Usage> {
        let nothing = Usage {
            cpu: Duration::ZERO,
            elapsed: Duration::ZERO,
            peak: 0,
        };
        let sum = |sum: Usage, number| {
            let one = measured.usage(Purpose::Node(number))?;
            Some(Usage {
                cpu: sum.cpu + one.cpu,
                elapsed: sum.elapsed + one.elapsed,
                peak: sum.peak.max(one.peak),
            })
        };
        let sum = self.sample().try_fold(nothing, sum)?;
        let share = self.nodes as f64 / self.sample().count() as f64;
        Some(Usage {
            cpu: sum.cpu.mul_f64(share),
            elapsed: sum.elapsed.mul_f64(share),
            ..sum
        })
    }

    fn node(self, number: usize) -> Configuration {
        let imported = (0..2 + number % 4).map(|further| (number + 7 * further) % self.shared);
        let mut entries: Vec<Entry> = imported
            .map(|part| Entry::Include(format!("../{SHARED}/{}", part_name(part)), contents(part)))
            .collect();
        let first = number % self.shared;
        entries.extend([
            Entry::attribute("name", node_name(number)),
            Entry::attribute("address", format!("10.0.{}.{}", number >> 8, number & 255)),
            Entry::attribute(format!("{}_level", part_name(first)), number),
            Entry::Placement {
                block: part_name(first),
                attribute: "owner".into(),
                value: node_name(number).into(),
            },
        ]);
        Configuration {
            prototypes: Vec::new(),
            config: Block::new(entries),
        }
    }
}

/// Nodes that were written down.
pub struct Written {
    nodes: Nodes,
    directory: PathBuf,
}

impl Written {
    /// Writes the nodes and what they share into two directories below one.
    pub fn write(nodes: Nodes, directory: &Path) -> io::Result<Written> {
        for inner in [SOURCES, SHARED, RESULTS] {
            fs::create_dir_all(directory.join(inner))?;
        }
        let sources = directory.join(SOURCES);
        for number in 0..nodes.nodes {
            let written = cf2::write(&nodes.node(number));
            fs::write(
                sources.join(file_name(number, cf2::EXTENSION)),
                written.entry,
            )?;
            for (name, text) in written.included {
                let shared = sources.join(name);
                // Each node would write the same again.
                if number < nodes.shared {
                    fs::write(shared, text)?;
                }
            }
        }
        Ok(Written {
            nodes,
            directory: directory.to_path_buf(),
        })
    }

    fn compile_all(&self, programs: &Programs) -> CommandLine {
        self.compile(programs, SOURCES, RESULTS)
    }

    /// What is run in a round: one command for all nodes, and one for each of the sample.
    pub fn commands(&self, programs: &Programs) -> Vec<(Purpose, CommandLine)> {
        let one = |number| {
            let source = format!("{SOURCES}/{}", file_name(number, cf2::EXTENSION));
            let result = format!("{RESULTS}/{}", file_name(number, "json"));
            let command = self.compile(programs, &source, &result);
            (Purpose::Node(number), command)
        };
        let mut commands = vec![(Purpose::Nodes, self.compile_all(programs))];
        commands.extend(self.nodes.sample().map(one));
        commands
    }

    /// How many files the one command reads.
    pub fn reads(&self, programs: &Programs) -> io::Result<Reads> {
        let log = self.directory.join("strace.log");
        reads(&self.compile_all(programs), cf2::EXTENSION, &log)
    }

    /// How many files there are to read.
    pub fn files(&self) -> usize {
        self.nodes.nodes + self.nodes.shared
    }

    fn compile(&self, programs: &Programs, from: &str, to: &str) -> CommandLine {
        let path = |inner: &str| self.directory.join(inner).into_os_string();
        CommandLine::new(
            &programs.hence,
            ["compile".into(), path(from), "--out".into(), path(to)],
        )
    }

    /// Compiles all nodes, and compares what was written with what the generator predicted.
    pub fn check(&self, programs: &Programs) -> io::Result<Agreement> {
        measure(&self.compile_all(programs), Path::new("/dev/null"))?;
        for number in 0..self.nodes.nodes {
            let result = self.directory.join(RESULTS).join(file_name(number, "json"));
            let printed = fs::read_to_string(result)?;
            let expected = self.nodes.node(number).value().to_string();
            if let Agreement::Differs(how) = compare(&expected, printed.trim_end()) {
                return Ok(Agreement::Differs(format!("{}: {how}", node_name(number))));
            }
        }
        Ok(Agreement::Agrees)
    }
}

const SOURCES: &str = "nodes";
const SHARED: &str = "shared";
const RESULTS: &str = "results";

fn node_name(number: usize) -> String {
    format!("n{number:05}")
}

fn part_name(number: usize) -> String {
    format!("part{number:02}")
}

fn file_name(number: usize, extension: &str) -> String {
    format!("{}.{extension}", node_name(number))
}

/// What a shared file holds: attributes of its own, and a block to add to.
fn contents(part: usize) -> Vec<Entry> {
    let name = part_name(part);
    let mut entries = vec![Entry::attribute(format!("{name}_level"), 0)];
    entries.extend((0..10).map(|number| {
        let value = match number % 3 {
            0 => Value::from(number * part),
            1 => Value::from(format!("/srv/{name}/{number}")),
            _ => Value::from(number > 5),
        };
        Entry::Attribute(format!("{name}_{number}"), value)
    }));
    entries.push(Entry::Block(
        name,
        Block::new(vec![
            Entry::attribute("owner", "nobody"),
            Entry::attribute("limit", part),
        ]),
    ));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_made_from_shared_files_and_has_the_last_word() {
        let value = NODES.node(41).value();
        assert_eq!(value["name"], "n00041");
        assert_eq!(value["part01_level"], 41, "it overrides what is shared");
        assert_eq!(value["part01"]["owner"], "n00041", "and adds to it");
        assert_eq!(value["part08_level"], 0);
        assert_eq!(value["part15_level"], 0);
        assert_eq!(value.get("part02_level"), None);
    }

    #[test]
    fn the_first_nodes_import_every_shared_file() {
        let imported: std::collections::HashSet<String> = (0..NODES.shared)
            .flat_map(|number| cf2::write(&NODES.node(number)).included)
            .map(|(name, _)| name)
            .collect();
        assert_eq!(imported.len(), NODES.shared);
    }
}
