//! `hence import`: what other systems wrote.

use clap::{Args, Subcommand};
use hence_fleet::feature_file;
use hence_fleet::wallaby;
use hence_ledger::Command;

use super::{Changing, read};
use crate::console::Console;
use crate::{Exit, Stop};

/// Take in what other systems wrote
#[derive(Args)]
pub struct Import {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The dump of a Wallaby store; it replaces all that the owner asserts
    Wallaby {
        /// The file that `wallaby dump` wrote; `-` for standard input
        file: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// A configuration file as a feature, with directives in its comments
    Feature {
        /// The file; `-` for standard input
        file: String,
        /// The name of the feature, whatever the file says
        #[arg(short, long)]
        name: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
}

impl Import {
    /// Imports it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match &self.what {
            What::Wallaby { file, changing } => self.wallaby(console, file, changing),
            What::Feature {
                file,
                name,
                changing,
            } => self.feature(console, file, name.as_deref(), changing),
        }
    }

    fn wallaby(
        &self,
        console: &mut Console<'_>,
        name: &str,
        changing: &Changing,
    ) -> Result<Exit, Stop> {
        let leave = changing.leave()?;
        let (sources, file) = match read(console, name) {
            Ok(read) => read,
            Err(exit) => return Ok(exit),
        };
        let imported = match wallaby::read(&sources, file) {
            Ok(imported) => imported,
            Err(troubles) => {
                console.show(&sources, &troubles);
                return Ok(Exit::Input);
            }
        };
        console.show(&sources, &imported.warnings);
        let owner = changing.owner();
        let apply = Command::apply(owner, imported.assertions, &hence_fleet::Words);
        let request = changing.request(console, format!("import wallaby {name}"));
        let mut service = changing.ledger.make(console)?;
        let result = service.import(&request, &[apply], &leave);
        changing.tell_all(console, result)
    }

    fn feature(
        &self,
        console: &mut Console<'_>,
        file_name: &str,
        name: Option<&str>,
        changing: &Changing,
    ) -> Result<Exit, Stop> {
        let leave = changing.leave()?;
        let (sources, file) = match read(console, file_name) {
            Ok(read) => read,
            Err(exit) => return Ok(exit),
        };
        let read = match feature_file::read(&sources, file, name) {
            Ok(read) => read,
            Err(troubles) => {
                console.show(&sources, &troubles);
                return Ok(Exit::Input);
            }
        };
        console.show(&sources, &read.warnings);
        let mut service = changing.ledger.make(console)?;
        let edits = read.edits(service.state());
        let request = changing.request(console, format!("import feature {file_name}"));
        let result = service.edit(&request, &edits, &leave);
        changing.tell(console, result)
    }
}
