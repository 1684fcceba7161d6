//! What one change can break, whatever the nodes are: the form of values, and how features and parameters relate
//! ([`relations`](crate::relations)).
//!
//! Only what stands around the changed keys is looked at, so checking a change costs no more than the change.

use std::rc::Rc;

use hence_ledger::{Change, Key, Value};
use hence_model::diagnostic::{Code, Diagnostic};
use rustc_hash::FxHashMap;

use crate::bits::Bits;
use crate::kind::ValueKind;
use crate::pool::Pool;
use crate::words::{Kind, Phrase};

/// A value is not of the kind of its parameter.
pub const WRONG_VALUE: Code = Code::new("fleet.wrong-value");
/// There is no such kind of parameter.
pub const UNKNOWN_KIND: Code = Code::new("fleet.unknown-kind");
/// A parameter must be changed, and has a default.
pub const NEEDLESS_DEFAULT: Code = Code::new("fleet.needless-default");
/// A text is longer than it may be.
pub const TOO_LONG: Code = Code::new("fleet.too-long");

/// How many characters an annotation may have.
pub const LONGEST_ANNOTATION: usize = 65_536;

/// What is wrong after some changes that is around the changed keys.
pub fn check(pool: &Pool, changes: &[Change]) -> Vec<Diagnostic> {
    let mut checker = Checker {
        pool,
        kinds: FxHashMap::default(),
        troubles: Vec::new(),
    };
    let mut touched = Touched::default();
    for change in changes {
        touched.note(pool, change);
    }
    for change in changes {
        if let Some(assertion) = &change.after {
            checker.assertion(&change.key, &assertion.value, &touched);
        }
    }
    for param in touched.params.iter() {
        checker.metadata(param);
    }
    // What stands on nodes and groups only cannot break features or parameters.
    if !touched.features.is_empty() || !touched.params.is_empty() {
        checker.features(&touched);
        checker.params(&touched);
    }
    checker.troubles
}

/// The features and parameters around the changed keys.
#[derive(Default)]
pub(crate) struct Touched {
    pub features: Bits,
    pub params: Bits,
}

impl Touched {
    fn note(&mut self, pool: &Pool, change: &Change) {
        let Some(phrase) = Phrase::of(&change.key) else {
            return;
        };
        match phrase.kind {
            Kind::Feature => self.features.extend(pool.features.find(&phrase.name)),
            Kind::Param => self.params.extend(pool.params.find(&phrase.name)),
            Kind::Node | Kind::Group | Kind::Subsystem => {}
        }
    }
}

/// Collects what is wrong.
pub(crate) struct Checker<'p> {
    pub pool: &'p Pool,
    /// Kinds that were read already; none where there is none, or it is wrong.
    kinds: FxHashMap<u32, Option<Rc<ValueKind>>>,
    pub troubles: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// The form of one value.
    fn assertion(&mut self, key: &Key, value: &Value, touched: &Touched) {
        let Some((clause, about)) = Phrase::of(key).and_then(|phrase| phrase.clause) else {
            return;
        };
        let text = value.as_text().unwrap_or_default();
        match clause.word {
            "annotation" if text.chars().count() > LONGEST_ANNOTATION => {
                let length = text.chars().count();
                let message = format!(
                    "an annotation has at most {LONGEST_ANNOTATION} characters, `{key}` would have {length}"
                );
                let trouble = Diagnostic::error(TOO_LONG, message);
                self.troubles.push(trouble.path(key.as_str()));
            }
            "level" if text.parse::<i64>().is_err() => {
                let message = format!("a level is a whole number, `{key}` would be `{text}`");
                let trouble = Diagnostic::error(WRONG_VALUE, message);
                self.troubles.push(trouble.path(key.as_str()));
            }
            "param" if clause.kind != Kind::Subsystem => {
                let param = about.and_then(|name| self.pool.params.known(&name));
                // All values of a parameter that was touched itself are looked at with it.
                let param = param.filter(|&param| !touched.params.contains(param));
                if let Some(kind) = param.and_then(|param| self.kind(param)) {
                    self.value(key, text, &kind);
                }
            }
            _ => {}
        }
    }

    fn kind(&mut self, param: u32) -> Option<Rc<ValueKind>> {
        let written = &self.pool.params.get(param).kind;
        let read = || ValueKind::parse(written.as_ref()?).ok().map(Rc::new);
        self.kinds.entry(param).or_insert_with(read).clone()
    }

    fn value(&mut self, key: &Key, written: &str, kind: &ValueKind) {
        if let Some(objection) = kind.objection(written) {
            let message = format!("`{key}` has a wrong value: {objection}");
            let trouble = Diagnostic::error(WRONG_VALUE, message);
            self.troubles.push(trouble.path(key.as_str()));
        }
    }

    /// A parameter's kind, and all values against it.
    fn metadata(&mut self, number: u32) {
        let pool = self.pool;
        let param = pool.params.get(number);
        let default = param.default.as_deref().unwrap_or_default();
        let key = pool.param_key(number);
        if param.must_change && !default.is_empty() {
            let message = format!(
                "`{}` must be changed, so its default `{default}` would never be used",
                pool.params.called(number)
            );
            let help =
                format!("`hence retract {key}/default` or `hence retract {key}/must-change`");
            let trouble = Diagnostic::error(NEEDLESS_DEFAULT, message).help(help);
            self.troubles.push(trouble.path(format!("{key}/default")));
        }
        let Some(written) = &param.kind else {
            return;
        };
        let kind = match ValueKind::parse(written) {
            Ok(kind) => kind,
            Err((message, help)) => {
                let message = format!("`{key}/kind`: {message}");
                let trouble = Diagnostic::error(UNKNOWN_KIND, message).help(help);
                self.troubles.push(trouble.path(format!("{key}/kind")));
                return;
            }
        };
        let is_known = param.entity.spelling.is_some();
        if !is_known || matches!(kind, ValueKind::Text) {
            return;
        }
        self.value(&key.child("default"), default, &kind);
        let name = &param.entity.name;
        let groups = pool
            .groups
            .iter()
            .map(|(_, group)| (Kind::Group, &group.entity, &group.body.params));
        let nodes = pool.nodes.iter().filter_map(|(_, node)| {
            Some((Kind::Node, &node.entity, &node.own.as_ref()?.body.params))
        });
        let features = pool
            .features
            .iter()
            .map(|(_, feature)| (Kind::Feature, &feature.entity, &feature.params));
        for (of, entity, values) in groups.chain(nodes).chain(features) {
            if let Some(text) = values.get(&number).and_then(Value::as_text) {
                self.value(
                    &of.key(&entity.name).child("param").child(name),
                    text,
                    &kind,
                );
            }
        }
    }
}
