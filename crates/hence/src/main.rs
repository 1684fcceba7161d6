//! The outermost shell: the real streams, the real directory, the exit code.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use hence::{STACK, World};

fn main() -> ExitCode {
    let command = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        hence_model::stack::begin(STACK);
        hence::run(std::env::args_os(), &mut world())
    });
    match command.map(|command| command.join()) {
        Ok(Ok(exit)) => ExitCode::from(exit.code()),
        Ok(Err(_)) => ExitCode::from(101), // It panicked, and has said so.
        Err(error) => {
            eprintln!("error: no thread can be started: {error}");
            ExitCode::from(2)
        }
    }
}

fn world() -> World {
    let stderr = std::io::stderr();
    World {
        directory: PathBuf::new(),
        stdin: Box::new(std::io::BufReader::new(std::io::stdin())),
        typed: std::io::stdin().is_terminal(),
        stdout: stdout(),
        attended: stderr.is_terminal(),
        colour: anstream::AutoStream::choice(&stderr) != anstream::ColorChoice::Never,
        stderr: Box::new(stderr),
        variable: |name| std::env::var(name).ok(),
        now,
    }
}

/// A clock that stands before 1970 stands still.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// Standard output without the line buffer of the standard library: printers have a larger one.
#[cfg(unix)]
fn stdout() -> Box<dyn Write> {
    use std::os::fd::AsFd;
    match std::io::stdout().as_fd().try_clone_to_owned() {
        Ok(descriptor) => Box::new(std::fs::File::from(descriptor)),
        Err(_) => Box::new(std::io::stdout()),
    }
}

#[cfg(not(unix))]
fn stdout() -> Box<dyn Write> {
    Box::new(std::io::stdout())
}
