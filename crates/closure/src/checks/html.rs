//! Mistakes in HTML that are certain to be some: what is not closed, closed twice or in the wrong order, said twice.
//!
//! A page is read once, from its beginning to its end. What is open is a stack, and how often each element is open is
//! counted, so that a page which opens and closes in the wrong order a million times takes no longer than any other.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

/// No more of a page is looked at.
const MOST: usize = 4 << 20;
/// So many mistakes of a page are told.
const TOLD: usize = 5;

/// A mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line that it is in.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// How bad it is.
    pub weight: Weight,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// How bad a mistake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Browsers make something of it.
    Small,
    /// The rest of the page is not seen.
    Rest,
}

/// What was found in a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first mistakes.
    pub mistakes: Vec<Mistake>,
    /// How many more there are.
    pub more: usize,
    /// How many bytes were passed, and elements closed: what it costs to read the page.
    pub steps: usize,
}

/// These have no end.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
/// These may end where something else begins or ends.
const OPTIONAL: &[&str] = &[
    "body", "caption", "colgroup", "dd", "dt", "head", "html", "li", "optgroup", "option", "p",
    "rp", "rt", "tbody", "td", "tfoot", "th", "thead", "tr",
];
/// In these stands text, whatever it looks like.
const TEXT: &[&str] = &[
    "iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp",
];
/// In these other rules hold.
const FOREIGN: &[&str] = &["math", "svg"];

/// What is wrong with a page.
pub fn check(page: &[u8]) -> Found {
    let is_other = page.starts_with(&[0xfe, 0xff]) || page.starts_with(&[0xff, 0xfe]);
    if is_other {
        return Found::default();
    }
    let mut reader = Reader {
        text: &page[..page.len().min(MOST)],
        is_whole: page.len() <= MOST,
        at: 0,
        line: 1,
        counted: 0,
        open: Vec::new(),
        depth: HashMap::new(),
        ids: BTreeSet::new(),
        found: Found::default(),
    };
    reader.read();
    reader.found
}

/// An element that is open.
struct Open {
    name: String,
    line: usize,
}

struct Reader<'t> {
    text: &'t [u8],
    is_whole: bool,
    at: usize,
    /// The line of the place up to which lines were counted.
    line: usize,
    counted: usize,
    open: Vec<Open>,
    depth: HashMap<String, usize>,
    ids: BTreeSet<Vec<u8>>,
    found: Found,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(begin) = self.find(self.at, b"<") {
            self.at = begin + 1;
            match &self.text[self.at..] {
                [b'!', ..] => self.declaration(begin),
                [b'?', ..] => self.skip(begin, self.at, b">", "this"),
                [b'/', first, ..] if first.is_ascii_alphabetic() => {
                    self.at += 1;
                    self.end(begin);
                }
                [first, ..] if first.is_ascii_alphabetic() => self.start(begin),
                _ => {}
            }
        }
        if self.is_whole {
            while let Some(open) = self.open.pop() {
                if !OPTIONAL.contains(&open.name.as_str()) {
                    self.tell(
                        open.line,
                        format!("`<{}>` is not closed", open.name),
                        Weight::Small,
                    );
                }
            }
        }
        self.found.mistakes.sort_by_key(|mistake| mistake.line);
    }

    fn declaration(&mut self, begin: usize) {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"!--") {
            // It may end where it began.
            let mut from = self.at + 1;
            loop {
                let Some(end) = self.find(from, b"--") else {
                    return self.lost(begin, "the comment is not closed".to_owned());
                };
                self.at = end + 2;
                let rest = &self.text[self.at..];
                if rest.starts_with(b">") || rest.starts_with(b"!>") {
                    return;
                }
                from = end + 1;
            }
        } else if rest.starts_with(b"![CDATA[") && self.is_foreign() {
            self.skip(begin, self.at, b"]]>", "this");
        } else {
            self.skip(begin, self.at, b">", "this");
        }
    }

    /// Goes behind something, which must come.
    fn skip(&mut self, begin: usize, from: usize, to: &[u8], what: &str) {
        match self.find(from, to) {
            Some(end) => self.at = end + to.len(),
            None => self.lost(begin, format!("{what} is not closed")),
        }
    }

    fn start(&mut self, begin: usize) {
        let line = self.line_of(begin);
        let name = self.name();
        let mut attributes: HashSet<Vec<u8>> = HashSet::new();
        let mut closes_itself = false;
        loop {
            self.spaces();
            let Some(&byte) = self.text.get(self.at) else {
                return self.lost(begin, format!("the tag `<{name}` is not closed"));
            };
            if byte == b'>' {
                self.at += 1;
                break;
            }
            closes_itself = byte == b'/';
            if closes_itself {
                self.at += 1;
                continue;
            }
            let from = self.at;
            while let Some(byte) = self.text.get(self.at)
                && !(byte.is_ascii_whitespace()
                    || b"/>".contains(byte)
                    || (*byte == b'=' && self.at > from))
            {
                self.at += 1;
            }
            let attribute = self.text[from..self.at].to_ascii_lowercase();
            self.found.steps += attribute.len();
            let Some(value) = self.value() else {
                let said = String::from_utf8_lossy(&attribute).into_owned();
                return self.lost(begin, format!("the value of `{said}` has no closing quote"));
            };
            let said = String::from_utf8_lossy(&attribute).into_owned();
            if attribute == b"id" && !value.is_empty() && !self.is_open("template") {
                let id = String::from_utf8_lossy(&value).into_owned();
                if !self.ids.insert(value) {
                    self.tell(
                        line,
                        format!("the id `{id}` is there already"),
                        Weight::Small,
                    );
                }
            }
            if !attributes.insert(attribute) {
                self.tell(
                    line,
                    format!("`<{name}>` has `{said}` twice"),
                    Weight::Small,
                );
            }
        }
        let is_void = VOID.contains(&name.as_str()) || (closes_itself && self.is_foreign());
        if is_void || (closes_itself && FOREIGN.contains(&name.as_str())) {
            return;
        }
        if TEXT.contains(&name.as_str()) && !self.is_foreign() {
            return self.text_until(&name, begin);
        }
        *self.depth.entry(name.clone()).or_default() += 1;
        self.open.push(Open { name, line });
    }

    /// The value of an attribute, if it has one; `None` if it does not end.
    fn value(&mut self) -> Option<Vec<u8>> {
        self.spaces();
        if self.text.get(self.at) != Some(&b'=') {
            return Some(Vec::new());
        }
        self.at += 1;
        self.spaces();
        let from = match self.text.get(self.at) {
            Some(quote @ (b'"' | b'\'')) => {
                let from = self.at + 1;
                let end = self.find(from, &[*quote])?;
                self.at = end + 1;
                return Some(self.text[from..end].to_vec());
            }
            _ => self.at,
        };
        while let Some(byte) = self.text.get(self.at)
            && !byte.is_ascii_whitespace()
            && *byte != b'>'
        {
            self.at += 1;
        }
        Some(self.text[from..self.at].to_vec())
    }

    fn end(&mut self, begin: usize) {
        let line = self.line_of(begin);
        let name = self.name();
        self.skip(begin, self.at, b">", "this");
        if VOID.contains(&name.as_str()) {
            return self.tell(
                line,
                format!("`</{name}>` closes nothing: `<{name}>` has no end"),
                Weight::Small,
            );
        }
        if !self.is_open(&name) {
            // An end that may be left out may have been where something else ended.
            if !OPTIONAL.contains(&name.as_str()) {
                self.tell(line, format!("`</{name}>` closes nothing"), Weight::Small);
            }
            return;
        }
        while let Some(open) = self.open.pop() {
            self.found.steps += 1;
            if let Some(depth) = self.depth.get_mut(&open.name) {
                *depth -= 1;
            }
            if open.name == name {
                return;
            }
            if !OPTIONAL.contains(&open.name.as_str()) {
                let what = format!("`<{}>` is not closed before `</{name}>`", open.name);
                self.tell(open.line, what, Weight::Small);
            }
        }
    }

    /// Goes behind an element in which only text stands.
    fn text_until(&mut self, name: &str, begin: usize) {
        let mut from = self.at;
        while let Some(end) = self.find(from, b"</") {
            from = end + 2;
            let rest = &self.text[from..];
            let is_it = rest.len() >= name.len()
                && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes());
            let behind = rest.get(name.len());
            if is_it && behind.is_none_or(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte))
            {
                self.at = from + name.len();
                return self.skip(begin, self.at, b">", "this");
            }
        }
        self.lost(begin, format!("`<{name}>` is not closed"));
    }

    fn name(&mut self) -> String {
        let from = self.at;
        while let Some(byte) = self.text.get(self.at)
            && !byte.is_ascii_whitespace()
            && !b"/>".contains(byte)
        {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[from..self.at]).to_ascii_lowercase()
    }

    fn spaces(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn is_open(&self, name: &str) -> bool {
        self.depth.get(name).is_some_and(|depth| *depth > 0)
    }

    fn is_foreign(&self) -> bool {
        FOREIGN.iter().any(|name| self.is_open(name))
    }

    fn find(&mut self, from: usize, what: &[u8]) -> Option<usize> {
        let rest = self.text.get(from..)?;
        let found = rest.windows(what.len()).position(|window| window == what);
        self.found.steps += found.map_or(rest.len(), |at| at + what.len());
        found.map(|at| from + at)
    }

    /// What does not end takes the rest of the page with it.
    fn lost(&mut self, begin: usize, what: String) {
        self.at = self.text.len();
        if self.is_whole {
            let line = self.line_of(begin);
            self.tell(
                line,
                format!("{what}, so the rest of the page is not seen"),
                Weight::Rest,
            );
            // What is open is open for that reason.
            self.open.clear();
        }
    }

    /// The line of a place that is not before the last one.
    fn line_of(&mut self, at: usize) -> usize {
        let passed = self.text.get(self.counted..at).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.counted = self.counted.max(at);
        self.line
    }

    fn tell(&mut self, line: usize, what: String, weight: Weight) {
        // What is worst is told in any case.
        match self.found.mistakes.len() < TOLD || weight == Weight::Rest {
            true => self.found.mistakes.push(Mistake { line, what, weight }),
            false => self.found.more += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(page: &str) -> Vec<String> {
        let told = |mistake: Mistake| format!("{}: {}", mistake.line, mistake.what);
        check(page.as_bytes())
            .mistakes
            .into_iter()
            .map(told)
            .collect()
    }

    #[test]
    fn what_is_no_mistake_is_none() {
        for page in [
            "",
            "a < b, 1<2, </ >, <3",
            "<p>one<p>two<ul><li>a<li>b</ul>",
            "<!DOCTYPE html><html><head><title>a <b> c</title><body><br><img src=a.png>",
            "<table><tr><td>1<td>2<tr><td>3</table>",
            "<script>if (a < b) { s = '<div>' + \"</div>\" }</script>",
            "<!-- <div> -- --!><p><!----><!--> <b></b>",
            "<svg><path d='m 0 0'/><g><circle r=1 /></g><![CDATA[ <x> ]]></svg>",
            "<DIV Id=a CLASS='b' data-x=\"<div>\">x</div >",
            "<template><i id=a></i><i id=a></i></template>",
            "<input disabled value=a/b><a href=/x/>y</a>",
            "\u{feff}<textarea><p></textarea>",
        ] {
            assert_eq!(said(page), [""; 0], "{page}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        for (page, mistake) in [
            (
                "<div>\n<span>\n</div>",
                "2: `<span>` is not closed before `</div>`",
            ),
            ("\n\n<div>", "3: `<div>` is not closed"),
            ("<p></b>", "1: `</b>` closes nothing"),
            ("</br>", "1: `</br>` closes nothing: `<br>` has no end"),
            (
                "<i id=a></i>\n<b id=a></b>",
                "2: the id `a` is there already",
            ),
            ("<br class=a CLASS=b>", "1: `<br>` has `class` twice"),
            (
                "<br>\n<a href=\"x>\ny</a>",
                "2: the value of `href` has no closing quote, so the rest of the page is not seen",
            ),
            (
                "<p><!-- x",
                "1: the comment is not closed, so the rest of the page is not seen",
            ),
            (
                "<div><script>x",
                "1: `<script>` is not closed, so the rest of the page is not seen",
            ),
            (
                "<div",
                "1: the tag `<div` is not closed, so the rest of the page is not seen",
            ),
        ] {
            assert_eq!(said(page), [mistake], "{page}");
        }
        let many = "</b>".repeat(40) + "<!--";
        let found = check(many.as_bytes());
        assert_eq!((found.mistakes.len(), found.more), (TOLD + 1, 40 - TOLD));
    }

    const PIECES: [&str; 23] = [
        "<",
        ">",
        "/",
        "</",
        "<!--",
        "-->",
        "--",
        "!",
        "<a",
        "<b>",
        "</b>",
        "<svg>",
        "</svg>",
        "<script>",
        "</script>",
        "\"",
        "'",
        "=",
        " id=x",
        "<![CDATA[",
        "]]>",
        "é",
        "\n",
    ];

    #[test]
    fn however_a_page_is_made_it_is_read_once() {
        let pages = [
            "<a><b></a></b>",
            "<div><p>",
            "</div>",
            "<a href=\"",
            "<!--",
            "<script></scrip",
            "<i x=1 y=2 z=3>",
            "<svg/><math><svg>",
            "<",
            "--!",
        ];
        for page in pages {
            let most = 200_000;
            let text = page.repeat(most / page.len());
            let found = check(text.as_bytes());
            assert!(
                found.steps <= 2 * text.len(),
                "{page}: {} steps",
                found.steps
            );
        }
        // Pieces in any order.
        let (mut seed, mut many) = (1u64, Vec::new());
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let pieces = PIECES.len();
            let page: String = (0..40)
                .map(|piece| PIECES[(seed >> (piece % 48)) as usize % pieces])
                .collect();
            let found = check(page.as_bytes());
            assert!(
                found.steps <= 3 * page.len(),
                "{page}: {} steps",
                found.steps
            );
            many.push(found.mistakes.len());
        }
        assert!(many.iter().any(|mistakes| *mistakes > 2));
        let wide = format!("<p {}>", "a b ".repeat(50_000));
        assert!(check(wide.as_bytes()).steps < 2 * wide.len());
    }
}
