//! Values in eight bytes.
//!
//! A fleet of ten thousand machines is a few hundred thousand values, most of them literals that
//! already stand in a source. A [`Cell`] holds small ones itself and points to the others: to the
//! source text, or to [`Literals`]. Only this file knows the packing; everyone else sees [`Content`].

use crate::source::{Sources, Span};
use crate::store::{BlockId, Inclusion, ViewId};
use crate::value::{Event, Sink};

/// A packed value: a tag of 8 bits, a length of 24, and 32 bits of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    head: u32,
    data: u32,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(Text),
    /// A reference that is data.
    Reference(Text),
    /// Elements, kept with the literals.
    List(Items),
    /// A block.
    Block(Child),
    /// Something to be computed later, numbered by the language that stored it.
    Late(u32),
}

/// A block as the value of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// The entry's own. It is seen as it is at the time of whoever looks.
    Own(BlockId),
    /// The entry's own, and it continues the one that the key had before.
    Edit(BlockId),
    /// Another entry's, as it was at some time.
    Shared(ViewId),
}

/// A piece of text, in the sources or among the literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    place: Buffer,
    start: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Buffer {
    Source,
    Made,
}

/// The elements of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items {
    start: u32,
    len: u32,
}

/// One element of a list: its value, and where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The value.
    pub cell: Cell,
    /// The offset of its literal.
    pub at: u32,
}

/// Literals that do not fit into a cell, and texts that are not written in a source as they are.
#[derive(Clone, Default)]
pub struct Literals {
    made: String,
    integers: Vec<i64>,
    floats: Vec<f64>,
    items: Vec<Item>,
    lists: Vec<ListRecord>,
    /// Start and length of texts whose length does not fit into a cell.
    long: Vec<(u32, u32)>,
}

/// How much [`Literals`] kept at some time.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    made: usize,
    integers: usize,
    floats: usize,
    items: usize,
    lists: usize,
    long: usize,
}

#[derive(Clone)]
struct ListRecord {
    items: Items,
    weight: u32,
}

mod tag {
    pub const NULL: u32 = 0;
    pub const BOOL: u32 = 1;
    pub const INTEGER: u32 = 2;
    pub const WIDE_INTEGER: u32 = 3;
    pub const FLOAT: u32 = 4;
    pub const TEXT: u32 = 5;
    pub const MADE_TEXT: u32 = 6;
    pub const REFERENCE: u32 = 7;
    pub const MADE_REFERENCE: u32 = 8;
    pub const LIST: u32 = 9;
    pub const OWN: u32 = 10;
    pub const EDIT: u32 = 11;
    pub const SHARED: u32 = 12;
    pub const LATE: u32 = 13;
}

/// The length that means: look into `long`.
const LONG: u32 = (1 << 24) - 1;

impl Cell {
    /// Nothing.
    pub const NULL: Cell = Cell {
        head: tag::NULL,
        data: 0,
    };

    const fn new(tag: u32, data: u32) -> Self {
        Self { head: tag, data }
    }

    /// True or false.
    pub fn bool(bool: bool) -> Self {
        Self::new(tag::BOOL, bool.into())
    }

    /// A block that belongs to the entry.
    pub fn own(block: BlockId) -> Self {
        Self::new(tag::OWN, block.0)
    }

    /// A block that belongs to the entry and continues the key's previous one.
    pub fn edit(block: BlockId) -> Self {
        Self::new(tag::EDIT, block.0)
    }

    /// Another's block, as it was.
    pub fn shared(view: ViewId) -> Self {
        Self::new(tag::SHARED, view.0)
    }

    /// What an include refers to: another's block, or the block that this one is a new version of.
    pub(crate) fn included(view: ViewId, inclusion: Inclusion) -> Self {
        Self::new(tag::SHARED | (inclusion as u32) << 8, view.0)
    }

    /// How an include came about.
    pub(crate) fn inclusion(self) -> Inclusion {
        match self.head >> 8 {
            0 => Inclusion::Prototype,
            _ => Inclusion::Version,
        }
    }

    /// Something to be computed later.
    pub const fn late(number: u32) -> Self {
        Self::new(tag::LATE, number)
    }

    /// The number of what is still to be computed, if it is that.
    pub fn as_late(self) -> Option<u32> {
        (self.head == tag::LATE).then_some(self.data)
    }

    /// Whether it is a value of its own, neither a list nor a block, and known.
    pub fn is_scalar(self) -> bool {
        (self.head & 0xff) < tag::LIST
    }

    /// The block that it is, if it is one.
    #[inline]
    pub fn child(self) -> Option<Child> {
        match self.head & 0xff {
            tag::OWN => Some(Child::Own(BlockId(self.data))),
            tag::EDIT => Some(Child::Edit(BlockId(self.data))),
            tag::SHARED => Some(Child::Shared(ViewId(self.data))),
            _ => None,
        }
    }

    /// About how many bytes it is when printed; nothing for a block, whose entries count.
    pub fn weight(self, literals: &Literals) -> u64 {
        match self.head & 0xff {
            tag::TEXT | tag::MADE_TEXT | tag::REFERENCE | tag::MADE_REFERENCE => {
                literals.stretch(self).1 as u64 + 2
            }
            tag::LIST => literals.lists[self.data as usize].weight as u64,
            tag::OWN | tag::EDIT | tag::SHARED => 0,
            _ => 4,
        }
    }

    /// Unpacks it.
    #[inline]
    pub fn content(self, literals: &Literals) -> Content {
        let text = |place| {
            let (start, len) = literals.stretch(self);
            Text { place, start, len }
        };
        match self.head & 0xff {
            tag::NULL => Content::Null,
            tag::BOOL => Content::Bool(self.data != 0),
            tag::INTEGER => Content::Integer(self.data as i32 as i64),
            tag::WIDE_INTEGER => Content::Integer(literals.integers[self.data as usize]),
            tag::FLOAT => Content::Float(literals.floats[self.data as usize]),
            tag::TEXT => Content::Text(text(Buffer::Source)),
            tag::MADE_TEXT => Content::Text(text(Buffer::Made)),
            tag::REFERENCE => Content::Reference(text(Buffer::Source)),
            tag::MADE_REFERENCE => Content::Reference(text(Buffer::Made)),
            tag::LIST => Content::List(literals.lists[self.data as usize].items),
            tag::LATE => Content::Late(self.data),
            _ => Content::Block(self.child().expect("all other tags are blocks")),
        }
    }
}

impl Literals {
    /// A whole number.
    pub fn integer(&mut self, integer: i64) -> Cell {
        match i32::try_from(integer) {
            Ok(small) => Cell::new(tag::INTEGER, small as u32),
            Err(_) => {
                self.integers.push(integer);
                Cell::new(tag::WIDE_INTEGER, self.integers.len() as u32 - 1)
            }
        }
    }

    /// Any other number.
    pub fn float(&mut self, float: f64) -> Cell {
        self.floats.push(float);
        Cell::new(tag::FLOAT, self.floats.len() as u32 - 1)
    }

    /// Text that stands in a source just as it is.
    #[inline]
    pub fn text(&mut self, span: Span) -> Cell {
        self.stretched(tag::TEXT, span.start, span.end - span.start)
    }

    /// Text that stands in no source.
    pub fn made_text(&mut self, text: &str) -> Cell {
        let start = self.make(text);
        self.stretched(tag::MADE_TEXT, start, text.len() as u32)
    }

    /// A data reference that stands in a source just as it is.
    pub fn reference(&mut self, span: Span) -> Cell {
        self.stretched(tag::REFERENCE, span.start, span.end - span.start)
    }

    /// A data reference that stands in no source.
    pub fn made_reference(&mut self, text: &str) -> Cell {
        let start = self.make(text);
        self.stretched(tag::MADE_REFERENCE, start, text.len() as u32)
    }

    /// A list of elements.
    pub fn list(&mut self, items: &[Item]) -> Cell {
        let start = self.items.len() as u32;
        let len = items.len() as u32;
        let weights = items.iter().map(|item| item.cell.weight(self) + 1);
        let weight = weights.sum::<u64>().min(u32::MAX as u64 - 2) as u32 + 2;
        self.items.extend_from_slice(items);
        let items = Items { start, len };
        self.lists.push(ListRecord { items, weight });
        Cell::new(tag::LIST, self.lists.len() as u32 - 1)
    }

    /// How many bytes of texts are kept that stand in no source.
    pub fn made_bytes(&self) -> u64 {
        self.made.len() as u64
    }

    /// What is kept so far.
    pub fn mark(&self) -> Mark {
        Mark {
            made: self.made.len(),
            integers: self.integers.len(),
            floats: self.floats.len(),
            items: self.items.len(),
            lists: self.lists.len(),
            long: self.long.len(),
        }
    }

    /// Forgets everything since a mark.
    pub fn reset(&mut self, mark: Mark) {
        self.made.truncate(mark.made);
        self.integers.truncate(mark.integers);
        self.floats.truncate(mark.floats);
        self.items.truncate(mark.items);
        self.lists.truncate(mark.lists);
        self.long.truncate(mark.long);
    }

    /// The elements of a list.
    pub fn items(&self, items: Items) -> &[Item] {
        &self.items[items.start as usize..(items.start + items.len) as usize]
    }

    /// The characters of a text.
    #[inline]
    pub fn read<'a>(&'a self, sources: &'a Sources, text: Text) -> &'a str {
        let span = Span::new(text.start, text.start + text.len);
        match text.place {
            Buffer::Source => sources.slice(span),
            Buffer::Made => &self.made[span.start as usize..span.end as usize],
        }
    }

    /// A scalar as an event; none if it is a list.
    #[inline]
    pub fn scalar<'a>(&'a self, sources: &'a Sources, cell: Cell) -> Option<Event<'a>> {
        Some(match cell.content(self) {
            Content::Null => Event::Null,
            Content::Bool(bool) => Event::Bool(bool),
            Content::Integer(integer) => Event::Integer(integer),
            Content::Float(float) => Event::Float(float),
            Content::Text(text) => Event::Text(self.read(sources, text)),
            Content::Reference(text) => Event::Reference(self.read(sources, text)),
            Content::List(_) => return None,
            Content::Block(_) => unreachable!("a block is entered, not sent as a literal"),
            Content::Late(_) => unreachable!("what was to be computed later has been computed"),
        })
    }

    /// Sends a literal, and all elements if it is a list, to a sink.
    pub fn send(&self, sources: &Sources, cell: Cell, sink: &mut impl Sink) {
        let mut open: Vec<&[Item]> = Vec::new();
        let mut next = Some(cell);
        loop {
            if let Some(cell) = next.take() {
                match self.scalar(sources, cell) {
                    Some(scalar) => sink.event(scalar),
                    None => {
                        sink.event(Event::ListStart);
                        open.push(self.elements(cell));
                    }
                }
            }
            let Some(rest) = open.last_mut() else {
                return;
            };
            match rest.split_first() {
                Some((item, others)) => {
                    next = Some(item.cell);
                    *rest = others;
                }
                None => {
                    sink.event(Event::ListEnd);
                    open.pop();
                }
            }
        }
    }

    /// The elements of a cell; none if it is not a list.
    pub fn elements(&self, cell: Cell) -> &[Item] {
        match cell.content(self) {
            Content::List(items) => self.items(items),
            _ => &[],
        }
    }

    fn make(&mut self, text: &str) -> u32 {
        let start = self.made.len() as u32;
        self.made.push_str(text);
        start
    }

    fn stretched(&mut self, tag: u32, start: u32, len: u32) -> Cell {
        if len < LONG {
            return Cell::new(tag | len << 8, start);
        }
        self.long.push((start, len));
        Cell::new(tag | LONG << 8, self.long.len() as u32 - 1)
    }

    fn stretch(&self, cell: Cell) -> (u32, u32) {
        match cell.head >> 8 {
            LONG => self.long[cell.data as usize],
            len => (cell.data, len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_gives_back_what_was_put_in() {
        let mut sources = Sources::default();
        sources.add("a", "hello").unwrap();
        let mut literals = Literals::default();
        for integer in [0, -1, 2_147_483_647, 2_147_483_648, i64::MIN, i64::MAX] {
            let cell = literals.integer(integer);
            assert_eq!(cell.content(&literals), Content::Integer(integer));
        }
        let cell = literals.float(1.5);
        assert_eq!(cell.content(&literals), Content::Float(1.5));
        let long = "x".repeat(1 << 24);
        for (cell, expected) in [
            (literals.text(Span::new(1, 3)), "el"),
            (literals.made_text("made"), "made"),
            (literals.made_text(&long), &long),
        ] {
            let Content::Text(text) = cell.content(&literals) else {
                panic!("not a text")
            };
            assert_eq!(literals.read(&sources, text), expected);
        }
    }
}
