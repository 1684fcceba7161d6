//! Facts as the statements that they stand for.

use hence_model::cell::Content;
use hence_model::diagnostic::Diagnostic;
use hence_model::facts::{Fact, read};
use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;

use crate::lexer::is_name;
use crate::syntax::{BodyId, Definition, ExpressionId, Kind, Mutation, Statement, Tree};
use crate::text::decimal;

/// What is open: the elements of a list, or the statements of a block.
enum Open {
    List(Vec<ExpressionId>, Span),
    Block(Vec<Statement>, Span),
}

/// Reads a file of facts.
pub(crate) fn body(
    unit: &mut Unit,
    tree: &mut Tree,
    file: FileId,
) -> Result<BodyId, Box<Diagnostic>> {
    let mut open: Vec<Open> = Vec::new();
    let mut keys: Vec<(String, Span)> = Vec::new();
    let mut outermost = None;
    read(unit, file, &mut |unit, fact| {
        let value = match fact {
            Fact::Key(key, span) => return keys.push((key, span)),
            Fact::ListStart(span) => return open.push(Open::List(Vec::new(), span)),
            Fact::MapStart(span) => return open.push(Open::Block(Vec::new(), span)),
            Fact::Scalar(cell, span) => match cell.content(&unit.literals) {
                Content::Null => tree.add(Kind::Undefined, span),
                Content::Float(float) => {
                    let number = decimal(float, &mut unit.literals);
                    tree.add(Kind::Literal(number.unwrap_or(cell)), span)
                }
                _ => tree.add(Kind::Literal(cell), span),
            },
            Fact::ListEnd(end) | Fact::MapEnd(end) => {
                match open.pop().expect("an end follows its start") {
                    Open::List(elements, start) => {
                        let list = tree.add_list(&elements);
                        tree.add(Kind::List(list), Span::new(start.start, end.end))
                    }
                    Open::Block(statements, start) => {
                        let span = Span::new(start.start, end.end);
                        let body = tree.add_body(&statements, span, false);
                        outermost = Some(body);
                        tree.add(Kind::Block(body), span)
                    }
                }
            }
        };
        match open.last_mut() {
            None => {}
            Some(Open::List(elements, _)) => elements.push(value),
            Some(Open::Block(statements, _)) => {
                let (key, span) = keys.pop().expect("a value follows its key");
                let name = unit.symbols.intern_text(&unit.sources, &identifier(&key));
                statements.push(Statement::Define(Definition {
                    name,
                    at: span.start,
                    operator: Mutation::Assign,
                    value,
                    private: false,
                }));
            }
        }
    })?;
    Ok(outermost.expect("facts are an object"))
}

/// A key as a name: what cannot stand in one is replaced, as in databases of secrets (§5.2).
fn identifier(key: &str) -> String {
    if is_name(key) {
        return key.to_owned();
    }
    let fits = |(at, character): (usize, char)| {
        let is_digit = character.is_ascii_digit() && at > 0;
        match character.is_ascii_alphabetic()
            || character == '_'
            || !character.is_ascii()
            || is_digit
        {
            true => character,
            false => '★',
        }
    };
    let name: String = key.char_indices().map(fits).collect();
    match is_name(&name) {
        true => name,
        // A reserved word, or nothing at all.
        false => format!("{name}★"),
    }
}
