//! Which lines a transaction changed is said rightly, and found in steps that grow as the document does.

use hence_model::random::Random;
use hence_model::source::{Sources, Span};
use hence_model::work::steps_of;
use hence_xml::command;
use hence_xml::difference::{Change, changes, count, unified};
use hence_xml::document::Written;
use hence_xml::transaction::{Nowhere, commit};

use crate::cases;
use crate::generate::document;
use crate::judge::read;
use crate::simple::{self, Order, orders};

/// What a script makes of a document, with what is found to have changed, and the steps of finding it.
struct Made {
    sources: Sources,
    old: Span,
    new: Written,
    changes: Vec<Change>,
    steps: u64,
}

impl Made {
    fn by(document: &str, script: &str) -> Option<Self> {
        let mut read = read(document).ok()?;
        let file = read.sources.add("script", script).unwrap();
        let commands = command::parse(&read.sources, file).ok()?;
        let old = read.document.span();
        let sources = &mut read.sources;
        let new = commit(sources, read.document, &read.dtd, &commands, Nowhere::Allow).ok()?;
        let mut found = Vec::new();
        let steps = steps_of(|| found = changes(&read.sources, old, &new));
        Some(Self {
            sources: read.sources,
            old,
            new,
            changes: found,
            steps,
        })
    }

    fn unified(&self) -> String {
        unified(self.sources.slice(self.old), &self.new.text, &self.changes)
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// What `patch` makes of a text.
fn patched(old: &str, patch: &str) -> String {
    let (old, mut at) = (lines(old), 0);
    let mut new = String::new();
    let mut marked = lines(patch).into_iter().peekable();
    while let Some(line) = marked.next() {
        if let Some(heading) = line.strip_prefix("@@ -") {
            let start = heading.split([',', ' ']).next().unwrap();
            let start: usize = start.parse().unwrap();
            let is_behind = heading.starts_with(&format!("{start},0 "));
            let start = if is_behind { start } else { start - 1 };
            new.extend(old[at..start].iter().copied());
            at = start;
            continue;
        }
        let (mark, text) = line.split_at(1);
        let is_cut = marked.next_if(|next| next.starts_with('\\')).is_some();
        let text = if is_cut {
            &text[..text.len() - 1]
        } else {
            text
        };
        if mark != "+" {
            assert_eq!(old[at], text, "{patch}");
            at += 1;
        }
        if mark != "-" {
            new.push_str(text);
        }
    }
    new.extend(old[at..].iter().copied());
    new
}

#[test]
fn what_changed_makes_the_new_document_of_the_old() {
    let mut changed = 0;
    for seed in 0..cases(20_000) {
        let mut random = Random::new(seed);
        let ends = ["\n", "\r\n", "", " "];
        let mut text = match random.chance(50) {
            true => simple::document(&mut random).canonical(),
            false => document(&mut random),
        };
        // Lines of one element, and lines that come often.
        for mark in ["><", "/>", "</"] {
            text = text.replace(
                mark,
                &mark.replace('<', &format!("{}<", ends[random.below(4)])),
            );
        }
        let script: Vec<String> = orders(&mut random).iter().map(Order::print).collect();
        let Some(made) = Made::by(&text, &script.join("\n")) else {
            continue;
        };
        let old = made.sources.slice(made.old);
        assert_eq!(patched(old, &made.unified()), made.new.text, "{old:?}");
        assert_eq!(made.changes.is_empty(), made.new.text == old);
        for pair in made.changes.windows(2) {
            let (one, two) = (&pair[0], &pair[1]);
            let kept = two.old.start - one.old.end;
            assert!(kept > 0 && two.new.start - one.new.end == kept, "{pair:?}");
        }
        changed += u64::from(!made.changes.is_empty());
    }
    assert!(changed * 4 > cases(20_000), "{changed}");
}

/// A document of some members, each of three lines of which only the first is unlike others.
fn members(count: usize, port: impl Fn(usize) -> usize) -> String {
    let member = |number| format!("  <c k='{number}'>\n    <p>{}</p>\n  </c>\n", port(number));
    format!("<r>\n{}</r>\n", (0..count).map(member).collect::<String>())
}

#[test]
fn nothing_is_compared_but_what_a_transaction_wrote() {
    for count in [100, 10_000] {
        let document = members(count, |_| 80);
        let script = "assert /r/c[@k='7']/p 81\nsubtract /r c[@k='70']\nadd /r @k <c k='new'/>\n";
        let made = Made::by(&document, script).unwrap();
        assert_eq!(made.changes.len(), 3);
        assert!(made.steps < 20, "{}", made.steps);
        assert!(made.new.pieces.len() < 20, "{}", made.new.pieces.len());
    }
}

#[test]
fn many_changed_lines_are_found_in_as_many_steps() {
    /// A document, what is done with it, and how many lines change, if that can be said.
    type Shape = fn(usize) -> (String, String, Option<usize>);
    let shapes: [(&str, Shape); 6] = [
        ("one by one", |count| {
            let old = members(count, |_| 80);
            (old, "assert /r/c/p 81".to_owned(), Some(count))
        }),
        ("all at once", |count| {
            let new = members(count, |_| 81);
            (members(count, |_| 80), new, Some(count))
        }),
        ("the last of many", |count| {
            let new = members(count, |number| 80 + (number + 1) / count);
            (members(count, |_| 80), new, Some(1))
        }),
        ("all lines are others", |count| {
            let lines = |line: &str| format!("<r>\n{}</r>\n", line.repeat(count));
            (lines("<c/>\n"), lines("<d/>\n"), Some(count))
        }),
        ("in the other order", |count| {
            let line = |number: usize| format!("<c>{number}</c>\n");
            let old: String = (0..count).map(line).collect();
            let new: String = (0..count).rev().map(line).collect();
            let new = format!("<r>\n{new}</r>\n");
            (format!("<r>\n{old}</r>\n"), new, Some(count - 1))
        }),
        ("few kinds of lines", |count| {
            let line = |number: usize| format!("<c>{}</c>\n", number * number % 7);
            let other = |number: usize| line(number * 3 + number / 5);
            let old: String = (0..count).map(line).collect();
            let new: String = (0..count).map(other).collect();
            (
                format!("<r>\n{old}</r>\n"),
                format!("<r>\n{new}</r>\n"),
                None,
            )
        }),
    ];
    for (name, shape) in shapes {
        for size in [40, 1_000, 10_000] {
            let (document, new, changed) = shape(size);
            let script = match new.starts_with('<') {
                true => format!("assert / {new}"),
                false => new,
            };
            let made = Made::by(&document, &script).unwrap();
            let (lines, found) = (lines(&document).len(), count(&made.changes));
            let is_linear = made.steps <= 80 * lines as u64;
            assert!(is_linear, "{name}: {} steps of {lines} lines", made.steps);
            assert_eq!(found, changed.unwrap_or(found), "{name}");
        }
    }
}
