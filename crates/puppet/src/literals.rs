//! The literals of manifests, by the offsets at which they begin.

use hence_model::source::Span;

use crate::syntax::{
    Attribute, Block, Definition, DefinitionKind, Expression, Kind, NodeMatchKind, Parameter,
    Program, Query,
};

/// The literals of some programs, sorted.
#[derive(Debug, Default)]
pub(crate) struct Literals(Vec<Span>);

impl Literals {
    /// All literals of programs.
    pub(crate) fn of<'p>(programs: impl Iterator<Item = &'p Program>) -> Self {
        let mut literals = Literals::default();
        for program in programs {
            literals.parameters(program.parameters.as_deref().unwrap_or(&[]));
            literals.block(&program.body);
            program
                .definitions
                .iter()
                .for_each(|definition| literals.definition(definition));
        }
        literals.0.sort();
        // A definition inside another is seen twice.
        literals.0.dedup();
        literals
    }

    /// The literal that begins at an offset.
    pub(crate) fn at(&self, offset: u32) -> Option<Span> {
        let found = self.0.binary_search_by_key(&offset, |span| span.start);
        found.ok().map(|at| self.0[at])
    }

    /// The literals in a stretch, or around a place.
    pub(crate) fn within(&self, stretch: Span) -> impl Iterator<Item = Span> + '_ {
        let touches = move |span: &&Span| {
            span.start < stretch.end.max(stretch.start + 1) && span.end > stretch.start
        };
        self.0.iter().filter(touches).copied()
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        self.0.iter().copied()
    }

    fn definition(&mut self, definition: &Definition) {
        self.parameters(&definition.parameters);
        self.block(&definition.body);
        match &definition.kind {
            DefinitionKind::Node { matches } => {
                let names = matches
                    .iter()
                    .filter(|one| !matches!(one.kind, NodeMatchKind::Default));
                self.0.extend(names.map(|one| one.span));
            }
            DefinitionKind::Alias { kind } => self.expression(kind),
            DefinitionKind::Function {
                returns: Some(returns),
            } => self.expression(returns),
            _ => {}
        }
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            parameter.kind.iter().for_each(|kind| self.expression(kind));
            parameter
                .default
                .iter()
                .for_each(|default| self.expression(default));
        }
    }

    fn block(&mut self, block: &Block) {
        self.all(&block.statements);
    }

    fn all(&mut self, expressions: &[Expression]) {
        expressions
            .iter()
            .for_each(|expression| self.expression(expression));
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        attributes
            .iter()
            .for_each(|attribute| self.expression(&attribute.value));
    }

    fn query(&mut self, query: &Query) {
        match query {
            Query::Test { value, .. } => self.expression(value),
            Query::And(both) | Query::Or(both) => both.iter().for_each(|query| self.query(query)),
        }
    }

    fn expression(&mut self, at: &Expression) {
        match &at.kind {
            Kind::Undef
            | Kind::Default
            | Kind::Bool(_)
            | Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Name(_)
            | Kind::Pattern(_)
            | Kind::RenderText(_) => self.0.push(at.span),
            Kind::Nothing | Kind::Reference(_) | Kind::Reserved(_) | Kind::Variable(_) => {}
            Kind::Minus(inner) if matches!(inner.kind, Kind::Integer(_) | Kind::Float(_)) => {
                self.0.push(at.span);
            }
            Kind::Interpolated(inner) | Kind::Array(inner) => self.all(inner),
            Kind::Heredoc(inner, _)
            | Kind::Parenthesised(inner)
            | Kind::Not(inner)
            | Kind::Minus(inner)
            | Kind::Splat(inner)
            | Kind::Render(inner) => self.expression(inner),
            Kind::Hash(entries) => {
                for (key, value) in entries {
                    self.expression(key);
                    self.expression(value);
                }
            }
            Kind::Binary(_, both) => self.all(&both[..]),
            Kind::Assign(both) => self.expression(&both[1]),
            Kind::Access(of, keys) => {
                self.expression(of);
                self.all(keys);
            }
            Kind::Call(call) => {
                if !matches!(call.function.kind, Kind::Name(_)) {
                    self.expression(&call.function);
                }
                self.all(&call.arguments);
                if let Some(lambda) = &call.lambda {
                    self.parameters(&lambda.parameters);
                    self.block(&lambda.body);
                }
            }
            Kind::If(conditional) => {
                self.expression(&conditional.condition);
                self.block(&conditional.then);
                conditional
                    .otherwise
                    .iter()
                    .for_each(|block| self.block(block));
            }
            Kind::Case(case) => {
                self.expression(&case.test);
                for option in &case.options {
                    self.all(&option.values);
                    self.block(&option.body);
                }
            }
            Kind::Selector(selector) => {
                self.expression(&selector.test);
                for (option, value) in &selector.options {
                    self.expression(option);
                    self.expression(value);
                }
            }
            Kind::Resource(resource) => {
                if !matches!(resource.kind.kind, Kind::Name(_)) {
                    self.expression(&resource.kind);
                }
                for body in &resource.bodies {
                    self.expression(&body.title);
                    self.attributes(&body.attributes);
                }
            }
            Kind::Defaults(amendment) | Kind::Override(amendment) => {
                self.expression(&amendment.target);
                self.attributes(&amendment.attributes);
            }
            Kind::Collector(collector) => {
                collector.query.iter().for_each(|query| self.query(query));
                self.attributes(&collector.attributes);
            }
            Kind::Relationship(_, sides) => self.all(&sides[..]),
            Kind::Block(block) => self.block(block),
        }
    }
}
