//! XML files, and transactions on them: the engine of the closure paper, stateless and all or nothing.
//!
//! ```text
//! a file ──► document, dtd          a tree of pieces of the text; what its type allows
//! a script ──► commands             constant writes: assert, add, subtract
//! commit                            reduce, perform, look at the result: the new text, or everything against it
//! replace                           the old file or the new one, never a mixture
//! ```
//!
//! A document is told by its elements' names and attributes, and where these tell nothing, by their order. So elements that
//! an attribute tells apart are a set, whose order means nothing, and others are a list, in which positions count.

pub mod command;
pub mod cursor;
pub mod declarations;
pub mod difference;
pub mod document;
pub mod dtd;
pub mod entities;
pub mod file;
pub mod model;
pub mod path;
pub mod reduction;
mod siblings;
pub mod state;
pub mod transaction;
pub mod validity;

pub use command::Command;
pub use cursor::SYNTAX;
pub use document::Document;
pub use dtd::Dtd;
pub use file::File;
pub use transaction::{Nowhere, commit};
