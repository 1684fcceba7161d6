//! What a server counts, as Prometheus reads it.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Requests by the first digit of their status.
    requests: [AtomicU64; 6],
    micros: AtomicU64,
    /// Connections that are open.
    pub connections: AtomicU64,
    /// Those who watch events.
    pub watchers: AtomicU64,
    /// Nodes that checked in.
    pub check_ins: AtomicU64,
}

/// What is known at the moment it is asked for.
pub(crate) struct Gauges {
    pub version: u64,
    pub nodes: usize,
    pub tokens: usize,
}

impl Metrics {
    /// Notes the end of a request.
    pub fn request(&self, status: u16, micros: u64) {
        let class = usize::from(status / 100).min(5);
        self.requests[class].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// All of it.
    pub fn text(&self, gauges: &Gauges) -> String {
        let mut text = String::new();
        let mut tell = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let one = |value: u64| [(String::new(), value)];
        let requests = self.requests.iter().enumerate().skip(1);
        let requests =
            requests.map(|(class, count)| (format!("{{status=\"{class}xx\"}}"), load(count)));
        let requests: Vec<(String, u64)> = requests.collect();
        tell(
            "hence_requests_total",
            "counter",
            "Requests answered.",
            &requests,
        );
        tell(
            "hence_request_microseconds_total",
            "counter",
            "Time spent on requests.",
            &one(load(&self.micros)),
        );
        tell(
            "hence_connections",
            "gauge",
            "Open connections.",
            &one(load(&self.connections)),
        );
        tell(
            "hence_watchers",
            "gauge",
            "Watchers of events.",
            &one(load(&self.watchers)),
        );
        tell(
            "hence_check_ins_total",
            "counter",
            "Check-ins of nodes.",
            &one(load(&self.check_ins)),
        );
        tell(
            "hence_ledger_version",
            "gauge",
            "The newest version of the ledger.",
            &one(gauges.version),
        );
        tell(
            "hence_nodes",
            "gauge",
            "Nodes of the fleet.",
            &one(gauges.nodes as u64),
        );
        tell(
            "hence_tokens",
            "gauge",
            "Tokens that are asserted.",
            &one(gauges.tokens as u64),
        );
        text
    }
}
