//! `hence parse`: the syntax tree, for other programs. `docs/syntax-tree.md` describes it.

use std::io::Write;

use clap::{Args, ValueEnum};
use hence_model::cell::Cell;
use hence_model::print::json::Json;
use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;
use hence_model::value::{Event, Sink};
use hence_smartfrog::parser::{Part, PartKind};
use hence_smartfrog::tree::{
    self, Assignment, Body, Expression, Extends, Prototype, Reference, Statement, Value, span_of,
};

use super::source::SourceOptions;
use crate::console::Console;
use crate::places::Places;
use crate::{Exit, Stop};

/// Print the syntax tree of a file
#[derive(Args)]
#[command(after_help = "`docs/syntax-tree.md` describes what is printed.")]
pub struct Parse {
    /// The file
    #[arg(value_name = "FILE")]
    file: String,
    /// What to print
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Indent it
    #[arg(long)]
    pretty: bool,
    #[command(flatten)]
    source: SourceOptions,
}

/// How a tree is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON
    Json,
}

impl Parse {
    /// Prints the tree, also of a file with mistakes: then what could be read.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Format::Json = self.format;
        self.source.language(&self.file)?;
        let options = self.source.smartfrog();
        let outside = self.source.outside(console);
        let mut unit = Unit::with_limits(options.limits);
        let file = match unit.load(&outside, &self.file) {
            Ok(file) => file,
            Err(diagnostic) => {
                console.show(&unit.sources, &[*diagnostic]);
                return Ok(outside.blame());
            }
        };
        let body = tree::read(&mut unit, &outside, file, options.semantics.dialect());
        console.show(&unit.sources, &unit.diagnostics);
        let json = match self.pretty {
            true => Json::pretty(console.data()),
            false => Json::compact(console.data()),
        };
        let mut printer = TreePrinter {
            unit: &unit,
            places: Places::new(&unit.sources),
            json,
        };
        printer.file(file, &body);
        let written = printer.json.finish().map(|_| ());
        // A tree is dropped by recursion, and this one may be deep. The process ends anyway.
        std::mem::forget(body);
        written?;
        Ok(match unit.has_errors() {
            true => outside.blame(),
            false => Exit::Done,
        })
    }
}

/// Prints a tree. Blocks nest without limit, so what is around them waits in a list; expressions
/// recurse, as their parser does.
struct TreePrinter<'a, W: Write> {
    unit: &'a Unit,
    places: Places<'a>,
    json: Json<W>,
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
impl<W: Write> TreePrinter<'_, W> {
    fn file(&mut self, file: FileId, body: &Body) {
        self.json.event(Event::MapStart);
        self.text("file", self.unit.sources.name(file));
        self.text("language", "smartfrog");
        self.statements(body);
        self.json.event(Event::MapEnd);
    }

    fn statements(&mut self, body: &Body) {
        self.begin_list("statements");
        self.print(vec![Pending::Statements(body.iter())]);
        self.json.event(Event::ListEnd);
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
                Pending::End(span) => self.end(*span),
                Pending::EndList(span) => {
                    self.json.event(Event::ListEnd);
                    self.end(*span);
                }
            }
        }
    }

    fn statement<'t>(&mut self, statement: &'t Statement, pending: &mut Vec<Pending<'t>>) {
        match statement {
            Statement::Assignment(assignment) => self.assignment(assignment, pending),
            Statement::Order { names, span } => {
                self.begin("order");
                self.parts("names", names);
                self.end(*span);
            }
            Statement::Include { file, span, body } => {
                self.begin("include");
                self.text("file", self.unit.sources.name(*file));
                self.begin_list("statements");
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
        self.begin("assignment");
        if !tags.is_empty() {
            self.parts("tags", tags);
        }
        self.parts("target", target);
        self.json.event(Event::Key("value"));
        let start = span_of(target);
        match value {
            Value::Literal(cell, span) => {
                self.literal(*cell, *span);
                self.end(start.to(*span));
            }
            Value::Link(parts) => {
                self.begin("link");
                self.parts("parts", parts);
                self.end(span_of(parts));
                self.end(start.to(span_of(parts)));
            }
            Value::Expression(expression) => {
                self.expression(expression);
                self.end(start.to(expression.span()));
            }
            Value::Extends(extends) => {
                pending.push(Pending::End(start.to(whole(extends))));
                self.extends(extends, pending);
            }
        }
    }

    fn extends<'t>(&mut self, extends: &'t Extends, pending: &mut Vec<Pending<'t>>) {
        self.begin("extends");
        if let Some(modifier) = extends.modifier {
            self.text("modifier", modifier.text());
        }
        self.begin_list("prototypes");
        pending.push(Pending::EndList(whole(extends)));
        pending.push(Pending::Prototypes(extends.prototypes.iter()));
    }

    fn prototype<'t>(&mut self, prototype: &'t Prototype, pending: &mut Vec<Pending<'t>>) {
        match prototype {
            Prototype::Reference(parts) => {
                self.begin("reference");
                self.parts("parts", parts);
                self.end(span_of(parts));
            }
            Prototype::Body(body, span) => {
                self.begin("body");
                self.begin_list("statements");
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
impl<W: Write> TreePrinter<'_, W> {
    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Literal(cell, span) => return self.literal(*cell, *span),
            Expression::Component(extends) => {
                let mut pending = Vec::new();
                self.extends(extends, &mut pending);
                return self.print(pending);
            }
            Expression::Reference(reference) => self.reference(reference),
            Expression::Vector(elements, _) => {
                self.begin("vector");
                self.expressions("elements", elements);
            }
            Expression::Operation(operator, operands, _) => {
                self.begin("operation");
                self.text("operator", operator.text());
                self.expressions("operands", operands);
            }
            Expression::If(parts, _) => {
                self.begin("if");
                for (key, part) in ["condition", "then", "else"].iter().zip(parts.iter()) {
                    self.json.event(Event::Key(key));
                    self.expression(part);
                }
            }
            Expression::Switch(cases, _) => {
                self.begin("switch");
                self.begin_list("cases");
                for (condition, value) in cases {
                    self.json.event(Event::MapStart);
                    self.json.event(Event::Key("condition"));
                    self.expression(condition);
                    self.json.event(Event::Key("then"));
                    self.expression(value);
                    self.json.event(Event::MapEnd);
                }
                self.json.event(Event::ListEnd);
            }
            Expression::Call(keyword, body, _) => {
                self.begin("call");
                self.text("keyword", keyword.text());
                self.statements(body);
            }
            Expression::Lazy(inner, _) => {
                self.begin("lazy");
                self.json.event(Event::Key("expression"));
                self.expression(inner);
            }
            Expression::ToBeDefined(_) => self.begin("to-be-defined"),
        }
        self.end(expression.span());
    }

    fn expressions(&mut self, key: &str, expressions: &[Expression]) {
        self.begin_list(key);
        for expression in expressions {
            self.expression(expression);
        }
        self.json.event(Event::ListEnd);
    }

    fn reference(&mut self, reference: &Reference) {
        self.begin("reference");
        self.json.event(Event::Key("lazy"));
        self.json.event(Event::Bool(reference.lazy));
        self.json.event(Event::Key("optional"));
        self.json.event(Event::Bool(reference.optional.is_some()));
        if let Some(Some(default)) = reference.optional {
            self.json.event(Event::Key("default"));
            self.value(default);
        }
        self.parts("parts", &reference.parts);
    }

    fn literal(&mut self, cell: Cell, span: Span) {
        self.begin("literal");
        self.json.event(Event::Key("value"));
        self.value(cell);
        self.end(span);
    }

    fn value(&mut self, cell: Cell) {
        let unit = self.unit;
        unit.literals.send(&unit.sources, cell, &mut self.json);
    }

    fn parts(&mut self, key: &str, parts: &[Part]) {
        self.begin_list(key);
        for part in parts {
            let name = self.unit.symbols.name(&self.unit.sources, part.name);
            self.json.event(Event::MapStart);
            match part.kind {
                PartKind::Name => self.text("name", name),
                PartKind::Keyword(keyword) => {
                    self.text("keyword", keyword.text());
                    if name != keyword.text() {
                        self.text("name", name);
                    }
                }
            }
            self.end(part.span);
        }
        self.json.event(Event::ListEnd);
    }

    fn begin(&mut self, kind: &str) {
        self.json.event(Event::MapStart);
        self.text("kind", kind);
    }

    fn end(&mut self, span: Span) {
        self.json.event(Event::Key("span"));
        self.json.event(Event::MapStart);
        for (key, number) in self.places.of(span).entries() {
            self.json.event(Event::Key(key));
            self.json.event(Event::Integer(number.into()));
        }
        self.json.event(Event::MapEnd);
        self.json.event(Event::MapEnd);
    }

    fn begin_list(&mut self, key: &str) {
        self.json.event(Event::Key(key));
        self.json.event(Event::ListStart);
    }

    fn text(&mut self, key: &str, text: &str) {
        self.json.event(Event::Key(key));
        self.json.event(Event::Text(text));
    }
}
