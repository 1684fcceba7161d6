//! Puppet: text to catalog.

pub mod lexer;
pub mod parser;
pub mod pattern;
pub mod syntax;
pub mod text;
pub mod trace;
pub mod types;
pub mod value;
