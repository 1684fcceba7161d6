//! `hence explain`: where the values of a node come from, as text that is also a configuration file, or as JSON.

use clap::Args;
use hence_fleet::{Explanation, Kind, Pool};
use hence_ledger::Key;
use hence_ledger::key::fold;
use hence_service::explained::{text, told};
use hence_service::pushed::Archive;
use hence_service::{Extent, Service};
use serde::Serialize;

use super::{At, Format, Ledger, Past, looked_at, print_json, stop};
use crate::console::Console;
use crate::{Exit, Stop};

/// Say where the values of a node come from
#[derive(Args)]
pub struct Explain {
    /// The node
    node: String,
    /// The parameters; without any, all
    parameters: Vec<String>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ledger: Ledger,
}

impl Explain {
    /// Says it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let service = self.ledger.open(console)?;
        let past = self.at.past(console, &service)?;
        node(
            console,
            &service,
            &past,
            self.format,
            &self.node,
            &self.parameters,
        )
    }
}

/// Explains values of a node.
pub fn node(
    console: &mut Console<'_>,
    service: &Service,
    past: &Option<Past>,
    format: Format,
    node: &str,
    parameters: &[String],
) -> Result<Exit, Stop> {
    let explanations = explanations(console, service, past, node, parameters)?;
    let (version, _) = looked_at(service, past);
    let archive = Archive::at(service, version);
    match format {
        Format::Json => {
            let explanations = explanations.iter();
            let told: Vec<_> = explanations.map(|one| told(&archive, one)).collect();
            print_json(console, &told)?;
        }
        Format::Text => {
            for (number, explanation) in explanations.iter().enumerate() {
                if number > 0 {
                    writeln!(console.data())?;
                }
                let text = text(&archive, explanation);
                write!(console.data(), "{text}")?;
            }
            if past.is_none() {
                tell_pending(console, service, node, parameters)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// The stories of values of a node: of these parameters, or else of all.
pub fn explanations(
    console: &mut Console<'_>,
    service: &Service,
    past: &Option<Past>,
    node: &str,
    parameters: &[String],
) -> Result<Vec<Explanation>, Stop> {
    let (_, pool) = looked_at(service, past);
    if pool.spelling(Kind::Node, node).is_none() {
        return Err(super::config::no_node(console, service, node));
    }
    if parameters.is_empty() {
        return Ok(pool.explain_all(node).expect("the node is there"));
    }
    let found = parameters.iter().map(|parameter| {
        let explanation = pool.explain(node, parameter);
        explanation.ok_or_else(|| no_parameter(pool, node, parameter))
    });
    found.collect()
}

/// Says so if a node is still to run something else than what is asserted, as far as somebody asks.
pub fn tell_pending(
    console: &mut Console<'_>,
    service: &Service,
    node: &str,
    parameters: &[String],
) -> Result<(), Stop> {
    if is_pending(console, service, node, parameters)? {
        console.say("not activated yet: `hence plan` shows what an activation changes");
    }
    Ok(())
}

/// Whether a node is to run something else than what is asserted, as far as somebody asks.
fn is_pending(
    console: &mut Console<'_>,
    service: &Service,
    node: &str,
    parameters: &[String],
) -> Result<bool, Stop> {
    let active = service.config(node);
    let mut active = active
        .map_err(|refused| stop(console, refused))?
        .unwrap_or_default();
    let mut asserted = service.head().config(node).unwrap_or_default();
    let is_asked = |name: &str| {
        let mut asked = parameters.iter();
        parameters.is_empty() || asked.any(|parameter| fold(parameter) == fold(name))
    };
    active.retain(|name, _| is_asked(name));
    asserted.retain(|name, _| is_asked(name));
    Ok(active != asserted)
}

/// There is no such parameter.
pub fn no_parameter(pool: &Pool, node: &str, parameter: &str) -> Stop {
    let config = pool.config(node).unwrap_or_default();
    let names = config.keys().map(|name| name.as_str());
    let near = hence_model::diagnostic::similar(parameter, names);
    let message = format!("`{parameter}` is not in the configuration of `{node}`");
    let code = hence_fleet::edit::NO_SUCH;
    let mut trouble = hence_model::diagnostic::Diagnostic::error(code, message);
    if let Some(near) = near.first() {
        trouble.help.push(format!("did you mean `{near}`?"));
    }
    Stop::Refused(Box::new(trouble))
}

/// A line of the plan for programs: the stories of the value, before and after, are as those of a node.
#[derive(Serialize)]
struct Line<'a, N: Serialize, S: Serialize> {
    line: String,
    parameter: &'a str,
    nodes: N,
    before: Option<S>,
    after: Option<S>,
    changed: Vec<Cause<'a>>,
}

/// What changed since the activation, and in which version, unless it was retracted.
#[derive(Serialize)]
struct Cause<'a> {
    key: &'a str,
    version: Option<u64>,
}

/// Explains a line of the plan: what it was, what it will be, and what made the difference.
pub fn line(
    console: &mut Console<'_>,
    service: &mut Service,
    format: Format,
    number: usize,
) -> Result<Exit, Stop> {
    let planned = service.plan(&Extent::Everything);
    let planned = planned.map_err(|refused| stop(console, refused))?;
    let groups = super::plan::alike(&planned);
    let found = groups.iter().find_map(|alike| {
        let offset = number.checked_sub(alike.first)?;
        Some((alike, alike.difference.parameters.get(offset)?))
    });
    let Some((alike, changed)) = found else {
        let last: usize = groups
            .iter()
            .map(|alike| alike.difference.parameters.len())
            .sum();
        let message = match last {
            0 => "nothing is pending, so a plan has no lines".to_owned(),
            last => format!("there is no `p{number}`: the last line of the plan is `p{last}`"),
        };
        let code = hence_fleet::edit::NO_SUCH;
        let trouble = hence_model::diagnostic::Diagnostic::error(code, message);
        return Err(Stop::Refused(Box::new(
            trouble.help("`hence plan` shows its lines"),
        )));
    };
    let (before, after) = (
        super::plan::value(&changed.before),
        super::plan::value(&changed.after),
    );
    let node = alike.nodes[0].as_str();
    // A node may be to run another version than most.
    let newest = service.repository().version();
    let (target, active) = service
        .active_pool_at(node, newest)
        .map_err(|refused| stop(console, refused))?;
    let explained = [
        ("before", Some(target), &active),
        ("after", None, service.head()),
    ];
    let mut keys: Vec<Key> = Vec::new();
    let mut stories = Vec::new();
    for (word, version, pool) in explained {
        let explanation = pool.explain(node, &changed.name);
        let chain = explanation
            .iter()
            .flat_map(|explanation| &explanation.chain);
        keys.extend(chain.map(|step| step.key.clone()));
        stories.push((word, Archive::at(service, version), explanation));
    }
    let parameter = Kind::Param.key(&changed.name);
    let membership = Kind::Node.key(node);
    let mut causes: Vec<(&Key, u64)> = Vec::new();
    for (key, change) in service.pending() {
        let bears = keys.contains(key)
            || key.is_under(&parameter)
            || key.is_under(&membership)
            || keys.iter().any(|other| is_install(key, other));
        if bears {
            let since = change.after.as_ref().map(|assertion| assertion.since);
            causes.push((key, since.unwrap_or(0)));
        }
    }
    if format == Format::Json {
        let mut told = stories
            .iter()
            .map(|(_, archive, explanation)| Some(told(archive, explanation.as_ref()?)));
        let line = Line {
            line: format!("p{number}"),
            parameter: &changed.name,
            nodes: &alike.nodes,
            before: told.next().flatten(),
            after: told.next().flatten(),
            changed: causes
                .iter()
                .map(|(key, since)| Cause {
                    key: key.as_str(),
                    version: Some(*since).filter(|since| *since > 0),
                })
                .collect(),
        };
        print_json(console, &line)?;
        return Ok(Exit::Done);
    }
    writeln!(
        console.data(),
        "p{number}: {} on {}   {before} → {after}",
        changed.name,
        alike.names(false)
    )?;
    for (word, archive, explanation) in &stories {
        writeln!(console.data(), "\n{word}:")?;
        match explanation {
            None => writeln!(
                console.data(),
                "# {} is not in the configuration of {node}",
                changed.name
            )?,
            Some(explanation) => write!(console.data(), "{}", text(archive, explanation))?,
        }
    }
    if !causes.is_empty() {
        writeln!(console.data(), "\nchanged since the activation:")?;
        for (key, since) in causes {
            match since {
                0 => writeln!(console.data(), "  {key}   retracted")?,
                since => writeln!(console.data(), "  {key}   in version {since}")?,
            }
        }
    }
    Ok(Exit::Done)
}

/// Whether a key installs or includes the feature that another key is about.
fn is_install(key: &Key, binding: &Key) -> bool {
    let names: Vec<_> = key.names().collect();
    let binding: Vec<_> = binding.names().collect();
    matches!(
        (names.as_slice(), binding.as_slice()),
        ([_, _, relation, feature], [kind, bound, ..])
            if (relation == "feature" || relation == "include") && kind == "feature" && feature == bound
    )
}
