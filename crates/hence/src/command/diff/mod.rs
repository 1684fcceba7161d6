//! `hence diff`: what two versions of sources come to, compared; and which edits caused what differs.
//!
//! versions   what is compared: files, folders, revisions
//! causes     from a change of a value to the edits behind it
//! report     what is told: for people, for programs, for a review

mod causes;
mod report;
mod versions;

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use hence_model::explanation::Shown;
use hence_model::path::Path;
use hence_model::value::Value;

use super::fleet::{self, Ledger};
use super::source::{Language, SourceOptions, join};
use crate::configuration::Configuration;
use crate::console::Console;
use crate::difference::{self, Change, Kind};
use crate::outside::Outside;
use crate::{Exit, Stop};
use causes::Causes;
use report::{Differing, Report};
use versions::Version;

/// Compare what two versions of sources come to
#[derive(Args)]
pub struct Diff {
    /// The older version: a file (`-` for standard input), a folder, or `REVISION:FILE`; or a version of the ledger; or a node, and two versions
    old: String,
    /// The newer one
    new: String,
    /// For a node, the newer version
    newer: Option<String>,
    /// Name the edits that caused each change, and those that caused nothing
    #[arg(long)]
    why: bool,
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
    /// For a review
    Markdown,
}

impl Diff {
    /// Compares.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        if self.is_about_ledger(console) {
            let service = self.ledger.open(console)?;
            let format = match self.format {
                Format::Json => fleet::Format::Json,
                _ => fleet::Format::Text,
            };
            return match &self.newer {
                Some(newer) => {
                    let versions = [self.new.as_str(), newer];
                    let node = &self.old;
                    fleet::difference::node(console, &service, format, self.why, node, versions)
                }
                None => {
                    let versions = [self.old.as_str(), &self.new];
                    fleet::difference::versions(console, &service, format, self.why, versions)
                }
            };
        }
        let [old, new] = [&self.old, &self.new].map(|name| {
            let name = self.source.named(console, name)?;
            Version::of(console, name)
        });
        let (old, new) = (old?, new?);
        let pairs = versions::pairs(self, console, &old, &new)?;
        let mut report = Report::default();
        let count = pairs.len();
        let mut worst = Exit::Done;
        let mut mistaken = Vec::new();
        for (number, pair) in pairs.into_iter().enumerate() {
            if count > 1 {
                console.progress(&format!("{} of {count}: {}", number + 1, pair.title));
            }
            let exit = self.pair(console, &pair, count == 1, &mut report)?;
            if exit != Exit::Done {
                worst = worst.max(exit);
                mistaken.push(pair.title);
            }
        }
        console.end_progress();
        // A mistake in one does not keep the others from being compared; alone, there is nothing to tell.
        if mistaken.len() == count && count > 0 {
            return Ok(worst);
        }
        let text = match self.format {
            Format::Text => report.text(self.why, console.is_colourful()),
            Format::Json => report.json(self.why),
            Format::Markdown => report.markdown(self.why),
        };
        console.data().write_all(text.as_bytes())?;
        if !mistaken.is_empty() {
            console.say(&format!("not compared: {}", mistaken.join(", ")));
        }
        Ok(match report.is_empty() {
            true => worst,
            false => worst.max(Exit::Input),
        })
    }

    /// Whether it is about a ledger: three things are named, or there is a ledger and no such file.
    fn is_about_ledger(&self, console: &Console<'_>) -> bool {
        let is_file = |name: &str| {
            name == "-"
                || console.path(name).exists()
                || name.contains(':')
                || self.source.language(name).is_ok()
        };
        self.newer.is_some()
            || self.ledger.is_there(console) && !is_file(&self.old) && !is_file(&self.new)
    }

    /// Compares what one file comes to, for one node.
    fn pair(
        &self,
        console: &mut Console<'_>,
        pair: &versions::Pair<'_>,
        is_only: bool,
        report: &mut Report,
    ) -> Result<Exit, Stop> {
        let compile = |console: &mut Console<'_>,
                       side: &versions::Side<'_>,
                       then: &mut dyn FnMut(
            &mut Console<'_>,
            &Outside,
            &mut Configuration<'_>,
        ) -> Result<Exit, Stop>| {
            let outside = side.outside(console)?;
            let file = &side.file;
            side.options
                .compile(
                    console,
                    &outside,
                    file,
                    |console, compiled| match compiled.is_good() {
                        true => then(console, &outside, compiled),
                        false => Ok(outside.blame()),
                    },
                )
        };
        let (Some(before), Some(now)) = (&pair.old, &pair.new) else {
            // The whole is new, or gone.
            let side = pair.old.as_ref().or(pair.new.as_ref());
            let side = side.expect("a pair has a side");
            return compile(console, side, &mut |_, _, compiled| {
                let outputs = compiled.outputs();
                let whole = may_show(compiled, Some(&Path::default()), &outputs);
                report.whole(&pair.title, compiled.title(), pair.new.is_some(), whole);
                Ok(Exit::Done)
            });
        };
        compile(console, before, &mut |console, _, old| {
            compile(console, now, &mut |console, _, new| {
                self.compare(console, pair, is_only, old, new, report)
            })
        })
    }

    fn compare(
        &self,
        console: &mut Console<'_>,
        pair: &versions::Pair<'_>,
        is_only: bool,
        old: &mut Configuration<'_>,
        new: &mut Configuration<'_>,
        report: &mut Report,
    ) -> Result<Exit, Stop> {
        let (before, now) = (old.outputs(), new.outputs());
        let changes = difference::changes(&before, &now, new.is_ordered());
        let mut causes = match self.why {
            true => Some(Causes::new(console, pair, is_only, old, new, &changes)?),
            false => None,
        };
        if let Some(causes) = &causes {
            report.note(&causes.edits);
        }
        for change in &changes {
            let path = match change.path().0.is_empty() {
                true => new.title().to_owned(),
                false => new.path(change.path()),
            };
            let differing = Differing {
                path,
                kind: shown(change, old, new),
                causes: match &mut causes {
                    Some(causes) => causes.of(console, change, old, new)?,
                    None => Vec::new(),
                },
            };
            let edits = causes.as_ref().map(|causes| &causes.edits[..]);
            report.add(&pair.title, differing, edits.unwrap_or(&[]));
        }
        Ok(Exit::Done)
    }

    /// The nodes that are compared, if there are several.
    fn nodes(
        &self,
        console: &Console<'_>,
        versions: [&Version; 2],
    ) -> Result<Option<Vec<String>>, Stop> {
        let Some(wanted) = &self.source.puppet.nodes else {
            return Ok(None);
        };
        let mut names = BTreeSet::new();
        for version in versions {
            let outside = version.outside(console, &self.source)?;
            let limits = self.source.limits();
            let layout = self.source.puppet.layout(&version.file);
            let site = hence_puppet::Site::new(&outside, layout, limits);
            names.extend(super::nodes::names(&self.source, console, &site, wanted)?);
        }
        Ok(Some(names.into_iter().collect()))
    }

    /// The options for one node.
    fn options_of(&self, console: &Console<'_>, node: &str) -> SourceOptions {
        let directory = self.source.puppet.facts_dir.as_deref();
        let facts = directory.map(|directory| join(directory, &format!("{node}.json")));
        let facts = facts.filter(|file| console.path(file).exists());
        let mut options = self.source.clone();
        options.facts = facts;
        options.puppet = options.puppet.of_node(node);
        options
    }

    fn is_puppet(&self, file: &str) -> bool {
        matches!(self.source.language(file), Ok(Language::Puppet))
    }
}

/// What happened to a value, as it may be shown: a secret is not.
fn shown(
    change: &Change,
    old: &mut Configuration<'_>,
    new: &mut Configuration<'_>,
) -> report::Told {
    let was =
        |value: &Value, old: &mut Configuration<'_>| may_show(old, change.old.as_ref(), value);
    match &change.kind {
        Kind::Added(value) => report::Told::Added(may_show(new, change.new.as_ref(), value)),
        Kind::Removed(value) => report::Told::Removed(was(value, old)),
        Kind::Changed(before, now) => {
            let now = may_show(new, change.new.as_ref(), now);
            report::Told::Changed(was(before, old), now)
        }
        Kind::Reordered(before, now) => report::Told::Reordered(before.clone(), now.clone()),
    }
}

/// A value with everything in it that is no secret.
fn may_show(compiled: &mut Configuration<'_>, path: Option<&Path>, value: &Value) -> Shown {
    let Some(path) = path.filter(|_| compiled.has_secrets()) else {
        return Shown::Value(value.clone());
    };
    let is_secret = |compiled: &mut Configuration<'_>, path: &Path| {
        // What is inside of something sensitive is explained by that.
        let mut around = (0..=path.0.len()).rev();
        let explained =
            around.find_map(|length| compiled.explain(&Path(path.0[..length].to_vec())).ok());
        explained.is_some_and(|explained| matches!(explained.value, Shown::Secret))
    };
    if is_secret(compiled, path) {
        return Shown::Secret;
    }
    let inner: Vec<Path> = difference::leaves(value)
        .into_iter()
        .map(|(inner, _)| Path([&path.0[..], &inner.0[..]].concat()))
        .collect();
    match inner.iter().any(|inner| is_secret(compiled, inner)) {
        true => Shown::Secret,
        false => Shown::Value(value.clone()),
    }
}
