//! Kinds of parameters: which values they can have.

use hence_model::diagnostic::similar;
use regex::Regex;

use crate::partial::{Operator, operator};

/// Which values a parameter can have.
#[derive(Clone, Debug)]
pub(crate) enum ValueKind {
    /// Any text, also a list or an expression.
    Text,
    Integer,
    Double,
    Boolean,
    /// One of these.
    Enumeration(Vec<String>),
    /// What this matches as a whole, and how it was written.
    Pattern(Regex, String),
}

const WORDS: [&str; 8] = [
    "string",
    "integer",
    "double",
    "boolean",
    "list",
    "expression",
    "enumeration",
    "pattern",
];

impl ValueKind {
    /// The kind that is written so, or what is wrong with it and what to do.
    pub fn parse(written: &str) -> Result<Self, (String, String)> {
        let (word, rest) = match written.find('(') {
            Some(open) => (&written[..open], Some(&written[open + 1..])),
            None => (written, None),
        };
        let inside = rest.map(|rest| rest.trim_end().strip_suffix(')'));
        let word = word.trim().to_lowercase();
        match (word.as_str(), inside) {
            ("string" | "list" | "expression", None) => Ok(Self::Text),
            ("integer", None) => Ok(Self::Integer),
            ("double", None) => Ok(Self::Double),
            ("boolean", None) => Ok(Self::Boolean),
            ("enumeration", Some(Some(words))) => {
                let words: Vec<String> = words
                    .split(',')
                    .map(|word| word.trim().to_owned())
                    .collect();
                match words.iter().any(String::is_empty) {
                    true => Err(("a value of an enumeration is empty".into(), EXAMPLE.into())),
                    false => Ok(Self::Enumeration(words)),
                }
            }
            ("pattern", Some(Some(pattern))) => {
                // The pattern must be good by itself, not only in the brackets.
                let whole =
                    Regex::new(pattern).and_then(|_| Regex::new(&format!(r"\A(?:{pattern})\z")));
                let wrong = |error: regex::Error| {
                    let words = error.to_string();
                    let last = words.lines().last().unwrap_or_default().to_owned();
                    (format!("`{pattern}` is no regular expression"), last)
                };
                whole
                    .map(|whole| Self::Pattern(whole, pattern.to_owned()))
                    .map_err(wrong)
            }
            ("enumeration" | "pattern", _) => {
                let message = format!("`{written}` does not say which values there are");
                Err((message, EXAMPLE.into()))
            }
            _ => {
                let help = match similar(&word, WORDS).first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are `{}`", WORDS.join("`, `")),
                };
                Err((format!("there is no kind `{written}`"), help))
            }
        }
    }

    /// Why a value cannot be one of this kind. Whether a value with macros in it is one, only the node can know.
    pub fn objection(&self, written: &str) -> Option<String> {
        let (operator, value) = operator(written);
        if operator == Operator::Bare || value.contains("$(") || value.contains("$ENV(") {
            return None;
        }
        let (is_one, expected) = match self {
            Self::Text => (true, String::new()),
            Self::Integer => (is_integer(value), "a whole number".to_owned()),
            Self::Double => (value.parse::<f64>().is_ok(), "a number".to_owned()),
            Self::Boolean => {
                let lower = value.to_lowercase();
                let words = ["true", "false", "yes", "no", "t", "f", "1", "0"];
                (
                    words.contains(&lower.as_str()),
                    "`true` or `false`".to_owned(),
                )
            }
            Self::Enumeration(words) => {
                let is_one = words.iter().any(|word| word == value);
                (is_one, format!("one of `{}`", words.join("`, `")))
            }
            Self::Pattern(pattern, written) => {
                (pattern.is_match(value), format!("what `{written}` matches"))
            }
        };
        if !is_one {
            return Some(format!("{expected} is expected, not `{value}`"));
        }
        let extends = matches!(operator, Operator::List | Operator::And | Operator::Or);
        let is_one_word = !matches!(self, Self::Text | Self::Pattern(..));
        (extends && is_one_word).then(|| {
            format!(
                "{expected} is expected, and `{}` would make it longer",
                operator.sign()
            )
        })
    }
}

const EXAMPLE: &str = "such as `enumeration(low, high)` or `pattern([a-z]+)`";

fn is_integer(value: &str) -> bool {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    let is_all = |digits: &str, is_digit: fn(&char) -> bool| {
        !digits.is_empty() && digits.chars().all(|digit| is_digit(&digit))
    };
    match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(digits) => is_all(digits, char::is_ascii_hexdigit),
        None => is_all(digits, char::is_ascii_digit),
    }
}
