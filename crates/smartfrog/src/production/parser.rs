//! What only the production language can write: tags, keywords in references, expressions.
//!
//! Expressions are bracketed throughout, so there is no precedence. They nest by recursion, to a depth
//! that no person reaches.

use hence_model::cell::{Cell, Item};
use hence_model::diagnostic::Diagnostic;
use hence_model::source::Span;
use hence_model::unit::{TOO_DEEP, Unit};

use crate::lexer::{Dialect, Keyword, Operator, Token};
use crate::parser::{Handler, Lost, Parser, Part, PartKind, SYNTAX};
use crate::text;
use crate::tree::{Body, Builder, Expression, Extends, Reference, Statement, Value};

/// How deep expressions may nest.
const DEEPEST: u32 = 200;

impl<H: Handler> Parser<'_, H> {
    /// A whole file as `extends { … }`: the braces are only a wrapping.
    pub(crate) fn wrapped(&mut self) {
        self.advance();
        if self.token == Token::OpenBrace {
            self.wrapping = true;
            self.advance();
        } else {
            self.expected("`{`");
            self.recover();
        }
    }

    /// `"[" [ name { [","] name } ] "]"` before a name.
    pub(crate) fn tags(&mut self) {
        let mut tags = Vec::new();
        self.advance();
        loop {
            match self.token {
                Token::Comma => self.advance(),
                Token::Word => tags.push(self.name()),
                Token::CloseBracket => break self.advance(),
                _ => {
                    self.expected("a tag or `]`");
                    return self.recover();
                }
            }
        }
        self.handler.tags(self.unit, &tags);
    }

    /// `"--" | STRING | WORD [ ":" target ]`
    pub(crate) fn production_target(&mut self, target: &mut Vec<Part>) -> Result<(), Lost> {
        let mut colon = self.span;
        loop {
            match self.token {
                Token::Word => target.push(self.name()),
                Token::Fresh => {
                    let name = self.fresh_name();
                    target.push(name);
                    return Ok(());
                }
                Token::Text { .. } => {
                    let name = self.quoted_name()?;
                    target.push(name);
                    return Ok(());
                }
                _ => return self.value_behind(colon),
            }
            if self.token != Token::Colon {
                return Ok(());
            }
            colon = self.span;
            self.advance();
        }
    }

    /// A name that is written nowhere, as far as it is read.
    fn fresh_name(&mut self) -> Part {
        const FRESH: &str = "unique";
        let text = self.unit.sources.text();
        for (at, _) in text[self.searched..].match_indices(FRESH) {
            let digits = &text[self.searched + at + FRESH.len()..];
            let length = digits.bytes().take_while(u8::is_ascii_digit).count();
            // A number that is too long for it is never reached.
            if let Ok(taken) = digits[..length].parse::<u32>() {
                self.fresh = self.fresh.max(taken.saturating_add(1));
            }
        }
        self.searched = text.len();
        let text = format!("{FRESH}{}", self.fresh);
        self.fresh += 1;
        self.made_name(&text)
    }

    fn quoted_name(&mut self) -> Result<Part, Lost> {
        let text = self.string()?;
        Ok(self.made_name(&text))
    }

    fn made_name(&mut self, text: &str) -> Part {
        let name = self.unit.symbols.intern_text(&self.unit.sources, text);
        let span = self.span;
        self.advance();
        let kind = PartKind::Name;
        Part { kind, name, span }
    }

    /// Any value but a component. A name with nothing but `;` behind it is `NULL`.
    pub(crate) fn production_value(&mut self, target: &[Part]) {
        if self.token == Token::Semicolon {
            self.handler
                .literal(self.unit, target, Cell::NULL, self.span);
            return self.advance();
        }
        if self.token == Token::Word && self.is_order(target) {
            return self.order();
        }
        match self.simple() {
            Ok(Expression::Literal(cell, span)) => {
                self.handler.literal(self.unit, target, cell, span);
            }
            Ok(Expression::Reference(reference)) if reference.is_plain() => {
                self.handler.link(self.unit, target, &reference.parts);
            }
            Ok(expression) => self.handler.expression(self.unit, target, expression),
            Err(Lost) => self.recover(),
        }
    }

    /// `part { ":" part }`
    pub(crate) fn production_reference(&mut self, parts: &mut Vec<Part>) -> Result<(), Lost> {
        loop {
            let part = self.part()?;
            parts.push(part);
            if self.token != Token::Colon {
                return Ok(());
            }
            self.advance();
        }
    }

    fn part(&mut self) -> Result<Part, Lost> {
        use Keyword::*;
        match self.token {
            Token::Word => Ok(self.name()),
            Token::Keyword(keyword @ (Root | Parent | This | Process)) => {
                let part = self.name();
                Ok(Part {
                    kind: PartKind::Keyword(keyword),
                    ..part
                })
            }
            Token::Keyword(
                keyword @ (Attrib | Here | Property | IProperty | EnvProperty | IEnvProperty
                | Constant | Host),
            ) => {
                let start = self.span;
                self.advance();
                let name = match self.token {
                    Token::Word => self.name(),
                    Token::Text { .. } | Token::LongText => self.quoted_name()?,
                    _ => {
                        self.expected("a name");
                        return Err(Lost);
                    }
                };
                Ok(Part {
                    kind: PartKind::Keyword(keyword),
                    name: name.name,
                    span: start.to(name.span),
                })
            }
            Token::Text { .. } => {
                self.expected("a reference");
                self.advise("in a reference, a name in quotes follows a word such as `HERE`");
                Err(Lost)
            }
            _ => {
                self.expected("a reference");
                Err(Lost)
            }
        }
    }

    /// A value that can stand inside others.
    fn simple(&mut self) -> Result<Expression, Lost> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("expressions nest deeper than {DEEPEST} levels");
            self.unit
                .report(Diagnostic::error(TOO_DEEP, message).at(self.span));
            self.skip_all();
            self.depth -= 1;
            return Err(Lost);
        }
        let simple = self.simple_inside();
        self.depth -= 1;
        simple
    }

    fn simple_inside(&mut self) -> Result<Expression, Lost> {
        use Keyword::*;
        let start = self.span;
        match self.token {
            Token::OpenParenthesis => self.bracketed(),
            Token::OpenBracket => self.vector_of_expressions(),
            Token::OpenPlain => self.plain_vector(),
            Token::Keyword(If) => self.if_then_else(),
            Token::Keyword(Switch) => self.switch(),
            Token::Keyword(keyword @ (Apply | Assert)) => {
                self.advance();
                let body = self.braced_body()?;
                let span = Span::new(start.start, self.before);
                Ok(Expression::Call(keyword, body, span))
            }
            Token::Keyword(Lazy) => {
                self.advance();
                match self.simple()? {
                    Expression::Reference(reference) => {
                        let span = start.to(reference.span);
                        let lazy = true;
                        Ok(Expression::Reference(Reference {
                            lazy,
                            span,
                            ..reference
                        }))
                    }
                    Expression::Literal(..)
                    | Expression::Component(_)
                    | Expression::ToBeDefined(_) => {
                        self.unit.report(
                            Diagnostic::error(
                                SYNTAX,
                                "`LAZY` must stand before a reference or an expression",
                            )
                            .at(start),
                        );
                        Err(Lost)
                    }
                    expression => {
                        let span = start.to(expression.span());
                        Ok(Expression::Lazy(Box::new(expression), span))
                    }
                }
            }
            Token::Keyword(Optional) => self.optional(),
            Token::Keyword(Tbd) => {
                self.advance();
                Ok(Expression::ToBeDefined(start))
            }
            Token::Word
            | Token::Keyword(
                Root | Parent | This | Process | Attrib | Here | Property | IProperty | EnvProperty
                | IEnvProperty | Constant | Host,
            ) => {
                let mut parts = Vec::new();
                self.production_reference(&mut parts)?;
                Ok(Expression::Reference(Reference {
                    lazy: false,
                    optional: None,
                    span: Span::new(start.start, self.before),
                    parts,
                }))
            }
            _ => self.primitive(),
        }
    }

    /// `OPTIONAL [ "(" primitive ")" ] ref`
    fn optional(&mut self) -> Result<Expression, Lost> {
        let start = self.span;
        self.advance();
        let mut default = None;
        if self.token == Token::OpenParenthesis {
            self.advance();
            match self.primitive()? {
                Expression::Literal(cell, _) => default = Some(cell),
                _ => return self.lost("a value that is written out"),
            }
            self.expect(Token::CloseParenthesis, "`)`")?;
        }
        let mut parts = Vec::new();
        self.production_reference(&mut parts)?;
        Ok(Expression::Reference(Reference {
            lazy: false,
            optional: Some(default),
            span: Span::new(start.start, self.before),
            parts,
        }))
    }

    /// A value that is written out.
    fn primitive(&mut self) -> Result<Expression, Lost> {
        let span = self.span;
        match self.token {
            Token::Keyword(Keyword::Data) => {
                self.advance();
                match self.simple()? {
                    Expression::Reference(reference) => {
                        let text = reference.text(self.unit);
                        let cell = self.unit.literals.made_reference(&text);
                        Ok(Expression::Literal(cell, span.to(reference.span)))
                    }
                    _ => self.lost("a reference"),
                }
            }
            Token::Keyword(Keyword::Var) => {
                self.advance();
                if self.token == Token::OpenBrace {
                    while !matches!(
                        self.token,
                        Token::CloseBrace | Token::Semicolon | Token::End
                    ) {
                        self.advance();
                    }
                    self.expect(Token::CloseBrace, "`}`")?;
                } else if matches!(self.token, Token::Word | Token::Text { .. }) {
                    self.advance();
                }
                let span = Span::new(span.start, self.before);
                let cell = self.unit.literals.reference(span);
                Ok(Expression::Literal(cell, span))
            }
            Token::Bytes => {
                let bytes = text::bytes(self.unit.sources.slice(span), span);
                let bytes = self.or_report(bytes)?;
                let cell = self.unit.literals.made_text(&bytes);
                self.advance();
                Ok(Expression::Literal(cell, span))
            }
            Token::OpenPlain => self.plain_vector(),
            Token::OpenBracket => self.lost("a value that is written out"),
            _ => {
                let (cell, span) = self.basic()?;
                Ok(Expression::Literal(cell, span))
            }
        }
    }

    /// `"[|" [ primitive { "," primitive } ] "|]"`
    fn plain_vector(&mut self) -> Result<Expression, Lost> {
        let start = self.span;
        let mut items = Vec::new();
        self.advance();
        while self.token != Token::ClosePlain {
            if !items.is_empty() {
                self.expect(Token::Comma, "`,` or `|]`")?;
            }
            let at = self.span.start;
            self.depth += 1;
            let element = if self.depth > DEEPEST {
                self.lost("`|]`")
            } else {
                self.primitive()
            };
            self.depth -= 1;
            match element? {
                Expression::Literal(cell, _) => items.push(Item { cell, at }),
                _ => return self.lost("a value that is written out"),
            }
        }
        self.advance();
        let cell = self.unit.literals.list(&items);
        Ok(Expression::Literal(
            cell,
            Span::new(start.start, self.before),
        ))
    }

    /// `"[" [ simple { "," simple } ] "]"`; written out if all of its elements are.
    fn vector_of_expressions(&mut self) -> Result<Expression, Lost> {
        let start = self.span;
        let mut elements = Vec::new();
        self.advance();
        while self.token != Token::CloseBracket {
            if !elements.is_empty() {
                self.expect(Token::Comma, "`,` or `]`")?;
            }
            elements.push(self.simple()?);
        }
        self.advance();
        let span = Span::new(start.start, self.before);
        let items: Option<Vec<Item>> = elements
            .iter()
            .map(|element| match element {
                &Expression::Literal(cell, span) => Some(Item {
                    cell,
                    at: span.start,
                }),
                _ => None,
            })
            .collect();
        Ok(match items {
            Some(items) => Expression::Literal(self.unit.literals.list(&items), span),
            None => Expression::Vector(elements, span),
        })
    }

    /// `"(" ( component | "!" simple | simple { OP simple } ) ")"`
    fn bracketed(&mut self) -> Result<Expression, Lost> {
        let start = self.span;
        self.advance();
        if self.token == Token::Keyword(Keyword::Extends) {
            let component = self.component()?;
            self.expect(Token::CloseParenthesis, "`)`")?;
            return Ok(Expression::Component(Box::new(component)));
        }
        if self.token == Token::Operator(Operator::Not) {
            self.advance();
            let operand = self.simple()?;
            self.expect(Token::CloseParenthesis, "`)`")?;
            let span = Span::new(start.start, self.before);
            return Ok(Expression::Operation(Operator::Not, vec![operand], span));
        }
        let mut operands = vec![self.simple()?];
        let Token::Operator(operator) = self.token else {
            let is_number = matches!(self.token, Token::Integer | Token::Float);
            let is_negative = is_number && self.unit.sources.slice(self.span).starts_with('-');
            let closed = self.expect(Token::CloseParenthesis, "an operator or `)`");
            if is_negative {
                self.advise("as an operator, `-` has a blank behind it: `(a - 2)`");
            }
            closed?;
            return Ok(operands.remove(0));
        };
        while self.token == Token::Operator(operator) {
            self.advance();
            operands.push(self.simple()?);
            if operator.is_binary() {
                break;
            }
        }
        if let Token::Operator(other) = self.token {
            let (first, second) = (operator.text(), other.text());
            let message = format!("expected `)`, found `{second}` behind `{first}`");
            self.unit.report(
                Diagnostic::error(SYNTAX, message)
                    .at(self.span)
                    .help("every operation has brackets of its own: `((a - b) * c)`"),
            );
            return Err(Lost);
        }
        self.expect(Token::CloseParenthesis, "`)`")?;
        let span = Span::new(start.start, self.before);
        Ok(Expression::Operation(operator, operands, span))
    }

    /// `IF simple THEN simple ELSE simple FI`
    fn if_then_else(&mut self) -> Result<Expression, Lost> {
        let start = self.span;
        self.advance();
        let condition = self.simple()?;
        self.expect(Token::Keyword(Keyword::Then), "`THEN`")?;
        let then = self.simple()?;
        self.expect(Token::Keyword(Keyword::Else), "`ELSE`")?;
        let otherwise = self.simple()?;
        self.expect(Token::Keyword(Keyword::Fi), "`FI`")?;
        let span = Span::new(start.start, self.before);
        Ok(Expression::If(Box::new([condition, then, otherwise]), span))
    }

    /// `SWITCH { IF simple THEN simple } ENDSWITCH`
    fn switch(&mut self) -> Result<Expression, Lost> {
        let start = self.span;
        self.advance();
        let mut branches = Vec::new();
        while self.token == Token::Keyword(Keyword::If) {
            self.advance();
            let condition = self.simple()?;
            self.expect(Token::Keyword(Keyword::Then), "`THEN`")?;
            branches.push((condition, self.simple()?));
        }
        self.expect(Token::Keyword(Keyword::EndSwitch), "`IF` or `ENDSWITCH`")?;
        Ok(Expression::Switch(
            branches,
            Span::new(start.start, self.before),
        ))
    }

    /// A component inside an expression, read by a parser of its own into a tree.
    fn component(&mut self) -> Result<Extends, Lost> {
        let mut builder = Builder::default();
        self.aside(&mut builder, |inner| inner.extends_to_its_end(&[]));
        match builder.finish().pop() {
            Some(Statement::Assignment(assignment)) => match assignment.value {
                Value::Extends(extends) => Ok(extends),
                _ => Err(Lost),
            },
            _ => Err(Lost),
        }
    }

    fn braced_body(&mut self) -> Result<Body, Lost> {
        if self.token != Token::OpenBrace {
            return self.lost("`{`");
        }
        let mut builder = Builder::default();
        self.advance();
        self.aside(&mut builder, |inner| inner.statements_to_brace());
        self.expect(Token::CloseBrace, "`}`")?;
        Ok(builder.finish())
    }

    fn expect(&mut self, token: Token, what: &str) -> Result<(), Lost> {
        if self.token == token {
            self.advance();
            return Ok(());
        }
        self.lost(what)
    }

    fn lost<T>(&mut self, expected: &str) -> Result<T, Lost> {
        self.expected(expected);
        Err(Lost)
    }
}

impl Operator {
    /// Whether it takes exactly two operands; the others take any number.
    pub fn is_binary(self) -> bool {
        use Operator::*;
        matches!(
            self,
            Minus | Divide | Remainder | Equal | Unequal | AtLeast | AtMost | Greater | Less
        )
    }
}

impl Reference {
    /// Whether it is nothing but its parts.
    pub fn is_plain(&self) -> bool {
        !self.lazy && self.optional.is_none()
    }

    /// How it is written, without blanks that need not be there.
    pub fn text(&self, unit: &Unit) -> String {
        let mut text = String::new();
        if self.lazy {
            text.push_str("LAZY ");
        }
        if let Some(default) = self.optional {
            text.push_str("OPTIONAL");
            if let Some(cell) = default {
                text.push_str(&format!("({})", crate::printer::literal(unit, cell)));
            }
            text.push(' ');
        }
        text.push_str(&parts_text(unit, &self.parts));
        text
    }
}

/// How the parts of a reference are written.
pub fn parts_text(unit: &Unit, parts: &[Part]) -> String {
    let part = |part: &Part| {
        let name = unit.symbols.name(&unit.sources, part.name);
        match part.kind {
            PartKind::Keyword(keyword) if !keyword.is_whole_part() => {
                let name = crate::printer::name(name, Dialect::Production);
                format!("{} {name}", keyword.text())
            }
            _ => name.to_owned(),
        }
    };
    parts.iter().map(part).collect::<Vec<_>>().join(":")
}
