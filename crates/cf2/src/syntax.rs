//! The syntax of all files of a compilation, in one arena.
//!
//! Each file is parsed once, however often it is imported. Literals are values already, and a list of
//! literals is one; `A.B => v` is the blocks that it stands for.

use std::ops::Range;

use hence_model::cell::Cell;
use hence_model::source::{FileId, Span};
use hence_model::symbol::Symbol;
use rustc_hash::FxHashMap;

use crate::lexer::Operator;

/// An expression, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExpressionId(u32);

/// A statement, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(u32);

/// The statements of a file, or between two braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodyId(u32);

/// A macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MacroId(u32);

/// An expression in its place.
#[derive(Clone, Copy, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A scalar, or a list of nothing but literals.
    Literal(Cell),
    /// A literal that must not be shown: it comes from a database of secrets.
    Secret(Cell),
    /// `?`
    Undefined,
    /// `[ … ]`
    List(Expressions),
    /// `{ … }`
    Block(BodyId),
    /// `$name`
    Reference(Symbol),
    /// `$name`, where the macro around it has a parameter of that name.
    Parameter(u32),
    /// `of.by`
    Select(ExpressionId, ExpressionId),
    /// `-x`
    Negate(ExpressionId),
    /// `!x`
    Not(ExpressionId),
    /// `x + y` and the like.
    Binary(Operator, ExpressionId, ExpressionId),
    /// `if (…) then … else …`
    If(ExpressionId, ExpressionId, Option<ElseId>),
    /// `import(file, signers)`
    Import(ExpressionId, Option<ElseId>),
    /// `function(…)`
    Call(Symbol, Expressions),
    /// `macro(…)`
    Macro(MacroId, Expressions),
    /// What stands behind a name with several mutations: `=> $Base ~> { … }`.
    Chain(Links),
}

/// An expression that may be absent, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElseId(std::num::NonZeroU32);

impl ElseId {
    /// The expression.
    pub fn expression(self) -> ExpressionId {
        ExpressionId(self.0.get() - 1)
    }
}

impl From<ExpressionId> for ElseId {
    fn from(id: ExpressionId) -> Self {
        Self(std::num::NonZeroU32::MIN.saturating_add(id.0))
    }
}

/// A mutation, and what by.
pub type Link = (Mutation, ExpressionId);

/// The links of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    start: u32,
    len: u32,
}

impl Links {
    /// How many there are; one at least.
    pub fn count(self) -> usize {
        self.len as usize
    }
}

/// Expressions beside each other: elements or arguments.
#[derive(Clone, Copy, Debug)]
pub struct Expressions {
    start: u32,
    len: u32,
}

impl Expressions {
    /// How many there are.
    pub fn count(self) -> usize {
        self.len as usize
    }
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub enum Statement {
    /// A resource.
    Define(Definition),
    /// A conditional, an import or a call whose result becomes part of the block around it.
    Inline(ExpressionId),
}

/// `private name => value`
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The name.
    pub name: Symbol,
    /// Where the name is.
    pub at: u32,
    /// How it combines with other definitions of the name.
    pub operator: Mutation,
    /// The value.
    pub value: ExpressionId,
    /// Whether it is kept out of the output.
    pub private: bool,
}

/// How a definition combines with those of lower priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// `=>`
    Assign,
    /// `~>`
    Merge,
    /// `~(function)>`
    Function(Symbol),
}

/// The statements of a block.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    start: u32,
    len: u32,
    /// From the opening to the closing brace.
    pub span: Span,
    /// Whether nobody wrote it: it is what `A.B => v` stands for.
    pub implicit: bool,
    /// Whether conditionals, imports or calls add to it.
    pub inline: bool,
}

impl Body {
    /// The statements.
    pub fn statements(self) -> impl DoubleEndedIterator<Item = StatementId> + ExactSizeIterator {
        (self.start..self.start + self.len).map(StatementId)
    }
}

/// `def name(parameters) = value`
#[derive(Clone, Debug)]
pub struct Macro {
    /// Where the name is.
    pub span: Span,
    /// The names of its parameters.
    pub names: Vec<Symbol>,
    /// What it stands for.
    pub value: ExpressionId,
}

/// The syntax of a compilation.
#[derive(Clone, Default)]
pub struct Tree {
    expressions: Vec<Expression>,
    statements: Vec<Statement>,
    bodies: Vec<Body>,
    lists: Vec<ExpressionId>,
    links: Vec<Link>,
    macros: Vec<Macro>,
    /// Where macros are defined, for those who use one too early.
    names_of_macros: FxHashMap<(FileId, Symbol), Span>,
}

/// A short line of a large file: a name and a literal.
pub(crate) const BYTES_OF_EXPRESSION: usize = 16;

impl Tree {
    /// Makes room for what a text of so many bytes usually holds.
    pub fn reserve(&mut self, bytes: usize) {
        self.expressions.reserve(bytes / BYTES_OF_EXPRESSION);
    }

    /// An expression.
    #[inline]
    pub fn expression(&self, id: ExpressionId) -> Expression {
        self.expressions[id.0 as usize]
    }

    /// A statement.
    #[inline]
    pub fn statement(&self, id: StatementId) -> Statement {
        self.statements[id.0 as usize]
    }

    /// A statement that is a definition.
    #[inline]
    pub fn definition(&self, id: StatementId) -> Definition {
        match self.statement(id) {
            Statement::Define(definition) => definition,
            Statement::Inline(_) => unreachable!("only definitions are kept as such"),
        }
    }

    /// The literals that stand as the argument of an import, among some expressions.
    pub fn literal_imports(&self, among: Range<usize>) -> impl Iterator<Item = Cell> {
        let arguments = self.imports(among);
        arguments.filter_map(|argument| match self.expression(argument).kind {
            Kind::Literal(cell) => Some(cell),
            _ => None,
        })
    }

    /// What stands as the argument of an import, among some expressions.
    pub fn imports(&self, among: Range<usize>) -> impl Iterator<Item = ExpressionId> {
        let expressions = self.expressions[among].iter();
        expressions.filter_map(|expression| match expression.kind {
            Kind::Import(argument, _) => Some(argument),
            _ => None,
        })
    }

    /// Where literals are written, but for the names of imported files; a list of literals is there beside its elements.
    pub fn literals(&self) -> Vec<Span> {
        let mut files = vec![false; self.expressions.len()];
        let mut pending: Vec<ExpressionId> = self.imports(0..self.expressions.len()).collect();
        while let Some(id) = pending.pop() {
            files[id.0 as usize] = true;
            if let Kind::If(_, then, otherwise) = self.expression(id).kind {
                pending.push(then);
                pending.extend(otherwise.map(ElseId::expression));
            }
        }
        let values = self.expressions.iter().zip(files);
        let values = values.filter(|(one, is_file)| {
            matches!(one.kind, Kind::Literal(_) | Kind::Undefined) && !is_file
        });
        values.map(|(one, _)| one.span).collect()
    }

    /// The import, conditional or call that begins there.
    pub fn begun_at(&self, start: u32) -> Option<Span> {
        let begins = |expression: &&Expression| {
            let has_word = matches!(
                expression.kind,
                Kind::Import(..) | Kind::If(..) | Kind::Call(..) | Kind::Macro(..)
            );
            has_word && expression.span.start == start
        };
        let found = self.expressions.iter().find(begins)?;
        Some(found.span)
    }

    /// The smallest expression around an offset.
    pub fn innermost(&self, offset: u32) -> Option<Expression> {
        let around = self.expressions.iter();
        let around = around.filter(|expression| expression.span.contains(offset));
        around
            .min_by_key(|expression| expression.span.end - expression.span.start)
            .copied()
    }

    /// How many expressions there are.
    pub fn count(&self) -> usize {
        self.expressions.len()
    }

    /// All definitions.
    pub fn definitions(&self) -> impl Iterator<Item = Definition> {
        self.statements
            .iter()
            .filter_map(|statement| match statement {
                Statement::Define(definition) => Some(*definition),
                Statement::Inline(_) => None,
            })
    }

    /// A body.
    #[inline]
    pub fn body(&self, id: BodyId) -> Body {
        self.bodies[id.0 as usize]
    }

    /// A macro.
    pub fn macro_(&self, id: MacroId) -> &Macro {
        &self.macros[id.0 as usize]
    }

    /// All macros, in the order of their definition.
    pub fn macros(&self) -> impl Iterator<Item = MacroId> + use<> {
        (0..self.macros.len() as u32).map(MacroId)
    }

    /// Where a macro of that name is defined in a file.
    pub fn macro_named(&self, file: FileId, name: Symbol) -> Option<Span> {
        self.names_of_macros.get(&(file, name)).copied()
    }

    /// The macros of a file that are defined above a place.
    pub fn macros_above(&self, file: FileId, place: Span) -> impl Iterator<Item = Symbol> + '_ {
        let macros = self.names_of_macros.iter();
        macros
            .filter(move |((other, _), defined)| *other == file && defined.end <= place.start)
            .map(|((_, name), _)| *name)
    }

    /// Expressions beside each other.
    #[inline]
    pub fn list(&self, list: Expressions) -> &[ExpressionId] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    /// The links of a chain: each applies to what those before it come to.
    #[inline]
    pub fn chain(&self, links: Links) -> &[Link] {
        &self.links[links.start as usize..(links.start + links.len) as usize]
    }

    /// Adds an expression.
    pub fn add(&mut self, kind: Kind, span: Span) -> ExpressionId {
        self.expressions.push(Expression { kind, span });
        ExpressionId(self.expressions.len() as u32 - 1)
    }

    /// Adds expressions beside each other.
    pub fn add_list(&mut self, expressions: &[ExpressionId]) -> Expressions {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(expressions);
        Expressions {
            start,
            len: expressions.len() as u32,
        }
    }

    /// Adds a chain of mutations.
    pub fn add_chain(&mut self, first: Link, further: &[Link]) -> Links {
        let start = self.links.len() as u32;
        self.links.push(first);
        self.links.extend_from_slice(further);
        Links {
            start,
            len: self.links.len() as u32 - start,
        }
    }

    /// Adds a body.
    pub fn add_body(&mut self, statements: &[Statement], span: Span, implicit: bool) -> BodyId {
        let start = self.statements.len();
        self.statements.extend_from_slice(statements);
        self.body_from(start, span, implicit)
    }

    /// Adds a body that is written out, of the statements from `mark` on, which are taken away.
    pub fn take_body(
        &mut self,
        statements: &mut Vec<Statement>,
        mark: usize,
        span: Span,
    ) -> BodyId {
        // A file that is nothing but resources may be large; it need not be copied.
        if self.statements.is_empty() && mark == 0 {
            std::mem::swap(&mut self.statements, statements);
            return self.body_from(0, span, false);
        }
        let body = self.add_body(&statements[mark..], span, false);
        statements.truncate(mark);
        body
    }

    /// The body of the statements from `start` on.
    fn body_from(&mut self, start: usize, span: Span, implicit: bool) -> BodyId {
        let statements = &self.statements[start..];
        self.bodies.push(Body {
            start: start as u32,
            len: statements.len() as u32,
            span,
            implicit,
            inline: statements
                .iter()
                .any(|statement| matches!(statement, Statement::Inline(_))),
        });
        BodyId(self.bodies.len() as u32 - 1)
    }

    /// Adds a macro.
    pub fn add_macro(&mut self, file: FileId, name: Symbol, definition: Macro) -> MacroId {
        self.names_of_macros.insert((file, name), definition.span);
        self.macros.push(definition);
        MacroId(self.macros.len() as u32 - 1)
    }
}
