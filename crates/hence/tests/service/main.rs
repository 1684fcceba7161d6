//! The service as a whole, with real processes. What it is for, from a line in a source to an answer of a web server; and
//! what is left of it when servers are killed, members of a cluster die, and networks break: all that was acknowledged, in
//! one order, and nothing that was not asked for.

mod cluster;
mod killed;
mod partition;
mod served;
mod story;
