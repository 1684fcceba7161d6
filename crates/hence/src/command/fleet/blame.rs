//! `hence blame NODE`: all that a node should be, with the assertion behind each value beside it.

use hence_fleet::Explanation;
use hence_fleet::explain::Effect;
use hence_model::legible;
use hence_service::Service;
use hence_service::pushed::Archive;
use serde::Serialize;

use super::{Format, looked_at, print_json};
use crate::console::Console;
use crate::{Exit, Stop};

/// A value, and the assertion that counts most in it.
#[derive(Serialize)]
struct Row {
    path: String,
    value: String,
    key: String,
    /// Where that is written, if it came from a source.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// How many others are in the value, too.
    others: usize,
    /// How many assertions it beat.
    beats: usize,
}

/// Shows the values of a node, or one of them; if asked, only those that beat others.
pub fn node(
    console: &mut Console<'_>,
    service: &Service,
    format: Format,
    node: &str,
    parameter: Option<&String>,
    only_overrides: bool,
) -> Result<Exit, Stop> {
    let parameters = parameter.map(std::slice::from_ref).unwrap_or_default();
    let explanations = super::explain::explanations(console, service, &None, node, parameters)?;
    let (version, _) = looked_at(service, &None);
    let archive = Archive::at(service, version);
    let rows = explanations.iter().filter_map(|one| row(&archive, one));
    let rows: Vec<Row> = rows
        .filter(|row| !only_overrides || row.beats > 0)
        .collect();
    match format {
        Format::Json => print_json(console, &rows)?,
        Format::Text => {
            let text = text(&rows, service, console.is_colourful());
            console.data().write_all(text.as_bytes())?;
            super::explain::tell_pending(console, service, node, parameters)?;
        }
    }
    Ok(Exit::Done)
}

fn row(archive: &Archive<'_>, explanation: &Explanation) -> Option<Row> {
    let chain = explanation.chain.iter();
    let standing = chain.clone().filter(|one| one.effect == Effect::Stands);
    let last = standing.clone().next_back().or(chain.clone().next_back())?;
    let assertion = archive.assertion(&last.key);
    let assertion = assertion.as_ref();
    let made = assertion.and_then(|assertion| archive.made(assertion));
    let written = assertion.and_then(|assertion| archive.written(&last.key, assertion));
    Some(Row {
        path: explanation.parameter.to_string(),
        value: explanation.value.to_string(),
        key: last.key.to_string(),
        place: written.map(|written| written.place),
        version: assertion.map(|assertion| assertion.since),
        author: made.map(|made| made.author.clone()),
        others: standing.count().saturating_sub(1),
        beats: chain.filter(|one| one.effect == Effect::Lost).count(),
    })
}

/// The origins in columns, then the values.
fn text(rows: &[Row], service: &Service, colour: bool) -> String {
    let grey = |text: &str| match (colour, text) {
        (true, text) if !text.is_empty() => format!("\x1b[2m{text}\x1b[0m"),
        (_, text) => text.to_owned(),
    };
    let place = |row: &Row| row.place.clone().unwrap_or_else(|| row.key.clone());
    let who = |row: &Row| {
        let version = row.version.map(|version| format!("version {version}"));
        let words: Vec<String> = version.into_iter().chain(row.author.clone()).collect();
        words.join("  ")
    };
    let widest = |cell: &dyn Fn(&Row) -> String| {
        let widths = rows.iter().map(|row| cell(row).chars().count());
        widths.max().unwrap_or(0)
    };
    let (places, people) = (widest(&place), widest(&who));
    let mut text = String::new();
    for row in rows {
        let gutter = format!("{:places$}  {:people$}", place(row), who(row));
        let mut remarks = String::new();
        if row.others > 0 {
            remarks.push_str(&format!("   with {} more", row.others));
        }
        if row.beats > 0 {
            remarks.push_str(&format!("   beats {}", row.beats));
        }
        let line = format!("{} = {}", row.path, service.legible(&row.value));
        text.push_str(&format!(
            "{} │ {}{}\n",
            grey(&legible::line(&gutter)),
            legible::line(&line),
            grey(&remarks)
        ));
    }
    text
}
