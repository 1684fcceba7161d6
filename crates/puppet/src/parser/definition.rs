//! Classes, defined types, nodes, functions and type aliases, and their parameters.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use rustc_hash::FxHashMap;

use super::check::{ASSIGNMENT, Defined, UNSUPPORTED};
use super::expression::{Elements, is_name, reference};
use super::{Parsed, Parser, Place, Wrong};
use crate::lexer::{Keyword, NAME, Token};
use crate::syntax::{
    Block, Call, Definition, DefinitionKind, Expression, Kind, NodeMatch, NodeMatchKind, Operator,
    Parameter,
};

/// A parameter that cannot be.
pub const PARAMETER: Code = Code::new("puppet.parameter");
/// Something that no node can be called.
pub const NODE_NAME: Code = Code::new("puppet.node-name");

impl Parser<'_> {
    /// `class a(…) inherits b { … }`
    pub(super) fn class(&mut self) -> Parsed<Expression> {
        let start = self.next.span;
        self.advance();
        if self.next.token == Token::OpenBrace {
            return Err(self.wrong(
                "the name of a class",
                "a class that is declared like a resource has no value",
            ));
        }
        let (written, name_span) = self.definition_name("class")?;
        let name = self.full_name(&written);
        let parameters = self.parameter_list()?;
        self.check_definition(&name, name_span, "class");
        self.check_parameters(&parameters, "class");
        let parent = match self.take_keyword(Keyword::Inherits) {
            true => Some(self.parent()?),
            false => None,
        };
        self.namespace.push(written);
        let body = self.block(Place::Class, "and the body of the class");
        self.namespace.pop();
        let body = body?;
        self.check_last_effect(&body, "a class");
        Ok(self.defined(
            DefinitionKind::Class { parent },
            name,
            name_span,
            parameters,
            body,
            start,
        ))
    }

    fn parent(&mut self) -> Parsed<(EcoString, Span)> {
        let span = self.next.span;
        match self.next.token {
            Token::Name | Token::Word | Token::Reference | Token::Keyword(Keyword::Default) => {
                self.advance();
                Ok((reference(self.slice(span)), span))
            }
            _ => Err(self.wrong("the name of the class that is inherited", "")),
        }
    }

    /// `define a(…) { … }`
    pub(super) fn define(&mut self) -> Parsed<Expression> {
        let start = self.next.span;
        self.advance();
        let (written, name_span) = self.definition_name("defined type")?;
        let name = self.full_name(&written);
        let parameters = self.parameter_list()?;
        self.check_definition(&name, name_span, "defined type");
        self.check_parameters(&parameters, "defined type");
        let body = self.block(Place::Inner, "and the body of the defined type")?;
        self.check_last_effect(&body, "a defined type");
        let kind = DefinitionKind::Define;
        Ok(self.defined(kind, name, name_span, parameters, body, start))
    }

    /// `function a(…) >> Type { … }`
    pub(super) fn function(&mut self) -> Parsed<Expression> {
        let start = self.next.span;
        self.advance();
        let (name, name_span) = self.definition_name("function")?;
        let parameters = self.parameter_list()?;
        let returns = self.return_type()?;
        self.check_definition(&name, name_span, "function");
        self.check_unique(&parameters);
        let body = self.block(Place::Inner, "and the body of the function")?;
        let kind = DefinitionKind::Function { returns };
        Ok(self.defined(kind, name, name_span, parameters, body, start))
    }

    /// `type A = …`; also the call `type(a)`.
    pub(super) fn type_alias(&mut self) -> Parsed<Expression> {
        let start = self.next.span;
        self.advance();
        match self.next.token {
            Token::OpenParenthesis => return self.call_of_type(start),
            Token::Reference => {}
            _ => {
                return Err(self.wrong(
                    "the name of a type",
                    "a type is written `type Name = …`; as text, write 'type'",
                ));
            }
        }
        let name_span = self.next.span;
        let written = self.slice(name_span);
        self.advance();
        match self.next.token {
            Token::Equals => {}
            Token::OpenBracket => {
                let span = self.next.span;
                let message = "a type alias has no parameters, and types of Ruby cannot be mapped";
                self.report(Diagnostic::error(UNSUPPORTED, message).at(name_span.to(span)));
                return Err(Wrong);
            }
            Token::OpenBrace | Token::Keyword(Keyword::Inherits) => {
                let message = "a type cannot be defined by a body";
                let help = "write `type Name = Struct[…]` or another type that there is";
                let span = start.to(name_span);
                self.report(Diagnostic::error(UNSUPPORTED, message).at(span).help(help));
                return Err(Wrong);
            }
            _ => return Err(self.wrong("`=` and a type", "")),
        }
        self.advance();
        if written.starts_with("::") {
            self.report(
                Diagnostic::error(NAME, format!("a type cannot be defined as `{written}`"))
                    .at(name_span)
                    .help("leave out the leading `::`"),
            );
        }
        let kind = DefinitionKind::Alias {
            kind: self.aliased()?,
        };
        let body = Block {
            statements: Vec::new(),
            span: Span::at(self.last.end),
        };
        let name = reference(written);
        Ok(self.defined(kind, name, name_span, Vec::new(), body, start))
    }

    /// What an alias stands for.
    fn aliased(&mut self) -> Parsed<Expression> {
        let span = self.next.span;
        match self.next.token {
            Token::Reference => {}
            // An object type is written by its attributes alone.
            Token::OpenBrace => {
                let attributes = self.primary()?;
                let object = Expression {
                    kind: Kind::Reference("object".into()),
                    span: Span::at(span.start),
                };
                return Ok(access(object, attributes));
            }
            _ => {
                return Err(self.wrong("a type", "a type begins with a capital: `String[1]`"));
            }
        }
        let of = Expression {
            kind: Kind::Reference(reference(self.slice(span))),
            span,
        };
        self.advance();
        let open = self.next.span;
        match self.next.token {
            Token::OpenBrace => {
                let attributes = self.primary()?;
                Ok(object(of, attributes))
            }
            Token::OpenBracket => {
                self.advance();
                let keys = self.elements(Token::CloseBracket, open, Elements::Access)?;
                Ok(Expression {
                    kind: Kind::Access(Box::new(of), keys.into()),
                    span: self.span_from(span.start),
                })
            }
            _ => Ok(of),
        }
    }

    fn call_of_type(&mut self, name: Span) -> Parsed<Expression> {
        let open = self.next.span;
        self.advance();
        let arguments = self.elements(Token::CloseParenthesis, open, Elements::Arguments)?;
        let function = Expression {
            kind: Kind::Name("type".into()),
            span: name,
        };
        let call = Call {
            function,
            arguments,
            lambda: None,
            method: false,
        };
        Ok(Expression {
            kind: Kind::Call(Box::new(call)),
            span: self.span_from(name.start),
        })
    }

    /// `node 'web1', /^db/, default { … }`
    pub(super) fn node(&mut self) -> Parsed<Expression> {
        let start = self.next.span;
        self.advance();
        let names = self.next.span;
        let mut matches = vec![self.node_match()?];
        while self.take(Token::Comma) {
            if matches!(
                self.next.token,
                Token::OpenBrace | Token::Keyword(Keyword::Inherits)
            ) {
                break;
            }
            matches.push(self.node_match()?);
        }
        let name_span = names.to(self.last);
        if self.next.token == Token::Keyword(Keyword::Inherits) {
            let inherits = self.next.span;
            self.advance();
            let parent = self.node_match()?;
            let message = "a node cannot inherit from another";
            self.report(
                Diagnostic::error(UNSUPPORTED, message)
                    .at(inherits.to(parent.span))
                    .help("put what they have in common into a class, and include it in both"),
            );
        }
        let body = self.block(Place::Inner, "and the body of the node")?;
        self.check_last_effect(&body, "a node");
        let kind = DefinitionKind::Node { matches };
        Ok(self.defined(kind, EcoString::new(), name_span, Vec::new(), body, start))
    }

    fn node_match(&mut self) -> Parsed<NodeMatch> {
        let span = self.next.span;
        let kind = match self.next.token {
            Token::Keyword(Keyword::Default) => {
                self.advance();
                NodeMatchKind::Default
            }
            Token::Pattern => {
                let kind = self.pattern(span);
                self.advance();
                match kind {
                    Kind::Pattern(pattern) => NodeMatchKind::Pattern(pattern),
                    _ => NodeMatchKind::Default,
                }
            }
            // Words and numbers, with dots between them.
            Token::Name | Token::Number => {
                self.advance();
                while self.take(Token::Dot) {
                    match self.next.token {
                        Token::Name | Token::Number => self.advance(),
                        _ => {
                            return Err(self.wrong(
                                "the rest of the name of a node",
                                "put the name in quotes: `node 'web-1.example.com'`",
                            ));
                        }
                    }
                }
                // There may be blanks around the dots.
                let written = self.slice(self.span_from(span.start));
                let name: EcoString = written.chars().filter(|c| !c.is_whitespace()).collect();
                self.check_node_name(&name, self.span_from(span.start));
                NodeMatchKind::Name(name)
            }
            Token::Word | Token::Text { .. } | Token::Quote | Token::Heredoc => {
                let text = self.primary()?;
                let said = match text.kind {
                    Kind::Heredoc(text, _) => text.kind,
                    kind => kind,
                };
                let Kind::Text(name) = said else {
                    let message = "the name of a node cannot have variables in it";
                    let help = "for many nodes write a pattern: `node /^web/ { … }`";
                    self.report(
                        Diagnostic::error(NODE_NAME, message)
                            .at(text.span)
                            .help(help),
                    );
                    return Ok(NodeMatch {
                        kind: NodeMatchKind::Default,
                        span: text.span,
                    });
                };
                if self.next.token == Token::Dot {
                    return Err(self.wrong("`,` or `{`", "put the whole name in quotes"));
                }
                self.check_node_name(&name, text.span);
                NodeMatchKind::Name(name)
            }
            _ => {
                return Err(self.wrong(
                    "the name of a node",
                    "a node is written `node 'name' { … }`, or with a pattern, or with `default`",
                ));
            }
        };
        Ok(NodeMatch {
            kind,
            span: self.span_from(span.start),
        })
    }

    fn check_node_name(&mut self, name: &str, span: Span) {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if let Some(wrong) = name.chars().find(|&c| !is_good(c)) {
            let message = format!("the name of a node cannot have `{wrong}` in it");
            let help = "it has letters, digits, `_`, `-` and `.`; for many nodes write a pattern: `node /^web/ { … }`";
            self.report(Diagnostic::error(NODE_NAME, message).at(span).help(help));
        }
    }

    /// Keeps a definition; in its place there is nothing.
    fn defined(
        &mut self,
        kind: DefinitionKind,
        name: EcoString,
        name_span: Span,
        parameters: Vec<Parameter>,
        body: Block,
        start: Span,
    ) -> Expression {
        let span = self.span_from(start.start);
        let defined = match kind {
            DefinitionKind::Function { .. } | DefinitionKind::Alias { .. } => Defined::InFile,
            _ => Defined::InClass,
        };
        self.placed(span, defined);
        self.definitions.push(Definition {
            kind,
            name: name.to_ascii_lowercase(),
            name_span,
            parameters,
            body,
            span,
        });
        Expression {
            kind: Kind::Nothing,
            span,
        }
    }

    fn definition_name(&mut self, what: &str) -> Parsed<(EcoString, Span)> {
        let span = self.next.span;
        match self.next.token {
            Token::Name | Token::Word | Token::Reference => {
                self.advance();
                Ok((self.slice(span).into(), span))
            }
            Token::Text { .. } | Token::Quote => {
                let help = "a name has no quotes where it is defined";
                Err(self.wrong(&format!("the name of the {what}"), help))
            }
            _ => Err(self.wrong(&format!("the name of the {what}"), "")),
        }
    }

    /// The name of a class or a defined type with those of the classes around it.
    fn full_name(&self, written: &str) -> EcoString {
        let mut name = EcoString::new();
        for outer in &self.namespace {
            name.push_str(outer);
            name.push_str("::");
        }
        name.push_str(written);
        name
    }

    fn check_definition(&mut self, name: &str, span: Span, what: &str) {
        let written = self.slice(span);
        if written.starts_with("::") || !is_name(written) {
            let message = format!("`{written}` cannot be the name of a {what}");
            let help = match written.strip_prefix("::") {
                Some(rest) if is_name(rest) => "leave out the leading `::`".to_owned(),
                _ => "names have parts of letters, digits and `_`, each with a small letter first, and `::` between them".to_owned(),
            };
            self.report(Diagnostic::error(NAME, message).at(span).help(help));
        } else if is_type(name) {
            let message =
                format!("`{name}` is a type of the language and cannot be the name of a {what}");
            self.report(Diagnostic::error(NAME, message).at(span));
        }
    }

    /// `($a, Type $b = 1)`, if there is one.
    fn parameter_list(&mut self) -> Parsed<Vec<Parameter>> {
        let open = self.next.span;
        match self.next.token {
            Token::OpenParenthesis | Token::OpenLine => self.advance(),
            _ => return Ok(Vec::new()),
        }
        self.parameters(Token::CloseParenthesis, open)
    }

    /// Parameters up to what closes them.
    pub(super) fn parameters(&mut self, close: Token, open: Span) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        if self.take(close) {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter()?);
            if self.take(Token::Comma) {
                if self.take(close) {
                    return Ok(parameters);
                }
                continue;
            }
            let expected = match close {
                Token::Pipe => "`,` or `|`",
                _ => "`,` or `)`",
            };
            let help = match self.next.token {
                Token::FatArrow => "the default of a parameter is written `$a = value`",
                _ => "parameters are separated by commas",
            };
            self.close(close, expected, open, help)?;
            return Ok(parameters);
        }
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let kind = match self.next.token {
            Token::Reference => Some(self.parameter_type()?),
            _ => None,
        };
        let rest = self.take(Token::Operator(Operator::Multiply));
        let span = self.next.span;
        if self.next.token != Token::Variable {
            let help = match self.next.token {
                Token::Name => "the name of a parameter begins with `$`",
                _ => "a parameter is written `Type $name = default`",
            };
            return Err(self.wrong("the name of a parameter", help));
        }
        let name = &self.slice(span)[1..];
        self.advance();
        let is_good = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
            && !name.contains("::");
        if !is_good {
            let message = format!("`${name}` cannot be a parameter");
            let help = "names of parameters begin with a small letter or `_`, and have letters, digits and `_`";
            self.report(Diagnostic::error(PARAMETER, message).at(span).help(help));
        }
        let default = match self.take(Token::Equals) {
            true => Some(self.default_of_parameter()?),
            false => None,
        };
        Ok(Parameter {
            name: name.into(),
            span,
            kind,
            default,
            rest,
        })
    }

    /// A default; it cannot assign to a variable, other than in a lambda.
    fn default_of_parameter(&mut self) -> Parsed<Expression> {
        let help = "assign to it in the body";
        let assigned = self.assigned.take();
        let default = self.expression()?;
        if let Some(span) = self.assigned {
            let message = "a default cannot assign to a variable";
            self.report(Diagnostic::error(ASSIGNMENT, message).at(span).help(help));
        }
        self.assigned = assigned;
        match self.next.token {
            Token::Equals => Err(self.wrong("the end of the default", help)),
            _ => Ok(default),
        }
    }

    /// `Type`, `Type[…]`
    fn parameter_type(&mut self) -> Parsed<Expression> {
        let span = self.next.span;
        let of = Expression {
            kind: Kind::Reference(reference(self.slice(span))),
            span,
        };
        self.advance();
        if self.next.token != Token::OpenBracket {
            return Ok(of);
        }
        let open = self.next.span;
        self.advance();
        let keys = self.elements(Token::CloseBracket, open, Elements::TypeAccess)?;
        Ok(Expression {
            kind: Kind::Access(Box::new(of), keys.into()),
            span: self.span_from(span.start),
        })
    }

    /// `>> Type`
    pub(super) fn return_type(&mut self) -> Parsed<Option<Expression>> {
        if !self.take(Token::Operator(Operator::ShiftRight)) {
            return Ok(None);
        }
        match self.next.token {
            Token::Reference => self.parameter_type().map(Some),
            _ => Err(self.wrong("the type of the result", "")),
        }
    }

    /// `| $a, $b = 1 |` at the beginning of a template.
    pub(super) fn template_parameters(&mut self) -> Option<Vec<Parameter>> {
        if self.next.token != Token::Pipe {
            return None;
        }
        let open = self.next.span;
        self.advance();
        let Ok(parameters) = self.parameters(Token::Pipe, open) else {
            self.recover(open.start, 0);
            return Some(Vec::new());
        };
        self.check_no_rest(&parameters, "template");
        self.check_unique(&parameters);
        Some(parameters)
    }

    fn check_parameters(&mut self, parameters: &[Parameter], what: &str) {
        self.check_no_rest(parameters, what);
        self.check_unique(parameters);
        for parameter in parameters {
            if matches!(parameter.name.as_str(), "title" | "name") {
                let name = &parameter.name;
                let message = format!("a {what} has a `${name}` already");
                let help = "give the parameter another name";
                self.report(
                    Diagnostic::error(PARAMETER, message)
                        .at(parameter.span)
                        .help(help),
                );
            }
        }
    }

    fn check_unique(&mut self, parameters: &[Parameter]) {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for parameter in parameters {
            if let Some(&first) = seen.get(parameter.name.as_str()) {
                let message = format!("there are two parameters `${}`", parameter.name);
                self.report(
                    Diagnostic::error(PARAMETER, message)
                        .label(parameter.span, "this is the second")
                        .label(first, "this is the first"),
                );
            }
            seen.insert(&parameter.name, parameter.span);
        }
    }

    fn check_no_rest(&mut self, parameters: &[Parameter], what: &str) {
        for parameter in parameters.iter().filter(|parameter| parameter.rest) {
            let message = format!("a {what} cannot take any number of arguments");
            let help = "leave out the `*`, and pass a list";
            self.report(
                Diagnostic::error(PARAMETER, message)
                    .at(parameter.span)
                    .help(help),
            );
        }
    }

    pub(super) fn check_rest_last(&mut self, parameters: &[Parameter]) {
        let Some((_, before)) = parameters.split_last() else {
            return;
        };
        for parameter in before.iter().filter(|parameter| parameter.rest) {
            let message = format!(
                "`*${}` takes all further arguments, so it must be the last",
                parameter.name
            );
            self.report(Diagnostic::error(PARAMETER, message).at(parameter.span));
        }
    }
}

/// `Parent { attributes }`: an object type whose parent is one more attribute.
fn object(parent: Expression, mut attributes: Expression) -> Expression {
    let is_kind =
        matches!(&parent.kind, Kind::Reference(name) if name == "object" || name == "typeset");
    if is_kind {
        return access(parent, attributes);
    }
    let span = parent.span;
    if let Kind::Hash(pairs) = &mut attributes.kind {
        let key = Expression {
            kind: Kind::Name("parent".into()),
            span,
        };
        pairs.push((key, parent));
    }
    let object = Expression {
        kind: Kind::Reference("object".into()),
        span,
    };
    access(object, attributes)
}

/// `Type[attributes]` of something that is written otherwise.
fn access(of: Expression, attributes: Expression) -> Expression {
    let span = of.span.to(attributes.span);
    let kind = Kind::Access(Box::new(of), [attributes].into());
    Expression { kind, span }
}

/// Whether it is, in lower case, a type that is there from the beginning.
fn is_type(name: &str) -> bool {
    matches!(
        name,
        "type"
            | "any"
            | "unit"
            | "scalar"
            | "boolean"
            | "numeric"
            | "integer"
            | "float"
            | "collection"
            | "array"
            | "hash"
            | "tuple"
            | "struct"
            | "variant"
            | "optional"
            | "enum"
            | "regexp"
            | "pattern"
            | "runtime"
            | "init"
            | "object"
            | "sensitive"
            | "semver"
            | "semverrange"
            | "string"
            | "timestamp"
            | "timespan"
            | "typeset"
    )
}
