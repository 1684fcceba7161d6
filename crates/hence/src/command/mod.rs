//! The commands: one file each.

mod blame;
mod check;
mod compare;
mod compile;
mod completions;
mod diff;
mod folder;
mod generate;
pub mod help;
mod impact;
mod man;
mod nodes;
mod parse;
mod puppet;
pub mod source;
mod why;
mod why_not;

use clap::{Parser, Subcommand};

use crate::console::{Colour, Console, Form};
use crate::{Exit, Stop};

/// What `hence` can be asked for.
#[derive(Parser)]
#[command(
    name = "hence",
    version,
    about = "Compiles configuration, and can say why each value is what it is",
    disable_help_subcommand = true,
    after_help = "`hence help COMMAND` says more about a command, `hence help CODE` about a diagnostic.\n\
                  Exit codes: 0 done, 1 something is wrong with the input, 2 the system failed."
)]
pub struct Arguments {
    /// How diagnostics are written to standard error
    #[arg(
        long,
        global = true,
        help_heading = "Everywhere",
        value_enum,
        value_name = "FORM",
        default_value = "text"
    )]
    pub diagnostics: Form,
    /// When diagnostics are coloured
    #[arg(
        long,
        global = true,
        help_heading = "Everywhere",
        value_enum,
        value_name = "WHEN",
        default_value = "auto"
    )]
    pub color: Colour,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    #[allow(missing_docs)]
    Compile(compile::Compile),
    #[allow(missing_docs)]
    Check(check::Check),
    #[allow(missing_docs)]
    Why(why::Why),
    #[allow(missing_docs)]
    WhyNot(why_not::WhyNot),
    #[allow(missing_docs)]
    Impact(impact::Impact),
    #[allow(missing_docs)]
    Blame(blame::Blame),
    #[allow(missing_docs)]
    Diff(diff::Diff),
    #[allow(missing_docs)]
    Parse(parse::Parse),
    #[allow(missing_docs)]
    Compare(compare::Compare),
    #[allow(missing_docs)]
    Generate(generate::Generate),
    #[allow(missing_docs)]
    Help(help::Help),
    #[allow(missing_docs)]
    Completions(completions::Completions),
    #[allow(missing_docs)]
    Man(man::Man),
}

impl Command {
    /// Does it.
    pub fn run(self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match self {
            Command::Compile(compile) => compile.run(console),
            Command::Check(check) => check.run(console),
            Command::Why(why) => why.run(console),
            Command::WhyNot(why_not) => why_not.run(console),
            Command::Impact(impact) => impact.run(console),
            Command::Blame(blame) => blame.run(console),
            Command::Diff(diff) => diff.run(console),
            Command::Parse(parse) => parse.run(console),
            Command::Compare(compare) => compare.run(console),
            Command::Generate(generate) => generate.run(console),
            Command::Help(help) => help.run(console),
            Command::Completions(completions) => completions.run(console),
            Command::Man(man) => man.run(console),
        }
    }
}
