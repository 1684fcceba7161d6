//! `#include "facts"`: the attributes that facts stand for.
//!
//! An object is a block, a list a vector. A vector of this language holds no blocks, so a list that does is
//! a block too, with `e0`, `e1` … for its elements.

use hence_model::cell::{Cell, Item};
use hence_model::diagnostic::Diagnostic;
use hence_model::facts::{Fact, read};
use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;
use rustc_hash::FxHashSet;

use crate::parser::{Handler, Part, PartKind};

/// The name under which facts are included.
pub const FACTS: &str = "facts";

/// A block that is open.
enum Open {
    /// An object.
    Object,
    /// A list, and how many of its elements were seen.
    List(usize),
}

/// Tells a handler what a file of facts says.
pub(crate) fn include<H: Handler>(
    unit: &mut Unit,
    file: FileId,
    handler: &mut H,
) -> Result<(), Box<Diagnostic>> {
    let mut facts = Vec::new();
    read(unit, file, &mut |_, fact| facts.push(fact))?;
    let with_blocks = lists_with_blocks(&facts);
    // The outermost braces are those of the block that the facts are included in.
    let last = facts.len() - 1;
    let mut open = vec![Open::Object];
    let mut key = None;
    let mut number = 1;
    while number < last {
        let mut name = |unit: &mut Unit, span: Span| match open.last_mut() {
            Some(Open::List(count)) => {
                *count += 1;
                part(unit, &format!("e{}", *count - 1), span)
            }
            _ => key.take().expect("a value follows its key"),
        };
        match &facts[number] {
            Fact::Key(text, span) => key = Some(part(unit, text, *span)),
            Fact::Scalar(cell, span) => {
                let name = name(unit, *span);
                handler.literal(unit, &[name], *cell, *span);
            }
            Fact::ListStart(span) if !with_blocks.contains(&number) => {
                let name = name(unit, *span);
                let (cell, end) = vector(unit, &facts, number);
                handler.literal(unit, &[name], cell, *span);
                number = end;
            }
            Fact::ListStart(span) | Fact::MapStart(span) => {
                let name = name(unit, *span);
                handler.open(unit, &[name], *span);
                handler.body(unit, *span);
                open.push(match facts[number] {
                    Fact::ListStart(_) => Open::List(0),
                    _ => Open::Object,
                });
            }
            Fact::ListEnd(span) | Fact::MapEnd(span) => {
                handler.end_body(unit, *span);
                handler.close(unit);
                open.pop();
            }
        }
        number += 1;
    }
    Ok(())
}

/// The lists that an object is in, by the number of their start.
fn lists_with_blocks(facts: &[Fact]) -> FxHashSet<usize> {
    let mut found = FxHashSet::default();
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (number, fact) in facts.iter().enumerate() {
        match fact {
            Fact::ListStart(_) => open.push((number, false)),
            Fact::MapStart(_) => open.push((number, true)),
            Fact::ListEnd(_) | Fact::MapEnd(_) => {
                let (start, has_block) = open.pop().expect("an end follows its start");
                if has_block {
                    if let Fact::ListEnd(_) = fact {
                        found.insert(start);
                    }
                    if let Some(around) = open.last_mut() {
                        around.1 = true;
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The list that starts with a fact, and the number of its end.
fn vector(unit: &mut Unit, facts: &[Fact], start: usize) -> (Cell, usize) {
    let mut open: Vec<(Vec<Item>, u32)> = Vec::new();
    for (number, fact) in facts.iter().enumerate().skip(start) {
        let item = match *fact {
            Fact::ListStart(span) => {
                open.push((Vec::new(), span.start));
                continue;
            }
            Fact::Scalar(cell, span) => Item {
                cell,
                at: span.start,
            },
            _ => {
                let (items, at) = open.pop().expect("an end follows its start");
                let cell = unit.literals.list(&items);
                if open.is_empty() {
                    return (cell, number);
                }
                Item { cell, at }
            }
        };
        open.last_mut().expect("it is in a list").0.push(item);
    }
    unreachable!("a list has an end")
}

fn part(unit: &mut Unit, name: &str, span: Span) -> Part {
    Part {
        kind: PartKind::Name,
        name: unit.symbols.intern_text(&unit.sources, name),
        span,
    }
}
