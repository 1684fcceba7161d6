//! What a node is like.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::host::Host;

/// What a node is like, by names.
pub type Facts = BTreeMap<String, String>;

/// A server takes so many, and so many bytes of each; some are left for others.
const MOST: usize = 150;
const LONGEST: usize = 4000;

/// What the system says about itself, and what a command adds. What changes all the time is not among it.
pub fn lasting(
    host: &dyn Host,
    command: Option<&[String]>,
    limit: Duration,
) -> (Facts, Option<String>) {
    let mut facts = Facts::new();
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), value)));
    };
    let line = |path: &str| Some(read(host, path)?.trim().to_owned());
    add("hostname", line("/proc/sys/kernel/hostname"));
    add("kernel", line("/proc/sys/kernel/osrelease"));
    add("architecture", Some(std::env::consts::ARCH.to_owned()));
    let cpus = std::thread::available_parallelism();
    add("cpus", cpus.ok().map(|cpus| cpus.to_string()));
    let memory = read(host, "/proc/meminfo").and_then(|text| {
        let total = text
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some((kibibytes / 1024).to_string())
    });
    add("memory_mb", memory);
    let release = read(host, "/etc/os-release").unwrap_or_default();
    let named = |name: &str| {
        let line = release
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    add(
        "os",
        named("ID").or_else(|| Some(std::env::consts::OS.to_owned())),
    );
    add("os_version", named("VERSION_ID"));
    let mut trouble = None;
    if let Some(command) = command {
        match printed(host, command, limit) {
            Ok(more) => facts.extend(more),
            Err(error) => trouble = Some(error),
        }
    }
    (bounded(facts), trouble)
}

/// How busy it is.
pub fn load(host: &dyn Host) -> Option<String> {
    let text = read(host, "/proc/loadavg")?;
    Some(text.split(' ').next()?.to_owned())
}

/// What a command prints: an object in JSON, or lines such as `key=value`.
fn printed(host: &dyn Host, command: &[String], limit: Duration) -> Result<Facts, String> {
    let failed = |why: String| format!("the command for facts failed: {why}");
    let ran = host.run(command, limit);
    let ran = ran.map_err(|error| failed(error.to_string()))?;
    if let Some(failure) = ran.failure {
        return Err(failed(failure));
    }
    let text = ran.output.trim();
    if text.starts_with('{') {
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        return Ok(object
            .into_iter()
            .map(|(name, value)| (name, text(value)))
            .collect());
    }
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    Ok(pairs
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect())
}

fn bounded(facts: Facts) -> Facts {
    let fits = |(name, value): &(String, String)| {
        !name.is_empty() && name.len().max(value.len()) <= LONGEST
    };
    facts.into_iter().filter(fits).take(MOST).collect()
}

fn read(host: &dyn Host, path: &str) -> Option<String> {
    String::from_utf8(host.read(Path::new(path)).ok()??).ok()
}
