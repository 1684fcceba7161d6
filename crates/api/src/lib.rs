//! The words on the wire between a server and those who use it, and a blocking client.
//!
//! Everything is JSON below `/api/v1` but what is kept by its hash: entries and objects travel as the bytes that they are,
//! so that whoever reads them can compare them with their hashes. What is refused comes as the diagnostics that say why.

pub mod client;
pub mod join;
pub mod trouble;
pub mod words;

pub use client::{Address, Client, Event, Events, Failure};
pub use join::{Join, Unread};
pub use trouble::Trouble;

/// The version of the API, which is in every path. Fields may be added to what is sent and answered, and whoever does not know
/// them passes over them; anything else is another version.
pub const VERSION: u32 = 1;
