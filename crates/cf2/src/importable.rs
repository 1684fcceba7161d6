//! The files that an import could name: it is read, not evaluated.
//!
//! A name that is written in an import belongs to the program, like the name of a resource; so do the two of
//! `import(if ($Big) then big else small)`. A name that is computed could become that of any file in the
//! directories that are searched, or below them. Those that import the importing file are left out: whoever
//! imported one of them there would get an error.

use std::sync::Arc;

use hence_model::source::Span;
use hence_model::work;
use rustc_hash::FxHashSet;

use crate::datum::{FileKey, ScopeId};
use crate::evaluate::Evaluator;
use crate::imports::{FACTS, beside};
use crate::syntax::{BodyId, ExpressionId, Kind};

/// So many names are looked at in directories, and so many files read, before a computed name counts as that
/// of a file that could define anything.
const LISTED: usize = 10_000;
const READ: usize = 250;

/// What an import could name.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    /// One of these; if there are none, whoever imports it gets nothing.
    Files(Arc<[(FileKey, BodyId)]>),
    /// A file that is not known.
    Anything,
}

impl Evaluator<'_> {
    /// The files that an import could name. They are read if nobody has yet.
    pub(crate) fn named(&mut self, argument: ExpressionId, importer: FileKey) -> Named {
        if let Some(written) = self.written_names(argument) {
            let files = written.iter();
            let files = files.filter_map(|&name| self.named_file(name, importer));
            return Named::Files(files.collect());
        }
        if let Some(known) = self.importable.get(&importer) {
            return known.clone();
        }
        let named = match self.silently(|evaluator| evaluator.importable(importer)) {
            Some(files) => {
                let files = files.into_iter();
                Named::Files(
                    files
                        .filter(|&(file, body)| self.can_import(importer, file, body))
                        .collect(),
                )
            }
            None => Named::Anything,
        };
        self.importable.insert(importer, named.clone());
        named
    }

    /// The file that an import names, if its name is written there.
    pub(crate) fn named_file(
        &mut self,
        argument: ExpressionId,
        importer: FileKey,
    ) -> Option<(FileKey, BodyId)> {
        let Kind::Literal(cell) = self.tree.expression(argument).kind else {
            return None;
        };
        let name = crate::operators::text(cell, &self.unit);
        let span = self.span(argument);
        self.silently(|evaluator| evaluator.locate(&name, importer, span, false).ok())
    }

    /// The names that are written in an import, if all are.
    fn written_names(&self, argument: ExpressionId) -> Option<Vec<ExpressionId>> {
        match self.tree.expression(argument).kind {
            Kind::Literal(_) => Some(vec![argument]),
            Kind::If(_, then, otherwise) => {
                let mut names = self.written_names(then)?;
                if let Some(otherwise) = otherwise {
                    names.extend(self.written_names(otherwise.expression())?);
                }
                Some(names)
            }
            _ => None,
        }
    }

    /// Whether all branches of a conditional name the same file.
    pub(crate) fn names_one_file(&mut self, argument: ExpressionId, importer: FileKey) -> bool {
        if self.is_literal(argument) || self.written_names(argument).is_none() {
            return false;
        }
        match self.named(argument, importer) {
            Named::Files(files) => files.iter().all(|one| one.0 == files[0].0),
            Named::Anything => false,
        }
    }

    /// What is wrong with a file that nobody needs is nobody's trouble.
    fn silently<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let troubles = self.unit.diagnostics.len();
        let was_quiet = std::mem::replace(&mut self.quiet, true);
        let found = self.unnoted(read);
        self.quiet = was_quiet;
        self.unit.diagnostics.truncate(troubles);
        found
    }

    /// All files in the directories that are searched, and below them; none if there are too many, or if some
    /// cannot be looked into.
    fn importable(&mut self, importer: FileKey) -> Option<Vec<(FileKey, BodyId)>> {
        let mut pending = self.searched(importer);
        let mut seen = FxHashSet::default();
        let mut files = Vec::new();
        let mut listed = 0;
        if let Some(facts) = self.options.facts.clone() {
            files.extend(self.locate(FACTS, importer, Span::at(0), false));
            seen.insert(facts);
        }
        while let Some(directory) = pending.pop() {
            for name in self.world.list(&directory)? {
                listed += 1;
                let path = beside(&directory, &name);
                if let Some(inner) = path.strip_suffix('/') {
                    pending.push(inner.to_owned());
                } else if name.ends_with(".kdbx") {
                    // It would have to be opened, and perhaps somebody be asked for the password.
                    files.push(self.imports.get(&path)?);
                } else if name.ends_with(".cf2") && seen.insert(path.clone()) {
                    files.extend(self.locate(&format!("./{path}"), importer, Span::at(0), false));
                }
            }
            if listed > LISTED || files.len() > READ {
                return None;
            }
        }
        Some(files)
    }

    /// Whether a file could be imported where another is evaluated: it is not that file, nor the one that is
    /// compiled, and imports neither in any case.
    fn can_import(&mut self, importer: FileKey, file: FileKey, body: BodyId) -> bool {
        let compiled = self.scope(ScopeId(0)).file;
        !self.imports_in_any_case(file, body, importer)
            && !self.imports_in_any_case(file, body, compiled)
    }

    /// Whether a file is another, or imports it whatever conditions say, directly or by way of others.
    pub(crate) fn imports_in_any_case(
        &mut self,
        file: FileKey,
        body: BodyId,
        other: FileKey,
    ) -> bool {
        let mut found = FxHashSet::from_iter([file]);
        let mut pending = vec![(file, body)];
        while let Some((file, body)) = pending.pop() {
            work::step();
            if file == other {
                return true;
            }
            let imported = self.imported_in_any_case(body, file).into_iter();
            pending.extend(imported.filter(|one| found.insert(one.0)));
        }
        false
    }

    /// Whether a file could import another, directly or by way of others, anywhere in its text.
    pub(crate) fn could_import(&mut self, file: FileKey, other: FileKey) -> bool {
        let mut seen = FxHashSet::from_iter([file]);
        let mut pending = vec![file];
        while let Some(file) = pending.pop() {
            let written = self.expressions_of(file);
            let arguments: Vec<ExpressionId> = self.tree.imports(written).collect();
            for argument in arguments {
                work::step();
                let Named::Files(files) = self.named(argument, file) else {
                    return true;
                };
                let unseen = files.iter().filter(|one| seen.insert(one.0));
                pending.extend(unseen.map(|one| one.0));
            }
            if seen.contains(&other) {
                return true;
            }
        }
        false
    }

    /// The files that the statements of a body import, whatever conditions say.
    pub(crate) fn imported_in_any_case(
        &mut self,
        body: BodyId,
        file: FileKey,
    ) -> Vec<(FileKey, BodyId)> {
        let outline = self.outline(body);
        let imports = outline.inlines.iter();
        let imports = imports.filter_map(|&inline| match self.tree.expression(inline).kind {
            Kind::Import(argument, _) => self.named_file(argument, file),
            _ => None,
        });
        imports.collect()
    }
}
