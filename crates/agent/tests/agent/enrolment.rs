//! How a node comes to a token of its own, and what that is worth.

use std::fs;

use hence_agent::{End, Machine, enrol, identity};
use hence_api::{Failure, Join};

use crate::fleet::{Fleet, JOIN, Node, client};

#[test]
fn a_join_is_traded_once_and_the_token_is_the_nodes_own() {
    let fleet = Fleet::new();
    let mut node = Node::new("enrolled", &fleet);
    let directory = node.settings.directory.clone();
    let join = Join {
        server: fleet.server.clone(),
        token: JOIN.to_owned(),
        certificate: None,
    };
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
