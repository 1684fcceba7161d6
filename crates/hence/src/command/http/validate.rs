//! `hence http validate`, `repair`, `watch`: whether what is served is what was promised.

use std::time::Duration;

use clap::Args;
use hence_api::Trouble;
use hence_closure::closure::Closure;
use hence_closure::host::Machine;
use hence_closure::integrity::Repaired;
use hence_model::diagnostic::Diagnostic;
use hence_store::{LOCKED, Refused};
use serde::Serialize;

use super::{Http, confirm, stop};
use crate::command::fleet::{Format, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// Compare what is on the disk and what is served with what was promised
#[derive(Args)]
pub struct Validate {}

impl Validate {
    /// Compares it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        let drift = closure
            .validate()
            .map_err(|refused| stop(console, refused))?;
        if http.format == Format::Json {
            let told: Vec<Trouble> = drift.iter().map(Trouble::from).collect();
            print_json(console, &told)?;
            return Ok(match drift.is_empty() {
                true => Exit::Done,
                false => Exit::Input,
            });
        }
        for trouble in &drift {
            console.refuse(trouble);
        }
        Ok(match drift.is_empty() {
            true => {
                console.say("all is as promised");
                Exit::Done
            }
            false => {
                console.say("`hence http repair` makes it as promised");
                Exit::Input
            }
        })
    }
}

/// Make again what somebody changed, and say what it was
#[derive(Args)]
pub struct Repair {}

impl Repair {
    /// Makes it again.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut closure = http.open(console)?;
        let request = http.request(console, "", "repair".to_owned());
        let repaired = closure.repair(&request);
        let repaired = repaired.map_err(|refused| stop(console, refused))?;
        let left = closure
            .validate()
            .map_err(|refused| stop(console, refused))?;
        let exit = match left.is_empty() {
            true => Exit::Done,
            false => Exit::World,
        };
        let is_started = repaired == Repaired::Started;
        let (generation, was) = match repaired {
            Repaired::Nothing | Repaired::Started => (None, Vec::new()),
            Repaired::Published { generation, was } => (Some(generation), was),
        };
        if http.format == Format::Json {
            let told = ToldRepair {
                generation,
                started: is_started,
                repaired: was.iter().map(Trouble::from).collect(),
                left: left.iter().map(Trouble::from).collect(),
            };
            print_json(console, &told)?;
            return Ok(exit);
        }
        for trouble in &was {
            console.say(&format!("repaired: {}", trouble.message));
        }
        if is_started {
            console.say("the server was down, and runs again");
        }
        if let Some(generation) = generation {
            console.say(&format!("generation {generation} is what was promised"));
        }
        for trouble in &left {
            console.refuse(trouble);
        }
        if left.is_empty() {
            console.say("all is as promised");
        }
        Ok(exit)
    }
}

/// What became of a repair, as programs read it.
#[derive(Serialize)]
struct ToldRepair {
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// Whether the server was down, and runs again.
    started: bool,
    repaired: Vec<Trouble>,
    left: Vec<Trouble>,
}

/// Validate again and again, and say what is not as promised any more
#[derive(Args)]
pub struct Watch {
    /// How often
    #[arg(long, value_name = "TIME", default_value = "60s")]
    interval: String,
    /// Also make it again
    #[arg(long)]
    repair: bool,
}

impl Watch {
    /// Watches until somebody ends it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let interval = Duration::from_millis(confirm::time(&self.interval)?);
        http.open(console)?;
        let mut known: Vec<Diagnostic> = Vec::new();
        loop {
            let root = http.root(console);
            let validated = Closure::open(&Machine, &root).and_then(|closure| closure.validate());
            let drift = match validated {
                // Another command is at work, so there is nothing to compare with.
                Err(refused) if refused.is(LOCKED) => known.clone(),
                Err(Refused::Because(troubles)) => troubles,
                Err(Refused::Failed(error)) => vec![error.into()],
                Ok(drift) => drift,
            };
            for trouble in drift.iter().filter(|trouble| !known.contains(trouble)) {
                console.refuse(trouble);
            }
            if drift.is_empty() && !known.is_empty() {
                console.say("all is as promised again");
            }
            known = drift;
            // Whatever comes of it is told, and watched on.
            if self.repair
                && !known.is_empty()
                && let Err(Stop::Refused(trouble) | Stop::Failed(trouble)) =
                    (Repair {}).run(http, console)
                && !known.contains(&trouble)
            {
                console.refuse(&trouble);
                known.push(*trouble);
            }
            std::thread::sleep(interval);
        }
    }
}
