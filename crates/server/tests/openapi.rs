//! The document that describes the API says what a real server does: the same routes, answers of the schemas that it
//! promises, and no other status, whatever is sent.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hence_api::words::{Grant, NewToken};
use hence_ledger::entry::Origin;
use hence_server::{Hub, Limits, Parts, Signals, Stop};
use hence_service::Service;
use hence_service::seal::Seal;
use hence_store::{Memory, Request};
use serde_json::{Map, Value, json};

const DOCUMENT: &str = include_str!("../src/routes/openapi.json");
const ROUTER: &str = include_str!("../src/routes/mod.rs");

fn document() -> Value {
    serde_json::from_str(DOCUMENT).unwrap()
}

#[test]
fn it_is_of_the_version_that_is_in_the_paths() {
    let version = hence_api::VERSION;
    assert_eq!(document()["info"]["version"], version.to_string());
    assert!(ROUTER.contains(&format!(".nest(\"/api/v{version}\", api)")));
}

/// Every operation: its method, its path, and what is said about it.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations.push((method.to_uppercase(), path.clone(), operation));
        }
    }
    operations
}

/// The routes as the router's own text has them.
fn routes() -> BTreeSet<(String, String)> {
    let mut routes = BTreeSet::new();
    let (_, text) = ROUTER.split_once("let api = Router::new()").unwrap();
    let (nested, rest) = text.split_once(".nest(").unwrap();
    let (plain, _) = rest.split_once(".fallback(").unwrap();
    for (prefix, text) in [("/api/v1", nested), ("", plain)] {
        for route in text.split(".route(").skip(1) {
            let path = route.split('"').nth(1).unwrap();
            let path = format!("{prefix}{path}");
            for method in ["get", "post", "put", "delete"] {
                if route.contains(&format!("{method}(")) {
                    // The root is there with and without its last stroke.
                    let path = path.trim_end_matches('/').to_owned();
                    routes.insert((method.to_uppercase(), path));
                }
            }
        }
    }
    routes
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let document = document();
    let described: BTreeSet<(String, String)> = operations(&document)
        .into_iter()
        .map(|(method, path, _)| (method, path))
        .collect();
    assert_eq!(routes(), described);
    assert!(described.len() > 30);
}

#[test]
fn every_reference_leads_somewhere_and_everything_is_referred_to() {
    let document = document();
    let mut used = BTreeSet::new();
    references(&document, &mut |reference| {
        assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
        used.insert(reference.to_owned());
    });
    for (kind, components) in document["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys() {
            // An event's data is a text, whose schema is told in words.
            if kind != "securitySchemes" && name != "Event" {
                let reference = format!("#/components/{kind}/{name}");
                assert!(used.contains(&reference), "nobody uses {reference}");
            }
        }
    }
    for (_, path, operation) in operations(&document) {
        for name in path.split('{').skip(1) {
            let name = name.split('}').next().unwrap();
            let parameters = operation["parameters"].as_array().unwrap();
            let mut parameters = parameters.iter().map(|one| resolve(&document, one));
            assert!(parameters.any(|one| one["in"] == "path" && one["name"] == name));
        }
    }
}

fn references(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                found(reference);
            }
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value.get("$ref") {
        Some(reference) => {
            let place = &reference.as_str().unwrap()[1..];
            document.pointer(place).unwrap()
        }
        None => value,
    }
}

/// Whether a value is as a schema says; if not, where and why. It knows the keywords that the document uses.
fn check(document: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let schema = resolve(document, schema);
    if let Value::Bool(anything) = schema {
        return match anything {
            true => Ok(()),
            false => Err(format!("{at}: one too many")),
        };
    }
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let good = match keyword.as_str() {
            "description" | "contentEncoding" => true,
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|one| is(one, value)),
                one => is(one, value),
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "minimum" => value
                .as_i64()
                .is_none_or(|it| it >= wanted.as_i64().unwrap()),
            "maximum" => value
                .as_i64()
                .is_none_or(|it| it <= wanted.as_i64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|it| it.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|it| it.len() as u64 <= wanted.as_u64().unwrap()),
            "pattern" => {
                assert_eq!(wanted, "^[0-9a-f]{64}$");
                let digit = |one: char| one.is_ascii_digit() || ('a'..='f').contains(&one);
                value
                    .as_str()
                    .is_none_or(|it| it.len() == 64 && it.chars().all(digit))
            }
            "required" => wanted
                .as_array()
                .unwrap()
                .iter()
                .all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => {
                for (name, schema) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(document, schema, value, &format!("{at}/{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    check(document, wanted, value, &format!("{at}/{name}"))?;
                }
                true
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (schema, value) in wanted.as_array().unwrap().iter().zip(items) {
                    check(document, schema, value, at)?;
                }
                true
            }
            "items" => {
                let first = schema.get("prefixItems").and_then(Value::as_array);
                let items = value.as_array().into_iter().flatten();
                for (number, value) in items.enumerate().skip(first.map_or(0, Vec::len)) {
                    check(document, wanted, value, &format!("{at}/{number}"))?;
                }
                true
            }
            "oneOf" => {
                let mut reasons = Vec::new();
                for one in wanted.as_array().unwrap() {
                    reasons.extend(check(document, one, value, at).err());
                }
                match wanted.as_array().unwrap().len() - reasons.len() {
                    1 => true,
                    many => return Err(format!("{at}: {many} of one: {reasons:?}")),
                }
            }
            other => panic!("nobody checks `{other}`"),
        };
        if !good {
            return Err(format!(
                "{at}: `{keyword}` wants {wanted}, there is {value}"
            ));
        }
    }
    Ok(())
}

fn is(wanted: &Value, value: &Value) -> bool {
    match wanted.as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("nobody knows the type `{other}`"),
    }
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let document = document();
    let schema = json!({"$ref": "#/components/schemas/Done"});
    let good = |value: Value| check(&document, &schema, &value, "").is_ok();
    assert!(good(json!({"version": 1, "changes": [{"key": "node/n1"}]})));
    assert!(good(json!({"version": null, "changes": []})));
    assert!(!good(json!({"changes": []})));
    assert!(!good(json!({"version": -1, "changes": []})));
    assert!(!good(json!({"version": 1, "changes": [{"key": 1}]})));
    assert!(!good(json!([])));
}

/// A server that ends with the test.
struct Server {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    admin: String,
}

impl Server {
    fn start() -> Self {
        let Ok(mut service) = Service::open(Box::new(Memory::default())) else {
            panic!("an empty ledger can be opened");
        };
        let counter = AtomicU64::new(1);
        let random = move |bytes: &mut [u8]| {
            let number = counter.fetch_add(1, Ordering::Relaxed).to_le_bytes();
            for (byte, digit) in bytes.iter_mut().zip(number.into_iter().cycle()) {
                *byte = digit;
            }
        };
        let admin = hence_server::new_token(&random);
        let request = Request {
            author: "test".to_owned(),
            owner: "access".to_owned(),
            time: 0,
            message: String::new(),
            origin: Origin::Command("test".to_owned()),
            objects: Vec::new(),
            if_version: None,
        };
        let token = NewToken {
            name: "admin".to_owned(),
            may: vec![Grant {
                role: "administer".to_owned(),
                keys: Vec::new(),
            }],
            ..NewToken::default()
        };
        let sum = hence_server::sum(&admin);
        service.add_token(&request, &token, &sum).unwrap();
        let hub = Hub::new(Parts {
            service,
            seal: Some(Seal::new(&[7; 32])),
            clock: Arc::new(|| 1_000),
            random: Arc::new(random),
            log: Arc::new(|_| {}),
            limits: Limits {
                rate: 0,
                guesses: u64::MAX,
                ..Limits::default()
            },
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
            admin,
        }
    }

    fn ask(&self, token: &str, method: &str, target: &str, headers: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).unwrap();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            let read = stream.read(&mut part).unwrap();
            bytes.extend(&part[..read]);
            let text = String::from_utf8_lossy(&bytes);
            // Events do not end.
            if read == 0 || text.contains("content-type: text/event-stream\r\n") {
                break;
            }
        }
        let split = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let split = split.unwrap_or_else(|| panic!("{method} {target}: no answer"));
        let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|(one, _)| one.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_owned())
        };
        Answer {
            status: head.split(' ').nth(1).unwrap().to_owned(),
            media: header("content-type"),
            tag: header("etag"),
            body: bytes[split + 4..].to_vec(),
        }
    }

    fn good(&self, method: &str, target: &str, body: Value) -> Value {
        let answer = self.ask(&self.admin, method, target, "", &body.to_string());
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, "200", "{method} {target}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
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

struct Answer {
    status: String,
    media: Option<String>,
    tag: Option<String>,
    body: Vec<u8>,
}

/// The answer is one that the document tells of.
fn promised(document: &Value, operation: &Value, answer: &Answer) -> Result<(), String> {
    let text = String::from_utf8_lossy(&answer.body);
    let Some(response) = operation["responses"].get(&answer.status) else {
        return Err(format!("{} is not promised: {text}", answer.status));
    };
    let response = resolve(document, response);
    let Some(content) = response.get("content") else {
        return match answer.body.is_empty() {
            true => Ok(()),
            false => Err(format!("no body is promised: {text}")),
        };
    };
    let media = answer.media.clone().unwrap_or_default();
    let Some(content) = content.get(&media) else {
        return Err(format!("`{media}` is not promised"));
    };
    if media == "application/json" {
        let value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        return check(document, &content["schema"], &value, "");
    }
    Ok(())
}

const POOL: &str = "assert param/PORT ; assert param/PORT/restart
    assert subsystem/httpd ; assert subsystem/httpd/param/PORT
    assert group/web ; assert group/web/param/PORT 8080
    assert node/n1 ; assert node/n1/group/web 10 ; assert node/n2";

/// A server with some nodes, a report, a name, and something that can be taken back.
fn furnished() -> Server {
    let server = Server::start();
    let api = |path: &str| format!("/api/v1/{path}");
    server.good("POST", &api("commits"), json!({ "commands": POOL }));
    server.good("POST", &api("activations"), json!({}));
    server.good("PUT", &api("snapshots/first"), json!({"version": 2}));
    let report = json!({"applied": 3, "outcome": "rolled-back", "facts": {"kernel": "6.1"}});
    server.good("POST", &api("nodes/n1/check-in"), report);
    let change = json!({"commands": "assert group/web/param/PORT 9090"});
    server.good("POST", &api("commits"), change);
    server
}

#[test]
fn real_answers_are_as_described_good_and_refused() {
    let document = document();
    let server = furnished();
    let object = server.good("GET", "/api/v1/objects", Value::Null)[0].clone();
    let object = object.as_str().unwrap();
    let missing = "0".repeat(64);
    let join = json!({"name": "hall", "join": true, "lasts": 60});
    let join = server.good("POST", "/api/v1/tokens", join)["token"].clone();
    let own = format!("hence_{}", "7".repeat(64));
    let mut seen = BTreeSet::new();
    let mut ask = |id: &str, target: &str, body: Value, status: &str| {
        let operations = operations(&document);
        let found = operations.iter().find(|(.., one)| one["operationId"] == id);
        let (method, _, operation) = found.unwrap_or_else(|| panic!("no operation `{id}`"));
        let token = match id == "enrol" && status == "200" {
            true => join.as_str().unwrap(),
            false => &server.admin,
        };
        let body = match &body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let answer = server.ask(token, method, target, "", &body);
        let text = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status, status, "{method} {target}: {text}");
        if let Err(why) = promised(&document, operation, &answer) {
            panic!("{method} {target}: {why}");
        }
        if operation["responses"]["200"].get("headers").is_some() && status == "200" {
            assert!(answer.tag.is_some(), "{method} {target} has no tag");
        }
        seen.insert((id.to_owned(), status == "200"));
    };
    let none = || Value::Null;
    for (id, path, body) in [
        ("about", "", none()),
        ("openapi", "/openapi.json", none()),
        ("entries", "/entries?limit=2", none()),
        ("entry", "/entries/3", none()),
        ("entryBytes", "/entries/3/bytes", none()),
        ("hashes", "/objects", none()),
        ("objects", "/objects", json!({"hashes": [object, missing]})),
        ("object", &format!("/objects/{object}"), none()),
        ("state", "/state?at=2&under=node", none()),
        ("validation", "/validation", none()),
        ("plan", "/plan?group=web", none()),
        ("nodes", "/nodes?limit=1", none()),
        ("node", "/nodes/n1", none()),
        ("config", "/nodes/n1/config", none()),
        ("changes", "/nodes/n1/changes?since=0", none()),
        (
            "contents",
            "/nodes/n1/contents",
            json!({"hashes": [object]}),
        ),
        ("explain", "/nodes/n1/explain", none()),
        ("report", "/nodes/n1/report", none()),
        ("reports", "/reports", none()),
        ("snapshots", "/snapshots", none()),
        ("tokens", "/tokens", none()),
        ("events", "/events?node=n1", none()),
        ("seal", "/seal", json!({"text": "open sesame"})),
        ("checkIn", "/nodes/n1/check-in", json!({"applied": 3})),
        ("activate", "/activations", json!({"nodes": ["n1"]})),
        ("commit", "/commits", json!({"commands": "assert node/n3"})),
        ("undo", "/undo", json!({"message": "not yet"})),
        (
            "commit",
            "/commits",
            json!({"commands": "assert group/web/param/PORT 7070"}),
        ),
        (
            "beginRollout",
            "/rollout",
            json!({"stages": [{"groups": ["web"]}, {"percent": 50}], "otherwise": "roll-back"}),
        ),
        (
            "orderRollout",
            "/rollout/pause",
            json!({"message": "slowly"}),
        ),
        ("rollout", "/rollout", none()),
        ("orderRollout", "/rollout/roll-back", none()),
        ("rollout", "/rollout", none()),
        ("entry", "/entries/10", none()),
        ("restore", "/restore", json!({"version": 2})),
        ("name", "/snapshots/second", json!({"version": 3})),
        ("unname", "/snapshots/second", none()),
        ("enrol", "/enrolments", json!({"node": "n4", "token": own})),
        (
            "addToken",
            "/tokens",
            json!({"name": "reader", "may": [{"role": "read"}]}),
        ),
        ("revokeToken", "/tokens/reader", none()),
    ] {
        ask(id, &format!("/api/v1{path}"), body, "200");
    }
    for (id, path) in [
        ("plainConfig", "/config/n1"),
        ("plainConfigAt", "/config/n1/at/3"),
        ("plainCurrentConfig", "/current-config/n1"),
        ("plainChanges", "/changes-to/n1/since/0"),
        ("metrics", "/metrics"),
        ("health", "/health"),
        ("ready", "/ready"),
    ] {
        ask(id, path, none(), "200");
    }
    for (id, path, body, status) in [
        ("entries", "/entries?limit=x", none(), "400"),
        ("entry", "/entries/999", none(), "404"),
        ("entryBytes", "/entries/-1/bytes", none(), "400"),
        ("objects", "/objects", json!({"hashes": ["x"]}), "400"),
        ("object", "/objects/x", none(), "400"),
        ("object", &format!("/objects/{missing}"), none(), "404"),
        ("state", "/state?at=999", none(), "404"),
        ("plan", "/plan?node=n9", none(), "404"),
        ("nodes", "/nodes?limit=-1", none(), "400"),
        ("node", "/nodes/n9", none(), "404"),
        ("config", "/nodes/n9/config", none(), "404"),
        ("changes", "/nodes/n1/changes", none(), "400"),
        (
            "contents",
            "/nodes/n9/contents",
            json!({"hashes": []}),
            "404",
        ),
        ("explain", "/nodes/n1/explain?parameter=none", none(), "404"),
        ("report", "/nodes/n2/report", none(), "404"),
        ("seal", "/seal", json!({}), "400"),
        (
            "checkIn",
            "/nodes/n1/check-in",
            json!({"outcome": "x"}),
            "400",
        ),
        ("activate", "/activations", json!({"nodes": ["n9"]}), "404"),
        ("activate", "/activations", json!({"plan": "1/0"}), "412"),
        ("beginRollout", "/rollout", json!({"success": 101}), "422"),
        ("beginRollout", "/rollout", json!({"target": 999}), "404"),
        ("orderRollout", "/rollout/faster", none(), "404"),
        ("orderRollout", "/rollout/pause", none(), "404"),
        ("commit", "/commits", json!({"commands": "what"}), "422"),
        (
            "commit",
            "/commits",
            json!({"commands": "assert node/n8", "if_version": 1}),
            "412",
        ),
        ("undo", "/undo", json!({"version": 1}), "409"),
        ("restore", "/restore", json!({"version": 999}), "404"),
        ("name", "/snapshots/third", json!({"version": 999}), "404"),
        ("unname", "/snapshots/third", none(), "404"),
        (
            "enrol",
            "/enrolments",
            json!({"node": "n5", "token": own}),
            "403",
        ),
        (
            "addToken",
            "/tokens",
            json!({"name": "hall", "join": 1}),
            "400",
        ),
        ("revokeToken", "/tokens/admin", none(), "409"),
    ] {
        ask(id, &format!("/api/v1{path}"), body, status);
    }
    for (id, path) in [
        ("plainConfig", "/config/n9"),
        ("plainConfigAt", "/config/n9/at/3"),
        ("plainCurrentConfig", "/current-config/n9"),
        ("plainChanges", "/changes-to/n9/since/0"),
    ] {
        ask(id, path, none(), "404");
    }
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        assert!(seen.contains(&(id.to_owned(), true)), "{id} is not tried");
        if operation.get("security").is_none() {
            let target = path.replace("{version}", "1").replace(['{', '}'], "");
            let answer = server.ask("wrong", &method, &target, "", "");
            assert_eq!(answer.status, "401", "{method} {target}");
            promised(&document, operation, &answer).unwrap();
        }
    }
    let tag = server.ask(&server.admin, "GET", "/config/n1", "", "").tag;
    let known = format!("if-none-match: {}\r\n", tag.unwrap());
    let known = server.ask(&server.admin, "GET", "/config/n1", &known, "");
    assert_eq!(known.status, "304");
}

/// Numbers that look random, and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn of<'a, T: ?Sized>(&mut self, some: &[&'a T]) -> &'a T {
        some[self.below(some.len())]
    }
}

/// Nothing here names or makes an administrator: the one that asks must stay.
const TEXTS: &[&str] = &[
    "",
    "n1",
    "N2",
    "web",
    "PORT",
    "operator",
    "node",
    "node/n1",
    "group/web",
    "read",
    "write",
    "1/0",
    "3",
    "first",
    "assert node/n1",
    "assert node/n7 ; assert node/n7/param/PORT 1",
    "retract node/n2",
    "retract-under group/web",
    "assert",
    "\"",
    "a b",
    "ä/ö",
    "%",
    "../..",
    "\0",
    "\u{1f600}",
];

/// A value that a schema allows.
fn sample(document: &Value, schema: &Value, dice: &mut Dice) -> Value {
    let schema = resolve(document, schema);
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(some) = schema.get("enum").or(schema.get("oneOf")) {
        let some = some.as_array().unwrap();
        let one = &some[dice.below(some.len())];
        return match schema.get("enum") {
            Some(_) => one.clone(),
            None => sample(document, one, dice),
        };
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => &kinds[dice.below(kinds.len())],
        kind => kind,
    };
    match kind.as_str().unwrap() {
        "null" => Value::Null,
        "boolean" => json!(dice.below(2) == 0),
        "integer" => {
            let most = schema.get("maximum").and_then(Value::as_u64);
            let number = [0, 1, 2, 3, 7, 100, u64::from(u32::MAX), i64::MAX as u64][dice.below(8)];
            json!(number.min(most.unwrap_or(u64::MAX)))
        }
        "string" if schema.get("pattern").is_some() => {
            json!(["0", "f"][dice.below(2)].repeat(64))
        }
        "string" => json!(dice.of(TEXTS)),
        "array" => match schema.get("prefixItems") {
            Some(first) => {
                let items = first.as_array().unwrap().iter();
                items.map(|item| sample(document, item, dice)).collect()
            }
            None => (0..dice.below(3))
                .map(|_| sample(document, &schema["items"], dice))
                .collect(),
        },
        "object" => {
            let mut object = Map::new();
            let required = schema.get("required").and_then(Value::as_array);
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                let must = required.is_some_and(|names| names.contains(&json!(name)));
                if must || dice.below(3) == 0 {
                    object.insert(name.clone(), sample(document, schema, dice));
                }
            }
            if let Some(schema) = schema.get("additionalProperties") {
                let name = dice.of(TEXTS).to_owned();
                object.insert(name, sample(document, schema, dice));
            }
            Value::Object(object)
        }
        other => panic!("nobody knows the type `{other}`"),
    }
}

/// Makes something else of one part of a value.
fn bend(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(fields) if !fields.is_empty() && dice.below(4) > 0 => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = &names[dice.below(names.len())];
            match dice.below(3) {
                0 => drop(fields.remove(name)),
                _ => bend(&mut fields[name], dice),
            }
        }
        Value::Array(items) if !items.is_empty() && dice.below(4) > 0 => {
            let at = dice.below(items.len());
            bend(&mut items[at], dice);
        }
        _ => {
            *value = match dice.below(8) {
                0 => Value::Null,
                1 => json!(-1),
                2 => json!(1.5),
                3 => json!(u64::MAX),
                4 => json!([]),
                5 => json!({}),
                6 => json!("x".repeat(20_000)),
                _ => json!(true),
            }
        }
    }
}

/// How a value stands in an address.
fn escaped(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut escaped = String::new();
    for byte in text.bytes().take(2_000) {
        match byte.is_ascii_alphanumeric() {
            true => escaped.push(byte as char),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[test]
fn whatever_is_sent_the_answer_is_one_that_is_described() {
    let document = document();
    let server = furnished();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut wrong = BTreeSet::new();
    let mut statuses = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        for round in 0..40 {
            // Every third is as described, every third nearly so, and every third far from it.
            let bent = |value: Value, dice: &mut Dice| {
                let mut value = value;
                for _ in 0..[0, 1, 4][round % 3] {
                    bend(&mut value, dice);
                }
                value
            };
            let (mut target, mut query, mut headers) = (path.clone(), Vec::new(), String::new());
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = resolve(&document, parameter);
                let name = parameter["name"].as_str().unwrap();
                if parameter.get("required").is_none() && dice.below(2) == 0 {
                    continue;
                }
                let value = match name == "If-Match" {
                    true => json!(["\"1\"", "7", "x"][dice.below(3)]),
                    false => sample(&document, &parameter["schema"], &mut dice),
                };
                let value = match round % 3 == 2 && dice.below(3) == 0 {
                    true => bent(value, &mut dice),
                    false => value,
                };
                match parameter["in"].as_str().unwrap() {
                    "path" => {
                        // Without a name it would be another address.
                        let value = match escaped(&value) {
                            empty if empty.is_empty() => "n1".to_owned(),
                            value => value,
                        };
                        target = target.replace(&format!("{{{name}}}"), &value);
                    }
                    "query" => query.push(format!("{name}={}", escaped(&value))),
                    _ => {
                        headers = format!(
                            "{name}: {}\r\n",
                            value.as_str().unwrap_or("7").escape_default()
                        )
                    }
                }
            }
            if !query.is_empty() {
                target = format!("{target}?{}", query.join("&"));
            }
            let body = match operation.get("requestBody") {
                None => String::new(),
                Some(body) => {
                    let schema = &body["content"]["application/json"]["schema"];
                    let value = sample(&document, schema, &mut dice);
                    let mut text = bent(value, &mut dice).to_string();
                    if round % 9 == 8 {
                        text = text.chars().take(text.len() / 2).collect();
                    }
                    text
                }
            };
            let answer = server.ask(&server.admin, &method, &target, &headers, &body);
            if let Err(why) = promised(&document, operation, &answer) {
                let shown: String = format!("{method} {target} {body}")
                    .chars()
                    .take(300)
                    .collect();
                wrong.insert(format!("{shown}: {why}"));
            }
            if let Some(sent) = operation.get("requestBody") {
                let schema = &sent["content"]["application/json"]["schema"];
                let read = serde_json::from_str(&body).map_err(|error| error.to_string());
                let fits = read.and_then(|value| check(&document, schema, &value, ""));
                if let (Err(why), "200", false) = (fits, answer.status.as_str(), body.is_empty()) {
                    wrong.insert(format!("{method} {target} took {body}: {why}"));
                }
            }
            statuses.insert(answer.status);
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for status in ["200", "400", "404", "409", "422"] {
        assert!(statuses.contains(status), "no answer was {status}");
    }
    let about = server.ask(&server.admin, "GET", "/api/v1", "", "");
    assert_eq!(about.status, "200");
}
