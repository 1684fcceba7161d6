//! Rollouts: activations in stages.
//!
//! A rollout is a fact of the history like everything else: each entry says how far it is, and whoever reads the newest one
//! can go on with it. What is to be done next depends on the rollout, on what nodes reported and on the time, and on nothing
//! that a server would have to remember ([`Rollout::next`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::entry::Extent;

/// An activation in stages, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// The version whose assertions all nodes are to run in the end.
    pub target: u64,
    /// The version with which it began. What nodes were to run then is what they run again if it is rolled back.
    pub began: u64,
    /// Who began it.
    pub author: String,
    /// Who comes first, and who then.
    pub stages: Vec<Stage>,
    /// When a stage is good.
    pub terms: Terms,
    /// How many stages are behind it.
    pub behind: usize,
    /// When its newest activation was, or when it was resumed, in milliseconds since 1970.
    pub since: u64,
    /// Whether it goes on.
    pub status: Status,
    /// The activation that took it back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub back: Option<u64>,
}

/// A part of a rollout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Which nodes; those of earlier stages are left alone.
    pub extent: Extent,
    /// The activations that it consists of so far; more than one if there is a budget.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub activations: Vec<u64>,
    /// Whether these reached all of its nodes.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub whole: bool,
    /// What had become of its nodes when the rollout was taken back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub became: Option<Became>,
}

/// What had become of the nodes of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Became {
    /// How many nodes were given another configuration by it.
    pub changed: u64,
    /// How many of them ran it.
    pub succeeded: u64,
    /// Which of them could not, and why; if there are many, some.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub failed: BTreeMap<String, String>,
}

/// When a stage is good, and what becomes of the rollout if one is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// So many in a hundred of its nodes must run what they were given,
    pub success: u8,
    /// within so many milliseconds,
    pub within: u64,
    /// while at most so many nodes fail.
    pub failures: u64,
    /// What becomes of the rollout otherwise.
    pub otherwise: Otherwise,
    /// So many nodes may restart something at a time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restarts: Option<u64>,
}

/// What becomes of a rollout with a stage that is not good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Otherwise {
    /// It goes no further.
    #[default]
    Stop,
    /// All nodes go back to what they were to run before it.
    RollBack,
}

/// Whether a rollout goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It does.
    Running,
    /// Not until somebody says so.
    Paused,
    /// It went no further, for this reason.
    Stopped(String),
    /// It was taken back, for this reason.
    RolledBack(String),
    /// All of it is done.
    Done,
}

impl Status {
    /// Its word.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Paused => "paused",
            Status::Stopped(_) => "stopped",
            Status::RolledBack(_) => "rolled-back",
            Status::Done => "done",
        }
    }

    /// Why it went no further.
    pub fn why(&self) -> Option<&str> {
        match self {
            Status::Stopped(why) | Status::RolledBack(why) => Some(why),
            Status::Running | Status::Paused | Status::Done => None,
        }
    }
}

/// What became of the nodes that a stage gave another configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many there are.
    pub meant: u64,
    /// How many run it.
    pub succeeded: u64,
    /// How many could not.
    pub failed: u64,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing, for now.
    Wait,
    /// More of the stage is to be activated: so many nodes that must restart something, or any number.
    Activate(Option<u64>),
    /// The stage is good.
    Advance,
    /// It is not, for this reason.
    Fail(String),
}

impl Rollout {
    /// Whether it is neither finished nor given up, so that nothing else may be activated.
    pub fn is_under_way(&self) -> bool {
        matches!(self.status, Status::Running | Status::Paused)
    }

    /// The stage that is under way; none if all are behind it.
    pub fn stage(&self) -> Option<&Stage> {
        self.stages.get(self.behind)
    }

    /// What is to be done next, given what became of the nodes of each stage so far, up to the one that is under way.
    pub fn next(&self, counts: &[Counts], now: u64) -> Next {
        let (Status::Running, Some(stage), Some(newest)) =
            (&self.status, self.stage(), counts.last())
        else {
            return Next::Wait;
        };
        let fail = |number: usize, why: String| {
            let all = self.stages.len();
            Next::Fail(format!("stage {} of {all}: {why}", number + 1))
        };
        let Terms {
            success,
            failures,
            restarts,
            ..
        } = self.terms;
        // Some nodes fail when others have long gone on.
        for (number, Counts { meant, failed, .. }) in counts.iter().enumerate() {
            if *failed > failures {
                let why = format!("{failed} of {meant} nodes failed, and {failures} may");
                return fail(number, why);
            }
        }
        let Counts {
            meant,
            succeeded,
            failed,
        } = *newest;
        let is_over = now >= self.since.saturating_add(self.terms.within);
        let is_enough = succeeded * 100 >= meant * u64::from(success);
        // Who neither succeeded nor failed may be restarting, until the time is over.
        let restarting = match is_over {
            true => 0,
            false => meant.saturating_sub(succeeded + failed),
        };
        let room = restarts.map(|budget| budget.saturating_sub(restarting));
        match (is_enough, stage.whole) {
            (true, true) => Next::Advance,
            (true, false) if room != Some(0) => Next::Activate(room),
            (false, _) if is_over => {
                let share = succeeded * 100 / meant.max(1);
                let why = format!(
                    "{succeeded} of {meant} nodes ({share} %) succeeded in time, and {success} % must"
                );
                fail(self.behind, why)
            }
            _ => Next::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollout(terms: Terms, whole: bool) -> Rollout {
        let stage = Stage {
            extent: Extent::Everything,
            activations: vec![2],
            whole,
            became: None,
        };
        Rollout {
            target: 1,
            began: 1,
            author: "somebody".to_owned(),
            stages: vec![stage],
            terms,
            behind: 0,
            since: 1000,
            status: Status::Running,
            back: None,
        }
    }

    fn counts(meant: u64, succeeded: u64, failed: u64) -> [Counts; 1] {
        [Counts {
            meant,
            succeeded,
            failed,
        }]
    }

    const TERMS: Terms = Terms {
        success: 90,
        within: 500,
        failures: 1,
        otherwise: Otherwise::Stop,
        restarts: None,
    };

    #[test]
    fn a_stage_is_good_when_enough_nodes_succeeded_and_few_failed() {
        let rollout = rollout(TERMS, true);
        assert_eq!(rollout.next(&counts(10, 8, 1), 1499), Next::Wait);
        assert_eq!(rollout.next(&counts(10, 9, 1), 1499), Next::Advance);
        assert_eq!(
            rollout.next(&counts(0, 0, 0), 1000),
            Next::Advance,
            "nobody is meant"
        );
        let Next::Fail(why) = rollout.next(&counts(10, 8, 1), 1500) else {
            panic!("the time is over");
        };
        assert_eq!(
            why,
            "stage 1 of 1: 8 of 10 nodes (80 %) succeeded in time, and 90 % must"
        );
        let Next::Fail(why) = rollout.next(&counts(100, 98, 2), 1001) else {
            panic!("two failed");
        };
        assert_eq!(why, "stage 1 of 1: 2 of 100 nodes failed, and 1 may");
    }

    #[test]
    fn who_is_restarting_takes_up_the_budget() {
        let terms = Terms {
            restarts: Some(3),
            ..TERMS
        };
        let some = rollout(terms, false);
        assert_eq!(some.next(&counts(0, 0, 0), 1000), Next::Activate(Some(3)));
        assert_eq!(some.next(&counts(20, 17, 0), 1001), Next::Wait);
        assert_eq!(some.next(&counts(20, 18, 1), 1001), Next::Activate(Some(2)));
        assert_eq!(some.next(&counts(40, 37, 0), 1001), Next::Wait);
        // Who is silent for too long is no longer counted as restarting, but as lost.
        assert_eq!(some.next(&counts(40, 37, 0), 1500), Next::Activate(Some(3)));
    }

    #[test]
    fn whatever_is_reported_a_rollout_never_waits_for_ever() {
        for succeeded in 0..=20 {
            for failed in 0..=20 - succeeded {
                for whole in [true, false] {
                    for restarts in [None, Some(1), Some(30)] {
                        let terms = Terms { restarts, ..TERMS };
                        let late = rollout(terms, whole).next(&counts(20, succeeded, failed), 1500);
                        assert_ne!(late, Next::Wait, "{succeeded} {failed} {whole}");
                    }
                }
            }
        }
    }
}
