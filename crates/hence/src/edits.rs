//! What was edited in source texts: between which characters of which lines.

use std::ops::Range;

use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices};

/// A stretch of a text that was replaced by another; either may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The name of the file.
    pub file: String,
    /// The bytes that were there.
    pub old: Range<usize>,
    /// The bytes that are there.
    pub new: Range<usize>,
}

/// The edits between two texts of a file, in order. What changed in one line is one edit, and so are lines that
/// are new or gone together.
pub fn edits(file: &str, old: &str, new: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let lines = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .diff_lines(old, new);
    let (olds, news) = (offsets(old), offsets(new));
    for part in lines.ops() {
        match *part {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete {
                old_index,
                old_len,
                new_index,
            } => each(&mut edits, file, &olds, old_index, old_len, |range| {
                (range, news[new_index]..news[new_index])
            }),
            DiffOp::Insert {
                old_index,
                new_index,
                new_len,
            } => each(&mut edits, file, &news, new_index, new_len, |range| {
                (olds[old_index]..olds[old_index], range)
            }),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => {
                let common = old_len.min(new_len);
                for at in 0..common {
                    let from = olds[old_index + at]..olds[old_index + at + 1];
                    let to = news[new_index + at]..news[new_index + at + 1];
                    edits.push(within(file, old, new, from, to));
                }
                let (from, to) = (olds[old_index + common], news[new_index + common]);
                each(
                    &mut edits,
                    file,
                    &olds,
                    old_index + common,
                    old_len - common,
                    |range| (range, to..to),
                );
                each(
                    &mut edits,
                    file,
                    &news,
                    new_index + common,
                    new_len - common,
                    |range| (from..from, range),
                );
            }
        }
    }
    edits
}

/// Lines that are new or gone, one edit each.
fn each(
    edits: &mut Vec<Edit>,
    file: &str,
    offsets: &[usize],
    first: usize,
    count: usize,
    place: impl Fn(Range<usize>) -> (Range<usize>, Range<usize>),
) {
    for line in first..first + count {
        let (old, new) = place(offsets[line]..offsets[line + 1]);
        edits.push(Edit {
            file: file.to_owned(),
            old,
            new,
        });
    }
}

/// What changed within a line: from the first word that differs to the last.
fn within(file: &str, old: &str, new: &str, from: Range<usize>, to: Range<usize>) -> Edit {
    let (before, now) = (words(&old[from.clone()]), words(&new[to.clone()]));
    let ops = capture_diff_slices(Algorithm::Myers, &before, &now);
    let mut changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let (mut old, mut new) = (from.clone(), to.clone());
    if let Some(first) = changed.next() {
        let last = changed.next_back().unwrap_or(first);
        old = from.start + length(&before[..first.old_range().start])
            ..from.start + length(&before[..last.old_range().end]);
        new = to.start + length(&now[..first.new_range().start])
            ..to.start + length(&now[..last.new_range().end]);
    }
    Edit {
        file: file.to_owned(),
        old,
        new,
    }
}

/// Names and numbers whole, all else one by one.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let length = match is_word(first) {
            true => rest.find(|char| !is_word(char)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        words.push(word);
        rest = behind;
    }
    words
}

/// Where the lines of a text begin, and where the last ends.
fn offsets(text: &str) -> Vec<usize> {
    let mut offsets = vec![0];
    for line in text.split_inclusive('\n') {
        offsets.push(offsets.last().expect("there is one") + line.len());
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> Vec<(String, String)> {
        let edits = edits("f", old, new).into_iter();
        edits
            .map(|edit| (old[edit.old].to_owned(), new[edit.new].to_owned()))
            .collect()
    }

    #[test]
    fn a_word_within_a_line() {
        let expected = [("8080".to_owned(), "9090".to_owned())];
        assert_eq!(told("a\nport 8080;\nb\n", "a\nport 9090;\nb\n"), expected);
    }

    #[test]
    fn lines_that_are_new_or_gone() {
        assert_eq!(
            told("a\nb\nc\n", "a\nc\n"),
            [("b\n".to_owned(), String::new())]
        );
        assert_eq!(told("a\nc", "a\nb\nc"), [(String::new(), "b\n".to_owned())]);
        assert_eq!(told("", "a\nb\n").len(), 2);
    }

    #[test]
    fn the_same_has_no_edits() {
        assert!(told("a\nb", "a\nb").is_empty());
    }
}
