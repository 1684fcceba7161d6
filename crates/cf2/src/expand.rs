//! What names a block has.
//!
//! A block without inline statements has those that are written in it. Inline statements add to that in
//! rounds: all that are known are evaluated against what is defined so far, and what they bring is added at
//! the end of the round; statements among it are the next round. So their order does not matter. A name that
//! one of them has read must not be defined by a later round (§3.8, §3.9): that is an error with both places.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::Lint;
use crate::datum::{
    BlockId, Contribution, Entry, EntryId, FileKey, Form, Home, Names, Part, Parts, Ranking, Says,
    ScopeId, Source, Stage, State,
};
use crate::evaluate::{Evaluated, Evaluator, Stop, TYPE};
use crate::reasons::Node;
use crate::running::CYCLE;
use crate::syntax::{ExpressionId, Kind, Statement};

/// An inline statement defines what an inline statement has read.
pub const INLINE_CONFLICT: Code = Code::new("cf2.inline-conflict");
/// A resource is defined twice in a file.
pub const DUPLICATE: Code = Code::new("cf2.duplicate");

/// A block with up to so many entries is searched from end to end.
const FEW: usize = 8;

/// A block whose inline statements are being evaluated.
#[derive(Default)]
pub(crate) struct Expansion {
    /// What is defined so far, and what was first said about it.
    defined: Vec<(EntryId, Contribution)>,
    /// By name, the numbers of what is defined.
    index: FxHashMap<Symbol, u32>,
    /// The names that inline statements have read, and where.
    reads: FxHashMap<Symbol, Span>,
    /// The names that they asked for in vain, and what to say if nothing defines them.
    pub missing: Vec<(Symbol, Diagnostic)>,
    /// The files that were imported.
    imported: FxHashSet<FileKey>,
    /// Those of them that are not ranked yet, and who imports them where.
    unranked: Vec<(FileKey, ScopeId, Span)>,
}

impl Expansion {
    /// The entries that are known.
    pub fn entries(&self) -> Vec<EntryId> {
        self.defined.iter().map(|one| one.0).collect()
    }
}

/// A piece of a block's contents, in the order of the text.
enum Piece {
    /// Something that is defined, by its number.
    Defined(u32),
    /// What an inline statement brings, by its number.
    Inline(usize),
}

/// An inline statement.
struct Inline {
    expression: ExpressionId,
    scope: ScopeId,
    rank: u32,
    /// What it brought.
    pieces: Vec<Piece>,
}

impl Evaluator<'_> {
    /// Finds a name in a block.
    pub(crate) fn find(
        &mut self,
        block: BlockId,
        name: Symbol,
        asked: Span,
    ) -> Evaluated<Option<EntryId>> {
        if self.reasons.is_some() {
            let within = self.take_focus();
            return self.because(Node::Presence(block, name, within), |evaluator| {
                evaluator.find(block, name, asked)
            });
        }
        match self.block(block).stage {
            Stage::Built => {}
            Stage::Unbuilt => self.build(block, asked)?,
            Stage::Broken => return Err(Stop),
            Stage::Building => {
                if let Some(inner) = self.needed_by(block) {
                    return self.need_each_other(block, inner, asked);
                }
                let Some(expansion) = self.expansions.get_mut(&block) else {
                    return self.contains_itself(asked);
                };
                expansion.reads.entry(name).or_insert(asked);
                let found = expansion.index.get(&name);
                return Ok(found.map(|&number| expansion.defined[number as usize].0));
            }
        }
        let slots = self.slots_of(block);
        if slots.len() <= FEW {
            let found = slots.iter().find(|&&entry| self.entry(entry).name == name);
            return Ok(found.copied());
        }
        if self.block(block).index.is_none() {
            let slots = self.slots_of(block).iter();
            let index = slots
                .map(|&entry| (self.entry(entry).name, entry))
                .collect();
            self.blocks[block.0 as usize].index = Some(Box::new(index));
        }
        let index = self.block(block).index.as_ref().expect("it was just made");
        Ok(index.get(&name).copied())
    }

    /// Makes all names of a block known.
    pub(crate) fn build(&mut self, block: BlockId, asked: Span) -> Evaluated<()> {
        match self.block(block).stage {
            Stage::Built => return Ok(()),
            Stage::Broken => return Err(Stop),
            Stage::Building => return self.contains_itself(asked),
            Stage::Unbuilt => {}
        }
        self.blocks[block.0 as usize].stage = Stage::Building;
        let parts = self.block(block).parts.clone();
        let built = self.deeper(asked, |evaluator| {
            evaluator.build_parts(block, &parts, asked)
        });
        self.blocks[block.0 as usize].stage = match built {
            Ok(()) => Stage::Built,
            Err(Stop) => Stage::Broken,
        };
        built
    }

    fn build_parts(&mut self, block: BlockId, parts: &Parts, asked: Span) -> Evaluated<()> {
        let is_inline = |part: &Part| match part {
            Part::Body(body, _) => self.tree.body(*body).inline,
            Part::Block(..) => false,
        };
        if parts.as_slice().iter().any(is_inline) {
            let suspended = self.suspend();
            self.expanding.push((block, asked));
            let expanded = self.expand(block, parts, asked);
            self.expanding.pop();
            self.resume(&suspended);
            return expanded;
        }
        let mut names = match self.sealed.contains_key(&block) {
            true => Names::Computed,
            false => Names::Written,
        };
        // Building one block forgets which names another has: those that are parts come first.
        for part in parts.as_slice() {
            if let Part::Block(inner, _) = *part {
                self.build(inner, asked)?;
                if self.block(inner).names == Names::Computed {
                    names = Names::Computed;
                }
            }
        }
        self.blocks[block.0 as usize].names = names;
        let count = self.unit.symbols.count();
        self.stamps.resize(count, (0, 0));
        self.built += 1;
        let start = self.slots.len() as u32;
        let written = parts.as_slice().iter().map(|part| match part {
            Part::Body(body, _) => self.tree.body(*body).statements().len(),
            Part::Block(..) => 0,
        });
        let written = written.sum();
        self.slots.reserve(written);
        self.entries.reserve(written);
        let ranking = self.block(block).ranking;
        let mut ends = std::mem::take(&mut self.ends);
        for (number, part) in parts.as_slice().iter().enumerate() {
            let rank = rank(ranking, number);
            let scope = part.scope();
            let says = |source| Contribution {
                source,
                scope,
                rank,
            };
            // What was first said about an entry that the block has from another one.
            let first = |slot, entry| {
                let brought_by = ends.partition_point(|&end| end <= slot);
                Contribution {
                    source: Source::Entry(entry),
                    scope: parts.as_slice()[brought_by].scope(),
                    rank: self::rank(ranking, brought_by),
                }
            };
            match *part {
                Part::Body(body, _) => {
                    for statement in self.tree.body(body).statements() {
                        let name = self.tree.definition(statement).name;
                        self.stamp(block, name, says(Source::Statement(statement)), first);
                    }
                }
                Part::Block(inner, _) => {
                    let (from, to) = self.block(inner).slots;
                    for slot in from..to {
                        let entry = self.slots[slot as usize];
                        let name = self.entry(entry).name;
                        self.stamp(block, name, says(Source::Entry(entry)), first);
                    }
                }
            }
            ends.push(self.slots.len() as u32);
        }
        ends.clear();
        self.ends = ends;
        self.blocks[block.0 as usize].slots = (start, self.slots.len() as u32);
        Ok(())
    }

    /// Adds what is said about a name to a block that is being built in one go. `first` tells what was first
    /// said about an entry, by its slot, that is another block's.
    fn stamp(
        &mut self,
        block: BlockId,
        name: Symbol,
        says: Contribution,
        first: impl Fn(u32, EntryId) -> Contribution,
    ) {
        let (stamped, slot) = self.stamps[name.index()];
        if stamped == self.built {
            let known = self.slots[slot as usize];
            let known = match self.entry(known).block == block {
                true => known,
                // It stays as it is there.
                false => self.new_entry(block, name, Says::One(first(slot, known))),
            };
            self.contribute(known, says);
            self.slots[slot as usize] = known;
            return;
        }
        self.stamps[name.index()] = (self.built, self.slots.len() as u32);
        let entry = self.first(block, name, says);
        self.slots.push(entry);
    }

    /// The entry for a name that one thing is said about. If that is another block's entry, it is that one.
    fn first(&mut self, block: BlockId, name: Symbol, says: Contribution) -> EntryId {
        match says.source {
            Source::Entry(entry) => entry,
            _ => self.new_entry(block, name, Says::One(says)),
        }
    }

    pub(crate) fn new_entry(&mut self, block: BlockId, name: Symbol, says: Says) -> EntryId {
        self.entries.push(Entry {
            name,
            block,
            says,
            state: State::Fresh,
        });
        EntryId(self.entries.len() as u32 - 1)
    }

    /// Adds to what is said about an entry.
    fn contribute(&mut self, known: EntryId, says: Contribution) {
        if let Says::One(first) = self.entry(known).says
            && self.options.duplicates != Lint::Allow
        {
            self.mind_duplicate(first, says);
        }
        let next = self.contributions.len() as u32;
        let says = match self.entry(known).says {
            Says::One(first) => {
                self.contributions.push((first, next + 1));
                self.contributions.push((says, 0));
                Says::Many(next, next + 1)
            }
            Says::Many(first, last) => {
                self.contributions.push((says, 0));
                self.contributions[last as usize].1 = next;
                Says::Many(first, next)
            }
        };
        self.entries[known.0 as usize].says = says;
    }

    fn mind_duplicate(&mut self, first: Contribution, second: Contribution) {
        let (Source::Statement(one), Source::Statement(other)) = (first.source, second.source)
        else {
            return;
        };
        let same_file = self.scope(first.scope).file == self.scope(second.scope).file;
        let is_implicit = |value| match self.tree.expression(value).kind {
            Kind::Block(body) => self.tree.body(body).implicit,
            _ => false,
        };
        let (one, other) = (self.tree.definition(one), self.tree.definition(other));
        if !same_file || is_implicit(one.value) && is_implicit(other.value) || self.quiet {
            return;
        }
        let message = format!("`{}` is defined twice in this file", self.name(one.name));
        let diagnostic = match self.options.duplicates {
            Lint::Deny => Diagnostic::error(DUPLICATE, message),
            _ => Diagnostic::warning(DUPLICATE, message),
        };
        let diagnostic = diagnostic
            .at(self.name_span(other))
            .label(self.name_span(one), "the first definition");
        self.unit.report(diagnostic);
    }

    /// Makes all names known of a block that inline statements add to.
    fn expand(&mut self, block: BlockId, parts: &Parts, asked: Span) -> Evaluated<()> {
        self.expansions.insert(block, Expansion::default());
        let mut inlines = Vec::new();
        let mut pieces = Vec::new();
        let ranking = self.block(block).ranking;
        let mut outcome = Ok(());
        for (number, part) in parts.as_slice().iter().enumerate() {
            let rank = rank(ranking, number);
            outcome = outcome.and(self.lay(block, *part, rank, &mut pieces, &mut inlines, asked));
        }
        let mut round = 0..inlines.len();
        while !round.is_empty() {
            let mut brought = Vec::new();
            // Imports first: which file beats which is known before any condition reads what they define.
            let is_import = |&number: &usize| {
                let inline = self.tree.expression(inlines[number].expression);
                matches!(inline.kind, Kind::Import(..))
            };
            let (imports, others): (Vec<usize>, Vec<usize>) = round.partition(is_import);
            for numbers in [imports, others] {
                for number in numbers {
                    let Inline {
                        expression, scope, ..
                    } = inlines[number];
                    match self.inline(block, expression, scope) {
                        Ok(Some(part)) => brought.push((number, part)),
                        Ok(None) => {}
                        Err(Stop) => outcome = Err(Stop),
                    }
                }
                outcome = outcome.and(self.rank_imports(block));
            }
            brought.sort_by_key(|one| one.0);
            let next = inlines.len();
            for (number, part) in brought {
                let mut pieces = Vec::new();
                let rank = inlines[number].rank;
                let laid = self.lay(block, part, rank, &mut pieces, &mut inlines, asked);
                outcome = outcome.and(laid);
                inlines[number].pieces = pieces;
            }
            round = next..inlines.len();
        }
        let expansion = self.expansions.remove(&block).expect("it was put there");
        for (_, diagnostic) in expansion.missing {
            let _: Evaluated<()> = self.stop(diagnostic);
        }
        outcome?;
        self.order_slots(block, &pieces, &inlines, &expansion.defined);
        Ok(())
    }

    /// Adds a part to a block whose inline statements are being evaluated.
    fn lay(
        &mut self,
        block: BlockId,
        part: Part,
        rank: u32,
        pieces: &mut Vec<Piece>,
        inlines: &mut Vec<Inline>,
        asked: Span,
    ) -> Evaluated<()> {
        if let Part::Block(inner, _) = part {
            self.build(inner, asked)?;
        }
        // Nothing is evaluated from here on, so nobody looks for it.
        let mut expansion = self.expansions.remove(&block).expect("it is there");
        let mut outcome = Ok(());
        match part {
            Part::Body(body, scope) => {
                for id in self.tree.body(body).statements() {
                    match self.tree.statement(id) {
                        Statement::Inline(expression) => {
                            pieces.push(Piece::Inline(inlines.len()));
                            inlines.push(Inline {
                                expression,
                                scope,
                                rank,
                                pieces: Vec::new(),
                            });
                        }
                        Statement::Define(definition) => {
                            let source = Source::Statement(id);
                            let says = Contribution {
                                source,
                                scope,
                                rank,
                            };
                            let name = definition.name;
                            match self.define(block, &mut expansion, name, says) {
                                Ok(number) => pieces.push(Piece::Defined(number)),
                                Err(Stop) => outcome = Err(Stop),
                            }
                        }
                    }
                }
            }
            Part::Block(inner, scope) => {
                let (start, end) = self.block(inner).slots;
                for slot in start..end {
                    let entry = self.slots[slot as usize];
                    let source = Source::Entry(entry);
                    let says = Contribution {
                        source,
                        scope,
                        rank,
                    };
                    let name = self.entry(entry).name;
                    match self.define(block, &mut expansion, name, says) {
                        Ok(number) => pieces.push(Piece::Defined(number)),
                        Err(Stop) => outcome = Err(Stop),
                    }
                }
            }
        }
        self.expansions.insert(block, expansion);
        outcome
    }

    /// Adds what is said about a name, and tells the number of what it defines.
    fn define(
        &mut self,
        block: BlockId,
        expansion: &mut Expansion,
        name: Symbol,
        says: Contribution,
    ) -> Evaluated<u32> {
        if let Some(&read) = expansion.reads.get(&name) {
            // It is not missing: this is the trouble.
            expansion.missing.retain(|one| one.0 != name);
            return self.conflict(name, says, read);
        }
        let next = expansion.defined.len() as u32;
        let number = *expansion.index.entry(name).or_insert(next);
        match expansion.defined.get_mut(number as usize) {
            Some((known, first)) => {
                // An entry that is another block's stays as it is there.
                if self.entry(*known).block != block {
                    *known = self.new_entry(block, name, Says::One(*first));
                }
                self.contribute(*known, says);
            }
            None => {
                let entry = self.first(block, name, says);
                expansion.defined.push((entry, says));
            }
        }
        Ok(number)
    }

    fn conflict<T>(&mut self, name: Symbol, says: Contribution, read: Span) -> Evaluated<T> {
        let defined = match says.source {
            Source::Statement(statement) => self.name_span(self.tree.definition(statement)),
            Source::Entry(entry) => self.place(entry),
            Source::Made(expression) => self.span(expression),
        };
        let name = self.name(name);
        let message =
            format!("an inline statement defines `{name}`, which an inline statement needs");
        self.stop(
            Diagnostic::error(INLINE_CONFLICT, message)
                .label(defined, "it is defined here")
                .label(read, "and its value is needed here, to know what the block has")
                .help(format!(
                    "define `{name}` outside of inline statements, or use a value import or conditional: `Name => if …`"
                )),
        )
    }

    /// A block whose names depend on themselves.
    fn contains_itself<T>(&mut self, asked: Span) -> Evaluated<T> {
        self.stop(
            Diagnostic::error(CYCLE, "this block is needed to know what it has")
                .label(asked, "all of it is needed here")
                .help("inline statements may read single resources of their block, not all of it"),
        )
    }

    /// Where in the row of blocks whose inline statements are being evaluated one begins that is not inside of
    /// a block, but that the block waits for. If such a one could read what is defined so far, it would matter
    /// which of the two was asked for first.
    fn needed_by(&self, block: BlockId) -> Option<usize> {
        let start = self.expanding.iter().rposition(|one| one.0 == block)?;
        let mut inner = self.expanding.iter().enumerate().skip(start + 1);
        let found = inner.find(|(_, one)| !self.is_inside_of(one.0, block));
        found.map(|(number, _)| number)
    }

    fn is_inside_of(&self, inner: BlockId, outer: BlockId) -> bool {
        let entry = self.block(outer).home.entry;
        let mut next = Some(inner);
        while let Some(block) = next {
            let home = self.block(block).home.entry;
            // What is written in an inline statement belongs to the same entry as the block.
            if block == outer || home == entry {
                return true;
            }
            next = home.map(|entry| self.entry(entry).block);
        }
        false
    }

    /// Two blocks each of which must be known to know what the other one has.
    fn need_each_other<T>(&mut self, block: BlockId, inner: usize, asked: Span) -> Evaluated<T> {
        let name = |block: BlockId| match self.block(block).home.entry {
            Some(entry) => format!("`{}`", self.path(entry)),
            None => "the file".to_owned(),
        };
        let (other, needed) = self.expanding[inner];
        let (block, other) = (name(block), name(other));
        let mut labels = [
            (asked, format!("to know what {other} has, this is needed")),
            (needed, format!("to know what {block} has, this is needed")),
        ];
        // Whichever was asked for first, it looks the same.
        labels.sort_by_key(|one| one.0.start);
        let mut names = [block, other];
        names.sort();
        let message = format!(
            "{} and {} need each other to know what they have",
            names[0], names[1]
        );
        let mut diagnostic = Diagnostic::error(CYCLE, message);
        for (span, text) in labels {
            diagnostic = diagnostic.label(span, text);
        }
        self.stop(diagnostic.help(
            "inline statements of one of them must do without the other: give what they need a name outside of both",
        ))
    }

    /// What an inline statement brings.
    fn inline(
        &mut self,
        block: BlockId,
        id: ExpressionId,
        scope: ScopeId,
    ) -> Evaluated<Option<Part>> {
        let home = self.block(block).home;
        let span = self.span(id);
        match self.tree.expression(id).kind {
            Kind::Block(body) => Ok(Some(Part::Body(body, scope))),
            Kind::If(condition, then, otherwise) => {
                let holds = self.condition(condition, scope, home)?;
                match (holds, otherwise) {
                    (true, _) => self.inline(block, then, scope),
                    (false, Some(otherwise)) => self.inline(block, otherwise.expression(), scope),
                    (false, None) => Ok(None),
                }
            }
            Kind::Macro(id, arguments) => {
                let arguments = self.tree.list(arguments).to_vec();
                let (value, scope) = self.call_macro(id, arguments, scope, span)?;
                self.inline(block, value, scope)
            }
            Kind::Import(..) => self.inline_import(block, id, scope, home),
            _ => {
                let datum = self.evaluate(id, scope, home)?;
                match datum.form {
                    Form::Block(inner) => Ok(Some(Part::Block(inner, scope))),
                    Form::Undefined => Ok(None),
                    _ => {
                        let type_ = self.type_name(datum);
                        let message =
                            format!("an inline statement must give a block, and this is {type_}");
                        self.stop(
                            Diagnostic::error(TYPE, message)
                                .at(span)
                                .help("give it a name: `Name => …`"),
                        )
                    }
                }
            }
        }
    }

    fn inline_import(
        &mut self,
        block: BlockId,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated<Option<Part>> {
        let span = self.span(id);
        let (file, body) = self.import(id, scope, home)?;
        let expansion = self.expansions.get_mut(&block).expect("it is there");
        expansion.unranked.push((file, scope, span));
        let is_first = expansion.imported.insert(file);
        // The same file twice in one block is the same as once.
        if !is_first {
            return Ok(None);
        }
        let scope = self.imported_scope(block, file, scope, span);
        self.imported.insert((block, file), scope);
        Ok(Some(Part::Body(body, scope)))
    }

    /// Takes note of who beats the files that were imported. What was evaluated at the same time has not seen
    /// it, so that it does not matter which was evaluated first.
    fn rank_imports(&mut self, block: BlockId) -> Evaluated<()> {
        let expansion = self.expansions.get_mut(&block).expect("it is there");
        let mut outcome = Ok(());
        for (file, scope, span) in std::mem::take(&mut expansion.unranked) {
            let importer = self.scope(scope).file;
            let mut order = self.block(block).home.order;
            if self.beats(order, file, importer) {
                outcome = self.import_cycle(file, scope, span);
                continue;
            }
            // What a file imports into this block it beats here, and nowhere else.
            if !self.block(block).owns_order {
                order = self.new_order(Some(order));
                let block = &mut self.blocks[block.0 as usize];
                block.home.order = order;
                block.owns_order = true;
            }
            let order = &mut self.orders[order.0 as usize];
            if order.imports.insert((importer, file)) {
                order.importing.insert(importer);
                order.importers.entry(file).or_default().push(importer);
            }
        }
        outcome
    }

    /// Brings the entries of a block into the order of the text, inline statements in their places.
    fn order_slots(
        &mut self,
        block: BlockId,
        pieces: &[Piece],
        inlines: &[Inline],
        defined: &[(EntryId, Contribution)],
    ) {
        let start = self.slots.len() as u32;
        let mut seen = vec![false; defined.len()];
        let mut open = vec![pieces.iter()];
        while let Some(rest) = open.last_mut() {
            match rest.next() {
                None => {
                    open.pop();
                }
                Some(Piece::Inline(number)) => open.push(inlines[*number].pieces.iter()),
                Some(Piece::Defined(number)) => {
                    let number = *number as usize;
                    if !std::mem::replace(&mut seen[number], true) {
                        self.slots.push(defined[number].0);
                    }
                }
            }
        }
        self.blocks[block.0 as usize].slots = (start, self.slots.len() as u32);
    }
}

/// The rank of what a part of a block says.
pub(crate) fn rank(ranking: Ranking, part: usize) -> u32 {
    match ranking {
        Ranking::Files => 0,
        Ranking::Listed => (part > 0).into(),
    }
}
