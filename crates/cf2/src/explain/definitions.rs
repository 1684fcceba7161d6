//! How a name came to its value by what is said about it, and what it beat.

use std::borrow::Cow;

use hence_model::explanation::{Expression, Lost, Rule, Shown, StepKind};
use hence_model::source::Span;
use hence_model::symbol::Symbol;

use super::{Explainer, Subject};
use crate::datum::{Datum, EntryId, Home, ScopeId, Source, State};
use crate::evaluate::{Evaluated, Stop, literal_datum};
use crate::mutate::{Candidate, Ruling, What};
use crate::syntax::{Kind, Mutation};

impl Explainer<'_, '_> {
    /// How an entry came to its value. `is_asked` if it is what was asked about: then what it beat counts.
    pub(super) fn entry(&mut self, entry: EntryId, path: &str, is_asked: bool) -> Expression {
        let datum = self.datum(Subject::Entry(entry));
        let place = self.evaluator.place(entry);
        if self.is_spent() {
            return self.leaf(datum, place);
        }
        self.depth += 1;
        let explained = self.entry_deeper(entry, datum, path, is_asked);
        self.depth -= 1;
        explained.unwrap_or_else(|Stop| self.leaf(datum, place))
    }

    pub(super) fn entry_deeper(
        &mut self,
        entry: EntryId,
        datum: Datum,
        path: &str,
        is_asked: bool,
    ) -> Evaluated<Expression> {
        let says = self.evaluator.says(entry);
        let home = self.evaluator.home_of(entry);
        if let [only] = says[..] {
            match only.source {
                Source::Entry(inner) => return Ok(self.entry(inner, path, is_asked)),
                Source::Made(call) => {
                    return Ok(self.made(call, Subject::Entry(entry), datum, path));
                }
                Source::Statement(_) => {}
            }
        }
        let candidates = self.evaluator.candidates(&says);
        let ruling = self.evaluator.rule(candidates, home)?;
        if is_asked {
            self.lose(&ruling);
        }
        match ruling {
            Ruling::Undefined { .. } => Ok(self.leaf(datum, self.evaluator.place(entry))),
            Ruling::Assigned { by, .. } => {
                let first = &by[0];
                match &first.what {
                    What::Expression(id) => {
                        let (id, scope) = (*id, first.scope);
                        Ok(self.expression(id, scope, home, path))
                    }
                    What::Entry(inner) => Ok(self.entry(*inner, path, false)),
                    What::Implicit(_) => {
                        self.step(StepKind::Block, first.span, path);
                        Ok(self.leaf(datum, first.span))
                    }
                }
            }
            Ruling::Merged { by, .. } => {
                self.merged(&by, path);
                Ok(self.leaf(datum, by[0].span))
            }
            Ruling::Combined {
                function,
                by,
                below,
                ..
            } => {
                let operands = self.combined(function, &by, below, home, path)?;
                Ok(self.application(function, operands, datum, by[0].span))
            }
            Ruling::Chained { by, below, .. } => self.chained(&by, below, home, path),
        }
    }

    /// How a statement with several mutations came to its value.
    pub(super) fn chained(
        &mut self,
        by: &Candidate,
        below: Vec<Candidate>,
        home: Home,
        path: &str,
    ) -> Evaluated<Expression> {
        let What::Expression(id) = by.what else {
            unreachable!("a chain is an expression");
        };
        let Kind::Chain(links) = self.evaluator.tree.expression(id).kind else {
            unreachable!("a chain has links");
        };
        let links = self.evaluator.tree.chain(links).to_vec();
        self.chain(id, &links, by.scope, home, path, below)
    }

    /// The operands of a function that combines values: one for each definition, and what is below them.
    pub(super) fn combined(
        &mut self,
        function: Symbol,
        by: &[Candidate],
        below: Vec<Candidate>,
        home: Home,
        path: &str,
    ) -> Evaluated<Vec<Expression>> {
        // Steps are turned around in the end.
        let lower = self.below(below, home, path)?;
        let mut operands = Vec::new();
        for candidate in by.iter().rev() {
            let mutation = self.operator(candidate.operator);
            self.step(StepKind::Mutation(mutation), candidate.span, path);
            operands.push(self.candidate(candidate, home));
        }
        operands.reverse();
        // What the same function makes of those below are operands of this one, too.
        match lower {
            Some((lower, expression)) if lower == Some(function) => {
                operands.extend(expression.operands);
            }
            other => operands.extend(other.map(|(_, expression)| expression)),
        }
        Ok(operands)
    }

    /// A function that combines operands. Of a single one, a standard function makes nothing else.
    pub(super) fn application(
        &mut self,
        function: Symbol,
        mut operands: Vec<Expression>,
        datum: Datum,
        span: Span,
    ) -> Expression {
        let name = self.evaluator.name(function).to_owned();
        if operands.len() == 1 && crate::functions::is_standard(&name) {
            return operands.remove(0);
        }
        Expression {
            operator: Some(name.into()),
            value: self.shown(datum),
            span,
            operands,
        }
    }

    /// What definitions of lower priority come to, and the function that combines them, if one does.
    pub(super) fn below(
        &mut self,
        below: Vec<Candidate>,
        home: Home,
        path: &str,
    ) -> Evaluated<Option<(Option<Symbol>, Expression)>> {
        let datum = self.evaluator.combine(below.clone(), home)?;
        let ruling = self.evaluator.rule(below, home)?;
        self.lose(&ruling);
        Ok(Some(match ruling {
            Ruling::Undefined { .. } => return Ok(None),
            Ruling::Combined {
                function,
                by,
                below,
                ..
            } => {
                let operands = self.combined(function, &by, below, home, path)?;
                let is_alone = operands.len() == 1;
                let expression = self.application(function, operands, datum, by[0].span);
                ((!is_alone).then_some(function), expression)
            }
            Ruling::Assigned { by, .. } | Ruling::Merged { by, .. } => {
                (None, self.candidate(&by[0], home))
            }
            Ruling::Chained { by, below, .. } => (None, self.chained(&by, below, home, path)?),
        }))
    }

    pub(super) fn candidate(&mut self, candidate: &Candidate, home: Home) -> Expression {
        match &candidate.what {
            What::Expression(id) => self.operand(*id, candidate.scope, home),
            What::Entry(entry) => self.in_operation(|explainer| explainer.entry(*entry, "", false)),
            What::Implicit(_) => {
                let datum = self.evaluator.candidate_value(candidate, home);
                self.leaf(datum.unwrap_or(Datum::UNDEFINED), candidate.span)
            }
        }
    }

    pub(super) fn operator(&self, mutation: Mutation) -> Cow<'static, str> {
        match mutation {
            Mutation::Assign => "=>".into(),
            Mutation::Merge => "~>".into(),
            Mutation::Function(name) => format!("~({})>", self.evaluator.name(name)).into(),
        }
    }

    /// Takes note of the definitions that lost. Their values were never computed, and are not now.
    pub(super) fn lose(&mut self, ruling: &Ruling) {
        let (ignored, undefined) = match ruling {
            Ruling::Undefined { undefined } | Ruling::Combined { undefined, .. } => {
                (&[][..], undefined)
            }
            Ruling::Assigned {
                ignored, undefined, ..
            }
            | Ruling::Merged {
                ignored, undefined, ..
            }
            | Ruling::Chained {
                ignored, undefined, ..
            } => (&ignored[..], undefined),
        };
        let rules = ignored.iter().map(|one| (one, Rule::ImportingFile));
        let undefined = undefined.iter().map(|one| (one, Rule::Undefined));
        for (candidate, rule) in rules.chain(undefined).collect::<Vec<_>>() {
            let (value, span) = match candidate.what {
                What::Expression(id) => {
                    let expression = self.evaluator.tree.expression(id);
                    let value = match expression.kind {
                        Kind::Literal(cell) => Some(self.shown(literal_datum(cell))),
                        Kind::Secret(_) => Some(Shown::Secret),
                        _ => None,
                    };
                    (value, expression.span)
                }
                What::Entry(entry) => match self.evaluator.entry(entry).state {
                    State::Done(datum) => (Some(self.shown(datum)), candidate.span),
                    _ => match self.literal_of(entry) {
                        Some((shown, span)) => (Some(shown), span),
                        None => (None, candidate.span),
                    },
                },
                What::Implicit(_) => (None, candidate.span),
            };
            let rule = match (rule, &candidate.what) {
                (Rule::ImportingFile, What::Entry(_)) => Rule::LaterMutation,
                (rule, _) => rule,
            };
            let through = self.imports_of(candidate.scope);
            self.lost.push(Lost {
                value,
                span,
                rule,
                through,
            });
        }
    }

    pub(super) fn literal_of(&mut self, entry: EntryId) -> Option<(Shown, Span)> {
        let says = self.evaluator.says(entry);
        let Source::Statement(statement) = says.last()?.source else {
            return None;
        };
        let definition = self.evaluator.tree.definition(statement);
        let expression = self.evaluator.tree.expression(definition.value);
        match expression.kind {
            Kind::Literal(cell) => Some((self.shown(literal_datum(cell)), expression.span)),
            Kind::Secret(_) => Some((Shown::Secret, expression.span)),
            _ => None,
        }
    }

    /// The imports that lead to a scope, innermost first.
    pub(super) fn imports_of(&self, scope: ScopeId) -> Vec<Span> {
        let mut through = Vec::new();
        let mut next = Some(scope);
        while let Some(scope) = next {
            next = self
                .evaluator
                .scope(scope)
                .importer
                .map(|(importer, span)| {
                    through.push(span);
                    importer
                });
        }
        through
    }

    /// A block around the value, and what it was merged from.
    pub(super) fn around(&mut self, entry: EntryId, path: &str) {
        let says = self.evaluator.says(entry);
        let home = self.evaluator.home_of(entry);
        let mut span = self.evaluator.place(entry);
        if says.len() > 1 {
            let candidates = self.evaluator.candidates(&says);
            match self.evaluator.rule(candidates, home) {
                Ok(Ruling::Merged { by, .. }) => return self.merged(&by, path),
                Ok(ruling) => {
                    if let Ruling::Assigned { by, .. } = &ruling {
                        span = by[0].span;
                    }
                    self.lose(&ruling);
                }
                Err(Stop) => {}
            }
        }
        self.step(StepKind::Block, span, path);
    }

    /// What a block was merged from, the highest last.
    pub(super) fn merged(&mut self, by: &[Candidate], path: &str) {
        for candidate in by.iter().rev() {
            let kind = match candidate.operator {
                Mutation::Assign => StepKind::Block,
                operator => StepKind::Mutation(self.operator(operator)),
            };
            self.step(kind, candidate.span, path);
        }
    }
}
