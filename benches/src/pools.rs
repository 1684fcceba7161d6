//! Fleets, as library calls on the embedded store: changing what is asserted and activating it.
//!
//! Each run is a process of its own, so that its memory can be told; it measures its steps itself.

use crate::bounds::Bound;
use crate::hash::cpu;
use crate::measure::CommandLine;
use crate::rounds::median;
use hence_fleet::generate::{Shape, valid};
use hence_fleet::stress::{LARGE_FEATURE, LARGE_GROUP, stress};
use hence_fleet::{Distribution, Kind, Words};
use hence_ledger::entry::Origin;
use hence_ledger::{Command, Key, Keys, Value};
use hence_model::random::Random;
use hence_service::{Extent, Leave, Service};
use hence_store::{Redb, Request};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The word by which they are asked for.
pub const NAME: &str = "pools";

/// A fleet to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// The published stress test: 2,010 nodes with 516 parameters each.
    Stress,
    /// A hundred thousand nodes with some of 500 parameters.
    Large,
}

impl Pool {
    /// All of them.
    pub const ALL: [Pool; 2] = [Pool::Stress, Pool::Large];

    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Pool::Stress => "pool-stress",
            Pool::Large => "pool-100000",
        }
    }

    fn assertions(self) -> Vec<(Key, Value)> {
        match self {
            Pool::Stress => stress(),
            Pool::Large => {
                let shape = Shape {
                    nodes: 100_000,
                    groups: 100,
                    features: 100,
                    params: 500,
                    features_per_group: Distribution::Poisson { mean: 5.0 },
                    ..Shape::published()
                };
                valid(&shape, &mut Random::new(1))
            }
        }
    }

    /// What is done to it after the first activation, one after the other: a change and an activation each.
    fn steps(self) -> Vec<(&'static str, Command)> {
        let assert = |key: Key, value: &str| Command::Assert {
            owner: "bench".into(),
            key,
            value: Value::text(value),
        };
        match self {
            Pool::Stress => {
                let group = Kind::Group.key(LARGE_GROUP).child("feature");
                let large = group.child(LARGE_FEATURE);
                let node = Kind::Node.key("node77.example.com").child("param");
                vec![
                    (TOGGLE, Command::Retract(Keys::Only(large.clone()))),
                    (TOGGLE, assert(large, "0")),
                    (ONE_NODE, assert(node.child("param_3"), "mine")),
                    (ONE_NODE, assert(node.child("param_3"), "other")),
                ]
            }
            Pool::Large => {
                let param = Kind::Group
                    .key("+++default")
                    .child("param")
                    .child("param_7");
                vec![
                    (DEFAULT_GROUP, assert(param.clone(), "7")),
                    (DEFAULT_GROUP, assert(param, "8")),
                ]
            }
        }
    }
}

/// The steps that are measured.
pub const FIRST: &str = "first activation";
/// A feature of the large group is taken away or added.
pub const TOGGLE: &str = "toggle a feature of the large group, and activate";
/// One node gets a value.
pub const ONE_NODE: &str = "change one node, and activate";
/// Every node gets a value.
pub const DEFAULT_GROUP: &str = "change the default group, and activate";

/// What a pool took: the CPU time of each step in milliseconds, and the peak of memory in bytes.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// In the order of the steps.
    pub steps: Vec<(String, f64)>,
    /// The peak.
    pub peak: u64,
}

/// Does all steps on a new store in a directory, and prints what they took.
pub fn run(name: &str, directory: &Path) -> io::Result<()> {
    let pool = Pool::ALL.into_iter().find(|pool| pool.name() == name);
    let pool = pool.ok_or_else(|| io::Error::other(format!("there is no pool {name}")))?;
    let _ = fs::remove_dir_all(directory);
    let store = Redb::open(directory).map_err(io::Error::other)?;
    let mut service =
        Service::open(Box::new(store)).map_err(|why| io::Error::other(format!("{why:?}")))?;
    let mut figures = Vec::new();
    let assertions = pool.assertions();
    let commands = [Command::apply("bench", assertions, &Words)];
    timed(&mut figures, "load", || commit(&mut service, &commands))?;
    drop(commands);
    timed(&mut figures, FIRST, || activate(&mut service))?;
    for (step, command) in pool.steps() {
        timed(&mut figures, step, || {
            commit(&mut service, std::slice::from_ref(&command))?;
            activate(&mut service)
        })?;
    }
    for (step, time) in figures {
        println!("{}\t{step}", time.as_secs_f64() * 1000.0);
    }
    Ok(())
}

fn timed(
    figures: &mut Vec<(&'static str, Duration)>,
    step: &'static str,
    work: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let before = cpu()?;
    work()?;
    figures.push((step, cpu()? - before));
    Ok(())
}

fn request() -> Request {
    Request {
        author: "bench".into(),
        owner: "bench".into(),
        time: 0,
        message: String::new(),
        origin: Origin::Command("bench".into()),
        objects: Vec::new(),
        if_version: None,
    }
}

fn commit(service: &mut Service, commands: &[Command]) -> io::Result<()> {
    let done = service.commit(&request(), commands, &Leave::default());
    done.map(drop)
        .map_err(|why| io::Error::other(format!("{why:?}")))
}

fn activate(service: &mut Service) -> io::Result<()> {
    let done = service.activate(&request(), &Extent::Everything, None);
    done.map(drop)
        .map_err(|why| io::Error::other(format!("{why:?}")))
}

/// Runs a pool so many times, each in a process of its own, and takes the medians; of a step that is done several times
/// in a run, of all of them.
pub fn measure(pool: Pool, program: &Path, directory: &Path, rounds: usize) -> io::Result<Figures> {
    let mut times: Vec<(String, Vec<Duration>)> = Vec::new();
    let mut peaks = Vec::new();
    for _ in 0..rounds {
        let output = directory.join("figures");
        let store = directory.join("store");
        fs::create_dir_all(directory)?;
        let arguments = [NAME.into(), pool.name().into(), store.into_os_string()];
        let command = CommandLine::new(program, arguments);
        peaks.push(crate::measure::measure(&command, &output)?.peak);
        for line in fs::read_to_string(&output)?.lines() {
            let (time, step) = line.split_once('\t').unwrap_or_default();
            let time: f64 = time.parse().map_err(io::Error::other)?;
            let time = Duration::from_secs_f64(time / 1000.0);
            match times.iter_mut().find(|(other, _)| other == step) {
                Some((_, times)) => times.push(time),
                None => times.push((step.to_owned(), vec![time])),
            }
        }
    }
    fs::remove_dir_all(directory.join("store"))?;
    let median_of = |times: Vec<Duration>| median(times.into_iter()).as_secs_f64() * 1000.0;
    Ok(Figures {
        steps: times
            .into_iter()
            .map(|(step, times)| (step, median_of(times)))
            .collect(),
        peak: median(peaks.into_iter()),
    })
}

impl Figures {
    /// What is promised about them.
    pub fn bounds(&self, pool: Pool) -> Vec<Bound> {
        let promised: &[(&str, f64)] = match pool {
            Pool::Stress => &[(FIRST, 200.0), (TOGGLE, 30.0), (ONE_NODE, 2.0)],
            Pool::Large => &[(DEFAULT_GROUP, 1000.0)],
        };
        let mut bounds = Vec::new();
        for (step, at_most) in promised {
            let measured = self.steps.iter().find(|(other, _)| other == step);
            bounds.extend(measured.map(|(_, measured)| Bound {
                what: format!("{}: {step}", pool.name()),
                measured: *measured,
                at_most: *at_most,
                unit: "ms",
            }));
        }
        if pool == Pool::Large {
            bounds.push(Bound {
                what: format!("{}: memory", pool.name()),
                measured: self.peak as f64 / 1e6,
                at_most: 1000.0,
                unit: "MB",
            });
        }
        bounds
    }
}
