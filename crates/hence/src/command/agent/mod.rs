//! `hence agent`: the loop on a node.

mod local;
pub mod settings;

use std::path::Path;
use std::time::Duration;

use clap::Args;
use hence_agent::{Agent as Loop, End, Ended, Facts, Host, Identity, Machine, Settings};
use hence_api::{Client, Failure, Join, Unread};
use hence_cf2::compile_file;
use hence_model::diagnostic::{Code, Diagnostic};

use super::fleet::failed;
use crate::console::Console;
use crate::disk::Disk;
use crate::{Exit, Stop, readiness, signals};
use local::Here;
use settings::Configured;

/// The node has no token yet, or that of another.
pub const NOT_ENROLLED: Code = Code::new("agent.not-enrolled");
/// A word to join with cannot be read.
pub const JOIN: Code = Code::new("agent.join");
/// A version does not run; the one before it does.
pub const ROLLED_BACK: Code = Code::new("agent.rolled-back");
/// The agent cannot do its work.
pub const FAILED: Code = Code::new("agent.failed");

/// Where settings are, if nobody says.
pub const SETTINGS: &str = "/etc/hence/agent.cf2";
/// So long a server may take for an answer, from the first byte to the last.
const PATIENCE: Duration = Duration::from_secs(120);
/// After so long, listening begins anew: a network may forget a connection without a word.
const LISTENING: Duration = Duration::from_secs(900);
/// No source of settings is longer.
const LONGEST: u64 = 16 << 20;

/// Run a node's configuration: check in, install what is activated, report; again and again
#[derive(Args)]
pub struct Agent {
    /// What is configured on this node
    #[arg(long, value_name = "FILE", default_value = SETTINGS)]
    config: String,
    /// Go one round and end
    #[arg(long)]
    once: bool,
    /// The word that `hence token join` printed, or `-` to read it from standard input; needed once
    #[arg(long, value_name = "WORD")]
    join: Option<String>,
    /// Try again after so many seconds what failed, whatever the settings say
    #[arg(long, value_name = "SECONDS")]
    retry: Option<u64>,
}

impl Agent {
    /// Runs it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Some(configured) = configured(console, &self.config)? else {
            return Ok(Exit::Input);
        };
        let machine = Machine::default();
        let mut settings = configured.settings;
        if let Some(seconds) = self.retry {
            settings.retry = Duration::from_secs(seconds);
        }
        let mut identity = self.identity(console, &machine, &mut settings, configured.named)?;
        if let Some(server) = configured.server {
            identity.server = server;
        }
        if let Some(file) = configured.certificates {
            let read = std::fs::read_to_string(&file);
            let read = read.map_err(|error| hence_agent::Error {
                doing: format!("reading `{}`", file.display()),
                error,
            });
            identity.certificate = Some(read.map_err(|error| broken(&error))?);
        }
        let client = |limit| Client::limited(identity.address(), limit).map_err(Stop::Refused);
        let compile = configured.compile;
        let directory = console.directory().unwrap_or_default();
        let local = |facts: &Facts| match &compile {
            None => Ok(Vec::new()),
            Some(file) => {
                let disk = Disk::new(directory.clone(), LONGEST);
                local::parameters(&Here::new(disk, facts), file)
            }
        };
        let agent = Loop {
            host: &machine,
            settings: &settings,
            client: client(PATIENCE)?,
            local: &local,
            machine: &hence_closure::host::Machine,
        };
        let wake = machine.wake.clone();
        // It ends between two steps.
        signals::heed(move || wake.stop());
        if self.once {
            let ended = agent.round();
            return match ended {
                Ok(ended) => Ok(tell(console, ended)),
                Err(error) => Err(broken(&error)),
            };
        }
        let (listener, node, wake) = (
            client(LISTENING)?,
            settings.node.clone(),
            machine.wake.clone(),
        );
        std::thread::spawn(move || {
            hence_agent::listen(&listener, &node, &wake, &|| Machine::default().random());
        });
        readiness::tell(console.variable("NOTIFY_SOCKET"));
        // What a round could not do is told once, however often it cannot.
        let mut last = String::new();
        hence_agent::run(&agent, &mut |round| {
            let words = match &round {
                Ok(ended) if ended.end == End::Nothing && ended.away.is_none() => String::new(),
                Ok(ended) => format!("{ended:?}"),
                Err(error) => error.to_string(),
            };
            if words != last && !words.is_empty() {
                match round {
                    Ok(ended) => drop(tell(console, ended)),
                    Err(error) => console.refuse(&trouble(&error)),
                }
            }
            last = words;
        });
        console.say("ended");
        Ok(Exit::Done)
    }

    /// Who the agent is: as it enrolled, or as it enrols now.
    fn identity(
        &self,
        console: &mut Console<'_>,
        machine: &Machine,
        settings: &mut Settings,
        named: bool,
    ) -> Result<Identity, Stop> {
        let refused = |trouble: Diagnostic| Stop::Refused(Box::new(trouble));
        let directory = settings.directory.clone();
        let known = hence_agent::identity(machine, &directory).map_err(|error| broken(&error))?;
        if let Some(identity) = known {
            if self.join.is_some() {
                console.say("this node has a token of its own: the word to join with is not used");
            }
            if named && identity.node.to_lowercase() != settings.node.to_lowercase() {
                let message = format!(
                    "this node enrolled as `{}`, not as `{}`",
                    identity.node, settings.node
                );
                let help = format!(
                    "remove `{}` to enrol anew",
                    directory.join("identity.json").display()
                );
                return Err(refused(Diagnostic::error(NOT_ENROLLED, message).help(help)));
            }
            settings.node.clone_from(&identity.node);
            return Ok(identity);
        }
        let Some(word) = &self.join else {
            let trouble = Diagnostic::error(NOT_ENROLLED, "this node has no token of its own yet");
            let help = "`hence token join` where the ledger is prints a word for `hence agent --join WORD`";
            return Err(refused(trouble.help(help)));
        };
        let mut read = String::new();
        let word = match word.as_str() {
            "-" => {
                console.input().read_line(&mut read)?;
                &read
            }
            word => word,
        };
        let join = Join::from_word(word).map_err(|unread| {
            let (message, help) = match unread {
                Unread::Cut => (
                    "the word to join with cannot be read: it was cut, or is another",
                    "it begins with `hence-join-`, and has no spaces",
                ),
                Unread::Newer => (
                    "the word to join with was made by a later release of Hence",
                    "upgrade Hence on this node, to the release of the server",
                ),
            };
            refused(Diagnostic::error(JOIN, message).help(help))
        })?;
        if !named {
            let name = join.node.clone().or_else(|| hostname(machine));
            settings.node = name.ok_or_else(|| {
                let message = "this machine does not say its name";
                let trouble = Diagnostic::error(settings::SETTING, message);
                refused(trouble.help("say it in the settings: `node => 'NAME'`"))
            })?;
        }
        let enrolled = hence_agent::enrol(machine, &directory, &settings.node, &join);
        let identity = enrolled.map_err(|error| broken(&error))?.map_err(failed)?;
        console.say(&format!(
            "enrolled as `{}` at {}",
            identity.node, identity.server
        ));
        settings.node.clone_from(&identity.node);
        Ok(identity)
    }
}

/// What is configured in a file; nothing if that is wrong, which is told.
pub fn configured(console: &mut Console<'_>, file: &str) -> Result<Option<Configured>, Stop> {
    let here = Here::new(console.disk(LONGEST), &Facts::new());
    let mut compiled = compile_file(&here, file, &here.options());
    let path = console.path(file);
    let base = path.parent().unwrap_or(Path::new("")).to_owned();
    let read = match compiled.is_good() {
        true => settings::read(&mut compiled, &base),
        false => Err(Vec::new()),
    };
    let unit = compiled.unit();
    console.show(&unit.sources, &unit.diagnostics);
    match read {
        Ok(configured) => Ok(Some(configured)),
        Err(mistakes) => {
            console.show(&unit.sources, &mistakes);
            Ok(None)
        }
    }
}

fn hostname(machine: &Machine) -> Option<String> {
    let name = machine
        .read(Path::new("/proc/sys/kernel/hostname"))
        .ok()??;
    let name = String::from_utf8(name).ok()?.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// Says what a round came to.
fn tell(console: &mut Console<'_>, ended: Ended) -> Exit {
    for note in &ended.notes {
        console.say(note);
    }
    let mut exit = match &ended.end {
        End::Nothing if ended.away.is_none() => {
            console.say("there is nothing to do");
            Exit::Done
        }
        End::Nothing | End::Stopped => Exit::Done,
        End::Applied(version) => {
            console.say(&format!("version {version} runs"));
            Exit::Done
        }
        End::Refused(version, why) => {
            let message =
                format!("version {version} does not run, and what ran before it does: {why}");
            console.refuse(&Diagnostic::error(ROLLED_BACK, message));
            Exit::Input
        }
        End::Failed(version, why) => {
            let message = format!("version {version} does not run, nor what ran before it: {why}");
            console.refuse(&Diagnostic::error(FAILED, message));
            Exit::Input
        }
    };
    if let Some(failure) = ended.away {
        exit = exit.max(match &failure {
            Failure::Refused(..) => Exit::Input,
            Failure::Unreachable(_) => Exit::World,
        });
        for trouble in failure.diagnostics() {
            console.refuse(&trouble);
        }
    }
    exit
}

fn broken(error: &hence_agent::Error) -> Stop {
    Stop::Failed(Box::new(trouble(error)))
}

fn trouble(error: &hence_agent::Error) -> Diagnostic {
    match error.is_of_later_release() {
        true => Diagnostic::error(hence_store::FORMAT, error.to_string())
            .help("use the release of Hence that wrote it, or a later one"),
        false => Diagnostic::error(FAILED, error.to_string()),
    }
}
