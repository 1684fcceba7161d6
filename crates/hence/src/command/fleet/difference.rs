//! `hence diff` on a ledger: what a node was to run at two versions, and what was asserted at two versions.

use hence_fleet::{Changed, Resolved, difference};
use hence_ledger::{Assertion, Change, State};
use hence_service::Service;
use serde::Serialize;

use super::{Format, ToldChange, counted, print_json, shown, stop, version};
use crate::console::Console;
use crate::{Exit, Stop};
use hence_service::pushed::Archive;

#[derive(Serialize)]
struct Told<'a> {
    node: &'a str,
    parameters: Vec<Parameter<'a>>,
    restart: Vec<&'a str>,
    reread: Vec<&'a str>,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    before: Option<String>,
    after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

#[derive(Serialize)]
struct ChangeAndWhy<'a> {
    #[serde(flatten)]
    change: ToldChange<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

/// How it came to be what it was and what it is, in lines.
#[derive(Serialize)]
struct Why {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

impl Why {
    /// Writes it below what changed.
    fn write(&self, console: &mut Console<'_>) -> Result<(), Stop> {
        for (word, lines) in [("before", &self.before), ("after", &self.after)] {
            if !lines.is_empty() {
                writeln!(console.data(), "  {word}:")?;
            }
            for line in lines {
                writeln!(console.data(), "    {line}")?;
            }
        }
        Ok(())
    }
}

/// What changed for a node between two versions, and what that means for its processes.
pub fn node(
    console: &mut Console<'_>,
    service: &Service,
    format: Format,
    why: bool,
    node: &str,
    versions: [&str; 2],
) -> Result<Exit, Stop> {
    let mut configs = Vec::new();
    let mut targets = Vec::new();
    let mut pools = Vec::new();
    for text in versions {
        let number = version(service, text).map_err(|refused| stop(console, refused))?;
        let config = service.config_at(node, number);
        let config = config.map_err(|refused| stop(console, refused))?;
        match config {
            Some(config) => configs.push(config),
            None => return Err(super::config::no_node(console, service, node)),
        }
        let active = service.active_pool_at(node, number);
        let (target, pool) = active.map_err(|refused| stop(console, refused))?;
        targets.push(target);
        pools.push(pool);
    }
    let difference = difference(&configs[0], &configs[1], &pools[1], &pools[0]);
    let text = |value: &Option<Resolved>| value.as_ref().map(ToString::to_string);
    let explained = |parameter: &str, side: usize| {
        let archive = Archive::at(service, Some(targets[side]));
        let explanation = pools[side].explain(node, parameter);
        let text =
            explanation.map(|explanation| hence_service::explained::text(&archive, &explanation));
        let text = text.unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let explained = |parameter: &str| {
        why.then(|| Why {
            before: explained(parameter, 0),
            after: explained(parameter, 1),
        })
    };
    match format {
        Format::Json => {
            let parameters = difference.parameters.iter().map(|changed| Parameter {
                name: &changed.name,
                before: text(&changed.before),
                after: text(&changed.after),
                why: explained(&changed.name),
            });
            let told = Told {
                node,
                parameters: parameters.collect(),
                restart: difference
                    .restart
                    .iter()
                    .map(|name| name.as_str())
                    .collect(),
                reread: difference.reread.iter().map(|name| name.as_str()).collect(),
            };
            print_json(console, &told)?;
        }
        Format::Text => {
            for Changed {
                name,
                before,
                after,
            } in &difference.parameters
            {
                let legible = |resolved| service.legible(&super::plan::value(resolved));
                let (before, after) = (legible(before), legible(after));
                writeln!(console.data(), "{name}   {before} → {after}")?;
                if let Some(why) = explained(name) {
                    why.write(console)?;
                }
            }
            for (verb, subsystems) in [
                ("restart", &difference.restart),
                ("re-read", &difference.reread),
            ] {
                if !subsystems.is_empty() {
                    let names: Vec<&str> = subsystems.iter().map(|name| name.as_str()).collect();
                    writeln!(console.data(), "{verb} {}", names.join(", "))?;
                }
            }
        }
    }
    Ok(match difference.is_empty() {
        true => Exit::Done,
        false => Exit::Input,
    })
}

/// What was asserted otherwise at two versions.
pub fn versions(
    console: &mut Console<'_>,
    service: &Service,
    format: Format,
    why: bool,
    versions: [&str; 2],
) -> Result<Exit, Stop> {
    let mut states = Vec::new();
    let mut archives = Vec::new();
    for text in versions {
        let number = version(service, text).map_err(|refused| stop(console, refused))?;
        archives.push(Archive::at(service, Some(number)));
        let state = service.repository().state_at(number);
        states.push(state.map_err(|refused| stop(console, refused))?);
    }
    let changes = State::difference(&states[0], &states[1]);
    let stories = |change: &Change| {
        let story = |side: usize, assertion: &Option<Assertion>| match assertion {
            Some(_) => hence_service::explained::story(&archives[side], &change.key),
            None => Vec::new(),
        };
        why.then(|| Why {
            before: story(0, &change.before),
            after: story(1, &change.after),
        })
    };
    match format {
        Format::Json => {
            let told = changes.iter().map(|change| ChangeAndWhy {
                change: ToldChange::new(change),
                why: stories(change),
            });
            print_json(console, &told.collect::<Vec<_>>())?;
        }
        Format::Text => {
            for change in &changes {
                console.line(&line(change, |words| service.legible(words)))?;
                if let Some(why) = stories(change) {
                    why.write(console)?;
                }
            }
            if !changes.is_empty() {
                console.say(&counted(&changes));
            }
        }
    }
    Ok(match changes.is_empty() {
        true => Exit::Done,
        false => Exit::Input,
    })
}

/// A change in one line, its values in words for people.
pub fn line(change: &Change, legible: impl Fn(&str) -> String) -> String {
    let key = &change.key;
    let value = |assertion: &Assertion| legible(&shown(&assertion.value).unwrap_or_default());
    match (&change.before, &change.after) {
        (None, Some(after)) => format!("+ {key}   {}", value(after)),
        (Some(before), None) => format!("- {key}   {}", value(before)),
        (Some(before), Some(after)) if before.value == after.value => {
            format!("~ {key}   of {} → of {}", before.owner, after.owner)
        }
        (Some(before), Some(after)) => format!("~ {key}   {} → {}", value(before), value(after)),
        (None, None) => String::new(),
    }
    .trim_end()
    .to_owned()
}
