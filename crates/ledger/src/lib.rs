//! What is asserted, by whom, and since when.
//!
//! State is a map from keys to values, and a command is a *constant write*: which keys it writes, and what, depends on the
//! command alone. So repeating a command changes nothing, whatever came between ([`command`]). What a command may not
//! do, such as take a key that somebody else holds, is decided where it is admitted ([`admission`]), never inside it.
//!
//! Nothing here does I/O or reads a clock: where a ledger lives is the business of the crate `store`.

pub mod admission;
pub mod command;
pub mod entry;
pub mod key;
pub mod parser;
pub mod rights;
pub mod rollout;
pub mod state;
pub mod tree;
pub mod value;
pub mod vocabulary;

pub use admission::{Admission, Admitted, admit, refusals};
pub use command::Command;
pub use entry::{Act, Entry};
pub use key::{Key, Keys};
pub use rollout::Rollout;
pub use state::{Assertion, Change, State};
pub use tree::Hash;
pub use value::Value;
pub use vocabulary::{Fault, Vocabulary};
