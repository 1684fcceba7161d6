//! `hence check`: what is wrong, and nothing else.

use clap::Args;

use super::source::{SourceOptions, join, sources_below};
use crate::console::Console;
use crate::{Exit, Stop};

/// Look for mistakes, and print nothing else
#[derive(Args)]
pub struct Check {
    /// The files, or folders whose files are checked
    #[arg(value_name = "FILE|DIR", required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    source: SourceOptions,
}

impl Check {
    /// Checks all files, also when some are wrong.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut worst = Exit::Done;
        for input in &self.inputs {
            for file in self.files(console, input)? {
                worst = worst.max(self.file(console, &file)?);
            }
        }
        Ok(worst)
    }

    fn files(&self, console: &Console<'_>, input: &str) -> Result<Vec<String>, Stop> {
        if !console.path(input).is_dir() || self.source.is_puppet() {
            return Ok(vec![input.to_owned()]);
        }
        let below = sources_below(console, input, None)?;
        Ok(below.iter().map(|file| join(input, file)).collect())
    }

    fn file(&self, console: &mut Console<'_>, file: &str) -> Result<Exit, Stop> {
        let outside = self.source.outside(console);
        self.source.compile(console, &outside, file, |_, compiled| {
            Ok(match compiled.unit().has_errors() {
                true => outside.blame(),
                false => Exit::Done,
            })
        })
    }
}
