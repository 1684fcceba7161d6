//! Random services: the algebra of their commands, and what real servers make of them.

mod agree;
mod algebra;
mod generate;
mod real;
