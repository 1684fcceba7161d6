//! What is left of a service when servers are killed, members of a cluster die, and networks break: all that was
//! acknowledged, in one order, and nothing that was not asked for.

mod cluster;
mod killed;
mod partition;
mod served;
