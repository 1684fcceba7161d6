//! How many requests for the configuration of a node are answered in a second: by Hence, and by a bare handler that has the
//! same bytes.
//!
//! The two processes are asked in turns, in the same way: connections that are kept open, each with one request under way, for
//! nodes in random order, every node with its own token. Whoever asks needs CPU time, too, on the same cores, so beside the rate
//! stands the CPU time that the server alone took for a request.

use super::fleet::Fleet;
use super::http::{Line, get};
use super::process::Process;
use crate::rounds::median;
use hence_model::random::Random;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// So many ask at once.
pub const CONNECTIONS: usize = 64;

/// How a configuration is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a configuration file.
    Text,
    /// As the API has it.
    Json,
}

impl Form {
    /// Both.
    pub const ALL: [Form; 2] = [Form::Text, Form::Json];

    /// Where it is.
    pub fn path(self, node: &str) -> String {
        match self {
            Form::Text => format!("/config/{node}"),
            Form::Json => format!("/api/v1/nodes/{node}/config"),
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Form::Text => "text/plain; charset=utf-8",
            Form::Json => "application/json",
        }
    }
}

/// What one server did in a while.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Requests in a second.
    pub per_second: f64,
    /// The CPU time of the server for a request, in microseconds.
    pub cpu: f64,
}

/// What both did.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// How it was asked for.
    pub form: Form,
    /// Bytes in a configuration, on average.
    pub bytes: usize,
    /// The median of the rounds.
    pub hence: Rate,
    /// The median of the same rounds.
    pub bare: Rate,
    /// Requests in a second of the bare handler over those of Hence: the median of the ratios.
    pub ratio: f64,
}

/// What the bare handler is to answer: all that Hence does, by the paths.
pub async fn answers(fleet: &Fleet, file: &Path) -> io::Result<()> {
    let mut line = Line::open(fleet.server).await?;
    let mut answers = BTreeMap::new();
    for form in Form::ALL {
        for node in &fleet.nodes {
            let path = form.path(&node.name);
            let bytes = line.ask(&get(&path, &node.token)).await?;
            let text = String::from_utf8_lossy(bytes).into_owned();
            answers.insert(path, (form.content_type(), text));
        }
    }
    fs::write(file, serde_json::to_vec(&answers)?)
}

/// Asks both for every node, and says how many bytes there are if they are the same.
pub async fn agree(fleet: &Fleet, bare: SocketAddr, form: Form) -> io::Result<usize> {
    let (mut ours, mut other) = (Line::open(fleet.server).await?, Line::open(bare).await?);
    let mut bytes = 0;
    for node in &fleet.nodes {
        let request = get(&form.path(&node.name), &node.token);
        let answer = ours.ask(&request).await?;
        if answer != other.ask(&request).await? {
            let words = format!("the bare handler has something else for {}", node.name);
            return Err(io::Error::other(words));
        }
        bytes += answer.len();
    }
    Ok(bytes / fleet.nodes.len())
}

/// Asks both in turns, so many times for so long.
pub async fn compare(
    fleet: &Fleet,
    [hence, bare]: [&Process; 2],
    form: Form,
    rounds: usize,
    time: Duration,
) -> io::Result<Compared> {
    let bytes = agree(fleet, bare.address, form).await?;
    let nodes = fleet.nodes.iter();
    let requests = nodes.map(|node| get(&form.path(&node.name), &node.token));
    let requests: Arc<[Vec<u8>]> = requests.collect();
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(rate(hence, &requests, time).await?);
        others.push(rate(bare, &requests, time).await?);
    }
    let ratios = ours.iter().zip(&others);
    let ratios = ratios.map(|(hence, bare)| bare.per_second / hence.per_second);
    Ok(Compared {
        form,
        bytes,
        ratio: middle(ratios),
        hence: middle_rate(&ours),
        bare: middle_rate(&others),
    })
}

async fn rate(server: &Process, requests: &Arc<[Vec<u8>]>, time: Duration) -> io::Result<Rate> {
    let (cpu, start) = (server.cpu()?, Instant::now());
    let count = load(server.address, requests, time).await? as f64;
    let (cpu, elapsed) = (server.cpu()? - cpu, start.elapsed());
    Ok(Rate {
        per_second: count / elapsed.as_secs_f64(),
        cpu: cpu.as_secs_f64() * 1e6 / count,
    })
}

/// Asks for so long, and says how many answers there were.
async fn load(server: SocketAddr, requests: &Arc<[Vec<u8>]>, time: Duration) -> io::Result<usize> {
    let end = Instant::now() + time;
    let mut asking = JoinSet::new();
    for seed in 0..CONNECTIONS {
        let (mut line, requests) = (Line::open(server).await?, requests.clone());
        let mut random = Random::new(seed as u64);
        asking.spawn(async move {
            let mut count = 0;
            while Instant::now() < end {
                line.ask(&requests[random.below(requests.len())]).await?;
                count += 1;
            }
            Ok(count)
        });
    }
    asking.join_all().await.into_iter().sum()
}

/// The medians of some rates.
pub fn middle_rate(rates: &[Rate]) -> Rate {
    Rate {
        per_second: middle(rates.iter().map(|rate| rate.per_second)),
        cpu: middle(rates.iter().map(|rate| rate.cpu)),
    }
}

/// The median of some figures.
pub fn middle(figures: impl Iterator<Item = f64>) -> f64 {
    // Figures of measurements have no sign, so their bits are in their order.
    f64::from_bits(median(figures.map(f64::to_bits)))
}
