//! The order of attributes (§10): constraints that cannot hold, and orders that surprise.
//!
//! An overriding attribute keeps the position of the one that it overrides, so a component can come out
//! in another order than it is written in (figure 18). The lint says where.

use std::rc::Rc;

use hence_model::cell::Child;
use hence_model::diagnostic::{Code, Diagnostic, Severity};
use hence_model::order::{Constraint, arrange, constraints};
use hence_model::replay::{Layout, Reader};
use hence_model::source::Span;
use hence_model::store::{EntryId, Found, View};
use hence_model::symbol::Symbol;
use hence_model::trace::Recorder;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::Compiled;
use crate::written;

/// Order constraints contradict each other.
pub const ORDER_CYCLE: Code = Code::new("sf.order-cycle");
/// An order constraint names an attribute that is not there.
pub const ORDER_ABSENT: Code = Code::new("sf.order-absent");
/// A component comes out in another order than it is written in.
pub const ORDER_DIFFERS: Code = Code::new("sf.order-differs");

/// What to do about a surprise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lint {
    /// Nothing.
    #[default]
    Allow,
    /// Warn of it.
    Warn,
    /// Refuse it.
    Deny,
}

/// Looks at the order of every component of the configuration.
pub(crate) fn check<R: Recorder>(compiled: &Compiled<R>, lint: Lint) -> Vec<Diagnostic> {
    let Some(view) = compiled.view() else {
        return Vec::new();
    };
    let mut check = Check {
        compiled,
        reader: compiled.reader(),
        lint,
        told: FxHashSet::default(),
        diagnostics: Vec::new(),
    };
    check.components(view);
    check.diagnostics
}

struct Check<'a, R: Recorder> {
    compiled: &'a Compiled<R>,
    reader: Reader<'a, R>,
    lint: Lint,
    /// Places of constraints, and what has been said of them.
    told: FxHashSet<(u32, Code)>,
    diagnostics: Vec<Diagnostic>,
}

impl<R: Recorder> Check<'_, R> {
    /// Every block once, however often it is shared, with the path at which it is met first.
    fn components(&mut self, view: View) {
        let mut seen: FxHashSet<View> = FxHashSet::default();
        let mut pending = vec![(view, Rc::new(Place::Top))];
        while let Some((view, place)) = pending.pop() {
            if !seen.insert(self.reader.store.normal(view)) {
                continue;
            }
            let layout = self.reader.layout(view);
            self.component(view, &layout, &place);
            let inside = pending.len();
            for found in layout.found(view.time) {
                if let Some(child) = self.reader.store.child(found) {
                    let key = self.reader.store.entry(found.entry).key;
                    pending.push((child, Rc::new(Place::In(place.clone(), key))));
                }
            }
            // The first is to be looked at next.
            pending[inside..].reverse();
        }
    }

    fn component(&mut self, view: View, layout: &Layout, place: &Place) {
        let constraints = layout.order().map(|entry| {
            let constraints = constraints(&self.reader, entry);
            self.constraints(layout, view, &constraints, place);
            constraints
        });
        if self.lint != Lint::Allow {
            self.surprise(view, &constraints.unwrap_or_default(), place);
        }
    }

    /// Blocks that inherit constraints may have other attributes: what could be met in one may be a
    /// contradiction in another.
    fn constraints(
        &mut self,
        layout: &Layout,
        view: View,
        constraints: &[Constraint],
        place: &Place,
    ) {
        let keys: Vec<Symbol> = layout
            .found(view.time)
            .map(|found| self.reader.store.entry(found.entry).key)
            .collect();
        self.absent(&keys, constraints, place);
        if let Err(cycle) = arrange(keys.into_iter(), constraints)
            && self.told.insert((cycle[0].first_at, ORDER_CYCLE))
        {
            let mut names: Vec<&str> = cycle.iter().map(|c| self.name(c.first)).collect();
            names.push(names[0]);
            let message = format!("the order `{}` cannot be met", names.join(" < "));
            let mut diagnostic = Diagnostic::error(ORDER_CYCLE, message);
            for constraint in &cycle {
                let span = self
                    .span(constraint.first_at)
                    .to(self.span(constraint.second_at));
                let (first, second) = (self.name(constraint.first), self.name(constraint.second));
                diagnostic = diagnostic.label(span, format!("`{first}` before `{second}`"));
            }
            let path = place.path(&self.reader);
            let diagnostic = diagnostic.help("take one of the constraints out");
            self.diagnostics.push(diagnostic.path(path));
        }
    }

    fn absent(&mut self, keys: &[Symbol], constraints: &[Constraint], place: &Place) {
        let present: FxHashSet<Symbol> = keys.iter().copied().collect();
        for (key, at) in constraints
            .iter()
            .flat_map(|c| [(c.first, c.first_at), (c.second, c.second_at)])
        {
            if !present.contains(&key) && self.told.insert((at, ORDER_ABSENT)) {
                let path = place.path(&self.reader);
                let message = format!("`{}` is not an attribute of `{path}`", self.name(key));
                self.diagnostics.push(
                    Diagnostic::warning(ORDER_ABSENT, message)
                        .at(self.span(at))
                        .help("the name is ignored; what stands before and behind it in the constraints stays in order")
                        .path(path),
                );
            }
        }
    }

    /// Compares the order of a component with that in each of its prototypes and bodies.
    fn surprise(&mut self, view: View, constraints: &[Constraint], place: &Place) {
        let arranged = self.reader.arranged(view);
        let keys = arranged.found(view.time);
        let positions: FxHashMap<Symbol, (usize, Found)> = keys
            .enumerate()
            .map(|(i, found)| (self.reader.store.entry(found.entry).key, (i, found)))
            .collect();
        for written in self.written_orders(view) {
            let mut last: Option<(usize, Symbol, EntryId)> = None;
            for (key, entry) in written {
                let Some(&(position, _)) = positions.get(&key) else {
                    continue;
                };
                match last {
                    Some((before, first, first_entry)) if position < before => {
                        if !is_asked_for(key, first, constraints) {
                            self.differs(place, (first, first_entry), (key, entry));
                            return;
                        }
                    }
                    _ => last = Some((position, key, entry)),
                }
            }
        }
    }

    /// The keys of each prototype and of each body of a block, in the order in which they stand there.
    fn written_orders(&mut self, view: View) -> Vec<Vec<(Symbol, EntryId)>> {
        let mut log: Vec<EntryId> = self.reader.store.log(view).collect();
        log.reverse();
        let mut orders = vec![Vec::new()];
        let mut in_body: FxHashSet<Symbol> = FxHashSet::default();
        for entry in log {
            let line = self.reader.store.entry(entry);
            let (key, cell) = (line.key, line.cell);
            if let Some(included) = self.reader.store.included(entry) {
                let arranged = self.reader.arranged(included);
                let found = arranged.found(included.time);
                let keys = found.map(|f| (self.reader.store.entry(f.entry).key, f.entry));
                orders.push(keys.collect());
                orders.push(Vec::new());
                in_body.clear();
            } else if key == Symbol::BODY {
                orders.push(Vec::new());
                in_body.clear();
            } else if key.is_name() && !matches!(cell.child(), Some(Child::Edit(_))) {
                let body = orders.last_mut().expect("there is always one");
                if in_body.insert(key) {
                    body.push((key, entry));
                }
            }
        }
        orders
    }

    fn differs(&mut self, place: &Place, first: (Symbol, EntryId), second: (Symbol, EntryId)) {
        let (before, after) = (self.name(second.0), self.name(first.0));
        let path = place.path(&self.reader);
        let message = format!(
            "`{before}` comes before `{after}` in `{path}`, but here it is written after it"
        );
        let mut diagnostic = Diagnostic::error(ORDER_DIFFERS, message).path(path);
        if self.lint == Lint::Warn {
            diagnostic.severity = Severity::Warning;
        }
        for (entry, text) in [(second.1, "written second"), (first.1, "written first")] {
            let store = self.reader.store;
            if let Some(at) = store.recorder.place(store.entry(entry).origin) {
                diagnostic = diagnostic.label(self.span(at), text);
            }
        }
        let help = format!(
            "an attribute keeps the place of the one it overrides; `order {after} < {before};` puts them in order"
        );
        self.diagnostics.push(diagnostic.help(help));
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.reader.symbols.name(self.reader.sources, symbol)
    }

    fn span(&self, at: u32) -> Span {
        written::extent(&self.compiled.unit, at, self.compiled.dialect)
    }
}

/// Whether the constraints themselves put `first` before `second`, perhaps by way of others.
fn is_asked_for(first: Symbol, second: Symbol, constraints: &[Constraint]) -> bool {
    let mut reached = vec![first];
    let mut next = 0;
    while let Some(&key) = reached.get(next) {
        next += 1;
        for constraint in constraints.iter().filter(|c| c.first == key) {
            if constraint.second == second {
                return true;
            }
            if !reached.contains(&constraint.second) {
                reached.push(constraint.second);
            }
        }
    }
    false
}

/// Where a component was met.
enum Place {
    Top,
    In(Rc<Place>, Symbol),
}

impl Place {
    fn path<R: Recorder>(&self, reader: &Reader<'_, R>) -> String {
        let mut names = Vec::new();
        let mut place = self;
        while let Place::In(around, key) = place {
            names.push(reader.symbols.name(reader.sources, *key));
            place = around;
        }
        names.push("sfConfig");
        names.reverse();
        names.join(":")
    }
}
