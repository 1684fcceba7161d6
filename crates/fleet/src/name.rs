//! Which names things can be given. Those that were given before this was asked are still read, and can be taken away.

use hence_ledger::{Command, Fault, Key, State};
use hence_model::diagnostic::Code;
use hence_model::legible;

use crate::words::{Kind, RIGHT};

/// Nothing can be given this name.
pub const NAME: Code = Code::new("ledger.name");

/// So many characters a name has at most.
const LONGEST: usize = 500;

/// A name must be something that people can write and tell from others.
pub fn must_be_name(what: &str, name: &str) -> Result<(), Fault> {
    let wrong = if name.is_empty() {
        format!("the name of the {what} is empty")
    } else if name.trim().is_empty() {
        format!("the name of the {what} is nothing but blanks")
    } else if let Some(control) = name.chars().find(|letter| letter.is_control()) {
        let shown = legible::line(name);
        format!(
            "the name of the {what}, `{shown}`, has the control character U+{:04X}",
            u32::from(control)
        )
    } else if name.chars().count() > LONGEST {
        format!("the name of the {what} is longer than {LONGEST} characters")
    } else {
        return Ok(());
    };
    Err(Fault::new(wrong).code(NAME).help("choose another name"))
}

/// Commands must not give names that nothing can have.
pub fn must_be_named(state: &State, commands: &[Command]) -> Result<(), Fault> {
    for command in commands {
        match command {
            Command::Assert { owner, key, .. } => {
                must_be_name("owner", owner)?;
                of_key(state, key)?;
            }
            Command::Apply { owner, set } => {
                must_be_name("owner", owner)?;
                for (key, _) in set {
                    of_key(state, key)?;
                }
            }
            Command::Retract(_) => {}
        }
    }
    Ok(())
}

fn of_key(state: &State, key: &Key) -> Result<(), Fault> {
    if state.get(key).is_some() {
        return Ok(());
    }
    let names: Vec<_> = key.names().collect();
    let kind = names.first().map_or("", |kind| kind.as_ref());
    let Some(name) = names.get(1) else {
        return Ok(());
    };
    let what = match kind {
        "param" => "parameter",
        RIGHT => "owner",
        kind => kind,
    };
    must_be_name(what, name)?;
    if kind == Kind::Group.word() && names.len() == 2 {
        match name.as_ref() {
            "default" => return Err(default_group()),
            "skeleton" => return Err(skeleton_group()),
            _ => {}
        }
    }
    for name in &names[2..] {
        must_be_name("thing in a key", name)?;
    }
    Ok(())
}

/// The group of all nodes has a word of its own.
pub fn default_group() -> Fault {
    let fault = Fault::new("all nodes are in the default group, and no other group is named so");
    fault
        .code(NAME)
        .help("`hence set default …` changes what all nodes have")
}

/// So has the one of new nodes.
pub fn skeleton_group() -> Fault {
    let fault =
        Fault::new("new nodes are put into the skeleton group, and no other group is named so");
    fault
        .code(NAME)
        .help("`hence add skeleton` makes it, `hence set skeleton …` changes what new nodes have")
}
