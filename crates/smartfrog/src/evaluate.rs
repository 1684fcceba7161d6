//! The core semantics (definitions 7–27 of the paper), run while the text is read.
//!
//! The paper's store is a list that every operation copies; here it is a [`Store`] of logs, in which
//! binding is one new entry, inheriting is one include, and a link shares what it names. The functions
//! keep the names and the rules of the paper. [`crate::definitional`] has the same rules word for word,
//! and random specifications compare the two.

use hence_model::cell::{Cell, Child};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::{FileId, Span};
use hence_model::store::{BlockId, END, Found, Inclusion, View};
use hence_model::symbol::Symbol;
use hence_model::trace::{Link, Recorder};
use hence_model::unit::Unit;
use rustc_hash::FxHashSet;

use crate::lexer::Keyword;
use crate::nesting::Nesting;
use crate::parser::{Handler, Part};
use crate::tree::{Expression, span_of};

/// The parent of a placement is not a block.
pub const PARENT_NOT_BLOCK: Code = Code::of_rule("sf.parent-not-block", "err1");
/// The parent of a placement does not exist.
pub const PARENT_MISSING: Code = Code::of_rule("sf.parent-missing", "err2");
/// There is no such prototype.
pub const PROTOTYPE_MISSING: Code = Code::of_rule("sf.prototype-missing", "err4");
/// A prototype is not a block.
pub const PROTOTYPE_NOT_BLOCK: Code = Code::of_rule("sf.prototype-not-block", "err4");
/// A link names nothing.
pub const UNRESOLVED_REFERENCE: Code = Code::of_rule("sf.unresolved-reference", "err5");

/// Stands where a value would if it could have been computed; what was wrong has been said.
pub(crate) const POISON: Cell = Cell::late(u32::MAX);

/// When link references are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// At once, as in the core semantics.
    AtOnce,
    /// When everything is read, as in the forward semantics: until then they are stored as they are.
    Later,
}

/// A link that is to be followed later.
#[derive(Debug)]
pub(crate) struct LateLink {
    pub parts: Vec<Part>,
}

/// Evaluates what the parser reads.
pub struct Evaluator<R: Recorder> {
    pub(crate) blocks: Nesting<R>,
    pub(crate) late: Vec<LateLink>,
    links: Links,
    /// The blocks that have links to be followed later, at any depth.
    pub(crate) awaiting: FxHashSet<BlockId>,
    /// The blocks that lack names because of something else, which has been said: a file that cannot be read, or a
    /// prototype that is not there.
    partial: FxHashSet<BlockId>,
}

/// Where a reference leads.
pub(crate) struct Resolved {
    /// The block in which its first name was found.
    pub level: BlockId,
    pub found: Found,
}

impl<R: Recorder> Evaluator<R> {
    /// An evaluator that has read nothing.
    pub fn new(links: Links) -> Self {
        Self {
            blocks: Nesting::new(),
            late: Vec::new(),
            links,
            awaiting: FxHashSet::default(),
            partial: FxHashSet::default(),
        }
    }

    /// Where a left side puts its value: the block and the name in it. A block on the way that belongs
    /// to somebody else is continued in a block of our own, so that the other keeps what it has.
    ///
    /// This is the walk of `bind` (13): err2 if the parent does not exist, err1 if it is not a store.
    fn locate(&mut self, unit: &mut Unit, target: &[Part]) -> Option<(BlockId, Symbol)> {
        let (last, parents) = target.split_last().expect("a left side has a name");
        let mut block = self.blocks.namespace;
        for (i, part) in parents.iter().enumerate() {
            let view = View { block, time: END };
            let Some(found) = self.blocks.store.find(view, part.name) else {
                if !self.partial.contains(&block) {
                    let diagnostic = self.parent_missing(unit, block, target, i);
                    unit.report(diagnostic);
                }
                return None;
            };
            let cell = self.blocks.store.entry(found.entry).cell;
            block = match cell.child() {
                Some(Child::Own(own) | Child::Edit(own)) if found.time == END => own,
                Some(_) => self.edit(unit, block, found, *part),
                None if cell == POISON => return None,
                None => {
                    let diagnostic = self.parent_not_block(unit, found, target, i);
                    unit.report(diagnostic);
                    return None;
                }
            };
        }
        Some((block, last.name))
    }

    /// Continues a block that is inherited or linked.
    fn edit(&mut self, unit: &Unit, block: BlockId, found: Found, part: Part) -> BlockId {
        let view = self.seen_now(found).expect("only blocks are continued");
        let origin = self.blocks.store.recorder.written(part.span.start);
        let edit = self.blocks.store.open(Some(block));
        self.inherit(edit, view, Inclusion::Version, origin);
        self.blocks.store.close(edit);
        self.blocks
            .store
            .put(&unit.literals, block, part.name, Cell::edit(edit), origin);
        edit
    }

    /// Copies every attribute of a block (17).
    fn inherit(&mut self, block: BlockId, view: View, why: Inclusion, origin: R::Origin) {
        self.blocks.store.include(block, view, why, origin);
        if self.awaiting.contains(&view.block) {
            self.awaits(block);
        }
        if self.partial.contains(&view.block) {
            self.partial.insert(block);
        }
    }

    /// Takes note that a block, and so those around it, has links to be followed later.
    fn awaits(&mut self, block: BlockId) {
        let mut block = Some(block);
        while let Some(inner) = block
            && self.awaiting.insert(inner)
        {
            block = self.blocks.store.parent(inner);
        }
    }

    /// The block that an entry has, fixed as it is now.
    fn seen_now(&self, found: Found) -> Option<View> {
        let view = self.blocks.store.child(found)?;
        let time = view.time.min(self.blocks.store.now());
        Some(View { time, ..view })
    }

    /// Looks up a whole reference in one namespace: `find` (14).
    pub(crate) fn find(&self, block: BlockId, reference: &[Part]) -> Option<Found> {
        let mut view = View { block, time: END };
        let mut found = None;
        for part in reference {
            if let Some(found) = found {
                view = self.blocks.store.child(found)?;
            }
            found = Some(self.blocks.store.find(view, part.name)?);
        }
        found
    }

    /// Looks up a reference from the innermost namespace outwards: `resolve` (16). The whole
    /// reference is tried at each level.
    pub(crate) fn resolve(&self, namespace: BlockId, reference: &[Part]) -> Option<Resolved> {
        let mut level = namespace;
        loop {
            if let Some(found) = self.find(level, reference) {
                return Some(Resolved { level, found });
            }
            level = self.blocks.store.parent(level)?;
        }
    }

    /// Whether a reference that leads nowhere might lead somewhere, were it not for something that has been said.
    fn might_resolve(&self, namespace: BlockId, reference: &[Part]) -> bool {
        let mut level = Some(namespace);
        while let Some(block) = level {
            let mut view = View { block, time: END };
            for part in reference {
                if self.partial.contains(&view.block) {
                    return true;
                }
                let Some(found) = self.blocks.store.find(view, part.name) else {
                    break;
                };
                match self.blocks.store.child(found) {
                    Some(inner) => view = inner,
                    None if self.blocks.store.entry(found.entry).cell == POISON => return true,
                    None => break,
                }
            }
            level = self.blocks.store.parent(block);
        }
        false
    }

    /// The value that a reference leads to.
    fn linked(&mut self, to: &Resolved) -> Cell {
        match self.seen_now(to.found) {
            Some(view) => Cell::shared(self.blocks.store.share(view)),
            None => self.blocks.store.entry(to.found.entry).cell,
        }
    }

    /// Takes note of the way that a reference leads.
    fn link_origin(&mut self, from: BlockId, to: &Resolved, reference: &[Part]) -> R::Origin {
        let time = self.blocks.store.now();
        let level = to.level;
        let link = Link::new(span_of(reference), from, level, time);
        let keys = reference.iter().map(|part| part.name);
        self.blocks.store.recorder.link(link, keys)
    }

    /// The block that a prototype names, as it is now: the test of `inherit` (18), err4.
    fn prototype_view(&mut self, unit: &mut Unit, reference: &[Part]) -> Option<(View, R::Origin)> {
        let from = self.blocks.innermost().namespace;
        let Some(resolved) = self.resolve(from, reference) else {
            if !self.might_resolve(from, reference) {
                let diagnostic = self.unresolved(unit, from, reference, PROTOTYPE_MISSING);
                unit.report(diagnostic);
            }
            return None;
        };
        let cell = self.blocks.store.entry(resolved.found.entry).cell;
        if cell == POISON {
            return None;
        }
        // Most prototypes are blocks that stand under their own name: the include tells all of the way.
        let origin = match (cell.child(), reference) {
            (Some(Child::Own(_)), [only]) => self.blocks.store.recorder.written(only.span.start),
            _ => self.link_origin(from, &resolved, reference),
        };
        if let Some(view) = self.seen_now(resolved.found) {
            return Some((view, origin));
        }
        if cell.as_late().is_some() {
            let view = self.late_prototype(unit, &resolved, reference)?;
            let origin = self.blocks.store.recorder.written(reference[0].span.start);
            return Some((view, origin));
        }
        let diagnostic = self.prototype_not_block(unit, resolved.found, reference);
        unit.report(diagnostic);
        None
    }
}

/// The valuation functions (19–26).
impl<R: Recorder> Handler for Evaluator<R> {
    /// A basic value is bound (24, BV).
    #[inline]
    fn literal(&mut self, unit: &mut Unit, target: &[Part], cell: Cell, span: Span) {
        if let Some((block, name)) = self.locate(unit, target) {
            let origin = self.blocks.store.recorder.written(span.start);
            self.blocks
                .store
                .put(&unit.literals, block, name, cell, origin);
        }
    }

    /// A link reference is resolved, and then bound (24, LR): err5 comes before err1 and err2.
    fn link(&mut self, unit: &mut Unit, target: &[Part], reference: &[Part]) {
        let (cell, origin) = match self.links {
            Links::Later => {
                self.late.push(LateLink {
                    parts: reference.to_vec(),
                });
                let cell = Cell::late(self.late.len() as u32 - 1);
                (
                    cell,
                    self.blocks.store.recorder.written(reference[0].span.start),
                )
            }
            Links::AtOnce => match self.resolve(self.blocks.namespace, reference) {
                Some(resolved) => {
                    let from = self.blocks.namespace;
                    let origin = self.link_origin(from, &resolved, reference);
                    (self.linked(&resolved), origin)
                }
                None => {
                    let from = self.blocks.namespace;
                    if !self.might_resolve(from, reference) {
                        let code = UNRESOLVED_REFERENCE;
                        let diagnostic = self.unresolved(unit, from, reference, code);
                        unit.report(diagnostic);
                    }
                    (
                        POISON,
                        self.blocks.store.recorder.written(reference[0].span.start),
                    )
                }
            },
        };
        if let Some((block, name)) = self.locate(unit, target) {
            self.blocks
                .store
                .put(&unit.literals, block, name, cell, origin);
            if self.links == Links::Later {
                self.awaits(block);
            }
        }
    }

    /// An empty store is bound first (24, P); the prototypes then fill it (23).
    fn open(&mut self, unit: &mut Unit, target: &[Part], span: Span) {
        let located = self.locate(unit, target);
        // A block without a place is still read, for what else is wrong.
        let around = located.map_or(self.blocks.namespace, |(parent, _)| parent);
        let block = self.blocks.enter(around);
        if let Some((parent, name)) = located {
            let store = &mut self.blocks.store;
            let origin = store.recorder.written(span.start);
            store.put(&unit.literals, parent, name, Cell::own(block), origin);
        }
    }

    /// All of the prototype's attributes are copied (17, 18), those of later prototypes over those of
    /// earlier ones (23).
    fn prototype(&mut self, unit: &mut Unit, reference: &[Part]) {
        let view = self.prototype_view(unit, reference);
        let block = self.blocks.innermost().block;
        match view {
            Some((view, origin)) => self.inherit(block, view, Inclusion::Prototype, origin),
            None => drop(self.partial.insert(block)),
        }
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

    fn unread_include(&mut self) {
        self.partial.insert(self.blocks.namespace);
    }

    fn expression(&mut self, _: &mut Unit, _: &[Part], _: Expression) {
        unreachable!("the core language has no expressions");
    }

    fn tags(&mut self, _: &mut Unit, _: &[Part]) {
        unreachable!("the core language has no tags");
    }

    fn modifier(&mut self, _: &mut Unit, _: Keyword) {
        unreachable!("the core language has no modifiers");
    }
}

/// What to say when something is wrong.
impl<R: Recorder> Evaluator<R> {
    fn parent_missing(
        &self,
        unit: &Unit,
        block: BlockId,
        target: &[Part],
        at: usize,
    ) -> Diagnostic {
        let part = target[at];
        let (path, parent) = (text(unit, target), text(unit, &target[..=at]));
        let message = format!("`{path}` cannot be placed: there is no `{parent}` here");
        let mut diagnostic = Diagnostic::error(PARENT_MISSING, message)
            .at(part.span)
            .path(self.path(unit, self.blocks.namespace));
        let names = self.names(unit, View { block, time: END });
        let name = unit.symbols.name(&unit.sources, part.name);
        if let Some(&(near, at)) = nearest(name, &names) {
            diagnostic = diagnostic
                .label(at, "a similar name is defined here")
                .help(format!("did you mean `{near}`?"));
        }
        if let (0, Some(outer)) = (at, self.resolve(self.blocks.namespace, &target[..1]))
            && let Some(place) = self.place(unit, outer.found)
        {
            let what = "this one is further out, where a left side is not looked for";
            diagnostic = diagnostic.label(place, what);
        }
        diagnostic.help(format!(
            "a placement needs its parent before it: write `{parent} extends {{ … }}` above"
        ))
    }

    fn parent_not_block(
        &self,
        unit: &Unit,
        found: Found,
        target: &[Part],
        at: usize,
    ) -> Diagnostic {
        let (path, parent) = (text(unit, target), text(unit, &target[..=at]));
        let message = format!("`{path}` cannot be placed: `{parent}` is not a block");
        let mut diagnostic = Diagnostic::error(PARENT_NOT_BLOCK, message)
            .at(target[at].span)
            .path(self.path(unit, self.blocks.namespace));
        if let Some(place) = self.place(unit, found) {
            let what = format!("`{parent}` gets its value here");
            diagnostic = diagnostic.label(place, what);
        }
        diagnostic.help("only a block, made by `extends`, can have attributes")
    }

    fn prototype_not_block(&self, unit: &Unit, found: Found, reference: &[Part]) -> Diagnostic {
        let name = text(unit, reference);
        let message = format!("`{name}` cannot be extended: it is not a block");
        let mut diagnostic = Diagnostic::error(PROTOTYPE_NOT_BLOCK, message)
            .at(span_of(reference))
            .path(self.path(unit, self.blocks.namespace));
        if let Some(place) = self.place(unit, found) {
            let what = format!("`{name}` gets its value here");
            diagnostic = diagnostic.label(place, what);
        }
        diagnostic.help("to take over a plain value, leave out `extends`")
    }

    pub(crate) fn unresolved(
        &self,
        unit: &Unit,
        from: BlockId,
        reference: &[Part],
        code: Code,
    ) -> Diagnostic {
        let name = text(unit, reference);
        let namespace = self.path(unit, from);
        let visible_from = match namespace.as_str() {
            "" => "at the top level".to_owned(),
            path => format!("from `{path}`"),
        };
        let what = match code {
            PROTOTYPE_MISSING => "no prototype",
            _ => "nothing",
        };
        let message = format!("{what} named `{name}` is visible {visible_from}");
        let mut diagnostic = Diagnostic::error(code, message)
            .at(span_of(reference))
            .path(namespace);
        // How far the reference leads where its first name is known, innermost first.
        let mut level = Some(from);
        while let Some(block) = level {
            let known = (1..reference.len()).rev();
            let mut partly = known.filter_map(|n| Some((n, self.find(block, &reference[..n])?)));
            if let Some((n, found)) = partly.next() {
                let known = text(unit, &reference[..n]);
                let missing = unit.symbols.name(&unit.sources, reference[n].name);
                let what = match self.blocks.store.child(found) {
                    Some(_) => format!("this `{known}` has no `{missing}`"),
                    None => format!("this `{known}` is not a block"),
                };
                if let Some(place) = self.place(unit, found) {
                    diagnostic = diagnostic.label(place, what);
                }
                if let Some(view) = self.blocks.store.child(found) {
                    let names = self.names(unit, view);
                    if let Some((near, _)) = nearest(missing, &names) {
                        return diagnostic.help(format!("did you mean `{known}:{near}`?"));
                    }
                }
                return diagnostic;
            }
            level = self.blocks.store.parent(block);
        }
        let mut level = Some(from);
        while let Some(block) = level {
            let names = self.names(unit, View { block, time: END });
            let first = unit.symbols.name(&unit.sources, reference[0].name);
            if let Some(&(near, at)) = nearest(first, &names) {
                let rest = match reference.len() {
                    1 => String::new(),
                    _ => format!(":{}", text(unit, &reference[1..])),
                };
                return diagnostic
                    .label(at, "a similar name is defined here")
                    .help(format!("did you mean `{near}{rest}`?"));
            }
            level = self.blocks.store.parent(block);
        }
        let first = unit.symbols.name(&unit.sources, reference[0].name);
        if Keyword::from_text(first).is_some() {
            let help = "is a word of the production language, which `--semantics production` reads";
            return diagnostic.help(format!("`{first}` {help}"));
        }
        if let ([_], Some(help)) = (reference, of_other_languages(first))
            && code != PROTOTYPE_MISSING
        {
            return diagnostic.help(help);
        }
        let help = match self.links {
            _ if code == PROTOTYPE_MISSING => "a prototype must be defined above its first use",
            Links::AtOnce => {
                "a name must be defined above its first use; \
                 `--semantics forward` lets links look ahead"
            }
            Links::Later => "a link looks in its own block and in those around it",
        };
        diagnostic.help(help)
    }

    /// The path of a block that is being read.
    pub(crate) fn path(&self, unit: &Unit, block: BlockId) -> String {
        let mut names = Vec::new();
        let mut inner = block;
        while let Some(outer) = self.blocks.store.parent(inner) {
            let view = View {
                block: outer,
                time: END,
            };
            let entry = self.blocks.store.log(view).find(|&entry| {
                let cell = self.blocks.store.entry(entry).cell;
                matches!(cell.child(), Some(Child::Own(b) | Child::Edit(b)) if b == inner)
            });
            if let Some(entry) = entry {
                let key = self.blocks.store.entry(entry).key;
                names.push(unit.symbols.name(&unit.sources, key));
            }
            inner = outer;
        }
        names.reverse();
        names.join(":")
    }

    /// The names that a block has, and where they are defined.
    fn names<'u>(&self, unit: &'u Unit, view: View) -> Vec<(&'u str, Span)> {
        let mut names = Vec::new();
        let mut views = vec![view];
        // Enough for any block that people write; in larger ones a suggestion may be missed.
        while let Some(view) = views.pop()
            && names.len() < 10_000
        {
            for entry in self.blocks.store.log(view).take(10_000) {
                let line = self.blocks.store.entry(entry);
                match self.blocks.store.included(entry) {
                    Some(included) if views.len() < 1_000 => views.push(included),
                    Some(_) => {}
                    None if !line.key.is_name() => {}
                    None => {
                        let found = Found { entry, time: END };
                        if let Some(place) = self.place(unit, found) {
                            let name = unit.symbols.name(&unit.sources, line.key);
                            names.push((name, place));
                        }
                    }
                }
            }
        }
        names
    }

    /// Where the value of an entry is written: the name before it.
    fn place(&self, unit: &Unit, found: Found) -> Option<Span> {
        let at = self
            .blocks
            .store
            .recorder
            .place(self.blocks.store.entry(found.entry).origin)?;
        Some(name_before(unit, at))
    }
}

/// The names of a reference, as they are written.
pub(crate) fn text(unit: &Unit, reference: &[Part]) -> String {
    crate::production::parser::parts_text(unit, reference)
}

/// The name that stands before the value at `at`; the value's place if a comment is between them.
fn name_before(unit: &Unit, at: u32) -> Span {
    let before = unit.sources.text()[..at as usize].trim_end();
    let in_name = |c: char| c.is_alphanumeric() || "._-+@#~$%^&".contains(c);
    let name = before.trim_end_matches(in_name).len();
    if name == before.len() {
        return unit.sources.character(at);
    }
    Span::new(name as u32, before.len() as u32)
}

fn nearest<'a, 'u>(name: &str, names: &'a [(&'u str, Span)]) -> Option<&'a (&'u str, Span)> {
    let near = similar(name, names.iter().map(|(name, _)| *name));
    let best = *near.first()?;
    names.iter().find(|(name, _)| *name == best)
}

/// What is meant by a word that is a value in other languages.
fn of_other_languages(word: &str) -> Option<String> {
    let small = word.to_ascii_lowercase();
    Some(match small.as_str() {
        "true" | "false" => format!("the boolean is written `{small}`"),
        "null" | "nil" | "none" | "undef" => "no value is written `NULL`".to_owned(),
        "yes" | "no" | "on" | "off" => {
            format!("booleans are `true` and `false`; a text stands in double quotes: `\"{word}\"`")
        }
        _ => return None,
    })
}
