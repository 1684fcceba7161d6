//! What one change can break, whatever the nodes are: properties 1, 2 and 5 of §5.2, and the form of values.
//!
//! Only what stands around the changed keys is looked at, so checking a change costs no more than the change.

use std::collections::BTreeSet;

use hence_ledger::{Change, Key, Value};
use hence_model::diagnostic::{Code, Diagnostic};

use crate::bits::Bits;
use crate::kind::ValueKind;
use crate::pool::{Feature, Param, Pool};
use crate::table::{Named, Table};
use crate::words::{Kind, Phrase};

/// Something includes itself or depends on itself, directly or not (properties 1 and 2).
pub const CYCLE: Code = Code::of_rule("fleet.cycle", "1, 2");
/// Something conflicts with itself, or with what it needs (property 5).
pub const CONFLICT_WITH_ITSELF: Code = Code::of_rule("fleet.conflict-with-itself", "5");
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
        troubles: Vec::new(),
    };
    let mut touched = Touched::default();
    for change in changes {
        if let Some(assertion) = &change.after {
            checker.assertion(&change.key, &assertion.value);
        }
        touched.note(pool, change);
    }
    for param in touched.metadata.iter() {
        checker.metadata(param);
    }
    checker.features(&touched);
    checker.params(&touched);
    checker.troubles
}

/// The features and parameters around the changed keys.
#[derive(Default)]
struct Touched {
    features: Bits,
    /// Parameters that relate to others otherwise, or are bound where they were not.
    params: Bits,
    /// Parameters with another kind or default.
    metadata: Bits,
}

impl Touched {
    fn note(&mut self, pool: &Pool, change: &Change) {
        let Some(phrase) = Phrase::of(&change.key) else {
            return;
        };
        match phrase.kind {
            Kind::Feature => self.features.extend(pool.features.find(&phrase.name)),
            Kind::Param => {
                let param = pool.params.find(&phrase.name);
                self.params.extend(param);
                self.metadata.extend(param);
            }
            Kind::Node | Kind::Group | Kind::Subsystem => {}
        }
    }
}

struct Checker<'p> {
    pool: &'p Pool,
    troubles: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// The form of one value.
    fn assertion(&mut self, key: &Key, value: &Value) {
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
                self.troubles.push(Diagnostic::error(TOO_LONG, message));
            }
            "level" if text.parse::<i64>().is_err() => {
                let message = format!("a level is a whole number, `{key}` would be `{text}`");
                self.troubles.push(Diagnostic::error(WRONG_VALUE, message));
            }
            "param" if clause.kind != Kind::Subsystem => {
                let param = about.and_then(|name| self.pool.params.known(&name));
                // The kind is checked where the parameter is.
                let kind = param.and_then(|param| {
                    ValueKind::parse(self.pool.params.get(param).kind.as_ref()?).ok()
                });
                if let Some(kind) = kind {
                    self.value(key, text, &kind);
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, key: &Key, written: &str, kind: &ValueKind) {
        if let Some(objection) = kind.objection(written) {
            let message = format!("`{key}` has a wrong value: {objection}");
            self.troubles.push(Diagnostic::error(WRONG_VALUE, message));
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
            let help = format!("`retract {key}/default` or `retract {key}/must-change`");
            self.troubles
                .push(Diagnostic::error(NEEDLESS_DEFAULT, message).help(help));
        }
        let Some(written) = &param.kind else {
            return;
        };
        let kind = match ValueKind::parse(written) {
            Ok(kind) => kind,
            Err((message, help)) => {
                let message = format!("`{key}/kind`: {message}");
                self.troubles
                    .push(Diagnostic::error(UNKNOWN_KIND, message).help(help));
                return;
            }
        };
        if let ValueKind::Text = kind {
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

    fn features(&mut self, touched: &Touched) {
        let pool = self.pool;
        let next = |feature: &Feature| {
            let mut next: Bits = feature.include.iter().map(|&(_, other)| other).collect();
            next.add(&feature.depend);
            next
        };
        self.cycles(
            "feature",
            &pool.features,
            &touched.features,
            next,
            |feature| &feature.needs,
        );
        let concerned: Vec<u32> = by_closure(
            &pool.features,
            |feature| feature.needs.meets(&touched.features),
            |feature| &feature.needs,
        );
        let mut told = BTreeSet::new();
        for number in concerned {
            let feature = pool.features.get(number);
            for (a, b) in pairs(&feature.needs, |a| &pool.features.get(a).clashes) {
                if told.insert((a, b)) {
                    let ways = [a, b].map(|end| chain(&pool.features, number, end, next));
                    self.conflict(
                        "feature",
                        &pool.features.called(number),
                        [a, b].map(|end| pool.features.called(end)),
                        ways,
                    );
                }
            }
            for (param, partial) in feature.partials.iter() {
                if partial.is_too_long() {
                    let message = format!(
                        "feature `{}` would make `{}` too long",
                        pool.features.called(number),
                        pool.params.called(*param)
                    );
                    let help = "a feature that is included by several is applied several times";
                    self.troubles
                        .push(Diagnostic::error(TOO_LONG, message).help(help));
                }
            }
        }
    }

    fn params(&mut self, touched: &Touched) {
        let pool = self.pool;
        let next = |param: &Param| param.depend.clone();
        self.cycles("parameter", &pool.params, &touched.params, next, |param| {
            &param.needs
        });
        let concerned: Vec<u32> = by_closure(
            &pool.params,
            |param| param.needs.meets(&touched.params),
            |param| &param.needs,
        );
        let mut told = BTreeSet::new();
        for number in concerned {
            let param = pool.params.get(number);
            for (a, b) in pairs(&param.needs, |a| &pool.params.get(a).clashes) {
                if told.insert((a, b)) {
                    let ways = [a, b].map(|end| chain(&pool.params, number, end, next));
                    self.conflict(
                        "parameter",
                        &pool.params.called(number),
                        [a, b].map(|end| pool.params.called(end)),
                        ways,
                    );
                }
            }
        }
        let features = by_closure(&pool.features, |_| true, |feature| &feature.needs);
        for number in features {
            let feature = pool.features.get(number);
            let (set, needed) = self.set_by(feature);
            let concerned = feature.needs.meets(&touched.features) || needed.meets(&touched.params);
            if !concerned {
                continue;
            }
            for (a, b) in pairs(&needed, |a| &pool.params.get(a).clashes) {
                if told.insert((a, b)) {
                    let ways = [a, b].map(|end| self.way_to_param(number, end, &set));
                    self.conflict(
                        "feature",
                        &pool.features.called(number),
                        [a, b].map(|end| pool.params.called(end)),
                        ways,
                    );
                }
            }
        }
    }

    /// The parameters that a feature and all it needs set, and with them those that these need.
    fn set_by(&self, feature: &Feature) -> (Bits, Bits) {
        let mut set = Bits::default();
        for other in feature.needs.iter() {
            let params = self.pool.features.get(other).params.keys().copied();
            set.extend(params.filter(|&param| self.pool.params.is_known(param)));
        }
        let mut needed = Bits::default();
        for param in set.iter() {
            needed.add(&self.pool.params.get(param).needs);
        }
        (set, needed)
    }

    /// The features down to one that sets a parameter, and the parameters from there to this one.
    fn way_to_param(&self, feature: u32, param: u32, set: &Bits) -> Vec<String> {
        let pool = self.pool;
        let leads = |from: &u32| pool.params.get(*from).needs.contains(param);
        let first = set.iter().find(leads).unwrap_or(param);
        let sets = |other: &u32| pool.features.get(*other).params.contains_key(&first);
        let last = pool
            .features
            .get(feature)
            .needs
            .iter()
            .find(sets)
            .unwrap_or(feature);
        let next = |feature: &Feature| {
            let mut next: Bits = feature.include.iter().map(|&(_, other)| other).collect();
            next.add(&feature.depend);
            next
        };
        let mut way = chain(&pool.features, feature, last, next);
        way.extend(chain(&pool.params, first, param, |param| {
            param.depend.clone()
        }));
        way
    }

    /// Those among some that are on a circle.
    fn cycles<T: Named>(
        &mut self,
        what: &str,
        table: &Table<T>,
        among: &Bits,
        next: impl Fn(&T) -> Bits + Copy,
        needs: impl Fn(&T) -> &Bits,
    ) {
        let mut told = Bits::default();
        for number in among.iter().filter(|&number| table.is_known(number)) {
            let leads_back = |other: &u32| needs(table.get(*other)).contains(number);
            let Some(first) = next(table.get(number)).iter().find(leads_back) else {
                continue;
            };
            // A circle is told once, whoever on it was touched.
            if told.contains(number) {
                continue;
            }
            let mut way = vec![table.called(number).to_string()];
            way.extend(chain(table, first, number, next));
            for (other, row) in table.iter() {
                if needs(row).contains(number) && needs(table.get(number)).contains(other) {
                    told.insert(other);
                }
            }
            let message = match first == number {
                true => format!("{what} `{}` would need itself", way[0]),
                false => format!("{what} `{}` would need itself: {}", way[0], arrows(&way)),
            };
            let help = "what something includes and depends on must not lead back to it";
            self.troubles
                .push(Diagnostic::error(CYCLE, message).help(help));
        }
    }

    fn conflict(
        &mut self,
        what: &str,
        name: &str,
        [a, b]: [ecow::EcoString; 2],
        ways: [Vec<String>; 2],
    ) {
        let message = match a == b {
            true => format!("{what} `{a}` would conflict with itself"),
            false => format!(
                "{what} `{name}` would conflict with itself: it needs `{a}` and `{b}`, which conflict"
            ),
        };
        let mut diagnostic = Diagnostic::error(CONFLICT_WITH_ITSELF, message);
        for way in ways.iter().filter(|way| way.len() > 1) {
            diagnostic = diagnostic.help(format!(
                "it needs `{}` by {}",
                way[way.len() - 1],
                arrows(way)
            ));
        }
        self.troubles.push(diagnostic);
    }
}

/// Those that a change concerns, the ones that need least first: where a conflict is told, it is nearest.
fn by_closure<T: Named>(
    table: &Table<T>,
    is_concerned: impl Fn(&T) -> bool,
    needs: impl Fn(&T) -> &Bits,
) -> Vec<u32> {
    let rows = table
        .iter()
        .filter(|(_, row)| row.entity().spelling.is_some() && is_concerned(row));
    let mut numbers: Vec<u32> = rows.map(|(number, _)| number).collect();
    numbers.sort_by_cached_key(|&number| (needs(table.get(number)).len(), table.called(number)));
    numbers
}

/// The pairs in a set that conflict, each once.
fn pairs<'p>(set: &Bits, clashes: impl Fn(u32) -> &'p Bits) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for a in set.iter() {
        let with = clashes(a);
        if with.meets(set) {
            pairs.extend(
                with.iter()
                    .filter(|&b| a <= b && set.contains(b))
                    .map(|b| (a, b)),
            );
        }
    }
    pairs
}

/// A shortest way from one to another, both included.
fn chain<T: Named>(table: &Table<T>, from: u32, to: u32, next: impl Fn(&T) -> Bits) -> Vec<String> {
    let mut came: Vec<Option<u32>> = vec![None; table.len() as usize];
    let mut queue = std::collections::VecDeque::from([from]);
    let mut seen: Bits = [from].into_iter().collect();
    while let Some(at) = queue.pop_front() {
        if at == to {
            break;
        }
        for other in next(table.get(at)).iter() {
            if table.is_known(other) && seen.insert(other) {
                came[other as usize] = Some(at);
                queue.push_back(other);
            }
        }
    }
    let mut way = vec![table.called(to).to_string()];
    let mut at = to;
    while let Some(before) = came[at as usize] {
        way.push(table.called(before).to_string());
        at = before;
    }
    way.reverse();
    way
}

fn arrows(way: &[String]) -> String {
    let names: Vec<String> = way.iter().map(|name| format!("`{name}`")).collect();
    names.join(" → ")
}
