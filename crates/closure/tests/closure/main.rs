//! Random services: the algebra of their commands, and what real servers make of them.

mod agree;
mod algebra;
mod certificates;
mod cluster;
mod compression;
mod confirm;
mod disk;
mod gates;
mod generate;
mod killed;
mod language;
mod load;
mod modules;
mod names;
mod power;
mod real;
mod room;
mod secured;
mod upstream;
