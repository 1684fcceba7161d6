//! `hence compile DIR --out DIR`: all files of a folder, on all cores.
//!
//! CF2 files are read first, together with what they import, so that a file that ten thousand machines share
//! is read and parsed once. Then each core compiles one file after another. A file that fails does not stop the
//! others; what is said about files is said in their order, and what many of them say is said once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use hence_cf2::compile::{Batch, on_stack};
use hence_model::diagnostic::{Code, Diagnostic};

use super::compile::Compile;
use super::source::{Language, SPECIFICATIONS, finds_functions, join, sources_below};
use crate::configuration::Configuration;
use crate::console::{Console, Wording};
use crate::outside::Outside;
use crate::result::unwritable;
use crate::{Exit, Stop};

/// Two files would have the same result.
pub const SAME_NAME: Code = Code::new("output.same-name");

/// So many files are read before they are compiled.
const AT_ONCE: usize = 20_000;

/// A file to compile.
struct Task {
    language: Language,
    /// As it is named in messages.
    name: String,
    /// Where the result goes.
    out: String,
}

/// What came of a file.
struct Report {
    number: usize,
    words: Vec<String>,
    outcome: Result<Exit, Stop>,
}

/// Compiles all files of a folder.
pub fn compile(command: &Compile, console: &mut Console<'_>, out: &str) -> Result<Exit, Stop> {
    let outside = command.source.outside(console);
    let tasks = tasks(command, console, &outside, out)?;
    if tasks.iter().any(|task| task.language == Language::Cf2) {
        finds_functions(&outside)?;
    }
    let mut run = Run {
        command,
        outside: &outside,
        total: tasks.len(),
        done: 0,
        worst: Exit::Done,
        said: HashSet::new(),
    };
    for tasks in tasks.chunks(AT_ONCE) {
        run.compile(console, tasks)?;
    }
    console.end_progress();
    Ok(run.worst)
}

/// The files, and the folders for their results.
fn tasks(
    command: &Compile,
    console: &Console<'_>,
    outside: &Outside,
    out: &str,
) -> Result<Vec<Task>, Stop> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut results: HashMap<String, usize> = HashMap::new();
    let below = sources_below(console, &command.input, Some(out), SPECIFICATIONS)?;
    for file in command.source.without_parts(outside, &command.input, below) {
        let name = join(&command.input, &file);
        let language = command.source.language(&name)?;
        let output = Path::new(out).join(&file);
        let output = output.with_extension(command.extension(language));
        let output = output.to_string_lossy().into_owned();
        if let Some(other) = results.insert(output.clone(), tasks.len()) {
            let message = format!(
                "`{}` and `{name}` would both become `{output}`",
                tasks[other].name
            );
            return Err(Stop::Refused(Box::new(
                Diagnostic::error(SAME_NAME, message)
                    .help("rename one of them, or keep them in different folders"),
            )));
        }
        tasks.push(Task {
            language,
            name,
            out: output,
        });
    }
    let mut folders = HashSet::new();
    for task in &tasks {
        let folder = Path::new(&task.out).parent().unwrap_or(Path::new(out));
        let folder = folder.to_string_lossy().into_owned();
        if folders.insert(folder.clone()) {
            fs::create_dir_all(console.path(&folder)).map_err(|e| unwritable(&folder, &e))?;
        }
    }
    Ok(tasks)
}

struct Run<'r> {
    command: &'r Compile,
    outside: &'r Outside,
    total: usize,
    done: usize,
    worst: Exit,
    /// What was said already.
    said: HashSet<String>,
}

impl Run<'_> {
    /// Compiles files, as many as one batch takes at a time.
    fn compile(&mut self, console: &mut Console<'_>, tasks: &[Task]) -> Result<(), Stop> {
        let options = self.command.source.cf2(console);
        let is_cf2 = |task: &&Task| task.language == Language::Cf2;
        let mut rest = tasks;
        while !rest.is_empty() {
            console.progress(&format!("reading {} files", rest.len()));
            let names = rest.iter().filter(is_cf2).map(|task| task.name.as_str());
            let outside = self.outside;
            let batch = on_stack(options.limits, || Batch::read(outside, names, &options));
            // The number of each CF2 file in the batch; the batch may end before the files do.
            let mut numbers = Vec::with_capacity(rest.len());
            let mut in_batch = 0;
            for task in rest {
                if is_cf2(&task) {
                    if in_batch == batch.count() {
                        break;
                    }
                    in_batch += 1;
                }
                numbers.push(in_batch.saturating_sub(1));
            }
            let (now, later) = rest.split_at(numbers.len());
            self.share(console, now, &numbers, &batch, &options)?;
            rest = later;
        }
        Ok(())
    }

    /// Shares files among all cores.
    fn share(
        &mut self,
        console: &mut Console<'_>,
        tasks: &[Task],
        numbers: &[usize],
        batch: &Batch<'_>,
        options: &hence_cf2::Options,
    ) -> Result<(), Stop> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let (reports, incoming) = mpsc::channel();
        let shared = Shared {
            command: self.command,
            outside: self.outside,
            wording: console.wording(),
            directory: console.path(""),
            tasks,
            numbers,
            next: &next,
        };
        std::thread::scope(|scope| {
            for _ in 0..workers.min(tasks.len()) {
                let reports = reports.clone();
                let shared = &shared;
                scope.spawn(move || {
                    on_stack(options.limits, || shared.work(batch, &reports));
                });
            }
            drop(reports);
            let mut early = BTreeMap::new();
            let mut expected = 0;
            let mut stop = None;
            for report in incoming {
                self.done += 1;
                let name = &tasks[report.number].name;
                console.progress(&format!("{} of {}: {name}", self.done, self.total));
                early.insert(report.number, report);
                while let Some(report) = early.remove(&expected) {
                    expected += 1;
                    for words in report.words {
                        if self.said.insert(words.clone()) {
                            console.words(&words);
                        }
                    }
                    match report.outcome {
                        Ok(exit) => self.worst = self.worst.max(exit),
                        Err(trouble) => {
                            // Nobody needs to take another file.
                            next.store(tasks.len(), Ordering::Relaxed);
                            stop = stop.or(Some(trouble));
                        }
                    }
                }
            }
            stop.map_or(Ok(()), Err)
        })
    }
}

/// What all workers know.
struct Shared<'s> {
    command: &'s Compile,
    outside: &'s Outside,
    wording: Wording,
    directory: std::path::PathBuf,
    tasks: &'s [Task],
    /// The number of each CF2 file in its batch.
    numbers: &'s [usize],
    /// The next file that nobody has taken.
    next: &'s AtomicUsize,
}

impl Shared<'_> {
    fn work(&self, batch: &Batch<'_>, reports: &mpsc::Sender<Report>) {
        let mut worker = batch.worker();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = self.tasks.get(number) else {
                return;
            };
            let report = match task.language {
                Language::Cf2 => {
                    let compiled = Box::new(worker.compile(self.numbers[number]));
                    let compiled = Configuration::Cf2(compiled);
                    let report = self.report(number, &compiled);
                    if let Configuration::Cf2(compiled) = compiled {
                        worker.take_back(*compiled);
                    }
                    report
                }
                Language::Puppet => unreachable!("a folder of manifests is one manifest"),
                Language::SmartFrog => {
                    let options = self.command.source.smartfrog();
                    let compiled =
                        hence_smartfrog::compile_file(self.outside, &task.name, &options);
                    self.report(number, &Configuration::SmartFrog(Box::new(compiled)))
                }
            };
            if reports.send(report).is_err() {
                return;
            }
        }
    }

    fn report(&self, number: usize, compiled: &Configuration<'_>) -> Report {
        let Task { name, out, .. } = &self.tasks[number];
        let unit = compiled.unit();
        let word = |diagnostic| self.wording.word(&unit.sources, diagnostic);
        let words = unit.diagnostics.iter().map(word).collect();
        let outcome = match compiled.is_good() {
            false => Ok(self.outside.blame()),
            true => {
                let (source, result) = (self.directory.join(name), self.directory.join(out));
                let written = self
                    .command
                    .write(compiled, self.outside, &source, &result, out);
                written.map(|()| Exit::Done)
            }
        };
        Report {
            number,
            words,
            outcome,
        }
    }
}
