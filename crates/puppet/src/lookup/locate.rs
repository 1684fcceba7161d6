//! Which files a hierarchy means for a node.

use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::Diagnostic;

use super::Query;
use super::configuration::{Backend, Configuration, HIERA, Level, Locations, Written};
use super::data::{Data, Format};
use super::interpolate::Place;
use crate::evaluate::{Evaluator, Outcome, failed, pairs};
use crate::site::World;
use crate::trace::{DefinitionId, Node, Origin};
use crate::value::{Datum, Value};

/// The files of a hierarchy.
pub(super) struct Located<'t> {
    /// Its levels.
    pub(super) levels: Vec<LocatedLevel<'t>>,
    /// The variables that its paths are made from. While they are defined as they were, so are the files.
    used: Vec<(EcoString, Option<DefinitionId>)>,
}

/// The files of a level.
pub(super) struct LocatedLevel<'t> {
    /// The level.
    pub(super) level: &'t Level,
    /// Its files, in order.
    pub(super) files: Vec<LocatedFile<'t>>,
}

/// A file that may have data.
pub(super) struct LocatedFile<'t> {
    /// What is in it, if it is there.
    pub(super) data: Option<&'t Data>,
    /// What its path is made from.
    pub(super) made_of: Vec<Origin>,
    /// That it is not there.
    pub(super) absent: Option<Origin>,
}

impl<'t> Evaluator<'t> {
    /// The files of a hierarchy, as seen from here.
    pub(super) fn located(
        &mut self,
        query: &Query<'_>,
        configuration: &'t Configuration,
        hierarchy: &'t [Level],
    ) -> Outcome<Arc<Located<'t>>> {
        let address = hierarchy.as_ptr().addr();
        if let Some(known) = self.lookups.located.get(&address).cloned() {
            let mut same = true;
            for (name, definition) in &known.used {
                let now = match name.contains("::") {
                    true => self.qualified(name),
                    false => self.visible(name, query.span)?,
                };
                same &= now == *definition;
            }
            if same {
                return Ok(known);
            }
        }
        // Overrides and defaults of one question are not for the hierarchy, which is for all.
        let nothing = crate::value::Hash::default();
        let mut inner = Query::new(query.span, query.key, &nothing, &nothing);
        let mut levels = Vec::with_capacity(hierarchy.len());
        for level in hierarchy {
            let files = match level.backend {
                Backend::Refused(_) => Vec::new(),
                Backend::Files(format) => self.files(&mut inner, configuration, level, format)?,
                Backend::Eyaml => self.files(&mut inner, configuration, level, Format::Yaml)?,
            };
            levels.push(LocatedLevel { level, files });
        }
        let used = inner.used;
        let located = Arc::new(Located { levels, used });
        self.lookups.located.insert(address, located.clone());
        Ok(located)
    }

    fn files(
        &mut self,
        query: &mut Query<'_>,
        configuration: &'t Configuration,
        level: &'t Level,
        format: Format,
    ) -> Outcome<Vec<LocatedFile<'t>>> {
        let datadir = self.path(query, &level.datadir, Place::Path)?;
        let directory = Value {
            datum: joined(&configuration.directory, &text(&datadir)).into(),
            ..datadir
        };
        let mut files = Vec::new();
        match &level.locations {
            Locations::Paths(paths) => {
                for path in paths {
                    let path = self.path(query, path, Place::Path)?;
                    files.push(self.file(&directory, &path, format));
                }
            }
            Locations::Globs(globs) => {
                for glob in globs {
                    let glob = self.path(query, glob, Place::Path)?;
                    let pattern = joined(&text(&directory), &text(&glob));
                    for path in globbed(self.site.world, &pattern) {
                        let made_of = [directory.origin, glob.origin];
                        files.push(self.file_at(&path, made_of, format));
                    }
                }
            }
            Locations::Mapped(three) => {
                let [variable, name, template] = &**three;
                let origin = Origin::written(variable.at);
                let seen = self.variable_in_data(query, &variable.text, origin, Place::Path)?;
                for element in elements(query, seen, origin)? {
                    let used = query.used.len();
                    let place = Place::Mapped(&name.text, &element);
                    let path = self.path(query, template, place)?;
                    // The name is not a variable that could be defined otherwise later.
                    let mut at = 0;
                    query.used.retain(|(other, _)| {
                        at += 1;
                        at <= used || *other != name.text
                    });
                    let mut file = self.file(&directory, &path, format);
                    file.made_of.push(element.origin);
                    files.push(file);
                }
            }
        }
        Ok(files)
    }

    /// A path in which variables are replaced.
    fn path(&mut self, query: &mut Query<'_>, written: &Written, place: Place<'_>) -> Outcome {
        let value = Value::new(written.text.clone(), Origin::written(written.at));
        self.interpolate(query, &value, place)
    }

    fn file(&mut self, directory: &Value, path: &Value, format: Format) -> LocatedFile<'t> {
        let name = joined(&text(directory), &text(path));
        self.file_at(&name, [directory.origin, path.origin], format)
    }

    fn file_at(&mut self, name: &str, made_of: [Origin; 2], format: Format) -> LocatedFile<'t> {
        let data = Data::find(self.site, name, format);
        let absent = match data {
            Some(_) => None,
            None => {
                let words = format!("that there is no file `{name}`");
                Some(self.trace.add(Node::Outside(words.into())))
            }
        };
        LocatedFile {
            data,
            made_of: made_of.to_vec(),
            absent,
        }
    }
}

/// The elements that a path is made for.
fn elements(query: &Query<'_>, seen: Option<Value>, origin: Origin) -> Outcome<Vec<Value>> {
    let Some(value) = seen else {
        return Ok(Vec::new());
    };
    match &value.datum {
        Datum::Undef => Ok(Vec::new()),
        Datum::Text(text) if text.is_empty() => Ok(Vec::new()),
        Datum::Text(_) => Ok(vec![value]),
        Datum::Array(array) => Ok(array.as_slice().to_vec()),
        Datum::Hash(hash) => Ok(pairs(hash, value.origin)),
        other => {
            let kind = crate::types::Type::of(other).generalise();
            let message = format!("`mapped_paths` is for text and arrays, and this is {kind}");
            let trouble = Diagnostic::error(HIERA, message);
            Err(failed(query.blame(trouble, origin)))
        }
    }
}

fn text(value: &Value) -> EcoString {
    crate::text::text(&value.datum)
}

/// A path seen from a directory, without `.` and `..` where they can be resolved.
fn joined(directory: &str, path: &str) -> String {
    let whole = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{directory}/{path}"),
    };
    let absolute = path.starts_with('/') || directory.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    match (absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// The files that a pattern means, in the order in which Ruby finds them.
fn globbed(world: &dyn World, pattern: &str) -> Vec<String> {
    let mut found = Vec::new();
    for pattern in alternatives(pattern) {
        let (root, parts) = match pattern.strip_prefix('/') {
            Some(rest) => ("/", rest),
            None => ("", pattern.as_str()),
        };
        let parts: Vec<&str> = parts.split('/').filter(|part| !part.is_empty()).collect();
        expand(world, root, &parts, &mut found);
    }
    found
}

/// What `{a,b}` in a pattern stands for, each written out. There are at most so many.
fn alternatives(pattern: &str) -> Vec<String> {
    const MOST: usize = 1_000;
    let mut done = Vec::new();
    let mut pending = vec![pattern.to_owned()];
    while let Some(pattern) = pending.pop() {
        let Some((open, close, commas)) = braces(&pattern) else {
            done.push(pattern);
            continue;
        };
        let mut ends = commas;
        ends.push(close);
        let mut start = open + 1;
        let mut written = Vec::new();
        for end in ends {
            let (before, part, behind) = (
                &pattern[..open],
                &pattern[start..end],
                &pattern[close + 1..],
            );
            written.push(format!("{before}{part}{behind}"));
            start = end + 1;
        }
        if done.len() + pending.len() + written.len() <= MOST {
            // The first is to be done next.
            pending.extend(written.into_iter().rev());
        }
    }
    done
}

/// The outermost first braces: where they open and close, and the commas between.
fn braces(pattern: &str) -> Option<(usize, usize, Vec<usize>)> {
    let mut open = None;
    let mut depth = 0;
    let mut commas = Vec::new();
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            b'{' => {
                depth += 1;
                if depth == 1 {
                    open = Some(at);
                }
            }
            b'}' if depth == 1 => return Some((open?, at, commas)),
            b'}' if depth > 1 => depth -= 1,
            b',' if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

fn expand(world: &dyn World, directory: &str, parts: &[&str], found: &mut Vec<String>) {
    let [part, rest @ ..] = parts else { return };
    let mut names: Vec<(String, bool)> = world
        .list(if directory.is_empty() { "." } else { directory })
        .into_iter()
        .map(|name| match name.strip_suffix('/') {
            Some(name) => (name.to_owned(), true),
            None => (name, false),
        })
        .collect();
    names.sort();
    let below = |name: &str| match directory {
        "" => name.to_owned(),
        "/" => format!("/{name}"),
        directory => format!("{directory}/{name}"),
    };
    if *part == ".." || *part == "." {
        return expand(world, &below(part), rest, found);
    }
    if *part == "**" {
        // Files here and in what is below are found as one goes along.
        for (name, is_directory) in names {
            match rest {
                [] => {}
                [last] if !is_directory && matches(last, &name) => found.push(below(&name)),
                [next, behind @ ..] if is_directory && !name.starts_with('.') => {
                    if !behind.is_empty() && matches(next, &name) {
                        expand(world, &below(&name), behind, found);
                    }
                    expand(world, &below(&name), parts, found);
                }
                _ => {}
            }
        }
        return;
    }
    for (name, is_directory) in names {
        if !matches(part, &name) {
            continue;
        }
        match rest {
            [] if !is_directory => found.push(below(&name)),
            [] => {}
            rest if is_directory => expand(world, &below(&name), rest, found),
            _ => {}
        }
    }
}

/// Whether a name fits a pattern with `*`, `?` and `[…]`.
fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut position) = (0, 0);
    // The last `*`, and how far it reached: it takes one more if what follows does not fit.
    let mut star: Option<(usize, usize)> = None;
    while position < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, position));
            at += 1;
            continue;
        }
        let step = match pattern.get(at) {
            Some('?') => Some(1),
            Some('[') => class(&pattern[at..], name[position]),
            Some('\\') if pattern.get(at + 1) == Some(&name[position]) => Some(2),
            Some(plain) => (*plain == name[position]).then_some(1),
            None => None,
        };
        match (step, star) {
            (Some(step), _) => {
                at += step;
                position += 1;
            }
            (None, Some((star_at, reached))) => {
                star = Some((star_at, reached + 1));
                at = star_at + 1;
                position = reached + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// How long `[…]` is, if it has the character.
fn class(pattern: &[char], character: char) -> Option<usize> {
    let end = 1 + pattern[1..].iter().skip(1).position(|c| *c == ']')? + 1;
    let mut inner = &pattern[1..end];
    let negated = matches!(inner.first(), Some('!' | '^'));
    if negated {
        inner = &inner[1..];
    }
    let mut has = false;
    while let [first, rest @ ..] = inner {
        match rest {
            ['-', last, behind @ ..] => {
                has |= *first <= character && character <= *last;
                inner = behind;
            }
            _ => {
                has |= *first == character;
                inner = rest;
            }
        }
    }
    (has != negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_without_detours() {
        assert_eq!(joined("", "data"), "data");
        assert_eq!(joined("a", "./b//c"), "a/b/c");
        assert_eq!(joined("a/b", "../c"), "a/c");
        assert_eq!(joined("a", "../../c"), "../c");
        assert_eq!(joined("a", "/etc/x"), "/etc/x");
        assert_eq!(joined("/a", "../../c"), "/c");
    }

    #[test]
    fn names_fit_patterns() {
        assert!(matches("*.yaml", "a.yaml"));
        assert!(matches("a*b*c", "aXbXbc"));
        assert!(matches("[a-c]?.y", "bx.y"));
        assert!(!matches("[!a-c]*", "b"));
        assert!(!matches("*", ".hidden"));
        assert!(!matches("*.yaml", "a.json"));
        assert_eq!(alternatives("{a,b}/{c,d}"), ["a/c", "a/d", "b/c", "b/d"]);
    }
}
