//! What one change can break.

use hence_fleet::Words;
use hence_ledger::vocabulary::Reach;
use hence_ledger::{Key, Vocabulary};

use crate::dsl::{codes, fleet, parse};

#[test]
fn a_circle_of_inclusions_and_dependencies_is_refused_at_once() {
    let chain = "assert feature/a ; assert feature/b ; assert feature/c";
    for (first, second, back) in [
        (
            "feature/a/include/b 1",
            "feature/b/include/c 1",
            "feature/c/include/a 1",
        ),
        (
            "feature/a/depend/b",
            "feature/b/depend/c",
            "feature/c/depend/a",
        ),
        (
            "feature/a/depend/b",
            "feature/b/include/c 1",
            "feature/c/depend/a",
        ),
    ] {
        let mut fleet = fleet(&format!("{chain} ; assert {first} ; assert {second}"));
        assert_eq!(
            fleet.refuses(&format!("assert {back}")),
            "fleet.cycle: feature `c` would need itself: `c` → `a` → `b` → `c`"
        );
    }
}

#[test]
fn nothing_needs_itself() {
    for key in [
        "feature/a/include/a 1",
        "feature/a/depend/a",
        "param/p/depend/p",
    ] {
        let mut fleet = fleet("assert feature/a ; assert param/p");
        let refused = fleet.refuses(&format!("assert {key}"));
        assert!(
            refused.starts_with("fleet.cycle:") && refused.ends_with("would need itself"),
            "{refused}"
        );
    }
}

#[test]
fn nothing_conflicts_with_itself() {
    for key in ["feature/a/conflict/a", "param/p/conflict/p"] {
        let mut fleet = fleet("assert feature/a ; assert param/p");
        let refused = fleet.refuses(&format!("assert {key}"));
        assert!(
            refused.starts_with("fleet.conflict-with-itself"),
            "{refused}"
        );
    }
}

#[test]
fn a_circle_that_an_assertion_wakes_up_is_refused() {
    let mut fleet =
        fleet("assert feature/a ; assert feature/a/depend/b ; assert feature/b/depend/a");
    assert!(fleet.refuses("assert feature/b").starts_with("fleet.cycle"));
}

#[test]
fn parameters_do_not_depend_in_circles() {
    let mut fleet = fleet("assert param/A ; assert param/B ; assert param/a/depend/b");
    let refused = fleet.refuses("assert param/b/depend/a");
    assert_eq!(
        refused,
        "fleet.cycle: parameter `B` would need itself: `B` → `A` → `B`"
    );
}

#[test]
fn nothing_conflicts_with_what_it_needs_in_whatever_order_it_is_said() {
    let steps = [
        "assert feature/a/include/b 1",
        "assert feature/b/depend/c",
        "assert feature/a/conflict/c",
    ];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 2, 0],
        [2, 1, 0],
        [2, 0, 1],
        [1, 0, 2],
    ] {
        for back in ["assert feature/a/conflict/c", "assert feature/c/conflict/a"] {
            let mut fleet = fleet("assert feature/a ; assert feature/b ; assert feature/c");
            let step = |number: usize| if number == 2 { back } else { steps[number] };
            fleet.tell(step(order[0]));
            fleet.tell(step(order[1]));
            assert_eq!(
                fleet.refuses(step(order[2])),
                "fleet.conflict-with-itself: feature `a` would conflict with itself: it needs `a` and `c`, which conflict"
            );
        }
    }
}

#[test]
fn a_conflict_at_the_far_end_of_a_chain_is_refused() {
    let mut fleet = fleet(
        r#"
        assert feature/top ; assert feature/left ; assert feature/right ; assert feature/l ; assert feature/r
        assert feature/top/include/left 1 ; assert feature/top/depend/right
        assert feature/left/include/l 1 ; assert feature/right/depend/r
        "#,
    );
    let troubles = fleet.try_to("assert feature/l/conflict/r").unwrap_err();
    assert_eq!(
        codes(&troubles),
        "fleet.conflict-with-itself: feature `top` would conflict with itself: it needs `l` and `r`, which conflict"
    );
    assert_eq!(
        troubles[0].help,
        [
            "it needs `l` by `top` → `left` → `l`",
            "it needs `r` by `top` → `right` → `r`"
        ]
    );
}

#[test]
fn a_feature_cannot_include_one_whose_parameters_conflict_with_its_own() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert param/Q ; assert param/p/conflict/q
        assert feature/f ; assert feature/f/param/p x ; assert feature/g ; assert feature/g/param/q y
        "#,
    );
    assert_eq!(
        fleet.refuses("assert feature/f/include/g 1"),
        "fleet.conflict-with-itself: feature `f` would conflict with itself: it needs `P` and `Q`, which conflict"
    );
}

#[test]
fn a_conflict_between_parameters_that_one_feature_sets_is_refused_later_too() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert param/Q ; assert param/R
        assert feature/f ; assert feature/f/param/p x ; assert feature/f/param/q y
        "#,
    );
    assert!(
        fleet
            .refuses("assert param/p/conflict/q")
            .contains("feature `f`")
    );
    fleet.tell("assert param/q/depend/r");
    assert!(
        fleet
            .refuses("assert param/r/conflict/p")
            .contains("it needs `P` and `R`")
    );
}

#[test]
fn a_parameter_does_not_conflict_with_what_it_depends_on() {
    let mut fleet = fleet("assert param/P ; assert param/Q ; assert param/p/depend/q");
    assert!(
        fleet
            .refuses("assert param/q/conflict/p")
            .contains("parameter `P`")
    );
    let mut other =
        crate::dsl::fleet("assert param/P ; assert param/Q ; assert param/q/conflict/p");
    assert!(
        other
            .refuses("assert param/p/depend/q")
            .contains("parameter `P`")
    );
}

#[test]
fn two_conflicting_features_on_one_group_are_not_refused_at_once() {
    let mut fleet =
        fleet("assert feature/a ; assert feature/b ; assert feature/a/conflict/b ; assert group/g");
    fleet.tell("assert group/g/feature/a 1 ; assert group/g/feature/b 2");
}

#[test]
fn values_are_of_the_kind_of_their_parameter() {
    let good = [
        ("string", "anything at all"),
        ("integer", "-17"),
        ("integer", "0xdefaced"),
        ("integer", "?= 3"),
        ("integer", "$(DETECTED_CPUS)"),
        ("integer", ""),
        ("double", "1.5e3"),
        ("boolean", "TRUE"),
        ("list", ">= a"),
        ("expression", "&&= a > b"),
        ("enumeration(low, high)", "low"),
        ("pattern([a-z]+)", "abc"),
    ];
    for (kind, value) in good {
        fleet(&format!(
            r#"assert param/P ; assert param/p/kind "{kind}" ; assert node/n ; assert node/n/param/p "{value}""#
        ));
    }
    let bad = [
        ("integer", "not a number"),
        ("integer", ">= 3"),
        ("double", "one"),
        ("boolean", "maybe"),
        ("enumeration(low, high)", "medium"),
        ("pattern([a-z]+)", "abc1"),
    ];
    for (kind, value) in bad {
        let mut fleet = fleet(&format!(
            r#"assert param/P ; assert param/p/kind "{kind}" ; assert node/n"#
        ));
        let refused = fleet.refuses(&format!(r#"assert node/n/param/p "{value}""#));
        assert!(
            refused.starts_with("fleet.wrong-value: `node/n/param/p`"),
            "{refused}"
        );
    }
}

#[test]
fn a_kind_is_checked_against_the_values_that_are_there() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert param/p/default many ; assert group/g ; assert group/g/param/p some
        assert feature/f ; assert feature/f/param/p 3 ; assert node/n ; assert node/n/param/p few
        "#,
    );
    let refused = fleet.refuses("assert param/p/kind integer");
    assert_eq!(refused.lines().count(), 3, "{refused}");
    assert!(refused.contains("param/p/default") && refused.contains("group/g/param/p"));
}

#[test]
fn a_kind_that_there_is_not_is_refused_by_name() {
    let mut fleet = fleet("assert param/P");
    let troubles = fleet.try_to("assert param/p/kind Integr").unwrap_err();
    assert_eq!(
        codes(&troubles),
        "fleet.unknown-kind: `param/p/kind`: there is no kind `Integr`"
    );
    assert_eq!(troubles[0].help, ["did you mean `integer`?"]);
    for kind in [
        "enumeration",
        "enumeration(a,,b)",
        "pattern([)",
        "pattern",
        "pattern(a))(b)",
    ] {
        assert!(
            fleet
                .refuses(&format!("assert param/p/kind \"{kind}\""))
                .starts_with("fleet.unknown-kind")
        );
    }
}

#[test]
fn what_must_be_changed_has_no_default() {
    let mut fleet = fleet("assert param/P ; assert param/p/default x");
    assert!(
        fleet
            .refuses("assert param/p/must-change")
            .starts_with("fleet.needless-default")
    );
    fleet.tell("assert param/p/default \"\" ; assert param/p/must-change");
    assert!(
        fleet
            .refuses("assert param/p/default x")
            .starts_with("fleet.needless-default")
    );
}

#[test]
fn a_level_is_a_number_and_an_annotation_is_not_endless() {
    let mut fleet = fleet("assert param/P");
    assert!(
        fleet
            .refuses("assert param/p/level high")
            .starts_with("fleet.wrong-value")
    );
    fleet.tell("assert param/p/level 3");
    let long = "ü".repeat(65_536);
    fleet.tell(&format!("assert param/p/annotation \"{long}\""));
    let refused = fleet.refuses(&format!("assert param/p/annotation \"{long}!\""));
    assert!(refused.starts_with("fleet.too-long"), "{refused}");
}

/// Features of which each includes the one before in two ways.
fn doubled(value: &str, times: usize) -> String {
    let mut commands =
        format!("assert param/P ; assert feature/f0 ; assert feature/f0/param/p \"{value}\"\n");
    for number in 1..=times {
        let below = number - 1;
        commands.push_str(&format!(
            "assert feature/f{number} ; assert feature/l{number} ; assert feature/l{number}/include/f{below} 1
             assert feature/f{number}/include/f{below} 1 ; assert feature/f{number}/include/l{number} 2\n"
        ));
    }
    commands
}

#[test]
fn a_feature_applied_more_often_than_there_is_room_for_is_refused() {
    fleet(&doubled("x", 10));
    let mut fleet = crate::dsl::Fleet::default();
    let refused = fleet.refuses(&doubled("x", 60));
    assert!(
        refused.starts_with("fleet.too-often: feature `f15`"),
        "{refused}"
    );
}

#[test]
fn a_value_that_grows_beyond_all_measure_is_refused() {
    let long = format!(">= {}", "x".repeat(40_000));
    fleet(&doubled(&long, 4));
    let mut fleet = crate::dsl::Fleet::default();
    let refused = fleet.refuses(&doubled(&long, 5));
    assert!(refused.starts_with("fleet.too-long"), "{refused}");
}

#[test]
fn names_that_are_empty_or_kept_are_refused() {
    for (command, message) in [
        ("assert node/+++x", "`+++x` is no name for a node"),
        ("assert group/+++x", "`+++x` is no name for a group"),
        (
            "assert node/n/group/+++x 1",
            "`+++x` is no name for a group",
        ),
        (
            "assert node/n/group/+++default 1",
            "every node is a member of the default group",
        ),
        (
            "assert group/+++default",
            "the default group is always there",
        ),
        ("assert node/", "this is not a key"),
        ("assert group//feature/f 1", "this is not a key"),
    ] {
        let troubles = parse(command).expect_err(command);
        assert_eq!(troubles[0].message, message);
    }
    parse("assert feature/+++x ; assert group/+++skel").expect("these are names");
}

#[test]
fn words_that_there_are_not_are_refused_with_the_nearest_one() {
    for (command, message, help) in [
        (
            "assert grop/web",
            "a fleet has no `grop`",
            "did you mean `group`?",
        ),
        (
            "assert group/web/featur/f 1",
            "a group has no `featur`",
            "did you mean `feature`?",
        ),
        (
            "assert param/p/defualt x",
            "a param has no `defualt`",
            "did you mean `default`?",
        ),
        (
            "assert node/n/group",
            "`node/n/group` is only the beginning of a key",
            "`group/NAME` goes on with a name",
        ),
    ] {
        let troubles = parse(command).expect_err(command);
        assert_eq!(troubles[0].message, message);
        assert_eq!(troubles[0].help, [help]);
    }
    for command in [
        "assert node/n/group/g high",
        "assert node/n/group/g",
        "assert param/p/must-change yes",
        "assert param/p/kind",
        "assert param/p/kind/x y",
        "assert param/p Other",
        "assert feature/f/param/p/q x",
    ] {
        parse(command).expect_err(command);
    }
}

#[test]
fn a_name_keeps_the_spelling_it_was_asserted_with() {
    let mut fleet = fleet("assert param/BioTech");
    assert_eq!(
        fleet.state.to_string(),
        "apply test {\n  assert param/biotech BioTech\n}\n"
    );
    fleet.tell("assert param/biotech BIOTECH");
    assert_eq!(
        fleet.state.len(),
        1,
        "one name in another case is the same name"
    );
}

#[test]
fn asserting_a_feature_or_a_membership_again_moves_nothing() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert group/a ; assert group/b
        assert group/a/param/p ">= a" ; assert group/b/param/p ">= b"
        assert node/n ; assert node/n/group/a 1 ; assert node/n/group/b 2
        "#,
    );
    assert!(
        fleet
            .tell("assert node/n/group/A 01 ; assert node/n/group/a 1")
            .is_empty()
    );
    assert_eq!(fleet.value("n", "P"), "b, a");
    fleet.tell("assert node/n/group/a 3");
    assert_eq!(fleet.value("n", "P"), "a, b", "another rank moves it");
}

#[test]
fn equal_ranks_are_ordered_by_name() {
    let fleet = fleet(
        r#"
        assert param/P ; assert group/B ; assert group/a
        assert group/a/param/p ">= a" ; assert group/b/param/p ">= b"
        assert node/n ; assert node/n/group/b 1 ; assert node/n/group/a 1
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "b, a");
    assert_eq!(fleet.pool.memberships("n").unwrap(), ["a", "B"]);
}

#[test]
fn a_relation_needs_both_of_its_ends_and_the_default_group_is_always_there() {
    for (key, supports) in [
        ("group/web", [].as_slice()),
        ("group/web/feature/f", &["group/web", "feature/f"]),
        ("group/+++default/feature/f", &["feature/f"]),
        ("group/+++skel/param/p", &["group/+++skel", "param/p"]),
        ("node/n/walk-in", &["node/n"]),
        ("node/n/group/+++skel", &["node/n", "group/+++skel"]),
        ("feature/f/include/g", &["feature/f", "feature/g"]),
        ("subsystem/s/param/p", &["subsystem/s", "param/p"]),
    ] {
        let needed = Words.supports(&Key::from_text(key));
        let needed: Vec<&str> = needed.iter().map(Key::as_str).collect();
        assert_eq!(needed, supports, "{key}");
    }
    let reach = |key: &str| Words.reach(&Key::from_text(key));
    assert_eq!(reach("node/n"), Reach::Below);
    assert_eq!(reach("param/p"), Reach::Anywhere);
    assert_eq!(reach("param/p/default"), Reach::Nowhere);
}
