//! Names, each stored once and compared by number.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::FxBuildHasher;

use crate::source::{Sources, Span};
use crate::work;

/// A name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// The key of a log entry that includes another block. No text has this name.
    pub const INCLUDE: Symbol = Symbol(0);
    /// The key of a block's order constraints. No text has this name.
    pub const ORDER: Symbol = Symbol(1);

    /// The key of a mark that says which `#include` the following entries came through.
    pub const FILE: Symbol = Symbol(2);
    /// The key of a mark between two bodies of one block.
    pub const BODY: Symbol = Symbol(3);

    /// The key of a value that is to be placed further in, in every block that inherits it.
    pub const PLACE: Symbol = Symbol(4);

    /// Whether it is a name, and not one of the above.
    pub fn is_name(self) -> bool {
        self.index() >= UNWRITTEN
    }

    /// A small number, for tables indexed by name.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The name with that number.
    pub fn from_index(index: usize) -> Self {
        Symbol(index as u32)
    }
}

/// All names of a compilation. A name that stands in a source is a slice of it.
#[derive(Clone)]
pub struct Symbols {
    names: Vec<Name>,
    /// Names that stand in no source; their spans have the top bit set.
    made: String,
    /// Open addressing: the number of a name, or `FREE`.
    table: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Name {
    span: Span,
    hash: u32,
}

/// How many symbols no text has.
const UNWRITTEN: usize = 5;
/// No text has the name with this number, and a table that is free is made of nothing but zeros, which need not be written.
const FREE: u32 = 0;
const MADE: u32 = 1 << 31;

impl Default for Symbols {
    fn default() -> Self {
        let unwritten = Name {
            span: Span::at(0),
            hash: 0,
        };
        Self {
            names: vec![unwritten; UNWRITTEN],
            made: String::new(),
            table: vec![FREE; 1 << 10],
        }
    }
}

impl Symbols {
    /// The name that stands at `span` in the sources.
    pub fn intern(&mut self, sources: &Sources, span: Span) -> Symbol {
        let name = sources.slice(span);
        let hash = hash(name);
        match self.find(sources, name, hash) {
            Ok(symbol) => symbol,
            Err(slot) => self.add(slot, hash, span),
        }
    }

    /// A name that stands in no source.
    pub fn intern_text(&mut self, sources: &Sources, name: &str) -> Symbol {
        let hash = hash(name);
        match self.find(sources, name, hash) {
            Ok(symbol) => symbol,
            Err(slot) => {
                let start = self.made.len() as u32 | MADE;
                self.made.push_str(name);
                let end = self.made.len() as u32 | MADE;
                self.add(slot, hash, Span::new(start, end))
            }
        }
    }

    /// The number of a name, if it has one.
    pub fn get(&self, sources: &Sources, name: &str) -> Option<Symbol> {
        self.find(sources, name, hash(name)).ok()
    }

    /// The text of a name.
    pub fn name<'a>(&'a self, sources: &'a Sources, symbol: Symbol) -> &'a str {
        let span = self.names[symbol.index()].span;
        if span.start & MADE == 0 {
            sources.slice(span)
        } else {
            &self.made[(span.start & !MADE) as usize..(span.end & !MADE) as usize]
        }
    }

    /// How many bytes a name has.
    #[inline]
    pub fn length(&self, symbol: Symbol) -> u32 {
        let span = self.names[symbol.index()].span;
        span.end - span.start
    }

    /// How many names there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The number of a name, or the place in the table where it would go.
    #[inline]
    fn find(&self, sources: &Sources, name: &str, hash: u32) -> Result<Symbol, usize> {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            work::step();
            let number = self.table[slot];
            if number == FREE {
                return Err(slot);
            }
            let same_hash = self.names[number as usize].hash == hash;
            if same_hash && self.name(sources, Symbol(number)) == name {
                return Ok(Symbol(number));
            }
            slot = (slot + 1) & mask;
        }
    }

    fn add(&mut self, slot: usize, hash: u32, span: Span) -> Symbol {
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(Name { span, hash });
        self.table[slot] = symbol.0;
        if self.names.len() * 2 > self.table.len() {
            self.grow();
        }
        symbol
    }

    /// Four times the table, as each name is then moved half as often.
    fn grow(&mut self) {
        let length = self.table.len() * 4;
        let mask = length - 1;
        self.table = vec![FREE; length];
        for (number, name) in self.names.iter().enumerate().skip(UNWRITTEN) {
            let mut slot = name.hash as usize & mask;
            while self.table[slot] != FREE {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = number as u32;
        }
    }
}

fn hash(name: &str) -> u32 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(name.as_bytes());
    let wide = hasher.finish();
    (wide ^ (wide >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_wherever_it_stands() {
        let mut sources = Sources::default();
        sources.add("a", "web db web").unwrap();
        let mut symbols = Symbols::default();
        let web = symbols.intern(&sources, Span::new(0, 3));
        let db = symbols.intern(&sources, Span::new(4, 6));
        assert_eq!(symbols.intern(&sources, Span::new(7, 10)), web);
        assert_ne!(web, db);
        for i in 0..5_000 {
            symbols.intern_text(&sources, &format!("n{i}"));
        }
        assert_eq!(symbols.get(&sources, "db"), Some(db));
        let n = symbols.get(&sources, "n4999").unwrap();
        assert_eq!(symbols.name(&sources, n), "n4999");
        assert_eq!(symbols.get(&sources, "n5000"), None);
    }
}
