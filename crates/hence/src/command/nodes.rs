//! Many nodes of one site, on all cores.
//!
//! Manifests, modules and data are read and parsed once and shared by all nodes. A node that has no catalog does
//! not stop the others; what is said about nodes is said in their order, and what many of them say is said once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, TryRecvError};
use std::time::Duration;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_puppet::compile::{compile_here, on_stack};
use hence_puppet::{Compiled, Node, Options, Recording, Site};

use super::compile::Compile;
use super::source::{Language, SourceOptions, join};
use crate::configuration::{Catalog, Configuration};
use crate::console::{Console, Wording};
use crate::outside::Outside;
use crate::result::unwritable;
use crate::{Exit, Stop};

/// Nobody said which nodes there are.
pub const NO_NODES: Code = Code::new("input.no-nodes");

/// After so long, somebody who watches wants to hear how far it is.
const MOMENT: Duration = Duration::from_millis(20);

/// `hence compile site.pp --nodes … --out DIR`: the catalogs of many nodes, each in a file of its name.
pub fn compile(
    command: &Compile,
    console: &mut Console<'_>,
    file: &str,
    out: &str,
) -> Result<Exit, Stop> {
    let outside = command.source.outside(console);
    let puppet = &command.source.puppet;
    let limits = command.source.limits();
    let site = puppet.site(console, &outside, file, limits)?;
    let wanted = puppet.nodes.as_deref().unwrap_or("all");
    let nodes = names(&command.source, console, &site, wanted)?;
    fs::create_dir_all(console.path(out)).map_err(|error| unwritable(out, &error))?;
    let directory = console.path("");
    let extension = command.extension(Language::Puppet);
    let write = |name: &str, compiled: Compiled<'_>| {
        let name = join(out, &format!("{name}.{extension}"));
        let source = directory.join(file);
        let result = directory.join(&name);
        let configuration = Configuration::Puppet(Box::new(Catalog {
            compiled,
            site: &site,
            unit: None,
        }));
        command.write(&configuration, &outside, &source, &result, &name)
    };
    let catalogs = Catalogs::new(&command.source, console, &outside, &site).unasked();
    catalogs.each(
        console,
        &nodes,
        &mut HashSet::new(),
        &write,
        &mut |_, ()| {},
    )
}

/// The names of the nodes: the lines of a file, or all that have facts or are named in the manifests.
pub fn names(
    options: &SourceOptions,
    console: &Console<'_>,
    site: &Site<'_>,
    wanted: &str,
) -> Result<Vec<String>, Stop> {
    let puppet = &options.puppet;
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

/// The catalogs of a site, by the names of nodes.
pub struct Catalogs<'s> {
    outside: &'s Outside,
    site: &'s Site<'s>,
    options: Options,
    /// The same, if nobody asks why something is in a catalog.
    unasked: Options,
    facts: Option<&'s str>,
    wording: Wording,
    directory: PathBuf,
}

/// What came of a node.
pub struct Outcome<T> {
    /// What was made of its catalog; if there is none, whose fault that is.
    pub made: Result<T, Exit>,
    /// What is said about it.
    pub words: Vec<String>,
}

impl<'s> Catalogs<'s> {
    /// The catalogs of a site.
    pub fn new(
        source: &'s SourceOptions,
        console: &Console<'_>,
        outside: &'s Outside,
        site: &'s Site<'s>,
    ) -> Self {
        let options = source.puppet.options(source.limits());
        Self {
            outside,
            site,
            options,
            unasked: options,
            facts: source.puppet.facts_dir.as_deref(),
            wording: console.wording(),
            directory: console.path(""),
        }
    }

    /// The same catalogs, of which nobody will ask why something is in them: of those, nothing is recorded.
    fn unasked(mut self) -> Self {
        self.unasked.recording = Recording::Nothing;
        self
    }

    /// Makes something of the catalog of every node, on all cores, and takes it in the order of the nodes. What is
    /// said about them is kept in `said`, and not said again.
    pub fn each<T: Send>(
        &self,
        console: &mut Console<'_>,
        nodes: &[String],
        said: &mut HashSet<String>,
        make: &(dyn Fn(&str, Compiled<'_>) -> Result<T, Stop> + Sync),
        take: &mut dyn FnMut(&str, T),
    ) -> Result<Exit, Stop> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let (reports, incoming) = mpsc::channel();
        // The next node that nobody has taken.
        let next = AtomicUsize::new(0);
        let work = |reports: &mpsc::Sender<_>| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(name) = nodes.get(number) else {
                    return;
                };
                let Outcome { made, words } = self.of(name, |compiled| make(name, compiled));
                if reports.send((number, words, made)).is_err() {
                    return;
                }
            }
        };
        let mut worst = Exit::Done;
        let mut stop = None;
        std::thread::scope(|scope| {
            for _ in 0..workers.min(nodes.len()) {
                let reports = reports.clone();
                let listener = std::thread::current();
                let work = &work;
                scope.spawn(move || {
                    on_stack(self.options.depth, || work(&reports));
                    drop(reports);
                    listener.unpark();
                });
            }
            drop(reports);
            let mut early = BTreeMap::new();
            let mut expected = 0;
            let mut done = 0;
            loop {
                let (number, words, made) = match incoming.try_recv() {
                    Ok(report) => report,
                    // To be woken for each node would take longer than some nodes do.
                    Err(TryRecvError::Empty) => {
                        std::thread::park_timeout(MOMENT);
                        continue;
                    }
                    Err(TryRecvError::Disconnected) => break,
                };
                done += 1;
                let name = &nodes[number];
                console.progress(&format!("{done} of {}: {name}", nodes.len()));
                early.insert(number, (words, made));
                while let Some((words, made)) = early.remove(&expected) {
                    for words in words {
                        if said.insert(words.clone()) {
                            console.words(&words);
                        }
                    }
                    match made {
                        Ok(Ok(made)) => take(&nodes[expected], made),
                        Err(exit) => worst = worst.max(exit),
                        Ok(Err(trouble)) => {
                            // Nobody needs to take another node.
                            next.store(nodes.len(), Ordering::Relaxed);
                            stop = stop.take().or(Some(trouble));
                        }
                    }
                    expected += 1;
                }
            }
        });
        console.end_progress();
        stop.map_or(Ok(worst), Err)
    }

    /// The catalog of one node.
    pub fn of<T>(&self, name: &str, make: impl FnOnce(Compiled<'_>) -> T) -> Outcome<T> {
        let facts = match self.facts(name) {
            Ok(facts) => facts,
            Err(trouble) => {
                let words = self.wording.word(&self.site.unit().sources, &trouble);
                return Outcome {
                    made: Err(self.outside.blame()),
                    words: vec![words],
                };
            }
        };
        let node = Node::new(name, facts);
        // Whoever is told of a mistake is told how it came to that.
        let mut compiled = compile_here(self.site, &node, &self.unasked);
        if !compiled.is_good() && self.unasked.recording != self.options.recording {
            compiled = compile_here(self.site, &node, &self.options);
        }
        let mut words = Vec::new();
        if !compiled.diagnostics.is_empty() {
            let unit = self.site.unit();
            let word = |diagnostic| self.wording.word(&unit.sources, diagnostic);
            words.extend(compiled.diagnostics.iter().map(word));
        }
        let made = match compiled.is_good() {
            true => Ok(make(compiled)),
            false => Err(self.outside.blame()),
        };
        Outcome { made, words }
    }

    /// The facts of a node: a file of its name in the folder of facts.
    fn facts(&self, name: &str) -> Result<hence_puppet::value::Hash, Box<Diagnostic>> {
        let Some(directory) = self.facts else {
            return Ok(Default::default());
        };
        let file = join(directory, &format!("{name}.json"));
        match self.directory.join(&file).exists() {
            true => hence_puppet::facts::read(self.site, self.outside, &file),
            false => Ok(Default::default()),
        }
    }
}
