//! What passes between those who ask and another server behind a proxy.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use hence_closure::closure::Published;
use hence_closure::host::{Host, Machine, Wanted};
use hence_closure::probe::{self, Response};
use hence_closure::server::Server;

use crate::real::{self, Root};

/// A server that answers each request by itself.
fn upstream(answer: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || answer(stream));
        }
    });
    endpoint
}

/// What is said before the content of a request, and how much of that is announced.
fn head(stream: &mut TcpStream) -> (String, usize) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse().unwrap())
    });
    (head, length.unwrap_or(0))
}

/// Goes on and on.
fn endless(mut stream: TcpStream) {
    head(&mut stream);
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
    while stream.write_all(b"a\r\ndata: so\n\n\r\n").is_ok() {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Leads to another place of its own, and gives a cookie for all of them.
fn leading(mut stream: TcpStream) {
    head(&mut stream);
    let own = stream.local_addr().unwrap();
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{own}/v1/there\r\nSet-Cookie: a=b; Path=/v1/\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(answer.as_bytes());
}

/// Tells what it was told, and how much came with it.
fn telling(mut stream: TcpStream) {
    let (head, length) = head(&mut stream);
    let mut content = vec![0; length];
    let came = stream.read_exact(&mut content).map_or(0, |()| length);
    let told = format!("{head}{came}");
    let length = told.len();
    let answer =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{told}");
    let _ = stream.write_all(answer.as_bytes());
}

/// Both servers, each in turn with another server behind it at `/api/`.
fn each(answer: fn(TcpStream), look: impl Fn(Server, SocketAddr)) {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let listening = real::all(&[&format!("listen {endpoint}"), "host foo.test"]);
        real::commit(&mut closure, &[listening]).unwrap();
        closure.start().unwrap();
        let behind = real::all(&[
            &format!("listen {endpoint}"),
            "host foo.test",
            &format!("proxy foo.test /api/ http://{}/v1/", upstream(answer)),
        ]);
        let published = real::commit(&mut closure, &[behind]).unwrap();
        assert!(matches!(published, Published::New { .. }), "{published:?}");
        look(server, endpoint);
    }
}

#[test]
fn what_never_ends_can_be_promised() {
    each(endless, |server, endpoint| {
        let request = b"GET /api/ HTTP/1.1\r\nHost: foo.test\r\nConnection: close\r\n\r\n";
        let head = Machine.exchange(endpoint, request, Wanted::Head, real::LIMIT);
        assert!(head.unwrap().starts_with(b"HTTP/1.1 200"), "{server:?}");
        let moment = Duration::from_millis(500);
        let whole = Machine.exchange(endpoint, request, Wanted::Whole, moment);
        assert_eq!(whole.unwrap_err().kind(), ErrorKind::TimedOut, "{server:?}");
    });
}

#[test]
fn what_leads_elsewhere_behind_a_proxy_leads_there_before_it() {
    each(leading, |server, endpoint| {
        let answer = probe::ask(&Machine, endpoint, "foo.test", "/api/x").unwrap();
        let location = answer.header("location").unwrap().to_owned();
        let location = location.trim_start_matches("http://foo.test");
        assert_eq!(location, "/api/there", "{server:?}");
        let cookie = answer.header("set-cookie").unwrap();
        assert_eq!(cookie.to_lowercase(), "a=b; path=/api/", "{server:?}");
    });
}

#[test]
fn another_server_is_told_who_asks_and_for_what() {
    each(telling, |server, endpoint| {
        let long = 3 << 20;
        let mut request = format!(
            "POST /api/a HTTP/1.1\r\nHost: foo.test\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n\
             Content-Length: {long}\r\nConnection: close\r\n\r\n"
        )
        .into_bytes();
        request.resize(request.len() + long, b'x');
        let answer = Machine.exchange(endpoint, &request, Wanted::Whole, real::LIMIT);
        let answer = Response::parse(&answer.unwrap(), Wanted::Whole).unwrap();
        let told = String::from_utf8(answer.body).unwrap().to_lowercase();
        for line in [
            "post /v1/a http/1",
            "x-forwarded-for: 6.6.6.6, 127.0.0.1\r\n",
            "x-forwarded-host: foo.test\r\n",
            "x-forwarded-proto: http\r\n",
            &format!("\r\n\r\n{long}"),
        ] {
            assert!(told.contains(line), "{server:?}: {line} in {told}");
        }
    });
}
