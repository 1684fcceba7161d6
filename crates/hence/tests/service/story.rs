//! One story: a line in a source, a feature, a group, a plan, an activation, agents, generations of real web servers, their
//! answers; and from a URL back to the line. A real Apache and two real nginx.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Output};

use hence_api::words;
use hence_closure::host::Machine;
use hence_closure::probe::{self, Response};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::served::{Server, empty};

const NODES: [&str; 3] = ["web1", "web2", "web3"];

/// A site with its sources, a server, and three nodes. All of it goes with the test.
struct Site {
    folder: PathBuf,
    server: Server,
    endpoints: Vec<SocketAddr>,
}

impl Site {
    /// With a ledger somewhere.
    fn new(name: &str, data: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("hence-web-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("source/www/products")).unwrap();
        let server = Server::start(&folder, data);
        let endpoints = NODES.iter().map(|_| hence_loopback::reserve().unwrap());
        let site = Self {
            folder,
            server,
            endpoints: endpoints.collect(),
        };
        for (node, endpoint) in NODES.iter().zip(&site.endpoints) {
            let server = if *node == "web1" { "apache" } else { "nginx" };
            let settings = format!(
                "node => {node}\ndirectory => 'state'\n\
                 http => {{ root => 'web', server => {server}, listen => '{endpoint}' }}\n"
            );
            fs::create_dir_all(site.folder.join(node)).unwrap();
            site.write(&format!("{node}/agent.cf2"), &settings);
        }
        site
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    fn run_in(&self, folder: &str, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(words)
            .env("HENCE_SERVER", &self.server.url)
            .env("HENCE_TOKEN", self.read("token").trim())
            .current_dir(self.folder.join(folder))
            .output()
            .unwrap()
    }

    fn done_in(&self, folder: &str, words: &[&str]) -> String {
        let output = self.run_in(folder, words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn done(&self, words: &str) -> String {
        self.done_in("source", &words.split(' ').collect::<Vec<_>>())
    }

    /// Writes the sources, and gives them to git as somebody's.
    fn say(&self, text: &str) {
        self.write("source/site.cf2", text);
        let git = |words: &[&str]| {
            let done = Command::new("git")
                .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
                .args(words)
                .current_dir(self.folder.join("source"))
                .output()
                .unwrap();
            assert!(done.status.success(), "{words:?}: {done:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "Say what the shop serves"]);
    }

    /// What is said is active.
    fn activate(&self, text: &str) {
        self.say(text);
        self.done("push site.cf2 --owner shop");
        self.done("activate");
    }

    /// The newest version of the ledger.
    fn version(&self) -> u64 {
        let about: words::About = self.server.client(&self.folder).get("").unwrap();
        about.version
    }

    /// A node goes one round.
    fn round(&self, node: &str) -> Output {
        let mut words = vec!["agent", "--config", "agent.cf2", "--once"];
        let join = match self.folder.join(node).join("state/identity.json").exists() {
            true => None,
            false => Some(self.done(&format!("token join --node {node}"))),
        };
        words.extend(join.iter().flat_map(|word| ["--join", word.trim()]));
        self.run_in(node, &words)
    }

    fn good_round(&self, node: &str) {
        let output = self.round(node);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{node}: {said}");
    }

    fn get(&self, node: &str, path: &str) -> Response {
        let number = NODES.iter().position(|one| *one == node).unwrap();
        probe::ask(&Machine, self.endpoints[number], "foo.test", path).unwrap()
    }

    fn body(&self, node: &str, path: &str) -> String {
        let response = self.get(node, path);
        assert_eq!(response.status, 200, "{node} {path}");
        String::from_utf8(response.body).unwrap()
    }

    /// What each node reports of the set that it serves.
    fn sets(&self) -> Vec<String> {
        let inventory: Value = serde_json::from_str(&self.done("inventory --format json")).unwrap();
        let nodes = inventory.as_array().unwrap().iter();
        nodes
            .map(|node| node["facts"]["http_set"].as_str().unwrap_or("").to_owned())
            .collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for node in NODES {
            self.run_in(node, &["http", "--root", "web", "stop"]);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn shop(notice: &str) -> String {
    format!(
        "private Notice => '{notice}'
features => {{
  Shop => {{
    http => {{
      shop => {{
        name => 'foo.test'
        top => {{ url => '/', from => 'www' }}
        notice => {{ url => '/Notice', text => $Notice, type => 'text/plain' }}
        old => {{ url => '/old', redirect => '/products/', status => 301 }}
      }}
    }}
  }}
}}
groups => {{ web => {{ features => ['Shop'] }} }}
nodes => {{
  web1 => {{ groups => ['web'] }}
  web2 => {{ groups => ['web'] }}
  web3 => {{ groups => ['web'] }}
}}
"
    )
}

#[test]
fn a_line_in_a_source_is_served_on_every_node_and_a_url_leads_back_to_it() {
    the_story("embedded", "ledger");
}

#[test]
fn the_same_with_a_ledger_in_a_cluster() {
    let cluster = Cluster::start("story", empty("story-cluster"));
    the_story("cluster", &cluster.data());
}

fn the_story(name: &str, data: &str) {
    let site = Site::new(name, data);
    site.write(
        "source/www/index.html",
        "<!DOCTYPE html><title>Shop</title><p>Welcome</p>",
    );
    site.write("source/www/products/one.txt", "one\n");
    site.activate(&shop("Closed on Sundays"));
    for node in NODES {
        site.good_round(node);
        assert!(site.body(node, "/").contains("<p>Welcome</p>"), "{node}");
        assert_eq!(site.body(node, "/products/one.txt"), "one\n");
        assert_eq!(site.body(node, "/Notice"), "Closed on Sundays");
        // Servers say it with the host, or without.
        let old = site.get(node, "/old");
        let target = old.header("location").unwrap();
        assert_eq!(target.trim_start_matches("http://foo.test"), "/products/");
        assert_eq!(site.get(node, "/notice").status, 404);
    }
    // Equal sets, equal behaviour.
    let sets = site.sets();
    assert!(
        sets[0].len() == 64 && sets.iter().all(|set| *set == sets[0]),
        "{sets:?}"
    );

    // On a node: the answer, the assertion, and the fleet behind it. Anywhere else: what nodes are to answer.
    let url = "http://foo.test/Notice";
    let here = site.done_in("web2", &["why", url, "--root", "web"]);
    let there = site.done(&format!("why {url}"));
    for (told, words) in [
        (&here, "answers 200, text/plain, blob:"),
        (&here, "by `file foo.test /Notice blob:"),
        (&here, "of `fleet`, since generation 2, by web2 on "),
        (&here, "the server was asked, and answers so\n"),
        (
            &there,
            "http://foo.test/Notice on web1, web2, web3 answers 200, text/plain, \"Closed on Sundays\"\n",
        ),
    ] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    for told in [&here, &there] {
        for words in [
            "in feature Shop, which is installed on group web, of which web",
            " in version ",
            "site.cf2:1:19   private Notice => 'Closed on Sundays'",
            "Ada",
            "Say what the shop serves",
        ] {
            assert!(told.contains(words), "{words}\n{told}");
        }
    }
    let json: Value =
        serde_json::from_str(&site.done(&format!("why {url} --format json"))).unwrap();
    assert_eq!(json[0]["fleet"]["chain"][0]["features"][0], "Shop");

    // Another literal: what changes, and why, before anything does.
    let before = site.version();
    site.say(&shop("Closed on Mondays"));
    site.done("push site.cf2 --owner shop");
    let (before, after) = (before.to_string(), site.version().to_string());
    let different = site.run_in("source", &["diff", &before, &after, "--why"]);
    assert_eq!(different.status.code(), Some(1), "{different:?}");
    let different = String::from_utf8(different.stdout).unwrap();
    for words in [
        "feature/shop/param/http%20file%20foo.test%20%2f%254eotice",
        "site.cf2:1:19   private Notice => 'Closed on Sundays'",
        "site.cf2:1:19   private Notice => 'Closed on Mondays'",
    ] {
        assert!(different.contains(words), "{words}\n{different}");
    }
    let plan = site.done("plan");
    assert!(plan.starts_with("web1, web2, web3\n"), "{plan}");
    assert!(plan.contains("http file foo.test /%4eotice"), "{plan}");
    assert_eq!(site.body("web1", "/Notice"), "Closed on Sundays");
    site.done("activate");

    // One that is down meanwhile catches up by the last set alone.
    for node in &NODES[..2] {
        site.good_round(node);
        assert_eq!(site.body(node, "/Notice"), "Closed on Mondays");
    }
    assert_eq!(site.body("web3", "/Notice"), "Closed on Sundays");
    fs::write(site.folder.join("source/www/products/one.txt"), "two\n").unwrap();
    site.activate(&shop("Always open"));
    for node in NODES {
        site.good_round(node);
        assert_eq!(site.body(node, "/Notice"), "Always open");
        assert_eq!(site.body(node, "/products/one.txt"), "two\n");
    }
    let sets = site.sets();
    assert!(sets.iter().all(|set| *set == sets[0]), "{sets:?}");
    let history = site.done_in("web3", &["http", "--root", "web", "history"]);
    assert!(!history.contains("version 4"), "{history}");

    // Without the line the host is gone; taken back, it is there again.
    site.activate("groups => { web => {} }\nnodes => { web1 => { groups => ['web'] }, web2 => {}, web3 => {} }\n");
    for node in NODES {
        site.good_round(node);
        assert_eq!(site.get(node, "/").status, 404);
    }
    let none = site.run_in("source", &["why", "http://foo.test/"]);
    assert_eq!(none.status.code(), Some(1));
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(
        said.contains("error[why.not-served]: no node serves `foo.test`"),
        "{said}"
    );
    site.done("undo");
    site.done("activate");
    for node in NODES {
        site.good_round(node);
        assert_eq!(site.body(node, "/Notice"), "Always open");
    }
}

#[test]
fn what_a_closure_refuses_is_reported_and_what_somebody_changed_is_put_right() {
    let site = Site::new("refused", "ledger");
    site.write(
        "source/www/index.html",
        "<!DOCTYPE html><title>Shop</title><p>Welcome</p>",
    );
    site.activate(&shop("Closed on Sundays"));
    site.good_round("web1");
    site.activate(&shop("-----BEGIN RSA PRIVATE KEY-----"));
    let output = site.round("web1");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error[agent.rolled-back]"), "{said}");
    assert_eq!(site.body("web1", "/Notice"), "Closed on Sundays");
    let inventory = site.done("inventory --format json");
    assert!(inventory.contains("it is a private key"), "{inventory}");

    // Somebody edits what is served, and kills the server.
    site.activate(&shop("Open"));
    site.good_round("web1");
    let root = site.folder.join("web1/web");
    let served = fs::read_dir(root.join("file")).unwrap();
    for file in served.map(|file| file.unwrap().path()) {
        fs::remove_file(&file).unwrap();
        fs::write(&file, "defaced").unwrap();
    }
    let killed = fs::read_to_string(root.join("run/server.pid")).unwrap();
    let killed = Command::new("kill")
        .args(["-9", killed.trim()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = site.round("web1");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("was changed"), "{said}");
    assert!(said.contains("does not run"), "{said}");
    assert_eq!(site.body("web1", "/Notice"), "Open");
    let again = site.round("web1");
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("there is nothing to do"), "{said}");

    // A commit waits to be confirmed, and whoever would take it back goes down with the machine.
    let web = |words: &[&str]| site.run_in("web1", &[&["http", "--root", "web"], words].concat());
    web(&["assert", "host", "bar.test"]);
    web(&["commit", "--confirm-within", "1h"]);
    let waits = root.join("unconfirmed");
    let demand = fs::read_to_string(&waits).unwrap();
    fs::remove_file(&waits).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let (demand, _) = demand.trim().rsplit_once(' ').unwrap();
    fs::write(&waits, format!("{demand} 1\n")).unwrap();
    site.round("web1");
    assert!(!waits.exists(), "nobody took it back");
    let shown = String::from_utf8(web(&["show"]).stdout).unwrap();
    assert!(!shown.contains("bar.test"), "{shown}");
    assert_eq!(site.body("web1", "/Notice"), "Open");

    // A whole root that is gone is made again, with its content.
    site.run_in("web1", &["http", "--root", "web", "stop"]);
    fs::remove_dir_all(&root).unwrap();
    site.good_round("web1");
    assert_eq!(site.body("web1", "/Notice"), "Open");
    assert!(site.body("web1", "/").contains("Welcome"));
}

#[test]
fn a_node_without_a_closure_says_that_it_serves_nothing() {
    let site = Site::new("without", "ledger");
    site.write(
        "source/www/index.html",
        "<!DOCTYPE html><title>Shop</title><p>Welcome</p>",
    );
    site.activate(&shop("Closed on Sundays"));
    let settings =
        "node => web1\ndirectory => 'state'\nfiles => { all => { path => 'all.conf' } }\n";
    site.write("web1/agent.cf2", settings);
    site.good_round("web1");
    let inventory = site.done("inventory --format json");
    assert!(
        inventory.contains("its web sites are not served"),
        "{inventory}"
    );
    // What others read has it as comments only.
    let text = site.read("web1/all.conf");
    assert!(text.contains("# http host foo.test = yes\n"), "{text}");
    assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
}

#[test]
fn content_that_is_wrong_is_refused_where_it_is_written() {
    let folder = std::env::temp_dir().join(format!("hence-web-{}-wrong", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let push = |text: &str| {
        fs::write(folder.join("site.cf2"), text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(["push", "site.cf2", "--owner", "shop"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        String::from_utf8(output.stderr).unwrap()
    };
    let host = |inner: &str| {
        format!(
            "groups => {{ web => {{ http => {{ shop => {{\n name => 'foo.test'\n {inner}\n }} }} }} }}\n"
        )
    };
    std::os::unix::fs::symlink("/etc/passwd", folder.join("leads-out")).unwrap();
    fs::create_dir(folder.join("www")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("www/leads-out")).unwrap();
    for (inner, words) in [
        (
            "top => { url => '/', from => 'nowhere' }",
            "`nowhere` cannot be staged: it is not there",
        ),
        (
            "top => { url => '/', from => 'www' }",
            "this link leads out of the directory",
        ),
        (
            "top => { url => 'products' }",
            "`products` is no path of a URL: it begins with `/`",
        ),
        ("top => { url => '/', proxy => 'ftp://x' }", "ftp://x"),
        (
            "top => { url => '/a', listing => true }",
            "`/a` is no directory",
        ),
        (
            "top => { url => '/', text => 'a', from => 'www' }",
            "either `text` or `from`",
        ),
        (
            "one => { url => '/a', redirect => '/b' }\n two => { url => '/a', redirect => '/c' }",
            "`redirect foo.test /a` is said twice",
        ),
        ("aliase => ['x.test']", "did you mean `aliases`?"),
        ("quota => 'much'", "`much` is no size"),
    ] {
        let said = push(&host(inner));
        assert!(said.contains(words), "{words}\n{said}");
        assert!(said.contains("--> site.cf2:"), "{said}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
