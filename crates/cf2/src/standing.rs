//! What stands at a place of a file: a value, what names or begins one, or what holds values together.

use hence_model::source::{FileId, Span};

use crate::compile::Compiled;
use crate::lexer::{Keyword, Lexer, Token};
use crate::syntax::Kind;

impl Compiled<'_> {
    /// The scalars that are written in a stretch, in order; the names of imported files are none.
    pub fn literals(&self, stretch: Span) -> Vec<Span> {
        let sources = &self.unit().sources;
        let inside = |span: &Span| {
            stretch.start <= span.start
                && span.end <= stretch.end
                && !sources.slice(*span).starts_with('[')
        };
        let mut literals = self.evaluator.tree.literals();
        literals.retain(inside);
        literals.sort();
        literals.dedup();
        literals
    }

    /// The stretch that is meant by a line, or by a column of it: a name stands for its definition, what begins an
    /// import, a conditional or a call for all of that, and what holds others together for all that it does.
    pub fn meant(&self, file: FileId, line: u32, column: Option<u32>) -> Option<Span> {
        match column {
            None => self.unit().sources.line(file, line),
            Some(column) => Some(self.standing(file, line, column)?.0),
        }
    }

    /// Whether what stands at a column only holds others together: an operator, a bracket, the name of a mutation.
    pub fn is_joint(&self, file: FileId, line: u32, column: u32) -> bool {
        let standing = self.standing(file, line, column);
        standing.is_some_and(|(_, standing)| standing == Standing::Joint)
    }

    fn standing(&self, file: FileId, line: u32, column: u32) -> Option<(Span, Standing)> {
        let sources = &self.unit().sources;
        let whole = sources.line(file, line)?;
        let offset = sources.offset(file, line, column)?;
        let tree = &self.evaluator.tree;
        for definition in tree.definitions() {
            let name = self.evaluator.name_span(definition);
            if name.contains(offset) {
                let defined = name.to(tree.expression(definition.value).span);
                return Some((defined, Standing::Named));
            }
        }
        let mut lexer = Lexer::new(Span::new(whole.start, sources.span(file).end));
        loop {
            let lexeme = lexer.next(sources.text());
            match lexeme.token {
                Token::End => return None,
                _ if lexeme.span.start > offset => return None,
                Token::Comma | Token::Invalid => {}
                Token::Dollar => {
                    let name = lexer.next(sources.text());
                    let reference = lexeme.span.to(name.span);
                    if reference.contains(offset) {
                        return Some((reference, Standing::Named));
                    }
                }
                _ if lexeme.span.contains(offset) => {
                    if let Some(begun) = tree.begun_at(lexeme.span.start) {
                        return Some((begun, Standing::Named));
                    }
                    if self.is_value(lexeme.token, offset) {
                        return Some((lexeme.span, Standing::Named));
                    }
                    let around = match lexeme.token {
                        Token::Keyword(Keyword::Private | Keyword::Def) => self.behind(offset),
                        _ => self.around(offset),
                    };
                    let around = around.unwrap_or(lexeme.span);
                    return Some((around, Standing::Joint));
                }
                _ => {}
            }
        }
    }

    /// Whether a token is a value by itself, or begins one.
    fn is_value(&self, token: Token, offset: u32) -> bool {
        match token {
            Token::Number | Token::Text { .. } | Token::Undefined => true,
            Token::Keyword(Keyword::True | Keyword::False) => true,
            Token::Word | Token::OpenBracket => {
                let innermost = self.evaluator.tree.innermost(offset);
                innermost.is_some_and(|it| matches!(it.kind, Kind::Literal(_) | Kind::Secret(_)))
            }
            _ => false,
        }
    }

    /// The smallest operation, definition or macro around an offset.
    fn around(&self, offset: u32) -> Option<Span> {
        let expression = self.evaluator.tree.innermost(offset);
        let around = self.defined().chain(expression.map(|one| one.span));
        around
            .filter(|span| span.contains(offset))
            .min_by_key(|span| span.end - span.start)
    }

    /// The first definition or macro behind an offset.
    fn behind(&self, offset: u32) -> Option<Span> {
        let behind = self.defined().filter(|span| span.start > offset);
        behind.min_by_key(|span| span.start)
    }

    /// All definitions and macros, from the name to the end of the value.
    fn defined(&self) -> impl Iterator<Item = Span> {
        let tree = &self.evaluator.tree;
        let to_value = |name: Span, value| name.to(tree.expression(value).span);
        let definitions = tree.definitions();
        let definitions =
            definitions.map(move |one| to_value(self.evaluator.name_span(one), one.value));
        let macros = tree.macros().map(|id| tree.macro_(id));
        definitions.chain(macros.map(move |one| to_value(one.span, one.value)))
    }
}

/// What stands in a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// A value, or what names or begins one.
    Named,
    /// What holds values together.
    Joint,
}
