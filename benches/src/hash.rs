//! A yardstick that anyone can lay on: hashing 100 MB with BLAKE3, on one core, in this process.

use nix::sys::resource::{UsageWho, getrusage};
use std::io;
use std::time::Duration;

/// How much is hashed, in bytes.
pub const BYTES: usize = 100_000_000;

/// The CPU time that hashing takes; the bytes are there before.
pub fn hash() -> io::Result<Duration> {
    let bytes: Vec<u8> = (0..BYTES).map(|number| number as u8).collect();
    let before = cpu()?;
    std::hint::black_box(blake3::hash(&bytes));
    Ok(cpu()? - before)
}

/// The CPU time of this process so far.
pub fn cpu() -> io::Result<Duration> {
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    let microseconds = [used.user_time(), used.system_time()]
        .iter()
        .map(|time| time.tv_sec() * 1_000_000 + time.tv_usec())
        .sum::<i64>();
    Ok(Duration::from_micros(microseconds.unsigned_abs()))
}
