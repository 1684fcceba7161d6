//! The commands: one file each.

mod agent;
mod blame;
mod check;
mod compare;
mod compile;
pub mod completions;
mod console;
mod diff;
mod doctor;
pub mod fleet;
mod folder;
mod generate;
pub mod help;
mod http;
mod impact;
mod man;
mod new_command;
mod nodes;
mod parse;
mod plugin;
mod puppet;
mod quickstart;
mod serve;
pub mod source;
mod token;
mod watch;
mod why;
mod why_not;
mod xml;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

pub use why::{secrets, step_words};

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
    /// The directory of the ledger, for any command
    #[arg(long, value_name = "DIR")]
    pub data: Option<String>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do. What a command can be told is made known when it is called: to prepare all of them would take longer than
/// many of them do.
#[derive(Subcommand)]
#[command(defer = true)]
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
    Guide(fleet::guide::Guide),
    #[allow(missing_docs)]
    Add(fleet::entity::Add),
    #[allow(missing_docs)]
    Set(fleet::entity::Set),
    #[allow(missing_docs)]
    Remove(fleet::entity::Remove),
    #[allow(missing_docs)]
    Replace(fleet::entity::Replace),
    #[allow(missing_docs)]
    Intersect(fleet::entity::Intersect),
    #[allow(missing_docs)]
    Toggle(fleet::entity::Toggle),
    #[allow(missing_docs)]
    Rename(fleet::entity::Rename),
    #[allow(missing_docs)]
    Show(fleet::show::Show),
    #[allow(missing_docs)]
    List(fleet::show::List),
    #[allow(missing_docs)]
    Apropos(fleet::show::Apropos),
    #[allow(missing_docs)]
    Inventory(fleet::inventory::Inventory),
    #[allow(missing_docs)]
    CheckIn(fleet::inventory::CheckIn),
    #[allow(missing_docs)]
    Tag(fleet::tag::Tag),
    #[allow(missing_docs)]
    Untag(fleet::tag::Untag),
    #[allow(missing_docs)]
    Push(fleet::push::Push),
    #[allow(missing_docs)]
    Validate(fleet::validate::Validate),
    #[allow(missing_docs)]
    Plan(fleet::plan::Plan),
    #[allow(missing_docs)]
    Activate(fleet::activate::Activate),
    #[allow(missing_docs)]
    Rollout(fleet::rollout::Rollout),
    #[allow(missing_docs)]
    During(fleet::during::During),
    #[allow(missing_docs)]
    Config(fleet::config::Config),
    #[allow(missing_docs)]
    Explain(fleet::explain::Explain),
    #[allow(missing_docs)]
    Export(fleet::config::Export),
    #[allow(missing_docs)]
    Import(fleet::import::Import),
    #[allow(missing_docs)]
    Snapshot(fleet::snapshot::Snapshot),
    #[allow(missing_docs)]
    Forget(fleet::snapshot::Forget),
    #[allow(missing_docs)]
    Restore(fleet::snapshot::Restore),
    #[allow(missing_docs)]
    Assert(fleet::change::Assert),
    #[allow(missing_docs)]
    Retract(fleet::change::Retract),
    #[allow(missing_docs)]
    Apply(fleet::change::Apply),
    #[allow(missing_docs)]
    Undo(fleet::change::Undo),
    #[allow(missing_docs)]
    State(fleet::state::State),
    #[allow(missing_docs)]
    Log(fleet::log::Log),
    #[allow(missing_docs)]
    Store(fleet::store::Store),
    #[allow(missing_docs)]
    Backup(fleet::state::Backup),
    #[allow(missing_docs)]
    Dump(fleet::state::Dump),
    #[allow(missing_docs)]
    Load(fleet::state::Load),
    #[allow(missing_docs)]
    Xml(xml::Xml),
    #[allow(missing_docs)]
    Agent(agent::Agent),
    #[allow(missing_docs)]
    Http(http::Http),
    #[allow(missing_docs)]
    Quickstart(quickstart::Quickstart),
    #[allow(missing_docs)]
    Doctor(doctor::Doctor),
    #[allow(missing_docs)]
    Serve(serve::Serve),
    #[allow(missing_docs)]
    Token(token::Token),
    #[allow(missing_docs)]
    Watch(watch::Watch),
    #[allow(missing_docs)]
    Console(console::Console),
    #[allow(missing_docs)]
    Parse(parse::Parse),
    #[allow(missing_docs)]
    Compare(compare::Compare),
    #[allow(missing_docs)]
    Generate(generate::Generate),
    #[allow(missing_docs)]
    NewCommand(new_command::NewCommand),
    #[allow(missing_docs)]
    Help(help::Help),
    #[allow(missing_docs)]
    Completions(completions::Completions),
    #[allow(missing_docs)]
    Man(man::Man),
    /// A command of somebody else.
    #[command(external_subcommand)]
    Plugin(Vec<OsString>),
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
            Command::Guide(guide) => guide.run(console),
            Command::Add(add) => add.run(console),
            Command::Set(set) => set.run(console),
            Command::Remove(remove) => remove.run(console),
            Command::Replace(replace) => replace.run(console),
            Command::Intersect(intersect) => intersect.run(console),
            Command::Toggle(toggle) => toggle.run(console),
            Command::Rename(rename) => rename.run(console),
            Command::Show(show) => show.run(console),
            Command::List(list) => list.run(console),
            Command::Apropos(apropos) => apropos.run(console),
            Command::Inventory(inventory) => inventory.run(console),
            Command::CheckIn(check_in) => check_in.run(console),
            Command::Tag(tag) => tag.run(console),
            Command::Untag(untag) => untag.run(console),
            Command::Push(push) => push.run(console),
            Command::Validate(validate) => validate.run(console),
            Command::Plan(plan) => plan.run(console),
            Command::Activate(activate) => activate.run(console),
            Command::Rollout(rollout) => rollout.run(console),
            Command::During(during) => during.run(console),
            Command::Config(config) => config.run(console),
            Command::Explain(explain) => explain.run(console),
            Command::Export(export) => export.run(console),
            Command::Import(import) => import.run(console),
            Command::Snapshot(snapshot) => snapshot.run(console),
            Command::Forget(forget) => forget.run(console),
            Command::Restore(restore) => restore.run(console),
            Command::Assert(assert) => assert.run(console),
            Command::Retract(retract) => retract.run(console),
            Command::Apply(apply) => apply.run(console),
            Command::Undo(undo) => undo.run(console),
            Command::State(state) => state.run(console),
            Command::Log(log) => log.run(console),
            Command::Store(store) => store.run(console),
            Command::Backup(backup) => backup.run(console),
            Command::Dump(dump) => dump.run(console),
            Command::Load(load) => load.run(console),
            Command::Xml(xml) => xml.run(console),
            Command::Agent(agent) => agent.run(console),
            Command::Http(http) => http.run(console),
            Command::Quickstart(quickstart) => quickstart.run(console),
            Command::Doctor(doctor) => doctor.run(console),
            Command::Serve(serve) => serve.run(console),
            Command::Token(token) => token.run(console),
            Command::Watch(watch) => watch.run(console),
            Command::Console(script) => script.run(console),
            Command::Parse(parse) => parse.run(console),
            Command::Compare(compare) => compare.run(console),
            Command::Generate(generate) => generate.run(console),
            Command::NewCommand(new_command) => new_command.run(console),
            Command::Help(help) => help.run(console),
            Command::Completions(completions) => completions.run(console),
            Command::Man(man) => man.run(console),
            Command::Plugin(words) => plugin::run(console, &words),
        }
    }
}
