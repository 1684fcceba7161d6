//! How features and parameters may relate: properties 1, 2 and 5 of §5.2.

use std::collections::{BTreeSet, VecDeque};

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};

use crate::bits::Bits;
use crate::check::{Checker, TOO_LONG, Touched};
use crate::pool::{Feature, Param};
use crate::table::{Named, Table};
use crate::words::Kind;

/// Something includes itself or depends on itself, directly or not (properties 1 and 2).
pub const CYCLE: Code = Code::of_rule("fleet.cycle", "1, 2");
/// Something conflicts with itself, or with what it needs (property 5).
pub const CONFLICT_WITH_ITSELF: Code = Code::of_rule("fleet.conflict-with-itself", "5");
/// A feature is reached in more ways than there is room for.
pub const TOO_OFTEN: Code = Code::new("fleet.too-often");

/// In how many ways a feature may be reached from another: it is applied as often.
pub const MOST_APPLICATIONS: u64 = 65_536;

const AGAIN: &str = "a feature that is included in several ways is applied as many times";

/// The word for it in a sentence.
fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Param => "parameter",
        kind => kind.word(),
    }
}

/// What a feature needs at first hand.
fn needed_by(feature: &Feature) -> Bits {
    let mut next: Bits = feature.include.iter().map(|&(_, other)| other).collect();
    next.add(&feature.depend);
    next
}

impl Checker<'_> {
    pub(crate) fn features(&mut self, touched: &Touched) {
        let pool = self.pool;
        self.cycles(
            Kind::Feature,
            &pool.features,
            &touched.features,
            needed_by,
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
                    let ways = [a, b].map(|end| chain(&pool.features, number, end, needed_by));
                    self.conflict(
                        Kind::Feature,
                        &pool.features.called(number),
                        [a, b].map(|end| pool.features.called(end)),
                        ways,
                    );
                }
            }
            self.too_long(number);
        }
        self.too_often(touched);
    }

    /// What a feature makes of parameters must have room.
    fn too_long(&mut self, number: u32) {
        let pool = self.pool;
        for (param, partial) in pool.features.get(number).partials.iter() {
            if partial.is_too_long() {
                let feature = pool.features.called(number);
                let param = pool.params.called(*param);
                let message = format!("feature `{feature}` would make `{param}` too long");
                let trouble = Diagnostic::error(TOO_LONG, message).help(AGAIN);
                let key = pool.feature_key(number);
                self.troubles.push(trouble.path(key.as_str()));
            }
        }
    }

    /// The ways from a feature to all that it includes can be counted without walking them.
    fn too_often(&mut self, touched: &Touched) {
        let pool = self.pool;
        let mut ways: Vec<u64> = vec![0; pool.features.len() as usize];
        for number in by_closure(&pool.features, |_| true, |feature| &feature.installs) {
            let feature = pool.features.get(number);
            let included = feature.include.iter().map(|&(_, other)| other);
            // Circles are told elsewhere.
            let forward =
                included.filter(|&other| !pool.features.get(other).installs.contains(number));
            let most = forward
                .map(|other| ways[other as usize])
                .fold(1, u64::saturating_add);
            ways[number as usize] = most;
            if most > MOST_APPLICATIONS && feature.installs.meets(&touched.features) {
                let name = pool.features.called(number);
                let message = format!(
                    "feature `{name}` would apply features {most} times, and {MOST_APPLICATIONS} is the most"
                );
                let trouble = Diagnostic::error(TOO_OFTEN, message).help(AGAIN);
                let key = pool.feature_key(number);
                self.troubles.push(trouble.path(key.as_str()));
                // All that include it would say the same.
                return;
            }
        }
    }

    pub(crate) fn params(&mut self, touched: &Touched) {
        let pool = self.pool;
        let next = |param: &Param| param.depend.clone();
        self.cycles(Kind::Param, &pool.params, &touched.params, next, |param| {
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
                        Kind::Param,
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
                        Kind::Feature,
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
        let mut way = chain(&pool.features, feature, last, needed_by);
        way.extend(chain(&pool.params, first, param, |param| {
            param.depend.clone()
        }));
        way
    }

    /// Those among some that are on a circle.
    fn cycles<T: Named>(
        &mut self,
        kind: Kind,
        table: &Table<T>,
        among: &Bits,
        next: impl Fn(&T) -> Bits + Copy,
        needs: impl Fn(&T) -> &Bits,
    ) {
        let what = noun(kind);
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
            let key = kind.key(&table.get(number).entity().name);
            let trouble = Diagnostic::error(CYCLE, message).help(help);
            self.troubles.push(trouble.path(key.as_str()));
        }
    }

    fn conflict(&mut self, kind: Kind, name: &str, [a, b]: [EcoString; 2], ways: [Vec<String>; 2]) {
        let what = noun(kind);
        let message = match a == b {
            true => format!("{what} `{a}` would conflict with itself"),
            false => format!(
                "{what} `{name}` would conflict with itself: it needs `{a}` and `{b}`, which conflict"
            ),
        };
        let mut diagnostic = Diagnostic::error(CONFLICT_WITH_ITSELF, message);
        diagnostic.path = Some(kind.key(name).to_string());
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
    let mut queue = VecDeque::from([from]);
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
