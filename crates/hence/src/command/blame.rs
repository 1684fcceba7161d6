//! `hence blame`: the effective configuration, with the origin of each value beside it.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use hence_model::explanation::{Explanation, Shown};
use hence_model::path::Path;
use hence_model::source::Span;
use hence_model::value::{List, Map, Value};

use super::fleet::{self, Ledger};
use super::source::SourceOptions;
use super::why;
use crate::configuration::Configuration;
use crate::console::Console;
use crate::difference::{leaves, written};
use crate::git::{Commit, Lines};
use crate::{Exit, Stop};

/// Show the effective configuration with the origin of each value
#[derive(Args)]
pub struct Blame {
    /// The file that is compiled (`-` for standard input), or a node of the fleet
    #[arg(value_name = "SUBJECT")]
    file: String,
    /// Show only what is there: `s2:web`, `File[/etc/motd]`; of a node, a parameter
    path: Option<String>,
    /// Show only values that beat others
    #[arg(long)]
    only_overrides: bool,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    ledger: Ledger,
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// A value, and where it comes from.
struct Row {
    path: String,
    value: Shown,
    file: String,
    line: u32,
    column: u32,
    /// How many definitions it beat.
    beats: usize,
    commit: Option<Commit>,
}

impl Blame {
    /// Answers.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        if why::is_about_fleet(console, &self.source, &self.ledger, &self.file) {
            let service = self.ledger.open(console)?;
            let (node, parameter) = (&self.file, self.path.as_ref());
            let format = match self.format {
                Format::Text => fleet::Format::Text,
                Format::Json => fleet::Format::Json,
            };
            let only_overrides = self.only_overrides;
            return fleet::blame::node(console, &service, format, node, parameter, only_overrides);
        }
        let file = self.source.named(console, &self.file)?;
        let outside = self.source.outside(console);
        self.source
            .compile(console, &outside, file, |console, compiled| {
                if !compiled.is_good() {
                    return Ok(outside.blame());
                }
                let rows = self.rows(console, compiled)?;
                let text = match self.format {
                    Format::Text => text(&rows, console.is_colourful()),
                    Format::Json => json(&rows),
                };
                console.data().write_all(text.as_bytes())?;
                Ok(Exit::Done)
            })
    }

    fn rows(
        &self,
        console: &mut Console<'_>,
        compiled: &mut Configuration<'_>,
    ) -> Result<Vec<Row>, Stop> {
        let outputs = compiled.outputs();
        let below = match &self.path {
            // Whoever asks for something that is not there gets the names that are.
            Some(path) => why::explained(compiled, path)?.path,
            None => Path::default(),
        };
        let wanted: Vec<Path> = leaves(&outputs)
            .into_iter()
            .map(|(path, _)| path)
            .filter(|path| path.0.starts_with(&below.0))
            .collect();
        let mut lines = Lines::new(console.path(""), None);
        let mut rows = Vec::new();
        let count = wanted.len();
        for (number, path) in wanted.into_iter().enumerate() {
            if number % 256 == 255 {
                console.progress(&format!("{} of {count} values", number + 1));
            }
            let Ok(explained) = compiled.explain(&path) else {
                continue;
            };
            let Some(span) = origin(&explained) else {
                continue;
            };
            if self.only_overrides && explained.lost.is_empty() {
                continue;
            }
            let location = compiled.unit().sources.location(span.start);
            rows.push(Row {
                path: compiled.path(&path),
                value: explained.value,
                commit: lines.commit(&location.file, location.line),
                file: location.file,
                line: location.line,
                column: location.column,
                beats: explained.lost.len(),
            });
        }
        console.end_progress();
        Ok(rows)
    }
}

/// Where a value is written, or computed, or else the first that is told about it. What the language has by itself
/// comes from nowhere.
pub fn origin(explained: &Explanation) -> Option<Span> {
    if explained.depends.is_empty() && explained.lost.is_empty() {
        return None;
    }
    let computed = explained.expression.operator.is_some();
    let computed = computed.then_some(explained.expression.span);
    let first = explained.steps.first().map(|step| step.span);
    explained.place.or(computed).or(first)
}

/// The origins in columns, then the values.
fn text(rows: &[Row], colour: bool) -> String {
    let grey = |text: &str| match colour {
        true => format!("\x1b[2m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let place = |row: &Row| format!("{}:{}:{}", row.file, row.line, row.column);
    let who = |row: &Row| match &row.commit {
        Some(commit) => format!("{}  {}  {}", commit.short(), commit.date, commit.author),
        None => String::new(),
    };
    let widest = |cell: &dyn Fn(&Row) -> String| {
        let widths = rows.iter().map(|row| cell(row).chars().count());
        widths.max().unwrap_or(0)
    };
    let (places, people) = (widest(&place), widest(&who));
    let mut text = String::new();
    for row in rows {
        let mut gutter = format!("{:places$}", place(row));
        if people > 0 {
            let _ = write!(gutter, "  {:people$}", who(row));
        }
        let value = row.value.seen().map_or_else(str::to_owned, written);
        let beats = match row.beats {
            0 => String::new(),
            count => grey(&format!("   beats {count}")),
        };
        let _ = writeln!(text, "{} │ {} = {value}{beats}", grey(&gutter), row.path);
    }
    text
}

fn json(rows: &[Row]) -> String {
    let text = |text: &str| Value::Text(text.to_owned());
    let rows = rows.iter().map(|row| {
        let mut map = Map::default();
        map.insert("path".into(), text(&row.path));
        map.insert("value".into(), row.value.to_value());
        map.insert("file".into(), text(&row.file));
        map.insert("line".into(), Value::Integer(row.line.into()));
        map.insert("column".into(), Value::Integer(row.column.into()));
        map.insert("beats".into(), Value::Integer(row.beats as i64));
        if let Some(commit) = &row.commit {
            map.insert("commit".into(), commit.about());
        }
        Value::Map(map)
    });
    let mut text = written(&Value::List(List::from(rows.collect::<Vec<_>>())));
    text.push('\n');
    text
}
