//! Blocks as they are read: which of them are open, and which one is the namespace.

use hence_model::cell::{Cell, Item};
use hence_model::source::Span;
use hence_model::store::{BlockId, Store};
use hence_model::symbol::Symbol;
use hence_model::trace::Recorder;
use hence_model::unit::Unit;

use crate::parser::Part;

/// The blocks of a specification, and where in them the reading is.
pub(crate) struct Nesting<R: Recorder> {
    pub store: Store<R>,
    pub root: BlockId,
    /// The block whose body is being read.
    pub namespace: BlockId,
    open: Vec<Open>,
    /// The names of the order constraints that the present body has given so far.
    order: Vec<Item>,
}

/// An `extends` whose end has not been read.
pub(crate) struct Open {
    /// The namespace in which it stands.
    pub namespace: BlockId,
    /// The block that it makes.
    pub block: BlockId,
    /// The order constraints of the body around it.
    order: Vec<Item>,
}

impl<R: Recorder> Nesting<R> {
    pub fn new() -> Self {
        let mut store = Store::default();
        let root = store.open(None);
        Self {
            store,
            root,
            namespace: root,
            open: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Begins a block inside `parent`.
    pub fn enter(&mut self, parent: BlockId) -> BlockId {
        let block = self.store.open(Some(parent));
        self.open.push(Open {
            namespace: self.namespace,
            block,
            order: std::mem::take(&mut self.order),
        });
        block
    }

    /// The block that is being made.
    pub fn innermost(&self) -> &Open {
        self.open
            .last()
            .expect("prototypes and bodies are inside `extends`")
    }

    /// A body is evaluated in the namespace of the block that it is part of (23, 26).
    pub fn body(&mut self, span: Span) {
        let block = self.innermost().block;
        self.namespace = block;
        if !self.store.is_after_include(block) {
            let origin = self.store.recorder.written(span.start);
            self.store.mark(block, Symbol::BODY, Cell::NULL, origin);
        }
    }

    pub fn end_body(&mut self) {
        self.order.clear();
        self.namespace = self.innermost().namespace;
    }

    pub fn close(&mut self) {
        let open = self.open.pop().expect("an end follows its beginning");
        self.order = open.order;
        self.store.close(open.block);
    }

    /// The constraints are one attribute of the block: those of one body add up, and replace what was
    /// inherited.
    pub fn order(&mut self, unit: &mut Unit, names: &[Part]) {
        for part in names.windows(2).flatten() {
            let cell = unit.literals.reference(part.span);
            let at = part.span.start;
            self.order.push(Item { cell, at });
        }
        let cell = unit.literals.list(&self.order);
        let origin = self.store.recorder.written(names[0].span.start);
        self.store
            .put(&unit.literals, self.namespace, Symbol::ORDER, cell, origin);
    }

    pub fn include(&mut self, span: Span) {
        let origin = self.store.recorder.written(span.start);
        self.store
            .mark(self.namespace, Symbol::FILE, Cell::bool(true), origin);
    }

    pub fn end_include(&mut self) {
        let origin = self.store.recorder.written(0);
        self.store
            .mark(self.namespace, Symbol::FILE, Cell::NULL, origin);
    }
}
