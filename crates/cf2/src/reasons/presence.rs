//! Why a block has a name, or has not: the inline statements that define it, and those that could have.

use std::sync::Arc;

use hence_model::source::Span;
use hence_model::symbol::Symbol;
use hence_model::work;

use super::absence::{Could, Imported, Search};
use super::{Node, Sought};
use crate::datum::{
    BlockId, Contribution, EntryId, FileKey, Form, Home, Part, Ranking, Says, ScopeId, Source,
    State,
};
use crate::evaluate::{Evaluated, Evaluator};
use crate::mutate::{Candidate, Ruling, What};
use crate::syntax::{BodyId, Expression, ExpressionId, Kind, Mutation, Statement};

/// A name in a block, or all of them: its inline statements are looked at.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) block: BlockId,
    /// None if all names are asked for.
    pub(super) name: Option<Symbol>,
    /// The name that is asked for in that.
    pub(super) next: Option<Symbol>,
    pub(super) home: Home,
    /// The files that nothing they beat can change.
    pub(super) winners: &'a [FileKey],
    /// Whether at most one file says something about it, and which.
    pub(super) is_said_once: bool,
    pub(super) said_by: Option<FileKey>,
    /// The definition that is its value, if nothing beside it can be.
    pub(super) decided: Option<&'a Arc<Decided>>,
}

/// A definition that assigns a name its value, with nothing undefined above it. Whatever else is said about
/// the name is below it or agrees with it, or there is no result; unless it is said by a file that imports
/// this one, or privately, so that the name is not seen.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) share: Share,
    pub(super) file: FileKey,
    /// The name where it is defined, and the imports through which it came.
    pub(super) way: Vec<Span>,
    pub(super) is_seen: bool,
}

/// Whether all of what is asked for is decided, or the name in it that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Whole,
    Part,
}

impl Asked<'_> {
    /// Whether an inline statement is on the way by which the value came.
    fn is_on_way(&self, evaluator: &Evaluator<'_>, inline: ExpressionId) -> bool {
        self.decided
            .is_some_and(|decided| evaluator.is_on_way(inline, &decided.way))
    }
}

/// Several files say something.
#[derive(Clone, Copy)]
struct Several;

impl Evaluator<'_> {
    /// What decides whether a block has a name, and what defines it: inline statements that could.
    pub(super) fn presence(
        &mut self,
        block: BlockId,
        name: Option<Symbol>,
        next: Option<Symbol>,
    ) -> Evaluated<()> {
        let parts = self.block(block).parts.clone();
        let home = self.block(block).home;
        let mut winners = name.map_or_else(Vec::new, |name| self.winners(block, name));
        let inner = match (name, next) {
            (Some(name), Some(_)) => self.open_block(block, name),
            _ => None,
        };
        let next = next.filter(|_| inner.is_some());
        let mut decided = name.and_then(|name| self.decided(block, name, Share::Whole, block));
        if let (Some((entry, inner)), Some(next)) = (inner, next) {
            winners.extend(self.inner_winners(entry, inner, next));
            let is_own = self.block(inner).home.entry == Some(entry);
            if decided.is_none() && is_own {
                decided = self.decided(inner, next, Share::Part, block);
            }
        }
        if let Some(decided) = &decided {
            winners = vec![decided.file];
        }
        let said_by = name.map(|name| self.only_file(block, name));
        let asked = Asked {
            block,
            name,
            next,
            home,
            winners: &winners,
            is_said_once: said_by.is_some_and(|said_by| said_by.is_ok()),
            said_by: said_by.and_then(Result::ok).flatten(),
            decided: decided.as_ref(),
        };
        if let Some(&(import, scope)) = self.sealed.get(&block) {
            self.sealed_presence(import, scope, asked)?;
        }
        let is_overridden = self.block(block).ranking == Ranking::Listed
            && name.is_some_and(|name| {
                let assigned = self.assigned(block, name);
                assigned.iter().any(|one| one.rank > 0)
            });
        for (number, part) in parts.as_slice().iter().enumerate() {
            match *part {
                Part::Body(body, scope) => self.body_presence(body, scope, asked)?,
                Part::Block(..) if number == 0 && is_overridden => {}
                Part::Block(_, scope) if self.is_beaten(asked, scope) => {}
                Part::Block(inner, _) => self.because_presence(inner, name, next),
            }
        }
        if name.is_none() {
            for entry in self.slots_of(block).to_vec() {
                if self.is_seen_if_defined(entry) {
                    self.because_node(Node::Entry(entry, None));
                }
            }
        }
        Ok(())
    }

    /// Whether it depends on values if an entry is seen: one that may be undefined stands above a private one.
    fn is_seen_if_defined(&mut self, entry: EntryId) -> bool {
        if let Says::One(only) = self.entry(entry).says {
            return match only.source {
                Source::Entry(inner) => self.is_seen_if_defined(inner),
                Source::Statement(_) | Source::Made(_) => false,
            };
        }
        self.has_private(entry)
            && (self.hidden.contains(&entry) || !self.is_private(entry))
            && !self.is_always_defined(entry)
    }

    /// What the computed name of a file that is a block of its own matters to a name in it.
    fn sealed_presence(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        asked: Asked<'_>,
    ) -> Evaluated<()> {
        let Kind::Import(argument, _) = self.tree.expression(id).kind else {
            unreachable!("it is an import");
        };
        let file = self.scope(scope).file;
        let (imported, _) = self.unnoted(|evaluator| evaluator.import(id, scope, asked.home))?;
        let mut search = Search {
            next: asked.next,
            decided: asked.decided.cloned(),
            ..Search::of(asked.name)
        };
        if !self.is_brought_anyway(argument, file, imported, asked)
            || self.could_define(id, file, &mut search)
        {
            self.import(id, scope, asked.home)?;
        }
        Ok(())
    }

    fn because_presence(&mut self, block: BlockId, name: Option<Symbol>, next: Option<Symbol>) {
        self.because_node(match name {
            Some(name) => Node::Presence(block, name, next),
            None => Node::Names(block),
        });
    }

    /// The block that a name is, if nothing that is said about it is private: who says something about it
    /// then decides only what it has, and not whether it is seen.
    fn open_block(&mut self, block: BlockId, name: Symbol) -> Option<(EntryId, BlockId)> {
        let entry = self.known(block, name)?;
        let State::Done(datum) = self.entry(entry).state else {
            return None;
        };
        let Form::Block(inner) = datum.form else {
            return None;
        };
        (!self.has_private(entry)).then_some((entry, inner))
    }

    /// Whether anything that is said about an entry is private.
    fn has_private(&self, entry: EntryId) -> bool {
        let candidates = self.candidates(&self.says(entry));
        candidates.iter().any(|one| self.is_said_privately(one))
    }

    pub(crate) fn is_said_privately(&self, candidate: &Candidate) -> bool {
        match candidate.what {
            What::Entry(inner) => self.is_private(inner),
            _ => candidate.private,
        }
    }

    /// The file that says something about a name, if only one does, or none.
    fn only_file(&mut self, block: BlockId, name: Symbol) -> Result<Option<FileKey>, Several> {
        let Some(entry) = self.known(block, name) else {
            return Ok(None);
        };
        let mut files = self.each_said(entry).map(|one| self.scope(one.scope).file);
        let first = files.next();
        match files.all(|file| Some(file) == first) {
            true => Ok(first),
            false => Err(Several),
        }
    }

    /// The entry of a name, if a block has it.
    pub(super) fn known(&mut self, block: BlockId, name: Symbol) -> Option<EntryId> {
        let found = self.unnoted(|evaluator| evaluator.find(block, name, Span::at(0)));
        found.ok().flatten()
    }

    /// What matters to a name in a block that is the value of an entry.
    pub(super) fn sought(&mut self, entry: EntryId, name: Symbol) -> Option<Arc<Sought>> {
        let State::Done(datum) = self.entry(entry).state else {
            return None;
        };
        let Form::Block(block) = datum.form else {
            return None;
        };
        let winners = self.inner_winners(entry, block, name);
        Some(Arc::new(Sought {
            name,
            block,
            winners,
        }))
    }

    /// Whether only a name in a block is asked for.
    pub(crate) fn is_name_sought(&self) -> bool {
        let reasons = self.reasons.as_ref();
        reasons.is_some_and(|reasons| reasons.sought.is_some())
    }

    fn being_sought(&self) -> Option<Arc<Sought>> {
        self.reasons.as_ref()?.sought.clone()
    }

    /// Only the name that is sought is asked for in what is computed next.
    pub(crate) fn focus_on_sought(&mut self) {
        if let Some(reasons) = &mut self.reasons {
            reasons.focus = reasons.sought.as_ref().map(|sought| sought.name);
        }
    }

    /// The block that the value of an entry is, if it is known.
    pub(crate) fn known_block(&self, home: Home) -> Option<BlockId> {
        match self.entry(home.entry?).state {
            State::Done(datum) => match datum.form {
                Form::Block(block) => Some(block),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the name that is sought is assigned by a part of a block that is ranked above.
    pub(crate) fn is_sought_above(&mut self, block: BlockId, rank: u32) -> bool {
        let Some(sought) = self.being_sought() else {
            return false;
        };
        let assigned = self.assigned(block, sought.name);
        assigned.iter().any(|one| one.rank > rank)
    }

    /// Whether a definition of a block that is merged can matter to the name that is sought in it.
    pub(crate) fn matters(&mut self, candidate: &Candidate) -> bool {
        let Some(sought) = self.being_sought() else {
            return true;
        };
        let order = self.block(sought.block).home.order;
        let mut winners = sought.winners.iter();
        if winners.any(|&winner| self.beats(order, winner, candidate.file)) {
            return false;
        }
        let What::Expression(id) = candidate.what else {
            return true;
        };
        // What is merged may be undefined; if an assignment were, what is below it would count.
        let can_be_undefined = candidate.operator == Mutation::Merge;
        let mut search = Search::of(Some(sought.name));
        !(can_be_undefined || self.is_block(id))
            || self.could_define(id, candidate.file, &mut search)
    }

    /// Whether an entry has a value whatever that is.
    pub(crate) fn is_always_defined(&mut self, entry: EntryId) -> bool {
        let candidates = self.candidates(&self.says(entry));
        let (highest, _) = self.split(candidates, self.home_of(entry).order);
        highest.iter().any(|one| match one.what {
            What::Expression(id) => self.is_never_undefined(id),
            What::Implicit(_) => true,
            What::Entry(_) => false,
        })
    }

    fn is_never_undefined(&self, id: ExpressionId) -> bool {
        match self.tree.expression(id).kind {
            Kind::Literal(_) | Kind::Secret(_) | Kind::List(_) => true,
            Kind::Block(_) | Kind::Import(..) => true,
            Kind::If(_, then, Some(otherwise)) => {
                self.is_never_undefined(then) && self.is_never_undefined(otherwise.expression())
            }
            Kind::Macro(macro_, _) => self.is_never_undefined(self.tree.macro_(macro_).value),
            Kind::Chain(links) => {
                let mut links = self.tree.chain(links).iter();
                links.any(|&(_, link)| self.is_never_undefined(link))
            }
            _ => self.has_one_type(id),
        }
    }

    /// Whether an expression has the same type whatever is in it.
    pub(crate) fn has_one_type(&self, id: ExpressionId) -> bool {
        match self.tree.expression(id).kind {
            Kind::Negate(_) | Kind::Not(_) | Kind::Binary(..) => true,
            Kind::Call(function, _) => matches!(
                self.name(function),
                "defined" | "downcase" | "join" | "sum" | "topdir" | "typeof" | "upcase"
            ),
            Kind::Macro(macro_, _) => self.has_one_type(self.tree.macro_(macro_).value),
            _ => false,
        }
    }

    /// Whether an expression is a block whichever way its conditions go.
    fn is_block(&self, id: ExpressionId) -> bool {
        match self.tree.expression(id).kind {
            Kind::Block(_) | Kind::Import(..) => true,
            Kind::If(_, then, Some(otherwise)) => {
                self.is_block(then) && self.is_block(otherwise.expression())
            }
            Kind::Macro(macro_, _) => self.is_block(self.tree.macro_(macro_).value),
            _ => false,
        }
    }

    /// The files whose assignment is the value of a name: nothing that they beat can change it.
    pub(super) fn winners(&mut self, block: BlockId, name: Symbol) -> Vec<FileKey> {
        let by = self.assigned(block, name);
        // What is below the others in a chain may have come from any file that the chain applies to.
        let is_listed = self.block(block).ranking == Ranking::Listed;
        let ranked = by.iter().filter(|one| !is_listed || one.rank > 0);
        ranked.map(|one| one.file).collect()
    }

    /// The files whose assignment is the value of a name in a block that was merged for an entry: if it is
    /// another's block, all that matters is who refers to it.
    fn inner_winners(&mut self, entry: EntryId, block: BlockId, name: Symbol) -> Vec<FileKey> {
        if self.block(block).home.entry != Some(entry) {
            return Vec::new();
        }
        let mut winners = self.winners(block, name);
        // What a link of a chain assigns beats whatever the chain applies to.
        let mut chained = Some(block);
        while let Some(block) = chained {
            let assigned = self.assigned(block, name);
            if assigned.iter().any(|one| one.rank > 0) {
                winners.extend(self.chain_of(entry));
                break;
            }
            chained = match self.block(block).parts.as_slice() {
                [Part::Block(lower, _), ..] if self.block(*lower).home.entry == Some(entry) => {
                    Some(*lower)
                }
                _ => None,
            };
        }
        winners
    }

    /// The file of the chain that is the value of an entry, if it is one.
    fn chain_of(&mut self, entry: EntryId) -> Option<FileKey> {
        let candidates = self.candidates(&self.says(entry));
        let home = self.home_of(entry);
        match self.unnoted(|evaluator| evaluator.rule(candidates, home)) {
            Ok(Ruling::Chained { by, .. }) => Some(by.file),
            _ => None,
        }
    }

    /// The definitions whose assignment is the value of a name.
    pub(crate) fn assigned(&mut self, block: BlockId, name: Symbol) -> Vec<Candidate> {
        let Some(entry) = self.known(block, name) else {
            return Vec::new();
        };
        if !matches!(self.entry(entry).state, State::Done(_)) {
            return Vec::new();
        }
        if self.entry(entry).block != block {
            return self.brought(block, entry).into_iter().collect();
        }
        let says = self.says(entry);
        let candidates = self.candidates(&says);
        let home = self.home_of(entry);
        let mut by = match self.unnoted(|evaluator| evaluator.rule(candidates, home)) {
            Ok(Ruling::Assigned { by, .. }) => by,
            Ok(Ruling::Chained { by, .. }) => vec![by],
            _ => Vec::new(),
        };
        by.retain(|one| one.operator == Mutation::Assign);
        // Were it not beaten, what is private would hide the name: so who imports whom may matter.
        let files: Vec<FileKey> = by.iter().map(|one| one.file).collect();
        let candidates = self.candidates(&says);
        let is_hiding = |one: &Candidate| {
            self.is_said_privately(one) && !self.is_always_below(home.order, one.file, &files)
        };
        if !self.is_private(entry) && candidates.iter().any(is_hiding) {
            by.clear();
        }
        by
    }

    /// The part of a block, as a definition, that brought an entry of another block: all that is said about it.
    pub(super) fn brought(&mut self, block: BlockId, entry: EntryId) -> Option<Candidate> {
        let ranking = self.block(block).ranking;
        let parts = self.block(block).parts.clone();
        let name = self.entry(entry).name;
        for (number, part) in parts.as_slice().iter().enumerate() {
            if let Part::Block(inner, scope) = *part
                && self.known(inner, name) == Some(entry)
            {
                let says = Contribution {
                    source: Source::Entry(entry),
                    scope,
                    rank: crate::expand::rank(ranking, number),
                };
                return self.candidates(&[says]).pop();
            }
        }
        None
    }

    /// The definition that is the value of a name, if nothing beside it can be.
    pub(super) fn decided(
        &mut self,
        block: BlockId,
        name: Symbol,
        share: Share,
        asked: BlockId,
    ) -> Option<Arc<Decided>> {
        let entry = self.known(block, name)?;
        let is_done = matches!(self.entry(entry).state, State::Done(_));
        if self.entry(entry).block != block
            || !is_done
            || self.block(block).ranking == Ranking::Listed
        {
            return None;
        }
        let candidates = self.candidates(&self.says(entry));
        let home = self.home_of(entry);
        let ruling = self.unnoted(|evaluator| evaluator.rule(candidates.clone(), home));
        let (by, undefined) = match ruling {
            Ok(Ruling::Assigned { by, undefined, .. }) => (by.into_iter().next()?, undefined),
            Ok(Ruling::Chained { by, undefined, .. }) => (by, undefined),
            _ => return None,
        };
        let What::Expression(_) = by.what else {
            return None;
        };
        let mut undefined = undefined.iter();
        if by.operator != Mutation::Assign
            || undefined.any(|one| self.beats(home.order, one.file, by.file))
        {
            return None;
        }
        let is_seen = !self.is_private(entry);
        let is_hiding = |one: &Candidate| {
            self.is_said_privately(one) && !self.is_always_below(home.order, one.file, &[by.file])
        };
        if is_seen && candidates.iter().any(is_hiding) {
            return None;
        }
        let mut way = vec![by.span];
        let mut files = vec![by.file];
        let mut scope = self.scope(by.scope);
        while let Some((importer, span)) = scope.importer {
            let importer = self.scope(importer);
            // An import that would be made anyway decides nothing.
            let is_unconditional = scope.root == asked
                && self
                    .unconditional(asked, importer.file)
                    .contains(&scope.file);
            if !is_unconditional {
                way.push(span);
            }
            files.push(importer.file);
            scope = importer;
        }
        // It may stand in a macro: then what is defined as that is on the way.
        if let (Share::Part, Some(around)) = (share, self.block(block).home.entry) {
            let around = self.candidates(&self.says(around)).into_iter();
            let around = around.filter(|one| files.contains(&one.file));
            way.extend(around.map(|one| one.span));
        }
        Some(Arc::new(Decided {
            share,
            file: by.file,
            way,
            is_seen,
        }))
    }

    /// Whether an inline statement is on the way by which a definition came.
    fn is_on_way(&self, id: ExpressionId, way: &[Span]) -> bool {
        let Expression { kind, span } = self.tree.expression(id);
        match kind {
            Kind::Macro(macro_, _) => self.is_on_way(self.tree.macro_(macro_).value, way),
            Kind::If(_, then, otherwise) => {
                self.is_on_way(then, way)
                    || otherwise.is_some_and(|one| self.is_on_way(one.expression(), way))
            }
            Kind::Block(body) => {
                let mut statements = self.tree.body(body).statements();
                way.iter()
                    .any(|one| span.start <= one.start && one.end <= span.end)
                    || statements.any(|id| match self.tree.statement(id) {
                        Statement::Inline(inline) => self.is_on_way(inline, way),
                        Statement::Define(_) => false,
                    })
            }
            _ => way.contains(&span),
        }
    }

    /// Whether what is said in a scope is beaten by the value of the name that is asked for.
    fn is_beaten(&self, asked: Asked<'_>, scope: ScopeId) -> bool {
        let file = self.scope(scope).file;
        let mut winners = asked.winners.iter();
        winners.any(|&winner| self.beats(asked.home.order, winner, file))
    }

    fn body_presence(&mut self, body: BodyId, scope: ScopeId, asked: Asked<'_>) -> Evaluated<()> {
        let file = self.scope(scope).file;
        if !self.tree.body(body).inline || self.is_beaten(asked, scope) {
            return Ok(());
        }
        let inlines = self.inlines_of(body, file);
        let found = match asked.name {
            Some(name) => inlines.by_name.get(&name).map_or(&[][..], |found| found),
            None => &inlines.all,
        };
        // What a file imports, it beats.
        let is_winner = asked.winners.contains(&file);
        for &(inline, imported) in found {
            work::step();
            let could = match (asked.next, asked.decided, imported) {
                (None, None, Imported::No) => Could::Define,
                _ => Could::PerhapsDefine,
            };
            if imported == Imported::No || !is_winner {
                self.inline_presence(inline, scope, asked, could)?;
            }
        }
        if asked.name.is_some() {
            for &inline in &inlines.others {
                work::step();
                self.inline_presence(inline, scope, asked, Could::PerhapsDefine)?;
            }
        }
        Ok(())
    }

    fn inline_presence(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        asked: Asked<'_>,
        could: Could,
    ) -> Evaluated<()> {
        let Asked {
            block,
            name,
            next,
            home,
            ..
        } = asked;
        let file = self.scope(scope).file;
        match self.tree.expression(id).kind {
            Kind::Block(body) => self.body_presence(body, scope, asked),
            Kind::If(condition, then, otherwise) => {
                let otherwise = otherwise.map(|otherwise| otherwise.expression());
                if could == Could::PerhapsDefine {
                    let mut search = Search {
                        next,
                        has_imports: !asked.winners.contains(&file),
                        known: Some(self.known_to(asked, file)),
                        decided: asked.decided.cloned(),
                        said_by: asked.said_by,
                        ..Search::of(name)
                    };
                    let could = asked.is_on_way(self, id)
                        || self.could_define(then, file, &mut search)
                        || otherwise.is_some_and(|id| self.could_define(id, file, &mut search));
                    if !could {
                        return Ok(());
                    }
                }
                let chosen = match self.condition(condition, scope, home)? {
                    true => Some(then),
                    false => otherwise,
                };
                match chosen {
                    Some(chosen) => {
                        self.inline_presence(chosen, scope, asked, Could::PerhapsDefine)
                    }
                    None => Ok(()),
                }
            }
            Kind::Macro(macro_, arguments) => {
                let arguments = self.tree.list(arguments).to_vec();
                let (value, scope) = self.enter(macro_, arguments, scope);
                self.inline_presence(value, scope, asked, could)
            }
            // What a file imports, it beats.
            Kind::Import(..) if asked.winners.contains(&file) => Ok(()),
            // No standard function makes a block.
            Kind::Call(function, _) if crate::functions::is_standard(self.name(function)) => Ok(()),
            Kind::Import(argument, _) => {
                let is_written = self.is_literal(argument);
                let (imported, body) =
                    self.unnoted(|evaluator| evaluator.import(id, scope, home))?;
                let mut search = Search {
                    next,
                    ..Search::of(name)
                };
                let could = match is_written {
                    true => self.body_could_define(body, imported, &mut search),
                    false => {
                        search.known = Some(self.known_to(asked, file));
                        search.decided = asked.decided.cloned();
                        search.said_by = asked.said_by;
                        asked.is_on_way(self, id)
                            && !self.is_brought_anyway(argument, file, imported, asked)
                            || self.could_define(id, file, &mut search)
                    }
                };
                if could {
                    self.import(id, scope, home)?;
                }
                match self.imported.get(&(block, imported)) {
                    Some(&inner) if inner != scope => self.body_presence(body, inner, asked),
                    _ => Ok(()),
                }
            }
            _ => {
                let datum = self.deciding(|evaluator| evaluator.evaluate(id, scope, home))?;
                if let Form::Block(inner) = datum.form {
                    self.because_presence(inner, name, next);
                }
                Ok(())
            }
        }
    }
}
