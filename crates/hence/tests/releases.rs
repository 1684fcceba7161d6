//! What earlier releases left on a disk is opened, read and changed by this one: a ledger with its key, the directory of an agent, and a
//! closure. `releases/make` made them, with the programs of those releases.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What a release left, in a folder that goes with the test. It belongs to root, as web servers of a system do.
struct Left(PathBuf);

impl Left {
    fn by(release: &str, test: &str) -> Self {
        // A web server that root starts must get there.
        let name = format!("hence-release-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let archive = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/releases")
            .join(format!("{release}.tar.gz"));
        let left = Self(folder);
        let unpacked = as_root("tar")
            .args(["--extract", "--same-owner", "--file"])
            .arg(archive)
            .current_dir(&left.0)
            .status();
        assert!(unpacked.expect("`tar` can be run").success());
        left
    }

    /// What a command prints and says; it must be done.
    fn told(&self, words: &str) -> String {
        let output = as_root("env")
            .args([
                "-u",
                "HENCE_DATA",
                "-u",
                "HENCE_SERVER",
                "-u",
                "HENCE_HTTP_ROOT",
            ])
            .args(["HENCE_AUTHOR=eve", env!("CARGO_BIN_EXE_hence")])
            .args(words.split(' '))
            .current_dir(&self.0)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(output.status.success(), "{words}: {said}");
        said
    }

    /// The line of what a command says in which some words stand has others, too.
    fn tells(&self, words: &str, expected: &[&str]) {
        let said = self.told(words);
        for line in expected {
            let parts: Vec<&str> = line.split(" … ").collect();
            let has = |said: &str| parts.iter().all(|part| said.contains(part));
            assert!(said.lines().any(has), "{words}: no `{line}` in\n{said}");
        }
    }

    /// Serves the ledger, and says where.
    fn serve(&self) -> (Child, String) {
        let mut server = as_root(env!("CARGO_BIN_EXE_hence"))
            .args(["serve", "--data", "ledger", "--listen", "127.0.0.1:0"])
            .args(["--log", "none"])
            .current_dir(&self.0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = server.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening at ").expect(&line);
        (server, url.to_owned())
    }

    /// Starts the server of the closure, and asks it.
    fn served(&self, port: u16) {
        let started = as_root(env!("CARGO_BIN_EXE_hence"))
            .args(["http", "--root", "site", "start"])
            .current_dir(&self.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(started.unwrap().success());
        let page = |host: &str, path: &str| {
            let host = format!("Host: {host}");
            curl(&["-H", &host, &format!("http://127.0.0.1:{port}{path}")])
        };
        assert!(page("shop.test", "/").contains("Open from nine to five"));
        assert_eq!(page("www.shop.test", "/hours.txt"), "nine to five\n");
        self.told("http --root site stop");
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        // A test that failed may have left a server.
        let _ = as_root(env!("CARGO_BIN_EXE_hence"))
            .args(["http", "--root", "site", "stop"])
            .current_dir(&self.0)
            .output();
        let _ = as_root("rm").arg("-rf").arg(&self.0).status();
    }
}

/// A program that is run as root.
fn as_root(program: &str) -> Command {
    if rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["-n", program]);
    command
}

fn curl(words: &[&str]) -> String {
    let output = Command::new("curl").arg("-fsS").args(words).output();
    let output = output.expect("`curl` can be run");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_ledger_of_the_first_release_is_read_explained_and_changed() {
    let left = Left::by("0.1.0", "ledger");
    left.tells(
        "log --data ledger",
        &[
            "1  … ann   16 asserted   the shop opens",
            "2  … ben   3 asserted",
            "5  … activates 4 everywhere",
            "6  … names 5 `opening`",
            "8  … undoes 7: 1 retracted",
        ],
    );
    left.tells(
        "state --data ledger",
        &[
            "apply database {",
            "apply shop {",
            "assert feature/shop/param/workers 8",
            "assert group/+++default/param/db_password sealed(",
        ],
    );
    left.tells(
        "explain web1 WORKERS --data ledger",
        &[
            "feature/shop/param/workers, by ann in version 1 … \"the shop opens\"",
            "shop.cf2:9:67   Shop => { parameters => { WORKERS => if ($Visitors > 1000) then 8 else 4 } }",
        ],
    );
    left.tells(
        "explain web2 DB_HOST --data ledger",
        &[
            "database.sf:1:25   Database extends { host \"db.shop.test\"; }",
            "database.sf:4:20   `database:host` is inherited through this",
        ],
    );
    left.tells("inventory --data ledger", &["web1 … runs 5"]);

    // It goes on from there.
    left.tells(
        "set node web2 param LOG=debug --data ledger",
        &["version 12: 1 asserted"],
    );
    left.tells("activate --data ledger", &["1 node changed"]);
    left.tells("config web2 --data ledger", &["LOG = debug"]);
    left.tells("undo 1 --data ledger --dormant", &["version 14: "]);
    left.tells("restore opening --data ledger", &["version 15: "]);
    left.tells("config web1 --at 5 --data ledger", &["WORKERS = 8"]);
    left.told("backup copy --data ledger");
    left.tells("log --data copy", &["undoes 1"]);
}

#[test]
fn the_agent_of_the_first_release_goes_on_with_its_token_and_reads_its_secret() {
    let left = Left::by("0.1.0", "agent");
    let (mut server, url) = left.serve();
    let settings = left.0.join("agent.cf2");
    let more = format!("echo \"server => '{url}'\" >> {}", settings.display());
    assert!(
        as_root("sh")
            .args(["-c", &more])
            .status()
            .unwrap()
            .success()
    );
    let map = as_root("sh")
        .args(["-c", "ls agent/maps/*.json"])
        .current_dir(&left.0)
        .output()
        .unwrap();
    let map = String::from_utf8(map.stdout).unwrap();
    left.tells(
        &format!("why --line site.conf:4 --map {}", map.trim()),
        &["line 4 of site.conf is about `WORKERS`, on `web1` as of version 5"],
    );
    left.tells("agent --config agent.cf2 --once", &["version 5 runs"]);
    let written = as_root("cat")
        .arg(left.0.join("site.conf"))
        .output()
        .unwrap();
    let written = String::from_utf8(written.stdout).unwrap();
    assert!(
        written.contains("DB_PASSWORD = correct horse\n"),
        "{written}"
    );
    // Its token, which the ledger knows since then, reads what is for the node.
    let identity = as_root("cat")
        .arg(left.0.join("agent/identity.json"))
        .output();
    let identity: serde_json::Value = serde_json::from_slice(&identity.unwrap().stdout).unwrap();
    let bearer = format!(
        "Authorization: Bearer {}",
        identity["token"].as_str().unwrap()
    );
    let config = curl(&["-H", &bearer, &format!("{url}/config/web1")]);
    assert!(config.contains("DB_PASSWORD = correct horse\n"), "{config}");
    let id = server.id().to_string();
    assert!(as_root("kill").arg(id).status().unwrap().success());
    server.wait().unwrap();
}

#[test]
fn the_closure_of_the_first_release_is_served() {
    let left = Left::by("0.1.0", "closure");
    let http = "http --root site";
    left.tells(
        &format!("{http} show"),
        &["assert host shop.test", "assert listen 127.0.0.1:7"],
    );
    left.tells(
        &format!("{http} history"),
        &["4  … ann   undoes 3", "2  … the shop is on the web"],
    );
    // Apache's files name the folder that they were made in. Made again from what is asserted, all is as promised.
    left.told(&format!("{http} repair"));
    left.tells(&format!("{http} validate"), &["all is as promised"]);
    let port = hence_loopback::reserve().unwrap().port();
    left.told(&format!("{http} assert listen 127.0.0.1:{port}"));
    left.told(&format!("{http} retract listen 127.0.0.1:7"));
    // What was pending goes with it.
    left.tells(
        &format!("{http} plan"),
        &["+ alias shop.test www.shop.test"],
    );
    left.told(&format!("{http} commit"));
    left.served(port);
}
