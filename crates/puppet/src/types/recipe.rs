//! In which forms the arguments of `new` may come, type by type.
//!
//! The names of parameters and of local types are told where arguments are refused, so they are those of the real
//! compiler.

use std::sync::{Arc, LazyLock};

use ecow::EcoString;

use crate::pattern::Pattern;
use crate::value::{Datum, Hash, Value};

use super::mismatch::{Form, mismatch, refusal};
use super::{Alias, Case, Failure, Member, Range, Signature, Type};

/// In which forms the arguments of `new` may come.
pub(super) struct Recipe {
    /// What the function is called that makes values of the type.
    pub(super) name: &'static str,
    forms: Vec<Form>,
}

/// Parameters with their types, of which some must be there.
pub(super) fn form(parameters: &[(&str, Type)], required: usize) -> Form {
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
    /// The form that some arguments come in.
    pub(super) fn form_of(&self, arguments: &[Value]) -> Option<usize> {
        self.forms.iter().position(|form| fits(form, arguments))
    }

    /// The recipe of a type that can be made.
    pub(super) fn of(kind: &Type) -> Option<&'static Self> {
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
    pub(super) fn refuse(&self, arguments: &[Value]) -> Failure {
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
    let spelt_out = r"\A(?<part>[0-9A-Za-z-]+)(?:\.[0-9A-Za-z-]+)*\Z";
    let pattern = Pattern::new(spelt_out).expect("it is a regular expression");
    // Messages show it as the real compiler writes it.
    Type::Pattern([Arc::new(pattern.known_as(QUALIFIER_TEXT))].into())
}

pub(super) fn types_of(arguments: &[Value]) -> Type {
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

/// What `new` of a type accepts as its only argument.
pub(super) fn single_types(kind: &Type) -> Vec<Type> {
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

/// Whether one argument is enough for a form that takes more.
pub(super) fn has_optional_single(kind: &Type) -> bool {
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
