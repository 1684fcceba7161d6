//! What stands in a place of a manifest that is no literal: what somebody means who points at it.
//!
//! A name stands for what it names or calls, and what holds others together, as an operator or a bracket does, for
//! all that it does.

use hence_model::source::Span;

use crate::syntax::{
    Attribute, Block, Definition, DefinitionKind, Expression, Kind, Lambda, Parameter, Part,
    Program,
};

/// What stands in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Where that is.
    pub(crate) span: Span,
    /// What it is.
    pub(crate) form: Form,
}

/// What can stand in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A value, in whose place another could stand.
    Value,
    /// What holds values together.
    Joint,
}

/// What stands at an offset of a manifest; nothing does in blanks and in comments.
pub(crate) fn at(program: &Program, text: &str, offset: u32) -> Option<Standing> {
    if text[offset as usize..].starts_with(char::is_whitespace) {
        return None;
    }
    let mut finder = Finder {
        offset,
        found: None,
        before: 0,
    };
    finder.parameters(program.parameters.as_deref().unwrap_or(&[]));
    finder.block(&program.body);
    let definitions = program.definitions.iter();
    definitions.for_each(|definition| finder.definition(definition));
    let found = finder.found?;
    let (before, here) = text.split_at(offset as usize);
    let skipped = &before[finder.before.max(found.span.start) as usize..];
    let line = skipped.rsplit('\n').next().unwrap_or(skipped);
    let is_comment = here.starts_with('#')
        || here.starts_with("/*")
        || line.contains('#')
        || skipped.rfind("/*") > skipped.rfind("*/");
    (!is_comment).then_some(found)
}

struct Finder {
    offset: u32,
    /// The smallest so far that is around the offset.
    found: Option<Standing>,
    /// Where the last one ends that is before it.
    before: u32,
}

impl Finder {
    fn meet(&mut self, span: Span, form: Form) {
        let length = |span: Span| span.end - span.start;
        if span.end <= self.offset {
            self.before = self.before.max(span.end);
        } else if span.contains(self.offset)
            && self
                .found
                .is_none_or(|found| length(span) <= length(found.span))
        {
            self.found = Some(Standing { span, form });
        }
    }

    fn definition(&mut self, definition: &Definition) {
        self.meet(definition.span, Form::Joint);
        self.parameters(&definition.parameters);
        self.block(&definition.body);
        match &definition.kind {
            DefinitionKind::Alias { kind } => self.expression(kind),
            DefinitionKind::Function {
                returns: Some(returns),
            } => self.expression(returns),
            _ => {}
        }
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            let (kind, default) = (parameter.kind.iter(), parameter.default.iter());
            let begins = kind
                .clone()
                .fold(parameter.span, |name, kind| kind.span.to(name));
            let whole = default
                .clone()
                .fold(begins, |name, value| name.to(value.span));
            self.meet(whole, Form::Joint);
            kind.chain(default).for_each(|part| self.expression(part));
        }
    }

    fn block(&mut self, block: &Block) {
        let statements = block.statements.iter();
        statements.for_each(|statement| self.expression(statement));
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.meet(lambda.span, Form::Joint);
        self.parameters(&lambda.parameters);
        self.block(&lambda.body);
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        let attributes = attributes.iter();
        attributes.for_each(|attribute| self.meet(attribute.span, Form::Joint));
    }

    fn expression(&mut self, at: &Expression) {
        let form = match &at.kind {
            // In its place is a definition, which is met as one.
            Kind::Nothing => return,
            Kind::Array(_) if at.span.start == self.offset => Form::Value,
            Kind::Variable(_) | Kind::Reference(_) | Kind::Interpolated(_) => Form::Value,
            _ => Form::Joint,
        };
        self.meet(at.span, form);
        // What a name stands for that is no value by itself.
        let named = match &at.kind {
            Kind::Assign(sides) => Some(&sides[0]),
            Kind::Access(of, _) => Some(&**of).filter(|of| matches!(of.kind, Kind::Reference(_))),
            Kind::Call(call) => Some(&call.function),
            Kind::Resource(resource) => {
                for body in &resource.bodies {
                    self.meet(body.span, Form::Joint);
                    self.attributes(&body.attributes);
                }
                Some(&resource.kind)
            }
            Kind::Defaults(amendment) | Kind::Override(amendment) => {
                self.attributes(&amendment.attributes);
                Some(&amendment.target)
            }
            Kind::Collector(collector) => {
                self.attributes(&collector.attributes);
                None
            }
            Kind::Case(case) => {
                for option in &case.options {
                    if let Some(first) = option.values.first() {
                        self.meet(first.span.to(option.body.span), Form::Joint);
                    }
                }
                None
            }
            Kind::Selector(selector) => {
                for (option, value) in &selector.options {
                    self.meet(option.span.to(value.span), Form::Joint);
                }
                None
            }
            _ => None,
        };
        let is_name = |part: &Expression| named.is_some_and(|named| std::ptr::eq(named, part));
        at.parts(&mut |part| match part {
            Part::Expression(inner)
                if is_name(inner) && !matches!(inner.kind, Kind::Access(..) | Kind::Array(_)) => {}
            Part::Expression(inner) => self.expression(inner),
            Part::Lambda(lambda) => self.lambda(lambda),
        });
    }
}
