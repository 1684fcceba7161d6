//! The programs that are compared, what each is given to read, and whether they print the same.

use crate::configuration::{Configuration, Sources};
use crate::measure::{CommandLine, measure};
use crate::{cf2, jsonnet, smartfrog};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A program that turns a configuration into JSON, or a manifest into a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// This project, reading SmartFrog, with the trace on.
    Hence,
    /// This project, reading CF2.
    HenceCf2,
    /// A fast compiler of Jsonnet.
    Jrsonnet,
    /// `serde_json` reading the output and printing it again.
    Floor,
    /// This project, reading Puppet, with the trace on.
    HencePuppet,
    /// The real compiler of Puppet.
    Puppet,
}

/// Where the programs are.
pub struct Programs {
    /// `hence`, built in release mode.
    pub hence: PathBuf,
    /// `jrsonnet`, as installed by `./bench`.
    pub jrsonnet: PathBuf,
    /// The script that runs the real compiler of Puppet.
    pub real: PathBuf,
    /// This program, which is also the floor.
    pub bench: PathBuf,
    /// Where generated configurations go.
    pub cases: PathBuf,
}

/// A configuration written down for every contender.
pub struct Written {
    /// Where its files are.
    pub directory: PathBuf,
    /// How much SmartFrog there is, in bytes.
    pub source_bytes: usize,
    /// What it denotes, as compact JSON.
    pub expected: String,
    /// The same with the attributes of every block in alphabetical order.
    pub expected_sorted: String,
}

/// Whether a contender printed what was expected.
pub enum Agreement {
    /// To the byte.
    Agrees,
    /// Where the two part.
    Differs(String),
}

impl Contender {
    /// Those that read configurations, in the order of the tables.
    pub const OF_CONFIGURATIONS: [Contender; 4] = [
        Contender::Hence,
        Contender::HenceCf2,
        Contender::Jrsonnet,
        Contender::Floor,
    ];

    /// Those that make catalogs.
    pub const OF_CATALOGS: [Contender; 2] = [Contender::HencePuppet, Contender::Puppet];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Contender> {
        let of_configurations = Contender::OF_CONFIGURATIONS.into_iter();
        of_configurations.chain(Contender::OF_CATALOGS)
    }

    /// Those that are this project and read configurations.
    pub const OURS: [Contender; 2] = [Contender::Hence, Contender::HenceCf2];

    /// As in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Hence => "hence",
            Contender::HenceCf2 => "hence-cf2",
            Contender::Jrsonnet => "jrsonnet",
            Contender::Floor => "floor",
            Contender::HencePuppet => "hence-puppet",
            Contender::Puppet => "puppet",
        }
    }

    /// In how many rounds of so many it is run. The real compiler of Puppet takes very long, and is compared with
    /// something a hundred times faster: no noise matters that much.
    pub fn rounds(self, rounds: usize) -> usize {
        match self {
            Contender::Puppet => rounds.min(MOST_SLOW_ROUNDS),
            _ => rounds,
        }
    }

    /// The command that prints the configuration as compact JSON.
    pub fn compile(self, programs: &Programs, case: &Written) -> CommandLine {
        match self {
            Contender::Hence => {
                CommandLine::new(&programs.hence, ["compile".into(), case.smartfrog()])
            }
            Contender::HenceCf2 => {
                CommandLine::new(&programs.hence, ["compile".into(), case.cf2()])
            }
            // Padding 0 prints compactly (its help promises tabs). Objects are sorted: the
            // experimental `--preserve-order` keeps the position of the last definition where
            // SmartFrog keeps the first, so it would not make the outputs equal, and is no faster.
            Contender::Jrsonnet => {
                let file = case.directory.join(entry_name(jsonnet::EXTENSION));
                CommandLine::new(
                    &programs.jrsonnet,
                    ["--line-padding".into(), "0".into(), file.into_os_string()],
                )
            }
            Contender::Floor => {
                let file = case.directory.join(EXPECTED);
                CommandLine::new(&programs.bench, ["floor".into(), file.into_os_string()])
            }
            Contender::HencePuppet | Contender::Puppet => {
                unreachable!("no configuration is written in Puppet")
            }
        }
    }

    /// Runs the contender once and compares what it prints with what the generator predicted.
    pub fn check(self, programs: &Programs, case: &Written) -> io::Result<Agreement> {
        let output = case.directory.join(format!("{}.out", self.name()));
        measure(&self.compile(programs, case), &output)?;
        let printed = fs::read_to_string(&output)?;
        let expected = match self {
            Contender::Jrsonnet => &case.expected_sorted,
            _ => &case.expected,
        };
        Ok(compare(
            expected,
            printed.strip_suffix('\n').unwrap_or(&printed),
        ))
    }
}

impl Programs {
    /// The programs as `./bench` leaves them around this one: in `release/` and `bench/` of one
    /// target directory.
    pub fn around(bench: PathBuf) -> Programs {
        let release = bench.parent().expect("a program lies in a directory");
        let target = release.parent().unwrap_or(release);
        Programs {
            hence: release.join("hence"),
            jrsonnet: target.join("bench/bin/jrsonnet"),
            real: target.join("bench/real.rb"),
            cases: target.join("bench/cases"),
            bench,
        }
    }

    /// Puts the script that runs the real compiler of Puppet into its place.
    pub fn write_real_compiler(&self) -> io::Result<()> {
        fs::write(&self.real, include_str!("../real.rb"))
    }

    /// The command that runs the real compiler of Puppet.
    pub fn real_compiler(&self, arguments: impl IntoIterator<Item = OsString>) -> CommandLine {
        let script = self.real.clone().into_os_string();
        CommandLine::new(Path::new("ruby"), std::iter::once(script).chain(arguments))
    }
}

/// So often the slowest contender is run at most.
const MOST_SLOW_ROUNDS: usize = 3;

impl Written {
    /// Writes a configuration for every contender into a directory of its own.
    pub fn write(configuration: &Configuration, directory: &Path) -> io::Result<Written> {
        fs::create_dir_all(directory)?;
        let smartfrog = smartfrog::write(configuration);
        let cf2 = cf2::write(configuration);
        let jsonnet = jsonnet::write(configuration);
        for (sources, extension) in [
            (&smartfrog, smartfrog::EXTENSION),
            (&cf2, cf2::EXTENSION),
            (&jsonnet, jsonnet::EXTENSION),
        ] {
            fs::write(directory.join(entry_name(extension)), &sources.entry)?;
            for (name, text) in &sources.included {
                fs::write(directory.join(name), text)?;
            }
        }
        let mut value = configuration.value();
        let expected = value.to_string();
        fs::write(directory.join(EXPECTED), &expected)?;
        value.sort_all_objects();
        Ok(Written {
            directory: directory.to_path_buf(),
            source_bytes: bytes(&smartfrog),
            expected,
            expected_sorted: value.to_string(),
        })
    }

    /// The SmartFrog file to compile.
    pub fn smartfrog(&self) -> OsString {
        self.directory
            .join(entry_name(smartfrog::EXTENSION))
            .into_os_string()
    }

    /// The CF2 file to compile.
    pub fn cf2(&self) -> OsString {
        self.directory
            .join(entry_name(cf2::EXTENSION))
            .into_os_string()
    }
}

const EXPECTED: &str = "expected.json";

fn entry_name(extension: &str) -> String {
    format!("main.{extension}")
}

fn bytes(sources: &Sources) -> usize {
    sources.entry.len()
        + sources
            .included
            .iter()
            .map(|(_, text)| text.len())
            .sum::<usize>()
}

/// Where what was printed parts from what was expected.
pub(crate) fn compare(expected: &str, printed: &str) -> Agreement {
    if expected == printed {
        return Agreement::Agrees;
    }
    if serde_json::from_str::<Value>(expected).ok() == serde_json::from_str(printed).ok() {
        return Agreement::Differs("the values are equal, but not their spelling or order".into());
    }
    let common = expected
        .bytes()
        .zip(printed.bytes())
        .take_while(|(left, right)| left == right);
    let place = common.count();
    let around = |text: &str| {
        let bytes = text.as_bytes();
        let window =
            &bytes[place.saturating_sub(40).min(bytes.len())..(place + 40).min(bytes.len())];
        String::from_utf8_lossy(window).into_owned()
    };
    Agreement::Differs(format!(
        "at byte {place}, expected …{}… but it printed …{}…",
        around(expected),
        around(printed)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_where_it_begins() {
        let Agreement::Differs(what) = compare(r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#) else {
            panic!("2 is not 3");
        };
        assert!(what.starts_with("at byte 11, expected"), "{what}");
    }

    #[test]
    fn nothing_printed_is_a_difference() {
        assert!(matches!(compare("{}", ""), Agreement::Differs(_)));
    }

    #[test]
    fn another_order_is_a_difference_that_says_so() {
        let Agreement::Differs(what) = compare(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#) else {
            panic!("order is part of the output");
        };
        assert!(what.contains("order"), "{what}");
    }

    #[test]
    fn programs_lie_in_one_target_directory() {
        let programs = Programs::around(PathBuf::from("target/release/hence-bench"));
        assert_eq!(programs.hence, Path::new("target/release/hence"));
        assert_eq!(programs.jrsonnet, Path::new("target/bench/bin/jrsonnet"));
    }
}
