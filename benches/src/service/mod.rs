//! The service under load: real processes on this machine, and very many who use them.
//!
//! process    a server as a process
//! fleet      what it serves
//! http       one who asks
//! bare       the least that answering can cost
//! requests   configurations of nodes, next to that
//! watchers   very many who hear of an activation
//! agents     … and who do something about it

pub mod agents;
pub mod bare;
pub mod fleet;
pub mod http;
pub mod process;
pub mod requests;
pub mod watchers;

use crate::bounds::Bound;
use crate::rounds::median;
use agents::{Agents, Converged};
use fleet::Fleet;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use process::Process;
use requests::{Compared, Form, compare};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;
use watchers::Watchers;

/// The word by which it is asked for.
pub const NAME: &str = "service";

/// Nothing is waited for longer than this.
const LIMIT: Duration = Duration::from_secs(120);
/// So many open their connections at once: more would wait for each other.
const OPENING: usize = 64;

/// What is asked of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Configurations of nodes.
    Requests,
    /// To tell very many of an activation.
    Watchers,
    /// To bring a fleet to it.
    Agents,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Requests, Part::Watchers, Part::Agents];

    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Part::Requests => "service-requests",
            Part::Watchers => "service-watchers",
            Part::Agents => "service-agents",
        }
    }
}

/// How much is asked of the service.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Nodes whose configurations are asked for.
    pub nodes: usize,
    /// How long each server is asked in a round.
    pub time: Duration,
    /// Connections that only listen.
    pub watchers: usize,
    /// Nodes with an agent each.
    pub agents: usize,
}

/// What is promised about.
pub const DEMAND: Demand = Demand {
    nodes: 1000,
    time: Duration::from_secs(1),
    watchers: 10_000,
    agents: 5000,
};

/// Very little of everything, to see that it works.
pub const SMALL: Demand = Demand {
    nodes: 10,
    time: Duration::from_millis(50),
    watchers: 20,
    agents: 10,
};

/// What was found out; of several rounds, the medians.
#[derive(Clone, Debug)]
pub struct Figures {
    /// What was asked.
    pub demand: Demand,
    /// Configurations, as text and as JSON.
    pub requests: Vec<Compared>,
    /// How long until the last watcher had heard, from the request to activate.
    pub heard: Option<Duration>,
    /// How long until all nodes ran what was activated.
    pub converged: Option<Converged>,
}

/// Starts the servers, and asks as much of them as is demanded.
pub fn measure(
    parts: &[Part],
    demand: Demand,
    [hence, bench]: [&Path; 2],
    directory: &Path,
    rounds: usize,
) -> io::Result<Figures> {
    raise_limit(demand)?;
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory)?;
    let mut figures = Figures {
        demand,
        requests: Vec::new(),
        heard: None,
        converged: None,
    };
    let few = rounds.min(MOST_ACTIVATIONS);
    for part in parts {
        eprintln!("{}: asking", part.name());
        let nodes = match part {
            Part::Requests | Part::Watchers => demand.nodes,
            Part::Agents => demand.agents,
        };
        let (server, mut fleet) = served(hence, &directory.join(part.name()), nodes)?;
        runtime()?.block_on(async {
            match part {
                Part::Requests => {
                    let file = directory.join("answers.json");
                    requests::answers(&fleet, &file).await?;
                    let bare = Process::start(bench, &[bare::NAME, &file.to_string_lossy()])?;
                    for form in Form::ALL {
                        let both = [&server, &bare];
                        let compared = compare(&fleet, both, form, rounds, demand.time).await?;
                        figures.requests.push(compared);
                    }
                }
                Part::Watchers => {
                    let mut watchers = Watchers::begin(&fleet, demand.watchers).await?;
                    let mut heard = Vec::new();
                    for _ in 0..few {
                        heard.push(watchers.hear(&mut fleet).await?);
                    }
                    figures.heard = Some(median(heard.into_iter()));
                }
                Part::Agents => {
                    let mut agents = Agents::begin(&fleet).await?;
                    let mut converged = Vec::new();
                    for _ in 0..few {
                        converged.push(agents.converge(&mut fleet).await?);
                    }
                    let converged = median(converged.into_iter());
                    let peak = server.peak()?;
                    figures.converged = Some(Converged { peak, ..converged });
                }
            }
            Ok::<_, io::Error>(())
        })?;
    }
    fs::remove_dir_all(directory)?;
    Ok(figures)
}

/// All who ask are on one thread: they do little.
fn runtime() -> io::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build()
}

/// Activations that are waited for: each takes seconds.
const MOST_ACTIVATIONS: usize = 3;

/// What the service is told about those who ask: they all come from one address here, so it may ask as often as a whole
/// fleet behind one proxy would, and is counted like everybody.
pub const OPTIONS: [&str; 4] = ["--rate", "1000000", "--log", "none"];

/// A server with a new fleet.
fn served(hence: &Path, directory: &Path, nodes: usize) -> io::Result<(Process, Fleet)> {
    fs::create_dir_all(directory)?;
    let (ledger, token) = (directory.join("ledger"), directory.join("token"));
    let (ledger, file) = (ledger.to_string_lossy(), token.to_string_lossy());
    let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--data", &ledger];
    arguments.extend(["--admin-token-file", &file]);
    arguments.extend(OPTIONS);
    let server = Process::start(hence, &arguments)?;
    let admin = fs::read_to_string(&token)?;
    let fleet = Fleet::make(server.address, admin.trim_end(), nodes)?;
    Ok((server, fleet))
}

/// As many descriptors as the system allows: each connection takes one, and an agent two.
fn raise_limit(demand: Demand) -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let needed = demand.watchers.max(2 * demand.agents) as u64 + SPARE;
    match most >= needed {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "{needed} descriptors are needed for so many connections, and the system allows {most}: \
             raise the hard limit (`ulimit -Hn {needed}`), or leave out `{NAME}`"
        ))),
    }
}

/// Descriptors for everything else.
const SPARE: u64 = 256;

impl Figures {
    /// What is promised about them.
    pub fn bounds(&self) -> Vec<Bound> {
        let requests = self.requests.iter().map(|compared| Bound {
            what: format!(
                "{NAME}: requests/s of a bare handler / hence, {}",
                compared.form.path("NODE")
            ),
            measured: compared.ratio,
            at_most: 2.0,
            unit: "",
        });
        let heard = self.heard.map(|heard| Bound {
            what: format!(
                "{NAME}: {} watchers hear of an activation",
                self.demand.watchers
            ),
            measured: heard.as_secs_f64(),
            at_most: 1.0,
            unit: "s",
        });
        requests.chain(heard).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hence_api::words::{Grant, NewToken};
    use hence_ledger::entry::Origin;
    use hence_server::{Hub, Limits, Parts, Signals, Stop};
    use hence_service::Service;
    use hence_store::{Memory, Request};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::Arc;

    /// A server in this process, which ends with the test.
    struct Server(SocketAddr, Stop);

    const ADMIN: &str = "hence_admin";

    impl Server {
        fn start() -> Server {
            let mut service = Service::open(Box::new(Memory::default())).unwrap();
            let request = Request {
                author: "test".into(),
                owner: "access".into(),
                time: 0,
                message: String::new(),
                origin: Origin::Command("test".into()),
                objects: Vec::new(),
                if_version: None,
            };
            let token = NewToken {
                name: "admin".into(),
                may: vec![Grant {
                    role: "administer".into(),
                    keys: Vec::new(),
                }],
                ..NewToken::default()
            };
            let added = service.add_token(&request, &token, &hence_server::sum(ADMIN));
            added.unwrap();
            let hub = Hub::new(Parts {
                service,
                seal: None,
                clock: Arc::new(|| 0),
                random: Arc::new(|_| {}),
                log: Arc::new(|_| {}),
                limits: Limits::default(),
                release: "test",
                shared: false,
            });
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let stop = Stop::new();
            let ending = stop.clone();
            std::thread::spawn(move || {
                hence_server::serve(&hub, listener, None, &ending, Signals::Ignored).unwrap();
            });
            Server(address, stop)
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            self.1.stop();
        }
    }

    fn run<T>(task: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        runtime()?.block_on(task)
    }

    #[test]
    fn all_hear_of_each_activation_and_run_it() {
        let server = Server::start();
        let mut fleet = Fleet::make(server.0, ADMIN, SMALL.nodes).unwrap();
        let requests = run(async {
            let mut watchers = Watchers::begin(&fleet, SMALL.watchers).await?;
            watchers.hear(&mut fleet).await?;
            assert!(agents::all_run(&fleet).await.is_err(), "nobody runs it");
            let mut agents = Agents::begin(&fleet).await?;
            agents::all_run(&fleet).await?;
            Ok(agents.converge(&mut fleet).await?.requests)
        });
        assert_eq!(requests.unwrap(), SMALL.nodes * 4);
    }

    #[test]
    fn a_bare_server_that_has_something_else_is_found_out() {
        let server = Server::start();
        let fleet = Fleet::make(server.0, ADMIN, SMALL.nodes).unwrap();
        let file = std::env::temp_dir().join(format!("hence-bench-{}", std::process::id()));
        run(requests::answers(&fleet, &file)).unwrap();
        let answers = fs::read_to_string(&file).unwrap();
        let [same, other] = [answers.clone(), answers.replace("version", "edition")].map(|text| {
            fs::write(&file, text).unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let file = file.clone();
            std::thread::spawn(move || bare::serve_at(listener, &file));
            // It has read the file once it answers.
            Form::ALL.map(|form| run(requests::agree(&fleet, address, form)).is_ok())
        });
        fs::remove_file(&file).unwrap();
        assert_eq!((same, other), ([true; 2], [false; 2]));
    }
}
