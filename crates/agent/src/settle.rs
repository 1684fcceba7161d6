//! Tells subsystems that their configuration is another one.

use crate::host::Host;
use crate::settings::{Settings, Subsystem};

/// What came of it.
pub enum Settled {
    /// All are told, but those for which nothing is configured.
    Told(Vec<String>),
    /// One could not be told.
    Failed(String),
}

/// Restarts some subsystems, and lets others read their configuration again.
pub fn settle(
    host: &dyn Host,
    settings: &Settings,
    restart: &[String],
    reread: &[String],
) -> Settled {
    let all = settings.restart_all.as_ref();
    let all = all.filter(|all| restart.iter().any(|one| is_same(one, all)));
    let (restart, reread) = match all {
        // It takes the others with it.
        Some(all) => (std::slice::from_ref(all), &[][..]),
        None => (restart, reread),
    };
    let mut without = Vec::new();
    let restart = restart.iter().map(|name| (name, "restart"));
    let reread = reread.iter().map(|name| (name, "reread"));
    for (name, what) in restart.chain(reread) {
        let subsystem = subsystem(settings, name);
        let command = match what {
            "restart" => subsystem.and_then(|one| one.restart.as_ref()),
            _ => subsystem.and_then(|one| one.reread.as_ref()),
        };
        match command {
            None => without.push(format!("no command is configured to {what} `{name}`")),
            Some(command) => {
                if let Err(why) = run(host, settings, command) {
                    return Settled::Failed(format!("to {what} `{name}` failed: {why}"));
                }
            }
        }
    }
    Settled::Told(without)
}

/// Runs a command of the node; says why it did not go well.
pub fn run(host: &dyn Host, settings: &Settings, command: &[String]) -> Result<(), String> {
    let ran = match host.run(command, settings.limit) {
        Ok(ran) => ran,
        Err(error) => return Err(error.to_string()),
    };
    match ran.failure {
        None => Ok(()),
        Some(failure) => {
            let said = match ran.complaint.trim() {
                "" => ran.output.trim(),
                complaint => complaint,
            };
            Err(match said {
                "" => failure,
                said => format!("{failure}: {}", crate::round::cut(said, 2000)),
            })
        }
    }
}

/// What is to be told if nobody knows whom it concerns: everybody, as gently as possible.
pub fn everybody(settings: &Settings) -> (Vec<String>, Vec<String>) {
    let (mut restart, mut reread) = (Vec::new(), Vec::new());
    for (name, subsystem) in &settings.subsystems {
        match subsystem {
            Subsystem {
                reread: Some(_), ..
            } => reread.push(name.clone()),
            Subsystem {
                restart: Some(_), ..
            } => restart.push(name.clone()),
            _ => {}
        }
    }
    (restart, reread)
}

fn subsystem<'s>(settings: &'s Settings, name: &str) -> Option<&'s Subsystem> {
    let mut subsystems = settings.subsystems.iter();
    let found = subsystems.find(|(known, _)| is_same(known, name));
    found.map(|(_, subsystem)| subsystem)
}

/// Names differ by more than their case.
pub fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
