//! `hence compare`: the same files through Hence and through other compilers (§8.2 of the SmartFrog
//! paper).
//!
//! ask        every compiler for its answer to a file     `other.rs`
//! judge      how two answers differ                      `judge.rs`
//! report     a table, and each difference

mod judge;
mod other;

use std::time::Duration;

use clap::{Args, ValueEnum};
use hence_model::print::json::Json;
use hence_model::value::{Builder, List, Map, Value};

use super::source::{SPECIFICATIONS, SourceOptions, join, sources_below};
use crate::console::Console;
use crate::{Exit, Stop};
use judge::{Answer, Difference, Kind, judge};
use other::Other;

/// Compile the files of a folder with other compilers too, and compare
#[derive(Args)]
#[command(after_help = "\
A compiler is run as `COMMAND FILE`. It prints JSON to standard output, or ends with a code that is
not 0; if it prints `err2` or the like, that rule is compared too.

  hence compare specs --against haskell='runSF -json' --against scala='java -jar sfParser.jar -json'

With `--lang pp`, each `.pp` file is a manifest of its own, and its catalog is what is compared.")]
pub struct Compare {
    /// The folder whose files are compiled
    #[arg(value_name = "DIR")]
    folder: String,
    /// Another compiler: a name for it, and the command
    #[arg(long, value_name = "NAME=COMMAND", required = true, value_parser = other::parse)]
    against: Vec<Other>,
    /// Seconds that a compiler may take for a file
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    source: SourceOptions,
}

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table, and a line for each difference
    Text,
    /// JSON
    Json,
}

/// How one compiler compares with Hence.
struct Record<'a> {
    compiler: &'a str,
    agreed: usize,
    differences: Vec<(String, Difference)>,
}

impl Compare {
    /// Compares all files with all compilers.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let extensions: &[&str] = match self.source.is_puppet() {
            true => &["pp"],
            false => SPECIFICATIONS,
        };
        let files = sources_below(console, &self.folder, None, extensions)?;
        let mut records: Vec<Record<'_>> = Vec::new();
        for other in &self.against {
            records.push(Record {
                compiler: &other.name,
                agreed: 0,
                differences: Vec::new(),
            });
        }
        for (number, file) in files.iter().enumerate() {
            console.progress(&format!("{} of {}: {file}", number + 1, files.len()));
            let file = join(&self.folder, file);
            let ours = self.ours(console, &file)?;
            for (other, record) in self.against.iter().zip(&mut records) {
                let timeout = Duration::from_secs(self.timeout);
                let theirs = other.ask(&file, console.directory().as_deref(), timeout)?;
                match judge(&ours, &theirs) {
                    None => record.agreed += 1,
                    Some(difference) => record.differences.push((file.clone(), difference)),
                }
            }
        }
        console.end_progress();
        match self.format {
            Format::Text => console.data().write_all(table(&records).as_bytes())?,
            Format::Json => {
                let mut json = Json::pretty(console.data());
                report(&records, files.len()).send(&mut json);
                json.finish()?;
            }
        }
        Ok(
            match records.iter().all(|record| record.differences.is_empty()) {
                true => Exit::Done,
                false => Exit::Input,
            },
        )
    }

    /// What Hence says to a file.
    fn ours(&self, console: &mut Console<'_>, file: &str) -> Result<Answer, Stop> {
        let outside = self.source.outside(console);
        self.source.compile(console, &outside, file, |_, compiled| {
            if !compiled.is_good() {
                let mut errors = compiled.unit().diagnostics.iter().filter(|d| d.is_error());
                let first = errors.next().expect("without an error there is a result");
                return Ok(Answer::Error {
                    rule: first.code.rule.map(str::to_owned),
                    words: first.message.clone(),
                });
            }
            let mut builder = Builder::default();
            compiled.send(&mut builder);
            Ok(Answer::Value(builder.finish().expect("a value was sent")))
        })
    }
}

fn count(record: &Record<'_>, kind: Kind) -> usize {
    let same = record.differences.iter().filter(|(_, d)| d.kind == kind);
    same.count()
}

fn table(records: &[Record<'_>]) -> String {
    let names = records.iter().map(|record| record.compiler.chars().count());
    let width = names.max().unwrap_or(0).max("compiler".len());
    let mut text = format!("{:width$}  agree", "compiler");
    for kind in Kind::ALL {
        text.push_str("  ");
        text.push_str(kind.word());
    }
    text.push('\n');
    for record in records {
        text.push_str(&format!("{:width$}  {:5}", record.compiler, record.agreed));
        for kind in Kind::ALL {
            let width = kind.word().len();
            text.push_str(&format!("  {:width$}", count(record, kind)));
        }
        text.push('\n');
    }
    for record in records {
        for (file, difference) in &record.differences {
            text.push_str(&format!("\n{file}: {}", difference.kind.word()));
            if !difference.path.0.is_empty() {
                text.push_str(&format!(" of `{}`", difference.path));
            }
            let sides = [
                ("Hence", &difference.ours),
                (record.compiler, &difference.theirs),
            ];
            for (name, side) in sides {
                text.push_str(&format!("\n  {name:width$}  {side}"));
            }
            text.push('\n');
        }
    }
    text
}

fn report(records: &[Record<'_>], files: usize) -> Value {
    let text = |text: &str| Value::Text(text.to_owned());
    let number = |number: usize| Value::Integer(number as i64);
    let compilers = records.iter().map(|record| {
        let mut map = Map::default();
        map.insert("name".into(), text(record.compiler));
        map.insert("agree".into(), number(record.agreed));
        for kind in Kind::ALL {
            map.insert(kind.key().into(), number(count(record, kind)));
        }
        let differences = record.differences.iter().map(|(file, difference)| {
            let mut map = Map::default();
            map.insert("file".into(), text(file));
            map.insert("kind".into(), text(difference.kind.key()));
            map.insert("path".into(), text(&difference.path.to_string()));
            map.insert("hence".into(), text(&difference.ours));
            map.insert("other".into(), text(&difference.theirs));
            Value::Map(map)
        });
        let differences: Vec<Value> = differences.collect();
        map.insert("differences".into(), Value::List(List::from(differences)));
        Value::Map(map)
    });
    let mut map = Map::default();
    map.insert("files".into(), number(files));
    let compilers: Vec<Value> = compilers.collect();
    map.insert("compilers".into(), Value::List(List::from(compilers)));
    Value::Map(map)
}
