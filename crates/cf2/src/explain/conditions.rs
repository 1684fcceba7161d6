//! The conditions and imports through which a name came into its block.

use hence_model::explanation::StepKind;
use hence_model::source::Span;

use super::Explainer;
use crate::datum::{BlockId, EntryId, FileKey, Part, ScopeId};
use crate::evaluate::Evaluator;
use crate::syntax::{self, BodyId, ExpressionId, Kind, Statement};

impl Explainer<'_, '_> {
    /// The conditions and imports through which an entry came into its block.
    pub(super) fn way(&mut self, block: BlockId, entry: EntryId) {
        let says = self.evaluator.says(entry);
        let path = self.evaluator.path(entry);
        let Some(last) = says.last() else { return };
        let candidates = self.evaluator.candidates(&says);
        let order = self.evaluator.home_of(entry).order;
        let (highest, _) = self.evaluator.split(candidates, order);
        let scope = highest.first().map_or(last.scope, |one| one.scope);
        let mut target = match highest.first() {
            Some(one) => one.span,
            None => self.evaluator.place(entry),
        };
        let mut next = Some(scope);
        while let Some(scope) = next {
            let scope = self.evaluator.scope(scope);
            self.conditions(block, scope.file, target, &path);
            next = match scope.importer {
                Some((importer, span)) if scope.root == block => {
                    self.step(StepKind::Import, span, &path);
                    target = span;
                    Some(importer)
                }
                _ => None,
            };
        }
    }

    /// The conditions of a file that what is written at a place stands behind, in a block.
    pub(super) fn conditions(&mut self, block: BlockId, file: FileKey, target: Span, path: &str) {
        let home = self.evaluator.block(block).home;
        for (condition, scope) in self.evaluator.conditions_before(block, file, target) {
            let was_control = std::mem::replace(&mut self.control, true);
            self.operand(condition, scope, home);
            self.control = was_control;
            let span = self.evaluator.span(condition);
            self.step(StepKind::Condition, span, path);
        }
    }
}

impl Evaluator<'_> {
    /// The inline conditions, innermost first, that what is written at a place stands behind: a definition or
    /// an import that a file makes in a block.
    fn conditions_before(
        &mut self,
        block: BlockId,
        file: FileKey,
        target: Span,
    ) -> Vec<(ExpressionId, ScopeId)> {
        let parts = self.block(block).parts.clone();
        let parts = parts.as_slice().iter().filter_map(|part| match *part {
            Part::Body(body, scope) if self.scope(scope).file == file => Some((body, scope)),
            _ => None,
        });
        let mut bodies: Vec<(BodyId, ScopeId)> = parts.collect();
        if let Some(&scope) = self.imported.get(&(block, file)) {
            bodies.push((self.imports.body(file), scope));
        }
        let mut found = Vec::new();
        for (body, scope) in bodies {
            let outline = self.outline(body);
            let mut inlines = outline.inlines.iter();
            if inlines.any(|&inline| self.is_inside(inline, scope, target, &mut found)) {
                break;
            }
        }
        found
    }

    /// Whether a statement of a body is the one at a place, and the conditions that it stands behind.
    fn is_reached(
        &mut self,
        body: BodyId,
        scope: ScopeId,
        target: Span,
        conditions: &mut Vec<(ExpressionId, ScopeId)>,
    ) -> bool {
        let mut statements = self.tree.body(body).statements();
        statements.any(|statement| match self.tree.statement(statement) {
            Statement::Define(definition) => definition.at == target.start,
            Statement::Inline(inline) => self.is_inside(inline, scope, target, conditions),
        })
    }

    fn is_inside(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        target: Span,
        conditions: &mut Vec<(ExpressionId, ScopeId)>,
    ) -> bool {
        let syntax::Expression { kind, span } = self.tree.expression(id);
        match kind {
            Kind::Block(body) => self.is_reached(body, scope, target, conditions),
            Kind::If(condition, then, otherwise) => {
                let otherwise = otherwise.map(|otherwise| otherwise.expression());
                let is_inside = self.is_inside(then, scope, target, conditions)
                    || otherwise.is_some_and(|id| self.is_inside(id, scope, target, conditions));
                if is_inside {
                    conditions.push((condition, scope));
                }
                is_inside
            }
            Kind::Macro(macro_, arguments) => {
                let arguments = self.tree.list(arguments).to_vec();
                let (value, scope) = self.enter(macro_, arguments, scope);
                self.is_inside(value, scope, target, conditions)
            }
            _ => span == target,
        }
    }
}
