//! Commands of the machine: run to their end, at most so long, with the beginning of what they say.

use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// So much is kept of what a command says.
const KEPT: usize = 1 << 20;
/// So long a stream may stay open when its command has ended: a server may have inherited it.
const LINGER: Duration = Duration::from_millis(200);

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// What is wrong with its end; nothing if it went well.
    pub failure: Option<String>,
    /// The beginning of what it printed.
    pub output: String,
    /// The beginning of what it complained about.
    pub complaint: String,
}

impl Ran {
    /// What it printed if it went well, or else what it said.
    pub fn well(self) -> Result<String, String> {
        match self.failure {
            None => Ok(self.output),
            Some(failure) => Err(match self.complaint.trim() {
                "" => failure,
                said => said.to_owned(),
            }),
        }
    }
}

/// Runs a command, at most so long.
pub fn run(command: &[String], limit: Duration) -> io::Result<Ran> {
    let (program, arguments) = command.split_first().ok_or(ErrorKind::InvalidInput)?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child =
        child.map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
    let output = Heard::listen(child.stdout.take());
    let complaint = Heard::listen(child.stderr.take());
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    let failure = loop {
        if let Some(status) = child.try_wait()? {
            break (!status.success()).then(|| status.to_string());
        }
        if begun.elapsed() >= limit {
            end(&child);
            child.wait()?;
            break Some(format!("it took longer than {} s", limit.as_secs_f64()));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    Ok(Ran {
        failure,
        output: output.text(),
        complaint: complaint.text(),
    })
}

/// Ends a command, with all that it started.
fn end(child: &Child) {
    if let Some(group) = Pid::from_raw(child.id() as i32) {
        // Whoever is no longer there need not be ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// What comes out of a stream. It is read to its end, so that nobody has to wait, and its beginning is kept.
struct Heard {
    kept: Arc<Mutex<Vec<u8>>>,
    listener: Option<thread::JoinHandle<()>>,
}

impl Heard {
    fn listen(stream: Option<impl Read + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&kept);
        let listener = stream.map(|mut stream| {
            thread::spawn(move || {
                let mut buffer = [0; 8192];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = KEPT - kept.len();
                    kept.extend_from_slice(&buffer[..length.min(room)]);
                }
            })
        });
        Self { kept, listener }
    }

    fn text(self) -> String {
        let begun = Instant::now();
        while self.listener.as_ref().is_some_and(|one| !one.is_finished())
            && begun.elapsed() < LINGER
        {
            thread::sleep(Duration::from_millis(1));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_command_is_heard_and_bounded() {
        let second = Duration::from_secs(10);
        let ran = run(
            &words(&["sh", "-c", "echo out; echo err >&2; exit 3"]),
            second,
        );
        let ran = ran.unwrap();
        assert_eq!(
            (ran.output.as_str(), ran.complaint.as_str()),
            ("out\n", "err\n")
        );
        assert_eq!(ran.failure.as_deref(), Some("exit status: 3"));
        let ran = run(&words(&["sleep", "60"]), Duration::from_millis(50)).unwrap();
        assert!(ran.failure.unwrap().contains("longer than"));
        // It takes along what it waits for.
        let waits = words(&["sh", "-c", "sleep 61 & echo $!; wait"]);
        let ran = run(&waits, Duration::from_millis(200)).unwrap();
        let line = format!("/proc/{}/cmdline", ran.output.trim());
        let is_there = || !std::fs::read(&line).unwrap_or_default().is_empty();
        let begun = Instant::now();
        while is_there() && begun.elapsed() < second {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!is_there());
        // Whoever stays in the background with the stream does not hold us up: it is still there afterwards.
        let ran = run(&words(&["sh", "-c", "sleep 60 & echo $!"]), second).unwrap();
        assert_eq!(ran.failure, None);
        let end = run(&words(&["kill", ran.output.trim()]), second);
        assert_eq!(end.unwrap().failure, None);
        let loud = words(&["sh", "-c", "yes | head -c 2000000"]);
        assert_eq!(run(&loud, second).unwrap().output.len(), KEPT);
        assert!(run(&words(&["there-is-no-such-program"]), second).is_err());
        assert!(run(&[], second).is_err());
    }
}
