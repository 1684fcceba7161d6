//! Scopes: who sees which variables, and which defaults.
//!
//! There is one top scope, perhaps one of a node, one for each class that was declared, and one for each
//! resource of a defined type. A variable is looked up in the scope itself, in that of the class it inherits,
//! then in that of the node and at the top (`parentof` and `baseof` of §3.3.2.1); defaults of resources are
//! looked up along the scopes that declared each other.

use ecow::EcoString;
use rustc_hash::FxHashMap;

use crate::resource::Attribute;
use crate::trace::{DefinitionId, ResourceId};
use crate::value::Value;

/// A scope, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeId(u32);

impl ScopeId {
    /// The top scope, `::`.
    pub const TOP: ScopeId = ScopeId(0);

    /// The scope with that number.
    pub fn from_index(index: usize) -> Self {
        Self(index as u32)
    }

    /// A small number, for tables indexed by scope.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A scope.
#[derive(Debug)]
pub struct Scope {
    /// What kind of scope it is.
    pub kind: ScopeKind,
    /// The scope that declared it; for a class that inherits, the scope of its parent.
    pub parent: Option<ScopeId>,
    /// The scope of the class it inherits.
    pub inherits: Option<ScopeId>,
    /// The resource whose body it is.
    pub resource: ResourceId,
    /// The class or defined type whose code it runs: who may override what.
    pub source: EcoString,
    /// The module of that code.
    pub module: Option<EcoString>,
    /// Its variables.
    pub variables: FxHashMap<EcoString, DefinitionId>,
    /// Its defaults, by type of resource.
    pub defaults: FxHashMap<EcoString, Vec<Attribute>>,
}

/// What kind of scope it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// `::`
    Top,
    /// `::nd`
    Node,
    /// `::a`
    Class,
    /// `α def`
    Define,
}

/// What lies over a scope while some code in it runs.
#[derive(Debug)]
pub enum Frame {
    /// The variables of a lambda or a function.
    Local(FxHashMap<EcoString, DefinitionId>),
    /// `$0`, `$1` … of a match.
    Match(Vec<Option<Value>>),
    /// Parameters that get their values one by one.
    Parameters(Vec<(EcoString, Option<DefinitionId>)>),
}
