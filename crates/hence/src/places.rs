//! Lines and columns of offsets that mostly come in order.

use hence_model::source::{FileId, Sources, Span};
use hence_model::value::{Map, Value};

/// Where a span begins and ends; lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The last line.
    pub end_line: u32,
    /// The column behind the last one.
    pub end_column: u32,
}

impl Place {
    /// Its four numbers, for JSON.
    pub fn entries(self) -> [(&'static str, u32); 4] {
        [
            ("line", self.line),
            ("column", self.column),
            ("end_line", self.end_line),
            ("end_column", self.end_column),
        ]
    }

    /// Adds its four numbers to a map.
    pub fn add_to(self, map: &mut Map) {
        for (key, number) in self.entries() {
            map.insert(key.into(), Value::Integer(number.into()));
        }
    }
}

/// Finds places. Columns are counted on from the place before, so that a text that is one long line
/// costs no more than any other.
pub struct Places<'a> {
    sources: &'a Sources,
    /// The line found last: its file, its number and its span.
    file: FileId,
    line: u32,
    span: Span,
    /// An offset in that line, and its column.
    offset: u32,
    column: u32,
}

impl<'a> Places<'a> {
    /// Finds places in `sources`.
    pub fn new(sources: &'a Sources) -> Self {
        Self {
            sources,
            file: sources.file_at(0),
            line: 0,
            // Nothing lies in it, so that the first place is looked for.
            span: Span::new(1, 0),
            offset: 0,
            column: 0,
        }
    }

    /// Where a span begins and ends.
    pub fn of(&mut self, span: Span) -> Place {
        let (line, column) = self.find(span.start);
        let (end_line, end_column) = self.find(span.end);
        Place {
            line,
            column,
            end_line,
            end_column,
        }
    }

    fn find(&mut self, offset: u32) -> (u32, u32) {
        let same_line = self.span.start <= offset
            && offset <= self.span.end
            && self.sources.file_at(offset) == self.file;
        if !same_line {
            let location = self.sources.location(offset);
            self.file = self.sources.file_at(offset);
            self.line = location.line;
            self.span = self
                .sources
                .line(self.file, location.line)
                .expect("a place is in a line");
            // Behind the end of a file there is nothing to count.
            self.offset = offset.min(self.span.end);
            self.column = location.column;
            return (self.line, self.column);
        }
        let characters = |start, end| self.sources.slice(Span::new(start, end)).chars().count();
        if self.offset <= offset {
            self.column += characters(self.offset, offset) as u32;
        } else {
            self.column -= characters(offset, self.offset) as u32;
        }
        self.offset = offset;
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_agree_with_locations_in_any_order() {
        let mut sources = Sources::default();
        sources.add("a", "one\né two three\n\n").unwrap();
        sources.add("b", "").unwrap();
        sources.add("c", "four é five").unwrap();
        let boundaries: Vec<u32> = (0..=sources.text().len() as u32)
            .filter(|&at| sources.text().is_char_boundary(at as usize))
            .collect();
        let mut places = Places::new(&sources);
        for &first in &boundaries {
            for &second in &boundaries {
                let place = places.of(Span::new(first, second));
                let (start, end) = (sources.location(first), sources.location(second));
                assert_eq!((place.line, place.column), (start.line, start.column));
                assert_eq!((place.end_line, place.end_column), (end.line, end.column));
            }
        }
    }
}
