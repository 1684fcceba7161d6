//! SmartFrog: text to value.
//!
//! lexer → parser → evaluate               the core semantics, run while reading
//!                    → forward            links that may look ahead
//!                → production             the language of the production compiler, phase by phase
//!                → tree → definitional    the paper's definitions word for word, to compare with
//!
//! The result is a [`Compiled`]: blocks that know where everything in them comes from.

pub mod definitional;
pub mod evaluate;
mod facts;
mod forward;
pub mod generate;
pub mod includes;
pub mod lexer;
pub mod ordering;
pub mod parser;
pub mod parts;
pub mod printer;
pub mod production;
pub mod text;
pub mod tree;
pub mod written;

mod compile;
mod nesting;

pub use compile::{Compiled, Options, Semantics, compile, compile_file, readings};
