//! Source texts and places in them.
//!
//! All files of a compilation stand one after another in a single buffer, so a place is one 32-bit
//! offset and a piece of text is a slice. Lines and columns are counted only when somebody asks.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// A stretch of source text, as offsets into the common buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Where it begins.
    pub start: u32,
    /// Where it ends: the offset after its last byte.
    pub end: u32,
}

impl Span {
    /// The stretch from `start` up to `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The empty stretch at `offset`.
    pub fn at(offset: u32) -> Self {
        Self::new(offset, offset)
    }

    /// The stretch that begins with `self` and ends with `other`.
    pub fn to(self, other: Span) -> Self {
        Self::new(self.start, other.end)
    }

    /// Whether `offset` lies inside.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// A file of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

/// A place as people write it. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file's name, as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Where source texts come from. Compilers read files only through this.
pub trait Files {
    /// Appends the text of `name` to `text`, which stays as it was if that fails.
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError>;
}

/// Why a source could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// There is no such file.
    Missing,
    /// It is a directory.
    Directory,
    /// The text is not UTF-8 from this byte on.
    NotUtf8 {
        /// How many bytes are good.
        valid: usize,
        /// The good bytes, so that the place can be shown.
        text: String,
    },
    /// All sources together would pass the limit, in bytes.
    TooLarge(u64),
    /// The system said no, in its own words.
    Refused(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Missing => write!(f, "there is no such file"),
            ReadError::Directory => write!(f, "it is a directory"),
            ReadError::NotUtf8 { valid, .. } => write!(f, "it is not UTF-8 from byte {valid} on"),
            ReadError::TooLarge(limit) => write!(f, "the sources would exceed {limit} bytes"),
            ReadError::Refused(why) => f.write_str(why),
        }
    }
}

#[derive(Clone)]
struct File {
    name: String,
    start: u32,
    end: u32,
    /// Offsets at which lines begin, made when first asked for.
    lines: OnceLock<Vec<u32>>,
}

/// The texts of one compilation.
#[derive(Clone)]
pub struct Sources {
    text: String,
    files: Vec<File>,
    limit: u64,
}

/// Offsets need their top bit for other uses.
const OFFSETS: u64 = 1 << 31;

impl Default for Sources {
    fn default() -> Self {
        Self::with_limit(OFFSETS - 1)
    }
}

impl Sources {
    /// No texts yet, and at most `limit` bytes of them later.
    pub fn with_limit(limit: u64) -> Self {
        Self {
            text: String::new(),
            files: Vec::new(),
            limit: limit.min(OFFSETS - 1),
        }
    }

    /// Reads a file through `files` and adds it.
    pub fn load(&mut self, files: &dyn Files, name: &str) -> Result<FileId, ReadError> {
        let start = self.text.len();
        let read = files.read(name, &mut self.text);
        if let Err(error) = read {
            self.text.truncate(start);
            return Err(error);
        }
        if self.text.len() as u64 >= self.limit {
            self.text.truncate(start);
            return Err(ReadError::TooLarge(self.limit));
        }
        Ok(self.close(name, start))
    }

    /// Adds a text that is already here.
    pub fn add(&mut self, name: &str, text: &str) -> Result<FileId, ReadError> {
        if (self.text.len() + text.len()) as u64 >= self.limit {
            return Err(ReadError::TooLarge(self.limit));
        }
        let start = self.text.len();
        self.text.push_str(text);
        Ok(self.close(name, start))
    }

    /// Ends the newest text. The newline behind it keeps the end of one file and the beginning of
    /// the next apart.
    fn close(&mut self, name: &str, start: usize) -> FileId {
        let end = self.text.len();
        self.text.push('\n');
        self.files.push(File {
            name: name.to_owned(),
            start: start as u32,
            end: end as u32,
            lines: OnceLock::new(),
        });
        FileId(self.files.len() as u32 - 1)
    }

    /// The whole buffer: offsets index into it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same texts, with asterisks in the place of what stands in some spans.
    pub fn without(&self, spans: &[Span]) -> Self {
        let mut bytes = self.text.clone().into_bytes();
        for span in spans {
            let hidden = &mut bytes[span.start as usize..span.end as usize];
            let letters = hidden.iter_mut().filter(|byte| **byte != b'\n');
            letters.for_each(|byte| *byte = b'*');
        }
        Self {
            text: String::from_utf8(bytes).expect("spans begin and end between characters"),
            files: self.files.clone(),
            limit: self.limit,
        }
    }

    /// The text of a span.
    #[inline]
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The span of the character at an offset.
    pub fn character(&self, offset: u32) -> Span {
        let character = self.text[offset as usize..].chars().next();
        Span::new(offset, offset + character.map_or(0, char::len_utf8) as u32)
    }

    /// The span of a whole file.
    pub fn span(&self, file: FileId) -> Span {
        let file = &self.files[file.0 as usize];
        Span::new(file.start, file.end)
    }

    /// A file's name.
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// The file with that name, if it was read. Of a signed file, that is the part that was signed: it is added
    /// behind the whole under the same name, and values come from it.
    pub fn named(&self, name: &str) -> Option<FileId> {
        let found = self.files.iter().rposition(|file| file.name == name)?;
        Some(FileId(found as u32))
    }

    /// All files, in the order in which they were read.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// The file that an offset lies in.
    pub fn file_at(&self, offset: u32) -> FileId {
        let after = self.files.partition_point(|file| file.start <= offset);
        FileId(after.saturating_sub(1) as u32)
    }

    /// The place of an offset.
    pub fn location(&self, offset: u32) -> Location {
        let file = &self.files[self.file_at(offset).0 as usize];
        let line = self.line_number(offset);
        let start = self.lines(file)[line as usize - 1] as usize;
        let end = offset.min(file.end) as usize;
        Location {
            file: file.name.clone(),
            line,
            column: without_mark(&self.text[start..end.max(start)])
                .chars()
                .count() as u32
                + 1,
        }
    }

    /// The number of the line that an offset lies in, from 1.
    pub fn line_number(&self, offset: u32) -> u32 {
        let file = &self.files[self.file_at(offset).0 as usize];
        self.lines(file).partition_point(|&start| start <= offset) as u32
    }

    /// The stretch of a line, without what ends it; none if the file is shorter.
    pub fn line(&self, file: FileId, line: u32) -> Option<Span> {
        let file = &self.files[file.0 as usize];
        let lines = self.lines(file);
        let start = *lines.get((line as usize).checked_sub(1)?)?;
        let end = lines.get(line as usize).map_or(file.end, |next| next - 1);
        let text = &self.text[start as usize..end as usize];
        let is_ended = text.ends_with('\r');
        Some(Span::new(start, end - u32::from(is_ended)))
    }

    /// The offset of a line and column; none if the line is shorter.
    pub fn offset(&self, file: FileId, line: u32, column: u32) -> Option<u32> {
        let line = self.line(file, line)?;
        let skip = (column as usize).checked_sub(1)?;
        let text = without_mark(self.slice(line));
        let (at, _) = text.char_indices().nth(skip)?;
        Some(line.end - text.len() as u32 + at as u32)
    }

    fn lines<'a>(&self, file: &'a File) -> &'a [u32] {
        file.lines.get_or_init(|| {
            let range: Range<usize> = file.start as usize..file.end as usize;
            let newlines = self.text[range].bytes().enumerate();
            let starts = newlines.filter(|&(_, byte)| byte == b'\n');
            std::iter::once(file.start)
                .chain(starts.map(|(at, _)| file.start + at as u32 + 1))
                .collect()
        })
    }
}

/// A line without the byte order mark that it may begin with: no editor counts that as a column.
fn without_mark(line: &str) -> &str {
    line.strip_prefix('\u{feff}').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let mut sources = Sources::default();
        let first = sources.add("a.sf", "x 1;\né y;\n").unwrap();
        let second = sources.add("b.sf", "z").unwrap();
        let y = sources.offset(first, 2, 3).unwrap();
        assert_eq!(sources.slice(Span::new(y, y + 1)), "y");
        assert_eq!(sources.location(y).to_string(), "a.sf:2:3");
        assert_eq!(
            sources.location(sources.span(first).end).to_string(),
            "a.sf:3:1"
        );
        assert_eq!(
            sources.location(sources.span(second).start).to_string(),
            "b.sf:1:1"
        );
        assert_eq!(sources.offset(first, 1, 9), None);
    }

    #[test]
    fn neither_a_mark_nor_a_carriage_return_is_counted() {
        let mut sources = Sources::default();
        let file = sources.add("a.sf", "\u{feff}x 1;\r\ny 2;\r\n").unwrap();
        let one = sources.offset(file, 1, 3).unwrap();
        assert_eq!(sources.slice(Span::new(one, one + 1)), "1");
        assert_eq!(sources.location(one).to_string(), "a.sf:1:3");
        assert_eq!(sources.slice(sources.line(file, 2).unwrap()), "y 2;");
    }

    #[test]
    fn what_is_hidden_keeps_its_place() {
        let mut sources = Sources::default();
        let file = sources.add("a.sf", "é 'se\ncrét' 1;\n").unwrap();
        let start = sources.offset(file, 1, 3).unwrap();
        let end = sources.offset(file, 2, 6).unwrap();
        let hidden = sources.without(&[Span::new(start, end)]);
        assert_eq!(hidden.slice(hidden.span(file)), "é ***\n****** 1;\n");
        assert_eq!(hidden.location(end).line, sources.location(end).line);
    }

    #[test]
    fn a_text_over_the_limit_is_refused() {
        let mut sources = Sources::with_limit(4);
        assert!(sources.add("a", "123").is_ok());
        assert_eq!(sources.add("b", "4"), Err(ReadError::TooLarge(4)));
    }
}
