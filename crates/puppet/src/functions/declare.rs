//! Declaring classes and resources, tags, and asking what is there.

use ecow::EcoString;
use hence_model::diagnostic::Diagnostic;

use super::arguments::older_datum;
use super::{ANY, ARGUMENT, Function, Takes, plain};
use crate::evaluate::{Evaluator, Invocation, Outcome, VIRTUAL_CLASS, fail, flatten};
use crate::resource::{Attribute, Said, is_tag};
use crate::syntax::Form;
use crate::trace::{Cause, Node};
use crate::types::Type;
use crate::value::{Array, Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "include",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "include(Any *$classes): declares classes, each once, and returns references to them",
        run: |evaluator, call| {
            let names = names(&call);
            let resources = evaluator.include(&names, call.at.span)?;
            Ok(references(evaluator, &call, resources))
        },
    },
    Function {
        name: "contain",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "contain(Any *$classes): as include, and the class around contains them",
        run: |evaluator, call| {
            let names = names(&call);
            let container = evaluator.scopes[evaluator.scope.index()].resource;
            let resources = evaluator.include(&names, call.at.span)?;
            for resource in &resources {
                if !evaluator.edges.contains(&(container, *resource)) {
                    evaluator.edges.push((container, *resource));
                }
            }
            Ok(references(evaluator, &call, resources))
        },
    },
    Function {
        name: "require",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "require(Any *$classes): as include, and the class around requires them",
        run: |evaluator, call| {
            let names = names(&call);
            let resources = evaluator.include(&names, call.at.span)?;
            let id = evaluator.scopes[evaluator.scope.index()].resource;
            for resource in &resources {
                let reference = evaluator.reference_to(*resource, names[0].origin);
                let container = &evaluator.resources[id.index()];
                let mut values = Vec::new();
                if let Some(current) = container.attribute("require") {
                    flatten(&current.value, &mut values);
                    values.retain(|value| !value.is_undef());
                }
                values.push(reference);
                let origin = evaluator.trace.operation(call.at, values.clone());
                let attribute = Attribute {
                    name: "require".into(),
                    value: Value::new(Array::from(values), origin),
                    span: call.at.span,
                    how: Said::Relationship,
                    scope: evaluator.resources[id.index()].scope,
                    control: evaluator.control,
                    adds: true,
                };
                evaluator.resources[id.index()].set(attribute);
            }
            Ok(references(evaluator, &call, resources))
        },
    },
    Function {
        name: "realize",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "realize(Any *$references): puts virtual resources into the catalog",
        run: |evaluator, call| {
            let references = names(&call);
            evaluator.realise(&references, call.at.span)?;
            Ok(evaluator.written(Datum::Undef, call.at.span))
        },
    },
    Function {
        name: "tag",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "tag(Any *$tags): tags the class or defined type around, and all that it contains",
        run: |evaluator, call| {
            let id = evaluator.scopes[evaluator.scope.index()].resource;
            for tag in names(&call) {
                let text = crate::text::text(&tag.datum);
                if !is_tag(&text) {
                    let message = format!("'{text}' cannot be a tag");
                    return fail(crate::evaluate::TAG, message, call.at.span);
                }
                let control = evaluator.control;
                let rare = evaluator.resources[id.index()].rare_mut();
                rare.tags.add(&text);
                rare.tagged.push((tag, control));
            }
            Ok(evaluator.written(Datum::Undef, call.at.span))
        },
    },
    Function {
        name: "tagged",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "tagged(Any *$tags) >> Boolean: whether the class or defined type around has all these tags",
        run: |evaluator, call| {
            let id = evaluator.scopes[evaluator.scope.index()].resource;
            let mut tagged = true;
            let mut seen: Vec<Value> = call.origins().collect();
            for tag in &call.arguments {
                let tag = crate::text::text(&tag.datum).to_lowercase();
                let mut classes = evaluator.classes.iter();
                let is_tag = |class: &&EcoString| {
                    **class == tag || class.split("::").any(|part| part == tag)
                };
                let declared = classes.find(is_tag);
                let declared = declared.and_then(|class| evaluator.find_resource("class", class));
                if let Some(class) = declared {
                    seen.push(evaluator.trace.add(Node::Present(class)).into());
                    continue;
                }
                seen.push(evaluator.trace.add(Node::Tagged(id)).into());
                if !evaluator.is_tagged(id, &[tag]) {
                    tagged = false;
                    let class = Datum::from(Type::Class(Some("".into())));
                    seen.extend(evaluator.evidence(&class, false));
                }
            }
            let origin = evaluator.trace.operation(call.at, seen);
            Ok(Value::new(tagged, origin))
        },
    },
    Function {
        name: "defined",
        arguments: (1, ANY),
        lambda: Takes::None,
        about: "defined(Variant[String, Type] *$what) >> Boolean: whether a class, type, resource or `$variable` is there",
        run: |evaluator, call| {
            let mut found = false;
            let mut seen: Vec<Value> = call.origins().collect();
            for argument in &call.arguments {
                found |= match variable_name(&argument.datum) {
                    Some(name) => {
                        let definition = match name.contains("::") {
                            true => evaluator.qualified(name),
                            false => evaluator.visible(name, call.at.span)?,
                        };
                        seen.push(evaluator.sighting(name, definition));
                        evaluator.is_known(name, definition)
                    }
                    None => {
                        let is_defined = defined(evaluator, &call, argument)?;
                        seen.extend(evaluator.evidence(&argument.datum, is_defined));
                        is_defined
                    }
                };
            }
            let origin = evaluator.trace.operation(call.at, seen);
            Ok(Value::new(found, origin))
        },
    },
    Function {
        name: "create_resources",
        arguments: (2, 3),
        lambda: Takes::None,
        about: "create_resources(String $type, Hash $resources, Hash $defaults = {}): declares resources from data",
        run: create_resources,
    },
    plain(
        "ensure_resource",
        (2, ANY),
        "ensure_resource(String $type, Variant[String, Array] $titles, Hash $attributes = {}): declares resources, but for those that are there with these attributes",
        |evaluator, call| {
            let call = call.older()?;
            let type_name = call.text(evaluator, 0)?.clone();
            let attributes = attributes_argument(evaluator, &call, 2)?;
            let mut titles = Vec::new();
            super::ruby::flatten([&call.arguments[1]], &mut titles);
            for title in titles {
                ensure(evaluator, &call, &type_name, title, &attributes)?;
            }
            Ok(evaluator.written(Datum::Undef, call.at.span))
        },
    ),
    plain(
        "ensure_resources",
        (2, ANY),
        "ensure_resources(String $type, Hash $resources, Hash $defaults = {}): as ensure_resource, for a hash of titles and attributes",
        |evaluator, call| {
            let call = call.older()?;
            let type_name = call.text(evaluator, 0)?.clone();
            let resources = call.hash(evaluator, 1)?.clone();
            let defaults = attributes_argument(evaluator, &call, 2)?;
            ensure_all(evaluator, &call, &type_name, &resources, &defaults)?;
            Ok(evaluator.written(Datum::Undef, call.at.span))
        },
    ),
    plain(
        "ensure_packages",
        (1, 2),
        "ensure_packages(Variant[String, Array[String], Hash] $packages, Hash $attributes = {}): declares packages as installed, but for those that are there already",
        ensure_packages,
    ),
    plain(
        "defined_with_params",
        (1, ANY),
        "defined_with_params(Variant[String, Resource] $reference, Hash $attributes = {}) >> Boolean: whether a resource was declared before with these attributes",
        |evaluator, call| {
            let call = call.older()?;
            let reference = match &call.arguments[0].datum {
                Datum::Type(kind) => match kind.as_ref() {
                    Type::Resource(Some(name), Some(title)) => Some((name.clone(), title.clone())),
                    _ => None,
                },
                Datum::Text(text) => {
                    let parts = text.strip_suffix(']').and_then(|it| it.split_once('['));
                    parts.map(|(name, title)| (name.to_lowercase().into(), title.into()))
                }
                _ => None,
            };
            let Some((type_name, title)) = reference else {
                return call.unexpected(evaluator, 0, "a reference to a resource");
            };
            let attributes = attributes_argument(evaluator, &call, 1)?;
            let (found, evidence) = is_there(evaluator, &type_name, &title, &attributes);
            let seen: Vec<Value> = call.origins().chain(evidence).collect();
            let origin = evaluator.trace.operation(call.at, seen);
            Ok(Value::new(found, origin))
        },
    ),
];

/// An argument with attributes: a hash, or nothing at all.
fn attributes_argument<'t>(
    evaluator: &Evaluator<'t>,
    call: &Invocation<'t>,
    number: usize,
) -> Outcome<Hash> {
    match call.arguments.get(number).map(|argument| &argument.datum) {
        None | Some(Datum::Bool(false)) => Ok(Hash::from_iter([])),
        Some(Datum::Text(text)) if text.is_empty() => Ok(Hash::from_iter([])),
        Some(_) => call.hash(evaluator, number).cloned(),
    }
}

/// Whether a resource was declared with all these attributes, and what that depends on.
fn is_there(
    evaluator: &mut Evaluator<'_>,
    type_name: &str,
    title: &str,
    attributes: &Hash,
) -> (bool, Vec<Value>) {
    let reference = Type::Resource(Some(type_name.into()), Some(title.into()));
    let evidence = evaluator.evidence(&reference.into(), true);
    let mut seen: Vec<Value> = evidence.into_iter().collect();
    let Some(of) = evaluator.find_resource(type_name, title) else {
        return (false, seen);
    };
    let own = evaluator.scopes[evaluator.scope.index()].resource;
    let mut is_there = of != own;
    for (name, entry) in attributes.iter() {
        let name = crate::text::text(name);
        let value = evaluator.attribute_now(of, &name);
        let datum = value.as_ref().map_or(&Datum::Undef, |value| &value.datum);
        is_there &= super::ruby::equal(datum, &entry.value.datum);
        seen.extend(value);
        seen.push(evaluator.trace.add(Node::Attribute { of, name }).into());
    }
    (is_there, seen)
}

/// Declares a resource, unless it is there.
fn ensure<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    type_name: &str,
    title: Value,
    attributes: &Hash,
) -> Outcome<()> {
    let type_name = type_name.strip_prefix("::").unwrap_or(type_name);
    if matches!(&title.datum, Datum::Text(text) if text.is_empty()) {
        return Err(evaluator.no_title(&title, call.at.span));
    }
    let name = crate::catalog::key_text(&title.datum);
    let type_name: EcoString = type_name.to_lowercase().into();
    let (is_there, evidence) = is_there(evaluator, &type_name, &name, attributes);
    if is_there {
        return Ok(());
    }
    // Had it been there, this would declare nothing.
    let outcome = evaluator.trace.operation(call.at, evidence);
    evaluator.under(Cause::Stayed { outcome }, |evaluator| {
        let declared = declared_from(evaluator, call, attributes);
        let title = call.handed_on(evaluator, title);
        let place = (call.at.span, call.at.span);
        evaluator.declare(&type_name, title, declared, Form::Regular, place)
    })?;
    Ok(())
}

fn ensure_all<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    type_name: &str,
    resources: &Hash,
    defaults: &Hash,
) -> Outcome<()> {
    for (title, entry) in resources.iter() {
        let attributes = match &entry.value.datum {
            Datum::Hash(attributes) => crate::evaluate::merged(defaults, attributes),
            Datum::Undef | Datum::Bool(false) => defaults.clone(),
            _ => return call.unexpected(evaluator, 1, "a hash of hashes with attributes"),
        };
        let mut titles = Vec::new();
        super::ruby::flatten([&Value::new(title.clone(), entry.key)], &mut titles);
        for title in titles {
            ensure(evaluator, call, type_name, title, &attributes)?;
        }
    }
    Ok(())
}

fn ensure_packages<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let mut defaults = match call.arguments.get(1) {
        Some(_) => call.hash(evaluator, 1)?.clone(),
        None => Hash::from_iter([]),
    };
    let said = evaluator.trace.operation::<Value>(call.at, []);
    let text = |text: &str| Value::new(text, said);
    let given = defaults.get_text("ensure").map(|value| &value.datum);
    let first: Hash = [(text("ensure"), text("installed"))].into_iter().collect();
    defaults = match given {
        Some(Datum::Text(given)) if given == "present" => {
            crate::evaluate::merged(&first, &defaults).with(text("ensure"), text("installed"))
        }
        _ => crate::evaluate::merged(&first, &defaults),
    };
    let packages = match &call.arguments[0].datum {
        Datum::Hash(packages) => {
            let packages = packages.clone();
            let named = |key: &Datum| matches!(key, Datum::Text(name) if !name.is_empty());
            if !packages.iter().all(|(key, _)| named(key)) {
                return call.unexpected(evaluator, 0, "names of packages as keys");
            }
            ensure_all(evaluator, &call, "package", &packages, &defaults)?;
            return Ok(evaluator.written(Datum::Undef, call.at.span));
        }
        Datum::Array(packages) => packages.as_slice().to_vec(),
        _ => vec![call.arguments[0].clone()],
    };
    for package in packages {
        match &package.datum {
            Datum::Text(name) if !name.is_empty() => {
                ensure(evaluator, &call, "package", package, &defaults)?;
            }
            _ => return call.unexpected(evaluator, 0, "the names of packages"),
        }
    }
    Ok(evaluator.written(Datum::Undef, call.at.span))
}

/// Attributes that a function declares.
fn declared_from<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    attributes: &Hash,
) -> Vec<Attribute> {
    let mut declared: Vec<Attribute> = Vec::with_capacity(attributes.len());
    for (name, entry) in attributes.iter() {
        let key = Value::new(name.clone(), entry.key);
        let container = call.arguments.last().expect("there is one at least");
        let value = evaluator.element(call.at, Some(&entry.value), container, &key);
        let attribute = Attribute {
            name: crate::text::text(name),
            value,
            span: call.at.span,
            how: Said::Declared,
            scope: evaluator.scope,
            control: evaluator.control,
            adds: false,
        };
        // Keys of different types may be the same name.
        match declared.iter_mut().find(|one| one.name == attribute.name) {
            Some(place) => *place = attribute,
            None => declared.push(attribute),
        }
    }
    declared
}

fn names(call: &Invocation<'_>) -> Vec<Value> {
    let mut names = Vec::new();
    call.arguments
        .iter()
        .for_each(|argument| flatten(argument, &mut names));
    names
}

fn references<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    resources: Vec<crate::trace::ResourceId>,
) -> Value {
    let origin = evaluator.trace.operation(call.at, call.origins());
    let references = resources
        .into_iter()
        .map(|id| evaluator.reference_to(id, origin));
    let references: Array = references.collect();
    Value::new(references, origin)
}

/// The variable that a text names: `$a`.
fn variable_name(datum: &Datum) -> Option<&str> {
    match datum {
        Datum::Text(text) => text.strip_prefix('$'),
        _ => None,
    }
}

/// Whether there is a class, a type of resources, or a resource.
fn defined<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    what: &Value,
) -> Outcome<bool> {
    match &what.datum {
        Datum::Text(text) if text.is_empty() => Ok(false),
        Datum::Text(text) if text == "main" => Ok(true),
        Datum::Text(text) => {
            let name = text.strip_prefix("::").unwrap_or(text).to_lowercase();
            let known = evaluator.is_resource_type(&name)?;
            Ok(known || evaluator.find_class(&name)?.is_some())
        }
        Datum::Type(kind) => defined_type(evaluator, call, kind),
        other => {
            let message = format!(
                "`defined` takes text or a reference, and this is {}",
                Type::of(other).generalise()
            );
            fail(ARGUMENT, message, call.at.span)
        }
    }
}

fn defined_type<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    kind: &Type,
) -> Outcome<bool> {
    match kind {
        Type::Resource(Some(name), None) => evaluator.is_resource_type(name),
        Type::Resource(Some(name), Some(title)) => {
            Ok(evaluator.find_resource(name, title).is_some())
        }
        Type::Class(Some(name)) => Ok(evaluator.find_resource("class", name).is_some()),
        Type::Type(inner) => match inner.as_deref() {
            Some(Type::Class(Some(name))) => Ok(evaluator.find_class(name)?.is_some()),
            Some(inner) => defined_type(evaluator, call, inner),
            None => fail(ARGUMENT, "this could be any type", call.at.span),
        },
        _ => {
            let message = "`defined` takes a reference to a class or a resource";
            fail(ARGUMENT, message, call.at.span)
        }
    }
}

fn create_resources<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let Datum::Text(written) = &call.arguments[0].datum else {
        return fail(
            ARGUMENT,
            "expected the name of a type of resources",
            call.span(0),
        );
    };
    let (form, type_name) = match written.strip_prefix("@@") {
        Some(name) => (Form::Exported, name),
        None => match written.strip_prefix('@') {
            Some(name) => (Form::Virtual, name),
            None => (Form::Regular, written.as_str()),
        },
    };
    let type_name: EcoString = type_name
        .strip_prefix("::")
        .unwrap_or(type_name)
        .to_lowercase()
        .into();
    if type_name == "class" && form != Form::Regular {
        return fail(
            VIRTUAL_CLASS,
            "a class cannot be virtual or exported",
            call.span(0),
        );
    }
    let hash = |number: usize| match call.arguments.get(number).map(|argument| &argument.datum) {
        None => Ok(None),
        Some(Datum::Hash(hash)) => Ok(Some(hash.clone())),
        Some(other) => {
            let message = format!("expected a hash, found {}", Type::of(other).generalise());
            fail(ARGUMENT, message, call.span(number))
        }
    };
    let instances = hash(1)?.unwrap_or_default();
    let defaults = hash(2)?.unwrap_or_default();
    let mut created = Vec::with_capacity(instances.len());
    for (title, entry) in instances.iter() {
        let given = match &entry.value.datum {
            Datum::Hash(given) => given.clone(),
            other => {
                let message = format!(
                    "expected a hash of attributes for '{}', found {}",
                    crate::text::text(title),
                    Type::of(other).generalise()
                );
                let trouble = Diagnostic::error(ARGUMENT, message).at(call.span(1));
                let trouble = trouble.help("one without attributes is written `{}`");
                return Err(evaluator.blaming(trouble, &entry.value));
            }
        };
        let merged = crate::evaluate::merged(&defaults, &given);
        let attributes = declared_from(evaluator, &call, &merged);
        let key = Value::new(title.clone(), entry.key);
        let titles = match title {
            Datum::Array(titles) => titles.as_slice(),
            _ => std::slice::from_ref(&key),
        };
        for title in titles {
            let mut title = evaluator.element(call.at, Some(title), &call.arguments[1], &key);
            if let Some(datum) = older_datum(&title.datum) {
                title.datum = datum;
            }
            let place = (call.at.span, call.at.span);
            let attributes = attributes.clone();
            created.push(evaluator.declare(&type_name, title, attributes, form, place)?);
        }
    }
    Ok(references(evaluator, &call, created))
}
