//! Classes, defined types and nodes: finding them, giving them parameters, running their bodies.

use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Span;
use rustc_hash::FxHashMap;

use super::{Evaluator, Outcome, Stop, fail, failed, without_iterators};
use crate::resource::{
    Attribute, Resource, ResourceKind, Said, capitalised, lowered, write_capitalised,
};
use crate::resource_types;
use crate::scope::{Frame, Scope, ScopeId, ScopeKind, Variables};
use crate::site::Loaded;
use crate::syntax::{Definition, DefinitionKind, Form, NodeMatchKind, Parameter};
use crate::trace::{
    self, Cause, Definition as Defined, DefinitionId, How, Node, Origin, ResourceId, Source,
};
use crate::types::{self, Alias, Type};
use crate::value::{Datum, Value};

/// A class that nobody defines.
pub const UNKNOWN_CLASS: Code = Code::new("puppet.unknown-class");
/// A class, defined type or node is defined twice.
pub const REDEFINED: Code = Code::new("puppet.redefined");
/// A class inherits itself.
pub const INHERITANCE_CYCLE: Code = Code::new("puppet.inheritance-cycle");
/// No node definition is for this node.
pub const NO_NODE: Code = Code::new("puppet.no-node");
/// A parameter without a default gets no value.
pub const MISSING_PARAMETER: Code = Code::new("puppet.missing-parameter");
/// A class or defined type has no such parameter.
pub const UNKNOWN_PARAMETER: Code = Code::new("puppet.unknown-parameter");
/// A class is put into a stage that does not exist.
pub const UNKNOWN_STAGE: Code = Code::new("puppet.unknown-stage");
/// Something cannot be the name of a class.
pub const CLASS_NAME: Code = Code::new("puppet.class-name");

/// A definition, and the module it belongs to.
#[derive(Clone, Debug)]
pub struct Known<'t> {
    /// The definition.
    pub definition: &'t Definition,
    /// The module.
    pub module: Option<EcoString>,
}

/// What was given to a class or a resource.
struct Given {
    /// Its parameters, in their order.
    names: Vec<(EcoString, Option<DefinitionId>)>,
    /// What is none of them.
    further: Vec<(EcoString, DefinitionId)>,
}

impl<'t> Evaluator<'t> {
    /// Takes note of everything that a file defines (CDef, CDefI, CDefP, CDefPI, RDef).
    pub(crate) fn learn(&mut self, loaded: &'t Loaded) -> Outcome<()> {
        if !self.files.insert(std::ptr::from_ref(loaded).addr()) {
            return Ok(());
        }
        self.loaded.push(loaded);
        let mut mistakes = loaded.mistakes.iter().filter(|one| one.is_error());
        let warnings = loaded.mistakes.iter().filter(|one| !one.is_error());
        self.warnings.extend(warnings.cloned());
        if let Some(first) = mistakes.next() {
            self.further.extend(mistakes.cloned());
            return Err(failed(first.clone()));
        }
        for definition in &loaded.program.definitions {
            let module = loaded.module.clone();
            let known = Known { definition, module };
            match &definition.kind {
                DefinitionKind::Class { .. } | DefinitionKind::Define => self.learn_one(known)?,
                DefinitionKind::Function { .. } => {
                    if crate::functions::find(&definition.name).is_some() {
                        self.warn(built_in(Diagnostic::warning, definition));
                    }
                    let first = self.functions.insert(definition.name.clone(), Some(known));
                    if let Some(first) = first.flatten() {
                        return Err(redefined(definition, first.definition));
                    }
                }
                DefinitionKind::Alias { .. } => {
                    if types::named(&definition.name).is_some() {
                        return Err(failed(built_in(Diagnostic::error, definition)));
                    }
                    let first = self
                        .alias_definitions
                        .insert(definition.name.clone(), known);
                    if let Some(first) = first {
                        return Err(redefined(definition, first.definition));
                    }
                }
                DefinitionKind::Node { .. } => self.nodes.push(definition),
            }
        }
        Ok(())
    }

    fn learn_one(&mut self, known: Known<'t>) -> Outcome<()> {
        let definition = known.definition;
        match self.known.insert(definition.name.clone(), known) {
            Some(first) => Err(redefined(definition, first.definition)),
            None => Ok(()),
        }
    }

    /// The definition of a class that was used.
    pub(crate) fn known_class(&self, name: &str) -> Option<&'t Definition> {
        self.known.get(name).map(|known| known.definition)
    }

    /// The definition of a class.
    pub(crate) fn find_class(&mut self, name: &str) -> Outcome<Option<Known<'t>>> {
        let found = self.find_definition(name)?;
        Ok(found.filter(|found| matches!(found.definition.kind, DefinitionKind::Class { .. })))
    }

    /// The definition of a defined type.
    pub(crate) fn find_define(&mut self, name: &str) -> Outcome<Option<Known<'t>>> {
        let found = self.find_definition(name)?;
        Ok(found.filter(|found| matches!(found.definition.kind, DefinitionKind::Define)))
    }

    /// A class or a defined type; it may stand in a file of its own, or in that of a name around it.
    fn find_definition(&mut self, name: &str) -> Outcome<Option<Known<'t>>> {
        let name = &*lowered(name.strip_prefix("::").unwrap_or(name));
        if let Some(known) = self.known.get(name) {
            return Ok(Some(known.clone()));
        }
        if self.unknown.contains(name) {
            return Ok(None);
        }
        let mut file = name;
        while !file.is_empty() {
            if let Some(loaded) = self.site.autoload(file, "manifests") {
                self.learn(loaded)?;
                if let Some(known) = self.known.get(name) {
                    return Ok(Some(known.clone()));
                }
            }
            file = file.rsplit_once("::").map_or("", |(around, _)| around);
        }
        self.unknown.insert(name.into());
        Ok(None)
    }

    /// Whether resources can have a type.
    pub(crate) fn is_resource_type(&mut self, name: &str) -> Outcome<bool> {
        let built_in = self.built_in(name).is_some();
        Ok(built_in || self.find_define(name)?.is_some())
    }

    /// A built-in type of resources.
    pub(crate) fn built_in(&self, name: &str) -> Option<&'t resource_types::ResourceType> {
        self.site.resource_type(name)
    }

    /// The type that an alias stands for.
    pub(crate) fn alias(&mut self, name: &EcoString, span: Span) -> Outcome<Option<Arc<Type>>> {
        if let Some(known) = self.aliases.get(name) {
            return Ok(known.clone());
        }
        if !self.alias_definitions.contains_key(name)
            && let Some(loaded) = self.site.autoload(name, "types")
        {
            self.learn(loaded)?;
        }
        let Some(known) = self.alias_definitions.get(name) else {
            self.aliases.insert(name.clone(), None);
            return Ok(None);
        };
        let DefinitionKind::Alias { kind } = &known.definition.kind else {
            unreachable!("only aliases are among them");
        };
        // The name stands for the alias while its own type is made: it may be recursive.
        let alias = Alias::new(capitalised(name));
        let value = Arc::new(Type::Alias(alias.clone()));
        self.aliases.insert(name.clone(), Some(value.clone()));
        let body = self.apart(ScopeId::TOP, |evaluator| {
            evaluator.deeper(span, |evaluator| evaluator.expression(kind))
        })?;
        self.alias_origins.insert(name.clone(), body.origin);
        match body.datum {
            Datum::Type(body) => match alias.define(body.as_ref().clone()) {
                Ok(()) => Ok(Some(value)),
                Err(failure) => fail(super::access::TYPE_ARGUMENTS, failure.message, kind.span),
            },
            _ => fail(super::calls::NOT_A_TYPE, "expected a type", kind.span),
        }
    }

    pub(crate) fn suggest_type(&self, trouble: Diagnostic, name: &str) -> Diagnostic {
        let own = similar(name, self.known.keys().map(EcoString::as_str));
        let near = own
            .into_iter()
            .chain(similar(name, resource_types::names()))
            .next();
        match near {
            Some(near) => trouble.help(format!("did you mean `{near}`?")),
            None => trouble,
        }
    }

    /// `include a` (IncU, IncD, IncPU, IncPD): declares classes that are not declared yet.
    pub(crate) fn include(&mut self, names: &[Value], span: Span) -> Outcome<Vec<ResourceId>> {
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            found.push((self.class_named(name, span)?, name.origin));
        }
        let mut resources = Vec::with_capacity(found.len());
        let mut new = Vec::new();
        for (class, origin) in found {
            // (IncD)
            if let Some(scope) = self.class_scopes.get(&class.definition.name) {
                resources.push(self.scopes[scope.index()].resource);
                continue;
            }
            let resource = self.ensure_class(&class, origin, span)?;
            resources.push(resource);
            new.push(resource);
        }
        for resource in new {
            self.evaluate_resource(resource)?;
        }
        Ok(resources)
    }

    /// The class that a name, or a reference, means.
    fn class_named(&mut self, name: &Value, span: Span) -> Outcome<Known<'t>> {
        let text = match &name.datum {
            Datum::Text(text) if !text.is_empty() => text.clone(),
            Datum::Type(kind) => match kind.as_ref() {
                Type::Class(Some(class)) => class.clone(),
                Type::Resource(Some(class), Some(title)) if class == "class" => title.clone(),
                other => {
                    let message = format!("`{other}` names no class");
                    return fail(CLASS_NAME, message, span);
                }
            },
            Datum::Undef => {
                let trouble = Diagnostic::error(CLASS_NAME, "the name of a class is `undef`");
                let mut trouble = trouble.at(span);
                if let Some((span, words)) = self.absence(name.origin) {
                    trouble = trouble.label(span, words);
                }
                return Err(failed(trouble));
            }
            other => {
                let message = match other {
                    Datum::Text(_) => "the name of a class is empty".to_owned(),
                    _ => {
                        let found = Type::of(other).generalise();
                        format!("expected the name of a class, found {found}")
                    }
                };
                return fail(CLASS_NAME, message, span);
            }
        };
        match self.find_class(&text)? {
            Some(class) => Ok(class),
            None => Err(self.unknown_class(&text, span)),
        }
    }

    pub(crate) fn unknown_class(&self, name: &str, span: Span) -> Box<Stop> {
        let message = format!("there is no class `{name}`");
        let mut trouble = Diagnostic::error(UNKNOWN_CLASS, message).at(span);
        let beside = self.site.classes_beside(name);
        let known = self.known.keys().map(EcoString::as_str);
        let classes = known.chain(beside.iter().map(String::as_str));
        match similar(name, classes).first() {
            Some(near) => trouble = trouble.help(format!("did you mean `{near}`?")),
            None => {
                let (module, rest) = name.split_once("::").unwrap_or((name, "init"));
                let file = rest.replace("::", "/");
                let path = format!("{module}/manifests/{file}.pp");
                let help = match self.site.layout.modulepath.is_empty() {
                    true => "say where modules are with `--modulepath`".to_owned(),
                    false => format!("a module would define it in `{path}`"),
                };
                trouble = trouble.help(help);
            }
        }
        self.with_chain(trouble)
    }

    /// The resource of a class, which is declared if it is not yet (IncU); the class it inherits comes first
    /// (IncPU).
    pub(crate) fn ensure_class(
        &mut self,
        class: &Known<'t>,
        title: Origin,
        span: Span,
    ) -> Outcome<ResourceId> {
        if let Some(resource) = self.find_resource("class", &class.definition.name) {
            return Ok(resource);
        }
        let attributes = Vec::new();
        self.declare_class(class, attributes, title, span, false)
    }

    /// Declares a class with the attributes that were given (CDecU, CDecPU, CDecPD).
    pub(crate) fn declare_class(
        &mut self,
        class: &Known<'t>,
        attributes: Vec<Attribute>,
        title_origin: Origin,
        span: Span,
        declared: bool,
    ) -> Outcome<ResourceId> {
        let definition = class.definition;
        let scope = self.scope;
        let mut resource = Resource {
            kind: ResourceKind::Class { declared },
            type_name: "Class".into(),
            title: definition.name.clone(),
            title_origin,
            scope,
            source: definition.name.clone(),
            span: Some(span),
            control: self.control,
            passed: self.trace.passed().len() as u32,
            attributes: Vec::new(),
            has_metaparameters: false,
            form: Form::Regular,
            is_virtual: false,
            evaluated: false,
            rare: None,
        };
        if declared {
            resource.source = self.scopes[scope.index()].source.clone();
        }
        self.begin_attributes(&mut resource, attributes)?;
        self.apply_defaults(&mut resource);
        if let DefinitionKind::Class {
            parent: Some((parent, parent_span)),
        } = &definition.kind
        {
            self.check_inheritance(class, *parent_span)?;
            if self.find_resource("class", parent).is_none() {
                let Some(parent) = self.find_class(parent)? else {
                    return Err(self.unknown_class(parent, *parent_span));
                };
                self.ensure_class(&parent, Origin::NOWHERE, *parent_span)?;
            }
        }
        self.add_resource(resource, &EcoString::inline("class"))
    }

    /// The real compiler overflows its stack when a class inherits itself; we say so.
    fn check_inheritance(&mut self, class: &Known<'t>, span: Span) -> Outcome<()> {
        let mut seen = vec![class.definition.name.clone()];
        let mut next = class.clone();
        while let DefinitionKind::Class {
            parent: Some((parent, parent_span)),
        } = &next.definition.kind
        {
            if seen.contains(parent) {
                let message = format!("class `{parent}` inherits itself");
                let trouble = Diagnostic::error(INHERITANCE_CYCLE, message).at(span);
                let trouble = match *parent_span == span {
                    true => trouble,
                    false => trouble.label(*parent_span, "and here the circle closes"),
                };
                seen.push(parent.clone());
                return Err(failed(trouble.help(seen.join(" inherits "))));
            }
            seen.push(parent.clone());
            let Some(found) = self.find_class(parent)? else {
                return Ok(());
            };
            next = found;
        }
        Ok(())
    }

    /// Runs the body of a class or of a defined type, once.
    pub(crate) fn evaluate_resource(&mut self, id: ResourceId) -> Outcome<()> {
        let resource = &mut self.resources[id.index()];
        if std::mem::replace(&mut resource.evaluated, true) {
            return Ok(());
        }
        let span = resource.span;
        let title = resource.title.clone();
        let kind = resource.kind;
        let work = |evaluator: &mut Self| match kind {
            ResourceKind::Class { .. } => match evaluator.find_class(&title)? {
                Some(class) => evaluator.evaluate_class(id, &class),
                None => Ok(()),
            },
            ResourceKind::Defined(definition) => evaluator.evaluate_define(id, definition),
            ResourceKind::BuiltIn(_) | ResourceKind::Special => Ok(()),
        };
        match span {
            Some(span) => self.deeper(span, work),
            None => work(self),
        }
    }

    /// The body of a class runs in a scope of its own (Scope), inside that of the class it inherits.
    fn evaluate_class(&mut self, id: ResourceId, class: &Known<'t>) -> Outcome<()> {
        let definition = class.definition;
        let declared_in = self.resources[id.index()].scope;
        let mut inherits = None;
        if let DefinitionKind::Class {
            parent: Some((parent, _)),
        } = &definition.kind
        {
            if let Some(parent) = self.find_resource("class", parent) {
                self.evaluate_resource(parent)?;
            }
            inherits = self.class_scopes.get(parent).copied();
        }
        let scope = self.new_scope(Scope {
            kind: ScopeKind::Class,
            parent: Some(inherits.unwrap_or(declared_in)),
            inherits,
            resource: id,
            source: definition.name.clone(),
            module: class.module.clone(),
            variables: Variables::default(),
            defaults: FxHashMap::default(),
        });
        self.classes.push(definition.name.clone());
        self.inside(id, scope, |evaluator| {
            evaluator.parameters(id, scope, definition)?;
            evaluator.enter_stage(id)?;
            evaluator.body(definition)
        })
    }

    /// The body of a defined type runs in a scope for each resource (Def, DefScope).
    fn evaluate_define(&mut self, id: ResourceId, definition: &'t Definition) -> Outcome<()> {
        let known = self.known.get(&definition.name);
        let module = known.and_then(|known| known.module.clone());
        let declared_in = self.resources[id.index()].scope;
        let scope = self.new_scope(Scope {
            kind: ScopeKind::Define,
            parent: Some(declared_in),
            inherits: None,
            resource: id,
            source: definition.name.clone(),
            module,
            variables: Variables::default(),
            defaults: FxHashMap::default(),
        });
        self.inside(id, scope, |evaluator| {
            evaluator.parameters(id, scope, definition)?;
            evaluator.body(definition)
        })?;
        self.scopes[scope.index()].variables.shrink();
        Ok(())
    }

    pub(crate) fn new_scope(&mut self, scope: Scope) -> ScopeId {
        self.scopes.push(scope);
        ScopeId::from_index(self.scopes.len() - 1)
    }

    /// Does something in the scope of a class or resource, because that was declared.
    fn inside(
        &mut self,
        id: ResourceId,
        scope: ScopeId,
        work: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        // The conditions under which it was declared are those of the resource.
        self.leavable(|evaluator| {
            evaluator.control = crate::trace::ControlId::NONE;
            evaluator.under(Cause::Declared(id), |evaluator| {
                evaluator.apart(scope, work)
            })
        })
    }

    fn body(&mut self, definition: &'t Definition) -> Outcome<()> {
        let result = self.run(&definition.body);
        match result {
            Ok(()) => Ok(()),
            // `return()` ends the body of a class.
            Err(stop) => match *stop {
                Stop::Return(..) | Stop::Next(..) => {
                    self.pass_rest(trace::Code::Block(&definition.body));
                    Ok(())
                }
                other => Err(Box::new(other)),
            },
        }
    }

    /// Gives a class or a defined type its parameters (*merge* of §3.3.2.3): what was given, then what the data
    /// say, then the defaults.
    fn parameters(
        &mut self,
        id: ResourceId,
        scope: ScopeId,
        definition: &'t Definition,
    ) -> Outcome<()> {
        let is_class = matches!(definition.kind, DefinitionKind::Class { .. });
        self.bind_language(id, scope, is_class);
        if is_class {
            self.class_scopes.insert(definition.name.clone(), scope);
            self.data_for(id, definition)?;
        }
        let Given { names, further } = self.given_parameters(id, definition);
        self.frames.push(Frame::Parameters(names));
        let defaults = self.parameter_defaults(id, definition);
        let Some(Frame::Parameters(names)) = self.frames.pop() else {
            unreachable!("it was put there");
        };
        defaults?;
        self.check_parameters(id, definition, &names, &further)?;
        let variables = &mut self.scopes[scope.index()].variables;
        for (name, defined) in names
            .into_iter()
            .filter_map(|(name, some)| Some((name, some?)))
        {
            variables.insert(name, defined);
        }
        for (name, defined) in further {
            variables.insert(name, defined);
        }
        Ok(())
    }

    /// What a class or a resource was given so far.
    fn given_parameters(&mut self, id: ResourceId, definition: &'t Definition) -> Given {
        let mut names = Vec::with_capacity(definition.parameters.len());
        let mut further = Vec::new();
        for parameter in &definition.parameters {
            names.push((parameter.name.clone(), None));
        }
        let given: Vec<Attribute> = self.resources[id.index()].attributes.clone();
        for attribute in given {
            let at = names.iter().position(|(name, _)| *name == attribute.name);
            let how = match at {
                Some(at) if attribute.how == Said::Data => How::Data(&definition.parameters[at]),
                Some(at) => How::Given(&definition.parameters[at]),
                None => How::Language,
            };
            let defined = self.trace.define(Defined {
                value: attribute.value,
                control: attribute.control,
                how,
            });
            match at {
                Some(at) => names[at].1 = Some(defined),
                None if attribute.name != "name" && attribute.name != "title" => {
                    further.push((attribute.name, defined));
                }
                None => {}
            }
        }
        Given { names, further }
    }

    /// Virtual resources that nobody realised must be given what their definitions take, too.
    pub(crate) fn check_virtual(&mut self) -> Outcome<()> {
        for id in (0..self.resources.len()).map(ResourceId::from_index) {
            let resource = &self.resources[id.index()];
            if let ResourceKind::Defined(definition) = resource.kind
                && resource.is_virtual
                && !resource.evaluated
            {
                let Given { names, further } = self.given_parameters(id, definition);
                self.check_parameters(id, definition, &names, &further)?;
            }
        }
        Ok(())
    }

    /// `$title`, `$name`, `$module_name`, `$caller_module_name`. Code that is in no module is in one without a name.
    fn bind_language(&mut self, id: ResourceId, scope: ScopeId, is_class: bool) {
        let resource = &self.resources[id.index()];
        let origin = resource.title_origin;
        let title = resource.title_value();
        let name = resource
            .attribute("name")
            .map(|attribute| attribute.value.clone());
        let mut name = name.filter(|name| !name.is_undef());
        if let Some(name) = name.as_mut().filter(|_| is_class) {
            name.datum = crate::text::text(&name.datum).to_lowercase().into();
        }
        let parent = self.scopes[scope.index()].parent;
        let module_of = |scope: ScopeId| {
            self.scopes[scope.index()]
                .module
                .clone()
                .unwrap_or_default()
        };
        let caller = parent.map(module_of);
        let module = module_of(scope);
        let control = self.control;
        let mut bind = |name: &str, value: Value| {
            let how = How::Language;
            let definition = Defined {
                value,
                control,
                how,
            };
            self.bind(scope, name, definition);
        };
        bind("module_name", Value::new(module, origin));
        if let Some(caller) = caller {
            bind("caller_module_name", Value::new(caller, origin));
        }
        bind("name", name.unwrap_or_else(|| title.clone()));
        bind("title", title);
    }

    /// What the data say about parameters that were not given.
    fn data_for(&mut self, id: ResourceId, definition: &'t Definition) -> Outcome<()> {
        if definition.parameters.is_empty() || !self.has_data(&definition.name) {
            return Ok(());
        }
        for parameter in &definition.parameters {
            let given = self.resources[id.index()].attribute(&parameter.name);
            if given.is_some_and(|given| !given.value.is_undef()) {
                continue;
            }
            let key = format!("{}::{}", definition.name, parameter.name);
            let Some(value) = self.automatic(&key, parameter.span)? else {
                continue;
            };
            if value.is_undef() && parameter.default.is_some() {
                // What the data say lets the default be used, as if they said nothing.
                if let Source::Node(Node::Found { value, decided, .. }) =
                    self.trace.source(value.origin)
                {
                    let asked = [&[*value], self.trace.decided(*decided)].concat();
                    self.trace.miss(parameter.span, asked);
                }
                continue;
            }
            self.set_parameter(id, parameter, value, Said::Data);
        }
        Ok(())
    }

    fn set_parameter(&mut self, id: ResourceId, parameter: &'t Parameter, value: Value, how: Said) {
        let (scope, control) = (self.scope, self.control);
        self.resources[id.index()].set(Attribute {
            name: parameter.name.clone(),
            value,
            span: parameter.span,
            how,
            scope,
            control,
            adds: false,
        });
    }

    fn parameter_defaults(&mut self, id: ResourceId, definition: &'t Definition) -> Outcome<()> {
        for (number, parameter) in definition.parameters.iter().enumerate() {
            let Some(default) = &parameter.default else {
                continue;
            };
            let given = self.resources[id.index()].attribute(&parameter.name);
            let given = given.map(|given| given.value.clone());
            let is_given = given.as_ref().is_some_and(|given| !given.is_undef());
            let value = match (is_given, self.does_more(default)) {
                (true, true) => {
                    let outcome = self.given(id, parameter, given);
                    self.pass(outcome, trace::Code::Expression(default));
                    continue;
                }
                (true, false) => continue,
                (false, true) => {
                    let outcome = self.given(id, parameter, given);
                    self.under(Cause::Stayed { outcome }, |evaluator| {
                        evaluator.guarded(|evaluator| evaluator.nested(default))
                    })?
                }
                (false, false) => self.guarded(|evaluator| evaluator.nested(default))?,
            };
            without_iterators(&value, default.span)?;
            self.set_parameter(id, parameter, value.clone(), Said::Parameter);
            let defined = self.trace.define(Defined {
                value,
                control: self.control,
                how: How::Default(parameter),
            });
            if let Some(Frame::Parameters(names)) = self.frames.last_mut() {
                names[number].1 = Some(defined);
            }
        }
        Ok(())
    }

    /// Why a parameter was given a value, or was not.
    fn given(&mut self, id: ResourceId, parameter: &'t Parameter, value: Option<Value>) -> Origin {
        let name = parameter.name.clone();
        let said = self.trace.add(Node::Attribute { of: id, name });
        let missed = self.trace.missed(parameter.span).to_vec();
        let value = value.map(|value| value.origin);
        let reasons = missed.into_iter().chain(value).chain([said]);
        self.trace.reasons(reasons)
    }

    /// Whether all parameters have values, of their types, and nothing else was given.
    fn check_parameters(
        &mut self,
        id: ResourceId,
        definition: &'t Definition,
        names: &[(EcoString, Option<DefinitionId>)],
        further: &[(EcoString, DefinitionId)],
    ) -> Outcome<()> {
        let declared = self.resources[id.index()].span;
        let mut troubles = Vec::new();
        for (parameter, (name, defined)) in definition.parameters.iter().zip(names) {
            let Some(defined) = defined else {
                // The default of one that is never evaluated is not, either.
                if parameter.default.is_some() {
                    continue;
                }
                let reference = self.shown_reference(id);
                let message = format!("{reference}: expects a value for parameter '{name}'");
                let mut trouble = Diagnostic::error(MISSING_PARAMETER, message);
                if let Some(span) = declared {
                    trouble = trouble.at(span);
                }
                let trouble = trouble.label(parameter.span, "it has no default");
                troubles.push(trouble);
                continue;
            };
            let Some(kind) = self.parameter_type(parameter)? else {
                continue;
            };
            if kind.instance(&self.trace.definition(*defined).value.datum) {
                continue;
            }
            let value = self.trace.definition(*defined).value.clone();
            let attribute = self.resources[id.index()].attribute(name);
            let span = attribute.map_or(parameter.span, |attribute| attribute.span);
            let subject = format!("{}: parameter '{name}'", self.shown_reference(id));
            // `Optional` and `Variant` of nothing in particular have no instances, but a parameter takes any value.
            if types::mismatch(&subject, &kind, &value.datum).is_empty() {
                continue;
            }
            let declared = (span != parameter.span).then_some(parameter.span);
            if let Err(stop) = self.expect(&kind, &value, &subject, span, declared)
                && let Stop::Failed(trouble) = *stop
            {
                troubles.push(trouble);
            }
        }
        for (name, _) in further {
            if resource_types::is_metaparameter(name) {
                continue;
            }
            let attribute = self.resources[id.index()].attribute(name);
            let span = attribute.map(|attribute| attribute.span).or(declared);
            let reference = self.shown_reference(id);
            let message = format!("{reference}: has no parameter named '{name}'");
            let mut trouble = Diagnostic::error(UNKNOWN_PARAMETER, message);
            if let Some(span) = span {
                trouble = trouble.at(span);
            }
            let names = definition
                .parameters
                .iter()
                .map(|parameter| parameter.name.as_str());
            if let Some(near) = similar(name, names).first() {
                trouble = trouble.help(format!("did you mean `{near}`?"));
            }
            troubles.push(trouble);
        }
        let mut troubles = troubles.into_iter();
        match troubles.next() {
            Some(first) => {
                self.further.extend(troubles);
                Err(self.with_chain(first))
            }
            None => Ok(()),
        }
    }

    /// The reference to a resource, with the name of a class as references write it.
    pub(crate) fn shown_reference(&self, id: ResourceId) -> String {
        let mut text = String::new();
        self.write_reference(id, &mut text);
        text
    }

    /// Writes the reference to a resource behind a text.
    pub(crate) fn write_reference(&self, id: ResourceId, text: &mut String) {
        let resource = &self.resources[id.index()];
        text.push_str(&resource.type_name);
        text.push('[');
        match crate::catalog::is_named_class(resource) {
            true => write_capitalised(&resource.title, text),
            false => text.push_str(&resource.title),
        }
        text.push(']');
    }

    /// A class is contained in a stage, `main` unless said otherwise.
    pub(crate) fn enter_stage(&mut self, id: ResourceId) -> Outcome<()> {
        let resource = &self.resources[id.index()];
        let declared_in = self.scopes[resource.scope.index()].resource;
        let own = resource
            .attribute("stage")
            .map(|attribute| attribute.value.clone());
        let around = self.resources[declared_in.index()].attribute("stage");
        let stage = own
            .clone()
            .or_else(|| around.map(|attribute| attribute.value.clone()));
        let title = match stage.as_ref().map(|stage| &stage.datum) {
            Some(Datum::Type(kind)) => match kind.as_ref() {
                Type::Resource(_, Some(title)) => title.clone(),
                _ => crate::text::text(&Datum::Type(kind.clone())),
            },
            Some(Datum::Undef) | None => "main".into(),
            Some(other) => crate::text::text(other),
        };
        let Some(found) = self.find_resource("stage", &title) else {
            let message = format!(
                "there is no stage `{title}` for {}",
                self.shown_reference(id)
            );
            let resource = &self.resources[id.index()];
            let span = resource
                .attribute("stage")
                .map(|attribute| attribute.span)
                .or(resource.span);
            let mut trouble = Diagnostic::error(UNKNOWN_STAGE, message);
            if let Some(span) = span {
                trouble = trouble.at(span);
            }
            let help = format!("declare it before: `stage {{ '{title}': }}`");
            return Err(failed(trouble.help(help)));
        };
        if own.is_none() && title != "main" {
            let value = stage.expect("another stage than main was said");
            let attribute = self.resources[declared_in.index()].attribute("stage");
            let attribute = attribute.expect("it was found there").clone();
            let how = Said::Container;
            self.resources[id.index()].set(Attribute {
                value,
                how,
                ..attribute
            });
        }
        self.edges.push((found, id));
        Ok(())
    }

    /// Each node is meant by one definition only.
    pub(crate) fn check_nodes(&self) -> Outcome<()> {
        let mut seen: FxHashMap<String, Span> = FxHashMap::default();
        for node in &self.nodes {
            let DefinitionKind::Node { matches } = &node.kind else {
                continue;
            };
            for one in matches {
                let name = match &one.kind {
                    NodeMatchKind::Name(name) => name.to_lowercase().to_string(),
                    NodeMatchKind::Pattern(pattern) => format!("/{}/", pattern.source()),
                    NodeMatchKind::Default => "default".to_owned(),
                };
                let message = format!("the node `{name}` is defined already");
                if let Some(first) = seen.insert(name, one.span) {
                    let trouble = Diagnostic::error(REDEFINED, message).at(one.span);
                    return Err(failed(trouble.label(first, "defined here first")));
                }
            }
        }
        Ok(())
    }

    /// The groups of the pattern by which a node definition was found, if it was by one, are seen in its body.
    pub(crate) fn match_node(&mut self, definition: &Definition, origin: Origin) -> bool {
        let DefinitionKind::Node { matches } = &definition.kind else {
            return false;
        };
        let name = self.node.name.to_lowercase();
        for one in matches {
            if let NodeMatchKind::Pattern(pattern) = &one.kind
                && self.find(pattern, &name, origin)
            {
                return true;
            }
        }
        false
    }

    /// The node definition for a name: its own, the first pattern that fits, or `default` (NodeMatch).
    pub(crate) fn find_node(&self, name: &str) -> Option<&'t Definition> {
        let name = name.to_lowercase();
        let matches = |wanted: &dyn Fn(&NodeMatchKind) -> bool| {
            self.nodes.iter().copied().find(|node| match &node.kind {
                DefinitionKind::Node { matches } => matches.iter().any(|one| wanted(&one.kind)),
                _ => false,
            })
        };
        matches(&|kind| matches!(kind, NodeMatchKind::Name(own) if own.to_lowercase() == name))
            .or_else(|| {
                matches(&|kind| match kind {
                    NodeMatchKind::Pattern(pattern) => pattern.is_match(&name),
                    _ => false,
                })
            })
            .or_else(|| matches(&|kind| matches!(kind, NodeMatchKind::Default)))
    }
}

/// A function or a type has the name of another one that is built in: whoever uses the name gets that.
fn built_in(trouble: fn(Code, String) -> Diagnostic, definition: &Definition) -> Diagnostic {
    let message = format!("`{}` is built in", definition.shown_name());
    let trouble = trouble(REDEFINED, message).at(definition.name_span);
    trouble.help("choose another name: this one means what is built in")
}

fn redefined(definition: &Definition, first: &Definition) -> Box<Stop> {
    let message = format!("`{}` is defined already", definition.shown_name());
    let trouble = Diagnostic::error(REDEFINED, message).at(definition.name_span);
    failed(trouble.label(first.name_span, "defined here first"))
}
