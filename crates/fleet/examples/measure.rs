//! How long it takes: the published stress test, and a hundred thousand nodes.
//!
//! `cargo run --release -p hence-fleet --example measure`

use std::time::Instant;

use hence_fleet::Distribution;
use hence_fleet::generate::{Shape, valid};
use hence_fleet::stress::{LARGE_FEATURE, LARGE_GROUP, stress};
use hence_fleet::{Kind, Nodes, Pool, changed_nodes, check, plan};
use hence_ledger::{Assertion, Change, Key, Value};
use hence_model::random::Random;

fn main() {
    println!("stress");
    let assertions = stress();
    let pool = timed("build", || build(&assertions));
    let group = Kind::Group.key(LARGE_GROUP);
    let large = group.child("feature").child(LARGE_FEATURE);
    step(
        "toggle the large feature",
        &pool,
        change(large, Some("0"), None),
    );
    let small = group.child("feature").child("feature30");
    step(
        "toggle a small feature",
        &pool,
        change(small, None, Some("50")),
    );
    let one = Kind::Node
        .key("node77.example.com")
        .child("param")
        .child("param_3");
    step("one node", &pool, change(one, None, Some("mine")));

    println!("a hundred thousand nodes");
    let shape = Shape {
        nodes: 100_000,
        groups: 500,
        features: 200,
        params: 1000,
        params_per_group: Distribution::Poisson { mean: 10.0 },
        features_per_group: Distribution::Poisson { mean: 5.0 },
        conflicts_per_feature: Distribution::Poisson { mean: 0.2 },
        depends_per_feature: Distribution::Poisson { mean: 0.2 },
        depends_per_param: Distribution::Poisson { mean: 0.2 },
        must_change: 10,
        operators: 20,
        ..Shape::published()
    };
    let assertions = valid(&shape, &mut Random::new(1));
    println!("  {} assertions; memory {}", assertions.len(), memory());
    let pool = timed("build", || build(&assertions));
    println!("  memory {}", memory());
    let default = Kind::Group.key("+++default");
    let param = default.child("param").child("param_7");
    let old = assertions.iter().find(|(key, _)| *key == param);
    let old = old.and_then(|(_, value)| value.as_text());
    step("default group", &pool, change(param, old, Some("new")));
    let one = Kind::Node.key("node77").child("param").child("param_3");
    step("one node", &pool, change(one, None, Some("7")));
    println!("  memory {}", memory());
    drop(pool);

    println!("a hundred thousand nodes with identity groups");
    let shape = Shape {
        own_per_node: Distribution::Constant(1),
        must_change: 0,
        ..shape
    };
    let assertions = valid(&shape, &mut Random::new(1));
    let before = memory();
    let pool = timed("build", || build(&assertions));
    println!("  memory {before}, then {}", memory());
    let default = Kind::Group.key("+++default");
    let param = default.child("param").child("param_7");
    step("default group", &pool, change(param, None, Some("7")));
}

fn build(assertions: &[(Key, Value)]) -> Pool {
    Pool::from_assertions(assertions.iter().map(|(key, value)| (key, value)))
}

fn change(key: Key, before: Option<&str>, after: Option<&str>) -> Change {
    let assertion = |text: &str| Assertion {
        owner: "measure".into(),
        value: Value::text(text),
        since: 1,
    };
    Change {
        key,
        before: before.map(assertion),
        after: after.map(assertion),
    }
}

fn step(name: &str, active: &Pool, change: Change) {
    println!("  {name}");
    let mut head = timed("clone", || active.clone());
    let changes = [change];
    timed("apply", || head.apply(&changes));
    let troubles = timed("check", || check(&head, &changes));
    assert!(troubles.is_empty());
    let reached = Nodes::Reached(&changes);
    let changed = timed("changed nodes", || changed_nodes(active, &head, reached));
    let plan = timed("plan", || plan(active, &head, reached));
    let totals = timed("totals", || plan.totals());
    let names = changed.iter().map(|name| name.as_str());
    timed("validate changed", || head.validate_nodes(names));
    let failures = timed("validate all", || head.validate());
    println!(
        "    {} nodes, {} parameters, {} failures",
        changed.len(),
        totals.parameters.values().sum::<usize>(),
        failures.len()
    );
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    println!(
        "    {name}: {:.3} ms",
        start.elapsed().as_secs_f64() * 1000.0
    );
    result
}

/// What the process holds, where the system tells.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.unwrap_or("unknown")
        .split_whitespace()
        .skip(1)
        .collect::<Vec<_>>()
        .join(" ")
}
