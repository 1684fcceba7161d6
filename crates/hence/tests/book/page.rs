//! A page: its blocks, and what each of them wants.
//!
//!     ```console        commands behind `$ `, and what they answer
//!     ```sh             commands that succeed, whatever they print
//!     ```sh system      so, but on a whole system with the package: `tests/package.rs` runs them
//!     ```cf2 site.cf2   a file, which others on the page use from there on, and which the text names; so in every language
//!     ```cf2            a file by itself, without a mistake; so in every language that Hence compiles, with options behind it
//!     ```python         a program that ends well, as do the scripts of the console, ```rhai
//!     ```json           something that can be read
//!     ```ebnf           a grammar in which every name is defined
//!     ```text           a picture
//!     <!-- sh … -->     commands that a reader need not see
//!
//! In an answer, `…` stands for anything in a line, and as a line for any lines.

use std::ops::Range;

/// A block of a page.
pub struct Block {
    /// The line of its first line, from 1.
    pub line: usize,
    /// What stands behind its fence.
    pub words: Vec<String>,
    /// What is in it.
    pub text: String,
    /// Where that stands in the page.
    pub place: Range<usize>,
}

impl Block {
    /// What it is written in.
    pub fn language(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The file that it is, if it is one.
    pub fn file(&self) -> Option<&str> {
        let name = self.words.get(1)?;
        (!name.starts_with('-') && name.contains(['.', '/'])).then_some(name.as_str())
    }

    /// The commands in a session, and their answers.
    pub fn exchanges(&self) -> Vec<Exchange> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            if let Some(command) = line.strip_prefix("$ ") {
                let mut command = command.to_owned();
                while command.ends_with('\\') {
                    command.push('\n');
                    command.push_str(lines.next().expect("a line that goes on has another"));
                }
                let answer = String::new();
                exchanges.push(Exchange { command, answer });
            } else {
                let exchange = exchanges.last_mut().expect("a session begins with `$ `");
                exchange.answer.push_str(line);
                exchange.answer.push('\n');
            }
        }
        exchanges
    }
}

/// A command and what it answers.
pub struct Exchange {
    /// As it is typed.
    pub command: String,
    /// As it is shown.
    pub answer: String,
}

/// The blocks of a page, in order.
pub fn blocks(page: &str) -> Result<Vec<Block>, String> {
    const FENCE: &str = "```";
    const HIDDEN: &str = "<!-- ";
    let mut blocks = Vec::new();
    let mut offset = 0;
    let mut open: Option<(Block, &str)> = None;
    let mut blank = true;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let text = line.trim_end();
        match &mut open {
            Some((block, end)) if text == *end => {
                block.place.end = offset;
                block.text = page[block.place.clone()].to_owned();
                blocks.extend(open.take().map(|(block, _)| block));
            }
            Some(_) => {}
            None => {
                let fence = text.strip_prefix(FENCE).map(|words| (words, FENCE));
                let hidden = text.strip_prefix(HIDDEN).map(|words| (words, "-->"));
                let hidden = hidden.filter(|(words, _)| !words.ends_with("-->"));
                if let Some((words, end)) = fence.or(hidden) {
                    let words = words.split_whitespace().map(str::to_owned).collect();
                    let start = offset + line.len();
                    let block = Block {
                        line: number + 2,
                        words,
                        text: String::new(),
                        place: start..start,
                    };
                    open = Some((block, end));
                } else if blank && line.starts_with("    ") {
                    return Err(format!(
                        "line {}: a block that is only indented is run by nobody",
                        number + 1
                    ));
                }
            }
        }
        blank = text.is_empty();
        offset += line.len();
    }
    match open {
        Some((block, _)) => Err(format!("line {}: the block does not end", block.line)),
        None => Ok(blocks),
    }
}

/// Whether an answer is as it is shown.
pub fn agrees(shown: &str, real: &str) -> bool {
    let shown: Vec<&str> = shown.trim_end().lines().collect();
    let real: Vec<&str> = real.trim_end().lines().collect();
    agree(
        &shown,
        &real,
        |shown| *shown == "…",
        |shown, real| line_agrees(shown, real),
    )
}

fn line_agrees(shown: &str, real: &str) -> bool {
    let shown: Vec<char> = shown.trim_end().chars().collect();
    let real: Vec<char> = real.trim_end().chars().collect();
    agree(&shown, &real, |shown| *shown == '…', |a, b| a == b)
}

/// Whether one row is another, if some of the first may stand for any number of the other.
fn agree<T, U>(
    shown: &[T],
    real: &[U],
    anything: impl Fn(&T) -> bool,
    equal: impl Fn(&T, &U) -> bool,
) -> bool {
    // The places in `real` that may be reached by what was looked at.
    let mut reached = vec![false; real.len() + 1];
    reached[0] = true;
    for part in shown {
        let mut next = vec![false; real.len() + 1];
        if anything(part) {
            let first = reached.iter().position(|reached| *reached);
            next[first.unwrap_or(real.len() + 1)..].fill(true);
        } else {
            for (at, other) in real.iter().enumerate() {
                next[at + 1] = reached[at] && equal(part, other);
            }
        }
        if !next.contains(&true) {
            return false;
        }
        reached = next;
    }
    reached[real.len()]
}

/// The names of a grammar that nothing in it defines.
pub fn undefined(grammar: &str) -> Vec<String> {
    let (mut defined, mut used) = (Vec::new(), Vec::new());
    let mut rest = grammar;
    // Terminals and comments say nothing about names.
    let mut words = String::new();
    while let Some(at) = rest.find(['"', '(']) {
        let (before, behind) = rest.split_at(at);
        words.push_str(before);
        let end = match behind.starts_with("(*") {
            true => behind.find("*)").map_or(behind.len(), |end| end + 2),
            false if behind.starts_with('"') => {
                behind[1..].find('"').map_or(behind.len(), |end| end + 2)
            }
            false => 1,
        };
        words.push(' ');
        rest = &behind[end..];
    }
    words.push_str(rest);
    for line in words.lines() {
        let (name, uses) = match line.split_once(" =") {
            Some((name, uses)) if !name.starts_with(' ') => (Some(name.trim()), uses),
            _ => (None, line),
        };
        defined.extend(name.map(str::to_owned));
        // What stands behind a comma is explained in words.
        let uses = uses.split(", ").next().unwrap_or_default();
        let names = uses.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let names = names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
        used.extend(names.map(str::to_owned));
    }
    used.retain(|name| !defined.contains(name));
    used.dedup();
    used
}

#[test]
fn what_is_shown_stands_for_what_is_real() {
    assert!(agrees("version … of 3\n", "version 12 of 3"));
    assert!(agrees("a\n…\nz", "a\nb\nc\nz"));
    assert!(agrees("a\n…\nz", "a\nz"));
    assert!(agrees("say \"…\"", "say \"…\""));
    assert!(!agrees("version … of 3", "version 12 of 4"));
    assert!(!agrees("a\n…\nz", "a\nb"));
    assert!(!agrees("", "something"));
    assert!(undefined("a = b | \"c\"\nb = \"(\" [ a ] (* as c *)\n").is_empty());
    assert_eq!(undefined("a = { b }\n    | d\n"), ["b", "d"]);
}
