//! Names that people give to types.
//!
//! What a name stands for may hold the name again, as `type Tree = Array[Variant[Integer, Tree]]` does. So the
//! name exists before its body does, and whoever walks through types has to notice where he has been.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use ecow::EcoString;

use super::{Failure, Type};

/// A name for a type.
pub struct Alias {
    name: EcoString,
    body: OnceLock<Type>,
}

impl Alias {
    /// A name whose type is not yet known.
    pub fn new(name: impl Into<EcoString>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            body: OnceLock::new(),
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
    /// What a name stands for, if the type is one.
    pub(super) fn body(&self) -> Option<&Type> {
        match self {
            Type::Data => Some(&DATA),
            Type::RichData => Some(&RICH_DATA),
            Type::Alias(alias) => alias.body(),
            _ => None,
        }
    }

    /// Whether it is a name for another type.
    pub(super) fn is_alias(&self) -> bool {
        matches!(self, Type::Data | Type::RichData | Type::Alias(_))
    }

    /// What tells a type from others while walking through types.
    fn identity(&self) -> usize {
        match self {
            Type::Alias(alias) => Arc::as_ptr(alias).addr(),
            Type::Data => std::ptr::from_ref(&*DATA).addr(),
            Type::RichData => std::ptr::from_ref(&*RICH_DATA).addr(),
            other => std::ptr::from_ref(other).addr(),
        }
    }
}

/// Where a walk through types has been: pairs of what is asked and of whom.
#[derive(Default)]
pub(super) struct Guard {
    path: Vec<(usize, usize)>,
}

/// Whether a walk goes on.
pub(super) enum Step {
    /// It has been here; what was asked is being answered.
    Again,
    /// It has not; leave when done.
    New,
}

impl Guard {
    /// Values are at most 1,000 levels deep; no honest question goes through more names than this.
    const LONGEST: usize = 2_500;

    pub(super) fn enter(&mut self, this: &Type, that: usize) -> Step {
        let pair = (this.identity(), that);
        if self.path.len() >= Self::LONGEST || self.path.contains(&pair) {
            return Step::Again;
        }
        self.path.push(pair);
        Step::New
    }

    pub(super) fn enter_types(&mut self, this: &Type, that: &Type) -> Step {
        self.enter(this, that.identity())
    }

    pub(super) fn leave(&mut self) {
        self.path.pop();
    }
}
