//! Random basic values: how they are written, and what that means.

use hence_model::random::Random;
use hence_model::value::Value;

/// A basic value and its text.
pub fn literal(random: &mut Random, names: &[impl AsRef<str>]) -> (String, Value) {
    nested(random, names, 0)
}

fn nested(random: &mut Random, names: &[impl AsRef<str>], depth: usize) -> (String, Value) {
    match random.below(100) {
        0..40 => integer(random),
        40..50 => float(random),
        50..58 => ("true".into(), Value::Bool(true)),
        58..64 => ("false".into(), Value::Bool(false)),
        64..70 => ("NULL".into(), Value::Null),
        70..84 => text(random),
        84..92 => reference(random, names),
        _ if depth < 4 => vector(random, names, depth),
        _ => ("[]".into(), Value::List(Vec::new().into())),
    }
}

fn integer(random: &mut Random) -> (String, Value) {
    let integer = match random.below(20) {
        0 => i64::MAX,
        1 => i64::MIN,
        2 => i64::from(i32::MAX) + random.below(2) as i64,
        3 => i64::from(i32::MIN) - random.below(2) as i64,
        4 => random.number() as i64,
        5..8 => -(random.below(1_000) as i64),
        _ => random.below(100) as i64,
    };
    let zeros = if random.chance(3) { "00" } else { "" };
    let sign = if integer < 0 { "-" } else { "" };
    let written = format!("{sign}{zeros}{}", integer.unsigned_abs());
    (written, Value::Integer(integer))
}

fn float(random: &mut Random) -> (String, Value) {
    let sign = if random.chance(30) { "-" } else { "" };
    let whole = random.below(1_000);
    let written = match random.below(5) {
        0 => format!("{sign}{whole}e{}", random.below(40)),
        1 => format!("{sign}{whole}.{}E-{}", random.below(100), random.below(40)),
        2 => format!("{sign}{whole}.5e+{}", random.below(10)),
        3 => format!("{sign}0.{}", random.number()),
        _ => format!("{sign}{whole}.{}", random.below(100)),
    };
    let float = written.parse().expect("it is a number");
    (written, Value::Float(float))
}

/// What may stand in a text, and the characters that it stands for.
const PIECES: [(&str, &str); 22] = [
    ("a", "a"),
    ("Bc", "Bc"),
    (" ", " "),
    ("7", "7"),
    ("é", "é"),
    ("日本", "日本"),
    ("😀", "😀"),
    ("{", "{"),
    ("};", "};"),
    ("//", "//"),
    ("/*", "/*"),
    ("'", "'"),
    ("${X}", "${X}"),
    ("\\n", "\n"),
    ("\\t\\r", "\t\r"),
    ("\\b\\f", "\u{8}\u{c}"),
    ("\\\"", "\""),
    ("\\\\", "\\"),
    ("\\/", "/"),
    ("\\u00e9", "é"),
    ("\\ud83d\\ude00", "😀"),
    ("\\u0000", "\0"),
];

fn text(random: &mut Random) -> (String, Value) {
    let mut written = String::from("\"");
    let mut text = String::new();
    for _ in 0..random.below(6) {
        let (piece, characters) = random.pick(&PIECES);
        written.push_str(piece);
        text.push_str(characters);
    }
    written.push('"');
    (written, Value::Text(text))
}

fn reference(random: &mut Random, names: &[impl AsRef<str>]) -> (String, Value) {
    let mut reference = random.pick(names).as_ref().to_owned();
    let mut written = format!("DATA {reference}");
    for _ in 0..random.below(3) {
        let name = random.pick(names).as_ref();
        let colon = if random.chance(10) { " : " } else { ":" };
        written.push_str(colon);
        written.push_str(name);
        reference.push(':');
        reference.push_str(name);
    }
    (written, Value::Reference(reference))
}

fn vector(random: &mut Random, names: &[impl AsRef<str>], depth: usize) -> (String, Value) {
    let mut written = Vec::new();
    let mut elements = Vec::new();
    for _ in 0..random.below(4) {
        let (text, element) = nested(random, names, depth + 1);
        written.push(text);
        elements.push(element);
    }
    let comma = if random.chance(50) { ", " } else { "," };
    let written = format!("[{}]", written.join(comma));
    (written, Value::List(elements.into()))
}
