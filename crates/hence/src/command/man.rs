//! `hence man`: manual pages.

use clap::{Args, CommandFactory};

use super::Arguments;
use crate::console::Console;
use crate::result::unwritable;
use crate::{Exit, Stop};

/// Print the manual page, or write the pages of all commands to a folder
#[derive(Args)]
#[command(after_help = "To read it at once: hence man | man -l -")]
pub struct Man {
    /// Where to write `hence.1`, `hence-compile.1` and so on; the folder must exist
    #[arg(value_name = "DIR")]
    folder: Option<String>,
}

impl Man {
    /// Prints or writes the pages.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match &self.folder {
            Some(folder) => {
                clap_mangen::generate_to(Arguments::command(), console.path(folder))
                    .map_err(|error| unwritable(folder, &error))?;
            }
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
                console.data().write_all(&page)?;
            }
        }
        Ok(Exit::Done)
    }
}
