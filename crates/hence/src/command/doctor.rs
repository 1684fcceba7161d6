//! `hence doctor`: what is installed here, what works, what does not, and what to do.

use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use hence_closure::closure::{Closure, Manner, NO_CLOSURE, Published, init};
use hence_closure::host::{Host, Machine};
use hence_closure::probe;
use hence_closure::server::Server;
use hence_closure::words::{Subject, Words};
use hence_ledger::entry::Origin;
use hence_ledger::{Command as Write, Value};
use hence_store::{Refused, Request};
use serde::Serialize;

use super::fleet::{Format, Ledger, many, print_json};
use super::http;
use crate::console::Console;
use crate::{Exit, Stop};

/// Say what is installed here, what works, what does not, and what to do
#[derive(Args)]
pub struct Doctor {
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The settings of the agent on this node
    #[arg(long, value_name = "FILE", default_value = super::agent::SETTINGS)]
    agent: String,
    #[command(flatten)]
    ledger: Ledger,
}

/// How something is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum How {
    /// It works.
    Good,
    /// It is not there, and nothing needs it yet.
    Missing,
    /// It is there, and does not work.
    Wrong,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            How::Good => "good",
            How::Missing => "missing",
            How::Wrong => "wrong",
        }
    }
}

/// What was found out about something.
#[derive(Serialize)]
struct Finding {
    what: String,
    how: How,
    /// What it is, or what is wrong with it.
    about: String,
    /// What to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    help: String,
}

impl Finding {
    fn new(what: impl Into<String>, how: How, about: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            how,
            about: about.into(),
            help: String::new(),
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

/// A program that some commands run, what says its version, what it is for, and the package of Debian that it is in.
const PROGRAMS: [(&str, &[&str], &str, &str); 3] = [
    (
        "git",
        &["--version"],
        "says who wrote a line, and reads revisions",
        "git",
    ),
    (
        "gpg",
        &["--version"],
        "verifies signatures of sources, and decrypts values",
        "gnupg",
    ),
    (
        "puppet",
        &["--version"],
        "is what `hence compare` compares with",
        "puppet-agent",
    ),
];

impl Doctor {
    /// Says it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let version = env!("CARGO_PKG_VERSION");
        let mut findings = vec![Finding::new(
            "hence",
            How::Good,
            format!("version {version}"),
        )];
        findings.extend(PROGRAMS.map(program));
        for server in [Server::Apache, Server::Nginx] {
            console.progress(&format!("trying {}", server.word()));
            findings.push(web_server(server));
        }
        console.end_progress();
        findings.push(self.ledger(console));
        findings.extend(self.agent(console));
        findings.extend(closure(console));
        match self.format {
            Format::Json => print_json(console, &findings)?,
            Format::Text => {
                let width = findings.iter().map(|one| one.what.chars().count()).max();
                let width = width.unwrap_or(0);
                for Finding {
                    what,
                    how,
                    about,
                    help,
                } in &findings
                {
                    writeln!(console.data(), "{:7}  {what:width$}  {about}", how.word())?;
                    if !help.is_empty() {
                        writeln!(console.data(), "{:7}  {:width$}  {help}", "", "")?;
                    }
                }
            }
        }
        Ok(match findings.iter().any(|one| one.how == How::Wrong) {
            true => Exit::Input,
            false => Exit::Done,
        })
    }

    /// The ledger, or the server that it is behind.
    fn ledger(&self, console: &mut Console<'_>) -> Finding {
        let name = self.ledger.called(console);
        if !self.ledger.is_there(console) {
            if console.path(&name).is_file() {
                return Finding::new(
                    name,
                    How::Wrong,
                    "it is a file, and a ledger is a directory",
                )
                .help("`--data` or `--server` name another");
            }
            let finding = Finding::new(name, How::Missing, "there is no ledger there");
            return finding.help("the first change makes one, such as `hence add node n1`; `--data` or `--server` name another");
        }
        let opened = console.unheard(|console| {
            let service = self.ledger.open(console)?;
            let nodes = service.head().nodes().len();
            Ok::<_, Stop>((service.repository().version(), nodes))
        });
        match opened {
            Ok((version, nodes)) => {
                let about = format!(
                    "a ledger at version {version}, with {}",
                    many(nodes, "node")
                );
                Finding::new(name, How::Good, about)
            }
            Err(Stop::Refused(trouble) | Stop::Failed(trouble)) => {
                let help = trouble.help.first().cloned().unwrap_or_default();
                Finding::new(name, How::Wrong, trouble.message).help(help)
            }
            Err(Stop::Closed) => Finding::new(name, How::Wrong, "it cannot be opened"),
        }
    }

    /// The agent of this node, if it has settings.
    fn agent(&self, console: &mut Console<'_>) -> Option<Finding> {
        if !console.path(&self.agent).exists() {
            return None;
        }
        let name = self.agent.clone();
        let configured = console.unheard(|console| super::agent::configured(console, &self.agent));
        let Ok(Some(configured)) = configured else {
            let finding =
                Finding::new(name, How::Wrong, "the settings of the agent cannot be used");
            return Some(finding.help(format!(
                "`hence agent --once --config {}` says why",
                self.agent
            )));
        };
        let machine = hence_agent::Machine::default();
        let directory = &configured.settings.directory;
        Some(match hence_agent::identity(&machine, directory) {
            Ok(Some(identity)) => {
                let about = format!(
                    "an agent, enrolled as `{}` at {}",
                    identity.node, identity.server
                );
                Finding::new(name, How::Good, about)
            }
            Ok(None) => {
                let finding = Finding::new(name, How::Wrong, "an agent that is not enrolled");
                finding.help("`hence token join` where the ledger is prints a word for `hence agent --join WORD`")
            }
            Err(error) => Finding::new(name, How::Wrong, error.to_string()),
        })
    }
}

/// A program that says its version.
fn program((name, words, purpose, package): (&str, &[&str], &str, &str)) -> Finding {
    let ran = Command::new(name).args(words).stdin(Stdio::null()).output();
    match ran {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let first = said.lines().next().unwrap_or("").trim().to_owned();
            Finding::new(name, How::Good, format!("{first}; it {purpose}"))
        }
        Ok(output) => {
            let about = format!("it ends with {}", output.status);
            Finding::new(name, How::Wrong, about).help(format!("it {purpose}"))
        }
        Err(_) => {
            let finding = Finding::new(name, How::Missing, format!("it {purpose}"));
            finding.help(format!("on Debian: apt-get install {package}"))
        }
    }
}

/// A web server, tried in a closure of its own.
fn web_server(server: Server) -> Finding {
    let name = server.word();
    let mut programs = server.programs().iter();
    if !programs.any(|program| Path::new(program).exists()) {
        let finding = Finding::new(name, How::Missing, "it can serve web sites: `hence http`");
        return finding.help(format!("on Debian: apt-get install {}", server.package()));
    }
    let root = std::env::temp_dir().join(format!("hence-doctor-{}-{name}", std::process::id()));
    let tried = attempt(server, &root);
    if let Ok(mut closure) = Closure::open(&Machine, &root) {
        let _ = closure.stop();
    }
    let _ = std::fs::remove_dir_all(&root);
    match tried {
        Ok(()) => Finding::new(
            name,
            How::Good,
            "it starts, answers, and stops in a closure",
        ),
        Err(why) => Finding::new(name, How::Wrong, why),
    }
}

/// Starts a server, and asks it for what nobody asserted.
fn attempt(server: Server, root: &Path) -> Result<(), String> {
    let why = |refused: Refused| match refused {
        Refused::Because(troubles) => {
            let first = troubles.into_iter().next();
            first.map_or_else(String::new, |trouble| trouble.message)
        }
        Refused::Failed(error) => error.to_string(),
    };
    init(&Machine, root, server).map_err(why)?;
    let mut closure = Closure::open(&Machine, root).map_err(why)?;
    let endpoint = hence_loopback::reserve().map_err(|error| error.to_string())?;
    let key = Subject::Listen(endpoint).key();
    let listen = [Write::apply("doctor", vec![(key, Value::Nothing)], &Words)];
    let request = Request {
        author: "doctor".to_owned(),
        owner: "doctor".to_owned(),
        time: Machine.now(),
        message: String::new(),
        origin: Origin::Command("doctor".to_owned()),
        objects: Vec::new(),
        if_version: None,
    };
    match closure.commit(&request, &listen, Manner::default()) {
        Ok(Published::RolledBack { why, .. }) => {
            let first = why.into_iter().next();
            return Err(first.map_or_else(String::new, |trouble| trouble.message));
        }
        Ok(_) => {}
        Err(refused) => return Err(why(refused)),
    }
    closure.start().map_err(why)?;
    let answer = probe::ask(&Machine, endpoint, "unknown.invalid", "/");
    match answer.map(|answer| answer.status) {
        Ok(404) => Ok(()),
        Ok(status) => Err(format!("it answers {status} where nothing is asserted")),
        Err(error) => Err(error.to_string()),
    }
}

/// The closure that is named here, if one is.
fn closure(console: &Console<'_>) -> Option<Finding> {
    let name = console.variable(http::ROOT)?;
    let path = console.path(&name);
    let failed = |refused: Refused| match refused {
        Refused::Because(troubles) => troubles.first().map(|one| one.message.clone()),
        Refused::Failed(error) => Some(error.to_string()),
    };
    let opened = match Closure::open(&Machine, &path) {
        Err(refused) if refused.is(NO_CLOSURE) => {
            let finding = Finding::new(name, How::Wrong, "there is no closure there");
            return Some(finding.help("`hence http init ROOT --server apache` makes one"));
        }
        opened => opened,
    };
    let found = opened.and_then(|closure| Ok((closure.process()?, closure.validate()?)));
    Some(match found {
        Ok((Some(_), drift)) if drift.is_empty() => {
            Finding::new(name, How::Good, "a closure that serves what it promises")
        }
        Ok((None, drift)) if drift.is_empty() => {
            let finding = Finding::new(name, How::Missing, "a closure whose server does not run");
            finding.help("`hence http start` starts it")
        }
        Ok((_, drift)) => {
            let about = drift.first().map_or("", |one| one.message.as_str());
            Finding::new(name, How::Wrong, about).help("`hence http repair` makes it as promised")
        }
        Err(refused) => Finding::new(name, How::Wrong, failed(refused).unwrap_or_default()),
    })
}
