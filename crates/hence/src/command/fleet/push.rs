//! `hence push`: sources drive the fleet.
//!
//! What a file compiles to is applied as all that one owner asserts: removing a line retracts. With it are kept the sources,
//! and how they led to each assertion, so that questions are answered on any machine.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clap::{Args, ValueEnum};
use hence_fleet::plan::{self, Nodes, Plan};
use hence_fleet::{Pool, Words, tree};
use hence_ledger::admission::WALK_IN;
use hence_ledger::entry::Origin;
use hence_ledger::{Change, Command, Hash, Key, State, Value};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::explanation::{Explanation, Shown, StepKind};
use hence_model::path::Path;
use hence_model::source::{Location, Sources, Span};
use serde::Serialize;

use super::difference::line;
use super::web::Web;
use super::{Changing, Format, ToldChange, counted, many, print_json, shown};
use crate::command::blame::origin;
use crate::command::source::{Language, SourceOptions};
use crate::command::why;
use crate::configuration::Configuration;
use crate::console::Console;
use crate::difference::leaves;
use crate::git::Lines;
use crate::{Exit, Stop};
use hence_service::pushed::{Pushed, Source, Step, Way};

/// What is described is no fleet.
pub const NOT_A_FLEET: Code = Code::new("fleet.schema");
/// It is not said whose assertions a file is.
pub const NO_OWNER: Code = Code::new("input.no-owner");

/// Compile a file that describes a fleet, and apply it as all that an owner asserts
#[derive(Args)]
pub struct Push {
    /// The file: SmartFrog or CF2; `-` for standard input
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
    /// Where each of them is written.
    places: BTreeMap<Key, Span>,
    pushed: Pushed,
    /// The texts of the sources, by their hashes.
    texts: Vec<(Hash, Vec<u8>)>,
    /// The content of web sites.
    contents: BTreeMap<Hash, Vec<u8>>,
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
        if self.source.language(&self.file)? == Language::Puppet {
            let message = "a manifest of Puppet describes the catalogs of nodes, and no fleet";
            let trouble = Diagnostic::error(NOT_A_FLEET, message);
            let help = format!(
                "a fleet is described in SmartFrog or CF2; `hence compile {} --node NAME` is the catalog of a node",
                self.file
            );
            return Err(Stop::Refused(Box::new(trouble.help(help))));
        }
        let file = self.source.named(console, &self.file)?;
        let outside = self.source.outside(console);
        self.source
            .compile(console, &outside, file, |console, configuration| {
                if !configuration.is_good() {
                    return Ok(outside.blame());
                }
                let compiled = self.compile(console, file, configuration);
                let sources = &configuration.unit().sources;
                match compiled {
                    Ok(compiled) => self.commit(console, sources, compiled),
                    Err(troubles) => {
                        console.show(sources, &troubles);
                        Ok(Exit::Input)
                    }
                }
            })
    }

    fn commit(
        &self,
        console: &mut Console<'_>,
        sources: &Sources,
        compiled: Compiled,
    ) -> Result<Exit, Stop> {
        let mut leave = self.changing.leave()?;
        let mut service = self.changing.ledger.make(console)?;
        let mut assertions = compiled.assertions;
        if !compiled.secrets.is_empty() {
            let is_secret = |described: &&mut tree::Described| {
                compiled.secrets.contains(&described.key) && described.value.as_text().is_some()
            };
            let secrets: Vec<&mut tree::Described> =
                assertions.iter_mut().filter(is_secret).collect();
            let texts = secrets.iter().filter_map(|secret| secret.value.as_text());
            let texts: Vec<&str> = texts.collect();
            let ledger = &self.changing.ledger;
            let sealed = ledger.sealed(console, &service, &texts, &mut leave)?;
            for (secret, sealed) in secrets.into_iter().zip(sealed) {
                secret.value = Value::Sealed(sealed);
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
            let legible = |words: &str| service.legible_with(words, &compiled.contents);
            return self.tell_plan(console, service.state(), &apply, &left, &legible);
        }
        let bytes = serde_json::to_vec(&compiled.pushed).expect("it can be written");
        let hash = Hash::of(&bytes);
        let mut request = self.changing.request(console, String::new());
        request.origin = Origin::Sources(hash);
        request.objects = compiled.texts;
        request.objects.push((hash, bytes));
        request
            .objects
            .extend(super::web::unknown(&service, compiled.contents));
        let result = service.commit(&request, &[apply], &leave);
        self.tell_left(console, &left);
        let changing = &self.changing;
        changing.tell_at(console, result, sources, &compiled.places)
    }

    /// What the file describes, and where each of it is written.
    fn compile(
        &self,
        console: &mut Console<'_>,
        entry: &str,
        configuration: &mut Configuration<'_>,
    ) -> Result<Compiled, Vec<Diagnostic>> {
        let value = configuration.outputs();
        let file = console.path(entry);
        let mut web = Web::new(file.parent().map(Into::into).unwrap_or_default());
        let assertions = tree::read(&value, &mut [&mut web]).map_err(|misfits| {
            let leaves = leaves(&value).into_iter().map(|(path, _)| path);
            let leaves: Vec<Path> = leaves.collect();
            let misfits = misfits.into_iter();
            misfits
                .map(|misfit| misfitting(configuration, &leaves, misfit))
                .collect::<Vec<_>>()
        })?;
        let mut pushed = Pushed {
            entry: entry.to_owned(),
            ..Pushed::default()
        };
        let mut lines = Lines::new(console.path(""), None);
        let mut ways = Ways::default();
        let mut places = BTreeMap::new();
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
            places.insert(
                described.key.clone(),
                asserted_at(&explained).unwrap_or(span),
            );
            let location = configuration.unit().sources.location(span.start);
            let commit = lines.commit(&location.file, location.line);
            let way = Way {
                place: ways.place(&location),
                computed: why::computed(configuration, &explained),
                steps: ways.steps(configuration, &explained, span),
                commit: commit.map(|commit| commit.line()),
            };
            pushed.ways.insert(described.key.to_string(), way);
        }
        console.end_progress();
        pushed.steps = ways.steps;
        let sources = &configuration.unit().sources;
        let mut texts = Vec::new();
        for file in sources.files() {
            let name = sources.name(file).to_owned();
            if ways.files.contains(&name) {
                let text = sources.slice(sources.span(file)).as_bytes().to_vec();
                let hash = Hash::of(&text);
                pushed.sources.push(Source { name, hash });
                texts.push((hash, text));
            }
        }
        Ok(Compiled {
            assertions,
            secrets,
            places,
            pushed,
            texts,
            contents: web.contents,
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
        legible: &dyn Fn(&str) -> String,
    ) -> Result<Exit, Stop> {
        let mut after = state.clone();
        let changes = hence_ledger::state::net(after.perform(apply, 0, &Words));
        let (before, after) = (Pool::new(state), Pool::new(&after));
        let troubles = hence_fleet::check(&after, &changes);
        let plan = plan::plan(&before, &after, Nodes::Reached(&changes));
        match (self.review, self.changing.format) {
            (Some(Review::Markdown), _) => {
                let text = markdown(&self.file, &changes, &plan, left, legible);
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
                    writeln!(console.data(), "{}", line(change, legible))?;
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

/// How assertions came to be, each step kept once: most of them share most of their way.
#[derive(Default)]
struct Ways {
    steps: Vec<Step>,
    numbers: HashMap<Step, usize>,
    /// The files that are named.
    files: BTreeSet<String>,
}

impl Ways {
    fn place(&mut self, location: &Location) -> String {
        if !self.files.contains(&location.file) {
            self.files.insert(location.file.clone());
        }
        location.to_string()
    }

    /// The steps from where a value is written to where it is asserted. Blocks around it are not among them: its key
    /// says where it is.
    fn steps(
        &mut self,
        configuration: &Configuration<'_>,
        explained: &Explanation,
        origin: Span,
    ) -> Vec<usize> {
        let mut way = Vec::new();
        for step in &explained.steps {
            if step.control || step.span == origin || step.kind == StepKind::Block {
                continue;
            }
            let location = configuration.unit().sources.location(step.span.start);
            let step = Step {
                words: why::step_words(configuration, explained, step),
                place: self.place(&location),
            };
            let next = self.steps.len();
            let number = *self.numbers.entry(step).or_insert_with_key(|step| {
                self.steps.push(step.clone());
                next
            });
            way.push(number);
        }
        way
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
fn markdown(
    file: &str,
    changes: &[Change],
    plan: &Plan,
    left: &[(Key, String)],
    legible: &dyn Fn(&str) -> String,
) -> String {
    let cell = |text: &str| legible(text).replace('|', "\\|").replace('\n', " ");
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

/// Where a value that was only handed on is put in its place.
fn asserted_at(explained: &Explanation) -> Option<Span> {
    explained.place?;
    let steps = explained.steps.iter().rev();
    let mut steps = steps.filter(|step| !step.control && step.kind != StepKind::Block);
    steps.next().map(|step| step.span)
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
