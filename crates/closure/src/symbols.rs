//! What a shared object offers to others, and what it wants of them: the symbols that its file names (System V ABI, ELF-64).
//!
//! A module that wants a symbol which only another module offers cannot be loaded before that one, whatever anybody wrote
//! about it.

use std::collections::BTreeSet;

/// The symbols that a shared object names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Those that it has.
    pub offers: BTreeSet<String>,
    /// Those without which it cannot be loaded.
    pub wants: BTreeSet<String>,
}

/// The kind of section that names symbols to the loader.
const DYNAMIC: u64 = 11;
/// How long the description of a symbol is.
const SYMBOL: usize = 24;
/// The binding of a symbol that must be found.
const GLOBAL: u64 = 1;

impl Symbols {
    /// Those in a file; none if it is not such a file as this machine loads.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        // 64 bits, the lowest byte first.
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let file = File(bytes);
        let (table, size) = (file.number(0, 0x28, 8)?, file.number(0, 0x3a, 2)?);
        let section = |index: usize| table.checked_add(index.checked_mul(size)?);
        let mut symbols = Self::default();
        for index in 0..file.number(0, 0x3c, 2)? {
            let at = section(index)?;
            if file.number(at, 4, 4)? as u64 != DYNAMIC {
                continue;
            }
            let names = section(file.number(at, 0x28, 4)?)?;
            let names = file.number(names, 0x18, 8)?;
            let (start, length) = (file.number(at, 0x18, 8)?, file.number(at, 0x20, 8)?);
            for number in 0..length / SYMBOL {
                let at = start.checked_add(number * SYMBOL)?;
                let name = file.text(names.checked_add(file.number(at, 0, 4)?)?)?;
                let binding = file.number(at, 4, 1)? as u64 >> 4;
                match (file.number(at, 6, 2)?, binding) {
                    _ if name.is_empty() => {}
                    (0, GLOBAL) => drop(symbols.wants.insert(name)),
                    // What is only wished for may be missing.
                    (0, _) => {}
                    _ => drop(symbols.offers.insert(name)),
                }
            }
        }
        Some(symbols)
    }
}

/// A file in which things are at places.
struct File<'b>(&'b [u8]);

impl File<'_> {
    /// The number that is so far behind a place.
    fn number(&self, at: usize, behind: usize, length: usize) -> Option<usize> {
        let at = at.checked_add(behind)?;
        let bytes = self.0.get(at..at.checked_add(length)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        usize::try_from(bytes.iter().rev().fold(0, add)).ok()
    }

    /// The text at a place, which ends with a zero.
    fn text(&self, at: usize) -> Option<String> {
        let bytes = self.0.get(at..)?.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_in_a_file_there_is_an_answer() {
        assert_eq!(Symbols::read(b""), None);
        assert_eq!(Symbols::read(b"#!/bin/sh"), None);
        let mut file = b"\x7fELF\x02\x01".to_vec();
        assert_eq!(Symbols::read(&file), None);
        file.resize(64, 0xff);
        assert_eq!(Symbols::read(&file), None);
        file[0x28..].fill(0);
        assert_eq!(Symbols::read(&file), Some(Symbols::default()));
    }
}
