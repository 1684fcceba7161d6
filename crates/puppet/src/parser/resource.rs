//! Resources, what is said about resources that are declared elsewhere, and collectors.

use hence_model::diagnostic::Diagnostic;
use hence_model::source::Span;

use super::check::{ATTRIBUTE, UNSUPPORTED};
use super::{Parsed, Parser, SYNTAX, Wrong, is_statement_function};
use crate::lexer::{Keyword, Token};
use crate::syntax::{
    Amendment, Attribute, AttributeKind, Call, Collector, Expression, Form, Kind, Operator,
    Resource, ResourceBody,
};

impl Parser<'_> {
    /// An expression, or a resource: what `{` stands behind.
    pub(super) fn resource(&mut self) -> Parsed<Expression> {
        let at = self.next;
        let form = match at.token {
            Token::At => Form::Virtual,
            Token::AtAt => Form::Exported,
            _ => Form::Regular,
        };
        while matches!(self.next.token, Token::At | Token::AtAt) {
            self.advance();
        }
        let is_class =
            self.next.token == Token::Keyword(Keyword::Class) && self.peek() == Token::OpenBrace;
        let mut left = match is_class {
            true => self.class_resource()?,
            false => self.expression()?,
        };
        while self.next.token == Token::OpenBrace {
            left = self.braces_behind(left)?;
            self.wrapped()?;
        }
        if form != Form::Regular {
            left = self.with_form(left, form, at.span)?;
        }
        Ok(left)
    }

    /// `@resource`, `@@resource`
    fn with_form(&mut self, of: Expression, form: Form, at: Span) -> Parsed<Expression> {
        let span = at.to(of.span);
        let wrong = match of.kind {
            Kind::Resource(mut resource) => {
                if matches!(&resource.kind.kind, Kind::Name(name) if name == "class") {
                    let message = "a class cannot be virtual or exported";
                    self.report(Diagnostic::error(UNSUPPORTED, message).at(at));
                }
                resource.form = form;
                let kind = Kind::Resource(resource);
                return Ok(Expression { kind, span });
            }
            Kind::Defaults(_) | Kind::Override(_) => {
                "what is said about other resources cannot be virtual or exported"
            }
            _ => "expected a resource behind `@`",
        };
        self.report(Diagnostic::error(SYNTAX, wrong).at(span).help(
            "a virtual resource is written `@file { 'title': … }`, an exported one with `@@`",
        ));
        Ok(Expression {
            kind: Kind::Undef,
            span,
        })
    }

    /// `class { 'a': … }`
    fn class_resource(&mut self) -> Parsed<Expression> {
        let span = self.next.span;
        self.advance();
        let open = self.next.span;
        self.advance();
        if self.next.token == Token::CloseBrace {
            return Err(self.wrong("the name of a class", "write `class { 'name': … }`"));
        }
        let title = self.expression()?;
        let kind = Expression {
            kind: Kind::Name("class".into()),
            span,
        };
        self.titled(kind, open, title)
    }

    /// What `{` behind an expression begins: a resource with a title, or attributes alone.
    fn braces_behind(&mut self, left: Expression) -> Parsed<Expression> {
        let open = self.next.span;
        self.advance();
        let has_attributes = match self.next.token {
            Token::CloseBrace | Token::Comma => true,
            Token::Name | Token::Keyword(_) => {
                let is_value = matches!(
                    self.next.token,
                    Token::Keyword(Keyword::True | Keyword::False)
                );
                // Whoever writes `=` means `=>`, and is told so.
                let ahead = self.peek();
                let is_arrow = matches!(ahead, Token::FatArrow | Token::PlusArrow | Token::Equals);
                !is_value && is_arrow
            }
            Token::Operator(Operator::Multiply) => self.peek() == Token::FatArrow,
            _ => false,
        };
        if has_attributes {
            return self.untitled(left, open);
        }
        let title = self.expression()?;
        self.titled(left, open, title)
    }

    /// `: attributes; title: attributes }`
    fn titled(&mut self, kind: Expression, open: Span, title: Expression) -> Parsed<Expression> {
        let mut bodies = Vec::new();
        let mut title = title;
        loop {
            if self.next.token != Token::Colon {
                let help = match self.next.token {
                    Token::FatArrow => {
                        "a resource begins with its title: `file { 'title': mode => '0644' }`"
                    }
                    _ => "behind the title of a resource there is a colon: `file { 'title': … }`",
                };
                return Err(self.wrong("`:` behind the title", help));
            }
            self.advance();
            let attributes = self.attributes(false)?;
            self.check_splats(&attributes);
            let span = self.span_from(title.span.start);
            bodies.push(ResourceBody {
                title,
                attributes,
                span,
            });
            if !self.take(Token::Semicolon) || self.next.token == Token::CloseBrace {
                break;
            }
            title = self.expression()?;
        }
        self.end_of_attributes(open, "`,`, `;` or `}`")?;
        let span = self.span_from(kind.span.start);
        let resource = Resource {
            form: Form::Regular,
            kind,
            bodies: bodies.into(),
        };
        Ok(Expression {
            kind: Kind::Resource(Box::new(resource)),
            span,
        })
    }

    /// `attributes }` behind a type or a resource, or a hash behind the name of a function.
    fn untitled(&mut self, left: Expression, open: Span) -> Parsed<Expression> {
        let is_override = matches!(left.kind, Kind::Access(..));
        let attributes = self.attributes(is_override)?;
        self.end_of_attributes(open, "`,` or `}`")?;
        let span = self.span_from(left.span.start);
        let hash = Span::new(open.start, span.end);
        let kind = match &left.kind {
            Kind::Name(name) if is_statement_function(name) => {
                return self.called_with_hash(left, attributes, hash);
            }
            Kind::Name(name) => {
                let message = format!("expected a title for this `{name}`");
                let help = format!("a resource begins with its title: `{name} {{ 'title': … }}`");
                let place = Span::at(open.end);
                self.report(Diagnostic::error(SYNTAX, message).at(place).help(help));
                return Ok(left);
            }
            Kind::Reference(_) => Kind::Defaults(Box::new(Amendment {
                target: left,
                attributes,
            })),
            Kind::Access(..) => Kind::Override(Box::new(Amendment {
                target: left,
                attributes,
            })),
            _ => {
                let message = "expected a type or a resource before `{`";
                let help = "write `Type { … }` for defaults, `Type['title'] { … }` for a resource";
                self.report(Diagnostic::error(SYNTAX, message).at(left.span).help(help));
                return Ok(left);
            }
        };
        Ok(Expression { kind, span })
    }

    /// `notice { a => 1 }`
    fn called_with_hash(
        &mut self,
        function: Expression,
        attributes: Box<[Attribute]>,
        hash: Span,
    ) -> Parsed<Expression> {
        let mut pairs = Vec::new();
        for attribute in attributes {
            let AttributeKind::Set(name) = attribute.kind else {
                let message = "expected an element of a hash";
                self.report(Diagnostic::error(SYNTAX, message).at(attribute.span));
                return Err(Wrong);
            };
            let end = attribute.span.start + name.len() as u32;
            let key = Expression {
                kind: Kind::Text(name),
                span: Span::new(attribute.span.start, end),
            };
            pairs.push((key, attribute.value));
        }
        let span = function.span.to(hash);
        let argument = Expression {
            kind: Kind::Hash(pairs),
            span: hash,
        };
        let call = Call {
            function,
            arguments: vec![argument],
            lambda: None,
            method: false,
        };
        Ok(Expression {
            kind: Kind::Call(Box::new(call)),
            span,
        })
    }

    fn end_of_attributes(&mut self, open: Span, expected: &str) -> Parsed<()> {
        let looks_like_attribute = matches!(self.next.token, Token::Name | Token::Keyword(_))
            && matches!(self.peek(), Token::FatArrow | Token::PlusArrow);
        if looks_like_attribute {
            let place = Span::at(self.last.end);
            let name = self.slice(self.next.span);
            let message = format!("expected `,` before the next attribute, found `{name}`");
            let span = self.next.span;
            self.report(
                Diagnostic::error(SYNTAX, message)
                    .label(place, "the comma is missing here")
                    .label(span, "")
                    .help("attributes are separated by commas"),
            );
            return Err(Wrong);
        }
        let help = match self.next.token {
            Token::Colon => "resources of the same type are separated by `;`",
            _ => "",
        };
        self.close(Token::CloseBrace, expected, open, help)
    }

    /// Attributes with commas between them; `+>` only where there is something to add to.
    fn attributes(&mut self, may_add: bool) -> Parsed<Box<[Attribute]>> {
        let mut attributes = Vec::new();
        self.take(Token::Comma);
        while !matches!(self.next.token, Token::CloseBrace | Token::Semicolon) {
            attributes.push(self.attribute(may_add)?);
            if !self.take(Token::Comma) {
                break;
            }
        }
        Ok(attributes.into())
    }

    fn attribute(&mut self, may_add: bool) -> Parsed<Attribute> {
        let start = self.next.span;
        let is_splat = match self.next.token {
            Token::Operator(Operator::Multiply) => true,
            Token::Name => false,
            Token::Keyword(keyword) if !matches!(keyword, Keyword::True | Keyword::False) => false,
            Token::Text { .. } if self.peek() == Token::Colon => {
                return Err(self.wrong(
                    "`;` before the next title",
                    "resources of the same type are separated by `;`",
                ));
            }
            Token::Text { .. } | Token::Quote | Token::Word => {
                return Err(self.wrong(
                    "the name of an attribute",
                    "names of attributes are words of small letters, digits and `_`, without quotes",
                ));
            }
            _ => return Err(self.wrong("the name of an attribute or `}`", "")),
        };
        let name = self.slice(start);
        self.advance();
        let kind = match self.next.token {
            Token::FatArrow if is_splat => AttributeKind::Splat,
            Token::FatArrow => AttributeKind::Set(name.into()),
            Token::PlusArrow if !is_splat => {
                if !may_add {
                    let message = format!("there is nothing that `{name} +>` could add to here");
                    let span = start.to(self.next.span);
                    self.report(
                        Diagnostic::error(ATTRIBUTE, message)
                            .at(span)
                            .help("`+>` stands in overrides and collectors; here, write `=>`"),
                    );
                }
                AttributeKind::Add(name.into())
            }
            _ => {
                let help = format!("an attribute is written `{name} => value`");
                return Err(self.wrong("`=>`", &help));
            }
        };
        self.advance();
        let value = self.expression()?;
        self.check_value(&value);
        Ok(Attribute {
            kind,
            span: start.to(value.span),
            value,
        })
    }

    fn check_splats(&mut self, attributes: &[Attribute]) {
        let mut splats = attributes
            .iter()
            .filter(|attribute| matches!(attribute.kind, AttributeKind::Splat));
        if let (Some(first), Some(second)) = (splats.next(), splats.next()) {
            self.report(
                Diagnostic::error(ATTRIBUTE, "a resource can have one `* =>`")
                    .label(second.span, "this is the second")
                    .label(first.span, "this is the first")
                    .help("add the hashes: `* => $a + $b`"),
            );
        }
    }

    /// `Type <| query |> { attributes }`
    pub(super) fn collector(&mut self, kind: Expression) -> Parsed<Kind> {
        let open = self.next;
        if !matches!(kind.kind, Kind::Reference(_)) {
            let message = "expected the name of a type before a collector";
            self.report(Diagnostic::error(SYNTAX, message).at(kind.span));
        }
        let exported = open.token == Token::CollectExported;
        let (end, sign) = match exported {
            true => (Token::CollectExportedEnd, "`|>>`"),
            false => (Token::CollectEnd, "`|>`"),
        };
        self.advance();
        let mut query = None;
        if self.next.token != end {
            let asked = self.expression()?;
            query = self.query(asked);
            self.close(end, sign, open.span, "")?;
        } else {
            self.advance();
        }
        let mut attributes = Box::default();
        if self.next.token == Token::OpenBrace {
            let brace = self.next.span;
            self.advance();
            attributes = self.attributes(true)?;
            self.end_of_attributes(brace, "`,` or `}`")?;
        }
        Ok(Kind::Collector(Box::new(Collector {
            kind,
            exported,
            query,
            attributes,
        })))
    }
}
