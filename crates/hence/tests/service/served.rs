//! Real servers, and what is asked of them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hence_api::{Address, Client, Failure, words};

/// A server that ends with the test.
pub struct Server {
    process: Child,
    pub url: String,
}

impl Server {
    /// A server on a ledger. The first one keeps the administrator's token in the directory.
    pub fn start(directory: &Path, data: &str) -> Self {
        Self::listening(command(directory, data))
    }

    /// A server as soon as it listens.
    pub fn listening(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening at ").expect(&line);
        Self {
            url: url.to_owned(),
            process,
        }
    }

    /// Somebody who may do everything there.
    pub fn client(&self, directory: &Path) -> Client {
        self.client_with(directory, None)
    }

    /// The same, who recognises it by a certificate.
    pub fn client_with(&self, directory: &Path, certificates: Option<String>) -> Client {
        let token = std::fs::read_to_string(directory.join("token")).unwrap();
        let address = Address {
            server: self.url.clone(),
            token: token.trim().to_owned(),
            certificates,
        };
        Client::new(address).unwrap()
    }

    /// Ends it as a loss of power would.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What starts a server on a ledger.
pub fn command(directory: &Path, data: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hence"));
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--log", "none"])
        .args(["--admin-token-file", "token", "--rate", "0"])
        .args(["--data", data])
        .current_dir(directory);
    command
}

/// A directory that is empty.
pub fn empty(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("service-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Makes a change, and says its version; with a version, only if that is the newest.
pub fn commit(client: &Client, commands: &str, if_version: Option<u64>) -> Result<u64, Failure> {
    let commit = words::Commit {
        commands: words::Commands::Text(commands.to_owned()),
        doing: words::Doing {
            if_version,
            ..words::Doing::default()
        },
        ..words::Commit::default()
    };
    let done: words::Done = client.post("commits", &commit)?;
    Ok(done.version.expect("it is new"))
}

/// Tries until there is something, for a long time.
pub fn patiently<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "there is still not {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
