//! A server in a process of its own, and what the system says about it.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that ends when it is no longer needed.
pub struct Process {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Process {
    /// Starts a server that says where it listens with its first line.
    pub fn start(program: &Path, arguments: &[&str]) -> io::Result<Process> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = &mut child.stdout {
            BufReader::new(output).read_line(&mut line)?;
        }
        let address = line.trim_end().strip_prefix("listening at http://");
        match address.and_then(|address| address.parse().ok()) {
            Some(address) => Ok(Process { child, address }),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                let words = format!("{} does not listen: {line}", program.display());
                Err(io::Error::other(words))
            }
        }
    }

    /// The CPU time that it used so far.
    pub fn cpu(&self) -> io::Result<Duration> {
        let stat = self.told("stat")?;
        // The name of the program, in parentheses, may hold anything.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks = ticks.map(|ticks| ticks.parse().unwrap_or(0));
        Ok(TICK * ticks.sum::<u32>())
    }

    /// The most memory that it held so far, in bytes.
    pub fn peak(&self) -> io::Result<u64> {
        let status = self.told("status")?;
        let mut lines = status.lines();
        let peak = lines.find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
        let kibibytes: Option<u64> = peak.and_then(|peak| peak.trim().parse().ok());
        let unknown = || io::Error::other("the system does not tell the memory of a process");
        Ok(kibibytes.ok_or_else(unknown)? * 1024)
    }

    fn told(&self, what: &str) -> io::Result<String> {
        fs::read_to_string(format!("/proc/{}/{what}", self.child.id()))
    }
}

/// What the system counts CPU time in.
const TICK: Duration = Duration::from_millis(10);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
