//! What staging takes, next to reading the same files from a warm cache and hashing them.

use super::{NAME, Size};
use crate::bounds::Bound;
use crate::hash::cpu;
use crate::rounds::median;
use hence_closure::content::Content;
use hence_closure::host::{Host, Machine};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Bytes of a file.
const FILE: usize = 100_000;

/// CPU times; of several rounds, the medians.
#[derive(Clone, Copy, Debug)]
pub struct Staging {
    /// How many bytes there are.
    pub bytes: usize,
    /// To read and hash them.
    pub hashed: Duration,
    /// To copy them, file by file.
    pub copied: Duration,
    /// To stage what nobody staged before: it is hashed, and written.
    pub first: Duration,
    /// To stage what is there already.
    pub again: Duration,
}

impl Staging {
    /// What is promised: that nothing but hashing takes time, and copying what is not there yet.
    pub fn bounds(&self) -> [Bound; 2] {
        let bound = |what: &str, time: Duration, least: Duration| Bound {
            what: format!("{NAME}: time of staging {what}"),
            measured: time.as_secs_f64() / least.as_secs_f64(),
            at_most: 1.5,
            unit: "",
        };
        let both = self.hashed + self.copied;
        [
            bound("what is there / hashing it", self.again, self.hashed),
            bound("what is new / hashing and copying it", self.first, both),
        ]
    }
}

/// Stages a directory so many times.
pub fn measure(size: Size, directory: &Path, rounds: usize) -> io::Result<Staging> {
    let from = directory.join("content");
    fs::create_dir_all(&from)?;
    let mut files = Vec::new();
    for number in 0..size.staged {
        let file = from.join(number.to_string());
        let mut bytes = vec![number as u8; FILE];
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        fs::write(&file, bytes)?;
        files.push(file);
    }
    let (mut hashed, mut copied) = (Vec::new(), Vec::new());
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let hash = || {
        for file in &files {
            std::hint::black_box(blake3::hash(&fs::read(file)?));
        }
        Ok(())
    };
    for round in 0..rounds {
        let copies = directory.join("copies");
        fs::create_dir_all(&copies)?;
        copied.push(timed(|| {
            for (number, file) in files.iter().enumerate() {
                fs::write(copies.join(number.to_string()), fs::read(file)?)?;
            }
            Ok(())
        })?);
        Machine.remove(&copies)?;
        let root = directory.join("root");
        fs::create_dir_all(root.join("object"))?;
        let content = Content::new(&Machine, &root);
        let stage = || {
            let staged = content.stage(&from);
            staged
                .map(drop)
                .map_err(|unfit| io::Error::other(format!("{unfit:?}")))
        };
        first.push(timed(stage)?);
        // What was written just now still keeps the system busy: now the one, now the other comes right after it.
        let staged_before = (round % 2 == 0).then(|| timed(stage)).transpose()?;
        hashed.push(timed(hash)?);
        again.push(staged_before.map_or_else(|| timed(stage), Ok)?);
        Machine.remove(&root)?;
    }
    Ok(Staging {
        bytes: size.staged * FILE,
        hashed: median(hashed.into_iter()),
        copied: median(copied.into_iter()),
        first: median(first.into_iter()),
        again: median(again.into_iter()),
    })
}

fn timed(work: impl FnOnce() -> io::Result<()>) -> io::Result<Duration> {
    let before = cpu()?;
    work()?;
    Ok(cpu()? - before)
}
