//! Variables: who sees what, and who may set it.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Span;
use hence_model::work;

use super::{Evaluator, Outcome, fail, failed};
use crate::scope::{Frame, ScopeId, ScopeKind, Suspended, Variables};
use crate::syntax::{Expression, Kind};
use crate::trace::{ControlId, Definition, DefinitionId, How, LookUp, Node, Origin};
use crate::value::{Datum, Value};

/// Nothing defines a variable.
pub const UNKNOWN_VARIABLE: Code = Code::new("puppet.unknown-variable");
/// A variable is assigned twice in one scope.
pub const REASSIGNED: Code = Code::new("puppet.reassigned");
/// A variable that belongs to the language is assigned.
pub const RESERVED_VARIABLE: Code = Code::new("puppet.reserved-variable");
/// A default of a parameter uses a parameter that has no value yet.
pub const UNEVALUATED_PARAMETER: Code = Code::new("puppet.unevaluated-parameter");
/// An array of variables gets a number of values that it cannot take.
pub const DESTRUCTURING: Code = Code::new("puppet.destructuring");

/// Variables that are defined everywhere, also where they have no value.
const ALWAYS_KNOWN: [&str; 2] = ["module_name", "caller_module_name"];

impl<'t> Evaluator<'t> {
    /// `$x`, `$a::x`, `$0` (LVar, PVar, TVar, QVar; rules of A.3.2.1).
    pub(super) fn variable(&mut self, at: &'t Expression, name: &EcoString) -> Outcome {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(self.match_variable(at, name));
        }
        let found = match name.contains(':') {
            true => self.qualified(name),
            false => self.visible(name, at.span)?,
        };
        let scope = self.scope;
        let passed = self.trace.passed().len() as u32;
        if let Some(definition) = found {
            let datum = self.trace.definition(definition).value.datum.clone();
            let node = Node::Variable {
                definition,
                scope,
                passed,
                at,
            };
            let origin = self.trace.add(node);
            return Ok(Value { datum, origin });
        }
        if self.options.strict && !ALWAYS_KNOWN.contains(&name.as_str()) {
            return Err(failed(self.unknown_variable(name, at.span)));
        }
        let origin = self.trace.add(Node::Unknown { scope, passed, at });
        Ok(Value::new(Datum::Undef, origin))
    }

    fn unknown_variable(&mut self, name: &str, span: Span) -> Diagnostic {
        let message = format!("nothing defines `${name}`");
        let mut trouble = Diagnostic::error(UNKNOWN_VARIABLE, message).at(span);
        if let Some((class, _)) = name.trim_start_matches("::").rsplit_once("::") {
            if !self.class_scopes.contains_key(class) {
                let help = format!("class `{class}` was not declared before this place");
                trouble = trouble.help(help);
            }
            return trouble;
        }
        let names = self.visible_names();
        let near = similar(name, names.iter().map(EcoString::as_str));
        if let Some(near) = near.first() {
            trouble = trouble.help(format!("did you mean `${near}`?"));
        }
        trouble
    }

    fn visible_names(&self) -> Vec<EcoString> {
        let mut names: Vec<EcoString> = Vec::new();
        let mut scope = Some(self.scope);
        while let Some(id) = scope {
            for frame in self.frames_over(id) {
                match frame {
                    Frame::Local(variables) => names.extend(variables.names().cloned()),
                    Frame::Parameters(some) => {
                        names.extend(some.iter().map(|(name, _)| name.clone()));
                    }
                    Frame::Match(_) => {}
                }
            }
            names.extend(self.scopes[id.index()].variables.names().cloned());
            scope = self.next_scope(id);
        }
        names
    }

    fn match_variable(&mut self, at: &'t Expression, name: &str) -> Value {
        let number: usize = name.parse().unwrap_or(usize::MAX);
        let mut scope = Some(self.scope);
        let mut group = None;
        while let Some(id) = scope {
            let frames = self.frames_over(id).iter().rev();
            let mut matches = frames.filter_map(|frame| match frame {
                Frame::Match(groups) => Some(groups),
                _ => None,
            });
            if let Some(groups) = matches.next() {
                group = groups.get(number).cloned().flatten();
                break;
            }
            scope = self.next_scope(id);
        }
        let (here, passed) = (self.scope, self.trace.passed().len() as u32);
        match group {
            Some(value) if scope == Some(here) => value,
            // It is found as any other variable of that scope.
            Some(value) => {
                let datum = value.datum.clone();
                let definition = self.trace.define(Definition {
                    value,
                    control: ControlId::NONE,
                    how: How::Language,
                });
                let origin = self.trace.add(Node::Variable {
                    definition,
                    scope: here,
                    passed,
                    at,
                });
                Value::new(datum, origin)
            }
            None => {
                let origin = self.trace.add(Node::Unknown {
                    scope: here,
                    passed,
                    at,
                });
                Value::new(Datum::Undef, origin)
            }
        }
    }

    /// The definition of a name without `::` that is seen from here.
    pub(crate) fn visible(&self, name: &str, span: Span) -> Outcome<Option<DefinitionId>> {
        let mut scope = Some(self.scope);
        while let Some(id) = scope {
            work::step();
            for frame in self.frames_over(id).iter().rev() {
                match frame {
                    Frame::Local(variables) => {
                        if let Some(definition) = variables.get(name) {
                            return Ok(Some(definition));
                        }
                    }
                    Frame::Parameters(parameters) => {
                        let found = parameters.iter().find(|(parameter, _)| parameter == name);
                        match found {
                            Some((_, Some(definition))) => return Ok(Some(*definition)),
                            Some((_, None)) => {
                                let message = format!("`${name}` has no value yet");
                                let trouble = Diagnostic::error(UNEVALUATED_PARAMETER, message);
                                let help = "a default can use the parameters before it only";
                                return Err(failed(trouble.at(span).help(help)));
                            }
                            None => {}
                        }
                    }
                    Frame::Match(_) => {}
                }
            }
            if let Some(definition) = self.scopes[id.index()].variables.get(name) {
                return Ok(Some(definition));
            }
            scope = self.next_scope(id);
        }
        Ok(None)
    }

    /// What lies over a scope while code of it runs, or waits for what runs: a class that is declared in a lambda of
    /// the node sees the variables of that lambda, as in the real compiler.
    fn frames_over(&self, scope: ScopeId) -> &[Frame] {
        if scope == self.scope {
            return &self.frames[self.base..];
        }
        let mut waiting = self.suspended.iter().rev().inspect(|_| work::step());
        match waiting.find(|waiting| waiting.scope == scope) {
            Some(waiting) => &self.frames[waiting.frames.clone()],
            None => &[],
        }
    }

    /// Whether a variable is defined for `defined`, which counts those of the language.
    pub(crate) fn is_known(&self, name: &str, found: Option<DefinitionId>) -> bool {
        let bare = name.strip_prefix("::").unwrap_or(name);
        found.is_some() || ALWAYS_KNOWN.contains(&bare)
    }

    /// That a variable is defined, or is not, as what something depends on.
    pub(crate) fn sighting(&mut self, name: &str, found: Option<DefinitionId>) -> Value {
        let node = match found {
            Some(definition) => Node::Outcome {
                value: Origin::NOWHERE,
                control: self.trace.definition(definition).control,
                of: None,
            },
            None => self.look_up_of(name, None),
        };
        self.trace.add(node).into()
    }

    /// What looking up a variable passes, from here on.
    pub(crate) fn look_up_of(&self, name: &str, found: Option<DefinitionId>) -> Node<'t> {
        Node::LookUp(Box::new(LookUp {
            name: name.into(),
            found,
            scope: self.scope,
            passed: self.trace.passed().len() as u32,
        }))
    }

    /// Where a look-up goes on: `parentof` of §3.3.2.1. A class asks the class it inherits; everything else
    /// asks the node, or the top.
    pub(crate) fn next_scope(&self, scope: ScopeId) -> Option<ScopeId> {
        let this = &self.scopes[scope.index()];
        this.inherits.or_else(|| self.base_of(scope))
    }

    /// The scope of the node or the top, whichever declared the code of a scope, directly or not: `baseof` of
    /// §3.3.2.1. The top has none.
    pub(crate) fn base_of(&self, scope: ScopeId) -> Option<ScopeId> {
        let mut around = self.scopes[scope.index()].parent?;
        loop {
            work::step();
            let scope = &self.scopes[around.index()];
            if matches!(scope.kind, ScopeKind::Top | ScopeKind::Node) {
                return Some(around);
            }
            around = scope.parent?;
        }
    }

    /// The scope of a class that was evaluated.
    pub(crate) fn class_scope(&self, class: &str) -> Option<ScopeId> {
        self.class_scopes.get(class).copied()
    }

    /// The definition of `a::x`, or of `::x`.
    pub(crate) fn qualified(&self, name: &str) -> Option<DefinitionId> {
        let name = name.strip_prefix("::").unwrap_or(name);
        let Some((class, leaf)) = name.rsplit_once("::") else {
            return self.scopes[ScopeId::TOP.index()].variables.get(name);
        };
        let mut scope = Some(*self.class_scopes.get(class)?);
        while let Some(id) = scope {
            let this = &self.scopes[id.index()];
            if let Some(definition) = this.variables.get(leaf) {
                return Some(definition);
            }
            scope = this.inherits;
        }
        None
    }

    /// `$x = e` (Assign): the value is bound in the current scope, once.
    pub(super) fn assignment(&mut self, at: &'t Expression, sides: &'t [Expression; 2]) -> Outcome {
        let [left, right] = sides;
        let value = self.nested(right)?;
        self.assign(left, &value, at)?;
        Ok(value)
    }

    fn assign(&mut self, left: &'t Expression, value: &Value, at: &'t Expression) -> Outcome<()> {
        match &left.kind {
            Kind::Variable(name) => {
                let control = self.control;
                let definition = Definition {
                    value: value.clone(),
                    control,
                    how: How::Assigned(at),
                };
                self.define(name.clone(), definition, left.span)
            }
            Kind::Array(variables) => self.destructure(variables, value, at),
            _ => fail(DESTRUCTURING, "only variables can be assigned", left.span),
        }
    }

    fn destructure(
        &mut self,
        variables: &'t [Expression],
        value: &Value,
        at: &'t Expression,
    ) -> Outcome<()> {
        if let Datum::Hash(hash) = &value.datum {
            for variable in variables {
                let Kind::Variable(name) = &variable.kind else {
                    let message = "the values of a hash can be assigned to variables only";
                    return fail(DESTRUCTURING, message, variable.span);
                };
                let Some(value) = hash.get_text(name) else {
                    let message = format!("the hash has no key `{name}`");
                    return fail(DESTRUCTURING, message, variable.span);
                };
                self.assign(variable, value, at)?;
            }
            return Ok(());
        }
        if let Datum::Type(kind) = &value.datum
            && let crate::types::Type::Class(Some(class)) = kind.as_ref()
        {
            for variable in variables {
                let Kind::Variable(name) = &variable.kind else {
                    let message = "the variables of a class can be assigned to variables only";
                    return fail(DESTRUCTURING, message, variable.span);
                };
                let Some(definition) = self.qualified(&format!("{class}::{name}")) else {
                    let message = format!("class `{class}` has no variable `${name}`");
                    return fail(DESTRUCTURING, message, variable.span);
                };
                let value = self.trace.definition(definition).value.clone();
                self.assign(variable, &value, at)?;
            }
            return Ok(());
        }
        let values = match &value.datum {
            Datum::Array(array) => array.as_slice(),
            _ => std::slice::from_ref(value),
        };
        if values.len() != variables.len() {
            let message = format!(
                "expected {} values, one for each variable, found {}",
                variables.len(),
                values.len()
            );
            return fail(DESTRUCTURING, message, at.span);
        }
        let mut pairs = variables.iter().zip(values);
        pairs.try_for_each(|(variable, value)| self.assign(variable, value, at))
    }

    /// Binds a variable where assignments go: in the lambda or function around, or in the scope.
    pub(crate) fn define(
        &mut self,
        name: EcoString,
        definition: Definition<'t>,
        span: Span,
    ) -> Outcome<()> {
        if matches!(name.as_str(), "trusted" | "facts" | "server_facts") {
            let message = format!("`${name}` belongs to the language and cannot be assigned");
            return fail(RESERVED_VARIABLE, message, span);
        }
        let frames = self.frames[self.base..].iter_mut().rev();
        let local = frames.into_iter().find_map(|frame| match frame {
            Frame::Local(variables) => Some(Ok(variables)),
            Frame::Parameters(_) => Some(Err(())),
            Frame::Match(_) => None,
        });
        let variables = match local {
            Some(Ok(variables)) => variables,
            Some(Err(())) => {
                let message = format!("`${name}` cannot be assigned in the default of a parameter");
                return fail(UNEVALUATED_PARAMETER, message, span);
            }
            None => &mut self.scopes[self.scope.index()].variables,
        };
        if let Some(first) = variables.get(&name) {
            let first = self.trace.definition(first);
            let (how, origin) = (first.how, first.value.origin);
            let trouble = match how {
                How::Language => self.built_in_variable(&name, span, origin),
                _ => reassigned(&name, span, how),
            };
            return Err(failed(trouble));
        }
        let definition = self.trace.define(definition);
        variables.insert(name, definition);
        Ok(())
    }

    /// A variable is assigned that has a value before any manifest has: a fact, or one of the language.
    fn built_in_variable(&self, name: &str, span: Span, origin: Origin) -> Diagnostic {
        if self.node.facts.get_text(name).is_none() {
            let message = format!("`${name}` has a value already: it belongs to the language");
            let trouble = Diagnostic::error(REASSIGNED, message).at(span);
            return trouble.help("choose another name");
        }
        let message = format!("`${name}` has a value already: it is a fact");
        let mut trouble = Diagnostic::error(REASSIGNED, message).at(span);
        if let Some(fact) = self.handed_on_from(origin) {
            trouble = trouble.label(fact, "the fact is written here");
        }
        trouble.help("all facts are variables of the top scope; choose another name")
    }

    /// Binds a variable of a scope that belongs to the language, or to a parameter.
    pub(crate) fn bind(&mut self, scope: ScopeId, name: &str, definition: Definition<'t>) {
        let definition = self.trace.define(definition);
        let variables = &mut self.scopes[scope.index()].variables;
        variables.insert(name.into(), definition);
    }

    /// A frame with some variables.
    pub(crate) fn local(
        &mut self,
        variables: impl IntoIterator<Item = (EcoString, Definition<'t>)>,
    ) -> Frame {
        let mut frame = Variables::default();
        for (name, definition) in variables {
            frame.insert(name, self.trace.define(definition));
        }
        Frame::Local(frame)
    }

    /// Runs the code of the top or the node. A match that is made in none of its blocks is seen by all code that looks
    /// into the scope, also by that which runs later.
    pub(crate) fn at_large(
        &mut self,
        scope: ScopeId,
        work: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        let first = self.frames.len();
        let mut left = Vec::new();
        self.apart(scope, |evaluator| {
            work(evaluator)?;
            left = evaluator.frames.split_off(first);
            Ok(())
        })?;
        self.frames.append(&mut left);
        self.suspended.push(Suspended {
            scope,
            frames: first..self.frames.len(),
        });
        self.base = self.frames.len();
        Ok(())
    }

    /// Runs code of a scope, which sees of the lambdas around it only those of scopes that its own looks into.
    pub(crate) fn apart<T>(
        &mut self,
        scope: ScopeId,
        work: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        let before = (self.scope, self.base);
        let waiting = self.suspended.len();
        if self.base < self.frames.len() {
            self.suspended.push(Suspended {
                scope: self.scope,
                frames: self.base..self.frames.len(),
            });
        }
        self.base = self.frames.len();
        self.scope = scope;
        let result = work(self);
        self.frames.truncate(self.base);
        self.suspended.truncate(waiting);
        (self.scope, self.base) = before;
        result
    }
}

fn reassigned(name: &str, span: Span, first: How<'_>) -> Diagnostic {
    let message = format!("`${name}` has a value already");
    let trouble = Diagnostic::error(REASSIGNED, message).at(span);
    let help = "a variable is assigned once in a scope; choose another name";
    let trouble = match first {
        How::Assigned(first) => trouble.label(first.span, "assigned here first"),
        How::Given(parameter) | How::Default(parameter) | How::Data(parameter) => {
            trouble.label(parameter.span, "it is a parameter")
        }
        How::Language => trouble,
    };
    trouble.help(help)
}
