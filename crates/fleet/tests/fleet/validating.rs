//! What only whole nodes can break.

use crate::dsl::fleet;

#[test]
fn without_nodes_a_broken_default_group_fails_under_its_own_name() {
    let mut fleet =
        fleet("assert param/P ; assert param/p/must-change ; assert group/+++default/param/p");
    assert_eq!(fleet.failures(), "+++DEFAULT unset-parameter P");
    fleet.tell("assert group/+++skel ; assert group/+++skel/param/p x");
    assert_eq!(fleet.failures(), "", "the skeleton group is on top");
    fleet.tell("retract group/+++skel ; assert node/n ; assert node/n/param/p x");
    assert_eq!(fleet.failures(), "", "with nodes only these are checked");
}

#[test]
fn a_bare_parameter_that_must_be_changed_needs_a_value_at_any_priority() {
    for place in [
        "group/+++default/param/p",
        "group/g/param/p",
        "node/n/param/p",
    ] {
        let mut fleet = fleet(
            r#"
            assert param/P ; assert param/p/must-change
            assert feature/F ; assert feature/f/param/p
            assert group/g ; assert group/g/feature/f 1
            assert node/n ; assert node/n/group/g 1
            "#,
        );
        assert_eq!(fleet.failures(), "n unset-parameter P");
        fleet.tell(&format!("assert {place} value"));
        assert_eq!(fleet.failures(), "");
        assert_eq!(fleet.value("n", "P"), "value");
    }
}

#[test]
fn of_several_values_for_what_must_be_changed_the_highest_wins() {
    let fleet = fleet(
        r#"
        assert param/P ; assert param/p/must-change
        assert group/+++default/param/p low ; assert group/g ; assert group/g/param/p
        assert node/n ; assert node/n/group/g 1 ; assert node/n/param/p high
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "high");
    assert_eq!(fleet.failures(), "");
}

#[test]
fn unset_parameters_are_listed_exactly_and_the_list_shrinks_and_grows() {
    let mut fleet = fleet(
        r#"
        assert param/A ; assert param/a/must-change ; assert param/B ; assert param/b/must-change
        assert feature/F ; assert feature/f/param/a ; assert feature/f/param/b
        assert node/n ; assert node/n/feature/f 1
        "#,
    );
    assert_eq!(fleet.failures(), "n unset-parameter A B");
    fleet.tell("assert node/n/param/a 1");
    assert_eq!(fleet.failures(), "n unset-parameter B");
    fleet.tell("assert node/n/param/b 1");
    assert_eq!(fleet.failures(), "");
    fleet.tell("retract node/n/param/a");
    assert_eq!(fleet.failures(), "n unset-parameter A");
}

#[test]
fn a_conflict_is_reported_once_whichever_side_declares_it() {
    for declared in [
        "assert feature/a/conflict/b",
        "assert feature/b/conflict/a",
        "assert feature/a/conflict/b ; assert feature/b/conflict/a",
    ] {
        let mut fleet = fleet(
            r#"
            assert feature/a ; assert feature/b
            assert node/n ; assert node/n/feature/a 1 ; assert node/n/feature/b 2
            "#,
        );
        fleet.tell(declared);
        assert_eq!(fleet.failures(), "n conflicting-features a b");
    }
}

#[test]
fn every_pair_that_conflicts_is_counted() {
    let mut fleet = fleet("assert node/n");
    for a in 0..3 {
        fleet.tell(&format!(
            "assert feature/a{a} ; assert node/n/feature/a{a} 1"
        ));
        for b in 0..4 {
            fleet.tell(&format!(
                "assert feature/b{b} ; assert node/n/feature/b{b} 1 ; assert feature/a{a}/conflict/b{b}"
            ));
        }
    }
    assert_eq!(fleet.failures().lines().count(), 12);
    assert!(fleet.failures().contains("n conflicting-features a2 b3"));
}

#[test]
fn conflicts_between_the_default_and_the_identity_group_are_found_both_ways() {
    for kind in ["feature", "param"] {
        for (declared, other) in [("a", "b"), ("b", "a")] {
            let rank = if kind == "feature" { "1" } else { "x" };
            let fleet = fleet(&format!(
                r#"
                assert {kind}/a ; assert {kind}/b ; assert {kind}/{declared}/conflict/{other}
                assert group/+++default/{kind}/a {rank}
                assert node/n ; assert node/n/{kind}/b {rank} ; assert node/other
                "#
            ));
            let code = if kind == "feature" {
                "features"
            } else {
                "parameters"
            };
            assert_eq!(fleet.failures(), format!("n conflicting-{code} a b"));
        }
    }
}

#[test]
fn a_dependency_is_satisfied_by_what_another_group_merely_includes() {
    let mut fleet = fleet(
        r#"
        assert feature/needy ; assert feature/needed ; assert feature/needy/depend/needed
        assert node/n ; assert node/n/feature/needy 1
        "#,
    );
    assert_eq!(fleet.failures(), "n missing-feature needed");
    fleet.tell(
        r#"
        assert feature/bundle ; assert feature/bundle/include/needed 1
        assert group/+++default/feature/bundle 1
        "#,
    );
    assert_eq!(fleet.failures(), "");
}

#[test]
fn dependencies_of_included_features_and_of_dependencies_count() {
    let fleet = fleet(
        r#"
        assert feature/a ; assert feature/b ; assert feature/c ; assert feature/d
        assert feature/a/include/b 1 ; assert feature/b/depend/c ; assert feature/c/include/d 1
        assert node/n ; assert node/n/feature/a 1
        "#,
    );
    assert_eq!(fleet.failures(), "n missing-feature c d");
}

#[test]
fn missing_parameters_are_reported_through_the_whole_chain() {
    let mut fleet = fleet(
        r#"
        assert param/A ; assert param/B ; assert param/C
        assert param/a/depend/b ; assert param/b/depend/c
        assert node/n ; assert node/n/param/a x
        "#,
    );
    assert_eq!(fleet.failures(), "n missing-parameter B C");
    fleet.tell("assert group/+++default/param/b x ; assert group/+++default/param/c");
    assert_eq!(fleet.failures(), "");
}

#[test]
fn every_failing_node_is_reported_however_many_there_are() {
    let mut commands =
        "assert param/P ; assert param/p/must-change ; assert group/+++default/param/p\n"
            .to_owned();
    for number in 0..5000 {
        commands.push_str(&format!("assert node/n{number}\n"));
    }
    assert_eq!(fleet(&commands).failures().lines().count(), 5000);
}

#[test]
fn a_failure_says_whose_fault_it_is_and_what_repairs_it() {
    let fleet = fleet(
        r#"
        assert feature/Needy ; assert feature/Needed ; assert feature/needy/depend/needed
        assert feature/Bundle ; assert feature/bundle/include/needy 1
        assert group/Web ; assert group/web/feature/bundle 4
        assert node/n ; assert node/n/group/web 1
        "#,
    );
    let failures = fleet.pool.validate();
    let blame: Vec<String> = fleet
        .pool
        .blame(&failures[0])
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        blame,
        [
            "feature/bundle/include/needy",
            "feature/needy/depend/needed",
            "group/web/feature/bundle",
        ]
    );
    let repairs: Vec<String> = fleet
        .pool
        .repairs(&failures[0])
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        repairs,
        [
            "install what is needed: `hence assert group/web/feature/needed 5`",
            "or do without what needs it: `hence retract group/web/feature/bundle`",
        ]
    );
    let diagnostic = failures[0].diagnostic(&fleet.pool);
    assert_eq!(
        diagnostic.message,
        "`n` needs `Needed`, which it does not install"
    );
}
