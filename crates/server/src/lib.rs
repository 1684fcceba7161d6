//! The service over HTTP.
//!
//! ```text
//! connection    accepts, limits, encrypts, ends gracefully
//! access        whose token it is, and what it may
//! routes        what is asked, answered from the hub
//! page          the same for people, in a browser
//! hub           the one service behind all connections; what it published last is read without waiting for it
//! ```
//!
//! It knows values, and no language: `hence push` compiles on the side of the one who pushes.

mod access;
mod answer;
mod connection;
mod hub;
mod limits;
mod metrics;
mod page;
mod routes;

use std::sync::Arc;

use hence_model::diagnostic::Code;
use hence_service::Service;
use hence_service::seal::Seal;

pub use connection::{Signals, Stop, serve};
pub use hub::Hub;
pub use limits::Limits;
pub use rustls::ServerConfig;

/// No token, or one that is worth nothing.
pub const UNAUTHORISED: Code = Code::new("server.unauthorised");
/// The token does not allow it.
pub const FORBIDDEN: Code = Code::new("server.forbidden");
/// What was sent cannot be understood.
pub const BAD_REQUEST: Code = Code::new("server.bad-request");
/// There is nothing at that address.
pub const NOT_FOUND: Code = Code::new("server.not-found");
/// Somebody asked in another version of the API.
pub const OTHER_API: Code = Code::new("server.other-api");
/// More was sent than is read.
pub const TOO_LARGE: Code = Code::new("server.too-large");
/// More was asked than is answered.
pub const TOO_MANY: Code = Code::new("server.too-many");
/// The sender took too long.
pub const TOO_SLOW: Code = Code::new("server.too-slow");
/// The node has a token of its own already.
pub const ENROLLED: Code = Code::new("server.enrolled");

/// Fills bytes that nobody can guess.
pub type Random = dyn Fn(&mut [u8]) + Send + Sync;
/// Takes a line for each request.
pub type Log = dyn Fn(&Record<'_>) + Send + Sync;

/// What a server is made of.
pub struct Parts {
    /// The fleet.
    pub service: Service,
    /// What seals and opens secrets, if the ledger has any.
    pub seal: Option<Seal>,
    /// The time in milliseconds since 1970.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Fills bytes that nobody can guess.
    pub random: Arc<Random>,
    /// Takes a line for each request.
    pub log: Arc<Log>,
    /// How much is taken from whom.
    pub limits: Limits,
    /// The version of the program.
    pub release: &'static str,
    /// Whether others write to the store, too.
    pub shared: bool,
}

/// What the log is told.
#[derive(Debug)]
pub struct Record<'a> {
    /// Who asked: the name of a token, or nobody known.
    pub token: Option<&'a str>,
    /// From where.
    pub peer: std::net::IpAddr,
    /// What.
    pub method: &'a str,
    /// Of what; without the query, which may hold anything.
    pub path: &'a str,
    /// With which end.
    pub status: u16,
    /// After so many microseconds.
    pub micros: u64,
}

/// The sum of a token, as the ledger holds it.
pub fn sum(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

/// A new token, told once.
pub fn new_token(random: &dyn Fn(&mut [u8])) -> String {
    let mut bytes = [0; 32];
    random(&mut bytes);
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("hence_{}", digits.collect::<String>())
}

/// Whether a text is as long as a token, and made as one.
pub(crate) fn is_token(text: &str) -> bool {
    let digits = text.strip_prefix("hence_").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
