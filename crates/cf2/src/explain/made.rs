//! How a part of what a function of the user made came to its value.

use hence_model::explanation::{Expression, SELECTION, Shown};
use hence_model::path::Segment;
use hence_model::value::Value;

use super::{Explainer, Subject};
use crate::datum::{Contribution, Datum, Elements, EntryId, Form, Source, State};
use crate::syntax::{ExpressionId, Kind};

impl Explainer<'_, '_> {
    /// How a part of what a function of the user made came to its value.
    pub(super) fn made(
        &mut self,
        call: ExpressionId,
        part: Subject,
        datum: Datum,
        path: &str,
    ) -> Expression {
        let span = self.evaluator.span(call);
        let (way, owner) = self.way_in_made(part);
        let kind = self.evaluator.tree.expression(call).kind;
        let whole = match (kind, self.evaluator.calls.get(&call), owner) {
            (Kind::Call(..), Some(&(scope, home)), _) => self.expression(call, scope, home, path),
            // The definitions that it combines tell of a mutation.
            (_, _, Some(owner)) => self.entry(owner, path, false),
            _ => self.leaf(datum, span),
        };
        if way.is_empty() {
            return whole;
        }
        let mut operands = vec![whole];
        operands.extend(way.into_iter().map(|segment| Expression {
            operator: None,
            value: Shown::Value(match segment {
                Segment::Key(name) => Value::Text(name),
                Segment::Index(index) => Value::Integer(index as i64),
            }),
            span,
            operands: Vec::new(),
        }));
        Expression {
            operator: Some(SELECTION.into()),
            value: self.shown(datum),
            span,
            operands,
        }
    }

    /// The way to a part of what a function made, and the entry around that was not made by it.
    pub(super) fn way_in_made(&self, part: Subject) -> (Vec<Segment>, Option<EntryId>) {
        let evaluator = &self.evaluator;
        let mut way = Vec::new();
        let mut next = match part {
            Subject::Entry(entry) => Some(entry),
            Subject::Element(list, index) => {
                way.push(Segment::Index(index));
                self.step_out(Form::List(list), &mut way)
            }
            Subject::Block(_) | Subject::Item(_) => None,
        };
        while let Some(entry) = next {
            let is_made = |says: Contribution| matches!(says.source, Source::Made(_));
            if !evaluator.each_said(entry).all(is_made) {
                break;
            }
            let (name, block) = (evaluator.entry(entry).name, evaluator.entry(entry).block);
            way.push(Segment::Key(evaluator.name(name).to_owned()));
            next = self.step_out(Form::Block(block), &mut way);
        }
        way.reverse();
        (way, next)
    }

    /// The entry in whose value a block or a list is, and the way from there through lists, the last index first.
    pub(super) fn step_out(&self, inner: Form, way: &mut Vec<Segment>) -> Option<EntryId> {
        let home = match inner {
            Form::Block(block) => self.evaluator.block(block).home,
            Form::List(list) => self.evaluator.lists[list.0 as usize].home,
            _ => return None,
        };
        let entry = home.entry?;
        if let State::Done(datum) = self.evaluator.entry(entry).state
            && let Some(indexes) = self.indexes(datum.form, inner)
        {
            way.extend(indexes.into_iter().map(Segment::Index));
        }
        Some(entry)
    }

    /// The indexes that lead through lists that a function made to a part, the last one first.
    pub(super) fn indexes(&self, whole: Form, part: Form) -> Option<Vec<usize>> {
        let list = match (whole, part) {
            (Form::Block(whole), Form::Block(part)) if whole == part => return Some(Vec::new()),
            (Form::List(whole), Form::List(part)) if whole == part => return Some(Vec::new()),
            (Form::List(list), _) => list,
            _ => return None,
        };
        let list = &self.evaluator.lists[list.0 as usize];
        let Elements::Made(_) = list.elements else {
            return None;
        };
        list.states
            .iter()
            .enumerate()
            .find_map(|(index, state)| match state {
                State::Done(datum) => {
                    let mut indexes = self.indexes(datum.form, part)?;
                    indexes.push(index);
                    Some(indexes)
                }
                _ => None,
            })
    }
}
