//! `hence inventory`, `check-in`: which nodes there are, and when they were last heard of.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use hence_api::words::{Outcome, Report};
use hence_fleet::query::{Query, Subject};
use hence_fleet::{Kind, Pool};
use hence_ledger::key::fold;
use hence_model::diagnostic::Diagnostic;
use hence_model::legible;
use hence_model::source::Sources;
use hence_service::Service;
use hence_store::Refused;
use serde::Serialize;

use super::{At, Changing, Format, Ledger, many, moment, print_json, stop};
use crate::console::Console;
use crate::{Exit, Stop};

/// List nodes: what they are in, what they should run, and when they were last heard of
#[derive(Args)]
pub struct Inventory {
    /// Only nodes for which this holds, such as `memberships.size == 0 && name =~ /web[0-9]+/`
    #[arg(short, long, value_name = "CONDITION")]
    r#where: Option<String>,
    /// In which order
    #[arg(short, long, value_enum, default_value = "name")]
    sort: Sort,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// By name
    Name,
    /// Those first that were heard of last
    Checkin,
}

#[derive(Serialize)]
struct Told {
    name: String,
    provisioned: bool,
    last_checkin: Option<String>,
    last_updated_version: u64,
    applied_version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<String>,
    memberships: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    annotation: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    facts: BTreeMap<String, String>,
}

impl Inventory {
    /// Lists them.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let query = match &self.r#where {
            None => None,
            Some(text) => {
                let mut sources = Sources::default();
                let file = sources.add("--where", text);
                let file = file.expect("an argument is shorter than any limit");
                match Query::parse(&sources, file, console.now()) {
                    Ok(query) => Some(query),
                    Err(trouble) => {
                        console.show(&sources, &[*trouble]);
                        return Ok(Exit::Input);
                    }
                }
            }
        };
        let mut service = self.ledger.open(console)?;
        let at = self.at.version(console, &service)?;
        let nodes = subjects(&mut service, at);
        let mut nodes = nodes.map_err(|refused| stop(console, refused))?;
        let reports = service.reports().map_err(Refused::from);
        let reports = reports.map_err(|refused| stop(console, refused))?;
        nodes.retain(|node| query.as_ref().is_none_or(|query| query.holds(node)));
        if self.sort == Sort::Checkin {
            nodes.sort_by_key(|node| std::cmp::Reverse(node.last_checkin));
        }
        match self.format {
            Format::Json => {
                let told = nodes.into_iter().map(|node| told(node, &reports));
                print_json(console, &told.collect::<Vec<Told>>())?;
            }
            Format::Text => table(console, &nodes, &reports)?,
        }
        Ok(Exit::Done)
    }
}

/// All nodes, as conditions see them: now, or as they were asserted at a version.
pub fn subjects(service: &mut Service, at: Option<u64>) -> Result<Vec<Subject>, Refused> {
    let reports = service.reports()?;
    let past = match at {
        Some(version) => {
            let state = service.repository().state_at(version)?;
            Some((Pool::new(&state), state))
        }
        None => None,
    };
    let version = at.unwrap_or(service.repository().version());
    let names = past
        .as_ref()
        .map_or(service.head(), |(pool, _)| pool)
        .nodes();
    let mut subjects = Vec::new();
    for name in names {
        let last_updated_version = service.version_of_at(&name, version)?;
        let (pool, state) = match &past {
            Some((pool, state)) => (pool, state),
            None => (service.head(), service.state()),
        };
        let annotation = state.get(&Kind::Node.key(&name).child("annotation"));
        let annotation = annotation.and_then(|assertion| assertion.value.as_text());
        let memberships = pool.memberships(&name).unwrap_or_default();
        subjects.push(Subject {
            provisioned: pool.is_walk_in(&name) == Some(false),
            last_checkin: reports.get(&fold(&name)).map_or(0, |report| report.time),
            memberships: memberships.iter().map(ToString::to_string).collect(),
            annotation: annotation.unwrap_or_default().to_owned(),
            last_updated_version,
            name: name.to_string(),
        });
    }
    Ok(subjects)
}

fn told(node: Subject, reports: &BTreeMap<String, Report>) -> Told {
    let report = reports.get(&fold(&node.name));
    let report = report.cloned().unwrap_or_default();
    Told {
        applied_version: report.applied,
        error: report.error,
        facts: report.facts,
        drift: report.drift,
        last_checkin: (node.last_checkin > 0).then(|| moment(node.last_checkin)),
        name: node.name,
        provisioned: node.provisioned,
        last_updated_version: node.last_updated_version,
        memberships: node.memberships,
        annotation: node.annotation,
    }
}

fn table(
    console: &mut Console<'_>,
    nodes: &[Subject],
    reports: &BTreeMap<String, Report>,
) -> Result<(), Stop> {
    let width = nodes.iter().map(|node| node.name.chars().count()).max();
    let width = width.unwrap_or_default();
    let runs = |node: &Subject| {
        let applied = reports
            .get(&fold(&node.name))
            .and_then(|report| report.applied);
        match (applied, node.last_updated_version) {
            (None, 0) => "has nothing to run".to_owned(),
            (None, wanted) => format!("should run {wanted}"),
            (Some(applied), wanted) if applied == wanted => format!("runs {applied}"),
            (Some(applied), wanted) => format!("runs {applied}, should run {wanted}"),
        }
    };
    let all = nodes.iter().map(|node| runs(node).len()).max();
    let runs_width = all.unwrap_or_default();
    for node in nodes {
        let seen = match node.last_checkin {
            0 => "never".to_owned(),
            time => moment(time),
        };
        let came = if node.provisioned {
            "declared"
        } else {
            "walk-in "
        };
        let groups = node.memberships.join(", ");
        let report = reports.get(&fold(&node.name));
        let line = format!(
            "{:width$}  {came}  {:runs_width$}  {seen:<19}  {groups}",
            node.name,
            runs(node)
        );
        console.line(line.trim_end())?;
        if let Some(error) = report.and_then(|report| report.error.as_ref()) {
            let error = legible::lines(error);
            writeln!(console.data(), "{:width$}  error: {error}", "")?;
        }
        if let Some(drift) = report.and_then(|report| report.drift.as_ref()) {
            let drift = legible::lines(drift);
            writeln!(console.data(), "{:width$}  drift: {drift}", "")?;
        }
    }
    console.say(&many(nodes.len(), "node"));
    Ok(())
}

/// Note that a node was heard of; one that nobody knows walks in
#[derive(Args)]
pub struct CheckIn {
    /// The node
    node: String,
    /// Something that it says of itself; what puts it into groups, `hence tag` says
    #[arg(long = "fact", value_name = "NAME=VALUE", value_parser = fact)]
    facts: Vec<(String, String)>,
    /// It runs the configuration of this version
    #[arg(long, value_name = "VERSION")]
    applied: Option<u64>,
    /// It was to run the configuration of this version, and could not
    #[arg(long, value_name = "VERSION")]
    refused: Option<u64>,
    /// Why it could not
    #[arg(long, value_name = "WORDS", requires = "refused")]
    error: Option<String>,
    #[command(flatten)]
    changing: Changing,
}

/// `os=linux`
fn fact(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = parts.ok_or("a fact is a name and a value: `os=linux`")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl CheckIn {
    /// Notes it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.changing.ledger.make(console)?;
        // An agent may know a version that a ledger lost; who types one knows which there are.
        let newest = service.repository().version();
        let mut said = self.applied.iter().chain(&self.refused);
        if let Some(version) = said.find(|version| **version > newest) {
            let trouble = service.repository().no_such(*version);
            return Err(Stop::Refused(Box::new(trouble)));
        }
        if self.applied.is_some() && self.applied == self.refused {
            let message = "a node does not run what it refused";
            let trouble = Diagnostic::error(super::entity::WORDS, message);
            return Err(Stop::Refused(Box::new(trouble.help(
                "`--applied` is what it runs instead of what it `--refused`",
            ))));
        }
        let words = format!("check-in {}", self.node);
        let request = self.changing.request(console, words);
        let report = Report {
            time: console.now(),
            facts: self.facts.iter().cloned().collect(),
            applied: self.applied,
            outcome: match (self.applied, self.refused) {
                (_, Some(_)) => Some(Outcome::RolledBack),
                (Some(_), None) => Some(Outcome::Applied),
                (None, None) => None,
            },
            refused: self.refused,
            error: self.error.clone(),
            ..Report::default()
        };
        let is_new = service.head().spelling(Kind::Node, &self.node).is_none();
        let checked_in = service.check_in(&request, &self.node, &report);
        let checked_in = checked_in.map_err(|refused| stop(console, refused))?;
        if is_new {
            console.say(&format!("`{}` walked in", self.node));
        }
        if self.changing.format == Format::Json {
            print_json(console, &checked_in)?;
            return Ok(Exit::Done);
        }
        let version = checked_in.version;
        console.say(&format!("its configuration is that of version {version}"));
        Ok(Exit::Done)
    }
}
