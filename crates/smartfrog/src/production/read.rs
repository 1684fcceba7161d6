//! Statements to blocks. Nothing is looked up: links, expressions, prototypes and placements are kept
//! as they are written.

use hence_model::cell::{Cell, Item};
use hence_model::source::{FileId, Span};
use hence_model::store::{BlockId, Store, ViewId};
use hence_model::symbol::Symbol;
use hence_model::trace::Recorder;
use hence_model::unit::Unit;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexer::Keyword;
use crate::parser::{Handler, Part};
use crate::tree::{
    Expression, Extends, Prototype as Extended, Reference, Statement, Value, span_of,
};

/// What was read.
pub(crate) struct Specification<R: Recorder> {
    pub store: Store<R>,
    pub root: BlockId,
    /// What cells that are computed later stand for.
    pub late: Vec<Late<R>>,
    /// The prototypes of a block, in the order written.
    pub prototypes: FxHashMap<BlockId, Vec<Prototype>>,
    /// The blocks that a block has of its own, in the order written.
    pub children: FxHashMap<BlockId, Vec<BlockId>>,
    /// Blocks in which something is to be placed or computed, at any depth.
    pub unfinished: FxHashSet<BlockId>,
    namespace: BlockId,
    open: Vec<Open>,
    order: Vec<Item>,
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

struct Open {
    namespace: BlockId,
    block: BlockId,
    order: Vec<Item>,
}

impl<R: Recorder> Specification<R> {
    pub fn new() -> Self {
        let mut store = Store::default();
        let root = store.open(None);
        Self {
            store,
            root,
            late: Vec::new(),
            prototypes: FxHashMap::default(),
            children: FxHashMap::default(),
            unfinished: FxHashSet::default(),
            namespace: root,
            open: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Something computed later.
    fn late(&mut self, late: Late<R>) -> Cell {
        self.late.push(late);
        Cell::late(self.late.len() as u32 - 1)
    }

    /// Puts a value under a name, or keeps it for later if the left side is a path.
    fn bind(&mut self, unit: &Unit, target: &[Part], cell: Cell, origin: R::Origin) {
        let namespace = self.namespace;
        if let [only] = target {
            self.store
                .put(&unit.literals, namespace, only.name, cell, origin);
            return;
        }
        let target = target.to_vec();
        let cell = self.late(Late::Place(Placement {
            target,
            cell,
            origin,
        }));
        self.store.mark(namespace, Symbol::PLACE, cell, origin);
        self.is_unfinished(namespace);
    }

    pub fn is_unfinished(&mut self, block: BlockId) {
        let mut block = Some(block);
        while let Some(inner) = block
            && self.unfinished.insert(inner)
        {
            block = self.store.parent(inner);
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
        let namespace = self.namespace;
        let block = self.store.open(Some(namespace));
        self.children.entry(namespace).or_default().push(block);
        let order = std::mem::take(&mut self.order);
        self.open.push(Open {
            namespace,
            block,
            order,
        });
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
                    let origin = self.store.recorder.written(extends.span.start);
                    self.bind(unit, &assignment.target, Cell::own(block), origin);
                }
            },
        }
    }
}

impl<R: Recorder> Handler for Specification<R> {
    fn literal(&mut self, unit: &mut Unit, target: &[Part], cell: Cell, span: Span) {
        let origin = self.store.recorder.written(span.start);
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
        let origin = self.store.recorder.written(value.span().start);
        let cell = match &value {
            Expression::Component(extends) => Cell::own(self.component(unit, extends)),
            _ => {
                self.is_unfinished(self.namespace);
                self.late(Late::Value(value))
            }
        };
        self.bind(unit, target, cell, origin);
    }

    fn open(&mut self, unit: &mut Unit, target: &[Part], span: Span) {
        let origin = self.store.recorder.written(span.start);
        let around = self.namespace;
        let block = self.enter();
        self.namespace = around;
        self.bind(unit, target, Cell::own(block), origin);
    }

    fn prototype(&mut self, _: &mut Unit, reference: &[Part]) {
        let block = self
            .open
            .last()
            .expect("a prototype is inside `extends`")
            .block;
        let origin = self.store.recorder.written(reference[0].span.start);
        let view = self.store.include_later(block, origin);
        let parts = reference.to_vec();
        let prototypes = self.prototypes.entry(block).or_default();
        prototypes.push(Prototype { parts, view });
    }

    fn body(&mut self, _: &mut Unit, span: Span) {
        let block = self.open.last().expect("a body is inside `extends`").block;
        self.namespace = block;
        if !self.store.is_after_include(block) {
            let origin = self.store.recorder.written(span.start);
            self.store.mark(block, Symbol::BODY, Cell::NULL, origin);
        }
    }

    fn end_body(&mut self, _: &mut Unit, _: Span) {
        self.order.clear();
        self.namespace = self
            .open
            .last()
            .expect("a body is inside `extends`")
            .namespace;
    }

    fn close(&mut self, _: &mut Unit) {
        let open = self.open.pop().expect("an end follows its beginning");
        self.order = open.order;
        self.store.close(open.block);
    }

    fn order(&mut self, unit: &mut Unit, names: &[Part], _: Span) {
        crate::evaluate::constrain(
            unit,
            &mut self.store,
            self.namespace,
            &mut self.order,
            names,
        );
    }

    fn include(&mut self, _: &mut Unit, _: FileId, span: Span) {
        let origin = self.store.recorder.written(span.start);
        self.store
            .mark(self.namespace, Symbol::FILE, Cell::bool(true), origin);
    }

    fn end_include(&mut self, _: &mut Unit) {
        let origin = self.store.recorder.written(0);
        self.store
            .mark(self.namespace, Symbol::FILE, Cell::NULL, origin);
    }

    fn tags(&mut self, _: &mut Unit, _: &[Part]) {}

    fn modifier(&mut self, _: &mut Unit, _: Keyword) {}
}
