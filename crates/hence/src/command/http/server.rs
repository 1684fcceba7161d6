//! `hence http start`, `stop`, `status`, `recover`: the server of a closure.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use hence_closure::address::Endpoint;
use hence_closure::checks;
use hence_closure::closure::{Closure, failed};
use hence_closure::part::Part;
use hence_closure::publish;
use hence_ledger::Hash;
use hence_store::Refused;
use serde::Serialize;

use super::{Http, silent, stop, warn};
use crate::command::fleet::{Format, many, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// Whether the server runs, and with what, as programs read it.
#[derive(Serialize)]
struct Runs {
    process: Option<u32>,
    generation: u64,
    listen: Vec<String>,
}

impl Runs {
    fn new(closure: &Closure<'_>) -> Result<Self, Refused> {
        let listen = closure.endpoints().into_iter();
        Ok(Self {
            process: closure.process()?,
            generation: closure.current()?.unwrap_or(0),
            listen: listen.map(|endpoint| endpoint.to_string()).collect(),
        })
    }
}

/// Says what the server does now: in words, or all of it for programs.
fn tell(
    http: &Http,
    console: &mut Console<'_>,
    closure: &Closure<'_>,
    words: impl FnOnce(&Runs) -> String,
) -> Result<Exit, Stop> {
    let runs = Runs::new(closure).map_err(|refused| stop(console, refused))?;
    match http.format {
        Format::Text => console.say(&words(&runs)),
        Format::Json => print_json(console, &runs)?,
    }
    Ok(Exit::Done)
}

/// Start the server, with what is promised
#[derive(Args)]
pub struct Start {}

impl Start {
    /// Starts it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut closure = http.open(console)?;
        if closure.endpoints().is_empty() {
            return Err(stop(console, publish::nowhere().into()));
        }
        closure.start().map_err(|refused| stop(console, refused))?;
        tell(http, console, &closure, |runs| {
            let (generation, at) = (runs.generation, runs.listen.join(", "));
            format!("generation {generation} is served at {at}")
        })
    }
}

/// Stop the server
#[derive(Args)]
pub struct Halt {}

impl Halt {
    /// Stops it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut closure = http.open(console)?;
        closure.stop().map_err(|refused| stop(console, refused))?;
        tell(http, console, &closure, |_| {
            "the server does not run any more".to_owned()
        })
    }
}

/// What is served, as programs read it.
#[derive(Serialize)]
struct Told {
    server: &'static str,
    process: Option<u32>,
    generation: u64,
    listen: Vec<String>,
    hosts: Vec<String>,
    /// By owner, what is the same for equal sets.
    sets: BTreeMap<String, Hash>,
}

/// Say whether the server runs, and what is served
#[derive(Args)]
pub struct Status {}

impl Status {
    /// Says it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        let process = closure
            .process()
            .map_err(|refused| stop(console, refused))?;
        let current = closure
            .current()
            .map_err(|refused| stop(console, refused))?;
        let site = closure.site();
        let settings = closure.settings();
        let state = closure.repository().state();
        let owners = state.iter().map(|(_, assertion)| &assertion.owner);
        let owners: BTreeSet<_> = owners.collect();
        let sets = owners
            .into_iter()
            .map(|owner| (owner, Part::of(state, owner)));
        let sets: Vec<_> = sets.collect();
        let listen = |endpoint: &Endpoint| match site.secured.contains(endpoint) {
            true => format!("{endpoint} tls"),
            false => endpoint.to_string(),
        };
        if http.format == Format::Json {
            let told = Told {
                server: settings.server.word(),
                process,
                generation: current.unwrap_or(0),
                listen: site.endpoints.iter().map(listen).collect(),
                hosts: site.hosts.keys().map(ToString::to_string).collect(),
                sets: sets
                    .iter()
                    .map(|(owner, set)| (owner.to_string(), set.identity()))
                    .collect(),
            };
            print_json(console, &told)?;
        }
        let mut lines = vec![format!("server      {}", settings.server.word())];
        lines.push(match process {
            Some(process) => format!("process     {process}"),
            None => "process     none: it does not run".to_owned(),
        });
        lines.push(format!("generation  {}", current.unwrap_or(0)));
        for endpoint in &site.endpoints {
            lines.push(format!("listen      {}", listen(endpoint)));
        }
        for name in site.hosts.keys() {
            lines.push(format!("host        {name}"));
        }
        for (owner, set) in &sets {
            let (count, identity) = (many(set.len(), "assertion"), set.identity());
            lines.push(format!("set         {identity}  {count} of `{owner}`"));
        }
        for line in lines.iter().filter(|_| http.format == Format::Text) {
            writeln!(console.data(), "{line}")?;
        }
        let ageing = checks::ageing(&site, closure.certificates(), console.now());
        let ageing = ageing.map_err(|error| stop(console, failed(error)))?;
        warn(console, &ageing);
        Ok(match process {
            Some(_) => Exit::Done,
            None => Exit::Input,
        })
    }
}

/// Make what is served what is promised, whatever happened: after a crash, or a power cut
#[derive(Args)]
pub struct Recover {}

impl Recover {
    /// Makes it so.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut closure = http.open(console)?;
        closure
            .recover()
            .map_err(|refused| stop(console, refused))?;
        tell(http, console, &closure, |runs| {
            let generation = runs.generation;
            match runs.process {
                Some(_) => format!("generation {generation} is served"),
                None if runs.listen.is_empty() => silent(generation),
                None => format!("generation {generation} is ready, and the server does not run"),
            }
        })
    }
}
