//! A real server on a socket, and those who use it, well and ill.

mod page;
mod rights;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hence_api::words::{self, Commands, Grant, NewToken, Report};
use hence_api::{Address, Client, Failure};
use hence_ledger::Hash;
use hence_ledger::entry::Origin;
use hence_server::{Hub, Limits, Parts, Signals, Stop};
use hence_service::Service;
use hence_service::seal::Seal;
use hence_store::{Memory, Request};

/// A server that ends with the test.
struct Server {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    clock: Arc<AtomicU64>,
    admin: String,
}

const NOON: u64 = 1_769_860_800_000;

impl Server {
    fn start(limits: Limits) -> Self {
        Self::on(Memory::default(), limits)
    }

    fn on(store: Memory, limits: Limits) -> Self {
        Self::with_seal(store, limits, Some(Seal::new(&[7; 32])))
    }

    fn with_seal(store: Memory, limits: Limits, seal: Option<Seal>) -> Self {
        let mut service = match Service::open(Box::new(store)) {
            Ok(service) => service,
            Err(refused) => panic!("{refused:?}"),
        };
        let counter = AtomicU64::new(1);
        let random = move |bytes: &mut [u8]| {
            let number = counter.fetch_add(1, Ordering::Relaxed);
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = (number as usize * 31 + at) as u8;
            }
        };
        let admin = hence_server::new_token(&random);
        let request = Request {
            author: "test".to_owned(),
            owner: "access".to_owned(),
            time: NOON,
            message: String::new(),
            origin: Origin::Command("test".to_owned()),
            objects: Vec::new(),
            if_version: None,
        };
        let token = NewToken {
            name: "admin".to_owned(),
            may: vec![grant("administer", &[])],
            ..NewToken::default()
        };
        service
            .add_token(&request, &token, &hence_server::sum(&admin))
            .unwrap();
        let clock = Arc::new(AtomicU64::new(NOON));
        let now = clock.clone();
        let hub = Hub::new(Parts {
            service,
            seal,
            clock: Arc::new(move || now.load(Ordering::Relaxed)),
            random: Arc::new(random),
            log: Arc::new(|_| {}),
            limits,
            release: "test",
            shared: false,
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Stop::new();
        let ending = stop.clone();
        let thread = std::thread::spawn(move || {
            hence_server::serve(&hub, listener, None, &ending, Signals::Ignored).unwrap();
        });
        Self {
            address,
            stop,
            thread: Some(thread),
            clock,
            admin,
        }
    }

    fn client(&self, token: &str) -> Client {
        let address = Address {
            server: format!("http://{}", self.address),
            token: token.to_owned(),
            certificates: None,
        };
        Client::new(address).unwrap()
    }

    fn admin(&self) -> Client {
        self.client(&self.admin)
    }

    fn token(&self, name: &str, may: &[Grant]) -> Client {
        let token = NewToken {
            name: name.to_owned(),
            may: may.to_vec(),
            ..NewToken::default()
        };
        let made: words::MadeToken = self.admin().post("tokens", &token).unwrap();
        self.client(&made.token)
    }

    fn join(&self, name: &str, node: Option<&str>) -> String {
        let token = NewToken {
            name: name.to_owned(),
            join: true,
            node: node.map(str::to_owned),
            lasts: Some(3600),
            ..NewToken::default()
        };
        let made: words::MadeToken = self.admin().post("tokens", &token).unwrap();
        made.token
    }

    /// Sends bytes as they are, and reads what comes back.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // The server may have stopped listening to this already.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn status(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
        let answer = self.raw(
            format!(
                "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
        let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
        (status.unwrap_or(0), answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn grant(role: &str, keys: &[&str]) -> Grant {
    Grant {
        role: role.to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    }
}

fn commit(client: &Client, commands: &str) -> Result<words::Done, Failure> {
    let commit = words::Commit {
        commands: Commands::Text(commands.to_owned()),
        ..words::Commit::default()
    };
    client.post("commits", &commit)
}

fn activate(client: &Client) -> words::Activated {
    client
        .post("activations", &words::Activation::default())
        .unwrap()
}

/// A secret, as commands write it.
fn sealed(text: &str) -> String {
    let sealed = Seal::new(&[7; 32]).seal(text);
    format!("sealed({} {})", sealed.fingerprint, sealed.content)
}

/// Why it is refused: the status and the first code.
fn no<T: std::fmt::Debug>(result: Result<T, Failure>) -> (u16, String) {
    match result {
        Err(Failure::Refused(status, troubles)) => (status, troubles[0].code.name.to_owned()),
        other => panic!("{other:?}"),
    }
}

const POOL: &str = "assert param/PORT ; assert param/PORT/restart
    assert subsystem/httpd ; assert subsystem/httpd/param/PORT
    assert group/web ; assert group/web/param/PORT 8080
    assert node/n1 ; assert node/n1/group/web 10 ; assert node/n2";

#[test]
fn a_change_is_planned_activated_and_fetched() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let done = commit(&admin, POOL).unwrap();
    assert_eq!(done.version, Some(2));
    assert_eq!(done.changes.len(), 9);
    let plan: serde_json::Value = admin.get("plan").unwrap();
    assert_eq!(plan["nodes"]["n1"]["parameters"]["PORT"]["after"], "8080");
    let activated = activate(&admin);
    assert_eq!(activated.changed, ["n1"]);
    let config: words::Configuration = admin.get("nodes/N1/config").unwrap();
    assert_eq!(config.node, "n1");
    assert_eq!(config.parameters["PORT"], "8080");
    assert_eq!(config.groups, ["web"]);
    let changes: words::Changes = admin.get("nodes/n1/changes?since=0").unwrap();
    assert_eq!(changes.restart, ["httpd"]);
    let explained: serde_json::Value = admin.get("nodes/n1/explain?parameter=port").unwrap();
    assert_eq!(explained[0]["chain"][0]["author"], "admin");
    commit(&admin, "assert group/web/param/PORT 9090").unwrap();
    let (_, plain) = server.status("GET", "/config/n1", &server.admin, "");
    assert!(plain.ends_with("# n1, version 3\nPORT = 8080\n"), "{plain}");
    let (_, current) = server.status("GET", "/current-config/n1", &server.admin, "");
    assert!(
        current.ends_with("# n1, not activated\nPORT = 9090\n"),
        "{current}"
    );
    activate(&admin);
    let (_, at) = server.status("GET", "/config/n1/at/3", &server.admin, "");
    assert!(at.ends_with("# n1, version 3\nPORT = 8080\n"), "{at}");
    let (_, since) = server.status("GET", "/changes-to/n1/since/3", &server.admin, "");
    assert!(
        since.ends_with("# ~ PORT = 9090\n# restart httpd\n# n1, version 5\nPORT = 9090\n"),
        "{since}"
    );
    let done: words::Done = admin.post("undo", &words::Undo::default()).unwrap();
    assert_eq!(done.version, Some(6));
}

#[test]
fn looking_changes_nothing() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    let before: words::About = admin.get("").unwrap();
    // Whoever asks for a node that nobody knows does not make it.
    assert_eq!(
        no(admin.get::<words::Configuration>("nodes/n9/config")).0,
        404
    );
    let (status, _) = server.status("GET", "/config/n9", &server.admin, "");
    assert_eq!(status, 404);
    let after: words::About = admin.get("").unwrap();
    assert_eq!(before, after);
}

#[test]
fn a_tag_says_that_nothing_is_new() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    activate(&admin);
    let (_, answer) = server.status("GET", "/api/v1/nodes/n1/config", &server.admin, "");
    let tag = answer
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    let asked = |tag: &str| {
        server.raw(
            format!(
                "GET /config/n1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nif-none-match: {tag}\r\nconnection: close\r\n\r\n",
                server.admin
            )
            .as_bytes(),
        )
    };
    assert!(asked(tag).starts_with("HTTP/1.1 304"), "{}", asked(tag));
    commit(&admin, "assert group/web/param/PORT 9090").unwrap();
    assert!(asked(tag).starts_with("HTTP/1.1 304"), "not activated yet");
    activate(&admin);
    assert!(asked(tag).starts_with("HTTP/1.1 200"));
}

#[test]
fn who_knows_an_old_version_is_told() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    let stale = words::Commit {
        commands: Commands::Text("assert node/n3".to_owned()),
        doing: words::Doing {
            if_version: Some(1),
            ..words::Doing::default()
        },
        ..words::Commit::default()
    };
    let refused = no(admin.post::<words::Done>("commits", &stale));
    assert_eq!(refused, (412, "ledger.moved".to_owned()));
    let plan = words::Activation {
        plan: Some("1/0".to_owned()),
        ..words::Activation::default()
    };
    let refused = no(admin.post::<words::Activated>("activations", &plan));
    assert_eq!(refused, (412, "fleet.stale-plan".to_owned()));
    let body = r#"{"commands": "assert node/n3"}"#;
    let request = |version: u64| {
        let request = format!(
            "POST /api/v1/commits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nif-match: \"{version}\"\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            server.admin,
            body.len()
        );
        server.raw(request.as_bytes())
    };
    assert!(request(1).starts_with("HTTP/1.1 412"), "{}", request(1));
    assert!(request(2).starts_with("HTTP/1.1 200"), "{}", request(2));
}

#[test]
fn a_token_allows_what_it_says_and_no_more() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    let reader = server.token("reader", &[grant("read", &[])]);
    assert!(
        reader
            .get::<words::Configuration>("nodes/n1/config")
            .is_ok()
    );
    assert_eq!(
        no(commit(&reader, "assert node/n3")),
        (403, "server.forbidden".to_owned())
    );
    assert_eq!(
        no(reader.post::<words::Activated>("activations", &words::Activation::default())).0,
        403
    );
    assert_eq!(no(reader.get::<Vec<words::ListedToken>>("tokens")).0, 403);

    let writer = server.token(
        "writer",
        &[
            grant("write", &["group/web"]),
            grant("read", &["group/web"]),
        ],
    );
    assert!(commit(&writer, "assert group/web/param/PORT 81").is_ok());
    let refused = no(commit(
        &writer,
        "assert group/web/param/PORT 82\nassert node/n1/param/PORT 1",
    ));
    assert_eq!(refused, (403, "ledger.forbidden".to_owned()));
    assert_eq!(no(commit(&writer, "retract-under node")).0, 403);
    // What an owner asserts elsewhere is not within reach either.
    assert_eq!(no(commit(&writer, "apply operator { }")).0, 403);
    assert_eq!(no(commit(&writer, "assert right/ann/node")).0, 403);
    assert_eq!(
        no(commit(
            &writer,
            &format!("assert token/mine {}", hence_server::sum("x"))
        ))
        .0,
        403
    );
    assert_eq!(no(writer.get::<serde_json::Value>("plan")).0, 403);
    assert!(writer.bytes("state?under=group/web").is_ok());
    assert_eq!(no(writer.bytes("state?under=node")).0, 403);
    let other = commit(&admin, "assert node/n1/annotation one").unwrap();
    let undo = words::Undo {
        version: other.version,
        ..words::Undo::default()
    };
    assert_eq!(no(writer.post::<words::Done>("undo", &undo)).0, 403);

    let everything = server.token("everything", &[grant("write", &[])]);
    assert!(commit(&everything, "assert node/n3").is_ok());
    assert_eq!(
        no(commit(
            &everything,
            &format!("assert token/mine {}", hence_server::sum("x"))
        ))
        .0,
        403
    );

    let activator = server.token("activator", &[grant("activate", &["group/web"])]);
    let web = words::Activation {
        extent: words::Extent {
            groups: vec!["web".to_owned()],
            ..words::Extent::default()
        },
        ..words::Activation::default()
    };
    assert_eq!(
        no(activator.post::<words::Activated>("activations", &words::Activation::default())).0,
        403
    );
    assert!(
        activator
            .post::<words::Activated>("activations", &web)
            .is_ok()
    );

    let one = NewToken {
        name: "one".to_owned(),
        may: vec![grant("write", &[])],
        owner: Some("site".to_owned()),
        ..NewToken::default()
    };
    let made: words::MadeToken = admin.post("tokens", &one).unwrap();
    let one = server.client(&made.token);
    assert_eq!(no(commit(&one, "assert node/n4")).0, 403);
    assert!(commit(&one, "").is_err());
    let theirs = words::Commit {
        commands: Commands::Text("apply site { assert node/n4 }".to_owned()),
        doing: words::Doing {
            owner: "site".to_owned(),
            ..words::Doing::default()
        },
        ..words::Commit::default()
    };
    assert!(one.post::<words::Done>("commits", &theirs).is_ok());
}

#[test]
fn a_token_ends_when_it_is_taken_and_when_its_time_is_over() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let reader = server.token("reader", &[grant("read", &[])]);
    assert!(reader.get::<words::About>("").is_ok());
    admin.delete::<words::Done>("tokens/reader").unwrap();
    assert_eq!(
        no(reader.get::<words::About>("")),
        (401, "server.unauthorised".to_owned())
    );
    assert_eq!(no(admin.delete::<words::Done>("tokens/reader")).0, 404);

    let short = NewToken {
        name: "short".to_owned(),
        may: vec![grant("read", &[])],
        lasts: Some(60),
        ..NewToken::default()
    };
    let made: words::MadeToken = admin.post("tokens", &short).unwrap();
    let short = server.client(&made.token);
    assert!(short.get::<words::About>("").is_ok());
    server.clock.fetch_add(60_000, Ordering::Relaxed);
    assert_eq!(no(short.get::<words::About>("")).0, 401);
    // What was revoked stays so, whatever is restored.
    let restore = words::Restore {
        version: 2,
        doing: words::Doing::default(),
    };
    admin.post::<words::Done>("restore", &restore).unwrap();
    assert_eq!(no(reader.get::<words::About>("")).0, 401);
}

#[test]
fn the_last_administrator_stays() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let last = (409, "server.last-administrator".to_owned());
    assert_eq!(no(admin.delete::<words::Done>("tokens/admin")), last);
    let first = words::Undo {
        version: Some(1),
        ..words::Undo::default()
    };
    assert_eq!(no(admin.post::<words::Done>("undo", &first)), last);
    let other = server.token("other", &[grant("administer", &[])]);
    assert!(other.delete::<words::Done>("tokens/admin").is_ok());
    assert_eq!(no(admin.get::<words::About>("")).0, 401);
}

#[test]
fn a_newcomer_trades_its_token_once_and_sees_only_itself() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    commit(
        &admin,
        &format!(
            "assert param/KEY ; assert node/new ; assert node/new/param/KEY {}",
            sealed("open sesame")
        ),
    )
    .unwrap();
    let join = server.client(&server.join("hall", None));
    let own = format!("hence_{}", "a".repeat(64));
    let with = |node: &str, token: &str| words::Enrolment {
        node: node.to_owned(),
        token: token.to_owned(),
    };
    let enrolment = |node: &str| with(node, &format!("hence_{}", "b".repeat(64)));
    for weak in [
        "",
        "a",
        "hence_",
        &own[..own.len() - 1],
        &own.replace('a', "x"),
    ] {
        let refused = no(join.post::<words::Enrolled>("enrolments", &with("new", weak)));
        assert_eq!(refused.0, 400, "{weak}");
    }
    // Who got no answer may ask again, and nobody else.
    for name in ["New", "new"] {
        let enrolled: words::Enrolled = join.post("enrolments", &with(name, &own)).unwrap();
        assert_eq!(enrolled.node, "new");
    }
    assert_eq!(
        no(join.post::<words::Enrolled>("enrolments", &enrolment("NEW"))),
        (409, "server.enrolled".to_owned())
    );
    // Nor can it be used for anything else.
    assert_eq!(
        no(join.get::<words::Configuration>("nodes/new/config")).0,
        403
    );
    assert_eq!(
        no(join.post::<words::CheckedIn>("nodes/new/check-in", &Report::default())).0,
        403
    );

    let node = server.client(&own);
    activate(&admin);
    let config: words::Configuration = node.get("nodes/new/config").unwrap();
    assert_eq!(config.parameters["KEY"], "open sesame");
    let shown: words::Configuration = admin.get("nodes/new/config").unwrap();
    assert!(shown.parameters["KEY"].starts_with("sealed("), "{shown:?}");
    assert_eq!(
        no(node.get::<words::Configuration>("nodes/n1/config")).0,
        403
    );
    assert_eq!(
        no(node.post::<words::CheckedIn>("nodes/n1/check-in", &Report::default())).0,
        403
    );
    assert_eq!(no(node.get::<serde_json::Value>("nodes")).0, 403);
    assert_eq!(no(node.bytes("state")).0, 403);
    assert_eq!(no(node.bytes("entries/1/bytes")).0, 403);
    assert_eq!(no(commit(&node, "assert node/n7")).0, 403);
    assert_eq!(
        no(node.post::<words::Enrolled>("enrolments", &enrolment("other"))).0,
        403
    );

    let report = Report {
        applied: Some(config.version),
        facts: BTreeMap::from([("kernel".to_owned(), "6.1".to_owned())]),
        ..Report::default()
    };
    let told: words::CheckedIn = node.post("nodes/new/check-in", &report).unwrap();
    assert_eq!(told.version, config.version);
    let nodes: words::Page<words::Node> = admin.get("nodes").unwrap();
    let new = nodes.items.iter().find(|node| node.name == "new").unwrap();
    assert_eq!(
        (new.applied, new.desired),
        (Some(config.version), config.version)
    );
    assert_eq!(new.report.as_ref().unwrap().time, NOON);

    let only = server.client(&server.join("only", Some("n1")));
    assert_eq!(
        no(only.post::<words::Enrolled>("enrolments", &enrolment("n2"))).0,
        403
    );
    assert!(
        only.post::<words::Enrolled>("enrolments", &enrolment("n1"))
            .is_ok()
    );
    // One that nobody knows walks in.
    let walk_in: words::Enrolled = join.post("enrolments", &enrolment("stranger")).unwrap();
    assert_eq!(walk_in.node, "stranger");
    assert!(admin.get::<words::Node>("nodes/stranger").is_ok());
    server.clock.fetch_add(3_600_000, Ordering::Relaxed);
    assert_eq!(
        no(join.post::<words::Enrolled>("enrolments", &enrolment("late"))).0,
        401
    );
}

#[test]
fn a_node_reads_the_content_that_its_configuration_names_and_no_other() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let object = |content: &[u8]| words::Object {
        hash: Hash::of(content),
        content: content.to_vec(),
    };
    let (one, other) = (object(b"one"), object(b"other"));
    let list = object(format!("file {} 3 one.txt\n", one.hash).as_bytes());
    let commit = words::Commit {
        commands: Commands::Text(format!(
            "assert param/TREE ; assert param/BLOB
             assert node/n1 ; assert node/n1/param/TREE tree:{}
             assert node/n2 ; assert node/n2/param/BLOB blob:{}",
            list.hash, other.hash
        )),
        objects: vec![one.clone(), other.clone(), list.clone()],
        ..words::Commit::default()
    };
    let _: words::Done = admin.post("commits", &commit).unwrap();
    activate(&admin);
    let own = format!("hence_{}", "a".repeat(64));
    let enrolment = words::Enrolment {
        node: "n1".to_owned(),
        token: own.clone(),
    };
    let join = server.client(&server.join("hall", None));
    let _: words::Enrolled = join.post("enrolments", &enrolment).unwrap();
    let node = server.client(&own);
    let wanted = words::Wanted {
        hashes: vec![list.hash, one.hash, other.hash, Hash::of(b"nowhere")],
    };
    let bytes = node.exchange("nodes/n1/contents", &wanted).unwrap();
    let contents = words::frames::read(&bytes).unwrap();
    assert_eq!(
        contents,
        [Some(list.content), Some(one.content), None, None]
    );
    assert_eq!(no(node.exchange("nodes/n2/contents", &wanted)).0, 403);
    assert_eq!(no(node.exchange("objects", &wanted)).0, 403);
}

#[test]
fn facts_that_count_put_nodes_into_groups_and_nothing_else_does() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(
        &admin,
        "assert node/n1 ; assert group/own ; assert node/n1/group/own 10 ; assert group/os-linux
         assert group/os-hurd ; assert param/P ; assert group/own/param/P mine
         assert group/os-linux/param/P theirs",
    )
    .unwrap();
    let version = || admin.get::<words::About>("").unwrap().version;
    let check_in = |facts: &[(&str, &str)]| {
        let facts = facts.iter();
        let facts = facts.map(|(name, value)| (name.to_string(), value.to_string()));
        let report = Report {
            facts: facts.collect(),
            ..Report::default()
        };
        let before = version();
        let _: words::CheckedIn = admin.post("nodes/n1/check-in", &report).unwrap();
        version() - before
    };
    let groups = || {
        activate(&admin);
        let config: words::Configuration = admin.get("nodes/n1/config").unwrap();
        (config.groups, config.parameters["P"].clone())
    };
    let linux = [("os", "Linux"), ("kernel", "6.1")];
    assert_eq!(check_in(&linux), 0, "no fact counts yet");
    let other = server.token("other", &[grant("write", &["node", "group"])]);
    assert_eq!(no(commit(&other, "assert fact/os os-")).0, 403);
    commit(&admin, "assert fact/os os-").unwrap();
    assert_eq!(check_in(&linux), 1);
    let entry: serde_json::Value = admin.get(&format!("entries/{}", version())).unwrap();
    assert_eq!(entry["message"], "fact os is Linux");
    let change = &entry["act"]["commit"]["changes"][0];
    assert_eq!(change["after"]["owner"], "facts", "{change}");
    // It is behind what people say, and needs an activation as all else does.
    let mine = "mine".to_owned();
    let both = ["own", "os-linux"].map(str::to_owned).to_vec();
    let config: words::Configuration = admin.get("nodes/n1/config").unwrap();
    assert!(config.groups.is_empty(), "{config:?}");
    let (mut now, value) = groups();
    now.sort_by_key(|name| both.iter().position(|other| other == name));
    assert_eq!((now, value), (both, mine.clone()));
    // What says nothing new changes nothing.
    for facts in [&linux[..], &[], &[("OS", " linux ")]] {
        assert_eq!(check_in(facts), 0, "{facts:?}");
    }
    assert_eq!(check_in(&[("os", "hurd")]), 1);
    let hurd = ["own", "os-hurd"].map(str::to_owned).to_vec();
    let (mut now, value) = groups();
    now.sort_by_key(|name| hurd.iter().position(|other| other == name));
    assert_eq!((now, value), (hurd, mine.clone()));
    // One that nobody made, the special ones, and none at all.
    assert_eq!(check_in(&[("os", "plan9")]), 1);
    assert_eq!(check_in(&[("os", "")]), 0);
    assert_eq!(groups().0, ["own"]);
    assert_eq!(check_in(&linux), 1);
    commit(&admin, "retract fact/os").unwrap();
    assert_eq!(check_in(&linux), 1);
    assert_eq!(groups(), (vec!["own".to_owned()], mine));
    // Whose group people remove is not kept in it.
    commit(&admin, "assert fact/os os-").unwrap();
    assert_eq!(check_in(&linux), 1);
    commit(
        &admin,
        "retract-under group/os-linux ; retract node/n1/group/os-linux",
    )
    .unwrap();
    assert_eq!(check_in(&linux), 0);
}

#[test]
fn watchers_hear_what_happens_and_what_they_missed() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let mut events = admin.events(None, Some(0)).unwrap();
    assert_eq!(events.next().unwrap().unwrap().version, 1);
    commit(&admin, POOL).unwrap();
    activate(&admin);
    let heard: Vec<(u64, String)> = (0..2)
        .map(|_| events.next().unwrap().unwrap())
        .map(|event| (event.version, event.kind))
        .collect();
    assert_eq!(
        heard,
        [(2, "commit".to_owned()), (3, "activation".to_owned())]
    );
    // A node hears of its own only.
    commit(&admin, "assert node/n2/param/PORT 1").unwrap();
    activate(&admin);
    commit(&admin, "assert node/n1/param/PORT 1").unwrap();
    activate(&admin);
    let mut events = admin.events(Some("N1"), Some(0)).unwrap();
    let heard: Vec<u64> = (0..2)
        .map(|_| events.next().unwrap().unwrap().version)
        .collect();
    assert_eq!(heard, [3, 7]);
}

#[test]
fn who_missed_a_long_history_is_told_all_of_it_once_and_in_order() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let say = |number: u64| {
        let said = commit(&admin, &format!("assert node/n{number}"));
        assert_eq!(said.unwrap().version, Some(number));
    };
    (2..=350).for_each(say);
    // All is new also to those who heard of what this ledger does not have yet.
    for last in [0, 1, 99, 249, 349, 1_000_000] {
        let first = if last < 350 { last + 1 } else { 1 };
        let mut events = admin.events(None, Some(last)).unwrap();
        let newest: words::About = admin.get("").unwrap();
        assert_eq!(events.next().unwrap().unwrap().version, first);
        // What happens meanwhile comes behind what was missed.
        say(newest.version + 1);
        for version in first + 1..=newest.version + 1 {
            assert_eq!(events.next().unwrap().unwrap().version, version, "{last}");
        }
        say(newest.version + 2);
        let version = events.next().unwrap().unwrap().version;
        assert_eq!(version, newest.version + 2);
    }
}

#[test]
fn many_are_told_page_by_page() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    let commands: Vec<String> = (0..25)
        .map(|number| format!("assert node/n{number:02}"))
        .collect();
    commit(&admin, &commands.join("\n")).unwrap();
    let mut names = Vec::new();
    let mut path = "nodes?limit=10".to_owned();
    loop {
        let page: words::Page<words::Node> = admin.get(&path).unwrap();
        assert!(page.items.len() <= 10);
        names.extend(page.items.into_iter().map(|node| node.name));
        match page.next {
            Some(next) => path = format!("nodes?limit=10&after={next}"),
            None => break,
        }
    }
    assert_eq!(names.len(), 25);
    assert!(names.is_sorted());
    for number in 0..5 {
        commit(&admin, &format!("assert node/n00/annotation {number}")).unwrap();
    }
    let mut versions = Vec::new();
    let mut path = "entries?limit=3".to_owned();
    loop {
        let page: words::Page<serde_json::Value> = admin.get(&path).unwrap();
        versions.extend(
            page.items
                .iter()
                .map(|entry| entry["version"].as_u64().unwrap()),
        );
        match page.next {
            Some(next) => path = format!("entries?limit=3&after={next}"),
            None => break,
        }
    }
    assert_eq!(versions, [7, 6, 5, 4, 3, 2, 1]);
}

#[test]
fn a_body_that_is_wrong_is_told_what_would_be_right() {
    let server = Server::start(Limits::default());
    for (body, told) in [
        (
            "{\"commandz\": \"assert node/x\"}",
            "did you mean `commands`?",
        ),
        (
            "{\"commands\": 7}",
            "commands are a text, or a list of objects",
        ),
        ("[]", "must be an object"),
    ] {
        let (status, answer) = server.status("POST", "/api/v1/commits", &server.admin, body);
        assert_eq!(status, 400, "{answer}");
        assert!(answer.contains(told), "{answer}");
    }
}

#[test]
fn what_is_hostile_is_refused_and_does_nothing() {
    let limits = Limits {
        body: 10_000,
        guesses: 1_000,
        patience: Duration::from_secs(1),
        ..Limits::default()
    };
    let server = Server::start(limits);
    let admin = server.admin();
    commit(&admin, POOL).unwrap();
    let before: words::About = admin.get("").unwrap();
    let token = server.admin.clone();
    let cases: &[(&str, &str, &str, &str, u16, &str)] = &[
        ("GET", "/api/v1/nodes", "", "", 401, "server.unauthorised"),
        (
            "GET",
            "/api/v1/nodes",
            "hence_00",
            "",
            401,
            "server.unauthorised",
        ),
        (
            "POST",
            "/api/v1/commits",
            "wrong",
            "{}",
            401,
            "server.unauthorised",
        ),
        (
            "GET",
            "/api/v1/nothing",
            &token,
            "",
            404,
            "server.not-found",
        ),
        ("GET", "/nowhere", &token, "", 404, "server.not-found"),
        ("GET", "/api/v2/nodes", &token, "", 404, "server.other-api"),
        ("POST", "/api/v0/x", "", "{}", 404, "server.other-api"),
        (
            "GET",
            "/../../etc/passwd",
            &token,
            "",
            404,
            "server.not-found",
        ),
        (
            "GET",
            "/config/..%2f..%2fetc%2fpasswd",
            &token,
            "",
            404,
            "fleet.no-such-name",
        ),
        ("GET", "/config/%00", &token, "", 404, "fleet.no-such-name"),
        ("GET", "/config/%ff", &token, "", 400, "server.bad-request"),
        (
            "GET",
            "/config/n1/at/-1",
            &token,
            "",
            400,
            "server.bad-request",
        ),
        (
            "GET",
            "/config/n1/at/99999999999999999999",
            &token,
            "",
            400,
            "server.bad-request",
        ),
        (
            "GET",
            "/config/n1/at/77",
            &token,
            "",
            404,
            "ledger.no-such-version",
        ),
        (
            "GET",
            "/api/v1/nodes?limit=x",
            &token,
            "",
            400,
            "server.bad-request",
        ),
        (
            "GET",
            "/api/v1/objects/../../x",
            &token,
            "",
            404,
            "server.not-found",
        ),
        (
            "GET",
            "/api/v1/objects/xyz",
            &token,
            "",
            400,
            "server.bad-request",
        ),
        (
            "DELETE",
            "/api/v1/commits",
            &token,
            "",
            405,
            "server.not-found",
        ),
        (
            "POST",
            "/api/v1/commits",
            &token,
            "",
            400,
            "server.bad-request",
        ),
        (
            "POST",
            "/api/v1/commits",
            &token,
            "{",
            400,
            "server.bad-request",
        ),
        (
            "POST",
            "/api/v1/commits",
            &token,
            "[]",
            400,
            "server.bad-request",
        ),
        (
            "POST",
            "/api/v1/commits",
            &token,
            "{\"commands\": 7}",
            400,
            "server.bad-request",
        ),
        (
            "POST",
            "/api/v1/commits",
            &token,
            "{\"commands\": \"assert\"}",
            422,
            "ledger.syntax",
        ),
        (
            "POST",
            "/api/v1/commits",
            &token,
            "{\"commands\": [{\"assert\": {\"owner\": \"o\", \"key\": \"NODE/x\", \"value\": null}}]}",
            400,
            "server.bad-request",
        ),
        (
            "POST",
            "/api/v1/commits",
            &token,
            "{\"commands\": \"assert node/x\", \"take\": [\"\"]}",
            400,
            "server.bad-request",
        ),
        (
            "POST",
            "/api/v1/activations",
            &token,
            "{\"plan\": \"x\"}",
            400,
            "server.bad-request",
        ),
        (
            "POST",
            "/api/v1/activations",
            &token,
            "{\"groups\": [\"nobody\"]}",
            404,
            "fleet.no-such-name",
        ),
        (
            "POST",
            "/api/v1/undo",
            &token,
            "{\"version\": 99}",
            404,
            "ledger.no-such-version",
        ),
        (
            "POST",
            "/api/v1/restore",
            &token,
            "{\"version\": 99}",
            404,
            "ledger.no-such-version",
        ),
        (
            "POST",
            "/api/v1/restore",
            &token,
            "{}",
            400,
            "server.bad-request",
        ),
        (
            "PUT",
            "/api/v1/snapshots/x",
            &token,
            "{\"version\": 99}",
            404,
            "ledger.no-such-version",
        ),
        (
            "DELETE",
            "/api/v1/snapshots/x",
            &token,
            "",
            404,
            "ledger.no-such-name",
        ),
        (
            "POST",
            "/api/v1/tokens",
            &token,
            "{\"name\": \"x\", \"may\": [{\"role\": \"rule\"}]}",
            422,
            "ledger.unknown-key",
        ),
        (
            "POST",
            "/api/v1/tokens",
            &token,
            "{\"name\": \"admin\"}",
            409,
            "ledger.taken",
        ),
        (
            "POST",
            "/api/v1/enrolments",
            &token,
            "{\"node\": \"x\", \"token\": \"x\"}",
            403,
            "server.forbidden",
        ),
    ];
    for (method, path, token, body, status, code) in cases {
        let (found, answer) = server.status(method, path, token, body);
        assert_eq!(found, *status, "{method} {path} {body}: {answer}");
        assert!(
            answer.contains(&format!("\"{code}\"")),
            "{method} {path} {body}: {answer}"
        );
    }
    let huge = "x".repeat(20_000);
    let (status, answer) = server.status("POST", "/api/v1/commits", &token, &huge);
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("server.too-large"));
    let facts: Vec<String> = (0..300)
        .map(|number| format!("\"f{number}\": \"\""))
        .collect();
    let facts = format!("{{\"facts\": {{{}}}}}", facts.join(","));
    let (status, _) = server.status("POST", "/api/v1/nodes/n1/check-in", &token, &facts);
    assert_eq!(status, 400);
    for nonsense in [
        &b"\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/v1/commits HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"POST /api/v1/commits HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let answer = server.raw(nonsense);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{answer}"
        );
    }
    let mut long = b"GET /config/".to_vec();
    long.extend(vec![b'a'; 1 << 20]);
    long.extend(b" HTTP/1.1\r\nhost: x\r\n\r\n");
    let answer = server.raw(&long);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
    let after: words::About = admin.get("").unwrap();
    assert_eq!(before, after);
}

#[test]
fn who_is_slow_is_given_up() {
    let server = Server::start(Limits {
        patience: Duration::from_millis(300),
        ..Limits::default()
    });
    let head = format!(
        "POST /api/v1/commits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 100\r\n\r\n{{",
        server.admin
    );
    let answer = server.raw(head.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("server.too-slow"), "{answer}");
    // Whoever does not even say what they want gets no answer.
    assert_eq!(server.raw(b"GET /api"), "");
    assert!(server.admin().get::<words::About>("").is_ok());
}

#[test]
fn who_asks_too_much_or_guesses_too_often_is_sent_away() {
    let server = Server::start(Limits {
        rate: 50,
        guesses: 5,
        ..Limits::default()
    });
    let statuses: Vec<u16> = (0..60)
        .map(|_| server.status("GET", "/health", "", "").0)
        .collect();
    assert_eq!(statuses[0], 200);
    let (status, answer) = server.status("GET", "/health", "", "");
    assert_eq!(status, 429, "{answer}");
    assert!(answer.contains("server.too-many"));
    server.clock.fetch_add(1000, Ordering::Relaxed);
    for _ in 0..6 {
        assert_eq!(server.status("GET", "/api/v1/nodes", "guess", "").0, 401);
    }
    assert_eq!(
        server.status("GET", "/api/v1/nodes", &server.admin, "").0,
        429
    );
    server.clock.fetch_add(60_000, Ordering::Relaxed);
    assert_eq!(
        server.status("GET", "/api/v1/nodes", &server.admin, "").0,
        200
    );
}

#[test]
fn two_who_change_the_same_get_one_order() {
    let server = Server::start(Limits::default());
    let admin = server.admin();
    commit(&admin, "assert node/counter").unwrap();
    // Each adds one, if nobody else did since it looked.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let client = server.admin();
                let mut added = 0;
                while added < 10 {
                    let about: words::About = client.get("").unwrap();
                    let state = String::from_utf8(
                        client
                            .bytes(&format!("state?at={}", about.version))
                            .unwrap(),
                    )
                    .unwrap();
                    let count = state
                        .lines()
                        .find_map(|line| {
                            line.trim().strip_prefix("assert node/counter/annotation ")
                        })
                        .map_or(0, |count| count.trim_matches('"').parse::<u64>().unwrap());
                    let next = words::Commit {
                        commands: Commands::Text(format!(
                            "assert node/counter/annotation {}",
                            count + 1
                        )),
                        doing: words::Doing {
                            if_version: Some(about.version),
                            ..words::Doing::default()
                        },
                        ..words::Commit::default()
                    };
                    match client.post::<words::Done>("commits", &next) {
                        Ok(_) => added += 1,
                        Err(Failure::Refused(412, _)) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
            });
        }
    });
    let state = String::from_utf8(admin.bytes("state").unwrap()).unwrap();
    assert!(
        state.contains("assert node/counter/annotation 40"),
        "{state}"
    );
}

#[test]
fn bodies_at_random_never_bring_it_down() {
    let server = Server::start(Limits {
        rate: 0,
        ..Limits::default()
    });
    let mut random = hence_model::random::Random::new(7);
    let good = [
        r#"{"commands": "assert node/n1", "owner": "o", "if_version": 3, "take": ["node"], "dormant": true}"#,
        r#"{"commands": [{"assert": {"owner": "o", "key": "node/n1", "value": "n1"}}, {"retract": {"under": "group"}}]}"#,
        r#"{"version": 1, "message": "why", "owner": "o"}"#,
        r#"{"nodes": ["n1"], "groups": [], "percent": 10, "plan": "1/0"}"#,
        r#"{"name": "t", "may": [{"role": "read", "keys": ["node"]}], "join": false, "lasts": 5}"#,
        r#"{"applied": 3, "outcome": "applied", "error": null, "facts": {"a": "b"}}"#,
    ];
    let paths = [
        "commits",
        "undo",
        "restore",
        "activations",
        "tokens",
        "nodes/n1/check-in",
        "objects",
        "enrolments",
        "seal",
        "snapshots/x",
    ];
    for _ in 0..1_500 {
        let mut bytes = good[random.below(good.len())].as_bytes().to_vec();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"{}[]\",:0-e"[random.below(10)]),
            }
        }
        let path = paths[random.below(paths.len())];
        let method = if path == "snapshots/x" { "PUT" } else { "POST" };
        let body = String::from_utf8_lossy(&bytes).into_owned();
        let (status, answer) =
            server.status(method, &format!("/api/v1/{path}"), &server.admin, &body);
        assert!((200..500).contains(&status), "{path} {body}: {answer}");
    }
    assert!(server.admin().get::<words::About>("").is_ok());
}
