//! What is told about differences: for people, for programs, for a review.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hence_model::explanation::Shown;
use hence_model::value::{List, Map, Value};

use super::causes::Edited;
use crate::difference::written;

/// So much of a long value is shown to people.
const LONGEST: usize = 72;
/// So many titles are named.
const MOST_TITLES: usize = 4;

/// What differs, and why.
#[derive(Default)]
pub struct Report {
    /// What differs, with the files or nodes in which it does.
    differing: Vec<(Differing, Vec<String>)>,
    known: BTreeMap<String, usize>,
    edits: Vec<Edited>,
}

/// One value that differs.
pub struct Differing {
    /// Its path.
    pub path: String,
    /// What happened to it.
    pub kind: Told,
    /// The edits that caused it, by number.
    pub causes: Vec<usize>,
}

/// What happened to a value, as it may be shown.
pub enum Told {
    /// It is new.
    Added(Shown),
    /// It is gone.
    Removed(Shown),
    /// It is something else.
    Changed(Shown, Shown),
    /// Names come in another order.
    Reordered(Vec<String>, Vec<String>),
}

impl Report {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.differing.is_empty()
    }

    /// Adds something that differs in a file or for a node. Its causes are numbers among `edits`.
    pub fn add(&mut self, title: &str, mut differing: Differing, edits: &[Edited]) {
        let numbers = differing
            .causes
            .iter()
            .map(|&cause| self.number(&edits[cause]));
        differing.causes = numbers.collect();
        let key = format!("{}\0{}", differing.path, one_line(&differing.kind));
        let known = *self.known.entry(key).or_insert(self.differing.len());
        match self.differing.get_mut(known) {
            Some((before, titles)) => {
                titles.push(title.to_owned());
                before.causes.extend(differing.causes);
                before.causes.sort_unstable();
                before.causes.dedup();
            }
            None => self.differing.push((differing, vec![title.to_owned()])),
        }
    }

    /// Takes note of edits, whether they caused something or not.
    pub fn note(&mut self, edits: &[Edited]) {
        for edit in edits {
            self.number(edit);
        }
    }

    /// A configuration that is new or gone as a whole.
    pub fn whole(&mut self, title: &str, path: &str, is_new: bool, value: Shown) {
        let kind = match is_new {
            true => Told::Added(value),
            false => Told::Removed(value),
        };
        let differing = Differing {
            path: path.to_owned(),
            kind,
            causes: Vec::new(),
        };
        self.differing.push((differing, vec![title.to_owned()]));
    }

    fn number(&mut self, edit: &Edited) -> usize {
        let known = self.edits.iter().position(|known| known == edit);
        known.unwrap_or_else(|| {
            self.edits.push(edit.clone());
            self.edits.len() - 1
        })
    }

    /// The edits that caused nothing.
    fn idle(&self) -> impl Iterator<Item = &Edited> + '_ {
        let caused = |number: usize| {
            let mut all = self.differing.iter();
            all.any(|(differing, _)| differing.causes.contains(&number))
        };
        let edits = self.edits.iter().enumerate();
        edits
            .filter(move |(number, _)| !caused(*number))
            .map(|(_, edit)| edit)
    }

    /// For people.
    pub fn text(&self, why: bool, colour: bool) -> String {
        let paint = |code: &str, text: &str| match colour {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        };
        let mut text = String::new();
        for (differing, titles) in &self.differing {
            let path = paint("1", &differing.path);
            let _ = match &differing.kind {
                Told::Added(value) => {
                    writeln!(text, "{} {path}   {}", paint("32", "+"), short(value))
                }
                Told::Removed(value) => {
                    writeln!(text, "{} {path}   {}", paint("31", "-"), short(value))
                }
                Told::Changed(old, new) => writeln!(
                    text,
                    "{} {path}   {} → {}",
                    paint("33", "~"),
                    short(old),
                    short(new)
                ),
                Told::Reordered(old, new) => writeln!(
                    text,
                    "{} {path}   order: {} → {}",
                    paint("33", "~"),
                    old.join(", "),
                    new.join(", ")
                ),
            };
            if let Some(words) = titled(titles) {
                let _ = writeln!(text, "    {words}");
            }
            for &cause in &differing.causes {
                let edit = told(&self.edits[cause], "              ");
                let _ = writeln!(text, "    caused by {edit}");
            }
        }
        if why && self.idle().next().is_some() {
            text.push_str("\nedits that caused nothing:\n");
            for edit in self.idle() {
                let _ = writeln!(text, "    {}", told(edit, "    "));
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", self.summary(why));
        text
    }

    fn summary(&self, why: bool) -> String {
        let differ = match self.differing.len() {
            0 => "nothing differs".to_owned(),
            1 => "1 value differs".to_owned(),
            count => format!("{count} values differ"),
        };
        if !why {
            return differ;
        }
        let edits = match self.edits.len() {
            0 => "no edits".to_owned(),
            1 => "1 edit".to_owned(),
            count => format!("{count} edits"),
        };
        match self.idle().count() {
            0 => format!("{differ}; {edits}"),
            idle => format!("{differ}; {edits}, {idle} without effect"),
        }
    }

    /// For programs.
    pub fn json(&self, why: bool) -> String {
        let text = |text: &str| Value::Text(text.to_owned());
        let list = |values: Vec<Value>| Value::List(List::from(values));
        let texts = |all: &[String]| list(all.iter().map(|one| text(one)).collect());
        let number = |number: usize| Value::Integer(number as i64);
        let mut changes = Vec::new();
        for (differing, titles) in &self.differing {
            let mut map = Map::default();
            map.insert("path".into(), text(&differing.path));
            let kind = match &differing.kind {
                Told::Added(_) => "added",
                Told::Removed(_) => "removed",
                Told::Changed(..) => "changed",
                Told::Reordered(..) => "reordered",
            };
            map.insert("kind".into(), text(kind));
            let (old, new) = match &differing.kind {
                Told::Added(new) => (None, Some(new.to_value())),
                Told::Removed(old) => (Some(old.to_value()), None),
                Told::Changed(old, new) => (Some(old.to_value()), Some(new.to_value())),
                Told::Reordered(old, new) => (Some(texts(old)), Some(texts(new))),
            };
            old.into_iter()
                .for_each(|old| map.insert("old".into(), old));
            new.into_iter()
                .for_each(|new| map.insert("new".into(), new));
            if titled(titles).is_some() {
                map.insert("in".into(), texts(titles));
            }
            if why {
                let causes = differing.causes.iter().map(|&cause| number(cause));
                map.insert("causes".into(), list(causes.collect()));
            }
            changes.push(Value::Map(map));
        }
        let mut whole = Map::default();
        whole.insert("changes".into(), list(changes));
        if why {
            let edits = self.edits.iter().map(|edit| {
                let mut map = Map::default();
                map.insert("file".into(), text(&edit.file));
                for (key, line) in [("old", &edit.old), ("new", &edit.new)] {
                    if let Some(line) = line {
                        let mut place = Map::default();
                        place.insert("line".into(), number(line.number as usize));
                        place.insert("text".into(), text(&line.text));
                        map.insert(key.into(), Value::Map(place));
                    }
                }
                if let Some(commit) = &edit.commit {
                    map.insert("commit".into(), commit.about());
                }
                Value::Map(map)
            });
            whole.insert("edits".into(), list(edits.collect()));
        }
        let mut text = written(&Value::Map(whole));
        text.push('\n');
        text
    }

    /// For a review.
    pub fn markdown(&self, why: bool) -> String {
        let code = |text: &str| {
            let text = text.replace('|', "\\|").replace('\n', " ");
            match text.contains('`') {
                true => format!("`` {text} ``"),
                false => format!("`{text}`"),
            }
        };
        let mut text = format!("**{}**\n", self.summary(why));
        if !self.differing.is_empty() {
            let because = if why { " caused by |" } else { "" };
            let line = if why { "---|" } else { "" };
            let _ = write!(
                text,
                "\n| value | before | after |{because}\n|---|---|---|{line}\n"
            );
        }
        for (differing, titles) in &self.differing {
            let (old, new) = match &differing.kind {
                Told::Added(new) => (String::new(), code(&short(new))),
                Told::Removed(old) => (code(&short(old)), String::new()),
                Told::Changed(old, new) => (code(&short(old)), code(&short(new))),
                Told::Reordered(old, new) => (code(&old.join(", ")), code(&new.join(", "))),
            };
            let mut path = code(&differing.path);
            if let Some(words) = titled(titles) {
                let _ = write!(path, " {words}");
            }
            let _ = write!(text, "| {path} | {old} | {new} |");
            if why {
                let causes = differing
                    .causes
                    .iter()
                    .map(|cause| format!("[{}]", cause + 1));
                let _ = write!(text, " {} |", causes.collect::<Vec<_>>().join(" "));
            }
            text.push('\n');
        }
        if why && !self.edits.is_empty() {
            text.push_str("\nEdits:\n\n");
            let idle: Vec<&Edited> = self.idle().collect();
            for (number, edit) in self.edits.iter().enumerate() {
                let nothing = match idle.contains(&edit) {
                    true => " *(caused nothing)*",
                    false => "",
                };
                let _ = writeln!(text, "{}. {}{nothing}", number + 1, reviewed(edit, &code));
            }
        }
        text
    }
}

/// Where something differs, if there is more than one place.
fn titled(titles: &[String]) -> Option<String> {
    let named: Vec<&str> = titles.iter().map(String::as_str).collect();
    match named.as_slice() {
        [] | [""] => None,
        [one] => Some(format!("in {one}")),
        all if all.len() <= MOST_TITLES => Some(format!("in {}", all.join(", "))),
        all => Some(format!(
            "in {} and {} more",
            all[..MOST_TITLES].join(", "),
            all.len() - MOST_TITLES
        )),
    }
}

/// An edit in a line, and its commit in another.
fn told(edit: &Edited, indent: &str) -> String {
    let line = edit.new.as_ref().or(edit.old.as_ref());
    let mut text = match line {
        Some(line) => format!("{}:{}", edit.file, line.number),
        None => edit.file.clone(),
    };
    let (was, is) = (cut(&edit.words.0), cut(&edit.words.1));
    let _ = match (&edit.old, &edit.new) {
        (Some(_), Some(new)) => write!(text, "   {was} → {is}   in: {}", cut(new.text.trim())),
        (None, Some(_)) => write!(text, "   added: {is}"),
        (Some(_), None) => write!(text, "   removed: {was}"),
        (None, None) => Ok(()),
    };
    if let Some(commit) = &edit.commit {
        let _ = write!(
            text,
            "\n{indent}{}  {}  {}  {}",
            commit.short(),
            commit.date,
            commit.author,
            commit.subject
        );
    }
    text
}

fn reviewed(edit: &Edited, code: &dyn Fn(&str) -> String) -> String {
    let line = edit.new.as_ref().or(edit.old.as_ref());
    let mut text = match line {
        Some(line) => format!("`{}:{}`", edit.file, line.number),
        None => format!("`{}`", edit.file),
    };
    let _ = match (&edit.old, &edit.new) {
        (Some(old), Some(new)) => {
            write!(
                text,
                " {} → {}",
                code(old.text.trim()),
                code(new.text.trim())
            )
        }
        (None, Some(new)) => write!(text, " added {}", code(new.text.trim())),
        (Some(old), None) => write!(text, " removed {}", code(old.text.trim())),
        (None, None) => Ok(()),
    };
    if let Some(commit) = &edit.commit {
        let _ = write!(
            text,
            ", {} by {} on {}: {}",
            commit.short(),
            commit.author,
            commit.date,
            commit.subject
        );
    }
    text
}

/// What tells a change from others with the same path.
fn one_line(kind: &Told) -> String {
    let all = |value: &Shown| written(&value.to_value());
    match kind {
        Told::Added(new) => format!("+{}", all(new)),
        Told::Removed(old) => format!("-{}", all(old)),
        Told::Changed(old, new) => format!("{}>{}", all(old), all(new)),
        Told::Reordered(old, new) => format!("{}>{}", old.join(","), new.join(",")),
    }
}

/// A value in a few words.
fn short(value: &Shown) -> String {
    let cut_short = |value: &Value| cut(&written(value));
    value.seen().map_or_else(str::to_owned, cut_short)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
