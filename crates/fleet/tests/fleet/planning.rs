//! What an activation changes, and where values come from.

use hence_fleet::{Nodes, changed_nodes, difference, plan};

use crate::dsl::{Fleet, fleet};

/// What a plan says, one node a line.
fn planned(active: &Fleet, head: &Fleet) -> String {
    let plan = plan(&active.pool, &head.pool, Nodes::All);
    let mut lines = Vec::new();
    for (node, difference) in &plan.nodes {
        let mut line = format!("{node}:");
        for changed in &difference.parameters {
            let shown = |value: &Option<hence_fleet::Resolved>| match value {
                Some(value) => value.to_string(),
                None => "-".to_owned(),
            };
            let (before, after) = (shown(&changed.before), shown(&changed.after));
            line.push_str(&format!(" {} {before}→{after}", changed.name));
        }
        for (word, subsystems) in [
            ("restart", &difference.restart),
            ("reread", &difference.reread),
        ] {
            if !subsystems.is_empty() {
                line.push_str(&format!("; {word} {}", subsystems.join(" ")));
            }
        }
        lines.push(line);
    }
    lines.extend(plan.gone.iter().map(|node| format!("{node}: gone")));
    lines.join("\n")
}

/// Before and after some commands.
fn change(before: &str, commands: &str) -> String {
    let active = fleet(before);
    let mut head = active.clone();
    head.tell(commands);
    planned(&active, &head)
}

const WEB: &str = r#"
    assert param/A ; assert param/B ; assert param/b/restart ; assert param/C
    assert subsystem/master ; assert subsystem/master/param/a ; assert subsystem/master/param/b
    assert subsystem/schedd ; assert subsystem/schedd/param/a
    assert feature/f ; assert feature/f/param/a fa
    assert group/web ; assert group/web/feature/f 1 ; assert group/web/param/b wb
    assert node/n1 ; assert node/n1/group/web 1 ; assert node/n2
"#;

#[test]
fn a_parameter_that_is_added_changed_or_removed_is_in_the_plan_and_no_other() {
    assert_eq!(change(WEB, "assert node/n1/param/c x"), "n1: C -→x");
    assert_eq!(
        change(WEB, "assert node/n1/param/a x"),
        "n1: A fa→x; reread master schedd"
    );
    assert_eq!(
        change(WEB, "retract group/web/param/b"),
        "n1: B wb→-; restart master"
    );
    assert_eq!(
        change(WEB, "assert node/n1/param/a fa"),
        "",
        "the same value is no change"
    );
    assert_eq!(change(WEB, "assert node/n1/param/c"), "n1: C -→");
}

#[test]
fn a_restart_comes_before_reading_again() {
    let planned = change(WEB, "assert node/n1/param/a x ; assert node/n1/param/b y");
    assert_eq!(planned, "n1: A fa→x B wb→y; restart master; reread schedd");
}

#[test]
fn whether_a_restart_is_needed_is_what_the_head_says() {
    assert_eq!(
        change(WEB, "retract param/b/restart ; assert node/n1/param/b y"),
        "n1: B wb→y; reread master"
    );
    assert_eq!(
        change(WEB, "assert param/a/restart ; assert node/n1/param/a y"),
        "n1: A fa→y; restart master schedd"
    );
}

#[test]
fn retracting_a_group_changes_its_members_and_drops_its_parameters() {
    assert_eq!(
        change(WEB, "retract group/web"),
        "n1: A fa→- B wb→-; restart master; reread schedd"
    );
    assert_eq!(
        change(WEB, "retract-under group/web"),
        change(WEB, "retract group/web")
    );
}

#[test]
fn changing_a_feature_on_the_default_group_affects_all_nodes() {
    let before = format!("{WEB} ; assert group/+++default/feature/f 1");
    assert_eq!(
        change(&before, "assert feature/f/param/c new"),
        "n1: C -→new\nn2: C -→new"
    );
}

#[test]
fn changing_a_feature_affects_only_the_nodes_that_have_it() {
    assert_eq!(change(WEB, "assert feature/f/param/c new"), "n1: C -→new");
}

#[test]
fn a_default_reaches_the_nodes_that_get_it_through_a_feature() {
    let before = format!("{WEB} ; assert feature/f/param/c");
    assert_eq!(
        change(&before, "assert param/c/default standard"),
        "n1: C →standard"
    );
    assert_eq!(
        change(&before, "assert param/c/must-change"),
        "",
        "no value changes by it"
    );
}

#[test]
fn retracting_a_feature_or_a_parameter_is_a_change() {
    assert_eq!(
        change(WEB, "retract feature/f"),
        "n1: A fa→-; reread master schedd"
    );
    assert_eq!(
        change(WEB, "retract param/b"),
        "n1: B wb→-; restart master",
        "what it meant is what it meant while it was there"
    );
}

#[test]
fn annotations_and_spellings_of_groups_change_no_node() {
    assert_eq!(
        change(
            WEB,
            "assert group/web WEB ; assert node/n1/annotation x ; assert feature/f F"
        ),
        ""
    );
}

#[test]
fn a_new_node_starts_from_the_active_default_and_skeleton_groups() {
    let active = fleet(
        r#"
        assert param/P ; assert param/Q ; assert subsystem/s ; assert subsystem/s/param/p
        assert group/+++default/param/p active ; assert group/+++skel ; assert group/+++skel/param/q skeleton
        "#,
    );
    let mut head = active.clone();
    head.tell("assert node/n ; assert node/n/group/+++skel 1");
    assert_eq!(planned(&active, &head), "");
    assert_eq!(plan(&active.pool, &head.pool, Nodes::All).new, ["n"]);
    head.tell("assert group/+++default/param/p pending");
    assert_eq!(planned(&active, &head), "n: P active→pending; reread s");
}

#[test]
fn a_walk_in_is_told_of_everything_the_default_group_has() {
    let fleet = fleet(
        r#"
        assert param/P ; assert subsystem/s ; assert subsystem/s/param/p
        assert group/+++default/param/p x ; assert node/n ; assert node/n/walk-in
        "#,
    );
    let config = fleet.pool.config("n").unwrap();
    let changed = difference(&Default::default(), &config, &fleet.pool, &fleet.pool);
    assert_eq!(changed.parameters.len(), 1);
    assert_eq!(changed.reread, ["s"]);
    assert_eq!(fleet.pool.is_walk_in("n"), Some(true));
}

#[test]
fn a_node_that_is_retracted_is_gone() {
    assert_eq!(change(WEB, "retract node/n1"), "n1: gone");
}

#[test]
fn moving_between_groups_changes_what_differs_between_them() {
    let before = format!(
        "{WEB} ; assert group/db ; assert group/db/param/b wb ; assert group/db/param/c dc"
    );
    assert_eq!(
        change(
            &before,
            "retract node/n1/group/web ; assert node/n1/group/db 1"
        ),
        "n1: A fa→- C -→dc; reread master schedd"
    );
    let both = format!("{before} ; assert node/n1/group/db 2 ; assert group/db/param/a da");
    assert_eq!(
        change(&both, "assert node/n1/group/web 3"),
        "n1: A fa→da; reread master schedd",
        "another order is another configuration"
    );
}

#[test]
fn a_plan_can_be_about_some_nodes() {
    let active = fleet(WEB);
    let mut head = active.clone();
    head.tell("assert group/+++default/param/c x");
    let all = plan(&active.pool, &head.pool, Nodes::All);
    assert_eq!(all.totals().nodes, 2);
    assert_eq!(all.totals().parameters["C"], 2);
    let only = plan(
        &active.pool,
        &head.pool,
        Nodes::Only(&["N2".into(), "nobody".into(), "n2".into()]),
    );
    assert_eq!(only.nodes.len(), 1);
    assert_eq!(only.nodes[0].0, "n2");
    assert_eq!(
        changed_nodes(&active.pool, &head.pool, Nodes::All),
        ["n1", "n2"]
    );
}

#[test]
fn an_explanation_reads_as_the_published_one() {
    let fleet = fleet(
        r#"
        assert param/FOO
        assert feature/ExecuteNode ; assert feature/executenode/param/foo BAR
        assert feature/OverprovisionedNode ; assert feature/overprovisionednode/include/executenode 1
        assert group/HardWorkers ; assert group/hardworkers/feature/overprovisionednode 1
        assert node/node1.example.com ; assert node/node1.example.com/group/hardworkers 1
        "#,
    );
    let explanation = fleet.pool.explain("node1.example.com", "foo").unwrap();
    assert_eq!(
        explanation.to_string(),
        "# FOO is set to BAR in feature ExecuteNode, which is included in feature\n\
         # OverprovisionedNode, which is installed on group HardWorkers, of which\n\
         # node1.example.com is a member.\n\
         FOO = BAR\n"
    );
    assert_eq!(
        explanation.chain[0].key.as_str(),
        "feature/executenode/param/foo"
    );
}

#[test]
fn an_explanation_tells_the_whole_chain_and_what_lost() {
    let fleet = fleet(
        r#"
        assert param/P ; assert param/p/default std
        assert group/+++default/param/p low
        assert feature/f ; assert feature/f/param/p
        assert group/g ; assert group/g/feature/f 1 ; assert group/g/param/p "?= never"
        assert node/n ; assert node/n/group/g 7 ; assert node/n/param/p ">= more\nlines"
        "#,
    );
    let explanation = fleet.pool.explain("n", "p").unwrap();
    assert_eq!(
        explanation.to_string(),
        "# P is set to low on the default group; this is overridden below.\n\
         # P is set to its default std in feature f, which is installed on group g,\n\
         # of which n is a member.\n\
         # P would be never if it had no value on group g, of which n is a member.\n\
         # P is extended by more\\nlines (>=) on n itself.\n\
         P @=end\nstd, more\nlines\n@end\n"
    );
    let lost: Vec<_> = explanation.lost().map(|lost| lost.key.as_str()).collect();
    assert_eq!(lost, ["group/+++default/param/p"]);
    assert_eq!(explanation.standing().count(), 2);
    assert!(fleet.pool.explain("n", "q").is_none());
    assert_eq!(fleet.pool.explain_all("n").unwrap().len(), 1);
}
