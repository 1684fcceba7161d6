//! What one process used: CPU time, user and system, how long it took, and the most memory it held.
//!
//! The kernel tells a parent what its children used, all of them together, and counts the pages a
//! child had before it became another program. So every measured process has a parent of its own,
//! small and short-lived: this program, started again as `hence-bench measure OUTPUT PROGRAM …`.

use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a process used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// User and system time together.
    pub cpu: Duration,
    /// From its start to its end.
    pub elapsed: Duration,
    /// Peak resident memory, in bytes.
    pub peak: u64,
}

/// A program and its arguments.
#[derive(Clone)]
pub struct CommandLine {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl CommandLine {
    /// A command line.
    pub fn new<A: Into<OsString>>(
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> CommandLine {
        CommandLine {
            program: program.to_path_buf(),
            arguments: arguments.into_iter().map(Into::into).collect(),
        }
    }
}

impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.program.display())?;
        for argument in &self.arguments {
            write!(f, " {}", argument.display())?;
        }
        Ok(())
    }
}

/// Runs a command with a launcher of its own, its output going to a file, and says what it used.
pub fn measure(command: &CommandLine, output: &Path) -> io::Result<Usage> {
    let launched = Command::new(std::env::current_exe()?)
        .arg("measure")
        .arg(output)
        .arg(&command.program)
        .args(&command.arguments)
        .stderr(Stdio::inherit())
        .output()?;
    if !launched.status.success() {
        return Err(io::Error::other(format!("this failed: {command}")));
    }
    let printed = String::from_utf8_lossy(&launched.stdout);
    parse(&printed).ok_or_else(|| io::Error::other(format!("the launcher said {printed:?}")))
}

/// The launcher's side: runs the command as its only child and prints what it used.
pub fn launch(output: &Path, command: &CommandLine) -> io::Result<()> {
    let output = File::create(output)?;
    let start = Instant::now();
    let status = Command::new(&command.program)
        .args(&command.arguments)
        .stdin(Stdio::null())
        .stdout(output)
        .status()
        .map_err(|error| io::Error::other(format!("{}: {error}", command.program.display())))?;
    if !status.success() {
        return Err(io::Error::other(format!(
            "{} ended with {status}",
            command.program.display()
        )));
    }
    let elapsed = start.elapsed().as_micros();
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let microseconds = [used.user_time(), used.system_time()]
        .iter()
        .map(|time| time.tv_sec() * 1_000_000 + time.tv_usec())
        .sum::<i64>();
    println!("{microseconds} {elapsed} {}", used.max_rss() * 1024);
    Ok(())
}

fn parse(printed: &str) -> Option<Usage> {
    let mut numbers = printed.split_whitespace().map(|word| word.parse().ok());
    Some(Usage {
        cpu: Duration::from_micros(numbers.next()??),
        elapsed: Duration::from_micros(numbers.next()??),
        peak: numbers.next()??,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launcher_prints_is_read_back() {
        let usage = Usage {
            cpu: Duration::from_micros(17_500),
            elapsed: Duration::from_micros(9_000),
            peak: 9 << 20,
        };
        assert_eq!(parse("17500 9000 9437184\n"), Some(usage));
        assert_eq!(parse("nothing"), None);
    }
}
