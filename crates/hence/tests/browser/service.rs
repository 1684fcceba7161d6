//! The page of `hence serve` in a real browser: from signing in, over a value and its source line, to a change that an agent
//! runs, and back. With scripts and without.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::chromium::{Browser, Script, text};

#[test]
fn a_change_goes_through_the_page_to_a_node_and_back() {
    for script in [Script::On, Script::Off] {
        let site = Site::new(match script {
            Script::On => "with",
            Script::Off => "without",
        });
        let mut browser = Browser::start(&site.name);
        // Whoever is not signed in is asked to, and led to where they wanted to go.
        browser.go(&format!("{}/nodes/web1", site.server), script);
        sign_in(&mut browser, &site);
        assert_eq!(heading(&mut browser), "web1");
        follow_a_value_to_its_line(&mut browser);
        site.push("9090");
        activate_what_is_planned(&mut browser, &site, script);
        undo_it(&mut browser, &site, script);
        browser.assert_quiet(&[&site.server, "data:"]);
    }
}

#[test]
fn every_page_can_be_read_by_everybody() {
    let site = Site::new("read");
    site.push("9090");
    let mut browser = Browser::start(&site.name);
    browser.go(&format!("{}/", site.server), Script::On);
    browser.assert_letters_stand_out();
    browser.assert_fits_a_telephone();
    sign_in(&mut browser, &site);
    let pages = [
        "/",
        "/?group=web&state=runs",
        "/nodes/web1",
        "/nodes/web1/why/PORT",
        "/fleet",
        "/groups/web",
        "/features/Web",
        "/plan",
        "/history",
        "/history/2",
        "/search?q=port",
        "/search?q=port&of=values",
        "/nowhere",
    ];
    for page in pages {
        browser.go(&format!("{}{page}", site.server), Script::On);
        browser.assert_letters_stand_out();
        browser.assert_fits_a_telephone();
        names_stay_whole(&mut browser, page);
        it_is_read_aloud(&mut browser, page);
        keys_reach_everything(&mut browser, page);
        // Nobody complains but about the page that is not there.
        if page != "/nowhere" {
            browser.assert_quiet(&[&site.server, "data:"]);
        }
    }
}

#[test]
fn many_are_found_by_state_by_group_and_page_by_page() {
    for script in [Script::On, Script::Off] {
        let site = Site::new(match script {
            Script::On => "many-with",
            Script::Off => "many-without",
        });
        let long = "word ".repeat(80);
        let say = |word: &str| {
            let value = format!("{long}{word} {long}");
            site.run("", &["assert", "group/web/param/LOG", &value]);
        };
        say("before");
        site.done("activate");
        say("after");
        let nodes: String = (0..70)
            .map(|one| format!("assert node/many-{one}\n"))
            .collect();
        site.write("many.hence", &nodes);
        site.done("apply many.hence");
        let mut browser = Browser::start(&site.name);
        browser.go(&format!("{}/", site.server), script);
        sign_in(&mut browser, &site);

        // By its state, and back to all.
        let rows = "document.querySelectorAll('.nodes tbody tr').length";
        assert_eq!(browser.evaluate(rows), 72);
        let chosen = "document.querySelector('.counts [aria-current]').textContent.trim()";
        assert_eq!(browser.evaluate(chosen), "all 72");
        let of_state = |words: &str| {
            format!(
                "[...document.querySelectorAll('.counts a')].find((link) => link.textContent.startsWith('{words}'))"
            )
        };
        press(&mut browser, &of_state("not yet"));
        assert_eq!(browser.evaluate(rows), 1);
        assert_eq!(browser.evaluate(chosen), "not yet 1");
        press(&mut browser, &link("web"));
        assert_eq!(heading(&mut browser), "web");
        assert_eq!(browser.evaluate(rows), 2);
        press(&mut browser, &of_state("never heard"));
        assert_eq!(browser.evaluate(rows), 1);
        let first = browser.evaluate("document.querySelector('.nodes tbody th').textContent");
        assert_eq!(first, "web2");

        // The next page of what is found.
        browser.go(&format!("{}/search?q=many", site.server), script);
        let found = "document.querySelectorAll('.found')[0].children.length";
        assert_eq!(browser.evaluate(found), 50);
        press(&mut browser, &link("20 more nodes"));
        assert_eq!(browser.evaluate(found), 20);
        press(&mut browser, &link("All that was found"));
        assert_eq!(browser.evaluate(found), 50);

        // What differs in a long value is seen without opening it.
        browser.go(&format!("{}/plan", site.server), script);
        let seen = browser.evaluate(
            "[...document.querySelectorAll('.diff del, .diff ins')].filter((mark) => mark.checkVisibility()).map((mark) => mark.textContent)",
        );
        assert_eq!(seen, json!(["before", "after"]));
    }
}

#[test]
fn what_people_write_stays_text() {
    let site = Site::new("hostile");
    let hostile =
        "</code><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>\u{202e}";
    site.run("", &["assert", "group/web/param/LOG", hostile]);
    let name = "node/n%3Cscript%3Ewindow.broken%3D3";
    site.run("", &["assert", name, "--message", hostile]);
    let mut browser = Browser::start(&site.name);
    browser.go(&format!("{}/", site.server), Script::On);
    sign_in(&mut browser, &site);
    for (page, words) in [
        ("/", "n<script>window.broken=3"),
        (
            "/nodes/n%3Cscript%3Ewindow.broken%3D3",
            "n<script>window.broken=3",
        ),
        (
            "/nodes/web1/why/LOG?of=asserted",
            "onerror='window.broken = 2'>⟨U+202E⟩",
        ),
        ("/groups/web", "onerror='window.broken = 2'>⟨U+202E⟩"),
        ("/plan", "onerror='window.broken = 2'>⟨U+202E⟩"),
        ("/history", "onerror='window.broken = 2'>⟨U+202E⟩"),
        ("/search?q=%3Cscript%3E", "n<script>window.broken=3"),
    ] {
        browser.go(&format!("{}{page}", site.server), Script::On);
        let seen = browser.evaluate("document.body.innerText");
        assert!(text(&seen).contains(words), "{page}: {seen}");
        assert_eq!(
            browser.evaluate("window.broken ?? null"),
            Value::Null,
            "{page}"
        );
        browser.assert_quiet(&[&site.server, "data:"]);
    }
}

fn sign_in(browser: &mut Browser, site: &Site) {
    assert_eq!(heading(browser), "Sign in");
    let focused = browser.evaluate("document.activeElement.id");
    assert_eq!(focused, "token", "one can type at once");
    let token = site.read("token");
    browser.call("Input.insertText", json!({ "text": token.trim() }));
    press(browser, "document.querySelector('.door button')");
    let cookie = browser.evaluate("document.cookie");
    assert_eq!(cookie, "", "no script sees the token");
}

fn heading(browser: &mut Browser) -> String {
    let heading = browser.evaluate("document.querySelector('h1').firstChild.textContent.trim()");
    text(&heading).to_owned()
}

/// Clicks on something that leads to another page.
fn press(browser: &mut Browser, element: &str) {
    browser.events.clear();
    browser.click(element);
    browser.wait_until_loaded();
}

/// The link with these words, in the main part of the page.
fn link(words: &str) -> String {
    format!(
        "[...document.querySelectorAll('main a')].find((link) => link.textContent === {})",
        json!(words)
    )
}

fn follow_a_value_to_its_line(browser: &mut Browser) {
    let row = browser.evaluate(
        "[...[...document.querySelectorAll('.config tbody tr')].find((row) => row.cells[0].textContent === 'PORT').cells]
           .map((cell) => cell.textContent.trim())",
    );
    assert_eq!(row[1], "8080");
    assert_eq!(row[2], "Web on web over 1");
    assert!(text(&row[3]).starts_with("site.cf2:1 admin in "), "{row}");
    press(browser, &link("PORT"));
    assert_eq!(heading(browser), "PORT");
    let first = "document.querySelector('.chain > li')";
    let place = browser.evaluate(&format!("{first}.querySelector('.place').textContent"));
    let line = browser.evaluate(&format!("{first}.querySelector('.text').textContent"));
    let commit = browser.evaluate(&format!("{first}.querySelector('.source').textContent"));
    assert_eq!(place, "site.cf2:1:17");
    assert_eq!(line, "private Port => 8080");
    assert!(text(&commit).contains("Ada"), "{commit}");
    let drawn = browser.evaluate(
        "[...document.querySelectorAll('.picture .box:not(.lost) .title')].map((title) => title.textContent)",
    );
    assert_eq!(
        drawn,
        json!(["8080", "web", "Web", "site.cf2:9", "site.cf2:1"])
    );
    let lost = browser.evaluate("document.querySelectorAll('.chain > li.lost').length");
    assert_eq!(lost, 1, "what it beat is told, too");
    press(browser, &link("web1"));
    assert_eq!(heading(browser), "web1");
}

fn activate_what_is_planned(browser: &mut Browser, site: &Site, script: Script) {
    press(browser, "document.querySelector('nav a[href=\"/plan\"]')");
    let change = browser.evaluate("document.querySelector('.change').textContent");
    for words in ["2 nodes", "restarts httpd", "PORT", "8080", "9090"] {
        assert!(text(&change).contains(words), "{words}: {change}");
    }
    if script == Script::On {
        // What somebody is about to press does not change under their finger, but they are told.
        browser.wait_for("'heard' in document.querySelector('main').dataset");
        site.done("snapshot before");
        browser.wait_for("!document.getElementById('told').hidden");
        assert_eq!(
            browser.evaluate("document.querySelector('[name=plan]').value !== ''"),
            true
        );
    }
    browser.click("document.getElementById('message')");
    browser.call("Input.insertText", json!({ "text": "Another port" }));
    press(browser, "document.querySelector('.decision button')");
    let said = browser.evaluate("document.querySelector('[role=status]').textContent");
    assert!(text(&said).starts_with("Activated."), "{said}");
    let why = browser.evaluate("document.querySelector('.facts').textContent");
    assert!(text(&why).contains("Another port"), "{why}");

    // The node has not reported yet; when it does, the page shows it.
    press(browser, &link("See the nodes report"));
    assert_eq!(state(browser), "not yet");
    if script == Script::On {
        browser.wait_for("'heard' in document.querySelector('main').dataset");
        browser.evaluate("document.querySelector('tbody a').focus()");
    }
    site.round();
    if script == Script::Off {
        press(browser, "document.getElementById('reload')");
    }
    browser.wait_for("document.querySelector('tbody tr .state').textContent.trim() === 'runs it'");
    if script == Script::On {
        let focused = browser.evaluate("document.activeElement.textContent");
        assert_eq!(focused, "web1", "what had the focus has it still");
    }
}

/// How the first node of the list stands.
fn state(browser: &mut Browser) -> String {
    let state = browser.evaluate("document.querySelector('tbody tr .state').textContent.trim()");
    text(&state).to_owned()
}

fn undo_it(browser: &mut Browser, site: &Site, script: Script) {
    press(
        browser,
        "document.querySelector('nav a[href=\"/history\"]')",
    );
    // The newest that changed keys.
    let newest = "[...document.querySelectorAll('tbody tr')].find((row) => /port 9090/.test(row.textContent))";
    press(browser, &format!("{newest}.querySelector('a')"));
    press(browser, "document.querySelector('.decision button')");
    let said = browser.evaluate("document.querySelector('[role=status]').textContent");
    assert!(text(&said).starts_with("Taken back."), "{said}");
    press(browser, &link("look at the plan"));
    press(browser, "document.querySelector('.decision button')");
    site.round();
    browser.go(&format!("{}/nodes/web1", site.server), script);
    let row = browser.evaluate(
        "[...document.querySelectorAll('.config tbody tr')].find((row) => row.cells[0].textContent === 'PORT').cells[1].textContent",
    );
    assert_eq!(row, "8080");
    let state = browser.evaluate("document.querySelector('.state').textContent");
    assert_eq!(state, "runs it");
    assert!(site.read("web1/site.conf").contains("PORT = 8080"));
}

/// Short names are not broken where there is little room, and nothing of a table is cut off.
fn names_stay_whole(browser: &mut Browser, page: &str) {
    browser.width(390);
    let broken = browser.evaluate(
        "[...document.querySelectorAll('tbody th a')].filter((link) => link.textContent.length < 12 && link.getClientRects().length > 1)
           .map((link) => link.textContent)",
    );
    let cut = browser.evaluate(
        "[...document.querySelectorAll('.wide')].filter((table) => table.scrollWidth > table.clientWidth).length",
    );
    browser.width(1280);
    assert_eq!(broken, json!([]), "{page}");
    assert_eq!(cut, 0, "{page}: what is cut off");
}

fn it_is_read_aloud(browser: &mut Browser, page: &str) {
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let named = |wanted: &str| {
        let found = nodes
            .iter()
            .filter(|node| node["role"]["value"] == wanted && node["ignored"] == false);
        let name = |node: &Value| node["name"]["value"].as_str().unwrap_or("").to_owned();
        found.map(name).collect::<Vec<String>>()
    };
    for landmark in ["main", "banner", "contentinfo", "search"] {
        assert!(!named(landmark).is_empty(), "{page}: {landmark}");
    }
    assert!(named("navigation").contains(&"Pages".to_owned()), "{page}");
    for role in ["link", "button", "textbox", "searchbox", "table", "heading"] {
        let names = named(role);
        assert!(
            names.iter().all(|name| !name.is_empty()),
            "{page}: a {role} without a name: {names:?}"
        );
    }
    let first = browser.evaluate("document.querySelectorAll('h1').length");
    assert_eq!(first, 1, "{page}");
}

fn keys_reach_everything(browser: &mut Browser, page: &str) {
    browser.wait_for(
        "document.querySelector('main').dataset.live === 'still' || 'heard' in document.querySelector('main').dataset",
    );
    browser.key("Tab");
    let first = browser.evaluate("document.activeElement.className");
    assert_eq!(first, "skip", "{page}");
    let count = browser.evaluate(
        "[...document.querySelectorAll('a, button, input, summary, [tabindex=\"0\"]')]
           .filter((element) => element.getClientRects().length > 0).length",
    );
    let count = count.as_u64().expect("a number");
    let mut reached = 1;
    while reached < count {
        browser.key("Tab");
        let seen = browser.evaluate(
            "(() => {
               const element = document.activeElement;
               const isDrawn = element.namespaceURI.endsWith('svg');
               const style = getComputedStyle(isDrawn ? element.querySelector('rect') : element);
               return [element === document.body, element.matches(':focus-visible'), style.outlineStyle !== 'none' || style.strokeWidth === '3px'];
             })()",
        );
        assert_eq!(seen, json!([false, true, true]), "{page}: stop {reached}");
        reached += 1;
    }
}

/// A server with a site that was pushed and activated, and a node with an agent. All of it goes with the test.
struct Site {
    name: String,
    folder: PathBuf,
    server: String,
    serving: Child,
}

impl Site {
    fn new(name: &str) -> Self {
        let name = format!("service-{name}");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(&name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("web1")).unwrap();
        let mut serving = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data", "ledger"])
            .args(["--log", "none", "--admin-token-file", "token"])
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = serving.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let server = line.trim().strip_prefix("listening at ").unwrap();
        let site = Self {
            name,
            server: server.to_owned(),
            serving,
            folder,
        };
        site.write(
            "web1/agent.cf2",
            "node => web1\ndirectory => 'state'\n\
             files => { site => { path => 'site.conf', mode => '644' } }\n\
             subsystems => { httpd => { restart => 'true' } }\n",
        );
        site.push("8080");
        site.done("activate");
        site.round();
        site
    }

    /// Says another port, as somebody's, and pushes it.
    fn push(&self, port: &str) {
        let source = format!(
            "private Port => {port}
parameters => {{
  PORT => {{ kind => integer, default => '80', restart => true }}
  LOG => {{ kind => string }}
}}
subsystems => {{ httpd => {{ parameters => [PORT, LOG] }} }}
features => {{
  Base => {{ parameters => {{ LOG => 'info', PORT => '80' }} }}
  Web => {{ includes => [Base], parameters => {{ PORT => $Port }} }}
}}
groups => {{ web => {{ features => [Web] }} }}
nodes => {{ web1 => {{ groups => [web] }}, web2 => {{ groups => [web] }} }}
"
        );
        self.write("site.cf2", &source);
        let git = |words: &[&str]| {
            let done = Command::new("git")
                .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
                .args(words)
                .current_dir(&self.folder)
                .output()
                .unwrap();
            assert!(done.status.success(), "{words:?}: {done:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "site.cf2"]);
        git(&["commit", "-q", "-m", "Say which port"]);
        let message = format!("port {port}");
        self.run(
            "",
            &["push", "site.cf2", "--owner", "site", "--message", &message],
        );
    }

    /// The node goes one round.
    fn round(&self) {
        let mut words = vec!["agent", "--config", "agent.cf2", "--once"];
        let is_known = self.folder.join("web1/state/identity.json").exists();
        let join = (!is_known).then(|| self.done("token join --node web1"));
        words.extend(join.iter().flat_map(|word| ["--join", word.trim()]));
        self.run("web1", &words);
    }

    fn done(&self, words: &str) -> String {
        self.run("", &words.split(' ').collect::<Vec<_>>())
    }

    fn run(&self, folder: &str, words: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(words)
            .env("HENCE_SERVER", &self.server)
            .env("HENCE_TOKEN", self.read("token").trim())
            .current_dir(self.folder.join(folder))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.serving.kill();
        let _ = self.serving.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
