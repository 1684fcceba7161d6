//! A server with a small fleet, and a node of it in a directory.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hence_agent::{Agent, Ended, Error, File, Form, Host, Machine, Settings, Subsystem};
use hence_api::words::{Activated, Activation, Commands, Commit, Done, Report};
use hence_api::{Address, Client};
use hence_ledger::entry::Origin;
use hence_ledger::{Command, Key, Value};
use hence_loopback::reserve;
use hence_server::{Hub, Limits, Parts, Signals, Stop, sum};
use hence_service::seal::Seal;
use hence_service::{Leave, Service};
use hence_store::{Memory, Request};

/// Tokens that the ledger knows.
pub const ADMINISTRATOR: &str = "administrator";
pub const N1: &str = "token of n1";
pub const JOIN: &str = "enrolment";

/// What the server seals secrets with.
pub fn seal() -> Seal {
    Seal::new(&[7; 32])
}

/// A server. It ends with the test.
pub struct Fleet {
    pub server: String,
    pub administrator: Client,
    hub: Arc<Hub>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Fleet {
    /// With a node `n1`, whose `httpd` restarts for another PORT, and whose `logger` reads LOG again.
    pub fn new() -> Self {
        let mut service = Service::open(Box::new(Memory::default())).unwrap();
        let token = |name: &str| Key::new(["token", name]);
        let nothing = Value::Nothing;
        let assertions = [
            (token("root"), Value::text(sum(ADMINISTRATOR))),
            (
                token("root").child("may").child("administer"),
                Value::text(""),
            ),
            (token("n1"), Value::text(sum(N1))),
            (token("n1").child("node"), Value::text("n1")),
            (token("newcomers"), Value::text(sum(JOIN))),
            (token("newcomers").child("join"), nothing),
        ];
        let commands = assertions.map(|(key, value)| Command::Assert {
            owner: "access".into(),
            key,
            value,
        });
        let request = Request {
            author: "test".to_owned(),
            owner: "access".to_owned(),
            time: 1,
            message: String::new(),
            origin: Origin::Command("test".to_owned()),
            objects: Vec::new(),
            if_version: None,
        };
        service
            .commit(&request, &commands, &Leave::default())
            .unwrap();
        let random = AtomicU64::new(1);
        let hub = Hub::new(Parts {
            service,
            seal: Some(seal()),
            clock: Arc::new(|| Machine::default().now()),
            random: Arc::new(move |bytes| {
                for byte in bytes {
                    *byte = random.fetch_add(7, Ordering::Relaxed) as u8;
                }
            }),
            log: Arc::new(|_| {}),
            limits: Limits::default(),
            release: "test",
            shared: false,
        });
        let (server, stop, thread) = serve(&hub, &reserve().unwrap().to_string());
        let fleet = Self {
            administrator: client(&server, ADMINISTRATOR),
            server,
            hub,
            stop,
            thread: Some(thread),
        };
        fleet.say(
            "assert node/n1; assert param/PORT; assert param/PORT/restart; assert param/LOG
             assert subsystem/httpd; assert subsystem/httpd/param/PORT
             assert subsystem/logger; assert subsystem/logger/param/LOG
             assert feature/Web; assert node/n1/feature/Web 1
             assert node/n1/param/PORT 80; assert node/n1/param/LOG error",
        );
        fleet
    }

    /// Commands, and nothing else yet.
    pub fn say(&self, commands: &str) {
        let commit = Commit {
            commands: Commands::Text(commands.to_owned()),
            ..Commit::default()
        };
        let _: Done = self.administrator.post("commits", &commit).unwrap();
    }

    /// Everything that was said is to run. The version.
    pub fn activate(&self) -> u64 {
        let done: Activated = self
            .administrator
            .post("activations", &Activation::default())
            .unwrap();
        done.version.unwrap()
    }

    pub fn set(&self, parameter: &str, value: &str) -> u64 {
        self.say(&format!("assert node/n1/param/{parameter} \"{value}\""));
        self.activate()
    }

    pub fn report(&self) -> Report {
        self.administrator.get("nodes/n1/report").unwrap()
    }

    /// The server goes away.
    pub fn end(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// And comes back at the same address.
    pub fn begin_again(&mut self) {
        let address = self.server.strip_prefix("http://").unwrap();
        let (_, stop, thread) = serve(&self.hub, address);
        (self.stop, self.thread) = (stop, Some(thread));
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn serve(hub: &Arc<Hub>, address: &str) -> (String, Stop, JoinHandle<()>) {
    let listener = TcpListener::bind(address).unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let (stop, hub) = (Stop::new(), Arc::clone(hub));
    let stopped = stop.clone();
    let thread = std::thread::spawn(move || {
        hence_server::serve(&hub, listener, None, &stopped, Signals::Ignored).unwrap();
    });
    (server, stop, thread)
}

/// Somebody who does not wait long.
pub fn client(server: &str, token: &str) -> Client {
    let address = Address {
        server: server.to_owned(),
        token: token.to_owned(),
        certificates: None,
    };
    Client::limited(address, Duration::from_secs(2)).unwrap()
}

/// A node in a directory of its own.
pub struct Node {
    pub directory: PathBuf,
    pub settings: Settings,
    pub client: Client,
}

impl Node {
    /// It writes `site.conf` and, by a template, `port`; what its subsystems read when they are told is in `told`. A file
    /// that says BROKEN is not valid, and nothing starts with one that says BAD.
    pub fn new(name: &str, fleet: &Fleet) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(
            directory.join("port.template"),
            "port=${PORT}\nmore=${MORE:-none}\n",
        )
        .unwrap();
        let at = |name: &str| directory.join(name).display().to_string();
        let shell = |script: &str, what: &str| {
            let (file, told) = (at("site.conf"), at("told"));
            ["sh", "-c", script, what, &file, &told]
                .map(str::to_owned)
                .to_vec()
        };
        let tell = "{ echo \"== $0\"; cat \"$1\"; } >> \"$2\"; ! grep -q BAD \"$1\"";
        let subsystem = |name: &str| Subsystem {
            restart: Some(shell(tell, &format!("restart {name}"))),
            reread: Some(shell(tell, &format!("reread {name}"))),
        };
        let names = ["httpd", "logger"].map(|name| (name.to_owned(), subsystem(name)));
        let validate = ["sh", "-c", "! grep BROKEN \"$0\"", "{file}"].map(str::to_owned);
        let settings = Settings {
            node: "n1".to_owned(),
            directory: directory.join("agent"),
            interval: Duration::from_secs(60),
            retry: Duration::from_secs(600),
            limit: Duration::from_secs(10),
            files: vec![
                File {
                    path: at("site.conf"),
                    form: Form::Parameters,
                    mode: None,
                    validate: Some(validate.to_vec()),
                },
                File {
                    path: at("port"),
                    form: Form::Template(directory.join("port.template")),
                    mode: Some(0o600),
                    validate: None,
                },
            ],
            survival: Vec::new(),
            advertise: Vec::new(),
            overrides: None,
            subsystems: BTreeMap::from(names),
            restart_all: None,
            facts: None,
            web: None,
        };
        Self {
            directory,
            settings,
            client: client(&fleet.server, N1),
        }
    }

    pub fn round(&self) -> Ended {
        self.round_on(&Machine::default()).unwrap()
    }

    pub fn round_on(&self, host: &dyn Host) -> Result<Ended, Error> {
        let agent = Agent {
            host,
            settings: &self.settings,
            client: self.client.clone(),
            local: &|_| Ok(Vec::new()),
            machine: &hence_closure::host::Machine,
        };
        agent.round()
    }

    /// What a file of the node holds; nothing if it is not there.
    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.directory.join(name)).unwrap_or_default()
    }

    /// Who was told, in order.
    pub fn told(&self) -> Vec<String> {
        let told = self.file("told");
        let names = told.lines().filter_map(|line| line.strip_prefix("== "));
        names.map(str::to_owned).collect()
    }

    pub fn forget_told(&self) {
        let _ = fs::remove_file(self.directory.join("told"));
    }
}

/// A file of parameters.
pub fn site(version: u64, port: &str, log: &str) -> String {
    format!(
        "# n1, version {version}; what is changed here by hand is put right\nLOG = {log}\nPORT = {port}\n"
    )
}
