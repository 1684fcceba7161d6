//! What the fleet promises, sentence by sentence.

mod checking;
mod dsl;
mod editing;
mod fuzz;
mod generated;
mod planning;
mod properties;
mod resolving;
mod validating;
