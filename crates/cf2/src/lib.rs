//! CF2: text to value.
//!
//! lexer      text to tokens
//! parser     tokens to syntax, each file once
//! evaluate   expressions to values, as far as somebody asks
//! expand     what names a block has: inline conditionals, imports and calls
//! mutate     what becomes of a name that several files define
//! running    what is being computed, and whether it needs itself
//! priority   which file beats which
//! references `$name`, and what a selector selects
//! compile    from a file to a configuration
//! explain    why a value is what it is
//! standing   what stands at a place
//!
//! The language is described in `docs/cf2.md`; numbers such as §4.2 refer to the paper.

pub mod compile;
pub mod datum;
pub mod evaluate;
pub mod expand;
mod explain;
mod facts;
pub mod functions;
pub mod generate;
mod impact;
mod importable;
pub mod imports;
pub mod lexer;
pub mod mutate;
pub mod operators;
pub mod parser;
pub mod printer;
mod priority;
pub mod read;
mod reasons;
pub mod references;
pub mod running;
mod standing;
pub mod syntax;
pub mod text;
pub mod world;

pub use compile::{Compiled, Options, compile_file};
pub use world::World;
