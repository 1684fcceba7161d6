//! Puppet: text to catalog.
//!
//! lexer      text to tokens
//! parser     tokens to syntax, each file once
//! site       which files there are, and what stands in them
//! evaluate   syntax to resources
//! functions  what the language can do by name
//! lookup     data that manifests ask for
//! compile    from a site and a node to a catalog
//! catalog    the catalog as others read it

pub mod catalog;
pub mod compare;
pub mod compile;
mod cycles;
mod decisions;
mod effects;
pub mod escapes;
pub mod evaluate;
mod explain;
pub mod facts;
pub mod functions;
pub mod generate;
mod graph;
pub mod iteration;
mod leaving;
pub mod lexer;
mod literals;
pub mod lookup;
mod module_file;
pub mod number;
pub mod parser;
pub mod pattern;
mod printer;
mod reasons;
pub mod resource;
pub mod resource_types;
pub mod scope;
pub mod site;
mod standing;
pub mod syntax;
pub mod text;
pub mod trace;
pub mod types;
pub mod value;

pub use compile::{Compiled, Node, Options, Recording, compile};
pub use site::{Layout, Site, World};

/// The version of Puppet whose catalogs these are. Manifests ask for it, and turn the other way for an old one.
pub const PUPPET: &str = "7.23.0";
