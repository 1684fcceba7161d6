//! `hence compile site.pp --nodes … --out DIR`: the catalogs of many nodes, on all cores.
//!
//! Manifests, modules and data are read and parsed once and shared by all nodes. A node that has no catalog does
//! not stop the others; what is said about nodes is said in their order, and what many of them say is said once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_puppet::compile::{compile_here, on_stack};
use hence_puppet::{Node, Options, Recording, Site};

use super::compile::Compile;
use super::source::{Language, join};
use crate::configuration::{Catalog, Configuration};
use crate::console::{Console, Wording};
use crate::disk::unwritable;
use crate::outside::Outside;
use crate::{Exit, Stop};

/// Nobody said which nodes there are.
pub const NO_NODES: Code = Code::new("input.no-nodes");

/// What came of a node.
struct Report {
    number: usize,
    words: Vec<String>,
    outcome: Result<Exit, Stop>,
}

/// Compiles the catalogs of many nodes, each into a file of its name.
pub fn compile(command: &Compile, console: &mut Console<'_>, out: &str) -> Result<Exit, Stop> {
    let outside = command.source.outside(console);
    let puppet = &command.source.puppet;
    let limits = command.source.limits();
    let site = Site::new(&outside, puppet.layout(&command.input), limits);
    let nodes = nodes(command, console, &site)?;
    fs::create_dir_all(console.path(out)).map_err(|error| unwritable(out, &error))?;
    let options = puppet.options(limits.depth);
    let shared = Shared {
        command,
        outside: &outside,
        site: &site,
        options,
        unrecorded: Options {
            recording: Recording::Nothing,
            ..options
        },
        wording: console.wording(),
        directory: console.path(""),
        out,
        nodes: &nodes,
        next: AtomicUsize::new(0),
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (reports, incoming) = mpsc::channel();
    let mut worst = Exit::Done;
    let mut said = HashSet::new();
    let result = std::thread::scope(|scope| {
        for _ in 0..workers.min(nodes.len()) {
            let reports = reports.clone();
            let shared = &shared;
            scope.spawn(move || on_stack(shared.options.depth, || shared.work(&reports)));
        }
        drop(reports);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        let mut stop = None;
        for (done, report) in incoming.into_iter().enumerate() {
            let name = &nodes[report.number];
            console.progress(&format!("{} of {}: {name}", done + 1, nodes.len()));
            early.insert(report.number, report);
            while let Some(report) = early.remove(&expected) {
                expected += 1;
                for words in report.words {
                    if said.insert(words.clone()) {
                        console.words(&words);
                    }
                }
                match report.outcome {
                    Ok(exit) => worst = worst.max(exit),
                    Err(trouble) => {
                        // Nobody needs to take another node.
                        shared.next.store(nodes.len(), Ordering::Relaxed);
                        stop = stop.or(Some(trouble));
                    }
                }
            }
        }
        stop.map_or(Ok(()), Err)
    });
    console.end_progress();
    result.map(|()| worst)
}

/// The names of the nodes: the lines of a file, or all that have facts or are named in the manifests.
fn nodes(command: &Compile, console: &Console<'_>, site: &Site<'_>) -> Result<Vec<String>, Stop> {
    let puppet = &command.source.puppet;
    let wanted = puppet.nodes.as_deref().unwrap_or("all");
    let mut names: BTreeSet<String> = BTreeSet::new();
    if wanted == "all" {
        if let Some(directory) = &puppet.facts_dir {
            let files = hence_puppet::World::list(site.world, directory).into_iter();
            names.extend(files.filter_map(|file| Some(file.strip_suffix(".json")?.to_owned())));
        }
        names.extend(hence_puppet::compile::named_nodes(site).map_err(Stop::Refused)?);
    } else {
        let text = fs::read_to_string(console.path(wanted)).map_err(|error| {
            let message = format!("the list of nodes `{wanted}` cannot be read: {error}");
            Stop::Refused(Box::new(Diagnostic::error(NO_NODES, message)))
        })?;
        let lines = text.lines().map(str::trim);
        names.extend(
            lines
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned),
        );
    }
    if names.is_empty() {
        let message = "there is no node to compile for".to_owned();
        return Err(Stop::Refused(Box::new(
            Diagnostic::error(NO_NODES, message)
                .help("`--nodes FILE` names them, one on each line")
                .help("`--nodes all` takes those that have a file in `--facts-dir`, or a definition by name"),
        )));
    }
    Ok(names.into_iter().collect())
}

/// What all workers know.
struct Shared<'s> {
    command: &'s Compile,
    outside: &'s Outside,
    site: &'s Site<'s>,
    options: Options,
    /// The same, for a catalog about which nobody asks.
    unrecorded: Options,
    wording: Wording,
    directory: std::path::PathBuf,
    out: &'s str,
    nodes: &'s [String],
    /// The next node that nobody has taken.
    next: AtomicUsize,
}

impl Shared<'_> {
    fn work(&self, reports: &mpsc::Sender<Report>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = self.nodes.get(number) else {
                return;
            };
            if reports.send(self.report(number, name)).is_err() {
                return;
            }
        }
    }

    fn report(&self, number: usize, name: &str) -> Report {
        let mut words = Vec::new();
        let outcome = self.one(name, &mut words);
        Report {
            number,
            words,
            outcome,
        }
    }

    fn one(&self, name: &str, words: &mut Vec<String>) -> Result<Exit, Stop> {
        let facts = match self.facts(name) {
            Ok(facts) => facts,
            Err(trouble) => {
                words.push(self.wording.word(&self.site.unit().sources, &trouble));
                return Ok(self.outside.blame());
            }
        };
        let node = Node::new(name, facts);
        // Nobody asks why something is in a file; but whoever is told of a mistake is told how it came to that.
        let mut compiled = compile_here(self.site, &node, &self.unrecorded);
        if !compiled.is_good() {
            compiled = compile_here(self.site, &node, &self.options);
        }
        if !compiled.diagnostics.is_empty() {
            let unit = self.site.unit();
            let word = |diagnostic| self.wording.word(&unit.sources, diagnostic);
            words.extend(compiled.diagnostics.iter().map(word));
        }
        if !compiled.is_good() {
            return Ok(self.outside.blame());
        }
        let extension = self.command.extension(Language::Puppet);
        let file = join(self.out, &format!("{name}.{extension}"));
        let source = self.directory.join(&self.command.input);
        let result = self.directory.join(&file);
        let configuration = Configuration::Puppet(Box::new(Catalog {
            compiled,
            site: self.site,
            unit: None,
        }));
        let written = self
            .command
            .write(&configuration, self.outside, &source, &result, &file);
        written.map(|()| Exit::Done)
    }

    /// The facts of a node: a file of its name in the folder of facts.
    fn facts(&self, name: &str) -> Result<hence_puppet::value::Hash, Box<Diagnostic>> {
        let Some(directory) = &self.command.source.puppet.facts_dir else {
            return Ok(Default::default());
        };
        let file = join(directory, &format!("{name}.json"));
        match self.directory.join(&file).exists() {
            true => hence_puppet::facts::read(self.site, self.outside, &file),
            false => Ok(Default::default()),
        }
    }
}
