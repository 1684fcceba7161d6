//! `hence http validate`, `repair`, `watch`: whether what is served is what was promised.

use std::time::Duration;

use clap::Args;
use hence_api::Trouble;
use hence_closure::closure::Closure;
use hence_closure::host::Machine;
use hence_closure::integrity::Repaired;

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
        if let Repaired::Published { generation, was } =
            repaired.map_err(|refused| stop(console, refused))?
        {
            for trouble in &was {
                console.say(&format!("repaired: {}", trouble.message));
            }
            console.say(&format!("generation {generation} is what was promised"));
        }
        let left = closure
            .validate()
            .map_err(|refused| stop(console, refused))?;
        for trouble in &left {
            console.refuse(trouble);
        }
        Ok(match left.is_empty() {
            true => {
                console.say("all is as promised");
                Exit::Done
            }
            false => Exit::World,
        })
    }
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
        let mut known = Vec::new();
        loop {
            // Another command may be at work; then there is nothing to compare with.
            if let Ok(closure) = Closure::open(&Machine, &http.root(console)) {
                let drift = closure.validate();
                let drift = drift.map_err(|refused| stop(console, refused))?;
                drop(closure);
                if drift != known {
                    for trouble in drift.iter().filter(|trouble| !known.contains(trouble)) {
                        console.refuse(trouble);
                    }
                    if drift.is_empty() {
                        console.say("all is as promised again");
                    }
                    if self.repair && !drift.is_empty() {
                        Repair {}.run(http, console)?;
                    }
                }
                known = if self.repair { Vec::new() } else { drift };
            }
            std::thread::sleep(interval);
        }
    }
}
