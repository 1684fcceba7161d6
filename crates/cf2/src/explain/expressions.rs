//! How an expression came to its value.

use std::borrow::Cow;

use hence_model::cell::Content;
use hence_model::explanation::{Expression, Shown, StepKind};
use hence_model::source::Span;
use hence_model::value::Value;

use super::{Explainer, Subject};
use crate::datum::{Datum, Form, Home, ScopeId, State};
use crate::evaluate::{Evaluated, Stop};
use crate::lexer::Operator;
use crate::mutate::Candidate;
use crate::operators;
use crate::references::Selected;
use crate::syntax::{ExpressionId, Kind, Mutation};

impl Explainer<'_, '_> {
    /// How an expression came to its value.
    pub(super) fn expression(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
        path: &str,
    ) -> Expression {
        let span = self.evaluator.span(id);
        if self.is_spent() {
            let datum = self.evaluated(id, scope, home);
            return self.leaf(datum, span);
        }
        self.depth += 1;
        let explained = self.expression_deeper(id, scope, home, path);
        self.depth -= 1;
        explained.unwrap_or_else(|Stop| self.leaf(Datum::UNDEFINED, span))
    }

    pub(super) fn evaluated(&mut self, id: ExpressionId, scope: ScopeId, home: Home) -> Datum {
        let datum = self.evaluator.evaluate(id, scope, home);
        datum.unwrap_or(Datum::UNDEFINED)
    }

    pub(super) fn expression_deeper(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
        path: &str,
    ) -> Evaluated<Expression> {
        let span = self.evaluator.span(id);
        let kind = self.evaluator.tree.expression(id).kind;
        Ok(match kind {
            Kind::Literal(_) | Kind::Secret(_) | Kind::Undefined => {
                self.step(StepKind::Written, span, path);
                let datum = self.evaluated(id, scope, home);
                self.leaf(datum, span)
            }
            Kind::Block(_) => {
                self.step(StepKind::Block, span, path);
                let datum = self.known(home, id, scope);
                self.leaf(datum, span)
            }
            Kind::List(list) => {
                let elements = self.evaluator.tree.list(list).to_vec();
                let mut operands = Vec::new();
                for element in elements.into_iter().rev() {
                    operands.push(self.operand(element, scope, home));
                }
                operands.reverse();
                self.operation("[ ]", id, scope, home, path, operands)
            }
            Kind::Reference(name) => {
                self.link(span, path);
                let root = self.evaluator.scope(scope).root;
                let entry = self.evaluator.lookup(root, name, span)?;
                let target = self.evaluator.name(name).to_owned();
                self.way(root, entry);
                self.entry(entry, &target, false)
            }
            Kind::Parameter(number) => {
                let (argument, outer) = self.evaluator.argument_of(scope, number as usize);
                self.expression(argument, outer, home, path)
            }
            Kind::Select(of, by) => {
                self.link(span, path);
                let base = self.evaluator.evaluate(of, scope, home)?;
                let target = self
                    .evaluator
                    .source(span)
                    .trim_start_matches('$')
                    .to_owned();
                match self.evaluator.select(base, by, scope, home)? {
                    Selected::Entry(entry) => {
                        let block = self.evaluator.entry(entry).block;
                        self.way(block, entry);
                        self.entry(entry, &target, false)
                    }
                    Selected::Element(list, index) => {
                        self.subject(Subject::Element(list, index), &target)
                    }
                    Selected::Literal(item) => self.subject(Subject::Item(item), &target),
                }
            }
            Kind::Negate(operand) => {
                let operand = self.operand(operand, scope, home);
                self.operation("-", id, scope, home, path, vec![operand])
            }
            Kind::Not(operand) => {
                let operand = self.operand(operand, scope, home);
                self.operation("!", id, scope, home, path, vec![operand])
            }
            Kind::Binary(operator, ..) => {
                let mut rest = Vec::new();
                let mut first = id;
                while let Kind::Binary(next, left, right) =
                    self.evaluator.tree.expression(first).kind
                    && next == operator
                {
                    rest.push(right);
                    first = left;
                }
                rest.push(first);
                rest.reverse();
                // A logical operator may not need all operands.
                let decisive = rest.iter().position(|&operand| {
                    let datum = self.evaluated(operand, scope, home);
                    self.decides(operator, datum)
                });
                rest.truncate(decisive.map_or(rest.len(), |at| at + 1));
                let mut operands = Vec::new();
                // Steps are turned around in the end.
                for operand in rest.into_iter().rev() {
                    operands.push(self.operand(operand, scope, home));
                }
                operands.reverse();
                self.operation(operator.text(), id, scope, home, path, operands)
            }
            Kind::If(condition, then, otherwise) => {
                let holds = self.evaluator.condition(condition, scope, home)?;
                let was_control = std::mem::replace(&mut self.control, true);
                self.operand(condition, scope, home);
                self.control = was_control;
                let condition_span = self.evaluator.span(condition);
                let chosen = match (holds, otherwise) {
                    (true, _) => Some(then),
                    (false, otherwise) => otherwise.map(|otherwise| otherwise.expression()),
                };
                self.step(StepKind::Condition, condition_span, path);
                match chosen {
                    Some(chosen) => self.expression(chosen, scope, home, path),
                    None => self.leaf(Datum::UNDEFINED, span),
                }
            }
            Kind::Import(..) => {
                self.step(StepKind::Import, span, path);
                let datum = self.known(home, id, scope);
                self.leaf(datum, span)
            }
            Kind::Macro(macro_, arguments) => {
                self.step(StepKind::Macro, span, path);
                let arguments = self.evaluator.tree.list(arguments).to_vec();
                let (value, scope) = self.evaluator.enter(macro_, arguments, scope);
                self.expression(value, scope, home, path)
            }
            Kind::Call(name, arguments) => {
                let arguments = self.evaluator.tree.list(arguments).to_vec();
                let name = self.evaluator.name(name).to_owned();
                let asks = name == "defined";
                let mut operands = Vec::new();
                for argument in arguments.into_iter().rev() {
                    operands.push(match asks {
                        true => self.asked(argument, id, scope, home, path),
                        false => self.operand(argument, scope, home),
                    });
                }
                operands.reverse();
                self.operation(&name, id, scope, home, path, operands)
            }
            Kind::Chain(links) => {
                let links = self.evaluator.tree.chain(links).to_vec();
                self.chain(id, &links, scope, home, path, Vec::new())?
            }
        })
    }

    /// What `defined` asks for, and whether it is there: its value does not matter.
    fn asked(
        &mut self,
        argument: ExpressionId,
        call: ExpressionId,
        scope: ScopeId,
        home: Home,
        path: &str,
    ) -> Expression {
        let span = self.evaluator.span(argument);
        let words: Vec<&str> = self.evaluator.source(span).split_whitespace().collect();
        let asked = words.join(" ");
        let datum = self.evaluated(call, scope, home);
        let told = match self.truth(datum) {
            Some(true) => format!("`{asked}` has a value"),
            _ => format!("`{asked}` has no value"),
        };
        // It is not what decides, but says what that was.
        let was_control = std::mem::replace(&mut self.control, false);
        self.step(StepKind::Told(told.into()), span, path);
        self.control = was_control;
        Expression {
            operator: None,
            value: Shown::Value(Value::Reference(asked)),
            span,
            operands: Vec::new(),
        }
    }

    /// A block that was made when the entry was computed; a new one has nothing in it yet.
    pub(super) fn known(&mut self, home: Home, id: ExpressionId, scope: ScopeId) -> Datum {
        let known = home.entry.map(|entry| self.evaluator.entry(entry).state);
        match known {
            Some(State::Done(datum)) if matches!(datum.form, Form::Block(_)) => datum,
            _ => self.evaluated(id, scope, home),
        }
    }

    fn truth(&self, datum: Datum) -> Option<bool> {
        match datum.form {
            Form::Scalar(cell) => match cell.content(&self.evaluator.unit.literals) {
                Content::Bool(bool) => Some(bool),
                _ => None,
            },
            _ => None,
        }
    }

    fn decides(&self, operator: Operator, datum: Datum) -> bool {
        operators::is_logical(operator) && self.truth(datum) == Some(operators::decides(operator))
    }

    /// Each link applies to what those before it come to, the first to what is below.
    pub(super) fn chain(
        &mut self,
        id: ExpressionId,
        links: &[(Mutation, ExpressionId)],
        scope: ScopeId,
        home: Home,
        path: &str,
        below: Vec<Candidate>,
    ) -> Evaluated<Expression> {
        let whole = self.evaluator.span(id);
        for &(operator, link) in links.iter().rev() {
            let operator = self.operator(operator);
            let span = self.evaluator.span(link);
            self.step(StepKind::Mutation(operator), span, path);
        }
        let lower = self.evaluator.combine(below.clone(), home)?;
        let explained = self.below(below, home, path)?;
        let mut result = explained.map(|(_, expression)| (expression, lower));
        for &(operator, link) in links {
            let span = self.evaluator.span(link);
            let datum = self.evaluated(link, scope, home);
            if datum.is_undefined() {
                continue;
            }
            result = Some(match (operator, result) {
                (Mutation::Assign, _) | (_, None) => (self.operand(link, scope, home), datum),
                (Mutation::Merge, Some(_)) => {
                    let datum = self.known(home, id, scope);
                    (self.leaf(datum, whole), datum)
                }
                (Mutation::Function(name), Some((before, known))) => {
                    let operand = self.operand(link, scope, home);
                    let given = vec![(datum, span)];
                    let below = Some((known, span));
                    let datum = self.evaluator.mutate_values(name, given, below, span)?;
                    let operator = self.evaluator.name(name).to_owned();
                    let expression = Expression {
                        operator: Some(operator.into()),
                        value: self.shown(datum),
                        span: whole,
                        operands: vec![operand, before],
                    };
                    (expression, datum)
                }
            });
        }
        match result {
            Some((expression, _)) => Ok(expression),
            None => Ok(self.leaf(Datum::UNDEFINED, whole)),
        }
    }

    pub(super) fn link(&mut self, span: Span, path: &str) {
        let kind = StepKind::Link {
            outwards: 0,
            passed: Vec::new(),
        };
        self.step(kind, span, path);
    }

    pub(super) fn operation(
        &mut self,
        operator: &str,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
        path: &str,
        operands: Vec<Expression>,
    ) -> Expression {
        let span = self.evaluator.span(id);
        let datum = self.evaluated(id, scope, home);
        let operator: Cow<'static, str> = operator.to_owned().into();
        self.step(StepKind::Operation(operator.clone()), span, path);
        Expression {
            operator: Some(operator),
            value: self.shown(datum),
            span,
            operands,
        }
    }
}
