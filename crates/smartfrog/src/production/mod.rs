//! The language of the production compiler, in its phases:
//!
//! read      statements to blocks; nothing is looked up
//! types     prototypes, wherever they are defined
//! places    left sides that are paths (§9.2.3)
//! values    links and expressions in `sfConfig`, each when it is asked for
//! run_time  what of them is kept as data
//!
//! What the production compiler leaves to the run time (LAZY, OPTIONAL, PROPERTY, HOST …) stays in the
//! result as data. The order of definitions never matters; a value, a prototype or a placement that
//! would need itself is an error.

mod functions;
pub mod parser;
mod places;
mod read;
mod run_time;
mod types;
mod values;

use hence_model::source::{FileId, Files};
use hence_model::store::{BlockId, Store};
use hence_model::trace::Recorder;
use hence_model::unit::Unit;

use crate::lexer::Dialect;
use crate::parser::parse;

pub use functions::ARITHMETIC;
pub use types::PROTOTYPE_CYCLE;
pub use values::TO_BE_DEFINED;

/// The attribute that makes a component a function.
const FUNCTION_CLASS: &str = "sfFunctionClass";

/// Compiles a specification; returns its blocks, and the root.
pub(crate) fn compile<R: Recorder>(
    unit: &mut Unit,
    files: &dyn Files,
    file: FileId,
) -> (Store<R>, BlockId) {
    let mut specification = read::Specification::new();
    parse(unit, files, file, Dialect::Production, &mut specification);
    let mut root = specification.blocks.root;
    if !unit.has_errors() {
        types::resolve(&mut specification, unit);
    }
    if !unit.has_errors() {
        root = values::resolve(&mut specification, unit);
    }
    (specification.blocks.store, root)
}

/// The files that come with the production distribution, for specifications that include them and find
/// none on the disk: their names and texts.
pub(crate) fn library(name: &str) -> Option<(&'static str, &'static str)> {
    match name.trim_start_matches('/') {
        "org/smartfrog/functions.sf" => {
            Some(("org/smartfrog/functions.sf", include_str!("functions.sf")))
        }
        "org/smartfrog/predicates.sf" => {
            Some(("org/smartfrog/predicates.sf", include_str!("predicates.sf")))
        }
        _ => None,
    }
}
