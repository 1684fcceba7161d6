//! Templates and files: `epp`, `file`, and finding them in modules.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use super::{ANY, ARGUMENT, Function, Takes, erb, plain};
use crate::evaluate::{Evaluator, Invocation, Outcome, Stop, fail, failed, flatten};
use crate::scope::{Frame, ScopeId, ScopeKind};
use crate::site::Loaded;
use crate::syntax::Parameter;
use crate::trace::{Cause, Code as Passage, Definition, How, Node, Origin};
use crate::value::{Datum, Hash, Value};

/// A template that is not there, or gets parameters that it does not take.
pub const TEMPLATE: Code = Code::new("puppet.template");
/// A template written in ERB.
pub const ERB: Code = Code::new("puppet.erb");
/// A program whose output is asked for.
pub const GENERATE: Code = Code::new("puppet.generate");
/// A file that is not there.
pub const NO_FILE: Code = Code::new("puppet.no-file");

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "epp",
        (1, 2),
        "epp(String $template, Hash $parameters = {}) >> String: what the template `module/file.epp` renders; it sees its parameters and the top scope",
        |evaluator, call| {
            let name = text(&call, 0)?;
            let parameters = parameters(&call)?;
            let Some(path) = template_path(evaluator, &name) else {
                return Err(no_template(evaluator, &name, "epp", call.span(0)));
            };
            let site = evaluator.site;
            let Some(template) = site.template(&path) else {
                return Err(no_template(evaluator, &name, "epp", call.span(0)));
            };
            let scope = global_scope(evaluator);
            evaluator.render_template(&call, template, parameters, Sees::Only(scope))
        },
    ),
    plain(
        "inline_epp",
        (1, 2),
        "inline_epp(String $text, Hash $parameters = {}) >> String: what a text renders; it sees what the caller sees",
        |evaluator, call| {
            let source = text(&call, 0)?;
            let parameters = parameters(&call)?;
            let site = evaluator.site;
            let template = site
                .inline_template(&source)
                .map_err(|trouble| failed(*trouble))?;
            evaluator.render_template(&call, template, parameters, Sees::Caller)
        },
    ),
    plain(
        "file",
        (1, ANY),
        "file(String *$files) >> String: what the first of the files `module/file` that is there says",
        |evaluator, call| {
            let names = texts(&call)?;
            for name in &names {
                let Some(path) = find(evaluator, name, "files") else {
                    continue;
                };
                if let Some(content) = read(evaluator, &call, &path)? {
                    let origin = evaluator
                        .trace
                        .choice(call.at, content.origin, call.origins());
                    return Ok(Value { origin, ..content });
                }
            }
            let message = match names.as_slice() {
                [name] => format!("there is no file `{name}`"),
                names => format!("there is none of the files `{}`", names.join("`, `")),
            };
            let trouble = Diagnostic::error(NO_FILE, message).at(call.span(0));
            let help = "`module/name` is the file `name` in `module/files`";
            Err(failed(trouble.help(help)))
        },
    ),
    plain(
        "find_file",
        (0, ANY),
        "find_file(String *$files) >> Optional[String]: where the first of the files `module/file` is that is there",
        |evaluator, call| {
            let names = texts(&call)?;
            let found = names.iter().find_map(|name| find(evaluator, name, "files"));
            let found = found.map(|path| evaluator.site.whole_path(&path));
            Ok(call.result(evaluator, found.map_or(Datum::Undef, Datum::from)))
        },
    ),
    plain(
        "find_template",
        (0, ANY),
        "find_template(String *$templates) >> Optional[String]: where the first of the templates `module/file` is that is there",
        |evaluator, call| {
            let names = texts(&call)?;
            let found = names
                .iter()
                .find_map(|name| find(evaluator, name, "templates"));
            let found = found.map(|path| evaluator.site.whole_path(&path));
            Ok(call.result(evaluator, found.map_or(Datum::Undef, Datum::from)))
        },
    ),
    plain(
        "module_directory",
        (0, ANY),
        "module_directory(String *$modules) >> Optional[String]: where the first of the modules is that is there",
        |evaluator, call| {
            let names = texts(&call)?;
            let found = names
                .iter()
                .find_map(|name| evaluator.site.module_directory(name));
            let found = found.map(|path| evaluator.site.whole_path(path));
            Ok(call.result(evaluator, found.map_or(Datum::Undef, Datum::from)))
        },
    ),
    plain(
        "get_module_path",
        (1, 1),
        "get_module_path(String $module) >> String: where a module is, which must be there",
        |evaluator, call| {
            let name = text(&call, 0)?;
            let Some(found) = evaluator.site.module_directory(&name) else {
                return fail(
                    NO_FILE,
                    format!("there is no module `{name}`"),
                    call.span(0),
                );
            };
            let found = evaluator.site.whole_path(found);
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "binary_file",
        (1, 1),
        "binary_file(String $file) >> Binary: what the file `module/file` holds",
        |evaluator, call| {
            let name = text(&call, 0)?;
            let site = evaluator.site;
            let path = find(evaluator, &name, "files");
            let found = path.map(|path| site.text(&path)).transpose();
            let found = found.map_err(|trouble| failed(trouble.at(call.span(0))))?;
            let Some(span) = found.flatten() else {
                let message = format!("there is no file `{name}`");
                return fail(NO_FILE, message, call.span(0));
            };
            evaluator.files_read.push(span);
            let bytes = Datum::Binary(site.slice(span).into_bytes().into());
            let operands = [Origin::written(span.start), call.arguments[0].origin];
            let origin = evaluator.trace.operation(call.at, operands);
            Ok(Value::new(bytes, origin))
        },
    ),
    Function {
        name: "template",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "template(String *$templates): ERB is not run; `epp` renders templates",
        run: |evaluator, call| {
            if evaluator.options.without_erb {
                let names = texts(&call)?;
                return erb::of_files(evaluator, &call, &names);
            }
            let name = text(&call, 0)?;
            let path = find(evaluator, &name, "templates");
            let shown = format!("`{}`", path.as_deref().unwrap_or(&name));
            let new = name.strip_suffix(".erb").unwrap_or(&name);
            let instead = format!("epp('{new}.epp', {{ … }})");
            Err(not_run(evaluator, &call, &shown, &instead))
        },
    },
    Function {
        name: "inline_template",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "inline_template(String *$texts): ERB is not run; `inline_epp` renders texts",
        run: |evaluator, call| {
            if evaluator.options.without_erb {
                let texts = text_values(&call)?;
                return erb::of_texts(evaluator, &call, texts);
            }
            Err(not_run(evaluator, &call, "this", "inline_epp"))
        },
    },
    Function {
        name: "generate",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "generate(String *$command): no program is run while a catalog is made",
        run: |_, call| {
            let message = "no program is run while a catalog is made";
            let trouble = Diagnostic::error(GENERATE, message).at(call.at.span);
            let help = "run it before, and keep what it says as a fact or in the data";
            Err(failed(trouble.help(help)))
        },
    },
];

/// What a template sees besides its parameters.
enum Sees {
    /// What the caller sees.
    Caller,
    /// The variables of a scope.
    Only(ScopeId),
}

impl<'t> Evaluator<'t> {
    /// What a template renders.
    fn render_template(
        &mut self,
        call: &Invocation<'t>,
        template: &'t Loaded,
        given: Option<Hash>,
        sees: Sees,
    ) -> Outcome {
        if let Some(definition) = template.program.definitions.first() {
            let message = "a template defines nothing: no classes, types, nodes or functions";
            let trouble = Diagnostic::error(TEMPLATE, message).at(definition.name_span);
            return Err(failed(trouble.label(call.at.span, "rendered here")));
        }
        self.learn(template)?;
        let passed = self.trace.passed().len();
        self.rendered.push(Vec::new());
        let rendering = |evaluator: &mut Self| {
            evaluator.under(Cause::Called(call.at), |evaluator| {
                let frame = evaluator.template_frame(call, template, given)?;
                evaluator.frames.push(frame);
                evaluator.block(&template.program.body)
            })
        };
        let result = self.deeper(call.at.span, |evaluator| {
            evaluator.leavable(|evaluator| match sees {
                Sees::Caller => evaluator.guarded(rendering),
                Sees::Only(scope) => evaluator.apart(scope, rendering),
            })
        });
        let fragments = self.rendered.pop().expect("it was put there");
        match result {
            Ok(_) => {}
            // Whatever was rendered before is not asked for.
            Err(stop) => match *stop {
                Stop::Next(value, _) => return Ok(value),
                other => return Err(Box::new(other)),
            },
        }
        let mut whole = EcoString::new();
        let mut secret = false;
        for fragment in &fragments {
            let datum = match &fragment.datum {
                Datum::Sensitive(inner) => {
                    secret = true;
                    &inner.datum
                }
                other => other,
            };
            whole.push_str(&crate::text::text(datum));
            call.check_length(whole.len())?;
        }
        let origin = self.trace.operation(call.at, fragments);
        // The template, and what would have rendered more.
        let mut decided = vec![call.arguments[0].clone()];
        decided.extend(self.passed_in(template, passed).map(Value::from));
        // Which variables the template has is what it was given by name.
        if let Some(given) = call.arguments.get(1) {
            let structure = self.trace.add(Node::Structure(given.origin));
            decided.push(structure.into());
            if let Datum::Hash(given) = &given.datum {
                decided.extend(given.iter().map(|(_, entry)| Value::from(entry.key)));
            }
        }
        let origin = self.trace.choice(call.at, origin, decided);
        let value = Value::new(whole, origin);
        Ok(match secret {
            true => Value::new(Datum::Sensitive(value.into()), origin),
            false => value,
        })
    }

    /// What decided that some of a template was not rendered.
    fn passed_in(
        &mut self,
        template: &Loaded,
        from: usize,
    ) -> impl Iterator<Item = Origin> + use<> {
        let file = self.site.unit().sources.span(template.program.file);
        let inside = |code: &Passage<'_>| {
            let span = match code {
                Passage::Block(block) => block.span,
                Passage::Expression(expression) => expression.span,
                Passage::Lambda(lambda) => lambda.span,
            };
            file.start <= span.start && span.end <= file.end
        };
        let passed = self.trace.passed()[from..].iter();
        let here: Vec<_> = passed
            .filter(|passed| inside(&passed.code))
            .map(|passed| (passed.outcome, passed.control))
            .collect();
        let of = None;
        let origins: Vec<Origin> = here
            .into_iter()
            .map(|(value, control)| self.trace.add(Node::Outcome { value, control, of }))
            .collect();
        origins.into_iter()
    }

    /// The parameters of a template, by name. One that declares none takes whatever it is given.
    fn template_frame(
        &mut self,
        call: &Invocation<'t>,
        template: &'t Loaded,
        given: Option<Hash>,
    ) -> Outcome<Frame> {
        let Some(declared) = &template.program.parameters else {
            let given = given.unwrap_or_default();
            let control = self.control;
            let variables = given.iter().map(|(key, entry)| {
                let definition = Definition {
                    value: entry.value.clone(),
                    control,
                    how: How::Language,
                };
                (crate::text::text(key), definition)
            });
            let variables: Vec<_> = variables.collect();
            return Ok(self.local(variables));
        };
        let given = given.unwrap_or_default();
        for (key, _) in given.iter() {
            let name = crate::text::text(key);
            if !declared.iter().any(|parameter| parameter.name == name) {
                let mut message = format!("the template has no parameter named '{name}'");
                let is_missing = |parameter: &&Parameter| {
                    parameter.default.is_none() && given.get_text(&parameter.name).is_none()
                };
                let missing = declared.iter().find(is_missing);
                if let Some(missing) = missing {
                    message.push_str(&format!(
                        ", and expects a value for parameter '{}'",
                        missing.name
                    ));
                }
                let mut trouble = Diagnostic::error(TEMPLATE, message).at(call.at.span);
                if let Some(missing) = missing {
                    trouble = trouble.label(missing.span, "it has no default");
                }
                let names = declared.iter().map(|parameter| parameter.name.as_str());
                let near = hence_model::diagnostic::similar(&name, names);
                return Err(failed(match near.first() {
                    Some(near) => trouble.help(format!("did you mean `{near}`?")),
                    None => trouble,
                }));
            }
        }
        let mut bound = Vec::with_capacity(declared.len());
        for parameter in declared {
            let definition = self.template_parameter(call, declared, parameter, &given, &bound)?;
            bound.push((parameter.name.clone(), definition));
        }
        Ok(self.local(bound))
    }

    fn template_parameter(
        &mut self,
        call: &Invocation<'t>,
        declared: &'t [Parameter],
        parameter: &'t Parameter,
        given: &Hash,
        bound: &[(EcoString, Definition<'t>)],
    ) -> Outcome<Definition<'t>> {
        let control = self.control;
        let own = given.get_text(&parameter.name);
        let (value, how) = match (own, &parameter.default) {
            (Some(value), _) if !value.is_undef() => (value.clone(), How::Given(parameter)),
            (_, Some(default)) => {
                // A default sees what is given, and the defaults before it.
                let mut names = Vec::with_capacity(declared.len());
                for other in declared {
                    let before = bound.iter().find(|(name, _)| *name == other.name);
                    let definition = match before {
                        Some((_, definition)) => Some(definition.clone()),
                        None => given
                            .get_text(&other.name)
                            .filter(|value| !value.is_undef())
                            .map(|value| Definition {
                                value: value.clone(),
                                control,
                                how: How::Given(other),
                            }),
                    };
                    let definition = definition.map(|definition| self.trace.define(definition));
                    names.push((other.name.clone(), definition));
                }
                let value = self.guarded(|evaluator| {
                    evaluator.frames.push(Frame::Parameters(names));
                    evaluator.nested(default)
                })?;
                (value, How::Default(parameter))
            }
            (Some(undef), None) => (undef.clone(), How::Given(parameter)),
            (None, None) => {
                let message = format!(
                    "the template expects a value for parameter '{}'",
                    parameter.name
                );
                let trouble = Diagnostic::error(TEMPLATE, message).at(call.at.span);
                return Err(failed(trouble.label(parameter.span, "it has no default")));
            }
        };
        if let Some(kind) = &parameter.kind {
            let kind = self.declared_type(kind)?;
            let subject = format!("the template: parameter '{}'", parameter.name);
            let span = call.at.span;
            self.expect(&kind, &value, &subject, span, Some(parameter.span))?;
        }
        Ok(Definition {
            value,
            control,
            how,
        })
    }
}

/// The scope of the node, or the top, around the code that runs.
fn global_scope(evaluator: &Evaluator<'_>) -> ScopeId {
    let scope = evaluator.scope;
    match evaluator.scopes[scope.index()].kind {
        ScopeKind::Top | ScopeKind::Node => scope,
        _ => evaluator.base_of(scope).unwrap_or(ScopeId::TOP),
    }
}

fn template_path(evaluator: &Evaluator<'_>, name: &str) -> Option<String> {
    let as_is = || find(evaluator, name, "templates");
    match name.ends_with(".epp") {
        true => as_is(),
        false if name.starts_with('/') && as_is().is_some() => as_is(),
        false => find(evaluator, &format!("{name}.epp"), "templates"),
    }
}

/// Where `module/file` is, below a folder of the module; a path from the root is taken as it is.
pub(super) fn find(evaluator: &Evaluator<'_>, name: &str, folder: &str) -> Option<String> {
    let path = match name.starts_with('/') {
        true => evaluator.site.as_given(name).into_owned(),
        false => {
            let (module, file) = name.split_once('/')?;
            let directory = evaluator.site.module_directory(module)?;
            [directory, "/", folder, "/", file].concat()
        }
    };
    let (directory, last) = path.rsplit_once('/')?;
    let directory = if directory.is_empty() { "/" } else { directory };
    let listed = evaluator.site.list(directory);
    let is_there = listed
        .iter()
        .any(|name| name.strip_suffix('/').unwrap_or(name) == last);
    is_there.then_some(path)
}

/// What a file says, as a value that is written there.
pub(super) fn read<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    path: &str,
) -> Outcome<Option<Value>> {
    let site = evaluator.site;
    let found = site
        .text(path)
        .map_err(|trouble| failed(trouble.label(call.at.span, "asked for here")))?;
    evaluator.files_read.extend(found);
    Ok(found.map(|span| Value::new(site.slice(span), Origin::written(span.start))))
}

/// A template in ERB is to be rendered.
fn not_run<'t>(
    evaluator: &Evaluator<'t>,
    call: &Invocation<'t>,
    template: &str,
    instead: &str,
) -> Box<Stop> {
    let message = format!("{template} is a template in ERB, which would have to be run as Ruby");
    let trouble = Diagnostic::error(ERB, message).at(call.at.span);
    let help =
        format!("convert it to EPP, where `<%= @port %>` is `<%= $port %>`, and call `{instead}`");
    let trouble = trouble.help(help);
    evaluator
        .with_chain(trouble.help("`--without-erb` goes on with a stand-in for what it renders"))
}

pub(super) fn no_template(
    evaluator: &Evaluator<'_>,
    name: &str,
    extension: &str,
    span: Span,
) -> Box<Stop> {
    let message = format!("there is no template `{name}`");
    let trouble = Diagnostic::error(TEMPLATE, message).at(span);
    let help = match name.split_once('/') {
        Some((module, file)) if !name.starts_with('/') => {
            let file = match extension {
                "erb" => file.to_owned(),
                _ => format!("{}.epp", file.strip_suffix(".epp").unwrap_or(file)),
            };
            format!("it would be the file `{module}/templates/{file}`")
        }
        Some(_) => return evaluator.with_chain(trouble),
        None => format!("a template is named `module/file.{extension}`"),
    };
    evaluator.with_chain(trouble.help(help))
}

fn text(call: &Invocation<'_>, number: usize) -> Outcome<EcoString> {
    match &call.arguments[number].datum {
        Datum::Text(text) => Ok(text.clone()),
        _ => fail(ARGUMENT, "expected text", call.span(number)),
    }
}

/// All arguments, which are texts or arrays of texts.
fn texts(call: &Invocation<'_>) -> Outcome<Vec<EcoString>> {
    let texts = text_values(call)?.into_iter();
    let texts = texts.map(|value| crate::text::text(&value.datum));
    Ok(texts.collect())
}

fn text_values(call: &Invocation<'_>) -> Outcome<Vec<Value>> {
    let mut values = Vec::new();
    let arguments = call.arguments.iter();
    arguments.for_each(|argument| flatten(argument, &mut values));
    let is_text = |value: &Value| matches!(value.datum, Datum::Text(_));
    match values.iter().all(is_text) {
        true => Ok(values),
        false => fail(ARGUMENT, "expected text", call.at.span),
    }
}

/// The parameters of a template, by name.
fn parameters(call: &Invocation<'_>) -> Outcome<Option<Hash>> {
    let Some(argument) = call.arguments.get(1) else {
        return Ok(None);
    };
    let Datum::Hash(hash) = &argument.datum else {
        return fail(ARGUMENT, "expected a hash of parameters", call.span(1));
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (key, _) in hash.iter() {
        let named =
            matches!(key, Datum::Text(name) if !name.is_empty() && name.chars().all(is_name));
        if !named {
            let message = format!("`{}` cannot name a parameter", crate::text::text(key));
            return fail(ARGUMENT, message, call.span(1));
        }
    }
    Ok(Some(hash.clone()))
}
