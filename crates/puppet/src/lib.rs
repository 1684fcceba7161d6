//! Puppet: text to catalog.

pub mod compare;
pub mod number;
pub mod pattern;
pub mod syntax;
pub mod text;
pub mod trace;
pub mod types;
pub mod value;
