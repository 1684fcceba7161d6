//! Declaring classes and resources, tags, and asking what is there.

use ecow::EcoString;

use super::{ANY, ARGUMENT, Function, Takes};
use crate::evaluate::{Evaluator, Invocation, Outcome, VIRTUAL_CLASS, fail, flatten};
use crate::resource::{Attribute, Said, is_tag};
use crate::syntax::Form;
use crate::types::Type;
use crate::value::{Array, Datum, Value};

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
                let origins: Vec<_> = values.iter().map(|value| value.origin).collect();
                let origin = evaluator.trace.operation(call.at, origins);
                let container = &evaluator.resources[id.index()];
                let attribute = Attribute {
                    name: "require".into(),
                    value: Value::new(Array::from(values), origin),
                    span: call.at.span,
                    how: Said::Relationship,
                    source: container.source.clone(),
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
                evaluator.resources[id.index()].tags.add(&text);
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
            let has = |tag: &Value| {
                let tag = crate::text::text(&tag.datum).to_lowercase();
                let declared = evaluator
                    .classes
                    .iter()
                    .any(|class| *class == tag || class.split("::").any(|part| part == tag));
                declared || evaluator.is_tagged(id, std::slice::from_ref(&tag))
            };
            let tagged = call.arguments.iter().all(has);
            let origin = evaluator.trace.operation(call.at, call.origins());
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
            for argument in &call.arguments {
                found |= defined(evaluator, &call, argument)?;
            }
            let origin = evaluator.trace.operation(call.at, call.origins());
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
];

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

fn defined<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    what: &Value,
) -> Outcome<bool> {
    match &what.datum {
        Datum::Text(text) => match text.strip_prefix('$') {
            Some(name) if name.contains("::") => Ok(evaluator.qualified(name).is_some()),
            Some(name) => Ok(evaluator.visible(name, call.at.span)?.is_some()),
            None if text.is_empty() => Ok(false),
            None if text == "main" => Ok(true),
            None => {
                let name = text.strip_prefix("::").unwrap_or(text).to_lowercase();
                let known = evaluator.is_resource_type(&name)?;
                Ok(known || evaluator.find_class(&name)?.is_some())
            }
        },
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
            Datum::Undef => Default::default(),
            other => {
                let message = format!(
                    "expected a hash of attributes for '{}', found {}",
                    crate::text::text(title),
                    Type::of(other).generalise()
                );
                return fail(ARGUMENT, message, call.span(1));
            }
        };
        let mut attributes = Vec::new();
        let merged = crate::evaluate::merged(&defaults, &given);
        for (name, value) in merged.iter() {
            let key = Value::new(name.clone(), value.key);
            let container = &call.arguments[1];
            let value = evaluator.element(call.at, Some(&value.value), container, &key);
            attributes.push(Attribute {
                name: crate::text::text(name),
                value,
                span: call.at.span,
                how: Said::Declared,
                source: evaluator.scopes[evaluator.scope.index()].source.clone(),
                control: evaluator.control,
                adds: false,
            });
        }
        let key = Value::new(title.clone(), entry.key);
        let title = evaluator.element(call.at, Some(&key), &call.arguments[1], &key);
        created.push(evaluator.declare(&type_name, title, attributes, form, call.at.span)?);
    }
    Ok(references(evaluator, &call, created))
}
