//! Who may read, and who answers instead: passwords and other servers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use hence_closure::closure::{Now, Published};
use hence_closure::content::{File, Tree};
use hence_closure::host::{Host, Machine, Wanted};
use hence_closure::probe::{self, Response};
use hence_closure::publish::ENDPOINT_TAKEN;
use hence_closure::server::Server;
use hence_closure::words::Subject;
use hence_ledger::Command;
use hence_store::Refused;

use crate::real::{self, Root};

/// `secret`, as `htpasswd -ns` sums it.
const SUM: &str = "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=";

fn ask(endpoint: SocketAddr, path: &str, credentials: &str) -> Response {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: foo.test\r\nAuthorization: Basic {credentials}\r\nConnection: close\r\n\r\n"
    );
    let bytes = Machine
        .exchange(endpoint, request.as_bytes(), Wanted::Whole, probe::LIMIT)
        .unwrap();
    Response::parse(&bytes, Wanted::Whole).unwrap()
}

#[test]
fn who_knows_the_password_may_read() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let listen = format!("listen {endpoint}");
        let blob = closure.content().stage_bytes(b"for staff").unwrap();
        let file = format!("file foo.test /staff/a.txt blob:{blob}");
        let (ada, bob) = (
            format!("user foo.test ada {SUM}"),
            format!("user foo.test bob {SUM}"),
        );
        let everything = real::all(&[
            &listen,
            "host foo.test",
            &file,
            &ada,
            &bob,
            "access foo.test /staff/ users ada",
            "access foo.test /staff/open/ all",
            "redirect foo.test /staff/old 302 /staff/a.txt",
        ]);
        real::commit(&mut closure, &[everything]).unwrap();
        closure.start().unwrap();
        let plain = |path: &str| {
            probe::ask(&Machine, endpoint, "foo.test", path)
                .unwrap()
                .status
        };
        let (good, wrong, other) = ("YWRhOnNlY3JldA==", "YWRhOndyb25n", "Ym9iOnNlY3JldA==");
        for (path, status) in [
            ("/staff/a.txt", 200),
            ("/staff/old", 302),
            ("/staff/none", 404),
            ("/staff/", 404),
        ] {
            assert_eq!(plain(path), 401, "{server:?} {path}");
            assert_eq!(ask(endpoint, path, wrong).status, 401, "{server:?} {path}");
            assert_eq!(ask(endpoint, path, other).status, 401, "{server:?} {path}");
            assert_eq!(
                ask(endpoint, path, good).status,
                status,
                "{server:?} {path}"
            );
        }
        assert_eq!(ask(endpoint, "/staff/a.txt", good).body, b"for staff");
        assert_eq!(plain("/staff/open/x"), 404, "{server:?}");
    }
}

/// Another server, which says what it was asked for.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or("").to_owned();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{path}",
                path.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    endpoint
}

#[test]
fn another_server_answers_below_a_directory() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let blob = closure.content().stage_bytes(b"here").unwrap();
        let tree = closure.content().stage_bytes(b"").unwrap();
        let everything = real::all(&[
            &format!("listen {endpoint}"),
            "host foo.test",
            &format!("proxy foo.test /api/ http://{}/v1/", echo()),
            &format!("file foo.test /api/here.txt blob:{blob}"),
            &format!("tree foo.test /api/static/ tree:{tree}"),
            "access foo.test /api/staff/ none",
        ]);
        real::commit(&mut closure, &[everything]).unwrap();
        closure.start().unwrap();
        let get = |path: &str| {
            let answer = probe::ask(&Machine, endpoint, "foo.test", path).unwrap();
            (answer.status, String::from_utf8(answer.body).unwrap())
        };
        assert_eq!(get("/api/a/b"), (200, "/v1/a/b".to_owned()), "{server:?}");
        assert_eq!(get("/api/"), (200, "/v1/".to_owned()), "{server:?}");
        // What is escaped arrives escaped, but for a slash, and what is not does not: each server by its own habits.
        for (path, asked) in [
            ("/api/a?b=%3F&c", "/v1/a?b=%3F&c"),
            ("/api/a%3Fb", "/v1/a%3Fb"),
            ("/api/a%3fb?c%3fd", "/v1/a%3Fb?c%3fd"),
            ("/api/a%23b%20c%25d%5Ce%22", "/v1/a%23b%20c%25d%5Ce%22"),
            ("/api/%C3%A9;x=1,2+3", "/v1/%C3%A9;x=1,2+3"),
            ("/api/a%2Fb", "/v1/a/b"),
            ("/api/a%2F..%2Fb", "/v1/b"),
        ] {
            let (status, answer) = get(path);
            let is_asked = answer.eq_ignore_ascii_case(asked);
            assert!(status == 200 && is_asked, "{server:?} {path}: {answer}");
        }
        assert_eq!(get("/api/..%2Fx").0, 404, "{server:?}");
        assert_eq!(get("/api/staff%2Fx").0, 403, "{server:?}");
        assert_eq!(get("/api%2Fhere.txt").1, "here", "{server:?}");
        assert_eq!(get("/api/here.txt"), (200, "here".to_owned()), "{server:?}");
        assert_eq!(get("/api/static/").0, 403, "{server:?}");
        assert_eq!(get("/api/static/x").0, 404, "{server:?}");
        assert_eq!(get("/api/staff/x").0, 403, "{server:?}");
        assert_eq!(get("/api").0, 301, "{server:?}");
        assert_eq!(get("/other").0, 404, "{server:?}");
        // Retracted, it is gone.
        let less = real::all(&[&format!("listen {endpoint}"), "host foo.test"]);
        let published = real::commit(&mut closure, &[less]).unwrap();
        assert!(
            matches!(
                published,
                Published::New {
                    now: Now::Served { .. },
                    ..
                }
            ),
            "{server:?}: {published:?}"
        );
        assert_eq!(get("/api/a/b").0, 404, "{server:?}");
    }
}

#[test]
fn no_host_has_the_name_of_the_one_that_answers_for_all_others() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let blob = closure.content().stage_bytes(b"here").unwrap();
        let everything = real::all(&[
            &format!("listen {endpoint}"),
            "host unknown.invalid",
            "host localhost",
            "host 127.0.0.1",
            &format!("file unknown.invalid /a blob:{blob}"),
            &format!("file localhost /a blob:{blob}"),
            &format!("file 127.0.0.1 /a blob:{blob}"),
        ]);
        real::commit(&mut closure, &[everything]).unwrap();
        closure.start().unwrap();
        let status = |name: &str| {
            let answer = probe::ask(&Machine, endpoint, name, "/a");
            answer.unwrap().status
        };
        for name in ["unknown.invalid", "localhost", "127.0.0.1"] {
            assert_eq!(status(name), 200, "{server:?} {name}");
        }
        assert_eq!(status("closure.invalid"), 404, "{server:?}");
        assert_eq!(closure.validate(), Ok(Vec::new()), "{server:?}");
    }
}

#[test]
fn what_does_not_fit_into_a_line_of_a_map_is_refused() {
    let root = Root::new(Server::Apache);
    let mut closure = root.open();
    let endpoint = real::free_endpoints(1)[0];
    let refused = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let (subject, rest) = Subject::read(&words).unwrap();
        subject.said(rest).is_err()
    };
    let blob = closure.content().stage_bytes(b"here").unwrap();
    // The rest of a longer line would be taken for a line of its own, and this for what is said about `/other`.
    let long = format!("/{}/other", "x".repeat(1016));
    assert!(refused(&format!("type foo.test {long} text/html")));
    assert!(refused(&format!("file foo.test {long} blob:{blob}")));
    assert!(refused(&format!("redirect foo.test {long} 301 /")));
    assert!(refused(&format!("redirect foo.test /a 301 {long}")));
    // The longest that fits is served.
    let longest = format!("/{}", "x".repeat(254));
    let everything = real::all(&[
        &format!("listen {endpoint}"),
        "host foo.test",
        &format!("file foo.test {longest} blob:{blob}"),
        &format!("redirect foo.test /a 301 /{}", "y".repeat(900 - 7)),
        &format!("type foo.test {longest} text/{}", "z".repeat(60)),
    ]);
    // Maps are read where there are more than a few URLs.
    let more: Vec<String> = (0..40)
        .map(|number| format!("file foo.test /{number}/x blob:{blob}"))
        .collect();
    let more: Vec<Command> = more
        .iter()
        .map(|words| {
            let (key, value) = real::says(words);
            let owner = "site".into();
            Command::Assert { owner, key, value }
        })
        .collect();
    real::commit(&mut closure, &[vec![everything], more].concat()).unwrap();
    closure.start().unwrap();
    assert_eq!(closure.validate(), Ok(Vec::new()));
}

#[test]
fn urls_are_as_long_as_both_servers_find_them() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let blob = closure.content().stage_bytes(b"here").unwrap();
        let tree = closure.content().stage_bytes(b"").unwrap();
        let (file, directory) = ("x".repeat(254), "y".repeat(253));
        let said = [
            format!("listen {}", real::free_endpoints(1)[0]),
            "host foo.test".to_owned(),
            format!("tree foo.test / tree:{tree}"),
            format!("file foo.test /{file} blob:{blob}"),
            format!("redirect foo.test /{} 302 /", "z".repeat(254)),
            format!("access foo.test /{directory}/ none"),
        ];
        let said = said.each_ref().map(String::as_str);
        real::commit(&mut closure, &[real::all(&said)]).unwrap();
        closure.start().unwrap();
        assert_eq!(closure.validate(), Ok(Vec::new()), "{server:?}");
        for words in [
            format!("file foo.test /x{file} blob:{blob}"),
            format!("access foo.test /y{directory}/ none"),
            format!("listing foo.test /y{directory}/"),
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            let (subject, rest) = Subject::read(&words).unwrap();
            assert!(subject.said(rest).is_err(), "{words:?}");
        }
    }
}

#[test]
fn an_endpoint_that_is_part_of_another_is_refused() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let port = real::free_endpoints(1)[0].port();
        let everything = real::all(&[
            &format!("listen 0.0.0.0:{port}"),
            &format!("listen 127.0.0.1:{port}"),
        ]);
        let refused = real::commit(&mut closure, &[everything]);
        let Err(Refused::Because(troubles)) = refused else {
            panic!("{server:?}: {refused:?}");
        };
        assert_eq!(troubles[0].code, ENDPOINT_TAKEN);
        let path = format!("listen 127.0.0.1:{port}");
        assert_eq!(troubles[0].path.as_deref(), Some(path.as_str()));
    }
}

/// What is answered to a request with a method and more headers.
fn answer(endpoint: SocketAddr, method: &str, path: &str, more: &str) -> Response {
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: foo.test\r\n{more}Connection: close\r\n\r\n");
    let wanted = match method {
        "HEAD" => Wanted::Head,
        _ => Wanted::Whole,
    };
    let bytes = Machine.exchange(endpoint, request.as_bytes(), wanted, probe::LIMIT);
    Response::parse(&bytes.unwrap(), wanted).unwrap()
}

#[test]
fn content_is_read_and_nothing_else_is_done_with_it() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let blob = closure.content().stage_bytes(b"0123456789").unwrap();
        let mut tree = Tree::default();
        let size = 10;
        tree.add_file("b.txt", File { hash: blob, size });
        let tree = closure.content().stage_bytes(tree.to_text().as_bytes());
        let everything = real::all(&[
            &format!("listen {endpoint}"),
            "host foo.test",
            &format!("file foo.test /a.txt blob:{blob}"),
            &format!("tree foo.test /t/ tree:{}", tree.unwrap()),
        ]);
        real::commit(&mut closure, &[everything]).unwrap();
        closure.start().unwrap();
        for path in ["/a.txt", "/t/b.txt"] {
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
                let answer = answer(endpoint, method, path, "Content-Length: 0\r\n");
                assert_eq!(answer.status, 405, "{server:?} {method} {path}");
            }
            let head = answer(endpoint, "HEAD", path, "");
            assert_eq!(
                (head.status, head.header("content-type")),
                (200, Some("text/plain"))
            );
            let part = answer(endpoint, "GET", path, "Range: bytes=2-4\r\n");
            assert_eq!(
                (part.status, &*part.body),
                (206, &b"234"[..]),
                "{server:?} {path}"
            );
            assert_eq!(part.header("content-range"), Some("bytes 2-4/10"));
            let none = answer(endpoint, "GET", path, "Range: bytes=20-\r\n");
            assert_eq!(none.status, 416, "{server:?} {path}");
            let tag = head.header("etag").expect("it has a tag");
            let same = answer(endpoint, "GET", path, &format!("If-None-Match: {tag}\r\n"));
            assert_eq!(
                (same.status, same.body.len()),
                (304, 0),
                "{server:?} {path}"
            );
            let other = answer(endpoint, "GET", path, "If-None-Match: \"other\"\r\n");
            assert_eq!((other.status, &*other.body), (200, &b"0123456789"[..]));
        }
    }
}
