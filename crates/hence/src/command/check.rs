//! `hence check`: what is wrong, and nothing else.

use std::collections::HashSet;

use clap::Args;

use super::nodes;
use super::source::{Language, SPECIFICATIONS, SourceOptions, join, sources_below};
use crate::configuration::{Catalog, Configuration};
use crate::console::Console;
use crate::policy::Policy;
use crate::policy::judge::{Compilation, Judge};
use crate::{Exit, Stop};

/// So many values are looked at before somebody who watches hears of it.
const STRIDE: usize = 256;

/// Look for mistakes, and print nothing else
#[derive(Args)]
pub struct Check {
    /// The files, or folders whose files are checked; `-` for standard input
    #[arg(value_name = "FILE|DIR", required = true)]
    inputs: Vec<String>,
    /// A file of rules about what values may depend on
    #[arg(long, value_name = "FILE")]
    policy: Vec<String>,
    #[command(flatten)]
    source: SourceOptions,
}

impl Check {
    /// Checks all files, also when some are wrong.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let limits = self.source.limits();
        let disk = console.disk(limits.source);
        let read = |name: &String| Policy::read(&disk, name, limits);
        let policies: Vec<Policy> = self.policy.iter().map(read).collect();
        for policy in &policies {
            console.show(&policy.unit.sources, &policy.unit.diagnostics);
        }
        if policies.iter().any(|policy| policy.unit.has_errors()) {
            return Ok(disk.blame());
        }
        let mut judge = Judge::new(&policies, console.directory().unwrap_or_default());
        let mut worst = Exit::Done;
        let mut all_judged = true;
        for input in &self.inputs {
            for file in self.files(console, input)? {
                let (exit, judged) = self.file(console, &file, &mut judge)?;
                worst = worst.max(exit);
                all_judged &= judged;
            }
        }
        // Of what has no result, nothing could be looked at.
        if all_judged {
            for (policy, idle) in judge.idle() {
                console.show(&policy.unit.sources, &idle);
            }
        }
        Ok(worst)
    }

    fn files(&self, console: &mut Console<'_>, input: &str) -> Result<Vec<String>, Stop> {
        if !console.path(input).is_dir() || self.source.is_puppet() {
            return Ok(vec![self.source.named(console, input)?.to_owned()]);
        }
        let below = sources_below(console, input, None, SPECIFICATIONS)?;
        // What others include is checked with them, where it can be understood.
        let outside = self.source.outside(console);
        let whole = self.source.without_parts(&outside, input, below);
        Ok(whole.iter().map(|file| join(input, file)).collect())
    }

    /// Checks a file, and says whether there was something to hold against the policies.
    fn file(
        &self,
        console: &mut Console<'_>,
        file: &str,
        judge: &mut Judge<'_>,
    ) -> Result<(Exit, bool), Stop> {
        if self.source.puppet.nodes.is_some() && self.source.language(file)? == Language::Puppet {
            return self.nodes(console, file, judge);
        }
        let outside = self.source.outside(console);
        self.source
            .compile(console, &outside, file, |console, compiled| {
                if compiled.unit().has_errors() {
                    return Ok((outside.blame(), false));
                }
                let compilation = Compilation {
                    entry: file,
                    node: None,
                };
                self.judge(console, compiled, &compilation, judge);
                let (sources, violations) = judge.told(&compiled.unit().sources);
                console.show(&sources, &violations);
                Ok(match violations.is_empty() {
                    true => (Exit::Done, true),
                    false => (Exit::Input, true),
                })
            })
    }

    /// Checks the catalogs of many nodes, which share what is read. What many of them say is said once.
    fn nodes(
        &self,
        console: &mut Console<'_>,
        file: &str,
        judge: &mut Judge<'_>,
    ) -> Result<(Exit, bool), Stop> {
        let outside = self.source.outside(console);
        let limits = self.source.limits();
        let site = (self.source.puppet).site(console, &outside, file, limits)?;
        let wanted = self.source.puppet.nodes.as_deref().unwrap_or("all");
        let names = nodes::names(&self.source, console, &site, wanted)?;
        let catalogs = nodes::Catalogs::new(&self.source, console, &outside, &site);
        let mut said = HashSet::new();
        let (mut worst, mut all_judged) = (Exit::Done, true);
        for (number, name) in names.iter().enumerate() {
            console.progress(&format!("{} of {}: {name}", number + 1, names.len()));
            let judged = catalogs.of(name, |compiled| {
                let mut configuration = Configuration::Puppet(Box::new(Catalog {
                    compiled,
                    site: &site,
                    unit: Some(site.unit()),
                }));
                let node = Some(name.as_str());
                let compilation = Compilation { entry: file, node };
                self.judge(console, &mut configuration, &compilation, judge);
            });
            for words in judged.words {
                if said.insert(words.clone()) {
                    console.words(&words);
                }
            }
            if let Err(exit) = judged.made {
                worst = worst.max(exit);
                all_judged = false;
            }
        }
        console.end_progress();
        let (sources, violations) = judge.told(&site.unit().sources);
        console.show(&sources, &violations);
        if !violations.is_empty() {
            worst = worst.max(Exit::Input);
        }
        Ok((worst, all_judged))
    }

    fn judge(
        &self,
        console: &mut Console<'_>,
        compiled: &mut Configuration<'_>,
        compilation: &Compilation<'_>,
        judge: &mut Judge<'_>,
    ) {
        if self.policy.is_empty() {
            return;
        }
        let about = compilation.node.unwrap_or(compilation.entry);
        judge.look_at(compiled, compilation, &mut |done, count| {
            if done % STRIDE == STRIDE - 1 {
                console.progress(&format!("{about}: {done} of {count} values"));
            }
        });
        console.end_progress();
    }
}
