//! From a change of a value to the edits behind it.
//!
//! A value depends only on what its explanation lists. So if it changed, something was edited that the older value
//! depended on, or that the newer one depends on: where an edit meets what is listed, it may be a cause. If several
//! do, or none, because the text around it was edited, they are taken back one by one to see which of them matter.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use hence_model::path::Path;
use hence_model::source::{Sources, Span};
use hence_model::value::Value;

use super::versions::{Pair, Side};
use crate::Stop;
use crate::command::secrets;
use crate::configuration::Configuration;
use crate::console::Console;
use crate::difference::{self, Change, Kind, at};
use crate::edits::{self, Edit};
use crate::git::{self, Commit, Lines};

/// An edit, as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The file.
    pub file: String,
    /// The line that was there.
    pub old: Option<Line>,
    /// The line that is there.
    pub new: Option<Line>,
    /// What was replaced within the line, and by what.
    pub words: (String, String),
    /// The commit that did it, if git knows.
    pub commit: Option<Commit>,
    edit: Edit,
}

/// A line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u32,
    /// What is written in it.
    pub text: String,
}

/// So many edits are taken back to see what they did.
const MOST_TRIED: usize = 40;
/// So many values in something that is new or gone are asked where they come from.
const MOST_ASKED: usize = 50;

/// The texts of one version, by their common names.
type Texts = BTreeMap<String, String>;

/// Finds causes.
pub struct Causes<'p> {
    pair: &'p Pair<'p>,
    /// Whether edits may be taken back: not if there are many files or nodes.
    may_try: bool,
    /// All edits, in the order of files and lines.
    pub edits: Vec<Edited>,
    old_texts: Texts,
    new_texts: Texts,
    /// The real names of the texts; the newer ones, if they differ.
    names: HashMap<String, String>,
    /// What the newer version comes to without each edit, as far as that was tried.
    without: HashMap<usize, Option<Value>>,
}

impl<'p> Causes<'p> {
    /// Compares the texts behind two configurations.
    pub fn new(
        console: &Console<'_>,
        pair: &'p Pair<'p>,
        may_try: bool,
        old: &mut Configuration<'_>,
        new: &mut Configuration<'_>,
        changes: &[Change],
    ) -> Result<Self, Stop> {
        let (before, now) = (pair.old.as_ref(), pair.new.as_ref());
        let (before, now) = before.zip(now).expect("both are there");
        let old_secrets = hidden(old, changes.iter().map(|change| change.old.as_ref()));
        let new_secrets = hidden(new, changes.iter().map(|change| change.new.as_ref()));
        let mut names = HashMap::new();
        let mut texts = |side: &Side<'_>, sources: &Sources| {
            let files = sources.files().map(|file| {
                let (name, text) = (sources.name(file), sources.slice(sources.span(file)));
                let common = match name == side.file {
                    true => ENTRY.to_owned(),
                    false => side.relative(name).to_owned(),
                };
                names.insert(common.clone(), name.to_owned());
                (common, text.to_owned())
            });
            files.collect::<Texts>()
        };
        let old_texts = texts(before, &old.unit().sources);
        let new_texts = texts(now, &new.unit().sources);
        // What is told of edits is read from texts without what is secret.
        let old_shown = texts(before, &old.unit().sources.without(&old_secrets));
        let new_shown = texts(now, &new.unit().sources.without(&new_secrets));
        let all: BTreeSet<&String> = old_texts.keys().chain(new_texts.keys()).collect();
        let mut found = Vec::new();
        for file in all {
            // A file that only one of them read may stand beside the other all the same.
            let beside = |side: &Side<'_>, texts: &Texts| -> Result<Option<String>, Stop> {
                if let Some(text) = texts.get(file) {
                    return Ok(Some(text.clone()));
                }
                let folder = side.version.folder();
                let name = crate::command::source::join(folder, file);
                let disk = side.version.disk(console, &side.options)?;
                let bytes = disk.bytes(&name).ok();
                Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
            };
            let was = beside(before, &old_texts)?;
            let is = beside(now, &new_texts)?;
            found.extend(match (&was, &is) {
                (Some(was), Some(is)) => edits::edits(file, was, is),
                _ => vec![Edit {
                    file: file.clone(),
                    old: 0..was.as_ref().map_or(0, String::len),
                    new: 0..is.as_ref().map_or(0, String::len),
                }],
            });
        }
        let directory = console.path("");
        let (from, to) = (&before.version.revision, &now.version.revision);
        let mut lines = Lines::new(directory.clone(), to.clone());
        let edits = found.into_iter().map(|edit| {
            let line = |texts: &Texts, range: &Range<usize>| {
                let text = texts.get(&edit.file)?;
                (!range.is_empty()).then(|| line_at(text, range.start))
            };
            let (old, new) = (line(&old_shown, &edit.old), line(&new_shown, &edit.new));
            let words = |texts: &Texts, range: &Range<usize>| {
                let text = texts.get(&edit.file).map(|text| &text[range.clone()]);
                text.unwrap_or("").trim().to_owned()
            };
            let words = (words(&old_shown, &edit.old), words(&new_shown, &edit.new));
            let real = names.get(&edit.file).unwrap_or(&edit.file);
            let commit = match (&old, &new) {
                (_, Some(line)) => lines.commit(real, line.number),
                (Some(line), None) => from.as_ref().and_then(|from| {
                    let to = to.as_deref().unwrap_or("HEAD");
                    git::removal(&directory, from, to, real, line.number)
                }),
                (None, None) => None,
            };
            let file = match (edit.file == ENTRY, &new) {
                (true, Some(_)) => now.relative(&now.file).to_owned(),
                (true, None) => before.relative(&before.file).to_owned(),
                (false, _) => edit.file.clone(),
            };
            Edited {
                file,
                old,
                new,
                words,
                commit,
                edit,
            }
        });
        let edits = edits.collect();
        Ok(Self {
            pair,
            may_try,
            edits,
            old_texts,
            new_texts,
            names,
            without: HashMap::new(),
        })
    }

    /// The edits behind a change, by their numbers.
    pub fn of(
        &mut self,
        console: &Console<'_>,
        change: &Change,
        old: &mut Configuration<'_>,
        new: &mut Configuration<'_>,
    ) -> Result<Vec<usize>, Stop> {
        let value = |wanted: bool| match &change.kind {
            Kind::Added(value) => Some(value),
            Kind::Removed(value) => Some(value),
            Kind::Changed(before, now) => Some(if wanted { now } else { before }),
            Kind::Reordered(..) => None,
        };
        let (before, now) = (self.pair.old.as_ref(), self.pair.new.as_ref());
        let mut causes = BTreeSet::new();
        if let (Some(path), Some(side)) = (&change.old, before) {
            for (file, range) in listed(old, side, path, value(false)) {
                causes.extend(self.meeting(&file, |edit| overlap(&edit.old, &range)));
            }
        }
        if let (Some(path), Some(side)) = (&change.new, now) {
            for (file, range) in listed(new, side, path, value(true)) {
                causes.extend(self.meeting(&file, |edit| overlap(&edit.new, &range)));
            }
        }
        let is_met = !causes.is_empty();
        if !is_met {
            causes.extend(0..self.edits.len());
        }
        if causes.len() > 1 && self.may_try {
            let needed = self.needed(console, change, &causes, is_met)?;
            if !needed.is_empty() {
                return Ok(needed);
            }
        }
        Ok(causes.into_iter().collect())
    }

    /// The edits of a file that meet something.
    fn meeting(&self, file: &str, meets: impl Fn(&Edit) -> bool) -> Vec<usize> {
        let edits = self.edits.iter().enumerate();
        let meeting = edits.filter(|(_, one)| one.edit.file == file && meets(&one.edit));
        meeting.map(|(number, _)| number).collect()
    }

    /// The edits without which the newer value is another one; or without which there is none at all, if the value
    /// depends on them.
    fn needed(
        &mut self,
        console: &Console<'_>,
        change: &Change,
        candidates: &BTreeSet<usize>,
        depends: bool,
    ) -> Result<Vec<usize>, Stop> {
        let mut needed = Vec::new();
        for &number in candidates.iter().take(MOST_TRIED) {
            if !self.without.contains_key(&number) {
                let outputs = self.taken_back(console, number)?;
                self.without.insert(number, outputs);
            }
            let Some(outputs) = &self.without[&number] else {
                needed.extend(depends.then_some(number));
                continue;
            };
            let then = change.new.as_ref().and_then(|path| at(outputs, path));
            let differs = match (&change.kind, then) {
                (Kind::Added(_), then) => then.is_none(),
                (Kind::Removed(_), _) => {
                    let path = change.old.as_ref().expect("it was there");
                    at(outputs, path).is_some()
                }
                (Kind::Changed(_, now), Some(then)) => {
                    difference::written(now) != difference::written(then)
                }
                (Kind::Changed(..), None) => true,
                (Kind::Reordered(_, now), Some(Value::Map(then))) => {
                    let names: Vec<&str> = then.iter().map(|(name, _)| name).collect();
                    let now: Vec<&str> = now.iter().map(String::as_str).collect();
                    names != now
                }
                (Kind::Reordered(..), _) => true,
            };
            if differs {
                needed.push(number);
            }
        }
        Ok(needed)
    }

    /// What the newer version comes to without an edit; none if nothing.
    fn taken_back(&self, console: &Console<'_>, number: usize) -> Result<Option<Value>, Stop> {
        let Some(side) = &self.pair.new else {
            return Ok(None);
        };
        let edit = &self.edits[number].edit;
        let (Some(text), Some(name)) = (self.new_texts.get(&edit.file), self.names.get(&edit.file))
        else {
            return Ok(None);
        };
        let was = self.old_texts.get(&edit.file);
        let was = was.map_or("", |text| &text[edit.old.clone()]);
        let mut text = text.clone();
        text.replace_range(edit.new.clone(), was);
        let disk = side.version.disk(console, &side.options)?.with(name, text);
        let outside = side.options.outside_on(console, disk);
        console.unheard(|console| {
            let file = &side.file;
            side.options
                .compile(console, &outside, file, |_, compiled| {
                    Ok(compiled.is_good().then(|| compiled.outputs()))
                })
        })
    }
}

/// The common name of the file that is compiled: it may be called otherwise in the two versions.
const ENTRY: &str = "";

/// What is written of secrets, and of what became of them.
fn hidden<'c>(
    compiled: &mut Configuration<'_>,
    changed: impl Iterator<Item = Option<&'c Path>>,
) -> Vec<Span> {
    let mut spans = secrets::marked(compiled);
    if !compiled.has_secrets() {
        return spans;
    }
    let outputs = compiled.outputs();
    for path in changed.flatten() {
        let inner = at(&outputs, path)
            .map(difference::leaves)
            .unwrap_or_default();
        let inner = inner.iter().map(|(inner, _)| inner);
        for inner in inner.chain([&Path::default()]) {
            let path = Path([&path.0[..], &inner.0[..]].concat());
            if let Ok(explained) = compiled.explain(&path) {
                spans.extend(secrets::made_of(&explained));
            }
        }
    }
    spans
}

/// All that a value depends on, or what is in it, if it is something new or gone as a whole.
fn listed(
    compiled: &mut Configuration<'_>,
    side: &Side<'_>,
    path: &Path,
    value: Option<&Value>,
) -> Vec<(String, Range<usize>)> {
    let mut spans: BTreeSet<Span> = BTreeSet::new();
    let mut ask = |path: &Path| {
        if let Ok(explained) = compiled.explain(path) {
            spans.extend(explained.place);
            spans.extend(explained.depends.iter().map(|one| one.span));
        }
    };
    ask(path);
    for (inner, _) in value
        .map(difference::leaves)
        .unwrap_or_default()
        .iter()
        .take(MOST_ASKED)
    {
        if !inner.0.is_empty() {
            ask(&Path([&path.0[..], &inner.0[..]].concat()));
        }
    }
    let sources = &compiled.unit().sources;
    let listed = spans.into_iter().map(|span| {
        let file = sources.file_at(span.start);
        let start = sources.span(file).start;
        let name = sources.name(file);
        let common = match name == side.file {
            true => ENTRY.to_owned(),
            false => side.relative(name).to_owned(),
        };
        (
            common,
            (span.start - start) as usize..(span.end - start) as usize,
        )
    });
    listed.collect()
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn line_at(text: &str, offset: usize) -> Line {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or("");
    Line {
        number: text[..start].matches('\n').count() as u32 + 1,
        text: line.to_owned(),
    }
}
