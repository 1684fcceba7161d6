//! A real etcd cluster of three members, which speak to each other through proxies that can be cut.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::served::patiently;

const MEMBERS: usize = 3;

/// Three members, each a process, that go with the test.
pub struct Cluster {
    directory: PathBuf,
    members: Vec<Member>,
    cut: Arc<Mutex<Option<Cut>>>,
}

struct Member {
    /// Where clients ask it.
    port: u16,
    arguments: Vec<String>,
    process: Option<Child>,
}

/// The member that is cut off: its place, and how it names itself to the others.
#[derive(Clone)]
struct Cut {
    member: usize,
    identity: String,
}

impl Cluster {
    /// A cluster that answers.
    pub fn start(name: &str, directory: PathBuf) -> Self {
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let cut = Arc::new(Mutex::new(None));
        let ports = free_ports(2 * MEMBERS);
        let (clients, peers) = ports.split_at(MEMBERS);
        // Others reach a member only by its proxy.
        let proxies = peers.iter().enumerate();
        let proxies = proxies.map(|(member, port)| proxy(member, *port, &cut));
        let proxies: Vec<u16> = proxies.collect();
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let all = proxies.iter().enumerate();
        let all = all.map(|(member, port)| format!("m{member}={}", url(*port)));
        let all = all.collect::<Vec<_>>().join(",");
        let member = |member: usize| {
            let arguments = [
                ("--name", format!("m{member}")),
                (
                    "--data-dir",
                    directory.join(format!("m{member}")).display().to_string(),
                ),
                ("--listen-client-urls", url(clients[member])),
                ("--advertise-client-urls", url(clients[member])),
                ("--listen-peer-urls", url(peers[member])),
                ("--initial-advertise-peer-urls", url(proxies[member])),
                ("--initial-cluster", all.clone()),
                ("--initial-cluster-token", name.to_owned()),
                ("--heartbeat-interval", "50".to_owned()),
                ("--election-timeout", "500".to_owned()),
            ];
            let arguments = arguments.into_iter();
            Member {
                port: clients[member],
                arguments: arguments
                    .flat_map(|(name, value)| [name.to_owned(), value])
                    .collect(),
                process: None,
            }
        };
        let mut cluster = Self {
            members: (0..MEMBERS).map(member).collect(),
            directory,
            cut,
        };
        for member in 0..MEMBERS {
            cluster.run(member);
        }
        cluster.leader();
        cluster
    }

    /// The place of a ledger in it.
    pub fn data(&self) -> String {
        let members = self.members.iter();
        let members = members.map(|member| format!("127.0.0.1:{}", member.port));
        format!("etcd://{}/fleet", members.collect::<Vec<_>>().join(","))
    }

    /// Starts a member that does not run.
    pub fn run(&mut self, member: usize) {
        let log = self.directory.join(format!("m{member}.log"));
        let log = fs::File::options().create(true).append(true).open(log);
        let process = Command::new("etcd")
            .args(&self.members[member].arguments)
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn();
        let process = process.expect("this test needs `etcd`, which `./test` installs");
        self.members[member].process = Some(process);
    }

    /// Ends a member as a loss of power would.
    pub fn kill(&mut self, member: usize) {
        let mut process = self.members[member].process.take().expect("it runs");
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Cuts a member off from the others, while clients still reach it.
    pub fn cut_off(&self, member: usize) {
        let status = patiently("an answer", || self.status(member));
        let identity: u64 = status["header"]["member_id"]
            .as_str()
            .and_then(|number| number.parse().ok())
            .expect("members have numbers");
        *self.cut.lock().unwrap() = Some(Cut {
            member,
            identity: format!("{identity:x}"),
        });
    }

    /// Joins the member that was cut off.
    pub fn mend(&self) {
        *self.cut.lock().unwrap() = None;
    }

    /// The member that leads those that see each other, as soon as there is one.
    pub fn leader(&self) -> usize {
        let away = self.cut.lock().unwrap().as_ref().map(|cut| cut.member);
        let leads = |member: &usize| {
            let status = self.status(*member).filter(|_| Some(*member) != away);
            status.is_some_and(|status| status["leader"] == status["header"]["member_id"])
        };
        patiently("a leader", || (0..MEMBERS).find(leads))
    }

    /// What a member says of itself, if it answers.
    fn status(&self, member: usize) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.members[member].port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let question = "POST /v3/maintenance/status HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}";
        stream.write_all(question.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        serde_json::from_str(body).ok()
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
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

fn free_ports(count: usize) -> Vec<u16> {
    (0..count)
        .map(|_| hence_loopback::reserve().unwrap().port())
        .collect()
}

/// What stands before the port on which a member hears the others. It ends with the process.
fn proxy(member: usize, port: u16, cut: &Arc<Mutex<Option<Cut>>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let cut = Arc::clone(cut);
    std::thread::spawn(move || {
        for caller in listener.incoming() {
            let Ok(caller) = caller else { continue };
            let Ok(called) = TcpStream::connect(("127.0.0.1", port)) else {
                continue;
            };
            let wire = Arc::new(Wire {
                to: member,
                caller: Mutex::new(None),
                cut: Arc::clone(&cut),
            });
            let (from, to) = (caller.try_clone().unwrap(), called.try_clone().unwrap());
            let there = Arc::clone(&wire);
            std::thread::spawn(move || there.pass_on(from, to));
            std::thread::spawn(move || wire.pass_on(called, caller));
        }
    });
    own
}

/// A connection of one member to another.
struct Wire {
    to: usize,
    /// How the one that made it names itself, once it has.
    caller: Mutex<Option<String>>,
    cut: Arc<Mutex<Option<Cut>>>,
}

impl Wire {
    /// Passes on what comes; while the wire is cut, nothing comes through, and nobody is told.
    fn pass_on(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count) = from.read(&mut buffer) {
            self.look_for_caller(&buffer[..count]);
            while self.is_cut() {
                std::thread::sleep(Duration::from_millis(5));
            }
            if count == 0 || to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    fn look_for_caller(&self, bytes: &[u8]) {
        const HEADER: &str = "X-Server-From: ";
        let mut caller = self.caller.lock().unwrap();
        if caller.is_none() {
            let text = String::from_utf8_lossy(bytes);
            let behind = text.split_once(HEADER).map(|(_, behind)| behind);
            let named = behind.and_then(|behind| behind.split("\r\n").next());
            *caller = named.map(str::to_owned);
        }
    }

    fn is_cut(&self) -> bool {
        let caller = self.caller.lock().unwrap().clone();
        let cut = self.cut.lock().unwrap();
        cut.as_ref()
            .is_some_and(|cut| cut.member == self.to || caller.as_ref() == Some(&cut.identity))
    }
}
