//! Names that people give to types.
//!
//! What a name stands for may hold the name again, as `type Tree = Array[Variant[Integer, Tree]]` does. So the
//! name exists before its body does, and whoever walks through types has to notice where he has been. A name that
//! leads back to itself keeps itself alive: there are as many as someone wrote, and they last as long as manifests do.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use ecow::EcoString;

use crate::value::Datum;

use super::{Failure, Type};

/// A name for a type.
pub struct Alias {
    name: EcoString,
    body: OnceLock<Type>,
    recursive: OnceLock<bool>,
}

impl Alias {
    /// A name whose type is not yet known.
    pub fn new(name: impl Into<EcoString>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            body: OnceLock::new(),
            recursive: OnceLock::new(),
        })
    }

    /// Says what the name stands for, once.
    pub fn define(self: &Arc<Self>, body: Type) -> Result<(), Failure> {
        let body = self.without_itself(body.normalise());
        if !is_real(&body, &mut vec![Arc::as_ptr(self)]) {
            return Err(Failure::new(format!(
                "Type alias '{}' cannot be resolved to a real type",
                self.name
            )));
        }
        // The first definition stands; a second one is an error where definitions are collected.
        let _ = self.body.set(body);
        Ok(())
    }

    /// The name, as written.
    pub fn name(&self) -> &EcoString {
        &self.name
    }

    /// What it stands for, once that is known.
    pub fn body(&self) -> Option<&Type> {
        self.body.get()
    }

    /// `type A = Variant[A, Integer]` says no more than `Integer`.
    fn without_itself(self: &Arc<Self>, body: Type) -> Type {
        let Type::Variant(types) = &body else {
            return body;
        };
        let itself = |kind: &Type| matches!(kind, Type::Alias(alias) if Arc::ptr_eq(alias, self));
        if !types.iter().any(itself) {
            return body;
        }
        Type::variant(types.iter().filter(|kind| !itself(kind)).cloned())
    }
}

/// Whether there is more to a type than names and choices between them.
fn is_real(kind: &Type, seen: &mut Vec<*const Alias>) -> bool {
    match kind {
        Type::Alias(alias) => {
            if seen.contains(&Arc::as_ptr(alias)) {
                return false;
            }
            seen.push(Arc::as_ptr(alias));
            // A name still to be defined gets its own chance to be refused.
            alias.body().is_none_or(|body| is_real(body, seen))
        }
        Type::Variant(types) => types.iter().any(|kind| is_real(kind, seen)),
        _ => true,
    }
}

/// Whether a type leads to a name.
fn reaches(kind: &Type, wanted: *const Alias, seen: &mut Vec<*const Alias>) -> bool {
    match kind {
        Type::Alias(alias) => {
            let itself = Arc::as_ptr(alias);
            if itself == wanted {
                return true;
            }
            if seen.contains(&itself) {
                return false;
            }
            seen.push(itself);
            alias.body().is_some_and(|body| reaches(body, wanted, seen))
        }
        other => other
            .held()
            .into_iter()
            .any(|inner| reaches(inner, wanted, seen)),
    }
}

/// Whether a type leads to a name that has no body yet.
fn find_undefined(kind: &Type, seen: &mut Vec<*const Alias>) -> bool {
    match kind {
        Type::Alias(alias) => {
            let itself = Arc::as_ptr(alias);
            if seen.contains(&itself) {
                return false;
            }
            seen.push(itself);
            alias.body().is_none_or(|body| find_undefined(body, seen))
        }
        other => other
            .held()
            .into_iter()
            .any(|inner| find_undefined(inner, seen)),
    }
}

impl fmt::Debug for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The body may lead back here.
        f.debug_tuple("Alias").field(&self.name).finish()
    }
}

/// The aliases of the language itself are shown by name only.
pub(super) fn is_built_in(name: &str) -> bool {
    matches!(
        name,
        "RichDataKey" | "Puppet::LookupKey" | "Puppet::LookupValue"
    )
}

pub(super) fn rich_data_key() -> Type {
    static ALIAS: LazyLock<Arc<Alias>> = LazyLock::new(|| {
        let body = Type::Variant([Type::STRING, Type::Numeric].into());
        built_in("RichDataKey", body)
    });
    Type::Alias(ALIAS.clone())
}

pub(super) fn lookup_key() -> Type {
    static ALIAS: LazyLock<Arc<Alias>> =
        LazyLock::new(|| built_in("Puppet::LookupKey", rich_data_key()));
    Type::Alias(ALIAS.clone())
}

pub(super) fn lookup_value() -> Type {
    static ALIAS: LazyLock<Arc<Alias>> =
        LazyLock::new(|| built_in("Puppet::LookupValue", Type::RichData));
    Type::Alias(ALIAS.clone())
}

fn built_in(name: &str, body: Type) -> Arc<Alias> {
    let alias = Alias::new(name);
    alias.body.set(body).expect("a new alias has no body");
    alias
}

static DATA: LazyLock<Type> = LazyLock::new(|| {
    Type::Variant(
        [
            Type::ScalarData,
            Type::Undef,
            Type::hash(Type::STRING, Type::Data, None),
            Type::array(Type::Data, None),
        ]
        .into(),
    )
});

static RICH_DATA: LazyLock<Type> = LazyLock::new(|| {
    Type::Variant(
        [
            Type::Scalar,
            Type::SemVerRange,
            Type::Binary,
            Type::Sensitive(Arc::new(Type::Any)),
            Type::Type(None),
            Type::TypeSet,
            Type::Uri(None),
            Type::Object(None),
            Type::Undef,
            Type::Default,
            Type::hash(rich_data_key(), Type::RichData, None),
            Type::array(Type::RichData, None),
        ]
        .into(),
    )
});

impl Type {
    /// The types that a type holds, without those behind names.
    pub(super) fn held(&self) -> Vec<&Type> {
        match self {
            Type::Array(inner, _) | Type::Sensitive(inner) => vec![inner],
            Type::Hash(key, value, _) => vec![key, value],
            Type::Tuple(types, _) | Type::Variant(types) => types.iter().collect(),
            Type::Struct(members) => members.iter().map(|member| &member.value).collect(),
            Type::Optional(inner)
            | Type::NotUndef(inner)
            | Type::Type(inner)
            | Type::Iterable(inner)
            | Type::Iterator(inner) => inner.iter().map(|inner| &**inner).collect(),
            Type::Callable(Some(signature)) => {
                let others = signature.block.iter().chain(&signature.returns);
                signature.parameters.iter().chain(others).collect()
            }
            Type::Init(Some(init)) => vec![&init.0],
            _ => Vec::new(),
        }
    }

    /// What a name stands for, if the type is one.
    pub(super) fn body(&self) -> Option<&Type> {
        match self {
            Type::Data => Some(&DATA),
            Type::RichData => Some(&RICH_DATA),
            Type::Alias(alias) => alias.body(),
            _ => None,
        }
    }

    /// Whether it is a name whose type leads back to it.
    pub(super) fn is_recursive(&self) -> bool {
        match self {
            Type::Data | Type::RichData => true,
            Type::Alias(alias) => {
                if let Some(known) = alias.recursive.get() {
                    return *known;
                }
                let Some(body) = alias.body() else {
                    return false;
                };
                let itself = Arc::as_ptr(alias);
                let find = || reaches(body, itself, &mut Vec::new());
                // Asked before all names on the way are defined, the answer would not last.
                match find_undefined(body, &mut Vec::new()) {
                    true => find(),
                    false => *alias.recursive.get_or_init(find),
                }
            }
            _ => false,
        }
    }

    /// Whether it is a name for another type.
    pub(super) fn is_alias(&self) -> bool {
        matches!(self, Type::Data | Type::RichData | Type::Alias(_))
    }

    /// What tells a type from others while walking through types.
    pub(super) fn identity(&self) -> Identity {
        match self {
            Type::Alias(alias) => Identity::Name(Arc::as_ptr(alias).addr()),
            Type::Data => Identity::Name(std::ptr::from_ref(&DATA).addr()),
            Type::RichData => Identity::Name(std::ptr::from_ref(&RICH_DATA).addr()),
            other => Identity::Place(std::ptr::from_ref(other).addr()),
        }
    }
}

/// Where something is in memory. A name is not at the same place as what it stands for, even if it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity {
    Name(usize),
    Place(usize),
}

/// A walk through two types. It is bounded, whatever names lead to.
#[derive(Default)]
pub(super) struct Guard {
    depth: u32,
    lost: bool,
    memory: Option<Memory>,
}

/// Where a walk has been since it came through a name that leads back to itself.
///
/// It ends once both sides have come back to a name. Names on the other side are never left, as in the real
/// compiler, whose answers about two such types depend on it.
#[derive(Default)]
struct Memory {
    these: Vec<Identity>,
    those: Vec<Identity>,
    again_in_this: bool,
    again_in_that: bool,
}

/// Whether a name was new to a walk.
pub(super) enum Entered {
    New,
    Again,
}

impl Guard {
    /// Values are at most 1,000 levels deep, and a level of data takes three steps. Who comes here goes in circles.
    const DEEPEST: u32 = 4_000;

    /// Goes a step deeper, unless that leads nowhere.
    pub(super) fn deeper(&mut self) -> bool {
        self.lost |= self.depth == Self::DEEPEST;
        self.depth += u32::from(!self.lost);
        !self.lost
    }

    pub(super) fn back(&mut self) {
        self.depth -= 1;
    }

    /// Asks while remembering names, from here on if not already.
    pub(super) fn remembering(&mut self, ask: impl FnOnce(&mut Self) -> bool) -> bool {
        let first = self.memory.is_none();
        if first {
            self.memory = Some(Memory::default());
        }
        let answer = ask(self);
        if first {
            self.memory = None;
        }
        answer
    }

    /// Asks as if no names had been met.
    pub(super) fn forgetting(&mut self, ask: impl FnOnce(&mut Self) -> bool) -> bool {
        let memory = self.memory.take();
        let answer = ask(self);
        self.memory = memory;
        answer
    }

    pub(super) fn enter_this(&mut self, this: &Type) -> Entered {
        let memory = self.memory.get_or_insert_default();
        if memory.again_in_this {
            return Entered::Again;
        }
        if memory.these.contains(&this.identity()) {
            memory.again_in_this = true;
            return Entered::Again;
        }
        memory.these.push(this.identity());
        Entered::New
    }

    pub(super) fn leave_this(&mut self, this: &Type) {
        let memory = self.memory.get_or_insert_default();
        memory.again_in_this = false;
        memory.these.retain(|it| *it != this.identity());
    }

    pub(super) fn enter_that(&mut self, that: &Type) {
        let memory = self.memory.get_or_insert_default();
        if memory.again_in_that {
            return;
        }
        match memory.those.contains(&that.identity()) {
            true => memory.again_in_that = true,
            false => memory.those.push(that.identity()),
        }
    }

    pub(super) fn is_in_both(&self) -> bool {
        let memory = self.memory.as_ref();
        memory.is_some_and(|memory| memory.again_in_this && memory.again_in_that)
    }
}

/// Where a walk through a value has been: names, and what was asked about.
#[derive(Default)]
pub(super) struct Path(Vec<(Identity, Identity)>);

impl Path {
    pub(super) fn enter(&mut self, this: &Type, datum: &Datum) -> Entered {
        let place = Identity::Place(std::ptr::from_ref(datum).addr());
        let pair = (this.identity(), place);
        if self.0.contains(&pair) {
            return Entered::Again;
        }
        self.0.push(pair);
        Entered::New
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }
}
