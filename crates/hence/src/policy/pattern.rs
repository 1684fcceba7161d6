//! Patterns of paths, files and people: `*` is a part of a name, `**` any number of names.
//!
//! A text is matched in one walk that keeps every place in the pattern where it may be, so no pattern takes longer
//! than the product of the two lengths.

use hence_model::path::{Path, Segment};

/// A part of what is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A character of a name.
    Character(char),
    /// The way into a block or a folder.
    Into,
    /// The bracket before an index of a list.
    Index,
}

/// What a pattern is for: names are parted in another way in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Values: `RootUsers.**`, `File[/etc/*].mode`, `ports[0]`.
    Path,
    /// Files: `base/*.cf2`.
    File,
    /// People: `*@example.org`.
    Person,
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    parts: Vec<Part>,
    subject: Subject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// This character.
    Character(char),
    /// The way inwards, or this character: a name may hold it.
    Separator(char),
    /// A bracket: of an index, or in a name.
    Bracket,
    /// Any part of a name: `*`.
    Within,
    /// Anything: `**`.
    Across,
    /// What follows, so many parts, may be left out.
    Optional(usize),
    /// The way into something.
    Inwards,
}

impl Pattern {
    /// Reads a pattern. A `*` behind a backslash is one.
    pub fn new(text: &str, subject: Subject) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let part = match (character, subject) {
                ('*', _) => {
                    let mut across = false;
                    while characters.next_if_eq(&'*').is_some() {
                        across = true;
                    }
                    if across { Part::Across } else { Part::Within }
                }
                ('\\', _) => match characters.next_if(|next| matches!(next, '*' | '\\')) {
                    Some(escaped) => Part::Character(escaped),
                    None => Part::Character('\\'),
                },
                ('.' | ':', Subject::Path) | ('/', Subject::File) => Part::Separator(character),
                ('[', Subject::Path) => Part::Bracket,
                (character, Subject::Person) => Part::Character(lower(character)),
                (character, _) => Part::Character(character),
            };
            parts.push(part);
        }
        Self {
            parts: with_options(&parts),
            subject,
        }
    }

    /// How much of it is said: characters that are no wildcards.
    pub fn specificity(&self) -> usize {
        let said = |part: &&Part| {
            let said = Part::Bracket == **part;
            said || matches!(part, Part::Character(_) | Part::Separator(_))
        };
        self.parts.iter().filter(said).count()
    }

    /// Whether it can only be one name.
    pub fn is_plain(&self) -> bool {
        let wild = |part: &Part| matches!(part, Part::Within | Part::Across);
        !self.parts.iter().any(wild)
    }

    /// Whether it fits a text.
    pub fn fits(&self, text: &str) -> bool {
        let piece = |character| match (character, self.subject) {
            ('/', Subject::File) => Piece::Into,
            (character, Subject::Person) => Piece::Character(lower(character)),
            (character, _) => Piece::Character(character),
        };
        self.fits_pieces(text.chars().map(piece))
    }

    /// Whether it fits the pieces of a path: see [`pieces`].
    pub fn fits_pieces(&self, pieces: impl Iterator<Item = Piece>) -> bool {
        let mut here = Places::new(self.parts.len() + 1);
        let mut next = Places::new(self.parts.len() + 1);
        here.add(0, &self.parts);
        for piece in pieces {
            for index in 0..here.list.len() {
                let at = here.list[index];
                let Some(part) = self.parts.get(at) else {
                    continue;
                };
                let goes_on = match (part, piece) {
                    (Part::Within | Part::Across, Piece::Character(_)) | (Part::Across, _) => {
                        next.add(at, &self.parts);
                        false
                    }
                    (Part::Character(one), Piece::Character(other)) => *one == other,
                    (Part::Separator(one), Piece::Character(other)) => *one == other,
                    (Part::Separator(_) | Part::Inwards, Piece::Into) => true,
                    (Part::Bracket, Piece::Character('[')) => true,
                    (Part::Bracket | Part::Inwards, Piece::Index) => true,
                    _ => false,
                };
                if goes_on {
                    next.add(at + 1, &self.parts);
                }
            }
            std::mem::swap(&mut here, &mut next);
            next.clear();
            if here.list.is_empty() {
                return false;
            }
        }
        here.list.contains(&self.parts.len())
    }
}

/// `a.**` is also `a` itself, and `**.a` also an `a` that is in nothing.
fn with_options(parts: &[Part]) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::with_capacity(parts.len());
    let mut rest = parts;
    while let [part, others @ ..] = rest {
        let is_first = !matches!(found.last(), Some(part) if !matches!(part, Part::Separator(_)));
        rest = match rest {
            [Part::Separator(_), Part::Across] => {
                found.extend([Part::Optional(2), Part::Inwards, Part::Across]);
                &[]
            }
            // `**.**` says no more than `**`.
            [Part::Across, Part::Separator(_), Part::Across, ..] => &rest[2..],
            [Part::Across, separator @ Part::Separator(_), after @ ..] if is_first => {
                found.extend([Part::Optional(2), Part::Across, *separator]);
                after
            }
            _ => {
                found.push(*part);
                others
            }
        };
    }
    found
}

/// The places in a pattern where a walk may be, each once.
struct Places {
    list: Vec<usize>,
    /// At which place of the list a place stands, if it does.
    index: Vec<u32>,
}

impl Places {
    fn new(count: usize) -> Self {
        Self {
            list: Vec::new(),
            index: vec![0; count],
        }
    }

    fn add(&mut self, at: usize, parts: &[Part]) {
        let mut pending = vec![at];
        while let Some(at) = pending.pop() {
            let known = self.list.get(self.index[at] as usize) == Some(&at);
            if known {
                continue;
            }
            self.index[at] = self.list.len() as u32;
            self.list.push(at);
            match parts.get(at) {
                Some(Part::Within | Part::Across) => pending.push(at + 1),
                Some(Part::Optional(count)) => pending.extend([at + 1, at + 1 + count]),
                _ => {}
            }
        }
    }

    fn clear(&mut self) {
        self.list.clear();
    }
}

/// A path in the pieces that a pattern is held against.
pub fn pieces(path: &Path) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for segment in &path.0 {
        match segment {
            Segment::Key(key) => {
                if !pieces.is_empty() {
                    pieces.push(Piece::Into);
                }
                pieces.extend(key.chars().map(Piece::Character));
            }
            Segment::Index(index) => {
                pieces.push(Piece::Index);
                let text = format!("{index}]");
                pieces.extend(text.chars().map(Piece::Character));
            }
        }
    }
    pieces
}

/// People write addresses in either case.
fn lower(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Segment {
        Segment::Key(name.to_owned())
    }

    fn fits(pattern: &str, path: &[Segment]) -> bool {
        let pattern = Pattern::new(pattern, Subject::Path);
        pattern.fits_pieces(pieces(&Path(path.to_vec())).into_iter())
    }

    #[test]
    fn a_star_stays_in_a_name_and_two_do_not() {
        let path = [key("users"), key("alice"), key("uid")];
        for good in [
            "users.alice.uid",
            "users:alice:uid",
            "users.*.uid",
            "users.al*.u*",
            "users.**",
            "**",
            "**.uid",
            "users.**.uid",
            "users.**.alice.uid",
            "users.alice.uid.**",
        ] {
            assert!(fits(good, &path), "{good}");
        }
        for bad in ["users", "users.*", "users.*.*.*", "user.**", "*", "uid", ""] {
            assert!(!fits(bad, &path), "{bad}");
        }
        assert!(fits("**.uid", &[key("uid")]));
        assert!(!fits("**.uid", &[key("guid")]));
        assert!(fits("**", &[]));
    }

    #[test]
    fn indexes_and_references_stand_in_brackets() {
        let element = [key("ports"), Segment::Index(10)];
        for good in ["ports[10]", "ports[*]", "ports.**", "*[1*]", "**"] {
            assert!(fits(good, &element), "{good}");
        }
        for bad in ["ports", "ports*", "*", "ports[1]", "**.ports"] {
            assert!(!fits(bad, &element), "{bad}");
        }
        let file = [key("File[/etc/a.d/b.conf]"), key("mode")];
        for good in [
            "File[*].mode",
            "File[/etc/*].mode",
            "File[/etc/a.d/b.conf].*",
            "File[*.conf].**",
            "**.mode",
        ] {
            assert!(fits(good, &file), "{good}");
        }
        assert!(!fits("File[*]", &file));
        assert!(!fits("Exec[*].**", &file));
        assert!(fits(
            "Web::Site[*].port",
            &[key("Web::Site[shop]"), key("port")]
        ));
    }

    #[test]
    fn a_name_may_hold_what_parts_names() {
        assert!(fits(
            "hosts.www.example.org.ip",
            &[key("hosts"), key("www.example.org"), key("ip")]
        ));
        assert!(fits(r"a\*", &[key("a*")]) && !fits(r"a\*", &[key("ab")]));
        assert!(fits(r"C:\dir", &[key(r"C:\dir")]));
    }

    #[test]
    fn files_and_people_have_names_of_their_own() {
        let file = |pattern: &str, name: &str| Pattern::new(pattern, Subject::File).fits(name);
        assert!(file("base/*.cf2", "base/web.cf2"));
        assert!(!file("base/*.cf2", "base/old/web.cf2"));
        assert!(file("base/**", "base/old/web.cf2") && file("**/web.cf2", "web.cf2"));
        assert!(!file("delegated.cf2", "undelegated.cf2"));
        let person = |pattern: &str, name: &str| Pattern::new(pattern, Subject::Person).fits(name);
        assert!(person("*@example.org", "Ops@Example.ORG"));
        assert!(!person("ops@example.org", "devops@example.org"));
    }

    #[test]
    fn no_pattern_takes_long() {
        let long: Vec<Segment> = (0..2_000).map(|_| key("aaaa")).collect();
        for pattern in [
            format!("{}b", "*a".repeat(20_000)),
            format!("{}b", "**.a".repeat(20_000)),
            format!("{}b", "**a".repeat(20_000)),
            format!("{}a", "*".repeat(100_000)),
            "**.".repeat(20_000),
        ] {
            assert!(!fits(&pattern, &long) || pattern.ends_with("*a"));
        }
    }
}
