//! Activations in stages, with real processes: a server, which is killed meanwhile, and three agents.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A server and agents, which end with the test.
struct Site {
    folder: PathBuf,
    server: String,
    serving: Child,
    agents: Vec<Child>,
}

impl Site {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rollout-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let (serving, server) = serve(&folder, &hence_loopback::reserve().unwrap().to_string());
        let mut site = Self {
            folder,
            server,
            serving,
            agents: Vec::new(),
        };
        for words in [
            "add param PORT --restart yes",
            "add subsystem httpd",
            "add subsystem httpd param PORT",
            "add group canary",
            "add group web",
            "add group web param PORT=80",
            "add node n1",
            "add node n2",
            "add node n3",
            "add group canary node n1",
            "add group web node n1 n2 n3",
        ] {
            site.done(words);
        }
        for node in ["n1", "n2", "n3"] {
            site.join(node);
        }
        site.done("activate");
        for node in ["n1", "n2", "n3"] {
            site.until(node, "PORT = 80");
        }
        site
    }

    /// A node whose server does not start with port 13.
    fn join(&mut self, node: &str) {
        let folder = self.folder.join(node);
        fs::create_dir_all(&folder).unwrap();
        let settings = format!(
            "node => {node}\ndirectory => 'state'\ninterval => 1\n\
             files => {{ site => {{ path => 'site.conf' }} }}\n\
             subsystems => {{ httpd => {{ restart => [sh, '-c', '! grep -q \"PORT = 13$\" site.conf'] }} }}\n"
        );
        fs::write(folder.join("agent.cf2"), settings).unwrap();
        let word = self.done(&format!("token join --node {node}"));
        let agent = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(["agent", "--config", "agent.cf2", "--join", word.trim()])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.agents.push(agent.unwrap());
    }

    fn run(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(words)
            .env("HENCE_SERVER", &self.server)
            .env("HENCE_TOKEN", self.read("token").trim())
            .current_dir(&self.folder)
            .output()
            .unwrap()
    }

    fn done(&self, words: &str) -> String {
        let output = self.run(&words.split(' ').collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// Waits until a node runs something.
    fn until(&self, node: &str, line: &str) {
        let start = Instant::now();
        loop {
            let text = self.read(&format!("{node}/site.conf"));
            if text.lines().any(|one| one == line) {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{node}: {text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn kill_server(&mut self) {
        self.serving.kill().unwrap();
        self.serving.wait().unwrap();
    }

    fn start_server(&mut self) {
        let address = self.server.trim_start_matches("http://").to_owned();
        (self.serving, self.server) = serve(&self.folder, &address);
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for child in self.agents.iter_mut().chain([&mut self.serving]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn serve(folder: &Path, address: &str) -> (Child, String) {
    let mut serving = Command::new(env!("CARGO_BIN_EXE_hence"))
        .args([
            "serve", "--listen", address, "--data", "ledger", "--log", "none",
        ])
        .args(["--admin-token-file", "token"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = serving.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let server = line.trim().strip_prefix("listening at ");
    (serving, server.unwrap().to_owned())
}

#[test]
fn a_rollout_goes_on_when_nodes_run_it_and_back_when_they_cannot() {
    let mut site = Site::new("stages");
    site.done("set group web param PORT=8080");
    let told = site.done("rollout start --stage canary --stage 50% --within 60s --wait");
    assert!(told.contains(": done\n"), "{told}");
    for node in ["n1", "n2", "n3"] {
        site.until(node, "PORT = 8080");
    }
    // The canary cannot run it: nobody else gets it, and the canary goes back.
    site.done("set group web param PORT=13");
    let words = "rollout start --stage canary --within 60s --otherwise roll-back --wait";
    let output = site.run(&words.split(' ').collect::<Vec<_>>());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    let why = "rolled-back: stage 1 of 2: 1 of 1 nodes failed, and 0 may";
    assert!(told.contains(why), "{told}");
    assert!(told.contains("n1 failed: "), "{told}");
    for node in ["n1", "n2", "n3"] {
        site.until(node, "PORT = 8080");
    }
    // A server that is killed in the middle of it goes on when it starts again.
    site.done("set group web param PORT=9090");
    site.done("rollout start --stage canary --within 60s --restarts 1");
    site.kill_server();
    site.start_server();
    let told = site.done("rollout wait");
    assert!(told.contains(": done\n"), "{told}");
    for node in ["n1", "n2", "n3"] {
        site.until(node, "PORT = 9090");
    }
    let inventory = site.done("inventory --format json");
    let nodes: serde_json::Value = serde_json::from_str(&inventory).unwrap();
    for node in nodes.as_array().unwrap() {
        assert_eq!(
            node["applied_version"], node["last_updated_version"],
            "{node}"
        );
    }
}

#[test]
fn nodes_run_a_snapshot_while_a_command_runs_and_then_what_they_had() {
    let site = Site::new("during");
    site.done("set group web param PORT=7000");
    site.done("snapshot test");
    site.done("undo");
    let state = site.done("state");
    // All nodes run the snapshot when the command does.
    let output = site.run(&[
        "during",
        "test",
        "--",
        "sh",
        "-c",
        "cat n*/site.conf > seen; exit 3",
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.ends_with("nodes run again what they had\n"), "{said}");
    let seen = site.read("seen");
    assert_eq!(seen.matches("PORT = 7000\n").count(), 3, "{seen}");
    for node in ["n1", "n2", "n3"] {
        let text = site.read(&format!("{node}/site.conf"));
        assert!(text.contains("PORT = 80\n"), "{text}");
    }
    assert_eq!(site.done("state"), state);
    // What nodes cannot run is not tested, and they keep what they had.
    site.done("set group web param PORT=13");
    site.done("snapshot bad");
    site.done("undo");
    let output = site.run(&[
        "during",
        "bad",
        "--otherwise",
        "roll-back",
        "--",
        "touch",
        "ran",
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the command is not run (rolled-back)"),
        "{said}"
    );
    assert!(!site.folder.join("ran").exists());
}
