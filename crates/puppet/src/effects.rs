//! What code that did not run could have said.
//!
//! A value may be what it is because something was *not* done (§5.3.1.2 of the thesis). So code that was passed
//! by is summed up from its text: the variables it assigns, and the attributes, defaults, classes and resources it
//! could touch, by name or by kind. Classes, defined types and functions that it names are followed.

use ecow::EcoString;
use rustc_hash::FxHashSet;

use crate::evaluate::{Evaluator, Known, could_take};
use crate::syntax::{
    Attribute, AttributeKind, Block, Call, Definition, Expression, Kind, Lambda, Query, Resource,
};
use crate::trace::Code;

/// What some code could do, if it ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// The variables it assigns in its own scope.
    variables: FxHashSet<EcoString>,
    /// The defaults it sets in its own scope, by type and attribute; no attribute means any.
    defaults: FxHashSet<(EcoString, Option<EcoString>)>,
    touched: FxHashSet<Effect>,
}

/// Something that code can do to the catalog. Types are in lower case; no name means any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Effect {
    /// Declares a resource of a type.
    Declares(Option<EcoString>),
    /// Declares a class.
    Includes(Option<EcoString>),
    /// Sets an attribute of resources that are declared elsewhere.
    Sets(Option<EcoString>, Option<EcoString>),
    /// Declares a class, and may give it parameters.
    Gives(Option<EcoString>),
    /// Realises virtual resources.
    Realises(Option<EcoString>),
    /// Connects resources.
    Relates,
    /// Tags what it runs in.
    Tags,
    /// Takes elements out of an iterator.
    Takes,
}

impl Effects {
    /// Whether it could do nothing, but take elements out of iterators.
    pub(crate) fn are_none(&self) -> bool {
        let mut touched = self.touched.iter();
        self.variables.is_empty()
            && self.defaults.is_empty()
            && touched.all(|effect| *effect == Effect::Takes)
    }

    /// Whether a variable would be assigned.
    pub(crate) fn assigns(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// Whether a default would be set.
    pub(crate) fn defaults(&self, type_name: &str, attribute: &str) -> bool {
        let mut all = self.defaults.iter();
        all.any(|(of, name)| of == type_name && name.as_ref().is_none_or(|name| name == attribute))
    }

    /// Whether something could be done.
    pub(crate) fn could(&self, wanted: &Effect) -> bool {
        self.touched.iter().any(|effect| effect.covers(wanted))
    }
}

impl Effect {
    fn covers(&self, wanted: &Effect) -> bool {
        let named = |any: &Option<EcoString>, name: &Option<EcoString>| {
            any.is_none() || name.is_none() || any == name
        };
        match (self, wanted) {
            (Effect::Declares(a), Effect::Declares(b))
            | (Effect::Includes(a), Effect::Includes(b))
            | (Effect::Gives(a), Effect::Gives(b))
            | (Effect::Realises(a), Effect::Realises(b)) => named(a, b),
            (Effect::Sets(a, x), Effect::Sets(b, y)) => named(a, b) && named(x, y),
            (Effect::Relates, Effect::Relates)
            | (Effect::Tags, Effect::Tags)
            | (Effect::Takes, Effect::Takes) => true,
            // A class that nobody can name could do anything.
            (Effect::Includes(None), _) => true,
            _ => false,
        }
    }
}

/// Sums up a piece of code.
pub(crate) fn of<'t>(evaluator: &mut Evaluator<'t>, code: Code<'t>) -> Effects {
    let mut gather = Gather {
        evaluator,
        followed: FxHashSet::default(),
        effects: Effects::default(),
    };
    match code {
        Code::Block(block) => gather.block(block, true),
        Code::Expression(expression) => gather.expression(expression, true),
        Code::Lambda(lambda) => gather.lambda(lambda),
    }
    gather.effects
}

struct Gather<'e, 't> {
    evaluator: &'e mut Evaluator<'t>,
    /// The definitions that were followed, by their addresses.
    followed: FxHashSet<usize>,
    effects: Effects,
}

impl<'t> Gather<'_, 't> {
    fn touch(&mut self, effect: Effect) {
        self.effects.touched.insert(effect);
    }

    /// `here` says whether variables are assigned in the scope that is asked about.
    fn block(&mut self, block: &'t Block, here: bool) {
        block
            .statements
            .iter()
            .for_each(|statement| self.expression(statement, here));
    }

    fn lambda(&mut self, lambda: &'t Lambda) {
        self.block(&lambda.body, false);
    }

    fn all(&mut self, expressions: &'t [Expression], here: bool) {
        expressions
            .iter()
            .for_each(|expression| self.expression(expression, here));
    }

    fn expression(&mut self, at: &'t Expression, here: bool) {
        if could_take(at) {
            self.touch(Effect::Takes);
        }
        match &at.kind {
            Kind::Nothing
            | Kind::Undef
            | Kind::Default
            | Kind::Bool(_)
            | Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Name(_)
            | Kind::Reference(_)
            | Kind::Reserved(_)
            | Kind::Pattern(_)
            | Kind::Variable(_)
            | Kind::RenderText(_) => {}
            Kind::Interpolated(inner) | Kind::Array(inner) => self.all(inner, here),
            Kind::Heredoc(inner, _)
            | Kind::Parenthesised(inner)
            | Kind::Not(inner)
            | Kind::Minus(inner)
            | Kind::Splat(inner)
            | Kind::Render(inner) => self.expression(inner, here),
            Kind::Hash(entries) => {
                for (key, value) in entries {
                    self.expression(key, here);
                    self.expression(value, here);
                }
            }
            Kind::Binary(_, both) => self.all(&both[..], here),
            Kind::Assign(both) => {
                if here {
                    self.assigned(&both[0]);
                }
                self.expression(&both[1], here);
            }
            Kind::Access(of, keys) => {
                self.expression(of, here);
                self.all(keys, here);
            }
            Kind::Call(call) => self.call(call, here),
            Kind::If(conditional) => {
                self.expression(&conditional.condition, here);
                self.block(&conditional.then, here);
                if let Some(otherwise) = &conditional.otherwise {
                    self.block(otherwise, here);
                }
            }
            Kind::Case(case) => {
                self.expression(&case.test, here);
                for option in &case.options {
                    self.all(&option.values, here);
                    self.block(&option.body, here);
                }
            }
            Kind::Selector(selector) => {
                self.expression(&selector.test, here);
                for (option, value) in &selector.options {
                    self.expression(option, here);
                    self.expression(value, here);
                }
            }
            Kind::Resource(resource) => self.resource(resource, here),
            Kind::Defaults(amendment) => {
                if here && let Some(type_name) = named_type(&amendment.target) {
                    for name in named(&amendment.attributes) {
                        self.effects.defaults.insert((type_name.clone(), name));
                    }
                }
                self.attributes(&amendment.attributes, here);
            }
            Kind::Override(amendment) => {
                let type_name = named_type(&amendment.target);
                for name in named(&amendment.attributes) {
                    self.touch(Effect::Sets(type_name.clone(), name));
                }
                self.expression(&amendment.target, here);
                self.attributes(&amendment.attributes, here);
            }
            Kind::Collector(collector) => {
                let type_name = named_type(&collector.kind);
                self.realises(type_name.clone());
                for name in named(&collector.attributes) {
                    self.touch(Effect::Sets(type_name.clone(), name));
                }
                if let Some(query) = &collector.query {
                    self.query(query, here);
                }
                self.attributes(&collector.attributes, here);
            }
            Kind::Relationship(_, sides) => {
                self.touch(Effect::Relates);
                self.all(&sides[..], here);
            }
            Kind::Block(block) => self.block(block, here),
        }
    }

    fn assigned(&mut self, left: &Expression) {
        match &left.kind {
            Kind::Variable(name) => drop(self.effects.variables.insert(name.clone())),
            Kind::Array(variables) => variables.iter().for_each(|one| self.assigned(one)),
            _ => {}
        }
    }

    fn attributes(&mut self, attributes: &'t [Attribute], here: bool) {
        attributes
            .iter()
            .for_each(|attribute| self.expression(&attribute.value, here));
    }

    fn query(&mut self, query: &'t Query, here: bool) {
        match query {
            Query::Test { value, .. } => self.expression(value, here),
            Query::And(both) | Query::Or(both) => {
                both.iter().for_each(|query| self.query(query, here));
            }
        }
    }

    fn resource(&mut self, resource: &'t Resource, here: bool) {
        let type_name = match &resource.kind.kind {
            Kind::Name(name) => Some(folded(name)),
            _ => named_type(&resource.kind),
        };
        for body in &resource.bodies {
            if type_name.as_deref() == Some("class") {
                self.classes(&body.title);
                self.touch(Effect::Gives(literal(&body.title).map(|name| folded(name))));
            }
            self.expression(&body.title, here);
            self.attributes(&body.attributes, here);
        }
        if type_name.as_deref() == Some("class") {
            return;
        }
        self.touch(Effect::Declares(type_name.clone()));
        match type_name {
            Some(name) => {
                if let Ok(Some(known)) = self.evaluator.find_define(&name) {
                    self.follow(known);
                }
            }
            None => self.touch(Effect::Includes(None)),
        }
    }

    fn call(&mut self, call: &'t Call, here: bool) {
        self.all(&call.arguments, here);
        if let Some(lambda) = &call.lambda {
            self.lambda(lambda);
        }
        let Kind::Name(name) = &call.function.kind else {
            return;
        };
        match folded(name).as_str() {
            name @ ("include" | "contain" | "require") => {
                if name == "require" {
                    self.touch(Effect::Relates);
                }
                call.arguments
                    .iter()
                    .for_each(|argument| self.classes(argument));
            }
            "hiera_include" => self.touch(Effect::Includes(None)),
            "tag" => self.touch(Effect::Tags),
            "realize" => call
                .arguments
                .iter()
                .for_each(|argument| self.realises(named_type(argument))),
            "create_resources" | "ensure_resource" | "ensure_resources" => {
                let written = call.arguments.first().and_then(literal);
                let name = written.map(|name| folded(name.trim_start_matches('@')));
                match name {
                    Some(name) if name == "class" => {
                        self.touch(Effect::Includes(None));
                        self.touch(Effect::Gives(None));
                    }
                    Some(name) => {
                        self.touch(Effect::Declares(Some(name.clone())));
                        if let Ok(Some(known)) = self.evaluator.find_define(&name) {
                            self.follow(known);
                        }
                    }
                    None => self.touch(Effect::Includes(None)),
                }
            }
            "ensure_packages" => self.touch(Effect::Declares(Some("package".into()))),
            other => {
                if crate::functions::find(other).is_none()
                    && let Ok(Some(known)) = self.evaluator.find_function(other)
                {
                    self.follow(known);
                }
            }
        }
    }

    /// What is in virtual resources of a defined type runs once they are realised.
    fn realises(&mut self, type_name: Option<EcoString>) {
        match &type_name {
            Some(name) => {
                if let Ok(Some(known)) = self.evaluator.find_define(name) {
                    self.follow(known);
                }
            }
            None => self.touch(Effect::Includes(None)),
        }
        self.touch(Effect::Realises(type_name));
    }

    /// The classes that an argument of `include` names.
    fn classes(&mut self, argument: &'t Expression) {
        match &argument.kind {
            Kind::Array(elements) => elements.iter().for_each(|element| self.classes(element)),
            Kind::Access(of, keys) if matches!(&of.kind, Kind::Reference(name) if name == "class") =>
            {
                keys.iter().for_each(|key| self.classes(key));
            }
            _ => match literal(argument) {
                Some(name) => {
                    let name = folded(name);
                    self.touch(Effect::Includes(Some(name.clone())));
                    if let Ok(Some(known)) = self.evaluator.find_class(&name) {
                        self.follow(known);
                    }
                }
                None => self.touch(Effect::Includes(None)),
            },
        }
    }

    fn follow(&mut self, known: Known<'t>) {
        let definition: &'t Definition = known.definition;
        if !self.followed.insert(std::ptr::from_ref(definition).addr()) {
            return;
        }
        if let crate::syntax::DefinitionKind::Class {
            parent: Some((parent, _)),
        } = &definition.kind
        {
            self.touch(Effect::Includes(Some(parent.clone())));
            if let Ok(Some(known)) = self.evaluator.find_class(parent) {
                self.follow(known);
            }
        }
        for parameter in &definition.parameters {
            if let Some(default) = &parameter.default {
                self.expression(default, false);
            }
        }
        self.block(&definition.body, false);
    }
}

/// The attributes that are named in one place; none of them means any.
fn named(attributes: &[Attribute]) -> impl Iterator<Item = Option<EcoString>> + '_ {
    attributes.iter().map(|attribute| match &attribute.kind {
        AttributeKind::Set(name) | AttributeKind::Add(name) => Some(name.clone()),
        AttributeKind::Splat => None,
    })
}

/// The type that a reference names: of `File`, and of `File['a']`.
fn named_type(target: &Expression) -> Option<EcoString> {
    match &target.kind {
        Kind::Reference(name) if name != "resource" => Some(name.clone()),
        Kind::Access(of, _) => named_type(of),
        _ => None,
    }
}

fn literal(expression: &Expression) -> Option<&EcoString> {
    match &expression.kind {
        Kind::Text(text) | Kind::Name(text) => Some(text),
        _ => None,
    }
}

fn folded(name: &str) -> EcoString {
    name.strip_prefix("::")
        .unwrap_or(name)
        .to_lowercase()
        .into()
}
