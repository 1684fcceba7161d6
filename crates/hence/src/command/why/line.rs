//! What a line of a file is about that an agent wrote.

use std::path::absolute;

use hence_agent::{Map, Part, map_path};
use hence_model::diagnostic::{Code, Diagnostic};
use serde::Serialize;

use super::{Format, Why, fleet};
use crate::command::agent;
use crate::console::Console;
use crate::{Exit, Stop};

/// There is no such line, or nobody knows what it is about.
pub const NO_SUCH_LINE: Code = Code::new("why.no-such-line");

#[derive(Serialize)]
struct Told<'a> {
    node: &'a str,
    version: u64,
    parameters: Vec<&'a Part>,
}

impl Why {
    /// Says which parameters a line is about and, if somebody is there who knows, why they are what they are.
    pub(super) fn line(&self, console: &mut Console<'_>, place: &str) -> Result<Exit, Stop> {
        let refused = |message: String, help: &str| {
            let trouble = Diagnostic::error(NO_SUCH_LINE, message).help(help);
            Stop::Refused(Box::new(trouble))
        };
        let parsed = place
            .rsplit_once(':')
            .and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let Some((file, line)) = parsed else {
            let message = format!("`{place}` is not a line of a file");
            return Err(refused(
                message,
                "a file and a line are written as `site.conf:12`",
            ));
        };
        let given = console.path(file);
        let path = absolute(&given).unwrap_or(given);
        let map = match &self.map {
            Some(map) => console.path(map),
            None => match agent::configured(console, &self.agent)? {
                Some(configured) => {
                    map_path(&configured.settings.directory, &path.display().to_string())
                }
                None => return Ok(Exit::Input),
            },
        };
        let read = std::fs::read(&map).unwrap_or_default();
        let read = Map::read(&read).map_err(|newer| {
            let message = format!("the map of `{file}` cannot be read: {newer}");
            let trouble = Diagnostic::error(hence_store::FORMAT, message);
            Stop::Refused(Box::new(
                trouble.help("use the release of Hence that the agent is of"),
            ))
        })?;
        let Some(map) = read else {
            let message = format!("no agent says that it wrote `{file}`");
            return Err(refused(
                message,
                "`--agent FILE` names the settings of the agent, `--map FILE` the map itself",
            ));
        };
        if std::fs::read(&path).is_ok_and(|text| !map.is_of(&text)) {
            console.say("the file is no longer as the agent wrote it: lines may have moved");
        }
        let parts: Vec<&Part> = map.at(line).collect();
        if parts.is_empty() {
            let message = format!("line {line} of `{file}` is about no parameter");
            return Err(refused(
                message,
                "it is a comment, text of a template, or behind the end",
            ));
        }
        let Map { node, version, .. } = &map;
        if self.format == Format::Json {
            let told = Told {
                node,
                version: *version,
                parameters: parts,
            };
            fleet::print_json(console, &told)?;
            return Ok(Exit::Done);
        }
        for part in parts {
            let Part {
                parameter, here, ..
            } = part;
            let about = format!(
                "line {line} of {file} is about `{parameter}`, on `{node}` as of version {version}"
            );
            writeln!(console.data(), "{about}")?;
            match here {
                Some(here) => writeln!(console.data(), "the node itself says so: {here}")?,
                None if self.ledger.is_there(console) => {
                    let service = self.ledger.open(console)?;
                    let parameters = [parameter.clone()];
                    let text = fleet::Format::Text;
                    fleet::explain::node(console, &service, &None, text, node, &parameters)?;
                }
                None => writeln!(
                    console.data(),
                    "the server says so: `hence explain {node} {parameter}` says why, with `--server` and a token that may read"
                )?,
            }
        }
        Ok(Exit::Done)
    }
}
