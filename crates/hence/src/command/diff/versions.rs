//! What is compared: files, folders and revisions, paired.

use std::collections::BTreeSet;

use super::Diff;
use crate::Stop;
use crate::command::source::{SPECIFICATIONS, SourceOptions, join, sources_below};
use crate::console::Console;
use crate::disk::Disk;
use crate::git::Revision;
use crate::outside::Outside;

/// A version of a file or folder.
#[derive(Clone, Debug)]
pub struct Version {
    /// The revision; none for what is on the disk.
    pub revision: Option<String>,
    /// The file or folder.
    pub file: String,
    is_folder: bool,
}

/// One version of one file, and how to compile it.
pub struct Side<'d> {
    /// The version that it is part of.
    pub version: &'d Version,
    /// The file.
    pub file: String,
    /// How to compile it.
    pub options: SourceOptions,
}

/// Two versions of the same, of which one may be missing.
pub struct Pair<'d> {
    /// What tells it from others: a file, or a node. Empty if there is only one.
    pub title: String,
    pub old: Option<Side<'d>>,
    pub new: Option<Side<'d>>,
}

impl Version {
    /// Reads what was asked for: what exists is a file or folder; else it may name a revision.
    pub fn of(console: &Console<'_>, text: &str) -> Result<Self, Stop> {
        let path = console.path(text);
        let here = Self {
            revision: None,
            file: text.to_owned(),
            is_folder: path.is_dir(),
        };
        if path.exists() {
            return Ok(here);
        }
        match text.split_once(':') {
            Some((revision, file)) if !revision.is_empty() => {
                let opened = Revision::open(&console.path(""), revision)?;
                Ok(Self {
                    revision: Some(revision.to_owned()),
                    file: file.to_owned(),
                    is_folder: file.is_empty() || opened.list(file).is_some(),
                })
            }
            _ => Ok(here),
        }
    }

    /// The files of this version.
    pub fn disk(&self, console: &Console<'_>, options: &SourceOptions) -> Result<Disk, Stop> {
        match &self.revision {
            None => Ok(console.disk(options.limits().source)),
            Some(name) => {
                let revision = Revision::open(&console.path(""), name)?;
                Ok(options.disk_at(console, revision))
            }
        }
    }

    /// What its compilation may ask for.
    pub fn outside(&self, console: &Console<'_>, options: &SourceOptions) -> Result<Outside, Stop> {
        let disk = self.disk(console, options)?;
        Ok(options.outside_on(console, disk))
    }

    /// The sources below a folder that mean something on their own.
    fn sources(&self, console: &Console<'_>, options: &SourceOptions) -> Result<Vec<String>, Stop> {
        let below = self.sources_below(console, options)?;
        let outside = self.outside(console, options)?;
        Ok(options.without_parts(&outside, &self.file, below))
    }

    fn sources_below(
        &self,
        console: &Console<'_>,
        options: &SourceOptions,
    ) -> Result<Vec<String>, Stop> {
        if self.revision.is_none() {
            return sources_below(console, &self.file, None, SPECIFICATIONS);
        }
        let disk = self.disk(console, options)?;
        let mut found = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let names = disk
                .names_in(&join(&self.file, &folder))
                .unwrap_or_default();
            for name in names {
                let inner = join(&folder, name.trim_end_matches('/'));
                if name.ends_with('/') {
                    folders.push(inner);
                } else if inner.ends_with(".sf") || inner.ends_with(".cf2") {
                    found.push(inner);
                }
            }
        }
        Ok(found)
    }

    /// The folder that names are told relative to.
    pub fn folder(&self) -> &str {
        match (self.is_folder, self.file.rsplit_once('/')) {
            (true, _) => self.file.trim_end_matches('/'),
            (false, Some((folder, _))) => folder,
            (false, None) => "",
        }
    }
}

impl Side<'_> {
    /// What its compilation may ask for.
    pub fn outside(&self, console: &Console<'_>) -> Result<Outside, Stop> {
        self.version.outside(console, &self.options)
    }

    /// A name of a file without the folder that only this version is in.
    pub fn relative<'n>(&self, name: &'n str) -> &'n str {
        let folder = self.version.folder();
        match name.strip_prefix(folder) {
            Some(rest) if !folder.is_empty() => rest.trim_start_matches('/'),
            _ => name,
        }
    }
}

/// What is compared with what.
pub fn pairs<'d>(
    diff: &Diff,
    console: &Console<'_>,
    old: &'d Version,
    new: &'d Version,
) -> Result<Vec<Pair<'d>>, Stop> {
    let side = |version: &'d Version, file: String, options: &SourceOptions| Side {
        version,
        file,
        options: options.clone(),
    };
    let is_one_manifest = diff.source.is_puppet() || diff.is_puppet(&new.file);
    if old.is_folder && new.is_folder && !is_one_manifest {
        let before: BTreeSet<String> = old.sources(console, &diff.source)?.into_iter().collect();
        let now: BTreeSet<String> = new.sources(console, &diff.source)?.into_iter().collect();
        let pair = |file: &String| Pair {
            title: file.clone(),
            old: before
                .contains(file)
                .then(|| side(old, join(&old.file, file), &diff.source)),
            new: now
                .contains(file)
                .then(|| side(new, join(&new.file, file), &diff.source)),
        };
        return Ok(before.union(&now).map(pair).collect());
    }
    let one = |title: String, options: &SourceOptions| Pair {
        title,
        old: Some(side(old, old.file.clone(), options)),
        new: Some(side(new, new.file.clone(), options)),
    };
    Ok(match diff.nodes(console, [old, new])? {
        None => vec![one(String::new(), &diff.source)],
        Some(nodes) => nodes
            .into_iter()
            .map(|node| {
                let options = diff.options_of(console, &node);
                one(node, &options)
            })
            .collect(),
    })
}
