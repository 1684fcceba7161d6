//! Holds the values of configurations against the rules of policies.
//!
//! Each value that a rule speaks of is explained once. What depends on the same place against the same rule is
//! told once, with the way from the place to the first of these values.

use std::collections::{HashMap, HashSet};
use std::path::{self, Component, PathBuf};

use hence_model::diagnostic::{Code, Diagnostic, Label};
use hence_model::explanation::{Dependence, Explanation, Role, Shown, Step, StepKind};
use hence_model::path::{Path, Segment};
use hence_model::source::{Sources, Span};

use super::pattern::{Piece, pieces};
use super::{Count, Demand, Policy, Rule, Source, SourceKind};
use crate::command::{secrets, step_words};
use crate::configuration::Configuration;
use crate::difference::leaves;
use crate::git::{self, Commit};

/// A value depends on what it may not.
pub const VIOLATION: Code = Code::new("policy.violation");
/// A rule speaks of nothing.
pub const UNMATCHED: Code = Code::new("policy.unmatched");

/// So many steps of a way are told.
const STEPS: usize = 5;
/// So many of the values with the same trouble are named.
const NAMED: usize = 4;

/// Whoever holds values against rules.
pub struct Judge<'p> {
    policies: &'p [Policy],
    rules: Vec<Known<'p>>,
    /// Where the names of sources start.
    directory: PathBuf,
    /// The sources that were met, by name.
    met: HashMap<String, Met>,
    findings: Vec<Finding>,
    by_place: HashMap<(usize, Option<Span>), usize>,
    /// What is written of secrets in the texts that are told of.
    secrets: Vec<Span>,
}

/// A rule, and whether it had something to do.
struct Known<'p> {
    policy: usize,
    rule: &'p Rule,
    /// Whether it speaks of a value.
    is_matched: bool,
    /// Whether somebody was known to have written what such a value depends on.
    has_author: bool,
}

/// A source that values depend on.
struct Met {
    /// Its name from the directory of each policy.
    names: Vec<String>,
    /// The same where links lead elsewhere.
    real: Vec<String>,
    /// In full.
    absolute: String,
    /// Who wrote its lines; none if git does not know it. Asked once.
    blame: Option<Option<Vec<Option<Commit>>>>,
}

/// What is compiled.
pub struct Compilation<'a> {
    /// The file.
    pub entry: &'a str,
    /// The node, if it is one of many.
    pub node: Option<&'a str>,
}

/// Something that may not be.
struct Finding {
    rule: usize,
    /// What is wrong, behind the path.
    message: String,
    /// The first of the paths.
    path: String,
    /// The same, with its node if there are many.
    shown: String,
    /// Further ones.
    others: Vec<String>,
    count: usize,
    labels: Vec<Label>,
    help: Vec<String>,
}

/// What an explanation has against a rule.
struct Trouble {
    message: String,
    /// The place that must not be depended on, and what to see there.
    place: Option<(Span, String)>,
    /// How many further places there are.
    more: usize,
}

impl<'p> Judge<'p> {
    /// Somebody who knows these policies. Names of sources start in `directory`.
    pub fn new(policies: &'p [Policy], directory: PathBuf) -> Self {
        let known = policies.iter().enumerate().flat_map(|(policy, known)| {
            known.rules.iter().map(move |rule| Known {
                policy,
                rule,
                is_matched: false,
                has_author: false,
            })
        });
        Self {
            policies,
            rules: known.collect(),
            directory,
            met: HashMap::new(),
            findings: Vec::new(),
            by_place: HashMap::new(),
            secrets: Vec::new(),
        }
    }

    /// Looks at all values of a configuration; `progress` hears how many are done, of how many.
    pub fn look_at(
        &mut self,
        compiled: &mut Configuration<'_>,
        compilation: &Compilation<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) {
        let outputs = compiled.outputs();
        let values: Vec<Path> = leaves(&outputs).into_iter().map(|(path, _)| path).collect();
        let blocks = containers(&values);
        let count = values.len() + blocks.len();
        // Which blocks have a value inside that was found already, by rule.
        let mut inside: HashSet<(usize, Vec<Segment>)> = HashSet::new();
        for (done, path) in values.iter().chain(&blocks).enumerate() {
            progress(done, count);
            let is_value = done < values.len();
            let rules = self.rules_about(compiled, path, is_value);
            if rules.is_empty() {
                continue;
            }
            // A catalog as a whole is no value, and what is inside of something sensitive is explained by that.
            let shortest = if is_value { 0 } else { path.0.len() };
            let mut around = (shortest..=path.0.len()).rev();
            let explanation =
                around.find_map(|length| compiled.explain(&Path(path.0[..length].to_vec())).ok());
            let Some(explanation) = explanation else {
                continue;
            };
            for number in rules {
                if !is_value && inside.contains(&(number, path.0.clone())) {
                    continue;
                }
                let Some(trouble) = self.trouble(compiled, number, &explanation) else {
                    continue;
                };
                if is_value {
                    for length in 0..path.0.len() {
                        inside.insert((number, path.0[..length].to_vec()));
                    }
                }
                self.find(compiled, compilation, number, &explanation, trouble);
            }
        }
    }

    /// The rules that demand something of a path. Of those about secrets only one counts: the one that says most,
    /// and of equals the last. What is in a block has paths of its own, so secrets are not looked for in blocks.
    fn rules_about(
        &mut self,
        compiled: &Configuration<'_>,
        path: &Path,
        is_value: bool,
    ) -> Vec<usize> {
        let own = pieces(path);
        // The configuration's own name may be written, and need not.
        let named = match compiled {
            Configuration::SmartFrog(_) => {
                let mut named = Path(vec![Segment::Key(compiled.title().to_owned())]);
                named.0.extend(path.0.iter().cloned());
                Some(pieces(&named))
            }
            Configuration::Cf2(_) | Configuration::Puppet(_) => None,
        };
        let mut about = Vec::new();
        let mut secret: Option<(usize, usize)> = None;
        for (number, known) in self.rules.iter_mut().enumerate() {
            let values = &known.rule.values;
            let fits = |pieces: &Vec<Piece>| values.fits_pieces(pieces.iter().copied());
            if !fits(&own) && !named.as_ref().is_some_and(fits) {
                continue;
            }
            match known.rule.demand {
                Demand::Only(..) | Demand::Not(..) => about.push(number),
                Demand::NoSecret | Demand::NoPlainSecret | Demand::MayBeSecret if is_value => {
                    let said = values.specificity();
                    if secret.is_none_or(|(most, _)| said >= most) {
                        secret = Some((said, number));
                    }
                }
                Demand::NoSecret | Demand::NoPlainSecret | Demand::MayBeSecret => continue,
            }
            known.is_matched = true;
        }
        about.extend(secret.map(|(_, number)| number));
        about
    }

    /// What an explanation has against a rule, if anything.
    fn trouble(
        &mut self,
        compiled: &Configuration<'_>,
        number: usize,
        explanation: &Explanation,
    ) -> Option<Trouble> {
        let rule = self.rules[number].rule;
        match &rule.demand {
            Demand::Only(count, sources) => {
                let mut wrong = self.wrong(compiled, number, explanation, *count)?;
                let author = wrong.2.take();
                let allowed = listed(sources);
                let by = self.by(compiled, wrong.0, sources, author);
                let message = format!("may depend only on {allowed}, and depends on {by}");
                Some(placed(compiled, explanation, wrong, message))
            }
            Demand::Not(count, sources) => {
                let mut wrong = self.wrong(compiled, number, explanation, *count)?;
                let author = wrong.2.take();
                let by = self.by(compiled, wrong.0, sources, author);
                let message = format!("may not depend on {by}");
                Some(placed(compiled, explanation, wrong, message))
            }
            Demand::NoSecret if explanation.value == Shown::Secret => {
                Some(secret(compiled, explanation, "may not hold a secret"))
            }
            Demand::NoPlainSecret
                if explanation.value == Shown::Secret
                    && !compiled.is_marked_secret(&explanation.path) =>
            {
                let message = "may not hold a secret, as nothing marks it as one";
                Some(secret(compiled, explanation, message))
            }
            Demand::NoSecret | Demand::NoPlainSecret | Demand::MayBeSecret => None,
        }
    }

    /// The most telling dependence that is wrong, how many more there are, and who wrote it.
    fn wrong(
        &mut self,
        compiled: &Configuration<'_>,
        number: usize,
        explanation: &Explanation,
        count: Count,
    ) -> Option<Wrong> {
        let is_denial = matches!(self.rules[number].rule.demand, Demand::Not(..));
        let mut found: Option<Wrong> = None;
        for dependence in dependences(compiled, explanation) {
            if count == Count::Values && !matches!(dependence.role, Role::Value | Role::Operand) {
                continue;
            }
            let (is_met, author) = self.is_met(compiled, number, dependence);
            if is_met != is_denial {
                continue;
            }
            found = Some(match found {
                Some((before, more, author)) if rank(before.role) <= rank(dependence.role) => {
                    (before, more + 1, author)
                }
                Some((_, more, _)) => (dependence, more + 1, author),
                None => (dependence, 0, author),
            });
        }
        found
    }

    /// Whether a dependence is on one of the sources of a rule, and who wrote the line that decided it.
    fn is_met(
        &mut self,
        compiled: &Configuration<'_>,
        number: usize,
        dependence: Dependence,
    ) -> (bool, Option<Option<Commit>>) {
        let Known { policy, rule, .. } = self.rules[number];
        let (Demand::Only(_, wanted) | Demand::Not(_, wanted)) = &rule.demand else {
            unreachable!("it is about sources");
        };
        let is_denial = matches!(rule.demand, Demand::Not(..));
        let sources = &compiled.unit().sources;
        let name = sources.name(sources.file_at(dependence.span.start));
        let met = self.met(name);
        let is_file = |source: &&Source| {
            let pattern = &source.pattern;
            match source.text.starts_with('/') {
                true => pattern.fits(&met.absolute),
                // What is a link to something forbidden is forbidden; what may be used must have a name that may.
                false => {
                    pattern.fits(&met.names[policy]) || is_denial && pattern.fits(&met.real[policy])
                }
            }
        };
        let of_kind = |kind| wanted.iter().filter(move |source| source.kind == kind);
        if of_kind(SourceKind::File).any(|source| is_file(&source)) {
            return (true, None);
        }
        let signers = compiled.signers(dependence.span);
        let has_signed = |source: &Source| signers.iter().any(|signer| source.pattern.fits(signer));
        if of_kind(SourceKind::Signer).any(has_signed) {
            return (true, None);
        }
        if of_kind(SourceKind::Author).next().is_none() {
            return (false, None);
        }
        let lines = self.authors(compiled, dependence);
        if lines.iter().any(Option::is_some) {
            self.rules[number].has_author = true;
        }
        let is_by = |commit: &Option<Commit>| {
            commit.as_ref().is_some_and(|commit| {
                let patterns = &mut of_kind(SourceKind::Author).map(|source| &source.pattern);
                patterns.any(|pattern| pattern.fits(&commit.mail) || pattern.fits(&commit.author))
            })
        };
        let telling = lines.iter().find(|commit| is_by(commit) == is_denial);
        let is_met = match is_denial {
            true => lines.iter().any(is_by),
            false => !lines.is_empty() && lines.iter().all(is_by),
        };
        (is_met, Some(telling.cloned().flatten()))
    }

    /// Who wrote the lines of what is depended on. What stands inside of a block, an operation or an import has
    /// places of its own.
    fn authors(&mut self, compiled: &Configuration<'_>, on: Dependence) -> Vec<Option<Commit>> {
        let sources = &compiled.unit().sources;
        let file = sources.file_at(on.span.start);
        let name = sources.name(file);
        let first = sources.line_number(on.span.start);
        let last = match on.role {
            Role::Block | Role::Operation | Role::Import | Role::Include | Role::Prototype => first,
            _ => sources.line_number(on.span.end.max(on.span.start + 1) - 1),
        };
        let directory = self.directory.clone();
        let met = self.met(name);
        let blame = met
            .blame
            .get_or_insert_with(|| git::blame(&directory, None, name));
        match blame {
            None => vec![None],
            // The text of a database is not what git knows: who changed any of it, changed it.
            Some(lines) if name.ends_with(".kdbx") => lines.clone(),
            Some(lines) => {
                let line = |line: u32| lines.get(line as usize - 1).cloned().flatten();
                (first..=last).map(line).collect()
            }
        }
    }

    fn met(&mut self, name: &str) -> &mut Met {
        if !self.met.contains_key(name) {
            let absolute = tidy(&absolute(&self.directory.join(name)));
            let real = std::fs::canonicalize(&absolute).unwrap_or(absolute.clone());
            let from = |policy: &Policy| {
                let mut folder = tidy(&self::absolute(&self.directory.join(&policy.name)));
                folder.pop();
                folder
            };
            let names = self
                .policies
                .iter()
                .map(|policy| relative(&absolute, &from(policy)));
            let reals = self.policies.iter().map(|policy| {
                let from = from(policy);
                relative(&real, &std::fs::canonicalize(&from).unwrap_or(from))
            });
            let met = Met {
                names: names.collect(),
                real: reals.collect(),
                absolute: absolute.to_string_lossy().into_owned(),
                blame: None,
            };
            self.met.insert(name.to_owned(), met);
        }
        self.met.get_mut(name).expect("it was put there")
    }

    /// What is depended on, by what the rule tells sources apart by.
    fn by(
        &self,
        compiled: &Configuration<'_>,
        on: Dependence,
        wanted: &[Source],
        author: Option<Option<Commit>>,
    ) -> String {
        let sources = &compiled.unit().sources;
        let name = sources.name(sources.file_at(on.span.start));
        let is_about = |kind| wanted.iter().any(|source| source.kind == kind);
        let mut by = format!("`{name}`");
        if is_about(SourceKind::Signer) {
            by.push_str(&match compiled.signers(on.span) {
                [] => ", whose signature nobody checked".to_owned(),
                signers => format!(", signed by {}", signers.join(", ")),
            });
        }
        match author {
            Some(Some(commit)) => {
                by.push_str(&format!(
                    ", written by {} in {}",
                    commit.mail,
                    commit.short()
                ));
            }
            Some(None) => by.push_str(", which is not committed, and so by nobody"),
            None => {}
        }
        by
    }

    /// Keeps what was found, with the way to the first value of its kind.
    fn find(
        &mut self,
        compiled: &Configuration<'_>,
        compilation: &Compilation<'_>,
        rule: usize,
        explanation: &Explanation,
        trouble: Trouble,
    ) {
        let path = match compiled.path(&explanation.path) {
            path if path.is_empty() => compiled.title().to_owned(),
            path => path,
        };
        let shown = match compilation.node {
            Some(node) => format!("{path}` of `{node}"),
            None => path.clone(),
        };
        let key = (rule, trouble.place.as_ref().map(|(span, _)| *span));
        if let Some(&known) = self.by_place.get(&key) {
            let finding = &mut self.findings[known];
            finding.count += 1;
            if finding.others.len() < NAMED {
                finding.others.push(shown);
            }
            return;
        }
        self.secrets.extend(secrets::written(compiled, explanation));
        let mut labels = Vec::new();
        let mut help = Vec::new();
        let (mut ways, mut more) = (Vec::new(), 0);
        if let Some((span, text)) = trouble.place {
            labels.push(Label { span, text });
            (ways, more) = way(explanation, span);
        }
        for step in ways {
            let span = step.span;
            let text = step_words(compiled, explanation, step);
            if !labels.iter().any(|label: &Label| label.span == span) {
                labels.push(Label { span, text });
            }
        }
        let node = compilation.node.map(|node| format!(" --node {node}"));
        let asked = format!(
            "hence why {} {}{} --full",
            compilation.entry,
            shell_words::quote(&path),
            node.unwrap_or_default()
        );
        help.push(match more {
            0 => format!("`{asked}` shows the whole way"),
            1 => format!("1 more step: `{asked}`"),
            more => format!("{more} more steps: `{asked}`"),
        });
        if trouble.more > 0 {
            let places = if trouble.more == 1 { "place" } else { "places" };
            let more = trouble.more;
            help.push(format!(
                "it depends on {more} more {places} against this rule"
            ));
        }
        self.by_place.insert(key, self.findings.len());
        self.findings.push(Finding {
            rule,
            message: trouble.message,
            path,
            shown,
            others: Vec::new(),
            count: 1,
            labels,
            help,
        });
    }

    /// What was found since the last time, with the texts that it is about.
    pub fn told(&mut self, sources: &Sources) -> (Sources, Vec<Diagnostic>) {
        self.by_place.clear();
        let findings = std::mem::take(&mut self.findings);
        if findings.is_empty() {
            return (Sources::default(), Vec::new());
        }
        let mut sources = sources.without(&std::mem::take(&mut self.secrets));
        let mut starts: HashMap<usize, Option<u32>> = HashMap::new();
        let mut diagnostics = Vec::new();
        for finding in findings {
            let known = &self.rules[finding.rule];
            let policy = &self.policies[known.policy];
            // Without room for the text of the policy its place is told in words.
            let start = *starts.entry(known.policy).or_insert_with(|| {
                let file = sources.add(&policy.name, policy.text()).ok();
                file.map(|file| sources.span(file).start)
            });
            let others = match finding.count - 1 {
                0 => String::new(),
                1 => " and 1 more".to_owned(),
                more => format!(" and {more} more"),
            };
            let message = format!("`{}`{others} {}", finding.shown, finding.message);
            let mut diagnostic = Diagnostic::error(VIOLATION, message);
            diagnostic.labels = finding.labels;
            diagnostic = match start {
                Some(start) => {
                    let span = known.rule.span;
                    let span = Span::new(span.start + start, span.end + start);
                    diagnostic.label(span, "this rule forbids it")
                }
                None => {
                    let place = policy.unit.sources.location(known.rule.span.start);
                    diagnostic.help(format!("the rule at {place} forbids it"))
                }
            };
            if !finding.others.is_empty() {
                let named = finding.others.iter().map(|path| format!("`{path}`"));
                let named: Vec<String> = named.collect();
                let rest = finding.count - 1 - named.len();
                let dots = if rest > 0 { ", …" } else { "" };
                let named = named.join(", ");
                diagnostic = diagnostic.help(format!("the same is true of {named}{dots}"));
            }
            diagnostic.help.extend(finding.help);
            diagnostics.push(diagnostic.path(finding.path));
        }
        (sources, diagnostics)
    }

    /// The rules that nothing was held against: each policy with what to say about it.
    pub fn idle(&self) -> Vec<(&'p Policy, Vec<Diagnostic>)> {
        let mut told = Vec::new();
        for (number, policy) in self.policies.iter().enumerate() {
            let mut diagnostics = Vec::new();
            if policy.rules.is_empty() {
                let message = format!("there is no rule in `{}`", policy.name);
                let file = policy.unit.sources.files().next();
                let start = file.map_or(0, |file| policy.unit.sources.span(file).start);
                let warning = Diagnostic::warning(UNMATCHED, message).at(Span::at(start));
                diagnostics.push(
                    warning.help("a rule is `PATH not from file FILE`; see `docs/policy.md`"),
                );
            }
            for known in self.rules.iter().filter(|known| known.policy == number) {
                diagnostics.extend(self.idle_rule(known));
            }
            if !diagnostics.is_empty() {
                told.push((policy, diagnostics));
            }
        }
        told
    }

    fn idle_rule(&self, known: &Known<'_>) -> Vec<Diagnostic> {
        let rule = known.rule;
        let sources = &self.policies[known.policy].unit.sources;
        let path = sources.slice(rule.subject);
        if !known.is_matched {
            let message = format!("this rule checks nothing: no value is at `{path}`");
            let warning = Diagnostic::warning(UNMATCHED, message).at(rule.subject);
            return vec![match path.ends_with("**") {
                true => warning.help("`hence compile` shows which values there are"),
                false => warning.help(format!(
                    "if `{path}` is a block, `{path}.**` is all that is in it"
                )),
            }];
        }
        let Demand::Not(_, wanted) = &rule.demand else {
            return Vec::new();
        };
        let mut idle = Vec::new();
        for source in wanted {
            if source.kind == SourceKind::File && !self.is_there(known.policy, source) {
                let message = format!(
                    "this rule forbids nothing: there is no file `{}`",
                    source.text
                );
                idle.push(
                    Diagnostic::warning(UNMATCHED, message)
                        .at(source.span)
                        .help("names of files start in the folder of the policy"),
                );
            }
        }
        let authors = wanted
            .iter()
            .find(|source| source.kind == SourceKind::Author);
        if let Some(source) = authors
            && !known.has_author
        {
            let message =
                "this rule forbids nothing: git knows no author of what these values depend on";
            idle.push(
                Diagnostic::warning(UNMATCHED, message)
                    .at(source.span)
                    .help("`only from author` refuses what nobody is known to have written"),
            );
        }
        idle
    }

    /// Whether there is a file that a source of a rule can mean.
    fn is_there(&self, policy: usize, source: &Source) -> bool {
        let name = &self.policies[policy].name;
        let folder = self.directory.join(name);
        let path = folder.parent().unwrap_or(&folder).join(&source.text);
        let fits = |met: &Met| {
            let names = [&met.names[policy], &met.real[policy], &met.absolute];
            names.into_iter().any(|name| source.pattern.fits(name))
        };
        !source.pattern.is_plain() || path.exists() || self.met.values().any(fits)
    }
}

/// A dependence that is wrong, how many more are, and who wrote it.
type Wrong = (Dependence, usize, Option<Option<Commit>>);

/// All that a value depends on, and the place where it is written, if nothing else is there. Code of Puppet that has
/// no literal in it, as `notify { $name: }`, is only on the way.
fn dependences(compiled: &Configuration<'_>, explanation: &Explanation) -> Vec<Dependence> {
    let mut found = explanation.depends.clone();
    let known: HashSet<Span> = found.iter().map(|on| on.span).collect();
    let mut add = |span: Span, role: Role| {
        if !known.contains(&span) {
            found.push(Dependence { span, role });
        }
    };
    if let Some(place) = explanation.place {
        add(place, Role::Value);
    }
    if let Configuration::Puppet(_) = compiled {
        // What is there without being written, as `Stage[main]`, has no place.
        let is_written = |step: &&Step| !step.control && step.span.start < step.span.end;
        let way = explanation.steps.iter().filter(is_written);
        way.for_each(|step| add(step.span, Role::Block));
    }
    found
}

/// What is told of a dependence that is wrong.
fn placed(
    compiled: &Configuration<'_>,
    explanation: &Explanation,
    (on, more, _): Wrong,
    message: String,
) -> Trouble {
    let mut steps = explanation.steps.iter();
    let step = steps.find(|step| step.span == on.span && on.role == Role::Block);
    let text = match step {
        Some(step) => step_words(compiled, explanation, step),
        None => told(on.role).to_owned(),
    };
    Trouble {
        message,
        place: Some((on.span, text)),
        more,
    }
}

/// A secret in a value: where it comes from is told, what it is never.
fn secret(compiled: &Configuration<'_>, explanation: &Explanation, message: &str) -> Trouble {
    let sources = &compiled.unit().sources;
    let is_kept = |on: &&Dependence| {
        let name = sources.name(sources.file_at(on.span.start));
        name.ends_with(".kdbx")
    };
    let made_of = || {
        let depends = explanation.depends.iter();
        depends.filter(|on| matches!(on.role, Role::Value | Role::Operand))
    };
    let place = made_of().find(is_kept).or_else(|| made_of().next());
    let place = place.map(|on| on.span).or(explanation.place);
    Trouble {
        message: message.to_owned(),
        place: place.map(|span| (span, "the secret comes from here".to_owned())),
        more: 0,
    }
}

/// The steps from a place to the value, and how many more there are.
fn way(explanation: &Explanation, place: Span) -> (Vec<&Step>, usize) {
    let steps = &explanation.steps;
    let touches = |step: &Step| step.span.start < place.end && place.start < step.span.end;
    let from = steps
        .iter()
        .position(|step| step.span == place)
        .or_else(|| steps.iter().position(touches));
    let mut way: Vec<&Step> = Vec::new();
    match from {
        Some(from) => {
            // Another operand begins with what is written for it.
            let ends = |step: &&Step| {
                matches!(
                    step.kind,
                    StepKind::Written | StepKind::Operation(_) | StepKind::Mutation(_)
                )
            };
            let onwards = steps[from + 1..].iter().take_while(|step| !ends(step));
            way.extend(onwards.filter(|step| step.kind != StepKind::Block));
            let around = steps[..from]
                .iter()
                .rev()
                .filter(|step| matches!(step.kind, StepKind::Operation(_) | StepKind::Condition));
            way.extend(around);
        }
        None => way.extend(
            steps
                .iter()
                .filter(|step| !step.control && step.kind != StepKind::Block),
        ),
    }
    let more = way.len().saturating_sub(STEPS);
    way.truncate(STEPS);
    (way, more)
}

/// What to see in a place that a value depends on.
fn told(role: Role) -> &'static str {
    match role {
        Role::Value => "it is written here",
        Role::Operand => "it is computed from this",
        Role::Condition => "this decides what it is",
        Role::Link => "it is what this names",
        Role::Prototype => "it is inherited through this",
        Role::Include => "it came through this file",
        Role::Block => "it is inside this block",
        Role::Operation => "it is computed by this",
        Role::Order => "its place follows this",
        Role::Import => "it came through this import",
        Role::Mutation => "this joins it with what other files say",
        Role::Absence => "this could say something else, and does not",
    }
}

/// Which of several places tells most.
fn rank(role: Role) -> usize {
    match role {
        Role::Value => 0,
        Role::Operand => 1,
        Role::Mutation => 2,
        Role::Link => 3,
        Role::Prototype => 4,
        Role::Operation => 5,
        Role::Condition => 6,
        Role::Order => 7,
        Role::Block => 8,
        Role::Import => 9,
        Role::Include => 10,
        Role::Absence => 11,
    }
}

/// `file a.cf2, b.cf2, signer admin@example.org`
fn listed(sources: &[Source]) -> String {
    let mut text = String::new();
    let mut kind = None;
    for source in sources {
        if !text.is_empty() {
            text.push_str(", ");
        }
        if kind != Some(source.kind) {
            text.push_str(source.kind.word());
            text.push(' ');
            kind = Some(source.kind);
        }
        text.push_str(&source.text);
    }
    text
}

/// The blocks and lists around values, each once.
fn containers(values: &[Path]) -> Vec<Path> {
    let mut containers = Vec::new();
    let mut before: &[Segment] = &[];
    for (number, path) in values.iter().enumerate() {
        let common = path
            .0
            .iter()
            .zip(before)
            .take_while(|(a, b)| a == b)
            .count();
        let first = if number == 0 { 0 } else { common + 1 };
        containers.extend((first..path.0.len()).map(|length| Path(path.0[..length].to_vec())));
        before = &path.0;
    }
    containers
}

fn absolute(path: &path::Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A path without `.` and `..`.
fn tidy(path: &path::Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            component => tidy.push(component),
        }
    }
    tidy
}

/// A path as it is called from a folder.
fn relative(path: &path::Path, from: &path::Path) -> String {
    let path: Vec<Component<'_>> = path.components().collect();
    let from: Vec<Component<'_>> = from.components().collect();
    let common = path.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = path[common..].iter();
    let down = down.map(|component| component.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<String>>().join("/")
}
