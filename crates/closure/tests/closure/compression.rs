//! Content is sent compressed to who can unpack it, by real servers.

use hence_closure::closure::{Now, Published};
use hence_closure::host::{Machine, Wanted};
use hence_closure::probe;
use hence_closure::server::Server;

use crate::real::{self, Root};

#[test]
fn text_is_sent_compressed_to_who_wants_it() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let text = "all work and no play ".repeat(1000);
        let blob = closure.content().stage_bytes(text.as_bytes()).unwrap();
        let said = |feature: &str| {
            let mut all = vec![
                format!("listen {endpoint}"),
                "host foo.test".to_owned(),
                format!("index foo.test / blob:{blob} text/html;charset=utf-8"),
                format!("file foo.test /a.css blob:{blob}"),
                format!("file foo.test /a.png blob:{blob}"),
                format!("file foo.test /a.odd blob:{blob}"),
                "type foo.test /a.odd application/x-odd".to_owned(),
            ];
            all.extend((!feature.is_empty()).then(|| format!("feature {feature}")));
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            real::all(&all)
        };
        real::commit(&mut closure, &[said("compression")]).unwrap();
        closure.start().unwrap();
        // By path: whether it is compressed for who wants that. For others it never is.
        let packed = |path: &str| {
            let plain = probe::ask(&Machine, endpoint, "foo.test", path).unwrap();
            assert_eq!(plain.body, text.as_bytes(), "{server:?} {path}");
            assert_eq!(plain.header("content-encoding"), None);
            let packed = probe::ask_compressed(&Machine, endpoint, None, "foo.test", path).unwrap();
            let is_packed = packed.header("content-encoding") == Some("gzip");
            if is_packed {
                assert_eq!(probe::unpacks(blob, &packed), None, "{server:?} {path}");
                assert!(packed.body.len() * 10 < text.len());
            }
            is_packed
        };
        let all = || ["/", "/a.css", "/a.png", "/a.odd"].map(packed);
        assert_eq!(all(), [true, true, false, false], "{server:?}");
        let published = real::commit(&mut closure, &[said("compression application/x-odd")]);
        let Ok(Published::New {
            now: Now::Served { probes },
            ..
        }) = published
        else {
            panic!("{server:?}: {published:?}");
        };
        assert!(probes > 0, "{server:?}");
        assert_eq!(all(), [true, false, false, true], "{server:?}");
        real::commit(&mut closure, &[said("")]).unwrap();
        assert_eq!(all(), [false; 4], "{server:?}");
    }
}

#[test]
fn an_answer_that_is_not_compressed_breaks_the_promise() {
    let body = b"all work and no play ".repeat(100);
    let hash = hence_ledger::Hash::of(&body);
    let answer = |head: &str, body: &[u8]| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").into_bytes();
        bytes.extend(body);
        probe::unpacks(
            hash,
            &probe::Response::parse(&bytes, Wanted::Whole).unwrap(),
        )
    };
    assert!(
        answer("Vary: Accept-Encoding", &body)
            .unwrap()
            .contains("got `none`")
    );
    assert!(
        answer("Content-Encoding: br", &body)
            .unwrap()
            .contains("got `br`")
    );
    assert!(
        answer("Content-Encoding: gzip", &body)
            .unwrap()
            .contains("can be unpacked")
    );
}
