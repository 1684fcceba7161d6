//! A small ledger to be cruel to.

mod cluster;
mod copies;
mod corruption;
mod crash;
mod etcd;
mod history;
mod storage;
mod stores;

use std::path::{Path, PathBuf};

use hence_ledger::entry::Origin;
use hence_ledger::rights::Rights;
use hence_ledger::vocabulary::Reach;
use hence_ledger::{Command, Fault, Key, Keys, Value, Vocabulary};

use crate::{Done, Proposal, Receipt, Refused, Repository, Request, Rules};

/// Numbers that look random, and are the same each time.
pub(crate) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % limit
    }
}

/// A directory that goes with the test.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let name = format!("hence-store-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Keys mean nothing here, but that `left` and `right` exclude each other.
pub(crate) struct Plain;

impl Vocabulary for Plain {
    fn assertion(&self, names: &[String], value: Value) -> Result<(Key, Value), Fault> {
        Ok((self.key(names)?, value))
    }

    fn key(&self, names: &[String]) -> Result<Key, Fault> {
        Ok(Key::new(names.iter().map(String::as_str)))
    }

    fn conflicts(&self, key: &Key) -> Vec<Keys> {
        match key.as_str() {
            "left" => vec![Keys::Only(Key::from_text("right"))],
            "right" => vec![Keys::Only(Key::from_text("left"))],
            _ => Vec::new(),
        }
    }

    fn supports(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }

    fn reach(&self, _: &Key) -> Reach {
        Reach::Nowhere
    }
}

pub(crate) fn key(text: &str) -> Key {
    Key::from_text(text)
}

pub(crate) fn assert(key_text: &str, value: impl ToString) -> Command {
    Command::Assert {
        owner: "ann".into(),
        key: key(key_text),
        value: Value::text(value.to_string()),
    }
}

pub(crate) fn retract(key_text: &str) -> Command {
    Command::Retract(Keys::Only(key(key_text)))
}

pub(crate) fn request() -> Request {
    Request {
        author: "ann".into(),
        owner: "ann".into(),
        time: 1,
        message: "why not".into(),
        origin: Origin::Command("test".into()),
        objects: Vec::new(),
        if_version: None,
    }
}

pub(crate) fn if_version(version: u64) -> Request {
    Request {
        if_version: Some(version),
        ..request()
    }
}

/// Does something with rules that allow everything.
pub(crate) fn freely<T>(act: impl FnOnce(&mut Rules<'_>) -> T) -> T {
    act(&mut Rules {
        rights: &Rights::default(),
        vocabulary: &Plain,
        check: &mut |_, _| Vec::new(),
    })
}

pub(crate) fn commit(
    repository: &mut Repository,
    request: &Request,
    commands: &[Command],
) -> Result<Receipt, Refused> {
    let proposal = Proposal {
        commands,
        take: &[],
        dormant: false,
    };
    freely(|rules| repository.commit(request, &proposal, rules))
}

pub(crate) fn undo(repository: &mut Repository, version: Option<u64>) -> Result<Receipt, Refused> {
    freely(|rules| repository.undo(&request(), version, rules))
}

pub(crate) fn version_of(receipt: Result<Receipt, Refused>) -> u64 {
    match receipt {
        Ok(Receipt::Done(Done { version, .. })) => version,
        other => panic!("an entry is expected, and there is {other:?}"),
    }
}

pub(crate) fn code_of(receipt: Result<Receipt, Refused>) -> &'static str {
    match receipt {
        Err(Refused::Because(troubles)) => troubles[0].code.name,
        other => panic!("a refusal is expected, and there is {other:?}"),
    }
}
