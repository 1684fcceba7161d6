//! `hence push`: sources drive the fleet.
//!
//! What a file compiles to is applied as all that one owner asserts: removing a line retracts. With it are kept the sources,
//! and how they led to each assertion, so that questions are answered on any machine.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, ValueEnum};
use hence_fleet::plan::{self, Nodes, Plan};
use hence_fleet::{Pool, Words, tree};
use hence_ledger::admission::WALK_IN;
use hence_ledger::entry::Origin;
use hence_ledger::{Change, Command, Hash, Key, State, Value};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::explanation::Shown;
use hence_model::path::Path;
use hence_model::source::Span;
use serde::Serialize;

use super::difference::line;
use super::{Changing, Format, ToldChange, counted, many, print_json, shown};
use crate::command::blame::origin;
use crate::command::source::SourceOptions;
use crate::configuration::Configuration;
use crate::console::Console;
use crate::difference::leaves;
use crate::git::Lines;
use crate::pushed::{Pushed, Source};
use crate::{Exit, Stop};

/// What is described is no fleet.
pub const NOT_A_FLEET: Code = Code::new("fleet.schema");
/// It is not said whose assertions a file is.
pub const NO_OWNER: Code = Code::new("input.no-owner");

/// Compile a file that describes a fleet, and apply it as all that an owner asserts
#[derive(Args)]
pub struct Push {
    /// The file: SmartFrog or CF2
    file: String,
    /// Change nothing, and say what would change; the exit code is 1 if anything would
    #[arg(long)]
    plan: bool,
    /// With `--plan`: for a review
    #[arg(long, value_enum, requires = "plan")]
    review: Option<Review>,
    #[command(flatten)]
    changing: Changing,
    #[command(flatten)]
    source: SourceOptions,
}

/// For a review.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Review {
    /// As Markdown
    Markdown,
}

/// What a file comes to.
struct Compiled {
    assertions: Vec<tree::Described>,
    /// Those that a secret flows into.
    secrets: BTreeSet<Key>,
    pushed: Pushed,
    /// The texts of the sources, by their hashes.
    texts: Vec<(Hash, Vec<u8>)>,
}

impl Push {
    /// Pushes it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        if self.changing.owner.is_none() {
            let message = "it is not said whose assertions this file is";
            let trouble = Diagnostic::error(NO_OWNER, message);
            let help =
                "`--owner NAME` says it: all that NAME asserts is replaced by what is in the file";
            return Err(Stop::Refused(Box::new(trouble.help(help))));
        }
        let leave = self.changing.leave()?;
        let mut compiled = None;
        let outside = self.source.outside(console);
        let exit =
            self.source
                .compile(console, &outside, &self.file, |console, configuration| {
                    if !configuration.is_good() {
                        return Ok(outside.blame());
                    }
                    match self.compile(console, configuration) {
                        Ok(described) => {
                            compiled = Some(described);
                            Ok(Exit::Done)
                        }
                        Err(troubles) => {
                            console.show(&configuration.unit().sources, &troubles);
                            Ok(Exit::Input)
                        }
                    }
                })?;
        let Some(compiled) = compiled else {
            return Ok(exit);
        };
        let mut service = self.changing.ledger.make(console)?;
        let mut assertions = compiled.assertions;
        if !compiled.secrets.is_empty() {
            let seal = self.changing.ledger.seal(console)?;
            for described in &mut assertions {
                if let (true, Some(text)) = (
                    compiled.secrets.contains(&described.key),
                    described.value.as_text(),
                ) {
                    described.value = Value::Sealed(seal.seal(text));
                }
            }
        }
        let owner = self.changing.owner();
        // What others hold is theirs.
        let mut left: Vec<(Key, String)> = Vec::new();
        let mut set = Vec::new();
        for described in assertions {
            let holder = service.state().get(&described.key);
            let holder = holder.filter(|held| held.owner != owner && held.owner != WALK_IN);
            let is_taken = leave.take.iter().any(|top| described.key.is_under(top));
            match holder {
                Some(assertion) if !is_taken => {
                    if assertion.value != described.value {
                        left.push((described.key, assertion.owner.to_string()));
                    }
                }
                _ => set.push((described.key, described.value)),
            }
        }
        let apply = Command::apply(owner, set, &Words);
        if self.plan {
            return self.tell_plan(console, service.state(), &apply, &left);
        }
        let bytes = serde_json::to_vec(&compiled.pushed).expect("it can be written");
        let hash = Hash::of(&bytes);
        let mut request = self.changing.request(console, String::new());
        request.origin = Origin::Sources(hash);
        request.objects = compiled.texts;
        request.objects.push((hash, bytes));
        let result = service.commit(&request, &[apply], &leave);
        self.tell_left(console, &left);
        self.changing.tell(console, result)
    }

    /// What the file describes, and where each of it is written.
    fn compile(
        &self,
        console: &mut Console<'_>,
        configuration: &mut Configuration<'_>,
    ) -> Result<Compiled, Vec<Diagnostic>> {
        let value = configuration.outputs();
        let assertions = tree::read(&value).map_err(|misfits| {
            let leaves = leaves(&value).into_iter().map(|(path, _)| path);
            let leaves: Vec<Path> = leaves.collect();
            let misfits = misfits.into_iter();
            misfits
                .map(|misfit| misfitting(configuration, &leaves, misfit))
                .collect::<Vec<_>>()
        })?;
        let mut pushed = Pushed {
            entry: self.file.clone(),
            ..Pushed::default()
        };
        let mut lines = Lines::new(console.path(""), None);
        let mut used: BTreeSet<String> = BTreeSet::new();
        let mut secrets = BTreeSet::new();
        let count = assertions.len();
        for (number, described) in assertions.iter().enumerate() {
            if number % 256 == 255 {
                console.progress(&format!("{} of {count} assertions", number + 1));
            }
            let Ok(explained) = configuration.explain(&described.path) else {
                continue;
            };
            if explained.value == Shown::Secret {
                secrets.insert(described.key.clone());
            }
            let Some(span) = origin(&explained) else {
                continue;
            };
            let location = configuration.unit().sources.location(span.start);
            if let Some(commit) = lines.commit(&location.file, location.line) {
                pushed
                    .commits
                    .insert(described.key.to_string(), commit.line());
            }
            used.insert(location.file.clone());
            pushed
                .places
                .insert(described.key.to_string(), location.to_string());
        }
        console.end_progress();
        let sources = &configuration.unit().sources;
        let mut texts = Vec::new();
        for file in sources.files() {
            let name = sources.name(file).to_owned();
            if used.contains(&name) {
                let text = sources.slice(sources.span(file)).as_bytes().to_vec();
                let hash = Hash::of(&text);
                pushed.sources.push(Source { name, hash });
                texts.push((hash, text));
            }
        }
        Ok(Compiled {
            assertions,
            secrets,
            pushed,
            texts,
        })
    }

    fn tell_left(&self, console: &mut Console<'_>, left: &[(Key, String)]) {
        for (key, owner) in left {
            console.say(&format!("left alone: {key} belongs to `{owner}`"));
        }
    }

    fn tell_plan(
        &self,
        console: &mut Console<'_>,
        state: &State,
        apply: &Command,
        left: &[(Key, String)],
    ) -> Result<Exit, Stop> {
        let mut after = state.clone();
        let changes = hence_ledger::state::net(after.perform(apply, 0, &Words));
        let (before, after) = (Pool::new(state), Pool::new(&after));
        let troubles = hence_fleet::check(&after, &changes);
        let plan = plan::plan(&before, &after, Nodes::Reached(&changes));
        match (self.review, self.changing.format) {
            (Some(Review::Markdown), _) => {
                let text = markdown(&self.file, &changes, &plan, left);
                write!(console.data(), "{text}")?;
            }
            (None, Format::Json) => {
                let told = Told {
                    changes: changes.iter().map(ToldChange::new).collect(),
                    nodes: plan.nodes.iter().map(|(node, _)| node.as_str()).collect(),
                    left: left
                        .iter()
                        .map(|(key, owner)| (key.as_str(), owner.as_str()))
                        .collect(),
                };
                print_json(console, &told)?;
            }
            (None, Format::Text) => {
                for change in &changes {
                    writeln!(console.data(), "{}", line(change))?;
                }
                self.tell_left(console, left);
                let nodes = many(plan.nodes.len(), "node");
                match changes.is_empty() {
                    true => console.say("nothing would change"),
                    false => console.say(&format!("{}; {nodes} would change", counted(&changes))),
                }
            }
        }
        for trouble in &troubles {
            console.refuse(trouble);
        }
        Ok(match changes.is_empty() {
            true => Exit::Done,
            false => Exit::Input,
        })
    }
}

#[derive(Serialize)]
struct Told<'a> {
    changes: Vec<ToldChange<'a>>,
    nodes: Vec<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left: BTreeMap<&'a str, &'a str>,
}

/// What would change, for a review.
fn markdown(file: &str, changes: &[Change], plan: &Plan, left: &[(Key, String)]) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    if changes.is_empty() {
        return format!("**`{file}` changes nothing**\n");
    }
    let mut text = format!(
        "**`{file}`: {}; {} would change**\n\n| key | before | after |\n|---|---|---|\n",
        counted(changes),
        many(plan.nodes.len(), "node")
    );
    for change in changes {
        let value = |assertion: &Option<hence_ledger::Assertion>| match assertion {
            None => String::new(),
            Some(assertion) => match shown(&assertion.value) {
                Some(value) => format!("`{}`", cell(&value)),
                None => "asserted".to_owned(),
            },
        };
        let (before, after) = (value(&change.before), value(&change.after));
        text.push_str(&format!(
            "| `{}` | {before} | {after} |\n",
            cell(change.key.as_str())
        ));
    }
    if !plan.nodes.is_empty() {
        text.push_str("\n| node | parameter | before | after |\n|---|---|---|---|\n");
    }
    for (node, difference) in &plan.nodes {
        for changed in &difference.parameters {
            let (before, after) = (
                super::plan::value(&changed.before),
                super::plan::value(&changed.after),
            );
            text.push_str(&format!(
                "| {} | `{}` | `{}` | `{}` |\n",
                cell(node),
                cell(&changed.name),
                cell(&before),
                cell(&after)
            ));
        }
    }
    for (key, owner) in left {
        text.push_str(&format!("\nLeft alone: `{key}` belongs to `{owner}`.\n"));
    }
    text
}

/// Where a value is written.
fn place(configuration: &mut Configuration<'_>, path: &Path) -> Option<Span> {
    origin(&configuration.explain(path).ok()?)
}

/// What is wrong, and where; of a block, where the first value in it is written.
fn misfitting(
    configuration: &mut Configuration<'_>,
    leaves: &[Path],
    misfit: tree::Misfit,
) -> Diagnostic {
    let mut trouble = Diagnostic::error(NOT_A_FLEET, misfit.message);
    trouble
        .help
        .extend(Some(misfit.help).filter(|help| !help.is_empty()));
    trouble.path = Some(configuration.path(&misfit.path));
    let below = leaves
        .iter()
        .filter(|leaf| leaf.0.starts_with(&misfit.path.0));
    let candidates = std::iter::once(&misfit.path).chain(below.take(100));
    let found = candidates
        .into_iter()
        .find_map(|path| place(configuration, path));
    match found {
        Some(span) => trouble.at(span),
        None => trouble,
    }
}
