//! `hence http`: a web site that is asserted, and the server that serves it.

mod change;
mod confirm;
mod init;
mod run;
mod server;
mod show;
mod validate;
pub mod why;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use hence_api::Trouble;
use hence_closure::closure::{Closure, Now, Published};
use hence_closure::host::Machine;
use hence_closure::language;
use hence_closure::words::Subject;
use hence_ledger::entry::Origin;
use hence_ledger::{Admitted, Assertion, Change, Key};
use hence_model::diagnostic::Diagnostic;
use hence_store::{LOCKED, Refused, Request};
use serde::Serialize;

use super::fleet::{self, Format};
use crate::console::Console;
use crate::{Exit, Stop};

/// The variable that names the root of a closure.
pub const ROOT: &str = "HENCE_HTTP_ROOT";

/// Serve what is asserted, with Apache or nginx
#[derive(Args)]
pub struct Http {
    /// The root of the closure; without it `$HENCE_HTTP_ROOT`, or `hence-http`
    #[arg(long, value_name = "ROOT", global = true)]
    root: Option<String>,
    /// On whose behalf: whose assertions these are; without it, those of `operator`
    #[arg(long, value_name = "NAME", global = true)]
    owner: Option<String>,
    /// Who does it; without it `$HENCE_AUTHOR`, or `$USER`
    #[arg(long, value_name = "NAME", global = true)]
    author: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text", global = true)]
    format: Format,
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Init(init::Init),
    Start(server::Start),
    Stop(server::Halt),
    Status(server::Status),
    Recover(server::Recover),
    /// Say that something is to be served: `assert host foo.test`
    Assert(change::Words),
    /// Say that something is not to be served any more: `retract host foo.test`
    Retract(change::Words),
    /// Retract all that is said about a URL and what is below it: `retract-under foo.test /old`
    RetractUnder(change::Words),
    Apply(change::Apply),
    Post(change::Post),
    /// Post again what was posted there: `refresh http://foo.test/`
    Refresh(change::Words),
    /// Let a host have what another has: `copy host foo.test to bar.test`
    Copy(change::Words),
    Become(change::Become),
    /// Take a site away that a host became: `retire foo.test`
    Retire(change::Words),
    Run(run::Run),
    Prompt(run::Prompt),
    Plan(change::Plan),
    Discard(change::Discard),
    Commit(change::Commit),
    Confirm(confirm::Confirm),
    #[command(hide = true)]
    Expire(confirm::Expire),
    Undo(change::Undo),
    Rollback(change::Rollback),
    Show(show::Show),
    History(show::History),
    Diff(show::Diff),
    Why(why::Why),
    Validate(validate::Validate),
    Repair(validate::Repair),
    Watch(validate::Watch),
}

impl Http {
    /// Runs it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        self.perform(&self.command, console)
    }

    fn perform(&self, command: &Verb, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match command {
            Verb::Init(command) => command.run(self, console),
            Verb::Start(command) => command.run(self, console),
            Verb::Stop(command) => command.run(self, console),
            Verb::Status(command) => command.run(self, console),
            Verb::Recover(command) => command.run(self, console),
            Verb::Assert(words) => words.run("assert", self, console),
            Verb::Retract(words) => words.run("retract", self, console),
            Verb::RetractUnder(words) => words.run("retract-under", self, console),
            Verb::Apply(command) => command.run(self, console),
            Verb::Post(command) => command.run(self, console),
            Verb::Refresh(words) => words.run("refresh", self, console),
            Verb::Copy(words) => words.run("copy", self, console),
            Verb::Become(command) => command.run(self, console),
            Verb::Retire(words) => words.run("retire", self, console),
            Verb::Run(command) => command.run(self, console),
            Verb::Prompt(command) => command.run(self, console),
            Verb::Plan(command) => command.run(self, console),
            Verb::Discard(command) => command.run(self, console),
            Verb::Commit(command) => command.run(self, console),
            Verb::Confirm(command) => command.run(self, console),
            Verb::Expire(command) => command.run(self, console),
            Verb::Undo(command) => command.run(self, console),
            Verb::Rollback(command) => command.run(self, console),
            Verb::Show(command) => command.run(self, console),
            Verb::History(command) => command.run(self, console),
            Verb::Diff(command) => command.run(self, console),
            Verb::Why(command) => command.run(self, console),
            Verb::Validate(command) => command.run(self, console),
            Verb::Repair(command) => command.run(self, console),
            Verb::Watch(command) => command.run(self, console),
        }
    }

    fn root(&self, console: &Console<'_>) -> PathBuf {
        let root = self.root.clone();
        let root = root.or_else(|| console.variable(ROOT));
        console.path(root.as_deref().unwrap_or("hence-http"))
    }

    fn open(&self, console: &mut Console<'_>) -> Result<Closure<'static>, Stop> {
        let root = self.root(console);
        let opened = patiently(|| Closure::open(&Machine, &root));
        let mut closure = opened.map_err(|refused| stop(console, refused))?;
        confirm::expire(&mut closure, console);
        Ok(closure)
    }

    fn owner(&self) -> &str {
        self.owner.as_deref().unwrap_or("operator")
    }

    fn request(&self, console: &Console<'_>, message: &str, text: String) -> Request {
        Request {
            author: fleet::author(console, self.author.as_deref()),
            owner: self.owner().to_owned(),
            time: console.now(),
            message: message.to_owned(),
            origin: Origin::Command(text),
            objects: Vec::new(),
            if_version: None,
        }
    }
}

/// So long the command of somebody else is waited for, and so often it is looked whether it is done.
const PATIENCE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(20);

/// Opens something when whoever has it open is done: commands are short, and whose comes second is no mistake.
fn patiently<T>(open: impl Fn() -> Result<T, Refused>) -> Result<T, Refused> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(refused) if refused.is(LOCKED) && begun.elapsed() < PATIENCE => {
                std::thread::sleep(INTERVAL);
            }
            opened => return opened,
        }
    }
}

/// Says all that is in the way, in the words of the language where the ledger speaks of keys.
fn stop(console: &mut Console<'_>, refused: Refused) -> Stop {
    let refused = match refused {
        Refused::Because(mut troubles) => {
            for trouble in &mut troubles {
                trouble.message = console.as_given(&worded(&trouble.message));
                for help in &mut trouble.help {
                    *help = worded(help);
                }
                let path = trouble.path.take();
                trouble.path = path.map(|path| worded(&format!("`{path}`")).replace('`', ""));
            }
            Refused::Because(troubles)
        }
        failed => failed,
    };
    fleet::stop(console, refused)
}

/// A text with the keys in it as words, and with the versions of the ledger as what they are here: generations.
fn worded(text: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(number, piece)| {
        if number % 2 == 0 {
            return piece.replace("version", "generation");
        }
        match Key::read(piece).as_ref().and_then(Subject::of) {
            Some(subject) => subject.to_string(),
            None => piece.replace("hence undo ", "hence http undo "),
        }
    });
    let pieces: Vec<String> = pieces.collect();
    pieces.join("`")
}

/// What became of a change, as programs read it.
#[derive(Serialize)]
struct ToldOutcome {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// How many requests were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    probes: Option<usize>,
    changes: Vec<ToldChange>,
    /// What somebody should know about it, or why it is served as before.
    diagnostics: Vec<Trouble>,
}

impl ToldOutcome {
    fn new(published: &Published) -> Self {
        let told = |outcome, generation, changes: &[Change], diagnostics: &[Diagnostic]| Self {
            outcome,
            generation,
            probes: None,
            changes: changes.iter().map(ToldChange::new).collect(),
            diagnostics: diagnostics.iter().map(Trouble::from).collect(),
        };
        match published {
            Published::Nothing => told("nothing", None, &[], &[]),
            Published::New {
                generation,
                now,
                done,
                warnings,
            } => {
                let (outcome, probes) = match now {
                    Now::Served { probes } => ("served", Some(*probes)),
                    Now::Stopped => ("ready", None),
                    Now::Silent => ("silent", None),
                };
                Self {
                    probes,
                    ..told(outcome, Some(*generation), &done.changes, warnings)
                }
            }
            Published::RolledBack { failed, why } => told("rolled-back", Some(*failed), &[], why),
        }
    }
}

/// Says what became of a change.
fn tell(http: &Http, console: &mut Console<'_>, published: &Published) -> Result<Exit, Stop> {
    if http.format == Format::Json {
        fleet::print_json(console, &ToldOutcome::new(published))?;
        return Ok(match published {
            Published::RolledBack { .. } => Exit::World,
            _ => Exit::Done,
        });
    }
    match published {
        Published::Nothing => console.say("nothing changes"),
        Published::New {
            generation,
            now,
            done,
            warnings,
        } => {
            changes(console, &done.changes)?;
            cost(console, done);
            warn(console, warnings);
            let back = format!("`hence http undo {generation}` takes it back");
            let (said, next) = match now {
                Now::Served { probes } => (served(*generation, *probes), back),
                Now::Stopped => (
                    format!("generation {generation} is ready, and the server does not run"),
                    format!(
                        "`hence http start` starts it, `hence http undo {generation}` takes the change back"
                    ),
                ),
                Now::Silent => (silent(*generation), back),
            };
            console.say(&said);
            console.say(&next);
        }
        Published::RolledBack { failed, why } => {
            for trouble in why {
                console.refuse(trouble);
            }
            console.say(&format!(
                "generation {failed} broke its promises, so all is served as before"
            ));
            return Ok(Exit::World);
        }
    }
    Ok(Exit::Done)
}

/// That a generation answers, and how often it was asked.
fn served(generation: u64, probes: usize) -> String {
    let asked = match probes {
        0 => "",
        1 => ": 1 request was answered as promised",
        probes => &format!(": {probes} requests were answered as promised"),
    };
    format!("generation {generation} is served{asked}")
}

/// That a generation has nowhere to answer.
fn silent(generation: u64) -> String {
    format!("generation {generation} listens nowhere, so nothing is served and no server runs")
}

/// A change as programs read it, in the words of the language.
#[derive(Serialize)]
struct ToldChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl ToldChange {
    fn new(change: &Change) -> Self {
        let said = |assertion: &Option<Assertion>| {
            let value = &assertion.as_ref()?.value;
            Some(language::said(&change.key, value))
        };
        Self {
            before: said(&change.before),
            after: said(&change.after),
        }
    }
}

/// Prints what changes: a line each, or all of it for programs.
fn print_changes(
    console: &mut Console<'_>,
    format: Format,
    changed: &[Change],
) -> Result<(), Stop> {
    match format {
        Format::Text => changes(console, changed),
        Format::Json => {
            let told: Vec<ToldChange> = changed.iter().map(ToldChange::new).collect();
            fleet::print_json(console, &told)
        }
    }
}

/// Prints what changes, a line each.
fn changes(console: &mut Console<'_>, changes: &[Change]) -> Result<(), Stop> {
    for change in changes {
        if let Some(before) = &change.before {
            writeln!(
                console.data(),
                "- {}",
                language::said(&change.key, &before.value)
            )?;
        }
        if let Some(after) = &change.after {
            writeln!(
                console.data(),
                "+ {}",
                language::said(&change.key, &after.value)
            )?;
        }
    }
    Ok(())
}

/// Says what somebody should know who did nothing wrong.
fn warn(console: &mut Console<'_>, warnings: &[Diagnostic]) {
    for warning in warnings {
        console.refuse(warning);
    }
}

/// Says what else it does: to others, and to what they asserted.
fn cost(console: &mut Console<'_>, done: &Admitted) {
    for (owner, key) in &done.lost {
        console.say(&worded(&format!("  taken from `{owner}`: `{key}`")));
    }
    for dormant in &done.dormant {
        let missing = dormant.missing.iter().map(|key| format!("`{key}`"));
        let missing: Vec<String> = missing.collect();
        console.say(&format!(
            "  without effect: {}, as {} is not asserted",
            dormant.key,
            missing.join(", ")
        ));
    }
}
