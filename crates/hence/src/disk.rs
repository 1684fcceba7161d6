//! Files: sources are read from here.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hence_model::source::{Files, ReadError};

use crate::Exit;
use crate::git::{Object, Revision};

/// The files below a directory: as they are, or as they were in a revision, or as they would be.
pub struct Disk {
    directory: PathBuf,
    limit: u64,
    refused: AtomicBool,
    revision: Option<Revision>,
    /// Files that are read as they are if the revision does not have them.
    apart: Vec<String>,
    /// What files say instead.
    changes: HashMap<String, Vec<u8>>,
}

impl Disk {
    /// The files below `directory`, of which at most `limit` bytes are read.
    pub fn new(directory: PathBuf, limit: u64) -> Self {
        Self {
            directory,
            limit,
            refused: AtomicBool::new(false),
            revision: None,
            apart: Vec::new(),
            changes: HashMap::new(),
        }
    }

    /// The files as they were. Those in `apart` belong to the question: if the revision lacks one, it is read as
    /// it is.
    pub fn at(mut self, revision: Revision, apart: Vec<String>) -> Self {
        self.revision = Some(revision);
        self.apart = apart;
        self
    }

    /// The files as they would be if one said something else.
    pub fn with(mut self, name: &str, text: impl Into<Vec<u8>>) -> Self {
        self.changes.insert(name.to_owned(), text.into());
        self
    }

    /// What a file holds.
    pub fn bytes(&self, name: &str) -> io::Result<Vec<u8>> {
        let missing = || io::Error::from(ErrorKind::NotFound);
        if let Some(text) = self.changes.get(name) {
            return Ok(text.clone());
        }
        if let Some(revision) = &self.revision {
            match revision.read(name)? {
                Object::File(bytes) => return Ok(bytes),
                Object::Directory => return Err(ErrorKind::IsADirectory.into()),
                Object::Missing if self.is_apart(name) => {}
                Object::Missing => return Err(missing()),
            }
        }
        fs::read(self.path(name))
    }

    /// The directory in which names begin, from the root.
    pub fn directory(&self) -> Option<String> {
        let directory = std::path::absolute(self.directory.join(".")).ok()?;
        Some(directory.to_str()?.to_owned())
    }

    /// The names of what is in a directory, with a slash behind those of directories.
    pub fn names_in(&self, directory: &str) -> io::Result<Vec<String>> {
        if let Some(revision) = &self.revision {
            match revision.list(directory) {
                Some(names) => return Ok(names),
                None if self.is_apart(directory) => {}
                None => return Err(ErrorKind::NotFound.into()),
            }
        }
        let entries = fs::read_dir(self.path(directory))?;
        // A name that is not UTF-8 is no source: nothing could name it.
        let named = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_directory = fs::metadata(entry.path()).is_ok_and(|data| data.is_dir());
            Some(if is_directory { name + "/" } else { name })
        });
        let mut names: Vec<String> = named.collect();
        names.sort();
        Ok(names)
    }

    fn is_apart(&self, name: &str) -> bool {
        let inside = |apart: &String| std::path::Path::new(name).starts_with(apart);
        self.apart.iter().any(inside)
    }

    /// Appends bytes that do not come from the disk.
    fn append(&self, bytes: Vec<u8>, text: &mut String) -> Result<(), ReadError> {
        if bytes.len() as u64 > self.limit {
            return Err(ReadError::TooLarge(self.limit));
        }
        match String::from_utf8(bytes) {
            Ok(read) => {
                text.push_str(&read);
                Ok(())
            }
            Err(error) => Err(cut(error.into_bytes())),
        }
    }

    /// A path as the process sees it.
    pub fn path(&self, name: &str) -> PathBuf {
        let path = self.directory.join(name);
        // To the system an empty path is none, not even that of the directory that one is in.
        match path.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => path,
        }
    }

    /// Whose fault it is that there is no result: the system's, if it refused to read a source.
    pub fn blame(&self) -> Exit {
        match self.refused.load(Ordering::Relaxed) {
            true => Exit::World,
            false => Exit::Input,
        }
    }

    /// The bytes up to the first that is not UTF-8.
    fn valid_text(&self, path: &Path) -> ReadError {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(self.limit).read_to_end(&mut bytes));
        if let Err(error) = read {
            return ReadError::Refused(error.to_string());
        }
        // What is cut off at the limit may have been cut within a character.
        if bytes.len() as u64 >= self.limit {
            return ReadError::TooLarge(self.limit);
        }
        cut(bytes)
    }
}

/// The bytes up to the first that is not UTF-8.
fn cut(mut bytes: Vec<u8>) -> ReadError {
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    bytes.truncate(valid);
    let text = String::from_utf8(bytes).expect("the rest was cut off");
    ReadError::NotUtf8 { valid, text }
}

impl Files for Disk {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        if self.revision.is_some() || self.changes.contains_key(name) {
            return match self.bytes(name) {
                Ok(bytes) => self.append(bytes, text),
                Err(error) => match error.kind() {
                    ErrorKind::NotFound => Err(ReadError::Missing),
                    ErrorKind::IsADirectory => Err(ReadError::Directory),
                    _ => Err(ReadError::Refused(error.to_string())),
                },
            };
        }
        let path = self.directory.join(name);
        // Into a full buffer the standard library would first read a few bytes to see if there are any. So much
        // the system hands out apart, untouched: a source that is larger is moved without being copied.
        text.reserve(1 << 18);
        // Without `take` the standard library would ask for the size of each file first; with it, a
        // source that never ends does.
        let read = File::open(&path).and_then(|file| file.take(self.limit).read_to_string(text));
        let Err(error) = read else { return Ok(()) };
        let error = match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename => ReadError::Missing,
            ErrorKind::IsADirectory => ReadError::Directory,
            ErrorKind::InvalidData => self.valid_text(&path),
            _ => ReadError::Refused(error.to_string()),
        };
        if let ReadError::Refused(_) = error {
            self.refused.store(true, Ordering::Relaxed);
        }
        Err(error)
    }
}
