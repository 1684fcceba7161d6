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

    /// The names of what is in a directory, with a slash behind those of directories; none if that cannot be
    /// told, and nothing if there is no such directory.
    fn list(&self, directory: &str) -> Option<Vec<String>> {
        let _ = directory;
        None
    }

    /// The contents of a database of secrets, as blocks of texts; none if there is no such file.
    fn database(&self, name: &str) -> Option<Result<Value, String>> {
        let _ = name;
        None
    }

    /// The function of that name, if a user wrote one; if it cannot be read, why.
    fn function(&self, name: &str) -> Option<Result<Arc<Custom>, String>> {
        let _ = name;
        None
    }
}

/// A function that a user wrote.
pub struct Custom {
    /// The file that it is written in.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The function, or what is wrong with the text.
    pub function: Result<Box<dyn Function>, Vec<Fault>>,
}

/// Something wrong with the text of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The line and column, from 1.
    pub place: (u32, u32),
}

/// What a signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The text.
    pub text: String,
    /// The mail addresses of those who signed it.
    pub signers: Vec<String>,
}
