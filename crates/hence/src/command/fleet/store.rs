//! Where a ledger lives: a directory, or an etcd cluster; and `hence store`, which moves one from here to there.

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Address, Copied, Credentials, Error, Etcd, LOCKED, Redb, copy};
use serde::Serialize;

use super::{Format, NO_LEDGER, many, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// A ledger in a cluster is not copied as a directory is.
pub const NO_BACKUP: Code = Code::new("store.no-backup");

/// So long the command of somebody else is waited for, and so often it is looked whether it is done.
const PATIENCE: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_millis(5);

/// Where a ledger lives.
pub enum Place {
    /// A directory, as it was named.
    Directory(String),
    /// A cluster.
    Cluster(Address),
}

impl Place {
    /// The place of this name.
    pub fn of(name: &str) -> Result<Self, Stop> {
        if !Address::is_meant(name) {
            return Ok(Self::Directory(name.to_owned()));
        }
        Ok(Self::Cluster(name.parse().map_err(failed)?))
    }

    /// Whether there is a ledger.
    pub fn is_there(&self, console: &Console<'_>) -> Result<bool, Stop> {
        match self {
            Self::Directory(name) => Ok(Redb::is_there(&console.path(name))),
            Self::Cluster(address) => {
                Etcd::is_there(address, &credentials(console)?).map_err(failed)
            }
        }
    }

    /// Refuses if there is no ledger.
    pub fn must_be_there(&self, console: &Console<'_>) -> Result<(), Stop> {
        if self.is_there(console)? {
            return Ok(());
        }
        let message = match self {
            Self::Directory(name) => format!("there is no ledger in `{name}`"),
            Self::Cluster(address) => format!("there is no ledger at `{address}`"),
        };
        Err(Stop::Refused(Box::new(
            Diagnostic::error(NO_LEDGER, message)
                .help("`--data DIR` says where one is")
                .help("the first change makes one, such as `hence add node NAME`"),
        )))
    }

    /// The store there, which is made if there is none.
    pub fn open(&self, console: &Console<'_>) -> Result<Box<dyn hence_store::Store>, Stop> {
        Ok(match self {
            Self::Directory(name) => Box::new(directory(console, name)?),
            Self::Cluster(address) => {
                let store = Etcd::open(address, &credentials(console)?);
                Box::new(store.map_err(failed)?)
            }
        })
    }

    /// The store there, if it is in a directory and there.
    pub fn directory(&self, console: &Console<'_>) -> Result<Redb, Stop> {
        match self {
            Self::Directory(name) => {
                self.must_be_there(console)?;
                directory(console, name)
            }
            Self::Cluster(address) => {
                let message = "a ledger in a cluster is kept by the cluster, not in a directory";
                Err(Stop::Refused(Box::new(
                    Diagnostic::error(NO_BACKUP, message)
                        .help(format!("`hence store copy {address} DIR` copies it"))
                        .help("`etcdctl snapshot save FILE` copies the whole cluster"),
                )))
            }
        }
    }
}

fn directory(console: &Console<'_>, name: &str) -> Result<Redb, Stop> {
    let path = console.path(name);
    let begun = Instant::now();
    let wait = || {
        std::thread::sleep(INTERVAL);
        begun.elapsed() < PATIENCE
    };
    patiently(|| Redb::open(&path), wait).map_err(|mut error| {
        // As it was given.
        error.message = error.message.replace(&path.display().to_string(), name);
        failed(error)
    })
}

/// Opens something when whoever has it open is done, as long as there is time to wait: commands are short, and whose comes
/// second is no mistake. A server does not end, and is told.
fn patiently<T>(
    open: impl Fn() -> Result<T, Error>,
    mut wait: impl FnMut() -> bool,
) -> Result<T, Error> {
    loop {
        match open() {
            Err(error) if error.code == LOCKED && wait() => {}
            opened => return opened,
        }
    }
}

/// Whether it is what was given that is wrong, or the world.
fn failed(error: Error) -> Stop {
    use hence_store::{ADDRESS, DENIED, OTHER_HISTORY};
    match [ADDRESS, DENIED, OTHER_HISTORY].contains(&error.code) {
        true => Stop::Refused(Box::new(error.into())),
        false => Stop::Failed(Box::new(error.into())),
    }
}

/// What opens a cluster: words and names of files that are in no command line.
fn credentials(console: &Console<'_>) -> Result<Credentials, Stop> {
    let file = |variable: &str| {
        let Some(name) = console.variable(variable) else {
            return Ok(None);
        };
        let read = std::fs::read(console.path(&name));
        read.map(Some).map_err(|error| {
            let message = format!("`{name}`, which ${variable} names, cannot be read: {error}");
            failed(Error::new(hence_store::FAILED, message))
        })
    };
    Ok(Credentials {
        password: console.variable("HENCE_ETCD_PASSWORD"),
        authorities: file("HENCE_ETCD_CA")?,
        certificate: file("HENCE_ETCD_CERT")?,
        key: file("HENCE_ETCD_KEY")?,
    })
}

/// Look after where ledgers live
#[derive(Args)]
pub struct Store {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// Copy a ledger with its whole history into another store, or bring a copy up to date
    Copy(Copy),
}

#[derive(Args)]
struct Copy {
    /// The directory of the ledger, or `etcd://HOST:PORT/PREFIX`
    from: String,
    /// Where the copy is to be: nothing is there, or a copy that was interrupted or is older
    to: String,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

impl Store {
    /// Does it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match &self.act {
            Act::Copy(copy) => copy.run(console),
        }
    }
}

#[derive(Serialize)]
struct Told {
    version: u64,
    new: u64,
    objects: usize,
    reports: usize,
}

impl Copy {
    /// Copies it; the key of its secrets is no part of it.
    fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let from = Place::of(&self.from)?;
        let to = Place::of(&self.to)?;
        from.must_be_there(console)?;
        let from = from.open(console)?;
        let to = to.open(console)?;
        let copied = copy(&*from, to, &mut |version, newest| {
            console.progress(&format!("version {version} of {newest}"));
        });
        console.end_progress();
        let copied = copied.map_err(|mut error| {
            for name in [&self.from, &self.to] {
                let path = console.path(name).display().to_string();
                error.message = error.message.replace(&path, name);
            }
            failed(error)
        })?;
        let Copied {
            version,
            new,
            objects,
            reports,
        } = copied;
        if self.format == Format::Json {
            let told = Told {
                version,
                new,
                objects,
                reports,
            };
            print_json(console, &told)?;
        }
        let to = &self.to;
        let new = many(new as usize, "version");
        let objects = many(objects, "object");
        let reports = many(reports, "report");
        console.say(&format!(
            "{to} is at version {version}: {new} copied, {objects} and {reports} are there; `--data {to}` reads it"
        ));
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_second_waits_until_the_first_is_done() {
        let directory = std::env::temp_dir().join(format!("hence-second-{}", std::process::id()));
        let mut first = Some(Redb::open(&directory).expect("the directory is ours"));
        let mut waits = 0;
        let second = patiently(
            || Redb::open(&directory),
            || {
                waits += 1;
                if waits == 2 {
                    first.take();
                }
                true
            },
        );
        assert!(second.is_ok());
        assert_eq!(waits, 2);
        let third = patiently(|| Redb::open(&directory), || false);
        assert_eq!(third.expect_err("it is still open").code, LOCKED);
        drop(second);
        std::fs::remove_dir_all(directory).expect("the directory is ours");
    }
}
