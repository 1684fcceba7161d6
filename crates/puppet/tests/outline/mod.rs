//! The syntax of a program as one line of text, as `agreement/parser.rb` writes the real one's.

use std::fmt::Write;

use hence_puppet::syntax::*;

/// The outline of a program.
pub fn outline(program: &Program) -> String {
    let mut out = Outline(String::new());
    if let Some(parameters) = &program.parameters {
        out.parameters(parameters);
    }
    out.block(&program.body);
    for definition in &program.definitions {
        out.definition(definition);
    }
    out.0.trim_start().to_owned()
}

struct Outline(String);

impl Outline {
    fn word(&mut self, word: &str) {
        self.0.push(' ');
        self.0.push_str(word);
    }

    fn open(&mut self, word: &str) {
        self.0.push_str(" (");
        self.0.push_str(word);
    }

    fn close(&mut self) {
        self.0.push(')');
    }

    fn text(&mut self, text: &str) {
        self.0.push_str(" \"");
        for character in text.chars() {
            match character {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                '\0'..='\x1f' => {
                    let _ = write!(self.0, "\\x{:02x}", character as u32);
                }
                character => self.0.push(character),
            }
        }
        self.0.push('"');
    }

    fn block(&mut self, block: &Block) {
        self.open("do");
        self.all(&block.statements);
        self.close();
    }

    fn all(&mut self, expressions: &[Expression]) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    fn node(&mut self, word: &str, inner: &[&Expression]) {
        self.open(word);
        for expression in inner {
            self.expression(expression);
        }
        self.close();
    }

    fn named(&mut self, word: &str, name: &str) {
        self.open(word);
        self.text(name);
        self.close();
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            Kind::Nothing => self.word("nothing"),
            Kind::Undef => self.word("undef"),
            Kind::Default => self.word("default"),
            Kind::Bool(value) => self.word(&value.to_string()),
            Kind::Integer(value) => self.word(&value.to_string()),
            Kind::Float(value) => self.word(&format!("(float {})", value.to_bits())),
            Kind::Text(text) => self.text(text),
            Kind::Name(name) => self.named("name", name),
            Kind::Reference(name) => self.named("reference", name),
            Kind::Reserved(word) => self.named("reserved", word),
            Kind::Pattern(pattern) => self.named("pattern", pattern.source()),
            Kind::Variable(name) => self.named("variable", name),
            Kind::Interpolated(pieces) => {
                self.open("interpolated");
                self.all(pieces);
                self.close();
            }
            Kind::Heredoc(text, syntax) => {
                self.open("heredoc");
                self.text(syntax.as_deref().unwrap_or(""));
                self.expression(text);
                self.close();
            }
            Kind::Array(elements) => {
                self.open("array");
                self.all(elements);
                self.close();
            }
            Kind::Hash(pairs) => {
                self.open("hash");
                for (key, value) in pairs {
                    self.node("", &[key, value]);
                }
                self.close();
            }
            Kind::Parenthesised(inner) => self.node("paren", &[inner]),
            Kind::Not(inner) => self.node("not", &[inner]),
            Kind::Minus(inner) => self.node("minus", &[inner]),
            Kind::Splat(inner) => self.node("splat", &[inner]),
            Kind::Binary(operator, sides) => {
                self.node(operator.text(), &[&sides[0], &sides[1]]);
            }
            Kind::Assign(sides) => self.node("=", &[&sides[0], &sides[1]]),
            Kind::Relationship(arrow, sides) => {
                self.node(arrow.text(), &[&sides[0], &sides[1]]);
            }
            Kind::Access(of, keys) => {
                self.open("access");
                self.expression(of);
                self.all(keys);
                self.close();
            }
            Kind::Call(call) => {
                self.open(if call.method { "method" } else { "call" });
                self.expression(&call.function);
                self.all(&call.arguments);
                if let Some(lambda) = &call.lambda {
                    self.open("lambda");
                    self.parameters(&lambda.parameters);
                    self.returns(&lambda.returns);
                    self.block(&lambda.body);
                    self.close();
                }
                self.close();
            }
            Kind::If(choice) => {
                self.open(if choice.unless { "unless" } else { "if" });
                self.expression(&choice.condition);
                self.block(&choice.then);
                if let Some(otherwise) = &choice.otherwise
                    && !otherwise.statements.is_empty()
                {
                    self.block(otherwise);
                }
                self.close();
            }
            Kind::Case(case) => {
                self.open("case");
                self.expression(&case.test);
                for option in &case.options {
                    self.open("when");
                    self.all(&option.values);
                    self.block(&option.body);
                    self.close();
                }
                self.close();
            }
            Kind::Selector(selector) => {
                self.open("select");
                self.expression(&selector.test);
                for (value, result) in &selector.options {
                    self.node("", &[value, result]);
                }
                self.close();
            }
            Kind::Resource(resource) => {
                self.open("resource");
                self.word(match resource.form {
                    Form::Regular => "regular",
                    Form::Virtual => "virtual",
                    Form::Exported => "exported",
                });
                self.expression(&resource.kind);
                for body in &resource.bodies {
                    self.open("body");
                    self.expression(&body.title);
                    self.attributes(&body.attributes);
                    self.close();
                }
                self.close();
            }
            Kind::Defaults(amendment) => self.amendment("defaults", amendment),
            Kind::Override(amendment) => self.amendment("override", amendment),
            Kind::Collector(collector) => {
                self.open(if collector.exported {
                    "collect-exported"
                } else {
                    "collect"
                });
                self.expression(&collector.kind);
                if let Some(query) = &collector.query {
                    self.query(query);
                }
                self.attributes(&collector.attributes);
                self.close();
            }
            Kind::RenderText(text) if text.is_empty() => {}
            Kind::RenderText(text) => self.named("render-text", text),
            Kind::Render(inner) => self.node("render", &[inner]),
            Kind::Block(block) => match block.statements.as_slice() {
                [one] => self.expression(one),
                _ => self.block(block),
            },
        }
    }

    fn amendment(&mut self, word: &str, amendment: &Amendment) {
        self.open(word);
        self.expression(&amendment.target);
        self.attributes(&amendment.attributes);
        self.close();
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            match &attribute.kind {
                AttributeKind::Set(name) => {
                    self.open("set");
                    self.text(name);
                }
                AttributeKind::Add(name) => {
                    self.open("add");
                    self.text(name);
                }
                AttributeKind::Splat => self.open("all"),
            }
            self.expression(&attribute.value);
            self.close();
        }
    }

    fn query(&mut self, query: &Query) {
        match query {
            Query::Test {
                attribute,
                differs,
                value,
                ..
            } => {
                self.open(if *differs { "test!=" } else { "test==" });
                self.text(attribute);
                self.expression(value);
                self.close();
            }
            Query::And(both) => self.queries("and", both),
            Query::Or(both) => self.queries("or", both),
        }
    }

    fn queries(&mut self, word: &str, both: &[Query; 2]) {
        self.open(word);
        for query in both {
            self.query(query);
        }
        self.close();
    }

    fn returns(&mut self, returns: &Option<Expression>) {
        if let Some(returns) = returns {
            self.node("returns", &[returns]);
        }
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        self.open("parameters");
        for parameter in parameters {
            self.open(if parameter.rest { "rest" } else { "parameter" });
            self.text(&parameter.name);
            if let Some(kind) = &parameter.kind {
                self.node("type", &[kind]);
            }
            if let Some(default) = &parameter.default {
                self.node("default", &[default]);
            }
            self.close();
        }
        self.close();
    }

    fn definition(&mut self, definition: &Definition) {
        match &definition.kind {
            DefinitionKind::Class { parent } => {
                self.open("class");
                self.text(&definition.name);
                if let Some((parent, _)) = parent {
                    self.named("inherits", parent);
                }
                self.parameters(&definition.parameters);
                self.block(&definition.body);
            }
            DefinitionKind::Define => {
                self.open("define");
                self.text(&definition.name);
                self.parameters(&definition.parameters);
                self.block(&definition.body);
            }
            DefinitionKind::Node { matches } => {
                self.open("node");
                for one in matches {
                    match &one.kind {
                        NodeMatchKind::Name(name) => self.text(name),
                        NodeMatchKind::Pattern(pattern) => self.named("pattern", pattern.source()),
                        NodeMatchKind::Default => self.word("default"),
                    }
                }
                self.block(&definition.body);
            }
            DefinitionKind::Function { returns } => {
                self.open("function");
                self.text(&definition.name);
                self.parameters(&definition.parameters);
                self.returns(returns);
                self.block(&definition.body);
            }
            DefinitionKind::Alias { kind } => {
                self.open("alias");
                self.text(&definition.name);
                self.expression(kind);
            }
        }
        self.close();
    }
}
