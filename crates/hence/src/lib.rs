//! The program `hence`: one file per command.
//!
//! A command gets its arguments and a [`World`], and answers with an [`Exit`]. So a test runs it
//! within its own process, and only `main.rs` knows the real streams.

pub mod announced;
pub mod command;
pub mod configuration;
pub mod console;
pub mod difference;
pub mod disk;
pub mod edits;
pub mod git;
pub mod gpg;
pub mod outside;
pub mod pages;
pub mod places;
pub mod policy;
pub mod readiness;
pub mod render;
pub mod replacement;
pub mod result;
pub mod signals;

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use clap::Parser;
use clap::error::ErrorKind;
use hence_model::diagnostic::Diagnostic;

use command::{Arguments, completions};
use console::{Colour, Console, Form};

/// How much stack a command should get. Little of it is used; expressions nest by recursion.
pub const STACK: usize = 256 << 20;

/// What lies outside of the program.
pub struct World {
    /// Where relative names start; empty for the directory of the process.
    pub directory: PathBuf,
    /// Where questions are answered.
    pub stdin: Box<dyn BufRead>,
    /// Whether a person types the answers.
    pub typed: bool,
    /// Where data goes.
    pub stdout: Box<dyn Write>,
    /// Where words go.
    pub stderr: Box<dyn Write>,
    /// Whether a person is watching the words as they appear.
    pub attended: bool,
    /// Whether words may be coloured.
    pub colour: bool,
    /// The variables of the environment.
    pub variable: fn(&str) -> Option<String>,
    /// The time, in milliseconds since 1970.
    pub now: fn() -> u64,
}

impl World {
    /// A world in which nobody listens, and nobody answers.
    pub fn unheard(
        directory: PathBuf,
        variable: fn(&str) -> Option<String>,
        now: fn() -> u64,
    ) -> Self {
        Self {
            directory,
            stdin: Box::new(io::empty()),
            typed: false,
            stdout: Box::new(io::sink()),
            stderr: Box::new(io::sink()),
            attended: false,
            colour: false,
            variable,
            now,
        }
    }
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done.
    Done,
    /// Something that the user gave is wrong, or a difference was found.
    Input,
    /// The world failed us.
    World,
    /// As another program ended that was run instead.
    Other(u8),
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Input => 1,
            Exit::World => 2,
            Exit::Other(code) => code,
        }
    }
}

/// Why a command stops before its end.
#[derive(Debug)]
pub enum Stop {
    /// It was asked for something that it cannot do.
    Refused(Box<Diagnostic>),
    /// The world failed it.
    Failed(Box<Diagnostic>),
    /// Nobody reads what it prints any more.
    Closed,
}

impl From<io::Error> for Stop {
    /// Trouble with standard output; other files are reported by those who know their names.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::Closed,
            _ => Stop::Failed(Box::new(Diagnostic::error(
                result::UNWRITABLE,
                format!("standard output cannot be written: {error}"),
            ))),
        }
    }
}

/// Runs one command.
pub fn run(arguments: impl IntoIterator<Item = OsString>, world: &mut World) -> Exit {
    let typed: Vec<OsString> = arguments.into_iter().collect();
    if let Some(shell) = (world.variable)(completions::VARIABLE) {
        return completions::answer(&shell, &typed, world);
    }
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(error) => return not_a_command(&typed, &error, world),
    };
    let mut console = Console::new(world, arguments.diagnostics, arguments.color);
    console.set_data_directory(arguments.data);
    match arguments.command.run(&mut console) {
        Ok(exit) => exit,
        Err(Stop::Refused(diagnostic)) => {
            console.refuse(&diagnostic);
            Exit::Input
        }
        Err(Stop::Failed(diagnostic)) => {
            console.refuse(&diagnostic);
            Exit::World
        }
        Err(Stop::Closed) => Exit::Done,
    }
}

/// Arguments that name no command: a wish for help, or a mistake.
fn not_a_command(typed: &[OsString], error: &clap::Error, world: &mut World) -> Exit {
    // A stream that is closed has nobody to complain to.
    let mut console = Console::new(world, Form::Text, Colour::Never);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let help = command::help::wished(&console, typed);
            let _ = console.data().write_all(help.as_bytes());
            Exit::Done
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let help = command::help::wished(&console, typed);
            let _ = world.stderr.write_all(help.as_bytes());
            Exit::Input
        }
        _ => {
            let _ = world.stderr.write_all(error.to_string().as_bytes());
            Exit::Input
        }
    }
}
