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
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
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
                let from = &old_lines[old_index..old_index + old_len];
                let to = &new_lines[new_index..new_index + new_len];
                for (old_at, new_at) in paired(from, to) {
                    let place = |offsets: &[usize], first: usize, at: Result<usize, usize>| match at
                    {
                        Ok(at) => offsets[first + at]..offsets[first + at + 1],
                        Err(at) => offsets[first + at]..offsets[first + at],
                    };
                    let from = place(&olds, old_index, old_at);
                    let to = place(&news, new_index, new_at);
                    edits.push(within(file, old, new, from, to));
                }
            }
        }
    }
    edits
}

/// A line, or else how many stand before the place where there is none.
type At = Result<usize, usize>;

/// So many comparisons of lines are made to find those that belong together.
const MOST_COMPARED: usize = 10_000;

/// Which lines became which, in order: so that those that are paired have most words in common. One that became
/// another is paired with it in any case.
fn paired(old: &[&str], new: &[&str]) -> Vec<(At, At)> {
    if old.len() == 1 && new.len() == 1 {
        return vec![(Ok(0), Ok(0))];
    }
    if old.len() * new.len() > MOST_COMPARED {
        let gone = (0..old.len()).map(|at| (Ok(at), Err(0)));
        let come = (0..new.len()).map(|at| (Err(old.len()), Ok(at)));
        return gone.chain(come).collect();
    }
    // The best that can be had of the lines from each pair of places on.
    let width = new.len() + 1;
    let mut best = vec![0.0; (old.len() + 1) * width];
    let alike: Vec<f32> = old
        .iter()
        .flat_map(|old| new.iter().map(|new| likeness(old, new)))
        .collect();
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let both = alike[i * new.len() + j] + best[(i + 1) * width + j + 1];
            let skipped = f32::max(best[(i + 1) * width + j], best[i * width + j + 1]);
            best[i * width + j] = f32::max(both, skipped);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() || j < new.len() {
        let here = best[i * width + j];
        if i < old.len() && j < new.len() {
            let like = alike[i * new.len() + j];
            if like > 0.0 && here == like + best[(i + 1) * width + j + 1] {
                pairs.push((Ok(i), Ok(j)));
                (i, j) = (i + 1, j + 1);
                continue;
            }
        }
        if i < old.len() && (j == new.len() || here == best[(i + 1) * width + j]) {
            pairs.push((Ok(i), Err(j)));
            i += 1;
        } else {
            pairs.push((Err(i), Ok(j)));
            j += 1;
        }
    }
    pairs
}

/// How many of their words two lines have in common; nothing, if it is less than a third.
fn likeness<'l>(old: &'l str, new: &'l str) -> f32 {
    let named = |line: &'l str| -> Vec<&'l str> {
        let words = words(line).into_iter();
        words
            .filter(|word| word.starts_with(char::is_alphanumeric))
            .collect()
    };
    let (old, new) = (named(old), named(new));
    let same: usize = capture_diff_slices(Algorithm::Myers, &old, &new)
        .iter()
        .filter(|op| matches!(op, DiffOp::Equal { .. }))
        .map(|op| op.old_range().len())
        .sum();
    let share = 2.0 * same as f32 / (old.len() + new.len()).max(1) as f32;
    if share < 0.34 { 0.0 } else { share }
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
    fn lines_that_are_alike_belong_together() {
        let old = "a extends Service, { user 1; }\nb extends Service, { ports 2; }\n";
        let new = "a extends Service\nmail { port 25; }\nb extends Service, { ports 3; }\n";
        let expected = [
            (", { user 1; }", ""),
            ("", "mail { port 25; }\n"),
            ("2", "3"),
        ];
        assert_eq!(
            told(old, new),
            expected.map(|(old, new)| (old.to_owned(), new.to_owned()))
        );
    }

    #[test]
    fn the_same_has_no_edits() {
        assert!(told("a\nb", "a\nb").is_empty());
    }
}
