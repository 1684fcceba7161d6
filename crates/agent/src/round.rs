//! One round: what is to run, and whether it does.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use hence_api::client::escaped;
use hence_api::words::{Changes, CheckedIn, Configuration, Outcome, Report};
use hence_api::{Client, Failure};
use hence_closure::part::Part;

use crate::augment::{LocalParameters, Rendered, render};
use crate::facts;
use crate::host::Host;
use crate::map::map_path;
use crate::settings::Settings;
use crate::settle::{Settled, everybody, is_same, run, settle};
use crate::state::{Refused, Set, State, Step, Store, Underway, Untold, beside, replace};
use crate::{Doing, Error, Facts};

/// An agent on a node.
pub struct Agent<'a> {
    /// The machine.
    pub host: &'a dyn Host,
    /// What is configured.
    pub settings: &'a Settings,
    /// The server.
    pub client: Client,
    /// What the node itself sets.
    pub local: &'a LocalParameters<'a>,
    /// The machine, as the closure of web sites sees it.
    pub machine: &'a dyn hence_closure::host::Host,
}

/// What a round came to.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What was done.
    pub end: End,
    /// Why the server did not answer, or not as hoped.
    pub away: Option<Failure>,
    /// What else is to be told.
    pub notes: Vec<String>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing had to be.
    Nothing,
    /// A version runs, or runs again.
    Applied(u64),
    /// A version does not run: the one before it does.
    Refused(u64, String),
    /// Neither runs as it should.
    Failed(u64, String),
    /// The agent is to end.
    Stopped,
}

/// No text of a report is longer: a server takes a little more.
const LONGEST: usize = 8000;

impl Agent<'_> {
    /// Goes one round. What keeps it from its work is told the server, too.
    pub fn round(&self) -> Result<Ended, Error> {
        let gone = self.go_round();
        if let Err(error) = &gone {
            let mut state = State::read(self.host, &self.settings.directory).unwrap_or_default();
            state.outcome = Some(Outcome::Failed);
            state.error = Some(error.to_string());
            let command = self.settings.facts.as_deref();
            let (facts, _) = facts::lasting(self.host, command, self.settings.limit);
            // That nobody hears it is no trouble: it is also in the log, and said again by the next round.
            let _ = self.check_in(&state, &facts, &None);
        }
        gone
    }

    fn go_round(&self) -> Result<Ended, Error> {
        let directory = &self.settings.directory;
        let made = self.host.make_directory(&directory.join("maps"));
        made.doing(|| format!("making `{}`", directory.display()))?;
        let store = Store::new(self.host, directory)?;
        let mut state = State::read(self.host, directory)?;
        let mut end = End::Nothing;
        if state.underway.is_some() {
            // The power was cut in the middle of a change.
            end = self.go_on(&mut state, &store)?;
        }
        let drifted = self.drifted(&state)?;
        let command = self.settings.facts.as_deref();
        let (facts, trouble) = facts::lasting(self.host, command, self.settings.limit);
        let mut ended = Ended {
            end,
            away: None,
            notes: trouble.into_iter().collect(),
        };
        let words = drifted.iter().map(|(path, how)| format!("`{path}` {how}"));
        let mut words: Vec<String> = words.collect();
        if let Some(part) = self.installed_part(&state, &store)? {
            words.extend(self.mend_web(&state, &part)?);
        }
        let drift = (!words.is_empty()).then(|| words.join(", "));
        ended.notes.extend(drift.clone());
        let configuration = match self.wanted(&state, &facts, &drift) {
            Ok(configuration) => configuration,
            Err(failure) => {
                ended.away = Some(failure);
                self.kept()?
            }
        };
        if self.host.is_stopped() {
            ended.end = End::Stopped;
            return Ok(ended);
        }
        let before = state.clone();
        let end = match configuration {
            Some(configuration) => {
                self.apply(&mut state, &store, &configuration, &facts, &drifted)?
            }
            None => self.repair(&mut state, &store, &drifted)?,
        };
        if end != End::Nothing {
            ended.end = end;
        }
        if state != before && ended.away.is_none() {
            // That nobody hears it is no trouble: the next round says it again.
            if let Err(failure) = self.check_in(&state, &facts, &drift) {
                ended.away = Some(failure);
            }
        }
        Ok(ended)
    }

    /// What the server wants to run; nothing if it wants nothing yet.
    fn wanted(
        &self,
        state: &State,
        facts: &Facts,
        drift: &Option<String>,
    ) -> Result<Option<Configuration>, Failure> {
        let CheckedIn { version, .. } = self.check_in(state, facts, drift)?;
        if let Ok(Some(kept)) = self.kept()
            && kept.version == version
        {
            return Ok(Some(kept));
        }
        if version == 0 {
            return Ok(None);
        }
        let path = format!("nodes/{}/config", escaped(&self.settings.node));
        let configuration: Configuration = self.client.get(&path)?;
        if !is_same(&configuration.node, &self.settings.node) {
            let message = format!(
                "the server sent the configuration of `{}`",
                configuration.node
            );
            let code = hence_api::client::UNREACHABLE;
            let trouble = hence_model::diagnostic::Diagnostic::error(code, message);
            return Err(Failure::Unreachable(Box::new(trouble)));
        }
        Ok((configuration.version > 0).then_some(configuration))
    }

    fn check_in(
        &self,
        state: &State,
        facts: &Facts,
        drift: &Option<String>,
    ) -> Result<CheckedIn, Failure> {
        let mut facts = facts.clone();
        facts.extend(facts::load(self.host).map(|load| ("load".to_owned(), load)));
        let web = state.installed.as_ref().and_then(|set| set.web.clone());
        facts.extend(web.map(|sum| ("http_set".to_owned(), sum)));
        let report = Report {
            time: 0,
            applied: state.installed.as_ref().map(|set| set.version),
            outcome: state.outcome,
            refused: state.refused.as_ref().map(|refused| refused.version),
            error: state
                .error
                .as_deref()
                .map(|error| cut(error, LONGEST).to_owned()),
            drift: drift.as_deref().map(|drift| cut(drift, LONGEST).to_owned()),
            facts,
        };
        let path = format!("nodes/{}/check-in", escaped(&self.settings.node));
        self.client.post(&path, &report)
    }

    /// The configuration that was fetched last.
    fn kept(&self) -> Result<Option<Configuration>, Error> {
        let path = self.settings.directory.join("configuration.json");
        let content = self.host.read(&path);
        let content = content.doing(|| format!("reading `{}`", path.display()))?;
        // One that cannot be read is fetched again.
        Ok(content.and_then(|content| serde_json::from_slice(&content).ok()))
    }

    fn keep(&self, configuration: &Configuration) -> Result<(), Error> {
        if self.kept()?.as_ref() == Some(configuration) {
            return Ok(());
        }
        let content = serde_json::to_vec(configuration).expect("a configuration can be written");
        let path = self.settings.directory.join("configuration.json");
        replace(self.host, &path, &content, 0o600)
    }

    /// Makes a configuration run, or leaves everything as it was.
    fn apply(
        &self,
        state: &mut State,
        store: &Store<'_>,
        configuration: &Configuration,
        facts: &Facts,
        drifted: &BTreeMap<String, &'static str>,
    ) -> Result<End, Error> {
        self.keep(configuration)?;
        let version = configuration.version;
        let rendered = (self.local)(facts).and_then(|local| {
            let rendered = render(self.host, self.settings, configuration, local)?;
            Ok((rendered, self.part(configuration)?))
        });
        let (rendered, wanted) = match rendered {
            Ok((rendered, part)) => {
                state.secret.extend(rendered.secret.iter().cloned());
                let mut wanted = rendered.set(version);
                if let Some(part) = &part {
                    wanted.web = Some(store.keep(part.to_text().as_bytes())?);
                }
                (Ok((rendered, part)), wanted)
            }
            Err(why) => {
                let local = crate::sum(why.as_bytes());
                (
                    Err(why),
                    Set {
                        version,
                        local,
                        ..Set::default()
                    },
                )
            }
        };
        if state.installed.as_ref() == Some(&wanted) {
            if let (Ok((rendered, _)), false) = (&rendered, drifted.is_empty()) {
                rendered.keep(store)?;
            }
            return self.repair(state, store, drifted);
        }
        if self.was_refused(state, &wanted) {
            return self.repair(state, store, drifted);
        }
        let staged = match rendered {
            Ok((rendered, part)) => match (self.stage(state, &rendered), part) {
                (Err(why), _) => Err(why),
                (Ok(()), None) => Ok(rendered),
                (Ok(()), Some(part)) => self.stage_web(&part)?.map(|()| rendered),
            },
            Err(why) => Err(why),
        };
        let rendered = match staged {
            Ok(rendered) => rendered,
            Err(why) => {
                self.repair(state, store, drifted)?;
                self.refuse(state, &wanted, Outcome::RolledBack, &why)?;
                return Ok(End::Refused(version, why));
            }
        };
        if self.host.is_stopped() {
            return Ok(End::Stopped);
        }
        self.put_aside(state, drifted)?;
        rendered.keep(store)?;
        for (_, map) in &rendered.files {
            let path = map_path(&self.settings.directory, &map.file);
            let map = serde_json::to_vec(map).expect("a map can be written");
            // The map of what runs stays until the new one does.
            replace(self.host, &beside(&path, "next"), &map, 0o600)?;
        }
        let (restart, reread) = self.concerned(state, &wanted, drifted);
        state.underway = Some(Underway {
            step: Step::Switch,
            before: self.before(state, store, &wanted)?,
            web_before: state.installed.as_ref().and_then(|set| set.web.clone()),
            to: wanted,
            restart,
            reread,
            error: None,
        });
        state.save(self.host, &self.settings.directory)?;
        self.go_on(state, store)
    }

    /// Writes the files beside the old ones, and asks whether they are good.
    fn stage(&self, state: &State, rendered: &Rendered) -> Result<(), String> {
        for (file, (text, _)) in self.settings.files.iter().zip(&rendered.files) {
            let staged = beside(Path::new(&file.path), "staged");
            let mode = self.mode(state, &file.path);
            let written = self.host.write(&staged, text.as_bytes(), mode);
            written
                .map_err(|error| format!("`{}` cannot be written: {error}", staged.display()))?;
        }
        for file in &self.settings.files {
            let staged = beside(Path::new(&file.path), "staged");
            if let Some(command) = &file.validate {
                let name = staged.display().to_string();
                let command: Vec<String> = command
                    .iter()
                    .map(|word| word.replace("{file}", &name))
                    .collect();
                run(self.host, self.settings, &command)
                    .map_err(|why| format!("`{}` is not valid: {why}", file.path))?;
            }
        }
        Ok(())
    }

    /// Whom a change concerns: the server knows what its parameters mean, and the node what it says itself.
    fn concerned(
        &self,
        state: &State,
        wanted: &Set,
        drifted: &BTreeMap<String, &'static str>,
    ) -> (Vec<String>, Vec<String>) {
        let installed = state.installed.as_ref();
        let since = installed.map_or(0, |set| set.version);
        let is_local = installed.is_none_or(|set| set.local != wanted.local)
            || !drifted.is_empty()
            || state.underway.is_some();
        let (mut restart, mut reread) = match is_local {
            true => everybody(self.settings),
            false => (Vec::new(), Vec::new()),
        };
        if since != wanted.version {
            let node = escaped(&self.settings.node);
            let path = format!("nodes/{node}/changes?since={since}");
            match self.client.get::<Changes>(&path) {
                Ok(changes) => {
                    restart.extend(changes.restart);
                    reread.extend(changes.reread);
                }
                // Whoever is told for nothing loses less than who is not told.
                Err(_) => {
                    let all = self.settings.subsystems.iter();
                    for (name, subsystem) in all {
                        match subsystem.restart {
                            Some(_) => restart.push(name.clone()),
                            None => reread.push(name.clone()),
                        }
                    }
                }
            }
        }
        restart.extend(state.untold.restart.iter().cloned());
        reread.extend(state.untold.reread.iter().cloned());
        for names in [&mut restart, &mut reread] {
            names.sort_by_key(|name| name.to_lowercase());
            names.dedup_by(|one, other| is_same(one, other));
        }
        // Whoever starts anew reads everything.
        reread.retain(|name| !restart.iter().any(|other| is_same(name, other)));
        (restart, reread)
    }

    /// What the files hold that are to be replaced.
    fn before(
        &self,
        state: &State,
        store: &Store<'_>,
        wanted: &Set,
    ) -> Result<BTreeMap<String, Option<String>>, Error> {
        let mut before = BTreeMap::new();
        for path in wanted.files.keys() {
            let installed = state.installed.as_ref().and_then(|set| set.files.get(path));
            let sum = match installed {
                Some(sum) => Some(sum.clone()),
                // Somebody else's file comes back, too.
                None => match self.read(path)? {
                    Some(content) => Some(store.keep(&content)?),
                    None => None,
                },
            };
            before.insert(path.clone(), sum);
        }
        Ok(before)
    }

    /// Goes on with a change from where it is, to its end.
    fn go_on(&self, state: &mut State, store: &Store<'_>) -> Result<End, Error> {
        let mut end = End::Nothing;
        while let Some(mut underway) = state.underway.clone() {
            let version = underway.to.version;
            let is_repair = state.installed.as_ref() == Some(&underway.to);
            match underway.step {
                Step::Switch => {
                    self.switch(state, &underway, store)?;
                    underway.step = Step::Settle;
                    state.underway = Some(underway);
                }
                Step::Settle => match self.settle(&underway, underway.to.web.as_deref(), store)? {
                    Settled::Told(without) => {
                        self.turn_maps(&underway)?;
                        if !is_repair {
                            state.refused = None;
                        }
                        let untold = std::mem::take(&mut state.untold);
                        // What failed before is not good because the old files are back, and have been told of.
                        if state.refused.is_some() {
                            if !untold.is_nobody() {
                                state.outcome = Some(Outcome::RolledBack);
                            }
                        } else {
                            state.outcome = Some(Outcome::Applied);
                            state.error = (!without.is_empty()).then(|| without.join("; "));
                        }
                        state.installed = Some(underway.to);
                        state.underway = None;
                        end = End::Applied(version);
                    }
                    // There is nothing to go back to: they are told again with each round.
                    Settled::Failed(why) if is_repair => {
                        state.outcome = Some(Outcome::Failed);
                        state.error = Some(cut(&why, LONGEST).to_owned());
                        state.save(self.host, &self.settings.directory)?;
                        return Ok(End::Failed(version, why));
                    }
                    Settled::Failed(why) => {
                        underway.step = Step::SwitchBack;
                        underway.error = Some(why);
                        state.underway = Some(underway);
                    }
                },
                Step::SwitchBack => {
                    self.switch_back(state, &underway, store)?;
                    underway.step = Step::SettleBack;
                    state.underway = Some(underway);
                }
                Step::SettleBack => {
                    let why = underway.error.clone().unwrap_or_default();
                    let settled = self.settle(&underway, underway.web_before.as_deref(), store)?;
                    let (outcome, why) = match settled {
                        Settled::Told(_) => (Outcome::RolledBack, why),
                        Settled::Failed(again) => {
                            state.untold = Untold {
                                restart: underway.restart.clone(),
                                reread: underway.reread.clone(),
                            };
                            let both = format!("{why}; and with the files as they were: {again}");
                            (Outcome::Failed, both)
                        }
                    };
                    state.underway = None;
                    self.refuse(state, &underway.to, outcome, &why)?;
                    end = match outcome {
                        Outcome::Failed => End::Failed(version, why),
                        _ => End::Refused(version, why),
                    };
                    continue;
                }
            }
            state.save(self.host, &self.settings.directory)?;
        }
        let installed = state.installed.iter();
        let kept = installed.flat_map(|set| set.files.values().chain(&set.web));
        store.forget_but(&kept.collect::<Vec<_>>())?;
        Ok(end)
    }

    /// The subsystems are told, and the closure serves what it is to serve.
    fn settle(
        &self,
        underway: &Underway,
        web: Option<&str>,
        store: &Store<'_>,
    ) -> Result<Settled, Error> {
        let Underway {
            restart, reread, ..
        } = underway;
        let mut settled = settle(self.host, self.settings, restart, reread);
        if let Settled::Told(without) = &mut settled {
            without.extend(self.kept()?.and_then(|kept| self.unserved(&kept)));
        }
        let (Settled::Told(_), Some(sum)) = (&settled, web) else {
            return Ok(settled);
        };
        let part = read_part(&store.get(sum)?)?;
        Ok(match self.serve(&part, underway.to.version)? {
            Ok(()) => settled,
            Err(why) => Settled::Failed(format!("its web sites are not served: {why}")),
        })
    }

    /// What is installed about web sites.
    fn installed_part(&self, state: &State, store: &Store<'_>) -> Result<Option<Part>, Error> {
        let sum = state.installed.as_ref().and_then(|set| set.web.as_deref());
        // One that is lost is fetched again with the next configuration.
        let text = sum.and_then(|sum| store.get(sum).ok());
        text.map(|text| read_part(&text)).transpose()
    }

    /// The new files take their places; the old ones stay beside them.
    fn switch(&self, state: &State, underway: &Underway, store: &Store<'_>) -> Result<(), Error> {
        for (path, sum) in &underway.to.files {
            let is_there = self
                .read(path)?
                .is_some_and(|content| crate::sum(&content) == *sum);
            if is_there {
                continue;
            }
            let file = Path::new(path);
            if let Some(Some(before)) = underway.before.get(path)
                && before != sum
                && let Ok(old) = store.get(before)
            {
                replace(
                    self.host,
                    &beside(file, "previous"),
                    &old,
                    self.mode(state, path),
                )?;
            }
            let staged = beside(file, "staged");
            let content = store.get(sum)?;
            let doing = || format!("writing `{path}`");
            // It may have been staged before the power was cut, or not.
            if self.host.read(&staged).doing(doing)?.as_ref() != Some(&content) {
                self.host
                    .write(&staged, &content, self.mode(state, path))
                    .doing(doing)?;
            }
            self.host.rename(&staged, file).doing(doing)?;
        }
        self.tidy(&underway.to)
    }

    fn switch_back(
        &self,
        state: &State,
        underway: &Underway,
        store: &Store<'_>,
    ) -> Result<(), Error> {
        for (path, before) in &underway.before {
            let file = Path::new(path);
            match before {
                Some(sum) => {
                    let is_there = self
                        .read(path)?
                        .is_some_and(|content| crate::sum(&content) == *sum);
                    if !is_there {
                        replace(self.host, file, &store.get(sum)?, self.mode(state, path))?;
                    }
                }
                None => self
                    .host
                    .remove(file)
                    .doing(|| format!("removing `{path}`"))?,
            }
        }
        self.tidy(&underway.to)
    }

    /// Nothing that was only staged stays.
    fn tidy(&self, set: &Set) -> Result<(), Error> {
        for path in set.files.keys() {
            let staged = beside(Path::new(path), "staged");
            self.host
                .remove(&staged)
                .doing(|| format!("tidying `{}`", staged.display()))?;
        }
        Ok(())
    }

    /// The maps of what is installed now.
    fn turn_maps(&self, underway: &Underway) -> Result<(), Error> {
        for path in underway.to.files.keys() {
            let map = map_path(&self.settings.directory, path);
            let next = beside(&map, "next");
            let doing = || format!("writing `{}`", map.display());
            if self.host.read(&next).doing(doing)?.is_some() {
                self.host.rename(&next, &map).doing(doing)?;
            }
        }
        Ok(())
    }

    /// Who may read a file: whoever somebody said; otherwise everybody, but only its owner if it shows a secret, or once
    /// did, since older content comes back.
    fn mode(&self, state: &State, path: &str) -> u32 {
        let file = self.settings.files.iter().find(|file| file.path == path);
        let said = file.map_or(Some(0o600), |file| file.mode);
        said.unwrap_or(match state.secret.contains(path) {
            true => 0o400,
            false => 0o444,
        })
    }

    /// The files that no longer hold what was installed, and how that shows.
    fn drifted(&self, state: &State) -> Result<BTreeMap<String, &'static str>, Error> {
        let mut drifted = BTreeMap::new();
        for (path, sum) in state.installed.iter().flat_map(|set| &set.files) {
            // What is no longer configured is no longer ours.
            if !self.settings.files.iter().any(|file| file.path == *path) {
                continue;
            }
            match self.read(path)? {
                None => drifted.insert(path.clone(), "is gone"),
                Some(content) if crate::sum(&content) != *sum => {
                    drifted.insert(path.clone(), "was changed")
                }
                Some(_) => None,
            };
        }
        Ok(drifted)
    }

    /// What somebody wrote into our files is kept.
    fn put_aside(
        &self,
        state: &State,
        drifted: &BTreeMap<String, &'static str>,
    ) -> Result<(), Error> {
        for path in drifted.keys() {
            if let Some(content) = self.read(path)? {
                let aside = beside(Path::new(path), "drifted");
                replace(self.host, &aside, &content, self.mode(state, path))?;
            }
        }
        Ok(())
    }

    /// Puts right what drifted, and tells who could not be told.
    fn repair(
        &self,
        state: &mut State,
        store: &Store<'_>,
        drifted: &BTreeMap<String, &'static str>,
    ) -> Result<End, Error> {
        let is_needed = !drifted.is_empty() || !state.untold.is_nobody();
        let Some(installed) = state.installed.clone().filter(|_| is_needed) else {
            return Ok(End::Nothing);
        };
        self.put_aside(state, drifted)?;
        let (restart, reread) = self.concerned(state, &installed, drifted);
        let before = installed.files.iter();
        state.underway = Some(Underway {
            step: Step::Switch,
            before: before
                .map(|(path, sum)| (path.clone(), Some(sum.clone())))
                .collect(),
            web_before: installed.web.clone(),
            to: installed,
            restart,
            reread,
            error: None,
        });
        state.save(self.host, &self.settings.directory)?;
        self.go_on(state, store)
    }

    fn was_refused(&self, state: &State, wanted: &Set) -> bool {
        let retry = self.settings.retry.as_millis() as u64;
        let refused = state.refused.as_ref();
        refused.is_some_and(|refused| {
            let passed = self.host.now().saturating_sub(refused.time);
            refused.identity == wanted.identity() && passed < retry
        })
    }

    fn refuse(
        &self,
        state: &mut State,
        wanted: &Set,
        outcome: Outcome,
        why: &str,
    ) -> Result<(), Error> {
        state.outcome = Some(outcome);
        state.error = Some(cut(why, LONGEST).to_owned());
        state.refused = Some(Refused {
            identity: wanted.identity(),
            version: wanted.version,
            time: self.host.now(),
        });
        state.save(self.host, &self.settings.directory)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let content: io::Result<_> = self.host.read(Path::new(path));
        content.doing(|| format!("reading `{path}`"))
    }
}

impl Rendered {
    fn keep(&self, store: &Store<'_>) -> Result<(), Error> {
        for (text, _) in &self.files {
            store.keep(text.as_bytes())?;
        }
        Ok(())
    }

    fn set(&self, version: u64) -> Set {
        let files = self.files.iter();
        Set {
            version,
            files: files
                .map(|(_, map)| (map.file.clone(), map.sum.clone()))
                .collect(),
            local: self.local.clone(),
            web: None,
        }
    }
}

/// What was kept about web sites.
fn read_part(text: &[u8]) -> Result<Part, Error> {
    let part = Part::from_text(&String::from_utf8_lossy(text));
    let part = part.map_err(|_| io::Error::other("what was kept cannot be read"));
    part.doing(|| "serving web sites".to_owned())
}

/// The beginning of a text.
pub fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
