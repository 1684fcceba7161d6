//! A fleet of a known size: the published stress test.
//!
//! Of 2,010 nodes 2,006 are in one group, whose features set 516 parameters; one of them alone, ninety processes of one
//! kind, sets 464. There are 42 features, 765 parameters, 13 subsystems, 911 bindings, and 13 identity groups with
//! something in them. The step is to install a feature on the one group, or to take it away.

use hence_ledger::{Key, Value};

use crate::words::Kind;

const NODES: usize = 2_010;
const MEMBERS: usize = 2_006;
const PARAMS: usize = 765;
const SUBSYSTEMS: usize = 13;
const IDENTITIES: usize = 13;
/// The features on the one group, besides the large one.
const INSTALLED: usize = 20;
/// All features besides the large one.
const FEATURES: usize = 41;
/// What the large feature sets.
const LARGE: usize = 464;
/// What all features on the group set together.
const SET: usize = 516;
/// What each of the other features on the group sets.
const EACH: usize = 11;
/// What is set by features that are not on the group.
const OTHERS: usize = 911 - LARGE - INSTALLED * EACH;

/// The feature that is large, in keys.
pub const LARGE_FEATURE: &str = "startds";
/// The group that nearly all nodes are in, in keys.
pub const LARGE_GROUP: &str = "workers";

/// What is asserted in it.
pub fn stress() -> Vec<(Key, Value)> {
    let mut assertions = Vec::new();
    let mut say = |key: Key, value: Value| assertions.push((key, value));
    let mut add = |key: Key, value: String| say(key, Value::text(value));
    let param = |number: usize| format!("param_{number}");
    for number in 0..PARAMS {
        add(Kind::Param.key(&param(number)), param(number));
    }
    let large = Kind::Feature.key(LARGE_FEATURE);
    add(large.clone(), LARGE_FEATURE.to_owned());
    for number in 0..LARGE {
        add(
            large.child("param").child(&param(number)),
            format!("slot{}", number / 5),
        );
    }
    for number in 0..FEATURES {
        let name = format!("feature{number}");
        let key = Kind::Feature.key(&name);
        add(key.clone(), name);
        let params: Vec<usize> = match number < INSTALLED {
            true => (0..EACH)
                .map(|at| LARGE + (number * EACH + at) % (SET - LARGE))
                .collect(),
            false => (0..OTHERS)
                .filter(|at| at % (FEATURES - INSTALLED) == number - INSTALLED)
                .map(|at| SET + at)
                .collect(),
        };
        for number in params {
            add(
                key.child("param").child(&param(number)),
                format!(">= value{number}"),
            );
        }
    }
    let group = Kind::Group.key(LARGE_GROUP);
    add(group.clone(), LARGE_GROUP.to_owned());
    add(group.child("feature").child(LARGE_FEATURE), "0".to_owned());
    for number in 0..INSTALLED {
        add(
            group.child("feature").child(&format!("feature{number}")),
            (number + 1).to_string(),
        );
    }
    for number in 0..NODES {
        let name = format!("node{number}.example.com");
        let key = Kind::Node.key(&name);
        add(key.clone(), name);
        if number < MEMBERS {
            add(key.child("group").child(LARGE_GROUP), "1".to_owned());
        }
        if number % (NODES / IDENTITIES) == 0 && number / (NODES / IDENTITIES) < IDENTITIES {
            let feature = INSTALLED + number % (FEATURES - INSTALLED);
            add(
                key.child("feature").child(&format!("feature{feature}")),
                "1".to_owned(),
            );
            add(
                key.child("param").child(&param(number % PARAMS)),
                "own".to_owned(),
            );
        }
    }
    for number in 0..SUBSYSTEMS {
        let name = format!("subsystem{number}");
        let key = Kind::Subsystem.key(&name);
        say(key.clone(), Value::text(name));
        for observed in (number..PARAMS).step_by(SUBSYSTEMS) {
            say(key.child("param").child(&param(observed)), Value::Nothing);
        }
    }
    assertions
}
