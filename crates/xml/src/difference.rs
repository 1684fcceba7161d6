//! Which lines of a document a transaction changed.
//!
//! A new document is written in pieces, and most of them are stretches of the old one: the lines in these were kept. Only
//! what stands between them is compared. So this takes as long as the document is, however many lines changed.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::str::SplitInclusive;

use hence_model::source::{Sources, Span};
use hence_model::work;
use similar::{Algorithm, capture_diff_slices};

use crate::document::Written;

/// Lines that became others; either may be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The lines that were there, counted from 0.
    pub old: Range<usize>,
    /// The lines that are there.
    pub new: Range<usize>,
}

/// So many lines are compared each with each.
const FEW: usize = 100;
/// So often lines between lines that stand once are looked through for others that stand once there.
const ROUNDS: usize = 8;
/// So many lines are shown around those that changed.
const AROUND: usize = 3;

/// What became of the lines of a stretch of the sources.
pub fn changes(sources: &Sources, old: Span, new: &Written) -> Vec<Change> {
    let mut comparison = Comparison::default();
    let (mut from, mut to) = (0, 0);
    let text = sources.slice(old);
    for (was, is) in kept(text, old, new) {
        comparison.replaced(&text[from..was.start], &new.text[to..is.start]);
        comparison.kept(&text[was.clone()]);
        (from, to) = (was.end, is.end);
    }
    comparison.replaced(&text[from..], &new.text[to..]);
    comparison.changes
}

/// The whole lines that were kept: where they stood, and where they stand.
fn kept(text: &str, old: Span, new: &Written) -> Vec<(Range<usize>, Range<usize>)> {
    let begins = |text: &str, at: usize| at == 0 || text.as_bytes()[at - 1] == b'\n';
    let mut kept = Vec::new();
    let mut end = old.start;
    for (span, at) in &new.pieces {
        // White space is copied for what is new.
        if span.start < end || old.end < span.end {
            continue;
        }
        end = span.end;
        let (was, length) = (
            (span.start - old.start) as usize,
            (span.end - span.start) as usize,
        );
        let piece = &text[was..was + length];
        let first = match begins(text, was) && begins(&new.text, *at) {
            true => Some(0),
            false => piece.find('\n').map(|place| place + 1),
        };
        let last = match was + length == text.len() && at + length == new.text.len() {
            true => Some(length),
            false => piece.rfind('\n').map(|place| place + 1),
        };
        if let (Some(first), Some(last)) = (first, last)
            && first < last
        {
            kept.push((was + first..was + last, at + first..at + last));
        }
    }
    kept
}

#[derive(Default)]
struct Comparison {
    /// So many lines of both are behind.
    old: usize,
    new: usize,
    changes: Vec<Change>,
}

impl Comparison {
    fn kept(&mut self, text: &str) {
        let lines = lines(text).count();
        self.old += lines;
        self.new += lines;
    }

    fn replaced(&mut self, old: &str, new: &str) {
        let old: Vec<Line<'_>> = lines(old).map(Line).collect();
        let new: Vec<Line<'_>> = lines(new).map(Line).collect();
        self.compare(&old, &new, ROUNDS);
    }

    /// Compares lines: those at both ends that are the same are kept, then those that stand once in both, then the same
    /// between these. Where neither helps, few lines are compared each with each, and of many all are other lines.
    fn compare(&mut self, old: &[Line<'_>], new: &[Line<'_>], rounds: usize) {
        let same = |pair: &(&Line<'_>, &Line<'_>)| pair.0 == pair.1;
        let before = old.iter().zip(new).take_while(same).count();
        let (old, new) = (&old[before..], &new[before..]);
        let behind = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take_while(same)
            .count();
        let (old, new) = (&old[..old.len() - behind], &new[..new.len() - behind]);
        self.old += before;
        self.new += before;
        let is_plain = old.is_empty() || new.is_empty();
        if !is_plain && old.len() + new.len() <= FEW {
            for part in capture_diff_slices(Algorithm::Myers, old, new) {
                let (_, was, is) = part.as_tag_tuple();
                match part {
                    similar::DiffOp::Equal { len, .. } => self.pass(len),
                    _ => self.change(was.len(), is.len()),
                }
            }
        } else {
            let (mut from, mut to) = (0, 0);
            let anchors = match is_plain || rounds == 0 {
                true => Vec::new(),
                false => anchors(old, new),
            };
            for (was, is) in anchors.iter().copied() {
                self.compare(&old[from..was], &new[to..is], rounds - 1);
                self.pass(1);
                (from, to) = (was + 1, is + 1);
            }
            match anchors.is_empty() {
                true => self.change(old.len(), new.len()),
                false => self.compare(&old[from..], &new[to..], rounds - 1),
            }
        }
        self.pass(behind);
    }

    fn pass(&mut self, lines: usize) {
        self.old += lines;
        self.new += lines;
    }

    fn change(&mut self, old: usize, new: usize) {
        if old + new == 0 {
            return;
        }
        let (old, new) = (self.old..self.old + old, self.new..self.new + new);
        (self.old, self.new) = (old.end, new.end);
        match self.changes.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                (last.old.end, last.new.end) = (old.end, new.end);
            }
            _ => self.changes.push(Change { old, new }),
        }
    }
}

/// Pairs of lines that stand once in the old and once in the new, as many as come in the same order in both.
fn anchors(old: &[Line<'_>], new: &[Line<'_>]) -> Vec<(usize, usize)> {
    /// Where a line stands in the old and in the new; `None` if more than once.
    type Places = [Result<usize, Often>; 2];
    let mut places: HashMap<Line<'_>, Places> = HashMap::new();
    for (side, lines) in [old, new].into_iter().enumerate() {
        for (at, line) in lines.iter().enumerate() {
            let place = &mut places.entry(*line).or_insert([Err(Often::Never); 2])[side];
            *place = match place {
                Err(Often::Never) => Ok(at),
                _ => Err(Often::Many),
            };
        }
    }
    let pairs = old
        .iter()
        .enumerate()
        .filter_map(|(at, line)| match places[line] {
            [Ok(_), Ok(new)] => Some((at, new)),
            _ => None,
        });
    ascending(pairs.collect())
}

/// How often a line stands somewhere, other than once.
#[derive(Clone, Copy)]
enum Often {
    Never,
    Many,
}

/// The longest row of pairs in which the second ones ascend, as the first ones do.
fn ascending(pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    // For each length the row of it that ends lowest, by its last pair; and what comes before each pair.
    let mut rows: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, (_, new)) in pairs.iter().enumerate() {
        let length = rows.partition_point(|last| pairs[*last].1 < *new);
        before.push(length.checked_sub(1).map(|shorter| rows[shorter]));
        match rows.get_mut(length) {
            Some(row) => *row = number,
            None => rows.push(number),
        }
    }
    let mut row = Vec::with_capacity(rows.len());
    let mut next = rows.last().copied();
    while let Some(number) = next {
        row.push(pairs[number]);
        next = before[number];
    }
    row.reverse();
    row
}

/// A line, of which comparisons are counted.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
struct Line<'t>(&'t str);

impl PartialEq for Line<'_> {
    fn eq(&self, other: &Self) -> bool {
        work::step();
        self.0 == other.0
    }
}

impl Hash for Line<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        work::step();
        self.0.hash(state);
    }
}

fn lines(text: &str) -> SplitInclusive<'_, char> {
    text.split_inclusive('\n')
}

/// How many lines changed: of what was there or of what is there, whichever is more.
pub fn count(changes: &[Change]) -> usize {
    let old: usize = changes.iter().map(|change| change.old.len()).sum();
    let new: usize = changes.iter().map(|change| change.new.len()).sum();
    old.max(new)
}

/// The changes with the lines around them, as `patch` reads them.
pub fn unified(old: &str, new: &str, changes: &[Change]) -> String {
    let mut text = String::new();
    let (mut olds, mut news) = (Reader::of(old), Reader::of(new));
    let mut rest = changes;
    while let Some(first) = rest.first() {
        let is_near = |pair: &[Change]| pair[1].old.start - pair[0].old.end <= 2 * AROUND;
        let near = 1 + rest.windows(2).take_while(|pair| is_near(pair)).count();
        let (hunk, others) = rest.split_at(near);
        rest = others;
        let before = first.old.start.min(first.new.start).min(AROUND);
        olds.pass(first.old.start - before - olds.at);
        news.pass(first.new.start - before - news.at);
        let (was, is) = (olds.at, news.at);
        let mut lines = String::new();
        for change in hunk {
            news.pass(change.new.start - news.at);
            olds.print(change.old.start, ' ', &mut lines);
            olds.print(change.old.end, '-', &mut lines);
            news.print(change.new.end, '+', &mut lines);
        }
        let last = olds.at;
        olds.print(last + AROUND, ' ', &mut lines);
        news.pass(olds.at - last);
        let (was, is) = (range(was..olds.at), range(is..news.at));
        text.push_str(&format!("@@ -{was} +{is} @@\n{lines}"));
    }
    text
}

/// Lines as the heading of a hunk tells them: from 1, and no line stands behind the one before it.
fn range(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        length => format!("{},{length}", lines.start + 1),
    }
}

/// A text that is read line by line.
struct Reader<'t> {
    lines: SplitInclusive<'t, char>,
    /// How many lines are behind.
    at: usize,
}

impl<'t> Reader<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            lines: lines(text),
            at: 0,
        }
    }

    fn pass(&mut self, count: usize) {
        self.at += self.lines.by_ref().take(count).count();
    }

    /// Prints the lines up to one, as far as there are any.
    fn print(&mut self, end: usize, mark: char, into: &mut String) {
        for line in self.lines.by_ref().take(end - self.at) {
            self.at += 1;
            into.push(mark);
            into.push_str(line);
            if !line.ends_with('\n') {
                into.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}
