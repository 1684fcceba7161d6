//! Activations in stages, over random fleets whose nodes succeed, fail or say nothing: a rollout always ends, nodes run the
//! old or the new and nothing else, no stage begins before the one before it is good, and it does not matter which server
//! goes on with it.

use std::collections::{BTreeMap, BTreeSet};

use hence_api::words::{Doing, Extent as Which, NewRollout, Outcome, Report};
use hence_fleet::Words;
use hence_ledger::entry::{Active, Extent, Origin};
use hence_ledger::rollout::{Otherwise, Status};
use hence_ledger::{Act, parser};
use hence_model::random::Random;
use hence_model::source::Sources;
use hence_service::rollout::Order;
use hence_service::{Leave, Service};
use hence_store::{Memory, Receipt, Request, Store};

fn request(time: u64) -> Request {
    Request {
        author: "ann".into(),
        owner: "op".into(),
        time,
        message: String::new(),
        origin: Origin::Command("test".into()),
        objects: Vec::new(),
        if_version: None,
    }
}

fn open(store: &Memory) -> Service {
    Service::open(Box::new(store.clone())).unwrap_or_else(|_| panic!("it can be opened"))
}

fn tell(service: &mut Service, commands: &str) {
    let mut sources = Sources::default();
    let file = sources.add("test", commands).expect("there is room");
    let parsed = parser::parse(&sources, file, "op", &Words);
    let commands = parsed
        .unwrap_or_else(|troubles| panic!("{troubles:?}"))
        .commands;
    let done = service.commit(&request(0), &commands, &Leave::default());
    assert!(matches!(done, Ok(Receipt::Done(_))), "{done:?}");
}

/// A fleet of `n0`, `n1`, …, some of which are canaries, and some of which restart when they change.
fn fleet(random: &mut Random, nodes: usize) -> String {
    let mut commands = "assert param/P ; assert param/R ; assert param/R/restart
        assert subsystem/d ; assert subsystem/d/param/R
        assert group/canary ; assert group/all ; assert group/heavy
        assert group/all/param/P 1 ; assert group/heavy/param/R 1\n"
        .to_owned();
    for node in 0..nodes {
        commands += &format!("assert node/n{node} ; assert node/n{node}/group/all 9\n");
        if random.below(4) == 0 {
            commands += &format!("assert node/n{node}/group/canary 1\n");
        }
        if random.below(2) == 0 {
            commands += &format!("assert node/n{node}/group/heavy 2\n");
        }
    }
    commands
}

fn stages(random: &mut Random) -> Vec<Which> {
    let mut stages = Vec::new();
    if random.below(2) == 0 {
        stages.push(Which {
            groups: vec!["canary".into()],
            ..Which::default()
        });
    }
    for percent in [10, 40, 100] {
        if random.below(2) == 0 {
            stages.push(Which {
                percent: Some(percent),
                ..Which::default()
            });
        }
    }
    stages
}

/// What a node does with what it is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    Succeeds,
    Fails,
    SaysNothing,
}

struct World {
    store: Memory,
    servers: Vec<Service>,
    behaviours: Vec<Behaviour>,
    now: u64,
    /// What nodes were to run before the rollout, and are to run after it.
    before: Active,
    target: u64,
}

impl World {
    fn new(random: &mut Random) -> Self {
        let store = Memory::default();
        let mut service = open(&store);
        let nodes = 1 + random.below(12);
        let commands = fleet(random, nodes);
        tell(&mut service, &commands);
        if random.below(4) > 0 {
            let extent = match random.below(3) {
                0 => Extent::Percent(50),
                _ => Extent::Everything,
            };
            service.activate(&request(0), &extent, None).unwrap();
            tell(&mut service, "assert group/all/param/P 2");
            if random.below(3) == 0 {
                let extent = Extent::Percent(30);
                service.activate(&request(0), &extent, None).unwrap();
            }
        }
        tell(
            &mut service,
            "assert group/all/param/P 3 ; assert group/heavy/param/R 2",
        );
        let target = service.repository().version();
        if random.below(3) == 0 {
            // What is asserted later has nothing to do with it.
            tell(&mut service, "assert group/all/param/P 4");
        }
        let behaviours = (0..nodes).map(|_| match random.below(8) {
            0 => Behaviour::Fails,
            1 => Behaviour::SaysNothing,
            _ => Behaviour::Succeeds,
        });
        Self {
            before: service.repository().active().clone(),
            behaviours: behaviours.collect(),
            servers: vec![service, open(&store)],
            store,
            now: 1_000_000,
            target,
        }
    }

    /// Each node fetches what it is to run, and says what came of it.
    fn nodes_report(&mut self, random: &mut Random) {
        let server = &mut self.servers[0];
        server.follow().unwrap();
        for (number, behaviour) in self.behaviours.iter().enumerate() {
            let node = format!("n{number}");
            let version = server.version_of(&node).unwrap();
            if version == 0 || *behaviour == Behaviour::SaysNothing || random.below(3) == 0 {
                continue;
            }
            let is_new = server.repository().active().target(&node) == self.target;
            let report = match (behaviour, is_new) {
                (Behaviour::Fails, true) => Report {
                    outcome: Some(Outcome::RolledBack),
                    refused: Some(version),
                    ..Report::default()
                },
                _ => Report {
                    outcome: Some(Outcome::Applied),
                    applied: Some(version),
                    ..Report::default()
                },
            };
            let bytes = serde_json::to_vec(&report).unwrap();
            self.store.report(&node, &bytes).unwrap();
        }
    }

    /// Some server does what is due; or it dies, and another one starts.
    fn server_steps(&mut self, random: &mut Random) {
        let chosen = random.below(2);
        if random.below(10) == 0 {
            self.servers[chosen] = open(&self.store);
        }
        let server = &mut self.servers[chosen];
        if random.below(2) == 0 {
            server.follow().unwrap();
        }
        server.step_rollout(self.now).unwrap();
        self.now += random.below(400) as u64;
    }

    fn newest(&mut self) -> &mut Service {
        let server = &mut self.servers[0];
        server.follow().unwrap();
        server
    }

    /// Nodes run the old or the new, and nothing else.
    fn check_targets(&mut self) {
        let (before, target) = (self.before.clone(), self.target);
        let nodes = self.behaviours.len();
        let active = self.newest().repository().active();
        for node in (0..nodes).map(|number| format!("n{number}")) {
            let runs = active.target(&node);
            assert!(
                runs == target || runs == before.target(&node),
                "{node} is to run {runs}"
            );
        }
    }

    /// Every entry says truly whose configuration changed with it.
    fn check_history(&mut self) {
        let nodes = self.behaviours.len();
        let server = self.newest();
        for version in 2..=server.repository().version() {
            let entry = server.repository().entry(version).unwrap().unwrap();
            for node in (0..nodes).map(|number| format!("n{number}")) {
                let before = server.config_at(&node, version - 1).unwrap();
                let after = server.config_at(&node, version).unwrap();
                let said = match &entry.act {
                    Act::Activation { changed, gone, .. } => {
                        changed.contains(&node) || gone.contains(&node)
                    }
                    _ => false,
                };
                let is_change = before.unwrap_or_default() != after.unwrap_or_default();
                assert_eq!(said, is_change, "{node} in version {version}");
            }
        }
    }
}

#[test]
fn whatever_nodes_do_a_rollout_ends_as_its_terms_say() {
    let cases = std::env::var("HENCE_CASES").map_or(300, |cases| cases.parse().unwrap());
    let mut ends: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0..cases {
        let random = &mut Random::new(seed);
        let mut world = World::new(random);
        let wanted = NewRollout {
            target: Some(world.target),
            stages: stages(random),
            success: [0, 50, 90, 100][random.below(4)],
            within: 1 + random.below(5) as u64,
            failures: random.below(3) as u64,
            otherwise: match random.below(2) {
                0 => Otherwise::Stop,
                _ => Otherwise::RollBack,
            },
            restarts: (random.below(2) == 0).then(|| 1 + random.below(3) as u64),
            plan: None,
            doing: Doing::default(),
        };
        let begun = world.servers[0].begin_rollout(&request(world.now), &wanted);
        assert!(matches!(begun, Ok(Receipt::Done(_))), "{seed}: {begun:?}");
        let mut steps = 0;
        while world.newest().rollout().unwrap().is_under_way() {
            steps += 1;
            assert!(steps < 2000, "{seed}: it does not end");
            world.check_budget(&wanted);
            world.nodes_report(random);
            world.server_steps(random);
            world.check_targets();
            if random.below(20) == 0 {
                let order = match world.newest().rollout().unwrap().status {
                    Status::Paused => Order::Resume,
                    _ => Order::Pause,
                };
                let now = world.now;
                let _ = world.servers[1].order_rollout(&request(now), order);
            }
            let now = world.now;
            let newest = world.newest();
            if newest.rollout().unwrap().status == Status::Paused && random.below(2) == 0 {
                newest.order_rollout(&request(now), Order::Resume).unwrap();
            }
        }
        let (before, target) = (world.before.clone(), world.target);
        let service = world.newest();
        let rollout = service.rollout().unwrap().clone();
        let active = service.repository().active().clone();
        match &rollout.status {
            Status::Done => {
                let all = Active {
                    base: target,
                    apart: BTreeMap::new(),
                };
                assert_eq!(active, all, "{seed}");
            }
            Status::RolledBack(_) => {
                assert_eq!(wanted.otherwise, Otherwise::RollBack, "{seed}");
                assert_eq!(active, before, "{seed}");
            }
            Status::Stopped(_) => {
                assert_eq!(wanted.otherwise, Otherwise::Stop, "{seed}");
                if rollout.behind + 1 < rollout.stages.len() {
                    assert_eq!(active.base, before.base, "{seed}");
                }
            }
            status => panic!("{seed}: {status:?}"),
        }
        // Every stage that is behind was good.
        let told = service.rollout_told().unwrap().unwrap();
        for stage in &told.stages[..rollout.behind] {
            let failed = stage.failed.len() as u64;
            // Who failed later ended the rollout.
            assert!(
                failed <= wanted.failures || rollout.status != Status::Done,
                "{seed}: {told:?}"
            );
            assert!(
                stage.succeeded * 100 >= stage.changed * u64::from(wanted.success),
                "{seed}: {told:?}"
            );
        }
        *ends.entry(rollout.status.word()).or_default() += 1;
        world.check_history();
        if let Status::Done | Status::Stopped(_) = rollout.status {
            // It can be taken back whatever became of it.
            let now = world.now;
            let service = world.newest();
            service
                .order_rollout(&request(now), Order::RollBack)
                .unwrap();
            assert_eq!(*service.repository().active(), before, "{seed}");
            world.check_history();
        }
    }
    // All ways to end are seen.
    assert_eq!(ends.len(), 3, "{ends:?}");
}

impl World {
    /// Of the nodes that must restart something, no more than may are doing so.
    fn check_budget(&mut self, wanted: &NewRollout) {
        let Some(budget) = wanted.restarts else {
            return;
        };
        let within = wanted.within * 1000;
        let now = self.now;
        let service = self.newest();
        let rollout = service.rollout().unwrap().clone();
        let Some(stage) = rollout.stage() else {
            return;
        };
        // Who was silent for too long is given up, and somebody else may restart.
        if now >= rollout.since + within || stage.activations.len() != 1 {
            return;
        }
        let entry = service.repository().entry(stage.activations[0]).unwrap();
        let Act::Activation { changed, .. } = entry.unwrap().act else {
            return;
        };
        let target = service.pool_at(rollout.target).unwrap();
        let heavy: BTreeSet<String> = target
            .members("heavy")
            .iter()
            .map(ToString::to_string)
            .filter(|node| changed.contains(node))
            .collect();
        assert!(heavy.len() as u64 <= budget, "{heavy:?} restart together");
    }
}

#[test]
fn nothing_else_is_activated_meanwhile() {
    let store = Memory::default();
    let mut service = open(&store);
    tell(
        &mut service,
        "assert param/P ; assert node/n1 ; assert node/n1/param/P 1",
    );
    let wanted: NewRollout = serde_json::from_str("{}").unwrap();
    service.begin_rollout(&request(1), &wanted).unwrap();
    let refused = service.activate(&request(2), &Extent::Everything, None);
    assert!(refused.unwrap_err().is(hence_service::rollout::UNDER_WAY));
    let refused = service.begin_rollout(&request(2), &wanted);
    assert!(refused.unwrap_err().is(hence_service::rollout::UNDER_WAY));
    service.order_rollout(&request(3), Order::Stop).unwrap();
    tell(&mut service, "assert node/n1/param/P 2");
    service
        .activate(&request(4), &Extent::Everything, None)
        .unwrap();
    // Then there is nothing to resume, or to go back to.
    for order in [Order::Resume, Order::RollBack, Order::Pause, Order::Stop] {
        let refused = service.order_rollout(&request(5), order);
        assert!(refused.unwrap_err().is(hence_service::rollout::NONE));
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let store = Memory::default();
    let mut service = open(&store);
    tell(
        &mut service,
        "assert param/P ; assert node/n1 ; assert node/n1/param/P 1",
    );
    for wanted in [
        r#"{"success": 101}"#,
        r#"{"restarts": 0}"#,
        r#"{"stages": [{"percent": 0}]}"#,
        r#"{"within": 18446744073709551615}"#,
        r#"{"plan": "yesterday"}"#,
    ] {
        let wanted: NewRollout = serde_json::from_str(wanted).unwrap();
        let refused = service.begin_rollout(&request(1), &wanted).unwrap_err();
        assert!(refused.is(hence_service::rollout::TERMS), "{refused:?}");
    }
    assert!(service.rollout().is_none());
}
