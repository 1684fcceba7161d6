//! What lies outside of a compilation: files, signatures, databases of secrets, functions that users wrote.
//! The compiler reads nothing by itself.

use std::sync::Arc;

use hence_model::function::Function;
use hence_model::source::Files;
use hence_model::value::Value;

/// What a compilation can ask for.
pub trait World: Files + Sync {
    /// Checks the signatures of a clear-signed text, and tells who signed it: the mail addresses of all good
    /// signatures, and the text that they cover. If any is not good, what is wrong.
    fn verify(&self, name: &str, text: &str) -> Result<Signed, String> {
        let _ = (name, text);
        Err("signatures cannot be checked here".into())
    }

    /// The contents of a database of secrets, as blocks of texts; none if there is no such file.
    fn database(&self, name: &str) -> Option<Result<Value, String>> {
        let _ = name;
        None
    }

    /// The function of that name, if a user wrote one; if it cannot be used, what is wrong.
    fn function(&self, name: &str) -> Option<Result<Arc<dyn Function>, String>> {
        let _ = name;
        None
    }
}

/// What a signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The text.
    pub text: String,
    /// The mail addresses of those who signed it.
    pub signers: Vec<String>,
}
