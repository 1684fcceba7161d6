//! Tokens to syntax, reported as it is read.
//!
//! SmartFrog's core semantics reads a specification from left to right, so it can run while the text
//! is parsed: the parser tells a [`Handler`] what it sees, and the evaluator is one. A syntax tree,
//! for those who want one, is built by another ([`crate::tree`]).
//!
//! The grammar is in `docs/smartfrog.md`. The parser does not recurse over blocks and vectors, however
//! deep they are, and goes on after a mistake at the next `;` or `}`, so that one run reports them all.

use hence_model::cell::{Cell, Item};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Files, Span};
use hence_model::symbol::Symbol;
use hence_model::unit::{TOO_DEEP, Unit};

use crate::lexer::{Dialect, Keyword, Lexer, Operator, Token};
use crate::text;
use crate::tree::Expression;

/// The text is not a specification.
pub const SYNTAX: Code = Code::new("sf.syntax");
/// Something that only the production language has.
pub const PRODUCTION_ONLY: Code = Code::new("sf.production-only");

const WHAT_EXTENDS_TAKES: &str =
    "`name extends { … }` makes a block, `name extends other` starts with what another one has";

/// One part of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it does.
    pub kind: PartKind,
    /// The name in it; for `PARENT` and its like the keyword itself.
    pub name: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// What a part of a reference does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A name: looked for outwards if it is the first part, and right here if not.
    Name,
    /// A keyword of the production language, with or without a name behind it.
    Keyword(Keyword),
}

/// What the parser tells of what it reads.
pub trait Handler {
    /// `target literal;`
    fn literal(&mut self, unit: &mut Unit, target: &[Part], cell: Cell, span: Span);
    /// `target reference;`
    fn link(&mut self, unit: &mut Unit, target: &[Part], reference: &[Part]);
    /// `target extends …`
    fn open(&mut self, unit: &mut Unit, target: &[Part], span: Span);
    /// A reference after `extends`.
    fn prototype(&mut self, unit: &mut Unit, reference: &[Part]);
    /// A `{` after `extends`.
    fn body(&mut self, unit: &mut Unit, span: Span);
    /// Its `}`.
    fn end_body(&mut self, unit: &mut Unit, span: Span);
    /// The end of what `extends` began.
    fn close(&mut self, unit: &mut Unit);
    /// `order first < second < …;`
    fn order(&mut self, unit: &mut Unit, names: &[Part], span: Span);
    /// The text of another file begins here.
    fn include(&mut self, unit: &mut Unit, file: FileId, span: Span);
    /// That text has ended.
    fn end_include(&mut self, unit: &mut Unit);
    /// The text of another file would be here, and cannot be read.
    fn unread_include(&mut self) {}
    /// `[tags] target value` of the production language, for values that are none of the above.
    fn expression(&mut self, unit: &mut Unit, target: &[Part], value: Expression);
    /// Tags that belong to the next assignment.
    fn tags(&mut self, unit: &mut Unit, tags: &[Part]);
    /// `DATA` or `LAZY` right after `extends`.
    fn modifier(&mut self, unit: &mut Unit, keyword: Keyword);
}

/// Reads a file and all that it includes, and tells `handler` what it sees.
pub fn parse<H: Handler>(
    unit: &mut Unit,
    files: &dyn Files,
    file: FileId,
    dialect: Dialect,
    handler: &mut H,
) {
    let mut parser = Parser::new(unit, files, file, dialect, handler);
    parser.advance();
    parser.specification();
}

pub(crate) struct Parser<'a, H: Handler> {
    pub unit: &'a mut Unit,
    pub files: &'a dyn Files,
    pub handler: &'a mut H,
    pub lexer: Lexer,
    pub token: Token,
    pub span: Span,
    /// Where the token before this one ended.
    pub before: u32,
    pub open: Vec<Open>,
    target: Vec<Part>,
    reference: Vec<Part>,
    items: Vec<Item>,
    nested: u32,
    /// How deep the expression being read is.
    pub depth: u32,
    /// How many fresh names were made.
    pub fresh: u32,
    /// How much of the text was searched for names that a fresh one must not be.
    pub searched: usize,
    /// Whether a `}` is to come that closes no block.
    pub wrapping: bool,
    /// The files around the ones in `open`, for a parser of a part.
    pub around: Vec<FileId>,
}

/// What is being read.
pub(crate) enum Open {
    /// A body: where its brace is.
    Body(Span),
    /// A file that another one includes: how to go on in that.
    File { resume: Lexer },
}

/// The parser gives up: the rest of the text is skipped.
pub(crate) struct Lost;

impl<'a, H: Handler> Parser<'a, H> {
    pub(crate) fn new(
        unit: &'a mut Unit,
        files: &'a dyn Files,
        file: FileId,
        dialect: Dialect,
        handler: &'a mut H,
    ) -> Self {
        let span = unit.sources.span(file);
        Self {
            unit,
            files,
            handler,
            lexer: Lexer {
                position: span.start,
                end: span.end,
                dialect,
            },
            token: Token::End,
            span: Span::at(span.start),
            before: span.start,
            open: Vec::new(),
            target: Vec::new(),
            reference: Vec::new(),
            items: Vec::new(),
            nested: 0,
            depth: 0,
            fresh: 0,
            searched: 0,
            wrapping: false,
            around: Vec::new(),
        }
    }

    /// Lets another handler see what is read by `read`, and then goes on from there.
    pub(crate) fn aside<I: Handler>(
        &mut self,
        handler: &mut I,
        read: impl FnOnce(&mut Parser<'_, I>),
    ) {
        let mut around: Vec<FileId> = self.chain().collect();
        around.push(self.file());
        let mut inner = Parser {
            unit: self.unit,
            files: self.files,
            handler,
            lexer: self.lexer,
            token: self.token,
            span: self.span,
            before: self.before,
            open: Vec::new(),
            target: Vec::new(),
            reference: Vec::new(),
            items: Vec::new(),
            nested: self.nested,
            depth: self.depth,
            fresh: self.fresh,
            searched: self.searched,
            wrapping: false,
            around,
        };
        read(&mut inner);
        let Parser {
            lexer,
            token,
            span,
            before,
            fresh,
            searched,
            ..
        } = inner;
        (self.lexer, self.token, self.span) = (lexer, token, span);
        (self.before, self.fresh, self.searched) = (before, fresh, searched);
    }

    /// `extends …`, all of it.
    pub(crate) fn extends_to_its_end(&mut self, target: &[Part]) {
        self.extends(target);
        while !self.open.is_empty() && self.statement() {}
    }

    /// Statements up to a `}` that belongs to somebody else.
    pub(crate) fn statements_to_brace(&mut self) {
        let is_at_brace =
            |parser: &Self| parser.token == Token::CloseBrace && parser.open.is_empty();
        while !is_at_brace(self) && self.statement() {}
    }

    /// Leaves the rest of the file unread.
    pub(crate) fn skip_all(&mut self) {
        self.lexer.position = self.lexer.end;
        self.advance();
    }

    /// A sequence of statements up to the end of the file.
    fn specification(&mut self) {
        if self.is_production() && self.token == Token::Keyword(Keyword::Extends) {
            self.wrapped();
        }
        while self.statement() {
            if self.unit.has_enough(Some(self.span)) {
                return;
            }
        }
    }

    /// Reads one statement, or the end of a body or file. False when all is read.
    fn statement(&mut self) -> bool {
        match self.token {
            Token::Word => self.assignment(),
            Token::Include | Token::IncludeIfThere => self.include(),
            Token::CloseBrace => self.end_body(),
            Token::End => return self.end_of_file(),
            Token::Semicolon if self.is_production() => self.advance(),
            Token::Fresh | Token::Text { .. } if self.is_production() => self.assignment(),
            Token::OpenBracket if self.is_production() => self.tags(),
            // The lexer has said what is wrong.
            Token::Invalid if self.unit.sources.slice(self.span).starts_with('\'') => {
                self.recover();
            }
            Token::Invalid => self.advance(),
            Token::Semicolon => {
                self.unit.report(
                    Diagnostic::error(SYNTAX, "there is nothing for this `;` to end")
                        .at(self.span)
                        .help("remove it; `extends …` needs none"),
                );
                self.advance();
            }
            Token::Text { .. } => {
                self.expected("the name of an attribute");
                self.advise("names stand without quotes");
                self.recover();
            }
            Token::Integer | Token::Float if self.is_first_on_its_line() => {
                self.expected("the name of an attribute");
                self.advise("a name begins with a letter or `_`");
                self.recover();
            }
            _ => {
                self.expected("the name of an attribute");
                if self.is_production() && matches!(self.token, Token::Operator(_)) {
                    self.advise("an operation stands in brackets: `(a + b)`");
                }
                self.recover();
            }
        }
        true
    }

    fn assignment(&mut self) {
        let mut target = std::mem::take(&mut self.target);
        target.clear();
        match self.left_side(&mut target) {
            Ok(()) => self.value(&target),
            Err(Lost) => self.recover(),
        }
        self.target = target;
    }

    fn left_side(&mut self, target: &mut Vec<Part>) -> Result<(), Lost> {
        if self.is_production() {
            return self.production_target(target);
        }
        loop {
            target.push(self.name());
            let colon = self.span;
            if self.token != Token::Colon {
                return Ok(());
            }
            self.advance();
            if self.token != Token::Word {
                return self.value_behind(colon);
            }
        }
    }

    /// Behind the `:` of a left side is no name: if it is a value, that is what was meant.
    pub(crate) fn value_behind(&mut self, colon: Span) -> Result<(), Lost> {
        use Token::*;
        match self.token {
            _ if self.is_equals() => return Ok(()),
            OpenBracket | OpenBrace | OpenParenthesis => {}
            token if is_value(token) => {}
            _ => {
                self.expected("a name");
                return Err(Lost);
            }
        }
        self.wrong_colon(colon);
        Ok(())
    }

    fn wrong_colon(&mut self, colon: Span) {
        let message = "`:` stands between the names of a path, not before a value";
        let diagnostic = Diagnostic::error(SYNTAX, message).at(colon);
        let help = "a name and its value stand side by side: `port 80;`";
        self.unit.report(diagnostic.help(help));
    }

    /// `IDENT { ":" IDENT }`
    fn names(&mut self, parts: &mut Vec<Part>) -> Result<(), Lost> {
        loop {
            if self.token != Token::Word {
                self.expected("a name");
                return Err(Lost);
            }
            parts.push(self.name());
            if self.token != Token::Colon {
                return Ok(());
            }
            self.advance();
        }
    }

    /// The word that is read now, as a name.
    pub(crate) fn name(&mut self) -> Part {
        let span = self.span;
        let name = self.unit.symbols.intern(&self.unit.sources, span);
        self.advance();
        Part {
            kind: PartKind::Name,
            name,
            span,
        }
    }

    fn value(&mut self, target: &[Part]) {
        if self.is_equals() {
            self.advance();
        }
        match self.token {
            Token::Keyword(Keyword::Extends) => return self.extends(target),
            Token::OpenBrace => {
                self.expected("a value");
                self.advise("a block is made by `extends`: `name extends { … }`");
                self.handler.open(self.unit, target, self.span);
                return self.prototypes();
            }
            _ => {}
        }
        if self.is_production() {
            return self.production_value(target);
        }
        match self.token {
            Token::Word if self.is_order(target) => self.order(),
            // `host: web`, and on the next line `port: 80`.
            Token::Word if self.is_mapping(target) => {
                let colon = target[target.len() - 2].span.end;
                self.wrong_colon(Span::new(colon, colon + 1));
            }
            Token::Integer if self.is_part_of_name(target) => self.production_name(target),
            Token::Word => {
                let mut reference = std::mem::take(&mut self.reference);
                reference.clear();
                match self.names(&mut reference) {
                    // The lexer has said what is wrong with it.
                    Ok(()) if self.token == Token::Invalid => self.recover(),
                    Ok(()) => {
                        self.handler.link(self.unit, target, &reference);
                        self.semicolon();
                    }
                    Err(Lost) => self.recover(),
                }
                self.reference = reference;
            }
            _ => match self.basic() {
                Ok((cell, span)) => {
                    self.handler.literal(self.unit, target, cell, span);
                    self.semicolon();
                }
                Err(Lost) => {
                    self.advise_on_value(target);
                    self.recover();
                }
            },
        }
    }

    /// Whether a left side is written `name: value`, and another statement follows on the next line.
    fn is_mapping(&self, target: &[Part]) -> bool {
        let [.., name, value] = target else {
            return false;
        };
        let text = self.unit.sources.text();
        let colon = &text[name.span.end as usize..value.span.start as usize];
        if colon.len() == 1 || !self.is_first_on_its_line() {
            return false;
        }
        match self.next_on_this_line() {
            Some(Token::Colon) => {
                let mut ahead = self.lexer;
                ahead.next(text, &mut Vec::new());
                ahead.next(text, &mut Vec::new()).0 != Token::Word
            }
            Some(Token::Word) => true,
            Some(token) => is_value(token),
            None => false,
        }
    }

    /// Whether a negative number stands right behind a name, and more behind that: `node-1 extends …`.
    fn is_part_of_name(&self, target: &[Part]) -> bool {
        let name = target[target.len() - 1].span;
        let follows = self.next_on_this_line();
        self.span.start == name.end && !matches!(follows, None | Some(Token::Semicolon))
    }

    fn production_name(&mut self, target: &[Part]) {
        let name = target[target.len() - 1].span.to(self.span);
        let written = self.unit.sources.slice(name);
        let message = format!("`{written}` is a name of the production language only");
        let diagnostic = Diagnostic::error(PRODUCTION_ONLY, message).at(name);
        let help = "compile with `--semantics production`, or use letters, digits and `_`";
        self.unit.report(diagnostic.help(help));
        self.advance();
        match self.token {
            Token::Keyword(Keyword::Extends) => self.extends(target),
            _ => self.recover(),
        }
    }

    /// What may be meant where there is no value.
    fn advise_on_value(&mut self, target: &[Part]) {
        let name = target[target.len() - 1];
        match self.token {
            Token::Semicolon | Token::Comma | Token::CloseBrace if target.len() > 1 => {
                self.advise("a name and its value stand side by side, without `:`");
            }
            Token::Operator(_) if self.span.start == name.span.end => {
                self.advise(
                    "a name has letters, digits and `_`; \
                     some other characters belong to the production language: `--semantics production`",
                );
            }
            Token::Operator(_) => self.advise("a text stands in double quotes: `\"…\"`"),
            _ => {}
        }
    }

    /// Whether an `=` stands here, of which the lexer has said that it does not belong here.
    fn is_equals(&self) -> bool {
        self.token == Token::Invalid && self.unit.sources.slice(self.span).starts_with('=')
    }

    /// Whether this is not `order name;` but `order first < second;`.
    pub(crate) fn is_order(&self, target: &[Part]) -> bool {
        let [only] = target else { return false };
        let text = self.unit.sources.text();
        self.unit.sources.slice(only.span) == "order" && {
            let mut ahead = self.lexer;
            ahead.next(text, &mut Vec::new()).0 == Token::Operator(Operator::Less)
        }
    }

    /// `order a < b < c, d < e;`
    pub(crate) fn order(&mut self) {
        let mut names: Vec<Part> = Vec::new();
        let start = self.span;
        loop {
            if self.token != Token::Word {
                self.expected("the name of an attribute");
                return self.recover();
            }
            names.push(self.name());
            match self.token {
                Token::Operator(Operator::Less) => self.advance(),
                _ if names.len() < 2 => {
                    self.expected("`<`");
                    return self.recover();
                }
                _ => {
                    let span = Span::new(start.start, self.before);
                    self.handler.order(self.unit, &names, span);
                    names.clear();
                    if self.token != Token::Comma {
                        return self.semicolon();
                    }
                    self.advance();
                }
            }
        }
    }

    /// `extends proto { "," proto }`, up to its end or to the first statement of a body.
    fn extends(&mut self, target: &[Part]) {
        let span = self.span;
        self.advance();
        self.handler.open(self.unit, target, span);
        if self.is_production()
            && let Token::Keyword(keyword @ (Keyword::Data | Keyword::Lazy)) = self.token
        {
            self.handler.modifier(self.unit, keyword);
            self.advance();
        }
        self.prototypes();
    }

    fn prototypes(&mut self) {
        loop {
            match self.token {
                // `web extends`, and on the next line `port 80;`.
                Token::Word if self.is_attribute() => {
                    let here = Span::at(self.before);
                    self.unit.report(
                        Diagnostic::error(
                            SYNTAX,
                            "expected a prototype or `{`, found an attribute",
                        )
                        .label(here, "expected here")
                        .label(self.span, "it begins here")
                        .help(WHAT_EXTENDS_TAKES),
                    );
                    return self.handler.close(self.unit);
                }
                Token::OpenBrace => return self.open_body(),
                Token::Keyword(Keyword::Null) if self.is_production() => self.advance(),
                _ => {
                    let mut reference = std::mem::take(&mut self.reference);
                    reference.clear();
                    let read = if self.is_production() {
                        self.production_reference(&mut reference)
                    } else if matches!(self.token, Token::Word) {
                        self.names(&mut reference)
                    } else {
                        self.expected("a prototype or `{`");
                        self.advise(WHAT_EXTENDS_TAKES);
                        Err(Lost)
                    };
                    match read {
                        Ok(()) => self.handler.prototype(self.unit, &reference),
                        Err(Lost) => {
                            self.reference = reference;
                            self.handler.close(self.unit);
                            return self.recover();
                        }
                    }
                    self.reference = reference;
                }
            }
            if !self.another_prototype() {
                return self.handler.close(self.unit);
            }
        }
    }

    fn another_prototype(&mut self) -> bool {
        match self.token {
            Token::Comma => {
                self.advance();
                true
            }
            Token::OpenBrace if self.is_production() => true,
            Token::OpenBrace => {
                // Written for the production compiler, or the comma was forgotten: it is clear what is meant.
                self.unit.report(
                    Diagnostic::error(SYNTAX, "a `,` must stand between a prototype and `{`")
                        .at(self.span)
                        .help("the production language can do without: `--semantics production`"),
                );
                true
            }
            _ => false,
        }
    }

    fn open_body(&mut self) {
        self.nested += 1;
        self.open.push(Open::Body(self.span));
        self.handler.body(self.unit, self.span);
        if self.nested > self.unit.limits.depth {
            self.too_deep();
        }
        self.advance();
    }

    fn too_deep(&mut self) {
        let limit = self.unit.limits.depth;
        self.unit.report(
            Diagnostic::error(TOO_DEEP, format!("nesting is deeper than {limit} levels"))
                .label(self.span, "this is one too many")
                .help("allow more with `--max-depth`"),
        );
        // Nothing after this can be understood without its surroundings.
        self.lexer.position = self.lexer.end;
    }

    fn end_body(&mut self) {
        match self.open.last() {
            Some(Open::Body(_)) => {
                self.open.pop();
                self.nested -= 1;
                self.handler.end_body(self.unit, self.span);
                self.advance();
                if self.another_prototype_after_body() {
                    self.prototypes();
                } else {
                    self.handler.close(self.unit);
                }
            }
            _ if self.wrapping => {
                self.wrapping = false;
                self.advance();
            }
            _ => {
                self.unit.report(
                    Diagnostic::error(SYNTAX, "this `}` closes nothing")
                        .at(self.span)
                        .help("remove it, or look for a `{` that is missing above"),
                );
                self.advance();
            }
        }
    }

    fn another_prototype_after_body(&mut self) -> bool {
        let more = self.token == Token::Comma;
        if more {
            self.advance();
        }
        more
    }

    fn end_of_file(&mut self) -> bool {
        match self.open.pop() {
            None => false,
            Some(Open::Body(brace)) => {
                if !self.is_cut_short() {
                    let end = Span::at(self.lexer.end);
                    self.unit.report(
                        Diagnostic::error(SYNTAX, "a `}` is missing at the end of the file")
                            .label(end, "expected here at the latest")
                            .label(brace, "to close this"),
                    );
                }
                // The other open bodies are open because of this one.
                while matches!(self.open.last(), Some(Open::Body(_))) {
                    self.open.pop();
                    self.leave();
                }
                self.leave();
                true
            }
            Some(Open::File { resume }) => {
                self.handler.end_include(self.unit);
                self.lexer = resume;
                self.advance();
                self.optional_semicolon();
                true
            }
        }
    }

    fn leave(&mut self) {
        self.nested -= 1;
        self.handler.end_body(self.unit, Span::at(self.lexer.end));
        self.handler.close(self.unit);
    }

    /// Whether the `}` was not read because something else was wrong.
    fn is_cut_short(&self) -> bool {
        use crate::lexer::{UNTERMINATED_COMMENT, UNTERMINATED_STRING};
        let Some(last) = self.unit.diagnostics.last() else {
            return false;
        };
        let took_it = || self.unit.sources.slice(last.labels[0].span).contains('}');
        last.code == TOO_DEEP
            || last.code == UNTERMINATED_COMMENT
            || last.code == UNTERMINATED_STRING && took_it()
    }

    pub(crate) fn optional_semicolon(&mut self) {
        if self.token == Token::Semicolon {
            self.advance();
        }
    }

    /// The end of a value. If it is missing but the next line begins well, it is just missing.
    pub(crate) fn semicolon(&mut self) {
        if self.token == Token::Semicolon {
            return self.advance();
        }
        if self.is_production() {
            return;
        }
        let between = &self.unit.sources.text()[self.before as usize..self.span.start as usize];
        let goes_on = match self.token {
            Token::CloseBrace | Token::End => true,
            _ => between.contains('\n'),
        };
        if self.token == Token::Invalid && !goes_on {
            return self.recover(); // The lexer has said what is wrong.
        }
        let here = Span::at(self.before);
        let missing =
            Diagnostic::error(SYNTAX, "a `;` must end this value").label(here, "expected `;` here");
        match self.token {
            Token::Comma => {
                self.advance();
                let is_statement =
                    matches!(self.token, Token::Word | Token::CloseBrace | Token::End);
                self.unit.report(match is_statement {
                    true => missing.help("attributes end with `;`, no `,` stands between them"),
                    false => missing.help("several values stand in brackets: `[1, 2]`"),
                });
                if !is_statement {
                    self.recover();
                }
            }
            Token::Operator(operator) if !goes_on => {
                let operator = operator.text();
                let help = format!(
                    "only the production language computes, in brackets: `(a {operator} b)` with `--semantics production`"
                );
                self.unit.report(Diagnostic {
                    code: PRODUCTION_ONLY,
                    ..missing.help(help)
                });
                self.recover();
            }
            _ => {
                self.unit.report(missing);
                if !goes_on {
                    self.recover();
                }
            }
        }
    }

    /// A literal: a basic value of the paper.
    pub(crate) fn basic(&mut self) -> Result<(Cell, Span), Lost> {
        if self.token == Token::OpenBracket {
            return self.vector();
        }
        self.scalar()
    }

    /// `"[" [ basic { "," basic } ] "]"`, to any depth.
    fn vector(&mut self) -> Result<(Cell, Span), Lost> {
        let mut starts: Vec<(Span, usize)> = Vec::new();
        let outermost = self.items.len();
        let result = loop {
            // An element, or the beginning of one.
            let element = if self.token == Token::OpenBracket {
                starts.push((self.span, self.items.len()));
                if self.nested + starts.len() as u32 > self.unit.limits.depth {
                    self.too_deep();
                    break Err(Lost);
                }
                self.advance();
                if self.token != Token::CloseBracket {
                    continue;
                }
                None
            } else {
                match self.scalar() {
                    Ok(element) => Some(element),
                    Err(Lost) => break Err(Lost),
                }
            };
            if let Some((cell, span)) = element {
                let at = span.start;
                self.items.push(Item { cell, at });
            }
            // What comes behind an element: a comma, or the end of one vector or more.
            if self.token == Token::Comma && element.is_some() {
                self.advance();
                continue;
            }
            let ended = loop {
                if self.token != Token::CloseBracket {
                    self.expected("`,` or `]`");
                    break Some(Err(Lost));
                }
                let (bracket, first) = starts.pop().expect("an element is in a vector");
                let cell = self.unit.literals.list(&self.items[first..]);
                self.items.truncate(first);
                let span = bracket.to(self.span);
                self.advance();
                if starts.is_empty() {
                    break Some(Ok((cell, span)));
                }
                let at = span.start;
                self.items.push(Item { cell, at });
                if self.token == Token::Comma {
                    self.advance();
                    break None;
                }
            };
            if let Some(ended) = ended {
                break ended;
            }
        };
        self.items.truncate(outermost);
        result
    }

    fn scalar(&mut self) -> Result<(Cell, Span), Lost> {
        let span = self.span;
        let cell = match self.token {
            Token::Keyword(Keyword::True) => Cell::bool(true),
            Token::Keyword(Keyword::False) => Cell::bool(false),
            Token::Keyword(Keyword::Null) => Cell::NULL,
            Token::Keyword(Keyword::Data) => return self.data_reference(),
            Token::Text { escaped: false } => {
                let inner = Span::new(span.start + 1, span.end - 1);
                self.unit.literals.text(inner)
            }
            Token::Text { escaped: true } => {
                let text = self.string()?;
                self.unit.literals.made_text(&text)
            }
            Token::LongText if self.is_production() => {
                let text = self.string()?;
                self.unit.literals.made_text(&text)
            }
            Token::Integer | Token::Float => {
                self.ends()?;
                self.number()?
            }
            Token::Word => {
                self.expected("a value that is written out");
                self.advise(match self.is_production() {
                    true => "`DATA` makes a reference a value",
                    false => {
                        "a vector holds basic values only, no references; \
                         `DATA` makes a reference a value"
                    }
                });
                return Err(Lost);
            }
            Token::OpenBrace => {
                self.expected("a value");
                self.advise("a block is made by `extends`: `name extends { … }`");
                return Err(Lost);
            }
            _ => {
                self.expected("a value");
                if self.is_production() && matches!(self.token, Token::Operator(_)) {
                    self.advise("an operation stands in brackets: `(0 - a)`, `(! b)`");
                }
                return Err(Lost);
            }
        };
        self.advance();
        Ok((cell, span))
    }

    /// Nothing that looks like a part of it stands right behind the number that is read now: it would be another value,
    /// or the name of another attribute.
    fn ends(&mut self) -> Result<(), Lost> {
        let text = &self.unit.sources.text()[..self.lexer.end as usize];
        // Most numbers end so.
        if let Some(b';' | b',' | b']' | b' ' | b'\n') = text.as_bytes().get(self.span.end as usize)
        {
            return Ok(());
        }
        let behind = &text[self.span.end as usize..];
        let mut next = behind.chars();
        let goes_on = match next.next() {
            Some('.' | ':' | '_') => true,
            // In brackets it may be meant as an operator.
            Some('-') => self.depth < 2 && next.next().is_some_and(|c| c.is_ascii_digit()),
            Some('/' | '%') => {
                !self.is_production() && next.next().is_none_or(|c| !matches!(c, '/' | '*'))
            }
            Some(c) => c.is_alphanumeric(),
            None => false,
        };
        if !goes_on {
            return Ok(());
        }
        let ends = |c: char| c.is_whitespace() || ";,()[]{}\"".contains(c);
        let length = behind.find(ends).unwrap_or(behind.len());
        let span = Span::new(self.span.start, self.span.end + length as u32);
        let written = self.unit.sources.slice(span);
        let hexadecimal = ["0x", "0X"]
            .iter()
            .find_map(|prefix| written.strip_prefix(prefix))
            .and_then(|digits| i64::from_str_radix(digits, 16).ok());
        let help = match (hexadecimal, behind) {
            (Some(number), _) => format!("numbers are decimal: `{number}`"),
            (None, _) if &behind[..length] == "." => {
                "a number has digits on both sides of its point".into()
            }
            (None, _) if written.len() > 60 => "a text stands in double quotes".into(),
            (None, _) => format!("a text stands in double quotes: `\"{written}\"`"),
        };
        let shown = match written.len() {
            0..=60 => format!("`{written}`"),
            _ => "this".to_owned(),
        };
        let message = format!("{shown} is not a number");
        let diagnostic = Diagnostic::error(SYNTAX, message).at(span).help(help);
        self.unit.report(diagnostic);
        self.lexer.position = span.end;
        Err(Lost)
    }

    fn number(&mut self) -> Result<Cell, Lost> {
        let digits = self.unit.sources.slice(self.span);
        let literals = &mut self.unit.literals;
        let number = match self.token {
            Token::Integer => text::integer(digits, self.span, literals),
            _ => text::float(digits, self.span, literals),
        };
        self.or_report(number)
    }

    /// The characters of the text that is read now; the parser stays at it.
    pub(crate) fn string(&mut self) -> Result<String, Lost> {
        let long = u32::from(self.token == Token::LongText);
        let inner = Span::new(self.span.start + 1 + long, self.span.end - 1);
        let text = text::unescape(
            self.unit.sources.slice(inner),
            inner.start,
            self.lexer.dialect,
        );
        self.or_report(text)
    }

    pub(crate) fn or_report<T>(&mut self, result: Result<T, Box<Diagnostic>>) -> Result<T, Lost> {
        result.map_err(|diagnostic| {
            self.unit.report(*diagnostic);
            Lost
        })
    }

    /// `DATA ref`: a reference that stays one.
    fn data_reference(&mut self) -> Result<(Cell, Span), Lost> {
        let keyword = self.span;
        self.advance();
        let mut parts = Vec::new();
        self.names(&mut parts)?;
        let written = parts[0].span.to(parts[parts.len() - 1].span);
        Ok((
            self.canonical_reference(&parts, written),
            keyword.to(written),
        ))
    }

    /// The reference without blanks or comments between its parts.
    fn canonical_reference(&mut self, parts: &[Part], written: Span) -> Cell {
        let lengths: u32 = parts
            .iter()
            .map(|part| part.span.end - part.span.start)
            .sum();
        if lengths + parts.len() as u32 - 1 == written.end - written.start {
            return self.unit.literals.reference(written);
        }
        let names: Vec<&str> = parts
            .iter()
            .map(|part| self.unit.sources.slice(part.span))
            .collect();
        let text = names.join(":");
        self.unit.literals.made_reference(&text)
    }

    /// The next token.
    pub(crate) fn advance(&mut self) {
        self.before = self.span.end;
        (self.token, self.span) = self
            .lexer
            .next(self.unit.sources.text(), &mut self.unit.diagnostics);
    }

    pub(crate) fn is_production(&self) -> bool {
        self.lexer.dialect == Dialect::Production
    }

    pub(crate) fn expected(&mut self, what: &str) {
        if self.token == Token::Invalid {
            return; // The lexer has said what is wrong.
        }
        let found = match self.token {
            Token::End => "the file ends".to_owned(),
            _ => {
                let text = self.unit.sources.slice(self.span);
                let short: String = text.chars().take(30).collect();
                let dots = if short.len() < text.len() { "…" } else { "" };
                let shown = short.replace(char::is_control, " ");
                format!("found `{shown}{dots}`")
            }
        };
        let mut diagnostic = Diagnostic::error(SYNTAX, format!("expected {what}, {found}"));
        diagnostic = diagnostic.at(self.span);
        if let Some(construct) = self.production_construct() {
            diagnostic.code = PRODUCTION_ONLY;
            diagnostic = diagnostic.help(format!(
                "{construct} belongs to the production language: `--semantics production`"
            ));
        }
        self.unit.report(diagnostic);
    }

    /// Adds advice to the mistake that was just reported.
    pub(crate) fn advise(&mut self, help: &str) {
        if let Some(last) = self.unit.diagnostics.last_mut() {
            last.help.push(help.into());
        }
    }

    pub(crate) fn production_only(&mut self, construct: &str) {
        let message = format!("{construct} belongs to the production language");
        self.unit.report(
            Diagnostic::error(PRODUCTION_ONLY, message)
                .at(self.span)
                .help("compile with `--semantics production`"),
        );
    }

    /// What of the production language is met in a text of the core language.
    fn production_construct(&self) -> Option<&'static str> {
        if self.is_production() {
            return None;
        }
        match self.token {
            Token::OpenParenthesis => Some("an expression in brackets"),
            Token::OpenPlain => Some("`[| … |]`"),
            Token::Fresh => Some("`--`, a fresh name,"),
            Token::LongText => Some("a text `##…#` of several lines"),
            Token::Bytes => Some("a byte array"),
            Token::OpenBracket => Some("a list of tags"),
            _ => None,
        }
    }

    /// Skips to where the next statement may begin.
    pub(crate) fn recover(&mut self) {
        let mut braces = 0u32;
        loop {
            match self.token {
                Token::End => return,
                Token::Semicolon if braces == 0 => return self.advance(),
                Token::CloseBrace if braces == 0 => return,
                Token::CloseBrace => braces -= 1,
                Token::OpenBrace => braces += 1,
                _ => {}
            }
            // A text without its end has taken the rest of its line, and the `;` with it.
            let text = &self.unit.sources.text()[self.span.start as usize..];
            let took_its_line = self.token == Token::Invalid && text.starts_with('"');
            let told = self.unit.diagnostics.len();
            self.advance();
            self.keep_quiet(told);
            if took_its_line && braces == 0 && self.token == Token::Word {
                return;
            }
            if braces == 0 && self.begins_a_line_with_a_statement() {
                return;
            }
        }
    }

    /// One mistake of a statement is enough, unless another one swallows what is behind it.
    fn keep_quiet(&mut self, told: usize) {
        let is_stray = |diagnostic: &Diagnostic| diagnostic.code == crate::lexer::STRAY_CHARACTER;
        if self.token == Token::Invalid && self.unit.diagnostics[told..].iter().all(is_stray) {
            self.unit.diagnostics.truncate(told);
        }
    }

    /// Whether a name stands at the start of a line and a value behind it: surely a new statement.
    fn begins_a_line_with_a_statement(&self) -> bool {
        self.token == Token::Word
            && self.is_first_on_its_line()
            && match self.next_on_this_line() {
                Some(Token::Word) => true,
                Some(token) => is_value(token),
                None => false,
            }
    }

    /// Whether what stands behind `extends` is an attribute on a line of its own.
    fn is_attribute(&self) -> bool {
        self.is_first_on_its_line()
            && match self.next_on_this_line() {
                // It may be the name of the next attribute.
                Some(Token::Text { .. }) => !self.is_production(),
                Some(token) => is_value(token),
                None => false,
            }
    }

    fn is_first_on_its_line(&self) -> bool {
        let before = &self.unit.sources.text()[..self.span.start as usize];
        let before = before.trim_end_matches([' ', '\t', '\r']);
        before.is_empty() || before.ends_with('\n')
    }

    fn next_on_this_line(&self) -> Option<Token> {
        let text = self.unit.sources.text();
        let mut ahead = self.lexer;
        let (token, span) = ahead.next(text, &mut Vec::new());
        let between = &text[self.span.end as usize..span.start as usize];
        (!between.contains('\n')).then_some(token)
    }
}

/// Whether a token can only be a value, or begin one.
fn is_value(token: Token) -> bool {
    use Token::*;
    matches!(token, Text { .. } | LongText | Integer | Float | Keyword(_))
}
