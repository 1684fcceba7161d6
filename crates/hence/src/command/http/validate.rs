//! `hence http validate`, `repair`: whether what is served is what was promised.

use clap::Args;

use super::{Http, stop};
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
        let repaired = closure.repair().map_err(|refused| stop(console, refused))?;
        for trouble in &repaired {
            console.say(&format!("repaired: {}", trouble.message));
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
