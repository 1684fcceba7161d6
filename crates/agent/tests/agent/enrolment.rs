//! How a node comes to a token of its own, and what that is worth.

use std::fs;
use std::sync::atomic::Ordering;

use hence_agent::{End, Machine, enrol, identity};
use hence_api::words::{About, Done};
use hence_api::{Failure, Join};

use crate::cut::Frail;
use crate::fleet::{Fleet, JOIN, Node, client};
use crate::network::{Then, between};

#[test]
fn a_join_is_traded_once_and_the_token_is_the_nodes_own() {
    let fleet = Fleet::new();
    let mut node = Node::new("enrolled", &fleet);
    let directory = node.settings.directory.clone();
    let join = join(&fleet.server);
    let machine = Machine::default();
    assert_eq!(identity(&machine, &directory).unwrap(), None);
    let enrolled = enrol(&machine, &directory, "n2", &join).unwrap().unwrap();
    assert_eq!(
        identity(&machine, &directory).unwrap().as_ref(),
        Some(&enrolled)
    );
    let path = directory.join("identity.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains(JOIN), "the token of the join is not kept");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    // With it, the node is itself.
    node.settings.node = "N2".to_owned();
    node.client = client(&fleet.server, &enrolled.token);
    fleet.say("assert node/n2/param/PORT 99");
    let version = fleet.activate();
    assert_eq!(node.round().end, End::Applied(version));
    // Somebody who comes later with the same name gets nothing.
    let Err(Failure::Refused(_, why)) = enrol(&machine, &directory, "n2", &join).unwrap() else {
        panic!("it was traded twice")
    };
    assert_eq!(why[0].code.name, "server.enrolled");
    assert_eq!(
        identity(&machine, &directory).unwrap(),
        Some(enrolled),
        "nothing is lost"
    );
    // And nobody else.
    node.settings.node = "n1".to_owned();
    let ended = node.round();
    assert!(
        matches!(ended.away, Some(Failure::Refused(403, _))),
        "{ended:?}"
    );
    assert_eq!(node.file("port"), "port=99\nmore=none\n");
}

fn join(server: &str) -> Join {
    Join::new(server.to_owned(), JOIN.to_owned(), None)
}

#[test]
fn an_agent_that_is_cut_while_it_enrols_joins_with_the_same_word() {
    let fleet = Fleet::new();
    let mut cuts = 0;
    for half in [false, true] {
        for step in 1.. {
            let name = format!("cut-{half}-{step}");
            let directory = Node::new(&name, &fleet).settings.directory;
            let join = join(&fleet.server);
            if enrol(&Frail::new(step, half), &directory, &name, &join).is_ok() {
                break;
            }
            cuts += 1;
            let machine = Machine::default();
            // The last step may have been done all the same.
            let enrolled = match identity(&machine, &directory).unwrap() {
                Some(enrolled) => enrolled,
                None => enrol(&machine, &directory, &name, &join).unwrap().unwrap(),
            };
            let about = client(&fleet.server, &enrolled.token).get::<About>("");
            assert_eq!(about.unwrap().token, format!("node-{name}"));
            assert_eq!(identity(&machine, &directory).unwrap(), Some(enrolled));
            let left = fs::read_dir(&directory).unwrap().count();
            assert_eq!(left, 1, "{name}: nothing else stays that holds the token");
        }
    }
    assert!(cuts >= 8, "{cuts}");
}

#[test]
fn an_answer_that_got_lost_is_asked_for_again_by_who_asked_and_nobody_else() {
    let fleet = Fleet::new();
    let directory = Node::new("lost", &fleet).settings.directory;
    let between = between(&fleet.server, Then::HangUp);
    between.left.store(0, Ordering::Relaxed);
    let machine = Machine::default();
    let way = join(&between.address);
    let lost = enrol(&machine, &directory, "n3", &way).unwrap();
    assert!(matches!(lost, Err(Failure::Unreachable(_))), "{lost:?}");
    assert_eq!(identity(&machine, &directory).unwrap(), None);
    // The server heard it, and somebody else is too late.
    let elsewhere = Node::new("lost_elsewhere", &fleet).settings.directory;
    let late = enrol(&machine, &elsewhere, "n3", &join(&fleet.server)).unwrap();
    let Err(Failure::Refused(409, why)) = late else {
        panic!("another token was taken: {late:?}")
    };
    assert_eq!(why[0].code.name, "server.enrolled");
    between.left.store(usize::MAX, Ordering::Relaxed);
    let before: About = fleet.administrator.get("").unwrap();
    let enrolled = enrol(&machine, &directory, "N3", &way).unwrap().unwrap();
    assert_eq!(enrolled.node, "n3");
    let after: About = fleet.administrator.get("").unwrap();
    assert_eq!(before.version, after.version, "it was done already");
    let about: About = client(&fleet.server, &enrolled.token).get("").unwrap();
    assert_eq!(about.token, "node-n3");
}

#[test]
fn a_word_that_expired_after_it_was_heard_did_its_work() {
    let fleet = Fleet::new();
    let directory = Node::new("expired", &fleet).settings.directory;
    let between = between(&fleet.server, Then::HangUp);
    between.left.store(0, Ordering::Relaxed);
    let machine = Machine::default();
    let way = join(&between.address);
    assert!(enrol(&machine, &directory, "n4", &way).unwrap().is_err());
    between.left.store(usize::MAX, Ordering::Relaxed);
    let gone = fleet.administrator.delete::<Done>("tokens/newcomers");
    assert!(gone.is_ok(), "{gone:?}");
    let enrolled = enrol(&machine, &directory, "n4", &way).unwrap().unwrap();
    assert_eq!(identity(&machine, &directory).unwrap(), Some(enrolled));
    // Without that it is worth nothing.
    let elsewhere = Node::new("expired_elsewhere", &fleet).settings.directory;
    let late = enrol(&machine, &elsewhere, "n5", &way).unwrap();
    assert!(matches!(late, Err(Failure::Refused(401, _))), "{late:?}");
    assert_eq!(identity(&machine, &elsewhere).unwrap(), None);
}
