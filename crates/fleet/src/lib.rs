//! What each node of a fleet should be, and why.
//!
//! ```text
//! words     the keys of a fleet                          what can be asserted
//! pool      what a state says about a fleet, in tables   kept current change by change
//! partial   what a value does to what is below it        values compose
//! resolve   the configuration of a node                  default group, memberships, identity group
//! check     what one change can break                    before a commit
//! validate  what only whole nodes can break              before an activation
//! plan      what an activation would change, and where
//! explain   where each value comes from
//! tags      facts of nodes that put them into groups
//! ```
//!
//! Nothing here does I/O or reads a clock, and no node's configuration is ever stored.

mod bits;
pub mod blame;
pub mod check;
pub mod condor;
pub mod definitional;
mod derive;
pub mod difference;
pub mod distribution;
pub mod edit;
mod equality;
pub mod explain;
pub mod feature_file;
pub mod generate;
mod kind;
pub mod name;
pub mod partial;
pub mod plan;
mod planner;
pub mod pool;
pub mod query;
pub mod relations;
pub mod resolve;
pub mod stress;
mod table;
pub mod tags;
pub mod token;
pub mod tree;
pub mod validate;
pub mod wallaby;
pub mod words;
mod write;

pub use blame::Repair;
pub use check::check;
pub use difference::{Changed, Difference, difference};
pub use distribution::Distribution;
pub use explain::{Contribution, Explanation};
pub use partial::{Operator, Partial, Resolved};
pub use plan::{Nodes, Plan, changed_nodes, plan};
pub use pool::Pool;
pub use resolve::Config;
pub use validate::Failure;
pub use words::{Kind, Words};
