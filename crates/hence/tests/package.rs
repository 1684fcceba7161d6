//! The Debian package on a real system: a container that systemd starts, whose root is this machine's with all changes kept in
//! memory. dpkg installs, upgrades, removes and purges there, systemd starts and stops, and nothing of it is left here.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// So long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn it_is_installed_runs_is_upgraded_removed_and_leaves_nothing() {
    let packages = Packages::make();
    let system = System::start();
    let before = system.files();

    system.install(&packages.first);
    what_is_installed_is_whole(&system);
    the_manual_and_completions_are_there(&system);
    units_are_sound_and_hardened(&system);
    nothing_runs_that_nobody_asked_for(&system);
    let service = the_service_starts_with_few_privileges(&system);
    the_agent_runs_what_is_activated(&system);

    // An upgrade keeps what was configured and what is known, and runs the new program.
    system.install(&packages.second);
    assert_eq!(
        system.done("dpkg-query -W -f '${Version}' hence"),
        "0.2.0-1"
    );
    assert_ne!(system.main_process("hence"), service);
    assert!(
        system
            .done("cat /etc/hence/agent.cf2")
            .contains("listen =>")
    );
    assert!(system.manage("list nodes").contains("n1"));
    system.asks("curl -fs http://localhost:8080/", "it works");

    // What is removed can come back as it was.
    system.done("hence http --root /var/lib/site stop");
    system.done("dpkg -r hence");
    assert!(!system.run("hence --version").status.success());
    assert_eq!(system.said("systemctl is-active hence"), "inactive");
    assert_eq!(system.said("systemctl is-active hence-agent"), "inactive");
    system.install(&packages.second);
    system.done("systemctl start hence");
    assert!(system.manage("list nodes").contains("n1"));
    assert!(
        system
            .done("cat /etc/hence/agent.cf2")
            .contains("listen =>")
    );

    // What is purged is gone.
    system.done("rm -r /var/lib/site /etc/site.conf");
    system.done("dpkg -P hence");
    let left: Vec<String> = system.files().difference(&before).cloned().collect();
    assert!(left.is_empty(), "{left:#?}");

    what_the_book_says_works(&system, &packages);
}

/// Does what `docs/operations.md` tells to do on a system, from its top to its end.
fn what_the_book_says_works(system: &System, packages: &Packages) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let page = fs::read_to_string(page).expect("the book is there");
    for (package, name) in [(&packages.first, "0.1.0"), (&packages.second, "0.2.0")] {
        let name = format!("/opt/hence_{name}-1_amd64.deb");
        system.put(&name, &fs::read(package).unwrap());
    }
    let blocks = page.split("```sh system\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().expect("a block ends"));
    let blocks: Vec<&str> = blocks.collect();
    assert!(blocks.len() > 4, "the book tells less than it did");
    let script = format!("cd /opt; set -ex\n{}", blocks.join("\n"));
    let done = system.run_with("bash", script.as_bytes());
    assert!(done.status.success(), "{}", words_of(&done));
}

fn what_is_installed_is_whole(system: &System) {
    assert_eq!(system.done("dpkg -V hence"), "");
    for file in system.done("dpkg -L hence").lines().skip(1) {
        let mode = match file {
            "/usr/bin/hence" => "regular file root root 755",
            file if system.run(&format!("test -d {file}")).status.success() => {
                "directory root root 755"
            }
            _ => "regular file root root 644",
        };
        let mode_found = system.done(&format!("stat -c '%F %U %G %a' {file}"));
        assert_eq!(mode_found.trim(), mode, "{file}");
    }
    let version = concat!("hence ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(system.done("hence --version"), version);
    let compiled = system.done("hence compile /usr/share/doc/hence/examples/site.sf");
    assert!(compiled.starts_with('{'), "{compiled}");
}

fn the_manual_and_completions_are_there(system: &System) {
    for page in ["hence", "hence-serve", "hence-token-join"] {
        let shown = system.run(&format!("man --warnings -P cat {page}"));
        let warnings = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success() && warnings.is_empty(), "{warnings}");
        assert!(String::from_utf8_lossy(&shown.stdout).contains("SYNOPSIS"));
    }
    let complete = ". /usr/share/bash-completion/completions/hence
        COMP_WORDS=(hence htt) COMP_CWORD=1
        _clap_complete_hence hence htt hence
        echo ${COMPREPLY[@]}";
    let completed = system.run_with("bash", complete.as_bytes());
    assert_eq!(words_of(&completed), "http\n");
}

fn units_are_sound_and_hardened(system: &System) {
    let units = "hence.service hence-agent.service";
    assert_eq!(system.said(&format!("systemd-analyze verify {units}")), "");
    // In tenths: 100 is a service that may do everything.
    for (unit, most) in [("hence", 15), ("hence-agent", 40)] {
        system.done(&format!(
            "systemd-analyze security --no-pager --offline=true --threshold={most} /usr/lib/systemd/system/{unit}.service"
        ));
    }
}

fn nothing_runs_that_nobody_asked_for(system: &System) {
    for unit in ["hence", "hence-agent"] {
        let enabled = system.said(&format!("systemctl is-enabled {unit}"));
        assert_eq!(enabled, "disabled");
        let active = system.said(&format!("systemctl is-active {unit}"));
        assert_eq!(active, "inactive");
    }
    // An agent that has not joined is not started, and that is no failure.
    system.done("systemctl start hence-agent");
    let active = system.said("systemctl is-active hence-agent");
    assert_eq!(active, "inactive");
}

/// The process of the service.
fn the_service_starts_with_few_privileges(system: &System) -> String {
    system.done("systemctl enable --now hence");
    // systemd was told that it is ready, so it answers at once.
    assert_eq!(system.done("curl -fs http://127.0.0.1:7070/health"), "ok\n");
    let token = "/var/lib/hence-ledger/admin-token";
    assert_eq!(system.done(&format!("stat -c %a {token}")), "600\n");
    let token = system.done(&format!("cat {token}"));
    let journal = system.done("journalctl --no-pager -u hence");
    assert!(journal.contains("listening at"), "{journal}");
    assert!(!journal.contains(token.trim()), "{journal}");

    let process = system.main_process("hence");
    let status = system.done(&format!("cat /proc/{process}/status"));
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let words = line.expect(name).split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_ne!(field("Uid:")[0], "0");
    assert_eq!(field("CapBnd:"), ["0000000000000000"]);
    assert_eq!(field("NoNewPrivs:"), ["1"]);
    assert_eq!(field("Seccomp:"), ["2"]);
    process
}

fn the_agent_runs_what_is_activated(system: &System) {
    let site = "parameters => { PORT => { default => 1 } }
        features => { Site => { parameters => { PORT => 80 }
          http => { site => { name => 'localhost', top => { url => '/', text => 'it works', type => 'text/plain' } } } } }
        nodes => { n1 => { features => ['Site'] } }\n";
    system.put("/tmp/site.cf2", site.as_bytes());
    system.manage("push /tmp/site.cf2 --owner site");
    system.manage("activate");
    let settings = "node => 'n1'
        files => { site => { path => '/etc/site.conf' } }
        http => { root => '/var/lib/site', server => apache, listen => '127.0.0.1:8080' }\n";
    system.put("/etc/hence/agent.cf2", settings.as_bytes());
    let word = system.manage("token join --node n1");
    system.done(&format!("hence agent --once --join {}", word.trim()));
    system.done("hence http --root /var/lib/site stop");
    system.done("rm -r /var/lib/site /etc/site.conf");

    // What it could do as a command it can do as a service.
    system.done("systemctl enable --now hence-agent");
    system.asks("curl -fs http://localhost:8080/", "it works");
    system.asks("grep -h PORT /etc/site.conf", "PORT = 80\n");
    // Web sites do not wait for the agent.
    system.done("systemctl stop hence-agent");
    system.asks("curl -fs http://localhost:8080/", "it works");
    system.done("systemctl start hence-agent");
    assert_eq!(system.said("systemctl is-active hence-agent"), "active");
}

/// The program of this build as packages of two versions.
struct Packages {
    first: PathBuf,
    second: PathBuf,
}

impl Packages {
    fn make() -> Self {
        let first = package("package-first", "0.1.0-1");
        // The same program gives the same bytes.
        let again = package("package-again", "0.1.0-1");
        assert!(fs::read(&first).unwrap() == fs::read(again).unwrap());
        let second = package("package-second", "0.2.0-1");
        Self { first, second }
    }
}

fn package(name: &str, version: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../package");
    let made = Command::new(script)
        .args([
            "--binary",
            env!("CARGO_BIN_EXE_hence"),
            "--compress",
            "none",
        ])
        .args(["--version", version, "--out"])
        .arg(&folder)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("`./package` can be run");
    assert!(made.status.success(), "{}", words_of(&made));
    let mut files = fs::read_dir(folder).unwrap();
    files.next().expect("there is a package").unwrap().path()
}

/// A system in a container.
struct System {
    container: Child,
    /// Its first process.
    first: String,
    /// Where what it changed is, for those who share its mounts.
    folder: PathBuf,
}

/// Makes the root of the container in the folder `$1`, and starts it. What a machine forbids to packages, as that files
/// of documentation are installed or services started, does not hold there.
const START: &str = r#"set -e
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
rm -rf root/etc/dpkg/dpkg.cfg.d root/usr/sbin/policy-rc.d root/etc/machine-id
exec systemd-nspawn --quiet --directory=root --boot --register=no --keep-unit --settings=no --private-network \
  --console=pipe systemd.unit=basic.target"#;

impl System {
    fn start() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("package-system");
        fs::create_dir_all(&folder).unwrap();
        let log = folder.with_extension("log");
        let file = fs::File::create(&log).unwrap();
        let mut container = as_root("unshare")
            .args([
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                START,
                "sh",
            ])
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .expect("a container can be started");
        let start = Instant::now();
        loop {
            if let Some(first) = descendant(container.id(), "systemd") {
                let system = Self {
                    first: first.to_string(),
                    folder: folder.clone(),
                    container,
                };
                system.asks("systemctl is-active basic.target", "active\n");
                return system;
            }
            let ended = container.try_wait().unwrap();
            if ended.is_some() || start.elapsed() > PATIENCE {
                let said = fs::read_to_string(log).unwrap_or_default();
                panic!(
                    "no container can be started: this test needs root (or `sudo` without a password), mount namespaces, \
                     and `systemd-nspawn`, which `./test` installs\n{said}"
                );
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// Runs a command there with some input. What it says goes to files: a web server that it starts keeps them open.
    fn run_with(&self, words: &str, input: &[u8]) -> Output {
        let said = ["stdout", "stderr"].map(|name| self.folder.with_extension(name));
        let [stdout, stderr] = said.each_ref().map(|path| fs::File::create(path).unwrap());
        let mut process = as_root("nsenter")
            .args(["--target", &self.first, "--all", "env", "-i"])
            .args(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"])
            .args(["DEBIAN_FRONTEND=noninteractive", "sh", "-c", words])
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .expect("`nsenter` can be run");
        // One that does not read what it is given is told so by its end.
        let _ = process.stdin.take().unwrap().write_all(input);
        let status = process.wait().unwrap();
        let [stdout, stderr] = said.map(|path| fs::read(path).unwrap());
        Output {
            status,
            stdout,
            stderr,
        }
    }

    fn run(&self, words: &str) -> Output {
        self.run_with(words, b"")
    }

    /// What a command prints; it must be done.
    fn done(&self, words: &str) -> String {
        let output = self.run(words);
        if !output.status.success() {
            let journal = self.run("journalctl --no-pager -n 40");
            panic!("{words}: {}\n{}", words_of(&output), words_of(&journal));
        }
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command says, whether it likes that or not.
    fn said(&self, words: &str) -> String {
        words_of(&self.run(words)).trim().to_owned()
    }

    /// Waits until a command prints this.
    fn asks(&self, words: &str, expected: &str) {
        let start = Instant::now();
        loop {
            let said = words_of(&self.run(words));
            if said == expected {
                return;
            }
            if start.elapsed() > PATIENCE {
                let journal = self.run("journalctl --no-pager -n 40");
                panic!("{words}: {said}\n{}", words_of(&journal));
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// A command of the administrator of the fleet.
    fn manage(&self, words: &str) -> String {
        self.done(&format!(
            "hence {words} --server http://127.0.0.1:7070 --token-file /var/lib/hence-ledger/admin-token"
        ))
    }

    fn put(&self, path: &str, content: &[u8]) {
        let output = self.run_with(&format!("cat > {path}"), content);
        assert!(output.status.success(), "{}", words_of(&output));
    }

    fn install(&self, package: &Path) {
        self.put("/tmp/hence.deb", &fs::read(package).unwrap());
        self.done("dpkg -i /tmp/hence.deb");
        self.done("rm /tmp/hence.deb");
    }

    fn main_process(&self, unit: &str) -> String {
        self.said(&format!("systemctl show -p MainPID --value {unit}"))
    }

    /// What is not as on this machine, but for what systemd and dpkg write about themselves.
    fn files(&self) -> BTreeSet<String> {
        let output = as_root("nsenter")
            .args(["--target", &self.container_process(), "--mount"])
            .arg("find")
            .arg(self.folder.join("upper"))
            .args(["-mindepth", "1", "-printf", "%y %P\\n"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", words_of(&output));
        let own = [
            "run/",
            "tmp/",
            "var/cache/",
            "var/log/",
            "var/tmp/",
            "var/lib/dpkg/",
        ];
        let text = words_of(&output);
        let files = text.lines().filter(|line| {
            let (kind, path) = line.split_once(' ').expect("a kind and a path");
            let is_there_anyway = kind == "d" && Path::new("/").join(path).is_dir();
            !is_there_anyway && !own.iter().any(|own| path.starts_with(own))
        });
        files.map(str::to_owned).collect()
    }

    /// The process that shares the mounts of the container's root.
    fn container_process(&self) -> String {
        let found = descendant(self.container.id(), "systemd-nspawn");
        found.expect("the container runs").to_string()
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // With the first process of a system all others end.
        let _ = as_root("kill").args(["-KILL", &self.first]).status();
        let _ = self.container.wait();
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

/// The process itself, or one that it started, whose program has this name.
fn descendant(process: u32, name: &str) -> Option<u32> {
    let about = Path::new("/proc").join(process.to_string());
    if fs::read_to_string(about.join("comm")).ok()?.trim() == name {
        return Some(process);
    }
    let children = fs::read_to_string(about.join(format!("task/{process}/children"))).ok()?;
    let mut children = children
        .split_whitespace()
        .filter_map(|child| child.parse().ok());
    children.find_map(|child| descendant(child, name))
}

fn words_of(output: &Output) -> String {
    let words = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&words).into_owned()
}
