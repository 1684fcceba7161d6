//! What becomes of a name that several things are said about (§4).
//!
//! Definitions are ranked by the files that they are written in: a file beats those that it imports. The
//! highest one decides what it does with those below: `=>` ignores them, `~>` adds its own resources to theirs,
//! `~(f)>` combines its value with theirs. If several are highest they must agree: the same value, blocks that
//! are merged, or one commutative function. What is undefined counts as not said at all (§3.2).

use std::collections::BTreeMap;

use hence_model::cell::Cell;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::function;
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::datum::{
    Contribution, Datum, EntryId, FileKey, Form, Home, OrderId, Part, Parts, Ranking, Says,
    ScopeId, Source, State,
};
use crate::evaluate::{Evaluated, Evaluator, TYPE, form, literal_datum};
use crate::syntax::{BodyId, ExpressionId, Kind, Links, Mutation};

/// It is not known which definition comes first.
pub const MUTATION_ORDER: Code = Code::new("cf2.mutation-order");

const REPLACE_OR_COMBINE: &str =
    "`=>` replaces what other files say; `~(max)>` and the like combine values";

/// So many definitions of a conflict are shown.
const SHOWN: usize = 4;

/// A definition that may count.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub operator: Mutation,
    pub what: What,
    pub scope: ScopeId,
    pub file: FileKey,
    pub rank: u32,
    /// The name, where it is defined.
    pub span: Span,
    /// Whether it says so itself; another block's entry may be private all the same.
    pub private: bool,
}

/// What a definition says.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Expression(ExpressionId),
    /// `A.B => 1` and `A.C => 2` of one file are one block.
    Implicit(Vec<BodyId>),
    /// The value of another block's entry.
    Entry(EntryId),
}

/// Which candidates count, and how. What is ignored is below an assignment and was never computed; what is
/// undefined counts as not said.
#[derive(Debug)]
pub(crate) enum Ruling {
    /// Nobody gives a value.
    Undefined { undefined: Vec<Candidate> },
    /// The highest definition, or several that say the same.
    Assigned {
        by: Vec<Candidate>,
        datum: Datum,
        ignored: Vec<Candidate>,
        undefined: Vec<Candidate>,
    },
    /// All of these, merged.
    Merged {
        by: Vec<Candidate>,
        datum: Datum,
        ignored: Vec<Candidate>,
        undefined: Vec<Candidate>,
    },
    /// What a function makes of these and of what those below come to.
    Combined {
        function: Symbol,
        by: Vec<Candidate>,
        values: Vec<(Datum, Span)>,
        below: Vec<Candidate>,
        undefined: Vec<Candidate>,
    },
    /// One statement with several mutations, the first of which may apply to what those below come to.
    Chained {
        by: Candidate,
        datum: Datum,
        below: Vec<Candidate>,
        ignored: Vec<Candidate>,
        undefined: Vec<Candidate>,
    },
}

impl Ruling {
    fn undefined(&mut self) -> &mut Vec<Candidate> {
        match self {
            Ruling::Undefined { undefined }
            | Ruling::Assigned { undefined, .. }
            | Ruling::Merged { undefined, .. }
            | Ruling::Combined { undefined, .. }
            | Ruling::Chained { undefined, .. } => undefined,
        }
    }
}

impl Evaluator<'_> {
    /// The value of an entry, from all that is said about it.
    pub(crate) fn resolve(&mut self, entry: EntryId) -> Evaluated {
        let home = self.home_of(entry);
        let says = self.says(entry);
        let within = self.take_focus();
        if let [Contribution { source, scope, .. }] = says[..] {
            return match source {
                Source::Entry(inner) => {
                    self.focus(within);
                    self.value(inner, self.place(inner))
                }
                Source::Statement(statement) => {
                    let definition = self.tree.definition(statement);
                    if let Mutation::Function(_) = definition.operator {
                        let candidates = self.candidates(&says);
                        return self.combine(candidates, home);
                    }
                    self.focus(within);
                    self.evaluate(definition.value, scope, home)
                }
                Source::Made(_) => unreachable!("what a function made is known"),
            };
        }
        let candidates = self.candidates(&says);
        let mut ruling = self.rule(candidates, home)?;
        if self.reasons.is_none() && !ruling.undefined().is_empty() {
            self.hide_below(entry, ruling.undefined());
        }
        self.made_by(ruling, home)
    }

    /// Keeps an entry out of the output if definitions that came out undefined stand above a private one.
    fn hide_below(&mut self, entry: EntryId, undefined: &[Candidate]) {
        let key = |one: &Candidate| (one.span, one.scope, one.rank);
        let undefined: FxHashSet<_> = undefined.iter().map(key).collect();
        let order = self.home_of(entry).order;
        let candidates = self.candidates(&self.says(entry));
        if self.hides(candidates, order, |one| undefined.contains(&key(one))) {
            self.hidden.insert(entry);
        }
    }

    /// Whether the highest of some candidates are private, or those that count when these are undefined.
    fn hides(
        &self,
        mut candidates: Vec<Candidate>,
        order: OrderId,
        is_undefined: impl Fn(&Candidate) -> bool,
    ) -> bool {
        while !candidates.is_empty() {
            let (mut highest, rest) = self.split(candidates, order);
            if highest.iter().any(|one| self.is_said_privately(one)) {
                return true;
            }
            let count = highest.len();
            highest.retain(|one| !is_undefined(one));
            if highest.len() == count {
                return false;
            }
            highest.extend(rest);
            candidates = highest;
        }
        false
    }

    /// Whether an entry is kept out of the output: the definition that gives its value is private, or one above that
    /// is, which is undefined. Nothing is computed for that: where a definition came out undefined, it was
    /// noted.
    pub(crate) fn is_private(&self, entry: EntryId) -> bool {
        let is_private = |only: Contribution| match only.source {
            Source::Entry(inner) => self.is_private(inner),
            Source::Statement(statement) => self.tree.definition(statement).private,
            Source::Made(_) => false,
        };
        if let Says::One(only) = self.entry(entry).says {
            return is_private(only);
        }
        let rank = self.each_said(entry).map(|says| says.rank).max();
        let mut highest = self.each_said(entry).filter(|says| Some(says.rank) == rank);
        // Only the highest are asked: a block may stand on a long row of others.
        if let (Some(only), None) = (highest.next(), highest.next())
            && !self.is_left_undefined(only)
        {
            return is_private(only) || self.hidden.contains(&entry);
        }
        let order = self.home_of(entry).order;
        let candidates = self.candidates(&self.says(entry));
        self.hidden.contains(&entry)
            || self.hides(candidates, order, |one| self.is_undefined_literal(one))
    }

    /// Whether a definition is a `?` that is written out.
    fn is_left_undefined(&self, says: Contribution) -> bool {
        match says.source {
            Source::Statement(statement) => {
                let value = self.tree.definition(statement).value;
                matches!(self.tree.expression(value).kind, Kind::Undefined)
            }
            Source::Entry(_) | Source::Made(_) => false,
        }
    }

    /// What is said about a name, as candidates for its value.
    pub(crate) fn candidates(&self, says: &[Contribution]) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::with_capacity(says.len());
        for &Contribution {
            source,
            scope,
            rank,
        } in says
        {
            work::step();
            let file = self.scope(scope).file;
            let candidate = match source {
                Source::Statement(statement) => {
                    let definition = self.tree.definition(statement);
                    let kind = self.tree.expression(definition.value).kind;
                    let what = match kind {
                        Kind::Block(body) if self.tree.body(body).implicit => {
                            What::Implicit(vec![body])
                        }
                        _ => What::Expression(definition.value),
                    };
                    Candidate {
                        operator: definition.operator,
                        what,
                        scope,
                        file,
                        rank,
                        span: self.name_span(definition),
                        private: definition.private,
                    }
                }
                Source::Entry(entry) => Candidate {
                    operator: Mutation::Assign,
                    what: What::Entry(entry),
                    scope,
                    file,
                    rank,
                    span: self.place(entry),
                    private: false,
                },
                Source::Made(expression) => Candidate {
                    operator: Mutation::Assign,
                    what: What::Expression(expression),
                    scope,
                    file,
                    rank,
                    span: self.span(expression),
                    private: false,
                },
            };
            if !coalesce(&mut candidates, &candidate) {
                candidates.push(candidate);
            }
        }
        candidates
    }

    /// The candidates that none is above, and the others.
    pub(crate) fn split(
        &self,
        candidates: Vec<Candidate>,
        order: OrderId,
    ) -> (Vec<Candidate>, Vec<Candidate>) {
        let rank = candidates.iter().map(|one| one.rank).max().unwrap_or(0);
        let is_ranked = |one: &Candidate| one.rank == rank;
        // As most are: who is alone has none above.
        if candidates.iter().filter(|one| is_ranked(one)).count() == 1 {
            return candidates.into_iter().partition(is_ranked);
        }
        let files: FxHashSet<FileKey> = candidates
            .iter()
            .filter(|one| is_ranked(one))
            .map(|one| one.file)
            .collect();
        let is_highest = |one: &Candidate| {
            work::step();
            is_ranked(one)
                && !self.above(order, one.file, |file| {
                    file != one.file && files.contains(&file)
                })
        };
        let (highest, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_highest);
        match highest.is_empty() {
            // Each is imported by another, here or in a block around: none comes first.
            true => rest.into_iter().partition(is_ranked),
            false => (highest, rest),
        }
    }

    /// Candidates in layers: the highest, those that are highest without them, and so on.
    fn layers(&self, candidates: Vec<Candidate>, order: OrderId) -> Vec<Vec<Candidate>> {
        if candidates.len() <= 1 {
            return candidates.into_iter().map(|only| vec![only]).collect();
        }
        let mut by_rank: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
        for candidate in candidates {
            by_rank.entry(candidate.rank).or_default().push(candidate);
        }
        let mut layers = Vec::new();
        for candidates in by_rank.into_values().rev() {
            let files: FxHashSet<FileKey> = candidates.iter().map(|one| one.file).collect();
            // For each file, how many others stand right above it, and which right below.
            let mut above: FxHashMap<FileKey, usize> = FxHashMap::default();
            let mut below: FxHashMap<FileKey, Vec<FileKey>> = FxHashMap::default();
            for &file in &files {
                let nearest = self.nearest_above(order, file, &files);
                above.insert(file, nearest.len());
                for higher in nearest {
                    below.entry(higher).or_default().push(file);
                }
            }
            let mut next: FxHashSet<FileKey> = files;
            next.retain(|file| above[file] == 0);
            let mut depths: FxHashMap<FileKey, usize> = FxHashMap::default();
            for depth in 0.. {
                if next.is_empty() {
                    break;
                }
                let mut after = FxHashSet::default();
                for file in next {
                    depths.insert(file, depth);
                    for &lower in below.get(&file).into_iter().flatten() {
                        work::step();
                        let left = above.get_mut(&lower).expect("it is one of them");
                        *left -= 1;
                        if *left == 0 {
                            after.insert(lower);
                        }
                    }
                }
                next = after;
            }
            let first = layers.len();
            // Files that each other import, here or in a block around, come last and together.
            let last = depths.len();
            for candidate in candidates {
                let depth = first + depths.get(&candidate.file).copied().unwrap_or(last);
                if layers.len() <= depth {
                    layers.resize_with(depth + 1, Vec::new);
                }
                layers[depth].push(candidate);
            }
        }
        layers.retain(|layer: &Vec<Candidate>| !layer.is_empty());
        layers
    }

    /// The value that candidates come to together.
    pub(crate) fn combine(&mut self, candidates: Vec<Candidate>, home: Home) -> Evaluated {
        let ruling = self.rule(candidates, home)?;
        self.made_by(ruling, home)
    }

    /// The value that those come to which count.
    fn made_by(&mut self, ruling: Ruling, home: Home) -> Evaluated {
        match ruling {
            Ruling::Undefined { .. } => Ok(Datum::UNDEFINED),
            Ruling::Assigned { datum, .. }
            | Ruling::Merged { datum, .. }
            | Ruling::Chained { datum, .. } => Ok(datum),
            Ruling::Combined {
                function,
                by,
                values,
                below,
                ..
            } => self.mutate(function, &by, values, below, home),
        }
    }

    /// Decides which candidates count, and how.
    pub(crate) fn rule(&mut self, candidates: Vec<Candidate>, home: Home) -> Evaluated<Ruling> {
        let (mut undefined, mut remaining): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .partition(|candidate| self.is_undefined_literal(candidate));
        loop {
            if remaining.is_empty() {
                return Ok(Ruling::Undefined { undefined });
            }
            let (highest, rest) = self.split(remaining, home.order);
            let operator = highest[0].operator;
            if let [only] = &highest[..]
                && let What::Expression(expression) = only.what
                && let Kind::Chain(links) = self.tree.expression(expression).kind
            {
                let is_closed = self.tree.chain(links)[0].0 == Mutation::Assign;
                let datum = self.chain(links, only.scope, home, Some(rest.clone()))?;
                if datum.is_undefined() {
                    undefined.extend(highest);
                    remaining = rest;
                    continue;
                }
                let (ignored, below) = match is_closed {
                    true => (rest, Vec::new()),
                    false => (Vec::new(), rest),
                };
                let by = only.clone();
                return Ok(Ruling::Chained {
                    by,
                    datum,
                    below,
                    ignored,
                    undefined,
                });
            }
            let is_alike = |one: &Candidate| one.operator == operator && !self.is_open_chain(one);
            let all_alike = highest.iter().all(is_alike);
            if all_alike && operator == Mutation::Merge {
                return self.merge(highest, rest, undefined, home);
            }
            let mut by = Vec::new();
            let mut values = Vec::new();
            let before = self.noted();
            let mut noted = before..before;
            for candidate in highest {
                let start = self.noted();
                let datum = self.candidate_value(&candidate, home)?;
                if datum.is_undefined() {
                    undefined.push(candidate);
                } else {
                    if by.is_empty() {
                        noted = start..self.noted();
                    }
                    values.push((datum, candidate.span));
                    by.push(candidate);
                }
            }
            if !all_alike {
                let is_uniform = by.iter().all(|one| one.operator == by[0].operator);
                if !by.is_empty() && (!is_uniform || by.iter().any(|one| self.is_open_chain(one))) {
                    return self.unordered(&by);
                }
                remaining = by;
                remaining.extend(rest);
                continue;
            }
            if by.is_empty() {
                remaining = rest;
                continue;
            }
            let Mutation::Function(function) = operator else {
                for other in &values[1..] {
                    if !self.equal(values[0].0, other.0, other.1)? {
                        return self.unordered(&by);
                    }
                }
                // The first is the value. Whatever the others became, they would agree with it, or there
                // would be none.
                self.forget(noted.end..self.noted());
                self.forget(before..noted.start);
                return Ok(Ruling::Assigned {
                    datum: values[0].0,
                    by,
                    ignored: rest,
                    undefined,
                });
            };
            let mutation = self.mutation(function, by[0].span)?;
            if by.len() > 1 && mutation == function::Mutation::Ordered {
                return self.unordered(&by);
            }
            return Ok(Ruling::Combined {
                function,
                by,
                values,
                below: rest,
                undefined,
            });
        }
    }

    fn is_undefined_literal(&self, candidate: &Candidate) -> bool {
        match candidate.what {
            What::Expression(id) => matches!(self.tree.expression(id).kind, Kind::Undefined),
            _ => false,
        }
    }

    /// Whether it is a chain that begins with what is below it, so that it cannot stand beside others.
    fn is_open_chain(&self, candidate: &Candidate) -> bool {
        match candidate.what {
            What::Expression(id) => {
                candidate.operator != Mutation::Assign
                    && matches!(self.tree.expression(id).kind, Kind::Chain(_))
            }
            _ => false,
        }
    }

    /// What a definition says, for itself.
    pub(crate) fn candidate_value(&mut self, candidate: &Candidate, home: Home) -> Evaluated {
        match &candidate.what {
            What::Expression(id) => {
                self.focus_on_sought();
                self.evaluate(*id, candidate.scope, home)
            }
            What::Entry(entry) => {
                self.focus_on_sought();
                self.value(*entry, candidate.span)
            }
            What::Implicit(bodies) => {
                let part = |&body: &BodyId| Part::Body(body, candidate.scope);
                let parts = bodies.iter().map(part).collect();
                Ok(self.block_of(parts, Ranking::Files, home))
            }
        }
    }

    fn block_of(&mut self, mut parts: Vec<Part>, ranking: Ranking, home: Home) -> Datum {
        let parts = match parts.as_slice() {
            [Part::Block(only, _)] => return form(Form::Block(*only)),
            [only] => Parts::One(*only),
            _ => Parts::Many(std::mem::take(&mut parts).into_boxed_slice()),
        };
        form(Form::Block(self.new_block(parts, ranking, home)))
    }

    /// Merges blocks of the highest candidates with what is below them (§4.2).
    fn merge(
        &mut self,
        highest: Vec<Candidate>,
        rest: Vec<Candidate>,
        mut undefined: Vec<Candidate>,
        home: Home,
    ) -> Evaluated<Ruling> {
        let mut parts = Vec::new();
        let mut by = Vec::new();
        let mut others = Vec::new();
        for candidate in highest {
            match self.parts_of(&candidate, home)? {
                Ok(mut found) => {
                    parts.append(&mut found);
                    by.push(candidate);
                }
                Err(datum) if datum.is_undefined() => undefined.push(candidate),
                Err(datum) => others.push((datum, candidate)),
            }
        }
        if let Some((datum, candidate)) = others.pop() {
            // Alone, anything may be merged: `X ~> 1`.
            let is_alone = parts.is_empty() && others.is_empty();
            if is_alone && self.combine(rest.clone(), home)?.is_undefined() {
                return Ok(Ruling::Assigned {
                    by: vec![candidate],
                    datum,
                    ignored: Vec::new(),
                    undefined,
                });
            }
            let others = by
                .iter()
                .chain(others.iter().map(|one| &one.1))
                .chain(&rest);
            let other = others.map(|one| one.span).next();
            return self.not_a_block(datum, candidate.span, other);
        }
        let mut ruling = match parts.is_empty() {
            true => self.rule(rest, home)?,
            false => {
                let mut lower = Vec::new();
                let ignored = self.gather(rest, home, &mut lower, &mut by)?;
                lower.append(&mut parts);
                // What is below in this block is below in those in it: the parts of `$Base ~> { net ~> { … } }`.
                let is_listed = by.iter().any(|one| one.rank < by[0].rank);
                let ranking = match is_listed {
                    true => Ranking::Listed,
                    false => Ranking::Files,
                };
                let datum = self.block_of(lower, ranking, home);
                Ruling::Merged {
                    by,
                    datum,
                    ignored,
                    undefined: Vec::new(),
                }
            }
        };
        ruling.undefined().append(&mut undefined);
        Ok(ruling)
    }

    /// The parts, lowest first, that candidates below a merge bring; those that do not count are left.
    fn gather(
        &mut self,
        candidates: Vec<Candidate>,
        home: Home,
        parts: &mut Vec<Part>,
        by: &mut Vec<Candidate>,
    ) -> Evaluated<Vec<Candidate>> {
        let mut found_layers = Vec::new();
        let mut layers = self.layers(candidates, home.order).into_iter();
        while let Some(highest) = layers.next() {
            let is_merge =
                |one: &Candidate| one.operator == Mutation::Merge && !self.is_open_chain(one);
            let is_assigned = highest.len() == 1 && highest[0].operator == Mutation::Assign;
            let mut ends = is_assigned;
            let mut layer = Vec::new();
            if is_assigned || highest.iter().all(is_merge) {
                for candidate in highest {
                    match self.parts_of(&candidate, home)? {
                        Ok(mut found) => {
                            layer.append(&mut found);
                            by.push(candidate);
                        }
                        Err(datum) if datum.is_undefined() => ends = false,
                        Err(datum) => {
                            let merged = by.first().map(|one| one.span);
                            return self.not_a_block(datum, candidate.span, merged);
                        }
                    }
                }
            } else {
                let (scope, span) = (highest[0].scope, highest[0].span);
                let rest = layers.clone().flatten();
                let datum = self.combine(highest.iter().cloned().chain(rest).collect(), home)?;
                match datum.form {
                    Form::Block(block) => layer.push(Part::Block(block, scope)),
                    Form::Undefined => {}
                    _ => {
                        let merged = by.first().map(|one| one.span);
                        return self.not_a_block(datum, span, merged);
                    }
                }
                by.extend(highest);
                ends = true;
            }
            layer.reverse();
            found_layers.append(&mut layer);
            if ends {
                break;
            }
        }
        found_layers.reverse();
        parts.append(&mut found_layers);
        Ok(layers.flatten().collect())
    }

    /// The parts that a definition brings to a merged block, or its value if it is no block.
    fn parts_of(
        &mut self,
        candidate: &Candidate,
        home: Home,
    ) -> Evaluated<Result<Vec<Part>, Datum>> {
        if self.reasons.is_some() && !self.matters(candidate) {
            return self.unnoted(|evaluator| evaluator.parts_of(candidate, home));
        }
        if let What::Implicit(bodies) = &candidate.what {
            let part = |&body: &BodyId| Part::Body(body, candidate.scope);
            return Ok(Ok(bodies.iter().map(part).collect()));
        }
        if let What::Expression(mut id) = candidate.what {
            let mut scope = candidate.scope;
            // A block that is written here, if only behind a condition, belongs to the merged block.
            loop {
                match self.tree.expression(id).kind {
                    Kind::Block(body) => return Ok(Ok(vec![Part::Body(body, scope)])),
                    Kind::If(condition, then, otherwise) => {
                        let holds = self.condition(condition, scope, home)?;
                        match (holds, otherwise) {
                            (true, _) => id = then,
                            (false, Some(otherwise)) => id = otherwise.expression(),
                            (false, None) => return Ok(Err(Datum::UNDEFINED)),
                        }
                    }
                    Kind::Macro(name, arguments) => {
                        let arguments = self.tree.list(arguments).to_vec();
                        (id, scope) = self.call_macro(name, arguments, scope, self.span(id))?;
                    }
                    _ => break,
                }
            }
            self.focus_on_sought();
            let datum = self.evaluate(id, scope, home)?;
            return Ok(block_part(datum, scope));
        }
        let datum = self.candidate_value(candidate, home)?;
        Ok(block_part(datum, candidate.scope))
    }

    /// `=> a ~> b ~(f)> c`: each link applies to what those before it come to, the first to what is below.
    pub(crate) fn chain(
        &mut self,
        links: Links,
        scope: ScopeId,
        home: Home,
        below: Option<Vec<Candidate>>,
    ) -> Evaluated {
        let first = self.first_that_matters(links, scope, home);
        let mut result = match self.tree.chain(links)[0].0 {
            Mutation::Assign => Datum::UNDEFINED,
            _ => {
                let below = below.unwrap_or_default();
                self.noted_if(first == 0, |evaluator| evaluator.combine(below, home))?
            }
        };
        for number in 0..links.count() {
            let link = self.tree.chain(links)[number];
            result = self.noted_if(number >= first, |evaluator| {
                evaluator.link(link, result, scope, home)
            })?;
        }
        Ok(result)
    }

    /// What one link of a chain makes of what those before it come to.
    fn link(
        &mut self,
        (operator, id): (Mutation, ExpressionId),
        before: Datum,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated {
        let span = self.span(id);
        match operator {
            Mutation::Assign => {
                self.focus_on_sought();
                match self.evaluate(id, scope, home)? {
                    undefined if undefined.is_undefined() => Ok(before),
                    datum => Ok(datum),
                }
            }
            Mutation::Merge => {
                let merged = Candidate {
                    operator,
                    what: What::Expression(id),
                    scope,
                    file: self.scope(scope).file,
                    rank: 0,
                    span,
                    private: false,
                };
                match (self.parts_of(&merged, home)?, before.form) {
                    (Err(datum), _) if datum.is_undefined() => Ok(before),
                    (Ok(parts), Form::Undefined) => Ok(self.block_of(parts, Ranking::Files, home)),
                    (Err(datum), Form::Undefined) => Ok(datum),
                    (Ok(mut parts), Form::Block(lower)) => {
                        parts.insert(0, Part::Block(lower, scope));
                        Ok(self.block_of(parts, Ranking::Listed, home))
                    }
                    (Ok(_), _) => self.not_merged_into(before, span),
                    (Err(datum), _) => self.not_a_block(datum, span, None),
                }
            }
            Mutation::Function(name) => {
                let datum = self.evaluate(id, scope, home)?;
                self.mutation(name, span)?;
                match (datum.is_undefined(), before.is_undefined()) {
                    (true, _) => Ok(before),
                    (false, true) => Ok(datum),
                    (false, false) => {
                        self.mutate_values(name, vec![(datum, span)], Some((before, span)), span)
                    }
                }
            }
        }
    }

    /// The link of a chain before which nothing matters: it assigns the value, or the name that is sought.
    fn first_that_matters(&mut self, links: Links, scope: ScopeId, home: Home) -> usize {
        if self.reasons.is_none() {
            return 0;
        }
        let is_sought = self.is_name_sought();
        let mut known = self.known_block(home);
        for number in (1..links.count()).rev() {
            let (operator, id) = self.tree.chain(links)[number];
            let can_decide = match operator {
                Mutation::Assign => true,
                Mutation::Merge => is_sought,
                Mutation::Function(_) => false,
            };
            if !can_decide {
                continue;
            }
            let value = self.unnoted(|evaluator| evaluator.evaluate(id, scope, home));
            if value.is_ok_and(|datum| datum.is_undefined()) {
                continue;
            }
            if operator == Mutation::Assign {
                return number;
            }
            if let Some(block) = known {
                if self.is_sought_above(block, 0) {
                    return number;
                }
                known = match self.block(block).parts.as_slice() {
                    [Part::Block(lower, _), ..] => Some(*lower),
                    _ => None,
                };
            }
        }
        0
    }

    /// Definitions of one file must have the same value (§3). Of those that nobody read that is seen if they are
    /// literals: nothing is computed for it.
    pub(crate) fn check_unread(&mut self) {
        for number in 0..self.entries.len() {
            let entry = &self.entries[number];
            if !matches!((entry.state, entry.says), (State::Fresh, Says::Many(..))) {
                continue;
            }
            let says = self.says(EntryId(number as u32));
            if let Some(pair) = self.contradiction(&says) {
                let _: Evaluated<()> = self.unordered(&pair);
            }
        }
    }

    /// Two definitions of one file that assign different literals.
    fn contradiction(&mut self, says: &[Contribution]) -> Option<[Candidate; 2]> {
        let mut first: Vec<(Candidate, Cell)> = Vec::new();
        for candidate in self.candidates(says) {
            let What::Expression(id) = candidate.what else {
                continue;
            };
            let Kind::Literal(cell) = self.tree.expression(id).kind else {
                continue;
            };
            if candidate.operator != Mutation::Assign {
                continue;
            }
            let same_file = first
                .iter()
                .find(|(one, _)| one.scope == candidate.scope && one.rank == candidate.rank);
            let Some((one, other)) = same_file.cloned() else {
                first.push((candidate, cell));
                continue;
            };
            let (known, new) = (literal_datum(other), literal_datum(cell));
            if self.equal(known, new, candidate.span) == Ok(false) {
                return Some([one, candidate]);
            }
        }
        None
    }

    /// `other` is what it is to be merged with.
    fn not_a_block<T>(&mut self, datum: Datum, span: Span, other: Option<Span>) -> Evaluated<T> {
        let type_ = self.type_name(datum);
        let message = format!("only blocks can be merged, and this is {type_}");
        let mut diagnostic = Diagnostic::error(TYPE, message).at(span);
        if let Some(other) = other {
            diagnostic = diagnostic.label(other, "it is to be merged with this");
        }
        self.stop(diagnostic.help(REPLACE_OR_COMBINE))
    }

    /// What a chain has come to is no block.
    fn not_merged_into<T>(&mut self, before: Datum, span: Span) -> Evaluated<T> {
        let type_ = self.type_name(before);
        let message = format!("only blocks can be merged, and what is before this is {type_}");
        let diagnostic = Diagnostic::error(TYPE, message).at(span);
        self.stop(diagnostic.help(REPLACE_OR_COMBINE))
    }

    /// Several definitions, and none comes first (§4.4).
    pub(crate) fn unordered<T>(&mut self, highest: &[Candidate]) -> Evaluated<T> {
        let name = self.source(highest[0].span).to_owned();
        let mut diagnostic = Diagnostic::error(
            MUTATION_ORDER,
            format!("cannot determine mutation order of `{name}`"),
        );
        for (number, candidate) in highest.iter().take(SHOWN).enumerate() {
            let operator = match candidate.operator {
                Mutation::Assign => "=>".to_owned(),
                Mutation::Merge => "~>".to_owned(),
                Mutation::Function(name) => format!("~({})>", self.name(name)),
            };
            let text = match number {
                0 => format!("defined here with `{operator}`"),
                _ => format!("and here with `{operator}`, with the same priority"),
            };
            diagnostic = diagnostic.label(candidate.span, text);
        }
        if let Some(more @ 1..) = highest.len().checked_sub(SHOWN) {
            let define = if more == 1 { "defines" } else { "define" };
            diagnostic = diagnostic.help(format!(
                "and {more} more {define} it with the same priority"
            ));
        }
        let same_file = highest.iter().all(|one| one.file == highest[0].file);
        if same_file {
            return self.stop(
                diagnostic
                    .help("definitions of one resource in one file must have the same value: keep one of them"),
            );
        }
        let is_block = |one: &Candidate| match one.what {
            What::Implicit(_) => true,
            What::Expression(id) => matches!(self.tree.expression(id).kind, Kind::Block(_)),
            What::Entry(_) => false,
        };
        let combined = match highest.iter().all(is_block) {
            true => format!("or merge them, in the imported files: `{name} ~> {{ … }}`"),
            false => {
                format!("or let a function combine them, in the imported files: `{name} ~(max)> …`")
            }
        };
        // The importing file has it in the block into which the others are imported.
        let path = self.path_of_running().unwrap_or_default();
        let (block, own) = match path.strip_suffix(&format!(".{name}")) {
            Some(block) => (
                format!(", in the block `{block}`"),
                format!("{block}.Own{name}"),
            ),
            None => (String::new(), format!("Own{name}")),
        };
        self.stop(
            diagnostic
                .help(format!("say which value it is to be, in the importing file{block}: `{name} => …`"))
                .help(combined)
                .help(format!("or give each a private name of its own in the imported files, and choose{block}: `{name} => ${own}`"))
                .help("or compute it from those, with a conditional in the importing file"),
        )
    }
}

fn block_part(datum: Datum, scope: ScopeId) -> Result<Vec<Part>, Datum> {
    match datum.form {
        Form::Block(block) => Ok(vec![Part::Block(block, scope)]),
        _ => Err(datum),
    }
}

/// Adds an implicit block to one of the same file. If any of them is assigned, all of it is.
fn coalesce(candidates: &mut [Candidate], new: &Candidate) -> bool {
    let What::Implicit(bodies) = &new.what else {
        return false;
    };
    let is_same = |one: &&mut Candidate| {
        one.file == new.file && one.scope == new.scope && one.rank == new.rank
    };
    for candidate in candidates.iter_mut().filter(is_same) {
        if let What::Implicit(known) = &mut candidate.what {
            known.extend_from_slice(bodies);
            candidate.private &= new.private;
            if new.operator == Mutation::Assign {
                candidate.operator = Mutation::Assign;
            }
            return true;
        }
    }
    false
}
