//! The fleet as a script has it before it: what is asserted, with what the script has said so far on top.
//!
//! Changes are collected, and seen by what is asked about the head; nobody else sees them before they are committed, all as
//! one change.

use std::sync::mpsc::Sender;

use hence_fleet::edit::{self, Edit};
use hence_fleet::query::{Query, Subject};
use hence_fleet::{Config, Failure, Kind, Pool, Words};
use hence_ledger::key::fold;
use hence_ledger::{Command, Fault, Key, Keys, State, Value, Vocabulary};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Sources;
use hence_service::{Extent, Leave, Planned, Service, activation::no_such};
use hence_store::{Error, Receipt, Refused, Request};

use crate::command::fleet::{explain, inventory, key, many, names};
use crate::{Exit, Stop};
use hence_service::pushed::Archive;

/// A script cannot be read, or not be run to its end.
pub const SCRIPT: Code = Code::new("console.script");

/// The most that one script may print, in bytes.
const PRINTED: usize = 16 << 20;

/// What is in the way, and who is to blame.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// What is in the way.
    pub reasons: Vec<Diagnostic>,
    /// Who is to blame.
    pub exit: Exit,
}

impl From<Diagnostic> for Trouble {
    fn from(reason: Diagnostic) -> Self {
        Self {
            reasons: vec![reason],
            exit: Exit::Input,
        }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Diagnostic::from(fault).into()
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self {
            reasons: vec![error.into()],
            exit: Exit::World,
        }
    }
}

impl From<Refused> for Trouble {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Failed(error) => error.into(),
            Refused::Because(reasons) => Self {
                reasons,
                exit: Exit::Input,
            },
        }
    }
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Self {
        let (reasons, exit) = match stop {
            Stop::Refused(reason) => (vec![*reason], Exit::Input),
            Stop::Failed(reason) => (vec![*reason], Exit::World),
            Stop::Closed => (Vec::new(), Exit::Done),
        };
        Self { reasons, exit }
    }
}

/// What a script has to say.
pub enum Said {
    /// A line of data.
    Printed(String),
    /// A change was made.
    Changed(Receipt),
    /// Words about what was done.
    Words(String),
}

/// A line and a column, from 1.
pub type Place = (u32, u32);

/// A fleet, and what a script has said about it.
pub struct Session {
    service: Service,
    request: Request,
    leave: Leave,
    draft: Option<Draft>,
    /// Whoever listens while a script runs.
    listener: Option<Sender<Said>>,
    printed: usize,
}

/// What is not committed yet.
struct Draft {
    state: State,
    pool: Pool,
    /// The version that it was read from.
    base: u64,
    commands: Vec<(Command, Place)>,
}

impl Session {
    /// A session that has said nothing yet.
    pub fn new(service: Service, request: Request, leave: Leave) -> Self {
        Self {
            service,
            request,
            leave,
            draft: None,
            listener: None,
            printed: 0,
        }
    }

    /// The fleet as it would be.
    pub fn pool(&self) -> &Pool {
        let draft = self.draft.as_ref();
        draft.map_or(self.service.head(), |draft| &draft.pool)
    }

    fn state(&self) -> &State {
        let draft = self.draft.as_ref();
        draft.map_or(self.service.state(), |draft| &draft.state)
    }

    /// Whether a text names something whose value is a secret, and so might tell another one.
    pub fn is_about_secrets(&self, text: &str) -> bool {
        let text = fold(text);
        let sealed = self.state().iter();
        let mut sealed = sealed.filter(|(_, said)| matches!(said.value, Value::Sealed(_)));
        sealed.any(|(key, _)| {
            let names: Vec<_> = key.names().collect();
            // A property has the name of a thing before it; what is set on a thing has its own name at the end.
            let name = match names.as_slice() {
                [_, thing, _] => Some(thing),
                names => names.last(),
            };
            name.is_some_and(|name| text.contains(&**name))
        })
    }

    /// There must be such a thing.
    pub fn there(&self, kind: Kind, name: &str) -> Result<(), Trouble> {
        match self.pool().spelling(kind, name) {
            Some(_) => Ok(()),
            None => Err(no_such(self.state(), kind, name).into()),
        }
    }

    /// What a node is to run.
    pub fn config(&self, node: &str) -> Result<Config, Trouble> {
        self.there(Kind::Node, node)?;
        Ok(self.service.config(node)?.unwrap_or_default())
    }

    /// What a node would run if all were activated.
    pub fn head(&self, node: &str) -> Result<Config, Trouble> {
        self.there(Kind::Node, node)?;
        Ok(self.pool().config(node).unwrap_or_default())
    }

    /// Where a value comes from.
    pub fn explain(&self, node: &str, parameter: &str) -> Result<String, Trouble> {
        self.there(Kind::Node, node)?;
        match self.pool().explain(node, parameter) {
            Some(explanation) => {
                let text =
                    hence_service::explained::text(&Archive::new(&self.service), &explanation);
                Ok(text.trim_end().to_owned())
            }
            None => Err(explain::no_parameter(self.pool(), node, parameter).into()),
        }
    }

    /// What stands in the way of an activation.
    pub fn validate(&self) -> Vec<Failure> {
        self.pool().validate()
    }

    /// The newest version.
    pub fn version(&self) -> u64 {
        self.service.repository().version()
    }

    /// The version with which the configuration of a node last changed.
    pub fn version_of(&mut self, node: &str) -> Result<u64, Trouble> {
        self.there(Kind::Node, node)?;
        Ok(self.service.version_of(node)?)
    }

    /// The nodes for which a condition holds, as they are committed.
    pub fn inventory(&mut self, condition: &str) -> Result<Vec<Subject>, Trouble> {
        let mut sources = Sources::default();
        let file = sources.add("condition", condition);
        let file = file.expect("a text of a script is shorter than any limit");
        let query = Query::parse(&sources, file, self.request.time).map_err(|mut trouble| {
            // Its places are those of the condition, not of the script.
            trouble.labels.clear();
            Trouble::from(*trouble)
        })?;
        let mut nodes = inventory::subjects(&mut self.service, None)?;
        nodes.retain(|node| query.holds(node));
        Ok(nodes)
    }

    /// Says something about a key.
    pub fn assert(&mut self, key: &str, value: Value, place: Place) -> Result<(), Trouble> {
        let (key, value) = Words.assertion(&names(key)?, value)?;
        let owner = self.request.owner.as_str().into();
        self.perform(vec![Command::Assert { owner, key, value }], place);
        Ok(())
    }

    /// Says nothing about keys any more.
    pub fn retract(
        &mut self,
        text: &str,
        keys: fn(Key) -> Keys,
        place: Place,
    ) -> Result<(), Trouble> {
        let command = Command::Retract(keys(key(text)?));
        self.perform(vec![command], place);
        Ok(())
    }

    /// Makes edits, all or none; each sees those before it.
    pub fn edit(&mut self, edits: &[Edit], place: Place) -> Result<(), Trouble> {
        let before = self.uncommitted();
        for edit in edits {
            match edit::commands(self.state(), &self.request.owner, edit) {
                Ok(commands) => self.perform(commands, place),
                Err(fault) => {
                    self.keep(before);
                    return Err(fault.into());
                }
            }
        }
        Ok(())
    }

    fn perform(&mut self, commands: Vec<Command>, place: Place) {
        let service = &self.service;
        let draft = self.draft.get_or_insert_with(|| Draft {
            state: service.state().clone(),
            pool: service.head().clone(),
            base: service.repository().version(),
            commands: Vec::new(),
        });
        for command in commands {
            let changes = draft.state.perform(&command, draft.base + 1, &Words);
            draft.pool.apply(&changes);
            draft.commands.push((command, place));
        }
    }

    /// How many commands are not committed yet.
    pub fn uncommitted(&self) -> usize {
        self.draft.as_ref().map_or(0, |draft| draft.commands.len())
    }

    /// Takes back what was said last, but for so many commands.
    pub fn keep(&mut self, count: usize) {
        if self.uncommitted() <= count {
            return;
        }
        let commands = self.draft.take().map(|draft| draft.commands);
        for (command, place) in commands.into_iter().flatten().take(count) {
            self.perform(vec![command], place);
        }
    }

    /// Commits what was said so far as one change. If it is refused, nothing of it is left, and the place is where it was
    /// said.
    pub fn commit(&mut self, message: Option<&str>) -> Result<(), (Trouble, Place)> {
        let Some(draft) = self.draft.take() else {
            return Ok(());
        };
        let mut request = self.request(message);
        // Edits were read from this version.
        request.if_version = request.if_version.or(Some(draft.base));
        let commands: Vec<Command> = draft.commands.iter().map(|(one, _)| one.clone()).collect();
        match self.service.commit(&request, &commands, &self.leave) {
            Ok(receipt) => {
                self.say(Said::Changed(receipt));
                Ok(())
            }
            Err(refused) => {
                let trouble = Trouble::from(refused);
                let place = suspect(&trouble, &draft.commands);
                Err((trouble, place))
            }
        }
    }

    /// The next request. What the newest version must be is asked of the first one only.
    fn request(&mut self, message: Option<&str>) -> Request {
        let mut request = self.request.clone();
        self.request.if_version = None;
        if let Some(message) = message {
            request.message = message.to_owned();
        }
        request
    }

    /// What an activation would do.
    pub fn plan(&mut self) -> Result<Planned, Trouble> {
        self.committed("plan")?;
        Ok(self.service.plan(&Extent::Everything)?)
    }

    /// Makes what is committed the target of all nodes.
    pub fn activate(&mut self) -> Result<(), Trouble> {
        self.committed("activate")?;
        let request = self.request(None);
        let activated = self.service.activate(&request, &Extent::Everything, None)?;
        self.say(Said::Words(match activated.receipt {
            Receipt::Nothing => "nothing changed since the last activation".to_owned(),
            Receipt::Done(done) => {
                let nodes = many(activated.changed.len(), "node");
                format!("version {}: {nodes} changed", done.version)
            }
        }));
        Ok(())
    }

    /// Takes back the newest change that stands.
    pub fn undo(&mut self) -> Result<(), Trouble> {
        self.committed("undo")?;
        let request = self.request(None);
        let (receipt, told) = self.service.undo(&request, None, None)?;
        for trouble in told {
            self.say(Said::Words(format!("warning: {}", trouble.message)));
        }
        self.say(Said::Changed(receipt));
        Ok(())
    }

    /// Gives the newest version a name.
    pub fn snapshot(&mut self, name: &str) -> Result<(), Trouble> {
        self.committed("snapshot")?;
        let (request, version) = (self.request(None), self.version());
        self.service.name(&request, name, version, "")?;
        let words = format!("version {version} is named `{name}`");
        self.say(Said::Words(words));
        Ok(())
    }

    /// Some things are about versions, and what is not committed is in none.
    fn committed(&self, verb: &str) -> Result<(), Trouble> {
        if self.draft.is_none() {
            return Ok(());
        }
        let message = format!("`{verb}` is about what is committed, and changes before it are not");
        let trouble = Diagnostic::error(SCRIPT, message);
        Err(trouble.help("`fleet.commit()` commits them").into())
    }

    /// Prints a line.
    pub fn print(&mut self, line: String) -> Result<(), Trouble> {
        self.printed += line.len() + 1;
        if self.printed > PRINTED {
            let message = format!("it prints more than {} MiB", PRINTED >> 20);
            return Err(Diagnostic::error(SCRIPT, message).into());
        }
        self.say(Said::Printed(line));
        Ok(())
    }

    /// Says something to whoever listens.
    fn say(&self, said: Said) {
        if let Some(listener) = &self.listener {
            // A listener who has left does not stop a script from what it does.
            let _ = listener.send(said);
        }
    }

    /// What is said goes here from now on.
    pub fn heard_by(&mut self, listener: Option<Sender<Said>>) {
        self.printed = 0;
        self.listener = listener;
    }
}

/// Where something was said that is refused: the last place about a key that a reason names, or else the last place.
fn suspect(trouble: &Trouble, commands: &[(Command, Place)]) -> Place {
    let is_named = |command: &Command| {
        let key = match command {
            Command::Assert { key, .. } => key,
            Command::Retract(Keys::Only(key) | Keys::Under(key)) => key,
            Command::Apply { .. } => return false,
        };
        let key = format!("`{key}`");
        let mut reasons = trouble.reasons.iter();
        reasons.any(|reason| reason.message.contains(&key))
    };
    let mut backwards = commands.iter().rev();
    let named = backwards.find(|(command, _)| is_named(command));
    named
        .or(commands.last())
        .map_or((1, 1), |(_, place)| *place)
}
