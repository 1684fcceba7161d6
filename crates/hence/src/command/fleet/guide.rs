//! `hence guide`: a fleet by menus, for those who do not know the commands yet.
//!
//! Every step is what a command would do, through the same service: it looks, or it commits one change. After a change
//! the guide says what now stands in the way of an activation, and offers the repairs. The ledger is held only during a
//! step, so that others can work while somebody reads a menu.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hence_fleet::check::WRONG_VALUE;
use hence_fleet::edit::{self, Edit, Item, Relation, Thing};
use hence_fleet::words::DEFAULT_SPELLED;
use hence_fleet::{Failure, Kind, Repair};
use hence_ledger::key::fold;
use hence_ledger::{Command, Fault, Key, State, Value, parser};
use hence_model::diagnostic::Code;
use hence_model::source::Sources;
use hence_service::{Extent, Leave, Service};
use hence_store::{LOCKED, Receipt, Refused};

use super::entity::thing;
use super::{Changing, Format, Ledger, activate, explain, many, plan, show, snapshot, stop, tell};
use crate::console::Console;
use crate::{Exit, Stop};

/// So many things are shown to choose from; part of a name finds the others.
const SHOWN: usize = 30;

/// So many kinds of failure are shown after a change; repairing them shows the next.
const FAILURES: usize = 5;

/// Look at a fleet and change it by menus
#[derive(Args)]
#[command(
    after_help = "Choose by number or name. An empty answer goes back, the end of the input leaves."
)]
pub struct Guide {
    #[command(flatten)]
    ledger: Ledger,
    /// On whose behalf: whose assertions these are; without it, those of `operator`
    #[arg(long, value_name = "NAME", help_heading = "Ledger")]
    owner: Option<String>,
    /// Who does it; without it `$HENCE_AUTHOR`, or `$USER`
    #[arg(long, value_name = "NAME", help_heading = "Ledger")]
    author: Option<String>,
}

impl Guide {
    /// Shows the menu until somebody leaves.
    pub fn run(self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let changing = &Changing {
            ledger: self.ledger,
            owner: self.owner,
            author: self.author,
            message: String::new(),
            if_version: None,
            take: Vec::new(),
            dormant: false,
            format: Format::Text,
        };
        let mut talk = Talk { console, changing };
        match talk.run() {
            Ok(()) | Err(Break::End | Break::Back) => Ok(Exit::Done),
            Err(Break::Stop(stop)) => Err(stop),
        }
    }
}

/// Why a step ends before its end.
enum Break {
    /// Somebody thought better of it.
    Back,
    /// Somebody leaves, or does not answer any more.
    End,
    /// It cannot go on.
    Stop(Stop),
}

impl From<Stop> for Break {
    fn from(stop: Stop) -> Self {
        Break::Stop(stop)
    }
}

impl From<io::Error> for Break {
    fn from(error: io::Error) -> Self {
        Break::Stop(error.into())
    }
}

type Step<T = ()> = Result<T, Break>;

/// What came of a change.
enum Tried {
    Done,
    Refused(Code),
}

/// What can be done.
#[derive(Clone, Copy)]
enum Action {
    Look(Kind),
    Snapshots,
    Explain,
    Install,
    Uninstall,
    Set,
    AddNode,
    AddGroup,
    Remove(Kind),
    Plan,
    Activate,
    Snapshot,
    Undo,
    Leave,
}

/// The menu.
const MENU: [(&str, Action); 18] = [
    ("look at a node", Action::Look(Kind::Node)),
    ("look at a group", Action::Look(Kind::Group)),
    ("look at a feature", Action::Look(Kind::Feature)),
    ("look at a parameter", Action::Look(Kind::Param)),
    ("look at snapshots", Action::Snapshots),
    ("see a node's configuration, and why", Action::Explain),
    ("install a feature", Action::Install),
    ("remove a feature", Action::Uninstall),
    ("set a parameter", Action::Set),
    ("add a node", Action::AddNode),
    ("add a group", Action::AddGroup),
    ("remove a node", Action::Remove(Kind::Node)),
    ("remove a group", Action::Remove(Kind::Group)),
    ("show what an activation would change", Action::Plan),
    ("activate", Action::Activate),
    ("take a snapshot", Action::Snapshot),
    ("undo the newest change", Action::Undo),
    ("leave", Action::Leave),
];

/// A talk with somebody.
struct Talk<'c, 'w> {
    console: &'c mut Console<'w>,
    changing: &'c Changing,
}

impl Talk<'_, '_> {
    fn run(&mut self) -> Step {
        let ledger = &self.changing.ledger;
        if !ledger.is_there(self.console) {
            let directory = ledger.directory(self.console);
            if !self.agreed(&format!("there is no ledger in `{directory}`; make one?"))? {
                return Ok(());
            }
        }
        self.show_menu()?;
        loop {
            let answer = self.ask("\nwhat to do (nothing: the menu)")?;
            if answer.is_empty() {
                self.show_menu()?;
                continue;
            }
            let Some(number) = number(&answer, MENU.len()) else {
                let count = MENU.len();
                self.say(&format!("a number from 1 to {count} is expected"))?;
                continue;
            };
            match self.act(MENU[number].1) {
                Ok(()) | Err(Break::Back) => {}
                // Somebody can do something about it.
                Err(Break::Stop(Stop::Refused(trouble))) => self.console.refuse(&trouble),
                // Somebody else is at work, and will be done.
                Err(Break::Stop(Stop::Failed(trouble))) if trouble.code == LOCKED => {
                    self.console.refuse(&trouble);
                }
                Err(other) => return Err(other),
            }
        }
    }

    fn show_menu(&mut self) -> Step {
        for (number, (words, _)) in MENU.iter().enumerate() {
            writeln!(self.console.data(), "{:>4}  {words}", number + 1)?;
        }
        Ok(())
    }

    fn act(&mut self, action: Action) -> Step {
        let service = &mut self.changing.ledger.make(self.console)?;
        match action {
            Action::Look(kind) => self.look(service, kind),
            Action::Snapshots => Ok(show::snapshots(self.console, service, Format::Text)?),
            Action::Explain => self.explain(service),
            Action::Install => self.install(service),
            Action::Uninstall => self.uninstall(service),
            Action::Set => self.set(service),
            Action::AddNode => self.add_node(service),
            Action::AddGroup => self.add_group(service),
            Action::Remove(kind) => self.remove(service, kind),
            Action::Plan => self.plan(service),
            Action::Activate => self.activate(service),
            Action::Snapshot => self.snapshot(service),
            Action::Undo => self.undo(service),
            Action::Leave => Err(Break::End),
        }
    }

    fn look(&mut self, service: &mut Service, kind: Kind) -> Step {
        let thing = self.choose_thing(service, kind)?;
        Ok(show::print(self.console, service.state(), &thing)?)
    }

    fn explain(&mut self, service: &mut Service) -> Step {
        let node = self.choose_thing(service, Kind::Node)?.name;
        explain::node(self.console, service, &None, Format::Text, &node, &[])?;
        Ok(())
    }

    fn install(&mut self, service: &mut Service) -> Step {
        let place = self.choose_place(service)?;
        let feature = self.choose_thing(service, Kind::Feature)?;
        show::print(self.console, service.state(), &feature)?;
        let question = format!("install `{}` on {}?", feature.name, place.words());
        if !self.agreed(&question)? {
            return Ok(());
        }
        let words = format!("add {} feature {}", place.words(), feature.name);
        let item = Item {
            name: feature.name,
            value: None,
        };
        let add = Edit::Add(place, Relation::Feature, vec![item], None);
        self.change(service, words, &[add])
    }

    fn uninstall(&mut self, service: &mut Service) -> Step {
        let place = self.choose_place(service)?;
        let installed = edit::order(service.state(), &place, Relation::Feature);
        let spelled = installed.iter().map(|(name, _)| {
            let spelling = service.head().spelling(Kind::Feature, name);
            spelling.map_or_else(|| name.clone(), String::from)
        });
        let spelled: Vec<String> = spelled.collect();
        let feature = self.choose(&format!("features of {}", place.words()), &spelled)?;
        let words = format!("remove {} feature {feature}", place.words());
        let remove = Edit::Drop(place, Relation::Feature, vec![feature]);
        self.change(service, words, &[remove])
    }

    /// Asks for a value until it is one of the parameter's kind.
    fn set(&mut self, service: &mut Service) -> Step {
        let parameter = self.choose_thing(service, Kind::Param)?;
        show::print(self.console, service.state(), &parameter)?;
        let place = self.choose_place(service)?;
        let on = place.words();
        loop {
            let name = parameter.name.clone();
            let value = self.answer(&format!("value of {name} on {on}"))?;
            let words = format!("set {on} param {name}={value}");
            let item = Item {
                name,
                value: Some(value),
            };
            let set = Edit::Add(place.clone(), Relation::Param, vec![item], None);
            match self.try_edits(service, words, &[set])? {
                Tried::Done => return self.after_change(service),
                Tried::Refused(WRONG_VALUE) => {}
                Tried::Refused(_) => return Ok(()),
            }
        }
    }

    fn add_node(&mut self, service: &mut Service) -> Step {
        let name = self.answer("name of the node")?;
        let node = thing(Kind::Node, &name);
        let mut edits = vec![Edit::Create(node.clone(), Vec::new())];
        if !edit::names(service.state(), Kind::Group).is_empty() {
            let groups = self.ask("its groups, the first is the strongest (nothing: none)")?;
            let groups = groups.split_whitespace().map(|name| Item {
                name: name.to_owned(),
                value: None,
            });
            let groups: Vec<Item> = groups.collect();
            if !groups.is_empty() {
                edits.push(Edit::Add(node, Relation::Group, groups, None));
            }
        }
        self.change(service, format!("add node {name}"), &edits)
    }

    fn add_group(&mut self, service: &mut Service) -> Step {
        let name = self.answer("name of the group")?;
        let words = format!("add group {name}");
        let create = Edit::Create(thing(Kind::Group, &name), Vec::new());
        self.change(service, words, &[create])
    }

    /// Shows what goes with a thing first.
    fn remove(&mut self, service: &mut Service, kind: Kind) -> Step {
        let thing = self.choose_thing(service, kind)?;
        show::print(self.console, service.state(), &thing)?;
        let what = thing.words();
        let remove = [Edit::Remove(thing)];
        let owner = self.changing.owner();
        let commands = edit::commands(service.state(), owner, &remove[0]).map_err(refused)?;
        let count = many(retracted(service.state(), &commands), "assertion");
        let stays = match kind {
            Kind::Group => "; its nodes stay",
            _ => "",
        };
        self.say(&format!("all of this goes with it, {count}{stays}"))?;
        match self.agreed(&format!("remove {what}?"))? {
            true => self.change(service, format!("remove {what}"), &remove),
            false => Ok(()),
        }
    }

    fn plan(&mut self, service: &mut Service) -> Step {
        let planned = service.plan(&Extent::Everything);
        let planned = planned.map_err(|refused| stop(self.console, refused))?;
        Ok(plan::text(self.console, service, &planned, false)?)
    }

    /// Shows what would change first, and does that or nothing.
    fn activate(&mut self, service: &mut Service) -> Step {
        self.plan(service)?;
        let seen = service.pair();
        let seen = seen.map_err(|error| Stop::Failed(Box::new(error.into())))?;
        if service.head().validate().is_empty() && self.agreed("activate?")? {
            let request = self.changing.request(self.console, "activate");
            let result = service.activate(&request, &Extent::Everything, Some(seen));
            let activated = result.map_err(|refused| stop(self.console, refused))?;
            activate::tell(self.console, Format::Text, service, &activated)?;
            return self.offer_snapshot(service, "take a snapshot?");
        }
        Ok(())
    }

    fn offer_snapshot(&mut self, service: &mut Service, question: &str) -> Step {
        match self.agreed(question)? {
            true => self.snapshot(service),
            false => Ok(()),
        }
    }

    fn snapshot(&mut self, service: &mut Service) -> Step {
        let name = self.ask("name of the snapshot (nothing: one that says when)")?;
        let annotation = self.ask("what people should know about it")?;
        let version = service.repository().version();
        let changing = self.changing;
        snapshot::take(self.console, changing, service, &name, version, &annotation)?;
        Ok(())
    }

    fn undo(&mut self, service: &mut Service) -> Step {
        let request = self.changing.request(self.console, "undo");
        let result = service.undo(&request, None, None);
        if let Ok((_, told)) = &result {
            for trouble in told {
                self.console.refuse(trouble);
            }
        }
        match self.told(result.map(|(receipt, _)| receipt))? {
            Tried::Done => self.after_change(service),
            Tried::Refused(_) => Ok(()),
        }
    }

    /// Makes edits, and says what they lead to.
    fn change(&mut self, service: &mut Service, words: String, edits: &[Edit]) -> Step {
        match self.try_edits(service, words, edits)? {
            Tried::Done => self.after_change(service),
            Tried::Refused(_) => Ok(()),
        }
    }

    fn try_edits(&mut self, service: &mut Service, words: String, edits: &[Edit]) -> Step<Tried> {
        let request = self.changing.request(self.console, words);
        let result = service.edit(&request, edits, &Leave::default());
        self.told(result)
    }

    /// Says what came of a change; one that is refused is no reason to leave.
    fn told(&mut self, result: Result<Receipt, Refused>) -> Step<Tried> {
        match result {
            Ok(receipt) => {
                tell(self.console, Format::Text, &receipt)?;
                match receipt {
                    Receipt::Done(_) => Ok(Tried::Done),
                    // There is nothing to speak about.
                    Receipt::Nothing => Err(Break::Back),
                }
            }
            Err(refused) => match stop(self.console, refused) {
                Stop::Refused(trouble) => {
                    self.console.refuse(&trouble);
                    Ok(Tried::Refused(trouble.code))
                }
                stop => Err(stop.into()),
            },
        }
    }

    /// Says what stands in the way of an activation and does repairs, until nothing does or somebody has enough. Either
    /// way all that was done can be kept under a name.
    fn after_change(&mut self, service: &mut Service) -> Step {
        loop {
            let failures = service.head().validate();
            if failures.is_empty() {
                let nodes = many(service.head().node_count(), "node");
                self.say(&format!("{nodes}, nothing is wrong"))?;
                return self.offer_snapshot(service, "take a snapshot?");
            }
            let repairs = self.show_failures(service, &failures)?;
            let answer = self.ask("number of a repair to do (nothing: none)")?;
            if answer.is_empty() {
                // What is half done may be worth coming back to.
                let question = "take a snapshot, wrong as it is?";
                return self.offer_snapshot(service, question);
            }
            match number(&answer, repairs.len()) {
                Some(number) => self.repair(service, &repairs[number])?,
                None => self.say(&format!("there is no repair {answer}"))?,
            }
        }
    }

    /// Shows failures, those together that differ only in their nodes, and numbers what would repair them.
    fn show_failures(&mut self, service: &Service, failures: &[Failure]) -> Step<Vec<Repair>> {
        let mut alike: Vec<(&Failure, usize)> = Vec::new();
        for failure in failures {
            let same = |(first, _): &&mut (&Failure, usize)| {
                (first.code, &first.names) == (failure.code, &failure.names)
            };
            match alike.iter_mut().find(same) {
                Some((_, count)) => *count += 1,
                None => alike.push((failure, 1)),
            }
        }
        let mut repairs = Vec::new();
        for (failure, count) in alike.iter().take(FAILURES) {
            let more = match count - 1 {
                0 => String::new(),
                more => format!(", and so it is on {}", many(more, "other node")),
            };
            self.say(&format!("wrong: {}{more}", failure.message()))?;
            for repair in service.head().repairs(failure) {
                repairs.push(repair);
                let (number, repair) = (repairs.len(), &repairs[repairs.len() - 1]);
                writeln!(self.console.data(), "{number:>4}  {repair}")?;
            }
        }
        if alike.len() > FAILURES {
            self.say(&format!("and {} more", alike.len() - FAILURES))?;
        }
        Ok(repairs)
    }

    /// Does a repair; where only people can know a value, they are asked.
    fn repair(&mut self, service: &mut Service, repair: &Repair) -> Step {
        let owner = self.changing.owner();
        let mut sources = Sources::default();
        let text = repair.commands.join("\n");
        let file = sources.add("repair", &text).expect("a repair is short");
        let script = parser::parse(&sources, file, owner, &hence_fleet::Words);
        let script = script.expect("repairs are written in the ledger's language");
        let mut done: Vec<Command> = Vec::new();
        for mut command in script.commands {
            if let Command::Assert { key, value, .. } = &mut command
                && value.as_text() == Some("VALUE")
            {
                *value = Value::text(self.answer(&format!("value for {key}"))?);
            }
            done.push(command);
        }
        let request = self
            .changing
            .request(self.console, repair.commands.join("; "));
        let result = service.commit(&request, &done, &Leave::default());
        self.told(result)?;
        Ok(())
    }

    /// A group, a node, or the group that every node is in.
    fn choose_place(&mut self, service: &Service) -> Step<Thing> {
        let places = ["a group", "a node", "every node"].map(str::to_owned);
        match self.choose("where", &places)?.as_str() {
            "a group" => self.choose_thing(service, Kind::Group),
            "a node" => self.choose_thing(service, Kind::Node),
            _ => Ok(thing(Kind::Group, DEFAULT_SPELLED)),
        }
    }

    fn choose_thing(&mut self, service: &Service, kind: Kind) -> Step<Thing> {
        let mut names = edit::names(service.state(), kind);
        names.sort();
        let name = self.choose(&format!("{}s", kind.word()), &names)?;
        Ok(thing(kind, &name))
    }

    /// Lets somebody choose a name: by its number, by itself, or by a part of it that leaves fewer to choose from.
    fn choose(&mut self, title: &str, names: &[String]) -> Step<String> {
        if names.is_empty() {
            self.say(&format!("{title}: none"))?;
            return Err(Break::Back);
        }
        let mut left: Vec<&String> = names.iter().collect();
        loop {
            self.say(&format!("{title}:"))?;
            for (number, name) in left.iter().take(SHOWN).enumerate() {
                writeln!(self.console.data(), "{:>4}  {name}", number + 1)?;
            }
            if left.len() > SHOWN {
                let more = left.len() - SHOWN;
                self.say(&format!("      and {more} more; part of a name finds them"))?;
            }
            let answer = self.answer("which (nothing: back)")?;
            let folded = fold(&answer);
            if let Some(name) = names.iter().find(|name| fold(name) == folded) {
                return Ok(name.clone());
            }
            if let Some(number) = number(&answer, left.len().min(SHOWN)) {
                return Ok(left[number].clone());
            }
            let found = names.iter().filter(|name| fold(name).contains(&folded));
            let found: Vec<&String> = found.collect();
            match found.as_slice() {
                [] => self.say(&format!("there is no `{answer}`"))?,
                [only] => return Ok((*only).clone()),
                _ => left = found,
            }
        }
    }

    fn agreed(&mut self, question: &str) -> Step<bool> {
        let answer = self.ask(&format!("{question} (yes, or nothing)"))?;
        Ok(matches!(fold(&answer).as_str(), "y" | "yes"))
    }

    /// An answer; without one the step is over.
    fn answer(&mut self, question: &str) -> Step<String> {
        match self.ask(question)? {
            answer if answer.is_empty() => Err(Break::Back),
            answer => Ok(answer),
        }
    }

    /// An answer, which may be empty.
    fn ask(&mut self, question: &str) -> Step<String> {
        write!(self.console.data(), "{question}: ")?;
        self.console.data().flush()?;
        let mut line = Vec::new();
        let read = self.console.input().read_until(b'\n', &mut line)?;
        let answer = String::from_utf8_lossy(&line).trim().to_owned();
        // Who types sees it; in a transcript it would be missing.
        if read == 0 || !self.console.is_attended() {
            self.say(&answer)?;
        }
        match read {
            0 => Err(Break::End),
            _ => Ok(answer),
        }
    }

    fn say(&mut self, words: &str) -> Step {
        Ok(writeln!(self.console.data(), "{words}")?)
    }
}

impl Ledger {
    /// A file beside the ledger, for what only those who sit at a terminal care about.
    pub fn beside(&self, console: &Console<'_>, name: &str) -> PathBuf {
        console.path(&self.directory(console)).join(name)
    }
}

/// How many assertions commands would retract.
fn retracted(state: &State, commands: &[Command]) -> usize {
    let keys = commands.iter().filter_map(|command| match command {
        Command::Retract(keys) => Some(keys.clone()),
        _ => None,
    });
    let keys: BTreeSet<&Key> = keys
        .flat_map(|keys| state.among(keys))
        .map(|(key, _)| key)
        .collect();
    keys.len()
}

fn refused(fault: Fault) -> Stop {
    Stop::Refused(Box::new(fault.into()))
}

/// The place of a number in a list that people count from one.
fn number(answer: &str, count: usize) -> Option<usize> {
    let number: usize = answer.parse().ok()?;
    (1..=count).contains(&number).then(|| number - 1)
}
