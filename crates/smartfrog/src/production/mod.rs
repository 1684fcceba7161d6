//! The language of the production compiler, in its phases:
//!
//! read      statements to blocks; nothing is looked up
//! types     prototypes, wherever they are defined
//! places    left sides that are paths (§9.2.3)
//! values    links and expressions in `sfConfig`, each when it is asked for
//!
//! What the production compiler leaves to the run time (LAZY, OPTIONAL, PROPERTY, HOST …) stays in the
//! result as data. The order of definitions never matters; a value, a prototype or a placement that
//! would need itself is an error.

mod functions;
pub mod parser;
mod places;
mod read;
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
    let library = Library { files };
    parse(
        unit,
        &library,
        file,
        Dialect::Production,
        &mut specification,
    );
    let mut root = specification.blocks.root;
    if !unit.has_errors() {
        types::resolve(&mut specification, unit);
    }
    if !unit.has_errors() {
        root = values::resolve(&mut specification, unit);
    }
    (specification.blocks.store, root)
}

/// The files that come with the production distribution, for specifications that include them: what is
/// not on the disk is looked for here.
struct Library<'a> {
    files: &'a dyn Files,
}

impl Files for Library<'_> {
    fn read(&self, name: &str, text: &mut String) -> Result<(), hence_model::source::ReadError> {
        use hence_model::source::ReadError;
        // Names are those of a class path: the file may be beside any folder around the including one.
        let (folder, wanted) = match name.find("org/smartfrog/") {
            Some(at) => (&name[..at], Some(&name[at..])),
            None => (name, None),
        };
        match self.files.read(name, text) {
            Err(ReadError::Missing) => {}
            other => return other,
        }
        if let Some(wanted) = wanted {
            let mut around = folder.trim_end_matches('/');
            while let Some(slash) = around.rfind('/') {
                around = &around[..slash];
                match self.files.read(&format!("{around}/{wanted}"), text) {
                    Err(ReadError::Missing) => {}
                    other => return other,
                }
            }
            match wanted {
                "org/smartfrog/functions.sf" => {
                    text.push_str(include_str!("functions.sf"));
                    return Ok(());
                }
                "org/smartfrog/predicates.sf" => {
                    text.push_str(include_str!("predicates.sf"));
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(ReadError::Missing)
    }
}
