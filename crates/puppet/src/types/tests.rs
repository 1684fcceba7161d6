//! What holds of all types: nothing goes on for ever, however deep values are and whatever names lead to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::compare;
use crate::text::text;
use crate::trace::Origin;
use crate::value::{Array, Datum, Hash, Value};

use super::*;

fn value(datum: impl Into<Datum>) -> Value {
    Value::new(datum, Origin::written(0))
}

fn nested(levels: usize, wrap: impl Fn(Datum) -> Datum) -> Datum {
    (0..levels).fold(Datum::Integer(1), |inner, _| wrap(inner))
}

/// Names that lead back to themselves, in honest ways and in others.
fn recursive_types() -> Vec<Type> {
    let define = |name: &str, body: &dyn Fn(Type) -> Type| {
        let alias = Alias::new(name);
        let itself = Type::Alias(alias.clone());
        // Those that stand for nothing real are refused, and then stay without a body.
        let _ = alias.define(body(itself.clone()));
        itself
    };
    vec![
        define("Tree", &|it| {
            Type::array(Type::variant([Type::INTEGER, it]), None)
        }),
        define("Forest", &|it| {
            Type::variant([Type::INTEGER, Type::hash(Type::STRING, it, None)])
        }),
        define("Itself", &|it| it),
        define("Maybe", &|it| Type::optional(it)),
        define("Never", &|it| Type::not_undef(it)),
        define("Choice", &|it| {
            Type::Variant([it.clone(), it, Type::INTEGER].into())
        }),
        define("Fork", &|it| {
            Type::Variant([Type::optional(it.clone()), Type::not_undef(it)].into())
        }),
        define("Kind", &|it| Type::of_type(it)),
        define("Secret", &|it| Type::Sensitive(Arc::new(it))),
        define("Through", &|it| Type::Iterable(Some(Arc::new(it)))),
        define("Pair", &|it| {
            Type::tuple([Type::optional(it.clone()), Type::optional(it)], None)
        }),
        define("Made", &|it| Type::Init(Some(Arc::new((it, Vec::new()))))),
        define("Called", &|it| {
            Type::Callable(Some(Arc::new(Signature {
                parameters: [it.clone()].into(),
                size: None,
                block: Some(it.clone()),
                returns: Some(it),
            })))
        }),
        Type::Data,
        Type::RichData,
    ]
}

#[test]
fn names_that_lead_to_themselves_come_to_an_end() {
    let types = recursive_types();
    let values = [
        Datum::Undef,
        Datum::Integer(1),
        Datum::Text("a".into()),
        Array::from(vec![value(1_i64), value(Array::default())]).into(),
        nested(20, |inner| Array::from(vec![value(inner)]).into()),
        Hash::from_iter([(value("a"), value(Datum::Undef))]).into(),
    ];
    for one in &types {
        let began = Instant::now();
        let _ = (one.to_string(), one.explained(), one.normalise());
        let _ = (one.generalise(), one.name(), one.resolved());
        for datum in &values {
            let _ = one.instance(datum);
            let _ = mismatch("it", one, datum);
            let _ = create(one, &[value(datum.clone())], Origin::written(0));
        }
        for another in &types {
            let _ = one.assignable(another);
            let _ = one == another;
            let _ = one.common(another);
            let _ = mismatch_of_types("it", one, another);
        }
        // Far more than it takes, far less than for ever.
        assert!(began.elapsed() < Duration::from_secs(20), "{one}");
    }
}

#[test]
fn what_stands_for_nothing_is_refused() {
    let alias = Alias::new("Itself");
    let failure = alias.define(Type::Alias(alias.clone())).unwrap_err();
    assert_eq!(
        failure.message,
        "Type alias 'Itself' cannot be resolved to a real type"
    );
}

#[test]
fn values_may_be_a_thousand_levels_deep() {
    let arrays = nested(1_000, |inner| Array::from(vec![value(inner)]).into());
    let hashes = nested(1_000, |inner| {
        Hash::from_iter([(value("a"), value(inner))]).into()
    });
    let secrets = nested(1_000, |inner| Datum::Sensitive(Arc::new(value(inner))));
    for datum in [arrays, hashes, secrets] {
        let detailed = Type::of(&datum);
        let reduced = Type::reduced(&datum);
        assert!(detailed.instance(&datum));
        assert!(reduced.instance(&datum));
        assert!(Type::RichData.instance(&datum));
        assert!(Type::RichData.assignable(&detailed));
        assert!(reduced.assignable(&detailed) || matches!(datum, Datum::Sensitive(_)));
        assert!(compare::equal(&datum, &datum));
        assert!(compare::matches(&datum, &datum));
        let _ = (detailed.to_string(), detailed.normalise());
        let _ = (detailed.generalise(), detailed.common(&reduced));
        let _ = (text(&datum), mismatch("it", &Type::STRING, &datum));
        let _ = mismatch("it", &Type::Data, &datum);
        let _ = create(&Type::STRING, &[value(datum.clone())], Origin::written(0));
        for kind in recursive_types() {
            let _ = kind.instance(&datum);
        }
    }
}

#[test]
fn a_resource_says_what_is_said_of_it() {
    let file = Type::Resource(Some("file".into()), Some("/etc/motd".into()));
    assert_eq!(file.to_string(), "File['/etc/motd']");
    assert!(Type::Resource(None, None).assignable(&file));
    assert!(Type::CatalogEntry.assignable(&file));
    assert!(Type::Type(None).instance(&Datum::from(file)));
}

#[test]
fn the_time_of_day_cannot_be_asked_for() {
    let now = create(&Type::Timestamp(None, None), &[], Origin::written(0));
    assert!(now.unwrap_err().message.contains("needs an argument"));
}

#[test]
fn elements_keep_their_origins() {
    let (here, there) = (Origin::written(1), Origin::written(2));
    let pair = Array::from(vec![Value::new("a", there), Value::new(1_i64, there)]);
    let hash = named("hash").expect("there are hashes");
    let made = create(&hash, &[Value::new(pair, there)], here);
    let Ok(Datum::Hash(made)) = made else {
        panic!("{made:?}");
    };
    let entry = made.entry(&"a".into()).expect("it is there");
    assert_eq!((entry.key, entry.value.origin), (there, there));
    let array = named("array").expect("there are arrays");
    let made = create(&array, &[Value::new("ab", there)], here);
    let Ok(Datum::Array(made)) = made else {
        panic!("{made:?}");
    };
    assert!(made.iter().all(|value| value.origin == here));
}

#[test]
fn nonsense_is_refused_in_words() {
    let pieces = [
        "%",
        "-",
        "+",
        "#",
        "0",
        " ",
        "9",
        "99999999999999999999",
        "d",
        "x",
        "e",
        "f",
        "a",
        "s",
        "p",
        "[",
        "<",
        "{",
        ".",
        ":",
        "T",
        "Y",
        "N",
        "L",
        "H",
        "Z",
        "x",
        "*",
        "||",
        "~",
        "^",
        ">=",
        "<",
        "v",
        "/",
        "?",
        "@",
        "ü",
        "\u{1F600}",
        "\n",
        "1.2.3",
        "-rc",
        "+b",
        "2000-01-02",
        "::",
        "Jan",
        "PM",
        "0x",
        "0b",
        "e5",
        "=",
        "YQ",
    ];
    let mut state = 1_u64;
    let mut roll = |sides: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).expect("31 bits fit") % sides
    };
    let kinds = [
        "integer",
        "float",
        "numeric",
        "string",
        "timestamp",
        "timespan",
        "semver",
        "semverrange",
        "binary",
        "uri",
        "regexp",
    ];
    let values: [Datum; 6] = [
        Datum::Integer(i64::MIN),
        Datum::Float(f64::MAX),
        Datum::Float(f64::NAN),
        Datum::Text("ü\n".into()),
        Datum::Bool(true),
        Array::from(vec![value(i64::MAX)]).into(),
    ];
    for _ in 0..20_000 {
        let mut nonsense = || -> EcoString {
            (0..1 + roll(5))
                .map(|_| pieces[roll(pieces.len())])
                .collect()
        };
        let (one, another) = (nonsense(), nonsense());
        let kind = named(kinds[roll(kinds.len())]).expect("it is a type");
        let here = Origin::written(0);
        let arguments = [value(one.clone()), value(another.clone())];
        let _ = create(&kind, &arguments[..1], here);
        let _ = create(&kind, &arguments, here);
        let _ = parameterise(&kind, &arguments[..1]);
        let _ = crate::number::number(&one);
        let datum = values[roll(values.len())].clone();
        let _ = create(&kind, &[value(datum.clone())], here);
        let _ = create(&Type::STRING, &[value(datum), value(one.clone())], here);
        let span = time::Timespan::from_nanoseconds(i128::from(i64::MIN));
        let _ = span.expect("it is within reach").format(&one);
        let at = time::Timestamp::from_nanoseconds(-1);
        let _ = at.expect("it is within reach").format(&one);
    }
}
