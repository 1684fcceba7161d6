//! Statements to blocks. Nothing is looked up: links, expressions, prototypes and placements are kept
//! as they are written.

use hence_model::cell::Cell;
use hence_model::source::{FileId, Span};
use hence_model::store::{BlockId, ViewId};
use hence_model::symbol::Symbol;
use hence_model::trace::Recorder;
use hence_model::unit::Unit;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexer::Keyword;
use crate::nesting::Nesting;
use crate::parser::{Handler, Part};
use crate::tree::{
    Expression, Extends, Prototype as Extended, Reference, Statement, Value, span_of,
};

/// What was read.
pub(crate) struct Specification<R: Recorder> {
    pub blocks: Nesting<R>,
    /// What cells that are computed later stand for.
    pub late: Vec<Late<R>>,
    /// The prototypes of a block, in the order written.
    pub prototypes: FxHashMap<BlockId, Vec<Prototype>>,
    /// The blocks that a block has of its own, in the order written.
    pub children: FxHashMap<BlockId, Vec<BlockId>>,
    /// Blocks in which something is to be placed or computed, at any depth.
    pub unfinished: FxHashSet<BlockId>,
}

/// Something to be computed or placed later.
pub(crate) enum Late<R: Recorder> {
    /// A value.
    Value(Expression),
    /// A value that belongs further in.
    Place(Placement<R>),
}

/// `a:b:c value`
pub(crate) struct Placement<R: Recorder> {
    pub target: Vec<Part>,
    pub cell: Cell,
    pub origin: R::Origin,
}

/// A prototype that is a reference.
#[derive(Clone)]
pub(crate) struct Prototype {
    pub parts: Vec<Part>,
    pub view: ViewId,
}

impl<R: Recorder> Specification<R> {
    pub fn new() -> Self {
        Self {
            blocks: Nesting::new(),
            late: Vec::new(),
            prototypes: FxHashMap::default(),
            children: FxHashMap::default(),
            unfinished: FxHashSet::default(),
        }
    }

    /// Something computed later.
    fn late(&mut self, late: Late<R>) -> Cell {
        self.late.push(late);
        Cell::late(self.late.len() as u32 - 1)
    }

    /// Puts a value under a name, or keeps it for later if the left side is a path.
    fn bind(&mut self, unit: &Unit, target: &[Part], cell: Cell, origin: R::Origin) {
        let namespace = self.blocks.namespace;
        if let [only] = target {
            self.blocks
                .store
                .put(&unit.literals, namespace, only.name, cell, origin);
            return;
        }
        let target = target.to_vec();
        let cell = self.late(Late::Place(Placement {
            target,
            cell,
            origin,
        }));
        self.blocks
            .store
            .mark(namespace, Symbol::PLACE, cell, origin);
        self.is_unfinished(namespace);
    }

    pub fn is_unfinished(&mut self, block: BlockId) {
        let mut block = Some(block);
        while let Some(inner) = block
            && self.unfinished.insert(inner)
        {
            block = self.blocks.store.parent(inner);
        }
    }

    /// A component inside an expression: a block without a name, inside the present one.
    fn component(&mut self, unit: &mut Unit, extends: &Extends) -> BlockId {
        let block = self.enter();
        for prototype in &extends.prototypes {
            match prototype {
                Extended::Reference(parts) => self.prototype(unit, parts),
                Extended::Body(body, span) => {
                    self.body(unit, *span);
                    body.iter()
                        .for_each(|statement| self.statement(unit, statement));
                    self.end_body(unit, *span);
                }
            }
        }
        self.close(unit);
        block
    }

    fn enter(&mut self) -> BlockId {
        let around = self.blocks.namespace;
        let block = self.blocks.enter(around);
        self.children.entry(around).or_default().push(block);
        block
    }

    fn statement(&mut self, unit: &mut Unit, statement: &Statement) {
        match statement {
            Statement::Include { file, span, body } => {
                self.include(unit, *file, *span);
                body.iter()
                    .for_each(|statement| self.statement(unit, statement));
                self.end_include(unit);
            }
            Statement::Order { names, span } => self.order(unit, names, *span),
            Statement::Assignment(assignment) => match &assignment.value {
                Value::Literal(cell, span) => self.literal(unit, &assignment.target, *cell, *span),
                Value::Link(parts) => self.link(unit, &assignment.target, parts),
                Value::Expression(expression) => {
                    self.expression(unit, &assignment.target, expression.clone());
                }
                Value::Extends(extends) => {
                    let block = self.component(unit, extends);
                    let origin = self.blocks.store.recorder.written(extends.span.start);
                    self.bind(unit, &assignment.target, Cell::own(block), origin);
                }
            },
        }
    }
}

impl<R: Recorder> Handler for Specification<R> {
    fn literal(&mut self, unit: &mut Unit, target: &[Part], cell: Cell, span: Span) {
        let origin = self.blocks.store.recorder.written(span.start);
        self.bind(unit, target, cell, origin);
    }

    fn link(&mut self, unit: &mut Unit, target: &[Part], reference: &[Part]) {
        let reference = Reference {
            lazy: false,
            optional: None,
            parts: reference.to_vec(),
            span: span_of(reference),
        };
        self.expression(unit, target, Expression::Reference(reference));
    }

    fn expression(&mut self, unit: &mut Unit, target: &[Part], value: Expression) {
        let origin = self.blocks.store.recorder.written(value.span().start);
        let cell = match &value {
            Expression::Component(extends) => Cell::own(self.component(unit, extends)),
            _ => {
                self.is_unfinished(self.blocks.namespace);
                self.late(Late::Value(value))
            }
        };
        self.bind(unit, target, cell, origin);
    }

    fn open(&mut self, unit: &mut Unit, target: &[Part], span: Span) {
        let block = self.enter();
        let origin = self.blocks.store.recorder.written(span.start);
        self.bind(unit, target, Cell::own(block), origin);
    }

    fn prototype(&mut self, _: &mut Unit, reference: &[Part]) {
        let block = self.blocks.innermost().block;
        let store = &mut self.blocks.store;
        let origin = store.recorder.written(reference[0].span.start);
        let view = store.include_later(block, origin);
        let parts = reference.to_vec();
        let prototypes = self.prototypes.entry(block).or_default();
        prototypes.push(Prototype { parts, view });
    }

    fn body(&mut self, _: &mut Unit, span: Span) {
        self.blocks.body(span);
    }

    fn end_body(&mut self, _: &mut Unit, _: Span) {
        self.blocks.end_body();
    }

    fn close(&mut self, _: &mut Unit) {
        self.blocks.close();
    }

    fn order(&mut self, unit: &mut Unit, names: &[Part], _: Span) {
        self.blocks.order(unit, names);
    }

    fn include(&mut self, _: &mut Unit, _: FileId, span: Span) {
        self.blocks.include(span);
    }

    fn end_include(&mut self, _: &mut Unit) {
        self.blocks.end_include();
    }

    fn tags(&mut self, _: &mut Unit, _: &[Part]) {}

    fn modifier(&mut self, _: &mut Unit, _: Keyword) {}
}
