//! `$name`, and what a selector selects: `$Ports.ssl`, `$Lists.(0).1` (§3.5, §3.6).

use hence_model::cell::{Content, Item};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::Span;
use hence_model::symbol::Symbol;

use crate::datum::{BlockId, Datum, EntryId, Form, Home, ListId, ScopeId};
use crate::evaluate::{Evaluated, Evaluator, Stop, TYPE, literal_datum};
use crate::operators;
use crate::syntax::{ExpressionId, Kind};

/// Nothing has that name.
pub const UNRESOLVED: Code = Code::new("cf2.unresolved-reference");
/// A selector selects nothing.
pub const NO_SUCH_ELEMENT: Code = Code::new("cf2.no-such-element");

/// What a selector selects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selected {
    /// A resource of a block.
    Entry(EntryId),
    /// An element of a list.
    Element(ListId, usize),
    /// An element of a list of literals.
    Literal(Item),
}

/// A selector that selects nothing.
pub(crate) struct Missing {
    /// The name that a block does not have.
    name: Option<Symbol>,
    /// What to say.
    diagnostic: Box<Diagnostic>,
}

impl Evaluator<'_> {
    /// Finds a name that a reference asks for.
    pub(crate) fn lookup(&mut self, root: BlockId, name: Symbol, span: Span) -> Evaluated<EntryId> {
        if let Some(entry) = self.find(root, name, span)? {
            return Ok(entry);
        }
        let diagnostic = self.unresolved(root, name, span);
        // Another inline statement may define it later: then that is the trouble.
        if let Some(expansion) = self.expansions.get_mut(&root) {
            expansion.missing.push((name, diagnostic));
            return Err(Stop);
        }
        self.stop(diagnostic)
    }

    fn unresolved(&self, root: BlockId, name: Symbol, span: Span) -> Diagnostic {
        let text = self.name(name);
        let diagnostic = Diagnostic::error(UNRESOLVED, format!("there is no resource `{text}`"));
        let names = self.names(root);
        match similar(text, names.iter().map(|one| one.0.as_str())).first() {
            Some(near) => {
                let entry = names.iter().find(|one| one.0 == *near).expect("it is one");
                let place = self.place(entry.1);
                diagnostic
                    .at(span)
                    .label(place, "a similar name is defined here")
                    .help(format!("did you mean `${near}`?"))
            }
            None => diagnostic
                .at(span)
                .help("`$name` is a resource at the top of the same file, or one imported into it"),
        }
    }

    /// The names in a block, as far as they are known.
    pub(crate) fn names(&self, block: BlockId) -> Vec<(String, EntryId)> {
        let entries: Vec<EntryId> = match self.expansions.get(&block) {
            Some(expansion) => expansion.entries(),
            None => self.slots_of(block).to_vec(),
        };
        let name = |&entry: &EntryId| (self.name(self.entry(entry).name).to_owned(), entry);
        entries.iter().map(name).collect()
    }

    /// `of.by.by`: a long chain is read from the left without going deeper.
    pub(crate) fn selection(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
        within: Option<Symbol>,
    ) -> Evaluated {
        let mut selectors = Vec::new();
        let mut of = id;
        while let Kind::Select(inner, by) = self.tree.expression(of).kind {
            selectors.push((of, by));
            of = inner;
        }
        self.focus_on(selectors.last().map(|one| one.1), scope, home, within);
        let mut datum = self.evaluate(of, scope, home)?;
        while let Some((whole, by)) = selectors.pop() {
            let next = selectors.last().map(|one| one.1);
            self.focus_on(next, scope, home, within);
            let selected = self.select(datum, by, scope, home)?;
            datum = match selected {
                Selected::Entry(entry) => {
                    self.focus_on(next, scope, home, within);
                    self.value(entry, self.span(whole))?
                }
                Selected::Element(list, index) => self.element(list, index, self.span(whole))?,
                Selected::Literal(item) => {
                    self.because_item(item);
                    literal_datum(item.cell)
                }
            }
            .marked(datum.secret);
        }
        Ok(datum)
    }

    /// Only what a selector selects is asked for in what is computed next, or what is asked for in all.
    fn focus_on(
        &mut self,
        by: Option<ExpressionId>,
        scope: ScopeId,
        home: Home,
        within: Option<Symbol>,
    ) {
        if self.reasons.is_none() {
            return;
        }
        let Some(by) = by else {
            return self.focus(within);
        };
        let selector = self.unnoted(|evaluator| evaluator.evaluate(by, scope, home));
        if let Ok(datum) = selector
            && let Form::Scalar(cell) = datum.form
        {
            let key = operators::text(cell, &self.unit);
            let name = self.unit.symbols.intern_text(&self.unit.sources, &key);
            self.focus(Some(name));
        }
    }

    /// What a selector selects; its value is not computed.
    pub(crate) fn select(
        &mut self,
        of: Datum,
        by: ExpressionId,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated<Selected> {
        match self.try_select(of, by, scope, home)? {
            Ok(selected) => Ok(selected),
            Err(Missing { name, diagnostic }) => {
                // Another inline statement may define it later: then that is the trouble.
                if let Form::Block(block) = of.form
                    && let Some(expansion) = self.expansions.get_mut(&block)
                    && let Some(name) = name
                {
                    expansion.missing.push((name, *diagnostic));
                    return Err(Stop);
                }
                self.stop(*diagnostic)
            }
        }
    }

    /// What a selector selects, or what to say if there is nothing.
    pub(crate) fn try_select(
        &mut self,
        of: Datum,
        by: ExpressionId,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated<Result<Selected, Missing>> {
        let span = self.span(by);
        let within = self.take_focus();
        let selector = self.deciding(|evaluator| evaluator.evaluate(by, scope, home))?;
        let Form::Scalar(cell) = selector.form else {
            let type_ = self.type_name(selector);
            let message = format!("a selector must be a name or a number, and this is {type_}");
            return self.stop(Diagnostic::error(TYPE, message).at(span));
        };
        let missing = |name, message: String, help: Option<String>| {
            let mut diagnostic = Diagnostic::error(NO_SUCH_ELEMENT, message).at(span);
            diagnostic.help.extend(help);
            let diagnostic = Box::new(diagnostic);
            Ok(Err(Missing { name, diagnostic }))
        };
        match of.form {
            Form::Block(block) => {
                let text = match selector.secret {
                    true => "‹secret›".to_owned(),
                    false => operators::text(cell, &self.unit),
                };
                let key = operators::text(cell, &self.unit);
                let name = self.unit.symbols.intern_text(&self.unit.sources, &key);
                self.focus(within);
                if let Some(entry) = self.find(block, name, span)? {
                    return Ok(Ok(Selected::Entry(entry)));
                }
                let names = self.names(block);
                let near = similar(&text, names.iter().map(|one| one.0.as_str()));
                let help = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if names.is_empty() => "the block is empty".to_owned(),
                    None => {
                        let shown: Vec<&str> =
                            names.iter().take(10).map(|one| one.0.as_str()).collect();
                        let dots = if names.len() > 10 { ", …" } else { "" };
                        format!("it has {}{dots}", shown.join(", "))
                    }
                };
                let message = format!("there is no `{text}` in this block");
                missing(Some(name), message, Some(help))
            }
            Form::List(_) | Form::Literals(_) => {
                let count = match of.form {
                    Form::List(list) => self.lists[list.0 as usize].states.len(),
                    Form::Literals(cell) => self.unit.literals.elements(cell).len(),
                    _ => unreachable!("it is a list"),
                };
                let index = match cell.content(&self.unit.literals) {
                    Content::Integer(index) => usize::try_from(index).ok(),
                    Content::Float(_) => {
                        let message = "the elements of a list are numbered 0, 1, 2 …";
                        let text = self.source(span).to_owned();
                        let brackets = text.replace('.', ").");
                        let help = format!(
                            "`{text}` is read as one decimal number: write `.({brackets}` to select twice"
                        );
                        return missing(None, message.to_owned(), Some(help));
                    }
                    _ => None,
                };
                match (index, of.form) {
                    (Some(index), Form::List(list)) if index < count => {
                        Ok(Ok(Selected::Element(list, index)))
                    }
                    (Some(index), Form::Literals(cell)) if index < count => {
                        let item = self.unit.literals.elements(cell)[index];
                        Ok(Ok(Selected::Literal(item)))
                    }
                    _ => {
                        let elements = match count {
                            1 => "1 element".to_owned(),
                            count => format!("{count} elements"),
                        };
                        let message =
                            format!("the list has {elements}, numbered from 0, and none is this");
                        missing(None, message, None)
                    }
                }
            }
            _ => {
                let type_ = self.type_name(of);
                let message =
                    format!("only blocks and lists have parts, and this selects from {type_}");
                let diagnostic = Box::new(Diagnostic::error(TYPE, message).at(span));
                let name = None;
                Ok(Err(Missing { name, diagnostic }))
            }
        }
    }
}
