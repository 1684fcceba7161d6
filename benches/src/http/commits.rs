//! What a commit takes of our own CPU time if one host of very many changes. The server's test of its configuration and
//! its reload are other processes', and not counted.

use super::Size;
use super::sites::{self, Served};
use crate::hash::cpu;
use crate::rounds::median;
use hence_closure::content::{File, Tree};
use hence_closure::host::{Host, Machine};
use hence_closure::server::Server;
use hence_ledger::{Command, Hash};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// What was found out; of several commits, the medians.
#[derive(Clone, Copy, Debug)]
pub struct Commit {
    /// To open the closure.
    pub open: Duration,
    /// To commit.
    pub commit: Duration,
}

impl Commit {
    /// Both, in seconds.
    pub fn whole(&self) -> f64 {
        (self.open + self.commit).as_secs_f64()
    }
}

/// Serves very many hosts, and changes one so many times.
pub fn measure(server: Server, size: Size, directory: &Path, rounds: usize) -> io::Result<Commit> {
    let served = Served::new(&directory.join("root"), server)?;
    let mut closure = served.open()?;
    let trees = stage(&closure, size, &directory.join("content"))?;
    let listen = format!("listen {}", hence_loopback::reserve()?);
    let mut assertions = vec![listen];
    for (number, tree) in trees.iter().enumerate() {
        let name = sites::name(number);
        assertions.push(format!("host {name}"));
        assertions.push(format!("tree {name} / tree:{tree}"));
        assertions.push(format!("redirect {name} /old 301 /f0.html"));
    }
    sites::commit(&mut closure, &assertions)?;
    closure.start().map_err(sites::refused)?;
    drop(closure);
    let (mut opened, mut committed) = (Vec::new(), Vec::new());
    let name = sites::name(size.hosts / 2);
    for round in 0..rounds {
        let mut closure = served.open()?;
        let text = format!("<p>round {round}\n");
        let blob = closure.content().stage_bytes(text.as_bytes())?;
        drop(closure);
        let (key, value) = sites::says(&format!("index {name} / blob:{blob} text/html"))?;
        let owner = "bench".into();
        let command = Command::Assert { owner, key, value };
        let before = cpu()?;
        closure = served.open()?;
        let open = cpu()?;
        sites::change(&mut closure, &command)?;
        committed.push(cpu()? - open);
        opened.push(open - before);
    }
    Ok(Commit {
        open: median(opened.into_iter()),
        commit: median(committed.into_iter()),
    })
}

/// Stages a tree for each host, all at once.
fn stage(
    closure: &hence_closure::closure::Closure<'_>,
    size: Size,
    directory: &Path,
) -> io::Result<Vec<Hash>> {
    let mut trees = Vec::new();
    for host in 0..size.hosts {
        let below = directory.join(host.to_string());
        fs::create_dir_all(&below)?;
        let mut tree = Tree::default();
        for file in 0..size.files {
            let (name, text) = (format!("f{file}.html"), format!("<p>{file} of {host}\n"));
            fs::write(below.join(&name), &text)?;
            let (hash, size) = (Hash::of(text.as_bytes()), text.len() as u64);
            tree.add_file(&name, File { hash, size });
        }
        fs::write(below.join("tree"), tree.to_text())?;
        trees.push(tree.hash());
    }
    let staged = closure.content().stage(directory);
    staged.map_err(|unfit| io::Error::other(format!("{unfit:?}")))?;
    Machine.remove(directory)?;
    Ok(trees)
}
