//! What holds of all ledgers.

mod algebra;
mod fuzz;
mod objects;
mod sites;
