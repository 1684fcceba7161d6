//! Files of a folder that are only parts of others: they have no `sfConfig`, and others include them.
//!
//! That is seen from their tokens, before anything is compiled: on its own, such a file may not even make sense.

use hence_model::source::{Files, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::includes::places;
use crate::lexer::{Dialect, Lexer, Token};
use crate::text;

/// Those of some files that have no configuration of their own, and that are included, directly or not, by one of
/// them that is no part itself: whoever compiles the others has seen all of their text.
pub fn parts<'n>(files: &dyn Files, names: &'n [String], dialect: Dialect) -> FxHashSet<&'n str> {
    let mut survey = Survey {
        files,
        dialect,
        seen: FxHashMap::default(),
    };
    for name in names {
        survey.look(tidy(name));
    }
    let configured = survey.configured();
    let (whole, rest): (Vec<String>, Vec<String>) = names
        .iter()
        .map(|name| tidy(name))
        .partition(|name| configured.contains(name));
    if rest.is_empty() {
        return FxHashSet::default();
    }
    let mut parts = FxHashSet::default();
    survey.mark(whole, &mut parts);
    // What nobody includes stands for itself, though it lacks something.
    let included = survey.included();
    let alone = rest.into_iter().filter(|name| !included.contains(name));
    survey.mark(alone.collect(), &mut parts);
    let is_part = |name: &&str| {
        let name = tidy(name);
        parts.contains(&name) && included.contains(&name) && !configured.contains(&name)
    };
    names.iter().map(String::as_str).filter(is_part).collect()
}

/// What is known of files, by their names.
struct Survey<'f> {
    files: &'f dyn Files,
    dialect: Dialect,
    /// None of what cannot be read.
    seen: FxHashMap<String, Option<Outline>>,
}

/// What a file says of others, and whether it says what the result is.
#[derive(Default)]
struct Outline {
    has_configuration: bool,
    includes: Vec<String>,
}

impl Survey<'_> {
    /// Looks at a file, and at all that it includes.
    fn look(&mut self, name: String) {
        let mut pending = vec![name];
        while let Some(name) = pending.pop() {
            if self.seen.contains_key(&name) {
                continue;
            }
            let outline = self.outline(&name);
            pending.extend(outline.iter().flat_map(|outline| outline.includes.clone()));
            self.seen.insert(name, outline);
        }
    }

    fn outline(&mut self, name: &str) -> Option<Outline> {
        let mut sources = Sources::default();
        let file = sources.load(self.files, name).ok()?;
        let (mut outline, written) = outline(&sources, sources.span(file), self.dialect);
        for included in written {
            let places = places(name, &included, self.dialect).into_iter();
            let mut places = places.map(|place| tidy(&place));
            outline
                .includes
                .extend(places.find(|place| self.is_there(place)));
        }
        Some(outline)
    }

    fn is_there(&self, name: &str) -> bool {
        match self.seen.get(name) {
            Some(outline) => outline.is_some(),
            None => self.files.read(name, &mut String::new()).is_ok(),
        }
    }

    /// The files that have a configuration, be it by way of others.
    fn configured(&self) -> FxHashSet<String> {
        let mut includers: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for (name, outline) in self.outlines() {
            for included in &outline.includes {
                includers.entry(included).or_default().push(name);
            }
        }
        let own = self.outlines().filter(|(_, it)| it.has_configuration);
        let mut pending: Vec<&str> = own.map(|(name, _)| name).collect();
        let mut configured = FxHashSet::default();
        while let Some(name) = pending.pop() {
            if configured.insert(name.to_owned()) {
                pending.extend(includers.get(name).into_iter().flatten());
            }
        }
        configured
    }

    /// The files that another one includes.
    fn included(&self) -> FxHashSet<String> {
        let mut included = FxHashSet::default();
        for (name, outline) in self.outlines() {
            let others = outline.includes.iter().filter(|other| *other != name);
            included.extend(others.cloned());
        }
        included
    }

    /// Marks all that some files include, directly or not.
    fn mark(&self, names: Vec<String>, marked: &mut FxHashSet<String>) {
        let mut pending = names;
        while let Some(name) = pending.pop() {
            let outline = self.seen.get(&name).and_then(Option::as_ref);
            for included in outline.iter().flat_map(|outline| &outline.includes) {
                if marked.insert(included.clone()) {
                    pending.push(included.clone());
                }
            }
        }
    }

    fn outlines(&self) -> impl Iterator<Item = (&str, &Outline)> {
        let seen = self.seen.iter();
        seen.filter_map(|(name, outline)| Some((name.as_str(), outline.as_ref()?)))
    }
}

/// Whether a text names `sfConfig` at its top, and the names that it includes.
fn outline(sources: &Sources, span: Span, dialect: Dialect) -> (Outline, Vec<String>) {
    let mut lexer = Lexer {
        position: span.start,
        end: span.end,
        dialect,
    };
    let mut ignored = Vec::new();
    let mut outline = Outline::default();
    let mut included = Vec::new();
    let mut depth = 0usize;
    let mut is_named = false;
    loop {
        let (token, span) = lexer.next(sources.text(), &mut ignored);
        match token {
            Token::End => return (outline, included),
            Token::OpenBrace => depth += 1,
            Token::CloseBrace => depth = depth.saturating_sub(1),
            Token::Word if depth == 0 && sources.slice(span) == "sfConfig" => {
                outline.has_configuration = true;
            }
            Token::Text { .. } if is_named => {
                let inner = Span::new(span.start + 1, span.end - 1);
                included.extend(text::unescape(sources.slice(inner), inner.start, dialect).ok());
            }
            _ => {}
        }
        is_named = matches!(token, Token::Include | Token::IncludeIfThere);
    }
}

/// A name without detours, so that one file has one.
fn tidy(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if name.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use hence_model::source::ReadError;

    use super::*;

    struct Folder(&'static [(&'static str, &'static str)]);

    impl Files for Folder {
        fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
            let found = self.0.iter().find(|file| file.0 == name);
            text.push_str(found.ok_or(ReadError::Missing)?.1);
            Ok(())
        }
    }

    fn parts_of(folder: &'static [(&str, &str)], dialect: Dialect) -> Vec<String> {
        let names: Vec<String> = folder.iter().map(|file| file.0.to_owned()).collect();
        let parts = parts(&Folder(folder), &names, dialect);
        let mut parts: Vec<String> = parts.into_iter().map(str::to_owned).collect();
        parts.sort();
        parts
    }

    #[test]
    fn what_others_include_and_has_no_configuration_is_a_part() {
        let folder = &[
            ("d/base.sf", "port base;"),
            (
                "d/far/more.sf",
                "#include \"../base.sf\" /* sfConfig */ x \"sfConfig\";",
            ),
            (
                "d/site.sf",
                "#include \"far/more.sf\" sfConfig extends { a 1; }",
            ),
            ("d/other.sf", "#include \"site.sf\""),
            ("d/lonely.sf", "port 80;"),
        ];
        let expected = ["d/base.sf", "d/far/more.sf"];
        assert_eq!(parts_of(folder, Dialect::Core), expected);
    }

    #[test]
    fn files_that_only_include_each_other_are_looked_at() {
        let folder = &[
            ("a.sf", "#include \"b.sf\""),
            ("b.sf", "#include \"a.sf\""),
            ("c.sf", "#include \"c.sf\""),
            ("top.sf", "#include \"below.sf\""),
            ("below.sf", "x 1;"),
        ];
        assert_eq!(parts_of(folder, Dialect::Core), ["below.sf"]);
    }

    #[test]
    fn a_part_may_be_in_a_folder_around_in_the_production_language() {
        let folder = &[
            (
                "d/e/site.sf",
                "#include \"lib/web.sf\" sfConfig extends { a 1 }",
            ),
            ("d/lib/web.sf", "port 80"),
        ];
        assert_eq!(parts_of(folder, Dialect::Production), ["d/lib/web.sf"]);
        assert!(parts_of(folder, Dialect::Core).is_empty());
    }
}
