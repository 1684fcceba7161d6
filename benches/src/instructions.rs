//! How many instructions a command executes, which does not depend on how busy the machine is.

use crate::measure::CommandLine;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A count, or why there is none.
pub enum Count {
    /// Instructions executed by the whole process.
    Instructions(u64),
    /// Valgrind is not installed here.
    NoValgrind,
}

/// Runs a command under callgrind; the profile it leaves can be read with `callgrind_annotate`.
pub fn count(command: &CommandLine, profile: &Path) -> io::Result<Count> {
    let mut out_file = std::ffi::OsString::from("--callgrind-out-file=");
    out_file.push(profile);
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(out_file)
        .arg(&command.program)
        .args(&command.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Count::NoValgrind),
        Err(error) => Err(error),
        Ok(status) if status.success() => instructions(&fs::read_to_string(profile)?)
            .map(Count::Instructions)
            .ok_or_else(|| io::Error::other("callgrind left no total")),
        Ok(status) => Err(io::Error::other(format!(
            "{command} under callgrind: {status}"
        ))),
    }
}

fn instructions(profile: &str) -> Option<u64> {
    profile
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_the_profile() {
        assert_eq!(
            instructions("version: 1\nfn=(1) main\n16 400\n\ntotals: 15012345\n"),
            Some(15_012_345)
        );
        assert_eq!(instructions("version: 1\n"), None);
    }
}
