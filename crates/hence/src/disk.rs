//! Files: sources are read from here, and results written.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{Files, ReadError};

use crate::{Exit, Stop};

/// A result cannot be written.
pub const UNWRITABLE: Code = Code::new("output.unwritable");

/// The files below a directory.
pub struct Disk {
    directory: PathBuf,
    limit: u64,
    refused: AtomicBool,
}

impl Disk {
    /// The files below `directory`, of which at most `limit` bytes are read.
    pub fn new(directory: PathBuf, limit: u64) -> Self {
        Self {
            directory,
            limit,
            refused: AtomicBool::new(false),
        }
    }

    /// A path as the process sees it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
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
        let valid = match std::str::from_utf8(&bytes) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        bytes.truncate(valid);
        let text = String::from_utf8(bytes).expect("the rest was cut off");
        ReadError::NotUtf8 { valid, text }
    }
}

impl Files for Disk {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let path = self.directory.join(name);
        // Into a full buffer the standard library would first read a few bytes to see if there are any.
        text.reserve(1 << 14);
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

/// Writes a file whole or not at all: under another name first, which is then changed.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    match fs::metadata(path) {
        // A pipe or a device stays what it is.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            File::create(path).and_then(|mut file| write(&mut file))
        }
        Ok(_) => fs::canonicalize(path).and_then(|path| rename_over(&path, write)),
        Err(_) => rename_over(path, write),
    }
}

fn rename_over(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
    let mut part = name.to_os_string();
    part.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(part);
    let written = File::create(&part)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // It may never have been made; the first error is the one to report.
        let _ = fs::remove_file(&part);
    }
    written
}

/// What to say when a file or folder cannot be written; `name` is how the user calls it.
pub fn unwritable(name: &str, error: &io::Error) -> Stop {
    let because = |why: &str| {
        let message = format!("`{name}` cannot be written: {why}");
        Diagnostic::error(UNWRITABLE, message)
    };
    let refused = |diagnostic| Stop::Refused(Box::new(diagnostic));
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => refused(
            because("there is no such folder").help("make the folder first, with `mkdir -p`"),
        ),
        ErrorKind::IsADirectory => refused(because("it is a folder").help("name a file in it")),
        _ => Stop::Failed(Box::new(because(&error.to_string()))),
    }
}
