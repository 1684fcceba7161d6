//! `hence http` around real servers, as people use it.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hence_closure::host::{Machine, Wanted};
use hence_closure::probe::{self, Response};
use hence_loopback::reserve;

/// A folder with a closure in it, whose server goes with the test.
struct Folder {
    path: PathBuf,
    endpoint: SocketAddr,
}

impl Folder {
    fn new(name: &str, server: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hence-http-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("www/images")).unwrap();
        fs::write(path.join("www/index.html"), "<p>welcome").unwrap();
        fs::write(path.join("www/images/one.png"), b"\x89PNG\r\n\x1a\n").unwrap();
        let endpoint = reserve().unwrap();
        let folder = Self { path, endpoint };
        let listen = endpoint.to_string();
        folder.done(&["init", "root", "--server", server, "--listen", &listen]);
        folder
    }

    fn run(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_hence"))
            .arg("http")
            .args(words)
            .current_dir(&self.path)
            .env("HENCE_HTTP_ROOT", "root")
            .env("HENCE_AUTHOR", "ada")
            .output()
            .unwrap()
    }

    /// What a command prints that does what it should.
    fn done(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What a command says that is refused.
    fn refused(&self, words: &[&str], code: i32) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        said
    }

    fn get(&self, host: &str, path: &str) -> Response {
        probe::ask(&Machine, self.endpoint, host, path).unwrap()
    }

    fn status(&self, host: &str, path: &str) -> u16 {
        self.get(host, path).status
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.run(&["stop"]);
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[test]
fn a_site_is_served_in_five_commands() {
    for server in ["apache", "nginx"] {
        let folder = Folder::new(server, server);
        folder.done(&["start"]);
        assert_eq!(
            folder.status("foo.test", "/"),
            404,
            "{server}: nothing is served yet"
        );
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        assert_eq!(
            folder.status("foo.test", "/"),
            404,
            "{server}: it is only pending"
        );
        folder.done(&["commit"]);
        let answer = folder.get("foo.test", "/");
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (200, &b"<p>welcome"[..])
        );
        assert_eq!(answer.header("content-type"), Some("text/html"));
        assert_eq!(folder.status("foo.test", "/images/"), 403);
        assert_eq!(folder.status("foo.test", "/images/one.png"), 200);
        assert_eq!(folder.status("bar.test", "/"), 404);
        folder.done(&["retire", "foo.test"]);
        folder.done(&["commit"]);
        assert_eq!(folder.status("foo.test", "/"), 404);
        folder.done(&["undo"]);
        assert_eq!(folder.status("foo.test", "/"), 200);
    }
}

#[test]
fn what_was_posted_stays_until_it_is_refreshed() {
    let folder = Folder::new("refresh", "apache");
    folder.done(&["start"]);
    folder.done(&["assert", "foo.test"]);
    folder.done(&["post", "www", "http://foo.test/"]);
    folder.done(&["post", "www/index.html", "http://foo.test/", "--as-index"]);
    folder.done(&["commit"]);
    fs::write(folder.path.join("www/images/two.txt"), "two").unwrap();
    assert_eq!(folder.status("foo.test", "/images/two.txt"), 404);
    folder.done(&["refresh", "http://foo.test/"]);
    fs::write(folder.path.join("www/index.html"), "<p>again").unwrap();
    folder.done(&["refresh", "http://foo.test/"]);
    folder.done(&["commit"]);
    assert_eq!(folder.get("foo.test", "/").body, b"<p>again");
    let why = folder.done(&["why", "http://foo.test/"]);
    assert!(
        why.contains("--as-index") && why.contains("answers so"),
        "{why}"
    );
}

/// A server that always says that it cannot.
fn sick() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream
                .write_all(b"HTTP/1.1 500 Sick\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    endpoint
}

#[test]
fn a_promise_that_is_broken_is_taken_back() {
    for server in ["apache", "nginx"] {
        let folder = Folder::new(&format!("broken-{server}"), server);
        folder.done(&["start"]);
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&["commit"]);
        // Nobody answers behind the proxy.
        let nobody = reserve().unwrap();
        let upstream = format!("http://{nobody}/");
        folder.done(&["assert", "proxy", "foo.test", "/api/", &upstream]);
        let said = folder.refused(&["commit"], 2);
        assert!(
            said.contains("[http.broken-promise]") && said.contains("served as before"),
            "{said}"
        );
        assert_eq!(folder.status("foo.test", "/"), 200);
        assert_eq!(folder.status("foo.test", "/api/"), 404);
        assert!(!folder.done(&["show"]).contains("proxy"));
        // Somebody answers, and is not well.
        let upstream = format!("http://{}/", sick());
        folder.done(&["assert", "proxy", "foo.test", "/api/", &upstream]);
        folder.done(&["commit"]);
        folder.done(&[
            "assert", "proxy", "foo.test", "/api/", &upstream, "probe", "/health",
        ]);
        let said = folder.refused(&["commit"], 2);
        assert!(said.contains("should be well"), "{said}");
        assert!(folder.done(&["history"]).contains("broke its promises"));
    }
}

#[test]
fn what_is_shown_gives_the_same_service_again() {
    let folder = Folder::new("show", "apache");
    folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
    folder.done(&["assert", "redirect", "foo.test", "/old", "301", "/"]);
    folder.done(&[
        "assert",
        "access",
        "foo.test",
        "/images/",
        "networks",
        "127.0.0.0/8",
        "10.0.0.0/8",
    ]);
    folder.done(&["commit"]);
    let shown = folder.done(&["show"]);
    folder.done(&["start"]);
    assert_eq!(folder.status("foo.test", "/old"), 301);
    folder.done(&["rollback", "1"]);
    assert_eq!(folder.status("foo.test", "/old"), 404);
    fs::write(folder.path.join("shown"), format!("{shown}commit\n")).unwrap();
    folder.done(&["run", "shown"]);
    assert_eq!(folder.status("foo.test", "/old"), 301);
    assert_eq!(folder.status("foo.test", "/images/one.png"), 200);
    assert_eq!(folder.done(&["show"]), shown);
}

#[test]
fn an_endpoint_of_somebody_else_is_not_taken() {
    let folder = Folder::new("endpoint", "apache");
    folder.done(&["start"]);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = (other.local_addr().unwrap().to_string(), other);
    folder.done(&["assert", "listen", &other.0]);
    let said = folder.refused(&["commit"], 1);
    assert!(said.contains("[http.endpoint-taken]"), "{said}");
    assert_eq!(folder.status("foo.test", "/"), 404, "the server still runs");
}

#[test]
fn a_server_that_was_killed_is_recovered() {
    let folder = Folder::new("killed", "nginx");
    folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
    folder.done(&["commit"]);
    folder.done(&["start"]);
    let pid = fs::read_to_string(folder.path.join("root/run/server.pid")).unwrap();
    let kill = Command::new("kill")
        .args(["-9", pid.trim()])
        .status()
        .unwrap();
    assert!(kill.success());
    folder.done(&["recover"]);
    assert_eq!(folder.status("foo.test", "/"), 200);
    assert!(Path::new(&folder.path.join("root/current")).exists());
}

#[test]
fn what_somebody_changed_is_found_and_made_again() {
    for server in ["apache", "nginx"] {
        let folder = Folder::new(&format!("drift-{server}"), server);
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&["commit"]);
        folder.done(&["start"]);
        folder.done(&["validate"]);
        let root = folder.path.join("root");
        let first = |name: &str| {
            let mut entries = fs::read_dir(root.join(name)).unwrap();
            entries.next().unwrap().unwrap().path()
        };
        let write = |path: &Path, text: &str| {
            let _ = fs::remove_file(path);
            fs::write(path, text).unwrap();
        };
        write(&first("tree").join("images/one.png"), "another picture");
        write(&first("tree").join("extra.html"), "who put this here?");
        write(&first("file"), "<p>defaced");
        assert_eq!(folder.get("foo.test", "/").body, b"<p>defaced");
        let said = folder.refused(&["validate"], 1);
        for expected in [
            "one.png was changed",
            "extra.html is not asserted",
            "[http.drift]",
            "[http.broken-promise]",
        ] {
            assert!(said.contains(expected), "{server}: {said}");
        }
        let before = folder.get("foo.test", "/").generation();
        folder.done(&["repair"]);
        folder.done(&["validate"]);
        let answer = folder.get("foo.test", "/");
        assert_eq!(answer.body, b"<p>welcome");
        assert_eq!(answer.generation(), before.map(|before| before + 1));
        assert_eq!(folder.status("foo.test", "/extra.html"), 404);
        let history = folder.done(&["history"]);
        assert!(history.contains("one.png was changed"), "{history}");
        // What nobody changed is not published again.
        folder.done(&["repair"]);
        assert_eq!(
            folder.get("foo.test", "/").generation(),
            answer.generation()
        );
        // A repair is nothing that could be taken back: that is the commit before it.
        folder.done(&["undo"]);
        assert_eq!(folder.status("foo.test", "/"), 404);
        // The copy to restore from never was the one that is served.
        use std::os::unix::fs::MetadataExt;
        let served = first("file");
        let kept = root.join("object").join(served.file_name().unwrap());
        assert_ne!(
            fs::metadata(served).unwrap().ino(),
            fs::metadata(kept).unwrap().ino()
        );
    }
}

#[test]
fn edits_of_the_configuration_and_of_modes_are_named_and_made_again() {
    use std::os::unix::fs::PermissionsExt;
    for server in ["apache", "nginx"] {
        let folder = Folder::new(&format!("edits-{server}"), server);
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&["commit"]);
        folder.done(&["start"]);
        let root = folder.path.join("root");
        let main = match server {
            "apache" => root.join("current/httpd.conf"),
            _ => root.join("current/nginx.conf"),
        };
        let text = fs::read_to_string(&main).unwrap();
        let edit = |path: &Path, text: &str| {
            fs::remove_file(path).unwrap();
            fs::write(path, text).unwrap();
        };
        edit(&main, &text.replace("foo.test", "evil.test"));
        let parts = fs::read_dir(root.join("part")).unwrap();
        let part = parts
            .map(|part| part.unwrap().path())
            .find(|part| text.contains(part.to_str().unwrap()))
            .unwrap();
        edit(&part, "# nothing\n");
        let tree = fs::read_dir(root.join("tree")).unwrap().next().unwrap();
        let picture = tree.unwrap().path().join("images/one.png");
        fs::set_permissions(&picture, fs::Permissions::from_mode(0o666)).unwrap();
        let said = folder.refused(&["validate"], 1);
        let part = format!("{} was changed", part.display());
        let main = format!("{} was changed", main.file_name().unwrap().display());
        for expected in [
            part.as_str(),
            &main,
            "one.png has the mode 666, and not 444",
            &format!("{server} should serve"),
            "evil.test",
        ] {
            assert!(said.contains(expected), "{server}: {said}");
        }
        folder.done(&["repair"]);
        folder.done(&["validate"]);
        assert_eq!(folder.status("evil.test", "/"), 404);
        assert_eq!(folder.get("foo.test", "/").body, b"<p>welcome");
    }
}

#[test]
fn what_is_said_about_a_closure_is_not_believed_against_all_else() {
    use std::os::unix::fs::PermissionsExt;
    for (server, other) in [("apache", "nginx"), ("nginx", "apache")] {
        let folder = Folder::new(&format!("said-{server}"), server);
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&["commit"]);
        folder.done(&["start"]);
        folder.done(&["validate"]);
        let root = folder.path.join("root");
        let said = root.join("server");
        let text = fs::read_to_string(&said).unwrap();
        let program = text.lines().find(|line| line.starts_with("program "));
        let edits = [
            text.replace(program.unwrap(), "program /bin/false"),
            text.replace(&format!("server {server}"), &format!("server {other}")),
            text.replace("user www-data 33 33", "user root 0 0"),
            text.replace("user www-data 33 33\n", ""),
            format!("{text}# as we like it\n"),
            "nothing of all that\n".to_owned(),
            String::new(),
        ];
        // Who is not root runs the server as himself.
        for edit in edits.into_iter().filter(|edit| *edit != text) {
            fs::write(&said, &edit).unwrap();
            let complaint = folder.refused(&["validate"], 1);
            let expected = format!("{} was changed", said.display());
            assert!(complaint.contains(&expected), "{server}: {edit}{complaint}");
            assert_eq!(complaint.matches("error[").count(), 1, "{complaint}");
            // Nothing of it is done.
            folder.done(&["stop"]);
            folder.done(&["start"]);
            assert_eq!(folder.status("foo.test", "/"), 200);
            folder.done(&["repair"]);
            folder.done(&["validate"]);
            assert_eq!(fs::read_to_string(&said).unwrap(), text);
        }
        let damaged = |file: &Path, expected: &str| {
            let complaint = folder.refused(&["validate"], 1);
            let expected = format!("{} {expected}", file.display());
            assert!(complaint.contains(&expected), "{server}: {complaint}");
            folder.done(&["repair"]);
            folder.done(&["validate"]);
        };
        let modules = root.join("modules");
        let files = [said]
            .into_iter()
            .chain((server == "apache").then_some(modules));
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            fs::remove_file(&file).unwrap();
            damaged(&file, "is gone");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
            damaged(&file, "has the mode 666, and not 644");
            fs::remove_file(&file).unwrap();
            fs::create_dir(&file).unwrap();
            damaged(&file, "is no file any more");
            fs::write(&file, format!("{text}# and more\n")).unwrap();
            damaged(&file, "was changed");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}

#[test]
fn a_commit_that_nobody_confirms_is_taken_back() {
    let folder = Folder::new("confirm", "nginx");
    folder.done(&["start"]);
    folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
    folder.done(&["commit", "--confirm-within", "1h"]);
    folder.done(&["assert", "host", "bar.test"]);
    let said = folder.refused(&["commit"], 1);
    assert!(said.contains("[http.unconfirmed]"), "{said}");
    folder.done(&["confirm"]);
    let current = || fs::read_link(folder.path.join("root/current")).unwrap();
    let before = current();
    folder.done(&["commit", "--confirm-within", "2s"]);
    let begun = std::time::Instant::now();
    let waits = || assert!(begun.elapsed().as_secs() < 60, "it is still there");
    // It goes by itself, with no command in between.
    while current() == before || fs::exists(folder.path.join("root/unconfirmed")).unwrap() {
        waits();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let shown = loop {
        // Whoever takes it back may still be busy with the ledger.
        let output = folder.run(&["show"]);
        if output.status.success() {
            break String::from_utf8_lossy(&output.stdout).into_owned();
        }
        waits();
    };
    assert!(!shown.contains("bar.test"), "{shown}");
    assert_eq!(folder.status("foo.test", "/"), 200);
    assert!(
        folder
            .done(&["history"])
            .contains("was not confirmed in time")
    );
}

#[test]
fn the_mistake_of_one_tenant_does_not_stand_in_the_way_of_another() {
    let folder = Folder::new("tenants", "apache");
    folder.done(&["start"]);
    for tenant in ["ada.test", "bob.test"] {
        folder.done(&["assert", "host", tenant]);
        let who = tenant.split('.').next().unwrap();
        folder.done(&["assert", "right", who, tenant, "/"]);
    }
    folder.done(&["commit"]);
    let blob = format!("blob:{}", "0".repeat(64));
    folder.done(&["--owner", "ada", "assert", "file", "ada.test", "/a", &blob]);
    let said = folder.refused(&["--owner", "ada", "commit"], 1);
    assert!(said.contains("[http.missing-content]"), "{said}");
    folder.done(&["--owner", "bob", "post", "www", "http://bob.test/"]);
    folder.done(&["--owner", "bob", "commit"]);
    assert_eq!(folder.status("bob.test", "/images/one.png"), 200);
    // What is not theirs is refused before anything happens, even if nobody has it.
    folder.done(&["--owner", "bob", "post", "www", "http://ada.test/new/"]);
    let said = folder.refused(&["--owner", "bob", "commit"], 1);
    assert!(said.contains("[ledger.forbidden]"), "{said}");
    assert_eq!(folder.status("ada.test", "/new/"), 404);
}

#[test]
fn what_somebody_changes_is_noticed_and_made_again_by_itself() {
    let folder = Folder::new("watch", "apache");
    folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
    folder.done(&["commit"]);
    folder.done(&["start"]);
    let mut watch = Command::new(env!("CARGO_BIN_EXE_hence"))
        .args([
            "http",
            "--root",
            "root",
            "watch",
            "--interval",
            "1s",
            "--repair",
        ])
        .current_dir(&folder.path)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut files = fs::read_dir(folder.path.join("root/file")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    fs::remove_file(&file).unwrap();
    fs::write(&file, "<p>defaced").unwrap();
    let begun = std::time::Instant::now();
    while folder.get("foo.test", "/").body != b"<p>welcome" {
        assert!(begun.elapsed().as_secs() < 60, "nobody noticed");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn a_site_is_served_by_tls_and_its_key_is_never_shown() {
    for server in ["apache", "nginx"] {
        let folder = Folder::new(&format!("tls-{server}"), server);
        let endpoint = reserve().unwrap();
        let at = endpoint.to_string();
        let made = rcgen::generate_simple_self_signed(vec!["foo.test".to_owned()]).unwrap();
        let key = made.signing_key.serialize_pem();
        fs::write(folder.path.join("chain.pem"), made.cert.pem()).unwrap();
        fs::write(folder.path.join("key.pem"), &key).unwrap();
        folder.done(&["start"]);
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&["assert", "listen", &at, "tls"]);
        let mut said = vec![folder.run(&["post", "cert", "chain.pem", "key.pem", "foo.test", &at])];
        said.push(folder.run(&["plan"]));
        folder.done(&["commit"]);
        let named = Some("foo.test");
        let asked =
            probe::ask_secured(&Machine, endpoint, named, "foo.test", "/", Wanted::Whole).unwrap();
        assert_eq!(
            (asked.0.as_slice(), asked.1.status),
            (&**made.cert.der(), 200)
        );
        let why = folder.done(&["why", "https://foo.test/"]);
        assert!(
            why.contains("under cert:") && why.contains("answers so"),
            "{why}"
        );
        for words in [
            "show",
            "history --changes",
            "diff 1",
            "validate",
            "status",
            "plan",
        ] {
            for format in ["text", "json"] {
                let mut words: Vec<&str> = words.split(' ').collect();
                words.extend(["--format", format]);
                said.push(folder.run(&words));
            }
        }
        said.push(folder.run(&["why", "https://foo.test/", "--format", "json"]));
        let secrets: Vec<&str> = key.lines().filter(|line| !line.starts_with('-')).collect();
        let mut named = 0;
        for output in &said {
            for text in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(text);
                named += text.matches("cert:").count();
                assert!(!secrets.iter().any(|line| text.contains(line)), "{text}");
            }
        }
        assert!(named > 8, "{server}: only its hash is shown, {named} times");
    }
}

#[test]
fn reasons_and_owners_are_any_words_and_are_said_again_as_they_were() {
    let folder = Folder::new("words", "nginx");
    let owner = "the \"shop\" #2";
    folder.done(&["assert", "host", "foo.test"]);
    folder.done(&["assert", "hold", "foo.test", "ticket #42: \"moving\""]);
    folder.done(&["assert", "right", owner, "foo.test", "/"]);
    folder.done(&["commit"]);
    folder.done(&["--owner", owner, "assert", "listing", "foo.test", "/a/"]);
    folder.done(&["--owner", owner, "commit"]);
    let shown = folder.done(&["show"]);
    assert!(shown.contains("ticket #42"), "{shown}");
    let why = folder.done(&["why", "http://foo.test/"]);
    assert!(
        why.contains("is held") && why.contains("ticket #42"),
        "{why}"
    );
    folder.done(&["rollback", "1"]);
    fs::write(folder.path.join("shown"), format!("{shown}commit\n")).unwrap();
    folder.done(&["run", "shown"]);
    assert_eq!(folder.done(&["show"]), shown);
    // What somebody wrote into the file of what is pending is told, too.
    folder.done(&["assert", "host", "bar.test"]);
    fs::write(folder.path.join("root/pending/operator"), "assert \"").unwrap();
    let said = folder.refused(&["plan"], 1);
    assert!(said.contains("hence http discard"), "{said}");
    folder.done(&["discard"]);
    folder.done(&["plan"]);
}

#[test]
fn who_comes_second_waits_until_the_first_is_done() {
    let folder = Folder::new("together", "nginx");
    folder.done(&["start"]);
    let tenants = ["a", "b", "c", "d"];
    std::thread::scope(|scope| {
        for tenant in tenants {
            let folder = &folder;
            scope.spawn(move || {
                folder.done(&[
                    "--owner",
                    tenant,
                    "assert",
                    "host",
                    &format!("{tenant}.test"),
                ]);
                folder.done(&["--owner", tenant, "commit"]);
            });
        }
    });
    let status = folder.done(&["status"]);
    for tenant in tenants {
        assert!(status.contains(&format!("{tenant}.test")), "{status}");
    }
}

#[test]
fn a_tenant_cannot_command_elsewhere_by_the_set_of_somebody_else() {
    let folder = Folder::new("sets", "nginx");
    folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
    folder.done(&["assert", "right", "shop", "foo.test", "/shop/"]);
    folder.done(&["commit"]);
    fs::write(folder.path.join("nothing"), "").unwrap();
    for owner in ["operator", "become:foo.test"] {
        folder.done(&["--owner", "shop", "apply", "owner", owner, "nothing"]);
        let said = folder.refused(&["--owner", "shop", "commit"], 1);
        assert!(said.contains("[ledger.forbidden]"), "{said}");
        folder.done(&["--owner", "shop", "discard"]);
    }
}

#[test]
fn what_was_restored_copied_or_became_is_refreshed() {
    let folder = Folder::new("again", "nginx");
    folder.done(&["start"]);
    let write = |text: &str| fs::write(folder.path.join("www/index.html"), text).unwrap();
    let body = |host: &str| {
        let body = folder.get(host, "/index.html").body;
        String::from_utf8(body).unwrap()
    };
    folder.done(&["assert", "host", "foo.test"]);
    folder.done(&["post", "www", "to", "http://foo.test/"]);
    folder.done(&["commit"]);
    folder.done(&["retract", "host", "foo.test"]);
    folder.done(&["commit"]);
    folder.done(&["undo"]);
    write("<p>restored");
    folder.done(&["refresh", "http://foo.test/"]);
    folder.done(&["copy", "host", "foo.test", "to", "bar.test"]);
    folder.done(&["become", "web-server", "baz.test", "--from", "www"]);
    folder.done(&["commit"]);
    assert_eq!(body("foo.test"), "<p>restored");
    write("<p>copied");
    folder.done(&["refresh", "http://bar.test/"]);
    folder.done(&["refresh", "http://baz.test/"]);
    folder.done(&["commit"]);
    assert_eq!(body("foo.test"), "<p>restored");
    assert_eq!(body("bar.test"), "<p>copied");
    assert_eq!(body("baz.test"), "<p>copied");
    assert_eq!(folder.get("baz.test", "/").body, b"<p>copied");
}

#[test]
fn what_somebody_put_or_opened_below_the_root_is_found_and_made_again() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let folder = Folder::new("below", "apache");
    let root = folder.path.join("root");
    folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
    folder.done(&["assert", "host", "bare.test"]);
    folder.done(&["commit"]);
    folder.done(&["start"]);
    let tree = fs::read_dir(root.join("tree")).unwrap().next().unwrap();
    let tree = tree.unwrap().path();
    let file = fs::read_dir(root.join("file")).unwrap().next().unwrap();
    let file = file.unwrap().path();
    mode(&root, 0o777);
    mode(&root.join("object"), 0o755);
    mode(&tree.join("images"), 0o777);
    fs::create_dir(tree.join("planted")).unwrap();
    fs::create_dir(root.join("none/none")).unwrap();
    fs::write(root.join("none/none/planted.html"), "<p>whose?").unwrap();
    assert_eq!(folder.status("bare.test", "/planted.html"), 200);
    let mut expected = vec![
        "root has the mode 777, and not 750",
        "object has the mode 755, and not 700",
        "images has the mode 777, and not 755",
        "planted is not asserted",
        "none/none is not asserted",
    ];
    // Only root can give something away.
    if chown(&file, Some(33), None).is_ok() {
        expected.push("belongs to user 33, and not to 0");
    }
    let said = folder.refused(&["validate"], 1);
    for expected in expected {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    folder.done(&["repair"]);
    folder.done(&["validate"]);
    assert_eq!(folder.status("bare.test", "/planted.html"), 404);
    assert_eq!(folder.status("foo.test", "/planted/"), 404);
    // What is current can be lost, too.
    for current in ["gone", "no link"] {
        fs::remove_file(root.join("current")).unwrap();
        if current == "no link" {
            fs::create_dir(root.join("current")).unwrap();
            fs::write(root.join("current/httpd.conf"), "").unwrap();
        }
        folder.refused(&["validate"], 1);
        folder.done(&["recover"]);
        folder.done(&["validate"]);
        assert_eq!(folder.status("foo.test", "/"), 200, "{current}");
    }
}

/// All that is below a directory, what is inside something before it.
fn everything(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(everything(&path));
        }
        all.push(path);
    }
    all
}

#[test]
fn what_was_closed_is_told_and_opened_again() {
    use std::os::unix::fs::PermissionsExt;
    for server in ["apache", "nginx"] {
        let folder = Folder::new(&format!("closed-{server}"), server);
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&[
            "post",
            "www/index.html",
            "http://foo.test/top/",
            "--as-index",
        ]);
        folder.done(&["commit"]);
        folder.done(&["start"]);
        let root = folder.path.join("root");
        let close = |paths: &[PathBuf]| {
            for path in paths {
                fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
            }
            let said = folder.refused(&["validate"], 1);
            let first = paths.last().unwrap().display().to_string();
            assert!(
                said.contains(&format!("{first} has the mode 0, and ")),
                "{said}"
            );
            folder.done(&["repair"]);
            folder.done(&["validate"]);
            assert_eq!(folder.status("foo.test", "/"), 200, "{server}");
        };
        let theirs = ["ledger", "run", "log"].map(|name| root.join(name));
        let mut ours = everything(&root);
        ours.retain(|path| !path.is_symlink() && !theirs.iter().any(|one| path.starts_with(one)));
        // What it is all for must be known: from what is said, or from what was made.
        ours.retain(|path| *path != root.join("server"));
        close(&ours);
        for name in ["server", "object", "tree", "file", "part", "generation"] {
            close(&[root.join(name)]);
        }
    }
}

#[test]
fn a_key_that_the_server_cannot_read_any_more_is_given_to_it_again() {
    use std::os::unix::fs::PermissionsExt;
    for server in ["apache", "nginx"] {
        let folder = Folder::new(&format!("keys-{server}"), server);
        let endpoint = reserve().unwrap();
        let at = endpoint.to_string();
        let made = rcgen::generate_simple_self_signed(vec!["foo.test".to_owned()]).unwrap();
        fs::write(folder.path.join("chain.pem"), made.cert.pem()).unwrap();
        let key = made.signing_key.serialize_pem();
        fs::write(folder.path.join("key.pem"), &key).unwrap();
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&["assert", "listen", &at, "tls"]);
        folder.done(&["post", "cert", "chain.pem", "key.pem", "foo.test", &at]);
        folder.done(&["commit"]);
        folder.done(&["start"]);
        let close = || {
            for key in fs::read_dir(folder.path.join("root/key")).unwrap() {
                let none = fs::Permissions::from_mode(0o000);
                fs::set_permissions(key.unwrap().path(), none).unwrap();
            }
        };
        let status = || {
            let asked = probe::ask_secured(
                &Machine,
                endpoint,
                Some("foo.test"),
                "foo.test",
                "/",
                Wanted::Whole,
            );
            asked.unwrap().1.status
        };
        close();
        let said = folder.refused(&["validate"], 1);
        assert!(said.contains("unknown has the mode 0, and "), "{said}");
        folder.done(&["repair"]);
        folder.done(&["validate"]);
        assert_eq!(status(), 200, "{server}");
        folder.done(&["stop"]);
        close();
        folder.done(&["start"]);
        assert_eq!(status(), 200, "{server}");
    }
}

#[test]
fn what_became_of_a_change_is_told_to_programs() {
    let folder = Folder::new("programs", "nginx");
    let told = |words: &[&str]| {
        let mut words = words.to_vec();
        words.extend(["--format", "json"]);
        let output = folder.run(&words);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    folder.done(&["assert", "host", "foo.test"]);
    let ready = told(&["commit"]);
    assert_eq!(ready["outcome"], "ready");
    assert_eq!(ready["changes"][0]["after"], "host foo.test");
    folder.done(&["start"]);
    let undone = told(&["undo"]);
    assert_eq!(
        (&undone["outcome"], &undone["generation"]),
        (&"served".into(), &3.into())
    );
    assert_eq!(told(&["rollback", "1"])["outcome"], "nothing");
    let file = folder.path.join("root/current/identity");
    assert_eq!(told(&["repair"])["repaired"], serde_json::json!([]));
    fs::remove_file(file).unwrap();
    assert_eq!(told(&["repair"])["generation"], 4);
    let nobody = reserve().unwrap();
    folder.done(&["assert", "host", "foo.test"]);
    folder.done(&[
        "assert",
        "proxy",
        "foo.test",
        "/",
        &format!("http://{nobody}/"),
    ]);
    let back = told(&["commit"]);
    assert_eq!(back["outcome"], "rolled-back");
    assert_eq!(back["diagnostics"][0]["code"], "http.broken-promise");
}

#[test]
fn what_waits_to_be_confirmed_goes_before_what_is_below_it() {
    let folder = Folder::new("waits", "nginx");
    folder.done(&["assert", "host", "foo.test"]);
    folder.done(&["commit"]);
    folder.done(&["assert", "host", "bar.test"]);
    folder.done(&["commit", "--confirm-within", "1h"]);
    let said = folder.refused(&["undo", "2"], 1);
    assert!(said.contains("[http.unconfirmed]"), "{said}");
    folder.done(&["undo"]);
    folder.refused(&["confirm"], 1);
    assert!(!folder.done(&["show"]).contains("bar.test"));
}

#[test]
fn a_server_that_listens_nowhere_ends_and_comes_back_with_an_endpoint() {
    for server in ["apache", "nginx"] {
        let folder = Folder::new(&format!("silent-{server}"), server);
        folder.done(&["start"]);
        folder.done(&["become", "web-server", "foo.test", "--from", "www"]);
        folder.done(&["commit"]);
        let listen = folder.endpoint.to_string();
        folder.done(&["retract", "listen", &listen]);
        let output = folder.run(&["commit"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("generation 3 listens nowhere"), "{said}");
        assert!(said.contains("`hence http undo 3`"), "{said}");
        let status = folder.run(&["status"]);
        assert_eq!(status.status.code(), Some(1), "{server} does not run");
        let refused = folder.refused(&["start"], 1);
        assert!(refused.contains("listen nowhere"), "{refused}");
        folder.done(&["undo", "3"]);
        assert_eq!(folder.status("foo.test", "/"), 200, "{server}");
        folder.done(&["undo", "4"]);
        folder.done(&["stop"]);
        folder.done(&["assert", "listen", &listen]);
        folder.done(&["commit"]);
        let status = folder.run(&["status"]);
        assert_eq!(status.status.code(), Some(1), "{server} was stopped");
    }
}
