//! Closures around real servers, for tests: each in a directory of its own, with endpoints that nobody else has.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hence_closure::closure::{self, Closure, Manner, Published};
use hence_closure::host::{Host, Machine};
use hence_closure::server::Server;
use hence_closure::words::{Subject, Words};
use hence_ledger::entry::Origin;
use hence_ledger::{Command, Key, Value};
use hence_store::{LOCKED, Refused, Request};

use crate::generate::Pool;

/// How long something may take that takes a moment.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A root that goes with the test, and its server with it.
pub struct Root {
    pub path: PathBuf,
    host: Machine,
}

impl Root {
    pub fn new(server: Server) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("hence-closure-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let path = closure::init(&Machine, &path, server).expect("a closure can be made");
        Self {
            path,
            host: Machine,
        }
    }

    pub fn open(&self) -> Closure<'_> {
        self.open_on(&self.host)
    }

    /// The closure, on another machine. Another test that is just starting a process holds all files for a moment.
    pub fn open_on<'h>(&self, host: &'h dyn Host) -> Closure<'h> {
        let begun = Instant::now();
        loop {
            match Closure::open(host, &self.path) {
                Ok(closure) => return closure,
                Err(Refused::Failed(error)) if error.code == LOCKED && begun.elapsed() < LIMIT => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(refused) => panic!("{refused:?}"),
            }
        }
    }

    /// What the server complained about.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path.join("log/error.log")).unwrap_or_default()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = self.open().stop();
        let _ = self.host.remove(&self.path);
    }
}

/// Endpoints at which nobody listens.
pub fn free_endpoints(count: usize) -> Vec<SocketAddr> {
    (0..count)
        .map(|_| hence_loopback::reserve().unwrap())
        .collect()
}

/// Whoever tries something.
pub fn request() -> Request {
    Request {
        author: "tester".to_owned(),
        owner: "site".to_owned(),
        time: 0,
        message: String::new(),
        origin: Origin::Command(String::new()),
        objects: Vec::new(),
        if_version: None,
    }
}

/// Commits commands, whatever they take from whom.
pub fn commit(closure: &mut Closure<'_>, commands: &[Command]) -> Result<Published, Refused> {
    let take =
        ["host", "listen", "default", "names", "feature", "right"].map(|name| Key::new([name]));
    let manner = Manner {
        take: &take,
        dormant: true,
    };
    closure.commit(&request(), commands, manner)
}

/// The assertion that is written so.
pub fn says(words: &str) -> (Key, Value) {
    let words: Vec<&str> = words.split(' ').collect();
    let (subject, rest) = Subject::read(&words).unwrap();
    let said = subject.said(rest).unwrap();
    (subject.key(), Value::from(&said))
}

/// All that is asserted.
pub fn all(assertions: &[&str]) -> Command {
    let set = assertions.iter().map(|words| says(words)).collect();
    Command::apply("site", set, &Words)
}

/// Stages all that a pool can assert.
pub fn stage(closure: &Closure<'_>, pool: &Pool) {
    for blob in &pool.blobs {
        closure.content().stage_bytes(blob).unwrap();
    }
    for certificate in &pool.certificates {
        closure.certificates().stage(certificate).unwrap();
    }
    for tree in &pool.trees {
        closure
            .content()
            .stage_bytes(tree.to_text().as_bytes())
            .unwrap();
    }
}
