//! The closure around real web servers: what its configuration costs, what a commit takes, and what staging does.
//!
//! sites     what is served, by a closure and by a configuration that somebody wrote by hand
//! load      how many requests both answer in a second
//! commits   one host of very many changes
//! staging   content is copied by its hash, next to hashing it

pub mod commits;
pub mod load;
pub mod sites;
pub mod staging;

use crate::bounds::Bound;
use commits::Commit;
use hence_closure::host::{Host, Machine};
use hence_closure::server::Server;
use load::Compared;
use staging::Staging;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The word by which it is asked for.
pub const NAME: &str = "http";

/// The servers that a closure can be around.
const SERVERS: [Server; 2] = [Server::Apache, Server::Nginx];

/// How much there is of everything.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Requests in each run.
    pub requests: usize,
    /// Types that are said about single URLs of one host.
    pub types: usize,
    /// Hosts, of which one changes.
    pub hosts: usize,
    /// Files of each of them.
    pub files: usize,
    /// Files that are staged, of a tenth of a megabyte each.
    pub staged: usize,
}

/// What is promised about.
pub const SIZE: Size = Size {
    requests: 5_000,
    types: 10_000,
    hosts: 1000,
    files: 100,
    staged: 1000,
};

/// Very little of everything, to see that it works.
pub const SMALL: Size = Size {
    requests: 100,
    types: 100,
    hosts: 3,
    files: 4,
    staged: 3,
};

/// What was found out.
#[derive(Clone, Debug)]
pub struct Figures {
    /// How much there was.
    pub size: Size,
    /// Requests, by servers and what is asked for.
    pub compared: Vec<Compared>,
    /// What a commit takes, by servers.
    pub commits: Vec<(Server, Commit)>,
    /// What staging takes.
    pub staging: Staging,
}

/// Runs all that is installed here.
pub fn measure(size: Size, rounds: usize) -> io::Result<Figures> {
    let folder = Folder::new()?;
    let mut figures = Figures {
        size,
        compared: Vec::new(),
        commits: Vec::new(),
        staging: staging::measure(size, &folder.0.join("staging"), rounds)?,
    };
    let has_load = is_there(Command::new(load::PROGRAM).arg("-V"));
    if !has_load {
        eprintln!("{NAME}: ab is not installed here (apache2-utils): requests are not counted");
    }
    for server in SERVERS {
        let name = server.word();
        if !server
            .programs()
            .iter()
            .any(|path| Path::new(path).exists())
        {
            eprintln!("{NAME}: {name} is not installed here, and left out");
            continue;
        }
        if has_load {
            eprintln!("{NAME}: asking {name}");
            let directory = folder.0.join(format!("load-{name}"));
            let compared = load::compare(server, size, &directory, rounds.min(MOST_ROUNDS))?;
            figures.compared.extend(compared);
        }
        eprintln!("{NAME}: changing one host of {} of {name}", size.hosts);
        let directory = folder.0.join(format!("commits-{name}"));
        let commit = commits::measure(server, size, &directory, rounds.min(MOST_ROUNDS))?;
        figures.commits.push((server, commit));
    }
    Ok(figures)
}

/// So many runs alternate.
const MOST_ROUNDS: usize = 9;

fn is_there(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// A directory that goes when it is no longer needed. It is where a server without privileges may come to.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let name = format!("hence-bench-http-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = Machine.remove(&self.0);
    }
}

impl Figures {
    /// What is promised about them.
    pub fn bounds(&self) -> Vec<Bound> {
        let compared = self.compared.iter().map(|compared| Bound {
            what: format!("{NAME}: requests/s of {}", compared.what()),
            measured: compared.ratio(),
            at_most: load::AT_MOST,
            unit: "",
        });
        let commits = self.commits.iter().map(|(server, commit)| Bound {
            what: format!(
                "{NAME}: own CPU time of a commit of one host of {} ({} files), {}",
                self.size.hosts,
                self.size.hosts * self.size.files,
                server.word()
            ),
            measured: commit.whole() * 1e3,
            at_most: 250.0,
            unit: "ms",
        });
        compared
            .chain(commits)
            .chain(self.staging.bounds())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_of_everything_is_served_changed_and_staged() {
        let figures = measure(SMALL, 1).unwrap();
        assert!(
            figures
                .compared
                .iter()
                .all(|compared| compared.ratio() > 0.0)
        );
        assert!(figures.staging.hashed.as_nanos() > 0);
        assert_eq!(
            figures.bounds().len(),
            figures.compared.len() + figures.commits.len() + 2
        );
    }
}
