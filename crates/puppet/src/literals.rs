//! The literals of manifests, and the files that they read, by the offsets at which they begin.

use hence_model::source::Span;

use crate::syntax::{
    Block, Definition, DefinitionKind, Expression, Kind, NodeMatchKind, Parameter, Part, Program,
};

/// The literals of some programs, and whole files, sorted.
#[derive(Debug, Default)]
pub(crate) struct Literals(Vec<Span>);

impl Literals {
    /// All literals of programs, and files.
    pub(crate) fn of<'p>(programs: impl Iterator<Item = &'p Program>, files: &[Span]) -> Self {
        let mut literals = Literals(files.to_vec());
        for program in programs {
            literals.parameters(program.parameters.as_deref().unwrap_or(&[]));
            literals.block(&program.body);
            program
                .definitions
                .iter()
                .for_each(|definition| literals.definition(definition));
        }
        literals.0.sort();
        // A definition inside another is seen twice, and a file is read as often as it is named.
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
        let statements = block.statements.iter();
        statements.for_each(|statement| self.expression(statement));
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
            | Kind::RenderText(_) => return self.0.push(at.span),
            // A number with its sign is one literal.
            Kind::Minus(inner) if matches!(inner.kind, Kind::Integer(_) | Kind::Float(_)) => {
                return self.0.push(at.span);
            }
            _ => {}
        }
        let name = match &at.kind {
            Kind::Call(call) => Some(&call.function),
            Kind::Resource(resource) => Some(&resource.kind),
            _ => None,
        };
        let is_name = |part: &Expression| {
            name.is_some_and(|name| std::ptr::eq(name, part)) && matches!(part.kind, Kind::Name(_))
        };
        at.parts(&mut |part| match part {
            Part::Expression(inner) if is_name(inner) => {}
            Part::Expression(inner) => self.expression(inner),
            Part::Lambda(lambda) => {
                self.parameters(&lambda.parameters);
                self.block(&lambda.body);
            }
        });
    }
}
