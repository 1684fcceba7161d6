//! Semantic versions and ranges of them.

use std::cmp::Ordering;
use std::fmt;

use ecow::EcoString;

/// A semantic version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// Counts what breaks; the greatest number of all stands for infinity.
    pub major: u64,
    /// Counts what is new.
    pub minor: u64,
    /// Counts what is mended.
    pub patch: u64,
    /// What comes before it is out, part by part.
    pub prerelease: Option<Vec<Part>>,
    /// What tells builds of it apart, part by part.
    pub build: Option<Vec<EcoString>>,
}

/// A part of what stands behind `-` in a version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Compared as a number, and less than any word.
    Number(u64),
    /// Compared letter by letter.
    Word(EcoString),
}

const INFINITE: u64 = u64::MAX;

impl Version {
    /// A version without anything behind its three numbers.
    pub fn plain(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
            prerelease: None,
            build: None,
        }
    }

    /// No version is less.
    fn least() -> Self {
        Self {
            prerelease: Some(Vec::new()),
            ..Self::plain(0, 0, 0)
        }
    }

    /// No version is greater.
    fn greatest() -> Self {
        Self::plain(INFINITE, 0, 0)
    }

    /// Reads a version. The trouble with it is told in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trouble = || format!("Unable to parse '{text}' as a semantic version identifier");
        let trimmed = text.strip_suffix('\n').unwrap_or(text);
        let (rest, build) = match trimmed.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (trimmed, None),
        };
        let (numbers, prerelease) = match rest.split_once('-') {
            Some((numbers, prerelease)) => (numbers, Some(prerelease)),
            None => (rest, None),
        };
        let numbers: Option<Vec<u64>> = numbers.split('.').map(number).collect();
        let Some(&[major, minor, patch]) = numbers.as_deref() else {
            return Err(trouble());
        };
        if !prerelease.is_none_or(are_parts) || !build.is_none_or(are_parts) {
            return Err(trouble());
        }
        Ok(Self {
            major,
            minor,
            patch,
            prerelease: prerelease.map(parts).transpose()?,
            build: build.map(builds),
        })
    }

    fn is_stable(&self) -> bool {
        self.prerelease.as_ref().is_none_or(Vec::is_empty)
    }

    fn next_patch(&self) -> Self {
        Self::plain(self.major, self.minor, self.patch.saturating_add(1))
    }
}

/// A number as versions have them: without zeros in front.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = text == "0" || !text.starts_with('0');
    // Numbers of so many digits that they do not fit count as the greatest that does.
    (digits && plain).then(|| text.parse().unwrap_or(INFINITE - 1))
}

/// Whether a text can stand behind `-` or `+`.
pub(super) fn are_parts(text: &str) -> bool {
    text.split('.').all(|part| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

pub(super) fn parts(text: &str) -> Result<Vec<Part>, String> {
    let part = |part: &str| {
        if !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Part::Word(part.into()));
        }
        number(part).map(Part::Number).ok_or_else(|| {
            "Numeric pre-release identifiers MUST NOT contain leading zeroes".to_owned()
        })
    };
    text.split('.').map(part).collect()
}

pub(super) fn builds(text: &str) -> Vec<EcoString> {
    text.split('.').map(EcoString::from).collect()
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Number(number) => number.fmt(f),
            Part::Word(word) => word.fmt(f),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.major {
            INFINITE => f.write_str("Infinity")?,
            major => write!(f, "{major}")?,
        }
        write!(f, ".{}.{}", self.minor, self.patch)?;
        if let Some(parts) = &self.prerelease {
            f.write_str("-")?;
            for (index, part) in parts.iter().enumerate() {
                let dot = if index == 0 { "" } else { "." };
                write!(f, "{dot}{part}")?;
            }
        }
        if let Some(parts) = &self.build {
            write!(f, "+{}", parts.join("."))?;
        }
        Ok(())
    }
}

impl Ord for Part {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Part::Number(one), Part::Number(another)) => one.cmp(another),
            (Part::Number(_), Part::Word(_)) => Ordering::Less,
            (Part::Word(_), Part::Number(_)) => Ordering::Greater,
            (Part::Word(one), Part::Word(another)) => one.cmp(another),
        }
    }
}

impl PartialOrd for Part {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Version {
    /// Which of two comes first. Builds do not count, unlike when asking whether two are the same.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        let before = match (&self.prerelease, &other.prerelease) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(another)) => one.cmp(another),
        };
        numbers(self).cmp(&numbers(other)).then(before)
    }
}

/// A range of versions, or several.
#[derive(Clone, Debug)]
pub struct VersionRange {
    ranges: Vec<Interval>,
    text: EcoString,
}

impl PartialEq for VersionRange {
    fn eq(&self, other: &Self) -> bool {
        self.ranges == other.ranges
    }
}

impl Eq for VersionRange {}

/// What lies between two bounds, as it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Interval {
    All,
    After(Version),
    From(Version),
    Before(Version),
    To(Version),
    Only(Version),
    Between(Box<(Interval, Interval)>),
}

impl Interval {
    fn includes(&self, version: &Version) -> bool {
        let is = |bound: &Version| version.precedence(bound);
        match self {
            Interval::All => true,
            Interval::After(bound) => is(bound).is_gt(),
            Interval::From(bound) => is(bound).is_ge(),
            Interval::Before(bound) => is(bound).is_lt(),
            Interval::To(bound) => is(bound).is_le(),
            Interval::Only(bound) => version == bound,
            Interval::Between(bounds) => bounds.0.includes(version) && bounds.1.includes(version),
        }
    }

    /// Versions before one that is out are only meant where such a one is named.
    fn names_prerelease_of(&self, version: &Version) -> bool {
        match self {
            Interval::All => true,
            Interval::After(bound)
            | Interval::From(bound)
            | Interval::Before(bound)
            | Interval::To(bound)
            | Interval::Only(bound) => {
                !bound.is_stable()
                    && (bound.major, bound.minor, bound.patch)
                        == (version.major, version.minor, version.patch)
            }
            Interval::Between(bounds) => {
                bounds.0.names_prerelease_of(version) || bounds.1.names_prerelease_of(version)
            }
        }
    }

    fn begin(&self) -> Version {
        match self {
            Interval::After(bound) | Interval::From(bound) | Interval::Only(bound) => bound.clone(),
            Interval::Between(bounds) => bounds.0.begin(),
            _ => Version::least(),
        }
    }

    fn end(&self) -> Version {
        match self {
            Interval::Before(bound) | Interval::To(bound) | Interval::Only(bound) => bound.clone(),
            Interval::Between(bounds) => bounds.1.end(),
            _ => Version::greatest(),
        }
    }

    fn excludes_begin(&self) -> bool {
        match self {
            Interval::After(_) => true,
            Interval::Between(bounds) => bounds.0.excludes_begin(),
            _ => false,
        }
    }

    fn excludes_end(&self) -> bool {
        match self {
            Interval::Before(_) => true,
            Interval::Between(bounds) => bounds.1.excludes_end(),
            _ => false,
        }
    }

    fn has_begin(&self) -> bool {
        match self {
            Interval::After(_) => true,
            Interval::From(bound) | Interval::Only(bound) => *bound != Version::least(),
            Interval::Between(bounds) => bounds.0.has_begin(),
            _ => false,
        }
    }

    fn has_end(&self) -> bool {
        match self {
            Interval::Before(_) => true,
            Interval::To(bound) | Interval::Only(bound) => *bound != Version::greatest(),
            Interval::Between(bounds) => bounds.1.has_end(),
            _ => false,
        }
    }

    fn between(from: Interval, to: Interval) -> Self {
        let from = match from {
            Interval::Between(bounds) => bounds.0,
            other => other,
        };
        let to = match to {
            Interval::Between(bounds) => bounds.1,
            other => other,
        };
        Interval::Between(Box::new((from, to)))
    }

    /// What is in both, if anything.
    fn intersection(&self, other: &Interval) -> Option<Interval> {
        if let Interval::All = self {
            return Some(other.clone());
        }
        match self.begin().precedence(&other.end()) {
            Ordering::Greater => return None,
            Ordering::Equal => {
                let touches = !self.excludes_begin() && !other.excludes_end();
                return touches.then(|| Interval::Only(self.begin()));
            }
            Ordering::Less => {}
        }
        match other.begin().precedence(&self.end()) {
            Ordering::Greater => return None,
            Ordering::Equal => {
                let touches = !other.excludes_begin() && !self.excludes_end();
                return touches.then(|| Interval::Only(other.begin()));
            }
            Ordering::Less => {}
        }
        let from = match self.begin().precedence(&other.begin()) {
            Ordering::Less => other,
            Ordering::Greater => self,
            Ordering::Equal if self.excludes_begin() => self,
            Ordering::Equal => other,
        };
        let to = match self.end().precedence(&other.end()) {
            Ordering::Greater => other,
            Ordering::Less => self,
            Ordering::Equal if self.excludes_end() => self,
            Ordering::Equal => other,
        };
        Some(match (from.has_begin(), to.has_end()) {
            (_, false) => from.clone(),
            (false, true) => to.clone(),
            (true, true) => Interval::between(from.clone(), to.clone()),
        })
    }

    /// What is in either, if that is one range.
    fn union(&self, other: &Interval) -> Option<Interval> {
        if let Interval::All = self {
            return Some(Interval::All);
        }
        let create = |from: Version, after: bool, to: Version, before: bool| {
            let from = if after {
                Interval::After(from)
            } else {
                Interval::From(from)
            };
            let to = if before {
                Interval::Before(to)
            } else {
                Interval::To(to)
            };
            from.intersection(&to)
        };
        let spanning = |a: &Interval, b: &Interval| {
            create(a.begin(), a.excludes_begin(), b.end(), b.excludes_end())
        };
        if self.includes(&other.begin()) || other.includes(&self.begin()) {
            let (from, after) = match self.begin().precedence(&other.begin()) {
                Ordering::Less => (self.begin(), self.excludes_begin()),
                Ordering::Greater => (other.begin(), other.excludes_begin()),
                Ordering::Equal => (
                    self.begin(),
                    self.excludes_begin() && other.excludes_begin(),
                ),
            };
            let (to, before) = match self.end().precedence(&other.end()) {
                Ordering::Greater => (self.end(), self.excludes_end()),
                Ordering::Less => (other.end(), other.excludes_end()),
                Ordering::Equal => (self.end(), self.excludes_end() && other.excludes_end()),
            };
            return create(from, after, to, before);
        }
        let meets = |a: &Interval, b: &Interval| {
            a.excludes_end() && !b.excludes_begin() && a.end() == b.begin()
        };
        let follows = |a: &Interval, b: &Interval| {
            !a.excludes_end() && !b.excludes_begin() && a.end().next_patch() == b.begin()
        };
        if meets(self, other) {
            spanning(self, other)
        } else if meets(other, self) {
            spanning(other, self)
        } else if follows(self, other) {
            spanning(self, other)
        } else if follows(other, self) {
            spanning(other, self)
        } else {
            None
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interval::All => f.write_str("*"),
            Interval::After(bound) => write!(f, ">{bound}"),
            Interval::From(bound) => write!(f, ">={bound}"),
            Interval::Before(bound) if *bound == Version::least() => f.write_str("<0.0.0"),
            Interval::Before(bound) => write!(f, "<{bound}"),
            Interval::To(bound) => write!(f, "<={bound}"),
            Interval::Only(bound) => write!(f, "{bound}"),
            Interval::Between(bounds) => write!(f, "{} {}", bounds.0, bounds.1),
        }
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl VersionRange {
    /// Reads a range such as `>=1.0.0 <2.0.0 || 3.x`. The trouble with it is told in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tight = tightened(text);
        let mut ranges = Vec::new();
        // What ends in `||` has nothing behind it.
        let mut alternatives: Vec<&str> = tight.split("||").map(str::trim).collect();
        let trim_start = tight.split("||").next().unwrap_or("");
        if let Some(first) = alternatives.first_mut() {
            *first = trim_start.trim_end();
        }
        while alternatives.last().is_some_and(|last| last.is_empty()) {
            alternatives.pop();
        }
        if alternatives.is_empty() {
            return Ok(Self {
                ranges: vec![Interval::All],
                text: "*".into(),
            });
        }
        for alternative in alternatives {
            let range = interval(alternative, text)?;
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        let ranges = ranges.into_iter().flatten().collect();
        Ok(Self::new(ranges, text.into()))
    }

    /// The range of one version.
    pub fn only(version: &Version) -> Self {
        Self::between(version.clone(), version.clone(), false)
    }

    /// What lies between two versions, with or without the second.
    pub fn between(from: Version, to: Version, exclude_end: bool) -> Self {
        let (least, greatest) = (Interval::From(from.clone()), to.clone());
        let (end, text) = match exclude_end {
            // The words are the wrong way round where they come from, and others rely on that.
            true => (Interval::Before(greatest), format!(">={to} <{from}")),
            false => (Interval::To(greatest), format!("{to} - {from}")),
        };
        let ranges = least.intersection(&end).into_iter().collect();
        Self::new(ranges, text.into())
    }

    /// The range from one version, or from the least of all, to another, or to the greatest.
    pub fn spanning(from: Option<Version>, to: Option<Version>, exclude_end: bool) -> Self {
        let from = from.unwrap_or_else(Version::least);
        let to = to.unwrap_or_else(Version::greatest);
        Self::between(from, to, exclude_end)
    }

    fn new(mut ranges: Vec<Interval>, text: EcoString) -> Self {
        let mut joined = true;
        while ranges.len() > 1 && joined {
            joined = false;
            let mut result = Vec::new();
            while let Some(mut range) = ranges.pop() {
                ranges.retain(|other| match range.union(other) {
                    Some(union) => {
                        range = union;
                        joined = true;
                        false
                    }
                    None => true,
                });
                result.push(range);
            }
            result.reverse();
            ranges = result;
        }
        if ranges.is_empty() {
            ranges.push(Interval::Before(Version::least()));
        }
        Self { ranges, text }
    }

    /// Whether a version is in it.
    pub fn includes(&self, version: &Version) -> bool {
        self.ranges.iter().any(|range| {
            range.includes(version) && (version.is_stable() || range.names_prerelease_of(version))
        })
    }

    fn single(&self) -> Option<&Interval> {
        match self.ranges.as_slice() {
            [single] => Some(single),
            _ => None,
        }
    }

    /// Whether all of another range is in it, as far as both are one range each.
    pub fn covers(&self, other: &VersionRange) -> bool {
        let Some((wide, narrow)) = self.single().zip(other.single()) else {
            return self == other;
        };
        let (end, other_end) = (wide.end(), narrow.end());
        let ends = end.precedence(&other_end).is_gt()
            || end == other_end && (!wide.excludes_end() || narrow.excludes_end());
        wide.begin().precedence(&narrow.begin()).is_le() && ends
    }
}

/// Joins ranges that overlap or touch, from the last one on.
pub(super) fn merged(mut ranges: Vec<VersionRange>) -> Vec<VersionRange> {
    if ranges.len() < 2 {
        return ranges;
    }
    let mut result = Vec::new();
    while let Some(mut range) = ranges.pop() {
        ranges.retain(|other| match merge(&range, other) {
            Some(union) => {
                range = union;
                false
            }
            None => true,
        });
        result.push(range);
    }
    result.reverse();
    result
}

fn merge(one: &VersionRange, another: &VersionRange) -> Option<VersionRange> {
    let (a, b) = one.single().zip(another.single())?;
    let least = |a: Version, b: Version| if a.precedence(&b).is_le() { a } else { b };
    if one.includes(&b.begin()) || another.includes(&a.begin()) {
        let ends = a.end().precedence(&b.end());
        let exclude = match (a.excludes_end(), b.excludes_end()) {
            (true, b_excludes) => ends.is_gt() || ends.is_eq() && b_excludes,
            (false, true) => ends.is_lt(),
            (false, false) => false,
        };
        let end = if ends.is_ge() { a.end() } else { b.end() };
        return Some(VersionRange::between(
            least(a.begin(), b.begin()),
            end,
            exclude,
        ));
    }
    if a.excludes_end() && a.end() == b.begin() {
        return Some(VersionRange::between(a.begin(), b.end(), b.excludes_end()));
    }
    if b.excludes_end() && b.end() == a.begin() {
        return Some(VersionRange::between(b.begin(), a.end(), a.excludes_end()));
    }
    None
}

/// Without spaces, or else a `v`, between an operator and its version.
fn tightened(text: &str) -> String {
    let mut tight = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['>', '<', '=', '~', '^']) {
        let (before, after) = rest.split_at(at + 1);
        tight.push_str(before);
        let trimmed = after.trim_start_matches([' ', '\t', '\r', '\n', '\x0b', '\x0c']);
        rest = match trimmed.len() == after.len() {
            true => after.strip_prefix('v').unwrap_or(after),
            false => trimmed,
        };
    }
    tight.push_str(rest);
    tight
}

/// One of several alternatives; nothing if no version can be in it.
fn interval(text: &str, whole: &str) -> Result<Option<Interval>, String> {
    let trouble = || format!("Unparsable version range: \"{whole}\"");
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if let [from, "-", to] = words[..]
        && let (Some(from), Some(to)) = (Partial::read(from), Partial::read(to))
    {
        let (from, to) = (Interval::From(from.version()?), Interval::To(to.version()?));
        return Ok(from.intersection(&to));
    }
    // A space in front leaves an empty word there.
    if words.is_empty() || text.starts_with(|char: char| char.is_ascii_whitespace()) {
        return Err(trouble());
    }
    let mut result: Option<Interval> = None;
    for (index, word) in words.into_iter().enumerate() {
        let simple = simple(word).ok_or_else(trouble)??;
        result = match (index, result) {
            (0, _) => Some(simple),
            (_, Some(range)) => range.intersection(&simple),
            (_, None) => return Ok(None),
        };
    }
    Ok(result)
}

fn simple(word: &str) -> Option<Result<Interval, String>> {
    let operators = ["<=", ">=", "~>", "~=", "<", ">", "=", "~", "^"];
    let operator = operators.into_iter().find(|it| word.starts_with(it));
    let operator = operator.unwrap_or("");
    let partial = Partial::read(&word[operator.len()..])?;
    Some(partial.with(operator))
}

/// A version of which the end may be left open.
struct Partial<'a> {
    major: Option<u64>,
    minor: Option<u64>,
    patch: Option<u64>,
    prerelease: Option<&'a str>,
    build: Option<&'a str>,
}

impl<'a> Partial<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let mut rest = text;
        let mut numbers = [None, None, None];
        let mut count = 0;
        for slot in &mut numbers {
            let end = rest.find(['.', '-', '+']).unwrap_or(rest.len());
            *slot = match &rest[..end] {
                "x" | "X" | "*" => None,
                digits => Some(number(digits)?),
            };
            count += 1;
            rest = &rest[end..];
            match rest.strip_prefix('.') {
                Some(more) if count < 3 => rest = more,
                _ => break,
            }
        }
        if !rest.is_empty() && count < 3 {
            return None;
        }
        let (rest, build) = match rest.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (rest, None),
        };
        let prerelease = match rest {
            "" => None,
            rest => Some(rest.strip_prefix('-')?),
        };
        if !prerelease.is_none_or(are_parts) || !build.is_none_or(are_parts) {
            return None;
        }
        let [major, minor, patch] = numbers;
        Some(Self {
            major,
            minor,
            patch,
            prerelease,
            build,
        })
    }

    /// The version, with 0 for what is left open.
    fn version(&self) -> Result<Version, String> {
        let number = |number: Option<u64>| number.unwrap_or(0);
        Ok(Version {
            major: number(self.major),
            minor: number(self.minor),
            patch: number(self.patch),
            prerelease: self.prerelease.map(parts).transpose()?,
            build: self.build.map(builds),
        })
    }

    fn with(&self, operator: &str) -> Result<Interval, String> {
        let until = |from: Version, to: Version| {
            Interval::between(Interval::From(from), Interval::Before(to))
        };
        let version = self.version()?;
        let (major, minor) = (version.major, version.minor);
        let next_major = Version::plain(major.saturating_add(1), 0, 0);
        let next_minor = Version::plain(major, minor.saturating_add(1), 0);
        let named = (self.major, self.minor, self.patch);
        Ok(match (operator, named) {
            (">=", _) => Interval::From(version),
            ("<", _) => Interval::Before(version),
            (">", (None, ..)) => Interval::Before(Version::least()),
            (">", (_, None, _)) => Interval::From(next_major),
            (">", (_, _, None)) => Interval::From(next_minor),
            (">", _) => Interval::After(version),
            (_, (None, ..)) => Interval::All,
            ("<=", (_, None, _)) => Interval::Before(next_major),
            ("<=", (_, _, None)) => Interval::Before(next_minor),
            ("<=", _) => Interval::To(version),
            (_, (_, None, _)) => until(Version::plain(major, 0, 0), next_major),
            ("^", (Some(1..), _, None)) => until(Version::plain(major, minor, 0), next_major),
            ("^", (Some(1..), ..)) if self.prerelease.is_none() => {
                let from = Version::plain(major, minor, version.patch);
                until(from, next_major)
            }
            ("^", (Some(1..), ..)) => until(version, next_major),
            (_, (_, _, None)) => until(Version::plain(major, minor, 0), next_minor),
            ("~" | "~>" | "~=" | "^", _) => until(version, next_minor),
            _ => Interval::Only(version),
        })
    }
}
