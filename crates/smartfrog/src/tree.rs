//! The syntax tree: for those who need to look at a specification more than once.

use hence_model::cell::Cell;
use hence_model::source::{FileId, Files, Span};
use hence_model::unit::Unit;

use crate::lexer::{Dialect, Keyword, Operator};
use crate::parser::{self, Handler, Part};

/// A specification, or the content of a body.
pub type Body = Vec<Statement>;

/// One statement of a body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A name, or a path, and its value.
    Assignment(Assignment),
    /// `order first < second;`
    Order {
        /// The names, each before the next.
        names: Vec<Part>,
        /// The names as written.
        span: Span,
    },
    /// `#include "file"`.
    Include {
        /// The file.
        file: FileId,
        /// The directive.
        span: Span,
        /// What the file says.
        body: Body,
    },
}

/// A name, or a path, and its value.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Tags of the production language.
    pub tags: Vec<Part>,
    /// The left side.
    pub target: Vec<Part>,
    /// The right side.
    pub value: Value,
}

/// The right side of an assignment.
#[derive(Clone, Debug)]
pub enum Value {
    /// A value that is written out.
    Literal(Cell, Span),
    /// A link reference.
    Link(Vec<Part>),
    /// A component.
    Extends(Extends),
    /// Anything else; the production language only.
    Expression(Expression),
}

/// `extends a, { … }, b`
#[derive(Clone, Debug)]
pub struct Extends {
    /// The word `extends`.
    pub span: Span,
    /// `DATA` or `LAZY` behind it.
    pub modifier: Option<Keyword>,
    /// What is extended.
    pub prototypes: Vec<Prototype>,
}

/// One thing that is extended.
#[derive(Clone, Debug)]
pub enum Prototype {
    /// A component defined elsewhere.
    Reference(Vec<Part>),
    /// A body, with its braces.
    Body(Body, Span),
}

/// A value of the production language that is to be computed.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A value that is written out.
    Literal(Cell, Span),
    /// A reference.
    Reference(Reference),
    /// `[a, b]`
    Vector(Vec<Expression>, Span),
    /// `(a + b + c)`, `(!a)`
    Operation(Operator, Vec<Expression>, Span),
    /// `IF a THEN b ELSE c FI`
    If(Box<[Expression; 3]>, Span),
    /// `SWITCH IF a THEN b IF c THEN d ENDSWITCH`
    Switch(Vec<(Expression, Expression)>, Span),
    /// `APPLY { … }`, `ASSERT { … }`: kept as data.
    Call(Keyword, Body, Span),
    /// `LAZY (a + b)`, `LAZY APPLY { … }`: kept as data.
    Lazy(Box<Expression>, Span),
    /// `(extends P { … })`
    Component(Box<Extends>),
    /// `TBD`
    ToBeDefined(Span),
}

/// A reference of the production language.
#[derive(Clone, Debug)]
pub struct Reference {
    /// `LAZY`: left to the run time.
    pub lazy: bool,
    /// `OPTIONAL`, and the value in brackets behind it.
    pub optional: Option<Option<Cell>>,
    /// The parts.
    pub parts: Vec<Part>,
    /// All of it.
    pub span: Span,
}

impl Expression {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Expression::Literal(_, span)
            | Expression::Vector(_, span)
            | Expression::Operation(_, _, span)
            | Expression::If(_, span)
            | Expression::Switch(_, span)
            | Expression::Call(_, _, span)
            | Expression::Lazy(_, span)
            | Expression::ToBeDefined(span) => *span,
            Expression::Reference(reference) => reference.span,
            Expression::Component(extends) => extends.span,
        }
    }
}

/// The stretch of a reference.
pub fn span_of(parts: &[Part]) -> Span {
    match parts {
        [] => Span::at(0),
        [first, .., last] => first.span.to(last.span),
        [only] => only.span,
    }
}

/// Reads a file into a tree.
pub fn read(unit: &mut Unit, files: &dyn Files, file: FileId, dialect: Dialect) -> Body {
    let mut builder = Builder::default();
    parser::parse(unit, files, file, dialect, &mut builder);
    builder.finish()
}

/// Builds the tree from what the parser tells.
#[derive(Default)]
pub(crate) struct Builder {
    statements: Body,
    tags: Vec<Part>,
    open: Vec<Open>,
}

/// A construct whose end has not been read; with the statements around it.
enum Open {
    Extends {
        tags: Vec<Part>,
        target: Vec<Part>,
        extends: Extends,
    },
    Body {
        around: Body,
        span: Span,
    },
    Include {
        around: Body,
        file: FileId,
        span: Span,
    },
}

impl Builder {
    pub(crate) fn finish(self) -> Body {
        self.statements
    }

    /// The `extends` that is being read; [`Handler::open`] has been told of it.
    fn extends(&mut self) -> &mut Extends {
        match self.open.last_mut() {
            Some(Open::Extends { extends, .. }) => extends,
            _ => unreachable!("a prototype stands behind `extends`"),
        }
    }

    fn assign(&mut self, target: &[Part], value: Value) {
        self.statements.push(Statement::Assignment(Assignment {
            tags: std::mem::take(&mut self.tags),
            target: target.to_vec(),
            value,
        }));
    }
}

impl Handler for Builder {
    fn literal(&mut self, _: &mut Unit, target: &[Part], cell: Cell, span: Span) {
        self.assign(target, Value::Literal(cell, span));
    }

    fn link(&mut self, _: &mut Unit, target: &[Part], reference: &[Part]) {
        self.assign(target, Value::Link(reference.to_vec()));
    }

    fn expression(&mut self, _: &mut Unit, target: &[Part], value: Expression) {
        self.assign(target, Value::Expression(value));
    }

    fn open(&mut self, _: &mut Unit, target: &[Part], span: Span) {
        self.open.push(Open::Extends {
            tags: std::mem::take(&mut self.tags),
            target: target.to_vec(),
            extends: Extends {
                span,
                modifier: None,
                prototypes: Vec::new(),
            },
        });
    }

    fn modifier(&mut self, _: &mut Unit, keyword: Keyword) {
        self.extends().modifier = Some(keyword);
    }

    fn prototype(&mut self, _: &mut Unit, reference: &[Part]) {
        let reference = Prototype::Reference(reference.to_vec());
        self.extends().prototypes.push(reference);
    }

    fn body(&mut self, _: &mut Unit, span: Span) {
        let around = std::mem::take(&mut self.statements);
        self.open.push(Open::Body { around, span });
    }

    fn end_body(&mut self, _: &mut Unit, span: Span) {
        let Some(Open::Body {
            around,
            span: brace,
        }) = self.open.pop()
        else {
            unreachable!("the end of a body follows its beginning");
        };
        let body = std::mem::replace(&mut self.statements, around);
        self.extends()
            .prototypes
            .push(Prototype::Body(body, brace.to(span)));
    }

    fn close(&mut self, _: &mut Unit) {
        let Some(Open::Extends {
            tags,
            target,
            extends,
        }) = self.open.pop()
        else {
            unreachable!("the end of a component follows its beginning");
        };
        self.tags = tags;
        self.assign(&target, Value::Extends(extends));
    }

    fn order(&mut self, _: &mut Unit, names: &[Part], span: Span) {
        let names = names.to_vec();
        self.statements.push(Statement::Order { names, span });
    }

    fn include(&mut self, _: &mut Unit, file: FileId, span: Span) {
        let around = std::mem::take(&mut self.statements);
        self.open.push(Open::Include { around, file, span });
    }

    fn end_include(&mut self, _: &mut Unit) {
        let Some(Open::Include { around, file, span }) = self.open.pop() else {
            unreachable!("the end of a file follows its beginning");
        };
        let body = std::mem::replace(&mut self.statements, around);
        self.statements
            .push(Statement::Include { file, span, body });
    }

    fn tags(&mut self, _: &mut Unit, tags: &[Part]) {
        self.tags = tags.to_vec();
    }
}
