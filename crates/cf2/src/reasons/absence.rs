//! What code that did not run could have defined: it is read, not evaluated.

use std::sync::Arc;

use hence_model::symbol::Symbol;
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

use super::presence::{Asked, Decided, Share};
use crate::datum::{BlockId, FileKey, Part};
use crate::evaluate::Evaluator;
use crate::importable::Named;
use crate::syntax::{BodyId, Definition, ExpressionId, Kind, Mutation, Statement};

impl Evaluator<'_> {
    /// The inline statements of a body, by the names that they can define.
    pub(super) fn inlines_of(&mut self, body: BodyId, file: FileKey) -> Arc<Inlines> {
        if let Some(known) = self.inlines.get(&body) {
            return Arc::clone(known);
        }
        let mut inlines = Inlines::default();
        for statement in self.tree.body(body).statements() {
            let Statement::Inline(inline) = self.tree.statement(statement) else {
                continue;
            };
            inlines.all.push((inline, Imported::No));
            let mut names = FxHashMap::default();
            match self.names_of(inline, file, Imported::No, &mut names) {
                Ok(()) => {
                    for (name, imported) in names {
                        let found = inlines.by_name.entry(name).or_default();
                        found.push((inline, imported));
                    }
                }
                Err(Unknown) => inlines.others.push(inline),
            }
        }
        let inlines = Arc::new(inlines);
        self.inlines.insert(body, Arc::clone(&inlines));
        inlines
    }

    /// All names that an inline statement can define, if they can be told without following files further.
    fn names_of(
        &mut self,
        id: ExpressionId,
        file: FileKey,
        imported: Imported,
        names: &mut FxHashMap<Symbol, Imported>,
    ) -> Result<(), Unknown> {
        match self.tree.expression(id).kind {
            Kind::Block(body) => self.names_in(body, file, imported, names),
            Kind::If(_, then, otherwise) => {
                self.names_of(then, file, imported, names)?;
                match otherwise {
                    Some(otherwise) => self.names_of(otherwise.expression(), file, imported, names),
                    None => Ok(()),
                }
            }
            Kind::Macro(macro_, _) => {
                let value = self.tree.macro_(macro_).value;
                self.names_of(value, file, imported, names)
            }
            Kind::Import(argument, _) => {
                let Named::Files(files) = self.named(argument, file) else {
                    return Err(Unknown);
                };
                for &(file, body) in files.iter() {
                    if self.tree.body(body).inline {
                        return Err(Unknown);
                    }
                    self.names_in(body, file, Imported::Yes, names)?;
                }
                Ok(())
            }
            Kind::Undefined => Ok(()),
            Kind::Call(function, _) if crate::functions::is_standard(self.name(function)) => Ok(()),
            _ => Err(Unknown),
        }
    }

    fn names_in(
        &mut self,
        body: BodyId,
        file: FileKey,
        imported: Imported,
        names: &mut FxHashMap<Symbol, Imported>,
    ) -> Result<(), Unknown> {
        for statement in self.tree.body(body).statements() {
            work::step();
            match self.tree.statement(statement) {
                Statement::Define(definition) => {
                    let known = names.entry(definition.name).or_insert(imported);
                    if imported == Imported::No {
                        *known = imported;
                    }
                }
                Statement::Inline(inline) => self.names_of(inline, file, imported, names)?,
            }
        }
        Ok(())
    }

    /// Whether the file that decides what is asked for would come by any other file that an import could name.
    pub(super) fn is_brought_anyway(
        &mut self,
        argument: ExpressionId,
        file: FileKey,
        imported: FileKey,
        asked: Asked<'_>,
    ) -> bool {
        let (Some(decided), Named::Files(files)) = (asked.decided, self.named(argument, file))
        else {
            return false;
        };
        files.iter().all(|&(other, body)| {
            other == imported || self.imports_in_any_case(other, body, decided.file)
        })
    }

    /// What is imported anyway, for an inline statement of a file.
    pub(super) fn known_to(&mut self, asked: Asked<'_>, file: FileKey) -> Known {
        Known {
            block: asked.block,
            unconditional: self.unconditional(asked.block, file),
            is_said_once: asked.is_said_once,
        }
    }

    /// What a file imports into a block, directly or not, that no condition can prevent.
    pub(super) fn unconditional(
        &mut self,
        block: BlockId,
        file: FileKey,
    ) -> Arc<FxHashSet<FileKey>> {
        if let Some(known) = self.unconditional.get(&(block, file)) {
            return Arc::clone(known);
        }
        let mut found = FxHashSet::default();
        let parts = self.block(block).parts.clone();
        let bodies = parts.as_slice().iter().filter_map(|part| match *part {
            Part::Body(body, scope) if self.scope(scope).file == file => Some((body, file)),
            _ => None,
        });
        let mut pending: Vec<(BodyId, FileKey)> = bodies.collect();
        if self.imported.contains_key(&(block, file)) {
            pending.push((self.imports.body(file), file));
        }
        while let Some((body, file)) = pending.pop() {
            for (imported, body) in self.imported_in_any_case(body, file) {
                work::step();
                if found.insert(imported) {
                    pending.push((body, imported));
                }
            }
        }
        let found = Arc::new(found);
        self.unconditional.insert((block, file), Arc::clone(&found));
        found
    }

    /// Whether an inline statement could define a name, if it were evaluated in another way.
    pub(super) fn could_define(
        &mut self,
        id: ExpressionId,
        file: FileKey,
        search: &mut Search,
    ) -> bool {
        match self.tree.expression(id).kind {
            Kind::Block(body) => self.body_could_define(body, file, search),
            Kind::If(_, then, otherwise) => {
                self.could_define(then, file, search)
                    || otherwise.is_some_and(|otherwise| {
                        self.could_define(otherwise.expression(), file, search)
                    })
            }
            Kind::Macro(macro_, _) => {
                let value = self.tree.macro_(macro_).value;
                self.could_define(value, file, search)
            }
            Kind::Import(..) if !search.has_imports => false,
            Kind::Import(argument, _) => match self.named(argument, file) {
                Named::Files(files) => files.iter().any(|&(imported, body)| {
                    let known = search.known.as_ref();
                    let is_known = known.is_some_and(|known| self.is_imported(known, id, imported));
                    !is_known && self.body_could_define(body, imported, search)
                }),
                Named::Anything => true,
            },
            // A function of a user could define anything.
            Kind::Call(function, _) => !crate::functions::is_standard(self.name(function)),
            Kind::Undefined => false,
            _ => true,
        }
    }

    pub(super) fn body_could_define(
        &mut self,
        body: BodyId,
        file: FileKey,
        search: &mut Search,
    ) -> bool {
        if !search.seen.insert(body) {
            return false;
        }
        let outline = self.outline(body);
        let is_defined = match search.name {
            None => !outline.defined.is_empty(),
            Some(name) => {
                let mut definitions = outline.defined.get(&name).into_iter().flatten();
                definitions.any(|&one| self.could_define_within(one, file, search))
            }
        };
        let mut inlines = outline.inlines.iter();
        is_defined || inlines.any(|&inline| self.could_define(inline, file, search))
    }

    /// What is written in a body, by name.
    pub(crate) fn outline(&mut self, body: BodyId) -> Arc<Outline> {
        if let Some(known) = self.outlines.get(&body) {
            return Arc::clone(known);
        }
        let mut outline = Outline::default();
        for id in self.tree.body(body).statements() {
            work::step();
            match self.tree.statement(id) {
                Statement::Define(definition) => {
                    let found = outline.defined.entry(definition.name).or_default();
                    found.push(definition);
                }
                Statement::Inline(inline) => outline.inlines.push(inline),
            }
        }
        let outline = Arc::new(outline);
        self.outlines.insert(body, Arc::clone(&outline));
        outline
    }

    /// Whether a file is in a block anyway, and an import of it changes nothing.
    fn is_imported(&self, known: &Known, import: ExpressionId, imported: FileKey) -> bool {
        if known.unconditional.contains(&imported) {
            return true;
        }
        // If only one file says something about a name, it does not matter whom it beats; then all that
        // matters is the import that brought it.
        let scope = self.imported.get(&(known.block, imported));
        let importer = scope.and_then(|&scope| self.scope(scope).importer);
        known.is_said_once && importer.is_some_and(|(_, span)| span != self.span(import))
    }

    /// Whether a definition could define the name that is asked for in what it defines, so that it matters.
    /// What is merged only adds what it has.
    fn could_define_within(
        &mut self,
        definition: Definition,
        file: FileKey,
        search: &Search,
    ) -> bool {
        let decided = search.decided.as_ref();
        if let Some(decided) = decided
            && decided.share == Share::Whole
            && !(definition.private && decided.is_seen)
            && !(file != decided.file && self.could_import(file, decided.file))
        {
            return false;
        }
        let Some(next) = search.next else { return true };
        if definition.private {
            return true;
        }
        // Beside or below all that is said about it, whatever agrees with that only adds what it has.
        let is_added = match search.said_by {
            Some(said_by) => file == said_by || !self.could_import(file, said_by),
            None => false,
        };
        if definition.operator != Mutation::Merge && !is_added {
            return true;
        }
        let decided = search.decided.as_ref();
        let decided = decided.filter(|decided| decided.share == Share::Part);
        let within = decided.map(|decided| {
            Arc::new(Decided {
                share: Share::Whole,
                file: decided.file,
                way: Vec::new(),
                is_seen: decided.is_seen,
            })
        });
        let mut inner = Search {
            decided: within,
            ..Search::of(Some(next))
        };
        self.could_define(definition.value, file, &mut inner)
    }
}

/// The inline statements of a body.
#[derive(Debug, Default)]
pub(crate) struct Inlines {
    pub(super) all: Vec<(ExpressionId, Imported)>,
    /// Those that can define a name, if all their names can be told.
    pub(super) by_name: FxHashMap<Symbol, Vec<(ExpressionId, Imported)>>,
    /// The others.
    pub(super) others: Vec<ExpressionId>,
}

/// Whether only a file that is imported defines a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imported {
    Yes,
    No,
}

/// Whether an inline statement can define the name that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Could {
    Define,
    PerhapsDefine,
}

/// The names cannot be told.
struct Unknown;

/// What is imported into a block without an inline statement that is looked at.
pub(super) struct Known {
    pub(super) block: BlockId,
    /// What the file that it stands in imports in any case.
    pub(super) unconditional: Arc<FxHashSet<FileKey>>,
    /// Whether at most one file says something about the name that is asked for.
    pub(super) is_said_once: bool,
}

/// The statements of a body.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(super) defined: FxHashMap<Symbol, Vec<Definition>>,
    pub inlines: Vec<ExpressionId>,
}

/// A search for what could define a name.
pub(super) struct Search {
    /// None for any name.
    pub(super) name: Option<Symbol>,
    /// A name in that.
    pub(super) next: Option<Symbol>,
    /// Whether imported files count.
    pub(super) has_imports: bool,
    /// The imports that bring nothing new.
    pub(super) known: Option<Known>,
    /// The definition that is the value: another matters only if it can beat or hide that.
    pub(super) decided: Option<Arc<Decided>>,
    /// The only file that says something about the name.
    pub(super) said_by: Option<FileKey>,
    pub(super) seen: FxHashSet<BodyId>,
}

impl Search {
    /// For a name, or for any, wherever it is.
    pub(super) fn of(name: Option<Symbol>) -> Self {
        Self {
            name,
            next: None,
            has_imports: true,
            known: None,
            decided: None,
            said_by: None,
            seen: FxHashSet::default(),
        }
    }
}
