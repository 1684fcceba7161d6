//! What is promised about the measurements, and whether it holds.

use crate::catalogs;
use crate::contenders::Contender::{self, Floor, Hence, HenceCf2, HencePuppet, Jrsonnet, Puppet};
use crate::nodes::NODES;
use crate::report::Instructions;
use crate::rounds::{Measurements, Purpose, milliseconds};
use crate::site::{self, SITE};

/// A promise next to what was measured.
#[derive(Debug, PartialEq)]
pub struct Bound {
    /// What is bounded, in words.
    pub what: String,
    /// What was measured.
    pub measured: f64,
    /// What is promised.
    pub at_most: f64,
    /// What both are counted in; nothing for a ratio.
    pub unit: &'static str,
}

impl Bound {
    /// Whether the promise is kept.
    pub fn holds(&self) -> bool {
        self.measured <= self.at_most
    }
}

/// The case on which memory and queries are measured.
pub const LARGEST_FLEET: &str = "fleet-10000";

/// How much time a compiler may take.
struct Allowed {
    compiler: Contender,
    /// Of jrsonnet's, in each of the cases.
    of_jrsonnet: f64,
    /// Of the floor's.
    of_floor: &'static [(&'static str, f64)],
}

const ALLOWED: [Allowed; 2] = [
    Allowed {
        compiler: Hence,
        of_jrsonnet: 0.15,
        of_floor: &[
            ("fleet-1000", 0.3),
            (LARGEST_FLEET, 0.3),
            ("deep", 1.5),
            ("wide-100000", 0.8),
            ("imports", 2.0),
        ],
    },
    Allowed {
        compiler: HenceCf2,
        of_jrsonnet: 0.25,
        of_floor: &[
            ("fleet-1000", 0.6),
            (LARGEST_FLEET, 0.6),
            ("wide-10000", 1.0),
            ("wide-100000", 1.0),
            ("imports", 2.0),
        ],
    },
];

/// One command for all nodes may take this much of what a process for each does.
const OF_PROCESSES: f64 = 0.3;

/// The case that everything else is counted beyond.
pub const EMPTY: &str = "(empty)";

/// Ten times the size may take eleven times as long, and eleven times as many instructions. The first also tells of caches,
/// in which small cases fit; the second of nothing but what is done.
const GROWTH: (&str, &str) = ("fleet-1000", LARGEST_FLEET);

/// A block that no cache holds costs more an attribute than one that does, whoever reads it: its growth
/// is compared with that of the floor.
const LINEAR: (&str, &str) = ("wide-10000", "wide-100000");

/// Of the real compiler's time and memory, a catalog may take this much.
const OF_REAL_TIME: f64 = 0.01;
const OF_REAL_MEMORY: f64 = 0.2;

/// Five times as many things may take five and a half times as long, and as many instructions.
const GROWTH_OF_CATALOGS: (&str, &str, f64) = (catalogs::LARGE, catalogs::LARGEST, 5.5);

/// Whether the instructions of a compilation are needed to tell how something grows.
pub fn is_counted(case: &str, by: Contender) -> bool {
    let (small, large, _) = GROWTH_OF_CATALOGS;
    let of = |(small, large): (&str, &str)| case == EMPTY || case == small || case == large;
    match by {
        Hence => of(GROWTH) || of(LINEAR),
        Floor => of(LINEAR),
        HencePuppet => of((small, large)),
        _ => false,
    }
}

/// Every promise about something that was measured.
pub fn bounds(
    measured: &Measurements,
    largest_fleet_output: Option<usize>,
    counts: &[Instructions],
) -> Vec<Bound> {
    let mut bounds = Vec::new();
    let time = |case, contender| Some(measured.cost(case, contender)?.milliseconds);
    let mut promise = |what: String, measured: Option<f64>, at_most: f64, unit: &'static str| {
        bounds.extend(measured.map(|measured| Bound {
            what,
            measured,
            at_most,
            unit,
        }));
    };
    let ratio = |over: Option<f64>, under: Option<f64>| Some(over? / under?);

    for allowed in ALLOWED {
        let compiler = allowed.compiler;
        let mut promise_ratio = |case, other: Contender, at_most| {
            let what = format!("{case}: time of {} / {}", compiler.name(), other.name());
            let measured = ratio(time(case, compiler), time(case, other));
            promise(what, measured, at_most, "");
        };
        for &(case, _) in allowed.of_floor {
            promise_ratio(case, Jrsonnet, allowed.of_jrsonnet);
        }
        for &(case, at_most) in allowed.of_floor {
            promise_ratio(case, Floor, at_most);
        }
    }
    let count = |case: &str, by: Contender| {
        let mut counts = counts.iter();
        let found = counts.find(|counted| counted.case == case && counted.by == by.name());
        found.map(|counted| counted.count as f64)
    };
    let beyond = |case, by| Some(count(case, by)? - count(EMPTY, by)?);
    let counted = |(small, large), by| ratio(beyond(large, by), beyond(small, by));
    let growth = |(small, large), by| ratio(time(large, by), time(small, by));
    let (small, large) = GROWTH;
    for (what, growth) in [
        ("time", growth(GROWTH, Hence)),
        ("instructions", counted(GROWTH, Hence)),
    ] {
        let what = format!("{large}: {what} of hence / {small}");
        promise(what, growth, 11.0, "");
    }
    let (small, large) = LINEAR;
    for (what, ours, floor) in [
        ("time", growth(LINEAR, Hence), growth(LINEAR, Floor)),
        (
            "instructions",
            counted(LINEAR, Hence),
            counted(LINEAR, Floor),
        ),
    ] {
        let what = format!("{small} to {large}: growth in {what} of hence / floor");
        promise(what, ratio(ours, floor), 1.1, "");
    }

    let memory = measured.cost(LARGEST_FLEET, Hence).map(|cost| cost.bytes);
    let output = largest_fleet_output.map(|bytes| bytes as f64);
    promise(
        format!("{LARGEST_FLEET}: memory of hence / output"),
        ratio(memory, output),
        1.5,
        "",
    );

    let large = catalogs::LARGE;
    let memory = |contender| Some(measured.cost(large, contender)?.bytes);
    promise(
        format!("{large}: time of hence-puppet / puppet"),
        ratio(time(large, HencePuppet), time(large, Puppet)),
        OF_REAL_TIME,
        "",
    );
    promise(
        format!("{large}: memory of hence-puppet / puppet"),
        ratio(memory(HencePuppet), memory(Puppet)),
        OF_REAL_MEMORY,
        "",
    );
    let (small, large, at_most) = GROWTH_OF_CATALOGS;
    for (what, growth) in [
        ("time", growth((small, large), HencePuppet)),
        ("instructions", counted((small, large), HencePuppet)),
    ] {
        let what = format!("{large}: {what} of hence-puppet / {small}");
        promise(what, growth, at_most, "");
    }
    let whole = |purpose| Some(milliseconds(measured.usage(purpose)?));
    promise(
        format!(
            "site: time of hence-puppet for {} nodes / puppet for {}, warm",
            SITE.nodes,
            site::MORE
        ),
        ratio(
            whole(Purpose::Site(SITE.nodes, HencePuppet)),
            site::warm(measured),
        ),
        1.0,
        "",
    );

    for (case, asked) in [
        (LARGEST_FLEET, Hence),
        (LARGEST_FLEET, HenceCf2),
        (catalogs::LARGE, HencePuppet),
    ] {
        let compile = whole(Purpose::Compile(case, asked));
        let added = |purpose| Some(whole(purpose)? - compile?);
        promise(
            format!(
                "{case}: why of one value by {}, beyond a compile",
                asked.name()
            ),
            added(Purpose::Why(asked)),
            10.0,
            "ms",
        );
        promise(
            format!(
                "{case}: impact of a shared literal by {}, beyond a compile / a compile",
                asked.name()
            ),
            ratio(added(Purpose::Impact(asked)), compile),
            1.0,
            "",
        );
    }
    let apart = NODES.apart(measured).map(milliseconds);
    promise(
        "nodes: time of one command / a process for each".into(),
        ratio(whole(Purpose::Nodes), apart),
        OF_PROCESSES,
        "",
    );
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_measured_is_judged() {
        let measured = Measurements::invented(&[
            (Purpose::Empty(Hence), 0, 0),
            (Purpose::Compile("fleet-1000", Hence), 3, 0),
            (Purpose::Compile(LARGEST_FLEET, Hence), 36, 12_000),
            (Purpose::Why(Hence), 40, 0),
        ]);
        let counts = [(EMPTY, 1), ("fleet-1000", 4), (LARGEST_FLEET, 37)];
        let counts = counts.map(|(case, count)| Instructions {
            case,
            by: Hence.name(),
            count,
        });
        let judged: Vec<_> = bounds(&measured, Some(10_000), &counts)
            .iter()
            .map(|bound| (bound.what.clone(), bound.measured, bound.holds()))
            .collect();
        assert_eq!(
            judged,
            [
                (
                    "fleet-10000: time of hence / fleet-1000".to_string(),
                    12.0,
                    false
                ),
                (
                    "fleet-10000: instructions of hence / fleet-1000".to_string(),
                    12.0,
                    false
                ),
                (
                    "fleet-10000: memory of hence / output".to_string(),
                    1.2,
                    true
                ),
                (
                    "fleet-10000: why of one value by hence, beyond a compile".to_string(),
                    4.0,
                    true
                ),
            ]
        );
    }
}
