//! What is written at a place: from an offset to the literal, reference or keyword there, and from a
//! line and column to the stretch that somebody means by it.

use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;

use crate::lexer::{Dialect, Keyword, Lexer, Token};

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
        Token::Keyword(Keyword::If | Keyword::Switch | Keyword::Apply | Keyword::Assert) => {
            span.to(worded(lexer, token, &mut next))
        }
        Token::Keyword(Keyword::Var) => span.to(variable(lexer, span, &mut next)),
        Token::Keyword(Keyword::Lazy) => {
            let mut ahead = lexer;
            match next(&mut ahead) {
                (Token::Word, _) | (Token::Keyword(Keyword::Optional), _) => {
                    reference(lexer, token, span, &mut next)
                }
                (Token::End, _) => span,
                (_, behind) => span.to(extent(unit, behind.start, dialect)),
            }
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

/// The end of what begins with a word and ends with another, or with a brace.
fn worded(
    mut lexer: Lexer,
    first: Token,
    next: &mut dyn FnMut(&mut Lexer) -> (Token, Span),
) -> Span {
    use Keyword::*;
    // The conditions of a `SWITCH` have no `FI`.
    let (mut open, mut switches) = match first {
        Token::Keyword(If) => (1, 0),
        Token::Keyword(Switch) => (0, 1),
        _ => (0, 0),
    };
    loop {
        let (token, span) = next(&mut lexer);
        match token {
            Token::Keyword(Switch) => switches += 1,
            Token::Keyword(EndSwitch) => switches -= 1,
            Token::Keyword(If) if switches == 0 => open += 1,
            Token::Keyword(Fi) if switches == 0 => open -= 1,
            Token::OpenBrace => open += 1,
            Token::CloseBrace => open -= 1,
            Token::End => return Span::at(span.start),
            _ => continue,
        }
        if open <= 0 && switches <= 0 {
            return span;
        }
    }
}

/// The end of a variable of the run time: `VAR`, and the name, text or braces that it may have behind it.
fn variable(
    mut lexer: Lexer,
    word: Span,
    next: &mut dyn FnMut(&mut Lexer) -> (Token, Span),
) -> Span {
    match next(&mut lexer) {
        (Token::Word | Token::Text { .. }, behind) => behind,
        (Token::OpenBrace, _) => loop {
            match next(&mut lexer) {
                (Token::CloseBrace, end) => return end,
                (Token::End, end) => return Span::at(end.start),
                _ => {}
            }
        },
        _ => word,
    }
}

/// Whether the value at an offset has a path on its left side: `web:port 80;`. Read backwards; a
/// comment between the two hides it.
pub fn is_placed(unit: &Unit, at: u32) -> bool {
    let file = unit.sources.name(unit.sources.file_at(at));
    if unit.facts.as_deref() == Some(file) {
        return false;
    }
    let before = unit.sources.text()[..at as usize].trim_end();
    let path = match before.strip_suffix('"') {
        Some(quoted) => quoted.rfind('"').map_or("", |start| &quoted[..start]),
        None => before.trim_end_matches(|c: char| c.is_alphanumeric() || "_.-+@#~$%^&".contains(c)),
    };
    path.trim_end().ends_with(':')
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
    pub(crate) fn is_whole_part(self) -> bool {
        matches!(
            self,
            Keyword::Root | Keyword::Parent | Keyword::This | Keyword::Process
        )
    }
}

/// The literals that are written in a stretch of one file, in order: all tokens that stand for a value.
pub fn literals(unit: &Unit, stretch: Span, dialect: Dialect) -> Vec<Span> {
    let sources = &unit.sources;
    let file = sources.file_at(stretch.start);
    let whole = sources.span(file);
    // A comment or a text may begin before the stretch.
    let mut lexer = Lexer {
        position: whole.start,
        end: whole.end,
        dialect,
    };
    let mut ignored = Vec::new();
    let mut next = |lexer: &mut Lexer| lexer.next(sources.text(), &mut ignored);
    // The keys of facts are written as texts are.
    let has_keys = unit.facts.as_deref() == Some(sources.name(file));
    let mut literals = Vec::new();
    let mut before = Token::End;
    loop {
        let (token, span) = next(&mut lexer);
        if token == Token::End || span.start >= stretch.end {
            return literals;
        }
        let mut ahead = lexer;
        let is_literal = match token {
            Token::Integer | Token::Float | Token::LongText | Token::Bytes => true,
            Token::Text { .. } if has_keys => next(&mut ahead).0 != Token::Colon,
            Token::Text { .. } => !matches!(before, Token::Include | Token::IncludeIfThere),
            Token::Keyword(Keyword::True | Keyword::False | Keyword::Null | Keyword::Var) => true,
            _ => false,
        };
        let mut span = span;
        if token == Token::Keyword(Keyword::Var) {
            // What it may become is part of it: none of that is a value by itself.
            span = span.to(variable(lexer, span, &mut next));
            lexer.position = span.end;
        }
        if is_literal && stretch.start <= span.start && span.end <= stretch.end {
            literals.push(span);
        }
        before = token;
    }
}

/// Whether what stands at a column only holds values together: an operator, a brace, the end of a list.
pub fn is_joint(unit: &Unit, file: FileId, line: u32, column: u32, dialect: Dialect) -> bool {
    let offset = unit.sources.offset(file, line, column);
    offset.is_some_and(|offset| held_together(unit, file, offset, dialect).is_some())
}

/// What an operator, a brace or a closing bracket at an offset holds together, brackets included.
fn held_together(unit: &Unit, file: FileId, offset: u32, dialect: Dialect) -> Option<Span> {
    let whole = unit.sources.span(file);
    // A comment or a text may begin before the line.
    let mut lexer = Lexer {
        position: whole.start,
        end: whole.end,
        dialect,
    };
    let mut ignored = Vec::new();
    let mut open: Vec<(Token, Span)> = Vec::new();
    // How many brackets are open when those have closed that are asked for.
    let mut outside = None;
    loop {
        let (token, span) = lexer.next(unit.sources.text(), &mut ignored);
        if span.start > offset && outside.is_none() {
            return None;
        }
        let is_asked = span.contains(offset);
        match token {
            Token::End => return None,
            Token::OpenBrace if is_asked => {
                outside = Some(open.len());
                open.push((token, span));
            }
            Token::OpenBrace | Token::OpenBracket | Token::OpenPlain | Token::OpenParenthesis => {
                open.push((token, span))
            }
            Token::CloseBrace
            | Token::CloseBracket
            | Token::ClosePlain
            | Token::CloseParenthesis => {
                let (_, opened) = open.pop()?;
                if is_asked || outside == Some(open.len()) {
                    return Some(opened.to(span));
                }
            }
            Token::Operator(_) if is_asked => match open.last()? {
                (Token::OpenParenthesis, _) => outside = Some(open.len() - 1),
                _ => return None,
            },
            _ => {}
        }
    }
}

/// The stretch of source that somebody means by a line, or by a line and column. With a column it is
/// the literal or reference there, or, on a name or a keyword, the value that belongs to it. None if
/// nothing is written there.
pub fn meant(
    unit: &Unit,
    file: FileId,
    line: u32,
    column: Option<u32>,
    dialect: Dialect,
) -> Option<Span> {
    let whole = unit.sources.line(file, line)?;
    let Some(column) = column else {
        return Some(whole);
    };
    let offset = unit.sources.offset(file, line, column)?;
    if let Some(held) = held_together(unit, file, offset, dialect) {
        return Some(held);
    }
    let mut lexer = Lexer {
        position: whole.start,
        end: unit.sources.span(file).end,
        dialect,
    };
    let mut ignored = Vec::new();
    let mut next = || lexer.next(unit.sources.text(), &mut ignored);
    loop {
        let (token, span) = next();
        if token == Token::End || span.start > offset {
            return None;
        }
        let stretch = extent(unit, span.start, dialect);
        let inside_a_list = matches!(
            token,
            Token::OpenBracket | Token::OpenPlain | Token::OpenParenthesis
        ) && !span.contains(offset);
        if inside_a_list || !stretch.contains(offset) {
            continue;
        }
        if !matches!(token, Token::Word | Token::Keyword(_) | Token::Fresh) {
            let is_written = !matches!(
                token,
                Token::Semicolon | Token::Comma | Token::Colon | Token::Invalid
            );
            return is_written.then_some(stretch);
        }
        // A name is followed by its value; a reference is not.
        let mut behind = Lexer {
            position: stretch.end,
            end: unit.sources.span(file).end,
            dialect,
        };
        let (following, place) = behind.next(unit.sources.text(), &mut Vec::new());
        let is_name = matches!(token, Token::Word | Token::Fresh)
            && matches!(
                following,
                Token::Word
                    | Token::Keyword(_)
                    | Token::Text { .. }
                    | Token::LongText
                    | Token::Bytes
                    | Token::Integer
                    | Token::Float
                    | Token::OpenBracket
                    | Token::OpenPlain
                    | Token::OpenParenthesis
            );
        return Some(match is_name {
            true => extent(unit, place.start, dialect),
            false => stretch,
        });
    }
}
