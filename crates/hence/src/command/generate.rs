//! `hence generate`: specifications that nobody wrote, to try compilers with; and pools, to try HTCondor with.

use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use hence_fleet::condor::Overprovisioned;
use hence_ledger::Command;
use hence_smartfrog::generate::{Kind, specification};

use crate::console::Console;
use crate::result::{replace, unwritable};
use crate::{Exit, Stop};

/// Write a random specification, or a pool for tests
#[derive(Args)]
pub struct Generate {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write a random specification in SmartFrog
    Sf(Specification),
    /// Write commands for machines of HTCondor that run many daemons of one kind
    Condor(Condor),
}

#[derive(Args)]
struct Specification {
    /// Which one: the same seed and size give the same specification
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// About how many statements
    #[arg(long, default_value_t = 30)]
    size: usize,
    /// For which semantics it is made; most have a value, some a mistake
    #[arg(long, value_enum, default_value = "core")]
    semantics: Semantics,
    /// Write its files to this folder instead of the first one to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

#[derive(Args)]
struct Condor {
    /// So many startds on each machine
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = few)]
    startds: usize,
    /// So many slots of each startd
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = few)]
    slots: usize,
    /// Each startd has one slot that jobs divide as they need
    #[arg(long)]
    partitionable: bool,
    /// So many schedds on each machine
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = few)]
    schedds: usize,
    /// So many collectors on each machine, which tell the one of the pool
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = few)]
    collectors: usize,
    /// The group that has all of them
    #[arg(long, value_name = "NAME", default_value = "test")]
    group: String,
    /// A member of the group
    #[arg(long, value_name = "NAME")]
    node: Vec<String>,
    /// A parameter that is declared already, such as DAEMON_LIST
    #[arg(long, value_name = "NAME")]
    known: Vec<String>,
}

/// A semantics for which specifications can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Semantics {
    /// As the published semantics defines it
    Core,
    /// Links may look ahead
    Forward,
}

impl Generate {
    /// Writes it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match &self.what {
            What::Sf(specification) => specification.run(console),
            What::Condor(condor) => condor.run(console),
        }
    }
}

impl Condor {
    fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let pool = Overprovisioned {
            startds: self.startds,
            slots: self.slots,
            partitionable: self.partitionable,
            schedds: self.schedds,
            collectors: self.collectors,
            group: self.group.clone(),
            nodes: self.node.clone(),
            known: self.known.clone(),
        };
        for (key, value) in pool.assertions() {
            let owner = "".into();
            let command = Command::Assert { owner, key, value };
            writeln!(console.data(), "{command}")?;
        }
        Ok(Exit::Done)
    }
}

/// More on one machine than HTCondor was ever tried with are a mistake.
fn few(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 0..=10_000) => Ok(number),
        _ => Err("a number up to 10000".to_owned()),
    }
}

impl Specification {
    fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let kind = match self.semantics {
            Semantics::Core => Kind::Core,
            Semantics::Forward => Kind::Forward,
        };
        let specification = specification(kind, self.seed, self.size);
        let Some(out) = &self.out else {
            console
                .data()
                .write_all(specification.files[0].1.as_bytes())?;
            let others: Vec<&str> = specification.files[1..]
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            if !others.is_empty() {
                let others = others.join(", ");
                console.say(&format!(
                    "it includes {others}; `--out DIR` writes all of it"
                ));
            }
            return Ok(Exit::Done);
        };
        for (name, text) in &specification.files {
            let path = console.path(&Path::new(out).join(name).to_string_lossy());
            let folder = path.parent().unwrap_or(Path::new(""));
            std::fs::create_dir_all(folder)
                .and_then(|()| replace(&path, |file| file.write_all(text.as_bytes())))
                .map_err(|error| unwritable(out, &error))?;
        }
        Ok(Exit::Done)
    }
}
