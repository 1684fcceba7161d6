//! `hence assert`, `retract`, `apply`, `undo`: changes in the ledger's own words.

use clap::Args;
use hence_ledger::{Command, Keys, Value, Vocabulary};
use hence_service::Leave;

use super::{Changing, commands, faulty, key, names};
use crate::console::Console;
use crate::{Exit, Stop};

/// Say something about a key
#[derive(Args)]
pub struct Assert {
    /// The key, such as `group/web/param/PORT`
    key: String,
    /// The value; without it, that it is so
    value: Option<String>,
    /// The value is a secret, and read from standard input; it is kept sealed, and never shown
    #[arg(long, conflicts_with = "value")]
    secret: bool,
    #[command(flatten)]
    changing: Changing,
}

impl Assert {
    /// Asserts it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut leave = self.changing.leave()?;
        let value = match (&self.value, self.secret) {
            (Some(text), _) => Value::text(text.as_str()),
            (None, false) => Value::Nothing,
            (None, true) => self.sealed(console, &mut leave)?,
        };
        let meant = hence_fleet::Words.assertion(&names(&self.key)?, value);
        let (key, value) = meant.map_err(faulty)?;
        let owner = self.changing.owner().into();
        let command = Command::Assert { owner, key, value };
        commit(console, &self.changing, &[command], &leave)
    }
}

impl Assert {
    /// A secret, of which only the line feed behind it is no part.
    fn sealed(&self, console: &mut Console<'_>, leave: &mut Leave) -> Result<Value, Stop> {
        let mut text = String::new();
        console.input().read_line(&mut text)?;
        let text = text.trim_end_matches(['\n', '\r']);
        // The key is beside the ledger.
        let service = self.changing.ledger.make(console)?;
        let ledger = &self.changing.ledger;
        let mut sealed = ledger.sealed(console, &service, &[text], leave)?;
        Ok(Value::Sealed(sealed.remove(0)))
    }
}

/// Say nothing about a key any more
#[derive(Args)]
pub struct Retract {
    /// The key
    key: String,
    /// Also about all keys below it
    #[arg(long)]
    under: bool,
    #[command(flatten)]
    changing: Changing,
}

impl Retract {
    /// Retracts it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let key = key(&self.key)?;
        let keys = match self.under {
            true => Keys::Under(key),
            false => Keys::Only(key),
        };
        let leave = self.changing.leave()?;
        commit(console, &self.changing, &[Command::Retract(keys)], &leave)
    }
}

/// Does commands, as one change.
pub fn commit(
    console: &mut Console<'_>,
    changing: &Changing,
    commands: &[Command],
    leave: &Leave,
) -> Result<Exit, Stop> {
    let words: Vec<String> = commands.iter().map(Command::to_string).collect();
    let request = changing.request(console, words.join("; "));
    let mut service = changing.ledger.make(console)?;
    let result = service.commit(&request, commands, leave);
    changing.tell(console, result)
}

/// Do the commands in a file, as one change
#[derive(Args)]
pub struct Apply {
    /// The file: `assert`, `retract`, `retract-under` and `apply OWNER { … }`; `-` for standard input
    file: String,
    #[command(flatten)]
    changing: Changing,
}

impl Apply {
    /// Does all of them, or none.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let leave = self.changing.leave()?;
        let (sources, script) = match commands(console, &self.file, self.changing.owner()) {
            Ok(read) => read,
            Err(exit) => return Ok(exit),
        };
        let request = self
            .changing
            .request(console, format!("apply {}", self.file));
        let mut service = self.changing.ledger.make(console)?;
        let result = service.commit(&request, &script.commands, &leave);
        let changing = &self.changing;
        changing.tell_at(console, result, &sources, &script.places)
    }
}

/// Take back a change
#[derive(Args)]
pub struct Undo {
    /// The version to take back; without it, the newest change that stands
    version: Option<u64>,
    #[command(flatten)]
    changing: Changing,
}

impl Undo {
    /// Takes it back, with a new entry.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let words = match self.version {
            Some(version) => format!("undo {version}"),
            None => "undo".to_owned(),
        };
        let request = self.changing.request(console, words);
        let mut service = self.changing.ledger.open(console)?;
        let result = service.undo(&request, self.version, None);
        self.changing.tell_all(console, result)
    }
}
