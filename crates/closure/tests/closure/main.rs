//! Random services: the algebra of their commands, and what real servers make of them.

mod agree;
mod algebra;
mod cluster;
mod disk;
mod gates;
mod generate;
mod language;
mod load;
mod modules;
mod power;
mod real;
