//! `hence help`: about a command, or about a diagnostic.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use hence_model::diagnostic::{Code, Diagnostic, similar};

use super::{Arguments, plugin};
use crate::console::Console;
use crate::pages::{PAGES, page};
use crate::{Exit, Stop};

/// Help is asked about something that there is not.
pub const UNKNOWN_TOPIC: Code = Code::new("help.unknown-topic");

/// Say more about a command or a diagnostic
#[derive(Args)]
pub struct Help {
    /// A command, or the code of a diagnostic such as `sf.parent-missing`
    #[arg(value_name = "COMMAND|CODE")]
    topic: Option<String>,
}

/// What all commands are for, in the order in which a newcomer meets them.
const CHAPTERS: [(&str, &[&str]); 9] = [
    ("First steps", &["quickstart", "doctor", "help"]),
    (
        "Sources and what they come to",
        &["compile", "check", "parse", "compare", "generate"],
    ),
    (
        "Why, and what if",
        &["why", "why-not", "impact", "blame", "diff"],
    ),
    (
        "What nodes should be",
        &[
            "push",
            "add",
            "set",
            "remove",
            "replace",
            "intersect",
            "toggle",
            "rename",
            "show",
            "list",
            "apropos",
            "tag",
            "untag",
            "guide",
            "console",
            "import",
        ],
    ),
    (
        "What nodes run",
        &[
            "validate",
            "plan",
            "activate",
            "rollout",
            "during",
            "inventory",
            "config",
            "explain",
            "export",
            "agent",
            "check-in",
        ],
    ),
    (
        "The ledger below it",
        &[
            "assert", "retract", "apply", "undo", "log", "state", "snapshot", "restore", "forget",
            "backup", "dump", "load", "store",
        ],
    ),
    ("One service for many", &["serve", "token", "watch"]),
    ("Servers and files that are as asserted", &["http", "xml"]),
    ("Your shell", &["completions", "man", "new-command"]),
];

impl Help {
    /// Prints the page.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut hence = Arguments::command();
        hence.build();
        let text = match &self.topic {
            None => {
                let below = below(&hence, &plugin::installed(console));
                in_chapters(&hence.after_help(below).render_long_help().to_string())
            }
            Some(topic) => match page(topic) {
                Some(page) => shown(page),
                None => match hence.find_subcommand_mut(topic) {
                    Some(command) => command.render_long_help().to_string(),
                    None => return about_plugin(console, topic, &hence),
                },
            },
        };
        console.data().write_all(tidy(&text).as_bytes())?;
        Ok(Exit::Done)
    }
}

/// Help as somebody wished for it with what was typed; if it is about all commands, they are in chapters, and the plug-ins follow.
pub fn wished(console: &Console<'_>, typed: &[OsString]) -> String {
    let mut hence = Arguments::command();
    // Help may be about all commands, also about those that were not called.
    hence.build();
    let help = match hence.try_get_matches_from_mut(typed) {
        Ok(_) => String::new(),
        Err(help) => help.to_string(),
    };
    let always = hence.get_after_help().map(ToString::to_string);
    let parts = always.as_deref().and_then(|always| help.split_once(always));
    match parts {
        Some((commands, rest)) => {
            let below = below(&hence, &plugin::installed(console));
            tidy(&in_chapters(&format!("{commands}{below}{rest}")))
        }
        None => tidy(&help),
    }
}

/// Help about all commands, which clap tells in one long list.
fn in_chapters(help: &str) -> String {
    let parts = help.split_once("Commands:\n");
    let parts = parts.and_then(|(above, rest)| Some((above, rest.split_once("\n\n")?)));
    let Some((above, (commands, below))) = parts else {
        return help.to_owned();
    };
    let named = |line| Some((str::split_whitespace(line).next()?, line));
    let lines: BTreeMap<&str, &str> = commands.lines().filter_map(named).collect();
    let chapters = CHAPTERS.iter().map(|(chapter, names)| {
        let lines = names.iter().filter_map(|name| lines.get(name).copied());
        format!("{chapter}:\n{}\n\n", lines.collect::<Vec<_>>().join("\n"))
    });
    format!("{above}{}{below}", chapters.collect::<String>())
}

/// A page without what its test does and a reader need not see.
fn shown(page: &str) -> String {
    let mut parts = page.split("<!-- ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        let rest = part.split_once("-->\n").map_or(part, |(_, rest)| rest);
        format!("{shown}{}", rest.strip_prefix('\n').unwrap_or(rest))
    })
}

/// Help without the blanks that clap leaves at the ends of lines.
fn tidy(help: &str) -> String {
    let lines = help.lines().map(str::trim_end);
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What stands below the commands: the plug-ins, if there are any, and what always does.
fn below(hence: &clap::Command, plugins: &BTreeMap<String, PathBuf>) -> String {
    let always = hence.get_after_help().map(ToString::to_string);
    let names = plugins.keys().map(|name| format!("  {name}\n"));
    let names: String = names.collect();
    let always = always.unwrap_or_default();
    match names.is_empty() {
        true => always,
        false => format!("Plug-ins:\n{names}\n{always}"),
    }
}

/// A plug-in speaks for itself.
fn about_plugin(
    console: &mut Console<'_>,
    topic: &str,
    hence: &clap::Command,
) -> Result<Exit, Stop> {
    let plugins = plugin::installed(console);
    match plugins.get(topic) {
        Some(program) => plugin::start(console, program, &["--help".into()]),
        None => {
            let trouble = unknown_topic(topic, hence, &plugins);
            Err(Stop::Refused(Box::new(trouble)))
        }
    }
}

fn unknown_topic(
    topic: &str,
    hence: &clap::Command,
    plugins: &BTreeMap<String, PathBuf>,
) -> Diagnostic {
    let commands = hence.get_subcommands().map(clap::Command::get_name);
    let commands = commands.chain(plugins.keys().map(String::as_str));
    let codes = PAGES.iter().map(|(code, _)| *code);
    // Who knows the word but not the language it belongs to finds it too.
    let words = codes.clone().filter(|code| {
        let word = code.split('.').nth(1).unwrap_or(code);
        !topic.is_empty() && word.contains(topic.rsplit('.').next().unwrap_or(topic))
    });
    let mut near = similar(topic, commands.chain(codes));
    near.extend(words.take(3));
    near.dedup();
    let message = format!("there is no command and no diagnostic named `{topic}`");
    let mut diagnostic = Diagnostic::error(UNKNOWN_TOPIC, message);
    for name in near.iter().take(3) {
        diagnostic = diagnostic.help(format!("did you mean `hence help {name}`?"));
    }
    diagnostic.help("`hence help` lists the commands; a diagnostic's code stands in its first line")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_chapter() {
        let hence = Arguments::command();
        let mut commands: Vec<&str> = hence
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let mut told: Vec<&str> = CHAPTERS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        commands.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, commands);
    }
}
