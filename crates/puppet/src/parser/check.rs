//! What the grammar allows and the language does not.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use super::{Parser, Place};
use crate::syntax::{Block, Expression, Kind, Operator, Query};

/// A value that nobody uses.
pub const NO_EFFECT: Code = Code::new("puppet.no-effect");
/// Something without a value where one is needed.
pub const NO_VALUE: Code = Code::new("puppet.no-value");
/// A definition in a place where none can be.
pub const TOP_LEVEL: Code = Code::new("puppet.top-level");
/// Something that cannot be assigned to.
pub const ASSIGNMENT: Code = Code::new("puppet.assignment");
/// Two defaults of which only one can be meant.
pub const DUPLICATE_DEFAULT: Code = Code::new("puppet.duplicate-default");
/// An attribute that cannot be written so here.
pub const ATTRIBUTE: Code = Code::new("puppet.attribute");
/// A collector that asks for something that cannot be asked.
pub const QUERY: Code = Code::new("puppet.query");
/// A call of something that is no function.
pub const CALL: Code = Code::new("puppet.call");
/// Something that once was, or may one day be, part of the language.
pub const UNSUPPORTED: Code = Code::new("puppet.unsupported");

/// A definition that may stand in a wrong place.
pub(super) struct Placed {
    span: Span,
    kind: Defined,
}

/// What is defined, as far as it matters where.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Defined {
    /// A class, a defined type or a node: also in a class.
    InClass,
    /// A function or a type: in a file alone.
    InFile,
}

impl Parser<'_> {
    /// Takes note of a definition that was just read.
    pub(super) fn placed(&mut self, span: Span, kind: Defined) {
        self.misplaced.push(Placed { span, kind });
    }

    /// If a statement is a definition, it stands in its right place.
    pub(super) fn accept_definition(&mut self, statement: &Expression, place: Place) {
        let Some(last) = self.misplaced.last() else {
            return;
        };
        let fits = match place {
            Place::Top => true,
            Place::Class => last.kind == Defined::InClass,
            Place::Inner => false,
        };
        if fits && matches!(statement.kind, Kind::Nothing) && last.span == statement.span {
            self.misplaced.pop();
        }
    }

    pub(super) fn report_misplaced(&mut self) {
        for Placed { span, kind } in std::mem::take(&mut self.misplaced) {
            let (message, help) = match kind {
                Defined::InClass => (
                    "this definition can only stand in a file or in a class",
                    "move it out; to use it here, declare it: `include name`",
                ),
                Defined::InFile => (
                    "this definition can only stand in a file",
                    "move it out of what it stands in",
                ),
            };
            let line = self.slice(span).lines().next().unwrap_or("").len() as u32;
            let span = Span::new(span.start, span.start + line);
            self.report(Diagnostic::error(TOP_LEVEL, message).at(span).help(help));
        }
    }

    /// Reports the first statement but the last that has no effect: the value of the last is used.
    pub(super) fn check_effects(&mut self, statements: &[Expression]) {
        let Some((_, before)) = statements.split_last() else {
            return;
        };
        if let Some(idle) = before.iter().find(|statement| is_idle(statement)) {
            self.report_idle(idle, "its value is not used by anything");
        }
    }

    /// Reports the last statement of a definition that has no value, if all that it does is to have one.
    pub(super) fn check_last_effect(&mut self, body: &Block, what: &str) {
        if let Some(last) = body.statements.last()
            && is_idle(last)
        {
            self.report_idle(last, &format!("{what} has no value"));
        }
    }

    fn report_idle(&mut self, idle: &Expression, why: &str) {
        let message = format!("{} has no effect here", describe(idle));
        let mut diagnostic = Diagnostic::error(NO_EFFECT, message).label(idle.span, why);
        diagnostic = match &idle.kind {
            Kind::Name(name) => diagnostic.help(format!(
                "if `{name}` is a function, call it with parentheses: `{name}(…)`"
            )),
            Kind::Binary(Operator::Equal, sides) if matches!(sides[0].kind, Kind::Variable(_)) => {
                diagnostic.help("to assign, write `=`")
            }
            _ => diagnostic.help("remove it, or check what stands before and behind it"),
        };
        self.report(diagnostic);
    }

    /// Reports what has no value, where one is needed.
    pub(super) fn check_value(&mut self, value: &Expression) {
        let what = match value.kind {
            Kind::Collector(_) => "a collector",
            Kind::Nothing => "a definition",
            _ => return,
        };
        let message = format!("expected a value, found {what}");
        self.report(Diagnostic::error(NO_VALUE, message).at(value.span));
    }

    /// Reports what cannot be assigned to.
    pub(super) fn check_assignable(&mut self, target: &Expression) {
        let (message, help) = match &target.kind {
            Kind::Variable(name) if name.starts_with(|first: char| first.is_ascii_digit()) => (
                format!("`${name}` cannot be assigned to"),
                "variables with numbers hold what the last pattern matched",
            ),
            Kind::Variable(name) if name.contains("::") => (
                format!("`${name}` cannot be assigned to from here"),
                "a variable is assigned in the class it belongs to, without the name of the class",
            ),
            Kind::Variable(_) => return,
            Kind::Array(elements) => {
                for element in elements {
                    self.check_assignable(element);
                }
                return;
            }
            Kind::Access(..) => (
                "an element cannot be assigned to".to_owned(),
                "values do not change: assign a new one to another variable, such as `$b = $a + {'key' => 'value'}`",
            ),
            _ => (
                format!("{} cannot be assigned to", describe(target)),
                "on the left side of `=` there is a variable, or a list of variables",
            ),
        };
        self.report(
            Diagnostic::error(ASSIGNMENT, message)
                .at(target.span)
                .help(help),
        );
    }

    /// Reports what cannot be called.
    pub(super) fn check_callable(&mut self, function: &Expression) {
        let is_callable = match &function.kind {
            Kind::Name(_) | Kind::Reference(_) => true,
            Kind::Access(of, _) => matches!(of.kind, Kind::Reference(_)),
            _ => false,
        };
        if is_callable {
            return;
        }
        let message = format!("{} cannot be called", describe(function));
        let help = match function.kind {
            Kind::RenderText(_) => {
                "the parameters of a template stand in its first tag, between bars: `<%- | $a, $b | -%>`"
            }
            _ => {
                "before `(` there is the name of a function or of a type; if this is no call, begin a new line"
            }
        };
        self.report(
            Diagnostic::error(CALL, message)
                .at(function.span)
                .help(help),
        );
    }

    /// Reports a second `default` among the values of a case or a selector.
    pub(super) fn check_defaults<'e>(&mut self, values: impl Iterator<Item = &'e Expression>) {
        let mut first: Option<Span> = None;
        for value in values.filter(|value| matches!(value.kind, Kind::Default)) {
            match first {
                None => first = Some(value.span),
                Some(first) => self.report(
                    Diagnostic::error(DUPLICATE_DEFAULT, "there are two defaults")
                        .label(value.span, "this one is never used")
                        .label(first, "because of this one"),
                ),
            }
        }
    }

    /// What a collector asks for; none if that is wrong, which is reported.
    pub(super) fn query(&mut self, asked: Expression) -> Option<Query> {
        let span = asked.span;
        match asked.kind {
            Kind::Parenthesised(inner) => self.query(*inner),
            Kind::Binary(operator @ (Operator::And | Operator::Or), sides) => {
                let [left, right] = *sides;
                let (left, right) = (self.query(left), self.query(right));
                let both = Box::new([left?, right?]);
                Some(match operator {
                    Operator::And => Query::And(both),
                    _ => Query::Or(both),
                })
            }
            Kind::Binary(operator @ (Operator::Equal | Operator::NotEqual), sides) => {
                let [left, value] = *sides;
                let (Kind::Name(attribute) | Kind::Text(attribute)) = left.kind else {
                    let message = "expected the name of an attribute";
                    let help = "a query is `attribute == value` or `attribute != value`";
                    self.report(Diagnostic::error(QUERY, message).at(left.span).help(help));
                    return None;
                };
                Some(Query::Test {
                    attribute,
                    differs: operator == Operator::NotEqual,
                    value,
                    span,
                })
            }
            _ => {
                let message = "this cannot be asked of a resource";
                let help = "a query is `attribute == value` or `attribute != value`, several with `and` and `or`";
                self.report(Diagnostic::error(QUERY, message).at(span).help(help));
                None
            }
        }
    }
}

/// Whether evaluating it changes nothing.
fn is_idle(expression: &Expression) -> bool {
    let all = |block: &Block| block.statements.iter().all(is_idle);
    match &expression.kind {
        Kind::Undef
        | Kind::Default
        | Kind::Bool(_)
        | Kind::Integer(_)
        | Kind::Float(_)
        | Kind::Text(_)
        | Kind::Name(_)
        | Kind::Reference(_)
        | Kind::Pattern(_)
        | Kind::Variable(_)
        | Kind::Interpolated(_)
        | Kind::Heredoc(..)
        | Kind::Array(_)
        | Kind::Hash(_)
        | Kind::Not(_)
        | Kind::Minus(_)
        | Kind::Splat(_)
        | Kind::Access(..)
        | Kind::Selector(_) => true,
        // What was matched is kept in `$0` and so on.
        Kind::Binary(operator, _) => !matches!(operator, Operator::Match | Operator::NoMatch),
        Kind::Parenthesised(inner) => is_idle(inner),
        Kind::If(choice) => {
            is_idle(&choice.condition)
                && all(&choice.then)
                && choice.otherwise.as_ref().is_none_or(all)
        }
        Kind::Case(case) => {
            is_idle(&case.test)
                && case
                    .options
                    .iter()
                    .all(|option| option.values.iter().all(is_idle) && all(&option.body))
        }
        Kind::Block(block) => all(block),
        Kind::Nothing
        | Kind::Reserved(_)
        | Kind::Assign(_)
        | Kind::Call(_)
        | Kind::Resource(_)
        | Kind::Defaults(_)
        | Kind::Override(_)
        | Kind::Collector(_)
        | Kind::Relationship(..)
        | Kind::RenderText(_)
        | Kind::Render(_) => false,
    }
}

/// What it is, in words.
pub(super) fn describe(expression: &Expression) -> String {
    match &expression.kind {
        Kind::Nothing => "this definition",
        Kind::Undef => "`undef`",
        Kind::Default => "`default`",
        Kind::Bool(_) | Kind::Integer(_) | Kind::Float(_) => "this value",
        Kind::Text(_) | Kind::Interpolated(_) | Kind::Heredoc(..) => "this text",
        Kind::Name(name) => return format!("the name `{name}`"),
        Kind::Reference(_) => "this type",
        Kind::Reserved(word) => return format!("`{word}`"),
        Kind::Pattern(_) => "this pattern",
        Kind::Variable(name) => return format!("`${name}`"),
        Kind::Array(_) => "this list",
        Kind::Hash(_) => "this hash",
        Kind::Parenthesised(inner) => return describe(inner),
        Kind::Not(_) => "`!`",
        Kind::Minus(_) => "`-`",
        Kind::Splat(_) => "`*`",
        Kind::Binary(operator, _) => return format!("`{}`", operator.text()),
        Kind::Assign(_) => "this assignment",
        Kind::Access(..) => "this access",
        Kind::Call(_) => "this call",
        Kind::If(choice) if choice.unless => "this `unless`",
        Kind::If(_) => "this `if`",
        Kind::Case(_) => "this `case`",
        Kind::Selector(_) => "this selector",
        Kind::Resource(_) => "this resource",
        Kind::Defaults(_) => "this default",
        Kind::Override(_) => "this override",
        Kind::Collector(_) => "this collector",
        Kind::Relationship(..) => "this relationship",
        Kind::RenderText(_) => "this text",
        Kind::Render(_) => "this tag",
        Kind::Block(_) => "this block",
    }
    .to_owned()
}
