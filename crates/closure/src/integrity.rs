//! Whether what is on the disk and what is served is what was promised; and putting it right.
//!
//! Everything is known by its hash, or can be made again from what is asserted. What somebody changed is never edited where
//! it is: it is made again beside it, and takes its place in one step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hence_ledger::{Hash, State};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Error, Refused};

use crate::closure::{Closure, failed};
use crate::content::Trees;
use crate::host::{EntryKind, Host};
use crate::publish::LIMIT;
use crate::server::{Server, apache};

/// Something is not what was promised.
pub const DRIFT: Code = Code::new("http.drift");

/// Something that is not as it was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    /// What is current is not what is asserted.
    Current,
    /// A file of the configuration.
    Configuration,
    /// What was staged, and what the others are made from again.
    Object(Hash),
    /// A blob as it is served.
    File(Hash),
    /// A tree as it is served.
    Tree(Hash),
}

impl Closure<'_> {
    /// All that is not as promised: in the ledger, on the disk, and in what the server answers.
    pub fn validate(&self) -> Result<Vec<Diagnostic>, Refused> {
        let mut drift: Vec<Diagnostic> = self.damages()?.into_values().flatten().collect();
        if let Err(error) = self.repository.check() {
            drift.push(Diagnostic::from(error));
        }
        drift.extend(self.certificates_differ()?);
        if self.settings.server == Server::Apache {
            drift.extend(self.read_otherwise()?);
        }
        if self.process()?.is_some() {
            let state = self.repository.state();
            let everything = State::difference(&State::default(), state);
            let site = self.site();
            let requests = self.requests(&everything, &site);
            drift.extend(self.keeps(&site, &requests));
        }
        Ok(drift)
    }

    /// Where Apache reads its configuration otherwise than it was meant.
    fn read_otherwise(&self) -> Result<Vec<Diagnostic>, Refused> {
        let server = self.settings.server;
        let main = self.root.join("current").join(server.main_file());
        let mut command = server.test(&self.settings.program, &self.root, &main);
        command.extend(["-D", "DUMP_VHOSTS"].map(str::to_owned));
        let ran = self.host.run(&self.settings.as_server(command), LIMIT);
        let said = match ran.map_err(failed)?.well() {
            Ok(said) => said,
            Err(why) => {
                let message = format!("Apache cannot read its configuration: {why}");
                return Ok(vec![Diagnostic::error(DRIFT, message)]);
            }
        };
        let served = apache::names_served(&said);
        let site = self.site();
        let mut drift = Vec::new();
        for endpoint in &site.endpoints {
            let names = site.names(*endpoint).into_keys();
            let mut promised: Vec<String> = names.map(|name| name.to_string()).collect();
            promised.push(apache::UNKNOWN.to_owned());
            promised.sort();
            let got = served
                .get(&endpoint.to_string())
                .cloned()
                .unwrap_or_default();
            if got != promised {
                let (promised, got) = (promised.join(", "), got.join(", "));
                let message =
                    format!("Apache should serve {promised} at {endpoint}, and reads {got}");
                drift.push(Diagnostic::error(DRIFT, message));
            }
        }
        Ok(drift)
    }

    /// Makes again what is not as promised, and says what it was.
    pub fn repair(&mut self) -> Result<Vec<Diagnostic>, Refused> {
        let certificates = self.repair_certificates()?;
        let damages = self.damages()?;
        for damage in damages.keys() {
            match damage {
                Damage::Object(hash) => self.restage(*hash)?,
                Damage::File(hash) => {
                    self.host
                        .remove(&self.content.file(*hash))
                        .map_err(failed)?;
                    self.shown(self.content.show_file(*hash), *hash)?;
                }
                Damage::Tree(hash) => {
                    self.shown(self.content.show_tree_again(*hash), *hash)?;
                }
                Damage::Current | Damage::Configuration => {}
            }
        }
        if !damages.is_empty() || !certificates.is_empty() {
            let stage = self.stage();
            let version = self.repository.version();
            for (hash, _) in self.parts(version)? {
                self.host
                    .remove(&self.root.join("part").join(hash.to_string()))
                    .map_err(failed)?;
            }
            if let Err(trouble) = stage.write(&self.site(), self.repository.state(), version)? {
                return Err((*trouble).into());
            }
            stage.switch(version)?;
            if let Some(process) = self.process()? {
                let told = self.reload(process, version, &self.site());
                told.map_err(|trouble| Refused::Failed(Error::from(*trouble)))?;
            }
        }
        Ok(certificates
            .into_iter()
            .chain(damages.into_values().flatten())
            .collect())
    }

    fn shown(&self, shown: std::io::Result<Option<()>>, hash: Hash) -> Result<(), Refused> {
        match shown.map_err(failed)? {
            Some(()) => Ok(()),
            None => {
                let message = format!("what was staged as {hash} is damaged, too");
                Err(Diagnostic::error(DRIFT, message)
                    .help("post it again")
                    .into())
            }
        }
    }

    /// What was staged, from what is served of it.
    fn restage(&self, hash: Hash) -> Result<(), Refused> {
        let mut found = self.host.read(&self.content.file(hash)).map_err(failed)?;
        found = found.filter(|bytes| Hash::of(bytes) == hash);
        for host in self.site().hosts.values() {
            for tree in host.trees.values() {
                let Some(list) = self.content.tree(*tree) else {
                    continue;
                };
                for (path, _) in list.files().filter(|(_, file)| file.hash == hash) {
                    let bytes = self.host.read(&self.content.directory(*tree).join(path));
                    let bytes = bytes
                        .map_err(failed)?
                        .filter(|bytes| Hash::of(bytes) == hash);
                    found = found.or(bytes);
                }
            }
        }
        if let Some(bytes) = found {
            self.host
                .remove(&self.content.object(hash))
                .map_err(failed)?;
            self.content.stage_bytes(&bytes).map_err(failed)?;
        }
        Ok(())
    }

    fn parts(&self, generation: u64) -> Result<Vec<(Hash, String)>, Refused> {
        let configuration = self.stage().configuration(&self.site(), generation);
        Ok(configuration
            .map_err(|trouble| Refused::from(*trouble))?
            .parts)
    }

    fn damages(&self) -> Result<BTreeMap<Damage, Vec<Diagnostic>>, Refused> {
        let mut damages: BTreeMap<Damage, Vec<Diagnostic>> = BTreeMap::new();
        let mut found = |damage: Damage, message: String| {
            damages
                .entry(damage)
                .or_default()
                .push(Diagnostic::error(DRIFT, message));
        };
        let current = self.current()?.unwrap_or(0);
        let promised = self.repository.state().clone().identity();
        if self.identity_of(current)? != Some(promised) {
            found(
                Damage::Current,
                format!("generation {current} is current, and is not what is asserted"),
            );
        }
        let site = self.site();
        let configuration = self.stage().configuration(&site, current);
        let configuration = configuration.map_err(|trouble| Refused::from(*trouble))?;
        let directory = self.root.join(format!("generation/{current}"));
        let main = directory.join(self.settings.server.main_file());
        let mut texts = vec![(main, configuration.main)];
        for (hash, text) in configuration.parts {
            texts.push((self.root.join("part").join(hash.to_string()), text));
        }
        for (path, text) in texts {
            if let Some(wrong) = differs(self.host, &path, Hash::of(text.as_bytes()))? {
                found(Damage::Configuration, wrong);
            }
        }
        let mut objects = BTreeSet::new();
        let blobs = site.hosts.values().flat_map(|host| {
            host.files
                .values()
                .chain(host.indexes.values().map(|(blob, _)| blob))
        });
        for blob in blobs.collect::<BTreeSet<_>>() {
            objects.insert(*blob);
            if let Some(wrong) = differs(self.host, &self.content.file(*blob), *blob)? {
                found(Damage::File(*blob), wrong);
            }
        }
        let trees = site.hosts.values().flat_map(|host| host.trees.values());
        for hash in trees.collect::<BTreeSet<_>>() {
            objects.insert(*hash);
            let Some(tree) = self.content.tree(*hash) else {
                continue;
            };
            let top = self.content.directory(*hash);
            let mut there = BTreeSet::new();
            below(self.host, &top, "", &mut there)?;
            for (path, file) in tree.files() {
                objects.insert(file.hash);
                there.remove(path);
                if let Some(wrong) = differs(self.host, &top.join(path), file.hash)? {
                    found(Damage::Tree(*hash), wrong);
                }
            }
            for path in there {
                let path = top.join(path);
                found(
                    Damage::Tree(*hash),
                    format!("{} is not asserted", path.display()),
                );
            }
        }
        for hash in objects {
            if self.content.bytes(hash).map_err(failed)?.is_none() {
                let path = self.content.object(hash);
                found(
                    Damage::Object(hash),
                    format!("{} is not what was staged", path.display()),
                );
            }
        }
        Ok(damages)
    }
}

/// What is wrong with a file that should hold what has this hash, and be for nobody to change.
fn differs(host: &dyn Host, path: &Path, hash: Hash) -> Result<Option<String>, Refused> {
    let name = path.display();
    let wrong = match host.read(path).map_err(failed)? {
        None => Some(format!("{name} is gone")),
        Some(bytes) if Hash::of(&bytes) != hash => Some(format!("{name} was changed")),
        Some(_) => None,
    };
    let mode = host
        .look(path)
        .map_err(failed)?
        .map_or(0o444, |entry| entry.mode);
    Ok(wrong
        .or_else(|| (mode != 0o444).then(|| format!("{name} has the mode {mode:o}, and not 444"))))
}

/// All files below a directory, by their paths.
fn below(
    host: &dyn Host,
    top: &Path,
    path: &str,
    files: &mut BTreeSet<String>,
) -> Result<(), Refused> {
    for entry in host.list(&top.join(path)).map_err(failed)? {
        let name = match path {
            "" => entry.name,
            path => format!("{path}/{}", entry.name),
        };
        match entry.kind {
            EntryKind::Directory => below(host, top, &name, files)?,
            _ => drop(files.insert(name)),
        }
    }
    Ok(())
}
