//! TLS on real servers: which certificate is shown to whom, and who can read its key.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use hence_closure::address::Name;
use hence_closure::certificate::Certificate;
use hence_closure::closure::{Now, Published};
use hence_closure::host::Machine;
use hence_closure::integrity::Repaired;
use hence_closure::probe::{self, Probe};
use hence_closure::server::Server;
use hence_ledger::Hash;

use crate::generate::certificate;
use crate::real::{self, Root};

/// What `openssl` says it was shown, and the status that it was answered.
fn judged(endpoint: SocketAddr, named: Option<&str>, host: &str) -> (String, String) {
    let mut openssl = Command::new("openssl");
    openssl.args(["s_client", "-ign_eof", "-connect", &endpoint.to_string()]);
    match named {
        Some(named) => openssl.args(["-servername", named]),
        None => openssl.arg("-noservername"),
    };
    let mut child = openssl
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(request.as_bytes())
        .unwrap();
    let said = child.wait_with_output().unwrap().stdout;
    let said = String::from_utf8_lossy(&said);
    let begin = said
        .find("-----BEGIN CERTIFICATE")
        .unwrap_or_else(|| panic!("{said}"));
    let end = said.find("-----END CERTIFICATE-----").unwrap();
    let status = said
        .split("HTTP/1.1 ")
        .nth(1)
        .and_then(|rest| rest.get(..3));
    (
        said[begin..end].to_owned(),
        status.unwrap_or("none").to_owned(),
    )
}

/// The beginning of the file with a certificate.
fn kept(root: &Root, name: &str) -> String {
    let text = std::fs::read_to_string(root.path.join("key").join(name)).unwrap();
    text[..text.find("-----END CERTIFICATE-----").unwrap()].to_owned()
}

#[test]
fn a_client_is_shown_the_certificate_of_the_host_that_it_names() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoints = real::free_endpoints(2);
        let (plain, secured) = (endpoints[0], endpoints[1]);
        let stage = |made: &Certificate| closure.certificates().stage(made).unwrap();
        let foo = stage(&certificate(&["foo.test", "www.foo.test"]));
        let bar = stage(&certificate(&["bar.test"]));
        let renewed = stage(&certificate(&["bar.test"]));
        let blob = closure.content().stage_bytes(b"hello").unwrap();
        let said = |bar: Hash, default: &str| {
            let mut all = vec![
                format!("listen {plain}"),
                format!("listen {secured} tls"),
                "host foo.test".to_owned(),
                "alias foo.test www.foo.test".to_owned(),
                "host bar.test".to_owned(),
                "host baz.test".to_owned(),
                format!("cert foo.test {secured} cert:{foo}"),
                format!("cert bar.test {secured} cert:{bar}"),
            ];
            for host in ["foo.test", "bar.test", "baz.test"] {
                all.push(format!("index {host} / blob:{blob} text/plain"));
            }
            all.extend((!default.is_empty()).then(|| format!("default {secured} {default}")));
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            real::all(&all)
        };
        real::commit(&mut closure, &[said(bar, "")]).unwrap();
        closure.start().unwrap();
        let (foos, bars) = (kept(&root, &foo.to_string()), kept(&root, &bar.to_string()));
        let nobodys = kept(&root, "unknown");
        let is = |named: Option<&str>, host: &str, shown: &String, status: &str| {
            let judged = judged(secured, named, host);
            let expected = (shown.clone(), status.to_owned());
            assert_eq!(
                judged,
                expected,
                "{server:?} {named:?} {host}\n{}",
                root.log()
            );
        };
        is(Some("foo.test"), "foo.test", &foos, "200");
        is(Some("www.foo.test"), "www.foo.test", &foos, "200");
        is(Some("WWW.Foo.test"), "www.foo.test", &foos, "200");
        is(Some("bar.test"), "bar.test", &bars, "200");
        is(Some("bar.test"), "foo.test", &bars, "421");
        is(Some("baz.test"), "baz.test", &nobodys, "404");
        is(None, "foo.test", &nobodys, "421");
        is(None, "none.test", &nobodys, "404");
        let here = probe::ask(&Machine, plain, "baz.test", "/").unwrap();
        assert_eq!(
            here.status, 200,
            "{server:?}: it speaks plainly where it may"
        );
        // Another default, and another certificate, are shown as soon as they are said to be served.
        let published = real::commit(&mut closure, &[said(renewed, "foo.test")]).unwrap();
        assert!(
            matches!(
                published,
                Published::New {
                    now: Now::Served { .. },
                    ..
                }
            ),
            "{published:?}"
        );
        let renewed = kept(&root, &renewed.to_string());
        assert_ne!(renewed, bars);
        is(Some("bar.test"), "bar.test", &renewed, "200");
        is(None, "foo.test", &foos, "200");
        is(None, "bar.test", &foos, "421");
        is(Some("none.test"), "none.test", &foos, "404");
        is(Some("baz.test"), "foo.test", &foos, "200");
        assert_eq!(closure.validate(), Ok(Vec::new()));
    }
}

#[test]
fn a_client_cannot_name_an_address() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let stage = |made: &Certificate| closure.certificates().stage(made).unwrap();
        let (here, foo) = (
            stage(&certificate(&["127.0.0.1"])),
            stage(&certificate(&["foo.test"])),
        );
        let all = [
            format!("listen {endpoint} tls"),
            "host 127.0.0.1".to_owned(),
            "host foo.test".to_owned(),
            format!("cert 127.0.0.1 {endpoint} cert:{here}"),
            format!("cert foo.test {endpoint} cert:{foo}"),
        ];
        for (default, status) in [("foo.test", "421"), ("127.0.0.1", "404")] {
            let default = format!("default {endpoint} {default}");
            let mut all: Vec<&str> = all.iter().map(String::as_str).collect();
            all.push(&default);
            real::commit(&mut closure, &[real::all(&all)]).unwrap();
            closure.start().unwrap();
            assert_eq!(judged(endpoint, None, "127.0.0.1").1, status, "{server:?}");
            assert_eq!(closure.validate(), Ok(Vec::new()), "{server:?}");
        }
    }
}

#[test]
fn only_the_server_and_the_closure_can_read_a_key() {
    for server in [Server::Apache, Server::Nginx] {
        let root = Root::new(server);
        let mut closure = root.open();
        let endpoint = real::free_endpoints(1)[0];
        let foo = closure
            .certificates()
            .stage(&certificate(&["foo.test"]))
            .unwrap();
        let everything = real::all(&[
            &format!("listen {endpoint} tls"),
            "host foo.test",
            &format!("cert foo.test {endpoint} cert:{foo}"),
        ]);
        real::commit(&mut closure, &[everything]).unwrap();
        closure.start().unwrap();
        let about = |path: &str| std::fs::metadata(root.path.join(path)).unwrap();
        let secret = about(&format!("secret/{foo}"));
        let key = about(&format!("key/{foo}"));
        assert_eq!((secret.mode() & 0o777, key.mode() & 0o777), (0o600, 0o400));
        assert_eq!(about("key/unknown").mode() & 0o777, 0o400);
        assert_eq!(about("secret").mode() & 0o777, 0o700);
        assert_eq!(about("key").mode() & 0o007, 0);
        let user = closure
            .settings()
            .user
            .as_ref()
            .map_or(secret.uid(), |user| user.user);
        assert_eq!(key.uid(), user);
        assert_ne!(secret.ino(), key.ino(), "what is served is another copy");
        // Nothing else below the root has it.
        let text = std::fs::read_to_string(root.path.join(format!("secret/{foo}"))).unwrap();
        let line = text.lines().rev().nth(1).unwrap();
        let found = Command::new("grep")
            .args(["-rlF", line])
            .arg(&root.path)
            .output()
            .unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        let found: BTreeSet<&str> = found.lines().collect();
        let path = |name: &str| {
            root.path
                .join(name)
                .join(foo.to_string())
                .display()
                .to_string()
        };
        let (secret, key) = (path("secret"), path("key"));
        assert_eq!(found, BTreeSet::from([secret.as_str(), key.as_str()]));
        // Who opens it to others is found out, and what was changed is made again.
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o444))
            .unwrap();
        let drift = closure.validate().unwrap();
        assert!(
            drift[0].message.ends_with("has the mode 444, and not 400"),
            "{drift:?}"
        );
        std::fs::write(&secret, "").unwrap();
        let repaired = closure.repair(&real::request()).unwrap();
        assert!(
            matches!(&repaired, Repaired::Published { was, .. } if was.len() == 1),
            "{server:?}: {repaired:?}"
        );
        assert_eq!(closure.validate(), Ok(Vec::new()), "{server:?}");
    }
}

#[test]
fn a_server_that_shows_another_certificate_breaks_its_promise() {
    let root = Root::new(Server::Nginx);
    let mut closure = root.open();
    let endpoint = real::free_endpoints(1)[0];
    let stage = |made: &Certificate| closure.certificates().stage(made).unwrap();
    let (foo, other) = (
        stage(&certificate(&["foo.test"])),
        stage(&certificate(&["foo.test"])),
    );
    let said = |cert: Hash| {
        real::all(&[
            &format!("listen {endpoint} tls"),
            "host foo.test",
            &format!("cert foo.test {endpoint} cert:{cert}"),
        ])
    };
    real::commit(&mut closure, &[said(foo)]).unwrap();
    closure.start().unwrap();
    let host = Name::read("foo.test").unwrap();
    let probes = BTreeSet::from([Probe::new(endpoint, host, "/")]);
    assert!(closure.keeps(&closure.site(), &probes).is_empty());
    let mut wanted = closure.site();
    let host = wanted.hosts.values_mut().next().unwrap();
    host.certs.insert(endpoint, other);
    let broken = closure.keeps(&wanted, &probes);
    assert!(
        broken[0]
            .message
            .contains(&format!("expected cert:{other}")),
        "{broken:?}"
    );
}
