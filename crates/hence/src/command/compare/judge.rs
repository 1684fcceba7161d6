//! How two compilers' answers differ.

use hence_model::path::{Path, Segment};
use hence_model::value::{Map, Value};

/// What a compiler says to a file.
pub enum Answer {
    /// A configuration.
    Value(Value),
    /// An error: its rule, if it is known, and what was said.
    Error {
        /// The rule of the published semantics.
        rule: Option<String>,
        /// What was said, in short.
        words: String,
    },
    /// Nothing that can be compared, and why.
    Nothing(String),
}

/// In what two answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The values, whatever their order.
    Value,
    /// Only the order.
    Order,
    /// Only one has an error, or they have different ones.
    Error,
    /// There is nothing to compare with.
    NoAnswer,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Value, Kind::Order, Kind::Error, Kind::NoAnswer];

    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Value => "value",
            Kind::Order => "order",
            Kind::Error => "error",
            Kind::NoAnswer => "no answer",
        }
    }

    /// For programs.
    pub fn key(self) -> &'static str {
        match self {
            Kind::NoAnswer => "no_answer",
            kind => kind.word(),
        }
    }
}

/// A difference between two answers.
pub struct Difference {
    /// In what they differ.
    pub kind: Kind,
    /// Where in the configuration; empty for all of it.
    pub path: Path,
    /// What Hence has there.
    pub ours: String,
    /// What the other compiler has there.
    pub theirs: String,
}

/// How `theirs` differs from `ours`, if it does.
pub fn judge(ours: &Answer, theirs: &Answer) -> Option<Difference> {
    let kind = match (ours, theirs) {
        (Answer::Value(ours), Answer::Value(theirs)) => return values(ours, theirs),
        (_, Answer::Nothing(_)) | (Answer::Nothing(_), _) => Kind::NoAnswer,
        (Answer::Error { rule: ours, .. }, Answer::Error { rule: theirs, .. }) => {
            // An error whose rule is not known agrees with any.
            if ours.is_none() || theirs.is_none() || ours == theirs {
                return None;
            }
            Kind::Error
        }
        _ => Kind::Error,
    };
    Some(Difference {
        kind,
        path: Path::default(),
        ours: ours.summary(),
        theirs: theirs.summary(),
    })
}

impl Answer {
    fn summary(&self) -> String {
        match self {
            Answer::Value(_) => "a configuration".to_owned(),
            Answer::Error { rule, words } => match rule {
                Some(rule) if !words.contains(rule.as_str()) => format!("{rule}: {words}"),
                _ => words.clone(),
            },
            Answer::Nothing(why) => why.clone(),
        }
    }
}

/// How two values differ: first in what they hold, then in order. Pairs that are still to be compared
/// wait in a list, however deep the values.
fn values(ours: &Value, theirs: &Value) -> Option<Difference> {
    let mut order = None;
    let mut pending = vec![(Path::default(), ours, theirs)];
    while let Some((path, ours, theirs)) = pending.pop() {
        match (ours, theirs) {
            (Value::Map(ours), Value::Map(theirs)) => {
                if let Some(difference) = keys(&path, ours, theirs) {
                    return Some(difference);
                }
                let (keys, other_keys) = (listed(ours), listed(theirs));
                if order.is_none() && keys != other_keys {
                    order = Some(Difference {
                        kind: Kind::Order,
                        path: path.clone(),
                        ours: keys,
                        theirs: other_keys,
                    });
                }
                for (key, value) in ours.iter() {
                    let other = theirs.get(key).expect("the keys are the same");
                    pending.push((path.child(Segment::Key(key.to_owned())), value, other));
                }
            }
            (Value::List(ours), Value::List(theirs))
                if ours.as_slice().len() == theirs.as_slice().len() =>
            {
                let pairs = ours.as_slice().iter().zip(theirs.as_slice()).enumerate();
                pending.extend(
                    pairs.map(|(i, (ours, theirs))| (path.child(Segment::Index(i)), ours, theirs)),
                );
            }
            (ours, theirs) if is_same(ours, theirs) => {}
            (ours, theirs) => {
                return Some(Difference {
                    kind: Kind::Value,
                    path,
                    ours: shown(ours),
                    theirs: shown(theirs),
                });
            }
        }
    }
    order
}

/// A key that only one of two maps has.
fn keys(path: &Path, ours: &Map, theirs: &Map) -> Option<Difference> {
    let only_in = |map: &Map, other: &Map| {
        let mut keys = map.iter().map(|(key, _)| key);
        keys.find(|key| other.get(key).is_none()).map(str::to_owned)
    };
    let (key, ours, theirs) = match (only_in(ours, theirs), only_in(theirs, ours)) {
        (Some(key), _) => (key, "a value", "nothing"),
        (None, Some(key)) => (key, "nothing", "a value"),
        (None, None) => return None,
    };
    Some(Difference {
        kind: Kind::Value,
        path: path.child(Segment::Key(key)),
        ours: ours.into(),
        theirs: theirs.into(),
    })
}

/// Numbers are numbers, whole or not; a data reference may be written as the published compilers do.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Integer(integer), Value::Float(float)) => *integer as f64 == *float,
        (Value::Float(float), Value::Integer(integer)) => *integer as f64 == *float,
        (Value::Reference(reference), Value::Text(text)) => {
            text.strip_prefix("$.").unwrap_or(text) == reference
        }
        (Value::Reference(reference), Value::Map(map)) => {
            map.len() == 1 && map.get("$ref") == Some(&Value::Text(reference.clone()))
        }
        _ => ours == theirs,
    }
}

fn listed(map: &Map) -> String {
    let keys: Vec<&str> = map.iter().map(|(key, _)| key).collect();
    keys.join(", ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(bool) => bool.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) => format!("{float:?}"),
        Value::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        Value::Reference(reference) => format!("a reference to {reference}"),
        Value::List(list) => format!("a list of {}", list.as_slice().len()),
        Value::Map(map) => format!("a block of {}", map.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, Value)]) -> Value {
        let mut map = Map::default();
        for (key, value) in entries {
            map.insert((*key).into(), value.clone());
        }
        Value::Map(map)
    }

    fn kind(ours: &Value, theirs: &Value) -> Option<Kind> {
        values(ours, theirs).map(|difference| difference.kind)
    }

    #[test]
    fn a_value_that_differs_matters_more_than_order() {
        let one = map(&[("a", Value::Integer(1)), ("b", map(&[]))]);
        let swapped = map(&[("b", map(&[])), ("a", Value::Float(1.0))]);
        let other = map(&[("b", map(&[])), ("a", Value::Integer(2))]);
        assert_eq!(kind(&one, &one), None);
        assert_eq!(kind(&one, &swapped), Some(Kind::Order));
        assert_eq!(kind(&one, &other), Some(Kind::Value));
        assert_eq!(kind(&one, &map(&[])), Some(Kind::Value));
    }

    #[test]
    fn a_data_reference_may_be_written_in_several_ways() {
        let ours = Value::Reference("s1:web".into());
        for text in ["s1:web", "$.s1:web"] {
            assert_eq!(kind(&ours, &Value::Text(text.into())), None);
        }
        let ours_written = map(&[("$ref", Value::Text("s1:web".into()))]);
        assert_eq!(kind(&ours, &ours_written), None);
        assert_eq!(
            kind(&ours, &Value::Text("s2:web".into())),
            Some(Kind::Value)
        );
    }
}
