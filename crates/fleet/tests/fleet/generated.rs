//! What holds for generated fleets.

use hence_fleet::Distribution;
use hence_fleet::generate::{Shape, near_valid, valid};
use hence_fleet::{Pool, check};
use hence_ledger::{Assertion, Change, Key, Value};
use hence_model::random::Random;

use crate::dsl::codes;

fn pool(assertions: &[(Key, Value)]) -> Pool {
    Pool::from_assertions(assertions.iter().map(|(key, value)| (key, value)))
}

/// Everything as one commit.
fn changes(assertions: &[(Key, Value)]) -> Vec<Change> {
    let change = |(key, value): &(Key, Value)| Change {
        key: key.clone(),
        before: None,
        after: Some(Assertion {
            owner: "test".into(),
            value: value.clone(),
            since: 1,
        }),
    };
    assertions.iter().map(change).collect()
}

#[test]
fn a_fleet_that_is_valid_by_construction_has_no_failures() {
    let mut conflicts = 0;
    for seed in 0..2000 {
        let assertions = valid(&Shape::small(), &mut Random::new(seed));
        let pool = pool(&assertions);
        let failures = pool.validate();
        assert!(failures.is_empty(), "seed {seed}: {failures:?}");
        let troubles = check(&pool, &changes(&assertions));
        assert!(troubles.is_empty(), "seed {seed}: {}", codes(&troubles));
        conflicts += assertions
            .iter()
            .filter(|(key, _)| key.as_str().contains("/conflict/"))
            .count();
    }
    assert!(conflicts > 5000, "{conflicts}");
}

#[test]
fn a_fleet_that_is_nearly_valid_has_the_predicted_failure_and_no_other() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let nodes = random.below(9);
        let shape = Shape {
            nodes,
            ..Shape::small()
        };
        let predicted = near_valid(&shape, &mut random);
        let failures = pool(&predicted.assertions).validate();
        assert_eq!(failures.len(), 1, "seed {seed}: {failures:?}");
        assert_eq!(failures[0].node, predicted.node, "seed {seed}");
        assert_eq!(failures[0].code, predicted.code, "seed {seed}");
        assert_eq!(*failures[0].names, *predicted.names, "seed {seed}");
    }
}

#[test]
fn distributions_have_their_means_and_variances() {
    let mut random = Random::new(1);
    let cases = [
        (Distribution::Constant(4), 4.0, 0.0),
        (Distribution::Poisson { mean: 3.0 }, 3.0, 3.0),
        (Distribution::Poisson { mean: 50.0 }, 50.0, 50.0),
        (
            Distribution::Normal {
                mean: 20.0,
                variance: 9.0,
            },
            20.0,
            9.0,
        ),
        (
            Distribution::Uniform {
                mean: 20.0,
                variance: 9.0,
            },
            20.0,
            9.0,
        ),
    ];
    for (distribution, mean, variance) in cases {
        let count = 40_000;
        let samples: Vec<f64> = (0..count)
            .map(|_| distribution.sample(&mut random) as f64)
            .collect();
        let average = samples.iter().sum::<f64>() / f64::from(count);
        let spread = samples.iter().map(|x| (x - average).powi(2)).sum::<f64>() / f64::from(count);
        assert!(
            (average - mean).abs() < 0.1 + mean / 100.0,
            "{distribution:?}: {average}"
        );
        assert!(
            (spread - variance).abs() < 0.2 + variance / 20.0,
            "{distribution:?}: {spread}"
        );
    }
}

#[test]
fn the_published_counts_give_a_valid_fleet() {
    let assertions = valid(&Shape::published(), &mut Random::new(42));
    let pool = pool(&assertions);
    assert_eq!(pool.node_count(), 1000);
    assert!(pool.validate().is_empty());
}

#[test]
fn the_stress_test_has_the_published_size() {
    let assertions = hence_fleet::stress::stress();
    let count = |kind: &str, depth: usize, word: &str| {
        let of = |key: &&(Key, Value)| {
            let names: Vec<_> = key.0.names().collect();
            names[0] == kind && names.len() == depth && (depth == 2 || names[2] == word)
        };
        assertions.iter().filter(of).count()
    };
    assert_eq!(count("node", 2, ""), 2010);
    assert_eq!(count("node", 4, "group"), 2006);
    assert_eq!(count("node", 4, "feature"), 13);
    assert_eq!(count("feature", 2, ""), 42);
    assert_eq!(count("param", 2, ""), 765);
    assert_eq!(count("subsystem", 2, ""), 13);
    assert_eq!(count("feature", 4, "param"), 911);
    let pool = pool(&assertions);
    assert_eq!(pool.config("node1.example.com").unwrap().len(), 516);
    assert!(pool.validate().is_empty());
}
