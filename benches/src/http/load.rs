//! How many requests a closure's server answers in a second, next to a configuration by hand; they are asked in turns, by
//! `ab` with connections that are kept open. Whoever asks needs CPU time, too, on the same cores, so beside the rate stands
//! the CPU time that the server took for a request.

use super::Size;
use super::sites::{self, ByHand, Served};
use crate::service::requests::Rate;
use hence_closure::address::Endpoint;
use hence_closure::host::{Host, Machine};
use hence_closure::probe::{self, Response};
use hence_closure::server::Server;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Who asks.
pub const PROGRAM: &str = "ab";

/// So many ask at once.
const CONNECTIONS: &str = "8";

/// How often each is asked in a round. Which of a server's processes has how many of the connections is chance, and worth a
/// third of a run's rate: many short runs say more than a long one.
const RUNS: usize = 10;

/// A closure answers a tenth less, at most.
pub const AT_MOST: f64 = 1.11;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A file of a directory.
    File,
    /// What a directory answers.
    Index,
    /// A file of a site about which very many types are said; held against one about which there are none.
    Typed,
}

impl Asked {
    const ALL: [Asked; 3] = [Asked::File, Asked::Index, Asked::Typed];

    fn path(self) -> &'static str {
        match self {
            Asked::File | Asked::Typed => "/d1/f7.html",
            Asked::Index => "/d1/",
        }
    }
}

/// What was found out.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// Whose requests they are.
    pub server: Server,
    /// What was asked for.
    pub asked: Asked,
    /// How many types are said, if it is about them.
    pub types: usize,
    /// What the closure's server did in all runs.
    pub hence: Rate,
    /// … and what it is held against.
    pub other: Rate,
}

impl Compared {
    /// What is divided by what.
    pub fn what(&self) -> String {
        let (server, types) = (self.server.word(), self.types);
        match self.asked {
            Asked::File => format!("{server} by hand / in a closure, a file"),
            Asked::Index => format!("{server} by hand / in a closure, an index"),
            Asked::Typed => format!("{server} in a closure, without / with {types} types"),
        }
    }

    /// How many times as many the other answers.
    pub fn ratio(&self) -> f64 {
        self.other.per_second / self.hence.per_second
    }
}

/// Starts both, and asks them in turns.
pub fn compare(
    server: Server,
    size: Size,
    directory: &Path,
    rounds: usize,
) -> io::Result<Vec<Compared>> {
    let content = directory.join("www/site");
    fs::create_dir_all(&content)?;
    sites::write_content(&content)?;
    let served = Served::new(&directory.join("root"), server)?;
    let mut closure = served.open()?;
    let (ours, other) = (hence_loopback::reserve()?, hence_loopback::reserve()?);
    let assertions = sites::assertions(&closure, &content, ours, size)?;
    sites::commit(&mut closure, &assertions)?;
    closure.start().map_err(sites::refused)?;
    let by_hand = ByHand::start(&closure, &directory.join("hand"), &content, other)?;
    drop(closure);
    let site = sites::name(3);
    agree(ours, other, &site)?;
    let [ours, other] = [(ours, "root"), (other, "hand")].map(|(endpoint, name)| Running {
        endpoint,
        process: directory.join(name).join("run/server.pid"),
    });
    let mut compared = Vec::new();
    for asked in Asked::ALL {
        let ask = |server: &Running, name: &str| rate(server, name, asked.path(), size.requests);
        let (mut own, mut others) = (Vec::new(), Vec::new());
        // A server that was just started has yet to start processes and to fill caches.
        for server in [&ours, &other] {
            (0..RUNS).try_for_each(|_| ask(server, &site).map(drop))?;
        }
        for _ in 0..rounds * RUNS {
            match asked {
                Asked::File | Asked::Index => {
                    own.push(ask(&ours, &site)?);
                    others.push(ask(&other, &site)?);
                }
                Asked::Typed => {
                    own.push(ask(&ours, sites::TYPED)?);
                    others.push(ask(&ours, &site)?);
                }
            }
        }
        compared.push(Compared {
            server,
            asked,
            types: size.types,
            hence: together(&own),
            other: together(&others),
        });
    }
    drop(by_hand);
    Ok(compared)
}

/// A server, and the file with the number of its first process.
struct Running {
    endpoint: Endpoint,
    process: PathBuf,
}

impl Running {
    /// The CPU time that its processes used so far, also those that have ended.
    fn cpu(&self) -> io::Result<Duration> {
        let first = fs::read_to_string(&self.process)?;
        let first = first.trim().parse().map_err(io::Error::other)?;
        let mut ticks = 0;
        for (process, fields) in [(first, 4)]
            .into_iter()
            .chain(Machine.children(first).into_iter().map(|one| (one, 2)))
        {
            // One that has ended meanwhile is counted with the first.
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let stat = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
            let used = stat.split_whitespace().skip(11).take(fields);
            ticks += used.map(|one| one.parse().unwrap_or(0)).sum::<u32>();
        }
        Ok(TICK * ticks)
    }
}

/// What the system counts CPU time in.
const TICK: Duration = Duration::from_millis(10);

/// Both answer the same.
fn agree(ours: Endpoint, other: Endpoint, site: &str) -> io::Result<()> {
    for path in ["/", "/d1/", "/d1/f7.html", "/d0/odd.dat", "/old", "/none"] {
        let (own, other) = (answer(ours, site, path)?, answer(other, site, path)?);
        let what = |answer: &Response| {
            let content = (answer.status == 200).then(|| answer.body.clone());
            let media = content.as_ref().and(answer.header("content-type"));
            (answer.status, media.map(str::to_owned), content)
        };
        if what(&own) != what(&other) {
            let words = format!("{site}{path}: {} by hand, {}", other.status, own.status);
            return Err(io::Error::other(words));
        }
    }
    Ok(())
}

/// An answer, from a server that may be just starting.
fn answer(endpoint: Endpoint, site: &str, path: &str) -> io::Result<Response> {
    let begun = Instant::now();
    loop {
        match probe::ask(&Machine, endpoint, site, path) {
            Err(_) if begun.elapsed() < LIMIT => std::thread::sleep(Duration::from_millis(5)),
            answer => return answer,
        }
    }
}

/// How long a server may take to answer for the first time.
const LIMIT: Duration = Duration::from_secs(60);

fn rate(server: &Running, site: &str, path: &str, requests: usize) -> io::Result<Rate> {
    let (endpoint, before) = (server.endpoint, server.cpu()?);
    let output = Command::new(PROGRAM)
        .args(["-q", "-k", "-c", CONNECTIONS, "-n", &requests.to_string()])
        .args(["-H", &format!("Host: {site}")])
        .arg(format!("http://{endpoint}{path}"))
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let per_second = read_rate(&said).ok_or_else(|| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        io::Error::other(format!("{PROGRAM} said {said}{complaint}"))
    })?;
    let cpu = server.cpu()?.saturating_sub(before);
    let cpu = cpu.as_secs_f64() * 1e6 / requests as f64;
    Ok(Rate { per_second, cpu })
}

/// What all runs come to. None is the middle one: they are of several kinds.
fn together(runs: &[Rate]) -> Rate {
    let count = runs.len() as f64;
    let seconds: f64 = runs.iter().map(|run| 1.0 / run.per_second).sum();
    let cpu: f64 = runs.iter().map(|run| run.cpu).sum();
    Rate {
        per_second: count / seconds,
        cpu: cpu / count,
    }
}

/// Requests in a second, if all were answered well.
fn read_rate(said: &str) -> Option<f64> {
    let value = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok())
    };
    let is_well = value("Failed requests:") == Some(0.0) && value("Non-2xx responses:").is_none();
    value("Requests per second:").filter(|_| is_well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_count_by_the_time_that_they_take() {
        let rate = |per_second, cpu| Rate { per_second, cpu };
        let both = together(&[rate(100.0, 1.0), rate(300.0, 3.0)]);
        assert_eq!((both.per_second.round(), both.cpu), (150.0, 2.0));
    }

    #[test]
    fn a_rate_counts_only_if_all_is_well() {
        let said = "Failed requests:        0\nRequests per second:    12494.20 [#/sec] (mean)\n";
        assert_eq!(read_rate(said), Some(12_494.2));
        assert_eq!(
            read_rate(&format!("Non-2xx responses:      7\n{said}")),
            None
        );
        assert_eq!(read_rate(&said.replace(" 0\n", " 3\n")), None);
    }
}
