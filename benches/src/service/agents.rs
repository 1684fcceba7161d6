//! How long until a fleet runs what was activated: agents that speak to the server as real ones do, and write no files.
//!
//! Each listens for news on one connection. When there is some it waits a little, as it does so that not all ask in the same
//! moment, opens another connection, and goes a round: check in, fetch, ask what the change means, report.

use super::fleet::{Fleet, Node};
use super::http::{Line, get, post};
use super::{LIMIT, OPENING};
use hence_api::words::{self, Changes, CheckedIn, Configuration, Outcome, Page, Report};
use hence_model::random::Random;
use serde::de::DeserializeOwned;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};

/// An agent for each node of a fleet.
pub struct Agents {
    count: usize,
    rounds: mpsc::UnboundedReceiver<io::Result<()>>,
}

/// What it took until all nodes ran what was activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Converged {
    /// From the request to activate until the server's list of nodes said so.
    pub time: Duration,
    /// Requests of all agents together.
    pub requests: usize,
    /// The most memory that the server held, in bytes; 0 if nobody asked the system.
    pub peak: u64,
}

/// In a round.
const REQUESTS: usize = 4;

/// So long agents wait at most when there is news.
pub const PAUSE: Duration = Duration::from_secs(2);

impl Agents {
    /// Starts them, and waits until all nodes run what is active.
    pub async fn begin(fleet: &Fleet) -> io::Result<Agents> {
        let (tell, rounds) = mpsc::unbounded_channel();
        let opening = Arc::new(Semaphore::new(OPENING));
        for (seed, node) in fleet.nodes.iter().enumerate() {
            let agent = Agent {
                node: node.clone(),
                server: fleet.server,
                applied: None,
                random: Random::new(seed as u64),
            };
            tokio::spawn(agent.run(opening.clone(), tell.clone()));
        }
        let mut agents = Agents {
            count: fleet.nodes.len(),
            rounds,
        };
        agents.round().await?;
        all_run(fleet).await?;
        Ok(agents)
    }

    /// Activates a change, and waits until all nodes run it.
    pub async fn converge(&mut self, fleet: &mut Fleet) -> io::Result<Converged> {
        fleet.change()?;
        let mut line = Line::open(fleet.server).await?;
        let request = fleet.activation();
        let start = Instant::now();
        line.ask(&request).await?;
        self.round().await?;
        all_run(fleet).await?;
        Ok(Converged {
            time: start.elapsed(),
            requests: self.count * REQUESTS,
            peak: 0,
        })
    }

    /// Waits until each agent has gone a round.
    async fn round(&mut self) -> io::Result<()> {
        for _ in 0..self.count {
            let ended = timeout(LIMIT, self.rounds.recv()).await?;
            ended.ok_or_else(|| io::Error::other("the agents are gone"))??;
        }
        Ok(())
    }
}

/// The server's own list must say that each node runs what it is to run.
pub async fn all_run(fleet: &Fleet) -> io::Result<()> {
    let mut line = Line::open(fleet.server).await?;
    let mut after = String::new();
    let mut converged = 0;
    loop {
        let path = format!("/api/v1/nodes?limit=1000&after={after}");
        let page: Page<words::Node> = read(line.ask(&get(&path, &fleet.admin)).await?)?;
        let nodes = page.items.iter();
        converged += nodes
            .filter(|node| node.applied == Some(node.desired))
            .count();
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    match converged == fleet.nodes.len() {
        true => Ok(()),
        false => {
            let all = fleet.nodes.len();
            let words = format!("{converged} of {all} nodes run what they are to run");
            Err(io::Error::other(words))
        }
    }
}

struct Agent {
    node: Node,
    server: SocketAddr,
    applied: Option<u64>,
    random: Random,
}

impl Agent {
    async fn run(mut self, opening: Arc<Semaphore>, tell: mpsc::UnboundedSender<io::Result<()>>) {
        let turn = opening.acquire().await;
        let watching = self.begin().await;
        drop(turn);
        let mut line = match watching {
            Ok(line) => line,
            Err(error) => return drop(tell.send(Err(error))),
        };
        while tell.send(Ok(())).is_ok() && line.activation().await.is_ok() {
            sleep(self.pause()).await;
            if let Err(error) = self.round().await {
                return drop(tell.send(Err(error)));
            }
        }
    }

    async fn begin(&mut self) -> io::Result<Line> {
        let line = Line::watch(self.server, &self.node.name, &self.node.token).await?;
        self.round().await?;
        Ok(line)
    }

    /// As `hence agent` does it, with the interval that it has if nobody says otherwise.
    fn pause(&mut self) -> Duration {
        let range = PAUSE.as_millis() as usize + 1;
        Duration::from_millis(self.random.below(range) as u64)
    }

    async fn round(&mut self) -> io::Result<()> {
        let mut line = Line::open(self.server).await?;
        let CheckedIn { version, .. } = read(line.ask(&self.check_in()).await?)?;
        let config: Configuration = read(line.ask(&self.get("config")).await?)?;
        if config.version != version {
            let words = format!("{} was told another version than it got", self.node.name);
            return Err(io::Error::other(words));
        }
        let since = self.applied.unwrap_or(0);
        let changes = self.get(&format!("changes?since={since}"));
        let _: Changes = read(line.ask(&changes).await?)?;
        self.applied = Some(version);
        line.ask(&self.check_in()).await.map(drop)
    }

    fn check_in(&self) -> Vec<u8> {
        let facts = [
            ("architecture", "x86_64"),
            ("cpus", "8"),
            ("hostname", self.node.name.as_str()),
            ("kernel", "6.1.0-18-amd64"),
            ("load", "0.42"),
            ("memory_mb", "16384"),
            ("os", "debian"),
            ("os_version", "12"),
        ];
        let facts = facts.map(|(name, fact)| (name.to_owned(), fact.to_owned()));
        let report = Report {
            applied: self.applied,
            outcome: self.applied.map(|_| Outcome::Applied),
            facts: facts.into(),
            ..Report::default()
        };
        let path = format!("/api/v1/nodes/{}/check-in", self.node.name);
        let report = serde_json::to_value(report).expect("a report can be written");
        post(&path, &self.node.token, &report)
    }

    fn get(&self, what: &str) -> Vec<u8> {
        let path = format!("/api/v1/nodes/{}/{what}", self.node.name);
        get(&path, &self.node.token)
    }
}

fn read<T: DeserializeOwned>(answer: &[u8]) -> io::Result<T> {
    serde_json::from_slice(answer).map_err(io::Error::other)
}
