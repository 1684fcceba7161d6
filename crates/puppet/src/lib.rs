//! Puppet: text to catalog.

pub mod compare;
pub mod escapes;
pub mod lexer;
pub mod number;
pub mod parser;
pub mod pattern;
pub mod syntax;
pub mod text;
pub mod trace;
pub mod types;
pub mod value;
