//! How it is told that a value is not of a type.
//!
//! A mismatch is what was expected, what was found, and the way there: `parameter 'ports' index 1 expects an
//! Integer value, got String`. Where a type leaves a choice, what all options have against the value becomes one
//! mismatch, if that can be said in one.

use std::fmt;

use ecow::EcoString;

use crate::value::Datum;

use super::assignable::tuple_size;
use super::parameters::{article, is_callable, simple_name};
use super::{Member, Range, Signature, Type};

/// What is wrong at one place.
#[derive(Clone, Debug)]
pub struct Mismatch {
    path: Vec<Step>,
    kind: Kind,
}

/// A step on the way to what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Subject(EcoString),
    Parameter(EcoString),
    Entry(EcoString),
    KeyOf(EcoString),
    Index(usize),
    Returned,
    Block,
    /// One of several options; it is not told, but keeps apart what each has against a value.
    Option(usize),
    /// One of several ways to call a function.
    Form(usize),
    /// What a name stands for; it is not told, but keeps the way from going in circles.
    Within(EcoString),
}

#[derive(Clone, Debug)]
enum Kind {
    MissingKey(EcoString),
    MissingParameter(EcoString),
    UnknownKey(EcoString),
    UnknownParameter(EcoString),
    UnexpectedBlock,
    MissingBlock,
    Unresolved(EcoString),
    Type { expected: Type, actual: Type },
    Pattern { expected: Type, actual: Type },
    Size { expected: Range, actual: Range },
    Count { expected: Range, actual: Range },
}

/// A way to call a function.
#[derive(Clone, Debug)]
pub struct Form {
    /// What its parameters are called.
    pub names: Vec<EcoString>,
    /// What its block is called.
    pub block: EcoString,
    /// What it takes.
    pub signature: Signature,
}

/// Tells why a value is not of a type; nothing if it is.
pub fn mismatch(subject: &str, expected: &Type, actual: &Datum) -> String {
    mismatch_of_types(subject, expected, &Type::of(actual))
}

/// Tells why a type is not accepted by another; nothing if it is.
pub fn mismatch_of_types(subject: &str, expected: &Type, actual: &Type) -> String {
    let path = [Step::Subject(subject.into())];
    let mismatches = describe(expected, actual, &path);
    match mismatches.as_slice() {
        [one] => one.to_string().trim().to_owned(),
        several => joined(several),
    }
}

fn joined(mismatches: &[Mismatch]) -> String {
    let told: Vec<String> = mismatches.iter().map(Mismatch::to_string).collect();
    told.join("\n ")
}

/// Checks what is given to a class, a resource or a template: what it does not know, what it misses, what is of
/// a wrong type. A function to be called later is taken at its word.
pub fn check_parameters(
    parameters: &[(&str, &Type, bool)],
    given: &[(&str, &Datum)],
) -> Vec<Mismatch> {
    let mut mismatches: Vec<Mismatch> = given
        .iter()
        .filter(|(name, _)| !parameters.iter().any(|(known, ..)| known == name))
        .map(|(name, _)| Mismatch::new(&[], Kind::UnknownParameter((*name).into())))
        .collect();
    for (name, kind, required) in parameters {
        match given.iter().find(|(given, _)| given == name) {
            Some((_, Datum::Object(object))) if object.kind == "Deferred" => {}
            Some((_, value)) if kind.instance(value) => {}
            Some((_, value)) => {
                let path = [Step::Parameter((*name).into())];
                mismatches.extend(describe(kind, &Type::of(value), &path));
            }
            None if *required => {
                mismatches.push(Mismatch::new(&[], Kind::MissingParameter((*name).into())));
            }
            None => {}
        }
    }
    mismatches
}

/// Tells what is wrong with what is given to something.
pub fn tell(owner: &str, mismatches: &[Mismatch]) -> String {
    match mismatches {
        [] => String::new(),
        [one] => format!("{owner}:{one}"),
        several => format!("{owner}:\n {}", joined(several)),
    }
}

/// Tells why a function cannot be called with some arguments, the last of which may be a block.
pub fn refusal(function: &str, forms: &[Form], arguments: &Type) -> String {
    let by_form = |describe: &dyn Fn(&Form, &[Step]) -> Vec<Mismatch>| -> Vec<Vec<Mismatch>> {
        let forms = forms.iter().enumerate();
        forms
            .map(|(index, form)| describe(form, &[Step::Form(index)]))
            .collect()
    };
    let mut reasons = by_form(&|form, path| describe_arguments(form, arguments, path));
    if reasons.iter().any(Vec::is_empty) {
        let blocks = by_form(&|form, path| describe_block(&form.signature, arguments, path));
        if blocks.iter().all(|block| !block.is_empty()) {
            reasons = blocks;
        } else {
            for (reason, block) in reasons.iter_mut().zip(blocks) {
                if reason.is_empty() {
                    *reason = block;
                }
            }
        }
    }
    let label = match function {
        "lambda" => "block".to_owned(),
        name => format!("'{name}'"),
    };
    let merged = merged(0, Measure::Arguments, &reasons);
    if let [one] = merged.as_slice() {
        return format!("{label}{one}");
    }
    let rejected = |reasons: &[Mismatch], indent: &str| -> String {
        let told = reasons.iter().map(|reason| {
            let reason = reason.clone().without_step(0);
            format!("\n{indent}rejected:{reason}")
        });
        told.collect()
    };
    if let ([form], [reasons]) = (forms, reasons.as_slice()) {
        return format!("{label} expects ({form}){}", rejected(reasons, "  "));
    }
    let mut text = format!(
        "The function {label} was called with arguments it does not accept. It expects one of:"
    );
    for (form, reasons) in forms.iter().zip(&reasons) {
        text += &format!("\n  ({form}){}", rejected(reasons, "    "));
    }
    text
}

fn describe(expected: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    if let Some(name) = unresolved(expected, &mut Vec::new()) {
        return vec![Mismatch::new(path, Kind::Unresolved(name))];
    }
    describe_as(&expected.normalise(), expected, actual, path)
}

/// A name in a type that nothing is known by.
fn unresolved(kind: &Type, seen: &mut Vec<*const super::Alias>) -> Option<EcoString> {
    match kind {
        Type::Reference(name) => Some(name.clone()),
        Type::Alias(alias) => {
            let itself = std::sync::Arc::as_ptr(alias);
            if seen.contains(&itself) {
                return None;
            }
            seen.push(itself);
            unresolved(alias.body()?, seen)
        }
        other => other
            .held()
            .into_iter()
            .find_map(|inner| unresolved(inner, seen)),
    }
}

/// The mismatches of a type that is said as shortly as can be; `original` is how it was said.
fn describe_as(expected: &Type, original: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    let plain = || vec![Mismatch::of_type(path, original, actual)];
    match expected {
        Type::Variant(options) => describe_variant(options, original, actual, path),
        Type::Struct(members) => describe_struct(members, original, actual, path),
        Type::Hash(key, value, size) => describe_hash((key, value), *size, original, actual, path),
        Type::Tuple(types, size) => {
            if expected == actual {
                return Vec::new();
            }
            describe_tuple(types, *size, original, actual, path, Measure::Elements)
        }
        Type::Array(element, size) => describe_array(element, *size, original, actual, path),
        Type::Callable(wanted) => match (wanted, actual) {
            (None, Type::Callable(_)) => Vec::new(),
            (Some(wanted), Type::Callable(Some(given))) => describe_callable(wanted, given, path),
            _ => plain(),
        },
        Type::Optional(inner) => match (inner, actual) {
            (None, _) | (_, Type::Undef) => Vec::new(),
            (Some(inner), _) => {
                let original = if original.is_alias() {
                    original
                } else {
                    expected
                };
                describe_as(inner, original, actual, path)
            }
        },
        Type::Pattern(_) | Type::Enum(..) => vec![Mismatch::new(
            path,
            Kind::Pattern {
                expected: original.normalise(),
                actual: actual.normalise(),
            },
        )],
        Type::Data | Type::RichData | Type::Alias(_) => {
            // Coming back to a name without having gone into the value leads nowhere.
            let name = Step::Within(expected.name());
            let stays = |step: &&Step| matches!(step, Step::Within(_) | Step::Option(_));
            let circle = path
                .iter()
                .rev()
                .take_while(stays)
                .any(|step| *step == name);
            match expected.body() {
                Some(body) if !circle => {
                    describe_as(&body.normalise(), expected, actual, &along(path, name))
                }
                _ => plain(),
            }
        }
        _ if expected.assignable(actual) => Vec::new(),
        _ => plain(),
    }
}

fn describe_variant(
    options: &[Type],
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    let undef = [Type::Undef];
    let options: Vec<&Type> = match original {
        Type::Optional(_) => undef.iter().chain(options).collect(),
        _ => options.iter().collect(),
    };
    let mut reasons = Vec::new();
    for (index, option) in options.into_iter().enumerate() {
        let path = along(path, Step::Option(index));
        let reason = describe(option, actual, &path);
        if reason.is_empty() {
            return Vec::new();
        }
        reasons.push(reason);
    }
    let merged = merged(path.len(), Measure::Elements, &reasons);
    match original.is_alias() && merged.len() == 1 {
        true => vec![Mismatch::of_type(path, original, actual)],
        false => merged,
    }
}

/// What sizes are counted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Elements,
    Arguments,
}

/// What all options have against a value, as one mismatch if they have the same kind of thing at the same place.
fn merged(step: usize, measure: Measure, reasons: &[Vec<Mismatch>]) -> Vec<Mismatch> {
    let mut all: Vec<Mismatch> = reasons.iter().flatten().cloned().collect();
    let kinds: [fn(&Kind, Measure) -> bool; 4] = [
        |kind, measure| match kind {
            Kind::Count { .. } => true,
            Kind::Size { .. } => measure == Measure::Elements,
            _ => false,
        },
        |kind, _| matches!(kind, Kind::MissingBlock),
        |kind, _| matches!(kind, Kind::UnexpectedBlock),
        |kind, _| matches!(kind, Kind::Type { .. } | Kind::Pattern { .. }),
    ];
    for of_kind in kinds {
        let same: Vec<&Mismatch> = all
            .iter()
            .filter(|mismatch| of_kind(&mismatch.kind, measure))
            .collect();
        if same.len() != reasons.len() {
            continue;
        }
        let mut same = same.into_iter();
        let Some(first) = same.next().cloned() else {
            continue;
        };
        if let Some(one) = same.try_fold(first, |one, other| one.merge(other)) {
            all = vec![one];
            break;
        }
    }
    match all.len() {
        1 => all.into_iter().map(|one| one.without_step(step)).collect(),
        _ => all,
    }
}

fn describe_array(
    element: &Type,
    size: Option<Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    match actual {
        Type::Tuple(types, actual_size) => {
            let size = size.unwrap_or(Range::ANY_SIZE);
            let actual_size = actual_size.unwrap_or(Range::size(types.len()));
            if !size.covers(&actual_size) {
                return vec![Mismatch::of_size(path, size, actual_size)];
            }
            let wrong = types
                .iter()
                .enumerate()
                .filter(|(_, kind)| !element.assignable(kind));
            wrong
                .flat_map(|(index, kind)| describe(element, kind, &along(path, Step::Index(index))))
                .collect()
        }
        Type::Array(actual_element, actual_size) => {
            let actual_size = actual_size.unwrap_or(Range::ANY_SIZE);
            match size {
                Some(size) if !size.covers(&actual_size) => {
                    vec![Mismatch::of_size(path, size, actual_size)]
                }
                _ => {
                    let actual = Type::array((**actual_element).clone(), None);
                    vec![Mismatch::of_type(path, original, &actual)]
                }
            }
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_hash(
    (key, value): (&Type, &Type),
    size: Option<Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    match actual {
        Type::Struct(members) => {
            let size = size.unwrap_or(Range::ANY_SIZE);
            let actual_size = struct_size(members);
            if !size.covers(&actual_size) {
                return vec![Mismatch::of_size(path, size, actual_size)];
            }
            let mut mismatches = Vec::new();
            for member in members.iter() {
                if !key.assignable(&member.key()) {
                    let path = along(path, Step::KeyOf(member.name.clone()));
                    mismatches.extend(describe(key, &member.key(), &path));
                }
                if !value.assignable(&member.value) {
                    let path = along(path, Step::Entry(member.name.clone()));
                    mismatches.extend(describe(value, &member.value, &path));
                }
            }
            mismatches
        }
        Type::Hash(actual_key, actual_value, actual_size) => {
            let actual_size = actual_size.unwrap_or(Range::ANY_SIZE);
            match size {
                Some(size) if !size.covers(&actual_size) => {
                    vec![Mismatch::of_size(path, size, actual_size)]
                }
                _ => {
                    let (key, value) = ((**actual_key).clone(), (**actual_value).clone());
                    let actual = Type::hash(key, value, None);
                    vec![Mismatch::of_type(path, original, &actual)]
                }
            }
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

/// How many entries a hash of some members has.
fn struct_size(members: &[Member]) -> Range {
    let required = members.iter().filter(|member| !member.optional).count();
    Range {
        min: Range::size(required).min,
        max: Range::size(members.len()).max,
    }
}

fn describe_struct(
    members: &[Member],
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    match actual {
        Type::Struct(given) => {
            let mut mismatches = Vec::new();
            for member in members {
                let Some(found) = given.iter().find(|found| found.name == member.name) else {
                    if !member.optional {
                        let missing = Kind::MissingKey(member.name.clone());
                        mismatches.push(Mismatch::new(path, missing));
                    }
                    continue;
                };
                if !member.key().assignable(&found.key()) {
                    let path = along(path, Step::KeyOf(member.name.clone()));
                    mismatches.extend(describe(&member.key(), &found.key(), &path));
                }
                if !member.value.assignable(&found.value) {
                    let path = along(path, Step::Entry(member.name.clone()));
                    mismatches.extend(describe(&member.value, &found.value, &path));
                }
            }
            let unknown = given
                .iter()
                .filter(|found| !members.iter().any(|member| member.name == found.name));
            mismatches.extend(
                unknown.map(|found| Mismatch::new(path, Kind::UnknownKey(found.name.clone()))),
            );
            mismatches
        }
        Type::Hash(key, value, actual_size) => {
            let size = struct_size(members);
            let actual_size = actual_size.unwrap_or(Range::ANY_SIZE);
            if !size.covers(&actual_size) {
                return vec![Mismatch::of_size(path, size, actual_size)];
            }
            let actual = Type::hash((**key).clone(), (**value).clone(), None);
            vec![Mismatch::of_type(path, original, &actual)]
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_tuple(
    types: &[Type],
    size: Option<Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
    measure: Measure,
) -> Vec<Mismatch> {
    let size = tuple_size(types, size);
    let wrong_size = |actual: Range| {
        let kind = match measure {
            Measure::Elements => Kind::Size {
                expected: size,
                actual,
            },
            Measure::Arguments => Kind::Count {
                expected: size,
                actual,
            },
        };
        vec![Mismatch::new(path, kind)]
    };
    match actual {
        Type::Tuple(given, given_size) => {
            let given_size = tuple_size(given, *given_size);
            if !size.covers(&given_size) {
                return wrong_size(given_size);
            }
            let Some(last) = types.len().checked_sub(1) else {
                return Vec::new();
            };
            let given = given.iter().enumerate();
            given
                .flat_map(|(index, kind)| {
                    let index = index.min(last);
                    describe(&types[index], kind, &along(path, Step::Index(index)))
                })
                .collect()
        }
        Type::Array(..) if types.is_empty() => Vec::new(),
        Type::Array(element, given_size) => {
            let given_size = given_size.unwrap_or(Range::ANY_SIZE);
            if !size.covers(&given_size) {
                return wrong_size(given_size);
            }
            let types = types.iter().enumerate();
            types
                .flat_map(|(index, kind)| describe(kind, element, &along(path, Step::Index(index))))
                .collect()
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_callable(wanted: &Signature, given: &Signature, path: &[Step]) -> Vec<Mismatch> {
    if wanted.parameters != given.parameters || wanted.size != given.size {
        let parameters = Type::Tuple(wanted.parameters.clone(), wanted.size);
        let actual = Type::Tuple(given.parameters.clone(), given.size);
        let wrong = describe_tuple(
            &wanted.parameters,
            wanted.size,
            &parameters,
            &actual,
            path,
            Measure::Arguments,
        );
        if !wrong.is_empty() {
            return wrong;
        }
    }
    let returned = |signature: &Signature| signature.returns.clone().unwrap_or(Type::Any);
    let (expected, actual) = (returned(wanted), returned(given));
    if !expected.assignable(&actual) {
        let path = along(path, Step::Returned);
        return vec![Mismatch::of_type(&path, &expected, &actual)];
    }
    let block = |signature: &Signature| signature.block.clone().unwrap_or(Type::Undef);
    let (expected, actual) = (block(wanted), block(given));
    if !actual.assignable(&expected) {
        let path = along(path, Step::Block);
        return vec![Mismatch::of_type(&path, &expected, &actual)];
    }
    Vec::new()
}

fn describe_arguments(form: &Form, arguments: &Type, path: &[Step]) -> Vec<Mismatch> {
    let parameters = &form.signature.parameters;
    let size = tuple_size(parameters, form.signature.size);
    let (types, actual_size) = match arguments {
        Type::Tuple(types, size) => (types.to_vec(), tuple_size(types, *size)),
        Type::Array(element, size) => (
            vec![(**element).clone(); parameters.len()],
            size.unwrap_or(Range::ANY_SIZE),
        ),
        other => {
            let expected = Type::Tuple(parameters.clone(), form.signature.size);
            return vec![Mismatch::of_type(path, &expected, other)];
        }
    };
    let (types, actual_size) = match types.split_last() {
        Some((last, rest)) if is_callable(last) => (rest, Range::size(rest.len())),
        _ => (&types[..], actual_size),
    };
    if !size.covers(&actual_size) {
        return vec![Mismatch::new(
            path,
            Kind::Count {
                expected: size,
                actual: actual_size,
            },
        )];
    }
    let Some(last) = parameters.len().checked_sub(1) else {
        return Vec::new();
    };
    for (index, actual) in types.iter().enumerate() {
        let index = index.min(last);
        let expected = &parameters[index];
        if expected.assignable(actual) {
            continue;
        }
        let name = form.names.get(index).cloned().unwrap_or_default();
        let reasons = describe(expected, actual, &along(path, Step::Parameter(name)));
        if !reasons.is_empty() {
            return reasons;
        }
    }
    Vec::new()
}

fn describe_block(signature: &Signature, arguments: &Type, path: &[Step]) -> Vec<Mismatch> {
    let given = match arguments {
        Type::Tuple(types, _) => types.last().filter(|last| is_callable(last)),
        _ => None,
    };
    match (given, &signature.block) {
        (Some(_), None) => vec![Mismatch::new(path, Kind::UnexpectedBlock)],
        (Some(given), Some(wanted)) => describe(wanted, given, &along(path, Step::Block)),
        (None, Some(wanted)) if !wanted.assignable(&Type::Undef) => {
            vec![Mismatch::new(path, Kind::MissingBlock)]
        }
        _ => Vec::new(),
    }
}

fn along(path: &[Step], step: Step) -> Vec<Step> {
    path.iter().cloned().chain([step]).collect()
}

impl Mismatch {
    fn new(path: &[Step], kind: Kind) -> Self {
        let path = path.to_vec();
        Self { path, kind }
    }

    fn of_type(path: &[Step], expected: &Type, actual: &Type) -> Self {
        let (expected, actual) = (expected.normalise(), actual.normalise());
        Self::new(path, Kind::Type { expected, actual })
    }

    fn of_size(path: &[Step], expected: Range, actual: Range) -> Self {
        Self::new(path, Kind::Size { expected, actual })
    }

    /// The place, whichever options led there.
    fn place(&self) -> impl Iterator<Item = &Step> {
        let path = self.path.iter();
        path.filter(|step| !matches!(step, Step::Option(_) | Step::Form(_) | Step::Within(_)))
    }

    /// Both as one, if they are about the same place.
    fn merge(self, other: &Mismatch) -> Option<Mismatch> {
        if !self.place().eq(other.place()) {
            return None;
        }
        let kind = match (self.kind, &other.kind) {
            (
                Kind::Type { expected, actual },
                Kind::Type { expected: more, .. } | Kind::Pattern { expected: more, .. },
            ) => Kind::Type {
                expected: Type::variant([expected, more.clone()]).normalise(),
                actual,
            },
            (
                Kind::Pattern { expected, actual },
                Kind::Type { expected: more, .. } | Kind::Pattern { expected: more, .. },
            ) => Kind::Pattern {
                expected: Type::variant([expected, more.clone()]).normalise(),
                actual,
            },
            (Kind::Size { expected, actual }, Kind::Size { expected: more, .. }) => Kind::Size {
                expected: expected.to_size().hull(&more.to_size()),
                actual,
            },
            (Kind::Count { expected, actual }, Kind::Count { expected: more, .. }) => Kind::Count {
                expected: expected.to_size().hull(&more.to_size()),
                actual,
            },
            (kind, _) => kind,
        };
        let path = self.path;
        Some(Mismatch { path, kind })
    }

    fn without_step(mut self, at: usize) -> Self {
        if at < self.path.len() {
            self.path.remove(at);
        }
        self
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Subject(name) => f.write_str(name),
            Step::Parameter(name) => write!(f, "parameter '{name}'"),
            Step::Entry(name) => write!(f, "entry '{name}'"),
            Step::KeyOf(name) => write!(f, "key of entry '{name}'"),
            Step::Index(index) => write!(f, "index {index}"),
            Step::Returned => f.write_str("return"),
            Step::Block => f.write_str("block"),
            Step::Option(index) => write!(f, "variant {index}"),
            Step::Form(index) => write!(f, "{}.", index + 1),
            Step::Within(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Mismatch {
    /// What is wrong, with a space in front: it follows a subject.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |step: &&Step| !matches!(step, Step::Within(_));
        for step in self.path.iter().filter(told) {
            write!(f, " {step}")?;
        }
        match &self.kind {
            Kind::MissingKey(key) => write!(f, " expects a value for key '{key}'"),
            Kind::MissingParameter(name) => write!(f, " expects a value for parameter '{name}'"),
            Kind::UnknownKey(key) => write!(f, " unrecognized key '{key}'"),
            Kind::UnknownParameter(name) => write!(f, " has no parameter named '{name}'"),
            Kind::UnexpectedBlock => f.write_str(" does not expect a block"),
            Kind::MissingBlock => f.write_str(" expects a block"),
            Kind::Unresolved(name) => write!(f, " references an unresolved type '{name}'"),
            Kind::Type { expected, actual } => f.write_str(&tell_types(expected, actual)),
            Kind::Pattern { expected, actual } => {
                let (undef, expected) = match expected {
                    Type::Optional(Some(inner)) => ("an undef value or ", &**inner),
                    other => ("", other),
                };
                let expected = expected.explained();
                let actual = match actual {
                    Type::Exactly(text) => format!("'{text}'"),
                    other => short_name(other),
                };
                write!(f, " expects {undef}a match for {expected}, got {actual}")
            }
            Kind::Size { expected, actual } => write!(
                f,
                " expects size to be {}, got {}",
                sized(expected, "0"),
                sized(actual, "0")
            ),
            Kind::Count { expected, actual } => {
                let plural = match (expected.min.unwrap_or(0), expected.max) {
                    (1, Some(1) | None) | (0, Some(1)) => "",
                    _ => "s",
                };
                write!(
                    f,
                    " expects {} argument{plural}, got {}",
                    sized(expected, "no"),
                    sized(actual, "none")
                )
            }
        }
    }
}

fn sized(range: &Range, zero: &str) -> String {
    match (range.min.unwrap_or(0), range.max) {
        (0, Some(0)) => zero.to_owned(),
        (min, Some(max)) if min == max => min.to_string(),
        (0, None) => "unlimited".to_owned(),
        (0, Some(max)) => format!("at most {max}"),
        (min, None) => format!("at least {min}"),
        (min, Some(max)) => format!("between {min} and {max}"),
    }
}

/// What was expected and what was found, in as much detail as it takes to see the difference.
fn tell_types(expected: &Type, actual: &Type) -> String {
    let (optional, expected) = match expected {
        Type::Optional(Some(inner)) => (true, &**inner),
        other => (false, other),
    };
    let choice = matches!(expected, Type::Variant(_));
    let options = match expected {
        Type::Variant(options) => options,
        other => std::slice::from_ref(other),
    };
    let (mut names, actual) = if is_close(options, actual) {
        let names = options.iter().map(Type::explained).collect();
        (names, found(options, actual))
    } else {
        let mut names: Vec<String> = Vec::new();
        for name in options.iter().map(short_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (names, short_name(actual))
    };
    if optional {
        names.insert(0, "Undef".to_owned());
    }
    match names.as_slice() {
        [one] => format!(" expects {} {one} value, got {actual}", article(one)),
        [one, another] => format!(" expects a value of type {one} or {another}, got {actual}"),
        [first @ .., last] => format!(
            " expects a value of type {}, or {last}, got {actual}",
            first.join(", ")
        ),
        // A choice without options accepts nothing.
        [] if choice => format!(" expects a Variant value, got {actual}"),
        [] => String::new(),
    }
}

/// Whether the kind alone would not tell what is wrong.
fn is_close(options: &[Type], actual: &Type) -> bool {
    is_same_kind(options, actual)
        || options.iter().any(|option| {
            let option = option.body().unwrap_or(option);
            let general = super::named(&simple_name(option).to_lowercase());
            general.is_some_and(|general| general.assignable(actual))
        })
}

fn is_same_kind(options: &[Type], actual: &Type) -> bool {
    options.iter().any(|option| {
        let special = matches!(
            (option, actual),
            (Type::Struct(_), Type::Hash(..)) | (Type::Tuple(..), Type::Array(..))
        );
        option.is_alias()
            || actual.is_alias()
            || special
            || simple_name(option) == simple_name(actual)
    })
}

/// What was found, in detail unless that leads away from what is wrong.
fn found(options: &[Type], actual: &Type) -> String {
    let options: Vec<Type> = options.iter().map(|it| it.resolved().clone()).collect();
    let general = actual.generalise();
    let in_detail =
        is_same_kind(&options, actual) || options.iter().any(|option| option.assignable(&general));
    match (in_detail, actual) {
        (true, _) => actual.explained(),
        (false, Type::Object(_)) => actual.name().to_string(),
        (false, _) => simple_name(actual).to_string(),
    }
}

/// The name of a type, with that of what it holds if it holds one other.
fn short_name(kind: &Type) -> String {
    let inner = match kind {
        Type::Optional(inner)
        | Type::NotUndef(inner)
        | Type::Type(inner)
        | Type::Iterable(inner)
        | Type::Iterator(inner) => inner.as_deref(),
        Type::Sensitive(inner) => Some(&**inner),
        Type::Init(Some(init)) => Some(&init.0),
        _ => None,
    };
    match inner {
        None | Some(Type::Any) => kind.name().to_string(),
        Some(inner) => format!("{}[{}]", kind.name(), inner.name()),
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signature {
            parameters,
            size,
            block,
            ..
        } = &self.signature;
        let size = tuple_size(parameters, *size);
        let mut told = Vec::new();
        let unnamed = vec![EcoString::new(); parameters.len()];
        let names = match self.names.is_empty() {
            true => &unnamed,
            false => &self.names,
        };
        for (index, name) in names.iter().enumerate() {
            let Some(kind) = parameters.get(index).or(parameters.last()) else {
                break;
            };
            let required = size.min.is_some_and(|min| min > index as i64);
            let (kind, mark) = match (kind, size.max, required) {
                (kind, None, _) if index + 1 == names.len() => {
                    let all = size.min == Some(names.len() as i64);
                    (kind, if all { "+" } else { "*" })
                }
                (Type::Optional(Some(inner)), _, false) => (&**inner, "?"),
                (kind, _, false) => (kind, "?"),
                (kind, _, true) => (kind, ""),
            };
            told.push(format!("{kind} {name}{mark}"));
        }
        match block {
            Some(Type::Optional(Some(inner))) => told.push(format!("{inner} {}?", self.block)),
            Some(kind @ Type::Callable(_)) => told.push(format!("{kind} {}", self.block)),
            _ => {}
        }
        if size == Range::exactly(0) {
            return Ok(());
        }
        f.write_str(&told.join(", "))
    }
}
