//! What a token does not allow by a detour: secrets that were read sealed, what others say, more nodes than were meant.

use hence_api::words::{self, NewToken};
use hence_server::Limits;
use hence_service::seal::Seal;
use hence_store::Memory;

use crate::{POOL, Server, activate, commit, grant, no, sealed};

const SECRETS: &str = "assert param/KEY ; assert node/good ; assert node/evil";

#[test]
fn what_is_sealed_stays_under_its_key_unless_the_secret_is_handed_in() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let secret = sealed("open sesame");
    commit(&admin, SECRETS).unwrap();
    commit(&admin, &format!("assert node/good/param/KEY {secret}")).unwrap();
    let someone = server.token("someone", &[grant("read", &[]), grant("write", &["node"])]);
    let carry = format!("assert node/evil/param/KEY {secret}");
    assert_eq!(
        no(commit(&someone, &carry)),
        (403, "ledger.forbidden".to_owned())
    );
    // What is said under its key may be said there again, also by an undo.
    let same = format!("assert node/good/param/KEY {secret}");
    assert_eq!(commit(&someone, &same).unwrap().version, None);
    let gone = commit(&admin, "retract node/good/param/KEY").unwrap();
    let undo = words::Undo {
        version: gone.version,
        ..words::Undo::default()
    };
    someone.post::<words::Done>("undo", &undo).unwrap();
    // Whoever knows it may say it anywhere, and it is the same.
    let text = "open sesame".to_owned();
    let own: words::Sealed = someone.post("seal", &words::Secret { text }).unwrap();
    assert_eq!(
        format!("sealed({} {})", own.fingerprint, own.content),
        secret
    );
    let carried = |own: &words::Sealed| words::Commit {
        commands: words::Commands::Text(carry.clone()),
        handed_in: vec![own.clone()],
        ..words::Commit::default()
    };
    assert_eq!(no(commit(&someone, &carry)).0, 403);
    let forged = words::Sealed {
        receipt: own.receipt.replacen('1', "2", 1),
        ..own.clone()
    };
    let refused = someone.post::<words::Done>("commits", &carried(&forged));
    assert_eq!(no(refused).0, 403);
    someone
        .post::<words::Done>("commits", &carried(&own))
        .unwrap();
    // What another token handed in does not count.
    let other = server.token("other", &[grant("read", &[]), grant("write", &["node"])]);
    commit(&admin, "retract node/evil/param/KEY").unwrap();
    let refused = other.post::<words::Done>("commits", &carried(&own));
    assert_eq!(no(refused).0, 403);
    // Whoever administers may carry secrets about.
    commit(&admin, &carry).unwrap();
}

#[test]
fn what_cannot_be_opened_is_neither_taken_nor_activated_nor_served() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, SECRETS).unwrap();
    let foreign = Seal::new(&[8; 32]).seal("open sesame");
    for (fingerprint, content) in [
        ("x", "zz"),
        ("x", ""),
        (&*foreign.fingerprint, &*foreign.content),
    ] {
        let body = serde_json::json!({"commands": [{"assert": {
            "owner": "operator", "key": "node/good/param/key",
            "value": {"sealed": {"fingerprint": fingerprint, "content": content}},
        }}]});
        let (status, answer) =
            server.status("POST", "/api/v1/commits", &server.admin, &body.to_string());
        assert!(status == 422 && answer.contains("store.key"), "{answer}");
    }
    // Without its key a ledger takes what a dump says, and nobody gets it.
    let keyless = Server::with_seal(Memory::default(), Limits::default(), None);
    let admin = keyless.admin();
    commit(&admin, SECRETS).unwrap();
    commit(
        &admin,
        &format!("assert node/good/param/KEY {}", sealed("open sesame")),
    )
    .unwrap();
    let no_key = (422, "store.key".to_owned());
    let all = words::Activation::default();
    assert_eq!(
        no(admin.post::<words::Activated>("activations", &all)),
        no_key
    );
    let own = format!("hence_{}", "a".repeat(64));
    let enrolment = words::Enrolment {
        node: "good".to_owned(),
        token: own.clone(),
    };
    let join = keyless.client(&keyless.join("hall", None));
    join.post::<words::Enrolled>("enrolments", &enrolment)
        .unwrap();
    let node = keyless.client(&own);
    let config = "nodes/good/config?head=true";
    assert_eq!(no(node.get::<words::Configuration>(config)), no_key);
    admin.get::<words::Configuration>(config).unwrap();
    // One node's secret is no trouble for others.
    let evil = words::Activation {
        extent: words::Extent {
            nodes: vec!["evil".to_owned()],
            ..words::Extent::default()
        },
        ..words::Activation::default()
    };
    admin
        .post::<words::Activated>("activations", &evil)
        .unwrap();
}

#[test]
fn a_token_for_one_owner_neither_undoes_nor_restores_what_others_say() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    let theirs = commit(&admin, "assert node/theirs").unwrap();
    let token = NewToken {
        name: "dep".to_owned(),
        may: vec![grant("read", &[]), grant("write", &[])],
        owner: Some("site".to_owned()),
        ..NewToken::default()
    };
    let made: words::MadeToken = admin.post("tokens", &token).unwrap();
    let site = server.client(&made.token);
    let doing = || words::Doing {
        owner: "site".to_owned(),
        ..words::Doing::default()
    };
    let undo = |version| words::Undo {
        version,
        doing: doing(),
    };
    let restore = words::Restore {
        version: 1,
        doing: doing(),
    };
    let forbidden = (403, "ledger.forbidden".to_owned());
    assert_eq!(
        no(site.post::<words::Done>("undo", &undo(theirs.version))),
        forbidden
    );
    assert_eq!(no(site.post::<words::Done>("restore", &restore)), forbidden);
    let take = words::Commit {
        commands: words::Commands::Text("assert node/theirs".to_owned()),
        doing: doing(),
        take: vec!["node/theirs".to_owned()],
        ..words::Commit::default()
    };
    assert_eq!(no(site.post::<words::Done>("commits", &take)), forbidden);
    let own = words::Commit {
        commands: words::Commands::Text("assert node/own".to_owned()),
        take: Vec::new(),
        ..take
    };
    let own: words::Done = site.post("commits", &own).unwrap();
    site.post::<words::Done>("undo", &undo(own.version))
        .unwrap();
}

#[test]
fn a_request_that_is_misspelt_or_names_nobody_means_nothing() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    for body in [
        r#"{"nodes":[]}"#,
        r#"{"groups":[]}"#,
        r#"{"node":"n1"}"#,
        r#"{"nodes":["n1"],"percent":100}"#,
        r#"{"group":"web","plans":"1/1"}"#,
        r#"{"percent":101}"#,
        r#"{"percent":0}"#,
    ] {
        let (status, answer) = server.status("POST", "/api/v1/activations", &server.admin, body);
        assert_eq!(status, 400, "{body}: {answer}");
    }
    for (path, body) in [
        ("commits", r#"{"commands":"assert node/x","dorment":true}"#),
        ("undo", r#"{"versio":2}"#),
        ("restore", r#"{"version":2,"only":"node"}"#),
        ("rollout", r#"{"stage":[]}"#),
        ("rollout", r#"{"stages":[{"node":"n1"}]}"#),
        (
            "tokens",
            r#"{"name":"x","may":[{"role":"read","key":"node"}]}"#,
        ),
    ] {
        let (status, answer) =
            server.status("POST", &format!("/api/v1/{path}"), &server.admin, body);
        assert_eq!(status, 400, "{path} {body}: {answer}");
    }
    for path in [
        "plan?node=n1&percent=100",
        "plan?percent=0",
        "plan?nodes=n1",
        "nodes?limit=0",
        "nodes?limit=x",
        "entries/x",
    ] {
        let (status, answer) = server.status("GET", &format!("/api/v1/{path}"), &server.admin, "");
        assert_eq!(status, 400, "{path}: {answer}");
        assert!(!answer.contains("deserialize"), "{answer}");
    }
    assert!(
        !activate(&admin).changed.is_empty(),
        "nothing was activated before"
    );
    // An agent of a later release may have more to tell.
    let (status, answer) = server.status(
        "POST",
        "/api/v1/nodes/n1/check-in",
        &server.admin,
        r#"{"mood":"good"}"#,
    );
    assert_eq!(status, 200, "{answer}");
}

#[test]
fn names_that_nobody_can_write_are_not_given() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let long = "x".repeat(501);
    for name in ["", "a\u{1b}b", &long] {
        let token = NewToken {
            name: name.to_owned(),
            may: vec![grant("read", &[])],
            ..NewToken::default()
        };
        let refused = no(admin.post::<words::MadeToken>("tokens", &token));
        assert_eq!(refused, (422, "ledger.name".to_owned()), "{name}");
    }
    for commands in [
        "assert node/a%0ab",
        "assert group/default",
        &format!("assert param/{long}"),
    ] {
        assert_eq!(no(commit(&admin, commands)).1, "ledger.name", "{commands}");
    }
    let (status, answer) = server.status("POST", "/api/v1/nodes/a%0Ab/check-in", &server.admin, "");
    assert!(status == 422 && answer.contains("ledger.name"), "{answer}");
    let nobody = words::Commit {
        commands: words::Commands::Text("assert node/x".to_owned()),
        doing: words::Doing {
            owner: String::new(),
            ..words::Doing::default()
        },
        ..words::Commit::default()
    };
    assert_eq!(
        no(admin.post::<words::Done>("commits", &nobody)).1,
        "ledger.name"
    );
    let body = r#"{"version":1}"#;
    let (status, answer) = server.status("PUT", "/api/v1/snapshots/3", &server.admin, body);
    assert!(status == 422 && answer.contains("ledger.name"), "{answer}");
}

#[test]
fn who_heard_of_what_is_not_there_hears_everything() {
    let server = Server::start(Limits::default());
    commit(&server.admin(), POOL).unwrap();
    let mut events = server.admin().events(None, Some(999)).unwrap();
    assert_eq!(events.next().unwrap().unwrap().version, 1);
    let asked = format!(
        "GET /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nlast-event-id: x\r\nconnection: close\r\n\r\n",
        server.admin
    );
    assert!(server.raw(asked.as_bytes()).starts_with("HTTP/1.1 400"));
}
