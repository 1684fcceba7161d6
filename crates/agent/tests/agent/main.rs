//! An agent against a real server over real sockets, with real files and processes.

mod cut;
mod enrolment;
mod fleet;
mod network;
mod rounds;
