//! `hence during`: runs a command while nodes run a snapshot, and gives them back what they had.
//!
//! It is a rollout of the snapshot that is rolled back at the end, so what is asserted is not touched, and if this process is
//! killed, `hence rollout roll-back` ends it.

use std::process::{self, Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use hence_api::words::NewRollout;
use hence_model::diagnostic::Diagnostic;
use hence_service::Service;
use hence_service::rollout::Order;
use hence_store::Receipt;
use rustix::process::{Pid, Signal, kill_process};

use super::rollout::{Terms, later, told};
use super::{Changing, many, stop, version};
use crate::command::plugin::{CANNOT_RUN, end};
use crate::console::Console;
use crate::{Exit, Stop, signals};

/// Run a command while nodes run a snapshot, and give them back what they had
#[derive(Args)]
pub struct During {
    /// The name of the snapshot, or a version
    snapshot: String,
    #[command(flatten)]
    terms: Terms,
    #[command(flatten)]
    changing: Changing,
    /// The command, run when the nodes are ready; it ends as the command does
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// So often the command is looked at.
const PAUSE: Duration = Duration::from_millis(50);

impl During {
    /// Runs it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.changing.ledger.open(console)?;
        let target = version(&service, &self.snapshot);
        let target = target.map_err(|refused| stop(console, refused))?;
        let asked = Arc::new(AtomicBool::new(false));
        let heard = asked.clone();
        signals::heed(move || heard.store(true, Ordering::Relaxed));
        let wanted = NewRollout {
            target: Some(target),
            ..self.terms.rollout()
        };
        let words = format!("during {}: {}", self.snapshot, self.command.join(" "));
        let request = self.changing.request(console, &words);
        let begun = service.begin_rollout(&request, &wanted);
        let begun = begun.map_err(|refused| stop(console, refused))?;
        if let Receipt::Nothing = begun {
            console.say(&format!("nodes are to run `{}` already", self.snapshot));
            return self.command(console, &asked);
        }
        let ready = self.ready(console, service, &asked);
        let ended = match ready {
            Ok(true) => self.command(console, &asked),
            Ok(false) => Ok(Exit::Input),
            Err(stop) => Err(stop),
        };
        self.restore(console)?;
        ended
    }

    /// Whether the nodes run the snapshot.
    fn ready(
        &self,
        console: &mut Console<'_>,
        mut service: Service,
        asked: &AtomicBool,
    ) -> Result<bool, Stop> {
        let mut said = None;
        loop {
            let told = told(console, &service)?;
            let stages = told.stages.iter();
            let (meant, ready) = stages.fold((0, 0), |(meant, ready), stage| {
                (meant + stage.changed, ready + stage.succeeded)
            });
            if said != Some((meant, ready)) {
                let nodes = many(meant as usize, "node");
                console.say(&format!("{ready} of {nodes} run `{}`", self.snapshot));
                said = Some((meant, ready));
            }
            match &told.status[..] {
                "done" => return Ok(true),
                "running" if !asked.load(Ordering::Relaxed) => {
                    service = later(console, &self.changing.ledger, service)?;
                }
                status => {
                    let why = told.why.as_deref().unwrap_or("it was ended");
                    console.say(&format!("the command is not run ({status}): {why}"));
                    return Ok(false);
                }
            }
        }
    }

    fn command(&self, console: &mut Console<'_>, asked: &AtomicBool) -> Result<Exit, Stop> {
        let name = &self.command[0];
        let mut command = process::Command::new(name);
        command.args(&self.command[1..]);
        if let Some(directory) = console.directory() {
            command.current_dir(directory);
        }
        command.env("HENCE_SNAPSHOT", &self.snapshot);
        let status = command.spawn().and_then(|child| ended(child, asked));
        match status {
            Ok(status) => Ok(end(console, name, status)),
            Err(error) => {
                let message = format!("`{name}` cannot be run: {error}");
                Err(Stop::Failed(Box::new(Diagnostic::error(
                    CANNOT_RUN, message,
                ))))
            }
        }
    }

    /// Gives nodes back what they had, and waits until they say so, as long as they may take.
    fn restore(&self, console: &mut Console<'_>) -> Result<(), Stop> {
        let mut service = self.changing.ledger.open(console)?;
        let request = self.changing.request(console, "rollout roll-back");
        let done = service.order_rollout(&request, Order::RollBack);
        done.map_err(|refused| stop(console, refused))?;
        let begun = Instant::now();
        let limit = self.terms.within();
        let silent = loop {
            let silent = told(console, &service)?.returning;
            if silent.is_empty() || begun.elapsed() >= limit {
                break silent.len();
            }
            service = later(console, &self.changing.ledger, service)?;
        };
        console.say(&match silent {
            0 => "nodes run again what they had".to_owned(),
            silent => {
                let nodes = many(silent, "node");
                format!("{nodes} did not say yet that they run again what they had")
            }
        });
        Ok(())
    }
}

/// Waits for the end of a process, and hands on what it is asked.
fn ended(mut child: Child, asked: &AtomicBool) -> std::io::Result<ExitStatus> {
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if asked.load(Ordering::Relaxed) && !told {
            told = true;
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        std::thread::sleep(PAUSE);
    }
}
