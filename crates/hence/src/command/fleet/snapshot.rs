//! `hence snapshot`, `forget`, `restore`: versions with names.

use clap::Args;
use hence_model::diagnostic::Diagnostic;
use hence_model::legible;
use hence_service::Service;
use hence_store::NO_SUCH_NAME;

use super::show::Snapshot as Named;
use super::{At, Changing, Format, moment, print_json, stop};
use crate::console::Console;
use crate::{Exit, Stop};

/// Give a name to what is asserted now, to restore it later
#[derive(Args)]
pub struct Snapshot {
    /// The name; without it, one that says when
    name: Option<String>,
    /// What people should know about it
    #[arg(short, long, value_name = "WORDS", default_value = "")]
    annotation: String,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    changing: Changing,
}

impl Snapshot {
    /// Names it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.changing.ledger.open(console)?;
        let version = self.at.version(console, &service)?;
        let version = version.unwrap_or(service.repository().version());
        let name = self.name.as_deref().unwrap_or_default();
        take(
            console,
            &self.changing,
            &mut service,
            name,
            version,
            &self.annotation,
        )?;
        Ok(Exit::Done)
    }
}

/// Gives a version a name; an empty one becomes one that says when.
pub fn take(
    console: &mut Console<'_>,
    changing: &Changing,
    service: &mut Service,
    name: &str,
    version: u64,
    annotation: &str,
) -> Result<(), Stop> {
    let name = match name.trim().is_empty() {
        true => format!("version {version} at {}", moment(console.now())),
        false => name.to_owned(),
    };
    let request = changing.request(console, format!("snapshot {name}"));
    let result = service.name(&request, &name, version, annotation);
    result.map_err(|refused| stop(console, refused))?;
    if changing.format == Format::Json {
        let name = name.as_str();
        return print_json(
            console,
            &Named {
                name,
                version,
                annotation,
            },
        );
    }
    console.say(&format!(
        "version {version} is named `{name}`; `hence restore {}` brings it back",
        legible::word(&name)
    ));
    Ok(())
}

/// Take the name of a snapshot away
#[derive(Args)]
pub struct Forget {
    /// The name
    name: String,
    #[command(flatten)]
    changing: Changing,
}

impl Forget {
    /// Takes it away; the version stays.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.changing.ledger.open(console)?;
        let name = &self.name;
        let head = service.repository().head();
        let named = head.and_then(|entry| entry.snapshots.get(name));
        let Some(version) = named.map(|snapshot| snapshot.version) else {
            let message = format!("no version is named `{name}`");
            let trouble = Diagnostic::error(NO_SUCH_NAME, message);
            let help = "`hence list snapshots` shows those that there are";
            return Err(Stop::Refused(Box::new(trouble.help(help))));
        };
        let request = self.changing.request(console, format!("forget {name}"));
        let receipt = service.unname(&request, name);
        if self.changing.format == Format::Json || receipt.is_err() {
            return self.changing.tell(console, receipt);
        }
        console.say(&format!(
            "version {version} is no longer named `{name}`; `hence snapshot {} --at {version}` names it again",
            legible::word(name)
        ));
        Ok(Exit::Done)
    }
}

/// Make what is asserted what it was at a version
#[derive(Args)]
pub struct Restore {
    /// The version, or the name of a snapshot
    version: String,
    #[command(flatten)]
    changing: Changing,
}

impl Restore {
    /// Restores it, with a new entry; nothing is activated.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.changing.ledger.open(console)?;
        let version = super::version(&service, &self.version);
        let version = version.map_err(|refused| stop(console, refused))?;
        let request = self
            .changing
            .request(console, format!("restore {}", self.version));
        let result = service.restore(&request, version, None);
        self.changing.tell_all(console, result)
    }
}
