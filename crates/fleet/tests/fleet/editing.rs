//! Lists that people edit.

use hence_fleet::lists::Edit;
use hence_ledger::Key;

use crate::dsl::{Fleet, fleet};

fn tell(fleet: &mut Fleet, edit: &Edit) {
    for (key, value) in &edit.assert {
        fleet.tell(&format!("assert {key}{value}"));
    }
    for key in &edit.retract {
        fleet.tell(&format!("retract {key}"));
    }
}

const FLEET: &str = r#"
    assert feature/A ; assert feature/B ; assert feature/C ; assert feature/D
    assert group/g ; assert group/h ; assert node/n
"#;

#[test]
fn adding_appends_at_the_lowest_priority_and_what_is_there_does_not_move() {
    for list in ["group/g/feature", "node/n/feature", "feature/d/include"] {
        let mut fleet = fleet(FLEET);
        let list = Key::from_text(list);
        let edit = fleet.pool.append(&list, &["b", "A", "B", "a"]);
        tell(&mut fleet, &edit);
        assert_eq!(fleet.pool.list(&list), ["B", "A"]);
        let edit = fleet.pool.append(&list, &["A", "c"]);
        assert_eq!(
            edit.assert.len(),
            1,
            "what is there already is not written again"
        );
        tell(&mut fleet, &edit);
        assert_eq!(fleet.pool.list(&list), ["B", "A", "C"]);
    }
}

#[test]
fn adding_a_membership_again_does_not_move_it() {
    let mut fleet = fleet(FLEET);
    let list = Key::from_text("node/n/group");
    for names in [["g", "h"].as_slice(), &["g"]] {
        let edit = fleet.pool.append(&list, names);
        tell(&mut fleet, &edit);
    }
    assert_eq!(fleet.pool.memberships("n").unwrap(), ["g", "h"]);
}

#[test]
fn replacing_keeps_the_order_it_is_given() {
    let mut fleet = fleet(FLEET);
    let list = Key::from_text("feature/d/include");
    for (names, expected) in [
        (["c", "a", "b", "a"].as_slice(), ["C", "A", "B"].as_slice()),
        (&["b", "c"], &["B", "C"]),
        (&["b", "c"], &["B", "C"]),
        (&[], &[]),
    ] {
        let edit = fleet.pool.replace(&list, names);
        tell(&mut fleet, &edit);
        assert_eq!(fleet.pool.list(&list), expected);
        assert_eq!(fleet.pool.replace(&list, names), Edit::default());
    }
}

#[test]
fn inserting_moves_the_others_down() {
    let mut fleet = fleet(FLEET);
    let list = Key::from_text("group/g/feature");
    for (place, names, expected) in [
        (9, ["a", "b"].as_slice(), ["A", "B"].as_slice()),
        (1, &["c"], &["A", "C", "B"]),
        (0, &["B"], &["B", "A", "C"]),
    ] {
        let edit = fleet.pool.insert(&list, place, names);
        tell(&mut fleet, &edit);
        assert_eq!(fleet.pool.list(&list), expected);
    }
    assert!(fleet.pool.list(&Key::from_text("group/g/param")).is_empty());
}
