//! Lines and columns of many offsets.

use std::collections::HashMap;

use hence_model::source::{Sources, Span};
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

/// Finds places. In a long line the columns of some offsets are remembered, so that a text that is one
/// line costs no more than any other.
pub struct Places<'a> {
    sources: &'a Sources,
    /// For each long line, by where it begins: the characters before every [`STRIDE`]th byte.
    marks: HashMap<u32, Vec<u32>>,
}

const STRIDE: usize = 512;

impl<'a> Places<'a> {
    /// Finds places in `sources`.
    pub fn new(sources: &'a Sources) -> Self {
        let marks = HashMap::new();
        Self { sources, marks }
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
        let number = self.sources.line_number(offset);
        let file = self.sources.file_at(offset);
        let line = self.sources.line(file, number);
        let line = line.expect("an offset is in a line");
        let text = self.sources.slice(line).as_bytes();
        // Behind the end of a file there is nothing to count.
        let within = text.len().min((offset - line.start) as usize);
        let mark = within / STRIDE;
        let before = match mark {
            0 => 0,
            _ => self.marks.entry(line.start).or_insert_with(|| marks(text))[mark],
        };
        (
            number,
            before + characters(&text[mark * STRIDE..within]) + 1,
        )
    }
}

fn marks(line: &[u8]) -> Vec<u32> {
    let counts = line.chunks(STRIDE).scan(0, |before, chunk| {
        let mark = *before;
        *before += characters(chunk);
        Some(mark)
    });
    // A line whose last stride is full ends at a mark of its own.
    counts.chain([characters(line)]).collect()
}

/// How many characters begin in a stretch of UTF-8.
fn characters(text: &[u8]) -> u32 {
    let continues = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    (text.len() - text.iter().filter(continues).count()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_agree_with_locations() {
        let mut sources = Sources::default();
        sources.add("a", "one\né two three\n\n").unwrap();
        sources.add("b", "").unwrap();
        sources.add("c", "four é five").unwrap();
        sources.add("d", &"é2".repeat(STRIDE)).unwrap();
        let boundaries: Vec<u32> = (0..=sources.text().len() as u32)
            .filter(|&at| sources.text().is_char_boundary(at as usize))
            .collect();
        let mut places = Places::new(&sources);
        for &first in &boundaries {
            for &second in boundaries.iter().step_by(7) {
                let place = places.of(Span::new(first, second));
                let (start, end) = (sources.location(first), sources.location(second));
                assert_eq!((place.line, place.column), (start.line, start.column));
                assert_eq!((place.end_line, place.end_column), (end.line, end.column));
            }
        }
    }
}
