//! How fast Hence compiles, next to jrsonnet and to the least that printing the result can cost.

pub mod cases;
pub mod configuration;
pub mod jsonnet;
pub mod smartfrog;
