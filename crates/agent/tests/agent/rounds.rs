//! What a round comes to.

use std::fs;
use std::time::Duration;

use hence_agent::{End, Form, Machine, Map, map_path};
use hence_api::words::Outcome;

use crate::fleet::{Fleet, Node, seal, site};

#[test]
fn from_nothing_to_installed_and_reported_and_then_there_is_nothing_to_do() {
    let fleet = Fleet::new();
    let node = Node::new("installed", &fleet);
    assert_eq!(node.round().end, End::Nothing, "nothing is active yet");
    assert!(node.told().is_empty());
    let version = fleet.activate();
    let ended = node.round();
    assert_eq!(ended.end, End::Applied(version), "{ended:?}");
    assert_eq!(node.file("site.conf"), site(version, "80", "error"));
    assert_eq!(node.file("port"), "port=80\nmore=none\n");
    assert_eq!(node.told(), ["restart httpd", "reread logger"]);
    let report = fleet.report();
    assert_eq!(report.applied, Some(version));
    assert_eq!(
        (report.outcome, report.error),
        (Some(Outcome::Applied), None)
    );
    for fact in [
        "hostname",
        "os",
        "kernel",
        "architecture",
        "cpus",
        "memory_mb",
        "load",
    ] {
        assert!(
            report.facts.contains_key(fact),
            "{fact}: {:?}",
            report.facts
        );
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| {
            let metadata = fs::metadata(node.directory.join(name)).unwrap();
            metadata.permissions().mode() & 0o777
        };
        assert_eq!((mode("site.conf"), mode("port")), (0o444, 0o600));
        assert_eq!(mode("agent/configuration.json"), 0o600);
    }
    assert_eq!(node.round().end, End::Nothing);
    assert_eq!(node.told().len(), 2);
}

#[test]
#[cfg(unix)]
fn who_has_no_say_in_a_file_reads_no_secret_in_it_now_or_later() {
    use std::os::unix::fs::PermissionsExt;
    let fleet = Fleet::new();
    let node = Node::new("secret", &fleet);
    let mode = |name: &str| {
        let metadata = fs::metadata(node.directory.join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    fleet.activate();
    node.round();
    assert_eq!((mode("site.conf"), mode("port")), (0o444, 0o600));
    let sealed = seal().seal("open sesame");
    let (fingerprint, content) = (sealed.fingerprint, sealed.content);
    fleet.say(&format!(
        "assert node/n1/param/LOG sealed({fingerprint} {content})"
    ));
    let secret = fleet.activate();
    assert_eq!(node.round().end, End::Applied(secret));
    assert!(node.file("site.conf").contains("LOG = open sesame"));
    assert_eq!(mode("site.conf"), 0o400);
    // The mode that somebody said stays.
    assert_eq!(mode("port"), 0o600);
    let open = fleet.set("LOG", "error");
    assert_eq!(node.round().end, End::Applied(open));
    assert!(node.file("site.conf.previous").contains("open sesame"));
    assert_eq!(
        (mode("site.conf"), mode("site.conf.previous")),
        (0o400, 0o400)
    );
}

#[test]
fn only_those_are_told_whom_it_concerns_and_the_old_file_stays_beside() {
    let fleet = Fleet::new();
    let node = Node::new("concerned", &fleet);
    let first = fleet.activate();
    node.round();
    node.forget_told();
    let second = fleet.set("LOG", "debug");
    assert_eq!(node.round().end, End::Applied(second));
    assert_eq!(node.told(), ["reread logger"]);
    assert_eq!(node.file("site.conf.previous"), site(first, "80", "error"));
    node.forget_told();
    let third = fleet.set("PORT", "81");
    assert_eq!(node.round().end, End::Applied(third));
    assert_eq!(node.told(), ["restart httpd"]);
    assert_eq!(node.file("port"), "port=81\nmore=none\n");
    let map = map_path(&node.settings.directory, &node.settings.files[0].path);
    let map: Map = serde_json::from_slice(&fs::read(map).unwrap()).unwrap();
    let names: Vec<&str> = map.at(3).map(|part| part.parameter.as_str()).collect();
    assert_eq!((names, map.version), (vec!["PORT"], third));
    assert!(map.is_of(node.file("site.conf").as_bytes()));
}

#[test]
fn who_takes_all_others_along_is_restarted_alone_and_who_has_no_command_is_reported() {
    let fleet = Fleet::new();
    let mut node = Node::new("restart_all", &fleet);
    fleet.activate();
    node.round();
    node.forget_told();
    node.settings.restart_all = Some("HTTPD".to_owned());
    fleet.say("assert node/n1/param/LOG info");
    let version = fleet.set("PORT", "82");
    assert_eq!(node.round().end, End::Applied(version));
    assert_eq!(node.told(), ["restart httpd"]);
    node.settings.subsystems.remove("logger");
    let version = fleet.set("LOG", "warn");
    assert_eq!(node.round().end, End::Applied(version));
    let error = "no command is configured to reread `logger`";
    assert_eq!(fleet.report().error.as_deref(), Some(error));
}

#[test]
fn what_is_not_valid_never_takes_the_place_of_the_old() {
    let fleet = Fleet::new();
    let node = Node::new("not_valid", &fleet);
    let good = fleet.activate();
    node.round();
    node.forget_told();
    let bad = fleet.set("LOG", "BROKEN");
    let ended = node.round();
    let End::Refused(version, why) = ended.end else {
        panic!("{ended:?}")
    };
    assert_eq!(version, bad);
    assert!(
        why.contains("site.conf` is not valid: exit status: 1: LOG = BROKEN"),
        "{why}"
    );
    assert_eq!(node.file("site.conf"), site(good, "80", "error"));
    assert!(node.told().is_empty());
    let report = fleet.report();
    assert_eq!(
        (report.applied, report.outcome),
        (Some(good), Some(Outcome::RolledBack))
    );
    assert_eq!(node.round().end, End::Nothing, "it is not tried again");
    let better = fleet.set("LOG", "info");
    assert_eq!(node.round().end, End::Applied(better));
    assert_eq!(fleet.report().error, None);
}

#[test]
fn a_failed_restart_switches_back_and_is_not_tried_again_until_something_changes() {
    let fleet = Fleet::new();
    let mut node = Node::new("switched_back", &fleet);
    let good = fleet.activate();
    node.round();
    node.forget_told();
    let bad = fleet.set("PORT", "BAD");
    assert!(matches!(node.round().end, End::Refused(version, _) if version == bad));
    assert_eq!(node.file("site.conf"), site(good, "80", "error"));
    assert_eq!(node.file("port"), "port=80\nmore=none\n");
    assert_eq!(node.told(), ["restart httpd", "restart httpd"]);
    let report = fleet.report();
    assert_eq!(
        (report.applied, report.outcome),
        (Some(good), Some(Outcome::RolledBack))
    );
    assert!(
        report
            .error
            .unwrap()
            .starts_with("to restart `httpd` failed: exit status: 1")
    );
    assert_eq!(node.round().end, End::Nothing);
    assert_eq!(node.told().len(), 2);
    node.settings.retry = Duration::ZERO;
    assert!(matches!(node.round().end, End::Refused(..)));
    assert_eq!(node.told().len(), 4);
    let better = fleet.set("PORT", "83");
    assert_eq!(node.round().end, End::Applied(better));
}

#[test]
fn if_the_old_does_not_start_either_that_is_a_failure() {
    let fleet = Fleet::new();
    let mut node = Node::new("failed", &fleet);
    fleet.activate();
    node.round();
    let httpd = node.settings.subsystems.get_mut("httpd").unwrap();
    httpd.restart = Some(vec!["false".to_owned()]);
    let bad = fleet.set("PORT", "84");
    assert!(matches!(node.round().end, End::Failed(version, _) if version == bad));
    assert_eq!(node.file("port"), "port=80\nmore=none\n");
    assert_eq!(fleet.report().outcome, Some(Outcome::Failed));
    // It is still down, so what it was told in vain is not good either, however often it is activated.
    fleet.set("PORT", "80");
    assert!(matches!(node.round().end, End::Failed(..)));
    assert_eq!(fleet.report().outcome, Some(Outcome::Failed));
    let httpd = node.settings.subsystems.get_mut("httpd").unwrap();
    httpd.restart = Some(vec!["true".to_owned()]);
    node.settings.retry = Duration::ZERO;
    assert!(matches!(node.round().end, End::Applied(_)));
    assert_eq!(fleet.report().outcome, Some(Outcome::Applied));
    assert_eq!(fleet.report().error, None);
}

#[test]
fn who_could_not_be_told_that_the_old_is_back_is_told_in_the_next_round() {
    let fleet = Fleet::new();
    let mut node = Node::new("untold", &fleet);
    fleet.activate();
    node.round();
    let httpd = node.settings.subsystems.get_mut("httpd").unwrap();
    let good = httpd.restart.replace(vec!["false".to_owned()]);
    fleet.set("PORT", "84");
    assert!(matches!(node.round().end, End::Failed(..)));
    node.forget_told();
    node.settings.subsystems.get_mut("httpd").unwrap().restart = good;
    assert!(matches!(node.round().end, End::Applied(_)));
    assert_eq!(node.told(), ["restart httpd"]);
    // It runs the old, and what it should run is still refused.
    assert_eq!(fleet.report().outcome, Some(Outcome::RolledBack));
    assert_eq!(node.round().end, End::Nothing);
    assert_eq!(node.told().len(), 1);
}

#[test]
fn a_first_version_that_does_not_start_leaves_what_was_there() {
    let fleet = Fleet::new();
    let node = Node::new("first", &fleet);
    fs::write(node.directory.join("site.conf"), "by hand\n").unwrap();
    fleet.set("PORT", "BAD");
    assert!(matches!(node.round().end, End::Refused(..)));
    assert_eq!(node.file("site.conf"), "by hand\n");
    assert!(!node.directory.join("port").exists());
    assert_eq!(fleet.report().applied, None);
}

#[test]
fn drift_is_found_put_aside_and_put_right() {
    let fleet = Fleet::new();
    let node = Node::new("drift", &fleet);
    let version = fleet.activate();
    node.round();
    node.forget_told();
    let path = node.directory.join("site.conf");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "PORT = 1\n").unwrap();
    fs::remove_file(node.directory.join("port")).unwrap();
    assert_eq!(node.round().end, End::Applied(version));
    assert_eq!(node.file("site.conf"), site(version, "80", "error"));
    assert_eq!(node.file("site.conf.drifted"), "PORT = 1\n");
    assert_eq!(node.file("port"), "port=80\nmore=none\n");
    assert_eq!(node.told(), ["reread httpd", "reread logger"]);
    let drift = fleet.report().drift.unwrap();
    assert!(drift.contains("site.conf` was changed"), "{drift}");
    assert!(drift.contains("port` is gone"), "{drift}");
    assert_eq!(node.round().end, End::Nothing);
    assert_eq!(fleet.report().drift, None);
}

#[test]
fn what_keeps_a_node_from_its_work_is_reported_until_it_is_gone() {
    let fleet = Fleet::new();
    let node = Node::new("obstacle", &fleet);
    let version = fleet.activate();
    node.round();
    let path = node.directory.join("site.conf");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = node.round_on(&Machine::default()).unwrap_err().to_string();
    let report = fleet.report();
    assert_eq!(
        (report.applied, report.outcome, report.error),
        (Some(version), Some(Outcome::Failed), Some(error))
    );
    assert!(report.facts.contains_key("hostname"), "{:?}", report.facts);
    fs::remove_dir(&path).unwrap();
    assert_eq!(node.round().end, End::Applied(version));
    let report = fleet.report();
    assert_eq!(
        (report.outcome, report.error),
        (Some(Outcome::Applied), None)
    );
}

#[test]
fn the_node_has_the_last_word() {
    let fleet = Fleet::new();
    let mut node = Node::new("last_word", &fleet);
    let version = fleet.activate();
    let overrides = node.directory.join("overrides");
    fs::create_dir(&overrides).unwrap();
    fs::write(overrides.join("10.conf"), "LOG = trace\n").unwrap();
    fs::write(overrides.join("10.conf~"), "LOG = nonsense\n").unwrap();
    node.settings.overrides = Some(overrides.clone());
    node.settings.survival = vec!["ALLOW = agent".to_owned()];
    node.settings.advertise = vec!["ATTRS".to_owned()];
    node.round();
    let text = node.file("site.conf");
    let lines: Vec<&str> = text.lines().collect();
    let overridden = format!("# {}", overrides.join("10.conf").display());
    let version = format!("HENCE_VERSION = \"{version}\"");
    let expected = [
        "LOG = error",
        "PORT = 80",
        "HENCE_FEATURES = \"Web\"",
        "HENCE_GROUPS = \"\"",
        &version,
        "ATTRS = $(ATTRS), HENCE_FEATURES, HENCE_GROUPS, HENCE_VERSION",
        "# survival",
        "ALLOW = agent",
        &overridden,
        "LOG = trace",
    ];
    assert_eq!(lines[1..], expected);
    // What changes on the node is applied without another version.
    node.forget_told();
    fs::write(overrides.join("10.conf"), "LOG = none\n").unwrap();
    assert!(matches!(node.round().end, End::Applied(_)));
    assert_eq!(node.told(), ["reread httpd", "reread logger"]);
}

#[test]
fn a_template_that_asks_for_too_much_is_refused_by_name() {
    let fleet = Fleet::new();
    let mut node = Node::new("template", &fleet);
    fleet.activate();
    let template = node.directory.join("port.template");
    fs::write(&template, "${PORT}\n${NOBODY}").unwrap();
    let Form::Template(path) = &mut node.settings.files[1].form else {
        panic!()
    };
    path.clone_from(&template);
    let End::Refused(_, why) = node.round().end else {
        panic!()
    };
    assert!(
        why.contains("line 2: there is no parameter `NOBODY`"),
        "{why}"
    );
    fs::write(&template, "${hence_node}:${Port}").unwrap();
    assert!(
        matches!(node.round().end, End::Applied(_)),
        "what changed is tried"
    );
    assert_eq!(node.file("port"), "n1:80");
}

#[test]
fn a_command_adds_facts() {
    let fleet = Fleet::new();
    let mut node = Node::new("facts", &fleet);
    let says = |text: &str| Some(["echo", text].map(str::to_owned).to_vec());
    node.settings.facts = says("rack = r7\nslots=4");
    node.round();
    assert_eq!(fleet.report().facts["rack"], "r7");
    node.settings.facts = says(r#"{"rack": "r8", "slots": 4}"#);
    node.round();
    let facts = fleet.report().facts;
    assert_eq!(
        (facts["rack"].as_str(), facts["slots"].as_str()),
        ("r8", "4")
    );
    node.settings.facts = Some(vec!["false".to_owned()]);
    let notes = node.round().notes;
    assert_eq!(notes, ["the command for facts failed: exit status: 1"]);
}
