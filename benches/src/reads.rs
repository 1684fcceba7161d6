//! How many source files a command reads: the same file again counts again.

use crate::measure::CommandLine;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A count, or why there is none.
pub enum Reads {
    /// Files that were opened.
    Files(usize),
    /// Strace is not installed here.
    NoStrace,
}

/// Runs a command under strace, and counts how often it opens a file with that extension.
pub fn reads(command: &CommandLine, extension: &str, log: &Path) -> io::Result<Reads> {
    let status = Command::new("strace")
        .args(["-f", "-z", "-e", "trace=open,openat", "-o"])
        .arg(log)
        .arg(&command.program)
        .args(&command.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Reads::NoStrace),
        Err(error) => Err(error),
        Ok(status) if status.success() => {
            Ok(Reads::Files(opened(&fs::read_to_string(log)?, extension)))
        }
        Ok(status) => Err(io::Error::other(format!(
            "{command} under strace: {status}"
        ))),
    }
}

fn opened(log: &str, extension: &str) -> usize {
    let end_of_name = format!(".{extension}\"");
    log.lines()
        .filter(|line| line.contains(&end_of_name))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_count() {
        let log = "\
7 openat(AT_FDCWD, \"/lib/libc.so.6\", O_RDONLY|O_CLOEXEC) = 3
8 openat(AT_FDCWD, \"nodes/n0.cf2\", O_RDONLY|O_CLOEXEC) = 3
8 openat(AT_FDCWD, \"nodes/../shared/part00.cf2\", O_RDONLY|O_CLOEXEC) = 3
7 openat(AT_FDCWD, \"out/n0.json.7.part\", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3
";
        assert_eq!(opened(log, "cf2"), 2);
    }
}
