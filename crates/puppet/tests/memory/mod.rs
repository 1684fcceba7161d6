//! Files that stand in memory.

use std::collections::BTreeMap;

use hence_model::source::{Files, ReadError};
use hence_puppet::World;

/// Files by name.
pub struct Memory(BTreeMap<String, String>);

impl Memory {
    /// These files, and no others.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let owned = files
            .iter()
            .map(|(name, text)| (name.to_string(), text.to_string()));
        Self(owned.collect())
    }
}

impl Files for Memory {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let found = self.0.get(name).ok_or(ReadError::Missing)?;
        text.push_str(found);
        Ok(())
    }
}

impl World for Memory {
    fn list(&self, directory: &str) -> Vec<String> {
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let mut names: Vec<String> = self
            .0
            .keys()
            .filter_map(|name| name.strip_prefix(&prefix))
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => rest.to_owned(),
            })
            .collect();
        names.dedup();
        names
    }
}
