//! Edits as people make them.

use hence_fleet::edit::{Edit, Item, Relation, Thing, commands, members, names, order};
use hence_fleet::{Kind, Words};

use crate::dsl::{Fleet, fleet};

const FLEET: &str = r#"
    assert feature/A ; assert feature/B ; assert feature/C ; assert feature/D
    assert group/g ; assert group/h ; assert node/n ; assert param/P
"#;

fn thing(kind: Kind, name: &str) -> Thing {
    let name = name.to_owned();
    Thing { kind, name }
}

fn items(names: &[&str]) -> Vec<Item> {
    let item = |name: &&str| match name.split_once('=') {
        Some((name, value)) => Item {
            name: name.to_owned(),
            value: Some(value.to_owned()),
        },
        None => Item {
            name: (*name).to_owned(),
            value: None,
        },
    };
    names.iter().map(item).collect()
}

impl Fleet {
    /// Makes an edit, and says how many commands it took.
    fn edit(&mut self, edit: &Edit) -> usize {
        let commands =
            commands(&self.state, "test", edit).unwrap_or_else(|fault| panic!("{fault:?}"));
        for command in &commands {
            let changes = self.state.perform(command, 1, &Words);
            self.pool.apply(&changes);
        }
        commands.len()
    }

    fn refuses_edit(&self, edit: &Edit) -> String {
        let fault = commands(&self.state, "test", edit).expect_err("it is refused");
        format!("{}; {}", fault.message, fault.help)
    }

    fn order(&self, thing: &Thing, relation: Relation) -> String {
        let order = order(&self.state, thing, relation);
        let names: Vec<String> = order.into_iter().map(|(name, _)| name).collect();
        names.join(" ")
    }
}

/// The three lists that have an order.
fn lists() -> [(Thing, Relation); 3] {
    [
        (thing(Kind::Group, "G"), Relation::Feature),
        (thing(Kind::Node, "n"), Relation::Feature),
        (thing(Kind::Feature, "D"), Relation::Include),
    ]
}

#[test]
fn adding_appends_at_the_lowest_priority_and_what_is_there_does_not_move() {
    for (list, relation) in lists() {
        let mut fleet = fleet(FLEET);
        let add = |names: &[&str]| Edit::Add(list.clone(), relation, items(names), None);
        fleet.edit(&add(&["b", "A", "B", "a"]));
        assert_eq!(fleet.order(&list, relation), "b a");
        assert_eq!(
            fleet.edit(&add(&["A", "c"])),
            1,
            "what is there is not written again"
        );
        assert_eq!(fleet.order(&list, relation), "b a c");
    }
}

#[test]
fn adding_a_membership_again_does_not_move_it() {
    let mut fleet = fleet(FLEET);
    let node = thing(Kind::Node, "N");
    for names in [["g", "h"].as_slice(), &["g"]] {
        fleet.edit(&Edit::Add(
            node.clone(),
            Relation::Group,
            items(names),
            None,
        ));
    }
    assert_eq!(fleet.pool.memberships("n").unwrap(), ["g", "h"]);
}

#[test]
fn a_place_moves_the_others_down_and_what_was_there_already() {
    let mut fleet = fleet(FLEET);
    let group = thing(Kind::Group, "g");
    for (place, names, expected) in [
        (9, ["a", "b"].as_slice(), "a b"),
        (1, &["c"], "a c b"),
        (0, &["B"], "b a c"),
        (1, &["d", "c"], "b d c a"),
    ] {
        fleet.edit(&Edit::Add(
            group.clone(),
            Relation::Feature,
            items(names),
            Some(place),
        ));
        assert_eq!(fleet.order(&group, Relation::Feature), expected);
    }
}

#[test]
fn there_is_always_room_between_two() {
    let mut fleet = fleet(FLEET);
    let group = thing(Kind::Group, "g");
    fleet.edit(&Edit::Add(
        group.clone(),
        Relation::Feature,
        items(&["a", "b"]),
        None,
    ));
    for number in 0..60 {
        let name = format!("f{number}");
        fleet.tell(&format!("assert feature/{name}"));
        let between = Edit::Add(group.clone(), Relation::Feature, items(&[&name]), Some(1));
        fleet.edit(&between);
        assert!(
            fleet
                .order(&group, Relation::Feature)
                .starts_with(&format!("a {name} "))
        );
    }
    assert!(fleet.order(&group, Relation::Feature).ends_with(" f0 b"));
}

#[test]
fn replacing_keeps_the_order_it_is_given() {
    for (list, relation) in lists() {
        let mut fleet = fleet(FLEET);
        for (names, expected) in [
            (["c", "a", "b", "a"].as_slice(), "c a b"),
            (&["b", "c"], "b c"),
            (&[], ""),
        ] {
            let replace = Edit::Replace(list.clone(), relation, items(names));
            fleet.edit(&replace);
            assert_eq!(fleet.order(&list, relation), expected);
            assert_eq!(fleet.edit(&replace), 0, "it is so already");
        }
    }
}

#[test]
fn members_are_added_and_removed_from_the_side_of_the_group() {
    let mut fleet = fleet(FLEET);
    fleet.tell("assert node/m");
    let group = thing(Kind::Group, "g");
    fleet.edit(&Edit::Add(
        group.clone(),
        Relation::Node,
        items(&["M", "n"]),
        None,
    ));
    assert_eq!(members(&fleet.state, "G"), ["m", "n"]);
    fleet.edit(&Edit::Drop(group.clone(), Relation::Node, vec!["m".into()]));
    assert_eq!(members(&fleet.state, "G"), ["n"]);
    fleet.edit(&Edit::Replace(group, Relation::Node, items(&["m"])));
    assert_eq!(members(&fleet.state, "G"), ["m"]);
}

#[test]
fn what_is_removed_takes_with_it_all_that_refers_to_it() {
    let mut fleet = fleet(FLEET);
    fleet.tell(
        "assert group/g/feature/a 1 ; assert node/n/group/g 1 ; assert feature/b/include/a 1
         assert feature/c/conflict/a ; assert feature/a/param/p 7",
    );
    fleet.edit(&Edit::Remove(thing(Kind::Feature, "A")));
    let left: Vec<String> = fleet.state.iter().map(|(key, _)| key.to_string()).collect();
    assert!(!left.iter().any(|key| key.ends_with("/a")), "{left:?}");
    assert_eq!(fleet.pool.memberships("n").unwrap(), ["g"]);
}

#[test]
fn what_is_renamed_is_renamed_everywhere() {
    let mut fleet = fleet(FLEET);
    fleet.tell("assert group/g/feature/a 3 ; assert feature/a/param/p 7 ; assert node/n/group/g 1");
    let before = fleet.config("n");
    fleet.edit(&Edit::Rename(thing(Kind::Feature, "a"), "Alpha".into()));
    fleet.edit(&Edit::Rename(thing(Kind::Group, "g"), "Gamma".into()));
    fleet.edit(&Edit::Rename(thing(Kind::Feature, "alpha"), "ALPHA".into()));
    assert_eq!(fleet.config("n"), before);
    assert_eq!(fleet.pool.memberships("n").unwrap(), ["Gamma"]);
    assert_eq!(names(&fleet.state, Kind::Feature), ["ALPHA", "B", "C", "D"]);
    assert!(fleet.failures().is_empty());
}

#[test]
fn a_thing_is_made_once_in_whatever_case() {
    let mut fleet = fleet("assert param/BIOTECH");
    let create = Edit::Create(thing(Kind::Param, "BioTech"), Vec::new());
    let refused = fleet.refuses_edit(&create);
    assert!(
        refused.starts_with("there is a param `BIOTECH` already"),
        "{refused}"
    );
    // Somebody who walked in is then expected, and not put into the skeleton group again.
    fleet.tell("assert group/+++SKEL ; assert node/n ; assert node/n/walk-in");
    fleet.edit(&Edit::Create(thing(Kind::Node, "N"), Vec::new()));
    assert_eq!(fleet.pool.is_walk_in("n"), Some(false));
    assert!(fleet.pool.memberships("n").unwrap().is_empty());
    fleet.edit(&Edit::Create(thing(Kind::Node, "new"), Vec::new()));
    assert_eq!(fleet.pool.memberships("new").unwrap(), ["+++SKEL"]);
}

#[test]
fn what_is_not_there_is_not_edited() {
    let fleet = fleet(FLEET);
    let absent = thing(Kind::Feature, "BB");
    for edit in [
        Edit::Remove(absent.clone()),
        Edit::Set(absent.clone(), vec![("annotation", Some("x".into()))]),
        Edit::Rename(absent.clone(), "X".into()),
        Edit::Add(absent.clone(), Relation::Param, items(&["P=1"]), None),
        Edit::Drop(absent.clone(), Relation::Param, vec!["P".into()]),
        Edit::Replace(absent, Relation::Param, Vec::new()),
    ] {
        assert!(
            fleet
                .refuses_edit(&edit)
                .starts_with("there is no feature `BB`")
        );
    }
    let default = thing(Kind::Group, "+++DEFAULT");
    for edit in [
        Edit::Remove(default.clone()),
        Edit::Rename(default, "x".into()),
    ] {
        fleet.refuses_edit(&edit);
    }
    let feature = thing(Kind::Group, "g");
    let valued = Edit::Add(feature, Relation::Feature, items(&["A=1"]), None);
    assert!(
        fleet
            .refuses_edit(&valued)
            .starts_with("a feature has no value")
    );
}

#[test]
fn flags_and_texts_are_set_and_taken_away() {
    let mut fleet = fleet(FLEET);
    let param = thing(Kind::Param, "P");
    let set = |property, value: &str| {
        let value = Some(value.to_owned()).filter(|value| !value.is_empty());
        Edit::Set(param.clone(), vec![(property, value)])
    };
    fleet.edit(&set("restart", "yes"));
    fleet.edit(&set("description", "what for"));
    assert!(fleet.state.get(&param.key().child("restart")).is_some());
    fleet.edit(&set("restart", "no"));
    fleet.edit(&set("description", ""));
    assert_eq!(
        fleet
            .state
            .among(hence_ledger::Keys::Under(param.key()))
            .count(),
        1
    );
    assert!(
        fleet
            .refuses_edit(&set("restart", "maybe"))
            .contains("`yes` or `no`")
    );
}

#[test]
fn sets_are_intersected_and_toggled_and_lists_are_not() {
    let mut fleet = fleet(FLEET);
    let feature = thing(Kind::Feature, "D");
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    for relation in [Relation::Depend, Relation::Conflict] {
        fleet.edit(&Edit::Add(
            feature.clone(),
            relation,
            items(&["A", "B"]),
            None,
        ));
        fleet.edit(&Edit::Toggle(feature.clone(), relation, names(&["b", "C"])));
        let key = |name: &str| feature.key().child(relation.word()).child(name);
        let is_there = |fleet: &Fleet, name: &str| fleet.state.get(&key(name)).is_some();
        assert!(is_there(&fleet, "a") && !is_there(&fleet, "b") && is_there(&fleet, "c"));
        fleet.edit(&Edit::Intersect(
            feature.clone(),
            relation,
            names(&["C", "B"]),
        ));
        assert!(!is_there(&fleet, "a") && !is_there(&fleet, "b") && is_there(&fleet, "c"));
    }
    for edit in [Edit::Toggle, Edit::Intersect] {
        let edit = edit(feature.clone(), Relation::Include, names(&["A"]));
        assert!(
            fleet
                .refuses_edit(&edit)
                .starts_with("the includes of a feature are no set")
        );
    }
}
