//! Regular expressions as Ruby writes them, translated to what can be run here.
//!
//! `^` and `$` are the ends of lines, `(?m)` makes the dot match newlines, `\d`, `\s` and `\w` are ASCII and
//! `[[:alpha:]]` is not, parentheses do not capture if there are names, and an option in the middle holds for
//! the alternatives behind it, too. What cannot be had is told in words.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// A regular expression.
pub struct Pattern {
    source: String,
    regex: fancy_regex::Regex,
}

/// Steps back that a search may take before it is given up: some expressions take for ever.
const BACKTRACKS: usize = 1_000_000;

impl Pattern {
    /// Reads a regular expression, without its slashes. The trouble with it is told in words.
    pub fn new(source: &str) -> Result<Self, String> {
        let translated = translate(source)?;
        let regex = fancy_regex::RegexBuilder::new(&translated)
            .backtrack_limit(BACKTRACKS)
            .build()
            .map_err(|error| trouble(&error))?;
        let source = source.to_owned();
        Ok(Self { source, regex })
    }

    /// The same expression, shown in another way of writing it.
    pub(crate) fn known_as(self, source: &str) -> Self {
        let source = source.to_owned();
        Self { source, ..self }
    }

    /// The expression as written, without its slashes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The first match: the whole and the groups. None also if looking takes too long.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Vec<Option<&'t str>>> {
        let captures = self.regex.captures(text).ok()??;
        let group = |at| {
            captures
                .get(at)
                .map(|found: fancy_regex::Match<'t>| found.as_str())
        };
        Some((0..captures.len()).map(group).collect())
    }

    /// Whether there is a match.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text).unwrap_or(false)
    }

    /// Where the first match from an offset on lies, and where its groups do.
    pub fn find_from(&self, text: &str, from: usize) -> Option<Vec<Option<Range<usize>>>> {
        let captures = self.regex.captures_from_pos(text, from).ok()??;
        let group = |at| captures.get(at).map(|found| found.range());
        Some((0..captures.len()).map(group).collect())
    }

    /// The number of a group with a name.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.regex.capture_names().position(|it| it == Some(name))
    }
}

fn trouble(error: &fancy_regex::Error) -> String {
    // The first line says what; where is told in terms of the translation.
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    let last = last.strip_prefix("error: ").unwrap_or(last);
    let last = match last.split_once("at position ") {
        Some((_, rest)) => rest.split_once(": ").map_or(rest, |(_, what)| what),
        None => last,
    };
    format!("this pattern cannot be read: {}", last.to_lowercase())
}

/// An expression that means here what `source` means in Ruby.
fn translate(source: &str) -> Result<String, String> {
    let mut translation = Translation {
        rest: source,
        out: String::with_capacity(source.len() + 16),
        groups: vec![Group::default()],
        has_names: has_names(source),
        names: Vec::new(),
        captures: 0,
        atom: None,
        is_empty: false,
        repeats: 0,
    };
    translation.run()?;
    Ok(translation.out)
}

/// Whether some group has a name: then groups without one do not capture.
fn has_names(source: &str) -> bool {
    let named = |start: &str| {
        source
            .match_indices(start)
            .any(|(at, _)| !source[at + start.len()..].starts_with(['=', '!']))
    };
    named("(?<") || source.contains("(?'")
}

/// A group that is open.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Where it begins in the translation.
    start: usize,
    /// How many groups were opened in it for options that hold to its end.
    options: usize,
    extended: bool,
    /// Whether it looks around, and takes nothing of the text.
    looks: bool,
}

struct Translation<'s> {
    rest: &'s str,
    out: String,
    groups: Vec<Group>,
    has_names: bool,
    names: Vec<&'s str>,
    captures: usize,
    /// Where the last thing that can be repeated begins in the translation.
    atom: Option<usize>,
    /// Whether it takes nothing of the text.
    is_empty: bool,
    /// How many repetitions stand behind it already.
    repeats: usize,
}

/// Groups and sets nested deeper are refused.
const DEEPEST: usize = 60;

impl<'s> Translation<'s> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(next) = self.next() {
            let start = self.out.len();
            let extended = self.groups.last().is_some_and(|group| group.extended);
            match next {
                _ if extended && next.is_ascii_whitespace() => continue,
                '#' if extended => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                    continue;
                }
                '(' => {
                    self.open()?;
                    continue;
                }
                ')' => {
                    self.close()?;
                    continue;
                }
                '|' => {
                    self.out.push('|');
                    self.atom = None;
                    continue;
                }
                '*' | '+' | '?' => {
                    self.repeat(&next.to_string(), true)?;
                    continue;
                }
                '{' => {
                    if let Some((interval, length)) = interval(self.rest)? {
                        self.rest = &self.rest[length..];
                        self.repeat(&interval, false)?;
                        continue;
                    }
                    self.out.push_str("\\{");
                }
                '^' => self.line_start(),
                '$' => self.out.push_str("(?m:$)"),
                '[' => self.set(0)?,
                '\\' => self.escape()?,
                '.' => self.out.push('.'),
                other => push_literal(&mut self.out, other),
            }
            self.atom = Some(start);
            self.repeats = 0;
            let anchors = ["\\A", "\\z", "\\b", "\\B", "(?=\\n?\\z)"];
            self.is_empty = matches!(next, '^' | '$') || anchors.contains(&&self.out[start..]);
        }
        if self.groups.len() > 1 {
            return Err("expected `)` at the end of the pattern".to_owned());
        }
        self.end_options();
        Ok(())
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A line begins behind a newline, unless that is the last character of all.
    fn line_start(&mut self) {
        let mut ahead = self.rest.chars();
        let first = ahead.next();
        let second = ahead.next();
        let is_plain = |c: char| !"\\()[]{}.*+?|^$#".contains(c) && !c.is_whitespace();
        // Where a character must follow, the difference cannot be seen.
        let is_seen = match (first, second) {
            (Some(first), Some(second)) => !is_plain(first) || "*?{".contains(second),
            (Some(first), None) => !is_plain(first),
            _ => true,
        };
        self.out.push_str(match is_seen {
            true => "(?:\\A|(?m:^)(?!\\z))",
            false => "(?m:^)",
        });
    }

    /// What stands behind `(`.
    fn open(&mut self) -> Result<(), String> {
        if self.groups.len() > DEEPEST {
            return Err("the groups of this pattern are nested too deeply".to_owned());
        }
        let outer = *self.groups.last().expect("there is always one");
        let mut group = Group {
            start: self.out.len(),
            options: 0,
            extended: outer.extended,
            looks: false,
        };
        if !self.take("?") {
            match self.has_names {
                true => self.out.push_str("(?:"),
                false => {
                    self.captures += 1;
                    self.out.push('(');
                }
            }
        } else if self.take("#") {
            let end = self
                .rest
                .find(')')
                .ok_or("expected `)` behind the comment")?;
            self.rest = &self.rest[end + 1..];
            return Ok(());
        } else if let Some(start) = ["<=", "<!", "=", "!", ":", ">"]
            .into_iter()
            .find(|start| self.rest.starts_with(start))
        {
            self.take(start);
            group.looks = !matches!(start, ":" | ">");
            self.out.push_str("(?");
            self.out.push_str(start);
        } else if self.take("<") {
            self.name('>')?;
        } else if self.take("'") {
            self.name('\'')?;
        } else if self.rest.starts_with('(') {
            return Err("conditions in a pattern cannot be had".to_owned());
        } else if self.rest.starts_with('~') {
            return Err("`(?~…)` cannot be had in a pattern".to_owned());
        } else {
            let length = self
                .rest
                .find(|c: char| !"mixadu-".contains(c))
                .ok_or("expected `)` at the end of the pattern")?;
            let (letters, rest) = self.rest.split_at(length);
            if letters.is_empty() && rest.starts_with(')') {
                return Err("expected an option behind `(?`".to_owned());
            }
            let (options, extended) = options(letters, group.extended)?;
            group.extended = extended;
            match rest.chars().next() {
                Some(':') => self.out.push_str(&options),
                Some(')') => {
                    // It holds to the end of the group around it, alternatives included.
                    self.rest = &rest[1..];
                    self.out.push_str(&options);
                    let outer = self.groups.last_mut().expect("there is always one");
                    outer.options += 1;
                    outer.extended = extended;
                    self.atom = None;
                    return Ok(());
                }
                Some(other) => return Err(format!("`{other}` is no option of a pattern")),
                None => return Err("expected `)` at the end of the pattern".to_owned()),
            }
            self.rest = &rest[1..];
        }
        self.groups.push(group);
        self.atom = None;
        Ok(())
    }

    fn name(&mut self, end: char) -> Result<(), String> {
        let length = self
            .rest
            .find(end)
            .ok_or("expected the end of the name of a group")?;
        let name = &self.rest[..length];
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name {
            return Err(format!("`{name}` cannot be the name of a group"));
        }
        self.rest = &self.rest[length + end.len_utf8()..];
        self.captures += 1;
        self.names.push(name);
        self.out.push_str("(?<");
        self.out.push_str(name);
        self.out.push('>');
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        if self.groups.len() == 1 {
            return Err("there is no `(` for this `)`".to_owned());
        }
        self.end_options();
        let group = self.groups.pop().expect("it is not the last");
        self.is_empty =
            group.looks || self.out.ends_with([':', '>']) || self.out[group.start..] == *"(";
        self.out.push(')');
        self.atom = Some(group.start);
        self.repeats = 0;
        Ok(())
    }

    fn end_options(&mut self) {
        let options = self.groups.last().map_or(0, |group| group.options);
        for _ in 0..options {
            self.out.push(')');
        }
    }

    /// A repetition of what stands before it. Behind `*`, `+` and `?` a `?` makes it lazy and a `+` keeps it
    /// from giving back; behind an interval both mean another repetition, but for `{n,m}?`.
    fn repeat(&mut self, sign: &str, is_simple: bool) -> Result<(), String> {
        let Some(start) = self.atom else {
            return Err(format!(
                "expected something before `{sign}` that it repeats"
            ));
        };
        self.repeats += 1;
        if self.repeats > DEEPEST {
            return Err("the repetitions of this pattern are nested too deeply".to_owned());
        }
        self.out.insert_str(start, "(?:");
        if self.is_empty {
            // What takes nothing is there as often as it is there once.
            let may_be_absent = sign.starts_with(['*', '?']) || sign.starts_with("{0");
            let is_optional = !is_simple && !sign.contains(',') && self.rest.starts_with('?');
            let absent = may_be_absent || is_optional;
            self.out.push_str(if absent { "|)" } else { ")" });
            let _ = self.take("?") || is_simple && self.take("+");
            return Ok(());
        }
        // A repetition of a repetition needs brackets.
        self.out.push(')');
        self.out.push_str(sign);
        let is_lazy_interval = sign.contains(',') && self.rest.starts_with('?');
        if is_simple && self.take("+") {
            self.out.insert_str(start, "(?>");
            self.out.push(')');
        } else if (is_simple || is_lazy_interval) && self.take("?") {
            self.out.push('?');
        }
        Ok(())
    }

    /// What stands behind a backslash.
    fn escape(&mut self) -> Result<(), String> {
        let Some(next) = self.next() else {
            return Err("expected something behind the last `\\` of the pattern".to_owned());
        };
        let meaning = match next {
            'A' | 'z' | 'b' | 'B' | 'K' => {
                self.out.push('\\');
                self.out.push(next);
                return Ok(());
            }
            'Z' => "(?=\\n?\\z)",
            'R' => "(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])",
            'X' => "(?>\\r\\n|(?s:.)\\p{M}*)",
            'G' => return Err("`\\G` cannot be had in a pattern".to_owned()),
            'g' => return Err("calls of groups with `\\g` cannot be had in a pattern".to_owned()),
            'k' => return self.back_reference(),
            '1'..='9' => return self.numbered(next),
            other => match self.class_escape(other)? {
                Escaped::Set(set) => {
                    self.out.push_str(&set);
                    return Ok(());
                }
                Escaped::Character(character) => {
                    push_literal(&mut self.out, character);
                    return Ok(());
                }
            },
        };
        self.out.push_str(meaning);
        Ok(())
    }

    /// `\1`: a group, or a character by its octal number if there is no such group.
    fn numbered(&mut self, first: char) -> Result<(), String> {
        let more = self
            .rest
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count()
            .min(2);
        let digits = format!("{first}{}", &self.rest[..more]);
        let number: usize = digits.parse().unwrap_or(usize::MAX);
        if number <= 9 || number <= self.captures {
            if self.has_names {
                return Err("groups with names cannot be referred to by number".to_owned());
            }
            if number > self.captures {
                return Err(format!("there is no group {number} before `\\{number}`"));
            }
            self.rest = &self.rest[more..];
            self.out.push_str(&format!("(?:\\{number})"));
            return Ok(());
        }
        let octal = digits
            .bytes()
            .take_while(|byte| (b'0'..=b'7').contains(byte))
            .count();
        if octal == 0 {
            push_literal(&mut self.out, first);
            return Ok(());
        }
        self.rest = &self.rest[octal - 1..];
        let number = u32::from_str_radix(&digits[..octal], 8).unwrap_or(0);
        let character = char::from_u32(number).filter(char::is_ascii);
        let character =
            character.ok_or(format!("there is no character `\\{}`", &digits[..octal]))?;
        push_literal(&mut self.out, character);
        Ok(())
    }

    /// `\k<name>`, `\k<1>`, `\k<-1>`
    fn back_reference(&mut self) -> Result<(), String> {
        let end = match self.next() {
            Some('<') => '>',
            Some('\'') => '\'',
            _ => return Err("expected `<` and the name of a group behind `\\k`".to_owned()),
        };
        let length = self
            .rest
            .find(end)
            .ok_or("expected the end of the name of a group")?;
        let name = &self.rest[..length];
        self.rest = &self.rest[length + 1..];
        if self.names.contains(&name) {
            self.out.push_str(&format!("(?:\\k<{name}>)"));
            return Ok(());
        }
        let number = match name.parse::<i64>() {
            Ok(back) if back < 0 => self.captures as i64 + 1 + back,
            Ok(number) => number,
            Err(_) => return Err(format!("there is no group `{name}` before `\\k<{name}>`")),
        };
        if self.has_names || number < 1 || number > self.captures as i64 {
            return Err(format!("there is no group for `\\k<{name}>`"));
        }
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }

    /// What `\` and a character stand for, in a set or not.
    fn class_escape(&mut self, next: char) -> Result<Escaped, String> {
        let set = |set: &str| Ok(Escaped::Set(set.to_owned()));
        let character = |character| Ok(Escaped::Character(character));
        match next {
            'd' => set("[0-9]"),
            'D' => set("[^0-9]"),
            'w' => set("[0-9A-Za-z_]"),
            'W' => set("[^0-9A-Za-z_]"),
            's' => set("[\\t-\\r\\x20]"),
            'S' => set("[^\\t-\\r\\x20]"),
            'h' => set("[0-9A-Fa-f]"),
            'H' => set("[^0-9A-Fa-f]"),
            'p' | 'P' => {
                let (name, is_not) = self.property()?;
                property(&name, is_not != (next == 'P')).map(Escaped::Set)
            }
            't' => character('\t'),
            'n' => character('\n'),
            'r' => character('\r'),
            'f' => character('\x0c'),
            'v' => character('\x0b'),
            'a' => character('\x07'),
            'e' => character('\x1b'),
            'x' => {
                let digits = self.digits(2, |byte| byte.is_ascii_hexdigit());
                let number = u32::from_str_radix(digits, 16).ok();
                let found = number.and_then(char::from_u32).filter(char::is_ascii);
                let wrong =
                    format!("there is no character `\\x{digits}`; beyond `\\x7f` write `\\u0080`");
                found.map(Escaped::Character).ok_or(wrong)
            }
            'u' => {
                let digits = match self.take("{") {
                    true => {
                        let digits = self.digits(6, |byte| byte.is_ascii_hexdigit());
                        match self.take("}") {
                            true => digits,
                            false => {
                                return Err(
                                    "expected `}` behind the number of a character".to_owned()
                                );
                            }
                        }
                    }
                    false => match self.digits(4, |byte| byte.is_ascii_hexdigit()) {
                        digits if digits.len() == 4 => digits,
                        _ => return Err("expected four hexadecimal digits behind `\\u`".to_owned()),
                    },
                };
                let number = u32::from_str_radix(digits, 16).ok();
                let found = number.and_then(char::from_u32);
                let wrong = format!("there is no character `\\u{{{digits}}}`");
                found.map(Escaped::Character).ok_or(wrong)
            }
            '0' => {
                let digits = self.digits(2, |byte| (b'0'..=b'7').contains(&byte));
                let number = u32::from_str_radix(digits, 8).unwrap_or(0);
                character(char::from_u32(number).unwrap_or('\0'))
            }
            'c' => match self.next() {
                Some(letter) if letter.is_ascii() => character((letter as u8 & 0x1f) as char),
                _ => Err("expected a letter behind `\\c`".to_owned()),
            },
            'C' | 'M' if self.rest.starts_with('-') => {
                Err(format!("`\\{next}-` cannot be had in a pattern"))
            }
            other => character(other),
        }
    }

    /// Up to `most` digits.
    fn digits(&mut self, most: usize, is_digit: fn(u8) -> bool) -> &'s str {
        let length = self
            .rest
            .bytes()
            .take(most)
            .take_while(|&byte| is_digit(byte))
            .count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        digits
    }

    /// `{Name}` or `{^Name}` behind `\p`.
    fn property(&mut self) -> Result<(String, bool), String> {
        let wrong = "expected `{` and the name of a property behind `\\p`";
        let inner = self.rest.strip_prefix('{').ok_or(wrong)?;
        let length = inner.find('}').ok_or(wrong)?;
        self.rest = &inner[length + 1..];
        let name = &inner[..length];
        Ok(match name.strip_prefix('^') {
            Some(name) => (name.to_owned(), true),
            None => (name.to_owned(), false),
        })
    }

    /// What stands behind `[`.
    fn set(&mut self, depth: usize) -> Result<(), String> {
        let open = || "expected `]` at the end of a set".to_owned();
        if depth > DEEPEST {
            return Err("the sets of this pattern are nested too deeply".to_owned());
        }
        self.out.push('[');
        if self.take("^") {
            self.out.push('^');
        }
        // The first `]` of a set that has another is a character.
        if self.rest.starts_with(']') {
            if !self.rest[1..].contains(']') {
                return Err("a set cannot be empty".to_owned());
            }
            self.take("]");
            self.out.push_str("\\]");
        }
        loop {
            if self.take("]") {
                self.out.push(']');
                return Ok(());
            }
            if self.take("&&") {
                while self.take("&&") {}
                self.out.push_str("&&");
                continue;
            }
            if self.rest.starts_with("[:")
                && let Some(length) = self.rest.find(":]")
            {
                let name = &self.rest[2..length];
                self.rest = &self.rest[length + 2..];
                let (name, is_not) = match name.strip_prefix('^') {
                    Some(name) => (name, true),
                    None => (name, false),
                };
                let found = posix(name).ok_or(format!("there is no set `[:{name}:]`"))?;
                self.out.push_str(if is_not { "[^" } else { "[" });
                self.out.push_str(found);
                self.out.push(']');
                continue;
            }
            if self.take("[") {
                self.set(depth + 1)?;
                continue;
            }
            let first = match self.member().ok_or_else(open)?? {
                Escaped::Set(set) => {
                    self.out.push_str(&set);
                    if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                        return Err("a range cannot begin with a set of characters".to_owned());
                    }
                    continue;
                }
                Escaped::Character(character) => character,
            };
            let is_range = self.rest.starts_with('-')
                && !self.rest.starts_with("-]")
                && !self.rest.starts_with("-&&");
            push_literal(&mut self.out, first);
            if !is_range {
                continue;
            }
            self.take("-");
            if self.rest.starts_with('[') {
                return Err("a range cannot end with a set of characters".to_owned());
            }
            match self.member().ok_or_else(open)?? {
                Escaped::Set(_) => {
                    return Err("a range cannot end with a set of characters".to_owned());
                }
                Escaped::Character(last) if last < first => {
                    return Err(format!("the range from `{first}` to `{last}` is empty"));
                }
                Escaped::Character(last) => {
                    self.out.push('-');
                    push_literal(&mut self.out, last);
                }
            }
        }
    }

    /// The next character of a set, or the set that it stands for.
    fn member(&mut self) -> Option<Result<Escaped, String>> {
        Some(match self.next()? {
            '\\' => match self.next()? {
                'b' => Ok(Escaped::Character('\x08')),
                digit @ '1'..='7' => {
                    let more = self.digits(2, |byte| (b'0'..=b'7').contains(&byte));
                    let number = u32::from_str_radix(&format!("{digit}{more}"), 8).ok();
                    let found = number.and_then(char::from_u32).filter(char::is_ascii);
                    let wrong = format!("there is no character `\\{digit}{more}`");
                    found.map(Escaped::Character).ok_or(wrong)
                }
                next => self.class_escape(next),
            },
            character => Ok(Escaped::Character(character)),
        })
    }
}

enum Escaped {
    Character(char),
    /// A set with its brackets.
    Set(String),
}

/// The beginning of a group with options, and whether blanks are skipped in it.
fn options(letters: &str, extended: bool) -> Result<(String, bool), String> {
    let mut extended = extended;
    let mut on = String::new();
    let mut off = String::new();
    let mut is_off = false;
    for letter in letters.chars() {
        let list = if is_off { &mut off } else { &mut on };
        match letter {
            '-' if !is_off => is_off = true,
            'm' => list.push('s'),
            'i' => list.push('i'),
            'x' => extended = !is_off,
            // Which alphabet `\w` is of: that of Ruby's default, and nothing else, can be had.
            'd' | 'a' if !is_off => {}
            _ => return Err(format!("the option `{letter}` cannot be had in a pattern")),
        }
    }
    let start = match (on.is_empty(), off.is_empty()) {
        (true, true) => "(?:".to_owned(),
        (_, true) => format!("(?{on}:"),
        _ => format!("(?{on}-{off}:"),
    };
    Ok((start, extended))
}

/// `n}`, `n,}`, `,m}` or `n,m}` and its length; none if it is no interval, and the brace is a character.
fn interval(rest: &str) -> Result<Option<(String, usize)>, String> {
    let Some(end) = rest.find('}') else {
        return Ok(None);
    };
    let inner = &rest[..end];
    let (least, most) = match inner.split_once(',') {
        Some((least, most)) => (least, Some(most)),
        None => (inner, None),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_interval = match most {
        None => is_number(least),
        Some("") => is_number(least),
        Some(most) => (least.is_empty() || is_number(least)) && is_number(most),
    };
    if !is_interval {
        return Ok(None);
    }
    let read = |text: &str| match text.parse::<u32>() {
        _ if text.is_empty() => Ok(0),
        Ok(number) if number <= 100_000 => Ok(number),
        _ => Err(format!("`{text}` is too often to repeat something")),
    };
    let least = read(least)?;
    let interval = match most {
        None => format!("{{{least}}}"),
        Some("") => format!("{{{least},}}"),
        Some(most) => match read(most)? {
            most if most < least => {
                return Err(format!(
                    "`{{{inner}}}` repeats less often than it should at least"
                ));
            }
            most => format!("{{{least},{most}}}"),
        },
    };
    Ok(Some((interval, end + 1)))
}

/// The characters of a bracket such as `[:alpha:]`, which are not those of ASCII alone.
fn posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => "\\p{Alphabetic}\\p{M}\\p{Nd}",
        "alpha" => "\\p{Alphabetic}\\p{M}",
        "ascii" => "\\x00-\\x7f",
        "blank" => "\\t\\p{Zs}",
        "cntrl" => "\\p{Cc}",
        "digit" => "\\p{Nd}",
        "graph" => "[^\\p{White_Space}\\p{Cc}\\p{Cn}\\p{Cs}]",
        "lower" => "\\p{Lowercase}",
        "print" => "\\p{Zs}[^\\p{White_Space}\\p{Cc}\\p{Cn}\\p{Cs}]",
        "punct" => "\\p{P}$+<=>\\^`|\\~",
        "space" => "\\p{White_Space}",
        "upper" => "\\p{Uppercase}",
        "word" => "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}",
        "xdigit" => "0-9A-Fa-f",
        _ => return None,
    })
}

/// The set of characters with a property, or of those without.
fn property(name: &str, is_not: bool) -> Result<String, String> {
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, ' ' | '_' | '-'))
        .collect();
    let start = if is_not { "[^" } else { "[" };
    if let Some(set) = posix(&plain.to_ascii_lowercase()) {
        return Ok(format!("{start}{set}]"));
    }
    if plain.eq_ignore_ascii_case("any") {
        return Ok(if is_not { "[a&&b]" } else { "(?s:.)" }.to_owned());
    }
    let set = format!("{start}\\p{{{name}}}]");
    match fancy_regex::Regex::new(&set) {
        Ok(_) => Ok(set),
        Err(_) => Err(format!("there is no property `{name}` of characters")),
    }
}

/// A character that stands for itself, in a set or not.
fn push_literal(out: &mut String, character: char) {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | ' ' | '/' | ':' | '@' | '%' | ',' | ';' | '=' => {
            out.push(character);
        }
        character if character.is_ascii_control() => {
            out.push_str(&format!("\\x{:02x}", character as u32));
        }
        character if character.is_ascii() => {
            out.push_str(&format!("\\x{:02x}", character as u32));
        }
        character => out.push(character),
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl Hash for Pattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<Vec<String>> {
        let pattern = Pattern::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
        let captures = pattern.captures(text)?;
        assert!(pattern.is_match(text));
        Some(
            captures
                .into_iter()
                .map(|group| group.unwrap_or("-").to_owned())
                .collect(),
        )
    }

    fn whole(pattern: &str, text: &str) -> Option<String> {
        found(pattern, text).map(|groups| groups[0].clone())
    }

    #[test]
    fn lines_have_ends_and_dots_stop_at_them() {
        assert_eq!(whole("^b$", "a\nb\nc").as_deref(), Some("b"));
        assert_eq!(whole("^$", "a\n"), None);
        assert_eq!(whole("^$", "").as_deref(), Some(""));
        assert_eq!(whole("\\Ab", "a\nb"), None);
        assert_eq!(whole("b\\Z", "a\nb\n").as_deref(), Some("b"));
        assert_eq!(whole("b\\z", "a\nb\n"), None);
        assert_eq!(whole("a.b", "a\nb"), None);
        assert_eq!(whole("(?m:a.b)", "a\nb").as_deref(), Some("a\nb"));
    }

    #[test]
    fn options_hold_for_alternatives_behind_them() {
        assert_eq!(whole("x(?i)b|c", "xC").as_deref(), Some("xC"));
        assert_eq!(whole("x(?i)b|c", "C"), None);
        assert_eq!(whole("(?i-m:A)b", "ab").as_deref(), Some("ab"));
        assert_eq!(whole("(?x) a b # c\n d", "abd").as_deref(), Some("abd"));
    }

    #[test]
    fn names_take_the_place_of_numbers() {
        assert_eq!(found("(?<a>y)(x)", "yx").unwrap(), ["yx", "y"]);
        assert_eq!(found("(y)(x)?", "y").unwrap(), ["y", "y", "-"]);
        assert_eq!(
            whole("(?<q>['\"]).*\\k<q>", "a 'b' \"").as_deref(),
            Some("'b'")
        );
        assert_eq!(whole("(a)\\1", "aa").as_deref(), Some("aa"));
        assert!(Pattern::new("(?<n>a)\\1").is_err());
        assert!(Pattern::new("\\2(a)").is_err());
    }

    #[test]
    fn sets_are_those_of_ruby() {
        assert_eq!(whole("\\d", "\u{663}"), None);
        assert_eq!(whole("[[:digit:]]", "\u{663}").as_deref(), Some("\u{663}"));
        assert_eq!(
            whole("[[:alpha:]]+", "1\u{e9}a").as_deref(),
            Some("\u{e9}a")
        );
        assert_eq!(whole("[a-z&&[^aeiou]]+", "eabc").as_deref(), Some("bc"));
        assert_eq!(whole("[]a]+", "]a").as_deref(), Some("]a"));
        assert_eq!(whole("[\\w-]+", "a-b.").as_deref(), Some("a-b"));
        assert_eq!(whole("[^/\\0]+", "ab\0").as_deref(), Some("ab"));
        assert_eq!(whole("\\h+", "xfF0").as_deref(), Some("fF0"));
        assert_eq!(whole("\\p{Lu}\\p{^Lu}", "aBc").as_deref(), Some("Bc"));
        assert_eq!(whole("[\\[\\]&~-]+", "a[]&~-").as_deref(), Some("[]&~-"));
    }

    #[test]
    fn repetitions_are_those_of_ruby() {
        assert_eq!(whole("a{2}+b", "aaaab").as_deref(), Some("aaaab"));
        assert_eq!(whole("a{1}?b", "b").as_deref(), Some("b"));
        assert_eq!(whole("\\Aa{,2}\\z", "aa").as_deref(), Some("aa"));
        assert_eq!(whole("a{,", "a{,").as_deref(), Some("a{,"));
        assert_eq!(whole("a++a", "aaa"), None);
        assert_eq!(whole("(?>a+)b", "aab").as_deref(), Some("aab"));
        assert_eq!(whole("a**", "aa").as_deref(), Some("aa"));
        assert_eq!(whole("(?<!a)b", "abcb").as_deref(), Some("b"));
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_words() {
        for wrong in [
            "(",
            ")",
            "*a",
            "[b-a]",
            "\\",
            "[[:foo:]]",
            "\\p{Foo}",
            "(?<a>x)\\k<b>",
            "[a",
            "(?z)",
            "(?<1a>x)",
            "\\xZ",
            "\\u12",
            "a{2,1}",
            "[^]",
            "[]",
            "a|*",
            "(?",
            "(?:",
            "(?<a",
            "\\c",
            "[\\]",
            "\\Ga",
            "\\g<1>(a)",
            "[\\d-z]",
            "[a-\\d]",
            "(?~a)",
        ] {
            let trouble = Pattern::new(wrong).expect_err(wrong);
            assert!(
                !trouble.contains('\n') && trouble.len() > 10,
                "{wrong}: {trouble}"
            );
        }
        let deep = "(".repeat(100_000);
        assert!(Pattern::new(&deep).is_err());
        assert!(Pattern::new(&"[".repeat(100_000)).is_err());
        assert!(Pattern::new(&format!("a{}", "*".repeat(100_000))).is_err());
        assert!(Pattern::new(&"(a{9999})".repeat(9_999)).is_err());
    }

    #[test]
    fn looking_for_ever_finds_nothing() {
        let text = "a".repeat(40);
        assert_eq!(whole("(a+)+(?=b)\\1", &text), None);
    }
}
