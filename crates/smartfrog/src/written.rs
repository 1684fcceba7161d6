//! What is written at a place: from an offset to the literal, reference or keyword there, and from a
//! line and column to the stretch that somebody means by it.

use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;

use crate::lexer::{Dialect, Keyword, Lexer, Token};
use crate::parser::Part;
use crate::tree::{Body, Expression, Prototype, Statement, Value, span_of};

/// The stretch of the literal, reference or keyword that begins at an offset.
pub fn extent(unit: &Unit, at: u32, dialect: Dialect) -> Span {
    let sources = &unit.sources;
    let end = sources.span(sources.file_at(at)).end;
    let mut lexer = Lexer {
        position: at,
        end,
        dialect,
    };
    let mut ignored = Vec::new();
    let mut next = |lexer: &mut Lexer| lexer.next(sources.text(), &mut ignored);
    let (token, mut span) = next(&mut lexer);
    match token {
        Token::Include | Token::IncludeIfThere => span.to(next(&mut lexer).1),
        Token::OpenBracket | Token::OpenPlain | Token::OpenParenthesis => {
            let mut open = 1;
            while open > 0 {
                let (token, inner) = next(&mut lexer);
                match token {
                    Token::OpenBracket | Token::OpenPlain | Token::OpenParenthesis => open += 1,
                    Token::CloseBracket | Token::ClosePlain | Token::CloseParenthesis => open -= 1,
                    Token::End => break,
                    _ => {}
                }
                span = span.to(inner);
            }
            span
        }
        Token::Word | Token::Keyword(_)
            if !matches!(
                token,
                Token::Keyword(
                    Keyword::Extends
                        | Keyword::True
                        | Keyword::False
                        | Keyword::Null
                        | Keyword::Tbd
                )
            ) =>
        {
            reference(lexer, token, span, &mut next)
        }
        _ => span,
    }
}

/// The stretch of a reference, with the keywords before it.
fn reference(
    mut lexer: Lexer,
    first: Token,
    start: Span,
    next: &mut dyn FnMut(&mut Lexer) -> (Token, Span),
) -> Span {
    let mut span = start;
    let mut token = first;
    loop {
        // A keyword that wants a name behind it.
        while matches!(token, Token::Keyword(keyword) if !keyword.is_whole_part()) {
            let (following, inner) = next(&mut lexer);
            if !matches!(
                following,
                Token::Word | Token::Keyword(_) | Token::Text { .. }
            ) {
                return span;
            }
            (token, span) = (following, span.to(inner));
        }
        let mut ahead = lexer;
        if next(&mut ahead).0 != Token::Colon {
            return span;
        }
        let (following, inner) = next(&mut ahead);
        if !matches!(following, Token::Word | Token::Keyword(_)) {
            return span;
        }
        (lexer, token, span) = (ahead, following, span.to(inner));
    }
}

impl Keyword {
    /// Whether it is a part of a reference by itself.
    fn is_whole_part(self) -> bool {
        matches!(
            self,
            Keyword::Root | Keyword::Parent | Keyword::This | Keyword::Process
        )
    }
}

/// The stretch of source that somebody means by a line, or by a line and column. With a column it is
/// the literal or reference there, or, on a name, the value that it is given. None if nothing is
/// written there.
pub fn meant(
    unit: &Unit,
    body: &Body,
    file: FileId,
    line: u32,
    column: Option<u32>,
) -> Option<Span> {
    let whole = unit.sources.line(file, line)?;
    let Some(column) = column else {
        return Some(whole);
    };
    let offset = unit.sources.offset(file, line, column)?;
    let mut smallest: Option<Span> = None;
    let mut consider = |place: Span, meaning: Span| {
        let is_smaller = |best: Span| meaning.end - meaning.start < best.end - best.start;
        if place.contains(offset) && smallest.is_none_or(is_smaller) {
            smallest = Some(meaning);
        }
    };
    places(unit, body, &mut consider);
    smallest
}

/// Tells every place at which something is written, and the stretch that stands for it.
fn places(unit: &Unit, body: &Body, tell: &mut dyn FnMut(Span, Span)) {
    let mut pending: Vec<&Body> = vec![body];
    while let Some(body) = pending.pop() {
        for statement in body {
            match statement {
                Statement::Include { span, body, .. } => {
                    tell(*span, *span);
                    pending.push(body);
                }
                Statement::Order { span, .. } => tell(*span, *span),
                Statement::Assignment(assignment) => {
                    let value = match &assignment.value {
                        Value::Literal(cell, span) => {
                            literal(unit, *cell, *span, tell);
                            *span
                        }
                        Value::Link(parts) => span_of(parts),
                        Value::Expression(expression) => {
                            inside(unit, expression, tell);
                            expression.span()
                        }
                        Value::Extends(extends) => {
                            for prototype in &extends.prototypes {
                                match prototype {
                                    Prototype::Reference(parts) => told(parts, tell),
                                    Prototype::Body(body, _) => pending.push(body),
                                }
                            }
                            extends.span
                        }
                    };
                    tell(value, value);
                    tell(span_of(&assignment.target), value);
                }
            }
        }
    }
}

fn told(parts: &[Part], tell: &mut dyn FnMut(Span, Span)) {
    tell(span_of(parts), span_of(parts));
}

/// A literal, and each element of a list by itself.
fn literal(
    unit: &Unit,
    cell: hence_model::cell::Cell,
    span: Span,
    tell: &mut dyn FnMut(Span, Span),
) {
    tell(span, span);
    let mut pending = vec![cell];
    while let Some(cell) = pending.pop() {
        if let hence_model::cell::Content::List(items) = cell.content(&unit.literals) {
            for item in unit.literals.items(items) {
                let span = extent(unit, item.at, Dialect::Production);
                tell(span, span);
                pending.push(item.cell);
            }
        }
    }
}

fn inside(unit: &Unit, expression: &Expression, tell: &mut dyn FnMut(Span, Span)) {
    tell(expression.span(), expression.span());
    match expression {
        Expression::Literal(cell, span) => literal(unit, *cell, *span, tell),
        Expression::Vector(operands, _) | Expression::Operation(_, operands, _) => {
            operands
                .iter()
                .for_each(|operand| inside(unit, operand, tell));
        }
        Expression::If(parts, _) => parts.iter().for_each(|part| inside(unit, part, tell)),
        Expression::Switch(branches, _) => {
            for (condition, value) in branches {
                inside(unit, condition, tell);
                inside(unit, value, tell);
            }
        }
        Expression::Call(_, body, _) => places(unit, body, tell),
        Expression::Component(extends) => {
            for prototype in &extends.prototypes {
                match prototype {
                    Prototype::Reference(parts) => told(parts, tell),
                    Prototype::Body(body, _) => places(unit, body, tell),
                }
            }
        }
        Expression::Reference(_) | Expression::ToBeDefined(_) => {}
    }
}
