//! Functions that users write for their configurations, one in a file, in a small language that can do
//! nothing but compute.
//!
//! ```text
//! // The sum of two numbers.
//! proto(NUMBER, NUMBER);
//! fn eval(a, b) { a + b }
//! ```
//!
//! The language is Rhai with an own library. A [`Script`] is read once and called often; it is given
//! text and values, never files. Every step costs fuel, in proportion to what the step handles and
//! before it does, so a call ends after a bounded amount of work whatever is written in the file.

mod call;
mod data;
mod declarations;
mod engine;
pub mod interpreter;
mod library;
mod patterns;
mod script;

pub use declarations::Mistake;
pub use script::Script;
