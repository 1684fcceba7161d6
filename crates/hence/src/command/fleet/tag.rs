//! `hence tag`, `untag`: which facts put nodes into groups.

use clap::Args;
use hence_fleet::{Words, tags};
use hence_ledger::{Command, Keys, State, Value, Vocabulary};
use hence_model::diagnostic::{Diagnostic, similar};
use serde::Serialize;

use super::change::commit;
use super::{Changing, Format, faulty, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// Let a fact that nodes report put them into groups, behind their others
#[derive(Args)]
pub struct Tag {
    /// The fact, such as `os`
    fact: String,
    /// What the names of the groups begin with: with `os-`, nodes whose `os` is `linux` are in `os-linux`, if there is such
    /// a group
    #[arg(long = "as", value_name = "PREFIX")]
    prefix: String,
    #[command(flatten)]
    changing: Changing,
}

impl Tag {
    /// Says so; who is in which group is seen when nodes check in.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let value = Value::text(self.prefix.as_str());
        let meant = Words.assertion(&names(&self.fact), value);
        let (key, value) = meant.map_err(faulty)?;
        let owner = self.changing.owner().into();
        let command = Command::Assert { owner, key, value };
        commit(console, &self.changing, &[command], &self.changing.leave()?)
    }
}

/// Let a fact put nodes into groups no longer
#[derive(Args)]
pub struct Untag {
    /// The fact
    fact: String,
    #[command(flatten)]
    changing: Changing,
}

impl Untag {
    /// Says so; nodes leave the groups that it put them into.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let key = Words.key(&names(&self.fact)).map_err(faulty)?;
        let service = self.changing.ledger.open(console)?;
        if service.state().get(&key).is_none() {
            let rules = tags::rules(service.state());
            let message = format!("no fact `{}` puts nodes into groups", self.fact);
            let trouble = Diagnostic::error(hence_fleet::edit::NO_SUCH, message);
            let near = similar(&self.fact, rules.keys().map(String::as_str));
            return Err(Stop::Refused(Box::new(trouble.help(match near.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`hence list tags` shows those that do".to_owned(),
            }))));
        }
        let mut commands = tags::untagged(service.state(), &self.fact);
        drop(service);
        commands.insert(0, Command::Retract(Keys::Only(key)));
        commit(console, &self.changing, &commands, &self.changing.leave()?)
    }
}

fn names(fact: &str) -> [String; 2] {
    ["fact", fact].map(str::to_owned)
}

#[derive(Serialize)]
struct Rule {
    fact: String,
    prefix: String,
}

/// Shows which facts put nodes into groups.
pub fn list(console: &mut Console<'_>, state: &State, format: Format) -> Result<(), Stop> {
    let rules = tags::rules(state).into_iter();
    let rules: Vec<Rule> = rules.map(|(fact, prefix)| Rule { fact, prefix }).collect();
    match format {
        Format::Json => print_json(console, &rules)?,
        Format::Text => {
            for Rule { fact, prefix } in rules {
                writeln!(console.data(), "{fact}  {prefix}")?;
            }
        }
    }
    Ok(())
}
