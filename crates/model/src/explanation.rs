//! The answer to *why*: what is told about a value, for whoever words it.

use std::borrow::Cow;

use crate::cell::Item;
use crate::path::Path;
use crate::source::Span;
use crate::store::Found;
use crate::trace::Operand;
use crate::value::Value;

/// The answer to *why*. `S` is how values are held: a language may have handles of its own for them.
#[derive(Clone, Debug)]
pub struct Explanation<S = Shown> {
    /// The path that was asked about.
    pub path: Path,
    /// Its value.
    pub value: S,
    /// The literal that it is, if it was only copied.
    pub place: Option<Span>,
    /// How it came here, from the literal outwards.
    pub steps: Vec<Step>,
    /// What it beat, nearest first.
    pub lost: Vec<Lost<S>>,
    /// Everything written that it depends on.
    pub depends: Vec<Dependence>,
    /// The operations over the literals.
    pub expression: Expression<S>,
}

impl<S> Explanation<S> {
    /// The same, with the values held in another way.
    pub fn map<T>(self, show: &mut dyn FnMut(S) -> T) -> Explanation<T> {
        Explanation {
            path: self.path,
            value: show(self.value),
            place: self.place,
            steps: self.steps,
            lost: self.lost.into_iter().map(|lost| lost.map(show)).collect(),
            depends: self.depends,
            expression: self.expression.map(show),
        }
    }
}

/// A value as it may be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// This.
    Value(Value),
    /// Not at all: a secret flowed into it.
    Secret,
    /// Not at all: it is too large, and perhaps without an end. Only a part of it was needed.
    TooLarge,
}

impl Shown {
    /// The value, or what is shown instead.
    pub fn seen(&self) -> Result<&Value, &'static str> {
        match self {
            Shown::Value(value) => Ok(value),
            Shown::Secret => Err(SECRET),
            Shown::TooLarge => Err(TOO_LARGE),
        }
    }

    /// As programs get it: what is shown instead of a value is a text.
    pub fn to_value(&self) -> Value {
        match self.seen() {
            Ok(value) => value.clone(),
            Err(instead) => Value::Text(instead.to_owned()),
        }
    }
}

/// How much one answer shows besides the value that it is about, in bytes. What that was computed from can be far more.
pub const BESIDES: u64 = 1 << 20;

/// The operator of what is selected from a whole, the first operand; the others are the names and indexes that lead to it.
pub const SELECTION: &str = ".";

/// What is shown of a secret.
pub const SECRET: &str = "‹secret›";
/// What is shown of what is too large.
pub const TOO_LARGE: &str = "‹too large›";

/// A value among blocks that can be explained.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// The value of an entry.
    Entry(Found),
    /// An element of a list that is written out.
    Item(Item),
    /// Something computed on the way, or an element of a list that was.
    Operand(Operand),
}

/// One step of the way.
#[derive(Clone, Debug)]
pub struct Step {
    /// What happened.
    pub kind: StepKind,
    /// Where that is written.
    pub span: Span,
    /// The path, inside the configuration, of what the step is about.
    pub path: String,
    /// Whether it only decided which way the value went.
    pub control: bool,
}

/// What happened on the way from a literal to its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// It is written here.
    Written,
    /// A block around it is defined here.
    Block,
    /// It is written here, outside of the block that it is in: `a:b value`.
    Placed,
    /// It was inherited through this prototype.
    Prototype,
    /// It came through this link, which was found that many blocks further out; inner candidates that
    /// did not fit are listed.
    Link {
        /// How many enclosing blocks were passed.
        outwards: usize,
        /// Where a name of the reference is defined further in, without what the rest asks for.
        passed: Vec<Span>,
    },
    /// It came through this `#include`.
    Include,
    /// It was computed here.
    Operation(Cow<'static, str>),
    /// It came through this import.
    Import,
    /// It is what this condition chose.
    Condition,
    /// It came through this use of a macro.
    Macro,
    /// This mutation joined it with what other files say.
    Mutation(Cow<'static, str>),
    /// Its place among its neighbours follows this constraint.
    Order,
    /// It travelled in a way that its language has words for.
    Told(Cow<'static, str>),
}

/// A definition that did not win.
#[derive(Clone, Debug)]
pub struct Lost<S = Shown> {
    /// What would have been the value; none if it was never computed.
    pub value: Option<S>,
    /// Where that is written.
    pub span: Span,
    /// Why it lost.
    pub rule: Rule,
    /// The prototypes through which it would have come, innermost first.
    pub through: Vec<Span>,
}

impl<S> Lost<S> {
    fn map<T>(self, show: &mut dyn FnMut(S) -> T) -> Lost<T> {
        Lost {
            value: self.value.map(show),
            span: self.span,
            rule: self.rule,
            through: self.through,
        }
    }
}

/// Why one definition beats another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The last definition in a block wins.
    Later,
    /// A block's own definition, when it comes after a prototype, beats what that brought.
    OwnOverInherited,
    /// Later prototypes beat earlier ones.
    LaterPrototype,
    /// A placement replaces what was there.
    Placement,
    /// A file beats those that it imports.
    ImportingFile,
    /// What is undefined counts as not said.
    Undefined,
    /// A later mutation of one statement replaces what those before it came to.
    LaterMutation,
    /// A class overrides what a class that it inherits says.
    Subclass,
    /// What a collector sets replaces what was there.
    Collector,
    /// What is set beats a default.
    SetOverDefault,
    /// The default of the nearest scope wins.
    NearestDefault,
    /// What is given to a parameter beats what the data or its default say.
    GivenOverDefault,
    /// What is given to a parameter beats what the data say.
    GivenOverData,
    /// What the data say beats the default of a parameter.
    DataOverDefault,
    /// Of the levels of the data, the highest that says something wins.
    HigherLevel,
}

impl Rule {
    /// The rule in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Rule::Later => "the last definition in a block wins (definition 12)",
            Rule::OwnOverInherited => {
                "a definition after a prototype beats the prototype's (definition 23)"
            }
            Rule::LaterPrototype => "a later prototype beats an earlier one (definition 23)",
            Rule::Placement => "a placement replaces what was there (definition 13)",
            Rule::ImportingFile => "a file beats those that it imports (§4.1)",
            Rule::Undefined => "any value beats an undefined one (§3.2)",
            Rule::LaterMutation => "a later mutation of a statement replaces those before it",
            Rule::Subclass => "a class overrides what the class that it inherits says",
            Rule::Collector => "a collector overrides what was set",
            Rule::SetOverDefault => "an attribute that is set beats a default",
            Rule::NearestDefault => "the default of the nearest scope wins",
            Rule::GivenOverDefault => "a value that is given beats the default of a parameter",
            Rule::GivenOverData => "a value that is given beats the data",
            Rule::DataOverDefault => "data beat the default of a parameter",
            Rule::HigherLevel => "a higher level of the data wins",
        }
    }
}

/// Something written that a value depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dependence {
    /// Where.
    pub span: Span,
    /// In which way.
    pub role: Role,
}

/// How a value depends on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It is that literal.
    Value,
    /// It is computed from it.
    Operand,
    /// It decided what the value is computed from.
    Condition,
    /// It is what that reference names.
    Link,
    /// It is inherited through it.
    Prototype,
    /// It came through that `#include`.
    Include,
    /// It is inside that block.
    Block,
    /// It was computed by that operation.
    Operation,
    /// Its place follows that constraint.
    Order,
    /// It came through that import.
    Import,
    /// That mutation joined it with what other files say.
    Mutation,
    /// That did not define it, and could have.
    Absence,
}

impl Role {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Value => "value",
            Role::Operand => "operand",
            Role::Condition => "condition",
            Role::Link => "link",
            Role::Prototype => "prototype",
            Role::Include => "include",
            Role::Block => "block",
            Role::Operation => "operation",
            Role::Order => "order",
            Role::Import => "import",
            Role::Mutation => "mutation",
            Role::Absence => "absence",
        }
    }
}

/// How a value is computed.
#[derive(Clone, Debug)]
pub struct Expression<S = Shown> {
    /// The operator; none for a literal.
    pub operator: Option<Cow<'static, str>>,
    /// The value of this part.
    pub value: S,
    /// Where it is written.
    pub span: Span,
    /// What it is computed from.
    pub operands: Vec<Expression<S>>,
}

impl<S> Expression<S> {
    fn map<T>(self, show: &mut dyn FnMut(S) -> T) -> Expression<T> {
        let operands = self.operands.into_iter();
        Expression {
            operator: self.operator,
            value: show(self.value),
            span: self.span,
            operands: operands.map(|operand| operand.map(show)).collect(),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchPath {
    /// The part of the path that exists.
    pub known: Path,
    /// The names there.
    pub names: Vec<String>,
}
