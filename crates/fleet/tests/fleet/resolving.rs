//! Configurations of nodes.

use crate::dsl::fleet;

#[test]
fn higher_priority_wins_and_lists_grow_from_the_lowest() {
    for (sign, expected) in [("", "ALPHA"), (">= ", "CHARLIE, BRAVO, ALPHA")] {
        let fleet = fleet(&format!(
            r#"
            assert param/P
            assert group/Alpha   ; assert group/alpha/param/p   "{sign}ALPHA"
            assert group/Bravo   ; assert group/bravo/param/p   "{sign}BRAVO"
            assert group/Charlie ; assert group/charlie/param/p "{sign}CHARLIE"
            assert node/n
            assert node/n/group/alpha 1 ; assert node/n/group/bravo 2 ; assert node/n/group/charlie 3
            "#
        ));
        assert_eq!(fleet.value("n", "P"), expected);
    }
}

#[test]
fn features_of_a_group_are_ordered_as_groups_are() {
    for (sign, expected) in [("", "ALPHA"), (">= ", "CHARLIE, BRAVO, ALPHA")] {
        let fleet = fleet(&format!(
            r#"
            assert param/P
            assert feature/Alpha   ; assert feature/alpha/param/p   "{sign}ALPHA"
            assert feature/Bravo   ; assert feature/bravo/param/p   "{sign}BRAVO"
            assert feature/Charlie ; assert feature/charlie/param/p "{sign}CHARLIE"
            assert group/g
            assert group/g/feature/alpha 1 ; assert group/g/feature/bravo 2 ; assert group/g/feature/charlie 3
            assert node/n ; assert node/n/group/g 1
            "#
        ));
        assert_eq!(fleet.value("n", "P"), expected);
    }
}

#[test]
fn the_published_example_of_a_list_comes_out_as_published() {
    let fleet = fleet(
        r#"
        assert param/List
        assert feature/FooFeature ; assert feature/foofeature/param/list ">= FOO"
        assert feature/BarFeature ; assert feature/barfeature/param/list ">= BAR"
        assert node/n ; assert node/n/feature/foofeature 1 ; assert node/n/feature/barfeature 2
        "#,
    );
    assert_eq!(fleet.config("n"), "List = BAR, FOO");
}

#[test]
fn the_identity_group_is_above_the_default_group() {
    let fleet = fleet(
        r#"
        assert param/P
        assert feature/FOO ; assert feature/foo/param/p ">= FOO"
        assert feature/BAR ; assert feature/bar/param/p ">= BAR"
        assert group/+++default/feature/bar 1 ; assert group/+++default/feature/foo 2
        assert node/n ; assert node/n/param/p ">= BLAH"
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "FOO, BAR, BLAH");
}

#[test]
fn a_single_appended_value_has_no_separator_and_no_marker() {
    for sign in [">=", "&&=", "||=", "?=", ">= &&=", ">=>=>="] {
        let fleet = fleet(&format!(
            r#"assert param/P ; assert group/+++default/param/p "{sign}  X" ; assert node/n"#
        ));
        assert_eq!(fleet.config("n"), "P = X", "{sign}");
    }
}

#[test]
fn operators_join_with_their_own_words() {
    for (sign, expected) in [
        (">=", "a, b"),
        ("&&=", "a && b"),
        ("||=", "a || b"),
        ("?=", "a"),
    ] {
        let fleet = fleet(&format!(
            r#"
            assert param/P ; assert group/+++default/param/p a
            assert node/n ; assert node/n/param/p "{sign} b"
            "#
        ));
        assert_eq!(fleet.value("n", "P"), expected);
    }
}

#[test]
fn of_stacked_operators_the_last_counts_and_a_leading_blank_makes_none() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert group/+++default/param/p a
        assert node/n ; assert node/n/param/p ">= &&= ||= b"
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "a || b");
    fleet.tell(r#"assert node/n/param/p " >= b""#);
    assert_eq!(fleet.value("n", "P"), " >= b");
}

#[test]
fn an_appended_value_of_several_lines_is_kept_whole() {
    let fleet = fleet(
        r#"
        assert param/P ; assert group/+++default/param/p "a"
        assert node/n ; assert node/n/param/p ">= b\n  c\n"
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "a, b\n  c\n");
}

#[test]
fn appending_nothing_changes_nothing_and_appending_to_nothing_takes_the_value() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert group/+++default/param/p D
        assert node/n ; assert node/n/param/p ">= "
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "D");
    fleet.tell(r#"assert group/+++default/param/p "" ; assert node/n/param/p ">= x""#);
    assert_eq!(fleet.value("n", "P"), "x");
}

#[test]
fn a_conditional_value_gives_way_to_any_other_below_it() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert node/n ; assert node/n/param/p "?= I"
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "I");
    fleet.tell(r#"assert group/+++default/param/p "?= D""#);
    assert_eq!(fleet.value("n", "P"), "D");
    fleet.tell(r#"assert group/+++default/param/p plain"#);
    assert_eq!(fleet.value("n", "P"), "plain");
    fleet.tell(r#"assert group/+++default/param/p """#);
    assert_eq!(fleet.value("n", "P"), "I", "an empty value counts as none");
}

#[test]
fn of_conditional_features_the_lowest_wins_in_every_order() {
    let orders = [
        [1, 2, 3],
        [1, 3, 2],
        [2, 1, 3],
        [2, 3, 1],
        [3, 1, 2],
        [3, 2, 1],
    ];
    for order in orders {
        let mut fleet =
            fleet("assert param/P ; assert group/g ; assert node/n ; assert node/n/group/g 1");
        for (name, rank) in ["alpha", "beta", "gamma"].into_iter().zip(order) {
            fleet.tell(&format!(
                r#"
                assert feature/{name} ; assert feature/{name}/param/p "?= {name}"
                assert group/g/feature/{name} {rank}
                "#
            ));
        }
        let lowest = order.iter().position(|&rank| rank == 3).unwrap();
        assert_eq!(fleet.value("n", "P"), ["alpha", "beta", "gamma"][lowest]);
    }
}

#[test]
fn a_value_of_nothing_is_the_default_and_overrides_unless_that_is_empty() {
    let mut fleet = fleet(
        r#"
        assert param/P
        assert feature/F ; assert feature/f/param/p
        assert group/+++default/param/p explicit
        assert node/n ; assert node/n/feature/f 1
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "explicit");
    fleet.tell("assert param/p/default standard");
    assert_eq!(fleet.value("n", "P"), "standard");
}

#[test]
fn false_and_zero_are_values() {
    let fleet = fleet(
        r#"
        assert param/A ; assert param/a/must-change ; assert param/B ; assert param/b/must-change
        assert node/n ; assert node/n/param/a FALSE ; assert node/n/param/b 0
        "#,
    );
    assert_eq!(fleet.config("n"), "A = FALSE\nB = 0");
    assert_eq!(fleet.failures(), "");
}

#[test]
fn values_are_kept_byte_for_byte() {
    for value in [
        "017",
        "0xdefaced",
        "0001234567890",
        "1.100",
        "01.10.01.10",
        " a\tb ",
        "<<",
        "ü",
    ] {
        let fleet = fleet(&format!(
            r#"assert param/P ; assert node/n ; assert node/n/param/p "{value}""#
        ));
        assert_eq!(fleet.value("n", "P"), value);
    }
}

#[test]
fn names_are_found_in_any_case_and_shown_as_they_are_spelled() {
    let mut fleet = fleet("assert param/BIOTECH ; assert node/Node1.Example.COM");
    fleet.tell("assert node/node1.example.com/param/BioTech x");
    assert_eq!(fleet.config("NODE1.example.com"), "BIOTECH = x");
    assert_eq!(fleet.value("node1.example.com", "biotech"), "x");
    assert_eq!(fleet.pool.nodes(), ["Node1.Example.COM"]);
}

#[test]
fn a_value_set_under_another_case_of_the_name_counts() {
    let mut fleet = fleet(
        r#"
        assert param/MustChange ; assert param/mustchange/must-change
        assert feature/F ; assert feature/f/param/MUSTCHANGE
        assert node/n ; assert node/n/feature/F 1
        "#,
    );
    assert_eq!(fleet.failures(), "n unset-parameter MustChange");
    fleet.tell("assert group/+++DEFAULT/param/mustCHANGE set");
    assert_eq!(fleet.failures(), "");
    assert_eq!(fleet.config("n"), "MustChange = set");
}

#[test]
fn a_feature_overrides_what_it_includes() {
    let fleet = fleet(
        r#"
        assert param/P ; assert param/Q
        assert feature/low  ; assert feature/low/param/p low   ; assert feature/low/param/q low
        assert feature/high ; assert feature/high/param/p high ; assert feature/high/param/q high
        assert feature/top  ; assert feature/top/param/q top
        assert feature/top/include/high 1 ; assert feature/top/include/low 2
        assert node/n ; assert node/n/feature/top 1
        "#,
    );
    assert_eq!(fleet.config("n"), "P = high\nQ = top");
}

#[test]
fn a_feature_that_is_reached_twice_is_applied_twice() {
    let fleet = fleet(
        r#"
        assert param/P
        assert feature/b ; assert feature/b/param/p ">= b"
        assert feature/l ; assert feature/l/include/b 1
        assert feature/r ; assert feature/r/include/b 1
        assert feature/a ; assert feature/a/include/l 1 ; assert feature/a/include/r 2 ; assert feature/a/param/p ">= a"
        assert node/n ; assert node/n/feature/a 1
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "b, b, a");
}

#[test]
fn what_a_group_cuts_off_stays_cut_off_under_what_it_appends() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert group/+++default/param/p D
        assert feature/f ; assert feature/f/param/p A
        assert group/g ; assert group/g/feature/f 1 ; assert group/g/param/p ">= B"
        assert node/n ; assert node/n/group/g 1
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "A, B");
    fleet.tell(r#"assert feature/f/param/p "?= A""#);
    assert_eq!(fleet.value("n", "P"), "D, B");
}

#[test]
fn an_empty_value_never_overrides_one() {
    let fleet = fleet(
        r#"
        assert param/P ; assert group/+++default/param/p D
        assert node/n ; assert node/n/param/p ""
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "D");
}

#[test]
fn what_has_no_support_has_no_effect_until_it_has() {
    let mut fleet = fleet(
        r#"
        assert node/n ; assert node/n/group/g 1
        assert group/g/feature/f 1
        assert feature/f/param/p x
        "#,
    );
    assert_eq!(fleet.config("n"), "");
    fleet.tell("assert param/p ; assert feature/f");
    assert_eq!(fleet.config("n"), "");
    fleet.tell("assert group/g");
    assert_eq!(fleet.config("n"), "p = x");
    fleet.tell("retract feature/f");
    assert_eq!(fleet.config("n"), "");
}

#[test]
fn a_secret_is_shown_as_its_fingerprint() {
    let fleet = fleet(
        r#"
        assert param/P ; assert group/+++default/param/p sealed(5ea1 00ff)
        assert node/n ; assert node/n/param/p ">= x"
        "#,
    );
    assert_eq!(fleet.value("n", "P"), "sealed(5ea1), x");
    let value = fleet.pool.value("n", "P").unwrap();
    assert_eq!(value.sealed.unwrap().content, "00ff");
    assert_eq!(value.text, ", x");
}

#[test]
fn a_node_that_nobody_knows_has_the_default_and_the_skeleton_group() {
    let mut fleet = fleet(
        r#"
        assert param/P ; assert param/Q
        assert group/+++default/param/p default ; assert group/+++skel/param/q skeleton
        "#,
    );
    let names = |fleet: &crate::dsl::Fleet| {
        fleet
            .pool
            .stranger_config()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&fleet), ["P"]);
    fleet.tell("assert group/+++skel");
    assert_eq!(names(&fleet), ["P", "Q"]);
    fleet.tell("assert node/n");
    assert_eq!(
        fleet.config("n"),
        "P = default",
        "a known node is in it only if it was put there"
    );
    fleet.tell("assert node/n/group/+++skel 9");
    assert_eq!(fleet.config("n"), "P = default\nQ = skeleton");
}

#[test]
fn the_state_of_then_gives_the_configuration_of_then() {
    let mut fleet = fleet("assert param/P ; assert node/n ; assert node/n/param/p one");
    let then = fleet.clone();
    fleet.tell("assert node/n/param/p two");
    assert_eq!(then.value("n", "P"), "one");
    assert_eq!(fleet.value("n", "P"), "two");
}
