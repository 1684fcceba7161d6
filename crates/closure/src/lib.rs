//! Makes a web server run what is asserted, or leaves it as it was.
//!
//! What is asserted is a ledger ([`words`]): the same commands, owners and history as everywhere. A state of it is a
//! [`site`], and [`model`] says what that answers to any request. A [`server`] is configured from it, as the only use that
//! the program has for its configuration: everything that is not asserted is off.
//!
//! ```text
//! stage   content by its hash, configuration beside the old      nothing served changes
//! check   what only we can know, then the server's own test      nothing served changes
//! switch  one rename                                             the one visible step
//! settle  reload, ask the server; if it breaks a promise, switch back
//! ```
//!
//! All of the world comes in through [`host::Host`].

pub mod address;
pub mod certificate;
pub mod checks;
pub mod closure;
pub mod confirm;
pub mod content;
pub mod host;
pub mod integrity;
pub mod language;
pub mod level2;
pub mod media;
pub mod model;
pub mod modules;
pub mod part;
pub mod pending;
pub mod probe;
pub mod process;
pub mod publish;
pub mod server;
pub mod settings;
pub mod site;
mod symbols;
pub mod tls;
pub mod words;
