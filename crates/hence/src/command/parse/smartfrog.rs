//! The syntax tree of SmartFrog.

use std::io::Write;

use hence_model::source::{FileId, Files, Span};
use hence_model::unit::Unit;
use hence_model::value::{Event, Sink};
use hence_smartfrog::lexer::Dialect;
use hence_smartfrog::parser::{Part, PartKind};
use hence_smartfrog::tree::{
    self, Assignment, Body, Expression, Extends, Prototype, Reference, Statement, Value, span_of,
};

use super::nodes::Nodes;

/// Reads a tree.
pub fn read(unit: &mut Unit, files: &dyn Files, file: FileId, dialect: Dialect) -> Body {
    tree::read(unit, files, file, dialect)
}

/// Prints a tree.
pub fn print<W: Write>(nodes: &mut Nodes<'_, W>, file: FileId, body: Body) {
    TreePrinter { nodes }.file(file, &body);
    // A tree is dropped by recursion, and this one may be deep. The process ends anyway.
    std::mem::forget(body);
}

/// Prints a tree. Blocks nest without limit, so what is around them waits in a list; expressions
/// recurse, as their parser does.
struct TreePrinter<'n, 'a, W: Write> {
    nodes: &'n mut Nodes<'a, W>,
}

/// What is still to be printed.
enum Pending<'t> {
    Statements(std::slice::Iter<'t, Statement>),
    Prototypes(std::slice::Iter<'t, Prototype>),
    /// The end of a node, and where the node stands.
    End(Span),
    /// The end of a list, which is the last thing in a node.
    EndList(Span),
}

/// Nodes that nest without limit.
impl<W: Write> TreePrinter<'_, '_, W> {
    fn file(&mut self, file: FileId, body: &Body) {
        self.nodes.json.event(Event::MapStart);
        self.nodes.text("file", self.nodes.unit.sources.name(file));
        self.nodes.text("language", "smartfrog");
        self.statements(body);
        self.nodes.json.event(Event::MapEnd);
    }

    fn statements(&mut self, body: &Body) {
        self.nodes.begin_list("statements");
        self.print(vec![Pending::Statements(body.iter())]);
        self.nodes.json.event(Event::ListEnd);
    }

    fn print(&mut self, mut pending: Vec<Pending<'_>>) {
        while let Some(mut next) = pending.pop() {
            match &mut next {
                Pending::Statements(rest) => {
                    if let Some(statement) = rest.next() {
                        pending.push(next);
                        self.statement(statement, &mut pending);
                    }
                }
                Pending::Prototypes(rest) => {
                    if let Some(prototype) = rest.next() {
                        pending.push(next);
                        self.prototype(prototype, &mut pending);
                    }
                }
                Pending::End(span) => self.nodes.end(*span),
                Pending::EndList(span) => {
                    self.nodes.json.event(Event::ListEnd);
                    self.nodes.end(*span);
                }
            }
        }
    }

    fn statement<'t>(&mut self, statement: &'t Statement, pending: &mut Vec<Pending<'t>>) {
        match statement {
            Statement::Assignment(assignment) => self.assignment(assignment, pending),
            Statement::Order { names, span } => {
                self.nodes.begin("order");
                self.parts("names", names);
                self.nodes.end(*span);
            }
            Statement::Include { file, span, body } => {
                self.nodes.begin("include");
                self.nodes.text("file", self.nodes.unit.sources.name(*file));
                self.nodes.begin_list("statements");
                pending.push(Pending::EndList(*span));
                pending.push(Pending::Statements(body.iter()));
            }
        }
    }

    fn assignment<'t>(&mut self, assignment: &'t Assignment, pending: &mut Vec<Pending<'t>>) {
        let Assignment {
            tags,
            target,
            value,
        } = assignment;
        self.nodes.begin("assignment");
        if !tags.is_empty() {
            self.parts("tags", tags);
        }
        self.parts("target", target);
        self.nodes.json.event(Event::Key("value"));
        let start = span_of(target);
        match value {
            Value::Literal(cell, span) => {
                self.nodes.literal(*cell, *span);
                self.nodes.end(start.to(*span));
            }
            Value::Link(parts) => {
                self.nodes.begin("link");
                self.parts("parts", parts);
                self.nodes.end(span_of(parts));
                self.nodes.end(start.to(span_of(parts)));
            }
            Value::Expression(expression) => {
                self.expression(expression);
                self.nodes.end(start.to(expression.span()));
            }
            Value::Extends(extends) => {
                pending.push(Pending::End(start.to(whole(extends))));
                self.extends(extends, pending);
            }
        }
    }

    fn extends<'t>(&mut self, extends: &'t Extends, pending: &mut Vec<Pending<'t>>) {
        self.nodes.begin("extends");
        if let Some(modifier) = extends.modifier {
            self.nodes.text("modifier", modifier.text());
        }
        self.nodes.begin_list("prototypes");
        pending.push(Pending::EndList(whole(extends)));
        pending.push(Pending::Prototypes(extends.prototypes.iter()));
    }

    fn prototype<'t>(&mut self, prototype: &'t Prototype, pending: &mut Vec<Pending<'t>>) {
        match prototype {
            Prototype::Reference(parts) => {
                self.nodes.begin("reference");
                self.parts("parts", parts);
                self.nodes.end(span_of(parts));
            }
            Prototype::Body(body, span) => {
                self.nodes.begin("body");
                self.nodes.begin_list("statements");
                pending.push(Pending::EndList(*span));
                pending.push(Pending::Statements(body.iter()));
            }
        }
    }
}

/// From the word `extends` to the end of the last prototype.
fn whole(extends: &Extends) -> Span {
    match extends.prototypes.last() {
        None => extends.span,
        Some(Prototype::Reference(parts)) => extends.span.to(span_of(parts)),
        Some(Prototype::Body(_, span)) => extends.span.to(*span),
    }
}

/// Expressions, and the pieces of which all nodes are made.
impl<W: Write> TreePrinter<'_, '_, W> {
    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Literal(cell, span) => return self.nodes.literal(*cell, *span),
            Expression::Component(extends) => {
                let mut pending = Vec::new();
                self.extends(extends, &mut pending);
                return self.print(pending);
            }
            Expression::Reference(reference) => self.reference(reference),
            Expression::Vector(elements, _) => {
                self.nodes.begin("vector");
                self.expressions("elements", elements);
            }
            Expression::Operation(operator, operands, _) => {
                self.nodes.begin("operation");
                self.nodes.text("operator", operator.text());
                self.expressions("operands", operands);
            }
            Expression::If(parts, _) => {
                self.nodes.begin("if");
                for (key, part) in ["condition", "then", "else"].iter().zip(parts.iter()) {
                    self.nodes.json.event(Event::Key(key));
                    self.expression(part);
                }
            }
            Expression::Switch(cases, _) => {
                self.nodes.begin("switch");
                self.nodes.begin_list("cases");
                for (condition, value) in cases {
                    self.nodes.json.event(Event::MapStart);
                    self.nodes.json.event(Event::Key("condition"));
                    self.expression(condition);
                    self.nodes.json.event(Event::Key("then"));
                    self.expression(value);
                    self.nodes.json.event(Event::MapEnd);
                }
                self.nodes.json.event(Event::ListEnd);
            }
            Expression::Call(keyword, body, _) => {
                self.nodes.begin("call");
                self.nodes.text("keyword", keyword.text());
                self.statements(body);
            }
            Expression::Lazy(inner, _) => {
                self.nodes.begin("lazy");
                self.nodes.json.event(Event::Key("expression"));
                self.expression(inner);
            }
            Expression::ToBeDefined(_) => self.nodes.begin("to-be-defined"),
        }
        self.nodes.end(expression.span());
    }

    fn expressions(&mut self, key: &str, expressions: &[Expression]) {
        self.nodes.begin_list(key);
        for expression in expressions {
            self.expression(expression);
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn reference(&mut self, reference: &Reference) {
        self.nodes.begin("reference");
        self.nodes.json.event(Event::Key("lazy"));
        self.nodes.json.event(Event::Bool(reference.lazy));
        self.nodes.json.event(Event::Key("optional"));
        self.nodes
            .json
            .event(Event::Bool(reference.optional.is_some()));
        if let Some(Some(default)) = reference.optional {
            self.nodes.json.event(Event::Key("default"));
            self.nodes.value(default);
        }
        self.parts("parts", &reference.parts);
    }

    fn parts(&mut self, key: &str, parts: &[Part]) {
        self.nodes.begin_list(key);
        for part in parts {
            let name = self
                .nodes
                .unit
                .symbols
                .name(&self.nodes.unit.sources, part.name);
            self.nodes.json.event(Event::MapStart);
            match part.kind {
                PartKind::Name => self.nodes.text("name", name),
                PartKind::Keyword(keyword) => {
                    self.nodes.text("keyword", keyword.text());
                    if name != keyword.text() {
                        self.nodes.text("name", name);
                    }
                }
            }
            self.nodes.end(part.span);
        }
        self.nodes.json.event(Event::ListEnd);
    }
}
