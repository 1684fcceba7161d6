//! XML files: read with all that declares their type, and replaced whole or not at all.
//!
//! stage    write the new text beside the file, on the disk      the file is as it was
//! look     whether the file is still the one that was read      the file is as it was
//! switch   one rename, on the disk                              the one visible step

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use hence_model::diagnostic::Diagnostic;
use hence_model::source::{Files, Sources, Span};
use hence_model::unit::Unit;

use crate::document::{self, Document};
use crate::dtd::{DTD, Dtd};
use crate::{declarations, entities};

/// A file that was read.
pub struct File {
    /// Its text, and that of the file that declares its type.
    pub sources: Sources,
    /// What it holds.
    pub document: Document,
    /// What its type allows.
    pub dtd: Dtd,
}

/// A file that is not XML, and what is wrong with it.
pub struct Unread {
    /// The texts that were read.
    pub sources: Sources,
    /// What is wrong.
    pub troubles: Vec<Diagnostic>,
}

/// Reads a file, and the file that declares its type: the one that it names, or another one.
pub fn read(files: &dyn Files, name: &str, dtd: Option<&str>) -> Result<File, Unread> {
    let mut unit = Unit::default();
    match read_into(&mut unit, files, name, dtd) {
        Ok((document, dtd)) => Ok(File {
            sources: unit.sources,
            document,
            dtd,
        }),
        Err(troubles) => Err(Unread {
            sources: unit.sources,
            troubles,
        }),
    }
}

fn read_into(
    unit: &mut Unit,
    files: &dyn Files,
    name: &str,
    other: Option<&str>,
) -> Result<(Document, Dtd), Vec<Diagnostic>> {
    let file = unit.load(files, name).map_err(|trouble| vec![*trouble])?;
    let (document, mut dtd) =
        document::read(&unit.sources, file).map_err(|trouble| vec![*trouble])?;
    let named = document
        .doctype
        .as_ref()
        .and_then(|doctype| doctype.external);
    let found = match (other, named) {
        (Some(other), _) => {
            let loaded = unit.load(files, other);
            Some(loaded.map_err(|trouble| vec![*trouble])?)
        }
        (None, Some(span)) => Some(beside(unit, files, name, span)?),
        (None, None) => None,
    };
    if let Some(found) = found {
        let read = declarations::external(&unit.sources, found, &mut dtd);
        read.map_err(|trouble| vec![*trouble])?;
    }
    let troubles = entities::check(&unit.sources, &document.tree, &dtd);
    match troubles.is_empty() {
        true => Ok((document, dtd)),
        false => Err(troubles),
    }
}

/// Loads the file that a document names, as seen from the document.
fn beside(
    unit: &mut Unit,
    files: &dyn Files,
    name: &str,
    span: Span,
) -> Result<hence_model::source::FileId, Vec<Diagnostic>> {
    let wanted = unit.sources.slice(span).to_owned();
    let fail = |why: String| {
        let message = format!("the declarations in `{wanted}` cannot be read: {why}");
        let trouble = Diagnostic::error(DTD, message).at(span);
        vec![trouble.help("`--dtd FILE` names another file in its place")]
    };
    if wanted.contains("://") {
        return Err(fail("nothing is ever fetched".to_owned()));
    }
    let path = Path::new(name).with_file_name(&wanted);
    let path = path.to_str().unwrap_or(&wanted);
    let loaded = unit.sources.load(files, path);
    loaded.map_err(|error| fail(error.to_string()))
}

/// What replacing a file needs of the machine.
pub trait Host {
    /// What a file holds.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// The names of what is in a directory.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Writes a new file with the mode and the owner of another, on the disk when this returns. If the power is cut, half of
    /// it may be there.
    fn write(&self, path: &Path, content: &[u8], like: &Path) -> io::Result<()>;
    /// Gives a file the name of another, which is replaced; on the disk when this returns.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// How replacing a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// It holds the new text.
    Done,
    /// It is not the one that was read any more, and stays as it is.
    Moved,
}

/// Replaces what a file holds, if that is still `old`. A link stays one, and the file behind it is replaced.
pub fn replace(host: &dyn Host, path: &Path, old: &[u8], new: &[u8]) -> io::Result<Replaced> {
    let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
    let name = name.to_string_lossy();
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    // What a cut of the power left behind was never served.
    let is_left =
        |other: &String| other.starts_with(&format!(".{name}.")) && other.ends_with(".staged");
    for left in host.list(directory)?.iter().filter(|other| is_left(other)) {
        host.remove(&directory.join(left))?;
    }
    let staged = directory.join(format!(".{name}.{}.staged", std::process::id()));
    let written = host.write(&staged, new, path).and_then(|()| {
        if host.read(path)? != old {
            host.remove(&staged)?;
            return Ok(Replaced::Moved);
        }
        host.rename(&staged, path)?;
        Ok(Replaced::Done)
    });
    if written.is_err() {
        // It may never have been made; the first error is the one to report.
        let _ = host.remove(&staged);
    }
    written
}

/// The machine itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Machine {
    /// The file that a name leads to in the end.
    pub fn resolve(path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }
}

impl Host for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn write(&self, path: &Path, content: &[u8], like: &Path) -> io::Result<()> {
        let kept = fs::metadata(like)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        // Whoever may not read it in the end may not read it now.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(content)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != (kept.uid(), kept.gid()) {
                std::os::unix::fs::fchown(&file, Some(kept.uid()), Some(kept.gid()))?;
            }
        }
        file.set_permissions(kept.permissions())?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        synchronise(to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The names in a directory are on the disk, too.
fn synchronise(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
        fs::File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}
