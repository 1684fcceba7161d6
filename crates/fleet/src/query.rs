//! Which nodes are meant: a small language of conditions.
//!
//! ```text
//! memberships.size == 0 && name =~ /(foo|bar)[0-9]+/
//! ! last_checkin.is_never && last_checkin < 2.hours_ago
//! ```
//!
//! It can only compare. Every condition has a type before it is asked about any node, so what is wrong with it is known at
//! once; and asking takes time in proportion to the text, whatever the text is.

use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::{FileId, Sources, Span};
use regex::{Regex, RegexBuilder};

/// A condition cannot be read.
pub const SYNTAX: Code = Code::new("query.syntax");
/// A condition compares what cannot be compared, or asks for what there is not.
pub const TYPE: Code = Code::new("query.type");

/// Deeper than anybody writes.
const DEEPEST: usize = 100;

/// What a condition can ask about a node.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Whether it is declared, and did not just come.
    pub provisioned: bool,
    /// When it was last heard of, in milliseconds since 1970; 0 for never.
    pub last_checkin: u64,
    /// The version with which its configuration last changed; 0 for never.
    pub last_updated_version: u64,
    /// The explicit groups that it is in, the highest priority first.
    pub memberships: Vec<String>,
    /// What somebody said about it.
    pub annotation: String,
}

/// A condition on nodes.
#[derive(Debug)]
pub struct Query {
    root: Expression,
}

impl Query {
    /// Reads a condition. Times that are said to be some hours ago count back from `now`, in milliseconds since 1970.
    pub fn parse(sources: &Sources, file: FileId, now: u64) -> Result<Self, Box<Diagnostic>> {
        let span = sources.span(file);
        let mut parser = Parser {
            text: sources.slice(span),
            start: span.start,
            at: 0,
            depth: 0,
            now,
        };
        let root = parser.either()?;
        let at = parser.blanks();
        if at < parser.text.len() {
            let rest = at..parser.text.len();
            let rest_of_it = &parser.text[at..];
            let help = match rest_of_it.split_whitespace().next() {
                Some("and" | "or" | "&" | "|") => Some("`&&` and `||` join conditions"),
                _ if rest_of_it.starts_with('=') => Some("`==` compares"),
                _ => None,
            };
            let mut trouble = parser.wrong(SYNTAX, rest, "the condition should end here");
            trouble.help.extend(help.map(str::to_owned));
            return Err(trouble);
        }
        let whole = 0..parser.text.len();
        parser.expect(&root, Type::Bool, whole)?;
        Ok(Self { root })
    }

    /// Whether it holds of a node.
    pub fn holds(&self, node: &Subject) -> bool {
        self.root.evaluate(node).is_true()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Bool,
    Number,
    Text,
    List,
    Time,
    Duration,
    Pattern,
}

impl Type {
    fn words(self) -> &'static str {
        match self {
            Type::Bool => "true or false",
            Type::Number => "a number",
            Type::Text => "a text",
            Type::List => "a list",
            Type::Time => "a time",
            Type::Duration => "a duration",
            Type::Pattern => "a pattern",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Provisioned,
    LastCheckin,
    LastUpdatedVersion,
    Memberships,
    Annotation,
}

const FIELDS: [(&str, Field, Type); 6] = [
    ("name", Field::Name, Type::Text),
    ("provisioned", Field::Provisioned, Type::Bool),
    ("last_checkin", Field::LastCheckin, Type::Time),
    (
        "last_updated_version",
        Field::LastUpdatedVersion,
        Type::Number,
    ),
    ("memberships", Field::Memberships, Type::List),
    ("annotation", Field::Annotation, Type::Text),
];

#[derive(Debug)]
enum Expression {
    Bool(bool),
    Number(u64),
    Text(String),
    Time(u64),
    Duration(u64),
    Pattern(Regex),
    Field(Field, Type),
    Size(Box<Expression>),
    Includes(Box<Expression>, Box<Expression>),
    IsNever(Box<Expression>),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// Whether a time was longer ago than a duration.
    Older(Box<Expression>, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Matches,
    MatchesNot,
}

/// What an expression comes to. Lists and patterns are not among it: they are only asked about.
#[derive(Debug, PartialEq, PartialOrd)]
enum Answer<'n> {
    Bool(bool),
    Number(u64),
    Text(&'n str),
}

impl Answer<'_> {
    fn is_true(&self) -> bool {
        matches!(self, Answer::Bool(true))
    }
}

impl Expression {
    fn of(&self) -> Type {
        match self {
            Expression::Number(_) | Expression::Size(_) => Type::Number,
            Expression::Text(_) => Type::Text,
            Expression::Time(_) => Type::Time,
            Expression::Duration(_) => Type::Duration,
            Expression::Pattern(_) => Type::Pattern,
            Expression::Field(_, of) => *of,
            Expression::Bool(_)
            | Expression::Includes(..)
            | Expression::IsNever(_)
            | Expression::Not(_)
            | Expression::And(..)
            | Expression::Or(..)
            | Expression::Compare(..)
            | Expression::Older(..) => Type::Bool,
        }
    }

    fn evaluate<'n>(&'n self, node: &'n Subject) -> Answer<'n> {
        match self {
            Expression::Bool(truth) => Answer::Bool(*truth),
            Expression::Number(number)
            | Expression::Time(number)
            | Expression::Duration(number) => Answer::Number(*number),
            Expression::Text(text) => Answer::Text(text),
            Expression::Field(field, _) => match field {
                Field::Name => Answer::Text(&node.name),
                Field::Provisioned => Answer::Bool(node.provisioned),
                Field::LastCheckin => Answer::Number(node.last_checkin),
                Field::LastUpdatedVersion => Answer::Number(node.last_updated_version),
                Field::Annotation => Answer::Text(&node.annotation),
                Field::Memberships => Answer::Number(node.memberships.len() as u64),
            },
            // The only list that there is.
            Expression::Size(of) => match of.of() {
                Type::List => of.evaluate(node),
                _ => match of.evaluate(node) {
                    Answer::Text(text) => Answer::Number(text.chars().count() as u64),
                    other => other,
                },
            },
            Expression::Includes(within, wanted) => {
                let Answer::Text(wanted) = wanted.evaluate(node) else {
                    unreachable!("it was checked to be a text");
                };
                let found = match within.evaluate(node) {
                    Answer::Text(text) => text.contains(wanted),
                    _ => node
                        .memberships
                        .iter()
                        .any(|group| same_name(group, wanted)),
                };
                Answer::Bool(found)
            }
            Expression::IsNever(time) => Answer::Bool(time.evaluate(node) == Answer::Number(0)),
            Expression::Not(other) => Answer::Bool(!other.evaluate(node).is_true()),
            Expression::And(one, other) => {
                Answer::Bool(one.evaluate(node).is_true() && other.evaluate(node).is_true())
            }
            Expression::Or(one, other) => {
                Answer::Bool(one.evaluate(node).is_true() || other.evaluate(node).is_true())
            }
            Expression::Older(time, then) => {
                Answer::Bool(time.evaluate(node) < Answer::Number(*then))
            }
            Expression::Compare(comparison, one, other) => {
                Answer::Bool(compare(*comparison, one, other, node))
            }
            Expression::Pattern(_) => Answer::Bool(false),
        }
    }
}

fn compare(comparison: Comparison, one: &Expression, other: &Expression, node: &Subject) -> bool {
    if let (Expression::Pattern(pattern), text) | (text, Expression::Pattern(pattern)) =
        (one, other)
    {
        let Answer::Text(text) = text.evaluate(node) else {
            unreachable!("it was checked to be a text");
        };
        return pattern.is_match(text) == (comparison == Comparison::Matches);
    }
    let (one, other) = (one.evaluate(node), other.evaluate(node));
    match comparison {
        Comparison::Equal => one == other,
        Comparison::Unequal => one != other,
        Comparison::Less => one < other,
        Comparison::AtMost => one <= other,
        Comparison::Greater => one > other,
        Comparison::AtLeast => one >= other,
        Comparison::Matches | Comparison::MatchesNot => unreachable!("it has a pattern"),
    }
}

fn same_name(one: &str, other: &str) -> bool {
    hence_ledger::key::fold(one) == hence_ledger::key::fold(other)
}

type Range = std::ops::Range<usize>;

struct Parser<'p> {
    text: &'p str,
    start: u32,
    at: usize,
    depth: usize,
    now: u64,
}

type Parsed = Result<Expression, Box<Diagnostic>>;

impl<'p> Parser<'p> {
    fn either(&mut self) -> Parsed {
        self.chain("||", Self::both, Expression::Or)
    }

    fn both(&mut self) -> Parsed {
        self.chain("&&", Self::negation, Expression::And)
    }

    fn chain(
        &mut self,
        operator: &str,
        part: fn(&mut Self) -> Parsed,
        join: fn(Box<Expression>, Box<Expression>) -> Expression,
    ) -> Parsed {
        let start = self.blanks();
        let mut whole = part(self)?;
        let mut links = 0;
        while self.eat(operator) {
            self.expect(&whole, Type::Bool, start..self.at - operator.len())?;
            let next = self.blanks();
            let other = part(self)?;
            self.expect(&other, Type::Bool, next..self.at)?;
            whole = join(Box::new(whole), Box::new(other));
            links += 1;
            if links > DEEPEST * 10 {
                return Err(self.wrong(SYNTAX, next..self.at, "this condition is too long"));
            }
        }
        Ok(whole)
    }

    fn negation(&mut self) -> Parsed {
        let at = self.blanks();
        let rest = &self.text[at..];
        if rest.starts_with('!') && !rest.starts_with("!=") && !rest.starts_with("!~") {
            self.at = at + 1;
            return self.deeper(|parser| {
                let start = parser.blanks();
                let other = parser.negation()?;
                parser.expect(&other, Type::Bool, start..parser.at)?;
                Ok(Expression::Not(Box::new(other)))
            });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed {
        let start = self.blanks();
        let one = self.operand()?;
        let operators = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("=~", Comparison::Matches),
            ("!~", Comparison::MatchesNot),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let end = self.at;
        let Some((sign, comparison)) = operators.into_iter().find(|(sign, _)| self.eat(sign))
        else {
            return Ok(one);
        };
        let next = self.blanks();
        let other = self.operand()?;
        let whole = start..self.at;
        match comparison {
            Comparison::Matches | Comparison::MatchesNot => {
                self.expect(&one, Type::Text, start..end)?;
                self.expect(&other, Type::Pattern, next..self.at)?;
            }
            _ if one.of() != other.of() || matches!(one.of(), Type::List | Type::Pattern) => {
                let message = format!(
                    "{} cannot be compared with {} by `{sign}`",
                    one.of().words(),
                    other.of().words()
                );
                return Err(self.wrong(TYPE, whole, &message));
            }
            _ => {}
        }
        Ok(Expression::Compare(
            comparison,
            Box::new(one),
            Box::new(other),
        ))
    }

    /// Something, and what is asked of it.
    fn operand(&mut self) -> Parsed {
        let mut subject = self.primary()?;
        while self.text[self.at..].starts_with('.') {
            self.at += 1;
            let at = self.at;
            let method = self.word();
            subject = self.method(subject, method, at)?;
        }
        Ok(subject)
    }

    fn method(&mut self, subject: Expression, method: &str, at: usize) -> Parsed {
        let of = subject.of();
        let place = at..self.at;
        let subject = match (of, method) {
            (Type::List | Type::Text, "size" | "length") => Expression::Size(Box::new(subject)),
            (Type::List | Type::Text, "include" | "include?") => {
                let argument = self.blanks();
                let wanted = self.argument()?;
                self.expect(&wanted, Type::Text, argument..self.at)?;
                Expression::Includes(Box::new(subject), Box::new(wanted))
            }
            (Type::List | Type::Text, "empty?" | "is_empty") => Expression::Compare(
                Comparison::Equal,
                Box::new(Expression::Size(Box::new(subject))),
                Box::new(Expression::Number(0)),
            ),
            (Type::Time, "is_never") => Expression::IsNever(Box::new(subject)),
            (Type::Time, "was_more_than" | "was_less_than") => {
                let argument = self.blanks();
                let bound = match self.argument()? {
                    Expression::Time(then) => then,
                    Expression::Duration(ago) => self.now.saturating_sub(ago),
                    other => {
                        self.expect(&other, Type::Duration, argument..self.at)?;
                        0
                    }
                };
                let older = Expression::Older(Box::new(subject), bound);
                match method {
                    "was_more_than" => older,
                    _ => Expression::Not(Box::new(older)),
                }
            }
            (Type::Number, _) => match (subject, duration(method)) {
                (Expression::Number(number), Some((unit, is_ago))) => {
                    let ago = number.saturating_mul(unit);
                    match is_ago {
                        true => Expression::Time(self.now.saturating_sub(ago)),
                        false => Expression::Duration(ago),
                    }
                }
                _ => return Err(self.no_method(of, method, place)),
            },
            _ => return Err(self.no_method(of, method, place)),
        };
        Ok(subject)
    }

    fn no_method(&self, of: Type, method: &str, place: Range) -> Box<Diagnostic> {
        let known: &[&str] = match of {
            Type::List | Type::Text => &["size", "include", "is_empty"],
            Type::Time => &["is_never", "was_more_than", "was_less_than"],
            Type::Number => &[
                "minutes_ago",
                "hours_ago",
                "days_ago",
                "weeks_ago",
                "years_ago",
            ],
            _ => &[],
        };
        let message = format!("{} has no `{method}`", of.words());
        let mut trouble = self.wrong(TYPE, place, &message);
        if !known.is_empty() {
            trouble
                .help
                .push(format!("there are `{}`", known.join("`, `")));
        }
        trouble
    }

    /// In parentheses, or behind a blank.
    fn argument(&mut self) -> Parsed {
        self.deeper(Self::operand)
    }

    fn primary(&mut self) -> Parsed {
        let at = self.blanks();
        let rest = &self.text[at..];
        match rest.chars().next() {
            Some('(') => {
                self.at = at + 1;
                let inner = self.deeper(Self::either)?;
                match self.eat(")") {
                    true => Ok(inner),
                    false => Err(self.wrong(SYNTAX, at..at + 1, "this `(` is not closed")),
                }
            }
            Some('0'..='9') => {
                let digits = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                self.at = at + digits;
                match rest[..digits].parse() {
                    Ok(number) => Ok(Expression::Number(number)),
                    Err(_) => Err(self.wrong(SYNTAX, at..self.at, "this number is too large")),
                }
            }
            Some(quote @ ('"' | '\'')) => {
                let (text, end) = self.until(at, quote)?;
                self.at = end;
                Ok(Expression::Text(text))
            }
            Some('/') => {
                let (pattern, end) = self.until(at, '/')?;
                self.at = end;
                let ignores_case = self.text[end..].starts_with('i');
                self.at += usize::from(ignores_case);
                let built = RegexBuilder::new(&pattern)
                    .case_insensitive(ignores_case)
                    .size_limit(1 << 20)
                    .build();
                built.map(Expression::Pattern).map_err(|error| {
                    let error = error.to_string();
                    let words = error.lines().last().unwrap_or_default();
                    let words = words.strip_prefix("error: ").unwrap_or(words);
                    let message = format!("this is no pattern: {words}");
                    self.wrong(SYNTAX, at..end, &message)
                })
            }
            Some(letter) if letter.is_alphabetic() || letter == '_' => self.name(at),
            _ => {
                let message = "a condition goes on here";
                let mut trouble = self.wrong(SYNTAX, at..at, message);
                trouble
                    .help
                    .push("such as `name =~ /web/` or `memberships.size == 0`".to_owned());
                Err(trouble)
            }
        }
    }

    fn name(&mut self, at: usize) -> Parsed {
        self.at = at;
        let word = self.word();
        match word {
            "true" => return Ok(Expression::Bool(true)),
            "false" => return Ok(Expression::Bool(false)),
            _ => {}
        }
        if let Some((_, field, of)) = FIELDS.iter().find(|(name, ..)| *name == word) {
            return Ok(Expression::Field(*field, *of));
        }
        let names = FIELDS.map(|(name, ..)| name);
        let mut trouble = self.wrong(TYPE, at..self.at, &format!("a node has no `{word}`"));
        trouble.help.push(match similar(word, names).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are `{}`", names.join("`, `")),
        });
        Err(trouble)
    }

    /// A text up to its closing sign; a backslash keeps the sign from closing it.
    fn until(&self, at: usize, sign: char) -> Result<(String, usize), Box<Diagnostic>> {
        let mut text = String::new();
        let mut characters = self.text[at + 1..].char_indices();
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some((_, escaped)) if escaped == sign => text.push(sign),
                    // In patterns a backslash means something.
                    Some((_, other)) if sign == '/' => text.extend(['\\', other]),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                _ if character == sign => return Ok((text, at + 1 + offset + sign.len_utf8())),
                other => text.push(other),
            }
        }
        let message = format!("this has no closing `{sign}`");
        Err(self.wrong(SYNTAX, at..at + 1, &message))
    }

    fn deeper(&mut self, part: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong(SYNTAX, self.at..self.at, "this condition is too deep"));
        }
        let parsed = part(self);
        self.depth -= 1;
        parsed
    }

    fn word(&mut self) -> &'p str {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut len = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        len += usize::from(len > 0 && rest[len..].starts_with('?'));
        self.at += len;
        &rest[..len]
    }

    fn eat(&mut self, sign: &str) -> bool {
        let at = self.blanks();
        let found = self.text[at..].starts_with(sign);
        if found {
            self.at = at + sign.len();
        }
        found
    }

    fn blanks(&mut self) -> usize {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.at
    }

    fn expect(
        &self,
        found: &Expression,
        wanted: Type,
        place: Range,
    ) -> Result<(), Box<Diagnostic>> {
        if found.of() == wanted {
            return Ok(());
        }
        let message = format!(
            "{} is expected, this is {}",
            wanted.words(),
            found.of().words()
        );
        Err(self.wrong(TYPE, place, &message))
    }

    fn wrong(&self, code: Code, place: Range, message: &str) -> Box<Diagnostic> {
        let end = place.start
            + self.text[place.start..place.end.max(place.start)]
                .trim_end()
                .len();
        let span = Span::new(self.start + place.start as u32, self.start + end as u32);
        Box::new(Diagnostic::error(code, message).at(span))
    }
}

/// The milliseconds in a unit, and whether it is meant as so long ago.
fn duration(word: &str) -> Option<(u64, bool)> {
    let (unit, is_ago) = match word.strip_suffix("_ago") {
        Some(unit) => (unit, true),
        None => (word, false),
    };
    let minute = 60_000;
    let length = match unit.strip_suffix('s').unwrap_or(unit) {
        "second" => 1_000,
        "minute" => minute,
        "hour" => 60 * minute,
        "day" => 24 * 60 * minute,
        "week" => 7 * 24 * 60 * minute,
        "month" => 30 * 24 * 60 * minute,
        "year" => 365 * 24 * 60 * minute,
        _ => return None,
    };
    Some((length, is_ago))
}
