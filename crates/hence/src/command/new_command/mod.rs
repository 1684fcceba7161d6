//! `hence new-command`: a plug-in that works, to be filled with what it should do.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use clap::{Args, CommandFactory, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};

use super::{Arguments, plugin};
use crate::console::Console;
use crate::result::unwritable;
use crate::{Exit, Stop};

/// A command cannot have this name.
pub const NAME: Code = Code::new("plugin.name");

/// Write the skeleton of a plug-in, which is a command by its own name
#[derive(Args)]
pub struct NewCommand {
    /// The name of the command: small letters, digits and `-`
    name: String,
    /// What it does, for its help
    #[arg(
        short,
        long,
        value_name = "WORDS",
        default_value = "List the nodes of the fleet"
    )]
    description: String,
    /// The folder to write it to
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: String,
    /// What it is written in
    #[arg(long, value_enum, default_value = "sh")]
    language: Language,
}

/// A language in which plug-ins begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// The shell of POSIX
    Sh,
    /// Python 3
    Python,
}

impl Language {
    fn skeleton(self) -> &'static str {
        match self {
            Language::Sh => include_str!("skeleton.sh"),
            Language::Python => include_str!("skeleton.py"),
        }
    }

    /// Words as a literal.
    fn quoted(self, words: &str) -> String {
        match self {
            Language::Sh => shell_words::quote(words).into_owned(),
            // Whatever JSON writes, Python reads as it was meant.
            Language::Python => serde_json::to_string(words).expect("words can be written"),
        }
    }
}

impl NewCommand {
    /// Writes it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        check(&self.name)?;
        // It stands in a comment, too, which ends with the line.
        let description: Vec<&str> = self.description.split_whitespace().collect();
        let description = description.join(" ");
        let text = self
            .language
            .skeleton()
            .replace("@NAME@", &self.name)
            .replace("@DESCRIPTION@", &self.language.quoted(&description))
            .replace("@COMMENT@", &description);
        let program = format!("{}{}", plugin::PREFIX, self.name);
        let path = Path::new(&self.out).join(&program);
        let path = path.to_string_lossy();
        write_program(&console.path(&path), &text).map_err(|error| unwritable(&path, &error))?;
        let (name, out) = (&self.name, shell_words::quote(&self.out));
        console.say(&format!(
            "wrote `{path}`; to try it: PATH={out}:\"$PATH\" hence {name} --help"
        ));
        console.say("in a folder of your PATH it is a command for good");
        Ok(Exit::Done)
    }
}

/// A name must be easy to type, and not taken.
fn check(name: &str) -> Result<(), Stop> {
    let refuse = |message: String, help: &str| {
        let trouble = Diagnostic::error(NAME, message).help(help);
        Err(Stop::Refused(Box::new(trouble)))
    };
    let is_plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
        let message = format!("`{name}` cannot be the name of a command");
        return refuse(message, "it is made of small letters, digits and `-`");
    }
    let hence = Arguments::command();
    if hence.find_subcommand(name).is_some() {
        let message = format!("`{name}` is a command of hence");
        return refuse(message, "a plug-in of this name would never be run");
    }
    Ok(())
}

/// Writes a program where there is nothing yet.
fn write_program(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    make_executable(path)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(drop)
}
