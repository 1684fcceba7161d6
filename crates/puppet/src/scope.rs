//! Scopes: who sees which variables, and which defaults.
//!
//! There is one top scope, perhaps one of a node, one for each class that was declared, and one for each
//! resource of a defined type. A variable is looked up in the scope itself, in that of the class it inherits,
//! then in that of the node and at the top (`parentof` and `baseof` of §3.3.2.1); defaults of resources are
//! looked up along the scopes that declared each other.

use std::ops::Range;

use ecow::EcoString;
use hence_model::work;
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
    pub variables: Variables,
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

/// Variables by name. Most scopes are those of defined types and have a few, which are searched through; many
/// are also hashed.
#[derive(Debug, Default)]
pub struct Variables {
    defined: Vec<(EcoString, DefinitionId)>,
    /// Where each stands, once there are many.
    places: Option<Box<FxHashMap<EcoString, u32>>>,
}

/// As many are searched through.
const FEW: usize = 16;

impl Variables {
    /// What a variable was defined as.
    pub fn get(&self, name: &str) -> Option<DefinitionId> {
        let place = match &self.places {
            Some(places) => *places.get(name)? as usize,
            None => {
                let mut defined = self.defined.iter().inspect(|_| work::step());
                defined.position(|(known, _)| known == name)?
            }
        };
        Some(self.defined[place].1)
    }

    /// Defines a variable, also one that was defined before.
    pub fn insert(&mut self, name: EcoString, definition: DefinitionId) {
        if self.defined.len() == FEW && self.places.is_none() {
            let names = self.names().cloned().zip(0..);
            self.places = Some(Box::new(names.collect()));
        }
        let next = self.defined.len();
        let known = match &mut self.places {
            Some(places) => {
                let place = *places.entry(name.clone()).or_insert(next as u32);
                self.defined.get_mut(place as usize)
            }
            None => self.defined.iter_mut().find(|(known, _)| *known == name),
        };
        match known {
            Some(known) => known.1 = definition,
            None => self.defined.push((name, definition)),
        }
    }

    /// Gives back the room that was not needed.
    pub fn shrink(&mut self) {
        self.defined.shrink_to_fit();
    }

    /// The names, in the order in which they came.
    pub fn names(&self) -> impl Iterator<Item = &EcoString> {
        self.defined.iter().map(|(name, _)| name)
    }
}

/// What lies over a scope while some code in it runs.
#[derive(Debug)]
pub enum Frame {
    /// The variables of a lambda or a function.
    Local(Variables),
    /// `$0`, `$1` … of a match.
    Match(Vec<Option<Value>>),
    /// Parameters that get their values one by one.
    Parameters(Vec<(EcoString, Option<DefinitionId>)>),
}

/// A scope whose code waits for other code that it runs: a class that it declares, or a function.
#[derive(Debug)]
pub struct Suspended {
    /// The scope.
    pub scope: ScopeId,
    /// Which of all frames lie over it.
    pub frames: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{ControlId, Definition, How, Origin, Trace};

    #[test]
    fn few_and_many_variables_are_found() {
        let mut trace = Trace::default();
        let mut define = |number: i64| {
            trace.define(Definition {
                value: Value::new(number, Origin::NOWHERE),
                control: ControlId::NONE,
                how: How::Language,
            })
        };
        let mut variables = Variables::default();
        for count in 0..100 {
            let definition = define(count);
            variables.insert(format!("v{count}").into(), definition);
            assert_eq!(variables.get(&format!("v{count}")), Some(definition));
            assert!(variables.get("v0").is_some());
            assert_eq!(variables.get("w"), None);
        }
        for name in ["v7", "v77"] {
            let again = define(0);
            variables.insert(name.into(), again);
            assert_eq!(variables.get(name), Some(again));
        }
        assert_eq!(variables.names().count(), 100);
    }
}
