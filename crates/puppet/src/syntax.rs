//! The syntax of a manifest, as everything after the parser sees it.
//!
//! A file is parsed once and shared by all nodes that are compiled. Definitions stand beside the code that
//! contains them: they are known before anything is evaluated, wherever in the file they are written.

use std::sync::{Arc, OnceLock};

use ecow::EcoString;
use hence_model::source::{FileId, Span};

use crate::pattern::Pattern;
use crate::resource::capitalised;
use crate::types::Type;

/// A manifest, or a template.
#[derive(Debug)]
pub struct Program {
    /// The file.
    pub file: FileId,
    /// What it says outside of definitions.
    pub body: Block,
    /// The definitions in it, also those inside others, in the order in which they begin.
    pub definitions: Vec<Definition>,
    /// The parameters that a template declares.
    pub parameters: Option<Vec<Parameter>>,
}

/// Statements; the value of the last is theirs.
#[derive(Debug)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Expression>,
    /// Where they stand, with their braces.
    pub span: Span,
}

/// A class, a defined type, a node, a function or a type alias.
#[derive(Debug)]
pub struct Definition {
    /// What is defined.
    pub kind: DefinitionKind,
    /// The full name in lower case, such as `apache::vhost`; empty for a node.
    pub name: EcoString,
    /// Where the name stands.
    pub name_span: Span,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The body; empty for a type alias.
    pub body: Block,
    /// The whole definition.
    pub span: Span,
}

impl Definition {
    /// The name as one writes it: that of a type has capitals.
    pub(crate) fn shown_name(&self) -> String {
        match self.kind {
            DefinitionKind::Alias { .. } => capitalised(&self.name).to_string(),
            _ => self.name.to_string(),
        }
    }
}

/// What a definition defines.
#[derive(Debug)]
pub enum DefinitionKind {
    /// `class a(…) inherits b { … }`
    Class {
        /// The class it inherits, in lower case and without leading `::`, and where that stands.
        parent: Option<(EcoString, Span)>,
    },
    /// `define a(…) { … }`
    Define,
    /// `node 'web1', /^db/, default { … }`
    Node {
        /// Which nodes are meant.
        matches: Vec<NodeMatch>,
    },
    /// `function a(…) >> Type { … }`
    Function {
        /// The type of the result.
        returns: Option<Expression>,
    },
    /// `type A = …`
    Alias {
        /// The type.
        kind: Expression,
    },
}

/// Which nodes a node definition is for.
#[derive(Debug)]
pub struct NodeMatch {
    /// What their name must be.
    pub kind: NodeMatchKind,
    /// Where that stands.
    pub span: Span,
}

/// What the name of a node must be.
#[derive(Debug)]
pub enum NodeMatchKind {
    /// This.
    Name(EcoString),
    /// Anything in which this is found.
    Pattern(Arc<Pattern>),
    /// Anything that no other definition is for.
    Default,
}

/// A parameter of a definition, a lambda or a template.
#[derive(Debug)]
pub struct Parameter {
    /// The name, without `$`.
    pub name: EcoString,
    /// Where it stands, with `$`.
    pub span: Span,
    /// The type that its value must have.
    pub kind: Option<Expression>,
    /// That type, once it was made, if it is the same for all nodes.
    pub constant: OnceLock<Arc<Type>>,
    /// What its value is if none is given.
    pub default: Option<Expression>,
    /// Whether it takes all further arguments: `*$rest`.
    pub rest: bool,
}

/// `|$a, $b| { … }`
#[derive(Debug)]
pub struct Lambda {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The type of the result.
    pub returns: Option<Expression>,
    /// The body.
    pub body: Block,
    /// The whole lambda.
    pub span: Span,
}

/// An expression in its place.
#[derive(Debug)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug)]
pub enum Kind {
    /// Nothing: an empty body, or a definition, which says nothing in its place.
    Nothing,
    /// `undef`
    Undef,
    /// `default`
    Default,
    /// `true`
    Bool(bool),
    /// `42`, `0x2a`, `052`
    Integer(i64),
    /// `4.2`
    Float(f64),
    /// `'text'`, and `"text"` with nothing to interpolate.
    Text(EcoString),
    /// A bare word: `present`, `apache::vhost`. As written, with a leading `::` if there is one.
    Name(EcoString),
    /// A bare word with a capital: `File`, `Apache::Vhost`. In lower case, without leading `::`.
    Reference(EcoString),
    /// A word that is kept for later, such as `application`.
    Reserved(EcoString),
    /// `/text/`
    Pattern(Arc<Pattern>),
    /// `$name`, `$class::name`, `$0`. Without `$`, as written.
    Variable(EcoString),
    /// `"text ${expression}"`: pieces of text and expressions. In `${name}` the name is a variable already.
    Interpolated(Vec<Expression>),
    /// `@("END":json/L)`: the text, and the name of its syntax.
    Heredoc(Box<Expression>, Option<EcoString>),
    /// `[a, b]`
    Array(Vec<Expression>),
    /// `{a => b}`
    Hash(Vec<(Expression, Expression)>),
    /// `(a)`: tells `(*$a)` from others where that matters.
    Parenthesised(Box<Expression>),
    /// `!a`
    Not(Box<Expression>),
    /// `-a`
    Minus(Box<Expression>),
    /// `*a`
    Splat(Box<Expression>),
    /// `a + b` and the like.
    Binary(Operator, Box<[Expression; 2]>),
    /// `$a = b`; the left side is a variable or an array of them.
    Assign(Box<[Expression; 2]>),
    /// `a[b, c]`
    Access(Box<Expression>, Box<[Expression]>),
    /// `f(a)`, `a.f`, `f a`
    Call(Box<Call>),
    /// `if a { … } else { … }`; `elsif` is an `if` alone in the `else`.
    If(Box<If>),
    /// `case a { b: { … } }`
    Case(Box<Case>),
    /// `a ? { b => c }`
    Selector(Box<Selector>),
    /// `file { 'a': b => c }`
    Resource(Box<Resource>),
    /// `File { a => b }`
    Defaults(Box<Amendment>),
    /// `File['a'] { b => c }`
    Override(Box<Amendment>),
    /// `File <| a == b |> { c => d }`
    Collector(Box<Collector>),
    /// `a -> b`
    Relationship(Arrow, Box<[Expression; 2]>),
    /// Text of a template.
    RenderText(EcoString),
    /// `<%= a %>` of a template.
    Render(Box<Expression>),
    /// Several statements in the place of one.
    Block(Box<Block>),
}

/// The operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `=~`
    Match,
    /// `!~`
    NoMatch,
    /// `in`
    In,
    /// `and`
    And,
    /// `or`
    Or,
}

impl Operator {
    /// The operator as it is written.
    pub fn text(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Match => "=~",
            Operator::NoMatch => "!~",
            Operator::In => "in",
            Operator::And => "and",
            Operator::Or => "or",
        }
    }
}

/// `->`, `~>`, `<-`, `<~`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Whether a change on one side is told to the other: `~>`.
    pub notifies: bool,
    /// Whether the right side comes first: `<-`.
    pub backwards: bool,
}

impl Arrow {
    /// The arrow as it is written.
    pub fn text(self) -> &'static str {
        match (self.notifies, self.backwards) {
            (false, false) => "->",
            (true, false) => "~>",
            (false, true) => "<-",
            (true, true) => "<~",
        }
    }
}

/// A call of a function.
#[derive(Debug)]
pub struct Call {
    /// What is called: a name, or a type, which makes a new value.
    pub function: Expression,
    /// The arguments; the receiver of `a.f` is the first.
    pub arguments: Vec<Expression>,
    /// The lambda behind the arguments.
    pub lambda: Option<Lambda>,
    /// Whether it is written `a.f`.
    pub method: bool,
}

/// A conditional with two ways.
#[derive(Debug)]
pub struct If {
    /// Whether it is `unless`.
    pub unless: bool,
    /// The condition.
    pub condition: Expression,
    /// What happens if it holds; for `unless`, if it does not.
    pub then: Block,
    /// What happens otherwise.
    pub otherwise: Option<Block>,
}

/// A conditional with many ways.
#[derive(Debug)]
pub struct Case {
    /// What is looked at.
    pub test: Expression,
    /// The ways.
    pub options: Vec<CaseOption>,
}

/// One way of a case.
#[derive(Debug)]
pub struct CaseOption {
    /// What the test may be.
    pub values: Vec<Expression>,
    /// What happens then.
    pub body: Block,
}

/// A value that depends on another.
#[derive(Debug)]
pub struct Selector {
    /// What is looked at.
    pub test: Expression,
    /// What it may be, and the value then.
    pub options: Vec<(Expression, Expression)>,
}

/// Resources of one type.
#[derive(Debug)]
pub struct Resource {
    /// Whether they are in the catalog at once.
    pub form: Form,
    /// The type: a name such as `file` or `class`, a reference, or an access such as `Resource['file']`.
    pub kind: Expression,
    /// The resources.
    pub bodies: Box<[ResourceBody]>,
}

/// Whether a resource is in the catalog at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It is.
    Regular,
    /// Not before it is realised: `@file`.
    Virtual,
    /// As a virtual one, and other nodes may collect it: `@@file`.
    Exported,
}

/// Resources with the same attributes.
#[derive(Debug)]
pub struct ResourceBody {
    /// One title, or an array of them, or `default`.
    pub title: Expression,
    /// The attributes.
    pub attributes: Box<[Attribute]>,
    /// From the title to the last attribute.
    pub span: Span,
}

/// What is said about an attribute.
#[derive(Debug)]
pub struct Attribute {
    /// Which.
    pub kind: AttributeKind,
    /// The value; for a splat, a hash of values.
    pub value: Expression,
    /// The whole.
    pub span: Span,
}

/// Which attribute is meant.
#[derive(Debug)]
pub enum AttributeKind {
    /// `name => value`
    Set(EcoString),
    /// `name +> value`
    Add(EcoString),
    /// `* => hash`
    Splat,
}

/// Attributes for something that is declared elsewhere.
#[derive(Debug)]
pub struct Amendment {
    /// The type, or the resources.
    pub target: Expression,
    /// The attributes.
    pub attributes: Box<[Attribute]>,
}

/// `File <| … |>`
#[derive(Debug)]
pub struct Collector {
    /// The type: a reference.
    pub kind: Expression,
    /// Whether resources of other nodes are meant: `<<| |>>`.
    pub exported: bool,
    /// Which of them.
    pub query: Option<Query>,
    /// What is set on them.
    pub attributes: Box<[Attribute]>,
}

/// Which resources a collector takes.
#[derive(Debug)]
pub enum Query {
    /// `attribute == value`
    Test {
        /// The attribute; `title` and `tag` are looked up as what they are.
        attribute: EcoString,
        /// Whether it must differ.
        differs: bool,
        /// From what.
        value: Expression,
        /// The whole test.
        span: Span,
    },
    /// Both.
    And(Box<[Query; 2]>),
    /// One of them.
    Or(Box<[Query; 2]>),
}

/// A part of an expression.
#[derive(Clone, Copy, Debug)]
pub enum Part<'t> {
    /// An expression; statements of a block one by one.
    Expression(&'t Expression),
    /// A lambda.
    Lambda(&'t Lambda),
}

impl Expression {
    /// Visits the parts of an expression, in the order in which they are written.
    pub fn parts<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        match &self.kind {
            Kind::Nothing
            | Kind::Undef
            | Kind::Default
            | Kind::Bool(_)
            | Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Name(_)
            | Kind::Reference(_)
            | Kind::Reserved(_)
            | Kind::Pattern(_)
            | Kind::Variable(_)
            | Kind::RenderText(_) => {}
            Kind::Interpolated(inner) | Kind::Array(inner) => each(inner, visit),
            Kind::Heredoc(inner, _)
            | Kind::Parenthesised(inner)
            | Kind::Not(inner)
            | Kind::Minus(inner)
            | Kind::Splat(inner)
            | Kind::Render(inner) => visit(Part::Expression(inner)),
            Kind::Hash(entries) => {
                for (key, value) in entries {
                    visit(Part::Expression(key));
                    visit(Part::Expression(value));
                }
            }
            Kind::Binary(_, both) | Kind::Assign(both) | Kind::Relationship(_, both) => {
                each(&both[..], visit);
            }
            Kind::Access(of, keys) => {
                visit(Part::Expression(of));
                each(keys, visit);
            }
            Kind::Call(call) => {
                visit(Part::Expression(&call.function));
                each(&call.arguments, visit);
                if let Some(lambda) = &call.lambda {
                    visit(Part::Lambda(lambda));
                }
            }
            Kind::If(conditional) => {
                visit(Part::Expression(&conditional.condition));
                each(&conditional.then.statements, visit);
                if let Some(otherwise) = &conditional.otherwise {
                    each(&otherwise.statements, visit);
                }
            }
            Kind::Case(case) => {
                visit(Part::Expression(&case.test));
                for option in &case.options {
                    each(&option.values, visit);
                    each(&option.body.statements, visit);
                }
            }
            Kind::Selector(selector) => {
                visit(Part::Expression(&selector.test));
                for (option, value) in &selector.options {
                    visit(Part::Expression(option));
                    visit(Part::Expression(value));
                }
            }
            Kind::Resource(resource) => {
                visit(Part::Expression(&resource.kind));
                for body in &resource.bodies {
                    visit(Part::Expression(&body.title));
                    values(&body.attributes, visit);
                }
            }
            Kind::Defaults(amendment) | Kind::Override(amendment) => {
                visit(Part::Expression(&amendment.target));
                values(&amendment.attributes, visit);
            }
            Kind::Collector(collector) => {
                if let Some(query) = &collector.query {
                    query.values(visit);
                }
                values(&collector.attributes, visit);
            }
            Kind::Block(block) => each(&block.statements, visit),
        }
    }
}

impl Query {
    fn values<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        match self {
            Query::Test { value, .. } => visit(Part::Expression(value)),
            Query::And(both) | Query::Or(both) => {
                both.iter().for_each(|query| query.values(visit));
            }
        }
    }
}

fn each<'t>(expressions: &'t [Expression], visit: &mut dyn FnMut(Part<'t>)) {
    expressions
        .iter()
        .for_each(|expression| visit(Part::Expression(expression)));
}

fn values<'t>(attributes: &'t [Attribute], visit: &mut dyn FnMut(Part<'t>)) {
    attributes
        .iter()
        .for_each(|attribute| visit(Part::Expression(&attribute.value)));
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_five_words() {
        assert_eq!(size_of::<Expression>(), 40);
    }
}
