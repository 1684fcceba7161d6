//! Expressions: assignments, operators, calls, conditionals and literals.
//!
//! What can stand where is told by three methods, each of which takes more than the next: an assignment,
//! a resource, and a plain expression, as in a condition or the value of an attribute.

use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use super::check::{ASSIGNMENT, UNSUPPORTED};
use super::{Parsed, Parser, Place};
use crate::escapes::{self, Number};
use crate::lexer::{self, Keyword, Token, fragment};
use crate::pattern::Pattern;
use crate::syntax::{
    Block, Call, Case, CaseOption, Expression, If, Kind, Lambda, Operator, Selector,
};

/// A number that is too large to be kept.
pub const NUMBER_RANGE: Code = Code::new("puppet.number-range");
/// A regular expression that cannot be had.
pub const PATTERN: Code = Code::new("puppet.pattern");
/// A word that cannot be used by itself.
pub const RESERVED_WORD: Code = Code::new("puppet.reserved-word");

// How strongly operators bind: the weakest first.
const WEAKEST: u8 = 0;
const SELECTION: u8 = 3;
const MINUS: u8 = 11;
const SPLAT: u8 = 12;
const NOT: u8 = 13;

fn strength(operator: Operator) -> u8 {
    match operator {
        Operator::Or => 1,
        Operator::And => 2,
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => 4,
        Operator::Equal | Operator::NotEqual => 5,
        Operator::ShiftLeft | Operator::ShiftRight => 6,
        Operator::Add | Operator::Subtract => 7,
        Operator::Multiply | Operator::Divide | Operator::Modulo => 8,
        Operator::Match | Operator::NoMatch => 9,
        Operator::In => 10,
    }
}

/// What may stand in a list besides expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    /// `[a, b,]`
    List,
    /// `f(a, b,)`
    Arguments,
    /// `$a.f(b)`: no comma at the end.
    MethodArguments,
    /// `a[b, c,]`
    Access,
    /// `Type[b, c]` of a parameter: no comma at the end.
    TypeAccess,
}

impl Parser<'_> {
    /// `relationship (= assignment)?`
    pub(super) fn assignment(&mut self) -> Parsed<Expression> {
        self.nested(|parser| {
            let left = parser.relationship()?;
            let operator = parser.next;
            match operator.token {
                Token::Equals => {}
                Token::Append | Token::Delete => {
                    let sign = parser.slice(operator.span);
                    let message = format!("`{sign}` is no longer part of the language");
                    let help = match operator.token {
                        Token::Append => "assign the sum to another variable: `$b = $a + …`",
                        _ => "assign the difference to another variable: `$b = $a - …`",
                    };
                    let diagnostic = Diagnostic::error(UNSUPPORTED, message).at(operator.span);
                    parser.report(diagnostic.help(help));
                }
                _ => return Ok(left),
            }
            parser.advance();
            let right = parser.assignment()?;
            if operator.token == Token::Equals {
                parser.check_assignable(&left);
                parser.check_value(&right);
            }
            let span = left.span.to(right.span);
            parser.assigned = Some(span);
            let kind = Kind::Assign(Box::new([left, right]));
            Ok(Expression { kind, span })
        })
    }

    /// `resource (-> resource)*`
    fn relationship(&mut self) -> Parsed<Expression> {
        let mut left = self.resource()?;
        while let Token::Arrow(arrow) = self.next.token {
            self.advance();
            let right = self.resource()?;
            self.wrapped()?;
            for side in [&left, &right] {
                if matches!(side.kind, Kind::Nothing) {
                    self.check_value(side);
                }
            }
            let span = left.span.to(right.span);
            let kind = Kind::Relationship(arrow, Box::new([left, right]));
            left = Expression { kind, span };
        }
        Ok(left)
    }

    /// An expression that ends before anything that binds to resources.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.operators(WEAKEST)
    }

    /// An expression whose operators all bind more strongly than `weakest`.
    fn operators(&mut self, weakest: u8) -> Parsed<Expression> {
        self.nested(|parser| {
            let mut left = parser.prefixed()?;
            loop {
                let operator = match parser.next.token {
                    Token::Operator(operator) => operator,
                    Token::Keyword(Keyword::And) => Operator::And,
                    Token::Keyword(Keyword::Or) => Operator::Or,
                    Token::Keyword(Keyword::In) => Operator::In,
                    Token::Question if SELECTION > weakest => {
                        left = parser.selector(left)?;
                        parser.wrapped()?;
                        left = parser.suffixes(left)?;
                        continue;
                    }
                    _ => return Ok(left),
                };
                let strength = strength(operator);
                if strength <= weakest {
                    return Ok(left);
                }
                parser.advance();
                let right = parser.operators(strength)?;
                parser.wrapped()?;
                parser.check_value(&left);
                parser.check_value(&right);
                let span = left.span.to(right.span);
                let kind = Kind::Binary(operator, Box::new([left, right]));
                left = Expression { kind, span };
            }
        })
    }

    fn prefixed(&mut self) -> Parsed<Expression> {
        let sign = self.next;
        let strength = match sign.token {
            Token::Not => NOT,
            Token::Operator(Operator::Subtract) => MINUS,
            Token::Operator(Operator::Multiply) => SPLAT,
            _ => {
                let primary = self.primary()?;
                return self.suffixes(primary);
            }
        };
        self.advance();
        let operand = self.operators(strength)?;
        self.check_value(&operand);
        let span = sign.span.to(operand.span);
        let operand = Box::new(operand);
        let kind = match sign.token {
            Token::Not => Kind::Not(operand),
            Token::Operator(Operator::Subtract) => Kind::Minus(operand),
            _ => Kind::Splat(operand),
        };
        Ok(Expression { kind, span })
    }

    /// What stands directly behind a value: `[…]`, `.f`, `(…)`, `<| … |>`
    fn suffixes(&mut self, mut left: Expression) -> Parsed<Expression> {
        loop {
            let start = left.span.start;
            let kind = match self.next.token {
                Token::OpenBracket => {
                    let open = self.next.span;
                    self.advance();
                    let keys = self.elements(Token::CloseBracket, open, Elements::Access)?;
                    Kind::Access(Box::new(left), keys.into())
                }
                Token::Dot => self.method(left)?,
                Token::OpenParenthesis => {
                    self.check_callable(&left);
                    let open = self.next.span;
                    self.advance();
                    let arguments =
                        self.elements(Token::CloseParenthesis, open, Elements::Arguments)?;
                    let lambda = self.lambda()?;
                    Kind::Call(Box::new(Call {
                        function: left,
                        arguments,
                        lambda,
                        method: false,
                    }))
                }
                Token::Collect | Token::CollectExported => self.collector(left)?,
                _ => return Ok(left),
            };
            self.wrapped()?;
            let span = self.span_from(start);
            left = Expression { kind, span };
        }
    }

    /// `.f`, `.f(a) |$x| { … }`
    fn method(&mut self, receiver: Expression) -> Parsed<Kind> {
        self.advance();
        let span = self.next.span;
        let name = match self.next.token {
            Token::Name | Token::Keyword(Keyword::Type) => self.slice(span),
            _ => return Err(self.wrong("the name of a function behind `.`", "")),
        };
        self.advance();
        let function = Expression {
            kind: Kind::Name(name.into()),
            span,
        };
        let mut arguments = vec![receiver];
        if self.next.token == Token::OpenParenthesis {
            let open = self.next.span;
            self.advance();
            let further =
                self.elements(Token::CloseParenthesis, open, Elements::MethodArguments)?;
            arguments.extend(further);
        }
        let lambda = self.lambda()?;
        Ok(Kind::Call(Box::new(Call {
            function,
            arguments,
            lambda,
            method: true,
        })))
    }

    /// `|$a, $b| >> Type { … }`
    fn lambda(&mut self) -> Parsed<Option<Lambda>> {
        if self.next.token != Token::Pipe {
            return Ok(None);
        }
        let start = self.next.span;
        self.advance();
        let parameters = self.parameters(Token::Pipe, start)?;
        self.check_rest_last(&parameters);
        let returns = self.return_type()?;
        let assigned = self.assigned;
        let body = self.block(Place::Inner, "and the body of the lambda")?;
        self.assigned = assigned;
        Ok(Some(Lambda {
            parameters,
            returns,
            body,
            span: self.span_from(start.start),
        }))
    }

    /// Elements with commas between them, up to what closes them. Pairs `a => b` beside each other are a hash.
    pub(super) fn elements(
        &mut self,
        close: Token,
        open: Span,
        form: Elements,
    ) -> Parsed<Vec<Expression>> {
        let mut elements: Vec<Expression> = Vec::new();
        let mut in_pairs = false;
        let is_access = matches!(form, Elements::Access | Elements::TypeAccess);
        if !is_access && self.take(close) {
            return Ok(elements);
        }
        loop {
            let element = self.element(form)?;
            if self.take(Token::FatArrow) {
                let value = self.hash_entry()?;
                self.check_value(&element);
                self.check_value(&value);
                let span = element.span.to(value.span);
                match elements.last_mut() {
                    Some(Expression {
                        kind: Kind::Hash(pairs),
                        span: whole,
                    }) if in_pairs => {
                        *whole = whole.to(span);
                        pairs.push((element, value));
                    }
                    _ => elements.push(Expression {
                        kind: Kind::Hash(vec![(element, value)]),
                        span,
                    }),
                }
                in_pairs = true;
            } else {
                if is_access && is_beyond_expression(&element.kind) {
                    return Err(self.wrong("`=>`", ""));
                }
                if form == Elements::List {
                    self.check_value(&element);
                }
                elements.push(element);
                in_pairs = false;
            }
            if self.next.token == Token::Comma {
                self.advance();
                let may_end = !matches!(form, Elements::MethodArguments | Elements::TypeAccess);
                if may_end && self.take(close) {
                    return Ok(elements);
                }
                continue;
            }
            let (expected, help) = match close {
                Token::CloseParenthesis => ("`,` or `)`", "arguments are separated by commas"),
                _ => ("`,` or `]`", "elements are separated by commas"),
            };
            self.close(close, expected, open, help)?;
            return Ok(elements);
        }
    }

    fn element(&mut self, form: Elements) -> Parsed<Expression> {
        if let Token::Keyword(Keyword::Type | Keyword::Function) = self.next.token {
            let ahead = self.peek();
            let is_word = match form {
                Elements::List => {
                    matches!(ahead, Token::FatArrow | Token::Comma | Token::CloseBracket)
                }
                _ => ahead == Token::FatArrow,
            };
            if is_word {
                return Ok(self.keyword_as_text());
            }
        }
        self.assignment()
    }

    /// The key or the value of a hash.
    fn hash_entry(&mut self) -> Parsed<Expression> {
        if let Token::Keyword(Keyword::Type | Keyword::Function) = self.next.token
            && matches!(
                self.peek(),
                Token::FatArrow
                    | Token::Comma
                    | Token::CloseBrace
                    | Token::CloseBracket
                    | Token::CloseParenthesis
            )
        {
            return Ok(self.keyword_as_text());
        }
        self.assignment()
    }

    fn keyword_as_text(&mut self) -> Expression {
        let span = self.next.span;
        let kind = Kind::Text(self.slice(span).into());
        self.advance();
        Expression { kind, span }
    }

    /// `{a => b, c => d}`, of which the brace and perhaps the first key were read.
    fn hash(&mut self, open: Span, first: Option<Expression>) -> Parsed<Expression> {
        let mut pairs = Vec::new();
        let mut first = first;
        loop {
            if first.is_none() && self.take(Token::CloseBrace) {
                break;
            }
            let key = match first.take() {
                Some(key) => key,
                None => self.hash_entry()?,
            };
            let help = "a hash is written {'key' => 'value'}";
            self.expect(Token::FatArrow, "`=>` and a value", help)?;
            let value = self.hash_entry()?;
            self.check_value(&key);
            self.check_value(&value);
            pairs.push((key, value));
            if !self.take(Token::Comma) {
                let help = "the elements of a hash are separated by commas";
                self.close(Token::CloseBrace, "`,` or `}`", open, help)?;
                break;
            }
        }
        let span = self.span_from(open.start);
        Ok(Expression {
            kind: Kind::Hash(pairs),
            span,
        })
    }

    pub(super) fn primary(&mut self) -> Parsed<Expression> {
        let span = self.next.span;
        let kind = match self.next.token {
            Token::Name => Kind::Name(self.slice(span).into()),
            Token::Word => Kind::Text(self.slice(span).into()),
            Token::Reference => Kind::Reference(reference(self.slice(span))),
            Token::Variable => {
                let name = self.slice(span);
                let name = name.strip_prefix('$').unwrap_or(name);
                self.check_variable(name, span);
                Kind::Variable(name.into())
            }
            Token::Number => self.number(span),
            Token::Text { escaped } => {
                let inner = self.slice(Span::new(span.start + 1, span.end - 1));
                Kind::Text(match escaped {
                    false => inner.into(),
                    true => escapes::single(inner),
                })
            }
            Token::Pattern => self.pattern(span),
            Token::Quote => return self.quoted(),
            Token::Heredoc => return self.heredoc(),
            Token::OpenList | Token::OpenBracket => {
                self.advance();
                let elements = self.elements(Token::CloseBracket, span, Elements::List)?;
                return Ok(Expression {
                    kind: Kind::Array(elements),
                    span: self.span_from(span.start),
                });
            }
            Token::OpenBrace => {
                self.advance();
                return self.hash(span, None);
            }
            Token::OpenParenthesis | Token::OpenLine => {
                self.advance();
                let inner = self.assignment()?;
                self.check_value(&inner);
                self.close(Token::CloseParenthesis, "`)`", span, "")?;
                return Ok(Expression {
                    kind: Kind::Parenthesised(Box::new(inner)),
                    span: self.span_from(span.start),
                });
            }
            Token::Fragment { trim } => {
                let fragment = fragment(self.text, Span::new(span.start, self.file.end), trim);
                self.advance();
                return Ok(Expression {
                    kind: Kind::RenderText(fragment.text.into()),
                    span: fragment.span,
                });
            }
            Token::Render => return self.render(),
            Token::Keyword(keyword) => return self.keyword(keyword),
            _ => return Err(self.no_value()),
        };
        self.advance();
        Ok(Expression { kind, span })
    }

    fn no_value(&mut self) -> super::Wrong {
        let help = match self.next.token {
            Token::FatArrow => {
                "`=>` belongs to attributes, hashes and selectors; to assign, write `=`"
            }
            Token::Operator(Operator::Divide) => "a path stands in quotes: '/etc/hosts'",
            Token::Comma => "remove the comma, or write what is missing before it",
            Token::Semicolon => "`;` separates statements, and resources of the same type",
            _ => "",
        };
        self.wrong("a value", help)
    }

    fn number(&mut self, span: Span) -> Kind {
        let text = self.slice(span);
        match escapes::number(text) {
            Some(Number::Integer(integer)) => Kind::Integer(integer),
            Some(Number::Float(float)) => Kind::Float(float),
            None => {
                let message = "this number is too large to be kept";
                let help = "whole numbers go up to 9223372036854775807; as text, put it in quotes";
                self.report(Diagnostic::error(NUMBER_RANGE, message).at(span).help(help));
                Kind::Integer(0)
            }
        }
    }

    pub(super) fn pattern(&mut self, span: Span) -> Kind {
        let inner = self.slice(Span::new(span.start + 1, span.end - 1));
        let source = inner.replace("\\/", "/");
        match Pattern::new(&source) {
            Ok(pattern) => Kind::Pattern(Arc::new(pattern)),
            Err(message) => {
                self.report(Diagnostic::error(PATTERN, message).at(span));
                Kind::Undef
            }
        }
    }

    /// Reports a name that no variable can have.
    pub(super) fn check_variable(&mut self, name: &str, span: Span) {
        if is_variable(name) {
            return;
        }
        let message = match name {
            "" => "expected the name of a variable behind `$`".to_owned(),
            _ => format!("`{name}` cannot be the name of a variable"),
        };
        let help = match name.as_bytes() {
            [] => "text with a `$` stands in single quotes",
            [b'0'..=b'9', ..] => "what a pattern matched is in `$0`, `$1` and so on",
            _ => {
                "names of variables begin with a small letter or `_`, and have letters, digits and `_`"
            }
        };
        self.report(Diagnostic::error(lexer::NAME, message).at(span).help(help));
    }

    fn keyword(&mut self, keyword: Keyword) -> Parsed<Expression> {
        let span = self.next.span;
        let kind = match keyword {
            Keyword::True => Kind::Bool(true),
            Keyword::False => Kind::Bool(false),
            Keyword::Undef => Kind::Undef,
            Keyword::Default => Kind::Default,
            Keyword::If => return self.nested(Self::choice),
            Keyword::Unless => return self.unless(),
            Keyword::Case => return self.case(),
            Keyword::Class => return self.class(),
            Keyword::Define => return self.define(),
            Keyword::Node => return self.node(),
            Keyword::Function => return self.function(),
            Keyword::Type => return self.type_alias(),
            Keyword::Private | Keyword::Attr => {
                let word = self.slice(span);
                let message = format!("`{word}` is a reserved word");
                let help = format!("as text, write '{word}'");
                self.report(
                    Diagnostic::error(RESERVED_WORD, message)
                        .at(span)
                        .help(help),
                );
                Kind::Reserved(word.into())
            }
            Keyword::Else | Keyword::Elsif => {
                return Err(self.wrong(
                    "a statement",
                    "`else` and `elsif` stand behind the `}` of an `if`; in an `else` write `{ if … }`",
                ));
            }
            Keyword::And | Keyword::Or | Keyword::In | Keyword::Inherits => {
                let word = self.slice(span);
                let help = format!("as text, write '{word}'");
                return Err(self.wrong("a value", &help));
            }
        };
        self.advance();
        Ok(Expression { kind, span })
    }

    /// `if a { … } elsif b { … } else { … }`, or `elsif` and what follows.
    fn choice(&mut self) -> Parsed<Expression> {
        let start = self.next.span.start;
        self.advance();
        let condition = self.expression()?;
        self.check_value(&condition);
        self.check_condition_ends()?;
        let then = self.block(Place::Inner, "and what happens then")?;
        let otherwise = match self.next.token {
            Token::Keyword(Keyword::Elsif) => {
                let inner = self.nested(Self::choice)?;
                let span = inner.span;
                Some(Block {
                    statements: vec![inner],
                    span,
                })
            }
            Token::Name if self.is_misspelt_elsif() => {
                return Err(self.wrong(
                    "the end of the `if`",
                    "a further condition is written `elsif`",
                ));
            }
            _ => self.otherwise()?,
        };
        let choice = If {
            unless: false,
            condition,
            then,
            otherwise,
        };
        Ok(Expression {
            kind: Kind::If(Box::new(choice)),
            span: self.span_from(start),
        })
    }

    /// Whether the next word is one that other languages have for `elsif`, and a condition stands behind it.
    fn is_misspelt_elsif(&self) -> bool {
        matches!(self.slice(self.next.span), "elseif" | "elif")
            && matches!(
                self.peek(),
                Token::Name
                    | Token::Reference
                    | Token::Variable
                    | Token::Number
                    | Token::Text { .. }
                    | Token::Quote
                    | Token::Not
                    | Token::Keyword(Keyword::True | Keyword::False | Keyword::Undef)
            )
    }

    fn otherwise(&mut self) -> Parsed<Option<Block>> {
        if !self.take_keyword(Keyword::Else) {
            return Ok(None);
        }
        if self.next.token == Token::Keyword(Keyword::If) {
            return Err(self.wrong("`{`", "`else if` is written `elsif`"));
        }
        self.block(Place::Inner, "and what happens otherwise")
            .map(Some)
    }

    fn check_condition_ends(&mut self) -> Parsed<()> {
        match self.next.token {
            Token::Equals => {
                let message = "expected `==` or `{`, found `=`";
                let span = self.next.span;
                self.report(
                    Diagnostic::error(ASSIGNMENT, message)
                        .at(span)
                        .help("`==` compares; `=` assigns, which a condition cannot do"),
                );
                Err(super::Wrong)
            }
            _ => Ok(()),
        }
    }

    fn unless(&mut self) -> Parsed<Expression> {
        let start = self.next.span.start;
        self.advance();
        let condition = self.expression()?;
        self.check_value(&condition);
        self.check_condition_ends()?;
        let then = self.block(Place::Inner, "and what happens then")?;
        if self.next.token == Token::Keyword(Keyword::Elsif) {
            return Err(self.wrong("a statement", "behind `unless` there can only be an `else`"));
        }
        let otherwise = self.otherwise()?;
        let choice = If {
            unless: true,
            condition,
            then,
            otherwise,
        };
        Ok(Expression {
            kind: Kind::If(Box::new(choice)),
            span: self.span_from(start),
        })
    }

    /// `case a { b, c: { … } default: { … } }`
    fn case(&mut self) -> Parsed<Expression> {
        let start = self.next.span.start;
        self.advance();
        let test = self.expression()?;
        self.check_value(&test);
        let open = self.next.span;
        self.expect(Token::OpenBrace, "`{` and the cases", "")?;
        let mut options = Vec::new();
        while options.is_empty() || self.next.token != Token::CloseBrace {
            if self.next.token == Token::End {
                self.close(Token::CloseBrace, "a case or `}`", open, "")?;
            }
            let mut values = Vec::new();
            loop {
                let value = self.expression()?;
                self.check_value(&value);
                values.push(value);
                if !self.take(Token::Comma) {
                    break;
                }
            }
            self.expect(
                Token::Colon,
                "`:` behind the value",
                "a case is written `value: { … }`",
            )?;
            let body = self.block(Place::Inner, "and what happens then")?;
            options.push(CaseOption { values, body });
        }
        self.advance();
        self.check_defaults(options.iter().flat_map(|option| &option.values));
        Ok(Expression {
            kind: Kind::Case(Box::new(Case { test, options })),
            span: self.span_from(start),
        })
    }

    /// `a ? { b => c, default => d }`
    fn selector(&mut self, test: Expression) -> Parsed<Expression> {
        self.advance();
        self.check_value(&test);
        let mut options = Vec::new();
        let open = self.next.span;
        if self.take(Token::OpenBrace) {
            loop {
                options.push(self.selector_option()?);
                if self.take(Token::Comma) {
                    if self.take(Token::CloseBrace) {
                        break;
                    }
                    continue;
                }
                let help = "the cases of a selector are separated by commas";
                self.close(Token::CloseBrace, "`,` or `}`", open, help)?;
                break;
            }
        } else {
            options.push(self.selector_option()?);
        }
        self.check_defaults(options.iter().map(|(value, _)| value));
        let span = self.span_from(test.span.start);
        let selector = Selector { test, options };
        Ok(Expression {
            kind: Kind::Selector(Box::new(selector)),
            span,
        })
    }

    fn selector_option(&mut self) -> Parsed<(Expression, Expression)> {
        let value = self.expression()?;
        self.check_value(&value);
        let help = "a selector is written `$a ? { value => result, default => result }`";
        self.expect(Token::FatArrow, "`=>` and the result", help)?;
        let result = self.expression()?;
        Ok((value, result))
    }

    /// `<%= a %>`, `<%= { statements } %>`
    fn render(&mut self) -> Parsed<Expression> {
        let start = self.next.span.start;
        self.advance();
        let open = self.next.span;
        let inner = match self.next.token {
            Token::OpenBrace => {
                self.advance();
                match self.next.token {
                    Token::CloseBrace => {
                        let hash = self.hash(open, None)?;
                        self.rest_of_expression(hash)?
                    }
                    _ => {
                        let first = self.hash_entry()?;
                        match self.next.token {
                            Token::FatArrow => {
                                let hash = self.hash(open, Some(first))?;
                                self.rest_of_expression(hash)?
                            }
                            _ => self.rendered_block(open, first)?,
                        }
                    }
                }
            }
            _ => self.expression()?,
        };
        self.expect(
            Token::RenderEnd,
            "the end of the tag",
            "a tag ends with `%>` or `-%>`",
        )?;
        Ok(Expression {
            kind: Kind::Render(Box::new(inner)),
            span: self.span_from(start),
        })
    }

    /// What stands behind a hash that begins a tag. Nothing that anybody would write binds to one.
    fn rest_of_expression(&mut self, hash: Expression) -> Parsed<Expression> {
        self.suffixes(hash)
    }

    fn rendered_block(&mut self, open: Span, first: Expression) -> Parsed<Expression> {
        let mut statements = vec![first];
        self.statements(&mut statements, Place::Inner, Token::CloseBrace);
        self.close(Token::CloseBrace, "a statement or `}`", open, "")?;
        self.check_effects(&statements);
        let span = self.span_from(open.start);
        Ok(Expression {
            kind: Kind::Block(Box::new(Block { statements, span })),
            span,
        })
    }
}

/// Whether it is more than a plain expression: an assignment, a relationship or a resource.
fn is_beyond_expression(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Assign(_)
            | Kind::Relationship(..)
            | Kind::Resource(_)
            | Kind::Defaults(_)
            | Kind::Override(_)
    )
}

/// A reference in lower case, without leading `::`.
pub(super) fn reference(written: &str) -> EcoString {
    let name = written.strip_prefix("::").unwrap_or(written);
    EcoString::from(name).to_ascii_lowercase()
}

/// Whether it is a name as functions have one.
pub(super) fn is_name(text: &str) -> bool {
    let text = text.strip_prefix("::").unwrap_or(text);
    text.split("::").all(|part| {
        part.starts_with(|first: char| first.is_ascii_lowercase())
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_variable(name: &str) -> bool {
    let bytes = name.as_bytes();
    match bytes {
        [] => false,
        [b'0'] => true,
        [b'0', ..] => false,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => {
            let name = name.strip_prefix("::").unwrap_or(name);
            let (before, last) = match name.rsplit_once("::") {
                Some((before, last)) => (Some(before), last),
                None => (None, name),
            };
            let is_word = |text: &str| {
                text.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            };
            before.is_none_or(is_name)
                && last.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
                && is_word(last)
        }
    }
}
