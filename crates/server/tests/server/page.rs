//! The page of the service, as any browser asks for it.

use hence_api::words::{Grant, MadeToken, NewToken, Report};
use hence_server::Limits;

use crate::{POOL, Server, activate, commit, grant, sealed};

/// What a browser got.
struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// What a hidden field of the first form with it holds.
    fn field(&self, name: &str) -> &str {
        let before = format!("name=\"{name}\" value=\"");
        let (_, after) = self.body.split_once(&before).expect(name);
        after.split('"').next().unwrap()
    }

    fn has(&self, words: &str) -> bool {
        self.body.contains(words)
    }
}

/// A browser that is signed in, or not.
struct Browser<'s> {
    server: &'s Server,
    cookie: String,
}

impl<'s> Browser<'s> {
    fn new(server: &'s Server, token: &str) -> Self {
        let cookie = format!("hence={token}");
        Self { server, cookie }
    }

    fn admin(server: &'s Server) -> Self {
        Self::new(server, &server.admin)
    }

    fn send(&self, request: &str, more: &str, body: &str) -> Got {
        let cookie = match self.cookie.is_empty() {
            true => String::new(),
            false => format!("cookie: a=b; {}\r\n", self.cookie),
        };
        let answer = self.server.raw(
            format!(
                "{request} HTTP/1.1\r\nhost: x\r\naccept: text/html\r\n{cookie}{more}content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
        let (head, body) = answer.split_once("\r\n\r\n").expect(&answer);
        Got {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn get(&self, path: &str) -> Got {
        self.send(&format!("GET {path}"), "", "")
    }

    fn post(&self, path: &str, body: &str) -> Got {
        let form = "content-type: application/x-www-form-urlencoded\r\n";
        self.send(&format!("POST {path}"), form, body)
    }
}

/// A token as it is told once.
fn token(server: &Server, new: NewToken) -> String {
    let made: MadeToken = server.admin().post("tokens", &new).unwrap();
    made.token
}

fn bearer(server: &Server, name: &str, may: &[Grant]) -> String {
    let new = NewToken {
        name: name.to_owned(),
        may: may.to_vec(),
        ..NewToken::default()
    };
    token(server, new)
}

fn served() -> Server {
    let server = Server::start(Limits::default());
    commit(&server.admin(), POOL).unwrap();
    commit(
        &server.admin(),
        "assert feature/Web ; assert feature/Web/param/PORT 8000
         assert group/web/feature/Web 10",
    )
    .unwrap();
    server
}

#[test]
fn every_page_is_there_and_lets_nothing_in() {
    let server = served();
    activate(&server.admin());
    let browser = Browser::admin(&server);
    let pages = [
        ("/", 200, ">n2</a>"),
        ("/nodes/n1", 200, "8080"),
        ("/nodes/N1?of=asserted", 200, "8080"),
        ("/nodes/n1/why/port", 200, "Who had a say"),
        ("/nodes/n1/why/nothing", 404, "is not in the configuration"),
        ("/nodes/n9", 404, "there is no node"),
        ("/fleet", 200, ">Web</a>"),
        ("/groups/web", 200, "8080"),
        ("/groups/+++DEFAULT", 200, "all nodes"),
        ("/features/Web", 200, "Installed by"),
        ("/features/none", 404, "there is no feature"),
        ("/plan", 200, "Nothing is pending"),
        ("/history", 200, "activated"),
        ("/history/2", 200, "Undo version 2"),
        ("/history/99", 404, "there is no version 99"),
        ("/history/word", 400, "such as a word for a number"),
        ("/history/word", 400, "All nodes"),
        ("/history/1", 200, "hence token revoke"),
        ("/search?q=po", 200, "<code>PORT</code>"),
        ("/search?q=po", 200, "<a href=\"/features/Web\">Web</a>"),
        ("/search?q=nowhere", 200, "Nothing has"),
        ("/search", 200, "Part of a name"),
        ("/sign-in", 200, "name=\"token\""),
        ("/nowhere", 404, "There is no such page"),
    ];
    for (path, status, words) in pages {
        let got = browser.get(path);
        assert_eq!(got.status, status, "{path}: {}", got.body);
        assert!(got.has(words), "{path}: {}", got.body);
        assert!(got.body.starts_with("<!doctype html>"), "{path}");
        assert!(got.body.ends_with("</html>\n"), "{path}");
        let policy = got.header("content-security-policy").unwrap();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(got.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(got.header("cache-control"), Some("no-store"));
        assert_eq!(got.header("content-type"), Some("text/html; charset=utf-8"));
        for inline in ["<style", "style=", "onclick", "<script>"] {
            assert!(!got.has(inline), "{path}: {inline}");
        }
    }
}

#[test]
fn what_pages_need_is_kept_under_names_that_change_with_it() {
    let server = served();
    let browser = Browser::new(&server, "");
    let page = browser.get("/sign-in");
    let assets: Vec<&str> = page
        .body
        .split('"')
        .filter(|word| word.starts_with("/assets/"))
        .collect();
    assert_eq!(assets.len(), 2);
    for (asset, kind) in assets.into_iter().zip(["text/css", "text/javascript"]) {
        let got = browser.get(asset);
        assert_eq!(got.status, 200);
        assert!(got.header("content-type").unwrap().starts_with(kind));
        assert!(got.header("cache-control").unwrap().contains("immutable"));
    }
    assert_eq!(browser.get("/assets/other.css").status, 404);
}

#[test]
fn programs_are_told_in_their_own_words() {
    let server = served();
    let (status, answer) = server.status("GET", "/nowhere", &server.admin, "");
    assert_eq!(status, 404);
    assert!(answer.contains("server.not-found"), "{answer}");
    let got = Browser::admin(&server).get("/api/v1/nowhere");
    assert_eq!(got.header("content-type"), Some("application/json"));
}

#[test]
fn who_is_not_signed_in_is_led_there_and_back() {
    let server = served();
    let nobody = Browser {
        server: &server,
        cookie: String::new(),
    };
    let got = nobody.get("/history/2?done=undone");
    assert_eq!(got.status, 303);
    assert_eq!(
        got.header("location"),
        Some("/sign-in?next=%2Fhistory%2F2%3Fdone%3Dundone")
    );
    let form = nobody.get("/sign-in?next=%2Fhistory%2F2%3Fdone%3Dundone");
    assert_eq!(form.field("next"), "/history/2?done=undone");
    let filled = format!("token={}&next=%2Fhistory%2F2", server.admin);
    let got = nobody.post("/sign-in", &filled);
    assert_eq!(got.status, 303);
    assert_eq!(got.header("location"), Some("/history/2"));
    let cookie = got.header("set-cookie").unwrap();
    assert_eq!(
        cookie,
        format!(
            "hence={}; Path=/; Max-Age=86400; HttpOnly; SameSite=Strict",
            server.admin
        )
    );
    for elsewhere in ["//evil.example", "https://evil.example", "/%5Cevil.example"] {
        let got = nobody.post(
            "/sign-in",
            &format!("token={}&next={elsewhere}", server.admin),
        );
        assert_eq!(got.header("location"), Some("/"), "{elsewhere}");
    }
    let got = nobody.post("/sign-in", "token=hence_wrong&next=%2Fplan");
    assert_eq!(got.status, 401);
    assert!(got.has("is not known") && got.header("set-cookie").is_none());
    assert_eq!(got.field("next"), "/plan");
    assert_eq!(nobody.post("/plan", "plan=1/0").status, 401);
}

#[test]
fn another_site_signs_nobody_in() {
    let server = served();
    let nobody = Browser {
        server: &server,
        cookie: String::new(),
    };
    let filled = format!("token={}", server.admin);
    for (site, status) in [
        ("sec-fetch-site: cross-site", 403),
        ("sec-fetch-site: same-site", 403),
        ("sec-fetch-site: same-origin", 303),
        // Some browsers do not say this, but whose page the form is on.
        ("origin: https://evil.example", 403),
        ("origin: http://x:81", 403),
        ("origin: word", 403),
        ("origin: http://x", 303),
        // So they say it of pages that let nobody know.
        ("origin: null", 303),
        ("sec-fetch-site: same-origin\r\norigin: null", 303),
    ] {
        let more = format!("content-type: application/x-www-form-urlencoded\r\n{site}\r\n");
        let got = nobody.send("POST /sign-in", &more, &filled);
        assert_eq!(got.status, status, "{site}");
        assert_eq!(got.header("set-cookie").is_some(), status == 303);
    }
}

#[test]
fn the_cookie_opens_pages_only_and_as_long_as_the_token_lives() {
    let server = served();
    let told = bearer(&server, "ann", &[grant("read", &[])]);
    let ann = Browser::new(&server, &told);
    assert_eq!(ann.get("/plan").status, 200);
    assert_eq!(ann.get("/api/v1/plan").status, 401);
    assert_eq!(ann.get("/config/n1").status, 401);
    server
        .admin()
        .delete::<hence_api::words::Done>("tokens/ann")
        .unwrap();
    let got = ann.get("/plan");
    assert_eq!(got.status, 303);
    let location = got.header("location").unwrap();
    assert_eq!(location, "/sign-in?ended=1&next=%2Fplan");
    assert!(ann.get(location).has("your token was revoked"));
    assert!(
        got.header("set-cookie")
            .unwrap()
            .starts_with("hence=; Path=/; Max-Age=0")
    );
}

#[test]
fn servers_on_one_host_do_not_sign_each_other_out() {
    let server = served();
    let send = |host: &str, cookie: &str| {
        let admin = &server.admin;
        let request = format!(
            "GET /plan HTTP/1.1\r\nhost: {host}\r\naccept: text/html\r\ncookie: {cookie}={admin}\r\nconnection: close\r\n\r\n"
        );
        let answer = server.raw(request.as_bytes());
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(send("localhost:8080", "hence-8080"), "200");
    assert_eq!(send("localhost:8080", "hence-8081"), "303");
    assert_eq!(send("localhost:8080", "hence"), "303");
    assert_eq!(send("localhost", "hence"), "200");
}

#[test]
fn wrong_cookies_are_guesses() {
    let server = Server::start(Limits {
        guesses: 3,
        ..Limits::default()
    });
    let guess = Browser::new(&server, "hence_wrong");
    let statuses: Vec<u16> = (0..6).map(|_| guess.get("/").status).collect();
    assert_eq!(statuses, [303, 303, 303, 303, 429, 429]);
}

#[test]
fn who_signs_out_is_out() {
    let server = served();
    let browser = Browser::admin(&server);
    let form = browser.get("/fleet");
    assert_eq!(browser.post("/sign-out", "form=").status, 403);
    let got = browser.post("/sign-out", &format!("form={}", form.field("form")));
    assert_eq!(got.header("location"), Some("/sign-in"));
    assert!(got.header("set-cookie").unwrap().contains("Max-Age=0"));
}

#[test]
fn a_change_is_seen_activated_reported_and_taken_back() {
    let server = served();
    let browser = Browser::admin(&server);
    let plan = browser.get("/plan");
    assert!(
        plan.has("<ins>8080</ins>") && plan.has("restarts httpd"),
        "{}",
        plan.body
    );
    let (form, pair) = (plan.field("form"), plan.field("plan"));
    let filled = format!("form={form}&plan={pair}&message=the+first+%3Cb%3E");
    let got = browser.post("/plan", &filled);
    assert_eq!(got.status, 303, "{}", got.body);
    assert_eq!(got.header("location"), Some("/history/4?done=activated"));
    let done = browser.get("/history/4?done=activated");
    assert!(done.has("role=\"status\">Activated.") && done.has("the first &lt;b&gt;"));
    assert!(browser.get("/").has("never heard"));
    let report = Report {
        applied: Some(4),
        outcome: Some(hence_api::words::Outcome::Applied),
        ..Report::default()
    };
    let _: hence_api::words::CheckedIn = server.admin().post("nodes/n1/check-in", &report).unwrap();
    assert!(browser.get("/nodes/n1").has("runs it"));

    // What was seen is no longer what would happen.
    commit(&server.admin(), "assert group/web/param/PORT 9090").unwrap();
    let stale = browser.post("/plan", &filled);
    assert_eq!(stale.status, 412);
    assert!(stale.has("is stale") && stale.has("<del>8080</del>") && stale.has("<ins>9090</ins>"));
    assert!(
        stale.has("value=\"the first &lt;b&gt;\""),
        "the reason stays"
    );
    assert!(!stale.has("hence plan"), "they look at it");
    assert_ne!(stale.field("plan"), pair);

    let undo = format!("form={form}");
    let got = browser.post("/history/5/undo", &undo);
    assert_eq!(
        got.header("location"),
        Some("/history/6?done=undone"),
        "{}",
        got.body
    );
    assert!(browser.get("/history/6?done=undone").has("Taken back"));
    assert!(browser.get("/plan").has("Nothing is pending"));
    let undone = browser.get("/history/5");
    assert!(undone.has("It was undone by version") && !undone.has("Undo version"));
    assert!(browser.get("/history").has("undone</span> by"));
    assert!(browser.get("/history/6").has("Undo version 6"));
    let again = browser.post("/history/5/undo", &undo);
    assert_eq!(again.status, 409);
    assert!(again.has("ledger.undone"), "{}", again.body);
    assert_eq!(browser.post("/history/4/undo", &undo).status, 422);
}

#[test]
fn a_form_that_is_not_ours_does_nothing() {
    let server = served();
    let browser = Browser::admin(&server);
    let other = bearer(&server, "ann", &[grant("administer", &[])]);
    let pair = browser.get("/plan").field("plan").to_owned();
    let theirs = Browser::new(&server, &other)
        .get("/plan")
        .field("form")
        .to_owned();
    for form in ["", "form=&", "form=0&", &format!("form={theirs}&")] {
        let got = browser.post("/plan", &format!("{form}plan={pair}"));
        assert_eq!(got.status, 403, "{form}");
        assert!(got.has("out of date") && !got.has("does not allow"));
        assert_eq!(browser.post("/history/2/undo", form).status, 403);
    }
    let large = format!("form={}", "x".repeat(100_000));
    assert_eq!(browser.post("/plan", &large).status, 413);
    let about: hence_api::words::About = server.admin().get("").unwrap();
    // Only the token came.
    assert_eq!(about.version, 4);
}

#[test]
fn what_a_token_may_not_is_not_offered_and_refused() {
    let server = served();
    let reader = bearer(&server, "reader", &[grant("read", &[])]);
    let reader = Browser::new(&server, &reader);
    let plan = reader.get("/plan");
    assert!(plan.has("may not activate") && !plan.has("Activate on"));
    assert!(!reader.get("/history/2").has("Undo version"));
    let form = plan.field("form");
    let got = reader.post("/plan", &format!("form={form}&plan=3/0"));
    assert_eq!(got.status, 403);
    assert!(got.has("may not activate everything"), "{}", got.body);
    assert_eq!(
        reader
            .post("/history/2/undo", &format!("form={form}"))
            .status,
        403
    );

    let some = bearer(&server, "some", &[grant("read", &["node/n1"])]);
    let some = Browser::new(&server, &some);
    let list = some.get("/");
    assert!(
        list.has(">n1</a>") && !list.has(">n2</a>") && !list.has("/plan"),
        "{}",
        list.body
    );
    activate(&server.admin());
    for path in ["/", "/nodes/n1"] {
        let got = some.get(path);
        for forbidden in [
            "/fleet",
            "/plan",
            "/history",
            "/search",
            "/why/",
            "/groups",
            "/features",
        ] {
            assert!(!got.has(forbidden), "{path}: {forbidden}");
        }
    }
    assert_eq!(some.get("/nodes/n1").status, 200);
    for path in [
        "/nodes/n2",
        "/nodes/n1/why/PORT",
        "/fleet",
        "/plan",
        "/history",
        "/search?q=n",
    ] {
        assert_eq!(some.get(path).status, 403, "{path}");
    }
}

#[test]
fn a_node_sees_itself_and_no_secret_is_shown() {
    let server = served();
    let secret = sealed("hunter2");
    let words = format!("assert param/KEY ; assert group/web/param/KEY {secret}");
    commit(&server.admin(), &words).unwrap();
    activate(&server.admin());
    let own = token(
        &server,
        NewToken {
            name: "node-n1".to_owned(),
            node: Some("n1".to_owned()),
            ..NewToken::default()
        },
    );
    let node = Browser::new(&server, &own);
    assert_eq!(node.get("/").header("location"), Some("/nodes/n1"));
    let admin = Browser::admin(&server);
    for (browser, path) in [
        (&node, "/nodes/n1"),
        (&admin, "/nodes/n1"),
        (&admin, "/nodes/n1/why/KEY"),
        (&admin, "/groups/web"),
        (&admin, "/history/4"),
    ] {
        let got = browser.get(path);
        assert_eq!(got.status, 200, "{path}");
        assert!(
            got.has("sealed(") && !got.has("hunter2"),
            "{path}: {}",
            got.body
        );
        let content = secret.rsplit(' ').next().unwrap().trim_end_matches(')');
        assert!(!got.has(content), "{path}: not what is sealed, either");
    }
    assert_eq!(node.get("/nodes/n2").status, 403);
    assert!(!admin.get("/search?q=hunter").has("hunter2"));
}

#[test]
fn what_people_write_stays_text() {
    let server = served();
    let hostile = "</code><script>x()</script><img src=x onerror=\\\"x()\\\">'\u{202e}{}";
    let words = format!(
        "assert param/EVIL ; assert group/web/param/EVIL \"{hostile}\"
         assert feature/Web/annotation \"{hostile}\"",
    );
    commit(&server.admin(), &words).unwrap();
    let name = "n%3Cscript%3Ex%28%29%3C%27%22";
    let named = format!("assert node/{name} ; assert node/{name}/group/web 10");
    commit(&server.admin(), &named).unwrap();
    activate(&server.admin());
    let report = Report {
        error: Some(hostile.to_owned()),
        drift: Some(hostile.to_owned()),
        ..Report::default()
    };
    let _: hence_api::words::CheckedIn = server.admin().post("nodes/n1/check-in", &report).unwrap();
    let browser = Browser::admin(&server);
    let node = format!("/nodes/{name}");
    for path in [
        "/",
        "/nodes/n1",
        "/nodes/n1/why/EVIL",
        &node,
        &format!("{node}/why/EVIL"),
        "/groups/web",
        "/features/Web",
        "/history/4",
        "/history/5",
        "/history/6",
        "/search?q=%3Cscript",
        "/search?q=%22%3E%3Cscript%3Ex()",
        "/nodes/%3Cscript%3Ex()",
        "/%3Cscript%3Ex()",
        "/sign-in?next=/%22%3E%3Cscript%3Ex()",
    ] {
        let got = browser.get(path);
        assert!(
            got.status == 200 || got.status == 404,
            "{path}: {}",
            got.status
        );
        for raw in ["<script>x", "<img", "\u{202e}", "</code><script"] {
            assert!(!got.has(raw), "{path} has {raw}: {}", got.body);
        }
    }
    assert!(browser.get("/nodes/n1/why/EVIL").has("&lt;script&gt;x()"));
    assert!(browser.get("/nodes/n1").has("⟨U+202E⟩{}"));
}

#[test]
fn content_is_read_and_hashes_are_not() {
    let server = served();
    let text = "We are open from nine to five";
    let hash = hence_ledger::Hash::of(text.as_bytes()).to_string();
    let long = hence_ledger::Hash::of(&[0; 300]).to_string();
    let object = |content: &[u8]| hence_api::words::Object {
        hash: hence_ledger::Hash::of(content),
        content: content.to_vec(),
    };
    let commit = hence_api::words::Commit {
        commands: hence_api::words::Commands::Text(format!(
            "assert param/HOURS ; assert feature/Web/param/HOURS \"blob:{hash}\"
             assert param/BYTES ; assert feature/Web/param/BYTES \"blob:{long}\"
             assert node/n1/annotation \"beside the <door>\""
        )),
        objects: vec![object(text.as_bytes()), object(&[0; 300])],
        ..hence_api::words::Commit::default()
    };
    let _: hence_api::words::Done = server.admin().post("commits", &commit).unwrap();
    let browser = Browser::admin(&server);
    let plan = browser.get("/plan");
    assert!(plan.has("We are open from nine to five"), "{}", plan.body);
    activate(&server.admin());
    for path in [
        "/nodes/n1",
        "/nodes/n1/why/HOURS",
        "/features/Web",
        "/search?q=open+from",
    ] {
        assert!(
            browser.get(path).has("We are open from nine to five"),
            "{path}"
        );
    }
    let node = browser.get("/nodes/n1");
    assert!(
        node.has(&format!("title=\"blob:{long}\">blob:{}…<", &long[..8])),
        "{}",
        node.body
    );
    assert!(node.has("beside the &lt;door&gt;"));
    // A subsystem has parameters, but sets none.
    assert!(!browser.get("/search?q=port").has("/features/httpd"));
    let found = browser.get(&format!("/search?q={}", &hash[..6]));
    assert!(found.has("hours</a>"), "{}", found.body);
    assert!(
        browser
            .get(&format!("/search?q={}", &hash[..2]))
            .has("Nothing has")
    );
}

#[test]
fn who_needs_somebody_comes_first() {
    let server = served();
    commit(&server.admin(), "assert node/n2/group/web 10").unwrap();
    activate(&server.admin());
    assert!(Browser::admin(&server).get("/history").has("on all nodes<"));
    let heard = |node: &str, outcome| {
        let report = Report {
            applied: Some(5),
            outcome: Some(outcome),
            ..Report::default()
        };
        let path = format!("nodes/{node}/check-in");
        let _: hence_api::words::CheckedIn = server.admin().post(&path, &report).unwrap();
    };
    heard("n1", hence_api::words::Outcome::Applied);
    heard("n2", hence_api::words::Outcome::Failed);
    let browser = Browser::admin(&server);
    let list = browser.get("/").body;
    assert!(list.find(">n2</a>") < list.find(">n1</a>"), "{list}");
    assert!(
        list.contains(">failed</span> 1</a></li>") && list.contains(">runs it</span> 1</a></li>"),
        "{list}"
    );
    server
        .clock
        .fetch_add(2 * 60 * 60 * 1000, std::sync::atomic::Ordering::Relaxed);
    assert!(browser.get("/nodes/n1").has("not heard lately"));
    assert!(browser.get("/nodes/n2").has(">failed<"));
}

#[test]
fn nodes_are_chosen_by_how_they_stand_and_by_their_group() {
    let server = served();
    let client = server.admin();
    commit(&client, "assert node/n-3 ; assert node/n-3/group/web 10").unwrap();
    activate(&client);
    // It says what went wrong, and not what came of it.
    let report = Report {
        refused: Some(5),
        error: Some("\nno room on <disk>\nand so on".to_owned()),
        facts: [("memory".to_owned(), "8 <GB>".to_owned())].into(),
        ..Report::default()
    };
    let _: hence_api::words::CheckedIn = client.post("nodes/n1/check-in", &report).unwrap();
    let browser = Browser::admin(&server);
    let all = browser.get("/");
    assert!(all.has("<a href=\"/\" aria-current=\"page\">all 3</a>"));
    assert!(all.has("<a href=\"/?state=failed\"><span class=\"state bad\">failed</span> 1</a>"));
    assert!(
        all.has(">no room on &lt;disk&gt;</span>") && !all.has("and so on"),
        "{}",
        all.body
    );
    assert!(all.has("<a href=\"/groups/web\">web</a>"));
    assert!(
        all.has("<span class=\"whole\">n-3</span>"),
        "it stays whole"
    );
    let failed = browser.get("/?state=failed");
    assert!(failed.has(">n1</a>") && !failed.has(">n2</a>"));
    assert!(failed.has("<a href=\"/?state=failed\" aria-current=\"page\">"));
    assert!(failed.has("<a href=\"/\">all 3</a>"), "there is a way back");
    let none = browser.get("/?state=drifted");
    assert!(none.has("None of these") && none.has("drifted</span> 0</a>"));
    assert_eq!(browser.get("/?state=nowhere").status, 400);
    let group = browser.get("/?group=WEB&state=never-heard");
    assert!(group.has("n-3</span></a>") && !group.has(">n1</a>") && !group.has(">n2</a>"));
    assert!(
        group.has("<a href=\"/?group=web\">all 2</a>"),
        "{}",
        group.body
    );
    assert!(browser.get("/?group=none").has("There is no such group"));
    let page = browser.get("/groups/web");
    assert!(
        page.has("<a href=\"/?group=web&amp;state=failed\">"),
        "{}",
        page.body
    );
    assert!(page.has(">failed</span>") && page.has(">n1</a>") && !page.has(">n2</a>"));
    let node = browser.get("/nodes/n1");
    assert!(
        node.has("<dt>memory</dt><dd>8 &lt;GB&gt;</dd>"),
        "{}",
        node.body
    );
}

/// How many of something are on each page, from one to the next.
fn page_by_page(browser: &Browser<'_>, first: &str, what: &str) -> Vec<usize> {
    let mut path = first.to_owned();
    let mut seen = Vec::new();
    while !path.is_empty() && seen.len() < 9 {
        let got = browser.get(&path);
        assert_eq!(got.status, 200, "{path}");
        seen.push(got.body.matches(what).count());
        let next = got.body.split_once("rel=\"next\" href=\"");
        let next = next.map(|(_, after)| after.split('"').next().unwrap());
        path = next.unwrap_or_default().replace("&amp;", "&");
    }
    seen
}

#[test]
fn what_is_found_and_what_changed_comes_page_by_page() {
    let server = served();
    let keys: String = (0..620)
        .map(|one| format!("assert param/Q{one:03} ; assert group/web/param/Q{one:03} mark{one}\n"))
        .collect();
    commit(&server.admin(), &keys).unwrap();
    let nodes: String = (0..130)
        .map(|one| format!("assert node/q{one:03}\n"))
        .collect();
    commit(&server.admin(), &nodes).unwrap();
    let browser = Browser::admin(&server);
    let found = browser.get("/search?q=q");
    assert!(
        found.has("<a href=\"/search?q=q&amp;of=nodes&amp;from=50\">80 more nodes</a>"),
        "{}",
        found.body
    );
    assert!(found.has("570 more parameters</a>"));
    assert_eq!(
        page_by_page(&browser, "/search?q=q&of=nodes", "<li><a href=\"/nodes/q"),
        [50, 50, 30]
    );
    assert_eq!(
        page_by_page(&browser, "/search?q=mark&of=values&from=500", "<li><code>"),
        [50, 50, 20]
    );
    let last = browser.get("/search?q=q&of=nodes&from=100");
    assert!(last.has("From the beginning") && last.has("All that was found"));
    assert!(!last.has("Parameters"));
    assert_eq!(
        page_by_page(&browser, "/history/4", "<tr><th scope=\"row\"><code>"),
        [500, 500, 240]
    );
    assert_eq!(
        page_by_page(&browser, "/groups/web", "<td data-of=\"Owner\">"),
        [300, 300, 21]
    );
    // Nobody is where nothing is.
    let far = browser.get("/history/4?from=18446744073709551615");
    assert_eq!(far.status, 200);
}

#[test]
fn history_says_it_in_the_words_of_the_command() {
    let server = served();
    let list = br#"{"entry":"fleet.cf2","sources":[],"ways":{},"steps":[]}"#;
    let hash = hence_ledger::Hash::of(list);
    let pushed = hence_api::words::Commit {
        commands: hence_api::words::Commands::Text(
            "assert group/web/param/PORT 8081 ; assert node/n4 ; assert node/n5".to_owned(),
        ),
        doing: hence_api::words::Doing {
            origin: Some(hence_ledger::entry::Origin::Sources(hash)),
            ..hence_api::words::Doing::default()
        },
        objects: vec![hence_api::words::Object {
            hash,
            content: list.to_vec(),
        }],
        ..hence_api::words::Commit::default()
    };
    let _: hence_api::words::Done = server.admin().post("commits", &pushed).unwrap();
    let browser = Browser::admin(&server);
    let form = browser.get("/history/4");
    assert!(
        form.has(">2 asserted, 1 changed</span></dd>"),
        "{}",
        form.body
    );
    browser.post("/history/4/undo", &format!("form={}", form.field("form")));
    let list = browser.get("/history");
    assert!(
        list.has("<code>push fleet.cf2</code> by owner operator <span class=\"calm\">2 asserted, 1 changed</span>"),
        "{}",
        list.body
    );
    assert!(list.has(
        "<code>undo <a href=\"/history/4\">4</a></code> <span class=\"calm\">1 changed, 2 retracted</span>"
    ));
    assert!(list.has("<code>assert feature/web"), "{}", list.body);
}

#[test]
fn a_large_fleet_comes_page_by_page() {
    let server = Server::start(Limits::default());
    let nodes: String = (0..450)
        .map(|node| format!("assert node/n{node:03}\n"))
        .collect();
    commit(&server.admin(), &nodes).unwrap();
    let browser = Browser::admin(&server);
    let mut path = "/".to_owned();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let got = browser.get(&path);
        assert!(got.has("450 nodes"));
        assert_eq!(got.has("From the beginning"), path != "/", "{path}");
        seen.push(got.body.matches("<tr><th scope=\"row\">").count());
        let next = got.body.split_once("rel=\"next\" href=\"");
        path = match next {
            Some((_, after)) => after.split('"').next().unwrap().to_owned(),
            None => String::new(),
        };
    }
    assert_eq!(seen, [200, 200, 50]);
    assert_eq!(path, "");
}

#[test]
fn whoever_watches_hears_that_something_happened() {
    use std::io::{BufRead, BufReader, Write};
    let server = served();
    let nobody = Browser {
        server: &server,
        cookie: String::new(),
    };
    assert_eq!(nobody.get("/events").status, 303);
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    let patience = std::time::Duration::from_secs(60);
    stream.set_read_timeout(Some(patience)).unwrap();
    let admin = &server.admin;
    write!(
        stream,
        "GET /events HTTP/1.1\r\nhost: x\r\ncookie: hence={admin}\r\n\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == ": watching"));
    let report = Report::default();
    let _: hence_api::words::CheckedIn = server.admin().post("nodes/n1/check-in", &report).unwrap();
    assert!(lines.any(|line| line == "event: change"));
    commit(&server.admin(), "assert node/n3").unwrap();
    assert!(lines.any(|line| line == "event: change"));
}
