//! The words everyone in Hence speaks: values, where they come from, sources, diagnostics, paths.
//!
//! Nothing here reads a file or a clock: sources come in through [`source::Files`], and what goes
//! out goes to a [`value::Sink`].

pub mod cell;
pub(crate) mod definitions;
pub mod diagnostic;
pub mod explain;
pub mod explanation;
pub mod facts;
pub mod function;
pub mod impact;
pub mod legible;
pub mod order;
pub mod path;
pub mod print;
pub mod random;
pub mod replay;
pub mod source;
pub mod stack;
pub mod store;
pub mod symbol;
pub mod trace;
pub mod unit;
pub mod value;
pub mod work;
