//! The loop on a node.
//!
//! ```text
//! check in    what am I to run?                       works on with what is here if nobody answers
//! fetch       the configuration, if it is another one
//! augment     what the node itself adds: its survival, what it advertises, its overrides last
//! stage       the new files beside the old            nothing that runs changes
//! check       the command of the node says yes        nothing that runs changes
//! switch      a rename for each file                  a journal says how far it is
//! settle      tell the subsystems, and the closure that serves web sites; if one fails, switch back and tell them again
//! report      what runs, what came of it, and what the system is like
//! ```
//!
//! What is run is configured on the node: the server says which subsystems are concerned, never what to do with them.
//! Everything outside goes through a [`Host`], so that a test can cut the power after every single step.

mod augment;
mod enrol;
mod facts;
mod host;
mod map;
mod round;
mod settings;
mod settle;
mod state;
mod template;
mod watch;
mod web;

use std::{fmt, io};

pub use augment::{Local, LocalParameters};
pub use enrol::{Identity, enrol, identity};
pub use facts::Facts;
pub use hence_closure::process::Ran;
pub use host::{Host, Machine, Wake, Woken};
pub use map::{Map, Part, map_path};
pub use round::{Agent, End, Ended};
pub use settings::{File, Form, Settings, Subsystem};
pub use template::{Mistake, Template};
pub use watch::{listen, run};
pub use web::Web;

/// The world failed the agent.
#[derive(Debug)]
pub struct Error {
    /// What it was doing.
    pub doing: String,
    /// Why that failed.
    pub error: io::Error,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doing, self.error)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Whether it is about a file that a later release wrote.
    pub fn is_of_later_release(&self) -> bool {
        self.error.kind() == io::ErrorKind::Unsupported
    }
}

/// Says what was being done when something failed.
trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|error| Error {
            doing: what(),
            error,
        })
    }
}

/// The sum by which a content is recognised.
fn sum(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
