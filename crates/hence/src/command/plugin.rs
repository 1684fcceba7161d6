//! Commands that others wrote: `hence NAME` runs the program `hence-NAME` on the PATH, as git and cargo do.
//!
//! It gets our streams and its own arguments, and we end as it does. To call back it finds our program in `HENCE`, and
//! the ledger that was named before it in `HENCE_DATA`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::process::{self, ExitStatus};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use hence_model::diagnostic::{Code, Diagnostic, similar};

use super::Arguments;
use crate::console::Console;
use crate::{Exit, Stop};

/// A plug-in is there, and does not start.
pub const CANNOT_RUN: Code = Code::new("plugin.cannot-run");

/// What the name of a plug-in's program begins with.
pub const PREFIX: &str = "hence-";

/// Runs the plug-in that the first word names, with the others as its arguments.
pub fn run(console: &mut Console<'_>, words: &[OsString]) -> Result<Exit, Stop> {
    let (name, arguments) = words.split_first().expect("clap saw a name");
    let plugins = installed(console);
    match name.to_str().and_then(|name| plugins.get(name)) {
        Some(program) => start(console, program, arguments),
        None => {
            let error = unknown(&name.to_string_lossy(), &plugins);
            console.words(&error.to_string());
            Ok(Exit::Input)
        }
    }
}

/// The plug-ins on the PATH, by name. Of two with one name the first is found, as a shell would.
pub fn installed(console: &Console<'_>) -> BTreeMap<String, PathBuf> {
    let mut plugins = BTreeMap::new();
    let path = console.variable("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&path) {
        // An empty one would be wherever somebody happens to be.
        if folder.as_os_str().is_empty() {
            continue;
        }
        let Ok(entries) = fs::read_dir(console.path(&folder.to_string_lossy())) else {
            continue;
        };
        for entry in entries.flatten() {
            let program = entry.path();
            if let Some(name) = name_of(&entry.file_name())
                && is_executable(&program)
            {
                plugins.entry(name).or_insert(program);
            }
        }
    }
    let hence = Arguments::command();
    let own = hence.get_subcommands();
    let own = own.flat_map(|own| own.get_all_aliases().chain([own.get_name()]));
    // Nobody could run a plug-in that is called as a command of ours.
    own.for_each(|own| drop(plugins.remove(own)));
    plugins
}

/// The name of the command that a program is, if it is one.
fn name_of(program: &OsStr) -> Option<String> {
    let name = program.to_str()?.strip_prefix(PREFIX)?;
    let name = name.strip_suffix(std::env::consts::EXE_SUFFIX)?;
    // One that a terminal would take for more than a name nobody has typed.
    let is_name = !name.is_empty() && !name.contains(char::is_control);
    is_name.then(|| name.to_owned())
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let data = fs::metadata(program);
    data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}

/// Runs a plug-in, and ends as it does.
pub fn start(
    console: &mut Console<'_>,
    program: &Path,
    arguments: &[OsString],
) -> Result<Exit, Stop> {
    let mut command = process::Command::new(program);
    command.args(arguments);
    if let Some(directory) = console.directory() {
        command.current_dir(directory);
    }
    if let Ok(hence) = std::env::current_exe() {
        command.env("HENCE", hence);
    }
    if let Some(data) = console.data_directory() {
        // It may go elsewhere before it calls back.
        let directory = console.path(data);
        let data = match hence_store::Address::is_meant(data) {
            true => data.into(),
            false => absolute(&directory).unwrap_or(directory),
        };
        command.env("HENCE_DATA", data);
    }
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    match command.status() {
        Ok(status) => Ok(end(console, &name, status)),
        Err(error) => {
            let message = format!("`{name}` cannot be run: {error}");
            let trouble = Diagnostic::error(CANNOT_RUN, message);
            let help = format!("it is `{}`", program.display());
            Err(Stop::Failed(Box::new(trouble.help(help))))
        }
    }
}

/// The end of a program is ours; one that was killed is the world's fault.
pub fn end(console: &mut Console<'_>, name: &str, status: ExitStatus) -> Exit {
    match status.code() {
        Some(0) => Exit::Done,
        Some(code) => Exit::Other(u8::try_from(code).unwrap_or(Exit::World.code())),
        None => {
            console.say(&format!("`{name}` was killed: {status}"));
            Exit::World
        }
    }
}

/// What clap says of an unknown command, which it leaves to us as it might be a plug-in.
fn unknown(name: &str, plugins: &BTreeMap<String, PathBuf>) -> clap::Error {
    let mut hence = Arguments::command();
    let own = hence.get_subcommands().map(clap::Command::get_name);
    let near = similar(name, own.chain(plugins.keys().map(String::as_str)));
    let near: Vec<String> = near.into_iter().map(str::to_owned).collect();
    let mut error = clap::Error::new(ErrorKind::InvalidSubcommand).with_cmd(&hence);
    let mut insert = |kind, value| drop(error.insert(kind, value));
    insert(
        ContextKind::InvalidSubcommand,
        ContextValue::String(name.to_owned()),
    );
    if !near.is_empty() {
        insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(near),
        );
    }
    insert(
        ContextKind::Usage,
        ContextValue::StyledStr(hence.render_usage()),
    );
    error
}
