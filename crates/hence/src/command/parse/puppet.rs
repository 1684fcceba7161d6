//! The syntax tree of Puppet. It nests as deep as the parser goes, which is not deep.

use std::io::Write;

use hence_model::source::{FileId, Span};
use hence_model::value::{Event, Sink};
use hence_puppet::syntax::{
    Attribute, AttributeKind, Block, Collector, Definition, DefinitionKind, Expression, Form, Kind,
    Lambda, NodeMatchKind, Parameter, Program, Query, Resource,
};

use super::nodes::Nodes;

/// Prints a tree.
pub fn print<W: Write>(nodes: &mut Nodes<'_, W>, file: FileId, program: &Program) {
    let mut printer = TreePrinter { nodes, program };
    printer.nodes.json.event(Event::MapStart);
    let name = printer.nodes.unit.sources.name(file);
    printer.nodes.text("file", name);
    printer.nodes.text("language", "puppet");
    printer.statements("statements", &program.body);
    printer.nodes.json.event(Event::MapEnd);
}

struct TreePrinter<'n, 'a, W: Write> {
    nodes: &'n mut Nodes<'a, W>,
    program: &'n Program,
}

impl<'n, W: Write> TreePrinter<'n, '_, W> {
    fn statements(&mut self, key: &str, block: &'n Block) {
        self.children(key, &block.statements);
    }

    fn child(&mut self, key: &str, expression: &'n Expression) {
        self.nodes.json.event(Event::Key(key));
        self.expression(expression);
    }

    fn children(&mut self, key: &str, expressions: impl IntoIterator<Item = &'n Expression>) {
        self.nodes.begin_list(key);
        for expression in expressions {
            self.expression(expression);
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn flag(&mut self, key: &str, holds: bool) {
        self.nodes.json.event(Event::Key(key));
        self.nodes.json.event(Event::Bool(holds));
    }

    /// Keys and values, as pairs under these names.
    fn pairs(&mut self, list: &str, names: [&str; 2], pairs: &'n [(Expression, Expression)]) {
        self.nodes.begin_list(list);
        for (key, value) in pairs {
            self.nodes.json.event(Event::MapStart);
            self.child(names[0], key);
            self.child(names[1], value);
            self.nodes.json.event(Event::MapEnd);
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn expression(&mut self, expression: &'n Expression) {
        match &expression.kind {
            Kind::Nothing => return self.definition_or_nothing(expression.span),
            Kind::Undef => self.nodes.begin("undef"),
            Kind::Default => self.nodes.begin("default"),
            Kind::Bool(value) => self.literal(Event::Bool(*value)),
            Kind::Integer(value) => self.literal(Event::Integer(*value)),
            Kind::Float(value) => self.literal(Event::Float(*value)),
            Kind::Text(value) | Kind::RenderText(value) => self.literal(Event::Text(value)),
            Kind::Name(name) => self.named("name", name),
            Kind::Reference(_) => {
                let written = self.nodes.unit.sources.slice(expression.span);
                self.named("type", written);
            }
            Kind::Reserved(name) => self.named("reserved", name),
            Kind::Variable(name) => self.named("variable", name),
            Kind::Pattern(pattern) => {
                self.nodes.begin("pattern");
                self.nodes.text("pattern", pattern.source());
            }
            Kind::Interpolated(parts) => {
                self.nodes.begin("interpolation");
                self.children("parts", parts);
            }
            Kind::Heredoc(text, syntax) => {
                self.nodes.begin("heredoc");
                if let Some(syntax) = syntax {
                    self.nodes.text("syntax", syntax);
                }
                self.child("text", text);
            }
            Kind::Array(elements) => {
                self.nodes.begin("array");
                self.children("elements", elements);
            }
            Kind::Hash(entries) => {
                self.nodes.begin("hash");
                self.pairs("entries", ["key", "value"], entries);
            }
            Kind::Parenthesised(inner) => {
                self.nodes.begin("parentheses");
                self.child("expression", inner);
            }
            Kind::Not(operand) => self.operation("!", [&**operand]),
            Kind::Minus(operand) => self.operation("-", [&**operand]),
            Kind::Splat(operand) => self.operation("*", [&**operand]),
            Kind::Binary(operator, operands) => self.operation(operator.text(), operands.iter()),
            Kind::Assign(sides) => {
                self.nodes.begin("assignment");
                self.child("target", &sides[0]);
                self.child("value", &sides[1]);
            }
            Kind::Access(of, keys) => {
                self.nodes.begin("access");
                self.child("of", of);
                self.children("keys", keys);
            }
            Kind::Call(call) => {
                self.nodes.begin("call");
                self.child("function", &call.function);
                self.flag("method", call.method);
                self.children("arguments", &call.arguments);
                if let Some(lambda) = &call.lambda {
                    self.nodes.json.event(Event::Key("lambda"));
                    self.lambda(lambda);
                }
            }
            Kind::If(conditional) => {
                let word = if conditional.unless { "unless" } else { "if" };
                self.nodes.begin(word);
                self.child("condition", &conditional.condition);
                self.statements("then", &conditional.then);
                if let Some(otherwise) = &conditional.otherwise {
                    self.statements("else", otherwise);
                }
            }
            Kind::Case(case) => {
                self.nodes.begin("case");
                self.child("of", &case.test);
                self.nodes.begin_list("options");
                for option in &case.options {
                    self.nodes.json.event(Event::MapStart);
                    self.children("values", &option.values);
                    self.statements("then", &option.body);
                    self.nodes.json.event(Event::MapEnd);
                }
                self.nodes.json.event(Event::ListEnd);
            }
            Kind::Selector(selector) => {
                self.nodes.begin("selector");
                self.child("of", &selector.test);
                self.pairs("options", ["value", "then"], &selector.options);
            }
            Kind::Resource(resource) => self.resource(resource),
            Kind::Defaults(defaults) => {
                self.nodes.begin("defaults");
                self.child("type", &defaults.target);
                self.attributes(&defaults.attributes);
            }
            Kind::Override(amendment) => {
                self.nodes.begin("override");
                self.child("of", &amendment.target);
                self.attributes(&amendment.attributes);
            }
            Kind::Collector(collector) => self.collector(collector),
            Kind::Relationship(arrow, sides) => {
                self.nodes.begin("relationship");
                self.nodes.text("operator", arrow.text());
                self.children("operands", &sides[..]);
            }
            Kind::Render(value) => {
                self.nodes.begin("render");
                self.child("value", value);
            }
            Kind::Block(block) => {
                self.nodes.begin("block");
                self.statements("statements", block);
            }
        }
        self.nodes.end(expression.span);
    }

    fn literal(&mut self, value: Event<'_>) {
        self.nodes.begin("literal");
        self.nodes.json.event(Event::Key("value"));
        self.nodes.json.event(value);
    }

    fn named(&mut self, kind: &str, name: &str) {
        self.nodes.begin(kind);
        self.nodes.text("name", name);
    }

    fn operation(&mut self, operator: &str, operands: impl IntoIterator<Item = &'n Expression>) {
        self.nodes.begin("operation");
        self.nodes.text("operator", operator);
        self.children("operands", operands);
    }

    /// A definition, in the place where it is written.
    fn definition_or_nothing(&mut self, span: Span) {
        let definitions = &self.program.definitions;
        let found = definitions.binary_search_by_key(&span.start, |one| one.span.start);
        match found {
            Ok(at) if definitions[at].span == span => self.definition(&definitions[at]),
            _ => {
                self.nodes.begin("nothing");
                self.nodes.end(span);
            }
        }
    }

    fn definition(&mut self, definition: &'n Definition) {
        let kind = match definition.kind {
            DefinitionKind::Class { .. } => "class",
            DefinitionKind::Define => "define",
            DefinitionKind::Node { .. } => "node",
            DefinitionKind::Function { .. } => "function",
            DefinitionKind::Alias { .. } => "type-alias",
        };
        self.nodes.begin(kind);
        match &definition.kind {
            DefinitionKind::Node { matches } => {
                self.nodes.begin_list("matches");
                for one in matches {
                    match &one.kind {
                        NodeMatchKind::Name(name) => self.literal(Event::Text(name)),
                        NodeMatchKind::Pattern(pattern) => {
                            self.nodes.begin("pattern");
                            self.nodes.text("pattern", pattern.source());
                        }
                        NodeMatchKind::Default => self.nodes.begin("default"),
                    }
                    self.nodes.end(one.span);
                }
                self.nodes.json.event(Event::ListEnd);
            }
            DefinitionKind::Alias { kind } => {
                self.nodes.text("name", &definition.name);
                self.child("type", kind);
                return self.nodes.end(definition.span);
            }
            DefinitionKind::Class { parent } => {
                self.nodes.text("name", &definition.name);
                if let Some((parent, _)) = parent {
                    self.nodes.text("inherits", parent);
                }
                self.parameters(&definition.parameters);
            }
            DefinitionKind::Define => {
                self.nodes.text("name", &definition.name);
                self.parameters(&definition.parameters);
            }
            DefinitionKind::Function { returns } => {
                self.nodes.text("name", &definition.name);
                self.parameters(&definition.parameters);
                if let Some(returns) = returns {
                    self.child("returns", returns);
                }
            }
        }
        self.statements("statements", &definition.body);
        self.nodes.end(definition.span);
    }

    fn parameters(&mut self, parameters: &'n [Parameter]) {
        self.nodes.begin_list("parameters");
        for parameter in parameters {
            self.named("parameter", &parameter.name);
            if let Some(kind) = &parameter.kind {
                self.child("type", kind);
            }
            if let Some(default) = &parameter.default {
                self.child("default", default);
            }
            self.flag("rest", parameter.rest);
            self.nodes.end(parameter.span);
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn lambda(&mut self, lambda: &'n Lambda) {
        self.nodes.begin("lambda");
        self.parameters(&lambda.parameters);
        if let Some(returns) = &lambda.returns {
            self.child("returns", returns);
        }
        self.statements("statements", &lambda.body);
        self.nodes.end(lambda.span);
    }

    fn resource(&mut self, resource: &'n Resource) {
        self.nodes.begin("resources");
        let form = match resource.form {
            Form::Regular => "regular",
            Form::Virtual => "virtual",
            Form::Exported => "exported",
        };
        self.nodes.text("form", form);
        self.child("type", &resource.kind);
        self.nodes.begin_list("bodies");
        for body in &resource.bodies {
            self.nodes.json.event(Event::MapStart);
            self.child("title", &body.title);
            self.attributes(&body.attributes);
            self.nodes.end(body.span);
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn attributes(&mut self, attributes: &'n [Attribute]) {
        self.nodes.begin_list("attributes");
        for attribute in attributes {
            let (name, operator) = match &attribute.kind {
                AttributeKind::Set(name) => (name.as_str(), "=>"),
                AttributeKind::Add(name) => (name.as_str(), "+>"),
                AttributeKind::Splat => ("*", "=>"),
            };
            self.named("attribute", name);
            self.nodes.text("operator", operator);
            self.child("value", &attribute.value);
            self.nodes.end(attribute.span);
        }
        self.nodes.json.event(Event::ListEnd);
    }

    fn collector(&mut self, collector: &'n Collector) {
        self.nodes.begin("collector");
        self.child("type", &collector.kind);
        self.flag("exported", collector.exported);
        if let Some(query) = &collector.query {
            self.nodes.json.event(Event::Key("query"));
            self.query(query);
        }
        self.attributes(&collector.attributes);
    }

    fn query(&mut self, query: &'n Query) {
        match query {
            Query::Test {
                attribute,
                differs,
                value,
                span,
            } => {
                self.named("test", attribute);
                let operator = if *differs { "!=" } else { "==" };
                self.nodes.text("operator", operator);
                self.child("value", value);
                self.nodes.end(*span);
            }
            Query::And(both) => self.queries("and", both),
            Query::Or(both) => self.queries("or", both),
        }
    }

    fn queries(&mut self, operator: &str, both: &'n [Query; 2]) {
        self.nodes.begin("operation");
        self.nodes.text("operator", operator);
        self.nodes.begin_list("operands");
        both.iter().for_each(|one| self.query(one));
        self.nodes.json.event(Event::ListEnd);
        let span = stretch(&both[0]).to(stretch(&both[1]));
        self.nodes.end(span);
    }
}

/// From the first test of a query to its last.
fn stretch(query: &Query) -> Span {
    match query {
        Query::Test { span, .. } => *span,
        Query::And(both) | Query::Or(both) => stretch(&both[0]).to(stretch(&both[1])),
    }
}
