//! A node from its first start to its last, with real processes: a server, commands that change the fleet, and an agent.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder with a server, which ends with the test.
struct Site {
    folder: PathBuf,
    server: String,
    serving: Child,
    /// What commands of administrators add.
    more: Vec<&'static str>,
}

/// A server in a folder, and its address.
fn serve(folder: &Path, listen: &str, more: &[&str]) -> (Child, String) {
    let mut serving = Command::new(env!("CARGO_BIN_EXE_hence"))
        .args(["serve", "--listen", listen, "--log", "none"])
        .args(more)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = serving.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let server = line.trim().strip_prefix("listening at ").expect(&line);
    (serving, server.to_owned())
}

/// A server on the ledger of the site.
const SERVE: [&str; 4] = ["--data", "ledger", "--admin-token-file", "token"];

impl Site {
    fn new(name: &str) -> Self {
        Self::start(name, &[], &[])
    }

    fn start(name: &str, serving: &[&str], more: &[&'static str]) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let listen = hence_loopback::reserve().unwrap().to_string();
        let (serving, server) = serve(&folder, &listen, &[&SERVE, serving].concat());
        Self {
            folder,
            server,
            serving,
            more: more.to_vec(),
        }
    }

    /// Ends the server, and starts another at the same address.
    fn serve_instead(&mut self, words: &[&str]) {
        self.serving.kill().unwrap();
        self.serving.wait().unwrap();
        let listen = self.server.rsplit('/').next().unwrap().to_owned();
        (self.serving, _) = serve(&self.folder, &listen, words);
    }

    fn hence(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hence"));
        command.args(words).current_dir(&self.folder);
        command
    }

    /// A command of somebody who administers the fleet.
    fn manage(&self, words: &str) -> Output {
        let mut command = self.hence(&words.split(' ').collect::<Vec<_>>());
        let output = command
            .args(["--server", &self.server, "--token-file", "token"])
            .args(&self.more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words}: {}", words_of(&output));
        output
    }

    /// One round of the agent.
    fn round(&self, more: &[&str]) -> (Option<i32>, String) {
        let words = ["agent", "--config", "agent.cf2", "--once"];
        let output = self.hence(&words).args(more).output().unwrap();
        (output.status.code(), words_of(&output))
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    fn settings(&self, restart: &str) {
        self.settings_with(restart, "");
    }

    fn settings_with(&self, restart: &str, more: &str) {
        self.write(
            "agent.cf2",
            &format!(
                "node => n1\ndirectory => 'agent'\ninterval => 60\n\
                 files => {{ site => {{ path => 'site.conf', mode => '644', validate => [grep, '-q', 'PORT', '{{file}}'] }} }}\n\
                 subsystems => {{ httpd => {{ restart => {restart} }} }}\n\
                 compile => 'local.cf2'\n{more}"
            ),
        );
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.serving.kill();
        let _ = self.serving.wait();
    }
}

fn words_of(output: &Output) -> String {
    let words = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(words).unwrap()
}

#[test]
fn a_node_joins_runs_what_is_activated_and_goes_back_from_what_does_not_run() {
    let site = Site::new("agent");
    site.manage("add param PORT --restart yes");
    site.manage("add subsystem httpd");
    site.manage("add subsystem httpd param PORT");
    site.manage("add node n1");
    site.manage("add node n1 param PORT=80");
    site.manage("activate");
    site.write(
        "local.cf2",
        "private Facts => import(facts)\nMACHINE => $Facts.architecture ++ ' here'\n",
    );
    site.settings("[sh, '-c', '! grep -q BAD site.conf']");

    let (code, words) = site.round(&[]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("error[agent.not-enrolled]"), "{words}");
    let word = site.manage("token join --node n1").stdout;
    let word = String::from_utf8(word).unwrap();
    let (code, words) = site.round(&["--join", word.trim()]);
    assert_eq!(code, Some(0), "{words}");
    let text = site.read("site.conf");
    assert!(text.contains("\nPORT = 80\n"), "{text}");
    let machine = format!("\nMACHINE = {} here\n", std::env::consts::ARCH);
    assert!(text.ends_with(&machine), "{text}");

    let (code, words) = site.round(&[]);
    assert_eq!(
        (code, words.as_str()),
        (Some(0), "there is nothing to do\n")
    );

    site.manage("set node n1 param PORT=BAD");
    site.manage("activate");
    let (code, words) = site.round(&[]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("error[agent.rolled-back]"), "{words}");
    assert_eq!(site.read("site.conf"), text);

    site.settings("'false'");
    let (code, words) = site.round(&["--retry", "0"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("error[agent.failed]"), "{words}");
    assert_eq!(site.read("site.conf"), text);

    // It runs on, hears of what is activated, and ends when it is asked to.
    site.settings("'true'");
    let mut agent = site
        .hence(&["agent", "--config", "agent.cf2"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(1));
    site.manage("set node n1 param PORT=81");
    site.manage("activate");
    let begun = Instant::now();
    while !site.read("site.conf").contains("\nPORT = 81\n") {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{}",
            site.read("site.conf")
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let kill = Command::new("kill").arg(agent.id().to_string()).status();
    assert!(kill.unwrap().success());
    let mut words = String::new();
    agent
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut words)
        .unwrap();
    assert!(agent.wait().unwrap().success(), "{words}");
    assert!(words.ends_with("ended\n"), "{words}");
}

#[test]
fn an_agent_trusts_no_server_but_the_one_it_was_given() {
    let ca = ["--ca", "ledger/tls.pem"];
    let mut site = Site::start("agent-tls", &["--tls"], &ca);
    assert!(site.server.starts_with("https://"), "{}", site.server);
    site.manage("add param PORT");
    site.manage("add node n1");
    site.manage("add node n1 param PORT=80");
    site.manage("activate");
    site.write("local.cf2", "");
    site.settings("'true'");
    let word = String::from_utf8(site.manage("token join --node n1").stdout).unwrap();
    let word = word.trim();
    let real = [&SERVE[..], &["--tls"]].concat();
    let other = [
        "--data",
        "other",
        "--admin-token-file",
        "other-token",
        "--tls",
    ];
    let distrusts = |site: &Site, more: &[&str]| {
        let (code, words) = site.round(more);
        assert_eq!(code, Some(2), "{words}");
        assert!(words.contains("error[server.untrusted]"), "{words}");
    };

    // Somebody stands in the place of the server when the node joins,
    site.serve_instead(&other);
    distrusts(&site, &["--join", word]);
    assert!(!site.folder.join("agent/identity.json").exists());
    site.serve_instead(&real);
    let (code, words) = site.round(&["--join", word]);
    assert_eq!(code, Some(0), "{words}");
    let text = site.read("site.conf");
    assert!(text.contains("\nPORT = 80\n"), "{text}");
    // and later.
    site.manage("set node n1 param PORT=81");
    site.manage("activate");
    site.serve_instead(&other);
    distrusts(&site, &[]);
    assert_eq!(site.read("site.conf"), text);

    // The server has another certificate: the node takes it when it is told there, and not before.
    let renewed = ["--tls-cert", "other/tls.pem", "--tls-key", "other/tls.key"];
    site.serve_instead(&[&SERVE[..], &renewed].concat());
    distrusts(&site, &[]);
    site.settings_with("'true'", "ca => 'other/tls.pem'\n");
    let (code, words) = site.round(&[]);
    assert_eq!(code, Some(0), "{words}");
    assert!(site.read("site.conf").contains("\nPORT = 81\n"));
    // With both, it does not matter when.
    let both = site.read("ledger/tls.pem") + &site.read("other/tls.pem");
    site.write("both.pem", &both);
    site.settings_with("'true'", "ca => 'both.pem'\n");
    for words in [&[&SERVE[..], &renewed].concat(), &real] {
        site.serve_instead(words);
        let (code, words) = site.round(&[]);
        assert_eq!(code, Some(0), "{words}");
    }
}
