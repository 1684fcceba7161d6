//! What the fleet promises, sentence by sentence.

mod dsl;
mod generated;
mod properties;
