//! `hence impact`: what depends on what is written in a place, and what becomes of it with another text there.
//!
//! place     a place as it was written, and what is meant by it
//! listing   many paths in groups
//! what_if   what a replacement changes
//! many      the same for many nodes

mod listing;
mod many;
mod place;
mod what_if;

use std::collections::HashSet;

use clap::{Args, ValueEnum};
use hence_model::path::{Path, Segment};
use hence_model::source::Span;
use hence_model::value::{List, Map, Value};

use super::source::{Language, SourceOptions};
use crate::configuration::Configuration;
use crate::console::Console;
use crate::difference::written;
use crate::outside::Outside;
use crate::replacement::Replacement;
use crate::{Exit, Stop};
use listing::{Manner, values};
use place::Place;
use what_if::{Effect, Told};

/// List every value that depends on what is written in a place
#[derive(Args)]
pub struct Impact {
    /// The place: `site.sf:12` for a line, `site.sf:12:9` for what is written there; `-:12` if that is standard input
    #[arg(value_name = "FILE:LINE[:COLUMN]", allow_hyphen_values = true)]
    place: String,
    /// The file that is compiled; `-` for standard input
    #[arg(long = "in", value_name = "ENTRY")]
    entry: String,
    /// Compile with this text in place of the literal, and show what changes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    what_if: Option<String>,
    /// List every path, however many there are
    #[arg(long)]
    full: bool,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    source: SourceOptions,
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Paths in groups, the first of each
    Text,
    /// `{"paths":[["s2","web","running"],…],"count":12,"groups":[…]}`
    Json,
}

impl Impact {
    /// Answers.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let place = Place::read(&self.place)?;
        let entry = self.source.named(console, &self.entry)?;
        if let Some(nodes) = &self.source.puppet.nodes
            && self.source.language(entry)? == Language::Puppet
        {
            return many::run(self, console, entry, &place, nodes);
        }
        let outside = self.source.outside(console);
        self.source
            .compile_last(console, &outside, entry, |console, compiled| {
                if !compiled.is_good() {
                    return Ok(outside.blame());
                }
                let sources = &compiled.unit().sources;
                let file = place.file(&console.path(""), sources);
                let file = file.ok_or_else(|| place.not_involved(sources))?;
                match &self.what_if {
                    None => {
                        let stretch = place.stretch(compiled, file);
                        let stretch = stretch.ok_or_else(|| place.nothing_there())?;
                        self.answer(console, compiled, stretch)
                    }
                    Some(text) => {
                        let replaceable = place.replaceable(compiled, file);
                        let sources = &compiled.unit().sources;
                        let span =
                            replaceable.map_err(|why| place.not_replaceable(sources, &why))?;
                        let text = text.clone();
                        self.try_out(console, &outside, compiled, &Replacement { span, text })
                    }
                }
            })
    }

    /// What depends on a stretch.
    fn answer(
        &self,
        console: &mut Console<'_>,
        compiled: &mut Configuration<'_>,
        stretch: Span,
    ) -> Result<Exit, Stop> {
        let answer = Answer::of(compiled, stretch);
        match self.format {
            Format::Json => {
                let text = written(&Value::Map(answer.map()));
                console.data().write_all(format!("{text}\n").as_bytes())?;
            }
            Format::Text => {
                let text = answer.text(self.full, "");
                console.data().write_all(text.as_bytes())?;
                console.say(&depend(answer.paths.len(), "", &self.place));
            }
        }
        Ok(Exit::Done)
    }

    /// What changes with another text in the place of a stretch.
    fn try_out(
        &self,
        console: &mut Console<'_>,
        outside: &Outside,
        compiled: &mut Configuration<'_>,
        replacement: &Replacement,
    ) -> Result<Exit, Stop> {
        let mut answer = Answer::of(compiled, replacement.span);
        let wording = console.wording();
        let words = |of: &Configuration<'_>| -> Vec<String> {
            let unit = of.unit();
            let diagnostics = unit.diagnostics.iter();
            diagnostics
                .map(|diagnostic| wording.word(&unit.sources, diagnostic))
                .collect()
        };
        let known: HashSet<String> = words(compiled).into_iter().collect();
        let (name, text) = replacement.made(&compiled.unit().sources);
        let mut told = Told::of(replacement, &compiled.unit().sources);
        let edited = outside.on(self.source.disk_with(console, &name, text));
        let paths = &answer.paths;
        let (new_words, effect) = console.unheard(|unheard| {
            let entry = self.source.named(unheard, &self.entry)?;
            self.source.compile(unheard, &edited, entry, |_, new| {
                let words = words(new);
                if !new.is_good() {
                    return Ok((words, None));
                }
                let (was, sources) = (replacement.span, &compiled.unit().sources);
                let is = replacement.span_in(sources, &new.unit().sources);
                let effect = what_if::compare(compiled, new, paths, was, is);
                Ok((words, Some(effect)))
            })
        })?;
        for words in new_words.iter().filter(|words| !known.contains(*words)) {
            console.words(words);
        }
        let Some(effect) = effect else {
            return Ok(edited.blame());
        };
        if effect.has_secret() {
            told.hide();
        }
        let (words, end) = told.conclude(&[&effect], "");
        answer.effect = Some(effect);
        match self.format {
            Format::Json => {
                let mut map = answer.map();
                map.insert("replaced".into(), told.value());
                let text = written(&Value::Map(map));
                console.data().write_all(format!("{text}\n").as_bytes())?;
            }
            Format::Text => {
                let text = answer.text(self.full, "");
                console.data().write_all(text.as_bytes())?;
                console.say(&words);
            }
        }
        end
    }
}

/// What depends on a place, and, if that was tried, what changes.
struct Answer {
    manner: Manner,
    paths: Vec<Path>,
    effect: Option<Effect>,
}

impl Answer {
    fn of(compiled: &mut Configuration<'_>, stretch: Span) -> Self {
        let mut answer = Self::nothing(compiled);
        let paths = &mut answer.paths;
        compiled.impact(stretch, &mut |path| paths.push(Path(path.to_vec())));
        answer
    }

    fn nothing(compiled: &Configuration<'_>) -> Self {
        Self {
            manner: Manner::of(compiled),
            paths: Vec::new(),
            effect: None,
        }
    }

    fn text(&self, full: bool, indent: &str) -> String {
        let name = |path: &Path| path.joined(self.manner.separator);
        let lines: Vec<(Path, String)> = match &self.effect {
            None => {
                let paths = self.paths.iter();
                paths.map(|path| (path.clone(), name(path))).collect()
            }
            Some(effect) => {
                let changes = effect.changes.iter();
                let changes = changes.map(|change| {
                    let words = format!("{}   {}", name(&change.path), change.words());
                    (change.path.clone(), words)
                });
                changes
                    .chain(effect.reordered(self.manner.separator))
                    .collect()
            }
        };
        let groups = self.manner.grouped(lines);
        self.manner.tell(&groups, full, indent)
    }

    /// `{"paths":…,"count":…,"groups":…}`
    fn map(&self) -> Map {
        let mut map = Map::default();
        map.insert("paths".into(), paths_value(&self.paths));
        map.insert("count".into(), Value::Integer(self.paths.len() as i64));
        let paths = self.paths.iter().map(|path| (path.clone(), ()));
        let groups = self.manner.grouped(paths).into_iter().map(|group| {
            let mut map = Map::default();
            let count = group.lines.len() as i64;
            map.insert("name".into(), group.name.map_or(Value::Null, Value::Text));
            map.insert("count".into(), Value::Integer(count));
            Value::Map(map)
        });
        let groups: Vec<Value> = groups.collect();
        map.insert("groups".into(), Value::List(List::from(groups)));
        if let Some(effect) = &self.effect {
            effect.add_to(&mut map);
        }
        map
    }
}

/// `4 values depend on site.sf:3`
fn depend(count: usize, on: &str, place: &str) -> String {
    let verb = if count == 1 { "depends" } else { "depend" };
    format!("{}{on} {verb} on {place}", values(count))
}

fn paths_value(paths: &[Path]) -> Value {
    let paths: Vec<Value> = paths.iter().map(path_value).collect();
    Value::List(List::from(paths))
}

fn path_value(path: &Path) -> Value {
    let segments = path.0.iter().map(|segment| match segment {
        Segment::Key(key) => Value::Text(key.clone()),
        Segment::Index(index) => Value::Integer(*index as i64),
    });
    Value::List(List::from(segments.collect::<Vec<_>>()))
}
