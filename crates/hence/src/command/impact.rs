//! `hence impact`: what depends on what is written in a place.

use std::io::Write;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::path::{Path, Segment};
use hence_model::print::Output;
use hence_model::source::{FileId, Span};

use super::source::SourceOptions;
use crate::configuration::Configuration;
use crate::console::Console;
use crate::{Exit, Stop};

/// A place is not written as one.
pub const NOT_A_PLACE: Code = Code::new("impact.not-a-place");
/// The file of a place is not part of the compilation.
pub const NOT_INVOLVED: Code = Code::new("impact.not-involved");
/// Nothing is written in a place.
pub const NOTHING_THERE: Code = Code::new("impact.nothing-there");

/// List every value that depends on what is written in a place
#[derive(Args)]
pub struct Impact {
    /// The place: `site.sf:12` for a line, `site.sf:12:9` for what is written there
    #[arg(value_name = "FILE:LINE[:COLUMN]")]
    place: String,
    /// The file that is compiled
    #[arg(long = "in", value_name = "ENTRY")]
    entry: String,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    source: SourceOptions,
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A path on each line
    Text,
    /// `{"paths":[["s2","web","running"],…]}`
    Json,
}

impl Impact {
    /// Answers.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let (name, line, column) = self.parts()?;
        let outside = self.source.outside(console);
        self.source.compile(console, &outside, &self.entry, |console, compiled| {
            if !compiled.is_good() {
                return Ok(outside.blame());
            }
            let file = involved(console, compiled, name)?;
            let place = compiled.meant(file, line, column);
            let Some(place) = place else {
                let message = format!("nothing is written at {}", self.place);
                return Err(Stop::Refused(Box::new(
                    Diagnostic::error(NOTHING_THERE, message)
                        .help("name a line that exists, or a column on a value, a name or a reference"),
                )));
            };
            let count = match self.format {
                Format::Text => text(compiled, place, console.data())?,
                Format::Json => json(compiled, place, console.data())?,
            };
            if self.format == Format::Text {
                let values = if count == 1 {
                    "value depends"
                } else {
                    "values depend"
                };
                console.say(&format!("{count} {values} on {}", self.place));
            }
            Ok(Exit::Done)
        })
    }

    /// The file, the line and the column of the place.
    fn parts(&self) -> Result<(&str, u32, Option<u32>), Stop> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        let parsed = self.place.rsplit_once(':').and_then(|(before, last)| {
            let last = number(last)?;
            match before.rsplit_once(':') {
                Some((file, line)) if number(line).is_some() => {
                    Some((file, number(line)?, Some(last)))
                }
                _ => Some((before, last, None)),
            }
        });
        parsed.filter(|(file, ..)| !file.is_empty()).ok_or_else(|| {
            let message = format!("`{}` is not a place", self.place);
            Stop::Refused(Box::new(Diagnostic::error(NOT_A_PLACE, message).help(
                "write it as `FILE:LINE` or `FILE:LINE:COLUMN`, counting from 1",
            )))
        })
    }
}

/// The file of that name among those that were compiled, however it is written.
fn involved(
    console: &Console<'_>,
    compiled: &Configuration<'_>,
    name: &str,
) -> Result<FileId, Stop> {
    let sources = &compiled.unit().sources;
    if let Some(file) = sources.named(name) {
        return Ok(file);
    }
    let real = |name: &str| std::fs::canonicalize(console.path(name)).ok();
    let wanted = real(name);
    let same = |file: &FileId| wanted.is_some() && real(sources.name(*file)) == wanted;
    sources.files().find(same).ok_or_else(|| {
        let names: Vec<&str> = sources
            .files()
            .map(|file| sources.name(file))
            .take(10)
            .collect();
        let message = format!("`{name}` is not part of this compilation");
        Stop::Refused(Box::new(
            Diagnostic::error(NOT_INVOLVED, message)
                .help(format!("these files are: {}", names.join(", "))),
        ))
    })
}

fn text(
    compiled: &mut Configuration<'_>,
    place: Span,
    writer: &mut dyn Write,
) -> std::io::Result<usize> {
    let mut out = Output::new(writer);
    let mut count = 0;
    let separator = compiled.separator();
    compiled.impact(place, &mut |path| {
        count += 1;
        out.text(&Path(path.to_vec()).joined(separator));
        out.byte(b'\n');
    });
    out.finish()?;
    Ok(count)
}

fn json(
    compiled: &mut Configuration<'_>,
    place: Span,
    writer: &mut dyn Write,
) -> std::io::Result<usize> {
    let mut out = Output::new(writer);
    let mut count = 0;
    out.text("{\"paths\":[");
    compiled.impact(place, &mut |path| {
        if count > 0 {
            out.byte(b',');
        }
        count += 1;
        for (i, segment) in path.iter().enumerate() {
            out.byte(if i == 0 { b'[' } else { b',' });
            match segment {
                Segment::Key(key) => out.quoted(key),
                Segment::Index(index) => out.integer(*index as i64),
            }
        }
        out.byte(b']');
    });
    out.text("]}\n");
    out.finish()?;
    Ok(count)
}
