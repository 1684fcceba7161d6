//! A fleet on a store: what is kept current is what would be computed from scratch, whatever happened; and the behaviours
//! of the published system that take an activation to see.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hence_api::words::{CheckedIn, Report};
use hence_fleet::edit::{Edit, Item, Relation, Thing};
use hence_fleet::generate::{Shape, valid};
use hence_fleet::{Config, Kind, Pool, Words, plan};
use hence_ledger::entry::Origin;
use hence_ledger::{Command, Hash, Key, Keys, Value, parser};
use hence_model::random::Random;
use hence_model::source::Sources;
use hence_service::report::CheckIn;
use hence_service::{Activated, Extent, Leave, Service};
use hence_store::{Appended, Error, Memory, Receipt, Refused, Request, Store};

fn request() -> Request {
    Request {
        author: "ann".into(),
        owner: "op".into(),
        time: 0,
        message: String::new(),
        origin: Origin::Command("test".into()),
        objects: Vec::new(),
        if_version: None,
    }
}

fn service(store: &Memory) -> Service {
    Service::open(Box::new(store.clone())).unwrap_or_else(|_| panic!("it can be opened"))
}

fn parse(commands: &str) -> Vec<Command> {
    let mut sources = Sources::default();
    let file = sources.add("test", commands).expect("there is room");
    let parsed = parser::parse(&sources, file, "op", &Words);
    let parsed = parsed.unwrap_or_else(|troubles| panic!("{troubles:?}"));
    parsed.commands
}

fn tell(service: &mut Service, commands: &str) -> u64 {
    let result = service.commit(&request(), &parse(commands), &Leave::default());
    match result {
        Ok(Receipt::Done(done)) => done.version,
        other => panic!("{commands}: {other:?}"),
    }
}

fn activate(service: &mut Service) -> Result<Activated, Refused> {
    service.activate(&request(), &Extent::Everything, None)
}

fn activated(service: &mut Service) -> u64 {
    match activate(service).expect("nothing is in the way").receipt {
        Receipt::Done(done) => done.version,
        Receipt::Nothing => panic!("nothing changed"),
    }
}

fn config(service: &Service, node: &str) -> String {
    let config = service.config(node).expect("the store can be read");
    text(&config.expect("the node is there"))
}

fn text(config: &Config) -> String {
    let lines = config.iter().map(|(name, value)| format!("{name}={value}"));
    lines.collect::<Vec<_>>().join(" ")
}

#[test]
fn without_nodes_the_default_group_is_activated_for_those_to_come() {
    let mut service = service(&Memory::default());
    tell(
        &mut service,
        "assert param/P ; assert group/+++default/param/P 1",
    );
    let version = activated(&mut service);
    tell(&mut service, "assert node/n");
    assert_eq!(config(&service, "n"), "P=1");
    assert_eq!(service.version_of("n").unwrap(), version);
    let again = activate(&mut service).unwrap();
    assert!(again.changed.is_empty(), "nothing new for it");
    assert_eq!(service.version_of("n").unwrap(), version);
}

#[test]
fn without_nodes_a_broken_default_group_is_named_so() {
    let mut service = service(&Memory::default());
    tell(
        &mut service,
        "assert param/P ; assert param/P/must-change ; assert group/+++default/param/P",
    );
    let Err(Refused::Because(troubles)) = activate(&mut service) else {
        panic!("a value is missing");
    };
    assert_eq!(troubles.len(), 1);
    assert!(troubles[0].message.contains("+++DEFAULT"), "{troubles:?}");
    assert_eq!(service.repository().active().base, 0);
}

#[test]
fn a_second_activation_without_a_change_is_none() {
    let mut service = service(&Memory::default());
    tell(
        &mut service,
        "assert param/P ; assert node/n ; assert node/n/param/P 1",
    );
    let version = activated(&mut service);
    assert_eq!(activate(&mut service).unwrap().receipt, Receipt::Nothing);
    // What changes no value changes no node's version.
    tell(&mut service, "assert param/P/description \"what for\"");
    activated(&mut service);
    assert_eq!(service.version_of("n").unwrap(), version);
}

#[test]
fn who_walks_in_gets_what_is_active_and_not_what_is_pending() {
    let mut service = service(&Memory::default());
    tell(
        &mut service,
        "assert param/P ; assert group/+++default/param/P 1
         assert group/+++skel ; assert group/+++skel/param/P \">= 2\"",
    );
    let version = activated(&mut service);
    tell(&mut service, "assert group/+++default/param/P 7");
    tell(
        &mut service,
        "assert node/n ; assert node/n/walk-in ; assert node/n/group/+++skel 1",
    );
    assert_eq!(config(&service, "n"), "P=1, 2");
    assert_eq!(service.version_of("n").unwrap(), version);
    assert_eq!(text(&service.head().config("n").unwrap()), "P=7, 2");
    activated(&mut service);
    assert_eq!(config(&service, "n"), "P=7, 2");
}

#[test]
fn who_checks_in_with_one_that_is_refused_is_told_all_the_same() {
    let store = Memory::default();
    let mut service = service(&store);
    tell(
        &mut service,
        "assert param/P ; assert group/+++default/param/P 1 ; assert node/Known",
    );
    let version = activated(&mut service);
    let check_ins = ["known", "", "new"].map(|node| CheckIn {
        request: request(),
        node: node.into(),
        report: Report {
            applied: Some(version),
            ..Report::default()
        },
    });
    let told = service.check_in_all(&check_ins);
    let told: Vec<Option<CheckedIn>> = told.into_iter().map(Result::ok).collect();
    let checked_in = |node: &str, version| {
        let node = node.to_owned();
        Some(CheckedIn { node, version })
    };
    assert_eq!(
        told,
        [
            checked_in("Known", version),
            None,
            checked_in("new", version)
        ]
    );
    let kept = service.reports().unwrap();
    let kept: Vec<&str> = kept.keys().map(String::as_str).collect();
    assert_eq!(kept, ["known", "new"]);
    assert_eq!(
        service.report_of("Known").unwrap(),
        Some(check_ins[0].report.clone())
    );
}

#[test]
fn the_past_stays_what_it_was() {
    let mut service = service(&Memory::default());
    tell(
        &mut service,
        "assert param/P ; assert node/n ; assert node/n/param/P 1",
    );
    let first = activated(&mut service);
    tell(&mut service, "assert node/n/param/P 2");
    let second = activated(&mut service);
    service.restore(&request(), first, None).unwrap();
    let at = |service: &Service, version| {
        let config = service.config_at("n", version).unwrap();
        text(&config.unwrap())
    };
    for _ in 0..2 {
        assert_eq!(at(&service, 0), "");
        assert_eq!(at(&service, second - 1), "P=1");
        assert_eq!(at(&service, second), "P=2");
        assert_eq!(service.version_of_at("n", second - 1).unwrap(), first);
        // To restore is to change what is asserted, and not what runs.
        assert_eq!(config(&service, "n"), "P=2");
        assert_eq!(service.version_of("n").unwrap(), second);
        service.restore(&request(), second, None).unwrap();
        service.restore(&request(), first, None).unwrap();
    }
    let third = activated(&mut service);
    assert_eq!(config(&service, "n"), "P=1");
    assert_eq!(service.version_of("n").unwrap(), third);
}

#[test]
fn what_fails_changes_nothing() {
    let mut service = service(&Memory::default());
    tell(
        &mut service,
        "assert param/P ; assert node/n ; assert node/n/param/P 1 ; assert node/m",
    );
    activated(&mut service);
    let version = tell(
        &mut service,
        "assert param/P/must-change ; assert node/m/param/P",
    );
    assert!(matches!(activate(&mut service), Err(Refused::Because(_))));
    assert_eq!(service.repository().version(), version);
    assert_eq!(config(&service, "m"), "");
    // A node that nothing is wrong with can go ahead.
    let only = Extent::Some {
        nodes: vec!["N".into()],
        groups: Vec::new(),
    };
    service.activate(&request(), &only, None).unwrap();
    assert_eq!(config(&service, "n"), "P=1");
}

#[test]
fn a_group_that_is_removed_is_missed() {
    let mut service = service(&Memory::default());
    tell(
        &mut service,
        "assert param/P ; assert node/n ; assert group/g ; assert group/g/param/P 1 ; assert node/n/group/g 1",
    );
    activated(&mut service);
    let group = Thing {
        kind: Kind::Group,
        name: "G".into(),
    };
    service
        .edit(&request(), &[Edit::Remove(group)], &Leave::default())
        .unwrap();
    let activated = activate(&mut service).unwrap();
    assert_eq!(activated.changed, ["n"]);
    assert_eq!(config(&service, "n"), "");
}

#[test]
fn more_in_a_hundred_include_those_that_fewer_did() {
    let mut service = service(&Memory::default());
    let nodes: String = (0..200).map(|n| format!("assert node/n{n} ; ")).collect();
    tell(&mut service, &format!("assert param/P ; {nodes}"));
    activated(&mut service);
    tell(&mut service, "assert group/+++default/param/P 1");
    let mut before: Vec<String> = Vec::new();
    for percent in [0, 10, 50, 90, 100] {
        service
            .activate(&request(), &Extent::Percent(percent), None)
            .unwrap();
        let all = service.head().nodes();
        let done = all.iter().filter(|node| config(&service, node) == "P=1");
        let done: Vec<String> = done.map(ToString::to_string).collect();
        assert!(before.iter().all(|node| done.contains(node)));
        let expected = 2 * usize::from(percent);
        assert!(done.len().abs_diff(expected) <= 25, "{} of 200", done.len());
        before = done;
    }
    assert_eq!(before.len(), 200);
}

/// What happened to a fleet, and what nodes were to run at each version.
struct Story {
    service: Service,
    store: Memory,
    past: Vec<BTreeMap<String, String>>,
}

impl Story {
    /// What is kept current is what would be computed from scratch.
    fn check(&mut self, random: &mut Random) {
        let service = &mut self.service;
        let scratch = Pool::new(service.state());
        assert!(*service.head() == scratch, "the head");
        let active = service.repository().active().clone();
        let base = service.pool_at(active.base).unwrap();
        assert!(*service.active() == base, "what is active");
        let planned = service.plan(&Extent::Everything).unwrap();
        assert_eq!(planned.failures, scratch.validate(), "what is in the way");
        let mut now = BTreeMap::new();
        for node in service.head().nodes() {
            let target = active.target(&hence_ledger::key::fold(&node));
            let pool = service.pool_at(target).unwrap();
            let before = match (pool.config(&node), target) {
                (Some(config), _) => config,
                (None, 0) => Config::new(),
                (None, _) => pool.stranger_config(),
            };
            assert_eq!(config(service, &node), text(&before), "{node}");
            let after = scratch.config(&node).unwrap();
            let changed = planned.plan.nodes.iter().find(|(name, _)| *name == node);
            let expected = hence_fleet::difference(&before, &after, &scratch, &pool);
            match changed {
                Some((_, difference)) => assert_eq!(**difference, expected, "{node}"),
                None => assert!(expected.is_empty(), "{node} changes too"),
            }
            now.insert(node.to_string(), text(&before));
        }
        if active.apart.is_empty() {
            let whole = plan(&base, &scratch, hence_fleet::Nodes::All);
            assert_eq!(planned.plan.nodes, whole.nodes);
        }
        let version = service.repository().version() as usize;
        self.past.resize(version + 1, BTreeMap::new());
        // A node has another version than before exactly if its configuration is another.
        for (node, config) in &now {
            let last = service.version_of(node).unwrap();
            let at = |version: u64| {
                service
                    .config_at(node, version)
                    .unwrap()
                    .map(|config| text(&config))
            };
            assert_eq!(at(last).as_ref(), Some(config), "{node} since {last}");
            if last > 0 {
                assert_ne!(at(last - 1).as_ref(), Some(config), "{node} before {last}");
            }
        }
        self.past[version] = now;
        let some = random.below(version + 1);
        for (node, config) in &self.past[some] {
            let then = service.config_at(node, some as u64).unwrap();
            // A node that was removed and came again is another one.
            if let Some(then) = then {
                assert_eq!(text(&then), *config, "{node} at {some}");
            }
        }
        for node in self.past[version].keys() {
            let side = |version: usize| {
                let config = service.config_at(node, version as u64).unwrap();
                (
                    config,
                    service.active_pool_at(node, version as u64).unwrap().1,
                )
            };
            let ((before, former), (after, latter)) = (side(some), side(version));
            let expected = before
                .zip(after)
                .map(|(before, after)| hence_fleet::difference(&before, &after, &latter, &former));
            let told = service.difference_between(node, some as u64, version as u64);
            assert_eq!(told.unwrap(), expected, "{node} since {some}");
        }
        if random.chance(10) {
            self.service = crate::service(&self.store);
        }
    }

    fn go_on(&mut self, random: &mut Random) {
        let service = &mut self.service;
        let version = service.repository().version();
        match random.below(10) {
            0 => drop(service.undo(&request(), None, None)),
            1 => {
                let version = Some(1 + random.below(version as usize) as u64);
                drop(service.undo(&request(), version, None));
            }
            2 => {
                let version = random.below(version as usize + 1) as u64;
                drop(service.restore(&request(), version, None));
            }
            3 | 4 => drop(activate(service)),
            5 => {
                let percent = Extent::Percent(random.below(101) as u8);
                drop(service.activate(&request(), &percent, None));
            }
            6 => {
                let state = service.state();
                let keys: Vec<Key> = state.iter().map(|(key, _)| key.clone()).collect();
                if !keys.is_empty() {
                    let key = random.pick(&keys).clone();
                    let keys = match random.chance(20) {
                        true => Keys::Under(key),
                        false => Keys::Only(key),
                    };
                    let retract = [Command::Retract(keys)];
                    drop(service.commit(&request(), &retract, &Leave::default()));
                }
            }
            _ => {
                let nodes = service.head().nodes();
                let params = hence_fleet::edit::names(service.state(), Kind::Param);
                let features = hence_fleet::edit::names(service.state(), Kind::Feature);
                if nodes.is_empty() || params.is_empty() || features.is_empty() {
                    return;
                }
                let kind = *random.pick(&[Kind::Node, Kind::Group, Kind::Feature]);
                let mut names = hence_fleet::edit::names(service.state(), kind);
                names.push("+++DEFAULT".to_owned());
                let name = random.pick(&names).clone();
                let (relation, item, value) = match random.chance(50) && kind != Kind::Feature {
                    true => (Relation::Feature, random.pick(&features), None),
                    false => {
                        let value = *random.pick(&["1", "2", ">= 3", "?= 4", "", "&&= 5"]);
                        (
                            Relation::Param,
                            random.pick(&params),
                            Some(value.to_owned()),
                        )
                    }
                };
                let item = Item {
                    name: item.clone(),
                    value,
                };
                let edit = Edit::Add(Thing { kind, name }, relation, vec![item], None);
                drop(service.edit(&request(), &[edit], &Leave::default()));
            }
        }
    }
}

#[test]
fn what_is_kept_current_is_what_would_be_computed_from_scratch() {
    for seed in 0..60 {
        let random = &mut Random::new(seed);
        let store = Memory::default();
        let mut story = Story {
            service: service(&store),
            store,
            past: Vec::new(),
        };
        let assertions: Vec<(Key, Value)> = valid(&Shape::small(), random);
        let load = [Command::apply("op", assertions, &Words)];
        story
            .service
            .commit(&request(), &load, &Leave::default())
            .unwrap();
        for _ in 0..20 {
            story.check(random);
            story.go_on(random);
        }
        story.check(random);
    }
}

/// A store that counts what is read of it, and on which, once, somebody else may add something right before an entry.
#[derive(Default)]
struct Watched {
    store: Memory,
    first: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    reads: Arc<AtomicUsize>,
}

impl Store for Watched {
    fn place(&self) -> String {
        self.store.place()
    }

    fn head(&self) -> Result<u64, Error> {
        self.store.head()
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.entry(version)
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.object(hash)
    }

    fn hashes(&self) -> Result<Vec<Hash>, Error> {
        self.store.hashes()
    }

    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, Error> {
        if let Some(first) = self.first.lock().unwrap().take() {
            first();
        }
        self.store.append(version, entry, objects)
    }

    fn report(&self, node: &str, report: &[u8]) -> Result<(), Error> {
        self.store.report(node, report)
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error> {
        self.store.report_of(node)
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.store.reports()
    }
}

/// A fleet, and a service on it that will find somebody else first, once.
fn raced(before: &str, first: impl FnOnce(&mut Service) + Send + 'static) -> (Memory, Service) {
    let store = Memory::default();
    let mut other = service(&store);
    tell(&mut other, before);
    let raced = Watched {
        store: store.clone(),
        first: Mutex::new(Some(Box::new(move || {
            other.follow().expect("the store can be read");
            first(&mut other);
        }))),
        ..Watched::default()
    };
    let service = Service::open(Box::new(raced)).unwrap_or_else(|_| panic!("it can be opened"));
    (store, service)
}

const ONE_NODE: &str = "assert param/P ; assert node/n ; assert group/+++default/param/P 1";

#[test]
fn an_activation_that_others_were_faster_than_is_made_again() {
    let (store, mut late) = raced(ONE_NODE, |first| {
        tell(first, "assert group/+++default/param/P 2");
        activated(first);
    });
    // What would have been activated is older than what is active by now.
    let done = activate(&mut late).unwrap();
    assert_eq!(done.receipt, Receipt::Nothing);
    assert_eq!(config(&late, "n"), "P=2");
    assert_eq!(config(&service(&store), "n"), "P=2");
}

#[test]
fn a_change_that_was_refused_leaves_what_others_did() {
    let (_, mut late) = raced(ONE_NODE, |first| {
        tell(first, "assert group/+++default/param/P 2");
    });
    let mut only_now = request();
    only_now.if_version = Some(1);
    let refused = late.commit(&only_now, &parse("assert node/m"), &Leave::default());
    assert!(matches!(refused, Err(Refused::Because(_))), "{refused:?}");
    activated(&mut late);
    assert_eq!(config(&late, "n"), "P=2");
    assert_eq!(late.pair().unwrap().head, 2);
}

#[test]
fn an_edit_that_others_were_faster_than_is_translated_again() {
    let (_, mut late) = raced("assert node/n ; assert group/a ; assert group/b", |first| {
        tell(first, "assert group/c");
    });
    let node = Thing {
        kind: Kind::Node,
        name: "n".to_owned(),
    };
    let rename = Edit::Rename(node, "m".to_owned());
    let mut only_now = request();
    only_now.if_version = Some(1);
    let edit = std::slice::from_ref(&rename);
    let refused = late.edit(&only_now, edit, &Leave::default());
    assert!(matches!(refused, Err(Refused::Because(_))), "{refused:?}");
    // That was the one race.
    late.edit(&request(), edit, &Leave::default()).unwrap();
    let (_, mut late) = raced("assert node/n", |first| {
        tell(first, "assert node/n/annotation late");
    });
    late.edit(&request(), edit, &Leave::default()).unwrap();
    let annotation = Kind::Node.key("m").child("annotation");
    let annotation = late.state().get(&annotation).expect("it was renamed, too");
    assert_eq!(annotation.value.as_text(), Some("late"));
}

/// A fleet that was activated so often, each time for another of its nodes; and again on a store that counts.
fn often_activated(nodes: usize, times: usize) -> (Service, Service, Arc<AtomicUsize>) {
    let store = Memory::default();
    let mut first = service(&store);
    let asserted: String = (0..nodes).map(|n| format!("assert node/n{n} ; ")).collect();
    tell(&mut first, &format!("assert param/P ; {asserted}"));
    for time in 0..times {
        let node = time % nodes;
        tell(&mut first, &format!("assert node/n{node}/param/P {time}"));
        activated(&mut first);
    }
    let watched = Watched {
        store,
        ..Watched::default()
    };
    let reads = watched.reads.clone();
    let service = Service::open(Box::new(watched)).unwrap_or_else(|_| panic!("it can be opened"));
    reads.store(0, Ordering::Relaxed);
    (first, service, reads)
}

#[test]
fn when_nodes_last_changed_is_known_of_all_by_reading_each_activation_once() {
    let (nodes, times) = (12, 40);
    let (_, mut service, reads) = often_activated(nodes, times);
    let newest = service.repository().version();
    for node in 0..nodes {
        let last = (0..times).rfind(|time| time % nodes == node);
        let last = last.expect("each had its turn") as u64;
        let version = service.version_of(&format!("n{node}")).unwrap();
        assert_eq!(version, 3 + 2 * last, "n{node}");
    }
    // Of each activation there are the entry, and the one that it made the target.
    let reads = reads.load(Ordering::Relaxed) as u64;
    assert!(reads <= 2 * newest, "{reads} reads of {newest} versions");
}

#[test]
fn what_a_plan_is_made_from_is_found_from_the_newest_entry_down() {
    for times in [5, 50] {
        let (_, mut service, reads) = often_activated(5, times);
        let newest = service.repository().version();
        assert_eq!(service.pair().unwrap().active, newest);
        assert_eq!(reads.load(Ordering::Relaxed), 1, "{times} activations");
        service.pair().unwrap();
        assert_eq!(reads.load(Ordering::Relaxed), 1, "it is remembered");
    }
}

#[test]
fn a_service_that_follows_another_equals_one_that_is_opened_anew() {
    for seed in 0..30 {
        let random = &mut Random::new(seed);
        let store = Memory::default();
        let mut story = Story {
            service: service(&store),
            store: store.clone(),
            past: Vec::new(),
        };
        let mut follower = service(&store);
        let assertions: Vec<(Key, Value)> = valid(&Shape::small(), random);
        let load = [Command::apply("op", assertions, &Words)];
        let loaded = story.service.commit(&request(), &load, &Leave::default());
        loaded.unwrap();
        for _ in 0..20 {
            for _ in 0..random.below(4) {
                story.go_on(random);
            }
            // At times it makes the change, behind what it did not hear of.
            if random.chance(20) {
                std::mem::swap(&mut story.service, &mut follower);
                story.go_on(random);
            }
            for service in [&mut story.service, &mut follower] {
                service.follow().unwrap();
                must_equal_one_opened_anew(service, &store);
            }
        }
    }
}

fn must_equal_one_opened_anew(kept: &mut Service, store: &Memory) {
    let mut anew = service(store);
    assert_eq!(kept.state(), anew.state());
    assert!(*kept.head() == *anew.head(), "the head");
    assert!(*kept.active() == *anew.active(), "what is active");
    assert_eq!(kept.pending(), anew.pending());
    assert_eq!(kept.pair(), anew.pair());
    for node in anew.head().nodes() {
        assert_eq!(config(kept, &node), config(&anew, &node));
        assert_eq!(kept.version_of(&node), anew.version_of(&node), "{node}");
    }
}

#[test]
fn what_another_commits_is_taken_in_by_reading_that_alone() {
    let (mut first, mut follower, reads) = often_activated(50, 50);
    tell(&mut first, "assert node/n1/param/P new");
    assert!(follower.follow().unwrap(), "there is news");
    // Once to see that it is the next entry, and once for what it changes.
    assert_eq!(reads.load(Ordering::Relaxed), 2);
    assert_eq!(follower.pending().len(), 1);
}
