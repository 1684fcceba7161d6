//! What is said about a site: it is pending until it is committed, and then served all at once.

use clap::Args;
use hence_closure::closure::{Closure, Manner, Published};
use hence_closure::language::{self, Order, Placed};
use hence_closure::words::{self as vocabulary, Subject};
use hence_ledger::Key;
use hence_model::source::Sources;
use hence_store::Refused;
use serde::Serialize;

use super::{Http, confirm, cost, print_changes, stop, tell, warn};
use crate::command::fleet::{Format, faulty, names, print_json, read};
use crate::console::Console;
use crate::{Exit, Stop};

/// A command of the language.
#[derive(Args)]
pub struct Words {
    /// What is said, in words
    #[arg(required = true)]
    words: Vec<String>,
}

impl Words {
    /// Adds it to what is pending.
    pub fn run(&self, verb: &str, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        say(verb, &self.words, http, console)
    }
}

/// Serve a file or directory, as it is now: `post DIRECTORY http://foo.test/`; or show a certificate: `post cert CHAIN KEY
/// foo.test 192.0.2.1:443`
#[derive(Args)]
pub struct Post {
    /// What is posted, and where
    #[arg(required = true)]
    words: Vec<String>,
    /// A file is what its directory answers
    #[arg(long)]
    as_index: bool,
    /// Of which type a file is
    #[arg(long = "type", value_name = "TYPE")]
    media: Option<String>,
}

impl Post {
    /// Adds it to what is pending.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut words = self.words.clone();
        if self.as_index {
            words.push("--as-index".to_owned());
        }
        if let Some(media) = &self.media {
            words.extend(["--type".to_owned(), media.clone()]);
        }
        say("post", &words, http, console)
    }
}

/// Serve a directory as a whole site: `become web-server foo.test --from DIRECTORY`
#[derive(Args)]
pub struct Become {
    /// The words `web-server` and the host
    #[arg(required = true)]
    words: Vec<String>,
    /// The directory
    #[arg(long, value_name = "DIRECTORY")]
    from: Option<String>,
}

impl Become {
    /// Adds it to what is pending.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut words = self.words.clone();
        if let Some(from) = &self.from {
            words.extend(["--from".to_owned(), from.clone()]);
        }
        say("become", &words, http, console)
    }
}

/// Adds to what is pending what somebody says in words.
fn say(verb: &str, words: &[String], http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let line = format!("{verb} {}", language::joined(words));
    let mut sources = Sources::default();
    let Ok(file) = sources.add("command", &line) else {
        return Ok(Exit::Input);
    };
    match language::parse(&sources, file, http.owner()) {
        Ok(orders) => add(http, console, &orders),
        Err(troubles) => {
            console.show(&sources, &troubles);
            Ok(Exit::Input)
        }
    }
}

/// Let an owner assert what is in a file, and nothing else: `apply owner tree:web1 web1.set`
#[derive(Args)]
pub struct Apply {
    /// The word `owner`
    #[arg(value_name = "owner", value_parser = ["owner"])]
    _owner: String,
    /// Whose assertions these are
    name: String,
    /// The file, with one assertion on each line; `-` is standard input
    file: String,
}

impl Apply {
    /// Adds it to what is pending.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let (sources, file): (Sources, _) = match read(console, &self.file) {
            Ok(given) => given,
            Err(exit) => return Ok(exit),
        };
        match language::parse_set(&sources, file, &self.name) {
            Ok(placed) => add(http, console, &[placed]),
            Err(troubles) => {
                console.show(&sources, &troubles);
                Ok(Exit::Input)
            }
        }
    }
}

/// What was added to what is pending, as programs read it: commands of the language.
#[derive(Serialize)]
struct ToldPending {
    pending: Vec<String>,
}

/// Adds orders to what is pending; what is about the present is fixed now.
pub fn add(http: &Http, console: &mut Console<'_>, orders: &[Placed]) -> Result<Exit, Stop> {
    let closure = http.open(console)?;
    let directory = console.path("");
    let pending = closure.pending(http.owner());
    let mut pending = pending.map_err(|refused| stop(console, refused))?;
    let mut state = closure.state_with(&pending);
    let mut added = Vec::new();
    for placed in orders {
        let meant = closure.translate(&placed.order, http.owner(), &state, &directory);
        let meant = meant.map_err(|refused| stop(console, refused))?;
        for command in &meant.commands {
            state.perform(
                command,
                closure.repository().version() + 1,
                &vocabulary::Words,
            );
        }
        let written = language::written(&meant.commands);
        if http.format == Format::Text && !matches!(placed.order, Order::Write(_)) {
            for line in written.lines() {
                console.say(&format!("  {line}"));
            }
        }
        added.extend(written.lines().map(str::to_owned));
        pending.add(&meant);
    }
    let kept = closure.keep_pending(http.owner(), &pending);
    kept.map_err(|refused| stop(console, refused))?;
    if http.format == Format::Json {
        print_json(console, &ToldPending { pending: added })?;
        return Ok(Exit::Done);
    }
    console.say("pending; `hence http plan` shows what it does, `hence http commit` serves it");
    Ok(Exit::Done)
}

/// Show what is pending, and what it would do
#[derive(Args)]
pub struct Plan {
    #[command(flatten)]
    leave: Leave,
}

/// What is granted beyond what is usual.
#[derive(Args)]
pub struct Leave {
    /// Take what this is about, and all below it, from its owner: a key, or `host HOST`
    #[arg(long, value_name = "KEY")]
    take: Vec<String>,
    /// Assert also what has no effect yet
    #[arg(long)]
    dormant: bool,
}

impl Leave {
    fn keys(&self) -> Result<Vec<Key>, Stop> {
        let mut keys = Vec::new();
        for text in &self.take {
            let words: Vec<&str> = text.split_whitespace().collect();
            keys.push(match words.as_slice() {
                [key] => Key::new(names(key)?.iter().map(String::as_str)),
                words => Subject::read(words).map_err(faulty)?.0.key(),
            });
        }
        Ok(keys)
    }
}

impl Plan {
    /// Shows it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        let pending = closure.pending(http.owner());
        let pending = pending.map_err(|refused| stop(console, refused))?;
        let take = self.leave.keys()?;
        let manner = Manner {
            take: &take,
            dormant: self.leave.dormant,
        };
        match closure.plan(http.owner(), &pending.commands, manner) {
            Ok((done, warnings)) => {
                print_changes(console, http.format, &done.changes)?;
                warn(console, &warnings);
                if done.changes.is_empty() {
                    console.say("nothing changes");
                    return Ok(Exit::Done);
                }
                cost(console, &done);
                let generation = closure.repository().version();
                console.say(&format!(
                    "`hence http commit --if-generation {generation}` serves exactly this"
                ));
                Ok(Exit::Done)
            }
            Err(troubles) => Err(stop(console, Refused::Because(troubles))),
        }
    }
}

/// Forget what is pending
#[derive(Args)]
pub struct Discard {}

/// Whether there was anything to forget, as programs read it.
#[derive(Serialize)]
struct ToldDiscard {
    discarded: bool,
}

impl Discard {
    /// Forgets it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let closure = http.open(console)?;
        let owner = http.owner();
        let forgotten = closure.forget_pending(owner);
        let forgotten = forgotten.map_err(|refused| stop(console, refused))?;
        if http.format == Format::Json {
            print_json(
                console,
                &ToldDiscard {
                    discarded: forgotten,
                },
            )?;
            return Ok(Exit::Done);
        }
        console.say(&match forgotten {
            true => format!("what `{owner}` had pending is forgotten; what is served stays"),
            false => format!("`{owner}` had nothing pending"),
        });
        Ok(Exit::Done)
    }
}

/// Serve what is pending, all of it or nothing
#[derive(Args)]
pub struct Commit {
    /// Why, for the history
    #[arg(short, long, value_name = "WORDS", default_value = "")]
    message: String,
    /// Refuse if the newest generation is another one
    #[arg(long, value_name = "GENERATION")]
    if_generation: Option<u64>,
    /// Take it back by itself if nobody confirms it in this time, such as `10m`
    #[arg(long, value_name = "TIME")]
    confirm_within: Option<String>,
    #[command(flatten)]
    leave: Leave,
}

impl Commit {
    /// Serves it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut closure = http.open(console)?;
        let pending = closure.pending(http.owner());
        let pending = pending.map_err(|refused| stop(console, refused))?;
        let take = self.leave.keys()?;
        let manner = Manner {
            take: &take,
            dormant: self.leave.dormant,
        };
        let mut request = http.request(console, &self.message, pending.text);
        request.if_version = self.if_generation;
        closure
            .nothing_waits()
            .map_err(|refused| stop(console, refused))?;
        let within = self
            .confirm_within
            .as_deref()
            .map(confirm::time)
            .transpose()?;
        if let Some(within) = within {
            let demanded = closure.demand_confirmation(request.time, request.time + within);
            demanded.map_err(|refused| stop(console, refused))?;
        }
        let published = closure.commit(&request, &pending.commands, manner);
        let is_waiting = matches!(published, Ok(Published::New { .. }));
        if within.is_some() && !is_waiting {
            closure.settle().map_err(|refused| stop(console, refused))?;
        }
        let published = published.map_err(|refused| stop(console, refused))?;
        closure
            .forget_pending(http.owner())
            .map_err(|refused| stop(console, refused))?;
        let exit = tell(http, console, &published)?;
        if within.is_some() && is_waiting {
            confirm::wait(closure.root());
            console.say("`hence http confirm` keeps it; otherwise it is taken back by itself");
        }
        Ok(exit)
    }
}

/// Commits what is pending, as a script asks.
pub fn commit(http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let commit = Commit {
        message: String::new(),
        if_generation: None,
        confirm_within: None,
        leave: Leave {
            take: Vec::new(),
            dormant: false,
        },
    };
    commit.run(http, console)
}

/// Take back a generation, or the newest that stands, and serve the rest
#[derive(Args)]
pub struct Undo {
    /// The generation
    generation: Option<u64>,
}

impl Undo {
    /// Takes it back.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut closure = http.open(console)?;
        let text = match self.generation {
            Some(generation) => format!("undo {generation}"),
            None => "undo".to_owned(),
        };
        let request = http.request(console, "", text);
        let waits = closure.unconfirmed();
        let waits = waits.map_err(|refused| stop(console, refused))?;
        // What waits can be taken back, and nothing from below it.
        if self
            .generation
            .is_some_and(|generation| waits.is_some_and(|waits| waits.generation != generation))
        {
            closure
                .nothing_waits()
                .map_err(|refused| stop(console, refused))?;
        }
        let published = closure.undo(&request, self.generation);
        let published = published.map_err(|refused| stop(console, refused))?;
        settled(&closure, console, &published)?;
        tell(http, console, &published)
    }
}

/// Serve again what was served as a generation
#[derive(Args)]
pub struct Rollback {
    /// The generation
    generation: u64,
}

impl Rollback {
    /// Serves it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut closure = http.open(console)?;
        let request = http.request(console, "", format!("rollback {}", self.generation));
        let published = closure.restore(&request, self.generation);
        let published = published.map_err(|refused| stop(console, refused))?;
        settled(&closure, console, &published)?;
        tell(http, console, &published)
    }
}

/// Nothing waits to be confirmed any more, if something else is served now.
fn settled(
    closure: &Closure<'_>,
    console: &mut Console<'_>,
    published: &Published,
) -> Result<(), Stop> {
    if matches!(published, Published::RolledBack { .. }) {
        return Ok(());
    }
    closure.settle().map_err(|refused| stop(console, refused))
}
