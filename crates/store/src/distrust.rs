//! Storage that a database believes nothing of before it has seen all of it.
//!
//! The database keeps a sum of every page in the page above it, but after it was closed in good order it takes the pages as
//! they are, and a damaged one can end the process. After a crash it compares all of them first. So it is told, each time,
//! that there was a crash.
//!
//! ```text
//! header      flags, then two slots: the newest commit and the one before it, each with a sum
//! commit      pages and the free slot are written, sync, a flag names the slot, sync
//! ```
//!
//! After a crash the database would go back to the older slot if the newer has damaged pages, and an entry would be lost
//! without a word. A commit here is whole before the flag names it, so the slot that it names is the only one that is
//! believed. Reading a store of a quarter of a gigabyte so takes a third of a second. The offsets are those of the database's file format, version 3.

use std::io;
use std::ops::Range;

use redb::{Builder, Database, DatabaseError, StorageBackend};

const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";
const FLAGS: usize = 9;
/// The second slot is the one that counts.
const SECOND: u8 = 1;
/// There was a crash.
const CRASHED: u8 = 2;
/// Commits are known to be whole, so that nothing need be compared.
const WHOLE: u8 = 4;
/// A number that no sum covers, and that is 0 in this version.
const REGION_HEADER: Range<usize> = 16..20;
/// A byte of the sum of each slot; a slot with another sum is not believed.
const SUMS: [usize; 2] = [191, 319];
const HEADER: usize = 320;

/// Opens a database that is there, if all of it is what was written.
pub(crate) fn opened(storage: impl StorageBackend, cache: usize) -> Result<Database, redb::Error> {
    let storage = Distrust::new(storage)?;
    let mut builder = Builder::new();
    builder.set_cache_size(cache);
    // It tells how far it is: at the start, when it would go back to the older slot, and when all pages are compared.
    builder.set_repair_callback(|repair| {
        if repair.progress() > 0.0 && repair.progress() < 0.5 {
            repair.abort();
        }
    });
    match builder.create_with_backend(storage) {
        Err(DatabaseError::RepairAborted) => {
            let what = "a page is not what was written".to_owned();
            Err(redb::Error::Corrupted(what))
        }
        opened => Ok(opened?),
    }
}

#[derive(Debug)]
struct Distrust<S>(S);

impl<S: StorageBackend> Distrust<S> {
    fn new(storage: S) -> Result<Self, io::Error> {
        let mut header = [0; HEADER];
        // An empty file would be taken for one to be filled.
        if storage.len()? >= HEADER as u64 {
            storage.read(0, &mut header)?;
        }
        let invalid = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        if !header.starts_with(MAGIC) {
            return invalid("it does not begin as a database does");
        }
        if header[REGION_HEADER] != [0; 4] {
            return invalid("its header is not what was written");
        }
        Ok(Self(storage))
    }
}

impl<S: StorageBackend> StorageBackend for Distrust<S> {
    fn len(&self) -> Result<u64, io::Error> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.0.read(offset, out)?;
        if offset == 0 && out.len() >= HEADER {
            let unnamed = SUMS[usize::from(out[FLAGS] & SECOND == 0)];
            out[unnamed] ^= 1;
            out[FLAGS] |= CRASHED;
            out[FLAGS] &= !WHOLE;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.0.write(offset, data)
    }

    fn close(&self) -> Result<(), io::Error> {
        self.0.close()
    }
}
