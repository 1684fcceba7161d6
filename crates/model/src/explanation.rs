//! The answer to *why*: what is told about a value, for whoever words it.

use crate::cell::Item;
use crate::path::Path;
use crate::source::Span;
use crate::store::Found;
use crate::trace::Operand;

/// The answer to *why*.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The path that was asked about.
    pub path: Path,
    /// Its value.
    pub value: Subject,
    /// The literal that it is, if it was only copied.
    pub place: Option<Span>,
    /// How it came here, from the literal outwards.
    pub steps: Vec<Step>,
    /// What it beat, nearest first.
    pub lost: Vec<Lost>,
    /// Everything written that it depends on.
    pub depends: Vec<Dependence>,
    /// The operations over the literals.
    pub expression: Expression,
}

/// A value that can be explained.
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
    Operation(&'static str),
    /// Its place among its neighbours follows this constraint.
    Order,
}

/// A definition that did not win.
#[derive(Clone, Debug)]
pub struct Lost {
    /// What would have been the value.
    pub value: Subject,
    /// Where that is written.
    pub span: Span,
    /// Why it lost.
    pub rule: Rule,
    /// The prototypes through which it would have come, innermost first.
    pub through: Vec<Span>,
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
        }
    }
}

/// How a value is computed.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The operator; none for a literal.
    pub operator: Option<&'static str>,
    /// The value of this part.
    pub value: Subject,
    /// Where it is written.
    pub span: Span,
    /// What it is computed from.
    pub operands: Vec<Expression>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchPath {
    /// The part of the path that exists.
    pub known: Path,
    /// The names there.
    pub names: Vec<String>,
}
