//! `Type.new(…)`: makes a value of a type from others.
//!
//! Each type that can be made has a recipe: a name, and the forms in which its arguments may come. The first form
//! that fits makes the value, which must then be of the type.

use std::sync::{Arc, LazyLock};

use ecow::EcoString;

use crate::number;
use crate::pattern::Pattern;
use crate::trace::Origin;
use crate::value::{Array, Datum, Hash, Object, Value};

use super::instance::is_iterable;
use super::mismatch::{Form, mismatch, refusal};
use super::printf::inspected;
use super::time::{Timespan, Timestamp, to_seconds};
use super::uri::Uri;
use super::version::{self, Version, VersionRange};
use super::{Alias, Case, Failure, Member, Range, Signature, Type, format};

/// Makes a value of a type from arguments. What is computed comes from `origin`; elements of what is given keep
/// the origins they have.
pub fn create(kind: &Type, arguments: &[Value], origin: Origin) -> Result<Datum, Failure> {
    if let [one] = arguments
        && !matches!(kind, Type::Init(_))
        && kind.instance(&one.datum)
    {
        return Ok(one.datum.clone());
    }
    let made = make(kind, arguments, origin, 0)?;
    if kind.instance(&made) {
        return Ok(made);
    }
    let subject = format!("Converted value from {kind}.new() has wrong type,");
    Err(Failure::new(mismatch(&subject, kind, &made)))
}

/// No type is a choice within a choice within a choice so often.
const DEEPEST: u8 = 64;

fn make(kind: &Type, arguments: &[Value], origin: Origin, depth: u8) -> Result<Datum, Failure> {
    let unsupported = || {
        Failure::new(format!(
            "Creation of new instance of type '{kind}' is not supported"
        ))
    };
    if depth > DEEPEST {
        return Err(unsupported());
    }
    match kind {
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => {
            return make(inner, arguments, origin, depth + 1);
        }
        Type::Data | Type::RichData | Type::Alias(_) => {
            let body = kind.body().ok_or_else(unsupported)?;
            return make(body, arguments, origin, depth + 1);
        }
        Type::Init(Some(init)) => return make_init(&init.0, &init.1, arguments, origin),
        _ => {}
    }
    let recipe = Recipe::of(kind).ok_or_else(unsupported)?;
    let form = recipe.forms.iter().position(|form| fits(form, arguments));
    let Some(form) = form else {
        return Err(recipe.refuse(arguments));
    };
    let given = Given {
        arguments,
        form,
        origin,
    };
    match recipe.name {
        "new" => given.integer(),
        "new_float" if matches!(kind, Type::Regexp(_)) => given.regexp(),
        "new_float" => given.float(),
        "new_numeric" => given.numeric(),
        "new_string" => {
            let formats = arguments.get(1).map(|value| &value.datum);
            Ok(format::format(&arguments[0].datum, formats)?.into())
        }
        "new_boolean" => given.boolean(),
        "new_array" => given.array(),
        "new_hash" => given.hash(),
        "new_Sensitive" => Ok(match &arguments[0].datum {
            Datum::Sensitive(_) => arguments[0].datum.clone(),
            _ => Datum::Sensitive(Arc::new(arguments[0].clone())),
        }),
        "new_timestamp" => given.timestamp(),
        "new_timespan" => given.timespan(),
        "new_Version" => given.version(),
        "new_VersionRange" => given.version_range(),
        "new_Binary" => given.binary(),
        "new_error" => given.uri(),
        "new_Deferred" => Ok(given.deferred()),
        "new_unit" => Ok(arguments[0].datum.clone()),
        _ => Err(Failure::new(
            "A type is made of its text where texts are read, which is not here",
        )),
    }
}

/// Makes a value of what `Init` wraps: with its arguments behind the value, or an array as all arguments.
fn make_init(
    kind: &Type,
    further: &[Value],
    arguments: &[Value],
    origin: Origin,
) -> Result<Datum, Failure> {
    let [value] = arguments else {
        let form = form(&[("value", Type::Any)], 1);
        return Err(Failure::new(refusal(
            "new_Init",
            &[form],
            &types_of(arguments),
        )));
    };
    if !further.is_empty() {
        let all: Vec<Value> = [value].into_iter().chain(further).cloned().collect();
        return create(kind, &all, origin);
    }
    match &value.datum {
        Datum::Array(array)
            if !single_types(kind)
                .iter()
                .any(|it| it.instance(&value.datum)) =>
        {
            create(kind, array.as_slice(), origin)
        }
        _ => create(kind, arguments, origin),
    }
}

/// Whether `new` of a type accepts a value, followed by some arguments.
pub(super) fn accepts(kind: &Type, arguments: &[Value], datum: &Datum) -> bool {
    let one = || {
        let value = Value::new(datum.clone(), Origin::written(0));
        Datum::Array(Array::from(vec![value]))
    };
    let accepted = accepted(kind, arguments);
    accepted.iter().any(|accepted| accepted.instance(datum))
        || arguments.is_empty() && has_optional_single(kind) && {
            let one = one();
            accepted.iter().any(|accepted| {
                matches!(accepted, Type::Tuple(_, Some(_))) && accepted.instance(&one)
            })
        }
}

/// What `new` of a type accepts, if some arguments follow: single values, and arrays of all arguments.
pub(super) fn accepted(kind: &Type, arguments: &[Value]) -> Vec<Type> {
    if arguments.is_empty() {
        let mut types = single_types(kind);
        types.extend(several(kind).map(|form| {
            let Signature {
                parameters, size, ..
            } = form.signature;
            Type::Tuple(parameters, size)
        }));
        return types;
    }
    let mut types = vec![kind.clone()];
    let recipe = recipe_within(kind);
    let forms = recipe.iter().flat_map(|recipe| recipe.forms.iter());
    types.extend(forms.filter_map(|form| {
        let parameters = &form.signature.parameters;
        let first = parameters.first()?;
        let following = arguments.iter().enumerate().all(|(index, argument)| {
            let kind = parameters.get(index + 1);
            kind.is_some_and(|kind| kind.instance(&argument.datum))
        });
        let size = form.signature.size.unwrap_or(Range::size(parameters.len()));
        (following && size.contains_size(arguments.len() + 1)).then(|| first.clone())
    }));
    types
}

fn single_types(kind: &Type) -> Vec<Type> {
    let recipe = recipe_within(kind);
    let forms = recipe.iter().flat_map(|recipe| recipe.forms.iter());
    let single = forms.filter(|form| is_single(form));
    let firsts = single.filter_map(|form| form.signature.parameters.first().cloned());
    [kind.clone()].into_iter().chain(firsts).collect()
}

fn several(kind: &Type) -> impl Iterator<Item = Form> {
    let recipe = recipe_within(kind);
    let forms = recipe.map(|recipe| recipe.forms.clone());
    forms
        .unwrap_or_default()
        .into_iter()
        .filter(|form| !is_single(form))
}

fn has_optional_single(kind: &Type) -> bool {
    several(kind).any(|form| form.signature.size.is_some_and(|size| size.min == Some(1)))
}

fn is_single(form: &Form) -> bool {
    let parameters = &form.signature.parameters;
    form.signature.size.unwrap_or(Range::size(parameters.len())) == Range::exactly(1)
}

fn recipe_within(kind: &Type) -> Option<&'static Recipe> {
    match kind {
        Type::Data | Type::RichData | Type::Alias(_) => Recipe::of(kind.resolved()),
        other => Recipe::of(other),
    }
}

/// In which forms the arguments of `new` may come.
struct Recipe {
    name: &'static str,
    forms: Vec<Form>,
}

/// Parameters with their types, of which some must be there.
fn form(parameters: &[(&str, Type)], required: usize) -> Form {
    let count = parameters.len();
    let size = (required != count || count == 0).then(|| Range {
        min: Range::size(required).min,
        max: Range::size(count).max,
    });
    Form {
        names: parameters.iter().map(|(name, _)| (*name).into()).collect(),
        block: EcoString::new(),
        signature: Signature {
            parameters: parameters.iter().map(|(_, kind)| kind.clone()).collect(),
            size,
            block: None,
            returns: None,
        },
    }
}

fn named(name: &str, body: Type) -> Type {
    let alias = Alias::new(name);
    alias.define(body).expect("it is a real type");
    Type::Alias(alias)
}

fn any_of(types: impl IntoIterator<Item = Type>) -> Type {
    Type::variant(types)
}

fn one_of(values: &[&str], case: Case) -> Type {
    Type::enumeration(values.iter().map(|value| EcoString::from(*value)), case)
}

fn matching(expression: &str) -> Type {
    let pattern = Pattern::new(expression).expect("built-in expressions are well formed");
    Type::Pattern([Arc::new(pattern)].into())
}

/// A hash of members; those that may be missing end in `?`.
fn hash_of(members: &[(&str, Type)]) -> Type {
    let member = |(name, kind): &(&str, Type)| {
        let (name, optional) = match name.strip_suffix('?') {
            Some(name) => (name, true),
            None => (*name, kind.assignable(&Type::Undef)),
        };
        Member {
            name: name.into(),
            optional,
            value: kind.clone(),
        }
    };
    Type::Struct(members.iter().map(member).collect())
}

fn at_least(length: i64) -> Type {
    Type::String(Some(Range::at_least(length)))
}

fn array_of(kind: Type, least: Option<i64>) -> Type {
    Type::array(kind, least.map(Range::at_least))
}

const INTEGER_TEXT: &str = r"\A[+-]?\s*(?:(?:\d+)|(?:0[xX][0-9A-Fa-f]+)|(?:0[bB][01]+))\z";
const FLOAT_TEXT: &str = r"\A[+-]?\s*(?:(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?)|(?:0[xX][0-9A-Fa-f]+)|(?:0[0-7]+)|(?:0[bB][01]+))\z";
const FORMAT_TEXT: &str = r"^%([\s\[+#0{<(|-]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z])$";
const VERSION_TEXT: &str = r"\A(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?\Z";
const QUALIFIER_TEXT: &str = r"\A(?<part>[0-9A-Za-z-]+)(?:\.\g<part>)*\Z";
const FUNCTION_TEXT: &str = r"\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z";

impl Recipe {
    fn of(kind: &Type) -> Option<&'static Self> {
        static INTEGER: LazyLock<Recipe> = LazyLock::new(Recipe::integer);
        static FLOAT: LazyLock<Recipe> = LazyLock::new(|| Recipe::float("new_float"));
        static NUMERIC: LazyLock<Recipe> = LazyLock::new(|| Recipe::float("new_numeric"));
        static STRING: LazyLock<Recipe> = LazyLock::new(Recipe::string);
        static BOOLEAN: LazyLock<Recipe> = LazyLock::new(Recipe::boolean);
        static ARRAY: LazyLock<Recipe> = LazyLock::new(Recipe::array);
        static HASH: LazyLock<Recipe> = LazyLock::new(Recipe::hash);
        static SENSITIVE: LazyLock<Recipe> = LazyLock::new(Recipe::sensitive);
        static TIMESTAMP: LazyLock<Recipe> = LazyLock::new(Recipe::timestamp);
        static TIMESPAN: LazyLock<Recipe> = LazyLock::new(Recipe::timespan);
        static VERSION: LazyLock<Recipe> = LazyLock::new(Recipe::version);
        static RANGE: LazyLock<Recipe> = LazyLock::new(Recipe::version_range);
        static BINARY: LazyLock<Recipe> = LazyLock::new(Recipe::binary);
        static URI: LazyLock<Recipe> = LazyLock::new(Recipe::uri);
        static REGEXP: LazyLock<Recipe> = LazyLock::new(Recipe::regexp);
        static DEFERRED: LazyLock<Recipe> = LazyLock::new(Recipe::deferred);
        static UNIT: LazyLock<Recipe> = LazyLock::new(|| Recipe {
            name: "new_unit",
            forms: vec![form(&[("from", Type::Any)], 1)],
        });
        static TYPE: LazyLock<Recipe> = LazyLock::new(|| Recipe {
            name: "new_type",
            forms: vec![form(&[("type_string", at_least(1))], 1)],
        });
        Some(match kind {
            Type::Integer(_) => &INTEGER,
            Type::Float(_) => &FLOAT,
            Type::Numeric => &NUMERIC,
            Type::String(_) | Type::Exactly(_) => &STRING,
            Type::Boolean(_) => &BOOLEAN,
            Type::Array(..) | Type::Tuple(..) => &ARRAY,
            Type::Hash(..) | Type::Struct(_) => &HASH,
            Type::Sensitive(_) => &SENSITIVE,
            Type::Timestamp(..) => &TIMESTAMP,
            Type::Timespan(..) => &TIMESPAN,
            Type::SemVer(_) => &VERSION,
            Type::SemVerRange => &RANGE,
            Type::Binary => &BINARY,
            Type::Uri(_) => &URI,
            Type::Regexp(_) => &REGEXP,
            Type::Object(Some(name)) if name == "Deferred" => &DEFERRED,
            Type::NotUndef(None) => &UNIT,
            Type::Type(_) => &TYPE,
            _ => return None,
        })
    }

    fn integer() -> Self {
        let only = |number: i64| Type::Integer(Range::exactly(number));
        let radix = any_of([Type::Default, only(2), only(8), only(10), only(16)]);
        let radix = named("Radix", radix);
        let convertible = named(
            "Convertible",
            any_of([
                Type::Numeric,
                Type::BOOLEAN,
                matching(INTEGER_TEXT),
                Type::Timespan(None, None),
                Type::Timestamp(None, None),
            ]),
        );
        let members = [
            ("from", convertible.clone()),
            ("radix?", radix.clone()),
            ("abs?", Type::BOOLEAN),
        ];
        let hash = named("NamedArgs", hash_of(&members));
        let parameters = [
            ("from", convertible),
            ("radix", radix),
            ("abs", Type::BOOLEAN),
        ];
        Self {
            name: "new",
            forms: vec![form(&parameters, 1), form(&[("hash_args", hash)], 1)],
        }
    }

    fn float(name: &'static str) -> Self {
        let numbers = match name {
            "new_numeric" => vec![Type::INTEGER, Type::FLOAT],
            _ => vec![Type::Numeric],
        };
        let others = [
            Type::BOOLEAN,
            matching(FLOAT_TEXT),
            Type::Timespan(None, None),
            Type::Timestamp(None, None),
        ];
        let convertible = named("Convertible", any_of(numbers.into_iter().chain(others)));
        let members = [("from", convertible.clone()), ("abs?", Type::BOOLEAN)];
        let hash = named("NamedArgs", hash_of(&members));
        let parameters = [("from", convertible), ("abs", Type::BOOLEAN)];
        Self {
            name,
            forms: vec![form(&parameters, 1), form(&[("hash_args", hash)], 1)],
        }
    }

    fn string() -> Self {
        let format = named("Format", matching(FORMAT_TEXT));
        let container = named(
            "ContainerFormat",
            hash_of(&[
                ("format?", format.clone()),
                ("separator?", Type::STRING),
                ("separator2?", Type::STRING),
                (
                    "string_formats?",
                    Type::hash(Type::Type(None), format.clone(), None),
                ),
            ]),
        );
        let map = Type::hash(Type::Type(None), any_of([format, container]), None);
        let map = named("TypeMap", map);
        let convertible = named("Convertible", Type::Any);
        let formats = named("Formats", any_of([Type::Default, at_least(1), map]));
        let parameters = [("from", convertible), ("string_formats", formats)];
        Self {
            name: "new_string",
            forms: vec![form(&parameters, 1)],
        }
    }

    fn boolean() -> Self {
        let words = ["false", "true", "yes", "no", "y", "n"];
        let kind = any_of([
            Type::INTEGER,
            Type::FLOAT,
            Type::BOOLEAN,
            one_of(&words, Case::Insensitive),
        ]);
        Self {
            name: "new_boolean",
            forms: vec![form(&[("from", kind)], 1)],
        }
    }

    fn array() -> Self {
        let from = any_of([
            array_of(Type::Any, None),
            Type::hash(Type::Any, Type::Any, None),
            Type::Binary,
            Type::Iterable(None),
        ]);
        let wrap = |bool| Type::Boolean(Some(bool));
        Self {
            name: "new_array",
            forms: vec![
                form(&[("from", from), ("wrap", wrap(false))], 1),
                form(&[("from", Type::Any), ("wrap", wrap(true))], 2),
            ],
        }
    }

    fn hash() -> Self {
        let pairs = |first: Type| array_of(Type::tuple([first, Type::Any], None), Some(1));
        let tree = named("TreeArray", pairs(array_of(Type::Any, None)));
        let option = one_of(&["tree", "hash_tree"], Case::Sensitive);
        let option = named("NewHashOption", option);
        let key_value = named("KeyValueArray", pairs(Type::Any));
        Self {
            name: "new_hash",
            forms: vec![
                form(&[("from", tree), ("build_option", option)], 1),
                form(&[("from", key_value)], 1),
                form(&[("from", Type::Any)], 1),
            ],
        }
    }

    fn sensitive() -> Self {
        let sensitive = Type::Sensitive(Arc::new(Type::Any));
        Self {
            name: "new_Sensitive",
            forms: vec![
                form(&[("value", sensitive)], 1),
                form(&[("value", Type::Any)], 1),
            ],
        }
    }

    fn timestamp() -> Self {
        let formats = named(
            "Formats",
            any_of([at_least(2), array_of(at_least(2), Some(1))]),
        );
        let seconds = any_of([Type::INTEGER, Type::FLOAT]);
        let parameters = [
            ("string", at_least(1)),
            ("format", formats.clone()),
            ("timezone", at_least(1)),
        ];
        let members = [
            ("string", at_least(1)),
            ("format?", formats),
            ("timezone?", at_least(1)),
        ];
        Self {
            name: "new_timestamp",
            forms: vec![
                form(&[], 0),
                form(&[("seconds", seconds)], 1),
                form(&parameters, 1),
                form(&[("hash_arg", hash_of(&members))], 1),
            ],
        }
    }

    fn timespan() -> Self {
        let formats = named(
            "Formats",
            any_of([at_least(2), array_of(at_least(2), Some(1))]),
        );
        let seconds = any_of([Type::INTEGER, Type::FLOAT]);
        let fields = [
            "days",
            "hours",
            "minutes",
            "seconds",
            "milliseconds",
            "microseconds",
            "nanoseconds",
        ];
        let optional: Vec<String> = fields.iter().map(|field| format!("{field}?")).collect();
        let members: Vec<(&str, Type)> = [("negative?", Type::BOOLEAN)]
            .into_iter()
            .chain(optional.iter().map(|field| (field.as_str(), Type::INTEGER)))
            .collect();
        let text = [("string", at_least(1)), ("format?", formats.clone())];
        Self {
            name: "new_timespan",
            forms: vec![
                form(&[("seconds", seconds)], 1),
                form(&[("string", at_least(1)), ("format", formats)], 1),
                form(&fields.map(|field| (field, Type::INTEGER)), 4),
                form(&[("hash_arg", hash_of(&text))], 1),
                form(&[("hash_arg", hash_of(&members))], 1),
            ],
        }
    }

    fn version() -> Self {
        let positive = named("PositiveInteger", Type::Integer(Range::at_least(0)));
        let qualifier = named("SemVerQualifier", qualifier());
        let hash = named(
            "SemVerHash",
            hash_of(&[
                ("major", positive.clone()),
                ("minor", positive.clone()),
                ("patch", positive.clone()),
                ("prerelease?", qualifier.clone()),
                ("build?", qualifier.clone()),
            ]),
        );
        let parameters = [
            ("major", positive.clone()),
            ("minor", positive.clone()),
            ("patch", positive),
            ("prerelease", qualifier.clone()),
            ("build", qualifier),
        ];
        let text = named("SemVerPattern", matching(VERSION_TEXT));
        Self {
            name: "new_Version",
            forms: vec![
                form(&[("str", text)], 1),
                form(&parameters, 3),
                form(&[("hash_args", hash)], 1),
            ],
        }
    }

    fn version_range() -> Self {
        let bound = any_of([Type::Default, Type::SemVer([].into())]);
        let hash = named(
            "SemVerRangeHash",
            hash_of(&[
                ("min", bound.clone()),
                ("max?", bound.clone()),
                ("exclude_max?", Type::BOOLEAN),
            ]),
        );
        let bounds = [
            ("min", bound.clone()),
            ("max", bound),
            ("exclude_max", Type::BOOLEAN),
        ];
        Self {
            name: "new_VersionRange",
            forms: vec![
                form(&[("str", named("SemVerRangeString", at_least(1)))], 1),
                form(&bounds, 2),
                form(&[("hash_args", hash)], 1),
            ],
        }
    }

    fn binary() -> Self {
        let format = one_of(&["%b", "%u", "%B", "%s", "%r"], Case::Sensitive);
        let format = named("Base64Format", format);
        let byte = named("ByteInteger", Type::Integer(Range::new(0, 255)));
        let text = hash_of(&[
            ("value", Type::STRING),
            ("format", Type::optional(format.clone())),
        ]);
        let bytes = hash_of(&[("value", array_of(byte.clone(), None))]);
        let hash = any_of([named("StringHash", text), named("ArrayHash", bytes)]);
        let hash = named("BinaryArgsHash", hash);
        Self {
            name: "new_Binary",
            forms: vec![
                form(&[("str", Type::STRING), ("format", format)], 1),
                form(&[("byte_array", array_of(byte, None))], 1),
                form(&[("hash_args", hash)], 1),
            ],
        }
    }

    fn uri() -> Self {
        let hash = hash_of(&[
            ("scheme?", at_least(1)),
            ("userinfo?", at_least(1)),
            ("host?", at_least(1)),
            ("port?", Type::Integer(Range::at_least(0))),
            ("path?", at_least(1)),
            ("query?", at_least(1)),
            ("fragment?", at_least(1)),
            ("opaque?", at_least(1)),
        ]);
        Self {
            name: "new_error",
            forms: vec![form(&[("uri", at_least(1))], 1), form(&[("hash", hash)], 1)],
        }
    }

    fn regexp() -> Self {
        let parameters = [("pattern", Type::STRING), ("escape", Type::BOOLEAN)];
        Self {
            name: "new_float",
            forms: vec![form(&parameters, 1)],
        }
    }

    fn deferred() -> Self {
        let name = matching(FUNCTION_TEXT);
        let arguments = Type::optional(array_of(Type::Any, None));
        let hash = hash_of(&[("name", name.clone()), ("arguments", arguments.clone())]);
        Self {
            name: "new_Deferred",
            forms: vec![
                form(&[("hash", hash)], 1),
                form(&[("name", name), ("arguments", arguments)], 1),
            ],
        }
    }

    /// Why no form fits; some types know better words for it.
    fn refuse(&self, arguments: &[Value]) -> Failure {
        let of = |index: usize| arguments.get(index).map(|value| &value.datum);
        let flag_at = |index: usize| matches!(of(index), None | Some(Datum::Bool(_)));
        let target = match self.name {
            "new" => {
                if let (Some(Datum::Hash(hash)), None) = (of(0), of(1)) {
                    return self.refuse_integer_hash(hash);
                }
                let radix = match of(1) {
                    None => None,
                    Some(Datum::Integer(radix)) => Some(*radix),
                    _ => return self.refuse_plainly(arguments),
                };
                if let Some(radix) = radix.filter(|radix| ![2, 8, 10, 16].contains(radix))
                    && arguments.len() < 4
                    && flag_at(2)
                {
                    return bad_radix(&Datum::Integer(radix));
                }
                ((1..4).contains(&arguments.len()) && flag_at(2)).then_some("Integer")
            }
            "new_float" if self.forms.len() == 2 => {
                ((1..3).contains(&arguments.len()) && flag_at(1)).then_some("Float")
            }
            "new_numeric" => ((1..3).contains(&arguments.len()) && flag_at(1)).then_some("Numeric"),
            "new_boolean" => (arguments.len() == 1).then_some("Boolean"),
            "new_array" => ((1..3).contains(&arguments.len()) && flag_at(1)).then_some("Array"),
            "new_Version" => match (of(0), of(1)) {
                (Some(Datum::Text(text)), None) => {
                    return Failure::new(format!(
                        "'new_Version' The string '{text}' cannot be converted to a SemVer"
                    ));
                }
                _ => None,
            },
            _ => None,
        };
        match (target, of(0)) {
            (Some(target), Some(datum)) => self.inconvertible(datum, target),
            _ => self.refuse_plainly(arguments),
        }
    }

    fn refuse_plainly(&self, arguments: &[Value]) -> Failure {
        Failure::new(refusal(self.name, &self.forms, &types_of(arguments)))
    }

    fn inconvertible(&self, datum: &Datum, target: &str) -> Failure {
        let name = self.name;
        Failure::new(match datum {
            Datum::Text(text) if target != "Array" => {
                format!("'{name}' The string '{text}' cannot be converted to {target}")
            }
            other => {
                let kind = Type::reduced(other).generalise();
                format!("'{name}' Value of type {kind} cannot be converted to {target}")
            }
        })
    }

    fn refuse_integer_hash(&self, hash: &Hash) -> Failure {
        let convertible = &self.forms[0].signature.parameters[0];
        if let Some(from) = hash.get_text("from")
            && !convertible.instance(&from.datum)
        {
            return self.inconvertible(&from.datum, "Integer");
        }
        match hash.get_text("radix").map(|value| &value.datum) {
            None | Some(Datum::Undef | Datum::Default | Datum::Integer(2 | 8 | 10 | 16)) => {
                let named = &self.forms[1].signature.parameters[0];
                let hash = Datum::Hash(hash.clone());
                Failure::new(mismatch("Integer.new has wrong type,", named, &hash))
            }
            Some(radix) => bad_radix(radix),
        }
    }
}

fn bad_radix(radix: &Datum) -> Failure {
    let radix = crate::text::text(radix);
    Failure::new(format!(
        "Illegal radix: {radix}, expected 2, 8, 10, 16, or default"
    ))
}

/// What may stand behind `-` or `+` in a version.
fn qualifier() -> Type {
    // Not every engine knows how to use an expression again, so this one is spelt out if need be.
    match Pattern::new(QUALIFIER_TEXT) {
        Ok(pattern) => Type::Pattern([Arc::new(pattern)].into()),
        Err(_) => matching(r"\A(?<part>[0-9A-Za-z-]+)(?:\.[0-9A-Za-z-]+)*\Z"),
    }
}

fn types_of(arguments: &[Value]) -> Type {
    Type::of(&Datum::Array(arguments.to_vec().into()))
}

fn fits(form: &Form, arguments: &[Value]) -> bool {
    let Signature {
        parameters, size, ..
    } = &form.signature;
    let size = size.unwrap_or(Range::size(parameters.len()));
    size.contains_size(arguments.len())
        && arguments
            .iter()
            .zip(parameters.iter())
            .all(|(argument, kind)| kind.instance(&argument.datum))
}

/// Arguments that came in one of the forms.
struct Given<'a> {
    arguments: &'a [Value],
    form: usize,
    origin: Origin,
}

/// The longest array that counting makes.
const LONGEST: usize = 10_000_000;

impl Given<'_> {
    fn get(&self, index: usize) -> Option<&Datum> {
        self.arguments.get(index).map(|value| &value.datum)
    }

    /// An argument by position, or by name if all came in a hash.
    fn either(&self, index: usize, name: &str) -> Option<&Datum> {
        match (self.form, self.get(0)) {
            (1, Some(Datum::Hash(hash))) => hash.get_text(name).map(|value| &value.datum),
            _ => self.get(index),
        }
    }

    fn integer(&self) -> Result<Datum, Failure> {
        let radix = match self.either(1, "radix") {
            Some(Datum::Integer(radix)) => u32::try_from(*radix).ok(),
            _ => None,
        };
        let number = match self.either(0, "from") {
            Some(Datum::Integer(number)) => *number,
            Some(Datum::Float(number)) => whole(*number)?,
            Some(Datum::Bool(bool)) => i64::from(*bool),
            Some(Datum::Timestamp(at)) => at.seconds(),
            Some(Datum::Timespan(span)) => span.seconds(),
            Some(Datum::Text(text)) => integer_of(text, radix)?,
            _ => return Err(Failure::new("there is nothing to make an Integer of")),
        };
        match self.either(2, "abs") {
            Some(Datum::Bool(true)) => {
                let number = number.checked_abs();
                number.map(Datum::Integer).ok_or_else(too_great)
            }
            _ => Ok(Datum::Integer(number)),
        }
    }

    fn float(&self) -> Result<Datum, Failure> {
        let number = match self.either(0, "from") {
            Some(Datum::Integer(number)) => *number as f64,
            Some(Datum::Float(number)) => *number,
            Some(Datum::Bool(bool)) => f64::from(u8::from(*bool)),
            Some(Datum::Timestamp(at)) => to_seconds(at.nanoseconds()),
            Some(Datum::Timespan(span)) => to_seconds(span.nanoseconds()),
            Some(Datum::Text(text)) => float_of(text)?,
            _ => return Err(Failure::new("there is nothing to make a Float of")),
        };
        match self.either(1, "abs") {
            Some(Datum::Bool(true)) => Ok(Datum::Float(number.abs())),
            _ => Ok(Datum::Float(number)),
        }
    }

    fn numeric(&self) -> Result<Datum, Failure> {
        let number = match self.either(0, "from") {
            Some(Datum::Bool(bool)) => Datum::Integer(i64::from(*bool)),
            Some(Datum::Timestamp(at)) => Datum::Float(to_seconds(at.nanoseconds())),
            Some(Datum::Timespan(span)) => Datum::Float(to_seconds(span.nanoseconds())),
            Some(Datum::Text(text)) => {
                match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
                    Some("0b" | "0x") => Datum::Integer(integer_of(text, None)?),
                    _ => number::number(text).unwrap_or(Datum::Undef),
                }
            }
            Some(other) => other.clone(),
            None => Datum::Undef,
        };
        match (self.either(1, "abs"), number) {
            (Some(Datum::Bool(true)), Datum::Integer(number)) => {
                let number = number.checked_abs();
                number.map(Datum::Integer).ok_or_else(too_great)
            }
            (Some(Datum::Bool(true)), Datum::Float(number)) => Ok(Datum::Float(number.abs())),
            (_, number) => Ok(number),
        }
    }

    fn boolean(&self) -> Result<Datum, Failure> {
        Ok(Datum::Bool(match self.get(0) {
            Some(Datum::Integer(number)) => *number != 0,
            Some(Datum::Float(number)) => *number != 0.0,
            Some(Datum::Bool(bool)) => *bool,
            Some(Datum::Text(text)) => !["false", "no", "n"]
                .iter()
                .any(|it| text.eq_ignore_ascii_case(it)),
            _ => true,
        }))
    }

    fn array(&self) -> Result<Datum, Failure> {
        let from = &self.arguments[0];
        if self.form == 1 {
            return Ok(match &from.datum {
                Datum::Array(_) => from.datum.clone(),
                _ => Array::from(vec![from.clone()]).into(),
            });
        }
        Ok(match &from.datum {
            Datum::Array(_) => from.datum.clone(),
            other => Array::from(elements(other, self.origin)?).into(),
        })
    }

    fn hash(&self) -> Result<Datum, Failure> {
        let from = &self.arguments[0].datum;
        let values = match (self.form, from, self.get(1)) {
            (0, Datum::Array(entries), Some(Datum::Text(option))) => {
                return self.tree(entries, option == "hash_tree");
            }
            (0 | 1, Datum::Array(pairs), _) => {
                let pairs = pairs.iter().filter_map(|pair| match &pair.datum {
                    Datum::Array(pair) => Some((pair.get(0)?.clone(), pair.get(1)?.clone())),
                    _ => None,
                });
                return Ok(pairs.collect::<Hash>().into());
            }
            (_, Datum::Array(values), _) => values.as_slice().to_vec(),
            (_, Datum::Hash(_), _) => return Ok(from.clone()),
            (_, other, _) if is_iterable(other) => elements(other, self.origin)?,
            (_, other, _) => {
                let kind = Type::reduced(other).generalise();
                return Err(Failure::new(format!(
                    "Value of type {kind} cannot be converted to Hash"
                )));
            }
        };
        if values.len() % 2 != 0 {
            return Err(Failure::new("odd number of arguments for Hash"));
        }
        let pairs = values
            .chunks(2)
            .map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok(pairs.collect::<Hash>().into())
    }

    /// A hash of paths and what is at their ends.
    fn tree(&self, entries: &Array, all_hashes: bool) -> Result<Datum, Failure> {
        let mut result = Datum::Hash(Hash::from_iter([]));
        for entry in entries.iter() {
            let Datum::Array(entry) = &entry.datum else {
                continue;
            };
            let (Some(path), Some(value)) = (entry.get(0), entry.get(1)) else {
                continue;
            };
            let Datum::Array(path) = &path.datum else {
                continue;
            };
            if path.is_empty() {
                let Datum::Hash(hash) = result else {
                    break;
                };
                result = self.with_root(hash, &value.datum)?.into();
                continue;
            }
            let value = match all_hashes {
                true => self.as_hashes(value),
                false => value.clone(),
            };
            result = self.with_path(result, path.as_slice(), value)?;
        }
        Ok(result)
    }

    fn with_root(&self, hash: Hash, value: &Datum) -> Result<Hash, Failure> {
        match value {
            Datum::Array(array) => {
                let indexed = array.iter().enumerate();
                Ok(indexed.fold(hash, |hash, (index, value)| {
                    hash.with(self.number(index), value.clone())
                }))
            }
            Datum::Hash(more) => Ok(more.iter().fold(hash, |hash, (key, entry)| {
                let key = Value::new(key.clone(), entry.key);
                hash.with(key, entry.value.clone())
            })),
            other => Err(Failure::new(format!(
                "no implicit conversion of {} into Hash",
                super::parameters::class_of(other)
            ))),
        }
    }

    fn number(&self, index: usize) -> Value {
        Value::new(i64::try_from(index).unwrap_or(i64::MAX), self.origin)
    }

    /// What is at a place, with a value put at the end of a path from there.
    fn with_path(&self, at: Datum, path: &[Value], value: Value) -> Result<Datum, Failure> {
        let Some((step, rest)) = path.split_first() else {
            return Ok(value.datum);
        };
        match at {
            Datum::Hash(hash) => {
                let value = match rest {
                    [] => value,
                    rest => {
                        let inner = hash.get(&step.datum);
                        let origin = inner.map_or(self.origin, |inner| inner.origin);
                        let inner =
                            inner.map_or_else(|| Hash::from_iter([]).into(), |it| it.datum.clone());
                        Value::new(self.with_path(inner, rest, value)?, origin)
                    }
                };
                Ok(hash.with(step.clone(), value).into())
            }
            Datum::Array(array) => {
                let index = match step.datum {
                    Datum::Integer(index) if index < 0 => {
                        usize::try_from(index + i64::try_from(array.len()).unwrap_or(0)).ok()
                    }
                    Datum::Integer(index) => usize::try_from(index).ok(),
                    _ => None,
                };
                let Some(index) = index.filter(|index| *index < LONGEST) else {
                    return Err(Failure::new("a path leads through an array by numbers"));
                };
                let mut values = array.as_slice().to_vec();
                while values.len() <= index {
                    values.push(Value::new(Datum::Undef, self.origin));
                }
                let inner = std::mem::take(&mut values[index].datum);
                values[index] = match rest {
                    [] => value,
                    rest => {
                        let origin = values[index].origin;
                        Value::new(self.with_path(inner, rest, value)?, origin)
                    }
                };
                Ok(Array::from(values).into())
            }
            other => Err(Failure::new(format!(
                "a path leads through {}, which is neither an array nor a hash",
                Type::reduced(&other).generalise()
            ))),
        }
    }

    /// Arrays, and those within them, as hashes from their positions.
    fn as_hashes(&self, value: &Value) -> Value {
        match &value.datum {
            Datum::Array(array) => {
                let entries = array.iter().enumerate();
                let hash: Hash = entries
                    .map(|(index, value)| (self.number(index), self.as_hashes(value)))
                    .collect();
                Value::new(hash, value.origin)
            }
            _ => value.clone(),
        }
    }

    fn timestamp(&self) -> Result<Datum, Failure> {
        let at = match (self.form, self.get(0)) {
            (2, Some(Datum::Text(text))) => {
                let timezone = match self.get(2) {
                    Some(Datum::Text(timezone)) => Some(timezone.as_str()),
                    _ => None,
                };
                Timestamp::parse(text, self.get(1), timezone)
            }
            (_, Some(datum)) => Timestamp::from_datum(datum),
            (_, None) => Err("The time of day is not known while a catalog is made: \
                Timestamp.new needs an argument"
                .to_owned()),
        };
        at.map(Datum::Timestamp).map_err(Failure::new)
    }

    fn timespan(&self) -> Result<Datum, Failure> {
        let span = match (self.form, self.get(0)) {
            (1, Some(Datum::Text(text))) => Timespan::parse(text, self.get(1)),
            (2, _) => {
                let fields: Vec<i64> = self
                    .arguments
                    .iter()
                    .filter_map(|value| match value.datum {
                        Datum::Integer(number) => Some(number),
                        _ => None,
                    })
                    .collect();
                Timespan::from_fields(false, &fields)
            }
            (_, datum) => Timespan::from_datum(datum.unwrap_or(&Datum::Undef)),
        };
        span.map(Datum::Timespan).map_err(Failure::new)
    }

    fn version(&self) -> Result<Datum, Failure> {
        if let (0, Some(Datum::Text(text))) = (self.form, self.get(0)) {
            let version = Version::parse(text).map_err(Failure::new)?;
            return Ok(Datum::SemVer(Arc::new(version)));
        }
        let names = ["major", "minor", "patch", "prerelease", "build"];
        let part = |index: usize| match self.get(0) {
            Some(Datum::Hash(hash)) => hash.get_text(names[index]).map(|value| &value.datum),
            _ => self.get(index),
        };
        let number = |index: usize| match part(index) {
            Some(Datum::Integer(number)) => number.unsigned_abs(),
            _ => 0,
        };
        let text = |index: usize| match part(index) {
            Some(Datum::Text(text)) => Some(text.clone()),
            _ => None,
        };
        Ok(Datum::SemVer(Arc::new(Version {
            // Given on their own, parts are taken as they are.
            prerelease: text(3).map(|text| vec![version::Part::Word(text)]),
            build: text(4).map(|text| vec![text]),
            ..Version::plain(number(0), number(1), number(2))
        })))
    }

    fn version_range(&self) -> Result<Datum, Failure> {
        if let (0, Some(Datum::Text(text))) = (self.form, self.get(0)) {
            let range = VersionRange::parse(text).map_err(Failure::new)?;
            return Ok(Datum::SemVerRange(Arc::new(range)));
        }
        let names = ["min", "max", "exclude_max"];
        let part = |index: usize| match self.get(0) {
            Some(Datum::Hash(hash)) => hash.get_text(names[index]).map(|value| &value.datum),
            _ => self.get(index),
        };
        let bound = |index: usize| match part(index) {
            Some(Datum::SemVer(version)) => Some((**version).clone()),
            _ => None,
        };
        let exclude = matches!(part(2), Some(Datum::Bool(true)));
        let range = VersionRange::spanning(bound(0), bound(1), exclude);
        Ok(Datum::SemVerRange(Arc::new(range)))
    }

    fn binary(&self) -> Result<Datum, Failure> {
        let (value, format) = match self.get(0) {
            Some(Datum::Hash(hash)) => {
                let given = |name: &str| hash.get_text(name).map(|value| &value.datum);
                (given("value"), given("format"))
            }
            other => (other, self.get(1)),
        };
        let format = match format {
            Some(Datum::Text(format)) => format.as_str(),
            _ => "%B",
        };
        let bytes = match (value, format) {
            (Some(Datum::Array(bytes)), _) => bytes
                .iter()
                .filter_map(|byte| match byte.datum {
                    Datum::Integer(byte) => u8::try_from(byte).ok(),
                    _ => None,
                })
                .collect(),
            (Some(Datum::Text(text)), "%s" | "%r") => text.as_bytes().to_vec(),
            (Some(Datum::Text(text)), "%b") => decoded(text),
            (Some(Datum::Text(text)), "%u") => {
                let mut text = text.replace("-", "+").replace("_", "/");
                while !text.ends_with('=') && text.len() % 4 != 0 {
                    text.push('=');
                }
                strictly_decoded(&text)?
            }
            (Some(Datum::Text(text)), _) => strictly_decoded(text)?,
            _ => Vec::new(),
        };
        Ok(Datum::Binary(bytes.into()))
    }

    fn uri(&self) -> Result<Datum, Failure> {
        let uri = match self.get(0) {
            Some(Datum::Text(text)) => Uri::parse(text).map_err(Failure::new)?,
            Some(Datum::Hash(parts)) => Uri::from_parts(parts),
            _ => Uri::default(),
        };
        Ok(Datum::Uri(Arc::new(uri)))
    }

    fn regexp(&self) -> Result<Datum, Failure> {
        let source = match (self.get(0), self.get(1)) {
            (Some(Datum::Text(text)), Some(Datum::Bool(true))) => escaped(text),
            (Some(Datum::Text(text)), _) => text.to_string(),
            _ => String::new(),
        };
        let pattern = Pattern::new(&source).map_err(Failure::new)?;
        Ok(Datum::Pattern(Arc::new(pattern)))
    }

    fn deferred(&self) -> Datum {
        let attributes = match (self.form, self.get(0)) {
            (0, Some(Datum::Hash(hash))) => hash.clone(),
            _ => {
                let names = ["name", "arguments"];
                let given = names.into_iter().zip(self.arguments);
                given
                    .filter(|(_, value)| !value.is_undef())
                    .map(|(name, value)| (Value::new(name, self.origin), value.clone()))
                    .collect()
            }
        };
        Datum::Object(Arc::new(Object {
            kind: "Deferred".into(),
            attributes,
        }))
    }
}

/// What comes of going through a value.
fn elements(datum: &Datum, origin: Origin) -> Result<Vec<Value>, Failure> {
    let counted = |from: i64, to: i64| {
        let count = i128::from(to) - i128::from(from) + 1;
        if count > LONGEST as i128 {
            return Err(Failure::new(format!(
                "{count} elements are more than an array can hold here"
            )));
        }
        Ok((from..=to)
            .map(|number| Value::new(number, origin))
            .collect())
    };
    match datum {
        Datum::Array(array) => Ok(array.as_slice().to_vec()),
        Datum::Hash(hash) => Ok(hash
            .iter()
            .map(|(key, entry)| {
                let key = Value::new(key.clone(), entry.key);
                let pair = Array::from(vec![key, entry.value.clone()]);
                Value::new(pair, entry.value.origin)
            })
            .collect()),
        Datum::Binary(bytes) => Ok(bytes
            .iter()
            .map(|byte| Value::new(i64::from(*byte), origin))
            .collect()),
        Datum::Text(text) => Ok(text
            .chars()
            .map(|char| Value::new(EcoString::from(char), origin))
            .collect()),
        Datum::Integer(count) => counted(0, *count - 1),
        Datum::Type(kind) => match kind.resolved() {
            Type::Enum(values, _) => Ok(values
                .iter()
                .map(|value| Value::new(value.clone(), origin))
                .collect()),
            Type::Integer(Range {
                min: Some(min),
                max: Some(max),
            }) => counted(*min, *max),
            _ => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

fn too_great() -> Failure {
    Failure::new("the number does not fit into 64 bits")
}

/// A number without what is behind its point.
pub(super) fn whole(number: f64) -> Result<i64, Failure> {
    if !number.is_finite() {
        return Err(Failure::new(crate::text::float(number)));
    }
    let number = number.trunc();
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    match fits {
        true => Ok(number as i64),
        false => Err(too_great()),
    }
}

/// The number that a text is, in a radix or as its prefix says.
fn integer_of(text: &str, radix: Option<u32>) -> Result<i64, Failure> {
    let invalid = || Failure::new(format!("invalid value for Integer(): {}", inspected(text)));
    let trimmed = text.trim();
    let (negative, unsigned) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    // Between a sign and its number there may be blanks.
    let unsigned = match trimmed.starts_with(['+', '-']) {
        true => unsigned.trim_start_matches(number::is_blank),
        false => unsigned,
    };
    let lower = unsigned.to_ascii_lowercase();
    let prefixed = |prefix: &str, wanted: u32| {
        let applies = radix.is_none_or(|radix| radix == wanted);
        lower.strip_prefix(prefix).filter(|_| applies)
    };
    let (digits, radix) = if let Some(digits) = prefixed("0x", 16) {
        (digits, 16)
    } else if let Some(digits) = prefixed("0b", 2) {
        (digits, 2)
    } else {
        match radix {
            Some(radix) => (lower.as_str(), radix),
            None if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
            None => (lower.as_str(), 10),
        }
    };
    if digits.is_empty() || !digits.chars().all(|char| char.is_digit(radix)) {
        return Err(invalid());
    }
    let magnitude = i128::from_str_radix(digits, radix).map_err(|_| too_great())?;
    let number = if negative { -magnitude } else { magnitude };
    i64::try_from(number).map_err(|_| too_great())
}

fn float_of(text: &str) -> Result<f64, Failure> {
    let invalid = || Failure::new(format!("invalid value for Float(): {}", inspected(text)));
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("0b") {
        return Ok(integer_of(text, None)? as f64);
    }
    let (sign, unsigned) = match lower.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    let unsigned = unsigned.trim_start_matches(number::is_blank);
    let number = match unsigned.strip_prefix("0x") {
        Some(digits) => {
            let number = u128::from_str_radix(digits, 16).map_err(|_| invalid())?;
            number as f64
        }
        None => unsigned.parse().map_err(|_| invalid())?,
    };
    Ok(sign * number)
}

/// A text with everything escaped that means something in a regular expression.
fn escaped(text: &str) -> String {
    let mut source = String::new();
    for char in text.chars() {
        match char {
            '\n' => source.push_str("\\n"),
            '\t' => source.push_str("\\t"),
            '\r' => source.push_str("\\r"),
            '\x0c' => source.push_str("\\f"),
            '\x0b' => source.push_str("\\v"),
            '[' | ']' | '{' | '}' | '(' | ')' | '|' | '-' | '*' | '.' | '\\' | '?' | '+' | '^'
            | '$' | '#' | ' ' => source.extend(['\\', char]),
            char => source.push(char),
        }
    }
    source
}

fn sextet(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

/// Bytes of base64, whatever else is in between left out.
fn decoded(text: &str) -> Vec<u8> {
    let sextets = text.bytes().take_while(|byte| *byte != b'=');
    bytes_of(sextets.filter_map(sextet))
}

fn bytes_of(sextets: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for sextet in sextets {
        bits = bits << 6 | sextet;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

/// Bytes of base64 with nothing else in it.
fn strictly_decoded(text: &str) -> Result<Vec<u8>, Failure> {
    let invalid = || Failure::new("invalid base64");
    let content = text
        .strip_suffix("==")
        .or(text.strip_suffix('='))
        .unwrap_or(text);
    let sextets: Option<Vec<u32>> = content.bytes().map(sextet).collect();
    let sextets = sextets.ok_or_else(invalid)?;
    // What the last letter says beyond the last byte must be nothing.
    let spare = match sextets.len() % 4 {
        0 => 0,
        2 => 0b1111,
        3 => 0b11,
        _ => return Err(invalid()),
    };
    let last = sextets.last().copied().unwrap_or(0);
    if !text.len().is_multiple_of(4) || last & spare != 0 {
        return Err(invalid());
    }
    Ok(bytes_of(sextets.into_iter()))
}
