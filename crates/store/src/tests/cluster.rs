//! Real clusters of etcd on this machine, that go with the test, and what stands between them and a client.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Directory;
use crate::{Address, Credentials, Etcd};

/// Members of one cluster, each a process.
pub(crate) struct Cluster {
    members: Vec<Member>,
    directory: Directory,
    secure: bool,
}

struct Member {
    arguments: Vec<String>,
    port: u16,
    process: Option<Child>,
}

impl Cluster {
    /// A cluster with so many members, where each is told these arguments as well.
    pub fn start(name: &str, count: usize, more: &[&str]) -> Self {
        let directory = Directory::new(name);
        let secure = more.contains(&"--cert-file");
        let scheme = if secure { "https" } else { "http" };
        let ports = free_ports(2 * count);
        let peer = |member: usize| format!("http://127.0.0.1:{}", ports[count + member]);
        let all = (0..count).map(|member| format!("m{member}={}", peer(member)));
        let all = all.collect::<Vec<_>>().join(",");
        let member = |member: usize| {
            let client = format!("{scheme}://127.0.0.1:{}", ports[member]);
            let data = directory.path().join(format!("m{member}"));
            let arguments = [
                ("--name", format!("m{member}")),
                ("--data-dir", data.display().to_string()),
                ("--listen-client-urls", client.clone()),
                ("--advertise-client-urls", client),
                ("--listen-peer-urls", peer(member)),
                ("--initial-advertise-peer-urls", peer(member)),
                ("--initial-cluster", all.clone()),
                ("--initial-cluster-token", name.to_owned()),
                ("--heartbeat-interval", "50".to_owned()),
                ("--election-timeout", "400".to_owned()),
                ("--bcrypt-cost", "4".to_owned()),
            ];
            let arguments = arguments.into_iter();
            let arguments = arguments.flat_map(|(name, value)| [name.to_owned(), value]);
            Member {
                arguments: arguments
                    .chain(more.iter().map(|&one| one.into()))
                    .collect(),
                port: ports[member],
                process: None,
            }
        };
        let members: Vec<Member> = (0..count).map(member).collect();
        let mut cluster = Self {
            members,
            directory,
            secure,
        };
        for member in 0..count {
            cluster.run(member);
        }
        cluster
    }

    /// Starts a member that does not run.
    pub fn run(&mut self, member: usize) {
        let log = self.directory.path().join(format!("m{member}.log"));
        let log = fs::File::options().create(true).append(true).open(log);
        let process = Command::new("etcd")
            .args(&self.members[member].arguments)
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn();
        let process = process.expect("these tests need `etcd`, which `./test` installs");
        self.members[member].process = Some(process);
    }

    /// Ends a member as a loss of power would.
    pub fn kill(&mut self, member: usize) {
        let mut process = self.members[member].process.take().expect("it runs");
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Cuts a member off: it stands still, and its connections stay open.
    pub fn cut_off(&self, member: usize) {
        self.signal(member, "-STOP");
    }

    /// Lets a member go on that was cut off.
    pub fn join(&self, member: usize) {
        self.signal(member, "-CONT");
    }

    fn signal(&self, member: usize, signal: &str) {
        let process = self.members[member].process.as_ref().expect("it runs");
        let id = process.id().to_string();
        let done = Command::new("kill").args([signal, &id]).status();
        assert!(done.unwrap().success());
    }

    /// The member that leads, as soon as there is one.
    pub fn leader(&self) -> usize {
        let leads = |member: &usize| {
            let status = self.try_tell(*member, "maintenance/status", "{}", "");
            status.is_some_and(|status| status["leader"] == status["header"]["member_id"])
        };
        patiently("a leader", || (0..self.members.len()).find(leads))
    }

    /// The address of a ledger, with the members in an order that begins with one of them.
    pub fn address(&self, first: usize, prefix: &str) -> Address {
        let count = self.members.len();
        let members = (first..first + count).map(|member| {
            let port = self.members[member % count].port;
            format!("127.0.0.1:{port}")
        });
        Address {
            secure: self.secure,
            user: None,
            members: members.collect(),
            prefix: prefix.to_owned(),
        }
    }

    pub fn port(&self, member: usize) -> u16 {
        self.members[member].port
    }

    /// A handle on a ledger, as soon as the cluster answers.
    pub fn open(&self, first: usize, prefix: &str) -> Etcd {
        let address = self.address(first, prefix);
        patiently("a cluster", || {
            Etcd::open(&address, &Credentials::default()).ok()
        })
    }

    /// Tells the cluster something that a store does not.
    pub fn tell(&self, path: &str, question: &str, token: &str) -> Value {
        patiently(path, || self.try_tell(0, path, question, token))
    }

    fn try_tell(&self, member: usize, path: &str, question: &str, token: &str) -> Option<Value> {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(2)))
            .proxy(None);
        let url = format!("http://127.0.0.1:{}/v3/{path}", self.members[member].port);
        let request = config.build().new_agent().post(url);
        let request = match token {
            "" => request,
            token => request.header("Authorization", token),
        };
        let mut answer = request.send(question).ok()?;
        let answer = answer.body_mut().read_to_vec().ok()?;
        serde_json::from_slice(&answer).ok()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for member in &mut self.members {
            if let Some(mut process) = member.process.take() {
                let _ = process.kill();
                let _ = process.wait();
            }
        }
        if std::thread::panicking() {
            for member in 0..self.members.len() {
                let log = self.directory.path().join(format!("m{member}.log"));
                show_end(&log);
            }
        }
    }
}

fn show_end(log: &Path) {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(2000)..]).into_owned();
    println!("{}:\n{text}", log.display());
}

/// Tries until there is something, for a long time.
pub(crate) fn patiently<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "there is still not {what}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn free_ports(count: usize) -> Vec<u16> {
    (0..count)
        .map(|_| hence_loopback::reserve().unwrap().port())
        .collect()
}

/// A way to a member on which an answer gets lost each time that is asked for.
pub(crate) struct Lossy {
    port: u16,
    loses: Arc<AtomicBool>,
}

impl Lossy {
    pub fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let loses = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&loses);
        // It ends with the process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let server = TcpStream::connect(("127.0.0.1", target)).unwrap();
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || pass_on(from, to, || false));
                let loses = Arc::clone(&shared);
                std::thread::spawn(move || {
                    pass_on(server, client, || loses.swap(false, Ordering::SeqCst));
                });
            }
        });
        Self { port, loses }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Loses the next answer.
    pub fn lose(&self) {
        self.loses.store(true, Ordering::SeqCst);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, loses: impl Fn() -> bool) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || loses() || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Somebody who answers everything with the same bytes.
pub(crate) fn parrot(answer: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 64 << 10]);
            let _ = client.write_all(&answer);
        }
    });
    port
}
