//! A store that lives as long as the process, for tests.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use hence_ledger::Hash;

use crate::{Appended, Error, Store};

/// A store in memory. Its clones are the same store, as if it had been opened again.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    entries: Vec<Vec<u8>>,
    objects: HashMap<Hash, Vec<u8>>,
    reports: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    fn content(&self) -> MutexGuard<'_, Content> {
        // Nothing panics between two writes, so what a panic left behind is whole.
        self.0.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Store for Memory {
    fn place(&self) -> String {
        "the store in memory".to_owned()
    }

    fn head(&self) -> Result<u64, Error> {
        Ok(self.content().entries.len() as u64)
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        let place = version
            .checked_sub(1)
            .and_then(|place| usize::try_from(place).ok());
        let content = self.content();
        Ok(place.and_then(|place| content.entries.get(place).cloned()))
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.content().objects.get(&hash).cloned())
    }

    fn hashes(&self) -> Result<Vec<Hash>, Error> {
        Ok(self.content().objects.keys().copied().collect())
    }

    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, Error> {
        let mut content = self.content();
        let head = content.entries.len() as u64;
        if version != head + 1 {
            return Ok(Appended::Moved(head));
        }
        content.objects.extend(objects.iter().cloned());
        content.entries.push(entry.to_vec());
        Ok(Appended::Done)
    }

    fn report(&self, node: &str, report: &[u8]) -> Result<(), Error> {
        let mut content = self.content();
        content.reports.insert(node.to_owned(), report.to_vec());
        Ok(())
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.content().reports.get(node).cloned())
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let content = self.content();
        let reports = content.reports.iter();
        Ok(reports
            .map(|(node, report)| (node.clone(), report.clone()))
            .collect())
    }
}
