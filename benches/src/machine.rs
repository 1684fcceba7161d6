//! What a benchmark was run on, and with which versions of what.

use crate::contenders::Programs;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The machine, and the programs that are compared: what each is, and what it says of itself.
pub fn described(programs: &Programs) -> Vec<(&'static str, String)> {
    let of_file = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines
            .find(|(name, _)| name.trim() == key)
            .map(|(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
    let memory = of_file("/proc/meminfo", "MemTotal").and_then(|total| {
        let kilobytes: f64 = total.split(' ').next()?.parse().ok()?;
        Some(format!("{:.0} GB", kilobytes / 1e6))
    });
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    let said = |program: &Path, words: &[&str]| {
        let output = Command::new(program).args(words).output().ok()?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        said.lines().next().map(|line| line.trim().to_owned())
    };
    let on_path = |program: &str, words: &[&str]| said(Path::new(program), words);
    let commit = on_path("git", &["describe", "--always", "--dirty"]);
    let known = [
        ("date", on_path("date", &["--utc", "+%Y-%m-%d"])),
        ("processor", of_file("/proc/cpuinfo", "model name")),
        ("cores", Some(cores.to_string())),
        ("memory", memory),
        ("kernel", kernel.map(|kernel| kernel.trim().to_owned())),
        ("hence", said(&programs.hence, &["--version"])),
        ("commit", commit),
        ("rustc", on_path("rustc", &["--version"])),
        ("jrsonnet", said(&programs.jrsonnet, &["--version"])),
        ("puppet", on_path("puppet", &["--version"])),
        ("ruby", on_path("ruby", &["--version"])),
        ("apache", on_path("/usr/sbin/apache2", &["-v"])),
        ("nginx", on_path("/usr/sbin/nginx", &["-v"])),
    ];
    let known = known.into_iter();
    known
        .filter_map(|(what, value)| Some((what, value?)))
        .collect()
}
