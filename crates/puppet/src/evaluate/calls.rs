//! Calls: functions of the language, functions written in it, and lambdas.

use std::borrow::Cow;
use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Span;

use super::{Evaluator, Known, Outcome, Stop, fail, failed};
use crate::functions;
use crate::scope::{Frame, ScopeId};
use crate::syntax::{Call, DefinitionKind, Expression, Kind, Lambda, Parameter};
use crate::trace::{self, Cause, Definition, How, Origin};
use crate::types::uri::Uri;
use crate::types::{self, Type};
use crate::value::{Datum, Value};

/// A function that nobody defines.
pub const UNKNOWN_FUNCTION: Code = Code::new("puppet.unknown-function");
/// Too many arguments, or too few.
pub const ARGUMENTS: Code = Code::new("puppet.arguments");
/// A value does not have the type that is asked for.
pub const TYPE_MISMATCH: Code = Code::new("puppet.type-mismatch");
/// Something that is no type stands where a type is expected.
pub const NOT_A_TYPE: Code = Code::new("puppet.not-a-type");

/// A call of a function of the language.
pub struct Invocation<'t> {
    /// The call.
    pub at: &'t Expression,
    /// The name of the function.
    pub name: &'t str,
    /// The arguments.
    pub arguments: Vec<Value>,
    /// The lambda behind them.
    pub lambda: Option<&'t Lambda>,
    /// The arguments as written; there may be fewer or more, if there is a splat among them.
    written: &'t [Expression],
}

impl<'t> Invocation<'t> {
    /// Where an argument stands.
    pub fn span(&self, number: usize) -> Span {
        let same = self.written.len() == self.arguments.len();
        match self.written.get(number) {
            Some(argument) if same => argument.span,
            _ => self.at.span,
        }
    }

    /// The arguments, as what something is computed from.
    pub fn origins(&self) -> impl Iterator<Item = Value> + '_ {
        self.arguments.iter().cloned()
    }
}

impl<'t> Evaluator<'t> {
    /// `f(a)`, `a.f`, `Type(a)`
    pub(super) fn call(&mut self, at: &'t Expression, call: &'t Call) -> Outcome {
        let (name, arguments) = match &call.function.kind {
            Kind::Name(name) => (name.as_str(), Vec::with_capacity(call.arguments.len())),
            Kind::Reference(_) | Kind::Access(..) => ("new", vec![self.nested(&call.function)?]),
            _ => {
                let message = "expected the name of a function";
                return fail(UNKNOWN_FUNCTION, message, call.function.span);
            }
        };
        let (arguments, apart) = self.unfolded(arguments, &call.arguments)?;
        if call.method
            && functions::find(name).is_none()
            && let Some(receiver) = arguments.first()
            && let Some(part) = part_of(&receiver.datum, name)
        {
            let origin = self.trace.operation(at, [receiver.clone()]);
            return Ok(Value::new(part, origin));
        }
        let invocation = Invocation {
            at,
            name: name.strip_prefix("::").unwrap_or(name),
            arguments,
            lambda: call.lambda.as_ref(),
            written: &call.arguments,
        };
        if apart.is_empty() {
            return self.invoke(invocation, call.function.span);
        }
        // How many arguments there are depends on what was taken apart.
        let of = self.trace.operation(at, apart);
        self.under(Cause::Element { of, at }, |evaluator| {
            let value = evaluator.invoke(invocation, call.function.span)?;
            Ok(evaluator.outcome(value))
        })
    }

    /// Calls a function by its name.
    pub(crate) fn invoke(&mut self, invocation: Invocation<'t>, name_span: Span) -> Outcome {
        let at = invocation.at;
        if let Some(function) = functions::find(invocation.name) {
            function.check(&invocation)?;
            let lambda = invocation.lambda;
            let work = |evaluator: &mut Self| (function.run)(evaluator, invocation);
            return self.deeper(at.span, |evaluator| match lambda {
                Some(lambda) => evaluator.iterating(lambda, work),
                None => work(evaluator),
            });
        }
        match self.find_function(invocation.name)? {
            Some(function) => self.call_defined(&invocation, function),
            None => {
                let name = invocation.name;
                if let Some(path) = self.site.ruby_function(name) {
                    let message = format!("`{name}` is a function in Ruby, which is not run");
                    let trouble = Diagnostic::error(UNKNOWN_FUNCTION, message).at(name_span);
                    let help = format!(
                        "it is in `{path}`; write it in Puppet, also in the manifest, or put what it comes to into data"
                    );
                    return Err(self.with_chain(trouble.help(help)));
                }
                let message = format!("there is no function `{name}`");
                let trouble = Diagnostic::error(UNKNOWN_FUNCTION, message).at(name_span);
                if let Kind::Call(call) = &at.kind
                    && call.method
                    && let Some(Kind::Variable(hash)) = call.arguments.first().map(|it| &it.kind)
                    && matches!(invocation.arguments.first(), Some(it) if matches!(it.datum, Datum::Hash(_)))
                {
                    let help = format!("an element of a hash is read as `${hash}['{name}']`");
                    return Err(failed(trouble.help(help)));
                }
                let near = similar(name, functions::names());
                Err(failed(match near.first() {
                    Some(near) => trouble.help(format!("did you mean `{near}`?")),
                    None => trouble,
                }))
            }
        }
    }

    /// Does something with a lambda. If that can be left early, the result depends on why it was or was not.
    fn iterating(
        &mut self,
        lambda: &'t Lambda,
        work: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        let returns = self.leaving(trace::Code::Lambda(lambda)).body;
        let work = |evaluator: &mut Self| {
            let lasting = evaluator.lasting;
            let value = work(evaluator)?;
            if evaluator.lasting == lasting {
                return Ok(value);
            }
            evaluator.pass_rest(trace::Code::Lambda(lambda));
            Ok(evaluator.outcome(value))
        };
        match returns {
            true => work(self),
            false => self.leavable(work),
        }
    }

    /// A call of a function by another function.
    pub(crate) fn call_by_name(
        &mut self,
        at: &'t Expression,
        name: &'t str,
        arguments: Vec<Value>,
        lambda: Option<&'t Lambda>,
    ) -> Outcome {
        let invocation = Invocation {
            at,
            name,
            arguments,
            lambda,
            written: &[],
        };
        self.invoke(invocation, at.span)
    }

    /// A function written in Puppet: it sees its parameters and the top scope.
    fn call_defined(&mut self, invocation: &Invocation<'t>, function: Known<'t>) -> Outcome {
        let at = invocation.at;
        let definition = function.definition;
        let arguments = invocation.arguments.clone();
        let run = |evaluator: &mut Self| {
            let bound =
                evaluator.bound(&definition.name, &definition.parameters, arguments, at.span)?;
            let frame = evaluator.local(bound);
            evaluator.frames.push(frame);
            let value = match evaluator.block(&definition.body) {
                Err(stop) => match *stop {
                    Stop::Return(value, _) | Stop::Next(value, _) => {
                        evaluator.pass_rest(trace::Code::Block(&definition.body));
                        value
                    }
                    other => return Err(Box::new(other)),
                },
                Ok(value) => value,
            };
            Ok(evaluator.outcome(value))
        };
        let value = self.deeper(at.span, |evaluator| {
            evaluator.apart(ScopeId::TOP, |evaluator| {
                evaluator.leavable(|evaluator| evaluator.under(Cause::Called(at), run))
            })
        })?;
        if let DefinitionKind::Function {
            returns: Some(returns),
        } = &definition.kind
        {
            let kind = self.declared_type(returns)?;
            let subject = format!("the value returned from {}", definition.name);
            self.expect(&kind, &value, &subject, at.span, Some(returns.span))?;
        }
        Ok(value)
    }

    /// Runs a lambda, under what it runs because of.
    pub(crate) fn call_lambda(
        &mut self,
        lambda: &'t Lambda,
        arguments: Vec<Value>,
        cause: Cause<'t>,
    ) -> Outcome {
        let run = |evaluator: &mut Self| {
            let bound = evaluator.bound("lambda", &lambda.parameters, arguments, lambda.span)?;
            let frame = evaluator.local(bound);
            evaluator.frames.push(frame);
            let value = match evaluator.block(&lambda.body) {
                Err(stop) => match *stop {
                    Stop::Next(value, _) => {
                        evaluator.pass_rest(trace::Code::Block(&lambda.body));
                        value
                    }
                    other => return Err(Box::new(other)),
                },
                Ok(value) => value,
            };
            if let Some(returns) = &lambda.returns {
                let kind = evaluator.declared_type(returns)?;
                let subject = "the value of the lambda";
                let span = lambda.span;
                evaluator.expect(&kind, &value, subject, span, Some(returns.span))?;
            }
            Ok(evaluator.outcome(value))
        };
        let leaving = self.leaving(trace::Code::Block(&lambda.body));
        let round = |evaluator: &mut Self| evaluator.under(cause, run);
        self.deeper(lambda.span, |evaluator| {
            evaluator.guarded(|evaluator| match leaving.ends_round_only() {
                true => evaluator.leavable(round),
                // What was done about `break` and `return` counts for the rounds that follow.
                false => round(evaluator),
            })
        })
    }

    /// The values of parameters, by position.
    pub(crate) fn bound(
        &mut self,
        owner: &str,
        parameters: &'t [Parameter],
        arguments: Vec<Value>,
        span: Span,
    ) -> Outcome<Vec<(EcoString, Definition<'t>)>> {
        check_order(parameters)?;
        let given = arguments.len();
        let control = self.control;
        let takes_all = parameters.last().is_some_and(|last| last.rest);
        if given > parameters.len() && !takes_all {
            let message = format!(
                "{owner} takes {}, and gets {given}",
                counted(parameters.len(), "argument")
            );
            return fail(ARGUMENTS, message, span);
        }
        let mut arguments = arguments.into_iter();
        let mut bound: Vec<(EcoString, Definition<'t>)> = Vec::with_capacity(parameters.len());
        for (number, parameter) in parameters.iter().enumerate() {
            let (value, how) = if parameter.rest {
                let rest: Vec<Value> = arguments.by_ref().collect();
                match &parameter.default {
                    Some(default) if rest.is_empty() => {
                        let value = self.parameter_default(parameters, &bound, default)?;
                        let value = match value.datum {
                            Datum::Array(_) => value,
                            _ => self.array(vec![value], default.span)?,
                        };
                        (value, How::Default(parameter))
                    }
                    _ => (self.array(rest, span)?, How::Given(parameter)),
                }
            } else if let Some(value) = arguments.next() {
                if let Some(default) = &parameter.default
                    && self.does_more(default)
                {
                    self.pass(Origin::NOWHERE, trace::Code::Expression(default));
                }
                (value, How::Given(parameter))
            } else if let Some(default) = &parameter.default {
                let value = self.parameter_default(parameters, &bound, default)?;
                (value, How::Default(parameter))
            } else {
                let message = format!(
                    "{owner} takes {}, and gets {}",
                    counted(parameters.len(), "argument"),
                    given.min(number)
                );
                let trouble = Diagnostic::error(ARGUMENTS, message).at(span);
                let words = format!("`${}` gets no value", parameter.name);
                return Err(failed(trouble.label(parameter.span, words)));
            };
            if let Some(kind) = &parameter.kind {
                let kind = self.declared_type(kind)?;
                let subject = format!("{owner}: parameter '{}'", parameter.name);
                match (&value.datum, parameter.rest) {
                    (Datum::Array(array), true) if !matches!(*kind, Type::Array { .. }) => {
                        for value in array.iter() {
                            self.expect(&kind, value, &subject, span, Some(parameter.span))?;
                        }
                    }
                    _ => self.expect(&kind, &value, &subject, span, Some(parameter.span))?,
                }
            }
            let definition = Definition {
                value,
                control,
                how,
            };
            bound.push((parameter.name.clone(), definition));
        }
        Ok(bound)
    }

    /// The default of a parameter, which sees those before it.
    fn parameter_default(
        &mut self,
        parameters: &'t [Parameter],
        bound: &[(EcoString, Definition<'t>)],
        default: &'t Expression,
    ) -> Outcome {
        let mut names = Vec::with_capacity(parameters.len());
        for (number, parameter) in parameters.iter().enumerate() {
            let definition = bound.get(number).map(|(_, definition)| definition.clone());
            let definition = definition.map(|definition| self.trace.define(definition));
            names.push((parameter.name.clone(), definition));
        }
        self.guarded(|evaluator| {
            evaluator.frames.push(Frame::Parameters(names));
            evaluator.nested(default)
        })
    }

    /// The type that is written somewhere. Most are the same for all who ask, and are made once.
    pub(crate) fn declared_type(&mut self, at: &'t Expression) -> Outcome<Arc<Type>> {
        let key = std::ptr::from_ref(at).addr();
        if let Some(kind) = self.declared_types.get(&key) {
            return Ok(kind.clone());
        }
        let value = self.nested(at)?;
        let Datum::Type(kind) = value.datum else {
            let message = format!(
                "expected a type, found {}",
                Type::of(&value.datum).generalise()
            );
            return fail(NOT_A_TYPE, message, at.span);
        };
        if is_constant(at, &|_| true) {
            self.declared_types.insert(key, kind.clone());
        }
        Ok(kind)
    }

    /// The type of a parameter. One without aliases is made once for all nodes.
    pub(crate) fn parameter_type(
        &mut self,
        parameter: &'t Parameter,
    ) -> Outcome<Option<Cow<'t, Arc<Type>>>> {
        let Some(at) = &parameter.kind else {
            return Ok(None);
        };
        if let Some(kind) = parameter.constant.get() {
            return Ok(Some(Cow::Borrowed(kind)));
        }
        let kind = self.declared_type(at)?;
        if is_constant(at, &|name| types::named(name).is_some()) {
            return Ok(Some(Cow::Borrowed(parameter.constant.get_or_init(|| kind))));
        }
        Ok(Some(Cow::Owned(kind)))
    }

    /// Whether a value has a type; the trouble is told as one with `subject`.
    pub(crate) fn expect(
        &mut self,
        kind: &Type,
        value: &Value,
        subject: &str,
        span: Span,
        declared: Option<Span>,
    ) -> Outcome<()> {
        if kind.instance(&value.datum) {
            return Ok(());
        }
        let message = types::mismatch(subject, kind, &value.datum);
        let mut trouble = Diagnostic::error(TYPE_MISMATCH, message).at(span);
        if let Some(declared) = declared {
            trouble = trouble.label(declared, "declared here");
        }
        if value.is_undef() {
            if let Some((span, words)) = self.absence(value.origin) {
                trouble = trouble.label(span, words);
            }
        } else if !matches!(value.datum, Datum::Sensitive(_))
            && let Some(written) = self.written_at(value.origin)
            && !(span.start <= written.start && written.end <= span.end)
        {
            trouble = trouble.label(written, "the value is written here");
        }
        Err(failed(trouble))
    }

    /// Where a value is written that was only handed on; of an array or a hash in the data, where that begins.
    fn written_at(&self, origin: Origin) -> Option<Span> {
        self.handed_on_from(origin).or_else(|| {
            let at = self.written_in_data(origin)?;
            self.key_of_written(at).map(|_| Span::at(at))
        })
    }

    /// A function written in Puppet.
    pub(crate) fn find_function(&mut self, name: &str) -> Outcome<Option<Known<'t>>> {
        let name: EcoString = name.into();
        if let Some(known) = self.functions.get(&name) {
            return Ok(known.clone());
        }
        if let Some(loaded) = self.site.autoload(&name, "functions") {
            self.learn(loaded)?;
        }
        let found = self.functions.get(&name).cloned().flatten();
        self.functions.insert(name, found.clone());
        Ok(found)
    }
}

/// `uri.host`: what an address or an object holds by a name.
fn part_of(receiver: &Datum, name: &str) -> Option<Datum> {
    match receiver {
        Datum::Uri(uri) => Uri::is_part(&name.into()).then(|| uri.part(name)),
        Datum::Object(object) => Some(object.attributes.get_text(name)?.datum.clone()),
        _ => None,
    }
}

/// Arguments have no names: one that must be there cannot follow one that need not.
fn check_order(parameters: &[Parameter]) -> Outcome<()> {
    let is_optional = |parameter: &&Parameter| parameter.default.is_some();
    let mut from_optional = parameters.iter().skip_while(|one| !is_optional(one));
    let Some(optional) = from_optional.next() else {
        return Ok(());
    };
    let Some(required) = from_optional.find(|one| !one.rest && !is_optional(one)) else {
        return Ok(());
    };
    let (name, before) = (&required.name, &optional.name);
    let message = format!("`${name}` needs a default, as `${before}` before it has one");
    let trouble = Diagnostic::error(ARGUMENTS, message).at(required.span);
    Err(failed(trouble.label(optional.span, "it may be left out")))
}

/// Whether a type comes out the same wherever it is evaluated, if its names do.
fn is_constant(at: &Expression, named: &dyn Fn(&str) -> bool) -> bool {
    let is_constant = |inner: &Expression| is_constant(inner, named);
    match &at.kind {
        Kind::Reference(name) => named(name),
        Kind::Integer(_)
        | Kind::Float(_)
        | Kind::Text(_)
        | Kind::Name(_)
        | Kind::Bool(_)
        | Kind::Default
        | Kind::Undef
        | Kind::Pattern(_) => true,
        Kind::Minus(inner) | Kind::Parenthesised(inner) => is_constant(inner),
        Kind::Access(of, keys) => is_constant(of) && keys.iter().all(is_constant),
        Kind::Array(elements) => elements.iter().all(is_constant),
        Kind::Hash(entries) => entries
            .iter()
            .all(|(key, value)| is_constant(key) && is_constant(value)),
        _ => false,
    }
}

/// `1 argument`, `2 arguments`
pub(crate) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
