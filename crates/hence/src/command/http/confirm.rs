//! `hence http confirm`: keeps a commit that would be taken back by itself.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use hence_closure::closure::{Closure, Published};
use hence_closure::host::{Host, Machine};
use hence_closure::words::FORM;
use hence_ledger::Fault;
use hence_store::Refused;
use serde::Serialize;

use super::{Http, stop};
use crate::command::fleet::{Format, faulty, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// Keep a commit that was made with `--confirm-within`
#[derive(Args)]
pub struct Confirm {}

/// Which generation was confirmed, if one waited for it, as programs read it.
#[derive(Serialize)]
struct Confirmed {
    confirmed: Option<u64>,
}

impl Confirm {
    /// Keeps it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        let waits = closure.confirm(http.owner());
        let waits = waits.map_err(|refused| stop(console, refused))?;
        if http.format == Format::Json {
            let confirmed = waits.as_ref().map(|waits| waits.generation);
            print_json(console, &Confirmed { confirmed })?;
        }
        Ok(match waits {
            Some(waits) => {
                console.say(&format!("generation {} is confirmed", waits.generation));
                Exit::Done
            }
            // Whoever comes too late has to know.
            None => {
                console.say("nothing waits to be confirmed");
                Exit::Input
            }
        })
    }
}

/// Take a commit back when its time is over, unless it was confirmed
#[derive(Args)]
pub struct Expire {}

/// How often somebody looks whether it was confirmed.
const INTERVAL: Duration = Duration::from_millis(200);

impl Expire {
    /// Waits, and takes it back.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let file = http.root(console).join("unconfirmed");
        // Others work on the ledger meanwhile, so it is not opened before the time is over.
        while let Ok(Some(text)) = Machine.read(&file) {
            let text = String::from_utf8_lossy(&text).into_owned();
            let deadline = text.split_whitespace().last();
            let deadline = deadline.and_then(|word| word.parse::<u64>().ok());
            let is_over = deadline.is_none_or(|deadline| deadline <= console.now());
            // Opening it is enough. If another command has it open for long, that one was faster, or is asked again.
            if is_over && http.open(console).is_ok() {
                break;
            }
            std::thread::sleep(INTERVAL);
        }
        Ok(Exit::Done)
    }
}

/// Lets another process wait for the end of the time.
pub fn wait(root: &Path) {
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut command = Command::new(program);
    command.args(["http", "--root"]).arg(root).arg("expire");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // If it cannot be started, the next command takes the commit back.
    let _ = command.spawn();
}

/// Takes back what was not confirmed in time, and says so. If that fails, it is told, and stands in nobody's way: the next
/// command tries it again.
pub fn expire(closure: &mut Closure<'_>, console: &mut Console<'_>) {
    match closure.expire(console.now()) {
        Ok(None) => {}
        Ok(Some(Published::RolledBack { why, .. })) => {
            for trouble in &why {
                console.refuse(trouble);
            }
            console.say(
                "a commit was not confirmed in time, and what was served before it breaks its promises, so it stays",
            );
        }
        Ok(Some(_)) => console.say("a commit was not confirmed in time, so it was taken back"),
        Err(refused) => {
            let troubles = match refused {
                Refused::Because(troubles) => troubles,
                Refused::Failed(error) => vec![error.into()],
            };
            for trouble in &troubles {
                console.refuse(trouble);
            }
            console.say(
                "a commit was not confirmed in time, and cannot be taken back; `hence http confirm` keeps it",
            );
        }
    }
}

/// A time such as `30s`, `10m` or `1h`, in milliseconds.
pub fn time(text: &str) -> Result<u64, Stop> {
    let digits = text.trim_end_matches(['s', 'm', 'h']);
    let unit = match &text[digits.len()..] {
        "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let time = unit.and_then(|unit| digits.parse::<u64>().ok()?.checked_mul(unit));
    time.filter(|time| *time < 1 << 40).ok_or_else(|| {
        let fault = Fault::new(format!("`{text}` is no time")).code(FORM);
        faulty(fault.help("such as `30s`, `10m` or `1h`"))
    })
}
