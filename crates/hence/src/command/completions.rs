//! `hence completions`: what a shell needs to complete our commands.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Arguments;
use crate::console::Console;
use crate::{Exit, Stop};

/// Print a script that lets a shell complete commands
#[derive(Args)]
#[command(
    after_help = "For bash: hence completions bash > ~/.local/share/bash-completion/completions/hence"
)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "hence", &mut script);
        console.data().write_all(&script)?;
        Ok(Exit::Done)
    }
}
