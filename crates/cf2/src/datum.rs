//! What evaluation works on: values that are computed as far as somebody asked, and the blocks, lists and
//! scopes that they live in.
//!
//! A block is entries; an entry is what files say about one name, and what that comes to once it is known.
//! Blocks that are merged share the entries that only one of them has, so a block that ten thousand
//! machines start from is evaluated once.

use hence_model::cell::Cell;
use hence_model::source::Span;
use hence_model::symbol::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::syntax::{BodyId, ExpressionId, Expressions, StatementId};

/// A value, computed to its outermost shape.
#[derive(Clone, Copy, Debug)]
pub struct Datum {
    /// What it is.
    pub form: Form,
    /// Whether a secret flowed into it.
    pub secret: bool,
}

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// No value.
    Undefined,
    /// A scalar.
    Scalar(Cell),
    /// A list of nothing but literals.
    Literals(Cell),
    /// A list.
    List(ListId),
    /// A block.
    Block(BlockId),
}

impl Datum {
    /// No value.
    pub const UNDEFINED: Datum = Datum {
        form: Form::Undefined,
        secret: false,
    };

    /// A scalar that is no secret.
    pub fn scalar(cell: Cell) -> Self {
        Self {
            form: Form::Scalar(cell),
            secret: false,
        }
    }

    /// The same, marked as secret if `secret` is.
    pub fn marked(self, secret: bool) -> Self {
        Self {
            secret: self.secret || secret,
            ..self
        }
    }

    /// Whether there is no value.
    pub fn is_undefined(self) -> bool {
        matches!(self.form, Form::Undefined)
    }
}

/// How far a value is computed.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// Nobody has asked yet.
    Fresh,
    /// It is being computed: whoever asks now is part of a cycle.
    Running,
    /// It is known.
    Done(Datum),
    /// It has none, and that was reported.
    Failed,
}

macro_rules! number {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) u32);
    )*};
}

number! {
    /// A block, by its number.
    BlockId
    /// An entry, by its number.
    EntryId
    /// A list, by its number.
    ListId
    /// A scope, by its number.
    ScopeId
    /// The arguments of one use of a macro, by its number.
    FrameId
    /// A relation between files, by its number.
    OrderId
    /// A file that takes part, by its number: the same however often it is imported.
    FileKey
}

/// Where a piece of text is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The block in which `$name` is looked up: the one that the file is imported into (§3.5, §4.4).
    pub root: BlockId,
    /// The file.
    pub file: FileKey,
    /// The arguments, inside of a macro.
    pub frame: Option<FrameId>,
    /// Who imported the file, and where.
    pub importer: Option<(ScopeId, Span)>,
}

/// One use of a macro.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The arguments, as they are written.
    pub arguments: Vec<ExpressionId>,
    /// Where they are evaluated.
    pub scope: ScopeId,
    /// What they come to: each is computed once, if at all.
    pub states: Vec<State>,
}

/// Which file beats which, in one block: a file beats those that it imports into it.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// What holds in the block around.
    pub outer: Option<OrderId>,
    /// For each imported file, who imports it.
    pub importers: FxHashMap<FileKey, Vec<FileKey>>,
    /// The same as pairs of an importer and a file.
    pub imports: FxHashSet<(FileKey, FileKey)>,
    /// The files that import any.
    pub importing: FxHashSet<FileKey>,
}

/// Where a new block or list belongs.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// Which file beats which there.
    pub order: OrderId,
    /// The entry that it is, or is part of, the value of.
    pub entry: Option<EntryId>,
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// What it is made of, lowest first.
    pub parts: Parts,
    /// How definitions of one name are ranked.
    pub ranking: Ranking,
    /// Where it belongs.
    pub home: Home,
    /// Whether the order of files in it is its own, and not that of the block around.
    pub owns_order: bool,
    /// How far its names are known.
    pub stage: Stage,
    /// What says which they are.
    pub names: Names,
    /// Its entries, in order: a stretch of the evaluator's slots.
    pub slots: (u32, u32),
    /// By name, for a large block that somebody looked into.
    pub index: Option<Box<FxHashMap<Symbol, EntryId>>>,
    /// Whether all of its entries are known to be part of the output.
    pub shows_all: bool,
    /// How large its output is.
    pub extent: Extent,
}

/// What is known of how large an output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Nothing yet.
    #[default]
    Unknown,
    /// It is being measured: whoever meets it again is part of it.
    Measuring,
    /// About so large and deep.
    Known(Size),
    /// The same, as part of something that may be undefined.
    Open(Size),
    /// Something in it is wrong, and was reported.
    Wrong,
}

/// What a block is made of.
#[derive(Clone, Debug)]
pub enum Parts {
    /// One part.
    One(Part),
    /// Several, or none.
    Many(Box<[Part]>),
}

impl Parts {
    /// All of them.
    pub fn as_slice(&self) -> &[Part] {
        match self {
            Parts::One(part) => std::slice::from_ref(part),
            Parts::Many(parts) => parts,
        }
    }
}

/// A part of a block.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Statements.
    Body(BodyId, ScopeId),
    /// All of another block, said in that scope.
    Block(BlockId, ScopeId),
}

impl Part {
    /// Where it is said.
    pub fn scope(self) -> ScopeId {
        match self {
            Part::Body(_, scope) | Part::Block(_, scope) => scope,
        }
    }
}

/// How definitions of one name are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// By the files that they are written in.
    Files,
    /// The first part is below all others, which are ranked by their files: `=> $Base ~> { … }`.
    Listed,
}

/// How far the names of a block are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nobody has asked.
    Unbuilt,
    /// Inline statements are being evaluated; what is defined so far can be read.
    Building,
    /// All are known.
    Built,
    /// They cannot be known, and that was reported.
    Broken,
}

/// What says which names a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// The text, here and in all blocks that it is made of.
    Written,
    /// Values too, or it is not known yet: inline statements, an import of a file by a computed name.
    Computed,
}

/// About how large something is when printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes.
    pub bytes: u64,
    /// Levels of nesting.
    pub depth: u32,
}

/// A resource.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Symbol,
    /// The block that it is in.
    pub block: BlockId,
    /// What is said about it.
    pub says: Says,
    /// Its value.
    pub state: State,
}

/// What is said about a name.
#[derive(Clone, Copy, Debug)]
pub enum Says {
    /// One thing.
    One(Contribution),
    /// Several things, in the order of the block's parts: the first and the last of a chain of the
    /// evaluator's contributions.
    Many(u32, u32),
}

/// One thing that is said about a name.
#[derive(Clone, Copy, Debug)]
pub struct Contribution {
    /// What.
    pub source: Source,
    /// In which scope.
    pub scope: ScopeId,
    /// What is said in the first part of a listed block is below what the others say.
    pub rank: u32,
}

/// Where a contribution comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A definition.
    Statement(StatementId),
    /// The entry of a block that became part of this one.
    Entry(EntryId),
    /// A function that answered with a block.
    Made(ExpressionId),
}

/// A list whose elements are computed when asked for.
#[derive(Clone, Debug)]
pub struct List {
    /// Where its elements come from.
    pub elements: Elements,
    /// Where the list belongs.
    pub home: Home,
    /// What its elements come to.
    pub states: Vec<State>,
    /// How large its output is.
    pub extent: Extent,
}

/// Where the elements of a list come from.
#[derive(Clone, Copy, Debug)]
pub enum Elements {
    /// They are written, and evaluated in that scope.
    Written(Expressions, ScopeId),
    /// A function made them.
    Made(ExpressionId),
}
