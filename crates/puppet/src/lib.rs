//! Puppet: text to catalog.

pub mod pattern;
pub mod syntax;
pub mod trace;
pub mod types;
pub mod value;
