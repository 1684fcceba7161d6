//! Many runs of many commands, interleaved, and what they come to.
//!
//! A round runs every command, so whatever slows the machine down for a while slows all of them
//! down; the median over the rounds then forgets it. Each round has an order of its own: what ran just
//! before leaves the caches warm or cold, which is worth half a millisecond, a fifth of what a small case
//! costs. Ratios are only ever taken between medians of the same rounds.

use crate::contenders::Contender;
use crate::measure::{CommandLine, Usage, measure};
use hence_model::random::Random;
use std::io;
use std::path::Path;
use std::time::Duration;

/// What a command is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What a contender costs before it does anything.
    Empty(Contender),
    /// A contender compiles the case of this name.
    Compile(&'static str, Contender),
    /// Hence says why one value is what it is: of the largest fleet, or of a class in Puppet.
    Why(Contender),
    /// Hence says what a literal reaches that all machines, or all things of the class, have in common.
    Impact(Contender),
    /// Hence compiles all nodes with one command.
    Nodes,
    /// Hence compiles one of the sample of nodes.
    Node(usize),
    /// A contender compiles so many nodes of a site in Puppet in one process.
    Site(usize, Contender),
}

impl Purpose {
    /// In how many rounds of so many it is run.
    fn rounds(self, rounds: usize) -> usize {
        match self {
            Purpose::Empty(contender)
            | Purpose::Compile(_, contender)
            | Purpose::Site(_, contender) => contender.rounds(rounds),
            _ => rounds,
        }
    }
}

/// A command that takes less is so near to what starting it takes that noise counts twice,
const QUICK: Duration = Duration::from_millis(30);
/// and is run so much more often in a round.
const AGAIN: usize = 4;

/// The medians of all rounds.
pub struct Measurements {
    runs: Vec<(Purpose, Usage)>,
}

/// What a run cost beyond the same program on an empty file. Noise can make it negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// CPU time in milliseconds.
    pub milliseconds: f64,
    /// Peak memory in bytes.
    pub bytes: f64,
}

impl Measurements {
    /// Runs every command in each of its rounds, its output discarded: once, or more often if it is quick.
    pub fn take(
        commands: &[(Purpose, CommandLine)],
        rounds: usize,
        mut before_round: impl FnMut(usize) -> io::Result<()>,
    ) -> io::Result<Measurements> {
        let mut usages: Vec<Vec<Usage>> = vec![Vec::new(); commands.len()];
        let mut turns: Vec<usize> = (0..commands.len()).collect();
        for round in 0..rounds {
            before_round(round)?;
            for turn in order(turns.len(), round) {
                let at = turns[turn];
                let (purpose, command) = &commands[at];
                if round < purpose.rounds(rounds) {
                    usages[at].push(measure(command, Path::new("/dev/null"))?);
                }
            }
            if round == 0 {
                let is_quick = |at: &usize| usages[*at].iter().all(|usage| usage.cpu < QUICK);
                let quick: Vec<usize> = (0..commands.len()).filter(is_quick).collect();
                turns.extend(quick.repeat(AGAIN));
            }
        }
        let purposes = commands.iter().map(|(purpose, _)| *purpose);
        Ok(Measurements {
            runs: purposes
                .zip(usages.iter().map(|runs| median_usage(runs)))
                .collect(),
        })
    }

    /// What was used for this purpose, if it was measured.
    pub fn usage(&self, purpose: Purpose) -> Option<Usage> {
        self.runs
            .iter()
            .find(|(measured, _)| *measured == purpose)
            .map(|(_, usage)| *usage)
    }

    /// What compiling a case cost a contender, its empty run subtracted.
    pub fn cost(&self, case: &'static str, contender: Contender) -> Option<Cost> {
        let run = self.usage(Purpose::Compile(case, contender))?;
        let empty = self.usage(Purpose::Empty(contender))?;
        Some(Cost {
            milliseconds: milliseconds(run) - milliseconds(empty),
            bytes: run.peak as f64 - empty.peak as f64,
        })
    }
}

/// In which order a round runs so many commands: as good as any, and the same in every run of `./bench`.
fn order(commands: usize, round: usize) -> Vec<usize> {
    let mut random = Random::new(round as u64);
    let mut order: Vec<usize> = (0..commands).collect();
    for last in (1..commands).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// The CPU time of a whole process.
pub fn milliseconds(usage: Usage) -> f64 {
    usage.cpu.as_secs_f64() * 1e3
}

fn median_usage(runs: &[Usage]) -> Usage {
    Usage {
        cpu: median(runs.iter().map(|usage| usage.cpu)),
        elapsed: median(runs.iter().map(|usage| usage.elapsed)),
        peak: median(runs.iter().map(|usage| usage.peak)),
    }
}

/// The middle one of some values.
pub fn median<T: Ord + Copy>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values[values.len() / 2]
}

#[cfg(test)]
impl Measurements {
    /// Measurements that somebody made up: purpose, milliseconds, bytes.
    pub fn invented(runs: &[(Purpose, u64, u64)]) -> Measurements {
        let usage = |milliseconds, peak| Usage {
            cpu: std::time::Duration::from_millis(milliseconds),
            elapsed: std::time::Duration::from_millis(milliseconds),
            peak,
        };
        Measurements {
            runs: runs
                .iter()
                .map(|&(purpose, cpu, peak)| (purpose, usage(cpu, peak)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_forgets_a_slow_run() {
        assert_eq!(median([3, 1, 900, 2, 4].into_iter()), 3);
    }

    #[test]
    fn every_round_runs_everything_once_in_an_order_of_its_own() {
        let orders: Vec<Vec<usize>> = (0..11).map(|round| order(30, round)).collect();
        for (round, order) in orders.iter().enumerate() {
            let mut all = order.clone();
            all.sort_unstable();
            assert_eq!(all, (0..30).collect::<Vec<_>>());
            assert!(!orders[..round].contains(order));
        }
    }

    #[test]
    fn an_empty_run_is_subtracted() {
        let measurements = Measurements::invented(&[
            (Purpose::Empty(Contender::Hence), 1, 2_000),
            (Purpose::Compile("wide", Contender::Hence), 21, 9_000),
        ]);
        let cost = Cost {
            milliseconds: 20.0,
            bytes: 7_000.0,
        };
        assert_eq!(measurements.cost("wide", Contender::Hence), Some(cost));
        assert_eq!(measurements.cost("wide", Contender::Floor), None);
    }
}
