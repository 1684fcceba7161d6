//! `hence http init`: a root of its own for a server, in which nothing is served.

use std::path::Path;

use clap::Args;
use hence_closure::address::endpoint;
use hence_closure::closure::{self, Closure, Manner};
use hence_closure::host::Machine;
use hence_closure::language;
use hence_closure::server::Server;
use hence_closure::words::{Policy, Said, Subject};
use hence_ledger::{Command, Value};
use hence_store::{Refused, Request};

use super::{Http, stop};
use crate::command::fleet::faulty;
use crate::console::Console;
use crate::{Exit, Stop};

/// Make a closure: a directory for a server of its own, which serves nothing yet
#[derive(Args)]
pub struct Init {
    /// The directory; it must be empty, or not there
    #[arg(value_name = "ROOT")]
    directory: String,
    /// Which server it is to be
    #[arg(long, value_name = "SERVER", value_parser = ["apache", "nginx"])]
    server: String,
    /// Where it is to listen; may be given more than once
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Vec<String>,
    /// What becomes of hosts whose names lead elsewhere
    #[arg(long, value_name = "POLICY", value_parser = ["warn", "refuse", "hold"])]
    names: Option<String>,
}

impl Init {
    /// Makes it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut commands = Vec::new();
        let mut said = Vec::new();
        for text in &self.listen {
            let endpoint = endpoint(text).map_err(faulty)?;
            said.push((Subject::Listen(endpoint), Said::So));
        }
        if let Some(word) = &self.names {
            let policy = Policy::read(word).map_err(faulty)?;
            said.push((Subject::Names, Said::Names(policy)));
        }
        for (subject, said) in said {
            let (owner, key) = (http.owner().into(), subject.key());
            let value = Value::from(&said);
            commands.push(Command::Assert { owner, key, value });
        }
        let server = Server::of(&self.server).expect("only these can be given");
        let directory = console.path(&self.directory);
        let was_there = directory.exists();
        let made = closure::init(&Machine, &directory, server);
        let root = made.map_err(|refused| stop(console, refused))?;
        let request = http.request(console, "", language::written(&commands));
        if let Err(refused) = first(&root, &request, &commands) {
            let taken = closure::take_back(&Machine, &root, was_there);
            return Err(stop(console, taken.err().unwrap_or(refused)));
        }
        let root = &self.directory;
        console.say(&format!(
            "`{root}` is a closure around {}, and serves nothing yet",
            server.word()
        ));
        console.say(&format!(
            "`hence http --root {root} start` starts it; $HENCE_HTTP_ROOT spares you the `--root`"
        ));
        Ok(Exit::Done)
    }
}

/// What is asserted in a new root from the first.
fn first(root: &Path, request: &Request, commands: &[Command]) -> Result<(), Refused> {
    if commands.is_empty() {
        return Ok(());
    }
    let mut closure = Closure::open(&Machine, root)?;
    let done = closure.commit(request, commands, Manner::default());
    done.map(drop)
}
