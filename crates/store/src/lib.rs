//! Where a ledger lives.
//!
//! ```text
//! objects     immutable, by their hashes        written first
//! entries     numbered from 1, chained          one is added only behind the newest: the one visible step
//! reports     what nodes say, last value only   beside the ledger
//! ```
//!
//! A [`Store`] keeps bytes and knows no more of them than that. A [`Repository`] is a ledger on a store: it knows what the
//! newest entry says is asserted, adds entries, and reads the past. It reads no clock.

mod copy;
mod distrust;
mod embedded;
mod error;
mod etcd;
mod memory;
mod repository;
mod sum;
#[cfg(test)]
mod tests;
mod undo;

use std::time::{Duration, Instant};

use hence_ledger::Hash;

pub use copy::{Copied, OTHER_HISTORY, copy};
pub use embedded::Redb;
pub use error::{ADDRESS, DAMAGED, DENIED, Error, FAILED, FORMAT, LOCKED, UNKNOWN};
pub use etcd::{Address, Credentials, Etcd};
pub use memory::Memory;
pub use repository::{
    Done, Log, MOVED, NAME_TAKEN, NO_SUCH_NAME, NO_SUCH_VERSION, Proposal, Receipt, Refused,
    Repository, Request, Rules,
};
pub use undo::{NOT_A_COMMIT, NOTHING_TO_UNDO, UNDO_MOVED, UNDONE};

/// Where a ledger lives: immutable objects, and a row of entries that only ever gets longer.
pub trait Store: Send + Sync {
    /// Where it is, as messages name it.
    fn place(&self) -> String;

    /// The number of the newest entry; 0 if there is none.
    fn head(&self) -> Result<u64, Error>;

    /// The entry with this number.
    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error>;

    /// The object with this hash.
    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error>;

    /// The objects with these hashes, in their order, in as few steps as the store can.
    fn objects(&self, hashes: &[Hash]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        hashes.iter().map(|hash| self.object(*hash)).collect()
    }

    /// The hashes of all objects, in no order.
    fn hashes(&self) -> Result<Vec<Hash>, Error>;

    /// Adds an entry, if the one before it is the newest, and makes the objects durable before it. An error leaves open
    /// whether it was added; [`Store::head`] knows.
    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, Error>;

    /// Keeps what a node reports, instead of what it reported before.
    fn report(&self, node: &str, report: &[u8]) -> Result<(), Error>;

    /// The same for many nodes, in as few steps as the store can.
    fn report_all(&self, reports: &[(String, Vec<u8>)]) -> Result<(), Error> {
        let mut reports = reports.iter();
        reports.try_for_each(|(node, report)| self.report(node, report))
    }

    /// What a node reported last.
    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error>;

    /// What each node reported last, in the order of their names.
    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error>;

    /// The number of the newest entry, as soon as it is higher than this one, or when the time is over.
    fn wait(&self, than: u64, limit: Duration) -> Result<u64, Error> {
        let start = Instant::now();
        loop {
            let head = self.head()?;
            let left = limit.saturating_sub(start.elapsed());
            if head > than || left.is_zero() {
                return Ok(head);
            }
            std::thread::sleep(left.min(INTERVAL));
        }
    }
}

/// How often a store is looked at that cannot tell by itself.
const INTERVAL: Duration = Duration::from_millis(100);

/// Whether an entry was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is the newest now, and stays when the power fails.
    Done,
    /// It was not: another one is the newest.
    Moved(u64),
}
