//! The syntax tree of CF2. It nests as deep as the parser goes.

use std::io::Write;

use hence_cf2::syntax::{
    BodyId, Definition, ExpressionId, Expressions, Kind, Mutation, Statement, Tree,
};
use hence_model::source::{FileId, Span};
use hence_model::symbol::Symbol;
use hence_model::value::{Event, Sink};

use super::nodes::Nodes;

/// Prints a tree.
pub fn print<W: Write>(nodes: &mut Nodes<'_, W>, file: FileId, tree: &Tree, body: BodyId) {
    let mut printer = TreePrinter { nodes, tree };
    printer.nodes.json.event(Event::MapStart);
    let name = printer.nodes.unit.sources.name(file);
    printer.nodes.text("file", name);
    printer.nodes.text("language", "cf2");
    printer.macros();
    printer.statements(body);
    printer.nodes.json.event(Event::MapEnd);
}

struct TreePrinter<'n, 'a, W: Write> {
    nodes: &'n mut Nodes<'a, W>,
    tree: &'n Tree,
}

impl<W: Write> TreePrinter<'_, '_, W> {
    fn name(&self, symbol: Symbol) -> &str {
        let unit = self.nodes.unit;
        unit.symbols.name(&unit.sources, symbol)
    }

    fn macros(&mut self) {
        self.nodes.begin_list("macros");
        for number in self.tree.macros() {
            let definition = self.tree.macro_(number).clone();
            self.nodes.begin("macro");
            let name = self.nodes.unit.sources.slice(definition.span);
            self.nodes.text("name", name);
            self.names("parameters", &definition.names);
            self.child("value", definition.value);
            let end = self.tree.expression(definition.value).span;
            self.nodes.end(definition.span.to(end));
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn names(&mut self, key: &str, names: &[Symbol]) {
        self.nodes.begin_list(key);
        for &name in names {
            let name = self.name(name).to_owned();
            self.nodes.json.event(Event::Text(&name));
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn statements(&mut self, body: BodyId) {
        self.nodes.begin_list("statements");
        for id in self.tree.body(body).statements() {
            match self.tree.statement(id) {
                Statement::Define(definition) => self.resource(definition),
                Statement::Inline(value) => {
                    self.nodes.begin("inline");
                    self.child("value", value);
                    self.nodes.end(self.tree.expression(value).span);
                }
            }
        }
        self.nodes.json.event(Event::ListEnd);
    }

    /// A resource, with all names of an implicit block: `A.B => 1`.
    fn resource(&mut self, definition: Definition) {
        self.nodes.begin("resource");
        let mut names = vec![definition.name];
        let mut inner = definition;
        while let Kind::Block(body) = self.tree.expression(inner.value).kind
            && self.tree.body(body).implicit
        {
            let mut statements = self.tree.body(body).statements();
            let only = statements.next().expect("an implicit block has one");
            inner = self.tree.definition(only);
            names.push(inner.name);
        }
        self.names("name", &names);
        self.nodes.json.event(Event::Key("private"));
        self.nodes.json.event(Event::Bool(definition.private));
        self.nodes.begin_list("mutations");
        let value = self.tree.expression(inner.value);
        let links = match value.kind {
            Kind::Chain(links) => self.tree.chain(links).to_vec(),
            _ => vec![(inner.operator, inner.value)],
        };
        for (operator, value) in links {
            self.nodes.json.event(Event::MapStart);
            let operator = match operator {
                Mutation::Assign => "=>".to_owned(),
                Mutation::Merge => "~>".to_owned(),
                Mutation::Function(name) => format!("~({})>", self.name(name)),
            };
            self.nodes.text("operator", &operator);
            self.child("value", value);
            self.nodes.json.event(Event::MapEnd);
        }
        self.nodes.json.event(Event::ListEnd);
        self.nodes.end(Span::new(definition.at, value.span.end));
    }

    fn child(&mut self, key: &str, id: ExpressionId) {
        self.nodes.json.event(Event::Key(key));
        self.expression(id);
    }

    fn children(&mut self, key: &str, list: Expressions) {
        self.nodes.begin_list(key);
        for &id in self.tree.list(list) {
            self.expression(id);
        }
        self.nodes.json.event(Event::ListEnd);
    }

    /// A chain of operators may be as long as a file: its nodes wait for their ends in a list.
    fn expression(&mut self, id: ExpressionId) {
        let mut waiting = Vec::new();
        let mut next = id;
        loop {
            let expression = self.tree.expression(next);
            let (rest, first) = match expression.kind {
                Kind::Binary(operator, left, right) => {
                    self.operation(operator.text());
                    (Rest::Operand(right), left)
                }
                Kind::Negate(operand) => {
                    self.operation("-");
                    (Rest::Nothing, operand)
                }
                Kind::Not(operand) => {
                    self.operation("!");
                    (Rest::Nothing, operand)
                }
                Kind::Select(of, by) => {
                    self.nodes.begin("selection");
                    self.nodes.json.event(Event::Key("of"));
                    (Rest::Selector(by), of)
                }
                _ => break,
            };
            waiting.push((rest, expression.span));
            next = first;
        }
        self.other_expression(next);
        for (rest, span) in waiting.into_iter().rev() {
            match rest {
                Rest::Operand(right) => {
                    self.expression(right);
                    self.nodes.json.event(Event::ListEnd);
                }
                Rest::Nothing => self.nodes.json.event(Event::ListEnd),
                Rest::Selector(by) => self.child("by", by),
            }
            self.nodes.end(span);
        }
    }

    fn operation(&mut self, operator: &str) {
        self.nodes.begin("operation");
        self.nodes.text("operator", operator);
        self.nodes.begin_list("operands");
    }

    fn other_expression(&mut self, id: ExpressionId) {
        let expression = self.tree.expression(id);
        match expression.kind {
            Kind::Literal(cell) | Kind::Secret(cell) => {
                return self.nodes.literal(cell, expression.span);
            }
            Kind::Undefined => self.nodes.begin("undefined"),
            Kind::List(list) => {
                self.nodes.begin("list");
                self.children("elements", list);
            }
            Kind::Block(body) => {
                self.nodes.begin("block");
                self.statements(body);
            }
            Kind::Reference(name) => {
                self.nodes.begin("reference");
                let name = self.name(name).to_owned();
                self.nodes.text("name", &name);
            }
            Kind::Parameter(_) => {
                self.nodes.begin("parameter");
                let text = self.nodes.unit.sources.slice(expression.span);
                self.nodes.text("name", text.trim_start_matches('$'));
            }
            Kind::If(condition, then, otherwise) => {
                self.nodes.begin("if");
                self.child("condition", condition);
                self.child("then", then);
                if let Some(otherwise) = otherwise {
                    self.child("else", otherwise.expression());
                }
            }
            Kind::Import(file, signers) => {
                self.nodes.begin("import");
                self.child("file", file);
                if let Some(signers) = signers {
                    self.child("signers", signers.expression());
                }
            }
            Kind::Call(function, arguments) => {
                self.nodes.begin("call");
                let name = self.name(function).to_owned();
                self.nodes.text("function", &name);
                self.children("arguments", arguments);
            }
            Kind::Macro(number, arguments) => {
                self.nodes.begin("call");
                let name = self.nodes.unit.sources.slice(self.tree.macro_(number).span);
                self.nodes.text("macro", name);
                self.children("arguments", arguments);
            }
            Kind::Chain(_) => unreachable!("a chain is part of a resource"),
            Kind::Binary(..) | Kind::Negate(_) | Kind::Not(_) | Kind::Select(..) => {
                unreachable!("operators were taken apart")
            }
        }
        self.nodes.end(expression.span);
    }
}

/// What is still to be printed of an operator.
enum Rest {
    Operand(ExpressionId),
    Selector(ExpressionId),
    Nothing,
}
