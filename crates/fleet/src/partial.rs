//! Partial values: what a group or a feature does to a parameter, whatever lies below it.
//!
//! A value is written with an operator at its start, or with none:
//!
//! ```text
//! V        set       cuts off what is below
//! >= V     list      V, or what is below, a comma and V
//! &&= V    and       V, or what is below, `&&` and V
//! ||= V    or        V, or what is below, `||` and V
//! ?= V     else      what is below, or V if there is nothing
//! (none)   bare      what is below: the parameter is there, and that is all
//! ```
//!
//! Each is a function of what is below, and so is any chain of them. They all have one form ([`Partial`]), so a chain is as
//! large as its text, chains compose, and two are equal if and only if they do the same.

use std::fmt;

use ecow::EcoString;
use hence_ledger::Value;
use hence_ledger::value::Sealed;

/// How a value bears on what is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// It cuts off what is below.
    Set,
    /// It is appended to a list (`>=`).
    List,
    /// It is one more condition (`&&=`).
    And,
    /// It is one more alternative (`||=`).
    Or,
    /// It is taken if there is nothing below (`?=`).
    Else,
    /// There is no value, and what is below stays.
    Bare,
}

impl Operator {
    /// As it is written before a value.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Set | Operator::Bare => "",
            Operator::List => ">=",
            Operator::And => "&&=",
            Operator::Or => "||=",
            Operator::Else => "?=",
        }
    }

    /// What stands between a value and what is appended to it; `None` if nothing is appended.
    fn separator(self) -> Option<&'static str> {
        match self {
            Operator::List => Some(", "),
            Operator::And => Some(" && "),
            Operator::Or => Some(" || "),
            Operator::Set | Operator::Else | Operator::Bare => None,
        }
    }

    const SIGNS: [Operator; 4] = [Operator::List, Operator::And, Operator::Or, Operator::Else];
}

/// The operator that a value begins with, and the rest of it. Of several only the last counts, and without a rest there
/// is nothing to apply.
pub fn operator(written: &str) -> (Operator, &str) {
    let mut operator = Operator::Set;
    let mut rest = written;
    let signed = |rest: &str| {
        Operator::SIGNS
            .into_iter()
            .find(|sign| rest.starts_with(sign.sign()))
    };
    while let Some(next) = signed(rest) {
        operator = next;
        rest = rest[next.sign().len()..].trim_start_matches([' ', '\t']);
    }
    match rest.is_empty() {
        true => (Operator::Bare, rest),
        false => (operator, rest),
    }
}

/// The value of a parameter on a node. It may be empty: the parameter is there, without a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resolved {
    /// What the value begins with, if that is a secret.
    pub sealed: Option<Box<Sealed>>,
    /// The rest of the value, or all of it.
    pub text: EcoString,
}

impl Resolved {
    /// A value that everybody may read.
    pub fn text(text: impl Into<EcoString>) -> Self {
        Self {
            sealed: None,
            text: text.into(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.sealed.is_none() && self.text.is_empty()
    }
}

impl fmt::Display for Resolved {
    /// The text; of a secret, its fingerprint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sealed) = &self.sealed {
            write!(f, "sealed({})", sealed.fingerprint)?;
        }
        f.write_str(&self.text)
    }
}

/// What a chain of values does to what is below it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partial {
    /// The value if there is none below. If this is empty, the chain adds nothing to a value either.
    alone: Resolved,
    over: Over,
}

/// What becomes of a value below.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Over {
    /// It is cut off.
    Cut,
    /// It stays, and this is appended to it.
    Append(EcoString),
}

/// Values do not grow beyond this: a feature that is reached over and over is applied as often, and that may be more often
/// than there is room for.
pub const LONGEST: usize = 1 << 20;

impl Partial {
    /// What one value does.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Nothing => Self::bare(),
            Value::Sealed(sealed) => Self {
                alone: Resolved {
                    sealed: Some(Box::new(sealed.clone())),
                    text: EcoString::new(),
                },
                over: Over::Cut,
            },
            Value::Text(written) => {
                let (operator, rest) = operator(written);
                let text = || match rest.len() == written.len() {
                    true => written.clone(),
                    false => rest.into(),
                };
                let over = match operator {
                    Operator::Bare => return Self::bare(),
                    Operator::Set => Over::Cut,
                    Operator::Else => Over::Append(EcoString::new()),
                    Operator::List | Operator::And | Operator::Or => {
                        let separator = operator.separator().expect("it appends");
                        Over::Append(join(&separator.into(), rest))
                    }
                };
                Self {
                    alone: Resolved::text(text()),
                    over,
                }
            }
        }
    }

    /// What a parameter does that is there without a value. It changes no value: the identity of the monoid, but for the
    /// parameter being there.
    pub fn bare() -> Self {
        Self {
            alone: Resolved::default(),
            over: Over::Append(EcoString::new()),
        }
    }

    /// First this, then the other over it.
    pub fn then(&self, other: &Partial) -> Self {
        let alone = match self.alone.is_empty() {
            true => other.alone.clone(),
            false => other.over(&self.alone),
        };
        let over = match (&self.over, &other.over) {
            (_, Over::Cut) | (Over::Cut, Over::Append(_)) => Over::Cut,
            (Over::Append(first), Over::Append(second)) => Over::Append(join(first, second)),
        };
        Self { alone, over }
    }

    /// The value over another, or over none.
    pub fn apply(&self, below: Option<&Resolved>) -> Resolved {
        match below {
            Some(below) if !below.is_empty() => self.over(below),
            _ => self.alone.clone(),
        }
    }

    /// Whether there is a value after it, whatever is below.
    pub fn is_filled(&self) -> bool {
        !self.alone.is_empty()
    }

    /// Whether it is as long as a value can be, so that some of it may be missing.
    pub fn is_too_long(&self) -> bool {
        let tail = match &self.over {
            Over::Cut => 0,
            Over::Append(tail) => tail.len(),
        };
        self.alone.text.len().max(tail) > LONGEST
    }

    fn over(&self, below: &Resolved) -> Resolved {
        match &self.over {
            Over::Cut => self.alone.clone(),
            Over::Append(tail) => Resolved {
                sealed: below.sealed.clone(),
                text: join(&below.text, tail),
            },
        }
    }
}

fn join(first: &EcoString, second: &str) -> EcoString {
    // Texts are shared, so a value that nothing is appended to costs nothing.
    let mut text = first.clone();
    if first.len() <= LONGEST && !second.is_empty() {
        text.push_str(second);
    }
    text
}
