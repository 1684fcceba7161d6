//! What is left to the run time: references that only it can follow, and whatever is computed from one. They are
//! kept as data, as they are written.

use hence_model::cell::{Cell, Content};
use hence_model::source::Span;
use hence_model::trace::{Recorder, Role};

use super::FUNCTION_CLASS;
use super::values::{FrameId, Pass, Target, Trouble, Valued};
use crate::lexer::{Dialect, Keyword, Lexer, Token};
use crate::parser::PartKind;
use crate::printer;
use crate::tree::{Expression, Reference};
use crate::written;

impl<R: Recorder> Pass<'_, R> {
    /// Whether a value is a reference that the run time follows.
    pub(super) fn is_lazy(&self, cell: Cell) -> bool {
        match cell.content(&self.unit.literals) {
            Content::Reference(text) => {
                printer::is_of_run_time(self.unit.literals.read(&self.unit.sources, text))
            }
            _ => false,
        }
    }

    /// An expression that is kept as data, because something in it is.
    pub(super) fn left_to_run_time(&mut self, expression: &Expression) -> Valued<R> {
        let mut text = match expression {
            Expression::Reference(reference) => reference.text(self.unit),
            other => self.source_text(other.span()),
        };
        let is_lazy = match expression {
            Expression::Reference(_) => printer::is_of_run_time(&text),
            other => matches!(other, Expression::Lazy(..)),
        };
        if !is_lazy {
            text.insert_str(0, "LAZY ");
        }
        let cell = self.unit.literals.made_reference(&text);
        let span = expression.span();
        let recorder = &mut self.specification.blocks.store.recorder;
        let written = written::literals(self.unit, span, Dialect::Production);
        let literals = written.into_iter().map(|literal| {
            let cell = self.unit.literals.reference(literal);
            let origin = recorder.written(literal.start);
            (Valued { cell, origin }, Role::Operand)
        });
        let mut operands: Vec<(Valued<R>, Role)> = literals.collect();
        operands.append(&mut self.decided);
        match operands.is_empty() {
            true => Valued {
                cell,
                origin: recorder.written(span.start),
            },
            false => self.operation("LAZY", span, cell, &operands),
        }
    }

    /// A stretch of source without comments, and with no more than one blank between tokens.
    pub(super) fn source_text(&self, span: Span) -> String {
        let mut lexer = Lexer {
            position: span.start,
            end: span.end,
            dialect: Dialect::Production,
        };
        let mut text = String::new();
        let mut before = span.start;
        loop {
            let (token, place) = lexer.next(self.unit.sources.text(), &mut Vec::new());
            if token == Token::End {
                return text;
            }
            if place.start > before {
                text.push(' ');
            }
            text.push_str(self.unit.sources.slice(place));
            before = place.end;
        }
    }

    /// Whether a branch would be left to the run time, or might be, if it were chosen.
    pub(super) fn could_be_left(
        &mut self,
        frame: FrameId,
        branch: &Expression,
        hidden: usize,
    ) -> bool {
        match branch {
            Expression::Call(..) | Expression::Lazy(..) => true,
            Expression::Reference(reference) => {
                let decided = self.decided.len();
                let unsure = std::mem::take(&mut self.unsure);
                let found = self.reference(frame, reference, hidden);
                self.decided.truncate(decided);
                let is_unsure = std::mem::replace(&mut self.unsure, unsure);
                is_unsure || matches!(found, Err(Trouble::Lazy | Trouble::First(..)))
            }
            Expression::Vector(parts, _) | Expression::Operation(_, parts, _) => parts
                .iter()
                .any(|part| self.could_be_left(frame, part, hidden + 1)),
            Expression::If(parts, _) => parts
                .iter()
                .any(|part| self.could_be_left(frame, part, hidden + 1)),
            Expression::Switch(branches, _) => branches.iter().any(|(condition, value)| {
                self.could_be_left(frame, condition, hidden + 1)
                    || self.could_be_left(frame, value, hidden + 1)
            }),
            Expression::Literal(..) | Expression::Component(_) | Expression::ToBeDefined(_) => {
                false
            }
        }
    }

    /// A function that is kept as data, with its arguments.
    pub(super) fn applied_at_run_time(
        &mut self,
        class: &str,
        arguments: &[(String, Valued<R>)],
        place: Span,
    ) -> Target<R> {
        let class = self.unit.literals.made_text(class);
        let class = printer::literal(self.unit, class);
        let mut text = format!("LAZY APPLY {{ {FUNCTION_CLASS} {class}; ");
        let mut operands = Vec::new();
        for (name, value) in arguments {
            let name = printer::name(name, Dialect::Production);
            let literal = printer::literal(self.unit, value.cell);
            text.push_str(&format!("{name} {literal}; "));
            operands.push((*value, Role::Operand));
        }
        text.push('}');
        let cell = self.unit.literals.made_reference(&text);
        Target::Value(self.operation("APPLY", place, cell, &operands))
    }
}

/// Whether a reference asks for something that only the run time has.
pub(super) fn is_of_run_time(reference: &Reference) -> bool {
    let mut parts = reference.parts.iter();
    parts.any(|part| matches!(part.kind, PartKind::Keyword(keyword) if keyword.is_of_run_time()))
}

impl Keyword {
    /// Whether only the run time knows what it stands for.
    pub(crate) fn is_of_run_time(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            Process | Property | IProperty | EnvProperty | IEnvProperty | Constant | Host
        )
    }
}
