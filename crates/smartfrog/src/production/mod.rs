//! The language of the production compiler.

pub mod parser;
