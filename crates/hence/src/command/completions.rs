//! `hence completions`: a script that lets a shell ask us what could come next, and what we answer then: commands, options,
//! files, and the names that a fleet knows.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, Args, Command, CommandFactory, FromArgMatches, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, SubcommandCandidates, ValueCompleter,
};
use clap_complete::env::Shells;
use hence_fleet::Kind;
use hence_fleet::edit::{self, Thing};
use hence_service::Service;

use super::fleet::Ledger;
use super::fleet::entity::{any_kind, relation};
use super::{Arguments, plugin};
use crate::console::{Colour, Console, Form};
use crate::pages::PAGES;
use crate::{Exit, Stop, World};

/// The variable by which a shell asks: it says which shell that is.
pub const VARIABLE: &str = "HENCE_COMPLETE";

/// Print a script that lets a shell complete commands
#[derive(Args)]
#[command(
    after_help = "For bash: hence completions bash > ~/.local/share/bash-completion/completions/hence\n\n\
                  The names of nodes, groups, features, parameters and snapshots come from the ledger that a command would use."
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
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell.to_string());
        let shell = shell.expect("every shell can ask");
        shell.write_registration(VARIABLE, "hence", "hence", "hence", &mut script)?;
        console.data().write_all(&script)?;
        Ok(Exit::Done)
    }
}

/// Answers a shell that asks what could come next. What keeps us from an answer is not its user's matter now.
pub fn answer(shell: &str, asked: &[OsString], world: &mut World) -> Exit {
    let shells = Shells::builtins();
    let mut words = asked.splitn(2, |word| word == "--");
    let (Some(shell), Some(words @ [_, ..])) = (shells.completer(shell), words.nth(1)) else {
        return Exit::Input;
    };
    let index = (world.variable)("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse().ok());
    let index = index.unwrap_or(words.len().saturating_sub(1));
    let mut hence = Arguments::command();
    hence.build();
    let (typed, begun) = words.split_at(index.min(words.len()));
    let typed = Arc::new(Typed::new(&hence, typed, begun.first(), world));
    let plugins = typed.plugins.clone();
    let plugins = move || plugins.iter().map(CompletionCandidate::new).collect();
    let mut hence = completing(hence, &typed).add(SubcommandCandidates::new(plugins));
    let mut answer = Vec::new();
    let words = words.to_vec();
    let directory = Some(typed.directory.as_path());
    let written = shell.write_complete(&mut hence, words, directory, &mut answer);
    match written.and_then(|()| world.stdout.write_all(&answer)) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::World,
    }
}

/// A command whose arguments know what they could be: by what they are called in its usage. Options are many: they are
/// offered when one is begun, or if nothing else could come.
fn completing(command: Command, typed: &Arc<Typed>) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|argument| {
        let is_offered = argument.is_positional() || typed.begins_option;
        let argument = match place(&name, &argument) {
            None => argument,
            Some(Place::File) => argument.value_hint(ValueHint::AnyPath),
            Some(place) => argument.add(ArgValueCompleter::new(Completer {
                place,
                typed: typed.clone(),
            })),
        };
        match is_offered {
            true => argument,
            false => argument.hide(true),
        }
    });
    command.mut_subcommands(|command| completing(command, typed))
}

/// What can stand in a place.
#[derive(Clone, Copy)]
enum Place {
    File,
    /// A name of a kind.
    Name(Kind),
    /// A node, or a file.
    Subject,
    /// The name of a version.
    Snapshot,
    /// A kind.
    Kind,
    /// Kinds in the plural, and what else there are many of.
    Many,
    /// Names of the kind that was typed.
    OfKind,
    /// A kind and a name, then a relation and names.
    Related,
    /// A command, or the code of a diagnostic.
    Topic,
}

fn place(command: &str, argument: &Arg) -> Option<Place> {
    let called = argument.get_value_names()?.first()?.as_str();
    Some(match (command, called) {
        (_, "NODE" | "NODES") => Place::Name(Kind::Node),
        (_, "GROUP") => Place::Name(Kind::Group),
        ("explain", "PARAMETERS") => Place::Name(Kind::Param),
        ("why" | "blame", "SUBJECT") | ("diff", "OLD") => Place::Subject,
        ("forget", "NAME") | ("restore", "VERSION") | (_, "SNAPSHOT") => Place::Snapshot,
        (_, "VERSION") if argument.get_long() == Some("at") => Place::Snapshot,
        ("list", "KIND") => Place::Many,
        ("show" | "rename", "KIND") => Place::Kind,
        ("show", "NAMES") | ("rename", "OLD") => Place::OfKind,
        (_, called) if called.starts_with("KIND NAME") => Place::Related,
        (_, "COMMAND|CODE") => Place::Topic,
        ("rename", "NEW") => return None,
        (
            _,
            "FILE" | "FILE|DIR" | "FILE|all" | "FILE:LINE" | "FILE:LINE[:COLUMN]" | "DIR" | "DIR:…"
            | "[NAME=]DIR" | "DIRECTORY" | "ROOT" | "ENTRY" | "SCRIPT" | "FROM" | "TO" | "NEW",
        ) => Place::File,
        _ => return None,
    })
}

/// Knows what could stand in a place.
struct Completer {
    place: Place,
    typed: Arc<Typed>,
}

impl ValueCompleter for Completer {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let begun = current.to_string_lossy();
        let names = self.names().into_iter();
        let mut candidates: Vec<CompletionCandidate> = names
            .filter(|name| name.starts_with(&*begun))
            .map(CompletionCandidate::new)
            .collect();
        if let Place::Subject = self.place {
            let directory = self.typed.directory.clone();
            candidates.extend(
                PathCompleter::any()
                    .current_dir(directory)
                    .complete(current),
            );
        }
        candidates
    }
}

impl Completer {
    fn names(&self) -> Vec<String> {
        let typed = &self.typed;
        let words = typed.words.get(1..).unwrap_or_default();
        match self.place {
            Place::File => Vec::new(),
            Place::Name(kind) => typed.names(kind),
            Place::Subject => typed.names(Kind::Node),
            Place::Snapshot => typed.snapshots(),
            Place::Kind => kinds(""),
            Place::Many => {
                let others = ["tags", "snapshots"].map(str::to_owned);
                kinds("s").into_iter().chain(others).collect()
            }
            Place::OfKind => match words.first().map(|kind| any_kind(kind)) {
                Some(Ok(kind)) => typed.names(kind),
                _ => Vec::new(),
            },
            Place::Related => typed.related(words),
            Place::Topic => {
                let codes = PAGES.iter().map(|(code, _)| (*code).to_owned());
                let commands = typed.commands.iter().chain(&typed.plugins);
                codes.chain(commands.cloned()).collect()
            }
        }
    }
}

/// What there is in a fleet.
fn kinds(ending: &str) -> Vec<String> {
    let kinds = Kind::ALL.into_iter();
    kinds
        .map(|kind| format!("{}{ending}", kind.word()))
        .collect()
}

/// What was typed before, and where it was.
struct Typed {
    /// The command and what follows, but for options and their values.
    words: Vec<String>,
    /// Whether an option follows.
    begins_option: bool,
    /// Which ledger is meant.
    ledger: Option<Ledger>,
    commands: Vec<String>,
    plugins: Vec<String>,
    directory: PathBuf,
    variable: fn(&str) -> Option<String>,
    now: fn() -> u64,
}

impl Typed {
    /// After the name of the program these words were typed, and another one was begun.
    fn new(
        hence: &Command,
        typed: &[OsString],
        begun: Option<&OsString>,
        world: &mut World,
    ) -> Self {
        let ledger = Ledger::augment_args(Command::new("hence"));
        let is_about_ledger = |long| {
            let mut options = ledger.get_arguments();
            options.any(|option| option.get_long() == Some(long))
        };
        let mut words: Vec<String> = Vec::new();
        let mut options = vec!["hence".to_owned()];
        let mut command = hence;
        let mut typed = typed.iter().skip(1).map(|word| word.to_string_lossy());
        while let Some(word) = typed.next() {
            let option = command.get_arguments().find(|option| named(option, &word));
            if let Some(option) = option {
                let takes_value = option.get_action().takes_values() && !word.contains('=');
                let value = takes_value.then(|| typed.next()).flatten();
                if option.get_long().is_some_and(is_about_ledger) {
                    options.push(word.into_owned());
                    options.extend(value.map(|value| value.into_owned()));
                }
            } else if !word.starts_with('-') {
                if let Some(below) = command.find_subcommand(&*word) {
                    command = below;
                }
                words.push(word.into_owned());
            }
        }
        let ledger = ledger.try_get_matches_from(options);
        let commands = hence.get_subcommands().map(Command::get_name);
        let plugins = plugin::installed(&Console::new(world, Form::Text, Colour::Never));
        Self {
            words,
            begins_option: begun.is_some_and(|word| word.to_string_lossy().starts_with('-')),
            ledger: ledger
                .and_then(|ledger| Ledger::from_arg_matches(&ledger))
                .ok(),
            commands: commands.map(str::to_owned).collect(),
            plugins: plugins.into_keys().collect(),
            directory: match world.directory.as_os_str().is_empty() {
                true => std::env::current_dir().unwrap_or_default(),
                false => world.directory.clone(),
            },
            variable: world.variable,
            now: world.now,
        }
    }

    /// What a ledger says, if there is one and it can be read.
    fn read<T>(&self, read: impl FnOnce(&Service) -> T) -> Option<T> {
        let mut world = World::unheard(self.directory.clone(), self.variable, self.now);
        let mut console = Console::new(&mut world, Form::Text, Colour::Never);
        let service = self.ledger.as_ref()?.open(&mut console).ok()?;
        Some(read(&service))
    }

    fn names(&self, kind: Kind) -> Vec<String> {
        let names = self.read(|service| edit::names(service.state(), kind));
        names.unwrap_or_default()
    }

    fn snapshots(&self) -> Vec<String> {
        let names = self.read(|service| {
            let head = service.repository().head();
            let snapshots = head.iter().flat_map(|entry| entry.snapshots.keys());
            snapshots.map(ToString::to_string).collect()
        });
        names.unwrap_or_default()
    }

    /// What could follow a kind, a name, a relation and names.
    fn related(&self, words: &[String]) -> Vec<String> {
        let Some((word, rest)) = words.split_first() else {
            let special = ["default", "skeleton"].map(str::to_owned);
            return kinds("").into_iter().chain(special).collect();
        };
        let (kind, rest) = match (Thing::special(word), any_kind(word), rest) {
            (Some(group), _, rest) => (group.kind, rest),
            (None, Ok(kind), [_, rest @ ..]) if word == kind.word() => (kind, rest),
            (None, Ok(kind), _) => return self.names(kind),
            (None, Err(_), _) => return Vec::new(),
        };
        match rest.first().map(|word| relation(kind, word)) {
            None => {
                let relations = kind.relations().iter();
                relations.map(|one| one.word().to_owned()).collect()
            }
            Some(Ok(relation)) => self.names(relation.other(kind)),
            Some(Err(_)) => Vec::new(),
        }
    }
}

/// Whether a word is an option, maybe with its value.
fn named(option: &Arg, word: &str) -> bool {
    let long = word.strip_prefix("--").map(|word| word.split('=').next());
    match long {
        Some(long) => option.get_long() == long,
        None => word
            .strip_prefix('-')
            .is_some_and(|short| option.get_short() == short.chars().next() && !short.is_empty()),
    }
}
