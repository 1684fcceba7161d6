//! Tokens to syntax, by recursive descent.
//!
//! A mistake ends its statement, not the file: reading goes on with the next one. How deep anything can be
//! nested is bounded, chains such as `a + b + c` counted like brackets, so that whoever walks the tree later
//! can do so by recursion.

mod check;
mod definition;
mod expression;
mod resource;
mod string;

pub use check::{
    ASSIGNMENT, ATTRIBUTE, CALL, DUPLICATE_DEFAULT, NO_EFFECT, NO_VALUE, QUERY, TOP_LEVEL,
    UNSUPPORTED,
};
pub use definition::{NODE_NAME, PARAMETER};
pub use expression::{NUMBER_RANGE, PATTERN, RESERVED_WORD};
pub use string::ESCAPE;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Span};
use hence_model::unit::{TOO_DEEP, Unit};

use crate::lexer::{self, Keyword, Lexeme, Lexer, Token};
use crate::syntax::{Block, Call, Definition, Expression, Kind, Program};

/// Something that the grammar has no place for.
pub const SYNTAX: Code = Code::new("puppet.syntax");

/// What is nested deeper is refused whatever the limits say: it could not be walked by recursion.
const DEEPEST: u32 = 500;

/// Parses a manifest, and reports what is wrong with it. What can be read is in the program.
pub fn parse(unit: &mut Unit, file: FileId) -> Program {
    let lexer = Lexer::new(unit.sources.span(file));
    run(unit, file, lexer, |parser| {
        let body = parser.file(Place::Top);
        (body, None)
    })
}

/// Parses a template, and reports what is wrong with it. What can be read is in the program.
pub fn parse_template(unit: &mut Unit, file: FileId) -> Program {
    let lexer = Lexer::of_template(unit.sources.span(file));
    run(unit, file, lexer, |parser| {
        let parameters = parser.template_parameters();
        let body = parser.file(Place::Inner);
        (body, parameters)
    })
}

fn run(
    unit: &mut Unit,
    file: FileId,
    lexer: Lexer,
    read: impl FnOnce(&mut Parser<'_>) -> (Block, Option<Vec<crate::syntax::Parameter>>),
) -> Program {
    let span = unit.sources.span(file);
    let mut parser = Parser {
        text: unit.sources.text(),
        file: span,
        limit: unit.limits.depth.min(DEEPEST),
        lexer,
        next: Lexeme {
            token: Token::End,
            span: Span::at(span.start),
            starts_line: true,
        },
        last: Span::at(span.start),
        diagnostics: Vec::new(),
        definitions: Vec::new(),
        misplaced: Vec::new(),
        namespace: Vec::new(),
        depth: 0,
        deepest: 0,
        braces: 0,
        assigned: None,
        lost: false,
        gave_up: false,
        recovering: false,
    };
    parser.advance();
    let (body, parameters) = read(&mut parser);
    parser.report_misplaced();
    let mut definitions = parser.definitions;
    definitions.sort_by_key(|definition| definition.span.start);
    let found = parser.diagnostics;
    // A mistake in the syntax can make anything around it look as if it had no effect.
    let broken = [
        SYNTAX,
        TOO_DEEP,
        lexer::HEREDOC,
        lexer::NUMBER,
        lexer::STRAY_CHARACTER,
        lexer::UNTERMINATED,
    ];
    let is_broken = found.iter().any(|one| broken.contains(&one.code));
    for diagnostic in found {
        if !(is_broken && diagnostic.code == NO_EFFECT) {
            unit.report(diagnostic);
        }
    }
    Program {
        file,
        body,
        definitions,
        parameters,
    }
}

/// Something is wrong, and was reported.
struct Wrong;

type Parsed<T> = Result<T, Wrong>;

/// What a block belongs to: which definitions can stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The file.
    Top,
    /// A class.
    Class,
    /// Anything else.
    Inner,
}

struct Parser<'p> {
    text: &'p str,
    file: Span,
    limit: u32,
    lexer: Lexer,
    /// The token that is looked at.
    next: Lexeme,
    /// The token before it.
    last: Span,
    diagnostics: Vec<Diagnostic>,
    definitions: Vec<Definition>,
    /// Definitions of which it is not known yet that they stand in their right place.
    misplaced: Vec<check::Placed>,
    /// The names of the classes around.
    namespace: Vec<EcoString>,
    depth: u32,
    /// The depth of the deepest part of what was read last.
    deepest: u32,
    /// How many braces are open.
    braces: u32,
    /// The last assignment that is not in a lambda.
    assigned: Option<Span>,
    /// Whether the end of the text came too early, and was reported.
    lost: bool,
    /// Whether nothing more is read at all.
    gave_up: bool,
    /// Whether the rest of a statement with a mistake is skipped.
    recovering: bool,
}

/// So many diagnostics are kept: nobody is shown more.
const KEPT: usize = 1_000;

impl<'p> Parser<'p> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < KEPT {
            self.diagnostics.push(diagnostic);
        }
    }

    fn slice(&self, span: Span) -> &'p str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn advance(&mut self) {
        match self.next.token {
            Token::OpenBrace => self.braces += 1,
            Token::CloseBrace => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        self.last = self.next.span;
        let Self {
            lexer,
            text,
            diagnostics,
            recovering,
            lost,
            ..
        } = self;
        self.next = lexer.next(text, &mut |trouble: Diagnostic| {
            // One mistake of a statement is enough, unless another one swallows the rest of the file.
            let minor = [lexer::STRAY_CHARACTER, lexer::NAME, lexer::NUMBER];
            *lost |= !minor.contains(&trouble.code);
            if diagnostics.len() < KEPT && !(*recovering && minor.contains(&trouble.code)) {
                diagnostics.push(trouble);
            }
        });
    }

    /// The token behind the next.
    fn peek(&self) -> Token {
        let mut ahead = self.lexer;
        ahead.next(self.text, &mut |_| {}).token
    }

    fn take(&mut self, token: Token) -> bool {
        let found = self.next.token == token;
        if found {
            self.advance();
        }
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        self.take(Token::Keyword(keyword))
    }

    fn expect(&mut self, token: Token, what: &str, help: &str) -> Parsed<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.wrong(what, help)),
        }
    }

    /// Takes what closes something that was opened at `open`.
    fn close(&mut self, token: Token, expected: &str, open: Span, help: &str) -> Parsed<()> {
        if self.take(token) {
            return Ok(());
        }
        if let Some(diagnostic) = self.unexpected(expected, help) {
            let diagnostic = diagnostic.label(open, "this is open");
            self.report(diagnostic);
        }
        Err(Wrong)
    }

    /// Reports that something else was expected where the next token is.
    fn wrong(&mut self, expected: &str, help: &str) -> Wrong {
        if let Some(diagnostic) = self.unexpected(expected, help) {
            self.report(diagnostic);
        }
        Wrong
    }

    /// The diagnostic for a token that was not expected; none if what is wrong was reported already.
    fn unexpected(&mut self, expected: &str, help: &str) -> Option<Diagnostic> {
        if self.next.token == Token::Invalid {
            return None;
        }
        if self.next.token == Token::End {
            // What is open is open because of what was reported before.
            if std::mem::replace(&mut self.lost, true) {
                return None;
            }
        }
        let (found, place) = match self.next.token {
            Token::End if self.next.span.end < self.file.end => (
                "the end of the heredoc".to_owned(),
                Span::at(self.next.span.start),
            ),
            Token::End => (
                "the end of the file".to_owned(),
                Span::at(self.next.span.start),
            ),
            Token::Fragment { .. } => ("text of the template".to_owned(), self.next.span),
            Token::RenderEnd => ("the end of the tag".to_owned(), self.next.span),
            _ => {
                let text = self.slice(self.next.span);
                let line = text.lines().next().unwrap_or("");
                (format!("`{line}`"), self.next.span)
            }
        };
        let message = format!("expected {expected}, found {found}");
        let diagnostic = Diagnostic::error(SYNTAX, message).at(place);
        Some(match help.is_empty() {
            true => diagnostic,
            false => diagnostic.help(help),
        })
    }

    /// Reads something a level deeper, if that is allowed.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.limit {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let outside = std::mem::replace(&mut self.deepest, self.depth);
        let read = read(self);
        self.deepest = self.deepest.max(outside);
        self.depth -= 1;
        read
    }

    /// Takes note that everything that was read on this level is now part of something else on it.
    fn wrapped(&mut self) -> Parsed<()> {
        self.deepest += 1;
        match self.deepest > self.limit {
            true => Err(self.too_deep()),
            false => Ok(()),
        }
    }

    /// Reports that something is nested too deeply, and skips all that is left.
    fn too_deep(&mut self) -> Wrong {
        if !matches!(self.next.token, Token::End | Token::Invalid) {
            let limit = self.limit;
            let message = format!("this is nested deeper than {limit} levels");
            let help = match limit < DEEPEST {
                true => "allow more with `--max-depth`",
                false => {
                    "assign a part of it to a variable, or write it as more than one statement"
                }
            };
            let span = self.next.span;
            self.report(Diagnostic::error(TOO_DEEP, message).at(span).help(help));
        }
        self.lost = true;
        self.gave_up = true;
        self.lexer.finish();
        self.next = Lexeme {
            token: Token::Invalid,
            ..self.next
        };
        Wrong
    }

    fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.last.end.max(start))
    }

    /// All statements of the file.
    fn file(&mut self, place: Place) -> Block {
        let mut statements = Vec::new();
        loop {
            self.statements(&mut statements, place, Token::End);
            match self.next.token {
                Token::End => break,
                _ => {
                    self.wrong("a statement", "there is nothing open that this could close");
                    self.advance();
                }
            }
        }
        self.check_effects(&statements);
        Block {
            statements,
            span: self.file,
        }
    }

    /// `{ statements }`
    fn block(&mut self, place: Place, before: &str) -> Parsed<Block> {
        let open = self.next.span;
        if self.next.token != Token::OpenBrace {
            let help = match self.next.token {
                Token::Equals => "to compare, write `==`",
                _ => "",
            };
            return Err(self.wrong(&format!("`{{` {before}"), help));
        }
        self.advance();
        let mut statements = Vec::new();
        self.statements(&mut statements, place, Token::CloseBrace);
        self.close(Token::CloseBrace, "a statement or `}`", open, "")?;
        self.check_effects(&statements);
        Ok(Block {
            statements,
            span: self.span_from(open.start),
        })
    }

    /// Statements up to a closing brace or the end.
    fn statements(&mut self, list: &mut Vec<Expression>, place: Place, close: Token) {
        loop {
            match self.next.token {
                Token::End => return,
                Token::CloseBrace if close == Token::CloseBrace || self.braces == 0 => return,
                _ => {}
            }
            let start = self.next.span.start;
            let braces = self.braces;
            if self.statement(list, place).is_err() {
                self.recover(start, braces);
            }
        }
    }

    /// A value, or several with commas between them: the arguments of a function that is called without
    /// parentheses, if the name of one stands before them.
    fn statement(&mut self, list: &mut Vec<Expression>, place: Place) -> Parsed<()> {
        let first = self.assignment()?;
        let is_call = list.last().is_some_and(|before| match &before.kind {
            Kind::Name(name) => is_statement_function(name),
            _ => false,
        });
        let mut arguments = Vec::new();
        match is_call {
            true => arguments.push(first),
            false => {
                self.accept_definition(&first, place);
                list.push(first);
                if self.next.token == Token::Comma {
                    return Err(self.stray_comma(list));
                }
            }
        }
        if is_call {
            while self.take(Token::Comma) {
                let argument = self.assignment()?;
                arguments.push(argument);
            }
            let function = list.pop().expect("the name is the last");
            let span = self.span_from(function.span.start);
            let call = Call {
                function,
                arguments,
                lambda: None,
                method: false,
            };
            let kind = Kind::Call(Box::new(call));
            list.push(Expression { kind, span });
        }
        if self.next.token == Token::Semicolon {
            let semicolon = self.next.span;
            self.advance();
            if matches!(
                self.next.token,
                Token::CloseBrace | Token::End | Token::Semicolon
            ) {
                let message = "expected a statement behind `;`";
                self.report(
                    Diagnostic::error(SYNTAX, message)
                        .at(semicolon)
                        .help("`;` stands between two statements; most need none"),
                );
            }
        }
        Ok(())
    }

    /// Reports a comma behind a statement.
    fn stray_comma(&mut self, list: &[Expression]) -> Wrong {
        let help = match list {
            [
                ..,
                Expression {
                    kind: Kind::Name(name),
                    ..
                },
                _,
            ] => {
                format!("`{name}` is not called without parentheses: write `{name}(…)`")
            }
            _ => "no comma stands between statements".to_owned(),
        };
        self.wrong("a new statement", &help)
    }

    /// Skips to the beginning of another statement than that at `start`, in a block with `braces` around it.
    fn recover(&mut self, start: u32, braces: u32) {
        self.recovering = true;
        loop {
            let is_here = self.braces <= braces;
            match self.next.token {
                Token::End => break,
                Token::CloseBrace if is_here => break,
                token
                    if is_here
                        && self.next.starts_line
                        && self.next.span.start != start
                        && begins_statement(token) =>
                {
                    break;
                }
                Token::Quote => self.skip_quoted(),
                _ => self.advance(),
            }
        }
        self.recovering = false;
    }
}

/// Whether a line that begins with it is likely to be a statement.
fn begins_statement(token: Token) -> bool {
    match token {
        Token::Name
        | Token::Reference
        | Token::Variable
        | Token::At
        | Token::AtAt
        | Token::Fragment { .. }
        | Token::Render => true,
        Token::Keyword(keyword) => !matches!(
            keyword,
            Keyword::And | Keyword::Or | Keyword::In | Keyword::Else | Keyword::Elsif
        ),
        _ => false,
    }
}

/// The functions that are called without parentheses.
fn is_statement_function(name: &str) -> bool {
    matches!(
        name,
        "require"
            | "realize"
            | "include"
            | "contain"
            | "tag"
            | "debug"
            | "info"
            | "notice"
            | "warning"
            | "err"
            | "fail"
            | "import"
            | "break"
            | "next"
            | "return"
    )
}
